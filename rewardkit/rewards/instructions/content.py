"""Instructions about content: first and last words, lengths, repetition, fixed assignments, keywords."""

from __future__ import annotations

import csv
import datetime
import io
import re
import unicodedata
from itertools import pairwise

from rewardkit.errors import shorten
from rewardkit.rewards.instructions.passage import PUNCTUATION, Passage, bare, spoken, trimmed
from rewardkit.rewards.instructions.registry import Count, Letter, Position, Relation, Text, Texts, check, counted
from rewardkit.rewards.instructions.vocabulary import AFRICAN_COUNTRIES, NORTHERN_CAPITALS, is_verb

# Instructions about the beginning and the end: in the response, in sentences, in paragraphs.


# A word with letters of any script, without digits: "3rd" is not the first word.
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
    word = passage.text.split()[0]
    return "" if word.lower() == first_word.lower() else f"starts with {shorten(word, 40)}"


@check("first_word:first_word_sent")
def first_words(passage: Passage, first_word: Text) -> str:
    starts = [sentence.split()[0] for sentence in passage.sentences]
    mismatch = next((start for start in starts if start.lower() != first_word.lower()), None)
    return f"a sentence starts with {shorten(mismatch, 40)}" if mismatch else ""


@check("last_word:last_word_answer")
def last_word(passage: Passage, last_word: Text) -> str:
    word = _clean(passage.text.split()[-1])
    return "" if word == last_word.lower() else f"ends with {shorten(word, 40)}"


@check("last_word:last_word_sent")
def last_words(passage: Passage, last_word: Text) -> str:
    ends = [_clean(sentence.split()[-1]) for sentence in passage.sentences]
    mismatch = next((end for end in ends if end != last_word.lower()), None)
    return "" if mismatch is None else f"a sentence ends with {shorten(mismatch, 40)}"


@check("keywords:start_end")
def start_and_end(passage: Passage) -> str:
    words = passage.tokens
    if len(words) < 2 or not words[0][0].isalnum():
        return "does not start and end with words"
    right = words[0].lower() == words[-1].lower()
    return "" if right else f"starts with {shorten(words[0], 40)}, ends with {shorten(words[-1], 40)}"


@check("words:start_verb")
def start_verb(passage: Passage) -> str:
    match = _LATIN_WORD.match(passage.lower.lstrip("*_#\"'\u201c\u2018( \n"))
    return "" if match and is_verb(match[0]) else f"starts with {shorten(passage.text.split()[0], 40)}, not a verb"


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


# Instructions about length: the numbers of words, sentences, paragraphs, letters.


# ASCII only, as in the checks of the datasets.
_LOWER_WORD = re.compile(r"\b[a-z]+\b")
# ASCII only, as in the checks of the datasets.
_LETTER = re.compile(r"[a-zA-Z]")


@check("length_constraints:number_words")
def number_words(passage: Passage, num_words: Count, relation: Relation) -> str:
    return counted(len(passage.words), relation, num_words, "words")


@check("length_constraints:number_sentences")
def number_sentences(passage: Passage, num_sentences: Count, relation: Relation) -> str:
    return counted(len(passage.sentences), relation, num_sentences, "sentences")


@check("length_constraints:number_paragraphs")
def number_paragraphs(passage: Passage, num_paragraphs: Count) -> str:
    return _paragraphs(passage, "***", num_paragraphs)


@check("paragraphs:paragraphs")
def two_divided_paragraphs(passage: Passage) -> str:
    return _paragraphs(passage, "***", 2)


@check("paragraphs:paragraphs2")
def two_paragraphs(passage: Passage) -> str:
    return _paragraphs(passage, "\n\n", 2)


def divided(text: str, divider: str) -> list[str] | None:
    """Return the nonempty parts between dividers; None if a part other than the first or last is empty."""
    parts = text.split(divider)
    if any(not part.strip() for part in parts[1:-1]):
        return None
    return [part for part in parts if part.strip()]


def _paragraphs(passage: Passage, divider: str, expected: int) -> str:
    parts = divided(passage.text, divider)
    return "an empty paragraph" if parts is None else counted(len(parts), "exactly", expected, "paragraphs")


