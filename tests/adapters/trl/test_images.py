"""Prompts and completions with image parts: their text is read, and nothing breaks on the way to the record.

A tiny vision-language model is trained on an ``image`` column.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import rewardkit as rk


class Picture:
    """Like a PIL image: compared by identity, and not JSON."""


PICTURE = Picture()


def prompt(question: str) -> list[dict[str, Any]]:
    parts = [{"type": "image", "image": PICTURE}, {"type": "text", "text": question}]
    return [{"role": "user", "content": parts}]


def said(*parts: Any) -> list[dict[str, Any]]:
    content = [{"type": "text", "text": part} if isinstance(part, str) else {"type": "image"} for part in parts]
    return [{"role": "assistant", "content": content}]


@rk.reward
def repeats(completion: str, prompt: str) -> float:
    return float(prompt in completion)


def trl_function(completions: list[Any], prompts: list[Any], **kwargs: Any) -> list[float]:
    return [float(len(completion[0]["content"])) for completion in completions]


REWARD = rk.number("answer") + rk.tags("think", "answer") + repeats + rk.from_trl(trl_function)
PROMPTS = [prompt("How many?") for _ in range(4)]
COMPLETIONS = [
    said("<think>a</think>", None, "<answer>42</answer>"), said("How many? ", "42"), said(None), said("41"),
]  # fmt: skip
ANSWERS = [42] * 4


def test_the_text_of_parts_is_scored() -> None:
    table = rk.score(REWARD, COMPLETIONS, prompts=PROMPTS, answer=ANSWERS)
    assert table["number"].tolist() == [1.0, 1.0, 0.0, 0.0]
    assert table["tags"].tolist() == [1.0, 0.0, 0.0, 0.0]
    assert table["repeats"].tolist() == [0.0, 1.0, 0.0, 0.0]
    assert table["trl_function"].tolist() == [3.0, 2.0, 1.0, 1.0]
    assert "42" in repr(table)


def test_rows_with_one_image_are_one_group_although_each_has_its_own_list() -> None:
    ranked = rk.rank_in_group(rk.number("answer"))
    table = rk.score(ranked, COMPLETIONS, prompts=PROMPTS, answer=ANSWERS)
    assert len(set(table.total.tolist())) == 2


@pytest.mark.slow
def test_a_model_that_sees_is_trained(tmp_path: Path) -> None:
    """The image of the row reaches the function as PIL has it; groups and the record are as with text."""
    from datasets import Dataset, Image
    from PIL.Image import Image as Pixels, new

    from tests.adapters.trl import tiny

    @rk.reward
    def width(completion: str, prompt: str, image: Any, answer: int) -> float:
        assert isinstance(image, Pixels)
        assert (prompt, image.width) == ("How wide?", answer)
        return float(str(image.width) in completion)

    texts = ["It is 30 wide.", "It is 40 wide.", "No idea."]
    widths = [30, 40] * 4
    prompts = [[{"role": "user", "content": "How wide?"}] for _ in widths]
    columns = {"prompt": prompts, "image": [new("RGB", (size, 20)) for size in widths], "answer": widths}
    rows = Dataset.from_dict(columns).cast_column("image", Image())
    functions = rk.to_trl(
        width + 0.1 * rk.rank_in_group(rk.length.between(1, 3, unit="words", margin=5)), record=tmp_path / "run"
    )
    given = {"train_dataset": rows, **tiny.writer_of(texts, sees=True)}
    trainer = tiny.trainer(tmp_path / "out", list(functions), given=given, max_steps=2, max_completion_length=1)
    trainer.train()
    assert all(line["grad_norm"] > 0 for line in trainer.state.log_history if "loss" in line)
    functions.flush()
    recorded = rk.open_run(tmp_path / "run")
    assert {row[6] for row in recorded.completions().fetchall()} <= {"", *texts}
    assert {row[1] for row in recorded.prompts().fetchall()} == {"How wide?"}


@pytest.mark.filterwarnings("ignore:to_trl")
def test_they_are_recorded(tmp_path: Path) -> None:
    functions = rk.to_trl(REWARD, record=tmp_path / "run")
    given = {"answer": ANSWERS, "image": [PICTURE] * 4, "completion_ids": [[1, 2]] * 4}
    scores = [function(prompts=PROMPTS, completions=COMPLETIONS, **given) for function in functions]
    assert [sum(values) for values in zip(*scores, strict=True)] == [5.0, 4.0, 1.0, 1.0]
    functions.flush()
    run = rk.open_run(tmp_path / "run")
    texts = run.completions().order("row").fetchall()
    assert [row[6] for row in texts] == ["<think>a</think><answer>42</answer>", "How many? 42", "", "41"]
    assert [row[1] for row in run.prompts().fetchall()] == ["How many?"]


# A training of a vision-language model: its functions get the images that the dataset decodes.


WORDS = ["<pad>", "<unk>", "<eos>", "<image>", "user", "assistant", ":", "How", "wide", "?", "It", "is", "30", "40"]
TEMPLATE = """\
{% for message in messages %}{{ message['role'] }} : \
{% if message['content'] is string %}{{ message['content'] }}\
{% else %}{% for part in message['content'] %}\
{% if part['type'] == 'image' %}<image> {% else %}{{ part['text'] }}{% endif %}{% endfor %}\
{% endif %} {% endfor %}{% if add_generation_prompt %}assistant : {% endif %}"""


def processor() -> Any:
    transformers = pytest.importorskip("transformers")
    tokenizers = pytest.importorskip("tokenizers")
    words = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({word: index for index, word in enumerate(WORDS)}, unk_token="<unk>")
    )
    words.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=words,
        pad_token="<pad>",
        unk_token="<unk>",
        eos_token="<eos>",
        extra_special_tokens={"image_token": "<image>"},
    )
    # Transformers 5 has two versions; the other one needs torchvision.
    kind = getattr(transformers, "CLIPImageProcessorPil", None) or transformers.CLIPImageProcessor
    images = kind(size={"shortest_edge": 8}, crop_size={"height": 8, "width": 8})
    return transformers.LlavaProcessor(
        images, tokenizer, patch_size=4, vision_feature_select_strategy="default", chat_template=TEMPLATE,
        num_additional_image_tokens=1, image_token="<image>",
    )  # fmt: skip


def vision_model() -> Any:
    transformers = pytest.importorskip("transformers")
    sizes = {"hidden_size": 16, "intermediate_size": 16, "num_attention_heads": 2}
    vision = transformers.CLIPVisionConfig(**sizes, num_hidden_layers=2, image_size=8, patch_size=4, projection_dim=16)
    text = transformers.LlamaConfig(
        **sizes, num_hidden_layers=1, num_key_value_heads=2, vocab_size=len(WORDS),
        pad_token_id=0, eos_token_id=2, bos_token_id=None,
    )  # fmt: skip
    config = transformers.LlavaConfig(
        vision_config=vision, text_config=text, image_token_index=3, image_token_id=3, vision_feature_layer=-1
    )
    return transformers.LlavaForConditionalGeneration(config)


@pytest.mark.slow
def test_a_vision_model_is_trained_with_its_images(tmp_path: Path) -> None:
    datasets, image_module = pytest.importorskip("datasets"), pytest.importorskip("PIL.Image")
    pytest.importorskip("trl")
    from tests.adapters.trl import tiny

    calls: list[tuple[str, Any, int]] = []

    def width(completion: str, prompt: str, image: Any, answer: int) -> float:
        calls.append((prompt, image, answer))
        return float(str(image.width) in completion)

    def parts(prompts: list[Any], image: list[Any], **columns: Any) -> list[float]:
        return [len(prompt[0]["content"]) / 2 for prompt in prompts]

    width.__annotations__["image"] = image_module.Image
    ranked = rk.rank_in_group(rk.length.between(1, 3, unit="words", margin=5))
    reward = rk.reward(width) + 0.5 * ranked + rk.from_trl(parts)
    widths = [30, 40, 30, 40]
    columns = {
        "prompt": [[{"role": "user", "content": "How wide?"}]] * 4,
        "image": [image_module.new("RGB", (width, 20)) for width in widths],
        "answer": widths,
    }
    data = datasets.Dataset.from_dict(columns).cast_column("image", datasets.Image())
    trainer = tiny.trainer(
        tmp_path / "out",
        rk.to_trl(reward, record=tmp_path / "run"),
        max_steps=2,
        given={"model": vision_model(), "train_dataset": data, "processing_class": processor()},
    )
    trainer.train()
    assert trainer.state.global_step == 2
    assert {(prompt, image.width, answer) for prompt, image, answer in calls} == {("How wide?", n, n) for n in widths}
    assert all(isinstance(image, image_module.Image) for _, image, _ in calls)
    log = trainer.state.log_history[0]
    assert log["components/parts"] == 1.0
    assert log["components/length_between_rank"] == 0.5
    run = rk.open_run(tmp_path / "run")
    assert len(run.completions().fetchall()) == 16
    cells = [json.loads(row[0]) for row in run.prompts().project("columns").fetchall()]
    assert {cell["answer"] for cell in cells} == {30, 40}
    assert all("image mode=RGB size=" in cell["image"] for cell in cells)
