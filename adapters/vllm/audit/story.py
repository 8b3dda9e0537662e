"""What happened, in at most ten lines: which step computed what, into which column and page."""

from collections.abc import Iterator

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
    """The steps up to the symptom, the last ones if they are many; `states`: the state groups."""
    by_step: dict[int, list[Event]] = {}
    for event in trace:
        by_step.setdefault(event.step, []).append(event)
    lines: list[str] = []
    for step in sorted(by_step):
        if step > symptom.step:
            break
        said = list(_said(by_step[step], states))
        if said:
            lines.append(f"step {step}: {'; '.join(said)}")
    if len(lines) > MOST_LINES:
        lines = ["(earlier steps left out)", *lines[-(MOST_LINES - 1) :]]
    return tuple(lines)


def _said(events: list[Event], states: frozenset[str]) -> Iterator[str]:
    for event in events:
        match event:
            case Submit():
                yield f"{event.request} arrives with {event.prompt_tokens} tokens"
            case Lookup() if event.hit_tokens:
                yield f"{event.request} hits {event.hit_tokens}"
            case Schedule() if event.start < event.end:
                yield f"{event.request} computes [{event.start}, {event.end})"
            case Schedule() if event.offered_tokens:
                why = event.reason or event.cut
                yield f"{event.request} is offered {event.offered_tokens} and gets none ({why})"
            case Table(op="copy_on_write"):
                yield f"{event.request} gets a copy of its own in column {event.column}"
            case Read() if event.group in states:
                yield f"state read from column {event.column}, page {event.block}"
            case Copy() if event.group in states and event.source != event.target:
                yield f"page {event.source} copied to {event.target}"
            case Write() if event.group in states:
                where = f"column {event.column}, page {event.blocks[0]}"
                yield f"state@{event.end} of {event.request} written to {where}"
            case Publish() if event.group in states:
                keys = ", ".join(f"state@{tokens} = page {block}" for tokens, block in event.keys)
                yield f"published: {keys}"
            case End():
                yield f"{event.request} ends ({event.why})"
