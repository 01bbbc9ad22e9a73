"""Tasks of verifiers 0.4 around its scoring helpers, which are no rewards by themselves.

``task_of("verify_boxed_math_answer", "answer")`` is a task with one reward of that name: the helper on the last
reply and the row's "answer".
"""
# mypy: disable-error-code="import-not-found,misc,untyped-decorator"

# No `from __future__ import annotations`: verifiers reads the type of the data from the class.
from typing import Any

import verifiers.v1 as vf


class AnswerData(vf.TaskData):
    """A row with a gold answer."""

    answer: str


def task_of(helper: str, column: str) -> Any:
    """A class of tasks whose reward is called like the helper."""
    compare = getattr(vf, helper)

    async def scored(self: Any, trace: vf.Trace) -> float:
        return float(compare(trace.last_reply, getattr(self.data, column)))

    scored.__name__ = helper

    class HelperTask(vf.Task[AnswerData]):
        """The helper as a reward."""

    setattr(HelperTask, helper, vf.reward(scored))
    return HelperTask
