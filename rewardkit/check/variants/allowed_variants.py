"""Allowed variants: other correct completions, which a column or the rules of the task allow.

For example, another item of ``golden_answers``, the listed items in another order if the prompt says "in any order", or
``(B)`` instead of ``B`` if it says "A or (A)".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from itertools import islice, pairwise, permutations, product

from rewardkit.check.completion.parsed_completion import (
    ANSWERS,
    ParsedCompletion,
    Span,
    as_number,
    likelihood,
    numbers_in,
    replaced,
)
from rewardkit.check.completion.slots import SLOT, intervals_in
from rewardkit.check.reward_under_test.judgment import Judged
from rewardkit.check.reward_under_test.reward_under_test import RewardUnderTest
from rewardkit.check.reward_under_test.trials import text_of
from rewardkit.check.variants.elements import Elements, elements_in
from rewardkit.check.variants.format_variants import FormatVariant, rules_of
from rewardkit.check.variants.wrong_answers import plain

_ACCEPTED = re.compile(r"(?i)accept|alias|spelling|synonym|golden|alternative|any of")
"""Names of columns, and words of the rules, for a list of which each item is a correct answer."""
_LONGEST_ALIAS = 60
"""The maximum length of another accepted answer. Arbitrary: the rules may limit the length."""
_ANY_ORDER = re.compile(
    r"(?i)\b(?:any|whatever|either|no (?:particular|special)) order\b(?! (?:which|that|keep|satisf|of))"
    r"|\bregardless of (?:the |their )?order\b"
    r"|\border(?: of [\w ]{1,30}?)? (?:(?:does not|doesn't) (?:matter|count)|is (?:ignored|free|irrelevant))"
)
_SORTED = re.compile(
    r"(?i)\b(?:in order|sort\w*|rank\w*|chronolog\w*|(?:ascend|descend)ing|earliest first|largest first)\b"
)
_FREE_KINDS = ("item", "bullet", "line", "call", "block", "citation")
"""The kinds of elements that can be listed in any order."""
_MOST_ORDERS = 24
"""The maximum number of orders to try: all orders of four elements."""
_RUN = re.compile(r"\w+")
_CLOCKS = re.compile(r"(?i)\b[ap]m\b.*\b(?:24|HH:MM)|\b(?:24|HH:MM).*\b[ap]m\b|\bboth clocks\b", re.DOTALL)
"""Words of rules that allow both clocks: ``HH:MM`` and ``H:MM PM``."""
_PREFERRED = re.compile(
    r"(?i)\b(?:earliest|latest|soonest|as (?:early|late)|first (?:free|possible|available|slot)|prefer\w*|best|closest"
    r"|buffer|(?:before|after|than|from|until|by) (?:noon|lunch|\d))\b"
)
"""Words of a prompt that ask for one of several free slots."""
_PLACES = re.compile(r"(?i)(?<!up to )(?<!at most )\b(one|two|three|four|[1-4]) decimals?\b(?! or)")
_WORDS = {"one": 1, "two": 2, "three": 3, "four": 4}
_DELIMITERS = re.compile(r"^[ \t]*\|?(?:[ :]*-{3,}[ :]*\|)+(?:[ :]*-{3,}[ :]*)?\|?[ \t]*$", re.MULTILINE)
"""The row below the header of a Markdown table."""
_CSV = re.compile(r"```csv[ \t]*\n(.*?)```", re.DOTALL)
_QUOTED_FIELDS = re.compile(r"(?i)\bfields? may be quoted|\bRFC ?4180\b|\bquoted fields? (?:are|is) (?:fine|allowed)")
_DECIMALS = re.compile(r"(?i)\bdecimals?\b[^\n]{0,30} (?:is|are) (?:fine|allowed|accepted)\b")
_BODY = re.compile(r"(?i)\bbody\b[^.\n]{0,40}\b(?:is optional|may follow|is allowed)\b|\boptional body\b")
_FRACTION_OR_DECIMAL = re.compile(
    r"(?i)\b(?:fractions? or (?:as )?(?:an? )?decimals?|decimals? or (?:as )?(?:an? )?fractions?)\b"
)


def make_allowed_variants(subject: RewardUnderTest, right: Judged) -> Iterator[FormatVariant]:
    """Yield other completions that are as correct as the given one, because a column or the rules say so."""
    rules = "\n".join(rules_of(subject, [subject.examples[right.example]]))
    yield from _in_other_orders(subject, right, rules)
    yield from _at_other_times(subject, right, rules)
    yield from _as_shown(right.anatomy, rules)
    yield from _in_other_layouts(right.anatomy, rules)
    if right.judges:
        yield from _other_spellings(subject, right, rules)
        yield from _as_stated(right.anatomy, rules)


def _other_spellings(subject: RewardUnderTest, right: Judged, rules: str) -> Iterator[FormatVariant]:
    """Yield the completion with each other item of a column that lists accepted answers."""
    anatomy, example = right.anatomy, subject.examples[right.example]
    answer = anatomy.region.of(anatomy.text).strip()
    has_words = _ACCEPTED.search(anatomy.column.replace("_", " ")) or _ACCEPTED.search(rules)
    is_whole = plain(re.sub(r"(?i)^(?:the|an?) ", "", answer)) == plain(anatomy.gold)
    aliases = [alias for alias in anatomy.aliases if plain(alias) != plain(anatomy.gold)]
    # Options: an incorrect completion gives one of them, or another column says which one is correct.
    golds = [value.lower() for value in example.columns.values() if isinstance(value, str)]
    are_options = anatomy.gold.lower() in golds or any(
        re.search(rf"(?<!\w){re.escape(alias)}(?!\w)", text_of(bad)) for bad in example.bad for alias in aliases
    )
    if not is_whole or are_options or not (has_words or likelihood(anatomy.column) < len(ANSWERS)):
        return
    for alias in sorted(aliases, key=len):
        if alias.strip() and len(alias) <= _LONGEST_ALIAS and "\n" not in alias:
            body = anatomy.region.of(anatomy.text).replace(answer, alias)
            hint = f"the column {anatomy.column!r} also lists {alias!r}"
            yield FormatVariant(
                "with another accepted answer", anatomy.with_region(body), hint=hint, lead=not has_words
            )


def _in_other_orders(subject: RewardUnderTest, right: Judged, rules: str) -> Iterator[FormatVariant]:
    """Yield the completion with its listed elements in other orders, if the rules allow any order."""
    columns = subject.examples[right.example].columns.values()
    lists = [sorted(map(str, cell)) for cell in columns if isinstance(cell, (list, tuple))]
    for elements in elements_in(right.anatomy) if _ANY_ORDER.search(rules) and not _SORTED.search(rules) else ():
        if len(elements) < 2 or elements.kind not in _FREE_KINDS or not _is_list(elements):
            continue
        parts = [elements.part(index) for index in range(len(elements))]
        orders = [order for order in _orders(len(parts)) if [parts[index] for index in order] != parts]
        texts = [
            replaced(elements.text, [(span, parts[index]) for span, index in zip(elements.spans, order, strict=True)])
            for order in orders
        ]
        scores = subject.see([right.trial(text) for text in texts])
        accepted = [text for text, score in zip(texts, scores, strict=True) if right.paid(score)]
        # If no order is accepted, another list may be meant. A line may be a header.
        is_gold = sorted(part.strip("\"'") for part in parts) in lists
        for text in texts if is_gold or (accepted and elements.kind != "line") else ():
            if text not in accepted:
                hint = "the rules allow any order"
                yield FormatVariant("in another order", text, next(iter(accepted), ""), hint, any_cost=True)


def _is_list(elements: Elements) -> bool:
    """Return whether the elements have the same separator, and no numbers that say their order."""
    gaps = {elements.text[first.end : second.start] for first, second in pairwise(elements.spans)}
    return len(gaps) == 1 and not re.search(r"\w", min(gaps)) and not re.match(r"\d+[.)]\s", elements.part(0))


def _orders(count: int) -> Iterator[tuple[int, ...]]:
    """Yield the reversed order, the rotated ones, and some others of `count` elements."""
    order = tuple(range(count))
    rotated = [order[shift:] + order[:shift] for shift in range(1, count)]
    yield from dict.fromkeys([order[::-1], *rotated, *islice(permutations(order), _MOST_ORDERS)])


def _at_other_times(subject: RewardUnderTest, right: Judged, rules: str) -> Iterator[FormatVariant]:
    """Yield the completion with its slot at each other time within the free intervals of a column."""
    anatomy = right.anatomy
    slot = next(reversed([*SLOT.finditer(anatomy.text)]), None)
    if slot is None or _PREFERRED.search(rules):
        return
    start, end = (60 * int(slot[hour]) + int(slot[hour + 1]) for hour in (1, 3))
    columns = subject.examples[right.example].columns
    cells = [columns[name] for name in sorted(subject.columns_read & set(columns))]
    cells = [part for cell in cells for part in (cell.values() if isinstance(cell, dict) else [cell])]
    groups = [group for group in ([*intervals_in(cell)] for cell in cells) if group]
    # Another value, such as a buffer, may limit the slots.
    is_free = all(group for group in groups) and all([*intervals_in(cell)] or cell == end - start for cell in cells)

    def fits(minute: int) -> bool:
        return all(any(low <= minute and minute + end - start <= high for low, high in group) for group in groups)

    if not groups or not is_free or start >= end or not fits(start):
        return
    is_padded = not re.search(r"(?<!\d)\d:\d\d", f"{anatomy.text} {cells}")
    spans = (Span(slot.start(1), slot.end(2)), Span(slot.start(3), slot.end(4)))
    texts = []
    for minute in range(0, 24 * 60 - (end - start) + 1, 15):
        hours = [divmod(time, 60) for time in (minute, minute + end - start)]
        times = [f"{hour:02}:{rest:02}" if is_padded else f"{hour}:{rest:02}" for hour, rest in hours]
        if fits(minute) and minute != start:
            texts.append(replaced(anatomy.text, list(zip(spans, times, strict=True))))
    is_any = re.search(r"(?i)\b(?:any|one of)\b", rules) is not None
    accepted = [text for text in texts if right.paid(subject.see([right.trial(text)])[0])]
    for text in texts if accepted else ():
        if text not in accepted:
            yield FormatVariant("with another free slot", text, accepted[0], any_cost=True, lead=not is_any)


def _as_shown(anatomy: ParsedCompletion, rules: str) -> Iterator[FormatVariant]:
    """Yield the answer in another form that the rules show.

    After "like [1][4] or [1, 4]", ``[2][3]`` may also be ``[2, 3]``. After "A or (A)", ``B`` may also be ``(B)``.
    """
    for match in re.finditer(r",?\s+or\s+", rules):
        before, after = rules[: match.start()].split()[-3:], rules[match.end() :].split()[:3]
        for left, right in product(range(1, len(before) + 1), range(1, len(after) + 1)):
            shapes = [_shape(" ".join(words)) for words in (before[-left:], after[:right])]
            runs, marks = [_RUN.findall(shape) for shape in shapes], [set(re.sub(r"\w", "", shape)) for shape in shapes]
            # Other marks, such as minus signs, and other brackets change the meaning.
            is_same = runs[0] == runs[1] != [] and marks[0] | marks[1] <= set("[]() ,;*")
            if shapes[0] != shapes[1] and is_same and not ({*"[("} <= marks[0] | marks[1]):
                for shape, other in (shapes, shapes[::-1]):
                    yield from _reshaped(anatomy, shape, other)


def _shape(text: str) -> str:
    """Return a form without the quotes and punctuation of the sentence around it."""
    text = re.sub(r"^[<\"'`“]+|[>\"'`”.,;:]+$", "", text)
    while text.endswith(")") and text.count(")") > text.count("("):
        text = text[:-1]
    return text


def _reshaped(anatomy: ParsedCompletion, shape: str, other: str) -> Iterator[FormatVariant]:
    """Yield the completion with the answer that has the form `shape` in the form `other`."""
    pattern = "".join(f"({_class(piece)})" if _RUN.fullmatch(piece) else re.escape(piece) for piece in _pieces(shape))
    region, start = anatomy.region, anatomy.thinking.whole.end if anatomy.thinking else 0
    if len(_RUN.findall(shape)) == 1:  # only as the whole answer
        match = re.compile(rf"(?<!\S){pattern}(?!\S)").search(region.of(anatomy.text))
        start = region.start
        match = match if match is not None and match[0] == region.of(anatomy.text).strip() else None
    else:
        match = re.compile(rf"(?<![\w\])]){pattern}(?![\w\[(])").search(anatomy.text[start:])
    if match is not None:
        words = iter(match.groups())
        text = "".join(next(words) if _RUN.fullmatch(piece) else piece for piece in _pieces(other))
        span = Span(start + match.start(), start + match.end())
        hint = f"the rules also show the form {other}"
        yield FormatVariant(
            "in another form that the rules show", replaced(anatomy.text, [(span, text)]), hint=hint, any_cost=True
        )


def _pieces(shape: str) -> list[str]:
    return re.split(r"(\w+)", shape)


def _class(run: str) -> str:
    """Return a pattern for the text in place of a run of letters or digits in a form."""
    return r"\d+" if run.isdigit() else "[A-Z]" if len(run) == 1 and run.isupper() else re.escape(run)


def _as_stated(anatomy: ParsedCompletion, rules: str) -> Iterator[FormatVariant]:
    """Yield the answer in other forms that the rules allow in words, such as "case does not matter"."""
    gold, number = anatomy.gold.strip(), as_number(anatomy.gold)
    if not gold or anatomy.text[anatomy.places[-1].end : anatomy.region.end].strip(" .$\n"):
        return
    yield from _as_other_numbers(anatomy, rules)
    if anatomy.region.of(anatomy.text).strip(" .$\n") != gold.strip("$") or gold[0] in "{[<":
        return
    has_period = anatomy.text[anatomy.places[-1].end :].startswith(".")
    for name, words, notations in (
        ("in another case", "(?:letter |upper or lower )?case|capitali[sz]ation", [gold.upper(), gold.lower()]),
        (
            "with a period after its answer",
            r"(?:final |trailing )?(?:periods?|full stops?)",
            [] if has_period else [f"{gold}."],
        ),
        ("with an article", "articles", [f"the {gold}"] if number is None else []),
        ("with spaces around its answer", r"(?:surrounding |outer )?(?:white ?space|spaces)", [f" {gold} "]),
        ("with a percent sign", "percent signs?|%(?: signs?)?", [f"{gold.rstrip('%')}%", gold.rstrip("%")]),
        (
            "with a dollar sign",
            r"(?:dollar|currency) signs?|\$(?: signs?)?",
            [f"${gold.lstrip('$')}", gold.lstrip("$")],
        ),
        ("in quotation marks", "quotes|quotation marks", [f'"{gold}"']),
        ("in bold", "bold(?: type)?", [f"**{gold}**"]),
    ):
        for other in notations if _allows(rules, words) else ():
            if other != gold:
                yield FormatVariant(name, anatomy.answering(other), hint="the rules allow this form")


def _in_other_layouts(anatomy: ParsedCompletion, rules: str) -> Iterator[FormatVariant]:
    """Yield the completion with a table, CSV, or number in another layout that the rules or the format allow."""
    text = anatomy.text
    for first, rest in ((" --- |", " --- |"), (":---|", "---:|")):
        rows = [Span(*match.span()) for match in _DELIMITERS.finditer(text)]
        counts = [row.of(text).strip().strip("|").count("|") for row in rows]
        other = replaced(text, [(row, f"|{first}{rest * count}") for row, count in zip(rows, counts, strict=True)])
        if other != text:
            hint = "the row below a Markdown table's header may have spaces and colons"
            yield FormatVariant("with spaces or colons below its table's header", other, hint=hint)
    fence = _CSV.search(text) if _QUOTED_FIELDS.search(rules) else None
    if fence is not None and '"' not in fence[1]:
        lines = [",".join(f'"{cell}"' for cell in line.split(",")) for line in fence[1].splitlines()]
        body = Span(*fence.span(1))
        yield FormatVariant("with quoted fields", replaced(text, [(body, "\n".join(lines) + "\n")]))
    region = anatomy.region if anatomy.marked else Span(text.rfind("\n") + 1, len(text))
    if _DECIMALS.search(rules) and re.fullmatch(r"[\s\d,;()\[\]-]+", region.of(text)):  # a point or a box
        integers = [span for span in numbers_in(text) if region.holds(span) and span.of(text).isdigit()]
        if integers:
            yield FormatVariant("with decimals", replaced(text, [(span, f"{span.of(text)}.0") for span in integers]))
    number = as_number(anatomy.gold)
    if number and re.search(r"(?i)\be-notation\b|\bscientific notation (?:is|are) (?:fine|allowed)", rules):
        mantissa, _, exponent = f"{number:.12e}".partition("e")
        written = f"{mantissa.rstrip('0').rstrip('.')}e{int(exponent)}"
        yield FormatVariant("in e-notation", anatomy.saying(written), hint="the rules allow this form")
    if _BODY.search(rules) and "\n\n" not in text.strip():
        yield FormatVariant("with a body after it", f"{text.rstrip()}\n\nThe old form was wrong for some inputs.")


def _allows(rules: str, words: str) -> bool:
    """Return whether the rules say that `words`, a pattern such as ``"articles"``, are allowed or do not count."""
    return (
        re.search(
            rf"(?i)\bwith or without (?:(?:an?|the|its|any) )?(?:{words})(?!\w)"
            rf"|(?<!\w)(?:{words}) (?:is|are) (?:fine|allowed|accepted|optional|ignored|irrelevant)\b"
            rf"|(?<!\w)(?:{words}) (?:does not|doesn't|do not|don't) (?:matter|count)\b"
            rf"|\b(?:ignoring|regardless of) (?:(?:the|case|articles|punctuation|and|or),? )*(?:{words})(?!\w)"
            rf"|(?<!\w)(?:{words})[- ]insensitive",
            rules,
        )
        is not None
    )


def _as_other_numbers(anatomy: ParsedCompletion, rules: str) -> Iterator[FormatVariant]:
    """Yield the number or time in another notation that the rules allow or ask for."""
    gold, number = anatomy.gold.strip(), as_number(anatomy.gold)
    numbers = {match[1].lower() for match in _PLACES.finditer(rules)}
    decimals = {_WORDS.get(number) or int(number) for number in numbers}
    exponent = number.as_tuple().exponent if number is not None else 0
    if number is not None and isinstance(exponent, int) and len(decimals) == 1 and exponent > -max(decimals):
        padded = f"{number:.{max(decimals)}f}"
        yield FormatVariant("with the decimals that the rules ask for", anatomy.answering(padded))
    if _FRACTION_OR_DECIMAL.search(rules) and re.fullmatch(r"-?\d+/[1-9]\d*|-?\d+\.\d+", gold):
        value = Fraction(gold)
        other = f"{value.numerator}/{value.denominator}" if "." in gold else f"{float(value):.10g}"
        if Fraction(other) == value and value.denominator > 1:
            yield FormatVariant("as a fraction or a decimal", anatomy.answering(other))
    clock = re.fullmatch(r"(\d{1,2}):(\d{2})", gold)
    if clock is not None and _CLOCKS.search(rules) and not re.search(r"(?i)\d ?[ap]\.?m", anatomy.text):
        hour = int(clock[1])
        time = f"{hour % 12 or 12}:{clock[2]} {'PM' if hour >= 12 else 'AM'}"
        yield FormatVariant("with its time on the other clock", anatomy.answering(time))
