"""Neutrality in numbers: whatever is cached, chunked or drafted, a request computes what its tokens
alone would have computed.

In float64 the logits of every position that counted are within 1e-9 of the same tokens computed
alone, the greedy tokens are theirs wherever the two best logits differ by more than that, and no
page held anything but its reader's own tokens."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import pytest
import torch
from torch import Tensor

from truehit.engine.model.alone import compute_alone
from truehit.engine.model.backend import TorchBackend
from truehit.engine.model.drafter import Drafter, PromptLookup
from truehit.engine.model.plane import Model
from truehit.engine.model.random_model import SMALL, config_for, random_model
from truehit.spec.geometry import (
    BlockDrop,
    Drop,
    DropCap,
    Geometry,
    Group,
    Interval,
    Kind,
    Lookahead,
    NoDrop,
    ReachOnly,
)

from .drive import Driven, Scripted, hybrid, tokens

TOLERANCE = 1e-9
OUTPUT = 10
VOCABULARY = SMALL.vocabulary

STATE = Group("state", Kind.RECURRENT_STATE, 8)
FULL = Group("full", Kind.FULL_ATTENTION, 4)
WINDOW = Group("window", Kind.SLIDING_WINDOW, 4, window_tokens=13)
RING = Group("ring", Kind.CIRCULAR_BUFFER, 4)
DRAFTED = replace(FULL, name="drafted", drafted=True)


def _of(*groups: Group, drop: Drop | None = None, drafts: int = 0) -> Geometry:
    return replace(hybrid(8, 4, drafts=drafts), groups=groups, drop=drop or NoDrop())


GEOMETRIES: dict[str, Geometry] = {
    "equal-blocks": hybrid(8, 8, drafts=2),
    "unequal-blocks": hybrid(12, 8, hash_unit_tokens=4, drafts=3),
    "states-larger": hybrid(32, 4, drafts=3),
    "pages-larger": hybrid(8, 32, drafts=3),
    "fine-hits": hybrid(16, 8, hash_unit_tokens=2, fine_hits=True, drafts=3),
    "fine-checkpoints": hybrid(
        16, 8, hash_unit_tokens=4, fine_hits=True, checkpoint_alignment_tokens=4, drafts=1
    ),
    "reach-only": hybrid(8, 4, retention=ReachOnly(), checkpoint_alignment_tokens=8, drafts=3),
    "interval": hybrid(8, 4, retention=Interval(24), drafts=1),
    "two-states-two-pages": hybrid(8, 4, states=2, pages=2, drafts=3),
    "window": _of(STATE, FULL, WINDOW, drafts=3),
    "window-alone": _of(STATE, WINDOW, drafts=2),
    "drop": _of(STATE, FULL, DRAFTED, drop=BlockDrop(DropCap.MARGIN), drafts=3),
    "lookahead": _of(RING, FULL, STATE, drop=Lookahead(3), drafts=2),
    "states-alone": _of(STATE, drafts=2),
    "pages-alone": _of(FULL, WINDOW, drafts=2),
    "ahead": hybrid(8, 4, steps_in_flight=3, drafts=3),
    "small-pool": hybrid(
        8, 4, pool_blocks=64, reserve_full_sequence=False, max_model_tokens=140, drafts=1
    ),
}


@dataclass(slots=True)
class Truth:
    """Paths computed alone, in float64."""

    model: Model
    geometry: Geometry
    known: dict[tuple[int, ...], Tensor] = field(default_factory=dict)

    def logits(self, path: Sequence[int]) -> Tensor:
        key = tuple(path)
        if key not in self.known:
            self.known[key] = compute_alone(self.model, self.geometry, TorchBackend(), path).logits
        return self.known[key]


@dataclass(slots=True)
class Compared:
    """Positions whose logits, and tokens that, were compared; the largest difference."""

    positions: int = 0
    tokens: int = 0
    thin: int = 0
    largest: float = 0.0


def _compare(driven: Driven, truth: Truth, compared: Compared) -> None:
    assert driven.findings() == []
    for number, served in driven.server.requests.items():
        logits = truth.logits(driven.text(number))
        compared.positions += len(driven.logits[number])
        own = driven.largest_difference(number, logits)
        compared.largest = max(compared.largest, own)
        best = logits.topk(2, dim=-1)
        for position in range(served.prompt_tokens, len(served.tokens)):
            first, second = best.values[position - 1].tolist()
            if first - second > TOLERANCE:
                assert served.tokens[position] == best.indices[position - 1, 0], (number, position)
                compared.tokens += 1
            else:
                compared.thin += 1
    assert compared.largest < TOLERANCE


@dataclass(frozen=True, slots=True)
class Variant:
    """`budget_tokens`: None: the geometry's own. `is_cached`: no: nobody shares a salt."""

    budget_tokens: int | None
    is_cached: bool
    is_wrong: Callable[[int], bool] | None


