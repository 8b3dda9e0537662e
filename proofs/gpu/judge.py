"""What the records of a run amount to: a pure function of the plan and of them.

Wrong results refute. A goal of speed that is missed is said, and refutes nothing. What was planned
and not observed makes a run unknown, unless something is refuted."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from truehit.proofs.gpu.plan import COPY_RATE, Plan
from truehit.proofs.gpu.record import (
    Ceiling,
    Checked,
    Compiled,
    Environment,
    Failed,
    Neutral,
    Record,
    Timed,
    Unobserved,
)
from truehit.proofs.gpu.workload import (
    BATCHES,
    BOUNDARIES,
    LENGTHS,
    SOME_BATCHES,
    Kind,
    Workload,
)

BOUNDARY_COST_LIMIT = 0.10
LIBRARY_SPEED_LEAST = 1.0
FLOOR_SHARE_LEAST = 0.85
FLOOR_BATCH_LEAST = 32


class Verdict(StrEnum):
    HOLDS = "holds"
    REFUTED = "refuted"
    UNKNOWN = "unknown"


EXIT = {Verdict.HOLDS: 0, Verdict.REFUTED: 1, Verdict.UNKNOWN: 3}


class Reached(StrEnum):
    MET = "met"
    MISSED = "missed"
    NOT_OBSERVED = "not observed"


@dataclass(frozen=True, slots=True)
class Goal:
    """`text`: what is asked, and the worst that was seen."""

    name: str
    reached: Reached
    text: str


@dataclass(frozen=True, slots=True)
class Finding:
    """Why a run is refuted; one line."""

    item: str
    text: str


@dataclass(frozen=True, slots=True)
class Judged:
    """`missing`: planned, mandatory and not observed; `absent`: optional and not observed."""

    verdict: Verdict
    findings: tuple[Finding, ...]
    missing: tuple[Unobserved, ...]
    absent: tuple[Unobserved, ...]
    goals: tuple[Goal, ...]


def judge(plan: Plan, records: Sequence[Record]) -> Judged:
    """The whole run."""
    findings = tuple(each for record in records if (each := wrong(record)) is not None)
    unobserved = tuple(_unobserved(plan, records))
    missing = tuple(each for each in unobserved if each.item not in plan.optional)
    verdict = Verdict.REFUTED if findings else Verdict.UNKNOWN if missing else Verdict.HOLDS
    absent = tuple(each for each in unobserved if each.item in plan.optional)
    return Judged(verdict, findings, missing, absent, goals(records))


def wrong(record: Record) -> Finding | None:
    """What refutes in one record."""
    match record:
        case Compiled(item, _, problem) if problem:
            return Finding(item, f"does not compile: {problem}")
        case Checked() as checked:
            words = "; ".join(_wrong_check(checked))
            return Finding(checked.item, words) if words else None
        case Neutral() as neutral:
            words = "; ".join(_wrong_neutral(neutral))
            return Finding(neutral.item, words) if words else None
        case Failed(item, problem):
            return Finding(item, f"raised {problem}")
        case _:
            return None


def _wrong_check(checked: Checked) -> Iterator[str]:
    # Written so that NaN is wrong.
    if not checked.error <= checked.tolerance:
        yield f"error {checked.error:.1e}, at most {checked.tolerance:.0e} is allowed"
    if not checked.is_repeatable:
        yield f"{checked.repeats} repeats on equal inputs are not equal"
    if not checked.is_contained:
        yield "bytes changed outside the pages to be written"


def _wrong_neutral(neutral: Neutral) -> Iterator[str]:
    if neutral.difference:
        yield neutral.difference
    if not neutral.largest <= neutral.tolerance:
        yield f"logits differ by {neutral.largest:.1e}, at most {neutral.tolerance:.0e} is allowed"
    if neutral.are_expected and not neutral.false_reads:
        yield "0 false reads, and historic rules must show some: this check is blind"
    if neutral.false_reads and not neutral.are_expected:
        yield f"{neutral.false_reads} false reads, 0 are allowed"


def _unobserved(plan: Plan, records: Iterable[Record]) -> Iterator[Unobserved]:
    by_item = {record.item: record for record in records}
    for items in plan.items.values():
        for item in items:
            match by_item.get(item):
                case None:
                    yield Unobserved(item, "it did not run")
                case Unobserved() as told:
                    yield told
                case _:
                    pass
    for kernel in plan.uncased:
        yield Unobserved(kernel, "no case of this script runs it")


# --- goals --------------------------------------------------------------------------------------


def goals(records: Iterable[Record]) -> tuple[Goal, ...]:
    """The three of them."""
    kept = list(records)
    seconds = {record.item: record.seconds for record in kept if isinstance(record, Timed)}
    return (_boundaries(seconds), _library(seconds), _floor(kept))


def ratio(over: float | None, under: float | None) -> float | None:
    """Of two figures that were both observed."""
    return None if over is None or under is None else over / under


def _boundaries(seconds: Mapping[str, float]) -> Goal:
    ratios: list[tuple[str, float | None]] = []
    for kind in (Kind.RECURRENCE, Kind.PREFILL):
        for tokens in LENGTHS:
            plain = seconds.get(Workload(kind, tokens).name)
            for every in BOUNDARIES:
                workload = Workload(kind, tokens, every)
                ratios.append((workload.name, ratio(seconds.get(workload.name), plain)))
    return _goal(
        "boundary states",
        f"written for at most {BOUNDARY_COST_LIMIT:.0%} of time",
        [(name, None if each is None else each - 1) for name, each in ratios],
        BOUNDARY_COST_LIMIT,
        is_least=False,
    )


def _library(seconds: Mapping[str, float]) -> Goal:
    ratios = [
        (
            Workload(Kind.PREFILL, tokens).name,
            ratio(
                seconds.get(Workload(Kind.PREFILL, tokens, is_peer=True).name),
                seconds.get(Workload(Kind.PREFILL, tokens).name),
            ),
        )
        for tokens in LENGTHS
    ]
    return _goal(
        "prefill",
        f"at least {LIBRARY_SPEED_LEAST:.0%} of flash-linear-attention's speed",
        ratios,
        LIBRARY_SPEED_LEAST,
        is_least=True,
    )


def _floor(records: Sequence[Record]) -> Goal:
    rate = copy_rate(records)
    timed = {record.item: record for record in records if isinstance(record, Timed)}
    batches = {Kind.DECODE: BATCHES, Kind.VERIFY: SOME_BATCHES, Kind.COPY: SOME_BATCHES}
    names = [
        Workload(kind, rows).name
        for kind, sizes in batches.items()
        for rows in sizes
        if rows >= FLOOR_BATCH_LEAST
    ]
    shares = [(name, floor_share(timed[name], rate) if name in timed else None) for name in names]
    return _goal(
        "floor",
        f"at least {FLOOR_SHARE_LEAST:.0%} of the byte floor from B={FLOOR_BATCH_LEAST}",
        shares,
        FLOOR_SHARE_LEAST,
        is_least=True,
    )


def copy_rate(records: Iterable[Record]) -> float | None:
    """Bytes read and written a second, as measured."""
    for record in records:
        match record:
            case Ceiling(item=item, figure=figure) if item == COPY_RATE:
                return figure * 1e9
            case _:
                pass
    return None


def floor_share(timed: Timed, rate: float | None) -> float | None:
    """The time its bytes take at the copy rate over the time it took."""
    return None if rate is None else timed.moved_bytes / rate / timed.seconds


def _goal(
    name: str,
    asked: str,
    figures: Sequence[tuple[str, float | None]],
    limit: float,
    *,
    is_least: bool,
) -> Goal:
    """Missed by one figure is missed; met only if every figure was observed."""
    seen = [(figure, at) for at, figure in figures if figure is not None]
    if not seen:
        return Goal(name, Reached.NOT_OBSERVED, f"{asked}: nothing observed")
    worst, at = min(seen) if is_least else max(seen)
    text = f"{asked}: worst {worst:.1%} ({at}), {len(seen)} of {len(figures)} observed"
    if worst < limit if is_least else worst > limit:
        return Goal(name, Reached.MISSED, text)
    return Goal(name, Reached.MET if len(seen) == len(figures) else Reached.NOT_OBSERVED, text)


def environment(records: Iterable[Record]) -> Environment | None:
    """If the first section got that far."""
    return next((record for record in records if isinstance(record, Environment)), None)
