"""An obligation is data: a premise, the rules that run, and a goal, over one flat space of names.

Premise and goal are functions of `truehit.spec.predicates`; the rules are those of the reference.
Every parameter, and every field of a data class parameter, is read by its name from the inputs and
the earlier results. So one description is lifted for a solver and run by CPython on replay.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from truehit.reference.ruleset import DEFAULT, RuleSet

Function: TypeAlias = Callable[..., object]


@dataclass(frozen=True, slots=True)
class Step:
    """`results` = function(...). `rename`: a parameter or field reads another name than its own."""

    results: tuple[str, ...]
    function: Function
    rename: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Encoding:
    """How numbers are written, and which are fixed.

    `chain`: sizes, each dividing the next, for all values at once (mixed radix); empty for plain
    integers. `sizes`: inputs that are a member of the chain; a member is also an input of its own
    name. `counted`: inputs counted in blocks of a member. `fixed`: inputs with a concrete value.
    """

    words: str
    chain: tuple[str, ...] = ()
    sizes: Mapping[str, str] = field(default_factory=dict)
    counted: Mapping[str, str] = field(default_factory=dict)
    fixed: Mapping[str, int | bool] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Control:
    """A wrong rule that the obligation must refute: a rule set, or steps put in place of ours.

    `encoding`: where the wrong rule is asked, if not in the obligation's first encoding.
    """

    name: str
    rules: RuleSet = DEFAULT
    steps: tuple[Step, ...] = ()
    encoding: Encoding | None = None


@dataclass(frozen=True, slots=True)
class Cover:
    """An interesting case of the premise, which must be possible."""

    name: str
    case: Function
    encoding: Encoding | None = None


@dataclass(frozen=True, slots=True)
class Obligation:
    """One question. `subject`: the results that are the rule's own, freed by the havoc control.

    `domain`: in words, what is symbolic, what is concrete, and which step kinds and features it
    speaks of.
    """

    name: str
    law: str
    domain: str
    encodings: tuple[Encoding, ...]
    premise: tuple[Function, ...]
    steps: tuple[Step, ...]
    goal: tuple[Function, ...]
    subject: tuple[str, ...]
    controls: tuple[Control, ...]
    covers: tuple[Cover, ...]

    def steps_of(self, control: Control) -> tuple[Step, ...]:
        """The steps with the control's own in place of those with the same results."""
        replaced = {step.results: step for step in control.steps}
        unknown = set(replaced) - {step.results for step in self.steps}
        if unknown:
            raise ValueError(f"control {control.name} of {self.name} replaces no step {unknown}")
        return tuple(replaced.get(step.results, step) for step in self.steps)
