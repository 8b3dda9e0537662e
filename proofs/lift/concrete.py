"""The same source text, run by CPython: what a solver's answer is replayed on.

Only the named function and what it reaches inside its tree is compiled, without annotations and
without importing anything. Objects are plain ones carrying the attributes the caller gives.
"""

import ast
import dataclasses
import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import CodeType, SimpleNamespace
from typing import cast

from truehit.proofs.lift.tree import (
    ClassDefinition,
    ConstantDefinition,
    FunctionDefinition,
    Missing,
    Module,
    SourceTree,
    locate,
    resolve,
)
from truehit.proofs.lift.unsupported import Unsupported

Inputs = Mapping[str, object]
"""Values by dotted path: `self.cache_config.block_size`, `request.num_tokens`, `num_new_tokens`."""


GIVEN: Mapping[str, object] = {
    "dataclass": dataclasses.dataclass,
    "dataclasses": dataclasses,
    "enum": enum,
    "Enum": enum.Enum,
    "IntEnum": enum.IntEnum,
    "StrEnum": enum.StrEnum,
    "auto": enum.auto,
}


@dataclass(frozen=True, slots=True)
class Extracted:
    """A function cut out of its tree, with the methods it calls on `self`.

    `attributes` are the names of all attributes that it, or what it reaches, mentions.
    """

    name: str
    function: Callable[..., object]
    parameters: tuple[str, ...]
    methods: Mapping[str, object]
    attributes: frozenset[str]

    def run(self, inputs: Inputs) -> object:
        """Call the function on objects that carry the inputs; raises what the function raises."""
        subject = type("Subject", (), dict(self.methods))
        roots = nested(inputs, lambda path: subject() if path == "self" else SimpleNamespace())
        if "self" in self.parameters:
            roots.setdefault("self", subject())
        return self.function(**{name: roots[name] for name in self.parameters if name in roots})


def nested(inputs: Inputs, make: Callable[[str], object]) -> dict[str, object]:
    """Dotted paths as objects with attributes; `make` creates the object of a path."""
    roots: dict[str, object] = {}
    made: dict[str, object] = {}
    for path, value in inputs.items():
        *owners, last = path.split(".")
        if not owners:
            roots[last] = value
            continue
        holder = made.setdefault(owners[0], roots.setdefault(owners[0], make(owners[0])))
        for depth in range(1, len(owners)):
            here = ".".join(owners[: depth + 1])
            if here not in made:
                made[here] = make(here)
                object.__setattr__(holder, owners[depth], made[here])
            holder = made[here]
        object.__setattr__(holder, last, value)
    return roots


def extract(tree: SourceTree, qualified_name: str) -> Extracted:
    """Cut a function or method out of a tree, ready to run.

    Raises:
        Unsupported: there is no such function.
    """
    function = locate(tree, qualified_name)
    if isinstance(function, Missing):
        raise Unsupported(function.reason)
    extractor = _Extractor(tree)
    compiled = extractor.function(function)
    spec = function.node.args
    parameters = tuple(p.arg for p in [*spec.posonlyargs, *spec.args, *spec.kwonlyargs])
    attributes = frozenset(extractor.attributes)
    return Extracted(function.name, compiled, parameters, extractor.methods, attributes)


def extract_expression(
    tree: SourceTree, function: FunctionDefinition, expression: ast.expr, names: tuple[str, ...]
) -> Extracted:
    """An expression of a function as a function of the named variables."""
    text = f"def expression({', '.join(names)}):\n    return {ast.unparse(expression)}\n"
    node = ast.parse(text).body[0]
    assert isinstance(node, ast.FunctionDef)
    extractor = _Extractor(tree)
    wrapped = FunctionDefinition(function.module, node, function.owner)
    compiled = extractor.function(wrapped)
    attributes = frozenset(extractor.attributes)
    return Extracted(function.name, compiled, names, extractor.methods, attributes)


