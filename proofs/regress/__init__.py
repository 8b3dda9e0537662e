"""Counterexamples become tests: find a run that breaks a law, shrink it, write it out, keep it
honest."""
