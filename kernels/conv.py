"""Depthwise causal convolution with its windows on pages: token t of a row sees the last W inputs
of the row, wherever the row's steps were cut.

Property: after segment s of a row, page `segment_targets[s]` holds the last W - 1 inputs up to the
segment's end, oldest first, whatever lies before the row's first token being taken from page
`sources[row]`. Decoding and verification are the same call with a segment a token.

    y[t] = silu(sum_{i < W} weight[:, i] x[t - (W - 1) + i])

* `x [T, D]`: tokens of all rows, packed; fp32 or bf16; channels contiguous, token stride free.
* `weight [D, W]`: contiguous, the dtype of x; W is 2, 3 or 4; there is no bias.
* `windows [pages, W - 1, D]`: fp32 or bf16; the page stride is free. Page 0 is the null page.
* `row_starts int32 [rows + 1]`: offsets of rows in T; a row may be empty. `row_segments int32
  [rows + 1]`: segments of row r are [row_segments[r], row_segments[r + 1]), none if it is empty.
  `segment_starts int32 [S + 1]`: offsets in T; no segment is empty, and a row's cover it.
* `sources int32 [rows]`: page of the initial window, or 0 for zeros. `segment_targets int32 [S]`:
  page that receives the window after the segment, or 0 for none. The targets of a launch are
  distinct pages, and none is another row's source; a row may name its own.
* `longest_row_tokens`: at least the tokens of the longest row; it sizes the grid without waiting
  for the device.
* Returns `y [T, D]` in the dtype of x. Sums are fp32.
* ValueError: a shape, dtype, device or stride that is none of these.

Only the program of a row's first tokens touches pages: tokens further on need no window, and the
one program has read the source before it writes. Source of the idea: causal_conv1d (Dao)."""

from itertools import pairwise

import torch
import triton
import triton.language as tl

from truehit.kernels.table import Architecture, Config, KernelTable, Variant, architecture_of

WIDTHS = (2, 3, 4)
TYPES = {torch.float32: "fp32", torch.bfloat16: "bf16"}
DECODE_TOKENS = 9
"""The longest row of a launch that only decodes, with its eight drafts."""
_LARGEST_GRID = 65535
"""Programs along any axis but the first."""


@triton.jit
def causal_conv_kernel(
    x,
    weight,
    windows,
    y,
    row_starts,
    row_segments,
    segment_starts,
    sources,
    segment_targets,
    D,
    token_stride,
    page_stride,
    W: tl.constexpr,
    BT: tl.constexpr,
    BD: tl.constexpr,
    SEGMENTS: tl.constexpr,
):
    # Else a second tile would read the window too, and that while the first one writes.
    tl.static_assert(BT >= W - 1)
    # Else segments further on would read it too, after the first ones have been written.
    tl.static_assert(SEGMENTS >= W - 2)
    row = tl.program_id(2)
    tile = tl.program_id(1)
    start = tl.load(row_starts + row)
    end = tl.load(row_starts + row + 1)
    if start + tile * BT < end:
        channels = tl.program_id(0) * BD + tl.arange(0, BD)
        in_channels = (channels < D)[None, :]
        tokens = start + tile * BT + tl.arange(0, BT)
        in_row = tokens < end
        source = tl.load(sources + row)
        page = windows + source.to(tl.int64) * page_stride
        window = (source != 0) & (tile == 0)
        total = tl.zeros((BT, BD), tl.float32)
        for back in tl.static_range(W):
            taps = tl.load(weight + channels * W + (W - 1 - back), mask=channels < D, other=0.0)
            inputs = inputs_at(
                x, page, tokens - back, start, in_row, window, channels, D, token_stride, W
            )
            total += inputs * taps.to(tl.float32)[None, :]
        out = y + tokens.to(tl.int64)[:, None] * D + channels[None, :]
        silu = total * tl.sigmoid(total)
        tl.store(out, silu.to(y.dtype.element_ty), mask=in_row[:, None] & in_channels)
        if tile == 0:
            first = tl.load(row_segments + row)
            last = tl.load(row_segments + row + 1)
            # A line for each slot of a window, and one to make it four.
            lines = tl.arange(0, SEGMENTS * 4)
            slots = lines % 4
            while first < last:
                segments = first + lines // 4
                own = (segments < last) & (slots < W - 1)
                targets = tl.load(segment_targets + segments, mask=own, other=0)
                if tl.max(targets, 0) != 0:
                    own = targets != 0
                    at = tl.load(segment_starts + segments + 1, mask=own, other=0)
                    at += slots - (W - 1)
                    # Segments that reach back to the window are among the first two.
                    kept = inputs_at(x, page, at, start, own, window, channels, D, token_stride, W)
                    # Other threads may still read the source that this one may write.
                    tl.debug_barrier()
                    lines_of = windows + (targets.to(tl.int64) * page_stride + slots * D)[:, None]
                    tl.store(
                        lines_of + channels[None, :],
                        kept.to(windows.dtype.element_ty),
                        mask=own[:, None] & in_channels,
                    )
                first += SEGMENTS


