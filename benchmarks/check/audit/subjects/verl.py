"""verl's built-in scorers (verl/utils/reward_score), called by ``default_compute_score`` if that has a data source.

The package itself is not imported, since it needs ray and a trainer. The pool of math_verify forks here: a spawned
process would import all of verl.
"""

from __future__ import annotations

import json
import multiprocessing
from collections.abc import Callable, Iterator
from importlib import import_module
from types import SimpleNamespace
from typing import Any

from programs import FUNCTIONS, FUNCTIONS_RIGHT, FUNCTIONS_WRONG, STDIN, STDIN_RIGHT, STDIN_WRONG, fenced
from subject import Subject, bare_package, each, folder_of, stand_in
from texts import (
    EXACT,
    FACTS,
    MATHEMATICS,
    MISNAMED,
    MISTAKEN,
    NAMED,
    RIGHT,
    SUMS,
    WRONG,
    boxed,
    hashes,
    said,
    tagged,
    thought,
)

NOT_HERE = {
    "a service runs the programs": "sandbox_fusion",
    "needs a tokenizer and the trainer's batch": "the reward managers (naive, dapo, prime, batch, gdpo, limited)",
}
"""What is left out, by reason."""

TOOLS = (
    ("What is the weather in Oslo?", {"name": "weather", "parameters": {"city": "Oslo", "days": 1}}),
    ("Convert 5 km to miles.", {"name": "convert", "parameters": {"value": 5, "from": "km", "to": "mi"}}),
)


def subjects() -> Iterator[Subject]:
    package = folder_of("verl")
    bare_package("verl", package)
    bare_package("verl.utils", package / "utils")
    stand_in("verl.utils.metric", Metric=object)
    default = import_module("verl.utils.reward_score").default_compute_score

    def by_default(source: str) -> Callable[[str, Any], float]:
        def score(text: str, gold: Any) -> float:
            found = default(source, text, gold)
            return float(found["score"] if isinstance(found, dict) else found)

        return score

    gsm8k = _module("gsm8k").compute_score
    strict = each("gsm8k", by_default("openai/gsm8k"))
    yield Subject("gsm8k.compute_score", strict, SUMS, hashes(RIGHT), hashes(WRONG))
    flexible = each("gsm8k_flexible", lambda text, gold: gsm8k(text, gold, method="flexible"))
    yield Subject("gsm8k.compute_score(method='flexible')", flexible, SUMS, said(RIGHT), said(WRONG))
    yield from mathematics(by_default)
    answers = FACTS, tagged(NAMED), tagged(MISNAMED)
    for name in ("compute_score", "compute_score_subem"):
        search = _targeted(name, getattr(_module("search_r1_like_qa_em"), name))
        yield Subject(f"search_r1_like_qa_em.{name}", search, *answers)
    yield from programs(by_default("codecontests"))
    rlla = _module("rlla").compute_score
    extra = {"experiment_name": "grpo-qwen2.5-1.5b"}
    calls = each("rlla", lambda text, gold: rlla("rlla", text, gold, extra)["score"])
    rows = [{"prompt": prompt, "answer": _call(call)} for prompt, call in TOOLS]
    wrong = [_call({**call, "parameters": {"city": "Rome"}}) for _, call in TOOLS]
    yield Subject("rlla.compute_score", calls, rows, [_call(call) for _, call in TOOLS], wrong)


def mathematics(by_default: Callable[[str], Callable[[str, Any], float]]) -> Iterator[Subject]:
    right, wrong = boxed(EXACT), boxed(MISTAKEN)
    scorer = each("math_reward", by_default("lighteval/MATH"))
    yield Subject("math_reward.compute_score", scorer, MATHEMATICS, right, wrong)
    batched = _module("math_batch").compute_score_batched

    def math_batch(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
        none = [None] * len(answer)
        scores: list[float] = batched(none, completions, answer, none)
        return scores

    yield Subject("math_batch.compute_score_batched", math_batch, MATHEMATICS, right, wrong)
    yield Subject(
        "math_dapo.compute_score", each("math_dapo", by_default("math_dapo")), MATHEMATICS, said(EXACT), said(MISTAKEN)
    )
    dapo = _module("math_dapo").compute_score
    strict = each("math_dapo_strict", lambda text, gold: dapo(text, gold, strict_box_verify=True)["score"])
    yield Subject("math_dapo.compute_score(strict_box_verify=True)", strict, MATHEMATICS, right, wrong)
    math_verify = _module("math_verify")
    math_verify.multiprocessing = SimpleNamespace(get_context=lambda _: multiprocessing.get_context("fork"))
    yield Subject(
        "math_verify.compute_score", each("math_verify", math_verify.compute_score), MATHEMATICS, right, wrong
    )
    prime = each("prime_math", by_default("numina_olympiads"))
    yield Subject("prime_math.compute_score", prime, MATHEMATICS, right, wrong)
    geo3k = each("geo3k", by_default("hiyouga/geometry3k"))
    yield Subject("geo3k.compute_score", geo3k, MATHEMATICS, thought(right), thought(wrong))


def programs(score: Callable[[str, Any], float]) -> Iterator[Subject]:
    """prime_code, whose ground truth is JSON: programs that read standard input, and functions."""
    stdin = [
        {"prompt": task["prompt"], "answer": json.dumps({"inputs": task["inputs"], "outputs": task["outputs"]})}
        for task in STDIN
    ]
    reads = each("prime_code_stdin", score)
    yield Subject("prime_code.compute_score (stdin)", reads, stdin, fenced(STDIN_RIGHT), fenced(STDIN_WRONG))
    called = [
        {
            "prompt": task["prompt"],
            "answer": json.dumps({"fn_name": task["name"], "inputs": task["inputs"], "outputs": task["outputs"]}),
        }
        for task in FUNCTIONS
    ]
    calls = each("prime_code_function", score)
    yield Subject("prime_code.compute_score (fn_name)", calls, called, fenced(FUNCTIONS_RIGHT), fenced(FUNCTIONS_WRONG))


def _targeted(name: str, found: Any) -> Callable[..., list[float]]:
    return each(f"search_{name}", lambda text, gold: found(text, {"target": gold}))


def _module(name: str) -> Any:
    return import_module(f"verl.utils.reward_score.{name}")


def _call(call: dict[str, Any]) -> str:
    return f"<think>I need a tool.</think>\n<tool_call>\n{json.dumps(call)}\n</tool_call>"
