"""The public reward functions of TRL, verifiers and eval-protocol, with completions they should score differently.

``CASES[0].make()`` imports the peer and returns its function. ``good[i]`` deserves full marks on ``examples[i]``;
``bad[i]`` is an ordinary wrong completion. This module needs no peer to be imported. `reward_functions.py` shows that
the functions give the same numbers through rewardkit, and the audit checks them (audit/subjects/trl.py and others).
`NOT_HERE` lists the functions that are left out because they need a service or a simulated environment.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.peers.case import LOOPING, RAMBLING, SHORT, Case, Peer, factory, importer, rows, token_ids
from benchmarks.peers.cases_eval_protocol import EVAL_PROTOCOL

__all__ = ["CASES", "NOT_HERE", "WHOLE", "Case", "Peer", "token_ids"]

# Examples that several cases use

FRACTIONS = rows(
    ("What is 1/2 - 1/6? Put the answer in \\boxed{}.", {"solution": r"$\frac{1}{3}$"}),
    ("A pen costs 12 and a book 30. What do both cost? Put the answer in \\boxed{}.", {"solution": "42"}),
)
SHIPS = rows(
    ("A pen costs 12 and a book 30. What do both cost?", {}),
    ("A ship carries 1200 boxes and unloads 65. How many are left?", {}),
)
"""Prompts for `SHORT`, which needs no gold answer."""
WORKED = (
    r"One half is three sixths, and three sixths less one sixth are two sixths: \boxed{\frac{1}{3}}",
    r"The pen and the book together cost 12 + 30, so the answer is \boxed{42}",
)
MISTAKEN = (
    r"One half less one sixth leaves one quarter: \boxed{\frac{1}{4}}",
    r"The pen and the book together cost 12 + 30, so the answer is \boxed{32}",
)
BOXED = tuple(
    {"prompt": example["prompt"], "answer": answer}
    for example, answer in zip(FRACTIONS, (r"\frac{1}{3}", "42"), strict=True)
)
THOUGHT = tuple(f"<think>\n{text}\n</think>\n{text}" for text in WORKED)
MISTHOUGHT = tuple(f"<think>\n{text}\n</think>\n{text}" for text in MISTAKEN)

TRL = (
    Case(
        "trl",
        "accuracy_reward",
        "(completions, solution, log_extra=None, **kwargs)",
        importer("trl.rewards:accuracy_reward"),
        FRACTIONS,
        WORKED,
        MISTAKEN,
    ),
    Case(
        "trl",
        "reasoning_accuracy_reward",
        "(completions, solution, reasoning_delimiters=None, log_extra=None, **kwargs)",
        importer("trl.rewards:reasoning_accuracy_reward"),
        FRACTIONS,
        THOUGHT,
        MISTHOUGHT,
    ),
    Case(
        "trl",
        "think_format_reward",
        "(completions, **kwargs)",
        importer("trl.rewards:think_format_reward"),
        FRACTIONS,
        THOUGHT,
        WORKED,
    ),
    Case(
        "trl",
        "cosine_scaled_reward",
        "get_cosine_scaled_reward(max_len, ...)(completions, solution, completion_ids, **kwargs)",
        factory("trl.rewards:get_cosine_scaled_reward", max_len=1000),
        FRACTIONS,
        WORKED,
        MISTAKEN,
        needs_ids=True,
        finding="only zero tokens get full marks; a right answer with 15 of 1000 tokens gets 0.9997",
    ),
    Case(
        "trl",
        "repetition_penalty_reward",
        "get_repetition_penalty_reward(ngram_size=3, max_penalty=-1.0)(completion_ids, **kwargs)",
        factory("trl.rewards:get_repetition_penalty_reward"),
        SHIPS,
        SHORT,
        LOOPING,
        best=0.0,
        needs_ids=True,
    ),
    Case(
        "trl",
        "soft_overlong_punishment_reward",
        "get_soft_overlong_punishment(max_completion_len, soft_punish_cache)(completion_ids, **kwargs)",
        factory("trl.rewards:get_soft_overlong_punishment", max_completion_len=100, soft_punish_cache=20),
        SHIPS,
        SHORT,
        RAMBLING,
        best=0.0,
        needs_ids=True,
    ),
)


def _format_of(parser: str, *arguments: Any) -> Callable[[], Any]:
    """Make the format reward of a parser of verifiers 0.3."""
    return lambda: importer(f"verifiers.legacy:{parser}")()(*arguments).get_format_reward_func()


def _task_of(helper: str, second: str) -> Callable[[], Any]:
    """Make a task of verifiers 0.4 whose only reward is a scoring helper on the last reply, as in its tasksets."""

    def make() -> Any:
        from benchmarks.peers.verifiers_scoring import task_of

        return task_of(helper, second)

    return make


TAGGED = tuple(f"<reasoning>\n{text}\n</reasoning>\n<answer>\n42\n</answer>" for text in WORKED)

VERIFIERS = (
    Case(
        "verifiers-rubric",
        "correct_answer",
        "MathRubric(...): async (parser, completion, answer, **kwargs)",
        factory("verifiers.legacy:MathRubric"),
        BOXED,
        WORKED,
        MISTAKEN,
    ),
    Case(
        "verifiers-rubric",
        "XMLParser.format_reward_func",
        "XMLParser(fields).get_format_reward_func()(completion)",
        _format_of("XMLParser", ["reasoning", "answer"]),
        BOXED,
        TAGGED,
        WORKED,
    ),
    Case(
        "verifiers-rubric",
        "ThinkParser.format_reward_func",
        "ThinkParser().get_format_reward_func()(completion, **kwargs)",
        _format_of("ThinkParser"),
        BOXED,
        THOUGHT,
        WORKED,
    ),
    Case(
        "verifiers-rubric",
        "MaybeThinkParser.format_reward_func",
        "MaybeThinkParser().get_format_reward_func()(completion, **kwargs)",
        _format_of("MaybeThinkParser"),
        BOXED,
        THOUGHT,
        ("", "<think>"),
        finding="1.0 for every completion, like the plain Parser's: it distinguishes nothing",
    ),
    Case(
        "verifiers",
        "verify_boxed_math_answer",
        "(response, answer, *, timeout_seconds=5), called by a task's @vf.reward",
        _task_of("verify_boxed_math_answer", "answer"),
        BOXED,
        WORKED,
        MISTAKEN,
    ),
    Case(
        "verifiers",
        "compare_stdout_results",
        "(exec_stdout, expected, *, tolerance=1e-3), called by a task's @vf.reward",
        _task_of("compare_stdout_results", "answer"),
        rows(
            ("Print 1/3 and then 42.", {"answer": "0.3333\n42\n"}), ("Print the even digits.", {"answer": "0 2 4 6 8"})
        ),
        ("0.33333\n42", "0 2 4 6 8\n"),
        ("0.34\n42", "1 3 5 7 9"),
    ),
)


def _whole_rubric() -> Any:
    from benchmarks.peers.verifiers_whole_rubric import whole_rubric

    return whole_rubric()


WHOLE = Case(
    "verifiers-rubric",
    "a rubric group of seven functions",
    "sync, async, of the group, with a state, a metric",
    _whole_rubric,
    BOXED[:1] * 2,
    WORKED[:1] + TAGGED[:1],
    MISTAKEN[:1] * 2,
    finding="not a function of verifiers: shows that all kinds of functions give the same numbers here",
)
"""Not in CASES, because verifiers itself has no such reward."""

CASES: tuple[Case, ...] = (*TRL, *VERIFIERS, *EVAL_PROTOCOL)

NOT_HERE = {
    "verifiers 0.3: JudgeRubric, HybridMathRubric": "a language model judges",
    "verifiers 0.3: the rubrics of its environments": "score the contents of a sandbox or a game",
    "verifiers 0.4: ReferenceJudge, RubricJudge, DecisionJudge": "a language model judges",
    "verifiers 0.4: HarborTask.solved, NeMoGymTask": "run in the runtime of a rollout",
    "eval-protocol: e2b_code_execution_reward": "needs an E2B API key",
    "eval-protocol: ioi_cpp_code_reward, binary_cpp_code_reward": "need a Piston server",
    "eval-protocol: deepseek_huggingface_prover_benchmark": "loads a dataset from the Hub",
    "eval-protocol: bfcl_reward": "needs the simulated APIs of BFCL in its state",
    "eval-protocol: json_schema_reward_with_llm_judge": "a language model judges",
}
