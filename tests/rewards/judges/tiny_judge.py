"""A judge with a few thousand weights that learns in seconds to count the letters of the second half among four.

Its tokens are words and whole verdicts. ``transformers serve`` serves it with the OpenAI protocol.
"""

from __future__ import annotations

import json
import os
import random
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

os.environ["HF_HUB_OFFLINE"] = "1"

import torch
from tokenizers import Tokenizer, decoders
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

LETTERS = "abcdefgh"
VERDICTS = [json.dumps({"reason": f"{count} late letters", "score": 2 * count}) for count in range(5)]
_TURNS = "{% for message in messages %}{{ message['content'] }} {% endfor %}<judge>"

Messages = list[dict[str, str]]


def late(text: str) -> int:
    """Return how many words of `text` are letters of the second half, which the judge learns to count."""
    return min(4, sum(word in "efgh" for word in text.split()))


def some_texts(count: int, seed: int = 0) -> list[str]:
    drawn = random.Random(seed)
    return [" ".join(drawn.choices(LETTERS, k=drawn.randint(1, 4))) for _ in range(count)]


def taught(path: Path, conversations: Sequence[Messages], texts: Sequence[str]) -> str:
    """A judge that has learned the verdict on each of `texts` from what was asked about it; saved under `path`.

    Args:
        conversations: the messages of real requests, one for each of `texts`.
    """
    tokenizer = _tokenizer(conversations)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=2,
            num_attention_heads=2,
            num_key_value_heads=2,
            max_position_embeddings=2048,
            pad_token_id=0,
            eos_token_id=1,
            bos_token_id=None,
        )
    )
    _learn(model, *_lessons(tokenizer, conversations, texts))
    model.save_pretrained(path)
    tokenizer.save_pretrained(path)
    return str(path)


def _tokenizer(conversations: Sequence[Messages]) -> Any:
    words = {word for messages in conversations for message in messages for word in message["content"].split()}
    known = sorted(word for word in words if len(word) < 20 and not any(mark in word for mark in "<>"))
    tokens = dict.fromkeys(["<pad>", "<eos>", "<unk>", "<judge>", *VERDICTS, *LETTERS, *known])
    made = Tokenizer(WordLevel({token: number for number, token in enumerate(tokens)}, "<unk>"))
    made.pre_tokenizer = WhitespaceSplit()
    made.decoder = decoders.Fuse()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=made,
        pad_token="<pad>",
        eos_token="<eos>",
        unk_token="<unk>",
        model_input_names=["input_ids", "attention_mask"],
        clean_up_tokenization_spaces=False,
    )
    tokenizer.chat_template = _TURNS
    return tokenizer


def _lessons(tokenizer: Any, conversations: Sequence[Messages], texts: Sequence[str]) -> tuple[Any, Any]:
    """Return the inputs (n, tokens), padded at the start, and the right verdicts (n,)."""
    said = [tokenizer.apply_chat_template(messages, tokenize=True, return_dict=True) for messages in conversations]
    width = max(len(one["input_ids"]) for one in said)
    rows = [[0] * (width - len(one["input_ids"])) + list(one["input_ids"]) for one in said]
    right = tokenizer.convert_tokens_to_ids([VERDICTS[late(text)] for text in texts])
    return torch.tensor(rows), torch.tensor(right)


def _learn(model: Any, said: Any, right: Any, steps: int = 500, size: int = 16) -> None:
    end = torch.full((size, 1), 1)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    for _ in range(steps):
        chosen = torch.randint(len(said), (size,))
        given = torch.cat([said[chosen], right[chosen, None]], 1)
        logits = model(input_ids=given, attention_mask=(given != 0).long(), logits_to_keep=2).logits
        wanted = torch.cat([right[chosen, None], end], 1)
        loss: Any = torch.nn.functional.cross_entropy(logits.flatten(0, 1), wanted.flatten())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if loss.item() < 0.01:
            return


@contextmanager
def served(path: str) -> Iterator[str]:
    """Yield the base URL of the model in `path`, which ``transformers serve`` serves in its own process."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [str(Path(sys.executable).with_name("transformers")), "serve", path]
    options = ["--host", "127.0.0.1", "--port", str(port), "--device", "cpu"]
    server = subprocess.Popen([*command, *options], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        _await(f"http://127.0.0.1:{port}/health", server)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        server.terminate()
        server.communicate()


def _await(url: str, server: subprocess.Popen[bytes], patience: float = 120.0) -> None:
    until = time.monotonic() + patience
    while time.monotonic() < until:
        if server.poll() is not None:
            raise RuntimeError(f"transformers serve ended: {server.communicate()[1].decode()[-2_000:]}")
        try:
            with urllib.request.urlopen(url, timeout=5.0):
                return
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.2)
    raise TimeoutError(f"{url} does not answer")
