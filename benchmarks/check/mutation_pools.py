"""Pools of sound rewards with right and wrong completions, for `benchmarks/check/mutation.py`.

``POOLS["gym"]()`` are the scorers of reasoning-gym's tasks, ``POOLS["faults"]()`` the sound functions of
tests/faults.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rewardkit.check.mutants.mutants import Mutant

FAULTS = Path(__file__).resolve().parents[2] / "tests" / "faults"
_SEED = 7
_ADAPTER = """
_TASK = {task}({config}(size=1, seed=1))


def score(completions, answer, entry, **kwargs):
    rows = [dict(one, answer=gold) for one, gold in zip(entry, answer)]
    return [float(_TASK.score_answer(text, row)) for text, row in zip(completions, rows)]
"""
"""Is added to the module of a task, without its registration."""


@dataclass(frozen=True)
class Sound:
    """A sound reward: the file and the name of its variable, and its examples.

    Attributes:
        path: of its file.
        name: of the function.
        options: the examples, right and wrong completions.
        label: for the report; by default the name.
        lines: where its bugs are put; by default anywhere in what it uses.
        text: its source if it is not that of the file.
    """

    path: str
    name: str
    options: dict[str, Any] = field(repr=False)
    label: str = ""
    lines: range | None = None
    text: str = field(default="", repr=False)

    @property
    def original(self) -> Mutant:
        """The reward without a bug, loaded as its mutants are."""
        return Mutant("none", 0, "", "", self.text or Path(self.path).read_text(encoding="utf-8"), self.path)

    def has(self, line: int) -> bool:
        """Whether its bugs are put into this line."""
        return self.lines is None or line in self.lines


def of_tests() -> Iterator[Sound]:
    """Yield the sound rewards of the tests."""
    from tests.check import bench

    for path in sorted((Path(bench.__file__).parent / "sound").glob("*.py")):
        module = importlib.import_module(f"tests.testing.sound.{path.stem}")
        yield from _of_cases(path, module, module.CASES)


def of_public_lists() -> Iterator[Sound]:
    """Yield TRL's own reward functions that need no factory, and those of public lists, open-r1's among them."""
    import trl.rewards as trl_rewards

    from tests.public_rewards.lists import EVERY

    for name, options in _of_trl():
        path = inspect.getsourcefile(getattr(trl_rewards, name)) or ""
        yield Sound(path, name, options, name)
    for one in EVERY:
        path = sys.modules[one.function.__module__].__file__ or ""
        options = {"examples": one.examples, "good": one.good, "bad": one.bad}
        yield Sound(path, one.function.__name__, options, one.function.__name__)


def _of_trl() -> list[tuple[str, dict[str, Any]]]:
    row = {"prompt": [{"role": "user", "content": "What is 6 * 7?"}], "solution": "42"}
    other = {"prompt": [{"role": "user", "content": "What is a half of a half?"}], "solution": "\\frac{1}{4}"}
    said = [f"<think>\nI count.\n</think>\nIt is $\\boxed{{{answer}}}$." for answer in ("42", "\\frac{1}{4}")]
    wrong = [f"<think>\nI count.\n</think>\nIt is $\\boxed{{{answer}}}$." for answer in ("41", "\\frac{1}{3}")]
    unformed = [text.replace("<think>", "").replace("</think>", "") for text in said]
    task = {"examples": [row, other], "good": said}
    return [("accuracy_reward", {**task, "bad": wrong}), ("think_format_reward", {**task, "bad": unformed})]


def of_fault_sets() -> Iterator[Sound]:
    """Yield the sound functions of the sets that others wrote."""
    for folder in sorted(one for one in FAULTS.iterdir() if (one / "__init__.py").exists()):
        cases = importlib.import_module(f"tests.faults.{folder.name}").sound()
        for path in sorted(folder.glob("sound_*.py")):
            module = importlib.import_module(f"tests.faults.{folder.name}.{path.stem}")
            yield from _of_cases(path, module, cases, f"{folder.name}.")


def _of_cases(path: Path, module: Any, cases: list[Any], prefix: str = "") -> Iterator[Sound]:
    for case in cases:
        name = next((name for name, value in vars(module).items() if value is case.reward), "")
        if name:
            options = {"examples": case.examples, "good": case.good, "bad": case.bad}
            yield Sound(str(path), name, options, f"{prefix}{name}")


def of_reasoning_gym() -> Iterator[Sound]:
    """Yield the scorers of reasoning-gym's tasks that are not its general one, each on three entries."""
    import reasoning_gym
    from reasoning_gym.factory import DATASETS

    for name, (task, config) in sorted(DATASETS.items()):
        if "score_answer" not in vars(task):
            continue
        try:
            data = reasoning_gym.create_dataset(name, size=40, seed=_SEED)
            entries = {one["answer"]: one for one in map(data.__getitem__, range(40)) if isinstance(one["answer"], str)}
        except Exception:  # it is made of other tasks, or needs a download
            continue
        chosen = list(entries.values())[:3]
        path = inspect.getsourcefile(task) or ""
        if len(chosen) < 2 or not all(data.score_answer(one["answer"], one) == 1.0 for one in chosen):
            continue  # an entry has no right answer
        answers = [one["answer"] for one in chosen]
        options = {
            "examples": [{"prompt": one["question"], "answer": one["answer"], "entry": _plain(one)} for one in chosen],
            "good": answers,
            "bad": [*answers[1:], answers[0]],
        }
        lines, first = inspect.getsourcelines(task.score_answer)
        text = _without_registration(Path(path).read_text(encoding="utf-8"))
        text += _ADAPTER.format(task=task.__name__, config=config.__name__)
        yield Sound(path, "score", options, f"gym.{name}", range(first, first + len(lines)), text)


def _plain(entry: dict[str, Any]) -> Any:
    """Return an entry as a dataset would have it."""
    return json.loads(json.dumps(entry, default=str))


def _without_registration(text: str) -> str:
    """Return the source of a module without its last calls, which register the task a second time."""
    calls = [one for one in ast.parse(text).body if isinstance(one, ast.Expr) and isinstance(one.value, ast.Call)]
    lines = text.splitlines()
    for call in calls:
        for number in range(call.lineno - 1, call.end_lineno or call.lineno):
            lines[number] = ""
    return "\n".join(lines) + "\n"


POOLS: dict[str, Callable[[], Iterator[Sound]]] = {
    "tests": of_tests,
    "public": of_public_lists,
    "gym": of_reasoning_gym,
    "faults": of_fault_sets,
}
