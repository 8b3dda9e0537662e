"""What the scheduler asks of its cache manager, in order: the spy on the calls between them.

Instance attributes hide the methods; the engine's own code runs unchanged behind each.
"""

from collections.abc import Callable
from typing import Any

from .bridges.checkpoints import Checkpoint
from .build import Subject
from .out import Recorder
from .spy_keys import KeyWatch
from .spy_tables import TableWatch


class Spy:
    """Writes lookups, chunks, tables, keys and ends of one scheduler."""

    def __init__(
        self, subject: Subject, recorder: Recorder, groups: list[str], checkpoint: Checkpoint
    ) -> None:
        self._checkpoint = checkpoint
        self._subject = subject
        self._recorder = recorder
        self._groups = groups
        self.keys = KeyWatch(recorder, groups, subject.unit_tokens)
        self.tables = TableWatch(recorder, subject.manager, groups)
        self._offered: dict[str, int] = {}
        self._empty: dict[str, dict[str, Any]] = {}
        self._taken: list[int] = []
        self.copied: dict[int, tuple[str, int]] = {}
        self._held: list[tuple[str, list[int]]] = []
        self._estimate = 0
        self._found: dict[str, list[list[int]]] = {}
        self._ending = ""

    def install(self) -> None:
        """Stand between the scheduler, the manager and the pool."""
        scheduler, manager = self._subject.scheduler, self._subject.manager
        pool = manager.block_pool
        _around(scheduler, "_mamba_block_aligned_split", self._on_split)
        _around(scheduler, "_preempt_request", self._on_preempt)
        _around(manager, "get_computed_blocks", self._on_lookup)
        _around(manager, "allocate_slots", self._on_allocate)
        _around(manager, "free", self._on_free)
        _around(manager.coordinator, "get_num_blocks_to_allocate", self._on_estimate)
        _around(pool, "get_new_blocks", self._on_take)
        for name in ("cache_full_blocks", "cache_partial_block", "move_block_hashes"):
            if hasattr(pool, name):
                _around(pool, name, self._on_file)

    # --- one step -----------------------------------------------------------------------------

    def begin_step(self) -> None:
        self._offered.clear()
        self._empty.clear()
        self.copied.clear()

    def end_schedule(self) -> None:
        """The schedule is made: say which requests got nothing."""
        for fields in self._empty.values():
            self._recorder.emit("schedule", **fields)
        self._empty.clear()

    def end_copies(self) -> None:
        """The worker has made its copies: blocks that were kept for them are let go. The scheduler
        lets go before, but gives nothing to anybody until then."""
        for name, blocks in (*self._held, *self.tables.retained):
            self._recorder.emit("hold", group=name, blocks=blocks, holder="copy", held=False)
        self._held.clear()
        self.tables.retained.clear()

    def _on_split(self, inner: Callable[..., int], request: Any, tokens: int, *more: Any) -> int:
        taken = inner(request, tokens, *more)
        self._offered[request.request_id] = tokens
        if tokens > 0 and taken == 0:
            start = request.num_computed_tokens + sum(more)
            self._nothing(request, start, tokens, "split", "the splitter left no token")
        return taken

    def _nothing(self, request: Any, start: int, offered: int, cut: str, reason: str) -> None:
        self._empty[request.request_id] = {
            "request": request.request_id,
            "start": start,
            "end": start,
            "offered_tokens": offered,
            "prefill_end": _prefill_end(request),
            "cut": cut,
            "reason": reason,
        }

    def _on_lookup(self, inner: Callable[..., Any], request: Any, *more: Any, **named: Any) -> Any:
        self.keys.learn(request)
        found = inner(request, *more, **named)
        blocks, hit = found[0], found[1]
        junction = found[2] if len(found) > 2 else 0
        cap = more[0] if more and more[0] is not None else request.num_tokens - 1
        self._found[request.request_id] = [
            [0 if block.is_null else block.block_id for block in columns]
            for columns in blocks.blocks
        ]
        self._recorder.emit(
            "lookup",
            request=request.request_id,
            cap_tokens=cap,
            reaches=[],
            local_tokens=hit,
            external_tokens=0,
            hit_tokens=hit,
            junction_tokens=junction or None,
        )
        return found

    def _on_allocate(
        self, inner: Callable[..., Any], request: Any, tokens: int, *more: Any, **named: Any
    ) -> Any:
        name = request.request_id
        hit = named.get("num_new_computed_tokens", more[0] if more else 0)
        start = request.num_computed_tokens + hit
        offered = self._offered.get(name, tokens)
        self.keys.learn(request)
        self.keys.request = name
        self._taken.clear()
        done = inner(request, tokens, *more, **named)
        if done is None:
            self.tables.compare(name)
            if str(request.status).endswith(("WAITING", "PREEMPTED")):
                self._nothing(request, start, offered, "pool", "no room")
            return done
        self._empty.pop(name, None)
        self._chunk(request, start, start + tokens, offered)
        self._blocks(name, hit)
        return done

    def _exported(self, request: Any, start: int, end: int) -> int | None:
        """The position whose state the worker exports from the middle of the chunk, if the engine
        gave it a block to do so."""
        found = self._checkpoint(start, end) if start < _prefill_end(request) else None
        if found is None:
            return None
        position, column = found
        for group, manager in enumerate(self._managers()):
            if _is_state(manager):
                columns = self.tables.columns(request.request_id, group)
                if not 0 <= column < len(columns) or not columns[column]:
                    return None
        return position

    def _chunk(self, request: Any, start: int, end: int, offered: int) -> None:
        drafts = max(end - request.num_tokens, 0)
        self._recorder.emit(
            "schedule",
            request=request.request_id,
            start=start,
            end=end,
            offered_tokens=offered,
            prefill_end=_prefill_end(request),
            drafts=drafts,
            cut="split" if end - start < offered else "none",
            checkpoint_tokens=self._exported(request, start, end),
        )

    def _blocks(self, name: str, hit: int) -> None:
        """Estimate, evictions, tables, blocks kept for copies, keys: as the engine did them."""
        mark = len(self._recorder.events)
        self.keys.tell_evictions()
        if hit:
            self.tables.adopt(name, self._found[name], hit)
        self.copied.update(self.tables.compare(name, frozenset(self._taken)))
        held = self._hold_for_copies(name)
        estimate = {"request": name, "group": "", "op": "estimate", "count": self._estimate - held}
        step = self._recorder.step
        self._recorder.events.insert(mark, {"kind": "table", "step": step, **estimate})
        self.keys.tell()

    def _hold_for_copies(self, name: str) -> int:
        """Blocks that were taken and are in no table: copies of a state that goes on."""
        if not self._taken:
            return 0
        tables = [self.tables.columns(name, group) for group in range(len(self._groups))]
        here = {block for columns in tables for block in columns}
        held = [block for block in self._taken if block not in here]
        if held:
            group = next(g for g, m in enumerate(self._managers()) if _is_state(m))
            self._held.append((self._groups[group], held))
            self.copied.update(dict.fromkeys(held, (name, group)))
            self._recorder.emit(
                "hold", group=self._groups[group], blocks=held, holder="copy", held=True
            )
        return len(held)

    def _managers(self) -> Any:
        return self._subject.manager.coordinator.single_type_managers

    def _on_estimate(self, inner: Callable[..., int], *more: Any, **named: Any) -> int:
        estimate: int = inner(*more, **named)
        self._estimate = estimate
        return estimate

    def _on_take(self, inner: Callable[..., Any], *more: Any, **named: Any) -> Any:
        before, self.keys.why = self.keys.why, "evicted"
        blocks = inner(*more, **named)
        self.keys.why = before
        self._taken.extend(block.block_id for block in blocks)
        return blocks

    def _on_file(self, inner: Callable[..., Any], *more: Any, **named: Any) -> Any:
        before, self.keys.why = self.keys.why, "promoted"
        request: Any = more[0] if more else named.get("request")
        if hasattr(request, "block_hashes"):
            self.keys.learn(request)
            self.keys.request = request.request_id
        try:
            return inner(*more, **named)
        finally:
            self.keys.why = before

    def _on_preempt(self, inner: Callable[..., Any], request: Any, *more: Any, **named: Any) -> Any:
        self._ending = "preempt"
        done = inner(request, *more, **named)
        self._ending = ""
        return done

    def _on_free(self, inner: Callable[..., Any], request: Any, *more: Any, **named: Any) -> Any:
        name = request.request_id
        done = inner(request, *more, **named)
        aborted = str(request.status).endswith("ABORTED")
        why = self._ending or ("abort" if aborted else "finish")
        self._recorder.emit("end", request=name, why=why)
        self.tables.forget(name)
        return done

    def other_changes(self, requests: list[str]) -> None:
        """What changed outside of the calls that are watched: blocks given back, keys."""
        for name in requests:
            self.tables.compare(name)
        self.keys.tell_evictions()
        self.keys.tell()


def _prefill_end(request: Any) -> int:
    """Up to here tokens are computed that are known; behind, one is sampled a step."""
    end: int = max(request.num_prompt_tokens, request.num_tokens - 1)
    return end


def _is_state(manager: Any) -> bool:
    return "Mamba" in type(manager).__name__


def _around(owner: Any, name: str, watcher: Callable[..., Any]) -> None:
    """Let the watcher stand before a method of one object."""
    inner = getattr(owner, name)

    def watched(*arguments: Any, **named: Any) -> Any:
        return watcher(inner, *arguments, **named)

    setattr(owner, name, watched)
