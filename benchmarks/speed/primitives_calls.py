"""Call each primitive on 64 completions of 300 and of 2,000 characters, beside the plain Python that one would write.

``python benchmarks/speed/primitives_calls.py [name ...]`` prints CPU microseconds per completion and the ratio.
Rewardkit's side is a whole `rk.score`: binding, finding duplicates, checking, notes; there are at most eight gold
answers, as with eight prompts. The plain functions are for data that is known to be plain (no second tag, no
invisible characters, no denials, no limits); on these completions both give the same scores, which is asserted first.
"""

from __future__ import annotations

import json
import random
import re
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence

import rewardkit as rk

COMPLETIONS, ROUNDS = 64, 31
SIZES = (300, 2_000)
WORDS = re.findall(
    r"\w+",
    "the total of a price that we can compute is what each step gives when number value model first then because so "
    "equals invoice quantity there are two three more less under over between and with for from into",
)

Plain = Callable[[str, str], float]
Made = tuple[str, str]
"""A completion and its gold answer."""

_ANSWER = re.compile(r"<answer>(.*?)</answer>", re.DOTALL)
_TAGS = re.compile(r"\s*<think>(.*?)</think>\s*<answer>(.*?)</answer>\s*", re.DOTALL)
_FENCE = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_CHOICE = re.compile(r"answer is \(?([A-D])\b")
_BOX = re.compile(r"\\boxed\{([^{}]*)\}")
_MARKS = re.compile(r"^(?:\d+\.|-|Step \d+:)|\b(?:First|Next|Then|Finally),", re.MULTILINE)


def prose(chance: random.Random, characters: int) -> str:
    """Return sentences of simple words."""
    sentences: list[str] = []
    while sum(map(len, sentences)) < characters:
        words = " ".join(chance.choices(WORDS, k=chance.randint(6, 16)))
        sentences.append(words.capitalize() + chance.choice((". ", ".\n")))
    return "".join(sentences)[:characters].strip()


def tagged(chance: random.Random, characters: int) -> Made:
    answer = str(chance.randint(1, 8))
    return f"<think>{prose(chance, characters - 40)}</think>\n<answer>{answer}</answer>", answer


def ending(text: str, gold: str) -> Callable[[random.Random, int], Made]:
    return lambda chance, characters: (f"{prose(chance, characters - len(text))}\n{text}", gold)


def document(chance: random.Random, characters: int) -> Made:
    text = prose(chance, characters - 60)
    return json.dumps({"name": text[:20], "quantity": chance.randint(1, 99), "tags": ["a", "b"], "text": text}), ""


def two_texts(chance: random.Random, characters: int) -> Made:
    return prose(chance, characters), prose(random.Random(chance.randint(1, 8)), characters)


def is_json(completion: str) -> bool:
    try:
        json.loads(completion)
    except ValueError:
        return False
    return True


def tags_by_pattern(completion: str, gold: str) -> float:
    found = _TAGS.fullmatch(completion)
    return float(found is not None and bool(found[1].strip()) and bool(found[2].strip()))


def repeated(completion: str, gold: str) -> float:
    words = completion.lower().split()
    runs = list(zip(words, words[1:], words[2:], strict=False))
    return len(set(runs)) / len(runs) - 1.0


def f1(completion: str, gold: str) -> float:
    told, meant = (re.sub(r"[^\w\s]", "", text.lower()).split() for text in (completion, gold))
    told, meant = ([word for word in words if word not in ("a", "an", "the")] for words in (told, meant))
    shared = (Counter(told) & Counter(meant)).total()
    return 2 * shared / (len(told) + len(meant))


def last(pattern: re.Pattern[str]) -> Plain:
    return lambda completion, gold: float(pattern.findall(completion)[-1].strip() == gold)


CALLS: dict[str, tuple[rk.Reward, Callable[[random.Random, int], Made], Plain]] = {
    "tags": (rk.tags("think", "answer"), tagged, tags_by_pattern),
    "number": (rk.number("gold"), tagged, lambda text, gold: float(float(_ANSWER.findall(text)[-1]) == float(gold))),
    "exact": (rk.exact("gold"), tagged, last(_ANSWER)),
    "choice": (rk.choice("gold"), ending("The answer is B.", "B"), last(_CHOICE)),
    "math_equal": (rk.math_equal("gold"), ending("So it is \\boxed{42}.", "42"), last(_BOX)),
    "length, words": (
        rk.length.between(1, 200, unit="words"),
        tagged,
        lambda text, gold: float(1 <= len(text.split()) <= 200),
    ),
    "length, characters": (
        rk.length.between(1, 1_000, unit="characters"),
        tagged,
        lambda text, gold: float(1 <= len(" ".join(text.split())) <= 1_000),
    ),
    "repetition, words": (rk.repetition_penalty(unit="words"), tagged, repeated),
    "regex": (rk.regex(r"\d+ apples"), tagged, lambda text, gold: float(bool(re.search(r"\d+ apples", text)))),
    "contains_none": (
        rk.contains(none=["sorry", "cannot"]),
        two_texts,
        lambda text, gold: float(not re.search(r"\b(?:sorry|cannot)\b", text, re.IGNORECASE)),
    ),
    "fenced": (
        rk.fenced("python"),
        ending("```python\nprint(1)\n```", ""),
        lambda text, gold: float(any(body.strip() for body in _FENCE.findall(text))),
    ),
    "json_valid": (rk.json_valid(), document, lambda text, gold: float(is_json(text))),
    "reasoning_steps": (
        rk.reasoning_steps(3, words=1),
        ending("1. add one two\n2. take four five\n3. give six seven", ""),
        lambda text, gold: min(1.0, len(_MARKS.findall(text)) / 3),
    ),
    "token_f1": (rk.token_f1("gold"), two_texts, f1),
}


def seconds(call: Callable[[], object]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


def measured(name: str, characters: int) -> str:
    reward, make, plain = CALLS[name]
    chance = random.Random(characters)
    rows = [make(chance, characters) for _ in range(COMPLETIONS)]
    golds = [gold for _, gold in rows]
    scores = rk.score(reward, [text for text, _ in rows], gold=golds).total.tolist()
    for (text, gold), score in zip(rows, scores, strict=True):
        assert abs(plain(text, gold) - score) < 1e-9, (name, score, plain(text, gold), text)
    ours, theirs = [], []
    for _ in range(ROUNDS):
        texts = [text.encode().decode() for text, _ in rows]
        ours.append(seconds(lambda texts=texts: rk.score(reward, texts, gold=golds)))  # type: ignore[misc]
        theirs.append(seconds(lambda texts=texts: list(map(plain, texts, golds))))  # type: ignore[misc]
    ratio = statistics.median(own / other for own, other in zip(ours, theirs, strict=True))
    own, other = (statistics.median(run) / COMPLETIONS * 1e6 for run in (ours, theirs))
    return f"{own:7.1f} us, plain {other:6.1f} us, {ratio:5.2f} times"


def main(names: Sequence[str]) -> None:
    for name in names or CALLS:
        lines = "   ".join(f"{size:,}: {measured(name, size)}" for size in SIZES)
        print(f"{name:<20}{lines}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
