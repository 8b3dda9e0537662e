"""What runs inside an environment of vLLM: the standard library, vLLM and its own dependencies.

These packages are started by name with this folder on the import path, so they cannot import
truehit; what both sides need (workloads, tokens, clock) lies here and knows neither of them.
"""
