"""What the chunk splitters of released engines prove and break, lifted from their own source.

`judge(tree, release)` asks every obligation at all sizes and at listed ones; `judge_release` reads
the release first.
"""

from truehit.proofs.releases.judge import RELEASES, judge, judge_release
from truehit.proofs.releases.report import ReleaseReport, ReleaseRow

__all__ = ["RELEASES", "ReleaseReport", "ReleaseRow", "judge", "judge_release"]
