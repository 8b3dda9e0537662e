"""The refusal: what the lifter cannot translate exactly it does not translate at all."""


class Unsupported(Exception):
    """A construct outside the liftable fragment, with the place it stands at."""

    def __init__(self, reason: str, file: str = "", line: int = 0, source_text: str = "") -> None:
        where = f"{file}:{line}: " if file else ""
        what = f": {source_text}" if source_text else ""
        super().__init__(f"{where}{reason}{what}")
        self.reason = reason
        self.file = file
        self.line = line
        self.source_text = source_text
