"""Pages of attention as spans of entries: (lo, hi, path) in positions; path None: entries of
rejected drafts.

Entry i of a path depends on the first i + 1 tokens of that path, so a span is right for a reader
exactly when writer and reader agree up to the last entry read.
"""

from truehit.spec.ledger_records import GroupBook
from truehit.spec.tokens import TokenPath

PageSpan = tuple[int, int, TokenPath | None]
Page = tuple[PageSpan, ...]
BLANK: Page = ()


def overlay(page: Page, low: int, high: int, path: TokenPath | None) -> Page:
    """The page after entries [low, high) were written."""
    if not page:
        return ((low, high, path),)
    last_low, last_high, last = page[-1]
    if last_high == low and last is path:
        return (*page[:-1], (last_low, high, path))
    before: list[PageSpan] = []
    after: list[PageSpan] = []
    for old_low, old_high, owner in page:
        if old_low < low:
            before.append((old_low, min(old_high, low), owner))
        if old_high > high:
            after.append((max(old_low, high), old_high, owner))
    if before and before[-1][1] == low and before[-1][2] is path:
        low = before.pop()[0]
    return (*before, (low, high, path), *after)


def agrees(owner: TokenPath | None, path: TokenPath, tokens: int) -> bool:
    """True iff the owner's first `tokens` tokens are the path's."""
    if owner is path:
        return True
    if owner is None or tokens > owner.tokens or tokens > path.tokens:
        return False
    return owner.prefix(tokens) == path.prefix(tokens)


def holds_entries(page: Page, path: TokenPath, low: int, high: int) -> bool:
    """True iff the page holds the path's entries [low, high)."""
    position = low
    for span_low, span_high, owner in page:
        if position >= high:
            break
        if span_high <= position:
            continue
        top = min(span_high, high)
        if span_low > position or not agrees(owner, path, top):
            return False
        position = top
    return position >= high


def is_written(page: Page, low: int, high: int) -> bool:
    """True iff somebody wrote every entry of [low, high), whatever it was."""
    position = low
    for span_low, span_high, _ in page:
        if span_low <= position < span_high:
            position = span_high
    return position >= high


def first_entry_read(group: GroupBook, tokens: int) -> int:
    """The first entry that a query at position `tokens` sees: a window sees only the last ones."""
    window = group.group.window_tokens
    return 0 if window is None else max(0, tokens - window + 1)
