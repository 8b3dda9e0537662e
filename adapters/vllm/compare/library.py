"""What both do with the same scenarios: carves, stored states, hits.

The scenarios are those of the known defects, in both drop modes, and drawn ones from a seed that
never changes, until enough of them are started by either side. Both are asked only for what both
can be asked for.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random

from truehit.adapters.vllm.audit.draw import Supported, draw
from truehit.adapters.vllm.compare.report import BehaviourChange, BehaviourRecord
from truehit.adapters.vllm.driver import Driven, Driver
from truehit.adapters.vllm.known.play import SCENARIOS, drop_modes
from truehit.spec.geometry import BlockDrop, Kind
from truehit.spec.scenario import Scenario
from truehit.spec.scenario_file import dump_scenario, load_scenario
from truehit.spec.trace import Lookup, Publish, Schedule

DRAWN = 40
MOST_DRAWN = 120
"""Older releases refuse to start with most geometries."""
SHOWN = 12


@dataclass(frozen=True, slots=True)
class Listed:
    """A scenario under the name that a reader is told."""

    name: str
    scenario: Scenario
    is_drawn: bool = False


@dataclass(frozen=True, slots=True)
class Kept:
    """What became of a request. `hit`: of its first lookup; nothing if it had none."""

    carve: str
    stored: str
    hit: str


@dataclass(frozen=True, slots=True)
class Behaviour:
    """What an engine did with a scenario. `refusal`: why it does not start, or why it stopped."""

    refusal: str | None
    fault: str | None
    requests: dict[str, Kept]


@dataclass(frozen=True, slots=True)
class Seen:
    """A scenario and what both did with it."""

    listed: Listed
    base: Behaviour
    head: Behaviour

    @property
    def on_both(self) -> bool:
        """Neither refused to start."""
        return self.base.refusal is None and self.head.refusal is None


def known(supported: Supported) -> Iterator[Listed]:
    """The scenarios of the known defects."""
    for path in sorted(SCENARIOS.glob("*.yaml")):
        scenario = load_scenario(path)
        yield Listed(scenario.name, scenario)
        if isinstance(scenario.geometry.drop, BlockDrop) and supported.lookahead:
            _, ahead = drop_modes(scenario)
            yield Listed(f"{scenario.name}, keys that look ahead", ahead)


def drawn(number: int, supported: Supported) -> Listed:
    """The same scenario whenever it is drawn for the same abilities."""
    scenario = draw(Random(f"compare:{number}"), supported)
    return Listed(f"drawn {number}", scenario, is_drawn=True)


def supported_by(base: Driver, head: Driver) -> Supported:
    """What both can be asked for."""
    facts = [driver.facts() for driver in (base, head)]
    return Supported(
        lookahead=all(one["knows_lookahead"] for one in facts),
        checkpoints=all(one["observes_checkpoints"] for one in facts),
    )


def behaviour(driven: Driven) -> Behaviour:
    """What is compared of a trace."""
    groups = driven.scenario.geometry.groups
    states = {group.name for group in groups if group.kind is Kind.RECURRENT_STATE}
    carves: dict[str, list[int]] = defaultdict(list)
    stored: dict[str, set[int]] = defaultdict(set)
    hits: dict[str, int] = {}
    for event in driven.trace:
        match event:
            case Schedule() if event.start < min(event.end, event.prefill_end):
                carves[event.request].append(event.end)
            case Publish() if event.group in states:
                stored[event.request] |= {tokens for tokens, _ in event.keys}
            case Lookup():
                hits.setdefault(event.request, event.hit_tokens)
    names = [request.name for request in driven.scenario.requests]
    requests = {
        name: Kept(_numbers(carves[name]), _numbers(sorted(stored[name])), _hit(hits.get(name)))
        for name in names
    }
    faults = [fault.message for fault in driven.faults]
    message = faults[0] if faults else None
    if not driven.facts:
        return Behaviour(message or "no reason", None, {})
    return Behaviour(None, message, requests)


def drive_library(
    base: Driver, head: Driver, progress: Callable[[str], None], wanted: int = DRAWN
) -> list[Seen]:
    """Drive the library on both; `wanted`: so many drawn scenarios that start.

    Raises:
        PeerError: an engine does not start; one line.
    """
    progress("driving the library on both ...")
    supported = supported_by(base, head)
    seen = [_seen(one, base, head) for one in known(supported)]
    started = 0
    for number in range(1, MOST_DRAWN + 1):
        if started == wanted:
            break
        one = _seen(drawn(number, supported), base, head)
        started += not (one.base.refusal and one.head.refusal)
        seen.append(one)
    return seen


def _seen(one: Listed, base: Driver, head: Driver) -> Seen:
    return Seen(one, behaviour(base.run(one.scenario)), behaviour(head.run(one.scenario)))


def summed(seen: list[Seen]) -> BehaviourRecord:
    """How many requests differ in what, and the first of them: one a scenario and aspect."""
    counted: Counter[str] = Counter()
    refused: Counter[str] = Counter()
    first: dict[tuple[str, str], BehaviourChange] = {}
    both = requests = 0
    for one in seen:
        if one.on_both:
            both += 1
            requests += len(one.base.requests)
        else:
            refused[_who(one)] += 1
        for change in _changes(one):
            counted[change.aspect] += 1
            first.setdefault((change.scenario, change.aspect), change)
    shown = list(first.values())[:SHOWN]
    names = {change.scenario for change in shown}
    files = (one.listed for one in seen if one.listed.name in names)
    return BehaviourRecord(
        scenarios=len(seen),
        driven_on_both=both,
        requests=requests,
        refused=dict(sorted(refused.items())),
        changes=dict(sorted(counted.items())),
        first=shown,
        files={one.name: dump_scenario(one.scenario) for one in files},
    )


def _who(one: Seen) -> str:
    if one.base.refusal is not None and one.head.refusal is not None:
        return "both"
    return "base" if one.base.refusal is not None else "head"


def _changes(one: Seen) -> Iterator[BehaviourChange]:
    name, base, head = one.listed.name, one.base, one.head
    if not one.on_both:
        yield from _change(name, "", "start", _start(base), _start(head))
        return
    yield from _change(name, "", "fault", base.fault or "none", head.fault or "none")
    for request, before in base.requests.items():
        after = head.requests[request]
        yield from _change(name, request, "carve", before.carve, after.carve)
        yield from _change(name, request, "stored", before.stored, after.stored)
        yield from _change(name, request, "hit", before.hit, after.hit)


def _change(
    scenario: str, request: str, aspect: str, base: str, head: str
) -> Iterator[BehaviourChange]:
    if base != head:
        yield BehaviourChange(
            scenario=scenario, request=request, aspect=aspect, base=base, head=head
        )


def _start(one: Behaviour) -> str:
    return "starts" if one.refusal is None else "refuses"


def _numbers(values: list[int]) -> str:
    return " ".join(map(str, values)) or "none"


def _hit(tokens: int | None) -> str:
    return "no lookup" if tokens is None else str(tokens)