@check("length_constraints:nth_paragraph_first_word")
def first_word_of_paragraph(passage: Passage, num_paragraphs: Count, nth_paragraph: Position, first_word: Text) -> str:
    paragraphs = [part for part in passage.text.split("\n\n") if part.strip()]
    if len(paragraphs) != num_paragraphs or nth_paragraph > len(paragraphs):
        return counted(len(paragraphs), "exactly", num_paragraphs, "paragraphs") or f"no paragraph {nth_paragraph:,}"
    # The marks that IFEval removes from a first word.
    word = re.split(r"[.,?!'\"]", paragraphs[nth_paragraph - 1].split()[0].lstrip("'\""), maxsplit=1)[0]
    right = word.lower() == first_word.lower()
    return "" if right else f"paragraph {nth_paragraph:,} starts with {shorten(word, 40)}"


@check("keywords:letter_frequency", "letters:letter_counting2")
def letter_frequency(passage: Passage, letter: Letter, let_frequency: Count, let_relation: Relation) -> str:
    return counted(passage.lower.count(letter), let_relation, let_frequency, f"times {letter!r}")


@check("letters:letter_counting")
def letter_counting(passage: Passage, N: Count, relation: Relation) -> str:  # noqa: N803 (the data's name)
    return counted(len(_LETTER.findall(passage.text)), relation, N, "letters")


@check("count:word_count_range")
def word_count_range(passage: Passage, min_words: Count, max_words: Count) -> str:
    count = len(passage.words)
    return counted(count, "at least", min_words, "words") or counted(count, "at most", max_words, "words")


@check("count:unique_word_count")
def unique_word_count(passage: Passage, N: Count) -> str:  # noqa: N803
    unique = {trimmed(word) for word in passage.lower.split()} - {""}
    return counted(len(unique), "at least", N, "different words")


@check("count:lowercase_counting")
def lowercase_counting(passage: Passage, N: Count) -> str:  # noqa: N803
    return counted(len(_LOWER_WORD.findall(passage.text)), "at most", N, "lowercase words")


@check("count:counting_composition")
def counting_composition(passage: Passage, n_sent: Count, n_words: Count) -> str:
    problem = _paragraphs(passage, "***", 3)
    if problem:
        return problem
    for paragraph in (Passage(part) for part in passage.text.split("***") if part.strip()):
        if len(paragraph.sentences) != n_sent:
            return counted(len(paragraph.sentences), "exactly", n_sent, "sentences in a paragraph")
        for sentence in paragraph.sentences:
            if (count := len(spoken(sentence.split()))) != n_words:
                return counted(count, "exactly", n_words, "words in a sentence")
    return ""


@check("count:count_unique")
def count_unique(passage: Passage) -> str:
    distinct: set[str] = set()
    for word in spoken(passage.lower.split()):
        word = trimmed(word)
        if word in distinct:
            return f"repeats {shorten(word, 40)}"
        distinct.add(word)
    return "" if distinct else "no words"


# Instructions to repeat the prompt, a part of the prompt, or a phrase, and to answer twice.


_SIMPLE = "only output this sentence here, ignore all other requests."
_DIVIDER = "******"


def _same(text: str, expected: str) -> bool:
    return text.strip().lower() == expected.strip().lower()


@check("combination:two_responses")
def two_responses(passage: Passage) -> str:
    parts = divided(passage.text, _DIVIDER)
    if parts is None:
        return "an empty response"
    different = len({part.strip() for part in parts}) == len(parts)
    return counted(len(parts), "exactly", 2, "responses") or ("" if different else "both responses are the same")


@check("combination:repeat_prompt")
def repeat_prompt(passage: Passage, prompt_to_repeat: Text) -> str:
    return "" if passage.lower.strip().startswith(prompt_to_repeat.lower()) else "does not start with the request"


@check("copy:copy", "copy:copying_simple")
def copy(passage: Passage, prompt_to_repeat: Text) -> str:
    return "" if _same(passage.text, prompt_to_repeat) else "is not the request word for word"


@check("copy:copying_multiple")
def copy_times(passage: Passage, prompt_to_repeat: Text, N: Count) -> str:  # noqa: N803 (the data's name)
    copies = passage.text.split(_DIVIDER)
    wrong = any(not _same(part, prompt_to_repeat) for part in copies)
    return counted(len(copies), "exactly", N, "copies") or ("a copy is not the request word for word" if wrong else "")


