"""Requests one after another on the oracle, and what became of them."""

from collections.abc import Sequence

from truehit.proofs.golden.geometries import rules
from truehit.proofs.golden.replay import Books, Replay
from truehit.reference.run import Run, Served, run
from truehit.spec.geometry import Geometry
from truehit.spec.scenario import After, AtStep, Request, Scenario
from truehit.spec.tokens import Segment

Prompt = tuple[Segment, ...]


def doc(tokens: int) -> Prompt:
    """A prompt of one document."""
    return (Segment("doc", tokens),)


def sibling(shared: int, tokens: int, tail: str = "tail") -> Prompt:
    """A prompt that leaves the document after `shared` tokens."""
    return (Segment("doc", shared), Segment(tail, tokens - shared))


def run_under(rule_set: str, scenario: Scenario) -> Run:
    """The scenario on the oracle under a named rule set."""
    return run(scenario, rules(rule_set))


def in_turn(
    rule_set: str, geometry: Geometry, prompts: Sequence[Prompt], budgets: tuple[int, ...] = ()
) -> Run:
    """Each prompt after the one before has finished. `budgets`: of the first steps."""
    requests = tuple(
        Request(f"r{i}", prompt, arrival=After(f"r{i - 1}") if i else AtStep(0))
        for i, prompt in enumerate(prompts)
    )
    return run_under(rule_set, Scenario("in turn", geometry, requests, budgets=budgets))


def sends(rule_set: str, geometry: Geometry, tokens: int, times: int) -> tuple[Served, ...]:
    """The same prompt, so many times."""
    return in_turn(rule_set, geometry, [doc(tokens)] * times).served


def hits(served: Sequence[Served]) -> list[int | None]:
    return [each.hit for each in served]


def first_hit_send(served: Sequence[Served]) -> int | None:
    """Counted from 1."""
    return next((each.send for each in served if each.hit), None)


def last_hit(rule_set: str, geometry: Geometry, prompts: Sequence[Prompt]) -> int | None:
    """What the last prompt hit."""
    return in_turn(rule_set, geometry, prompts).served[-1].hit


def books(result: Run) -> Books:
    """What the states of a run really held."""
    return Replay(result.scenario).run(result.events)


def purity(result: Run) -> str:
    """poison or clean."""
    return "poison" if books(result).poison else "clean"
