"""The record of `verify`: its published schema, and that every kind of bad input makes it fail.

The green record is composed from real stages, small: one obligation, a few golden numbers, one run
of every covering set, every committed regression, one reading, the oracle held to itself, and the
splitter below for every release. Each test then spoils one thing. After a change of the models,
TRUEHIT_WRITE_DOCS=1 writes the schema again.
"""

import json
import os
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from pydantic import ValidationError

from truehit.proofs.agreement import AGREEMENTS, agree
from truehit.proofs.differ.coverage import Coverage
from truehit.proofs.differ.draw import SWITCHES
from truehit.proofs.differ.parts import DrawnPart, GoldenPart, ListedPart, Part, compare_part
from truehit.proofs.differ.run import known_parts
from truehit.proofs.differ.sources import golden_entries, regression_runs
from truehit.proofs.differ.standins import miscounts_pool, place_of
from truehit.proofs.golden.entries import derivable_entries
from truehit.proofs.golden.results import run_entry
from truehit.proofs.lift import SourceTree
from truehit.proofs.obligations.catalogue import refuters
from truehit.proofs.places import regressions
from truehit.proofs.prove import Disagreement, ObligationResult, prove_one
from truehit.proofs.record import Record
from truehit.proofs.regress.keep import keep
from truehit.proofs.regress.targets import TARGETS
from truehit.proofs.releases import RELEASES, judge
from truehit.proofs.stages import Done, Stage, run_stages
from truehit.proofs.sweep.run import Broken, sweep
from truehit.proofs.verify import Gathered, compose
from truehit.reference.ruleset import DEFAULT, HISTORIC
from truehit.spec.laws import LAWS

SCHEMA = Path(__file__).resolve().parents[1] / "docs" / "record.schema.json"
COVERING_SETS = 81
HISTORIC_RUNS = 162
SPLITTER = """
class Scheduler:
    def _mamba_block_aligned_split(self, request, num_new_tokens, num_new_local_computed_tokens=0):
        start = request.num_computed_tokens + num_new_local_computed_tokens
        block = self.cache_config.block_size
        return min(num_new_tokens, (start // block + 1) * block - start)
"""


def refuting(asked: ObligationResult) -> list[ObligationResult]:
    """One result for the first obligation that refutes each historic rule set."""
    found: dict[str, tuple[tuple[str, str], ...]] = {}
    for rules in HISTORIC:
        name = refuters(rules.name)[0][0].name
        found[name] = (*found.get(name, ()), (rules.name, "refuted"))
    return [replace(asked, name=name, controls=controls) for name, controls in found.items()]


@pytest.fixture(scope="module")
def real() -> Gathered:
    """What small real stages bring; nothing is wrong with it."""
    asked = prove_one("admit-pages")
    told = run_entry("G001-02")
    compared = agree("resume_limit")
    tree = SourceTree("sample", {"vllm/v1/core/sched/scheduler.py": SPLITTER})
    report = judge(tree, "sample")
    folder = regressions()
    held: list[Part] = [part for part in known_parts() if not isinstance(part, GoldenPart)]
    held.append(GoldenPart(golden_entries()[:3]))
    drawn = compare_part(DrawnPart(0, 2, None), "oracle")
    pairs = Counter((str(switch), law.name) for switch in SWITCHES for law in LAWS)
    full = Coverage(Counter(str(switch) for switch in SWITCHES), pairs)
    sweeps = {DEFAULT.name: [sweep(DEFAULT.name, 0, COVERING_SETS)]}
    sweeps |= {rules.name: [sweep(rules.name, 0, HISTORIC_RUNS)] for rules in HISTORIC}
    return Gathered(
        obligations=[asked, *refuting(asked)],
        golden=[told, *(replace(told, id=e.name) for e in derivable_entries()[1:])],
        sweeps=sweeps,
        regressions=[keep(target.rules, folder) for target in TARGETS],
        agreements=[replace(compared, name=name) for name in AGREEMENTS],
        compared=[*(compare_part(p, "oracle") for p in held), replace(drawn, coverage=full)],
        releases=[replace(report, release=release) for release in RELEASES],
    )


@pytest.fixture
def gathered(real: Gathered) -> Gathered:
    """A copy to spoil: the lists are its own, their members are frozen."""
    return Gathered(
        obligations=list(real.obligations),
        golden=list(real.golden),
        sweeps={rules: list(parts) for rules, parts in real.sweeps.items()},
        regressions=list(real.regressions),
        agreements=list(real.agreements),
        compared=list(real.compared),
        releases=list(real.releases),
    )


def generated() -> dict[str, Any]:
    """The schema of what the models write."""
    return Record.model_json_schema(mode="serialization")


# --- the published form -------------------------------------------------------------------------


