"""The GPU script without a GPU: planning, judging and rendering as they are; measuring for real on
the host, where kernels are interpreted and what is timed are their references."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import pytest
import torch

from truehit.kernels import decode
from truehit.kernels.table import KernelTable
from truehit.proofs.gpu import compiling
from truehit.proofs.gpu.__main__ import LIMIT_SECONDS, NO_GPU, main
from truehit.proofs.gpu.building import build
from truehit.proofs.gpu.cases import ALL, cases, uncased
from truehit.proofs.gpu.judge import EXIT, Goal, Judged, Reached, Verdict, goals, judge, wrong
from truehit.proofs.gpu.measuring import Job, is_lost, timed
from truehit.proofs.gpu.place import Place, bench
from truehit.proofs.gpu.plan import (
    BROKEN_STORY,
    COPY_RATE,
    ENDS,
    ENVIRONMENT,
    MATMUL,
    STORY,
    Plan,
    end_of,
    plan,
)
from truehit.proofs.gpu.record import (
    Ceiling,
    Checked,
    Compiled,
    Environment,
    Failed,
    Neutral,
    Record,
    Section,
    Timed,
    Unobserved,
    from_line,
    to_line,
)
from truehit.proofs.gpu.render import MOST_CHARACTERS, MOST_LINES, as_json, lines
from truehit.proofs.gpu.run import Setup, run, workers_of
from truehit.proofs.gpu.supervise import supervise
from truehit.proofs.gpu.timing import COLD_BYTES, ClockTimer, replays_of, sets_of
from truehit.proofs.gpu.trial import Trial, check
from truehit.proofs.gpu.workload import (
    LAYER,
    WORKLOADS,
    Kind,
    Layer,
    Workload,
    floor_bytes,
    stops,
    written_stops,
)

HOST = torch.device("cpu")
COPY_RATE_GB = 4000.0
GOOD_CHECK = Checked("copy_pages k128", 0.0, 0.0, 20, True, True)
GOOD_NEUTRAL = Neutral(STORY, "", 1e-6, 1e-4, 0, False)
TINY = Layer(1, 2, 16)
ITEMS = tuple(f"item {number}" for number in range(4))


# --- arithmetic ---------------------------------------------------------------------------------


def test_floor_of_decoding_is_a_state_read_and_a_state_written() -> None:
    state = 32 * 128 * 128 * 4
    tokens = 2 * (16 + 16 + 32 + 32) * 128 + 32 * (2 + 4)
    assert floor_bytes(Workload(Kind.DECODE, 8), LAYER) == 8 * (2 * state + tokens)
    assert floor_bytes(Workload(Kind.VERIFY, 8), LAYER) == 8 * (6 * state + 5 * tokens)
    assert floor_bytes(Workload(Kind.VERIFY, 8, is_peer=True), LAYER) == 8 * (
        2 * state + 5 * tokens
    )
    assert floor_bytes(Workload(Kind.COPY, 8), LAYER) == 16 * state


@pytest.mark.parametrize("kind", [Kind.PREFILL, Kind.RECURRENCE, Kind.CONV])
def test_a_boundary_adds_what_is_written_there(kind: Kind) -> None:
    plain, at_segments = (floor_bytes(Workload(kind, 8192, every), LAYER) for every in (0, 1024))
    page = LAYER.window_bytes if kind is Kind.CONV else LAYER.state_bytes
    assert at_segments - plain == 7 * page


def test_segments_end_where_states_are_written() -> None:
    assert stops(200, 0) == [64, 128, 192, 200]
    assert stops(200, 50) == [50, 64, 100, 128, 150, 192, 200]
    assert written_stops(200, 50) == [50, 100, 150, 200]
    assert written_stops(200, 0) == [200]
    assert max(later - earlier for earlier, later in pairwise([0, *stops(4000, 1616)])) <= 64


def test_sets_are_cold_and_replays_are_bounded() -> None:
    assert sets_of(COLD_BYTES // 8) == 8
    assert (sets_of(1), sets_of(1 << 40)) == (32, 3)
    assert (replays_of(1e-6), replays_of(0.01), replays_of(10.0)) == (100, 40, 10)
    assert [workers_of(cores) for cores in (1, 2, 8, 64)] == [1, 1, 6, 14]


def test_a_clock_tells_the_median_of_one_run() -> None:
    ticks = iter([0.0, 2.0, 10.0, 16.0, 20.0, 120.0])
    ran: list[int] = []
    timer = ClockTimer(lambda: next(ticks), 3)
    assert timer.measure([lambda: ran.append(1), lambda: ran.append(2)]) == (3.0, 3)
    assert ran == [1, 2] * 4, "once to warm up, then three times"


# --- the plan -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def whole() -> Plan:
    known = compiling.found()
    names = tuple(case.name for case in cases("k128", "k64"))
    return plan(known.items(), names, ())


def test_every_item_has_a_name_of_its_own(whole: Plan) -> None:
    items = [*chain(*whole.items.values()), *whole.uncased]
    assert len(items) == len(set(items))
    assert whole.optional <= set(items)
    assert set(whole.items) == set(Section)


def test_every_kernel_of_the_package_has_a_case(whole: Plan) -> None:
    assert uncased(compiling.found().kernels()) == ()
    assert uncased(("copy_pages", "a new one")) == ("a new one",)
    assert {item.split(" ")[0] for item in whole.items[Section.CORRECTNESS]} == set(ALL)


def test_sections_end_in_their_order_and_before_the_limit() -> None:
    ends = [ENDS[section] for section in Section]
    assert ends == sorted(ends)
    assert end_of(Section.TIMINGS, LIMIT_SECONDS) <= LIMIT_SECONDS - 10


# --- records ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "record",
    [GOOD_CHECK, GOOD_NEUTRAL, Timed("a", 1e-6, 9, 3, 7), replace(GOOD_CHECK, error=float("inf"))],
)
def test_a_record_survives_its_line(record: Record) -> None:
    assert from_line(to_line(record)) == record


@pytest.mark.parametrize(
    "line", ["", "{", "[]", '{"kind": "Nothing"}', '{"kind": "Timed", "item": "a"}']
)
def test_a_line_that_is_no_record_is_refused(line: str) -> None:
    with pytest.raises(ValueError):
        from_line(line)


# --- judging ------------------------------------------------------------------------------------


def small_plan(*, optional: frozenset[str] = frozenset()) -> Plan:
    items = dict.fromkeys(Section, ())
    return Plan(
        items | {Section.CORRECTNESS: (GOOD_CHECK.item,), Section.NEUTRALITY: (STORY,)},
        optional,
        (),
    )


def verdict_of(*records: Record) -> Verdict:
    return judge(small_plan(), records).verdict


def test_all_good_holds() -> None:
    assert verdict_of(GOOD_CHECK, GOOD_NEUTRAL) is Verdict.HOLDS
    assert [EXIT[verdict] for verdict in Verdict] == [0, 1, 3]


@pytest.mark.parametrize(
    ("record", "words"),
    [
        (replace(GOOD_CHECK, error=1e-3), "error 1.0e-03, at most 0e+00 is allowed"),
        (replace(GOOD_CHECK, error=float("nan")), "error nan"),
        (replace(GOOD_CHECK, is_repeatable=False), "20 repeats on equal inputs are not equal"),
        (replace(GOOD_CHECK, is_contained=False), "outside the pages"),
        (Failed(GOOD_CHECK.item, "RuntimeError: no"), "raised RuntimeError: no"),
        (Compiled("a/b", 1.0, "CompilationError: no"), "does not compile: CompilationError"),
        (replace(GOOD_NEUTRAL, difference="PageDiffers(...)"), "PageDiffers"),
        (replace(GOOD_NEUTRAL, largest=1.0), "logits differ by 1.0e+00"),
        (replace(GOOD_NEUTRAL, largest=float("nan")), "logits differ by nan"),
        (replace(GOOD_NEUTRAL, false_reads=2), "2 false reads, 0 are allowed"),
        (replace(GOOD_NEUTRAL, are_expected=True), "this check is blind"),
    ],
)
def test_what_is_wrong_refutes(record: Record, words: str) -> None:
    finding = wrong(record)
    assert finding is not None and words in finding.text
    judged = judge(small_plan(), [record])
    assert judged.verdict is Verdict.REFUTED, "and the other item is missing"
    assert judged.findings == (finding,)


def test_false_reads_of_historic_rules_are_wanted() -> None:
    assert wrong(replace(GOOD_NEUTRAL, are_expected=True, false_reads=2)) is None


def test_what_was_not_observed_is_unknown_and_told() -> None:
    judged = judge(small_plan(), [GOOD_CHECK, Unobserved(STORY, "no numba")])
    assert (judged.verdict, judged.missing) == (Verdict.UNKNOWN, (Unobserved(STORY, "no numba"),))
    silent = judge(small_plan(), [GOOD_CHECK])
    assert silent.missing == (Unobserved(STORY, "it did not run"),)
    kernel = judge(replace(small_plan(), uncased=("new",)), [GOOD_CHECK, GOOD_NEUTRAL])
    assert kernel.verdict is Verdict.UNKNOWN and kernel.missing[0].item == "new"


def test_what_is_optional_may_be_absent() -> None:
    judged = judge(small_plan(optional=frozenset({STORY})), [GOOD_CHECK])
    assert judged.verdict is Verdict.HOLDS
    assert [each.item for each in judged.absent] == [STORY]


# --- goals --------------------------------------------------------------------------------------


def at_speed(
    boundary_cost: float, library_speed: float, floor_share: float
) -> Iterator[Ceiling | Timed]:
    """Every timing, as if these were what is reached."""
    yield Ceiling(COPY_RATE, COPY_RATE_GB, "GB/s", 10)
    for workload in WORKLOADS:
        moved = floor_bytes(replace(workload, every_tokens=0, is_peer=False), LAYER)
        seconds = moved / (COPY_RATE_GB * 1e9) / floor_share
        seconds *= 1 + boundary_cost if workload.every_tokens else 1
        seconds *= library_speed if workload.is_peer else 1
        yield Timed(workload.name, seconds, 10, 3, floor_bytes(workload, LAYER))


@pytest.mark.parametrize(
    ("boundary_cost", "library_speed", "floor_share", "reached"),
    [
        (0.09, 1.01, 0.86, "met met met"),
        (0.11, 1.01, 0.86, "missed met met"),
        (0.09, 0.99, 0.86, "met missed met"),
        (0.09, 1.01, 0.84, "met met missed"),
    ],
)
def test_goals_are_words(
    boundary_cost: float, library_speed: float, floor_share: float, reached: str
) -> None:
    records = list(at_speed(boundary_cost, library_speed, floor_share))
    assert " ".join(goal.reached for goal in goals(records)) == reached
    judged = judge(small_plan(), [GOOD_CHECK, GOOD_NEUTRAL, *records])
    assert judged.verdict is Verdict.HOLDS, "speed refutes nothing"


def without(records: Sequence[Ceiling | Timed], dropped: str) -> tuple[Goal, ...]:
    return goals([record for record in records if record.item != dropped])


def test_a_goal_is_met_only_if_all_of_it_was_observed() -> None:
    good = list(at_speed(0.05, 1.1, 0.9))
    for dropped, which in (
        ("prefill T=8192 every 1616", 0),
        ("prefill T=2048 fla", 1),
        ("verify B=64", 2),
        (COPY_RATE, 2),
    ):
        assert without(good, dropped)[which].reached is Reached.NOT_OBSERVED
    bad = list(at_speed(0.2, 0.9, 0.5))
    assert without(bad, "prefill T=8192 every 1616")[0].reached is Reached.MISSED
    assert [goal.reached for goal in goals([])] == [Reached.NOT_OBSERVED] * 3


def test_small_batches_owe_no_floor() -> None:
    records = [
        replace(record, seconds=1.0)
        if isinstance(record, Timed) and record.item in ("decode B=16", "copy B=8")
        else record
        for record in at_speed(0.05, 1.1, 0.9)
    ]
    assert goals(records)[2].reached is Reached.MET


# --- the table ----------------------------------------------------------------------------------


def everything(whole: Plan, *, is_right: bool) -> list[Record]:
    """A record for every item; or all that can be wrong is."""
    error = 0.0 if is_right else float("inf")
    ceilings = Ceiling(MATMUL, 800.0, "TFLOPS", 9)
    found = Environment(ENVIRONMENT, "H200", "sm_90", "3.12", "2.11", "3.6", "13", "0.6")
    compiled = [
        Compiled(item, 1.0, "" if is_right else "Error: " + "long " * 60)
        for item in whole.items[Section.PRECOMPILE]
    ]
    checked = [
        replace(GOOD_CHECK, item=item, error=error) for item in whole.items[Section.CORRECTNESS]
    ]
    neutral = [
        replace(GOOD_NEUTRAL, item=item, largest=error) for item in whole.items[Section.NEUTRALITY]
    ]
    return [found, ceilings, *at_speed(0.05, 1.1, 0.9), *compiled, *checked, *neutral]


def test_the_table_of_a_whole_run(whole: Plan) -> None:
    records = everything(whole, is_right=True)
    judged = judge(whole, records)
    said = lines(records, judged, 5, 200.0)
    assert judged.verdict is Verdict.HOLDS and len(said) <= MOST_LINES
    assert said[-1] == "holds: 0 refuted, 0 not observed; 200 s"
    shown = "\n".join(said)
    for words in ("seed 5", "decode B=256", "+5.0% every 1616", "goal floor: met", " 90% ", "1.10"):
        assert words in shown
    assert all(kernel in shown for kernel in ALL)


def test_the_table_of_a_bad_run_is_no_longer(whole: Plan) -> None:
    records = everything(whole, is_right=False)
    reasons = [
        Unobserved(item, f"reason {number}")
        for number, item in enumerate(whole.items[Section.TIMINGS])
    ]
    kept = [record for record in records if not isinstance(record, Timed)]
    for shown in (records, [*kept, *reasons]):
        judged = judge(whole, shown)
        said = lines(shown, judged, 5, 200.0)
        assert len(said) <= MOST_LINES and max(map(len, said)) <= MOST_CHARACTERS
        assert "more lines in the JSON" in "\n".join(said)
        assert said[-1].startswith("refuted")


def test_the_json_is_whole_and_strict(whole: Plan) -> None:
    records = everything(whole, is_right=False)[:-1]
    text = json.dumps(as_json(records, judge(whole, records), 5, 200.0), allow_nan=False)
    read = json.loads(text)
    assert (read["schema"], read["seed"], read["verdict"]) == (1, 5, "refuted")
    assert read["correctness"][0]["error"] == "infinite"
    assert len(read["timings"]) == len(WORKLOADS)
    assert read["timings"][0]["floor_share"] == pytest.approx(0.9)
    assert [each["reason"] for each in read["not_observed"]] == ["it did not run"]


# --- processes and deadlines --------------------------------------------------------------------

ANSWERS = """
import json, os, signal, sys, time
job = json.load(sys.stdin)
for item in job["items"]:
    number = int(item.split()[1])
    {what}
    print(json.dumps({{"kind": "Unobserved", "item": item, "reason": "answered"}}), flush=True)
