"""Which positions of a prompt are kept, besides junctions and the multiples of the retention
period.

Ours: every position a lookup can land on after the drop of any group: `replay` for an unchanged
prompt, `extend` for a longer one. The other functions are released or attempted rules, kept as
controls."""

from dataclasses import dataclass

from truehit.spec.units import floor_to


@dataclass(frozen=True, slots=True)
class KeepQuery:
    """`legal` and `extension` are the offers of spec.formulas for this prompt. `drop` is what a
    dropping attention group gives back (0: none drops); `own_bit`: the state group itself holds
    draft layers."""

    prompt: int
    alignment: int
    state_block: int
    legal: int
    extension: int
    drop: int
    own_bit: bool


def replay_reachable(q: KeepQuery) -> int:
    """What an unchanged prompt lands on."""
    return q.legal


def extend_reachable(q: KeepQuery) -> int:
    """What a longer prompt lands on."""
    return q.extension


def replay_boundary(q: KeepQuery) -> int:
    """The last aligned position a resend could use if nothing dropped."""
    return floor_to(max(q.prompt - 1, 0), q.alignment)


def no_margin(q: KeepQuery) -> int:
    """The defect: only the boundary is kept, which no dropped lookup can offer."""
    return 0


def margin_alignment(q: KeepQuery) -> int:
    """One alignment unit below the boundary when any group drops."""
    return max(replay_boundary(q) - q.alignment, 0) if q.drop > 0 else 0


def margin_state_block(q: KeepQuery) -> int:
    """The defect: one state block below the boundary, an offset that no lookup accepts."""
    return max(replay_boundary(q) - q.state_block, 0) if q.drop > 0 else 0


def margin_own_bit(q: KeepQuery) -> int:
    """The defect: the margin is asked of the state group's own draft bit."""
    return margin_alignment(q) if q.own_bit else 0


def is_published(position: int, replay: int, extend: int, junction: int, period: int) -> bool:
    """True iff the state at this position gets a key."""
    if position == replay or position == extend or position == junction:
        return position > 0
    return period > 0 and position > 0 and position % period == 0
