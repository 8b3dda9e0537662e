"""The verdict on a release: every obligation in every scope, each refutation replayed.

*proved* for the scope's domain; *refuted locally* if CPython, running the release's own text,
breaks the goal on the example; *model finding* if it does not; *unknown* if the solver gave up or
the premise cannot be met there.
"""

from truehit.proofs.lift import Provenance, SourceTree, Unsupported
from truehit.proofs.releases.executed import executed
from truehit.proofs.releases.questions import Question, cover_text, questions
from truehit.proofs.releases.report import ReleaseReport, ReleaseRow, Verdict
from truehit.proofs.releases.scope import SCOPES
from truehit.proofs.releases.smallest import Readings, smallest
from truehit.proofs.releases.subject import Subject, subject
from truehit.proofs.solve import solve
from truehit.proofs.sources import open_release

RLIMIT = 60_000_000
"""Ten times the dearest proof over the seven releases known."""

RELEASES = tuple(
    f"vllm=={version}"
    for version in ("0.26.0", "0.27.1", "0.29.0", "0.30.0", "0.31.0", "0.32.0", "0.33.0")
)


def judge_release(release: str) -> ReleaseReport:
    """Judge a release by its requirement, for example `vllm==0.33.0`.

    Raises:
        SourceError: its source can be neither read nor fetched.
    """
    return judge(open_release(release), release)


def judge(tree: SourceTree, release: str) -> ReleaseReport:
    """Judge the chunk splitter of a source tree.

    Raises:
        Unsupported: the tree has no splitter under the known name.
    """
    judged = subject(tree)
    readings = Readings(judged)
    rows: list[ReleaseRow] = []
    lifted: dict[str, Provenance] = {}
    refused: list[str] = []
    for scope in SCOPES:
        try:
            asked = questions(judged, scope)
        except Unsupported as refusal:
            refused.append(f"{scope.label}: {refusal}")
            continue
        for reading in asked[0].reading.lifted:
            lifted.setdefault(reading.provenance.sha256, reading.provenance)
        rows += _answered(judged, asked, readings)
    if refused:
        rows += executed(judged)
    return ReleaseReport(release, tuple(rows), tuple(lifted.values()), tuple(refused))


def _answered(judged: Subject, asked: list[Question], readings: Readings) -> list[ReleaseRow]:
    covered = solve(cover_text(asked[0]), RLIMIT).verdict == "sat"
    return [_row(judged, question, readings, covered=covered) for question in asked]


def _row(judged: Subject, question: Question, readings: Readings, *, covered: bool) -> ReleaseRow:
    answer = solve(question.text, RLIMIT)
    inputs: dict[str, int] = {}
    result: int | None = None
    replayed = minimal = False
    verdict: Verdict = "unknown"
    if answer.verdict == "unsat" and covered:
        verdict = "proved"
    elif answer.verdict == "sat":
        example, minimal = smallest(judged, question, answer.model, readings)
        verdict = "model finding"
        if example is not None:
            verdict, replayed = "refuted locally", True
            inputs, result = example.inputs, example.scheduled
    return ReleaseRow(
        obligation=question.obligation,
        domain=question.scope.label,
        verdict=verdict,
        inputs=inputs,
        result=result,
        replayed=replayed,
        minimal=minimal,
        seconds=answer.seconds,
        rlimit=answer.rlimit_used,
        text_sha256=answer.text_sha256,
    )
