r"""Find the final answer in a completion, for all rewards that read answers.

``number``, ``choice``, ``math_equal``, and ``exact`` look in the same places, and differ only in which answers they
accept as equal. They read only the model's own words, which end where a made-up turn begins ("Question:", "Human:").
The answer comes from the first of these that occurs:

1. `marked`: the ``<answer>`` tag, else the boxes, else the line after ``####``.
2. `statements`: "The answer is 42", in many languages. The last statement counts.
3. The last claim, which each reward finds with its own code.

All functions run in time linear in the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import Literal, NamedTuple

from rewardkit.text.claims import (
    corrects,
    denied_after,
    denied_before,
    last_retraction,
    without_struck,
)
from rewardkit.text.marks import Box, boxes, boxes_in
from rewardkit.text.phrases import IS_WORDS, OR_WORDS, PART_WORDS, WRONG_WORDS, joining_words, words
from rewardkit.text.visibility import straight

# The model's own words.

# Words that begin the next question. "Part" and "step" are excluded: a model numbers those in its own solution.
_NEXT = "example|task|next (?:question|problem|example|task)|(?:new|another) (?:question|problem)|[例题題]|例题|例題"

# A line that starts with "Question 2:", "Human:" or "### Problem"; "The question: ..." continues the answer.
_NEXT_TURN = re.compile(
    r"^[ \t>]{0,8}(?P<set>\#{1,6}[ \t]{0,4}|[*_\[]{1,2})?"
    rf"(?:(?P<speaker>{words('speaker')})|(?:{words('question')})|(?P<next>{_NEXT}))"
    r"(?P<number>[ \t]?[#(\[]?[0-9]{1,4}[)\]]?)?"
    r"(?:[ \t]?[*_\]]{0,2}[ \t]?[:：]|(?P<heading>[*_\]]{1,2})?[ \t]*$)",
    re.IGNORECASE | re.MULTILINE,
)
_REMARK = re.compile(
    r"[\s*_]{0,4}(?:wrong\b|(?:this|that|it|the above|does (?:this|that|it)|is (?:this|that)) "
    r"(?:misses|ignores|fails|fits?|works?|holds?|right|correct|wrong|is (?:wrong|incorrect|not)|does(?:n't| not)|"
    r"contradicts|violates|overlooks|forgets)\b)",
    re.IGNORECASE,
)
"""A remark after a heading word, which continues the model's own turn: "Problem: this misses a case"."""

_INTRODUCTION = re.compile(
    r"(?:sure|okay|ok|certainly|of course|great|alright|hello|hi|first|well|(?:let(?:'s| us| me)|here(?:'s| is)|"
    r"i(?:'ll| will)|we(?:'ll| will| need| have| are)|to (?:solve|answer|find)|step 1|(?:solution|answer) to|breakdown|"
    r"the (?:answer|solution) to this|dado|vamos|veamos|claro|voici|bien sûr|d'accord|bien|hier ist|natürlich|gerne|"
    r"gut|được|хорошо|конечно|давайте|рассмотрим)\b[^.!?:\n]{0,80}|(?:让我们|讓我們|我们|好的|首先|まず|では)[^。\n]{0,40})"
    r"(?:[,.!:。：！]\s*|\Z)",
    re.IGNORECASE,
)
"""A sentence that only introduces a solution: "Sure! Let's solve it."."""

_LONGEST_INTRODUCTION = 200
"""The maximum length of an introduction. Arbitrary: introductions are short, and a longer text before a question
already contains part of an answer."""
# A mark of an answer. An empty box or tag does not count: "Put it in \boxed{}" is from the prompt.
_MARKED = re.compile(r"\\(?:boxed|fbox)(?!\s?\{\s*\})|####|<(?:final_)?answer\s?>(?!\s*</)", re.IGNORECASE)

_MOST_TURNS = 20
"""The maximum number of turn beginnings to examine. A text with more is cut at the next one. The number is
arbitrary, but a limit keeps the time linear, because the text before each beginning is searched."""

_COLON = (":", "\uff1a")


def own_words(text: str) -> str:
    """Return the model's own turn in `text`, without struck-out or hidden parts.

    After a few-shot prompt, a model that was not stopped continues with the next question. "Question:" at the start of
    the text, or as a heading before there is an answer, only restates the question.
    """
    text = without_stray_tag(without_struck(text))
    turn = next_turn(text)
    return text[:turn] if turn is not None else _first_solution(text)


def next_turn(text: str) -> int | None:
    """Return the position where "Question:" or "Human:" begins a turn after the model's own, or None."""
    for count, turn in enumerate(_NEXT_TURN.finditer(text)):
        if count >= _MOST_TURNS:
            return turn.start()
        numbered = turn["next"] or turn["number"]
        if not (turn["set"] or turn["number"] or turn[0].rstrip("*_] ").endswith(_COLON)):
            continue  # a line that contains only the word
        head = text[: turn.start()]
        if not head.strip() or _REMARK.match(text, turn.end()):
            continue
        if turn["speaker"] or _answers(head) or not (turn["set"] or numbered or _introduces(head)):
            return turn.start()
    return None


def _answers(text: str) -> bool:
    return _MARKED.search(text) is not None or next(statements(text), None) is not None


def _introduces(head: str) -> bool:
    """Return whether `head`, the text before a question, is only a short introduction to it."""
    head = straight(head.strip("*_#>- \n\t"))
    return len(head) <= _LONGEST_INTRODUCTION and not _INTRODUCTION.sub("", head).strip("*_ \n")


def _first_solution(text: str) -> str:
    """Return the first solution in `text`: a made-up question and its ``#### 5`` after ``#### 18`` are cut off."""
    if text.count("####") < 2:
        return text
    lines = [line for line in _HASHES.finditer(text) if not _HEADING.match(line[1].lstrip("*_"))]
    for line, following in pairwise(lines):
        if "?" in text[line.end() : following.start()]:
            return text[: line.end()]
    return text


# Marks.

_TAG = re.compile(
    r"<(/?)(?:(?:final_)?answer|(?<=/)solution|solution(?=\s?>[^\n<>]{1,80}</solution))\s?>"
    r"(?!\W{0,3}(?:tags?|block|format|section|element)s?\b)",
    re.IGNORECASE,
)
"""A tag around an answer. "In the <answer> tags" only mentions tags, and a long ``<solution>`` is not an answer."""

