"""A token attends to itself and to what came before, in a window to its last tokens only; the
sharpest way to say it is which earlier tokens can change its logits."""

from dataclasses import replace

import pytest
import torch

from truehit.engine.model.alone import compute_alone
from truehit.engine.model.backend import TorchBackend
from truehit.engine.model.config import Mixer
from truehit.engine.model.layout import AttentionPages
from truehit.engine.model.plane import Model
from truehit.engine.model.random_model import SMALL, random_model
from truehit.spec.geometry import Group, Kind

from .drive import Driven, hybrid, tokens

LENGTH = 40
PATH = tokens(90, LENGTH, SMALL.vocabulary)


def _model() -> Model:
    config = replace(SMALL, mixers=(Mixer.ATTENTION,), sparse=(False,))
    return random_model(config, 8, torch.float64, torch.device("cpu"))


@pytest.mark.parametrize("window_tokens", [None, 1, 4, 7, 16, 100])
def test_which_tokens_are_seen(window_tokens: int | None) -> None:
    kind = Kind.FULL_ATTENTION if window_tokens is None else Kind.SLIDING_WINDOW
    geometry = replace(
        hybrid(16, 4), groups=(Group("pages", kind, 4, window_tokens=window_tokens),)
    )
    model, changed_at = _model(), 12
    changed = [*PATH[:changed_at], (PATH[changed_at] + 1) % 251, *PATH[changed_at + 1 :]]
    runs = [compute_alone(model, geometry, TorchBackend(), p).logits for p in (PATH, changed)]
    moved = ((runs[0] - runs[1]).abs().amax(dim=-1) > 1e-6).nonzero().flatten().tolist()
    seen = LENGTH if window_tokens is None else window_tokens
    assert moved == list(range(changed_at, min(LENGTH, changed_at + seen)))


def test_a_page_that_left_the_window_is_not_read() -> None:
    """Its bytes are poison, and nothing but its bytes changes."""
    geometry = replace(
        hybrid(16, 4), groups=(Group("pages", Kind.SLIDING_WINDOW, 4, window_tokens=9),)
    )
    driven = Driven(_model(), geometry)
    number = driven.submit(PATH, 12)
    while not driven.server.output(number):
        driven.step()
    plane = driven.server.plane
    layer = plane.pool.layout.layers[0]
    assert isinstance(layer, AttentionPages)
    live = set(driven.server.engine.table(number, 0).tolist()[(LENGTH - 8) // 4 :])
    gone = [page for page in range(1, geometry.pool_blocks) if page not in live]
    plane.refresh(gone)
    assert plane.pool.view(layer.keys)[gone].isnan().all()
    driven.finish()
    assert driven.findings() == []
    alone = compute_alone(plane.model, geometry, TorchBackend(), driven.text(number))
    assert driven.largest_difference(number, alone.logits) < 1e-9


def test_ghosts_look_at_what_the_window_sees() -> None:
    """The page is the same: its last entry outside the window does not matter, the next does."""
    geometry = replace(
        hybrid(16, 4), groups=(Group("pages", Kind.SLIDING_WINDOW, 4, window_tokens=9),)
    )
    for position, is_seen in ((32, False), (33, True)):
        driven = Driven(_model(), geometry)
        number = driven.submit([*PATH, 7], 12)
        while not driven.server.output(number):
            driven.step()
        plane = driven.server.plane
        page = int(driven.server.engine.table(number, 0)[8])
        plane.pool.view(plane.pool.layout.ghosts[0])[page, position % 4] = 0
        driven.step()
        sentence = f"page {page} (column 8 of pages) is read as entry {position} and holds nothing"
        assert [sentence in found for found in driven.findings()] == [True] * is_seen
