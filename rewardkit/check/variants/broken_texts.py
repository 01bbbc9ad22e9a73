"""Broken texts: a correct completion with one fault, for the laws and for `strategies.completions`.

For ``<answer>42</answer>`` with the gold answer ``42``, these include ``<answer>42``, ``<answer></answer>``, and
``<answer>86</answer>``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from itertools import islice, permutations
from typing import Any

from rewardkit.check.completion.parsed_completion import ParsedCompletion
from rewardkit.check.completion.tag_violations import Blocks, violations
from rewardkit.check.reward_under_test.vocabulary import Mined
from rewardkit.check.variants.wild_texts import TEXTS
from rewardkit.check.variants.wrong_answers import with_leaf, wrong_answers
from rewardkit.text.thinking import Marks

# JSON changes: ``{"qty": 1}`` becomes ``{}``, ``{"qty": null}``, ``{"qty": 1, "surplus": 0}``, and so on.


Path = tuple[str | int, ...]


def changed_values(value: Any, schema: Any = None) -> Iterator[Any]:
    """Yield versions of `value` with one change: first missing parts, then incorrect values, then extra parts.

    Args:
        value: a JSON value.
        schema: a JSON schema, whose numbers and enumerated strings are used for the incorrect values.
    """
    numbers, texts = _literals(schema)
    spots = list(_spots(value, ()))
    for path, part in spots:
        if isinstance(part, dict):
            yield from (
                with_leaf(value, path, {name: part[name] for name in part if name != removed}) for removed in part
            )
    for path, part in spots:
        for other in _other_values(part, numbers, texts):
            if other != part or isinstance(other, bool) is not isinstance(part, bool):
                yield with_leaf(value, path, other)
    for path, part in spots:
        if isinstance(part, dict):
            yield with_leaf(value, path, {**part, "surplus": 0})
            yield from (with_leaf(value, path, {**part, "surplus": {**part}}) for _ in range(bool(part)))
        elif isinstance(part, list) and part:
            yield with_leaf(value, path, part[:-1])
            yield with_leaf(value, path, [*part, part[0]])
            yield with_leaf(value, path, part * 20)
            yield with_leaf(value, path, [])


def _other_values(part: Any, numbers: list[Any], texts: list[str]) -> Iterator[Any]:
    """Yield replacements for `part`. Those with the same type come last."""
    replacements: list[Any] = [None, "x", 0, [], {}, True]
    for other in replacements:
        if type(other) is not type(part):
            yield other
    if isinstance(part, (int, float)) and not isinstance(part, bool):
        yield from (number + step for number in numbers for step in (-1, 1))
        # Negative, large, fractional, and near the largest float.
        yield from (-1, -(10**9), 10**9, 0.5, 1e300)
    if isinstance(part, str):
        yield from ("", "?", f"{part}?", f"?{part}", part.swapcase())
        # Longer than a number in the schema allows, but at most 1,000 characters, since a schema may allow millions.
        yield from ("x" * min(number + 1, 1_000) for number in numbers if isinstance(number, int) and number >= 0)
        yield from texts


def _literals(root: Any) -> tuple[list[Any], list[str]]:
    """Return the numbers in a schema, and incorrect variants of its enumerated strings."""
    numbers: dict[Any, None] = {}
    texts: dict[str, None] = {}
    queue = [root]
    while queue:
        node = queue.pop()
        if isinstance(node, (int, float)) and not isinstance(node, bool):
            numbers.setdefault(node)
        if isinstance(node, dict):
            choices = node["enum"] if isinstance(node.get("enum"), list) else ()
            texts.update((choice, None) for choice in choices if isinstance(choice, str))
            queue += node.values()
        elif isinstance(node, list):
            queue += node
    # Arbitrary limits: each number and each text makes more wrong values.
    return list(numbers)[:12], [f"{text}?" for text in list(texts)[:6]]


def _spots(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    yield path, value
    below: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    # Arbitrary limit: an object may have thousands of keys.
    for key, part in list(below)[:12]:
        yield from _spots(part, (*path, key))


# Arbitrary limits on completions with a changed document or a changed number; the last numbers are the answer. Each is
# one more completion for all laws.
_MOST_DOCUMENTS = 60
_MOST_NUMBERS = 6
_NUMBERS = ("nan", "inf", "1e999", "0", "-1", "²", "99999999999", "1" + "0" * 400)
"""The texts that replace each number in a correct completion."""


def near_misses(anatomy: ParsedCompletion) -> Iterator[str]:
    """Yield versions of a correct completion with a tag violation, no answer, or an incorrect answer."""
    if anatomy.blocks:
        yield from violations(blocks_of(anatomy), anchored=False)
    yield anatomy.with_region("")
    if anatomy.gold:
        yield from (anatomy.saying(wrong.text) for wrong in wrong_answers(anatomy.gold, anatomy.value))


def broken(anatomy: ParsedCompletion, mined: Mined, bad: Sequence[str] = ()) -> Iterator[str]:
    """Yield near misses, damaged copies of a correct completion, and wild texts in place of its answer.

    Args:
        anatomy: the parsed correct completion.
        mined: tags and texts that the reward's code mentions.
        bad: incorrect completions, which are joined with the correct one.
    """
    text = anatomy.text
    yield from (text[: len(text) // 2], text[len(text) // 2 :], text[:-1], text[1:])
    yield from (text + text, f"\n {text}\n\n", text.upper())
    yield from near_misses(anatomy)
    yield from _other_documents(text)
    yield from map(anatomy.with_region, _other_sums(anatomy.region.of(text)))
    for match in list(re.finditer(r"\d+(?:\.\d+)?", text))[-_MOST_NUMBERS:]:
        yield from (text[: match.start()] + other + text[match.end() :] for other in _NUMBERS)
    for wild in TEXTS.values():
        # Arbitrary limit: longer texts are tried by themselves, and once is enough.
        if len(wild) <= 400:
            yield anatomy.with_region(wild)
            if anatomy.places and anatomy.region != anatomy.places[-1]:
                yield anatomy.answering(wild)
    for tag in mined.tags:
        yield from (f"<{tag}></{tag}>", f"<{tag}>")
    for piece in mined.texts:
        yield from (piece, piece + piece, f"{piece} 42", f"a{piece}\n")
    for wrong in bad:
        yield from (wrong + text, text + wrong)


def blocks_of(anatomy: ParsedCompletion) -> Blocks:
    """Return a completion's tags with their bodies and the texts around them."""
    text, ends = anatomy.text, [0, *(block.whole.end for block in anatomy.blocks)]
    starts = [*(block.whole.start for block in anatomy.blocks), len(text)]
    return Blocks(
        tuple(Marks(f"<{block.name}>", f"</{block.name}>") for block in anatomy.blocks),
        tuple(block.body.of(text) for block in anatomy.blocks),
        tuple(text[end:start] for end, start in zip(ends, starts, strict=True)),
    )


def _other_documents(text: str) -> Iterator[str]:
    """Yield versions of the text with one change in its JSON object."""
    start = text.find("{")
    if start < 0:
        return
    try:
        document, end = json.JSONDecoder().raw_decode(text, start)
    except (ValueError, RecursionError):
        return
    for changed in islice(changed_values(document), _MOST_DOCUMENTS):
        yield text[:start] + json.dumps(changed) + text[end:]


def _other_sums(body: str) -> Iterator[str]:
    """Yield other expressions with the same numbers. Some divide by zero, and one is a tower of powers."""
    numbers = re.findall(r"\d+", body)
    # Countdown tasks have three to five numbers here; six would have 720 orders.
    if not 3 <= len(numbers) <= 5 or not re.fullmatch(r"[\d\s+*/().-]+", body):
        return
    yield " ** ".join(sorted(numbers, key=int))
    # Four numbers have 24 orders.
    for first, second, third, *rest in islice(permutations(numbers), 24):
        more = "".join(f" + {number}" for number in rest)
        yield f"{first} / ({second} - {third}){more}"
