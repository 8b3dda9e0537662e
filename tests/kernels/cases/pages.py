"""Copies and fills of whole pages, against numpy on the bytes."""

import re
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from truehit.kernels.pages import (
    COPY,
    copy_pages,
    copy_pages_reference,
    fill_pages,
    fill_pages_reference,
)

from ..buffers import RedZoned, at_the_edge, page_digests

TILE_BYTES = 8 * next(iter(COPY.configs.values())).tiles["TILE_WORDS"]
GIB = 2**30


def drawn(layers: int, pages: int, page_bytes: int, gap_bytes: int = 0) -> RedZoned:
    """A pool in which the layers of a page lie side by side, each followed by a gap."""
    draw = torch.Generator().manual_seed(page_bytes)
    values = torch.randint(0, 256, (layers, pages, page_bytes), generator=draw, dtype=torch.uint8)
    stride = page_bytes + gap_bytes
    return RedZoned.of(values, (stride, layers * stride, 1))


def ids(*pages: int) -> torch.Tensor:
    return torch.tensor(pages, dtype=torch.int32)


def check_copy(zoned: RedZoned, sources: list[int], targets: list[int]) -> None:
    before = zoned.tensor.numpy().copy()
    reference = zoned.tensor.clone()
    copy_pages(zoned.tensor, ids(*sources), ids(*targets))
    expected = before.copy()
    for source, target in zip(sources, targets, strict=True):
        if source and target:
            expected[:, target] = before[:, source]
    assert np.array_equal(zoned.tensor.numpy(), expected)
    assert zoned.intact()
    copy_pages_reference(reference, ids(*sources), ids(*targets))
    assert torch.equal(reference, zoned.tensor)


def check_fill(zoned: RedZoned, pages: list[int], byte: int) -> None:
    reference = zoned.tensor.clone()
    expected = zoned.tensor.numpy().copy()
    expected[:, [page for page in pages if page]] = byte
    fill_pages(zoned.tensor, ids(*pages), byte)
    assert np.array_equal(zoned.tensor.numpy(), expected)
    assert zoned.intact()
    fill_pages_reference(reference, ids(*pages), byte)
    assert torch.equal(reference, zoned.tensor)


def case_copies_in_every_layer() -> None:
    check_copy(drawn(3, 9, 256, gap_bytes=48), [2, 5, 7], [1, 8, 3])


def case_one_source_of_many_targets() -> None:
    check_copy(drawn(2, 9, 64), [4, 4, 4], [1, 2, 8])


def case_pages_longer_than_a_tile() -> None:
    for page_bytes in (TILE_BYTES - 16, TILE_BYTES, 2 * TILE_BYTES + 16):
        check_copy(drawn(2, 4, page_bytes, gap_bytes=16), [1], [3])
        check_fill(drawn(2, 4, page_bytes, gap_bytes=16), [2], 0)


def case_smallest_pages() -> None:
    check_copy(drawn(1, 3, 16), [1], [2])
    check_fill(drawn(1, 3, 16), [2], 0xFF)


def case_pairs_that_name_the_null_page_are_skipped() -> None:
    zoned = drawn(2, 6, 64)
    fill_pages_reference(zoned.tensor[:, :1], ids(0), 0xFF)
    before = page_digests(zoned.tensor.transpose(0, 1))
    check_copy(zoned, [0, 3, 0, 2], [1, 0, 0, 5])
    after = page_digests(zoned.tensor.transpose(0, 1))
    assert [page for page in range(6) if after[page] != before[page]] == [5]


def case_nothing_to_do() -> None:
    check_copy(drawn(2, 6, 64), [], [])
    check_fill(drawn(2, 6, 64), [], 0)
    check_copy(drawn(0, 6, 64), [1], [2])
    check_fill(drawn(0, 6, 64), [1], 0)


def case_many_pairs_in_one_launch() -> None:
    shuffled = np.random.default_rng(0).permutation(np.arange(1, 65)).tolist()
    check_copy(drawn(2, 65, 80, gap_bytes=32), shuffled[:32], shuffled[32:])


