"""Two engines in step: one as it is, and audited; one that always looks (its quiet horizons are
forced to 0) and that nobody watches.

The client submits related prompts, schedules, commits with some drafts accepted and some rows
failed, aborts, preempts, resets. After every operation both engines are recounted and compared."""

from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from truehit.engine import entry
from truehit.engine import fields as f
from truehit.engine.api import Engine
from truehit.engine.audit import Audit
from truehit.spec.geometry import Geometry
from truehit.spec.geometry_checks import check
from truehit.spec.scenario import Policy

from .drawn import geometries
from .recount import published, recount
from .room import Device, is_running, serve_all

DOCUMENTS = tuple([10_000 * (d + 1) + n for n in range(60)] for d in range(2))
COMPARED = (
    "now",
    "block",
    "request",
    "table",
    "column",
    "exported",
    "token",
    "key",
    "chain",
    "chunk",
    "running",
    "seek",
    "found",
    "update",
    "copy",
    "held",
    "preempted",
    "status",
)
"""Not: scratch, which the fast path does not clear; and the key tables, which are compared as a
mapping: whoever looks more often also makes room earlier."""


def look_always(engine: Engine) -> None:
    """Forget when something may change next."""
    engine.host.core.request[:, [f.R_QUIET_END, f.R_QUIET_DONE]] = 0


def decisions(engine: Engine) -> dict[str, Any]:
    """Every array as far as it decides anything; horizons are left out, and of what is filed of a
    page group only the whole pages, because the slow path notes every token."""
    host = engine.host
    core = host.core
    parts = {name: getattr(core, name).copy() for name in COMPARED}
    parts["now"][[f.N_TOLD, f.N_REPLAYED]] = 0
    parts["chunk"][:, :, f.C_IS_QUIET] = 0
    parts["request"][:, [f.R_QUIET_LOW, f.R_QUIET_END, f.R_QUIET_DONE]] = 0
    parts["table"][:, :, f.T_PARTIAL_FILED] = 0
    pages = np.flatnonzero(core.group[:, f.G_KIND] != f.STATE)
    parts["table"][:, pages, f.T_FILED] //= core.group[pages, f.G_BLOCK]
    queues = (list(host.waiting), dict(host.slots), list(host.in_flight))
    found = {name: part.tolist() for name, part in parts.items()}
    return found | {"queues": queues, "keys": published(host)}


