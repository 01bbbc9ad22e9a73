"""The law of stated rules: the reward checks the rules that its task states, such as "at most 20 words"."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

from rewardkit.check.completion.parsed_completion import Span, atoms_of, parts_of, replaced, unrelated
from rewardkit.check.laws.base import Variant, law, needs_good_alone
from rewardkit.check.reward_under_test.judgment import Judged, judged
from rewardkit.check.reward_under_test.reward_under_test import RewardUnderTest
from rewardkit.check.reward_under_test.trials import Trial, text_of
from rewardkit.errors import shorten_line

_PROSE = 5
"""The minimum number of words of a text with sentences. Arbitrary."""
_LARGEST = 1_000
"""The largest number of words to exceed. Arbitrary: larger limits take long to exceed."""
_FORM = re.compile(r"(?i)\b(?:forms?|format\w*|constraints?|instructions?|follow\w*|rules?|limits?|structure|layout)\b")
"""Words of a docstring that say that the reward checks more than an answer."""
_FREE = re.compile(
    r"(?i)\bnot (?:checked|judged|compared|read|counted)\b|\b(?:does|do) not (?:matter|count)\b|n't (?:matter|count)"
    r"|\b(?:is|are) (?:free|fine|ignored|allowed)\b|\b(?:harmless|optional|need not|another reward|elsewhere)\b"
    r"|\bprompt asks\b|\b(?:stripped|removed)\b"
)
"""Words of a sentence in a docstring that say that the reward does not check the rule."""
_PART = re.compile(
    r"(?i)\b(?:each|every|per|names?|titles?|headings?|reasons?|headlines?|explanation|keys?)\b|<(?!think)\w+>"
)
"""Words near a limit that is for a part of the text."""
_NEARBY = 20
"""The number of characters around a limit that are near it. Arbitrary: "at most 12 words in each line"."""
_ANY_ORDER = re.compile(
    r"(?i)\b(?:any|either|free) order\b|\border\b[^.]{0,40}\b(?:free|not|ignored|matter)|regardless of (?:the )?order"
    r"|sets?\b"
)
_TOLERANT = re.compile(r"(?i)\b(?:may|allowed|free|ignored|never read|tolerated|last|end with|think|reason|harmless)\b")
"""Words that allow text next to an answer."""


@dataclass(frozen=True)
class _Try:
    """A text that breaks or keeps a rule.

    Attributes:
        form: how the text differs from the correct completion.
        text: the text.
        control: a similar text that certainly keeps the rule. The default is the correct completion.
        columns: other values for the example's columns.
    """

    form: str
    text: str
    control: str = ""
    columns: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class _Rule:
    """A rule as a task states it: its source, the sentence, and its number and quoted texts if there are any."""

    source: str
    words: str
    number: int = 0
    texts: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Task:
    """A correct completion, and what the docstrings, the prompt, and the columns say about it."""

    right: Judged
    docs: str
    prompt: str
    columns: Mapping[str, Any]

    @property
    def text(self) -> str:
        return self.right.anatomy.text

    @cached_property
    def span(self) -> Span:
        """The text to which rules of prose apply: the body of a tag, or everything."""
        region = self.right.anatomy.region
        return region if region.kind.startswith("tag") else Span(0, len(self.text))

    @cached_property
    def body(self) -> str:
        return self.span.of(self.text).strip()

    @cached_property
    def is_prose(self) -> bool:
        anatomy = self.right.anatomy
        is_whole = anatomy.region.kind.startswith("tag") or not (anatomy.marked or anatomy.blocks)
        return is_whole and len(re.findall(r"[^\W\d_]{2,}", self.body)) >= _PROSE and self.body[:1] not in "[{<`|"

    @cached_property
    def sentences(self) -> list[str]:
        return re.split(r"(?<=[.!?])\s+", self.body)

    @cached_property
    def atoms(self) -> list[str]:
        return [atom for column in self.columns.values() for atom in atoms_of(column)]

    def saying(self, body: str) -> str:
        return replaced(self.text, [(self.span, body)])


_Generator = Callable[[_Task, _Rule], Iterator[_Try]]


def _nothing(task: _Task, rule: _Rule) -> Iterator[_Try]:
    yield from ()


# Words.


def _more_words(task: _Task, rule: _Rule) -> Iterator[_Try]:
    words = task.body.split()
    if not task.is_prose or not 0 < rule.number <= _LARGEST or len(words) > rule.number:
        return
    many = words * (3 * rule.number // len(words) + 2)
    for mark, name in ((" ", ""), ("\n", " on lines of their own"), ("\t", " separated by tabs")):
        yield _Try(f"with {len(many)} words{name}", task.saying(mark.join(many)), task.saying(mark.join(words)))


def _up_to_the_limit(task: _Task, rule: _Rule) -> Iterator[_Try]:
    words = task.body.split()
    if (
        task.is_prose
        and len(words) < rule.number <= _LARGEST
        and all(re.fullmatch(r"[A-Za-z]+[.,]?", word) for word in words)
    ):
        if re.search(rf"(?i){_BELOW}", rule.words) or not re.search(r"\d|[a-z]", rule.words):
            return
        texts = [" ".join(words + words[:1] * (count - len(words))) for count in (rule.number, rule.number - 1)]
        yield _Try(f"with exactly {rule.number} words", task.saying(texts[0]), task.saying(texts[1]))


def _fewer_words(task: _Task, rule: _Rule) -> Iterator[_Try]:
    thinking = task.right.anatomy.thinking
    if rule.number < 3:
        return
    if thinking is not None and re.search(r"(?i)think|reason|thought", rule.words):
        body, rest = thinking.body.of(task.text), task.text[thinking.whole.end :]
        short = task.text[: thinking.body.start] + "Hm." + task.text[thinking.body.end : thinking.whole.end]
        if len(body.split()) >= rule.number:
            yield _Try("with one word", short + rest)
            yield _Try("with its words after the block instead of inside", f"{short}\n{body.strip()}\n{rest.strip()}")
        return
    words = task.body.split()
    if not task.is_prose or len(words) < rule.number:
        return
    named = [word for word in words if any(word.strip(".,;:!?").lower() in atom.lower() for atom in task.atoms)]
    if len(named) * 2 < rule.number:
        few = named or words[:1]
        yield _Try(f"with {len(few)} words", task.saying(" ".join(few)))
        marks = " ".join([*few, *["-"] * len(words)])
        yield _Try(f"with {len(few)} words and many dashes", task.saying(marks))


# Sentences, lines, and characters.


def _more_sentences(task: _Task, rule: _Rule) -> Iterator[_Try]:
    parts = task.sentences
    if task.is_prose and 0 < len(parts) <= rule.number <= 20:
        more = [*parts, *parts[-1:] * (rule.number + 2 - len(parts))]
        for mark in ".!?":
            text = " ".join(f"{part.rstrip('.!?')}{mark}" for part in more)
            control = " ".join(f"{part.rstrip('.!?')}{mark}" for part in parts)
            yield _Try(f"with {len(more)} sentences that end with {mark!r}", task.saying(text), task.saying(control))
        yield _Try(f"with {len(more)} sentences on lines", task.saying("\n".join(more)), task.saying("\n".join(parts)))


def _fewer_sentences(task: _Task, rule: _Rule) -> Iterator[_Try]:
    parts = task.sentences
    if task.is_prose and len(parts) == rule.number > 1:
        one = " and ".join(part.rstrip(".!?") for part in parts)
        yield _Try("with one sentence", task.saying(f"{one}."), task.text)
        if rule.number == 2:
            control = f"{task.body[:-1]} (48 in all){task.body[-1:]}"
            yield _Try(
                "with one sentence and a decimal point", task.saying(f"{one} (4.8 in all)."), task.saying(control)
            )


def _sentences_with_numbers(task: _Task, rule: _Rule) -> Iterator[_Try]:
    if task.is_prose and task.body[-1:] in ".!?":
        texts = [f"{task.body[:-1]} ({number} in all){task.body[-1]}" for number in ("4.8", "48")]
        yield _Try("with a decimal number", task.saying(texts[0]), task.saying(texts[1]))


_BULLET = re.compile(r"^(?:[-*•]|\d+[.)])\s+")


def _more_lines(task: _Task, rule: _Rule) -> Iterator[_Try]:
    lines = [line.strip() for line in task.body.splitlines() if line.strip()]
    joint = "\n\n" if "paragraph" in rule.words else "\n"
    number = rule.number or len(lines)
    if len(lines) < 2 or len(lines) != number or not (task.is_prose or _BULLET.match(lines[0])):
        return
    bullet = match.group() if (match := _BULLET.match(lines[-1])) else ""
    unused = [atom for atom in task.atoms if len(atom.split()) >= _PROSE and atom not in task.text and "\n" not in atom]
    more = [f"{bullet}{line}" for line in unused[:2]] or [lines[-1]] * 2
    yield _Try(f"with {len(more)} more lines at the end", task.saying(joint.join([*lines, *more])))
    yield _Try(f"with {len(more)} more lines at the start", task.saying(joint.join([*more, *lines])))


def _more_characters(task: _Task, rule: _Rule) -> Iterator[_Try]:
    if task.is_prose and len(task.body) <= rule.number <= 10 * _LARGEST:
        for mark in (" ", "\n"):
            text = mark.join([task.body] * (3 * rule.number // len(task.body) + 2))
            yield _Try(f"with {len(text)} characters", task.saying(text))


# Letters and words.


def _each_place(task: _Task, changed: Callable[[str], str]) -> Iterator[tuple[str, str]]:
    """Yield (place, text) for the body with one word changed."""
    words = [*re.finditer(r"[^\W\d_]{3,}", task.body)]
    for place, index in (("first", 0), ("last", -1), ("middle", len(words) // 2)) if len(words) > 2 else ():
        word = words[index]
        yield place, task.saying(f"{task.body[: word.start()]}{changed(word.group())}{task.body[word.end() :]}")


def _other_case(task: _Task, rule: _Rule) -> Iterator[_Try]:
    is_upper = re.search(r"(?i)upper|caps|capitals|all capital", rule.words) and not re.search(
        r"(?i)\bno\b", rule.words
    )
    same, other = (str.upper, str.lower) if is_upper else (str.lower, str.upper)
    if task.is_prose and same(task.body) == task.body:
        for place, text in _each_place(task, other):
            yield _Try(f"with its {place} word in another case", text)
        yield _Try("in another case", task.saying(other(task.body)))


def _commas(task: _Task, rule: _Rule) -> Iterator[_Try]:
    if task.is_prose and "," not in task.body:
        for place, text in _each_place(task, lambda word: f"{word},"):
            yield _Try(f"with a comma at its {place} word", text)


def _forbidden(task: _Task, rule: _Rule) -> Iterator[_Try]:
    for word in rule.texts[:4]:
        if not task.is_prose or not re.fullmatch(r"[^\W\d_]{3,}", word) or re.search(rf"(?i){word}", task.body):
            continue
        for form in (word, word.capitalize(), word.upper(), f"{word},", f"({word})", f"**{word}**"):
            control = form.replace(word.upper(), "LAMPS").replace(word.capitalize(), "Lamps").replace(word, "lamps")
            for text, other in (
                (f"{task.body} {form}", f"{task.body} {control}"),
                (f"{form} {task.body}", f"{control} {task.body}"),
            ):
                yield _Try(f"with {form!r}", task.saying(text), task.saying(other))


def _beyond_the_end(task: _Task, rule: _Rule) -> Iterator[_Try]:
    for end in rule.texts[:1]:
        if re.search(r"[<>:{}]", end) or not task.text.rstrip(" .!").endswith(end.rstrip(" .!")):
            continue
        for mark in (" ", "\n"):
            yield _Try(f"with a sentence after {end!r}", f"{task.text}{mark}That is all there is to say.")


def _anything_else(task: _Task, rule: _Rule) -> Iterator[_Try]:
    if task.right.anatomy.thinking is None and not _TOLERANT.search(f"{task.docs} {task.prompt}"):
        more = "I hope that this helps you."
        yield _Try("with a line after it", f"{task.text}\n{more}")
        yield _Try("with a paragraph after it", f"{task.text}\n\n{more}")
        yield _Try("with a line before it", f"{more}\n{task.text}")


# Lists, labels, and values.


def _items(task: _Task) -> tuple[list[str], str]:
    """Return the items of the answer and what separates them, or ([], "")."""
    region = task.right.anatomy.region
    answer = (region if region.kind != "whole" else Span(0, len(task.text))).of(task.text).strip()
    lines = [line.strip() for line in answer.splitlines() if line.strip()]
    if len(lines) > 1 and not re.search(r"[<{\[`]", answer):
        return lines, "\n"
    last = re.sub(r"^[\w ]{1,30}:\s*", "", lines[-1]) if lines else ""
    for mark in (", ", " > ", " -> ", ","):
        if mark in last and len(last.split(mark)) > 1:
            return last.split(mark), mark
    return [], ""


def _other_order(task: _Task, rule: _Rule) -> Iterator[_Try]:
    items, mark = _items(task)
    if len(items) < 3 or len(set(items)) < len(items) or _ANY_ORDER.search(f"{task.docs} {task.prompt}"):
        return
    bullets = [match.group() if (match := _BULLET.match(item)) else "" for item in items]
    bare = [item[len(bullet) :] for item, bullet in zip(items, bullets, strict=True)]
    other = [f"{bullet}{item}" for bullet, item in zip(bullets, bare[::-1], strict=True)]
    if mark == "\n":
        start, end = task.text.index(items[0]), task.text.rindex(items[-1]) + len(items[-1])
        yield _Try("with its items in reverse order", replaced(task.text, [(Span(start, end), "\n".join(other))]))
    elif task.text.count(mark.join(items)) == 1:
        yield _Try("with its items in reverse order", task.text.replace(mark.join(items), mark.join(other)))


_LABEL = r"[\w'-]+(?: [\w'-]+){0,2}"
_LIST = re.compile(rf"(?:{_LABEL}, ){{1,12}}(?:or |and )?{_LABEL}(?:,? (?:or|and) {_LABEL})?")


def _labels(task: _Task, items: Sequence[str]) -> list[str]:
    """Return the list of labels in the prompt that contains `items`, or []."""
    for match in _LIST.finditer(task.prompt):
        labels = [
            label.strip() for label in re.split(r",\s*(?:or |and )?|\s(?:or|and)\s", match.group()) if label.strip()
        ]
        if len(labels) > len(items) and {item.lower() for item in items} <= {label.lower() for label in labels}:
            return labels
    return []


def _all_labels(task: _Task, rule: _Rule) -> Iterator[_Try]:
    items, mark = _items(task)
    labels = _labels(task, items) if items and mark != "\n" else []
    listed = mark.join(items)
    if len(labels) > len(items) + 1 and task.text.count(listed) == 1:
        more = [label for label in labels if label.lower() not in map(str.lower, items)]
        yield _Try("with all labels of the prompt", task.text.replace(listed, mark.join([*items, *more])))


def _outside_labels(subject: RewardUnderTest, task: _Task) -> Iterator[Variant]:
    """Yield a label outside a closed list that scores higher than a label inside it."""
    right, gold = task.right, task.right.anatomy.gold
    labels = [label for label in _labels(task, [gold]) if label.lower() != gold.lower()] if gold else []
    trials = [right.trial(right.anatomy.saying(label)) for label in labels]
    scores = [score.value for score in subject.see(trials) if score.scored]
    if len(scores) > 1 and len(scores) == len(trials) and min(scores) < right.value:
        lowest = scores.index(min(scores))
        message = f"a label that is not in the prompt's list scores {{score}}, but {labels[lowest]!r} scores {{base}}"
        # An unreadable answer may rightly score better than a wrong one.
        slack = 0.5 * (right.value - min(scores))
        other = right.trial(right.anatomy.saying("zebra"))
        yield Variant(other, message, "no more", base=trials[lowest], slack=slack)


def _both_labels(task: _Task, rule: _Rule) -> Iterator[_Try]:
    pairs = [match for line in task.text.splitlines() if (match := re.fullmatch(r"\s*([\w ]+: ?)(\w+)\s*", line))]
    labels = {match[2] for match in pairs}
    if len(pairs) > 1 and len(labels) == 2:
        other = [match[1] + (labels - {match[2]}).pop() for match in pairs]
        yield _Try("with the opposite lines as well", "\n".join([task.text, *other]))
        yield _Try("with the opposite lines in front", "\n".join([*other, task.text]))


_PLACEHOLDER = re.compile(r"\{\w+\}|%\(\w+\)s|\$\w+")


def _other_placeholders(task: _Task, rule: _Rule) -> Iterator[_Try]:
    places = [*_PLACEHOLDER.finditer(task.text)]
    for first, second in combinations(places, 2):
        between = task.text[first.end() : second.start()]
        spans = [(Span(*first.span()), second.group()), (Span(*second.span()), first.group())]
        text = replaced(task.text, spans)
        # Exchanged in "{a} and {b}", they say the same. Other translations may be correct if no column lists them.
        is_wrong = len(re.findall(r"\w+", between)) > 1 and task.text in task.atoms and text not in task.atoms
        if first.group() != second.group() and is_wrong:
            yield _Try(f"with {first.group()} and {second.group()} exchanged", text)
    for place in places:
        yield _Try(
            f"with another placeholder for {place.group()}", replaced(task.text, [(Span(*place.span()), "{value}")])
        )


_FRACTION = re.compile(r"\\[dt]?frac\{(\d{1,6})\}\{(\d{1,6})\}|(?<![\d./])(\d{1,6})/(\d{1,6})(?![\d./])")


def _doubled(task: _Task, rule: _Rule) -> Iterator[_Try]:
    """Double the coefficients of a chemical equation, or the numerator and denominator of a fraction."""
    line = next((line.strip("`$ ") for line in reversed(task.text.splitlines()) if line.strip()), "")
    species = re.split(r"( \+ | ?(?:->|→) ?)", re.sub(r"^[\w ]+:\s*", "", line))
    counts = [re.fullmatch(r"(\d*) ?([A-Z(\[].*)", part) for part in species[::2]]
    if len(species) > 4 and re.search("->|→", line) and all(counts):
        twice = [f"{2 * int(count[1] or 1)} {count[2]}" for count in counts if count]
        joints = [*species[1::2], ""]
        text = "".join(f"{part}{joint}" for part, joint in zip(twice, joints, strict=True))
        yield _Try("with all coefficients doubled", task.text.replace("".join(species), text))
    for place in [*_FRACTION.finditer(task.text)][-1:]:
        groups = [index for index in range(1, 5) if place[index]]
        spans = [(Span(*place.span(index)), str(2 * int(place[index]))) for index in groups]
        if place.end() >= task.right.anatomy.region.start:
            yield _Try(f"with {place.group()} not reduced", replaced(task.text, spans))


def _other_citations(task: _Task, rule: _Rule) -> Iterator[_Try]:
    """Cite another source for a quote than the one that contains it."""
    lists = [value for value in task.columns.values() if isinstance(value, list) and len(value) > 1]
    sources = next((value for value in lists if all(isinstance(item, str) and " " in item for item in value)), [])
    for block in re.finditer(r"<(\w+) [^<>]*?(\d{1,3})[^<>]*>([^<>]+)</\1>", task.text):
        with_quote = [index for index, source in enumerate(sources, 1) if block[3].strip().lower() in source.lower()]
        others = [index for index in range(1, len(sources) + 1) if index not in with_quote]
        for other in [*others[:1], len(sources) + 90] if int(block[2]) in with_quote else ():
            yield _Try(f"with source {other} for {block[2]}", replaced(task.text, [(Span(*block.span(2)), str(other))]))


def _other_words(task: _Task, rule: _Rule) -> Iterator[_Try]:
    places = [task.prompt, *task.atoms]
    for piece in [*re.findall(r">([^<>]+)<", task.text), *task.text.splitlines()]:
        words = [part for part in parts_of(piece) if part.kind == "word" and len(part.text) > 3]
        if len(words) >= _PROSE and any(piece.strip() in place for place in places):
            for index in (len(words) // 2, -1):
                other = replaced(piece, [(words[index].span, unrelated(words[index]))])
                yield _Try(f"with another word for {words[index].text!r}", task.text.replace(piece, other))


_DATE = re.compile(r"(?<!\d)(\d{1,2})([/.-])(\d{1,2})\2(\d{4})(?!\d)")


def _day_and_month(task: _Task, rule: _Rule) -> Iterator[_Try]:
    """Exchange day and month, with a gold answer whose day may be a month."""
    dates = [*_DATE.finditer(task.text)]
    if not dates:
        return
    first, mark, second, year = dates[-1].groups()
    is_day_first = re.search(r"(?i)day/month|day first|\bd", rule.words) is not None
    day, month = (first, second) if is_day_first else (second, first)
    new_day = "05" if month.zfill(2) != "05" else "04"
    order = (new_day, month) if is_day_first else (month, new_day)
    written, swapped = (mark.join([*pair, year]) for pair in (order, order[::-1]))
    for name, value in task.columns.items():
        is_iso = value == f"{year}-{month.zfill(2)}-{day.zfill(2)}"
        if is_iso or value == dates[-1].group():
            gold = f"{year}-{month.zfill(2)}-{new_day}" if is_iso else written
            texts = [replaced(task.text, [(Span(*dates[-1].span()), text)]) for text in (swapped, written)]
            yield _Try(f"with {swapped} for {written}", texts[0], texts[1], {name: gold})


# Kinds of rules.

_NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_MOST = r"(?:at most|no more than|not more than|up to|maximum(?: of)?|(?:limited|limit) (?:to|of)|or fewer|or less)"
_BELOW = r"(?:fewer than|less than|under|below|within)"
_LEAST = r"(?:at least|no fewer than|no less than|not fewer than|minimum(?: of)?|or more)"
_QUOTED = r"""['"‘“]([^'"’”\n]{1,40})['"’”]"""


def _count(relation: str, unit: str) -> str:
    """Return a pattern for a number of units, with the relation before or after it."""
    number = rf"(\d+|{'|'.join(_NUMBERS)})"
    return rf"\b{relation}\s+{number}\s+(?:\w+ )?{unit}\b|\b{number}\s+{unit}\s+{relation}"


@dataclass(frozen=True)
class _Kind:
    """A kind of rule.

    Attributes:
        pattern: how it is stated, with groups for its number or its texts.
        breaks: the texts that break it.
        keeps: texts that keep it, and must score as their controls do.
        columns: the names of columns, or of constraints in columns, that state it.
        units: other words in columns next to its number.
        of_whole: whether the texts only break a rule for the whole text, not one for each of its parts.
    """

    pattern: str
    breaks: _Generator
    keeps: _Generator = _nothing
    columns: str = ""
    units: str = ""
    of_whole: bool = False


_KINDS = (
    _Kind(
        rf"{_count(f'(?:{_MOST}|{_BELOW})', 'words?')}|\bword limit\b",
        _more_words,
        _up_to_the_limit,
        "max_?words|word_limit",
        "words|limit",
        of_whole=True,
    ),
    _Kind(_count("(?:exactly|precisely)", "words?"), _more_words, units="words|count", of_whole=True),
    _Kind(_count(f"(?:{_LEAST}|exactly)", "words?"), _fewer_words, columns="min_?words", units="words|count"),
    _Kind(
        _count(f"(?:{_MOST}|exactly)", "sentences?"),
        _more_sentences,
        _sentences_with_numbers,
        "max_?sentences",
        "sentences",
        of_whole=True,
    ),
    _Kind(_count(f"(?:{_LEAST}|exactly)", "sentences?"), _fewer_sentences, columns="min_?sentences", units="sentences"),
    _Kind(
        rf"{_count(f'(?:{_MOST}|exactly)', '(?:lines|bullets?|items|paragraphs)')}|\bexactly as many lines\b",
        _more_lines,
        units="lines|bullets|items|paragraphs",
    ),
    _Kind(
        _count(f"(?:{_MOST}|{_BELOW})", "characters"),
        _more_characters,
        columns="max_?char|max_?len",
        units="char|len",
        of_whole=True,
    ),
    _Kind(
        r"\b(?:all|only|entirely|everything|completely|text|reply) (?:is |be )?(?:in )?(?:lower|upper)[- ]?case\b"
        r"|\bno (?:capital|upper[- ]?case)(?:s| letters)\b|\ball (?:caps|capitals|capital letters)\b",
        _other_case,
        columns="lower_?case|upper_?case|no_capital",
    ),
    _Kind(r"\b(?:no|without(?: any)?|not use(?: any)?|avoid(?: any)?) commas?\b", _commas, columns="no_?comma"),
    _Kind(
        r"\b(?:not (?:use|mention|contain|include|say|write)|without(?: using)?|avoid)(?: the)?(?: words?)? "
        rf"{_QUOTED}(?:,? (?:or|and|nor) {_QUOTED})?|\b(?:forbidden|taboo|banned|prohibited) words?\b",
        _forbidden,
        columns="forbid|taboo|banned|avoid|exclude|disallow|prohibit|not_allowed",
    ),
    _Kind(
        rf"\b(?:end|finish|close|conclude)(?:s|ing)?\b[^.\n'\"]{{0,40}}\bwith\b[^.\n'\"]{{0,40}}{_QUOTED}",
        _beyond_the_end,
        columns="end_phrase|ending|suffix|last_word|end_with",
    ),
    _Kind(
        r"(?:\A|[.:] |\n)(?:reply|respond|answer|write|output|return|give)?\s*(?:with )?"
        r"(?:only (?:the|a|an|json|xml)\b[^.<]*|nothing else|the [\w ]+ only)\.|\band nothing (?:else|more)\.",
        _anything_else,
    ),
    _Kind(
        r"\b(?:in|into) (?:the )?(?:\w+ )?order\b(?! to)|\bsort\w*\b|\bchronolog\w*|\balphabetical\w*"
        r"|\b(?:earliest|oldest|newest|smallest|largest) first\b",
        _other_order,
    ),
    _Kind(r"\bno others?\b|\bonly those\b|\bexactly the (?:\w+ ){0,2}(?:topics|labels|categories|tags)\b", _all_labels),
    _Kind(r"\b(?:with|exactly|only) one \w+|\b(?:each|every) \w+ (?:exactly )?once\b", _both_labels),
    _Kind(r"\bplaceholders?\b", _other_placeholders),
    _Kind(
        r"(?<!not in )\b(?:lowest|simplest|smallest|reduced|irreducible)\b"
        r"(?= (?:terms|form|fraction|(?:positive )?whole|integer|coefficient))",
        _doubled,
    ),
    _Kind(r"\b(?:cited|citations?|quotes?)\b", _other_citations),
    _Kind(r"\b(?:verbatim|word for word|literally|copied)\b", _other_words),
    _Kind(r"\b(?:dd?/mm?/yy|day/month|day first|mm?/dd?/yy|month/day)", _day_and_month),
)


def _stated(kind: _Kind, task: _Task) -> _Rule | None:
    """Return the rule of a kind that the task states, or None."""
    in_docs = [*_statements(kind, task.docs)]
    checked = [(words, groups) for words, groups in in_docs if not _FREE.search(words)]
    stated = [*_statements(kind, task.prompt), *checked]
    names = [(name, value) for name, value in task.columns.items() if kind.columns and value]
    named = [value for name, value in names if re.search(rf"(?i){kind.columns}", name)]
    if (in_docs and not checked) or not (stated or named):
        return None
    words, groups = stated[0] if stated else ("", ())
    groups = groups or next((groups for _, groups in stated if groups), ())
    numbers = [value for value in named if type(value) is int] or [_number(group) for group in groups]
    texts = [text for value in named for text in atoms_of(value) if not isinstance(value, int)] or [*groups]
    value = [str(numbers[0])] if numbers and numbers[0] else texts
    is_named = bool(named) or any(kind.columns and re.search(rf"(?i){kind.columns}", atom) for atom in task.atoms)
    if not is_named and value and (kind.units or kind.columns):
        for name, column in task.columns.items():
            atoms = [atom.lower() for atom in atoms_of(column)]
            labels = [name, *(atom for atom in atoms if re.fullmatch(r"[a-z_: ]{3,40}", atom))]
            is_unit = any(re.search(f"(?i){kind.units or kind.columns}", label) for label in labels)
            is_named = is_named or (is_unit and value[0].lower() in atoms and name != task.right.anatomy.column)
    source = "column" if is_named else "docstring" if checked else "prompt"
    return _Rule(source, words, next(iter(numbers), 0), tuple(texts))


def _statements(kind: _Kind, text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the sentences of a text that state a rule, with the rule's numbers and texts."""
    for sentence in re.split(r"(?<=[.;!?])\s+|\n\s*\n", text):
        match = re.search(f"(?i){kind.pattern}", sentence)
        if match is None:
            continue
        nearby = sentence[max(0, match.start() - _NEARBY) : match.end() + _NEARBY]
        if not (kind.of_whole and _PART.search(nearby)):
            yield sentence, tuple(group for group in match.groups() if group)


