"""Attention over pages: the keys and values of a step go to their pages, its queries read what
their block table names.

Property: the output of a token at position p is softmax attention over the entries of its row at
positions max(0, p - window + 1) .. p, each read from column position // block of the row's table,
whatever the pages' order, the rows' lengths and the cut of the prefill. An entry outside the window
of every token of the row, or after its last token, is never read: its page may be a hole, poison or
someone else's. Prefill, decoding and verification are the same call.

    o[t] = sum_j softmax_j(scale q[t].k[j]) v[j],  query head n reading head n // (HQ / H)

* `q [T, HQ, D]`: tokens of all rows, packed; HQ is a multiple of H; token stride free.
* `keys, values [pages, block, H, D]`: the page strides are free. Page 0 is the null page: an entry
  there does not take part. All of q, keys and values fp32, or all bf16.
* `tables int32 [rows, columns]`: pages of each row, padded with anything behind its last token.
* `row_starts int32 [rows + 1]`: offsets of rows in T; a row may be empty. `starts int32 [rows]`:
  positions before the step. `longest_row_tokens`: at least the tokens of the longest row; it sizes
  the grid without waiting for the device.
* `window_tokens`: entries a token sees, its own included; None: all before it.
* Returns `o [T, HQ, D]` in the dtype of q; a token that sees no entry has 0. Sums are fp32.
* `store_entries`: `new_keys, new_values [T, H, D]`, `pages, offsets int32 [T]` of `slots.py`;
  page 0 stores nothing, and no two tokens of a launch have one place.
* ValueError: a shape, dtype, device or stride that is none of these.

Source of the form: Dao, FlashAttention-2 (2023), over the block tables of Kwon et al.,
PagedAttention (2023); packing the queries that share a head of keys into one tile is vLLM's."""

from itertools import pairwise

import torch
import triton
import triton.language as tl

from truehit.kernels.decode import TYPES, check_tables, check_tensor
from truehit.kernels.table import Architecture, Config, KernelTable, Variant, architecture_of

DECODE_TOKENS = 9
"""The longest row of a launch that only decodes, with its eight drafts."""
LOWEST_SCORE = tl.constexpr(-1e30)
"""Below all scores, and finite: what sees nothing yet must not become NaN."""
LOG2_E = 1.4426950408889634


def store_reference(
    new_keys: torch.Tensor,
    new_values: torch.Tensor,
    keys: torch.Tensor,
    values: torch.Tensor,
    pages: torch.Tensor,
    offsets: torch.Tensor,
) -> None:
    """What `store_entries` does, in torch; waits for the device."""
    held = pages != 0
    at = pages[held].long(), offsets[held].long()
    keys[at], values[at] = new_keys[held], new_values[held]


