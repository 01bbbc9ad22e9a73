"""What NeMo RL makes of the replies of `rk.to_nemo_gym`: its own bridge, masks, advantages and classes of failures."""

from __future__ import annotations

import os
import sys
import typing
from typing import Any
from unittest.mock import MagicMock

import pytest
import torch
import typing_extensions
from transformers import AutoProcessor  # noqa: F401  before the stand-ins

from rewardkit.online.rows import RowScore
from rewardkit_adapters.nemo_gym import reply
from tests.trainers.stubs import stub

typing.TypedDict = typing_extensions.TypedDict  # pydantic wants it before Python 3.12
vars(sys.modules["transformers"])["__version__"] = (
    "5.11.0"  # NeMo RL patches tokenizers of older versions, and refuses newer ones
)
stub(
    "ray", "hydra", "wandb", "absl", "blobfile", "cuda", "decord", "librosa", "megatron", "mlflow", "nemo_automodel",
    "nvtx", "pynvml", "scipy", "soundfile", "swanlab", "tensorboard", "tensordict", "torchcodec", "torchdata",
    "transformer_engine", "vllm", "zmq",
)  # fmt: skip
sys.modules["torch.utils.tensorboard"] = MagicMock()
sys.path.append(os.environ["REWARDKIT_CHECKOUT"])  # last, since it has a folder "tests"

from nemo_rl.algorithms.advantage_estimator import (  # noqa: E402
    AdvEstimatorConfig,
    GDPOAdvantageEstimator,
    GRPOAdvantageEstimator,
)
from nemo_rl.algorithms.grpo import _apply_mask_sample_filter  # noqa: E402
from nemo_rl.environments import nemo_gym as bridge  # noqa: E402
from nemo_rl.experience.failures import FailureClass, classify_rollout_failure  # noqa: E402
from nemo_rl.experience.interfaces import Completion, PromptGroupRecord  # noqa: E402
from nemo_rl.experience.payload import record_to_train_batch  # noqa: E402
from nemo_rl.experience.rollouts import _extract_mask_sample_flags, should_mask_flagged_samples  # noqa: E402


def scored(right: float | None, short: float = 0.25) -> dict[str, Any]:
    """Return a reply; `right` is None where that term abstained."""
    total = short + (right or 0.0)
    terms = {"right": right, "short": short}
    return reply({}, RowScore(total, terms, terms, dict.fromkeys(terms, "scored")))


FAILED = reply(
    {}, RowScore(None, {"right": None, "short": None}, {}, {"right": "failed", "short": "scored"}, {}, ("right: down",))
)
GROUP = [scored(0.75), FAILED, scored(0.0), scored(None)]


def columns() -> dict[str, torch.Tensor]:
    found: dict[str, torch.Tensor] = bridge.build_reward_component_columns(
        [bridge.extract_reward_components(one) for one in GROUP]
    )
    return found


def advantages(rewards: list[float]) -> list[float]:
    estimator = GRPOAdvantageEstimator(AdvEstimatorConfig(), None)
    count = len(rewards)
    found = estimator.compute_advantage(torch.zeros(count, 1), torch.tensor(rewards), torch.ones(count, 1))
    return [round(one, 3) for one in found.flatten().tolist()]


def test_components_are_read_and_add_up() -> None:
    bridge.validate_reward_components_match_scalar(GROUP)
    assert {name: values.tolist() for name, values in columns().items()} == {
        "reward/right": [0.75, 0.0, 0.0, 0.0],
        "reward/short": [0.25, 0.0, 0.25, 0.25],
    }


def test_each_component_has_its_own_advantages() -> None:
    estimator = GDPOAdvantageEstimator(AdvEstimatorConfig(name="gdpo"), None)
    found = estimator.compute_advantage(torch.zeros(4, 1), None, torch.ones(4, 1), columns())
    assert torch.isfinite(found).all()


def test_a_masked_rollout_has_no_loss_but_counts_in_the_mean_of_its_group() -> None:
    assert should_mask_flagged_samples({})
    flags = _extract_mask_sample_flags([{"full_result": one} for one in GROUP])
    assert flags.tolist() == [False, True, False, False]
    batch = {"loss_multiplier": torch.ones(4), "mask_sample": flags}
    assert _apply_mask_sample_filter(batch) == 1
    assert batch["loss_multiplier"].tolist() == [1.0, 0.0, 1.0, 1.0]
    assert advantages([1.0, 0.0, 0.0, 0.0])[2:] == [-0.577, -0.577]  # with the masked one
    assert advantages([1.0, 0.0, 0.0])[1:] == [-0.707, -0.707]  # without it


def test_the_single_controller_does_not_mask() -> None:
    def log() -> list[dict[str, Any]]:
        said = {"role": "assistant", "token_ids": torch.tensor([2]), "generation_logprobs": torch.tensor([-0.1])}
        return [{"role": "user", "token_ids": torch.tensor([1]), "content": "?"}, {**said, "content": "!"}]

    record = PromptGroupRecord(
        0, log()[:1], None, {}, [Completion(log(), one, False, one["reward"]) for one in GROUP], {}
    )
    batch = record_to_train_batch(record, pad_value_dict={"token_ids": 0})
    assert batch["total_reward"].tolist() == [1.0, 0.0, 0.25, 0.25]
    assert batch["sample_mask"].tolist() == [1.0, 1.0, 1.0, 1.0]


@pytest.mark.parametrize("status", [500, 503])
def test_an_error_makes_it_generate_another_rollout(status: int) -> None:
    class Answered(Exception):
        def __init__(self) -> None:
            super().__init__("this rollout has no score")
            self.status = status

    failure = bridge._typed_gym_failure(Answered())
    assert failure is not None
    assert classify_rollout_failure(failure) is FailureClass.INFRA
