"""OpenRLHF's own executor, sample generator and advantages with `rk.to_openrlhf`: the same totals, and a failed row
drops its group or ends the run."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

import rewardkit as rk
from rewardkit.online.batches import RunExit
from rewardkit.online.special_tokens import SpecialTokens
from tests.trainers.reward import SPECIAL, agrees, expected, rows
from tests.trainers.stubs import stub

stub("vllm", "deepspeed", "flash_attn", "pynvml", "wandb", "bitsandbytes", "torchdata", "optree", "pylatexenc")

import ray  # noqa: E402
from openrlhf.trainer.ppo_utils import samples_generator  # noqa: E402
from openrlhf.trainer.ppo_utils.experience import Experience, split_experience_batch  # noqa: E402
from openrlhf.trainer.ppo_utils.experience_maker import RemoteExperienceMaker  # noqa: E402
from openrlhf.trainer.ppo_utils.samples_generator import SamplesGenerator  # noqa: E402
from openrlhf.trainer.ray.vllm_engine import RolloutRayActor  # noqa: E402
from openrlhf.utils.agent import SingleTurnAgentExecutor  # noqa: E402

PROMPT = "<|im_start|>user\nHow many?<|im_end|>\n<|im_start|>assistant\n"
_FILE = """
import rewardkit as rk
from tests.trainers.reward import SPECIAL, reward


@rk.reward
def simple(completion: str) -> float:
    if completion == "down":
        raise rk.RewardFailure("down")
    return float(completion == "right")


