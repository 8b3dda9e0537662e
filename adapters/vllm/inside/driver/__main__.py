"""Scenarios on the standard input, a line each; traces on the standard output, a line an event.

The line `{"kind": "facts"}` asks what is so for every scheduler of the release. An answer ends with
the line `{"kind": "done"}`. Whatever else is written goes to the error stream.
"""

import json
import os
import sys
from typing import Any, TextIO

from .plan import plan_of, refusal


def serve(orders: TextIO, traces: TextIO) -> None:
    """Run every scenario that comes, until there are no more."""
    # Some releases write to the standard output while they are imported: not before it is safe.
    from .bridges.release import release_facts
    from .play import Play

    for line in orders:
        data = json.loads(line)
        if data.get("kind") == "facts":
            _answer(traces, [{"kind": "facts", **release_facts()}])
            continue
        refused = refusal(data)
        if refused is None:
            play = Play(plan_of(data))
            play.run()
            events = play.events
        else:
            events = [{"kind": "refused", "step": 0, "message": refused}]
        _answer(traces, events)


def _answer(traces: TextIO, events: list[dict[str, Any]]) -> None:
    traces.write("".join(json.dumps(event) + "\n" for event in (*events, {"kind": "done"})))
    traces.flush()


if __name__ == "__main__":
    traces = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    serve(sys.stdin, traces)
