"""Runs of a faulty oracle on which a law has something to say, without the oracle's assertions.

Our rules are asserted where they are called, so most faults of a rule end a run before there is a
trace. Here the assertions are off: the laws alone have to name the fault.
"""

import ast
import pickle
from pathlib import Path

from truehit.proofs.regress.judged import judged
from truehit.proofs.sweep.draw import draw
from truehit.proofs.sweep.run import feature_sets
from truehit.reference.ruleset import DEFAULT

RUNS = 486
"""Six of each covering set of features."""


def collect(what: str, laws: tuple[str, ...], file: Path) -> list[str]:
    """Keep, for each of the laws, the first trace on which it speaks; returns the silent ones."""
    left = list(laws)
    traces = []
    sets = feature_sets(DEFAULT.name)
    for seed in range(RUNS):
        if not left:
            break
        try:
            result, verdict = judged(draw(seed, sets[seed % len(sets)]), DEFAULT.name)
        except Exception:  # a run that ends early leaves no trace; the next one may
            continue
        for law in [law for law in left if verdict.of_law(law)]:
            traces.append((law, result.events))
            left.remove(law)
    file.write_bytes(pickle.dumps((what, traces)))
    return left


class _Silent(ast.NodeTransformer):
    def visit_Assert(self, node: ast.Assert) -> ast.Pass:
        return ast.Pass()


def without_assertions(text: str) -> str:
    """The same file, asserting nothing."""
    return ast.unparse(_Silent().visit(ast.parse(text)))
