"""The pages say what is so: links lead somewhere, commands answer as shown, names exist.

On the pages in TYPED every block that begins with `$` is typed into a shell in an empty folder, in
order, except what takes minutes or a network (DEAR); a block of text with a file name behind its
language is written there first. tests/cli/test_docs.py does the same for docs/cli.md. After a
change of words, TRUEHIT_WRITE_DOCS=1 writes the new answers, and the lists of docs/method.md.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from truehit.proofs.obligations.catalogue import BY_NAME, OBLIGATIONS
from truehit.proofs.readings import READINGS
from truehit.proofs.record import Record
from truehit.proofs.releases import RELEASES
from truehit.proofs.releases.questions import OBLIGATIONS as RELEASE_OBLIGATIONS
from truehit.reference.ruleset import HISTORIC, RULE_SETS
from truehit.spec.laws import LAWS

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGES = (ROOT / "README.md", *sorted(DOCS.glob("*.md")))
TYPED = (ROOT / "README.md", DOCS / "tour.md", DOCS / "tutorial.md")
DEAR = ("make ", "truehit verify", "truehit prove --source vllm")
FENCE = re.compile(r"^```(?P<info>[^\n]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\((?P<target>[^)\s]+)\)")
HEADING = re.compile(r"^#+ +(?P<title>.+)$", re.MULTILINE)
TICKED = re.compile(r"`(?P<name>[a-z]+(?:-[a-z0-9]+)+)`")
FAMILIES = {name.split("-")[0] for name in BY_NAME}
LISTED = re.compile(
    r"(?P<open><!-- obligations -->\n)(?P<list>.*)(?P<close><!-- end of obligations -->)", re.DOTALL
)
LIMIT_SECONDS = 120


def page_id(page: Path) -> str:
    return page.name


def prose(page: Path) -> str:
    """A page without its fenced blocks."""
    return FENCE.sub("", page.read_text(encoding="utf-8"))


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as they are made from their words."""
    titles = (match["title"].replace("`", "") for match in HEADING.finditer(prose(page)))
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


# --- links ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_every_relative_link_leads_somewhere(page: Path) -> None:
    for match in LINK.finditer(prose(page)):
        path, _, anchor = match["target"].partition("#")
        if "://" in path:
            continue
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{page.name}: {match['target']}"
        assert target.is_relative_to(ROOT), f"{page.name}: {match['target']} leaves the repository"
        if anchor:
            assert anchor in anchors(target), f"{page.name}: {match['target']}"


def test_every_page_is_linked_from_the_readme() -> None:
    linked = {match["target"].partition("#")[0] for match in LINK.finditer(prose(PAGES[0]))}
    assert {f"docs/{page.name}" for page in PAGES[1:]} <= linked


# --- commands -------------------------------------------------------------------------------------


def answer(command: str, folder: Path) -> str:
    """What a shell prints when the command is typed in the folder."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=os.environ | {"PATH": path, "NO_COLOR": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=LIMIT_SECONDS,
        check=False,
    )
    code = f"(exit {done.returncode})\n" if done.returncode else ""
    return done.stdout + code


@pytest.mark.parametrize("page", TYPED, ids=page_id)
def test_every_command_answers_as_shown(page: Path, tmp_path: Path) -> None:
    for name in ("docs", "tests", "reference"):
        (tmp_path / name).symlink_to(ROOT / name)
    typed = 0

    def real(block: re.Match[str]) -> str:
        nonlocal typed
        language, _, file = block["info"].partition(" ")
        if file:
            (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / file).write_text(block["body"], encoding="utf-8")
        command, _, _ = block["body"].partition("\n")
        if language != "console" or command.removeprefix("$ ").startswith(DEAR):
            return block[0]
        typed += 1
        return f"```console\n{command}\n{answer(command.removeprefix('$ '), tmp_path)}```"

    text = page.read_text(encoding="utf-8")
    found = FENCE.sub(real, text)
    if os.environ.get("TRUEHIT_WRITE_DOCS"):
        page.write_text(found, encoding="utf-8")
    assert typed >= 1
    assert found == text


def test_what_the_readme_shows_of_verify_is_of_these_proofs() -> None:
    text = PAGES[0].read_text(encoding="utf-8")
    assert f"Obligations about our own rules: {len(OBLIGATIONS)} proved" in text
    assert f"Historic defects, each refuted: {len(HISTORIC)}" in text
    assert f"lifted, judged): {len(READINGS)} rules" in text
    assert all(release in text for release in RELEASES)
    assert "PROBLEM" not in text


# --- names ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_every_obligation_and_rule_set_named_exists(page: Path) -> None:
    for match in TICKED.finditer(prose(page)):
        name = match["name"]
        if name.split("-")[0] in FAMILIES:
            assert name in BY_NAME or name in RULE_SETS, f"{page.name}: {name}"


def listed() -> Iterator[str]:
    """The list of docs/method.md: obligations by law, those of one domain together."""
    for law in LAWS:
        by_domain: dict[str, list[str]] = {}
        for obligation in OBLIGATIONS:
            if obligation.law == law.name:
                by_domain.setdefault(obligation.domain, []).append(f"`{obligation.name}`")
        if by_domain:
            yield f"**{law.name}**\n\n"
        yield from (f"* {', '.join(names)}: {words}\n" for words, names in by_domain.items())
        if by_domain:
            yield "\n"


def test_the_method_lists_every_obligation_with_its_domain() -> None:
    page = DOCS / "method.md"
    text = page.read_text(encoding="utf-8")
    made = LISTED.sub(lambda m: f"{m['open']}{''.join(listed())}{m['close']}", text)
    if os.environ.get("TRUEHIT_WRITE_DOCS"):
        page.write_text(made, encoding="utf-8")
    assert LISTED.search(text)
    assert made == text


def test_the_differences_name_every_historic_rule_set_once() -> None:
    rows = re.findall(r"^\| `([a-z-]+)` \|", (DOCS / "differences.md").read_text(), re.MULTILINE)
    assert sorted(name for name in rows if name in RULE_SETS) == sorted(r.name for r in HISTORIC)


def test_the_method_names_every_obligation_about_releases() -> None:
    text = (DOCS / "method.md").read_text(encoding="utf-8")
    assert all(f"`{name}`" in text for name in RELEASE_OBLIGATIONS)


def test_the_record_page_names_every_field() -> None:
    text = (DOCS / "record.md").read_text(encoding="utf-8")
    schema = Record.model_json_schema(mode="serialization")
    models = [schema, *schema["$defs"].values()]
    fields = {field for model in models for field in model["properties"]}
    assert {field for field in fields if f"`{field}`" not in text} == set()


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_no_page_names_a_place_of_one_machine(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert not re.search(r"(?<![\w.])/(?:work|tmp|root|home|farm)\b", text)
