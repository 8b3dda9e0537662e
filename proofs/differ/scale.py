"""The same scenario in a smaller unit: every length divided by a common divisor of the blocks.

What deployments call 1600 and 16 a counterexample calls 100 and 1. Shrinking tries block sizes one
by one, so it should begin there."""

from collections.abc import Iterator
from dataclasses import replace
from math import gcd

from truehit.spec.geometry import Geometry, Group, Interval, Lookahead
from truehit.spec.scenario import EncoderItem, Request, Scenario
from truehit.spec.tokens import Segment
from truehit.spec.units import ceil_div


def scaled_down(scenario: Scenario) -> Iterator[Scenario]:
    """The scenario in every smaller unit, the largest unit first. Some may not be valid."""
    common = gcd(*(group.block_tokens for group in scenario.geometry.groups))
    for unit in range(common, 1, -1):
        if common % unit == 0:
            yield _scaled(scenario, unit)


def _scaled(scenario: Scenario, unit: int) -> Scenario:
    encoder = scenario.encoder_budget_tokens
    return replace(
        scenario,
        geometry=_geometry(scenario.geometry, unit),
        requests=tuple(_request(request, unit) for request in scenario.requests),
        budgets=tuple(ceil_div(budget, unit) for budget in scenario.budgets),
        encoder_budget_tokens=None if encoder is None else ceil_div(encoder, unit),
    )


def _geometry(geometry: Geometry, unit: int) -> Geometry:
    drop, retention = geometry.drop, geometry.retention
    if isinstance(drop, Lookahead):
        drop = Lookahead(ceil_div(drop.tokens, unit))
    if isinstance(retention, Interval):
        retention = Interval(ceil_div(retention.tokens, unit))
    threshold = geometry.long_prefill_threshold_tokens
    checkpoint = geometry.checkpoint_alignment_tokens
    return replace(
        geometry,
        groups=tuple(_group(group, unit) for group in geometry.groups),
        hash_unit_tokens=ceil_div(geometry.hash_unit_tokens, unit),
        drop=drop,
        retention=retention,
        budget_tokens=max(ceil_div(geometry.budget_tokens, unit), geometry.drafts + 1),
        long_prefill_threshold_tokens=None if threshold is None else ceil_div(threshold, unit),
        checkpoint_alignment_tokens=None if checkpoint is None else ceil_div(checkpoint, unit),
        kernel_chunk_tokens=1,
    )


def _group(group: Group, unit: int) -> Group:
    window = group.window_tokens
    return replace(
        group,
        block_tokens=group.block_tokens // unit,
        window_tokens=None if window is None else ceil_div(window, unit),
    )


def _request(request: Request, unit: int) -> Request:
    return replace(
        request,
        segments=tuple(Segment(s.name, ceil_div(s.tokens, unit)) for s in request.segments),
        shares=tuple(ceil_div(share, unit) for share in request.shares),
        external_tokens=request.external_tokens // unit,
        encoder_items=tuple(
            EncoderItem(item.at // unit, max(1, item.tokens // unit))
            for item in request.encoder_items
        ),
    )