def test_the_committed_schema_is_the_generated_one() -> None:
    if os.environ.get("TRUEHIT_WRITE_DOCS"):
        SCHEMA.write_text(json.dumps(generated(), indent=2) + "\n", encoding="utf-8")
    assert json.loads(SCHEMA.read_text(encoding="utf-8")) == generated()


def test_a_real_record_holds_and_validates(gathered: Gathered) -> None:
    found = compose(gathered, 1.0)
    assert found.problems == []
    assert found.outcome == "holds"
    written = json.loads(json.dumps(found.model_dump(mode="json")))
    jsonschema.validate(written, json.loads(SCHEMA.read_text(encoding="utf-8")))
    assert {"name", "class"} & set(written["releases"][0]["rows"][0]) == {"class"}
    assert Record.model_validate(written) == found


def test_what_is_not_in_the_schema_is_refused(gathered: Gathered) -> None:
    written = compose(gathered, 1.0).model_dump(mode="json")
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    for spoiled in (
        written | {"remark": "fine"},
        written | {"outcome": "green"},
        {key: value for key, value in written.items() if key != "problems"},
        written | {"golden": written["golden"] | {"skipped": 0}},
    ):
        with pytest.raises(ValidationError):
            Record.model_validate(spoiled)
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(spoiled, schema)


# --- every kind of bad input is a problem ---------------------------------------------------------

Spoil = Callable[[Gathered], None]


def obligation(**changes: Any) -> Spoil:
    def spoil(gathered: Gathered) -> None:
        gathered.obligations[0] = replace(gathered.obligations[0], **changes)

    return spoil


def release(**changes: Any) -> Spoil:
    def spoil(gathered: Gathered) -> None:
        report = gathered.releases[0]
        rows = (replace(report.rows[0], **changes), *report.rows[1:])
        gathered.releases[0] = replace(report, rows=rows)

    return spoil


def no_obligation(gathered: Gathered) -> None:
    gathered.obligations.clear()


def solvers_disagree(gathered: Gathered) -> None:
    gathered.add(Done("obligation", "x", Disagreement("admit-pages", "0" * 64, "unsat", "sat")))


def second_answer_missing(gathered: Gathered) -> None:
    said = {"z3": "proved", "cvc5": "1 of 1 not recorded"}
    gathered.obligations[0] = replace(gathered.obligations[0], solvers=said)


def golden_fails(gathered: Gathered) -> None:
    gathered.golden[0] = replace(gathered.golden[0], status="failed", detail="3200, not 4800")


def regression_is_blind(gathered: Gathered) -> None:
    gathered.regressions[0] = replace(gathered.regressions[0], sentence=None)


def regression_breaks_the_default(gathered: Gathered) -> None:
    gathered.regressions[0] = replace(gathered.regressions[0], holds=False)


def historic_set_is_never_broken(gathered: Gathered) -> None:
    (part,) = gathered.sweeps["scratch-left"]
    gathered.sweeps["scratch-left"] = [replace(part, laws=(), shown=0)]


def historic_set_was_not_drawn(gathered: Gathered) -> None:
    del gathered.sweeps["scratch-left"]


def default_breaks_a_law(gathered: Gathered) -> None:
    (part,) = gathered.sweeps["default"]
    case = Broken(7, ("drafts",), "seed", "request r1: resumes at 6 from column 2, not 1")
    gathered.sweeps["default"] = [replace(part, laws=(("seed", 1),), first=(case,))]


def pair_was_not_drawn(gathered: Gathered) -> None:
    (part,) = gathered.sweeps["default"]
    gathered.sweeps["default"] = [replace(part, pairs=frozenset(list(part.pairs)[1:]))]


def readings_differ(gathered: Gathered) -> None:
    gathered.agreements[0] = replace(gathered.agreements[0], differences=2)


def reading_without_a_case(gathered: Gathered) -> None:
    gathered.agreements[0] = replace(gathered.agreements[0], cases=0)


def engine_differs(gathered: Gathered) -> None:
    subject = place_of(miscounts_pool)
    gathered.compared.append(compare_part(ListedPart("cases", regression_runs()[:1]), subject))


def no_step_of_a_source_was_compared(gathered: Gathered) -> None:
    gathered.compared[:] = [part for part in gathered.compared if "drawn" not in part.sources]


def a_feature_met_no_law(gathered: Gathered) -> None:
    part = next(part for part in gathered.compared if "drawn" in part.sources)
    judged = Counter({k: n for k, n in part.coverage.judged.items() if k != ("drafts", "seed")})
    gathered.compared.remove(part)
    gathered.compared.append(replace(part, coverage=replace(part.coverage, judged=judged)))


def rule_set_without_obligation(gathered: Gathered) -> None:
    gathered.obligations[:] = [o for o in gathered.obligations if o.name != "commit-order"]


def rule_set_without_scenario(gathered: Gathered) -> None:
    gathered.regressions.pop()


def golden_is_missing(gathered: Gathered) -> None:
    gathered.golden.pop()


