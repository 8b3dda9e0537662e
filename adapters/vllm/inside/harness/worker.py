"""The worker without tensors: what blocks hold after the copies, reads and writes of a step."""

# vLLM is there only in the environments that this text is run in.
# mypy: disable-error-code="import-not-found, import-untyped, no-any-unimported, attr-defined"
from dataclasses import dataclass
from typing import Any

from .releases import checkpoint, seed_block
from .seen import NOTHING, UNKNOWN, Seen, State, after


@dataclass
class Row:
    """A request as the worker knows it. `columns`: block ids by group, 0 is none; `accepted`: how
    many tokens of its last step stayed, so how far behind `state_column` its state lies."""

    columns: list[list[int]]
    computed: int
    state_column: int | None = None
    accepted: int = 1

    def at(self, group: int, column: int) -> int:
        blocks = self.columns[group]
        return blocks[column] if 0 <= column < len(blocks) else 0


class Worker:
    """Copies, reads and writes of each step, from the scheduler's output alone."""

    def __init__(self, scenario: dict[str, Any], seen: Seen, scheduler: Any, unit: int) -> None:
        self.scenario, self.seen, self.scheduler, self.unit = scenario, seen, scheduler, unit
        self.pool = scheduler.kv_cache_manager.block_pool
        self.groups = scenario["groups"]
        self.states = [i for i, g in enumerate(self.groups) if g["kind"] == "recurrent_state"]
        paged = ("full_attention", "sliding_window")
        self.pages = [i for i, g in enumerate(self.groups) if g["kind"] in paged]
        self.size = self.groups[self.states[0]]["block_tokens"] if self.states else 1
        self.seed = seed_block(scheduler.vllm_config, self.size)
        self.rows: dict[str, Row] = {}
        self.held: dict[int, State] = {}
        self.entries: dict[int, dict[int, State]] = {}

    def work(self, output: Any, kept: dict[str, int], sampled: dict[str, int]) -> None:
        self.follow(output)
        for copy in getattr(output, "kv_cache_block_copies", None) or ():
            self.copy(copy.src_block_id, copy.dst_block_id)
        counts = output.num_scheduled_tokens
        read = {name: self.carry(name, self.rows[name], counts[name]) for name in counts}
        for name, tokens in counts.items():
            self.write_pages(name, self.rows[name], tokens, kept[name])
            if not self.states:
                continue
            if output.scheduled_spec_decode_tokens.get(name):
                self.decode(name, self.rows[name], tokens, kept[name], read[name])
            else:
                self.prefill(name, self.rows[name], tokens, read[name])
        for name in counts:
            self.accept(self.rows[name], kept[name], sampled[name])

    def follow(self, output: Any) -> None:
        for name in output.finished_req_ids:
            self.rows.pop(name, None)
        for new in output.scheduled_new_reqs:
            self.admit(new.req_id, new.block_ids, new.num_computed_tokens)
        cached = output.scheduled_cached_reqs
        for place, name in enumerate(cached.req_ids):
            blocks, computed = cached.new_block_ids[place], cached.num_computed_tokens[place]
            if name in cached.resumed_req_ids or name not in self.rows:
                self.admit(name, blocks, computed)
                continue
            self.rows[name].computed = computed
            for column, added in zip(self.rows[name].columns, blocks or (), strict=False):
                column.extend(added)

    def admit(self, name: str, blocks: Any, computed: int) -> None:
        self.rows[name] = Row([list(group) for group in blocks], computed)
        self.seen.hits.setdefault(name, []).append(computed)

    def copy(self, source: int, target: int) -> None:
        if source in self.held:
            self.held[target] = self.held[source]
        if source in self.entries:
            self.entries[target] = dict(self.entries[source])

    def carry(self, name: str, row: Row, tokens: int) -> dict[int, State]:
        """The state goes to the column where the step needs it; group -> the state it reads."""
        column, read = row.state_column, {}
        if column is None:
            column, row.accepted = (row.computed - 1) // self.seed if row.computed else -1, 1
        target, ahead = -(-(row.computed + tokens) // self.size) - 1, row.accepted - 1
        row.state_column = target
        for group in self.states:
            block, where = row.at(group, column + ahead), self.groups[group]["name"]
            read[group] = self.held.get(block, UNKNOWN) if column >= 0 else NOTHING
            words = f"resumes at {row.computed} from block {block}, which"
            if read[group] != self.prefix(name, row.computed):
                truth = self.seen.word(name, read[group])
                self.seen.say("read", name, where, f"{words} holds {truth}")
            elif column >= 0 and not self.pool.blocks[block].ref_cnt:
                self.seen.say("read", name, where, f"{words} is free")
            if column not in (-1, target):
                self.write(name, row, group, target, read[group])
        if column not in (-1, target):
            row.accepted = 1
        return read

    def prefix(self, name: str, tokens: int) -> State:
        prefixes = self.seen.prefixes[name]
        return prefixes[min(tokens, len(prefixes) - 1)]

    def prefill(self, name: str, row: Row, tokens: int, read: dict[int, State]) -> None:
        start, end, path = row.computed, row.computed + tokens, self.seen.paths[name]
        sent, boundary = self.scheduler.requests[name], (start // self.size + 1) * self.size
        if start % self.size and end > boundary and start < sent.num_prompt_tokens:
            words = f"chunk [{start}, {end}) starts inside a block and passes its end {boundary}"
            self.seen.say("chunk", name, "", words)
        saved = checkpoint(self.scenario, self.scheduler, self.unit, (start, end))
        column = row.state_column or 0
        for group in self.states:
            if saved is not None and row.at(group, saved[1]):
                state = after(read[group], path[start : saved[0]])
                self.write(name, row, group, saved[1], state)
            state = after(read[group], path[start:end])
            self.write(name, row, group, column, state)
            if state != self.prefix(name, end):
                words = f"leaves {self.seen.word(name, state)} after tokens [{start}, {end})"
                self.seen.say("left", name, self.groups[group]["name"], words)

    def decode(self, name: str, row: Row, tokens: int, kept: int, read: dict[int, State]) -> None:
        """One state per draft, each in a column of its own; rejected tokens are consumed too."""
        path = self.seen.paths[name][row.computed : row.computed + kept]
        path = path + [-1] * (tokens - len(path))
        for group in self.states:
            for ahead in range(tokens):
                column = (row.state_column or 0) + ahead
                self.write(name, row, group, column, after(read[group], path[: 1 + ahead]))

    def write(self, name: str, row: Row, group: int, column: int, state: State) -> None:
        managers = self.scheduler.kv_cache_manager.coordinator.single_type_managers
        table = managers[group].req_to_blocks.get(name, ())
        at, block = (name, self.groups[group]["name"]), row.at(group, column)
        count = sum(1 for one in table if not one.is_null)
        self.seen.columns[at] = max(self.seen.columns.get(at, 0), count)
        if block and [one.block_id for one in table[column : column + 1]] != [block]:
            words = f"block {block} is written, which its table does not have in column {column}"
            self.seen.say("written", *at, words)
        self.owns(name, group, block, self.held.get(block, state) != state)
        self.held[block] = state

    def write_pages(self, name: str, row: Row, tokens: int, kept: int) -> None:
        """Attention reads what lies before the chunk, and writes the chunk's entries."""
        start, prefixes = row.computed, self.seen.prefixes[name]
        for group in self.pages:
            size, where = self.groups[group]["block_tokens"], self.groups[group]["name"]
            first = max(0, start + 1 - (self.groups[group].get("window_tokens") or start + 1))
            for position in range(first, min(start, len(prefixes) - 1)):
                block = row.at(group, position // size)
                if self.entries.get(block, {}).get(position % size) != prefixes[position + 1]:
                    words = f"column {position // size} lacks the entry of token {position}"
                    self.seen.say("read", name, where, words)
                    break
            for position in range(start, start + tokens):
                block = row.at(group, position // size)
                entry = prefixes[position + 1] if position < start + kept else UNKNOWN
                entries = self.entries.setdefault(block, {})
                self.owns(name, group, block, entries.get(position % size, entry) != entry)
                entries[position % size] = entry

    def owns(self, name: str, group: int, block: int, changes: bool) -> None:
        where = self.groups[group]["name"]
        if not block:
            self.seen.say("written", name, where, "the null block is written")
        elif changes and self.pool.blocks[block].ref_cnt > 1:
            self.seen.say("written", name, where, f"block {block} is written and has other readers")

    def accept(self, row: Row, kept: int, sampled: int) -> None:
        """The state of a boundary that accepted drafts crossed goes to the boundary's column."""
        row.accepted = max(sampled, 1)
        row.computed += kept
        column, boundary = row.state_column or 0, row.computed // self.size * self.size
        ahead = boundary - (row.computed - row.accepted + 1)
        if ahead < 0 or not self.states:
            return
        source, own = column + ahead, boundary // self.size - 1
        for group in self.states if source != own else ():
            self.copy(row.at(group, source), row.at(group, own))
        if own == column:
            row.accepted = 1