class _Extractor:
    """Follows the names of a function through its tree and compiles what it finds."""

    def __init__(self, tree: SourceTree) -> None:
        self._tree = tree
        self._namespaces: dict[str, dict[str, object]] = {}
        self._compiled: dict[tuple[str, int, str], Callable[..., object]] = {}
        self.methods: dict[str, object] = {}
        self.attributes: set[str] = set()

    def function(self, definition: FunctionDefinition) -> Callable[..., object]:
        """The compiled function, its names bound in its own module's namespace."""
        node, module = definition.node, definition.module
        key = (module.path, node.lineno, node.name)
        if key not in self._compiled:
            namespace = self._namespace(module)
            scratch: dict[str, object] = {}
            bare = _bare(node)
            exec(_code(bare, module.path), namespace, scratch)
            found = scratch[node.name]
            self._compiled[key] = cast(Callable[..., object], found)
            self._bind_names(bare, module)
            self.attributes |= {n.attr for n in ast.walk(bare) if isinstance(n, ast.Attribute)}
            if definition.owner:
                self._bind_methods(definition)
        return self._compiled[key]

    def _bind_names(self, node: ast.AST, module: Module) -> None:
        namespace = self._namespace(module)
        for inner in ast.walk(node):
            if isinstance(inner, ast.Name) and inner.id not in namespace:
                found = resolve(self._tree, module, inner.id)
                value = self._object(found)
                if value is not None:
                    namespace[inner.id] = value[0]

    def _object(self, found: object) -> tuple[object] | None:
        match found:
            case FunctionDefinition():
                return (self.function(found),)
            case ConstantDefinition(module, expression):
                self._bind_names(expression, module)
                text = compile(ast.Expression(expression), module.path, "eval")
                return (eval(text, self._namespace(module)),)
            case ClassDefinition(module, node):
                namespace = self._namespace(module)
                if node.name not in namespace:
                    self._bind_names(node, module)
                    scratch: dict[str, object] = {}
                    try:
                        exec(_code(node, module.path), namespace, scratch)
                    except NameError:
                        # A class that needs more than this tree stays unknown: its use will raise.
                        return None
                    namespace[node.name] = scratch[node.name]
                return (namespace[node.name],)
            case Module():
                return (SimpleNamespace(**self._whole(found)),)
        return None

    def _whole(self, module: Module) -> dict[str, object]:
        found: dict[str, object] = {}
        for node in ast.parse(module.text).body:
            if isinstance(node, ast.FunctionDef):
                found[node.name] = self.function(FunctionDefinition(module, node))
        return found

    def _bind_methods(self, definition: FunctionDefinition) -> None:
        owner = resolve(self._tree, definition.module, definition.owner)
        if not isinstance(owner, ClassDefinition):
            return
        for inner in ast.walk(definition.node):
            if isinstance(inner, ast.Attribute) and isinstance(inner.value, ast.Name):
                method = self._inherited(owner, inner.attr) if inner.value.id == "self" else None
                if method is not None and inner.attr not in self.methods:
                    self.methods[inner.attr] = self._decorated(method)

    def _inherited(self, owner: ClassDefinition, name: str) -> FunctionDefinition | None:
        method = owner.method(name)
        if method is not None:
            return method
        for base in owner.node.bases:
            parent = (
                resolve(self._tree, owner.module, base.id) if isinstance(base, ast.Name) else None
            )
            found = self._inherited(parent, name) if isinstance(parent, ClassDefinition) else None
            if found is not None:
                return found
        return None

    def _decorated(self, method: FunctionDefinition) -> object:
        kinds = [ast.unparse(d).split(".")[-1] for d in method.node.decorator_list]
        compiled = self.function(method)
        if kinds in (["property"], ["cached_property"]):
            return property(compiled)
        return staticmethod(compiled) if kinds == ["staticmethod"] else compiled

    def _namespace(self, module: Module) -> dict[str, object]:
        return self._namespaces.setdefault(module.path, {"__name__": module.dotted, **GIVEN})


class _Bare(ast.NodeTransformer):
    """Drops annotations and decorators, whose names need not exist here."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.generic_visit(node)
        node.returns = None
        node.decorator_list = []
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | None:
        self.generic_visit(node)
        if node.value is None:
            return None
        return ast.copy_location(ast.Assign([node.target], node.value), node)


def _bare(node: ast.FunctionDef) -> ast.FunctionDef:
    copied = ast.parse(ast.unparse(node)).body[0]
    ast.increment_lineno(copied, node.lineno - 1)
    bare = _Bare().visit(copied)
    assert isinstance(bare, ast.FunctionDef)
    return bare


def _code(node: ast.stmt, path: str) -> CodeType:
    tree = ast.fix_missing_locations(ast.Module([node], []))
    return compile(tree, path, "exec")
