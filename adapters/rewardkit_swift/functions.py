"""to_swift: a reward as outcome reward models (ORMs) of ms-swift, one for each term."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from rewardkit.core.errors import RewardDefinitionError, warn
from rewardkit.online.offers import Offers
from rewardkit.online.scorer import RowScorer
from rewardkit_swift.calls import OrmCall
from rewardkit_swift.evaluator import Evaluator

OFFERS = Offers("ms-swift", step=True, groups=True, batch=True, ids=True)


def to_swift(
    reward: Any,
    *,
    examples: Iterable[Mapping[str, Any]] | None = None,
    special_tokens: Any = None,
    record: str | os.PathLike[str] | None = None,
    max_failure_rate: float = 0.05,
    max_error_rate: float = 0.05,
) -> list[str]:
    """Register a reward with ms-swift, one ORM for each of its terms, and return their names.

    ::

        rk.to_swift(0.8 * rk.number("answer") + 0.2 * rk.tags("answer"))     # in my_rewards.py
        # swift rlhf --rlhf_type grpo --external_plugins my_rewards.py --reward_funcs number tags

    All columns of the data arrive by name, as do the step, so that schedules run, and the completions of a prompt. A
    completion that cannot be scored gets the means of the others of its prompt, so that its advantage is 0.

    Args:
        reward: a reward, a plain function, or a list of them.
        examples: rows of columns, such as ``[{"answer": "42"}]``: the reward is tried on them at once, so that a
            missing column or a bug shows before the training starts.
        special_tokens: a tokenizer or a list of texts to remove from completions; None removes those of the trainer's
            tokenizer, and ``()`` removes nothing.
        record: the folder of a run to record everything into, for ``rewardkit view``.
        max_failure_rate, max_error_rate: the shares of failed and errored completions above which the run stops.

    Returns:
        The names of the terms, for ``--reward_funcs``.

    Raises:
        RewardTypeError: `reward` is not a reward.
        RewardDefinitionError: the reward has no term, one of its terms has the name of an ORM of ms-swift, or it
            compares completions of different prompts.
        BindingError, CoercionError, RewardFailure: it cannot score `examples`.
    """
    tokens = () if special_tokens is None else special_tokens
    scorer = RowScorer(
        reward,
        OFFERS,
        special_tokens=tokens,
        record=record,
        max_failure_rate=max_failure_rate,
        max_error_rate=max_error_rate,
        examples=examples,
    )
    names = scorer.scorer.terms
    if not names:
        raise RewardDefinitionError(
            f"{scorer.scorer.reward!r} has no term, so nothing in it would train. Add a reward to it"
        )
    _register(Evaluator(scorer, finds_tokens=special_tokens is None))
    return list(names)


def _register(evaluator: Evaluator) -> None:
    try:
        from swift.rewards import ORM, orms
    except ImportError as error:
        warn(f"ms-swift cannot be imported ({error}), so the reward is not registered. Run: pip install ms-swift")
        return
    for name in evaluator.terms:
        if name in orms and not hasattr(orms[name], "evaluator"):
            raise RewardDefinitionError(
                f"to_swift: ms-swift has a reward function {name!r} of its own. Rename the term: "
                f'reward.named("my_{name}")'
            )
    for name in evaluator.terms:
        orms[name] = _orm(ORM, evaluator, name)


def _orm(base: Any, evaluator: Evaluator, term: str) -> type[Any]:
    """Return a class whose name is that of the term: ms-swift logs it."""

    def call(self: Any, completions: Any, **given: Any) -> list[float | None]:
        return evaluator.column(term, OrmCall(self, completions, given))

    made: type[Any] = type(base)(term, (base,), {"__call__": call, "evaluator": evaluator, "__module__": __name__})
    return made
