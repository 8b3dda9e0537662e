"""Can the judges fail? Planted faults in the oracle, the laws and the engine, each to be noticed.

A fault is data: a file, a fragment of its source, a replacement, and one phrase that says what
breaks. It is never written into the checkout: a copy of the package with the one changed file is
loaded in a forked process, and the judges are asked there, the cheap ones first, until one of them
speaks. `python -m truehit.proofs.mutation` runs it; docs/mutation.md has the figures.
"""
