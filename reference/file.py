"""Filing: which blocks get which keys, and which columns are given back.

State groups are filed by position: column p, if it is not a hole and not a checkpoint's, is the
state after (p+1) blocks. Nothing here looks at what the block holds; the splitter and the plan
guarantee it, and the proofs and the laws say so. A checkpoint and a partial tail are filed under
the position they were made for. Attention groups file every full page, and a partial key where a
kept position plus the drop ends in a page."""

from truehit.reference.find import Finder
from truehit.reference.live import Chunk, Live
from truehit.reference.pool import NULL_BLOCK, Key, Pool
from truehit.reference.record import Recorder
from truehit.reference.rules.plan import is_retired
from truehit.reference.rules.retain import is_published
from truehit.spec.geometry import Geometry, Group, Kind
from truehit.spec.trace import Publish, Table, TableOp
from truehit.spec.units import floor_to


class Filer:
    """Publishes and retires for one engine. `fresh`: blocks that got a key in this step.
    `masked`: keys of states that existed and were not kept, for the reason of a miss."""

    __slots__ = ("_finder", "_geometry", "_pool", "_recorder", "fresh", "masked")

    def __init__(self, geometry: Geometry, pool: Pool, finder: Finder, recorder: Recorder) -> None:
        self._geometry = geometry
        self._pool = pool
        self._finder = finder
        self._recorder = recorder
        self.fresh: set[int] = set()
        self.masked: set[Key] = set()

    def file(self, chunk: Chunk, upto: int) -> None:
        """Publish what is due once `upto` tokens of the chunk's request count as computed."""
        for group in self._geometry.state_groups:
            self._file_states(chunk, group, upto)
        for group in self._geometry.attention_groups:
            self._file_pages(chunk.live, group, upto)

    def _kept(self, live: Live, position: int) -> bool:
        kept = live.kept
        return is_published(position, kept.replay, kept.extend, kept.junction, kept.period)

    def _publish(self, live: Live, group: Group, keys: list[tuple[int, int]]) -> None:
        published = []
        for tokens, block in keys:
            key = self._finder.key(live, group.name, tokens)
            if key is not None and self._pool.publish(key, block):
                published.append((tokens, block))
                self.fresh.add(block)
        if not published:
            return
        if group in self._geometry.state_groups[:1]:
            live.stored.extend(tokens for tokens, _ in published)
        event = Publish(self._recorder.step, live.name, group.name, tuple(published))
        self._recorder.emit(event)

    def _file_states(self, chunk: Chunk, group: Group, upto: int) -> None:
        live = chunk.live
        table = live.states[group.name]
        block_tokens = group.block_tokens
        hashed = min(upto, live.known - self._geometry.lookahead_tokens)
        last = max(table.filed, hashed // block_tokens)
        keys: list[tuple[int, int]] = []
        for column in range(table.filed, last):
            block, position = table.columns[column], (column + 1) * block_tokens
            if block == NULL_BLOCK or column in table.exports:
                continue
            if self._kept(live, position):
                keys.append((position, block))
            elif (key := self._finder.key(live, group.name, position)) is not None:
                self.masked.add(key)
        table.filed = last
        tail = upto == chunk.end and upto == hashed and upto % block_tokens != 0
        if tail and group.name in chunk.tails and self._kept(live, upto):
            keys.append((upto, chunk.tails[group.name]))
        if chunk.checkpoint:
            keys.append((chunk.checkpoint, chunk.exports[group.name]))
        self._publish(live, group, [(tokens, block) for tokens, block in keys if block])

    def _partial_ends(self, live: Live, group: Group, low: int, high: int) -> list[int]:
        """Kept positions plus the drop, in (low, high], that end inside a page."""
        drop = self._geometry.drop_tokens(group)
        kept = live.kept
        named = (kept.replay, kept.extend, kept.junction)
        ends = {position + drop for position in named if position}
        if kept.period:
            position = max(floor_to(low - drop, kept.period), kept.period)
            while position + drop <= high:
                ends.add(position + drop)
                position += kept.period
        return sorted(e for e in ends if low < e <= high and e % group.block_tokens)

    def _file_pages(self, live: Live, group: Group, upto: int) -> None:
        table = live.pages[group.name]
        block_tokens = group.block_tokens
        hashed = max(min(upto, live.known - self._geometry.lookahead_tokens), 0)
        keys: list[tuple[int, int]] = []
        for column in range(table.filed // block_tokens, hashed // block_tokens):
            keys.append(((column + 1) * block_tokens, table.columns[column]))
        if self._geometry.fine_hits and group.kind is Kind.FULL_ATTENTION:
            for end in self._partial_ends(live, group, table.partial_filed, hashed):
                keys.append((end, table.columns[end // block_tokens]))
        table.filed = max(table.filed, hashed)
        table.partial_filed = max(table.partial_filed, hashed)
        self._publish(live, group, [(tokens, block) for tokens, block in keys if block])

    def retire(self, live: Live) -> None:
        """Give back what `processed` tokens no longer need."""
        for group in self._geometry.groups:
            match group.kind:
                case Kind.RECURRENT_STATE:
                    table = live.states[group.name]
                    last = table.retired
                    while last < len(table.columns) and is_retired(
                        last, live.processed, group.block_tokens
                    ):
                        last += 1
                    self._null(live, group.name, table.columns, table.retired, last)
                    table.retired = last
                case Kind.SLIDING_WINDOW:
                    pages = live.pages[group.name]
                    window = group.window_tokens or 1
                    last = max(pages.retired, (live.processed - window + 1) // group.block_tokens)
                    self._null(live, group.name, pages.columns, pages.retired, last)
                    pages.retired = last
                case Kind.FULL_ATTENTION | Kind.CIRCULAR_BUFFER:
                    pass

    def _null(self, live: Live, group: str, columns: list[int], first: int, last: int) -> None:
        blocks = [columns[column] for column in range(first, last) if columns[column]]
        if not blocks:
            return
        for column in range(first, last):
            columns[column] = NULL_BLOCK
        event = Table(
            self._recorder.step, live.name, group, TableOp.NULL, first, count=last - first
        )
        self._recorder.emit(event)
        self._pool.release(blocks)
