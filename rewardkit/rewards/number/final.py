r"""Find the numeric answer in a text: ``42`` in ``The answer is 42, not 41.``

Marks (a tag, a box, ``####``) have priority. In a text without marks, the last number that the text claims counts. A
claimed number is not denied, doubted, or asked for (``rewardkit.text.claims``), and is not a label (Step 3, #3, a
citation). ``The answer is 42`` takes precedence over a number in a later remark. If it is unclear which number is meant
(``41 or 42``, ``40-42``), or if the number is part of something longer (``42x``, ``half of 42``), the result is that
passage, which is not a number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import NamedTuple

from rewardkit.text.claims import (
    asked,
    corrects,
    denied_after,
    denied_before,
    last_retraction,
)
from rewardkit.text.extractors import TextExtractor
from rewardkit.text.final_answer import (
    Statement,
    bare_answer,
    is_claimed,
    marked,
    own_words,
    stands,
    stands_alone,
    stated_object,
    statements,
    without_elements,
)
from rewardkit.text.numbers import CURRENCY, CURRENCY_CODES, NumberText, plain_digits
from rewardkit.text.phrases import AND_WORDS, IS_WORDS, OR_WORDS, PART_WORDS, words
from rewardkit.text.visibility import replaced, straight

# The words next to a number that describe it: a label (Step 3), a part (half of 42), one of several (41 or 42).


CLOSE = 32
"""The number of characters before a number that are searched for words that describe it. If only 10 characters were
searched, 42 would count as the answer in "It is divisible by 42.", because only "by" would be read."""
SILENT = ("=", ",", ".", "\n", ";", "\u0964", "\u3002", " is", " es", " est", " ist", "\u662f", "\u306f")
"""Endings of the text before a number that rule out any match of the patterns for such words."""

# A label of something else.

# Words before a number that is only a name: "step 3", "figure 2". "confidence: 90" is about the answer.
_LABELED = (
    "step|equation|eqn?\\.?|figure|fig\\.?|theorem|lemma|problem|question|example|exercise|appendix|footnote|refs?\\.?|"
    "confidence(?: level| score)?:?\\**"
)
# "Step 3", "Figure (3" and "#3" are not quantities; "## 3" is a heading with an answer.
LABEL = re.compile(rf"(?:\b(?:{_LABELED}) ?\(?|[A-Za-z]{{2}}-|(?<!#)#)\Z", re.IGNORECASE)
# The ending of an ordinal: "3rd"; not "3 things".
ORDINAL = re.compile(r"(?:st|nd|rd|th)(?![A-Za-z])")
# The raised ending of an ordinal: "3^{\text{rd}}".
RAISED_ORDINAL = re.compile(r"\^\{?(?:\\text\{)?(?:st|nd|rd|th)\}?\Z")
LINE_START = re.compile(r"(?:^|\n)[ \t]*\Z")
# Text after the number of a list item: "3. Add" and "3) Add"; "3." ends a sentence.
BULLET_END = re.compile(r"[.)][ \t]+\S")

# "Mar", "March", "Mar."; "Marbles" is excluded only by the text that must follow.
_MONTHS = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}\.?"
_DAY = r"[0-9]{1,2}(?:st|nd|rd|th)?"
DAY_BEFORE = re.compile(
    rf"(?:(?:{_MONTHS} {_DAY}|\b{_DAY} {_MONTHS}),?|\b(?:end|beginning|start|middle|close|quarter) of(?: fiscal)?) \Z"
)
"""Text before a year: "at the end of 2017"."""
# Text after a day: "15 March 2024", "March 15, 2024".
YEAR_AFTER = re.compile(rf"(?: {_MONTHS})?,? [0-9]{{4}}(?![0-9])")
# A month after a day: "15 March"; "15 Marbles" has no month.
MONTH_AFTER = re.compile(rf" {_MONTHS}")
# A month before a day: "March 15".
MONTH_BEFORE = re.compile(rf"{_MONTHS} \Z")

# A part of something longer that is expressed in words, which final_answer.stands_alone does not detect.

# Values computed from the number: "half of 42", "square root of 42".
_OF = (
    "half|third|quarter|fourth|fifth|sixth|eighth|tenth|percent|root|square|cube|log(?:arithm)?|factorial|multiple|factor|"
    "reciprocal|inverse|power|opposite|double|triple|successor|predecessor"
)
# Text before a number that is only part of an expression: "half of 42", "more than 42", "divisible by 42".
PART_OF = re.compile(
    rf"(?:\b(?:{_OF}) of |% of |\b(?:less|more|fewer|greater|smaller|larger|bigger|higher|lower) than |\u207b"
    r"|\b(?:multiplied|divided|divisible) by |\b(?:end|start|begin)s? (?:in|with) |\bpart of "
    r"|\b(?:exceed|preced|follow|succeed)(?:e?s|ing) "
    rf"|(?<![>=-])[<>\u2264\u2265] ?|(?:{PART_WORDS})\S{{0,4}}(?: [^\W\d]{{1,4}}){{0,2}} ?)[*$(\\]{{0,3}}\Z",
    re.IGNORECASE,
)
# Words in a statement about another number: "twice the answer is", "all but".
PART_WORD = re.compile(
    rf"\b(?:{_OF}|twice|double|triple|negative) (?:of )?(?:the )?answer|\b(?:but|except|than|least|most)\b"
    rf"|{PART_WORDS}",
    re.IGNORECASE,
)
_MINUS = words("minus")
# A minus word that makes a number negative: "is minus 42" is -42; "7 minus 42" is a subtraction.
NEGATIVE = re.compile(
    rf"(?:\A|[\n:=(是为為は은는]|คือ|(?<!\w)(?:are|be|of|to|get|{IS_WORDS}))\s*"
    rf"(?P<minus>{_MINUS})[ :]?[*$(\\]{{0,3}}\Z",
    re.IGNORECASE,
)
# A minus word at any other position: the number must not be read as 42.
MINUS_WORD = re.compile(rf"(?<!\w)(?:{_MINUS})[ :]*[*$(\\]{{0,3}}\Z", re.IGNORECASE)

# "42m" and "42kg" are 42 with a unit; "42K" and "42x" are other numbers.
_UNITS = "[mgshlL]|[kcm]m|[km]?g|lb|oz|ft|in|mi|yd|hr|ml|mL|cl|dl|kW|Hz|[KkMGT]B|[ap]m|[AP]M|ms|ha|kJ|kN|pt|qt"
# Text that changes the number before it: "42K", "42 percent", "42 or more", "42 times three", "42-ish"; not "42 apples"
# or "42 kg".
ATTACHED = re.compile(
    rf"(?!(?:{_UNITS})(?![A-Za-z]))[A-Za-z]{{1,2}}(?![A-Za-z])"  # 42x, 42K, but 42m
    r"|(?:\\?[ ,~]|[$*])*(?:\\(?:text|mathrm|mbox)\{ ?)?(?:[KkMB]|bn|mn|mln)(?![\w'.]\w|\w)"
    rf"|[*$_ )]{{0,3}}(?:(?:(?i:{words('scale')})(?!\w)|{words('scale_mark')}"
    r"|(?:per mille|pro ?mille|basis points?|bps|percent)\b|\\?[\u2030\u221e%]|[十百万萬亿億兆]|千(?![克米瓦])|[的の의]"
    r"|以[上下内內外]|未[満满]|超|左右|より|보다|이[상하]|미만|초과|[xyzn](?![\w'])|\\(?:overline|bar|dot)\b"
    r"|(?:point|dot|comma) \d))|\.[a-z]|-[\d(]|-?ish\b"
    rf"|['’]?[^\W\d]{{0,4}}(?: \S{{1,8}})?? ?(?:{PART_WORDS})"
    r"|[*$_)°C]{0,3}(?: [^\W\d]{1,20}){0,2}?,? \(?(?:unless|otherwise|doubled|halved|tripled|negat\w+|below zero"
    r"|in the red"
    r"|(?:in |to )?base|(?:in )?(?:hex\w*|octal|binary)|to the (?:power|\w+th)|raised|by itself|multiplied|plus"
    r"|minus|squared"
    r"|or (?:so|more|less|fewer|higher|lower|above|below)|and (?:a|one|two|three) (?:hal(?:f|ves)|thirds?"
    r"|quarters?|f\w+ths?)"
    r"|(?:less|more|fewer)(?: than)? (?:that|it|this|\d)|give or take|or thereabouts|in debt|tops|cut in half"
    r"|and (?:then some|up|a bit|one more)|at (?:best|most|least|worst)|times (?:\d|two|three|four|five|six|ten)"
    r"|short(?= of|[.,\n]|\Z)|reversed|backwards|off by)\b"
    r"|[*$_)]{0,3} (?:gross|grosses|myriads?|kilo|mega|giga|ppm|ppb|per thousand|by \d|away from|off|max|maximum"
    r"|minimum|BCE?|upside down|point (?:zero|one|two|three|four|five|six|seven|eight|nine))\b"
    r"|['’]s (?:double|triple|half|square)\b"
)
# Text before an endpoint of an interval: "(-\infty, " and "[2, ".
INTERVAL_BEFORE = re.compile(
    r"[(\[]\s*(?:[-+\u2212]\s?)?(?:\\?infty|\\?infinity|∞|inf|oo|[A-Za-z]|(?:[0-9.]|\\[a-z]+|"
    r"[{}^+\-*/ ]){1,24})\s*[,;]\s*[-+$\\]{0,2}\Z"
    r"|[(\[]\s?[$\\]{0,2}\Z"
)
# Text after an endpoint of an interval: ", \infty)" and "]".
INTERVAL_END = re.compile(
    r"\s?(?:,\s*[-+\u2212]?\s?(?:\\?infty|\\?infinity|∞|inf|oo|[A-Za-z])\s*)?(?:\\right)?[)\]](?<=.)"
)
# Text before a number in a tuple or a set: "(3, 4)" and "{3, 4}" are not numbers.
TUPLE_OPEN = re.compile(r"[(\[{,;]\s*[$\\]{0,2}\Z")
# Text after a number in a tuple or a set: "4)" or "4,".
TUPLE_END = re.compile(r"[$\\]{0,2}\s*[)\]},;]")

# Text between two numbers if either of them could be meant.

# A range or a ratio: in "40-42", "40 to 42" and "3 out of 4", neither number is the answer.
RANGE = re.compile(
    r"[)*$\s]{0,3}(?:\s?(?:[-\u2013\u2014~\u223c|]|\.\.\.?|\u2026|[到至])\s?|\s(?:(?:up )?to|through|thru|until"
    r"|till|over|au|"
    r"(?:out )?of|bis|à|a|hasta|al|до|naar|tot|sampai|hingga|đến)\s)[*$\\(]{0,3}"
)
JOINED = re.compile(
    r"(?:[元円圆块角時时点點分年月天日歳岁斤米尺원시분년減减加乘除到至或か나과와やと]|小时|小時|時間|시간|이나|에서|から|个月|除以|減去|减去)"
)
"""Text between two numbers, in a language without spaces between words: 42か43, 5元5角."""
_CHANGES = (
    "increas|ris|rose|grow|grew|go|goes|went|chang|drop|fell|fall|decreas|climb|mov|reduc|jump|rais|lower|shrank|shrink"
)
# Text before a change: in "rose from 40 to 42", the second number is the result.
CHANGED = re.compile(rf"\b(?:{_CHANGES})\w*\b[^.!?\n]{{0,40}}\bfrom [*$\\(]{{0,3}}\Z", re.IGNORECASE)
# Two alternatives: "41 apples or 42"; a period or more than 40 characters separate two numbers.
OR = re.compile(
    rf"(?P<noun>(?: ?[^\W\d]{{1,20}}){{0,2}})[)*$,.;!\u2013\u2014\s]{{0,4}}\(?(?:{OR_WORDS}|/)[^.!?\n\d]{{0,40}}",
    re.IGNORECASE,
)
# "or" and "and" in any language.
JOIN = re.compile(rf"(?:{OR_WORDS}|{AND_WORDS})", re.IGNORECASE)
# Two numbers joined by "and": "41 and 42"; ", with 42" adds a remark.
AND = re.compile(rf"(?![)*$]*, with)[)*$,\s]{{0,4}}(?:{AND_WORDS}|&)\s?(?:also\s)?[*$\\(]{{0,3}}", re.IGNORECASE)
QUANTITIES = re.compile(
    r"[*$)]{0,3} ?(?P<noun>[^\W\d]{1,12})(?:,? (?:and|&|und|et|y|e|i|og|och|en|и|and also))? [*$]{0,3}"
)
"""Text between two parts of one amount: 5 hours and 30 minutes, 5 ft 6 in."""
LARGER_UNITS = frozenset((
    "dollars", "dollar", "euros", "euro", "pounds", "pound", "rupees", "rupee", "hours", "hour", "hrs", "hr", "h",
    "days", "day", "weeks", "week", "months", "month", "years", "year", "minutes", "minute", "mins", "min", "feet",
    "foot", "ft", "yards", "yard", "miles", "mile", "km", "m", "kilometers", "meters", "metres", "kg", "kilograms",
    "kilos", "lb", "lbs", "stone", "liters", "litres", "gallons", "quarts", "degrees", "cups",
    "stunden", "tage", "jahre", "minuten", "heures", "jours", "ans", "horas", "días", "años", "dólares", "minutos",
    "ore", "giorni", "anni", "kronor", "złotych", "часов", "часа", "час", "рублей", "рубля", "tahun", "jam", "saat",
))  # fmt: skip
# Two numbers joined by a comma: "41, 42", "41; 42", "41、42".
COMMA = re.compile(r"[)*$]{0,3}\s?[,;\u3001\uff0c]\s?[*$\\(]{0,3}")
# Two numbers side by side: "41 42" and "**41** 42".
SPACE = re.compile(r"[*$_`]{0,4}[ \t\xa0]{1,3}[*$_`]{0,4}")
# Text before the second of two equations: in "x = 41, y = 42" and "x = 41 and x = 42", 41 is not the whole answer.
NEXT_EQUATION = re.compile(
    r"[)*$\s]{0,3}(?:,|;|,?\s?(?P<and>and|or))\s?[$*(\\]{0,3}(?P<name>[A-Za-z](?:_\w{1,3})?)\s?=\s?[$*]{0,2}"
)
# "x = " before the first of two equations.
EQUATION_BEFORE = re.compile(r"(?<![A-Za-z])(?P<name>[A-Za-z](?:_\w{1,3})?)\s?=\s?[$*]{0,2}\Z")
# A bullet: "- 41" and "1) 41".
_BULLET = r"(?:(?:[-*\u2022]|\(?\w{1,2}[.)])\s)?"
BARE_LINES = re.compile(
    rf"(?:^|\n)\s*{_BULLET}[*$]{{0,3}}(?:(?P<name>[A-Za-z](?:_\w{{1,3}})?)\s?=\s?)?[*$]{{0,2}}[-+]?[\d.,]+[*$]{{0,3}}\.?\s*"
    rf"\n\s*{_BULLET}[*$]{{0,3}}(?(name)(?P=name)\s?=\s?)[*$]{{0,3}}\Z"
)
"""Two lines that contain only a number or an equation: 41, then 42; or x = 41, then x = 42."""
# The rest of a line that contains nothing else.
BARE_END = re.compile(r"[*$]{0,3}\.?\s*(?:\n|\Z)")
# Text between the numbers of a computation: "6 x 7", "6 boxes * 7".
OPERATOR = re.compile(r"[*$)\s]{0,3}(?:(?:[^\W\d]{2,20}\s)?[-\u2212+/x×*])?[*$(\s]{0,3}")
# Text between a number or a computation and its result: "=", "apples =".
EQUALS = re.compile(r"[*$\s]{0,3}(?:[^\W\d]{2,20}\s)?(?:=|\u2248)[*$\s]{0,3}")
# Text before the first of two numbers that are both stated: "is 41 = 42", "between 41 = 42".
LISTED = re.compile(
    r"(?:\b(?:is|are|be|either|answers?|between|and|=)|[:=(\[{,;]|^|\n)[*_$\\({\[\s]{0,5}\Z", re.IGNORECASE
)
UNLISTED = re.compile(
    r"\b(?:in|on|by|at|after|before|until|since|during|from|(?<!one )(?<!any )of|the|for|with|to|"
    r"day|week|month|year|hour|minute|age|room|round|"
    r"level) [*$\\(]{0,3}\Z",
    re.IGNORECASE,
)
"""Text before a number that is not an item of a list: "In 2019, 42 came"."""
WORD = re.compile(r"[^\W\d_]+")

# Around a stated answer.

# Text that may be between a statement and its number: "about $", "exactly **(".
OPENED = re.compile(
    r"\s{0,6}(?:[\U0001f000-\U0001faff~\u2248]{1,3}\s?)?"
    r"[*_]{0,2}(?:(?:the|a positive|just|about|approximately|roughly|around|exactly|precisely|only|now|season|number"
    rf"|\\?\$|[€£₤₹]|{CURRENCY_CODES}|Rs\.?)(?![A-Za-z]))?:?(?:\s|\\,){{0,3}}"
    r"(?:\\[\[(]\s?|[*_`$(\[{\"'“”„«「『]{1,3}(?!\s)|\\(?:text|mathbf|mathrm)\{)?",
    re.IGNORECASE,
)
INDIRECT = re.compile(
    rf"(?:[=:：\u2248是为為はが]|คือ|\b(?:is|are|was|were|has|have|had|that|equals?|about|total of|sum of|gets?|makes?|"
    rf"costs?|season|year|week|month|day|number|{IS_WORDS.replace('to|', '')})(?!\w))(?: the)*[\s*_`$(\[{{\"'“]*\Z",
    re.IGNORECASE,
)
"""Words that may come immediately before the number in a sentence such as "The answer is that she has 42 apples"."""
# A subject and verb before a stated number: "The answer: Tom collected 42" states 42, but "he doubled 42" does not.
SUBJECT = re.compile(
    r"(?:[A-Z][a-z]+|he|she|they|we|you|I) (?!exceed|follow|preced|doubl|halv|tripl|divid)[a-z]+(?:s|ed) [*$(]{0,3}"
)
COMPUTED = re.compile(
    r"[*$]{0,3}\s[(\[](?!\w{0,3}[\])]|(?:in )?(?:mod|base|times|plus|minus|hundred|thousand|million|billion)|\\)"
    r"[^()\[\]\n\\]*(?:[^\W\d]{2}|[a-z]\.|\d%|\d\s?[-+*/×·÷=]\s?\$?\d)[^()\[\]\n\\]*[)\]]"
)
"""Brackets after a result: 42 (40 + 2), 42 (2 s.f.), 1/4 (25%)."""
# The statement ends with the number, or a reason follows.
ALONE = re.compile(r"[*_`$)\]}\\\"'”]{0,6}(?:\s{0,3}(?:\n|\Z)|[.!。](?:\s|\Z)|,?\s(?:because|since|as)\b)")
# A period before a space, but not that of "bzw." and "vs.", nor that of 3.5.
SENTENCE_END = re.compile(r"(?<!\bbzw)(?<!\bvs)[.!?](?=[*_`\"'”)\]]{0,3}(?:\s|\Z))|[。！？।\n]")
# ", because 6 * 7": numbers in a reason do not replace an answer.
REASON = re.compile(r"\W*(?:because|since|as|given)\b", re.IGNORECASE)
SECOND = re.compile(
    rf"(?:{OR_WORDS}|\b(?:but|rather)\b)\W{{0,4}}\d"
    r"|\s(for|in|if|when|from|on|at|by|under)\b[^.\n]*(?:[,;]|\b(?:and|or|but))\s\W{0,3}\d[\d.]* \1\b",
    re.IGNORECASE,
)
"""A second answer after an aside: 42 (but 43 is possible), 42 for x = 3 and 43 for x = 4."""
# Words of a conclusion: "So it is 43" after a statement replaces it; "It was 43 before" does not.
CONCLUSION = re.compile(
    r"\b(?:so|therefore|thus|hence|finally|final|conclu\w+|overall)\b|\u2234|所以|因此", re.IGNORECASE
)
# A doubt after a number: "42, but it could be 43".
UNDECIDED = re.compile(
    r"\W{0,4}(?:but |though |although )?\b(?:it )?(?:if|unless|could|might|may|maybe|perhaps|possibly)\b", re.IGNORECASE
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
"""An answer in words. The excluded words give the answer's location or describe the answer."""
NUMERAL = re.compile(
    r"[\"'“*_(]{0,4}(?:minus |negative )?"
    r"(?:(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|\w{3,5}ty"
    r"|no|half|none|"
    r"(?:a |one )?(?:hundred|thousand|million|dozen)|nothing|infinit\w+|undefined|unknown"
    r"|impossible)(?![A-Za-z])(?! of\b)"
    r"|[零〇一二三四五六七八九十百千两兩∞])",
    re.IGNORECASE,
)
"""An answer that is a number in words. A number that follows does not replace it."""
# A sentence without one of these gives no result: "See page 42".
CLAIM = re.compile(
    r"=|\b(?:is|are|was|were|gives?|giving|makes?|making|gets?|total|altogether|equals?|but|however|instead)\b",
    re.IGNORECASE,
)
REDONE = re.compile(
    r"\b(?:wait|actually|hmm|oops|sorry,|let me (?:correct|fix|redo)|"
    r"re-?(?:do|comput|calculat|consider|think|(?P<check>check))\w*|(?:i|we) (?:made|forgot|missed)\b"
    r"|instead)",
    re.IGNORECASE,
)
"""Words that may retract a stated answer if another result follows."""
EXPLAINED = re.compile(
    r"\A\s*[*$(\\]{0,4}(?P<value>[-+]?[$€£]?[0-9][0-9.,/]*)[*$)\\.]{0,4}[^\n\d]{0,20}\n\s*[*_#]{0,4}"
    r"(?:explanation|reason(?:ing)?|because|why|solution|justification|check|verification|steps?|proof|details)\b",
    re.IGNORECASE,
)
"""An answer in the first line, with an explanation below it."""
UNANSWERED = re.compile(
    r"(?:\b(?:do|does|did|can|could)(?:n't|not| not) (?:know|find|determine|solve|answer|compute|calculate|tell|say"
    r"|be (?:found|known|determined|solved|answered|computed|calculated))|\bno (?:answer|solution|idea)"
    r"|\b(?:not |un)(?:sure|certain)|\bnot enough information|\bimpossible to \w+|\bun(?:known|determined|solvable))\b"
    r"[^.!?\n]{0,60}[.!?\n]\s*[*$(\\]{0,3}\Z",
    re.IGNORECASE,
)
"""A sentence before a bare number that states that there is no answer: "I don't know. 42"."""

