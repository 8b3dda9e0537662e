"""A real engine that is asked the same as ours: opened by what the user calls it, and driven."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from truehit.cli.errors import InputError
from truehit.spec.scenario import Scenario

if TYPE_CHECKING:
    from truehit.adapters.vllm.driver import Driven
    from truehit.adapters.vllm.environment import Environment


EXAMPLE = "vllm==0.33.0"


class CouldNotRun(Exception):
    """The engine is there, and does not do it; the message is one line."""


def drive(name: str, scenarios: Sequence[Scenario]) -> list["Driven"]:
    """What the engine of this name does with each scenario.

    Raises:
        InputError: it cannot be asked that, or there is no such engine.
        CouldNotRun: it refuses to start.
    """
    from truehit.adapters.vllm.driver import Driver
    from truehit.adapters.vllm.problems import PeerError

    for scenario in scenarios:
        _check(name, scenario)
    environment = _opened(name)
    done = []
    with Driver(environment) as driver:
        for scenario in scenarios:
            try:
                driven = driver.run(scenario)
            except PeerError as problem:
                raise CouldNotRun(str(problem)) from problem
            if not driven.facts:
                why = driven.faults[0].message if driven.faults else "it does not say why"
                raise CouldNotRun(f"{name} refuses to start with {scenario.name}: {why}")
            done.append(driven)
    return done


def _check(name: str, scenario: Scenario) -> None:
    """Before anything is downloaded."""
    from truehit.adapters.vllm.inside.driver.plan import refusal
    from truehit.spec.scenario_file import dump_scenario

    refused = refusal(dump_scenario(scenario))
    if refused is not None:
        raise InputError(f"{scenario.name} cannot be asked of {name}: {refused}")


def _opened(name: str) -> "Environment":
    """`vllm==X`, a checkout, or an interpreter."""
    from truehit.adapters.vllm.problems import BuildError
    from truehit.adapters.vllm.subject import RELEASE, open_subject

    path, is_release = Path(name), name.startswith(RELEASE)
    if not is_release and not path.exists():
        raise InputError(
            f"--on '{name}' is no release, no checkout and no interpreter; {EXAMPLE} works"
        )
    try:
        if is_release:
            return open_subject(name, tell)
        if (path / "vllm" / "__init__.py").is_file() or path.name == "vllm":
            return open_subject(None, tell, source=path)
        return open_subject(None, tell, python=path)
    except BuildError as problem:
        raise InputError(str(problem)) from problem


def tell(line: str) -> None:
    """Progress goes to the error stream: results own the other one."""
    typer.echo(line, err=True)
