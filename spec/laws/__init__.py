"""The thirteen laws, in the order of the design. Each is one file: its sentence, what it sees, what
not."""

from truehit.spec.laws.admission import Admission
from truehit.spec.laws.base import Law
from truehit.spec.laws.commit import Commit
from truehit.spec.laws.conservation import Conservation
from truehit.spec.laws.grid import Grid
from truehit.spec.laws.joint import Joint
from truehit.spec.laws.neutrality import Neutrality
from truehit.spec.laws.ownership import Ownership
from truehit.spec.laws.progress import Progress
from truehit.spec.laws.provenance import Provenance
from truehit.spec.laws.reach import Reach
from truehit.spec.laws.retirement import Retirement
from truehit.spec.laws.seed import Seed
from truehit.spec.laws.uniqueness import Uniqueness

LAWS: tuple[type[Law], ...] = (
    Provenance,
    Commit,
    Uniqueness,
    Grid,
    Seed,
    Reach,
    Joint,
    Admission,
    Progress,
    Ownership,
    Retirement,
    Conservation,
    Neutrality,
)
