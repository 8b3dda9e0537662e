"""All golden entries, one result each, in file order."""

from truehit.proofs.golden import (
    cases_s0,
    cases_s0_windows,
    cases_s1_grid,
    cases_s1_stops,
    cases_s2_reach,
    cases_s2_sends,
    cases_s3,
    cases_s4,
    cases_s4_rules,
)
from truehit.proofs.golden.entries import derivable_entries
from truehit.proofs.golden.registry import Case, cases_of
from truehit.proofs.golden.verdict import GoldenResult, judge


def all_cases() -> dict[str, Case]:
    """Entry id -> its case."""
    return cases_of(
        cases_s0,
        cases_s0_windows,
        cases_s1_grid,
        cases_s1_stops,
        cases_s2_sends,
        cases_s2_reach,
        cases_s3,
        cases_s4,
        cases_s4_rules,
    )


def run_entry(entry_id: str) -> GoldenResult:
    """One entry; KeyError if it does not exist or is not derivable."""
    entries = {entry.name: entry for entry in derivable_entries()}
    return judge(entries[entry_id], all_cases().get(entry_id))


def run_golden() -> list[GoldenResult]:
    """Every derivable entry."""
    cases = all_cases()
    return [judge(entry, cases.get(entry.name)) for entry in derivable_entries()]
