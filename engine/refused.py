"""The one exception of the serving interface."""


class Refused(ValueError):
    """The engine cannot do what was asked and is as it was. The message is one line: what, which
    number, and a number that would work."""
