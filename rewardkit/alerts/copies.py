"""Successful copies: nearly the same completion scores higher than others for many prompts.

For example, "The answer is correct." is the completion for 40 different prompts, and it scores higher than the other
completions for each prompt.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rewardkit.alerts.evidence import Alert, Integers, ramp, weakest
from rewardkit.alerts.texts import Hashes, Sample, among, chained, mixed
from rewardkit.alerts.wins import wins
from rewardkit.batch.column import Floats
from rewardkit.report.values import excerpt

SHINGLE = 3
"""The number of words in a shingle. Completions are compared by their sets of shingles. With fewer words, completions
share shingles by chance. With more words, each changed word changes more shingles."""
BANDS, PER_BAND = 6, 5
"""Completions that agree in all hashes in a band are candidates. Two completions with a Jaccard similarity of 0.9 are
found with a probability of 0.995; two completions with a similarity of 0.5, with a probability of 0.17."""
LEAST = 10
"""The minimum number of completions in a family of copies. The limit is arbitrary: fewer copies may occur by chance and
are too rare to matter."""
MOST = 3
"""The maximum number of alerts about copies. The limit is arbitrary: a policy that copies has many families, but the
page should have room for other alerts."""


def copy_alerts(sample: Sample) -> list[Alert]:
    """Return at most three alerts about families of nearly identical completions that score high for many prompts.

    Completions are compared by MinHash over sequences of three words (Broder 1997). Text is lowercased, spaces,
    punctuation, and words in the prompt are removed, and all numbers are treated as equal. The strength is the weakest
    of: the certainty that the copies score higher than other completions in their groups (z from 4 to 8), the share of
    comparisons in which they do (from 0.55 to 0.65), the number of prompts (from 3 to 10), the number of words that do
    not depend on the prompt (from 3 to 6), the share of those words (from 0.6 to 0.8), and, if known, the share of the
    score that remains with the gold answers of other prompts (from 0.4 to 0.7). A bare number or a template filled in
    from the prompt is an answer, not a copy.
    """
    words = _Words.of(sample)
    families, members = _families(_signatures(words))
    if not len(families):
        return []
    count = int(families.max()) + 1
    won = wins(families, members, count, sample.groups, sample.standing)
    pairs = np.unique(families * (int(sample.prompt_numbers.max()) + 1) + sample.prompt_numbers[members])
    prompts = np.bincount(pairs // (int(sample.prompt_numbers.max()) + 1), minlength=count).astype(np.float64)
    sizes = np.bincount(families, minlength=count)
    fixed = np.bincount(families, words.fixed[members], minlength=count)
    share = fixed / np.maximum(np.bincount(families, words.count[members], minlength=count), 1.0)
    strengths = weakest(
        # z from 4: there may be hundreds of families, and by chance one of them reaches 3.
        ramp(won.z, 4.0, 8.0),
        ramp(won.chance, 0.55, 0.65),
        ramp(prompts, 3.0, 10.0),
        ramp(fixed / sizes, 3.0, 6.0),
        ramp(share, 0.6, 0.8),
        ramp(_without_gold(sample, families, members, count), 0.4, 0.7),
    )
    alerts: list[Alert] = []
    covered: set[int] = set()
    for family in np.lexsort((-won.z, -sizes, -np.round(strengths, 2))).tolist():
        rows = members[families == family]
        if strengths[family] <= 0.0 or len(alerts) >= MOST:
            break
        if covered & set(rows.tolist()):
            continue
        covered |= set(rows.tolist())
        alerts.append(
            _alert(
                sample,
                rows,
                float(strengths[family]),
                float(won.z[family]),
                float(won.chance[family]),
                float(prompts[family]),
            )
        )
    return alerts


def _without_gold(sample: Sample, families: Integers, members: Integers, count: int) -> Floats:
    """Return the share of each family's total that remains with foreign gold answers, or 1 if unknown."""
    foreign = sample.run.evidence.foreign
    if foreign is None:
        return np.ones(count)
    rows = sample.run.rows[sample.rows]
    totals_with_own_gold, other = foreign.own[rows], foreign.foreign[rows]
    comparable = ~np.isnan(totals_with_own_gold) & ~np.isnan(other)
    if not comparable.any():
        return np.ones(count)
    # Not the lowest value: one outlier would make all totals look the same.
    low = float(np.quantile(np.concatenate([totals_with_own_gold[comparable], other[comparable]]), 0.01))
    own_sums, foreign_sums = (
        np.bincount(families, np.where(comparable, totals - low, 0.0)[members], minlength=count)
        for totals in (totals_with_own_gold, other)
    )
    # Copies that scored nothing have nothing to lose.
    return np.where(own_sums > 1e-9, foreign_sums / np.maximum(own_sums, 1e-9), 1.0)


