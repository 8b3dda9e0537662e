"""`python -m truehit.adapters.vllm.prepare VERSION ...`: make environments that tests share."""

import sys

from truehit.adapters.vllm.environment import build
from truehit.adapters.vllm.problems import BuildError


def main() -> int:
    """0, or 3 if one cannot be made."""
    for version in sys.argv[1:]:
        try:
            build(version, lambda line: print(line, file=sys.stderr, flush=True))
        except BuildError as problem:
            print(f"truehit: {problem}", file=sys.stderr)
            return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
