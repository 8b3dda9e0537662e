"""The compile gate: every kernel, variant and architecture compiles without a GPU, spills nothing,
fits in shared memory, keeps its matrix instructions, and needs no more registers than it did.

    python -m truehit.kernels.gate [--triton 3.6.0 [installed ...]] [--only NAME] [--record]

Measuring is done by child processes (`inside`, `discover`, `measure`), each with the Triton it was
given (`toolchain`, `worker`); judging is a pure function (`judge`); printing is another
(`report`). One kernel that is known to spill (`spiller`) has to be refuted before anything else is
believed.
"""
