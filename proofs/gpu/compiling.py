"""Every variant of every table, compiled as a launch will ask for it, into Triton's own cache.

Tables are found by importing the package's modules: no list to forget a kernel in. (The compile
gate finds them the same way, but with a library that a machine with a GPU may not have.)"""

import importlib
import pkgutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import truehit.kernels
from truehit.kernels.table import Architecture, KernelTable, Variant
from truehit.proofs.gpu.record import Compiled

WARP_THREADS = 32
ALIGNED = [["tt.divisibility", 16]]


@dataclass(frozen=True, slots=True)
class Found:
    """`problems`: modules that cannot be imported; their kernels are unseen."""

    tables: tuple[KernelTable, ...]
    problems: tuple[Compiled, ...]

    def items(self) -> tuple[str, ...]:
        """What there is to compile, by name."""
        variants = tuple(f"{t.name}/{variant.name}" for t in self.tables for variant in t.variants)
        return (*(problem.item for problem in self.problems), *variants)

    def kernels(self) -> tuple[str, ...]:
        """By name."""
        return tuple(table.name for table in self.tables)


def found() -> Found:
    """All tables of the package."""
    by_name: dict[str, KernelTable] = {}
    problems: list[Compiled] = []
    for info in pkgutil.iter_modules(truehit.kernels.__path__, "truehit.kernels."):
        if info.ispkg:
            continue
        try:
            module = importlib.import_module(info.name)
        # Whatever a module does when it is imported, the others are still to be compiled.
        except Exception as error:
            problems.append(Compiled(info.name, 0.0, one_line(error)))
            continue
        for table in _tables(vars(module).values()):
            by_name.setdefault(table.name, table)
    return Found(tuple(by_name.values()), tuple(problems))


def _tables(values: Any) -> Iterator[KernelTable]:
    for value in values:
        for each in value if isinstance(value, tuple) else (value,):
            if isinstance(each, KernelTable):
                yield each


def compiled(item: str, capability: int) -> Compiled:
    """One item for an architecture such as 90; whatever the compiler raises is an answer too."""
    known = found()
    for problem in known.problems:
        if problem.item == item:
            return problem
    name, _, of_variant = item.partition("/")
    table = next(each for each in known.tables if each.name == name)
    variant = next(each for each in table.variants if each.name == of_variant)
    started = time.monotonic()
    try:
        _compile(table, variant, capability)
    except Exception as error:
        return Compiled(item, time.monotonic() - started, one_line(error))
    return Compiled(item, time.monotonic() - started, "")


def architecture_for(capability: int) -> Architecture:
    """As `table.architecture_of`, without a device."""
    match capability // 10:
        case 8:
            return Architecture.SM_80
        case 9:
            return Architecture.SM_90
        case _:
            return Architecture.SM_100


def _compile(table: KernelTable, variant: Variant, capability: int) -> None:
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    config = table.config(variant.name, architecture_for(capability))
    names = table.function.arg_names
    constants = {**variant.constants, **config.tiles}
    source = ASTSource(
        table.function,
        {name: variant.types.get(name, "constexpr") for name in names},
        {(at,): constants[name] for at, name in enumerate(names) if name in constants},
        # In the order of the arguments, as at a launch: the cache's key has it.
        {(at,): ALIGNED for at, name in enumerate(names) if name in variant.aligned},
    )
    target = GPUTarget("cuda", capability, WARP_THREADS)
    options = {"num_warps": config.warps, "num_stages": config.stages}
    triton.compile(source, target=target, options=options)


def one_line(error: BaseException) -> str:
    """Its kind and its last line."""
    said = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {said[-1] if said else 'it says nothing'}"
