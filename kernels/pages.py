"""A page is copied or filled whole, in every layer, by one launch; no other byte is touched.

`pool`: uint8[layers, pages, page_bytes]; the strides of layers and pages are free, as long as
every page starts at a multiple of 16 bytes; the bytes of a page are contiguous and a multiple of
16. Page ids are int32 on the pool's device and below `pages`: a launcher does not wait to look at
them. Id 0 is the null page: a pair that names it, on either side, is skipped. The pairs of a launch
run in any order, so no page is twice a target, and none both a source and a target.

Errors: ValueError. Idea: block copies of paged attention (vLLM), with layers as a grid axis."""

import torch
import triton
import triton.language as tl

from truehit.kernels.table import Architecture, Config, KernelTable, Variant, architecture_of

_UNIT_BYTES = 16
_WORD_BYTES = 8
_LARGEST_GRID = 65535
"""Programs along any axis but the first."""


@triton.jit
def copy_pages_kernel(
    pool, sources, targets, layer_step_units, page_step_units, page_units, TILE_WORDS: tl.constexpr
):
    pair = tl.program_id(0)
    source = tl.load(sources + pair)
    target = tl.load(targets + pair)
    if (source != 0) & (target != 0):
        at = tl.program_id(1) * TILE_WORDS + tl.arange(0, TILE_WORDS)
        inside = at < page_units * 2
        # Two words a unit: the compiler sees that pages start and end at multiples of 16 bytes.
        layer = pool + tl.program_id(2).to(tl.int64) * layer_step_units * 2
        words = tl.load(layer + source.to(tl.int64) * page_step_units * 2 + at, mask=inside)
        tl.store(layer + target.to(tl.int64) * page_step_units * 2 + at, words, mask=inside)


@triton.jit
def fill_pages_kernel(
    pool,
    pages,
    layer_step_units,
    page_step_units,
    page_units,
    WORD: tl.constexpr,
    TILE_WORDS: tl.constexpr,
):
    page = tl.load(pages + tl.program_id(0))
    if page != 0:
        at = tl.program_id(1) * TILE_WORDS + tl.arange(0, TILE_WORDS)
        words = tl.full((TILE_WORDS,), WORD, tl.int64)
        layer = pool + tl.program_id(2).to(tl.int64) * layer_step_units * 2
        start = layer + page.to(tl.int64) * page_step_units * 2
        tl.store(start + at, words, mask=at < page_units * 2)


