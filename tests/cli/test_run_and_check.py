"""`run` and `check` say the same of the same events, in text, JSON and exit code."""

import io
import json
from pathlib import Path

import pytest

from truehit.cli import output
from truehit.cli.exits import Exit
from truehit.cli.requests import RequestRows
from truehit.reference.ruleset import RULE_SETS
from truehit.reference.run import run
from truehit.spec.laws import LAWS
from truehit.spec.scenario_file import load_scenario
from truehit.spec.trace import EndWhy

from .said import EXAMPLES, Cli

SENTENCE = (
    "request target: column 0 is published as state@1600 but holds state@364 "
    "(step 1; read by request reader at step 2)"
)


@pytest.mark.parametrize("rules", ["default", "v-post", "schedule-time-keys"])
def test_both_engines_say_the_same(cli: Cli, crowded: Path, rules: str) -> None:
    oracle = cli("run", crowded, "--rules", rules)
    fast = cli("run", crowded, "--rules", rules, "--engine", "engine")
    assert (fast.code, fast.out) == (oracle.code, oracle.out)


def test_an_unknown_engine_is_refused(cli: Cli, crowded: Path) -> None:
    said = cli("run", crowded, "--engine", "fast")
    assert said.code == Exit.BAD_INPUT
    assert said.err == "truehit: engine 'fast' is unknown; one of engine, reference works\n"


def test_default_rules_hold(cli: Cli, crowded: Path) -> None:
    said = cli("run", crowded, "--json")
    assert said.code == Exit.HOLDS
    assert said.data["violations"] == []
    target = next(row for row in said.data["requests"] if row["name"] == "target")
    assert target == {
        "name": "target",
        "send": 1,
        "carve": [1600, 2500],
        "hit": 0,
        "stored": [1600],
        "reason": "not_shared",
    }


def test_old_rules_are_refuted_by_the_sentence(cli: Cli, crowded: Path) -> None:
    said = cli("run", crowded, "--rules", "aligned-below-last", "--json")
    assert said.code == Exit.REFUTED
    poison = [v for v in said.data["violations"] if v["law"] == "provenance"]
    assert poison == [{"law": "provenance", "class": "corrupt", "step": 1, "sentence": SENTENCE}]
    text = cli("run", crowded, "--rules", "aligned-below-last")
    assert text.code == Exit.REFUTED
    assert SENTENCE in text.words
    assert text.out.splitlines()[-1].startswith("refuted: ")


def test_a_written_trace_gets_the_same_verdict(cli: Cli, crowded: Path, poisoned: Path) -> None:
    ran = cli("run", crowded, "--rules", "aligned-below-last", "--json")
    checked = cli("check", poisoned, "--json")
    assert checked.data == ran.data
    assert checked.code == Exit.REFUTED


def test_verdict_goes_to_a_file(cli: Cli, poisoned: Path, tmp_path: Path) -> None:
    out = tmp_path / "verdict.json"
    said = cli("check", poisoned, "--json", out)
    assert said.out == ""
    assert json.loads(out.read_text()) == cli("check", poisoned, "--json").data


def test_trace_from_standard_input(
    cli: Cli, poisoned: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(poisoned.read_text()))
    assert cli("check", "-", "--json").data == cli("check", poisoned, "--json").data


@pytest.mark.parametrize(
    ("fail_on", "code"),
    [
        ("corrupt,stall", Exit.REFUTED),
        ("waste", Exit.REFUTED),
        ("stall", Exit.HOLDS),
        ("none", Exit.HOLDS),
    ],
)
def test_fail_on_decides_the_exit_code(cli: Cli, poisoned: Path, fail_on: str, code: Exit) -> None:
    said = cli("check", poisoned, "--fail-on", fail_on)
    assert said.code == code
    assert ("tolerated: " in said.out) == (code == Exit.HOLDS)


def _only(trace: Path, planes: list[str], kinds: set[str]) -> Path:
    """The trace as an engine would write it that captures less."""
    header, *rest = [json.loads(line) for line in trace.read_text().splitlines()]
    header["planes"] = planes
    kept = [event for event in rest if event["kind"] in kinds]
    path = trace.with_name("less.jsonl")
    path.write_text("".join(json.dumps(event) + "\n" for event in [header, *kept]))
    return path


def test_laws_without_their_planes_are_never_green(cli: Cli, crowded: Path, tmp_path: Path) -> None:
    full = tmp_path / "full.jsonl"
    cli("run", crowded, "--trace", full)
    less = _only(full, ["lookup", "schedule"], {"submit", "lookup", "schedule", "complete", "end"})
    said = cli("check", less)
    assert said.code == Exit.UNKNOWN
    assert "provenance: not observed" in said.out
    assert said.out.splitlines()[-1].startswith("unknown: ")
    unobserved = {one["law"] for one in cli("check", less, "--json").data["not_observed"]}
    assert unobserved == {law.name for law in LAWS if not law.planes <= {"lookup", "schedule"}}


def test_a_trace_without_requests_proves_nothing(cli: Cli, poisoned: Path) -> None:
    poisoned.write_text(poisoned.read_text().splitlines()[0] + "\n")
    said = cli("check", poisoned)
    assert (said.code, said.out.splitlines()[-1]) == (3, "unknown: the trace has no request")


def test_progress_is_drawn_only_on_a_terminal(
    cli: Cli, poisoned: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    quiet = cli("check", poisoned)
    monkeypatch.setattr(output, "PROGRESS_BYTES", 0)
    assert cli("check", poisoned) == quiet
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    drawn = cli("check", poisoned)
    assert drawn.out == quiet.out
    assert "reading" in drawn.err and quiet.err == ""


def test_open_requests_are_named(cli: Cli, poisoned: Path) -> None:
    lines = poisoned.read_text().splitlines()
    cut = next(i for i, line in enumerate(lines) if '"kind":"complete"' in line)
    poisoned.write_text("\n".join(lines[: cut + 1]) + "\n")
    assert cli("check", poisoned, "--json").data["open"] == ["target"]
    assert "open: target" in cli("check", poisoned).out


def test_a_refused_request_says_what_would_do(cli: Cli) -> None:
    said = cli("predict", "--prompt", "100", "--state-block", "16", "--attention-block", "16",
               "--pool", "6")  # fmt: skip
    assert "a pool of 10 would do" in said.words


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.yaml")), ids=lambda path: path.stem)
def test_rows_read_off_a_trace_are_what_the_oracle_served(path: Path) -> None:
    scenario = load_scenario(path)
    for rules in ("default", "aligned-below-last", "v-post", "schedule-time-keys"):
        result = run(scenario, RULE_SETS[rules])
        rows = RequestRows()
        assert tuple(rows.watch(result.events)) == result.events
        seen = [
            (r.name, r.send, tuple(r.carve), r.hit, tuple(r.stored), r.reason, r.ended)
            for r in rows.rows.values()
        ]
        served = [
            (s.name, s.send, s.carve, s.hit, s.stored, s.reason, s.ended) for s in result.served
        ]
        assert seen == served
        lookups = [(r.hit, r.lookup.hit_tokens) for r in rows.rows.values() if r.lookup]
        assert all(hit in (None, found) for hit, found in lookups)
        assert EndWhy.PREEMPT not in {row.ended for row in rows.rows.values()}