reward_func = rk.to_openrlhf({reward}, special_tokens=SPECIAL, {options})
"""
_GENERATE = RolloutRayActor.__ray_metadata__.modified_class.generate_responses


class Characters:
    """A tokenizer whose tokens are characters."""

    pad_token_id = 0

    def __call__(self, text: str, **_: Any) -> dict[str, torch.Tensor]:
        return {"input_ids": torch.tensor([[ord(letter) for letter in text]])}

    def decode(self, ids: Sequence[int], skip_special_tokens: bool) -> str:
        assert not skip_special_tokens
        return "".join(map(chr, ids))


class Engine:
    """Writes given completions, prompt by prompt, as an actor of vLLM does."""

    def __init__(self, executor: SingleTurnAgentExecutor, completions: Iterator[str]) -> None:
        self.executor = executor
        self.completions = completions
        self.generate_responses = SimpleNamespace(remote=lambda **given: asyncio.run(_GENERATE(self, **given)))
        self.get_num_unfinished_requests = SimpleNamespace(remote=lambda: 0)

    async def generate(self, prompt: Any, params: Any, multi_modal_data: Any) -> Any:
        text = next(self.completions)
        ids = [ord(letter) for letter in text]
        return SimpleNamespace(outputs=[SimpleNamespace(token_ids=ids, text=text, finish_reason="stop", logprobs=None)])


def executor(folder: Path, options: str, reward: str = "reward") -> SingleTurnAgentExecutor:
    path = folder / "my_rewards.py"
    path.write_text(_FILE.format(reward=reward, options=options))
    return SingleTurnAgentExecutor([str(path)])


async def executed(own: SingleTurnAgentExecutor, completion: str, label: str) -> dict[str, Any]:
    params = SimpleNamespace(max_tokens=10, logprobs=None)
    engine = Engine(own, iter([completion]))
    found: dict[str, Any] = await own.execute(PROMPT, label, params, 10_000, Characters(), engine)
    return found


def test_totals_are_those_of_score(tmp_path: Path) -> None:
    given = rows()
    own = executor(tmp_path, "dynamic_filtering=True, limits=rk.Limits(max_failure_rate=1.0)")

    async def scored() -> list[dict[str, Any]]:
        return await asyncio.gather(*[executed(own, text + SPECIAL[1], gold) for text, gold in given])

    found = asyncio.run(scored())
    clean = SpecialTokens.of(SPECIAL)
    totals = [None if torch.isnan(torch.tensor(one["reward"])) else one["reward"] for one in found]
    right = expected([(clean.removed(text), gold) for text, gold in given])
    wrong = [place for place, (total, want) in enumerate(zip(totals, right, strict=True)) if not agrees(total, want)]
    assert wrong == [], [(given[place], totals[place], right[place]) for place in wrong[:3]]
    assert 100 < totals.count(None) < 2_000
    assert len({frozenset(one["extra_logs"]) for one in found}) == 1


def arguments(**algo: Any) -> Any:
    advantage = SimpleNamespace(estimator="group_norm", gamma=1.0, lambd=1.0, is_correction_level="off")
    return SimpleNamespace(
        algo=SimpleNamespace(advantage=advantage, dynamic_filtering_range=(0, 1), **algo),
        rollout=SimpleNamespace(n_samples_per_prompt=4, micro_batch_size=2),
        reward=SimpleNamespace(clip_range=(-10, 10)),
        train=SimpleNamespace(dynamic_batch_enable=False),
    )


def generated(
    monkeypatch: pytest.MonkeyPatch, own: SingleTurnAgentExecutor, completions: list[str], *, filtering: bool
) -> list[Experience]:
    """Return the samples of one prompt, and of those that replace it."""
    monkeypatch.setattr(ray, "get", lambda ref: ref)
    monkeypatch.setattr(ray, "wait", lambda refs, **_: (refs[:1], refs[1:]))
    monkeypatch.setattr(samples_generator, "SamplingParams", SimpleNamespace)
    generator = SamplesGenerator(
        SimpleNamespace(args=arguments()), None, None, Characters(), [Engine(own, iter(completions))]
    )
    prompts = iter([("default", [PROMPT], ["42"], [None])] * 3)
    samples, _, _ = generator._generate_vllm(prompts, 1, filtering, max_new_tokens=64, max_len=4_096)
    found: list[Experience] = samples
    return found


def advantages(samples: list[Experience]) -> list[float]:
    maker = RemoteExperienceMaker.__new__(RemoteExperienceMaker)
    maker.args = arguments()
    maker.strategy, maker.tokenizer = SimpleNamespace(args=maker.args), Characters()
    maker.advantage_estimator, maker.kl_ctl = "group_norm", SimpleNamespace(value=0.0)
    batches = maker.split_rollout_samples(samples)
    for batch in batches:
        batch.kl = torch.zeros_like(batch.action_mask, dtype=torch.float32)
    last = [item for batch in maker.compute_advantages_and_returns(batches) for item in split_experience_batch(batch)]
    return [round(item.advantages[item.action_mask.bool()][-1].item(), 3) for item in last]


ONE, ZERO, DOWN = "right", "wrong", "down"


def test_the_group_of_a_failed_row_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = executor(tmp_path, "dynamic_filtering=True", "simple")
    samples = generated(monkeypatch, own, [ONE, DOWN, ZERO, ZERO, ONE, ZERO, ZERO, ZERO], filtering=True)
    assert [sample.rewards.item() for sample in samples] == [1.0, 0.0, 0.0, 0.0]
    assert advantages(samples) == [1.5, -0.5, -0.5, -0.5]
    assert {"simple", "components/simple", "reward", "score"} <= samples[0].info.keys()


def test_without_filtering_a_nan_would_spread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = executor(tmp_path, "dynamic_filtering=True", "simple")
    samples = generated(monkeypatch, own, [ONE, DOWN, ZERO, ZERO], filtering=False)
    assert torch.tensor(advantages(samples)).isnan().all()


def test_without_filtering_a_failed_row_passes_the_handler(tmp_path: Path) -> None:
    own = executor(tmp_path, "patience=0.1", "simple")
    assert asyncio.run(executed(own, ONE, "42"))["reward"] == 1.0
    with pytest.raises(RunExit, match=r"a completion has no score: simple: down"):
        asyncio.run(executed(own, DOWN, "42"))


def test_too_many_failures_pass_the_handler(tmp_path: Path) -> None:
    own = executor(tmp_path, "dynamic_filtering=True, limits=rk.Limits(max_failure_rate=0.0)", "simple")

    async def scored() -> None:
        await asyncio.gather(*[executed(own, DOWN, "42") for _ in range(1_280)])

    with pytest.raises(RunExit, match=r"'simple' failed on 1,280 of 1,280"):
        asyncio.run(scored())


def test_a_prompt_that_was_cut_has_no_score(tmp_path: Path) -> None:
    own = executor(tmp_path, "", "simple")
    params = SimpleNamespace(max_tokens=10, logprobs=None)
    with pytest.raises(RunExit, match=r"does not begin with the prompt"):
        asyncio.run(own.execute(PROMPT, "42", params, 30, Characters(), Engine(own, iter([ONE]))))


def test_a_failed_row_ends_a_run_on_ray(tmp_path: Path) -> None:
    own = executor(tmp_path, "patience=0.1", "simple")
    path = own.reward_endpoints[0]

    class Actor:
        async def rollout(self, completion: str) -> Any:
            return (await executed(SingleTurnAgentExecutor(path), completion, "42"))["reward"]

    try:
        ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False)
    except Exception as error:
        pytest.skip(f"Ray does not start here: {error}")
    try:
        actor = ray.remote(Actor).remote()
        assert ray.get(actor.rollout.remote(ONE)) == 1.0
        with pytest.raises(ray.exceptions.RayTaskError, match=r"RunExit: .*a completion has no score: simple: down"):
            ray.get(actor.rollout.remote(DOWN))
    finally:
        ray.shutdown()


def test_labels_may_hold_several_columns(tmp_path: Path) -> None:
    @rk.reward
    def equal(completion: str, answer: str, level: int) -> float:
        return float(completion == answer and level == 2)

    own = SingleTurnAgentExecutor()
    own.reward_endpoints, own.reward_func = ["my_rewards.py"], rk.to_openrlhf(equal, special_tokens=SPECIAL)
    assert asyncio.run(executed(own, "42<|im_end|>", '{"answer": "42", "level": 2}'))["reward"] == 1.0
