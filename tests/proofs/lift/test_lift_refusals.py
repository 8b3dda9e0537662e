"""Fail closed: what cannot be lifted exactly is refused, with its file, line and text."""

from textwrap import dedent

import pytest

from truehit.proofs.lift import IntegerDomain, SourceTree, Unsupported, lift_function, lift_source

REFUSED = {
    "and-or as a value": ("def rule(a: int, b: int):\n    return a or b", 2, "and/or"),
    "while": ("def rule(a: int):\n    while a: pass\n    return a", 2, "While"),
    "float": ("def rule(a: int):\n    return a * 0.5", 2, "Constant"),
    "true division": ("def rule(a: int):\n    return a / 2", 2, "operator Div"),
    "power": ("def rule(a: int):\n    return a ** 2", 2, "operator Pow"),
    "truth as a number": ("def rule(a: int):\n    return a + (a > 1)", 2, "truth value"),
    "recursion": ("def rule(a: int):\n    return rule(a - 1)", 2, "recursion"),
    "unknown name": ("def rule(a: int):\n    return helper(a)", 2, "unknown name helper"),
    "outside the tree": (
        "from elsewhere import helper\ndef rule(a: int):\n    return helper(a)",
        3,
        "elsewhere is not in",
    ),
    "bound twice": (
        "N = 1\nN = 2\ndef rule(a: int):\n    return a + N",
        4,
        "bound 2 times",
    ),
    "changed by global": (
        "N = 1\ndef other():\n    global N\n    N = 2\ndef rule(a: int):\n    return a + N",
        6,
        "bound 2 times",
    ),
    "decorated": (
        "def twice(f): return f\n@twice\ndef helper(a): return a\n"
        "def rule(a: int):\n    return helper(a)",
        5,
        "decorators",
    ),
    "two sorts": (
        "def rule(q):\n    if q.x and q.y > 1:\n        return q.y\n    return q.x + 1",
        4,
        "truth value",
    ),
    "one path only": (
        "def rule(a: int):\n    if a > 1:\n        b = 2\n    return b",
        4,
        "assigned on one path only",
    ),
    "read too early": (
        "b = 5\ndef rule(a: int):\n    c = b\n    b = a\n    return c",
        3,
        "read before it is assigned",
    ),
    "symbolic loop": (
        "def rule(a: int):\n    t = 0\n    for i in range(a):\n        t += i\n    return t",
        3,
        "range of these arguments",
    ),
    "long loop": (
        "def rule(a: int):\n    t = 0\n    for i in range(65):\n        t += a\n    return t",
        3,
        "65",
    ),
    "break": (
        "def rule(a: int):\n    for i in range(3):\n        if a: break\n    return a",
        3,
        "break",
    ),
    "assigned attribute": ("def rule(q):\n    q.x = 1\n    return q.x", 2, "assignment"),
    "unpacked": (
        "def helper(*n): return 1\ndef rule(a: int):\n    return helper(*[a])",
        3,
        "unpacked",
    ),
    "attribute called": ("def rule(q):\n    return q.x(1)", 2, "not in the tree"),
    "mixed result": (
        "def rule(a: int):\n    if a > 1:\n        return True\n    return a",
        1,
        "truth value on one path",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_is_refused_where_it_stands(name: str) -> None:
    text, line, reason = REFUSED[name]
    tree = SourceTree("sample", {"sample.py": text})
    with pytest.raises(Unsupported) as caught:
        lift_source(tree, "sample.rule", IntegerDomain())
    assert reason in str(caught.value)
    assert (caught.value.file, caught.value.line) == ("sample.py", line)
    assert caught.value.source_text


def test_a_field_a_data_class_does_not_have() -> None:
    text = dedent("""
        from dataclasses import dataclass
        @dataclass(frozen=True)
        class Query:
            x: int
        def rule(q: Query) -> int:
            return q.y
        """)
    with pytest.raises(Unsupported, match="Query has no y"):
        lift_source(SourceTree("sample", {"sample.py": text}), "sample.rule", IntegerDomain())


def test_a_function_that_is_not_there() -> None:
    tree = SourceTree("sample", {"sample.py": "class A:\n    pass"})
    for name in ("sample.rule", "sample.A.rule", "other.rule"):
        with pytest.raises(Unsupported):
            lift_source(tree, name, IntegerDomain())


def test_a_nested_function() -> None:
    def inner(a: int) -> int:
        return a

    with pytest.raises(Unsupported, match="not a module-level function"):
        lift_function(inner, IntegerDomain())
