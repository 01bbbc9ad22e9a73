"""The reward list of Unsloth's GRPO notebook, with tags of its own.

Source: github.com/unslothai/notebooks, Qwen3_(4B)-GRPO (LGPL-3.0). The functions are written again from what they do:
the same names, signatures, printing, numbers and bugs.
"""

from __future__ import annotations

import re
from typing import Any

REASONING_START = "<start_working_out>"
REASONING_END = "<end_working_out>"
SOLUTION_START = "<SOLUTION>"
SOLUTION_END = "</SOLUTION>"

match_format = re.compile(
    rf"^[\s]{{0,}}{REASONING_START}.+?{REASONING_END}.*?{SOLUTION_START}(.+?){SOLUTION_END}[\s]{{0,}}$",
    flags=re.MULTILINE | re.DOTALL,
)
match_numbers = re.compile(SOLUTION_START + r".*?[\s]{0,}([-]?[\d\.\,]{1,})", flags=re.MULTILINE | re.DOTALL)

PRINTED_TIMES = 0
PRINT_EVERY_STEPS = 5


def match_format_exactly(completions: Any, **kwargs: Any) -> list[float]:
    scores = []
    for completion in completions:
        score = 0.0
        if match_format.search(completion[0]["content"]) is not None:
            score += 3.0
        scores.append(score)
    return scores


def match_format_approximately(completions: Any, **kwargs: Any) -> list[float]:
    scores = []
    for completion in completions:
        text = completion[0]["content"]
        score = 0.0
        score += 0.5 if text.count(REASONING_START) == 1 else -1.0
        score += 0.5 if text.count(REASONING_END) == 1 else -1.0
        score += 0.5 if text.count(SOLUTION_START) == 1 else -1.0
        score += 0.5 if text.count(SOLUTION_END) == 1 else -1.0
        scores.append(score)
    return scores


def check_answer(prompts: Any, completions: Any, answer: Any, **kwargs: Any) -> list[float]:
    """Compare texts, then the ratio of two numbers: 66 earns credit for 72, and "-0" of a zero divides by it."""
    contents = [completion[0]["content"] for completion in completions]
    found = [match.group(1) if (match := match_format.search(content)) is not None else None for content in contents]
    scores = []
    for guess, gold in zip(found, answer, strict=False):
        score = 0.0
        if guess is None:
            scores.append(-2.0)
            continue
        if guess == gold:
            score += 5.0
        elif guess.strip() == gold.strip():
            score += 3.5
        else:
            try:
                ratio = float(guess) / float(gold)
                if 0.9 <= ratio <= 1.1:
                    score += 2.0
                elif 0.8 <= ratio <= 1.2:
                    score += 1.5
                else:
                    score -= 2.5
            except Exception:
                score -= 4.5
        scores.append(score)
    return scores


def check_numbers(prompts: Any, completions: Any, answer: Any, **kwargs: Any) -> list[float]:
    global PRINTED_TIMES
    question = prompts[0][-1]["content"]
    contents = [completion[0]["content"] for completion in completions]
    found = [match.group(1) if (match := match_numbers.search(content)) is not None else None for content in contents]
    scores = []
    if PRINTED_TIMES % PRINT_EVERY_STEPS == 0:
        print(
            "*" * 20 + f"Question:\n{question}",
            f"\nAnswer:\n{answer[0]}",
            f"\nResponse:\n{contents[0]}",
            f"\nExtracted:\n{found[0]}",
        )
    PRINTED_TIMES += 1
    for guess, gold in zip(found, answer, strict=False):
        if guess is None:
            scores.append(-2.5)
            continue
        try:
            wanted = float(gold.strip())
            number = float(guess.strip().replace(",", ""))
            scores.append(3.5 if number == wanted else -1.5)
        except Exception:
            scores.append(0.0)
            continue
    return scores


FUNCTIONS = (match_format_exactly, match_format_approximately, check_answer, check_numbers)

SYSTEM = (
    "You are given a problem. Think about it and provide your working out. "
    f"Place it between {REASONING_START} and {REASONING_END}. "
    f"Then, provide your solution between {SOLUTION_START}{SOLUTION_END}"
)
FORM = f"{REASONING_START}{{working}}{REASONING_END}{SOLUTION_START}{{answer}}{SOLUTION_END}"


def _row(question: str, answer: str) -> dict[str, Any]:
    prompt = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": question}]
    return {"prompt": prompt, "answer": answer}


EXAMPLES = [
    _row("Natalia sold 48 clips in April and half as many in May. How many did she sell?", "72"),
    _row("A pen costs 3 dollars and a book 15. What do 4 pens and 2 books cost?", "42"),
    _row("A farm has 1,200 hens. Each lays 2 eggs a day. How many eggs are that in a day?", "2400"),
]
GOOD = [
    FORM.format(working="48 / 2 = 24 clips in May, and 48 + 24 = 72.", answer="72"),
    FORM.format(working="4 * 3 = 12 and 2 * 15 = 30, so 12 + 30 = 42.", answer="42"),
    FORM.format(working="1,200 hens lay 2 eggs each.", answer="2400"),
]
BAD = [
    FORM.format(working="48 + 48 = 96.", answer="96"),
    FORM.format(working="3 + 15 = 18.", answer="18"),
    FORM.format(working="1,200 hens lay one egg each.", answer="1200"),
]
