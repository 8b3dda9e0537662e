"""Which names a function reads, of which sort, and the paths under which it reads them."""

import dataclasses
import inspect
import typing
from collections.abc import Iterator, Mapping
from functools import lru_cache

from truehit.proofs.obligations.obligation import Function
from truehit.reference.ruleset import RuleSet


@dataclasses.dataclass(frozen=True, slots=True)
class Read:
    """One number or truth value a function may read: `path` in the function, `name` outside."""

    path: str
    name: str
    sort: type


def reads(function: Function, rename: Mapping[str, str]) -> Iterator[Read]:
    """All that a function may read, the fields of its data class parameters included."""
    for read in _reads(function):
        yield dataclasses.replace(read, name=rename.get(read.name, read.name))


def rules_parameter(function: Function) -> str | None:
    """The parameter that takes the rule set, if there is one."""
    return next((name for name, kind in hints(function) if kind is RuleSet), None)


def result_sorts(function: Function) -> tuple[type, ...]:
    """The sorts of the result, or of the members of a tuple."""
    returned = typing.get_type_hints(function)["return"]
    if typing.get_origin(returned) is tuple:
        return typing.get_args(returned)
    return (returned,)


@lru_cache(maxsize=1024)
def hints(function: Function) -> tuple[tuple[str, type], ...]:
    """Parameters in order, with their types."""
    found = typing.get_type_hints(function)
    return tuple((name, found[name]) for name in inspect.signature(function).parameters)


@lru_cache(maxsize=1024)
def _reads(function: Function) -> tuple[Read, ...]:
    found: list[Read] = []
    for name, kind in hints(function):
        if kind is RuleSet:
            continue
        if dataclasses.is_dataclass(kind):
            types = typing.get_type_hints(kind)
            for part in dataclasses.fields(kind):
                found.append(Read(f"{name}.{part.name}", part.name, types[part.name]))
        else:
            found.append(Read(name, name, bool if kind is bool else int))
    return tuple(found)
