"""Scenario files: JSON or YAML in, a checked scenario out, and back without loss.

Everything that is wrong with a file is one line: `file: path of the field: what; what works`.
"""

import json
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from truehit.spec.geometry_file import geometry_from_json, geometry_to_json
from truehit.spec.scenario import Scenario
from truehit.spec.scenario_checks import check_scenario
from truehit.spec.scenario_convert import scenario_from_model, scenario_to_json
from truehit.spec.scenario_errors import ScenarioError, from_validation
from truehit.spec.scenario_models import ScenarioModel
from truehit.spec.scenario_portability import portability

__all__ = [
    "ScenarioError",
    "dump_scenario",
    "geometry_from_json",
    "geometry_to_json",
    "load_scenario",
    "parse_scenario",
    "portability",
    "scenario_from_json",
    "schema_of_scenario",
]

_SUFFIXES = {".json": "JSON", ".yaml": "YAML", ".yml": "YAML"}


def load_scenario(path: Path) -> Scenario:
    """Read a file; ScenarioError, with the file in front, for anything that is no scenario."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        why = (error.strerror or "unreadable").lower()
        raise ScenarioError("", f"{why}; a readable file works", str(path)) from error
    except UnicodeDecodeError as error:
        raise ScenarioError("", f"byte {error.start} is no text; UTF-8 works", str(path)) from error
    try:
        return parse_scenario(text, path.suffix)
    except ScenarioError as error:
        raise ScenarioError(error.path, error.sentence, str(path)) from error


def parse_scenario(text: str, suffix: str) -> Scenario:
    """The scenario in a text; `suffix` is .json, .yaml or .yml."""
    match _SUFFIXES.get(suffix):
        case "JSON":
            return scenario_from_json(_read_json(text))
        case "YAML":
            return scenario_from_json(_read_yaml(text))
        case _:
            raise ScenarioError("", f"the suffix '{suffix}' is unknown; .yaml or .json works")


def scenario_from_json(data: Any) -> Scenario:
    """The scenario in parsed JSON or YAML, fully checked."""
    try:
        model = ScenarioModel.model_validate(data)
    except ValidationError as error:
        raise from_validation(error) from error
    scenario = scenario_from_model(model)
    check_scenario(scenario)
    return scenario


def dump_scenario(scenario: Scenario) -> dict[str, Any]:
    """The file form of a scenario; reading it gives an equal scenario."""
    return scenario_to_json(scenario)


def schema_of_scenario() -> dict[str, Any]:
    """The JSON Schema of a scenario file."""
    return ScenarioModel.model_json_schema(by_alias=True)


def _read_json(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_unique)
    except json.JSONDecodeError as error:
        sentence = f"line {error.lineno} is no JSON ({error.msg.lower()}); one JSON object works"
        raise ScenarioError("", sentence) from error
    except ScenarioError:
        raise
    except (ValueError, RecursionError) as error:
        raise _unreadable("JSON", error) from error


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data: dict[str, Any] = {}
    for key, value in pairs:
        if key in data:
            raise ScenarioError(key, "is given 2 times in one object; 1 time works")
        data[key] = value
    return data


class _UniqueKeys(yaml.SafeLoader):
    """YAML without a silent winner among equal keys."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[Any] = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, Hashable):
                continue
            if key in seen:
                line = key_node.start_mark.line + 1
                raise ScenarioError(str(key), f"is given 2 times (line {line}); 1 time works")
            seen.add(key)
        return super().construct_mapping(node, deep)


def _read_yaml(text: str) -> Any:
    try:
        return yaml.load(text, Loader=_UniqueKeys)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        sentence = f"line {line} is no YAML ({error.problem}); key: value works"
        raise ScenarioError("", sentence) from error
    except ScenarioError:
        raise
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise _unreadable("YAML", error) from error


def _unreadable(form: str, error: Exception) -> ScenarioError:
    """What the parser itself gives up on: dates that do not exist, endless digits or depth."""
    return ScenarioError("", f"is no {form} ({error}); text in quotes works")
