"""Instructions that are whole assignments with one known form: tables, lists, quizzes, reversed sentences."""

from __future__ import annotations

import csv
import datetime
import io
import re
import unicodedata
from itertools import pairwise

from rewardkit.core.errors import shorten
from rewardkit.primitives.instructions.passage import Passage, trimmed
from rewardkit.primitives.instructions.registry import check, counted
from rewardkit.primitives.instructions.vocabulary import AFRICAN_COUNTRIES, NORTHERN_CAPITALS

_MULTIPLES = [str(number) for number in range(14, 50, 7)]
_QUESTION = re.compile(r"Question \d{1,9}[.:;|)]?")
_OPTION = re.compile(r"[A-Ea-e][.|)]\s*\w")
_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_SPECIAL_FIELD = re.compile(r'"[^"\n]*[^\w\s"][^"\n]*"')


@check("custom:multiples")
def multiples(passage: Passage) -> str:
    numbers = re.findall(r"\d+", passage.text)
    return "" if numbers == _MULTIPLES else f"expected {', '.join(_MULTIPLES)}"


@check("custom:mcq_count_length")
def quiz(passage: Passage) -> str:
    if not passage.text.startswith("Question"):
        return "does not start with a question"
    questions = [part.strip() for part in _QUESTION.split(passage.text) if part.strip()]
    if len(questions) != 4:
        return counted(len(questions), "exactly", 4, "questions")
    lengths = []
    for question in questions:
        lines = [line.strip() for line in question.split("\n")]
        options = [number for number, line in enumerate(lines) if _OPTION.match(line)]
        if len(options) != 5:
            return counted(len(options), "exactly", 5, "options of a question")
        lengths.append(len(" ".join(lines[: options[0]]).strip()))
    return "" if all(shorter < longer for shorter, longer in pairwise(lengths)) else "a question is not longer"


def _ascii(text: str) -> str:
    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()


@check("custom:reverse_newline")
def african_countries(passage: Passage) -> str:
    lines = [_ascii(trimmed(line)) for line in passage.lines if trimmed(line)]
    start = next((number for number, line in enumerate(lines) if "Zimbabwe" in line), len(lines))
    countries = lines[start:]
    if len(countries) < 52:
        return counted(len(countries), "at least", 52, "countries from Zimbabwe on")
    other = next((line for line in countries if not any(name in line.lower() for name in AFRICAN_COUNTRIES)), None)
    if other:
        return f"{shorten(other, 40)} is no country of Africa"
    wrong = next((pair for pair in pairwise(countries) if pair[0] <= pair[1]), None)
    return f"{shorten(wrong[1], 40)} follows {shorten(wrong[0], 40)}" if wrong else ""


@check("custom:word_reverse")
def reversed_words(passage: Passage) -> str:
    return "" if "bald eagle" in " ".join(passage.bare_words[::-1]) else "no bald eagle, read backwards"


@check("custom:character_reverse")
def reversed_characters(passage: Passage) -> str:
    return "" if "elgae dlab" in passage.lower else "no bald eagle, read backwards"


@check("custom:sentence_alphabet")
def alphabet_story(passage: Passage) -> str:
    if len(passage.sentences) != 26:
        return counted(len(passage.sentences), "exactly", 26, "sentences")
    initials = [sentence.split()[0].lower()[0] for sentence in passage.sentences]
    wrong = next((number for number in range(26) if initials[number] != chr(ord("a") + number)), None)
    return "" if wrong is None else f"sentence {wrong + 1} starts with {initials[wrong]!r}"


@check("custom:european_capitals_sort")
def capitals(passage: Passage) -> str:
    named = [name.strip() for name in _ascii(passage.text).split(",") if name.strip()]
    if len(named) != len(NORTHERN_CAPITALS):
        return counted(len(named), "exactly", len(NORTHERN_CAPITALS), "capitals")
    wrong = next((pair for pair in zip(named, NORTHERN_CAPITALS, strict=True) if pair[0] != pair[1]), None)
    return f"{shorten(wrong[0], 40)} in the place of {wrong[1]}" if wrong else ""


def _rows(text: str, delimiter: str, columns: tuple[str, ...], count: int) -> str:
    """Return what is wrong with the header, the number of rows or their length."""
    try:
        header, *rows = csv.reader(io.StringIO(text), delimiter=delimiter, skipinitialspace=True)
    except (csv.Error, ValueError) as error:
        return f"not CSV: {shorten(str(error), 60)}"
    if tuple(map(str.strip, header)) != columns:
        return f"the header is {shorten(delimiter.join(header), 60)}"
    if len(rows) != count:
        return counted(len(rows), "exactly", count, "rows")
    return "" if all(len(row) == len(columns) for row in rows) else f"a row without {len(columns)} fields"


@check("custom:csv_city")
def cities(passage: Passage) -> str:
    return _rows(passage.text, ",", ("ID", "Country", "City", "Year", "Count"), 7)


@check("custom:csv_special_character")
def products(passage: Passage) -> str:
    problem = _rows(passage.text, ",", ("ProductID", "Category", "Brand", "Price", "Stock"), 14)
    special = any(_SPECIAL_FIELD.search(line) for line in passage.lines[1:])
    return problem or ("" if special else "no field in quotes with a special character")


@check("custom:csv_quotes")
def grades(passage: Passage) -> str:
    problem = _rows(passage.text, "\t", ("StudentID", "Subject", "Grade", "Semester", "Score"), 3)
    fields = [field.strip() for line in passage.lines for field in line.split("\t")]
    quoted = all(len(field) > 1 and field[0] == field[-1] == '"' for field in fields)
    return problem or ("" if quoted else "a field without double quotes")


@check("custom:date_format_list")
def battle_dates(passage: Passage) -> str:
    dates = [date.strip() for date in passage.text.strip().split(",")]
    wrong = next((date for date in dates if not _is_battle(date)), None)
    return "" if wrong is None else f"{shorten(wrong, 40)} is not a date of his life as YYYY-MM-DD"


def _is_battle(date: str) -> bool:
    try:
        return bool(_DATE.fullmatch(date)) and 1769 <= datetime.date.fromisoformat(date).year <= 1821
    except ValueError:
        return False
