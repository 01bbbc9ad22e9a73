"""Patterns: ``rk.contains_none(["obviously"])`` gives 0.0 to ``Obviously, it is 42.`` and 1.0 to ``It is 42.``

What is forbidden or asked for is looked for in the visible text, as it would be typed: neither case, nor full-width
letters, nor characters that show nothing hide a word from the rules that forbid it. A completion that shows nothing
earns nothing, whatever it does not contain.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Literal, get_args

from rewardkit.core.batch.score import Score
from rewardkit.core.errors import MissingExtraError, RewardDefinitionError, shorten
from rewardkit.core.text.extraction import Extractor, as_extractor, raw, whole
from rewardkit.core.text.json_text import MAX_CHARACTERS
from rewardkit.core.text.visibility import has_visible_character, unmasked
from rewardkit.core.tree.leaf import expression, primitive
from rewardkit.core.tree.parameters import Parameter
from rewardkit.core.tree.reward import Reward

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
"""How models of several makers refuse in English; searched in a text that is unmasked and without emphasis."""

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
        raise RewardDefinitionError(f"regex: {shorten(pattern, 80)} holds a lone surrogate") from None
    except re2.error as error:
        reason = error.args[0].decode() if isinstance(error.args[0], bytes) else str(error)
        hint = (
            " It runs in linear time, without lookaround and backreferences."
            if "(?" in reason or "\\" in reason
            else ""
        )
        raise RewardDefinitionError(f"regex: {shorten(pattern, 80)} cannot be used: {reason}.{hint}") from None


@dataclass(frozen=True)
class Regex:
    """Whether a pattern matches; compiled once per process."""

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
            return Score(0.0, "holds a lone surrogate")
        return 1.0 if matched else Score(0.0, "the pattern does not match")

    def __reduce__(self) -> tuple[Any, ...]:
        return Regex, (self.pattern, self.match)  # without what is compiled


def regex(pattern: str, *, match: Match = "full", extract: Extractor | Any = None) -> Reward:
    r"""1.0 where a regular expression matches, else 0.0; in linear time, by RE2.

    ``rk.regex(r"(?s)<think>.+</think>\s*\d+")`` gives 1.0 to ``<think>6*7</think> 42``.

    Args:
        pattern: in RE2's syntax (as Python's, without lookaround and backreferences), at most 2,000 characters.
        match: ``"full"``: the whole text; ``"search"``: somewhere in it.
        extract: finds the text to match. By default the visible text, or the whole completion where the pattern names
            ``<think>`` itself.

    Raises:
        RewardDefinitionError: the pattern cannot be compiled.
        MissingExtraError: the extra ``regex`` is not installed.
    """
    if not isinstance(pattern, str) or not pattern:
        raise RewardDefinitionError(f"regex: a pattern is text, got {shorten(pattern)}")
    if len(pattern) > MAX_PATTERN:
        raise RewardDefinitionError(f"regex: the pattern has {len(pattern):,} characters, more than {MAX_PATTERN:,}")
    if match not in get_args(Match):
        raise RewardDefinitionError(f'regex: match is "full" or "search", got {shorten(match)}')
    _compiled(pattern)
    where = as_extractor(extract, raw() if "think>" in pattern else whole())
    shown = expression("regex", pattern, match=(match, "full"), extract=(extract and where, None))
    return primitive(Regex(pattern, match), "regex", shown, Parameter("text", "completion", view=where))


@dataclass(frozen=True)
class Affix:
    """Whether the text starts or ends with one of some texts."""

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
    """1.0 where the visible text starts with one of `texts`, white space aside, else 0.0.

    ``rk.starts_with("Yes", "No")`` gives 1.0 to ``Yes, because it rains.``

    Args:
        texts: one or more, none of them empty.
        ignore_case: compare without case.
        extract: finds the text to look at, ``rk.extract.whole()`` by default.

    Raises:
        RewardDefinitionError: no texts, or an empty one.
    """
    return _affix("starts_with", texts, False, ignore_case, extract)


def ends_with(*texts: str, ignore_case: bool = False, extract: Extractor | Any = None) -> Reward:
    """1.0 where the visible text ends with one of `texts`, white space aside, else 0.0.

    ``rk.ends_with(".", "!", "?")`` gives 0.0 to a completion that was cut off in the middle of a

    Args:
        texts: one or more, none of them empty.
        ignore_case: compare without case.
        extract: finds the text to look at, ``rk.extract.whole()`` by default.

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
    """How many of some texts stand in the text."""

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
    """1.0 where all of `texts` stand in the visible text, in any case; else 0.0, or their share.

    ``rk.contains_all(["hypothesis", "evidence"], partial=True)`` gives 0.5 to ``My hypothesis: it rains.``

    A completion that lists every text earns all of it: a shape to ask for beside a task, not a task.

    Args:
        texts: none of them empty; case, white space, full-width forms and invisible characters are looked through.
        partial: credit by the share that is found.
        extract: finds the text that is looked through, ``rk.extract.whole()`` by default.

    Raises:
        RewardDefinitionError: no texts, or one that shows nothing.
    """
    if type(partial) is not bool:
        raise RewardDefinitionError(f"contains_all: partial is True or False, got {shorten(partial)}")
    checked = _texts("contains_all", texts)
    where = as_extractor(extract, whole())
    shown = expression("contains_all", list(checked), partial=(partial, False), extract=(extract and where, None))
    wanted = ContainsAll(tuple(dict.fromkeys(map(unmasked, checked))), partial)
    return primitive(wanted, "contains_all", shown, Parameter("text", "completion", view=where))


