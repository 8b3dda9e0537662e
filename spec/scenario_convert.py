"""From the models of a file to a scenario and back; `repeat` is expanded on the way in."""

from typing import Any

from truehit.spec.geometry_file import geometry_from_model, geometry_to_json
from truehit.spec.scenario import (
    Abort,
    Action,
    After,
    Arrival,
    AtStep,
    EncoderItem,
    Fail,
    Preempt,
    Pressure,
    Request,
    ResetCache,
    Scenario,
)
from truehit.spec.scenario_errors import ScenarioError
from truehit.spec.scenario_models import (
    AbortModel,
    ActionModel,
    FailModel,
    PreemptModel,
    PressureModel,
    RequestModel,
    ResetCacheModel,
    ScenarioModel,
)
from truehit.spec.scenario_text import format_after, format_segment

SCHEMA = 1


def scenario_from_model(model: ScenarioModel) -> Scenario:
    """The scenario, its meaning not yet checked; ScenarioError for an impossible geometry."""
    try:
        geometry = geometry_from_model(model.geometry)
    except ScenarioError as error:
        raise ScenarioError(f"geometry.{error.path}", error.sentence) from error
    requests: list[Request] = []
    for index, request in enumerate(model.requests):
        requests.extend(_sends(request, f"requests[{index}]"))
    return Scenario(
        name=model.name,
        geometry=geometry,
        requests=tuple(requests),
        actions=tuple(_action(action) for action in model.actions),
        budgets=tuple(model.budgets),
        policy=model.policy,
        encoder_budget_tokens=model.encoder_budget_tokens,
        rules=model.rules,
        max_steps=model.max_steps,
        note=model.note,
    )


def scenario_to_json(scenario: Scenario) -> dict[str, Any]:
    """The file form; keys that have their default are left out, except in the geometry."""
    data: dict[str, Any] = {"schema": SCHEMA, "name": scenario.name}
    if scenario.note:
        data["note"] = scenario.note
    data["geometry"] = geometry_to_json(scenario.geometry)
    default = Scenario(name="", geometry=scenario.geometry, requests=())
    for key in ("rules", "policy", "encoder_budget_tokens", "max_steps"):
        value = getattr(scenario, key)
        if value != getattr(default, key):
            data[key] = str(value) if key == "policy" else value
    if scenario.budgets:
        data["budgets"] = list(scenario.budgets)
    data["requests"] = [_request_to_json(request) for request in scenario.requests]
    if scenario.actions:
        data["actions"] = [_action_to_json(action) for action in scenario.actions]
    return data


def _sends(model: RequestModel, path: str) -> list[Request]:
    if model.repeat < 1:
        raise ScenarioError(f"{path}.repeat", f"is {model.repeat}: nothing is sent; 1 works")
    arrival = _arrival(model, path)
    sends: list[Request] = []
    for send in range(1, model.repeat + 1):
        name = model.name if send == 1 else f"{model.name}#{send}"
        sends.append(_request(model, name, arrival))
        arrival = After(name)
    return sends


def _request(model: RequestModel, name: str, arrival: Arrival) -> Request:
    return Request(
        name=name,
        segments=tuple(model.segments),
        output_tokens=model.output_tokens,
        output=model.output,
        salt=model.salt,
        arrival=arrival,
        priority=model.priority,
        accepted=tuple(model.accepted),
        shares=tuple(model.shares),
        external_tokens=model.external_tokens,
        encoder_items=tuple(EncoderItem(item.at, item.tokens) for item in model.encoder_items),
    )


def _arrival(model: RequestModel, path: str) -> Arrival:
    match model.at, model.after:
        case None, None:
            return AtStep(0)
        case int(step), None:
            return AtStep(step)
        case None, After() as after:
            return after
        case _:
            raise ScenarioError(f"{path}.at", f"is {model.at} beside after; leaving it out works")


def _action(model: ActionModel) -> Action:
    match model:
        case AbortModel():
            return Abort(model.step, model.request)
        case PreemptModel():
            return Preempt(model.step, model.request)
        case FailModel():
            return Fail(model.step, model.request)
        case ResetCacheModel():
            return ResetCache(model.step)
        case PressureModel():
            return Pressure(model.step, model.blocks, model.for_steps)


def _request_to_json(request: Request) -> dict[str, Any]:
    data: dict[str, Any] = {
        "name": request.name,
        "segments": [format_segment(segment) for segment in request.segments],
    }
    default = Request(name="", segments=())
    for key in ("output_tokens", "output", "salt", "priority", "external_tokens"):
        if getattr(request, key) != getattr(default, key):
            data[key] = getattr(request, key)
    match request.arrival:
        case After() as after:
            data["after"] = format_after(after)
        case AtStep(step) if step != 0:
            data["at"] = step
        case AtStep():
            pass
    for key in ("accepted", "shares"):
        if getattr(request, key):
            data[key] = list(getattr(request, key))
    if request.encoder_items:
        items = [{"at": item.at, "tokens": item.tokens} for item in request.encoder_items]
        data["encoder_items"] = items
    return data


def _action_to_json(action: Action) -> dict[str, Any]:
    match action:
        case Abort(step, request):
            return {"kind": "abort", "step": step, "request": request}
        case Preempt(step, request):
            return {"kind": "preempt", "step": step, "request": request}
        case Fail(step, request):
            return {"kind": "fail", "step": step, "request": request}
        case ResetCache(step):
            return {"kind": "reset_cache", "step": step}
        case Pressure(step, blocks, for_steps):
            data = {"kind": "pressure", "step": step, "blocks": blocks, "for_steps": for_steps}
            return data
