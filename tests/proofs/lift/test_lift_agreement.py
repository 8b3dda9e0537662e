"""Lifted rules say what CPython says, on thousands of random inputs, in both encodings."""

import enum
from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest

from truehit.proofs.lift import Domain, IntegerDomain, Maybe, RadixDomain, Value, lift_function
from truehit.proofs.lift.agreement import agreement

SAMPLES = 2000
STEP = 3
FORWARD = STEP + 1


class Stop(enum.Enum):
    """Where to stop."""

    FLOOR = "floor"
    CEILING = "ceiling"


@dataclass(frozen=True, slots=True)
class Rules:
    """A rule set, bound whole."""

    stop: Stop
    margin: int


@dataclass(frozen=True, slots=True)
class Window:
    """Built by a helper."""

    low: int
    high: int = 7

    @property
    def width(self) -> int:
        """The distance."""
        return self.high - self.low


@dataclass(frozen=True, slots=True)
class Query:
    """The inputs of the sample rules."""

    start: int
    end: int
    block: int
    unit: int
    drop: bool
    fine: bool
    kept: int | None
    rules: Rules

    def __post_init__(self) -> None:
        if self.block < 1:
            raise ValueError("never asked of a lifted query")

    @property
    def running(self) -> int:
        """The running column."""
        return ceiling(self.end, self.block) - 1

    def boundary(self, back: int = 0) -> int:
        """The last boundary, some blocks back."""
        return max(self.end // self.block - back, 0) * self.block


def ceiling(value: int, step: int) -> int:
    return -(value // -step)


def floors(q: Query) -> int:
    return q.start // q.block * q.block + q.end % q.block


def negatives(start: int, end: int) -> int:
    return (start - end) // -7 + (end - start) % 5 - (-start) // 4 + (start % -3)


def symbolic_divisor(start: int, block: int) -> int:
    quotient, rest = divmod(start, block)
    return quotient * block + rest - start + start // block


def early(q: Query) -> int:
    """Returns early, asserts, and merges what both branches set."""
    if q.start >= q.end:
        return q.start - q.end
    assert q.end > 3, f"end is {q.end}"
    end = q.end
    if q.drop and q.fine:
        end -= STEP
    elif q.drop:
        end += FORWARD
        if end % 2 == 0:
            return -end
    return end if q.start < end <= q.end + 2 else q.start


def stops(q: Query) -> int:
    """The smallest stop inside the chunk."""
    candidates = (
        q.boundary(),
        q.boundary(1) if q.drop else 0,
        q.start + 5 if q.start % q.block != 0 and not q.fine else 0,
    )
    return min((s for s in candidates if q.start < s < q.end), default=q.end)


def largest(q: Query) -> int:
    """Raises where nothing is kept."""
    return max(s for s in (q.start, q.end, 11) if s % 2 == 0 or q.drop)


def optional(q: Query) -> int:
    """None is absent, equal to nothing, and no number."""
    if q.kept is None:
        return -1
    return q.kept * 2 if q.kept == q.start else q.kept - 1


def raises_on_none(q: Query) -> int:
    return q.start + (q.kept if q.fine else 0)  # type: ignore[operator]


def maybe(start: int, drop: bool) -> int | None:
    if drop:
        return None
    return start


def uses_maybe(start: int, drop: bool) -> int:
    found = maybe(start, drop)
    return 5 if found is None else found + 1


def counted(q: Query) -> int:
    """Unrolled loops, sums of truths, any and all."""
    total = 0
    for index in range(1, 5):
        if index * q.unit > q.start:
            total += index
    found = sum(1 for index in range(3) if q.start % (index + 2) == 0)
    whole = all(q.start >= low for low in (0, 2)) or any(q.end == x for x in (3, 4))
    return total + found + int(whole) + abs(q.start - q.end)


def built(q: Query) -> int:
    window = Window(q.start) if q.drop else Window(high=q.end, low=1)
    return window.width


def ruled(q: Query) -> int:
    match q.rules.stop:
        case Stop.FLOOR:
            found = q.end // q.block
        case Stop.CEILING | _:
            found = q.running
    return found + q.rules.margin


def truths(q: Query) -> bool:
    late = q.start > q.end or (q.drop and not q.fine)
    return late != q.fine and 0 <= q.start < q.end and bool(q.unit)


RULES: tuple[Callable[..., object], ...] = (
    *(floors, negatives, symbolic_divisor, early, stops, largest, optional, raises_on_none),
    *(uses_maybe, counted, built, ruled, truths),
)


def concrete_sizes(domain: IntegerDomain, rules: Rules) -> dict[str, Value]:
    return {"q.block": 6, "q.unit": 2, "q.rules": rules}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_integer_form_agrees_at_concrete_sizes(rule: Callable[..., object]) -> None:
    domain = IntegerDomain()
    bind = concrete_sizes(domain, Rules(Stop.FLOOR, 2))
    found = agreement(lift_function(rule, domain, bind), rule, SAMPLES, seed=1)
    assert found.mismatches == ()
    assert found.samples == SAMPLES
    assert found.defined > SAMPLES // 10


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_integer_form_agrees_at_symbolic_sizes(rule: Callable[..., object]) -> None:
    domain = IntegerDomain()
    bind: dict[str, Value] = {"q.rules": Rules(Stop.CEILING, -1)}
    found = agreement(lift_function(rule, domain, bind), rule, SAMPLES, seed=2)
    assert found.mismatches == ()
    assert found.defined > SAMPLES // 10


def run_to(q: Query) -> int:
    """Everything that mixed radix can say: floors, ceilings, units, choices, small constants."""
    size = q.unit if q.fine else q.block
    position = (q.end - 1) // size * size
    if q.drop:
        position -= size
    position = max(position, 0)
    column = ceiling(q.end, q.block) - 2
    if column > (q.start - 1) // q.block and q.start + q.unit <= position < q.end:
        return position
    inside = q.start % q.block + q.end % q.unit
    return min(q.start // q.unit * q.unit + 3, 2 * q.end - 5, inside * 3 - q.start)


def columns(q: Query) -> int:
    return (q.start // q.block + 2) * 2 - q.end // q.block + int(q.drop)


def compared(q: Query) -> bool:
    ends = q.end % q.block == 0 or q.end // q.block >= q.start // q.block
    return ends and q.end != q.start + q.block and not -2 < q.start <= 3


RADIX_RULES: tuple[Callable[..., object], ...] = (run_to, columns, compared, optional, stops)


def sizes(domain: RadixDomain) -> dict[str, Value]:
    return {"q.block": domain.size("block"), "q.unit": domain.size(domain.chain[0])}


@pytest.mark.parametrize("chain", [("block",), ("unit", "block"), ("unit", "alignment", "block")])
@pytest.mark.parametrize("rule", RADIX_RULES, ids=lambda rule: rule.__name__)
def test_radix_form_agrees(rule: Callable[..., object], chain: tuple[str, ...]) -> None:
    domain = RadixDomain(*chain)
    found = agreement(lift_function(rule, domain, sizes(domain)), rule, SAMPLES, seed=3)
    assert found.mismatches == ()
    assert found.defined == SAMPLES


def test_a_wrong_rule_does_not_agree() -> None:
    def wrong(q: Query) -> int:
        return run_to(q) + int(q.end % q.block == 1)

    for domain in (IntegerDomain(), RadixDomain("unit", "block")):
        bind = sizes(domain) if isinstance(domain, RadixDomain) else {"q.block": 6, "q.unit": 2}
        found = agreement(lift_function(run_to, domain, bind), wrong, SAMPLES, seed=4)
        assert found.mismatches


def test_several_rules_share_one_symbolic_query() -> None:
    domain = IntegerDomain()
    first = lift_function(floors, domain)
    bind = dict(first.inputs)
    second = lift_function(floors, domain, bind)
    assert second.inputs["q.start"] is first.inputs["q.start"]
    model = {"q.start": 17, "q.end": 9, "q.block": 5}
    assert domain.evaluate(model, second.result) == 19


def test_an_input_is_never_two_by_accident() -> None:
    domain = IntegerDomain()
    lift_function(floors, domain)
    with pytest.raises(ValueError, match="bind it"):
        lift_function(floors, domain)


def test_a_bound_rule_set_is_read_from_the_object() -> None:
    for rules in (Rules(Stop.FLOOR, 4), replace(Rules(Stop.FLOOR, 4), stop=Stop.CEILING)):
        domain: Domain = IntegerDomain()
        lifted = lift_function(ruled, domain, {"q.rules": rules, "q.block": 4})
        expected = (7 // 4 if rules.stop is Stop.FLOOR else 1) + 4
        assert domain.evaluate({"q.end": 7}, lifted.result) == expected


def test_an_optional_input_has_a_bit_for_none() -> None:
    domain = IntegerDomain()
    lifted = lift_function(optional, domain)
    assert isinstance(lifted.inputs["q.kept"], Maybe)
    assert lifted.sorts["q.kept"] == "int?"
    assert domain.evaluate({"q.kept.is_none": True}, lifted.result) == -1
    assert domain.evaluate({"q.kept": 8, "q.start": 8}, lifted.result) == 16
