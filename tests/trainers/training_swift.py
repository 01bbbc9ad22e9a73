"""A real GRPO training on the CPU with ms-swift's own entry, `rk.to_swift`, and a tiny model with random weights.

``python tests/trainers/training_swift.py FOLDER`` trains, logs to ``FOLDER/output`` and records to ``FOLDER/run``. The
model learns to write digits; some completions cannot be scored, as with a judge that is down at times.
"""

from __future__ import annotations

import json
import sys
import zlib
from pathlib import Path
from typing import Any

import rewardkit as rk
from tests.trainers.tiny import SPECIAL, make_model

STEPS = 20
_PLUGIN = """
import rewardkit as rk
from tests.trainers.training_swift import reward

names = rk.to_swift(reward, record={record!r}, limits=rk.Limits(max_failure_rate=0.5))
assert names == ["digits", "judged", "varied"], names
"""


@rk.reward
def digits(completion: str) -> float:
    """Return the share of digits."""
    return sum(letter.isdigit() for letter in completion) / max(len(completion), 1)


@rk.reward
def judged(completion: str) -> float:
    """Fail on one completion in twelve."""
    if zlib.crc32(completion.encode()) % 12 == 0:
        raise rk.RewardFailure("the judge is down")
    return float(not completion.startswith(" "))


@rk.reward
def varied(completion: str) -> float:
    """Return the share of distinct letters."""
    return len(set(completion)) / max(len(completion), 1)


@rk.reward
def markers(completion: str) -> float:
    """Return the share of special tokens, which are removed."""
    return float(any(token in completion for token in SPECIAL))


reward = digits + 0.1 * judged + rk.schedules.linear(0.0, 0.1) * varied + rk.monitor(markers)


def write_rows(path: Path, numbers: range) -> None:
    rows = [
        {"messages": [{"role": "user", "content": f"{number}+1?"}], "answer": str(number + 1)} for number in numbers
    ]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))


def train(folder: Path) -> None:
    from swift import rlhf_main

    options = f"""
        --rlhf_type grpo --model {folder / "model"} --model_type qwen2 --template qwen2_5 --use_hf true
        --external_plugins {folder / "my_rewards.py"} --reward_funcs digits judged varied
        --dataset {folder / "train.jsonl"} --val_dataset {folder / "held_out.jsonl"} --load_from_cache_file false
        --tuner_type full --torch_dtype float32 --use_cpu true --output_dir {folder / "output"} --save_strategy no
        --max_steps {STEPS} --learning_rate 1e-2 --beta 0 --num_generations 8 --per_device_train_batch_size 8
        --gradient_accumulation_steps 2 --eval_strategy steps --eval_steps 10 --num_generations_eval 4
        --per_device_eval_batch_size 8 --max_completion_length 16 --logging_steps 1 --report_to none --seed 1
        --dataset_num_proc 1 --dataloader_num_workers 0 --add_version false
    """
    rlhf_main(options.split())


def logged(folder: Path) -> list[dict[str, Any]]:
    """Return what ms-swift logged at each step, and at each evaluation."""
    return [json.loads(line) for line in (folder / "output" / "logging.jsonl").read_text().splitlines()]


def main(folder: Path) -> None:
    make_model(folder / "model")
    write_rows(folder / "train.jsonl", range(64))
    write_rows(folder / "held_out.jsonl", range(64, 72))
    (folder / "my_rewards.py").write_text(_PLUGIN.format(record=str(folder / "run")))
    train(folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
