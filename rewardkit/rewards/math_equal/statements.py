r"""Removal of words that do not change an answer: ``stated(r"f(x) = 1 \text{ for all } x \in \mathbb{Q}")``.

These words are phrases that introduce an answer ("The answers are"), labels ("Minimum: 1"), and a parameter's domain
(``k \in \mathbb{Z}``). Conditions that change an answer ("if x > 0") are kept.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from fractions import Fraction
from math import gcd, lcm, prod
from operator import sub, truediv

from rewardkit.rewards.math_equal.closed_form import (
    Formula,
    attempted,
    formula,
    rational,
    split_by,
    variables,
)
from rewardkit.rewards.math_equal.grammar import is_product
from rewardkit.rewards.math_equal.notation import compact, split_at, words_of_name, wrapped
from rewardkit.rewards.math_equal.plain_numbers import read
from rewardkit.rewards.math_equal.structure import LEAF, LIST, SET, Node, parse

# Compare answers in words: ``\text{(C)}`` equals ``c``, ``the derivative`` equals ``derivative``,
# ``3:30 pm`` equals ``15:30``.


MAX_WORDS = 4
"""The maximum number of words in a gold answer outside ``\\text{}``. The limit is arbitrary: names and short phrases
have up to four words, whereas a sentence can be worded in too many ways."""

MISSING = frozenset(("nan", "nat", "null", "<na>", "n/a"))

_TEXT = re.compile(r"\\text\s*\{([^{}]*)\}")
_COMMAND = re.compile(r"\\[A-Za-z]+")
# "C", "(C)", "C."
_CHOICE = re.compile(r"\(?\s*([A-Za-z])\s*[.)]?\s*\)?")
_OPTIONS = frozenset("ABCDEFGHIJ")
# Three or more letters, because two may be a product, such as "ab".
_LONG_WORD = re.compile(r"(?<![\\A-Za-z{])[A-Za-z]{3,}")
# "the derivative" and "derivative" are the same answer. In "a b", a is a variable.
_ARTICLE = re.compile(r"\A(?:the|an?)\s+(?=[a-z]{2})")
# "red, blue, and green" in words: "and" separates the last item, with or without a comma.
_LISTED = re.compile(r"\s*(?:,\s*and\b|,|\band\b)\s*")
# "101_{2}": a number in another base.
_BASED = re.compile(r"(-?[0-9A-Za-z]+)_\{([0-9]+)\}")
# "3:30 pm", "15:30", "3:30:00"; not "3:75", which is a ratio.
_CLOCK = re.compile(
    r"(?:\\text\s*\{\s*)?([01]?[0-9]|2[0-4]):([0-5][0-9])(?::([0-5][0-9]))?\s*(?:\}|\\text\s*\{)?\s*(?:([ap])\.?\s*m\.?)?\s*\}?",
    re.IGNORECASE,
)
# Notation of logic, geometry and maps, which is compared as written, because neither algebra can represent it.
_NOTATION = re.compile(
    r"\\(?:forall|exists|to|Rightarrow|Leftrightarrow|wedge|vee|neg|equiv|perp|parallel|angle|triangle|sim|cong|subset|"
    r"subseteq|mathbb|circ|sum|prod|int|lim|mapsto|leftrightarrow|vec|begin|frac\{d)(?![A-Za-z])|[A-Za-z]'|[A-Z]{2}|:"
)
_DENIAL = re.compile(
    r"\b(?:not|isn|aren|doesn|never|neither|nor|no|cannot|wrong|incorrect|false|untrue|except|excluding|without|unless|"
    r"too (?:many|few|much|little|big|small|large|high|low)|versus|vs|alternatively|o)\b"
    r"|(?<=[\d})])\s*\\text\s*\{\s*[a-z]+(?:ed|ly|[ai]ble)\s*\}",
    re.IGNORECASE,
)
"""Phrases that retract an answer or name another answer. They include a single word after a number, such as "rejected"
or "allegedly", because it does not name counted things."""

_SAME = (
    ("\\infty", "infinitely many", "infinite"), ("\\emptyset", "no solution", "no solutions", "none"),
    ("does not exist", "dne"),
)  # fmt: skip
_SYNONYMS = {word: group for group in _SAME for word in group} | {"true": ("t", "T"), "false": ("f", "F")}


def spelled(cleaned: str) -> str:
    """Return an answer in words, in normalized spelling. For an option such as ``(C)``, return the letter."""
    text = _TEXT.sub(r"\1", cleaned).strip(' ."`*')
    if choice := _CHOICE.fullmatch(text):
        return choice[1]
    words = " ".join(text.casefold().split())
    return _LISTED.sub(", ", _ARTICLE.sub("", words))


def plain(cleaned: str) -> str:
    """Return a text without ``\\text{}`` and without meaningless spaces: ``300 K`` for ``300\\text{ K}``."""
    return compact(" ".join(_TEXT.sub(r" \1 ", cleaned).split()))


def spellings(cleaned: str) -> tuple[tuple[str, ...], bool]:
    """Return the accepted spellings of an answer in words, and whether the answer can only be words."""
    if (based := _BASED.fullmatch(cleaned)) and _is_in_base(based[1], int(based[2])):
        return (cleaned.casefold(), based[1].casefold()), True
    spelling = spelled(cleaned)
    if spelling.upper() in _OPTIONS and (spelling.isupper() or "(" in cleaned):
        return (spelling.lower(), spelling.upper()), True  # the letter of an option, but a lone c is a variable
    if cleaned in _SYNONYMS and cleaned.startswith("\\"):
        return _SYNONYMS[cleaned], False
    if "\\text" in cleaned and not _TEXT.sub("", cleaned).strip(" .()"):
        return (spelling, *_SYNONYMS.get(spelling, ())), True
    if _CHOICE.fullmatch(cleaned):
        return (spelling,), True
    if is_prose(cleaned):
        return (spelling, *_SYNONYMS.get(spelling, ())), True
    return (), False


def _is_in_base(digits: str, base: int) -> bool:
    """Return whether `digits` are a number in base `base`, such as ``1011_2``; not ``a_1``, which is a name."""
    digits = digits.removeprefix("-")
    # Python's int parses bases up to 36, the number of digits and letters.
    return 1 < base <= 36 and any(map(str.isdigit, digits)) and all(int(digit, 36) < base for digit in digits)


def is_prose(cleaned: str) -> bool:
    """Return whether a text consists of words and is not a formula: ``line segment``, but not ``xyz``."""
    bare = _TEXT.sub(" ", _COMMAND.sub(" ", cleaned.replace("\\text", "\\text ")))
    words = _LONG_WORD.findall(bare)
    # A text with a sign or a digit is a formula.
    return any(not is_product(word) for word in words) and not re.search(r"[=<>^_\\+]|\d", cleaned)


def denials(cleaned: str) -> set[str]:
    """Return the words of denial in a text, in lower case."""
    return {word.lower() for word in _DENIAL.findall(cleaned)}


def as_written_only(cleaned: str) -> bool:
    """Return whether a text has notation that can be compared only as written: ``p \\to q``, ``\\angle ABC``."""
    return _NOTATION.search(cleaned) is not None


def clock(cleaned: str) -> tuple[int, int, int, str] | None:
    """Parse a time of day as hours, minutes, seconds, and "a" (a.m.), "p" (p.m.), or ""; None for other text."""
    match = _CLOCK.fullmatch(cleaned)
    if match is None:
        return None
    hours, meridiem = int(match[1]), (match[4] or "").lower()
    if meridiem and hours > 12:
        return None
    return hours, int(match[2]), int(match[3] or 0), meridiem


def same_clock(gold: tuple[int, int, int, str], answer: tuple[int, int, int, str]) -> bool:
    """Return whether two times are the same. One of them may lack a.m. or p.m."""
    if gold[3] and answer[3]:
        return gold == answer
    if not (gold[3] or answer[3]):
        return gold == answer
    return gold[:3] == answer[:3] or _full(gold) == _full(answer)


def _full(time: tuple[int, int, int, str]) -> tuple[int, int, int]:
    hours = time[0] % 12 + 12 * (time[3] == "p") if time[3] else time[0]
    return hours, time[1], time[2]


# Refuse dangerous input before parsing it: ``refusal("9^{9^{9^{9}}}")`` is "has a tower of powers".


# Arbitrary: each limit is far above what answers need. sympy evaluates while it parses, and 9^{9^{9}} or 10000! would
# take all of a worker's time and memory.
MAX_CHARACTERS = 500
MAX_DEPTH = 12
MAX_DIGITS = 100
MAX_EXPONENT = 1_000
TOO_HIGH = f"has a power of more than {MAX_EXPONENT:,}"
TOWER = "has a tower of powers"
MAX_POWERS_OF_POWERS = 10_000
MAX_FACTORIAL = 100

# One digit more than the limit.
_LONG_NUMBER = re.compile(rf"[0-9]{{{MAX_DIGITS + 1}}}")
# "2^{3}^{4}", "2^{3^4}"; not "2^{n}" or "2^{10}".
_TOWER = re.compile(r"\^\{[^{}]*\}\s*\^|\^\{[^{}A-Za-z]*\^|\^\{[^{}]*\^\{[^{}]*\^|\^\s*[^{\\\s]")
# "2^{2^{3}}" is 2^{8}.
_SMALL_TOWER = re.compile(r"(?<=\^\{)\s*([0-9]{1,4})\s*\^\s*\{\s*([0-9]{1,3})\s*\}\s*(?=\})")
# The innermost exponent.
_EXPONENT = re.compile(r"\^\s*\{([^{}^]*)")
# "(x + 1)^{50}": the exponent of a group, which sympy may expand. Exponents of powers of powers multiply.
_POWER_OF_GROUP = re.compile(r"[)}\]|]\s*\^\s*\{\s*([0-9]{1,4})\s*\}")
_NUMBER = re.compile(r"[0-9]+")
# "5!": a factorial, with the number before it, if there is one.
_FACTORIAL = re.compile(r"([0-9]*)\s*!")
# "n!", "(n - 1)!": such parentheses fit into twelve characters.
_BEFORE_FACTORIAL = re.compile(r"(?:[A-Za-z0-9]|[A-Za-z][^A-Za-z]{0,9}\))\s*$")
# Operators that an answer may leave unevaluated only if the gold answer does.
_UNFINISHED = re.compile(
    r"\\(?:begin\{vmatrix\}|(?:sum|prod|coprod|i*nt|oint|lim|limsup|liminf|[dt]?binom|choose|det|gcd|lcm|max|min|sup|inf"
    r"|p?mod|lfloor|lceil|partial|nabla|approx|sim|cong|propto|div|arg|Re|Im)(?![A-Za-z])"
    r"|text\s*\{\s*(?:gcd|lcm|mod|rank|tr|trace|arg|Re|Im)\s*\})|!"
)

_OF_LETTERS = re.compile(
    r"\\binom\{[^{}]*[A-Za-z][^{}]*\}\{[^{}]*\}|(?:(?<![A-Za-z0-9])[A-Za-z]|\([^()]*[A-Za-z][^()]*\))\s*!"
)
"""Factorials and binomials with letters, such as n!, which cannot be evaluated to a number."""

_COUNTING = ("!", "\\binom")
"""Notations that can be converted to each other: binomials are quotients of factorials."""


def refusal(cleaned: str, gold: str | None = None) -> str | None:
    """Return the reason why cleaned text must not be parsed; None if it may be parsed.

    Args:
        cleaned: the text.
        gold: the gold answer, if `cleaned` is an answer that must be evaluated. The answer may leave the same operators
            unevaluated as `gold`.
    """
    if len(cleaned) > MAX_CHARACTERS:
        return f"is longer than {MAX_CHARACTERS} characters"
    if not (cleaned.isascii() and cleaned.isprintable()):
        return "has characters that are not mathematics"
    if _depth(cleaned) > MAX_DEPTH:
        return f"is nested deeper than {MAX_DEPTH} levels"
    if _LONG_NUMBER.search(cleaned):
        return f"has a number of more than {MAX_DIGITS} digits"
    cleaned = _without_small_towers(cleaned)
    if _TOWER.search(cleaned):
        return TOWER
    exponents = _NUMBER.findall(" ".join(_EXPONENT.findall(cleaned)))
    if any(int(exponent) > MAX_EXPONENT for exponent in exponents):
        return TOO_HIGH
    if prod(max(1, int(power)) for power in _POWER_OF_GROUP.findall(cleaned)) > MAX_POWERS_OF_POWERS:
        return "has powers of powers"
    if any(not _small_factorial(cleaned, match) for match in _FACTORIAL.finditer(cleaned)):
        return f"has a factorial of a number that may be above {MAX_FACTORIAL}"
    if gold is not None:
        for unfinished in _UNFINISHED.findall(_OF_LETTERS.sub("", cleaned)):
            counted = unfinished in _COUNTING and any(sign in gold for sign in _COUNTING)
            if unfinished not in gold and not counted:
                return f"has {unfinished}, which still has to be evaluated"
    return None


def _without_small_towers(text: str) -> str:
    """Evaluate small powers in exponents: ``2^{8}`` for ``2^{2^{3}}``."""
    for _ in range(MAX_DEPTH if "^" in text else 0):
        smaller = _SMALL_TOWER.sub(_evaluated, text)
        if smaller == text:
            break
        text = smaller
    return text


def _evaluated(match: re.Match[str]) -> str:
    base, exponent = int(match[1]), int(match[2])
    small = base < 2 or exponent * base.bit_length() <= MAX_EXPONENT.bit_length() + base.bit_length()
    return str(base**exponent) if small and base**exponent <= MAX_EXPONENT else match[0]


def _depth(text: str) -> int:
    depth = deepest = 0
    for bracket in text:
        if bracket in "([{":
            depth += 1
            deepest = max(deepest, depth)
        elif bracket in ")]}":
            depth = max(0, depth - 1)
    return deepest


def _small_factorial(text: str, match: re.Match[str]) -> bool:
    """Return whether `match` is the factorial of a small number, a variable, or a group such as ``(n - 1)``."""
    if match[1]:
        return int(match[1]) <= MAX_FACTORIAL
    return bool(_BEFORE_FACTORIAL.search(text[max(0, match.start() - 12) : match.start()]))


# Compare families of solutions: ``\frac{\pi}{4} + \frac{k\pi}{2}`` equals
# ``\frac{\pi}{4} + n\pi, \frac{3\pi}{4} + n\pi``.


PARAMETERS = frozenset("klmnpt")
MAX_RESIDUES = 64
"""The maximum number of members in one period. The limit is arbitrary, but all pairs of members are compared."""

# "x", "\theta", "x_{1}": the variable that a family describes.
_VARIABLE = re.compile(r"(?:[A-Za-z]|\\(?:theta|alpha|beta|gamma|varphi|omega|phi))(?:_\{[A-Za-z0-9]+\})?")
# "x \equiv 1, 3 \pmod{8}".
_CONGRUENT = re.compile(
    r"(?:(?P<name>[A-Za-z])\s*)?\\equiv\s*(?P<residues>.+?)\s*[,(]*\s*(?:\\pmod|\\mod|\\text\s*\{\s*mod\s*\})\s*\{?\s*(?P<modulus>[0-9]{1,6})\s*\}?\)*"
)
# "numbers congruent to 1 or 3 modulo 8".
_CONGRUENT_IN_WORDS = re.compile(
    r"(?:\\text\s*\{\s*)?(?P<name>)[A-Za-z ]*congruent to\s*\}?(?P<residues>[-0-9, andor]{1,60})(?:\\text\s*\{\s*)?"
    r"(?:modulo|mod)\s*\}?\s*(?P<modulus>[0-9]{1,6})\s*\}?",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Family:
    """All numbers ``offset + k * period`` for integers k, and the name of their variable ("" if there is none)."""

    offset: Formula
    period: Formula
    name: str = ""


def families(text: str, letters: str, *, is_stated: bool) -> list[Family] | None:
    r"""Parse a list of families; return None if the text is not such a list.

    Args:
        text: the list, in cleaned notation.
        letters: the parameters that the answer declares.
        is_stated: whether the answer states that the parameter is an integer. If not, only two or more multiples of pi
            or degrees are families, because a single one may be a formula, such as ``(n - 2)\pi``, the sum of the
            angles in a polygon.
    """
    congruent = _CONGRUENT.fullmatch(text) or _CONGRUENT_IN_WORDS.fullmatch(text)
    if congruent:
        residues = [formula(part.text) for part in _parts(parse(congruent["residues"])) if part.kind == LEAF]
        period = formula(congruent["modulus"])
        if period is None or not all(residues):
            return None
        return [Family(residue, period, congruent["name"] or "") for residue in residues if residue]
    parsed_families = []
    listed = _parts(parse(text))
    names = {part.parts[0].text for part in listed if part.kind == "="}
    if (not is_stated and len(listed) < 2) or len(names) > 1 or not all(map(_VARIABLE.fullmatch, names)):
        return None  # the parameter of x = 2t, y = 3t is the same in both
    for part in listed:
        value = part.parts[1] if part.kind == "=" else part
        read = formula(value.text) if value.kind == LEAF else None
        family = _family(read, letters, is_stated=is_stated) if read else None
        if family is None:
            return None
        parsed_families.append(replace(family, name=part.parts[0].text if part.kind == "=" else ""))
    return parsed_families


def _parts(node: Node) -> tuple[Node, ...]:
    if node.kind == "=" and node.parts[1].kind == LIST:
        return tuple(Node("=", (node.parts[0], part)) for part in node.parts[1].parts)
    return node.parts if node.kind in (LIST, SET) else (node,)


def _family(value: Formula, letters: str, *, is_stated: bool) -> Family | None:
    parameters = variables(value) - {"°"}
    if len(parameters) != 1 or not parameters <= (set(letters) or PARAMETERS):
        return None
    parts = split_by(value, parameters.pop())
    if parts is None:
        return None
    period, offset = parts
    if not is_stated and not any(letter in ("\\pi", "°") for monomial in period.above for letter, _ in monomial):
        return None
    return Family(offset, period)


def are_least(parsed_families: list[Family]) -> bool:
    """Return whether all offsets are at least 0 and less than the period, so that the parameter may also start at 0."""
    pairs = [(rational(family.offset), rational(family.period)) for family in parsed_families]
    return all(offset is not None and period is not None and 0 <= offset < period for offset, period in pairs)


def same_families(gold: list[Family], answer: list[Family]) -> bool | None:
    """Return whether two lists of families have the same members; None if they have no common period."""
    if gold[0].name and answer[0].name and gold[0].name != answer[0].name:
        return False
    base = gold[0].period
    lengths = [rational(attempted(truediv, family.period, base)) for family in (*gold, *answer)]
    if any(length is None or length == 0 for length in lengths):
        return None
    steps = [abs(length) for length in lengths if length]
    shared = Fraction(lcm(*(step.numerator for step in steps)), gcd(*(step.denominator for step in steps)))
    sizes = [int(shared / step) for step in steps]
    if sum(sizes) > MAX_RESIDUES:
        return None
    members = [
        _members(family, base, step, size) for family, step, size in zip((*gold, *answer), steps, sizes, strict=True)
    ]
    gold_members = [member for row in members[: len(gold)] for member in row]
    answer_members = [member for row in members[len(gold) :] for member in row]
    return all(_meets(residue, answer_members, base, shared) for residue in gold_members) and all(
        _meets(residue, gold_members, base, shared) for residue in answer_members
    )


def _members(family: Family, base: Formula, step: Fraction, size: int) -> list[tuple[Formula, Fraction]]:
    return [(family.offset, step * index) for index in range(size)]


def _meets(
    residue: tuple[Formula, Fraction], residues: list[tuple[Formula, Fraction]], base: Formula, shared: Fraction
) -> bool:
    """Return whether `residue` equals one of the `residues`, modulo the shared period."""
    for other in residues:
        gap = attempted(sub, residue[0], other[0])
        turns = rational(attempted(truediv, gap, base)) if gap else None
        if turns is not None and ((turns + residue[1] - other[1]) / shared).denominator == 1:
            return True
    return False


TAIL = 200
"""The number of characters at the end of a text that are searched for a domain. The number is arbitrary: a domain is a
few words long, and a limit keeps the time linear."""

# "\mathbb{Z}", "Z^{+}", "\mathbb{N}_{0}".
_SET = r"(?:\\mathbb\s*\{?\s*([ZNQR])\s*\}?|([ZNQR])(?![A-Za-z]))\s*((?:[_^]\s*\{[^{}]*\}|\^\s*[+*])*)"
# "k \in \mathbb{Z}", "m, n \in \mathbb{Z}".
_BELONGS = re.compile(rf"(?<![\\A-Za-z])([A-Za-z](?:\s?,\s?[A-Za-z]){{0,4}})\s*\\in\s*{_SET}")
# Words, in \text or not, or "\forall".
_LEADING = r"(?:\\text\s*\{{\s*,?\s*(?:{0})\s*\}}|(?<![A-Za-z])(?:{0})(?![A-Za-z])|\\forall(?![A-Za-z]))"
_WHERE = _LEADING.format("where|with|and|for|for (?:all|any|every|each|some|integers?)")
# ", where k \in \mathbb{Z}" at the end.
_DOMAIN = re.compile(
    rf"(?:[\s,;]{{0,4}}(?:[,;(]|{_WHERE})[\s,(]{{0,4}}|\s(?=[A-Za-z]\s*\\in)){_BELONGS.pattern}\s*\)?\s*\Z"
)
# The kind of integers, which determines the domain.
_KIND = r"(?:positive |nonnegative |non-negative )?integer"
# "for any integer k", "k is an integer".
_INTEGER = re.compile(
    r"[\s,;]{0,4}(?:\(\s*)?(?:\\text\s*\{\s*,?\s*)?(?:where|with|for)?\s*(?:\}\s*)?"
    r"(?:(?:all|any|every|each|some|an)\s+)?"
    rf"(?:(?P<kind>{_KIND}s?)\s*\}}?\s*(?P<letter>[A-Za-z])"
    rf"|\(?\s*(?P<letter_>[A-Za-z])\s*(?:\\text\s*\{{)?\s*is\s+(?:an?|any)\s+(?P<kind_>{_KIND})\s*\}}?)\s*\)?\s*\Z"
)
# "for all real numbers x" adds nothing to a formula in x.
_FOR_ALL = re.compile(
    r"[\s,]{0,4}\\text\s*\{\s*,?\s*for (?:all|any|every|each)(?:\s+(?:positive|real|natural|rational|"
    r"nonnegative|non-negative|nonzero|numbers?|integers?|values?|of))*\s*\}\s*[A-Za-z](?![A-Za-z])"
    rf"(?:\s*\\in\s*{_SET})?(?=\s*(?:,|;|\\text|\Z))"
)
# "The answer is 5" and "Ans: 5"; not the word "answer" alone.
_LEAD = re.compile(
    r"\A(?:\\text\s*\{\s*)?(?:(?:so|thus|hence|therefore),?\s+)?(?:the\s+)?(?:only\s+)?(?:final\s+|correct\s+)?"
    r"(?:answers?|solutions?|roots?|results?|values?)(?:\s+(?:is|are)|\s*:)\s*\}?\s*(?=\S)|\A\\text\s*\{\s*only\s*\}\s*"
    r"|\A(?:A\s?:|Ans\s?[.:])\s*(?=[-+0-9\\(.][^:]*\Z)",
    re.IGNORECASE,
)
# "Area: 5, Perimeter: 6": labels, which become equations.
_LABEL = re.compile(
    r"(?:(?<=[,;])|(?<=\\text\{ and \})|(?<=\band)|\A)\s*(?:\\text\s*\{\s*)?([A-Za-z][A-Za-z]+(?: [A-Za-z]+){0,3})"
    r"\s*:\s*\}?(?=\s*[-+0-9\\(.$])"
)
# "(C) 5" and "5 \text{ (C)}": both the value and the letter must be right.
_OPTION = re.compile(
    r"\A(?:\\text\s*\{\s*\(?([A-J])\s*[.):]?\s*\}|\(?([A-J])\))\s*(?=[-+0-9\\(.])"
    r"|(?<=[0-9}])\s*\\text\s*\{\s*\(([A-J])\)\s*\}\Z|(?<=[0-9}])\s\(([A-J])\)\Z"
)
_POINT = re.compile(r"\A[ABD-EH-VX-Z]'*\s*(?=\([^()]*,[^()]*\)\Z)")
"""The name of a point, as in ``P(1, 2)``. C, F, G, and W are excluded because they may be functions."""

_UNIT_AND = re.compile(r"(\\text\s*\{[^{}]*[a-z][^{}]*?)\s+(and|or)\s*\}(?=\s*[-0-9\\])")
"""A unit and a connective in one ``\\text``, as in ``7 \\text{ goats and } 4 \\text{ cows}``."""

_OTHER = re.compile(
    r"\b(?:not|no|never|wrong|incorrect|false|except|excluding|without|if|when|or|and|half|twice|thrice|double|triple|"
    r"third|quarter|times|squared?|cubed?|root|inverse|reciprocal|negative|minus|plus|opposite|decoy|distractor|trap|"
    r"example|fake|dummy|other|another|instead|guess|log|factorial)\b",
    re.IGNORECASE,
)
"""Words in a name that make it the name of another value, as in "half of x"."""

_ANSWER = frozenset(("answer", "final", "correct", "my", "our", "so", "thus", "hence", "therefore"))
"""The words allowed in a name that contains "answer". Any other word makes it the name of another value."""

_LETTER = re.compile("[A-Za-z]")
_KINDS = {"positive": "Z^+", "nonnegative": "N_0", "non-negative": "N_0"}


@dataclass(frozen=True)
class Stated:
    """An answer without surrounding words.

    Attributes:
        text: the answer.
        domain: the parameters' domain: ``Z`` for ``k \\in \\mathbb{Z}``; "" if no domain is given.
        letters: the parameters' letters, separated by commas.
    """

    text: str
    domain: str = ""
    letters: str = ""


def stated(cleaned: str) -> Stated:
    """Split cleaned text into the answer and its parameters' domain; remove other words around the answer."""
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
    """Return ``2k\\pi, k \\in \\mathbb{Z}`` for ``\\{2k\\pi \\mid k \\in \\mathbb{Z}\\}``, and other text unchanged."""
    brackets, inside = wrapped(_ELEMENT.sub("", text, count=1))
    parts = split_at(inside, _BAR) if brackets == "\\{\\}" else []
    if len(parts) != 2:
        return text
    if _BELONGS.fullmatch(parts[1]):
        return f"{parts[0]}, {parts[1]}"
    defined = _DEFINED.match(parts[1])
    return parts[1] if defined and defined[1] == parts[0] and _DOMAIN.search(parts[1]) else text


