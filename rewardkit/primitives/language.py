"""Language: ``rk.language("zh")`` gives 0.75 to ``答案是x``: three of its four letters are Chinese characters."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from rewardkit.core.batch.score import Score
from rewardkit.core.errors import RewardDefinitionError, near_miss, shorten
from rewardkit.core.progress.bounds import number as checked_number
from rewardkit.core.text.extraction import as_extractor, raw
from rewardkit.core.text.extractors import Extractor
from rewardkit.core.text.json_text import MAX_CHARACTERS
from rewardkit.core.tree.leaf import expression, primitive
from rewardkit.core.tree.parameters import Parameter
from rewardkit.core.tree.reward import Reward

_LANGUAGES = {
    ("LATIN",): "cs da de en es et fi fr hr hu id it lt lv ms nl no pl pt ro sk sl sv sw tl tr vi",
    ("CYRILLIC",): "be bg ru uk",
    ("ARABIC",): "ar fa ur",
    ("DEVANAGARI",): "hi mr",
    ("CJK", "IDEOGRAPHIC"): "zh",
    ("CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "IDEOGRAPHIC"): "ja",
    ("HANGUL",): "ko",
    ("GREEK",): "el",
    ("HEBREW",): "he",
    ("ARMENIAN",): "hy",
    ("GEORGIAN",): "ka",
    ("BENGALI",): "bn",
    ("TAMIL",): "ta",
    ("TELUGU",): "te",
    ("THAI",): "th",
}
SCRIPTS = {code: scripts for scripts, codes in _LANGUAGES.items() for code in codes.split()}
"""Language (ISO 639-1) -> the scripts it is written in, named by the first word of their Unicode character names."""


_NAMED = """
    arabic ar, armenian hy, belarusian be, bengali bn, bulgarian bg, chinese zh, croatian hr, czech cs, danish da,
    dutch nl, english en, estonian et, finnish fi, french fr, georgian ka, german de, greek el, hebrew he, hindi hi,
    hungarian hu, indonesian id, italian it, japanese ja, korean ko, latvian lv, lithuanian lt, malay ms, marathi mr,
    norwegian no, persian fa, polish pl, portuguese pt, romanian ro, russian ru, slovak sk, slovenian sl, spanish es,
    swahili sw, swedish sv, tagalog tl, tamil ta, telugu te, thai th, turkish tr, ukrainian uk, urdu ur, vietnamese vi
"""
NAMES = {name: SCRIPTS[code] for name, code in (pair.split() for pair in _NAMED.split(","))}
"""English name of a language -> its code. A name that is also a script's (greek) means the same script either way."""

_OTHER_NAMES = {"han": "zh"}
_SIGNS = frozenset("\u00aa\u00b5\u00ba\u2126\u212a\u212b")
"""Signs used in every script that Unicode classifies as letters: micro, ohm, kelvin, angstrom, ordinals."""

_MARKUP = re.compile(r"</?\w+>|<\|[^<>|]*\|>|<\uff5c[^<>\uff5c]*\uff5c>|\\[A-Za-z]+")
_MOST_MARKUP = 50
"""How many different tags and commands are taken for markup. A text with more is read as prose in brackets."""


@lru_cache(maxsize=65_536)
def _script(character: str) -> str:
    """Return the script of a letter; empty for other characters."""
    if character in _SIGNS:
        return ""
    character = unicodedata.normalize("NFKC", character)[0]  # the letter that a full-width or bold one stands for
    if unicodedata.category(character)[0] != "L":
        return ""
    return unicodedata.name(character, "unknown").split(" ")[0]


def _prose(text: str) -> str:
    """Return `text` without tags, special tokens and LaTeX commands, which are Latin in every language."""
    if "<" not in text and "\\" not in text:
        return text
    return text if len(set(_MARKUP.findall(text))) > _MOST_MARKUP else _MARKUP.sub(" ", text)


@dataclass(frozen=True)
class Language:
    """The share of letters that belong to the given scripts."""

    scripts: tuple[str, ...]
    minimum: float

    def __call__(self, text: str | None) -> float | Score:
        if text is None:
            return Score(0.0, f"longer than {MAX_CHARACTERS:,} characters")
        scripts: Counter[str] = Counter()
        for character, count in Counter(_prose(text)).items():
            scripts[_script(character)] += count
        letters = sum(scripts.values()) - scripts.pop("", 0)
        if not letters:
            return Score(0.0, "no letters")
        share = sum(scripts[script] for script in self.scripts) / letters
        if share >= self.minimum:
            return 1.0
        foreign, count = next((script, count) for script, count in scripts.most_common() if script not in self.scripts)
        return Score(share / self.minimum, f"{count:,} of {letters:,} letters are {foreign.lower()}")


def language(name: str, *, minimum: float = 1.0, extract: Extractor | Any = None) -> Reward:
    """Score the share of letters in the script of a language, to keep thinking and answer in one script.

    ``rk.language("en")`` gives 1.0 to ``It is 42.`` and 0.5 to ``Итого total``: half of its letters are Cyrillic.

    It distinguishes scripts, not languages: English and German are the same to it. The idea is the language consistency
    reward of DeepSeek-R1 (Guo et al. 2025, arXiv:2501.12948), which counts words of the target language.

    Tags, special tokens and LaTeX commands are not counted, as long as there are at most 50 different ones.

    Args:
        name: a language by its ISO 639-1 code (``"en"``, ``"zh"``, ``"en-US"``) or English name (``"german"``), or a
            script by its Unicode name (``"Latin"``, ``"Han"``).
        minimum: the share that scores 1.0, above 0.0 and up to 1.0; below it the score is share / minimum. Formulas and
            code are Latin letters: 0.7 or so leaves room for them.
        extract: finds the text; by default the whole completion, thinking included.

    Raises:
        RewardDefinitionError: an unknown language or script, a minimum outside (0, 1].
    """
    scripts = _scripts(name)
    least = checked_number(minimum, "language: minimum")
    if not 0.0 < least <= 1.0:
        raise RewardDefinitionError(f"language: minimum must be above 0 and at most 1, got {least}")
    where = as_extractor(extract, raw())
    shown = expression("language", name, minimum=(least, 1.0), extract=(extract and where, None))
    return primitive(Language(scripts, least), "language", shown, Parameter("text", "completion", view=where))


def _scripts(name: str) -> tuple[str, ...]:
    """Return the scripts of a language, or the one script with this name."""
    said = name.lower() if isinstance(name, str) else ""
    code = re.split("[-_]", said, maxsplit=1)[0]  # en-US
    code = _OTHER_NAMES.get(code, code)
    scripts = SCRIPTS.get(code) or NAMES.get(said)
    if scripts:
        return scripts
    known = {script.lower() for scripts in SCRIPTS.values() for script in scripts}
    if said in known:
        return (said.upper(),)
    hint = near_miss(said, [*known, *NAMES])
    raise RewardDefinitionError(f"language: unknown language or script {shorten(name)}.{hint}")
