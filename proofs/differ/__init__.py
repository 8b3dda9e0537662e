"""The differential: every event of another engine equals the oracle's, or the first that does not
is shown, shrunk and kept as a test."""
