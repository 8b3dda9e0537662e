"""Size: a million tokens in pages of 16 and states of 1600 are a few seconds and few megabytes.

Time and memory are in the benchmarks; here are the numbers that have to come out."""

from dataclasses import replace

from truehit.spec.geometry import ReachOnly
from truehit.spec.trace import Lookup, Table, TableOp

from .room import chunks, events, hits, hybrid, in_turn, keys, last_counts, request, run, scenario

PROMPT = 1_000_000


def test_a_million_tokens_are_carved_kept_and_found_again() -> None:
    geometry = replace(
        hybrid(1600, 16),
        retention=ReachOnly(),
        pool_blocks=140_000,
        max_model_tokens=2 * PROMPT,
    )
    family = in_turn(
        request("first", f"doc:{PROMPT}"),
        request("again", f"doc:{PROMPT}"),
        request("longer", f"doc:{PROMPT}", "more:1000"),
    )
    result = run(scenario(geometry, family))
    assert hits(result) == [0, 998_400, 1_000_000]
    first = chunks(result, "first")
    # 8192 tokens a step hold five whole blocks of 1600; two more steps end at kept positions.
    assert len(first) == 126
    assert [first[0][2], first[1][2], first[-2][2], first[-1][2]] == [
        8000,
        16_000,
        998_400,
        1_000_000,
    ]
    assert [tokens for _, tokens in keys(result, "first")] == [998_400, 1_000_000]
    assert len(keys(result, "first", "attention")) == PROMPT // 16
    estimates = [e.count for e in events(result, Table, "first") if e.op == TableOp.ESTIMATE]
    assert sum(estimates) == PROMPT // 16 + len(first)
    assert [e.junction_tokens for e in events(result, Lookup)] == [None, None, None]
    # The resend computes its last block again: 100 pages and one state under keys that exist.
    pages, states = PROMPT // 16 + 100 + 1000 // 16, 2 + 1
    assert last_counts(result)[:2] == (0, pages + states)
