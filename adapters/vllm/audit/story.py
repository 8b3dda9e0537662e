"""What happened, in at most ten lines: which step computed what, into which column and page."""

from truehit.adapters.vllm.audit.reading import Symptom
from truehit.spec.trace import (
    Copy,
    End,
    Event,
    Lookup,
    Publish,
    Read,
    Schedule,
    Submit,
    Table,
    Write,
)

MOST_LINES = 10


def story(trace: tuple[Event, ...], symptom: Symptom, states: frozenset[str]) -> tuple[str, ...]:
    """The steps up to the symptom, the last ones if they are many; `states`: the state groups. Of
    requests other than the symptom's only what they leave behind is told."""
    by_step: dict[int, list[str]] = {}
    for event in trace:
        if event.step <= symptom.step:
            said = _said(event, states, symptom.request)
            if said:
                by_step.setdefault(event.step, []).append(said)
    lines = [f"step {step}: {'; '.join(said)}" for step, said in by_step.items()]
    if len(lines) > MOST_LINES:
        lines = ["(earlier steps left out)", *lines[-(MOST_LINES - 1) :]]
    return tuple(lines)


def _said(event: Event, states: frozenset[str], request: str) -> str | None:
    """One event in words, or None when it is not worth a word."""
    match event:
        case Submit():
            return f"{event.request} arrives with {event.prompt_tokens} tokens"
        case Lookup() if event.hit_tokens:
            return f"{event.request} hits {event.hit_tokens}"
        case Schedule() if event.start < event.end and event.start < event.prefill_end:
            return f"{event.request} computes [{event.start}, {event.end})"
        case Schedule() if event.start < event.end and event.request == request:
            return f"{event.request} decodes [{event.start}, {event.end})"
        case Schedule() if event.offered_tokens and event.start == event.end:
            why = event.reason or event.cut
            return f"{event.request} is offered {event.offered_tokens} and gets none ({why})"
        case Publish() if event.group in states:
            return "publishes " + ", ".join(f"state@{t} in page {b}" for t, b in event.keys)
        case End():
            return f"{event.request} ends ({event.why})"
        case Table() | Read() | Copy() | Write() if event.request == request:
            return _own(event, states)
        case _:
            return None


def _own(event: Table | Read | Copy | Write, states: frozenset[str]) -> str | None:
    """What the symptom's own request does to its states."""
    match event:
        case Table(op="copy_on_write"):
            return f"column {event.column} gets a copy of its own"
        case Table(op="move"):
            return f"columns {list(event.sources)} move to {event.column}"
        case Read() if event.group in states:
            return f"reads column {event.column}, page {event.block}"
        case Copy() if event.group in states and event.source != event.target:
            return f"copies page {event.source} to {event.target}"
        case Write() if event.group in states:
            return f"writes state@{event.end} to column {event.column}, page {event.blocks[0]}"
        case _:
            return None
