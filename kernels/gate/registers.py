"""The committed register counts: `registers.json`, by Triton, kernel and variant, architecture."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from truehit.kernels.gate.judge import spills
from truehit.kernels.gate.measurement import Job, Measured, Taken

COMMITTED = Path(__file__).with_name("registers.json")
Counts = dict[str, dict[str, dict[str, int]]]
COUNTS: TypeAdapter[Counts] = TypeAdapter(Counts)


class BadTable(Exception):
    """The file is not a register table; one line."""


@dataclass(frozen=True, slots=True)
class Registers:
    """`counts[triton][kernel/variant][architecture]`."""

    counts: Counts

    def of(self, triton: str, job: Job) -> int | None:
        """What is recorded of a job."""
        return self.counts.get(triton, {}).get(job.name, {}).get(job.architecture)

    def with_measured(self, triton: str, taken: Iterable[Taken], whole: bool) -> "Registers":
        """The table after a run; a run of the whole package forgets kernels that are gone."""
        counts = {} if whole else {name: dict(of) for name, of in self._of(triton).items()}
        for each in taken:
            if isinstance(each.answer, Measured) and spills(each.answer) is None:
                of = counts.setdefault(each.job.name, {})
                of[each.job.architecture.value] = each.answer.registers
        return Registers(self.counts | {triton: counts})

    def _of(self, triton: str) -> dict[str, dict[str, int]]:
        return self.counts.get(triton, {})


def read(path: Path) -> Registers:
    """A table; an empty one where there is no file.

    Raises:
        BadTable: it is none.
    """
    if not path.exists():
        return Registers({})
    try:
        return Registers(COUNTS.validate_json(path.read_bytes()))
    except ValidationError as error:
        first = error.errors()[0]
        where = "/".join(str(part) for part in first["loc"])
        raise BadTable(f"{path.name}: {where or 'the file'}: {first['msg']}") from None


def write(path: Path, table: Registers) -> None:
    """One line a kernel and variant, in order: a change shows as that line."""
    parts = []
    for triton, kernels in sorted(table.counts.items()):
        rows = [f"  {json.dumps(name)}: {json.dumps(of)}" for name, of in sorted(kernels.items())]
        parts.append(f" {json.dumps(triton)}: {{\n" + ",\n".join(rows) + "\n }")
    path.write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")
