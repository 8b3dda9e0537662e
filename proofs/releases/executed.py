"""What cannot be lifted is run instead: every question of a small scope, *checked up to* its bound.

The scope: equal blocks of one to four tokens with every unit that divides them, prompts of up to
two blocks and one token, and every feature that the source mentions on and off. The defects met so
far need a chunk that passes one boundary from inside a block, which two blocks and a token hold.
"""

import time
from collections.abc import Iterator
from itertools import product

from truehit.proofs.releases.chunk import FEATURES, PATHS
from truehit.proofs.releases.questions import OBLIGATIONS
from truehit.proofs.releases.replay import Example, violations
from truehit.proofs.releases.report import ReleaseRow, Verdict
from truehit.proofs.releases.subject import Subject

WIDEST_BLOCK = 4
RESUMED_OUTPUTS = (0, 2)
STRANGE = (AttributeError, NameError, KeyError, IndexError)
"""What a run raises when the source asks for something this room does not know."""


def executed(subject: Subject) -> list[ReleaseRow]:
    """One row an obligation, from running all questions of the small scope."""
    started = time.process_time()
    found: dict[str, Example] = {}
    runs = 0
    try:
        for inputs in small_scope(mentioned(subject)):
            runs += 1
            for obligation, example in violations(subject, OBLIGATIONS, inputs).items():
                found.setdefault(obligation, example)
    except STRANGE as problem:
        return [_row(o, None, "unknown", f"not executed: {problem}", 0.0) for o in OBLIGATIONS]
    seconds = time.process_time() - started
    domain = f"checked up to block {WIDEST_BLOCK}, {runs} runs"
    return [
        _row(o, found.get(o), "refuted locally" if o in found else "checked", domain, seconds)
        for o in OBLIGATIONS
    ]


def small_scope(features: tuple[str, ...]) -> Iterator[dict[str, object]]:
    """The questions, by size."""
    for block in range(1, WIDEST_BLOCK + 1):
        for unit in (unit for unit in range(1, block + 1) if block % unit == 0):
            sizes = {"grid": block, "read_grid": block, "unit": unit, "scheduler_block": block}
            for prompt, outputs in product(range(1, 2 * block + 2), RESUMED_OUTPUTS):
                for start in range(max(prompt, prompt + outputs - 1)):
                    question = {"computed": start, "prompt": prompt, "total": prompt + outputs}
                    offers = _offers(sizes | question, prompt + outputs - start, block, features)
                    yield from offers


def mentioned(subject: Subject) -> tuple[str, ...]:
    """The features that the source mentions by any of their names."""
    names = subject.splitter.attributes
    return tuple(f for f in FEATURES if any(p.split(".")[-1] in names for p in PATHS[f]))


def _offers(
    question: dict[str, int], most: int, block: int, features: tuple[str, ...]
) -> Iterator[dict[str, object]]:
    for offered, wide in product(range(1, most + 1), (False, True)):
        budget = max(offered, block) if wide else offered
        for junction in {0, question["computed"] + 1, question["prompt"]}:
            for on in product((False, True), repeat=len(features)):
                chosen = dict(zip(features, on, strict=True))
                alignment = question["unit"] if chosen.get("checkpoints") else None
                extent = {"offered": offered, "budget": budget, "junction": junction}
                yield {**question, **extent, **chosen, "alignment": alignment}


def _row(
    obligation: str, example: Example | None, verdict: Verdict, domain: str, seconds: float
) -> ReleaseRow:
    return ReleaseRow(
        obligation=obligation,
        domain=domain,
        verdict=verdict,
        inputs=example.inputs if example else {},
        result=example.scheduled if example else None,
        replayed=example is not None,
        minimal=False,
        seconds=seconds,
        rlimit=0,
        text_sha256="",
    )
