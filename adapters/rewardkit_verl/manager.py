"""A reward manager of verl: it gets the prompt, the token ids, all columns of the data, and the training step."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from rewardkit.core.errors import RewardDefinitionError
from rewardkit.core.progress.progress import Progress
from rewardkit.online.rows import Row
from rewardkit_verl.columns import Columns, plain
from rewardkit_verl.scoring import Scoring


def manager_of(scoring: Scoring, columns: Columns) -> type[Any]:
    """Return the class that verl makes in each of its reward workers.

    Raises:
        ImportError: verl is not installed.
    """
    try:
        from verl.experimental.reward_loop.reward_manager.base import RewardManagerBase
    except ImportError as error:
        raise ImportError(
            f"rk.to_verl(reward, manager=True) makes a class of verl, but verl cannot be imported ({error}). Install "
            "verl here, or use the function: rk.to_verl(reward)"
        ) from error

    class Manager(RewardManagerBase):
        """Scores samples with a reward of rewardkit."""

        def __init__(
            self,
            config: Any,
            tokenizer: Any,
            compute_score: Any = None,
            reward_router_address: Any = None,
            reward_model_tokenizer: Any = None,
        ) -> None:
            check(config)
            self.max_steps = max_steps_of(config) if scoring.requests.scorer.scorer.scheduled else None
            self.longest = setting(config, "actor_rollout_ref", "rollout", "response_length")
            super().__init__(config, tokenizer, compute_score)

        async def run_single(self, data: Any) -> dict[str, Any]:
            """Return the score of one sample, the last of `data`."""
            sample = data[-1:][0]
            row = await asyncio.to_thread(row_of, sample, self.tokenizer, columns, self.longest)
            step = sample.non_tensor_batch.get("global_steps")
            progress = None if self.max_steps is None else progress_of(sample.non_tensor_batch, self.max_steps)
            if self.max_steps is not None and progress is None:
                await scoring.end(
                    "the reward follows training progress, but this trainer of verl does not hand over the step with "
                    "the samples. Train with trainer.use_v1=True, or put a plain number in the schedule's place"
                )
            found = await scoring.score(row, progress=progress, step=None if step is None else int(step))
            return {"reward_score": found["score"], "reward_extra_info": found}

    return Manager


def row_of(sample: Any, tokenizer: Any, columns: Columns, longest: int | None) -> Row:
    """Return a sample as a row.

    Args:
        longest: the token limit of a completion, if it is known.
    """
    fields, batch = sample.non_tensor_batch, sample.batch
    width, mask = batch["prompts"].shape[-1], batch["attention_mask"]
    length = fields.get("response_len")
    ids = batch["responses"][: int(mask[width:].sum() if length is None else length)]
    prompt = plain(fields.get("raw_prompt"))
    if prompt is None:
        prompt = tokenizer.decode(batch["prompts"][mask[:width].bool()], skip_special_tokens=True)
    model = fields.get("reward_model")
    whole = len(ids) > 0 and int(ids[-1]) == getattr(tokenizer, "eos_token_id", None)
    return Row(
        tokenizer.decode(ids, skip_special_tokens=True),
        prompt,
        columns.row(
            fields.get("data_source", ""),
            model.get("ground_truth") if isinstance(model, Mapping) else None,
            fields,
            fields.get("extra_info"),
            fields.get("tool_extra_fields"),
            {"num_turns": fields.get("__num_turns__"), "rollout_reward_scores": fields.get("reward_scores")},
        ),
        completion_ids=ids.tolist(),
        cut=None if longest is None else len(ids) >= longest and not whole,
    )


def progress_of(fields: Mapping[str, Any], max_steps: int) -> Progress | None:
    """Return the progress at a sample; None if its step is unknown.

    verl 0.9 counts steps from 1 and hands over the step in which the prompt was drawn, which is the same for all
    completions of a prompt. Its old trainer hands over the version of the weights instead.
    """
    step = fields.get("global_steps")
    if step is not None:
        return Progress(max(0, int(step) - 1), max_steps)
    extra = fields.get("tool_extra_fields")
    version = extra.get("min_global_steps") if isinstance(extra, Mapping) else None
    return None if version is None else Progress(max(0, int(version)), max_steps)


def max_steps_of(config: Any) -> int:
    """Return the number of steps of the training, for schedules by fractions.

    Raises:
        RewardDefinitionError: the configuration does not have it.
    """
    given = setting(config, "trainer", "total_training_steps")
    if given is not None:
        return int(given)
    # verl writes it there before it makes the reward workers; the new trainer counts updates of the optimizer.
    updates = setting(config, "actor_rollout_ref", "actor", "optim", "total_training_steps")
    each = 1
    if setting(config, "trainer", "use_v1"):
        mode = setting(config, "trainer", "v1", "trainer_mode")
        each = setting(config, "trainer", "v1", str(mode), "parameter_sync_step") or 1
    if updates is None or int(updates) < 1:
        raise RewardDefinitionError(
            "verl: the reward follows training progress, but the configuration does not say how many steps the "
            "training has. Set trainer.total_training_steps"
        )
    return max(1, int(updates) // int(each))


def check(config: Any) -> None:
    """Raise RewardDefinitionError if verl would ask a reward model instead of the manager."""
    asks = setting(config, "reward", "reward_model", "enable")
    if asks and setting(config, "reward", "custom_reward_function", "path") is None:
        raise RewardDefinitionError(
            "verl: with reward.reward_model.enable=True verl takes the score of the reward model and never asks this "
            "reward manager. Set reward.reward_model.enable=False; a reward model can be a part of the reward: "
            "rk.reward_model(...)"
        )


def setting(config: Any, *names: str) -> Any:
    """Return a setting of nested configurations; None if it is not there."""
    for name in names:
        config = config.get(name) if hasattr(config, "get") else None
    return config
