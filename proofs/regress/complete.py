"""From a solver's inputs to runs: arrivals and shares that drive the oracle to where the rule goes
wrong.

A refutation speaks of one call of one rule. A run that makes this call has one request of that
prompt whose turns are cut at the start and at the offer, a resend, and a longer request that reads
the rest. What the inputs leave open (who drops, what is kept, which blocks attention has) is tried
in all ways; the search keeps the runs in which a law is broken."""

from collections.abc import Iterator
from itertools import product
from math import gcd

from truehit.proofs.prove import refute
from truehit.spec.geometry import (
    BlockDrop,
    Dense,
    Drop,
    DropCap,
    Geometry,
    Group,
    Kind,
    NoDrop,
    ReachOnly,
    Retention,
)
from truehit.spec.scenario import After, Request, Scenario
from truehit.spec.tokens import Segment

LONGEST_PROMPT_TOKENS = 4096
"""Minimised models are far below; one with larger numbers is left to the drawn scenarios."""


def _geometries(inputs: dict[str, int]) -> Iterator[Geometry]:
    grid = max(inputs.get("grid", inputs.get("state_block", inputs.get("block", 4))), 1)
    drafts = min(max(inputs.get("drafts", 0), 0), grid - 1)
    sizes = {grid} | {inputs.get(name, grid) for name in ("hash_unit", "unit", "minimum_block")}
    drops: tuple[Drop, ...] = (NoDrop(), BlockDrop(DropCap.CLAMPED), BlockDrop(DropCap.MARGIN))
    kept: tuple[Retention, ...] = (Dense(), ReachOnly())
    attentions = sorted(size for size in sizes if size > 0)
    for attention, drop, retention, own_bit in product(attentions, drops, kept, (False, True)):
        drafted = isinstance(drop, BlockDrop)
        if own_bit and not drafted:
            continue
        for checkpoint in (None, 1) if inputs.get("checkpoint", 0) else (None,):
            yield Geometry(
                groups=(
                    Group("attention", Kind.FULL_ATTENTION, attention, drafted),
                    Group("state", Kind.RECURRENT_STATE, grid, own_bit),
                ),
                hash_unit_tokens=gcd(attention, grid),
                drafts=drafts,
                drop=drop,
                retention=retention,
                max_model_tokens=4 * LONGEST_PROMPT_TOKENS,
                pool_blocks=4000,
                checkpoint_alignment_tokens=checkpoint,
            )


def _prompts(inputs: dict[str, int], grid: int) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Prompt lengths with the shares of their turns. A splitter's call is cut at start and offer; a
    plan's call follows a first chunk that filled the old table and ends in the new running
    column."""
    start, offered = inputs.get("start", 0), inputs.get("offered", 0)
    names = ("prompt", "prefill_end", "total", "shared", "position")
    named = {inputs.get(name, 0) for name in names} | {start + offered}
    shares = tuple(share for share in (start, offered) if share > 0)
    if "running" in inputs:
        named |= {inputs["running"] * grid + 1, (inputs["running"] + 1) * grid}
        filled = inputs.get("length", 0) - inputs.get("scratch", 0)
        shares = (filled * grid,) if filled > 0 else ()
    lengths = {n + more * grid for n in named for more in (0, 1, 2)}
    for prompt in sorted(length for length in lengths if 0 < length <= LONGEST_PROMPT_TOKENS):
        yield prompt, ()
        if shares:
            yield prompt, shares


def scenarios(rules: str, inputs: dict[str, int]) -> Iterator[Scenario]:
    """The runs that inputs complete to."""
    for geometry in _geometries(inputs):
        grid = geometry.grid_tokens or 1
        for prompt, shares in _prompts(inputs, grid):
            doc = (Segment("doc", prompt),)
            yield Scenario(
                name=rules,
                geometry=geometry,
                requests=(
                    Request("r1", doc, shares=shares),
                    Request("r2", doc, arrival=After("r1")),
                    Request("r3", (*doc, Segment("more", grid + 1)), arrival=After("r2")),
                ),
                max_steps=600,
            )


def completed(rules: str) -> list[Scenario]:
    """The runs completed from the solver's refutation of a rule set; none if no obligation refutes
    it."""
    refutation = refute(rules)
    if refutation is None:
        return []
    inputs = {name: int(value) for name, value in refutation.inputs.items()}
    return list(scenarios(rules, inputs))
