"""`show`: cells say what was written, the broken one is marked, three renderings agree."""

import re
from pathlib import Path

import pytest

from truehit.cli.event_lines import event_line, ranges
from truehit.cli.exits import Exit
from truehit.cli.timeline import Frame, Strip, Timeline, build
from truehit.cli.timeline_grid import Grid, Look, Row, Word, grid_of
from truehit.reference.ruleset import RULE_SETS
from truehit.reference.run import run
from truehit.spec.laws.judge import check_trace
from truehit.spec.scenario import Abort, AtStep, Request, Scenario
from truehit.spec.scenario_file import load_scenario
from truehit.spec.tokens import Segment
from truehit.spec.trace import (
    Copy,
    CopyWhy,
    End,
    EndWhy,
    Event,
    Publish,
    Schedule,
    Unpublish,
    Write,
)

from .said import EXAMPLES, Cli


def timeline(name: str, rules: str) -> Timeline:
    events = run(load_scenario(EXAMPLES / name), RULE_SETS[rules]).events
    return build(events, check_trace(events).violations, None)


def cells(drawn: Timeline, request: str) -> dict[str, list[str]]:
    strip = next(strip for strip in drawn.strips if strip.request == request)
    grid = grid_of(strip, drawn.block_tokens)
    return {row.label: [word.text for word in row.words] for row in grid.rows}


def test_the_poisoned_cell_says_claim_and_truth() -> None:
    rows = cells(timeline("crowded-step.yaml", "aligned-below-last"), "target")
    assert rows["step"] == ["0", "1!"]
    assert rows["chunk"] == ["0-364", "364-2500"]
    assert rows["column 0 [0, 1600)"] == ["R364", "P1600!364"]
    assert rows["column 1 [1600, 3200)"] == ["~", "R2500"]
    assert rows["columns 2-3 [3200, 6400)"] == ["~", "~"]
    assert rows["column 4 [6400, 8000)"] == ["", "~"]


def test_its_reader_inherits_the_hole() -> None:
    rows = cells(timeline("crowded-step.yaml", "aligned-below-last"), "reader")
    assert rows["column 0 [0, 1600)"] == ["P1600!364"]
    assert rows["column 1 [1600, 3200)"] == ["."]
    assert rows["column 2 [3200, 4800)"] == ["R364+2000!"]


def test_ghosts_alone_find_the_broken_cell() -> None:
    """The drawing does not depend on what the laws reported."""
    events = run(load_scenario(EXAMPLES / "crowded-step.yaml"), RULE_SETS["aligned-below-last"])
    rows = cells(build(events.events, (), None), "target")
    assert rows["column 0 [0, 1600)"] == ["R364", "P1600!364"]
    assert rows["step"] == ["0", "1"]


def test_default_rules_draw_nothing_broken() -> None:
    for path in EXAMPLES.glob("*.yaml"):
        drawn = timeline(path.name, "default")
        assert drawn.strips and not any(strip.broken for strip in drawn.strips)
    rows = cells(timeline("crowded-step.yaml", "default"), "target")
    assert rows["column 0 [0, 1600)"] == ["RP1600", "P1600"]


def test_checkpoints_and_decoding() -> None:
    rows = cells(timeline("everything.yaml", "default"), "a")
    assert "C64" in rows["column 0 [0, 128)"] and "P64" in rows["column 0 [0, 128)"]
    assert "C512" in rows["column 3 [384, 512)"]
    assert rows["step"][-1] == "11-14"


def test_an_aborted_request_keeps_its_last_picture() -> None:
    base = load_scenario(EXAMPLES / "crowded-step.yaml")
    request = Request("gone", (Segment("x", 20000),), arrival=AtStep(0))
    scenario = Scenario("abort", base.geometry, (request,), actions=(Abort(1, "gone"),))
    events = run(scenario).events
    drawn = build(events, (), None)
    rows = cells(drawn, "gone")
    assert rows["step"] == ["0", "1"]
    assert rows["chunk"][-1] == "-"


def test_pieces_fit_the_width_and_lose_nothing() -> None:
    words = tuple(Word(str(10**digits), Look.RUNNING) for digits in (3, 1, 6, 2, 2, 5, 4, 1))
    row = Row("label", words)
    pieces = list(Grid("r", (row,)).slices(24))
    assert len(pieces) > 1
    for piece in pieces:
        assert len("label") + sum(2 + len(word.text) for word in piece.rows[0].words) <= 24
    assert tuple(word for piece in pieces for word in piece.rows[0].words) == words
    assert len(list(Grid("r", (row,)).slices(1))) == len(words)


def test_terminal_markdown_and_html_show_the_same_cells(
    cli: Cli, poisoned: Path, tmp_path: Path
) -> None:
    text = cli("show", poisoned)
    markdown = cli("show", poisoned, "--markdown")
    page = cli("show", poisoned, "--html")
    data = cli("show", poisoned, "--json").data
    assert {text.code, markdown.code, page.code} == {Exit.HOLDS}
    texts = {
        cell
        for request in data["requests"]
        for row in request["rows"].values()
        for cell in row
        if len(cell) > 1
    }
    assert "P1600!364" in texts
    for cell in texts:
        assert cell in text.out and cell in markdown.out and cell in page.out
    sentence = "column 0 is published as state@1600 but holds state@364"
    for said in (text, markdown, page):
        assert sentence in said.words
    assert {v["law"] for v in data["violations"]} >= {"provenance", "neutrality"}
    files = {suffix: tmp_path / f"picture.{suffix}" for suffix in ("html", "md")}
    for path in files.values():
        assert cli("show", poisoned, "--output", path).out == ""
    assert files["html"].read_text() == page.out
    assert files["md"].read_text() == markdown.out


