"""What an engine did, one frozen event a line: the only thing the laws read.

Every event has its step. Device events (`Copy`, `Read`, `Write`, `Transfer`) also have their
device order within the step. The last event of every step is `Complete`. A file is JSON Lines;
the first line is the header, which lists the planes that were captured.

Blocks are pool ids (0 is the null block), columns are indices in a request's block table,
positions are tokens from the start of the request.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar

from truehit.spec.tokens import Segment

SCHEMA = 1


class Plane(StrEnum):
    """What a trace may have captured. A law without its plane says *not observed*."""

    LOOKUP = "lookup"
    SCHEDULE = "schedule"
    TABLE = "table"
    KEYS = "keys"
    DEVICE = "device"
    ESTIMATE = "estimate"
    POOL = "pool"


class Cut(StrEnum):
    """Which cap ended a chunk. NONE: everything that was left was scheduled."""

    NONE = "none"
    BUDGET = "budget"
    THRESHOLD = "threshold"
    SPLIT = "split"
    ENCODER = "encoder"
    LOOKAHEAD = "lookahead"
    POOL = "pool"
    MAXIMUM_LENGTH = "maximum_length"


class TableOp(StrEnum):
    """PLACE fresh blocks; ADOPT found blocks; MOVE inside the table; NULL columns; COPY_ON_WRITE:
    the column's block is replaced by a fresh one; ESTIMATE: what admission expects to take."""

    PLACE = "place"
    ADOPT = "adopt"
    MOVE = "move"
    NULL = "null"
    COPY_ON_WRITE = "copy_on_write"
    ESTIMATE = "estimate"


class CopyWhy(StrEnum):
    PRE = "pre"
    COPY_ON_WRITE = "copy_on_write"
    BOUNDARY = "boundary"


class UnpublishWhy(StrEnum):
    EVICTED = "evicted"
    TAKEN_BACK = "taken_back"
    RESET = "reset"
    PROMOTED = "promoted"


class EndWhy(StrEnum):
    FINISH = "finish"
    ABORT = "abort"
    PREEMPT = "preempt"
    REFUSED = "refused"


class Miss(StrEnum):
    """Why a lookup hit less than it shares (closed list, design §6). A vetoing group is named
    beside it."""

    CAPPED = "capped"
    NOT_SHARED = "not_shared"
    BELOW_FLOOR = "below_floor"
    NO_STATE = "no_state"
    MASKED = "masked"
    DROPPED = "dropped"
    EVICTED = "evicted"
    VETOED_BY = "vetoed_by"
    UNCOMMITTED = "uncommitted"


@dataclass(frozen=True, slots=True)
class Header:
    """`geometry` is its JSON form (scenario schema)."""

    kind: ClassVar[str] = "header"
    engine: str
    rules: str
    geometry: dict[str, Any]
    planes: tuple[str, ...]
    scenario: str = ""
    schema: int = SCHEMA
    step: int = 0


@dataclass(frozen=True, slots=True)
class Submit:
    """A request arrives. Its own token sequence is `segments`, then `output_tokens` of stream
    `output`."""

    kind: ClassVar[str] = "submit"
    step: int
    request: str
    segments: tuple[Segment, ...]
    output: str
    output_tokens: int
    salt: str = ""
    priority: int = 0

    @property
    def prompt_tokens(self) -> int:
        return sum(s.tokens for s in self.segments)


@dataclass(frozen=True, slots=True)
class GroupReach:
    """`match_tokens` found, `drop_tokens` given back, `reach_tokens`: the largest position it can
    resume at."""

    group: str
    match_tokens: int
    drop_tokens: int
    reach_tokens: int


@dataclass(frozen=True, slots=True)
class Lookup:
    """`hit_tokens` = local + external. `junction_tokens`: None when there is none."""

    kind: ClassVar[str] = "lookup"
    step: int
    request: str
    cap_tokens: int
    reaches: tuple[GroupReach, ...]
    local_tokens: int
    external_tokens: int
    hit_tokens: int
    junction_tokens: int | None = None
    reason: str | None = None
    vetoed_by: str | None = None