# "x \in \{...": the answer is the set.
_ELEMENT = re.compile(r"\A\s*[A-Za-z]\s*\\in\s*(?=\\\{)")
# "such that", as a bar or a colon.
_BAR = re.compile(r"[|:]")
_DEFINED = re.compile(r"([A-Za-z])\s*=")


def _domain(match: re.Match[str]) -> str:
    # The bounds in "Z_{\ge 0}" and "Z^{+}", without braces and inequality signs, as in the table below.
    bounds = re.sub(r"[{}\s]|\\ge|>=?|0(?=\})", "", match[4] or "")
    name = (match[2] or match[3]) + bounds
    return {"Z^+": "Z^+", "Z_0": "N_0", "N^*": "Z^+", "N_+": "Z^+", "N^+": "Z^+", "Z_+": "Z^+"}.get(name, name)


def _named(match: re.Match[str]) -> str:
    return match[0] if _OTHER.search(match[1]) else f" \\text{{{match[1]}}} = "


def option(cleaned: str) -> str:
    r"""Return the letter of an option that is written with its value: ``C`` for ``\text{(C) }5``; "" for none."""
    match = _OPTION.search(cleaned)
    return match[match.lastindex or 0] if match else ""


# "\frac{1}{3} \approx 0.33", "\frac{1}{3}, or about 0.33".
_ABOUT = re.compile(
    r"(?<=\S)\s*[,(]?\s*(?:\\approx|(?:\\text\s*\{\s*)?[,(]?\s*(?:or\s+)?(?:approximately|about|roughly)(?:\s*\})?)"
    r"\s*([-0-9.,]*[0-9])\s*\)?\Z"
)
# "\frac{3}{4} \text{ or } 0.75".
_AGAIN = re.compile(r"(?<=\S)\s*\(?\s*(?:\\text\s*\{\s*\(?\s*or\s*\}|(?<=[ (])or(?= ))\s*([-0-9\\][^()]*?)\s*\)?\Z")


