"""rewardkit and slime: ``rk.to_slime(reward)`` creates the functions for training with slime.

slime is imported only while it is running, to log metrics and drop groups.
"""

from __future__ import annotations

import asyncio
import importlib
import logging
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, final

from rewardkit.errors import RewardDefinitionError, RewardFailure
from rewardkit.online.breaker import LIMITS, Limits
from rewardkit.online.exports import Export, Target, Tested
from rewardkit.online.labels import columns
from rewardkit.online.requests import Requests
from rewardkit.online.rows import Row, RowScore
from rewardkit.online.scorer import RowScorer
from rewardkit.online.trainer_inputs import TrainerInputs
from rewardkit.progress.progress import Progress
from rewardkit.serve.dialects import Answer, Score, text_at

# Samples of slime: read their data, and attach rewardkit's notes to them.


NOTE = "rewardkit"
_OF_SLIME = ("start_rollout_id", "round_number", "raw_reward", NOTE)
"""Metadata entries that are not columns of the data."""


def row_of(sample: Any, gold: str) -> Row:
    """Return a sample's row: its response and prompt, with its metadata and label as columns."""
    columns = {str(name): cell for name, cell in (sample.metadata or {}).items() if name not in _OF_SLIME}
    columns["label"] = sample.label
    if sample.label is not None or gold not in columns:
        columns[gold] = sample.label
    count = sample.response_length
    return Row(
        sample.response,
        prompt=sample.prompt,
        columns=columns,
        completion_ids=list(sample.tokens[-count:]) if count else [],
        cut=getattr(sample.status, "value", sample.status) == "truncated",
    )


def note(sample: Any) -> dict[str, Any]:
    """Return rewardkit's notes on a sample, or an empty dictionary if there are none."""
    content = (sample.metadata or {}).get(NOTE)
    return dict(content) if isinstance(content, Mapping) else {}


def add_note(sample: Any, **entries: Any) -> None:
    """Add entries to the notes on a sample. The metadata is replaced, because copies of the sample may share it."""
    sample.metadata = {**(sample.metadata or {}), NOTE: {**note(sample), **entries}}


def add_score(sample: Any, score: RowScore) -> None:
    """Add a sample's scores to its notes."""
    numbers = {name: value for name, value in score.numbers().items() if value is not None}
    add_note(sample, numbers=numbers, unscored=score.why)


def unscored(sample: Any) -> bool:
    """Return whether a sample has no score, because it could not be scored or because slime aborted it first."""
    if sample.reward is None:
        return bool(getattr(sample.status, "value", sample.status) == "aborted")
    return bool(note(sample).get("unscored"))


def evaluated(sample: Any) -> bool:
    """Return whether a sample belongs to an evaluation. slime assigns group numbers only to training samples."""
    return bool(note(sample).get("evaluation", sample.group_index is None))


def flat(samples: Iterable[Any]) -> Iterator[Any]:
    """Yield the samples in a group, including each sample of a rollout that consists of several samples."""
    for sample in samples:
        if isinstance(sample, list):
            yield from flat(sample)
        else:
            yield sample


# Log terms and components in slime's own log: ``rollout/reward/<term>``, ``eval/<dataset>/reward/components/<name>``.


_LOG = logging.getLogger("rewardkit")
UNSCORED = "unscored"
"""The share of samples without a score, 0.0 to 1.0."""


def log_training(args: Any, rollout_id: int, samples: Sequence[Any]) -> None:
    """Log the means of the terms and components in a rollout."""
    _log(args, rollout_id, means(samples, "rollout/reward/"), "rollout/step")


def log_evaluation(args: Any, rollout_id: int, data: dict[str, Any]) -> None:
    """Remove samples without a score from the evaluation data, and log the means over the remaining samples."""
    metrics: dict[str, float] = {}
    for name, results in list(data.items()):
        samples = results.get("samples")
        if not samples:
            continue
        metrics |= means(samples, f"eval/{name}/reward/")
        scored_indices = _scored_indices(args, samples)
        if not scored_indices:
            _LOG.warning(
                "slime: no completion in the evaluation of %r has a score, so the evaluation is not logged", name
            )
            del data[name]
        elif len(scored_indices) < len(samples):
            for entry, values in results.items():
                if isinstance(values, list) and len(values) == len(samples):
                    results[entry] = [values[index] for index in scored_indices]
    _log(args, rollout_id, metrics, "eval/step")


def means(samples: Sequence[Any], prefix: str) -> dict[str, float]:
    """Return the mean of each term and component over the samples that have it, and the share of unscored samples."""
    values: dict[str, list[float]] = {}
    for sample in samples:
        for name, value in note(sample).get("numbers", {}).items():
            values.setdefault(name, []).append(value)
    averages = {f"{prefix}{name}": sum(numbers) / len(numbers) for name, numbers in values.items()}
    return {**averages, f"{prefix}{UNSCORED}": sum(map(unscored, samples)) / max(1, len(samples))}


