"""What the laws' verdict on a real engine means: symptoms, each with its class.

Two sentences are read differently than for our own engine, because released schedulers choose
otherwise by design; both become *policy* unless they do harm:

* a splitter that leaves an offer unused waits for a larger one. It is a stall when the same request
  is offered tokens and gets none in `DEFERRED_STEPS` steps in a row;
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
from truehit.spec.laws.base import Violation, ViolationClass
from truehit.spec.laws.judge import check_trace
from truehit.spec.ledger import LedgerError
from truehit.spec.trace import Complete, EngineError, Event, Schedule, Submit

DEFERRED_STEPS = 16
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


def symptoms(driven: Driven) -> tuple[Symptom, ...]:
    """Everything that is wrong with a run, in the order of the trace, policies included."""
    found = list(_faults(driven.faults))
    try:
        verdict = check_trace(driven.trace)
    except LedgerError as problem:
        sentence = f"the trace contradicts itself: {problem}"
        return (*found, Symptom("trace", ViolationClass.CORRUPT, sentence, 0, ""))
    deferred = _deferrals(driven.trace)
    landings = _landings(driven.scenario.geometry, driven.trace)
    for violation in verdict.violations:
        read = violation.violation_class
        if violation.law == "progress" and "is offered" in violation.sentence:
            if deferred[violation.request] < DEFERRED_STEPS:
                read = ViolationClass.POLICY
        elif (violation.law == "admission" and "reservations" in violation.sentence) or (
            violation.law == "reach" and _is_policy(violation, driven.scenario.geometry, landings)
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


def _deferrals(trace: Iterable[Event]) -> dict[str, int]:
    """Request -> the most steps in a row in which it was offered tokens and got none."""
    longest: dict[str, int] = defaultdict(int)
    now: dict[str, int] = defaultdict(int)
    for event in trace:
        if isinstance(event, Schedule):
            is_deferred = event.end == event.start and event.offered_tokens > 0
            now[event.request] = now[event.request] + 1 if is_deferred else 0
            longest[event.request] = max(longest[event.request], now[event.request])
    return longest


def _landings(geometry: Geometry, trace: Iterable[Event]) -> frozenset[int]:
    """Where a resend of any prompt of the run lands."""
    return frozenset(
        legal(geometry, event.prompt_tokens) for event in trace if isinstance(event, Submit)
    )


def _is_policy(violation: Violation, geometry: Geometry, landings: frozenset[int]) -> bool:
    if isinstance(geometry.retention, Dense):
        return False
    position = violation.position_tokens
    if position is None:
        return False
    period = geometry.retention_period_tokens
    return position not in landings and not (period and position % period == 0)


def steps_of(trace: Iterable[Event]) -> int:
    """Steps that the run took."""
    return sum(1 for event in trace if isinstance(event, Complete))
