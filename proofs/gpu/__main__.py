"""`python -m truehit.proofs.gpu`: measure, judge, tell. Exit code 0: holds; 1: refuted; 2: bad
input, or no GPU; 3: unknown. A goal of speed that is missed is told, and refutes nothing."""

import argparse
import json
import os
import sys
import time
from pathlib import Path

LIMIT_SECONDS = 300.0
LEAST_SECONDS = 60.0
REPEATS = 20
BAD_INPUT = 2
NO_GPU = "no GPU is visible; one NVIDIA GPU of sm_80 or later works"


def main(arguments: list[str] | None = None) -> int:
    """Parse the options, run, print."""
    started = time.monotonic()
    parser = argparse.ArgumentParser(prog="python -m truehit.proofs.gpu")
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument(
        "--seed", type=int, default=None, help="of the random inputs (default: from the clock)"
    )
    parser.add_argument("--limit-seconds", type=float, default=LIMIT_SECONDS, metavar="SECONDS")
    options = parser.parse_args(arguments)
    if not LEAST_SECONDS <= options.limit_seconds <= LIMIT_SECONDS:
        given = f"--limit-seconds is {options.limit_seconds:g}"
        return _stop(f"{given}; {LEAST_SECONDS:g} to {LIMIT_SECONDS:g} would do")
    if options.json is not None and (problem := _unwritable(options.json)) is not None:
        return _stop(problem)
    try:
        import torch
        import triton  # noqa: F401
    except ImportError as error:
        return _stop(f"{error}; torch and triton of a machine with a GPU would do")
    if not torch.cuda.is_available():
        return _stop(NO_GPU)
    major, minor = torch.cuda.get_device_capability()
    if major < 8:
        return _stop(f"the GPU is of sm_{major}{minor}; one of sm_80 or later works")
    seed = time.time_ns() % 2**32 if options.seed is None else options.seed
    return _measure(started, options.limit_seconds, seed, 10 * major + minor, options.json)


def _measure(
    started: float, limit_seconds: float, seed: int, capability: int, file: Path | None
) -> int:
    from truehit.proofs.gpu.cases import cases, uncased
    from truehit.proofs.gpu.compiling import found
    from truehit.proofs.gpu.judge import EXIT, judge
    from truehit.proofs.gpu.place import Place
    from truehit.proofs.gpu.plan import plan
    from truehit.proofs.gpu.render import as_json, lines
    from truehit.proofs.gpu.run import Setup, run, workers_of

    known = found()
    names = tuple(case.name for case in cases("k128", "k64"))
    whole = plan(known.items(), names, uncased(known.kernels()))
    workers = workers_of(os.cpu_count() or 1)
    print(f"gpu: seed {seed}, at most {limit_seconds:g} s", file=sys.stderr, flush=True)
    setup = Setup(Place.GPU, capability, seed, REPEATS, workers, started, limit_seconds)
    records = run(whole, setup)
    judged = judge(whole, records)
    seconds = time.monotonic() - started
    print("\n".join(lines(records, judged, seed, seconds)))
    if file is not None:
        text = json.dumps(as_json(records, judged, seed, seconds), indent=1, allow_nan=False)
        file.write_text(text + "\n", encoding="utf-8")
    return EXIT[judged.verdict]


def _unwritable(file: Path) -> str | None:
    """Asked before five minutes of measuring, not after."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("a", encoding="utf-8"):
            return None
    except OSError as error:
        return f"{file}: {(error.strerror or 'unwritable').lower()}; a file to write would do"


def _stop(problem: str) -> int:
    print(f"gpu: {problem}", file=sys.stderr)
    return BAD_INPUT


if __name__ == "__main__":
    sys.exit(main())
