"""What is measured, and what we set ourselves as a goal for each form of the output."""

from dataclasses import dataclass, field
from enum import StrEnum

from truehit.adapters.vllm.inside.control_peer.workloads import (
    WARM_STEPS,
    Churn,
    Decode,
    Hashing,
    Lookup,
    Prefill,
    Shape,
    Workload,
)

PEER_VERSION = "0.33.0"
FLAT_GOAL = 1.3
PROMPT_TOKENS = 100_000
BUDGET_TOKENS = 8192
PROMPT_POOL_BLOCKS = 16_384
BATCH_BLOCKS = 64
HELD_BATCHES = 8
# A multiple of 16: every round meets as many block ends as any other.
DECODE_STEPS = 48
# The pools are sized for as many steps as the most rounds have.
LEAST_ROUNDS, MOST_ROUNDS = 7, 15


class Output(StrEnum):
    """How a step's decisions are handed on; the peer makes one object a request."""

    ARRAYS = "arrays"
    LISTS = "lists"
    OBJECTS = "objects"


@dataclass(frozen=True, slots=True)
class Work:
    """A workload and the ratio that is asked of it, by output. `flat`: one of the rows that show
    whether a step costs the same in every pool."""

    workload: Workload
    goals: dict[Output, float] = field(default_factory=dict)
    flat: bool = False


def works() -> list[Work]:
    """All of them, in the order of the table."""
    unequal, equal = Shape(16, 1600), Shape(1600, 1600)
    drafted = [Shape(16, 1600, drafts=3), Shape(1600, 1600, drafts=3)]
    decodes = [
        _decode(shape, running) for running in (256, 1000) for shape in (unequal, equal, *drafted)
    ]
    prompts = [
        *(_prefill(shape, prompts) for shape, prompts in ((unequal, 3), (equal, 20))),
        _full_hit(unequal, 20, 20.0),
        _full_hit(equal, 100, 8.0),
        *(_miss(shape) for shape in (unequal, equal)),
        _hashing(unequal, 10, {Output.OBJECTS: 5.0}),
        _hashing(equal, 30, {}),
    ]
    pools = (1_000, 10_000, 100_000, 1_000_000)
    churns = [_churn(blocks, keyed) for keyed in (True, False) for blocks in pools]
    return [*decodes, *prompts, *churns, *(_flat(equal, blocks) for blocks in pools)]


def _decode(shape: Shape, running: int) -> Work:
    drafts = f", {shape.drafts} drafts accepted" if shape.drafts else ""
    name = f"decode {running}, {_groups(shape)}{drafts}"
    # Both long enough to have passed a state block and spread over one.
    first_tokens, spread_tokens = 256, shape.state_tokens
    output_tokens = _output_tokens(shape)
    tokens = first_tokens + spread_tokens + output_tokens
    pool_blocks = running * (tokens // shape.attention_tokens + 8)
    if running == 256:
        goals = {Output.OBJECTS: 25.0, Output.ARRAYS: 150.0}
    else:
        goals = {Output.OBJECTS: 15.0}
    workload = Decode(
        *(name, shape, running, pool_blocks, first_tokens, spread_tokens, output_tokens),
        steps=DECODE_STEPS,
    )
    return Work(workload, goals)


def _flat(shape: Shape, pool_blocks: int) -> Work:
    """Short prompts, so that 256 requests fit the smallest pool."""
    name = f"decode 256 in {pool_blocks:,} blocks, {_groups(shape)}"
    workload = Decode(
        *(name, shape, 256, pool_blocks, 64, 448, _output_tokens(shape)), steps=DECODE_STEPS
    )
    return Work(workload, flat=True)


def _output_tokens(shape: Shape) -> int:
    """More than the warm-up and the most rounds sample."""
    steps = 2 * WARM_STEPS + (1 + MOST_ROUNDS) * (WARM_STEPS + DECODE_STEPS)
    return steps * (1 + shape.drafts)


def _prefill(shape: Shape, prompts: int) -> Work:
    name = f"cold prefill of 100k tokens, {_groups(shape)}"
    return Work(Prefill(name, shape, PROMPT_TOKENS, BUDGET_TOKENS, PROMPT_POOL_BLOCKS, prompts))


def _full_hit(shape: Shape, operations: int, goal: float) -> Work:
    workload = _lookup("full hit", shape, PROMPT_TOKENS, operations)
    return Work(workload, {Output.OBJECTS: goal})


def _miss(shape: Shape) -> Work:
    return Work(_lookup("miss", shape, 0, 50))


def _lookup(word: str, shape: Shape, shared_tokens: int, operations: int) -> Lookup:
    name = f"{word} of 100k tokens, unit {shape.unit_tokens}, {_groups(shape)}"
    return Lookup(
        *(name, shape, PROMPT_TOKENS, shared_tokens, BUDGET_TOKENS, PROMPT_POOL_BLOCKS),
        operations=operations,
    )


def _hashing(shape: Shape, operations: int, goals: dict[Output, float]) -> Work:
    name = f"request from a list of 100k tokens, hashed at unit {shape.unit_tokens}"
    return Work(Hashing(name, shape, PROMPT_TOKENS, PROMPT_POOL_BLOCKS, operations), goals)


def _churn(pool_blocks: int, keyed: bool) -> Work:
    turns = "take, key, free, evict" if keyed else "take, free"
    name = f"pool of {pool_blocks:,} blocks: {turns} {BATCH_BLOCKS}"
    goal = 8.0 if pool_blocks <= 100_000 else 3.0
    workload = Churn(name, pool_blocks, BATCH_BLOCKS, HELD_BATCHES, keyed, operations=500)
    return Work(workload, {Output.OBJECTS: goal})


def _groups(shape: Shape) -> str:
    return f"attention {shape.attention_tokens} + state {shape.state_tokens}"
