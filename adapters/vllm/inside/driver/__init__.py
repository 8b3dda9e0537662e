"""Runs scenarios on the real scheduler of the vLLM it is started with, and writes down what it did.

Starts where there is no truehit: it imports vLLM, the standard library, and its neighbours. One
scenario a line comes in; its trace, one event a line, goes out.
"""
