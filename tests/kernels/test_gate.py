"""The gate is believed because it refutes: each limit, each way a compiler can fail to answer, and
real kernels that break the rules, compiled with the installed Triton."""

import json
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from truehit.kernels.gate import toolchain
from truehit.kernels.gate.child import Child, ChildLost
from truehit.kernels.gate.judge import BLOCKING, Verdict, compare, judge
from truehit.kernels.gate.measurement import (
    Answer,
    Found,
    Job,
    Lost,
    Measured,
    Problem,
    Rejected,
    Taken,
)
from truehit.kernels.gate.registers import COMMITTED, BadTable, Registers, read, write
from truehit.kernels.gate.report import lines
from truehit.kernels.gate.run import CONTROLS, Measurements, judged
from truehit.kernels.gate.toolchain import INSTALLED, NotBrought, NoVersion, Toolchain, bring
from truehit.kernels.gate.worker import Benches, started
from truehit.kernels.table import Architecture

SM_80, SM_90, SM_100 = Architecture
GOOD = Measured(
    warps=4,
    stages=2,
    registers=100,
    stack_bytes=0,
    spill_store_bytes=0,
    spill_load_bytes=0,
    shared_bytes=32768,
    tensor_memory_columns=0,
    matrix={"mma": 8},
    rounded_to_tf32=0,
    expects_matrix=True,
)
SPILLED = replace(GOOD, registers=255, spill_store_bytes=80, spill_load_bytes=84)


def job(architecture: Architecture = SM_80, kernel: str = "copy") -> Job:
    return Job("truehit.kernels.pages", kernel, "fp32", architecture)


def texts(answer: Answer, architecture: Architecture = SM_80) -> list[str]:
    return [finding.text for finding in judge(Taken(job(architecture), answer))]


# --- judging --------------------------------------------------------------------------------------


def test_what_is_within_every_limit_holds() -> None:
    assert texts(GOOD) == []
    assert compare(Taken(job(), GOOD), 100) == ()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"spill_store_bytes": 8}, "spills 8 bytes of stores and 0 of loads"),
        ({"spill_load_bytes": 4}, "spills 0 bytes of stores and 4 of loads"),
        ({"matrix": {}}, "has 0 matrix instructions"),
        ({"matrix": {"mma": 0}}, "has 0 matrix instructions"),
        ({"tensor_memory_columns": 513}, "asks for 513 columns of tensor memory"),
    ],
)
def test_each_number_over_its_limit_is_named(change: dict[str, object], said: str) -> None:
    (text,) = texts(replace(GOOD, **change))  # type: ignore[arg-type]
    assert text.startswith(said)


def test_no_matrix_instruction_is_asked_of_a_variant_that_expects_none() -> None:
    assert texts(replace(GOOD, matrix={}, expects_matrix=False)) == []


@pytest.mark.parametrize(
    ("architecture", "limit_bytes"), [(SM_80, 166912), (SM_90, 232448), (SM_100, 232448)]
)
def test_shared_memory_may_reach_its_limit_and_not_pass_it(
    architecture: Architecture, limit_bytes: int
) -> None:
    assert texts(replace(GOOD, shared_bytes=limit_bytes), architecture) == []
    (text,) = texts(replace(GOOD, shared_bytes=limit_bytes + 16), architecture)
    assert str(limit_bytes + 16) in text and str(limit_bytes) in text


@pytest.mark.parametrize(
    ("registers", "said"),
    [
        (110, []),
        (
            111,
            [
                "uses 111 registers; 100 are recorded, so at most 110 are allowed; "
                "--record writes the new number if it is meant"
            ],
        ),
    ],
)
def test_registers_may_grow_by_a_tenth(registers: int, said: list[str]) -> None:
    found = compare(Taken(job(), replace(GOOD, registers=registers)), 100)
    assert [each.text for each in found] == said


def test_the_registers_of_a_kernel_that_spills_say_nothing() -> None:
    spilled = Taken(job(), replace(SPILLED, registers=32))
    assert compare(spilled, None) == compare(spilled, 16) == ()
    assert Registers({}).with_measured("3.6.0", (spilled,), whole=True).counts == {"3.6.0": {}}


def test_a_kernel_that_nothing_is_recorded_of_is_refuted() -> None:
    (finding,) = compare(Taken(job(), GOOD), None)
    assert finding.verdict is Verdict.REFUTED and "--record" in finding.text


