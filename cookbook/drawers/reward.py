"""Three rewards for a policy that looks into drawers: one of them pays for calls, one ignores them, one compares them.

The right call and then ``41`` earns 0.625 from `naive`, 1.0 from `exact` and from `matched`. Four calls and a wrong
answer earn 0.5 from `naive`, 0.0 from `exact`, and 0.2 from `matched`, if the right call is among them.
"""

from __future__ import annotations

from typing import Any

from environment import PROMPT, Drawers, rows

import rewardkit as rk


@rk.reward(pure=True)
def results(trajectory: rk.Trajectory) -> float:
    """A quarter for each result of a tool, up to four: "use the tool"."""
    return min(len(trajectory.results), 4) / 4


exact = rk.exact("answer").named("exact")
naive = 0.5 * exact + 0.5 * results
matched = 0.5 * exact + 0.5 * rk.tool_calls("calls").named("matched")

reward = matched


def _conversation(color: str, number: str, answer: str) -> list[dict[str, Any]]:
    """Return a completion: one call, its result, and an answer."""
    call = {"type": "function", "function": {"name": "open", "arguments": {"color": color}}}
    return [
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "name": "open", "content": number},
        {"role": "assistant", "content": answer},
    ]


EXAMPLES = [
    {"prompt": [{"role": "user", "content": PROMPT.format(color=row["color"])}], **row} for row in rows(2, seed=1)
]
ENVIRONMENT = Drawers  # in which the laws make further calls
GOOD = [_conversation(row["color"], row["answer"], row["answer"]) for row in EXAMPLES]
BAD = [_conversation(row["color"], row["answer"], "7") for row in EXAMPLES]
