"""Block tables grow and shrink: estimate first, then take exactly that many blocks.

`need` counts what a step takes from the free pool, adopted blocks that nobody reads included;
`allocate` takes it. Both walk the same plans, so that the estimate equals the allocation in every
step."""

from dataclasses import dataclass

from truehit.reference import decide
from truehit.reference.asserted import asserted_pages
from truehit.reference.find import Found
from truehit.reference.live import Live, PageTable, StateTable
from truehit.reference.pool import NULL_BLOCK, Pool
from truehit.reference.record import Recorder
from truehit.reference.rules.plan import NULL, PlanQuery, first_scratch, new_length
from truehit.reference.rules.retain import is_published
from truehit.reference.ruleset import RuleSet
from truehit.spec.geometry import Geometry, Group, Kind
from truehit.spec.trace import Hold, Table, TableOp, Unpublish, UnpublishWhy
from truehit.spec.units import ceil_div, running_column


def first_in_window(position: int, group: Group) -> int:
    """The first page of a sliding window that the token at `position` still reads."""
    return max(0, position - (group.window_tokens or 1) + 1) // group.block_tokens


@dataclass(frozen=True, slots=True)
class Work:
    """One chunk to make room for. `start` and `end` are the scheduler's (drafts in `end`); `found`:
    the hit to adopt, on admission; `loaded`: position up to which content comes from outside (0:
    none)."""

    live: Live
    start: int
    end: int
    checkpoint: int
    found: Found | None
    loaded: int


@dataclass(frozen=True, slots=True)
class PendingCopy:
    """A copy the device runs before anything else of the step."""

    live: Live
    group: str
    source: int
    target: int


@dataclass(frozen=True, slots=True)
class HeldSource:
    """The source of a copy, kept from reuse until the end of `until_step`."""

    group: str
    block: int
    until_step: int


