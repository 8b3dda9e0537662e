"""Ghost memory: what a block really holds, as the tokens that were consumed to make it.

A state is a sequence of spans (lo, hi, path): it consumed tokens [lo, hi) of that path, in this
order. The right state after n tokens is the single span (0, n, path). A typical poison is two spans
with a gap: [0, 364) and [1600, 2500). A page of attention holds spans of entries; entry i of a path
depends on the first i + 1 tokens of that path. Nothing here believes a claim: contents follow from
writes."""

from dataclasses import dataclass

from truehit.spec.tokens import TokenPath

Span = tuple[int, int, TokenPath]


@dataclass(frozen=True, slots=True)
class Unwritten:
    """Nobody has written the block in this tenancy."""


@dataclass(frozen=True, slots=True)
class Garbage:
    """Bytes of rejected drafts or of a reader of an unwritten block."""


@dataclass(frozen=True, slots=True)
class State:
    """The spans consumed; no span: the zero state."""

    spans: tuple[Span, ...]


StateContent = Unwritten | Garbage | State
ZERO_STATE = State(())


def consume(content: StateContent, path: TokenPath, start: int, end: int) -> StateContent:
    """The state after `content` has consumed tokens [start, end) of the path."""
    if not isinstance(content, State):
        return Garbage()
    spans = content.spans
    if not spans:
        return State(((start, end, path),))
    low, high, last = spans[-1]
    if high == start and (last is path or last.prefix(start) == path.prefix(start)):
        return State((*spans[:-1], (low, end, path)))
    return State((*spans, (start, end, path)))


def is_state_after(content: StateContent, path: TokenPath, tokens: int) -> bool:
    """True iff the content is exactly the state after the first `tokens` tokens of the path."""
    if not isinstance(content, State):
        return False
    if tokens == 0:
        return not content.spans
    if len(content.spans) != 1:
        return False
    low, high, writer = content.spans[0]
    return (
        low == 0
        and high == tokens
        and (writer is path or writer.prefix(tokens) == path.prefix(tokens))
    )


def describe(content: StateContent) -> str:
    """`state@364`, `[0, 364) + [1600, 2500)`, `nothing`, `rejected drafts`."""
    match content:
        case Unwritten():
            return "nothing"
        case Garbage():
            return "rejected drafts"
        case State(spans):
            if not spans:
                return "the zero state"
            if len(spans) == 1 and spans[0][0] == 0:
                return f"state@{spans[0][1]}"
            return "tokens " + " + ".join(f"[{low}, {high})" for low, high, _ in spans)
