"""For all tests: Hypothesis holds no test to a time, because the machine may be busy with others."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
