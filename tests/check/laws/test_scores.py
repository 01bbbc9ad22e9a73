"""Laws of single scores: raising, NaN, bounds, and None."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest

import rewardkit as rk
from rewardkit.testing import check_reward
from tests.check.rewards import (
    EXAMPLES,
    assert_held,
    awaited,
    broken,
    closeness,
    naive,
    number,
    outcome,
    raises_on_empty,
    shortest,
    shown,
    tagged_number,
    tree,
)

LAWS = ("total", "finite", "bounded", "abstains_by_declaration")


@rk.reward
def chars(completion: str, answer: str) -> float:
    """Raises where there is half a character."""
    return float(len(completion.encode("utf-8")) > 3)


@rk.reward
def last_word(completion: str) -> float:
    return float(completion.split()[-1] == "42")


@rk.reward
def two_bugs(completion: str) -> float:
    if not completion:
        return [][0]
    return float(int(re.sub(r"\D", "", completion) or completion) > 0)


@rk.reward
def says_a_lot(completion: str) -> float:
    return "much"  # type: ignore[return-value]


@rk.reward(scope="group")
def share_of_length(completion: list[str]) -> list[float]:
    """Divides by nothing where all are equally long."""
    sizes = [len(text) for text in completion]
    return [(size - min(sizes)) / (max(sizes) - min(sizes)) for size in sizes]


def fault_of_the_last_message(completions: list[Any], **kwargs: Any) -> list[float]:
    return [float(len(messages[-1]["content"]) > 3) for messages in completions]


@rk.reward
def last_number(completion: str) -> float:
    """float("nan") is a number, too."""
    try:
        return float(completion)
    except (ValueError, OverflowError):
        return 0.0


def mean_of_nothing(completions: list[str], **kwargs: Any) -> list[float]:
    """As numpy has it; a trainer takes NaN for None."""
    return [math.nan if not text.split() else 1.0 / len(text.split()) for text in completions]


@rk.reward(bounds=(-math.inf, math.inf))
def reciprocal(completion: str) -> float:
    return math.inf if len(completion) == 1 else 1.0 / (len(completion) + 2)


@rk.reward
def word_count(completion: str) -> float:
    """Forgets that it said at most 1."""
    return len(completion.split()) / 4


def therefores(completions: list[str], **kwargs: Any) -> list[float]:
    """The more the better."""
    return [float(len(re.findall(r"therefore", text))) for text in completions]


def some_therefores(completions: list[str], **kwargs: Any) -> list[float]:
    return [min(1.0, len(re.findall(r"therefore", text)) / 3) for text in completions]


def diminishing(completions: list[str], **kwargs: Any) -> list[float]:
    return [math.log1p(len(re.findall(r"therefore", text))) for text in completions]


def words_written(completions: list[str], **kwargs: Any) -> list[float]:
    """Grows with the length, and most with the longest text that is tried."""
    return [len(text.split()) / 10 for text in completions]


def first_thousand_words(completions: list[str], **kwargs: Any) -> list[float]:
    """The same with a limit, which is far away."""
    return [min(1000, len(text.split())) / 10 for text in completions]


@rk.reward
def forgets_to_say(completion: str) -> float:
    if "<answer>" not in completion:
        return None  # type: ignore[return-value]
    return 1.0


@rk.reward
def says_so(completion: str) -> float | None:
    return 1.0 if "<answer>" in completion else None


def hides(completions: list[str], **kwargs: Any) -> list[float | None]:
    return [float("42" in text) if "<answer>" in text else None for text in completions]


def other_task(completions: list[str], answer: list[str], **kwargs: Any) -> list[float | None]:
    """Abstains on every completion of the second example."""
    return [None if gold == "7" else float(gold in text) for text, gold in zip(completions, answer, strict=True)]


@pytest.mark.parametrize("reward", [number, tree, closeness, tagged_number, awaited], ids=shown)
def test_sound_rewards_hold_to_all_of_them(reward: Any) -> None:
    assert_held(reward, *LAWS)


def test_a_function_that_raises_on_nothing() -> None:
    (found,) = broken(raises_on_empty, "total")
    assert (found.completion, found.component, found.score) == ("", "raises_on_empty", None)
    assert "IndexError" in found.why
    assert "IndexError" in found.trace
    assert found.columns == EXAMPLES[0]
    assert "the run stops" in found.matters


def test_a_reward_that_raises_on_half_a_character() -> None:
    result = outcome(chars, "total")
    assert (result.outcome, result.findings) == ("held", ())  # no tokenizer decodes to it
    assert [aside.completion for aside in result.asides] == ["\ud800", "a\udfff"]
    assert all(aside.component == "chars" and "UnicodeEncodeError" in aside.why for aside in result.asides)
    assert_held(chars, "finite", "bounded", "abstains_by_declaration")


def test_a_finding_for_each_way_in_which_it_raises() -> None:
    found = broken(two_bugs, "total", examples=[{}], good=["1"], bad=["0"])
    assert {re.findall(r"[A-Z]\w+Error", one.why)[0] for one in found} == {"IndexError", "ValueError"}
    assert all(len(one.completion) <= 1 for one in found)


def test_a_part_of_a_tree_is_blamed() -> None:
    (found,) = broken(0.5 * number + 0.5 * last_word, "total")
    assert found.component == "last_word"


def test_what_is_no_number() -> None:
    (found,) = broken(says_a_lot, "total")
    assert found.component == "says_a_lot"
    assert "much" in found.why


def test_shapes_of_messages() -> None:
    """Only those that the data has: a run with one message of text per completion never sees a call of a tool."""
    message = [{"role": "assistant", "content": "four"}]
    given: dict[str, Any] = {"examples": [{}], "bad": []}
    result = outcome(fault_of_the_last_message, "total", good=[message], **given)
    assert result.outcome == "held"
    assert {"no messages", "no content", "content None, a tool call"} <= {one.unreachable for one in result.asides}
    turns = [message[0], {"role": "tool", "name": "f", "content": "42"}, message[0]]
    (found,) = broken(fault_of_the_last_message, "total", good=[turns], **given)
    assert found.completion[0]["tool_calls"]
    assert "TypeError" in found.why
    result = outcome(fault_of_the_last_message, "total", good=[turns], **given)
    assert "no messages" in {one.unreachable for one in result.asides}
    assert "content None, a tool call" not in {one.unreachable for one in result.asides}


@pytest.mark.slow
def test_groups_in_which_all_are_equal() -> None:
    (found,) = broken(share_of_length, "total", good=["a", "b"], bad=["longer than all that is tried" * 200])
    assert "equal completions" in found.why
    assert "ZeroDivisionError" in found.why
    assert_held(shortest, *LAWS)


def test_nan_and_infinity() -> None:
    (found,) = broken(last_number, "finite", good=["1", "0.7"], examples=[{"answer": "1"}, {"answer": "0.7"}])
    assert found.completion in ("nan", "inf")
    assert "finite number" in found.why
    assert_held(last_number, "total", examples=[{}], good=["1"], bad=["0"])
    (found,) = broken(mean_of_nothing, "abstains_by_declaration", examples=[{}], good=["7"], bad=["8 9"])
    assert found.completion == ""
    (found,) = broken(reciprocal, "finite", examples=[{}], good=["ab"], bad=["abcdef"])
    assert len(found.completion) == 1
    assert found.component == "reciprocal"


def test_scores_outside_of_what_was_declared() -> None:
    (found,) = broken(word_count, "bounded")
    assert len(found.completion.split()) == 5
    assert (found.component, "bounds" in found.why) == ("word_count", True)
    assert_held(word_count, "total", "finite")


def test_spam_that_pays_without_limit() -> None:
    (found,) = broken(therefores, "bounded", examples=[{}], good=["therefore 4"], bad=["5"])
    assert found.score == 20.0
    assert "'therefore ' once scores 1, 20 times 20, 200 times 200, 2,000 times 2000" in found.why
    (found,) = broken(words_written, "bounded")
    assert found.score == 2.0


@pytest.mark.parametrize("reward", [some_therefores, first_thousand_words, diminishing, naive])
def test_spam_that_pays_up_to_a_limit_or_less_and_less(reward: Any) -> None:
    assert_held(reward, "bounded", good=["therefore 42", "therefore 7"], bad=["41", "8"])


def test_none_has_to_be_declared() -> None:
    (found,) = broken(forgets_to_say, "abstains_by_declaration")
    assert found.completion in ("", [])
    assert found.component == "forgets_to_say"
    assert "None" in found.why
    assert_held(forgets_to_say, "total", "finite", "bounded")
    assert_held(says_so, *LAWS)


def test_a_function_that_abstains_on_what_it_does_not_like() -> None:
    (found,) = broken(hides, "abstains_by_declaration")
    assert found.completion == ""
    assert found.score is None
    assert "for other completions of" in found.why


def test_a_function_that_abstains_on_another_task() -> None:
    assert_held(other_task, *LAWS)


def test_nothing_is_asked_twice_for_the_four_of_them() -> None:
    report = check_reward(naive, examples=EXAMPLES, laws=LAWS, isolate=False)
    first, *others = report.results
    assert first.tries > 100
    assert all(result.tries < 100 for result in others)


def test_a_law_that_found_nothing_says_how_much_it_looked_at() -> None:
    assert outcome(number, "total").tries > 200
