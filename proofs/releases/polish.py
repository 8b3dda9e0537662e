"""Makes an example smaller by running it: every step is confirmed by CPython on the source text."""

from collections.abc import Iterator, Mapping

from truehit.proofs.releases import goals
from truehit.proofs.releases.chunk import FEATURES, TOKENS, Chunk
from truehit.proofs.releases.replay import replay
from truehit.proofs.releases.subject import Subject, completed

TOGETHER = (
    ("computed", "prompt", "total", "junction"),
    ("computed", "prompt", "total"),
    ("offered", "budget", "prompt", "total"),
    ("offered", "prompt", "total"),
    ("offered", "budget"),
    ("prompt", "total"),
    *((word,) for word in TOKENS),
)
"""Words that shrink as one, because the premise ties them together."""
MOST_RUNS = 4000


def polish(subject: Subject, obligation: str, inputs: Mapping[str, object]) -> dict[str, object]:
    """A violation that no single move makes cheaper, reached from a confirmed one."""
    best, price = dict(inputs), cost(inputs)
    runs = 0
    improved = True
    while improved and runs < MOST_RUNS:
        improved = False
        for candidate in _moves(best):
            less = cost(candidate)
            if less < price:
                runs += 1
                if replay(subject, obligation, candidate) is not None:
                    best, price, improved = candidate, less, True
                    break
    return best


def cost(inputs: Mapping[str, object]) -> int:
    """The cost of a question."""
    return goals.cost(Chunk(**completed(inputs), scheduled=0, exported=False))  # type: ignore[arg-type]


def _moves(inputs: dict[str, object]) -> Iterator[dict[str, object]]:
    for word in FEATURES:
        if inputs.get(word):
            yield inputs | {word: False}
    if inputs.get("alignment") is not None:
        yield inputs | {"alignment": None}
        yield inputs | {"alignment": 1}
    whole = {word: _number(inputs, word) for word in ("computed", "local_hit", "external_hit")}
    if whole["local_hit"] or whole["external_hit"]:
        yield inputs | {"computed": sum(whole.values()), "local_hit": 0, "external_hit": 0}
    yield inputs | {"prompt": _number(inputs, "total")}
    for words in TOGETHER:
        values = {word: _number(inputs, word) for word in words if word in inputs}
        for step in _steps(inputs, min(values.values(), default=0)):
            yield inputs | {word: value - step for word, value in values.items()}
    offered, budget = _number(inputs, "offered"), _number(inputs, "budget")
    for step in _steps(inputs, offered - 1):
        later = {"computed": whole["computed"] + step, "offered": offered - step}
        yield inputs | later | {"budget": budget - step}
        yield inputs | later


def _steps(inputs: Mapping[str, object], largest: int) -> Iterator[int]:
    """Halves of the largest step, then the sizes, which keep a position's alignment."""
    step = largest
    while step > 0:
        yield step
        step //= 2
    for size in ("read_grid", "grid", "unit"):
        if _number(inputs, size) <= largest:
            yield _number(inputs, size)


def _number(inputs: Mapping[str, object], word: str) -> int:
    value = inputs.get(word, 0)
    return value if isinstance(value, int) else 0
