"""Bad input is one line on stderr: what, where, which number, and what would work."""

from collections.abc import Iterable
from difflib import get_close_matches


class InputError(ValueError):
    """Something the user gave cannot be used; the message is the line that is shown."""


def unknown_name(what: str, name: str, known: Iterable[str]) -> InputError:
    """The refusal of a name, with the nearest one that is known."""
    names = sorted(known)
    near = get_close_matches(name, names, n=1, cutoff=0.4)
    works = f"{near[0]} is the nearest" if near else f"one of {', '.join(names)} works"
    return InputError(f"{what} '{name}' is unknown; {works}")


def one_line(error: BaseException) -> str:
    """The text of an error without line breaks."""
    return " ".join(str(error).split()) or type(error).__name__
