r"""Normalization of LaTeX notation, and the sides of equations: ``clean(r"$\dfrac12$.")`` is ``\frac{1}{2}``."""

from __future__ import annotations

import re

from rewardkit.rewards.math_equal.characters import FUNCTIONS, LOWERED, RAISED, REPLACED, WIDE
from rewardkit.rewards.math_equal.grammar import LETTERS

# A command, or a character sequence that acts as one.
_COMMAND = re.compile(
    r"\\(?:(?:left|right)\.|[A-Za-z]+|!\s*|.)|\{[,.]\}|[<>!]=|\*\*|\.\.\.|</?su[bp]>|[^\x21-\x7e]|[$~%]", re.DOTALL
)
# Most answers are plain numbers and need no rewriting.
_PLAIN_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?", re.ASCII)
_EATEN = re.compile("[\x07\x08\x0b\x0c](?=[a-z]{2})|\t(?=ext|imes|heta|frac|riangle)|\r(?=ight|angle)")
"""Control characters that JSON or Python decoded from a backslash and a letter, such as a form feed and "rac" from
``\\frac``."""

_UNESCAPED = {"\x07": "\\a", "\x08": "\\b", "\x0b": "\\v", "\x0c": "\\f", "\t": "\\t", "\r": "\\r"}
# "\\frac" in text that was escaped twice. "\\x" does not match: it may be the next row of a matrix, before a variable.
_ESCAPED_TWICE = re.compile(r"\\\\(?=[A-Za-z]{2})")
# "\quadx = 5": LaTeX has no command "\quadx".
_JOINED_TO_A_LETTER = re.compile(r"\\q?quad(?=[A-Za-z])(?!quad)")
# Formulas between dollar signs stay unchanged. Words outside them are text, not products of variables.
_OUTSIDE = re.compile(r"((?<!\\)\$\$?(?:[^$\\]|\\.)*\$\$?)|(?<![\\A-Za-z{])([A-Za-z]{2,}(?: [A-Za-z]{2,})*)")
# "x²" is "x^{2}".
_RAISED = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ]+")
# "x₁" is "x_{1}".
_LOWERED = re.compile("[₀₁₂₃₄₅₆₇₈₉]+")
# "√12" is the root of the whole number 12.
_ROOT = re.compile("√\\s?([0-9]+)")
# "①" is 1. There are such characters for 1 to 20.
_CIRCLED = re.compile("[\u2460-\u2473]+")
_INVISIBLE = re.compile(
    r"\\(?:textcolor|mathcolor|colorbox|color)\s*(?:\[[^\]]*\])?\s*\{[^{}]*\}|\\(?:label|tag\*?)\s*\{[^{}\s]*\}"
)
"""Commands for colors and equation numbers, with their first argument. Commands that hide text are not included."""

# "12{,}000" and "12,\!000": these suppress the space after a comma, as only numbers do. "12,000" may be a list.
_EXPLICIT_THOUSANDS = re.compile(r"(?<![0-9.,}!])[0-9]{1,3}(?:(?:\{,\}(?:\\!)?|,\\!)\s?[0-9]{3})+(?![0-9])")
_ARGUMENT_THOUSANDS = re.compile(r"(?:(?<=\\frac\{)|(?<=\}\{)|(?<=\\sqrt\{))[1-9][0-9]{0,2}(?:,[0-9]{3})+(?=\})")
"""Numbers with commas as arguments of a fraction or root, in which a comma can only separate thousands."""