@dataclass(frozen=True)
class ContainsNone:
    """That no one of some texts stands in the text."""

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
    """1.0 where none of `texts` stands in the visible text, in any case, else 0.0; an empty text earns nothing.

    ``rk.contains_none(["obviously"])`` gives 0.0 to ``Obviously, it is 42.``, however the word is spaced out with
    invisible characters.

    Args:
        texts: none of them empty; case, white space, full-width forms and invisible characters are looked through.
        extract: finds the text that is looked through, ``rk.extract.whole()`` by default; ``rk.extract.raw()`` looks
            into the thinking too.

    Raises:
        RewardDefinitionError: no texts, or one that shows nothing.
    """
    checked = _texts("contains_none", texts)
    where = as_extractor(extract, whole())
    call = expression("contains_none", list(checked), extract=(extract and where, None))
    forbidden = ContainsNone(tuple(dict.fromkeys(map(unmasked, checked))))
    return primitive(forbidden, "contains_none", call, Parameter("text", "completion", view=where))


@dataclass(frozen=True)
class NoRefusal:
    """That neither a phrase of refusal nor one of some texts stands in the text."""

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
    """1.0 where the visible text holds no phrase by which models refuse (in English), else 0.0.

    ``rk.no_refusal()`` gives 0.0 to ``I'm sorry, but I can't help with that.`` and to an empty completion, and 1.0 to
    ``I can't stress enough how simple it is.``

    Args:
        more: further phrases, in any language, looked for as ``rk.contains_none`` does.
        extract: finds the text that is looked through, ``rk.extract.whole()`` by default.

    Raises:
        RewardDefinitionError: a phrase that shows nothing.
    """
    checked = _texts("no_refusal", more, starred=True) if more else ()
    where = as_extractor(extract, whole())
    call = expression("no_refusal", *checked, extract=(extract and where, None))
    forbidden = NoRefusal(tuple(dict.fromkeys(map(unmasked, checked))))
    return primitive(forbidden, "no_refusal", call, Parameter("text", "completion", view=where))


def _texts(name: str, texts: Iterable[str], *, starred: bool = False) -> tuple[str, ...]:
    listed = tuple(texts) if isinstance(texts, Iterable) and not isinstance(texts, str) else ()
    if starred and any(isinstance(text, (list, tuple)) for text in listed):
        raise RewardDefinitionError(f"{name} takes its texts one by one: for a list, write rk.{name}(*texts)")
    if not listed or not all(isinstance(text, str) and has_visible_character(text) for text in listed):
        raise RewardDefinitionError(
            f"{name} takes texts that show something, at least one; got {shorten(listed or texts)}"
        )
    return listed
