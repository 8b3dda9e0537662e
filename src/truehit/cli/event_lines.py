"""One event, one line, in fixed columns: step, device order, kind, request, group, what."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from truehit.cli.requests import reason_text
from truehit.spec.trace import (
    Complete,
    Copy,
    End,
    EngineError,
    Event,
    Header,
    Hold,
    Lookup,
    Publish,
    Read,
    Reset,
    Schedule,
    Submit,
    Table,
    TableOp,
    Transfer,
    Unpublish,
    Write,
)

_SHOWN_KEYS = 3
_SHOWN_RUNS = 4


@dataclass(frozen=True, slots=True)
class EventLine:
    """The six columns; `order` is empty for what is no device event."""

    step: int
    order: str
    kind: str
    request: str
    group: str
    what: str


def event_line(event: Event) -> EventLine:
    """The line of an event."""
    order = getattr(event, "order", None)
    return EventLine(
        step=event.step,
        order="" if order is None else str(order),
        kind=event.kind,
        request=getattr(event, "request", None) or "",
        group=getattr(event, "group", ""),
        what=_what(event),
    )


def ranges(numbers: Iterable[int]) -> str:
    """`1-3 7`: ascending runs joined, the first of them."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    shown = [str(a) if a == b else f"{a}-{b}" for a, b in runs[:_SHOWN_RUNS]]
    hidden = sum(b - a + 1 for a, b in runs[_SHOWN_RUNS:])
    return " ".join([*shown, f"… {hidden} more"] if hidden else shown) or "none"


def named(noun: str, numbers: Sequence[int]) -> str:
    """`block 4`, `blocks 4-6`."""
    return f"{noun if len(numbers) == 1 else noun + 's'} {ranges(numbers)}"


def _what(event: Event) -> str:
    match event:
        case Header():
            return f"{event.engine}, rules {event.rules}, planes {' '.join(event.planes)}"
        case Submit():
            segments = " ".join(f"{s.name}:{s.tokens}" for s in event.segments)
            return f"{segments} -> {event.output_tokens} of {event.output}"
        case Lookup() | Schedule():
            return _decision(event)
        case Table():
            return _table(event)
        case Publish() | Unpublish() | Hold():
            return _pool(event)
        case Copy() | Read() | Write() | Transfer():
            return _device(event)
        case Complete():
            known = "nothing yet" if event.of is None else f"step {event.of}"
            accepted = " ".join(f"{name}:{count}" for name, count in event.accepted)
            failed = f", failed {' '.join(event.failed)}" if event.failed else ""
            return f"known complete: {known}{f', accepted {accepted}' if accepted else ''}{failed}"
        case End():
            return f"{event.why} {event.message}".strip()
        case Reset():
            return "all keys are dropped"
        case EngineError():
            return event.message


def _decision(event: Lookup | Schedule) -> str:
    match event:
        case Lookup():
            reaches = " ".join(f"{r.group}:{r.reach_tokens}" for r in event.reaches)
            junction = f" junction {event.junction_tokens}" if event.junction_tokens else ""
            external = f" + {event.external_tokens} external" if event.external_tokens else ""
            reason = f" ({text})" if (text := reason_text(event)) else ""
            return f"hit {event.local_tokens}{external} of {reaches}{junction}{reason}"
        case Schedule() if event.start == event.end:
            return f"nothing of {event.offered_tokens} offered: {event.reason or event.cut}"
        case Schedule():
            exports = f" exports {event.checkpoint_tokens}" if event.checkpoint_tokens else ""
            drafts = f" {event.drafts} drafts" if event.drafts else ""
            cut = f" cut by {event.cut}" if event.cut != "none" else ""
            return f"[{event.start}, {event.end}) of {event.prefill_end}{drafts}{exports}{cut}"


def _table(event: Table) -> str:
    match event.op:
        case TableOp.ESTIMATE:
            return f"estimate {event.count} blocks"
        case TableOp.NULL:
            return f"null {named('column', range(event.column, event.column + event.count))}"
        case TableOp.MOVE:
            return f"move {named('column', event.sources)} to {event.column}"
        case _:
            last = event.column + len(event.blocks)
            columns = named("column", range(event.column, last))
            at = f" at {event.tokens} tokens" if event.tokens else ""
            return f"{event.op} {columns}: {named('block', event.blocks)}{at}"


def _pool(event: Publish | Unpublish | Hold) -> str:
    match event:
        case Publish():
            keys = event.keys
            many = len(keys) > _SHOWN_KEYS
            shown = [f"{tokens} in block {block}" for tokens, block in keys[: 1 if many else None]]
            more = f", … {len(keys) - 1} more" if many else ""
            return f"{', '.join(shown)}{more}"
        case Unpublish():
            return f"{named('block', event.blocks)}: {event.why}"
        case Hold():
            done = "holds" if event.held else "releases"
            return f"{event.holder} {done} {named('block', event.blocks)}"


def _device(event: Copy | Read | Write | Transfer) -> str:
    match event:
        case Copy():
            return f"block {event.source} to block {event.target} ({event.why})"
        case Read():
            if not event.block:
                return f"{named('column', range(event.column + 1))}: [0, {event.tokens})"
            return f"block {event.block} column {event.column}: state after {event.tokens}"
        case Write():
            source = "" if event.source is None else f" from block {event.source}"
            rejected = f", {event.rejected_tokens} rejected" if event.rejected_tokens else ""
            tokens = f"[{event.start}, {event.end})"
            blocks = f"{named('block', event.blocks)} column {event.column}"
            return f"{blocks}: {tokens}{source}{rejected}"
        case Transfer():
            tokens = f"[{event.start}, {event.tokens})"
            blocks = f"{named('block', event.blocks)} column {event.column}"
            return f"{blocks}: {tokens} from outside"
