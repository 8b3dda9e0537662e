"""Generation: greedy tokens are those of transformers, and a sampled token depends on nothing but
seed, position and prefix: not on chunks, drafts, the batch or the cache."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from truehit.engine.model.drafter import Drafter, PromptLookup
from truehit.engine.model.sampling import Sampled

from .drive import Driven, Scripted, hybrid, tokens
from .theirs import Pair, network, save

PROMPTS = [tokens(31, 40), tokens(32, 75), tokens(33, 7)]
COUNT = 24
MARGIN = 1e-3


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    folder: Path = tmp_path_factory.mktemp("dense-next")
    return save(network("dense-next", 2), folder)


def _same_where_certain(pair: Pair, prompt: Sequence[int], made: Sequence[int]) -> int:
    """Generated tokens compared, up to the first whose two best logits are too close."""
    wanted = pair.greedy(prompt, COUNT)
    logits = pair.logits([*prompt, *wanted])[len(prompt) - 1 : -1]
    best = logits.topk(2, dim=-1).values
    thin = (best[:, 0] - best[:, 1] < MARGIN).nonzero().flatten().tolist()
    certain = thin[0] if thin else COUNT
    assert list(made[:certain]) == wanted[:certain]
    return int(certain)


@pytest.mark.parametrize("name", ["none", "lookup", "half-right"])
def test_greedy_tokens_are_those_of_transformers(pair: Pair, name: str) -> None:
    texts = [prompt + pair.greedy(prompt, COUNT) for prompt in PROMPTS]
    drafters: dict[str, Drafter] = {
        "none": PromptLookup(),
        "lookup": PromptLookup(),
        "half-right": Scripted(texts, lambda position: position % 2 == 0),
    }
    geometry = hybrid(drafts=0 if name == "none" else 4, budget_tokens=30)
    driven = Driven(pair.ours, geometry, drafters[name])
    numbers = [driven.submit(prompt, COUNT) for prompt in PROMPTS]
    driven.finish()
    certain = sum(
        _same_where_certain(pair, prompt, driven.server.output(number))
        for prompt, number in zip(PROMPTS, numbers, strict=True)
    )
    assert certain > 0.8 * COUNT * len(PROMPTS)
    assert max(driven.seen.rows) == len(PROMPTS)
    assert (driven.seen.accepted + driven.seen.rejected > 0) == (name != "none")


def test_sampled_tokens_depend_on_the_prefix_alone(pair: Pair) -> None:
    sampling = Sampled(temperature=0.8, seed=5)
    made: dict[str, list[list[int]]] = {}

    def serve(name: str, driven: Driven, times: int = 1) -> Driven:
        for _ in range(times):
            numbers = [
                driven.server.submit(prompt, output_tokens=COUNT, sampling=sampling)
                for prompt in PROMPTS
            ]
            driven.finish()
        made[name] = [driven.server.output(number) for number in numbers]
        return driven

    serve("plain", Driven(pair.ours, hybrid()))
    texts = [prompt + own for prompt, own in zip(PROMPTS, made["plain"], strict=True)]
    drafter = Scripted(texts, lambda position: position % 3 == 0)
    serve("chunks", Driven(pair.ours, hybrid(budget_tokens=9)))
    drafted = serve("drafts", Driven(pair.ours, hybrid(drafts=3), drafter))
    ahead = hybrid(drafts=3, steps_in_flight=2)
    serve("ahead", Driven(pair.ours, ahead, drafter))
    warm = serve("warm", Driven(pair.ours, hybrid()), times=2)
    serve("one-by-one", Driven(pair.ours, hybrid(max_running=1)))
    assert drafted.seen.accepted and drafted.seen.rejected
    assert warm.hit(len(PROMPTS)) > 0
    assert len({tuple(map(tuple, own)) for own in made.values()}) == 1, made
    assert made["plain"] != [pair.greedy(prompt, COUNT) for prompt in PROMPTS]


def test_other_seeds_make_other_tokens(pair: Pair) -> None:
    driven = Driven(pair.ours, hybrid(max_running=20))
    numbers = [
        driven.server.submit(PROMPTS[0], output_tokens=4, sampling=Sampled(1.0, seed))
        for seed in range(12)
    ]
    driven.finish()
    assert len({tuple(driven.server.output(number)) for number in numbers}) == 12
