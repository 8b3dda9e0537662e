"""A bad scenario file is refused in one line: where, what, which number, and what would work."""

from typing import Any

from pydantic import ValidationError

from truehit.spec.geometry_error import one_line

_EXAMPLES = {
    "schema": "1",
    "name": "r1",
    "geometry": "a mapping with groups and hash_unit_tokens",
    "requests": "a list with one request",
    "groups": "[{name: full, kind: full_attention, block_tokens: 16}]",
    "hash_unit_tokens": "16",
    "kind": "full_attention",
    "block_tokens": "16",
    "cap": "margin",
    "tokens": "1",
    "segments": "['doc:6400']",
    "at": "0",
    "step": "0",
    "request": "r1",
    "blocks": "1",
}
_NEEDED = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "bool_type": "true or false",
    "list_type": "a list",
    "model_type": "a mapping of keys",
    "dict_type": "a mapping of keys",
}
_SHOWN_CHARACTERS = 60


class ScenarioError(ValueError):
    """`path` of the field (empty: the whole file), the sentence, and the file it came from."""

    def __init__(self, path: str, sentence: str, source: str = "") -> None:
        super().__init__(path, sentence, source)
        self.path = path
        self.sentence = sentence
        self.source = source

    def __str__(self) -> str:
        parts = (self.source, self.path, self.sentence)
        return one_line(": ".join(part for part in parts if part))


def from_validation(error: ValidationError) -> ScenarioError:
    """The first mistake that the schema found, in our words."""
    first = error.errors(include_url=False)[0]
    path = path_text(first["loc"])
    value = shown(first["input"])
    context = first.get("ctx", {})
    match first["type"]:
        case "missing":
            key = str(first["loc"][-1])
            return ScenarioError(path, f"is missing; {_EXAMPLES.get(key, 'a value')} works")
        case "unknown_key":
            where = f"{path}.{context['key']}" if path else str(context["key"])
            return ScenarioError(where, first["msg"])
        case "literal_error" | "enum":
            return ScenarioError(path, f"{value} is unknown; {context['expected']} works")
        case "string_type":
            return ScenarioError(path, f'{value} is not text; "{value}" works')
        case "value_error":
            return ScenarioError(path, str(context["error"]))
        case kind if kind in _NEEDED:
            return ScenarioError(path, f"{value} does not fit; {_NEEDED[kind]} works")
        case _:
            return ScenarioError(path, first["msg"])


def path_text(location: tuple[int | str, ...]) -> str:
    """`requests[2].segments[0]`; the tags of unions, written <tag>, are no part of the file."""
    path = ""
    for part in location:
        if isinstance(part, int):
            path += f"[{part}]"
        elif not part.startswith("<"):
            path += f".{part}" if path else part
    return path


def shown(value: Any) -> str:
    """The value, cut to a readable length."""
    text = repr(value)
    return text if len(text) <= _SHOWN_CHARACTERS else text[:_SHOWN_CHARACTERS] + "…"