_REWRITTEN = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"\\\\\s*\[[0-9.]+\s?(?:pt|e[mx]|mm|cm)\]", r"\\\\"),  # the space between rows, as in "\\[5pt]"
        # "\sqrt[]{2}"
        (r"\\sqrt\[\s*\]", r"\\sqrt"),
        # "0{,}5" and "4{,}2 \cdot 10^{3}": decimal commas
        (r"(?<![0-9.,}])(0)\{,\}(?=[0-9])|(?<![0-9.,}])([0-9])\{,\}(?=[0-9]{1,9}\s?\\(?:cdot|times))", r"\1\2."),
        # "3{:}4": the braces suppress space around the colon
        (r"\{:\}", ":"),
        # HTML entities
        (r"&lt;", "<"),
        (r"&gt;", ">"),
        # "1\hspace{1mm}000"
        (r"(?<=[0-9])\\hspace\s?\{[^{}]*\}(?=[0-9])", " "),
        # "90^o": the letter o as a degree sign
        (r"(?<=[0-9])\s?\^\s?\{?\s?(?:\\text\s?\{\s?o\s?\}|o(?![a-z]))\s?\}?", r"^{\\circ}"),
        # "1 oder 2"
        (r"(?<=[\s{0-9])(?:oder|ou|или|或者?)(?=[\s}0-9a-z\\-])", " or "),
        # "1 \text{ und } 2"
        (r"\\text\s?\{\s?(?:y|und|et|и|和)\s?\}", r"\\text{ and }"),
        # a small matrix for use in a line of text
        (r"smallmatrix", "matrix"),
        # "\log_28": in LaTeX, the base is the digit 2, and 8 is the argument
        (r"\\log\s?_\s?([0-9])([0-9]+)(?!\s?[0-9A-Za-z({\\])", r"\\log_{\1}\2"),
        # "\frac{\text{1}}{2}"
        (r"(?<=\{)\\text\s?\{\s?([0-9]+)\s?\}(?=\})", r"\1"),
        # "{3}/{4}"
        (r"((?:\A|[-+=/(,]|\\times|\\cdot)\s?)\{\s?([0-9.]+)\s?\}", r"\1 \2"),
        # "(0, 1) U (2, 3)": the letter U as a union sign
        (r"(?<=\))\s?U\s?(?=\()|(?<=\])\s?U\s?(?=\()|(?<=\))\s?U\s?(?=\[)", r"\\cup "),
        # "]0, 1[": the French notation of an open interval
        (r"\A\s?\]([^][]{1,40},[^][]{1,40})\[\s?\Z", r"(\1)"),
        # "0.333...": three or more equal digits before the dots
        (r"(?<![0-9.,])([0-9]+\.[0-9]{0,9}?)([0-9])\2{2,40}\s?(?:\\[lc]?dots|\.\.\.|…)", r"\1\\overline{\2}"),
        # "\max = 5": a name, not a function
        (r"\A\s?\\(max|min|deg|dim|det|Pr)\s*([A-Za-z]?)\s*=", r"\\text{\1 \2} ="),
        # "2\text{pi}"
        (r"(?<=[0-9])\\(?:text|mathrm)\s?\{\s?pi\s?\}", r"\\pi "),
        # "\equiv 3"
        (r"\A\s?\\equiv", ""),
        # "L: x + y = 1": the name of a line
        (r"\A\s?(?:L|\\ell)\s?:\s?(?=[xy]\b)", ""),
        # "y(x) = 2x" and "y = 2x"
        (r"\Ay\s?\(x\)\s?=", "y ="),
        (
            r"(?i)\A\s?\\text\s?\{\s?all real(?: number)?s?\s?\}\s*[a-z]?\s*\Z|\A\s?\\mathbf\s?\{R\}\s?\Z",
            r"\\mathbb{R}",
        ),
        # "\forall x \in \mathbb{R}"
        (r"\A\s?\\forall\s?x\s?\\in\s?\\(?:mathbb\s?\{?R\}?|R)\s?\Z", r"\\mathbb{R}"),
        # "all real x < 3"
        (r"(?i)\A\s?\\text\s?\{\s?all real(?: numbers?)?\s?\}(?=\s*x\s?(?:[<>]|\\[gl]))", ""),
        # "\text{exactly } 5"
        (r"\\text\s?\{\s?\(?(?:exactly|exact value|interval notation)\)?\s?\}", ""),
    )
)
"""(pattern, replacement) pairs for notations that models write but the grammar does not cover."""

