"""What a step may still give: tokens and encoder tokens, and what every cap before the splitter
leaves.

Caps, in this order: the step's budget, the request's share by decree, the long-prefill threshold,
the maximum length, and the first input whose encoder run does not fit. The splitter has the last
word."""

from dataclasses import dataclass

from truehit.reference.live import Chunk, Live
from truehit.spec.geometry import Geometry
from truehit.spec.trace import Cut


@dataclass(frozen=True, slots=True)
class Offer:
    """Tokens offered to a request in this step, the drafts among them, and which cap cut it."""

    tokens: int
    drafts: int
    cut: Cut


class StepBudget:
    """Mutable, one per step. `encoder_left` None: no limit."""

    __slots__ = ("_geometry", "encoder_left", "tokens_left")

    def __init__(self, geometry: Geometry, tokens: int, encoder_tokens: int | None) -> None:
        self._geometry = geometry
        self.tokens_left = tokens
        self.encoder_left = encoder_tokens

    def offer(self, live: Live) -> Offer:
        """What all caps before the splitter leave for a request."""
        start = live.computed
        prefill = start < live.prefill_end
        tokens = live.prefill_end - start if prefill else 1 + self._geometry.drafts
        threshold = self._geometry.long_prefill_threshold_tokens
        limits = [(self.tokens_left, Cut.BUDGET)]
        if live.turns < len(live.request.shares):
            limits.append((live.request.shares[live.turns], Cut.BUDGET))
        if prefill and threshold is not None:
            limits.append((threshold, Cut.THRESHOLD))
        limits.append((self._geometry.max_model_tokens - start, Cut.MAXIMUM_LENGTH))
        cut = Cut.NONE
        for limit, why in limits:
            if limit < tokens:
                tokens, cut = max(limit, 0), why
        if prefill and (encoder := self._encoder_limit(live, start, tokens)) < tokens:
            tokens, cut = encoder, Cut.ENCODER
        return Offer(tokens, 0 if prefill else max(tokens - 1, 0), cut)

    def _encoder_limit(self, live: Live, start: int, tokens: int) -> int:
        """Tokens up to the first input whose encoder run does not fit into this step."""
        left = self.encoder_left
        if left is None:
            return tokens
        for item in live.request.encoder_items:
            touched = item.at < start + tokens and start < item.at + item.tokens
            if not touched or item.at in live.encoded:
                continue
            if item.tokens > left:
                return max(item.at - start, 0)
            left -= item.tokens
        return tokens

    def spend(self, live: Live, start: int, end: int) -> int:
        """The chunk [start, end) is scheduled; the encoder tokens its inputs take."""
        self.tokens_left -= end - start
        if self.encoder_left is None:
            return 0
        spent = 0
        for item in live.request.encoder_items:
            touched = item.at < end and start < item.at + item.tokens
            if touched and item.at not in live.encoded:
                live.encoded.add(item.at)
                spent += item.tokens
        self.encoder_left -= spent
        return spent

    def give_back(self, chunk: Chunk) -> None:
        """The chunk will not run after all."""
        self.tokens_left += chunk.end - chunk.start
        if self.encoder_left is not None:
            self.encoder_left += chunk.encoder_tokens
