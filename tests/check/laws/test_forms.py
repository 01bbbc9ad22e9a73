"""Laws of form: text or chat, a string or a number."""

from __future__ import annotations

from typing import Any

import pytest

import rewardkit as rk
from rewardkit.check.laws import find
from rewardkit.check.reward_under_test.trials import Trial
from tests.check.rewards import (
    GOOD,
    assert_held,
    assert_skipped,
    awaited,
    broken,
    closeness,
    number,
    shortest,
    subject,
    tagged_number,
    tree,
)

CHAT = [[{"role": "assistant", "content": text}] for text in GOOD]
FLAGS_AS_TEXT = [{"prompt": "7?", "prime": "False"}, {"prompt": "8?", "prime": "True"}]


def of_text_or_chat(completions: list[Any], answer: list[str], **kwargs: Any) -> list[float]:
    """Pays the thinking in one of the two forms only."""
    return [
        float(gold in text) if isinstance(text, str) else 0.0 for text, gold in zip(completions, answer, strict=True)
    ]


def flag_of_text(completions: list[str], prime: list[Any], **kwargs: Any) -> list[float]:
    return [float(bool(flag) == ("yes" in text)) for text, flag in zip(completions, prime, strict=True)]


def flag_read_well(completions: list[str], prime: list[Any], **kwargs: Any) -> list[float]:
    return [
        float((str(flag).lower() == "true") == ("yes" in text)) for text, flag in zip(completions, prime, strict=True)
    ]


@rk.reward
def rounded(completion: str, answer: float, example: dict[str, Any]) -> float:
    """Looks at the column past its annotation."""
    return float(f"<answer>{example['answer']}</answer>" in completion and answer > 0)


@pytest.mark.slow
@pytest.mark.parametrize("reward", [number, tree, closeness, awaited, shortest], ids=repr)
def test_chat_is_scored_like_text(reward: Any) -> None:
    assert_held(reward, "chat_equals_text")
    assert_held(reward, "chat_equals_text", good=CHAT, bad=[])


@rk.reward
def of_messages(messages: list[dict[str, Any]], answer: str) -> float:
    """Looks for text where a message may hold a list of parts."""
    content = messages[-1].get("content") if messages else ""
    return float(isinstance(content, str) and f"<answer>{answer}</answer>" in content)


def test_a_form_that_is_paid_otherwise() -> None:
    assert_skipped(1.0 * rk.from_trl(of_text_or_chat), "chat_equals_text", "one of the two forms")
    in_parts = [
        [{**messages[0], "content": [{"type": "text", "text": text}]}]
        for messages, text in zip(CHAT, GOOD, strict=True)
    ]
    (found,) = broken(of_messages, "chat_equals_text", good=[*zip(CHAT, in_parts, strict=True)])
    assert found.score == 0.0
    assert isinstance(found.completion, list)
    assert "0 as content in parts" in found.why


def test_parts_belong_to_data_with_parts_and_skipped_completions_prove_nothing() -> None:
    assert_held(of_messages, "chat_equals_text")
    assert_held(of_messages, "chat_equals_text", good=CHAT, bad=[])
    checked = subject(of_messages)
    checked.avoid([Trial(completion) for completion in CHAT])
    found = find("chat_equals_text")
    assert found is not None
    assert list(found.check(checked)) == []


def test_a_trainers_function_is_written_for_one_form() -> None:
    assert_skipped(tagged_number, "chat_equals_text", "one of the two forms")
    assert_skipped(of_text_or_chat, "chat_equals_text", "one of the two forms", good=CHAT, bad=[])


def test_flags_as_text() -> None:
    given: dict[str, Any] = {"examples": FLAGS_AS_TEXT, "good": ["no", "yes"], "bad": ["yes", "no"]}
    (found,) = broken(flag_of_text, "strings_equal_typed_columns", **given)
    assert found.columns["prime"] == "False"
    assert "prime='False'" in found.why
    assert "as with True" in found.why
    assert_skipped(flag_read_well, "strings_equal_typed_columns", "no column is annotated", **given)
    given["examples"] = [{**row, "prime": row["prime"] == "True"} for row in FLAGS_AS_TEXT]
    assert_skipped(flag_of_text, "strings_equal_typed_columns", "no column is annotated", **given)


@pytest.mark.parametrize("answers", [("42", "7"), (42, 7), (42.0, 7.0)], ids=repr)
def test_numbers_as_text(answers: tuple[Any, ...]) -> None:
    examples = [{"answer": answer} for answer in answers]
    assert_held(closeness, "strings_equal_typed_columns", examples=examples)


def test_a_reward_that_looks_past_its_annotation() -> None:
    (found,) = broken(rounded, "strings_equal_typed_columns")
    assert "answer='42'" in found.why
    assert "answer=42.0" in found.why
    assert found.columns["answer"] == 42.0


def test_columns_of_text_are_left_alone() -> None:
    assert_skipped(awaited, "strings_equal_typed_columns", "other than str")


def test_doubts_before_the_answer() -> None:
    def certain(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
        marked = [f"<answer>{gold}</answer>" in text for text, gold in zip(completions, answer, strict=True)]
        return [float(one and "don't know" not in text) for one, text in zip(marked, completions, strict=True)]

    findings = broken(certain, "right_however_written")
    assert any("with doubts before its answer scores 0" in finding.why for finding in findings)
