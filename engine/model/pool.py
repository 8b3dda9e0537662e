"""The pool: one array of bytes, cut into pages, and strided views of it for every layer.

A page that changes its group keeps the bytes of its last tenant until somebody writes; in test mode
fresh pages are filled with ones instead (not a number in every float type), so that reading what
nobody wrote is seen."""

import torch
from torch import Tensor

from truehit.engine.model.layout import AttentionPages, DeltaNetPages, Field, Layout


class Pool:
    """`bytes` uint8[1, pages, page bytes]. Page 0 is the null block."""

    def __init__(self, layout: Layout, pages: int, device: torch.device) -> None:
        self.layout = layout
        self.pages = pages
        self.bytes = torch.zeros((1, pages, layout.page_bytes), dtype=torch.uint8, device=device)
        self._flat = self.bytes.view(-1)

    def view(self, field: Field) -> Tensor:
        """[pages, *field.shape], the page stride being that of the pool."""
        own = self._flat.view(field.dtype)
        strides = [1] * len(field.shape)
        for axis in range(len(field.shape) - 2, -1, -1):
            strides[axis] = strides[axis + 1] * field.shape[axis + 1]
        size = field.dtype.itemsize
        return own.as_strided(
            (self.pages, *field.shape),
            (self.layout.page_bytes // size, *strides),
            field.offset_bytes // size,
        )

    def delta_net(self, layer: DeltaNetPages) -> tuple[Tensor, Tensor]:
        """States [pages, value heads, value size, key size] and windows [pages, width - 1,
        channels] of a layer."""
        return self.view(layer.states), self.view(layer.windows)

    def attention(self, layer: AttentionPages) -> tuple[Tensor, Tensor]:
        """Keys and values [pages, block tokens, key heads, size] of a layer."""
        return self.view(layer.keys), self.view(layer.values)
