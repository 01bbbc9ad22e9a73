"""Languages: their codes, names, and scripts, and identification of a text's language.

``language_code("German")`` is ``"de"``, ``SCRIPTS["ja"]`` names the scripts of Japanese, and
``ranked("Das ist ein Haus.", ("de", "nl"))`` puts ``"de"`` first.
"""

from __future__ import annotations

import copy
import importlib.util
import re
import unicodedata
from functools import cache, lru_cache
from typing import Any

from rewardkit.errors import MissingExtraError, near_miss, shorten
from rewardkit.text.visibility import stacked

_LISTED = {
    "LATIN": """
        af Afrikaans, az Azerbaijani, ca Catalan, cs Czech, cy Welsh, da Danish, de German, en English, es Spanish,
        et Estonian, eu Basque, fi Finnish, fr French, ga Irish, hr Croatian, hu Hungarian, id Indonesian,
        is Icelandic, it Italian, lt Lithuanian, lv Latvian, ms Malay, nl Dutch, no Norwegian, pl Polish,
        pt Portuguese, ro Romanian, sk Slovak, sl Slovenian, sq Albanian, sv Swedish, sw Swahili, tl Tagalog,
        tr Turkish, vi Vietnamese
    """,
    "CYRILLIC": "be Belarusian, bg Bulgarian, kk Kazakh, mk Macedonian, ru Russian, uk Ukrainian",
    "CYRILLIC LATIN": "sr Serbian",
    "ARABIC": "ar Arabic, fa Persian, ur Urdu",
    "DEVANAGARI": "hi Hindi, mr Marathi, ne Nepali",
    "CJK IDEOGRAPHIC": "zh Chinese",
    "CJK HIRAGANA KATAKANA KATAKANA-HIRAGANA IDEOGRAPHIC": "ja Japanese",
    "ARMENIAN": "hy Armenian",
    "BENGALI": "bn Bengali",
    "GEORGIAN": "ka Georgian",
    "GREEK": "el Greek",
    "GUJARATI": "gu Gujarati",
    "GURMUKHI": "pa Punjabi",
    "HANGUL": "ko Korean",
    "HEBREW": "he Hebrew",
    "KANNADA": "kn Kannada",
    "MALAYALAM": "ml Malayalam",
    "TAMIL": "ta Tamil",
    "TELUGU": "te Telugu",
    "THAI": "th Thai",
}
_PAIRS = [(scripts, *pair.split()) for scripts, listed in _LISTED.items() for pair in listed.split(",")]

NAMES = {code: name for _, code, name in _PAIRS}
"""ISO 639-1 code -> the language's English name."""

SCRIPTS = {code: tuple(scripts.split()) for scripts, code, _ in _PAIRS}
"""ISO 639-1 code -> the language's scripts, each named by the first word of its Unicode character names."""

_CODES = {name.lower(): code for code, name in NAMES.items()} | {"nb": "no", "nn": "no"}
_SIGNS = frozenset("\u00aa\u00b5\u00ba\u2126\u212a\u212b")
"""Signs that Unicode classifies as letters, but that all scripts use: micro, ohm, kelvin, angstrom, and ordinals."""


def language_code(name: object) -> str:
    """Return the ISO 639-1 code for a language, given as a code (``en``, ``en-US``) or as an English name.

    Raises:
        ValueError: the language is unknown. The message names a similar one.
    """
    language_name = name.strip().lower() if isinstance(name, str) else ""
    code = re.split("[-_]", language_name, maxsplit=1)[0]
    resolved = code if code in NAMES else _CODES.get(language_name, _CODES.get(code))
    if resolved is None:
        raise ValueError(f"unknown language {shorten(name, 60)}.{near_miss(language_name[:60], [*NAMES, *_CODES])}")
    return resolved


# The number of characters in Unicode's basic plane.
@lru_cache(maxsize=65_536)
def script_of(character: str) -> str:
    """Return a letter's script, or "" for other characters."""
    if character in _SIGNS:
        return ""
    character = unicodedata.normalize("NFKC", character)[0]  # the plain letter for a full-width or bold one
    if unicodedata.category(character)[0] != "L":
        return ""
    return unicodedata.name(character, "unknown").split(" ")[0]


@cache
def family(code: str) -> tuple[str, ...]:
    """Return the languages that share a script with `code`, including `code` itself."""
    return tuple(other for other, scripts in SCRIPTS.items() if set(scripts) & set(SCRIPTS[code]))


def require_identifier(feature: str, extra: str) -> None:
    """Raise MissingExtraError if the library that identifies languages is not installed."""
    if importlib.util.find_spec("py3langid") is None:
        raise MissingExtraError.of(feature, extra)


def identified(text: str, codes: tuple[str, ...]) -> str:
    """Return the most probable language in `codes`. The first call loads a model of about 100 MB."""
    return str(_identifier(codes).classify(_unstacked(text))[0])


def ranked(text: str, codes: tuple[str, ...]) -> list[tuple[str, float]]:
    """Return (code, probability) for each language in `codes`, the most probable first, in linear time."""
    text = text if text.isascii() else unicodedata.normalize("NFKC", _unstacked(text))
    ranking: list[tuple[str, float]] = _identifier(codes).rank(text)
    return ranking


def _unstacked(text: str) -> str:
    """Return `text` without combining marks if too many are stacked, which would take quadratic time to normalize."""
    if text.isascii() or not stacked(text):
        return text
    return "".join(character for character in text if unicodedata.category(character) not in ("Mn", "Me"))


@lru_cache(maxsize=64)
def _identifier(codes: tuple[str, ...]) -> Any:
    identifier = copy.copy(_model())  # the copy shares the model's tables
    identifier.set_languages(list(codes))
    return identifier


@cache
def _model() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
