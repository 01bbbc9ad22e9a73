"""Follow instructions: `naive` is a list of two rewards, `gated` puts the instructions behind a gate, within a budget.

``the sea is calm and blue in the morning.`` scores 1.0 with both for "Describe the sea. Use only lower case letters. Do
not use any commas." ``the sea`` also scores 1.0 with `naive`, and 0.0 with `gated`.
"""

from __future__ import annotations

import re

import rewardkit as rk

MAX_TOKENS = 48  # max_completion_length in run.yaml


@rk.reward(pure=True)
def mentions(completion: str, topic: str) -> bool:
    """Score whether the completion contains the topic's word, or its plural."""
    return re.search(rf"\b{re.escape(topic)}s?\b", completion, re.IGNORECASE) is not None


@rk.reward(pure=True)
def answers(completion: str, topic: str) -> rk.Score:
    """Score whether the completion is about the topic and has at least 8 words, which are different."""
    words = re.findall(r"[^\W\d_]+", completion.lower())
    if topic not in words and f"{topic}s" not in words:
        return rk.Score(0.0, note=f"does not mention {topic}")
    if len(set(words)) < 8:
        return rk.Score(0.0, note=f"{len(set(words))} different words")
    return rk.Score(1.0)


followed = rk.instructions()
# The metric of the evaluation, which is not trained: an answer that follows all instructions.
success = rk.monitor(rk.product(rk.instructions(credit="binary"), answers).named("success"))

naive = 0.5 * followed + 0.5 * mentions + success
# The gate's condition scores a fifth, so that the policy gets closer to it. Completions that are nearly as long as
# allowed lose up to 0.3.
gated = (
    0.2 * answers
    + rk.gate(when=answers, then=0.8 * followed)
    + 0.3 * rk.length.overlong(MAX_TOKENS, buffer=12)
    + success
)

_KINDS = ["change_case:english_lowercase", "punctuation:no_comma"]
EXAMPLES = [
    {"prompt": "Describe the sea. Use only lower case letters. Do not use any commas.", "topic": "sea",
     "instruction_id_list": _KINDS, "kwargs": "[{}, {}]"},
    {"prompt": 'Describe a cat. Include the word "soft".', "topic": "cat",
     "instruction_id_list": ["keywords:existence"], "kwargs": '[{"keywords": ["soft"]}]'},
]  # fmt: skip
GOOD = ["the sea is calm and blue in the morning.", "A cat is a small animal with soft fur."]
BAD = ["The sea is calm, and blue in the morning.", "A cat is a small animal with warm fur."]
