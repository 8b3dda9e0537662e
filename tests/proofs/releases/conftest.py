"""One subject a release, read once for all tests."""

from functools import cache

import pytest

from truehit.proofs.releases.subject import Subject, subject
from truehit.proofs.sources import open_release


@cache
def _subject(release: str) -> Subject:
    return subject(open_release(release))


@pytest.fixture
def released(request: pytest.FixtureRequest) -> Subject:
    """The splitter of the release a test is parametrised with."""
    return _subject(str(request.param))
