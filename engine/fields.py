"""The engine's memory is a few flat arrays; these are the names of their columns.

The prefix says which array: F fixed, G group, N now, B block, K record (a key of a block), E entry
(a key), R request, T table, C chunk, M match result, L log. Positions are tokens from the start of
a request; columns, blocks and slots are indices; 0 is *none* where a block or position can be
missing, because block 0 is the null block and position 0 needs no state."""

# What never changes: the geometry and the rule set.
(
    F_ALIGNMENT,
    F_HASH_UNIT,
    F_LOOKAHEAD,
    F_FINE,
    F_DRAFTS,
    F_MARGIN,
    F_LARGEST_DROP,
    F_ANY_DROP,
    F_PERIOD,
    F_THRESHOLD,
    F_LARGEST_CHUNK,
    F_MAX_MODEL,
    F_CHECKPOINT_ALIGNMENT,
    F_IN_FLIGHT,
    F_RESERVE,
    F_MAX_RUNNING,
    F_BLOCKS,
    F_STATE_GRID,
    F_STATES,
    F_ATTENTIONS,
    F_OWN_BIT,
    F_ENCODER_BUDGET,
    F_BY_PRIORITY,
    F_SPLIT,
    F_SPLIT_GRID,
    F_BACK_OFF,
    F_SCRATCH,
    F_ESTIMATE,
    F_KEEP,
    F_SEED_BLOCK,
    F_CANDIDATE,
    F_DROP_RULE,
    F_VISIBILITY,
    F_FIELDS,
) = range(34)

(G_KIND, G_BLOCK, G_WINDOW, G_DROP, G_ORDINAL, G_FIELDS) = range(6)
"""G_ORDINAL: the how manieth group of its kind (state groups), to find a chunk's blocks."""
FULL, WINDOW, CIRCULAR, STATE = range(4)

# The scalars that change.
(
    N_STEP,
    N_FREE,
    N_KEYED_FREE,
    N_FREE_RECORD,
    N_FREE_ENTRY,
    N_ENTRIES,
    N_RECORDS,
    N_USED_RECORDS,
    N_RUNNING,
    N_CURSOR,
    N_SLICE,
    N_CHUNKS,
    N_TOKENS_LEFT,
    N_ENCODER_LEFT,
    N_COPIES,
    N_HELD,
    N_UPDATES,
    N_LOG,
    N_PREEMPTED,
    N_PROMISED,
    N_PAGES,
    N_SOLO,
    N_SETTLED,
    N_TOLD,
    N_REPLAYED,
    N_EVICTED,
    N_PUBLISHED,
    N_FIELDS,
) = range(28)
"""N_PROMISED: the most blocks all running requests may hold. N_PAGES: pages of full attention and
circular buffers they hold. N_SOLO: state and window blocks that exactly one table holds and nobody
else reads. N_CURSOR: the next running request to schedule. N_SETTLED: requests that finished or
failed in the last step that was learned. N_TOLD: keys in `told`. N_REPLAYED: the step that
the audit looks at. N_EVICTED and N_PUBLISHED count since the start."""

(B_READERS, B_PREVIOUS, B_NEXT, B_IS_FREE, B_RECORD, B_TABLES, B_FRESH_STEP, B_FIELDS) = range(8)
"""B_READERS: reference count. B_RECORD: first of the block's keys (0: none). B_TABLES: tables of
state and window groups that hold it. B_FRESH_STEP: the step, plus 1, in which it last got a key."""

(K_BLOCK, K_ENTRY, K_NEXT_OF_BLOCK, K_NEXT_OF_ENTRY, K_PREVIOUS_OF_ENTRY, K_FIELDS) = range(6)
(E_GROUP, E_FIRST, E_LAST, E_NEXT) = range(4)
E_DIGEST, E_FIELDS = 8, 16
"""The eight words of the digest follow: an entry is one line of memory."""

