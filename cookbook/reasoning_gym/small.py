"""Train a tiny model on one task of reasoning-gym, on a CPU, in a few minutes.

``python cookbook/reasoning_gym/small.py`` makes a model with half a million parameters and shows it sloppy
demonstrations: some answers are wrong, some lack the tag. Then `rewardkit train run.yaml` trains it on the legs of one
kind of animal, and scores it before and after on questions that it has never seen. These completions are sampled, too:
the most likely one has the tag from the start.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
TASK = {"size": 300, "options": {"min_animals": 1, "max_animals": 1, "max_instances": 9}}
HELD_OUT = 48
WRONG_SHARE, UNTAGGED_SHARE = 0.25, 0.25


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("runs/reasoning_gym_small"), help="a new folder: %(default)s")
    parser.add_argument("--steps", type=int, default=60, help="of GRPO: %(default)s")
    parser.add_argument("--warm-up", type=int, default=400, help="supervised steps: %(default)s")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    sets = {
        "model": str(options.out.absolute() / "model"),
        "dataset": json.dumps({"reasoning_gym": "leg_counting", "prompt": "{question}", **TASK}),
        "eval": json.dumps({"hold_out": HELD_OUT, "prompts": None, "greedy": False}),
        "grpo.max_steps": options.steps,
        "grpo.per_device_train_batch_size": 64,
        "grpo.gradient_accumulation_steps": 1,
        "grpo.max_completion_length": 16,
        "grpo.learning_rate": 1e-4,
        "output": str(options.out.absolute()),
        "seed": options.seed,
    }
    given = [f"{name}={value}" for name, value in sets.items()]
    make_model(options.out / "model", questions(given[1:]), steps=options.warm_up, seed=options.seed)
    command = [sys.executable, "-m", "rewardkit.cli.main", "train", str(HERE / "run.yaml")]
    sys.exit(subprocess.call([*command, *(word for one in given for word in ("--set", one))]))


def questions(sets: Sequence[str]) -> list[tuple[str, str]]:
    """Return the questions and answers of the training rows, without those held out."""
    from rewardkit_adapters.runner.config_file import read
    from rewardkit_adapters.runner.data import training_and_held_out

    training, _ = training_and_held_out(read(HERE / "run.yaml", list(sets)))
    return [(row["question"], row["answer"]) for row in training]


def make_model(folder: Path, known: Sequence[tuple[str, str]], *, steps: int, seed: int) -> None:
    """Make a model and a tokenizer that have seen `steps` batches of sloppy demonstrations."""
    import torch
    from transformers import set_seed

    from rewardkit_adapters.runner.tiny.make import BATCH, warm_up
    from rewardkit_adapters.runner.tiny.model import SIZES, build_model, train_tokenizer

    torch.set_num_threads(min(2, torch.get_num_threads()))
    set_seed(seed)
    draw = random.Random(seed)
    pairs = [(question, sloppy(answer, draw)) for question, answer in draw.choices(known, k=max(1, steps) * BATCH)]
    tokenizer = train_tokenizer([text for pair in known for text in (*pair, "<answer>0123456789</answer>")])
    model: Any = build_model(tokenizer, SIZES["small"])
    warm_up(model, tokenizer, pairs)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def sloppy(answer: str, draw: random.Random) -> str:
    """Return an answer as a sloppy teacher writes it."""
    if draw.random() < WRONG_SHARE:
        answer = str(abs(int(answer) + draw.choice((-4, -2, 2, 4))))
    return answer if draw.random() < UNTAGGED_SHARE else f"<answer>{answer}</answer>"


if __name__ == "__main__":
    main()
