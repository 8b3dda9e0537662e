"""What the laws' verdict on a real engine means: symptoms, each with its class.

Two sentences are read differently than for our own engine, because released schedulers choose
otherwise by design; both become *policy* unless they do harm:

* a splitter that leaves an offer unused waits for a larger one. It is a stall when the same request
  is offered half a state block or more and gets none in `DEFERRED_STEPS` steps in a row; less than
  that is what others left of the budget;
* with retention 0 or an interval, released engines keep what a resend can land on, not the end of a
  prompt for a longer one. A miss there is waste only where a resend would have landed.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from truehit.adapters.vllm.driver import Driven
from truehit.spec.formulas import legal
from truehit.spec.geometry import Dense, Geometry
from truehit.spec.geometry_file import geometry_from_json
from truehit.spec.laws.base import Violation, ViolationClass
from truehit.spec.laws.judge import check_trace
from truehit.spec.ledger import LedgerError
from truehit.spec.scenario_errors import ScenarioError
from truehit.spec.tokens import Segment, TokenPath, TokenTree
from truehit.spec.trace import Complete, EngineError, Event, Header, Schedule, Submit

DEFERRED_STEPS = 16
SPARSE = frozenset({"reach", "grid"})
"""Laws about kept positions."""
_NUMBERS = re.compile(r"\d+")
_NAMES = re.compile(r"(request|group) [\w#.:-]+")


@dataclass(frozen=True, slots=True)
class Symptom:
    """One broken sentence. `shape`: the law and the sentence without its names and numbers: equal
    shapes may have one cause."""

    law: str
    violation_class: ViolationClass
    sentence: str
    step: int
    request: str
    violation: Violation | None = None

    @property
    def shape(self) -> str:
        words = _NUMBERS.sub("#", _NAMES.sub(r"\1 *", self.sentence))
        return f"{self.law}: {words.split(' (step')[0]}"


def is_judged(driven: Driven) -> bool:
    """The engine started, and with a geometry that the laws have words for. Of any other run
    nothing is known, also not that a symptom is gone."""
    if not driven.facts:
        return False
    header = driven.trace[0]
    assert isinstance(header, Header)
    try:
        geometry_from_json(header.geometry)
    except ScenarioError:
        return False
    return True


def symptoms(driven: Driven) -> tuple[Symptom, ...]:
    """Everything that is wrong with a run, in the order of the trace, policies included. An engine
    that does not start with a geometry has said so, and nothing is wrong."""
    if not driven.facts:
        return ()
    found = list(_faults(driven.faults))
    try:
        verdict = check_trace(driven.trace)
    except ScenarioError:
        # The engine runs with what the law has no words for, such as windows beside fine hits.
        return tuple(found)
    except LedgerError as problem:
        sentence = f"the trace contradicts itself: {problem}"
        return (*found, Symptom("trace", ViolationClass.CORRUPT, sentence, 0, ""))
    half_block = (driven.scenario.geometry.grid_tokens or 1) // 2
    deferred = _deferrals(driven.trace, half_block)
    landings = Landings(driven.scenario.geometry, driven.trace)
    for violation in verdict.violations:
        read = violation.violation_class
        if violation.law == "progress" and "is offered" in violation.sentence:
            if deferred[violation.request] < DEFERRED_STEPS:
                read = ViolationClass.POLICY
        elif (violation.law == "admission" and "reservations" in violation.sentence) or (
            violation.law in SPARSE and not landings.is_promised(violation)
        ):
            read = ViolationClass.POLICY
        found.append(
            Symptom(
                violation.law,
                read,
                violation.sentence,
                violation.step,
                violation.request,
                violation,
            )
        )
    return tuple(found)


def _faults(faults: Iterable[EngineError]) -> Iterator[Symptom]:
    for fault in faults:
        request = fault.request or ""
        yield Symptom("fault", ViolationClass.STALL, fault.message, fault.step, request)


def _deferrals(trace: Iterable[Event], least_tokens: int) -> dict[str, int]:
    """Request -> the most steps in a row in which it was offered so many and got none."""
    longest: dict[str, int] = defaultdict(int)
    now: dict[str, int] = defaultdict(int)
    for event in trace:
        if isinstance(event, Schedule):
            is_deferred = event.end == event.start and event.offered_tokens >= max(least_tokens, 1)
            now[event.request] = now[event.request] + 1 if is_deferred else 0
            longest[event.request] = max(longest[event.request], now[event.request])
    return longest


class Landings:
    """Where a resend of each prompt of a run lands, which is what sparse retention keeps."""

    def __init__(self, geometry: Geometry, trace: Iterable[Event]) -> None:
        tree = TokenTree()
        self._period = geometry.retention_period_tokens
        self._is_dense = isinstance(geometry.retention, Dense)
        self._of: dict[str, tuple[TokenPath, int]] = {}
        self._passed_in: dict[str, int] = {}
        """Request -> the step in which its prefill reached its landing."""
        for event in trace:
            if isinstance(event, Submit):
                answer = Segment(event.output, event.output_tokens)
                path = tree.path((*event.segments, answer), event.salt)
                self._of[event.request] = path, legal(geometry, event.prompt_tokens)
            elif isinstance(event, Schedule) and event.end >= self._of[event.request][1]:
                self._passed_in.setdefault(event.request, event.step)

    def is_promised(self, violation: Violation) -> bool:
        """A resend of a prompt lands at the position that was not kept, or not hit: of the
        request's own prompt, or of one whose prefix it shares."""
        position = violation.position_tokens
        if self._is_dense or position is None or violation.request not in self._of:
            return True
        if self._period and position % self._period == 0:
            return True
        own, lands = self._of[violation.request]
        if violation.law == "grid" or " hits " not in violation.sentence:
            return position == lands
        return any(
            lands == position and own.shared_tokens(path) >= position
            for name, (path, lands) in self._of.items()
            if name != violation.request
            and self._passed_in.get(name, violation.step) < violation.step
        )


def steps_of(trace: Iterable[Event]) -> int:
    """Steps that the run took."""
    return sum(1 for event in trace if isinstance(event, Complete))
