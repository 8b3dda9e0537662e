"""raised-candidate breaks the law joint; the default rules hold.

A state exists at the margin above what attention offers.
Smallest run found: 2 requests, 2 prefill chunks, 9 tokens. Written by `truehit regress`.
"""

from truehit.proofs.regress.judged import first_of, judged_text

SCENARIO = """\
schema: 1
name: raised-candidate
geometry:
  groups:
  - {name: attention, kind: full_attention, block_tokens: 3, drafted: true}
  - {name: state, kind: recurrent_state, block_tokens: 1}
  hash_unit_tokens: 1
  drop: {mode: block, cap: clamped}
  budget_tokens: 3
  max_model_tokens: 16384
  pool_blocks: 5
max_steps: 600
requests:
- name: r1
  segments: ['doc:3']
- name: r2
  segments: ['doc:4']
"""


def test_raised_candidate_breaks_joint() -> None:
    violation = first_of(judged_text(SCENARIO, "raised-candidate"), "joint")
    assert violation is not None
    assert violation.sentence == (
        "request r2: hits 3, but all groups together can resume at 0 (step 1)"
    )


def test_default_holds() -> None:
    assert judged_text(SCENARIO, "default").violations == ()

