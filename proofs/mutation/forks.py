"""Pieces of work, each in a forked process of its own, so many at a time, none for ever.

A process that dies or stays too long is an answer like any other.
"""

import multiprocessing
import resource
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess
from typing import Any

MEMORY_BYTES = 8 * 2**30
"""A fault may ask for a table without end."""


@dataclass(frozen=True, slots=True)
class Job:
    """`work` runs in the child; its result must be made of plain values."""

    name: str
    work: Callable[[], Any]


@dataclass(frozen=True, slots=True)
class Lost:
    """A child that gave no answer, and why."""

    why: str


@dataclass(frozen=True, slots=True)
class Broken:
    """The work itself raised: a defect of this package, not of what it plants."""

    why: str


def run_jobs(jobs: Iterable[Job], workers: int, limit_seconds: float) -> Iterator[tuple[Job, Any]]:
    """Answers as they come.

    Raises:
        RuntimeError: a piece of work raised.
    """
    context = multiprocessing.get_context("fork")
    left = iter(jobs)
    active: dict[Connection, tuple[Job, ForkProcess, float]] = {}
    more = True
    while more or active:
        while more and len(active) < workers:
            job = next(left, None)
            if job is None:
                more = False
                break
            ours, theirs = context.Pipe(duplex=False)
            process = context.Process(target=_child, args=(job.work, theirs))
            process.start()
            theirs.close()
            active[ours] = (job, process, time.monotonic() + limit_seconds)
        ready = wait(list(active), timeout=0.5)
        now = time.monotonic()
        for connection, (job, process, deadline) in list(active.items()):
            if connection in ready:
                answer = _received(connection)
                if isinstance(answer, Broken):
                    raise RuntimeError(f"{job.name}: {answer.why}")
                yield job, answer
            elif now > deadline:
                process.kill()
                yield job, Lost(f"no answer within {limit_seconds:.0f} s")
            else:
                continue
            del active[connection]
            process.join()
            connection.close()


def _received(connection: Connection) -> Any:
    try:
        return connection.recv()
    except EOFError:
        return Lost("the process died")


def _child(work: Callable[[], Any], connection: Connection) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    try:
        answer = work()
    except Exception as error:
        answer = Broken(f"{type(error).__name__}: {error}")
    connection.send(answer)
    connection.close()
