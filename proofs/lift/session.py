"""The state of one lifting: the path condition, what must be defined, and what was lifted."""

import ast
import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from truehit.proofs.lift.domain import Domain, Value
from truehit.proofs.lift.lifted import Definedness, Place, Provenance
from truehit.proofs.lift.tree import FunctionDefinition, Module, SourceTree
from truehit.proofs.lift.unsupported import Unsupported
from truehit.proofs.terms import Bool, all_of, formula, implies

MOST_CALLS = 400
DEEPEST_CALL = 24


@dataclass(slots=True)
class Frame:
    """One activation: the module its names live in, its variables, and what it returned so far."""

    module: Module
    function: str
    local: dict[str, Value] = field(default_factory=dict)
    assigned: frozenset[str] = frozenset()
    entry: int = 0
    returns: list[tuple[Bool, Value]] = field(default_factory=list)


class Session:
    """Path condition, definedness and provenance, shared by all layers of the lifter."""

    def __init__(self, tree: SourceTree, domain: Domain, bind: Mapping[str, Value]) -> None:
        self.tree = tree
        self.domain = domain
        self.bind = dict(bind)
        self.inputs: dict[str, Value] = {}
        self.sorts: dict[str, str] = {}
        self.constants: dict[str, object] = {}
        self.defined: list[Definedness] = []
        self.frames: list[Frame] = []
        self._guards: list[Bool] = []
        self._lifted: dict[tuple[str, int], tuple[Place, str]] = {}
        self._calls = 0

    @property
    def frame(self) -> Frame:
        """The innermost activation."""
        return self.frames[-1]

    @property
    def guard(self) -> Bool:
        """The condition under which the current expression is evaluated."""
        return all_of(*self._guards)

    @property
    def path(self) -> Bool:
        """The condition under which the innermost activation gets here."""
        return all_of(*self._guards[self.frame.entry :])

    @property
    def depth(self) -> int:
        """How many conditions are in force."""
        return len(self._guards)

    @contextmanager
    def under(self, condition: Bool) -> Iterator[None]:
        """Evaluate under one more condition."""
        self._guards.append(condition)
        try:
            yield
        finally:
            self._guards.pop()

    def require(self, name: str, condition: Bool, node: ast.AST) -> None:
        """Python raises here unless the condition holds."""
        needed = implies(self.guard, condition)
        if needed is not True:
            line = getattr(node, "lineno", 0)
            self.defined.append(Definedness(name, formula(needed), line))

    def refuse(self, reason: str, node: ast.AST) -> Unsupported:
        """The refusal of a node, with its place."""
        module = self.frame.module
        line = getattr(node, "lineno", 0)
        return Unsupported(reason, module.path, line, " ".join(ast.unparse(node).split())[:120])

    def enter(self, function: FunctionDefinition, node: ast.AST) -> None:
        """Record a function as lifted.

        Raises:
            Unsupported: too many calls, or too deep, which is how recursion shows.
        """
        self._calls += 1
        if len(self.frames) > DEEPEST_CALL or self._calls > MOST_CALLS:
            raise self.refuse("calls too deep or too many (recursion?)", node)
        key = (function.module.path, function.node.lineno)
        place = Place(function.name, function.module.path, function.node.lineno)
        self._lifted.setdefault(key, (place, function.module.segment(function.node)))

    def note_constant(self, module: Module, node: ast.expr) -> None:
        """Record a constant as lifted: its text belongs to what was proved."""
        name = f"{module.dotted}:{node.lineno}"
        place = Place(name, module.path, node.lineno)
        self._lifted.setdefault((module.path, node.lineno), (place, module.segment(node)))

    def provenance(self) -> Provenance:
        """Where everything lifted so far comes from; the hash covers it in order of place."""
        first = next(iter(self._lifted.values()))[0]
        ordered = [self._lifted[key] for key in sorted(self._lifted)]
        text = "\n\n".join(f"# {place.file}\n{segment}" for place, segment in ordered)
        digest = hashlib.sha256(text.encode()).hexdigest()
        places = tuple(place for place, _ in self._lifted.values())
        return Provenance(first.file, first.line, digest, places)
