"""Scenarios in, traces out: the driver package in a process inside an environment of vLLM.

An engine that crashes or hangs is not the end: what is left of its trace ends with an error event,
and the next scenario gets a new process.
"""

import json
import subprocess
import tempfile
import threading
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from truehit.adapters.vllm import inside
from truehit.adapters.vllm.environment import Environment
from truehit.adapters.vllm.problems import PeerError
from truehit.adapters.vllm.process import MEMORY_LIMIT_BYTES, limit_memory
from truehit.spec.geometry import BlockDrop, DropCap, Geometry, Lookahead, NoDrop
from truehit.spec.scenario import Scenario
from truehit.spec.scenario_file import dump_scenario, geometry_to_json
from truehit.spec.trace import EngineError, Event, Header, Plane
from truehit.spec.trace_file import event_from_json

PACKAGE = "driver"
UNORDERED = "unordered"
FIRST_LIMIT_SECONDS = 300
"""Importing a release for the first time, without byte code, takes most of a minute."""
LIMIT_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Unordered:
    """Operations of two requests (or two of one) that meet in a block within a phase of a step:
    what the block holds afterwards depends on the order in which kernels run."""

    step: int
    group: str
    block: int
    phase: str
    requests: tuple[str, str]


@dataclass(frozen=True, slots=True)
class Driven:
    """What a real engine did with a scenario. `facts`: what it ran with, read back; empty when it
    refused to start. `trace` begins with the header. `unordered`: where it is the mirror's order
    that the trace shows."""

    scenario: Scenario
    facts: dict[str, Any]
    trace: tuple[Event, ...]
    unordered: tuple[Unordered, ...] = ()

    @property
    def faults(self) -> tuple[EngineError, ...]:
        """Exceptions and hangs of the engine."""
        return tuple(event for event in self.trace if isinstance(event, EngineError))


class Driver:
    """A process that runs scenarios; close it, or use it in a `with` statement. `options`: what a
    scenario file cannot say, sent along with each."""

    def __init__(self, environment: Environment, limit_seconds: float = LIMIT_SECONDS) -> None:
        self._environment = environment
        self._limit_seconds = limit_seconds
        self._process: subprocess.Popen[str] | None = None
        self._errors: IO[str] | None = None
        self._is_new = True

    def run(self, scenario: Scenario, options: dict[str, Any] | None = None) -> Driven:
        """One scenario.

        Raises:
            PeerError: the scenario asks for what no engine can be told, or the process cannot
                start; one line.
        """
        order = {**dump_scenario(scenario), "options": options or {}}
        lines, problem = self._exchange(json.dumps(order))
        return driven(scenario, lines, problem, self._environment.name)

    def facts(self) -> dict[str, Any]:
        """What is so for every scheduler of this release: `version`, `bridge` (the release that it
        was tried with, or "newest"), `knows_lookahead`, `observes_checkpoints`, and more.

        Raises:
            PeerError: the process cannot start; one line.
        """
        lines, problem = self._exchange(json.dumps({"kind": "facts"}))
        if problem is not None:
            raise PeerError(f"{self._environment.name}: {problem}")
        return lines[0]

    def _exchange(self, order: str) -> tuple[list[dict[str, Any]], str | None]:
        """The lines of one trace, and what kept it from its end."""
        process = self._started()
        assert process.stdin is not None and process.stdout is not None
        limit = FIRST_LIMIT_SECONDS if self._is_new else self._limit_seconds
        timer = threading.Timer(limit, process.kill)
        timer.start()
        lines: list[dict[str, Any]] = []
        try:
            process.stdin.write(order + "\n")
            process.stdin.flush()
            for line in process.stdout:
                data = json.loads(line)
                if data["kind"] == "done":
                    self._is_new = False
                    return lines, None
                lines.append(data)
        except BrokenPipeError:
            pass
        finally:
            timer.cancel()
        return lines, self._ended(limit)

    def _ended(self, limit: float) -> str:
        """Why the process is gone."""
        process, self._process = self._process, None
        assert process is not None
        code = process.wait()
        if self._is_new:
            raise PeerError(f"{self._environment.name} does not start: {self._last_error()}")
        if code == -9:
            return f"no answer within {limit:g} s: the engine hangs, or its memory is used up"
        return f"the process ended with exit code {code}: {self._last_error()}"

    def _last_error(self) -> str:
        assert self._errors is not None
        self._errors.seek(0)
        lines = self._errors.read().strip().splitlines()
        return lines[-1] if lines else "it wrote nothing"

    def _started(self) -> subprocess.Popen[str]:
        if self._process is None:
            # Closed by `close`: it lives as long as the process.
            self._errors = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115
            folder = Path(inside.__file__).resolve().parent
            self._is_new = True
            self._process = subprocess.Popen(
                [str(self._environment.python), "-m", PACKAGE],
                env=self._environment.variables(folder),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                text=True,
            )
            limit_memory(self._process.pid, MEMORY_LIMIT_BYTES)
        return self._process

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def driven(
    scenario: Scenario, lines: list[dict[str, Any]], problem: str | None, engine: str
) -> Driven:
    """Lines of the driver as a trace; what it ran with is written into the header."""
    if lines and lines[0]["kind"] == "refused":
        raise PeerError(f"{scenario.name}: {lines[0]['message']}")
    facts = lines.pop(0) if lines and lines[0]["kind"] == "engine" else {}
    geometry = as_run(scenario.geometry, facts)
    header = Header(
        engine=engine,
        rules="its own",
        geometry=geometry_to_json(geometry),
        planes=tuple(Plane),
        scenario=scenario.name,
    )
    unordered = tuple(_unordered(line) for line in lines if line["kind"] == UNORDERED)
    events = [event_from_json(line) for line in lines if line["kind"] != UNORDERED]
    if problem is not None:
        step = events[-1].step if events else 0
        events.append(EngineError(step, problem))
    return Driven(replace(scenario, geometry=geometry), facts, (header, *events), unordered)


def _unordered(line: dict[str, Any]) -> Unordered:
    first, second = line["requests"]
    return Unordered(line["step"], line["group"], line["block"], line["phase"], (first, second))


def as_run(geometry: Geometry, facts: dict[str, Any]) -> Geometry:
    """The geometry with what the engine derives by itself."""
    if not facts:
        return geometry
    drop: BlockDrop | Lookahead | NoDrop = NoDrop()
    groups = geometry.groups
    if facts["drops"] and not any(group.drafted for group in geometry.attention_groups):
        # With no group marked, the engine takes all of them for the drafter's.
        pages = geometry.attention_groups
        groups = tuple(replace(g, drafted=True) if g in pages else g for g in groups)
    if facts["lookahead_tokens"]:
        drop = Lookahead(facts["lookahead_tokens"])
    elif facts["drops"]:
        drop = BlockDrop(DropCap(facts["drop_cap"]))
    return replace(
        geometry,
        groups=groups,
        hash_unit_tokens=facts["hash_unit_tokens"],
        fine_hits=facts["fine_hits"],
        drop=drop,
    )
