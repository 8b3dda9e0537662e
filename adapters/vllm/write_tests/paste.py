"""Modules and functions of ours as text to paste: imports on one heap, bodies in turn."""

import ast
import inspect
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from truehit.adapters.vllm.inside import harness
from truehit.adapters.vllm.inside.driver.repairs import REPAIRS, STATE_GRID
from truehit.adapters.vllm.write_tests.finding import UnwritableError

HARNESS = ("engine", "releases", "seen", "worker", "run")


@dataclass(frozen=True, slots=True)
class Pasted:
    """`imports` as blocks of lines, the standard library first; `body` without them."""

    imports: str
    body: str


def pasted_harness() -> Pasted:
    """The modules of the harness as one text."""
    folder = Path(harness.__file__).parent
    sources = [(folder / f"{name}.py").read_text(encoding="utf-8") for name in HARNESS]
    bodies = [_section(source) for source in sources]
    return Pasted(_imports(ast.parse(source) for source in sources), "\n\n\n".join(bodies))


def repair_source(name: str) -> tuple[str, str]:
    """The name of a repair's function, and its source.

    Raises:
        UnwritableError: it is no function that can be pasted.
    """
    function: Callable[[Any, int], None] | None = REPAIRS.get(name)
    if function is None:
        raise UnwritableError(f"{name}: no repair of this name can be pasted")
    return function.__name__, inspect.getsource(function).strip()


def pasted_repairs(names: Iterable[str]) -> list[tuple[str, str]]:
    """Those repairs that are functions; the others are numbers of the configuration."""
    return [repair_source(name) for name in sorted(names) if name != STATE_GRID]


def _section(source: str) -> str:
    """A module under its own first line, without its docstring and imports."""
    tree = ast.parse(source)
    last = max(
        node.end_lineno or 0 for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)
    )
    title = (ast.get_docstring(tree) or "").splitlines()[0]
    body = "\n".join(source.splitlines()[last:]).strip()
    gap = "\n\n\n" if body.startswith(("@", "def", "class")) else "\n"
    return f"# {title}{gap}{body}"


def _imports(trees: Iterable[ast.Module]) -> str:
    """Absolute imports of all modules, once each, in the order that linters like."""
    plain: set[str] = set()
    aliased: set[tuple[str, str]] = set()
    names: dict[str, set[str]] = defaultdict(set)
    for tree in trees:
        for node in tree.body:
            match node:
                case ast.Import(names=found):
                    plain |= {one.name for one in found}
                case ast.ImportFrom(module=str(module), names=found, level=0):
                    names[module] |= {one.name for one in found if one.asname is None}
                    aliased |= {(module, _alias(one)) for one in found if one.asname}
    lines = [(name, f"import {name}") for name in sorted(plain)]
    named = [(module, f"from {module} import {alias}") for module, alias in aliased]
    named += [(m, f"from {m} import {', '.join(sorted(n))}") for m, n in names.items() if n]
    lines += sorted(named, key=lambda pair: (pair[0], " as " not in pair[1], pair[1]))
    ours = [line for name, line in lines if name.split(".")[0] in sys.stdlib_module_names]
    theirs = [line for name, line in lines if name.split(".")[0] not in sys.stdlib_module_names]
    return "\n".join(ours) + "\n\n" + "\n".join(theirs)


def _alias(one: ast.alias) -> str:
    return f"{one.name} as {one.asname}"
