"""A scenario as short YAML: what equals the default is left out, names are plain."""

from dataclasses import MISSING, fields, replace
from typing import Any

import yaml

from truehit.spec.geometry import Geometry
from truehit.spec.scenario import (
    Abort,
    Action,
    After,
    Fail,
    Preempt,
    Pressure,
    Request,
    ResetCache,
    Scenario,
)
from truehit.spec.scenario_file import dump_scenario, parse_scenario
from truehit.spec.tokens import Segment


def renamed(scenario: Scenario, name: str) -> Scenario:
    """The same scenario with requests r1, r2, … and streams doc, doc-2, … in order of
    appearance."""
    requests = {r.name: f"r{index}" for index, r in enumerate(scenario.requests, 1)}
    streams = {r.output_name: f"output:{requests[r.name]}" for r in scenario.requests}
    for request in scenario.requests:
        for segment in request.segments:
            count = sum(1 for new in streams.values() if new.startswith("doc"))
            streams.setdefault(segment.name, "doc" if count == 0 else f"doc-{count + 1}")
    actions = tuple(_renamed_action(action, requests) for action in scenario.actions)
    return replace(
        scenario,
        name=name,
        requests=tuple(_renamed_request(r, requests, streams) for r in scenario.requests),
        actions=actions,
        rules="default",
    )


def _renamed_action(action: Action, requests: dict[str, str]) -> Action:
    match action:
        case Abort() | Preempt() | Fail():
            return replace(action, request=requests[action.request])
        case ResetCache() | Pressure():
            return action


def _renamed_request(
    request: Request, requests: dict[str, str], streams: dict[str, str]
) -> Request:
    arrival = request.arrival
    if isinstance(arrival, After):
        arrival = replace(arrival, request=requests[arrival.request])
    segments = tuple(Segment(streams[s.name], s.tokens) for s in request.segments)
    output = "" if not request.output else streams[request.output_name]
    name = requests[request.name]
    return replace(request, name=name, segments=segments, arrival=arrival, output=output)


def _defaults() -> dict[str, Any]:
    """JSON form of the defaults of a geometry's plain fields."""
    plain = {f.name: f.default for f in fields(Geometry) if f.default is not MISSING}
    return {name: value for name, value in plain.items() if isinstance(value, int | bool | None)}


def short_yaml(scenario: Scenario) -> str:
    """YAML text that parses back to exactly this scenario."""
    data = dump_scenario(scenario)
    defaults = _defaults()
    geometry = data["geometry"]
    for key in list(geometry):
        if key in defaults and geometry[key] == defaults[key]:
            del geometry[key]
    for key, value in (("drop", "none"), ("retention", "dense")):
        if geometry.get(key) == value:
            del geometry[key]
    for key, default in (("policy", "fcfs"), ("max_steps", 10_000), ("rules", "default")):
        if data.get(key) == default:
            del data[key]
    text = yaml.safe_dump(data, sort_keys=False, default_flow_style=None, width=96)
    if parse_scenario(text, ".yaml") != scenario:
        raise AssertionError(f"{scenario.name}: the short text is not the scenario")
    return str(text)