def case_nothing_is_read_behind_a_pool() -> None:
    pool, numbers = at_the_edge(drawn(2, 3, 80).tensor), at_the_edge(ids(2))
    expected = pool[:, 2].clone()
    copy_pages(pool, numbers, at_the_edge(ids(1)))
    assert torch.equal(pool[:, 1], expected) and torch.equal(pool[:, 2], expected)
    fill_pages(pool, numbers, 0)
    assert not bool(pool[:, 2].any()) and torch.equal(pool[:, 1], expected)


def case_zeroes() -> None:
    check_fill(drawn(3, 7, 256, gap_bytes=16), [6, 0, 1], 0)


def case_poison_is_nan_in_every_type() -> None:
    zoned = drawn(3, 7, 256)
    check_fill(zoned, [2, 5], 0xFF)
    for dtype in (torch.float32, torch.bfloat16, torch.float64):
        assert bool(zoned.tensor[:, 2].contiguous().view(dtype).isnan().all())


def case_fills_with_any_byte() -> None:
    for byte in (1, 0x7F, 0x80, 0xFE):
        check_fill(drawn(2, 4, 32), [3, 1], byte)


def case_offsets_beyond_32_bits() -> None:
    """Pages, then layers, so far apart that their distance in words is no int32; in a file of
    which only the pages named here exist."""
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "pool")
        memory = torch.from_file(path, shared=True, size=48 * GIB, dtype=torch.uint8)
        for pool in (
            memory.as_strided((1, 12, 64), (16, 4 * GIB, 1)),
            memory.as_strided((3, 12, 64), (16 * GIB, 64, 1)),
        ):
            fill_pages(pool, ids(11, 9), 7)
            fill_pages(pool, ids(9), 9)
            assert bool((pool[:, 11] == 7).all()) and bool((pool[:, 9] == 9).all())
            copy_pages(pool, ids(9), ids(10))
            assert bool((pool[:, 10] == 9).all()) and bool((pool[:, 11] == 7).all())


def case_refusals_name_the_number() -> None:
    pool, one, two = torch.zeros(2, 4, 64, dtype=torch.uint8), ids(1), ids(1, 2)
    far = torch.zeros(2, 4, 72, dtype=torch.uint8)
    refused: list[tuple[Callable[[], None], str]] = [
        (lambda: copy_pages(pool, one, two), "1 sources and 2 targets; 1 of each would do"),
        (lambda: copy_pages(pool, one.long(), one), "torch.int32[1] with stride [1] would do"),
        (lambda: copy_pages(pool, one, torch.stack([two, two])[:, 0]), "with stride [2]; torch"),
        (lambda: copy_pages(pool, one, one.to("meta")), "targets is on meta; cpu, the pool's"),
        (lambda: fill_pages(pool.int(), one, 0), "pool is torch.int32[2, 4, 64]; torch.uint8["),
        (lambda: fill_pages(pool[0], one, 0), "pool is torch.uint8[4, 64]; torch.uint8["),
        (lambda: fill_pages(pool[:, :, :24], one, 0), "24 bytes, not a multiple of 16; 32 is"),
        (lambda: fill_pages(pool[:, :, ::2], one, 0), "bytes of a page have stride 2; 1 would do"),
        (lambda: fill_pages(far[:, :, :64], one, 0), "pages have stride 72, no multiple of 16; 80"),
        (lambda: fill_pages(pool[:, :, 8:56], one, 0), "starts 8 bytes past a multiple of 16"),
        (lambda: fill_pages(pool, one, 256), "byte 256 is not in 0"),
        (lambda: fill_pages(pool[:1].expand(65536, 4, 64), one, 0), "65536 layers in one launch"),
    ]
    for call, said in refused:
        with pytest.raises(ValueError, match=re.escape(said)) as caught:
            call()
        assert "\n" not in str(caught.value)
