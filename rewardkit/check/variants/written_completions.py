r"""Written completions: completions that a reward's options, tags, and patterns ask for.

If no correct completion is given, these take its place where only the form counts. For ``rk.tags("think", "answer")``
or ``re.match(r"<think>.*</think>\s*<answer>.*</answer>", text)``, one of them is ``<think>\n6*7\n</think>...``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rewardkit.check.reading.aims import drawn, matching
from rewardkit.check.reward_under_test.reward_under_test import RewardUnderTest
from rewardkit.check.reward_under_test.trials import EQUAL, Trial

_DRAWN = 12
"""The number of completions to generate from the options and the code. Arbitrary: the first ones are the simplest."""
_MOST = 3
"""The maximum number of completions to return. Arbitrary: all of them have the same form."""


def written_completions(subject: RewardUnderTest) -> list[str]:
    """Return the texts with the highest score, shortest first, or none if a word scores as high."""
    texts: list[str] = subject.remembered("written completions", lambda: _best(subject))
    return texts


def _best(subject: RewardUnderTest) -> list[str]:
    texts = list(dict.fromkeys(_candidates(subject)))
    scores = subject.see([Trial(subject.formed(text)) for text in ("", "word", *texts)])
    values = [score.value if score.scored else -float("inf") for score in scores]
    best = max(values)
    if best <= max(values[:2]) + EQUAL:
        return []
    return sorted((text for text, value in zip(texts, values[2:], strict=True) if value == best), key=len)[:_MOST]


def _candidates(subject: RewardUnderTest) -> Iterator[str]:
    code = subject.mined
    for joint in ("", "\n"):
        for body in ("42", "\n6*7 = 42\n"):
            yield joint.join(f"<{tag}>{body}</{tag}>" for tag in code.tags)
    # "A{3}" and "[a-z]:" are also patterns, but look like ordinary texts.
    yield from matching(
        [*code.patterns, *(text for text in code.texts if re.search(r"[\[{(*+\\]", text))], subject.seed
    )
    yield from drawn(lambda: _of_options(subject), _DRAWN, subject.seed)


def _of_options(subject: RewardUnderTest) -> object:
    from rewardkit.check.variants.strategies.completions import completions

    return completions(subject.reward, examples=[example.shown for example in subject.examples[:1]], kind="valid")