# The text next to the last number of a text without a stated answer.

ADJUNCT = re.compile(
    r"[*_`$)]{0,4}(?: [^\W\d]{1,20}){0,5}?(?:,? (?:in|en|dans|в|for|within|during|over)"
    r"(?: (?:only|just|about|the(?: first| last| next)?|(?:his|her|their|its|all|each)(?: of)?))?"
    r"|,? (?:after|by|from) [a-z]+ing(?: (?:away|up|back|out))?(?: (?:the|his|her|their))?"
    r"|,? to (?!get|reach|make|obtain|find|give|yield|produce|have|total|become|equal)[a-z]+(?: (?:the|his|her|their))?"
    r"|,? (?:out )?of the|,? (?:with|including) the|,? after(?: the)?|,? when"
    r"|,? (?:including|incl\.?|down from|saving|because there are)"
    r"|,? (?:more|fewer|less) than the|,? \((?:his|her|incl\.?|at|when)[^()\d]{0,20}"
    r"|,? (?:(?:attained|achieved|reached) )?(?:at|when) [$]?[a-z]\s?=) ?[$€£(]?\Z"
)
"""Text between a result and another number that only explains it: "$42 in 6 weeks", "42 apples after giving away 8"."""
# "84 days, i.e. 12 weeks" and "42: 6 boxes" restate the result.
RESTATED = re.compile(r"[*_`$)]{0,4}(?: [^\W\d]{1,20}){0,5}?(?: [–—]|:|,? i\.e\.,?|,? (?:which|that) is) [$€£]?")
# Text after a number that is the subject of its sentence: "42 is the number of".
SUBJECT_OF = re.compile(r"[$*]{0,2} is the (?:(?! and | so )[^\d.,;:]){1,60}")
SHARED = re.compile(r"(?: [^\W\d]{1,20})? (?:of|with|and|times|is divided by)(?: [^\W\d][\w']{0,20}){0,4} ")
"""Text between the two numbers in a restated result: "42 apples, i.e. 6 boxes of 7"."""
# "Check: 6 * 7 = 42" below an answer: the numbers in it do not replace the answer.
CHECKED = re.compile(
    r"\n\s*\W{0,3}(?:double[- ]check|check|(?:you can )?verify|verification)\b[^\n]*\s*\Z", re.IGNORECASE
)
# Prepositions before a number that is not a result by itself: "from 42", "with 42".
NO_CLAIM_BEFORE = re.compile(
    r"\b(?:from|of|in|at|after|before|by|with|for|each|every|per|if|when|than|and|or) [*$(]{0,3}\Z", re.IGNORECASE
)


