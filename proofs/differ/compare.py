"""Two traces of one scenario: equal event for event, or the first difference.

The name of the engine in the header is the only thing that may differ. Equal means equal in value
and in type: 3 and numpy's 3 are not the same line of a trace file. An exception on either side is
a difference too."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

from truehit.proofs.differ.data_difference import NO_DATA, DataCount, DataDifference
from truehit.proofs.differ.plain import is_plain, is_plain_event
from truehit.proofs.differ.subject import Subject
from truehit.reference.ruleset import RULE_SETS
from truehit.reference.run import Run, run
from truehit.spec.scenario import Scenario
from truehit.spec.trace import Event, Header

SHOWN_BEFORE = 3


@dataclass(frozen=True, slots=True)
class Unequal:
    """The events of one index differ; None: that trace has ended. `before`: the last equal ones;
    `fields`: which fields differ, empty when the kinds do."""

    index: int
    step: int
    oracle: Event | None
    subject: Event | None
    before: tuple[Event, ...]
    fields: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StepsDiffer:
    """Equal events, and another number of steps."""

    oracle: int
    subject: int


@dataclass(frozen=True, slots=True)
class Raised:
    """One side gave up. `who`: oracle or subject; `error`: the exception's type; `message`: its one
    line."""

    who: str
    error: str
    message: str


@dataclass(frozen=True, slots=True)
class DataDiffers:
    """Equal events, and pages or logits that do not follow from them."""

    what: DataDifference


Difference = Unequal | StepsDiffer | Raised | DataDiffers


@dataclass(frozen=True, slots=True)
class Comparison:
    """One scenario on both. `events`, `steps` and `chunks` (of prefills) are the oracle's; `data`:
    how much of the subject's data plane was compared."""

    events: tuple[Event, ...]
    steps: int
    chunks: int
    difference: Difference | None
    data: DataCount = NO_DATA


def compare(scenario: Scenario, rules: str, subject: Subject) -> Comparison:
    """Run a scenario on the oracle and on the subject."""
    try:
        told = run(scenario, RULE_SETS[rules])
    except Exception as error:
        return Comparison((), 0, 0, _raised("oracle", error))
    return compare_with(told, subject)


def compare_with(told: Run, subject: Subject) -> Comparison:
    """Hold the subject to a run of the oracle that there is already."""
    chunks = sum(len(served.carve) for served in told.served)
    difference: Difference | None
    data = NO_DATA
    try:
        traced = subject.run(told.scenario, told.rules.name)
    except Exception as error:
        difference = _raised("subject", error)
    else:
        difference = first_difference(told.events, traced.events)
        if difference is None and traced.steps != told.steps:
            difference = StepsDiffer(told.steps, traced.steps)
        if difference is None and traced.data is not None:
            difference = DataDiffers(traced.data)
        data = traced.data_count
    return Comparison(told.events, told.steps, chunks, difference, data)


def _raised(who: str, error: Exception) -> Raised:
    return Raised(who, type(error).__name__, " ".join(str(error).split()))


def first_difference(oracle: Sequence[Event], subject: Sequence[Event]) -> Unequal | None:
    """The first index at which the traces differ, or None."""
    shared = min(len(oracle), len(subject))
    for index in range(shared):
        expected, found = oracle[index], subject[index]
        if index == 0:
            found = _under_one_name(expected, found)
        if expected != found or not is_plain_event(found):
            return _unequal(index, expected, found, oracle)
    if len(oracle) == len(subject):
        return None
    longer = oracle if len(oracle) > shared else subject
    left = oracle[shared] if longer is oracle else None
    right = subject[shared] if longer is subject else None
    return _unequal(shared, left, right, oracle)


def _under_one_name(expected: Event, found: Event) -> Event:
    if isinstance(expected, Header) and isinstance(found, Header):
        return replace(found, engine=expected.engine)
    return found


def _unequal(
    index: int, oracle: Event | None, subject: Event | None, events: Sequence[Event]
) -> Unequal:
    known = oracle if oracle is not None else subject
    assert known is not None
    return Unequal(
        index=index,
        step=known.step,
        oracle=oracle,
        subject=subject,
        before=tuple(events[max(0, index - SHOWN_BEFORE) : index]),
        fields=differing_fields(oracle, subject),
    )


def differing_fields(oracle: Event | None, subject: Event | None) -> tuple[str, ...]:
    """The fields of two events of one kind that differ in value or in type."""
    if oracle is None or subject is None or type(oracle) is not type(subject):
        return ()
    values = {f.name: (getattr(oracle, f.name), getattr(subject, f.name)) for f in fields(oracle)}
    return tuple(name for name, (a, b) in values.items() if a != b or not is_plain(b))


def kind_of(difference: Difference) -> tuple[str, ...]:
    """What has to stay the same for a smaller run to show the same difference."""
    match difference:
        case Unequal():
            sides = (_kind(difference.oracle), _kind(difference.subject))
            return (*sides, *difference.fields[:1])
        case StepsDiffer():
            return ("steps",)
        case Raised():
            return ("raised", difference.who, difference.error)
        case DataDiffers(what):
            return ("data", type(what).__name__)


def _kind(event: Event | None) -> str:
    if event is None:
        return "nothing"
    detail = getattr(event, "op", "") or getattr(event, "why", "")
    return f"{event.kind} {detail}".strip()
