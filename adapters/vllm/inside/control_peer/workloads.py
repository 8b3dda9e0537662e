"""The workloads of the control-plane benchmark as plain data; both sides are prepared from these.

All sizes are tokens unless the name says blocks, requests, steps or operations.
"""

from dataclasses import asdict, dataclass
from math import gcd
from typing import Any

# Steps of a decode workload before its first round, and off the clock in each round: the other side
# had the caches before, and in so many steps every request fills a page of 16 tokens once.
WARM_STEPS = 16
# Far more than any workload needs to get where it begins.
MOST_STEPS = 2_000


@dataclass(frozen=True, slots=True)
class Shape:
    """One full attention group and one recurrent state group, and how many drafts a step has."""

    attention_tokens: int
    state_tokens: int
    drafts: int = 0

    @property
    def unit_tokens(self) -> int:
        """The hash unit: the finest that both groups allow."""
        return gcd(self.attention_tokens, self.state_tokens)


@dataclass(frozen=True, slots=True)
class Decode:
    """An operation is one step of `running` requests, every draft accepted.

    Their prompts have first + i·spread/running tokens, so that block ends are met evenly, and none
    of them reaches its `output_tokens` in the rounds that are measured.
    """

    name: str
    shape: Shape
    running: int
    pool_blocks: int
    first_tokens: int
    spread_tokens: int
    output_tokens: int
    steps: int

    def prompt_tokens(self, index: int) -> int:
        return self.first_tokens + index * self.spread_tokens // self.running


@dataclass(frozen=True, slots=True)
class Prefill:
    """An operation is one step of a prompt that hits nothing, alone in the engine."""

    name: str
    shape: Shape
    prompt_tokens: int
    budget_tokens: int
    pool_blocks: int
    prompts: int


@dataclass(frozen=True, slots=True)
class Lookup:
    """An operation is the search for one new request, whose hashes are built; a request of
    `prompt_tokens` tokens is cached, and the new one shares the first `shared_tokens` of it."""

    name: str
    shape: Shape
    prompt_tokens: int
    shared_tokens: int
    budget_tokens: int
    pool_blocks: int
    operations: int


@dataclass(frozen=True, slots=True)
class Hashing:
    """An operation makes a request, with all its hashes, from a list of `prompt_tokens` tokens."""

    name: str
    shape: Shape
    prompt_tokens: int
    pool_blocks: int
    operations: int


@dataclass(frozen=True, slots=True)
class Churn:
    """An operation takes a batch from the pool and returns the one taken `held` operations before.

    `keyed`: each block gets a key, and, the pool being full of keys, each block taken loses one.
    """

    name: str
    pool_blocks: int
    batch_blocks: int
    held_batches: int
    keyed: bool
    operations: int


Workload = Decode | Prefill | Lookup | Hashing | Churn
KINDS: dict[str, type[Workload]] = {
    kind.__name__: kind for kind in (Decode, Prefill, Lookup, Hashing, Churn)
}


def to_data(workload: Workload) -> dict[str, Any]:
    """What is sent to the peer."""
    return {"kind": type(workload).__name__, **asdict(workload)}


def from_data(data: dict[str, Any]) -> Workload:
    """The workload that was sent."""
    fields = {name: value for name, value in data.items() if name != "kind"}
    if "shape" in fields:
        fields["shape"] = Shape(**fields["shape"])
    return KINDS[data["kind"]](**fields)
