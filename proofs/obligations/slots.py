"""The slots a device derives by itself are the rules', and nothing outside an array is touched.

What is lifted is the text that Triton compiles (`kernels/slot_columns.py`). Two layers, as with
decode steps: columns of token positions for all block sizes, then columns alone.
"""

from truehit.kernels import slot_columns as device
from truehit.proofs.obligations.obligation import (
    Control,
    Cover,
    Encoding,
    Function,
    Obligation,
    Step,
)
from truehit.reference.rules import slots
from truehit.spec.predicates import slots as goals
from truehit.spec.units import floor_to, running_column

IN_BLOCKS = ("running", "expected_running", "exported", "expected_exported", "before", "length")
GRIDS = Encoding(
    "all state blocks",
    ("grid",),
    counted=dict.fromkeys((*IN_BLOCKS, "own", "expected_own"), "grid"),
)
MINIMUM = Encoding("minimum block 4 of 8", fixed={"grid": 8, "minimum_block": 4})
PAGES = Encoding("all pages", ("block",), counted=dict.fromkeys(("page", "expected_page"), "block"))
TABLES = Encoding("all tables", ("columns",), counted=dict.fromkeys(("row", "rows"), "columns"))
INTEGERS = Encoding("all integers")

RUNNING = Step(("running",), device.running_column, {"end": "planned_end"})
EXPORTED = Step(("exported",), device.checkpoint_column)
BOUNDARY = Step(("boundary",), device.last_boundary)
OWN = Step(("own",), device.own_column)
FIRST_STORED = Step(("first_stored",), device.first_stored)
TOKEN = Step(("token_column",), device.token_column)
CURRENT = Step(("current",), device.next_current)
COLUMN = Step(("column",), device.boundary_column)
COPIES = Step(("copies",), device.copies_boundary)
PAGE = Step(("page",), device.page_column)
OFFSET = Step(("offset",), device.page_offset)
FROM_FIRST = Step(("from_first",), device.from_first)
BEFORE_END = Step(("before_end",), device.before_end)
ENTRY = Step(("index",), device.table_index)
TOKEN_INDEX = Step(("index",), device.token_index)


# --- wrong arithmetic -------------------------------------------------------------------------


def floored_column(end: int, grid: int) -> int:
    """Rounds down: the column of the last whole block."""
    return end // grid - 1


def column_above(end: int, grid: int) -> int:
    """One column too high."""
    return (end + grid - 1) // grid


def unwrapped_column(end: int, grid: int) -> int:
    """Forgets that nothing comes before the first column."""
    return (end + grid - 1) // grid - 2


def next_boundary(done: int, grid: int) -> int:
    """The boundary that is not completed yet."""
    return done - done % grid + grid


def column_of_next(boundary: int, grid: int) -> int:
    """The column behind the boundary."""
    return boundary // grid


def stores_all(width: int, decode: int) -> int:
    """Takes a prefill for a decode."""
    return 0


def stands_still(running: int, ahead: int, decode: int) -> int:
    """Every state into the running column."""
    return running


def moves_always(running: int, ahead: int, decode: int) -> int:
    """One column a token, in a prefill too."""
    return running + ahead


def one_too_far(running: int, start: int, done: int, decode: int) -> int:
    """Continues behind the last state that counts."""
    return running + max(done - start, 0) if decode > 0 else running


def below_running(running: int, start: int, done: int, decode: int) -> int:
    """Forgets that a step may count nothing."""
    return running + done - start - 1 if decode > 0 else running


def one_behind(running: int, start: int, boundary: int) -> int:
    """The state of the token after the boundary."""
    return running + boundary - start


def copies_always(start: int, boundary: int, column: int, own: int, decode: int) -> bool:
    """Copies a prefill's boundary."""
    return boundary > start and column != own


def copies_start(start: int, boundary: int, column: int, own: int, decode: int) -> bool:
    """Copies a boundary that the step started from."""
    return decode > 0 and boundary >= start and column != own


def page_of_next(position: int, block: int) -> int:
    """The page of the next token."""
    return (position + 1) // block


def offset_of_next(position: int, block: int) -> int:
    """The offset of the next token."""
    return (position + 1) % block


def unmasked_before(column: int) -> bool:
    """No mask in front of the table."""
    return True


def unmasked_behind(column: int, length: int) -> bool:
    """No mask behind it."""
    return True


