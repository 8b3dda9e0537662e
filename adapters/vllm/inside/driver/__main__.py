"""Scenarios on the standard input, a line each; traces on the standard output, a line an event.

A trace ends with a line `{"kind": "done"}`. Whatever else is written goes to the error stream.
"""

import json
import os
import sys
from typing import TextIO

from .plan import plan_of, refusal
from .play import Play


def serve(orders: TextIO, traces: TextIO) -> None:
    """Run every scenario that comes, until there are no more."""
    for line in orders:
        data = json.loads(line)
        refused = refusal(data)
        if refused is None:
            play = Play(plan_of(data))
            play.run()
            events = play.events
        else:
            events = [{"kind": "refused", "step": 0, "message": refused}]
        traces.write("".join(json.dumps(event) + "\n" for event in (*events, {"kind": "done"})))
        traces.flush()


if __name__ == "__main__":
    traces = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    serve(sys.stdin, traces)
