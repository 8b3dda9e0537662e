"""The data plane is held to the events: right by default and under every historic rule set, and a
fault in what moves bytes is found as what it is: a wrong page, a false read, or a wrong number."""

from collections.abc import Iterator
from typing import Any

import pytest
import torch

from truehit.engine.model import gathered
from truehit.engine.model.backend import TorchBackend
from truehit.engine.model.plane import Plane
from truehit.proofs.differ.compare import DataDiffers, compare
from truehit.proofs.differ.data_difference import (
    DataDifference,
    LogitsDiffer,
    PageDiffers,
    ReadsDiffer,
    data_sentence,
)
from truehit.proofs.differ.draw import draw_run
from truehit.proofs.differ.subject import Subject, load
from truehit.proofs.differ.text import plain
from truehit.reference.ruleset import RULE_SETS

RUNS = 8
SEEDS = 30


@pytest.fixture(scope="module")
def on_torch() -> Iterator[Subject]:
    threads = torch.get_num_threads()
    yield load("engine-on-torch")
    torch.set_num_threads(threads)


def test_pages_and_logits_follow_from_the_events(on_torch: Subject) -> None:
    pages = tokens = 0
    largest = 0.0
    for seed in range(0, 2 * RUNS, 2):
        drawn = draw_run(seed, None)
        assert drawn.rules == "default"
        done = compare(drawn.scenario, drawn.rules, on_torch)
        assert done.difference is None, plain(done.difference)
        pages, tokens = pages + done.data.pages, tokens + done.data.tokens
        largest = max(largest, done.data.largest)
    assert pages > 100 * RUNS
    assert tokens > 100 * RUNS
    assert 0 < largest < 1e-12


@pytest.mark.parametrize("rules", sorted(RULE_SETS))
def test_garbage_is_where_the_law_says_it_is(rules: str, on_torch: Subject) -> None:
    seed = 5 * sorted(RULE_SETS).index(rules)
    done = compare(draw_run(seed, rules).scenario, rules, on_torch)
    assert done.difference is None, plain(done.difference)


def found(subject: Subject) -> DataDifference:
    """The first difference of drawn runs under the default rules."""
    for seed in range(0, 2 * SEEDS, 2):
        drawn = draw_run(seed, "default")
        difference = compare(drawn.scenario, "default", subject).difference
        if difference is not None:
            assert isinstance(difference, DataDiffers), plain(difference)
            return difference.what
    raise AssertionError(f"equal in {SEEDS} runs")


def test_a_lost_copy_is_a_wrong_page(on_torch: Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TorchBackend, "copy_pages", lambda *_: None)
    difference = found(on_torch)
    assert isinstance(difference, PageDiffers)
    assert difference.held != difference.told
    assert data_sentence(difference).startswith(f"page {difference.block} of ")


def test_a_state_that_is_written_a_token_late_is_a_wrong_page(
    on_torch: Subject, monkeypatch: pytest.MonkeyPatch
) -> None:
    true = TorchBackend.state_slots

    def late(self: TorchBackend, rows: Any, grid: int, tokens: int) -> Any:
        sources, targets, exports = true(self, rows, grid, tokens)
        return sources, targets.roll(1), exports

    monkeypatch.setattr(TorchBackend, "state_slots", late)
    assert isinstance(found(on_torch), PageDiffers | ReadsDiffer)


def test_a_seed_from_another_column_is_a_false_read(
    on_torch: Subject, monkeypatch: pytest.MonkeyPatch
) -> None:
    true = Plane.begin

    def begin(self: Plane, slot: int, start: int, block: int) -> None:
        true(self, slot, start, block + 1)

    monkeypatch.setattr(Plane, "begin", begin)
    difference = found(on_torch)
    assert isinstance(difference, PageDiffers | ReadsDiffer)


def test_a_window_that_is_not_saved_is_a_wrong_number(
    on_torch: Subject, monkeypatch: pytest.MonkeyPatch
) -> None:
    true: Any = TorchBackend.causal_conv

    def forgets(self: TorchBackend, *arguments: Any) -> Any:
        *others, to = arguments
        return true(self, *others, torch.zeros_like(to))

    monkeypatch.setattr(TorchBackend, "causal_conv", forgets)
    assert isinstance(found(on_torch), LogitsDiffer)


def test_a_state_that_is_rounded_is_a_wrong_number(
    on_torch: Subject, monkeypatch: pytest.MonkeyPatch
) -> None:
    true = TorchBackend.delta_decode

    def rounds(self: TorchBackend, x: Any, states: torch.Tensor, *others: torch.Tensor) -> Any:
        result = true(self, x, states, *others)
        kept = others[-1][others[-1] != 0].long()
        states[kept] = states[kept].bfloat16().to(states.dtype)
        return result

    monkeypatch.setattr(TorchBackend, "delta_decode", rounds)
    difference = found(on_torch)
    assert isinstance(difference, LogitsDiffer)
    assert difference.tolerance < difference.by < 1
    assert "all pages are right and the logits differ by" in data_sentence(difference)


def test_an_entry_that_is_not_stored_is_a_wrong_number(
    on_torch: Subject, monkeypatch: pytest.MonkeyPatch
) -> None:
    true = gathered.store

    def skips(cache: Any, places: Any, key: torch.Tensor, value: torch.Tensor) -> None:
        pages, offsets = places
        true(cache, (pages.clone().index_fill_(0, torch.tensor([0]), 0), offsets), key, value)

    monkeypatch.setattr(gathered, "store", skips)
    difference = found(on_torch)
    assert isinstance(difference, LogitsDiffer)
    assert difference.by == torch.inf
