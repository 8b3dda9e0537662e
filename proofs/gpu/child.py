"""`python -m truehit.proofs.gpu.child`: a job on standard input, a line a record on what was
standard output. What libraries print goes to standard error."""

import json
import os
import sys

from truehit.proofs.gpu.measuring import Job, is_lost, measured
from truehit.proofs.gpu.place import Place
from truehit.proofs.gpu.record import LOST, Section, to_line


def main() -> int:
    """Until every item has an answer, or none can have one."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    fields = json.load(sys.stdin)
    job = Job(
        section=Section(fields["section"]),
        items=tuple(fields["items"]),
        place=Place(fields["place"]),
        seed=fields["seed"],
        repeats=fields["repeats"],
        capability=fields["capability"],
    )
    for record in measured(job):
        answers.write(to_line(record) + "\n")
        answers.flush()
        if is_lost(record):
            return LOST
    return 0


if __name__ == "__main__":
    # Not by returning: taking down a device that was lost may hang.
    code = main()
    sys.stderr.flush()
    os._exit(code)
