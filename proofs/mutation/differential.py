"""The differential as a judge: the engine's events against the oracle's, with nothing compiled.

Faults of the engine are held to runs of the oracle that were made once, before anything was
planted. Faults of the oracle are held to the engine as it is."""

from collections.abc import Callable, Iterator
from functools import partial

from truehit.proofs.differ.compare import (
    Comparison,
    DataDiffers,
    Raised,
    StepsDiffer,
    Unequal,
    compare_with,
)
from truehit.proofs.differ.data_difference import data_sentence
from truehit.proofs.differ.draw import draw_run
from truehit.proofs.differ.sources import each_golden_run, golden_entries, regression_runs
from truehit.proofs.differ.subject import ENGINE, Subject, load
from truehit.proofs.mutation.survivors import SCENARIOS
from truehit.reference.ruleset import RULE_SETS
from truehit.reference.run import Run, run

DRAWN_RUNS = 160
"""About 23,000 steps: every second run under the default rules, the rest in rotation."""
FIRST_RUNS = 40
GOLDEN_TOKENS = 20_000
"""Longer prompts repeat what shorter ones show, at length."""

Told = tuple[str, Callable[[], Run]]
Question = tuple[str, Callable[[], str | None]]


def told_runs() -> list[Told]:
    """Runs of the oracle, made now: kept counterexamples, drawn runs, golden numbers."""
    golden: list[Told] = []

    def see(entry: str, told: Run) -> None:
        if sum(request.prompt_tokens for request in told.scenario.requests) <= GOLDEN_TOKENS:
            golden.append((entry, lambda: told))

    each_golden_run(golden_entries(), see)
    drawn = [_made(name, make) for name, make in _drawn()]
    kept = [_made(name, make) for name, make in _kept()]
    return [*kept, *drawn[:FIRST_RUNS], *golden, *drawn[FIRST_RUNS:]]


def runs_of_now() -> list[Told]:
    """Runs that the oracle makes when asked, faulty as it is."""
    return [*_kept(), *_drawn()]


def questions(told: list[Told]) -> Iterator[Question]:
    """For each run: how the engine's events differ, if they do."""
    subject = load(ENGINE)
    for name, make in told:
        yield name, partial(_differs, make, subject)


def _differs(make: Callable[[], Run], subject: Subject) -> str | None:
    return _said(compare_with(make(), subject))


def _made(name: str, make: Callable[[], Run]) -> Told:
    told = make()
    return name, lambda: told


def _kept() -> Iterator[Told]:
    for scenario in SCENARIOS:
        yield scenario.name, partial(run, scenario)
    for listed in regression_runs():
        yield listed.name, partial(run, listed.scenario, RULE_SETS[listed.rules])


def _drawn() -> Iterator[Told]:
    for seed in range(DRAWN_RUNS):
        yield f"run {seed}", partial(_draw, seed)


def _draw(seed: int) -> Run:
    drawn = draw_run(seed, None)
    return run(drawn.scenario, RULE_SETS[drawn.rules])


def _said(found: Comparison) -> str | None:
    match found.difference:
        case None:
            return None
        case Raised(who, error, message):
            return f"{who} raised {error}: {message}"
        case StepsDiffer(oracle, subject):
            return f"{oracle} steps of the oracle, {subject} of the engine"
        case DataDiffers(what):
            return data_sentence(what)
        case Unequal(index=index, step=step, fields=names):
            fields = ", ".join(names) or "another event"
            return f"event {index} of step {step}: {fields}"
