"""What is looked for under each historic rule set: the law that names the defect, and where to
look.

The features are those without which the defect cannot show; the reason stands beside each.
"""

from dataclasses import dataclass

from truehit.proofs.sweep.features import Feature


@dataclass(frozen=True, slots=True)
class Target:
    """`law` must be broken under the rule set, in a sentence that contains `saying`, and no law may
    be broken by default or under the rule sets in `holding`, which differ from it in the defect
    alone."""

    rules: str
    law: str
    features: frozenset[Feature]
    why: str
    saying: str = ""
    holding: tuple[str, ...] = ()


def _on(*features: Feature) -> frozenset[Feature]:
    return frozenset(features)


TARGETS: tuple[Target, ...] = (
    Target(
        "aligned-below-last",
        "provenance",
        _on(Feature.SHARES, Feature.DROP_CLAMPED),
        "a drop backs the last position off by a block; a share cuts a chunk beyond it",
    ),
    Target(
        "minimum-block-grid",
        "provenance",
        _on(Feature.UNEQUAL_BLOCKS, Feature.SMALL_BUDGET),
        "a finer group sets the grid, and a budget that is no multiple of the state block",
        holding=("stop-from-misaligned",),
    ),
    Target(
        "stop-from-misaligned",
        "reach",
        _on(),
        "an aligned start spans several boundaries",
    ),
    Target(
        "one-block-back-off",
        "reach",
        _on(Feature.DROP_MARGIN, Feature.RETENTION_ZERO, Feature.UNEQUAL_BLOCKS),
        "the last position is backed off below what the lookup offers",
        holding=("stop-from-misaligned",),
    ),
    Target(
        "scratch-left",
        "provenance",
        _on(
            Feature.CHECKPOINTS,
            Feature.DRAFTS,
            Feature.DROP_MARGIN,
            Feature.RETENTION_ZERO,
            Feature.SHARES,
        ),
        "a final chunk starts one block below the checkpoint it exports and owns scratch there",
    ),
    Target(
        "scratch-counted",
        "admission",
        _on(
            Feature.CHECKPOINTS,
            Feature.DRAFTS,
            Feature.DROP_MARGIN,
            Feature.RETENTION_ZERO,
            Feature.SHARES,
        ),
        "scratch moves in a checkpoint step, so fewer blocks are taken than estimated",
    ),
    Target(
        "boundary-only",
        "reach",
        _on(Feature.DROP_CLAMPED, Feature.RETENTION_ZERO),
        "the only state kept lies above what a dropped lookup offers",
        saying="hits 0",
        holding=("margin-alignment", "margin-own-bit"),
    ),
    Target(
        "margin-state-block",
        "reach",
        _on(Feature.DROP_MARGIN, Feature.RETENTION_ZERO, Feature.UNEQUAL_BLOCKS),
        "state block and alignment differ",
        saying="hits 0",
        holding=("margin-alignment",),
    ),
    Target(
        "margin-own-bit",
        "reach",
        _on(Feature.DROP_CLAMPED, Feature.RETENTION_ZERO),
        "the attention group drops, the state group is not drafted",
        saying="hits 0",
        holding=("margin-alignment",),
    ),
    Target(
        "seed-minimum-block",
        "seed",
        _on(Feature.UNEQUAL_BLOCKS),
        "the minimum block is not the state block",
    ),
    Target(
        "pruned-lookup",
        "joint",
        _on(),
        "the last block of a match is never used, so every hit loses one to hide a poison",
    ),
    Target(
        "drop-every-retry",
        "joint",
        _on(Feature.DROP_CLAMPED, Feature.RETENTION_ZERO),
        "a state group lowers the candidate, and the drop is applied again",
    ),
    Target(
        "raised-candidate",
        "joint",
        _on(Feature.DROP_CLAMPED),
        "a state exists at the margin above what attention offers",
    ),
    Target(
        "schedule-time-keys",
        "commit",
        _on(Feature.SAME_STEP),
        "two requests with one prefix arrive together",
    ),
)


def target_of(rules: str) -> Target:
    """The target of a rule set; KeyError if it is not historic."""
    return {target.rules: target for target in TARGETS}[rules]