class Served(RuleBasedStateMachine):
    """The machine; see the module."""

    def __init__(self) -> None:
        super().__init__()
        self.prompts: dict[int, list[int]] = {}
        self.sampled: dict[int, list[int]] = {}
        self.tails = 0

    @initialize(geometry=geometries(), policy=st.sampled_from(Policy))
    def begin(self, geometry: Geometry, policy: Policy) -> None:
        check(geometry)
        self.geometry = geometry
        self.fast, self.slow = (Engine(geometry, policy=policy) for _ in range(2))
        self.audit = Audit(self.fast.host)

    # --- the client -------------------------------------------------------------------------

    def _submit(self, prompt: list[int], output: int, salt: str, priority: int) -> None:
        room = self.geometry.max_model_tokens - output
        while self.geometry.request_blocks(room + output) >= self.geometry.pool_blocks:
            room -= 1
        if room < 1:
            return
        cut = prompt[:room]
        first, second = (
            engine.submit(cut, output_tokens=output, salt=salt, priority=priority)
            for engine in (self.fast, self.slow)
        )
        assert first == second
        self.prompts[first] = cut

    def _tail(self, tokens: int) -> list[int]:
        self.tails += 100
        return list(range(self.tails, self.tails + tokens))

    @rule(
        document=st.sampled_from(DOCUMENTS),
        shared=st.integers(1, 60),
        tail=st.integers(0, 12),
        output=st.integers(1, 20),
        salt=st.sampled_from(("", "", "salt")),
        priority=st.integers(-1, 1),
    )
    def submit(
        self, document: list[int], shared: int, tail: int, output: int, salt: str, priority: int
    ) -> None:
        self._submit(document[:shared] + self._tail(tail), output, salt, priority)

    @precondition(lambda self: self.prompts)
    @rule(data=st.data(), tail=st.integers(0, 9), output=st.integers(1, 20))
    def next_turn(self, data: st.DataObject, tail: int, output: int) -> None:
        """What somebody was asked and answered so far, and a new question."""
        number = data.draw(st.sampled_from(sorted(self.prompts)))
        history = self.prompts[number] + self.sampled.get(number, [])
        self._submit(history + self._tail(tail), output, "", 0)

    @precondition(lambda self: self.fast.host.slots)
    @rule(data=st.data())
    def abort(self, data: st.DataObject) -> None:
        number = data.draw(st.sampled_from(sorted(self.fast.host.slots)))
        for engine in (self.fast, self.slow):
            engine.abort(number)

    @precondition(lambda self: self.fast.statistics().running)
    @rule(data=st.data())
    def preempt(self, data: st.DataObject) -> None:
        running = [n for n in sorted(self.fast.host.slots) if is_running(self.fast, n)]
        number = data.draw(st.sampled_from(running))
        for engine in (self.fast, self.slow):
            engine.preempt(number)

    @rule()
    def reset(self) -> None:
        for engine in (self.fast, self.slow):
            engine.reset_cache()

    # --- steps ------------------------------------------------------------------------------

    def _may_schedule(self) -> bool:
        return len(self.fast.host.in_flight) < self.geometry.steps_in_flight

    def _schedule(self, budget: int | None) -> None:
        look_always(self.slow)
        lists = [engine.schedule(budget).as_lists() for engine in (self.fast, self.slow)]
        assert lists[0] == lists[1]

    def _commit(self, data: st.DataObject, generous: bool) -> None:
        host = self.fast.host
        slice_, rows = host.in_flight[0]
        ran = [generous or data.draw(st.integers(0, 9)) > 0 for _ in range(rows)]
        counts, tokens = [], []
        for row in range(rows):
            least, most = entry.count_bounds(host.handle, slice_, row, ran[row])
            counts.append(most if generous else data.draw(st.integers(least, most)))
            slot = int(host.core.chunk[slice_, row, f.C_SLOT])
            fresh = self._tail(counts[-1])
            number = int(host.core.request[slot, f.R_ORDER])
            if host.slots.get(number) == slot and least:
                self.sampled.setdefault(number, []).extend(fresh)
            tokens += fresh
        look_always(self.slow)
        ended = [engine.commit(tokens, counts, ran) for engine in (self.fast, self.slow)]
        assert ended[0] == ended[1]

    @precondition(lambda self: self._may_schedule())
    @rule(data=st.data())
    def schedule(self, data: st.DataObject) -> None:
        self._schedule(data.draw(st.none() | st.integers(1, self.geometry.budget_tokens)))
        if self.geometry.reserve_full_sequence:
            assert self.fast.host.core.now[f.N_PREEMPTED] == 0

    @precondition(lambda self: self.fast.host.in_flight)
    @rule(data=st.data())
    def commit(self, data: st.DataObject) -> None:
        self._commit(data, generous=False)

    @rule(data=st.data(), steps=st.integers(1, 12))
    def go_on(self, data: st.DataObject, steps: int) -> None:
        """A stretch of plain serving, so that decode gets somewhere."""
        for _ in range(steps):
            if not self._may_schedule():
                self._commit(data, generous=True)
                self.counts_agree()
            self._schedule(None)
            self.counts_agree()

    # --- what always holds ------------------------------------------------------------------

    @invariant()
    def counts_agree(self) -> None:
        for engine in (self.fast, self.slow):
            recount(engine.host)
        fast, slow = decisions(self.fast), decisions(self.slow)
        assert [name for name in fast if fast[name] != slow[name]] == []
        findings = self.audit.findings()
        assert findings == [], findings

    @invariant()
    def tokens_are_those_of_the_client(self) -> None:
        core = self.fast.host.core
        for number, slot in self.fast.host.slots.items():
            at, known = core.request[slot, [f.R_TOKENS, f.R_KNOWN]].tolist()
            mine = self.prompts[number] + self.sampled.get(number, [])
            assert core.token[at : at + known].tolist() == mine

    def teardown(self) -> None:
        """Everybody who is left is served, and then every block is free."""
        if not hasattr(self, "fast"):
            return
        device = Device(self.fast, greed=0.5)
        serve_all(device)
        # Sources of copies are kept for some steps more.
        for _ in range(self.geometry.steps_in_flight):
            self.fast.schedule()
            device.step()
        recount(self.fast.host)
        now = self.fast.host.core.now
        assert now[f.N_FREE] == self.geometry.pool_blocks - 1
        assert now[[f.N_PAGES, f.N_SOLO, f.N_PROMISED, f.N_RUNNING, f.N_HELD]].tolist() == [0] * 5
