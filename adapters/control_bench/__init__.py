"""The control plane beside a real peer: the same workloads, in turns, in one run."""
