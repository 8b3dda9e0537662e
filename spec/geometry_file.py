"""A geometry as JSON: the same names as the dataclass; exact both ways."""

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag, ValidationError

from truehit.spec.geometry import (
    BlockDrop,
    Dense,
    Drop,
    DropCap,
    Geometry,
    Group,
    Interval,
    Kind,
    Lookahead,
    NoDrop,
    ReachOnly,
    Retention,
)
from truehit.spec.geometry_checks import GeometryError, check
from truehit.spec.scenario_edge import Edge, NotNegative, Positive
from truehit.spec.scenario_errors import ScenarioError, from_validation

_DEFAULT = Geometry(groups=(), hash_unit_tokens=1)


class GroupModel(Edge):
    name: str
    kind: Annotated[Kind, Field(strict=False)]
    block_tokens: Positive
    drafted: bool = False
    window_tokens: Positive | None = None


class BlockDropModel(Edge):
    """`groups` marks attention groups as drafted, so that the groups need not say it themselves."""

    mode: Literal["block"]
    cap: Annotated[DropCap, Field(strict=False)]
    groups: Annotated[
        Annotated[Literal["all"], Tag("<all>")] | Annotated[list[str], Tag("<names>")],
        Discriminator(lambda value: "<all>" if isinstance(value, str) else "<names>"),
    ] = Field(default_factory=list)


class LookaheadModel(Edge):
    mode: Literal["lookahead"]
    tokens: Positive


def _drop_tag(value: Any) -> str | None:
    if isinstance(value, str):
        return "<none>"
    mode = value.get("mode") if isinstance(value, dict) else None
    return f"<{mode}>" if mode in ("block", "lookahead") else None


DropModel = Annotated[
    Annotated[Literal["none"], Tag("<none>")]
    | Annotated[BlockDropModel, Tag("<block>")]
    | Annotated[LookaheadModel, Tag("<lookahead>")],
    Discriminator(
        _drop_tag,
        custom_error_type="drop",
        custom_error_message="has no known mode; none, {mode: block, cap: margin, groups: all} "
        "or {mode: lookahead, tokens: 1} works",
    ),
]
RetentionModel = Annotated[
    Annotated[Literal["dense"], Tag("<dense>")] | Annotated[NotNegative, Tag("<interval>")],
    Discriminator(lambda value: "<dense>" if isinstance(value, str) else "<interval>"),
]


class GeometryModel(Edge):
    groups: list[GroupModel]
    hash_unit_tokens: Positive
    fine_hits: bool = _DEFAULT.fine_hits
    drafts: NotNegative = _DEFAULT.drafts
    drop: DropModel = "none"
    retention: RetentionModel = "dense"
    budget_tokens: Positive = _DEFAULT.budget_tokens
    long_prefill_threshold_tokens: Positive | None = _DEFAULT.long_prefill_threshold_tokens
    max_model_tokens: Positive = _DEFAULT.max_model_tokens
    pool_blocks: Positive = _DEFAULT.pool_blocks
    checkpoint_alignment_tokens: Positive | None = _DEFAULT.checkpoint_alignment_tokens
    kernel_chunk_tokens: Positive = _DEFAULT.kernel_chunk_tokens
    steps_in_flight: Positive = _DEFAULT.steps_in_flight
    reserve_full_sequence: bool = _DEFAULT.reserve_full_sequence
    max_running: Positive = _DEFAULT.max_running


def geometry_from_model(model: GeometryModel) -> Geometry:
    """The geometry, checked; ScenarioError with a path inside the geometry."""
    geometry = Geometry(
        groups=_groups(model),
        hash_unit_tokens=model.hash_unit_tokens,
        fine_hits=model.fine_hits,
        drafts=model.drafts,
        drop=_drop(model.drop),
        retention=_retention(model.retention),
        budget_tokens=model.budget_tokens,
        long_prefill_threshold_tokens=model.long_prefill_threshold_tokens,
        max_model_tokens=model.max_model_tokens,
        pool_blocks=model.pool_blocks,
        checkpoint_alignment_tokens=model.checkpoint_alignment_tokens,
        kernel_chunk_tokens=model.kernel_chunk_tokens,
        steps_in_flight=model.steps_in_flight,
        reserve_full_sequence=model.reserve_full_sequence,
        max_running=model.max_running,
    )
    try:
        check(geometry)
    except GeometryError as error:
        sentence = error.sentence.removeprefix(f"{error.field} ")
        raise ScenarioError(error.field, sentence) from error
    return geometry


