"""The pages of the ledger: one record a group, a key, a block table, a request, a fact.

Everything here is what the trace itself wrote down: nothing is copied from a claim about contents.
"""

from dataclasses import dataclass, field
from enum import StrEnum

from truehit.spec.geometry import Geometry, Group, Kind
from truehit.spec.ghost import StateContent
from truehit.spec.tokens import TokenPath

Key = tuple[int, int, int]
"""(group index, node of the last token the key covers, tokens). The node makes the prefix exact."""


@dataclass(frozen=True, slots=True)
class GroupBook:
    """A group with what every event asks of it."""

    index: int
    group: Group
    name: str
    block_tokens: int
    is_state: bool
    is_full: bool
    is_window: bool

    @property
    def is_paged(self) -> bool:
        return self.is_full or self.is_window


def group_books(geometry: Geometry) -> dict[str, GroupBook]:
    return {
        g.name: GroupBook(
            i,
            g,
            g.name,
            g.block_tokens,
            g.kind is Kind.RECURRENT_STATE,
            g.kind is Kind.FULL_ATTENTION,
            g.kind is Kind.SLIDING_WINDOW,
        )
        for i, g in enumerate(geometry.groups)
    }


@dataclass(slots=True, eq=False)
class Entry:
    """One key of one block: who published it, in which residency and step, for which path."""

    key: Key
    block: int
    request: str
    residency: int
    step: int
    path: TokenPath
    column: int | None


@dataclass(slots=True, eq=False)
class Chunk:
    """What a request does in one step; `residency` tells the life it belongs to."""

    step: int
    start: int
    end: int
    prefill_end: int
    residency: int


@dataclass(slots=True, eq=False)
class TableBook:
    """The block table of one (request, group): column -> block, 0 is a hole.

    `settled_tokens`: leading entries whose content was checked and not touched since (attention
    only). `before`: contents that this step's writes of this chunk replaced; all writes of one
    chunk start from them.
    """

    group: GroupBook
    columns: list[int] = field(default_factory=list)
    held: int = 0
    first_held: int = 0
    settled_tokens: int = 0
    settled_epoch: int = 0
    before_step: int | None = None
    before: dict[int, StateContent] = field(default_factory=dict)
    copies_step: int | None = None
    copies: int = 0
    pre_copy: tuple[int, int, int] | None = None


@dataclass(slots=True, eq=False)
class RequestBook:
    """One request from submission to its end. `replay` = legal(P) and `extend` = extend(P) of its
    prompt, `junction` of its last lookup, on the alignment: kept positions, 0 where there is none.
    """

    name: str
    path: TokenPath
    prompt_tokens: int
    total_tokens: int
    replay: int
    extend: int
    tables: dict[str, TableBook]
    residency: int
    live: bool = True
    ended_step: int | None = None
    chunk: Chunk | None = None
    junction: int = 0

    @property
    def held(self) -> int:
        return sum(t.held for t in self.tables.values())


class FactKind(StrEnum):
    """What the ledger sees while it books an event and a law has to judge."""

    TAKES_REFERENCED = "takes_referenced"
    TAKES_KEYED = "takes_keyed"
    USES_NULL = "uses_null"
    WRITES_KEYED = "writes_keyed"
    WRITES_SHARED = "writes_shared"
    WRITES_FOREIGN = "writes_foreign"
    MOVES_OTHER = "moves_other"
    COPIES_NOTHING = "copies_nothing"
    READS_HOLE = "reads_hole"
    READS_NOTHING = "reads_nothing"
    READS_OTHER = "reads_other"


@dataclass(frozen=True, slots=True)
class Fact:
    """One such observation. `detail` completes the sentence of the law."""

    kind: FactKind
    step: int
    request: str
    group: str
    block: int
    column: int | None
    detail: str
