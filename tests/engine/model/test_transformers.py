"""Every way to compute a prompt on pages gives the logits of transformers, within 1e-4 in float32.

Each case also shows that it did what it is about: that it hit, copied, preempted, exported, that
drafts were accepted and rejected."""

from collections.abc import Callable
from pathlib import Path

import pytest

from truehit.engine.model.step import SEGMENT_TOKENS

from .drive import Driven, Scripted, hybrid, tokens
from .theirs import Pair, network, save

KINDS = ("next", "text")
TOLERANCE = 1e-4
PROMPT = tokens(1, 150)


@pytest.fixture(scope="module", params=KINDS)
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Pair:
    folder: Path = tmp_path_factory.mktemp(request.param)
    return save(network(request.param, 1), folder)


@pytest.fixture
def agrees(pair: Pair, record_property: Callable[[str, object], None]) -> Callable[[Driven], None]:
    """All requests of a server agree with transformers, and the ghosts found nothing."""

    def check(driven: Driven) -> None:
        assert driven.findings() == []
        largest = max(
            driven.largest_difference(number, pair.logits(driven.text(number)))
            for number in driven.logits
        )
        print(f"largest difference: {largest:.1e}")
        assert largest < TOLERANCE

    return check


Agrees = Callable[[Driven], None]


def test_full_prompt_in_one_chunk(pair: Pair, agrees: Agrees) -> None:
    # Nothing inside the prompt is kept but its last block, and the tail after that.
    driven = Driven(pair.ours, hybrid(grid=256, attention=16, hash_unit_tokens=16))
    driven.serve(PROMPT)
    assert driven.seen.lengths == [150]
    agrees(driven)


def test_split_at_blocks(pair: Pair, agrees: Agrees) -> None:
    driven = Driven(pair.ours, hybrid(budget_tokens=48))
    driven.serve(PROMPT)
    assert len(driven.seen.lengths) > 4
    assert all(length % 16 == 0 for length in driven.seen.lengths[:-1])
    agrees(driven)


@pytest.mark.parametrize("budget_tokens", [1, 7, 11])
def test_unaligned_splits(pair: Pair, agrees: Agrees, budget_tokens: int) -> None:
    driven = Driven(pair.ours, hybrid(budget_tokens=budget_tokens))
    driven.serve(PROMPT[:90])
    ends = [sum(driven.seen.lengths[: n + 1]) for n in range(len(driven.seen.lengths))]
    assert sum(end % 16 != 0 for end in ends[:-1]) >= 5
    agrees(driven)


def test_second_send_resumes(pair: Pair, agrees: Agrees) -> None:
    driven = Driven(pair.ours, hybrid())
    first, second = (driven.serve(PROMPT, 4) for _ in range(2))
    assert (driven.hit(first), driven.hit(second)) == (0, 144)
    assert driven.text(first) == driven.text(second)
    agrees(driven)


def test_longer_prompt_and_sibling_resume(pair: Pair, agrees: Agrees) -> None:
    driven = Driven(pair.ours, hybrid())
    first = driven.serve(PROMPT, 20)
    longer = driven.serve(driven.text(first) + tokens(2, 21), 3)
    sibling = driven.serve(PROMPT[:77] + tokens(3, 30), 3)
    assert driven.hit(longer) == 160
    assert driven.hit(sibling) == 64
    agrees(driven)


DRAFTERS: dict[str, tuple[Callable[[int], bool], bool, bool]] = {
    "truth": (lambda _: False, True, False),
    "rubbish": (lambda _: True, False, True),
    "mix": (lambda position: position % 3 == 0, True, True),
    "first-wrong-at-a-boundary": (lambda position: position % 16 in (15, 0), True, True),
}


@pytest.mark.parametrize("name", DRAFTERS)
def test_drafts_accepted_and_rejected(pair: Pair, agrees: Agrees, name: str) -> None:
    is_wrong, accepts, rejects = DRAFTERS[name]
    prompts = [PROMPT[:45], tokens(4, 30)]
    texts = [prompt + pair.greedy(prompt, 40) for prompt in prompts]
    driven = Driven(pair.ours, hybrid(drafts=3), Scripted(texts, is_wrong))
    numbers = [driven.submit(prompt, 40) for prompt in prompts]
    driven.finish()
    assert [driven.text(number) for number in numbers] == texts
    assert (driven.seen.accepted > 0, driven.seen.rejected > 0) == (accepts, rejects)
    # What decode wrote at block boundaries is resumed from, too.
    number = driven.serve(texts[0][:80], 5)
    assert driven.hit(number) == 64
    agrees(driven)


def test_copy_on_write_forks(pair: Pair, agrees: Agrees) -> None:
    driven = Driven(pair.ours, hybrid(attention=16, hash_unit_tokens=4, fine_hits=True, drafts=2))
    first = driven.serve(PROMPT[:41], 3)
    forks = [driven.submit(PROMPT[:40] + tokens(seed, 30), 6) for seed in (5, 6)]
    driven.finish()
    assert [driven.hit(number) for number in (first, *forks)] == [0, 40, 40]
    assert driven.seen.copies[0] >= 2, "forks inside a state block"
    assert driven.seen.copies[1] >= 2, "forks inside a page"
    again = driven.serve(PROMPT[:41], 3)
    assert driven.hit(again) == 40
    agrees(driven)


