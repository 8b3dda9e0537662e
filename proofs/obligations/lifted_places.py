"""File, first line and hash of every function or constant that a proof was lifted from."""

import ast
import hashlib
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import truehit
from truehit.proofs.obligations.ask import Finding

ROOT = Path(truehit.__file__).resolve().parent.parent


def places(findings: Sequence[Finding]) -> tuple[tuple[str, int, str], ...]:
    """What stands behind some findings, in order of file and line."""
    found = {
        (place.file, place.line, _sha256(place.file, place.line))
        for finding in findings
        for provenance in finding.lifted
        for place in provenance.functions
    }
    return tuple(sorted(found))


def _sha256(file: str, line: int) -> str:
    return hashlib.sha256(_statements(file)[line].encode()).hexdigest()


@lru_cache(maxsize=64)
def _statements(file: str) -> dict[int, str]:
    """Source text by first line, of all definitions and constants of a file."""
    text = (ROOT / file).read_text(encoding="utf-8")
    lines = text.splitlines()
    return {
        node.lineno: "\n".join(lines[node.lineno - 1 : node.end_lineno])
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.Assign | ast.AnnAssign)
    }
