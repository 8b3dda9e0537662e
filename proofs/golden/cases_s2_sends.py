"""S2, first half: what the same prompt hits on its first, second and third send (MTP).

`BASE` is V_post keeping the boundary; `PORT` stops by retention and keeps one unit below the
boundary too; `HARD` stops at every boundary without back-off.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate

from truehit.proofs.golden.carving import query
from truehit.proofs.golden.geometries import MTP, hybrid, rules, sparse
from truehit.proofs.golden.registry import Values, case
from truehit.proofs.golden.runs import doc, first_hit_send, hits, in_turn, sends
from truehit.reference.rules import split_releases
from truehit.reference.run import Served
from truehit.spec.geometry import Drop, Geometry, Interval, Lookahead, NoDrop
from truehit.spec.trace import Publish, Schedule
from truehit.spec.units import floor_to

BASE = "v-post"
PORT = "v-ret"
HARD = "v-hard"


def drafted(block: int = 1600) -> Geometry:
    """Three drafts, dense retention."""
    return replace(hybrid(block, drop=MTP), drafts=3)


def _carves(served: Sequence[Served]) -> list[tuple[int, ...]]:
    return [each.carve for each in served]


def _stored(served: Sequence[Served]) -> list[tuple[int, ...]]:
    return [each.stored for each in served]


def _first_hit(served: Sequence[Served]) -> dict[str, int | None]:
    """The send of the first hit, and its amount."""
    send = first_hit_send(served)
    return {"first_hit_send": send, "amount": None if send is None else served[send - 1].hit}


@case("G002-01")
def base_at_retention_0() -> Values:
    served = sends(BASE, sparse(drafted()), 7292, 3)
    return {
        **_first_hit(served),
        "carve_send1": served[0].carve,
        "kept": _stored(served),
        "hits": hits(served),
    }


@case("G002-02")
def port_at_retention_0() -> Values:
    served = sends(PORT, sparse(drafted()), 7292, 3)
    return {
        **_first_hit(served),
        "carve_send1": served[0].carve,
        "kept_send1": served[0].stored,
    }


@case("G002-03")
def aligned_base_at_retention_0() -> Values:
    served = sends(BASE, sparse(drafted()), 6400, 3)
    return {
        **_first_hit(served),
        "carve_send1": served[0].carve,
        "kept_send1": served[0].stored,
        "carve_send2": served[1].carve,
        "hits": hits(served),
    }


@case("G002-04")
def aligned_port_at_retention_0() -> Values:
    served = sends(PORT, sparse(drafted()), 6400, 3)
    return {**_first_hit(served), "carve_send1": served[0].carve}


@case("G002-05")
def dense_cells() -> Values:
    geometry = drafted()
    long = {name: sends(name, geometry, 7292, 3) for name in (BASE, PORT)}
    aligned = {name: sends(name, geometry, 6400, 3) for name in (BASE, PORT)}
    return {
        7292: {
            "V_post": {"carve": long[BASE][0].carve, "hits": hits(long[BASE])},
            "V_ret": {"carve": long[PORT][0].carve, "hits": hits(long[PORT])},
        },
        6400: {
            "V_post": {"carves": _carves(aligned[BASE])[:2], "hits": hits(aligned[BASE])},
            "V_ret": {"carve": aligned[PORT][0].carve, "hits": hits(aligned[PORT])},
        },
    }


@case("G002-06")
def predicted_repeat_hits() -> Values:
    found = {}
    for prompt in (6400, 7100):
        first, second = sends(HARD, drafted(), prompt, 2)
        found[prompt] = {"states": first.stored, "hit": second.hit}
    return found


@case("G002-07", stated={"state_1600": "absent"})
def three_send_staircase() -> Values:
    dense, kept = (sends(BASE, each, 6400, 3) for each in (drafted(), sparse(drafted())))
    states = sorted({tokens for served in (dense, kept) for s in served for tokens in s.stored})
    equal = _carves(dense) == _carves(kept) and hits(dense) == hits(kept)
    return {
        "send1": dense[0].carve if equal else None,
        "send2": dense[1].carve if equal else None,
        "send3_hit": dense[2].hit if equal else None,
        "state_set_contains": [tokens for tokens in states if tokens < 6400],
        "state_1600": "present" if 1600 in states else "absent",
    }


@case("G002-10")
def journal_of_the_port() -> Values:
    result = in_turn(HARD, drafted(), [doc(6400)])
    chunks = [e for e in result.events if isinstance(e, Schedule)]
    at_0 = sends(HARD, sparse(drafted()), 6400, 2)[1].hit
    return {
        "starts": [chunk.start for chunk in chunks],
        "remaining_before": [chunk.offered_tokens for chunk in chunks],
        "last": split_releases.last_position(query(rules(HARD), drafted(), 6400, 0, 6400)),
        "carve": result.served[0].carve,
        "request2_hit_live": at_0,
        "request2_hit_dense": sends(HARD, drafted(), 6400, 2)[1].hit,
        "request2_hit_retention0": at_0,
    }


@case("G002-11")
def filing_log() -> Values:
    result = in_turn(HARD, sparse(drafted()), [doc(6400)])
    computed = [e.end for e in result.events if isinstance(e, Schedule)]
    pages = [
        len(e.keys) for e in result.events if isinstance(e, Publish) and e.group == "attention"
    ]
    cached = list(accumulate(pages))
    return {
        "computed": computed,
        "finalized": [1600 * count for count in cached],
        "aligned": [floor_to(end, 1600) for end in computed],
        "blocks_cached": cached,
        "hashed_at_retention0": result.served[0].stored,
    }


def reprefill_tokens(lookahead: int) -> int:
    """R: the last tokens that several draft modules may prefill again."""
    return max(0, lookahead - 1)


@case("G002-12", stated={"formula": {3: 2, 1: 0, 0: 0}})
def reprefillable_window() -> Values:
    window = reprefill_tokens(3)
    return {
        "formula": {lookahead: reprefill_tokens(lookahead) for lookahead in (3, 1, 0)},
        "files_R2": {
            n: _pages_filed(Lookahead(window), n) for n in (1600, 3200, 4800, 6400, 6401, 6402)
        },
        "files_R0": {n: _pages_filed(NoDrop(), n) for n in (1600, 3200, 4800, 6400)},
    }


def _pages_filed(drop: Drop, prompt: int) -> int:
    """Pages keyed of a prompt whose last tokens are withheld: keys reach that much further."""
    events = in_turn(HARD, hybrid(1600, drop=drop), [doc(prompt)]).events
    return sum(len(e.keys) for e in events if isinstance(e, Publish) and e.group == "attention")


@case("G002-13")
def production_table() -> Values:
    found = {}
    for prompt in (7292, 6592):
        at_0 = sends(BASE, sparse(drafted(1648)), prompt, 4)
        geometry = replace(drafted(1648), retention=Interval(1648))
        interval = sends(BASE, geometry, prompt, 4)
        amounts = {_first_hit(at_0)["amount"], _first_hit(interval)["amount"]}
        found[prompt] = {
            "retention0_first_hit": first_hit_send(at_0),
            "interval_eq_block_first_hit": first_hit_send(interval),
            "amount": amounts.pop() if len(amounts) == 1 else amounts,
        }
    return found


@case("G002-14")
def aligned_zero_becomes_a_hit() -> Values:
    on, off = drafted(), hybrid(1600)
    before = sends(BASE, off, 6400, 2)
    return {
        "spec_on": {
            "before": sends(BASE, on, 6400, 2)[1].hit,
            "after": sends(HARD, on, 6400, 2)[1].hit,
        },
        "spec_off": {"before": before[1].hit, "after": sends(HARD, off, 6400, 2)[1].hit},
        "spec_off_carves_before": _carves(before),
    }


@case("G002-20")
def lookahead_hashing() -> Values:
    geometry = hybrid(1600, drop=Lookahead(1))
    return {prompt: sends(HARD, geometry, prompt, 2)[1].hit for prompt in (6400, 7100)}


@case("G002-21")
def last_position() -> Values:
    asked = query(rules(BASE), drafted(), 6400, 0, 6400)
    return {
        "with_backoff": split_releases.last_position(asked),
        "without": split_releases.last_position(replace(asked, backing_off=False)),
    }
