"""Values of z3 terms under an assignment, fast enough for thousands of samples.

A term is compiled once to straight-line Python over its shared subterms. z3's division rounds so
that the remainder is never negative; everything else means what Python means. An operator outside
the table is refused. The tests compare with z3's own simplifier.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import TypeAlias

import z3

Assignment: TypeAlias = Mapping[str, int | bool]
"""Values by name; a name the solver left out may take any value and is read as 0 or false."""

Program: TypeAlias = Callable[[Assignment], list[int | bool]]

OPERATORS: Mapping[int, str] = {
    z3.Z3_OP_ADD: " + ",
    z3.Z3_OP_SUB: " - ",
    z3.Z3_OP_MUL: " * ",
    z3.Z3_OP_AND: " and ",
    z3.Z3_OP_OR: " or ",
    z3.Z3_OP_LE: " <= ",
    z3.Z3_OP_LT: " < ",
    z3.Z3_OP_GE: " >= ",
    z3.Z3_OP_GT: " > ",
    z3.Z3_OP_EQ: " == ",
    z3.Z3_OP_DISTINCT: " != ",
}


class _Key:
    """Terms by identity; keeps them alive, so that the identities stay theirs."""

    def __init__(self, terms: tuple[z3.ExprRef, ...]) -> None:
        self.terms = terms
        self.ids = tuple(term.get_id() for term in terms)

    def __hash__(self) -> int:
        return hash(self.ids)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and self.ids == other.ids


def evaluate_term(model: "Assignment | z3.ModelRef", term: object) -> int | bool:
    """The value of a z3 term (or of a plain constant) under an assignment."""
    return evaluate_terms(model, [term])[0]


def evaluate_terms(model: "Assignment | z3.ModelRef", terms: Sequence[object]) -> list[int | bool]:
    """The values of several terms, or plain constants, under one assignment.

    Raises:
        TypeError: something is no term, or a term uses an operator outside the table.
    """
    symbolic = tuple(term for term in terms if isinstance(term, z3.ExprRef))
    if isinstance(model, z3.ModelRef):
        found = iter([_python(model.eval(term, model_completion=True)) for term in symbolic])
    else:
        found = iter(_program(_Key(symbolic))(model) if symbolic else [])
    values: list[int | bool] = []
    for term in terms:
        if not isinstance(term, int | z3.ExprRef):
            raise TypeError(f"not a term: {term!r}")
        values.append(term if isinstance(term, int) else next(found))
    return values


def constants(*terms: z3.ExprRef) -> list[z3.ExprRef]:
    """The free constants of some terms, in order of first occurrence."""
    return [term for term in _ordered(terms) if _is_name(term)]


@lru_cache(maxsize=1024)
def _program(key: _Key) -> Program:
    lines = ["def program(model):"]
    names: dict[int, str] = {}
    for position, term in enumerate(_ordered(key.terms)):
        names[term.get_id()] = f"t{position}"
        lines.append(f"    t{position} = {_expression(term, names)}")
    lines.append(f"    return [{', '.join(names[i] for i in key.ids)}]")
    scope: dict[str, Program] = {}
    exec(compile("\n".join(lines), "<term>", "exec"), {}, scope)
    return scope["program"]


def _expression(term: z3.ExprRef, names: Mapping[int, str]) -> str:
    if z3.is_int_value(term) or z3.is_true(term) or z3.is_false(term):
        return repr(_python(term))
    if _is_name(term):
        default = "False" if z3.is_bool(term) else "0"
        return f"model.get({term.decl().name()!r}, {default})"
    kind = term.decl().kind()
    parts = [names[child.get_id()] for child in term.children()]
    match kind:
        case z3.Z3_OP_ITE:
            return f"{parts[1]} if {parts[0]} else {parts[2]}"
        case z3.Z3_OP_NOT:
            return f"not {parts[0]}"
        case z3.Z3_OP_UMINUS:
            return f"-{parts[0]}"
        case z3.Z3_OP_IMPLIES:
            return f"(not {parts[0]}) or {parts[1]}"
        case z3.Z3_OP_IDIV:
            a, b = parts
            return f"0 if {b} == 0 else ({a} // {b} if {b} > 0 else -({a} // -{b}))"
        case z3.Z3_OP_MOD:
            a, b = parts
            return f"0 if {b} == 0 else {a} % abs({b})"
    if kind not in OPERATORS:
        raise TypeError(f"no value for operator {term.decl().name()}")
    return OPERATORS[kind].join(parts)


def _ordered(terms: Sequence[z3.ExprRef]) -> list[z3.ExprRef]:
    """All subterms, each once, children first."""
    found: list[z3.ExprRef] = []
    seen: set[int] = set()
    pending = [(term, False) for term in reversed(terms)]
    while pending:
        term, expanded = pending.pop()
        if expanded:
            found.append(term)
        elif term.get_id() not in seen:
            seen.add(term.get_id())
            pending.append((term, True))
            pending.extend((child, False) for child in reversed(term.children()))
    return found


def _is_name(term: z3.ExprRef) -> bool:
    return bool(z3.is_const(term) and term.decl().kind() == z3.Z3_OP_UNINTERPRETED)


def _python(value: z3.ExprRef) -> int | bool:
    if z3.is_int_value(value):
        return int(value.as_long())
    if z3.is_true(value) or z3.is_false(value):
        return bool(z3.is_true(value))
    raise ValueError(f"the assignment leaves {value} open")
