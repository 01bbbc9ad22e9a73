"""rk.reward_model gives the numbers of TRL's own list: the same classifier, scored by the code of GRPOTrainer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rewardkit as rk

pytest.importorskip("trl")
from tokenizers.processors import TemplateProcessing

from tests.adapters.trl import tiny as training
from tests.rewards.judges import tiny_classifiers as tiny

Chat = list[dict[str, Any]]


def user(content: str) -> Chat:
    return [{"role": "user", "content": content}]


def assistant(content: str, **more: Any) -> Chat:
    return [{"role": "assistant", "content": content, **more}]


def with_ends(tokenizer: Any) -> Any:
    """Let a tokenizer add special tokens around a text, as those of BERT and Llama do."""
    tokenizer.backend_tokenizer.post_processor = TemplateProcessing(
        single="<|user|> $A <|end|>",
        pair="<|user|> $A <|end|> $B <|end|>",
        special_tokens=[("<|user|>", 2), ("<|end|>", 4)],
    )
    return tokenizer


TOKENIZERS: dict[str, Callable[[], Any]] = {
    "template": lambda: tiny.tokenizer(chat=True),
    "no template": tiny.tokenizer,
    "template and ends": lambda: with_ends(tiny.tokenizer(chat=True)),
    "ends": lambda: with_ends(tiny.tokenizer()),
    "no padding token": lambda: tiny.tokenizer(chat=True, pad=False),
}
SYSTEM: Chat = [{"role": "system", "content": "be kind"}]
DATA: dict[str, tuple[list[Any], list[Any]]] = {
    "text": (["what is it?", "no", "", "a <|user|> b"], ["it is a banana", "", "b" * 20, " spaces "]),
    "chat": ([user("what?"), user(""), user("no")], [assistant("that"), assistant("a" * 20), assistant("")]),
    "turns": (
        [SYSTEM + user("what?"), user("a") + assistant("b") + user("c")],
        [assistant("that"), [*assistant("", tool_calls=[]), {"role": "tool", "content": "found"}, *assistant("so")]],
    ),
}


# TRL needs a template for chat messages.
CASES = [(kind, data) for kind, made in TOKENIZERS.items() for data in DATA if data == "text" or made().chat_template]


@pytest.mark.parametrize(("kind", "data"), CASES)
@pytest.mark.parametrize("make", [tiny.llama, lambda: tiny.llama(pad_token_id=5), lambda: tiny.bert()])
def test_the_numbers_are_those_of_trl(make: Callable[[], Any], kind: str, data: str, tmp_path: Path) -> None:
    prompts, completions = DATA[data]
    model = make().eval()
    model.name_or_path = model.config.name_or_path = "company/judge"
    trainer = training.trainer(tmp_path, [model], given={"reward_processing_classes": [TOKENIZERS[kind]()]})
    inputs = [{"prompt": prompt} for prompt in prompts]
    expected = trainer._calculate_rewards(inputs, prompts, completions, [[1]] * len(prompts))[:, 0]
    reward = rk.reward_model(make().eval(), tokenizer=TOKENIZERS[kind](), label=0)
    table = rk.score(reward, completions, prompts=prompts)
    np.testing.assert_allclose(table.total, expected.numpy(), atol=1e-6)
    assert len(set(np.round(table.total, 4))) > 1
