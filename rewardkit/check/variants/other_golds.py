r"""Other golds: more values that a gold column may have, with correct and incorrect answers for each.

For ``answer="42"``, these include ``"0"`` and ``"7"``, which rows like the examples certainly have, and ``"-305"`` or
``"0.25"``, which they may have. For ``"B"``, they are the other letters, and for ``{"qty": 3}`` and ``[{"qty": 3}]``,
documents with other values of the same types. In ``{"style": "rule", "ground_truth": "42"}``, only the answer changes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from rewardkit.check.completion.parsed_completion import ParsedCompletion, as_number, likelihood, parsed_json
from rewardkit.check.variants.wrong_answers import leaves, opposite_of, other_value, with_leaf
from rewardkit.text.json_text import Path

# Zero, one and several digits, with zeros inside and at the end, which faulty patterns cut.
_INTEGERS = (0, 1, 7, 10, 100, 305, 1000, 20250)
_BEYOND = ("-7", "-305", "12000000")
_DECIMALS = ("0.25", "-2.5")
_TINY = ("1.6e-19",)
_QUANTITY = re.compile(r"([$€£]?)(\d[\d,]*(?:\.\d+)?)( [^\W\d_]+\.?)")
"""A number before a word: ``3.5 million``, ``5 km``."""
_CHOSEN = frozenset(("name", "function", "tool", "type", "kind", "id"))
"""Keys in a document whose values are often limited to a list that the reward knows, such as the names of tools."""
_ORDINARY = ("Quartz", "Lisbon")
_SPECIAL = ("C++", "f(x)", "3.5 [draft]")
"""Strings that do not match themselves if they are used as patterns."""
_SCRIPTS = (("北京", "上海"), ("Москва", "Киев"))
_FORMULAS = ((r"\frac{3}{4}", r"\frac{3}{5}"), (r"\sqrt{2}", r"\sqrt{3}"))
_TIMES = (("12:40", "12:40 pm", "12:40 am"), ("00:15", "12:15 am", "12:15 pm"), ("09:05", "9:05 am", "9:05 pm"))
_MOST_LEAVES = 6
"""The maximum number of leaves in a gold document to change. Arbitrary: each leaf adds a row."""


@dataclass(frozen=True)
class Gold:
    """Another value of a gold column.

    Attributes:
        value: the column's value.
        written: the answer as a completion writes it.
        wrong: answers that are certainly incorrect if this value is the gold answer.
        certain: whether rows like the examples certainly have the value, so that the reward must handle it.
    """

    value: Any
    written: str
    wrong: tuple[str, ...] = ()
    certain: bool = True


def other_golds(
    anatomy: ParsedCompletion, column_values: Sequence[Any], *, in_patterns: bool = False, stripped: Sequence[str] = ()
) -> Iterator[Gold]:
    """Yield other values in place of a correct completion's gold answer, or none if its position is uncertain.

    Args:
        anatomy: the parsed completion.
        column_values: the column's values in all examples.
        in_patterns: whether the code makes regular expressions from the column.
        stripped: sets of letters that the code strips from the ends of texts.
    """
    value, written = anatomy.value, anatomy.gold.strip()
    document = _document(value)
    if document is not None and parsed_json(written) == document:
        for changed, certain in _documents(document):
            wrong = () if changed else (written,)  # calls where none is expected
            cell = json.dumps(changed) if isinstance(value, str) else changed
            yield Gold(cell, json.dumps(changed), wrong, certain)
        return
    if isinstance(document, dict):
        path = _path_of(document, written)
        if path is not None:
            entries = [_entry(_document(other), path) for other in column_values]
            inner = replace(anatomy, value=_entry(document, path))
            for gold in other_golds(inner, entries, in_patterns=in_patterns, stripped=stripped):
                changed = with_leaf(document, path, gold.value)
                yield replace(gold, value=json.dumps(changed) if isinstance(value, str) else changed)
        return
    for gold in _answers(anatomy, column_values, in_patterns, stripped):
        cell = _cell(value, written, gold.value)
        if cell is not None:
            yield Gold(cell, gold.written, gold.wrong, gold.certain)


def _cell(value: Any, written: str, other: str) -> Any:
    """Return the cell `value` with `other` in place of `written`, or None if this is impossible."""
    if isinstance(value, bool):
        return not value if opposite_of(written) == other else None
    if isinstance(value, int) and re.fullmatch(r"[A-Z]", written):
        return ord(other) - ord("A")
    if isinstance(value, (int, float)):
        number = as_number(other)
        exact = number is not None and (isinstance(value, float) or number == number.to_integral_value())
        return type(value)(number) if exact and number is not None else None
    if isinstance(value, (list, tuple)):
        return [other] if written in map(str, value) else None
    if not isinstance(value, str):
        return None
    # A time of day, which the completion may write in another format.
    if value.strip() == written or re.fullmatch(r"\d{1,2}:\d{2}", value.strip()):
        return other
    # The answer at the end of a whole solution, as in GSM8K and MATH.
    marked = re.search(rf"(####\s*|\\boxed\{{){re.escape(written)}(\}}?\S*\s*)\Z", value)
    return f"{value[: marked.end(1)]}{other}{marked.group(2)}" if marked is not None else None


def _answers(
    anatomy: ParsedCompletion, column_values: Sequence[Any], in_patterns: bool, stripped: Sequence[str]
) -> Iterator[Gold]:
    """Yield other gold answers if the given gold answer is not a document."""
    value, written = anatomy.value, anatomy.gold.strip()
    in_text = isinstance(value, str)
    if re.fullmatch(r"\d{1,2}:\d{2}", str(value).strip()) and re.search(r"(?i)[ap]\.?m", anatomy.text):
        yield from (Gold(cell, time_text, (wrong,)) for cell, time_text, wrong in _TIMES)
    elif re.fullmatch(r"-?[\d.,]+", written) and as_number(written) is not None:
        yield from _numbers(column_values, in_text, written)
        # Other rows have fractions or roots, so the task has formulas.
        if anatomy.region.kind == "box" and any(
            re.search(r"\d/\d|\\d?frac|\\sqrt", str(candidate)) for candidate in column_values
        ):
            yield from (Gold(right, right, (wrong,), "frac" in right) for right, wrong in _FORMULAS)
        if in_text and anatomy.marked:
            yield Gold("unknown", "unknown", ("nonsense",), certain=False)
    elif re.fullmatch(r"[A-Z]", written):
        letters = [
            candidate for candidate in (*map(_letter, column_values), written) if re.fullmatch(r"[A-Z]", candidate)
        ]
        for code in range(ord("A"), ord(max(letters)) + 1):
            if chr(code) != written:
                yield Gold(chr(code), chr(code))
    elif quantity := _QUANTITY.fullmatch(written):
        yield from _quantities(*quantity.groups())
    elif written.isalpha() or " " in written:
        yield from _texts(anatomy, column_values, in_patterns, stripped)


def _letter(value: Any) -> str:
    """Return an option's letter, which a column may give as an index."""
    is_index = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 26
    return chr(ord("A") + value) if is_index else str(value)


