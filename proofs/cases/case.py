"""A case: one report, its lesson, a scenario, the right values, and who gets them wrong.

`expect` maps a facet of the trace (`facets.FACETS`) to its values, by request where there are
several; what it does not name is not asked. A control is a historic rule set that shows the wrong
values, breaks laws, or both. A refusal is a scenario that must not be accepted at all."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from truehit.proofs.cases.facets import FACETS
from truehit.spec.scenario import Scenario
from truehit.spec.scenario_file import scenario_from_json

DATA = Path(__file__).parent / "data"
REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Control:
    """What a historic rule set does here: its wrong values, and the laws it breaks."""

    rules: str
    expect: dict[str, Any]
    breaks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """`name` is the stem of the file. `derivation`: why the values are right, in one line."""

    name: str
    report: str
    lesson: str
    derivation: str
    scenario: Scenario
    expect: dict[str, Any]
    wrong: tuple[Control, ...]


@dataclass(frozen=True, slots=True)
class Refusal:
    """A scenario that is refused when it is read: where, with the numbers the sentence names."""

    name: str
    report: str
    lesson: str
    derivation: str
    scenario: dict[str, Any]
    path: str
    numbers: tuple[int, ...]


class CaseError(ValueError):
    """A file that is no case, in one line."""


class _Edge(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


def _known(expect: dict[str, Any]) -> None:
    for facet in expect:
        if facet not in FACETS:
            raise ValueError(f"'{facet}' is no facet; one of {', '.join(FACETS)} works")


class _ControlModel(_Edge):
    rules: str
    expect: dict[str, Any] = Field(default_factory=dict)
    breaks: list[str] = Field(default_factory=list)

    @model_validator(mode="after")
    def _shows_something(self) -> "_ControlModel":
        _known(self.expect)
        if not self.expect and not self.breaks:
            raise ValueError(f"{self.rules} shows 0 wrong values and breaks 0 laws; 1 works")
        return self


class _Told(_Edge):
    report: str = Field(pattern=r"^R\d\d$")
    lesson: str = Field(min_length=1)
    derivation: str = Field(min_length=1)
    scenario: dict[str, Any]


class _CaseModel(_Told):
    expect: dict[str, Any] = Field(min_length=1)
    wrong: list[_ControlModel] = Field(default_factory=list)

    @model_validator(mode="after")
    def _asks_known_facets(self) -> "_CaseModel":
        _known(self.expect)
        return self


class _RefusalModel(_Told):
    path: str
    numbers: list[int] = Field(min_length=1)


def load_cases(folder: Path = DATA) -> list[Case]:
    """Every case of a folder, in order of file names; CaseError or ScenarioError for any other
    content, or for an empty folder."""
    return [_case(path) for path in _files(folder)]


def load_refusals(folder: Path = DATA / REFUSED) -> list[Refusal]:
    """Every refusal of a folder, in order of file names."""
    return [_refusal(path) for path in _files(folder)]


def _files(folder: Path) -> list[Path]:
    paths = sorted(folder.glob("*.yaml"))
    if not paths:
        raise CaseError(f"{folder}: holds 0 cases; 1 works")
    return paths


def _case(path: Path) -> Case:
    try:
        model = _CaseModel.model_validate(_read(path))
        scenario = scenario_from_json(model.scenario)
    except ValueError as error:
        raise CaseError(_line(path, error)) from error
    wrong = tuple(Control(c.rules, c.expect, tuple(c.breaks)) for c in model.wrong)
    told = (model.report, model.lesson, model.derivation)
    return Case(path.stem, *told, scenario, model.expect, wrong)


def _refusal(path: Path) -> Refusal:
    try:
        model = _RefusalModel.model_validate(_read(path))
    except ValueError as error:
        raise CaseError(_line(path, error)) from error
    told = (model.report, model.lesson, model.derivation)
    return Refusal(path.stem, *told, model.scenario, model.path, tuple(model.numbers))


def _line(path: Path, error: ValueError) -> str:
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        return f"{path.name}: {where}: {first['msg']}"
    return f"{path.name}: scenario.{error}"


def _read(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))
