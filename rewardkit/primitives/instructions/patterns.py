"""Instructions about every word or sentence: their letters, lengths, sounds and kinds."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

from rewardkit.core.errors import shorten
from rewardkit.primitives.instructions.passage import Passage, bare, final_mark, spoken, trimmed
from rewardkit.primitives.instructions.registry import Count, Percent, Position, Text, check, counted
from rewardkit.primitives.instructions.vocabulary import CONJUNCTIONS, PERSON_NAMES, PRONOUNS, STOP_WORDS

_CLUSTER = re.compile(r"[bcdfghjklmnpqrstvwxyz]{2}")
_JAPANESE = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")
_NUMBER = re.compile(r"\d+")
_HYPHENATED = re.compile(r"[\w-]+")
_PRIMES = frozenset(number for number in range(2, 98) if all(number % divisor for divisor in range(2, number)))
_LONGEST_WORD = 60
_TOLERANCE = 2.0


@check("words:alphabet")
def alphabet(passage: Passage) -> str:
    words = passage.bare_words
    if not words or not "a" <= words[0][0] <= "z":
        return "does not start with a letter"
    first = ord(words[0][0]) - ord("a")
    for number, word in enumerate(words):
        wanted = chr(ord("a") + (first + number) % 26)
        if word[0] != wanted:
            return f"word {number + 1:,} is {shorten(word, 40)}, expected one with {wanted}"
    return ""


@check("words:vowel")
def three_vowels(passage: Passage) -> str:
    if len(passage.text.strip().split("\n")) > 1:
        return "more than one paragraph"
    vowels = set("aeiou") & set(passage.lower)
    return counted(len(vowels), "at most", 3, "different vowels") if vowels else "no vowels"


@check("words:consonants")
def consonant_clusters(passage: Passage) -> str:
    wrong = next((word for word in passage.lower.split() if not _CLUSTER.search(word)), None)
    return f"{shorten(wrong, 40)} has no two consonants together" if wrong else ""


@check("words:prime_lengths")
def prime_lengths(passage: Passage) -> str:
    wrong = next((word for word in passage.bare_words if len(word) not in _PRIMES), None)
    if wrong:
        return f"{shorten(wrong, 40)} has {len(wrong):,} letters"
    return "" if passage.bare_words else "no words"


@check("words:repeats")
def repeats(passage: Passage, small_n: Count) -> str:
    counts = Counter(passage.bare_words)
    if not counts:
        return "no words"
    word, count = counts.most_common(1)[0]
    return counted(count, "at most", small_n, f"times {shorten(word, 40)}")


@check("words:no_consecutive")
def no_consecutive(passage: Passage) -> str:
    wrong = next((pair for pair in pairwise(passage.bare_words) if pair[0][0] == pair[1][0]), None)
    if wrong:
        return f"{shorten(' '.join(wrong), 60)} start with the same letter"
    return "" if passage.bare_words else "no words"


@check("keywords:no_adjacent_consecutive")
def no_adjacent(passage: Passage) -> str:
    words = passage.lower.split()
    wrong = next((pair for pair in pairwise(words) if ord(pair[1][0]) - ord(pair[0][0]) == 1), None)
    return f"{shorten(' '.join(wrong), 60)} start with consecutive letters" if wrong else ""


@check("words:odd_even_syllables", library="syllapy")
def odd_even_syllables(passage: Passage) -> str:
    import syllapy

    words = passage.bare_words
    long = next((word for word in words if len(word) > _LONGEST_WORD), None)
    if long:
        return f"{shorten(long, 40)} is not a word"
    parities = [syllapy.count(word) % 2 for word in words]
    wrong = next((number for number, pair in enumerate(pairwise(parities)) if pair[0] == pair[1]), None)
    if wrong is not None:
        kind = "an odd" if parities[wrong] else "an even"
        return f"{shorten(' '.join(words[wrong : wrong + 2]), 60)} both have {kind} number of syllables"
    return "" if words else "no words"


@check("count:words_japanese")
def every_nth_japanese(passage: Passage, N: Position) -> str:  # noqa: N803 (the data's name)
    words = list(map(trimmed, passage.text.split()))
    if len(words) < N:
        return counted(len(words), "at least", N, "words")
    wrong = next(
        (word for word in words[N - 1 :: N] if word and not word.isdigit() and not _JAPANESE.search(word)), None
    )
    return f"{shorten(wrong, 40)} is not Japanese" if wrong else ""


@check("count:conjunctions")
def conjunctions(passage: Passage, small_n: Count) -> str:
    found = CONJUNCTIONS & {trimmed(word) for word in passage.lower.split()}
    return counted(len(found), "at least", small_n, "different conjunctions")


@check("count:person_names")
def person_names(passage: Passage, N: Count) -> str:  # noqa: N803
    return counted(len(PERSON_NAMES & set(passage.words)), "at least", N, "different names of the list")


@check("count:numbers")
def numbers(passage: Passage, N: Count) -> str:  # noqa: N803
    return counted(len(_NUMBER.findall(bare(passage.text))), "exactly", N, "numbers")


@check("count:pronouns")
def pronouns(passage: Passage, N: Count) -> str:  # noqa: N803
    words = _HYPHENATED.findall(passage.lower)
    return counted(sum(word in PRONOUNS for word in words), "at least", N, "pronouns")


@check("ratio:stop_words")
def stop_words(passage: Passage, percentage: Percent) -> str:
    if not passage.words:
        return "no words"
    share = 100 * sum(word.lower() in STOP_WORDS for word in passage.words) / len(passage.words)
    return "" if share <= percentage else f"{share:.0f}% stop words, expected at most {percentage:g}%"


@check("ratio:overlap")
def overlap(passage: Passage, reference_text: Text, percentage: Percent) -> str:
    found, reference = (set(zip(text, text[1:], text[2:], strict=False)) for text in (passage.text, reference_text))
    if not found:
        return "too short for a trigram"
    share = 100 * len(found & reference) / len(found)
    return "" if abs(share - percentage) <= _TOLERANCE else f"{share:.1f}% of trigrams, expected {percentage:g}%"


def _kinds(passage: Passage) -> Counter[str]:
    return Counter(map(final_mark, passage.sentences))


@check("ratio:sentence_type")
def two_to_one(passage: Passage) -> str:
    declarative, questions = _kinds(passage)["."], _kinds(passage)["?"]
    right = questions > 0 and declarative == 2 * questions
    return "" if right else f"{declarative:,} declarative sentences and {questions:,} questions"


@check("ratio:sentence_balance")
def balanced(passage: Passage) -> str:
    counts = [_kinds(passage)[mark] for mark in ".?!"]
    right = counts[0] == counts[1] == counts[2] > 0
    return "" if right else "{:,} declarative, {:,} questions, {:,} exclamations".format(*counts)


@check("ratio:sentence_words")
def equal_sentences(passage: Passage) -> str:
    if len(passage.sentences) != 3:
        return counted(len(passage.sentences), "exactly", 3, "sentences")
    lengths = [len(sentence.strip()) for sentence in passage.sentences]
    if len(set(lengths)) > 1:
        return "sentences of {:,}, {:,} and {:,} characters".format(*lengths)
    words = list(map(trimmed, spoken(passage.lower.split())))
    return "" if len(words) == len(set(words)) else "a word occurs twice"


@check("sentence:increment")
def longer_sentences(passage: Passage, small_n: Count) -> str:
    lengths = [len(bare(sentence).split()) for sentence in passage.sentences]
    if len(lengths) < 2:
        return "only one sentence"
    wrong = next((pair for pair in pairwise(lengths) if pair[1] - pair[0] != small_n), None)
    return "{:,} words, then {:,}, expected {:,} more".format(*wrong, small_n) if wrong else ""


@check("sentence:alliteration_increment")
def longer_alliterations(passage: Passage) -> str:
    lengths = [_alliteration(sentence) for sentence in passage.sentences]
    if len(lengths) < 2:
        return "only one sentence"
    wrong = next((pair for pair in pairwise(lengths) if pair[1] <= pair[0]), None)
    return "{:,} alliterative words, then {:,}".format(*wrong) if wrong else ""


def _alliteration(sentence: str) -> int:
    """Return how many words of a sentence start as a word next to them does."""
    initials = [word[0] for piece in sentence.lower().split() if (word := trimmed(piece))]
    same = [left == right for left, right in pairwise(initials)]
    return sum(before or after for before, after in zip([False, *same], [*same, False], strict=True)) if same else 0
