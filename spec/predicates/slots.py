"""What a device that follows alone has to find: for each row of a step, the columns of the rules,
and only entries that exist.

A row is one request's tokens of a step: `width` of them, from packed token `first` on. Names with
`expected_` are the rules', the others the device's; `decode` is 1 for decode and verification, 0
for a prefill; `ahead` is any of the row's tokens, counted from 0.
"""


def is_row(start: int, end: int, planned_end: int) -> bool:
    """Positions count from 0, and a row does not end before its start."""
    return start >= 0 and end >= start and planned_end >= 0


def is_table(length: int) -> bool:
    """A table has no fewer than 0 columns."""
    return length >= 0


def is_token(decode: int, ahead: int, width: int) -> bool:
    """One of the tokens of a decode or of a prefill."""
    return (decode == 0 or decode == 1) and ahead >= 0 and ahead < width


def is_after(start: int, done: int) -> bool:
    """What counts after a step counted before it."""
    return start >= 0 and done >= start


def is_position(position: int) -> bool:
    """Positions count from 0."""
    return position >= 0


def same_running(running: int, expected_running: int) -> bool:
    """The running column is the rule's."""
    return running == expected_running


def same_export(exported: int, expected_exported: int) -> bool:
    """The checkpoint's column is the rule's."""
    return exported == expected_exported


def stores_needed(first_stored: int, ahead: int, width: int, decode: int) -> bool:
    """A decode stores the state after each of its tokens, a prefill that after its last one."""
    return (ahead >= first_stored) == (decode == 1 or ahead == width - 1)


def same_token(token_column: int, expected_token: int, running: int, decode: int) -> bool:
    """It is stored in the rule's column; of a prefill in the running column."""
    return token_column == (expected_token if decode == 1 else running)


def same_current(current: int, expected_current: int, running: int, decode: int) -> bool:
    """The next step continues from the rule's column; after a prefill from the running one."""
    return current == (expected_current if decode == 1 else running)


def same_boundary(boundary: int, expected_boundary: int, own: int, expected_own: int) -> bool:
    """The boundary and the column that its state is found in are the rule's."""
    return boundary == expected_boundary and own == expected_own


def same_copy(
    column: int, expected_column: int, copies: bool, expected_copies: bool, decode: int
) -> bool:
    """A decode copies a completed boundary when the rule does, from the rule's column; a prefill
    copies nothing."""
    return column == expected_column and copies == (decode == 1 and expected_copies)


def same_page(page: int, expected_page: int, offset: int, position: int, block: int) -> bool:
    """The page is the rule's, and the offset is the rest."""
    inside = offset >= 0 and offset < block
    return page == expected_page and inside and page * block + offset == position


def is_entry(row: int, rows: int, length: int, columns: int) -> bool:
    """One of the rows of tables with room for `columns` columns, of which `length` count."""
    return row >= 0 and row < rows and length >= 0 and length <= columns


def masks_table(from_first: bool, before_end: bool, inside: bool) -> bool:
    """The mask of a load is the rule's: the column exists."""
    return (from_first and before_end) == inside


def loads_own_table(
    from_first: bool,
    before_end: bool,
    index: int,
    row: int,
    rows: int,
    length: int,
    columns: int,
) -> bool:
    """What the mask lets through is one of the row's own columns that count, and inside the tables
    of all rows."""
    if not (from_first and before_end):
        return True
    own = index >= row * columns and index < row * columns + length
    return own and index >= 0 and index < rows * columns


def is_packed(first: int, width: int, tokens: int, other_first: int) -> bool:
    """The row's tokens are among the packed ones; another row begins behind them."""
    return first >= 0 and width >= 0 and first + width <= other_first and other_first <= tokens


def stores_own_token(index: int, first: int, other_first: int, tokens: int) -> bool:
    """What is stored is the row's own token, not the next row's, and inside the array."""
    return index >= 0 and index >= first and index < other_first and index < tokens


def is_held(length: int, drafts: int, running: int, ahead: int, width: int) -> bool:
    """The table of a decode ends with the running column and its scratch, and the row has at most
    its own token and the drafts."""
    row = ahead >= 0 and ahead < width and width <= drafts + 1
    return row and running >= 0 and length >= running + 1 + drafts


def completes(start: int, boundary: int, done: int, width: int, own: int, running: int) -> bool:
    """What counts includes a boundary above the start, whose column is not above the running one
    (`decode-boundary`)."""
    inside = start < boundary and boundary <= done and done <= start + width
    return inside and own >= 0 and own <= running


def loses_nothing(token_column: int, current: int, column: int, own: int, length: int) -> bool:
    """Every column the step stores, continues from or copies is in the table."""
    stored = token_column >= 0 and token_column < length
    copied = column >= 0 and column < length and own < length
    return stored and copied and current >= 0 and current < length
