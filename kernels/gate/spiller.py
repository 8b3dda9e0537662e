"""The control: a kernel that has to spill. Its one warp keeps a tile of 512 values a thread alive
across a reduction, where a thread has 255 registers. It is no kernel of the package (discovery
looks no deeper than the package's own modules); a gate that lets it pass sees nothing."""

import triton
import triton.language as tl

from truehit.kernels.table import Architecture, Config, KernelTable, Variant


@triton.jit
def normalise(source, target, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    rows = tl.arange(0, ROWS)[:, None] * COLUMNS
    offsets = rows + tl.arange(0, COLUMNS)[None, :]
    tile = tl.load(source + offsets)
    tl.store(target + offsets, tile / tl.sum(tile))


TABLE = KernelTable(
    name="spiller",
    function=normalise,
    variants=(Variant("fp32", {"source": "*fp32", "target": "*fp32"}, {}),),
    configs={
        architecture: Config({"ROWS": 64, "COLUMNS": 256}, warps=1, stages=1)
        for architecture in Architecture
    },
)
