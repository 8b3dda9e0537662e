"""Statements: both sides of every branch are lifted and their variables merged."""

import ast

from truehit.proofs.lift.calls import Calls
from truehit.proofs.lift.domain import Value
from truehit.proofs.lift.tree import FunctionDefinition, Missing, imported
from truehit.proofs.lift.values import Concrete, Unusable
from truehit.proofs.terms import Bool, all_of, choose_truth, negation


class Statements(Calls):
    """The complete lifter."""

    def body(self, function: FunctionDefinition) -> Value:
        frame = self.frame
        frame.entry = self.depth
        frame.assigned = frozenset(
            inner.id
            for inner in ast.walk(function.node)
            if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store)
        )
        falls = self._run(function.node.body)
        if falls is not False:
            frame.returns.append((falls, None))
        if not frame.returns:
            # Every path raises; the definedness recorded on the way says so.
            return None
        result = frame.returns[-1][1]
        for condition, value in reversed(frame.returns[:-1]):
            result = self.merge(condition, value, result, function.node)
        if isinstance(result, Unusable):
            raise self.refuse(result.reason, function.node)
        return result

    def _run(self, statements: list[ast.stmt]) -> Bool:
        """Lift statements in order; the condition under which their end is reached."""
        path: Bool = True
        for statement in statements:
            if path is False:
                break
            with self.under(path):
                step = self._statement(statement)
            path = all_of(path, step)
        return path

    def _statement(self, node: ast.stmt) -> Bool:
        match node:
            case ast.Expr(value=ast.Constant()) | ast.Pass():
                return True
            case ast.Assign(targets=[target], value=value):
                self._assign(target, self._evaluated(value), node)
                return True
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._assign(target, self._evaluated(value), node)
                return True
            case ast.AugAssign(target=ast.Name(id=name) as target, op=op, value=value):
                read = ast.copy_location(ast.Name(id=name, ctx=ast.Load()), node)
                operation = ast.copy_location(ast.BinOp(read, op, value), node)
                self._assign(target, self.evaluate(operation), node)
                return True
            case ast.If():
                return self._branch(self.truth(node.test), node.body, node.orelse, node)
            case ast.Match():
                return self._match(self.evaluate(node.subject), node.cases, node)
            case ast.Return(value=value):
                result = None if value is None else self.evaluate(value)
                self.frame.returns.append((self.path, result))
                return False
            case ast.Assert(test=test):
                holds = self.truth(test)
                self.require("assertion", holds, node)
                return holds
            case ast.Raise():
                self.require("does not raise", False, node)
                return False
            case ast.For(orelse=[]):
                return self._loop(node)
            case ast.Import() | ast.ImportFrom():
                return self._import(node)
        raise self.refuse(f"statement {type(node).__name__}", node)

    def _assign(self, target: ast.expr, value: Value, node: ast.stmt) -> None:
        match target:
            case ast.Name(id=name):
                self.frame.local[name] = value
            case ast.Tuple(elts=parts) if isinstance(value, tuple) and len(parts) == len(value):
                for part, item in zip(parts, value, strict=True):
                    self._assign(part, item, node)
            case _:
                raise self.refuse(f"assignment to {type(target).__name__}", node)

    def _branch(
        self, test: Bool, body: list[ast.stmt], orelse: list[ast.stmt], node: ast.stmt
    ) -> Bool:
        if isinstance(test, bool):
            return self._run(body if test else orelse)
        before = self.frame.local
        self.frame.local = dict(before)
        with self.under(test):
            then_falls = self._run(body)
        then = self.frame.local
        self.frame.local = dict(before)
        with self.under(negation(test)):
            else_falls = self._run(orelse)
        if else_falls is False:
            self.frame.local = then
        elif then_falls is not False:
            self.frame.local = self._merged(test, then, self.frame.local, node)
        return choose_truth(test, then_falls, else_falls)

    def _merged(
        self, test: Bool, then: dict[str, Value], other: dict[str, Value], node: ast.stmt
    ) -> dict[str, Value]:
        merged: dict[str, Value] = {}
        for name in then | other:
            if name in then and name in other:
                merged[name] = self.merge(test, then[name], other[name], node)
            else:
                merged[name] = Unusable(f"{name} is assigned on one path only")
        return merged

    def _loop(self, node: ast.For) -> Bool:
        for inner in ast.walk(node):
            if isinstance(inner, ast.Break | ast.Continue):
                raise self.refuse("break or continue", inner)
        path: Bool = True
        for given, item in self.items(self.evaluate(node.iter), node):
            if given is not True:
                raise self.refuse("a loop over a filtered sequence", node)
            if path is False:
                break
            with self.under(path):
                self._assign(node.target, item, node)
                step = self._run(node.body)
            path = all_of(path, step)
        return path

    def _match(self, subject: Value, cases: list[ast.match_case], node: ast.Match) -> Bool:
        if not cases:
            return True
        first, rest = cases[0], cases[1:]
        if first.guard is not None:
            raise self.refuse("a case with a guard", node)
        test = self._fits(subject, first.pattern, node)
        if test is True:
            return self._run(first.body)
        if test is False:
            return self._match(subject, rest, node)
        before = self.frame.local
        self.frame.local = dict(before)
        with self.under(test):
            then_falls = self._run(first.body)
        then = self.frame.local
        self.frame.local = dict(before)
        with self.under(negation(test)):
            else_falls = self._match(subject, rest, node)
        if else_falls is False:
            self.frame.local = then
        elif then_falls is not False:
            self.frame.local = self._merged(test, then, self.frame.local, node)
        return choose_truth(test, then_falls, else_falls)

    def _fits(self, subject: Value, pattern: ast.pattern, node: ast.Match) -> Bool:
        match pattern:
            case ast.MatchAs(pattern=None, name=None):
                return True
            case ast.MatchValue(value=value):
                return self.equal(subject, self.evaluate(value), node)
            case ast.MatchSingleton(value=value):
                return self.equal(subject, value, node)
            case ast.MatchOr(patterns=patterns):
                found: Bool = False
                for option in patterns:
                    found = choose_truth(found, True, self._fits(subject, option, node))
                return found
            case ast.MatchClass(patterns=[]) if isinstance(subject, Concrete):
                return self._fits_class(subject, pattern, node)
        raise self.refuse(f"pattern {type(pattern).__name__}", node)

    def _fits_class(self, subject: Concrete, pattern: ast.MatchClass, node: ast.Match) -> Bool:
        definition = self.evaluate(pattern.cls)
        kind = type(subject.target)
        if getattr(definition, "name", "") != f"{kind.__module__}.{kind.__qualname__}":
            return False
        for name, inner in zip(pattern.kwd_attrs, pattern.kwd_patterns, strict=True):
            if not isinstance(inner, ast.MatchAs) or inner.name is None or inner.pattern:
                raise self.refuse("a class pattern that does more than capture", node)
            self.frame.local[inner.name] = self.attribute(subject, name, pattern.cls)
        return True

    def _import(self, node: ast.Import | ast.ImportFrom) -> Bool:
        for alias in node.names:
            name = alias.asname or alias.name.split(".")[0]
            found = imported(self.tree, self.frame.module, node, name)
            if isinstance(found, Missing):
                self.frame.local[name] = Unusable(found.reason)
            else:
                self.frame.local[name] = found
        return True
