"""The row of known defects of every release is the published one, with the numbers that show it.

The oldest and the newest release are brought if they are not there; those between are judged where
somebody has brought them before.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from truehit.adapters.vllm.driver import Driver
from truehit.adapters.vllm.environment import build, user_layout
from truehit.adapters.vllm.known import Known, judge_known

TABLE: dict[str, dict[str, str]] = yaml.safe_load(
    (Path(__file__).parent / "data" / "releases.yaml").read_text(encoding="utf-8")
)
ALWAYS = ("0.26.0", "0.33.0")
RELEASES = [v for v in TABLE if v in ALWAYS or user_layout().release(v).is_dir()]

pytestmark = [pytest.mark.releases, pytest.mark.timeout(1800)]


@pytest.fixture(scope="module", params=RELEASES)
def judged(request: pytest.FixtureRequest) -> Iterator[tuple[str, dict[str, Known]]]:
    """A release and what was found in it."""
    with Driver(build(request.param, print)) as driver:
        yield request.param, {known.defect: known for known in judge_known(driver)}


def test_the_row_is_the_published_one(judged: tuple[str, dict[str, Known]]) -> None:
    release, found = judged
    assert {defect: known.status.value for defect, known in found.items()} == TABLE[release]


def test_the_evidence_has_the_numbers_of_the_run(judged: tuple[str, dict[str, Known]]) -> None:
    release, found = judged
    for defect, words in EVIDENCE[release].items():
        assert words in found[defect].evidence


EVIDENCE: dict[str, dict[str, str]] = {
    "0.26.0": {
        "S0": "no chunk of (0, 6912)(6912, 9216)(9216, 11604) exports a state",
        "S1-grid": "hash_block_size=84048",
        "S1-stop": "carved (0, 8240)(8240, 8500); a sibling that shares 4944 hits 0",
        "S2": "carved (0, 4800)(4800, 6400), hit [0, 0, 3200, 3200]",
        "S3": "at 0, 7292 tokens, carved (0, 4800)(4800, 7292), hit [0, 0, 4800, 4800]",
        "S4": "published as state@1600 but holds state@364 (step 1); it is block 26, r4 is carved "
        "(0, 364)(364, 1957)",
    },
    "0.27.1": {"S3": "without it, 7292 tokens, carved (0, 4800)(4800, 7292), hit [0, 4800,"},
    "0.29.0": {
        "S0": "exports state@11520, and every key of such a step names a block that it wrote",
        "S3": "7292 tokens, carved (0, 4800)(4800, 7292), hit [0, 0, 4800, 4800]",
    },
    "0.30.0": {
        "S0": "step 1: block 7 is published as state@9216 but nothing wrote it, the state was "
        "exported to block 9",
    },
    "0.31.0": {
        "S0": "step 1: block 6 is published as state@9216 but nothing wrote it, the state was "
        "exported to block 9; carved (0, 6912)(6912, 11604), the resend hits 9216",
    },
    "0.32.0": {"S2": "carved (0, 4800)(4800, 6400), hit [0, 4800, 4800, 4800]"},
    "0.33.0": {
        "S0": "carved (0, 6912)(6912, 11604), exports state@9216",
        "S1-grid": "published as state@8240 but holds state@8160 (step 1",
        "S1-stop": "a sibling that shares 4944 hits 0",
        "S4": "r4 is carved (0, 1957), and every published state is the one it claims",
    },
}
