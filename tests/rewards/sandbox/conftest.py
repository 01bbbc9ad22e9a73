"""The isolations that work on this machine."""

from __future__ import annotations

import pytest

from rewardkit.errors import SandboxFailure
from rewardkit.rewards.sandbox import isolation
from rewardkit.rewards.sandbox.isolation import Isolation


@pytest.fixture(params=["bubblewrap", "namespaces"])
def shut_in(request: pytest.FixtureRequest) -> Isolation:
    """Each isolation in turn; skipped if it does not work here."""
    try:
        made: Isolation = getattr(isolation, request.param)(())
        isolation.check(made)
    except SandboxFailure as error:
        pytest.skip(f"{request.param} does not work here ({error}); apt-get install bubblewrap")
    return made
