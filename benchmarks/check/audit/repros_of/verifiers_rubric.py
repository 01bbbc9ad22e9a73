"""Faults of the scorers in verifiers 0.3 (verifiers.legacy)."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from repros_outcome import unfinished


def _form(text: str) -> Any:
    parser = import_module("verifiers.legacy").XMLParser(["reasoning", "answer"])
    return parser.get_format_reward_func()([{"role": "assistant", "content": text}])


def xml_parser_unclosed() -> None:
    """A tag that is never closed earns what the whole form earns."""
    assert _form("<reasoning><answer>42</answer>") == 1.0


def xml_parser_time() -> None:
    """An open tag with 6,000 spaces takes over 20 s: the pattern takes cubic time."""
    assert unfinished(lambda: _form("<answer>" + " " * 6000), 20)
