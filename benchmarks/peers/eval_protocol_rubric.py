"""eval-protocol 0.3.33: five ``@reward_function`` functions, through its TRL adapter and over rows.

``create_trl_adapter`` (``eval_protocol/integrations/trl.py``) turns each of them into a TRL reward function. An
``@evaluation_test`` in pointwise mode is eval-protocol's way to score rows; here the five functions are the metrics
of one result, and all rows run concurrently on one event loop. Rows exist when a rollout ends, so creating them is
not timed. The adapter creates its messages itself, and that is timed. ``benchmarks/speed/rubric.py --peers`` runs
this script in its own environment.
"""
# mypy: disable-error-code="import-not-found,import-untyped,misc,untyped-decorator"

# No `from __future__ import annotations`: eval-protocol compares annotations with types. If they are strings, it
# silently converts nothing, or rejects the function.
import asyncio
import os
import warnings
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

# Without this, importing litellm tries to download a price list.
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
warnings.simplefilter("ignore", DeprecationWarning)

from eval_protocol import (  # noqa: E402
    EvaluateResult,
    EvaluationRow,
    Message,
    MetricResult,
    evaluation_test,
    reward_function,
)
from eval_protocol.integrations.trl import create_trl_adapter  # noqa: E402

from benchmarks.peers.report import print_report  # noqa: E402
from benchmarks.speed import rubric_components as fast  # noqa: E402
from benchmarks.speed.rubric_floor import EMPTY_FLOOR, FLOOR  # noqa: E402
from benchmarks.speed.rubric_measurement import Columns, Contestant  # noqa: E402
from benchmarks.speed.rubric_workload import COMPONENTS, WEIGHTS, Workload  # noqa: E402

RewardFunction = Callable[..., EvaluateResult]
Evaluation = Callable[[EvaluationRow], Awaitable[EvaluationRow]]
GOLD = {"total": "ground_truth"}
"""Dataset column -> argument of the reward function."""


def reward_functions(lengths: tuple[int, int]) -> dict[str, RewardFunction]:
    """Return the five components as eval-protocol functions."""

    @reward_function
    def tags(messages: list[Message], **kwargs: Any) -> EvaluateResult:
        return EvaluateResult(score=fast.tags(messages[-1].content), reason="tags")

    @reward_function
    def json_valid(messages: list[Message], **kwargs: Any) -> EvaluateResult:
        return EvaluateResult(score=fast.json_valid(messages[-1].content), reason="JSON")

    @reward_function
    def schema(messages: list[Message], **kwargs: Any) -> EvaluateResult:
        return EvaluateResult(score=fast.schema(messages[-1].content), reason="schema")

    @reward_function
    def closeness(messages: list[Message], ground_truth: str, **kwargs: Any) -> EvaluateResult:
        return EvaluateResult(score=fast.closeness(messages[-1].content, ground_truth), reason="total")

    @reward_function
    def length(messages: list[Message], **kwargs: Any) -> EvaluateResult:
        return EvaluateResult(score=fast.length(messages[-1].content, *lengths), reason="length")

    return dict(zip(COMPONENTS, (tags, json_valid, schema, closeness, length), strict=True))


def empty_functions(lengths: tuple[int, int]) -> dict[str, RewardFunction]:
    """Return five rewards that do nothing."""

    @reward_function
    def constant(messages: list[Message], **kwargs: Any) -> EvaluateResult:
        return EvaluateResult(score=1.0, reason="always")

    return dict.fromkeys(COMPONENTS, constant)


def trl_adapter_contestant(
    make_functions: Callable[[tuple[int, int]], Mapping[str, RewardFunction]],
) -> Contestant:
    """Return a contestant with five callables for TRL, called in turn with TRL's keywords."""

    def prepare(workload: Workload) -> tuple[dict[str, Callable[..., list[float]]], Workload]:
        functions = make_functions(workload.lengths)
        return {name: create_trl_adapter(function, GOLD) for name, function in functions.items()}, workload

    def score(prepared: tuple[dict[str, Callable[..., list[float]]], Workload]) -> Columns:
        adapters, workload = prepared
        return {
            name: adapter(prompts=workload.prompts, completions=workload.completions, total=workload.totals)
            for name, adapter in adapters.items()
        }

    return Contestant("eval-protocol, TRL adapter", prepare, score, columns=lambda columns: columns)


def rows_contestant(make_functions: Callable[[tuple[int, int]], Mapping[str, RewardFunction]]) -> Contestant:
    """Return a contestant with one pointwise evaluation over rows."""

    def prepare(workload: Workload) -> tuple[Evaluation, list[EvaluationRow]]:
        rows = [
            EvaluationRow(
                messages=[
                    Message(role="user", content=prompt),
                    Message(role="assistant", content=completion),
                ],
                ground_truth=total,
            )
            for completion, prompt, total in zip(workload.completions, workload.prompts, workload.totals, strict=True)
        ]
        return make_evaluation(make_functions(workload.lengths)), rows

    def score(prepared: tuple[Evaluation, list[EvaluationRow]]) -> list[EvaluationRow]:
        return asyncio.run(_evaluate_all(*prepared))

    def columns(rows: list[EvaluationRow]) -> Columns:
        return {name: [row.evaluation_result.metrics[name].score for row in rows] for name in COMPONENTS}

    def totals(rows: list[EvaluationRow]) -> list[float]:
        return [row.evaluation_result.score for row in rows]

    return Contestant("eval-protocol, rows", prepare, score, columns, totals)


def make_evaluation(functions: Mapping[str, RewardFunction]) -> Evaluation:
    """Make a pointwise evaluation: the functions are its metrics, their weighted sum is its score."""

    @evaluation_test(input_messages=[[[Message(role="user", content="")]]], mode="pointwise")
    def evaluate(row: EvaluationRow) -> EvaluationRow:
        metrics, total = {}, 0.0
        for name, function in functions.items():
            result = function(messages=row.messages, ground_truth=row.ground_truth)
            metrics[name] = MetricResult(score=result.score, reason=result.reason)
            total += WEIGHTS[name] * result.score
        row.evaluation_result = EvaluateResult(score=total, metrics=metrics)
        return row

    evaluation: Evaluation = evaluate
    return evaluation


async def _evaluate_all(evaluation: Evaluation, rows: list[EvaluationRow]) -> list[EvaluationRow]:
    return list(await asyncio.gather(*(evaluation(row) for row in rows)))


if __name__ == "__main__":
    print_report(
        "eval-protocol",
        [FLOOR, trl_adapter_contestant(reward_functions), rows_contestant(reward_functions)],
        [EMPTY_FLOOR, trl_adapter_contestant(empty_functions), rows_contestant(empty_functions)],
    )