# An answer after four signs, as in GSM8K: "#### 18". Three signs are a heading.
_HASHES = re.compile(r"(?:^|(?<=\s))####(?!#)[ \t]*(?=\S)(.*)", re.MULTILINE)
_HEADING = re.compile(
    r"(?i)(?P<answer>(?:the\s|final\s|correct\s){0,2}(?:answer|result)\b[*_]*(?:\s+is\b)?[*_]*\s*[:=]?[*_]*)"
    r"|(?:step|part|case|section|explanation|solution|conclusion|reasoning|summary|note|check|verification|analysis|"
    r"option|choice|method|approach|given|calculation|problem|question)s?\b|\d+[.)]\s|[^\n]*[:：][*_]*\s*\Z"
)
"""Text after ``####`` that is a heading for the text below it. The word "Answer" introduces the answer itself."""

_LEAD = re.compile(
    r"\A\s{0,9}(?:(?:so|thus|hence|therefore),?\s)?(?:the\s)?(?:final\s|correct\s)?"
    r"answers?\b[*\s]{0,9}(?:is\b|are\b|:)[\s:*]{0,9}",
    re.IGNORECASE,
)
"""Words that may introduce the answer inside a mark: ``<answer>The answer is 5</answer>``."""

# A box or number is alone if the text around it does not make it part of a formula. These patterns list the text that
# is allowed around it.

# Marks that only format the text after them: "\textbf{", "$\displaystyle", "**(".
_OPENERS = re.compile(
    r"(?:[\s~*_`({\[#]|\\[,;:! >({\[]|\$|\\(?:q?quad|displaystyle|textstyle|[lL]arge|LARGE|[hH]uge|small|left|bm|bf|"
    r"[bB]igg?l?|boldsymbol|math(?:bf|rm|bb)|text(?:bf|it)?|(?:text)?color\s?\{[a-z]{1,12}\}|ensuremath|noindent|"
    r"centering)(?![A-Za-z]))*\Z"
)
# Marks that only end or space a formula, such as "\right)" and "$**"; not the "}" of a new group.
_CLOSERS = re.compile(r"(?:[ \t~*`)\]}$]|\\[,;:! )\]}]|\\(?:right|[bB]igg?r?)(?![A-Za-z]))*")
# Inside a formula, "!" is a factorial; after it, "!" is an exclamation mark: "\boxed{5}$!".
_IN_FORMULA = re.compile(r"\$|\\[(\[]")
_RELATION = frozenset((
    "approx", "equiv", "sim", "cong", "therefore", "because", "implies", "iff", "Rightarrow", "rightarrow", "to",
    "Longrightarrow", "longrightarrow", "Leftrightarrow", "in", "begin", "end",
    "item", "par", "newline", "quad", "qquad",
))  # fmt: skip
# The word or the command before a box or number: "is", "\approx".
_LAST_WORD = re.compile(r"(\\?)([^\W\d_]+(?:['’][^\W\d_]+)?)['’.]?\Z")
# Text that may come before a box or number: marks, "=", a word with a colon or in bold, and table cells: "x =",
# "Total:", "| Sum |". Not an operator or a digit: in "2 \boxed{21}" and "x + \boxed{3}", the box is part of a formula.
_FREE_BEFORE = re.compile(
    r"(?:[^\w\s+\-\u2212\u2013\u2014*/^<>≤≥≠±×·÷√∓%°)\]}\\|&]|(?<![<>!])=|[=\->]>|\\\\|&|</?\w{1,20}>"
    r"|[^\W\d_]{2}['’*:]{0,3} ?[-\u2013\u2014]|[^\W\d_]{2}[)\]]|[^\W\d_]{2} [0-9]{1,2}|\n[ \t]*\|[^\n]{0,50}\|"
    r"|\\(?:text\w*|mathrm|mbox|underline|emph|begin|end|label|tag)\s?\{[^{}]*\})\Z"
)
# "- " begins an item only at the start of a line; elsewhere it may be a minus sign.
_BULLET = re.compile(r"(?:\A|\n)[ \t]*[->]\Z")
# "(3," opens a pair whose second part is not an answer by itself.
_IN_TUPLE = re.compile(r"[(\[{][^()\[\]{}\n]*\w\}?\s?,\Z")
_OPERATORS = frozenset((
    "minus", "negative", "plus", "times", "half", "twice", "double", "triple", "than", "neither", "sqrt", "root",
    "over", "exclude", "excluding", "mod", "modulo", "log", "ln", "sin", "cos", "tan", "exp",
))  # fmt: skip
# Text that may follow a box or number: the end of a sentence, a unit or a word: ". ", "^\circ", " apples". Text that
# continues the value may not: " million", ".5", "^2".
_FREE_AFTER = re.compile(
    r"\Z|\.(?=\s|[A-Z][a-z])|[.,;:?](?!\s?[-$]{0,2}[0-9]|[A-Za-z]\w| [A-Z](?:\Z|[.,;\n]))"
    r"|[\n&#'\"%°=≈→⇒]|\\[%\\]|\^\{?\s?\\?(?:circ|prime|text|mathrm|st|nd|rd|th|o)(?![a-z])"
    r"|\\(?:text\w*|mathrm|mbox|pmod|q?quad|end|begin|tag|label|qed|checkmark|(?:black)?square|Box|degree|circ|boxed|fbox|"
    r"[hv]fill|[hv]space|newline|par|item|l?dots|color|approx|equiv|therefore|because|implies|iff|"
    r"(?:Long|long)?[Rr]ightarrow|to)(?![A-Za-z])"
    r"|[-\u2013\u2014](?=\s*(?:[aA] )?[^\W\d_]{2})|\((?!mod\b|base)(?=[^\W\d_]{2})|</?[A-Za-z]|_(?![\w{])"
    r"|\|(?=[^\n]*\||\s*(?:\n|\Z))|[^\x00-\x7f\W]|[^\x00-\x7f\w\s\u2212×·÷±∓√π∞≤≥≠²³¹⁰⁴-⁹½¼¾]"
    r"|(?!(?:hundred|thousand|million|billion|trillion|dozen|plus|minus|squared|cubed|factorial|mod|modulo|choose|pi|"
    r"sqrt|log|ln|sin|cos|tan|exp|over|xor|in base|divided|"
    r"times(?= ?(?:[\d$(\\]|as\b|more\b|less\b|the\b|that\b|pi\b|sqrt|[a-z]\b)))\b)[^\W\d_]{2}"
    r"|/(?:hr|day|[a-z]{4,})\b(?!\()"
    r"|[mgshLlJNWVAKCFTaI](?![\w*^])|[kcdm]?m(?:[23²³]|\^\{?[23](?![\d(]))"
)
_OPTION = re.compile(r"\s?\(?[A-Za-z]\)?\s?")
"""An option's label, which the option's text may follow: ``\\boxed{B}: 42 apples``."""

