"""Instructions about form: words and sentences, titles, lists, highlights, brackets, indentation, JSON."""

from __future__ import annotations

import json
import re
from collections import Counter
from itertools import pairwise

from rewardkit.errors import shorten
from rewardkit.rewards.instructions.passage import PUNCTUATION, Passage, bare, bullet, final_mark, spoken, trimmed
from rewardkit.rewards.instructions.registry import Count, Percent, Position, Text, check, counted
from rewardkit.rewards.instructions.vocabulary import CONJUNCTIONS, PERSON_NAMES, PRONOUNS, STOP_WORDS
from rewardkit.text.visibility import has_visible_character

# Instructions about every word or sentence: their letters, lengths, sounds and kinds.


# Two consonants, including y as in "rhythm".
_CLUSTER = re.compile(r"[bcdfghjklmnpqrstvwxyz]{2}")
# Kana, or Chinese characters, as in "日本".
_JAPANESE = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")
_NUMBER = re.compile(r"\d+")
# "self-care" is one word.
_HYPHENATED = re.compile(r"[\w-]+")
# The end is arbitrary: no word has more than 97 letters.
_PRIMES = frozenset(number for number in range(2, 98) if all(number % divisor for divisor in range(2, number)))
_LONGEST_WORD = 60
"""The maximum length of a word. The number is arbitrary: words are shorter, and syllapy recurses for each hyphen."""
# The tolerance in percentage points: hardly any text has an exact share of trigrams.
_TOLERANCE = 2.0


@check("words:alphabet")
def alphabet(passage: Passage) -> str:
    words = passage.bare_words
    if not words or not "a" <= words[0][0] <= "z":
        return "does not start with a letter"
    first = ord(words[0][0]) - ord("a")
    for number, word in enumerate(words):
        letter = chr(ord("a") + (first + number) % 26)
        if word[0] != letter:
            return f"word {number + 1:,} is {shorten(word, 40)}, expected one with {letter}"
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
    distinct = CONJUNCTIONS & {trimmed(word) for word in passage.lower.split()}
    return counted(len(distinct), "at least", small_n, "different conjunctions")


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
    trigrams, reference = (set(zip(text, text[1:], text[2:], strict=False)) for text in (passage.text, reference_text))
    if not trigrams:
        return "too short for a trigram"
    share = 100 * len(trigrams & reference) / len(trigrams)
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
    """Return the number of words in a sentence that begin with the same letter as a neighboring word."""
    initials = [word[0] for piece in sentence.lower().split() if (word := trimmed(piece))]
    same = [left == right for left, right in pairwise(initials)]
    return sum(before or after for before, after in zip([False, *same], [*same, False], strict=True)) if same else 0


# The markers of a postscript in lower case, with or without a space: "p. s.".
_POSTSCRIPTS = {"P.S.": re.compile(r"p\.\s?s\."), "P.P.S": re.compile(r"p\.\s?p\.\s?s")}
# A highlight within one line: "*text*" and "**text**".
_HIGHLIGHT, _STRONG = re.compile(r"\*([^\n*]*)\*"), re.compile(r"\*\*([^\n*]*)\*\*")
# The opening fences, with the language names, that IFEval removes.
_FENCE = re.compile(r"\A```(?:json|Json|JSON)?")
_ANSWERS = ("My answer is yes.", "My answer is no.", "My answer is maybe.")
_LABELS = ("My Answer:", "My Conclusion:", "Future Outlook:")
# "a) b) c)": a list of options by letter.
_LETTERED = re.compile(r"\W*a\W*b\W*c", re.IGNORECASE)
# HTML's two elements for italics.
_ITALICS, _END_OF_ITALICS = re.compile(r"<(?:i|em)>"), re.compile(r"</(?:i|em)>")
# Pictures and symbols that fonts show as emoji: 😀, ☀, ©; not digits or "#", which only become emoji in a sequence.
_EMOJI = re.compile(
    "[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2194-\u21aa\u231a-\u23ff\u24c2\u25aa-\u25fe\u2600-\u27bf\u2934\u2935"
    "\u2b05-\u2b55\u3030\u303d\u3297\u3299\U0001f000-\U0001faff]"
)


@check("detectable_content:number_placeholders")
def number_placeholders(passage: Passage, num_placeholders: Count) -> str:
    pieces = (piece.partition("[") for line in passage.lines for piece in line.split("]")[:-1])
    placeholder_count = sum(bool(bracket and inner.strip()) for _, bracket, inner in pieces)
    return counted(placeholder_count, "at least", num_placeholders, "placeholders")