def _numbers(column_values: Sequence[Any], in_text: bool, written: str) -> Iterator[Gold]:
    """Yield integers with no more digits than in the examples, then negative, large, fractional, and tiny numbers."""
    numbers = [number for number in map(as_number, column_values) if number is not None]
    most = max((len(str(abs(int(number)))) for number in numbers), default=1)
    broken = any(number != number.to_integral_value() for number in numbers)
    certain = [str(numeral) for numeral in _INTEGERS if len(str(numeral)) <= max(most, 2) and not broken]
    if any(number < 0 for number in numbers):
        certain += [f"-{numeral}" for numeral in certain if numeral != "0"]
    is_tiny = any(number and abs(number) < Decimal("1e-3") for number in numbers)
    uncertain = (*_BEYOND, *(_DECIMALS if in_text or broken else ()), *(_TINY if is_tiny else ()))
    for numeral in (*certain, *uncertain):
        if numeral != written:
            yield Gold(numeral, numeral, tuple(_wrong(Decimal(numeral), signed=numeral in certain)), numeral in certain)


def _wrong(number: Decimal, *, signed: bool) -> Iterator[str]:
    """Yield numbers that no tolerance accepts in place of `number`, and the opposite number if `signed`."""
    if abs(number) < Decimal("1e-6") and number:
        yield from (f"{number * factor:E}" for factor in (10, 3))
    # Ten times 0 is 0, and a tolerance of 1 accepts 2 for 1.
    elif abs(number) < 20:
        yield from (format((number + far).normalize(), "f") for far in (20250, -20250))
    else:
        alternatives = (number * 10, number * 3, *((-number,) if signed else ()))
        yield from (format(other.normalize(), "f") for other in alternatives)