# "x^{{2}}".
_DOUBLE_BRACES = re.compile(r"\{\s*\{([^{}]*)\}\s*\}")
# "{1 \over 2}" and "{4 \choose 2}", as in TeX; not "\overline".
_INFIX = re.compile(r"\\(over|choose)(?![A-Za-z])")
# "\max\{1, 2\}" is "\max(1, 2)".
_OF_A_SET = re.compile(r"\\(max|min|gcd|lcm)\s*\\\{((?:[^\\{}]|\\[A-Za-z]+|\{[^{}]*\})*)\\\}")
# "x_{\text{max}}" is "x_{max}".
_WORD_BELOW = re.compile(
    r"_\s*\{\s*\\(?:text|mathrm|rm|operatorname)\s*\{\s*([A-Za-z0-9 ]+?)\s*\}\s*\}|_\s*\\(?:text|"
    r"mathrm)\s*\{\s*([A-Za-z0-9 ]+?)\s*\}"
)
# "x^{2}_{1}" is "x_{1}^{2}".
_ABOVE_AND_BELOW = re.compile(r"(\^\{[^{}]*\})\s*(_\{[^{}]*\})")
# "\text{cm^{2}}": a power inside the text.
_POWERS_OF_UNITS = re.compile(r"\\text\s*\{[^{}]*(?:\^\{-?[1-9]\}[^{}]*)+\}")
# A bold lowercase letter is a vector: "\mathbf{v}" means "\vec{v}".
_BOLD_LETTER = re.compile(r"\\(?:mathbf|boldsymbol|bm)\s*\{\s*([a-z])\s*\}")
# "\text{sin} x" and "\mathrm{d}x". "min" and "sec" are left out, because they may be units.
_NAMED = re.compile(r"\\text\s*\{\s*(" + "|".join(sorted(FUNCTIONS - {"min", "sec"})) + r"|[eid])\s*\}(?!\s*=)")
# "sin x" without a backslash; "sec", "max" and "min" only if a parenthesis follows.
_PLAIN = re.compile(
    r"(?<![\\A-Za-z])(?:(" + "|".join(sorted(FUNCTIONS - {"min", "max", "sec"})) + r")(?![A-Za-z])|(sec|max|min)(?=\())"
)
# Two consecutive letters, because a single one is a variable, not a word.
_LETTERS = re.compile("[A-Za-z]{2}")
_WORDS = {"pi": "\\pi ", "infinity": "\\infty ", "theta": "\\theta "}
# "2pi" and "pi/2"; not "pizza" or "a pi", which are text.
_PLAIN_WORD = re.compile(
    r"(?:(?<![\\A-Za-z{ ])|(?<=[0-9] ))(pi|theta)(?![A-Za-z])|"
    r"\A\s*([-+]?)(?:\\text\s*\{\s*)?(infinity|pi|theta)\s*\}?\s*\Z"
)
# "x**2"; not "5**cm**", which is bold text.
_PYTHON_POWER = re.compile(r"(?<=[0-9A-Za-z)])\*\*(?=[-0-9A-Za-z({\\])(?![^*]{0,40}\*\*(?![0-9A-Za-z({\\-]))")
# "(2, 3.)": a sentence period before the closing bracket.
_STRAY_PERIOD = re.compile(r"(?<=[0-9A-Za-z)}])\.(?=\s*[\])}])")
# "\mathbb R" is "\mathbb{R}".
_NUMBERS = re.compile(r"\\mathbb\s*([A-Z])(?![A-Za-z])")
# Commands whose arguments may lack braces: "\frac12", "\sqrt3".
_ARGUMENTS = re.compile(r"\\(frac|binom|sqrt|overline)(?![A-Za-z])")
# "x^2" and "x_n" are "x^{2}" and "x_{n}". "x^10" becomes x^{10}, which is what the writer means.
_SUPERSCRIPT = re.compile(r"([\^_])\s*([+-]?[0-9]+|[A-Za-z]|'+(?=\})|\\circ(?![A-Za-z])|\\(?!frac|sqrt|text)[A-Za-z]+)")
# "f^{'}" and "f^'" are "f'".
_PRIMES = re.compile(r"\^\{\s*('+)\s*\}|\^('+)")
# Spaces next to signs; not those in "1 000" and "a b", which may be one number or two words.
_MEANINGLESS_SPACE = re.compile(r"(?<![0-9A-Za-z.]) +| +(?![0-9A-Za-z.])")
# An equality sign, but not the one in "<=", ">=", "!=" or ":=".
_EQUALS = re.compile(r"(?<![<>!:])=")
_GREEK = "alpha|beta|gamma|delta|theta|varphi|psi|rho|lambda|mu|omega|Phi|Psi|Omega|Gamma|Delta"
# A Latin letter, or the command for a Greek letter.
_VARIABLE = rf"(?:[A-Za-z]|\\(?:{_GREEK})(?![A-Za-z]))"
# "(x, y) = (1, 2)": the names of coordinates.
_POINT = re.compile(rf"\(\s*{_VARIABLE}(?:\s*,\s*{_VARIABLE})*\s*\)")
# "x", "a_{1}", "f'(3)": a single name. pi is excluded because it is a number.
_GREEK_NAME = re.compile(rf"(?!\\pi){_VARIABLE}(?:_\{{[^{{}}]*\}})?'*(?:\s?\([^()]*\))?")
# "x + y" contains an operator, so it is not a name.
_OPERATORS = re.compile(r"[-+*/<>,;!]")
# Parts of a name that may contain digits and signs: "a_{1}", "f(3)", "\text{Area}".
_GROUPS = re.compile(r"\\text\s*\{[^{}0-9]*\}|[_^]\{[^{}]*\}|\([^()]*\)|\\[A-Za-z]+")


