"""Names and attributes: how `self.a.b` and `query.start` become inputs, properties or constants."""

import ast
import dataclasses
import enum

import z3

from truehit.proofs.lift.domain import Value
from truehit.proofs.lift.session import Frame, Session
from truehit.proofs.lift.tree import (
    ClassDefinition,
    ConstantDefinition,
    FunctionDefinition,
    Missing,
    Module,
    resolve,
)
from truehit.proofs.lift.values import (
    Built,
    Builtin,
    Concrete,
    Maybe,
    Member,
    Method,
    Pending,
    Record,
)

BUILTINS = frozenset(
    {"abs", "all", "any", "bool", "divmod", "int", "len", "max", "min", "range", "sum"}
)
ENUMERATIONS = frozenset({"Enum", "StrEnum", "IntEnum", "Flag"})


class Attributes(Session):
    """The layer that reads names, attributes and inputs."""

    def evaluate(self, node: ast.expr) -> Value:
        """The value of an expression; supplied by the layer above."""
        raise NotImplementedError

    def invoke(
        self, function: FunctionDefinition, positional: list[Value], node: ast.expr
    ) -> Value:
        """The result of a call; supplied by the layer above."""
        raise NotImplementedError

    def name(self, node: ast.Name) -> Value:
        """The value of a name: local, of the module, imported, or a builtin."""
        if node.id in self.frame.local:
            return self.frame.local[node.id]
        if node.id in self.frame.assigned:
            raise self.refuse(f"{node.id} is read before it is assigned", node)
        found = resolve(self.tree, self.frame.module, node.id)
        match found:
            case None if node.id in BUILTINS:
                return Builtin(node.id)
            case None:
                raise self.refuse(f"unknown name {node.id}", node)
            case Missing(reason):
                raise self.refuse(reason, node)
            case ConstantDefinition(module, value):
                return self.constant(module, value)
        return found

    def constant(self, module: Module, node: ast.expr) -> Value:
        """A module-level or class-level constant, or a default, evaluated where it stands."""
        self.note_constant(module, node)
        self.frames.append(Frame(module, "<constant>"))
        try:
            return self.evaluate(node)
        finally:
            self.frames.pop()

    def attribute(self, target: Value, name: str, node: ast.expr) -> Value:
        """The value of `target.name`."""
        match target:
            case Pending(path):
                self.settle(path, "record", node)
                return self.read(f"{path}.{name}", None, node)
            case Record(path, None):
                return self.read(f"{path}.{name}", None, node)
            case Record() | Built():
                return self._member(target, name, node)
            case Concrete(python):
                return self._concrete(python, name, node)
            case Module():
                found = resolve(self.tree, target, name)
                if isinstance(found, ConstantDefinition):
                    return self.constant(found.module, found.node)
                if found is None or isinstance(found, Missing):
                    raise self.refuse(f"{name} has no meaning in {target.dotted}", node)
                return found
            case ClassDefinition():
                return self._of_class(target, name, node)
        raise self.refuse(f"an attribute of a {type(target).__name__}", node)

    def read(self, path: str, annotation: ast.expr | None, node: ast.AST) -> Value:
        """The input of a path: bound, of its declared sort, or pending until its first use."""
        if path in self.bind:
            return self._bound(path, node)
        if path in self.inputs:
            return self.inputs[path]
        sort = self.sorts.get(path)
        if sort is None and annotation is not None:
            declared = self.sort(annotation)
            if isinstance(declared, ClassDefinition):
                return Record(path, declared)
            sort = declared
        return Pending(path) if sort in (None, "record") else self.settle(path, sort or "", node)

    def settle(self, path: str, sort: str, node: ast.AST) -> Value:
        """Fix the sort of an input and create it.

        Raises:
            Unsupported: an earlier use needs another sort.
        """
        known = self.sorts.setdefault(path, sort)
        if known != sort:
            raise self.refuse(f"{path} is used as {sort} and as {known}", node)
        if sort == "record":
            return Pending(path)
        if path not in self.inputs:
            match sort:
                case "int":
                    self.inputs[path] = self.domain.integer(path)
                case "bool":
                    self.inputs[path] = self.domain.boolean(path)
                case "int?":
                    absent = self.domain.boolean(f"{path}.is_none")
                    self.inputs[path] = Maybe(absent, self.domain.integer(path))
                case _:
                    raise self.refuse(f"an input of sort {sort}; bind {path}", node)
        return self.inputs[path]

    def sort(self, annotation: ast.expr) -> str | ClassDefinition | None:
        """The sort an annotation declares, or the data class it names; nothing if neither."""
        match annotation:
            case ast.Constant(value=str(text)):
                return self.sort(ast.parse(text, mode="eval").body)
            case ast.Name(id="int" | "bool" as plain):
                return plain
            case ast.BinOp(op=ast.BitOr(), left=left, right=ast.Constant(value=None)):
                return "int?" if self.sort(left) == "int" else None
            case ast.Subscript(value=ast.Name(id="Optional"), slice=inner):
                return "int?" if self.sort(inner) == "int" else None
            case ast.Name(id=name):
                found = resolve(self.tree, self.frame.module, name)
                if isinstance(found, ClassDefinition) and found.decorated("dataclass"):
                    return found
                if isinstance(found, ClassDefinition) and self.is_enumeration(found):
                    return found.name
                if isinstance(found, ConstantDefinition):
                    return self.sort(found.node)
        return None

    def lineage(self, definition: ClassDefinition) -> tuple[list[ClassDefinition], bool]:
        """The class and its bases inside the tree, and whether that is all of them."""
        found, complete = [definition], True
        for base in definition.node.bases:
            parent = (
                resolve(self.tree, definition.module, base.id)
                if isinstance(base, ast.Name)
                else None
            )
            if isinstance(parent, ClassDefinition):
                above, whole = self.lineage(parent)
                found += above
                complete = complete and whole
            elif not (isinstance(base, ast.Name) and base.id == "object"):
                complete = False
        return found, complete

    def is_enumeration(self, definition: ClassDefinition) -> bool:
        """Whether a class is an enumeration, by the name of a base."""
        return any(ast.unparse(b).split(".")[-1] in ENUMERATIONS for b in definition.node.bases)

    def wrap(self, value: object, node: ast.AST) -> Value:
        """A Python object as a value of the lifter."""
        match value:
            case enum.Enum():
                kind = type(value)
                return Member(f"{kind.__module__}.{kind.__qualname__}", value.name)
            case bool() | int() | None | str() | Maybe() | z3.BoolRef():
                return value
            case tuple():
                return tuple(self.wrap(item, node) for item in value)
        if self.domain.holds(value):
            return value
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return Concrete(value)
        raise self.refuse(f"a bound value of type {type(value).__name__}", node)

    def _bound(self, path: str, node: ast.AST) -> Value:
        value = self.wrap(self.bind[path], node)
        match value:
            case bool() | z3.BoolRef():
                self.sorts[path] = "bool"
            case None | Maybe():
                self.sorts[path] = "int?"
            case _ if self.domain.holds(value):
                self.sorts[path] = "int"
            case _:
                self.constants[path] = self.bind[path]
                return value
        self.inputs[path] = value
        return value

    def _concrete(self, python: object, name: str, node: ast.expr) -> Value:
        try:
            found = getattr(python, name)
        except AttributeError:
            raise self.refuse(f"{type(python).__name__} has no {name}", node) from None
        return self.wrap(found, node)

    def _of_class(self, definition: ClassDefinition, name: str, node: ast.expr) -> Value:
        constant = definition.constant(name)
        if constant is not None and self.is_enumeration(definition):
            return Member(definition.name, name)
        if constant is not None:
            return self.constant(definition.module, constant)
        method = definition.method(name)
        if method is not None and _decorators(method) == ["staticmethod"]:
            return method
        raise self.refuse(f"{name} of class {definition.name}", node)

    def _member(self, target: Record | Built, name: str, node: ast.expr) -> Value:
        if isinstance(target, Record) and f"{target.path}.{name}" in self.bind:
            return self._bound(f"{target.path}.{name}", node)
        if isinstance(target, Built):
            for field, value in target.fields:
                if field == name:
                    return value
        definition = target.definition
        assert definition is not None
        classes, complete = self.lineage(definition)
        for owner in classes:
            method = owner.method(name)
            if method is not None:
                return self._method(target, method, node)
            annotation = owner.annotation(name)
            if annotation is not None and isinstance(target, Record):
                self.frames.append(Frame(owner.module, "<field>"))
                try:
                    return self.read(f"{target.path}.{name}", annotation, node)
                finally:
                    self.frames.pop()
            constant = owner.constant(name)
            if constant is not None and owner.decorated("dataclass"):
                return self.constant(owner.module, constant)
        if isinstance(target, Built) or (definition.decorated("dataclass") and complete):
            raise self.refuse(f"{definition.name} has no {name}", node)
        return self.read(f"{target.path}.{name}", None, node)

    def _method(self, target: Value, method: FunctionDefinition, node: ast.expr) -> Value:
        match _decorators(method):
            case ["property"] | ["cached_property"]:
                return self.invoke(method, [target], node)
            case ["staticmethod"]:
                return method
            case []:
                return Method(target, method)
        raise self.refuse(f"decorators of {method.name}", node)


def _decorators(function: FunctionDefinition) -> list[str]:
    return [ast.unparse(node).split(".")[-1] for node in function.node.decorator_list]
