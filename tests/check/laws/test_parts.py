"""Laws of parts: answers that are almost right, parts that are missing, and nonsense that earns more."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.check.rewards import GOOD, assert_held, assert_skipped, broken, form, naive, shortest, tagged_number

CLAIMS: dict[str, Any] = {
    "examples": [{"prompt": "Is it so?", "answer": "supported"}, {"prompt": "And that?", "answer": "refuted"}],
    "good": ["The text says it.\nVerdict: supported", "The text denies it.\nVerdict: refuted"],
    "bad": ["The text says it.\nVerdict: refuted", "The text denies it.\nVerdict: supported"],
}
CARDS: dict[str, Any] = {
    "examples": [
        {"prompt": "Whose card is it?", "fields": {"name": "Anna", "city": "Rome", "job": "baker"}},
        {"prompt": "And this one?", "fields": {"name": "Boris", "city": "Oslo", "job": "miner"}},
    ],
    "good": ["name: Anna\ncity: Rome\njob: baker", "name: Boris\ncity: Oslo\njob: miner"],
    "bad": ["name: Carl\ncity: Bern\njob: clerk", "name: Carl\ncity: Bern\njob: clerk"],
}
ESSAYS: dict[str, Any] = {
    "examples": [{"prompt": "6*7?", "answer": "42"}, {"prompt": "3+4?", "answer": "7"}],
    "good": ["the two make it what they are: 42", "the sum of both is what they are: 7"],
    "bad": ["the two make it what they are: 41", "the sum of both is what they are: 8"],
}
_COMMON = {"the", "two", "make", "it", "what", "they", "are", "sum", "of", "both", "is"}


def in_it(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    """The last line has the verdict; "unsupported" has it, too."""
    return [float(gold in text.split("\n")[-1]) for text, gold in zip(completions, answer, strict=True)]


def behind_it(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    said = [text.split("\n")[-1].removeprefix("Verdict:").strip() for text in completions]
    return [float(one == gold) for one, gold in zip(said, answer, strict=True)]


def _has(text: str, name: str, value: str) -> bool:
    return re.search(rf"^{re.escape(name)}: {re.escape(value)}$", text, re.MULTILINE) is not None


def any_field(completions: list[str], fields: list[dict[str, str]], **kwargs: Any) -> list[float]:
    """Written with any() for all()."""
    pairs = zip(completions, fields, strict=True)
    return [float(any(_has(text, *pair) for pair in wanted.items())) for text, wanted in pairs]


def all_fields(completions: list[str], fields: list[dict[str, str]], **kwargs: Any) -> list[float]:
    pairs = zip(completions, fields, strict=True)
    return [float(all(_has(text, *pair) for pair in wanted.items())) for text, wanted in pairs]


def _fluency(text: str) -> float:
    words = re.findall(r"[a-z]+", text)
    return sum(word in _COMMON for word in words) / max(1, len(words))


def _right(text: str, gold: str) -> float:
    return float(text.split(": ")[-1] == gold)


def plain(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    return [_right(text, gold) for text, gold in zip(completions, answer, strict=True)]


def fluent(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    return [_right(text, gold) + 0.5 * _fluency(text) for text, gold in zip(completions, answer, strict=True)]


def influent(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    """The sign of the bonus is wrong."""
    return [_right(text, gold) - 0.5 * _fluency(text) for text, gold in zip(completions, answer, strict=True)]


def test_a_number_that_has_the_right_one_in_it() -> None:
    (found,) = broken(naive, "almost_right_is_wrong")
    assert found.score == 1.0
    assert re.search(r"with '(420|142)' for '42', it scores 1", found.why)
    assert_held(tagged_number, "almost_right_is_wrong")


def test_a_word_that_has_the_right_one_in_it() -> None:
    (found,) = broken(in_it, "almost_right_is_wrong", **CLAIMS)
    assert "with 'unsupported' for 'supported'" in found.why
    assert_held(behind_it, "almost_right_is_wrong", **CLAIMS)


def test_one_part_of_several_is_enough() -> None:
    (found,) = broken(any_field, "every_part_counts", **CARDS)
    assert "one of several lines is enough" in found.why
    assert len(found.completion.split("\n")) < 3
    assert_held(naive, "every_part_counts")


def test_a_reward_that_needs_all_of_a_text_has_no_part_to_cut() -> None:
    assert_skipped(all_fields, "every_part_counts", "nothing can be removed", **CARDS)


def test_a_bonus_with_the_wrong_sign() -> None:
    (found,) = broken(influent, "nonsense_earns_less", **ESSAYS)
    assert found.completion.endswith(": 42")
    assert "with nonsense around its answer" in found.why
    assert_held(plain, "nonsense_earns_less", **ESSAYS)
    assert_skipped(fluent, "nonsense_earns_less", "words next to its answer", **ESSAYS)  # each word counts


@pytest.mark.parametrize(
    ("law", "reason"),
    [
        ("almost_right_is_wrong", "no change to a number or word from a column"),
        ("nonsense_earns_less", "no correct completion has words next to its answer"),
    ],
)
def test_where_they_do_not_apply(law: str, reason: str) -> None:
    assert_skipped(form, law, reason)
    assert_skipped(form, law, "no correct completions", good=[])


def test_groups_are_not_compared_with_nonsense() -> None:
    assert_skipped(shortest, "nonsense_earns_less", "compares completions", good=GOOD)
