"""Rule breaks: a correct completion changed so that it breaks one rule of its task, such as "at most 20 words".

Each generator receives the task and the rule, and yields texts. Most of them are only for prose.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from itertools import combinations
from typing import Any

from rewardkit.check.completion.parsed_completion import (
    ParsedCompletion,
    Span,
    as_number,
    atoms_of,
    parts_of,
    replaced,
    unrelated,
)

_PROSE = 5
"""The minimum number of words of a text with sentences. Arbitrary."""
LARGEST = 1_000
"""The largest number of words to exceed. Arbitrary: larger limits take long to exceed."""
_ANY_ORDER = re.compile(
    r"(?i)\b(?:any|either|free) order\b|\border\b[^.]{0,40}\b(?:free|not|ignored|matter)|regardless of (?:the )?order"
    r"|sets?\b"
)
_TOLERANT = re.compile(r"(?i)\b(?:may|allowed|free|ignored|never read|tolerated|last|end with|think|reason|harmless)\b")
"""Words that allow text next to an answer."""
BELOW = r"(?:fewer than|less than|under|below|within)"
"""Words for a limit that is not reached."""


@dataclass(frozen=True)
class Try:
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
class Rule:
    """A rule as a task states it: its source, the sentence, and its number and quoted texts if there are any."""

    source: str
    words: str
    number: int = 0
    texts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Task:
    """A correct completion, and what the docstrings, the prompt, and the columns say about it."""

    anatomy: ParsedCompletion
    docs: str
    prompt: str
    columns: Mapping[str, Any]

    @property
    def text(self) -> str:
        return self.anatomy.text

    @cached_property
    def span(self) -> Span:
        """The text to which rules of prose apply: the body of a tag, or everything."""
        region = self.anatomy.region
        return region if region.kind.startswith("tag") else Span(0, len(self.text))

    @cached_property
    def body(self) -> str:
        return self.span.of(self.text).strip()

    @cached_property
    def is_prose(self) -> bool:
        anatomy = self.anatomy
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


Generator = Callable[[Task, Rule], Iterator[Try]]


def nothing(task: Task, rule: Rule) -> Iterator[Try]:
    yield from ()


# Words.


def more_words(task: Task, rule: Rule) -> Iterator[Try]:
    words = task.body.split()
    if not task.is_prose or not 0 < rule.number <= LARGEST or len(words) > rule.number:
        return
    many = words * (3 * rule.number // len(words) + 2)
    for mark, name in ((" ", ""), ("\n", " on lines of their own"), ("\t", " separated by tabs")):
        yield Try(f"with {len(many)} words{name}", task.saying(mark.join(many)), task.saying(mark.join(words)))


def up_to_the_limit(task: Task, rule: Rule) -> Iterator[Try]:
    words = task.body.split()
    if (
        task.is_prose
        and len(words) < rule.number <= LARGEST
        and all(re.fullmatch(r"[A-Za-z]+[.,]?", word) for word in words)
    ):
        if re.search(rf"(?i){BELOW}", rule.words) or not re.search(r"\d|[a-z]", rule.words):
            return
        texts = [" ".join(words + words[:1] * (count - len(words))) for count in (rule.number, rule.number - 1)]
        yield Try(f"with exactly {rule.number} words", task.saying(texts[0]), task.saying(texts[1]))


def fewer_words(task: Task, rule: Rule) -> Iterator[Try]:
    thinking = task.anatomy.thinking
    if rule.number < 3:
        return
    if thinking is not None and re.search(r"(?i)think|reason|thought", rule.words):
        body, rest = thinking.body.of(task.text), task.text[thinking.whole.end :]
        short = task.text[: thinking.body.start] + "Hm." + task.text[thinking.body.end : thinking.whole.end]
        if len(body.split()) >= rule.number:
            yield Try("with one word", short + rest)
            yield Try("with its words after the block instead of inside", f"{short}\n{body.strip()}\n{rest.strip()}")
        return
    words = task.body.split()
    if not task.is_prose or len(words) < rule.number:
        return
    named = [word for word in words if any(word.strip(".,;:!?").lower() in atom.lower() for atom in task.atoms)]
    if len(named) * 2 < rule.number:
        few = named or words[:1]
        yield Try(f"with {len(few)} words", task.saying(" ".join(few)))


# Sentences, lines, and characters.


def more_sentences(task: Task, rule: Rule) -> Iterator[Try]:
    parts = task.sentences
    if task.is_prose and 0 < len(parts) <= rule.number <= 20:
        more = [*parts, *parts[-1:] * (rule.number + 2 - len(parts))]
        for mark in ".!?":
            text = " ".join(f"{part.rstrip('.!?')}{mark}" for part in more)
            control = " ".join(f"{part.rstrip('.!?')}{mark}" for part in parts)
            yield Try(f"with {len(more)} sentences that end with {mark!r}", task.saying(text), task.saying(control))
        yield Try(f"with {len(more)} sentences on lines", task.saying("\n".join(more)), task.saying("\n".join(parts)))


def fewer_sentences(task: Task, rule: Rule) -> Iterator[Try]:
    parts = task.sentences
    if task.is_prose and len(parts) == rule.number > 1:
        joined = " and ".join(part.rstrip(".!?") for part in parts)
        yield Try("with one sentence", task.saying(f"{joined}."))


_SPLIT = re.compile(r"(?i)\bsplit|\bdecimal|\bno (?:numbers|digits|figures)|\bcounted (?:by|at|as)\b")
"""Words that say how sentences are counted, or that they have no numbers."""


def sentences_with_numbers(task: Task, rule: Rule) -> Iterator[Try]:
    if task.is_prose and task.body[-1:] in ".!?" and not _SPLIT.search(f"{task.docs} {task.prompt}"):
        texts = [f"{task.body[:-1]} ({number} in all){task.body[-1]}" for number in ("4.8", "48")]
        yield Try("with a decimal number", task.saying(texts[0]), task.saying(texts[1]))


_BULLET = re.compile(r"^(?:[-*•]|\d+[.)])\s+")


def more_lines(task: Task, rule: Rule) -> Iterator[Try]:
    lines = [line.strip() for line in task.body.splitlines() if line.strip()]
    joint = "\n\n" if "paragraph" in rule.words else "\n"
    number = rule.number or len(lines)
    if len(lines) < 2 or len(lines) != number or not (task.is_prose or _BULLET.match(lines[0])):
        return
    bullet = match.group() if (match := _BULLET.match(lines[-1])) else ""
    unused = [atom for atom in task.atoms if len(atom.split()) >= _PROSE and atom not in task.text and "\n" not in atom]
    more = [f"{bullet}{line}" for line in unused[:2]] or [lines[-1]] * 2
    yield Try(f"with {len(more)} more lines at the end", task.saying(joint.join([*lines, *more])))
    yield Try(f"with {len(more)} more lines at the start", task.saying(joint.join([*more, *lines])))


def more_characters(task: Task, rule: Rule) -> Iterator[Try]:
    if task.is_prose and len(task.body) <= rule.number <= 10 * LARGEST:
        for mark in (" ", "\n"):
            text = mark.join([task.body] * (3 * rule.number // len(task.body) + 2))
            yield Try(f"with {len(text)} characters", task.saying(text))


# Letters and words.


def _each_place(task: Task, changed: Callable[[str], str]) -> Iterator[tuple[str, str]]:
    """Yield (position, text) for the body with one word changed."""
    words = [*re.finditer(r"[^\W\d_]{3,}", task.body)]
    for position, index in (("first", 0), ("last", -1), ("middle", len(words) // 2)) if len(words) > 2 else ():
        word = words[index]
        yield position, task.saying(f"{task.body[: word.start()]}{changed(word.group())}{task.body[word.end() :]}")


def other_case(task: Task, rule: Rule) -> Iterator[Try]:
    is_upper = re.search(r"(?i)upper|caps|capitals|all capital", rule.words) and not re.search(
        r"(?i)\bno\b", rule.words
    )
    same, other = (str.upper, str.lower) if is_upper else (str.lower, str.upper)
    if task.is_prose and same(task.body) == task.body:
        for position, text in _each_place(task, other):
            yield Try(f"with its {position} word in another case", text)
        yield Try("in another case", task.saying(other(task.body)))


def commas(task: Task, rule: Rule) -> Iterator[Try]:
    if task.is_prose and "," not in task.body:
        for position, text in _each_place(task, lambda word: f"{word},"):
            yield Try(f"with a comma at its {position} word", text)


def forbidden(task: Task, rule: Rule) -> Iterator[Try]:
    for word in rule.texts[:4]:
        if not task.is_prose or not re.fullmatch(r"[^\W\d_]{3,}", word) or re.search(rf"(?i){word}", task.body):
            continue
        for form in (word, word.capitalize(), word.upper(), f"{word},", f"({word})", f"**{word}**"):
            control = form.replace(word.upper(), "LAMPS").replace(word.capitalize(), "Lamps").replace(word, "lamps")
            for text, other in (
                (f"{task.body} {form}", f"{task.body} {control}"),
                (f"{form} {task.body}", f"{control} {task.body}"),
            ):
                yield Try(f"with {form!r}", task.saying(text), task.saying(other))


def beyond_the_end(task: Task, rule: Rule) -> Iterator[Try]:
    for end in rule.texts[:1]:
        if re.search(r"[<>:{}]", end) or not task.text.rstrip(" .!").endswith(end.rstrip(" .!")):
            continue
        for mark in (" ", "\n"):
            yield Try(f"with a sentence after {end!r}", f"{task.text}{mark}That is all there is to say.")


def before_the_start(task: Task, rule: Rule) -> Iterator[Try]:
    for start in rule.texts[:1]:
        if not re.search(r"[<>{}]", start) and task.text.startswith(start):
            for mark in (" ", "\n"):
                yield Try(f"with a sentence before {start!r}", f"Let me begin.{mark}{task.text}")


def anything_else(task: Task, rule: Rule) -> Iterator[Try]:
    if task.anatomy.thinking is None and not _TOLERANT.search(f"{task.docs} {task.prompt}"):
        more = "I hope that this helps you."
        yield Try("with a line after it", f"{task.text}\n{more}")
        yield Try("with a paragraph after it", f"{task.text}\n\n{more}")
        yield Try("with a line before it", f"{more}\n{task.text}")


# Lists, labels, and values.


def _items(task: Task) -> tuple[list[str], str]:
    """Return the items of the answer and what separates them, or ([], "")."""
    region = task.anatomy.region
    answer = (region if region.kind != "whole" else Span(0, len(task.text))).of(task.text).strip()
    lines = [line.strip() for line in answer.splitlines() if line.strip()]
    if len(lines) > 1 and not re.search(r"[<{\[`]", answer):
        return lines, "\n"
    last = re.sub(r"^[\w ]{1,30}:\s*", "", lines[-1]) if lines else ""
    for mark in (", ", " > ", " -> ", ","):
        if mark in last and len(last.split(mark)) > 1:
            return last.split(mark), mark
    return [], ""


def other_order(task: Task, rule: Rule) -> Iterator[Try]:
    items, mark = _items(task)
    if len(items) < 3 or len(set(items)) < len(items) or _ANY_ORDER.search(f"{task.docs} {task.prompt}"):
        return
    bullets = [match.group() if (match := _BULLET.match(item)) else "" for item in items]
    bare = [item[len(bullet) :] for item, bullet in zip(items, bullets, strict=True)]
    other = [f"{bullet}{item}" for bullet, item in zip(bullets, bare[::-1], strict=True)]
    if mark == "\n":
        start, end = task.text.index(items[0]), task.text.rindex(items[-1]) + len(items[-1])
        yield Try("with its items in reverse order", replaced(task.text, [(Span(start, end), "\n".join(other))]))
    elif task.text.count(mark.join(items)) == 1:
        yield Try("with its items in reverse order", task.text.replace(mark.join(items), mark.join(other)))


_LABEL = r"[\w'-]+(?: [\w'-]+){0,2}"
_LIST = re.compile(rf"(?:{_LABEL}, ){{1,12}}(?:or |and )?{_LABEL}(?:,? (?:or|and) {_LABEL})?")


def labels_of(task: Task, items: Sequence[str]) -> list[str]:
    """Return the list of labels in the prompt that contains `items`, or []."""
    for match in _LIST.finditer(task.prompt):
        labels = [
            label.strip() for label in re.split(r",\s*(?:or |and )?|\s(?:or|and)\s", match.group()) if label.strip()
        ]
        if len(labels) > len(items) and {item.lower() for item in items} <= {label.lower() for label in labels}:
            return labels
    return []


def all_labels(task: Task, rule: Rule) -> Iterator[Try]:
    items, mark = _items(task)
    labels = labels_of(task, items) if items and mark != "\n" else []
    listed = mark.join(items)
    if len(labels) > len(items) + 1 and task.text.count(listed) == 1:
        more = [label for label in labels if label.lower() not in map(str.lower, items)]
        yield Try("with all labels of the prompt", task.text.replace(listed, mark.join([*items, *more])))


def both_labels(task: Task, rule: Rule) -> Iterator[Try]:
    pairs = [match for line in task.text.splitlines() if (match := re.fullmatch(r"\s*([\w ]+: ?)(\w+)\s*", line))]
    labels = {match[2] for match in pairs}
    if len(pairs) > 1 and len(labels) == 2:
        other = [match[1] + (labels - {match[2]}).pop() for match in pairs]
        yield Try("with the opposite lines as well", "\n".join([task.text, *other]))
        if not re.search(r"(?i)\blast\b", f"{task.docs} {task.prompt}"):
            yield Try("with the opposite lines in front", "\n".join([*other, task.text]))


_PLACEHOLDER = re.compile(r"\{\w+\}|%\(\w+\)s|\$\w+")


def other_placeholders(task: Task, rule: Rule) -> Iterator[Try]:
    placeholders = [*_PLACEHOLDER.finditer(task.text)]
    for first, second in combinations(placeholders, 2):
        between = task.text[first.end() : second.start()]
        spans = [(Span(*first.span()), second.group()), (Span(*second.span()), first.group())]
        text = replaced(task.text, spans)
        # Exchanged in "{a} and {b}", they say the same. Other translations may be correct if no column lists them.
        is_wrong = len(re.findall(r"\w+", between)) > 1 and task.text in task.atoms and text not in task.atoms
        if first.group() != second.group() and is_wrong:
            yield Try(f"with {first.group()} and {second.group()} exchanged", text)
    for match in placeholders:
        yield Try(
            f"with another placeholder for {match.group()}", replaced(task.text, [(Span(*match.span()), "{value}")])
        )


_FRACTION = re.compile(r"\\[dt]?frac\{(\d{1,6})\}\{(\d{1,6})\}|(?<![\d./])(\d{1,6})/(\d{1,6})(?![\d./])")


def doubled(task: Task, rule: Rule) -> Iterator[Try]:
    """Double the coefficients of a chemical equation, or the numerator and denominator of a fraction."""
    line = next((line.strip("`$ ") for line in reversed(task.text.splitlines()) if line.strip()), "")
    species = re.split(r"( \+ | ?(?:->|→) ?)", re.sub(r"^[\w ]+:\s*", "", line))
    counts = [re.fullmatch(r"(\d*) ?([A-Z(\[].*)", part) for part in species[::2]]
    if len(species) > 4 and re.search("->|→", line) and all(counts):
        twice = [f"{2 * int(count[1] or 1)} {count[2]}" for count in counts if count]
        joints = [*species[1::2], ""]
        text = "".join(f"{part}{joint}" for part, joint in zip(twice, joints, strict=True))
        yield Try("with all coefficients doubled", task.text.replace("".join(species), text))
    for match in [*_FRACTION.finditer(task.text)][-1:]:
        groups = [index for index in range(1, 5) if match[index]]
        spans = [(Span(*match.span(index)), str(2 * int(match[index]))) for index in groups]
        if match.end() >= task.anatomy.region.start:
            yield Try(f"with {match.group()} not reduced", replaced(task.text, spans))


def other_citations(task: Task, rule: Rule) -> Iterator[Try]:
    """Cite another source for a quote than the one that contains it."""
    lists = [value for value in task.columns.values() if isinstance(value, list) and len(value) > 1]
    sources = next((value for value in lists if all(isinstance(item, str) and " " in item for item in value)), [])
    for block in re.finditer(r"<(\w+) [^<>]*?(\d{1,3})[^<>]*>([^<>]+)</\1>", task.text):
        with_quote = [index for index, source in enumerate(sources, 1) if block[3].strip().lower() in source.lower()]
        wrong_numbers = [index for index in range(1, len(sources) + 1) if index not in with_quote]
        for wrong_number in [*wrong_numbers[:1], len(sources) + 90] if int(block[2]) in with_quote else ():
            yield Try(
                f"with source {wrong_number} for {block[2]}",
                replaced(task.text, [(Span(*block.span(2)), str(wrong_number))]),
            )


def other_words(task: Task, rule: Rule) -> Iterator[Try]:
    originals = [task.prompt, *task.atoms]
    for piece in [*re.findall(r">([^<>]+)<", task.text), *task.text.splitlines()]:
        words = [part for part in parts_of(piece) if part.kind == "word" and len(part.text) > 3]
        if len(words) >= _PROSE and any(piece.strip() in original for original in originals):
            for index in (len(words) // 2, -1):
                other = replaced(piece, [(words[index].span, unrelated(words[index]))])
                yield Try(f"with another word for {words[index].text!r}", task.text.replace(piece, other))


_DATE = re.compile(r"(?<!\d)(\d{1,2})([/.-])(\d{1,2})\2(\d{4})(?!\d)")


def day_and_month(task: Task, rule: Rule) -> Iterator[Try]:
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
            yield Try(f"with {swapped} for {written}", texts[0], texts[1], {name: gold})


def near_numbers(task: Task, rule: Rule) -> Iterator[Try]:
    """Yield the gold number less half a percent and plus half a percent, at least one unit of its last digit."""
    gold = task.anatomy.gold.replace(",", "")
    number = as_number(gold)
    if number is None or not re.fullmatch(r"-?\d+(?:\.\d+)?", gold):
        return
    unit = Decimal(1).scaleb(-len(gold.partition(".")[2]))
    step = max(unit, (abs(number) / 200).quantize(unit))
    for other in (number + step, number - step):
        yield Try(f"with {other} for {task.anatomy.gold}", task.anatomy.saying(f"{other:f}"))
