"""Rows of a task: ``reasoning_gym_rows("leg_counting", size=2)[0]["answer"]`` is ``"286"``."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from typing import Any

from rewardkit.core.errors import MissingExtraError, RewardDefinitionError, RewardFailure, near_miss, shorten
from rewardkit_reasoning_gym.entries import plain, restored, written

INSTRUCTION = "Write your final answer, and nothing else, between <answer> and </answer>."

_APART = 1_000_000
"""The distance of seeds: the task makes row n of seed s from the number s + n, so neighbors would share rows."""

_MOST_SEEDS = 4_000
_TRIES = 5
"""Questions to make, at most, for each different one."""

_RIGHT_ANSWERS = ("answer", "example_answer", "example_correct_answer")
_LEFT_OUT = ("composite",)


def reasoning_gym_rows(
    name: str, *, size: int = 500, seed: int = 0, instruction: str = INSTRUCTION, **options: Any
) -> list[dict[str, str]]:
    """Return rows of a task of reasoning-gym, for ``Dataset.from_list`` or ``rk.score``.

    ``rk.reasoning_gym_rows("leg_counting", size=500, max_animals=5)`` has 500 different questions. The columns are
    ``prompt`` (the question and the instruction), ``question``, ``answer`` (a right answer, "" if the task gives none)
    and ``metadata`` (JSON with all that the task's scorer reads).

    Args:
        name: the task, one of about a hundred: https://github.com/open-thought/reasoning-gym.
        size: the number of rows, all with different questions.
        seed: rows of different seeds differ, as far as the task has enough questions. Seed 0 is that of reasoning-gym;
            seed n is its seed n * 1,000,000.
        instruction: added to each question; "" for none.
        options: options of the task, such as ``max_animals=5``.

    Raises:
        MissingExtraError: the extra ``reasoning-gym`` is not installed.
        RewardDefinitionError: there is no such task or option, or the task has fewer different questions.
    """
    for what, value, least, most in (("size", size, 1, _APART), ("seed", seed, 0, _MOST_SEEDS)):
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise RewardDefinitionError(
                f"reasoning_gym_rows: {what} must be an int from {least} to {most:,}, got {shorten(value)}"
            )
    checked(name)
    request = {"name": name, "options": plain(options), "size": size, "seed": seed, "instruction": instruction}
    return _in_a_process(request)


def _in_a_process(request: dict[str, Any]) -> list[dict[str, str]]:
    """Make rows in a process whose sets have a fixed order: those of some tasks depend on it, and ranks must agree."""
    done = subprocess.run(
        [sys.executable, "-c", _CHILD, json.dumps(sys.path)],
        input=json.dumps(request),
        capture_output=True,
        env={**os.environ, "PYTHONHASHSEED": "0", "PYTHONIOENCODING": "utf-8"},
        encoding="utf-8",
        check=False,
    )
    if done.returncode != 0:
        why = shorten(done.stderr.strip().rpartition("\n")[2])
        raise RewardFailure(f"reasoning-gym: the rows of {request['name']} could not be made: {why}")
    answer = json.loads(done.stdout)
    if "error" in answer:
        raise RewardDefinitionError(answer["error"])
    rows: list[dict[str, str]] = answer["rows"]
    return rows


_CHILD = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from rewardkit_reasoning_gym.rows import main
main()
"""


def main() -> None:
    """Read a request from standard input, and write the rows, or what is wrong with the request."""
    request = json.load(sys.stdin)
    with contextlib.redirect_stdout(io.StringIO()):  # some tasks print
        try:
            answer: dict[str, Any] = {"rows": _made(**request)}
        except RewardDefinitionError as error:
            answer = {"error": str(error)}
    json.dump(answer, sys.stdout)


def _made(name: str, options: Any, size: int, seed: int, instruction: str) -> list[dict[str, str]]:
    given = restored(options)
    tries = min(_TRIES * size + 20, _APART)
    dataset = dataset_of(name, {**given, "size": tries, "seed": seed * _APART})
    rows: dict[str, dict[str, str]] = {}
    for number in range(tries):
        entry = dataset[number]
        question = str(entry["question"])
        if question not in rows:
            rows[question] = {
                "prompt": f"{question}\n\n{instruction}" if instruction else question,
                "question": question,
                "answer": _right_answer(dataset, entry),
                "metadata": written(name, given, entry),
            }
        if len(rows) == size:
            return list(rows.values())
    raise RewardDefinitionError(
        f"reasoning_gym_rows: {name} made only {len(rows):,} different questions in {tries:,}. Lower size, or pass "
        "options of the task that make more"
    )


def dataset_of(name: object, options: dict[str, Any]) -> Any:
    """Return the dataset of a task, which makes and scores entries.

    Raises:
        MissingExtraError: reasoning-gym is not installed.
        RewardDefinitionError: there is no such task or option.
    """
    gym = required()
    checked(name)
    try:
        return gym.create_dataset(name, **options)
    except (TypeError, ValueError, AssertionError, KeyError) as error:
        raise RewardDefinitionError(f"reasoning-gym: {name} does not take {shorten(options)}: {error}") from None


def required() -> Any:
    """Return the package; MissingExtraError if it is not installed."""
    try:
        import reasoning_gym
    except ImportError:
        raise MissingExtraError.of("reasoning-gym", "reasoning-gym") from None
    return reasoning_gym


def checked(name: object) -> str:
    """Return the name of a task; RewardDefinitionError if there is no such task."""
    required()
    from reasoning_gym.factory import DATASETS

    if not isinstance(name, str) or name not in DATASETS or name in _LEFT_OUT:
        known = sorted(set(DATASETS) - set(_LEFT_OUT))
        raise RewardDefinitionError(
            f"reasoning-gym has no task {shorten(name)}.{near_miss(str(name), known)} It has {len(known)}: "
            f"{', '.join(known[:5])}, ..."
        )
    return name


def _right_answer(dataset: Any, entry: dict[str, Any]) -> str:
    """Return a right answer as text: the entry's own, or an example in its metadata; "" if there is none."""
    for source in (entry, entry["metadata"]):
        for name in _RIGHT_ANSWERS:
            answer = source.get(name)
            if isinstance(answer, str) and answer and _is_right(dataset, answer, entry):
                return answer
    return ""


def _is_right(dataset: Any, answer: str, entry: dict[str, Any]) -> bool:
    return bool(dataset.score_answer(answer, entry) >= 1.0)
