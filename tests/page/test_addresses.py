"""URLs of views."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from rewardkit.page.addresses import TABS, Address, format_names, parse_names

NAMES = st.text(st.characters(codec="utf-8"), min_size=1).filter(lambda name: name.strip("/") == name)


def test_every_view_has_a_url() -> None:
    address = Address("sweep/a b", "completions", {"prompt": "8e80", "left": ""})
    assert address.url == "/run/sweep/a%20b/completions?prompt=8e80"
    assert Address.of_url(address.url) == Address("sweep/a b", "completions", {"prompt": "8e80"})
    assert Address().url == "/"


@given(NAMES, st.sampled_from(list(TABS)), st.dictionaries(NAMES, NAMES, max_size=3))
def test_urls_round_trip(name: str, tab: str, state: dict[str, str]) -> None:
    found = Address.of_url(Address(name, tab, state).url)
    assert (found.run, found.tab, dict(found.state)) == (name, tab, state)


@pytest.mark.parametrize("path", ["/", "", "/run/x", "/run/a/b/logs"])
def test_known_paths(path: str) -> None:
    assert Address.is_known(path)
    assert not Address.is_known("/elsewhere" + path)
    assert not Address.is_known("/run")


@pytest.mark.parametrize(
    "url", ["//evil.example/", "http://[", "/run/", "/run", "/elsewhere", "/run/x?" + "a=b&" * 9000]
)
def test_invalid_urls_mean_the_list_of_runs(url: str) -> None:
    assert Address.of_url(url).url.startswith("/")
    assert not Address.of_url(url).url.startswith("//")


@given(st.text())
def test_any_text_parses(url: str) -> None:
    assert Address.of_url(url).url.startswith("/")


def test_choices_change_independently() -> None:
    address = Address("x", "graphs").with_state(steps="1-9", q="a")
    assert address.with_state(steps=None).url == "/run/x/graphs?q=a"
    assert address.number("q", 3.0, 0.0, 1.0) == 3.0
    assert address.with_state(q="7").number("q", 3.0, 0.0, 1.0) == 1.0
    assert address.with_state(q="nan").number("q", 3.0, 0.0, 1.0) == 3.0


@given(st.lists(NAMES))
def test_lists_of_names_round_trip(names: list[str]) -> None:
    assert parse_names(format_names(names)) == names