@triton.jit
def inputs_at(x, page, at, start, wanted, window, channels, D, token_stride, W: tl.constexpr):
    """Inputs at packed offsets in fp32: before `start` they are the window's, or zero."""
    in_channels = (channels < D)[None, :]
    given = x + at.to(tl.int64)[:, None] * token_stride + channels[None, :]
    mask = (wanted & (at >= start))[:, None] & in_channels
    inputs = tl.load(given, mask=mask, other=0.0).to(tl.float32)
    if window:
        older = page + (at - start + (W - 1))[:, None] * D + channels[None, :]
        mask = (wanted & (at < start))[:, None] & in_channels
        window_inputs = tl.load(older, mask=mask, other=0.0).to(tl.float32)
        inputs = tl.where((at < start)[:, None], window_inputs, inputs)
    return inputs


def causal_conv(
    x: torch.Tensor,
    weight: torch.Tensor,
    windows: torch.Tensor,
    row_starts: torch.Tensor,
    row_segments: torch.Tensor,
    segment_starts: torch.Tensor,
    sources: torch.Tensor,
    segment_targets: torch.Tensor,
    longest_row_tokens: int,
) -> torch.Tensor:
    """Launches the kernel: a program for each row, tile of tokens and tile of channels."""
    _check_values(x, weight, windows)
    rows, segments = sources.numel(), segment_targets.numel()
    lengths = {
        "row_starts": (row_starts, rows + 1),
        "row_segments": (row_segments, rows + 1),
        "segment_starts": (segment_starts, segments + 1),
        "sources": (sources, rows),
        "segment_targets": (segment_targets, segments),
    }
    for name, (table, length) in lengths.items():
        _check_table(name, table, length, x.device)
    tokens, channels = x.shape
    y = torch.empty(tokens, channels, dtype=x.dtype, device=x.device)
    config = TABLE.config(
        variant_name(TYPES[x.dtype], TYPES[windows.dtype], longest_row_tokens),
        architecture_of(x.device),
    )
    token_tiles = triton.cdiv(longest_row_tokens, config.tiles["BT"])
    _check_grid(rows, longest_row_tokens, token_tiles)
    if rows == 0 or y.numel() == 0:
        return y
    causal_conv_kernel[(triton.cdiv(channels, config.tiles["BD"]), token_tiles, rows)](
        x,
        weight,
        windows,
        y,
        row_starts,
        row_segments,
        segment_starts,
        sources,
        segment_targets,
        channels,
        x.stride(0),
        windows.stride(0),
        W=weight.shape[1],
        **config.tiles,
        num_warps=config.warps,
        num_stages=config.stages,
    )
    return y


def causal_conv_reference(
    x: torch.Tensor,
    weight: torch.Tensor,
    windows: torch.Tensor,
    row_starts: torch.Tensor,
    row_segments: torch.Tensor,
    segment_starts: torch.Tensor,
    sources: torch.Tensor,
    segment_targets: torch.Tensor,
) -> torch.Tensor:
    """The rule as written above, in the wider of fp32 and the dtype of x; waits for the device."""
    wide = torch.promote_types(torch.float32, x.dtype)
    width = weight.shape[1]
    y = torch.empty_like(x)
    ends, targets = segment_starts[1:].tolist(), segment_targets.tolist()
    segments = list(pairwise(row_segments.tolist()))
    for row, (first, last) in enumerate(pairwise(row_starts.tolist())):
        if first == last:
            continue
        source = int(sources[row])
        before = windows[source] if source else torch.zeros_like(windows[0])
        inputs = torch.cat([before.to(wide), x[first:last].to(wide)])
        sums = (inputs.unfold(0, width, 1) * weight.to(wide)).sum(-1)
        y[first:last] = torch.nn.functional.silu(sums).to(x.dtype)
        for segment in range(*segments[row]):
            if targets[segment]:
                after = ends[segment] - first
                windows[targets[segment]] = inputs[after : after + width - 1].to(windows.dtype)
    return y