def copy_pages(pool: torch.Tensor, sources: torch.Tensor, targets: torch.Tensor) -> None:
    """`pool[:, targets[i]] = pool[:, sources[i]]` for every pair without a null page."""
    _check_pool(pool)
    _check_ids("sources", sources, pool)
    _check_ids("targets", targets, pool)
    if sources.numel() != targets.numel():
        raise ValueError(
            f"copy_pages: {sources.numel()} sources and {targets.numel()} targets; "
            f"{sources.numel()} of each would do"
        )
    layers, _, page_bytes = pool.shape
    if sources.numel() == 0 or pool.numel() == 0:
        return
    config = COPY.config("copy", architecture_of(pool.device))
    tile_words = config.tiles["TILE_WORDS"]
    copy_pages_kernel[
        (sources.numel(), triton.cdiv(page_bytes // _WORD_BYTES, tile_words), layers)
    ](
        pool.view(torch.int64),
        sources,
        targets,
        pool.stride(0) // _UNIT_BYTES,
        pool.stride(1) // _UNIT_BYTES,
        page_bytes // _UNIT_BYTES,
        TILE_WORDS=tile_words,
        num_warps=config.warps,
        num_stages=config.stages,
    )


def fill_pages(pool: torch.Tensor, pages: torch.Tensor, byte: int) -> None:
    """Every byte of `pool[:, pages[i]]` becomes `byte`: 0 zeroes, 0xFF poisons (NaN as a float)."""
    _check_pool(pool)
    _check_ids("pages", pages, pool)
    if not 0 <= byte <= 0xFF:
        raise ValueError(f"fill_pages: byte {byte} is not in 0 … 255; 0 zeroes and 255 poisons")
    layers, _, page_bytes = pool.shape
    if pages.numel() == 0 or pool.numel() == 0:
        return
    config = FILL.config("zero" if byte == 0 else "poison", architecture_of(pool.device))
    tile_words = config.tiles["TILE_WORDS"]
    fill_pages_kernel[(pages.numel(), triton.cdiv(page_bytes // _WORD_BYTES, tile_words), layers)](
        pool.view(torch.int64),
        pages,
        pool.stride(0) // _UNIT_BYTES,
        pool.stride(1) // _UNIT_BYTES,
        page_bytes // _UNIT_BYTES,
        WORD=int.from_bytes([byte] * _WORD_BYTES, signed=True),
        TILE_WORDS=tile_words,
        num_warps=config.warps,
        num_stages=config.stages,
    )


def copy_pages_reference(pool: torch.Tensor, sources: torch.Tensor, targets: torch.Tensor) -> None:
    """What `copy_pages` does, in torch; waits for the device."""
    named = (sources != 0) & (targets != 0)
    pool[:, targets[named].long()] = pool[:, sources[named].long()]


def fill_pages_reference(pool: torch.Tensor, pages: torch.Tensor, byte: int) -> None:
    """What `fill_pages` does, in torch; waits for the device."""
    pool[:, pages[pages != 0].long()] = byte


def _check_pool(pool: torch.Tensor) -> None:
    if pool.dtype != torch.uint8 or pool.dim() != 3:
        raise ValueError(
            f"pages: pool is {pool.dtype}{list(pool.shape)}; "
            "torch.uint8[layers, pages, page_bytes] would do"
        )
    layers, _, page_bytes = pool.shape
    if page_bytes % _UNIT_BYTES:
        wider = triton.cdiv(page_bytes, _UNIT_BYTES) * _UNIT_BYTES
        raise ValueError(f"pages: a page has {page_bytes} bytes, not a multiple of 16; {wider} is")
    if page_bytes > 1 and pool.stride(2) != 1:
        raise ValueError(f"pages: bytes of a page have stride {pool.stride(2)}; 1 would do")
    for name, stride in (("layers", pool.stride(0)), ("pages", pool.stride(1))):
        if stride % _UNIT_BYTES:
            wider = triton.cdiv(stride, _UNIT_BYTES) * _UNIT_BYTES
            raise ValueError(f"pages: {name} have stride {stride}, no multiple of 16; {wider} is")
    if pool.data_ptr() % _UNIT_BYTES:
        raise ValueError(
            f"pages: the pool starts {pool.data_ptr() % _UNIT_BYTES} bytes past a multiple of 16; "
            "0 would do"
        )
    if layers > _LARGEST_GRID:
        raise ValueError(f"pages: {layers} layers in one launch; {_LARGEST_GRID} would do")


def _check_ids(name: str, ids: torch.Tensor, pool: torch.Tensor) -> None:
    if ids.dtype != torch.int32 or ids.dim() != 1 or not ids.is_contiguous():
        raise ValueError(
            f"pages: {name} is {ids.dtype}{list(ids.shape)} with stride {list(ids.stride())}; "
            f"torch.int32[{ids.numel()}] with stride [1] would do"
        )
    if ids.device != pool.device:
        raise ValueError(f"pages: {name} is on {ids.device}; {pool.device}, the pool's, would do")


_STRIDES = {"layer_step_units": "i32", "page_step_units": "i32", "page_units": "i32"}
_FAR = {"layer_step_units": "i64", "page_step_units": "i32", "page_units": "i32"}
_CONFIGS = {
    architecture: Config({"TILE_WORDS": 2048}, warps=4, stages=1) for architecture in Architecture
}
_COPIED = {"pool": "*i64", "sources": "*i32", "targets": "*i32"}
_FILLED = {"pool": "*i64", "pages": "*i32"}
_ALIGNED = frozenset({"pool", "layer_step_units", "page_step_units", "page_units"})

COPY = KernelTable(
    name="copy_pages",
    function=copy_pages_kernel,
    variants=(
        Variant("copy", {**_COPIED, **_STRIDES}, {}, _ALIGNED),
        Variant("copy far layers", {**_COPIED, **_FAR}, {}, _ALIGNED),
        Variant("copy small pages", {**_COPIED, **_STRIDES}, {}, frozenset({"pool"})),
    ),
    configs=_CONFIGS,
)
FILL = KernelTable(
    name="fill_pages",
    function=fill_pages_kernel,
    variants=(
        Variant("zero", {**_FILLED, **_STRIDES}, {"WORD": 0}, _ALIGNED),
        Variant("poison", {**_FILLED, **_STRIDES}, {"WORD": -1}, _ALIGNED),
    ),
    configs=_CONFIGS,
)
