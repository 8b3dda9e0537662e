"""Obligations about our own rules, as data: what is assumed, what runs, what must hold or fail."""
