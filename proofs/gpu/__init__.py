"""What only a GPU can say of the kernels: `python -m truehit.proofs.gpu`, five minutes on one GPU.

Planning, judging and rendering are pure functions; measuring happens in processes of their own
that answer line by line, so that one that hangs or dies loses its own unfinished items only."""
