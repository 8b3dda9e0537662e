"""A model on the engine's tables: what the pages really hold, and what the logits really are.

Imported only when asked for: the engine wants libraries that a machine with a GPU may not have."""

from truehit.engine.model.backend import BackendName
from truehit.proofs.differ.data_plane import TOLERANCES, TYPES, run_with_data
from truehit.proofs.differ.draw import draw_run
from truehit.proofs.gpu.place import Place
from truehit.proofs.gpu.plan import BROKEN_STORY, HISTORIC_SEEDS, STORY
from truehit.proofs.gpu.record import Neutral
from truehit.spec.geometry import BlockDrop, DropCap, Geometry, Group, Kind
from truehit.spec.scenario import After, Request, Scenario
from truehit.spec.tokens import Segment

BROKEN_RULES = "aligned-below-last"
HEALING_RULES = "default"
BACKENDS = {Place.GPU: BackendName.CUDA, Place.HOST: BackendName.TORCH}


def neutral(item: str, place: Place) -> Neutral:
    """One item, run and compared."""
    scenario, rules, are_expected = _run_of(item)
    name = BACKENDS[place]
    done = run_with_data(scenario, rules, name)
    watch = done.ran.data.plane.watch
    assert watch is not None
    return Neutral(
        item=item,
        difference="" if done.difference is None else str(done.difference),
        largest=done.count.largest,
        tolerance=TOLERANCES[TYPES[name]],
        false_reads=len(watch.ghosts.findings),
        are_expected=are_expected,
    )


def _run_of(item: str) -> tuple[Scenario, str, bool]:
    """Scenario, rules, and whether they must show false reads."""
    if item == STORY:
        return story(), HEALING_RULES, False
    if item == BROKEN_STORY:
        return story(), BROKEN_RULES, True
    seed = int(item.removeprefix("drawn "))
    drawn = draw_run(seed, None)
    return drawn.scenario, drawn.rules, seed in HISTORIC_SEEDS


def story() -> Scenario:
    """Two prompts share a step, so that the second one's chunk ends inside a block; a third request
    goes on from the state that was saved of it."""
    geometry = Geometry(
        groups=(
            Group("attention", Kind.FULL_ATTENTION, 16, drafted=True),
            Group("state", Kind.RECURRENT_STATE, 160),
        ),
        hash_unit_tokens=16,
        drafts=1,
        drop=BlockDrop(DropCap.MARGIN),
        budget_tokens=307,
    )
    document = Segment("document", 250)
    requests = (
        Request("neighbour", (Segment("chat", 271),)),
        Request("ask", (document,), output_tokens=8),
        Request("again", (document, Segment("question", 30)), 8, arrival=After("ask")),
    )
    return Scenario("story", geometry, requests)
