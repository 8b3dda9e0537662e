"""The plane copies pages in the order it is told to, and runs one step at a time."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from truehit.engine.model.alone import compute_alone
from truehit.engine.model.backend import TorchBackend
from truehit.engine.model.plane import POISON, Plane
from truehit.engine.model.random_model import SMALL, config_for, random_model
from truehit.engine.model.step import Row, pack

from .drive import hybrid, tokens

GEOMETRY = hybrid(16, 8, pool_blocks=10)
PATH = tokens(70, 20, SMALL.vocabulary)


def _plane(is_watched: bool = False) -> Plane:
    model = random_model(config_for(GEOMETRY), 5, torch.float64, torch.device("cpu"))
    return Plane(model, GEOMETRY, TorchBackend(), is_watched=is_watched)


def _numbered(plane: Plane) -> list[int]:
    """Page n is full of n."""
    for page in range(GEOMETRY.pool_blocks):
        plane.pool.bytes[0, page] = page
    return list(range(GEOMETRY.pool_blocks))


def _content(plane: Plane) -> list[int]:
    pages = plane.pool.bytes[0]
    assert bool((pages == pages[:, :1]).all()), "whole pages were copied"
    numbers: list[int] = pages[:, 0].tolist()
    return numbers


def _check_copies(pairs: list[tuple[int, int]]) -> None:
    plane = _plane()
    wanted = _numbered(plane)
    plane.copy(iter(pairs))
    for source, target in pairs:
        wanted[target] = wanted[source]
    assert _content(plane) == wanted


@pytest.mark.parametrize(
    "pairs",
    [
        [(1, 2), (2, 3), (3, 4)],
        [(3, 4), (2, 3), (1, 2)],
        [(1, 9), (2, 1), (9, 2)],
        [(1, 2), (1, 3), (4, 1), (1, 5)],
        [(1, 2), (3, 2)],
        [],
    ],
)
def test_copies_run_in_order(pairs: list[tuple[int, int]]) -> None:
    _check_copies(pairs)


page = st.integers(1, GEOMETRY.pool_blocks - 1)


@given(st.lists(st.tuples(page, page).filter(lambda pair: pair[0] != pair[1]), max_size=14))
@settings(max_examples=150, deadline=None, derandomize=True)
def test_any_copies_run_in_order(pairs: list[tuple[int, int]]) -> None:
    _check_copies(pairs)


def test_fresh_pages_are_poisoned_only_where_somebody_watches() -> None:
    for is_watched in (False, True):
        plane = _plane(is_watched)
        wanted = _numbered(plane)
        plane.refresh([3, 5, 3])
        plane.refresh([])
        for number in (3, 5) if is_watched else ():
            wanted[number] = POISON
        assert _content(plane) == wanted


def test_a_step_is_settled_before_the_next() -> None:
    alone = compute_alone(_plane().model, GEOMETRY, TorchBackend(), PATH)
    plane = alone.plane
    with pytest.raises(AssertionError, match="no step was run"):
        plane.settle([20])
    row = Row(0, 0, [*PATH, 1], 20, 21, 0, True, alone.tables, 20)
    step = pack([row], torch.device("cpu"))
    plane.forward(step)
    with pytest.raises(AssertionError, match="the step before was not settled"):
        plane.forward(step)
    plane.settle([21])


def test_watching_changes_no_number() -> None:
    model = _plane().model
    runs = [
        compute_alone(model, GEOMETRY, TorchBackend(), PATH, is_watched=is_watched).logits
        for is_watched in (False, True)
    ]
    assert torch.equal(*runs)


def test_the_null_page_is_never_written() -> None:
    alone = compute_alone(_plane().model, GEOMETRY, TorchBackend(), PATH, is_watched=True)
    assert not alone.plane.pool.bytes[0, 0].any()
    assert alone.plane.pool.bytes[0, 1:].any(dim=1).all()
