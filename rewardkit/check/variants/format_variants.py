"""Format variants: a correct completion in other formats, as another model would write it.

For example, ``<answer>42</answer>`` may have its answer on a separate line, or may be followed by a remark or a code
block.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from string import ascii_lowercase

from rewardkit.batch.messages import prompt_text
from rewardkit.check.completion.parsed_completion import ParsedCompletion, Span, as_number, replaced
from rewardkit.check.examples import Example
from rewardkit.check.exploits.documents import Document
from rewardkit.check.reward_under_test.judgment import Judged
from rewardkit.check.reward_under_test.reward_under_test import RewardUnderTest

DOTALL = "`.` stops at line breaks unless the pattern is compiled with re.DOTALL"
_NO_UNIT = "without the unit of the gold answer"
_REMARK = "I have checked it once more and it holds."
_DOUBTS = "At first I am not sure, and I don't know. I cannot answer this yet, so I look at it again."
"""What a model may think before it gives the correct answer."""
_NUMERIC = frozenset(("float", "int", "Decimal", "Fraction", "isclose", "isdigit"))
# "$42" and "42 apples": a number with one unit.
_PRICED = re.compile(r"\s*[$€£¥]\s*(-?\d[\d,]*(?:\.\d+)?)\s*|\s*(-?\d[\d,]*(?:\.\d+)?)\s*[A-Za-z°²³/ ]{1,20}\s*")

_REASONS = re.compile(
    r"(?i)\b(?:step by step|reason\w*|think|explain|show your|work(?:ing)? (?:it )?out|describe how)\b"
)
_NO_REASONS = re.compile(
    r"(?i)\b(?:no|not|without|don't)(?: \w+)? (?:reason\w*|think\w*|expla\w+|words?|text)\b|\bnothing else\b"
)
_LONGEST_WRONG = 40
"""The maximum length of a wrong answer in the reasoning. Arbitrary: a longer one is not mentioned in a sentence."""
_CODE = "I check it with code:\n```python\nprint(2 + 3)\n```"
_JSON = 'The data would be {"a": 1, "b": [2, 3]}, I think.'
_UNITS_OF_TEXT = re.compile(
    r"(?i)\b(?:\d+|one|two|three|four|five|six|exactly|most|least|up to|than)\b[^.\n]{0,30}\b(?:sentence|word)s?\b"
)
"""Words of rules that limit the number of sentences or words."""
_MARKS = (
    ("a decimal number", "3.5", "345", "decimal|whole number|digit|numeral", False),
    ("an abbreviation", "like Dr. Lee", "like Doc Lee", "abbreviation|full stop|period", True),
    ("an initialism", "in the U.S. too", "in the USAA too", "abbreviation|full stop|period", True),
    ("an apostrophe", "Ann's", "Annas", "apostrophe|contraction", False),
)
"""Words with a mark, the same words without it, words of rules that forbid the mark, and whether a reward may count
it as the end of a sentence."""
_YEAR = re.compile(r"(?i)\b(?:what|which) year\b|\bwhen (?:did|was|were|is)\b|\bdates?\b|\byear (?:of|in which|when)\b")
_COUNT = re.compile(r"(?i)\bhow (?:many|much)\b|\bnumber of\b|\bcount|\bcommas?\b|\bthousands\b")
_NO_COMMA = re.compile(
    r"(?i)(?<!or )\b(?:without|no)\b[^.\n]{0,30} (?:commas?|separators?)\b"
    r"|\bdigits only\b|\b(?:only|plain)(?: \w+)? digits\b"
)
"""Words of rules that forbid commas in numbers."""


@dataclass(frozen=True)
class FormatVariant:
    """A correct completion in another format.

    Attributes:
        name: a description of the format.
        text: the completion's text.
        control: another text that must get the full score for the variant to count, or "" for none.
        hint: the likely cause, or how to fix it.
        any_cost: whether the loss of at least a twentieth of the score is a fault. Otherwise, only the loss of the
            whole score is a fault.
        partly: whether only a partial loss is a fault, because a total loss may be intended.
        unreachable: the reason that the given data's model does not write the variant, or "" if it does.
        lead: whether a person must judge whether the variant is correct.
    """

    name: str
    text: str
    control: str = ""
    hint: str = ""
    any_cost: bool = False
    partly: bool = False
    unreachable: str = ""
    lead: bool = False


def make_format_variants(subject: RewardUnderTest, right: Judged) -> Iterator[FormatVariant]:
    """Yield the format variants of a correct completion, as other models would write it."""
    anatomy = right.anatomy
    yield from _broken_lines(anatomy)
    if "\n" in anatomy.text and "\r" not in anatomy.text:
        text = anatomy.text.replace("\n", "\r\n")
        yield FormatVariant("with Windows line ends", text, unreachable="Windows line ends")
    yield from _prefilled(subject, right)
    yield from _trimmed(anatomy)
    yield from _with_more(subject, anatomy)
    yield from _reasoned(subject, right)
    yield from _drafted(subject, right)
    yield from _with_marks(subject, right)
    yield from _laid_out(subject, right)
    if not subject.columns_read and anatomy.text.strip().count("\n") > 1 and "\n\n" not in anatomy.text.strip():
        yield FormatVariant("with blank lines between its lines", anatomy.text.replace("\n", "\n\n"), partly=True)
    if right.judges and not any(binding.trusted for _, binding in subject.bindings):  # rk.exact is exact by contract
        is_asked_for = any(re.search(r"(?i)\bunits?\b", text) for text in rules_of(subject, subject.examples))
        rules = "\n".join(rules_of(subject, [subject.examples[right.example]]))
        for variant in _other_numbers(anatomy, _reads_numbers(subject), rules):
            if not (is_asked_for and variant.name == _NO_UNIT):
                yield variant
        yield from _other_units(anatomy)
        if subject.smells.removes_articles:
            yield from _other_articles(anatomy)


def _trimmed(anatomy: ParsedCompletion) -> Iterator[FormatVariant]:
    """Yield the completion without whitespace at its end, as most models write it."""
    text = anatomy.text.rstrip()
    if text and text != anatomy.text:
        yield FormatVariant("without white space at its end", text, any_cost=True)


def _with_more(subject: RewardUnderTest, anatomy: ParsedCompletion) -> Iterator[FormatVariant]:
    """Yield the completion with a long text before or after it, if the reward's code cuts texts."""
    text = anatomy.text.rstrip()
    # A limit that the prompt or the docstring states is a rule of the task.
    stated = {
        int(number)
        for text in rules_of(subject, subject.examples)
        for number in re.findall(r"\d+", re.sub(r"(?<=\d)[ ,_](?=\d{3})", "", text))
    }
    reasons = anatomy.thinking is not None or _asks_for_reasons("\n".join(rules_of(subject, subject.examples)))
    if anatomy.marked and reasons:
        start = anatomy.thinking.body.start if anatomy.thinking is not None else 0
        doubts, remark = (f"{text[:start]}{words}\n{text[start:].lstrip()}" for words in (_DOUBTS, _REMARK))
        hint = "words of the reasoning are read as the answer"
        yield FormatVariant("with doubts before its answer", doubts, remark, hint, any_cost=True)
    for cut in sorted(set(subject.smells.cuts) - stated):
        many = " ".join([_REMARK] * (cut // len(_REMARK) + 2))
        hint = f"the code truncates text to {cut} characters"
        yield FormatVariant("with a long remark after it", f"{text}\n{many}", f"{text}\n{_REMARK}", hint)
        yield FormatVariant("with a long remark before it", f"{many}\n{text}", f"{_REMARK}\n{text}", hint)


def _reasoned(subject: RewardUnderTest, right: Judged) -> Iterator[FormatVariant]:
    """Yield the completion with a wrong answer, code, or JSON in its reasoning, if its answer is at the end."""
    anatomy, rules = right.anatomy, "\n".join(rules_of(subject, [subject.examples[right.example]]))
    start = anatomy.thinking.body.start if anatomy.thinking is not None else 0
    is_asked_for = anatomy.thinking is not None or _asks_for_reasons(rules)
    # "Date: 2024-03-05" in the last line.
    last = rf"(?:^|\n)[A-Z][\w ]{{0,30}}: ?{re.escape(anatomy.gold)}\.?\s*\Z"
    is_last = anatomy.gold and re.search(last, anatomy.text)
    if not is_asked_for or not (anatomy.marked or is_last) or anatomy.only_thought:
        return

    def thinking(words: str) -> str:
        return f"{anatomy.text[:start]}{words}\n{anatomy.text[start:].lstrip()}"

    hint = "a part of the reasoning is read as the answer"
    wrong = [answer.text for answer in right.wrong if answer.honest and 0 < len(answer.text.strip()) <= _LONGEST_WRONG]
    for other in sorted(wrong, key=lambda text: _outline(text) != _outline(anatomy.gold))[:1] if right.judges else ():
        words = f"At first I thought of {other}, but that does not hold."
        yield FormatVariant(
            "with a wrong answer in its reasoning", thinking(words), thinking(_REMARK), hint, any_cost=True
        )
    if anatomy.thinking is not None:
        yield FormatVariant("with code in its thinking", thinking(_CODE), thinking(_REMARK), hint, any_cost=True)
        yield FormatVariant("with JSON in its thinking", thinking(_JSON), thinking(_REMARK), hint, any_cost=True)


def _asks_for_reasons(rules: str) -> bool:
    return _REASONS.search(rules) is not None and _NO_REASONS.search(rules) is None


def _outline(text: str) -> str:
    """Return a text with 0 for each digit, and a for each letter."""
    return re.sub(r"[^\W\d_]", "a", re.sub(r"\d", "0", text))


def _drafted(subject: RewardUnderTest, right: Judged) -> Iterator[FormatVariant]:
    """Yield the completion with a wrong draft of its marked answer before it, if the rules say that the last counts."""
    anatomy, (kind, _, tag) = right.anatomy, right.anatomy.region.kind.partition(" ")
    rules = "\n".join(rules_of(subject, [subject.examples[right.example]]))
    opening, name, closing = {
        "tag": (f"<{tag}>", rf"<?{tag}>?(?: tag| block)?", f"</{tag}>"),
        "box": ("\\boxed{", r"(?:\\f?box(?:ed)?(?:\{\})?|box(?:ed \w+)?)", "}"),
        "fence": ("```\n", r"(?:(?:\w+ )?(?:code |fenced )?block|fence)", "\n```"),
    }.get(kind, ("", "", ""))
    if name and right.judges and re.search(rf"(?i)\b(?:the|a|its) last [`'\"]?{name}(?!\w)", rules):
        start = anatomy.thinking.whole.end if anatomy.thinking is not None else 0
        for wrong in [answer.text for answer in right.wrong if answer.honest][:1]:
            body = replaced(anatomy.region.of(anatomy.text), [(anatomy.in_region, wrong)])
            draft = f"First draft:\n{opening}{body}{closing}\nNow the final answer:\n"
            text = f"{anatomy.text[:start]}{draft}{anatomy.text[start:].lstrip()}"
            yield FormatVariant(
                "with a draft before its last answer", text, hint="the rules say that the last one counts"
            )


def _with_marks(subject: RewardUnderTest, right: Judged) -> Iterator[FormatVariant]:
    """Yield the completion with a mark such as a decimal point inside a word, if the task counts words or sentences.

    The control has the same words without the mark.
    """
    text = right.anatomy.text
    rules = "\n".join(rules_of(subject, [subject.examples[right.example]]))
    start = right.anatomy.thinking.whole.end if right.anatomy.thinking is not None else 0
    ends = [match.start() for match in re.finditer(r"(?<=[a-z])[.!?](?=\s|\Z)", text) if match.start() >= start]
    # A reward may define words by letters and digits.
    counts_words = re.search(r"(?i)\bsentence", rules) is None
    for mark, words, plain, forbidden, is_lead in _MARKS if _UNITS_OF_TEXT.search(rules) else ():
        if not re.search(rf"(?i)\b(?:{forbidden}|punctuation)", rules):
            hint = f"{words!r} is read as the end of a sentence, or as several words"
            for end in ends[:2]:
                heads = [f"{text[:end]} "]
                # In place of the last word, if the number of words is fixed.
                heads += (
                    [head] if " " not in words and (head := text[:end].rstrip(ascii_lowercase)).endswith(" ") else []
                )
                for head in heads:
                    marked, control = (f"{head}{inserted}{text[end:]}" for inserted in (words, plain))
                    yield FormatVariant(
                        f"with {mark}", marked, control, hint, any_cost=True, lead=is_lead or counts_words
                    )


def _laid_out(subject: RewardUnderTest, right: Judged) -> Iterator[FormatVariant]:
    """Yield the completion with its JSON on several lines, or with \\dfrac for \\frac."""
    anatomy = right.anatomy
    rules = "\n".join(rules_of(subject, [subject.examples[right.example]]))
    document = Document.within(anatomy)
    # After a label such as "Result:", the document belongs to the line.
    is_apart = document is not None and re.search(r"(?:\A|[\n>])\s*\Z", document.text[: document.span.start])
    is_free = re.search(r"\bJSON\b", rules) and not re.search(r"(?i)\blines?\b|\bcompact|\bminif|\bJSONL\b", rules)
    if document is not None and is_apart and is_free:
        is_flat = "\n" not in document.span.of(document.text)
        layout = json.dumps(document.value, ensure_ascii=False, indent=2 if is_flat else None)
        name = "with its JSON on several lines" if is_flat else "with its JSON on one line"
        yield FormatVariant(name, document.saying(layout), hint="parse the JSON instead of its text", any_cost=True)
    if right.judges and "\\frac" in anatomy.gold and "\\frac" not in rules:
        yield FormatVariant(r"with \dfrac for \frac", anatomy.saying(anatomy.gold.replace(r"\frac", r"\dfrac")))


def rules_of(subject: RewardUnderTest, examples: Iterable[Example]) -> list[str]:
    """Return the texts that state the rules of the task: the prompts, and the docstrings of the reward's functions."""
    prompts = [prompt_text(example.prompt) for example in examples]
    return [*prompts, *(inspect.getdoc(binding.original) or "" for _, binding in subject.bindings)]


def _other_units(anatomy: ParsedCompletion) -> Iterator[FormatVariant]:
    """Yield the completion with a unit such as m^2 after its number. The control has a unit without an exponent."""
    number, gold_span = as_number(anatomy.gold), anatomy.places[-1] if anatomy.places else Span(0, 0)
    head, tail = anatomy.text[: gold_span.end], anatomy.text[gold_span.end :]
    # Arbitrary limit: a longer text after the answer is not a unit.
    if number is None or anatomy.marked or len(tail) > 30 or not tail.strip():
        return
    hint = "a digit of the unit is read as the answer"
    for unit, plain in (("m^2", "m"), ("cm^3", "cm"), ("m/s2", "m/s")):
        yield FormatVariant("with a unit that has an exponent", f"{head} {unit}.", f"{head} {plain}.", hint)


def _other_articles(anatomy: ParsedCompletion) -> Iterator[FormatVariant]:
    """Yield the completion with an article added to its answer, or removed from it."""
    gold = anatomy.gold
    # "The Beatles" without its article.
    bare = re.sub(r"(?i)^(?:the|an?) ", "", gold)
    hint = "the code has a pattern for articles, but does not remove this one"
    if bare != gold:
        yield FormatVariant("without the article of its answer", anatomy.answering(bare), hint=hint)
    else:
        yield FormatVariant("with an article", anatomy.answering(f"The {gold}"), anatomy.answering(f"the {gold}"), hint)


def _reads_numbers(subject: RewardUnderTest) -> bool:
    """Return whether the reward's code reads numbers: it calls ``float``, for example, or has a pattern with digits."""
    mined = subject.mined
    return bool(mined.names & _NUMERIC) or any(
        "\\d" in text or "0-9" in text for text in (*mined.patterns, *mined.texts)
    )


def _broken_lines(anatomy: ParsedCompletion) -> Iterator[FormatVariant]:
    """Yield the completion with a line break in its thinking, and with its answer on a separate line."""
    text, region, block = anatomy.text, anatomy.region, anatomy.thinking
    thought = block.body if block is not None else Span(0, region.start)
    if block is None and re.search(r"(?:^|\n)\w[\w ]{0,30}:\W*\Z", text[: region.start]):
        thought = Span(0, text.rfind("\n", 0, region.start) + 1)  # "Final answer:" stays on one line
    body = thought.of(text)
    # A space between words: a line break there does not change the meaning.
    space = re.search(r"(?<=[\w.,;:)]) (?=[\w(])", body)
    if space is not None and "\n" not in body.strip():
        broken = f"{body[: space.start()]}\n{body[space.end() :]}"
        description = (
            "with a line break in its thinking" if block is not None else "with a line break before its answer"
        )
        yield FormatVariant(description, replaced(text, [(thought, broken)]), hint=DOTALL, any_cost=block is not None)
    marked_text = region.of(text)
    if region.kind.startswith("tag ") and marked_text.strip() and marked_text == marked_text.strip("\n"):
        lines, spaces = (anatomy.with_region(f"{mark}{marked_text.strip()}{mark}") for mark in "\n ")
        yield FormatVariant("with its answer on a separate line", lines, spaces, DOTALL, any_cost=True)


def _prefilled(subject: RewardUnderTest, right: Judged) -> Iterator[FormatVariant]:
    """Yield the completion without the opening tag of its thinking, as if the prompt ended with that tag."""
    block, text = right.anatomy.thinking, right.anatomy.text
    if block is None or block.whole.start == block.body.start or text[: block.whole.start].strip():
        return
    opening = text[block.whole.start : block.body.start]
    prompt = prompt_text(subject.examples[right.example].prompt).rstrip()
    unreachable_reason = "" if prompt.endswith(opening) else f"no {opening}, as after a chat template that ends with it"
    yield FormatVariant(
        f"after a prompt that ends with {opening}",
        text[block.body.start :].lstrip("\n"),
        unreachable=unreachable_reason,
    )


def _other_numbers(anatomy: ParsedCompletion, reads_numbers: bool, rules: str) -> Iterator[FormatVariant]:
    """Yield the completion with a comma in its number, or without the gold answer's comma or unit.

    A reward whose code reads no numbers compares texts. For it, a unit is part of the answer, but a comma never is.
    """
    number, written = as_number(anatomy.gold), str(anatomy.value)
    priced = _PRICED.fullmatch(written)
    marked_text = anatomy.region.of(anatomy.text)
    if priced is not None and marked_text.strip() == written.strip() and reads_numbers:
        hint = f"the gold answer {written!r} has a unit: remove it from both, or read numbers (rk.number)"
        yield FormatVariant(
            _NO_UNIT,
            anatomy.with_region(marked_text.replace(written.strip(), priced[1] or priced[2])),
            hint=hint,
        )
    # Years such as 2024 are written without a comma, but counts are not.
    is_year = number is not None and 1000 <= number < 2100 and (_YEAR.search(rules) or not _COUNT.search(rules))
    in_list = re.search(r"\d\s*,\s", marked_text)  # a comma separates numbers there
    if number is None or abs(number) < 1000 or is_year or in_list or re.search(r"[^\d,.\-]", anatomy.gold):
        return
    hint = "remove commas from both sides before comparing, or read numbers (rk.number)"
    if "," in anatomy.gold:
        yield FormatVariant(
            "without the comma of the gold answer", anatomy.saying(anatomy.gold.replace(",", "")), hint=hint
        )
    elif reads_numbers and not _NO_COMMA.search(rules) and not re.search(rf"(?<!\d){anatomy.gold}(?!\d)", rules):
        yield FormatVariant("with a comma in its number", anatomy.saying(f"{number:,f}"), hint=hint)
