"""Every table of the package is found by importing its modules: no list to forget a kernel in.

Runs inside a child. What lies deeper than the package's own modules is no kernel of it (the control
is there); a module that cannot be imported is a problem, for its kernels would go unseen.
"""

import importlib
import pkgutil
from collections.abc import Iterator
from types import ModuleType

import truehit.kernels
from truehit.kernels.gate.measurement import Found, Job, Problem
from truehit.kernels.table import Architecture, KernelTable


def found(triton: str) -> Found:
    """All jobs of the package, kernels in the order of their modules' names."""
    jobs: dict[str, Job] = {}
    problems: list[Problem] = []
    seen: list[KernelTable] = []
    for info in pkgutil.iter_modules(truehit.kernels.__path__, "truehit.kernels."):
        try:
            module = importlib.import_module(info.name)
        # Whatever a module does when it is imported, the others are still to be judged.
        except Exception as error:
            problems.append(Problem(info.name, f"cannot be imported: {one_line(error)}"))
            continue
        for table in tables(module):
            if any(table is each for each in seen):
                continue
            seen.append(table)
            if not table.variants:
                problems.append(Problem(info.name, f"kernel {table.name} has no variant"))
            for job in jobs_of(info.name, table):
                first = jobs.setdefault(f"{job.name} {job.architecture}", job)
                if first is not job:
                    where = f"{job.name} {job.architecture}"
                    problems.append(Problem(info.name, f"{where} is also in {first.module}"))
    return Found(triton, tuple(jobs.values()), tuple(problems))


def tables(module: ModuleType) -> Iterator[KernelTable]:
    """Those with a name in the module, alone or in a tuple."""
    for value in vars(module).values():
        for each in value if isinstance(value, tuple) else (value,):
            if isinstance(each, KernelTable):
                yield each


def jobs_of(module: str, table: KernelTable) -> Iterator[Job]:
    """Each variant for each architecture."""
    for variant in table.variants:
        for architecture in Architecture:
            yield Job(module, table.name, variant.name, architecture)


def one_line(error: BaseException) -> str:
    """Its kind, and the last line of what it says: compilers put the reason there."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    said = lines[-1] if lines else "it says nothing"
    # "at 12:8:" counts from the first line of the function; the source line follows it.
    where = f"{lines[0].rstrip(':')}: " if len(lines) > 1 and lines[0].startswith("at ") else ""
    return f"{type(error).__name__}: {where}{said}"