# Cut a text into the pieces that contain digits: ``x_{10} = \sqrt{4} - 5`` has ``\sqrt{4}`` and ``- 5``.


# 1,000 and 1{,}000, 1 000 and 1'000, 3.14, .5, 1e9, 0x2a, 3.14.15: one token, unless it starts inside a word.
_DIGITS = rf"""(?:(?:(?<![A-Za-z0-9])|(?<=\b(?:{CURRENCY_CODES})))(?<![0-9][.,])"""
_DIGITS += r"""(?:0[xXbBoO]\w+|[0-9]{1,3}(?:[\ \xa0\u2009\u202f][0-9]{3})+(?![0-9])|[0-9]+)|(?<![\w.])\.[0-9]+)
    (?:(?:[.,'\u2019_]|\{,\}(?:\\!)?|,\\!|\\[,;:!])[0-9]+)*(?:[eE][+-]?[0-9]+)?"""
# A hyphen after a word or a bracket is not a sign (COVID-19), except in scripts without spaces between words. With a
# space after it, it is a sign only after "=" or "is". A number with another kind of dash cannot be read.
_SIGN = r"""(?:(?:(?<![\w)\]}\-])|(?<=[\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]))
    [+\-\u2212\u2012-\u2015]
    |(?:(?<=[=:({$\u2248])|(?<=[=:({\u2248]\ )|(?<=\bis\ )|(?<=\*\*))[\-\u2212\u2013]\ )"""
