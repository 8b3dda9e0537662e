"""What all models of a scenario file share: strict types, no unknown keys, schema hints."""

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

# The schema tells editors the limits; the sentences come from the checks of the dataclasses, so
# that a scenario made in code and one read from a file are refused in the same words.
Positive = Annotated[int, Field(json_schema_extra={"minimum": 1})]
NotNegative = Annotated[int, Field(json_schema_extra={"minimum": 0})]


class Edge(BaseModel):
    """Strict, frozen, and an unknown key is refused with the known one that is most like it."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, protected_namespaces=())

    @model_validator(mode="before")
    @classmethod
    def _known_keys(cls, data: Any) -> Any:
        if isinstance(data, Mapping):
            known = [field.alias or name for name, field in cls.model_fields.items()]
            for key in data:
                if key not in known:
                    raise _unknown(str(key), known)
        return data


def _unknown(key: str, known: list[str]) -> PydanticCustomError:
    close = get_close_matches(key, known, n=1, cutoff=0.5)
    works = close[0] if close else "one of " + ", ".join(known)
    return PydanticCustomError(
        "unknown_key", "is an unknown key; {works} works", {"key": key, "works": works}
    )