@check("detectable_content:postscript")
def postscript(passage: Passage, postscript_marker: Text) -> str:
    pattern = _POSTSCRIPTS.get(postscript_marker)
    has_postscript = pattern.search(passage.lower) if pattern else postscript_marker.lower() in passage.lower
    return "" if has_postscript else f"no postscript that starts with {shorten(postscript_marker, 40)}"


@check("detectable_format:number_bullet_lists")
def number_bullets(passage: Passage, num_bullets: Count) -> str:
    return counted(sum(map(bool, map(bullet, passage.lines))), "exactly", num_bullets, "bullet points")


@check("detectable_format:constrained_response")
def constrained_response(passage: Passage) -> str:
    return (
        "" if any(answer in passage.text for answer in _ANSWERS) else 'no "My answer is yes.", "... no.", "... maybe."'
    )


@check("detectable_format:number_highlighted_sections")
def number_highlights(passage: Passage, num_highlights: Count) -> str:
    highlights = [*_HIGHLIGHT.findall(passage.text), *_STRONG.findall(passage.text)]
    return counted(sum(bool(inner.strip()) for inner in highlights), "at least", num_highlights, "highlighted sections")


@check("detectable_format:multiple_sections")
def multiple_sections(passage: Passage, section_spliter: Text, num_sections: Count) -> str:
    markers = re.findall(rf"{re.escape(section_spliter)}\s?\d", passage.text)
    return counted(len(markers), "at least", num_sections, f"sections marked {shorten(section_spliter, 40)}")


@check("detectable_format:json_format")
def json_format(passage: Passage) -> str:
    text = _FENCE.sub("", passage.text.strip()).removesuffix("```").strip()
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        return f"not JSON: {shorten(str(error), 80)}"
    return "" if isinstance(value, (dict, list, str)) else "a bare value, not JSON around the response"


@check("detectable_format:title")
def title(passage: Passage) -> str:
    spans = ((line, line.find("<<"), line.rfind(">>")) for line in passage.lines)
    has_title = any(0 <= start < end and line[start:end].strip("<> \t\r") for line, start, end in spans)
    return "" if has_title else "no title in <<double angular brackets>>"


@check("detectable_format:square_brackets")
def square_brackets(passage: Passage) -> str:
    outside = next((word for word in passage.text.split() if not (word[0] == "[" and word[-1] == "]" != word[1])), None)
    return f"{shorten(outside, 40)} is not in square brackets" if outside else ""


@check("detectable_format:bigram_wrapping")
def bigram_wrapping(passage: Passage) -> str:
    words = passage.text.split()
    pairs = list(zip(words[::2], words[1::2], strict=False))
    outside = next((pair for pair in pairs if not (pair[0].startswith("<<") and pair[1].endswith(">>"))), None)
    return f"{shorten(' '.join(outside), 40)} is not in <<>>" if outside else "" if pairs else "no pair of words"


@check("detectable_format:sentence_hyphens")
def sentence_hyphens(passage: Passage) -> str:
    parts = passage.text.strip().split("-")
    spaced = Passage(" ".join(parts)).sentences
    if len(spaced) < 2:
        return "only one sentence"
    wrong = next((part for part, sentence in zip(parts, spaced, strict=False) if part != sentence), None)
    return "" if wrong is None and len(parts) == len(spaced) else "sentences are not connected by hyphens alone"


@check("format:parentheses")
def nested_parentheses(passage: Passage) -> str:
    pairs = {")": "(", "]": "[", "}": "{"}
    stack: list[str] = []
    deepest = 0
    for character in passage.text:
        if character in "([{":
            stack.append(character)
            deepest = max(deepest, len(stack))
        elif character in pairs:
            if not stack or stack.pop() != pairs[character]:
                stack, deepest = [], 0
            # Five levels of brackets, as the instruction asks.
            elif deepest >= 5:
                return ""
    return "brackets are not nested five deep"


@check("format:quotes")
def nested_quotes(passage: Passage) -> str:
    stack: list[str] = []
    deepest = 0
    for character in passage.text:
        if character not in "\"'":
            continue
        if stack and stack[-1] == character:
            stack.pop()
            # Three levels of quotes, as the instruction asks.
            if deepest - len(stack) >= 3:
                return ""
        else:
            stack.append(character)
            deepest = max(deepest, len(stack))
    return "quotes are not nested three deep"


@check("format:quote_unquote")
def quote_and_explanation(passage: Passage) -> str:
    text = passage.text.translate(dict.fromkeys(map(ord, "\u201c\u201d\u201f"), '"')).replace("'\"'", "")
    text = "".join(text.split())
    if text.count('"') < 2:
        return "no quoted phrase"
    if '""' in text:
        return "a quotation follows a quotation without an explanation"
    end = text.rstrip("0123456789" + PUNCTUATION.replace('"', ""))
    return "no explanation follows the last quote" if end.endswith('"') else ""


