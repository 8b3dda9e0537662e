"""The comparison with transformers can fail: what a resumed request starts from matters.

Before the step that resumes, one thing in the pages it adopts is broken: the convolution window,
the recurrent state or the keys and values of one layer, or the state is that of the boundary
before. Each moves the logits of the resumed tokens by more than 0.1; untouched they agree."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor

from truehit.engine.model.layout import AttentionPages, DeltaNetPages

from .drive import Driven, hybrid, tokens
from .theirs import MIXERS, Pair, network, save

PROMPT = tokens(1, 150)
HIT = 144
NETS = [layer for layer, mixer in enumerate(MIXERS) if mixer == "linear_attention"]
ATTENTIONS = [layer for layer, mixer in enumerate(MIXERS) if mixer == "full_attention"]


@pytest.fixture(scope="module", params=("next", "text"))
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Pair:
    folder: Path = tmp_path_factory.mktemp(request.param)
    return save(network(request.param, 1), folder)


Break = Callable[[Driven, list[list[int]]], None]


def _resumed(pair: Pair, break_: Break) -> float:
    """How far the logits of a resumed request are from transformers'. `break_` gets the blocks that
    the request is about to adopt, by group."""
    driven = Driven(pair.ours, hybrid(), is_watched=False)
    driven.serve(PROMPT)
    number = driven.submit(PROMPT, 1)
    found = driven.server.engine.find(number)
    assert found.hit_tokens == HIT
    break_(driven, [blocks.tolist() for blocks in found.blocks])
    driven.finish()
    assert driven.server.requests[number].hits == [HIT]
    return driven.largest_difference(number, pair.logits(PROMPT))


def _layer(driven: Driven, layer: int) -> tuple[int, Tensor, Tensor]:
    """The group of a layer and its two views of the pool."""
    pool = driven.server.plane.pool
    match pool.layout.layers[layer]:
        case DeltaNetPages() as own:
            return own.group, *pool.delta_net(own)
        case AttentionPages() as own:
            return own.group, *pool.attention(own)


def _zero(layer: int, view: int) -> Break:
    def zero(driven: Driven, blocks: list[list[int]]) -> None:
        group, *views = _layer(driven, layer)
        pages = torch.tensor(blocks[group])
        assert views[view][pages].abs().amax() > 0.1, "there was something to lose"
        views[view][pages] = 0.0

    return zero


def _nothing(driven: Driven, blocks: list[list[int]]) -> None:
    pass


def _neighbour(driven: Driven, blocks: list[list[int]]) -> None:
    """The state of the boundary before, in the page of the boundary."""
    engine = driven.server.engine
    waiting = engine.submit(PROMPT[: HIT - 15], output_tokens=1)
    found = engine.find(waiting)
    assert found.hit_tokens == HIT - 16
    engine.abort(waiting)
    source, target = int(found.blocks[0][0]), blocks[0][0]
    assert source != target
    driven.server.plane.copy([(source, target)])


def test_untouched_pages_agree(pair: Pair) -> None:
    assert _resumed(pair, _nothing) < 1e-4


@pytest.mark.parametrize("layer", NETS)
@pytest.mark.parametrize("what", ["state", "window"])
def test_a_zeroed_state_is_seen(pair: Pair, layer: int, what: str) -> None:
    by = _resumed(pair, _zero(layer, ["state", "window"].index(what)))
    print(f"{what} of layer {layer} zeroed: {by:.2f}")
    assert by > 0.1


@pytest.mark.parametrize("layer", ATTENTIONS)
@pytest.mark.parametrize("what", ["keys", "values"])
def test_zeroed_pages_are_seen(pair: Pair, layer: int, what: str) -> None:
    by = _resumed(pair, _zero(layer, ["keys", "values"].index(what)))
    print(f"{what} of layer {layer} zeroed: {by:.2f}")
    assert by > 0.1


def test_the_state_of_the_boundary_before_is_seen(pair: Pair) -> None:
    by = _resumed(pair, _neighbour)
    print(f"neighbouring state: {by:.2f}")
    assert by > 0.1