_OTHER_CHOICE = re.compile(
    r"[ ,;.]{0,3}(?:\\text\w*\s?\{\s?|[({])?\s?(?:or|或|または|oder|ou)\b"
    r"(?!(?: equivalently)?\s?\}?[\s$(\\\[]{0,6}(?:boxed|fbox))"
    r"|\s?(?:[,/;&.]|and\b)\s?(?:(?!\w+ly\b|indeed|qed|done|thank|explanation|too|right|correct|final|"
    r"etc)[^\W\d_][\w'-]*|"
    r"(?-i:[A-Z])\w*(?: (?-i:[A-Z])\w*){1,2})"
    r"[.!}$ ]*(?:\n|\Z)"
    r"|,? ?(?:and|&|∨|∧) \$?(?:[A-Z]|-?[0-9][0-9.,]*)\$?(?:\Z|[.;\n])",
    re.IGNORECASE,
)
"""Text after a box that offers another answer: "or 43", ", Rome"."""

_NEAR = 60
"""The number of characters to read before and after a box or number. This limit keeps the time linear. At 20, the
text before the value in ``$$\\text{The answer is } 42$$`` is cut off. At 400, no test result changes."""


def lone_boxes(text: str) -> list[str] | None:
    r"""Return the contents of the outermost boxes, or None if a box is not closed, is denied, or is not alone.

    The boxes in ``2\boxed{21}`` and ``|\boxed{42}|`` are parts of formulas, and ``\boxed{42} or 43`` is one of several
    answers.
    """
    outer_boxes = boxes_in(text)
    if (
        not outer_boxes
        or not all(_is_answer(text, box) for box in outer_boxes)
        or last_retraction(text, outer_boxes[-1].end)
    ):
        return None
    return [box.content for box in outer_boxes]


def _is_answer(text: str, box: Box) -> bool:
    end = stands_alone(text, box.start, box.end, label=_OPTION.fullmatch(box.content) is not None)
    if end is None or _OTHER_CHOICE.match(text, end):
        return False
    opened = _OPENERS.search(text, max(0, box.start - _NEAR), box.start)
    start = opened.start() if opened else box.start
    return not (denied_before(text, start) or denied_after(text, end, noun=True))


def stands_alone(text: str, start: int, end: int, *, label: bool = False) -> int | None:
    """Return the end of the closing marks after ``text[start:end]``, or None if it is part of a formula or tuple.

    Args:
        label: True if ``text[start:end]`` may be the label of an option, followed by the option's text.
    """
    head, tail = "\n" * (start < _NEAR) + text[max(0, start - _NEAR) : start], text[end : end + _NEAR]
    opened, closed = _OPENERS.search(head), _CLOSERS.match(tail)
    assert opened
    assert closed
    lead, rest = head[: opened.start()], tail[closed.end() :]
    if "\n" not in opened[0] and not _is_free(lead, opened[0]):
        return None
    if rest[:1] == "!" and (len(rest) == 1 or rest[1].isspace()):
        rest = rest[1:] if _IN_FORMULA.search(closed[0]) or not _IN_FORMULA.search(opened[0]) else rest
    labeled = label and (rest[:1] == ":" or (rest[:1].isdigit() and closed[0].endswith(" ")))
    if not (labeled or _FREE_AFTER.match(rest)):
        return None
    if lead.endswith(",") and _IN_TUPLE.search(lead) and re.match(r"\s?[)\]]", tail):
        return None
    return end + len(closed[0].rstrip())


def _is_free(lead: str, opened: str) -> bool:
    """Return whether a formula may begin after `lead`."""
    if not lead:
        return True
    # 24 characters are arbitrary, but longer than the words in `_RELATION` and `_OPERATORS`.
    word = _LAST_WORD.search(lead, max(0, len(lead) - 24))
    if word is None:
        return bool(_FREE_BEFORE.search(lead) or (opened[:1].isspace() and _BULLET.search(lead)))
    if word[1]:
        return word[2] in _RELATION
    if len(word[2]) == 1:
        return (word[2] in "aAIyeoéè" and opened[:1].isspace()) or word[2] > "\u024f"
    return word[2].lower() not in _OPERATORS and opened[:1] != "("


Mark = Literal["tag", "box", "hashes"]


class Marked(NamedTuple):
    """A marked answer. `text` is None if the mark contains no answer, or several different ones."""

    mark: Mark
    text: str | None


def marked(text: str) -> Marked | None:
    r"""Return the content of the only tag, else of the boxes, else of the last ``####`` line, or None without marks.

    Boxes with different contents are read as a list, ``4, 5``, so that two boxed guesses match neither answer. A box
    contains no answer if it is part of a formula (``2\boxed{21}``), is denied, or has an alternative next to it
    (``\boxed{42} or 43``).
    """
    if _has_tag(text):
        body = _tag_body(text)
        return Marked("tag", _boxed_in_tag(body) if body and _box_starts(body) else body)
    if _box_starts(text):
        return Marked("box", _boxed(text))
    if "####" in text:
        hashed = behind_hashes(text)
        return None if hashed is None else Marked("hashes", hashed)
    return None


def bare_answer(mark: Marked) -> str | None:
    """Return a marked answer without its introduction and emphasis. The content of a box stays unchanged."""
    if mark.text is None or mark.mark == "box":
        return mark.text
    return bare(_LEAD.sub("", mark.text, count=1))


def _has_tag(text: str) -> bool:
    return "<" in text and any(not tag[1] for tag in _TAG.finditer(text))


def without_stray_tag(text: str) -> str:
    """Return `text` without an ``</answer>`` whose opening tag is in the prompt, not in `text`."""
    return text if "</" not in text or _has_tag(text) else _TAG.sub(" ", text)


