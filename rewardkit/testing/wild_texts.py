"""Wild completions: what a policy writes when it falls apart, and what an adversary would write.

Each is a short text with the reason why it stands here. The long ones are made from pieces by the laws of growth.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, permutations
from typing import Any

from rewardkit.testing.anatomy import Anatomy, replaced
from rewardkit.testing.vocabulary import Mined

TEXTS: Mapping[str, str] = {
    "nothing": "",
    "a space": " ",
    "line breaks": "\n\n\n",
    "a tab": "\t",
    "NUL": "\0",
    "NULs around a word": "\0a\0",
    "zero width": "\u200b\u200c\u200d\u2060\ufeff",
    "half a surrogate pair": "\ud800",
    "the other half": "a\udfff",
    "a right-to-left override": "\u202egold\u202c",
    "combining marks": "a\u0301\u0327\u0323" * 3,
    "emoji": "\U0001f469\u200d\U0001f4bb",
    "superscript two": "\u00b2",
    "a vulgar fraction": "\u00bd",
    "a Roman numeral": "\u2167",
    "full-width digits": "\uff14\uff12",
    "Arabic digits": "\u0664\u0662",
    "a circled digit": "\u2460",
    "letters that grow in lower case": "\u0130\u0130",
    "letters that grow in upper case": "\ufb01\u00df\u0149",
    "a line separator": "a\u2028b\u2029c\x85d",
    "a carriage return": "a\r\nb\rc",
    "a word": "word",
    "a letter": "a",
    "a digit": "7",
    "zero": "0",
    "minus zero": "-0",
    "minus": "-",
    "a point": ".",
    "a comma": ",",
    "points": "1.2.3",
    "commas": "1,,2",
    "underscores": "1_000",
    "an exponent": "1e5",
    "a huge exponent": "1e999",
    "a tiny exponent": "1e-999",
    "no number": "nan",
    "infinity": "inf",
    "minus infinity": "-Infinity",
    "5,000 digits": "9" * 5_000,
    "400 digits": "9" * 400,
    "a negative number": "-17",
    "percent": "50%",
    "money": "$1,234.50",
    "a fraction": "1/0",
    "a half": "1/2",
    "a tower": "9**9**9**9",
    "a factorial": "99999999!",
    "a huge range": "1-999999",
    "a huge repetition": "a{99999999}",
    "hexadecimal": "0x10",
    "a complex number": "1+2j",
    "letters": "A B C D",
    "an answer to everything": "yes no true false A B C D 0 1 2",
    "an opening tag": "<answer>",
    "a closing tag": "</answer>",
    "tags the wrong way round": "</answer><answer>",
    "empty tags": "<think></think><answer></answer>",
    "nested tags": "<answer><answer>a</answer></answer>",
    "two answers": "<answer>a</answer><answer>b</answer>",
    "thinking without end": "<think>hm",
    "thinking alone": "<think>hm</think>",
    "hashes": "####",
    "hashes and a space": "#### ",
    "an open box": "\\boxed{",
    "an empty box": "\\boxed{}",
    "nested boxes": "\\boxed{\\boxed{1}}",
    "backslashes": "\\1\\g<0>\\",
    "dollars": "$$ $",
    "an open fence": "```python\n",
    "an empty fence": "```\n```",
    "a fence with an error": "```python\n)(\n```",
    "JSON null": "null",
    "JSON true": "true",
    "a JSON number": "1.5",
    "a JSON string": '"a"',
    "an empty object": "{}",
    "an empty list": "[]",
    "a list of objects": '[{"a": 1}]',
    "nested lists": "[[[1]]]",
    "an object of nulls": '{"answer": null}',
    "an object of lists": '{"answer": []}',
    "an object of objects": '{"answer": {"answer": 1}}',
    "an object with a huge number": '{"answer": 1e999}',
    "JSON NaN": '{"answer": NaN}',
    "duplicate keys": '{"answer": 1, "answer": 2}',
    "an open object": '{"answer": ',
    "an open string": '{"answer": "',
    "single quotes": "{'answer': 1}",
    "two objects": '{"a": 1} {"a": 2}',
    "nested 400 deep": "[" * 400 + "]" * 400,
    "open brackets": "[" * 3_000,
    "open braces": "{" * 3_000,
    "open parentheses": "(" * 3_000,
    "nested objects": '{"a":' * 400 + "1" + "}" * 400,
    "format fields": "{} {0} {answer} %s %d %(a)s {",
    "a regular expression": "(.*)+[a-z]?\\d{1,3}|^$",
    "an open class": "[a-",
    "an open group": "(?P<a",
    "quotes": "\"'`",
    "SQL": "'; DROP TABLE rewards; --",
    "a list with marks": "- a\n- b\n* c\n1. d",
    "colons": "a: b: c",
    "an equation": "x = 5 = y",
    "a table": "| a | b |\n|---|---|\n| 1 | 2 |",
    "the end of a turn": "<|im_end|>",
    "a refusal": "I'm sorry, but I can't help with that.",
    "a sentence": "The answer is seven.",
    "words": "the the the the the",
    "a long word": "a" * 300,
    "many words": "word " * 400,
    "many lines": "x\n" * 400,
    "thousands of words": "word " * 4_000,
    "many numbers": " ".join(map(str, range(300))),
}

SHAPES: Mapping[str, Any] = {
    "no messages": [],
    "content None, a tool call": [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"type": "function", "function": {"name": "search", "arguments": {"query": "a"}}}],
        }
    ],
    "no content": [{"role": "assistant"}],
    "content in parts": [{"role": "assistant", "content": [{"type": "text", "text": "42"}]}],
    "an image": [{"role": "assistant", "content": [{"type": "image"}]}],
    "an empty list of parts": [{"role": "assistant", "content": []}],
    "a tool's answer at the end": [
        {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]},
        {"role": "tool", "name": "f", "content": "42"},
    ],
    "several turns": [
        {"role": "assistant", "content": "Let me look."},
        {"role": "tool", "name": "f", "content": "42"},
        {"role": "assistant", "content": "It is 42."},
    ],
}


_OTHER_VALUES: tuple[Any, ...] = (None, "two", [], {}, True, -1, 0, 1e300)
_EDITS = 60


def other_shapes(text: str) -> Iterator[str]:
    """The JSON object of a completion with one value left out, or of another type, at each of its places."""
    start = text.find("{")
    if start < 0:
        return
    try:
        document, end = json.JSONDecoder().raw_decode(text, start)
    except (ValueError, RecursionError):
        return
    for number, changed in enumerate(_changed(document)):
        if number >= _EDITS:
            return
        yield text[:start] + json.dumps(changed) + text[end:]


def _changed(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for key in value:
            yield {other: item for other, item in value.items() if other != key}
        for key, item in value.items():
            for other in (*_OTHER_VALUES, *_changed(item)):
                yield {**value, key: other}
    elif isinstance(value, list):
        for place, item in enumerate(value[:2]):
            for other in (*_OTHER_VALUES, *_changed(item)):
                yield [*value[:place], other, *value[place + 1 :]]


def other_sums(body: str) -> Iterator[str]:
    """Other sums of the numbers in an expression, among them divisions by what may be nothing."""
    numbers = re.findall(r"\d+", body)
    if not 3 <= len(numbers) <= 5 or not re.fullmatch(r"[\d\s+*/().-]+", body):
        return
    for first, second, third, *rest in islice(permutations(numbers), 24):
        more = "".join(f" + {number}" for number in rest)
        yield f"{first} / ({second} - {third}){more}"


def broken(anatomy: Anatomy, mined: Mined, bad: Sequence[str] = ()) -> Iterator[str]:
    """A right completion with one thing broken at a time, and wild texts in the place of its answer."""
    text = anatomy.text
    yield text[: len(text) // 2]
    yield text[len(text) // 2 :]
    yield text[:-1]
    yield text[1:]
    yield text + text
    yield f"\n {text}\n\n"
    yield text.upper()
    for block in anatomy.blocks:
        opening, closing = f"<{block.name}>", f"</{block.name}>"
        yield text.replace(opening, "")
        yield text.replace(closing, "")
        yield text.replace(opening, opening * 2)
        yield replaced(text, [(block.body, "")])
        yield replaced(text, [(block.whole, "")])
    yield anatomy.with_region("")
    yield from other_shapes(text)
    yield from map(anatomy.with_region, other_sums(anatomy.region.of(text)))
    for wild in TEXTS.values():
        if len(wild) <= 400:
            yield anatomy.with_region(wild)
            if anatomy.places and anatomy.region != anatomy.places[-1]:
                yield anatomy.answering(wild)
    for tag in mined.tags:
        yield f"<{tag}></{tag}>"
        yield f"<{tag}>"
    for piece in mined.texts:
        yield piece
        yield piece + piece
        yield f"{piece} 42"
        yield f"a{piece}\n"
    for one in bad:
        yield one + text
        yield text + one
