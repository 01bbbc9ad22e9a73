"""Wrong answers: answers that are certainly not the gold answer, for any tolerance or normalization in a sound reward.

``wrong_answers("42")`` has ``420`` and ``-42`` (beyond any tolerance), ``4`` (the first digit), ``1428`` (``42`` inside
a longer number), ``nan`` (which every comparison misses), an empty answer, and placeholders.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice
from typing import Any

from rewardkit.check.completion.parsed_completion import as_number, parsed_json
from rewardkit.check.variants.values import value_of, values_in

# Arbitrary: longer lists and items are prose.
_MOST_OPTIONS, _LONGEST_OPTION = 20, 30
_CALENDAR = re.compile(r"\d{4}-\d\d-\d\d(?!\d)|\d{1,2}:\d\d(?!\d)")
PLACEHOLDERS = ("...", "?", "N/A", "None", "null", "unknown", "answer", "[answer]", "TBD", "-")
_WORDS = ("Banana", "window", "Quartz", "seven oxen", "blue")
_OF_LENGTH = {
    len(pair[0]): pair
    for pair in (
        ("a", "i"), ("ox", "we"), ("jar", "cup"), ("lamp", "rope"), ("chair", "plant"), ("banana", "window"),
        ("blanket", "kitchen"), ("mountain", "sandwich"), ("furniture", "orchestra"), ("helicopter", "dictionary"),
    )
}  # fmt: skip
"""Two words of each length."""
_TWO_WAYS = (("yes", "no"), ("true", "false"), ("correct", "incorrect"), ("positive", "negative"))

_OPPOSITES = (
    ("increase", "decrease"), ("increased", "decreased"), ("rise", "fall"), ("rose", "fell"), ("higher", "lower"),
    ("more", "less"), ("before", "after"), ("left", "right"), ("north", "south"), ("east", "west"), ("up", "down"),
    ("buy", "sell"), ("profit", "loss"), ("gain", "loss"), ("above", "below"), ("always", "never"), ("with", "without"),
    ("first", "last"), ("maximum", "minimum"), ("allowed", "forbidden"), ("open", "closed"), ("accept", "reject"),
)  # fmt: skip
"""Words that turn an answer into its opposite."""
_RELATED_UNITS = (
    ("km", "m", "cm", "mm", "miles"), ("kg", "g", "mg", "lb"), ("h", "min", "s", "hours", "minutes", "seconds", "days"),
    ("GB", "MB", "KB"), ("kW", "W", "MW"), ("°C", "°F"), ("USD", "EUR", "GBP"),
)  # fmt: skip
"""Units of the same dimension, which are not the same."""

_QUANTITY = re.compile(r"(-?[\d.,]+ ?)([A-Za-z°]+)")
_FREE = re.compile(r"(?i)reason|expla|comment|note|summary|title|descri|thought|rational|message|text|remark|caption")
"""Names of JSON keys whose texts are often free. A reward may accept any text there."""
_NOTHING: tuple[Any, ...] = (None, "", [], {})
OTHER_TEXT = "another text"
_TURNED = "its comparison reversed"
_POINTLESS = "without its decimal point"
_REGROUPED = "a digit moved to its neighbor"
_NUMBERED = re.compile(r"(?m)^\s*\(?\d{1,3}[.):]\s")
"""Matches a list item's number at the beginning of a line: ``(1) ``, ``2. ``."""


@dataclass(frozen=True)
class Wrong:
    """An answer that is certainly incorrect.

    Attributes:
        text: the answer.
        family: the exploit family to which the answer belongs.
        kind: a short description.
        honest: whether a model may give the answer in good faith.
    """

    text: str
    family: str
    kind: str
    honest: bool = False


def wrong_answers(gold: str, value: Any = None, others: Iterable[str] = ()) -> list[Wrong]:
    """Return answers that are certainly not `gold`. Those in good faith come first.

    Args:
        gold: the correct answer as a completion writes it.
        value: the gold column's value.
        others: the gold answers of other examples.
    """
    answers: dict[str, Wrong] = {}
    if not gold.strip():
        return []
    for wrong in _wrong(gold.strip(), value, tuple(others)):
        if wrong.kind in (_TURNED, _POINTLESS, _REGROUPED) or not equal(wrong.text, gold):
            answers.setdefault(wrong.text, wrong)
    return list(answers.values())


