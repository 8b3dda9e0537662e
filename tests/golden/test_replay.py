"""The replay of the golden cases and the provenance law say the same of poisoned and clean runs."""

from collections.abc import Callable

import pytest

from truehit.proofs.golden.cases_s0 import BUGGY, FIXED, collision
from truehit.proofs.golden.cases_s1_grid import OLD, ringed, uneven
from truehit.proofs.golden.cases_s4 import POST, PRE, drafted
from truehit.proofs.golden.geometries import checkpointing
from truehit.proofs.golden.runs import books, doc, in_turn
from truehit.reference.run import Run
from truehit.spec.ghost import describe
from truehit.spec.laws.judge import check_trace

RUNS: dict[str, tuple[int, Callable[[], Run]]] = {
    "scratch left": (1, lambda: collision(BUGGY, 23424, checkpointing())),
    "scratch moved": (0, lambda: collision(FIXED, 23424, checkpointing())),
    "grid of 4": (8, lambda: in_turn(OLD, ringed(), [doc(15680)] * 2)),
    "grid of 816": (1, lambda: in_turn(OLD, uneven(), [doc(5000)])),
    "aligned below last": (
        1,
        lambda: in_turn(PRE, drafted(560, 16), [doc(4200)], budgets=(3360, 302)),
    ),
    "aligned": (0, lambda: in_turn(POST, drafted(560, 16), [doc(4200)], budgets=(3360, 302))),
}


@pytest.mark.parametrize("name", RUNS)
def test_replay_agrees_with_the_provenance_law(name: str) -> None:
    poisoned, make = RUNS[name]
    result = make()
    replayed = [
        f"request {claim.request}: column {claim.column} is published as state@{claim.tokens}"
        f" but holds {describe(claim.holds)}"
        for claim in books(result).poison
    ]
    law = check_trace(result.events).of_law("provenance")
    assert len(replayed) == poisoned
    assert sorted(v.sentence.partition(" (step")[0] for v in law) == sorted(replayed)
