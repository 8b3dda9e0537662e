"""Run a scenario on a small model under a defect, and say what became of the answers.

Kinds of harm: *garbage*, when a token was computed from a page that holds something else (the ghost
names the page, the logits have moved); *lost hits*, when the same answers cost more tokens than
under the default; *waiting*, when a request the default serves never finishes, or later; *hits too
far*, when a hit keeps what a drafted group has to give back: entries of the drafter's own layers
that depend on a token after the match, which a model without such layers cannot show in its
answers. Float noise is none of them: right pages give logits as close as in any other run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch

from truehit.engine.model.backend import TorchBackend
from truehit.engine.model.random_model import config_for, random_model
from truehit.engine.model.scenario import ModelRun, against_alone, run_on_model
from truehit.proofs.regress.targets import target_of
from truehit.reference.ruleset import DEFAULT
from truehit.spec.laws.judge import Verdict, check_trace
from truehit.spec.scenario import Scenario
from truehit.spec.trace import End, EndWhy, Event, Schedule

SEED = 1
DTYPE = torch.float64
NOISE = 1e-9
"""A logit that moved less than this was rounded differently; garbage moves them by 0.1 and more."""


@dataclass(frozen=True, slots=True)
class Answers:
    """The logits of a run against every request computed alone. `moved`: the largest difference, at
    the token at `position` of `request`; `wrong` of `compared` tokens would choose another next
    token."""

    moved: float
    request: str
    position: int
    wrong: int
    compared: int


@dataclass(frozen=True, slots=True)
class Ran:
    """One run on the model. `false_read`: the first read of a page that holds something else;
    `computed_tokens`: of prefills; `finished_steps`: when each request that finished did."""

    answers: Answers
    false_read: str | None
    law: str
    computed_tokens: int
    finished_steps: Mapping[str, int]
    requests: int


@dataclass(frozen=True, slots=True)
class Harm:
    """A defect and the default on the same scenario."""

    rules: str
    scenario: Scenario
    broken: Ran
    default: Ran

    @property
    def is_garbage(self) -> bool:
        return self.broken.false_read is not None and self.broken.answers.moved > NOISE

    @property
    def lost_tokens(self) -> int:
        """Prefill tokens computed although the default had them."""
        return self.broken.computed_tokens - self.default.computed_tokens

    @property
    def waits(self) -> tuple[str, ...]:
        """Requests that never finish, or later than under the default."""
        return late(self.broken.finished_steps, self.default.finished_steps)


def late(broken: Mapping[str, int], default: Mapping[str, int]) -> tuple[str, ...]:
    """Who never finishes, or later."""
    return tuple(
        name for name, step in default.items() if broken.get(name) is None or broken[name] > step
    )


def measure(scenario: Scenario, rules: str) -> Harm:
    """Run both; the sentence is that of the law that the defect is known to break."""
    law = target_of(rules).law
    return Harm(rules, scenario, _ran(scenario, rules, law), _ran(scenario, DEFAULT.name, law))


def _ran(scenario: Scenario, rules: str, law: str) -> Ran:
    backend = TorchBackend()
    model = random_model(config_for(scenario.geometry), SEED, DTYPE, backend.device)
    ran = run_on_model(scenario, rules, model, backend)
    watch = ran.data.plane.watch
    assert watch is not None
    findings = watch.ghosts.findings
    events = ran.run.events
    return Ran(
        answers=_answers(ran),
        false_read=findings[0].sentence(ran.data.name(findings[0].request)) if findings else None,
        law=_sentence(check_trace(events), law),
        computed_tokens=computed_tokens(events),
        finished_steps=finished_steps(events),
        requests=len(scenario.requests),
    )


def _sentence(verdict: Verdict, law: str) -> str:
    """The first sentence of the law, or of any law that was broken; empty when none was."""
    found = verdict.of_law(law) or verdict.violations
    return f"{found[0].law}: {found[0].sentence}" if found else ""


def computed_tokens(events: Sequence[Event]) -> int:
    """Tokens of all prefills of a trace."""
    return sum(
        min(event.end, event.prefill_end) - event.start
        for event in events
        if isinstance(event, Schedule) and event.start < event.prefill_end
    )


def finished_steps(events: Sequence[Event]) -> dict[str, int]:
    """The step in which each request that finished did."""
    ends = (event for event in events if isinstance(event, End))
    return {event.request: event.step for event in ends if event.why == EndWhy.FINISH}


def _answers(ran: ModelRun) -> Answers:
    data, plane = ran.data, ran.data.plane
    moved, request, position, wrong, count = 0.0, "", 0, 0, 0
    for compared in against_alone(data, plane.model, plane.backend):
        own, by = compared.own, compared.by
        wrong, count = wrong + compared.wrong, count + len(by)
        if by.max().item() > moved:
            moved, at = by.max().item(), int(by.argmax())
            request, position = data.name(own.request), own.start + at
    return Answers(moved, request, position, wrong, count)
