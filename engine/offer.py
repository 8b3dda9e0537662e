"""What every cap before the splitter leaves to a request: budget, share by decree, threshold, the
maximum length, and the first input whose encoder run does not fit."""

from truehit.engine import fields as f
from truehit.engine.compiled import compiled
from truehit.engine.memory import Core


@compiled
def _encoder_limit(c: Core, slot: int, start: int, tokens: int) -> int:
    """Tokens up to the first input whose encoder run does not fit into this step."""
    left = c.now[f.N_ENCODER_LEFT]
    if c.fixed[f.F_ENCODER_BUDGET] < 0:
        return tokens
    first = c.request[slot, f.R_EXTRA] + c.request[slot, f.R_SHARES]
    for item in range(c.request[slot, f.R_ITEMS]):
        at, size, encoded = c.extra[first + 3 * item : first + 3 * item + 3]
        if encoded or at >= start + tokens or start >= at + size:
            continue
        if size > left:
            return max(at - start, 0)
        left -= size
    return tokens


@compiled
def offer_tokens(c: Core, slot: int) -> tuple[int, int, int]:
    """Tokens offered in this step, the drafts among them, and which cap cut."""
    row = c.request[slot]
    start, turns = row[f.R_COMPUTED], row[f.R_TURNS]
    prefill = start < row[f.R_PREFILL_END]
    tokens = row[f.R_PREFILL_END] - start if prefill else 1 + c.fixed[f.F_DRAFTS]
    cut = f.CUT_NONE
    if c.now[f.N_TOKENS_LEFT] < tokens:
        tokens, cut = max(c.now[f.N_TOKENS_LEFT], 0), f.CUT_BUDGET
    if turns < row[f.R_SHARES]:
        share = c.extra[row[f.R_EXTRA] + turns]
        if share < tokens:
            tokens, cut = max(share, 0), f.CUT_BUDGET
    if prefill and 0 < c.fixed[f.F_THRESHOLD] < tokens:
        tokens, cut = c.fixed[f.F_THRESHOLD], f.CUT_THRESHOLD
    room = c.fixed[f.F_MAX_MODEL] - start
    if room < tokens:
        tokens, cut = max(room, 0), f.CUT_MAXIMUM_LENGTH
    if prefill and row[f.R_ITEMS]:
        limit = _encoder_limit(c, slot, start, tokens)
        if limit < tokens:
            tokens, cut = limit, f.CUT_ENCODER
    return tokens, 0 if prefill else max(tokens - 1, 0), cut


@compiled
def spend(c: Core, slot: int, start: int, end: int) -> int:
    """The chunk [start, end) is scheduled; returns the encoder tokens its inputs take."""
    c.now[f.N_TOKENS_LEFT] -= end - start
    if c.fixed[f.F_ENCODER_BUDGET] < 0:
        return 0
    spent = 0
    first = c.request[slot, f.R_EXTRA] + c.request[slot, f.R_SHARES]
    for item in range(c.request[slot, f.R_ITEMS]):
        row = c.extra[first + 3 * item : first + 3 * item + 3]
        if row[2] == 0 and row[0] < end and start < row[0] + row[1]:
            row[2] = 1
            spent += row[1]
    c.now[f.N_ENCODER_LEFT] -= spent
    return spent


@compiled
def forget_encoded(c: Core, slot: int) -> None:
    """A residency ends: its inputs have to be encoded again."""
    first = c.request[slot, f.R_EXTRA] + c.request[slot, f.R_SHARES]
    for item in range(c.request[slot, f.R_ITEMS]):
        c.extra[first + 3 * item + 2] = 0