def test_the_page_loads_nothing(cli: Cli, poisoned: Path) -> None:
    page = cli("show", poisoned, "--html").out
    assert page.startswith("<!doctype html>") and page.rstrip().endswith("</html>")
    assert not re.search(r"<script|<link|<img|https?:|@import|url\(", page)


def test_the_page_escapes_names(cli: Cli, crowded: Path, tmp_path: Path) -> None:
    path = tmp_path / "evil.yaml"
    path.write_text(crowded.read_text().replace("target", "<b>"))
    page = cli("show", path, "--html").out
    assert "<b>:" not in page and "<h2>&lt;b&gt;</h2>" in page


def test_requests_and_events_can_be_limited(cli: Cli, poisoned: Path) -> None:
    data = cli("show", poisoned, "--request", "target", "--events", "5", "--json").data
    assert [request["name"] for request in data["requests"]] == ["target"]
    assert len(data["events"]) == 5
    assert {event["request"] for event in data["events"]} == {"target"}
    assert any("the first 5 of" in note for note in data["notes"])
    assert {v["sentence"].split(":")[0] for v in data["violations"]} == {"request target"}


def test_many_requests_show_the_broken_ones_first(cli: Cli, crowded: Path, tmp_path: Path) -> None:
    lines = crowded.read_text().rstrip().splitlines()
    quiet = [f"  - {{name: q{i}, segments: ['q{i}:16'], at: 0}}" for i in range(20)]
    lines = [line.replace('"]}', '"], at: 5}') for line in lines]
    start = next(i for i, line in enumerate(lines) if line == "requests:")
    path = tmp_path / "many.yaml"
    path.write_text("\n".join([*lines[: start + 1], *quiet, *lines[start + 1 :]]) + "\n")
    data = cli("show", path, "--rules", "aligned-below-last", "--json").data
    names = [request["name"] for request in data["requests"]]
    assert len(names) == 12 and {"target", "reader"} <= set(names)
    assert any("of 25 requests" in note for note in data["notes"])


def test_long_requests_are_cut_and_steps_choose(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "long.yaml"
    geometry = ("--state-block", "16", "--attention-block", "16")
    cli("predict", *geometry, "--prompt", "1000", "--sends", "1", "--save", path)
    data = cli("show", path, "--json").data
    (request,) = data["requests"]
    assert len(request["rows"]["step"]) == 40
    assert "40 of 63 columns of prompt-1000; --steps 0-62 draws all" in data["notes"]
    chosen = cli("show", path, "--steps", "50-52", "--json").data
    assert chosen["requests"][0]["rows"]["step"] == ["50", "51", "52"]
    assert {event["step"] for event in chosen["events"]} == {50, 51, 52}
    assert cli("show", path, "--steps", "7", "--json").data["requests"][0]["rows"]["step"] == ["7"]
    # A piece of a long grid has only the columns that hold something in it.
    assert len(cli("show", path, "--events", "0").out.splitlines()) < 130


def test_a_cut_keeps_what_is_broken() -> None:
    frames = [Frame(i, i, "", False, 1, {}, broken=i == 70) for i in range(100)]
    strip = Strip("a", frames)
    assert [f.first for f in strip.around_the_break(10).frames] == list(range(65, 75))
    assert [f.first for f in Strip("a", frames[:70]).around_the_break(3).frames] == [0, 1, 2]
    assert [f.first for f in Strip("a", frames[:71]).around_the_break(4).frames] == [67, 68, 69, 70]
    assert Strip("a", frames[:5]).around_the_break(10).frames == frames[:5]


def test_without_a_state_group_there_are_only_events(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "plain.yaml"
    assert cli("predict", "--attention-block", "16", "--prompt", "40", "--save", path).code == 0
    said = cli("show", path)
    assert said.code == Exit.HOLDS
    assert "no recurrent group" in said.out and "schedule" in said.out


@pytest.mark.parametrize(
    ("event", "what"),
    [
        (Schedule(1, "a", 0, 364, 364, 2500, cut="budget"), "[0, 364) of 2500 cut by budget"),
        (Schedule(1, "a", 9, 9, 40, 50, reason="deferred"), "nothing of 40 offered: deferred"),
        (Publish(1, "a", "state", ((1600, 7),)), "1600 in block 7"),
        (
            Publish(1, "a", "state", tuple((n, n) for n in range(1, 9))),
            "1 in block 1, … 7 more",
        ),
        (Unpublish(1, "state", (4, 5, 9), "evicted"), "blocks 4-5 9: evicted"),
        (Copy(1, 2, "a", "state", 4, 5, CopyWhy.PRE), "block 4 to block 5 (pre)"),
        (
            Write(1, 3, "a", "state", 2, (5,), 10, 20, 4, 1),
            "block 5 column 2: [10, 20) from block 4, 1 rejected",
        ),
        (End(1, "a", EndWhy.FINISH), "finish"),
    ],
)
def test_event_lines(event: Event, what: str) -> None:
    assert event_line(event).what == what


def test_ranges_join_runs_and_stop() -> None:
    assert ranges([1, 2, 3, 7]) == "1-3 7"
    assert ranges([]) == "none"
    assert ranges([9, 7, 5, 3, 1, 2]) == "9 7 5 3 … 2 more"
