"""Drives the scenario of a defect, and reads from its trace what the defects are about."""

from dataclasses import dataclass, replace
from pathlib import Path

from truehit.adapters.vllm.driver import Driven, Driver
from truehit.spec.geometry import BlockDrop, Dense, Geometry, Lookahead
from truehit.spec.laws.base import Violation
from truehit.spec.laws.judge import check_trace
from truehit.spec.scenario import Scenario
from truehit.spec.scenario_file import load_scenario
from truehit.spec.trace import Lookup, Schedule

SCENARIOS = Path(__file__).parent / "scenarios"


@dataclass(frozen=True, slots=True)
class Run:
    """A scenario that was driven; `violations` are the laws' own words."""

    driven: Driven
    violations: tuple[Violation, ...]

    @property
    def refusal(self) -> str | None:
        """Why the release does not even start with the geometry."""
        faults = self.driven.faults
        return faults[0].message if faults and not self.driven.facts else None

    @property
    def hits(self) -> dict[str, int]:
        """Request -> tokens that its first lookup hit."""
        found: dict[str, int] = {}
        for event in self.driven.trace:
            if isinstance(event, Lookup):
                found.setdefault(event.request, event.hit_tokens)
        return found

    def carve(self, request: str) -> str:
        """The chunks of a prefill, as a sentence has them."""
        return "".join(
            f"({event.start}, {event.end})"
            for event in self.driven.trace
            if isinstance(event, Schedule)
            and event.request == request
            and event.start < min(event.end, event.prefill_end)
        )

    def of_law(self, name: str) -> tuple[Violation, ...]:
        return tuple(one for one in self.violations if one.law == name)


def play(driver: Driver, scenario: Scenario) -> Run:
    """Drive and judge."""
    driven = driver.run(scenario)
    return Run(driven, check_trace(driven.trace).violations)


def scenario_of(defect: str) -> Scenario:
    """The scenario file of a defect."""
    return load_scenario(SCENARIOS / f"{defect.lower().replace('-', '_')}.yaml")


def dense(scenario: Scenario) -> Scenario:
    """The same with every boundary kept."""
    return _with(scenario, replace(scenario.geometry, retention=Dense()))


def drop_modes(scenario: Scenario) -> tuple[Scenario, ...]:
    """The same with the block drop and with keys that look ahead: the default of newer releases.
    Those without such keys do the same with both."""
    assert isinstance(scenario.geometry.drop, BlockDrop)
    return scenario, _with(scenario, replace(scenario.geometry, drop=Lookahead(1)))


def _with(scenario: Scenario, geometry: Geometry) -> Scenario:
    return replace(scenario, geometry=geometry)