(
    R_KNOWN,
    R_PROMPT,
    R_OUTPUT,
    R_COMPUTED,
    R_PROCESSED,
    R_PREFILL_END,
    R_TURNS,
    R_RESIDENCY,
    R_SAMPLING,
    R_SHARES,
    R_QUIET_LOW,
    R_QUIET_END,
    R_QUIET_DONE,
    R_HASHED_UNITS,
    R_TOKENS,
    R_ORDER,
    R_STATUS,
    R_PRIORITY,
    R_PREEMPTED,
    R_EXTERNAL,
    R_ITEMS,
    R_EXTRA,
    R_PROMISE,
    R_KEYS,
    R_COLUMNS,
    R_REPLAY,
    R_EXTEND,
    R_JUNCTION,
    R_BOUNDARY,
    R_MARGIN,
) = range(30)
R_FIELDS = 32
"""What a quiet step of decode touches comes first, in two lines of memory of the four of a row.
R_TOKENS, R_KEYS, R_COLUMNS, R_EXTRA: where the request's range starts in the arena of that name.
R_RESIDENCY counts the residencies of a slot, over all its requests; R_PREEMPTED those of the
request that ended before it did. R_SAMPLING: chunks in flight that sample. R_QUIET_*: see
quiet.py."""
WAITING, RUNNING, ENDED = range(3)

(
    T_AT,
    T_LENGTH,
    T_SCRATCH,
    T_FILED,
    T_PARTIAL_FILED,
    T_RETIRED,
    T_HELD,
    T_EXISTS,
    T_CAPACITY,
    T_FIELDS,
) = range(10)
"""T_AT: where the table's columns start in the arena. T_HELD: columns that are not holes."""

(
    C_SLOT,
    C_RESIDENCY,
    C_START,
    C_END,
    C_DRAFTS,
    C_SAMPLING,
    C_CHECKPOINT,
    C_IS_PREFILL,
    C_LOADED_FROM,
    C_LOADED_TO,
    C_ENCODER,
    C_IS_QUIET,
    C_FIELDS,
) = range(13)

(
    M_CAP,
    M_HIT,
    M_OFFER,
    M_JUNCTION,
    M_IS_DEFERRED,
    M_START,
    M_EXTERNAL,
    M_FIELDS,
) = range(8)

(A_MATCHED, A_BLOCKS, A_STATE, A_REACH, A_FIELDS) = range(5)
"""Per group of a lookup: tokens matched, columns matched, the state block at the hit, the largest
position it can resume at alone."""

(U_SLOT, U_GROUP, U_COLUMN, U_COUNT, U_IS_FRESH, U_FIELDS) = range(6)
(P_SLOT, P_GROUP, P_TOKENS, P_BLOCK, P_FIELDS) = range(5)
(Y_SLOT, Y_GROUP, Y_SOURCE, Y_TARGET, Y_FIELDS) = range(5)
(H_GROUP, H_BLOCK, H_UNTIL, H_FIELDS) = range(4)
"""Table updates of a step (U_IS_FRESH: blocks just taken), keys published since somebody looked,
copies of a step, held sources of copies."""

NOTHING, SCHEDULED, PREEMPTED_ITSELF, NO_OFFER, DEFERRED, NO_ROOM = range(6)
SKIPPED, LEARNED, FAILED, FINISHED = range(4)
"""What became of a request in scheduling, and of a chunk when its step is known complete."""

(
    CUT_NONE,
    CUT_BUDGET,
    CUT_THRESHOLD,
    CUT_SPLIT,
    CUT_ENCODER,
    CUT_LOOKAHEAD,
    CUT_POOL,
    CUT_MAXIMUM_LENGTH,
) = range(8)

(
    L_SCHEDULE,
    L_ESTIMATE,
    L_PLACE,
    L_ADOPT,
    L_MOVE,
    L_NULL,
    L_COPY_ON_WRITE,
    L_HOLD,
    L_PUBLISH,
    L_EVICTED,
    L_END,
    L_LOST,
    L_MASKED,
) = range(13)
END_PREEMPT, END_FINISH, END_ABORT = range(3)

# The audit's.
(S_OWNER, S_TOKENS, S_KEYED, S_FRESH_STEP, S_FIELDS) = range(5)
"""S_OWNER: the request that wrote last. S_TOKENS: states: tokens consumed; pages: one past the last
entry. S_KEYED: the largest position it was published under. S_FRESH_STEP: the step, plus 1, that
took it from the pool and is not replayed yet."""
UNWRITTEN, GARBAGE = -2, -1

(V_LAW, V_OWNER, V_GROUP, V_BLOCK, V_CLAIMED, V_HELD, V_FIELDS) = range(7)
PROVENANCE, OWNERSHIP, SEED, UNIQUENESS = range(4)
