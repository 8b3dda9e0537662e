"""Before anything is planted: every judge is content, and what each obligation was lifted from.

A judge that is not content without a fault would call everything caught.
"""

import ast
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from truehit.proofs.mutation.differential import Told, questions, runs_of_now, told_runs
from truehit.proofs.mutation.fault import Fault, first_line
from truehit.proofs.mutation.forks import Job, Lost, run_jobs
from truehit.proofs.mutation.judges import Asked, Judge, ask, judges
from truehit.proofs.mutation.overlay import PACKAGE
from truehit.proofs.mutation.proved import Place, lifted
from truehit.proofs.obligations.catalogue import BY_NAME

LIMIT_SECONDS = 600.0
LIFTED = ("reference/rules/", "reference/decide", "spec/predicates/")
"""Where the functions that obligations speak of are."""


class NotContent(Exception):
    """A judge complains although nothing is planted; one line."""


@dataclass(frozen=True, slots=True)
class Known:
    """`behind`: obligation -> the functions it lifts, cheapest obligations first. `told`: runs of
    the oracle that the engine is held to."""

    behind: dict[str, list[Place]]
    told: list[Told]


def right_as_it_is(regressions: Path, faults: Iterable[Fault], workers: int) -> Known:
    """Ask every judge that will be asked; obligations only if a fault is in a file that is lifted.

    Raises:
        NotContent: a judge complains, or an obligation does not hold.
    """
    subjects = {fault.subject for fault in faults}
    told = told_runs() if "engine" in subjects else []
    jobs: list[Job] = []
    if subjects & {"reference", "spec"}:
        jobs.append(Job("judges", lambda: ask(judges(Asked(regressions, (), None)))))
    if subjects & {"reference", "engine"}:
        held = told or runs_of_now()
        jobs.append(Job("differential", lambda: ask([Judge("differential", questions(held))])))
    if any(fault.file.startswith(LIFTED) for fault in faults):
        jobs += [Job(name, partial(_timed, name)) for name in BY_NAME]
    behind: list[tuple[float, str, list[Place]]] = []
    for job, answer in run_jobs(jobs, workers, LIMIT_SECONDS):
        if isinstance(answer, Lost):
            raise NotContent(f"{job.name}: {answer.why}")
        if job.name not in BY_NAME:
            if answer is not None:
                raise NotContent(f"nothing is planted, but {answer[0]} saw {answer[1]}")
            continue
        seconds, places, holds = answer
        if not holds:
            raise NotContent(f"nothing is planted, but obligation {job.name} does not hold")
        behind.append((seconds, job.name, places))
    return Known({name: places for _, name, places in sorted(behind)}, told)


def _timed(name: str) -> tuple[float, list[Place], bool]:
    started = time.process_time()
    places, holds = lifted(name)
    return time.process_time() - started, places, holds


def obligations_of(fault: Fault, text: str, behind: dict[str, list[Place]]) -> tuple[str, ...]:
    """The obligations that lift the function the fault is in; all of the file's outside one."""
    line = first_line(text, fault)
    inside = {node.lineno for node in _functions(text) if node.lineno <= line <= _end(node)}
    file = f"{PACKAGE}/{fault.file}"
    return tuple(
        name
        for name, places in behind.items()
        if any(f == file and (at in inside or not inside) for f, at in places)
    )


def _functions(text: str) -> Iterator[ast.FunctionDef]:
    return (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef))


def _end(node: ast.FunctionDef) -> int:
    return node.end_lineno or node.lineno
