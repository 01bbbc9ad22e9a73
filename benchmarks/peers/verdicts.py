"""Ask one contestant about labeled answers. Runs in the contestant's own environment.

    python benchmarks/peers/verdicts.py math-verify < questions.json

Standard input is a list of gold answer, completion and the letters of the options, which are empty unless the set names
them. The last line of the output is one line of JSON after `MARK`: the version, a verdict per question (true: paid,
false: not paid, null: the gold answer is refused), and the CPU seconds of a second pass, with everything loaded and
every gold answer seen before, as in training.
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
import re
import resource
import sys
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

MARK = "VERDICTS "

Verdicts = list["bool | None"]
Contestant = Callable[[Sequence[str], Sequence[str]], Verdicts]


def math_verify(options: str = "") -> Contestant:
    """Return math-verify with its defaults, or, where there are options, with its configuration for their letters."""
    from math_verify import StringExtractionConfig, parse, verify

    configured = (
        functools.partial(parse, extraction_config=[StringExtractionConfig(tuple(options))]) if options else parse
    )

    def verdict(gold: str, completion: str) -> bool | None:
        parsed = configured(gold)
        return bool(verify(parsed, configured(completion))) if parsed else None

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


def mmlu_pro(options: str = "ABCDEFGHIJ") -> Contestant:
    """Return the patterns with which MMLU-Pro reads a letter (``compute_accuracy.py``): the first one that matches."""
    patterns = (
        re.compile(rf"answer is \(?([{options}])\)?"),
        re.compile(rf".*[aA]nswer:\s*([{options}])"),
        re.compile(rf"(?s)\b([{options}])\b(?!.*\b[{options}]\b)"),
    )

    def verdict(gold: str, completion: str) -> bool:
        return next((match[1] == gold for pattern in patterns if (match := pattern.search(completion))), False)

    return one_by_one(verdict)


def flexible_extract() -> Contestant:
    """Return lm-evaluation-harness's ``flexible-extract`` of GSM8K: the last number, without commas and dollars."""
    pattern, ignored = re.compile(r"(-?[$0-9.,]{2,})|(-?[0-9]+)"), re.compile(r"[,$]|\.$")

    def verdict(gold: str, completion: str) -> bool:
        numbers = [match[0] for match in pattern.finditer(completion)]
        return bool(numbers) and ignored.sub("", numbers[-1]) == ignored.sub("", gold)

    return one_by_one(verdict)


def strict_match() -> Contestant:
    """Return lm-evaluation-harness's ``strict-match`` of BIG-Bench Hard without examples, with what it ignores."""
    pattern = re.compile(r"(?:[Tt]he answer is |The answer: |The final answer: )(.*)(?=.)")
    ignored = re.compile(r"[,\\\n\"]|\.$")

    def verdict(gold: str, completion: str) -> bool:
        match = pattern.search(completion)
        return match is not None and ignored.sub("", match[1]).lower() == ignored.sub("", gold).lower()

    return one_by_one(verdict)


def rewardkit(expression: str, options: str = "") -> Contestant:
    """Return the contestant of one of our rewards; `expression` has places for ``gold=`` and ``options=``.

    A gold answer that is a whole solution and cannot be read as it is gets what the error advises,
    ``gold=rk.extract.boxed()``.
    """
    import rewardkit as rk

    letters = f"options={options!r}" if options else ""
    plain, solution = (
        eval(expression.format(gold=gold, options=letters), {"rk": rk})
        for gold in ("gold=None", "gold=rk.extract.boxed()")
    )

    @functools.cache
    def reward_for(gold: str) -> rk.Reward | None:
        """Return the reward that reads the gold answer, or None."""
        for reward in (plain, solution):
            try:
                rk.score(reward, ["x"], answer=[gold])
            except rk.errors.CoercionError:
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


CONTESTANTS: dict[str, tuple[str | None, Callable[..., Contestant]]] = {
    "math-verify": ("math-verify", math_verify),
    "trl": ("trl", trl),
    "open-r1": ("math-verify", open_r1),
    "verifiers": ("verifiers", verifiers_task),
    "verifiers-rubric": ("verifiers", verifiers_rubric),
    "robust_match": ("rewardlint", robust_match),
    "mmlu-pro": (None, mmlu_pro),
    "flexible-extract": (None, flexible_extract),
    "strict-match": (None, strict_match),
    "rewardkit": ("rewardkit-sdk", rewardkit),
}
"""The distribution (None: the patterns are here) and the contestant, by name."""


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
    questions = json.load(sys.stdin)
    rows_by_options = defaultdict(list)
    for row, (_, _, options) in enumerate(questions):
        rows_by_options[options].append(row)
    distribution, make = CONTESTANTS[name]
    verdicts: Verdicts = [None] * len(questions)
    with contextlib.redirect_stdout(io.StringIO()):
        asked = [
            (make(*arguments, **({"options": options} if options else {})), rows)
            for options, rows in rows_by_options.items()
        ]
        for _ in range(2):
            gc.collect()
            start = cpu_seconds()
            for contestant, rows in asked:
                golds, completions = [questions[row][0] for row in rows], [questions[row][1] for row in rows]
                for row, verdict in zip(rows, contestant(golds, completions), strict=True):
                    verdicts[row] = verdict
            seconds = cpu_seconds() - start
    release = f"{distribution} {version(distribution)}" if distribution else name
    print(MARK + json.dumps({"version": release, "verdicts": verdicts, "seconds": seconds}))


if __name__ == "__main__":
    main(*sys.argv[1:])