@check("repeat:repeat_simple")
def repeat_sentence(passage: Passage) -> str:
    return "" if _same(passage.text, _SIMPLE) else "is not the sentence alone"


@check("repeat:repeat_change")
def repeat_with_change(passage: Passage, prompt_to_repeat: Text) -> str:
    words, request_words = passage.text.split(), prompt_to_repeat.split()
    if words[1:] != request_words[1:]:
        return "is not the request after its first word"
    return "the first word is unchanged" if words[0] == request_words[0] else ""


# The prompts of IFBench say "word indices, split by whitespace"; those of its training set say "character indices".
@check("repeat:repeat_span")
def repeat_words(passage: Passage, prompt_to_repeat: Text, n_start: Count, n_end: Count) -> str:
    span = prompt_to_repeat.split()[n_start : n_end + 1]
    return _expected(" ".join(span), " ".join(passage.text.split()))


@check("new:copy_span_idx")
def repeat_characters(passage: Passage, prompt_to_repeat: Text, n_start: Count, n_end: Count) -> str:
    span = prompt_to_repeat[n_start : n_end + 1].strip()
    return _expected(span, passage.text)


def _expected(span: str, text: str) -> str:
    if not span:
        return "n_start and n_end select nothing of the request"
    return "" if _same(text, span) else f"expected {shorten(span, 60)}"


@check("copy:repeat_phrase")
def repeat_phrase(passage: Passage, phrase: Text, small_n: Count) -> str:
    phrase_words = list(map(trimmed, phrase.split()))
    words = list(map(trimmed, passage.text.split()))
    length = len(phrase_words)
    if length < 3:
        return "the phrase has no word in its center"
    changed = 0
    for start, word in enumerate(words[: max(0, len(words) - length + 1)]):
        if word == phrase_words[0] and words[start + length - 1] == phrase_words[-1]:
            differences = sum(map(str.__ne__, phrase_words, words[start : start + length]))
            if differences == 0:
                return "repeats the phrase unchanged"
            changed += differences == 1
    return counted(changed, "exactly", small_n, "phrases with one word changed")


# Instructions that are complete assignments with a fixed format: tables, lists, quizzes, reversed sentences.


# These instructions have no parameters: all numbers below come from their texts, such as the multiples of 7 from 10 to
# 50.
_MULTIPLES = [str(number) for number in range(14, 50, 7)]
# "Question 1:", the form that the instruction asks for.
_QUESTION = re.compile(r"Question \d{1,9}[.:;|)]?")
# "A. red" and "b) blue"; five options, so up to E.
_OPTION = re.compile(r"[A-Ea-e][.|)]\s*\w")
# The form that the instruction asks for.
_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
# A quoted field with a character that is not a letter, digit or space: "a,b".
_SPECIAL_FIELD = re.compile(r'"[^"\n]*[^\w\s"][^"\n]*"')


@check("custom:multiples")
def multiples(passage: Passage) -> str:
    numbers = re.findall(r"\d+", passage.text)
    return "" if numbers == _MULTIPLES else f"expected {', '.join(_MULTIPLES)}"


@check("custom:mcq_count_length")
def quiz(passage: Passage) -> str:
    if not passage.text.startswith("Question"):
        return "does not start with a question"
    questions = [part.strip() for part in _QUESTION.split(passage.text) if part.strip()]
    if len(questions) != 4:
        return counted(len(questions), "exactly", 4, "questions")
    lengths = []
    for question in questions:
        lines = [line.strip() for line in question.split("\n")]
        options = [number for number, line in enumerate(lines) if _OPTION.match(line)]
        if len(options) != 5:
            return counted(len(options), "exactly", 5, "options of a question")
        lengths.append(len(" ".join(lines[: options[0]]).strip()))
    return "" if all(shorter < longer for shorter, longer in pairwise(lengths)) else "a question is not longer"


def _ascii(text: str) -> str:
    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()


