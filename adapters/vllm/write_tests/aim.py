"""From a law's sentence to the check of the harness that shows the same thing.

A written test does not read traces; it looks at the blocks, keys, hits and ends of its own run. A
sentence that no check can show is refused: such a test could not fail for its own reason.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from truehit.adapters.vllm.write_tests.finding import UnwritableError, WrittenFinding

Words = re.Match[str]
DEFERRED_STEPS = 16
"""A splitter that leaves an offer unused so often in a row waits for nothing."""


@dataclass(frozen=True, slots=True)
class Aim:
    """Lines of a function body over `seen`; each assertion fails with the sentence."""

    lines: tuple[str, ...]


def aim_of(finding: WrittenFinding) -> Aim:
    """How the finding is shown.

    Raises:
        UnwritableError: no check shows it; one line.
    """
    for law, pattern, build in _AIMS:
        words = re.search(pattern, finding.sentence)
        if law == finding.law and words is not None:
            return Aim(build(finding, words))
    raise UnwritableError(f"{finding.slug}: no check of a written test shows: {finding.sentence}")


def _found(
    check: str, with_group: bool = True
) -> Callable[[WrittenFinding, Words], tuple[str, ...]]:
    """The check said nothing of the request."""

    def lines(finding: WrittenFinding, _: Words) -> tuple[str, ...]:
        named = [check, finding.request, *([finding.group] if with_group and finding.group else [])]
        arguments = ", ".join(f'"{name}"' for name in named)
        return (
            f"found = seen.found({arguments})",
            'assert not found, "\\n".join([SENTENCE, *found])',
        )

    return lines


def _hit(compared: str) -> Callable[[WrittenFinding, Words], tuple[str, ...]]:
    """The request's last admission hits what can be served, not less or not more."""

    def lines(finding: WrittenFinding, words: Words) -> tuple[str, ...]:
        return (
            f'hit = seen.hits.get("{finding.request}", [0])[-1]',
            f"assert hit {compared} {words[1]}, " + 'f"{SENTENCE}\\nit hits {hit}"',
        )

    return lines


def _kept(finding: WrittenFinding, words: Words) -> tuple[str, ...]:
    return (
        f'assert seen.kept("{finding.request}", {words[1]}, {_state_groups(finding)}), SENTENCE',
    )


def _landing(finding: WrittenFinding, words: Words) -> tuple[str, ...]:
    return (
        f"keys = [n for group, (n, _) in seen.published if group in {_state_groups(finding)}]",
        f"assert all(tokens % {words[1]} == 0 for tokens in keys), SENTENCE",
    )


def _state_groups(finding: WrittenFinding) -> str:
    groups = finding.shown.scenario.geometry.state_groups
    return "[" + ", ".join(f'"{group.name}"' for group in groups) + "]"


def _finished(finding: WrittenFinding, _: Words) -> tuple[str, ...]:
    return (f'assert "{finding.request}" in seen.finished, SENTENCE',)


def _deferred(finding: WrittenFinding, _: Words) -> tuple[str, ...]:
    return (f'assert seen.deferred.get("{finding.request}", 0) < {DEFERRED_STEPS}, SENTENCE',)


def _columns(finding: WrittenFinding, words: Words) -> tuple[str, ...]:
    return (
        f'held = seen.columns.get(("{finding.request}", "{finding.group}"), 0)',
        f"assert held <= {words[1]}, " + 'f"{SENTENCE}\\nit holds {held}"',
    )


def _fault(finding: WrittenFinding, _: Words) -> tuple[str, ...]:
    """It fails with the engine's own words, which are the sentence only if they are the same."""
    return ("assert not seen.fault, seen.fault",)


def _lost(finding: WrittenFinding, _: Words) -> tuple[str, ...]:
    return ('assert not seen.lost, f"{SENTENCE}\\nlost at the end: {seen.lost}"',)


_AIMS: tuple[tuple[str, str, Callable[[WrittenFinding, Words], tuple[str, ...]]], ...] = (
    ("provenance", "is published as", _found("published")),
    ("commit", "at the end of step", _found("published")),
    ("commit", "adopts block", _found("read")),
    ("uniqueness", "which differ", _found("published")),
    ("seed", "", _found("read")),
    ("neutrality", "leaves", _found("left")),
    ("neutrality", "", _found("read")),
    ("ownership", "resumes at|is null and|source of a copy|column", _found("read")),
    ("ownership", "writes block .*(table|held by)|null block is", _found("written")),
    ("retirement", "was freed", _found("read")),
    ("retirement", r"(\d+) are allowed", _columns),
    ("conservation", "", _lost),
    ("grid", "starts inside a block", _found("chunk", with_group=False)),
    ("grid", r"passes the kept position (\d+)", _kept),
    ("reach", r"passed the kept position (\d+)", _kept),
    ("reach", r"where no lookup can land: hits are multiples of (\d+)", _landing),
    ("reach", r"that kept (\d+)", _hit(">=")),
    ("joint", r"every group can resume at (\d+)", _hit(">=")),
    ("joint", r"all groups together can resume at (\d+)|above its cap (\d+)", _hit("<=")),
    ("admission", "the estimate is", _found("estimate", with_group=False)),
    ("admission", "is not refused", _finished),
    ("progress", "is offered", _deferred),
    ("progress", "", _finished),
    ("fault", "", _fault),
)
