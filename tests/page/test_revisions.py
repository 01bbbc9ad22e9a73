"""What changed between two versions of a reward."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, strategies as st

from rewardkit.page.tabs.versions import change_in_words, changed_lines

FILES = st.lists(st.sampled_from(["import re", "x = 1", "x = 2", "", "    return x"]), max_size=12).map("\n".join)


def texts(lines: Any, side: str) -> list[str]:
    return ["".join(piece for piece, _ in line.pieces) for line in lines if getattr(line, side) is not None]


@given(FILES, FILES)
def test_all_lines_of_both_are_there_in_order(old: str, new: str) -> None:
    lines = changed_lines(old, new, None)
    for side, text in (("old", old), ("new", new)):
        assert texts(lines, side) == text.splitlines()
        numbers = [getattr(line, side) for line in lines if getattr(line, side) is not None]
        assert numbers == list(range(1, len(numbers) + 1))


@given(FILES, FILES, st.integers(0, 3))
def test_only_equal_lines_far_from_a_change_are_left_out(old: str, new: str, context: int) -> None:
    everything, folded = changed_lines(old, new, None), changed_lines(old, new, context)
    assert [line for line in folded if line.sign in "+-"] == [line for line in everything if line.sign in "+-"]
    assert sum(line.count or 1 for line in folded) == len(everything)


def test_lines_that_changed_in_part_come_in_pieces() -> None:
    old, new = changed_lines("TOLERANCE = 2", "TOLERANCE = 3")
    assert (old.sign, old.pieces) == ("-", [("TOLERANCE = ", False), ("2", True)])
    assert (new.sign, new.pieces) == ("+", [("TOLERANCE = ", False), ("3", True)])


def test_a_change_is_said_in_a_few_words() -> None:
    def version(expression: str, **sources: str) -> dict[str, Any]:
        return {"reward": expression, "sources": json.dumps(sources)}

    old = version("f", reward="a\nb\n")
    assert change_in_words(None, old) == "the first version"
    assert change_in_words(old, version("f + g", reward="a\nc\nd\n", other="x\n")) == (
        "adds + g, reward +2 −1, other +1 −0"
    )
    summed = version("0.2*a + gate(a, 0.4*b + linear(0, 0.4, end=0.5)*c)")
    assert change_in_words(summed, version("0.2*a + gate(a, 0.4*b + 0.6*c)")) == (
        "0.6 replaces linear(0, 0.4, end=0.5)"
    )
    assert change_in_words(summed, version("0.2*a + gate(a, 0.4*b + step(0, 0.4, at=0.5)*c)")) == (
        "step(0, 0.4, at=0.5) replaces linear(0, 0.4, end=0.5)"
    )
    assert change_in_words(summed, version("0.25*a + gate(a, 0.4*b + linear(0, 0.4, end=0.5)*c)")) == (
        "0.25 replaces 0.2"
    )
    assert change_in_words(summed, version("0.2*a")) == "removes + gate(a, 0.4*b + linear(0, 0.4, end=0.5)*c)"
    assert change_in_words(summed, version("another" * 20)) == "expression"
    assert change_in_words(old, version("f", train="a\nb\nc\n")) == "reward → train +1 −0"
    assert change_in_words(old, old) == "options that the expression does not show"
    assert change_in_words(version("f"), version("f")) == "nothing that was recorded"
