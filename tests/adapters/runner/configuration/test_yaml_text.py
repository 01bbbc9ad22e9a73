"""Text becomes values as the core schema of YAML 1.2 says, and nothing can be read in two ways."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from rewardkit.errors import ConfigError
from rewardkit_adapters.runner.config_file import parsed, printed_yaml as printed
from tests.adapters.runner.configuration.values import values


@pytest.mark.parametrize("text", ["1_000", "0b101", "1__0", "12_34.5", "0x_"])
def test_numbers_outside_the_core_schema_are_text(text: str) -> None:
    assert parsed(f"revision: {text}", "run.yaml")[0] == {"revision": text}


@pytest.mark.parametrize(
    ("text", "value"), [("012", 12), ("0o17", 15), ("0x1F", 31), ("1e-6", 1e-6), (".5", 0.5), ("-3.", -3.0)]
)
def test_numbers_of_the_core_schema_are_numbers(text: str, value: float) -> None:
    assert parsed(f"rate: {text}", "run.yaml")[0] == {"rate": value}


@pytest.mark.parametrize(
    ("text", "fact"), [("%YAML 1.1\n---\na: no", "%"), ("seed: \x07", r"U\+0007"), ("seed: !!bool abc", "run.yaml")]
)
def test_what_could_be_read_in_two_ways_is_an_error(text: str, fact: str) -> None:
    with pytest.raises(ConfigError, match=fact):
        parsed(text, "run.yaml")


@given(values)
def test_what_is_printed_is_parsed_as_the_same(value: Any) -> None:
    assert parsed(printed(value), "printed")[0] == value