def variant_name(activations: str, pool: str, longest_row_tokens: int) -> str:
    """`bf16_fp32_decode`: bf16 activations, an fp32 pool, short rows only."""
    return f"{activations}_{pool}_{'decode' if longest_row_tokens <= DECODE_TOKENS else 'prefill'}"


def _check_values(x: torch.Tensor, weight: torch.Tensor, windows: torch.Tensor) -> None:
    if x.dim() != 2 or x.dtype not in TYPES:
        raise ValueError(
            f"causal_conv: x is {x.dtype}{list(x.shape)}; "
            "torch.float32 or torch.bfloat16 [tokens, channels] would do"
        )
    channels = x.shape[1]
    if weight.dim() != 2 or weight.shape[0] != channels or weight.shape[1] not in WIDTHS:
        raise ValueError(
            f"causal_conv: weight has shape {list(weight.shape)}; [{channels}, 4] would do"
        )
    if weight.dtype != x.dtype:
        raise ValueError(f"causal_conv: weight is {weight.dtype}; {x.dtype}, that of x, would do")
    window = [weight.shape[1] - 1, channels]
    if windows.dim() != 3 or list(windows.shape[1:]) != window or windows.dtype not in TYPES:
        raise ValueError(
            f"causal_conv: windows is {windows.dtype}{list(windows.shape)}; "
            f"torch.float32 or torch.bfloat16 [pages, {window[0]}, {channels}] would do"
        )
    # A tensor of one row or one page has no stride that matters.
    for name, inner in (("x", x[:1]), ("weight", weight), ("windows", windows[:1])):
        if not inner.is_contiguous():
            raise ValueError(
                f"causal_conv: {name} has strides {list(inner.stride())}; "
                f"{list(torch.empty(inner.shape, device='meta').stride())} would do"
            )
        if inner.device != x.device:
            raise ValueError(f"causal_conv: {name} is on {inner.device}; {x.device} would do")


def _check_table(name: str, table: torch.Tensor, length: int, device: torch.device) -> None:
    if table.dtype != torch.int32 or list(table.shape) != [length] or not table.is_contiguous():
        raise ValueError(
            f"causal_conv: {name} is {table.dtype}{list(table.shape)} with stride "
            f"{list(table.stride())}; torch.int32[{length}] with stride [1] would do"
        )
    if table.device != device:
        raise ValueError(f"causal_conv: {name} is on {table.device}; {device} would do")


def _check_grid(rows: int, longest_row_tokens: int, token_tiles: int) -> None:
    if longest_row_tokens < 0:
        raise ValueError(f"causal_conv: longest_row_tokens is {longest_row_tokens}; 0 would do")
    for name, count in (("rows", rows), ("tiles of tokens", token_tiles)):
        if count > _LARGEST_GRID:
            raise ValueError(f"causal_conv: {count} {name} in a launch; {_LARGEST_GRID} would do")


def _variant(activations: str, pool: str, longest_row_tokens: int) -> Variant:
    values = dict.fromkeys(("x", "weight", "y"), f"*{activations}")
    names = ("row_starts", "row_segments", "segment_starts", "sources", "segment_targets")
    tables = dict.fromkeys(names, "*i32")
    sizes = dict.fromkeys(("D", "token_stride", "page_stride"), "i32")
    types = {**values, "windows": f"*{pool}", **tables, **sizes}
    return Variant(
        name=variant_name(activations, pool, longest_row_tokens),
        types=types,
        constants={"W": 4},
        aligned=frozenset(types),
    )


_PAIRS = [(activations, pool) for activations in TYPES.values() for pool in TYPES.values()]
TABLE = KernelTable(
    name="causal_conv",
    function=causal_conv_kernel,
    variants=tuple(
        _variant(*pair, tokens) for tokens in (DECODE_TOKENS, DECODE_TOKENS + 1) for pair in _PAIRS
    ),
    configs=dict.fromkeys(
        Architecture, Config({"BT": 32, "BD": 128, "SEGMENTS": 8}, warps=4, stages=1)
    ),
    own_configs={
        (variant_name(*pair, DECODE_TOKENS), architecture): Config(
            {"BT": 4, "BD": 512, "SEGMENTS": 2}, warps=4, stages=1
        )
        for pair in _PAIRS
        for architecture in Architecture
    },
)