def reading_is_missing(gathered: Gathered) -> None:
    gathered.agreements[:] = [a for a in gathered.agreements if a.name != "chunk_end"]


def release_is_missing(gathered: Gathered) -> None:
    gathered.releases.pop(0)


def stage_raises(gathered: Gathered) -> None:
    gathered.add(Done("release", "vllm==0.26.0", OSError("no network")))


REFUTED: list[tuple[Spoil, str]] = [
    (no_obligation, "no obligation was asked"),
    (obligation(verdict="refuted"), "obligation admit-pages: refuted"),
    (obligation(verdict="model finding"), "obligation admit-pages: model finding"),
    (
        obligation(controls=(("pages_floored", "proved"),)),
        "obligation admit-pages: control pages_floored is proved, not refuted",
    ),
    (
        obligation(controls=(("pages_floored", "model finding"),)),
        "obligation admit-pages: control pages_floored is model finding, not refuted",
    ),
    (
        obligation(covers=(("several pages", "impossible"),)),
        "obligation admit-pages: case several pages is impossible",
    ),
    (obligation(havoc="proved"), "obligation admit-pages: a free result is proved, not refuted"),
    (solvers_disagree, "second solver: admit-pages: z3 says unsat, cvc5 says sat"),
    (second_answer_missing, "obligation admit-pages: the second solver's answer is missing"),
    (golden_fails, "golden G001-02: 3200, not 4800"),
    (regression_is_blind, f"regression {TARGETS[0].rules}: it no longer tells the rules apart"),
    (
        regression_breaks_the_default,
        f"regression {TARGETS[0].rules}: it no longer tells the rules apart",
    ),
    (historic_set_is_never_broken, "sweep scratch-left: its defect showed in no run"),
    (historic_set_was_not_drawn, "sweep scratch-left: its defect showed in no run"),
    (default_breaks_a_law, "sweep default: seed at seed 7: request r1: resumes at 6"),
    (pair_was_not_drawn, "sweep: 1 pairs were not drawn"),
    (readings_differ, f"agreement {AGREEMENTS[0]}: 2 of"),
    (reading_without_a_case, f"agreement {AGREEMENTS[0]}: 0 of 0 cases differ"),
    (engine_differs, "differential engine: 1 of"),
]
UNKNOWN: list[tuple[Spoil, str]] = [
    (obligation(verdict="unknown"), "obligation admit-pages: unknown"),
    (rule_set_without_obligation, "rule set schedule-time-keys: no obligation refutes it"),
    (rule_set_without_scenario, f"rule set {TARGETS[-1].rules}: no scenario refutes it"),
    (golden_is_missing, "golden: 1 entries were not computed"),
    (reading_is_missing, "agreement chunk_end: its readings were not compared"),
    (release_is_missing, f"release {RELEASES[0]}: its source was not judged"),
    (release(verdict="unknown"), f"release {RELEASES[0]}: range at"),
    (release(verdict="model finding"), f"release {RELEASES[0]}: range at"),
    (no_step_of_a_source_was_compared, "differential engine: no step of the drawn runs was"),
    (a_feature_met_no_law, "differential engine: drafts gave seed nothing to judge"),
    (stage_raises, "release vllm==0.26.0: no network"),
]


@pytest.mark.parametrize(("spoil", "problem"), REFUTED, ids=[text for _, text in REFUTED])
def test_what_is_wrong_refutes(gathered: Gathered, spoil: Spoil, problem: str) -> None:
    spoil(gathered)
    found = compose(gathered, 1.0)
    assert any(text.startswith(problem) for text in found.problems), found.problems
    assert found.outcome == "refuted"


@pytest.mark.parametrize(("spoil", "problem"), UNKNOWN, ids=[text for _, text in UNKNOWN])
def test_what_was_not_found_out_is_unknown(gathered: Gathered, spoil: Spoil, problem: str) -> None:
    spoil(gathered)
    found = compose(gathered, 1.0)
    assert any(text.startswith(problem) for text in found.problems), found.problems
    assert found.outcome == "unknown"


def test_what_is_wrong_outweighs_what_is_unknown(gathered: Gathered) -> None:
    golden_fails(gathered)
    stage_raises(gathered)
    found = compose(gathered, 1.0)
    assert found.outcome == "refuted"
    assert len(found.problems) == 2


def test_a_stage_that_raises_hides_no_other(real: Gathered) -> None:
    work = [
        Stage("obligation", "no such obligation", prove_one, ("no such obligation",)),
        Stage("obligation", "admit-pages", prove_one, ("admit-pages",)),
    ]
    payloads = {done.name: done.payload for done in run_stages(work, 1)}
    assert isinstance(payloads["no such obligation"], KeyError)
    assert isinstance(payloads["admit-pages"], ObligationResult)
    assert payloads["admit-pages"].rlimit == real.obligations[0].rlimit
