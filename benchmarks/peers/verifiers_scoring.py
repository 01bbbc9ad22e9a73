"""Tasks of verifiers 0.4 for its scoring helpers, which are not rewards by themselves.

``task_of("verify_boxed_math_answer", "answer")`` is a task with one reward of that name: it calls the helper with the
last reply and the row's "answer".
"""
# mypy: disable-error-code="import-not-found,misc,untyped-decorator"

# No `from __future__ import annotations`: verifiers reads the data type from the class.
from typing import Any

import verifiers.v1 as vf


class AnswerData(vf.TaskData):
    """A row with a gold answer."""

    answer: str


def task_of(helper: str, column: str) -> Any:
    """Make a task class with one reward, named after the helper."""
    compare = getattr(vf, helper)

    async def scored(self: Any, trace: vf.Trace) -> float:
        return float(compare(trace.last_reply, getattr(self.data, column)))

    scored.__name__ = helper

    class HelperTask(vf.Task[AnswerData]):
        """The helper as a reward."""

    setattr(HelperTask, helper, vf.reward(scored))
    return HelperTask
