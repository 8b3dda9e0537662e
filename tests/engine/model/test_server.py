"""The server refuses what the engine refuses, says when nothing moves any more, and computes the
same whether or not somebody looks."""

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch

from truehit.engine.model.backend import TorchBackend
from truehit.engine.model.plane import POISON, Model
from truehit.engine.model.random_model import SMALL, config_for, random_model
from truehit.engine.model.sampling import Sampled
from truehit.engine.model.server import IDLE_STEPS, Server, Stalled
from truehit.engine.refused import Refused
from truehit.spec.geometry import Geometry

from .drive import Driven, Scripted, hybrid, tokens

GEOMETRY = hybrid(16, 8, max_model_tokens=100, drafts=2)
PROMPT = tokens(80, 40, SMALL.vocabulary)


@pytest.fixture(scope="module")
def model() -> Model:
    return random_model(config_for(GEOMETRY), 6, torch.float64, torch.device("cpu"))


def _server(model: Model, geometry: Geometry = GEOMETRY) -> Server:
    return Server(model, geometry, TorchBackend())


REFUSALS: list[tuple[Callable[[Server], object], str]] = [
    (lambda s: s.submit([], output_tokens=1), "tokens: 0 of them are no prompt; 1 works"),
    (
        lambda s: s.submit(PROMPT, output_tokens=61),
        "request is 101 tokens, max_model_tokens is 100; 101 would do",
    ),
    (
        lambda s: s.submit(PROMPT, output_tokens=0),
        "output_tokens: 0 is not between 1 and",
    ),
]


@pytest.mark.parametrize(("act", "sentence"), REFUSALS, ids=[s for _, s in REFUSALS])
def test_refused_requests_leave_no_trace(
    model: Model, act: Callable[[Server], object], sentence: str
) -> None:
    server = _server(model)
    with pytest.raises(Refused) as caught:
        act(server)
    assert str(caught.value).startswith(sentence)
    assert server.requests == {}
    number = server.submit(PROMPT, output_tokens=3)
    server.run()
    assert len(server.output(number)) == 3


def test_refused_deployments(model: Model) -> None:
    with pytest.raises(Refused, match=r"^drafts is 16: .*; 15 works$"):
        _server(model, replace(GEOMETRY, drafts=16))
    with pytest.raises(Refused, match=r"^rules: 'none' is not known; 'default' works$"):
        Server(model, GEOMETRY, TorchBackend(), rules="none")
    with pytest.raises(ValueError, match=r"^groups: 2 of them for 1 layers of full_attention"):
        _server(model, hybrid(pages=2))


def test_a_server_whose_requests_never_finish_says_so(model: Model) -> None:
    server = _server(model)
    first, second = (server.submit(PROMPT, output_tokens=3) for _ in range(2))
    server.engine.abort(second)
    with pytest.raises(Stalled) as caught:
        server.run()
    assert str(caught.value) == f"requests [{second}]: 64 steps brought them nothing"
    assert server.requests[first].is_finished and len(server.output(first)) == 3
    before = server.engine.statistics().steps
    with pytest.raises(Stalled):
        server.run()
    assert server.engine.statistics().steps - before == IDLE_STEPS


def test_nothing_to_do_is_done(model: Model) -> None:
    server = _server(model)
    assert server.step() == 0
    server.run()


@pytest.mark.parametrize("steps_in_flight", [1, 3])
def test_nobody_looking_changes_nothing(model: Model, steps_in_flight: int) -> None:
    """Without a watch and with the wanted logits only."""
    geometry = replace(GEOMETRY, steps_in_flight=steps_in_flight, budget_tokens=30)
    outputs = []
    for server in (Driven(model, geometry).server, _server(model, geometry)):
        for _ in range(2):
            numbers = [
                server.submit(PROMPT, output_tokens=20),
                server.submit(PROMPT[5:], output_tokens=20, sampling=Sampled(1.0, 9)),
            ]
            server.run()
        assert server.requests[numbers[0]].hits == [32]
        outputs.append([server.output(number) for number in server.requests])
    assert outputs[0] == outputs[1]


def test_pages_with_a_new_tenant_are_poisoned(model: Model) -> None:
    """In test mode what nobody has written yet is not a number."""
    driven = Driven(model, GEOMETRY)
    number = driven.submit(PROMPT, 3)
    driven.step()
    plane = driven.server.plane
    scratch = driven.server.engine.table(number, 0)[-GEOMETRY.drafts :].tolist()
    assert all(scratch) and bool((plane.pool.bytes[0, scratch] == POISON).all())
    (page,) = driven.server.engine.table(number, 1)[-1:].tolist()
    own = plane.pool.view(plane.pool.layout.layers[-1].keys)[page]  # type: ignore[union-attr]
    kept = driven.seen.lengths[0] % 8 or 8
    assert not own[:kept].isnan().any() and own[kept:].isnan().all()


def test_exactly_the_tokens_asked_for(model: Model) -> None:
    """Drafts that are all accepted never make a request longer."""
    known = Driven(model, GEOMETRY)
    text = known.text(known.serve(PROMPT, 12))
    driven = Driven(model, GEOMETRY, Scripted([text], lambda _: False))
    numbers = [driven.submit(PROMPT, count) for count in range(1, 8)]
    driven.finish()
    assert driven.seen.accepted > 7
    for count, number in enumerate(numbers, start=1):
        assert driven.server.output(number) == text[len(PROMPT) :][:count]
        assert driven.server.requests[number].left_tokens == 0


@pytest.mark.parametrize("steps_in_flight", [1, 3])
def test_an_aborted_request_ends_and_the_others_go_on(model: Model, steps_in_flight: int) -> None:
    geometry = replace(GEOMETRY, steps_in_flight=steps_in_flight)
    alone = _server(model, geometry)
    wanted = alone.submit(PROMPT, output_tokens=9)
    alone.run()
    server = _server(model, geometry)
    first = server.submit(PROMPT[:30], output_tokens=20)
    second = server.submit(PROMPT, output_tokens=9)
    for _ in range(4):
        server.step()
    said = server.output(first)
    server.abort(first)
    server.run()
    assert 0 < len(said) < 20
    assert server.output(second) == alone.output(wanted)
    assert server.engine.statistics().running == 0
    with pytest.raises(Refused):
        server.abort(first)


def test_nothing_is_kept_of_requests_that_ended(model: Model) -> None:
    server = Server(model, GEOMETRY, TorchBackend(), is_watched=True)
    server.submit(PROMPT, output_tokens=4)
    aborted = server.submit(PROMPT[:20], output_tokens=20)
    server.step()
    assert server.plane.watch is not None
    paths = server.plane.watch.ghosts.paths
    assert len(paths) == 2
    server.abort(aborted)
    server.run()
    assert len(paths) == 0
