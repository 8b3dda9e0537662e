"""Ghosts name the page that is not its reader's, what it was taken for and what it holds; floats
that are wrong in the right page are the logits' business."""

from collections.abc import Sequence

import pytest
import torch

from truehit.engine import fields as f
from truehit.engine.model.alone import compute_alone
from truehit.engine.model.backend import TorchBackend
from truehit.engine.model.ghost import MOST_SPANS, WORD, ZERO, Ghosts, Held, Paths, fold
from truehit.engine.model.plane import Model
from truehit.engine.model.random_model import SMALL, config_for, random_model

from .drive import Driven, hybrid, tokens

GEOMETRY = hybrid(16, 8)
PROMPT = tokens(60, 70, SMALL.vocabulary)
OTHER = tokens(61, 70, SMALL.vocabulary)
STATES, PAGES = 0, 1


@pytest.fixture(scope="module")
def model() -> Model:
    return random_model(config_for(GEOMETRY), 4, torch.float64, torch.device("cpu"))


@pytest.fixture
def driven(model: Model) -> Driven:
    """Both documents were served, and the first one waits again (request 2)."""
    made = Driven(model, GEOMETRY)
    for document in (PROMPT, OTHER):
        made.serve(document)
    assert made.submit(PROMPT) == 2
    assert made.findings() == []
    return made


def _blocks(driven: Driven, prompt: Sequence[int], group: int) -> list[int]:
    """What a request of this prompt would adopt."""
    number = driven.server.engine.submit(prompt, output_tokens=1)
    blocks: list[int] = driven.server.engine.find(number).blocks[group].tolist()
    driven.server.engine.abort(number)
    return blocks


def _step(driven: Driven) -> int:
    """Number of the step that runs next."""
    return driven.server.engine.statistics().steps


def _read(driven: Driven) -> list[str]:
    """Findings of the step that resumes request 2."""
    driven.finish()
    assert driven.hit(2) == 64
    return driven.findings()


def test_intact_pages_are_no_findings(driven: Driven) -> None:
    assert _read(driven) == []


def test_a_state_page_of_unwritten_bytes(driven: Driven) -> None:
    (block,) = _blocks(driven, PROMPT, STATES)
    driven.server.plane.refresh([block])
    step = _step(driven)
    assert _read(driven) == [
        f"request 2: page {block} (column 3 of state-0) is read as state@64 and holds nothing "
        f"(step {step})"
    ]


def test_a_page_of_unwritten_bytes(driven: Driven) -> None:
    block = _blocks(driven, PROMPT, PAGES)[5]
    driven.server.plane.refresh([block])
    step = _step(driven)
    assert _read(driven) == [
        f"request 2: page {block} (column 5 of full-0) is read as entry 40 and holds nothing "
        f"(step {step})"
    ]


def test_the_state_of_another_position(driven: Driven) -> None:
    (block,) = _blocks(driven, PROMPT, STATES)
    (earlier,) = _blocks(driven, PROMPT[:49], STATES)
    driven.server.plane.copy([(earlier, block)])
    step = _step(driven)
    assert _read(driven) == [
        f"request 2: page {block} (column 3 of state-0) is read as state@64 and holds state@48 "
        f"(step {step})"
    ]


def test_the_state_of_other_tokens(driven: Driven) -> None:
    (block,), (other,) = (_blocks(driven, text, STATES) for text in (PROMPT, OTHER))
    driven.server.plane.copy([(other, block)])
    step = _step(driven)
    assert _read(driven) == [
        f"request 2: page {block} (column 3 of state-0) is read as state@64 and holds state@64 of "
        f"other tokens (step {step})"
    ]


def test_the_entries_of_another_position_and_of_other_tokens(driven: Driven) -> None:
    own, other = (_blocks(driven, text, PAGES) for text in (PROMPT, OTHER))
    driven.server.plane.copy([(other[3], own[3])])
    step = _step(driven)
    assert _read(driven) == [
        f"request 2: page {own[3]} (column 3 of full-0) is read as entry 24 and holds entry 24 of "
        f"other tokens (step {step})"
    ]
    driven.server.plane.copy([(own[1], own[2])])
    driven.server.plane.watch.ghosts.findings.clear()  # type: ignore[union-attr]
    number, step = driven.submit(PROMPT), _step(driven)
    driven.finish()
    assert driven.findings() == [
        f"request {number}: page {own[2]} (column 2 of full-0) is read as entry 16 and holds "
        f"entry 8 (step {step})"
    ]


