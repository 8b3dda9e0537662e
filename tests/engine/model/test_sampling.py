"""Sampled tokens have the distribution of softmax, whatever drafts are proposed; a draft is
accepted exactly when it is what would have been chosen."""

import pytest
import torch
from torch import Tensor

from truehit.engine.model.sampling import Greedy, Sampled, choose, verify

VOCABULARY = 12
DRAWS = 4000
LOGITS = torch.linspace(-1.5, 1.5, VOCABULARY).roll(5)
CHI_SQUARE_11 = 31.3
"""Exceeded once in a thousand by chance with 11 degrees of freedom; the seeds are fixed."""


def _chi_square(counts: Tensor, temperature: float) -> float:
    expected = (LOGITS.double() / temperature).softmax(0) * counts.sum()
    return float(((counts - expected) ** 2 / expected).sum())


def _counts(chosen: list[int]) -> Tensor:
    return torch.bincount(torch.tensor(chosen), minlength=VOCABULARY)


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
def test_positions_are_draws_from_softmax(temperature: float) -> None:
    sampling = Sampled(temperature, seed=3)
    counts = _counts([choose(LOGITS, sampling, position) for position in range(DRAWS)])
    assert _chi_square(counts, temperature) < CHI_SQUARE_11
    assert _chi_square(counts, 1.5 * temperature) > 3 * CHI_SQUARE_11, "the check can fail"


def test_seeds_are_draws_from_softmax() -> None:
    counts = _counts([choose(LOGITS, Sampled(1.0, seed), 17) for seed in range(DRAWS)])
    assert _chi_square(counts, 1.0) < CHI_SQUARE_11


@pytest.mark.parametrize("far", [1 << 32, 1 << 64])
def test_far_positions_and_large_seeds_differ(far: int) -> None:
    """No bit of a seed is lost, below 64."""
    even = torch.zeros(1 << 16)
    assert choose(even, Sampled(1.0, 1), 0) != choose(even, Sampled(1.0, 1 + far // 2), 0)
    assert choose(even, Sampled(1.0, 1), 0) != choose(even, Sampled(1.0, 1), far // 2)
    assert choose(even, Sampled(1.0, far // 2), 0) != choose(even, Sampled(1.0, far // 2 + 1), 0)
    assert choose(even, Sampled(1.0, -1), 0) != choose(even, Sampled(1.0, 0), 0)


def test_drafts_do_not_move_the_distribution() -> None:
    """The token at the first position is the same for every draft, and so is the next one."""
    logits = LOGITS.expand(2, -1)
    firsts, seconds, accepted = [], [], 0
    for position in range(0, 2 * DRAWS, 2):
        sampling = Sampled(1.0, seed=8)
        made = verify(logits, [position // 2 % VOCABULARY], sampling, position, 9)
        wanted = [choose(LOGITS, sampling, position), choose(LOGITS, sampling, position + 1)]
        assert made == wanted[: len(made)]
        firsts.append(made[0])
        if len(made) == 2:
            accepted += 1
            seconds.append(made[1])
    assert _chi_square(_counts(firsts), 1.0) < CHI_SQUARE_11
    assert _chi_square(_counts(seconds), 1.0) < CHI_SQUARE_11
    assert abs(accepted / DRAWS - 1 / VOCABULARY) < 0.02


def _peaks(*wanted: int) -> Tensor:
    return torch.nn.functional.one_hot(torch.tensor(wanted), VOCABULARY).float()


@pytest.mark.parametrize(
    ("drafts", "most", "made"),
    [
        ([], 9, [4]),
        ([4, 7], 9, [4, 7, 2]),
        ([4, 8], 9, [4, 7]),
        ([5, 7], 9, [4]),
        ([4, 7], 2, [4, 7]),
        ([4, 7], 1, [4]),
    ],
)
def test_drafts_are_accepted_up_to_the_first_wrong_one(
    drafts: list[int], most: int, made: list[int]
) -> None:
    logits = _peaks(4, 7, 2)[: len(drafts) + 1]
    assert verify(logits, drafts, Greedy(), 0, most) == made


@pytest.mark.parametrize("temperature", [0.0, -1.0, float("nan")])
def test_a_temperature_that_is_not_above_zero_is_refused(temperature: float) -> None:
    with pytest.raises(ValueError, match=r"^temperature: .* is not above 0; 1\.0 works$"):
        Sampled(temperature, 0)
