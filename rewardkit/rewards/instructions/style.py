"""Instructions about style: language, case, and punctuation."""

from __future__ import annotations

from typing import Annotated

from rewardkit.errors import shorten
from rewardkit.rewards.instructions.passage import Passage
from rewardkit.rewards.instructions.registry import Count, Relation, check, counted
from rewardkit.text.languages import NAMES, identified

# Detection: ``language_of("Das ist ein Haus.")`` is ``"de"``.


_LISTED = """
ar bg bn cs da de el en es et fa fi fr gu he hi hr hu id it ja kn ko lt lv ml mr ne nl no pa pl pt ro ru sk sl sq sv sw
ta te th tl tr uk ur vi zh
"""
"""The languages that can be identified, as ISO 639-1 codes."""
_CODES = tuple(_LISTED.split())


def language_of(text: str) -> str:
    """Return the code of the main language in `text`; empty if `text` has no letters."""
    return identified(text, _CODES) if any(map(str.isalpha, text)) else ""


_COMMAS = ",\uff0c\u3001\u060c"
_INTERROBANGS = ("?!", "!?", "\u203d")


def _language(value: object) -> str:
    code = str(value).lower()
    if code not in _CODES:
        raise ValueError("must be an ISO 639-1 code, such as 'en'")
    return code


Language = Annotated[str, _language]


def _in_language(text: str, expected: str) -> str:
    language = language_of(text)
    return (
        ""
        if language == expected
        else f"is {NAMES[language]}, not {NAMES[expected]}"
        if language
        else "no words of a language"
    )


@check("language:response_language", library="py3langid")
def response_language(passage: Passage, language: Language) -> str:
    return _in_language(passage.text, language)


@check("change_case:english_capital", library="py3langid")
def english_capital(passage: Passage) -> str:
    return _in_language(passage.lower, "en") if passage.text.isupper() else "not all letters are capital"


@check("change_case:english_lowercase", library="py3langid")
def english_lowercase(passage: Passage) -> str:
    return _in_language(passage.text, "en") if passage.text.islower() else "not all letters are lowercase"


@check("change_case:capital_word_frequency")
def capital_words(passage: Passage, capital_frequency: Count, capital_relation: Relation) -> str:
    capital_count = sum(map(str.isupper, passage.tokens))
    return counted(capital_count, capital_relation, capital_frequency, "words in capitals")


@check("format:title_case")
def title_case(passage: Passage) -> str:
    words = [token for token in passage.tokens if token[0].isalpha() and token.lower() != "n't"]
    wrong = next((word for word in words if word[0].islower() and (word[1:].islower() or not word[1:])), None)
    shouted = next((word for word in words if word[0].islower() and word[1:].isupper()), None)
    if offender := wrong or shouted:
        return f"{shorten(offender, 40)} does not start with a capital"
    return "" if words else "no words"


@check("punctuation:no_comma")
def no_comma(passage: Passage) -> str:
    return counted(sum(map(passage.text.count, _COMMAS)), "exactly", 0, "commas")


@check("punctuation:punctuation_dot")
def no_dot(passage: Passage) -> str:
    return counted(sum(map(passage.text.count, ".\uff0e\u2024\u2025\u2026")), "exactly", 0, "dots")


@check("punctuation:punctuation_exclamation")
def no_exclamation(passage: Passage) -> str:
    return counted(sum(map(passage.text.count, "!\uff01\u203c")), "exactly", 0, "exclamation marks")


@check("count:punctuation")
def every_mark(passage: Passage) -> str:
    interrobang = next((mark for mark in _INTERROBANGS if mark in passage.text), None)
    if interrobang is None:
        return "no interrobang ?!"
    rest = passage.text.replace(interrobang, "", 1)
    missing = [mark for mark in ".,!?;:" if mark not in rest]
    return f"no {' '.join(missing)}" if missing else ""
