"""Small operators over syntax trees: every place of a file where one of them changes one thing.

Comparisons lose or gain their edge, `and` and `or` change places, `min` and `max` do, numbers grow
by one, plus turns to minus, conditions are negated, returned values become constants, statements
go. Words meant for people (formatted strings), annotations, defaults and assertions are left alone.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

SWAPPED: dict[type[ast.AST], tuple[str, str]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.FloorDiv: ("//", "%"),
    ast.Mod: ("%", "//"),
}
CONSTANTS: dict[str, tuple[str, ...]] = {"int": ("0",), "bool": ("True", "False"), "str": ('""',)}
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Edit:
    """Bytes [start, end) of the file become `new`; `function`: the dotted name it is in."""

    operator: str
    function: str
    start: int
    end: int
    new: str


class _Places:
    """Byte offsets of the nodes of one file."""

    def __init__(self, source: bytes) -> None:
        self.source = source
        self._starts = [0]
        for line in source.split(b"\n"):
            self._starts.append(self._starts[-1] + len(line) + 1)

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        assert node.end_lineno is not None and node.end_col_offset is not None
        start = self._starts[node.lineno - 1] + node.col_offset
        return start, self._starts[node.end_lineno - 1] + node.end_col_offset

    def text(self, node: ast.expr | ast.stmt) -> str:
        start, end = self.span(node)
        return self.source[start:end].decode()

    def between(self, left: ast.expr, right: ast.expr, sign: str) -> tuple[int, int] | None:
        """Where the sign stands between two operands."""
        low, high = self.span(left)[1], self.span(right)[0]
        at = self.source.find(sign.encode(), low, high)
        return None if at < 0 else (at, at + len(sign.encode()))


def edits(text: str) -> list[Edit]:
    """Every single change that an operator makes to a file, in order of place."""
    places = _Places(text.encode())
    found: list[Edit] = []
    for name, function in _functions(ast.parse(text), ""):
        for statement in function.body:
            for node in _walk(statement):
                for operator, (start, end), new in _changes(places, node, function):
                    found.append(Edit(operator, name, start, end, new))
    return sorted(found, key=lambda e: (e.start, e.end, e.operator, e.new))


def _functions(tree: ast.AST, prefix: str) -> Iterator[tuple[str, Function]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, Function):
            yield prefix + node.name, node
            yield from _functions(node, f"{prefix}{node.name}.")
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node, f"{prefix}{node.name}.")


def _walk(node: ast.AST) -> Iterator[ast.AST]:
    """The node and what is below it, without inner functions and what only people read."""
    if isinstance(node, Function | ast.ClassDef | ast.JoinedStr | ast.Assert | ast.Raise):
        return
    yield node
    for name, value in ast.iter_fields(node):
        if name == "annotation":
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _walk(child)


Change = tuple[str, tuple[int, int], str]


def _changes(places: _Places, node: ast.AST, function: Function) -> Iterator[Change]:
    match node:
        case ast.Compare(left=left, ops=ops, comparators=rights):
            for one, sign, right in zip([left, *rights[:-1]], ops, rights, strict=True):
                yield from _swap(places, "comparison", one, sign, right)
        case ast.BinOp(left=left, op=sign, right=right):
            yield from _swap(places, "arithmetic", left, sign, right)
        case ast.BoolOp(op=word, values=values):
            old, new = ("and", "or") if isinstance(word, ast.And) else ("or", "and")
            joined = f" {new} ".join(f"({places.text(value)})" for value in values)
            yield f"{old} to {new}", places.span(node), f"({joined})"
        case ast.Call(func=ast.Name(id="min" | "max" as name) as callee):
            yield "min and max", places.span(callee), "max" if name == "min" else "min"
        case ast.Constant(value=bool(value)):
            yield "constant", places.span(node), str(not value)
        case ast.Constant(value=int(value)):
            yield "constant", places.span(node), str(value + 1)
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
            yield "negation", places.span(test), f"not ({places.text(test)})"
        case ast.comprehension(ifs=tests):
            for test in tests:
                yield "negation", places.span(test), f"not ({places.text(test)})"
        case ast.Return(value=value) if value is not None:
            for constant in _constants(function.returns):
                if places.text(value) != constant:
                    yield "returned constant", places.span(value), constant
        case ast.Expr(value=ast.Call()) | ast.AugAssign() | ast.Delete() | ast.Return(value=None):
            yield "deleted statement", places.span(node), "pass"
        case ast.Break() | ast.Continue():
            yield "deleted statement", places.span(node), "pass"
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield "deleted statement", places.span(node), "pass"


def _swap(
    places: _Places, operator: str, left: ast.expr, sign: ast.AST, right: ast.expr
) -> Iterator[Change]:
    if type(sign) in SWAPPED:
        old, new = SWAPPED[type(sign)]
        where = places.between(left, right, old)
        if where is not None:
            yield operator, where, new


def _constants(returns: ast.expr | None) -> tuple[str, ...]:
    match returns:
        case ast.Name(id=name):
            return CONSTANTS.get(name, ())
        case ast.BinOp(op=ast.BitOr(), right=ast.Constant(value=None)):
            return ("None",)
    return ()
