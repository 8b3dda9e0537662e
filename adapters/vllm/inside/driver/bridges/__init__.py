"""Where releases differ: one module a difference, with its reason and the releases it is about.

Each looks at what the release itself offers (an attribute, a field, a module), not at its version,
so a release that is not known yet is driven like the newest one it resembles.
"""