# Sub- and superscripts: x^2, a_{10}.
_RAISED = r"(?:\{[^{}]*\}|[+\-\u2212\u2013]?\w+|\\[A-Za-z]+)?"
_SCRIPT = rf"(?:\^|(?<=[\w)\]}}])_(?=[\w{{])){_RAISED}"
# A sub- or superscript after a number makes it a power or a numeral in another base, but 90^\circ stays 90. Fractions
# (3½) and marks over digits also belong to the number.
_POWER = (
    rf"(?:\ ?(?:\^(?!\{{?\\circ)|_(?=[\w{{])){_RAISED}"
    r"|[\u2070\xb9\xb2\xb3\u207b\u2074-\u2079\u2080-\u2089\xbc-\xbe\u2150-\u215e\u0300-\u036f\u20d0-\u20ff]+)"
)
_OPERATOR = r"(?:\ ?(?:[/+\xd7\xf7\xb7\u22c5]|\\(?:times|cdot|div)(?![A-Za-z]))\ ?|\ [*x]\ |\*\*?|:)"
# Other signs of a longer expression: x/2 and √2 before the number; $5!$ (but not "It is 5!"), 2\pi and 3\sqrt{x} after.
_LEFT = r"(?:(?<=[\w)}\]])/|(?<=[\w)}\]]\ )/\ |(?<=[0-9)}\]])[*\xd7\xb7\u22c5]|\\(?:times|cdot|div)\ ?|\u221a\ ?\(?)"
_RIGHT = r"(?:!(?![=\s]|\Z)|\ ?(?:[\xd7\u221a\u03c0]|\\(?:times|cdot|div|pi|sqrt|[dtc]?frac)(?![A-Za-z])))"
_FUNCTION = rf"""(?:(?:{_SIGN}?\$?{_SIGN}?(?:(?<![\w.,])[0-9]{{1,9}}\ ?)?)\\[dtc]?frac(?![A-Za-z])\ ?[0-9]{{0,2}}
    |\\(?:[dt]?binom|sqrt|exp|max|min|gcd|lcm|overline|bar|dot|lfloor|lceil|[pb]?mod
    |arc(?:sin|cos|tan)|sinh|cosh|tanh|cot|sec|csc|lg|det|dim|sum|prod|int)(?![A-Za-z])\ ?[0-9]{{0,2}}
    |\b(?:sqrt|log|ln)(?=\()
    |\\(?:log|ln|sin|cos|tan)(?![A-Za-z])(?:_(?:\w|\{{[^{{}}]*\}}))?\ ?[0-9.]*)"""
# The argument of a function: exp(42), print(42), f(2); 2(21) is a product. [1] after a word is a citation.
_CALL = r"(?<=[A-Za-z0-9)])\([\ (]*[^()\n]{0,80}\)"
_CITATION = r"""(?:(?<=\])\([^()\s]*\)|(?:(?<=[\w.,;)\]%"'*])|(?<=[\w.,;)\]%"'*]\ ))
    \[\^?[0-9]{1,3}(?:\ ?[,;\u2013-]\ ?[0-9]{1,3})*\](?!\())"""
