"""The reward list of the GSM8K gist, the first that most users of GRPO met.

Source: gist.github.com/willccbb/4676755236bb08cab5f4e54a0475d6fb (grpo_demo.py). The gist has no license, so the
functions are written again from what they do: the same names, signatures, printing, numbers and bugs.
"""

from __future__ import annotations

import re
from typing import Any

SYSTEM = "Respond in the following format:\n<reasoning>\n...\n</reasoning>\n<answer>\n...\n</answer>\n"
FORM = "<reasoning>\n{reasoning}\n</reasoning>\n<answer>\n{answer}\n</answer>\n"


def extract_xml_answer(text: str) -> str:
    after = text.split("<answer>")[-1]
    return after.split("</answer>")[0].strip()


def correctness_reward_func(prompts: Any, completions: Any, answer: Any, **kwargs: Any) -> list[float]:
    contents = [completion[0]["content"] for completion in completions]
    question = prompts[0][-1]["content"]
    found = [extract_xml_answer(content) for content in contents]
    print(
        "-" * 20,
        f"Question:\n{question}",
        f"\nAnswer:\n{answer[0]}",
        f"\nResponse:\n{contents[0]}",
        f"\nExtracted:\n{found[0]}",
    )
    return [2.0 if guess == gold else 0.0 for guess, gold in zip(found, answer, strict=False)]


def int_reward_func(completions: Any, **kwargs: Any) -> list[float]:
    contents = [completion[0]["content"] for completion in completions]
    found = [extract_xml_answer(content) for content in contents]
    return [0.5 if guess.isdigit() else 0.0 for guess in found]


def strict_format_reward_func(completions: Any, **kwargs: Any) -> list[float]:
    """Score 0.5 for the exact format; without re.DOTALL, only one line of reasoning matches."""
    pattern = r"^<reasoning>\n.*?\n</reasoning>\n<answer>\n.*?\n</answer>\n$"
    contents = [completion[0]["content"] for completion in completions]
    return [0.5 if re.match(pattern, content) else 0.0 for content in contents]


def soft_format_reward_func(completions: Any, **kwargs: Any) -> list[float]:
    """Score 0.5 for both tags in order; without re.DOTALL, the format that the prompt asks for does not match."""
    pattern = r"<reasoning>.*?</reasoning>\s*<answer>.*?</answer>"
    contents = [completion[0]["content"] for completion in completions]
    return [0.5 if re.match(pattern, content) else 0.0 for content in contents]


def count_xml(text: str) -> float:
    count = 0.0
    if text.count("<reasoning>\n") == 1:
        count += 0.125
    if text.count("\n</reasoning>\n") == 1:
        count += 0.125
    if text.count("\n<answer>\n") == 1:
        count += 0.125
        count -= len(text.split("\n</answer>\n")[-1]) * 0.001
    if text.count("\n</answer>") == 1:
        count += 0.125
        count -= (len(text.split("\n</answer>")[-1]) - 1) * 0.001
    return count


def xmlcount_reward_func(completions: Any, **kwargs: Any) -> list[float]:
    return [count_xml(completion[0]["content"]) for completion in completions]


FUNCTIONS = (
    xmlcount_reward_func,
    soft_format_reward_func,
    strict_format_reward_func,
    int_reward_func,
    correctness_reward_func,
)


def _row(question: str, answer: str) -> dict[str, Any]:
    prompt = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": question}]
    return {"prompt": prompt, "answer": answer}


EXAMPLES = [
    _row("Natalia sold 48 clips in April and half as many in May. How many did she sell?", "72"),
    _row("A pen costs 3 dollars and a book 15. What do 4 pens and 2 books cost?", "42"),
    _row("A farm has 1,200 hens. Each lays 2 eggs a day. How many eggs are that in a day?", "2,400"),
]
GOOD = [
    FORM.format(reasoning="48 / 2 = 24 clips in May, and 48 + 24 = 72.", answer="72"),
    FORM.format(reasoning="4 * 3 = 12 and 2 * 15 = 30, so 12 + 30 = 42.", answer="42"),
    FORM.format(reasoning="1,200 hens lay 2 eggs each.", answer="2,400"),
]
BAD = [
    FORM.format(reasoning="48 + 48 = 96.", answer="96"),
    FORM.format(reasoning="3 + 15 = 18.", answer="18"),
    FORM.format(reasoning="1,200 hens lay one egg each.", answer="1,200"),
]
