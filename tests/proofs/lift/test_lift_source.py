"""Methods of a class in any tree: attributes become inputs, helpers are found by their imports."""

from truehit.proofs.lift import IntegerDomain, RadixDomain, SourceTree, lift_call, lift_source
from truehit.proofs.lift.agreement import agreement, concrete_inputs
from truehit.proofs.lift.concrete import extract

SCHEDULER = '''
from typing import TYPE_CHECKING

from engine import maths
from .base import Base, BACK
from .maths import ceiling as up

if TYPE_CHECKING:
    from engine.request import Request


def floor(x, y):
    """Never called: the class has its own."""
    return 0


class Scheduler(Base):
    def split(self, request: "Request", offered: int, hit: int = 0) -> int:
        """Clip a chunk."""
        start = request.computed + hit
        if start >= request.prompt:
            return offered
        end = start + offered
        if self.config.align and not self.done(start):
            end = self.floor(end)
        if self.limit is not None:
            end = min(end, start + self.limit)
        return max(end - start, 0) + BACK * maths.parity(up(start, self.block))

    def done(self, start):
        return start % self.block == 0

    def taken(self, request):
        table = {request.id: [start for start in request.blocks]}
        return table and up(request.computed, self.block)
'''
BASE = """
BACK = 2 - 1


class Base:
    @property
    def step(self):
        return self.block

    def floor(self, x):
        return x // self.step * self.step
"""
MATHS = """
def ceiling(a: int, b: int) -> int:
    return -(a // -b)


def parity(a):
    return a % 2
"""
FILES = {
    "engine/__init__.py": "",
    "engine/scheduler.py": SCHEDULER,
    "engine/base.py": BASE,
    "engine/maths.py": MATHS,
}
TREE = SourceTree("engine", FILES)
SPLIT = "engine.scheduler.Scheduler.split"


def test_attributes_become_inputs_of_the_sort_they_are_used_as() -> None:
    lifted = lift_source(TREE, SPLIT, IntegerDomain())
    assert lifted.sorts == {
        "request.computed": "int",
        "request.prompt": "int",
        "offered": "int",
        "hit": "int",
        "self.config.align": "bool",
        "self.block": "int",
        "self.limit": "int?",
    }


def test_agrees_with_the_extracted_source() -> None:
    for bind in ({}, {"self.block": 5}, {"self.block": -3}):
        lifted = lift_source(TREE, SPLIT, IntegerDomain(), bind)
        found = agreement(lifted, extract(TREE, SPLIT), 2000, seed=1)
        assert found.mismatches == ()
        assert found.defined > 1500


def test_radix_form_agrees_with_the_extracted_source() -> None:
    parity = " + BACK * maths.parity(up(start, self.block))"
    assert parity in SCHEDULER
    text = SCHEDULER.replace(parity, " + up(start, self.block) * self.block")
    tree = SourceTree("engine", FILES | {"engine/scheduler.py": text})
    domain = RadixDomain("block")
    lifted = lift_source(tree, SPLIT, domain, {"self.block": domain.size("block")})
    assert agreement(lifted, extract(tree, SPLIT), 2000, seed=2).mismatches == ()


def test_provenance_names_everything_lifted_and_hashes_its_text() -> None:
    lifted = lift_source(TREE, SPLIT, IntegerDomain())
    places = {(place.function, place.file) for place in lifted.provenance.functions}
    assert {
        (SPLIT, "engine/scheduler.py"),
        ("engine.scheduler.Scheduler.done", "engine/scheduler.py"),
        ("engine.base.Base.floor", "engine/base.py"),
        ("engine.base.Base.step", "engine/base.py"),
        ("engine.maths.ceiling", "engine/maths.py"),
        ("engine.maths.parity", "engine/maths.py"),
    } <= places
    assert ("engine.scheduler.floor", "engine/scheduler.py") not in places
    line = next(n for n, text in enumerate(SCHEDULER.splitlines()) if "def split(" in text)
    assert (lifted.provenance.file, lifted.provenance.line) == ("engine/scheduler.py", line + 1)


def test_the_hash_follows_the_text_that_was_lifted_and_no_other() -> None:
    def hashed(path: str, old: str, new: str) -> str:
        assert old in FILES[path]
        tree = SourceTree("engine", FILES | {path: FILES[path].replace(old, new)})
        return lift_source(tree, SPLIT, IntegerDomain()).provenance.sha256

    known = lift_source(TREE, SPLIT, IntegerDomain()).provenance.sha256
    assert hashed("engine/maths.py", "a % 2", "a % 4") != known
    assert hashed("engine/base.py", "2 - 1", "2 - 3") != known
    assert hashed("engine/scheduler.py", "    return 0\n", "    return 1\n") == known


def test_divisors_are_required_not_to_be_zero() -> None:
    lifted = lift_source(TREE, SPLIT, IntegerDomain())
    assert {"divisor is not zero", "not None"} == {item.name for item in lifted.defined}
    assert all(item.line > 0 for item in lifted.defined)


def test_one_call_is_lifted_out_of_a_function_that_cannot_be() -> None:
    domain = IntegerDomain()
    lifted = lift_call(TREE, "engine.scheduler.Scheduler.taken", "up", domain, {"self.block": 4})
    assert set(lifted.inputs) == {"request.computed", "self.block"}
    assert domain.evaluate({"request.computed": 9}, lifted.result) == 3


def test_concrete_inputs_are_python_values() -> None:
    lifted = lift_source(TREE, SPLIT, IntegerDomain(), {"self.block": 4})
    model = {"request.computed": 4, "request.prompt": 20, "offered": 7, "self.limit.is_none": True}
    inputs = concrete_inputs(lifted, model)
    assert inputs["self.limit"] is None
    assert inputs["self.block"] == 4
    assert extract(TREE, SPLIT).run(inputs) == lifted.domain.evaluate(model, lifted.result) == 8
