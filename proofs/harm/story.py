"""The story of `truehit demo`, small enough to be answered by a model in a second.

Attention pages of 16 tokens, states every 64, one draft token. Two prompts arrive together: the
first one takes most of the step, the second one gets what is left and the rest in the next step.
Then a third one asks one more question about the document of the second."""

from truehit.engine.run import streams_of
from truehit.proofs.harm.answer import Prompt
from truehit.spec.geometry import BlockDrop, DropCap, Geometry, Group, Kind
from truehit.spec.scenario import After, Request, Scenario
from truehit.spec.tokens import Segment

ANSWER_TOKENS = 12


def model_story() -> Scenario:
    """Three prompts in two waves."""
    geometry = Geometry(
        groups=(
            Group("attention", Kind.FULL_ATTENTION, 16, drafted=True),
            Group("state", Kind.RECURRENT_STATE, 64),
        ),
        hash_unit_tokens=16,
        drafts=1,
        drop=BlockDrop(DropCap.MARGIN),
        budget_tokens=128,
        pool_blocks=256,
    )
    document = Segment("document", 100)
    again = (document, Segment("question", 12))
    requests = (
        Request("neighbour", (Segment("chat", 107),), output_tokens=ANSWER_TOKENS),
        Request("ask", (document,), output_tokens=ANSWER_TOKENS),
        Request("again", again, output_tokens=ANSWER_TOKENS, arrival=After("ask")),
    )
    return Scenario("demo on a model", geometry, requests)


def waves_of(scenario: Scenario) -> list[list[Prompt]]:
    """The prompts as token ids: those that come at the start, and those that come after."""
    streams = streams_of(scenario)
    waves: list[list[Prompt]] = [[], []]
    for request in scenario.requests:
        tokens: list[int] = []
        for segment in request.segments:
            first, _ = streams[segment.name]
            tokens += range(first, first + segment.tokens)
        waves[isinstance(request.arrival, After)].append((request.name, tokens))
    return waves
