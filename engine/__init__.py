"""The fast engine: flat arrays on the host path; it never borrows from the oracle."""
