"""A scenario is plain data: a geometry, requests as token paths, and what happens to them, step by
step.

The same scenario runs on every engine. Fields marked *oracle only* cannot be ported to a real
engine. The file form (JSON, YAML) is in `scenario_file`."""

from dataclasses import dataclass, field
from enum import StrEnum

from truehit.spec.geometry import Geometry
from truehit.spec.tokens import Segment


@dataclass(frozen=True, slots=True)
class AtStep:
    """Arrives at the start of this step (0 is the first). *Oracle only.*"""

    step: int


class Moment(StrEnum):
    """What the arrival waits for in the other request."""

    SUBMITTED = "submitted"
    SCHEDULED = "scheduled"
    PREFILLED = "prefilled"
    FINISHED = "finished"


@dataclass(frozen=True, slots=True)
class After:
    """Arrives in the first step after the moment, `delay_steps` later. Portable."""

    request: str
    moment: Moment = Moment.FINISHED
    delay_steps: int = 0


Arrival = AtStep | After


@dataclass(frozen=True, slots=True)
class EncoderItem:
    """An input (image) whose tokens [at, at + tokens) need one encoder run of `tokens` tokens."""

    at: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Request:
    """One submission.

    `segments`: the prompt. `output`: the name of the stream it generates (so that a later turn can
    contain it); `output_tokens` >= 1 of it are generated. `accepted`: accepted drafts of its decode
    steps, in order; the last one repeats; empty means all. `shares`: the most tokens it is offered
    at its first, second, … turn (*oracle only*); afterwards no limit. `external_tokens`: computed
    outside, beyond the local hit."""

    name: str
    segments: tuple[Segment, ...]
    output_tokens: int = 1
    output: str = ""
    salt: str = ""
    arrival: Arrival = AtStep(0)
    priority: int = 0
    accepted: tuple[int, ...] = ()
    shares: tuple[int, ...] = ()
    external_tokens: int = 0
    encoder_items: tuple[EncoderItem, ...] = ()

    @property
    def prompt_tokens(self) -> int:
        return sum(s.tokens for s in self.segments)

    @property
    def output_name(self) -> str:
        return self.output or f"output:{self.name}"

    @property
    def total_tokens(self) -> int:
        return self.prompt_tokens + self.output_tokens


@dataclass(frozen=True, slots=True)
class Abort:
    """The client gives up: before the step is scheduled."""

    step: int
    request: str


@dataclass(frozen=True, slots=True)
class Preempt:
    """The engine is told to take the request's blocks back. *Oracle only.*"""

    step: int
    request: str


@dataclass(frozen=True, slots=True)
class Fail:
    """The device does not run this request in the step; its writes do not happen."""

    step: int
    request: str


@dataclass(frozen=True, slots=True)
class ResetCache:
    """All keys are dropped before the step."""

    step: int


@dataclass(frozen=True, slots=True)
class Pressure:
    """Somebody else takes `blocks` free blocks (evicting their keys) before the step and returns
    them `for_steps` steps later. *Oracle only.*"""

    step: int
    blocks: int
    for_steps: int = 1


Action = Abort | Preempt | Fail | ResetCache | Pressure


class Policy(StrEnum):
    FCFS = "fcfs"
    PRIORITY = "priority"


@dataclass(frozen=True, slots=True)
class Scenario:
    """`budgets`: tokens of the first, second, … step (*oracle only*); afterwards the geometry's
    budget. `encoder_budget_tokens`: encoder tokens a step, None: no limit. `max_steps` ends a run
    that would not."""

    name: str
    geometry: Geometry
    requests: tuple[Request, ...]
    actions: tuple[Action, ...] = ()
    budgets: tuple[int, ...] = ()
    policy: Policy = Policy.FCFS
    encoder_budget_tokens: int | None = None
    rules: str = "default"
    max_steps: int = 10_000
    note: str = field(default="", compare=False)
