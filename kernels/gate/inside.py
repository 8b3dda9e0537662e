"""`python -m truehit.kernels.gate.inside`: a child that says what there is to compile, then answers
every job with one line of JSON. What Triton and its tools print goes to standard error."""

import os
import sys

import triton

from truehit.kernels.gate.discover import found
from truehit.kernels.gate.measure import measure
from truehit.kernels.gate.measurement import ANSWER, FOUND, JOB


def main() -> int:
    """Until there are no more lines."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    answers.write(FOUND.dump_json(found(triton.__version__)) + b"\n")
    answers.flush()
    for line in sys.stdin:
        answers.write(ANSWER.dump_json(measure(JOB.validate_json(line))) + b"\n")
        answers.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