def _tag_body(text: str) -> str | None:
    """Return the body of the only ``<answer>``, or None if the last one is not closed, or if two differ."""
    start: int | None = None
    bodies: dict[str, str] = {}
    for tag in _TAG.finditer(text):
        if not tag[1]:
            start = tag.end()
        elif start is not None:
            body = text[start : tag.start()]
            if body.strip():
                bodies.setdefault("".join(body.split()), body.strip())
            start = None
    if start is not None or len(bodies) > 1:
        return None
    return next(iter(bodies.values()), "")


def _box_starts(text: str) -> bool:
    return "\\boxed" in text or "\\fbox" in text


def _boxed(text: str) -> str | None:
    """Return the distinct contents of the outermost boxes, or None if a box is not closed or is not alone."""
    contents = lone_boxes(text)
    return _joined(contents) if contents else None


def _boxed_in_tag(body: str) -> str | None:
    """Return the content of the boxes in a tag, or None after another answer: ``43, or better \\boxed{42}``."""
    lead = body[: min(body.find(box) for box in ("\\boxed", "\\fbox") if box in body)].rstrip("$*\\[( \n")
    sentence = _LAST_LEAD.split(lead[-_LONGEST_SENTENCE:])[-1]
    return _boxed(body) if not lead or _LEADS_TO_BOX.search(sentence) else None


# The last sentence before a box in a tag.
_LAST_LEAD = re.compile(r"(?<=[.!?\n])\s*(?=\S)")
_LEADS_TO_BOX = re.compile(
    r"[^\W\d_]{2}.*[.!]\Z|\A[^\W\d_]+,?\Z|\A[^\d]*:[*_]*\Z|(?:[=≈→⇒-]|\b(?:is|are|so|therefore|thus|hence|get|gives?|"
    r"have|equals?|"
    r"answer|final))[,*_:]*\Z",
    re.IGNORECASE,
)
"""Text that may come before a box in a tag: a sentence, a word, or a relation."""


def _joined(contents: list[str]) -> str:
    return ", ".join({"".join(content.split()): content.strip() for content in contents}.values())


def in_boxes(text: str) -> str | None:
    """Return the distinct contents of the outermost boxes, or None if there are none or a box is not closed."""
    contents = boxes(text)
    return _joined(contents) if contents else None


def behind_hashes(text: str) -> str | None:
    """Return the answer after the last ``####``, or None if that line is a Markdown heading.

    The line is a heading if it reads like one ("Step 2", "Option D:"). It is also a heading if text follows it and
    there are several such lines, or if an answer is stated below it.
    """
    lines = list(_HASHES.finditer(text))
    if not lines:
        return None
    line, below = lines[-1][1].strip(), text[lines[-1].end() :].strip()
    plain = line.lstrip("*_")
    heading = _HEADING.match(plain)
    if heading and heading["answer"]:
        rest = plain[heading.end() :].strip()
        return rest or (None if "\n" in below else below or line)
    if heading:
        return None
    if below and (len({match[1].strip() for match in lines}) > 1 or next(statements(below), None)):
        return None
    return line


# Statements.

# Words between "is" and the answer: "is therefore 42", "is, of course, 42" and "is most likely to be 42".
_ADVERB = (
    r"(?:,?\s(?:therefore|thus|indeed|hence|simply|just|exactly|clearly|definitely|obviously|certainly|then|in fact|"
    r"of course|equal to|(?:most )?likely(?: to be)?|typically|generally),?)?"
)
# "is", ":" or "=", but not in "The answer is reasonable" and "is as follows", where no answer follows. A dash must have
# a space after it: "Answer -5" is negative.
_IS = (
    r"(?:[*_]{0,3}\s?(?:[:=→⇒➡👉–—：]\ufe0f?|=>|->|-(?=\s))"
    r"|\s(?:is|are|equals|would be|must be|should be|will be|has to be|can only be)"
    r"(?![A-Za-z'’]|\s(?:reasonable|plausible|consistent|verified|confirmed|unique|as follows)\b),?)"
)
# Between "answer" and "is": "The answer to the question is", "The answer, after rounding, is". "The answer plus 2 is"
# also matches: is_claimed rejects it, so that no earlier statement counts.
_ABOUT = (
    r"(?:\s\([^()\n]{1,60}\)"
    r"|,\s(?:after|as|by|then|of course)\b[^,.:;!?\n\d]{0,40},"
    r"|\s(?:to|for|of|in|you|we|here|considering|given|based on|among|according to)\b[^.:;!?\n\d]{0,80}?"
    r"|\s(?:mod(?:ulo)?|times|plus|minus|divided by|without|excluding|squared|cubed|doubled|"
    r"halved)\b[^.:;!?\n]{0,40}?)??"
)
# "The answer is", "answers: ", "final result ="; not "the result is", which is also said of single steps.
_ENGLISH = re.compile(
    r"(?:answers?(?: (?:option|choice|letter))?\b|final (?:result|value|solution)\b)"
    rf"{_ABOUT}{_IS}{_ADVERB}(?:\s?\}}(?=\s?[$\w\\]))?[*_]{{0,3}}"
    r"(?:\s?[:：][*_]{0,3})?",
    re.IGNORECASE,
)
_STEMS = ("answer", "final result", "final value", "final solution")
_HEAD = re.compile(
    r"answers?(?:[*_:：\s]{0,4}\n|[*_: ]{0,4}\|(?:[ ]{0,4}\n[ ]{0,4}\|[ :-]{3,20}\|[ ]{0,4}\n[ ]{0,4}\|)?)",
    re.IGNORECASE,
)
""""Answer" as a heading, as the only column of a table, or as the first cell of a row."""

