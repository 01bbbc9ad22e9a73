r"""What is next to a number and says what it is: a label (Step 3), a part (half of 42), one of several (41 or 42)."""

from __future__ import annotations

import re

from rewardkit.core.text.claims import AND_WORDS, OR_WORDS

CLOSE = 24
"""How many characters before a number are searched for words that say what it is."""

# A label of something else.

_LABELED = (
    "step|equation|eqn?\\.?|figure|fig\\.?|theorem|lemma|problem|question|example|exercise|appendix|footnote|refs?\\.?"
)
LABEL = re.compile(rf"(?:\b(?:{_LABELED}) ?\(?|[A-Za-z]{{2}}-|(?<!#)#)\Z", re.IGNORECASE)
ORDINAL = re.compile(r"(?:st|nd|rd|th)(?![A-Za-z])")
RAISED_ORDINAL = re.compile(r"\^\{?(?:\\text\{)?(?:st|nd|rd|th)\}?\Z")
LINE_START = re.compile(r"(?:^|\n)[ \t]*\Z")
BULLET_END = re.compile(r"[.)][ \t]+\S")

_MONTHS = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}\.?"
_DAY = r"[0-9]{1,2}(?:st|nd|rd|th)?"
DAY_BEFORE = re.compile(rf"(?:{_MONTHS} {_DAY}|\b{_DAY} {_MONTHS}),? \Z")
YEAR_AFTER = re.compile(rf"(?: {_MONTHS})?,? [0-9]{{4}}(?![0-9])")
MONTH_AFTER = re.compile(rf" {_MONTHS}")
MONTH_BEFORE = re.compile(rf"{_MONTHS} \Z")

# A part of something longer.

_OF = (
    "half|third|quarter|fourth|fifth|sixth|eighth|tenth|percent|root|square|cube|log(?:arithm)?|factorial|multiple|factor|"
    "reciprocal|inverse|power|opposite"
)
PART_OF = re.compile(
    rf"(?:\b(?:{_OF}) of |% of |\b(?:less|more|fewer|greater|smaller|larger|bigger|higher|lower) than |\bhalf |\u207b"
    r"|\b(?:twice|double|triple|thrice|times|plus|multiplied by|divided by|root|log|modulo|mod) "
    r"|[\w)}$|] ?(?:[<>]=?|[\u2264\u2265]) ?|\u2264 ?|\\[lL](?:floor|ceil|vert)\s?|[\u230a\u2308\u221b\xb1]"
    r"|\\(?:pm|mp)\s?|[)\]}]-|(?<![A-Za-z])[A-Za-z](?:-| ?\* ?)|[\w)}\]] ?\+ ?"
    r"|(?:(?<![A-Za-z'])[A-Za-z]|[)}\]]) [-\u2013\u2212] "
    r"|(?<!\bis )(?<!\bare )(?<!\bbe )(?<!\bof )(?<!\bto )(?<!\bget )(?<![=:(] )(?<=\w )minus )[*$(\\]{0,3}\Z",
    re.IGNORECASE,
)
NEGATIVE = re.compile(r"\b(?:negative|minus) [*$(\\]{0,3}\Z", re.IGNORECASE)
SILENT = ("", "=", ":", ",", ".", "\n", ";")
"""Characters at the end of a text that matches none of the patterns above."""
LABELS = frozenset((
    "step", "equation", "eq", "eqn", "figure", "fig", "theorem", "lemma", "problem", "question", "example", "exercise",
    "appendix", "footnote", "ref", "refs",
))  # fmt: skip
PARTS = frozenset((
    "of", "than", "half", "twice", "double", "triple", "thrice", "times", "plus", "by", "root", "log", "modulo", "mod",
    "minus",
    "floor", "ceil", "vert", "pm", "mp",
))  # fmt: skip
NEGATIVES = frozenset(("negative", "minus"))
"""The words at the end of these patterns: other words before a number say nothing about it."""