def test_preempted_by_the_client(pair: Pair, agrees: Agrees) -> None:
    driven = Driven(pair.ours, hybrid(budget_tokens=40))
    number, other = driven.submit(PROMPT, 30), driven.submit(tokens(7, 60), 30)
    for _ in range(3):
        driven.step()
    driven.server.engine.preempt(number)
    while len(driven.server.output(number)) < 15:
        driven.step()
    driven.server.engine.preempt(number)
    driven.finish()
    hits = driven.server.requests[number].hits
    assert len(hits) == 3 and hits[1] > 0 and hits[2] > len(PROMPT)
    assert driven.text(number)[len(PROMPT) :] == pair.greedy(PROMPT, 30)
    assert len(driven.server.output(other)) == 30
    agrees(driven)


def test_preempted_by_a_pool_too_small(pair: Pair, agrees: Agrees) -> None:
    geometry = hybrid(
        pool_blocks=44, budget_tokens=64, reserve_full_sequence=False, max_model_tokens=160
    )
    driven = Driven(pair.ours, geometry)
    numbers = [driven.submit(tokens(seed, 70), 60) for seed in (11, 12, 13)]
    driven.finish()
    assert driven.seen.preempted > 0
    assert any(len(driven.server.requests[number].hits) > 1 for number in numbers)
    agrees(driven)


def test_internal_checkpoint(pair: Pair, agrees: Agrees) -> None:
    """States exported from the middle of a chunk are resumed from."""
    geometry = hybrid(
        attention=16, hash_unit_tokens=4, fine_hits=True, checkpoint_alignment_tokens=4
    )
    driven = Driven(pair.ours, geometry)
    driven.serve(PROMPT[:95], 3)
    exported = [position for position in driven.seen.checkpoints if position % SEGMENT_TOKENS]
    assert len(exported) > 1, "inside segments of the kernels"
    for position in exported:
        sibling = driven.serve(PROMPT[: position + 1] + tokens(8, 20), 3)
        assert driven.hit(sibling) == position
    agrees(driven)


@pytest.mark.parametrize(("states", "pages"), [(2, 1), (1, 2), (4, 2)])
def test_several_groups(pair: Pair, agrees: Agrees, states: int, pages: int) -> None:
    driven = Driven(pair.ours, hybrid(states=states, pages=pages, drafts=2, budget_tokens=70))
    first = driven.serve(PROMPT, 12)
    second = driven.serve(driven.text(first) + tokens(9, 20), 12)
    assert driven.hit(second) == 160
    agrees(driven)


@pytest.mark.parametrize("steps_in_flight", [2, 3])
def test_steps_in_flight(pair: Pair, agrees: Agrees, steps_in_flight: int) -> None:
    prompts = [PROMPT[:45], tokens(4, 30)]
    texts = [prompt + pair.greedy(prompt, 40) for prompt in prompts]
    drafter = Scripted(texts, lambda position: position % 4 == 0)
    driven = Driven(pair.ours, hybrid(drafts=3, steps_in_flight=steps_in_flight), drafter)
    numbers = [driven.submit(prompt, 40) for prompt in prompts]
    depths = set()
    while not all(own.is_finished for own in driven.server.requests.values()):
        driven.step()
        depths.add(driven.server.engine.statistics().steps_in_flight)
    assert max(depths) == steps_in_flight - 1
    assert driven.seen.accepted and driven.seen.rejected
    assert [driven.text(number) for number in numbers] == texts
    number = driven.serve(texts[0][:80], 5)
    assert driven.hit(number) == 64
    agrees(driven)


def test_preempted_while_steps_are_in_flight(pair: Pair, agrees: Agrees) -> None:
    """What the device sampled and the engine never learned of is sampled again."""
    prompt = PROMPT[:45]
    texts = [prompt + pair.greedy(prompt, 40)]
    drafter = Scripted(texts, lambda position: position % 5 == 0)
    driven = Driven(pair.ours, hybrid(drafts=3, steps_in_flight=3), drafter)
    number = driven.submit(prompt, 40)
    taken_back = 0
    while not driven.server.requests[number].is_finished:
        driven.step()
        sampled = len(driven.server.output(number))
        if sampled > 10 * (taken_back + 1) and taken_back < 2:
            assert driven.server.engine.statistics().steps_in_flight == 2
            driven.server.engine.preempt(number)
            driven.step()
            taken_back += len(driven.server.output(number)) < sampled
    assert taken_back == 2
    assert len(driven.server.requests[number].hits) >= 3
    assert driven.text(number) == texts[0]
    agrees(driven)


def test_everything_at_once(pair: Pair, agrees: Agrees) -> None:
    """Prefills, decodes and verifications of resumed and fresh requests share steps."""
    geometry = hybrid(attention=16, hash_unit_tokens=4, fine_hits=True, drafts=2, budget_tokens=37)
    driven = Driven(pair.ours, geometry)
    driven.serve(PROMPT[:70], 2)
    for seed, shared in enumerate((70, 44, 0, 30, 68)):
        driven.submit(PROMPT[:shared] + tokens(20 + seed, 25), 12)
        driven.step()
    driven.finish()
    assert max(driven.seen.rows) >= 3
    assert driven.seen.copies.keys() == {0, 1}
    agrees(driven)
