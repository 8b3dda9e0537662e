"""A state machine that lives a deployment's life step by step and compares both traces as it goes.

A request comes, a step is given a budget, somebody is aborted, preempted, fails, the cache is
reset, the pool is pressed: what was done so far is a scenario, run on the oracle and on the
subject. Hypothesis finds the order of things that differs and shrinks it."""

from dataclasses import replace
from random import Random

from hypothesis import assume, note
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from truehit.proofs.differ.compare import compare
from truehit.proofs.differ.subject import Subject
from truehit.proofs.differ.text import plain
from truehit.proofs.shrink import is_valid
from truehit.proofs.sweep.draw import draw_geometry
from truehit.proofs.sweep.features import Feature, compatible
from truehit.reference.ruleset import DEFAULT, RULE_SETS
from truehit.spec.geometry import Geometry
from truehit.spec.scenario import (
    Abort,
    Action,
    After,
    AtStep,
    EncoderItem,
    Fail,
    Moment,
    Policy,
    Preempt,
    Pressure,
    Request,
    ResetCache,
    Scenario,
)
from truehit.spec.tokens import Segment

COMPARED_EVERY = 5
"""A comparison runs everything from the start, so not every step is worth one."""
DRAIN_STEPS = 400

feature_sets = st.sets(st.sampled_from(Feature), max_size=12).map(frozenset).filter(compatible)
rule_sets = st.one_of(st.just(DEFAULT.name), st.sampled_from(sorted(RULE_SETS)))
lengths = st.integers(1, 40)


class Deployment(RuleBasedStateMachine):
    """`subject` is set by the test that runs it."""

    subject: Subject

    @initialize(
        random=st.randoms(use_true_random=False),
        features=feature_sets,
        rules=rule_sets,
        encoder=st.booleans(),
    )
    def start(
        self, random: Random, features: frozenset[Feature], rules: str, encoder: bool
    ) -> None:
        self.geometry: Geometry = draw_geometry(random, features)
        self.policy = Policy.PRIORITY if Feature.PRIORITY in features else Policy.FCFS
        self.encoder_budget = 6 if encoder else None
        self.rule_set = rules
        self.requests: list[Request] = []
        self.actions: list[Action] = []
        self.budgets: list[int] = []
        self.compared = 0

    @property
    def step(self) -> int:
        return len(self.budgets)

    def scenario(self, steps: int) -> Scenario:
        return Scenario(
            "deployment",
            self.geometry,
            tuple(self.requests),
            tuple(self.actions),
            tuple(self.budgets),
            self.policy,
            self.encoder_budget,
            self.rule_set,
            steps,
        )

    def try_request(self, request: Request) -> None:
        """Only what a file could hold is submitted."""
        self.requests.append(request)
        if not is_valid(self.scenario(DRAIN_STEPS)):
            self.requests.pop()
            assume(False)

    def name(self) -> str:
        return f"r{len(self.requests)}"

    @rule(
        tokens=lengths,
        output=st.integers(1, 25),
        salt=st.sampled_from(("", "", "", "salt")),
        document=st.sampled_from(("doc", "other")),
        priority=st.integers(0, 2),
    )
    def submit(self, tokens: int, output: int, salt: str, document: str, priority: int) -> None:
        self.try_request(
            Request(
                self.name(),
                (Segment(document, tokens),),
                output,
                salt=salt,
                arrival=AtStep(self.step),
                priority=priority,
            )
        )

    @precondition(lambda self: self.requests)
    @rule(data=st.data(), tail=st.integers(0, 20), output=st.integers(1, 12))
    def submit_relative(self, data: st.DataObject, tail: int, output: int) -> None:
        """A resend, a longer prompt, a sibling, a later turn; now, or when the other gets there."""
        parent = data.draw(st.sampled_from(self.requests))
        segments = parent.segments
        match data.draw(st.sampled_from(("whole", "cut", "turn"))):
            case "cut":
                cut = data.draw(st.integers(1, segments[0].tokens))
                segments = (Segment(segments[0].name, cut),)
            case "turn":
                said = data.draw(st.integers(1, parent.output_tokens))
                segments = (*segments, Segment(parent.output_name, said))
        if tail:
            segments = (*segments, Segment(data.draw(st.sampled_from(("tail", "more"))), tail))
        moments = st.builds(After, st.just(parent.name), st.sampled_from(Moment), st.integers(0, 2))
        self.try_request(
            Request(
                self.name(),
                segments,
                output,
                salt=parent.salt,
                arrival=data.draw(st.one_of(st.just(AtStep(self.step)), moments)),
                accepted=tuple(
                    data.draw(st.lists(st.integers(0, self.geometry.drafts), max_size=3))
                ),
            )
        )

    @precondition(lambda self: self.requests)
    @rule(data=st.data())
    def refine_last(self, data: st.DataObject) -> None:
        """Shares, outside tokens and encoder inputs of the latest request."""
        last = self.requests[-1]
        prompt = last.prompt_tokens
        shares = tuple(data.draw(st.lists(st.integers(1, 15), max_size=3)))
        external = data.draw(st.sampled_from((0, 0, prompt // 2, prompt - 1)))
        items: tuple[EncoderItem, ...] = ()
        if prompt > 6 and data.draw(st.booleans()):
            items = (EncoderItem(data.draw(st.integers(0, prompt - 6)), 5),)
        self.requests.pop()
        self.try_request(
            replace(last, shares=shares, external_tokens=external, encoder_items=items)
        )

    @precondition(lambda self: self.requests)
    @rule(data=st.data(), kind=st.sampled_from((Abort, Preempt, Fail)))
    def strike(self, data: st.DataObject, kind: type[Abort | Preempt | Fail]) -> None:
        name = data.draw(st.sampled_from([request.name for request in self.requests]))
        self.actions.append(kind(self.step, name))

    @rule()
    def reset(self) -> None:
        self.actions.append(ResetCache(self.step))

    @rule(share=st.floats(0.1, 1), for_steps=st.integers(1, 4))
    def press(self, share: float, for_steps: int) -> None:
        blocks = max(1, int(share * (self.geometry.pool_blocks - 1)))
        self.actions.append(Pressure(self.step, blocks, for_steps))

    @rule(count=st.integers(1, 6))
    def full_steps(self, count: int) -> None:
        self.budgets += [self.geometry.budget_tokens] * count

    @rule(data=st.data())
    def small_step(self, data: st.DataObject) -> None:
        self.budgets.append(data.draw(st.integers(1, self.geometry.budget_tokens)))

    @invariant()
    def equal_so_far(self) -> None:
        if self.step - self.compared >= COMPARED_EVERY:
            self.compared = self.step
            self.compare(self.step)

    def teardown(self) -> None:
        """To the end, when everybody has been served."""
        self.compare(DRAIN_STEPS + self.step)

    def compare(self, steps: int) -> None:
        scenario = self.scenario(steps)
        if not is_valid(scenario):
            return
        done = compare(scenario, self.rule_set, self.subject)
        note(str(scenario))
        assert done.difference is None, plain(done.difference)