# Text before "answer" in a heading: "## Final " and "My " at the start of a line. "I gave an answer\n" has no heading.
_HEAD_BEFORE = re.compile(r"(?:^|\n)[\s#*_>|\-]{0,8}(?:(?:the|my|final|correct|best) ){0,3}\Z", re.IGNORECASE)
# ":" or the word for "is" in any language of `phrases`.
_COPULA = rf"\s?(?:[*_]{{0,3}}[:=：—–-]|(?:{IS_WORDS})(?!\w))"
_OTHERS: dict[str, str] = {
    stem: (
        rf"(?<![^\W\u0e00-\u0e7f]){stem}(?:(?![^\W\d])|(?:ที่ผิด)?(?=คือ))(?:\s(?:{words('final')}|{words('not_final')})){{0,2}}{verb}"
        r"[*_]{0,3}(?:\s(?:donc|alors|also|somit|daher|entonces|quindi|portanto|então|la|le|el)(?!\w))?\s?[:：]?[*_]{0,3}"
    )
    for role, verb in (("answer", _COPULA), ("answer_alone", f"(?:{_COPULA})?"))
    for stem in words(role).split("|")
} | {
    "答案": (
        r"答案(?:的(?:一半|[两三四]倍|平方|相反数))?[】\]]?\s?(?:应该|应当|应)?(?:就是|是|为|為)?\s?[:：]?[*_]{0,3}"
    ),
    "答え": r"答え(?:は)?[、,]?\s?[:：]?[*_]{0,3}",
    "正解": r"正解(?:は)?[、,]?\s?[:：]?[*_]{0,3}",
    "回答": r"回答(?:(?:は|是|为)、?\s?[:：]?|[:：])",
    "解答": r"解答(?:(?:は|是|为)、?\s?[:：]?|[:：])",
    "답": r"(?:(?<=[정오])|(?<![가-힣]))답변?(?:은|는)?\s?[:：]?[*_]{0,3}",
}
"""The stem of the word for "answer" in each language -> the pattern of a statement that begins with it."""


@cache
def _statement(stem: str) -> re.Pattern[str]:
    """Return the pattern for `stem`, compiled on first use: compiling all would take a tenth of the import time."""
    return re.compile(_OTHERS[stem], re.IGNORECASE)


_EXAMPLE = re.compile(
    r"\b(?:for example|for instance|e\.g\.|such as|of the form|in the form(?:at)?|the format)\W{1,4}"
    r"(?:(?:the|final) ){0,2}\Z",
    re.IGNORECASE,
)
"""Words that introduce the format of an answer, not an answer."""


_SOLUTION = re.compile(
    r"[\s*_]{0,4}(?:(?:Therefore|Thus|Hence|First|Given), (?:the|we|it|that|this|add|let)\b|"
    r"To (?:find|solve|determine|calculate|compute|answer|get)\b|"
    r"We (?:know|need|can|have|start|are)\b|Let(?:'s| us)\b|Step 1\b|Given (?:that|the)\b)"
)
"""The beginning of a complete solution below "Answer:". Such a heading does not state an answer."""


class Statement(NamedTuple):
    """The positions of "The answer is" (`lead`) and of the text after it (`start`)."""

    lead: int
    start: int


_MOST_PLACES = 40
"""The maximum number of occurrences of a word to examine, from the end. The number is arbitrary, but a limit keeps
the time linear. Only the last claimed statement counts, and it is among the last occurrences."""


def from_the_end(lowered: str, word: str) -> Iterator[int]:
    """Yield the positions of `word` in `lowered`, from the last to the first."""
    position = len(lowered)
    for _ in range(_MOST_PLACES):
        position = lowered.rfind(word, 0, position)
        if position < 0:
            return
        yield position


def statements(text: str) -> Iterator[Statement]:
    """Yield the statements of an answer in `text`, from the last to the first."""
    lowered = (text.replace("İ", "I") if "İ" in text else text).lower()
    by_position = {lead: Statement(lead, start) for lead, start in _english(text, lowered)}
    only_ascii = text.isascii()
    for stem in _OTHERS:
        if (only_ascii and not stem.isascii()) or stem not in lowered:
            continue
        for position in from_the_end(lowered, stem):
            if match := _statement(stem).match(text, position):
                by_position[position] = Statement(position, match.end())
    yield from sorted(by_position.values(), reverse=True)


def _english(text: str, lowered: str) -> Iterator[tuple[int, int]]:
    for stem in _STEMS:
        for position in from_the_end(lowered, stem):
            # 40 characters are arbitrary, but longer than any match of `_EXAMPLE` and `_HEAD_BEFORE`.
            if text[position - 1 : position].isalpha() or _EXAMPLE.search(text, max(0, position - 40), position):
                continue
            head = _HEAD.match(text, position)
            if head and _HEAD_BEFORE.search(text, max(0, position - 40), position):
                yield position, head.end()
            elif (match := _ENGLISH.match(text, position)) and "words)" not in match[0]:
                colon = text.find(":", position, match.end()) + 1
                if not _SOLUTION.match(text, colon or match.end()):
                    yield position, match.end()


_SKIP = re.compile(r"(?:(?<=\n)\s{0,6}|[ \t]{0,4}\n\s{0,6})(?:(?:[-*•>]|1[.)])[ \t]{1,4}|`{3}\w{0,10}\n)?|[ \t]{0,4}")
"""Whitespace before an answer. Below a heading, it includes a list or quotation mark, which is not a minus sign."""

_DISPLAYS = (("\\[", "\\]"), ("$$", "$$"))
# A formula, bold text or code is read as a whole: the period in "$3.\overline{3}$" does not end a sentence.
_FORMULA = re.compile(r"\s*(?:\$(?:[^$\\\n]|\\.)+\$|\\\((?:[^\\\n]|\\[^()])+\\\)|\*\*[^*\n]+\*\*|`[^`\n]+`)")
# The end of a sentence: not after "Mr.", "e.g." or an initial, and not before a lower-case letter: "J. R. Smith", "3
# p.m. today".
_SENTENCE_END = re.compile(
    r"(?<![ .(][A-Za-z])(?<!\b(?:Mr|Dr|St|vs|No|Jr|Sr))(?<!\b(?:Mrs|etc|e\.g|i\.e))"
    r"[.!][*_`\"'”)\]]{0,4}(?=\s+[^a-z\s]|\s*\Z)|[。！।]"
)
_REASON = re.compile(
    r",? (?:because|since|i\.e\.|obtained|achieved|attained|reached|at [$\\(]*[a-z]\s?=)(?!\w)"
    r"|, (?:as|which|so|where|given|that is|namely|using|by|with|not|of course|the|and (?:it|this|that))(?!\w)"
    r"| [—–] (?=[a-z]{2})|: the\b|;(?= [a-z]{2})| \(the\b"
    r"| [(\[](?=(?:from |i\.e\.,? |that is,? )?\d+(?: [a-z]+)?\s?(?:[×·*+]|\\times|\\cdot)\s?\d+(?: [a-z]+)?[)\]])"
)
"""The beginning of a remark after an answer: a reason, a computation, or another apposition."""

