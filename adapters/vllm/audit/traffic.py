"""Requests that meet each other: resends, siblings, longer and shorter ones, conversations."""

from collections.abc import Iterator
from dataclasses import replace
from random import Random

from truehit.spec.geometry import Geometry
from truehit.spec.scenario import (
    Abort,
    Action,
    After,
    Arrival,
    AtStep,
    Moment,
    Request,
    ResetCache,
)
from truehit.spec.tokens import Segment

LEAST_REQUESTS, MOST_REQUESTS = 2, 7


def draw_requests(random: Random, geometry: Geometry) -> tuple[Request, ...]:
    """Two to seven requests, most of them related to an earlier one."""
    requests: list[Request] = []
    for number in range(random.randint(LEAST_REQUESTS, MOST_REQUESTS)):
        prompt = _prompt(random, geometry, requests)
        output = _output(random, geometry)
        total = sum(segment.tokens for segment in prompt)
        longest = geometry.max_model_tokens - 1
        if total + output > longest:
            output = 1
            prompt = _cut(prompt, longest - output)
        requests.append(
            Request(
                name=f"r{number}",
                segments=prompt,
                output_tokens=output,
                arrival=_arrival(random, requests),
                priority=random.choice([0, 0, 0, 1, -1]),
                accepted=_accepted(random, geometry.drafts),
                salt=random.choice(["", "", "", "", "s"]),
            )
        )
    return tuple(requests)


def _prompt(random: Random, geometry: Geometry, earlier: list[Request]) -> tuple[Segment, ...]:
    if not earlier or random.random() < 0.2:
        return (Segment(f"doc{random.randrange(3)}", _length(random, geometry)),)
    other = random.choice(earlier)
    match random.randrange(6):
        case 0 | 1:
            return other.segments
        case 2:
            cut = _cut(other.segments, min(_length(random, geometry), other.prompt_tokens))
            return (*cut, Segment(f"tail{random.randrange(3)}", _length(random, geometry)))
        case 3:
            return _cut(other.segments, min(_length(random, geometry), other.prompt_tokens))
        case 4:
            more = Segment(f"more{random.randrange(3)}", _length(random, geometry))
            return (*other.segments, more)
        case _:
            answer = Segment(other.output_name, other.output_tokens)
            return (
                *other.segments,
                answer,
                Segment(f"turn{len(earlier)}", random.choice([1, 7, 33])),
            )


def _cut(segments: tuple[Segment, ...], tokens: int) -> tuple[Segment, ...]:
    """The first `tokens` tokens."""
    kept: list[Segment] = []
    for segment in segments:
        if tokens <= 0:
            break
        kept.append(replace(segment, tokens=min(segment.tokens, tokens)))
        tokens -= segment.tokens
    return tuple(kept)


def _length(random: Random, geometry: Geometry) -> int:
    """At an edge, or one off it, or as far as a drop or the drafts reach."""
    sizes = [group.block_tokens for group in geometry.groups]
    base = random.choice([*sizes, *sizes, geometry.hash_unit_tokens, geometry.budget_tokens])
    drafts = geometry.drafts
    off = random.choice([0, 0, 0, 1, -1, 2, -2, drafts, -drafts, drafts + 1, -drafts - 1])
    if random.random() < 0.15:
        off = random.randrange(base)
    longest = geometry.max_model_tokens * 3 // 4
    return min(max(base * random.randint(1, 6) + off, 1), longest)


def _output(random: Random, geometry: Geometry) -> int:
    """Short answers, and some that cross a block."""
    size = geometry.grid_tokens or geometry.hash_unit_tokens
    return random.choice([1, 1, 2, 3, 8, size, size + 1])


def _arrival(random: Random, earlier: list[Request]) -> Arrival:
    if not earlier or random.random() < 0.25:
        return AtStep(0)
    moment = random.choice([Moment.FINISHED, Moment.FINISHED, *Moment])
    return After(random.choice(earlier).name, moment, random.choice([0, 0, 0, 1, 3]))


def _accepted(random: Random, drafts: int) -> tuple[int, ...]:
    if not drafts:
        return ()
    return random.choice(
        [(), (0,), (drafts, 0), tuple(random.randint(0, drafts) for _ in range(5))]
    )


def draw_actions(random: Random, requests: tuple[Request, ...]) -> tuple[Action, ...]:
    """Clients that go away, and a cache that is dropped."""
    return tuple(_actions(random, requests))


def _actions(random: Random, requests: tuple[Request, ...]) -> Iterator[Action]:
    if random.random() < 0.2:
        yield Abort(random.randint(1, 12), random.choice(requests).name)
    if random.random() < 0.05:
        yield ResetCache(random.randint(1, 20))