def geometry_from_json(data: dict[str, Any]) -> Geometry:
    """Read the JSON form, e.g. of a trace header; ScenarioError for anything that is not one."""
    try:
        model = GeometryModel.model_validate(data)
    except ValidationError as error:
        raise from_validation(error) from error
    return geometry_from_model(model)


def geometry_to_json(geometry: Geometry) -> dict[str, Any]:
    """The JSON form: every number is written out, features that are off are left out."""
    data: dict[str, Any] = {
        "groups": [_group_to_json(group) for group in geometry.groups],
        "hash_unit_tokens": geometry.hash_unit_tokens,
        "fine_hits": geometry.fine_hits,
        "drafts": geometry.drafts,
        "drop": _drop_to_json(geometry.drop),
        "retention": _retention_to_json(geometry.retention),
        "budget_tokens": geometry.budget_tokens,
        "long_prefill_threshold_tokens": geometry.long_prefill_threshold_tokens,
        "max_model_tokens": geometry.max_model_tokens,
        "pool_blocks": geometry.pool_blocks,
        "checkpoint_alignment_tokens": geometry.checkpoint_alignment_tokens,
        "kernel_chunk_tokens": geometry.kernel_chunk_tokens,
        "steps_in_flight": geometry.steps_in_flight,
        "reserve_full_sequence": geometry.reserve_full_sequence,
        "max_running": geometry.max_running,
    }
    return {key: value for key, value in data.items() if value is not None}


def _groups(model: GeometryModel) -> tuple[Group, ...]:
    marked = _marked(model)
    return tuple(
        Group(
            name=group.name,
            kind=group.kind,
            block_tokens=group.block_tokens,
            drafted=group.drafted or group.name in marked,
            window_tokens=group.window_tokens,
        )
        for group in model.groups
    )


def _marked(model: GeometryModel) -> set[str]:
    """The groups that the drop names; a name that is no attention group, or a group that would drop
    without being named, is refused."""
    if not isinstance(model.drop, BlockDropModel):
        return set()
    kinds = (Kind.FULL_ATTENTION, Kind.SLIDING_WINDOW)
    attention = [group for group in model.groups if group.kind in kinds]
    names = [group.name for group in attention]
    if model.drop.groups == "all":
        return set(names)
    for index, name in enumerate(model.drop.groups):
        if name not in names:
            sentence = f"'{name}' is no attention group; {' or '.join(names) or 'all'} works"
            raise ScenarioError(f"drop.groups[{index}]", sentence)
    unnamed = [g.name for g in attention if g.drafted and g.name not in model.drop.groups]
    if model.drop.groups and unnamed:
        sentence = f"leaves out '{unnamed[0]}', which is drafted; naming it works"
        raise ScenarioError("drop.groups", sentence)
    return set(model.drop.groups)


def _drop(model: Literal["none"] | BlockDropModel | LookaheadModel) -> Drop:
    match model:
        case BlockDropModel():
            return BlockDrop(model.cap)
        case LookaheadModel():
            return Lookahead(model.tokens)
        case "none":
            return NoDrop()


def _retention(model: Literal["dense"] | int) -> Retention:
    match model:
        case "dense":
            return Dense()
        case 0:
            return ReachOnly()
        case _:
            return Interval(model)


def _group_to_json(group: Group) -> dict[str, Any]:
    data: dict[str, Any] = {
        "name": group.name,
        "kind": group.kind.value,
        "block_tokens": group.block_tokens,
    }
    if group.drafted:
        data["drafted"] = True
    if group.window_tokens is not None:
        data["window_tokens"] = group.window_tokens
    return data


def _drop_to_json(drop: Drop) -> str | dict[str, Any]:
    match drop:
        case NoDrop():
            return "none"
        case BlockDrop(cap):
            return {"mode": "block", "cap": cap.value}
        case Lookahead(tokens):
            return {"mode": "lookahead", "tokens": tokens}


def _retention_to_json(retention: Retention) -> str | int:
    match retention:
        case Dense():
            return "dense"
        case ReachOnly():
            return 0
        case Interval(tokens):
            return tokens
