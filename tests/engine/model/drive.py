"""Serve requests to their end, and see what happened on the way: a case that does not do what it is
about proves nothing."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from truehit.engine import fields as f
from truehit.engine.model.backend import TorchBackend
from truehit.engine.model.drafter import Drafter
from truehit.engine.model.plane import POISON, Model
from truehit.engine.model.server import Server
from truehit.spec.geometry import Geometry, Group, Kind

VOCABULARY = 256


def tokens(seed: int, count: int, vocabulary: int = VOCABULARY) -> list[int]:
    """Random token ids."""
    random = torch.Generator().manual_seed(seed)
    ids: list[int] = torch.randint(0, vocabulary, (count,), generator=random).tolist()
    return ids


def hybrid(
    grid: int = 16, attention: int = 8, states: int = 1, pages: int = 1, **others: object
) -> Geometry:
    """State groups of one grid, and full-attention groups of one block."""
    groups = [Group(f"state-{n}", Kind.RECURRENT_STATE, grid) for n in range(states)]
    groups += [Group(f"full-{n}", Kind.FULL_ATTENTION, attention) for n in range(pages)]
    made: dict[str, object] = {
        "hash_unit_tokens": min(grid, attention),
        "budget_tokens": 512,
        "max_model_tokens": 512,
        "pool_blocks": 300,
        "max_running": 8,
    }
    return Geometry(tuple(groups), **made | others)  # type: ignore[arg-type]


@dataclass(slots=True)
class Scripted:
    """Drafts what follows in the text that starts with the tokens, but another token at positions
    that `is_wrong`."""

    texts: Sequence[Sequence[int]]
    is_wrong: Callable[[int], bool]
    vocabulary: int = VOCABULARY

    def propose(self, tokens: Sequence[int], count: int) -> list[int]:
        """Exactly `count` tokens."""
        known = len(tokens)
        text = next(t for t in self.texts if list(t[:known]) == list(tokens))
        drafts = [*text[known : known + count], *[0] * count][:count]
        return [
            (token + 1) % self.vocabulary if self.is_wrong(known + ahead) else token
            for ahead, token in enumerate(drafts)
        ]


@dataclass(slots=True)
class Seen:
    """What happened. `lengths`: tokens of every row; `copies`: copy-on-write, by group."""

    steps: int = 0
    lengths: list[int] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    copies: dict[int, int] = field(default_factory=dict)
    checkpoints: list[int] = field(default_factory=list)
    preempted: int = 0
    accepted: int = 0
    rejected: int = 0


class Driven:
    """A server, everything it computed (`logits`: by request, positions in the order they ran),
    and what was seen."""

    def __init__(
        self,
        model: Model,
        geometry: Geometry,
        drafter: Drafter | None = None,
        *,
        is_watched: bool = True,
    ) -> None:
        self.logits: dict[int, list[tuple[int, Tensor]]] = {}
        self.seen = Seen()
        self.server = Server(
            model,
            geometry,
            TorchBackend(),
            drafter=drafter,
            is_watched=is_watched,
            on_logits=self._on_logits,
        )
        # Nobody reads or writes the null page: read, it would be not a number.
        self._null = self.server.plane.pool.bytes[0, 0]
        self._null.fill_(POISON)

    def _on_logits(self, request: int, position: int, logits: Tensor) -> None:
        self.logits.setdefault(request, []).append((position, logits.clone()))

    def submit(self, prompt: Sequence[int], output_tokens: int = 1, salt: str = "") -> int:
        return self.server.submit(prompt, output_tokens=output_tokens, salt=salt)

    def step(self) -> int:
        """One step; its tokens."""
        server, seen = self.server, self.seen
        before = {n: len(own.tokens) for n, own in server.requests.items()}
        scheduled = server.step()
        core = server.engine.host.core
        chunks = core.chunk[core.now[f.N_SLICE], : core.now[f.N_CHUNKS]]
        seen.steps += 1
        seen.rows.append(len(chunks))
        seen.preempted += int(core.now[f.N_PREEMPTED])
        for _, group, _, _ in core.copy[: core.now[f.N_COPIES]].tolist():
            seen.copies[group] = seen.copies.get(group, 0) + 1
        for chunk in chunks:
            seen.lengths.append(int(chunk[f.C_END] - chunk[f.C_START]))
            if chunk[f.C_CHECKPOINT]:
                seen.checkpoints.append(int(chunk[f.C_CHECKPOINT]))
            number = int(core.request[chunk[f.C_SLOT], f.R_ORDER])
            served = server.requests[number]
            fresh = len(served.tokens) - before[number]
            if not chunk[f.C_IS_PREFILL] and fresh > 0:
                seen.accepted += fresh - 1
                if served.left_tokens:
                    seen.rejected += int(chunk[f.C_DRAFTS]) - (fresh - 1)
        return scheduled

    def finish(self) -> None:
        """Until nobody is left."""
        for _ in range(2000):
            if all(own.is_finished for own in self.server.requests.values()):
                assert bool((self._null == POISON).all()), "the null page was written"
                return
            self.step()
        raise AssertionError("requests did not end")

    def serve(self, prompt: Sequence[int], output_tokens: int = 1, salt: str = "") -> int:
        """Submit and finish; the request's number."""
        number = self.submit(prompt, output_tokens, salt)
        self.finish()
        return number

    def findings(self) -> list[str]:
        """What the ghosts found."""
        watch = self.server.plane.watch
        assert watch is not None
        return [found.sentence(str(found.request)) for found in watch.ghosts.findings]

    def text(self, number: int) -> list[int]:
        """Prompt and output."""
        return self.server.requests[number].tokens

    def hit(self, number: int) -> int:
        """Where its first residency started."""
        return self.server.requests[number].hits[0]

    def largest_difference(self, number: int, wanted: Tensor) -> float:
        """Of everything computed for a request; every position from its hit on was computed."""
        own = self.logits[number]
        last = len(self.text(number)) - 1
        assert {position for position, _ in own} == set(range(self.hit(number), last))
        rows = torch.stack([logits for _, logits in own])
        places = torch.tensor([position for position, _ in own])
        return float((rows - wanted[places]).abs().max().nan_to_num(nan=torch.inf))
