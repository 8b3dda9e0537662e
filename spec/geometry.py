"""A geometry is everything an engine fixes at start-up: groups, blocks, hash unit, drop, retention,
budgets, pool.

Sources of the terms: design §3. All sizes are tokens unless the name says blocks, steps or
requests. A geometry that cannot work is refused by `geometry_checks.check`, one sentence a mistake.
"""

from dataclasses import dataclass
from enum import StrEnum
from math import gcd, lcm

from truehit.spec.units import ceil_div


class Kind(StrEnum):
    """What the layers of a group keep."""

    FULL_ATTENTION = "full_attention"
    SLIDING_WINDOW = "sliding_window"
    CIRCULAR_BUFFER = "circular_buffer"
    RECURRENT_STATE = "recurrent_state"


@dataclass(frozen=True, slots=True)
class Group:
    """Layers that share one block table. `drafted`: it holds layers of the draft model."""

    name: str
    kind: Kind
    block_tokens: int
    drafted: bool = False
    window_tokens: int | None = None


class DropCap(StrEnum):
    """Where the margin that a dropping group may match beyond the candidate is cut."""

    CLAMPED = "clamped"
    MARGIN = "margin"


@dataclass(frozen=True, slots=True)
class NoDrop:
    """Nothing is given back."""


@dataclass(frozen=True, slots=True)
class BlockDrop:
    """Every drafted attention group gives back min(alignment, its block) of its match."""

    cap: DropCap


@dataclass(frozen=True, slots=True)
class Lookahead:
    """No drop: a key covers `tokens` tokens beyond its own end instead."""

    tokens: int


Drop = NoDrop | BlockDrop | Lookahead


@dataclass(frozen=True, slots=True)
class Dense:
    """Every findable boundary is kept."""


@dataclass(frozen=True, slots=True)
class ReachOnly:
    """Retention 0: only what a resend, an extension or a junction can land on."""


@dataclass(frozen=True, slots=True)
class Interval:
    """Like retention 0, and every multiple of `tokens`."""

    tokens: int


Retention = Dense | ReachOnly | Interval


@dataclass(frozen=True, slots=True)
class Geometry:
    """The fixed numbers of one deployment. Optional fields are None when the feature is off."""

    groups: tuple[Group, ...]
    hash_unit_tokens: int
    fine_hits: bool = False
    drafts: int = 0
    drop: Drop = NoDrop()
    retention: Retention = Dense()
    budget_tokens: int = 8192
    long_prefill_threshold_tokens: int | None = None
    max_model_tokens: int = 1_048_576
    pool_blocks: int = 4096
    checkpoint_alignment_tokens: int | None = None
    kernel_chunk_tokens: int = 1
    steps_in_flight: int = 1
    reserve_full_sequence: bool = True
    max_running: int = 256

    @property
    def state_groups(self) -> tuple[Group, ...]:
        return tuple(g for g in self.groups if g.kind is Kind.RECURRENT_STATE)

    @property
    def attention_groups(self) -> tuple[Group, ...]:
        """Full attention and sliding windows: the groups a lookup matches page by page."""
        kinds = (Kind.FULL_ATTENTION, Kind.SLIDING_WINDOW)
        return tuple(g for g in self.groups if g.kind in kinds)

    @property
    def lookup_groups(self) -> tuple[Group, ...]:
        """The groups that take part in a hit: all but circular buffers."""
        return tuple(g for g in self.groups if g.kind is not Kind.CIRCULAR_BUFFER)

    @property
    def grid_tokens(self) -> int | None:
        """The state grid B, or None without a recurrent group."""
        return self.state_groups[0].block_tokens if self.state_groups else None

    @property
    def lcm_tokens(self) -> int:
        """S: the lcm of the blocks of the groups that take part in a hit."""
        return lcm(*(g.block_tokens for g in self.lookup_groups))

    @property
    def alignment_tokens(self) -> int:
        """A: the granularity of a hit."""
        return self.hash_unit_tokens if self.fine_hits else self.lcm_tokens

    @property
    def minimum_block_tokens(self) -> int:
        """The smallest block of any group, circular buffers included. Not the state grid."""
        return min(g.block_tokens for g in self.groups)

    @property
    def block_gcd_tokens(self) -> int:
        return gcd(*(g.block_tokens for g in self.lookup_groups))

    @property
    def lookahead_tokens(self) -> int:
        """L: tokens beyond its end that a key covers."""
        return self.drop.tokens if isinstance(self.drop, Lookahead) else 0

    @property
    def any_drop(self) -> bool:
        return any(self.drop_tokens(g) > 0 for g in self.attention_groups)

    def drop_tokens(self, group: Group) -> int:
        """D_g: what the group gives back of its match."""
        match self.drop:
            case BlockDrop() if group.drafted and group in self.attention_groups:
                return min(self.alignment_tokens, group.block_tokens)
            case _:
                return 0

    def lookup_unit_tokens(self, group: Group) -> int:
        """u_g: the granularity of the group's own match."""
        return self.hash_unit_tokens if self.fine_hits else group.block_tokens

    @property
    def retention_period_tokens(self) -> int | None:
        """Multiples of this are kept on top of the reachable positions; None: no such multiples."""
        base = self.alignment_tokens
        if self.grid_tokens is not None:
            base = lcm(base, self.grid_tokens)
        match self.retention:
            case Dense():
                return base
            case Interval(tokens):
                return lcm(base, tokens)
            case ReachOnly():
                return None

    @property
    def largest_chunk_tokens(self) -> int:
        """No chunk is ever longer than this."""
        threshold = self.long_prefill_threshold_tokens
        return self.budget_tokens if threshold is None else min(self.budget_tokens, threshold)

    @property
    def checkpoints(self) -> bool:
        return self.checkpoint_alignment_tokens is not None

    def state_peak_blocks(self) -> int:
        """Blocks one running request may hold in one state group: the bound of `retirement`."""
        earlier = self.steps_in_flight - 1
        per_step = 1 if self.checkpoints else 0
        copies = max(1, earlier) if self.fine_hits else 0
        return 2 + self.drafts + earlier + per_step * self.steps_in_flight + copies

    def window_peak_blocks(self, group: Group) -> int:
        """Pages one running request may hold in a sliding window: the window, and what the steps
        that are not yet known complete have added."""
        step_tokens = max(self.largest_chunk_tokens, 1 + self.drafts)
        span_tokens = (group.window_tokens or 1) - 1 + self.steps_in_flight * step_tokens
        return ceil_div(span_tokens, group.block_tokens) + 1

    def request_blocks(self, total_tokens: int) -> int:
        """The most blocks a request of `total_tokens` (prompt and output) holds at one time."""
        total = 0
        reached_tokens = total_tokens + self.drafts * self.steps_in_flight
        for group in self.groups:
            match group.kind:
                case Kind.RECURRENT_STATE:
                    total += self.state_peak_blocks()
                case Kind.CIRCULAR_BUFFER:
                    total += 1
                case Kind.FULL_ATTENTION:
                    total += ceil_div(reached_tokens, group.block_tokens)
                    total += 1 if self.fine_hits else 0
                case Kind.SLIDING_WINDOW:
                    pages = ceil_div(reached_tokens, group.block_tokens)
                    total += min(pages, self.window_peak_blocks(group))
        return total
