"""The arrays of one engine, and how they are made from a geometry.

Nothing here is an object per block or per request: a request is a row (*slot*), and its tokens,
keys and table columns are ranges of shared arenas."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from truehit.engine import fields as f
from truehit.engine.rules import GRID_STATE, Rules
from truehit.spec.geometry import BlockDrop, DropCap, Geometry, Group, Kind
from truehit.spec.scenario import Policy

Int64 = NDArray[np.int64]
Int32 = NDArray[np.int32]
UInt32 = NDArray[np.uint32]
UInt8 = NDArray[np.uint8]

KINDS = {
    Kind.FULL_ATTENTION: f.FULL,
    Kind.SLIDING_WINDOW: f.WINDOW,
    Kind.CIRCULAR_BUFFER: f.CIRCULAR,
    Kind.RECURRENT_STATE: f.STATE,
}


class Core(NamedTuple):
    """All state of an engine. S slots, G groups, M running requests, D steps in flight, P blocks.

    fixed (F), group (G, G_FIELDS), now (N); block (P, B_FIELDS); record (K), entry (E), bucket
    (2^n): the keys; request (S, R_FIELDS); table (S, G, T_FIELDS); column and exported,
    token, key (units, 8) and extra: arenas; chain (S, 8): the digest of the last whole unit; chunk
    (D, M, C_FIELDS); chunk_block (D, M, G, 2): the tail and the export of a chunk; running (M);
    match (G, W) and seek (G, A_FIELDS), found (M_FIELDS): the last lookup; update, copy, held;
    told (P_FIELDS): what was published, for an audit, empty when there is none;
    preempted and status (M); words (24): room for SHA-256; log: events, empty when nobody looks.

    The rest is the audit's, empty when there is none. shadow (P, S_FIELDS): what blocks hold. place
    (S, G, 3): first column of the states of the latest planned chunk (-1: none), its residency, how
    many columns further the running state is; place_block (S, G, 1 + k): the blocks of those
    columns; place_seen (S, 2): tokens replayed, residency. plan (D, M, G, 2 (1 + k)): blocks of a
    row: its running and scratch columns, then those it may start from; plan_source (D, M, G): the
    first column of the latter (-1: no state); plan_copy (D, G M, Y_FIELDS) and plan_copies (D).
    finding (N, V_FIELDS) and finding_count (1)."""

    fixed: Int64
    group: Int64
    now: Int64
    block: Int32
    record: Int32
    entry: UInt32
    bucket: Int32
    request: Int64
    table: Int64
    column: Int32
    exported: UInt8
    token: Int32
    key: UInt32
    chain: UInt32
    extra: Int64
    chunk: Int64
    chunk_block: Int32
    running: Int32
    match: Int32
    seek: Int64
    found: Int64
    update: Int32
    told: Int64
    copy: Int32
    held: Int64
    preempted: Int32
    status: Int32
    words: UInt32
    log: Int64
    shadow: Int64
    place: Int64
    place_block: Int32
    place_seen: Int64
    plan: Int32
    plan_source: Int64
    plan_copy: Int32
    plan_copies: Int64
    finding: Int64
    finding_count: Int64


CONSTANT_DIMENSIONS = {
    "group": (f.G_FIELDS,),
    "block": (f.B_FIELDS,),
    "record": (f.K_FIELDS,),
    "entry": (f.E_FIELDS,),
    "request": (f.R_FIELDS,),
    "table": (f.T_FIELDS,),
    "key": (8,),
    "chain": (8,),
    "chunk": (f.C_FIELDS,),
    "chunk_block": (2,),
    "seek": (f.A_FIELDS,),
    "update": (f.U_FIELDS,),
    "told": (f.P_FIELDS,),
    "copy": (f.Y_FIELDS,),
    "held": (f.H_FIELDS,),
    "shadow": (f.S_FIELDS,),
    "place": (3,),
    "place_seen": (2,),
    "plan_copy": (f.Y_FIELDS,),
    "finding": (f.V_FIELDS,),
}
"""The last dimension of an array, where it never changes."""


def _fixed(geometry: Geometry, rules: Rules, policy: Policy, encoder_budget: int | None) -> Int64:
    grid = geometry.grid_tokens or geometry.alignment_tokens
    drops = [geometry.drop_tokens(group) for group in geometry.attention_groups]
    values = {
        f.F_ALIGNMENT: geometry.alignment_tokens,
        f.F_HASH_UNIT: geometry.hash_unit_tokens,
        f.F_LOOKAHEAD: geometry.lookahead_tokens,
        f.F_FINE: geometry.fine_hits,
        f.F_DRAFTS: geometry.drafts,
        f.F_MARGIN: isinstance(geometry.drop, BlockDrop) and geometry.drop.cap is DropCap.MARGIN,
        f.F_LARGEST_DROP: max(drops, default=0),
        f.F_ANY_DROP: geometry.any_drop,
        f.F_PERIOD: geometry.retention_period_tokens or 0,
        f.F_THRESHOLD: geometry.long_prefill_threshold_tokens or 0,
        f.F_LARGEST_CHUNK: geometry.largest_chunk_tokens,
        f.F_MAX_MODEL: geometry.max_model_tokens,
        f.F_CHECKPOINT_ALIGNMENT: geometry.checkpoint_alignment_tokens or 0,
        f.F_IN_FLIGHT: geometry.steps_in_flight,
        f.F_RESERVE: geometry.reserve_full_sequence,
        f.F_MAX_RUNNING: geometry.max_running,
        f.F_BLOCKS: geometry.pool_blocks,
        f.F_STATE_GRID: grid,
        f.F_STATES: len(geometry.state_groups),
        f.F_ATTENTIONS: len(geometry.attention_groups),
        f.F_OWN_BIT: any(group.drafted for group in geometry.state_groups),
        f.F_ENCODER_BUDGET: -1 if encoder_budget is None else encoder_budget,
        f.F_BY_PRIORITY: policy is Policy.PRIORITY,
        f.F_SPLIT: rules.split,
        f.F_SPLIT_GRID: grid if rules.split_grid == GRID_STATE else geometry.minimum_block_tokens,
        f.F_BACK_OFF: rules.backs_off and geometry.any_drop,
        f.F_SCRATCH: rules.scratch,
        f.F_ESTIMATE: rules.estimate,
        f.F_KEEP: rules.keep,
        f.F_SEED_BLOCK: grid if rules.seed_grid == GRID_STATE else geometry.minimum_block_tokens,
        f.F_CANDIDATE: rules.candidate,
        f.F_DROP_RULE: rules.drop,
        f.F_VISIBILITY: rules.visible,
    }
    fixed = np.zeros(f.F_FIELDS, np.int64)
    for field, value in values.items():
        fixed[field] = value
    return fixed


def _groups(geometry: Geometry) -> Int64:
    table = np.zeros((len(geometry.groups), f.G_FIELDS), np.int64)
    for row, group in zip(table, geometry.groups, strict=True):
        row[f.G_KIND] = KINDS[group.kind]
        row[f.G_BLOCK] = group.block_tokens
        row[f.G_WINDOW] = group.window_tokens or 1
        row[f.G_DROP] = geometry.drop_tokens(group)
    return table


def _blocks(count: int) -> Int32:
    """All blocks free, in a ring through the null block: it is before the first and after the
    last."""
    block = np.zeros((count, f.B_FIELDS), np.int32)
    block[:, f.B_PREVIOUS] = np.arange(-1, count - 1)
    block[:, f.B_NEXT] = np.arange(1, count + 1)
    block[0, f.B_PREVIOUS] = count - 1
    block[-1, f.B_NEXT] = 0
    block[1:, f.B_IS_FREE] = 1
    return block


def new_core(geometry: Geometry, rules: Rules, policy: Policy, encoder_budget: int | None) -> Core:
    """An empty engine. Arenas and key tables start small; `growth` makes them larger in time."""
    groups, running = len(geometry.groups), geometry.max_running
    depth = geometry.steps_in_flight + 1
    now = np.zeros(f.N_FIELDS, np.int64)
    now[f.N_FREE] = geometry.pool_blocks - 1
    now[f.N_RECORDS] = now[f.N_ENTRIES] = 1
    now[f.N_STEP] = -1
    slots = 16
    return Core(
        fixed=_fixed(geometry, rules, policy, encoder_budget),
        group=_groups(geometry),
        now=now,
        block=_blocks(geometry.pool_blocks),
        record=np.zeros((64, f.K_FIELDS), np.int32),
        entry=np.zeros((64, f.E_FIELDS), np.uint32),
        bucket=np.zeros(128, np.int32),
        request=np.zeros((slots, f.R_FIELDS), np.int64),
        table=np.zeros((slots, groups, f.T_FIELDS), np.int64),
        column=np.zeros(1024, np.int32),
        exported=np.zeros(1024, np.uint8),
        token=np.zeros(1024, np.int32),
        key=np.zeros((64, 8), np.uint32),
        chain=np.zeros((slots, 8), np.uint32),
        extra=np.zeros(64, np.int64),
        chunk=np.zeros((depth, running, f.C_FIELDS), np.int64),
        chunk_block=np.zeros((depth, running, groups, 2), np.int32),
        running=np.zeros(running, np.int32),
        match=np.zeros((groups, 16), np.int32),
        seek=np.zeros((groups, f.A_FIELDS), np.int64),
        found=np.zeros(f.M_FIELDS, np.int64),
        update=np.zeros((8 * groups * running, f.U_FIELDS), np.int32),
        told=np.zeros((0, f.P_FIELDS), np.int64),
        copy=np.zeros((groups * running, f.Y_FIELDS), np.int32),
        held=np.zeros((groups * running * depth, f.H_FIELDS), np.int64),
        preempted=np.zeros(running, np.int32),
        status=np.zeros(running, np.int32),
        words=np.zeros(24, np.uint32),
        log=np.zeros(0, np.int64),
        shadow=np.zeros((0, f.S_FIELDS), np.int64),
        place=np.zeros((0, groups, 3), np.int64),
        place_block=np.zeros((0, groups, 1), np.int32),
        place_seen=np.zeros((0, 2), np.int64),
        plan=np.zeros((0, 0, 0, 0), np.int32),
        plan_source=np.zeros((0, 0, 0), np.int64),
        plan_copy=np.zeros((0, 0, f.Y_FIELDS), np.int32),
        plan_copies=np.zeros(0, np.int64),
        finding=np.zeros((0, f.V_FIELDS), np.int64),
        finding_count=np.zeros(1, np.int64),
    )


def empty_core() -> Core:
    """The smallest core there is: what its arrays look like."""
    group = Group("attention", Kind.FULL_ATTENTION, 1)
    geometry = Geometry((group,), 1, pool_blocks=2, max_running=1)
    return new_core(geometry, Rules(), Policy.FCFS, None)
