"""From a naive reward to a sound one: each version fixes a problem that a law found in the previous one.

``python cookbook/test_your_reward.py`` prints, for each version, the law that broke and a completion that shows it.
``pytest cookbook/test_your_reward.py`` tests the last version with every law, one test each, as a project would.
"""

from __future__ import annotations

import re
from typing import Any

import rewardkit as rk
from rewardkit.testing import check_reward, parametrize_with_laws

EXAMPLES = [{"prompt": "What is 6 * 7?", "answer": "42"}, {"prompt": "What is 90 / 4?", "answer": "22.5"}]
GOOD = ["<think>6 sevens</think><answer>42</answer>", "<think>half of 45</think><answer>22.5</answer>"]
BAD = ["<think>6 eights</think><answer>48</answer>", "<think>a third</think><answer>30</answer>"]


def answer_of(completion: str) -> str:
    """Return the text between the last ``<answer>`` and its end."""
    return completion.split("<answer>")[-1].split("</answer>")[0]


@rk.reward
def mentioned(completion: str, answer: str) -> float:
    """Look for the gold anywhere: 4200 contains 42."""
    return float(answer in completion)


@rk.reward
def listed(completion: str, answer: float) -> float:
    """Compare all numbers: a completion with several numbers is right if one is."""
    return float(any(float(number) == answer for number in re.findall(r"-?\d+(?:\.\d+)?", completion)))


@rk.reward
def parsed(completion: str, answer: float) -> float:
    """Read only the answer: if it is not a number, `float` raises and the training stops."""
    return float(abs(float(answer_of(completion)) - answer) < 1e-6)


@rk.reward
def tolerant(completion: str, answer: float) -> float:
    """Raise nothing, but with a reversed comparison: NaN is never farther away than the tolerance."""
    try:
        distance = abs(float(answer_of(completion)) - answer)
    except ValueError:
        return 0.0
    return 0.0 if distance > 1e-6 else 1.0


@rk.reward(bounds=(0.0, float("inf")))
def encouraging(completion: str, answer: float) -> float:
    """Compare text, and pay for each word of reasoning: a long text earns more than any answer."""
    right = answer_of(completion) in (str(answer), f"{answer:g}")
    return right + 0.01 * len(completion.split())


@rk.reward(scope="batch", bounds=(-1.0, 1.0))
def centered(completion: list[str], answer: list[float]) -> list[float]:
    """No bonus, but subtract the mean of the batch, as for advantages: other prompts change the score."""
    right = [answer_of(text) in (str(gold), f"{gold:g}") for text, gold in zip(completion, answer, strict=True)]
    return [one - sum(right) / len(right) for one in right]


form = rk.tags("think", "answer")
sound = 0.2 * form + 0.8 * rk.gate(when=form, then=rk.number("answer"))

VERSIONS: list[tuple[rk.Reward, str]] = [
    (mentioned, "gold_above_perturbed_gold"),
    (listed, "exploits"),
    (parsed, "total"),
    (tolerant, "gold_above_perturbed_gold"),
    (encouraging, "bounded"),
    (centered, "neighbors_do_not_leak"),
    (sound, ""),
]
"""Each version, and the law that it breaks and the next one keeps."""


@parametrize_with_laws([{"reward": sound, "id": "sound"}], examples=EXAMPLES, good=GOOD, bad=BAD, budget=15.0)
def test_reward(reward: rk.Reward, law: Any) -> None:
    law(reward)


def main() -> None:
    for number, (reward, law) in enumerate(VERSIONS, start=1):
        laws = [law] if law else None
        report = check_reward(reward, examples=EXAMPLES, good=GOOD, bad=BAD, laws=laws, budget=8.0, fail_fast=True)
        for finding in report.findings[:1]:
            shown = repr(finding.completion)[:60]
            print(f"{number} {reward.name} breaks {finding.law}: {finding.why[:110]}\n  {shown}")
        if not report.findings:
            print(f"{number} {reward!r} holds to every law")


if __name__ == "__main__":
    main()
