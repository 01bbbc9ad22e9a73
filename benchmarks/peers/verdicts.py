"""Ask one contestant about labeled answers. Runs in the contestant's own environment.

    python benchmarks/peers/verdicts.py math-verify < questions.json

Standard input is a list of pairs, gold answer and completion. The last line of the output is one line of JSON after
`MARK`: the version, a verdict per pair (true: paid, false: not paid, null: the gold answer is refused), and the CPU
seconds of a second pass, with everything loaded and every gold answer seen before, as in training.
"""
# mypy: disable-error-code="import-not-found,import-untyped,misc"

from __future__ import annotations

import ast
import contextlib
import functools
import gc
import io
import json
import logging
import resource
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

MARK = "VERDICTS "

Verdicts = list["bool | None"]
Contestant = Callable[[Sequence[str], Sequence[str]], Verdicts]


def math_verify() -> Contestant:
    from math_verify import parse, verify

    def verdict(gold: str, completion: str) -> bool | None:
        parsed = parse(gold)
        return bool(verify(parsed, parse(completion))) if parsed else None

    return one_by_one(verdict)


def trl() -> Contestant:
    from trl.rewards import accuracy_reward

    return accuracy(accuracy_reward)


def open_r1(path: str) -> Contestant:
    """Return open-r1's ``accuracy_reward``, without the rest of its module, which needs services for running code."""
    source = Path(path, "src", "open_r1", "rewards.py").read_text(encoding="utf-8")
    wanted: list[ast.stmt] = [
        node
        for node in ast.parse(source).body
        if (isinstance(node, ast.FunctionDef) and node.name == "accuracy_reward")
        or (isinstance(node, ast.ImportFrom) and node.module in ("typing", "math_verify", "latex2sympy2_extended"))
    ]
    names: dict[str, Any] = {}
    exec(compile(ast.Module(wanted, []), path, "exec"), names)
    return accuracy(names["accuracy_reward"])


def accuracy(function: Any) -> Contestant:
    """Return the contestant of a function with the signature of TRL's ``accuracy_reward``."""

    def verdicts(golds: Sequence[str], completions: Sequence[str]) -> Verdicts:
        messages = [[{"role": "assistant", "content": text}] for text in completions]
        scores = function(messages, list(golds))
        return [None if score is None else score > 0 for score in scores]

    return verdicts


def verifiers_task() -> Contestant:
    from verifiers.v1.utils.score import verify_boxed_math_answer

    return one_by_one(lambda gold, completion: verify_boxed_math_answer(completion, gold) > 0)


def verifiers_rubric() -> Contestant:
    """Return verifiers' ``MathRubric``: its parser and its check, without its pool of processes.

    It puts the gold answer into a box, so it gets what is in the box of a whole solution.
    """
    from verifiers.legacy.rubrics.math_rubric import MathRubric, extract_boxed_answer, verify_response

    rubric = MathRubric()

    def verdict(gold: str, completion: str) -> bool | None:
        answer = rubric.parser.parse_answer([{"role": "assistant", "content": completion}]) or ""
        return bool(verify_response(answer, extract_boxed_answer(gold), rubric.max_verify_chars)[0] > 0)

    return one_by_one(verdict)


def robust_match() -> Contestant:
    from rewardlint.reference import robust_match as match

    return one_by_one(lambda gold, completion: match(completion, gold) > 0)


def rewardkit(expression: str) -> Contestant:
    """Return the contestant of one of our rewards; `expression` has a place for ``gold=``.

    A gold answer that is a whole solution and cannot be read as it is gets what the error advises,
    ``gold=rk.extract.boxed()``.
    """
    import rewardkit as rk

    plain, solution = (
        eval(expression.format(gold=gold), {"rk": rk}) for gold in ("gold=None", "gold=rk.extract.boxed()")
    )

    @functools.cache
    def reward_for(gold: str) -> rk.Reward | None:
        """Return the reward that reads the gold answer, or None."""
        for reward in (plain, solution):
            try:
                rk.score(reward, ["x"], answer=[gold])
            except rk.CoercionError:
                continue
            return reward  # type: ignore[no-any-return]
        return None

    def verdicts(golds: Sequence[str], completions: Sequence[str]) -> Verdicts:
        found: Verdicts = [None] * len(golds)
        for reward in (plain, solution):
            rows = [row for row, gold in enumerate(golds) if reward_for(gold) is reward]
            if rows:
                table = rk.score(reward, [completions[row] for row in rows], answer=[golds[row] for row in rows])
                for row, score in zip(rows, table.total.tolist(), strict=True):
                    found[row] = score > 0
        return found

    return verdicts


def one_by_one(verdict: Callable[[str, str], bool | None]) -> Contestant:
    def verdicts(golds: Sequence[str], completions: Sequence[str]) -> Verdicts:
        found: Verdicts = []
        for gold, completion in zip(golds, completions, strict=True):
            try:
                found.append(verdict(gold, completion))
            except Exception:  # its trainer would score 0 or stop
                found.append(False)
        return found

    return verdicts


CONTESTANTS: dict[str, tuple[str, Callable[..., Contestant]]] = {
    "math-verify": ("math-verify", math_verify),
    "trl": ("trl", trl),
    "open-r1": ("math-verify", open_r1),
    "verifiers": ("verifiers", verifiers_task),
    "verifiers-rubric": ("verifiers", verifiers_rubric),
    "robust_match": ("rewardlint", robust_match),
    "rewardkit": ("rewardkit-sdk", rewardkit),
}
"""The distribution and the contestant, by name."""


def cpu_seconds() -> float:
    """Return the CPU seconds of this process and its children, those that ended included (Linux)."""
    children = [
        child for task in Path("/proc/self/task").iterdir() for child in (task / "children").read_text().split()
    ]
    spent = [int(Path(f"/proc/{child}/schedstat").read_text().split()[0]) for child in children]
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + sum(spent) / 1e9 + ended.ru_utime + ended.ru_stime


def main(name: str, *arguments: str) -> None:
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    pairs = json.load(sys.stdin)
    golds, completions = [gold for gold, _ in pairs], [completion for _, completion in pairs]
    distribution, make = CONTESTANTS[name]
    with contextlib.redirect_stdout(io.StringIO()):
        contestant = make(*arguments)
        verdicts = contestant(golds, completions)
        gc.collect()
        start = cpu_seconds()
        contestant(golds, completions)
        seconds = cpu_seconds() - start
    report = {"version": f"{distribution} {version(distribution)}", "verdicts": verdicts, "seconds": seconds}
    print(MARK + json.dumps(report))


if __name__ == "__main__":
    main(*sys.argv[1:])
