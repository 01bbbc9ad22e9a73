"""How much of a training step do rewards take: plain functions, rewardkit, rewardkit with a record?

A Qwen2 with 0.49 billion parameters (the shape of Qwen2.5-0.5B, 151,936 tokens) and random weights generates
completions and is trained by TRL's GRPOTrainer. It generates noise, and a reward that stops at the first missing tag
scores noise quickly. So the completions of the rubric (`rubric_workload`) are scored instead, the same for all arms.
The three arms take turns, step by step in one training, in both orders, so that a GPU that warms up slows all of them
equally.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast, PrinterCallback, Qwen2Config, Qwen2ForCausalLM, TrainerCallback
from trl import GRPOConfig, GRPOTrainer

import rewardkit as rk
from benchmarks.gpu.report import ARMS
from benchmarks.speed.rubric_rewardkit import make_reward
from benchmarks.speed.rubric_trl import fast_functions
from benchmarks.speed.rubric_workload import COMPONENTS, GENERATIONS, WEIGHTS, Workload, make_workload

PLAIN, OURS, RECORDED = ARMS
CHARACTERS = 1_200


@dataclass(frozen=True)
class Size:
    """The shape of the model, and the work per step."""

    vocabulary: int
    hidden: int
    intermediate: int
    layers: int
    heads: int
    key_value_heads: int
    completions: int
    tokens: int
    rounds: int


REAL = Size(151_936, 896, 4_864, 24, 14, 2, completions=64, tokens=128, rounds=5)
SMALL = Size(2_048, 64, 128, 2, 4, 2, completions=16, tokens=16, rounds=8)


@dataclass(frozen=True)
class Arm:
    """One way to score: what the trainer uses when it is this arm's turn."""

    name: str
    functions: list[Any]
    weights: list[float]
    callback: TrainerCallback | None = None

    def take_over(self, trainer: Any) -> None:
        trainer.reward_funcs = self.functions
        trainer.reward_func_names = [function.__name__ for function in self.functions]
        trainer.reward_processing_classes = [None] * len(self.functions)
        trainer.reward_weights = torch.tensor(self.weights)


class Measured(GRPOTrainer):  # type: ignore[misc]
    """A trainer that scores the rubric's completions instead of the model's own and measures the time this takes."""

    workload: Workload
    scoring: list[float]
    sums: dict[str, list[float]]
    arm: Arm

    def _calculate_rewards(self, inputs: Any, prompts: Any, completions: Any, completion_ids_list: Any) -> Any:
        rows = self.workload.fresh()
        given = [{"prompt": prompt, "total": total} for prompt, total in zip(rows.prompts, rows.totals, strict=True)]
        ids = rows.completion_ids()
        _wait()
        began = time.perf_counter()
        rewards = super()._calculate_rewards(given, rows.prompts, rows.completions, ids)
        _wait()
        self.scoring.append(time.perf_counter() - began)
        self.sums[self.arm.name] = (rewards.cpu() * self.reward_weights).nansum(dim=1).tolist()
        return rewards


