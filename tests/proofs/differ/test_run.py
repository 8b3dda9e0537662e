"""A whole differential: what is compared, in which order, and when it is enough."""

from collections.abc import Iterator
from itertools import islice

import pytest

from truehit.proofs.cases import load_cases
from truehit.proofs.differ.compare import StepsDiffer
from truehit.proofs.differ.coverage import summed
from truehit.proofs.differ.draw import draw_run
from truehit.proofs.differ.parts import (
    Count,
    DrawnPart,
    Found,
    GoldenPart,
    ListedPart,
    compare_part,
    merged,
    one_a_kind,
)
from truehit.proofs.differ.run import ENOUGH, differential, drawn_parts, known_parts
from truehit.proofs.differ.sources import (
    case_runs,
    each_golden_run,
    golden_entries,
    regression_runs,
)
from truehit.proofs.differ.standins import miscounts_pool, place_of, stops_from_misaligned
from truehit.proofs.golden import runs as golden_runs
from truehit.proofs.regress.targets import TARGETS
from truehit.reference.ruleset import RULE_SETS
from truehit.reference.run import run


def few(count: int = 3) -> Iterator[DrawnPart]:
    return (DrawnPart(seed, 4, None) for seed in range(0, 4 * count, 4))


def silent(done: int, total: int, name: str) -> None:
    pass


def test_the_known_sources_are_all_there() -> None:
    parts = known_parts()
    golden = [entry for part in parts if isinstance(part, GoldenPart) for entry in part.entries]
    assert tuple(golden) == golden_entries()
    assert {"golden", "regressions", "cases"} == {part.source for part in parts}
    cases = case_runs()
    assert {one.name for one in cases} == {case.name for case in load_cases()}
    assert len({one.rules for one in cases}) > 5
    runs = regression_runs()
    assert {one.name for one in runs} == {target.rules for target in TARGETS}
    assert {(one.name, one.rules) for one in runs} >= {(t.rules, t.rules) for t in TARGETS}


def test_golden_entries_show_the_runs_they_make() -> None:
    before = vars(golden_runs)["run"]
    seen: list[tuple[str, str]] = []
    entries = golden_entries()[:3]
    each_golden_run(entries, lambda entry, told: seen.append((entry, told.rules.name)))
    assert vars(golden_runs)["run"] is before
    assert seen and {entry for entry, _ in seen} <= set(entries)
    assert {rules for _, rules in seen} <= set(RULE_SETS)


def test_a_fault_shows_in_golden_and_regression_runs() -> None:
    subject = place_of(stops_from_misaligned)
    golden = compare_part(GoldenPart(golden_entries()[1::9]), subject)
    assert golden.total.differences > 0
    regressions = compare_part(ListedPart("regressions", regression_runs()), subject)
    assert regressions.total.differences > 0


def test_counts_are_the_oracle_s() -> None:
    done = compare_part(DrawnPart(0, 3, None), "oracle")
    told = [run((d := draw_run(seed, None)).scenario, RULE_SETS[d.rules]) for seed in range(3)]
    steps, events = sum(r.steps for r in told), sum(len(r.events) for r in told)
    assert done.total == Count(3, steps, events, 0)
    assert sum(done.rules.values()) == 3
    assert done.found == ()


def test_parts_add_up_in_order() -> None:
    parts = [compare_part(part, "oracle") for part in few(2)]
    both = merged(parts)
    assert both.total == parts[0].total.plus(parts[1].total)
    assert both.coverage == summed([parts[0].coverage, parts[1].coverage])
    assert merged([]).total == Count()


def test_the_smallest_run_of_each_kind_is_kept() -> None:
    scenario = draw_run(0, None).scenario
    other = next(iter(compare_part(DrawnPart(0, 1, None), place_of(miscounts_pool)).found))
    found = [
        Found("drawn", "first", "default", scenario, StepsDiffer(1, 2), 50),
        other,
        Found("drawn", "second", "default", scenario, StepsDiffer(4, 9), 20),
        Found("drawn", "third", "default", scenario, StepsDiffer(1, 2), 30),
    ]
    assert [one.name for one in one_a_kind(found)] == ["second", other.name]


@pytest.mark.parametrize("jobs", [1, 2])
def test_drawing_stops_when_there_are_enough_steps(jobs: int) -> None:
    one = compare_part(DrawnPart(0, 4, None), "oracle").total
    two = compare_part(DrawnPart(4, 4, None), "oracle").total
    assert differential("oracle", [], few(9), one.steps, jobs, silent).total == one
    more = differential("oracle", [], few(9), one.steps + 1, jobs, silent)
    assert more.total == one.plus(two)


def test_without_steps_nothing_is_drawn() -> None:
    listed = [ListedPart("regressions", regression_runs()[:2])]
    done = differential("oracle", list(listed), few(), 0, 1, silent)
    assert set(done.sources) == {"regressions"}
    assert done.total.runs == 2


def test_drawing_stops_when_enough_runs_differ() -> None:
    done = differential(place_of(miscounts_pool), [], few(9), 10**9, 1, silent)
    assert ENOUGH <= done.total.differences <= ENOUGH + 4


def test_progress_is_in_steps() -> None:
    seen: list[tuple[int, int, str]] = []
    differential("oracle", [], few(9), 600, 1, lambda *told: seen.append(told))
    assert [told[2] for told in seen] == ["drawn"] * len(seen)
    assert seen[-1][:2] == (600, 600)


def test_slices_of_seeds_do_not_overlap() -> None:
    first, second, third = islice(drawn_parts(5, "default"), 3)
    assert first.first_seed == 5
    assert second.first_seed == first.first_seed + first.runs
    assert third.first_seed == second.first_seed + second.runs
    assert {part.rules for part in (first, second, third)} == {"default"}
