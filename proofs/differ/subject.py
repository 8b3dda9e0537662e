"""What is held to the oracle: a name, and a function from a scenario and a rule set to a trace.

A subject is loaded when it is needed, so that an engine whose libraries are missing costs the
others nothing. Besides the names in `SUBJECTS`, `package.module:function` names any function of
that form."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import cast

from truehit.proofs.differ.data_difference import NO_DATA, DataCount, DataDifference
from truehit.spec.scenario import Scenario
from truehit.spec.trace import Event

Runs = Callable[[Scenario, str], "Traced"]


@dataclass(frozen=True, slots=True)
class Traced:
    """What a subject did with a scenario. `data`: the first difference of its data plane, if it has
    one, and how much of it was compared."""

    events: tuple[Event, ...]
    steps: int
    data: DataDifference | None = None
    data_count: DataCount = NO_DATA


@dataclass(frozen=True, slots=True)
class Subject:
    """`run(scenario, rules)`: the trace under the rule set of that name."""

    name: str
    run: Runs


class SubjectError(ValueError):
    """A subject that does not exist or cannot be loaded here, in one line."""


SUBJECTS = {
    "engine": "truehit.proofs.differ.engines:engine",
    "engine-on-cuda": "truehit.proofs.differ.on_model:on_cuda",
    "engine-on-interpreter": "truehit.proofs.differ.on_model:on_interpreter",
    "engine-on-torch": "truehit.proofs.differ.on_model:on_torch",
    "oracle": "truehit.proofs.differ.standins:oracle",
}
"""Name -> where its function is. `oracle`: the differential held to itself."""

ENGINE = "engine"


def load(name: str) -> Subject:
    """The subject of this name; SubjectError if there is none or a library of it is missing."""
    place = SUBJECTS.get(name, name)
    module, _, function = place.partition(":")
    if not module or not function:
        known = ", ".join(sorted(SUBJECTS))
        raise SubjectError(
            f"subject '{name}' is unknown; one of {known}, or package.module:function works"
        )
    try:
        found = getattr(import_module(module), function)
    except ImportError as error:
        raise SubjectError(f"subject '{name}' cannot be loaded: {error}; {_cure(error)}") from error
    except AttributeError as error:
        raise SubjectError(f"subject '{name}': {module} has no {function}") from error
    return Subject(name, cast(Runs, found))


def _cure(error: ImportError) -> str:
    if (error.name or "").partition(".")[0] == "truehit":
        return "an installation that has it works"
    return "pip install 'truehit[engine]' works"
