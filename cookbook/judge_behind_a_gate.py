"""A judge behind a gate, with a budget and a fallback: malformed completions cost nothing.

    python cookbook/judge_behind_a_gate.py
    python cookbook/judge_behind_a_gate.py --model gpt-5-mini

Only completions with the right shape are sent, equal ones once. When the budget is spent, a plain similarity takes
over for whole groups, because two scales in one group would corrupt its advantages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stand_in_judge import Endpoint, completions, endpoint, options

import rewardkit as rk

COMPLETIONS = [
    "<think>capital</think><answer>Paris</answer>",
    "<think>again</think><answer>Paris</answer>",
    "<think>no idea</think><answer>Rome</answer>",
    "Paris",
    "<think>river</think><answer>The Seine</answer>",
    "<think>river</think><answer>It is the Seine.</answer>",
    "<answer>Seine</answer>",
    "<think>guess</think><answer>The Rhine</answer>",
]
QUESTIONS = ["What is the capital of France?"] * 4 + ["Which river flows through Paris?"] * 4
ANSWERS = ["Paris"] * 4 + ["The Seine"] * 4


def made(found: Endpoint, calls: int) -> rk.Reward:
    shape = rk.tags("think", "answer")
    judged = rk.judge(
        "Is it a right answer to the question? {question}",
        model=rk.Endpoint(found.model, found.base_url),
        reference="answer",
        budget=rk.Budget(calls=calls, on_exhausted="fall_back"),
    )
    return 0.1 * shape + 0.9 * rk.gate(when=shape, then=rk.fallback(judged, rk.similarity("answer")))


def rule(asked: str) -> Mapping[str, Any]:
    """The stand-in: an answer is right if it has the last word of the reference."""
    ((_, text),) = completions(asked)
    reference = asked.split("<reference-")[1].split("\n")[1]
    right = reference.split()[-1] in text
    return {"reason": "It agrees with the reference." if right else "It does not agree.", "score": 10 if right else 0}


def main(arguments: Sequence[str] | None = None) -> None:
    chosen = options(__doc__, arguments)
    for calls in (100, 2):
        with endpoint(chosen, rule) as found:
            table = rk.score(made(found, calls), COMPLETIONS, prompts=QUESTIONS, question=QUESTIONS, answer=ANSWERS)
            print(f"a budget of {calls} calls: {table.measured['judge_calls/judge']:g} made")
        for row, text in enumerate(COMPLETIONS):
            by = next((name for name in ("judge", "similarity") if table.terms[name][row]), "nobody")
            print(f"{table.total[row]:6.2f}  paid by {by:<10}  {text}")


if __name__ == "__main__":
    main()
