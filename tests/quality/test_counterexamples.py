"""How small the counterexample of each historic defect is: requests, prefill chunks, tokens.

A larger one than pinned here means that shrinking got worse; a smaller one is welcome, and pinned.
"""

import ast
from pathlib import Path

import pytest

from truehit.proofs.regress.judged import judged
from truehit.proofs.regress.targets import TARGETS, Target
from truehit.proofs.regress.write import file_name, scenario_text
from truehit.reference.ruleset import HISTORIC
from truehit.spec.scenario_file import parse_scenario

FOLDER = Path(__file__).resolve().parents[1] / "regressions"

AT_MOST = {
    "aligned-below-last": (1, 2, 4),
    "minimum-block-grid": (1, 2, 6),
    "stop-from-misaligned": (1, 2, 4),
    "one-block-back-off": (1, 1, 4),
    "scratch-left": (1, 2, 11),
    "scratch-counted": (1, 2, 10),
    "boundary-only": (2, 4, 9),
    "margin-state-block": (2, 6, 11),
    "margin-own-bit": (2, 4, 9),
    "seed-minimum-block": (2, 2, 19),
    "pruned-lookup": (2, 3, 5),
    "drop-every-retry": (3, 5, 35),
    "raised-candidate": (2, 2, 9),
    "schedule-time-keys": (2, 2, 17),
}
"""Rule set -> requests, chunks, tokens."""


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.rules)
def test_the_counterexample_is_as_small_as_pinned(target: Target) -> None:
    scenario = parse_scenario(scenario_text(FOLDER / file_name(target.rules)), ".yaml")
    result, _ = judged(scenario, target.rules)
    size = (
        len(scenario.requests),
        sum(len(served.carve) for served in result.served),
        sum(request.total_tokens for request in scenario.requests),
    )
    assert all(have <= most for have, most in zip(size, AT_MOST[target.rules], strict=True)), size


def test_every_historic_defect_has_a_target_and_a_pin() -> None:
    names = {rules.name for rules in HISTORIC}
    assert names == {target.rules for target in TARGETS} == set(AT_MOST)


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.rules)
def test_the_file_reads_like_a_test(target: Target) -> None:
    """A docstring that says why, at least two tests, no line over the limit."""
    text = (FOLDER / file_name(target.rules)).read_text(encoding="utf-8")
    tree = ast.parse(text)
    assert target.why[1:] in " ".join((ast.get_docstring(tree) or "").split())
    tests = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    assert len(tests) >= 2
    assert max(len(line) for line in text.splitlines()) <= 100