def _repoint(driven: Driven, number: int, group: int, column: int, block: int) -> int:
    """A request's table names another block in one column; returns the one it named."""
    core = driven.server.engine.host.core
    slot = driven.server.engine.host.slots[number]
    at = int(core.table[slot, group, f.T_AT]) + column
    had, core.column[at] = int(core.column[at]), block
    return had


def test_a_table_that_points_elsewhere(model: Model) -> None:
    driven = Driven(model, GEOMETRY)
    driven.serve(OTHER)
    number = driven.submit(PROMPT, 12)
    while not driven.server.output(number):
        driven.step()
    state = _blocks(driven, OTHER[:33], STATES)[0]
    pages = _blocks(driven, OTHER, PAGES)
    running = (len(driven.text(number)) - 2) // 16
    had = _repoint(driven, number, STATES, running, state)
    first = _step(driven)
    driven.step()
    # The page has a key, so the engine writes to a copy: the copy is what is read.
    copy = int(driven.server.engine.table(number, STATES)[running])
    assert copy not in (state, had) and driven.seen.copies == {STATES: 1}
    assert driven.findings() == [
        f"request {number}: page {copy} (column {running} of state-0) is read as state@70 and "
        f"holds state@32 (step {first})"
    ]
    _repoint(driven, number, STATES, running, had)
    findings = driven.server.plane.watch.ghosts.findings  # type: ignore[union-attr]
    findings.clear()
    page = _repoint(driven, number, PAGES, 2, pages[4])
    driven.step()
    sentence = (
        f"page {pages[4]} (column 2 of full-0) is read as entry 16 and holds entry 32 "
        f"(step {first + 1})"
    )
    assert f"request {number}: {sentence}" in driven.findings()
    _repoint(driven, number, PAGES, 2, 0)
    findings.clear()
    driven.step()
    hole = f"page 0 (column 2 of full-0) is read as entry 16 and holds nothing (step {first + 2})"
    assert f"request {number}: {hole}" in driven.findings()
    _repoint(driven, number, PAGES, 2, page)
    driven.server.engine.abort(number)


def test_a_hole_where_the_state_was(model: Model) -> None:
    driven = Driven(model, GEOMETRY)
    number = driven.submit(PROMPT, 12)
    while not driven.server.output(number):
        driven.step()
    had = _repoint(driven, number, STATES, 4, 0)
    step = _step(driven)
    driven.step()
    assert driven.findings() == [
        f"request {number}: page 0 (column 4 of state-0) is read as state@70 and holds the zero "
        f"state (step {step})"
    ]
    _repoint(driven, number, STATES, 4, had)


@pytest.mark.parametrize(
    ("document", "tokens_of_it", "stretches"),
    [(PROMPT, 32, "[0, 32) + [64, 96)"), (OTHER, 64, "[0, 64) + [64, 96)")],
    ids=["another-position", "other-tokens"],
)
def test_a_wrong_state_is_traced_to_what_it_has_consumed(
    driven: Driven, document: list[int], tokens_of_it: int, stretches: str
) -> None:
    """What a false reader published stays false, even where it has the right length."""
    (block,) = _blocks(driven, PROMPT, STATES)
    (wrong,) = _blocks(driven, document[: tokens_of_it + 1], STATES)
    driven.server.plane.copy([(wrong, block)])
    longer = PROMPT + tokens(62, 30, SMALL.vocabulary)
    poisoned = driven.submit(longer)
    driven.finish()
    assert driven.hit(poisoned) == 64
    reader, step = driven.submit(longer), _step(driven)
    (page,) = _blocks(driven, longer, STATES)
    driven.finish()
    assert driven.hit(reader) == 96
    assert driven.findings()[-1] == (
        f"request {reader}: page {page} (column 5 of state-0) is read as state@96 and holds tokens "
        f"{stretches} (step {step})"
    )


