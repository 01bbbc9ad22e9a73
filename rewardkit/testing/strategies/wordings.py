r"""Wordings: texts for rewards on patterns, fences, required or forbidden words, lengths and scripts.

``of_wording(leaf.function)`` for ``rk.regex(r"\d+ EUR")`` has ``0 EUR`` as right and ``0 EU`` as wrong.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, singledispatch

from hypothesis import assume, strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from rewardkit.core.text.languages import SCRIPTS
from rewardkit.core.text.visibility import unmasked
from rewardkit.primitives.format import FencedBlock
from rewardkit.primitives.language import SHORTEST, FixedLanguage
from rewardkit.primitives.length import LengthBetween, OverlongPenalty
from rewardkit.primitives.patterns import Affix, ContainsAll, ContainsNone, NoRefusal, Regex
from rewardkit.primitives.repetition import RepetitionPenalty
from rewardkit.primitives.script import Script
from rewardkit.testing.strategies.texts import bodies, pattern_texts, sentences

_REFUSALS = ("I'm sorry, but I can't help with that.", "As an AI, I cannot answer.", "I'm unable to do so.")
_SCRIPTS = ("LATIN", "CYRILLIC", "GREEK", "CJK", "HANGUL", "ARABIC")
_LONGEST = 2_000


@dataclass(frozen=True)
class Contents:
    """Texts for one place.

    Attributes:
        right: texts that a component accepts.
        wrong: texts that violate it in one way.
        loose: right texts may be part of longer ones; more specific contents take precedence.
    """

    right: SearchStrategy[str]
    wrong: SearchStrategy[str]
    loose: bool = False


@singledispatch
def of_wording(function: object) -> Contents | None:
    """Return the contents for a reward on wording; None for any other."""
    return None


@of_wording.register
def _(function: Regex) -> Contents | None:
    return _of_pattern(function.pattern, full=function.match == "full")


def _of_pattern(pattern: str, *, full: bool) -> Contents | None:
    try:
        compiled = re.compile(pattern, re.ASCII)
    except (re.error, OverflowError, RecursionError):
        return None  # RE2 has some classes that Python does not have
    return pattern_contents(compiled, full=full)


def pattern_contents(pattern: re.Pattern[str], *, full: bool) -> Contents:
    """Return texts that match a pattern, fully or anywhere, and such texts with one character changed."""

    def matches(text: str) -> bool:
        return bool(pattern.fullmatch(text) if full else pattern.search(text)) and not text.endswith("\n")

    right = pattern_texts(pattern, full=full).filter(lambda text: text == text.strip() and bool(text) and matches(text))
    return Contents(right, _spoilt(right, matches))


@st.composite
def _spoilt(draw: DrawFn, texts: SearchStrategy[str], holds: Callable[[str], bool]) -> str:
    """Draw a text with one character missing, added or replaced, so that `holds` is false."""
    text = draw(texts)[:_LONGEST]
    places = range(min(len(text), 60))
    changed = [text[:-1], text[1:], f"{text}?", f"?{text}"]
    changed += [text[:place] + other + text[place + 1 :] for other in ("", "?", "\n") for place in places]
    wrong = [one for one in dict.fromkeys(changed) if not holds(one.strip())]
    assume(wrong)
    return draw(st.sampled_from(wrong))


@of_wording.register
def _(function: FencedBlock) -> Contents:
    language = function.language
    inside = bodies().filter(lambda text: "`" not in text and "~" not in text)
    spoken = st.sampled_from(["", "So:\n"])
    right = st.builds("{}```{}\n{}\n```".format, spoken, st.just(language), inside)
    ways = [
        "```{0}\n{1}\n",
        "```{0}\n{1}```",
        "{1}\n```",
        "``{0}\n{1}\n``",
        "```{0}x\n{1}\n```",
        "```{0}\n \n```",
        "{1}",
    ]
    ways += ["```{0}\n{1}\n```\n```{0}\n{1}\n```"] * function.single
    wrong = st.builds(lambda way, body: way.format(language, body), st.sampled_from(ways), inside)
    return Contents(right, wrong)


@of_wording.register
def _(function: Affix) -> Contents:
    def holds(text: str) -> bool:
        seen = text.strip().casefold() if function.ignore_case else text.strip()
        return seen.endswith(function.texts) if function.at_end else seen.startswith(function.texts)

    word = st.sampled_from(function.texts)
    parts = (bodies(), word) if function.at_end else (word, bodies())
    right = st.builds("{} {}".format, *parts)
    return Contents(right, st.one_of(bodies().filter(lambda text: not holds(text)), _spoilt(right, holds)), loose=True)


@of_wording.register
def _(function: ContainsAll) -> Contents:
    texts = list(function.texts)
    right = st.builds(
        lambda order, joint: joint.join(order), st.permutations(texts), st.sampled_from([" ", ", ", "\n"])
    )
    fewer = [[one for one in texts if one != missing] for missing in texts]
    wrong = [
        ", ".join(some) or "so" for some, missing in zip(fewer, texts, strict=True) if missing not in ", ".join(some)
    ]
    return Contents(right, st.sampled_from(wrong or ["so"]), loose=True)


@of_wording.register
def _(function: ContainsNone) -> Contents:
    clean = bodies().filter(lambda text: not any(one in unmasked(text) for one in function.texts))
    return Contents(clean, st.builds("{} {}".format, clean, st.sampled_from(function.texts)), loose=True)


@of_wording.register
def _(function: NoRefusal) -> Contents:
    said = st.sampled_from([*_REFUSALS, *function.texts])
    plain = sentences().filter(lambda text: not any(one in unmasked(text) for one in function.texts))
    return Contents(plain, st.builds("{} {}".format, said, plain), loose=True)


@of_wording.register
def _(function: LengthBetween) -> Contents | None:
    low, high = math.ceil(function.low), min(function.high, function.low + _LONGEST)
    if function.length.unit == "tokens" or low > _LONGEST or math.floor(high) < max(low, 1):
        return None
    joint = " " if function.length.unit == "words" else ""
    outside = [low - 1] if low > 0 else []
    outside += [math.floor(high) + 1] if function.high <= _LONGEST else []
    right = st.integers(max(low, 1), math.floor(high)).map(lambda count: joint.join("a" * count))
    return Contents(right, st.sampled_from(outside or [0]).map(lambda count: joint.join("a" * count)), loose=True)


@of_wording.register
def _(function: OverlongPenalty) -> Contents | None:
    if function.length.unit == "tokens" or function.max_length > _LONGEST:
        return None
    joint = " " if function.length.unit == "words" else ""
    long = joint.join("a" * (math.ceil(function.max_length) + 1))
    return Contents(st.just("a"), st.just(long), loose=True)


@of_wording.register
def _(function: RepetitionPenalty) -> Contents:
    repeated = st.integers(function.ngram + 2, function.ngram + 20).map(lambda count: " ".join("a" * count))
    return Contents(st.sampled_from(["a", "It is 42.", "so it is"]), repeated, loose=True)


@of_wording.register
def _(function: Script) -> Contents:
    return _in_scripts(function.scripts, shortest=1, most=5)


@of_wording.register
def _(function: FixedLanguage) -> Contents:
    # So few words are judged by their script.
    return _in_scripts(SCRIPTS[function.code], shortest=2, most=SHORTEST - 1)


def _in_scripts(scripts: tuple[str, ...], shortest: int, most: int) -> Contents:
    """Return words of a script, and words of another one."""
    own = "".join(map(_letters, scripts))
    foreign = next(_letters(script) for script in _SCRIPTS if script not in scripts)
    words = st.lists(st.text(own, min_size=shortest, max_size=6), min_size=1, max_size=most).map(" ".join)
    return Contents(words, st.text(foreign, min_size=shortest, max_size=6), loose=True)


@lru_cache(maxsize=64)
def _letters(script: str) -> str:
    """Return the first letters of a script, by their Unicode names."""
    found = []
    for number in range(0x41, 0xD7A4):
        character = chr(number)
        if unicodedata.category(character)[0] == "L" and unicodedata.name(character, "").split(" ")[0] == script:
            if unicodedata.normalize("NFKC", character) == character and number not in (0xAA, 0xB5, 0xBA):
                found.append(character)
            if len(found) == 40:
                break
    return "".join(found)
