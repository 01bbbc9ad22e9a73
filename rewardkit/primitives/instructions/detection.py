"""Detection: ``language_of("Das ist ein Haus.")`` is ``"de"``."""

from __future__ import annotations

from rewardkit.core.text.languages import identified

_LISTED = """
ar Arabic, bg Bulgarian, bn Bengali, cs Czech, da Danish, de German, el Greek, en English, es Spanish, et Estonian,
fa Persian, fi Finnish, fr French, gu Gujarati, he Hebrew, hi Hindi, hr Croatian, hu Hungarian, id Indonesian,
it Italian, ja Japanese, kn Kannada, ko Korean, lt Lithuanian, lv Latvian, ml Malayalam, mr Marathi, ne Nepali,
nl Dutch, no Norwegian, pa Punjabi, pl Polish, pt Portuguese, ro Romanian, ru Russian, sk Slovak, sl Slovenian,
sq Albanian, sv Swedish, sw Swahili, ta Tamil, te Telugu, th Thai, tl Tagalog, tr Turkish, uk Ukrainian, ur Urdu,
vi Vietnamese, zh Chinese
"""
NAMES = {code: name for code, name in map(str.split, _LISTED.split(","))}  # noqa: C416 (mypy cannot type dict() here)
"""ISO 639-1 code -> English name, of the languages that are told apart."""


_CODES = tuple(NAMES)


def language_of(text: str) -> str:
    """Return the language that most of `text` is in, as a code; empty if it has no letters."""
    return identified(text, _CODES) if any(map(str.isalpha, text)) else ""
