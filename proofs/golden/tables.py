"""Block tables, rebuilt column by column from the events that change them."""

from truehit.spec.trace import Table, TableOp

NULL_BLOCK = 0


def apply_change(columns: list[int], event: Table) -> tuple[int, ...]:
    """Change the columns in place; returns the blocks that start a new tenancy."""
    match event.op:
        case TableOp.NULL:
            for column in range(event.column, event.column + event.count):
                columns[column] = NULL_BLOCK
        case TableOp.PLACE | TableOp.COPY_ON_WRITE:
            _fill(columns, event)
            return event.blocks
        case TableOp.ADOPT:
            _fill(columns, event)
        case TableOp.MOVE:
            for column in event.sources:
                columns[column] = NULL_BLOCK
            _fill(columns, event)
    return ()


def _fill(columns: list[int], event: Table) -> None:
    missing = event.column + len(event.blocks) - len(columns)
    columns.extend([NULL_BLOCK] * max(missing, 0))
    for offset, block in enumerate(event.blocks):
        columns[event.column + offset] = block
