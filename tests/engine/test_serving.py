"""Serving in any order: conserved, within reservations, and the fast path equals the slow one."""

from hypothesis import settings

from .machine import Served
from .room import CI

Served.TestCase.settings = settings(CI, max_examples=80, stateful_step_count=30)
TestServed = Served.TestCase
