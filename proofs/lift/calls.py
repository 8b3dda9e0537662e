"""Calls: the builtins of the fragment, functions and methods lifted along, records built."""

import ast
from typing import cast

import z3

from truehit.proofs.lift.domain import Value
from truehit.proofs.lift.expressions import Expressions
from truehit.proofs.lift.session import Frame
from truehit.proofs.lift.tree import ClassDefinition, FunctionDefinition
from truehit.proofs.lift.values import Built, Builtin, Listed, Method, Pending
from truehit.proofs.terms import Bool, all_of, any_of, implies, negation

LONGEST_RANGE = 64
TRANSPARENT = frozenset({"property", "staticmethod", "cached_property"})


class Calls(Expressions):
    """The layer that follows calls."""

    def body(self, function: FunctionDefinition) -> Value:
        """Run a function's body in the innermost frame; supplied by the layer above."""
        raise NotImplementedError

    def call(self, node: ast.Call) -> Value:
        target = self.evaluate(node.func)
        if any(isinstance(a, ast.Starred) for a in node.args) or None in {
            keyword.arg for keyword in node.keywords
        }:
            raise self.refuse("a call with unpacked arguments", node)
        positional = [self.evaluate(argument) for argument in node.args]
        named = {str(keyword.arg): self.evaluate(keyword.value) for keyword in node.keywords}
        match target:
            case Builtin(name):
                return self._builtin(name, positional, named, node)
            case FunctionDefinition():
                return self.apply(target, positional, named, node)
            case Method(bound, function):
                return self.apply(function, [bound, *positional], named, node)
            case ClassDefinition():
                return self._build(target, positional, named, node)
            case Pending(path):
                raise self.refuse(f"a call of {path}, whose source is not in the tree", node)
        raise self.refuse(f"a call of a {type(target).__name__}", node)

    def invoke(
        self, function: FunctionDefinition, positional: list[Value], node: ast.expr
    ) -> Value:
        return self.apply(function, positional, {}, node)

    def apply(
        self,
        function: FunctionDefinition,
        positional: list[Value],
        named: dict[str, Value],
        node: ast.AST,
    ) -> Value:
        """The result of a function of the tree, lifted along."""
        decorators = {ast.unparse(d).split(".")[-1] for d in function.node.decorator_list}
        if not decorators <= TRANSPARENT:
            raise self.refuse(f"decorators of {function.name}", node)
        self.enter(function, node)
        local = self._arguments(function, positional, named, node)
        self.frames.append(Frame(function.module, function.name, local))
        try:
            return self.body(function)
        finally:
            self.frames.pop()

    def comprehension(self, node: ast.GeneratorExp | ast.ListComp) -> Listed:
        clause = node.generators[0]
        if len(node.generators) > 1 or clause.is_async or not isinstance(clause.target, ast.Name):
            raise self.refuse("a comprehension of more than one plain loop", node)
        name = clause.target.id
        shadowed = dict(self.frame.local)
        found: list[tuple[Bool, object]] = []
        for given, item in self.items(self.evaluate(clause.iter), node):
            self.frame.local[name] = item
            kept = given
            for test in clause.ifs:
                with self.under(kept):
                    kept = all_of(kept, self.truth(test))
            if kept is not False:
                with self.under(kept):
                    found.append((kept, self.evaluate(node.elt)))
        self.frame.local = shadowed
        return Listed(tuple(found))

    def items(self, value: Value, node: ast.AST) -> list[tuple[Bool, Value]]:
        """The items of a tuple, a concrete range or a comprehension, each with its condition."""
        match value:
            case Listed(items):
                return list(items)
            case tuple():
                return [(True, item) for item in value]
            case range():
                return [(True, number) for number in value]
        raise self.refuse(f"a loop over a {type(value).__name__}", node)

    def _arguments(
        self,
        function: FunctionDefinition,
        positional: list[Value],
        named: dict[str, Value],
        node: ast.AST,
    ) -> dict[str, Value]:
        spec = function.node.args
        if spec.vararg or spec.kwarg:
            raise self.refuse(f"{function.name} takes a variable number of arguments", node)
        parameters = [*spec.posonlyargs, *spec.args]
        if len(positional) > len(parameters):
            raise self.refuse(f"too many arguments for {function.name}", node)
        given = dict(zip((p.arg for p in parameters), positional, strict=False))
        if set(given) & set(named):
            raise self.refuse(f"an argument of {function.name} is given twice", node)
        given |= named
        defaults: dict[str, ast.expr] = {}
        if spec.defaults:
            tail = parameters[-len(spec.defaults) :]
            defaults = {p.arg: d for p, d in zip(tail, spec.defaults, strict=True)}
        defaults |= {
            p.arg: d
            for p, d in zip(spec.kwonlyargs, spec.kw_defaults, strict=True)
            if d is not None
        }
        local: dict[str, Value] = {}
        for parameter in [*parameters, *spec.kwonlyargs]:
            name = parameter.arg
            if name in given:
                local[name] = self._declared(given.pop(name), parameter, function, node)
            elif name in defaults:
                local[name] = self.constant(function.module, defaults[name])
            else:
                raise self.refuse(f"argument {name} of {function.name} is missing", node)
        if given:
            raise self.refuse(f"{function.name} has no parameter {next(iter(given))}", node)
        return local

    def _declared(
        self, value: Value, parameter: ast.arg, function: FunctionDefinition, node: ast.AST
    ) -> Value:
        """A pending input takes the sort its parameter declares."""
        if not isinstance(value, Pending) or parameter.annotation is None:
            return value
        self.frames.append(Frame(function.module, function.name))
        try:
            sort = self.sort(parameter.annotation)
        finally:
            self.frames.pop()
        return self.settle(value.path, sort, node) if sort in {"int", "bool", "int?"} else value

    def _build(
        self,
        definition: ClassDefinition,
        positional: list[Value],
        named: dict[str, Value],
        node: ast.Call,
    ) -> Value:
        classes, complete = self.lineage(definition)
        plain = definition.decorated("dataclass") and len(classes) == 1 and complete
        if not plain or definition.method("__post_init__") or definition.method("__init__"):
            raise self.refuse(f"an instance of {definition.name}", node)
        fields = [
            (n.target.id, n.value)
            for n in definition.node.body
            if isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name)
        ]
        given = dict(zip((name for name, _ in fields), positional, strict=False)) | named
        built: list[tuple[str, object]] = []
        for name, default in fields:
            if name in given:
                built.append((name, given.pop(name)))
            elif default is not None:
                built.append((name, self.constant(definition.module, default)))
            else:
                raise self.refuse(f"field {name} of {definition.name} is missing", node)
        if given:
            raise self.refuse(f"{definition.name} has no field {next(iter(given))}", node)
        return Built(definition, tuple(built))

    def _builtin(
        self, name: str, positional: list[Value], named: dict[str, Value], node: ast.Call
    ) -> Value:
        match name, positional:
            case ("min" | "max", _) if set(named) <= {"default"}:
                return self._extreme(name, positional, named, node)
            case (_, _) if named:
                raise self.refuse(f"{name} with named arguments", node)
            case ("int", [value]):
                return self._as_integer(value, node)
            case ("bool", [value]):
                return self.truth_of(value, node)
            case ("abs", [value]):
                number = self.number_of(value, node)
                negative = cast(Bool, self._exactly(node, "less", number, 0))
                return self.merge(
                    negative, self._exactly(node, "subtract", 0, number), number, node
                )
            case ("divmod", [_, _]):
                return tuple(
                    self.evaluate(
                        ast.copy_location(ast.BinOp(node.args[0], op, node.args[1]), node)
                    )
                    for op in (ast.FloorDiv(), ast.Mod())
                )
            case ("len", [tuple() as items]):
                return len(items)
            case ("range", [*bounds]) if bounds and all(type(bound) is int for bound in bounds):
                found = range(*cast(list[int], bounds))
                if len(found) > LONGEST_RANGE:
                    raise self.refuse(f"a loop of {len(found)}, {LONGEST_RANGE} is the most", node)
                return found
            case ("all", [items]):
                listed = self.items(items, node)
                return all_of(*(implies(g, self.truth_of(v, node)) for g, v in listed))
            case ("any", [items]):
                listed = self.items(items, node)
                return any_of(*(all_of(g, self.truth_of(v, node)) for g, v in listed))
            case ("sum", [items]):
                total: Value = 0
                for given, value in self.items(items, node):
                    number = self._as_integer(value, node)
                    more = self._exactly(node, "add", total, number)
                    total = self.merge(given, more, total, node)
                return total
        raise self.refuse(f"{name} of these arguments", node)

    def _as_integer(self, value: Value, node: ast.AST) -> Value:
        if isinstance(value, bool | z3.BoolRef):
            return self.merge(value, 1, 0, node)
        return self.number_of(value, node)

    def _extreme(
        self, name: str, positional: list[Value], named: dict[str, Value], node: ast.Call
    ) -> Value:
        if len(positional) == 1:
            candidates = self.items(positional[0], node)
        else:
            candidates = [(True, value) for value in positional]
        found: Bool = False
        best: Value = None
        for given, value in candidates:
            with self.under(given):
                number = self.number_of(value, node)
            if best is None:
                best, found = number, given
                continue
            pair = (number, best) if name == "min" else (best, number)
            better = cast(Bool, self._exactly(node, "less", *pair))
            best = self.merge(all_of(given, any_of(negation(found), better)), number, best, node)
            found = any_of(found, given)
        if "default" in named:
            default = self.number_of(named["default"], node)
            return self.merge(found, best, default, node) if best is not None else default
        self.require(f"{name} of at least one item", found, node)
        return 0 if best is None else best