def _number(text: str) -> int:
    return int(text) if text.isdigit() else _NUMBERS.index(text.lower()) if text.lower() in _NUMBERS else 0


@law(
    advice="Check the rule as the task states it, in every form that a completion can have",
    skip="the task states no rule that one of its correct completions can break",
    applies=needs_good_alone,
    every=True,
)
def stated_rules_hold(subject: RewardUnderTest) -> Iterator[Variant | None]:
    """If a rule of the task is not checked, such as "at most 20 words", the policy stops following it.

    Rules are read from the docstring, the prompt, and the columns. A correct completion is changed so that it breaks
    only one rule. This is a finding if the docstring or a column that the reward reads states the rule, or if the
    reward rejects the rule's violation in another form. Otherwise, it is a lead.
    """
    docs = "\n\n".join(inspect.getdoc(binding.original) or "" for _, binding in subject.bindings)
    reported: set[int] = set()
    for right in judged(subject):
        example = subject.examples[right.example]
        prompt = text_of(example.prompt) if example.prompt is not None else ""
        columns = {name: example.columns[name] for name in sorted(subject.columns_read & set(example.columns))}
        task = _Task(right, re.sub(r"(?<!\n)\n(?!\n)", " ", docs), prompt, columns)
        for number, kind in enumerate(_KINDS if right.text_counts else ()):
            rule = _stated(kind, task) if number not in reported else None
            for variant in _variants(subject, task, kind, rule) if rule is not None else ():
                if variant is not None:
                    reported.add(number)
                yield variant
        for variant in _outside_labels(subject, task) if right.judges and -1 not in reported else ():
            yield variant


