"""Rewarded phrases: word n-grams that spread, in completions that score higher than others for the same prompt.

For example, "as an expert i am certain" is in 1% of the first completions and in 40% of the last completions. In 95% of
the comparisons within groups, completions with this phrase score higher than completions without it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from rewardkit.alerts.evidence import Alert, Integers, ramp, weakest
from rewardkit.alerts.texts import MARKUP, Hashes, Sample, among, chained, mixed, spans
from rewardkit.alerts.wins import discoveries, one_sided, wins
from rewardkit.analyze.discrimination import centered_ranks
from rewardkit.batch.column import Floats
from rewardkit.report.values import excerpt

LONGEST = 4
"""The maximum number of words in an n-gram. The limit is arbitrary: longer phrases contain n-grams of this size."""
LEAST = 20
"""The minimum number of completions in the sample that contain an n-gram. The limit is arbitrary: rarer n-grams are
rarely significant."""
LEAST_PROMPTS = 5
"""The minimum number of distinct prompts among the completions that contain an n-gram. The limit is arbitrary: words
that occur for a single prompt are about the prompt's topic."""
FALSE_DISCOVERIES = 0.01
"""The false discovery rate. Because thousands of n-grams are tested at once, one in 100 n-grams that pass may be due to
chance."""
CANDIDATES = 200
"""The number of strongest n-grams to examine; overlapping n-grams are merged into one phrase. The number is arbitrary:
each n-gram is compared in every component, which takes most of the time."""
MOST = 5
"""The maximum number of observations about phrases. The limit is arbitrary and keeps the list of alerts readable."""


@dataclass(frozen=True)
class Grams:
    """The distinct n-grams of each completion.

    N-grams that the prompt may have requested are excluded: single words in the prompt, and n-grams that share two
    adjacent words or a piece of markup with the prompt.

    Attributes:
        grams: (pairs,) each n-gram's number.
        members: (pairs,) the sample position of the completion that contains the n-gram.
        places: (grams,) the position of each n-gram's first occurrence in the sample's tokens.
        sizes: (grams,) each n-gram's number of words.
    """

    grams: Integers
    members: Integers
    places: Integers
    sizes: Integers


def phrase_alerts(sample: Sample) -> list[Alert]:
    """Return at most five observations about phrases that spread and raise the score.

    Candidates are n-grams of one to four words (characters, in scripts without spaces) that occur in at least 20
    completions for at least 5 prompts. Their completions must score higher within groups (rank test, false discovery
    rate 0.01). Candidates are sorted by the weakest of: the certainty that completions with the n-gram score higher (z
    from 4 to 8), the certainty that the n-gram spread between windows (z from 4 to 8), the size of the spread (0.05 to
    0.3 of all completions), and the win rate against completions in the same group without the n-gram (from 0.6 to
    0.85). The win rate is based on the total. If that rate is above 0.55, the highest win rate in any component is used
    instead. If completions with the phrase also win in a monitored component, the phrase is probably correct rather
    than an exploit, and the last ramp decreases with that win rate (from 0.55 to 0.7).
    """
    ngrams = grams(sample)
    count = len(ngrams.places)
    if not count:
        return []
    won = wins(ngrams.grams, ngrams.members, count, sample.groups, sample.standing)
    before, after, spread = _spread(sample, ngrams)
    # With many completions, even a win rate of 0.51 is significant, although it would teach the policy nothing.
    significant = discoveries(one_sided(won.z), FALSE_DISCOVERIES) & (won.chance > 0.55)
    # z from 4, as for all windows: thousands of n-grams are compared.
    strengths = weakest(ramp(won.z, 4.0, 8.0), ramp(spread, 4.0, 8.0), ramp(after - before, 0.05, 0.3)) * significant
    chosen = np.lexsort((-won.z, -strengths))[:CANDIDATES]
    chosen = chosen[strengths[chosen] > 0.0]
    if not chosen.size:
        return []
    chance, component = _most_won(sample, ngrams, chosen, won.chance[chosen])
    # 0.6: higher than the 0.55 above, since the best component is chosen among several.
    strengths = weakest(strengths[chosen], ramp(chance, 0.6, 0.85) * (1.0 - _truly_won(sample, ngrams, chosen)))
    alerts = []
    for index, rows in islice(_distinct_families(sample, ngrams, chosen, strengths), MOST):
        gram = int(chosen[index])
        phrase = excerpt(_text(sample, ngrams, gram))
        alerts.append(
            Alert(
                kind="phrase",
                phrase=phrase,
                title=f"\u201c{phrase}\u201d spreads, and completions with it score higher",
                text=(
                    f"\u201c{phrase}\u201d is in {100 * before[gram]:.1f}% of the completions at first and in "
                    f"{100 * after[gram]:.1f}% later. A completion with it scores higher than another one of its group "
                    f"in {100 * won.chance[gram]:.0f}% of comparisons (z = {won.z[gram]:.1f}"
                    + (f", in {component[index]}: {100 * chance[index]:.0f}%" if component[index] else "")
                    + f"). From {sample.description()}, with {count} n-grams compared at a false discovery rate of "
                    f"{FALSE_DISCOVERIES}."
                ),
                strength=float(strengths[index]),
                steps=sample.run.span,
                component=component[index],
                rows=sample.run.shown(sample.rows[rows]),
                numbers={
                    "before": float(before[gram]),
                    "after": float(after[gram]),
                    "z": float(won.z[gram]),
                    "chance": float(won.chance[gram]),
                },
            )
        )
    return alerts


