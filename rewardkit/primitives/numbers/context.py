r"""What is next to a number and says what it is: a label (Step 3), a part (half of 42), one of several (41 or 42)."""

from __future__ import annotations

import re

from rewardkit.core.text.claims import AND_WORDS, OR_WORDS, PART_WORDS
from rewardkit.core.text.final_answer import COPULAS
from rewardkit.core.text.numbers import CURRENCY_CODES

CLOSE = 32
"""How many characters before a number are searched for words that say what it is."""
SILENT = ("=", ",", ".", "\n", ";", "\u0964", "\u3002", " is", " es", " est", " ist", "\u662f", "\u306f")
"""What ends none of the patterns for these."""

# A label of something else.

_LABELED = (
    "step|equation|eqn?\\.?|figure|fig\\.?|theorem|lemma|problem|question|example|exercise|appendix|footnote|refs?\\.?|"
    "confidence(?: level| score)?:?\\**"
)
LABEL = re.compile(rf"(?:\b(?:{_LABELED}) ?\(?|[A-Za-z]{{2}}-|(?<!#)#)\Z", re.IGNORECASE)
ORDINAL = re.compile(r"(?:st|nd|rd|th)(?![A-Za-z])")
RAISED_ORDINAL = re.compile(r"\^\{?(?:\\text\{)?(?:st|nd|rd|th)\}?\Z")
LINE_START = re.compile(r"(?:^|\n)[ \t]*\Z")
BULLET_END = re.compile(r"[.)][ \t]+\S")

_MONTHS = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}\.?"
_DAY = r"[0-9]{1,2}(?:st|nd|rd|th)?"
DAY_BEFORE = re.compile(
    rf"(?:(?:{_MONTHS} {_DAY}|\b{_DAY} {_MONTHS}),?|\b(?:end|beginning|start|middle|close|quarter) of(?: fiscal)?) \Z"
)
"""Before a year: "at the end of 2017"."""
YEAR_AFTER = re.compile(rf"(?: {_MONTHS})?,? [0-9]{{4}}(?![0-9])")
MONTH_AFTER = re.compile(rf" {_MONTHS}")
MONTH_BEFORE = re.compile(rf"{_MONTHS} \Z")

# A part of something longer. What final_answer.stands_alone does not tell, since it is said in words.

_OF = (
    "half|third|quarter|fourth|fifth|sixth|eighth|tenth|percent|root|square|cube|log(?:arithm)?|factorial|multiple|factor|"
    "reciprocal|inverse|power|opposite|double|triple|successor|predecessor"
)
PART_OF = re.compile(
    rf"(?:\b(?:{_OF}) of |% of |\b(?:less|more|fewer|greater|smaller|larger|bigger|higher|lower) than |\u207b"
    r"|\b(?:multiplied|divided|divisible) by |\b(?:end|start|begin)s? (?:in|with) |\bpart of "
    r"|\b(?:exceed|preced|follow|succeed)(?:e?s|ing) "
    rf"|(?<![>=-])[<>\u2264\u2265] ?|(?:{PART_WORDS})\S{{0,4}}(?: [^\W\d]{{1,4}}){{0,2}} ?)[*$(\\]{{0,3}}\Z",
    re.IGNORECASE,
)
PART_WORD = re.compile(
    rf"\b(?:{_OF}|twice|double|triple|negative) (?:of )?(?:the )?answer|\b(?:but|except|than|least|most)\b"
    rf"|{PART_WORDS}",
    re.IGNORECASE,
)
_MINUS = (
    "minus|negative|menos|moins|meno|mínusz|miinus|минус|мінус|μείον|eksi|negatif|negativ[eo]?|âm|min|hasi|"
    "ناقص|سالب|منفی|منفي|מינוס|ऋणात्मक|माइनस|মাইনাস|ঋণাত্মক|మైనస్|மைனஸ்|ลบ|[负負]|マイナス|마이너스"
)
NEGATIVE = re.compile(
    rf"(?:\A|[\n:=(是为為は은는]|คือ|(?<!\w)(?:are|be|of|to|get|{COPULAS}))\s*"
    rf"(?P<minus>{_MINUS})[ :]?[*$(\\]{{0,3}}\Z",
    re.IGNORECASE,
)
MINUS_WORD = re.compile(rf"(?<!\w)(?:{_MINUS})[ :]*[*$(\\]{{0,3}}\Z", re.IGNORECASE)