def _wrong(gold: str, value: Any, other_golds: tuple[str, ...]) -> Iterator[Wrong]:
    number = as_number(gold)
    items = _items(gold, value)
    opposite = opposite_of(gold)
    if number is not None:
        yield from _wrong_numbers(gold, number, value)
    elif opposite:
        yield Wrong(opposite, "wrong", "the opposite", honest=True)
    elif re.fullmatch(r"\[\d{1,3}\]", gold):  # a citation
        cited = int(gold[1:-1])
        yield from (Wrong(f"[{cited + more}]", "wrong", "another number", honest=True) for more in (1, 97))
    # The letter of an option.
    elif re.fullmatch(r"[A-Z]", gold) or re.fullmatch(r"\([A-Z]\)", gold):
        yield from _wrong_letters(gold)
    elif gold[:1] in "{" and gold[-1:] == "}":
        yield from _wrong_objects(gold)
    elif items is not None and len(items) > 1:
        yield from _wrong_lists(gold, items)
    else:
        yield from _wrong_texts(gold)
    for other in other_golds:
        if not (_overlap(other, gold) or may_agree(other, gold)):
            yield Wrong(other, "wrong", "another example's gold answer", honest=True)
    # A mark between letters or digits, as in "a.b" and "12-13": in a pattern, a period matches any character.
    if number is None and gold[:1] not in "[{(" and re.search(r"\w[^\w\s]\w", gold):
        yield Wrong(re.sub(r"(?<=\w)[^\w\s](?=\w)", "x", gold), "pattern", "its marks replaced by letters")
    # "12 34" becomes "123 4": the same digits, which a reward that removes spaces cannot tell apart.
    shifted = re.sub(r"(?<![\w.])(\d+) (\d)(\d+)(?![\w.])", r"\1\2 \3", gold, count=1)
    shifted = shifted if shifted != gold else re.sub(r"(?<![\w.])(\d+)(\d) (\d+)(?![\w.])", r"\1 \2\3", gold, count=1)
    if shifted != gold:
        yield Wrong(shifted, "disguise", _REGROUPED)
    # "3, 11" becomes "31, 1": the same digits, which a reward that removes commas cannot tell apart.
    regrouped = re.sub(r"(?<![\w.])(\d+), ?(\d)(\d+)(?![\w.])", r"\1\2, \3", gold, count=1)
    if regrouped != gold:
        yield Wrong(regrouped, "disguise", _REGROUPED)
    if re.match(r"(?is)(?:select|with)\b.*\bfrom\s", gold):  # a query without rows, and one that fails
        query = gold.rstrip("; ")
        if not re.search(r"(?i)\blimit\b", query):
            yield Wrong(f"{query} LIMIT 0", "superset", "the query without rows")
        yield Wrong(re.sub(r"(?i)(\bfrom\s+)\w+", r"\1no_such_table", query, count=1), "disguise", "another table")
    for written, kind in (*_opposites(gold), *_other_units(gold)):
        yield Wrong(written, "disguise", kind, honest=True)
    command = re.fullmatch(r"((?:cp|mv|ln|scp|rsync|diff)(?: -\S+)*) (\S+) (\S+)", gold)
    if command is not None:
        yield Wrong(f"{command[1]} {command[3]} {command[2]}", "disguise", "its arguments in each other's place")
    # "x < 3" becomes "x > 3".
    reversed_comparison = re.sub(r"(?<=\s)[<>](?==?\s)", lambda sign: "<" if sign[0] == ">" else ">", gold)
    if reversed_comparison != gold:
        yield Wrong(reversed_comparison, "disguise", _TURNED)
    if not re.search(r"\\boxed\{|####", gold):  # the answer is only part of such a text
        yield from _wrong_literals(gold)
    lines = gold.splitlines()
    if len(lines) > 1 and "```" not in gold:
        yield from _wrong_lines(lines)
    yield Wrong("", "empty", "nothing")
    yield Wrong(" ", "empty", "a space")
    for placeholder in PLACEHOLDERS:
        yield Wrong(placeholder, "placeholder", "a placeholder")