_UNITS = "[mgshlL]|[kcm]m|[km]?g|lb|oz|ft|in|mi|yd|hr|ml|mL|cl|dl|kW|Hz|[KkMGT]B|[ap]m|[AP]M|ms|ha|kJ|kN|pt|qt"
ATTACHED = re.compile(
    rf"(?!(?:{_UNITS})(?![A-Za-z]))[A-Za-z]{{1,2}}(?![A-Za-z])"  # 42x, 42K, but 42m
    r"|(?:\\?[ ,~]|[$*])*(?:\\(?:text|mathrm|mbox)\{ ?)?(?:[KkMB]|bn|mn|mln)(?![\w'.]\w|\w)"
    r"| (?:dozen|score)\b| ?(?:lakhs?|crores?|mil|[Mm]io|[Mm]illi(?:on|ard)\w+|thou|grand|mille|tausend)\b"
    r"| ?(?:per mille|pro ?mille|basis points?|bps)\b| ?\u5343(?![\u514b\u7c73\u74e6])"
    r"| ?[\u767e\u4e07\u842c\u4ebf\u5104\u5146\ub9cc\uc5b5\ucc9c]"
    r"|(?: degrees?| ?\xb0C?)? below zero\b| otherwise\b"
    r"| (?:less|more|fewer)(?: than)? \d|\.[a-z]| (?:doubled|halved|tripled)\b"
    r"| ?[xyzn](?![\w'])| (?:squared|cubed|factorial|modulo|mod|choose|plus|minus|divided by|multiplied by)\b"
    r"| times(?= ?(?:[\d$(\\]|as\b|more\b|less\b|the\b|that\b|pi\b|sqrt|[a-z](?![a-z])))"
    r"| over [A-Za-z](?![A-Za-z])| and (?:a|one|two|three) (?:half|halves|thirds?|quarters?|fourths?|fifths?)\b"
    r"|\\? ?[\u2030\u221e]|\\(?:overline|bar|dot)\b|-[\d(]"
)
_FUNCTION = r"(?:sqrt|root|sin|cos|tan|cot|sec|csc|log|ln|lg|exp|pi|arcsin|arccos|arctan)(?![A-Za-z])"
_COMMAND = (
    r"\\(?!(?:text\w*|math(?:rm|bf|it)|mbox|quad|qquad|times|cdot|div|approx|right|le|ge|leq|geq|to|implies|boxed|"
    r"degree|circ)(?![a-z]))[a-z]+"
)
EXPRESSION = re.compile(
    rf"[)}}]?\s?(?:[-+/×·÷^\u2212]|\*(?!\*)|\\(?:cdot|times|div|pm)(?![a-z]))\s?[({{$]{{0,2}}"
    rf"(?:{_FUNCTION}|(?![aAI]\s)[A-Za-z](?![A-Za-z'’.])|[A-Za-z](?=\.?\s*\$?(?:\n|\Z))|[√π∞θ]|{_COMMAND})"
    rf"|\s?(?:{_FUNCTION}|[√π∞]|{_COMMAND})"
    r"|\s?(?:[<>≤≥]=?|\\[lg]e?q?(?![a-z]))\s?(?:[A-Za-z](?![A-Za-z])|\\[a-z]+|\|)"
)
"""What makes a number before it a part of a longer expression: ``2 + \\pi``, ``1/sqrt(2)``, ``4 pi``, ``12 - x``."""

CALL_BEFORE = re.compile(r"(?:[\w)}\]]\s?(?:[-+/*^\u2212]\s?)?|[-\u2212]\s?\(?)\Z")
"""What is before a fraction or root that is not read by itself: ``3\\frac{1}{2}``, ``5 - \\frac{1}{2}``."""

SIGN_BEFORE = re.compile(r"(?:\A|(?<=[\s=(:$]))[-\u2212]\Z")
INTERVAL_BEFORE = re.compile(
    r"[(\[]\s*(?:[-+\u2212]\s?)?(?:\\?infty|\\?infinity|∞|inf|oo|[A-Za-z]|(?:[0-9.]|\\[a-z]+|"
    r"[{}^+\-*/ ]){1,24})\s*[,;]\s*[-+$\\]{0,2}\Z"
    r"|[(\[]\s?[$\\]{0,2}\Z"
)
INTERVAL_END = re.compile(
    r"\s?(?:,\s*[-+\u2212]?\s?(?:\\?infty|\\?infinity|∞|inf|oo|[A-Za-z])\s*)?(?:\\right)?[)\]](?<=.)"
)
TUPLE_OPEN = re.compile(r"[(\[{,;]\s*[$\\]{0,2}\Z")
TUPLE_END = re.compile(r"[$\\]{0,2}\s*[)\]},;]")

# Between two numbers, if either could be meant.

