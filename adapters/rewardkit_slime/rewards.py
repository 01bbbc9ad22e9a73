"""to_slime: a reward as the functions that slime calls."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, final

from rewardkit.core.errors import RewardDefinitionError, RewardFailure
from rewardkit.core.progress.progress import Progress
from rewardkit.online.offers import Offers
from rewardkit.online.requests import Requests
from rewardkit.online.rows import RowScore
from rewardkit.online.scorer import RowScorer
from rewardkit_slime import logs
from rewardkit_slime.normalization import normalized
from rewardkit_slime.samples import add_note, add_score, evaluated, flat, note, row_of, unscored
from rewardkit_slime.settings import as_reward, uses

OFFERS = Offers("slime", step=True, groups=True, ids=True, end_token=True)


@final
class SlimeRewards:
    """The functions of one reward that slime calls; bind each to a name of your module.

    ::

        rewards = rk.to_slime(reward)
        score, normalize = rewards.score, rewards.normalize
    """

    def __init__(self, requests: Requests, gold: str) -> None:
        self._requests = requests
        self._scorer = requests.scorer.scorer
        self._gold = gold

    async def score(self, args: Any, sample: Any, **_: Any) -> Any:
        """Score one sample, or a list of them: ``--custom-rm-path``.

        Returns:
            The total, or a list of totals; with ``--reward-key score`` dictionaries of all numbers.

        Raises:
            RewardFailure: the sample has no score and slime is not set to leave it out; or too many have none.
            RewardDefinitionError: slime is not set up for this reward.
        """
        samples = sample if isinstance(sample, list) else [sample]
        if any(isinstance(one, list) for one in samples):
            raise RewardDefinitionError(
                "slime: --group-rm cannot score rollouts of several samples, because slime has no place for their "
                "rewards. Drop --group-rm"
            )
        group = isinstance(sample, list) and bool(args.group_rm)
        if self._scorer.together == "group" and not group:
            raise RewardDefinitionError("slime: the reward compares the completions of a prompt. Add --group-rm")
        found = await self._scores(args, samples, group)
        rewards = [self._reward(args, one, score) for one, score in zip(samples, found, strict=True)]
        return rewards if isinstance(sample, list) else rewards[0]

    def normalize(self, args: Any, samples: Any, **_: Any) -> tuple[list[float], list[float]]:
        """Normalize rewards by group, without the samples that have no score: ``--custom-reward-post-process-path``."""
        return normalized(args, list(flat(samples)))

    def keep_group(self, args: Any, samples: Any, **_: Any) -> Any:
        """Drop groups in which a sample has no score; slime draws others: ``--dynamic-sampling-filter-path``."""
        from slime.rollout.filter_hub.base_types import DynamicFilterOutput

        lacks = any(unscored(sample) for sample in flat(samples))
        return DynamicFilterOutput(keep=not lacks, reason="unscored" if lacks else None)

    def step(
        self, args: Any, sample: Any, *, rollout_id: int | None = None, evaluation: bool = False, **_: Any
    ) -> None:
        """Note the step on a sample before it is scored: ``--rollout-sample-hook-path``."""
        add_note(sample, step=rollout_id, evaluation=evaluation)

    def log(self, rollout_id: int, args: Any, samples: Any, *_: Any, **__: Any) -> bool:
        """Log terms and components of a rollout: ``--custom-rollout-log-function-path``."""
        logs.log_training(args, rollout_id, list(flat(samples)))
        return False  # slime logs its own numbers, too

    def log_eval(self, rollout_id: int, args: Any, data: dict[str, Any], *_: Any, **__: Any) -> bool:
        """Leave out samples without a score, and log terms: ``--custom-eval-rollout-log-function-path``."""
        logs.log_evaluation(args, rollout_id, data)
        return False

    async def _scores(self, args: Any, samples: Sequence[Any], group: bool) -> Sequence[RowScore]:
        rows = [row_of(sample, self._gold) for sample in samples]
        if group and self._scorer.together == "group":
            return await self._requests.score_group(rows, **self._moment(args, samples[0]))
        return await asyncio.gather(
            *[
                self._requests.score(row, **self._moment(args, sample))
                for row, sample in zip(rows, samples, strict=True)
            ]
        )

    def _moment(self, args: Any, sample: Any) -> dict[str, Any]:
        """Return the step and the progress of training, as far as they are known."""
        step, training = note(sample).get("step"), not evaluated(sample)
        most = getattr(args, "num_rollout", None)
        if self._scorer.scheduled and (step is None or not most):
            raise RewardDefinitionError(
                "slime: the reward follows the training progress. Pass --rollout-sample-hook-path with the step "
                "function of rk.to_slime, and --num-rollout"
            )
        progress = None if step is None or not most else Progress(step, max(step, most), training)
        return {"step": step, "training": training, "progress": progress}

    def _reward(self, args: Any, sample: Any, score: RowScore) -> float | dict[str, float]:
        add_score(sample, score)
        numbers = {name: 0.0 if value is None else value for name, value in score.numbers().items()}
        if score.total is None:
            self._leave_out(args, sample, score)
        return as_reward(args, 0.0 if score.total is None else score.total, numbers)

    def _leave_out(self, args: Any, sample: Any, score: RowScore) -> None:
        """Make sure that the sample is left out, whatever number it gets."""
        if evaluated(sample):
            setting, function = "--custom-eval-rollout-log-function-path", "log_eval"
            fits = uses(args, "custom_eval_rollout_log_function_path", self.log_eval)
        else:
            setting, function = "--custom-reward-post-process-path", "normalize"
            own = getattr(args, "custom_convert_samples_to_train_data_path", None)
            fits = own is None and uses(args, "custom_reward_post_process_path", self.normalize)
        if not fits:
            raise RewardFailure(
                f"slime: a completion has no score: {score.why}. slime would take any number for its score. Bind "
                f"{function} = rewards.{function} in the module of the reward, and pass {setting} my_rewards.{function}"
            )
        sample.remove_sample = True


def to_slime(
    reward: Any,
    *,
    gold: str = "answer",
    examples: Iterable[Mapping[str, Any]] | None = None,
    deadline: float | None = None,
    special_tokens: Any = (),
    record: str | os.PathLike[str] | None = None,
    max_failure_rate: float = 0.05,
    max_error_rate: float = 0.05,
) -> SlimeRewards:
    """Turn a reward into the functions that slime calls.

    ::

        rewards = rk.to_slime(reward, gold="answer", special_tokens=tokenizer)     # in my_rewards.py
        score, normalize, log = rewards.score, rewards.normalize, rewards.log
        # --custom-rm-path my_rewards.score --custom-reward-post-process-path my_rewards.normalize

    `score` never blocks slime's event loop; completions that arrive together are scored together. A completion that
    cannot be scored is masked, and `normalize` computes the advantages of its group without it.

    Args:
        reward: a reward, a plain function, or a list of them. Rewards that compare the completions of a prompt need
            ``--group-rm``, schedules the hook `step`.
        gold: the column of the reward for the label, which is also the column "label". The entries of the metadata are
            columns, too.
        examples: rows of columns, such as ``[{"answer": "42"}]``: the reward is tried on them at once, so that a
            missing column or a bug shows before the training starts.
        deadline: seconds after which a completion cannot be scored; None waits as long as the reward takes.
        special_tokens: the tokenizer, or a list of texts, to remove from completions. Without it, only the usual end
            token is removed.
        record: the folder of a run to record everything into, for ``rewardkit view``.
        max_failure_rate, max_error_rate: the shares of failed and errored completions above which the training ends.

    Raises:
        RewardTypeError: `reward` is not a reward.
        RewardDefinitionError: the reward compares completions of several prompts.
        BindingError, CoercionError, RewardFailure: it cannot score `examples`.
    """
    scorer = RowScorer(
        reward,
        OFFERS,
        special_tokens=special_tokens,
        record=record,
        max_failure_rate=max_failure_rate,
        max_error_rate=max_error_rate,
        examples=examples,
    )
    return SlimeRewards(Requests(scorer, deadline=deadline), gold)