def attention_reference(
    q: torch.Tensor,
    keys: torch.Tensor,
    values: torch.Tensor,
    tables: torch.Tensor,
    row_starts: torch.Tensor,
    starts: torch.Tensor,
    window_tokens: int | None = None,
    scale: float | None = None,
) -> torch.Tensor:
    """Gather, mask, softmax, row by row, in the wider of fp32 and the dtype of q; float64 too."""
    wide = torch.promote_types(torch.float32, q.dtype)
    block, dims, group = keys.shape[1], keys.shape[3], q.shape[1] // keys.shape[2]
    scale = dims**-0.5 if scale is None else scale
    o = torch.empty_like(q)
    rows = zip(pairwise(row_starts.tolist()), starts.tolist(), strict=True)
    for row, ((first, last), start) in enumerate(rows):
        end = start + last - first
        lowest = 0 if window_tokens is None else max(0, start - window_tokens + 1)
        positions = torch.arange(lowest, end, device=q.device)
        pages = tables[row, positions // block].long()
        # A hole is not read, not even to be weighed with zero.
        positions, pages = positions[pages != 0], pages[pages != 0]
        key = keys[pages, positions % block].to(wide).repeat_interleave(group, 1)
        value = values[pages, positions % block].to(wide).repeat_interleave(group, 1)
        own = torch.arange(start, end, device=q.device)[:, None]
        seen = positions <= own
        if window_tokens is not None:
            seen = seen & (positions > own - window_tokens)
        scores = torch.einsum("thd,jhd->htj", q[first:last].to(wide), key) * scale
        weights = scores.masked_fill(~seen, -torch.inf).softmax(-1).nan_to_num()
        o[first:last] = torch.einsum("htj,jhd->thd", weights, value).to(q.dtype)
    return o


@triton.jit
def store_entries_kernel(
    new_keys,
    new_values,
    keys,
    values,
    pages,
    offsets,
    tokens,
    entry,
    key_stride,
    value_stride,
    key_page_stride,
    value_page_stride,
    BT: tl.constexpr,
    BE: tl.constexpr,
):
    token = tl.program_id(1).to(tl.int64) * BT + tl.arange(0, BT)
    at = tl.program_id(0) * BE + tl.arange(0, BE)
    page = tl.load(pages + token, mask=token < tokens, other=0)
    offset = tl.load(offsets + token, mask=token < tokens, other=0).to(tl.int64)
    stored = (page != 0)[:, None] & (at < entry)[None, :]
    place = offset[:, None] * entry + at[None, :]
    key = tl.load(new_keys + token[:, None] * key_stride + at[None, :], mask=stored)
    value = tl.load(new_values + token[:, None] * value_stride + at[None, :], mask=stored)
    tl.store(keys + page.to(tl.int64)[:, None] * key_page_stride + place, key, mask=stored)
    tl.store(values + page.to(tl.int64)[:, None] * value_page_stride + place, value, mask=stored)


@triton.jit
def paged_attention_kernel(
    q,
    keys,
    values,
    o,
    tables,
    row_starts,
    starts,
    scale_log2,
    block,
    columns,
    q_stride,
    key_page_stride,
    value_page_stride,
    H: tl.constexpr,
    GROUP: tl.constexpr,
    D: tl.constexpr,
    BD: tl.constexpr,
    WINDOW: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
):
    head = tl.program_id(1)
    row = tl.program_id(2)
    first = tl.load(row_starts + row)
    width = tl.load(row_starts + row + 1) - first
    # A tile holds whole tokens: all query heads of each that read this head.
    ahead = tl.program_id(0) * (BM // GROUP)
    if ahead < width:
        start = tl.load(starts + row)
        line = tl.arange(0, BM)
        dims = tl.arange(0, BD)
        in_dims = (dims < D)[None, :]
        token = ahead + line // GROUP
        asked = (line < BM // GROUP * GROUP) & (token < width)
        query_head = head * GROUP + line % GROUP
        packed = (first + token).to(tl.int64)
        at = packed[:, None] * q_stride + (query_head * D)[:, None] + dims[None, :]
        query = tl.load(q + at, mask=asked[:, None] & in_dims, other=0.0)
        position = start + token
        end = start + tl.minimum(ahead + BM // GROUP, width)
        lowest = tl.zeros_like(end)
        if WINDOW is not None:
            lowest = tl.maximum(start + ahead - (WINDOW - 1), 0)
        top = tl.full((BM,), LOWEST_SCORE, tl.float32)
        total = tl.zeros((BM,), tl.float32)
        sums = tl.zeros((BM, BD), tl.float32)
        for index in range(lowest // BN, tl.cdiv(end, BN)):
            entry = tl.cast(index, tl.int32) * BN + tl.arange(0, BN)
            column = entry // block
            named = (entry >= lowest) & (entry < end) & (column < columns)
            page = tl.load(tables + row.to(tl.int64) * columns + column, mask=named, other=0)
            held = page != 0
            inner = (entry - column * block).to(tl.int64) * (H * D) + head * D
            inside = held[:, None] & in_dims
            key_at = page.to(tl.int64) * key_page_stride + inner
            value_at = page.to(tl.int64) * value_page_stride + inner
            key = tl.load(keys + key_at[:, None] + dims[None, :], mask=inside, other=0.0)
            value = tl.load(values + value_at[:, None] + dims[None, :], mask=inside, other=0.0)
            scores = tl.dot(query, tl.trans(key), input_precision="ieee") * scale_log2
            seen = held[None, :] & (entry[None, :] <= position[:, None])
            if WINDOW is not None:
                seen = seen & (entry[None, :] > position[:, None] - WINDOW)
            scores = tl.where(seen, scores, -float("inf"))
            higher = tl.maximum(top, tl.max(scores, 1))
            weights = tl.exp2(scores - higher[:, None])
            left = tl.exp2(top - higher)
            top = higher
            total = total * left + tl.sum(weights, 1)
            weights = weights.to(value.dtype)
            sums = tl.dot(weights, value, sums * left[:, None], input_precision="ieee")
        sums = sums / tl.where(total > 0, total, 1.0)[:, None]
        at = packed[:, None] * (H * GROUP * D) + (query_head * D)[:, None] + dims[None, :]
        tl.store(o + at, sums.to(o.dtype.element_ty), mask=asked[:, None] & in_dims)


def store_entries(
    new_keys: torch.Tensor,
    new_values: torch.Tensor,
    keys: torch.Tensor,
    values: torch.Tensor,
    pages: torch.Tensor,
    offsets: torch.Tensor,
) -> None:
    """Launches the kernel: one program per `BT` tokens and `BE` elements of an entry."""
    where, (tokens, heads, dims) = "store_entries", new_keys.shape
    _check_pools(where, keys, values, heads, dims, new_keys.dtype)
    for name, x in (("new_keys", new_keys), ("new_values", new_values)):
        _check_tokens(where, name, x, new_keys.shape, keys)
    check_tables(where, keys.device, pages=(pages, tokens), offsets=(offsets, tokens))
    if tokens == 0:
        return
    config = STORE.config(TYPES[keys.dtype], architecture_of(keys.device))
    tiles = config.tiles
    store_entries_kernel[
        (triton.cdiv(heads * dims, tiles["BE"]), triton.cdiv(tokens, tiles["BT"]))
    ](
        new_keys,
        new_values,
        keys,
        values,
        pages,
        offsets,
        tokens,
        heads * dims,
        new_keys.stride(0),
        new_values.stride(0),
        keys.stride(0),
        values.stride(0),
        **tiles,
        num_warps=config.warps,
        num_stages=config.stages,
    )


def paged_attention(
    q: torch.Tensor,
    keys: torch.Tensor,
    values: torch.Tensor,
    tables: torch.Tensor,
    row_starts: torch.Tensor,
    starts: torch.Tensor,
    longest_row_tokens: int,
    window_tokens: int | None = None,
    scale: float | None = None,
) -> torch.Tensor:
    """Launches the kernel: one program per row, head of keys and tile of queries."""
    where, (tokens, query_heads, dims), heads = "paged_attention", q.shape, keys.shape[2]
    rows, group = starts.numel(), query_heads // heads
    if query_heads % heads:
        raise ValueError(
            f"{where}: {query_heads} query heads over {heads}; {max(group, 1) * heads} would do"
        )
    _check_pools(where, keys, values, heads, dims, q.dtype)
    _check_tokens(where, "q", q, q.shape, keys)
    check_tables(where, q.device, starts=(starts, rows), row_starts=(row_starts, rows + 1))
    check_tensor(where, "tables", tables, (rows, tables.shape[-1]), q.device)
    if tables.dtype != torch.int32 or not tables.is_contiguous():
        raise ValueError(
            f"{where}: tables is {tables.dtype}, strides {tables.stride()}; int32 packed would do"
        )
    if window_tokens is not None and window_tokens < 1:
        raise ValueError(f"{where}: window_tokens is {window_tokens}; 1 or None would do")
    name = variant_name(TYPES[q.dtype], dims, longest_row_tokens, window_tokens)
    config = TABLE.config(name, architecture_of(q.device))
    if group > config.tiles["BM"]:
        fit = config.tiles["BM"] * heads
        raise ValueError(f"{where}: {query_heads} query heads over {heads}; {fit} would do")
    o = torch.empty(tokens, query_heads, dims, dtype=q.dtype, device=q.device)
    if tokens == 0:
        return o
    if longest_row_tokens < 1:
        raise ValueError(f"{where}: longest_row_tokens is {longest_row_tokens}; {tokens} would do")
    grid = (triton.cdiv(longest_row_tokens, config.tiles["BM"] // group), heads, rows)
    paged_attention_kernel[grid](
        q,
        keys,
        values,
        o,
        tables,
        row_starts,
        starts,
        (dims**-0.5 if scale is None else scale) * LOG2_E,
        keys.shape[1],
        tables.shape[1],
        q.stride(0),
        keys.stride(0),
        values.stride(0),
        H=heads,
        GROUP=group,
        D=dims,
        BD=max(16, triton.next_power_of_2(dims)),
        WINDOW=window_tokens,
        **config.tiles,
        num_warps=config.warps,
        num_stages=config.stages,
    )
    return o


def variant_name(
    activations: str, dims: int, longest_row_tokens: int, window_tokens: int | None
) -> str:
    """`bf16_d128_decode_windowed`: short rows only, and each token sees a window."""
    rows = "decode" if longest_row_tokens <= DECODE_TOKENS else "prefill"
    return f"{activations}_d{dims}_{rows}{'' if window_tokens is None else '_windowed'}"


def _check_pools(
    where: str,
    keys: torch.Tensor,
    values: torch.Tensor,
    heads: int,
    dims: int,
    dtype: torch.dtype,
) -> None:
    shape = (keys.shape[0], keys.shape[1], heads, dims)
    for name, x in (("keys", keys), ("values", values)):
        check_tensor(where, name, x, shape, keys.device)
        if x.dtype != dtype or dtype not in TYPES:
            fit = dtype if dtype in TYPES else torch.float32
            raise ValueError(f"{where}: {name} is {x.dtype}; {fit} would do")
        if not x[:1].is_contiguous():
            raise ValueError(f"{where}: {name} has strides {x.stride()}; packed pages would do")


def _check_tokens(
    where: str, name: str, x: torch.Tensor, shape: tuple[int, ...], keys: torch.Tensor
) -> None:
    check_tensor(where, name, x, tuple(shape), keys.device)
    if x.dtype != keys.dtype or not x[:1].is_contiguous():
        raise ValueError(
            f"{where}: {name} is {x.dtype}, strides {x.stride()}; {keys.dtype} packed would do"
        )


def _store_variant(activations: str) -> Variant:
    moved = dict.fromkeys(("new_keys", "new_values", "keys", "values"), f"*{activations}")
    tables = dict.fromkeys(("pages", "offsets"), "*i32")
    names = ("entry", "key_stride", "value_stride", "key_page_stride", "value_page_stride")
    sizes = dict.fromkeys(names, "i32")
    return Variant(
        name=activations,
        types={**moved, **tables, **sizes, "tokens": "i32"},
        constants={},
        aligned=frozenset({*moved, *tables, *sizes}),
    )


STORE = KernelTable(
    name="store_entries",
    function=store_entries_kernel,
    variants=tuple(map(_store_variant, TYPES.values())),
    configs=dict.fromkeys(Architecture, Config({"BT": 8, "BE": 512}, warps=4, stages=1)),
)


def _variant(activations: str, dims: int, row_tokens: int, window_tokens: int | None) -> Variant:
    moved = dict.fromkeys(("q", "keys", "values", "o"), f"*{activations}")
    tables = dict.fromkeys(("tables", "row_starts", "starts"), "*i32")
    strides = dict.fromkeys(("q_stride", "key_page_stride", "value_page_stride"), "i32")
    sizes = {"scale_log2": "fp32", "block": "i32", "columns": "i32"}
    return Variant(
        name=variant_name(activations, dims, row_tokens, window_tokens),
        types={**moved, **tables, **strides, **sizes},
        constants={"H": 2, "GROUP": 8, "D": dims, "BD": dims, "WINDOW": window_tokens},
        aligned=frozenset({*moved, *tables, *strides, "block"}),
        tensor_cores=activations == "bf16",
    )


def _config(activations: str, dims: int, row_tokens: int, architecture: Architecture) -> Config:
    if activations == "fp32":
        return Config({"BM": 16, "BN": 16}, warps=4, stages=1)
    # Page ids are loaded before what they point to: distance two takes five stages.
    if row_tokens <= DECODE_TOKENS:
        return Config({"BM": 16, "BN": 64 if dims == 64 else 32}, warps=4, stages=5)
    tiles, narrow = {"BM": 64, "BN": 64}, dims < 256
    stages = 5 if narrow and architecture is not Architecture.SM_80 else 2
    return Config(tiles, warps=4 if narrow else 8, stages=stages)


_SHAPES = [
    (activations, dims, row_tokens, window_tokens)
    for activations in TYPES.values()
    for dims in (64, 128, 256)
    for row_tokens in (DECODE_TOKENS, DECODE_TOKENS + 1)
    for window_tokens in (None, 4096)
]
TABLE = KernelTable(
    name="paged_attention",
    function=paged_attention_kernel,
    variants=tuple(_variant(*shape) for shape in _SHAPES if shape[1] == 128 or shape[3] is None),
    configs=dict.fromkeys(Architecture, Config({"BM": 16, "BN": 16}, warps=4, stages=1)),
    own_configs={
        (variant_name(*shape), architecture): _config(*shape[:3], architecture)
        for shape in _SHAPES
        for architecture in Architecture
    },
)