# Digits of other scripts, and numbers in circles: ٤٢, ①.
_OTHER_DIGITS = r"(?:(?![0-9])[\d\u2460-\u249b\u2776-\u2793])+"
# "½" by itself; after a digit, it belongs to the number.
_LONE_FRACTION = r"[\xbc-\xbe\u2150-\u215e](?![\w/])"
# -$5, -**5**: a currency sign or emphasis between the sign and the number.
_OPENING = rf"(?:\\?{CURRENCY.replace(' ', '[ ]')}|\*\*|\\\()"
# Closing marks that may come before the percent sign or the unit: **45**%, $45\%$, 5\text{ km}.
_CLOSING = r"(?:\*\*?|\$\$?|\\\)|`)?(?:[\ \t\xa0~]|\\[,;:!\ ]){0,3}(?:\\(?:text|textbf|mathrm|mbox)\{\ ?)?"
# "42 million" is read as one number.
_SCALED = r"(?:hundred|thousand|million|billion|trillion)(?![A-Za-z])"
# The first characters of all patterns above, so that the text between pieces is skipped fast.
_FIRST = "0123456789.\\\\^_+\\-\u2212\u2013/*\xd7\xb7\u22c5\u221a$\u20ac\xa3\xa5(\\["
# The arguments of a function, in brackets or braces: "\sqrt[3]{4}".
_ARGUMENT = re.compile(r"[0-9]?(?:\[[^\[\]{}]*\]|\([^()]*\))?\ ?(?=\{)|[0-9]?(?:\([^()]*\))?")
# Escaped braces, "\{", open nothing.
_BRACE = re.compile(r"\\.|[{}]")
_HAS_DIGIT = re.compile(r"\d")
_PARTS = ("left", "sign", "before", "number", "right", "percent", "unit", "scaled")
_GROUPS = len(_PARTS) + 3
# Arbitrary limit: names of functions are shorter than 20 characters.
_NAME = re.compile(r"[A-Za-z0-9_.]{0,20}\Z")


class Piece(NamedTuple):
    """A piece of text at ``text[start:end]``. `found` is the text that ``NumberText`` reads.

    `kind` is "number" for a number with its sign and unit, "call" for ``exp(42)`` and ``\\sqrt{2}``, or "citation".
    """

    start: int
    end: int
    found: str
    kind: str


# One pattern for each list of units in a project: a few dozen at most.
@lru_cache(64)
def pattern_of(units: tuple[str, ...], plain: bool) -> re.Pattern[str]:
    """Return the pattern for pieces with `units`. If `plain`, it is for ASCII text, which has fewer kinds of pieces."""
    unit_suffixes = [re.escape(unit) + (r"(?![\w^]|\}\^)" if unit[-1].isalpha() else "") for unit in units]
    before = [(r"(?<!\w)" if unit[0].isalpha() else "") + re.escape(unit) for unit in units]
    first = _FIRST + re.escape("".join(sorted({unit[0] for unit in units})))
    other = "" if plain else rf"|(?P<other>{_SIGN}?(?:{_OTHER_DIGITS}|{_LONE_FRACTION}))"
    more = "" if plain else r"|(?![0-9])\d|[\u2460-\u249b\u2776-\u2793\xbc-\xbe\u2150-\u215e]"
    return re.compile(
        rf"""(?=[{first}]|sqrt|log|ln{more})(?:
        (?P<function>{_FUNCTION})|(?P<call>{_CALL})|(?P<citation>{_CITATION}){other}|{_SCRIPT}
        |(?P<left>{_LEFT})?(?P<sign>{_SIGN})?(?:\\?(?P<before>{"|".join(before) or "(?!)"})\ ?|{_OPENING}\ ?)?
        (?P<number>{_SIGN}\({_DIGITS}(?:\ ?/\ ?[0-9]+)?\)
        |{_SIGN}?(?<![\w.,])[0-9]{{1,9}}\ [0-9]{{1,4}}\ ?/\ ?[0-9]{{1,4}}(?![\w/^])
        |{_SIGN}?{_DIGITS}{_POWER}?(?:{_OPERATOR}[+-]?\\?\$?{_DIGITS}{_POWER}?)*)
        (?P<right>{_RIGHT})?(?:{_CLOSING}(?:(?P<percent>\\?%|(?:per\ ?cent|pct)(?![a-z]))
        |(?P<unit>{"|".join(unit_suffixes) or "(?!)"})
        |(?P<scaled>{_SCALED}(?:\ (?:{"|".join(unit_suffixes) or "(?!)"}))?)))?)""",
        re.VERBOSE,
    )


def pieces_in(text: str, start: int, end: int, pattern: re.Pattern[str]) -> list[Piece]:
    """Return the pieces in the line ``text[start:end]``, from left to right."""
    pieces = []
    while match := pattern.search(text, start, end):
        # A function without a digit is skipped with its arguments, so that these are searched only once.
        stop = _end_of_arguments(text, match.end(), end) if match["function"] else match.end()
        if piece := _piece(text, match, stop):
            pieces.append(piece)
        # A root or π after a number belongs to it, but is also read by itself.
        start = max(match.start("right") if match["right"] else stop, match.start() + 1)
    return pieces


def _piece(text: str, match: re.Match[str], stop: int) -> Piece | None:
    start = match.start()
    if match["function"]:
        call = text[start:stop]
        return Piece(start, stop, call, "call") if _HAS_DIGIT.search(call) else None
    if match["call"]:
        if not _HAS_DIGIT.search(match[0]):
            return None
        name = _NAME.search(text, max(0, start - 20), start)
        start = name.start() if name else start
        return Piece(start, stop, text[start:stop], "call")
    if match["citation"]:
        return Piece(start, stop, match[0], "citation")
    if match.re.groups > _GROUPS and match["other"]:
        return Piece(start, stop, match[0], "number")
    left, sign, before, number, right, percent, unit, scaled = match.group(*_PARTS)
    if not number:
        return None
    # A $ before the number is not a currency if another $ closes the formula, or if a unit follows.
    if unit or (before == "$" == text[stop : stop + 1]):
        before = ""
    tail = "%" if percent else f" {unit or scaled}" if unit or scaled else ""
    return Piece(start, stop, f"{left or ''}{sign or ''}{before or ''}{number}{right or ''}{tail}", "number")


def _end_of_arguments(text: str, position: int, end: int) -> int:
    """Return the end of the arguments {...}{...} at `position`; if they are not closed, `end`, the end of the line."""
    while argument := _ARGUMENT.match(text, position, end):
        position = argument.end()
        if text[position : position + 1] != "{" or position >= end:
            break
        depth = 0
        for brace in _BRACE.finditer(text, position, end):
            depth += {"{": 1, "}": -1}.get(brace[0], 0)
            if depth == 0:
                position = brace.end()
                break
        else:
            return end
    return position


_MOST_SKIPPED = 300
"""The maximum number of denied, doubted, or cited numbers to skip at the end of a text. A text with more of them has no
answer. The limit is arbitrary, but it keeps the time linear."""

_CURRENCIES = frozenset("$\u20ac\xa3\xa5")
_SHORT = 64
"""The minimum length at which a text cannot be a single number with a unit."""

_LARGEST_FACTORIAL = 20
"""The largest number whose factorial a text may mean, as in 10!. Larger factorials do not fit into 64 bits, so the "!"
in "It is 42!" is treated as an exclamation mark."""

_NEAR = 64
"""The number of characters read next to a number. The number is arbitrary: neither 16 nor 600 changes a test result."""
_STOPS = (".", "!", "?")
_FAR = 400
"""The number of characters read in a sentence. The number is arbitrary: sentences are shorter, and neither 60 nor 4,000
changes a test result."""