"""


def supervised(what: str, seconds: float = 20.0) -> dict[str, str]:
    """Reasons by item, of four items of a process that does this before each answer."""
    job = Job(Section.TIMINGS, ITEMS, Place.HOST, 0, 1, 90)
    records: list[Record] = []
    command = (sys.executable, "-c", ANSWERS.format(what=what))
    supervise(job, time.monotonic() + seconds, records.append, command)
    assert sorted(record.item for record in records) == list(ITEMS), "each item once"
    return {each.item: each.reason for each in records if isinstance(each, Unobserved)}


def test_a_process_that_answers() -> None:
    assert set(supervised("pass").values()) == {"answered"}


def test_a_process_that_dies_loses_the_item_it_died_at() -> None:
    reasons = supervised("if number == 1: os.kill(os.getpid(), signal.SIGSEGV)")
    assert reasons["item 1"] == "its process ended with signal 11: it wrote nothing"
    assert [reasons[f"item {n}"] for n in (0, 2, 3)] == ["answered"] * 3


def test_a_process_that_lost_its_device_is_followed_by_another() -> None:
    what = "if number and not os.environ.get('never') and number == 2: sys.exit(70)"
    reasons = supervised(what)
    assert reasons["item 2"] == "its process ended and said nothing of it"
    assert reasons["item 3"] == "answered"
    assert is_lost(Failed("a", "RuntimeError: CUDA error: an illegal memory access"))
    assert not is_lost(Failed("a", "ValueError: no"))


def test_a_process_that_says_something_else() -> None:
    reasons = supervised("if number == 0: print('hello', flush=True)")
    assert "Expecting value" in reasons["item 0"] and reasons["item 3"] == "answered"


def test_a_deadline_is_a_deadline() -> None:
    started = time.monotonic()
    reasons = supervised("if number == 1: time.sleep(60)", seconds=4.0)
    assert 3.5 < time.monotonic() - started < 6.0
    assert reasons["item 0"] == "answered"
    assert {reasons[f"item {n}"] for n in (1, 2, 3)} == {"no time was left"}


# --- checking a kernel --------------------------------------------------------------------------

Fault = Callable[[torch.Tensor, torch.Tensor], object]


def faulty(fault: Fault) -> Checked:
    """A trial of decoding whose launch is the rule in fp32, and then this to pool and output."""
    case = next(each for each in cases("k16") if each.name == "gated_delta_decode fp32/fp32 k16")
    trial = case.trial(3, HOST)
    rule = trial.rule

    def launch(pools: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
        (o,) = rule(pools)
        own = o.float()
        fault(pools[0], own)
        return (own,)

    return check("a", Trial(trial.pools, launch, rule, trial.tolerance), 3)


def test_a_right_launch_is_right() -> None:
    checked = faulty(lambda pool, o: None)
    assert wrong(checked) is None and 0 < checked.error < 1e-6


def test_a_wrong_number_is_told() -> None:
    assert faulty(lambda pool, o: o[0, 0, :1].add_(1e-3)).error > 1e-5


def test_an_output_nobody_wrote_is_told() -> None:
    assert faulty(lambda pool, o: o[0, 0, :1].fill_(float("nan"))).error == float("inf")


def test_a_shared_page_that_changes_is_told() -> None:
    case = next(each for each in cases("k16") if each.name == "gated_delta_decode fp32/fp32 k16")
    pool = case.trial(3, HOST).pools[0]
    shared = next(page for page in range(1, pool.shape[0]) if page not in pool.written.tolist())

    def fault(pool: torch.Tensor, o: torch.Tensor) -> None:
        pool[shared, 0, 0, 0] += 1

    assert not faulty(fault).is_contained


def test_a_gap_between_pages_that_changes_is_told() -> None:
    def fault(pool: torch.Tensor, o: torch.Tensor) -> None:
        page = pool[0].numel()
        torch.as_strided(pool, (1,), (1,), 2 * pool.stride(0) + page).zero_()

    assert not faulty(fault).is_contained


def test_a_race_is_told() -> None:
    launches: list[int] = []

    def fault(pool: torch.Tensor, o: torch.Tensor) -> None:
        launches.append(1)
        o[0, 0, 0] += 1e-7 * len(launches)

    checked = faulty(fault)
    assert not checked.is_repeatable and checked.error < 1e-5


def test_torch_fills_what_it_allocates_while_kernels_are_checked() -> None:
    torch.use_deterministic_algorithms(True, warn_only=True)
    try:
        assert torch.empty(3, dtype=torch.bfloat16).isnan().all()
    finally:
        torch.use_deterministic_algorithms(False)


def test_inputs_are_those_of_a_seed() -> None:
    case = next(each for each in cases("k16") if each.kernel == "state_recurrence")
    first, again, other = (case.trial(seed, HOST).pools[0].memory for seed in (1, 1, 2))
    assert torch.equal(first.nan_to_num(), again.nan_to_num())
    assert first.shape != other.shape or not torch.equal(first.nan_to_num(), other.nan_to_num())


# --- what is timed ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "workload",
    [
        Workload(Kind.DECODE, 3),
        Workload(Kind.VERIFY, 2),
        Workload(Kind.COPY, 3),
        Workload(Kind.CONV_DECODE, 3),
        Workload(Kind.CONV, 130, 50),
        Workload(Kind.RECURRENCE, 130, 50),
        Workload(Kind.PREFILL, 130, 50),
    ],
    ids=lambda workload: workload.name,
)
def test_every_workload_runs_on_its_references(workload: Workload) -> None:
    build(workload, TINY, bench(Place.HOST).operations, HOST)()


@pytest.mark.parametrize("kind", [Kind.CONV, Kind.RECURRENCE, Kind.PREFILL])
def test_what_is_timed_writes_its_boundaries(kind: Kind) -> None:
    given: list[tuple[Any, ...]] = []
    spy: Any = lambda *own: given.append(own)  # noqa: E731
    plain = bench(Place.HOST).operations
    operations = replace(plain, causal_conv=spy, recurrence=spy, chunk=spy)
    build(Workload(kind, 130, 50), TINY, operations, HOST)()
    tables = [own for own in given[0] if isinstance(own, torch.Tensor) and own.dtype == torch.int32]
    segments, _, targets = tables[-3:]
    assert segments[1:][targets > 0].tolist() == [50, 100, 130]
    assert len(set(targets[targets > 0].tolist())) == 3


@pytest.mark.parametrize("kind", [Kind.DECODE, Kind.PREFILL])
def test_the_library_is_said_to_be_missing(kind: Kind) -> None:
    launch = build(Workload(kind, 2, is_peer=True), TINY, bench(Place.HOST).operations, HOST)
    with pytest.raises(ImportError, match="on a GPU only"):
        launch()


def test_a_timing_is_what_its_clock_says() -> None:
    ticks = iter(range(100))
    place = replace(bench(Place.HOST), timer=ClockTimer(lambda: float(next(ticks)), 3))
    found = timed("decode B=2", place)
    moved = floor_bytes(Workload(Kind.DECODE, 2), TINY)
    assert found == Timed("decode B=2", 1 / sets_of(moved), 3, sets_of(moved), moved)


# --- compiling ----------------------------------------------------------------------------------


def broken(table: KernelTable) -> KernelTable:
    types = {name: kind for name, kind in table.variants[0].types.items() if name != "g"}
    return replace(table, variants=(replace(table.variants[0], types=types),))


def test_a_variant_that_does_not_compile_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    known = compiling.Found((broken(decode.TABLE),), (Compiled("m", 0.0, "ImportError: no"),))
    monkeypatch.setattr(compiling, "found", lambda: known)
    assert known.items()[0] == "m"
    assert wrong(compiling.compiled("m", 90)) is not None
    assert wrong(compiling.compiled(known.items()[1], 90)) is not None


# --- all of it, on the host ---------------------------------------------------------------------

TIMINGS = ("decode B=1", "copy B=1", "recurrence T=2048", "recurrence T=2048 every 1616")


@pytest.fixture(scope="module")
def on_host() -> tuple[Plan, list[Record]]:
    """Every kernel once in the interpreter, the story, a compilation, and some timings."""
    by_kernel: dict[str, list[str]] = {}
    for case in cases("k16"):
        by_kernel.setdefault(case.kernel, []).append(case.name)
    # fp32 here, bf16 there: all of them take too long.
    chosen = [names[-(number % 2)] for number, names in enumerate(by_kernel.values())]
    small = Plan(
        {
            Section.CEILINGS: (ENVIRONMENT, COPY_RATE, MATMUL),
            Section.PRECOMPILE: ("accepted_slots/int32", "copy_pages/copy"),
            Section.CORRECTNESS: tuple(chosen),
            Section.NEUTRALITY: (STORY, BROKEN_STORY),
            Section.TIMINGS: TIMINGS,
        },
        frozenset(),
        (),
    )
    setup = Setup(Place.HOST, 90, time.time_ns() % 2**32, 2, 1, time.monotonic(), LIMIT_SECONDS)
    return small, run(small, setup)


def judged_of(on_host: tuple[Plan, list[Record]]) -> Judged:
    return judge(*on_host)


def test_a_whole_run_on_the_host(on_host: tuple[Plan, list[Record]]) -> None:
    small, records = on_host
    judged = judged_of(on_host)
    assert judged.findings == () and judged.missing == ()
    assert judged.verdict is Verdict.HOLDS
    assert sorted(record.item for record in records) == sorted(chain(*small.items.values()))
    kinds = [type(record).__name__ for record in records if isinstance(record, Checked)]
    assert len(kinds) == len(ALL)


def test_the_model_shows_the_garbage_of_old_rules(on_host: tuple[Plan, list[Record]]) -> None:
    reads = {each.item: each.false_reads for each in on_host[1] if isinstance(each, Neutral)}
    assert reads[STORY] == 0 and reads[BROKEN_STORY] > 0


MISSING = """
import sys
sys.modules.update(dict.fromkeys(sys.argv[1].split(",")))
from truehit.proofs.gpu.cases import cases
from truehit.proofs.gpu.compiling import found
from truehit.proofs.gpu.measuring import Job, measured
from truehit.proofs.gpu.place import Place
from truehit.proofs.gpu.record import Section, to_line
assert not found().problems and cases("k16")
jobs = ((Section.NEUTRALITY, "story"), (Section.TIMINGS, "decode B=1"))
for section, item in jobs:
    for record in measured(Job(section, (item,), Place.HOST, 0, 1, 90)):
        print(to_line(record))