def clean(text: str) -> str:
    r"""Return `text` in normalized notation, without purely visual commands, in linear time."""
    if _PLAIN_NUMBER.fullmatch(text):
        return text
    text = _EATEN.sub(_unescaped, text)
    if "\\begin" not in text:
        text = _ESCAPED_TWICE.sub(r"\\", text)
    for pattern, replacement in _REWRITTEN:
        text = pattern.sub(replacement, text)
    if "\\" in text or "{,}" in text:
        text = _unstyled(text)
    if "quad" in text:
        text = _JOINED_TO_A_LETTER.sub(" ", text)
    if text.count("$") > 1:
        text = _OUTSIDE.sub(_prose, text)
    if not text.isascii():
        text = _ROOT.sub(r"\\sqrt{\1}", _CIRCLED.sub(_circled, text.translate(WIDE)))
        text = _RAISED.sub(_raised, _LOWERED.sub(_lowered, text))
    if "**" in text:
        text = _PYTHON_POWER.sub("^", text)
    text = _COMMAND.sub(_replacement, text)
    text = " ".join(text.split()).rstrip(" .,;")
    if _LETTERS.search(text):
        text = _PLAIN_WORD.sub(_word, _PLAIN.sub(_function, _NAMED.sub(_named, text)))
    if "." in text:
        text = _STRAY_PERIOD.sub("", text)
    while "{{" in text and (single := _DOUBLE_BRACES.sub(r"{\1}", text)) != text:
        text = single
    if "\\" in text:
        text = _braced(_NUMBERS.sub(r"\\mathbb{\1}", text))
        if "," in text:
            text = _ARGUMENT_THOUSANDS.sub(_without_commas, text)
    if "^" in text or "_" in text:
        text = _PRIMES.sub(r"\1\2", _SUPERSCRIPT.sub(r"\1{\2}", _powers_of_groups(text)))
        text = _ABOVE_AND_BELOW.sub(r"\2\1", text)
        text = _POWERS_OF_UNITS.sub(lambda match: match[0].replace("^{", "^").replace("}", "") + "}", text)
    return text


def _unstyled(text: str) -> str:
    """Return `text` without color commands, and with TeX notation replaced: ``\\frac{1}{2}`` for ``{1 \\over 2}``."""
    text = _INVISIBLE.sub("", text)
    if "," in text:
        text = _EXPLICIT_THOUSANDS.sub(_without_commas, text)
    if "\\times" in text or "\\cdot" in text:
        text = _BOLD_LETTER.sub(r"\\vec{\1}", text)
    if "_" in text:
        text = _WORD_BELOW.sub(lambda match: "_{" + (match[1] or match[2]).replace(" ", "") + "}", text)
    text = _OF_A_SET.sub(r"\\\1(\2)", text)
    for _ in range(text.count("\\over") + text.count("\\choose")):
        infix = _INFIX.search(text)
        if infix is None:
            break
        start, end = _group_around(text, infix.start())
        command = "\\frac" if infix[1] == "over" else "\\binom"
        fraction = f"{command}{{{text[start : infix.start()].strip()}}}{{{text[infix.end() : end].strip()}}}"
        text = text[:start] + fraction + text[end:]
    return text


def _without_commas(match: re.Match[str]) -> str:
    return "".join(filter(str.isdigit, match[0]))


def _group_around(text: str, position: int) -> tuple[int, int]:
    """Return the start and end of the text inside the braces around `position`, or of the whole text without braces."""
    depth, start = 0, position
    while start > 0 and depth >= 0:
        start -= 1
        depth += {"}": 1, "{": -1}.get(text[start], 0)
    start = start + 1 if depth < 0 else 0
    depth, end = 0, position
    while end < len(text) and depth >= 0:
        depth += {"{": 1, "}": -1}.get(text[end], 0)
        end += 1
    return start, end - 1 if depth < 0 else len(text)


def _prose(match: re.Match[str]) -> str:
    """Wrap words between formulas in ``\\text``, and keep formulas: ``$5$ cm`` is five centimeters."""
    return match[1] or f"\\text{{ {match[2]} }}"


def _unescaped(match: re.Match[str]) -> str:
    return _UNESCAPED[match[0]]


