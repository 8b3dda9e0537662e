"""S1-stop, S2 and S3: nothing wrong is served, but what could be reused is not.

S1-stop: a chunk passes several boundaries and saves none of them, so a sibling that shares some
finds nothing. S2: a prompt that ends on a block keeps only states that its own resend cannot land
on, with every boundary kept. S3: with retention 0 the one state that is kept lies above all that a
lookup with a drop can offer. Both are seen on the second send.
"""

from truehit.adapters.vllm.driver import Driver
from truehit.adapters.vllm.known.play import dense, drop_modes, play, scenario_of
from truehit.adapters.vllm.known.status import Known, Status
from truehit.spec.scenario import Scenario

STOP = "S1-stop"
ALIGNED = "S2"
RETENTION = "S3"
SHARED_TOKENS = 4944
"""Three blocks of 1648 tokens."""


def judge_stop(driver: Driver) -> Known:
    """Equal blocks, no drafts."""
    run = play(driver, scenario_of(STOP))
    hit, carve = run.hits["sibling"], run.carve("first")
    evidence = f"the prompt is carved {carve}; a sibling that shares {SHARED_TOKENS} hits {hit}"
    return Known(STOP, Status.CLEAN if hit == SHARED_TOKENS else Status.PRESENT, evidence)


def judge_aligned(driver: Driver) -> Known:
    """With both drop modes."""
    found = [_second_send(driver, ALIGNED, one) for one in drop_modes(scenario_of(ALIGNED))]
    return next((one for one in found if one.status is Status.PRESENT), found[0])


def judge_retention(driver: Driver) -> Known:
    """With both drop modes; where retention is no option, that it is lost is a matter of a
    variable that somebody has to set."""
    modes = drop_modes(scenario_of(RETENTION))
    found = [_second_send(driver, RETENTION, one) for one in modes]
    lost = next((one for one in found if one.status is Status.PRESENT), None)
    if lost is None:
        return found[0]
    default = play(driver, dense(modes[0]))
    if default.driven.facts["retention_is_option"]:
        return lost
    without = _second_send(driver, RETENTION, dense(modes[0]))
    evidence = f"with the retention variable at 0, {lost.evidence}; without it, {without.evidence}"
    status = Status.OPT_IN if without.status is Status.CLEAN else Status.PRESENT
    return Known(RETENTION, status, evidence)


def _second_send(driver: Driver, defect: str, scenario: Scenario) -> Known:
    run = play(driver, scenario)
    first, second, *_ = scenario.requests
    hits = [run.hits[request.name] for request in scenario.requests]
    evidence = f"{first.prompt_tokens} tokens, carved {run.carve(first.name)}, hit {hits} when sent"
    return Known(defect, Status.CLEAN if run.hits[second.name] else Status.PRESENT, evidence)
