"""Keep the counterexample of a rule set honest: write a missing one, check a committed one."""

from pathlib import Path

from truehit.proofs.regress.complete import completed
from truehit.proofs.regress.find import find
from truehit.proofs.regress.targets import target_of
from truehit.proofs.regress.write import Discriminates, check, file_name, write


def keep(rules: str, folder: Path) -> Discriminates:
    """The committed test of a rule set, found, shrunk and written first if there is none."""
    target = target_of(rules)
    path = folder / file_name(rules)
    if not path.is_file():
        write(find(target, completed(rules)), target, folder)
    return check(path, target)
