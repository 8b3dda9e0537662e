"""What the oracle remembers of one request between its arrival and its end."""

from collections import deque
from dataclasses import dataclass, field

from truehit.spec.scenario import Request
from truehit.spec.tokens import TokenPath


@dataclass(frozen=True, slots=True)
class Kept:
    """The kept positions of a prompt; 0: none. `boundary` and `margin` serve release splitters."""

    replay: int
    extend: int
    junction: int
    period: int
    boundary: int
    margin: int


@dataclass(slots=True)
class StateTable:
    """Block table of a state group. `scratch`: scratch columns at its end. `current`: the column
    that holds the running state (None: nothing consumed yet). `filed`: columns already considered
    for keys."""

    columns: list[int] = field(default_factory=list)
    scratch: int = 0
    current: int | None = None
    filed: int = 0
    retired: int = 0
    exports: set[int] = field(default_factory=set)


@dataclass(slots=True)
class PageTable:
    """Block table of an attention group or a circular buffer. `filed` and `partial_filed`: tokens
    that were considered for full-page and partial keys; `retired`: columns given back."""

    columns: list[int] = field(default_factory=list)
    filed: int = 0
    partial_filed: int = 0
    retired: int = 0


@dataclass(slots=True)
class Chunk:
    """One scheduled piece of work, until it is known complete. `start` is where the device starts;
    `checkpoint`: exported position (0: none) and `exports`: its block per state group; `tails`: the
    running block per state group of a prefill chunk; `loaded`: tokens that come from outside before
    it runs; `encoder_tokens`: encoder budget it spent."""

    step: int
    live: "Live"
    residency: int
    start: int
    end: int
    drafts: int
    sampling: bool
    checkpoint: int = 0
    exports: dict[str, int] = field(default_factory=dict)
    tails: dict[str, int] = field(default_factory=dict)
    loaded: tuple[int, int] | None = None
    encoder_tokens: int = 0
    runs: bool = True
    accepted: int = 0
    sampled: int = 0
    done_tokens: int = 0


@dataclass(slots=True)
class Live:
    """A submitted request. `known`: prompt and generated tokens the scheduler knows. `computed`:
    scheduled tokens, drafts counted as accepted. `processed`: tokens known complete. `device_*`:
    what the device has done, which runs ahead of what is known when steps are in flight. `reached`:
    the most tokens ever known complete, over all residencies."""

    request: Request
    order: int
    path: TokenPath
    known: int
    computed: int = 0
    processed: int = 0
    prefill_end: int = 0
    device_tokens: int = 0
    device_generated: int = 0
    decodes: int = 0
    reached: int = 0
    turns: int = 0
    residency: int = 0
    broken: bool = False
    kept: Kept = Kept(0, 0, 0, 0, 0, 0)
    states: dict[str, StateTable] = field(default_factory=dict)
    pages: dict[str, PageTable] = field(default_factory=dict)
    chunks: deque[Chunk] = field(default_factory=deque)
    encoded: set[int] = field(default_factory=set)
    hit: int | None = None
    reason: str | None = None
    carve: list[int] = field(default_factory=list)
    stored: list[int] = field(default_factory=list)
    ended: str | None = None

    @property
    def name(self) -> str:
        return self.request.name

    @property
    def prompt(self) -> int:
        return self.request.prompt_tokens

    @property
    def generated(self) -> int:
        return self.known - self.prompt

    @property
    def rank(self) -> tuple[int, int]:
        return (self.request.priority, self.order)

    def reset_tables(self) -> None:
        """A residency ends: nothing is computed any more."""
        self.states.clear()
        self.pages.clear()
        self.chunks.clear()
        self.encoded.clear()
        self.residency += 1
        self.computed = self.processed = self.device_tokens = 0
        self.device_generated = self.generated
        self.broken = False