_MAGNITUDES = (
    "lakhs?|crores?|mil|mio|mrd|thou|grand|mille|mila|milliers?|bilh\\w+|"
    "mil(?:l?i(?:on|ard|oen)|lon|lón|jo+n|jard|h[õã]|yon|yar)\\w*|tausend|duizend|tusen|tuhat\\w*|tisíc\\w*|tysiąc\\w*|tysięcy|ezer|bin|ribu|juta|nghìn|ngàn|triệu|tỷ|elfu|laki|"
    "тыс\\w*|млн|млрд|миллион\\w*|миллиард\\w*|тисяч\\w*|мільйон\\w*|χιλιάδες|εκατομμύρι\\w*|ألف|آلاف|مليون|مليار|هزار|"
    "میلیون|ہزار|אלף|אלפים|מיליון|dozen|score|(?!months)\\w+[ndfxh]ths|fourths|thirds|halves"
)
_SCALE_MARKS = "หมื่น|แสน|ล้าน|พัน|ร้อย|हज़ार|हजार|लाख|करोड़|হাজার|লক্ষ|লাখ|কোটি|వేల|లక్ష|కోట్ల|ஆயிர|லட்ச|கோடி|[십백천만억조]"
_UNITS = "[mgshlL]|[kcm]m|[km]?g|lb|oz|ft|in|mi|yd|hr|ml|mL|cl|dl|kW|Hz|[KkMGT]B|[ap]m|[AP]M|ms|ha|kJ|kN|pt|qt"
ATTACHED = re.compile(
    rf"(?!(?:{_UNITS})(?![A-Za-z]))[A-Za-z]{{1,2}}(?![A-Za-z])"  # 42x, 42K, but 42m
    r"|(?:\\?[ ,~]|[$*])*(?:\\(?:text|mathrm|mbox)\{ ?)?(?:[KkMB]|bn|mn|mln)(?![\w'.]\w|\w)"
    rf"|[*$_ )]{{0,3}}(?:(?:(?i:{_MAGNITUDES})(?!\w)|{_SCALE_MARKS}"
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
    r"[)*$\s]{0,3}(?:\s?(?:[-\u2013\u2014~\u223c|]|\.\.\.?|\u2026|[到至])\s?|\s(?:(?:up )?to|through|thru|until"
    r"|till|over|au|"
    r"(?:out )?of|bis|à|a|hasta|al|до|naar|tot|sampai|hingga|đến)\s)[*$\\(]{0,3}"
)
JOINED = re.compile(
    r"(?:[元円圆块角時时点點分年月天日歳岁斤米尺원시분년減减加乘除到至或か나과와やと]|小时|小時|時間|시간|이나|에서|から|个月|除以|減去|减去)"
)
"""Between two numbers of a text without spaces between words: 42か43, 5元5角."""
_CHANGES = (
    "increas|ris|rose|grow|grew|go|goes|went|chang|drop|fell|fall|decreas|climb|mov|reduc|jump|rais|lower|shrank|shrink"
)
CHANGED = re.compile(rf"\b(?:{_CHANGES})\w*\b[^.!?\n]{{0,40}}\bfrom [*$\\(]{{0,3}}\Z", re.IGNORECASE)
OR = re.compile(
    rf"(?P<noun>(?: ?[^\W\d]{{1,20}}){{0,2}})[)*$,.;!\u2013\u2014\s]{{0,4}}\(?(?:{OR_WORDS}|/)[^.!?\n\d]{{0,40}}",
    re.IGNORECASE,
)
JOIN = re.compile(rf"(?:{OR_WORDS}|{AND_WORDS})", re.IGNORECASE)
AND = re.compile(rf"(?![)*$]*, with)[)*$,\s]{{0,4}}(?:{AND_WORDS}|&)\s?(?:also\s)?[*$\\(]{{0,3}}", re.IGNORECASE)
QUANTITIES = re.compile(
    r"[*$)]{0,3} ?(?P<noun>[^\W\d]{1,12})(?:,? (?:and|&|und|et|y|e|i|og|och|en|и|and also))? [*$]{0,3}"
)
"""Between two parts of one amount: 5 hours and 30 minutes, 5 ft 6 in."""
LARGER_UNITS = frozenset((
    "dollars", "dollar", "euros", "euro", "pounds", "pound", "rupees", "rupee", "hours", "hour", "hrs", "hr", "h",
    "days", "day", "weeks", "week", "months", "month", "years", "year", "minutes", "minute", "mins", "min", "feet",
    "foot", "ft", "yards", "yard", "miles", "mile", "km", "m", "kilometers", "meters", "metres", "kg", "kilograms",
    "kilos", "lb", "lbs", "stone", "liters", "litres", "gallons", "quarts", "degrees", "cups",
    "stunden", "tage", "jahre", "minuten", "heures", "jours", "ans", "horas", "días", "años", "dólares", "minutos",
    "ore", "giorni", "anni", "kronor", "złotych", "часов", "часа", "час", "рублей", "рубля", "tahun", "jam", "saat",
))  # fmt: skip
COMMA = re.compile(r"[)*$]{0,3}\s?[,;\u3001\uff0c]\s?[*$\\(]{0,3}")
SPACE = re.compile(r"[*$_`]{0,4}[ \t\xa0]{1,3}[*$_`]{0,4}")
NEXT_EQUATION = re.compile(
    r"[)*$\s]{0,3}(?:,|;|,?\s?(?P<and>and|or))\s?[$*(\\]{0,3}(?P<name>[A-Za-z](?:_\w{1,3})?)\s?=\s?[$*]{0,2}"
)
EQUATION_BEFORE = re.compile(r"(?<![A-Za-z])(?P<name>[A-Za-z](?:_\w{1,3})?)\s?=\s?[$*]{0,2}\Z")
_BULLET = r"(?:(?:[-*\u2022]|\(?\w{1,2}[.)])\s)?"
BARE_LINES = re.compile(
    rf"(?:^|\n)\s*{_BULLET}[*$]{{0,3}}(?:(?P<name>[A-Za-z](?:_\w{{1,3}})?)\s?=\s?)?[*$]{{0,2}}[-+]?[\d.,]+[*$]{{0,3}}\.?\s*"
    rf"\n\s*{_BULLET}[*$]{{0,3}}(?(name)(?P=name)\s?=\s?)[*$]{{0,3}}\Z"
)
"""41, or x = 41, and on the next line 42, or x = 42."""
BARE_END = re.compile(r"[*$]{0,3}\.?\s*(?:\n|\Z)")
OPERATOR = re.compile(r"[*$)\s]{0,3}(?:(?:[^\W\d]{2,20}\s)?[-\u2212+/x×*])?[*$(\s]{0,3}")
EQUALS = re.compile(r"[*$\s]{0,3}(?:[^\W\d]{2,20}\s)?(?:=|\u2248)[*$\s]{0,3}")
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

