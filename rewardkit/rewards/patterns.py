"""Patterns: ``rk.contains_none(["obviously"])`` gives 0.0 to ``Obviously, it is 42.`` and 1.0 to ``It is 42.``

The rules search the visible text as a reader sees it: case, full-width letters and invisible characters cannot hide a
forbidden word. A completion without visible text scores 0.0, even if it contains nothing forbidden.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Literal, get_args

from rewardkit.batch.score import Score
from rewardkit.errors import MissingExtraError, RewardDefinitionError, shorten
from rewardkit.text.extraction import as_extractor, raw, whole
from rewardkit.text.extractors import Extractor
from rewardkit.text.json_text import MAX_CHARACTERS
from rewardkit.text.thinking import THINKING
from rewardkit.text.visibility import has_visible_character, unmasked
from rewardkit.tree.leaf import expression, primitive
from rewardkit.tree.parameters import Parameter
from rewardkit.tree.reward import Reward

Match = Literal["full", "search"]

MAX_PATTERN = 2_000
_REGEX_BYTES = 8_000_000
_TOO_LONG = Score(0.0, f"longer than {MAX_CHARACTERS:,} characters")
_EMPTY = Score(0.0, "nothing visible")

_TO_HELP = (
    r"(?:help|assist|answer|provide|do (?:that|this|so)\b|write (?!out|down|all)|create|generate|give (?:you|that)\b|"
    r"tell you|share|support|discuss|engage|participate|comply|continue|fulfill|be able|be providing)"
)
_HELPING = r"(?:to )?(?:help|assist|answer|provid|writ|creat|generat|shar|discuss|engag|do(?:ing)? (?:that|this|so)\b)"
_IDIOMS = (
    r"(?:stress|emphasi[sz]e|overstate|wait|imagine|believe|thank|recommend|praise|say enough|think of a better|"
    r"help (?:but|noticing|thinking|feeling|myself))\b"
)
REFUSAL = re.compile(
    r"\b(?:"
    r"as an? (?:ai|artificial intelligence|(?:large )?language model)\b"
    r"|i(?:'?m| am) (?:sorry,? but|unable to|not able to|not allowed to|not permitted to)\b"
    rf"|i(?:'?m| am) not (?:(?:comfortable|willing) (?:with )?{_HELPING}|going to {_TO_HELP})"
    rf"|i (?:can'?t|cannot|can not)\b(?! (?:\w+ly )?{_IDIOMS})"
    rf"|i (?:won'?t|will not|must refuse to|refuse to) {_TO_HELP}"
    r"|i (?:must |have to )?(?:decline\b|refuse(?= ?(?:[.!,;]|\Z)))"
    r"|i (?:do not|don'?t) have the ability"
    r"|not something i can\b"
    r")"
)
"""How models of several makers refuse in English; searched in normalized text without emphasis."""

_EMPHASIS = str.maketrans(dict.fromkeys("*_~"))


@lru_cache(maxsize=1_024)
def _compiled(pattern: str) -> Any:
    try:
        import re2
    except ImportError:
        raise MissingExtraError.of("rk.regex", "regex") from None
    options = re2.Options()
    options.max_mem = _REGEX_BYTES
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except UnicodeEncodeError:
        raise RewardDefinitionError(f"regex: {shorten(pattern, 80)} contains a lone surrogate") from None
    except re2.error as error:
        reason = error.args[0].decode() if isinstance(error.args[0], bytes) else str(error)
        hint = (
            " Patterns run in linear time, so lookaround and backreferences are not supported."
            if "(?" in reason or "\\" in reason
            else ""
        )
        raise RewardDefinitionError(f"regex: cannot compile {shorten(pattern, 80)}: {reason}.{hint}") from None


@dataclass(frozen=True)
class Regex:
    """Match a pattern, compiled once per process."""

    pattern: str
    match: Match

    @cached_property
    def matcher(self) -> Any:
        compiled = _compiled(self.pattern)
        return compiled.fullmatch if self.match == "full" else compiled.search

    def __call__(self, text: str | None) -> float | Score:
        if text is None:
            return _TOO_LONG
        try:
            matched = self.matcher(text)
        except UnicodeEncodeError:
            return Score(0.0, "contains a lone surrogate")
        return 1.0 if matched else Score(0.0, "the pattern does not match")

    def __reduce__(self) -> tuple[Any, ...]:
        return Regex, (self.pattern, self.match)  # without the compiled pattern


def regex(pattern: str, *, match: Match = "full", extract: Extractor | Any = None) -> Reward:
    r"""Score 1.0 if a regular expression matches, else 0.0; runs in linear time (RE2).

    ``rk.regex(r"(?s)<think>.+</think>\s*\d+")`` gives 1.0 to ``<think>6*7</think> 42``.

    Args:
        pattern: in RE2's syntax (Python's without lookaround and backreferences), at most 2,000 characters.
        match: ``"full"``: the whole text must match; ``"search"``: any part of it.
        extract: finds the text to match. By default the visible text, or the whole completion if the pattern itself
            contains ``<think>``.

    Raises:
        RewardDefinitionError: the pattern cannot be compiled.
        MissingExtraError: the extra ``regex`` is not installed.
    """
    if not isinstance(pattern, str) or not pattern:
        raise RewardDefinitionError(f"regex: the pattern must be text, got {shorten(pattern)}")
    if len(pattern) > MAX_PATTERN:
        raise RewardDefinitionError(
            f"regex: the pattern has {len(pattern):,} characters; shorten it to at most {MAX_PATTERN:,}"
        )
    if match not in get_args(Match):
        raise RewardDefinitionError(f'regex: match must be "full" or "search", got {shorten(match)}')
    _compiled(pattern)
    where = as_extractor(extract, raw() if THINKING.named_in(pattern) else whole())
    shown = expression("regex", pattern, match=(match, "full"), extract=(extract and where, None))
    return primitive(Regex(pattern, match), "regex", shown, Parameter("text", "completion", view=where))


@dataclass(frozen=True)
class Affix:
    """Check that the text starts or ends with one of the given texts."""

    texts: tuple[str, ...]
    at_end: bool
    ignore_case: bool

    def __call__(self, text: str | None) -> float | Score:
        if text is None:
            return _TOO_LONG
        text = text.strip()
        if self.ignore_case:
            text = text.casefold()
        if text.endswith(self.texts) if self.at_end else text.startswith(self.texts):
            return 1.0
        return Score(0.0, f"ends with {shorten(text[-40:])}" if self.at_end else f"starts with {shorten(text[:40])}")


def starts_with(*texts: str, ignore_case: bool = False, extract: Extractor | Any = None) -> Reward:
    """Score 1.0 if the visible text starts with one of `texts` (white space is ignored), else 0.0.

    ``rk.starts_with("Yes", "No")`` gives 1.0 to ``Yes, because it rains.``

    Args:
        texts: one or more, none empty.
        ignore_case: ignore case.
        extract: finds the text to check, ``rk.extract.whole()`` by default.

    Raises:
        RewardDefinitionError: no texts, or an empty one.
    """
    return _affix("starts_with", texts, False, ignore_case, extract)


def ends_with(*texts: str, ignore_case: bool = False, extract: Extractor | Any = None) -> Reward:
    """Score 1.0 if the visible text ends with one of `texts` (white space is ignored), else 0.0.

    ``rk.ends_with(".", "!", "?")`` gives 0.0 to a completion that was cut off in the middle of a

    Args:
        texts: one or more, none empty.
        ignore_case: ignore case.
        extract: finds the text to check, ``rk.extract.whole()`` by default.

    Raises:
        RewardDefinitionError: no texts, or an empty one.
    """
    return _affix("ends_with", texts, True, ignore_case, extract)


def _affix(name: str, texts: tuple[str, ...], at_end: bool, ignore_case: bool, extract: Extractor | Any) -> Reward:
    checked = _texts(name, texts, starred=True)
    where = as_extractor(extract, whole())
    shown = expression(name, *texts, ignore_case=(ignore_case, False), extract=(extract and where, None))
    affix = Affix(tuple(map(str.casefold, checked)) if ignore_case else checked, at_end, bool(ignore_case))
    return primitive(affix, name, shown, Parameter("text", "completion", view=where))


@dataclass(frozen=True)
class ContainsAll:
    """Check how many of the given texts occur in the text."""

    texts: tuple[str, ...]
    partial: bool

    def __call__(self, text: str | None) -> float | Score:
        if text is None:
            return _TOO_LONG
        seen = unmasked(text)
        missing = [wanted for wanted in self.texts if wanted not in seen]
        if not missing:
            return 1.0
        credit = 1.0 - len(missing) / len(self.texts) if self.partial else 0.0
        return Score(credit, f"missing: {shorten(missing, 120)}")


def contains_all(texts: Iterable[str], *, partial: bool = False, extract: Extractor | Any = None) -> Reward:
    """Score 1.0 if all of `texts` occur in the visible text, in any case; else 0.0, or their share with `partial`.

    ``rk.contains_all(["hypothesis", "evidence"], partial=True)`` gives 0.5 to ``My hypothesis: it rains.``

    A completion that lists every text gets full credit, so combine this with a reward for the task itself.

    Args:
        texts: one or more, none empty; case, white space, full-width forms and invisible characters are ignored.
        partial: give the share of the texts that were found.
        extract: finds the text to search, ``rk.extract.whole()`` by default.

    Raises:
        RewardDefinitionError: no texts, or one without visible characters.
    """
    if type(partial) is not bool:
        raise RewardDefinitionError(f"contains_all: partial must be True or False, got {shorten(partial)}")
    checked = _texts("contains_all", texts)
    where = as_extractor(extract, whole())
    shown = expression("contains_all", list(checked), partial=(partial, False), extract=(extract and where, None))
    wanted = ContainsAll(tuple(dict.fromkeys(map(unmasked, checked))), partial)
    return primitive(wanted, "contains_all", shown, Parameter("text", "completion", view=where))


@dataclass(frozen=True)
class ContainsNone:
    """Check that none of the given texts occurs in the text."""

    texts: tuple[str, ...]

    def __call__(self, text: str | None) -> float | Score:
        if text is None:
            return _TOO_LONG
        if not has_visible_character(text):
            return _EMPTY
        seen = unmasked(text)
        found = next((forbidden for forbidden in self.texts if forbidden in seen), None)
        return 1.0 if found is None else Score(0.0, f"contains {shorten(found, 80)}")


def contains_none(texts: Iterable[str], *, extract: Extractor | Any = None) -> Reward:
    """Score 1.0 if none of `texts` occurs in the visible text, in any case, else 0.0; an empty text scores 0.0.

    ``rk.contains_none(["obviously"])`` gives 0.0 to ``Obviously, it is 42.``, even with invisible characters inside the
    word.

    Args:
        texts: one or more, none empty; case, white space, full-width forms and invisible characters are ignored.
        extract: finds the text to search, ``rk.extract.whole()`` by default; ``rk.extract.raw()`` includes the
            thinking.

    Raises:
        RewardDefinitionError: no texts, or one without visible characters.
    """
    checked = _texts("contains_none", texts)
    where = as_extractor(extract, whole())
    call = expression("contains_none", list(checked), extract=(extract and where, None))
    forbidden = ContainsNone(tuple(dict.fromkeys(map(unmasked, checked))))
    return primitive(forbidden, "contains_none", call, Parameter("text", "completion", view=where))


@dataclass(frozen=True)
class NoRefusal:
    """Check that neither a refusal phrase nor one of the given texts occurs in the text."""

    texts: tuple[str, ...]

    def __call__(self, text: str | None) -> float | Score:
        if text is None:
            return _TOO_LONG
        if not has_visible_character(text):
            return _EMPTY
        seen = unmasked(text)
        refusal = REFUSAL.search(seen.translate(_EMPHASIS))
        found = refusal.group() if refusal else next((more for more in self.texts if more in seen), None)
        return 1.0 if found is None else Score(0.0, f"contains {shorten(found, 80)}")


def no_refusal(*more: str, extract: Extractor | Any = None) -> Reward:
    """Score 1.0 if the visible text contains no phrase with which models refuse (in English), else 0.0.

    ``rk.no_refusal()`` gives 0.0 to ``I'm sorry, but I can't help with that.`` and to an empty completion, and 1.0 to
    ``I can't stress enough how simple it is.``

    Args:
        more: further phrases in any language, matched as by ``rk.contains_none``.
        extract: finds the text to search, ``rk.extract.whole()`` by default.

    Raises:
        RewardDefinitionError: a phrase without visible characters.
    """
    checked = _texts("no_refusal", more, starred=True) if more else ()
    where = as_extractor(extract, whole())
    call = expression("no_refusal", *checked, extract=(extract and where, None))
    forbidden = NoRefusal(tuple(dict.fromkeys(map(unmasked, checked))))
    return primitive(forbidden, "no_refusal", call, Parameter("text", "completion", view=where))


def _texts(name: str, texts: Iterable[str], *, starred: bool = False) -> tuple[str, ...]:
    listed = tuple(texts) if isinstance(texts, Iterable) and not isinstance(texts, str) else ()
    if starred and any(isinstance(text, (list, tuple)) for text in listed):
        raise RewardDefinitionError(
            f"{name}: pass the texts as separate arguments; for a list, write rk.{name}(*texts)"
        )
    if isinstance(texts, str):
        raise RewardDefinitionError(f"{name}: pass a list of texts, rk.{name}([{shorten(texts)}])")
    if not listed or not all(isinstance(text, str) and has_visible_character(text) for text in listed):
        raise RewardDefinitionError(
            f"{name}: pass at least one text, each with visible characters; got {shorten(listed or texts)}"
        )
    return listed
