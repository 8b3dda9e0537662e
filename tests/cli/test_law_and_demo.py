"""`law` tells all thirteen with what is verified; `demo` tells its story from real runs."""

import pytest

from truehit.cli import demo, demo_model
from truehit.cli.exits import Exit
from truehit.proofs.regress.targets import target_of
from truehit.reference.ruleset import HISTORIC, RuleSet
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


def test_the_demo_on_a_model_shows_garbage_its_page_and_its_law(cli: Cli) -> None:
    said = cli("demo", "--model")
    assert said.code == Exit.HOLDS
    broken, _, healed = said.words.partition("2. The same under the rules of truehit")
    assert "12 of 12 tokens of its answer are others" in broken
    assert "is read as state@64 and holds state@21" in broken
    assert "column 0 is published as state@64 but holds state@21" in broken
    assert "its answer is the one computed alone" in healed
    for rules in HISTORIC:
        assert f"{rules.name}: {target_of(rules.name).law}: request r" in healed


def test_the_demo_on_a_model_as_json(cli: Cli) -> None:
    data = cli("demo", "--model", "--json").data
    answers = data["answers"]
    assert answers["default"]["tokens"] == data["alone"] != answers["aligned-below-last"]["tokens"]
    assert {harm["rules"] for harm in data["harms"]} == {rules.name for rules in HISTORIC}
    assert sum(harm["harm"] == "garbage" for harm in data["harms"]) == 5


def test_a_demo_without_garbage_is_refuted(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo_model, "BROKEN_RULES", "default")
    assert cli("demo", "--model", "--json").code == Exit.REFUTED
