"""Rejection sampling and DPO: train on the best of eight completions, or on pairs of a better and a worse one.

    python cookbook/rejection_sampling.py
    python cookbook/rejection_sampling.py --model Qwen/Qwen2.5-0.5B-Instruct --steps 200

The task: ``send Mia 31 toys in red`` becomes JSON. The model answers each order eight times; ``rewardkit score`` writes
the best answers for TRL's SFTTrainer, and pairs for its DPOTrainer. Compare both on held-out orders.
"""

from __future__ import annotations

import copy
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from training import ORDERS, model_of, options, rows_of, table

import rewardkit as rk
from rewardkit.cli.main import main as rewardkit

valid = rk.json_valid(kind="object").named("valid")
fields = rk.json_match("order").named("fields")
reward = 0.2 * valid + 0.8 * fields

PROMPTS = 256
SAMPLES = 8
BATCH = 16


def main(arguments: Sequence[str] | None = None) -> None:
    chosen = options(__doc__, arguments, steps=60)
    base, tokenizer = model_of(ORDERS, chosen)
    if isinstance(base, str):
        from transformers import AutoModelForCausalLM

        base = AutoModelForCausalLM.from_pretrained(base)
    held_out = rows_of(ORDERS, chosen, tokenizer, 64, "held-out")

    chosen.out.mkdir(parents=True, exist_ok=True)
    samples, scored = chosen.out / "samples.jsonl", chosen.out / "scored.jsonl"
    rows = sampled(base, tokenizer, rows_of(ORDERS, chosen, tokenizer, PROMPTS, "training") * SAMPLES)
    samples.write_text("".join(json.dumps(row) + "\n" for row in rows))
    rewardkit(["score", str(samples), "--reward", f"{__file__}:reward", "--out", str(scored)])
    files = {"SFT": chosen.out / "sft.jsonl", "DPO": chosen.out / "dpo.jsonl"}
    for rule, file in ((["--keep", "best,above:0.9"], files["SFT"]), (["--pairs", "--gap", "0.2"], files["DPO"])):
        if rewardkit(["score", str(scored), *rule, "--out", str(file)]) != 0:
            sys.exit("nothing to train on: the model needs a longer warm start")

    totals = {"before": mean(base, tokenizer, held_out)}
    for kind, file in files.items():
        model = trained(kind, base, tokenizer, file, chosen)
        totals[kind] = mean(model, tokenizer, held_out)
    table({"held out": list(totals), "mean total": list(totals.values())})


def sampled(model: Any, tokenizer: Any, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows, each with a completion sampled at temperature 1."""
    from rewardkit_adapters.runner.held_out import Sampling, generate

    sampling = Sampling({"max_new_tokens": 64, "do_sample": True, "temperature": 1.0, "top_k": 0}, batch=64)
    found = generate(model, tokenizer, [row["prompt"] for row in rows], sampling)
    return [{**row, "completion": one.text} for row, one in zip(rows, found, strict=True)]


def mean(model: Any, tokenizer: Any, rows: list[dict[str, Any]]) -> float:
    """Return the mean total of one completion for each row."""
    said = [row["completion"] for row in sampled(model, tokenizer, rows)]
    return float(rk.score(reward, said, order=[row["order"] for row in rows]).total.mean())


def trained(kind: str, base: Any, tokenizer: Any, file: Path, chosen: Any) -> Any:
    """Return a copy of the model that TRL's SFTTrainer or DPOTrainer trained on the file, as it was written."""
    import datasets
    import torch
    import trl
    from transformers import PrinterCallback

    from rewardkit_adapters.runner.environment import quiet

    gpu, is_tiny = torch.cuda.is_available(), chosen.model == "tiny"
    datasets.disable_progress_bars()
    data = datasets.load_dataset("json", data_files=str(file), split="train", cache_dir=str(chosen.out / "cache"))
    options = {"ref_model": copy.deepcopy(base)} if kind == "DPO" else {}
    with quiet():
        config = getattr(trl, f"{kind}Config")(
            output_dir=str(chosen.out / kind),
            max_steps=chosen.steps,
            per_device_train_batch_size=BATCH,
            learning_rate=3e-4 if is_tiny else 1e-5 if kind == "SFT" else 1e-6,
            seed=chosen.seed,
            bf16=gpu and torch.cuda.is_bf16_supported(),
            use_cpu=not gpu,
            gradient_checkpointing=not is_tiny,
            save_strategy="no",
            report_to="none",
            disable_tqdm=True,
        )
        trainer = getattr(trl, f"{kind}Trainer")(
            copy.deepcopy(base), args=config, train_dataset=data, processing_class=tokenizer, **options
        )
        trainer.remove_callback(PrinterCallback)
        trainer.train()
    return trainer.model


if __name__ == "__main__":
    main()
