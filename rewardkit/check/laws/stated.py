"""Laws of stated rules: the reward checks the rules that its task states, such as "at most 20 words"."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from rewardkit.batch.messages import prompt_text
from rewardkit.check.completion.parsed_completion import atoms_of
from rewardkit.check.laws.base import Variant, law, needs_good_alone
from rewardkit.check.reward_under_test.judgment import Judged, judged
from rewardkit.check.reward_under_test.reward_under_test import RewardUnderTest
from rewardkit.check.reward_under_test.trials import Trial
from rewardkit.check.variants import rule_breaks
from rewardkit.check.variants.rule_breaks import BELOW, Generator, Rule, Task, labels_of, nothing
from rewardkit.errors import shorten_line

_HALF = 0.5
"""The share of a correct completion's score up to which an unreadable label may be rewarded. Arbitrary."""
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

# Kinds of rules.

_NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_MOST = r"(?:at most|no more than|not more than|up to|maximum(?: of)?|(?:limited|limit) (?:to|of)|or fewer|or less)"
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
        of_whole: whether the texts only break a rule for the whole text, not one for some part of it, of which a
            docstring may speak.
        of_answer: whether an answer that breaks it is incorrect, even if only the prompt states it.
    """

    pattern: str
    breaks: Generator
    keeps: Generator = nothing
    columns: str = ""
    units: str = ""
    of_whole: bool = False
    of_answer: bool = False


_KINDS = (
    _Kind(
        rf"{_count(f'(?:{_MOST}|{BELOW})', 'words?')}|\bword limit\b",
        rule_breaks.more_words,
        rule_breaks.up_to_the_limit,
        "max_?words|word_limit",
        "words|limit",
        of_whole=True,
    ),
    _Kind(_count("(?:exactly|precisely)", "words?"), rule_breaks.more_words, units="words|count", of_whole=True),
    _Kind(
        _count(f"(?:{_LEAST}|exactly)", "words?"), rule_breaks.fewer_words, columns="min_?words", units="words|count"
    ),
    _Kind(
        _count(f"(?:{_MOST}|exactly)", "sentences?"),
        rule_breaks.more_sentences,
        rule_breaks.sentences_with_numbers,
        "max_?sentences",
        "sentences",
        of_whole=True,
    ),
    _Kind(
        _count(f"(?:{_LEAST}|exactly)", "sentences?"),
        rule_breaks.fewer_sentences,
        columns="min_?sentences",
        units="sentences",
    ),
    _Kind(
        rf"{_count(f'(?:{_MOST}|exactly)', '(?:lines|bullets?|items|paragraphs)')}|\bexactly as many lines\b",
        rule_breaks.more_lines,
        units="lines|bullets|items|paragraphs",
    ),
    _Kind(
        _count(f"(?:{_MOST}|{BELOW})", "characters"),
        rule_breaks.more_characters,
        columns="max_?char|max_?len",
        units="char|len",
        of_whole=True,
    ),
    _Kind(
        r"\b(?:all|only|entirely|everything|completely|text|reply) (?:is |be )?(?:in )?(?:lower|upper)[- ]?case\b"
        r"|\bno (?:capital|upper[- ]?case)(?:s| letters)\b|\ball (?:caps|capitals|capital letters)\b",
        rule_breaks.other_case,
        columns="lower_?case|upper_?case|no_capital",
    ),
    _Kind(
        r"\b(?:no|without(?: any)?|not use(?: any)?|avoid(?: any)?) commas?\b", rule_breaks.commas, columns="no_?comma"
    ),
    _Kind(
        r"\b(?:not (?:use|mention|contain|include|say|write)|without(?: using)?|avoid)(?: the)?(?: words?)? "
        rf"{_QUOTED}(?:,? (?:or|and|nor) {_QUOTED})?|\b(?:forbidden|taboo|banned|prohibited) words?\b",
        rule_breaks.forbidden,
        columns="forbid|taboo|banned|avoid|exclude|disallow|prohibit|not_allowed",
    ),
    _Kind(
        rf"\b(?:begin|start)s?\b(?: the \w+)? with (?:the \w+ )?{_QUOTED}",
        rule_breaks.before_the_start,
        columns="start_with|starts_with|prefix|first_word|opening",
    ),
    _Kind(
        rf"\b(?:end|finish|close|conclude)(?:s|ing)?\b[^.\n'\"]{{0,40}}\bwith\b[^.\n'\"]{{0,40}}{_QUOTED}",
        rule_breaks.beyond_the_end,
        columns="end_phrase|ending|suffix|last_word|end_with",
    ),
    _Kind(
        r"\b(?:reply|respond|answer|write|output|return|give)s? (?:with )?"
        r"(?:only (?:the|a|an|json|xml)\b[^.<]*|nothing else|the [\w ]+ only)\.|\band nothing (?:else|more)\.",
        rule_breaks.anything_else,
    ),
    _Kind(
        r"\b(?:in|into) (?:the )?(?:\w+ )?order\b(?! to)|\bsort\w*\b|\bchronolog\w*|\balphabetical\w*"
        r"|\b(?:earliest|oldest|newest|smallest|largest) first\b",
        rule_breaks.other_order,
    ),
    _Kind(
        r"\bno others?\b|\bonly those\b|\bexactly the (?:\w+ ){0,2}(?:topics|labels|categories|tags)\b",
        rule_breaks.all_labels,
        of_answer=True,
    ),
    _Kind(
        r"\b(?:with|exactly|only) one \w+|\b(?:each|every) \w+ (?:exactly )?once\b",
        rule_breaks.both_labels,
        of_answer=True,
    ),
    _Kind(r"\bplaceholders?\b", rule_breaks.other_placeholders, of_answer=True),
    _Kind(
        r"(?<!not in )\b(?:lowest|simplest|smallest|reduced|irreducible)\b"
        r"(?= (?:terms|form|fraction|(?:positive )?whole|integer|coefficient))",
        rule_breaks.doubled,
    ),
    _Kind(r"\b(?:cited|citations?|quotes?)\b", rule_breaks.other_citations, of_answer=True),
    _Kind(r"\b(?:verbatim|word for word|literally|copied)\b", rule_breaks.other_words),
    _Kind(
        r"\b(?:right|correct|exact\w*) to the (?:cent|penny|minute|second|day|month)\b"
        r"|\bexact (?:value|number|amount|count|total)\b",
        rule_breaks.near_numbers,
        of_answer=True,
    ),
    _Kind(r"\b(?:dd?/mm?/yy|day/month|day first|mm?/dd?/yy|month/day)", rule_breaks.day_and_month, of_answer=True),
)


def _stated(kind: _Kind, task: Task) -> Rule | None:
    """Return the rule of a kind that the task states, or None."""
    in_docs = [*_statements(kind, task.docs)]
    checked = [(words, groups) for words, groups in in_docs if not _FREE.search(words)]
    stated = [*_statements(kind, task.prompt), *checked]
    cells = [value for name, value in task.columns.items() if value and _names(kind.columns, name)]
    is_of_task = cells or not kind.of_whole or len(stated) > len(checked)
    if (in_docs and not checked) or not (stated or cells) or not is_of_task:
        return None
    words, _ = stated[0] if stated else ("", ())
    groups = next((groups for _, groups in stated if groups), ())
    numbers = [cell for cell in cells if type(cell) is int] or [number for number in map(_number, groups) if number]
    texts = [text for cell in cells if not isinstance(cell, int) for text in atoms_of(cell)] or [*groups]
    is_in_column = bool(cells) or any(
        _states(kind, name, column, str(numbers[0]) if numbers else "".join(texts[:1]))
        for name, column in task.columns.items()
        if name != task.anatomy.column
    )
    source = "column" if is_in_column else "docstring" if checked else "prompt"
    return Rule(source, words, numbers[0] if numbers else 0, tuple(texts))


def _statements(kind: _Kind, text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the sentences of a text that state a rule, with the rule's numbers and texts."""
    for sentence in re.split(r"(?<=[.;!?])\s+|\n\s*\n", text):
        match = re.search(f"(?i){kind.pattern}", sentence)
        if match is None:
            continue
        nearby = sentence[max(0, match.start() - _NEARBY) : match.end() + _NEARBY]
        if not (kind.of_whole and _PART.search(nearby)):
            yield sentence, tuple(group for group in match.groups() if group)


