"""A rule set is one frozen value, one field a decision; the default is the design we stand for.

Every historic defect is an alternative value of a field, kept as a control: some obligation and
some scenario must refute it, and the default must pass the same ones. `RULE_SETS` names them."""

from dataclasses import dataclass
from enum import StrEnum


class Split(StrEnum):
    """Where a chunk ends."""

    KEPT_POSITIONS = "kept_positions"
    ALIGNED_BELOW_LAST = "aligned_below_last"
    STOP_FROM_MISALIGNED = "stop_from_misaligned"
    STOP_EVERY_BOUNDARY = "stop_every_boundary"
    RETENTION_STOPS = "retention_stops"


class Grid(StrEnum):
    """What the splitter takes for the state grid."""

    STATE_BLOCK = "state_block"
    MINIMUM_BLOCK = "minimum_block"


class BackOff(StrEnum):
    """Whether the last cache position of a release splitter is one block lower under a drop."""

    NONE = "none"
    ONE_BLOCK = "one_block"


class Scratch(StrEnum):
    """What happens to old scratch below the checkpoint column in a checkpoint step."""

    MOVES = "moves"
    LEFT = "left"


class Estimate(StrEnum):
    """What admission expects of a step."""

    PLAN = "plan"
    COUNTS_SCRATCH = "counts_scratch"


class Keep(StrEnum):
    """Which positions of a prompt are kept."""

    REACHABLE = "reachable"
    BOUNDARY = "boundary"
    BOUNDARY_AND_ALIGNMENT = "boundary_and_alignment"
    BOUNDARY_AND_STATE_BLOCK = "boundary_and_state_block"
    BOUNDARY_AND_OWN_BIT = "boundary_and_own_bit"


class Seed(StrEnum):
    """In which block the resumed column is counted."""

    STATE_BLOCK = "state_block"
    MINIMUM_BLOCK = "minimum_block"


class Candidate(StrEnum):
    """What the state group is offered."""

    OFFER = "offer"
    PRUNED = "pruned"
    RAISED = "raised"


class DropRule(StrEnum):
    """How often a group drops in one lookup."""

    ONCE = "once"
    EVERY_RETRY = "every_retry"


class Visibility(StrEnum):
    """When a key becomes findable."""

    COMMIT = "commit"
    SCHEDULE_DEFERRED = "schedule_deferred"
    SCHEDULE = "schedule"


@dataclass(frozen=True, slots=True)
class RuleSet:
    """One value a decision."""

    name: str
    split: Split = Split.KEPT_POSITIONS
    grid: Grid = Grid.STATE_BLOCK
    back_off: BackOff = BackOff.NONE
    scratch: Scratch = Scratch.MOVES
    estimate: Estimate = Estimate.PLAN
    keep: Keep = Keep.REACHABLE
    seed: Seed = Seed.STATE_BLOCK
    candidate: Candidate = Candidate.OFFER
    drop_rule: DropRule = DropRule.ONCE
    visibility: Visibility = Visibility.COMMIT


DEFAULT = RuleSet("default")

HISTORIC: tuple[RuleSet, ...] = (
    RuleSet("aligned-below-last", split=Split.ALIGNED_BELOW_LAST, back_off=BackOff.ONE_BLOCK),
    RuleSet("minimum-block-grid", split=Split.STOP_FROM_MISALIGNED, grid=Grid.MINIMUM_BLOCK),
    RuleSet("stop-from-misaligned", split=Split.STOP_FROM_MISALIGNED),
    RuleSet("one-block-back-off", split=Split.STOP_FROM_MISALIGNED, back_off=BackOff.ONE_BLOCK),
    RuleSet("scratch-left", scratch=Scratch.LEFT),
    RuleSet("scratch-counted", estimate=Estimate.COUNTS_SCRATCH),
    RuleSet("boundary-only", keep=Keep.BOUNDARY),
    RuleSet("margin-state-block", keep=Keep.BOUNDARY_AND_STATE_BLOCK),
    RuleSet("margin-own-bit", keep=Keep.BOUNDARY_AND_OWN_BIT),
    RuleSet("seed-minimum-block", seed=Seed.MINIMUM_BLOCK),
    RuleSet("pruned-lookup", candidate=Candidate.PRUNED),
    RuleSet("drop-every-retry", drop_rule=DropRule.EVERY_RETRY),
    RuleSet("raised-candidate", candidate=Candidate.RAISED),
    RuleSet("schedule-time-keys", visibility=Visibility.SCHEDULE),
)

