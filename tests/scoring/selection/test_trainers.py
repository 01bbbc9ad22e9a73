"""TRL's SFTTrainer and DPOTrainer train on the files that ``rewardkit score --keep`` and ``--pairs`` write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rewardkit.cli.main import main
from tests.scoring import replayed

pytestmark = pytest.mark.slow

TEMPLATE = (
    "{% if tools %}{{ tools | tojson }}{% endif %}{% for message in messages %}<|im_start|>{{ message['role'] }}\n"
    "{{ message['content'] or '' }}{% for call in message['tool_calls'] or [] %}"
    "{{ call['function'] | tojson }}{% endfor %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def call(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    return {"role": "assistant", "content": None, "tool_calls": [{"type": "function", "function": function}]}


def tool(name: str, properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": properties}}}


def texts() -> list[dict[str, Any]]:
    """Plain texts, with columns that a trainer would misread."""
    return [
        {"prompt": f"{row}+1?", "completion": f"<answer>{row + wrong}</answer>", "answer": row + 1, "text": "t"}
        for wrong in (1, 0)
        for row in range(4)
    ]


def chats() -> list[dict[str, Any]]:
    """Prompts are messages, completions are texts."""
    return [{**row, "prompt": [{"role": "user", "content": row["prompt"]}], "labels": [1]} for row in texts()]


def agents() -> list[dict[str, Any]]:
    """Whole conversations, whose calls and tools have arguments of different types."""
    return [
        {
            "messages": [
                {"role": "system", "content": "Use tools."},
                {"role": "user", "content": row["prompt"]},
                call("add", {"x": 1}) if place % 2 else call("find", {"x": ["one"]}),
                {"role": "tool", "content": "2"},
                {"role": "assistant", "content": row["completion"]},
            ],
            "tools": [tool("add", {"x": {"type": "integer"}}) if place % 2 else tool("find", {"x": {"type": "array"}})],
            "answer": row["answer"],
        }
        for place, row in enumerate(texts())
    ]


DATA = {"texts": texts, "chats": chats, "agents": agents}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tests.trainers.tiny import make_model  # torch, which the quick tests need not import

    folder = tmp_path_factory.mktemp("model")
    make_model(folder)
    return folder


def trained(model: Path, path: Path, kind: str) -> tuple[Any, list[str]]:
    """Train for two steps; return the trainer, and the texts of its first row."""
    import trl
    from datasets import load_dataset
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(model)
    tokenizer.chat_template = TEMPLATE
    data = load_dataset(
        "parquet" if path.suffix == ".parquet" else "json",
        data_files=str(path),
        split="train",
        cache_dir=str(path.parent / "cache"),
    )
    options = getattr(trl, f"{kind}Config")(
        str(path.parent / "out"),
        max_steps=2,
        per_device_train_batch_size=2,
        report_to=[],
        use_cpu=True,
        bf16=False,
        gradient_checkpointing=False,
        save_strategy="no",
        max_length=None,
    )
    found = getattr(trl, f"{kind}Trainer")(
        model=AutoModelForCausalLM.from_pretrained(model),
        args=options,
        train_dataset=data,
        processing_class=tokenizer,
    )
    found.train()
    row = found.train_dataset[0]
    names = [name for name in ("input_ids", "prompt_ids", "chosen_ids", "rejected_ids") if name in row]
    return found, [tokenizer.decode(row[name]) for name in names]


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
@pytest.mark.parametrize("data", DATA)
def test_sft_trains_on_the_best(model: Path, tmp_path: Path, data: str, ending: str) -> None:
    source, out = tmp_path / "data.jsonl", tmp_path / f"sft.{ending}"
    source.write_text("".join(json.dumps(row) + "\n" for row in DATA[data]()))
    assert (
        main(["score", str(source), "--keep", "best", "--reward", f"{replayed.TARGET}number", "--out", str(out)]) == 0
    )
    trainer, (text,) = trained(model, out, "SFT")
    assert len(trainer.train_dataset) == 4
    assert text.rstrip().endswith("<answer>1</answer><|im_end|>")  # the end, which a column `text` would cost
    assert ('{"name":"find","arguments":{"x":["one"]}}' in "".join(text.split())) is (data == "agents")
    learned = [label for label in trainer.train_dataset[0]["labels"] if label != -100]
    assert len(learned) < len(trainer.train_dataset[0]["input_ids"])  # the prompt is not learned


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
@pytest.mark.parametrize("data", DATA)
def test_dpo_trains_on_pairs(model: Path, tmp_path: Path, data: str, ending: str) -> None:
    source, out = tmp_path / "data.jsonl", tmp_path / f"dpo.{ending}"
    source.write_text("".join(json.dumps(row) + "\n" for row in DATA[data]()))
    options = ["--reward", f"{replayed.TARGET}number", "--out", str(out)]
    assert main(["score", str(source), "--pairs", *options]) == 0
    trainer, (prompt, chosen, rejected) = trained(model, out, "DPO")
    assert len(trainer.train_dataset) == 4
    assert "0+1?" in prompt
    assert chosen.rstrip().endswith("<answer>1</answer><|im_end|>")
    assert rejected.rstrip().endswith("<answer>0</answer><|im_end|>")
    assert ("find" in chosen) is (data == "agents")
