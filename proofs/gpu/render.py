"""A judged run as a table of at most 60 lines, and as JSON. Pure."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from truehit.proofs.gpu.judge import Judged, copy_rate, environment, floor_share, ratio, wrong
from truehit.proofs.gpu.record import Ceiling, Checked, Compiled, Neutral, Record, Timed, Unobserved
from truehit.proofs.gpu.workload import WORKLOADS, Workload

SCHEMA = 1
MOST_LINES = 60
MOST_CHARACTERS = 150
COLUMNS = f"{'timing':<24} {'us':>9} {'of floor':>9} {'fla us':>9} {'x fla':>6}  with states"


def lines(records: Sequence[Record], judged: Judged, seed: int, seconds: float) -> list[str]:
    """The table; the last line is the verdict."""
    said = [
        *_head(records, seed),
        *_correctness(records),
        *_timings(records),
        *(f"goal {goal.name}: {goal.reached}; {goal.text}" for goal in judged.goals),
    ]
    kinds = (
        [f"REFUTED {each.item}: {each.text}" for each in judged.findings],
        _grouped(judged.missing, "not observed"),
        _grouped(judged.absent, "not observed (optional)"),
    )
    most = max((MOST_LINES - len(said) - 1) // len(kinds), 1)
    for kind in kinds:
        said += _some(kind, most)
    said.append(_closing(judged, seconds))
    return [line[:MOST_CHARACTERS] for line in said]


def _head(records: Sequence[Record], seed: int) -> Iterator[str]:
    found = environment(records)
    if found is not None:
        yield (
            f"{found.gpu} ({found.architecture}), cuda {found.cuda}, python {found.python}, "
            f"torch {found.torch}, triton {found.triton}, fla {found.library}; seed {seed}"
        )
    for record in records:
        match record:
            case Ceiling() as ceiling:
                yield f"ceiling {ceiling.item}: {ceiling.figure:.0f} {ceiling.unit}"
            case _:
                pass
    compiled = [record for record in records if isinstance(record, Compiled)]
    if compiled:
        bad = sum(bool(each.problem) for each in compiled)
        yield f"compiled {len(compiled) - bad} of {len(compiled)} variants"


def _correctness(records: Iterable[Record]) -> Iterator[str]:
    """One line a kernel: the worst of its cases."""
    by_kernel: dict[str, list[Checked]] = {}
    neutral: list[Neutral] = []
    for record in records:
        match record:
            case Checked() as checked:
                by_kernel.setdefault(checked.item.split(" ")[0], []).append(checked)
            case Neutral() as each:
                neutral.append(each)
            case _:
                pass
    for kernel, cases in by_kernel.items():
        bad = sum(wrong(case) is not None for case in cases)
        worst = max(cases, key=lambda case: case.error / (case.tolerance or 1.0))
        yield (
            f"{kernel:<22} {len(cases) - bad} of {len(cases)} cases hold, each {worst.repeats} "
            f"times; nearest to its limit: {worst.error:.1e} of {worst.tolerance:.0e}"
        )
    if neutral:
        bad = sum(wrong(each) is not None for each in neutral)
        plain = [each.largest for each in neutral if not each.are_expected]
        yield (
            f"{'neutrality':<22} {len(neutral) - bad} of {len(neutral)} scenarios hold; logits "
            f"within {max(plain, default=0.0):.1e}"
        )


def _timings(records: Sequence[Record]) -> Iterator[str]:
    timed = {record.item: record for record in records if isinstance(record, Timed)}
    rate = copy_rate(records)
    shown = [w for w in WORKLOADS if not w.is_peer and not w.every_tokens and w.name in timed]
    if shown:
        yield COLUMNS
    for workload in shown:
        own = timed[workload.name]
        peer = timed.get(Workload(workload.kind, workload.size, is_peer=True).name)
        peer_seconds = None if peer is None else peer.seconds
        costs = [
            f"{cost - 1:+.1%} every {each.every_tokens}"
            for each in WORKLOADS
            if (each.kind, each.size) == (workload.kind, workload.size) and each.every_tokens
            if (cost := _cost(timed, each, own)) is not None
        ]
        yield (
            f"{workload.name:<24} {own.seconds * 1e6:>9.1f} {_percent(floor_share(own, rate)):>9} "
            f"{_number(None if peer_seconds is None else peer_seconds * 1e6):>9} "
            f"{_number(ratio(peer_seconds, own.seconds), 2):>6}  {', '.join(costs)}"
        ).rstrip()


def _cost(timed: Mapping[str, Timed], each: Workload, plain: Timed) -> float | None:
    found = timed.get(each.name)
    return None if found is None else found.seconds / plain.seconds


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.0%}"


def _number(figure: float | None, digits: int = 1) -> str:
    return "-" if figure is None else f"{figure:.{digits}f}"


def _grouped(unobserved: Iterable[Unobserved], word: str) -> list[str]:
    """One line a reason, however many items it has."""
    by_reason: dict[str, list[str]] = {}
    for each in unobserved:
        by_reason.setdefault(each.reason, []).append(each.item)
    return [
        f"{word}: {reason}: {len(items)} items: {', '.join(items)}"
        for reason, items in by_reason.items()
    ]


def _some(said: list[str], most: int) -> list[str]:
    """At most so many lines; the last one counts what it stands for."""
    if len(said) <= most:
        return said
    return [*said[: most - 1], f"and {len(said) - most + 1} more lines in the JSON"]


def _closing(judged: Judged, seconds: float) -> str:
    return (
        f"{judged.verdict}: {len(judged.findings)} refuted, {len(judged.missing)} not observed; "
        f"{seconds:.0f} s"
    )


def as_json(records: Sequence[Record], judged: Judged, seed: int, seconds: float) -> dict[str, Any]:
    """The whole run. Figures are seconds, bytes and shares; `infinite` is a figure that is not
    finite."""
    found, rate = environment(records), copy_rate(records)
    kinds: dict[str, type[Any]] = {
        "ceilings": Ceiling,
        "compiled": Compiled,
        "correctness": Checked,
        "neutrality": Neutral,
    }
    timings = [
        asdict(record) | {"floor_share": floor_share(record, rate)}
        for record in records
        if isinstance(record, Timed)
    ]
    return {
        "schema": SCHEMA,
        "verdict": judged.verdict.value,
        "seed": seed,
        "seconds": round(seconds, 1),
        "environment": None if found is None else asdict(found),
        **{
            name: [_finite(asdict(record)) for record in records if isinstance(record, kind)]
            for name, kind in kinds.items()
        },
        "timings": timings,
        "goals": [asdict(goal) for goal in judged.goals],
        "findings": [asdict(finding) for finding in judged.findings],
        "not_observed": [asdict(each) for each in judged.missing],
        "not_observed_optional": [asdict(each) for each in judged.absent],
    }


def _finite(fields: dict[str, Any]) -> dict[str, Any]:
    return {
        name: "infinite" if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in fields.items()
    }
