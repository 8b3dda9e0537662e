"""Expressions: arithmetic, comparisons and choices, with what each needs to be defined."""

import ast
from typing import cast

import z3

from truehit.proofs.lift.attributes import Attributes
from truehit.proofs.lift.domain import Value
from truehit.proofs.lift.unsupported import Unsupported
from truehit.proofs.lift.values import (
    Built,
    Concrete,
    Listed,
    Maybe,
    Member,
    Pending,
    Record,
    Unusable,
)
from truehit.proofs.terms import (
    Bool,
    all_of,
    any_of,
    choose_truth,
    negation,
    same_truth,
)


class Expressions(Attributes):
    """The layer that evaluates expressions."""

    def call(self, node: ast.Call) -> Value:
        """The value of a call; supplied by the layer above."""
        raise NotImplementedError

    def comprehension(self, node: ast.GeneratorExp | ast.ListComp) -> Listed:
        """The items of a comprehension; supplied by the layer above."""
        raise NotImplementedError

    def evaluate(self, node: ast.expr) -> Value:
        value = self._evaluated(node)
        if isinstance(value, Unusable):
            raise self.refuse(value.reason, node)
        return value

    def _evaluated(self, node: ast.expr) -> Value:
        match node:
            case ast.Constant(value=bool() | int() | None | str() as value):
                return value
            case ast.Name():
                return self.name(node)
            case ast.Attribute(value=target, attr=name):
                return self.attribute(self.evaluate(target), name, node)
            case ast.BinOp():
                return self._arithmetic(node)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return negation(self.truth(operand))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self._negated(operand, node)
            case ast.UnaryOp(op=ast.UAdd(), operand=operand):
                return self.number(operand)
            case ast.BoolOp():
                return self._connective(node, strict=True)
            case ast.Compare():
                return self._comparison(node)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self._choice(self.truth(test), body, orelse)
            case ast.Call():
                return self.call(node)
            case ast.Tuple(elts=items) | ast.List(elts=items):
                return tuple(self.evaluate(item) for item in items)
            case ast.Subscript(value=target, slice=index):
                return self._item(self.evaluate(target), self.evaluate(index), node)
            case ast.GeneratorExp() | ast.ListComp():
                return self.comprehension(node)
        raise self.refuse(f"expression {type(node).__name__}", node)

    def truth(self, node: ast.expr) -> Bool:
        """The expression in boolean context."""
        if isinstance(node, ast.BoolOp):
            return self._connective(node, strict=False)
        if isinstance(node, ast.IfExp):
            test = self.truth(node.test)
            if isinstance(test, bool):
                return self.truth(node.body if test else node.orelse)
            with self.under(test):
                then = self.truth(node.body)
            with self.under(negation(test)):
                otherwise = self.truth(node.orelse)
            return choose_truth(test, then, otherwise)
        return self.truth_of(self.evaluate(node), node)

    def truth_of(self, value: Value, node: ast.AST) -> Bool:
        """The truth of a value."""
        match value:
            case bool() | z3.BoolRef():
                return value
            case None:
                return False
            case Pending(path):
                return cast(Bool, self.settle(path, "bool", node))
            case Maybe(absent, inner):
                return all_of(negation(absent), self.truth_of(inner, node))
            case str() | tuple():
                return bool(value)
        if self.domain.holds(value):
            return negation(self._exactly(node, "equal", value, 0))
        raise self.refuse(f"the truth of a {type(value).__name__}", node)

    def number(self, node: ast.expr) -> Value:
        """The expression as an integer."""
        return self.number_of(self.evaluate(node), node)

    def number_of(self, value: Value, node: ast.AST) -> Value:
        """A value as an integer; an optional one must not be absent."""
        match value:
            case Pending(path):
                return self.settle(path, "int", node)
            case None:
                self.require("not None", False, node)
                return 0
            case Maybe(absent, inner):
                self.require("not None", negation(absent), node)
                return inner
            case Unusable(reason):
                raise self.refuse(reason, node)
        if self.domain.holds(value):
            return value
        raise self.refuse(f"arithmetic with a {_kind(value)}", node)

    def merge(self, condition: Bool, then: Value, otherwise: Value, node: ast.AST) -> Value:
        """`then` where condition, else `otherwise`; unusable where that is no one value."""
        if isinstance(condition, bool):
            return then if condition else otherwise
        if then is otherwise:
            return then
        then, otherwise = self._settled(then, otherwise, node), self._settled(otherwise, then, node)
        match then, otherwise:
            case (Unusable(), _):
                return then
            case (_, Unusable()):
                return otherwise
            case (bool() | z3.BoolRef(), bool() | z3.BoolRef()):
                return choose_truth(condition, then, otherwise)
            case (tuple(), tuple()) if len(then) == len(otherwise):
                pairs = zip(then, otherwise, strict=True)
                return tuple(self.merge(condition, one, other, node) for one, other in pairs)
            case (Built(), Built()) if then.definition.name == otherwise.definition.name:
                fields = zip(then.fields, otherwise.fields, strict=True)
                merged = [(n, self.merge(condition, a, b, node)) for (n, a), (_, b) in fields]
                return Built(then.definition, tuple(merged))
            case (Record() | Member() | str(), _) if then == otherwise:
                return then
            case (None | Maybe(), _) | (_, None | Maybe()):
                return self._optional(condition, then, otherwise, node)
        if self.domain.holds(then) and self.domain.holds(otherwise):
            try:
                return self.domain.merge(condition, then, otherwise)
            except Unsupported as refusal:
                return Unusable(refusal.reason)
        return Unusable(f"a {_kind(then)} on one path and a {_kind(otherwise)} on another")

    def _settled(self, value: Value, other: Value, node: ast.AST) -> Value:
        """A pending input takes the sort of what it is merged with."""
        if not isinstance(value, Pending) or isinstance(other, Unusable):
            return value
        if isinstance(other, bool | z3.BoolRef):
            return self.settle(value.path, "bool", node)
        if other is None or isinstance(other, Maybe):
            return self.settle(value.path, "int?", node)
        return self.settle(value.path, "int", node) if self.domain.holds(other) else value

    def _optional(self, condition: Bool, then: Value, otherwise: Value, node: ast.AST) -> Value:
        sides: list[Maybe] = []
        for side in (then, otherwise):
            if isinstance(side, Maybe):
                sides.append(side)
            elif side is None:
                sides.append(Maybe(True, None))
            elif self.domain.holds(side):
                sides.append(Maybe(False, side))
            else:
                return Unusable(f"None on one path and a {_kind(side)} on another")
        one, other = sides
        absent = choose_truth(condition, one.absent, other.absent)
        if one.value is None or other.value is None:
            return Maybe(absent, other.value if one.value is None else one.value)
        return Maybe(absent, self.merge(condition, one.value, other.value, node))

    def _choice(self, test: Bool, body: ast.expr, orelse: ast.expr) -> Value:
        if isinstance(test, bool):
            return self.evaluate(body if test else orelse)
        with self.under(test):
            then = self.evaluate(body)
        with self.under(negation(test)):
            otherwise = self.evaluate(orelse)
        return self.merge(test, then, otherwise, body)

    def _connective(self, node: ast.BoolOp, *, strict: bool) -> Bool:
        """`and` / `or`; in value context (`strict`) every operand has to be a truth value."""
        conjunction = isinstance(node.op, ast.And)
        found: list[Bool] = []
        reached: Bool = True
        for operand in node.values:
            with self.under(reached):
                truth = self._operand(operand) if strict else self.truth(operand)
            found.append(truth)
            reached = all_of(reached, truth if conjunction else negation(truth))
            if reached is False:
                break
        return all_of(*found) if conjunction else any_of(*found)

    def _operand(self, node: ast.expr) -> Bool:
        value = self.evaluate(node)
        if isinstance(value, Pending):
            value = self.settle(value.path, "bool", node)
        if not isinstance(value, bool | z3.BoolRef):
            raise self.refuse(f"and/or of a {_kind(value)} used as a value", node)
        return value

    def _arithmetic(self, node: ast.BinOp) -> Value:
        left, right = self.number(node.left), self.number(node.right)
        match node.op:
            case ast.Add():
                return self._exactly(node, "add", left, right)
            case ast.Sub():
                return self._exactly(node, "subtract", left, right)
            case ast.Mult():
                return self._exactly(node, "multiply", left, right)
            case ast.FloorDiv() | ast.Mod():
                zero = self._exactly(node, "equal", right, 0)
                self.require("divisor is not zero", negation(cast(Bool, zero)), node)
                operation = "divide" if isinstance(node.op, ast.FloorDiv) else "remainder"
                return self._exactly(node, operation, left, right)
        raise self.refuse(f"operator {type(node.op).__name__}", node)

    def _negated(self, operand: ast.expr, node: ast.expr) -> Value:
        value = self.number(operand)
        if isinstance(value, int):
            return -value
        if isinstance(value, z3.ArithRef):
            return -value
        return self._exactly(node, "subtract", 0, value)

    def _exactly(self, node: ast.AST, operation: str, left: Value, right: Value) -> Value:
        """A domain operation whose refusal names the place."""
        try:
            return cast(Value, getattr(self.domain, operation)(left, right))
        except Unsupported as refusal:
            raise self.refuse(refusal.reason, node) from None

    def _comparison(self, node: ast.Compare) -> Bool:
        left = self.evaluate(node.left)
        found: list[Bool] = []
        for operator, right_node in zip(node.ops, node.comparators, strict=True):
            with self.under(all_of(*found)):
                right = self.evaluate(right_node)
                found.append(self.compare(operator, left, right, node))
            if found[-1] is False:
                return False
            left = right
        return all_of(*found)

    def compare(self, operator: ast.cmpop, left: Value, right: Value, node: ast.AST) -> Bool:
        """One comparison of a chain."""
        match operator:
            case ast.Is() | ast.Eq():
                return self.equal(left, right, node)
            case ast.IsNot() | ast.NotEq():
                return negation(self.equal(left, right, node))
            case ast.In() | ast.NotIn() if isinstance(right, tuple):
                member = any_of(*(self.equal(left, item, node) for item in right))
                return member if isinstance(operator, ast.In) else negation(member)
        one, other = self.number_of(left, node), self.number_of(right, node)
        match operator:
            case ast.Lt():
                return cast(Bool, self._exactly(node, "less", one, other))
            case ast.Gt():
                return cast(Bool, self._exactly(node, "less", other, one))
            case ast.LtE():
                return negation(cast(Bool, self._exactly(node, "less", other, one)))
            case ast.GtE():
                return negation(cast(Bool, self._exactly(node, "less", one, other)))
        raise self.refuse(f"comparison {type(operator).__name__}", node)

    def equal(self, left: Value, right: Value, node: ast.AST) -> Bool:
        """Equality of two values of one kind; only an optional may be compared with None."""
        left, right = self._settled(left, right, node), self._settled(right, left, node)
        match left, right:
            case (None, None):
                return True
            case (Maybe(absent), None) | (None, Maybe(absent)):
                return absent
            case (Maybe(absent, value), other) | (other, Maybe(absent, value)):
                if self.domain.holds(other):
                    return all_of(negation(absent), self.equal(value, other, node))
                raise self.refuse("a comparison of optional values", node)
            case (None, other) | (other, None) if self.domain.holds(other):
                return False
            case (None, Concrete() | Member() | str()) | (Concrete() | Member() | str(), None):
                return False
            case (bool() | z3.BoolRef(), bool() | z3.BoolRef()):
                return same_truth(left, right)
            case (Member(), Member()) if left.enumeration == right.enumeration:
                return left.name == right.name
            case (str(), str()):
                return left == right
        if isinstance(left, Pending) and isinstance(right, Pending):
            left, right = self.number_of(left, node), self.number_of(right, node)
        if self.domain.holds(left) and self.domain.holds(right):
            return cast(Bool, self._exactly(node, "equal", left, right))
        raise self.refuse(f"a {_kind(left)} compared with a {_kind(right)}", node)

    def _item(self, target: Value, index: Value, node: ast.expr) -> Value:
        if isinstance(target, tuple) and type(index) is int and index in range(len(target)):
            return cast(Value, target[index])
        raise self.refuse("an index that is not a constant into a tuple", node)


def _kind(value: Value) -> str:
    if isinstance(value, bool | z3.BoolRef):
        return "truth value"
    return "None" if value is None else type(value).__name__
