"""The row of a release: every known defect, in the order of the published table."""

from truehit.adapters.vllm.driver import Driver
from truehit.adapters.vllm.known import lost_reuse, scratch_under_key, wrong_state
from truehit.adapters.vllm.known.status import Known

JUDGES = (
    scratch_under_key.judge,
    wrong_state.judge_grid,
    lost_reuse.judge_stop,
    lost_reuse.judge_aligned,
    lost_reuse.judge_retention,
    wrong_state.judge_cut_off,
)


def judge_known(driver: Driver) -> tuple[Known, ...]:
    """Drives a scenario or two a defect: a second for a release that is imported already."""
    return tuple(judge(driver) for judge in JUDGES)
