"""What will a prompt hit: sends of it, prompts that contain it, siblings that leave it early.

Everything runs on the oracle, one whole sequence a prompt, because sends are stateful.
"""

from dataclasses import dataclass

from truehit.cli.errors import InputError
from truehit.cli.judging import Judged, judge
from truehit.cli.requests import RequestRow
from truehit.reference.ruleset import RuleSet
from truehit.reference.run import run
from truehit.spec.formulas import extend, legal, offer
from truehit.spec.geometry import Geometry
from truehit.spec.scenario import After, AtStep, Request, Scenario
from truehit.spec.tokens import Segment

DEFAULT_TAIL_TOKENS = 100


@dataclass(frozen=True, slots=True)
class Sibling:
    """A later prompt of `total_tokens` that begins with `shared_tokens` of the first one."""

    shared_tokens: int
    total_tokens: int


@dataclass(frozen=True, slots=True)
class Wish:
    """One prompt, how often it is sent unchanged, who follows, and what every request generates."""

    prompt_tokens: int
    sends: int
    siblings: tuple[Sibling, ...]
    output_tokens: int


@dataclass(frozen=True, slots=True)
class Expected:
    """`formula` of spec.formulas, as text, and its value; `shared_tokens` with earlier prompts."""

    formula: str
    tokens: int
    shared_tokens: int


@dataclass(frozen=True, slots=True)
class Forecast:
    """The run of one prompt and, for each of its requests, what the formulas say."""

    scenario: Scenario
    judged: Judged
    expected: dict[str, Expected]

    @property
    def rows(self) -> tuple[RequestRow, ...]:
        return self.judged.rows


def sibling_of(text: str, prompt_tokens: int) -> Sibling:
    """`3400` (and a tail of its own) or `3400:5000` (total length)."""
    shared_text, colon, total_text = text.partition(":")
    numbers = [shared_text, *([total_text] if colon else [])]
    if not all(number.isascii() and number.isdigit() for number in numbers):
        raise InputError(f"--sibling '{text}' is no SHARED or SHARED:TOTAL; 3400:3500 works")
    shared = int(shared_text)
    total = int(total_text) if colon else shared + DEFAULT_TAIL_TOKENS
    if not 0 < shared <= prompt_tokens:
        raise InputError(
            f"--sibling {text}: shares {shared} of a prompt of {prompt_tokens} tokens; "
            f"{prompt_tokens} works"
        )
    if total <= shared:
        raise InputError(
            f"--sibling {text}: has no token of its own after {shared}; {shared}:{shared + 1} works"
        )
    return Sibling(shared, total)


def wishes_of(
    prompts: list[int], sends: int, siblings: list[str], longer: list[int], output_tokens: int
) -> list[Wish]:
    """One wish a prompt length; every one has the same followers."""
    if not prompts:
        raise InputError("no prompt is given; --prompt 6400 works")
    for option, numbers in (("--prompt", prompts), ("--longer", longer)):
        for number in numbers:
            if number < 1:
                raise InputError(f"{option} is {number}: it has at least one token; 1 works")
    return [
        Wish(
            prompt,
            sends,
            tuple(sibling_of(text, prompt) for text in siblings)
            + tuple(Sibling(prompt, prompt + more) for more in longer),
            output_tokens,
        )
        for prompt in prompts
    ]


def check_lengths(geometry: Geometry, wishes: list[Wish]) -> None:
    """Nobody is longer than the model allows: such a request would be cut, not predicted."""
    limit = geometry.max_model_tokens
    for wish in wishes:
        longest = max([wish.prompt_tokens, *(s.total_tokens for s in wish.siblings)])
        if longest + wish.output_tokens > limit:
            raise InputError(
                f"a prompt of {longest} tokens and {wish.output_tokens} of output exceed "
                f"--max-model {limit}; --max-model {longest + wish.output_tokens} works"
            )


def scenario_of(geometry: Geometry, wish: Wish, rules: str) -> Scenario:
    """The whole sequence: each request arrives when the one before has finished."""
    prompt = wish.prompt_tokens
    doc = "prompt"
    requests: list[Request] = []
    for send in range(1, wish.sends + 1):
        name = f"prompt-{prompt}" if send == 1 else f"prompt-{prompt}#{send}"
        requests.append(_request(name, (Segment(doc, prompt),), requests, wish))
    for index, sibling in enumerate(wish.siblings, start=1):
        own = Segment(f"tail-{index}", sibling.total_tokens - sibling.shared_tokens)
        kind = "longer" if sibling.shared_tokens == prompt else "sibling"
        name = f"{kind}-{sibling.shared_tokens}"
        same = sum(r.name.partition("#")[0] == name for r in requests)
        name = f"{name}#{same + 1}" if same else name
        segments = (Segment(doc, sibling.shared_tokens), own)
        requests.append(_request(name, segments, requests, wish))
    return Scenario(f"predict-{prompt}", geometry, tuple(requests), rules=rules)


def _request(
    name: str, segments: tuple[Segment, ...], before: list[Request], wish: Wish
) -> Request:
    arrival = After(before[-1].name) if before else AtStep(0)
    return Request(name, segments, output_tokens=wish.output_tokens, arrival=arrival)


def needed_blocks(geometry: Geometry, wishes: list[Wish]) -> int:
    """A pool from which no wish evicts anything."""
    needed = 1
    for wish in wishes:
        lengths = [wish.prompt_tokens] * wish.sends + [s.total_tokens for s in wish.siblings]
        blocks = sum(geometry.request_blocks(n + wish.output_tokens) for n in lengths)
        needed = max(needed, 1 + blocks)
    return needed


def forecast(geometry: Geometry, wish: Wish, rules: RuleSet) -> Forecast:
    """Run the sequence and put the formulas beside it."""
    scenario = scenario_of(geometry, wish, rules.name)
    judged = judge(run(scenario, rules).events)
    expected: dict[str, Expected] = {}
    prompt = wish.prompt_tokens
    for index, request in enumerate(scenario.requests):
        if index == 0:
            expected[request.name] = Expected("nothing came before", 0, 0)
        elif index < wish.sends:
            tokens = legal(geometry, prompt)
            expected[request.name] = Expected(f"legal({prompt})", tokens, prompt)
        else:
            sibling = wish.siblings[index - wish.sends]
            expected[request.name] = _of_sibling(geometry, sibling, prompt)
    return Forecast(scenario, judged, expected)


def _of_sibling(geometry: Geometry, sibling: Sibling, prompt: int) -> Expected:
    shared, limit = sibling.shared_tokens, sibling.total_tokens - 1
    tokens = offer(geometry, shared, limit)
    if shared == prompt and tokens == extend(geometry, prompt):
        return Expected(f"extend({prompt})", tokens, shared)
    return Expected(f"offer({shared}, {limit})", tokens, shared)
