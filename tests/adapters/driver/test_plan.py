"""A scenario in its file form becomes what the driver works with; what no engine can be told is
refused in one line."""

from typing import Any

import pytest

from truehit.adapters.vllm.inside.driver.plan import plan_of, refusal
from truehit.adapters.vllm.inside.driver.tokens import Streams
from truehit.spec.geometry import Geometry, Group, Kind
from truehit.spec.scenario import After, Moment, Request, Scenario
from truehit.spec.scenario_file import dump_scenario
from truehit.spec.tokens import Segment

GEOMETRY = Geometry((Group("state", Kind.RECURRENT_STATE, 16),), hash_unit_tokens=16)


def scenario(*requests: Request) -> dict[str, Any]:
    return dump_scenario(Scenario("one", GEOMETRY, requests))


def test_segments_arrivals_and_defaults() -> None:
    after = After("a", Moment.FINISHED, 2)
    data = scenario(
        Request("a", (Segment("doc:1", 20),)), Request("b", (Segment("doc:1", 8),), arrival=after)
    )
    first, second = plan_of(data).requests
    assert first.segments == (("doc:1", 20),)
    assert (first.output, first.after, first.at) == ("output:a", None, 0)
    assert second.after == ("a", "finished", 2)
    assert plan_of(data).repairs == frozenset()


def test_repairs_come_with_the_order() -> None:
    data = scenario() | {"options": {"repairs": ["state-grid"]}}
    assert plan_of(data).repairs == {"state-grid"}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"budgets": [3]}, "budgets: an engine has one budget for all steps"),
        ({"actions": [{"kind": "pressure", "step": 1, "blocks": 2}]}, "cannot be told to pressure"),
        ({"requests": [{"name": "a", "shares": [4]}]}, "request a: shares cannot be asked for"),
    ],
)
def test_what_no_engine_can_be_told(change: dict[str, Any], words: str) -> None:
    said = refusal(scenario() | change)
    assert said is not None and words in said


def test_streams_differ_everywhere_and_agree_with_themselves() -> None:
    streams = Streams()
    assert streams.ids("a", 3, 6) == streams.ids("a", 0, 6)[3:]
    assert not set(streams.ids("a", 0, 1000)) & set(streams.ids("b", 0, 1000))


def test_a_prompt_is_the_beginnings_of_its_segments() -> None:
    streams = Streams()
    first, second = plan_of(
        scenario(
            Request("a", (Segment("doc", 3), Segment("tail", 2))),
            Request("b", (Segment("doc", 5),)),
        )
    ).requests
    assert streams.prompt(first)[:3] == streams.prompt(second)[:3]
    assert streams.prompt(first)[3:] == streams.ids("tail", 0, 2)
