"""The reward list of open-r1, without the functions that run programs on a hosted service.

Source: github.com/huggingface/open-r1, src/open_r1/rewards.py (Apache-2.0). The functions are written again from what
they do: the same names, signatures, printing, numbers and bugs.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

from latex2sympy2_extended import NormalizationConfig
from math_verify import LatexExtractionConfig, parse, verify


def _parsed(content: str, boxed: Any) -> Any:
    normalization = NormalizationConfig(
        nits=False, malformed_operators=False, basic_latex=True, boxed=boxed, units=True
    )
    config = LatexExtractionConfig(
        normalization_config=normalization, boxed_match_priority=0, try_extract_without_anchor=False
    )
    return parse(content, extraction_config=[config], extraction_mode="first_match")


def accuracy_reward(completions: Any, solution: Any, **kwargs: Any) -> list[float | None]:
    contents = [completion[0]["content"] for completion in completions]
    rewards: list[float | None] = []
    for content, gold in zip(contents, solution, strict=False):
        wanted = parse(gold, extraction_mode="first_match")
        reward: float | None
        if len(wanted) != 0:
            found = _parsed(content, "all")
            try:
                reward = float(verify(wanted, found))
            except Exception as error:
                print(f"verify failed: {error}, answer: {found}, gold: {wanted}")
                reward = None
        else:
            reward = None
            print("Failed to parse gold solution: ", gold)
        rewards.append(reward)
    return rewards


def format_reward(completions: Any, **kwargs: Any) -> list[float]:
    """Score 1.0 for the format; with re.MULTILINE, ``$`` matches at any line, so text after the answer is free."""
    pattern = r"^<think>\n.*?\n</think>\n<answer>\n.*?\n</answer>$"
    contents = [completion[0]["content"] for completion in completions]
    matches = [re.match(pattern, content, re.DOTALL | re.MULTILINE) for content in contents]
    return [1.0 if match else 0.0 for match in matches]


def tag_count_reward(completions: Any, **kwargs: Any) -> list[float]:
    def count_tags(text: str) -> float:
        count = 0.0
        if text.count("<think>\n") == 1:
            count += 0.25
        if text.count("\n</think>\n") == 1:
            count += 0.25
        if text.count("\n<answer>\n") == 1:
            count += 0.25
        if text.count("\n</answer>") == 1:
            count += 0.25
        return count

    return [count_tags(completion[0]["content"]) for completion in completions]


def reasoning_steps_reward(completions: Any, **kwargs: Any) -> list[float]:
    pattern = r"(Step \d+:|^\d+\.|\n-|\n\*|First,|Second,|Next,|Finally,)"
    contents = [completion[0]["content"] for completion in completions]
    counts = [len(re.findall(pattern, content)) for content in contents]
    return [min(1.0, count / 3) for count in counts]


def len_reward(completions: Any, solution: Any, **kwargs: Any) -> list[float]:
    """Score short completions above long ones, as in Kimi 1.5; the shortest and longest are those of the batch."""
    contents = [completion[0]["content"] for completion in completions]
    correct = []
    for content, gold in zip(contents, solution, strict=False):
        wanted = parse(gold, extraction_mode="first_match", extraction_config=[LatexExtractionConfig()])
        if len(wanted) == 0:
            correct.append(True)
            print("Failed to parse gold solution: ", gold)
            continue
        correct.append(verify(_parsed(content, True), wanted))
    lengths = [len(content) for content in contents]
    shortest, longest = min(lengths), max(lengths)
    if longest == shortest:
        return [0.0] * len(completions)
    rewards = []
    for length, right in zip(lengths, correct, strict=False):
        value = 0.5 - (length - shortest) / (longest - shortest)
        rewards.append(float(value if right else min(0, value)))
    return rewards


def get_cosine_scaled_reward(
    min_value_wrong: float = -1.0,
    max_value_wrong: float = -0.5,
    min_value_correct: float = 0.5,
    max_value_correct: float = 1.0,
    max_len: int = 1000,
) -> Callable[..., list[float]]:
    def cosine_scaled_reward(completions: Any, solution: Any, **kwargs: Any) -> list[float]:
        """Score by correctness and length; the cosine turns back up beyond `max_len`."""
        contents = [completion[0]["content"] for completion in completions]
        rewards = []
        for content, gold in zip(contents, solution, strict=False):
            wanted = parse(gold, extraction_mode="first_match", extraction_config=[LatexExtractionConfig()])
            if len(wanted) == 0:
                rewards.append(1.0)
                print("Failed to parse gold solution: ", gold)
                continue
            right = verify(_parsed(content, True), wanted)
            cosine = math.cos(len(content) / max_len * math.pi)
            if right:
                low, high = min_value_correct, max_value_correct
            else:
                low, high = max_value_wrong, min_value_wrong
            rewards.append(float(low + 0.5 * (high - low) * (1.0 + cosine)))
        return rewards

    return cosine_scaled_reward


def get_repetition_penalty_reward(ngram_size: int, max_penalty: float) -> Callable[..., list[float]]:
    if max_penalty > 0:
        raise ValueError(f"max_penalty {max_penalty} should not be positive")

    def repetition_penalty_reward(completions: Any, **kwargs: Any) -> list[float]:
        rewards = []
        for content in [completion[0]["content"] for completion in completions]:
            words = content.lower().split()
            if content == "" or len(words) < ngram_size:
                rewards.append(0.0)
                continue
            ngrams = list(zip(*[words[start:] for start in range(ngram_size)], strict=False))
            rewards.append((1 - len(set(ngrams)) / len(ngrams)) * max_penalty)
        return rewards

    return repetition_penalty_reward


def get_code_format_reward(language: str = "python") -> Callable[..., list[float]]:
    def code_format_reward(completions: Any, **kwargs: Any) -> list[float]:
        languages = kwargs["language"] if "language" in kwargs else [language] * len(completions)
        contents = [completion[0]["content"] for completion in completions]
        matches = [
            re.match(
                rf"^<think>\n.*?\n</think>\n<answer>\n.*?```{name}.*?```.*?\n</answer>$",
                content,
                re.DOTALL | re.MULTILINE,
            )
            for content, name in zip(contents, languages, strict=False)
        ]
        return [1.0 if match else 0.0 for match in matches]

    return code_format_reward


def get_soft_overlong_punishment(max_completion_len: int, soft_punish_cache: int) -> Callable[..., list[float]]:
    def soft_overlong_punishment_reward(completion_ids: Any, **kwargs: Any) -> list[float]:
        rewards = []
        free = max_completion_len - soft_punish_cache
        for ids in completion_ids:
            length = len(ids)
            if length <= free:
                rewards.append(0.0)
            elif length <= max_completion_len:
                rewards.append((free - length) / soft_punish_cache)
            else:
                rewards.append(-1.0)
        return rewards

    return soft_overlong_punishment_reward


cosine_scaled_reward = get_cosine_scaled_reward()
repetition_penalty_reward = get_repetition_penalty_reward(ngram_size=3, max_penalty=-1.0)
code_format_reward = get_code_format_reward()
soft_overlong_punishment_reward = get_soft_overlong_punishment(max_completion_len=1024, soft_punish_cache=256)

FUNCTIONS = (
    accuracy_reward,
    format_reward,
    tag_count_reward,
    reasoning_steps_reward,
    len_reward,
    cosine_scaled_reward,
    repetition_penalty_reward,
    soft_overlong_punishment_reward,
)

SYSTEM = (
    "You are a helpful AI Assistant that provides well-reasoned and detailed responses. Respond in the following "
    "format: <think>\n...\n</think>\n<answer>\n...\n</answer>"
)
FORM = "<think>\n{thinking}\n</think>\n<answer>\n{answer}\n</answer>"


def _row(problem: str, solution: str) -> dict[str, Any]:
    prompt = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": problem}]
    return {"prompt": prompt, "solution": solution}


EXAMPLES = [
    _row("What is half of one half of 2?", "$\\frac{1}{2}$"),
    _row("What is 6 times 7?", "$42$"),
    _row("Factor $x^2 - 4$.", "$(x-2)(x+2)$"),
]
GOOD = [
    FORM.format(thinking="First, half of 2 is 1.\nNext, half of 1 is 1/2.", answer="$\\boxed{\\frac{1}{2}}$"),
    FORM.format(thinking="First, 6 * 7 = 42.\nFinally, check: 42 / 7 = 6.", answer="$\\boxed{42}$"),
    FORM.format(thinking="First, a difference of squares.\nNext, take roots.", answer="$\\boxed{(x-2)(x+2)}$"),
]
BAD = [
    FORM.format(thinking="First, half of 2 is 1.\nNext, that is it.", answer="$\\boxed{1}$"),
    FORM.format(thinking="First, 6 * 7 = 48.\nFinally, done.", answer="$\\boxed{48}$"),
    FORM.format(thinking="First, a difference of squares.\nNext, guess.", answer="$\\boxed{(x-4)(x+1)}$"),
]
# The function for programs has data of its own.
CODE_EXAMPLES = [{"prompt": [{"role": "user", "content": "Write a function that doubles its argument."}]}]
CODE_GOOD = [
    FORM.format(thinking="Two times x.", answer="```python\ndef double(x):\n    return 2 * x\n```"),
]
CODE_BAD = [FORM.format(thinking="Two times x.", answer="2 * x")]
