"""`python -m truehit.adapters.vllm.matrix`: audit the seven releases, write records and a page."""

import argparse
import json
import sys
from pathlib import Path

from truehit.adapters.vllm.audit.audit import Asked, audit
from truehit.adapters.vllm.audit.report import AuditRecord
from truehit.adapters.vllm.audit.search import Scenarios
from truehit.adapters.vllm.environment import build
from truehit.adapters.vllm.matrix.page import FOLDER, page
from truehit.proofs.releases import RELEASES

SCENARIOS = 200


def main() -> int:
    """Always 0: what is found is the point, not a failure."""
    parser = argparse.ArgumentParser(prog="python -m truehit.adapters.vllm.matrix")
    parser.add_argument("--scenarios", type=int, default=SCENARIOS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", nargs="*", help="releases such as 0.33.0; default: all seven")
    parser.add_argument("--page", type=Path, help="write the page here")
    wanted = parser.parse_args()
    versions = wanted.only or [release.removeprefix("vllm==") for release in RELEASES]
    records = [_audited(version, wanted) for version in versions]
    if wanted.page is not None:
        wanted.page.write_text(page(records), encoding="utf-8")
    return 0


def _audited(version: str, wanted: argparse.Namespace) -> AuditRecord:
    environment = build(version, _tell)
    asked = Asked(Scenarios(wanted.scenarios), wanted.seed, wanted.jobs, None, lifts=True)
    record = audit(environment, asked, _tell)
    folder = Path(FOLDER)
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(record.model_dump(mode="json"), indent=1)
    (folder / f"vllm-{version}.json").write_text(text + "\n", encoding="utf-8")
    for known in record.known:
        _tell(f"vllm=={version} {known.defect}: {known.status}")
    return record


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