def _opposites(gold: str) -> Iterator[tuple[str, str]]:
    """Yield a text of several words with one word turned into its opposite."""
    for pair in _OPPOSITES if len(gold.split()) > 1 else ():
        for word, other in (pair, pair[::-1]):
            match = re.search(rf"(?i)\b{word}\b", gold)
            if match is not None:
                turned = f"{gold[: match.start()]}{_cased(other, match[0])}{gold[match.end() :]}"
                yield turned, f"{other!r} instead of {word!r}"


def _other_units(gold: str) -> Iterator[tuple[str, str]]:
    """Yield a quantity with another unit of the same dimension."""
    quantity = _QUANTITY.fullmatch(gold)
    units = next((units for units in _RELATED_UNITS if quantity is not None and quantity[2] in units), ())
    for unit in units:
        if quantity is not None and unit.lower()[0] != quantity[2].lower()[0]:  # "h" and "hours" are the same
            yield f"{quantity[1]}{unit}", "another unit"


def _wrong_numbers(gold: str, number: Decimal, value: Any) -> Iterator[Wrong]:
    digits = re.sub(r"\D", "", gold)
    shifted = _other_digits(digits)
    same_length = ("1" if digits[:1] >= "5" else "9") + shifted[1:]
    point = gold.find(".")
    moved = (
        f"{same_length[: -len(gold) + point + 1]}.{same_length[-(len(gold) - point - 1) :]}"
        if point > 0
        else same_length
    )
    yield Wrong(
        moved if as_number(moved) is not None else same_length,
        "wrong",
        "another number of the same length",
        honest=True,
    )
    if "%" not in f"{gold}{value}":
        for factor in (Decimal(100), Decimal("0.01"), Decimal(1000)):
            yield Wrong(
                format((number * factor).normalize(), "f"), "wrong", "the gold answer times a power of ten", honest=True
            )
    # Far away in several ways: another length, near a multiple, the other sign, and beyond any tolerance.
    far = [number * 10 + 7, number * 3 + 1000, -number - 1000 if number == 0 else -number, number + 10**12]
    for other in far:
        yield Wrong(format(other.normalize(), "f"), "wrong", "a number far away", honest=True)
    if re.fullmatch(r"\d+\.\d+", gold) and gold[:1] != "0":
        yield Wrong(gold.replace(".", ""), "disguise", _POINTLESS, honest=True)
    if len(digits) > 1:
        yield Wrong(gold[: max(1, len(gold) // 2)].rstrip(".,"), "prefix", "the first digits")
        yield Wrong(digits[-1], "prefix", "the last digit")
    yield Wrong(f"1{digits}8", "superset", "the gold answer inside a longer number")
    yield Wrong(f"{digits}000000", "superset", "the gold answer with zeros added")
    for text in ("nan", "NaN", "inf", "-inf", "Infinity", "1e999", "-1e999"):
        yield Wrong(text, "not a number", "NaN or infinite, which comparisons miss")


def _wrong_letters(gold: str) -> Iterator[Wrong]:
    letter = gold.strip("()")
    for other in "ABCDEFGH":
        if other != letter and ord(other) <= max(ord("D"), ord(letter)):
            yield Wrong(gold.replace(letter, other), "wrong", "another option", honest=True)
    word = {"A": "Absolutely", "B": "Because", "C": "Certainly", "D": "Definitely"}.get(letter, f"{letter}xyz")
    yield Wrong(f"{word} not sure", "prefix", "a word that begins with the letter")
    around = "ABCDE" if letter in "BCD" else "".join(sorted({*"ABCDE", letter, "Z"}))
    yield Wrong(around, "shotgun", "all options joined")


def _wrong_texts(gold: str) -> Iterator[Wrong]:
    size = len(gold)
    for word in _WORDS:
        if not _overlap(word, gold):
            yield Wrong(word, "wrong", OTHER_TEXT, honest=True)
    filler = _in_shape_of(gold)
    if size > 1 and not _overlap(filler, gold):
        yield Wrong(filler, "wrong", "another text of the same length", honest=True)
    # Half of a shorter text may be right by chance, and "3 h" is half of "3 hours".
    if size >= 4 and not _QUANTITY.fullmatch(gold):
        yield Wrong(gold[: size // 2].rstrip(), "prefix", "the first half")
        if gold[1].isalnum():  # the C of "C. elegans" may be the letter of an option
            yield Wrong(gold[0], "prefix", "the first letter")
    # A word of four letters or more: a shorter one spelled backward may be another right answer.
    if re.fullmatch(r"[^\W\d_]{4,}", gold):
        yield Wrong(gold[::-1], "disguise", "its letters in a different order")
    words = gold.split()
    # With fewer words, the first one may be right by chance.
    if len(words) >= 4:
        yield Wrong(words[0], "prefix", "the first word")


def _in_shape_of(gold: str) -> str:
    """Return other words and digits with the lengths, capitals, and marks of a text: only these can be wrong."""

    def other(word: re.Match[str]) -> str:
        size = len(word[0])
        candidates = [text for text in _OF_LENGTH.get(size, ()) if text != word[0].lower()]
        return _cased((candidates or [("banana" * size)[:size]])[0], word[0])

    return _other_digits(re.sub(r"[^\W\d_]+", other, gold))


def _other_digits(text: str) -> str:
    """Replace each digit with another one, and none with 0, because a leading 0 could be left out."""
    return re.sub(r"\d", lambda digit: str((int(digit[0]) + 4) % 9 + 1), text)


def _wrong_literals(gold: str) -> Iterator[Wrong]:
    """Yield a text, query, or list with one number or quoted text changed, or with True for 1 or False for 0."""
    listed = list(_NUMBERED.finditer(gold))  # (1) Zoey is a knight\n(2) ...: another number there is no other answer
    skipped = [match.span() for match in listed] if len(listed) > 1 else []
    numbers = [
        match
        for match in re.finditer(r"(?<![\w.])\d+(?![\w.])", gold)
        if not any(start <= match.start() < end for start, end in skipped)
    ]
    # Arbitrary limit: each number makes one more wrong answer.
    for match in numbers[:3] if len(numbers) > 1 or re.search(r"[A-Za-z]{3}", gold) else ():
        other = str((int(match[0][0]) + 3) % 9 + 1) + match[0][1:]
        yield Wrong(gold[: match.start()] + other + gold[match.end() :], "disguise", "another number in it")
    # In a code such as "E11.9", the point may be left out.
    pointless = re.sub(r"(?<![\w.])([1-9]\d*)\.(\d+)(?![\d.])", r"\1\2", gold, count=1)
    if pointless != gold and re.search(r"[A-Za-z]", gold):
        yield Wrong(pointless, "disguise", _POINTLESS)
    # A text in quotation marks, as in a query.
    quoted = re.search(r"(['\"])(\w[\w ]*)\1", gold)
    if quoted is not None and gold[:1] not in "[{":
        other = f"{quoted[1]}{other_value(quoted[2])}{quoted[1]}"
        yield Wrong(gold[: quoted.start()] + other + gold[quoted.end() :], "disguise", "another quoted text in it")
    if gold[:1] in "[{(" and gold[-1:] in "]})":
        for digit, word in (("1", "True"), ("0", "False")):
            for written in (word, word.lower()):
                changed = re.sub(rf"(?<![\w.\"'-]){digit}(?![\w.\"'])", written, gold, count=1)
                if changed != gold:
                    yield Wrong(changed, "disguise", f"{written} for {digit}")


def _wrong_lines(lines: list[str]) -> Iterator[Wrong]:
    yield Wrong(lines[0], "prefix", "the first line alone")
    wrong = [lines[0], *("wrong" for _ in lines[1:])]
    yield Wrong("\n".join(wrong), "prefix", "a correct first line, the rest incorrect")
    yield Wrong(
        "\n".join([*("wrong" for _ in lines[1:]), lines[-1]]), "prefix", "a correct last line, the rest incorrect"
    )
    # The bullet of the last line, or nothing: a wrong item must look like the others.
    bullet = re.match(r"\s*(?:[-*•]|\(?\d+[.)])\s+|", lines[-1])
    wrong_item = f"{bullet[0] if bullet else ''}wrong"
    yield Wrong("\n".join([*lines, wrong_item, wrong_item]), "superset", "extra lines")


def _wrong_lists(gold: str, items: list[str]) -> Iterator[Wrong]:
    joint = _joint(gold, items)
    opening, closing = (gold[0], gold[-1]) if gold[:1] in "[(" else ("", "")
    quote = '"' if '"' in gold else ""

    def written(parts: Iterable[str]) -> str:
        return opening + joint.join(f"{quote}{part}{quote}" for part in parts) + closing

    numeric = all(as_number(item) is not None for item in items)
    numbers = [number for number in map(as_number, items) if number is not None]
    # Beyond all items, if they are small; otherwise an arbitrary number that hardly any task has.
    far = int(max(map(abs, numbers), default=Decimal(0))) + 1 if max(map(abs, numbers), default=0) < 20 else 7001
    other_items = [
        str(far + (2 if far < 7001 else 13) * index) if numeric else f"item{index}" for index in range(len(items))
    ]
    yield Wrong(written(other_items), "wrong", "a list of other items", honest=True)
    yield Wrong(written(other_items[:1]), "wrong", "one other item", honest=True)
    yield Wrong(written(items[:1]), "prefix", "the first item alone")
    yield Wrong(written(items[:-1]), "prefix", "all items but the last")
    yield Wrong(written(items[1:]), "prefix", "all items but the first")
    yield Wrong(written([*items[:-1], other_items[-1]]), "wrong", "another last item")
    yield Wrong(written([other_items[0], *items[1:]]), "wrong", "another first item")
    yield Wrong(written([items[0], *other_items[1:]]), "prefix", "a correct first item, the rest incorrect")
    yield Wrong(written([*items, *other_items, *other_items]), "superset", "extra items")
    yield Wrong(written(items[:1] * len(items)), "repetition", "the first item repeated")


def _joint(gold: str, items: list[str]) -> str:
    """Return the separator of the items, such as ``" > "`` in ``"b > a"``."""
    first, second = gold.find(items[0]), gold.find(items[1])
    if 0 <= first < second:
        between = gold[first + len(items[0]) : second].strip("\"'")
        # " and ", ", ": longer texts are not separators.
        if 0 < len(between) <= 6:
            return between
    return next((mark for mark in (", ", "\n", "; ", ",", " ") if mark in gold), ", ")


def _wrong_objects(gold: str) -> Iterator[Wrong]:
    parsed = parsed_json(gold)
    if parsed is None:
        return
    yield Wrong(
        json.dumps({key: other_value(value) for key, value in parsed.items()}), "wrong", "other values", honest=True
    )
    yield Wrong(json.dumps(dict.fromkeys(parsed)), "placeholder", "null for each value")
    # Arbitrary limits, here and below: a document may have thousands of keys.
    for key in list(parsed)[:2]:
        if any(value not in _NOTHING for other, value in parsed.items() if other != key):
            yield Wrong(json.dumps({key: parsed[key]}), "prefix", "only one correct value")
    for key in list(parsed)[:8] if len(parsed) > 1 else ():
        mixed = {other: right if other == key else other_value(right) for other, right in parsed.items()}
        yield Wrong(json.dumps(mixed), "prefix", "one correct value among incorrect ones")
    for path, value in leaves(parsed):
        if not _is_prose(value) and not _FREE.search(str(path[-1])):
            name = ".".join(map(str, path))
            wrong = json.dumps(with_leaf(parsed, path, other_value(value)))
            yield Wrong(wrong, "wrong", f"another value for {name!r}")
    for key in [key for key, value in parsed.items() if value not in _NOTHING][:8] if len(parsed) > 2 else ():
        rest = {other: right for other, right in parsed.items() if other != key}
        yield Wrong(json.dumps(rest), "prefix", f"all but {key!r}")
    yield Wrong("{}", "empty", "an empty object")
    yield Wrong("[]", "empty", "an empty list")


def leaves(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Yield the values in a document that are neither objects nor lists, with their paths, at most eight per object."""
    below = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
    if below is None:
        yield path, value
    # Arbitrary limit: a document may have thousands of keys.
    for key, part in islice(below or (), 8):
        yield from leaves(part, (*path, key))


def with_leaf(value: Any, path: tuple[str | int, ...], other: Any) -> Any:
    """Return the document `value` with `other` at `path`."""
    if not path:
        return other
    changed = copy.copy(value)
    changed[path[0]] = with_leaf(value[path[0]], path[1:], other)
    return changed


def _is_prose(value: Any) -> bool:
    """Return whether `value` is free text, whose wording a reward may leave to the policy."""
    # More than three words are a sentence, and many sentences may be right.
    return isinstance(value, str) and len(value.split()) > 3


def other_value(value: Any) -> Any:
    """Return a certainly different value of the same type. In objects and lists, every value changes."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        # A different number for every integer, including 0.
        return value * 10 + 7
    if isinstance(value, list):
        return [other_value(item) for item in value] or ["window"]
    if isinstance(value, dict):
        return {key: other_value(item) for key, item in value.items()}
    text = str(value)
    if _CALENDAR.match(text):  # it stays a date or a time, but four years later and at another hour
        later = re.sub(r"^\d{4}(?=-)", lambda year: f"{(int(year[0]) + 4) % 10_000:04}", text)
        return re.sub(
            r"(?<!\d)\d{1,2}(?=:\d\d)", lambda hour: f"{(int(hour[0]) + 5) % 24:0{len(hour[0])}}", later, count=1
        )
    return "window" if "window" not in text.lower() else "quartz"


def other_options(prompt: str, chosen: Collection[str]) -> list[str]:
    """Return the other items of a list in a prompt that contains all the `chosen` ones, such as labels to choose from.

    ``other_options("Is it spam, promotion, or neither?", ["spam"])`` is ``["promotion", "neither"]``.
    """
    chosen_items = {item.lower() for item in chosen}
    for sentence in re.split(r"[\n:.?!()]", prompt):
        items = [item.strip(" '\"`*").lower() for item in re.split(r",(?: and| or)?|;|/| or | and |\|", sentence)]
        items[0] = items[0].split()[-1] if items[0] else ""  # "Is it spam"
        if (
            chosen_items <= set(items)
            and 1 < len(items) <= _MOST_OPTIONS
            and all(len(item) <= _LONGEST_OPTION for item in items)
        ):
            written = {item: match[0] for item in items if (match := re.search(re.escape(item), prompt, re.IGNORECASE))}
            return [text for item, text in written.items() if item and item not in chosen_items]
    return []


def _items(gold: str, value: Any) -> list[str] | None:
    """Return the items in a gold answer, or None if it is not a list."""
    if isinstance(value, (list, tuple, set, frozenset)):
        return [str(item) for item in value]
    if isinstance(value, str) and value[:1] == "[":
        parsed = parsed_json(value)
        return [str(item) for item in parsed] if isinstance(parsed, list) else None
    if gold[:1] == "[" and gold[-1:] == "]":
        return [part.strip().strip("\"'") for part in gold[1:-1].split(",")]
    # "red, blue": items of up to 30 characters, which sentences rarely have.
    if re.fullmatch(r"[^,;\n]{1,30}(?:[,;] ?[^,;\n]{1,30})+", gold) and as_number(gold) is None:
        return [part.strip() for part in re.split(r"[,;]", gold)]
    return None


def opposite_of(answer: str) -> str:
    """Return the other one of two answers such as "yes" and "no", in the same case, or "" for other answers."""
    lowered = answer.lower()
    other = next(
        (second if lowered == first else first for first, second in _TWO_WAYS if lowered in (first, second)), ""
    )
    return _cased(other, answer)


def _cased(word: str, like: str) -> str:
    return word.upper() if like.isupper() else word.capitalize() if like[:1].isupper() else word


def equal(answer: str, other_answer: str) -> bool:
    """Return whether a lenient but sound reward may consider two answers equal."""
    a, b = as_number(answer), as_number(other_answer)
    if a is not None and b is not None:
        return abs(a - b) <= abs(b) / 2  # no sound tolerance is wider
    if value_of(answer) is not None and value_of(answer) == value_of(other_answer):
        return True
    # "12 34" and "1234" are not equal.
    if re.search(r"\d \d", other_answer):
        return answer.split() == other_answer.split()
    return (
        plain(answer) == plain(other_answer) and bool(plain(other_answer))
    ) or answer.strip() == other_answer.strip()


_TRUTHS = (frozenset(("yes", "true", "correct", "y", "t", "1")), frozenset(("no", "false", "incorrect", "n", "f", "0")))
_UNITS = re.compile(r"-?[\d.,/]+(?:e-?\d+)?\s?([^\W\d_]+|°\w?|%|[$€£¥])\.?")
"""Matches a number with its unit: ``5 km``, ``50%``. Numbers with different units may be the same quantity."""
_FORMULA = re.compile(
    r"\\(?![dt]?frac\b)[a-z]+|\^|[²³√π]|\b(?:sqrt|pi)\b|(?:\d|\b[a-z]|\))(?:\s?[+*×÷=<>]\s?|\s-\s|/)(?:\d|[a-z]\b|\()"
)
"""Matches formulas, which have many notations: ``2^3``, ``\\sqrt{8}``, ``x + 1``. Fractions are compared by value."""


def may_agree(answer: str, other_answer: str) -> bool:
    """Return whether two answers may be the same, in other words or notation, so that neither proves the other wrong.

    ``may_agree("50%", "1/2")``, ``may_agree("NYC", "New York City")``, and ``may_agree("12", "twelve")`` are True.
    """
    if equal(answer, other_answer):
        return True
    pair = (answer.strip().lower(), other_answer.strip().lower())
    values = [set(values_in(text)) for text in pair]
    if all(value_of(text.rstrip("%")) is not None for text in pair):
        return any(abs(first - second) <= abs(second) / 2 for first in values[0] for second in values[1])
    if _overlap(*pair) or any(pair[0] in truth and pair[1] in truth for truth in _TRUTHS):
        return True
    first_unit, second_unit = map(_UNITS.fullmatch, pair)
    if first_unit and second_unit and first_unit[1] != second_unit[1]:
        return True
    if any(map(_FORMULA.search, pair)) or values[0] & values[1]:  # such as two notations of a date
        return True
    words = [re.findall(r"[^\W_]+", text) for text in pair]
    initials = ["".join(word[0] for word in texts) for texts in words]
    return (
        sorted(words[0]) == sorted(words[1])
        or plain(pair[0]) == initials[1]
        or plain(pair[1]) == initials[0]
        or any(_may_spell(*texts) for texts in (pair, pair[::-1]))
        # The letter or number of an option and the option's text.
        or any(len(plain(text)) == 1 and len(plain(other)) > 1 for text, other in (pair, pair[::-1]))
    )


def _may_spell(number: str, other: str) -> bool:
    """Return whether the second text may be the number in words, such as "twelve", "a dozen", or "XII"."""
    return value_of(number) is not None and not any(character.isdigit() for character in other)


def plain(text: str) -> str:
    """Return only the letters and digits in `text`, in lower case."""
    return re.sub(r"[\W_]+", "", text).lower()


def _overlap(answer: str, other_answer: str) -> bool:
    return plain(answer) in plain(other_answer) or plain(other_answer) in plain(answer)
