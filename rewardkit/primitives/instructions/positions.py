"""Instructions about what stands first and last: in the response, in sentences, in paragraphs."""

from __future__ import annotations

import re
from itertools import pairwise

from rewardkit.core.errors import shorten
from rewardkit.primitives.instructions.passage import Passage, bare, spoken, trimmed
from rewardkit.primitives.instructions.registry import Text, check
from rewardkit.primitives.instructions.vocabulary import is_verb

_LATIN_WORD = re.compile(r"[^\W\d_]+")


def _clean(word: str) -> str:
    return re.sub(r"[^\w\s]", "", word).lower()


@check("startend:end_checker")
def end_phrase(passage: Passage, end_phrase: Text) -> str:
    end = passage.text.strip().strip('"').lower()
    return "" if end.endswith(end_phrase.lower()) else f"ends with {shorten(end[-40:])}"


@check("startend:quotation")
def quotation(passage: Passage) -> str:
    text = passage.text.strip()
    return "" if len(text) > 1 and text[0] == text[-1] == '"' else "not wrapped in double quotation marks"


@check("first_word:first_word_answer")
def first_word(passage: Passage, first_word: Text) -> str:
    found = passage.text.split()[0]
    return "" if found.lower() == first_word.lower() else f"starts with {shorten(found, 40)}"


@check("first_word:first_word_sent")
def first_words(passage: Passage, first_word: Text) -> str:
    starts = [sentence.split()[0] for sentence in passage.sentences]
    found = next((start for start in starts if start.lower() != first_word.lower()), None)
    return f"a sentence starts with {shorten(found, 40)}" if found else ""


@check("last_word:last_word_answer")
def last_word(passage: Passage, last_word: Text) -> str:
    found = _clean(passage.text.split()[-1])
    return "" if found == last_word.lower() else f"ends with {shorten(found, 40)}"


@check("last_word:last_word_sent")
def last_words(passage: Passage, last_word: Text) -> str:
    ends = [_clean(sentence.split()[-1]) for sentence in passage.sentences]
    found = next((end for end in ends if end != last_word.lower()), None)
    return "" if found is None else f"a sentence ends with {shorten(found, 40)}"


@check("keywords:start_end")
def start_and_end(passage: Passage) -> str:
    words = passage.tokens
    if len(words) < 2 or not words[0][0].isalnum():
        return "does not start and end with words"
    right = words[0].lower() == words[-1].lower()
    return "" if right else f"starts with {shorten(words[0], 40)}, ends with {shorten(words[-1], 40)}"


@check("words:start_verb")
def start_verb(passage: Passage) -> str:
    found = _LATIN_WORD.match(passage.lower.lstrip("*_#\"'\u201c\u2018( \n"))
    return "" if found and is_verb(found[0]) else f"starts with {shorten(passage.text.split()[0], 40)}, not a verb"


@check("words:last_first")
def last_word_first(passage: Passage) -> str:
    words = [bare(sentence).lower().split() for sentence in passage.sentences]
    if len(words) < 2:
        return "only one sentence"
    for previous, following in pairwise(words):
        if not previous or not following or previous[-1] != following[0]:
            return f"a sentence after {shorten(' '.join(previous[-1:]), 40)} starts with another word"
    return ""


@check("words:paragraph_last_first")
def paragraph_ends(passage: Passage) -> str:
    paragraphs = [words for line in passage.lines if (words := spoken(trimmed(line.strip().lower()).split()))]
    wrong = next((words for words in paragraphs if words[0] != words[-1]), None)
    if wrong:
        return f"a paragraph starts with {shorten(wrong[0], 40)} and ends with {shorten(wrong[-1], 40)}"
    return "" if paragraphs else "no words"
