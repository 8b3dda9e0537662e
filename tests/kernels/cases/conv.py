"""The causal convolution against transformers' own, segment by segment, in float64."""

import re
import tempfile
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path

import pytest
import torch
from transformers.models.qwen3_next.modeling_qwen3_next import causal_conv1d_update

from truehit.kernels.conv import DECODE_TOKENS, TABLE, causal_conv, causal_conv_reference
from truehit.kernels.table import Architecture

from ..buffers import RedZoned, assert_near, at_the_edge, digest, page_digests, zoned_outputs
from ..programs import backwards

PAGES = 24
TOLERANCE = {torch.float32: 1e-5, torch.bfloat16: 1e-2}
LONG = TABLE.configs[Architecture.SM_80].tiles
SHORT = TABLE.config("fp32_fp32_decode", Architecture.SM_80).tiles


@dataclass(frozen=True, slots=True)
class Row:
    """`segments`: (tokens, target) each."""

    source: int
    segments: Sequence[tuple[int, int]]

    @property
    def tokens(self) -> int:
        return sum(tokens for tokens, _ in self.segments)


@dataclass(frozen=True, slots=True)
class Call:
    """The arguments of a launch."""

    x: torch.Tensor
    weight: torch.Tensor
    windows: torch.Tensor
    row_starts: torch.Tensor
    row_segments: torch.Tensor
    segment_starts: torch.Tensor
    sources: torch.Tensor
    segment_targets: torch.Tensor

    @property
    def arguments(self) -> tuple[torch.Tensor, ...]:
        return tuple(getattr(self, name) for name in self.__slots__)

    def launch(self, longest_row_tokens: int) -> torch.Tensor:
        return causal_conv(
            self.x,
            self.weight,
            self.windows,
            self.row_starts,
            self.row_segments,
            self.segment_starts,
            self.sources,
            self.segment_targets,
            longest_row_tokens,
        )


def int32(values: Sequence[int]) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.int32)


def drawn(
    rows: Sequence[Row],
    channels: int = 40,
    width: int = 4,
    dtype: torch.dtype = torch.float32,
    pool: torch.dtype = torch.float32,
) -> tuple[Call, RedZoned]:
    """Random inputs; every page no row names as its source is NaN, the null page too."""
    draw = torch.Generator().manual_seed(len(rows) * 1000 + channels)
    segments = [segment for row in rows for segment in row.segments]
    tokens = sum(row.tokens for row in rows)
    page = (width - 1) * channels
    zoned = RedZoned.make((PAGES, width - 1, channels), pool, (page + 8, channels, 1))
    for source in {row.source for row in rows} - {0}:
        zoned.tensor[source] = torch.randn(width - 1, channels, generator=draw)
    call = Call(
        torch.randn(tokens, channels, generator=draw).to(dtype),
        torch.randn(channels, width, generator=draw).to(dtype),
        zoned.tensor,
        int32([0, *accumulate(row.tokens for row in rows)]),
        int32([0, *accumulate(len(row.segments) for row in rows)]),
        int32([0, *accumulate(tokens for tokens, _ in segments)]),
        int32([row.source for row in rows]),
        int32([target for _, target in segments]),
    )
    return call, zoned


def expected(call: Call, rows: Sequence[Row]) -> tuple[torch.Tensor, dict[int, torch.Tensor]]:
    """Outputs, and the pages written, by transformers' update in float64, a segment a call."""
    outputs, written, at = [call.x.new_zeros(0, call.x.shape[1], dtype=torch.float64)], {}, 0
    for row in rows:
        start = call.windows[row.source] if row.source else torch.zeros_like(call.windows[0])
        window = start.double().T[None].contiguous()
        for tokens, target in row.segments:
            inputs = call.x[at : at + tokens].double().T[None]
            output = causal_conv1d_update(inputs, window, call.weight.double(), activation="silu")
            outputs.append(output[0].T)
            at += tokens
            if target:
                written[target] = window[0].T.clone()
    return torch.cat(outputs), written