@check("format:options")
def options(passage: Passage, options: Text) -> str:
    separator = next((candidate for candidate in ("/", "or") if candidate in options), ",")
    listed = [option.strip() for option in options.split(separator)]
    if _LETTERED.match(options):  # letters must be written as in the list: "a)"
        return "" if passage.text in listed else f"expected one of {shorten(options, 60)}"
    answer = passage.lower.strip(PUNCTUATION + " ")
    accepted = {option.lower().strip(PUNCTUATION + " ") for option in listed}
    return "" if answer in accepted else f"expected one of {shorten(options, 60)}"


@check("format:newline")
def word_per_line(passage: Passage) -> str:
    lines = list(filter(None, (spoken(line.split()) for line in bare(passage.text).split("\n"))))
    longer = next((line for line in lines if len(line) > 1), None)
    return "two words on a line" if longer else "" if lines else "no words"


@check("format:emoji")
def emoji_after_sentences(passage: Passage) -> str:
    stripped = [bare(sentence).strip() for sentence in passage.sentences]
    for sentence, following in zip(stripped, [*stripped[1:], ""], strict=True):
        # An emoji after the period belongs to the next sentence; a selector or skin tone may follow it.
        if not sentence or not (_EMOJI.search(sentence[-2:]) or _EMOJI.match(following)):
            return f"no emoji after {shorten(sentence[-40:])}"
    return ""


@check("format:line_indent")
def stairs(passage: Passage) -> str:
    indents = [len(line) - len(line.lstrip(" ")) for line in passage.lines]
    if len(indents) < 2:
        return "only one line"
    rising = all(upper < lower for upper, lower in pairwise(indents))
    return "" if rising else "a line is not indented more than the one before"


@check("format:list")
def separator_list(passage: Passage, sep: Text) -> str:
    pieces = passage.text.split(sep)
    items = sum(any(map(str.isalnum, piece)) for piece in pieces)  # "......" is not a list marked "..."
    return counted(min(len(pieces) - 1, items), "at least", 2, f"items marked {shorten(sep, 40)}")


@check("format:thesis")
def thesis_in_italics(passage: Passage) -> str:
    start = _ITALICS.search(passage.text)
    end = start and _END_OF_ITALICS.search(passage.text, start.end())
    if not start or not end or not has_visible_character(passage.text[start.end() : end.start()]):
        return "no thesis in <i>italics</i>"
    return "" if passage.text[end.end() :].strip() else "nothing follows the thesis"


def _mark(line: str) -> str:
    """Return a bullet point's mark. Unlike `bullet`, accept an asterisk without a space after it.

    The prompts require "points denoted by *", not Markdown. An asterisk that opens emphasis is not a mark.
    """
    starred = line.lstrip()[:1] == "*" and line.count("*") == 1 and any(map(str.isalnum, line))
    return "*" if starred else bullet(line)


@check("format:sub-bullets")
def sub_bullets(passage: Passage) -> str:
    marks = list(filter(None, map(_mark, passage.lines)))
    if "*" not in marks:
        return "no bullet point *"
    if any(mark == "*" and after != "-" for mark, after in zip(marks, [*marks[1:], ""], strict=True)):
        return "a bullet point without sub-bullet -"
    # IFBench counts every asterisk as a bullet point; only its loose reading ignores emphasis.
    bare_asterisk = any("-" not in piece for piece in passage.text.split("*")[1:])
    return "an asterisk without a sub-bullet - after it" if bare_asterisk else ""


@check("format:no_bullets_bullets")
def sentences_then_bullets(passage: Passage) -> str:
    starred = [_mark(line) == "*" for line in passage.lines]
    first = starred.index(True) if True in starred else len(starred)
    before = Passage("\n".join(passage.lines[:first])).sentences
    ended = sum(final_mark(sentence) == "." for sentence in before)
    if problem := counted(ended, "at least", 2, "sentences with a period before the bullet points"):
        return problem
    if not all(starred[first:]):
        return "text between or after the bullet points"
    return counted(len(starred) - first, "at least", 2, "bullet points *")


@check("format:output_template")
def output_template(passage: Passage) -> str:
    rest = passage.text
    for label, following in zip(_LABELS, (*_LABELS[1:], None), strict=True):
        _, matched_label, rest = rest.partition(label)
        filled = rest.partition(following)[0] if following else rest
        if not matched_label or not has_visible_character(filled):
            return f"no {label!r} with an answer after it" if matched_label else f"no {label!r} in the expected place"
    return ""


@check("format:no_whitespace")
def no_whitespace(passage: Passage) -> str:
    has_whitespace = len(passage.text.split()) > 1 or passage.text != passage.text.strip()
    return "contains white space" if has_whitespace else ""
