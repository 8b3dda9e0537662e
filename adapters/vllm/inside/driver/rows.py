"""What a worker knows of its requests: block tables by rows, from the scheduler's output alone.

Never read from the manager: that the two agree is one of the things to find out.
"""

from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Row:
    """One request on the worker. `columns`: per group; 0 is the null block. `state_column`: where
    the current state is (None before its first step); `accepted`: tokens of the last step that
    stayed, which is how far behind that column the state is."""

    columns: list[list[int]]
    computed: int
    state_column: int | None = None
    accepted: int = 1


@dataclass(slots=True)
class Rows:
    """All requests on the worker."""

    of: dict[str, Row] = field(default_factory=dict)

    def follow(self, output: Any) -> None:
        """Take over what a step of the scheduler says."""
        for name in output.finished_req_ids:
            self.of.pop(name, None)
        for new in output.scheduled_new_reqs:
            columns = [list(blocks) for blocks in new.block_ids]
            self.of[new.req_id] = Row(columns, new.num_computed_tokens)
        cached = output.scheduled_cached_reqs
        resumed = _resumed(cached)
        for place, name in enumerate(cached.req_ids):
            blocks = cached.new_block_ids[place]
            computed = cached.num_computed_tokens[place]
            if name in resumed or name not in self.of:
                self.of[name] = Row([list(group) for group in blocks or ()], computed)
                continue
            row = self.of[name]
            row.computed = computed
            if blocks is not None:
                for column, more in zip(row.columns, blocks, strict=True):
                    column.extend(more)


def _resumed(cached: Any) -> frozenset[str]:
    """Requests whose blocks are said anew instead of appended."""
    return frozenset(cached.resumed_req_ids)
