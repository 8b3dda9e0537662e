"""pruned-lookup breaks the law provenance; the default rules hold.

Pruning hides the poison from a resend, a longer prompt still reads it.
Smallest run found: 3 requests, 6 prefill chunks, 29 tokens. Written by `truehit regress`.
"""

from truehit.proofs.regress.judged import first_of, judged_text

SCENARIO = """\
schema: 1
name: pruned-lookup
geometry:
  groups:
  - {name: attention, kind: full_attention, block_tokens: 2, drafted: true}
  - {name: state, kind: recurrent_state, block_tokens: 4}
  hash_unit_tokens: 2
  drop: {mode: block, cap: clamped}
  budget_tokens: 6
  max_model_tokens: 512
  pool_blocks: 11
  max_running: 8
max_steps: 600
requests:
- name: r1
  segments: ['doc:5']
  shares: [3]
- name: r2
  segments: ['doc:5', 'doc-2:5']
- name: r3
  segments: ['doc:5', 'doc-2:6']
"""


def test_pruned_lookup_breaks_provenance() -> None:
    violation = first_of(judged_text(SCENARIO, "pruned-lookup"), "provenance", "read by")
    assert violation is not None
    assert violation.sentence == (
        "request r1: column 0 is published as state@4 but holds state@3 (step 1; read by "
        "request r3 at step 4)"
    )


def test_default_holds() -> None:
    assert judged_text(SCENARIO, "default").violations == ()

