"""`law` tells all thirteen with what is verified; `demo` tells its story from real runs."""

import pytest

from truehit.cli import demo
from truehit.cli.exits import Exit
from truehit.reference.ruleset import RuleSet
from truehit.spec.laws import LAWS

from .said import Cli

THIRTEEN = [
    *("provenance", "commit", "uniqueness", "grid", "seed", "reach", "joint", "admission"),
    *("progress", "ownership", "retirement", "conservation", "neutrality"),
]


def test_all_laws_with_their_sentences(cli: Cli) -> None:
    data = cli("law", "--json").data
    assert [law["name"] for law in data["laws"]] == THIRTEEN
    text = cli("law")
    assert text.code == Exit.HOLDS
    for law in LAWS:
        assert f"{law.name}: {law.sentence}" in text.words


@pytest.mark.parametrize("name", THIRTEEN)
def test_each_law_says_what_it_does_not_see(cli: Cli, name: str) -> None:
    (card,) = cli("law", name, "--json").data["laws"]
    assert card["name"] == name
    assert len(card["verified"]) > 40 and len(card["not_verified"]) > 40
    said = cli("law", name).words
    assert f"not verified: {card['not_verified']}" in said
    assert f" verified: {card['verified']}" in said


def test_the_demo_names_the_poisoned_page_and_heals_it(cli: Cli) -> None:
    said = cli("demo")
    assert said.code == Exit.HOLDS
    sentence = (
        "corrupt provenance: request ask: column 0 is published as state@1600 but holds "
        "state@364 (step 1; read by request again at step 2)"
    )
    assert sentence in said.words
    broken, _, healed = said.out.partition("2. The same requests")
    assert "P1600!364" in broken and "holds: " not in broken
    assert "!" not in healed and "holds: 13 laws over 3 requests" in healed


def test_the_demo_fits_a_small_screen(cli: Cli) -> None:
    lines = cli("demo").out.splitlines()
    assert len(lines) <= 60
    assert max(map(len, lines)) <= 80


def test_the_demo_as_json(cli: Cli) -> None:
    runs = cli("demo", "--json").data["runs"]
    assert list(runs) == ["aligned-below-last", "default"]
    laws = {one["law"] for one in runs["aligned-below-last"]["violations"]}
    assert {"provenance", "neutrality", "grid"} <= laws
    assert runs["default"]["violations"] == []
    assert {row["name"]: row["hit"] for row in runs["default"]["requests"]}["again"] == 1600


def test_a_story_that_does_not_come_true_is_refuted(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the old rules poison nothing any more, the demo must not end well."""
    monkeypatch.setattr(demo, "BROKEN_RULES", RuleSet("default").name)
    assert cli("demo", "--json").code == Exit.REFUTED
