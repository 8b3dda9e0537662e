"""The shape of a scenario file: which keys there are and which types they have; nothing else."""

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, PlainValidator, Tag, WithJsonSchema

from truehit.spec.geometry import Geometry
from truehit.spec.geometry_file import GeometryModel
from truehit.spec.scenario import After, Policy, Pressure, Request, Scenario
from truehit.spec.scenario_edge import Edge, NotNegative, Positive
from truehit.spec.scenario_text import AFTER_PATTERN, SEGMENT_PATTERN, parse_after, parse_segment
from truehit.spec.tokens import Segment

_REQUEST = Request(name="", segments=())
_SCENARIO = Scenario(name="", geometry=Geometry(groups=(), hash_unit_tokens=1), requests=())


def _segment(value: Any) -> Segment:
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is not text; 'doc:6400' in quotes works")
    return parse_segment(value)


def _after(value: Any) -> After:
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is not text; r1.finished works")
    return parse_after(value)


SegmentText = Annotated[
    Segment,
    PlainValidator(_segment),
    WithJsonSchema({"type": "string", "pattern": SEGMENT_PATTERN}),
]
AfterText = Annotated[
    After,
    PlainValidator(_after),
    WithJsonSchema({"type": "string", "pattern": AFTER_PATTERN}),
]


class EncoderItemModel(Edge):
    at: NotNegative
    tokens: Positive


class RequestModel(Edge):
    """`repeat` sends the same prompt so many times: name, name#2, name#3, … each after the last."""

    name: str
    segments: list[SegmentText]
    output_tokens: Positive = _REQUEST.output_tokens
    output: str = _REQUEST.output
    salt: str = _REQUEST.salt
    at: NotNegative | None = None
    after: AfterText | None = None
    priority: int = _REQUEST.priority
    accepted: list[NotNegative] = Field(default_factory=list)
    shares: list[Positive] = Field(default_factory=list)
    external_tokens: NotNegative = _REQUEST.external_tokens
    encoder_items: list[EncoderItemModel] = Field(default_factory=list)
    repeat: Positive = 1


class AbortModel(Edge):
    kind: Literal["abort"]
    step: NotNegative
    request: str


class PreemptModel(Edge):
    kind: Literal["preempt"]
    step: NotNegative
    request: str


class FailModel(Edge):
    kind: Literal["fail"]
    step: NotNegative
    request: str


class ResetCacheModel(Edge):
    kind: Literal["reset_cache"]
    step: NotNegative


class PressureModel(Edge):
    kind: Literal["pressure"]
    step: NotNegative
    blocks: Positive
    for_steps: Positive = Pressure(step=0, blocks=1).for_steps


ActionModel = AbortModel | PreemptModel | FailModel | ResetCacheModel | PressureModel
_ACTIONS = ("abort", "preempt", "fail", "reset_cache", "pressure")


def _action_tag(value: Any) -> str | None:
    kind = value.get("kind") if isinstance(value, dict) else None
    return f"<{kind}>" if kind in _ACTIONS else None


TaggedAction = Annotated[
    Annotated[AbortModel, Tag("<abort>")]
    | Annotated[PreemptModel, Tag("<preempt>")]
    | Annotated[FailModel, Tag("<fail>")]
    | Annotated[ResetCacheModel, Tag("<reset_cache>")]
    | Annotated[PressureModel, Tag("<pressure>")],
    Discriminator(
        _action_tag,
        custom_error_type="action",
        custom_error_message=f"has no known kind; one of {', '.join(_ACTIONS)} works",
    ),
]


class ScenarioModel(Edge):
    """One scenario. `schema` is the version of this form."""

    version: Literal[1] = Field(alias="schema")
    name: str
    note: str = _SCENARIO.note
    geometry: GeometryModel
    rules: str = _SCENARIO.rules
    policy: Annotated[Policy, Field(strict=False)] = _SCENARIO.policy
    budgets: list[Positive] = Field(default_factory=list)
    encoder_budget_tokens: Positive | None = _SCENARIO.encoder_budget_tokens
    max_steps: Positive = _SCENARIO.max_steps
    requests: list[RequestModel]
    actions: list[TaggedAction] = Field(default_factory=list)
