"""Laws of curves: a score falls as a completion is damaged more and more, and has one best length."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace

from rewardkit.check.completion.anatomy import THINKING
from rewardkit.check.exploits.documents import Document
from rewardkit.check.findings import Finding
from rewardkit.check.laws.base import Skip, Variant, finding, law, needs_good
from rewardkit.check.reward_under_test.judgment import Judged, judged
from rewardkit.check.reward_under_test.subject import Subject
from rewardkit.check.reward_under_test.sweep import swept
from rewardkit.check.reward_under_test.trials import Seen
from rewardkit.check.variants.broken_texts import blocks_of
from rewardkit.check.variants.wrong_answers import leaves, other_value, with_leaf

_SENTENCE = (
    "so now we look at each part of it again and ask what follows from that before going on with the next step where "
    "some things may still change while others stay as they were because nothing else depends on them yet"
)
_PROSE = (
    "the old stone hotel stands on the shore and the tired sailor rests in its shade as the tides rise and roll on the "
    "sand then a little red train rattles in and the sailor listens to it and tells the tales he learned as a lad on "
    "the seas in the north and in the lands that lie to the east and at last he stands and lets the lantern shine in"
)
"""A text of more than 200 characters, in which each letter is frequent."""
_SIZES = (0, 5, 20, 50, 100, 200, 400, 800, 1600, 3200)
"""Words that make a right completion longer."""
_DEEP = 0.1
"""The share of the whole range by which a score must rise or fall to count."""
_MUCH = 0.2
"""The same, where a step may change what else is read: a tag without its other mark, words in another language."""
_MOST_STEPS = 12


@law(
    advice="Look for a score that a missing part leaves out: give the lowest score if a part is missing",
    skip="no right completion has two tags or a JSON object whose parts change the score",
    applies=needs_good,
    per=judged,
)
def damage_never_pays(subject: Subject, right: Judged) -> Iterator[Variant | None]:
    """Partial credit must point the way: if a completion with more things wrong earns more, the policy goes there.

    The tags of a right completion are removed one mark after the other, and the values of its JSON object are replaced
    one after the other. No step may earn more than the one before.
    """
    for what, texts in _damaged(right):
        trials = [right.trial(text) for text in (right.anatomy.text, *texts)]
        scores = subject.see(trials)
        values = [score.value for score in scores]
        if not all(score.scored for score in scores) or len(values) < 3 or max(values) == min(values):
            continue
        yield None
        slack = (_MUCH if "tag" in what else _DEEP) * (max(values) - min(values))
        for count, trial in enumerate(trials):
            lowest = min(range(count + 1), key=lambda step: values[step])
            why = (
                f"with {_counted(count, what)}, a right completion earns {{score}}; with {_counted(lowest, what)}, "
                "{base}"
            )
            yield Variant(trial, why, "no more", trials[lowest], slack)


def _counted(number: int, what: str) -> str:
    return f"{number} of its {what}" if number else f"none of its {what}"


def _damaged(right: Judged) -> Iterator[tuple[str, list[str]]]:
    """Yield kinds of damage, each with texts that have more and more of it."""
    if len(right.anatomy.blocks) > 1 and not right.judges:  # the bare answer may count, too
        pieces = blocks_of(right.anatomy).pieces()
        marks = [4 * number + side for number in range(len(right.anatomy.blocks)) for side in (1, 3)]
        for order in (marks, marks[::-1]):
            texts = ["".join(_without(pieces, order[:count])) for count in range(1, len(order) + 1)]
            yield "tag marks removed", [text for text in texts if not _is_thinking_only(text)]
    document = Document.within(right.anatomy)
    if document is not None:
        made, texts = document.value, []
        for path, value in [*leaves(document.value)][:_MOST_STEPS]:
            made = with_leaf(made, path, other_value(value))
            texts.append(document.saying(made))
        yield "values replaced", texts


def _is_thinking_only(text: str) -> bool:
    """Whether a text ends in its thinking, so that nothing is said."""
    return any(text.count(f"<{name}>") > text.count(f"</{name}>") for name in THINKING)


def _without(pieces: Sequence[str], places: Sequence[int]) -> list[str]:
    return ["" if place in places else piece for place, piece in enumerate(pieces)]


@law(
    advice="Check the signs and the limits of the curve: it should rise up to the best length, then fall",
    skip="the length of a right completion does not change its score",
    applies=needs_good,
    per=judged,
)
def one_best_length(subject: Subject, right: Judged) -> Iterator[Finding | None]:
    """If a longer completion earns less, and one that is longer still earns more, the policy runs away to it.

    Words are added to a right completion. Its score may rise and then fall, but it must not fall and then rise.
    """
    curves = [[right.trial(text) for text in _longer(right, subject.seed + draw)] for draw in range(2)]
    first, second = map(subject.see, curves)
    if len({round(score.value, 9) for score in first if score.scored}) > 2:
        yield None
    if first[0].value - first[1].value > _MUCH * _range(subject):
        return  # it is not the length of a few words that costs so much
    gap = _DEEP * _range(subject)
    valley = _valley(first, gap)
    if valley is not None and _falls_and_rises(second, valley, gap):
        steps = [f"with {_SIZES[step]} words added, it earns {first[step].value:.6g}" for step in valley]
        why = f"a right completion loses by its length, and then wins: {'; '.join(steps)}"
        yield finding(subject, curves[0][valley[2]], first[valley[2]], why)


def _range(subject: Subject) -> float:
    """Return the difference between the highest and the lowest score seen."""
    values = [seen.value for _, seen in swept(subject) if seen.scored]
    return max(values, default=0.0) - min(values, default=0.0)


def _valley(seen: Sequence[Seen], gap: float) -> tuple[int, int, int] | None:
    """Return three places whose scores fall and rise again, by more than `gap`, if there are any."""
    values = [one.value for one in seen]
    for low in range(1, len(values) - 1) if all(one.scored for one in seen) else ():
        places = (
            max(range(low), key=lambda place: values[place]),
            low,
            max(range(low + 1, len(values)), key=lambda place: values[place]),
        )
        if _falls_and_rises(seen, places, gap):
            return places
    return None


def _falls_and_rises(seen: Sequence[Seen], places: tuple[int, int, int], gap: float) -> bool:
    before, low, after = (seen[place].value for place in places)
    return min(before, after) > low + gap


def _longer(right: Judged, seed: int) -> list[str]:
    """Return a right completion with more and more words in its thinking, or in front of it."""
    draw = random.Random(seed)
    words = draw.choices([word for word in _SENTENCE.split() if len(word) > 2], k=max(_SIZES))
    anatomy = right.anatomy
    start = anatomy.thinking.body.start if anatomy.thinking else 0
    return [anatomy.text[:start] + " ".join([*words[:size], anatomy.text[start:]]) for size in _SIZES]


@law(
    advice="Divide by the length, or limit what is counted",
    skip="no gold answer is a text that is paid in part",
    applies=needs_good,
    per=judged,
)
def long_texts_like_short_ones(subject: Subject, right: Judged) -> Iterator[Variant]:
    """If one slip costs more in a long text than in a short one, something counts differently beyond a length.

    ``difflib.SequenceMatcher`` drops frequent letters from 200 characters on, for example. The gold text of a reward
    with partial credit is replaced by a long one, and its first word is left out, as of the short one.
    """
    anatomy = right.anatomy
    gold = anatomy.gold
    if not right.judges or not isinstance(anatomy.value, str) or len(gold.split()) < 5 or gold != anatomy.value:
        return
    short = right.trial(anatomy.saying(gold.split(" ", 1)[1]))
    whole, slip = (
        replace(right.trial(anatomy.saying(text)), columns={anatomy.column: _PROSE})
        for text in (_PROSE, _PROSE.split(" ", 1)[1])
    )
    in_part, full, in_long = subject.see([short, whole, slip])
    if right.paid(full) and in_part.scored and in_long.scored and not right.paid(in_part):
        why = (
            f"without its first word, a text of {len(_PROSE)} characters earns {{score}}, one of {len(gold)} "
            "characters {base}"
        )
        yield Variant(slip, why, "no less", short, _DEEP * _range(subject))


def _not_in_english_alone(subject: Subject) -> None:
    """Raise `Skip` if all examples are in English."""
    needs_good(subject)
    text = str([(example.shown, example.good, example.bad) for example in subject.examples])
    if text.isascii() and not any("lang" in name for example in subject.examples for name in example.columns):
        raise Skip("the examples are in English")


@law(
    advice="Count the repetition of characters, too, where a script has no spaces",
    skip="repetition was not seen to cost something",
    applies=_not_in_english_alone,
    per=judged,
)
def repetition_in_any_script(subject: Subject, right: Judged) -> Iterator[Variant]:
    """A penalty on repeated words that looks for spaces does not see the ones of Chinese, Japanese or Thai.

    If a repeated English phrase costs something, the same is tried with a Chinese one. The law applies where the
    examples are not in English alone.
    """
    english, chinese = (right.trial(text) for text in ("the sky is blue and " * 40, "天空是蓝色的海水也是" * 40))
    first, second = subject.see([english, chinese])
    if first.scored and second.scored and first.value <= right.value - _DEEP * _range(subject):
        why = "a phrase repeated 40 times earns {base} in English, {score} in Chinese"
        yield Variant(chinese, why, "no more", english, (right.value - first.value) / 2)