def _variants(subject: RewardUnderTest, task: _Task, kind: _Kind, rule: _Rule) -> Iterator[Variant | None]:
    right = task.right
    number = right.example
    broken = [*kind.breaks(task, rule)][: subject.affordable(_LARGEST)]
    trials = [Trial(right.saying(item.text), number, item.columns) for item in broken]
    controls = [Trial(right.saying(item.control or task.text), number, item.columns) for item in broken]
    paid = [right.paid(score) for score in subject.see(trials)]
    kept = [right.paid(score) for score in subject.see(controls)]
    is_checked = any(keeps and not pays for pays, keeps in zip(paid, kept, strict=True))
    if broken:
        yield None
    is_certain = rule.source != "prompt" or is_checked
    if any(paid) and (is_certain or _FORM.search(task.docs)):
        index = paid.index(True)
        message = (
            f"{broken[index].form}, it scores {{score}}, the same as the correct completion. Stated: {_short(rule)}"
        )
        yield Variant(trials[index], message, base=right.as_given, lead=not is_certain)
        return
    for item in kind.keeps(task, rule):
        trial, control = (Trial(right.saying(text), number, item.columns) for text in (item.text, item.control))
        if right.paid(subject.see([control])[0]):
            message = f"a completion {item.form} scores {{score}} instead of {{base}}. Stated: {_short(rule)}"
            yield Variant(trial, message, "no less", base=control)


def _short(rule: _Rule) -> str:
    return repr(shorten_line(rule.words)) if rule.words else f"in a column: {rule.number or ', '.join(rule.texts[:3])}"
