"""Multiple choice: ``rk.choice("answer")`` gives 1.0 to ``So the answer is (B).`` where "answer" is ``B``.

One option has to be chosen. ``A, B, C or D`` chooses none, and neither does ``B or C``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

from pydantic import BeforeValidator

from rewardkit.core.algebra import Reward
from rewardkit.core.binding import Parameter
from rewardkit.core.errors import RewardDefinitionError, near_miss, shorten
from rewardkit.core.extraction import Extractor, answer, as_extractor, whole
from rewardkit.core.leaf import expression, primitive
from rewardkit.core.outcome import Score

MAX_CHARACTERS = 20_000
"""Of the end of an answer that are read: a choice is short, and stands at the end of what explains it."""

_SHORT = 200
_DRESS = r"[\s(\[{*_\"'`$\\]*(?:\\?(?:text|textbf|mathrm|mathbf|boxed)\{\s*[(\[]?)?"
_UNDRESS = r"[\s)\]}*_\"'`$\\]*"
_CLAIM = r"(?:answer|choice|option|select|choose|pick|go\s+with)(?:\s+(?:is|would\s+be|must\s+be|should\s+be))?\s*[:=]?"
_JOINED = r"(?:[,;/|&+]|\bor\b|\band\b|\bxor\b|(?<=\s))"
_ARTICLE = r"(?!(?<=\b[AI])\s+(?!because|since|as|for|due|given|,)[a-z])"
"""The word A, as in "the answer is A dog"."""

_REMARK = re.compile(r"\([^()]*\b(?:not|isn't|wrong|incorrect|false)\b[^()]*\)")


@dataclass(frozen=True)
class Options:
    """The options of a question and the ways to choose one of them."""

    names: tuple[str, ...]

    @cached_property
    def _one(self) -> str:
        longest_first = sorted(self.names, key=len, reverse=True)
        return "(?:" + "|".join(map(re.escape, longest_first)) + r")(?![^\W_])"

    @cached_property
    def _alone(self) -> re.Pattern[str]:
        lead = r"\s*(?:the\s+)?(?:final\s+|correct\s+)*(?:answer|choice|option)?(?:\s+is)?\s*[:=]?"
        return re.compile(f"(?i:{lead}){_DRESS}(?i:({self._one})){_UNDRESS}[.:,!]?{_UNDRESS}")

    @cached_property
    def _labelled(self) -> re.Pattern[str]:
        """``B) Paris``, ``(B) Paris``, ``B. Paris``, ``B: Paris``"""
        return re.compile(f"{_DRESS}({self._one})[*_]*(?:[)\\].:]|\\s+[-\\u2013\\u2014])[*_]*\\s*(?=\\S)")

    @cached_property
    def _claimed(self) -> re.Pattern[str]:
        return re.compile(f"(?i:\\b{_CLAIM}){_DRESS}({self._one}){_ARTICLE}")

    @cached_property
    def _another(self) -> re.Pattern[str]:
        """Directly behind one option: the sign that it is not the only one."""
        return re.compile(f"{_UNDRESS}\\s*{_JOINED}\\s*(?i:either|maybe|perhaps|possibly|option)?{_DRESS}({self._one})")

    @cached_property
    def _any_labelled(self) -> re.Pattern[str]:
        return re.compile(f"(?<![^\\W_])({self._one})[*_]*[)\\].:]")

    def chosen(self, text: str, *, marked: bool) -> str | None:
        """The option that `text` chooses; None where it chooses none, or more than one.

        A marked answer has to be the choice itself; otherwise it may stand at the end of an explanation.
        """
        lines = _REMARK.sub("", text[-MAX_CHARACTERS:]).strip().split("\n")
        text = "\n".join(" ".join(line.split()) for line in lines)
        chosen = self._chosen_alone(text)
        if chosen:
            return chosen
        labelled = self._labelled.match(text)
        if labelled and (marked or "\n" not in text):
            return self._only(labelled, text)
        if marked:
            return None
        claims = list(self._claimed.finditer(text))
        if claims:
            return self._only(claims[-1], text)
        return self._chosen_alone(text.rpartition("\n")[2])

    def _chosen_alone(self, text: str) -> str | None:
        alone = self._alone.fullmatch(text) if len(text) <= _SHORT else None
        return self._canonical(alone[1]) if alone else None

    def _only(self, match: re.Match[str], text: str) -> str | None:
        """The option that `match` names, unless its line offers another one."""
        name = self._canonical(match[1])
        if self._another.match(text, match.end(1)):
            return None
        line_end = text.find("\n", match.end(1))
        line_end = len(text) if line_end < 0 else line_end
        others = (self._canonical(other[1]) for other in self._any_labelled.finditer(text, match.end(), line_end))
        return name if all(other == name for other in others) else None

    def _canonical(self, found: str) -> str:
        return found if found in self.names else next(name for name in self.names if name.lower() == found.lower())


@dataclass(frozen=True)
class GoldOption:
    """A gold cell as an option: its name, ``(B)``, ``B. Paris``, or its position from 0."""

    options: Options
    extract: Extractor | None

    def __call__(self, value: object) -> str:
        names = self.options.names
        if isinstance(value, int) and not isinstance(value, bool):
            if not 0 <= value < len(names):
                raise ValueError(f"option number {value} of {len(names)}, counted from 0")
            return names[value]
        if not isinstance(value, str):
            raise ValueError(f"no option: {shorten(value)}")
        found = self.extract(value) if self.extract else value
        chosen = None if found is None else self.options.chosen(found, marked=True)
        if chosen is None:
            raise ValueError(f"{shorten(value)} names none of {', '.join(names)}.{near_miss(value, names)}")
        return chosen


@dataclass(frozen=True)
class Choice:
    """Whether the option that is chosen is the gold one."""

    options: Options
    unmarked: bool

    def __call__(self, text: str, found: str | None, gold: str) -> float | Score:
        if found is None or not found.strip():
            return Score(0.0, "no answer found")
        chosen = self.options.chosen(found, marked=not self.unmarked or found != text)
        if chosen is None:
            return Score(0.0, f"{shorten(found[-60:])} does not choose one of {', '.join(self.options.names)}")
        return 1.0 if chosen == gold else Score(0.0, f"chose {chosen}, not {gold}")


def choice(
    column: str,
    *,
    options: str | Iterable[str] = "ABCD",
    extract: Extractor | Any = None,
    gold: Extractor | Any = None,
) -> Reward:
    r"""1.0 where exactly the gold option of a multiple-choice question is chosen, else 0.0.

    ``rk.choice("answer")`` gives 1.0 to ``<answer>(B)</answer>``, ``\boxed{\text{B}}``, ``B. Paris`` and ``It cannot be
    A, so the answer is B.`` where "answer" is ``B``; 0.0 to ``A, B, C or D`` and to ``B or C``.

    Args:
        column: the gold option: its name, or its position from 0.
        options: the letters, or the names such as ``["yes", "no"]``.
        extract: finds the answer, which must then be the choice itself (an explanation may follow its label, as in
            ``B. Paris``). By default the marked answer, else the last "answer is ..." or the last line.
        gold: finds the gold option in its cell.

    Raises:
        RewardDefinitionError: fewer than two options, or one that stands there twice.
        CoercionError: while scoring: a gold cell that names no option.
    """
    names = tuple(options)
    if len(names) < 2 or not all(isinstance(name, str) and name.strip() == name != "" for name in names):
        raise RewardDefinitionError(f'choice: options are letters or names, such as "ABCD", got {shorten(options)}')
    if len({name.casefold() for name in names}) < len(names):
        raise RewardDefinitionError(f"choice: each option stands once, got {', '.join(names)}")
    known = Options(names)
    where = as_extractor(extract, answer())
    gold_where = None if gold is None else as_extractor(gold, whole())
    shown = expression(
        "choice", column, options=(options, "ABCD"), extract=(extract and where, None), gold=(gold_where, None)
    )
    return primitive(
        Choice(known, extract is None),
        "choice",
        shown,
        Parameter("text", "completion", view=whole()),
        Parameter("found", "completion", view=where),
        Parameter("gold", column, annotation=Annotated[str, BeforeValidator(GoldOption(known, gold_where))]),
    )