def grams(sample: Sample) -> Grams:
    """Return the n-grams that occur in enough completions and for enough prompts."""
    tokens, owners = sample.tokens
    prompt, _ = sample.distinct_prompts
    hashes = mixed(tokens, 0)
    word, pair = _in_prompt(sample, 1), _in_prompt(sample, 2)
    markup = np.array([MARKUP.fullmatch(token) is not None for token in sample.vocabulary], dtype=np.bool_)
    prompted_pairs = np.concatenate([[0], np.cumsum(pair)])
    prompted_markup = np.concatenate([[0], np.cumsum(word & markup[tokens])])
    keys, members, positions, sizes = [], [], [], []
    for size in range(1, LONGEST + 1):
        run_hashes, texts, begins = chained(hashes, owners, size)
        # The count of a bucket is an upper bound for its n-grams: most are rare and are dropped here.
        buckets = (run_hashes >> np.uint64(44)).astype(np.int64)
        often = np.bincount(buckets, minlength=1)[buckets] >= LEAST
        prompted = (prompted_markup[begins + size] > prompted_markup[begins]) | (
            word[begins] if size == 1 else prompted_pairs[begins + size - 1] > prompted_pairs[begins]
        )
        run_hashes, texts, begins = run_hashes[often & ~prompted], texts[often & ~prompted], begins[often & ~prompted]
        once = np.unique(_joined(run_hashes, texts), return_index=True)[1]
        keys.append(run_hashes[once])
        members.append(texts[once])
        positions.append(begins[once])
        sizes.append(np.full(len(once), size))
    key, member = np.concatenate(keys), np.concatenate(members)
    _, firsts, gram = np.unique(key, return_index=True, return_inverse=True)
    count = len(firsts)
    pairs = np.unique(gram * (int(prompt.max(initial=0)) + 1) + prompt[member])
    prompts = np.bincount(pairs // (int(prompt.max(initial=0)) + 1), minlength=count)
    often = (np.bincount(gram, minlength=count) >= LEAST) & (prompts >= LEAST_PROMPTS)
    number = np.cumsum(often) - 1
    is_kept = often[gram]
    return Grams(
        number[gram[is_kept]],
        member[is_kept],
        np.concatenate(positions)[firsts[often]],
        np.concatenate(sizes)[firsts[often]],
    )


def _in_prompt(sample: Sample, size: int) -> NDArray[np.bool_]:
    """Return whether the `size` tokens starting at each token (tokens,) also occur in the prompt."""
    tokens, owners = sample.tokens
    prompt_tokens, askers = sample.prompt_tokens
    run_hashes, texts, begins = chained(mixed(tokens, 0), owners, size)
    prompt_hashes, prompt_owners, _ = chained(mixed(prompt_tokens, 0), askers, size)
    result = np.zeros(len(tokens), dtype=np.bool_)
    result[begins] = among(
        _joined(run_hashes, sample.distinct_prompts[0][texts]), _joined(prompt_hashes, prompt_owners)
    )
    return result


def _joined(hashes: Hashes, numbers: Integers) -> Hashes:
    with np.errstate(over="ignore"):
        return hashes ^ mixed(numbers, 7)


def _spread(sample: Sample, ngrams: Grams) -> tuple[Floats, Floats, Floats]:
    """Return the two frequencies of each n-gram's greatest rise between windows, and the rise's z, (grams,) each."""
    count, windows = len(ngrams.places), int(sample.windows.max()) + 1
    sizes = np.maximum(np.bincount(sample.windows, minlength=windows), 1).astype(np.float64)
    cells = np.bincount(ngrams.grams * windows + sample.windows[ngrams.members], minlength=count * windows)
    share = cells.reshape(count, windows) / sizes
    lowest = np.minimum.accumulate(share, axis=1)
    at = np.argmax(share - lowest, axis=1)
    rows = np.arange(count)
    before, after = lowest[rows, at], share[rows, at]
    lowest_window = np.argmin(np.where(np.arange(windows) <= at[:, None], share, np.inf), axis=1)
    pooled = (before * sizes[lowest_window] + after * sizes[at]) / (sizes[lowest_window] + sizes[at])
    # Avoid a division by zero if a phrase is in no completion or in all of them.
    error = np.sqrt(np.maximum(pooled * (1.0 - pooled), 1e-12) * (1.0 / sizes[lowest_window] + 1.0 / sizes[at]))
    return before, after, (after - before) / error


def _most_won(sample: Sample, ngrams: Grams, chosen: Integers, chance: Floats) -> tuple[Floats, list[str | None]]:
    """Return each n-gram's highest win rate in the total or a rewarded component, and the component (None: total)."""
    best = chance.copy()
    component_names: list[str | None] = [None] * len(chosen)
    for name in sample.run.rewarded:
        chances = _chances(sample, ngrams, chosen, sample.run.component(name))
        # Prefer the total on a tie: if there is only one component, the total has the same win rate.
        for at in np.flatnonzero(np.nan_to_num(chances) > best + 1e-9).tolist():
            best[at], component_names[at] = chances[at], name
    return best, component_names


def _truly_won(sample: Sample, ngrams: Grams, chosen: Integers) -> Floats:
    """Return how clearly (0 to 1) completions with each n-gram also win in a monitored component."""
    result = np.zeros(len(chosen))
    for name in sorted(sample.run.evidence.monitored & set(sample.run.evidence.components)):
        chances = _chances(sample, ngrams, chosen, sample.run.component(name))
        # As for wins, 0.55 is clearly above chance; at 0.7, the phrase goes along with the intended behavior.
        result = np.maximum(result, ramp(chances, 0.55, 0.7))
    return result


def _chances(sample: Sample, ngrams: Grams, chosen: Integers, values: Floats) -> Floats:
    number = np.full(len(ngrams.places), -1)
    number[chosen] = np.arange(len(chosen))
    is_kept = number[ngrams.grams] >= 0
    ranks = np.nan_to_num(centered_ranks(values[sample.rows], sample.groups))
    return wins(number[ngrams.grams[is_kept]], ngrams.members[is_kept], len(chosen), sample.groups, ranks).chance


def _distinct_families(
    sample: Sample, ngrams: Grams, chosen: Integers, strengths: Floats
) -> Iterator[tuple[int, Integers]]:
    """Yield each family's strongest n-gram: its index in `chosen`, and the rows that contain it.

    An n-gram is in a stronger n-gram's family if they share at least half of the rarer n-gram's completions.

    Among equally strong n-grams, the one with the most words is yielded; among those, the one with the least
    punctuation at its ends.
    """
    sign = np.array([not word[:1].isalnum() for word in sample.vocabulary], dtype=np.bool_)
    tokens, _ = sample.tokens
    first, last = ngrams.places[chosen], ngrams.places[chosen] + ngrams.sizes[chosen] - 1
    signs = sign[tokens[first]].astype(np.int64) + sign[tokens[last]]
    order = np.lexsort((chosen, signs - ngrams.sizes[chosen], -np.round(strengths, 2)))
    families: list[frozenset[int]] = []
    for index in order[strengths[order] > 0.0].tolist():
        rows = ngrams.members[ngrams.grams == chosen[index]]
        row_set = frozenset(rows.tolist())
        # "final answer" and "the final answer" share most of their completions: one alert for both.
        if all(len(row_set & other) < 0.5 * min(len(row_set), len(other)) for other in families):
            yield index, rows
        families.append(row_set)


def _text(sample: Sample, ngrams: Grams, gram: int) -> str:
    """Return the n-gram with the spelling in the first completion that contains it."""
    position, size = int(ngrams.places[gram]), int(ngrams.sizes[gram])
    owner = int(sample.tokens[1][position])
    first = position - int(np.searchsorted(sample.tokens[1], owner))
    text = sample.completions[owner]
    folded = text.casefold()
    words = spans(text)
    spelled = text if len(folded) == len(text) else folded  # case folding turns a few letters into two
    return spelled[words[first][0] : words[first + size - 1][1]]