@dataclass(frozen=True, slots=True)
class Schedule:
    """The chunk [start, end) of a request in this step; `drafts` of its tokens are drafts.

    start == end: nothing was scheduled and `reason` says why. `offered_tokens` is what the caps
    before the splitter left. `checkpoint_tokens`: the position exported from the middle of the
    chunk."""

    kind: ClassVar[str] = "schedule"
    step: int
    request: str
    start: int
    end: int
    offered_tokens: int
    prefill_end: int
    drafts: int = 0
    cut: str = Cut.NONE
    checkpoint_tokens: int | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """A change of the block table of (request, group). `blocks` fill columns from `column` on.

    PLACE and ADOPT: columns beyond the end are appended, holes between become null. MOVE: the
    blocks leave `sources` (which become null) for the columns from `column` on. NULL: columns
    [column, column + count). COPY_ON_WRITE: one column, its new block. ADOPT: `tokens` is the
    position resumed at. ESTIMATE: `count` blocks over all groups (group is "")."""

    kind: ClassVar[str] = "table"
    step: int
    request: str
    group: str
    op: str
    column: int = 0
    blocks: tuple[int, ...] = ()
    sources: tuple[int, ...] = ()
    count: int = 0
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class Hold:
    """Somebody other than a block table keeps (`held`) or releases blocks, e.g. the source of a
    copy."""

    kind: ClassVar[str] = "hold"
    step: int
    group: str
    blocks: tuple[int, ...]
    holder: str
    held: bool


@dataclass(frozen=True, slots=True)
class Publish:
    """Keys become findable: each is (tokens of the request's own prefix, block)."""

    kind: ClassVar[str] = "publish"
    step: int
    request: str
    group: str
    keys: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Unpublish:
    """Keys stop being findable: all keys of each block."""

    kind: ClassVar[str] = "unpublish"
    step: int
    group: str
    blocks: tuple[int, ...]
    why: str


@dataclass(frozen=True, slots=True)
class Copy:
    """A whole block is copied on the device."""

    kind: ClassVar[str] = "copy"
    step: int
    order: int
    request: str
    group: str
    source: int
    target: int
    why: str


@dataclass(frozen=True, slots=True)
class Read:
    """State groups: the initial state of a chunk, claimed after `tokens` tokens, from `column`.
    Attention groups: the request's own columns that hold tokens [0, tokens); `block` is 0."""

    kind: ClassVar[str] = "read"
    step: int
    order: int
    request: str
    group: str
    column: int
    block: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Write:
    """State groups: `blocks[0]` becomes the state of block `source` (None: the zero state) after
    consuming tokens [start, end) of the request. Attention groups: pages `blocks` (columns from
    `column`) receive the entries of tokens [start, end). `rejected_tokens` > 0: that many entries
    after `end` are of rejected drafts."""

    kind: ClassVar[str] = "write"
    step: int
    order: int
    request: str
    group: str
    column: int
    blocks: tuple[int, ...]
    start: int
    end: int
    source: int | None = None
    rejected_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Transfer:
    """Externally computed content arrives: like `Write`, from outside. `tokens` = position after
    it."""

    kind: ClassVar[str] = "transfer"
    step: int
    order: int
    request: str
    group: str
    column: int
    blocks: tuple[int, ...]
    start: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Complete:
    """Closes a step. `of`: the step that is now known complete (None: none yet), with the drafts
    accepted and the requests that failed in it; then the engine's own count of its pool (None: not
    captured)."""

    kind: ClassVar[str] = "complete"
    step: int
    of: int | None
    accepted: tuple[tuple[str, int], ...] = ()
    failed: tuple[str, ...] = ()
    referenced_blocks: int | None = None
    keyed_free_blocks: int | None = None
    empty_free_blocks: int | None = None


@dataclass(frozen=True, slots=True)
class End:
    """A request leaves: its tables are released in every group. PREEMPT: it comes back later."""

    kind: ClassVar[str] = "end"
    step: int
    request: str
    why: str
    message: str = ""


@dataclass(frozen=True, slots=True)
class Reset:
    """All keys are dropped."""

    kind: ClassVar[str] = "reset"
    step: int


@dataclass(frozen=True, slots=True)
class EngineError:
    """The engine refused or failed; `request` None: not about one request."""

    kind: ClassVar[str] = "error"
    step: int
    message: str
    request: str | None = None


Event = (
    Header
    | Submit
    | Lookup
    | Schedule
    | Table
    | Hold
    | Publish
    | Unpublish
    | Copy
    | Read
    | Write
    | Transfer
    | Complete
    | End
    | Reset
    | EngineError
)
