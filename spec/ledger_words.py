"""How contents are called in the sentences of the laws, seen from the prefix that was claimed."""

from truehit.spec.ghost import State, StateContent, describe
from truehit.spec.ledger_pages import Page, agrees
from truehit.spec.tokens import TokenPath


def state_words(content: StateContent, path: TokenPath) -> str:
    """`state@364`, `tokens [0, 364) + [1600, 2500)`, `nothing`; other tokens are called so."""
    words = describe(content)
    if isinstance(content, State) and content.spans:
        _, high, writer = content.spans[-1]
        if not agrees(writer, path, high):
            return f"{words} of other tokens"
    return words


def page_words(page: Page, path: TokenPath) -> str:
    """`nothing`, or `entries [0, 14) + rejected drafts [14, 16)`; other tokens are called so."""
    if not page:
        return "nothing"
    parts: list[str] = []
    for low, high, owner in page:
        if owner is None:
            parts.append(f"rejected drafts [{low}, {high})")
        elif agrees(owner, path, high):
            parts.append(f"entries [{low}, {high})")
        else:
            parts.append(f"entries [{low}, {high}) of other tokens")
    return " + ".join(parts)
