"""`predict`: hits by the formulas, and one reason in words for each miss."""

from pathlib import Path

import pytest

from truehit.cli.exits import Exit
from truehit.cli.explain import explain
from truehit.cli.forecast import Expected
from truehit.cli.requests import RequestRow
from truehit.spec.formulas import extend, legal
from truehit.spec.geometry import Geometry, Group, Interval, Kind, Lookahead
from truehit.spec.trace import GroupReach, Lookup, Miss

from .said import Cli

EQUAL = ("--state-block", "1600", "--attention-block", "1600", "--drafts", "3")
SMALL = ("--state-block", "16", "--attention-block", "16")


def hits(cli: Cli, *arguments: str) -> dict[str, int]:
    said = cli("predict", *arguments, "--json")
    return {row["name"]: row["hit"] for row in said.data["requests"]}


@pytest.mark.parametrize(
    ("drop", "prompt", "hit"),
    [
        ("clamped", 6400, 3200),
        ("margin", 6400, 4800),
        ("clamped", 7292, 4800),
        ("none", 6400, 4800),
        ("none", 7292, 6400),
    ],
)
def test_the_second_send_hits_the_legal_maximum(cli: Cli, drop: str, prompt: int, hit: int) -> None:
    """Figures of the public threads: block 1600, three drafts, retention 0."""
    said = hits(
        cli, *EQUAL, "--drop", drop, "--retention", "0", "--prompt", str(prompt), "--sends", "3"
    )
    assert list(said.values()) == [0, hit, hit]


def test_an_old_release_needs_a_third_send(cli: Cli) -> None:
    arguments = (*EQUAL, "--drop", "clamped", "--retention", "0", "--prompt", "7292")
    old = cli("predict", *arguments, "--sends", "3", "--rules", "v-post", "--json").data
    assert [row["hit"] for row in old["requests"]] == [0, 0, 4800]
    assert old["requests"][1]["reason"] == "masked"
    assert {(v["law"], v["class"]) for v in old["violations"]} == {("reach", "waste")}


def test_rows_have_the_published_form(cli: Cli) -> None:
    said = cli("predict", *SMALL, "--prompt", "100", "--json")
    assert said.code == Exit.HOLDS
    assert [sorted(row) for row in said.data["requests"]] == [
        ["carve", "hit", "name", "reason", "send", "stored"]
    ] * 2
    assert [row["send"] for row in said.data["requests"]] == [1, 2]
    assert said.data["requests"][0]["carve"][-1] == 100


def test_formulas_stand_beside_the_hits(cli: Cli) -> None:
    groups = (Group("attention", Kind.FULL_ATTENTION, 16), Group("state", Kind.RECURRENT_STATE, 16))
    geometry = Geometry(groups, hash_unit_tokens=16)
    followers = ("--sibling", "50", "--longer", "9")
    data = cli("predict", *SMALL, "--prompt", "96", *followers, "--json").data
    by_name = {one["name"]: (one["formula"], one["tokens"]) for one in data["expected"]}
    assert by_name["prompt-96#2"] == ("legal(96)", 80) == ("legal(96)", legal(geometry, 96))
    assert by_name["longer-96"] == ("extend(96)", 96) == ("extend(96)", extend(geometry, 96))
    assert by_name["sibling-50"] == ("offer(50, 149)", 48)
    assert [row["hit"] for row in data["requests"]] == [0, 80, 48, 96]
    assert data["geometry"]["alignment_tokens"] == 16


def test_every_prompt_is_its_own_sequence(cli: Cli) -> None:
    """And the pool is large enough for the longest of them, wherever it stands."""
    both = hits(cli, *SMALL, "--prompt", "200", "--prompt", "100", "--sibling", "40")
    alone = hits(cli, *SMALL, "--prompt", "200", "--sibling", "40")
    assert both == {**alone, **hits(cli, *SMALL, "--prompt", "100", "--sibling", "40")}
    assert both["prompt-200#2"] == 192