VARIANTS: tuple[RuleSet, ...] = (
    RuleSet("margin-alignment", keep=Keep.BOUNDARY_AND_ALIGNMENT),
    RuleSet(
        "v-pre",
        split=Split.ALIGNED_BELOW_LAST,
        back_off=BackOff.ONE_BLOCK,
        keep=Keep.BOUNDARY,
        visibility=Visibility.SCHEDULE_DEFERRED,
    ),
    RuleSet(
        "v-post",
        split=Split.STOP_FROM_MISALIGNED,
        back_off=BackOff.ONE_BLOCK,
        keep=Keep.BOUNDARY,
        visibility=Visibility.SCHEDULE_DEFERRED,
    ),
    RuleSet(
        "v-post-minimum-grid",
        split=Split.STOP_FROM_MISALIGNED,
        back_off=BackOff.ONE_BLOCK,
        grid=Grid.MINIMUM_BLOCK,
        keep=Keep.BOUNDARY,
        visibility=Visibility.SCHEDULE_DEFERRED,
    ),
    RuleSet(
        "v-post-scratch-left",
        split=Split.STOP_FROM_MISALIGNED,
        back_off=BackOff.ONE_BLOCK,
        scratch=Scratch.LEFT,
        keep=Keep.BOUNDARY,
        visibility=Visibility.SCHEDULE_DEFERRED,
    ),
    RuleSet(
        "v-hard",
        split=Split.STOP_EVERY_BOUNDARY,
        keep=Keep.BOUNDARY,
        visibility=Visibility.SCHEDULE_DEFERRED,
    ),
    RuleSet(
        "v-hard-back-off",
        split=Split.STOP_EVERY_BOUNDARY,
        back_off=BackOff.ONE_BLOCK,
        keep=Keep.BOUNDARY,
        visibility=Visibility.SCHEDULE_DEFERRED,
    ),
    RuleSet(
        "v-hard-reach",
        split=Split.STOP_EVERY_BOUNDARY,
        keep=Keep.BOUNDARY_AND_ALIGNMENT,
        visibility=Visibility.SCHEDULE_DEFERRED,
    ),
    RuleSet(
        "v-ret",
        split=Split.RETENTION_STOPS,
        keep=Keep.BOUNDARY_AND_ALIGNMENT,
        visibility=Visibility.SCHEDULE_DEFERRED,
    ),
    RuleSet(
        "v-post-reach",
        split=Split.STOP_FROM_MISALIGNED,
        back_off=BackOff.ONE_BLOCK,
        keep=Keep.BOUNDARY_AND_ALIGNMENT,
        visibility=Visibility.SCHEDULE_DEFERRED,
    ),
    RuleSet(
        "v-post-reach-scratch-left",
        split=Split.STOP_FROM_MISALIGNED,
        back_off=BackOff.ONE_BLOCK,
        scratch=Scratch.LEFT,
        keep=Keep.BOUNDARY_AND_ALIGNMENT,
        visibility=Visibility.SCHEDULE_DEFERRED,
    ),
    RuleSet(
        "v-post-reach-scratch-counted",
        split=Split.STOP_FROM_MISALIGNED,
        back_off=BackOff.ONE_BLOCK,
        estimate=Estimate.COUNTS_SCRATCH,
        keep=Keep.BOUNDARY_AND_ALIGNMENT,
        visibility=Visibility.SCHEDULE_DEFERRED,
    ),
    RuleSet(
        "v-post-margin-state-block",
        split=Split.STOP_FROM_MISALIGNED,
        back_off=BackOff.ONE_BLOCK,
        keep=Keep.BOUNDARY_AND_STATE_BLOCK,
        visibility=Visibility.SCHEDULE_DEFERRED,
    ),
)

RULE_SETS: dict[str, RuleSet] = {rules.name: rules for rules in (DEFAULT, *HISTORIC, *VARIANTS)}
