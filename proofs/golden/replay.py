"""What published states really hold, from table changes, copies and writes alone.

A key is judged at the end of its step, because releases publish before the forward pass that
writes. It sees the first state group only, and believes nothing that events claim about contents.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from truehit.proofs.golden.tables import apply_change
from truehit.spec.geometry import Kind
from truehit.spec.ghost import (
    ZERO_STATE,
    Garbage,
    State,
    StateContent,
    Unwritten,
    consume,
    is_state_after,
)
from truehit.spec.scenario import Scenario
from truehit.spec.tokens import Segment, TokenPath, TokenTree
from truehit.spec.trace import (
    Complete,
    Copy,
    End,
    Event,
    Publish,
    Read,
    Submit,
    Table,
    Transfer,
    Write,
)


@dataclass(frozen=True, slots=True)
class Claim:
    """A key of a state block and what the block holds at the end of the step that published it."""

    request: str
    step: int
    column: int
    block: int
    tokens: int
    holds: StateContent
    true: bool

    @property
    def holds_tokens(self) -> int | None:
        """The tokens of a state without a gap; None: another content."""
        return unbroken_tokens(self.holds)


@dataclass(frozen=True, slots=True)
class Resume:
    """What a request reads before its first chunk after a hit; `width`: columns of its table."""

    request: str
    step: int
    column: int
    block: int
    tokens: int
    holds: StateContent
    width: int


@dataclass(frozen=True, slots=True)
class Books:
    """All keys and resumes of a run. `tables`: columns of (request, step) when it published."""

    claims: tuple[Claim, ...]
    resumes: tuple[Resume, ...]
    tables: dict[tuple[str, int], tuple[int, ...]]

    @property
    def poison(self) -> tuple[Claim, ...]:
        return tuple(claim for claim in self.claims if not claim.true)

    def of(self, request: str) -> tuple[Claim, ...]:
        return tuple(claim for claim in self.claims if claim.request == request)


def unbroken_tokens(content: StateContent) -> int | None:
    """n if the content is a state after exactly the first n tokens of some path."""
    match content:
        case State(((0, high, _),)):
            return high
        case _:
            return None


class Replay:
    """One pass over the events of a run, for the first state group."""

    __slots__ = ("_before", "_group", "_holds", "_new", "_paths", "_seen", "_tables", "_tree")

    def __init__(self, scenario: Scenario) -> None:
        self._group = next(
            g.name for g in scenario.geometry.groups if g.kind is Kind.RECURRENT_STATE
        )
        self._tree = TokenTree()
        self._paths: dict[str, TokenPath] = {}
        self._tables: dict[str, list[int]] = {}
        self._holds: dict[int, StateContent] = {}
        self._before: dict[tuple[str, int], StateContent] = {}
        self._new: list[tuple[Publish, tuple[int, ...]]] = []
        self._seen: set[str] = set()

    def run(self, events: Iterable[Event]) -> Books:
        """The books of the run."""
        claims: list[Claim] = []
        resumes: list[Resume] = []
        tables: dict[tuple[str, int], tuple[int, ...]] = {}
        for event in events:
            match event:
                case Submit():
                    output = Segment(event.output, event.output_tokens)
                    segments = (*event.segments, output)
                    self._paths[event.request] = self._tree.path(segments, event.salt)
                case Table(group=self._group):
                    columns = self._tables.setdefault(event.request, [])
                    for block in apply_change(columns, event):
                        self._holds[block] = Unwritten()
                case Copy(group=self._group):
                    self._holds[event.target] = self._content(event.source)
                case Read(group=self._group) if event.request not in self._seen:
                    resumes.append(self._resume(event))
                    self._seen.add(event.request)
                case Write(group=self._group):
                    self._write(event)
                    self._seen.add(event.request)
                case Transfer(group=self._group):
                    path = self._paths[event.request]
                    self._holds[event.blocks[0]] = State(((0, event.tokens, path),))
                case Publish(group=self._group):
                    table = tuple(self._tables[event.request])
                    tables[(event.request, event.step)] = table
                    self._new.append((event, table))
                case End():
                    self._tables.pop(event.request, None)
                case Complete():
                    claims += self._settle()
                case _:
                    pass
        return Books(tuple(claims), tuple(resumes), tables)

    def _content(self, block: int) -> StateContent:
        return self._holds.get(block, Unwritten())

    def _resume(self, event: Read) -> Resume:
        content = self._content(event.block) if event.block else ZERO_STATE
        width = len(self._tables[event.request])
        return Resume(
            event.request, event.step, event.column, event.block, event.tokens, content, width
        )

    def _write(self, event: Write) -> None:
        target, source = event.blocks[0], event.source
        initial: StateContent = ZERO_STATE
        if source is not None:
            initial = self._before.get((event.request, source), self._content(source))
        self._before.setdefault((event.request, target), self._content(target))
        if event.rejected_tokens:
            self._holds[target] = Garbage()
        else:
            path = self._paths[event.request]
            self._holds[target] = consume(initial, path, event.start, event.end)

    def _settle(self) -> list[Claim]:
        claims = []
        for event, table in self._new:
            path = self._paths[event.request]
            for tokens, block in event.keys:
                content = self._content(block)
                column = table.index(block)
                true = is_state_after(content, path, tokens)
                claims.append(
                    Claim(event.request, event.step, column, block, tokens, content, true)
                )
        self._new.clear()
        self._before.clear()
        return claims