# "x \approx 5", "\implies 5" and "→ 5" give a result as "=" does.
_RELATION = re.compile(
    r"\\(?:approx|to|rightarrow|Rightarrow|implies|sim|simeq|equiv|in|q?quad)(?![A-Za-z])\ ?|\u2192\ ?"
)
# "\neq 5" denies 5.
_UNEQUAL = re.compile(r"\\(?:neq?|not\s?=)(?![A-Za-z])\ ?")
_PLAIN = dict.fromkeys("\u2010\u2011\u2012\ufe63", "-") | dict(
    zip("\uff1d\uff1a\uff0f\uff08\uff09", "=:/()", strict=True)
)
# "US$5" is read as "$5"; the S of "CMS$5" belongs to a word.
_DOLLARS = re.compile(r"(?<![\w$])(?:US|NZ|HK|[ACS])\$(?=[0-9])")
# Digits in an address are not numbers.
_ADDRESS = re.compile(r"\bhttps?://\S+")
# "___": a blank to be filled in, as in a form.
_BLANK = re.compile(r"(?<![\w_])_{3,}(?![\w_])")
_AFTER_SENTENCE = re.compile(r"(?<=[.!?\n])")
# "_42_" and "__42__" are emphasis; "x_1" has an index.
_UNDERLINED = re.compile(r"(?<!\w)__?([^_\n]{1,200})__?(?!\w)")
_ALIGNED = re.compile(
    r"\\(?:begin|end)\{(?:align|aligned|alignat|equation|gather|gathered|split|multline|center)\*?\}|&(?=\s?[=\u2248])"
)
"""LaTeX marks around the lines in a computation. Other environments (matrices, cases) contain several numbers."""
_GOES_ON = re.compile(
    r"\n(?:(?<=[,\u3001\uff0c\u6216\u548c]\n)|(?<=\b(?:or|by|of|ou|et)\n)|(?<=\b(?:and|und)\n)|(?<=\b(?:oder|than|plus)\n)"
    rf"|(?<=\b[oy]\n)|(?<=\b(?:minus|times)\n)|(?<=\bnegative\n))\s{{0,8}}|\n\s{{0,8}}(?=(?:{OR_WORDS})\s)",
    re.IGNORECASE,
)
"""A line break inside a sentence: after "or" or a comma, or before "or"."""
# A digit of any kind, including numbers in circles and fractions in one character: ①, ½.
_DIGIT = re.compile(r"[\d\u2460-\u249b\u2776-\u2793\xbc-\xbe\u2150-\u215e]")
# Most texts have only ASCII digits, and searching for those is faster.
_ASCII_DIGIT = re.compile(r"[0-9]")


@dataclass(frozen=True)
class FinalNumber(TextExtractor):
    """An extractor for the marked answer (tag, box, ``####``), else the last number that the visible text claims."""

    text: NumberText

    def find(self, answer: str) -> str | None:
        answer = own_words(answer)
        mark = marked(answer)
        if mark is None:
            return answer if len(answer) < _SHORT and self._reads(answer) else self._last(answer)
        number = bare_answer(mark)
        if number is None:
            return None
        if mark.mark != "hashes" or self._reads(number):
            return number
        # A "####" line without a number is a heading if a number follows later.
        _, _, later = answer[answer.rfind("####") :].partition("\n")
        return self._last(later) or number

    def _reads(self, text: str) -> bool:
        return not isinstance(self.text.read(text), str)

    def _last(self, text: str) -> str | None:
        plain = _prepared(text)
        pattern = pattern_of(tuple(unit for unit, _ in self.text.units), plain.isascii())
        return _Text(plain, pattern, self.text).answer()

    def __repr__(self) -> str:
        return "final_number()"


def _prepared(text: str) -> str:
    """Return `text` as a reader sees it: plain digits and hyphens, without tags and struck-out or invisible text."""
    text = without_elements(text)
    if "_" in text:
        text = _UNDERLINED.sub(r"\1", text)
        if _BLANK.search(text):  # a sentence with a blank to be filled in is the question
            text = "".join(sentence for sentence in _AFTER_SENTENCE.split(text) if not _BLANK.search(sentence))
    if not text.isascii():
        text = replaced(straight(plain_digits(text)), _PLAIN)
    if "://" in text:
        text = _ADDRESS.sub(" ", text)
    if "$" in text:
        text = _DOLLARS.sub("$", text)
    if (checked := CHECKED.search(text, max(0, len(text) - _FAR))) and _DIGIT.search(text, 0, checked.start()):
        text = text[: checked.start()]
    if "\\" in text or "\u2192" in text:
        text = _ALIGNED.sub("", _UNEQUAL.sub("\u2260 ", _RELATION.sub("=", text)))
    return _GOES_ON.sub(" ", text)


