"""A clean trace breaks no law: two requests, the second one resumes from the first one's blocks."""

from .script import Script


def first_request() -> Script:
    """`a` prefills 10 tokens into pages 1, 2, 3 and states 4, 5, 6, and ends (steps 0 to 3)."""
    script = Script().submit("a", ("doc", 8), ("tail-a", 2), output=1)
    script.lookup("a", 9, 0)
    script.prefill("a", 10, (1, 2, 3), (4, 5, 6))
    return script.end("a").complete(counts=(0, 4, 27))


def two_requests() -> Script:
    """`b` shares 8 tokens with `a` and has 4 more, hits 8, and ends (step 4)."""
    script = first_request()
    script.submit("b", ("doc", 8), ("tail-b", 4), output=1).lookup("b", 11, 8)
    script.resume("b", 8, 12, (1, 2), 5, (7, 8))
    script.publish("b", "full", (12, 7)).publish("b", "state", (12, 8))
    return script.end("b").complete(counts=(0, 6, 25))


def test_a_clean_trace_breaks_no_law() -> None:
    verdict = two_requests().judge()
    assert verdict.violations == ()
    assert verdict.not_observed == ()
    assert verdict.open_requests == ()
    assert verdict.events == len(two_requests().events)


def test_an_unfinished_request_is_open_not_violated() -> None:
    script = Script().submit("a", ("doc", 8)).lookup("a", 7, 0)
    script.prefill("a", 8, (1, 2), (3, 4))
    verdict = script.judge()
    assert verdict.violations == ()
    assert verdict.open_requests == ("a",)