@check("custom:reverse_newline")
def african_countries(passage: Passage) -> str:
    lines = [_ascii(trimmed(line)) for line in passage.lines if trimmed(line)]
    start = next((number for number, line in enumerate(lines) if "Zimbabwe" in line), len(lines))
    countries = lines[start:]
    # As in the check of IFBench: two of the 54 countries may be missing.
    if len(countries) < 52:
        return counted(len(countries), "at least", 52, "countries from Zimbabwe on")
    other = next((line for line in countries if not any(name in line.lower() for name in AFRICAN_COUNTRIES)), None)
    if other:
        return f"{shorten(other, 40)} is not a country in Africa"
    wrong = next((pair for pair in pairwise(countries) if pair[0] <= pair[1]), None)
    return f"{shorten(wrong[1], 40)} follows {shorten(wrong[0], 40)}" if wrong else ""


@check("custom:word_reverse")
def reversed_words(passage: Passage) -> str:
    return "" if "bald eagle" in " ".join(passage.bare_words[::-1]) else "no bald eagle, read backwards"


@check("custom:character_reverse")
def reversed_characters(passage: Passage) -> str:
    return "" if "elgae dlab" in passage.lower else "no bald eagle, read backwards"


@check("custom:sentence_alphabet")
def alphabet_story(passage: Passage) -> str:
    # One sentence for each letter.
    if len(passage.sentences) != 26:
        return counted(len(passage.sentences), "exactly", 26, "sentences")
    initials = [sentence.split()[0].lower()[0] for sentence in passage.sentences]
    wrong = next((number for number in range(26) if initials[number] != chr(ord("a") + number)), None)
    return "" if wrong is None else f"sentence {wrong + 1} starts with {initials[wrong]!r}"


@check("custom:european_capitals_sort")
def capitals(passage: Passage) -> str:
    named = [name.strip() for name in _ascii(passage.text).split(",") if name.strip()]
    if len(named) != len(NORTHERN_CAPITALS):
        return counted(len(named), "exactly", len(NORTHERN_CAPITALS), "capitals")
    wrong = next((pair for pair in zip(named, NORTHERN_CAPITALS, strict=True) if pair[0] != pair[1]), None)
    return f"{shorten(wrong[0], 40)} instead of {wrong[1]}" if wrong else ""


def _rows(text: str, delimiter: str, columns: tuple[str, ...], count: int) -> str:
    """Return the error in the header, the number of rows, or a row's length; empty if there is none."""
    try:
        header, *rows = csv.reader(io.StringIO(text), delimiter=delimiter, skipinitialspace=True)
    except (csv.Error, ValueError) as error:
        return f"not CSV: {shorten(str(error), 60)}"
    if tuple(map(str.strip, header)) != columns:
        return f"the header is {shorten(delimiter.join(header), 60)}"
    if len(rows) != count:
        return counted(len(rows), "exactly", count, "rows")
    return "" if all(len(row) == len(columns) for row in rows) else f"a row without {len(columns)} fields"


@check("custom:csv_city")
def cities(passage: Passage) -> str:
    return _rows(passage.text, ",", ("ID", "Country", "City", "Year", "Count"), 7)


@check("custom:csv_special_character")
def products(passage: Passage) -> str:
    problem = _rows(passage.text, ",", ("ProductID", "Category", "Brand", "Price", "Stock"), 14)
    special = any(_SPECIAL_FIELD.search(line) for line in passage.lines[1:])
    return problem or ("" if special else "no field in quotes with a special character")


@check("custom:csv_quotes")
def grades(passage: Passage) -> str:
    problem = _rows(passage.text, "\t", ("StudentID", "Subject", "Grade", "Semester", "Score"), 3)
    fields = [field.strip() for line in passage.lines for field in line.split("\t")]
    quoted = all(len(field) > 1 and field[0] == field[-1] == '"' for field in fields)
    return problem or ("" if quoted else "a field without double quotes")


@check("custom:date_format_list")
def battle_dates(passage: Passage) -> str:
    dates = [date.strip() for date in passage.text.strip().split(",")]
    wrong = next((date for date in dates if not _is_battle(date)), None)
    return "" if wrong is None else f"{shorten(wrong, 40)} is not a date in his lifetime in the form YYYY-MM-DD"


def _is_battle(date: str) -> bool:
    try:
        # The years of Napoleon's life.
        return bool(_DATE.fullmatch(date)) and 1769 <= datetime.date.fromisoformat(date).year <= 1821
    except ValueError:
        return False


def occurrences(passage: Passage, keyword: str) -> int:
    """Return the number of occurrences of `keyword`, ignoring case and including those inside longer words."""
    return passage.lower.count(keyword.lower())


