"""The result of lifting: a term, what it needs to be defined, and where it comes from."""

from dataclasses import dataclass
from typing import NamedTuple

import z3

from truehit.proofs.lift.domain import Domain, Value


class Definedness(NamedTuple):
    """A condition without which the Python run raises."""

    name: str
    condition: z3.BoolRef
    line: int


class Place(NamedTuple):
    """A function that was lifted, and where it stands."""

    function: str
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class Provenance:
    """What was lifted: the first function's place, all places, and the hash of all their text."""

    file: str
    line: int
    sha256: str
    functions: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class Lifted:
    """A function as a term of a domain.

    `inputs` holds the value of every input that was read, fresh or bound, by its path; `sorts` its
    sort: "int", "bool" or "int?" for an integer that may be None. `constants` holds the Python
    objects that were bound whole (a rule set, an enumeration's member).
    """

    name: str
    domain: Domain
    inputs: dict[str, Value]
    sorts: dict[str, str]
    constants: dict[str, object]
    result: Value
    defined: list[Definedness]
    provenance: Provenance
    parameters: tuple[str, ...]