def _texts(
    anatomy: ParsedCompletion, column_values: Sequence[Any], in_patterns: bool, stripped: Sequence[str]
) -> Iterator[Gold]:
    written = anatomy.gold.strip()
    if opposite := opposite_of(written):
        yield Gold(opposite, opposite, (written,))
        return
    yield from (Gold(word, word) for word in _ORDINARY if word.lower() != written.lower())
    if in_patterns:
        yield from (Gold(text, text, ("C", "fx")[:1]) for text in _SPECIAL)
    for letters in stripped:
        word = "".join(dict.fromkeys(letter for letter in letters if letter.isalpha()))[:5]
        if len(word) > 2:
            yield from (Gold(text, text) for text in (f"{word.capitalize()}idge", f"Bridge{word}"))
    if not (str(column_values) + anatomy.text).isascii():
        yield from (Gold(right, right, (wrong,), certain=False) for right, wrong in _SCRIPTS)


def _quantities(currency: str, number: str, unit: str) -> Iterator[Gold]:
    """Yield another whole number with the same word, and another decimal number if `number` is one."""
    count = int(float(number.replace(",", "")))
    numerals = {str(count - 1 if count > 1 else count + 1): "20250"}
    # A reward that removes all punctuation, as for SQuAD, suits columns without decimal numbers.
    numerals |= {"2.5": "25"} if "." in number else {}
    for numeral, wrong in numerals.items():
        yield Gold(f"{currency}{numeral}{unit}", f"{currency}{numeral}{unit}", (f"{currency}{wrong}{unit}",))


def _documents(document: Any) -> Iterator[tuple[Any, bool]]:
    """Yield documents with one other value, and whether rows certainly have such documents.

    The value has the same type, or is the false one, such as 0. Numbers in a list, such as the corners of a box, all
    change, so that their order stays. A list may also be empty.
    """
    numbers = [item for item in document if type(item) in (int, float)] if isinstance(document, list) else []
    if numbers and len(numbers) == len(document):
        is_share = all(0 <= number <= 1 for number in numbers) and any(number % 1 for number in numbers)
        yield [number / 2 if is_share else number * 3 + 1 for number in numbers], True
    else:
        for path, value in [*leaves(document)][:_MOST_LEAVES]:
            yield with_leaf(document, path, other_value(value)), path[-1] not in _CHOSEN
            nothing = type(value)() if isinstance(value, (bool, int, float)) else None
            if nothing is not None and nothing != value:
                yield with_leaf(document, path, nothing), True
    if isinstance(document, list):
        yield [], False


def _document(value: Any) -> Any:
    """Return an object or list with at least one item, also if it is JSON text, or None for everything else."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        value = parsed_json(value)
    return value if isinstance(value, (dict, list)) and value else None


def _path_of(document: dict[str, Any], written: str) -> Path | None:
    """Return the path of the answer in nested objects, or None if no value is the answer."""
    for key, value in sorted(document.items(), key=lambda item: likelihood(str(item[0]))):
        if isinstance(value, dict):
            path = _path_of(value, written)
            if path is not None:
                return (key, *path)
        elif (cell := _cell(value, written, written)) == value or (isinstance(value, list) and cell):
            return (key,)
    return None


def _entry(document: Any, path: Path) -> Any:
    """Return the value at `path`, or None if there is none."""
    for key in path:
        document = document.get(key) if isinstance(document, dict) else None
    return document