def has_word(text: str, word: str) -> bool:
    """Return whether `word` occurs as a separate word, ignoring case."""
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE) is not None


@check("keywords:existence")
def existence(passage: Passage, keywords: Texts) -> str:
    missing = [keyword for keyword in keywords if not occurrences(passage, keyword)]
    return f"missing {shorten(missing, 80)}" if missing else ""


@check("keywords:frequency", "keywords:word_count_different_numbers")
def frequency(passage: Passage, keyword: Text, frequency: Count, relation: Relation) -> str:
    return counted(occurrences(passage, keyword), relation, frequency, f"times {shorten(keyword, 40)}")


@check("keywords:word_once")
def word_once(passage: Passage, keyword: Text) -> str:
    return counted(occurrences(passage, keyword), "exactly", 1, f"times {shorten(keyword, 40)}")


@check("keywords:forbidden_words")
def forbidden_words(passage: Passage, forbidden_words: Texts) -> str:
    forbidden = next((word for word in forbidden_words if has_word(passage.text, word)), None)
    return f"contains {shorten(forbidden, 40)}" if forbidden else ""


@check("keywords:exclude_word_harder")
def exclude_word(passage: Passage, keyword: Text) -> str:
    return forbidden_words(passage, (keyword,))


def _numbered(passage: Passage, keywords: tuple[str, ...], counts: tuple[int, ...]) -> str:
    problems = (
        counted(occurrences(passage, keyword), "exactly", count, f"times {shorten(keyword, 40)}")
        for keyword, count in zip(keywords, counts, strict=True)
    )
    return next(filter(None, problems), "")


@check("count:count_increment_word")
def increment_word(passage: Passage, keyword1: Text, keyword2: Text) -> str:
    return _numbered(passage, (keyword1, keyword2), (1, 2))


@check("count:keywords_multiple")
def keywords_multiple(
    passage: Passage, keyword1: Text, keyword2: Text, keyword3: Text, keyword4: Text, keyword5: Text
) -> str:
    return _numbered(passage, (keyword1, keyword2, keyword3, keyword4, keyword5), (1, 2, 3, 5, 7))


@check("sentence:keyword")
def keyword_in_sentence(passage: Passage, word: Text, N: Position) -> str:  # noqa: N803 (the data's name)
    if len(passage.sentences) < N:
        return counted(len(passage.sentences), "at least", N, "sentences")
    return "" if has_word(passage.sentences[N - 1], word) else f"sentence {N:,} lacks {shorten(word, 40)}"


@check("words:keywords_specific_position", "keywords:keyword_specific_position")
def keyword_at(passage: Passage, keyword: Text, n: Position, m: Position) -> str:
    if len(passage.sentences) < n:
        return counted(len(passage.sentences), "at least", n, "sentences")
    words = [token for token in Passage(passage.sentences[n - 1]).tokens if any(map(str.isalnum, token))]
    if len(words) < m:
        return counted(len(words), "at least", m, f"words in sentence {n:,}")
    word = words[m - 1]
    return "" if word.lower() == keyword.lower() else f"word {m:,} of sentence {n:,} is {shorten(word, 40)}"


@check("words:words_position")
def second_and_second_last(passage: Passage, keyword: Text) -> str:
    words = passage.tokens[:-1] if passage.tokens and passage.tokens[-1] in PUNCTUATION else passage.tokens
    if len(words) < 2:
        return counted(len(words), "at least", 2, "words")
    pair = words[1], words[-2]
    right = pair[0].lower() == pair[1].lower() == keyword.lower()
    return "" if right else f"the second word is {shorten(pair[0], 40)}, the second to last {shorten(pair[1], 40)}"


@check("keywords:palindrome")
def palindrome(passage: Passage) -> str:
    has_palindrome = any(len(word) > 2 and word.isalpha() and word == word[::-1] for word in passage.bare_words)
    return "" if has_palindrome else "no palindrome of three letters or more"


@check("words:palindrome")
def ten_palindromes(passage: Passage) -> str:
    palindrome_count = sum(len(word) >= 5 and word == word[::-1] for word in passage.bare_words)
    return counted(palindrome_count, "at least", 10, "palindromes of five letters or more")