@pytest.mark.parametrize("group", [STATES, PAGES])
def test_wrong_floats_in_the_right_page(driven: Driven, group: int) -> None:
    """No finding: the logits tell."""
    plane = driven.server.plane
    blocks = _blocks(driven, PROMPT, group)
    own = next(layer for layer in plane.pool.layout.layers if layer.group == group)
    view = plane.pool.view(own.values if group == PAGES else own.states)  # type: ignore[union-attr]
    view[blocks[0]] += 0.5
    assert _read(driven) == []
    alone = compute_alone(plane.model, GEOMETRY, TorchBackend(), PROMPT)
    assert driven.largest_difference(2, alone.logits) > 1e-3


def test_wrong_ghosts_beside_right_floats(driven: Driven) -> None:
    """A finding, and the logits do not tell: the two planes are independent."""
    (block,) = _blocks(driven, PROMPT, STATES)
    ghosts = driven.server.plane.watch.ghosts  # type: ignore[union-attr]
    ghosts.write_state(STATES, block, Held(63, 1, ((0, 63),)))
    (finding,) = _read(driven)
    assert finding.startswith(
        f"request 2: page {block} (column 3 of state-0) is read as state@64 and holds state@63"
    )
    alone = compute_alone(driven.server.plane.model, GEOMETRY, TorchBackend(), PROMPT)
    assert driven.largest_difference(2, alone.logits) < 1e-9


# --- parts ----------------------------------------------------------------------------------------


def _ghosts(model: Model) -> Ghosts:
    plane = compute_alone(model, GEOMETRY, TorchBackend(), [1], is_watched=True).plane
    assert plane.watch is not None
    return plane.watch.ghosts


def test_digests_tell_order_and_length_apart() -> None:
    def digest(*ids: int) -> int:
        folded = 0
        for token in ids:
            folded = fold(folded, token)
        return folded

    own = [digest(*ids) for ids in ((), (1,), (1, 2), (2, 1), (1, 2, 0), (0, 1, 2), (0,), (0, 0))]
    assert len(set(own)) == len(own)
    assert all(-WORD // 2 <= value < WORD // 2 for value in own)


def test_paths_follow_tokens_that_were_taken_back() -> None:
    paths, fresh = Paths(), Paths()
    paths.digests(0, [1, 2, 3, 4])
    assert paths.digests(0, [1, 2, 9, 4, 5]) == fresh.digests(0, [1, 2, 9, 4, 5])
    # A shorter path keeps what is known of the longer one.
    assert paths.digests(0, [1, 2])[:3] == fresh.digests(1, [1, 2])
    paths.forget(0)
    assert paths.digests(0, [7]) == fresh.digests(2, [7])


def test_stretches_join_and_the_oldest_are_forgotten(model: Model) -> None:
    ghosts, path = _ghosts(model), list(range(100))
    assert ghosts.consume(None, 0, path, 0, 5) is None
    assert ghosts.consume(ZERO, 0, path, 5, 5) is ZERO
    held = ghosts.consume(ZERO, 0, path, 0, 10)
    assert held == Held(10, ghosts.paths.digests(0, path)[10], ((0, 10),))
    for start in (20, 40, 50, 70, 90):
        held = ghosts.consume(held, 0, path, start, start + 10)
    assert held is not None and held.tokens == 60
    assert held.spans == ((0, 10), (20, 30), (40, 60), (70, 80), (90, 100))
    ghosts.write_state(STATES, 1, held)
    kept = ghosts.state(STATES, 1)
    assert kept == Held(60, held.digest, held.spans[-MOST_SPANS:])


def test_the_null_page_is_the_zero_state_and_never_written(model: Model) -> None:
    ghosts = _ghosts(model)
    ghosts.write_state(STATES, 0, Held(1, 2, ((0, 1),)))
    none = torch.zeros(2, dtype=torch.int32)
    ghosts.write_entries(PAGES, none, none, [(1, 2), (3, 4)])
    assert ghosts.state(STATES, 0) is ZERO
    assert not ghosts.entries(PAGES, [0]).any()
