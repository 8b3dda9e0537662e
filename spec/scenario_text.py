"""The compact texts of a scenario file: segments `doc:6400` and arrivals `r1.prefilled+2`."""

import re

from truehit.spec.scenario import After, Moment
from truehit.spec.tokens import Segment

SEGMENT_PATTERN = r"^[\s\S]+:[0-9]+$"
AFTER_PATTERN = rf"^[\s\S]+\.({'|'.join(Moment)})(\+[0-9]+)?$"

_AFTER = re.compile(
    rf"(?P<request>.+)\.(?P<moment>{'|'.join(Moment)})(?:\+(?P<delay>[0-9]+))?", re.DOTALL
)


def parse_segment(text: str) -> Segment:
    """`name:tokens`, cut at the last colon (names may contain colons); ValueError otherwise."""
    name, colon, digits = text.rpartition(":")
    if not colon or not name or not (digits.isascii() and digits.isdigit()):
        raise ValueError(f"'{text}' is not a name and a count of tokens; 'doc:6400' works")
    return Segment(name, int(digits))


def format_segment(segment: Segment) -> str:
    return f"{segment.name}:{segment.tokens}"


def parse_after(text: str) -> After:
    """`request.moment` or `request.moment+steps`; ValueError otherwise."""
    found = _AFTER.fullmatch(text)
    if found is None:
        moments = ", ".join(Moment)
        raise ValueError(f"'{text}' is not a request and a moment ({moments}); 'r1.finished' works")
    return After(found["request"], Moment(found["moment"]), int(found["delay"] or 0))


def format_after(after: After) -> str:
    delay = f"+{after.delay_steps}" if after.delay_steps else ""
    return f"{after.request}.{after.moment}{delay}"