def _states(kind: _Kind, name: str, column: Any, value: str) -> bool:
    """Return whether a column names the kind of rule, or contains the rule's value next to the name of its unit."""
    atoms = [atom.lower() for atom in atoms_of(column)]
    labels = [name, *(atom for atom in atoms if re.fullmatch(r"[a-z_: ]{3,40}", atom))]
    if any(_names(kind.columns, label) for label in labels):
        return True
    return value.lower() in atoms and any(_names(kind.units, label) for label in labels)


def _names(pattern: str, label: str) -> bool:
    return bool(pattern) and re.search(pattern, label, re.IGNORECASE) is not None


def _number(text: str) -> int:
    return int(text) if text.isdigit() else _NUMBERS.index(text.lower()) if text.lower() in _NUMBERS else 0


_Make = Callable[[RewardUnderTest, Judged, Task], Iterator[Variant | None]]


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
    reported: set[tuple[str, bool]] = set()
    for right in judged(subject):
        example = subject.examples[right.example]
        columns = {name: example.columns[name] for name in sorted(subject.columns_read & set(example.columns))}
        task = Task(right.anatomy, re.sub(r"(?<!\n)\n(?!\n)", " ", docs), prompt_text(example.prompt), columns)
        variants: list[tuple[str, _Make]] = [("labels", _outside_labels)] if right.judges else []
        variants += [(kind.pattern, partial(_breaks, kind=kind)) for kind in _KINDS]
        for kind, make in variants:
            if (kind, False) in reported or not right.text_counts:
                continue
            for variant in make(subject, right, task):
                if variant is None:
                    yield None
                elif (kind, variant.lead) not in reported:
                    reported.add((kind, variant.lead))
                    yield variant


