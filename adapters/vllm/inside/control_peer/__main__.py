"""The answers own the standard output; whatever else is written goes to the error stream."""

import os
import sys

from .serve import serve
from .tasks import make

if __name__ == "__main__":
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    serve(sys.stdin, answers, make)
