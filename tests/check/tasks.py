"""Examples that faulty and sound rewards of the bench share, with right and with wrong completions."""

from __future__ import annotations

from typing import Any

FACTS = [
    {"prompt": "Who painted the Mona Lisa, and when?", "answer": "Leonardo da Vinci, around 1503"},
    {"prompt": "Where is the Louvre?", "answer": "in Paris, on the right bank of the Seine"},
]
FACTS_GOOD = [
    "<answer>Leonardo da Vinci, around 1503</answer>",
    "<think>A museum.</think><answer>in Paris, on the right bank of the Seine</answer>",
]
FACTS_BAD = ["<answer>Michelangelo, around 1510</answer>", "<answer>in Rome, near the Vatican</answer>"]


def said(content: str) -> list[dict[str, Any]]:
    """A completion of one message."""
    return [{"role": "assistant", "content": content}]


CALLS = [
    {
        "prompt": [{"role": "user", "content": "Book the meeting room for 3 pm."}],
        "call": '{"name": "book_room", "arguments": {"hour": 15}}',
    },
    {
        "prompt": [{"role": "user", "content": "What is the weather in Oslo?"}],
        "call": '{"name": "get_weather", "arguments": {"city": "Oslo"}}',
    },
]
CALLS_GOOD = [said(f"<tool_call>{row['call']}</tool_call>") for row in CALLS]
CALLS_BAD = [
    said('<tool_call>{"name": "book_room", "arguments": {"hour": 3}}</tool_call>'),
    said("It is cold in Oslo."),
]
