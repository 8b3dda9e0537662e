"""A real scheduler, a worker that only keeps books, and checks: the text under every written test.

The modules are pasted into each file in the order engine, releases, seen, worker, run, so they need
nothing but vLLM, torch and the standard library, and name each other relatively. They restate in
short what the package `driver` does, with checks of their own in place of traces: a written test
has to stand where there is no truehit.
"""
