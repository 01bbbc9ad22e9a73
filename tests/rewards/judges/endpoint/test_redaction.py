"""No message contains a key, and ordinary words in a verdict do not change."""

from __future__ import annotations

import pytest

from rewardkit.rewards.judges.endpoint.client import Redaction


@pytest.mark.parametrize("key", ["open sesame!", "sk-abcdef0123456789", "local"])
def test_its_key_and_whatever_looks_like_one_is_in_no_message(key: str) -> None:
    said = Redaction(key).message(f"{key} is bad, and so are hf_0123456789 and sk-...cret99")
    assert said == "*** is bad, and so are *** and ***"


def test_only_a_long_key_is_removed_from_a_verdict() -> None:
    assert Redaction("open sesame!").written("It says open sesame!") == "It says ***"
    for key in ("", "none", "local"):
        assert Redaction(key).written("none is local, sk-abcdef0123456789") == "none is local, sk-abcdef0123456789"