"""


def test_a_machine_with_torch_and_triton_only_loses_the_model_only() -> None:
    missing = "pydantic,numba,yaml,typer,rich,joblib,z3,jinja2,fla,einops,transformers"
    command = (sys.executable, "-P", "-c", MISSING, missing)
    done = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    model, timing = map(from_line, done.stdout.splitlines())
    assert isinstance(model, Unobserved) and "ModuleNotFoundError" in model.reason
    assert isinstance(timing, Timed)


def test_a_host_without_a_gpu_is_bad_input() -> None:
    hidden = {**os.environ, "CUDA_VISIBLE_DEVICES": "", "PYTHONSAFEPATH": "1"}
    command = (sys.executable, "-m", "truehit.proofs.gpu")
    done = subprocess.run(command, env=hidden, capture_output=True, text=True, timeout=100)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"gpu: {NO_GPU}\n")


@pytest.mark.parametrize("seconds", ["59", "301", "nan"])
def test_a_limit_that_cannot_be_is_bad_input(
    seconds: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--limit-seconds", seconds]) == 2
    assert capsys.readouterr().err == f"gpu: --limit-seconds is {seconds}; 60 to 300 would do\n"


def test_a_file_that_cannot_be_written_is_told_before_anything_is_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--json", str(tmp_path)]) == 2
    told = f"gpu: {tmp_path}: is a directory; a file to write would do\n"
    assert capsys.readouterr().err == told