def stated_once(cleaned: str) -> str:
    r"""Keep only one of two notations of the same value: ``\frac{3}{4}`` for ``\frac{3}{4} \text{ or } 0.75``."""
    if "or" in cleaned and (match := _AGAIN.search(cleaned)):
        first, second = read(cleaned[: match.start()]), read(match[1])
        if first and second and first.value == second.value and first.equals(second):
            return cleaned[: match.start()]
    return _ABOUT.sub(r" \\approx \1", cleaned)


def is_other(name: str, other: str) -> bool:
    """Return whether two names in words refer to different values: Area and Perimeter, but not Area and Total area."""
    if _OTHER.findall(name) != _OTHER.findall(other):
        return True
    first, second = (words_of_name(text).split() for text in (name, other))
    if {"answer", "answer's"} & {*first, *second} and not _ANSWER.issuperset({*first, *second}):
        return True  # "ten more than the answer"
    return bool(first and second) and not (set(first) <= set(second) or set(second) <= set(first))


# Each ``\text`` and each command is one token, so that the letters in them are not renamed.
_TOKEN = re.compile(r"\\text\s*\{[^{}]*\}|\\[A-Za-z]+|[A-Za-z]")


def renamed(text: str, letter: str, new: str) -> str:
    """Rename the variable `letter` to `new` in the formulas of `text`."""
    return _TOKEN.sub(lambda match: new if match[0] == letter else match[0], text)