def outcome_of(
    answer: Answer, architecture: Architecture = SM_80, control: Answer = SPILLED
) -> Verdict:
    return judged(run_of(answer, architecture, control), (), recorded(architecture)).verdict


def run_of(answer: Answer, architecture: Architecture, control: Answer) -> Measurements:
    controls = tuple(Taken(each, control) for each in CONTROLS)
    return Measurements("3.6.0", controls, (Taken(job(architecture), answer),), (), whole=True)


def recorded(architecture: Architecture) -> Registers:
    return Registers({"3.6.0": {"copy/fp32": {architecture.value: 100}}})


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        (GOOD, Verdict.HOLDS),
        (SPILLED, Verdict.REFUTED),
        (Rejected("CompilationError: no"), Verdict.REFUTED),
        (Lost("no answer in 300 s"), Verdict.UNKNOWN),
    ],
)
def test_one_bad_compilation_decides_the_run(answer: Answer, verdict: Verdict) -> None:
    assert outcome_of(answer) is verdict
    assert outcome_of(answer, SM_90) is verdict


def test_growth_and_a_missing_record_decide_a_run_too() -> None:
    run = run_of(GOOD, SM_80, SPILLED)
    assert judged(run, (), Registers({})).verdict is Verdict.REFUTED
    grown = Registers({"3.6.0": {"copy/fp32": {"sm_80": 50}}})
    assert judged(run, (), grown).verdict is Verdict.REFUTED


def test_what_is_found_on_an_architecture_that_is_only_reported_is_told_and_blocks_nothing() -> (
    None
):
    outcome = judged(run_of(SPILLED, SM_100, SPILLED), (), recorded(SM_100))
    assert outcome.verdict is Verdict.HOLDS
    assert any(
        line.startswith("reported copy/fp32 sm_100a: spills 80") for line in lines(outcome, 1.0)
    )


@pytest.mark.parametrize(
    ("control", "verdict"),
    [
        (GOOD, Verdict.REFUTED),
        (Rejected("it does not compile"), Verdict.REFUTED),
        (Lost("no answer"), Verdict.UNKNOWN),
    ],
)
def test_a_control_that_is_not_refuted_fails_the_gate(control: Answer, verdict: Verdict) -> None:
    assert outcome_of(GOOD, control=control) is verdict
    said = "\n".join(lines(judged(run_of(GOOD, SM_80, control), (), recorded(SM_80)), 1.0))
    assert "NOT refuted" in said and "0 of 2 controls refuted" in said


def test_a_module_that_cannot_be_looked_at_refutes() -> None:
    broken = replace(run_of(GOOD, SM_80, SPILLED), problems=(Problem("truehit.kernels.odd", "no"),))
    assert judged(broken, (), recorded(SM_80)).verdict is Verdict.REFUTED


def test_a_line_names_kernel_variant_architecture_number_and_limit() -> None:
    said = list(lines(judged(run_of(SPILLED, SM_80, SPILLED), (), recorded(SM_80)), 1.0))
    assert said[3].split() == [
        *("copy/fp32", "sm_80", "4", "255", "100", "0", "80/84", "32768", "166912", "mma", "8"),
        "refuted",
    ]
    assert said[4].startswith("REFUTED copy/fp32 sm_80: spills 80 bytes of stores and 84 of loads")
    assert said[-1].startswith("refuted: 1 kernels, 1 compilations judged with triton 3.6.0")


# --- registers ------------------------------------------------------------------------------------


def test_a_table_is_read_as_it_was_written(tmp_path: Path) -> None:
    table = Registers({"3.6.0": {"copy/fp32": {"sm_80": 100, "sm_90a": 90}}, "3.8.0": {}})
    write(tmp_path / "registers.json", table)
    assert read(tmp_path / "registers.json") == table


def test_a_run_of_some_kernels_keeps_the_others_and_a_whole_run_forgets_what_is_gone() -> None:
    before = Registers({"3.6.0": {"gone/fp32": {"sm_80": 7}, "copy/fp32": {"sm_90a": 3}}})
    taken = (Taken(job(), GOOD), Taken(job(SM_90), Rejected("no")))
    some = before.with_measured("3.6.0", taken, whole=False)
    assert some.counts["3.6.0"] == {
        "gone/fp32": {"sm_80": 7},
        "copy/fp32": {"sm_80": 100, "sm_90a": 3},
    }
    assert before.of("3.6.0", job()) is None
    assert before.with_measured("3.6.0", taken, whole=True).counts["3.6.0"] == {
        "copy/fp32": {"sm_80": 100}
    }


