"""Script: the share of letters of a script."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st

import rewardkit as rk
from rewardkit.text.languages import NAMES, SCRIPTS


def value(name: str, completion: str, **options: Any) -> float:
    return float(rk.score(rk.language(script=name, **options), [completion]).total[0])


@pytest.mark.parametrize(
    ("name", "completion", "share"),
    [
        ("en", "It is 42.", 1.0), ("de", "Zwölf Äpfel", 1.0), ("en", "Итого total", 0.5), ("ru", "Итого total", 0.5),
        ("zh", "答案是x", 0.75), ("ja", "答えはカタカナ", 1.0), ("ko", "답", 1.0), ("Latin", "abc", 1.0),
        ("ar", "الجواب", 1.0),
        ("en", "", 0.0), ("en", "42", 0.0), ("en", "ａｂ𝐜", 1.0), ("zh", "<think>hmm</think>答", 1 / 4),
        ("zh", "<think>六乘七是四十二</think>答案是四十二", 1.0), ("zh", "答案是\\boxed{四十二}<|im_end|>", 1.0),
        ("en", "5 \u00b5m", 1.0), ("el", "5 \u00b5m", 0.0), ("en", "10 k\u2126, 1\u00ba", 1.0),
        ("english", "It is", 1.0), ("Chinese", "答案", 1.0), ("Han", "答案", 1.0), ("en-US", "It is", 1.0),
        ("zh_Hant", "答案", 1.0), ("greek", "αβ", 1.0),
    ],
)  # fmt: skip
def test_share_of_letters(name: str, completion: str, share: float) -> None:
    assert value(name, completion) == pytest.approx(share)


def test_prose_in_brackets_is_not_markup() -> None:
    words = " ".join(f"<{first}{second}>" for first in "abcdefgh" for second in "abcdefgh")
    assert value("zh", f"答{words}") == pytest.approx(1 / 129)


def test_every_language_has_a_name() -> None:
    assert NAMES.keys() == SCRIPTS.keys()
    assert all(rk.language(script=name) == rk.language(script=code) for code, name in NAMES.items())


def test_a_minimum_leaves_room_for_formulas() -> None:
    assert value("zh", "答案是x", minimum=0.7) == 1.0
    assert value("zh", "答xxx", minimum=0.5) == 0.5


def test_the_note_names_the_intruder() -> None:
    assert rk.score(rk.language(script="en"), ["Итого total"]).notes["script"] == ["5 of 10 letters are cyrillic"]


@pytest.mark.parametrize(("name", "hint"), [("klingon", ""), ("lattin", "latin"), ("germen", "german"), (5, "")])
def test_an_unknown_language_is_refused(name: Any, hint: str) -> None:
    with pytest.raises(rk.RewardDefinitionError, match=f"unknown script or language.*{hint}"):
        rk.language(script=name)
    with pytest.raises(rk.RewardDefinitionError, match="minimum"):
        rk.language(script="en", minimum=0.0)
    for minimum in ("0.5", None, float("nan")):
        with pytest.raises(rk.RewardDefinitionError, match="minimum"):
            rk.language(script="en", minimum=minimum)  # type: ignore[arg-type]


@given(st.text())
def test_shares_of_any_text_lie_within_bounds(text: str) -> None:
    shares = [value(name, text) for name in ("en", "ru", "zh", "ko")]
    assert all(0.0 <= share <= 1.0 for share in shares)
    assert sum(shares) <= 1.0 + 1e-9
