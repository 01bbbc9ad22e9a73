"""Laws of other rows: gold answers that examples do not have, and branches for rows that none of them is."""

from __future__ import annotations

import json
from typing import Any

import pytest

import rewardkit as rk
from tests.check.rewards import assert_held, assert_skipped, broken, number, tagged_number

ROWS: list[dict[str, Any]] = [
    {"prompt": "How many?", "answer": 42, "level": "hard"},
    {"prompt": "And now?", "answer": 17, "level": "hard"},
]
SUMS: dict[str, Any] = {
    "examples": ROWS,
    "good": ["<answer>42</answer>", "<answer>17</answer>"],
    "bad": ["<answer>41</answer>", "<answer>9</answer>"],
}
ORDER = {"item": "lamp", "count": 3, "paid": True}
ORDERS: dict[str, Any] = {
    "examples": [{"gold": json.dumps(ORDER)}, {"gold": json.dumps({**ORDER, "item": "desk"})}],
    "good": [json.dumps(ORDER), json.dumps({**ORDER, "item": "desk"})],
    "bad": ["{}", json.dumps(ORDER)],
}
CHOICES: dict[str, Any] = {
    "examples": [{"answer": "B"}, {"answer": "C"}],
    "good": ["<answer>B</answer>", "<answer>C</answer>"],
    "bad": ["<answer>C</answer>", "<answer>B</answer>"],
}


def body(text: str) -> str:
    return text.split("<answer>")[-1].split("</answer>")[0].strip()


def falsy(completions: list[str], answer: list[Any], **kwargs: Any) -> list[float]:
    """Takes a gold answer of 0 for a missing one."""
    return [float(bool(gold) and body(text) == str(gold)) for text, gold in zip(completions, answer, strict=True)]


def paid_if_missing(completions: list[str], answer: list[Any], **kwargs: Any) -> list[float]:
    return [1.0 if not gold else float(body(text) == str(gold)) for text, gold in zip(completions, answer, strict=True)]


def two_digits(completions: list[str], answer: list[Any], **kwargs: Any) -> list[float]:
    """Reads two digits; no gold answer of the examples has fewer or more."""
    return [float(body(text)[:2].zfill(2) == str(gold)) for text, gold in zip(completions, answer, strict=True)]


def no_first_option(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    return [
        float("BCDE".find(body(text)) == "BCDE".index(gold)) if gold in "BCDE" else 0.0
        for text, gold in zip(completions, answer, strict=True)
    ]


def true_fields(completions: list[str], gold: list[str], **kwargs: Any) -> list[float]:
    """The document is right if all that is true in the gold document is right, so that false is never checked."""
    return [float(_equal(text, json.loads(cell))) for text, cell in zip(completions, gold, strict=True)]


def _equal(text: str, wanted: dict[str, Any]) -> bool:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) and all(found.get(name) and found[name] == value for name, value in wanted.items())


def easy_is_free(completions: list[str], answer: list[Any], level: list[str], **kwargs: Any) -> list[float]:
    scores = []
    for text, gold, kind in zip(completions, answer, level, strict=True):
        if kind == "easy":
            scores.append(1.0)
        else:
            scores.append(float(body(text) == str(gold)))
    return scores


def easy_is_lenient(completions: list[str], answer: list[Any], level: list[str], **kwargs: Any) -> list[float]:
    """In easy rows, a bare answer counts, too."""
    scores = []
    for text, gold, kind in zip(completions, answer, level, strict=True):
        said = text.strip() if kind == "easy" and "<answer>" not in text else body(text)
        scores.append(float(said == str(gold)))
    return scores


@pytest.mark.parametrize("reward", [falsy, two_digits])
def test_a_gold_answer_that_is_misread_is_found(reward: Any) -> None:
    (found,) = broken(reward, "right_for_every_gold", **SUMS)
    assert "a correct completion scores 0 for answer=" in found.why
    assert found.completion == f"<answer>{found.columns['answer']}</answer>"


def test_a_gold_answer_that_makes_every_answer_right_is_found() -> None:
    (found,) = broken(paid_if_missing, "right_for_every_gold", **SUMS)
    assert found.columns["answer"] == 0
    assert found.why == "an incorrect answer scores 1 for answer=0, and the correct one scores 1"


def test_letters_and_documents_are_replaced() -> None:
    (found,) = broken(no_first_option, "right_for_every_gold", **CHOICES)
    assert found.columns["answer"] == "A"
    (found,) = broken(true_fields, "right_for_every_gold", **ORDERS)
    assert 0 in json.loads(found.columns["gold"]).values()


@pytest.mark.parametrize(
    ("reward", "options"),
    [
        (rk.number("answer"), SUMS),
        (rk.choice("answer"), CHOICES),
        (rk.json_match("gold"), ORDERS),
        (tagged_number, {}),
    ],
)
def test_sound_rewards_read_every_gold_answer(reward: Any, options: dict[str, Any]) -> None:
    assert_held(reward, "right_for_every_gold", **options)


def test_a_branch_for_other_rows_is_found() -> None:
    (found,) = broken(easy_is_free, "covers_all_branches", **SUMS)
    assert found.columns["level"] == "easy"
    assert found.why == "with level='easy', an incorrect answer scores 1, the same as the correct one without it"
    assert_held(easy_is_lenient, "covers_all_branches", **SUMS)


def test_code_that_compares_no_column_is_skipped() -> None:
    assert_skipped(falsy, "covers_all_branches", "compares no column", **SUMS)
    assert_skipped(number, "covers_all_branches", "compares no column")
