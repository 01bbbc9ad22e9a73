"""Special tokens are removed the same way wherever completions come from."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, strategies as st

import rewardkit as rk
from rewardkit.errors import RewardTypeError
from rewardkit.online.rows import Row
from rewardkit.online.scorer import RowScorer
from rewardkit.online.special_tokens import SpecialTokens
from rewardkit.online.trainer_inputs import TrainerInputs

TOKENS = ["<|im_start|>", "<|im_end|>", "<|im_end|>\n", "</s>", "<s>", "a.b", "[PAD]"]
pieces = st.lists(st.one_of(st.sampled_from(TOKENS), st.text(max_size=4), st.sampled_from(["axb", "PAD", "<", "\n"])))


@given(pieces, st.lists(st.sampled_from(TOKENS), min_size=1))
def test_each_token_is_removed_and_nothing_else(given_pieces: list[str], tokens: list[str]) -> None:
    text = "".join(given_pieces)
    longest_first = sorted(set(tokens), key=len, reverse=True)
    expected, place = "", 0
    while place < len(text):
        token = next((token for token in longest_first if text.startswith(token, place)), "")
        expected += "" if token else text[place]
        place += len(token) or 1
    assert SpecialTokens.of(tokens).removed(text) == expected


@given(pieces, st.permutations(TOKENS))
def test_the_order_of_the_tokens_does_not_matter(given_pieces: list[str], tokens: list[str]) -> None:
    text = "".join(given_pieces)
    assert SpecialTokens.of(tokens).removed(text) == SpecialTokens.of(TOKENS).removed(text)
    assert SpecialTokens.of(tokens) == SpecialTokens.of(TOKENS) == SpecialTokens.of(SpecialTokens.of(tokens))


@given(st.text())
def test_without_tokens_a_completion_stays_as_it_is(text: str) -> None:
    assert SpecialTokens.of(()).removed(text) is text
    assert SpecialTokens.of(["<nowhere in a text>"]).removed(text) == text


def test_messages_keep_everything_but_the_tokens() -> None:
    messages = [
        {"role": "assistant", "content": "42<|im_end|>", "tool_calls": [{"id": "<|im_end|>"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "<|im_end|>4"}, {"type": "image", "image": "</s>"}]},
        {"role": "tool", "content": None},
        {"role": "assistant"},
    ]
    before = repr(messages)
    removed = SpecialTokens.of(["<|im_end|>", "</s>"]).removed(messages)
    assert removed == [
        {"role": "assistant", "content": "42", "tool_calls": [{"id": "<|im_end|>"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "4"}, {"type": "image", "image": "</s>"}]},
        {"role": "tool", "content": None},
        {"role": "assistant"},
    ]
    assert repr(messages) == before


def test_a_tokenizer_has_its_special_tokens() -> None:
    class Token:
        def __init__(self, text: str, special: bool) -> None:
            self.text, self.special = text, special

        def __str__(self) -> str:
            return self.text

    added_tokens: Any = {5: Token("<|tool|>", True), 6: Token("<think>", False)}
    tokenizer = SimpleNamespace(all_special_tokens=["<s>", "</s>"], added_tokens_decoder=added_tokens)
    assert set(SpecialTokens.of(tokenizer).tokens) == {"<s>", "</s>", "<|tool|>"}
    assert SpecialTokens.of(SimpleNamespace(all_special_tokens=["<s>"])).tokens == ("<s>",)


def test_a_real_tokenizer_is_read(tmp_path: Any) -> None:
    transformers = pytest.importorskip("transformers")
    tokenizers = pytest.importorskip("tokenizers")
    model = tokenizers.Tokenizer(tokenizers.models.WordLevel({"4": 0, "[UNK]": 1, "<end>": 2}, unk_token="[UNK]"))
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=model, eos_token="<end>", unk_token="[UNK]")
    assert SpecialTokens.of(tokenizer).removed("4<end>") == "4"


@pytest.mark.parametrize("wrong", ["<|im_end|>", 5, None, [""], [5], ["<s>", None]])
def test_what_is_neither_a_tokenizer_nor_texts_is_refused(wrong: Any) -> None:
    with pytest.raises(RewardTypeError, match=re.escape("special_tokens= must ")):
        SpecialTokens.of(wrong)


@pytest.mark.parametrize(
    ("text", "token"),
    [
        ("42<|im_end|>", "<|im_end|>"),
        ("42<|eot_id|>\n", "<|eot_id|>"),
        ("42</s>", "</s>"),
        ("42<pad><pad>", "<pad>"),
        ("42", ""),
        ("<|im_end|> is a token", ""),
        ("a <|b| > c", ""),
        ("</answer>", ""),
        (["no text"], ""),
    ],
)
def test_a_token_that_ends_a_text_is_noticed(text: Any, token: str) -> None:
    assert SpecialTokens.of(()).missed(text) == token
    assert SpecialTokens.of(["<other>"]).missed(text) == ""


def test_a_scorer_says_so_once() -> None:
    own = RowScorer(rk.length.between(1, 3, unit="characters"), TrainerInputs("any"))
    with pytest.warns(rk.errors.RewardKitWarning, match=re.escape("any passes completions with special tokens")):
        own.score([Row("4<|im_end|>")])
    own.score([Row("4<|im_end|>")])
