r"""Words around an answer that do not change it: ``stated(r"f(x) = 1 \text{ for all } x \in \mathbb{Q}")``.

Phrases that lead to an answer ("The answers are"), labels ("Minimum: 1"), and where a parameter comes from (``k \in
\mathbb{Z}``) are split off. Conditions that change an answer ("if x > 0") are left where they are.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from rewardkit.rewards.math_equal.notation import split_at, words_of_name, wrapped
from rewardkit.rewards.math_equal.plain_numbers import read

TAIL = 200
"""The most characters in which a domain is looked for at the end of a text."""

_SET = r"(?:\\mathbb\s*\{?\s*([ZNQR])\s*\}?|([ZNQR])(?![A-Za-z]))\s*((?:[_^]\s*\{[^{}]*\}|\^\s*[+*])*)"
_BELONGS = re.compile(rf"(?<![\\A-Za-z])([A-Za-z](?:\s?,\s?[A-Za-z]){{0,4}})\s*\\in\s*{_SET}")
_LEADING = r"(?:\\text\s*\{{\s*,?\s*(?:{0})\s*\}}|(?<![A-Za-z])(?:{0})(?![A-Za-z])|\\forall(?![A-Za-z]))"
_WHERE = _LEADING.format("where|with|and|for|for (?:all|any|every|each|some|integers?)")
_DOMAIN = re.compile(
    rf"(?:[\s,;]{{0,4}}(?:[,;(]|{_WHERE})[\s,(]{{0,4}}|\s(?=[A-Za-z]\s*\\in)){_BELONGS.pattern}\s*\)?\s*\Z"
)
_KIND = r"(?:positive |nonnegative |non-negative )?integer"
_INTEGER = re.compile(
    r"[\s,;]{0,4}(?:\(\s*)?(?:\\text\s*\{\s*,?\s*)?(?:where|with|for)?\s*(?:\}\s*)?"
    r"(?:(?:all|any|every|each|some|an)\s+)?"
    rf"(?:(?P<kind>{_KIND}s?)\s*\}}?\s*(?P<letter>[A-Za-z])"
    rf"|\(?\s*(?P<letter_>[A-Za-z])\s*(?:\\text\s*\{{)?\s*is\s+(?:an?|any)\s+(?P<kind_>{_KIND})\s*\}}?)\s*\)?\s*\Z"
)
_FOR_ALL = re.compile(
    r"[\s,]{0,4}\\text\s*\{\s*,?\s*for (?:all|any|every|each)(?:\s+(?:positive|real|natural|rational|"
    r"nonnegative|non-negative|nonzero|numbers?|integers?|values?|of))*\s*\}\s*[A-Za-z](?![A-Za-z])"
    rf"(?:\s*\\in\s*{_SET})?(?=\s*(?:,|;|\\text|\Z))"
)
_LEAD = re.compile(
    r"\A(?:\\text\s*\{\s*)?(?:(?:so|thus|hence|therefore),?\s+)?(?:the\s+)?(?:only\s+)?(?:final\s+|correct\s+)?"
    r"(?:answers?|solutions?|roots?|results?|values?)(?:\s+(?:is|are)|\s*:)\s*\}?\s*(?=\S)|\A\\text\s*\{\s*only\s*\}\s*"
    r"|\A(?:A\s?:|Ans\s?[.:])\s*(?=[-+0-9\\(.][^:]*\Z)",
    re.IGNORECASE,
)
_LABEL = re.compile(
    r"(?:(?<=[,;])|(?<=\\text\{ and \})|(?<=\band)|\A)\s*(?:\\text\s*\{\s*)?([A-Za-z][A-Za-z]+(?: [A-Za-z]+){0,3})"
    r"\s*:\s*\}?(?=\s*[-+0-9\\(.$])"
)
_OPTION = re.compile(
    r"\A(?:\\text\s*\{\s*\(?([A-J])\s*[.):]?\s*\}|\(?([A-J])\))\s*(?=[-+0-9\\(.])"
    r"|(?<=[0-9}])\s*\\text\s*\{\s*\(([A-J])\)\s*\}\Z|(?<=[0-9}])\s\(([A-J])\)\Z"
)
_POINT = re.compile(r"\A[ABD-EH-VX-Z]'*\s*(?=\([^()]*,[^()]*\)\Z)")
"""The name of a point, ``P(1, 2)``; C, F, G and W may be functions."""

_UNIT_AND = re.compile(r"(\\text\s*\{[^{}]*[a-z][^{}]*?)\s+(and|or)\s*\}(?=\s*[-0-9\\])")
"""The end of ``7 \\text{ goats and } 4 \\text{ cows}``."""

_OTHER = re.compile(
    r"\b(?:not|no|never|wrong|incorrect|false|except|excluding|without|if|when|or|and|half|twice|thrice|double|triple|"
    r"third|quarter|times|squared?|cubed?|root|inverse|reciprocal|negative|minus|plus|opposite|decoy|distractor|trap|"
    r"example|fake|dummy|other|another|instead|guess|log|factorial)\b",
    re.IGNORECASE,
)
"""Words in the name of a value that make it another value: half of x."""

_ANSWER = frozenset(("answer", "final", "correct", "my", "our", "so", "thus", "hence", "therefore"))
"""Words in a name that has "answer" in it; others make it another value."""

_LETTER = re.compile("[A-Za-z]")
_KINDS = {"positive": "Z^+", "nonnegative": "N_0", "non-negative": "N_0"}


@dataclass(frozen=True)
class Stated:
    """An answer without the words around it.

    Attributes:
        text: the answer.
        domain: where its parameter comes from: ``Z`` for ``k \\in \\mathbb{Z}``, or "" if nothing says so.
        letters: the parameters.
    """

    text: str
    domain: str = ""
    letters: str = ""


def stated(cleaned: str) -> Stated:
    """Split a cleaned text into the answer and its domain."""
    if not _LETTER.search(cleaned):
        return Stated(cleaned)
    text = _LEAD.sub("", _OPTION.sub("", cleaned, count=1), count=1) or cleaned
    text = _POINT.sub("", text, count=1)
    if "\\{" in text and "\\in" in text:
        text = _listed_family(text)
    if ":" in text:
        text = _LABEL.sub(_named, text)
    if "\\text" in text:
        text = _UNIT_AND.sub(r"\1}\\text{ \2 }", _FOR_ALL.sub("", text) or text)
    domain = letters = ""
    if "\\in" in text and (match := _DOMAIN.search(text, max(0, len(text) - TAIL))) and match.start():
        text, domain, letters = text[: match.start()], _domain(match), match[1].replace(" ", "")
    elif "integer" in text and (match := _INTEGER.search(text, max(0, len(text) - TAIL))) and match.start():
        kind = (match["kind"] or match["kind_"]).split()[0]
        text, domain, letters = text[: match.start()], _KINDS.get(kind, "Z"), match["letter"] or match["letter_"]
    return Stated(text.strip(" ,;"), domain, letters)


def _listed_family(text: str) -> str:
    """Return ``2k\\pi, k \\in \\mathbb{Z}`` for ``\\{2k\\pi \\mid k \\in \\mathbb{Z}\\}``, and other text as it is."""
    brackets, inside = wrapped(_ELEMENT.sub("", text, count=1))
    parts = split_at(inside, _BAR) if brackets == "\\{\\}" else []
    if len(parts) != 2:
        return text
    if _BELONGS.fullmatch(parts[1]):
        return f"{parts[0]}, {parts[1]}"
    defined = _DEFINED.match(parts[1])
    return parts[1] if defined and defined[1] == parts[0] and _DOMAIN.search(parts[1]) else text


_ELEMENT = re.compile(r"\A\s*[A-Za-z]\s*\\in\s*(?=\\\{)")
_BAR = re.compile(r"[|:]")
_DEFINED = re.compile(r"([A-Za-z])\s*=")


def _domain(match: re.Match[str]) -> str:
    bounds = re.sub(r"[{}\s]|\\ge|>=?|0(?=\})", "", match[4] or "")
    name = (match[2] or match[3]) + bounds
    return {"Z^+": "Z^+", "Z_0": "N_0", "N^*": "Z^+", "N_+": "Z^+", "N^+": "Z^+", "Z_+": "Z^+"}.get(name, name)


def _named(match: re.Match[str]) -> str:
    return match[0] if _OTHER.search(match[1]) else f" \\text{{{match[1]}}} = "


def option(cleaned: str) -> str:
    r"""Return the letter of an option before its value: ``C`` for ``\text{(C) }5``."""
    match = _OPTION.search(cleaned)
    return match[match.lastindex or 0] if match else ""


_ABOUT = re.compile(
    r"(?<=\S)\s*[,(]?\s*(?:\\approx|(?:\\text\s*\{\s*)?[,(]?\s*(?:or\s+)?(?:approximately|about|roughly)(?:\s*\})?)"
    r"\s*([-0-9.,]*[0-9])\s*\)?\Z"
)
_AGAIN = re.compile(r"(?<=\S)\s*\(?\s*(?:\\text\s*\{\s*\(?\s*or\s*\}|(?<=[ (])or(?= ))\s*([-0-9\\][^()]*?)\s*\)?\Z")


def stated_once(cleaned: str) -> str:
    r"""Return a value that is stated in two ways in one: ``\frac{3}{4}`` for ``\frac{3}{4} \text{ or } 0.75``."""
    if "or" in cleaned and (match := _AGAIN.search(cleaned)):
        first, second = read(cleaned[: match.start()]), read(match[1])
        if first and second and first.value == second.value and first.equals(second):
            return cleaned[: match.start()]
    return _ABOUT.sub(r" \\approx \1", cleaned)


def is_other(name: str, other: str) -> bool:
    """Return whether one of two names in words is of another value: Area and Perimeter, but not Area and Total area."""
    if _OTHER.findall(name) != _OTHER.findall(other):
        return True
    first, second = (words_of_name(text).split() for text in (name, other))
    if {"answer", "answer's"} & {*first, *second} and not _ANSWER.issuperset({*first, *second}):
        return True  # ten more than the answer
    return bool(first and second) and not (set(first) <= set(second) or set(second) <= set(first))


_TOKEN = re.compile(r"\\text\s*\{[^{}]*\}|\\[A-Za-z]+|[A-Za-z]")


def renamed(text: str, letter: str, new: str) -> str:
    """Return `text` with another letter for a variable, in formulas only."""
    return _TOKEN.sub(lambda match: new if match[0] == letter else match[0], text)


_CONSTANT = re.compile(r"\+\s*([CcKk])\s*\Z")


def with_constant_of(gold: str, answer: str) -> str:
    """Return an antiderivative with the gold answer's constant: ``x^2 + K`` becomes ``x^2 + C``."""
    one, other = _CONSTANT.search(gold), _CONSTANT.search(answer)
    if one is None or other is None or any(match[0] == one[1] for match in _TOKEN.finditer(answer)):
        return answer
    is_free = sum(match[0] == other[1] for match in _TOKEN.finditer(answer)) == 1
    return f"{answer[: other.start(1)]}{one[1]}" if is_free else answer


_HEAD = re.compile(r"(?<![\\A-Za-z])([A-Za-z]'*)\s*\(\s*([a-z])\s*\)\s*=")


def with_argument_of(gold: str, answer: str) -> str:
    """Return a definition of a function with the gold answer's letter: ``f(m) = 2m`` becomes ``f(n) = 2n``."""
    one, other = _HEAD.search(gold), _HEAD.search(answer)
    if one is None or other is None or one[2] == other[2] or one[1] != other[1]:
        return answer
    if any(match[0] == one[2] for match in _TOKEN.finditer(answer)):
        return answer
    return renamed(answer, other[2], one[2])
