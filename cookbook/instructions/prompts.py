"""Generate the data: requests with instructions in IFEval's form.

``python cookbook/instructions/prompts.py 240 > data.jsonl`` writes training prompts. With ``--held-out``, the prompts
have other topics, and half of them also have other kinds of instructions.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Mapping
from typing import Any

# A topic, the word that an answer about it contains, and a word that such an answer may well contain.
TRAINING_TOPICS = [
    ("the sea", "sea", "water"), ("a bicycle", "bicycle", "wheel"), ("fresh bread", "bread", "warm"),
    ("the moon", "moon", "night"), ("a train", "train", "station"), ("winter", "winter", "snow"),
    ("a garden", "garden", "green"), ("a violin", "violin", "music"), ("honey", "honey", "sweet"),
    ("a forest", "forest", "trees"), ("a candle", "candle", "light"), ("a library", "library", "books"),
    ("the rain", "rain", "clouds"), ("a cat", "cat", "soft"), ("coffee", "coffee", "morning"),
    ("a mountain", "mountain", "high"), ("a kite", "kite", "wind"), ("a market", "market", "fruit"),
    ("a bridge", "bridge", "river"), ("the desert", "desert", "sand"), ("a clock", "clock", "time"),
    ("a school", "school", "children"), ("soup", "soup", "hot"), ("a lighthouse", "lighthouse", "ships"),
]  # fmt: skip
HELD_OUT_TOPICS = [
    ("an island", "island", "beach"), ("a dog", "dog", "friend"), ("summer", "summer", "sun"),
    ("a piano", "piano", "keys"), ("an apple", "apple", "red"), ("a harbor", "harbor", "boats"),
    ("tea", "tea", "cup"), ("a farm", "farm", "animals"), ("the stars", "stars", "sky"),
    ("a hospital", "hospital", "doctor"), ("a river", "river", "fish"), ("cheese", "cheese", "milk"),
]  # fmt: skip
REQUESTS = [
    "Describe {topic} in one or two sentences.",
    "Say something nice about {topic}.",
    "Write a short message to a friend about {topic}.",
    "Tell a child something about {topic}.",
]
TRAINED: Mapping[str, str] = {
    "change_case:english_lowercase": "Use only lower case letters.",
    "punctuation:no_comma": "Do not use any commas.",
    "keywords:existence": 'Include the word "{keyword}".',
    "detectable_format:title": "Begin with a title in double angular brackets, such as <<a good day>>.",
}
UNTRAINED: Mapping[str, str] = {
    "change_case:english_capital": "Use only capital letters.",
    "startend:quotation": "Put the whole answer between double quotation marks.",
    "detectable_format:json_format": "Write the whole answer in JSON format.",
    "length_constraints:number_sentences": "Write at least 3 sentences.",
}


def prompts(count: int, *, held_out: bool = False, seed: int = 0) -> list[dict[str, Any]]:
    """Generate different prompts with one or two instructions each; there are about 1,500 training prompts."""
    chance = random.Random(f"{seed} {'held_out' if held_out else 'train'}")
    unique: dict[str, dict[str, Any]] = {}
    for _ in range(100 * count):
        prompt = _prompt(chance, held_out, len(unique))
        unique.setdefault(prompt["request"], prompt)
        if len(unique) == count:
            return list(unique.values())
    raise ValueError(f"there are not {count:,} different prompts: only {len(unique):,}")


def _prompt(chance: random.Random, held_out: bool, position: int) -> dict[str, Any]:
    topic, word, keyword = chance.choice(HELD_OUT_TOPICS if held_out else TRAINING_TOPICS)
    if not held_out or position % 2 == 0:
        wordings = TRAINED
        # Every kind is equally frequent.
        kinds = [list(TRAINED)[position // 2 % 4], *chance.sample(list(TRAINED), chance.randint(0, 1))]
    else:
        wordings = UNTRAINED
        kinds = [list(UNTRAINED)[position // 2 % 4]]
    kinds = list(dict.fromkeys(kinds))
    arguments = {
        "keywords:existence": {"keywords": [keyword]},
        "length_constraints:number_sentences": {"num_sentences": 3, "relation": "at least"},
    }
    request = chance.choice(REQUESTS).format(topic=topic)
    return {
        "request": " ".join([request, *(wordings[kind].format(keyword=keyword) for kind in kinds)]),
        "topic": word,
        "instruction_id_list": kinds,
        # JSON text, because Arrow gives all objects in a column the same keys.
        "kwargs": json.dumps([arguments.get(kind, {}) for kind in kinds]),
        "trained": wordings is TRAINED,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", type=int, help="how many prompts")
    parser.add_argument("--held-out", action="store_true", help="other topics, and other kinds of instructions")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    for prompt in prompts(options.count, held_out=options.held_out, seed=options.seed):
        print(json.dumps(prompt))


if __name__ == "__main__":
    main()
