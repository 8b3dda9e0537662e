"""Benchmarks: each runs once, small, in `make test`, and measured, whole, in `make bench`."""
