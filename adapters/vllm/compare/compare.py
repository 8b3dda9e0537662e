"""The whole comparison of two subjects: findings, known defects, behaviour, rules."""

from collections.abc import Callable
from dataclasses import dataclass

from truehit.adapters.vllm.audit.audit import Asked, audit
from truehit.adapters.vllm.audit.search import Budget
from truehit.adapters.vllm.compare.findings import changed_defects, match, shown_by
from truehit.adapters.vllm.compare.laws import judge_library, new_and_gone
from truehit.adapters.vllm.compare.library import drive_library, summed
from truehit.adapters.vllm.compare.report import CompareRecord, MatchedFinding
from truehit.adapters.vllm.compare.rules import compare_rules
from truehit.adapters.vllm.driver import Driver
from truehit.adapters.vllm.environment import Environment
from truehit.proofs.sources import open_path

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Wanted:
    """How to search each side; both get the same budget and seed."""

    budget: Budget
    seed: int
    workers: int


def compare(
    base: Environment, head: Environment, wanted: Wanted, progress: Progress
) -> CompareRecord:
    """Compare `head` with `base`.

    Raises:
        PeerError: an engine does not start; one line.
    """
    progress("lifting both splitters ...")
    rules = compare_rules(open_path(base.package), open_path(head.package))
    asked = Asked(wanted.budget, wanted.seed, wanted.workers, tests=None, lifts=False)
    before = audit(base, asked, _named(base, progress))
    after = audit(head, asked, _named(head, progress))
    with Driver(base) as base_driver, Driver(head) as head_driver:
        seen = drive_library(base_driver, head_driver, progress)
        drawn = [one.listed for one in seen if one.listed.is_drawn and one.on_both]
        judged = judge_library(base_driver, head_driver, drawn)
        progress("replaying what one search found on the other side ...")
        matched = match(
            before.findings,
            after.findings,
            on_base=shown_by(base_driver, "base"),
            on_head=shown_by(head_driver, "head"),
        )
    new, gone = new_and_gone(judged, before.findings, after.findings)
    return CompareRecord(
        base=base.name,
        head=head.name,
        seed=wanted.seed,
        scenarios=(before.scenarios, after.scenarios),
        steps=(before.steps, after.steps),
        new=added(matched.new, new),
        gone=added(matched.gone, gone),
        unchanged=matched.unchanged,
        defects=changed_defects(before.known, after.known),
        behaviour=summed(seen),
        rules=rules,
    )


def added(found: list[MatchedFinding], more: list[MatchedFinding]) -> list[MatchedFinding]:
    """What the search did not say already."""
    said = {(one.violation_class, one.law) for one in found}
    return [*found, *(one for one in more if (one.violation_class, one.law) not in said)]


def _named(side: Environment, progress: Progress) -> Progress:
    return lambda line: progress(f"{side.name}: {line}")
