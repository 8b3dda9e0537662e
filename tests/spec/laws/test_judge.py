"""The judge: planes, bad traces, limits, and that laws see the ledger after the event."""

import sys

import pytest

from truehit.spec.geometry_file import geometry_to_json
from truehit.spec.laws import LAWS
from truehit.spec.laws.base import REPORTED_LIMIT, Law, ViolationClass
from truehit.spec.laws.judge import NotObserved, check_trace
from truehit.spec.ledger import LedgerError
from truehit.spec.trace import EngineError, Header, Plane

from .script import GEOMETRY, Script
from .test_clean import two_requests

NAMES = [
    "provenance",
    "commit",
    "uniqueness",
    "grid",
    "seed",
    "reach",
    "joint",
    "admission",
    "progress",
    "ownership",
    "retirement",
    "conservation",
    "neutrality",
]


def test_there_are_thirteen_laws_each_with_a_sentence() -> None:
    assert [law.name for law in LAWS] == NAMES
    assert all(law.sentence and law.planes for law in LAWS)


@pytest.mark.parametrize("law", LAWS, ids=NAMES)
def test_every_law_says_what_it_does_not_verify(law: type[Law]) -> None:
    text = sys.modules[law.__module__].__doc__ or ""
    assert text.startswith(f"{law.name}: ")
    assert text.index("*verified*:") < text.index("*not verified*:")


def test_a_law_without_its_plane_is_not_observed() -> None:
    script = Script(planes=(Plane.SCHEDULE, Plane.LOOKUP, Plane.KEYS))
    observed = {"uniqueness", "grid", "reach", "joint", "progress"}
    verdict = script.submit("a", ("doc", 4)).judge()
    assert {entry.law for entry in verdict.not_observed} == set(NAMES) - observed
    assert NotObserved("neutrality", (Plane.DEVICE, Plane.TABLE)) in verdict.not_observed


def test_a_missing_plane_is_silent_even_if_its_law_is_broken() -> None:
    script = Script(planes=tuple(p for p in Plane if p is not Plane.DEVICE))
    script.submit("a", ("doc", 4)).publish("a", "state", (4, 4)).complete()
    assert script.judge().of_law("provenance") == ()


def test_check_trace_reads_the_geometry_from_the_header() -> None:
    header = Header("script", "by hand", geometry_to_json(GEOMETRY), tuple(Plane))
    verdict = check_trace([header, *two_requests().events])
    assert verdict.violations == ()
    assert verdict.events == len(two_requests().events)


def test_a_trace_without_a_header_is_refused() -> None:
    with pytest.raises(LedgerError, match="does not begin with a header"):
        check_trace(two_requests().events)
    with pytest.raises(LedgerError, match="does not begin with a header"):
        check_trace([])


@pytest.mark.parametrize(
    ("script", "words"),
    [
        (Script().lookup("z", 3, 0), "step 0: request z was not submitted"),
        (
            Script().submit("a", ("doc", 4)).place("a", "ring", 0, 1),
            "step 0: no group ring; full, state exist",
        ),
        (
            Script().submit("a", ("doc", 4)).place("a", "full", 0, 99),
            "step 0: a table event names a block beyond the pool of 32",
        ),
        (
            Script().submit("a", ("doc", 4)).end("a").complete().complete().lookup("a", 3, 0),
            "step 2: request a was not submitted",
        ),
    ],
)
def test_a_trace_that_names_what_does_not_exist_is_refused(script: Script, words: str) -> None:
    with pytest.raises(LedgerError, match=words):
        script.judge()


def test_events_that_no_law_reads_are_counted() -> None:
    script = Script().add(EngineError(0, "out of memory"))
    assert script.judge().events == 1


def test_a_law_that_has_said_enough_is_only_counted() -> None:
    script = Script().submit("a", ("doc", 9))
    for _ in range(REPORTED_LIMIT + 7):
        script.schedule("a", 0, 0, 9, offered=1, cut="split").complete()
    verdict = script.judge()
    assert len(verdict.of_law("progress")) == REPORTED_LIMIT
    assert verdict.suppressed >= 7


def test_violations_can_be_chosen_by_class() -> None:
    script = Script().submit("a", ("doc", 4)).publish("a", "state", (4, 4)).complete()
    verdict = script.judge()
    assert verdict.of_class(ViolationClass.STALL) == ()
    assert {v.law for v in verdict.of_class(ViolationClass.CORRUPT)} >= {"provenance", "commit"}


def test_ended_requests_are_forgotten() -> None:
    script = Script()
    for number in range(50):
        script.submit(f"r{number}", ("doc", 4)).end(f"r{number}").complete()
    judge_script = script.submit("last", ("doc", 4)).complete()
    assert judge_script.judge().open_requests == ("last",)
