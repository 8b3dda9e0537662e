"""A finding as a pytest file: its sentence, story and scenario first, then the harness that is the
same in every file."""

import textwrap
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from truehit.adapters.vllm.write_tests.aim import aim_of
from truehit.adapters.vllm.write_tests.finding import WrittenFinding
from truehit.adapters.vllm.write_tests.paste import pasted_harness, pasted_repairs
from truehit.adapters.vllm.write_tests.plain import changes, literal, plain, quoted
from truehit.spec.laws.base import ViolationClass

LINE = 99
_CLASSES = {
    ViolationClass.CORRUPT: "wrong bytes can be served",
    ViolationClass.STALL: "somebody waits for ever, or the engine stops",
    ViolationClass.WASTE: "hits or capacity are lost",
    ViolationClass.POLICY: "the engine chooses otherwise",
}


def file_name(finding: WrittenFinding) -> str:
    """The test file of a finding."""
    return f"test_{finding.slug.replace('-', '_')}.py"


def render(finding: WrittenFinding) -> str:
    """The text of the file.

    Raises:
        UnwritableError: no test can show it; one line.
    """
    before, after = plain(finding.shown), plain(finding.healed)
    shown = pasted_repairs(finding.shown.repairs)
    healed = pasted_repairs(finding.healed.repairs)
    harness, changed = pasted_harness(), changes(before, after)
    return _template().render(
        version=finding.version,
        title=_filled(_title(finding), first=len(f'"""vLLM {finding.version}: ')),
        about=_filled(_about(finding)),
        story="\n".join(_filled(line, hang=2) for line in finding.story),
        imports=harness.imports,
        sentence=_string(finding.sentence, used=len("SENTENCE = ")),
        scenario=literal(before, used=len("SCENARIO: dict[str, Any] = ")),
        changed=literal(changed, used=len("HEALED: dict[str, Any] = SCENARIO | "))
        if changed
        else "",
        check=aim_of(finding).lines,
        shown="".join(f", {name}" for name, _ in shown),
        healed="".join(f", {name}" for name, _ in healed),
        heal=f"{finding.heal[0].upper()}{finding.heal[1:]}.",
        repairs=[source for _, source in dict(shown + healed).items()],
        harness=harness.body,
    )


def write(finding: WrittenFinding, folder: Path) -> Path:
    """Write the file; returns its path.

    Raises:
        UnwritableError: no test can show it; one line.
    """
    text = render(finding)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / file_name(finding)
    path.write_text(text, encoding="utf-8")
    return path


def _title(finding: WrittenFinding) -> str:
    return f"{finding.sentence.rstrip('.')}."


def _about(finding: WrittenFinding) -> str:
    masked = sorted(finding.shown.repairs)
    also = f" Shown with {', '.join(masked)} mended in memory, which hides it." if masked else ""
    return (
        f"It breaks the law {finding.law}: {_CLASSES[finding.violation_class]}. "
        f"Certainty: {finding.certainty}.{also}"
    )


def _filled(text: str, first: int = 0, hang: int = 0) -> str:
    """Lines that fit; backslashes and quotes would end or bend the docstring they stand in."""
    safe = text.replace("\\", "/").replace('"""', "'''")
    filled = textwrap.fill(" " * first + safe, LINE, subsequent_indent=" " * hang)
    return filled[first:]


def _string(text: str, used: int) -> str:
    """A string behind `used` columns, in parts where it does not fit."""
    whole = quoted(text)
    if used + len(whole) <= LINE:
        return whole
    parts = [text] if len(whole) + 4 <= LINE else textwrap.wrap(text, 90, drop_whitespace=False)
    return "(\n" + "\n".join(f"    {quoted(part)}" for part in parts) + "\n)"


def _template() -> Template:
    environment = Environment(
        loader=PackageLoader("truehit.adapters.vllm.write_tests", "."),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        autoescape=False,
    )
    return environment.get_template("template.py.jinja")
