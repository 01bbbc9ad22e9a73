"""Chat prompts with plain texts as completions: functions get messages, as from TRL."""

from __future__ import annotations

import re
from typing import Any

import pytest

import rewardkit as rk
from rewardkit.testing import check_reward
from tests.check.rewards import broken_laws, shown

SYSTEM = {"role": "system", "content": "Think, then answer in <answer> tags."}
EXAMPLES: list[dict[str, Any]] = [
    {"prompt": [SYSTEM, {"role": "user", "content": question}], "answer": gold}
    for question, gold in (("What is 6*7?", "42"), ("What is 3+4?", "7"))
]
GOOD = ["<answer>42</answer>", "<answer>7</answer>"]
BAD = ["<answer>41</answer>", "<answer>8</answer>"]
LAWS = ("gold_gets_the_maximum", "gold_above_perturbed_gold", "separates_good_from_bad", "informative")


def graded(text: str, gold: str) -> float:
    found = re.fullmatch(r"<answer>([0-9]{1,9})</answer>\s*", text)
    return 2.0 if found and found.group(1) == gold else 0.0


def correctness(prompts: Any, completions: Any, answer: list[str], **kwargs: Any) -> list[float]:
    """Reads messages, and `completions` is not its first argument."""
    assert prompts[0][-1]["role"] == "user"
    texts = [completion[0]["content"] for completion in completions]
    return [graded(text, gold) for text, gold in zip(texts, answer, strict=True)]


def careless(completions: Any, answer: list[str], **kwargs: Any) -> list[float]:
    texts = [completion[-1]["content"] for completion in completions]
    return [float(gold in text) for text, gold in zip(texts, answer, strict=True)]


@rk.reward(bounds=(0, 2))
def of_messages(messages: list[dict[str, str]], answer: str) -> float:
    return graded(messages[-1]["content"], answer)


@rk.reward(bounds=(0, 2))
def of_text(completion: str, answer: str) -> float:
    return graded(completion, answer)


def as_messages(texts: list[str]) -> list[list[dict[str, str]]]:
    return [[{"role": "assistant", "content": text}] for text in texts]


@pytest.mark.parametrize("reward", [correctness, of_messages, of_text], ids=shown)
@pytest.mark.parametrize("form", [list, as_messages], ids=["texts", "messages"])
def test_texts_and_messages_are_the_same_completions(reward: Any, form: Any) -> None:
    report = check_reward(reward, examples=EXAMPLES, good=form(GOOD), bad=form(BAD), laws=LAWS)
    assert {result.law: result.outcome for result in report.results} == dict.fromkeys(LAWS, "held"), report


def test_the_faults_of_a_chat_function_are_found() -> None:
    report = check_reward(careless, examples=EXAMPLES, good=GOOD, bad=BAD, laws=LAWS)
    assert broken_laws(report) == {"gold_above_perturbed_gold"}
    for one in report.findings:
        prompt, answer = one.columns["prompt"], one.columns["answer"]
        again = rk.score(rk.from_trl(careless), [one.completion], prompts=[prompt], answer=[answer])
        assert again.total.tolist() == [one.score] == [1.0]


def test_a_function_of_texts_fails_on_chat_prompts_as_it_would_in_training() -> None:
    def of_strings(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
        return [graded(text, gold) for text, gold in zip(completions, answer, strict=True)]

    report = check_reward(of_strings, examples=EXAMPLES, good=GOOD, bad=BAD, laws=LAWS)
    assert "gold_gets_the_maximum" in broken_laws(report)
    assert check_reward(
        of_strings, examples=[{"prompt": "6*7?", "answer": "42"}], good=GOOD[:1], bad=BAD[:1], laws=LAWS
    ).ok


def test_a_single_message_is_a_completion() -> None:
    message = {"role": "assistant", "content": GOOD[0]}
    for good in ([message], [[message]], [[[message], [message]]]):
        assert check_reward(correctness, examples=EXAMPLES[:1], good=good, laws=["gold_gets_the_maximum"]).ok


@pytest.mark.parametrize("prompts", [[EXAMPLES[0]["prompt"], "6*7?"]])
def test_the_prompt_of_each_row_decides(prompts: list[Any]) -> None:
    got: list[Any] = []

    def listening(completions: Any, **kwargs: Any) -> list[float]:
        got.extend(completions)
        return [0.0 for _ in completions]

    rk.score(rk.from_trl(listening), ["a", "b"], prompts=prompts)
    assert got == [[{"role": "assistant", "content": "a"}], "b"]