@dataclass(frozen=True)
class _Text:
    """A prepared text, the pattern for its pieces, and the reader for numbers."""

    text: str
    pattern: re.Pattern[str]
    reader: NumberText

    def answer(self) -> str | None:
        skipped: str | None = None
        denied: set[str] = set()
        for count, line in enumerate(self._from_the_end()):
            piece = line[-1]
            if count > _MOST_SKIPPED:
                return skipped
            if self._is_denied(line):
                denied.add(_value(piece.found))
            elif not self._is_label(piece):
                return self._settled(line, denied)
            skipped = skipped or self._around(piece)
        return skipped

    def _from_the_end(self) -> Iterator[list[Piece]]:
        """Yield, for each piece from the last to the first, the pieces of its line up to and including that piece."""
        end = len(self.text)
        digit = _ASCII_DIGIT if self.text.isascii() else _DIGIT
        while end >= 0:
            start = self.text.rfind("\n", 0, end) + 1
            if digit.search(self.text, start, end):
                line = pieces_in(self.text, start, end, self.pattern)
                while line:
                    yield line
                    line.pop()
            end = start - 1

    def _is_denied(self, line: list[Piece]) -> bool:
        text, piece = self.text, line[-1]
        if (
            piece.start in self._unclaimed
            or denied_before(text, piece.start)
            or denied_after(text, piece.end, noun=True)
            or asked(text, piece.end)
        ):
            return True
        if len(line) < 2:
            return False
        before = line[-2]  # "not 41 or 42"
        return self._alternatives(before, piece) and denied_before(text, before.start)

    def _is_label(self, piece: Piece) -> bool:
        """Return whether `piece` is a label, not a quantity: a citation, "Step 3", "3rd", or a list item's number."""
        text, start, end = self.text, piece.start, piece.end
        if piece.kind != "number":
            return piece.kind == "citation"
        if ORDINAL.match(text, end) or self._before(LABEL, piece):
            return True
        if ("^" in piece.found and RAISED_ORDINAL.search(piece.found)) or (
            piece.found.isdecimal() and self._is_dated(piece)
        ):
            return True
        if not (BULLET_END.match(text, end) and LINE_START.search(text, max(0, start - 20), start)):
            return False
        return piece.found.isdecimal() and len(piece.found) < 3 and self._is_item(int(piece.found), text[end])

    def _is_dated(self, piece: Piece) -> bool:
        """Return whether `piece` is the day or year in a date: "March 15, 2024" or "15 March 2024"."""
        text, start, end = self.text, piece.start, piece.end
        if len(piece.found) == 4:
            return DAY_BEFORE.search(text, max(0, start - CLOSE), start) is not None
        if len(piece.found) > 2 or not YEAR_AFTER.match(text, end):
            return False
        before = MONTH_BEFORE.search(text, max(0, start - CLOSE), start)
        return bool(before or MONTH_AFTER.match(text, end))

    def _is_item(self, number: int, mark: str) -> bool:
        neighbors = (f"\n{number - 1}{mark} ", f"\n{number + 1}{mark} ")
        return any(neighbor in self.text or self.text.startswith(neighbor[1:]) for neighbor in neighbors)

    def _settled(self, line: list[Piece], denied: set[str]) -> str:
        """Return the text of the stated or the last number, or a passage that shows why there is no answer."""
        last, rest = self._result(line)
        stated = self._stated()
        if isinstance(stated, str):
            return stated
        if stated and stated[0].start > line[-1].end:  # [4, 3] is not a citation here
            return self._passage(stated[0].start - 1, stated[-1].end + 1)
        following: list[Piece] = []
        if stated and stated[0].end <= line[-1].start:
            chosen = self._stated_or_last(stated, line[-1])
            if chosen is None:
                return self._passage(stated[0].start, last.end)
            if chosen is not line[-1]:
                last, rest, following = chosen, [], stated[1:]
            else:
                last, rest = line[-1], line[:-1]
        elif stated:
            last, rest = line[-1], line[:-1]
        if stated and last.start == stated[0].start:
            _, end = stated_object(self.text, last.start)
            if not stands(self.text, end, last.found):
                return self._passage(last.start, len(self.text))
        undecided = UNDECIDED.match(self.text, last.end)
        if undecided:
            alternatives = pieces_in(self.text, undecided.end(), undecided.end() + _NEAR, self.pattern)
            if alternatives and not self._same(last, alternatives[0]):
                return self._passage(last.start, alternatives[0].end)
        passage = self._longer(last, rest, following)
        if passage:
            return passage
        if _value(last.found) in denied:
            return f"{last.found}, which the text later rejects,"
        before = self.text[max(0, last.start - _FAR) : last.start]
        if not stated and before.rstrip(" \n*$(\\")[-1:] in _STOPS and (unanswered := UNANSWERED.search(before)):
            return self._passage(last.start - len(unanswered[0]), last.end)
        retraction = last_retraction(self.text, last.end)
        if retraction and (retraction.everything or not self._has_pieces(last.end, retraction.start)):
            return self._passage(last.start, retraction.end)
        return f"-{last.found}" if self._negative(last) else last.found

    def _negative(self, piece: Piece) -> re.Match[str] | None:
        return self._before(NEGATIVE, piece)

    def _before(self, pattern: re.Pattern[str], piece: Piece) -> re.Match[str] | None:
        """Return the match of `pattern` before `piece`. The search is skipped if the text there ends as in `SILENT`."""
        left = max(0, piece.start - CLOSE)
        head = self.text[left : piece.start].rstrip(" *$(\\")
        if head.endswith(SILENT):
            return None
        return pattern.search(self.text, left, piece.start)

    def _result(self, line: list[Piece]) -> tuple[Piece, list[Piece]]:
        """Return a line's last number outside bracketed computations and adjuncts, and the pieces before the number."""
        text, last = self.text, line[-1]
        opening = text.rfind("(", line[0].end, last.start + 1)
        if opening >= 0 and last.start - opening < _NEAR and ")" not in text[opening : last.start]:
            before = [piece for piece in line if piece.end <= opening]
            inner = line[len(before) :]
            computed = len(inner) > 1 or not (_is_plain(inner[0]) or self._is_quotient(inner[0]))
            listed = JOIN.search(text, opening, last.end) or any(map(self._joined_by_comma, inner, inner[1:]))
            if before and computed and not listed:
                return before[-1], before[:-1]
        shared = len(line) > 2 and SHARED.fullmatch(text, line[-2].end, last.start) is not None
        for count in (3, 2) if shared else (2,):
            if len(line) < count:
                break
            other, following = line[-count], line[1 - count]
            left = max(0, other.start - _NEAR)
            if (
                (
                    ADJUNCT.fullmatch(text, other.end, following.start)
                    or (count == 3 and RESTATED.fullmatch(text, other.end, following.start))
                    or SUBJECT_OF.fullmatch(text, other.end, following.start)
                )
                and not (NO_CLAIM_BEFORE.search(text, left, other.start) or self._is_label(other))
                and self._reads_alone(other)
            ):
                return other, line[:-count]
        return last, line[:-1]

    def _is_quotient(self, piece: Piece) -> bool:
        return ("/" in piece.found or "frac" in piece.found) and not isinstance(self.reader.read(piece.found), str)

    def _joined_by_comma(self, first: Piece, second: Piece) -> bool:
        return COMMA.fullmatch(self.text, first.end, second.start) is not None

    def _reads_alone(self, piece: Piece) -> bool:
        return not isinstance(self.reader.read(piece.found), str) and not self._longer(piece, [], [])

    # the stated answer

    @cached_property
    def _statements(self) -> list[Statement]:
        """The statements of the answer, in reverse order."""
        return list(statements(self.text))

    @cached_property
    def _unclaimed(self) -> set[int]:
        """The positions of answers that the writer does not claim, such as other people's answers."""
        unclaimed = (statement for statement in self._statements if not is_claimed(self.text, statement))
        return {self._opened(statement.start) for statement in unclaimed}

    def _opened(self, start: int) -> int:
        opened = OPENED.match(self.text, start)
        return opened.end() if opened else start

    def _stated(self) -> list[Piece] | str | None:
        """Return the number in the last statement such as "The answer is 42", with the pieces after it.

        The result is a passage if the stated answer is not a number, and None if no answer is stated.
        """
        for lead, statement_start in self._statements:
            start = self._opened(statement_start)
            if start in self._unclaimed:
                continue
            end = self.text.find("\n", start)
            pieces = pieces_in(self.text, start, len(self.text) if end < 0 else end, self.pattern)
            first = pieces[0] if pieces else None
            if first and (first.start <= start or self._opens_with_sign(statement_start, first)):
                if not self._is_denied([first]):
                    return self._equal(pieces)
            elif first and INDIRECT.search(self.text, start, first.start) and self._is_else(lead, start, pieces):
                return pieces
            elif self._is_no_number(start) or self._is_else(lead, start, pieces):
                return self._passage(lead, start + 20)
        if explained := EXPLAINED.match(self.text):
            return pieces_in(self.text, 0, explained.end("value"), self.pattern) or None
        return None

    def _opens_with_sign(self, start: int, piece: Piece) -> bool:
        negative = self._negative(piece)
        return bool(negative and not self.text[start : negative.start("minus")].strip(" *$(:"))

    def _is_no_number(self, start: int) -> bool:
        """Return whether the answer at `start` is in words: "forty-two", "unknown", "cannot be determined"."""
        if denied_before(self.text, start):
            return False
        if NUMERAL.match(self.text, start):
            end = SENTENCE_END.search(self.text, start)
            sentence = self.text[start : end.start() if end else len(self.text)]
            return not re.search(r"[(,]\s*-?\$?[0-9][0-9.,]*\s*(?:\)|\Z)|=", sentence)
        return not _DIGIT.search(self.text, start) and WORDS.match(self.text, start) is not None

    def _is_else(self, lead: int, start: int, pieces: list[Piece]) -> bool:
        """Return whether the statement is about the number without stating it: "the answer is half of 42"."""
        end = SENTENCE_END.search(self.text, start)
        stop = end.start() if end else len(self.text)
        sentence = [piece for piece in pieces if piece.start < stop]
        if not sentence or NUMERAL.match(self.text, start) or denied_before(self.text, sentence[-1].start):
            return False
        between = self.text[lead : sentence[-1].start]
        return bool(
            PART_OF.search(between)
            or PART_WORD.search(between)
            or not (INDIRECT.search(between) or SUBJECT.fullmatch(self.text, start, sentence[0].start))
        )

    def _equal(self, pieces: list[Piece]) -> list[Piece]:
        """Return the result of the computation that starts with the first piece, and the pieces after the result.

        For 26 - 12 = 14, the result is 14. 41 = 42 is not a computation.
        """
        result, computed = 0, not pieces[0].found.isdecimal()
        for number, (left, right) in enumerate(pairwise(pieces), 1):
            if EQUALS.fullmatch(self.text, left.end, right.start):
                if not computed:
                    break
                result, computed = number, not right.found.isdecimal()
            elif OPERATOR.fullmatch(self.text, left.end, right.start) or right.found[:1] in "+-":
                computed = True
            else:
                break
        return pieces[result:]

    def _stated_or_last(self, pieces: list[Piece], last: Piece) -> Piece | None:
        """Return the stated number, or `last` if it replaces the stated number; None if this is unclear."""
        stated = pieces[0]
        between = self.text[stated.end : last.start]
        if self._same(stated, last):
            return last if last_retraction(between, 0) else stated
        if UNDECIDED.match(between) and len(between) < _NEAR:
            return None
        if corrects(self.text, last.start) or last_retraction(between, 0):
            return last
        end = SENTENCE_END.search(self.text, stated.end)
        stop = end.start() if end else len(self.text)
        tail = self.text[stated.end : min(stop, stated.end + _FAR)]
        if len(pieces) > 1 and pieces[1].start < stop and SECOND.search(tail) and not REASON.match(tail):
            joined = tail[:1] == " " and OR.fullmatch(self.text, stated.end, pieces[1].start)
            if not joined or self._alternatives(stated, pieces[1]):  # 42 minutes, or 0.7 hours
                return None
        again = re.compile(rf"(?<![\w.]){re.escape(_value(stated.found))}(?![\w.]*\w)")
        if redone := REDONE.search(between):
            if again.search(between, redone.end()):
                return stated
            if not CLAIM.search(between, redone.end()):
                return stated if redone["check"] else None
            return last
        concluded = CONCLUSION.search(self.text, stop, last.start)
        if concluded and not again.search(self.text, concluded.end()):
            return None if ALONE.match(self.text, stated.end) else last
        return stated

    def _same(self, left: Piece, right: Piece) -> bool:
        """Return whether both pieces are the same number: 42 and $42.00, 0.6 and 3/5, 0.806 and 81%."""
        if _value(left.found) == _value(right.found):
            return True
        if left.found.endswith("%") != right.found.endswith("%"):
            share, percent = (right, left) if left.found.endswith("%") else (left, right)
            return _is_rounded(percent.found[:-1], share.found)
        values = [self.reader.read(piece.found) for piece in (left, right)]
        return values[0] == values[1] and not isinstance(values[0], str)

    # the text that the number is part of

    def _longer(self, piece: Piece, rest: list[Piece], following: list[Piece]) -> str | None:
        """Return the passage in which `piece` is only a part or one of several numbers; None if there is none."""
        text, start, end = self.text, piece.start, piece.end
        left = max(0, start - _NEAR)
        if SENTENCE_END.match(text, end) or COMPUTED.match(text, end):
            text = text[:end]
        negative = self._negative(piece)
        if stands_alone(text, negative.start("minus") if negative else start, end) is None:
            return self._passage(left, end + 8)
        part = self._before(PART_OF, piece) or (None if negative else self._before(MINUS_WORD, piece))
        if part:
            return self._passage(part.start(), end)
        if attached := ATTACHED.match(self.text, end):
            return self._passage(start, attached.end())
        if self.text[end : end + 1] == "!" and piece.found.isdecimal() and int(piece.found) <= _LARGEST_FACTORIAL:
            return self._passage(start, end + 1)
        interval, closed = INTERVAL_BEFORE.search(text, left, start), INTERVAL_END.match(text, end)
        if interval and closed and ("," in interval[0] or ";" in interval[0] or "," in closed[0]):
            return self._passage(interval.start(), closed.end())
        if text[end : end + 1] == "m" and text[start] in _CURRENCIES and not text[end + 1 : end + 2].isalnum():
            return self._passage(start, end + 1)  # $42m
        if self._is_bare(piece) and BARE_LINES.search(text, left, start):
            return self._passage(left, end)
        opening = TUPLE_OPEN.search(text, left, start) if "," in piece.found else None
        if opening:
            closing = TUPLE_END.match(text, end)
            if closing and (opening[0][0] in "([{" or closing[0][-1] in ")]}"):
                return self._passage(opening.start(), closing.end())
        if rest and (self._alternatives(rest[-1], piece) or self._several(rest, piece)):
            return self._passage(rest[-1].start, end)
        if following and (self._alternatives(piece, following[0]) or self._several([piece], following[0])):
            return self._passage(start, following[0].end)
        return None

    def _is_bare(self, piece: Piece) -> bool:
        """Return whether `piece` is alone on its line, except for a bullet."""
        margin = self.text[max(0, piece.start - 8) : piece.start].rpartition("\n")
        if not margin[1] or ":" in margin[2]:
            return False
        return BARE_END.match(self.text, piece.end) is not None

    def _alternatives(self, first: Piece, second: Piece) -> bool:
        """Return whether the text offers `second` as an alternative to `first`: "41 or 42"."""
        if second.start - first.end > 2 * _NEAR:
            return False
        joined = OR.fullmatch(self.text, first.end, second.start)
        if not joined or self._same(first, second):
            return False
        noun = [word for word in WORD.findall(joined["noun"]) if not JOIN.fullmatch(word)]
        other = WORD.match(self.text[second.end : second.end + 24].lstrip(" *$"))
        # "2 hours or 120 minutes" says the same twice.
        return not (noun and other and noun[-1].lower() != other[0].lower())

    def _several(self, rest: list[Piece], piece: Piece) -> bool:
        """Return whether `piece` is next to another number, without a word that shows which of the two counts."""
        text, first = self.text, rest[-1]
        if piece.start - first.end > _NEAR:
            return False
        span = (first.end, piece.start)
        lead = max(0, first.start - _NEAR)
        if RANGE.fullmatch(text, *span):
            return not CHANGED.search(text, lead, first.start)
        if AND.fullmatch(text, *span):
            return True
        if JOINED.fullmatch(text, *span):
            return True
        if quantities := QUANTITIES.fullmatch(text, *span):
            return quantities["noun"].lower() in LARGER_UNITS
        if self._same(first, piece):
            return False
        if SPACE.fullmatch(text, *span):  # "5 km 300 m", but not "From 3 km 5 apples hang"
            return first.found[-1].isdigit() or not piece.found[-1].isdigit()
        if EQUALS.fullmatch(text, *span):
            return _is_plain(first) and _is_plain(piece) and bool(LISTED.search(text, lead, first.start))
        equation = NEXT_EQUATION.fullmatch(text, *span)
        if equation:  # "x = 41, x = 42", "x = 41 and y = 42", but not "Since y = 3, x = 42"
            other = EQUATION_BEFORE.search(text, lead, first.start)
            return other is not None and bool(equation["and"] or other["name"] == equation["name"])
        if not COMMA.fullmatch(text, *span):
            return False
        third = len(rest) > 1 and COMMA.fullmatch(text, rest[-2].end, first.start)
        return bool(third or not UNLISTED.search(text, lead, first.start))

    def _has_pieces(self, start: int, end: int) -> bool:
        return start < end and bool(_DIGIT.search(self.text, start, end))

    def _around(self, piece: Piece) -> str:
        """Return the number with some surrounding words, so that a note shows why the number was skipped."""
        # Arbitrary numbers of characters: a note shows a few words.
        start, end = max(0, piece.start - 24), min(len(self.text), piece.end + 16)
        start = self.text.find(" ", start, piece.start) + 1 if start else 0
        end = max(piece.end, self.text.rfind(" ", piece.end, end)) if end < len(self.text) else end
        return f"{self._passage(start, end).removesuffix(' …')} …"

    def _passage(self, start: int, end: int) -> str:
        """Return ``text[start:end]`` on one line, changed if necessary so that it cannot be read as a number."""
        passage = " ".join(self.text[max(0, start) : end].split())
        return passage if isinstance(self.reader.read(passage), str) else f"{passage} …"


def _is_rounded(percent: str, share: str) -> bool:
    """Return whether a percentage is a rounded fraction: 81 is 0.8065 rounded."""
    try:
        rounded, exact = Decimal(percent), Decimal(share) * 100
    except InvalidOperation:
        return False
    return abs(rounded - exact) <= Decimal(1).scaleb(int(rounded.as_tuple().exponent)) / 2


def _value(number_text: str) -> str:
    """Return the number in a normal form, so that 42, $42, and 42.00 are equal."""
    plain = number_text.strip("+$\u20ac\xa3\xa5\\ ").replace(",", "")
    return plain.rstrip("0").rstrip(".") if "." in plain else plain


def _is_plain(piece: Piece) -> bool:
    return piece.found.lstrip("+-").replace(".", "", 1).isdecimal()