VARIANTS: dict[str, Variant] = {
    "off": Variant(None, False, None),
    "on": Variant(None, True, None),
    "on, small steps, wrong drafts": Variant(7, True, lambda _: True),
    "on, uneven steps, mixed drafts": Variant(23, True, lambda position: position % 3 == 1),
    "off, uneven steps, true drafts": Variant(11, False, lambda _: False),
}
DOCUMENT = tokens(50, 60, VOCABULARY)


def _prompts(answer: Sequence[int]) -> list[list[int]]:
    """Sent one after another: a document, again, its continuation, two siblings."""
    return [
        DOCUMENT,
        DOCUMENT,
        [*DOCUMENT, *answer, *tokens(51, 9, VOCABULARY)],
        DOCUMENT[:41] + tokens(52, 20, VOCABULARY),
        DOCUMENT[:58] + tokens(53, 11, VOCABULARY),
    ]


def _serve(truth: Truth, variant: Variant, texts: list[list[int]]) -> Driven:
    """Two by two; `texts`: all texts that are known already."""
    geometry = truth.geometry
    if variant.budget_tokens is not None:
        geometry = replace(geometry, budget_tokens=variant.budget_tokens)
    drafter: Drafter = PromptLookup()
    if variant.is_wrong is not None:
        drafter = Scripted(texts, variant.is_wrong, VOCABULARY)
    driven = Driven(truth.model, geometry, drafter)
    answer = texts[0][len(DOCUMENT) :] if texts else None
    first = driven.serve(DOCUMENT, OUTPUT, "" if variant.is_cached else "0")
    for index, prompt in enumerate(_prompts(answer or driven.server.output(first))):
        driven.submit(prompt, OUTPUT, "" if variant.is_cached else str(index + 1))
        if index % 2:
            driven.finish()
    driven.finish()
    return driven


@pytest.mark.parametrize("name", GEOMETRIES)
def test_neutrality(name: str) -> None:
    geometry = GEOMETRIES[name]
    model = random_model(config_for(geometry), 3, torch.float64, torch.device("cpu"))
    truth, compared = Truth(model, geometry), Compared()
    texts: list[list[int]] = []
    copies, checkpoints = 0, 0
    for variant in VARIANTS.values():
        driven = _serve(truth, variant, texts)
        copies += sum(driven.seen.copies.values())
        checkpoints += len(driven.seen.checkpoints)
        own = [driven.text(number) for number in sorted(driven.server.requests)]
        texts = texts or own
        assert own == texts
        _compare(driven, truth, compared)
        hits = [max(served.hits) for served in driven.server.requests.values()]
        assert (max(hits) > 0) == variant.is_cached or driven.seen.preempted
        assert not variant.is_cached or sum(hit > 0 for hit in hits) >= 3
        assert driven.seen.accepted or variant.is_wrong is None or variant.is_wrong(0)
        assert driven.seen.rejected or geometry.drafts == 0 or variant.is_wrong is not None
    assert copies > 0 or not geometry.fine_hits
    assert (checkpoints > 0) == geometry.checkpoints
    print(
        f"{name}: {compared.positions} positions, {compared.tokens} tokens ({compared.thin} too "
        f"close), largest difference {compared.largest:.1e}"
    )
    assert compared.tokens > 0.99 * len(VARIANTS) * 6 * OUTPUT


def test_the_pool_that_is_too_small_preempts() -> None:
    geometry = GEOMETRIES["small-pool"]
    model = random_model(config_for(geometry), 3, torch.float64, torch.device("cpu"))
    driven = Driven(model, geometry)
    for seed in range(4):
        driven.submit(tokens(seed, 40, VOCABULARY), 40)
    driven.finish()
    assert driven.seen.preempted
    _compare(driven, Truth(model, geometry), Compared())


def test_a_wrong_state_is_no_rounding_difference() -> None:
    """The tolerance lies far below what a wrong state does, and above what rounding does."""
    geometry = hybrid(8, 4)
    model = random_model(config_for(geometry), 3, torch.float64, torch.device("cpu"))
    driven = Driven(model, geometry, is_watched=False)
    driven.serve(DOCUMENT)
    number = driven.submit(DOCUMENT)
    (block,) = driven.server.engine.find(number).blocks[0].tolist()
    for layer in driven.server.plane.pool.layout.layers:
        if layer.group == 0:
            view = driven.server.plane.pool.view(layer.states)  # type: ignore[union-attr]
            view[block] *= 1 + 1e-6
    driven.finish()
    by = driven.largest_difference(number, Truth(model, geometry).logits(DOCUMENT))
    assert 100 * TOLERANCE < by < 1e-3