REASONS = {
    "not_shared": (("--prompt", "100", "--sends", "1"), 0, "no earlier request"),
    "capped": (("--prompt", "100"), 1, "at most 99 tokens"),
    "below_floor": (("--prompt", "100", "--sibling", "7"), 2, "shares 7 tokens"),
    "no_state": (
        ("--prompt", "200", "--retention", "0", "--sibling", "100"),
        2,
        "no chunk ended there, so there is no state at 96; it is a junction now",
    ),
    "masked": (
        ("--prompt", "73", "--retention", "0", "--rules", "v-post", "--drop", "clamped"),
        1,
        "not kept: legal(73) is 48, so the rules are at fault",
    ),
    "dropped": (
        ("--prompt", "100", "--drop", "clamped"),
        1,
        "gives 16 of its 96 matched tokens back: 80 remain",
    ),
    "evicted": (
        ("--prompt", "400", "--sends", "1", "--sibling", "10:600", "--sibling", "300",
         "--pool", "90"),
        2,
        "the pool of 90 blocks is too small",
    ),
    "vetoed_by(attention)": (
        ("--prompt", "100", "--sibling", "50", "--fine", "--window", "8:20", "--drop",
         "lookahead:3"),
        2,
        "group attention matches only 32 tokens while another matches 40",
    ),
}  # fmt: skip


@pytest.mark.parametrize("reason", REASONS)
def test_every_miss_has_one_reason_in_words(cli: Cli, reason: str) -> None:
    arguments, index, words = REASONS[reason]
    data = cli("predict", *SMALL, *arguments, "--json").data
    assert data["requests"][index]["reason"] == reason
    assert words in data["expected"][index]["why"]
    assert words in cli("predict", *SMALL, *arguments).words


def test_reasons_that_no_sequence_of_sends_can_have() -> None:
    geometry = Geometry(
        (Group("state", Kind.RECURRENT_STATE, 16),), 16, retention=Interval(64), pool_blocks=50
    )

    def why(reason: Miss, formula: str = "offer(100, 99)", tokens: int = 96) -> str:
        lookup = Lookup(0, "a", 99, (GroupReach("state", 0, 0, 0),), 0, 0, 0, 96, reason)
        row = RequestRow("a", 1, 100, hit=0, lookup=lookup)
        return explain(geometry, row, Expected(formula, tokens, 100))

    assert "one step later" in why(Miss.UNCOMMITTED)
    assert "only multiples of 64" in why(Miss.MASKED)
    assert "the rules are at fault" in why(Miss.MASKED, "legal(100)", 96)
    assert "the rules are at fault" in why(Miss.NO_STATE, "extend(96)", 96)
    assert "at fault" not in why(Miss.MASKED, "legal(100)", 80) + why(Miss.NO_STATE)


def test_the_next_position_is_named_with_its_lookahead() -> None:
    groups = (Group("attention", Kind.FULL_ATTENTION, 16),)
    geometry = Geometry(groups, 16, fine_hits=True, drop=Lookahead(1))
    lookup = Lookup(0, "a", 8723, (), 8208, 0, 8208, reason=Miss.BELOW_FLOOR)
    row = RequestRow("a", 1, 8724, hit=8208, lookup=lookup)
    why = explain(geometry, row, Expected("extend(8224)", 8208, 8224))
    assert "8224, and its key needs 8225 shared tokens: there are 8224" in why


def test_the_sheet_says_what_the_numbers_mean(cli: Cli) -> None:
    said = cli("predict", *EQUAL, "--drop", "clamped", "--prompt", "6400")
    assert "shortest prompt 3201 tokens can hit again" in said.words
    assert "a multiple of 1600 tokens" in said.words


def test_a_saved_prediction_runs_to_the_same_rows(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "saved.yaml"
    arguments = ("--rules", "v-post", "--prompt", "100", "--sibling", "50", "--save", path)
    predicted = cli("predict", *SMALL, *arguments, "--json").data
    assert cli("run", path, "--json").data["requests"] == predicted["requests"]


def test_a_poison_on_the_way_refutes(cli: Cli) -> None:
    """One token below the grid, so that a chunk ends inside a block and the next one leaves it."""
    arguments = ("--prompt", "40", "--budget", "10", "--rules", "aligned-below-last",
                 "--drop", "clamped", "--drafts", "1")  # fmt: skip
    said = cli("predict", "--state-block", "32", "--attention-block", "8", *arguments)
    assert said.code == Exit.REFUTED
    assert "rules aligned-below-last break laws here" in said.out
    assert cli("predict", "--state-block", "32", "--attention-block", "8", *arguments,
               "--fail-on", "none").code == Exit.HOLDS  # fmt: skip