# Around a stated answer.

OPENED = re.compile(
    r"\s{0,6}(?:[\U0001f000-\U0001faff~\u2248]{1,3}\s?)?"
    r"[*_]{0,2}(?:(?:the|a positive|just|about|approximately|roughly|around|exactly|precisely|only|now|season|number"
    rf"|\\?\$|[€£₤₹]|{CURRENCY_CODES}|Rs\.?)(?![A-Za-z]))?:?(?:\s|\\,){{0,3}}"
    r"(?:\\[\[(]\s?|[*_`$(\[{\"'“”„«「『]{1,3}(?!\s)|\\(?:text|mathbf|mathrm)\{)?",
    re.IGNORECASE,
)
INDIRECT = re.compile(
    rf"(?:[=:：\u2248是为為はが]|คือ|\b(?:is|are|was|were|has|have|had|that|equals?|about|total of|sum of|gets?|makes?|"
    rf"costs?|season|year|week|month|day|number|{COPULAS.replace('to|', '')})(?!\w))(?: the)*[\s*_`$(\[{{\"'“]*\Z",
    re.IGNORECASE,
)
"""What may be right before the number in "The answer is that she has 42 apples"."""
SUBJECT = re.compile(
    r"(?:[A-Z][a-z]+|he|she|they|we|you|I) (?!exceed|follow|preced|doubl|halv|tripl|divid)[a-z]+(?:s|ed) [*$(]{0,3}"
)
COMPUTED = re.compile(
    r"[*$]{0,3}\s[(\[](?!\w{0,3}[\])]|(?:in )?(?:mod|base|times|plus|minus|hundred|thousand|million|billion)|\\)"
    r"[^()\[\]\n\\]*(?:[^\W\d]{2}|[a-z]\.|\d%|\d\s?[-+*/×·÷=]\s?\$?\d)[^()\[\]\n\\]*[)\]]"
)
"""What is in brackets behind a result: 42 (40 + 2), 42 (2 s.f.), 1/4 (25%)."""
ALONE = re.compile(r"[*_`$)\]}\\\"'”]{0,6}(?:\s{0,3}(?:\n|\Z)|[.!。](?:\s|\Z)|,?\s(?:because|since|as)\b)")
SENTENCE_END = re.compile(r"(?<!\bbzw)(?<!\bvs)[.!?](?=[*_`\"'”)\]]{0,3}(?:\s|\Z))|[。！？।\n]")
REASON = re.compile(r"\W*(?:because|since|as|given)\b", re.IGNORECASE)
SECOND = re.compile(
    rf"(?:{OR_WORDS}|\b(?:but|rather)\b)\W{{0,4}}\d"
    r"|\s(for|in|if|when|from|on|at|by|under)\b[^.\n]*(?:[,;]|\b(?:and|or|but))\s\W{0,3}\d[\d.]* \1\b",
    re.IGNORECASE,
)
"""A second answer behind an aside: 42 (but 43 is possible), 42 for x = 3 and 43 for x = 4."""
CONCLUSION = re.compile(
    r"\b(?:so|therefore|thus|hence|finally|final|conclu\w+|overall)\b|\u2234|所以|因此", re.IGNORECASE
)
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
"""An answer in words. Other words say where the answer is, or something about it."""
NUMERAL = re.compile(
    r"[\"'“*_(]{0,4}(?:minus |negative )?"
    r"(?:(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|\w{3,5}ty"
    r"|no|half|none|"
    r"(?:a |one )?(?:hundred|thousand|million|dozen)|nothing|infinit\w+|undefined|unknown"
    r"|impossible)(?![A-Za-z])(?! of\b)"
    r"|[零〇一二三四五六七八九十百千两兩∞])",
    re.IGNORECASE,
)
"""An answer that is a number in words: no number that follows replaces it."""
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
"""What may replace a stated answer, if another result follows."""
EXPLAINED = re.compile(
    r"\A\s*[*$(\\]{0,4}(?P<value>[-+]?[$€£]?[0-9][0-9.,/]*)[*$)\\.]{0,4}[^\n\d]{0,20}\n\s*[*_#]{0,4}"
    r"(?:explanation|reason(?:ing)?|because|why|solution|justification|check|verification|steps?|proof|details)\b",
    re.IGNORECASE,
)
"""An answer in the first line, and below it an explanation."""
UNANSWERED = re.compile(
    r"(?:\b(?:do|does|did|can|could)(?:n't|not| not) (?:know|find|determine|solve|answer|compute|calculate|tell|say"
    r"|be (?:found|known|determined|solved|answered|computed|calculated))|\bno (?:answer|solution|idea)"
    r"|\b(?:not |un)(?:sure|certain)|\bnot enough information|\bimpossible to \w+|\bun(?:known|determined|solvable))\b"
    r"[^.!?\n]{0,60}[.!?\n]\s*[*$(\\]{0,3}\Z",
    re.IGNORECASE,
)
"""A sentence before a bare number that gives no answer: "I don't know. 42"."""

# What is beside the last number of a text without a stated answer.

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
"""Between the result and a number that only says more about it: "$42 in 6 weeks", "42 apples after giving away 8"."""
RESTATED = re.compile(r"[*_`$)]{0,4}(?: [^\W\d]{1,20}){0,5}?(?: [–—]|:|,? i\.e\.,?|,? (?:which|that) is) [$€£]?")
SUBJECT_OF = re.compile(r"[$*]{0,2} is the (?:(?! and | so )[^\d.,;:]){1,60}")
SHARED = re.compile(r"(?: [^\W\d]{1,20})? (?:of|with|and|times|is divided by)(?: [^\W\d][\w']{0,20}){0,4} ")
"""Between the two numbers of such a remark: "42 apples, i.e. 6 boxes of 7"."""
CHECKED = re.compile(
    r"\n\s*\W{0,3}(?:double[- ]check|check|(?:you can )?verify|verification)\b[^\n]*\s*\Z", re.IGNORECASE
)
NO_CLAIM_BEFORE = re.compile(
    r"\b(?:from|of|in|at|after|before|by|with|for|each|every|per|if|when|than|and|or) [*$(]{0,3}\Z", re.IGNORECASE
)
