"""Use an installed rewardkit as a user would; `.ci/matrix.py` runs this with the Python of a clean environment.

``python smoke.py core`` needs no extra: it imports and scores. ``python smoke.py train`` needs the extra ``train``: it
also scores, checks and trains the bundled project from the command line, and trains with plain TRL, for two steps each.
"""

from __future__ import annotations

import importlib.metadata
import json
import subprocess
import sys
import tempfile
from pathlib import Path

SHOWN = ("torch", "transformers", "trl", "datasets", "numpy", "pydantic")


def imports() -> None:
    import rewardkit as rk

    assert Path(sys.prefix) in Path(rk.__file__).parents, f"{rk.__file__} is not the installed package"
    assert importlib.metadata.version("rewardkit-sdk") == rk.__version__
    for name in rk.__all__:
        try:
            getattr(rk, name)
        except rk.errors.MissingExtraError as missing:
            if "pip install" not in str(missing):
                raise


def score() -> None:
    import rewardkit as rk

    table = rk.score(rk.number("answer"), ["<answer>42</answer>", "I do not know"], answer=["42", "7"])
    assert table.total.tolist() == [1.0, 0.0], table

    @rk.reward
    def brief(completion: str, limit: int) -> float:
        return float(len(completion) <= limit)

    assert rk.score(2 * brief, ["ab", "abc"], limit=["2", "2"]).total.tolist() == [2.0, 0.0]


def command(*arguments: str, cwd: Path) -> str:
    """Run the installed ``rewardkit`` and return what it prints."""
    program = Path(sys.executable).parent / "rewardkit"
    done = subprocess.run([program, *arguments], cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, f"rewardkit {' '.join(arguments)}: {done.stdout}{done.stderr}"
    return done.stdout


def project(folder: Path) -> None:
    """Score, check and train the bundled project."""
    command("init", "orders", cwd=folder)
    orders = folder / "orders"
    rows = [json.loads(line) for line in (orders / "data.jsonl").read_text(encoding="utf-8").splitlines()[:8]]
    saved = [json.dumps({"completion": json.dumps(row["order"]), "order": row["order"]}) for row in rows]
    (orders / "saved.jsonl").write_text("\n".join(saved), encoding="utf-8")
    command("score", "saved.jsonl", "--reward", "reward.py:reward", "--out", "scored.parquet", cwd=orders)
    command("check", "reward.py:reward", "--no-exploits", "--budget", "20", cwd=orders)
    short = ["model.warm_up_steps=2", "grpo.max_steps=2", "eval.prompts=2", "preflight.laws=false"]
    command("train", "run.yaml", *(f"--set={text}" for text in short), cwd=orders)
    assert (orders / "runs" / "orders" / "model" / "config.json").is_file()


def plain_trl(folder: Path) -> None:
    """Train with GRPOTrainer for two steps: a reward of the library and a plain function."""
    from datasets import Dataset
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from trl import GRPOConfig, GRPOTrainer

    import rewardkit as rk

    def length(completions: list[str], **kwargs: object) -> list[float]:
        return [float(len(text)) for text in completions]

    model = folder / "orders" / "runs" / "orders" / "model"
    functions = rk.to_trl(rk.number("answer") + 0.1 * rk.from_trl(length))
    arguments = GRPOConfig(
        str(folder / "trl"), max_steps=2, per_device_train_batch_size=4, num_generations=4, max_completion_length=8,
        reward_weights=functions.reward_weights, use_cpu=True, bf16=False, report_to=[], logging_steps=1,
        save_strategy="no",
    )  # fmt: skip
    trainer = GRPOTrainer(
        AutoModelForCausalLM.from_pretrained(model), functions, args=arguments,
        train_dataset=Dataset.from_dict({"prompt": ["send Mia 31 toys in red\n"] * 8, "answer": ["31"] * 8}),
        processing_class=AutoTokenizer.from_pretrained(model, padding_side="left"), callbacks=[functions.callback()],
    )  # fmt: skip
    trainer.train()
    logged = [row for row in trainer.state.log_history if "reward" in row]
    assert len(logged) == 2, trainer.state.log_history
    assert any(name.startswith("components/") for name in logged[0]), logged[0]


def versions() -> str:
    found = []
    for name in SHOWN:
        try:
            found.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            continue
    return ", ".join(found)


def main(kind: str) -> None:
    print(f"installed: {versions()}", flush=True)
    imports()
    score()
    if kind == "train":
        with tempfile.TemporaryDirectory() as folder:
            project(Path(folder))
            plain_trl(Path(folder))


if __name__ == "__main__":
    main(sys.argv[1])