def _scored_indices(args: Any, samples: Sequence[Any]) -> list[int]:
    """Return the indices of the samples that count in the evaluation.

    These are the samples with a score. If slime logs pass rates, which it computes per prompt, they are only the
    samples of prompts whose samples all have a score."""
    size = args.n_samples_per_eval_prompt if args.log_passrate else 1
    unscored_prompts = {index // size for index, sample in enumerate(samples) if unscored(sample)}
    return [index for index in range(len(samples)) if index // size not in unscored_prompts]


def _log(args: Any, rollout_id: int, numbers: dict[str, float], step_key: str) -> None:
    from slime.observability.logging_utils import log
    from slime.observability.metric_utils import compute_rollout_step

    log(args, {**numbers, step_key: compute_rollout_step(args, rollout_id)}, step_key=step_key)
    _LOG.info("reward %d: %s", rollout_id, numbers)


# Compute rewards relative to their group, as slime does, but without the samples that have no score.


_NORMALIZED = ("grpo", "gspo", "cispo", "reinforce_plus_plus_baseline")
_DIVIDED = ("grpo", "gspo", "cispo")
"""The advantage estimators for which slime also divides by the group's standard deviation. `_NORMALIZED` lists the
estimators for which it subtracts the group's mean."""


def normalized(args: Any, samples: Sequence[Any]) -> tuple[list[float], list[float]]:
    """Return the rewards for logging and the rewards for training.

    A sample without a score is masked. In the logs, its reward is the mean of its group. In training, its reward is 0.0
    after normalization.

    Raises:
        RewardFailure: a sample has no reward, and no note explains why.
    """
    rewards = [_reward(args, sample) for sample in samples]
    raw = [0.0] * len(samples)
    trained = [0.0] * len(samples)
    normalizes = args.advantage_estimator in _NORMALIZED and args.rewards_normalization
    divides = args.advantage_estimator in _DIVIDED and args.grpo_std_normalization
    overall_mean = _mean([reward for reward in rewards if reward is not None])
    for indices in _groups(args, samples):
        scored = {index: reward for index in indices if (reward := rewards[index]) is not None}
        relative = _relative(scored, divides) if normalizes else scored
        mean = _mean(list(scored.values())) if scored else overall_mean
        for index in indices:
            raw[index] = scored.get(index, mean)
            trained[index] = relative.get(index, 0.0 if normalizes else mean)
    for sample, reward in zip(samples, rewards, strict=True):
        if reward is None:
            sample.remove_sample = True
    return raw, trained


def _reward(args: Any, sample: Any) -> float | None:
    if unscored(sample):
        return None
    reward = sample.get_reward_value(args) if sample.reward is not None else None
    if not isinstance(reward, (int, float)) or not math.isfinite(reward):
        raise RewardFailure(
            f"slime: sample {sample.index} (status {sample.status}) has the reward {reward!r}, which is not a number. "
            "Fix the function that sets the reward, or score the sample with --custom-rm-path"
        )
    return float(reward)


def _groups(args: Any, samples: Sequence[Any]) -> list[list[int]]:
    """Return, for each prompt, the indices of its samples."""
    if all(sample.group_index is not None for sample in samples):
        by_group: dict[int, list[int]] = {}
        for index, sample in enumerate(samples):
            by_group.setdefault(sample.group_index, []).append(index)
        return list(by_group.values())
    size = args.n_samples_per_prompt
    if len(samples) % size:
        raise RewardFailure(
            f"slime: cannot form groups of {size}: {len(samples)} samples have no group_index. Set group_index in "
            "the data source or in the custom generate function"
        )
    return [list(range(start, start + size)) for start in range(0, len(samples), size)]


def _relative(scored: dict[int, float], divides: bool) -> dict[int, float]:
    mean = _mean(list(scored.values()))
    centered = {index: reward - mean for index, reward in scored.items()}
    if not divides or len(centered) < 2:
        return centered
    deviation = math.sqrt(math.fsum(value * value for value in centered.values()) / (len(centered) - 1))
    # The constant is slime's own: a group of equal rewards has a deviation of 0.
    return {index: value / (deviation + 1e-6) for index, value in centered.items()}


def _mean(values: list[float]) -> float:
    return math.fsum(values) / len(values) if values else 0.0


# Settings on slime's command line: the functions that they name, and the kind of reward that slime expects.


SCORE = "score"
"""The key for the total in a dictionary that slime reads."""


def uses(args: Any, setting: str, function: Callable[..., Any]) -> bool:
    """Return whether a setting names `function`, or a function that wraps it with ``functools.wraps``."""
    module, _, name = (getattr(args, setting, None) or "").rpartition(".")
    if not module:
        return False
    target = getattr(importlib.import_module(module), name, None)
    while target is not None and target != function:
        target = getattr(target, "__wrapped__", None)
    return target is not None


def as_reward(args: Any, total: float, numbers: dict[str, float]) -> float | dict[str, float]:
    """Return the reward that slime expects: a number, or a dictionary if slime runs with ``--reward-key score``.

    Raises:
        RewardDefinitionError: slime would read another entry, or an entry that does not exist.
    """
    key, evaluation = getattr(args, "reward_key", None), getattr(args, "eval_reward_key", None)
    if key is None and evaluation is None:
        return total
    if key != SCORE:
        raise RewardDefinitionError(
            f"slime: --reward-key {key} is not the total of the reward. Pass --reward-key {SCORE}"
        )
    entries = {**numbers, SCORE: total}
    if evaluation not in (None, *entries):
        raise RewardDefinitionError(
            f"slime: the reward does not report the number {evaluation!r} for --eval-reward-key. Available numbers: "
            f"{', '.join(entries)}"
        )
    return entries


# to_slime: turn a reward into the functions that slime calls.


OFFERS = TrainerInputs("slime", step=True, groups=True, ids=True, end_token=True)


@final
class SlimeRewards:
    """The functions that slime calls for one reward. Bind each function that you need to a name in your module.

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
            The total, or a list of totals. With ``--reward-key score``, each total is replaced by a dictionary with all
            numbers.

        Raises:
            RewardFailure: a sample has no score, but slime is not configured to exclude it. Also raised if too many
                samples have no score.
            RewardDefinitionError: slime is not configured for this reward.
        """
        samples = sample if isinstance(sample, list) else [sample]
        if any(isinstance(entry, list) for entry in samples):
            raise RewardDefinitionError(
                "slime: --group-rm cannot score rollouts of several samples, because slime cannot store "
                "their rewards. Drop --group-rm"
            )
        group = isinstance(sample, list) and bool(args.group_rm)
        if self._scorer.together == "group" and not group:
            raise RewardDefinitionError("slime: the reward compares the completions for each prompt. Add --group-rm")
        scores = await self._scores(args, samples, group)
        rewards = [self._reward(args, entry, score) for entry, score in zip(samples, scores, strict=True)]
        return rewards if isinstance(sample, list) else rewards[0]

    def normalize(self, args: Any, samples: Any, **_: Any) -> tuple[list[float], list[float]]:
        """Normalize rewards by group, excluding samples without a score: ``--custom-reward-post-process-path``."""
        return normalized(args, list(flat(samples)))

    def keep_group(self, args: Any, samples: Any, **_: Any) -> Any:
        """Drop groups with an unscored sample, which slime then replaces: ``--dynamic-sampling-filter-path``."""
        from slime.rollout.filter_hub.base_types import DynamicFilterOutput

        has_unscored = any(unscored(sample) for sample in flat(samples))
        return DynamicFilterOutput(keep=not has_unscored, reason="unscored" if has_unscored else None)

    def step(
        self, args: Any, sample: Any, *, rollout_id: int | None = None, evaluation: bool = False, **_: Any
    ) -> None:
        """Store the training step in a sample before it is scored: ``--rollout-sample-hook-path``."""
        add_note(sample, step=rollout_id, evaluation=evaluation)

    def log(self, rollout_id: int, args: Any, samples: Any, *_: Any, **__: Any) -> bool:
        """Log the terms and components in a rollout: ``--custom-rollout-log-function-path``."""
        log_training(args, rollout_id, list(flat(samples)))
        return False  # slime also logs its own numbers

    def log_eval(self, rollout_id: int, args: Any, data: dict[str, Any], *_: Any, **__: Any) -> bool:
        """Remove unscored samples, and log terms and components: ``--custom-eval-rollout-log-function-path``."""
        log_evaluation(args, rollout_id, data)
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
        """Return the training step, the progress, and whether the sample is a training sample."""
        step, training = note(sample).get("step"), not evaluated(sample)
        num_rollouts = getattr(args, "num_rollout", None)
        if self._scorer.scheduled and (step is None or not num_rollouts):
            raise RewardDefinitionError(
                "slime: the reward follows the training progress. Pass --rollout-sample-hook-path with the step "
                "function of rk.to_slime, and --num-rollout"
            )
        progress = None if step is None or not num_rollouts else Progress(step, max(step, num_rollouts), training)
        return {"step": step, "training": training, "progress": progress}

    def _reward(self, args: Any, sample: Any, score: RowScore) -> float | dict[str, float]:
        add_score(sample, score)
        numbers = {name: 0.0 if value is None else value for name, value in score.numbers().items()}
        if score.total is None:
            self._leave_out(args, sample, score)
        return as_reward(args, 0.0 if score.total is None else score.total, numbers)

    def _leave_out(self, args: Any, sample: Any, score: RowScore) -> None:
        """Mask an unscored sample, or raise RewardFailure if slime would use its placeholder number as a score."""
        if evaluated(sample):
            setting, function = "--custom-eval-rollout-log-function-path", "log_eval"
            fits = uses(args, "custom_eval_rollout_log_function_path", self.log_eval)
        else:
            setting, function = "--custom-reward-post-process-path", "normalize"
            converter = getattr(args, "custom_convert_samples_to_train_data_path", None)
            fits = converter is None and uses(args, "custom_reward_post_process_path", self.normalize)
        if not fits:
            raise RewardFailure(
                f"slime: a completion has no score: {score.why}. slime would treat any number as its score. Set "
                f"{function} = rewards.{function} in the reward's module, and pass {setting} my_rewards.{function}"
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
    limits: Limits = LIMITS,
) -> SlimeRewards:
    """Turn a reward into the functions that slime calls.

    ::

        rewards = rk.to_slime(reward, gold="answer", special_tokens=tokenizer)     # in my_rewards.py
        score, normalize, log = rewards.score, rewards.normalize, rewards.log
        # --custom-rm-path my_rewards.score --custom-reward-post-process-path my_rewards.normalize

    `score` never blocks slime's event loop, and completions that arrive at the same time are scored as one batch. A
    completion that cannot be scored is masked, and `normalize` computes its group's advantages without it.

    Args:
        reward: a reward, a plain function, or a list of them. Rewards that compare the completions for a prompt require
            ``--group-rm``. Schedules require the hook `step`.
        gold: the reward column to fill with the label. The label is also available as the column "label". The metadata
            entries are also columns.
        examples: example rows, such as ``[{"answer": "42"}]``. The reward is tried on them immediately, so that missing
            columns and bugs are found before training starts.
        deadline: the maximum number of seconds for scoring a completion. If scoring takes longer, the completion counts
            as unscorable. None means no limit.
        special_tokens: the tokenizer whose special tokens are removed from completions, or a list of strings to remove.
            By default, only the usual end token is removed.
        record: the folder in which the run is recorded. ``rewardkit view`` displays the record.
        limits: an ``rk.Limits`` with the fractions of failed and errored completions above which training stops.

    Raises:
        RewardTypeError: `reward` is not a reward.
        RewardDefinitionError: the reward compares completions for different prompts.
        BindingError, CoercionError, RewardFailure: the reward cannot score `examples`.
    """
    scorer = RowScorer(
        reward,
        OFFERS,
        special_tokens=special_tokens,
        record=record,
        limits=limits,
        examples=examples,
    )
    return SlimeRewards(Requests(scorer, deadline=deadline), gold)


# The path to which slime posts: ``--rm-type remote_rm --rm-url http://host:8000/slime``.


PATIENCE = 100.0
"""The number of seconds for which a failed row is retried, within the 120 s limit for one request."""


async def score_completion(payload: Any, score: Score) -> Answer:
    """Score one completion for slime. The response is a number, or status 503 if there is no score."""
    row = Row(text_at(payload, "response"), payload.get("prompt"), columns(payload.get("label"), "answer"))
    [row_score] = await score([row], patience=PATIENCE)
    if row_score.total is None:
        return Answer({"error": f"the completion has no score: {row_score.why}"}, 503, {"Retry-After": "5"})
    return Answer(row_score.total)


dialect = {"/slime": score_completion}


# Export: the files and settings with which slime uses a reward.


TESTED = Tested("", ["commit 624b824a (2026-08-21)"])
_FILE = '''"""The reward for slime."""

import rewardkit as rk
{imports}

# gold= names the reward's column that --label-key fills. Pass special_tokens=tokenizer with your model's tokenizer.
rewards = rk.to_slime(reward, gold="{gold}")
score = rewards.score
normalize = rewards.normalize
keep_group = rewards.keep_group
step = rewards.step
log = rewards.log
log_eval = rewards.log_eval
'''
_CONFIG = """\
--custom-rm-path rewards_slime.score
--custom-reward-post-process-path rewards_slime.normalize
--custom-rollout-log-function-path rewards_slime.log
--custom-eval-rollout-log-function-path rewards_slime.log_eval
--rollout-sample-hook-path rewards_slime.step
--label-key {gold}"""


def export(target: Target) -> Export:
    """Return the files and settings for using a reward with slime."""
    return Export(
        {"rewards_slime.py": _FILE.format(imports=target.imports, gold=target.gold)},
        _CONFIG.replace("{gold}", target.gold),
        TESTED,
        [
            "slime imports the module by name. Add the module's folder to PYTHONPATH.",
            "A completion that cannot be scored is masked, and its group's advantages are computed without it. "
            "Add --group-rm if the reward compares the completions for each prompt.",
        ],
    )
