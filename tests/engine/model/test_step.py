"""A step is packed so that every token, segment and wanted logit is its row's own."""

from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from truehit.engine.model.step import SEGMENT_TOKENS, Row, pack, segment_ends

CPU = torch.device("cpu")


@given(st.integers(0, 300), st.integers(1, 300), st.integers(0, 700))
@settings(max_examples=300, deadline=None, derandomize=True)
def test_segments_cut_at_multiples_and_at_the_checkpoint(
    start: int, length: int, checkpoint: int
) -> None:
    end = start + length
    ends = segment_ends(start, end, checkpoint)
    assert ends == sorted(set(ends)) and ends[-1] == end and ends[0] > start
    assert all(high - low <= SEGMENT_TOKENS for low, high in pairwise([start, *ends]))
    inside = {n for n in range(start + 1, end) if n % SEGMENT_TOKENS == 0}
    inside |= {checkpoint} & set(range(start + 1, end))
    assert set(ends) == inside | {end}


def test_segments_do_not_depend_on_where_a_prompt_was_resumed() -> None:
    whole = segment_ends(0, 400, 0)
    for start in range(0, 400, 7):
        assert segment_ends(start, 400, 0) == [end for end in whole if end > start]


def _row(number: int, path: list[int], start: int, **others: int) -> Row:
    return Row(
        request=number,
        slot=number,
        path=path,
        start=start,
        planned_end=len(path),
        checkpoint_tokens=others.get("checkpoint", 0),
        is_decode=bool(others.get("is_decode")),
        tables=(np.zeros(1, np.int32),),
        logits_from=others.get("logits_from", start),
    )


def test_prefill_rows_come_first() -> None:
    decode = _row(0, list(range(10, 15)), 2, is_decode=1)
    prefill = _row(1, list(range(100, 240)), 60, checkpoint=80, logits_from=139)
    step = pack([decode, prefill], CPU)
    assert [row.request for row in step.rows] == [1, 0]
    assert (step.prefill_rows, step.prefill_tokens, step.prefill_segments) == (1, 80, 4)
    assert step.tokens.tolist() == [*range(160, 240), 12, 13, 14]
    assert step.positions.tolist() == [*range(60, 140), 2, 3, 4]
    assert step.row_starts.tolist() == [0, 80, 83]
    # 60 - 64 - 80 (the checkpoint) - 128 - 140, and a segment a decoded token.
    assert step.segment_starts.tolist() == [0, 4, 20, 68, 80, 81, 82, 83]
    assert step.row_segments.tolist() == [0, 4, 7]
    # 0: nothing; 1 + t: token t; 1 + T + r: the checkpoint of row r.
    assert step.segment_picks.tolist() == [4, 84, 68, 80, 81, 82, 83]
    assert step.wanted.tolist() == [79, 80, 81, 82]
    assert step.longest_row_tokens == 80


@pytest.mark.parametrize("logits_from", [0, 5, 9, 10])
def test_wanted_logits(logits_from: int) -> None:
    step = pack([_row(0, list(range(10)), 4, logits_from=logits_from)], CPU)
    assert step.wanted.tolist() == [n - 4 for n in range(max(4, logits_from), 10)]


def test_a_checkpoint_at_the_end_is_no_checkpoint() -> None:
    step = pack([_row(0, list(range(10)), 0, checkpoint=10)], CPU)
    assert step.segment_picks.tolist() == [10]
