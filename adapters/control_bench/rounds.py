"""Rounds in turns: the peer, then ours in each form of output, and again.

Whatever else the machine does in the meantime meets both sides alike.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from truehit.adapters.control_bench.side import Session
from truehit.adapters.control_bench.works import Output
from truehit.adapters.vllm.inside.control_peer.clock import Measured

WARM_ROUNDS = 1


@dataclass(frozen=True, slots=True)
class Rounds:
    """What was measured of one workload, round by round, in the same order on both sides."""

    peer: list[Measured]
    ours: dict[Output, list[Measured]]


def interleave(
    peer: Session,
    ours: Mapping[Output, Session],
    rounds: int,
    settle: Callable[[], None],
) -> Rounds:
    """Measure `rounds` rounds of each; a first round of all is not kept.

    `settle` is called before each round of ours; the peer does the same in its own process.
    """
    done = Rounds([], {output: [] for output in ours})
    for number in range(WARM_ROUNDS + rounds):
        measured = peer.measure(number)
        mine = {}
        for output, session in ours.items():
            settle()
            mine[output] = session.measure(number)
        if number >= WARM_ROUNDS:
            done.peer.append(measured)
            for output, one in mine.items():
                done.ours[output].append(one)
    return done
