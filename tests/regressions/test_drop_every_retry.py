"""drop-every-retry breaks the law joint; the default rules hold.

A state group lowers the candidate, and the drop is applied again.
Smallest run found: 3 requests, 5 prefill chunks, 35 tokens. Written by `truehit regress`.
"""

from truehit.proofs.regress.judged import first_of, judged_text

SCENARIO = """\
schema: 1
name: drop-every-retry
geometry:
  groups:
  - {name: attention, kind: full_attention, block_tokens: 3, drafted: true}
  - {name: state, kind: recurrent_state, block_tokens: 1}
  hash_unit_tokens: 1
  drop: {mode: block, cap: clamped}
  retention: 0
  budget_tokens: 6
  max_model_tokens: 512
  pool_blocks: 9
  max_running: 4
max_steps: 600
requests:
- name: r1
  segments: ['doc:6']
- name: r2
  segments: ['doc:13']
- name: r3
  segments: ['doc:13']
"""


def test_drop_every_retry_breaks_joint() -> None:
    violation = first_of(judged_text(SCENARIO, "drop-every-retry"), "joint")
    assert violation is not None
    assert violation.sentence == (
        "request r3: hits 0, but every group can resume at 3 (step 3)"
    )


def test_default_holds() -> None:
    assert judged_text(SCENARIO, "default").violations == ()

