"""Sentences of a comparison, the same on a terminal and in a review."""

from truehit.adapters.vllm.compare.report import (
    BehaviourRecord,
    CompareRecord,
    MatchedFinding,
    RuleRow,
)
from truehit.proofs.releases.chunk import FEATURES, SIZES

CLASSES = ("corrupt", "stall", "waste", "policy")
NOTHING = "nothing"


def summary(record: CompareRecord) -> str:
    """`new: 1 corrupt; gone: nothing; unchanged: 2 waste`."""
    parts = {
        "new": [f.violation_class for f in record.new]
        + [change.violation_class for change in record.defects if change.appears],
        "gone": [f.violation_class for f in record.gone]
        + [change.violation_class for change in record.defects if change.vanishes],
        "unchanged": [f.violation_class for f in record.unchanged],
    }
    return "; ".join(f"{name}: {_counted(classes)}" for name, classes in parts.items())


def finding(one: MatchedFinding) -> str:
    """What it needs, and how that was told."""
    cause = f"needs {one.cause}; " if one.cause else ""
    return f"{one.sentence} ({cause}{one.evidence})"


def kind(one: MatchedFinding) -> str:
    """In a few words, for what is no news."""
    return f"{one.violation_class} {one.law}, needs {one.cause or 'nothing that was tried'}"


def behaviour(record: BehaviourRecord) -> str:
    """How much of the library was driven on both, and how much of it differs."""
    driven = (
        f"{record.driven_on_both} of {record.scenarios} scenarios driven on both, "
        f"{record.requests} requests"
    )
    refused = ", ".join(f"{count} by {who}" for who, count in record.refused.items())
    said = ", ".join(f"{aspect} {count}" for aspect, count in record.changes.items())
    parts = [driven, f"refused {refused}" if refused else "", f"differ: {said or NOTHING}"]
    return "; ".join(part for part in parts if part)


def rule(row: RuleRow) -> str:
    """The verdict on a lifted rule."""
    match row.verdict:
        case "proved":
            return f"proved a no-op for {row.domain}"
        case "differ":
            assert row.outcome is not None
            which = "smallest input" if row.minimal else "an input"
            both = f"base {row.outcome.base}, head {row.outcome.head}"
            why = f"; not lifted: {row.reason}" if row.reason else ""
            return f"they differ for {row.domain}; {which}: {inputs(row.inputs)}: {both}{why}"
        case "checked":
            return f"equal in all runs, {row.domain}; not lifted: {row.reason}"
        case "not compared":
            return f"not compared: {row.reason}"
    return f"{row.verdict} for {row.domain}: {row.reason}"


def inputs(words: dict[str, int]) -> str:
    """The sizes first, then numbers, then the features that are on."""
    grid, pages, unit = (words[size] for size in ("grid", "read_grid", "unit"))
    sizes = f"block {grid}" if grid == pages else f"blocks {pages}/{grid}"
    numbers = [
        f"{word} {count}" for word, count in words.items() if word not in (*SIZES, *FEATURES)
    ]
    on = [f"{word} on" for word in words if word in FEATURES]
    return ", ".join([sizes, f"unit {unit}", *numbers, *on])


def _counted(classes: list[str]) -> str:
    parts = [f"{classes.count(name)} {name}" for name in CLASSES if name in classes]
    return ", ".join(parts) or NOTHING