def _alert(sample: Sample, rows: Integers, strength: float, z: float, chance: float, prompts: float) -> Alert:
    steps = sample.steps[rows]
    shown_rows = sample.run.shown(sample.rows[rows], sample.run.standing)
    # Quote the first row that is shown, because it wins; other members of the family may lose.
    quoted = rows[np.flatnonzero(sample.run.rows[sample.rows[rows]] == shown_rows[0])[0]]
    return Alert(
        kind="copies",
        title=f"nearly the same completion scores high on {prompts:.0f} prompts",
        text=(
            f"{len(rows)} completions for {prompts:.0f} prompts are nearly identical to "
            f"\u201c{excerpt(sample.completions[quoted])}\u201d and score higher than other completions in their "
            f"groups in {100 * chance:.0f}% of comparisons (z = {z:.1f}). From {sample.description()}."
        ),
        strength=strength,
        steps=(int(steps.min()), int(steps.max())),
        rows=shown_rows,
        numbers={"completions": float(len(rows)), "prompts": prompts, "chance": chance, "z": z},
    )


@dataclass(frozen=True)
class _Words:
    """The words in r completions, without punctuation.

    Attributes:
        own, owners: (words,) the words that are not in the prompt (numbers as -1), and the completion that contains
            each word.
        count: (r,) the number of words.
        fixed: (r,) the number of words that do not depend on the prompt. Numbers depend on the prompt, and so do words
            in the prompt unless most prompts contain them.
    """

    own: Integers
    owners: Integers
    count: Floats
    fixed: Floats

    @classmethod
    def of(cls, sample: Sample) -> _Words:
        tokens, owners = sample.tokens
        prompt, prompts = sample.distinct_prompts
        prompt_tokens, askers = sample.prompt_tokens
        spelled = sample.vocabulary
        is_number = np.array([word[:1].isdigit() for word in spelled], dtype=np.bool_)
        is_word = np.array([word[:1].isalnum() for word in spelled], dtype=np.bool_)
        tokens, owners = tokens[is_word[tokens]], owners[is_word[tokens]]
        size = len(spelled) + 1
        pairs = np.unique(askers * size + prompt_tokens)
        usual = 2 * np.bincount(pairs % size, minlength=size) > len(prompts)
        from_prompt = among(prompt[owners] * size + tokens, pairs)
        number = is_number[tokens]
        fixed = ~number & (~from_prompt | usual[tokens])
        # Keep numbers even if the prompt contains them: all numbers count as equal.
        original = number | ~from_prompt
        count = len(sample.rows)
        return cls(
            np.where(number, -1, tokens)[original],
            owners[original],
            np.bincount(owners, minlength=count).astype(np.float64),
            np.bincount(owners, fixed, minlength=count).astype(np.float64),
        )


def _signatures(words: _Words) -> Hashes:
    """Return each completion's MinHash signature (r, hashes)."""
    count = len(words.count)
    # Three end marks follow each text, so that even an empty text has a shingle.
    tokens = np.concatenate([words.own, np.full(3 * count, -2)])
    texts = np.concatenate([words.owners, np.repeat(np.arange(count), 3)])
    order = np.argsort(texts, kind="stable")
    shingles, texts, _ = chained(mixed(tokens[order], 3), texts[order], SHINGLE)
    firsts = np.searchsorted(texts, np.arange(count))
    result = np.empty((count, BANDS * PER_BAND), dtype=np.uint64)
    for number in range(BANDS * PER_BAND):
        result[:, number] = np.minimum.reduceat(mixed(shingles.view(np.int64), 100 + number), firsts)
    return result


def _families(signatures: Hashes) -> tuple[Integers, Integers]:
    """Return family numbers (pairs,) and member rows (pairs,). A completion can be in one family per band."""
    families, members, family_count = [], [], 0
    for band in range(BANDS):
        part = signatures[:, band * PER_BAND : (band + 1) * PER_BAND]
        key = np.zeros(len(part), dtype=np.uint64)
        for column in range(PER_BAND):
            key = mixed((key ^ part[:, column]).view(np.int64), column)
        _, number, sizes = np.unique(key, return_inverse=True, return_counts=True)
        large = sizes >= LEAST
        rows = np.flatnonzero(large[number])
        families.append(family_count + (np.cumsum(large) - 1)[number[rows]])
        members.append(rows)
        family_count += int(large.sum())
    return np.concatenate(families).astype(np.int64), np.concatenate(members).astype(np.int64)