_YES_OR_NO = re.compile(r"[*_]{0,3}(?:yes|no|true|false)[*_]{0,3}(?=,\s[a-z])", re.IGNORECASE)
"""The answer in "The answer is no, because..."."""

_ENDING = re.compile(rf"(?:{words('end')})[.。।]?\Z")
"""The verb at the end of a sentence: "答えは11です"."""

# A statement counts if it is the writer's own and is about the answer.

_CLAUSE_END = re.compile(r"[.!?;。।৷؟۔！？]|(?<![:,：，\s])\s*\n|(?<=[\u0e00-\u0e7f\u3040-\u30ff\u4e00-\u9fff])\s")
"""The end of a sentence. In Thai, and sometimes in Chinese and Japanese, it is a space."""

# Arbitrary limit: words that attribute a statement to someone else are in the same sentence, and sentences are shorter.
_LONGEST_SENTENCE = 200
_OWN_PHRASES = re.compile(
    r"\bnot (?:hard|difficult) to (?:see|show|find|verify|check)\b|\b(?:no|without (?:a|any)?) ?doubt\b|\bof course\b|"
    r"\bmost likely\b|\b(?:is|it's) (?:clear|evident|obvious|easy to (?:see|show|find|verify|check))\b|\b(?:i|we)(?:'d|"
    r" do| would| can)? (?:really |firmly )?(?:say|said|think|believe|know)\b|\\[a-z]+|\b(?:por lo|así|de modo|vemos|"
    r"obtenemos|concluimos|significa|conclu[íi]\w+|dit|déduit|conclut) que\b"
)
"""Phrases that claim a statement, although they contain words that could withdraw it. Also LaTeX commands."""

# "Perhaps", "wrong" or "if" in languages with other scripts than English; the English words are below.
_DOUBTED = re.compile(words("doubt"))
# The possible beginning of a clause: a comma, "so", or a value. Each clause is judged by itself.
_JOINT = re.compile(r"[,:，：、—–(（]|\b(?:and|so|therefore|thus|hence)\b|\S*[\d$]\S*", re.IGNORECASE)
# Words that begin the writer's own conclusion: "so the answer is", even after "if x > 0, then x = 5".
_CONCLUDES = re.compile(r"[\W\d]*(?:and |but )?(?:so|but|therefore|thus|hence|which means|meaning)\b|\W*(?:所以|因此)")
_PREMISE = re.compile(
    r"\W*(?:since|because|given|after|by|as (?:we|you|a result|shown|stated|required)|adding|based on|considering|"
    r"(?:if|when|once) (?:we|you|one|each|every|there are)\b(?! (?:think|believe|trust|guess|ask))|"
    r"assuming(?![^=]*[=$]))",
    re.IGNORECASE,
)
"""The beginning of a clause that gives a reason, not a condition under which something else is the answer."""

_GOVERNS = re.compile(
    r"\b(?:nobody|no one|none|neither|says?|said|thinks?|thought|claim(?:s|ed)?|believes?|argues?|reports?|heard|told|"
    r"wrote|writes|answered|repli(?:es|ed)|(?:suggest|predict)\w* (?:that|the|it)|"
    r"according|suppos\w+|assum\w+|imagine|pretend|perhaps|maybe|"
    r"possibly|how (?:i|we|to)|hopes?|lies?|joke|rumou?r\w*|legend|myth|alleged\w*|insists?|swears?|wish\w*|"
    r"marked|somewhere|unproven|unclear|(?:any|every)thing but|either|if|when|unless|whether|doubt\w*|"
    r"den(?:y|ies|ied)|refus\w+|reject\w*|disagree\w*|wrong\w*|"
    r"incorrect\w*|mistak\w+|false\w*|contrary|unlike|(?<!my )(?<!our )opinion|no way|not (?:true|sure|certain|that)|"
    r"someone|elsewhere|others?|another|different)\b|^\W*s[ie]\b|"
    r"(?:n't|cannot|never|hardly) (?:think|believe|know|agree|tell|be|mean|follow)\b|"
    r"^\W*(?:for (?!this|the (?:question|problem|above|given|reason)|our|these)|in case|provided|were|should|"
    rf"as long as)\b|{joining_words('hearsay')}"
)
"""Words in a clause before a comma that report, doubt, or suppose the statement after the comma."""

_ABOUT_ELSE = re.compile(
    rf"\b(?:different|another|other|wrong|previous|next|earlier|first|second|half|part|similar|easier|simpler|harder|"
    r"(?<!this )case|only|colleague|manual|version|naive|alternative|power|units of|all but|analogous|given by|"
    rf"guess\w*|dozens?|hundreds|thousands|millions|base|mod|modulo|times|plus|minus|divided|squared|cubed|doubled|halved|\w*'s|"
    rf"friends?|(?:text)?book|key|students?|teacher|without|excluding|before|(?:to|for|of|in) (?!the\b|this|that|your|"
    rf"our|its|these|my|an?\b|all|any|simpl|lowest|reduced|exact|be\b|decimal|interval|standard|scientific|fraction|terms)|"
    rf"if|when)\b|\s(?:{words('not_final')})(?!\w)|ที่ผิด|答案的",
    re.IGNORECASE,
)
"""Words inside a statement that make it about something else: "the answer to a different question is"."""


_NOT_THE_ANSWER = re.compile(
    rf"(?<![^\W\d_])(?:{PART_WORDS}|неправильн|неверн|(?:{WRONG_WORDS}|mauvaise?|errónea|falsche\w?)(?![^\W\d_]))"
    r"|[错錯誤误]|[间間]違|틀린"
    r"|\b(?:not|never|no|or|half|twice|first|second|third|other|previous|earlier|old|initial|original|naive|popular|"
    r"common|usual|fake|typical|intuitive|tempting|least|worst|opposite|reverse|sample|example|trick|runner-up|alternative|candidate|"
    r"backup)\b(?! (?:glance|all))"
    r"|(?:\b(?:of|times|plus|minus|over|than|de|von|der|del)(?: \w+)?|(?<!\bit)(?<!\bthat)(?<!\bhere)(?<!\blet)'s)"
    r"\W*\Z",
    re.IGNORECASE,
)
"""Words before "answer" that make it something else: "twice the answer", "the student's answer", "the naive answer"."""