def test_a_file_that_is_no_table_is_named(tmp_path: Path) -> None:
    path = tmp_path / "registers.json"
    path.write_text('{"3.6.0": {"copy/fp32": {"sm_80": "many"}}}')
    with pytest.raises(BadTable, match=r"registers\.json: 3\.6\.0/copy/fp32/sm_80: .*integer"):
        read(path)


# --- toolchains -----------------------------------------------------------------------------------


def quiet(_: str) -> None:
    pass


def test_the_installed_release_is_not_brought_again() -> None:
    version = toolchain.installed_version()
    assert version is not None
    assert bring(version, quiet) == bring(INSTALLED, quiet)
    assert bring(INSTALLED, quiet).path == ()


def test_what_cannot_be_a_version_is_refused() -> None:
    with pytest.raises(NoVersion, match=r"'3\.6; rm' is no version of triton"):
        bring("3.6; rm", quiet)


def test_a_release_is_brought_whole_and_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel(tmp_path, "9.9.9")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    told: list[str] = []
    brought = bring("9.9.9", told.append)
    assert bring("9.9.9", told.append) == brought
    assert len(told) == 1
    (folder,) = brought.path
    assert (folder / "triton" / "__init__.py").exists()
    assert [each.name for each in folder.parent.iterdir()] == [folder.name]


def test_a_release_that_pip_cannot_bring_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with pytest.raises(NotBrought, match=r"triton==9\.9\.8 is not in the cache and pip cannot"):
        bring("9.9.8", quiet)
    assert list((tmp_path / "cache" / "truehit" / "environments").iterdir()) == []


def wheel(folder: Path, version: str) -> None:
    """The smallest thing that pip installs under the name."""
    info = f"triton-{version}.dist-info"
    with zipfile.ZipFile(folder / f"triton-{version}-py3-none-any.whl", "w") as archive:
        archive.writestr("triton/__init__.py", "")
        archive.writestr(
            f"{info}/METADATA", f"Metadata-Version: 2.1\nName: triton\nVersion: {version}\n"
        )
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")


