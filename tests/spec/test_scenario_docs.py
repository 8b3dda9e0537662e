"""The written reference names every key, and its examples are real."""

import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args

import pytest

from truehit.spec.geometry_facts import GeometryFacts
from truehit.spec.scenario_file import ScenarioError, parse_scenario, schema_of_scenario
from truehit.spec.trace import Cut, Event, GroupReach, Miss, Plane, TableOp

DOCS = Path(__file__).parents[2] / "docs"
SCENARIO = (DOCS / "scenario.md").read_text(encoding="utf-8")
TRACE = (DOCS / "trace.md").read_text(encoding="utf-8")


def keys_of(schema: dict[str, Any]) -> Iterator[str]:
    for part in [schema, *schema["$defs"].values()]:
        yield from part.get("properties", {})


def test_every_key_of_a_scenario_is_described() -> None:
    missing = {key for key in keys_of(schema_of_scenario()) if f"`{key}`" not in SCENARIO}
    # These stand only inside written-out examples: {mode: block, cap: margin}.
    assert missing <= {"mode", "cap", "at", "tokens"}
    assert all(f"{key}:" in SCENARIO for key in missing)


def test_every_word_of_a_scenario_is_described() -> None:
    words = [
        word for part in schema_of_scenario()["$defs"].values() for word in part.get("enum", ())
    ]
    assert len(words) >= 8
    assert [word for word in words if word not in SCENARIO] == []


def test_every_derived_number_is_described() -> None:
    assert [f.name for f in fields(GeometryFacts) if f"`{f.name}`" not in SCENARIO] == []


def test_the_example_is_a_scenario() -> None:
    whole = [
        text for text in re.findall(r"```yaml\n(.*?)```", SCENARIO, re.DOTALL) if "schema" in text
    ]
    assert [parse_scenario(text, ".yaml").name for text in whole] == ["resend"]


ERRORS = re.findall(r"^bad\.yaml: (.*)$", SCENARIO, re.MULTILINE)
EXAMPLE = (DOCS / "examples" / "resend.yaml").read_text(encoding="utf-8")
BREAK = [
    ("hash_unit_tokens: 1600", "hash_unit_tokens: 48"),
    ('segments: ["doc:7292"]', 'segment: ["doc:7292"]'),
    (
        '{name: doc, segments: ["doc:7292"], repeat: 3}',
        '{name: r1, segments: ["a:9"], output_tokens: 8}\n'
        '  - {name: r2, segments: ["a:9", "output:r1:9"]}',
    ),
]


@pytest.mark.parametrize(("change", "line"), list(zip(BREAK, ERRORS, strict=True)))
def test_the_errors_shown_are_real(change: tuple[str, str], line: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        parse_scenario(EXAMPLE.replace(*change), ".yaml")
    assert str(caught.value) == line


def sections() -> dict[str, str]:
    parts = re.split(r"^### `(\w+)`", TRACE, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@pytest.mark.parametrize("event_class", get_args(Event), ids=lambda one: one.kind)
def test_every_field_of_an_event_is_described_in_its_section(event_class: Any) -> None:
    section = sections()[event_class.kind]
    names = [f.name for f in fields(event_class)]
    assert [name for name in names if f"`{name}`" not in section] == []


def test_no_section_is_about_a_kind_that_is_gone() -> None:
    assert set(sections()) == {event_class.kind for event_class in get_args(Event)}


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("header", list(Plane)),
        ("lookup", [*Miss, *(f.name for f in fields(GroupReach))]),
        ("schedule", list(Cut)),
        ("table", list(TableOp)),
    ],
)
def test_every_word_of_a_closed_list_is_described(kind: str, words: list[str]) -> None:
    assert [word for word in words if f"`{word}`" not in sections()[kind]] == []