def is_claimed(text: str, statement: Statement) -> bool:
    """Return whether a statement is the writer's own and is about the answer, unlike "half the answer is 42"."""
    lead, start = statement
    if _ABOUT_ELSE.search(text, lead, start):
        return False
    head = text[max(0, lead - _LONGEST_SENTENCE) : lead]
    head = head[max(map(head.rfind, ".!?;")) + 1 :]  # much faster than the pattern alone
    sentence = _CLAUSE_END.split(head)[-1]
    if sentence.strip("*_#>【[ \n") in ("", "The"):
        return True
    sentence = _OWN_PHRASES.sub(", ", straight(sentence).lower())
    joint = max((match.start() for match in _JOINT.finditer(sentence)), default=0)
    head, clause = sentence[:joint], sentence[joint:]
    if _GOVERNS.search(clause) or _DOUBTED.search(clause) or _NOT_THE_ANSWER.search(clause):
        return False
    if not head.strip() or _CONCLUDES.match(clause) or _PREMISE.match(head):
        return True
    return not (_GOVERNS.search(head) or _DOUBTED.search(head))


def stated(text: str) -> str | None:
    """Return the answer in the last statement, without a remark after it, or "" if nothing is stated.

    The result is None if the statement is not claimed ("Nobody thinks that the answer is 42"), or if later text
    retracts or replaces the answer.
    """
    for statement in statements(text):
        if not is_claimed(text, statement):
            return None
        answer, end = stated_object(text, statement.start)
        if answer:
            answer = answer.rstrip(_STOPS).removesuffix("|")  # in a table
            unmarked = answer.rstrip(answer[-1:] if answer.endswith(("*", "$")) else "")
            marks = answer[len(unmarked) :]
            if marks and unmarked.count(marks) % 2 == 0:  # **Answer: 5**
                answer = unmarked
            return bare(answer) if stands(text, end, answer) else None
    return ""


def stated_object(text: str, start: int) -> tuple[str, int]:
    """Return the answer that begins at `start`, and its end: the end of its sentence, or the start of a reason."""
    skipped = _SKIP.match(text, start)
    start = skipped.end() if skipped else start
    for opening, closing in _DISPLAYS:
        end = text.find(closing, start + len(opening))
        if text.startswith(opening, start) and end >= 0:
            line_end = _line_end(text, end)
            return text[start + len(opening) : end] + text[end + len(closing) : line_end], line_end
    end = _line_end(text, start)
    formula = _FORMULA.match(text, start, end)
    after = formula.end() if formula else start
    stop = _SENTENCE_END.search(text, after, end)
    reason = _REASON.search(text, after, stop.start() if stop else end)
    end = reason.start() if reason and reason.start() > start else stop.start() if stop else end
    if word := _YES_OR_NO.match(text, start, end):
        end = word.end()
    return _ENDING.sub("", text[start:end].strip()).strip(), end


def _line_end(text: str, start: int) -> int:
    end = text.find("\n", start)
    return len(text) if end < 0 else end


# After a stated answer: words that take it back or replace it. A remark with another value is harmless, because only
# one gold answer is right: only a sentence that is just a value, or that calls a value the answer, replaces the answer.

# A line that ends with a colon or "or" continues on the next one: "Or:\n43" is one piece.
_PIECE_END = re.compile(r"(?<=[.!;。；！？])\s+|(?<=[。！？])|(?<!\bor)(?<!\bor )(?<![:：])(?<![:：]\*\*)\n+|;\s")
COURTESY = re.compile(
    r"(?:i hope|(?:please )?let me know|feel free|hope (?:this|that|it)|is there anything|would you like|thanks?\b|"
    r"have a|do you (?:have|want|need)|if you(?:'d| would)? (?:have|need|like|want))\b",
    re.IGNORECASE,
)
"""The beginning of a sentence that speaks to the user: "Let me know if you have questions"."""

_AROUND_PIECE = "*_`#>.,!;:()[]-–—|\"' \t\n"
_LONGEST_REPLACEMENT = 120
"""The maximum length of a sentence that replaces an answer. At 30, "Explanation:\\nIt could also be 43." is too
long. Larger limits are arbitrary: a longer sentence with a value explains the answer."""
_INSTEAD = re.compile(
    rf"\W*(?:(?:{OR_WORDS}|and|but|so|however|also|in fact|in truth|in reality|actually|really|rather|instead|well|"
    r"then|therefore|thus|hence|edit|update|correct(?:ion|ed)|better|second (?:choice|guess|answer)|backup|plan b|"
    r"more (?:precisely|exactly|accurately)|on second thought|no|nope|hmm+|wait|oops|sorry|er|uh|или|а)\b\W*)*"
    r"(?:(?:(?:the|my)(?: \w+)? (?:answer|result|solution|total|value|number)|the truth"
    r"|the (?:true|real|actual|correct|right|other) \w+|it|this|that|there)"
    r"(?:'s| is| was| are| equals|(?: could| may| might| can| should| must| would| has to| ought to)"
    r"(?: also| well| just| as well)* be)?(?: (?:actually|really|in fact|also))?|i mean|make (?:it|that))?\W*",
    re.IGNORECASE,
)
"""Text that may precede a value that replaces another: "Or", "In fact it's", "Correction:", "The true total is"."""

# An answer "yes" or "no": "yes, actually no"; not the "no" of "no apples", which a noun follows.
_POLARITY = re.compile(r"\b(?:(yes|true)|no|false)\b(?=\W*(?:[.,;:!?)]|\Z))", re.IGNORECASE)
_LESSER = re.compile(
    r"\W*(?:if|unless|when|provided)\b|\W*which (?:(?:is|was) not (?:what|right|correct|the|true)|"
    r"(?:\w+ ){1,3}(?:claims?|says?|thinks?|believes?))\b|"
    r"\W*(?:which (?:is|gives|was)|as an?)\b.*"
    r"\b(?:bound|guess|approximat\w+|estimate|half|twice|double|off|wrong|only|close|less|more)\b|.*\bor\b\W{0,4}\d",
    re.IGNORECASE,
)
"""A clause after which the stated value is not quite the answer."""

