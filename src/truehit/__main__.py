"""`python -m truehit` is the command line."""

from truehit.cli import main

main()
