"""Kept positions: where a prompt's state gets a key, and which positions those must be."""


def kept_at(position: int, replay: int, extend: int, junction: int, period: int) -> bool:
    """The state at this position gets a key: a named position, or a multiple of a period (> 0)."""
    named = position == replay or position == extend or position == junction
    periodic = period > 0 and position % period == 0
    return position > 0 and (named or periodic)


def keeps_alike(
    position: int, replay: int, extend: int, junction: int, period: int, published: bool
) -> bool:
    """The publication rule says exactly what `kept_at` says."""
    return published == kept_at(position, replay, extend, junction, period)


def keeps_landing(landing: int, replay: int, extend: int) -> bool:
    """A position that a lookup of this prompt lands on is kept; 0 needs no state."""
    return landing == 0 or landing == replay or landing == extend


def is_prompt(prompt: int, lookahead: int, drop: int, other_drop: int) -> bool:
    """A prompt has a token; a lookahead replaces the drop."""
    return prompt >= 1 and lookahead >= 0 and (lookahead == 0 or (drop == 0 and other_drop == 0))


def keeps_aligned(replay: int, extend: int, alignment: int) -> bool:
    """Kept positions are positions a lookup can land on."""
    return replay % alignment == 0 and extend % alignment == 0


def keeps_near(landing: int, position: int, period: int, published: bool) -> bool:
    """The multiple of the period at or below a landing is kept, and less than a period away."""
    near = position <= landing and landing < position + period
    return near and (position == 0 or published)


def keeps_inside(replay: int, extend: int, prompt: int) -> bool:
    """A resend recomputes at least one token; nothing beyond the prompt is kept."""
    return replay >= 0 and replay < max(prompt, 1) and replay <= extend and extend <= prompt


def keeps_something(replay: int, extend: int) -> bool:
    """There is a position to resume at."""
    return replay > 0 and replay <= extend
