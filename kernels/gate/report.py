"""A run as lines: the controls, one line a compilation in fixed columns, what is wrong, and one
closing line; and the same as JSON."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from truehit.kernels.gate.judge import BLOCKING, SHARED_LIMIT_BYTES, Finding, Verdict, judge, worst
from truehit.kernels.gate.measurement import Lost, Measured, Rejected, Taken
from truehit.kernels.gate.run import Judged, Outcome, control_verdict

HEAD = (
    f"{'arch':<8} {'warps':>5} {'regs':>5} {'was':>5} {'stack':>6} {'spilled':>8} "
    f"{'shared':>7} {'of':>7} {'matrix':<18} verdict"
)


def lines(outcome: Outcome, seconds: float) -> Iterator[str]:
    """What a run prints."""
    measurements = outcome.measurements
    for taken in measurements.controls:
        yield f"control: {control_line(taken)}"
    width = max((len(one.taken.job.name) for one in outcome.judged), default=0)
    others = [(each.triton, {t.job: t for t in each.kernels}) for each in outcome.beside]
    titles = "".join(f"  {triton:<12}" for triton, _ in others)
    yield f"{f'triton {measurements.triton}':<{width}}  {HEAD:<78}{titles}".rstrip()
    for one in outcome.judged:
        seen = "".join(f"  {_short(of.get(one.taken.job)):<12}" for _, of in others)
        yield f"{one.taken.job.name:<{width}}  {row(one):<78}{seen}".rstrip()
    yield from wrong(outcome)
    yield closing(outcome, seconds)


def control_line(taken: Taken) -> str:
    """`spiller/fp32 on sm_80 is refuted with 80 bytes`, or what went wrong."""
    where = f"{taken.job.name} on {taken.job.architecture}"
    match taken.answer:
        case Measured(spill_store_bytes=stored) if stored:
            return f"{where} is refuted, as it must be: {stored} bytes spilled"
        case Measured(registers=registers):
            return f"{where} is NOT refuted ({registers} registers, 0 bytes spilled): {BLIND}"
        case Rejected(why) | Lost(why):
            return f"{where} is NOT refuted ({why}): {BLIND}"


BLIND = "this gate sees no spills"


def row(one: Judged) -> str:
    """The fixed columns of one compilation."""
    architecture = one.taken.job.architecture
    word = _word(one)
    match one.taken.answer:
        case Measured() as m:
            was = "-" if one.recorded_registers is None else str(one.recorded_registers)
            return (
                f"{architecture:<8} {m.warps:>5} {m.registers:>5} {was:>5} {m.stack_bytes:>6} "
                f"{f'{m.spill_store_bytes}/{m.spill_load_bytes}':>8} {m.shared_bytes:>7} "
                f"{SHARED_LIMIT_BYTES[architecture]:>7} {matrix_words(m):<18} {word}"
            )
        case _:
            empty = f"{'-':>5} {'-':>5} {'-':>5} {'-':>6} {'-':>8} {'-':>7} {'-':>7} {'-':<18}"
            return f"{architecture:<8} {empty} {word}"


def matrix_words(measured: Measured) -> str:
    """`wgmma 16`, `mma 12 (8 tf32)`, or a dash."""
    counts = " ".join(f"{family} {count}" for family, count in measured.matrix.items()) or "-"
    return f"{counts} ({measured.rounded_to_tf32} tf32)" if measured.rounded_to_tf32 else counts


def wrong(outcome: Outcome) -> Iterator[str]:
    """One line a failure: kernel, variant, architecture, number, limit. Then what is only told."""
    for problem in outcome.measurements.problems:
        yield f"REFUTED {problem.module}: {problem.reason}"
    findings = [finding for one in outcome.judged for finding in one.findings]
    yield from told([each for each in findings if each.blocks], "")
    yield from told([each for each in findings if not each.blocks], "")
    for each in outcome.beside:
        for problem in each.problems:
            yield f"reported {problem.module} with triton {each.triton}: {problem.reason}"
        beside = [finding for taken in each.kernels for finding in judge(taken)]
        yield from told(beside, f" with triton {each.triton}")


def told(findings: Sequence[Finding], triton: str) -> Iterator[str]:
    """One line for what is the same on several architectures."""
    lines: dict[tuple[str, str, str], list[str]] = {}
    for each in findings:
        word = each.verdict.upper() if each.blocks and not triton else "reported"
        lines.setdefault((word, each.job.name, each.text), []).append(each.job.architecture)
    for (word, name, text), architectures in lines.items():
        yield f"{word} {name} {', '.join(architectures)}{triton}: {text}"


def closing(outcome: Outcome, seconds: float) -> str:
    """How many of what, and the verdict."""
    blocking = [one for one in outcome.judged if one.taken.job.architecture in BLOCKING]
    bad = sum(bool(one.findings) for one in blocking) + len(outcome.measurements.problems)
    blind = sum(control_verdict(taken) is not Verdict.HOLDS for taken in _controls(outcome))
    kernels = len({one.taken.job.kernel for one in outcome.judged})
    said = f"{bad} of them do not hold" if bad else "all of them hold"
    return (
        f"{outcome.verdict}: {kernels} kernels, {len(blocking)} compilations judged with triton "
        f"{outcome.measurements.triton}, {said}; {len(_controls(outcome)) - blind} of "
        f"{len(_controls(outcome))} controls refuted; {seconds:.0f} s"
    )


def as_json(outcome: Outcome, seconds: float) -> dict[str, Any]:
    """The whole run."""
    return {
        "verdict": outcome.verdict.value,
        "seconds": round(seconds, 1),
        "controls": [_taken(taken) for taken in _controls(outcome)],
        "problems": [asdict(problem) for problem in outcome.measurements.problems],
        "triton": outcome.measurements.triton,
        "kernels": [
            _taken(one.taken)
            | {
                "recorded_registers": one.recorded_registers,
                "verdict": _word(one),
                "findings": [finding.text for finding in one.findings],
            }
            for one in outcome.judged
        ],
        "beside": {
            each.triton: [_taken(taken) for taken in each.kernels] for each in outcome.beside
        },
    }


def _taken(taken: Taken) -> dict[str, Any]:
    return asdict(taken.job) | asdict(taken.answer)


def _controls(outcome: Outcome) -> Sequence[Taken]:
    return outcome.measurements.controls


def _word(one: Judged) -> str:
    if not one.findings:
        return Verdict.HOLDS
    if one.taken.job.architecture not in BLOCKING:
        return "reported"
    return worst(finding.verdict for finding in one.findings)


def _short(taken: Taken | None) -> str:
    match taken:
        case Taken(answer=Measured() as m):
            return f"{m.registers}/{m.spill_store_bytes}"
        case _:
            return "-"
