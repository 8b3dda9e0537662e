"""What a run showed, and the words for it."""

from collections.abc import Iterable
from typing import Any

STREAM_TOKENS = 1 << 21
"""Longer than any stream; stream n has the ids from n times this on."""
State = tuple[int, int]
"""How many tokens were consumed, and a number that stands for exactly these."""
NOTHING, UNKNOWN = (0, 0), (-1, 0)


def after(state: State, tokens: Iterable[int]) -> State:
    for token in tokens:
        state = state[0] + 1, hash((state[1], token))
    return state


class Seen:
    """What a run showed. `hits`: per request, of each admission; `columns`: by (request, group),
    the most states it held; `published`: the step in which the key of (group, prefix) was true
    first; `deferred`: per request, how often in a row the splitter left no token of an offer;
    `lost`: blocks that are not free after all requests have ended."""

    def __init__(self, scenario: dict[str, Any]) -> None:
        self.problems: list[tuple[str, str, str, str]] = []
        self.step, self.fault, self.finished = 0, "", set[str]()
        self.lost = 0
        self.hits: dict[str, list[int]] = {}
        self.columns: dict[tuple[str, str], int] = {}
        self.published: dict[tuple[str, State], int] = {}
        self.moments: dict[tuple[str, str], int] = {}
        self.deferred: dict[str, int] = {}
        self.streams: dict[str, int] = {}
        self.paths = {sent["name"]: self.path(sent) for sent in scenario["requests"]}
        self.prefixes: dict[str, list[State]] = {}
        for name, path in self.paths.items():
            prefixes = self.prefixes[name] = [NOTHING]
            prefixes.extend(after(prefixes[-1], [token]) for token in path)

    def ids(self, stream: str, first: int, end: int) -> list[int]:
        base = self.streams.setdefault(stream, len(self.streams)) * STREAM_TOKENS
        return list(range(base + first, base + end))

    def path(self, sent: dict[str, Any]) -> list[int]:
        prompt = [i for stream, tokens in sent["prompt"] for i in self.ids(stream, 0, tokens)]
        return prompt + self.ids(sent["output"], 0, sent["output_tokens"])

    def say(self, check: str, name: str, group: str, words: str) -> None:
        self.problems.append((check, name, group, f"{words} (step {self.step})"))

    def found(self, check: str, name: str, group: str = "") -> list[str]:
        """What a check said of a request, and of a group where one is named."""
        here = [p for p in self.problems if p[:2] == (check, name) and group in ("", p[2])]
        return [words for *_, words in here[:3]]

    def kept(self, name: str, tokens: int, groups: list[str]) -> bool:
        """The state of its first `tokens` tokens could be found once its prompt was computed."""
        by, never = self.moments.get((name, "prefilled"), self.step), self.step + 1
        prefix = self.prefixes[name][tokens]
        return all(self.published.get((group, prefix), never) <= by for group in groups)

    def word(self, name: str, state: State | None) -> str:
        if state is None or state == UNKNOWN:
            return "nothing"
        prefixes = self.prefixes[name]
        right = 0 <= state[0] < len(prefixes) and prefixes[state[0]] == state
        return f"state@{state[0]}" if right else f"{state[0]} tokens that are not its prefix"
