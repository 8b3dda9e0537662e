"""margin-state-block: state block and alignment differ.

The law reach names it; the default rules hold. Written by `truehit regress`.
Smallest run found: 2 requests, 6 prefill chunks, 19 tokens.
"""

from truehit.proofs.regress.judged import first_of, judged_text

SCENARIO = """\
schema: 1
name: margin-state-block
geometry:
  groups:
  - {name: attention, kind: full_attention, block_tokens: 4, drafted: true}
  - {name: state, kind: recurrent_state, block_tokens: 1}
  hash_unit_tokens: 1
  drop: {mode: block, cap: margin}
  retention: 0
  budget_tokens: 7
  max_model_tokens: 512
  pool_blocks: 6
  max_running: 8
max_steps: 600
requests:
- name: r1
  segments: ['doc:9']
- name: r2
  segments: ['doc:8']
"""


def test_margin_state_block_breaks_reach() -> None:
    violation = first_of(judged_text(SCENARIO, "margin-state-block"), "reach", "hits 0")
    assert violation is not None
    assert violation.sentence == (
        "request r2: hits 0, but shares 8 tokens with a committed prefill that kept 4 (step "
        "2)"
    )


def test_default_holds() -> None:
    assert judged_text(SCENARIO, "default").violations == ()


def test_margin_alignment_holds() -> None:
    assert judged_text(SCENARIO, "margin-alignment").violations == ()
