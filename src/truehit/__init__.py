"""truehit: every prefix-cache hit on recurrent state is a true one, or it is named."""

__version__ = "0.1.0"
