"""Plant everything that is asked for, one forked process a fault, and gather what became of it."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from truehit.proofs.mutation.baseline import Known, obligations_of, right_as_it_is
from truehit.proofs.mutation.catalogue import generated, planted_here, reasons_here
from truehit.proofs.mutation.fault import Fault, Rotten, apply
from truehit.proofs.mutation.forks import Job, Lost, run_jobs
from truehit.proofs.mutation.generated import sampled
from truehit.proofs.mutation.outcome import Outcome, outcome
from truehit.proofs.mutation.plant import Answer, Notice, find_witnesses, judge_fault
from truehit.proofs.mutation.unit_tests import failing_test
from truehit.proofs.mutation.witness import without_assertions

SAMPLE_PER_MILLE = 30
"""About a hundred of 3,400: a survivor costs twenty times what a noticed one does."""
LIMIT_SECONDS = 600.0
ASSERTED = "reference/asserted.py"
SUBJECTS = ("reference", "spec", "engine")

Named = tuple[str, Fault]
Progress = Callable[[int, int, str], None]


@dataclass(frozen=True, slots=True)
class Wanted:
    """`subjects` of SUBJECTS; `per_mille` of the operator mutants (1000: all); `words`: only faults
    whose file and name contain them. `in_full`: judges before tests, also where tests alone notice.
    `package`: the import root; `checkout`: where tests/ is."""

    package: Path
    checkout: Path
    subjects: tuple[str, ...] = SUBJECTS
    per_mille: int = SAMPLE_PER_MILLE
    workers: int = 2
    words: str = ""
    in_full: bool = False

    @property
    def regressions(self) -> Path:
        """The kept counterexamples."""
        return self.checkout / "tests" / "regressions"

    def text(self, file: str) -> str:
        """A source file as it is."""
        return (self.package / file).read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Result:
    """`silent`: a fault by hand and a law that should name it and does not."""

    outcomes: list[Outcome]
    silent: list[tuple[str, str]]


def chosen(wanted: Wanted) -> list[Named]:
    """All faults to plant, by name; every fragment is checked before anything runs.

    Raises:
        Rotten: a fault or a reason that no longer fits the source.
    """
    found = [(fault.what, fault) for fault in planted_here()]
    reasons = reasons_here()
    unused = set(reasons)
    for subject in SUBJECTS:
        for mutant in generated(wanted.package, subject):
            unused.discard(mutant.name)
            if sampled(mutant.name, wanted.per_mille):
                reason = reasons.get(mutant.name)
                found.append((mutant.name, replace(mutant.fault, equivalent=reason)))
    if unused:
        raise Rotten(f"operators.yaml: there is no mutant {min(unused)!r}")
    for _, fault in found:
        apply(wanted.text(fault.file), fault)
    return [
        (name, fault)
        for name, fault in found
        if fault.subject in wanted.subjects and wanted.words in f"{fault.file} {name}"
    ]


def run(wanted: Wanted, faults: list[Named], progress: Progress) -> Result:
    """Plant them all. `progress(done, total, line)` is called after each.

    Raises:
        NotContent: a judge complains although nothing is planted.
    """
    by_name = dict(faults)
    known = right_as_it_is(wanted.regressions, by_name.values(), wanted.workers)
    outcomes: list[Outcome] = []
    with TemporaryDirectory(prefix="truehit-mutation-") as folder:
        silent = list(_witnesses(wanted, by_name.values(), Path(folder)))
        work = [
            Job(name, partial(_ask, wanted, fault, known, Path(folder))) for name, fault in faults
        ]
        for job, answer in run_jobs(work, wanted.workers, LIMIT_SECONDS):
            if isinstance(answer, Lost):
                answer = ("caught", "limit", answer.why, LIMIT_SECONDS)
            outcomes.append(outcome(by_name[job.name], job.name, answer))
            progress(len(outcomes), len(work), f"{outcomes[-1].status}: {job.name}")
    order = {name: number for number, (name, _) in enumerate(faults)}
    return Result(sorted(outcomes, key=lambda o: order[o.name]), silent)


def _witnesses(wanted: Wanted, faults: Iterable[Fault], folder: Path) -> Iterator[tuple[str, str]]:
    """Fill the folder with traces of faulty oracles; yields what no law has named. Laws are asked
    about all of them, so all are needed as soon as one law is at fault."""
    asked = list(faults)
    if any(fault.subject == "spec" for fault in asked):
        asked = planted_here()
    named = [fault for fault in asked if fault.says]
    silenced = {ASSERTED: without_assertions(wanted.text(ASSERTED))}
    jobs = [
        Job(
            fault.what,
            partial(find_witnesses, wanted.package, fault, silenced, folder / f"{n:03}.pickle"),
        )
        for n, fault in enumerate(named)
    ]
    says = {fault.what: fault.says for fault in named}
    for job, answer in run_jobs(jobs, wanted.workers, LIMIT_SECONDS):
        for law in says[job.name] if isinstance(answer, Lost) else answer:
            yield job.name, law


def _ask(wanted: Wanted, fault: Fault, known: Known, folder: Path) -> Answer:
    """In the child: the judges of the fault's subject."""
    names = obligations_of(fault, wanted.text(fault.file), known.behind)
    witnesses = folder if fault.subject == "spec" else None

    def ask() -> Notice:
        # Imported here, so that they are those of the faulty package.
        from truehit.proofs.mutation import differential, judges

        if fault.subject == "engine":
            found = [judges.Judge("differential", differential.questions(known.told))]
        else:
            found = judges.judges(judges.Asked(wanted.regressions, names, witnesses))
        return judges.ask(found)

    def test(root: Path) -> Notice:
        from truehit.proofs.mutation import differential, judges

        if fault.subject == "reference" and fault.only != "unit tests":
            now = differential.questions(differential.runs_of_now())
            seen = judges.ask([judges.Judge("differential", now)])
            if seen is not None:
                return seen
        failed = failing_test(wanted.checkout, fault.subject, root)
        return None if failed is None else ("unit tests", failed)

    test_first = fault.only is not None and not wanted.in_full
    return judge_fault(wanted.package, fault, folder, ask, test, test_first)
