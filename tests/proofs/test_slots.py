"""What the `slots-` obligations leave to be said of the device: numbers stay within their types, no
dividend is negative, and the kernels load and store as the obligations assume.

All of it is read from source: neither Triton nor torch is needed to prove."""

import ast
import inspect
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest
import z3

import truehit
from truehit.kernels import slot_columns
from truehit.proofs.lift import IntegerDomain, Value, lift_function
from truehit.proofs.solve import smtlib, solve
from truehit.proofs.terms import Bool, all_of, any_of, formula, less, negation

KERNELS = Path(truehit.__file__).parent / "kernels" / "slots.py"
FUNCTIONS = [f for _, f in inspect.getmembers(slot_columns, inspect.isfunction)]
RLIMIT = 10_000_000
SIZE_BOUND = 2**30
RANGES = {"grid": (1, SIZE_BOUND), "block": (1, SIZE_BOUND), "running": (-1, SIZE_BOUND)}
WIDE = {"row": (0, 2**31), "columns": (0, 2**31), "column": (0, 2**31)}
"""Entries of a table are addressed in 64 bits."""


class Recording(IntegerDomain):
    """Keeps every number that is computed on the way, on every path, and every dividend."""

    def __init__(self) -> None:
        super().__init__()
        self.numbers: list[Value] = []
        self.dividends: list[Value] = []

    def _kept(self, number: Value) -> Value:
        self.numbers.append(number)
        return number

    def add(self, left: Value, right: Value) -> Value:
        return self._kept(super().add(left, right))

    def subtract(self, left: Value, right: Value) -> Value:
        return self._kept(super().subtract(left, right))

    def multiply(self, left: Value, right: Value) -> Value:
        return self._kept(super().multiply(left, right))

    def divide(self, left: Value, right: Value) -> Value:
        self.dividends.append(left)
        return self._kept(super().divide(left, right))

    def remainder(self, left: Value, right: Value) -> Value:
        self.dividends.append(left)
        return self._kept(super().remainder(left, right))


def within(number: Value, low: int, high: int) -> Bool:
    """low <= number < high."""
    term = cast(z3.ArithRef, number)
    return all_of(negation(less(term, low)), less(term, high))


def lifted(
    function: Callable[..., object], ranges: dict[str, tuple[int, int]]
) -> tuple[Recording, Bool, Value]:
    """Its numbers, what is known of its inputs, and its result."""
    domain = Recording()
    bind: dict[str, Value] = {}
    for name in inspect.signature(function).parameters:
        bind[name] = domain.size(name) if name in ("grid", "block") else domain.integer(name)
    result = lift_function(function, domain, bind).result
    known = [within(value, *ranges.get(name, (0, SIZE_BOUND))) for name, value in bind.items()]
    return domain, all_of(*known, *domain.side_conditions()), result


def possible(*conditions: Bool) -> str:
    """What the solver says of them together."""
    return solve(smtlib([formula(all_of(*conditions))]), RLIMIT).verdict


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_no_number_leaves_its_type(function: Callable[..., object]) -> None:
    wide = function is slot_columns.table_index
    domain, known, _ = lifted(function, WIDE if wide else RANGES)
    bits = 63 if wide else 31
    outside = [negation(within(number, -(2**bits), 2**bits)) for number in domain.numbers]
    assert possible(known) == "sat"
    assert possible(known, any_of(*outside)) == "unsat"


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_no_dividend_is_negative(function: Callable[..., object]) -> None:
    """So that division that cuts towards zero is Python's."""
    domain, known, _ = lifted(function, RANGES)
    negative = [less(cast(z3.ArithRef, dividend), 0) for dividend in domain.dividends]
    assert possible(known, any_of(*negative)) == "unsat"


def test_the_running_column_is_in_the_range_that_is_assumed_of_it() -> None:
    _, known, result = lifted(slot_columns.running_column, RANGES)
    assert possible(known, negation(within(result, *RANGES["running"]))) == "unsat"


