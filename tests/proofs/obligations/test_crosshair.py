"""Another tool reads the rules: CrossHair runs them on symbolic integers, at a small bound."""

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from crosshair.core_and_libs import analyze_function, run_checkables
from crosshair.options import AnalysisKind, AnalysisOptionSet
from crosshair.statespace import MessageType

SECONDS = 20.0


def load_contracts() -> dict[str, Callable[..., object]]:
    file = Path(__file__).with_name("contracts.py")
    spec = importlib.util.spec_from_file_location("rule_contracts", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["rule_contracts"] = module
    spec.loader.exec_module(module)
    return dict(vars(module))


CONTRACTS = load_contracts()


def states(name: str) -> set[MessageType]:
    options = AnalysisOptionSet(
        analysis_kind=[AnalysisKind.PEP316],
        per_condition_timeout=SECONDS,
        per_path_timeout=SECONDS,
        report_all=True,
    )
    found = run_checkables(analyze_function(CONTRACTS[name], options))
    return {message.state for message in found}


@pytest.mark.parametrize(
    "name",
    [
        "chunk_suits_table",
        "chunk_passes_nothing",
        "plan_owns",
        "seed_is_the_column",
        "resume_is_aligned",
        "margin_lies_below",
        "pages_are_exact",
        "key_is_read_after_its_write",
    ],
)
def test_contract_is_confirmed(name: str) -> None:
    assert states(name) == {MessageType.CONFIRMED}


def test_a_historic_rule_breaks_its_contract() -> None:
    assert states("historic_chunk_suits_table") == {MessageType.POST_FAIL}
