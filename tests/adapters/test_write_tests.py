"""Written tests: each stands alone, fails on the real release with its sentence, passes repaired,
and is not kept otherwise."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from truehit.adapters.vllm.environment import Environment, build
from truehit.adapters.vllm.inside.driver.repairs import STATE_GRID, STOP_AT_BLOCKS
from truehit.adapters.vllm.write_tests import (
    Kept,
    Rejected,
    Staged,
    UnwritableError,
    WrittenFinding,
    keep,
    render,
    write,
)
from truehit.adapters.vllm.write_tests.aim import aim_of
from truehit.adapters.vllm.write_tests.plain import literal
from truehit.spec.geometry import Geometry, Group, Kind
from truehit.spec.laws.base import ViolationClass
from truehit.spec.scenario import After, Pressure, Request, Scenario
from truehit.spec.tokens import Segment

VERSION = "0.33.0"
CORRUPT, STALL, WASTE = ViolationClass.CORRUPT, ViolationClass.STALL, ViolationClass.WASTE


def geometry(page_tokens: int, state_tokens: int, budget_tokens: int) -> Geometry:
    return Geometry(
        (
            Group("attention", Kind.FULL_ATTENTION, page_tokens),
            Group("state", Kind.RECURRENT_STATE, state_tokens),
        ),
        hash_unit_tokens=16,
        fine_hits=page_tokens != state_tokens,
        budget_tokens=budget_tokens,
        pool_blocks=64,
        max_model_tokens=512,
        max_running=4,
    )


GRID = Scenario("grid", geometry(16, 64, 48), (Request("first", (Segment("doc", 200),)),))
SIBLING = Request("sibling", (Segment("doc", 40), Segment("tail", 20)), arrival=After("first"))
STOP = Scenario("stop", geometry(16, 16, 64), (Request("first", (Segment("doc", 80),)), SIBLING))

POISONED = WrittenFinding(
    slug="grid-of-the-smallest-block",
    sentence="request first: column 0 is published as state@64 but holds state@48 (step 1)",
    law="provenance",
    violation_class=CORRUPT,
    certainty="replayed on the real scheduler",
    shown=Staged(GRID),
    healed=Staged(GRID, frozenset({STATE_GRID})),
    heal="with the state group's block as the configured one",
    story=(
        "step 0: the chunk [0, 48) ends on the grid of the smallest block, inside column 0.",
        "step 1: the chunk [48, 96) passes the end of column 0, which is published as state@64.",
    ),
    version=VERSION,
    request="first",
    group="state",
)
MISSED = replace(
    POISONED,
    slug="boundaries-passed-in-one-chunk",
    sentence=(
        "request sibling: hits 0, but shares 40 tokens with a committed prefill that kept 32 "
        "(step 2)"
    ),
    law="reach",
    violation_class=WASTE,
    shown=Staged(STOP),
    healed=Staged(STOP, frozenset({STOP_AT_BLOCKS})),
    heal="with chunks that end at the first boundary",
    request="sibling",
    group="",
)
SMALL_POOL = replace(GRID, geometry=replace(GRID.geometry, pool_blocks=10, budget_tokens=64))
STUCK = replace(
    POISONED,
    slug="a-request-that-does-not-fit",
    sentence="request first: is live and nothing has run for 4 steps (step 3)",
    law="progress",
    violation_class=STALL,
    shown=Staged(SMALL_POOL),
    healed=Staged(replace(GRID, geometry=replace(GRID.geometry, budget_tokens=64))),
    heal="with more blocks",
    group="",
)
SMALL_BUDGET = replace(STOP, geometry=replace(STOP.geometry, budget_tokens=16))


def told(finding: WrittenFinding, law: str, sentence: str) -> str:
    """The check of the same finding with another sentence."""
    return "\n".join(aim_of(replace(finding, law=law, sentence=sentence)).lines)


# --- the text -------------------------------------------------------------------------------------


@pytest.mark.parametrize("finding", [POISONED, MISSED], ids=lambda finding: finding.slug)
def test_the_text_stands_alone(finding: WrittenFinding) -> None:
    tree = ast.parse(render(finding))
    allowed = sys.stdlib_module_names | {"vllm", "torch", "pytest"}
    imported = set()
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                imported |= {one.name.split(".")[0] for one in names}
            case ast.ImportFrom(module=str(module), level=0):
                imported.add(module.split(".")[0])
            case ast.ImportFrom():
                pytest.fail(f"line {node.lineno}: a relative import")
    assert imported <= allowed
    assert {"vllm", "torch"} <= imported


@pytest.mark.parametrize("finding", [POISONED, MISSED], ids=lambda finding: finding.slug)
def test_the_text_is_clean(finding: WrittenFinding, tmp_path: Path) -> None:
    path = write(finding, tmp_path)
    config = Path(__file__).parents[2] / "pyproject.toml"
    for verb in (("check",), ("format", "--diff")):
        line = [sys.executable, "-m", "ruff", *verb, "--no-cache", f"--config={config}", str(path)]
        done = subprocess.run(line, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout


def test_the_text_says_it_first() -> None:
    text = render(POISONED)
    docstring = ast.get_docstring(ast.parse(text)) or ""
    flat = " ".join(docstring.split())
    assert flat.startswith(f"vLLM {VERSION}: {POISONED.sentence}.")
    assert all(line in flat for line in POISONED.story)
    assert text.index("SCENARIO") < text.index("def test_defect") < text.index("class Worker")


def test_a_repair_is_pasted_and_a_number_is_told() -> None:
    assert "play(HEALED, _stop_at_blocks)" in render(MISSED)
    assert "def _stop_at_blocks(" in render(MISSED)
    assert 'SCENARIO | {"configured_block_tokens": 64}' in render(POISONED)


def test_a_changed_scenario_is_told_by_its_changes() -> None:
    text = render(replace(MISSED, healed=Staged(SMALL_BUDGET)))
    assert 'HEALED: dict[str, Any] = SCENARIO | {"budget_tokens": 16}' in text
    assert "_stop_at_blocks" not in text


def test_a_mask_is_there_in_both_runs() -> None:
    masked = frozenset({STOP_AT_BLOCKS})
    text = render(
        replace(
            POISONED,
            shown=Staged(GRID, masked),
            healed=Staged(GRID, masked | {STATE_GRID}),
        )
    )
    assert "play(SCENARIO, _stop_at_blocks)" in text
    assert "play(HEALED, _stop_at_blocks)" in text
    assert text.count("def _stop_at_blocks(") == 1
    assert f"with {STOP_AT_BLOCKS} mended in memory" in " ".join(text.split())


def test_what_no_engine_can_be_told_is_refused() -> None:
    told_pressure = replace(GRID, actions=(Pressure(1, 3),))
    with pytest.raises(UnwritableError, match="an engine cannot be told to pressure"):
        render(replace(POISONED, shown=Staged(told_pressure)))


def test_a_repair_that_cannot_be_pasted_is_refused() -> None:
    with pytest.raises(UnwritableError, match=r"^nonesuch: no repair"):
        render(replace(POISONED, healed=Staged(GRID, frozenset({"nonesuch"}))))


@pytest.mark.parametrize(
    "data",
    [
        {"a": [1, (2, "x")], "b": None, "c": True},
        {"long": [{"name": "n" * 30, "prompt": [("doc", 10)]} for _ in range(4)]},
        {"quotes": 'it says "no"\\', "empty": []},
    ],
)
def test_plain_data_survives(data: dict[str, object]) -> None:
    text = literal(data)
    assert ast.literal_eval(text) == data
    assert max(map(len, text.splitlines())) <= 100


# --- the aim --------------------------------------------------------------------------------------


def test_every_kind_of_sentence_has_its_check() -> None:
    cases = {
        ("provenance", "is published as state@64 but holds nothing (step 1)"): '"published"',
        ("commit", "at the end of step 1 the key of 64 tokens names block 4"): '"published"',
        ("commit", "column 1 of group state adopts block 4 at 64 tokens"): '"read"',
        ("neutrality", "group state resumes at 64 from block 4"): '"read"',
        ("neutrality", "group state leaves state@3 in column 1 after tokens"): '"left"',
        ("ownership", "writes block 4 of group state, which is held by 2 other tables"): "written",
        ("grid", "chunk [48, 96) starts inside a block and passes its end 64"): '"chunk"',
        ("grid", "chunk [48, 96) passes the kept position 64 and does not"): '64, ["state"]',
        ("reach", "passed the kept position 32 in step 0 but group state has no key"): "seen.kept",
        ("joint", "hits 0, but every group can resume at 48 (step 2)"): "hit >= 48",
        ("joint", "hits 64, but all groups together can resume at 48 (step 2)"): "hit <= 48",
        ("admission", "the estimate is 3 blocks but 4 are taken"): '"estimate"',
        ("progress", "is live and nothing has run for 4 steps"): "seen.finished",
        ("progress", "is offered 16 tokens at 0 and scheduled none"): "seen.deferred",
        ("retirement", "group state holds 4 state columns, 3 are allowed"): "held <= 3",
        ("conservation", "the engine counts 5 referenced blocks"): "seen.lost",
        ("fault", "AssertionError: no block (in allocate)"): "seen.fault",
    }
    for (law, sentence), check in cases.items():
        assert check in told(POISONED, law, f"request first: {sentence}"), sentence


def test_a_sentence_that_no_check_shows_is_refused() -> None:
    with pytest.raises(UnwritableError, match="no check of a written test shows: request first"):
        told(POISONED, "admission", "request first: is refused without a number")


# --- on the real scheduler ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def environment() -> Iterator[Environment]:
    yield build(VERSION, print)


@pytest.mark.releases
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    "finding",
    [POISONED, STUCK, MISSED, replace(MISSED, healed=Staged(SMALL_BUDGET))],
    ids=["corrupt", "stall", "waste", "waste avoided by a switch"],
)
def test_it_fails_on_the_release_and_passes_repaired(
    finding: WrittenFinding, environment: Environment, tmp_path: Path
) -> None:
    path = write(finding, tmp_path)
    assert keep(path, environment) == Kept(path)
    assert path.is_file()


@pytest.mark.releases
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    ("finding", "reason"),
    [
        (replace(POISONED, shown=POISONED.healed), "^it does not fail here$"),
        (replace(POISONED, healed=POISONED.shown), "^it fails repaired too: "),
    ],
    ids=["no defect", "no repair"],
)
def test_what_does_not_show_it_is_removed(
    finding: WrittenFinding, reason: str, environment: Environment, tmp_path: Path
) -> None:
    path = write(finding, tmp_path)
    rejected = keep(path, environment)
    assert isinstance(rejected, Rejected)
    assert re.search(reason, rejected.reason)
    assert not path.exists()


@pytest.mark.releases
@pytest.mark.timeout(1800)
def test_another_failure_is_not_its_own(environment: Environment, tmp_path: Path) -> None:
    path = write(POISONED, tmp_path)
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("    check(play(SCENARIO))", "    raise ValueError(3)"))
    assert keep(path, environment) == Rejected("it fails with something else: ValueError: 3")
