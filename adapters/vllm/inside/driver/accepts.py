"""A release's functions take what they know: arguments that came later are left out before."""

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any


@cache
def _accepted(callable_: Callable[..., Any]) -> frozenset[str] | None:
    """The names it takes; None: any."""
    parameters = inspect.signature(callable_).parameters.values()
    if any(one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters):
        return None
    return frozenset(one.name for one in parameters)


def only(callable_: Callable[..., Any], **arguments: Any) -> Any:
    """Call it with those of the arguments that it takes."""
    accepted = _accepted(callable_)
    known = arguments if accepted is None else {k: v for k, v in arguments.items() if k in accepted}
    return callable_(**known)
