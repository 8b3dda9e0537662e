"""Everything an engine is made of, as one comparable value: arrays, queues, ranges."""

from typing import Any

from truehit.engine.api import Engine


def snapshot(engine: Engine) -> dict[str, Any]:
    """Equal before and after an operation iff the operation left no trace at all."""
    host = engine.host
    parts: dict[str, Any] = {
        name: (array.shape, array.tobytes()) for name, array in host.core._asdict().items()
    }
    for name, value in vars(host).items():
        if name not in ("core", "handle", "watch", "_table"):
            parts[name] = _plain(value)
    return parts


def _plain(value: Any) -> Any:
    """A copy that no later operation changes."""
    slots = getattr(type(value), "__slots__", ())
    if type(value).__name__ == "Ranges":
        return {name: _plain(getattr(value, name)) for name in slots}
    match value:
        case dict():
            return {key: _plain(entry) for key, entry in value.items()}
        case list():
            return [_plain(entry) for entry in value]
        case _:
            return value


def differences(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """The names of the parts that changed."""
    return [name for name in before if before[name] != after[name]]
