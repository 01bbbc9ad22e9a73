"""Forms: tags, sentences, disclaimers, and gates on them."""

from __future__ import annotations

import re
from typing import Any

import rewardkit as rk
from tests.check.bench import Case
from tests.check.extraction import Messages

whole = rk.extract.whole()

ASKED = [{"prompt": "What is 6 * 7?"}, {"prompt": "What is 9 * 9?"}]
FORMED = ["<think>6 * 7 = 42</think>\n<answer>42</answer>", "<think>9 * 9 = 81</think>\n<answer>81</answer>"]
UNFORMED = ["The answer is 42.", "It is 81, I believe."]


def format_reward(completions: list[str], **kwargs: Any) -> list[float]:
    """1.0 for one thinking part and one answer part, in this order and with nothing around them."""
    scores = []
    for completion in completions:
        text = completion.strip()
        once = all(text.count(tag) == 1 for tag in ("<think>", "</think>", "<answer>", "</answer>"))
        framed = text.startswith("<think>") and text.endswith("</answer>")
        joined = text.partition("</think>")[2].lstrip().startswith("<answer>")
        scores.append(1.0 if once and framed and joined else 0.0)
    return scores


@rk.reward
def strict_form(completion: str) -> float:
    """1.0 where the completion is a thinking part and an answer part, neither blank, and nothing else."""
    body = r"\s*[^<\s](?:[^<]|<(?!/?(?:think|answer)>))*"
    pattern = rf"\s*<think>{body}</think>\s*<answer>{body}</answer>"
    return 1.0 if re.match(pattern, completion) else 0.0


@rk.reward
def whole_sentences(completion: str) -> float:
    """1.0 where the answer consists of whole sentences: a capital first, a full stop in the end."""
    text = (whole(completion) or "").strip()
    if not text:
        return 0.0
    return 1.0 if re.fullmatch(r"(?:[A-Z](?:[\w,'-]+\s?)*[.!?]\s*)+", text) else 0.0


def boxed_in_tags_reward(completions: list[str], **kwargs: Any) -> list[float]:
    """1.0 where the visible text has an answer in tags that is not blank."""
    scores = []
    for completion in completions:
        shown = completion.rpartition("</think>")[2]
        match = re.search(r"<answer>\s*(.*?)\s*</answer>", shown, re.DOTALL)
        if match is None or shown.count("<answer>") > 1:
            scores.append(0.0)
        else:
            scores.append(1.0 if any(character.isalnum() for character in match.group(1)) else 0.0)
    return scores


@rk.reward(bounds=(-1.0, 0.0))
def disclaimer_penalty(completion: str) -> float:
    """-1.0 for an unwanted disclaimer."""
    text = " ".join((whole(completion) or "").lower().split())
    if re.search(r"\b(?:As an AI|As a language model|I'm just an AI)\b", text):
        return -1.0
    return 0.0


answered_plainly = rk.exact("answer", extract=rk.extract.tag("answer")) + 0.5 * disclaimer_penalty


@rk.reward(bounds=(-1.0, 1.0))
def signed_correctness(completion: str, answer: str) -> float:
    """1.0 for the right answer and -1.0 for a wrong one."""
    said = rk.extract.tag("answer")(completion)
    return 1.0 if said is not None and said.strip() == answer.strip() else -1.0


gated_correctness = rk.gate(when=rk.tags("think", "answer"), then=signed_correctness, otherwise=0.0)


def soft_format_reward(completions: list[Messages], **kwargs: Any) -> list[float]:
    """A quarter for each of the four tags that occurs exactly once in the assistant message."""
    scores = []
    for completion in completions:
        text = completion[0]["content"]
        positions = [text.find(tag) for tag in ("<think>", "</think>", "<answer>", "</answer>")]
        found = [position for position in positions if position >= 0]
        single = all(text.count(tag) <= 1 for tag in ("<think>", "</think>", "<answer>", "</answer>"))
        bare = "".join(text.split())
        filled = "<think></think>" not in bare and "<answer></answer>" not in bare
        scores.append(len(found) / 4 if single and filled and found == sorted(found) else 0.0)
    return scores


CASES = [
    Case(
        "empty_tags_pass",
        format_reward,
        ASKED,
        FORMED,
        UNFORMED,
        "Nothing need stand between the tags: <think></think><answer></answer> earns full marks.",
        "`.*?` between the tags of format rewards; TRL's think_format_reward",
    ),
    Case(
        "form_without_end",
        strict_form,
        ASKED,
        FORMED,
        UNFORMED,
        "re.match has no anchor at the end, so anything may follow: a second answer, an endless tail.",
        "re.match(r'<think>...</answer>') in place of fullmatch",
    ),
    Case(
        "catastrophic_sentences",
        whole_sentences,
        [{"prompt": "Describe a cat in two sentences."}, {"prompt": "Describe rain in one sentence."}],
        ["The cat sleeps. It is warm.", "Rain falls from gray clouds."],
        ["the cat sleeps", "rain: wet"],
        "Nested repetition backtracks exponentially: forty letters without a full stop hang the run.",
        "(\\w+\\s?)+ in style rewards",
    ),
    Case(
        "blanks_backtrack",
        boxed_in_tags_reward,
        ASKED,
        FORMED,
        UNFORMED,
        "\\s*(.*?)\\s* takes cubic time on an answer tag that is followed by blanks and never closed.",
        "the extraction pattern of most notebooks",
    ),
    Case(
        "penalty_never_matches",
        answered_plainly,
        [
            {"prompt": "Which metal is liquid at room temperature?", "answer": "mercury"},
            {"prompt": "Which planet has rings that are easily seen?", "answer": "Saturn"},
        ],
        ["<answer>mercury</answer>", "<answer>Saturn</answer>"],
        ["As an AI, I have no hands. <answer>iron</answer>", "I'm just an AI, but: <answer>Mars</answer>"],
        "The pattern has capitals and the text was put into lower case, so the penalty is 0 on every text.",
        "patterns matched against text.lower()",
    ),
    Case(
        "gate_pays_for_failing",
        gated_correctness,
        [{"prompt": "What is 6 * 7?", "answer": "42"}, {"prompt": "What is 9 * 9?", "answer": "81"}],
        FORMED,
        ["<think>6 + 7</think>\n<answer>13</answer>", "<think>9 + 9</think>\n<answer>18</answer>"],
        "Behind the closed gate are 0.0 and behind the open one -1.0, so breaking the form beats a wrong answer.",
        "format gates around signed rewards",
    ),
    Case(
        "content_is_none",
        soft_format_reward,
        [
            {"prompt": [{"role": "user", "content": "What is 6 * 7?"}], "tools": ["multiply"]},
            {"prompt": [{"role": "user", "content": "9 * 9?"}], "tools": ["multiply"]},
        ],
        [[{"role": "assistant", "content": text}] for text in FORMED],
        [[{"role": "assistant", "content": text}] for text in UNFORMED],
        "A message with a tool call has the content None, on which the function raises.",
        'completion[0]["content"] in TRL examples',
    ),
]
