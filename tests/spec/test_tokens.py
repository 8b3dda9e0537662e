"""Two prefixes are equal exactly when their ids are equal: checked against written-out tokens."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truehit.spec.tokens import Segment, TokenPath, TokenTree

Spelled = list[tuple[object, ...]]


def spell(segments: tuple[Segment, ...], salt: str) -> Spelled:
    """Every token written out: where its stream was entered, the stream, the index in it."""
    tokens: Spelled = []
    entered: tuple[object, ...] = (salt,)
    for segment in segments:
        entered = (*entered, len(tokens), segment.name)
        tokens.extend((*entered, index) for index in range(segment.tokens))
    return tokens


def common(a: Spelled, b: Spelled) -> int:
    shared = 0
    while shared < min(len(a), len(b)) and a[shared] == b[shared]:
        shared += 1
    return shared


def path(tree: TokenTree, *texts: str, salt: str = "") -> TokenPath:
    parts = (text.rpartition(":") for text in texts)
    return tree.path(tuple(Segment(name, int(tokens)) for name, _, tokens in parts), salt)


def test_the_same_document_is_shared_up_to_the_shorter_cut() -> None:
    tree = TokenTree()
    parent = path(tree, "doc:6400", "tail-a:100")
    sibling = path(tree, "doc:3400", "tail-b:100")
    assert parent.shared_tokens(sibling) == sibling.shared_tokens(parent) == 3400
    assert parent.prefix(3400) == sibling.prefix(3400)
    assert parent.prefix(3401) != sibling.prefix(3401)


def test_equal_names_after_different_prefixes_are_different_tokens() -> None:
    tree = TokenTree()
    one = path(tree, "a:10", "tail:5")
    other = path(tree, "b:10", "tail:5")
    assert one.shared_tokens(other) == 0
    assert one.prefix(15) != other.prefix(15)


def test_another_salt_shares_nothing_not_even_the_empty_prefix() -> None:
    tree = TokenTree()
    mine = path(tree, "doc:100", salt="tenant-a")
    theirs = path(tree, "doc:100", salt="tenant-b")
    assert mine.shared_tokens(theirs) == 0
    assert mine.prefix(0) != theirs.prefix(0)
    assert mine.prefix(0) == path(tree, "other:5", salt="tenant-a").prefix(0)


def test_a_second_turn_contains_what_the_first_generated() -> None:
    tree = TokenTree()
    sequence = path(tree, "doc:100", "output:turn-1:40")
    all_of_it = path(tree, "doc:100", "output:turn-1:40", "question:20")
    part_of_it = path(tree, "doc:100", "output:turn-1:30", "question:20")
    assert sequence.shared_tokens(all_of_it) == 140
    assert sequence.shared_tokens(part_of_it) == 130
    assert all_of_it.shared_tokens(part_of_it) == 130


def test_beyond_the_end_there_is_no_prefix() -> None:
    short = path(TokenTree(), "doc:10")
    with pytest.raises(IndexError):
        short.prefix(11)


def test_a_million_tokens_are_a_few_integers() -> None:
    long = path(TokenTree(), "doc:999999", "tail:1")
    assert (long.tokens, len(long.nodes), long.ends_tokens) == (1_000_000, 2, (999_999, 1_000_000))


def test_an_empty_path_has_no_tokens() -> None:
    tree = TokenTree()
    empty = tree.path(())
    assert empty.tokens == 0
    assert empty.shared_tokens(path(tree, "doc:3")) == 0
    assert empty.prefix(0) == path(tree, "doc:3").prefix(0)


segments = st.lists(
    st.builds(Segment, st.sampled_from(["a", "b", "output:r1"]), st.integers(1, 4)), max_size=4
).map(tuple)
salts = st.sampled_from(["", "tenant"])


@given(segments, salts, segments, salts)
def test_identity_agrees_with_written_out_tokens(
    mine: tuple[Segment, ...], salt: str, theirs: tuple[Segment, ...], other_salt: str
) -> None:
    tree = TokenTree()
    a, b = tree.path(mine, salt), tree.path(theirs, other_salt)
    spelled_a, spelled_b = spell(mine, salt), spell(theirs, other_salt)
    assert a.tokens == len(spelled_a)
    assert a.shared_tokens(b) == common(spelled_a, spelled_b)
    for tokens in range(min(a.tokens, b.tokens) + 1):
        same = salt == other_salt and spelled_a[:tokens] == spelled_b[:tokens]
        assert (a.prefix(tokens) == b.prefix(tokens)) == same
