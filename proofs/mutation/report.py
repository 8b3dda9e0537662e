"""The outcomes as a table a room, as JSON, and as the figures of a page."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from truehit.proofs.mutation.outcome import Outcome, problem, score
from truehit.proofs.mutation.run import Result

FIGURES = re.compile(r"(<!-- figures -->\n).*(<!-- end of figures -->)", re.DOTALL)
HEAD = ("planted", "caught", "tested", "equivalent", "survived", "invalid", "score")


def problems(result: Result) -> list[str]:
    """Everything that is not accepted, one line each."""
    found = [line for o in result.outcomes if (line := problem(o)) is not None]
    return found + [f"{what}: the law {law} says nothing of it" for what, law in result.silent]


def exit_code(result: Result) -> int:
    """0: accepted; 1: a survivor, a wrong claim or a silent law; 2: a planted fault that does not
    load."""
    if any(outcome.status == "invalid" and outcome.hand for outcome in result.outcomes):
        return 2
    return 1 if problems(result) else 0


def rooms(found: list[Outcome]) -> Iterator[tuple[str, list[Outcome]]]:
    """Outcomes by subject and room, in order."""
    by_room: dict[str, list[Outcome]] = {}
    for each in found:
        by_room.setdefault(f"{each.fault.subject} {each.fault.room}", []).append(each)
    yield from by_room.items()


def figures(found: list[Outcome]) -> tuple[str, ...]:
    """One row: counts in the order of HEAD."""
    count = Counter(o.status for o in found)
    survived = count["survived"] + count["wrong claim"]
    numbers = (len(found), count["caught"], count["tested"], count["equivalent"], survived)
    return (*map(str, numbers), str(count["invalid"]), f"{score(found):.1f}%")


def judges(found: list[Outcome]) -> str:
    """Which judge caught how many."""
    count = Counter(o.judge for o in found if o.status == "caught")
    return ", ".join(f"{judge} {number}" for judge, number in count.most_common())


def lines(result: Result, seconds: float) -> list[str]:
    """The table for a terminal, then what is wrong."""
    width = max((len(room) for room, _ in rooms(result.outcomes)), default=4)
    told: list[str] = []
    for title, part in _parts(result.outcomes):
        told.append(f"{title:<{width}} " + " ".join(f"{word:>10}" for word in HEAD) + "  by")
        for room, found in [*rooms(part), ("all", part)]:
            row = " ".join(f"{number:>10}" for number in figures(found))
            told.append(f"{room:<{width}} {row}  {judges(found)}")
        told.append("")
    told.append(f"{len(result.outcomes)} faults in {seconds:.0f} s")
    wrong = problems(result)
    return told + [f"PROBLEM {line}" for line in wrong] if wrong else told


def _parts(found: list[Outcome]) -> Iterator[tuple[str, list[Outcome]]]:
    kinds: tuple[tuple[str, Callable[[Outcome], bool]], ...] = (
        ("by hand", lambda o: o.hand),
        ("by operators", lambda o: not o.hand),
    )
    for title, belongs in kinds:
        part = [o for o in found if belongs(o)]
        if part:
            yield title, part


def as_json(result: Result, seconds: float) -> dict[str, Any]:
    """The whole result."""
    return {
        "seconds": round(seconds, 1),
        "problems": problems(result),
        "parts": [
            {
                "planted": title,
                "rooms": [
                    {"room": room, **dict(zip(HEAD, figures(found), strict=True))}
                    for room, found in [*rooms(part), ("all", part)]
                ],
            }
            for title, part in _parts(result.outcomes)
        ],
        "faults": [
            {
                "file": o.fault.file,
                "name": o.name,
                "operator": o.fault.operator,
                "status": o.status,
                "judge": o.judge,
                "seen": o.seen,
                "seconds": round(o.seconds, 2),
                "equivalent": o.fault.equivalent,
                "says": list(o.fault.says),
            }
            for o in result.outcomes
        ],
    }


def rewritten(page: str, result: Result, seconds: float) -> str:
    """The page with these figures between its marks."""
    if not FIGURES.search(page):
        raise ValueError("the page has no <!-- figures --> and <!-- end of figures --> marks")
    text = "\n".join(_markdown(result, seconds))
    return FIGURES.sub(lambda found: f"{found[1]}{text}\n{found[2]}", page)


def _markdown(result: Result, seconds: float) -> Iterator[str]:
    for title, part in _parts(result.outcomes):
        yield f"\n**Planted {title}**\n"
        yield f"| room | {' | '.join(HEAD)} | by |"
        yield f"|---|{'---|' * (len(HEAD) + 1)}"
        for room, found in [*rooms(part), ("all", part)]:
            yield f"| {room} | {' | '.join(figures(found))} | {judges(found)} |"
    kept = [o for o in result.outcomes if o.status == "equivalent"]
    yield f"\n{len(result.outcomes)} faults in {seconds:.0f} s.\n"
    yield "**Equivalent, and why**\n"
    for each in kept:
        yield f"* `{each.fault.file}`, {each.name}: {each.fault.equivalent}"
    tested = [o for o in result.outcomes if o.status == "tested"]
    if tested:
        yield "\n**Noticed by a unit test only**\n"
        for each in tested:
            yield f"* `{each.fault.file}`, {each.name}: {each.seen.removeprefix('FAILED ')}"
    yield ""
