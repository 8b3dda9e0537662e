"""`python -m truehit.proofs.mutation`: plant, judge, tell. Exit code 0: everything is noticed or
explained; 1: something is not; 2: the lists do not fit the source."""

import argparse
import json
import os
import sys
import time
from pathlib import Path

from truehit.proofs.differ.subject import SubjectError
from truehit.proofs.mutation.baseline import NotContent
from truehit.proofs.mutation.fault import Rotten
from truehit.proofs.mutation.report import as_json, exit_code, lines, rewritten
from truehit.proofs.mutation.run import SAMPLE_PER_MILLE, SUBJECTS, Wanted, chosen, run
from truehit.proofs.places import checkout


def main() -> int:
    """Parse the options, run, print."""
    parser = argparse.ArgumentParser(prog="python -m truehit.proofs.mutation")
    parser.add_argument("--subject", choices=SUBJECTS, action="append", help="default: all")
    parser.add_argument("--all", action="store_true", help="every operator mutant, not a sample")
    parser.add_argument("--hand", action="store_true", help="no operator mutants")
    parser.add_argument("--only", default="", metavar="WORDS", help="faults that contain the words")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N")
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--docs", type=Path, metavar="FILE", help="rewrite the figures of a page")
    options = parser.parse_args()
    root = checkout()
    if root is None:
        print("mutation: there is no checkout here; its tests are among the judges")
        return 2
    wanted = Wanted(
        package=root / "src" / "truehit",
        checkout=root,
        subjects=tuple(options.subject or SUBJECTS),
        per_mille=1000 if options.all else 0 if options.hand else SAMPLE_PER_MILLE,
        workers=options.jobs,
        words=options.only,
        in_full=options.all,
    )
    # The engine runs as plain Python: nothing is compiled for a fault.
    os.environ["NUMBA_DISABLE_JIT"] = "1"
    started = time.monotonic()
    try:
        result = run(wanted, chosen(wanted), _tell)
    except (Rotten, NotContent, SubjectError) as error:
        print(f"mutation: {error}")
        return 2
    seconds = time.monotonic() - started
    print("\n".join(lines(result, seconds)))
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(as_json(result, seconds), indent=1) + "\n", "utf-8")
    if options.docs:
        page = options.docs.read_text(encoding="utf-8")
        options.docs.write_text(rewritten(page, result, seconds), encoding="utf-8")
    return exit_code(result)


def _tell(done: int, total: int, line: str) -> None:
    if not line.startswith("caught") or sys.stderr.isatty():
        print(f"{done}/{total} {line}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