def _breaks(subject: RewardUnderTest, right: Judged, task: Task, kind: _Kind) -> Iterator[Variant | None]:
    """Yield a text that breaks the rule and is rewarded, or one that keeps it and is not."""
    rule = _stated(kind, task)
    tries = [*kind.breaks(task, rule)] if rule is not None else []
    if rule is None or not tries:
        return
    yield None
    trials = [Trial(right.saying(item.text), right.example, item.columns) for item in tries]
    controls = [Trial(right.saying(item.control or task.text), right.example, item.columns) for item in tries]
    paid, controls_paid = ([right.paid(score) for score in subject.see(pool)] for pool in (trials, controls))
    is_checked = any(keeps and not pays for pays, keeps in zip(paid, controls_paid, strict=True))
    is_certain = rule.source != "prompt" or kind.of_answer or (is_checked and not _FREE.search(task.docs))
    stated = f"the task states {shorten_line(rule.words)!r}" if rule.words else "a column limits it"
    if any(paid) and (is_certain or _FORM.search(task.docs)):
        index = paid.index(True)
        message = f"{stated}, but {tries[index].form}, it scores {{score}}, the same as the correct completion"
        yield Variant(trials[index], message, base=right.as_given, lead=not is_certain)
        return
    for item in kind.keeps(task, rule):
        trial, control = (Trial(right.saying(text), right.example) for text in (item.text, item.control))
        score, base = subject.see([trial, control])
        if right.paid(base) and score.scored and not right.paid(score):
            message = f"{stated}, but {item.form}, a completion scores {{score}} instead of {{base}}"
            yield Variant(trial, message, "no less", base=control)


def _outside_labels(subject: RewardUnderTest, right: Judged, task: Task) -> Iterator[Variant | None]:
    """Yield a label outside a closed list that scores higher than a label inside it."""
    gold = task.anatomy.gold
    labels = [label for label in labels_of(task, [gold]) if label.lower() != gold.lower()] if gold else []
    trials = [right.trial(task.anatomy.saying(label)) for label in [*labels, "zebra"]]
    scores = subject.see(trials)
    if len(labels) < 2 or not all(score.scored for score in scores):
        return
    yield None
    *inside, outside = (score.value for score in scores)
    # If all wrong labels score the same, an unreadable one may rightly score more, as no answer does.
    if len(set(inside)) > 1 and outside > min(inside) + _HALF * (right.value - min(inside)):
        lowest = inside.index(min(inside))
        message = f"a label outside the prompt's list scores {{score}}, but {labels[lowest]!r} scores {{base}}"
        yield Variant(trials[-1], message, "no more", base=trials[lowest])