class Allocator:
    """The tables of all live requests over one pool."""

    __slots__ = ("_geometry", "_pool", "_recorder", "_rules", "copies", "held")

    def __init__(self, geometry: Geometry, rules: RuleSet, pool: Pool, recorder: Recorder) -> None:
        self._geometry = geometry
        self._rules = rules
        self._pool = pool
        self._recorder = recorder
        self.copies: list[PendingCopy] = []
        self.held: list[HeldSource] = []

    def need(self, work: Work) -> int:
        """Blocks the step takes from the free pool, by the rule set's estimate."""
        total = 0
        for group in self._geometry.groups:
            match group.kind:
                case Kind.RECURRENT_STATE:
                    total += self._need_state(work, group)
                case Kind.CIRCULAR_BUFFER:
                    total += 0 if group.name in work.live.pages else 1
                case Kind.FULL_ATTENTION | Kind.SLIDING_WINDOW:
                    total += self._need_pages(work, group)
        return total

    def kept_alone(self, live: Live) -> int:
        """Blocks that count towards the request's own reservation: pages of full attention, which
        it keeps to its end, and what nobody shares. When one reader gives a shared state or window
        page back nothing becomes free, and that reader may take another block."""
        total = 0
        for group in self._geometry.groups:
            table = live.states.get(group.name) or live.pages.get(group.name)
            columns = [block for block in table.columns if block] if table else []
            if group.kind in (Kind.RECURRENT_STATE, Kind.SLIDING_WINDOW):
                columns = [block for block in columns if self._pool.references(block) == 1]
            total += len(columns)
        return total

    def _hit(self, work: Work) -> int:
        return work.found.hit if work.found else 0

    def _state_block(self, work: Work, group: Group) -> int | None:
        """The adopted state block: none when a state is loaded from outside beyond it."""
        if work.found is None or work.loaded:
            return None
        return dict(work.found.states).get(group.name)

    def _plans(self, work: Work, group: Group) -> list[PlanQuery]:
        """One plan, or two when a loaded state gets its own column first."""
        table = work.live.states.get(group.name, StateTable())
        length, scratch = len(table.columns), table.scratch
        plans: list[PlanQuery] = []
        grid = group.block_tokens
        if self._state_block(work, group) is not None:
            length = running_column(self._hit(work), grid) + 1
        if work.loaded:
            plans.append(PlanQuery(length, 0, 0, running_column(work.loaded, grid), 0))
            length = new_length(plans[0])
        running = running_column(work.end, grid)
        exporting = 1 if work.checkpoint else 0
        plans.append(PlanQuery(length, scratch, self._geometry.drafts, running, exporting))
        return plans

    def _copies_state(self, work: Work, group: Group) -> bool:
        """The chunk (or the boundary copy of its decode) would overwrite a state that has a key,
        will get one, or has another reader."""
        if work.start % group.block_tokens == 0:
            return False
        column = running_column(work.start, group.block_tokens)
        crosses = running_column(work.end, group.block_tokens) != column
        if crosses and work.start < work.live.prefill_end:
            return False
        if self._state_block(work, group) is not None:
            return True
        table = work.live.states.get(group.name)
        if table is None or work.loaded:
            return False
        block = table.columns[column]
        kept = work.live.kept
        pending = is_published(work.start, kept.replay, kept.extend, kept.junction, kept.period)
        shared = self._pool.references(block) > 1 or self._pool.has_keys(block)
        return block != NULL_BLOCK and (pending or shared)

    def _need_state(self, work: Work, group: Group) -> int:
        fresh = sum(decide.estimated_blocks(self._rules, plan) for plan in self._plans(work, group))
        adopted = self._state_block(work, group)
        if adopted is not None and self._pool.is_free(adopted):
            fresh += 1
        return fresh + (1 if self._copies_state(work, group) else 0)

    def _adopted_pages(self, work: Work, group: Group) -> list[tuple[int, int]]:
        """Columns and blocks of the hit that the group keeps."""
        if work.found is None:
            return []
        blocks = next(m.blocks for m in work.found.matches if m.group.name == group.name)
        hit = work.found.hit
        first = 0
        if group.kind is Kind.SLIDING_WINDOW:
            first = first_in_window(max(hit, work.loaded), group)
        last = min(ceil_div(hit, group.block_tokens), len(blocks))
        return [(column, blocks[column]) for column in range(first, last)]

    def _copies_page(self, work: Work, group: Group) -> bool:
        """The hit ends inside a page that was found. A hit that a defect raised above what
        attention has ends in a hole, and there is nothing to copy."""
        column, inside = divmod(self._hit(work), group.block_tokens)
        return inside > 0 and any(at == column for at, _ in self._adopted_pages(work, group))

    def _page_columns(self, work: Work, group: Group) -> int:
        """Columns the table has before pages are taken."""
        if work.found is None:
            table = work.live.pages.get(group.name)
            return len(table.columns) if table else 0
        held = ceil_div(work.found.hit, group.block_tokens)
        if group.kind is Kind.SLIDING_WINDOW and work.loaded:
            return max(held, first_in_window(work.loaded, group))
        return held

    def _need_pages(self, work: Work, group: Group) -> int:
        held = self._page_columns(work, group)
        total = asserted_pages(work.end, held, group.block_tokens)
        total += sum(
            1 for _, block in self._adopted_pages(work, group) if self._pool.is_free(block)
        )
        return total + (1 if self._copies_page(work, group) else 0)

    def allocate(self, work: Work) -> dict[str, int]:
        """Adopt, then take blocks in every group; returns the checkpoint's block per state
        group."""
        exports: dict[str, int] = {}
        live = work.live
        for group in self._geometry.groups:
            match group.kind:
                case Kind.RECURRENT_STATE:
                    self._adopt_state(work, group)
                case Kind.CIRCULAR_BUFFER:
                    pass
                case Kind.FULL_ATTENTION | Kind.SLIDING_WINDOW:
                    self._adopt_pages(work, group)
        for group in self._geometry.groups:
            match group.kind:
                case Kind.RECURRENT_STATE:
                    self._grow_state(work, group)
                    if work.checkpoint:
                        column = running_column(work.end, group.block_tokens) - 1
                        live.states[group.name].exports.add(column)
                        exports[group.name] = live.states[group.name].columns[column]
                case Kind.CIRCULAR_BUFFER:
                    if group.name not in live.pages:
                        live.pages[group.name] = PageTable()
                        self._append_pages(live, group, live.pages[group.name], 1)
                case Kind.FULL_ATTENTION | Kind.SLIDING_WINDOW:
                    self._grow_pages(work, group)
        return exports

    def tails(self, work: Work) -> dict[str, int]:
        """The running block of every state group after the work."""
        return {
            group.name: work.live.states[group.name].columns[
                running_column(work.end, group.block_tokens)
            ]
            for group in self._geometry.state_groups
        }

    def _take(self, group: str, count: int) -> list[int]:
        taken, evicted = self._pool.take(count)
        if evicted:
            step = self._recorder.step
            self._recorder.emit(Unpublish(step, group, tuple(evicted), UnpublishWhy.EVICTED))
        return taken

    def _adopt_state(self, work: Work, group: Group) -> None:
        block = self._state_block(work, group)
        if block is None:
            return
        hit = self._hit(work)
        column = running_column(hit, group.block_tokens)
        table = work.live.states.setdefault(group.name, StateTable())
        table.columns = [NULL_BLOCK] * column + [block]
        table.current = decide.seed_column(self._rules, self._geometry, hit)
        table.filed = hit // group.block_tokens
        table.retired = column
        self._pool.touch(block)
        self._emit(work.live, group, TableOp.ADOPT, column, (block,), tokens=hit)

    def _adopt_pages(self, work: Work, group: Group) -> None:
        if work.found is None or work.live.pages.get(group.name):
            return
        table = work.live.pages[group.name] = PageTable()
        adopted = self._adopted_pages(work, group)
        hit = self._hit(work)
        table.columns = [NULL_BLOCK] * ceil_div(hit, group.block_tokens)
        table.filed = table.partial_filed = hit
        for column, block in adopted:
            table.columns[column] = block
            self._pool.touch(block)
        if adopted:
            first = adopted[0][0]
            table.retired = first
            blocks = tuple(block for _, block in adopted)
            self._emit(work.live, group, TableOp.ADOPT, first, blocks, tokens=hit)

    def _emit(
        self,
        live: Live,
        group: Group,
        op: TableOp,
        column: int,
        blocks: tuple[int, ...],
        sources: tuple[int, ...] = (),
        count: int = 0,
        tokens: int = 0,
    ) -> None:
        step = self._recorder.step
        self._recorder.emit(
            Table(step, live.name, group.name, op, column, blocks, sources, count, tokens)
        )

    def _copy_on_write(self, live: Live, group: Group, columns: list[int], column: int) -> None:
        old = columns[column]
        (fresh,) = self._take(group.name, 1)
        columns[column] = fresh
        until = self._recorder.step + max(self._geometry.steps_in_flight - 2, 0)
        self.held.append(HeldSource(group.name, old, until))
        self._emit(live, group, TableOp.COPY_ON_WRITE, column, (fresh,))
        hold = Hold(self._recorder.step, group.name, (old,), "copy", True)
        self._recorder.emit(hold)
        self.copies.append(PendingCopy(live, group.name, old, fresh))

    def _grow_state(self, work: Work, group: Group) -> None:
        live = work.live
        copying = self._copies_state(work, group)
        plans = self._plans(work, group)
        table = live.states.setdefault(group.name, StateTable())
        for plan in plans:
            self._apply(live, group, table, plan)
        if work.loaded:
            table.current = running_column(work.loaded, group.block_tokens)
        if copying:
            column = running_column(work.start, group.block_tokens)
            self._copy_on_write(live, group, table.columns, column)
        table.scratch = len(table.columns) - 1 - running_column(work.end, group.block_tokens)

    def _apply(self, live: Live, group: Group, table: StateTable, plan: PlanQuery) -> None:
        """Carry a plan out, column by column."""
        fresh = self._take(group.name, decide.fresh_blocks(self._rules, plan))
        old = list(table.columns)
        length = new_length(plan)
        table.columns = old[: first_scratch(plan)]
        moves: list[tuple[int, int]] = []
        placed: list[tuple[int, int]] = []
        for column in range(first_scratch(plan), length):
            source = decide.column_source(self._rules, plan, column)
            if source == NULL:
                table.columns.append(NULL_BLOCK)
            elif source < plan.length:
                table.columns.append(old[source])
                if source != column:
                    moves.append((source, column))
            else:
                table.columns.append(fresh[source - plan.length])
                placed.append((column, fresh[source - plan.length]))
        if moves:
            sources = tuple(source for source, _ in moves)
            blocks = tuple(old[source] for source in sources)
            self._emit(live, group, TableOp.MOVE, moves[0][1], blocks, sources)
        if placed:
            blocks = tuple(block for _, block in placed)
            self._emit(live, group, TableOp.PLACE, placed[0][0], blocks)

    def _append_pages(self, live: Live, group: Group, table: PageTable, count: int) -> None:
        if count == 0:
            return
        fresh = self._take(group.name, count)
        column = len(table.columns)
        table.columns.extend(fresh)
        self._emit(live, group, TableOp.PLACE, column, tuple(fresh))

    def _grow_pages(self, work: Work, group: Group) -> None:
        table = work.live.pages.setdefault(group.name, PageTable())
        if self._copies_page(work, group):
            self._copy_on_write(
                work.live, group, table.columns, self._hit(work) // group.block_tokens
            )
        # Loaded pages that lie before the window of the first chunk are never read.
        table.columns += [NULL_BLOCK] * (self._page_columns(work, group) - len(table.columns))
        count = asserted_pages(work.end, len(table.columns), group.block_tokens)
        self._append_pages(work.live, group, table, count)
