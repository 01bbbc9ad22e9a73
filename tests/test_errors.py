"""The functions that help to write error messages: values cut short, similar names, factories."""

from __future__ import annotations

import pytest

import rewardkit as rk
from rewardkit.errors import hashable, is_factory, near_miss, shorten, shorten_line, worth_reporting


class Broken:
    def __repr__(self) -> str:
        raise ValueError


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (1, "1"),
        ("a", "'a'"),
        ("a" * 12, "'aaaaaaaaaa'... (12 characters)"),
        ([1, 2, 3, 4, 5], "[1, 2, 3, ... (15 characters)"),
        (Broken(), "<Broken wh... (37 characters)"),
    ],
)
def test_values_are_cut_with_their_length(value: object, shown: str) -> None:
    assert shorten(value, 10) == shown


def test_long_lines_keep_both_ends() -> None:
    assert shorten_line("short") == "short"
    assert shorten_line("a" * 20 + "b" * 20, 12) == "aaaaaaaa ... bbb"


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("answr", " Did you mean 'answer'?"),
        ("exact_match", " Did you mean 'exact'?"),
        ("zzz", ""),
        (3, ""),
    ],
)
def test_a_near_miss_is_suggested(name: object, hint: str) -> None:
    assert near_miss(name, ["answer", "exact"]) == hint


def test_the_1st_10th_and_100th_event_are_reported() -> None:
    assert [count for count in range(1, 200) if worth_reporting(count)] == [1, 10, 100]


def test_factories_are_not_reward_functions() -> None:
    assert is_factory(rk.exact)
    assert not is_factory(rk.exact("answer"))
    assert not is_factory(near_miss)


def test_hashable() -> None:
    assert hashable((1, "a"))
    assert not hashable([1])


def test_a_missing_extra_names_its_install_command() -> None:
    assert "pip install 'rewardkit-sdk[json]'" in str(rk.errors.MissingExtraError.of("reading JSON", "json"))
