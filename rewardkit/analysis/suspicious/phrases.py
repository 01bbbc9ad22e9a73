"""Phrases that pay: word n-grams that spread and whose completions earn more than others of the same prompt.

"as an expert i am certain" stands in 1 % of the first completions and in 40 % of the last, and beats completions
without it in 95 % of the comparisons within a group.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from rewardkit.analysis.presentation import excerpt
from rewardkit.analysis.suspicious.arrangement import ranks
from rewardkit.analysis.suspicious.evidence import Integers, Lead, ramp, weakest
from rewardkit.analysis.suspicious.texts import MARKUP, Hashes, Sample, among, chained, mixed, spans
from rewardkit.analysis.suspicious.wins import discoveries, one_sided, wins
from rewardkit.core.batch.column import Floats

LONGEST = 4
"""Words of the longest n-gram."""
LEAST = 20
"""Completions of the sample that an n-gram must stand in."""
LEAST_PROMPTS = 5
"""Prompts that it must stand in completions of."""
FALSE_DISCOVERIES = 0.01
CANDIDATES = 200
"""How many of the strongest n-grams are looked at closely: overlapping ones are one phrase."""
MOST = 5
"""How many leads there are at most."""


@dataclass(frozen=True)
class Grams:
    """Which n-gram stands in which completion, once each, save those that its prompt may have asked for: a single word
    of the prompt, and whatever shares two neighboring words or a piece of markup with it.

    Attributes:
        grams: (pairs,) numbers of the n-grams.
        members: (pairs,) positions in the sample.
        places: (grams,) where in the sample's tokens each begins for the first time.
        sizes: (grams,) words.
    """

    grams: Integers
    members: Integers
    places: Integers
    sizes: Integers


def phrase_leads(sample: Sample) -> list[Lead]:
    """At most five leads.

    Of all n-grams of one to four words (characters, in scripts without spaces) that stand in at least 20 completions
    of at least 5 prompts, those whose completions earn more within groups are kept (rank test, false discovery rate
    0.01). The strength is the weakest of: how surely it pays (z from 4 to 8), how surely it spread between windows (z
    from 4 to 8), how far (by 0.05 to 0.3 of all completions), and how often it wins against completions of the same
    group without it (from 0.6 to 0.85: in the total, or in the component that it wins most in if the total is above
    0.55). Where a monitored component tells completions apart and those with the phrase win as often in it, the
    phrase is right rather than a trick: the last ramp shrinks by how often they do (from 0.55 to 0.7).
    """
    found = grams(sample)
    count = len(found.places)
    if not count:
        return []
    won = wins(found.grams, found.members, count, sample.groups, sample.standing)
    before, after, spread = _spread(sample, found)
    kept = discoveries(one_sided(won.z), FALSE_DISCOVERIES) & (won.chance > 0.55)
    strengths = weakest(ramp(won.z, 4.0, 8.0), ramp(spread, 4.0, 8.0), ramp(after - before, 0.05, 0.3)) * kept
    chosen = np.lexsort((-won.z, -strengths))[:CANDIDATES]
    chosen = chosen[strengths[chosen] > 0.0]
    if not chosen.size:
        return []
    chance, component = _most_won(sample, found, chosen, won.chance[chosen])
    strengths = weakest(strengths[chosen], ramp(chance, 0.6, 0.85) * (1.0 - _truly_won(sample, found, chosen)))
    leads = []
    for one, rows in islice(_apart(sample, found, chosen, strengths), MOST):
        gram = int(chosen[one])
        phrase = excerpt(_text(sample, found, gram))
        leads.append(
            Lead(
                kind="phrase",
                title=f"\u201c{phrase}\u201d spreads and pays",
                text=(
                    f"\u201c{phrase}\u201d stands in {100 * before[gram]:.1f} % and later in {100 * after[gram]:.1f} % "
                    f"of completions. One with it earns more than one of its group without it in "
                    f"{100 * won.chance[gram]:.0f} % of comparisons (z = {won.z[gram]:.1f}"
                    + (f"; in {component[one]}: {100 * chance[one]:.0f} %" if component[one] else "")
                    + f"). From {sample.said()}; {count} n-grams compared, false discovery rate {FALSE_DISCOVERIES}."
                ),
                strength=float(strengths[one]),
                steps=sample.run.span,
                component=component[one],
                rows=sample.run.shown(sample.rows[rows]),
                numbers={
                    "before": float(before[gram]),
                    "after": float(after[gram]),
                    "z": float(won.z[gram]),
                    "chance": float(won.chance[gram]),
                },
            )
        )
    return leads


def grams(sample: Sample) -> Grams:
    """All n-grams that are frequent enough."""
    tokens, owners = sample.tokens
    prompt, _ = sample.distinct_prompts
    hashes = mixed(tokens, 0)
    word, pair = _told(sample, 1), _told(sample, 2)
    markup = np.array([MARKUP.fullmatch(one) is not None for one in sample.vocabulary], dtype=np.bool_)
    pairs_told = np.concatenate([[0], np.cumsum(pair)])
    markup_told = np.concatenate([[0], np.cumsum(word & markup[tokens])])
    keys, members, places, sizes = [], [], [], []
    for size in range(1, LONGEST + 1):
        own, texts, begins = chained(hashes, owners, size)
        # One count per bucket bounds those of the n-grams in it: most are rare and leave here.
        buckets = (own >> np.uint64(44)).astype(np.int64)
        often = np.bincount(buckets, minlength=1)[buckets] >= LEAST
        told = (markup_told[begins + size] > markup_told[begins]) | (
            word[begins] if size == 1 else pairs_told[begins + size - 1] > pairs_told[begins]
        )
        own, texts, begins = own[often & ~told], texts[often & ~told], begins[often & ~told]
        once = np.unique(_joined(own, texts), return_index=True)[1]
        keys.append(own[once])
        members.append(texts[once])
        places.append(begins[once])
        sizes.append(np.full(len(once), size))
    key, member = np.concatenate(keys), np.concatenate(members)
    _, firsts, gram = np.unique(key, return_index=True, return_inverse=True)
    count = len(firsts)
    pairs = np.unique(gram * (int(prompt.max(initial=0)) + 1) + prompt[member])
    prompts = np.bincount(pairs // (int(prompt.max(initial=0)) + 1), minlength=count)
    often = (np.bincount(gram, minlength=count) >= LEAST) & (prompts >= LEAST_PROMPTS)
    number = np.cumsum(often) - 1
    stays = often[gram]
    return Grams(
        number[gram[stays]],
        member[stays],
        np.concatenate(places)[firsts[often]],
        np.concatenate(sizes)[firsts[often]],
    )


def _told(sample: Sample, size: int) -> NDArray[np.bool_]:
    """(tokens,) whether the run of `size` tokens that begins here stands in the prompt of its completion."""
    tokens, owners = sample.tokens
    asked, askers = sample.prompt_tokens
    own, texts, begins = chained(mixed(tokens, 0), owners, size)
    known, by, _ = chained(mixed(asked, 0), askers, size)
    result = np.zeros(len(tokens), dtype=np.bool_)
    result[begins] = among(_joined(own, sample.distinct_prompts[0][texts]), _joined(known, by))
    return result


def _joined(hashes: Hashes, numbers: Integers) -> Hashes:
    with np.errstate(over="ignore"):
        return hashes ^ mixed(numbers, 7)


def _spread(sample: Sample, found: Grams) -> tuple[Floats, Floats, Floats]:
    """The least frequency, the highest after it, and how surely they differ (two proportions), each (grams,)."""
    count, windows = len(found.places), int(sample.windows.max()) + 1
    sizes = np.maximum(np.bincount(sample.windows, minlength=windows), 1).astype(np.float64)
    cells = np.bincount(found.grams * windows + sample.windows[found.members], minlength=count * windows)
    share = cells.reshape(count, windows) / sizes
    lowest = np.minimum.accumulate(share, axis=1)
    at = np.argmax(share - lowest, axis=1)
    rows = np.arange(count)
    before, after = lowest[rows, at], share[rows, at]
    since = np.argmin(np.where(np.arange(windows) <= at[:, None], share, np.inf), axis=1)
    pooled = (before * sizes[since] + after * sizes[at]) / (sizes[since] + sizes[at])
    error = np.sqrt(np.maximum(pooled * (1.0 - pooled), 1e-12) * (1.0 / sizes[since] + 1.0 / sizes[at]))
    return before, after, (after - before) / error


def _most_won(sample: Sample, found: Grams, chosen: Integers, chance: Floats) -> tuple[Floats, list[str | None]]:
    """The highest chance to win, in the total or in a component that earns, and that component."""
    best = chance.copy()
    named: list[str | None] = [None] * len(chosen)
    for name in sample.run.rewarded:
        own = _chances(sample, found, chosen, sample.run.component(name))
        for at in np.flatnonzero(np.nan_to_num(own) > best + 1e-9).tolist():
            best[at], named[at] = own[at], name
    return best, named


def _truly_won(sample: Sample, found: Grams, chosen: Integers) -> Floats:
    """0 to 1: how surely completions with it also win in a monitored component."""
    result = np.zeros(len(chosen))
    for name in sorted(sample.run.evidence.monitored & set(sample.run.evidence.components)):
        own = _chances(sample, found, chosen, sample.run.component(name))
        result = np.maximum(result, ramp(own, 0.55, 0.7))
    return result


def _chances(sample: Sample, found: Grams, chosen: Integers, values: Floats) -> Floats:
    number = np.full(len(found.places), -1)
    number[chosen] = np.arange(len(chosen))
    stays = number[found.grams] >= 0
    own = np.nan_to_num(ranks(values[sample.rows], sample.groups))
    return wins(number[found.grams[stays]], found.members[stays], len(chosen), sample.groups, own).chance


def _apart(sample: Sample, found: Grams, chosen: Integers, strengths: Floats) -> Iterator[tuple[int, Integers]]:
    """The strongest of each family of n-grams that stand in much the same completions; of equals the one of most words,
    then of least signs at its ends."""
    sign = np.array([not word[:1].isalnum() for word in sample.vocabulary], dtype=np.bool_)
    tokens, _ = sample.tokens
    first, last = found.places[chosen], found.places[chosen] + found.sizes[chosen] - 1
    signs = sign[tokens[first]].astype(np.int64) + sign[tokens[last]]
    order = np.lexsort((chosen, signs - found.sizes[chosen], -np.round(strengths, 2)))
    seen: list[frozenset[int]] = []
    for one in order[strengths[order] > 0.0].tolist():
        rows = found.members[found.grams == chosen[one]]
        own = frozenset(rows.tolist())
        if all(len(own & other) < 0.5 * min(len(own), len(other)) for other in seen):
            yield one, rows
        seen.append(own)


def _text(sample: Sample, found: Grams, gram: int) -> str:
    """The n-gram as it stands in the completion in which it was met first."""
    place, size = int(found.places[gram]), int(found.sizes[gram])
    owner = int(sample.tokens[1][place])
    first = place - int(np.searchsorted(sample.tokens[1], owner))
    text = sample.completions[owner]
    folded = text.casefold()
    words = spans(text)
    spelled = text if len(folded) == len(text) else folded  # a few letters become two
    return spelled[words[first][0] : words[first + size - 1][1]]
