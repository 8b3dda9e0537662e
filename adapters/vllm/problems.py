"""What can go wrong around a real vLLM; each is one line, for the user."""


class BuildError(Exception):
    """An environment that cannot be made."""


class PeerError(Exception):
    """A driver inside the environment that did not answer, or answered with a problem."""
