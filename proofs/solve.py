"""One question to z3: SMT-LIB text in, an answer out; the same text always costs the same.

z3 counts its work over a whole context, so every question gets a fresh context, and its limit is a
count of work (`rlimit`), not a clock: the answer does not depend on how busy the machine is.
"""

import hashlib
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import z3

Satisfiability = Literal["sat", "unsat", "unknown"]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a solver said about one text; `model` is empty unless it said sat."""

    verdict: Satisfiability
    model: dict[str, int | bool]
    rlimit_used: int
    seconds: float
    text_sha256: str
    solver: str
    version: str


def smtlib(assertions: Sequence[z3.BoolRef]) -> str:
    """The assertions as an SMT-LIB text of their own, without any solver's memory."""
    # Printed names count the terms of a context: in one of its own the text is always the same.
    context = z3.Context()
    solver = z3.Solver(ctx=context)
    solver.add(*(assertion.translate(context) for assertion in assertions))
    return str(solver.to_smt2())


def text_sha256(smt2_text: str) -> str:
    """The name of a question: the hash of its text."""
    return hashlib.sha256(smt2_text.encode()).hexdigest()


def solve(smt2_text: str, rlimit: int) -> Answer:
    """Ask z3 whether the text is satisfiable, spending at most `rlimit` units of work."""
    started = time.process_time()
    context = z3.Context()
    # The plain SMT core: the default solver first tries tactics that cost more than the answer.
    solver = z3.SimpleSolver(ctx=context)
    solver.set("rlimit", rlimit)
    solver.from_string(smt2_text)
    verdict = solver.check()
    model = _values(solver.model()) if verdict == z3.sat else {}
    counters = dict(iter(solver.statistics()))
    return Answer(
        verdict=_word(verdict),
        model=model,
        rlimit_used=int(counters.get("rlimit count", 0)),
        seconds=time.process_time() - started,
        text_sha256=text_sha256(smt2_text),
        solver="z3",
        version=z3.get_version_string(),
    )


def _values(model: z3.ModelRef) -> dict[str, int | bool]:
    found: dict[str, int | bool] = {}
    for declaration in model.decls():
        value = model[declaration]
        if z3.is_int_value(value):
            found[declaration.name()] = value.as_long()
        elif z3.is_true(value) or z3.is_false(value):
            found[declaration.name()] = z3.is_true(value)
    return found


def _word(verdict: z3.CheckSatResult) -> Satisfiability:
    if verdict == z3.sat:
        return "sat"
    return "unsat" if verdict == z3.unsat else "unknown"
