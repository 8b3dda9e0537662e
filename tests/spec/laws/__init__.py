"""Tests of the thirteen laws on small traces written by hand."""
