"""rewardkit's counterparts of the peers' functions, with the same examples and completions where the task is the same.

``OURS["trl", "accuracy_reward"]`` is ``rk.math_equal("solution")``; it is checked on the completions of that case.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from laws_on_peers_case import Case

import rewardkit as rk


@dataclass(frozen=True)
class Ours:
    """rewardkit's counterpart of one function.

    Attributes:
        make: returns the reward.
        column: the name of its gold column, if it differs from the peer's.
        golds: the values of that column, if the peer needs a different form.
        good: completions that deserve full marks, if the peer needs a different form.
        bad: wrong completions, if the peer needs a different form.
    """

    make: Callable[[], rk.Reward]
    column: str = ""
    golds: tuple[Any, ...] = ()
    good: tuple[str, ...] = ()
    bad: tuple[str, ...] = ()

    def examples(self, case: Case) -> list[Mapping[str, Any]]:
        if not self.column:
            return list(case.examples)
        golds = self.golds or tuple(case.column(self.column))
        pairs = zip(case.column("prompt"), golds, strict=True)
        return [{"prompt": prompt, self.column: gold} for prompt, gold in pairs]


def _form(*names: str) -> Callable[[], rk.Reward]:
    return lambda: rk.tags(*names)


def _thinks() -> rk.Reward:
    return rk.tags("think", anchored="start")


def _order() -> rk.Reward:
    kinds = {"name": {"type": "string"}, "quantity": {"type": "number"}}
    return rk.json_schema({"type": "object", "properties": kinds, "required": list(kinds)})


_TESTS = ([{"input": "3", "output": "6"}, {"input": "10", "output": "20"}],)

OURS: dict[tuple[str, str], Ours] = {
    ("trl", "accuracy_reward"): Ours(lambda: rk.math_equal("solution")),
    ("trl", "reasoning_accuracy_reward"): Ours(lambda: rk.gate(when=_thinks(), then=rk.math_equal("solution"))),
    ("trl", "think_format_reward"): Ours(_thinks),
    ("trl", "cosine_scaled_reward"): Ours(lambda: rk.cosine_length(rk.math_equal("solution"), 1000)),
    ("trl", "repetition_penalty_reward"): Ours(lambda: rk.repetition_penalty(ngram=3, max_penalty=-1.0)),
    ("trl", "soft_overlong_punishment_reward"): Ours(lambda: rk.overlong_penalty(100, 20)),
    ("verifiers-rubric", "correct_answer"): Ours(lambda: rk.math_equal("answer")),
    ("verifiers-rubric", "XMLParser.format_reward_func"): Ours(_form("reasoning", "answer")),
    ("verifiers-rubric", "ThinkParser.format_reward_func"): Ours(_thinks),
    ("verifiers", "verify_boxed_math_answer"): Ours(lambda: rk.math_equal("answer", extract=rk.extract.boxed())),
    ("eval-protocol", "accuracy_reward"): Ours(lambda: rk.number("answer"), "answer", ("42", "56")),
    ("eval-protocol", "cosine_scaled_accuracy_length_reward"): Ours(
        lambda: rk.cosine_length(rk.number("answer"), 1000, unit="words"), "answer", ("42", "56")
    ),
    ("eval-protocol", "format_reward"): Ours(_form("think", "answer")),
    ("eval-protocol", "length_reward"): Ours(lambda: rk.length_between(5, 40, unit="words", margin=20)),
    ("eval-protocol", "list_comparison_math_reward"): Ours(
        lambda: rk.set_match("answer", extract=rk.extract.boxed()), "answer", ("1, 2, 3, 6",)
    ),
    ("eval-protocol", "math_reward"): Ours(
        lambda: rk.math_equal("ground_truth", extract=rk.extract.boxed()), "ground_truth"
    ),
    ("eval-protocol", "multiple_choice_math_reward"): Ours(lambda: rk.choice("answer"), "answer", ("B",)),
    ("eval-protocol", "repetition_penalty_reward"): Ours(lambda: rk.repetition_penalty(ngram=3, unit="words")),
    ("eval-protocol", "tag_count_reward"): Ours(_form("think", "answer")),
    ("eval-protocol", "language_consistency_reward"): Ours(lambda: rk.language("en")),
    ("eval-protocol", "json_schema_reward"): Ours(_order),
    ("eval-protocol", "fractional_code_reward"): Ours(lambda: rk.code_tests("tests"), "tests", _TESTS),
}