RANGE = re.compile(
    r"[)*$\s]{0,3}(?:\s?(?:[-\u2013\u2014~\u223c]|\.\.\.?|\u2026)\s?|\s(?:to|through|until|bis)\s)[*$\\(]{0,3}"
)
_CHANGES = (
    "increas|ris|rose|grow|grew|go|goes|went|chang|drop|fell|fall|decreas|climb|mov|reduc|jump|rais|lower|shrank|shrink"
)
CHANGED = re.compile(rf"\b(?:{_CHANGES})\w*\b[^.!?\n]{{0,40}}\bfrom [*$\\(]{{0,3}}\Z", re.IGNORECASE)
OR = re.compile(
    rf"(?P<noun>(?: ?[^\W\d]{{1,20}}){{0,2}})[)*$,.;!\u2013\u2014\s]{{0,4}}\(?(?:{OR_WORDS}|/)[^.!?\n\d]{{0,40}}",
    re.IGNORECASE,
)
JOIN = re.compile(rf"(?:{OR_WORDS}|{AND_WORDS})", re.IGNORECASE)
AND = re.compile(rf"[)*$,\s]{{0,4}}(?:{AND_WORDS}|&)\s?(?:also\s)?[*$\\(]{{0,3}}", re.IGNORECASE)
COMMA = re.compile(r"[)*$]{0,3}\s?[,;\u3001\uff0c]\s?[*$\\(]{0,3}")
SPACE = re.compile(r"[*$_`]{0,4}[ \t\xa0]{1,3}[*$_`]{0,4}")
NEXT_EQUATION = re.compile(
    r"[)*$\s]{0,3}(?:,|;|,?\s?(?P<and>and|or))\s?[$*(\\]{0,3}(?P<name>[A-Za-z](?:_\w{1,3})?)\s?=\s?[$*]{0,2}"
)
EQUATION_BEFORE = re.compile(r"(?<![A-Za-z])(?P<name>[A-Za-z](?:_\w{1,3})?)\s?=\s?[$*]{0,2}\Z")
BARE_LINES = re.compile(
    r"(?:^|\n)\s*(?:(?:[-*\u2022]|\(?\w{1,2}[.)])\s)?[*$]{0,3}[+-]?[\d.,]+[*$]{0,3}\.?\s*\n\s*(?:(?:[-*\u2022]|\(?\w{1,2}[.)])\s)?[*$]{0,3}\Z"
)
BARE_END = re.compile(r"[*$]{0,3}\.?\s*(?:\n|\Z)")
OPERATOR = re.compile(r"[*$)\s]{0,3}[-\u2212+/x×*]?[*$(\s]{0,3}")
EQUALS = re.compile(r"[*$\s]{0,3}(?:=|\u2248)[*$\s]{0,3}")
LISTED = re.compile(
    r"(?:\b(?:is|are|be|either|answers?|between|and|=)|[:=(\[{,;]|^|\n)[*_$\\({\[\s]{0,5}\Z", re.IGNORECASE
)
UNLISTED = re.compile(
    r"\b(?:in|on|by|at|after|before|until|since|during|from|(?<!one )(?<!any )of|the|for|with|to|"
    r"day|week|month|year|hour|minute|age|room|round|"
    r"level) [*$\\(]{0,3}\Z",
    re.IGNORECASE,
)
"""In 2019, 42 came: the first number is no item of a list."""
WORD = re.compile(r"[^\W\d_]+")

# What follows a statement of the answer.

OPENED = re.compile(
    r"\s{0,6}(?:(?:the|just|about|approximately|roughly|around|only|now)(?![A-Za-z]))?:?\s{0,3}"
    r"(?:\\[\[(]\s?|[*_`(\[]{1,3}(?!\s)|\\(?:text|mathbf|mathrm)\{)?",
    re.IGNORECASE,
)
ALONE = re.compile(r"[*_`$)\]}\\]{0,6}(?:\s{0,3}(?:\n|\Z)|[.!](?:\s|\Z)|,?\s(?:because|since|as)\b)")
ASIDE = re.compile(
    r"[*_`$)\]}\\]{0,6}(?:\s[^\W\d]{1,20}){0,2}\s(?:with|after|for|from|in|at|on|over|by|using|when|given)\s(?![^\n]{0,80}(?:[.!?;]\s|\n))",
    re.IGNORECASE,
)
WORDS = re.compile(
    r"[\"'“*_$\\(]{0,4}(?!(?:the|that|what|this|it|as|in|shown|given|found|obtained|calculated|computed|clear|correct|"
    r"right|wrong|below|above|simple|easy|straightforward|obvious|reasonable|"
    r"not(?! (?:enough|possible|defined|applicable|determin|known|given|sufficient|available|a number))|now|"
    r"here|there|hidden|also|just)(?![A-Za-z'’])|"
    r"(?:and|but|so|which|because|since|if|when)(?![A-Za-z]))[^\W\d_]|[\"'“*_$\\(]{0,4}(?:it |this |"
    r"that )?(?:cannot|can't|does not)|"
    r"[零〇一二三四五六七八九十百千万两兩∞]",
    re.IGNORECASE,
)
"""An answer in words. Other words say where the answer is, or something about it."""
CLAIM = re.compile(
    r"=|\b(?:is|are|was|were|gives?|giving|makes?|making|gets?|total|altogether|equals?|but|however|instead)\b",
    re.IGNORECASE,
)
