"""The refusal of a geometry: one sentence with the field, its number, why, and what works."""


def one_line(text: str) -> str:
    """The text with everything that does not print, line ends included, written as an escape."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


class GeometryError(ValueError):
    """An impossible geometry. `number` is None when the field has no number (it is missing)."""

    def __init__(self, field: str, number: int | None, sentence: str) -> None:
        super().__init__(field, number, sentence)
        self.field = field
        self.number = number
        self.sentence = sentence

    def __str__(self) -> str:
        return one_line(self.sentence)


def refusal(field: str, number: int | None, why: str, works: str) -> GeometryError:
    """The error in its one form: `field is number: why; works`."""
    value = "missing" if number is None else str(number)
    return GeometryError(field, number, f"{field} is {value}: {why}; {works}")