def test_a_child_is_not_an_interpreter_and_has_nobodys_options(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("TRITON_INTERPRET", "PTXAS_OPTIONS", "DISABLE_PTXAS_OPT", "PYTHONPATH"):
        monkeypatch.setenv(name, "1")
    variables = Toolchain("3.6.0", (Path("/somewhere"),), Path("/cache")).variables()
    assert variables["PYTHONPATH"] == "/somewhere"
    assert not {"TRITON_INTERPRET", "PTXAS_OPTIONS", "DISABLE_PTXAS_OPT"} & variables.keys()


# --- real compilations ----------------------------------------------------------------------------

BAD_KERNELS = """
import time, os
import triton
import triton.language as tl
from truehit.kernels.table import Architecture, Config, KernelTable, Variant

@triton.jit
def product(a, b, c, n, STEP: tl.constexpr, SIZE: tl.constexpr, SIGN: tl.constexpr = 1):
    rows = tl.arange(0, SIZE)[:, None] * SIZE
    columns = tl.arange(0, SIZE)[None, :]
    total = tl.zeros((SIZE, SIZE), tl.float32)
    for step in range(n):
        at = step * STEP + rows + columns
        total += tl.dot(tl.load(a + at), tl.load(b + at)) * SIGN
    tl.store(c + rows + columns, total)

@triton.jit
def double(a, c, SIZE: tl.constexpr):
    at = tl.arange(0, SIZE)
    tl.store(c + at, tl.load(a + at) * 2)

@triton.jit
def wrong(a, SIZE: tl.constexpr):
    at = tl.arange(0, SIZE)
    tl.store(a + at, tl.no_such_thing(at))

def everywhere(stages, warps=4, **tiles):
    return dict.fromkeys(Architecture, Config(tiles, warps=warps, stages=stages))

POINTERS = {"a": "*bf16", "b": "*bf16", "c": "*fp32"}
ALIGNED = frozenset({"a", "b", "c"})
FP32 = dict.fromkeys("abc", "*fp32")
PRODUCT = KernelTable(
    "product",
    product,
    (
        Variant("bf16", POINTERS | {"n": "i32"}, {"STEP": 4096}, ALIGNED, tensor_cores=True),
        Variant("fp32", FP32 | {"n": "i32"}, {"STEP": 4096}, ALIGNED, tensor_cores=True),
        Variant("greedy", POINTERS | {"n": "i32"}, {"STEP": 4096}, ALIGNED),
        Variant("untyped", POINTERS, {"STEP": 4096}),
        Variant("misspelt", POINTERS | {"n": "i32", "m": "i32"}, {"STEP": 4096}),
        Variant("folded", POINTERS, {"n": 2, "STEP": 4096}),
        Variant("unfixed", POINTERS | {"n": "i32", "STEP": "i32"}, {}),
    ),
    everywhere(2, SIZE=64),
    {("greedy", each): Config({"SIZE": 256}, warps=8, stages=3) for each in Architecture},
)
DOUBLE = KernelTable(
    "double",
    double,
    (
        Variant("plain", {"a": "*fp32", "c": "*fp32"}, {}),
        Variant("claims", {"a": "*fp32", "c": "*fp32"}, {}, tensor_cores=True),
    ),
    {Architecture.SM_80: Config({"SIZE": 64}, warps=1, stages=1)},
)
WRONG = KernelTable("wrong", wrong, (Variant("fp32", {"a": "*fp32"}, {}),), everywhere(1, SIZE=64))
"""


@pytest.fixture(scope="module")
def bad(tmp_path_factory: pytest.TempPathFactory) -> Toolchain:
    """The installed Triton, with a module of kernels that break the rules within reach."""
    folder = tmp_path_factory.mktemp("kernels")
    (folder / "bad_kernels.py").write_text(BAD_KERNELS)
    (folder / "ends.py").write_text("import os\nos._exit(9)\n")
    (folder / "sleeps.py").write_text("import time\ntime.sleep(600)\n")
    installed = bring(INSTALLED, quiet)
    return replace(installed, path=(folder,), compiled=folder / "compiled")


@pytest.fixture(scope="module")
def benches(bad: Toolchain) -> Iterator[Benches]:
    with started(bad) as children:
        yield children


def compiled(
    benches: Benches, kernel: str, variant: str, architecture: Architecture = SM_80
) -> Taken:
    (taken,) = benches.take([Job("bad_kernels", kernel, variant, architecture)])
    return taken


def reason(taken: Taken) -> str:
    assert isinstance(taken.answer, Rejected)
    return taken.answer.rejection


def test_the_control_is_refuted_by_its_spills(benches: Benches) -> None:
    for taken in benches.take(CONTROLS):
        (finding,) = judge(taken)
        assert taken.job.architecture in BLOCKING
        assert finding.text.startswith("spills ")


@pytest.mark.parametrize(
    ("architecture", "family"), [(SM_80, "mma"), (SM_90, "wgmma"), (SM_100, "tcgen05")]
)
def test_matrix_instructions_are_counted(
    benches: Benches, architecture: Architecture, family: str
) -> None:
    taken = compiled(benches, "product", "bf16", architecture)
    assert judge(taken) == ()
    assert isinstance(taken.answer, Measured)
    assert taken.answer.matrix.keys() == {family} and taken.answer.matrix[family] > 0
    assert taken.answer.rounded_to_tf32 == 0
    assert 16 < taken.answer.registers <= 255 and taken.answer.shared_bytes >= 16384


def test_fp32_operands_that_are_rounded_to_tf32_are_counted(benches: Benches) -> None:
    answer = compiled(benches, "product", "fp32").answer
    assert isinstance(answer, Measured)
    assert answer.rounded_to_tf32 == answer.matrix["mma"] > 0


def test_a_kernel_that_asks_for_too_much_shared_memory_is_refuted(benches: Benches) -> None:
    taken = compiled(benches, "product", "greedy")
    assert isinstance(taken.answer, Measured) and taken.answer.shared_bytes > 163 << 10
    assert any("bytes of shared memory" in finding.text for finding in judge(taken))


def test_a_kernel_without_the_matrix_instructions_it_claims_is_refuted(benches: Benches) -> None:
    assert judge(compiled(benches, "double", "plain")) == ()
    (finding,) = judge(compiled(benches, "double", "claims"))
    assert "0 matrix instructions" in finding.text


def test_what_is_read_from_the_cache_equals_what_was_compiled(
    benches: Benches, bad: Toolchain
) -> None:
    first = compiled(benches, "product", "bf16")
    with started(bad, processes=1) as again:
        assert compiled(again, "product", "bf16") == first
    for kept in bad.compiled.glob("*.ptxas"):
        kept.unlink()
    assert compiled(benches, "product", "bf16") == first


def test_a_compilers_reason_is_one_line(benches: Benches) -> None:
    assert "CompilationError: at 3:" in reason(compiled(benches, "wrong", "fp32"))
    assert "\n" not in reason(compiled(benches, "wrong", "fp32"))


@pytest.mark.parametrize(
    ("variant", "said"),
    [
        ("untyped", "argument n has no type and no value in its table"),
        ("misspelt", "its table names m, which is no argument of product"),
        ("folded", "argument n is run-time: its value 2 would not be compiled in"),
        ("unfixed", "argument STEP is compile-time and needs a value, not a type"),
    ],
)
def test_a_table_that_no_launch_would_compile_is_refused(
    benches: Benches, variant: str, said: str
) -> None:
    assert reason(compiled(benches, "product", variant)) == said


def test_a_missing_configuration_is_named(benches: Benches) -> None:
    assert reason(compiled(benches, "double", "plain", SM_90)) == (
        "its table has no configuration for sm_90a"
    )


def test_a_child_that_ends_loses_one_job_and_no_other(bad: Toolchain) -> None:
    good = Job("bad_kernels", "double", "plain", SM_80)
    with started(bad, processes=1) as children:
        lost, taken = children.take([Job("ends", "any", "any", SM_80), good])
    assert isinstance(lost.answer, Lost) and "ended with code 9" in lost.answer.loss
    assert judge(taken) == ()


def test_a_child_that_is_late_is_ended(bad: Toolchain) -> None:
    child = Child(bad, limit_seconds=60)
    child._limit_seconds = 1
    with pytest.raises(ChildLost, match=r"no answer in 1 s"):
        child.ask(Job("sleeps", "any", "any", SM_80))
    child.close()


# --- the package ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def package(benches: Benches) -> Found:
    return benches.found()


def test_every_module_can_be_looked_at_and_the_control_is_no_kernel(package: Found) -> None:
    assert package.problems == ()
    assert package.jobs
    assert "spiller" not in {each.kernel for each in package.jobs}


def test_registers_are_recorded_of_exactly_the_kernels_there_are(package: Found) -> None:
    expected = {
        (each.name, each.architecture.value)
        for each in package.jobs
        if each.architecture in BLOCKING
    }
    counts = read(COMMITTED).counts["3.6.0"]
    there = {(name, architecture) for name, of in counts.items() for architecture in of}
    assert {each for each in there if each[1] != SM_100.value} == expected


# --- the command line -----------------------------------------------------------------------------


def gate(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "truehit.kernels.gate", "--triton", INSTALLED]
    return subprocess.run(
        [*line, *map(str, arguments)], capture_output=True, text=True, check=False
    )


def test_it_records_holds_and_refutes(tmp_path: Path, package: Found) -> None:
    kernel = package.jobs[0].name
    table, record = tmp_path / "registers.json", tmp_path / "gate.json"
    only = ("--only", kernel, "--registers", table)
    written = gate(*only, "--record", "--json", record)
    assert written.returncode == 0, written.stdout
    assert written.stdout.splitlines()[0].startswith("control: spiller/fp32 on sm_80 is refuted")
    said = json.loads(record.read_text())
    assert said["verdict"] == "holds" and len(said["kernels"]) == len(Architecture)
    of = read(table).counts[package.triton][kernel]
    halved = {architecture: registers // 2 for architecture, registers in of.items()}
    write(table, Registers({package.triton: {kernel: halved}}))
    grown = gate(*only)
    assert grown.returncode == 1
    assert f"REFUTED {kernel} sm_80: uses {of['sm_80']} registers; {halved['sm_80']} are" in (
        grown.stdout
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--only", "nothing"), "gate: no kernel is named nothing; there are "),
        (("--triton", "three"), "gate: 'three' is no version of triton"),
    ],
)
def test_bad_input_is_one_line(arguments: tuple[str, ...], said: str) -> None:
    done = gate(*arguments)
    assert done.returncode == 2
    assert done.stderr.startswith(said) and done.stderr.count("\n") == 1
