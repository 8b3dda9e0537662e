"""Chunks of one prompt by the splitter alone, without a scheduler: for scans over many lengths."""

from dataclasses import dataclass

from truehit.reference import decide
from truehit.reference.live import Live
from truehit.reference.rules.split import SplitQuery
from truehit.reference.ruleset import RuleSet
from truehit.spec.geometry import Geometry
from truehit.spec.scenario import Request
from truehit.spec.tokens import Segment, TokenPath

NO_PATH = TokenPath(0, (), (), ())


@dataclass(frozen=True, slots=True)
class Piece:
    """A chunk and the position it exports (0: none)."""

    start: int
    end: int
    checkpoint: int


def prefill(rules: RuleSet, geometry: Geometry, prompt: int) -> Live:
    """A prompt of which nothing is computed."""
    request = Request("lone", (Segment("doc", prompt),))
    live = Live(request, 0, NO_PATH, known=prompt, prefill_end=prompt)
    live.kept = decide.kept_positions(rules, geometry, prompt, 0)
    return live


def query(rules: RuleSet, geometry: Geometry, prompt: int, start: int, offered: int) -> SplitQuery:
    """The question put to the splitter."""
    live = prefill(rules, geometry, prompt)
    live.computed = start
    return decide.split_query(rules, geometry, live, offered)


def pieces(
    rules: RuleSet, geometry: Geometry, prompt: int, share: int | None = None, start: int = 0
) -> list[Piece]:
    """Every chunk from `start`, offered `share` tokens (default: the budget) each time.

    A deferral ends the list below the prompt's end: with a constant share it lasts for ever.
    """
    live = prefill(rules, geometry, prompt)
    live.computed = start
    limit = geometry.budget_tokens if share is None else share
    result: list[Piece] = []
    while live.computed < prompt:
        offered = min(limit, prompt - live.computed)
        end, checkpoint = decide.chunk(rules, decide.split_query(rules, geometry, live, offered))
        if end == live.computed:
            break
        result.append(Piece(live.computed, end, checkpoint))
        live.computed = end
    return result


def carve(
    rules: RuleSet, geometry: Geometry, prompt: int, share: int | None = None, start: int = 0
) -> list[int]:
    """The chunk ends."""
    return [piece.end for piece in pieces(rules, geometry, prompt, share, start)]
