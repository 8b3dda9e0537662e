"""Prove our own rules: every obligation, its controls, its cover points and its havoc control.

`prove_all` asks z3 afresh and reads the second solver's answers from the record; `reprove_second`
asks the second solver again, and `renew_record` keeps what it said; `refute` gives the smallest
inputs on which a historic rule set fails.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version

import joblib

from truehit.proofs.obligations import ask, recorded
from truehit.proofs.obligations.catalogue import BY_NAME, OBLIGATIONS, refuters
from truehit.proofs.obligations.lifted_places import places
from truehit.proofs.obligations.minimise import Refutation, smallest
from truehit.proofs.obligations.obligation import Obligation
from truehit.proofs.second import solve_again
from truehit.proofs.solve import Answer

WORKERS = 2
Named = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class ObligationResult:
    """What came out of one obligation. `seconds` and `rlimit`: z3's, over all its questions.

    `solvers`: z3's verdict, and the second solver's as recorded. `text_sha256`: of all texts that
    were proved, in order. `lifted`: file, line and hash of every function of ours that was lifted.
    """

    name: str
    law: str
    domain: str
    verdict: str
    controls: Named
    covers: Named
    havoc: str
    seconds: float
    rlimit: int
    solvers: dict[str, str]
    text_sha256: str
    lifted: tuple[tuple[str, int, str], ...]
    inputs: dict[str, int | bool]

    @property
    def holds(self) -> bool:
        """Proved, every wrong rule refuted, every interesting case possible."""
        refuted = all(verdict == "refuted" for _, verdict in self.controls)
        satisfied = all(verdict == "satisfied" for _, verdict in self.covers)
        return self.verdict == "proved" and refuted and satisfied and self.havoc == "refuted"


@dataclass(eq=False)
class Disagreement(Exception):
    """Two solvers give different definite answers to one text."""

    obligation: str
    text_sha256: str
    first: str
    second: str

    def __str__(self) -> str:
        return (
            f"{self.obligation}: z3 says {self.first}, cvc5 says {self.second} to text "
            f"{self.text_sha256[:12]}"
        )


def prove_all(
    progress: Callable[[ObligationResult], None] | None = None,
    names: Sequence[str] = tuple(BY_NAME),
) -> list[ObligationResult]:
    """Ask about every obligation, on two cores, in the order of the catalogue.

    Raises:
        ValueError: there is nothing to prove.
        Disagreement: a recorded answer contradicts z3's.
    """
    if not names:
        raise ValueError("no obligation to prove; name at least one")
    results: list[ObligationResult] = []
    asked = joblib.Parallel(n_jobs=WORKERS, return_as="generator")(
        joblib.delayed(prove_one)(name) for name in names
    )
    for result in asked:
        results.append(result)
        if progress is not None:
            progress(result)
    return results


def prove_one(name: str) -> ObligationResult:
    """Ask about one obligation."""
    obligation = BY_NAME[name]
    proofs = [ask.prove(obligation, encoding) for encoding in obligation.encodings]
    controls = [(wrong.name, ask.control(obligation, wrong)) for wrong in obligation.controls]
    covers = [(wanted.name, ask.cover(obligation, wanted)) for wanted in obligation.covers]
    havoc = ask.havoc(obligation)
    everything = [*proofs, *(f for _, f in controls), *(f for _, f in covers), havoc]
    verdict = _together([finding.verdict for finding in proofs])
    return ObligationResult(
        name=name,
        law=obligation.law,
        domain=obligation.domain,
        verdict=verdict,
        controls=tuple((wrong, finding.verdict) for wrong, finding in controls),
        covers=tuple((wanted, finding.verdict) for wanted, finding in covers),
        havoc=havoc.verdict,
        seconds=sum(finding.answer.seconds for finding in everything),
        rlimit=sum(finding.answer.rlimit_used for finding in everything),
        solvers={"z3": verdict, "cvc5": _recorded(obligation, [f.answer for f in proofs])},
        text_sha256=hashlib.sha256("".join(f.text for f in proofs).encode()).hexdigest(),
        lifted=places(proofs),
        inputs=next((finding.inputs for finding in proofs if finding.inputs), {}),
    )


def refute(rule_set_name: str) -> Refutation | None:
    """The smallest refutation of a historic rule set; None if no obligation speaks of it."""
    found = (smallest(obligation, control) for obligation, control in refuters(rule_set_name))
    return next((refutation for refutation in found if refutation is not None), None)


def reprove_second(
    limit_seconds: float = 120.0, progress: Callable[[str, Answer], None] | None = None
) -> dict[str, str]:
    """Ask the second solver about every text that z3 has proved, on two cores: answers by hash.

    Raises:
        Disagreement: it finds a model where z3 says there is none.
    """
    answers: dict[str, str] = {}
    work = [(o.name, text) for o in OBLIGATIONS for text in ask.texts(o)]
    asked = joblib.Parallel(n_jobs=WORKERS, return_as="generator")(
        joblib.delayed(solve_again)(text, limit_seconds) for _, text in work
    )
    for (name, _), answer in zip(work, asked, strict=True):
        if answer.verdict == "sat":
            raise Disagreement(name, answer.text_sha256, "unsat", "sat")
        answers[answer.text_sha256] = answer.verdict
        if progress is not None:
            progress(name, answer)
    return answers


def renew_record(answers: dict[str, str]) -> None:
    """Write the second solver's answers down, in place of the older ones."""
    recorded.write(version("cvc5"), answers)


def _together(verdicts: list[str]) -> str:
    """The worst of several verdicts; an obligation without a question is none."""
    if not verdicts:
        raise ValueError("an obligation without an encoding asks nothing")
    for worst in ("refuted", "model finding", "unknown"):
        if worst in verdicts:
            return worst
    return "proved"


def _recorded(obligation: Obligation, answers: list[Answer]) -> str:
    """What the record says of the texts z3 has answered."""
    known = recorded.read()
    said = [known.get(answer.text_sha256) for answer in answers]
    for answer, second in zip(answers, said, strict=True):
        definite = second in ("sat", "unsat") and answer.verdict in ("sat", "unsat")
        if definite and second != answer.verdict:
            raise Disagreement(obligation.name, answer.text_sha256, answer.verdict, str(second))
    missing = said.count(None)
    if missing:
        return f"{missing} of {len(said)} not recorded"
    undecided = said.count("unknown")
    return f"recorded, {undecided} of {len(said)} undecided" if undecided else "recorded"
