"""Removal of special tokens from completions, the same for all trainers, because only some trainers remove them.

``SpecialTokens.of(tokenizer).removed("<|im_start|>42<|im_end|>")`` is ``"42"``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

from rewardkit.batch.messages import as_messages
from rewardkit.errors import RewardTypeError, shorten

_LOOKS_SPECIAL = re.compile(r"(<\|[A-Za-z0-9_.-]{1,40}\|>|</s>|<eos>|<end_of_turn>|<pad>)\s*\Z")
"""Tokens that common tokenizers use to end or pad a text. The limit of 40 characters per name is arbitrary."""


@final
@dataclass(frozen=True)
class SpecialTokens:
    """The special tokens to remove from completions, as strings."""

    tokens: tuple[str, ...] = ()

    @classmethod
    def of(cls, source: Any) -> SpecialTokens:
        """Return the special tokens of a transformers tokenizer, or the tokens in a list of strings.

        Raises:
            RewardTypeError: `source` is neither a tokenizer nor a list of strings.
        """
        if isinstance(source, SpecialTokens):
            return source
        known_tokens = getattr(source, "all_special_tokens", None)
        if known_tokens is not None:
            added = getattr(source, "added_tokens_decoder", None)
            more = [str(token) for token in added.values() if token.special] if isinstance(added, Mapping) else []
            return cls(_sorted([*map(str, known_tokens), *more]))
        if isinstance(source, str) or not isinstance(source, Iterable):
            raise RewardTypeError(
                "special_tokens= must be a tokenizer or a list of strings, such as ['<|im_end|>'], got "
                f"{shorten(source)}"
            )
        listed = list(source)
        if not all(isinstance(token, str) and token for token in listed):
            raise RewardTypeError(f"special_tokens= must contain non-empty strings, got {shorten(listed)}")
        return cls(_sorted(listed))

    def removed(self, completion: Any) -> Any:
        """Return `completion` (a string or messages) without special tokens."""
        if not self.tokens:
            return completion
        if isinstance(completion, str):
            return self._pattern.sub("", completion)
        return [
            {**message, "content": self._content(message["content"])} if "content" in message else message
            for message in as_messages(completion, "completions", 0)
        ]

    def _content(self, content: Any) -> Any:
        if isinstance(content, str):
            return self._pattern.sub("", content)
        if not isinstance(content, list):
            return content
        return [
            {**part, "text": self._pattern.sub("", part["text"])}
            if isinstance(part, Mapping) and isinstance(part.get("text"), str)
            else part
            for part in content
        ]

    def missed(self, completion: Any) -> str:
        """Return a likely special token at the end of a text; empty if there is none or if `tokens` is set."""
        # Arbitrary: special tokens are shorter than 64 characters.
        match = None if self.tokens or not isinstance(completion, str) else _LOOKS_SPECIAL.search(completion[-64:])
        return match[1] if match else ""

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile("|".join(map(re.escape, self.tokens)))


def _sorted(tokens: Iterable[str]) -> tuple[str, ...]:
    """Return each token once, longest first, so that no token matches inside a longer one."""
    return tuple(sorted(set(tokens), key=lambda token: (-len(token), token)))
