"""open-r1's reward functions (src/open_r1/rewards.py), from a checkout: ``--checkouts FOLDER`` has open-r1/.

The programs of `code_reward` run in an E2B sandbox. Only the sandbox's client has a stand-in: it runs the script that
open-r1 sends, which has the tests and the verdict, in a local process and returns its last value, as E2B does.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from programs import STDIN, STDIN_RIGHT, STDIN_WRONG, fenced
from subject import Subject, bare_package, checkout, stand_in
from texts import (
    BRIEF,
    EXACT,
    LOOPING,
    MATHEMATICS,
    MISTAKEN,
    RAMBLING,
    RIGHT,
    SUMS,
    WORKED,
    boxed,
    chats,
    renamed,
)

NOT_HERE = {"a Piston or Morph server runs the programs": "ioi_code_reward cf_code_reward"}
"""What is left out, by reason."""


def subjects() -> Iterator[Subject]:
    rewards = _loaded()
    rows = renamed(chats(MATHEMATICS), "solution")
    rows = [{**row, "solution": f"${row['solution']}$"} for row in rows]
    right, wrong = boxed(EXACT), boxed(MISTAKEN)
    yield Subject("accuracy_reward", rewards.accuracy_reward, rows, right, wrong)
    yield Subject("cosine_scaled_reward", rewards.get_cosine_scaled_reward(), rows, right, wrong)
    length = [f"{text}, which I checked once more." for text in wrong]
    yield Subject("len_reward", rewards.len_reward, rows, right, length)
    sums = [{"prompt": row["prompt"]} for row in chats(SUMS)]
    steps = [f"First, I read the task.\nNext, {work}\nFinally, I check it." for work in WORKED]
    yield Subject("reasoning_steps_reward", rewards.reasoning_steps_reward, sums, steps, list(WORKED))
    tagged = [
        f"<think>\n{work}\n</think>\n<answer>\n{value}\n</answer>" for work, value in zip(WORKED, RIGHT, strict=True)
    ]
    for name in ("format_reward", "tag_count_reward"):
        yield Subject(name, getattr(rewards, name), sums, tagged, BRIEF)
    penalty = rewards.get_repetition_penalty_reward(ngram_size=3, max_penalty=-1.0)
    yield Subject("repetition_penalty_reward", penalty, sums, BRIEF, LOOPING)
    punishment = rewards.get_soft_overlong_punishment(max_completion_len=100, soft_punish_cache=40)
    yield Subject("soft_overlong_punishment_reward", punishment, sums, BRIEF, RAMBLING)
    yield from programs(rewards)


def programs(rewards: Any) -> Iterator[Subject]:
    rows = [
        {
            "prompt": task["prompt"],
            "verification_info": {
                "language": "python",
                "test_cases": [
                    {"input": given, "output": expected, "type": "stdin_stdout"}
                    for given, expected in zip(task["inputs"], task["outputs"], strict=True)
                ],
            },
        }
        for task in STDIN
    ]
    rows = chats(rows)
    right, wrong = fenced(STDIN_RIGHT), fenced(STDIN_WRONG)
    for name in ("code_reward", "binary_code_reward"):
        yield Subject(name, getattr(rewards, name), rows, right, wrong)
    framed = [f"<think>\nI read it.\n</think>\n<answer>\n{text}\n</answer>" for text in right]
    prompts = [{"prompt": row["prompt"]} for row in rows]
    yield Subject("code_format_reward", rewards.get_code_format_reward(), prompts, framed, right)


class Sandbox:
    """Stands for e2b's AsyncSandbox."""

    sandbox_id = "local"

    @classmethod
    async def create(cls, **limits: Any) -> Sandbox:
        return cls()

    async def run_code(self, script: str, languages: Any) -> SimpleNamespace:
        folder = str(Path(sys.executable).parent)
        done = await asyncio.to_thread(
            subprocess.run,
            [sys.executable, "-c", _CELL],
            input=script,
            capture_output=True,
            text=True,
            env={**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"},
        )
        return SimpleNamespace(text=done.stdout or None)

    async def kill(self) -> None: ...


_CELL = """
import ast, sys, textwrap
tree = ast.parse(textwrap.dedent(sys.stdin.read()))
last, names = ast.Expression(tree.body.pop().value), {}
exec(compile(tree, "cell", "exec"), names)
print(repr(eval(compile(last, "cell", "eval"), names)), end="")
"""
"""Run a cell and print its last value."""


def _loaded() -> Any:
    root = checkout("open-r1") / "src" / "open_r1"
    bare_package("open_r1", root)
    stand_in("open_r1.utils", is_e2b_available=lambda: True, is_morph_available=lambda: False)
    sys.modules["open_r1.utils"].__path__ = [str(root / "utils")]
    stand_in("e2b_code_interpreter", AsyncSandbox=Sandbox)
    stand_in("e2b_code_interpreter.models", Execution=object)
    stand_in("open_r1.utils.routed_sandbox", RoutedSandbox=None)
    names = (
        "SubtaskResult add_includes get_morph_client_from_env get_piston_client_from_env patch_code score_submission "
        "score_subtask"
    )
    stand_in("open_r1.utils.competitive_programming", **dict.fromkeys(names.split()))
    return import_module("open_r1.rewards")
