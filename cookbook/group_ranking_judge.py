"""A judge that ranks all completions of a prompt in one request, in an unpredictable order.

    python cookbook/group_ranking_judge.py
    python cookbook/group_ranking_judge.py --model gpt-5-mini

GRPO compares the completions of a prompt with each other, and so does this judge; that is easier than giving each a
number. It names identifiers, never positions. Here two judges with different criteria are weighted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stand_in_judge import Endpoint, completions, endpoint, options

import rewardkit as rk

PROMPTS = ["Explain rain."] * 4 + ["Explain snow."] * 3
COMPLETIONS = [
    "Warm air rises, cools, and its water falls as drops.",
    "Water falls.",
    "It is wet.",
    "It is wet.",
    "Clouds so cold that their water freezes into crystals, which fall.",
    "Frozen water falls.",
    "It is white.",
]


def made(found: Endpoint) -> rk.Reward:
    accurate, plain = (
        rk.judge(
            f"A child asked: {{prompt}} Which explanation is the more {quality}?",
            model=rk.Endpoint(found.model, found.base_url),
            compare="group",
            name=quality,
        )
        for quality in ("accurate", "simple")
    )
    return 0.7 * accurate + 0.3 * plain


def rule(asked: str) -> Mapping[str, Any]:
    """The stand-in: the longest completion is the most accurate, the shortest the simplest."""
    accurate = "more accurate" in asked
    ranked = sorted(completions(asked), key=lambda shown: len(shown[1]), reverse=accurate)
    return {"reason": "by length", "ranking": [identifier for identifier, _ in ranked]}


def main(arguments: Sequence[str] | None = None) -> None:
    chosen = options(__doc__, arguments)
    with endpoint(chosen, rule) as found:
        table = rk.score(made(found), COMPLETIONS, prompts=PROMPTS)
        if not chosen.model:
            print(f"{found.asked} requests for {len(COMPLETIONS)} completions and two judges")
    print(f"{'total':>6}{'accurate':>10}{'simple':>8}")
    for row, text in enumerate(COMPLETIONS):
        print(f"{table.total[row]:6.2f}{table['accurate'][row]:10.2f}{table['simple'][row]:8.2f}  {text}")


if __name__ == "__main__":
    main()