# The end of the sentence with the answer.
_NEXT_SENTENCE = re.compile(r"\W*(?:[.!。！]|\n)")
# A digit or a formula. An answer without one is compared word by word.
_VALUE = re.compile(r"\d|\$|\\[(\[]")
# The value at the end, which may have a unit: "it is 43 apples".
_LAST_VALUE = re.compile(r"(?:\$[^$]+\$|\\\(.+\\\)|(?:(?<=\s)|(?<=[^\x00-\x7f])|\A)[!-~]*\d\S*)(?: [^\W\d_]+)?\Z")
# A word has two letters or more; "x" and LaTeX commands are not words.
_WORD = re.compile(r"(?<![\\a-z])[^\W\d_]{2}")
# A title, such as "## Check" and "**Check:**": a value below it belongs to it and replaces no answer.
_TITLE = re.compile(r"\s*(?:#|[*_]{2}.*(?:\*|_|:)\s*\Z)")
# The start of a word: after a space, or after a non-ASCII character, as in scripts without spaces.
_WORD_START = re.compile(r"(?:\A|(?<=\s)|(?<=[^\x00-\x7f]))[^\W\d_]")
_EQUALLY = re.compile(
    r"\W*(?!(?:this|that|it|which)\b)\S+ (?:is|would be) (?:also|equally|just as)(?: \w+)? (?:possible|right|correct|"
    r"acceptable|valid|plausible|good)\Z",
    re.IGNORECASE,
)
"""A sentence about another value: "43 is also right"."""


def stands(text: str, end: int, answer: str) -> bool:
    """Return whether an answer that was stated before `end` is neither retracted nor replaced."""
    rest = text[end:]
    if not rest.strip():
        return True
    if denied_after(text, end, noun=True) or last_retraction(text, end):
        return False
    core = bare(answer).strip("$ ")
    again = re.compile(rf"(?<![\w.]){re.escape(core)}(?!\w|\.\d)", re.IGNORECASE)
    pieces = _PIECE_END.split(rest)
    if not _NEXT_SENTENCE.match(rest):  # the same sentence continues
        polarity = _POLARITY.fullmatch(core)
        if polarity and any(bool(word[1]) != bool(polarity[1]) for word in _POLARITY.finditer(pieces[0])):
            return False  # "yes, actually no"
        if _LESSER.match(pieces[0]):
            return False
    is_replaced = headed = False
    for piece in pieces:
        plain = " ".join(straight(piece).strip(_AROUND_PIECE).split())
        if again.search(plain):
            if any(denied_before(plain, match.start()) for match in again.finditer(plain)):
                return False
            is_replaced = False
        elif len(plain) <= _LONGEST_REPLACEMENT and _replaces(plain, core, headed=headed):
            is_replaced = True
        headed = _TITLE.match(piece) is not None
    return not is_replaced


def _replaces(piece: str, answer: str, *, headed: bool) -> bool:
    """Return whether a sentence consists of a value other than `answer`, or calls another value the answer."""
    if _EQUALLY.match(piece):
        return True
    if _VALUE.search(answer):
        value = _LAST_VALUE.search(piece)
        if value is None:
            return False
        if not piece[: value.start()].strip():
            return not (headed or piece.endswith("%") or _WORD.search(value[0]))
        return _is_lead(piece, value.start())
    starts = [word.start() for word in _WORD_START.finditer(piece) if word.start()][-3:]
    return any(
        _is_lead(piece, start) if piece[start].isupper() else answer[:1].islower() and corrects(piece, start)
        for start in starts
    )


def _is_lead(piece: str, end: int) -> bool:
    start = piece.rfind(": ", 0, end) + 1  # "Check: it is 43"
    start = start if piece[start:end].strip() else 0
    return corrects(piece, end) or _INSTEAD.fullmatch(piece, start, end) is not None


# Marks around an answer.

_STOPS = ",;.\uff0c\uff1b\u3002\u3001 \n\r\t✅✓✔☑\ufe0f"
_POINTERS = " \n\r\t✅✓✔☑➡👉🟢🎯⭐📌💡🔹→⇒∴•\ufe0f"
PAIRS = dict(zip("\"'`*$_\u201c\u2018\u00ab\u300c", "\"'`*$_\u201d\u2019\u00bb\u300d", strict=True))
"""Quotation marks and marks for emphasis, code, and math, each with its closing mark."""

# HTML elements that only format text: "<b>42</b>".
_ELEMENT = re.compile(r"<(b|strong|i|em|u|mark|code|span)\b[^<>]*>([^<>]*)</\1>", re.IGNORECASE)


def bare(text: str) -> str:
    """Return `text` without surrounding marks and final punctuation: ``bare("**red**,")`` is ``"red"``."""
    while True:  # at most once per kind of mark
        pointed = text.lstrip(_POINTERS).removeprefix("=>").lstrip()
        shorter = pointed.rstrip(_STOPS)
        if shorter.endswith("\\") and shorter != text:
            shorter = pointed[: len(shorter) + 1]  # a space of LaTeX
        opening = shorter[:1]
        closing = PAIRS.get(opening)
        if closing and len(shorter) > 1 and shorter.endswith(closing):
            inner = shorter.lstrip(opening).rstrip(closing)
            shorter = shorter if opening in inner or closing in inner else inner.strip()
        elif closing and opening in '"\u201c' and closing not in shorter[1:]:
            shorter = shorter[1:]  # "red." with the sentence ending inside
        elif opening == "<" and (element := _ELEMENT.fullmatch(shorter)):
            shorter = element[2].strip()
        if not shorter or shorter == text:
            return text
        text = shorter


# HTML.

# Attributes must have "=": "a <b and c> d" is a comparison.
_HTML = re.compile(r"<(/?)([A-Za-z]\w{0,20})(?:\s[^<>=\n]{0,30}=[^<>\n]{0,60})?/?>")
_RAISED = {"sup": "^{", "sub": "_{"}
_INLINE = frozenset(("a", "b", "big", "code", "em", "font", "i", "mark", "small", "span", "strong", "u"))


def without_elements(text: str) -> str:
    """Return `text` without HTML tags: ``<b>42</b>`` becomes ``" 42 "``, and a block element begins a new line."""
    return _HTML.sub(_without_element, text) if "</" in text or "/>" in text or "<br" in text else text


def _without_element(tag: re.Match[str]) -> str:
    """Return the replacement for an HTML tag: a space for emphasis, LaTeX for an index, else a separating line."""
    closing, name = tag[1], tag[2].lower()
    if name in _RAISED:
        return "}" if closing else _RAISED[name]
    return " " if name in _INLINE else "\n;\n"
