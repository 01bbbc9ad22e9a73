"""A model of half a million parameters that has seen sloppy demonstrations of the task, made on the spot.

``make(Path("model"), seed=0, steps=450)`` takes about 45 seconds on two cores. The model opens 1.6 drawers on average,
and four of ten answers are right. Its chat template writes calls and results as plainly as possible.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

from environment import COLORS, LARGEST, PROMPT, SMALLEST, rows

CONTEXT = 256
CHAT_TEMPLATE = (
    "{% for message in messages %}"
    "{% if message['role'] == 'assistant' %}<assistant>{{ message['content'] }}"
    "{% for call in message['tool_calls'] or [] %}<call>{{ call['function'] | tojson }}</call>{% endfor %}<end>"
    "{% elif message['role'] == 'tool' %}<tool>{{ message['content'] }}</tool>"
    "{% else %}{{ message['content'] }}\n{% endif %}"
    "{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}"
)
# How transformers reads calls out of what the model wrote.
RESPONSE_TEMPLATE = {
    "defaults": {"role": "assistant"},
    "start_anchor": "<assistant>",
    "fields": {
        "tool_calls": {
            "open": "<call>",
            "close_pattern": r"</call>\s*",
            "repeats": True,
            "content": "json",
            "transform": {"type": "function", "function": "{content}"},
        },
        "content": {"close_pattern": r"<end>\s*", "content": "text"},
    },
}
MARKS = ("<call>", "</call>", "<tool>", "</tool>", "<assistant>")
OTHERS = (0.55, 0.3, 0.1, 0.05)
"""The shares of demonstrations that open 0, 1, 2 and 3 drawers that were not asked for."""
SKIPPED, GUESSED = 0.04, 0.05
"""The shares that do not open the drawer that was asked for, and that answer with a number of their own."""

Message = dict[str, Any]


def make(folder: Path, *, seed: int, steps: int, on_step: Any = lambda loss: None) -> None:
    """Make the model and its tokenizer in `folder`; the same seed gives the same model."""
    import torch
    from transformers import set_seed

    from rewardkit_adapters.runner.tiny.make import BATCH, warm_up
    from rewardkit_adapters.runner.tiny.model import SIZES, build_model, train_tokenizer

    torch.set_num_threads(min(2, torch.get_num_threads()))
    set_seed(seed)
    shown = [turn for one in demonstrations(max(BATCH * steps // 2, 500), seed=seed) for turn in turns(one)]
    random.Random(seed).shuffle(shown)
    tokenizer: Any = train_tokenizer([text for pair in shown for text in pair])
    tokenizer.add_tokens(list(MARKS))
    tokenizer.chat_template, tokenizer.response_template = CHAT_TEMPLATE, RESPONSE_TEMPLATE
    model: Any = build_model(tokenizer, SIZES["small"])
    model.config.max_position_embeddings = CONTEXT
    warm_up(model, tokenizer, shown[: BATCH * steps], on_step=on_step)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def demonstrations(count: int, *, seed: int) -> list[list[Message]]:
    """Return conversations of a sloppy teacher, on rows of other seeds than the data."""
    chance = random.Random(f"{seed} teacher")
    return [_demonstration(row, chance) for row in rows(count, seed=1_000 + seed)]


def _demonstration(row: dict[str, Any], chance: random.Random) -> list[Message]:
    numbers, asked = json.loads(row["drawers"]), row["color"]
    (others,) = chance.choices(range(len(OTHERS)), OTHERS)
    opened = chance.sample([color for color in COLORS if color != asked], others)
    if chance.random() >= SKIPPED:
        opened.insert(chance.randint(0, len(opened)), asked)
    messages = [{"role": "user", "content": PROMPT.format(color=asked)}]
    for color in opened:
        call = {"type": "function", "function": {"name": "open", "arguments": {"color": color}}}
        messages.append({"role": "assistant", "content": "", "tool_calls": [call]})
        messages.append({"role": "tool", "name": "open", "content": str(numbers[color])})
    answer = row["answer"] if asked in opened and chance.random() >= GUESSED else str(chance.randint(SMALLEST, LARGEST))
    return [*messages, {"role": "assistant", "content": answer}]


def turns(messages: list[Message]) -> list[tuple[str, str]]:
    """Return each turn of the assistant with the text before it, as the chat template writes them."""
    found, before = [], ""
    for message in messages:
        if message["role"] == "assistant":
            calls = (json.dumps(call["function"]) for call in message.get("tool_calls", ()))
            turn = message["content"] + "".join(f"<call>{call}</call>" for call in calls)
            found.append((f"{before}<assistant>", turn))
            before += f"<assistant>{turn}<end>"
        elif message["role"] == "tool":
            before += f"<tool>{message['content']}</tool>"
        else:
            before += f"{message['content']}\n"
    return found
