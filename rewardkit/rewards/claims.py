"""Claims: ``rk.no_claim_without_call({"book": ["booked"]})`` gives 0.0 to ``It is booked.`` if nothing was booked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from rewardkit.batch.score import Score
from rewardkit.batch.trajectory import Trajectory
from rewardkit.errors import RewardDefinitionError, shorten
from rewardkit.text.claims import asked
from rewardkit.text.visibility import has_visible_character, unmasked
from rewardkit.tree.leaf import expression, primitive
from rewardkit.tree.parameters import Parameter
from rewardkit.tree.reward import Reward

_CLAUSE = re.compile(r"[.!?;:,\n]")
_DENIED = re.compile(
    r"(?:\bnot\b|n't\b|n’t\b|\b(?:never|no|cannot|unable|without|neither|nor|failed|nothing|if|unless|before|until|"
    r"once|whether|to be|will be|would be|can be|should be)\b)"
)
_SILENCE = (
    "no_claim_without_call: it gives 1.0 where nothing is claimed, so alone it pays a policy for saying nothing. Put "
    "it into a gate, or beside a reward for the answer"
)


@dataclass(frozen=True)
class NoClaimWithoutCall:
    """Check that each claim in the answer has a result of its tool behind it."""

    claims: tuple[tuple[str, tuple[str, ...]], ...]

    limits: ClassVar[tuple[str, ...]] = ()
    traps: ClassVar[Mapping[str, str]] = {"answers": _SILENCE}

    def __call__(self, trajectory: Trajectory) -> float | Score:
        answer = unmasked(trajectory.answer)
        if not answer:
            return 1.0
        worked = {call.name for call in trajectory.calls if call.ok}
        for tool, patterns in self._patterns:
            if tool not in worked:
                for pattern in patterns:
                    for match in pattern.finditer(answer):
                        if not _denied(answer, match.start(), match.end()):
                            return Score(0.0, f"says {shorten(match.group(), 60)}, but no call of {tool} worked")
        return 1.0

    @cached_property
    def _patterns(self) -> list[tuple[str, list[re.Pattern[str]]]]:
        return [(tool, list(map(_pattern, phrases))) for tool, phrases in self.claims]

    def __reduce__(self) -> tuple[object, ...]:
        return NoClaimWithoutCall, (self.claims,)  # without the compiled patterns


def _pattern(phrase: str) -> re.Pattern[str]:
    before = r"(?<!\w)" if re.match(r"\w", phrase) else ""
    after = r"(?!\w)" if re.search(r"\w\Z", phrase) else ""
    return re.compile(before + re.escape(phrase) + after)


def _denied(text: str, start: int, end: int) -> bool:
    """Return whether the clause of a phrase denies or supposes it, or its sentence is a question."""
    begin = max(
        (match.end() for match in _CLAUSE.finditer(text, max(0, start - 200), start)), default=max(0, start - 200)
    )
    return _DENIED.search(text, begin, start) is not None or asked(text, end)


def no_claim_without_call(claims: Mapping[str, str | Iterable[str]]) -> Reward:
    """Score 0.0 if the answer claims something that no tool did, else 1.0.

    ``rk.no_claim_without_call({"book": ["booked", "reserved"]})`` gives 0.0 to the answer ``Your table is booked.``
    unless a call of ``book`` came back without an error, and 1.0 to ``I could not get it booked.``

    It gives 1.0 to an answer that claims nothing, so put it into a gate or beside a reward for the answer. For claims
    in free words, use a judge whose rubric has ``{transcript}``.

    Args:
        claims: the name of a tool -> the phrases that claim that it worked. Phrases are found as whole words in the
            visible answer; case, white space and invisible characters are ignored. A phrase in a clause that denies or
            supposes it ("not booked", "once it is booked"), or in a question, is not a claim.

    Raises:
        RewardDefinitionError: no claims, or a phrase without visible characters.
    """
    pairs = []
    for tool, given in claims.items() if isinstance(claims, Mapping) else ():
        phrases = [given] if isinstance(given, str) else list(given) if isinstance(given, Iterable) else []
        sound = all(isinstance(phrase, str) and has_visible_character(phrase) for phrase in phrases)
        if not isinstance(tool, str) or not tool or not phrases or not sound:
            raise RewardDefinitionError(
                f"no_claim_without_call: pass phrases for the tool {shorten(tool)}, each with visible characters; got "
                f"{shorten(given)}"
            )
        pairs.append((tool, tuple(dict.fromkeys(map(unmasked, phrases)))))
    if not pairs:
        raise RewardDefinitionError(
            f'no_claim_without_call: pass a mapping such as {{"book": ["booked"]}}, got {shorten(claims)}'
        )
    shown = expression("no_claim_without_call", {tool: list(phrases) for tool, phrases in pairs})
    function = NoClaimWithoutCall(tuple(pairs))
    return primitive(function, "no_claim_without_call", shown, Parameter("trajectory", "trajectory"))
