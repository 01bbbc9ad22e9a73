"""Patterns: ``rk.contains(none="obviously")`` gives 0.0 to ``Obviously, it is 42.`` and 1.0 to ``It is 42.``

The rules search the visible text as a reader sees it, so a forbidden word cannot be hidden with case, full-width
letters, or invisible characters. A completion without visible text scores 0.0, even if it contains no forbidden words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Literal, final, get_args

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

# Arbitrary limit: longer patterns are machine-generated and compile slowly. The memory is about RE2's default, 8 MiB.
MAX_PATTERN = 2_000
_REGEX_BYTES = 8_000_000
_TOO_LONG = Score(0.0, f"longer than {MAX_CHARACTERS:,} characters")
_EMPTY = Score(0.0, "nothing visible")

# Words after "I won't": "I won't help" is a refusal, "I won't write out all steps" is not.
_TO_HELP = (
    r"(?:help|assist|answer|provide|do (?:that|this|so)\b|write (?!out|down|all)|create|generate|give (?:you|that)\b|"
    r"tell you|share|support|discuss|engage|participate|comply|continue|fulfill|be able|be providing)"
)
# Words after "I am not comfortable": "helping with that", "to write".
_HELPING = r"(?:to )?(?:help|assist|answer|provid|writ|creat|generat|shar|discuss|engag|do(?:ing)? (?:that|this|so)\b)"
# Words after "I can't" that do not refuse: "I can't wait", "I cannot overstate".
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
"""A pattern for English refusals by models from several companies, for normalized text without emphasis."""

_EMPHASIS = str.maketrans(dict.fromkeys("*_~"))


# Arbitrary size: larger than the number of different patterns that a batch has in a column.
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
    """A check that a pattern matches. The pattern is compiled once per process."""

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
            is_match = self.matcher(text)
        except UnicodeEncodeError:
            return Score(0.0, "contains a lone surrogate")
        return 1.0 if is_match else Score(0.0, "the pattern does not match")

    def __reduce__(self) -> tuple[Any, ...]:
        return Regex, (self.pattern, self.match)  # without the compiled pattern


def regex(pattern: str, *, match: Match = "full", extract: Extractor | Any = None) -> Reward:
    r"""Score 1.0 if a regular expression matches, else 0.0. Runs in linear time (RE2).

    ``rk.regex(r"(?s)<think>.+</think>\s*\d+")`` gives 1.0 to ``<think>6*7</think> 42``.

    Args:
        pattern: a pattern in RE2's syntax (Python's syntax without lookaround and backreferences), at most 2,000
            characters.
        match: ``"full"``: the whole text must match; ``"search"``: any part of the text may match.
        extract: finds the text to match. By default, this is the visible text, or the whole completion if the pattern
            itself contains ``<think>``.

    Raises:
        RewardDefinitionError: the pattern cannot be compiled.
        MissingExtraError: the extra ``regex`` is not installed.
    """
    if not isinstance(pattern, str) or not pattern:
        raise RewardDefinitionError(f"regex: the pattern must be text, got {shorten(pattern)}")
    if len(pattern) > MAX_PATTERN:
        raise RewardDefinitionError(
            f"regex: the pattern has {len(pattern):,} characters. Shorten it to at most {MAX_PATTERN:,}"
        )
    if match not in get_args(Match):
        raise RewardDefinitionError(f'regex: match must be "full" or "search", got {shorten(match)}')
    _compiled(pattern)
    where = as_extractor(extract, raw() if THINKING.named_in(pattern) else whole())
    call_text = expression("regex", pattern, match=(match, "full"), extract=(extract and where, None))
    return primitive(Regex(pattern, match), "regex", call_text, Parameter("text", "completion", view=where))


@final
@dataclass(frozen=True)
class Refusals:
    """Phrases that models use to refuse, for ``rk.contains(none=rk.REFUSALS)``."""

    def search(self, unmasked_text: str) -> str:
        """Return the first refusal in a normalized text; empty if there is none."""
        refusal = REFUSAL.search(unmasked_text.translate(_EMPHASIS))
        return refusal.group() if refusal else ""

    def __repr__(self) -> str:
        return "REFUSALS"


REFUSALS = Refusals()


@final
@dataclass(frozen=True)
class Contains:
    """A check for the strings that a completion contains, starts with, and ends with.

    Attributes:
        wanted: normalized strings that must occur.
        forbidden: normalized strings that must not occur.
        refusals: True if refusals must not occur.
        starts: the allowed starts of the text; empty if every start is allowed.
        ends: the allowed ends of the text; empty if every end is allowed.
        partial: True to score the fraction of `wanted` that occurs.
        ignore_case: True if `starts` and `ends` are case-folded and are compared with the case-folded text.
    """

    wanted: tuple[str, ...]
    forbidden: tuple[str, ...]
    refusals: bool
    starts: tuple[str, ...]
    ends: tuple[str, ...]
    partial: bool
    ignore_case: bool

    def __call__(self, text: str | None) -> float | Score:
        if text is None:
            return _TOO_LONG
        if not has_visible_character(text):
            return _EMPTY
        normalized = unmasked(text) if self.wanted or self.forbidden or self.refusals else ""
        missing = [required for required in self.wanted if required not in normalized]
        broken = [note for note in (self._forbidden(normalized), *self._edges(text.strip())) if note]
        if not missing and not broken:
            return 1.0
        share = 1.0 - len(missing) / len(self.wanted) if self.partial and not broken else 0.0
        return Score(share, "; ".join([f"missing: {shorten(missing, 120)}"] * bool(missing) + broken))

    def _forbidden(self, normalized: str) -> str:
        hit = REFUSALS.search(normalized) if self.refusals else ""
        hit = hit or next((forbidden for forbidden in self.forbidden if forbidden in normalized), "")
        return f"contains {shorten(hit, 80)}" if hit else ""

    def _edges(self, text: str) -> Iterator[str]:
        text = text.casefold() if self.ignore_case else text
        if self.starts and not text.startswith(self.starts):
            yield f"starts with {shorten(text[:40])}"
        if self.ends and not text.endswith(self.ends):
            yield f"ends with {shorten(text[-40:])}"


def contains(
    *,
    all: str | Iterable[str] | None = None,  # noqa: A002
    none: str | Refusals | Iterable[str | Refusals] | None = None,
    start: str | Iterable[str] | None = None,
    end: str | Iterable[str] | None = None,
    partial: bool = False,
    ignore_case: bool = False,
    extract: Extractor | Any = None,
) -> Reward:
    """Score 1.0 if the visible text contains all required strings and no forbidden ones, else 0.0.

    ``rk.contains(all=["hypothesis", "evidence"], partial=True)`` gives 0.5 to ``My hypothesis: it rains.``
    ``rk.contains(none="obviously")`` gives 0.0 to ``Obviously, it is 42.``, even with invisible characters inside the
    word. ``rk.contains(start=["Yes", "No"], end=".")`` gives 1.0 to ``Yes, because it rains.``
    ``rk.contains(none=rk.REFUSALS)`` gives 0.0 to ``I'm sorry, but I can't help with that.`` and 1.0 to
    ``I can't stress enough how simple it is.``

    In `all` and `none`, case, white space, full-width forms, and invisible characters are ignored. A completion that
    merely lists every string in `all` gets full credit, so combine this with a reward for the task itself. A text
    without visible characters scores 0.0.

    Args:
        all: one or more strings, all of which must occur.
        none: one or more strings, none of which may occur. ``rk.REFUSALS`` contains English phrases that models use to
            refuse. ``[rk.REFUSALS, "pas possible"]`` adds your own phrase.
        start: one or more strings. The visible text must start with one of them. White space before and after the text
            is ignored.
        end: one or more strings. The visible text must end with one of them.
        partial: if True, score the fraction of `all` that occurs, provided that all other conditions are met.
        ignore_case: also ignore case in `start` and `end`.
        extract: finds the text to check, ``rk.extract.whole()`` by default. ``rk.extract.raw()`` includes the thinking.

    Raises:
        RewardDefinitionError: there are no strings, a string has no visible characters, or `partial` is given without
            `all`.
    """
    required, forbidden = _texts("all", all), _texts("none", none)
    starts, ends = _texts("start", start), _texts("end", end)
    if not (required or forbidden or starts or ends):
        raise RewardDefinitionError('contains: pass all=, none=, start=, or end=, such as rk.contains(all=["because"])')
    if type(partial) is not bool or (partial and not required):
        raise RewardDefinitionError(
            f"contains: partial must be True or False, and needs all=, got partial={shorten(partial)}"
        )
    where = as_extractor(extract, whole())
    call_text = expression(
        "contains",
        all=(list(required), []),
        none=(list(forbidden), []),
        start=(list(starts), []),
        end=(list(ends), []),
        partial=(partial, False),
        ignore_case=(bool(ignore_case), False),
        extract=(extract and where, None),
    )
    function = Contains(
        _normalized(required),
        _normalized(forbidden),
        REFUSALS in forbidden,
        tuple(map(str.casefold, starts)) if ignore_case else starts,
        tuple(map(str.casefold, ends)) if ignore_case else ends,
        partial,
        bool(ignore_case),
    )
    return primitive(function, "contains", call_text, Parameter("text", "completion", view=where))


def _normalized(texts: Iterable[Any]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(unmasked(text) for text in texts if isinstance(text, str)))


def _texts(option: str, texts: Any) -> tuple[Any, ...]:
    if texts is None:
        return ()
    listed = (texts,) if isinstance(texts, (str, Refusals)) or not isinstance(texts, Iterable) else tuple(texts)
    for text in listed or (None,):
        visible = isinstance(text, str) and has_visible_character(text)
        if not visible and not (option == "none" and isinstance(text, Refusals)):
            raise RewardDefinitionError(
                f"contains: {option} must be one or more strings, each with visible characters, got {shorten(texts)}"
            )
    return listed
