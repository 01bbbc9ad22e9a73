"""What the record says of each component: its kind, and what it reads of the data."""

from __future__ import annotations

import rewardkit as rk
from rewardkit.online.versions import described_components
from rewardkit.tree.evaluation.scorer import Scorer


@rk.reward
def shown(completion: str, example: dict[str, str]) -> float:
    return float(example["answer"] in completion)


def test_components_are_described_with_what_they_read() -> None:
    judge = rk.judge("Is {completion} right for {prompt}?", model=rk.Endpoint("m", "http://localhost:1"))
    reward = (
        rk.exact("answer") + 0.5 * rk.agents.finished() + judge.named("judged") + shown + rk.monitor(rk.number("gold"))
    )
    described = {one.name: (one.kind, one.reads) for one in described_components(Scorer(reward))}
    assert described == {
        "exact": ("reward", ("answer",)),
        "finished": ("reward", ()),
        "judged": ("reward", ("prompt",)),
        "shown": ("reward", ("example",)),
        "number": ("monitored", ("gold",)),
    }