def test_larger_positions_would_leave_the_type() -> None:
    """The bound says something: sums of two positions do not fit above it."""
    beyond = {"end": (0, 2**31), "grid": (1, 2**31)}
    domain, known, _ = lifted(slot_columns.running_column, beyond)
    outside = [negation(within(number, -(2**31), 2**31)) for number in domain.numbers]
    assert possible(known, any_of(*outside)) == "sat"


def negative_dividend(start: int, done: int, grid: int) -> int:
    return (start - done) // grid


def test_a_negative_dividend_would_be_found() -> None:
    domain, known, _ = lifted(negative_dividend, RANGES)
    (dividend,) = domain.dividends
    assert possible(known, less(cast(z3.ArithRef, dividend), 0)) == "sat"


# --- the text of the kernels ------------------------------------------------------------------

TREE = ast.parse(KERNELS.read_text(encoding="utf-8"))
BODIES = {node.name: node for node in TREE.body if isinstance(node, ast.FunctionDef)}
DEVICE = {name: node for name, node in BODIES.items() if name.endswith("_kernel")}


def calls(node: ast.AST, name: str) -> list[ast.Call]:
    """The calls of a function."""
    found = [n for n in ast.walk(node) if isinstance(n, ast.Call)]
    return [call for call in found if ast.unparse(call.func) == name]


def test_every_function_is_compiled_under_its_own_name() -> None:
    made = {
        ast.unparse(node.targets[0]): ast.unparse(node.value)
        for node in TREE.body
        if isinstance(node, ast.Assign) and "_compiled(" in ast.unparse(node.value)
    }
    names = [function.__name__ for function in FUNCTIONS]
    assert made == {f"_{name}": f"_compiled(slot_columns.{name})" for name in names}


def test_a_table_is_loaded_in_one_place_under_its_mask() -> None:
    (load,) = calls(BODIES["_block"], "tl.load")
    assert ast.unparse(load) == (
        "tl.load(tables + _table_index(row, columns, column), mask=inside, other=0)"
    )
    assert "inside = _from_first(column) & _before_end(column, length)" in ast.unparse(
        BODIES["_block"]
    )
    for kernel in DEVICE.values():
        for access in (*calls(kernel, "tl.load"), *calls(kernel, "tl.store")):
            assert "tables" not in ast.unparse(access.args[0])
        for call in calls(kernel, "_block"):
            assert [ast.unparse(a) for a in call.args[:4]] == ["tables", "row", "columns", "length"]


def test_tokens_are_stored_only_where_the_row_has_them() -> None:
    packed = ("token_targets", "pages", "offsets")
    stores = [
        (name, ast.unparse(store))
        for name, kernel in DEVICE.items()
        for store in calls(kernel, "tl.store")
        if ast.unparse(store.args[0]).split(" ")[0] in packed
    ]
    assert stores == [
        (
            "state_slots_kernel",
            "tl.store(token_targets + _token_index(first, ahead), target)",
        ),
        ("page_slots_kernel", "tl.store(pages + token, page, mask=ahead < width)"),
        (
            "page_slots_kernel",
            "tl.store(offsets + token, _page_offset(position, block), mask=ahead < width)",
        ),
    ]
    (loop,) = [n for n in ast.walk(DEVICE["state_slots_kernel"]) if isinstance(n, ast.While)]
    assert ast.unparse(loop.test) == "ahead < width" and calls(loop, "_token_index")
    assert "token = _token_index(first, ahead)" in ast.unparse(DEVICE["page_slots_kernel"])


def test_everything_else_is_stored_in_the_row_of_the_program() -> None:
    single = ("sources", "checkpoint_targets", "next_currents", "boundary_sources")
    for kernel in DEVICE.values():
        assert "row = tl.cast(tl.program_id(0), tl.int64)" in ast.unparse(kernel)
        for store in calls(kernel, "tl.store"):
            place = ast.unparse(store.args[0])
            if place.split(" ")[0] in (*single, "boundary_targets"):
                assert place.endswith(" + row")


WITHOUT = """
import sys
sys.modules["torch"] = sys.modules["triton"] = None
from truehit.proofs.prove import prove_one
assert prove_one("slots-inside").holds
"""


def test_the_proofs_need_neither_torch_nor_triton() -> None:
    subprocess.run([sys.executable, "-c", WITHOUT], check=True, timeout=100)
