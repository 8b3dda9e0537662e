"""margin-state-block breaks the law reach; the default rules hold.

State block and alignment differ.
Smallest run found: 2 requests, 6 prefill chunks, 11 tokens. Written by `truehit regress`.
"""

from truehit.proofs.regress.judged import first_of, judged_text

SCENARIO = """\
schema: 1
name: margin-state-block
geometry:
  groups:
  - {name: attention, kind: full_attention, block_tokens: 2, drafted: true}
  - {name: state, kind: recurrent_state, block_tokens: 1}
  hash_unit_tokens: 1
  drop: {mode: block, cap: margin}
  retention: 0
  budget_tokens: 3
  max_model_tokens: 16384
  pool_blocks: 6
max_steps: 600
requests:
- name: r1
  segments: ['doc:5']
- name: r2
  segments: ['doc:4']
"""


def test_margin_state_block_breaks_reach() -> None:
    violation = first_of(judged_text(SCENARIO, "margin-state-block"), "reach", "hits 0")
    assert violation is not None
    assert violation.sentence == (
        "request r2: hits 0, but shares 4 tokens with a committed prefill that kept 2 (step "
        "2)"
    )


def test_default_holds() -> None:
    assert judged_text(SCENARIO, "default").violations == ()


def test_margin_alignment_holds() -> None:
    assert judged_text(SCENARIO, "margin-alignment").violations == ()

