"""What an expression can be while a function is lifted, besides a truth value or an integer."""

from dataclasses import dataclass

from truehit.proofs.lift.tree import ClassDefinition, FunctionDefinition
from truehit.proofs.terms import Bool


@dataclass(frozen=True, slots=True)
class Maybe:
    """An optional integer: absent where the condition holds."""

    absent: Bool
    value: object


@dataclass(frozen=True, slots=True)
class Record:
    """An object whose attributes are inputs named by their path; typed if its class is known."""

    path: str
    definition: ClassDefinition | None


@dataclass(frozen=True, slots=True)
class Pending:
    """An attribute whose sort is not known yet: the first use decides, a later one may refuse."""

    path: str


@dataclass(frozen=True, slots=True)
class Concrete:
    """A Python object bound by the caller; its attributes are read from it."""

    target: object


@dataclass(frozen=True, slots=True)
class Built:
    """An instance made by the lifted code itself."""

    definition: ClassDefinition
    fields: tuple[tuple[str, object], ...]


@dataclass(frozen=True, slots=True)
class Member:
    """A member of an enumeration, known by name."""

    enumeration: str
    name: str


@dataclass(frozen=True, slots=True)
class Method:
    """A function bound to the object it is called on."""

    target: object
    function: FunctionDefinition


@dataclass(frozen=True, slots=True)
class Builtin:
    """One of the builtins the lifter knows."""

    name: str


@dataclass(frozen=True, slots=True)
class Listed:
    """The items a comprehension yields, each under the condition that it is yielded."""

    items: tuple[tuple[Bool, object], ...]


@dataclass(frozen=True, slots=True)
class Unusable:
    """A value that two paths disagree on beyond merging; reading it is refused."""

    reason: str
