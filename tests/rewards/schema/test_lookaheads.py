"""Patterns with lookaheads at the start: the same verdicts as an engine that has lookaheads."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, strategies as st

from rewardkit.errors import RewardDefinitionError
from rewardkit.rewards.json_schema.reward import JsonSchema

PATTERNS = [
    "^(?!a)b*$",
    "^(?!ab$)[ab]+$",
    "^(?=.*a)(?!.*bb)[abc]+$",
    "^(?=[^=]+$)(?!\\s+$)(.|\\n)+$",
    "^(?!a|b)",
    "^(?!^a)(b|c)?c",
    "^(?=(a|b)c)[a-c]{2}$",
    "^(?![)(]a)[()a]+$",
    "^(?!\\(a)[()a]+$",
]
UNREADABLE = ["^(?!a)b|c", "(?!a)b", "^b(?!a)", "^(?!a)*b", "^(?!a)[[]b]|c", "^(?!a(?=b))c", "^(?=(a))\\1b", "^(?<!a)b"]


@pytest.mark.parametrize("pattern", PATTERNS)
@given(text=st.text("abc()= \n", max_size=6))
def test_a_lookahead_at_the_start_means_what_it_means(pattern: str, text: str) -> None:
    expected = jsonschema_rs.validator_for({"pattern": pattern}).is_valid(text)
    assert (JsonSchema.of({"pattern": pattern}).credit_of(text)[0] == 1.0) == expected


@pytest.mark.parametrize("value", [5, None, [], {"a": "ab"}])
def test_a_pattern_says_nothing_about_other_values(value: Any) -> None:
    assert JsonSchema.of({"pattern": "^(?!a)b"}).credit_of(value) == (1.0, "")


def test_what_is_around_the_pattern_stays() -> None:
    schema = JsonSchema.of(
        {
            "type": "object",
            "required": ["name", "copy"],
            "properties": {
                "name": {"type": "string", "pattern": "^(?!x)[a-z]+$", "allOf": [{"maxLength": 3}]},
                "copy": {"$ref": "#/properties/name/allOf/0"},
                "kind": {"const": {"pattern": "^(?!a)b"}},
            },
        }
    )
    assert schema.credit_of({"name": "abc", "copy": "xyz", "kind": {"pattern": "^(?!a)b"}}) == (1.0, "")
    for name in ("xbc", "abcd", "AB", 5):
        credit, note = schema.credit_of({"name": name, "copy": "xyz"})
        assert credit == 0.5
        assert note.startswith("name: ")


@pytest.mark.parametrize("pattern", UNREADABLE)
def test_other_lookaround_is_refused(pattern: str) -> None:
    with pytest.raises(RewardDefinitionError, match="lookaround"):
        JsonSchema.of({"pattern": pattern})
