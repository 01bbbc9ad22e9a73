"""Late changes: schedules and stages that first change after the last step of a training, so that they never do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from rewardkit.core.progress.schedule import Schedule
from rewardkit.core.tree.reward import Reward, Tunable

_OF = {"weights": "the weight of", "thresholds": "the threshold of", "schedules": "the end of stage"}


def late_changes(nodes: Iterable[Reward], max_steps: int, label: Callable[[Reward], str]) -> Iterator[str]:
    """Yield a sentence for each late change in the `nodes` of a tree.

    Args:
        max_steps: the optimizer steps of the training.
        label: returns the name of a node.
    """
    length = f"but this training has {max_steps} steps"
    for node in nodes:
        for tunable in node.facts.tunables:
            if tunable.kind == "schedules" and isinstance(tunable.value, int) and tunable.value >= max_steps:
                yield (
                    f"{label(node)}: stage {tunable.stage!r} ends at step {tunable.value}, {length}, so the next stage "
                    "never begins. Write until= as a fraction of training, or lower it"
                )
            elif isinstance(tunable.value, Schedule):
                for schedule, step in tunable.value.late(max_steps):
                    yield (
                        f"{_what(tunable, node, label)}: {schedule!r} first changes at step {step}, {length}, so it "
                        "never acts. Write its positions as fractions of training (0.0 to 1.0), or lower them"
                    )


def _what(tunable: Tunable, node: Reward, label: Callable[[Reward], str]) -> str:
    if tunable.kind == "schedules":
        return f"{_OF[tunable.kind]} {tunable.stage!r} of {label(node)!r}"
    return f"{_OF[tunable.kind]} {label(node if tunable.child is None else tunable.child)!r}"
