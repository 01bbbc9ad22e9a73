"""A reward model and rules: the model scores style, the rules make sure of the facts.

    python cookbook/reward_model_and_rules.py
    python cookbook/reward_model_and_rules.py --model org/name    # any sequence classifier that transformers can load

Without ``--model``, a classifier of a few hundred weights learns from a few replies to customers in a second. Like
larger ones, it likes kind words, the more the better. The rules: a text must contain the order number, have the length
of a reply, and not repeat itself. Only completions that pass the rules reach the model.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

import rewardkit as rk

LIKED = [
    "Thank you for writing! I am happy to help, and sorry for the wait.",
    "I am sorry to hear that. Thank you for your patience, it is on its way.",
    "Happy to help! Your order is on its way, thank you.",
    "Sorry for the trouble. I have sent a new one, thank you for telling us.",
]
DISLIKED = [
    "Wait for it.",
    "That is not my problem. Read the terms.",
    "It is on its way. Do not write again.",
    "You should have read the terms. No.",
]

PROMPT = "Where is my order 1234?"
REPLIES = [
    "Thank you for writing! Order 1234 is on its way, and I am sorry for the wait.",
    "Order 1234 is on its way. Do not write again.",
    "Thank you for writing! It is on its way, and I am sorry for the wait.",
    "1234! " + "Thank you, happy to help, so sorry! " * 5,
    "Thank you. 1234.",
]


def made(model: Any, tokenizer: Any = None) -> tuple[rk.Reward, rk.Reward]:
    """Return two rewards: the model alone, and the model behind the rules."""
    liked = rk.reward_model(model, tokenizer=tokenizer, probability=True, name="liked")
    right = rk.contains(all="1234").named("number")
    fitting = rk.length.between(8, 60, unit="words").named("fitting")
    repeated = rk.repetition_penalty(ngram=3, unit="words", max_penalty=-0.5)
    rules = rk.mean([right, fitting]).named("rules")
    return liked, 0.2 * rules + rk.gate(when=rules, then=0.8 * liked) + repeated


def learned() -> tuple[Any, Any]:
    """Train a classifier on the replies above; return it with its tokenizer."""
    import torch
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    class Words(torch.nn.Module):
        """A classifier that sums a weight per word."""

        def __init__(self, count: int) -> None:
            super().__init__()
            self.worth = torch.nn.EmbeddingBag(count, 1, mode="sum", padding_idx=0)
            torch.nn.init.zeros_(self.worth.weight)

        def forward(self, input_ids: Any, attention_mask: Any) -> Any:
            return argparse.Namespace(logits=self.worth(input_ids * attention_mask))

    bare = Tokenizer(models.WordLevel(unk_token="<unk>"))
    bare.normalizer = normalizers.Lowercase()
    bare.pre_tokenizer = pre_tokenizers.Whitespace()
    seen = [word for text in LIKED + DISLIKED for word, _ in bare.pre_tokenizer.pre_tokenize_str(text.lower())]
    vocabulary = {word: number for number, word in enumerate(dict.fromkeys(["<pad>", "<unk>", *seen]))}
    bare.model = models.WordLevel(vocabulary, unk_token="<unk>")
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=bare, pad_token="<pad>", unk_token="<unk>")
    model = Words(len(vocabulary))
    shown = tokenizer(LIKED + DISLIKED, padding=True, return_tensors="pt", return_token_type_ids=False)
    wanted = torch.tensor([1.0] * len(LIKED) + [0.0] * len(DISLIKED))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for _ in range(100):
        logits = model(**shown).logits.squeeze(-1)
        loss: Any = torch.nn.functional.binary_cross_entropy_with_logits(logits, wanted)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    return model, tokenizer


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", help="a name or folder; by default one that is taught on the spot")
    chosen = parser.parse_args(arguments)
    alone, with_rules = made(chosen.model) if chosen.model else made(*learned())
    prompts = [PROMPT] * len(REPLIES)
    liked = rk.score(alone, REPLIES, prompts=prompts).total
    paid = rk.score(with_rules, REPLIES, prompts=prompts).total
    print("model  with rules  reply")
    for first, second, text in zip(liked, paid, REPLIES, strict=True):
        print(f"{first:5.2f}  {second:10.2f}  {text[:70]}")


if __name__ == "__main__":
    main()