def one_beyond(column: int, length: int) -> bool:
    """A mask that lets one column too many through."""
    return column <= length


def skewed_index(row: int, columns: int, column: int) -> int:
    """Counts columns from 1."""
    return row * columns + column + 1


def next_token(first: int, ahead: int) -> int:
    """Counts tokens from 1."""
    return first + ahead + 1


def wrong(step: Step, function: Function) -> Control:
    """A control of our own making: other arithmetic for one number."""
    return Control(function.__name__, steps=(Step(step.results, function, step.rename),))


# --- interesting cases ------------------------------------------------------------------------


def starts_empty(start: int, end: int, planned_end: int, length: int) -> bool:
    return start == 0 and end == 0 and planned_end == 0 and length == 0


def first_token(ahead: int, width: int) -> bool:
    return ahead == 0 and width == 1


def after_nothing(start: int, done: int) -> bool:
    return start == 0 and done == 0


def first_position(position: int) -> bool:
    return position == 0


def empty_table(row: int, length: int) -> bool:
    return row == 0 and length == 0


def first_packed(first: int, ahead: int) -> bool:
    return first == 0 and ahead == 0


def ends_on_boundary(end: int, planned_end: int, grid: int) -> bool:
    return end == planned_end and end % grid == 0 and end > 0


def exports_from_first(end: int, grid: int, length: int) -> bool:
    return end > 0 and end <= grid and length > 1


def drafts_rejected(end: int, planned_end: int) -> bool:
    return end < planned_end


def completes_block(start: int, boundary: int) -> bool:
    return boundary > start


def verifies(decode: int, ahead: int) -> bool:
    return decode == 1 and ahead > 1


def prefills(decode: int, width: int, first_stored: int) -> bool:
    return decode == 0 and width > 1 and first_stored > 0


def counts_nothing(start: int, done: int, decode: int) -> bool:
    return decode == 1 and done == start


def copies_elsewhere(copies: bool) -> bool:
    return copies


def second_page(page: int, offset: int) -> bool:
    return page > 1 and offset > 0


def lies_before(column: int, length: int) -> bool:
    return column < 0 and length > 0


def lies_behind(column: int, length: int, columns: int) -> bool:
    return column >= length and length < columns


def lies_inside(inside: bool, row: int) -> bool:
    return inside and row > 0


def of_later_row(first: int, ahead: int) -> bool:
    return first > 0 and ahead > 0


def saved_elsewhere(column: int, own: int, drafts: int) -> bool:
    return column != own and drafts > 1