class Turns(TrainerCallback):  # type: ignore[misc]
    """Let the arms take turns, one step each, and time each step up to the start of the next, including its logs."""

    def __init__(self, trainer: Measured, arms: Sequence[Arm], save: Callable[[], None]) -> None:
        self.trainer, self.arms, self.save = trainer, arms, save
        # Tells rewardkit that its callback is installed; otherwise it would add one that runs in every arm's steps.
        self.evaluators = [one for arm in arms for one in getattr(arm.callback, "evaluators", ())]
        self.steps: list[tuple[str, float, float]] = []
        """(arm, seconds of the step, seconds in the arm's own callback)."""
        self._began: float | None = None
        self._called = 0.0

    def on_step_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self._close()
        turn, place = divmod(state.global_step, len(self.arms))
        arm = self.arms[place if turn % 2 == 0 else -1 - place]
        self.trainer.arm = arm
        arm.take_over(self.trainer)
        _wait()
        self._began, self._called = time.perf_counter(), 0.0
        self._forward("on_step_begin", args, state, control, **kwargs)

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self._forward("on_step_end", args, state, control, **kwargs)

    def on_log(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if self._began is not None:
            self._forward("on_log", args, state, control, **kwargs)

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self._close()
        self._began = None
        for arm in self.arms:
            if arm.callback is not None:
                arm.callback.on_train_end(args, state, control, **kwargs)

    def _forward(self, event: str, *given: Any, **kwargs: Any) -> None:
        if self.trainer.arm.callback is not None:
            began = time.perf_counter()
            getattr(self.trainer.arm.callback, event)(*given, **kwargs)
            self._called += time.perf_counter() - began

    def _close(self) -> None:
        if self._began is not None:
            _wait()
            self.steps.append((self.trainer.arm.name, time.perf_counter() - self._began, self._called))
            self.save()


def measure(out: Path, save: Callable[[dict[str, Any]], None], *, small: bool) -> None:
    """Measure full training and LoRA with all arms; the results so far are saved after every step."""
    size = SMALL if small else REAL
    found: dict[str, Any] = {"completions": size.completions, "tokens": size.tokens, "settings": {}}
    tokenizer = _tokenizer(size.vocabulary)
    for name, lora in (("full", False), ("LoRA", True)):
        torch.manual_seed(0)
        model = _model(size, tokenizer, bf16=not small)
        found["parameters"] = sum(parameter.numel() for parameter in model.parameters())
        found["dtype"] = str(model.dtype).removeprefix("torch.")
        part: dict[str, Any] = {}
        found["settings"][name] = part

        def update(numbers: dict[str, Any], part: dict[str, Any] = part) -> None:
            part.update(numbers)
            save(found)

        _train(model, tokenizer, size, out / name, lora, small, update)
        del model
        gc.collect()  # the trainer and its model refer to each other
        if not small:
            torch.cuda.empty_cache()


def _train(
    model: Any, tokenizer: Any, size: Size, out: Path, lora: bool, small: bool, update: Callable[[dict[str, Any]], None]
) -> None:
    arms = _arms(out)
    steps = len(arms) * (size.rounds + 1)  # the first round warms up
    rows = steps * size.completions // GENERATIONS + GENERATIONS
    config = GRPOConfig(
        output_dir=str(out),
        max_steps=steps,
        per_device_train_batch_size=min(16, size.completions),
        gradient_accumulation_steps=max(1, size.completions // 16),
        num_generations=GENERATIONS,
        max_completion_length=size.tokens,
        learning_rate=1e-6,
        beta=0.0,
        bf16=not small,
        use_cpu=small,
        gradient_checkpointing=False,
        logging_steps=1,
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
        seed=0,
    )
    trainer = Measured(
        model,
        arms[0].functions,
        args=config,
        train_dataset=Dataset.from_dict({"prompt": [_prompt(row, size.vocabulary) for row in range(rows)]}),
        processing_class=tokenizer,
        peft_config=_lora() if lora else None,
    )
    whole = make_workload(CHARACTERS)
    first = slice(0, size.completions)
    trainer.workload = Workload(whole.completions[first], whole.prompts[first], whole.totals[first], whole.lengths)
    trainer.scoring, trainer.sums = [], {}
    trainer.remove_callback(PrinterCallback)
    if not small:
        torch.cuda.reset_peak_memory_stats()
    turns = Turns(trainer, arms, lambda: update(_numbers(turns.steps, trainer, small)))
    trainer.add_callback(turns)
    trainer.train()


def _arms(out: Path) -> list[Arm]:
    lengths = (CHARACTERS // 2, CHARACTERS * 5 // 4)
    reward = make_reward(lengths)
    bare, recorded = rk.to_trl(reward), rk.to_trl(reward, record=out / "record")
    return [
        Arm(PLAIN, list(fast_functions(lengths)), [WEIGHTS[component] for component in COMPONENTS]),
        Arm(OURS, bare, [1.0] * len(bare), bare.callback()),
        Arm(RECORDED, recorded, [1.0] * len(recorded), recorded.callback()),
    ]


def _numbers(steps: list[tuple[str, float, float]], trainer: Measured, small: bool) -> dict[str, Any]:
    """Return medians over the rounds after the first, and the time added to the plain step, round by round."""
    timed = [
        (name, whole, scored + called) for (name, whole, called), scored in zip(steps, trainer.scoring, strict=True)
    ]
    rounds = [
        {name: (whole, scored) for name, whole, scored in timed[at : at + len(ARMS)]}
        for at in range(len(ARMS), len(timed) - len(ARMS) + 1, len(ARMS))
    ]
    everyone = len(trainer.sums) == len(ARMS)
    found: dict[str, Any] = {"rounds": len(rounds), "same_scores": _same(trainer.sums) if everyone else None}
    if not small:
        found["peak_gib"] = round(torch.cuda.max_memory_allocated() / 2**30, 2)
    for name in (PLAIN, OURS, RECORDED) if rounds else ():
        plain = [one[PLAIN][0] for one in rounds]
        found[name] = {
            "step_s": statistics.median(one[name][0] for one in rounds),
            "steps_s": [round(one[name][0], 4) for one in rounds],
            "scoring_ms": 1e3 * statistics.median(one[name][1] for one in rounds),
            "step_over_plain": statistics.median(one[name][0] / base for one, base in zip(rounds, plain, strict=True)),
            "scoring_added_share": statistics.median((one[name][1] - one[PLAIN][1]) / one[PLAIN][0] for one in rounds),
        }
    return found


def _same(sums: dict[str, list[float]]) -> bool:
    """Whether all arms gave every completion the same reward; otherwise the times cannot be compared."""
    plain = torch.tensor(sums[PLAIN])
    return all(torch.allclose(torch.tensor(other), plain, atol=1e-5) for other in sums.values())


def _model(size: Size, tokenizer: Any, *, bf16: bool) -> Any:
    config = Qwen2Config(
        vocab_size=size.vocabulary,
        hidden_size=size.hidden,
        intermediate_size=size.intermediate,
        num_hidden_layers=size.layers,
        num_attention_heads=size.heads,
        num_key_value_heads=size.key_value_heads,
        max_position_embeddings=4_096,
        tie_word_embeddings=True,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=None,
    )
    return Qwen2ForCausalLM(config).to(torch.bfloat16 if bf16 else torch.float32)


def _lora() -> Any:
    from peft import LoraConfig

    return LoraConfig(r=16, lora_alpha=32, target_modules="all-linear", task_type="CAUSAL_LM")


def _tokenizer(vocabulary: int) -> PreTrainedTokenizerFast:
    """Return a tokenizer with `vocabulary` words, one token each."""
    words = Tokenizer(models.WordLevel({f"w{number}": number for number in range(vocabulary)}, unk_token="w2"))
    words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return PreTrainedTokenizerFast(tokenizer_object=words, pad_token="w0", eos_token="w1", padding_side="left")


def _prompt(row: int, vocabulary: int) -> str:
    """Return a prompt of 64 words."""
    return " ".join(f"w{3 + (row * 64 + place) % (vocabulary - 3)}" for place in range(64))


def _wait() -> None:
    if torch.cuda.is_available():
        torch.cuda.synchronize()
