"""Script: ``rk.script("zh")`` gives 0.75 to ``答案是x``: three of its four letters are Chinese characters."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from rewardkit.core.batch.score import Score
from rewardkit.core.errors import RewardDefinitionError, near_miss, shorten
from rewardkit.core.progress.bounds import number as checked_number
from rewardkit.core.text.extraction import as_extractor, raw
from rewardkit.core.text.extractors import Extractor
from rewardkit.core.text.json_text import MAX_CHARACTERS
from rewardkit.core.text.languages import NAMES, SCRIPTS, language_code, script_of
from rewardkit.core.tree.leaf import expression, primitive
from rewardkit.core.tree.parameters import Parameter
from rewardkit.core.tree.reward import Reward
from rewardkit.primitives.languages.prose import without_markup


@dataclass(frozen=True)
class Script:
    """The share of letters that belong to the given scripts."""

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


def script(name: str, *, minimum: float = 1.0, extract: Extractor | Any = None) -> Reward:
    """Score the share of letters in a script, to keep thinking and answer in one script.

    ``rk.script("Latin")`` gives 1.0 to ``It is 42.`` and 0.5 to ``Итого total``: half of its letters are Cyrillic.

    English and German are the same to it; ``rk.language`` tells them apart, by words. Tags, special tokens and LaTeX
    commands are not counted, as long as there are at most 50 different ones.

    Args:
        name: a script by its Unicode name (``"Latin"``, ``"Han"``), or a language, for all of its scripts, by its
            ISO 639-1 code (``"ja"``, ``"zh-Hant"``) or English name (``"japanese"``).
        minimum: the share that scores 1.0, above 0.0 and up to 1.0; below it the score is share / minimum. Formulas and
            code are Latin letters: 0.7 or so leaves room for them.
        extract: finds the text; by default the whole completion, thinking included.

    Raises:
        RewardDefinitionError: an unknown script or language, a minimum outside (0, 1].
    """
    scripts = _scripts(name)
    least = checked_number(minimum, "script: minimum")
    if not 0.0 < least <= 1.0:
        raise RewardDefinitionError(f"script: minimum must be above 0 and at most 1, got {least}")
    where = as_extractor(extract, raw())
    shown = expression("script", name, minimum=(least, 1.0), extract=(extract and where, None))
    return primitive(Script(scripts, least), "script", shown, Parameter("text", "completion", view=where))


def _scripts(name: str) -> tuple[str, ...]:
    """Return the script with this name, or those of a language."""
    said = name.lower() if isinstance(name, str) else ""
    known = {script.lower(): (script,) for scripts in SCRIPTS.values() for script in scripts} | {"han": SCRIPTS["zh"]}
    if said in known:
        return known[said]
    try:
        return SCRIPTS[language_code(name)]
    except ValueError:
        hint = near_miss(said[:60], [*known, *map(str.lower, NAMES.values())])
        raise RewardDefinitionError(f"script: unknown script or language {shorten(name, 60)}.{hint}") from None
