"""`law`: the thirteen laws; one by name with what its checker verifies and what it does not."""

from typing import Annotated, Any

import typer

from truehit.cli.exits import Exit
from truehit.cli.options import AsJson


def command(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="One law; without it, all.")
    ] = None,
    as_json: AsJson = False,
) -> Exit:
    """List the laws, or one of them with what is verified and what is not."""
    from truehit.cli.errors import unknown_name
    from truehit.cli.output import console, write_json
    from truehit.spec.laws import LAWS

    laws = {law.name: law for law in LAWS}
    if name is not None and name not in laws:
        raise unknown_name("law", name, laws)
    chosen = [laws[name]] if name is not None else list(laws.values())
    cards = [law_card(law) for law in chosen]
    if as_json:
        write_json({"laws": cards}, None)
        return Exit.HOLDS
    screen = console()
    for card in cards:
        print_card(screen, card, full=name is not None)
    return Exit.HOLDS


def law_card(law: Any) -> dict[str, Any]:
    """Name, sentence, planes, and the two paragraphs of the law file's head."""
    return {
        "name": law.name,
        "sentence": law.sentence,
        "planes": sorted(law.planes),
        "verified": _paragraph(law, "*verified*"),
        "not_verified": _paragraph(law, "*not verified*"),
    }


def _paragraph(law: Any, mark: str) -> str:
    """The paragraph of the module's docstring that begins with the mark, on one line."""
    from sys import modules

    for paragraph in (modules[law.__module__].__doc__ or "").split("\n\n"):
        text = " ".join(paragraph.split())
        if text.startswith(mark):
            return text.removeprefix(mark).lstrip(": ")
    return ""


def print_card(screen: Any, card: dict[str, Any], full: bool) -> None:
    """A law in the terminal."""
    from rich.text import Text

    from truehit.cli.output import print_indented

    print_indented(screen, Text(f"{card['name']}: ", "bold"), card["sentence"])
    if not full:
        return
    for title, text in (
        ("verified", card["verified"]),
        ("not verified", card["not_verified"]),
        ("planes", ", ".join(card["planes"])),
    ):
        screen.print()
        print_indented(screen, Text(f"{title}: ", "bold"), text)