def _replacement(match: re.Match[str]) -> str:
    return "" if match[0].startswith("\\!") else REPLACED.get(match[0], match[0])


def _circled(match: re.Match[str]) -> str:
    return ",".join(str(ord(digit) - 0x245F) for digit in match[0])


def _raised(match: re.Match[str]) -> str:
    return f"^{{{match[0].translate(RAISED)}}}"


def _lowered(match: re.Match[str]) -> str:
    return f"_{{{match[0].translate(LOWERED)}}}"


def _named(match: re.Match[str]) -> str:
    return match[1] if len(match[1]) == 1 else f"\\{match[1]} "


def _function(match: re.Match[str]) -> str:
    return f"\\{match[1] or match[2]} "


def _word(match: re.Match[str]) -> str:
    return (match[2] or "") + _WORDS[match[1] or match[3]]


def _braced(text: str) -> str:
    r"""Put the arguments of commands in braces: ``\frac{1}{2}`` for ``\frac12``, ``\sqrt{3}`` for ``\sqrt(3)``."""
    if not _ARGUMENTS.search(text):
        return text
    closing = _closing(text)
    changes: dict[int, str] = {}  # position -> replacement
    for command in _ARGUMENTS.finditer(text):
        position = command.end()
        if command[1] == "sqrt" and text[position : position + 1] == "[":
            position = closing.get(position, position) + 1
        for _ in range(2 if command[1] in ("frac", "binom") else 1):
            start = position
            while start < len(text) and text[start] == " ":
                start += 1
            if text[start : start + 1] == "{" and start in closing:
                for space in range(position, start):
                    changes[space] = ""
                position = closing[start] + 1
                continue
            if command[1] == "sqrt" and text[start : start + 1] == "(" and start in closing:
                changes[start], changes[closing[start]] = "{", "}"
                break
            token = re.compile(r"[0-9A-Za-z]|\\(?!frac|sqrt|binom|text)[A-Za-z]+").match(text, start)
            if token is None:
                break
            for space in range(position, start):
                changes[space] = ""
            changes[start] = "{" + changes.get(start, text[start])
            position = token.end()
            last = position - 1
            changes[last] = changes.get(last, text[last]) + "}"
    return "".join(changes.get(index, character) for index, character in enumerate(text))


def _closing(text: str) -> dict[int, int]:
    """Return a mapping from the position of each opening bracket to the position of its closing bracket."""
    closing, stack = {}, []
    for position, character in enumerate(text):
        if character in "{([" and text[position - 1 : position] != "\\":
            stack.append((character, position))
        elif character in "})]" and stack and text[position - 1 : position] != "\\":
            while character == "}" and len(stack) > 1 and stack[-1][0] != "{":
                stack.pop()  # an unclosed bracket, as in {[0, 1)}
            if stack[-1][0] + character in ("{}", "()", "[]"):
                closing[stack.pop()[1]] = position
    return closing


def _powers_of_groups(text: str) -> str:
    r"""Put exponents in braces: ``10^{-3}`` for ``10^(-3)``, ``x^{\frac{1}{2}}`` for ``x^\frac{1}{2}``."""
    if "^(" not in text and "^\\frac" not in text and "^ \\frac" not in text:
        return text
    closing = _closing(text)
    changes: dict[int, str] = {}
    for match in re.finditer(r"\^\s?(?:(\()|\\frac(?=\{))", text):
        start = match.end()
        if match[1] and start - 1 in closing:
            changes[start - 1], changes[closing[start - 1]] = "{", "}"
        elif not match[1] and (middle := closing.get(start)) and (end := closing.get(middle + 1)):
            changes[match.start()] = "^{"
            changes[end] = "}}"
    return "".join(changes.get(index, character) for index, character in enumerate(text))


def compact(cleaned: str) -> str:
    """Remove meaningless spaces: ``x + 1`` becomes ``x+1``, but ``1 2`` does not become ``12``."""
    return _MEANINGLESS_SPACE.sub("", cleaned)


def sides(cleaned: str) -> list[str]:
    """Split an equation into its sides, with the value last: ``sides("x = 2 + 3 = 5")`` is ``["x", "2 + 3", "5"]``."""
    parts = split_at(cleaned, _EQUALS)
    return parts[::-1] if len(parts) == 2 and is_name(parts[1]) and not is_name(parts[0]) else parts


