"""What a rule is asked for, as integer predicates: lifted, checked, replayed and asserted alike.

Every function here is in the liftable fragment of Python and knows no rule. A premise says when a
rule is asked; a goal says what its answer has to satisfy. Proofs lift them, the laws' checkers call
them, a counterexample is replayed through them, and the oracle asserts them at every call.
"""
