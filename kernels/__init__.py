"""Triton kernels, each with its reference and its compile table."""
