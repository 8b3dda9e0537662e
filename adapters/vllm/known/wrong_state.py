"""S1-grid and S4: a block is published as a state that it does not hold.

S1-grid: chunks end on the smallest block of all groups, where the state block has no end. S4: a
chunk that the budget cuts off beyond the last position that is kept ends inside of a block, and the
next one passes the block's end. Either way the laws find the block by what was written to it.
"""

from truehit.adapters.vllm.driver import Driver
from truehit.adapters.vllm.known.play import Run, drop_modes, play, scenario_of
from truehit.adapters.vllm.known.status import Known, Status

GRID = "S1-grid"
CUT_OFF = "S4"


def judge_grid(driver: Driver) -> Known:
    """Without drafts, with every boundary kept."""
    run = play(driver, scenario_of(GRID))
    if run.refusal is not None:
        return Known(GRID, Status.REFUSES, f"blocks of 816 and 1648 tokens: {run.refusal}")
    return _judge(GRID, run, "first")


def judge_cut_off(driver: Driver) -> Known:
    """Ten prompts of 1957 tokens in a budget of 8192, with both drop modes."""
    runs = [play(driver, scenario) for scenario in drop_modes(scenario_of(CUT_OFF))]
    found = [_judge(CUT_OFF, run, "r4") for run in runs]
    return next((one for one in found if one.status is not Status.CLEAN), found[0])


def _judge(defect: str, run: Run, request: str) -> Known:
    carve = run.carve(request)
    wrong = run.of_law("provenance")
    if not wrong:
        evidence = f"{request} is carved {carve}, and every published state is the one it claims"
        return Known(defect, Status.CLEAN, evidence)
    first = wrong[0]
    evidence = f"{first.sentence}; it is block {first.block}, {first.request} is carved {carve}"
    return Known(defect, Status.PRESENT, evidence)
