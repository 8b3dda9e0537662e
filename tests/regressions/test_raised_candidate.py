"""raised-candidate: a state exists at the margin above what attention offers.

The law joint names it; the default rules hold. Written by `truehit regress`.
Smallest run found: 2 requests, 2 prefill chunks, 15 tokens.
"""

from truehit.proofs.regress.judged import first_of, judged_text

SCENARIO = """\
schema: 1
name: raised-candidate
geometry:
  groups:
  - {name: attention, kind: full_attention, block_tokens: 6, drafted: true}
  - {name: state, kind: recurrent_state, block_tokens: 1}
  hash_unit_tokens: 1
  drop: {mode: block, cap: clamped}
  budget_tokens: 6
  max_model_tokens: 512
  pool_blocks: 5
  max_running: 2
max_steps: 600
requests:
- name: r1
  segments: ['doc:6']
- name: r2
  segments: ['doc:7']
"""


def test_raised_candidate_breaks_joint() -> None:
    violation = first_of(judged_text(SCENARIO, "raised-candidate"), "joint")
    assert violation is not None
    assert violation.sentence == (
        "request r2: hits 6, but all groups together can resume at 0 (step 1)"
    )


def test_default_holds() -> None:
    assert judged_text(SCENARIO, "default").violations == ()
