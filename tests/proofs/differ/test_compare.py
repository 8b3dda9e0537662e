"""Two traces: what counts as equal, where the first difference is, and how it is said."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from truehit.proofs.differ.compare import (
    Raised,
    StepsDiffer,
    Unequal,
    compare,
    first_difference,
    kind_of,
)
from truehit.proofs.differ.plain import is_plain, is_plain_event
from truehit.proofs.differ.standins import oracle
from truehit.proofs.differ.subject import Subject, SubjectError, Traced, load
from truehit.proofs.differ.text import plain, rows, sentence
from truehit.proofs.sweep.draw import draw
from truehit.proofs.sweep.features import Feature
from truehit.reference.run import run
from truehit.spec.scenario import Scenario
from truehit.spec.trace import (
    Complete,
    Event,
    GroupReach,
    Header,
    Lookup,
    Publish,
    Reset,
    Schedule,
    Table,
)


class Number(int):
    """Equal to a whole number, and written by no JSON encoder that we know of: like numpy's."""


SCENARIO = draw(3, frozenset({Feature.DRAFTS, Feature.UNEQUAL_BLOCKS}))


@pytest.fixture(scope="module")
def events() -> tuple[Event, ...]:
    return run(SCENARIO).events


def at(events: Sequence[Event], kind: type) -> int:
    return next(index for index, event in enumerate(events) if isinstance(event, kind))


def spoiled(events: tuple[Event, ...], index: int, **changes: object) -> list[Event]:
    other = list(events)
    other[index] = replace(events[index], **changes)  # type: ignore[arg-type]
    return other


# --- what is equal --------------------------------------------------------------------------------


def test_only_the_name_of_the_engine_may_differ(events: tuple[Event, ...]) -> None:
    assert first_difference(events, spoiled(events, 0, engine="other")) is None
    found = first_difference(events, spoiled(events, 0, rules="other"))
    assert found is not None
    assert (found.index, found.fields) == (0, ("rules",))


def test_a_header_that_is_missing_is_a_difference(events: tuple[Event, ...]) -> None:
    found = first_difference(events, events[1:])
    assert found is not None
    assert isinstance(found.oracle, Header)
    assert found.index == 0


def test_the_first_changed_event_is_found(events: tuple[Event, ...]) -> None:
    index = at(events, Publish)
    other = spoiled(events, index, keys=((1, 1),))
    other[-1] = replace(other[-1], step=99)
    found = first_difference(events, other)
    assert found is not None
    assert (found.index, found.step, found.fields) == (index, events[index].step, ("keys",))
    assert (found.oracle, found.subject) == (events[index], other[index])
    assert found.before == events[index - 3 : index]
    assert kind_of(found) == ("publish", "publish", "keys")


def test_an_event_that_is_lost_shows_what_came_instead(events: tuple[Event, ...]) -> None:
    index = at(events, Schedule)
    found = first_difference(events, [*events[:index], *events[index + 1 :]])
    assert found is not None
    assert isinstance(found.oracle, Schedule)
    assert isinstance(found.subject, Table)
    assert found.fields == ()
    assert kind_of(found) == ("schedule", "table estimate")


def test_a_trace_that_ends_early_or_goes_on_differs(events: tuple[Event, ...]) -> None:
    short = first_difference(events, events[:-1])
    assert short is not None
    assert (short.oracle, short.subject) == (events[-1], None)
    assert sentence(short).endswith("the subject has ended, the oracle has complete")
    long = first_difference(events, [*events, Reset(7)])
    assert long is not None
    assert (long.index, long.step, long.oracle, long.subject) == (len(events), 7, None, Reset(7))
    assert sentence(long).endswith("the oracle has ended, the subject has reset")


def test_an_equal_number_of_another_type_differs(events: tuple[Event, ...]) -> None:
    index = at(events, Complete)
    assert spoiled(events, index, step=Number(events[index].step)) == list(events)
    found = first_difference(events, spoiled(events, index, step=Number(events[index].step)))
    assert found is not None
    assert (found.index, found.fields) == (index, ("step",))