OBLIGATIONS = (
    Obligation(
        "slots-columns",
        "provenance",
        "the running column and a checkpoint's column as the device derives them; all state "
        "blocks, positions and tables",
        (GRIDS,),
        (goals.is_row, goals.is_table),
        (
            RUNNING,
            Step(
                ("expected_running",),
                running_column,
                {"end_tokens": "planned_end", "grid_tokens": "grid"},
            ),
            EXPORTED,
            Step(("before",), slots.checkpoint_column),
            Step(("expected_exported",), slots.wrapped_column, {"column": "before"}),
        ),
        (goals.same_running, goals.same_export),
        ("running", "exported"),
        (
            wrong(RUNNING, floored_column),
            wrong(RUNNING, column_above),
            wrong(EXPORTED, unwrapped_column),
            Control(
                "minimum_block",
                steps=(
                    Step(
                        RUNNING.results,
                        device.running_column,
                        {"end": "planned_end", "grid": "minimum_block"},
                    ),
                ),
                encoding=MINIMUM,
            ),
        ),
        (
            Cover("the end is a boundary", ends_on_boundary),
            Cover("a checkpoint before the first column", exports_from_first),
            Cover("drafts were rejected", drafts_rejected),
            Cover("nothing yet, and no column", starts_empty),
        ),
    ),
    Obligation(
        "slots-boundary",
        "provenance",
        "the block boundary that a step completes and its column as the device derives them; all "
        "state blocks and positions",
        (GRIDS,),
        (goals.is_after,),
        (
            BOUNDARY,
            Step(
                ("expected_boundary",),
                floor_to,
                {"position_tokens": "done", "unit_tokens": "grid"},
            ),
            OWN,
            Step(("expected_own",), slots.own_column, {"boundary": "expected_boundary"}),
        ),
        (goals.same_boundary,),
        ("boundary", "own"),
        (
            wrong(BOUNDARY, next_boundary),
            wrong(OWN, column_of_next),
            Control(
                "minimum_block",
                steps=(Step(BOUNDARY.results, device.last_boundary, {"grid": "minimum_block"}),),
                encoding=MINIMUM,
            ),
        ),
        (
            Cover("a block is completed", completes_block),
            Cover("nothing yet", after_nothing),
        ),
    ),
    Obligation(
        "slots-row",
        "provenance",
        "which states of a row are stored and where, what the next step continues from and which "
        "boundary state is copied, as the device derives them; any columns, hence all state "
        "blocks; prefill and decode, any drafts, accepted or not",
        (INTEGERS,),
        (goals.is_token, goals.is_after),
        (
            FIRST_STORED,
            TOKEN,
            Step(("expected_token",), slots.token_column),
            CURRENT,
            Step(("expected_current",), slots.next_current),
            COLUMN,
            Step(("expected_column",), slots.boundary_column),
            COPIES,
            Step(("expected_copies",), slots.copies_boundary, {"column": "expected_column"}),
        ),
        (goals.stores_needed, goals.same_token, goals.same_current, goals.same_copy),
        ("first_stored", "token_column", "current", "column", "copies"),
        (
            wrong(FIRST_STORED, stores_all),
            wrong(TOKEN, stands_still),
            wrong(TOKEN, moves_always),
            wrong(CURRENT, one_too_far),
            wrong(CURRENT, below_running),
            wrong(COLUMN, one_behind),
            wrong(COPIES, copies_always),
            wrong(COPIES, copies_start),
        ),
        (
            Cover("several drafts", verifies),
            Cover("the only token", first_token),
            Cover("nothing yet", after_nothing),
            Cover("a prefill of several tokens", prefills),
            Cover("a step counts nothing", counts_nothing),
            Cover("a boundary is copied", copies_elsewhere),
        ),
    ),
    Obligation(
        "slots-held",
        "provenance",
        "no mask hides a state: every column that a decode stores, continues from or copies is in "
        "its table, which reaches to its scratch (`decode-length`); any columns and drafts",
        (INTEGERS,),
        (goals.is_held, goals.completes, goals.is_after),
        (TOKEN, CURRENT, COLUMN),
        (goals.loses_nothing,),
        ("token_column", "current", "column"),
        (
            wrong(CURRENT, one_too_far),
            wrong(COLUMN, one_behind),
        ),
        (Cover("a boundary's state lies in the scratch", saved_elsewhere),),
    ),
    Obligation(
        "slots-inside",
        "ownership",
        "the device loads from a row's table only columns that exist; all tables, lengths, rows "
        "and columns, also those that are outside",
        (TABLES,),
        (goals.is_entry,),
        (FROM_FIRST, BEFORE_END, ENTRY, Step(("inside",), slots.in_table)),
        (goals.masks_table, goals.loads_own_table),
        ("from_first", "before_end", "index"),
        (
            wrong(FROM_FIRST, unmasked_before),
            wrong(BEFORE_END, unmasked_behind),
            wrong(BEFORE_END, one_beyond),
            wrong(ENTRY, skewed_index),
        ),
        (
            Cover("a column before the table", lies_before),
            Cover("the first row, with an empty table", empty_table),
            Cover("a column behind the table", lies_behind),
            Cover("a column of a later row", lies_inside),
        ),
    ),
    Obligation(
        "slots-tokens",
        "ownership",
        "the device stores to a row's own tokens only; any rows and tokens",
        (INTEGERS,),
        (goals.is_packed, goals.is_token),
        (TOKEN_INDEX,),
        (goals.stores_own_token,),
        ("index",),
        (wrong(TOKEN_INDEX, next_token),),
        (
            Cover("a token of a later row", of_later_row),
            Cover("the first token of all", first_packed),
        ),
    ),
    Obligation(
        "slots-pages",
        "provenance",
        "page and offset of a token's key and value as the device derives them; all page sizes and "
        "positions",
        (PAGES,),
        (goals.is_position,),
        (PAGE, Step(("expected_page",), slots.page_column), OFFSET),
        (goals.same_page,),
        ("page", "offset"),
        (wrong(PAGE, page_of_next), wrong(OFFSET, offset_of_next)),
        (
            Cover("inside a later page", second_page),
            Cover("the first token", first_position),
        ),
    ),
)