def check(
    rows: Sequence[Row],
    made: tuple[Call, RedZoned] | None = None,
    order: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> None:
    """Outputs, windows, untouched pages and red zones of a launch, and the reference's."""
    call, zoned = drawn(rows) if made is None else made
    outputs, written = expected(call, rows)
    before, pool = page_digests(zoned.tensor), zoned.tensor.clone()
    with zoned_outputs(), order():
        y = call.launch(max((row.tokens for row in rows), default=0))
    assert y.dtype == call.x.dtype
    assert_near(y, outputs, TOLERANCE[call.x.dtype], "outputs")
    for page, window in written.items():
        assert torch.equal(zoned.tensor[page], window.to(pool.dtype)), f"page {page}"
    after = page_digests(zoned.tensor)
    assert {page for page in range(PAGES) if after[page] != before[page]} <= set(written)
    assert zoned.intact()
    reference = causal_conv_reference(*replace(call, windows=pool).arguments)
    assert_near(reference, outputs, TOLERANCE[call.x.dtype], "reference")
    assert page_digests(pool) == after


RAGGED = [
    Row(3, [(7, 0), (25, 5), (1, 6), (2, 0)]),
    Row(0, []),
    Row(0, [(1, 7)]),
    Row(4, [(64, 8), (6, 9)]),
    Row(3, [(1, 10), (1, 11), (1, 12)]),
    Row(0, [(2, 13), (LONG["BT"], 14)]),
    Row(4, []),
    Row(4, [(LONG["BT"] - 2, 0)]),
]


def case_ragged_rows() -> None:
    check(RAGGED)


def case_every_type() -> None:
    for dtype in (torch.float32, torch.bfloat16):
        for pool in (torch.float32, torch.bfloat16):
            check(RAGGED, drawn(RAGGED, dtype=dtype, pool=pool))
            check(RAGGED[4:5], drawn(RAGGED[4:5], dtype=dtype, pool=pool))


def case_every_width() -> None:
    for width in (2, 3, 4):
        check(RAGGED, drawn(RAGGED, width=width))
        check(RAGGED[4:5], drawn(RAGGED[4:5], width=width))


def case_channels_around_a_tile() -> None:
    for tiles, rows in ((LONG, RAGGED), (SHORT, RAGGED[4:6])):
        for channels in (tiles["BD"] - 1, tiles["BD"], tiles["BD"] + 16):
            check(rows[:1], drawn(rows[:1], channels=channels))


def case_decoding_in_place() -> None:
    check([Row(page, [(1, page)]) for page in range(1, 9)])


def case_decoding_from_shared_pages() -> None:
    check([Row(1, [(1, page)]) for page in range(2, 9)] + [Row(0, [(1, 9)]), Row(1, [(1, 0)])])


def case_verification_of_drafts() -> None:
    for tokens in range(1, DECODE_TOKENS + 1):
        check([Row(20, [(1, 1 + token) for token in range(tokens)]), Row(0, [(1, 15)])])


def case_any_segment_may_name_the_source() -> None:
    for tokens in (DECODE_TOKENS, DECODE_TOKENS + 3):
        for own in range(tokens):
            row = Row(20, [(1, 20 if token == own else 1 + token) for token in range(tokens)])
            check([row, Row(21, [(1, 21)])])


def case_programs_in_another_order() -> None:
    in_place = [Row(20, [(1, 1), (1, 20), (1, 2), (2, 3), (LONG["BT"], 4)]), Row(21, [(70, 21)])]
    for rows in (RAGGED, in_place, [Row(20, [(1, 20), *[(1, 1 + at) for at in range(8)]])]):
        check(rows, order=backwards)


def case_many_segments() -> None:
    count = 3 * LONG["SEGMENTS"] + 1
    segments = [(1, 1 + at // 2 if at % 2 else 0) for at in range(count)]
    check([Row(22, segments), Row(0, [(2, 23)])])
    check([Row(22, [(1, 0)] * 20 + [(1, 22)])])


def case_nothing_to_do() -> None:
    check([])
    check([Row(3, []), Row(0, [])])


def case_wherever_a_prompt_is_cut() -> None:
    """Bit by bit the same outputs and windows as in one go."""
    tokens = LONG["BT"] + 5
    whole, zoned = drawn([Row(1, [(tokens, 2)])])
    whole.x[::3, ::5] = -0.0
    y = whole.launch(tokens)
    for cut in (*range(1, 7), *range(LONG["BT"] - 3, tokens)):
        parts = []
        for first, last, source, target in ((0, cut, 1, 3), (cut, tokens, 3, 3)):
            part = Call(
                whole.x[first:last],
                whole.weight,
                whole.windows,
                *map(int32, ([0, last - first], [0, 1], [0, last - first], [source], [target])),
            )
            parts.append(part.launch(last - first))
        assert digest(torch.cat(parts)) == digest(y), cut
        assert digest(zoned.tensor[3]) == digest(zoned.tensor[2]), cut


def case_tokens_with_a_stride() -> None:
    call, _ = drawn(RAGGED)
    wider = torch.cat([call.x, torch.full_like(call.x, torch.nan)], 1)[:, : call.x.shape[1]]
    y = replace(call, x=wider).launch(70)
    assert torch.equal(y, call.launch(70))


def case_a_longer_bound_changes_nothing() -> None:
    call, _ = drawn(RAGGED)
    assert torch.equal(call.launch(500), call.launch(70))


def case_nothing_is_read_behind_a_tensor() -> None:
    for rows in (RAGGED, RAGGED[4:5], [Row(PAGES - 1, [(1, 3)])]):
        call, _ = drawn(rows)
        outputs, _ = expected(call, rows)
        edged = Call(*map(at_the_edge, call.arguments))
        y = edged.launch(max(row.tokens for row in rows))
        assert_near(y, outputs, 1e-5, "outputs")


def case_offsets_beyond_32_bits() -> None:
    """Pages and tokens farther apart than an int32 counts elements; in a sparse file."""
    far = 2**30
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "pool")
        memory = torch.from_file(path, shared=True, size=9 * far, dtype=torch.bfloat16)
        rows = [Row(3, [(1, 0), (1, 0), (1, 2), (1, 3)])]
        call, _ = drawn(rows, dtype=torch.bfloat16, pool=torch.bfloat16)
        x = memory[4 * far :].as_strided(call.x.shape, (far, 1))
        windows = memory[:far].as_strided((4, *call.windows.shape[1:]), (far, 40, 1))
        x.copy_(call.x)
        windows[3] = call.windows[3]
        outputs, written = expected(call, rows)
        y = replace(call, x=x, windows=windows).launch(4)
        assert_near(y, outputs, 1e-2, "outputs")
        for page, window in written.items():
            assert torch.equal(windows[page].double(), window)


def case_the_reference_in_float64() -> None:
    call, _ = drawn(RAGGED)
    outputs, written = expected(call, RAGGED)
    call = replace(
        call, x=call.x.double(), weight=call.weight.double(), windows=call.windows.double()
    )
    y = causal_conv_reference(*call.arguments)
    assert y.dtype == torch.float64
    assert_near(y, outputs, 1e-12, "outputs")
    assert all(torch.equal(call.windows[page], window) for page, window in written.items())


def case_refusals_name_the_number() -> None:
    call, _ = drawn(RAGGED)
    rows = len(RAGGED)
    refused: list[tuple[dict[str, torch.Tensor], str]] = [
        ({"x": call.x.double()}, "x is torch.float64[173, 40]; torch.float32 or"),
        ({"x": call.x[0]}, "x is torch.float32[40]; torch.float32 or"),
        ({"x": call.x.T.contiguous().T}, "x has strides [1, 173]; [40, 1] would do"),
        ({"weight": call.weight[:30]}, "weight has shape [30, 4]; [40, 4] would do"),
        ({"weight": call.weight[:, :1]}, "weight has shape [40, 1]; [40, 4] would do"),
        ({"weight": call.weight.bfloat16()}, "weight is torch.bfloat16; torch.float32, that of x"),
        ({"weight": call.weight.T.contiguous().T}, "weight has strides [1, 40]; [4, 1] would do"),
        ({"weight": call.weight.to("meta")}, "weight is on meta; cpu would do"),
        ({"windows": call.windows[:, 1:]}, "windows is torch.float32[24, 2, 40]; torch.float32 or"),
        ({"windows": call.windows.double()}, "windows is torch.float64[24, 3, 40]; torch.float32"),
        ({"row_starts": call.row_starts[1:]}, f"row_starts is torch.int32[{rows}] with stride [1]"),
        ({"row_starts": call.row_starts.long()}, f"torch.int32[{rows + 1}] with stride [1] would"),
        ({"sources": call.sources.to("meta")}, "sources is on meta; cpu would do"),
        ({"segment_starts": call.row_starts}, "segment_starts is torch.int32"),
    ]
    for change, said in refused:
        with pytest.raises(ValueError, match=re.escape(said)) as caught:
            replace(call, **change).launch(70)
        assert "\n" not in str(caught.value)
    for bound, said in ((-1, "is -1; 0 would do"), (2**23, "262144 tiles of tokens in a launch")):
        with pytest.raises(ValueError, match=said):
            call.launch(bound)
