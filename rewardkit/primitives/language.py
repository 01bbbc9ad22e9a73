"""Language: ``rk.language("de")`` gives 0.5 to a text of which half of the words are German and half are English."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BeforeValidator

from rewardkit.core.batch.score import Score
from rewardkit.core.errors import RewardDefinitionError, shorten
from rewardkit.core.progress.bounds import number as checked_number
from rewardkit.core.text.extraction import as_extractor, whole
from rewardkit.core.text.extractors import Extractor
from rewardkit.core.text.json_text import MAX_CHARACTERS
from rewardkit.core.text.languages import NAMES, SCRIPTS, family, language_code, ranked, require_identifier
from rewardkit.core.text.visibility import shown as visible
from rewardkit.core.tree.leaf import expression, primitive
from rewardkit.core.tree.parameters import Parameter
from rewardkit.core.tree.reward import Reward
from rewardkit.primitives.languages.prose import prose
from rewardkit.primitives.languages.words import Passage, passages

SHORTEST = 4
"""The fewest words whose language can be identified; shorter texts are judged by their script."""

DOUBT = 0.2
"""A passage is in another language if the wanted one is less than this many times as probable. Of
passages of 5 words in the wanted language it takes 0.2% for another one, of 10 words 0.1%; and it misses 0.8% and 0.3%
of those in another Latin language, 10% and 4% in another language of another script. Smaller doubts misjudge more sums
with names in them: with 0.3, 9 of 2,638 solutions of GSM8K lose points, with 0.2 it is 5, with 0.1 2."""

_OTHER_SCRIPT = "in another script"


@dataclass(frozen=True)
class Language:
    """The share of words that are in a language."""

    minimum: float

    def __call__(self, text: str | None, code: str) -> float | Score:
        if text is None:
            return Score(0.0, f"longer than {MAX_CHARACTERS:,} characters")
        languages = family(code)
        counts: Counter[str] = Counter()  # by language or script
        found = list(passages(prose(visible(text)), frozenset(SCRIPTS[code]), counts))
        long_enough = len(languages) == 1 or sum(passage.words for passage in found) >= SHORTEST
        for passage in found:
            language = _language(passage, code, languages) if long_enough else code
            in_it = passage.own if language == code else passage.words
            counts[NAMES[language]] += in_it
            counts[_OTHER_SCRIPT] += passage.words - in_it
        words = counts.total()
        if not words:
            return Score(0.0, "no words")
        share = counts.pop(NAMES[code], 0) / words
        notes = [] if long_enough else ["too short to tell the language, judged by its script"]
        if share < self.minimum:
            other, count = counts.most_common(1)[0]
            notes.append(f"{count:,} of {words:,} words are {other}")
        value = min(1.0, share / self.minimum)
        return Score(value, "; ".join(notes)) if notes else value


def _language(passage: Passage, code: str, languages: tuple[str, ...]) -> str:
    """Return the language of a passage, in doubt `code`."""
    if len(languages) == 1:
        return code
    probabilities = ranked(" ".join(passage.text), languages)
    best, highest = probabilities[0]
    return best if dict(probabilities)[code] < DOUBT * highest else code


@dataclass(frozen=True)
class FixedLanguage:
    """A language that is the same for all samples."""

    measure: Language
    code: str

    def __call__(self, text: str | None) -> float | Score:
        return self.measure(text, self.code)


def language(
    name: str | None = None, *, column: str | None = None, minimum: float = 1.0, extract: Extractor | Any = None
) -> Reward:
    """Score the share of words that are in a language: the language consistency reward of DeepSeek-R1.

    ``rk.language("de")`` gives 1.0 to ``Das ist ein kleines Haus.`` and 0.0 to ``This is a small house.``

    The words are those of the visible text. Code, formulas, addresses, numbers, JSON and tags do not count, so reward
    the task, too: a text that has no other words scores 0.0. Each character of Chinese and Japanese is a word.

    A word in a script that the language is not written in is in another language. Apart from that, passages of a few
    words are in another language only if that is more than five times as probable; names and terms do not
    matter. A text of fewer than four words is too short to tell: it is judged by its script, and the note says so.
    One word of an answer is therefore neither punished nor paid by chance.

    The idea is from DeepSeek-R1 (Guo et al. 2025, arXiv:2501.12948), which counts words in the thinking: for that, pass
    ``extract=rk.extract.raw()``. ``rk.script`` distinguishes scripts without a model.

    Args:
        name: a language by its ISO 639-1 code (``"en"``, ``"zh"``, ``"en-US"``) or English name (``"german"``).
        column: a column with the language of each row, instead of `name`; None abstains.
        minimum: the share that scores 1.0, above 0.0 and up to 1.0; below it the score is share / minimum. Technical
            terms in another script count as words of another language: 0.8 or so leaves room for them.
        extract: finds the text; by default the visible text, without thinking.

    Raises:
        RewardDefinitionError: both or neither of name and column; an unknown language, a minimum outside (0, 1].
        MissingExtraError: the extra ``language`` is not installed.
        CoercionError: while scoring: a cell of the column is not a known language.
    """
    if (name is None) == (column is None):
        raise RewardDefinitionError('language: pass either a language, as in rk.language("en"), or column="language"')
    if column is not None and (not isinstance(column, str) or not column.strip()):
        raise RewardDefinitionError(f"language: column must be the name of a column, got {shorten(column)}")
    least = checked_number(minimum, "language: minimum")
    if not 0.0 < least <= 1.0:
        raise RewardDefinitionError(f"language: minimum must be above 0 and at most 1, got {least}")
    where = as_extractor(extract, whole())
    given = [] if name is None else [name]
    options = {"column": (column, None), "minimum": (least, 1.0), "extract": (extract and where, None)}
    shown = expression("language", *given, **options)
    text = Parameter("text", "completion", view=where)
    if column is not None:
        require_identifier("rk.language", "language")
        cell = Parameter("code", column, annotation=Annotated[str, BeforeValidator(language_code)])
        return primitive(Language(least), "language", shown, text, cell)
    try:
        code = language_code(name)
    except ValueError as problem:
        raise RewardDefinitionError(f"language: {problem} For a script, use rk.script.") from None
    if len(family(code)) > 1:
        require_identifier("rk.language", "language")
    return primitive(FixedLanguage(Language(least), code), "language", shown, text)
