"""open-instruct's verifiers (ground_truth_utils.py), from a checkout: ``--checkouts FOLDER`` has open-instruct/.

They are called as its ``apply_verifiable_reward`` does, with ``async_call``, which scores in a thread.

CodeVerifier sends programs to a server, which is in the checkout, too (code_utils/api.py). Only the connection has a
stand-in: the functions of the server are called in this process.
"""

from __future__ import annotations

import asyncio
import logging
import os
import tempfile
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from programs import FUNCTIONS, FUNCTIONS_RIGHT, FUNCTIONS_WRONG, STDIN, STDIN_RIGHT, STDIN_WRONG, asserts, fenced
from subject import Subject, bare_package, checkout, each, stand_in
from subjects import open_instruct_instructions
from subjects.open_instruct_instructions import by_call
from texts import (
    BRIEF,
    EXACT,
    FACTS,
    MATHEMATICS,
    MISNAMED,
    MISTAKEN,
    NAMED,
    RAMBLING,
    RIGHT,
    SUMS,
    WRONG,
    boxed,
    tagged,
    thought,
)

NOT_HERE = {
    "a language model judges": "LMJudgeVerifier RubricVerifier",
    "always 0; the environment scores": "PassthroughVerifier and open_instruct/environments",
}
"""What is left out, by reason."""


def subjects() -> Iterator[Subject]:
    verifiers = _loaded(checkout("open-instruct") / "open_instruct")

    def scorer(name: str) -> Callable[..., list[float]]:
        return each(name, by_call(getattr(verifiers, name)()))

    plain, wrong = (
        [f"First I add, then I check it. The result is {value}." for value in values] for values in (RIGHT, WRONG)
    )
    yield Subject("GSM8KVerifier", scorer("GSM8KVerifier"), SUMS, plain, wrong)
    yield Subject("MathVerifier", scorer("MathVerifier"), MATHEMATICS, boxed(EXACT), boxed(MISTAKEN))
    minerva, off = (
        [f"Final Answer: The final answer is ${value}$. I hope it is correct." for value in values]
        for values in (EXACT, MISTAKEN)
    )
    yield Subject("StrictMathVerifier", scorer("StrictMathVerifier"), MATHEMATICS, minerva, off)
    flan, flat = ([f"Let me recall it. The answer is: {name}" for name in names] for names in (NAMED, MISNAMED))
    yield Subject("FlanVerifier", scorer("FlanVerifier"), FACTS, flan, flat)
    yield Subject("StringMatcherVerifier", scorer("StringMatcherVerifier"), FACTS, tagged(NAMED), tagged(MISNAMED))
    for name in ("F1Verifier", "PuzzleMatcherVerifier"):
        yield Subject(name, scorer(name), FACTS, thought(tagged(NAMED)), thought(tagged(MISNAMED)))
    for name in ("ReSearchVerifierF1", "R1SearchVerifier"):
        found, missed = ([f"I looked it up. <finish>{one}</finish>" for one in names] for names in (NAMED, MISNAMED))
        yield Subject(name, scorer(name), FACTS, found, missed)
    rows = [{"prompt": row["prompt"]} for row in SUMS]
    form, bare = thought(tagged(RIGHT)), list(RIGHT)
    yield Subject("soft_format_reward_func", _format(verifiers.soft_format_reward_func), rows, form, bare)
    yield from _lengths(verifiers)
    yield from _programs(verifiers)
    yield from open_instruct_instructions.subjects(verifiers)


def _format(found: Callable[[list[str]], list[float]]) -> Callable[..., list[float]]:
    def reward(completions: list[str], **kwargs: Any) -> list[float]:
        return found(completions)

    return reward


