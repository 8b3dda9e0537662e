"""`python -m truehit.kernels.gate`: compile, judge, tell. Exit code 0: everything holds; 1:
refuted; 2: bad input; 3: unknown."""

import argparse
import json
import sys
import time
from pathlib import Path

from truehit.kernels.gate.child import ChildLost
from truehit.kernels.gate.judge import Verdict
from truehit.kernels.gate.registers import COMMITTED, BadTable, read, write
from truehit.kernels.gate.report import as_json, lines
from truehit.kernels.gate.run import NoKernel, judged, measured
from truehit.kernels.gate.toolchain import NotBrought, NoVersion, bring

# What the machines with a GPU have.
BLOCKING_TRITON = "3.6.0"
EXIT = {Verdict.HOLDS: 0, Verdict.REFUTED: 1, Verdict.UNKNOWN: 3}
BAD_INPUT = 2


def main() -> int:
    """Parse the options, run, print."""
    parser = argparse.ArgumentParser(prog="python -m truehit.kernels.gate")
    parser.add_argument(
        "--triton",
        nargs="+",
        default=[BLOCKING_TRITON],
        metavar="VERSION",
        help=f"a release, or `installed`; the first judges (default: {BLOCKING_TRITON})",
    )
    parser.add_argument(
        "--only", nargs="+", default=[], metavar="NAME", help="a kernel, kernel/variant or module"
    )
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument(
        "--record", action="store_true", help="write the registers that the first triton found"
    )
    parser.add_argument(
        "--registers", type=Path, default=COMMITTED, metavar="FILE", help="default: the committed"
    )
    options = parser.parse_args()
    started = time.monotonic()
    try:
        table = read(options.registers)
        toolchains = [bring(asked, _tell) for asked in options.triton]
        runs = [measured(each, options.only, _tell_on_terminal) for each in toolchains]
    except (NoVersion, BadTable) as problem:
        return _stop(problem, BAD_INPUT)
    except NoKernel as problem:
        return _stop(problem, BAD_INPUT if options.only else EXIT[Verdict.UNKNOWN])
    except (NotBrought, ChildLost) as problem:
        return _stop(problem, EXIT[Verdict.UNKNOWN])
    if options.record:
        table = table.with_measured(runs[0].triton, runs[0].kernels, runs[0].whole)
        write(options.registers, table)
    outcome = judged(runs[0], runs[1:], table)
    seconds = time.monotonic() - started
    print("\n".join(lines(outcome, seconds)))
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps(as_json(outcome, seconds), indent=1) + "\n"
        options.json.write_text(text, encoding="utf-8")
    return EXIT[outcome.verdict]


def _stop(problem: Exception, code: int) -> int:
    print(f"gate: {problem}", file=sys.stderr)
    return code


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _tell_on_terminal(line: str) -> None:
    if sys.stderr.isatty():
        _tell(line)


if __name__ == "__main__":
    sys.exit(main())
