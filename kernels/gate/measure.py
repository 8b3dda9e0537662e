"""Compile one variant for one architecture and read the figures of that very compilation.

Runs inside a child whose Triton is the one asked for. Registers, stack and spills are ptxas's own
words, which Triton prints when TRITON_DUMP_PTXAS_LOG is set: asking ptxas a second time would be a
different compilation (Triton adds options of its own, others in each release). They are printed
only when something is compiled, so they are kept beside Triton's cache.
"""

import contextlib
import importlib
import io
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from truehit.kernels.gate.discover import one_line, tables
from truehit.kernels.gate.measurement import Job, Measured, Rejected
from truehit.kernels.table import Architecture, Config, KernelTable, Variant

CAPABILITY = {Architecture.SM_80: 80, Architecture.SM_90: 90, Architecture.SM_100: 100}
WARP_THREADS = 32
REGISTERS = re.compile(r"Used (\d+) registers")
STATIC_SHARED = re.compile(r"(\d+) bytes smem")
STACK = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
# A matrix instruction is counted where it is issued; its fences and commits are not.
FAMILIES = {
    "mma": re.compile(r"\bmma\.sync\S*"),
    "wgmma": re.compile(r"\bwgmma\.mma_async\S*"),
    "tcgen05": re.compile(r"\btcgen05\.mma\S*"),
}


def measure(job: Job) -> Measured | Rejected:
    """Compile it; whatever the compiler raises is an answer too."""
    module = importlib.import_module(job.module)
    table = next(each for each in tables(module) if each.name == job.kernel)
    variant = next(each for each in table.variants if each.name == job.variant)
    try:
        config = table.config(job.variant, job.architecture)
    except KeyError:
        return Rejected(f"its table has no configuration for {job.architecture}")
    wrong = misfit(table, variant, config)
    if wrong is not None:
        return Rejected(wrong)
    try:
        compiled, log = compiled_with_log(table, variant, config, job.architecture)
    except Exception as error:
        return Rejected(one_line(error))
    return read(compiled, log, variant, config)


def misfit(table: KernelTable, variant: Variant, config: Config) -> str | None:
    """Why a table is not what a launch would compile, or None: each argument is given once, and
    the only values a launch folds into a run-time argument are None and 1."""
    given = [*variant.types, *variant.constants, *config.tiles]
    arguments = {each.name: each.is_constexpr for each in table.function.params}
    defaults = {each.name for each in table.function.params if each.has_default}
    for name in arguments:
        if given.count(name) != 1 and not (name in defaults and name not in given):
            times = "no type and no value" if name not in given else "more than one type or value"
            return f"argument {name} has {times} in its table"
    for name in (*given, *variant.aligned):
        if name not in arguments:
            return f"its table names {name}, which is no argument of {table.function.__name__}"
    for name in variant.types:
        if arguments[name]:
            return f"argument {name} is compile-time and needs a value, not a type"
    for name, value in {**variant.constants, **config.tiles}.items():
        if not arguments[name] and value is not None and (value is True or value != 1):
            return f"argument {name} is run-time: its value {value} would not be compiled in"
    return None


def compiled_with_log(
    table: KernelTable, variant: Variant, config: Config, architecture: Architecture
) -> tuple[Any, str]:
    """The compiled kernel, and what ptxas said of it."""
    function = table.function
    defaults = {each.name: each.default for each in function.params if each.has_default}
    source = ASTSource(
        function,
        {name: variant.types.get(name, "constexpr") for name in function.arg_names},
        {
            name: value
            for name, value in {**defaults, **variant.constants, **config.tiles}.items()
            if name not in variant.types
        },
        {
            (function.arg_names.index(name),): [["tt.divisibility", 16]]
            for name in sorted(variant.aligned)
        },
    )
    target = GPUTarget("cuda", CAPABILITY[architecture], WARP_THREADS)
    options = {"num_warps": config.warps, "num_stages": config.stages}
    compiled, printed = _compile(source, target, options)
    kept = Path(os.environ["TRITON_CACHE_DIR"]) / f"{compiled.hash}.ptxas"
    if not printed and not kept.exists():
        with triton.knobs.compilation.scope():
            triton.knobs.compilation.always_compile = True
            compiled, printed = _compile(source, target, options)
    if printed:
        # Another child may be writing the same words.
        whole = kept.with_suffix(f".{os.getpid()}")
        whole.write_text(printed, encoding="utf-8")
        whole.replace(kept)
    return compiled, kept.read_text(encoding="utf-8")


def _compile(source: Any, target: Any, options: Mapping[str, int]) -> tuple[Any, str]:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        compiled = triton.compile(source, target=target, options=dict(options))
    return compiled, printed.getvalue()


def read(compiled: Any, log: str, variant: Variant, config: Config) -> Measured | Rejected:
    """The figures, or that ptxas's words are not the ones known here."""
    registers, stack = REGISTERS.search(log), STACK.search(log)
    if registers is None or stack is None:
        return Rejected(f"ptxas did not say what it used: {log[:80]!r}")
    static = STATIC_SHARED.search(log)
    ptx = compiled.asm["ptx"]
    issued = {family: pattern.findall(ptx) for family, pattern in FAMILIES.items()}
    return Measured(
        warps=config.warps,
        stages=config.stages,
        registers=int(registers[1]),
        stack_bytes=int(stack[1]),
        spill_store_bytes=int(stack[2]),
        spill_load_bytes=int(stack[3]),
        shared_bytes=compiled.metadata.shared + (int(static[1]) if static else 0),
        tensor_memory_columns=compiled.metadata.tmem_size,
        matrix={family: len(found) for family, found in issued.items() if found},
        rounded_to_tf32=sum("tf32" in each for found in issued.values() for each in found),
        expects_matrix=variant.tensor_cores,
    )
