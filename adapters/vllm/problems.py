"""What can go wrong around a real vLLM; each is one line, for the user."""


class BuildError(Exception):
    """An environment that cannot be made, or a subject that cannot be found."""


class PeerError(Exception):
    """A driver inside the environment that did not answer, or answered with a problem."""


class PeerEnded(PeerError):
    """The driver is gone: it ended, crashed, or ran out of memory. A new one can be started."""


class PeerLate(PeerEnded):
    """The driver was ended because it did not answer in its time."""
