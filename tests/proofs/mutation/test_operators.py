"""Operators change one thing each, in code and not in words; names and samples are stable."""

import ast
from pathlib import Path

import pytest

import truehit
from truehit.proofs.mutation.catalogue import OPERATED, generated
from truehit.proofs.mutation.fault import apply
from truehit.proofs.mutation.generated import mutants, sampled
from truehit.proofs.mutation.operators import edits

PACKAGE = Path(truehit.__file__).parent
SNIPPET = '''
def f(a: int, b: int = 3) -> bool:
    """a < b in words is left alone."""
    if a < b and b > 0:
        a += 1
        note(f"{a < b}")
    assert a < b
    return min(a, b) == a
'''


def changed(text: str) -> list[tuple[str, str]]:
    """Operator and the changed line, in order."""
    lines = text.split("\n")
    found = []
    for mutant in mutants("f.py", text):
        now = apply(text, mutant.fault).split("\n")
        (line,) = [new for old, new in zip(lines, now, strict=True) if old != new]
        found.append((mutant.fault.operator or "", line.strip()))
    return found


def test_every_operator_has_its_places() -> None:
    assert changed(SNIPPET) == [
        ("and to or", "if ((a < b) or (b > 0)):"),
        ("negation", "if not (a < b and b > 0):"),
        ("comparison", "if a <= b and b > 0:"),
        ("comparison", "if a < b and b >= 0:"),
        ("constant", "if a < b and b > 1:"),
        ("deleted statement", "pass"),
        ("constant", "a += 2"),
        ("deleted statement", "pass"),
        ("min and max", "return max(a, b) == a"),
        ("returned constant", "return False"),
        ("returned constant", "return True"),
        ("comparison", "return min(a, b) != a"),
    ]


@pytest.mark.parametrize("subject", OPERATED)
def test_every_mutant_of_the_house_parses_and_has_its_own_name(subject: str) -> None:
    names = set()
    for mutant in generated(PACKAGE, subject):
        ast.parse(apply((PACKAGE / mutant.fault.file).read_text(encoding="utf-8"), mutant.fault))
        assert mutant.name not in names
        names.add(mutant.name)
    assert len(names) > 500


def test_names_and_sample_do_not_depend_on_what_stands_above() -> None:
    moved = "\n\nOTHER = 1\n" + SNIPPET
    names = [mutant.name for mutant in mutants("f.py", SNIPPET)]
    assert [mutant.name for mutant in mutants("f.py", moved)] == names
    assert len(edits(moved)) == len(edits(SNIPPET))


def test_a_sample_is_part_of_every_larger_one() -> None:
    names = [f"mutant {number}" for number in range(2000)]
    small = {name for name in names if sampled(name, 100)}
    large = {name for name in names if sampled(name, 400)}
    assert small < large
    assert 140 < len(small) < 260
    assert {name for name in names if sampled(name, 1000)} == set(names)
