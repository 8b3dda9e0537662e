"""Source text and the names in it: what a name in a module *means*, followed through the imports.

Nothing here is imported or run. A name that is bound twice in its module, or that leads out of the
tree, has no meaning here and is refused where it is used.
"""

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

Function: TypeAlias = ast.FunctionDef


@dataclass(frozen=True, slots=True)
class SourceTree:
    """Python files by their path below the import root; the mapping may read lazily."""

    name: str
    files: Mapping[str, str]

    def module(self, dotted: str) -> "Module | None":
        """The module of a dotted name, if the tree has it."""
        base = dotted.replace(".", "/")
        for path, package in ((f"{base}.py", False), (f"{base}/__init__.py", True)):
            text = self.files.get(path)
            if text is not None:
                return Module(dotted, path, text, package)
        return None


@dataclass(frozen=True, slots=True)
class Module:
    """One file of a tree."""

    dotted: str
    path: str
    text: str
    package: bool

    def bindings(self, name: str) -> list[ast.stmt]:
        """The statements that bind `name` at module level."""
        return _bindings(self.text, self.path).get(name, [])

    def segment(self, node: ast.AST) -> str:
        """The source text of a node of this module."""
        return "\n".join(_segment(self.text, node))


@dataclass(frozen=True, slots=True)
class FunctionDefinition:
    module: Module
    node: Function
    owner: str = ""

    @property
    def name(self) -> str:
        """The dotted name, with module and class."""
        return ".".join(part for part in (self.module.dotted, self.owner, self.node.name) if part)


@dataclass(frozen=True, slots=True)
class ClassDefinition:
    module: Module
    node: ast.ClassDef

    @property
    def name(self) -> str:
        """The dotted name, with module."""
        return f"{self.module.dotted}.{self.node.name}"

    def decorated(self, name: str) -> bool:
        """Whether a decorator of that name, called or not, stands on the class."""
        return name in {_called_name(node) for node in self.node.decorator_list}

    def method(self, name: str) -> FunctionDefinition | None:
        """The method of that name in the class body itself."""
        found = [n for n in self.node.body if isinstance(n, ast.FunctionDef) and n.name == name]
        return (
            FunctionDefinition(self.module, found[0], self.node.name) if len(found) == 1 else None
        )

    def annotation(self, name: str) -> ast.expr | None:
        """The annotation of a field in the class body."""
        for node in self.node.body:
            match node:
                case ast.AnnAssign(target=ast.Name(id=found)) if found == name:
                    return node.annotation
        return None

    def constant(self, name: str) -> ast.expr | None:
        """The value of a plain assignment in the class body."""
        for node in self.node.body:
            if isinstance(node, ast.Assign) and len(node.targets) == 1:
                target = node.targets[0]
                if isinstance(target, ast.Name) and target.id == name:
                    return node.value
        return None


@dataclass(frozen=True, slots=True)
class ConstantDefinition:
    module: Module
    node: ast.expr


@dataclass(frozen=True, slots=True)
class Missing:
    """A name without one meaning in the tree, and why."""

    reason: str


Definition: TypeAlias = FunctionDefinition | ClassDefinition | ConstantDefinition | Module | Missing


def resolve(tree: SourceTree, module: Module, name: str, depth: int = 0) -> Definition | None:
    """What `name` means at the level of `module`; nothing if the module does not bind it."""
    bound = module.bindings(name)
    if not bound:
        return tree.module(f"{module.dotted}.{name}") if module.package else None
    if len(bound) > 1:
        return Missing(f"{name} is bound {len(bound)} times in {module.path}")
    if depth > 16:
        return Missing(f"the imports of {name} go in a circle")
    match bound[0]:
        case ast.FunctionDef() as node:
            return FunctionDefinition(module, node)
        case ast.ClassDef() as node:
            return ClassDefinition(module, node)
        case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value):
            return ConstantDefinition(module, value)
        case ast.Import() | ast.ImportFrom() as node:
            return imported(tree, module, node, name, depth)
    return Missing(f"{name} is bound by an unusual statement in {module.path}")


def imported(
    tree: SourceTree, module: Module, node: ast.Import | ast.ImportFrom, name: str, depth: int = 0
) -> Definition:
    """What an import statement of `module` binds to `name`."""
    alias = next(a for a in node.names if (a.asname or a.name.split(".")[0]) == name)
    if isinstance(node, ast.Import):
        dotted = alias.name if alias.asname else name
        return tree.module(dotted) or Missing(f"module {dotted} is not in {tree.name}")
    dotted = _absolute(module, node)
    source = tree.module(dotted)
    if source is None:
        return Missing(f"module {dotted} is not in {tree.name}")
    found = resolve(tree, source, alias.name, depth + 1)
    if found is None:
        found = tree.module(f"{dotted}.{alias.name}")
    return found or Missing(f"{alias.name} is not in {dotted}")


def locate(tree: SourceTree, qualified_name: str) -> FunctionDefinition | Missing:
    """The function or method of a dotted name such as `package.module.Class.method`."""
    parts = qualified_name.split(".")
    for cut in range(len(parts) - 1, 0, -1):
        module = tree.module(".".join(parts[:cut]))
        if module is None:
            continue
        found = resolve(tree, module, parts[cut])
        if isinstance(found, ClassDefinition) and len(parts) == cut + 2:
            method = found.method(parts[-1])
            return method or Missing(f"class {found.name} has no one method {parts[-1]}")
        if isinstance(found, FunctionDefinition) and len(parts) == cut + 1:
            return found
        return Missing(f"{qualified_name} is not a function of {module.path}")
    return Missing(f"no module of {qualified_name} is in {tree.name}")


def _absolute(module: Module, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    parts = module.dotted.split(".")
    kept = parts[: len(parts) - node.level + (1 if module.package else 0)]
    return ".".join([*kept, *([node.module] if node.module else [])])


def _called_name(node: ast.expr) -> str:
    target = node.func if isinstance(node, ast.Call) else node
    return target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", "")


def _segment(text: str, node: ast.AST) -> list[str]:
    first = min(
        [getattr(node, "lineno", 1)] + [d.lineno for d in getattr(node, "decorator_list", [])]
    )
    return text.splitlines()[first - 1 : getattr(node, "end_lineno", first)]


@lru_cache(maxsize=256)
def _bindings(text: str, path: str) -> dict[str, list[ast.stmt]]:
    found: dict[str, list[ast.stmt]] = {}
    tree = ast.parse(text, path)
    pending = list(reversed(tree.body))
    while pending:
        node = pending.pop()
        for name in _bound_names(node):
            found.setdefault(name, []).append(node)
        for body in ("finalbody", "orelse", "body"):
            if isinstance(node, ast.If | ast.Try | ast.With | ast.For | ast.While):
                pending.extend(reversed(getattr(node, body, [])))
        if isinstance(node, ast.Try):
            pending.extend(statement for handler in node.handlers for statement in handler.body)
    for inner in ast.walk(tree):
        if isinstance(inner, ast.Global):
            for name in inner.names:
                found.setdefault(name, []).append(inner)
    return found


def _bound_names(node: ast.stmt) -> list[str]:
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return [node.name]
        case ast.Import() | ast.ImportFrom():
            return [alias.asname or alias.name.split(".")[0] for alias in node.names]
        case ast.Assign():
            return [n.id for t in node.targets for n in ast.walk(t) if isinstance(n, ast.Name)]
        case ast.AnnAssign(target=ast.Name(id=name), value=value) if value is not None:
            return [name]
        case ast.AugAssign(target=ast.Name(id=name)) | ast.For(target=ast.Name(id=name)):
            return [name]
    return []
