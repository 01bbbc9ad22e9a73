"""Language: ``rk.language("de")`` gives 0.5 to a text that is half German and half English."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Annotated, Any, final

from pydantic import BeforeValidator

from rewardkit.batch.score import Score
from rewardkit.errors import RewardDefinitionError, near_miss, shorten
from rewardkit.progress.bounds import number as checked_number
from rewardkit.text.extraction import as_extractor, raw, whole
from rewardkit.text.extractors import Extractor
from rewardkit.text.json_text import MAX_CHARACTERS
from rewardkit.text.languages import NAMES, SCRIPTS, family, language_code, ranked, require_identifier, script_of
from rewardkit.text.visibility import shown as visible
from rewardkit.tree.leaf import expression, primitive
from rewardkit.tree.parameters import Parameter
from rewardkit.tree.reward import Reward

# Prose: a text without markup, code, formulas, addresses and JSON.


# Tags, special tokens and LaTeX commands: the Latin letters in "<b>", "<|im_end|>" and "\frac" are not words.
_MARKUP = re.compile(r"</?\w+>|<\|[^<>|]*\|>|<\uff5c[^<>\uff5c]*\uff5c>|\\[A-Za-z]+")
_MOST_MARKUP = 50
"""The maximum number of different tags and commands. A text with more of them is treated as prose in brackets."""

# Three marks or more, as in Markdown.
_FENCE = re.compile(r"\s*(`{3,}|~{3,})(.*)", re.DOTALL)
# "`x`": code within a line.
_INLINE = re.compile(r"`[^`\n]+`")
_FORMULA = re.compile(r"\$(?=\S)[^$\n]+(?<=\S)\$(?!\d)")  # no space inside the dollar signs, unlike prices
_FORMULAS = (("$$", "$$"), ("\\(", "\\)"), ("\\[", "\\]"), ("\\begin{", "\\end{"))
# Names of environments, such as "align*", are shorter.
_LONGEST_NAME = 30
# ASCII only: in Chinese text, an address ends before the next Chinese character.
_ADDRESS = re.compile(r"(?:https?://|www\.)[!-~]+")
# 64: the longest name before the @ that mail allows, so that time stays linear.
_MAIL = re.compile(r"[\w.+-]{1,64}@[\w-]+\.[\w.-]+")
# The start of JSON with text in it: '{"', "[{"; "[1, 2]" is short and has no words.
_JSON = re.compile(r'[{\[]\s*["{\[]')
_MOST_BROKEN = 50
"""The maximum number of failed attempts to parse JSON. Each attempt may take time linear in the text length."""


def without_markup(text: str) -> str:
    """Return `text` without tags, special tokens, and LaTeX commands, which use Latin letters in every language."""
    if "<" not in text and "\\" not in text:
        return text
    return text if len(set(_MARKUP.findall(text))) > _MOST_MARKUP else _MARKUP.sub(" ", text)


def prose(text: str) -> str:
    """Return `text` without the parts that are not natural language: code, formulas, addresses, JSON, and markup."""
    if "```" in text or "~~~" in text:
        text = _without_fences(text)
    if "`" in text:
        text = _INLINE.sub(" ", text)
    for opening, closing in _FORMULAS:
        if opening in text:
            text = _without(text, opening, closing)
    if "$" in text:
        text = _FORMULA.sub(" ", text)
    text = _ADDRESS.sub(" ", text)
    if "@" in text:
        text = _MAIL.sub(" ", text)
    if "{" in text or "[" in text:
        text = _without_json(text)
    return without_markup(text)


def _without_fences(text: str) -> str:
    """Return `text` without closed fenced blocks."""
    remaining: list[str] = []
    fence, block_start = "", 0
    for line in text.split("\n"):
        match = _FENCE.fullmatch(line)
        if match and not fence:
            fence, block_start = match[1], len(remaining)
        elif match and match[1].startswith(fence) and not match[2].strip():
            fence = ""
            del remaining[block_start:]
            continue
        remaining.append(line)
    return "\n".join(remaining)


def _without(text: str, opening: str, closing: str) -> str:
    """Return `text` without the marks `opening` and `closing` and the text between them."""
    remaining: list[str] = []
    position = 0
    while (start := text.find(opening, position)) >= 0:
        end = text.find(closing, start + len(opening))
        if end < 0:
            break
        remaining.append(text[position:start])
        position = end + len(closing)
        if closing[-1] == "{":  # with the name: \end{align*}
            position = max(position, text.find("}", position, position + _LONGEST_NAME) + 1)
    return " ".join((*remaining, text[position:]))


def _without_json(text: str) -> str:
    """Return `text` without objects and arrays that are valid JSON."""
    decoder = json.JSONDecoder()
    remaining: list[str] = []
    position = start = broken = 0
    while broken < _MOST_BROKEN and (match := _JSON.search(text, start)):
        try:
            start = decoder.raw_decode(text, match.start())[1]
        except (ValueError, RecursionError):
            broken, start = broken + 1, match.start() + 1
        else:
            remaining.append(text[position : match.start()])
            position = start
    return " ".join((*remaining, text[position:]))


@dataclass(frozen=True)
class Script:
    """The fraction of letters that belong to the given scripts."""

    scripts: tuple[str, ...]
    minimum: float

    def __call__(self, text: str | None) -> float | Score:
        if text is None:
            return Score(0.0, f"longer than {MAX_CHARACTERS:,} characters")
        scripts: Counter[str] = Counter()
        for character, count in Counter(without_markup(text)).items():
            scripts[script_of(character)] += count
        letters = sum(scripts.values()) - scripts.pop("", 0)
        if not letters:
            return Score(0.0, "no letters")
        share = sum(scripts[script] for script in self.scripts) / letters
        if share >= self.minimum:
            return 1.0
        foreign, count = next((script, count) for script, count in scripts.most_common() if script not in self.scripts)
        return Score(share / self.minimum, f"{count:,} of {letters:,} letters are {foreign.lower()}")


# The words of a text by script, in passages that are long enough for their language to be identified.


LEAST = 5
"""The minimum number of words in a passage, unless the text has fewer. In longer texts, the minimum is higher. The
language of a shorter passage would be a guess: "no" is a word in several languages."""
_PASSAGES = 4_000
"""The number of characters per word in the minimum passage length: in a text with n characters, a passage has at least
n / 4,000 words. This limits the number of passages."""

_CJK = (
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
_NO_LETTERS = (
    "!-&(-/:-@\\[-`{-~\u00a1-\u00a9\u00ab-\u00b4\u00b6-\u00b9\u00bb-\u00bf\u00d7\u00f7\u060c\u061b\u061f\u06d4\u0964"
    "\u0965\u2000-\u200b\u200e-\u2018\u201a-\u206f\u2190-\u2bff\u3000-\u3004\u3008-\u303f\uff01-\uff20\U0001f000-\U0001faff"
)
_END = ".!?\u2026\u3002\uff01\uff1f\u061f\u06d4\u0964\n"
# At most 20 Chinese characters or 60 letters at once, so that pieces of a long text without spaces can be cached.
_TOKEN = re.compile(f"(?P<end>[{_END}]+)|[{_CJK}]{{1,20}}|[^\\s\\d{_NO_LETTERS}{_CJK}]{{1,60}}")
# Thai, Lao, Myanmar and Khmer have no spaces between words.
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")
# About the length of a Thai word.
_LETTERS_OF_A_WORD = 4
_KANA = frozenset(SCRIPTS["ja"])
_EACH_A_WORD = re.compile(f"[{_CJK}]")


@final
@dataclass(slots=True)
class Passage:
    """A sequence of consecutive words.

    Attributes:
        text: the words in one of the language's scripts (or kana in Chinese text), from which the language is
            identified.
        words: the number of words in `text`.
        own: the number of words in one of the language's scripts.
    """

    text: list[str] = field(default_factory=list)
    words: int = 0
    own: int = 0

    def add(self, token: str, words: int, is_own: bool) -> None:
        self.text.append(token)
        self.words += words
        self.own += words if is_own else 0

    def join(self, other: Passage) -> None:
        self.text += other.text
        self.words += other.words
        self.own += other.own


# Arbitrary size: larger than the vocabulary of a batch.
@lru_cache(maxsize=65_536)
def scripts_and_words(token: str) -> tuple[frozenset[str], int]:
    """Return the scripts and the number of words in a token."""
    if token.isascii():
        letters = sum(map(str.isalpha, token))
        return frozenset(("LATIN",) if letters else ()), int(letters > 1)
    script_counts = Counter(map(script_of, token))
    del script_counts[""]
    letters = script_counts.total()
    if _EACH_A_WORD.match(token):
        words = letters
    elif _UNSPACED.match(token):
        words = -(-letters // _LETTERS_OF_A_WORD)
    else:
        words = int(letters > 1)
    return frozenset(script_counts), words


def _name(script: str) -> str:
    return "Chinese characters" if script == "CJK" else script.title()


def passages(text: str, own_scripts: frozenset[str], foreign: Counter[str]) -> Iterator[Passage]:
    """Yield passages of one or more sentences from `text`, for a language that uses the scripts `own_scripts`.

    Words in other scripts are counted in `foreign`, by script. Kana are kept in Chinese text because they indicate that
    it is Japanese.
    """
    least = max(LEAST, len(text) // _PASSAGES)
    family = own_scripts | _KANA if "CJK" in own_scripts else own_scripts
    pending: Passage | None = None
    passage = Passage()
    for match in _TOKEN.finditer(text):
        token = match[0]
        if match["end"]:
            is_complete = passage.words >= least
        else:
            scripts, words = scripts_and_words(token)
            if not scripts:
                continue
            if scripts <= family:
                passage.add(token, words, scripts <= own_scripts)
            else:
                foreign[_name(min(scripts - family))] += words
            # A text without sentence ends is cut. The factor is arbitrary: longer passages would hide a foreign part.
            is_complete = passage.words >= 3 * least
        if is_complete:
            if pending:
                yield pending
            pending, passage = passage, Passage()
    if pending and passage.words < least:  # the rest is read with the text before it
        pending.join(passage)
        passage = Passage()
    if pending:
        yield pending
    if passage.text:
        yield passage


SHORTEST = 4
"""The minimum number of words needed to identify a language. Shorter texts are judged by their script. The number is
arbitrary: most short texts are possible in several closely related languages."""

DOUBT = 0.2
"""If the expected language is less than this many times as probable as another one, the passage counts as the other.