def test_numbers_inside_tuples_and_records_are_looked_at() -> None:
    reach = GroupReach("state", 4, 0, 4)
    lookup = Lookup(0, "r", 4, (reach,), 4, 0, 4)
    assert is_plain_event(lookup)
    assert not is_plain_event(replace(lookup, reaches=(replace(reach, drop_tokens=Number(0)),)))
    assert not is_plain_event(Publish(0, "r", "g", ((4, Number(1)),)))
    assert is_plain_event(Complete(0, None, (("r", 1),), ("r",)))
    assert not is_plain_event(Reset(Number(1)))
    assert is_plain({"a": [1, None, "x", True]})
    assert not is_plain({"a": 1.0})


# --- exceptions, steps ----------------------------------------------------------------------------


def test_a_subject_that_raises_differs() -> None:
    def run_it(scenario: Scenario, rules: str) -> Traced:
        raise IndexError("column 4\nof 3")

    done = compare(SCENARIO, "default", Subject("raiser", run_it))
    assert done.difference == Raised("subject", "IndexError", "column 4 of 3")
    assert done.steps > 0
    assert sentence(done.difference) == "the subject gave up (IndexError: column 4 of 3)"


def test_an_oracle_that_raises_differs_too() -> None:
    broken = replace(SCENARIO, geometry=replace(SCENARIO.geometry, steps_in_flight=0))
    done = compare(broken, "default", Subject("oracle", oracle))
    assert isinstance(done.difference, Raised)
    assert done.difference.who == "oracle"
    assert kind_of(done.difference)[:2] == ("raised", "oracle")


def test_another_number_of_steps_differs() -> None:
    def run_it(scenario: Scenario, rules: str) -> Traced:
        traced = oracle(scenario, rules)
        return replace(traced, steps=traced.steps + 2)

    done = compare(SCENARIO, "default", Subject("longer", run_it))
    assert done.difference == StepsDiffer(done.steps, done.steps + 2)
    assert kind_of(done.difference) == ("steps",)


# --- words ----------------------------------------------------------------------------------------


def test_both_events_are_shown_field_by_field() -> None:
    left = Publish(2, "r1", "state", ((8, 3), (16, 4)))
    found = Unequal(5, 2, left, replace(left, keys=((8, 3),)), (Reset(1),), ("keys",))
    assert [(r.field, r.oracle, r.subject) for r in rows(found) if r.differs] == [
        ("keys", "8 3, 16 4", "8 3")
    ]
    text = plain(found)
    assert text.splitlines()[0] == "event 5 (step 2): publish of r1 differs in keys"
    assert "  before  1 reset" in text
    assert "> keys: 8 3, 16 4 | 8 3" in text
    assert "  group: state | state" in text


def test_events_of_different_kinds_share_no_line_that_is_equal_by_chance() -> None:
    found = Unequal(5, 2, Reset(2), Publish(2, "r1", "state", ((8, 3),)), (), ())
    shown = {row.field: (row.oracle, row.subject, row.differs) for row in rows(found)}
    assert shown["kind"] == ("reset", "publish", True)
    assert shown["step"] == ("2", "2", False)
    assert shown["keys"] == ("-", "8 3", True)
    assert sentence(found) == "event 5 (step 2): the oracle has reset, the subject publish of r1"


def test_another_type_is_named_in_the_words() -> None:
    left = Table(0, "r1", "state", "adopt", tokens=4)
    right = replace(left, tokens=4.0)  # type: ignore[arg-type]
    found = first_difference([left], [right])
    assert found is not None
    assert "> tokens: 4 | 4.0" in plain(found)


# --- subjects -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("fastest", "subject 'fastest' is unknown; one of engine, engine-on-cuda, "),
        ("truehit.nowhere:run", "cannot be loaded: No module named 'truehit.nowhere'"),
        ("nowhere_at_all:run", "pip install 'truehit[engine]' works"),
        ("truehit.proofs.differ.standins:nothing", "has no nothing"),
    ],
)
def test_a_subject_that_cannot_be_had_is_one_line(name: str, words: str) -> None:
    with pytest.raises(SubjectError, match=r".") as refused:
        load(name)
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)
