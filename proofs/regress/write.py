"""Counterexamples as pytest files, and the check that a committed one still tells the rules
apart."""

import ast
import re
import textwrap
from dataclasses import dataclass, replace
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from truehit.proofs.regress.find import Counterexample
from truehit.proofs.regress.judged import first_of, judged, judged_text
from truehit.proofs.regress.targets import Target
from truehit.proofs.regress.text import renamed, short_yaml
from truehit.spec.scenario import Scenario
from truehit.spec.scenario_file import parse_scenario


@dataclass(frozen=True, slots=True)
class Discriminates:
    """What a committed test says: the sentence under the broken rules; `holds` by default."""

    rules: str
    law: str
    scenario: Scenario
    sentence: str | None
    holds: bool

    @property
    def file(self) -> str:
        """The test file's name."""
        return file_name(self.rules)

    @property
    def good(self) -> bool:
        return self.sentence is not None and self.holds


def file_name(rules: str) -> str:
    """The test file of a rule set."""
    return f"test_{rules.replace('-', '_')}.py"


def normalised(found: Counterexample, target: Target) -> Counterexample:
    """The counterexample under plain names, with the sentence it then gives."""
    plain = renamed(found.scenario, found.rules)
    violation = first_of(judged(plain, found.rules)[1], found.law, target.saying)
    if violation is None:
        raise AssertionError(f"{found.rules}: renaming changed the run")
    return replace(found, scenario=plain, sentence=violation.sentence)


def render(found: Counterexample, target: Target) -> str:
    """The text of the pytest file."""
    plain = normalised(found, target)
    environment = Environment(
        loader=PackageLoader("truehit.proofs.regress", "."),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        autoescape=False,
    )
    tokens = sum(r.prompt_tokens + r.output_tokens for r in plain.scenario.requests)
    lines = textwrap.wrap(plain.sentence, 84, drop_whitespace=False)
    return environment.get_template("template.py.jinja").render(
        rules=plain.rules,
        law=plain.law,
        saying=target.saying,
        holding=("default", *target.holding),
        why=textwrap.fill(f"{target.why[0].upper()}{target.why[1:]}.", 96),
        requests=len(plain.scenario.requests),
        chunks=plain.chunks,
        tokens=tokens,
        scenario=short_yaml(plain.scenario),
        sentence=lines,
    )


def write(found: Counterexample, target: Target, folder: Path) -> Path:
    """Write the test file; returns its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / file_name(found.rules)
    path.write_text(render(found, target), encoding="utf-8")
    return path


def scenario_text(path: Path) -> str:
    """The scenario inside a generated test file; ValueError if there is none."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        match node:
            case ast.Assign(targets=[ast.Name(id="SCENARIO")], value=ast.Constant(value=str(text))):
                return text
    raise ValueError(f"{path.name}: no SCENARIO; `truehit regress` writes one")


def check(path: Path, target: Target) -> Discriminates:
    """Run a committed counterexample under the broken rules and by default."""
    text = scenario_text(path)
    violation = first_of(judged_text(text, target.rules), target.law, target.saying)
    return Discriminates(
        rules=target.rules,
        law=target.law,
        scenario=parse_scenario(text, ".yaml"),
        sentence=re.sub(r"\s+", " ", violation.sentence) if violation else None,
        holds=not any(
            judged_text(text, rules).violations for rules in ("default", *target.holding)
        ),
    )
