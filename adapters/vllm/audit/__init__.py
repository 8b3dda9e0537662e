"""Audit of a release: known defects, a search for unknown ones, and findings one can act on."""
