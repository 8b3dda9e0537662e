"""A comparison as Markdown, to be pasted into a review: what is new first, the rest folded."""

from collections.abc import Iterator, Sequence

from truehit.adapters.vllm.compare import words
from truehit.adapters.vllm.compare.report import CompareRecord, MatchedFinding


def markdown(record: CompareRecord) -> str:
    """The whole text, with a line break at its end."""
    return "\n".join(_lines(record)) + "\n"


def _lines(record: CompareRecord) -> Iterator[str]:
    yield f"### truehit: `{record.base}` → `{record.head}`"
    yield ""
    yield f"**{words.summary(record)}**"
    yield from _section("New", record.new)
    yield from _section("Gone", record.gone)
    if record.defects:
        yield from ("", "**Known defects**", "")
        defects = [(c.defect, c.violation_class, c.base, c.head) for c in record.defects]
        yield from _table(("defect", "class", "base", "head"), defects)
    yield from ("", "**Lifted rules**", "")
    for row in record.rules:
        yield f"- {row.rule}: {_escaped(words.rule(row))}"
    yield from ("", f"**Library**: {words.behaviour(record.behaviour)}", "")
    if record.behaviour.first:
        first = [(c.scenario, c.request, c.aspect, c.base, c.head) for c in record.behaviour.first]
        yield from _table(("scenario", "request", "what", "base", "head"), first)
    if record.unchanged:
        yield from ("", f"<details><summary>Unchanged: {len(record.unchanged)}</summary>", "")
        for one in record.unchanged:
            yield f"- {_escaped(words.kind(one))}"
        yield from ("", "</details>")


def _section(title: str, found: Sequence[MatchedFinding]) -> Iterator[str]:
    if found:
        yield from ("", f"**{title}**", "")
        for one in found:
            yield f"- **{one.violation_class}, {one.law}**: {_escaped(words.finding(one))}"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    for cells in (head, ["---"] * len(head), *rows):
        yield f"| {' | '.join(_escaped(cell) for cell in cells)} |"


def _escaped(text: str) -> str:
    """A bar would end a cell, a line break its row, and a `<` begin a tag."""
    return " ".join(text.replace("|", "\\|").replace("<", "&lt;").split())
