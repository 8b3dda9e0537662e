"""The smallest input on which two splitters differ: first the sizes, then features and tokens.

Sizes are tried in a reader's order. At the first ones that tell the texts apart the solver halves
the cost, until it says that nothing cheaper does; every step is confirmed by running both texts.
"""

from collections.abc import Mapping

from truehit.adapters.vllm.compare.pair import Difference, Extent, Pair, Rule, Together
from truehit.proofs.lift.evaluator import Assignment
from truehit.proofs.releases.polish import cost
from truehit.proofs.releases.scope import AllSizes, small_geometries
from truehit.proofs.solve import solve

RLIMIT = 5_000_000
"""As for a release's own refutations."""
CHEAPER_RLIMIT = 500_000
"""Past it an input may stay a little larger than it has to."""


def nearest(
    pair: Pair, together: Together, rule: Rule, extent: Extent, found: Assignment
) -> tuple[Difference | None, bool]:
    """The smallest difference that both texts confirm, and whether it is known to be the smallest.
    `found` is the solver's model of the question itself."""
    if not isinstance(together.scope, AllSizes):
        return _cheapest(pair, together, rule, extent, together.inputs(found))
    for sizes in small_geometries():
        there = pair.read(sizes)
        answer = solve(there.question(rule, extent), RLIMIT)
        if answer.verdict == "sat":
            return _cheapest(pair, there, rule, extent, there.inputs(answer.model))
    return pair.run(rule, together.inputs(found)), False


def _cheapest(
    pair: Pair, together: Together, rule: Rule, extent: Extent, inputs: Mapping[str, object]
) -> tuple[Difference | None, bool]:
    best = pair.run(rule, inputs)
    lowest, minimal = 0, best is not None
    while best is not None and lowest < (price := cost(best.inputs)):
        middle = (lowest + price + 1) // 2
        answer = solve(together.cheaper(rule, extent, middle), CHEAPER_RLIMIT)
        found = pair.run(rule, together.inputs(answer.model)) if answer.model else None
        if found is None:
            lowest, minimal = middle, minimal and answer.verdict == "unsat"
        else:
            best = found
    return best, minimal
