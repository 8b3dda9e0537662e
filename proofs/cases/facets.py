"""What can be asked of a trace, by name. Everything is worked out from its events alone, so that
every engine is asked the same."""

from collections.abc import Callable, Sequence
from typing import Any

from truehit.proofs.cases import seen_device, seen_keys, seen_requests, seen_tables
from truehit.spec.trace import Event

Facet = Callable[[Sequence[Event]], Any]

FACETS: dict[str, Facet] = {
    "hits": seen_requests.hits,
    "later_hits": seen_requests.later_hits,
    "reasons": seen_requests.reasons,
    "junctions": seen_requests.junctions,
    "reaches": seen_requests.reaches,
    "carve": seen_requests.carve,
    "waited": seen_requests.waited,
    "finished": seen_requests.finished,
    "preempted": seen_requests.preempted,
    "refused": seen_requests.refused,
    "stored": seen_keys.stored,
    "pages": seen_keys.pages,
    "keys_of_blocks": seen_keys.keys_of_blocks,
    "unpublished": seen_keys.unpublished,
    "estimate": seen_tables.estimate,
    "taken": seen_tables.taken,
    "adopted": seen_tables.adopted,
    "copied": seen_tables.copied,
    "moved": seen_tables.moved,
    "columns": seen_tables.columns,
    "peak": seen_tables.peak,
    "reads": seen_device.reads,
    "from_zero": seen_device.from_zero,
    "saved": seen_device.saved,
    "loaded": seen_device.loaded,
    "device": seen_device.device,
    "pool": seen_requests.pool,
    "run": seen_requests.run,
}