# "x^2 + C": the constant of an antiderivative, written C or K.
_CONSTANT = re.compile(r"\+\s*([CcKk])\s*\Z")


def with_constant_of(gold: str, answer: str) -> str:
    """Rename the constant in an antiderivative to the constant in the gold answer: ``x^2 + K`` becomes ``x^2 + C``."""
    gold_match, answer_match = _CONSTANT.search(gold), _CONSTANT.search(answer)
    if (
        gold_match is None
        or answer_match is None
        or any(match[0] == gold_match[1] for match in _TOKEN.finditer(answer))
    ):
        return answer
    is_free = sum(match[0] == answer_match[1] for match in _TOKEN.finditer(answer)) == 1
    return f"{answer[: answer_match.start(1)]}{gold_match[1]}" if is_free else answer


# "f(n) =": the letter of the argument is arbitrary.
_HEAD = re.compile(r"(?<![\\A-Za-z])([A-Za-z]'*)\s*\(\s*([a-z])\s*\)\s*=")


def with_argument_of(gold: str, answer: str) -> str:
    """Rename a function's argument to the argument in the gold answer: ``f(m) = 2m`` becomes ``f(n) = 2n``."""
    gold_match, answer_match = _HEAD.search(gold), _HEAD.search(answer)
    if (
        gold_match is None
        or answer_match is None
        or gold_match[2] == answer_match[2]
        or gold_match[1] != answer_match[1]
    ):
        return answer
    if any(match[0] == gold_match[2] for match in _TOKEN.finditer(answer)):
        return answer
    return renamed(answer, answer_match[2], gold_match[2])