def _lengths(verifiers: Any) -> Iterator[Subject]:
    """The label is a number of tokens. Those of the check are words and marks."""
    config = SimpleNamespace(max_length_verifier_max_length=100)
    exact, most = ("17", "15", "16"), ("30", "40", "50")
    for name, lengths, wrong in (("MaxLenVerifier", exact, list(RIGHT)), ("UpToMaxLenVerifier", most, RAMBLING)):
        rows = [{"prompt": row["prompt"], "length": length} for row, length in zip(SUMS, lengths, strict=True)]
        yield Subject(name, _of_tokens(by_call(getattr(verifiers, name)(config))), rows, BRIEF, wrong)


def _of_tokens(score: Callable[..., float]) -> Callable[..., list[float]]:
    def reward(
        completions: list[str], completion_ids: list[list[int]], length: list[str], **kwargs: Any
    ) -> list[float]:
        rows = zip(completions, completion_ids, length, strict=True)
        return [score(text, label, ids) for text, ids, label in rows]

    return reward


def _programs(verifiers: Any) -> Iterator[Subject]:
    def scorer(path: str) -> Callable[..., list[float]]:
        config = verifiers.CodeVerifierConfig(f"http://localhost:1234/{path}", 1.0, 0.0, False)
        return each(path, by_call(verifiers.CodeVerifier(config)))

    rows = [{"prompt": task["prompt"], "answer": asserts(task)} for task in FUNCTIONS]
    right, wrong = fenced(FUNCTIONS_RIGHT), fenced(FUNCTIONS_WRONG)
    yield Subject("CodeVerifier (code)", scorer("test_program"), rows, right, wrong)
    rows = [
        {
            "prompt": task["prompt"],
            "answer": [
                {"input": given, "output": expected}
                for given, expected in zip(task["inputs"], task["outputs"], strict=True)
            ],
        }
        for task in STDIN
    ]
    right, wrong = fenced(STDIN_RIGHT), fenced(STDIN_WRONG)
    yield Subject("CodeVerifier (code_stdio)", scorer("test_program_stdio"), rows, right, wrong)


class Session:
    """Stands for the connection to the server of code_utils/api.py."""

    def mount(self, prefix: str, adapter: Any) -> None: ...

    def post(self, url: str, json: dict[str, Any], headers: Any, timeout: float) -> SimpleNamespace:
        api = import_module("open_instruct.code_utils.api")
        answer = asyncio.run(getattr(api, url.rpartition("/")[2])(api.TestRequest(**json)))
        return SimpleNamespace(raise_for_status=lambda: None, json=lambda: answer)


class Application:
    """Stands for FastAPI, whose functions are called here."""

    def get(self, path: str) -> Callable[[Any], Any]:
        return lambda function: function

    post = get


def _loaded(root: Path) -> Any:
    """Load the verifiers; what needs models, judges or a server has stand-ins."""
    bare_package("open_instruct", root)
    bare_package("open_instruct.IFEvalG", root / "IFEvalG")
    adapters = SimpleNamespace(HTTPAdapter=lambda **_: None, Retry=lambda **_: None)
    stand_in("requests", Session=Session, adapters=adapters)
    stand_in("fastapi", FastAPI=Application, HTTPException=Exception)
    stand_in("open_instruct.logger_utils", setup_logger=lambda *_: logging.getLogger("open_instruct"))
    stand_in("open_instruct.context_window_checker", ContextWindowChecker=object)
    maps = ("EXTRACTOR_MAP", "JUDGE_PROMPT_MAP", "PRICE_PER_MILLION_TOKENS", "build_messages")
    stand_in("open_instruct.judge_utils", **{name: {} for name in maps})
    stand_in("open_instruct.rubrics")
    stand_in("open_instruct.rubrics.prompts", RUBRIC_SCORING_PROMPT="")
    names = ("extract_json_from_response", "run_litellm_async", "run_litellm_async_raw")
    stand_in("open_instruct.rubrics.run_utils", **dict.fromkeys(names))
    stand_in("open_instruct.utils", extract_final_answer=None)
    here = Path.cwd()
    os.chdir(tempfile.mkdtemp(prefix="audit-programs-"))  # programs run in a folder of the current one
    import_module("open_instruct.code_utils.api")
    os.chdir(here)
    return import_module("open_instruct.ground_truth_utils")
