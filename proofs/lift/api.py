"""Lift a function of ours by itself, or a function of any source tree by its name."""

import ast
import importlib.util
import inspect
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from truehit.proofs.lift.domain import Domain, Value
from truehit.proofs.lift.lifted import Lifted
from truehit.proofs.lift.session import Frame
from truehit.proofs.lift.statements import Statements
from truehit.proofs.lift.tree import (
    ClassDefinition,
    FunctionDefinition,
    Missing,
    SourceTree,
    locate,
    resolve,
)
from truehit.proofs.lift.unsupported import Unsupported
from truehit.proofs.lift.values import Pending, Record

NO_VALUES: Mapping[str, Value] = {}
NO_SORTS: Mapping[str, str] = {}


def lift_function(
    function: Callable[..., object], domain: Domain, bind: Mapping[str, Value] = NO_VALUES
) -> Lifted:
    """Lift a module-level function from its source file.

    `bind` gives an input an existing value: `{"query.start": value}`, a plain Python constant, or a
    data class instance for a whole parameter.

    Raises:
        Unsupported: the function leaves the liftable fragment; the message names the line.
    """
    if "." in function.__qualname__:
        raise Unsupported(f"{function.__qualname__} is not a module-level function")
    tree = importable_tree(function)
    return lift_source(tree, f"{function.__module__}.{function.__qualname__}", domain, bind)


def lift_source(
    tree: SourceTree,
    qualified_name: str,
    domain: Domain,
    bind: Mapping[str, Value] = NO_VALUES,
    sorts: Mapping[str, str] = NO_SORTS,
) -> Lifted:
    """Lift `package.module.function` or `package.module.Class.method` of a tree.

    Inputs that no annotation types take the sort of their first use; `sorts` fixes one beforehand
    ("int", "bool", "int?").

    Raises:
        Unsupported: as for `lift_function`, or there is no such function.
    """
    function = _located(tree, qualified_name)
    session = Statements(tree, domain, bind)
    session.sorts.update(sorts)
    session.frames.append(Frame(function.module, "<call>"))
    parameters = [*function.node.args.posonlyargs, *function.node.args.args]
    parameters += function.node.args.kwonlyargs
    given = {p.arg: _parameter(session, function, p) for p in parameters}
    result = session.apply(function, [], given, function.node)
    result = _settled(session, result, function)
    return _lifted(session, function, result, tuple(p.arg for p in parameters))


def lift_call(
    tree: SourceTree,
    qualified_name: str,
    callee: str,
    domain: Domain,
    bind: Mapping[str, Value] = NO_VALUES,
    sorts: Mapping[str, str] = NO_SORTS,
) -> Lifted:
    """Lift the one call of `callee` that stands in a function, with its arguments as written.

    The function around it may lie outside the fragment: only the call's own expression is lifted.
    Its free names are inputs, by name.

    Raises:
        Unsupported: no such call, several, or one that leaves the fragment.
    """
    function = _located(tree, qualified_name)
    call = call_in(function, callee)
    session = Statements(tree, domain, bind)
    session.sorts.update(sorts)
    frame = Frame(function.module, f"{function.name}:{callee}")
    session.frames.append(frame)
    parameters = {p.arg: p for p in [*function.node.args.args, *function.node.args.kwonlyargs]}
    names = free_names(function, call)
    for name in names:
        declared = parameters.get(name)
        frame.local[name] = (
            session.read(name, None, call)
            if declared is None
            else _parameter(session, function, declared)
        )
    session.note_constant(function.module, call)
    result = _settled(session, session.evaluate(call), function)
    return _lifted(session, function, result, tuple(names))


def call_in(function: FunctionDefinition, callee: str) -> ast.Call:
    """The one call of `callee` in a function.

    Raises:
        Unsupported: there is none, or more than one.
    """
    found = [
        node
        for node in ast.walk(function.node)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == callee
    ]
    if len(found) != 1:
        raise Unsupported(
            f"{len(found)} calls of {callee} in {function.name}, one is needed",
            function.module.path,
            function.node.lineno,
        )
    return found[0]


def free_names(function: FunctionDefinition, expression: ast.expr) -> list[str]:
    """The parameters and local variables of a function that an expression in it reads."""
    spec = function.node.args
    own = {p.arg for p in [*spec.posonlyargs, *spec.args, *spec.kwonlyargs]}
    for node in ast.walk(function.node):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            own.add(node.id)
    read = [n.id for n in ast.walk(expression) if isinstance(n, ast.Name)]
    return [name for name in dict.fromkeys(read) if name in own]


def importable_tree(function: Callable[..., object]) -> SourceTree:
    """The tree a function lives in: its own file, and its package's files by import path."""
    source = inspect.getsourcefile(function)
    if source is None:
        raise Unsupported(f"{function.__qualname__} has no source file")
    own = function.__module__
    text = Path(source).read_text(encoding="utf-8")
    return SourceTree(own, ImportableFiles(f"{own.replace('.', '/')}.py", text))


class ImportableFiles(Mapping[str, str]):
    """Source files of the running program by import path, and one file under a given path."""

    def __init__(self, path: str, text: str) -> None:
        self._own = {path: text}

    def __getitem__(self, path: str) -> str:
        if path in self._own:
            return self._own[path]
        root = path.split("/")[0]
        if root != "truehit" and not any(own.startswith(f"{root}/") for own in self._own):
            raise KeyError(path)
        dotted = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        try:
            spec = importlib.util.find_spec(dotted)
        except ModuleNotFoundError:
            raise KeyError(path) from None
        if spec is None or spec.origin is None or not spec.origin.endswith(path.split("/")[-1]):
            raise KeyError(path)
        return Path(spec.origin).read_text(encoding="utf-8")

    def __iter__(self) -> Iterator[str]:
        return iter(self._own)

    def __len__(self) -> int:
        return len(self._own)


def _located(tree: SourceTree, qualified_name: str) -> FunctionDefinition:
    function = locate(tree, qualified_name)
    if isinstance(function, Missing):
        raise Unsupported(function.reason)
    return function


def _parameter(session: Statements, function: FunctionDefinition, parameter: ast.arg) -> Value:
    name = parameter.arg
    if name == "self" and function.owner:
        owner = resolve(session.tree, function.module, function.owner)
        assert isinstance(owner, ClassDefinition)
        return Record(name, owner)
    return session.read(name, parameter.annotation, parameter)


def _settled(session: Statements, result: Value, function: FunctionDefinition) -> Value:
    """An input handed through as the result takes the sort the return annotation declares."""
    if not isinstance(result, Pending):
        return result
    annotation = function.node.returns
    sort = session.sort(annotation) if annotation is not None else None
    if not isinstance(sort, str):
        raise session.refuse("a result of unknown sort", function.node)
    return session.settle(result.path, sort, function.node)


def _lifted(
    session: Statements, function: FunctionDefinition, result: Value, parameters: tuple[str, ...]
) -> Lifted:
    return Lifted(
        name=function.name,
        domain=session.domain,
        inputs=session.inputs,
        sorts={path: session.sorts[path] for path in session.inputs},
        constants=session.constants,
        result=result,
        defined=session.defined,
        provenance=session.provenance(),
        parameters=parameters,
    )
