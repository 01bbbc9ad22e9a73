"""Pattern texts: texts that match patterns."""

from __future__ import annotations

import random
import re

import pytest

from rewardkit.check.reading.aims import matching


@pytest.mark.parametrize("pattern", [r"(?i)\bas an ai\b", r"<answer>(\d+)</answer>", r"^#### -?\d+$", r"[^\W\d_]{3}"])
def test_every_text_matches_its_pattern(pattern: str) -> None:
    texts = matching([pattern])
    assert 1 <= len(texts) <= 3
    assert all(re.search(pattern, text) for text in texts)
    assert all(len(text) <= 200 for text in texts)


def test_unmatchable_and_unreadable_patterns_give_nothing() -> None:
    assert matching([]) == []
    assert matching(["(", "[a-", "(?!)", r"(?P<a>b)(?P=c)"]) == []
    assert matching(["(", "yes"]) != []


def test_the_seed_decides_and_the_callers_random_state_is_kept() -> None:
    state = random.getstate()
    assert matching([r"\w{4,9}"], seed=3) == matching([r"\w{4,9}"], seed=3)
    assert random.getstate() == state
