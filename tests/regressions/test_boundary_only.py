"""boundary-only breaks the law reach; the default rules hold.

The only state kept lies above what a dropped lookup offers.
Smallest run found: 2 requests, 4 prefill chunks, 9 tokens. Written by `truehit regress`.
"""

from truehit.proofs.regress.judged import first_of, judged_text

SCENARIO = """\
schema: 1
name: boundary-only
geometry:
  groups:
  - {name: attention, kind: full_attention, block_tokens: 1, drafted: true}
  - {name: state, kind: recurrent_state, block_tokens: 1, drafted: true}
  hash_unit_tokens: 1
  drop: {mode: block, cap: clamped}
  retention: 0
  budget_tokens: 2
  max_model_tokens: 16384
  pool_blocks: 8
max_steps: 600
requests:
- name: r1
  segments: ['doc:3']
- name: r2
  segments: ['doc:4']
"""


def test_boundary_only_breaks_reach() -> None:
    violation = first_of(judged_text(SCENARIO, "boundary-only"), "reach", "hits 0")
    assert violation is not None
    assert violation.sentence == (
        "request r2: hits 0, but shares 2 tokens with a committed prefill that kept 1 (step "
        "1)"
    )


def test_default_holds() -> None:
    assert judged_text(SCENARIO, "default").violations == ()


def test_margin_alignment_holds() -> None:
    assert judged_text(SCENARIO, "margin-alignment").violations == ()


def test_margin_own_bit_holds() -> None:
    assert judged_text(SCENARIO, "margin-own-bit").violations == ()