Passages in the expected language count as another language in 0.2% of cases with 5 words, and in 0.1% with 10 words.
Passages in another language are missed in 0.8% and 0.3% of cases if both languages use Latin script, and in 10% and 4%
if they share another script. Higher values misjudge more calculations that contain names: out of 2,638 GSM8K solutions,
9 lose points at 0.3, 5 at 0.2, and 2 at 0.1."""

_OTHER_SCRIPT = "in another script"


@dataclass(frozen=True)
class Language:
    """The fraction of words that are in a language."""

    minimum: float

    def __call__(self, text: str | None, code: str) -> float | Score:
        if text is None:
            return Score(0.0, f"longer than {MAX_CHARACTERS:,} characters")
        languages = family(code)
        counts: Counter[str] = Counter()  # by language or script
        text_passages = list(passages(prose(visible(text)), frozenset(SCRIPTS[code]), counts))
        long_enough = len(languages) == 1 or sum(passage.words for passage in text_passages) >= SHORTEST
        for passage in text_passages:
            language = _language(passage, code, languages) if long_enough else code
            in_it = passage.own if language == code else passage.words
            counts[NAMES[language]] += in_it
            counts[_OTHER_SCRIPT] += passage.words - in_it
        words = counts.total()
        if not words:
            return Score(0.0, "no words")
        share = counts.pop(NAMES[code], 0) / words
        notes = [] if long_enough else ["too short to detect the language, judged by its script"]
        if share < self.minimum:
            other, count = counts.most_common(1)[0]
            notes.append(f"{count:,} of {words:,} words are {other}")
        value = min(1.0, share / self.minimum)
        return Score(value, "; ".join(notes)) if notes else value


def _language(passage: Passage, code: str, languages: tuple[str, ...]) -> str:
    """Return the language of a passage; `code` if in doubt."""
    if len(languages) == 1:
        return code
    probabilities = ranked(" ".join(passage.text), languages)
    best, highest = probabilities[0]
    return best if dict(probabilities)[code] < DOUBT * highest else code


@dataclass(frozen=True)
class FixedLanguage:
    """A scorer for a language that is the same for all samples."""

    measure: Language
    code: str

    def __call__(self, text: str | None) -> float | Score:
        return self.measure(text, self.code)


def language(
    name: str | None = None,
    *,
    script: str | None = None,
    column: str | None = None,
    minimum: float = 1.0,
    extract: Extractor | Any = None,
) -> Reward:
    """Score the fraction of words that are in a given language: DeepSeek-R1's language consistency reward.

    ``rk.language("de")`` gives 1.0 to ``Das ist ein kleines Haus.`` and 0.0 to ``This is a small house.``

    Words in the visible text are counted. Code, formulas, addresses, numbers, JSON, and tags are excluded. A text
    without other words scores 0.0, so also reward the task. Each Chinese or Japanese character is a word.

    A word in a script that the language does not use counts as another language. Otherwise, a passage of a few words
    counts as another language only if that language is more than five times as probable, so names and terms do not
    matter. The language of a text with fewer than four words cannot be identified. Such a text is judged by its script,
    and the note mentions this. Therefore, a one-word answer is neither penalized nor rewarded by chance.

    The idea is from DeepSeek-R1 (Guo et al. 2025, arXiv:2501.12948), which counts the words in the thinking. To include
    the thinking, pass ``extract=rk.extract.raw()``.

    ``rk.language(script="Latin")`` instead scores the fraction of letters in a script, without a model and over the
    whole completion: 1.0 for ``It is 42.`` and 0.5 for ``Итого total``, in which half of the letters are Cyrillic. It
    cannot distinguish English from German. Tags, special tokens, and LaTeX commands are not counted if there are at
    most 50 different ones. Letters in formulas and code count as Latin, so allow for them with `minimum`.

    Args:
        name: a language by its ISO 639-1 code (``"en"``, ``"zh"``, ``"en-US"``) or English name (``"german"``).
        script: a script by its Unicode name (``"Latin"``, ``"Han"``), or a language, which stands for all of its
            scripts.
        column: the column with each row's language. If the cell is None, the reward abstains.
        minimum: the fraction at which the score reaches 1.0, greater than 0.0 and at most 1.0. Below it, the score is
            fraction / minimum. Technical terms in another script count as words in another language. To allow for them,
            use a value of about 0.8.
        extract: finds the text. The default is the visible text without thinking or, for a script, the whole
            completion.

    Raises:
        RewardDefinitionError: not exactly one of `name`, `script`, and `column` is given, a language or script is
            unknown, or `minimum` is outside (0, 1].
        MissingExtraError: the extra ``language`` is not installed.
        CoercionError: while scoring: a cell in the column is not a known language.
    """
    if sum(argument is not None for argument in (name, script, column)) != 1:
        raise RewardDefinitionError(
            'language: pass a language, as in rk.language("en"), script="Latin", or column="language"'
        )
    if column is not None and (not isinstance(column, str) or not column.strip()):
        raise RewardDefinitionError(f"language: column must be the name of a column, got {shorten(column)}")
    least = checked_number(minimum, "language: minimum")
    if not 0.0 < least <= 1.0:
        raise RewardDefinitionError(f"language: minimum must be greater than 0 and at most 1, got {least}")
    where = as_extractor(extract, whole() if script is None else raw())
    argument = [] if name is None else [name]
    options = {
        "script": (script, None),
        "column": (column, None),
        "minimum": (least, 1.0),
        "extract": (extract and where, None),
    }
    call_text = expression("language", *argument, **options)
    text = Parameter("text", "completion", view=where)
    if script is not None:
        return primitive(Script(_scripts(script), least), "script", call_text, text)
    if column is not None:
        require_identifier("rk.language", "language")
        cell = Parameter("code", column, annotation=Annotated[str, BeforeValidator(language_code)])
        return primitive(Language(least), "language", call_text, text, cell)
    try:
        code = language_code(name)
    except ValueError as problem:
        raise RewardDefinitionError(f"language: {problem} For a script, pass script=") from None
    if len(family(code)) > 1:
        require_identifier("rk.language", "language")
    return primitive(FixedLanguage(Language(least), code), "language", call_text, text)


def _scripts(name: str) -> tuple[str, ...]:
    """Return the script with this name, or the scripts of the language with this name."""
    script_name = name.lower() if isinstance(name, str) else ""
    scripts_by_name = {script.lower(): (script,) for scripts in SCRIPTS.values() for script in scripts} | {
        "han": SCRIPTS["zh"]
    }
    if script_name in scripts_by_name:
        return scripts_by_name[script_name]
    try:
        return SCRIPTS[language_code(name)]
    except ValueError:
        hint = near_miss(script_name[:60], [*scripts_by_name, *map(str.lower, NAMES.values())])
        raise RewardDefinitionError(f"language: unknown script or language {shorten(name, 60)}.{hint}") from None
