"""The judges of the oracle and of the laws, in the order they are asked: the cheap ones first.

drawn: scenarios of every pair of features, judged by all laws. survivors: the scenarios that
surviving faults asked for, likewise. regressions: the kept counterexample
of each historic defect, with its exact sentence. witnesses: runs of faulty oracles, each of which a
law has named (asked about the laws only). historic: drawn scenarios in which every historic defect
has to show. golden: the numbers of the public threads. proofs: every obligation that lifts the
changed function, with its controls, cases and havoc.

Not asked: whether the readings of a rule agree. A fault changes what CPython runs and what is
lifted alike.
"""

import ast
import pickle
import re
import signal
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import FrameType

from truehit.proofs.golden.entries import Entry, derivable_entries
from truehit.proofs.golden.results import all_cases
from truehit.proofs.golden.verdict import judge
from truehit.proofs.mutation.proved import unproved
from truehit.proofs.mutation.survivors import SCENARIOS
from truehit.proofs.regress.judged import first_of, judged
from truehit.proofs.regress.targets import TARGETS, Target
from truehit.proofs.regress.write import check, file_name
from truehit.proofs.sweep.draw import draw
from truehit.proofs.sweep.run import feature_sets
from truehit.reference.ruleset import DEFAULT
from truehit.spec.laws.judge import check_trace
from truehit.spec.scenario import Scenario
from truehit.spec.trace import Event

FIRST_RUNS = 162
"""Two of each covering set of features."""
MORE_RUNS = 486
"""Six of each covering set in all."""
HISTORIC_RUNS = 60
"""Every historic defect shows within 40 draws of its own."""
HANG_SECONDS = 20
"""Of the processor, for one question; the dearest takes 10 on a right oracle."""

Seen = str | None
"""What a judge noticed, in one line, or nothing."""
Question = tuple[str, Callable[[], Seen]]


@dataclass(frozen=True, slots=True)
class Judge:
    """`questions`: each with its name; the first that notices something ends it."""

    name: str
    questions: Iterator[Question]


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked about one fault. `obligations`: by name. `witnesses`: folder, or none."""

    regressions: Path
    obligations: tuple[str, ...]
    witnesses: Path | None


class Hangs(BaseException):
    """One question takes far longer than on a right oracle."""


def judges(asked: Asked) -> list[Judge]:
    """All judges, cheap ones first."""
    found = [
        Judge("drawn", _drawn(0, FIRST_RUNS)),
        Judge("survivors", _survivors()),
        Judge("regressions", _kept(asked.regressions)),
    ]
    if asked.witnesses is not None:
        found.append(Judge("witnesses", _witnesses(asked.witnesses)))
    found += [
        Judge("historic", _historic()),
        Judge("golden", _golden()),
        Judge("proofs", _proofs(asked.obligations)),
        Judge("drawn", _drawn(FIRST_RUNS, MORE_RUNS)),
    ]
    return found


def ask(asked: Sequence[Judge]) -> tuple[str, str] | None:
    """The first judge that notices anything, and what; None if all are content."""
    signal.signal(signal.SIGPROF, _hang)
    for each in asked:
        for name, question in each.questions:
            signal.setitimer(signal.ITIMER_PROF, HANG_SECONDS)
            try:
                seen = question()
            except Hangs:
                seen = f"no answer within {HANG_SECONDS} s"
            except Exception as error:
                seen = f"raised {type(error).__name__}: {error}"
            finally:
                signal.setitimer(signal.ITIMER_PROF, 0)
            if seen is not None:
                return each.name, _one_line(f"{name}: {seen}")
    return None


def _hang(number: int, frame: FrameType | None) -> None:
    raise Hangs


def _one_line(text: str) -> str:
    return " ".join(text.split())[:200]


# --- the questions --------------------------------------------------------------------------------


def _drawn(first: int, after: int) -> Iterator[Question]:
    for seed in range(first, after):
        yield f"seed {seed}", partial(drawn, seed)


def drawn(seed: int) -> Seen:
    """One drawn scenario is lawful."""
    sets = feature_sets(DEFAULT.name)
    return unlawful(draw(seed, sets[seed % len(sets)]))


def _survivors() -> Iterator[Question]:
    for scenario in SCENARIOS:
        yield scenario.name, partial(unlawful, scenario)


def unlawful(scenario: Scenario) -> Seen:
    """The first law that a scenario breaks, or the first request that never ends."""
    _, verdict = judged(scenario, DEFAULT.name)
    if verdict.violations:
        return f"{verdict.violations[0].law}: {verdict.violations[0].sentence}"
    return f"request {verdict.open_requests[0]} never ends" if verdict.open_requests else None


def _kept(folder: Path) -> Iterator[Question]:
    for target in TARGETS:
        yield target.rules, partial(kept, target, folder / file_name(target.rules))


def kept(target: Target, path: Path) -> Seen:
    """A committed counterexample tells the rules apart, in the words it asserts."""
    found = check(path, target)
    if not found.holds:
        return "the rules beside it do not hold"
    if found.sentence is None:
        return f"{target.law} says nothing"
    wanted = kept_sentence(path)
    return None if found.sentence == wanted else f"{found.sentence!r}, not {wanted!r}"


def kept_sentence(path: Path) -> str:
    """The sentence that a committed counterexample asserts."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Compare(
                left=ast.Attribute(attr="sentence"), comparators=[ast.Constant(value=str(text))]
            ):
                return re.sub(r"\s+", " ", text)
    raise ValueError(f"{path.name}: asserts no sentence; `truehit regress` writes one")


def _witnesses(folder: Path) -> Iterator[Question]:
    for path in sorted(folder.glob("*.pickle")):
        what, traces = pickle.loads(path.read_bytes())
        for law, events in traces:
            yield what, partial(named, law, events)


def named(law: str, events: tuple[Event, ...]) -> Seen:
    """The law has something to say of the trace."""
    return None if check_trace(events).of_law(law) else f"{law} says nothing"


def _historic() -> Iterator[Question]:
    for rules in {target.rules: None for target in TARGETS}:
        yield rules, partial(shows, rules)


def shows(rules: str) -> Seen:
    """The defect of a historic rule set shows in one of its first draws."""
    sets = feature_sets(rules)
    targets = [target for target in TARGETS if target.rules == rules]
    for seed in range(HISTORIC_RUNS):
        _, verdict = judged(draw(seed, sets[seed % len(sets)]), rules)
        if any(first_of(verdict, t.law, t.saying) is not None for t in targets):
            return None
    return f"does not show in {HISTORIC_RUNS} draws"


def _golden() -> Iterator[Question]:
    for entry in derivable_entries():
        yield entry.name, partial(golden, entry)


def golden(entry: Entry) -> Seen:
    """One golden entry is computed as it is expected."""
    result = judge(entry, all_cases()[entry.name])
    return result.detail if result.status == "failed" else None


def _proofs(names: Sequence[str]) -> Iterator[Question]:
    for name in names:
        yield name, partial(unproved, name)