# Command names consist of letters only.
_COMMANDS = re.compile(r"\\[A-Za-z]+")
_NAMING_TOO = r"""
\text \frac \overline \vec \hat \tilde \dot \overrightarrow \widehat \angle \triangle \square \circ \cdot \times
\partial \mathbb \binom \lim \to \infty \sum \prod \int
"""
_NAMING = LETTERS | {"\\" + name for name in FUNCTIONS} | frozenset(_NAMING_TOO.split())
"""Commands that may occur in a value's name. Relations and logical symbols are excluded."""


def is_about(side: str) -> bool:
    """Return whether a side of an equation only names the value on the other side: ``x``, ``f(3)``, ``AB + BC``."""
    if _POINT.fullmatch(side) or _GREEK_NAME.fullmatch(side):
        return True
    if not _NAMING.issuperset(_COMMANDS.findall(side)) or "<" in side or ">" in side:
        return False
    bare = _GROUPS.sub(" ", side)
    if any(character.isdigit() for character in bare):
        return False
    letters = {character for character in bare if character.isalpha()}
    return bool(letters - {"e", "i"}) or (len(side) == 1 and bool(letters)) or side.startswith("\\text")


# "\sin x" is a value to compute, not a name.
_COMPUTED = re.compile(r"\\(?:frac|binom|" + "|".join(sorted(FUNCTIONS - {"min", "max"})) + r")(?![A-Za-z])")
# "\frac{AB}{CD}" names a ratio.
_OF_SEGMENTS = re.compile(r"\\frac\{[A-Z]{2}\}\{[A-Z]{2}\}")
_PRODUCT = re.compile(r"[a-z] ?[a-z]")
"""A product of variables: two lower-case letters. Two capital letters name a segment instead."""


def is_name(side: str) -> bool:
    r"""Return whether `side` is a single name: ``x``, ``f(3)``, ``a_1``, ``\text{Area}``; not ``x + y`` or ``xy``."""
    return (
        is_about(side)
        and "^" not in side
        and (not _COMPUTED.search(side) or _OF_SEGMENTS.fullmatch(side) is not None)
        and not _PRODUCT.fullmatch(side)
        and not _OPERATORS.search(_GROUPS.sub(" ", side))
    )


def words_of_name(name: str) -> str:
    r"""Return the lower-case words in a name, without articles: "min" for ``\text{The Minimum}``, "" for ``x``."""
    text = " ".join(_TEXT.findall(name)).lower()
    return " ".join(_EMPTY.sub("", text).split())


_TEXT = re.compile(r"\\text\s*\{([^{}]*)\}")
# "The minimum of f" and "min f" name the same value.
_EMPTY = re.compile(r"(?<=min|max)imum\b|\b(?:the|of|is)\b")


_OPENING = frozenset("([{\x01")
_CLOSING = frozenset(")]}\x02")


def split_at(cleaned: str, separator: re.Pattern[str]) -> list[str]:
    """Split text at matches of `separator` outside all brackets and environments."""
    if not separator.search(cleaned):
        return [cleaned]
    depths = []
    depth = 0
    for position, character in enumerate(cleaned):
        if character in "([{" or cleaned.startswith("\\begin", position):
            depth += 1
        elif character in ")]}" or cleaned.startswith("\\end", position):
            depth -= 1
        depths.append(depth)
    parts, start = [], 0
    for match in separator.finditer(cleaned):
        outside = depths[match.start()] - (cleaned[match.start()] in "([{") == 0
        if outside and match.end() > match.start():
            parts.append(cleaned[start : match.start()].strip())
            start = match.end()
    return [*parts, cleaned[start:].strip()]


def wrapped(cleaned: str) -> tuple[str, str]:
    r"""Return the brackets around the whole text and the text inside: ``("[)", "0,1")`` for ``[0,1)``.

    If there are no such brackets, return "" and the text.
    """
    text = cleaned.replace("\\{", "\x01").replace("\\}", "\x02")
    if len(text) < 2 or text[0] not in _OPENING or text[-1] not in _CLOSING:
        return "", cleaned
    if (text[0] == "{") != (text[-1] == "}") or (text[0] == "\x01") != (text[-1] == "\x02"):
        return "", cleaned
    depth = 0
    for position, character in enumerate(text):
        depth += (character in _OPENING) - (character in _CLOSING)
        if depth == 0 and position < len(text) - 1:
            return "", cleaned
    kind = (text[0] + text[-1]).replace("\x01", "\\{").replace("\x02", "\\}")
    size = 2 if text[0] == "\x01" else 1
    return kind, cleaned[size:-size].strip()
