"""Find the option that a text claims: in ``It cannot be A, so the answer is B.``, only ``answer is B`` is a claim.

Claims have ranks. The first of these ranks that occurs in a text decides:

1. stated: ``the answer is B``;
2. alone on the first or the last line: ``B``, ``(B) Mitochondria``;
3. called correct: ``B is correct``;
4. picked: ``I choose B``, ``So B.``, ``It's B.``;
5. mentioned at the very end: ``Mitochondria (B)``, ``option B``.

In a marked answer (a tag, a box), a separate line has the highest rank, and picks do not count. If several claims have
the same rank, the last one counts. It does not count if its sentence claims another option, if it is joined to another
option (``B or C``), or if another option is picked after it. Denials, questions, suppositions, and reports about other
people are not claims.

Each pattern reads at most `_WINDOW` characters around one mention, so the time is linear in the text length.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from rewardkit.text.claims import (
    corrects,
    denied_after,
    denied_before,
    last_retraction,
    without_struck,
)
from rewardkit.text.final_answer import Statement, from_the_end, is_claimed, statements, without_elements
from rewardkit.text.phrases import AND_WORDS, OR_WORDS
from rewardkit.text.visibility import replaced, shown

# Find mentions of options in a text: ``$\text{(B)}$, not A`` is read as ``(B), not A``, with two mentions.


MAX_CHARACTERS = 20_000
"""The maximum number of characters that are read from the end of an answer. A choice is short and comes after its
explanation."""

MOST_OPTIONS = 100
"""The maximum number of options. The whole text is searched for each one. The limit is arbitrary: questions have up to
ten options."""

MOST_MENTIONS = 1_000
"""The maximum number of mentions. A text with more mentions is not an explanation and does not choose an option. The
limit is arbitrary, but all pairs of neighboring mentions are judged."""

_WIDE = {"（": "(", "）": ")", "：": ":", "，": ",", "、": ",", "；": ";", "。": ". ", "！": "!", "？": "?"}
_QUOTES = dict.fromkeys("’ʼ", "'") | dict.fromkeys('*`"“”„«»「」『』$\\{}✅✓✔☑\ufe0f', "")
# Marks that frame or underline a letter: "B" in a circle, or as a key.
_FRAMES = dict.fromkeys("\u0332\u0333\u20dd\u20de\u20df\u20e2\u20e3\u20e4", "")
_CAPITALS = {chr(0xFF21 + place): chr(0x41 + place) for place in range(26)}
"""Full-width letters, as in Chinese exams."""

_PLAIN = _WIDE | _QUOTES | _FRAMES | _CAPITALS
# "\text{(B)}" and "\boxed{B}": commands around an option; "\frac" is part of a formula and stays.
_LATEX = re.compile(
    r"\\(?:text|math)[a-z]{0,6}\b|\\f?box(?:ed)?\b|\\(?:bf|rm|quad|(?:[lL]arge|LARGE|[hH]uge|displaystyle)\b|[,;!()\[\]])"
)
# Spaces that a removed mark leaves inside brackets: "( B )".
_PADDED = re.compile(r"(?<=[(\[]) +| +(?=[)\]])")
_VARIABLE = re.compile(r"\s?[=≈](?!\s?(?:correct|right|wrong|true|false|incorrect|answer)\b)\s?[^\s=]|/\((?![A-Z]\))")
"""Text after a letter that is the name of a value: "A = benzoquinone", "A=81°"."""

_ARGUMENT = re.compile(r"[A-Za-z]\([^()\n]{0,20}\Z")
"""Text before a letter that is a function's argument: P(A and B)."""

# Quotation marks and underscores around a word, "'B'" and "__B__"; not the apostrophe of "it's".
_FRAME = re.compile(r"(?<!\w)['_]{1,3}|(?<!\b[A-Z])['_]{1,3}(?!\w)|(?<=['_][A-Z])['_]")
# Marks that start a heading, a quotation or a list item: "- B", "> B", "👉 B".
_LINE_MARK = re.compile(r"^(?:[#>\u2022➡→⇒▶►🔹🔸👉🎯]{1,6} ?|[-+] )")
# "B 🎉" is B.
_SMILEYS = re.compile("[\U0001f600-\U0001f64f🎉🌟]")

_UNSPACED = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3"
"""Letters in scripts without spaces between words: ``答案是B`` mentions B."""

_LETTER = rf"[^\W{_UNSPACED}]"
_RUNS_ON = re.compile(
    r"'\w| (?!(?:because|since|as|for|due|given|is|isn't|was|are|and|or|not|rather|instead|over|but|plus|so|while|if|"
    r"which|also|cannot|can't|would|alternatively|otherwise|oder|ou|und|et|with|vs|xor|along|together|maybe|perhaps|then)\b)[a-z]"
)
"""Text after A, I, or No that makes it an ordinary word: "A dog" and "I think"."""

# A small letter names an option only as in "b)" or "b."; "a dog" has an article.
_ENDS = re.compile(r"[).,:;!\]]|\s|\Z")
_WORDS = {"a", "A", "i", "I", "no", "No", "NO"}


@dataclass(frozen=True)
class Mention:
    """A mention of the option `name` at ``text[start:end]``."""

    name: str
    start: int
    end: int


@dataclass(frozen=True)
class Options:
    """The names of a question's options."""

    names: tuple[str, ...]

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        if all(len(name) == 1 and name.isascii() and name.isupper() for name in self.names):
            names = "".join(self.names)  # ignoring case takes several times as long
            return re.compile(rf"(?<!{_LETTER})([{names}{names.lower()}])(?!{_LETTER})(?!-[a-z]{{2}})")
        longest_first = sorted(self.names, key=len, reverse=True)
        first = "".join({re.escape(name[0]) for name in longest_first})
        return re.compile(f"(?=[{first}])(?:{'|'.join(map(_bounded, longest_first))})", re.IGNORECASE)

    @cached_property
    def _by_group(self) -> tuple[str, ...]:
        return tuple(sorted(self.names, key=len, reverse=True))

    @cached_property
    def _folded(self) -> dict[str, str]:
        return {name.casefold(): name for name in self.names}

    @cached_property
    def _longest(self) -> int:
        """The length of the longest name after case folding, which makes a name at most three times as long."""
        return max(len(name) for name in self.names)

    @cached_property
    def _name_characters(self) -> frozenset[str]:
        """The characters in names. They are never treated as formatting."""
        return frozenset("".join(self.names))

    @cached_property
    def _formatting(self) -> dict[str, str]:
        return {character: new for character, new in _PLAIN.items() if character not in self._name_characters}

    @cached_property
    def _only_ascii(self) -> dict[str, str]:
        return {character: new for character, new in self._formatting.items() if character.isascii()}

    @cached_property
    def _are_shown(self) -> bool:
        """Whether all names are free of invisible characters. Some Persian words contain them."""
        return all(shown(name) == name for name in self.names)

    def plain(self, text: str) -> str:
        """Return the end of `text` without formatting, margins, and empty lines."""
        text = text[-MAX_CHARACTERS:]
        if not self._name_characters & set("~<>"):
            text = without_elements(without_struck(text))
        if "\\" not in self._name_characters:
            text = _LATEX.sub("", text)
        if not text.isascii():
            text = _SMILEYS.sub("", text)
            if self._are_shown:
                text = shown(text)
        text = replaced(text, self._only_ascii if text.isascii() else self._formatting)
        if not self._name_characters & {"'", "_"} and ("'" in text or "_" in text):
            text = _FRAME.sub("", text)
        lines = (" ".join(line.split()) for line in text.split("\n"))
        if "( " in text or " )" in text:
            lines = (_PADDED.sub("", line) for line in lines)
        lines = (_LINE_MARK.sub("", line) if line not in self.names else line for line in lines)
        return "\n".join(filter(None, lines))

    def named(self, text: str) -> str | None:
        """Return the option with the name `text`, ignoring case; None if there is none."""
        if text in self.names:
            return text
        return self._folded.get(text.casefold()) if len(text) <= 3 * self._longest else None

    def mentions(self, plain: str) -> list[Mention] | None:
        """Return the mentions of options in `plain`, in order; None if there are too many."""
        matches = list(islice(self._pattern.finditer(plain), MOST_MENTIONS + 1))
        if len(matches) > MOST_MENTIONS:
            return None
        return [self._mention(match) for match in matches if not self._is_a_word(match, plain)]

    def _mention(self, match: re.Match[str]) -> Mention:
        name = match[0] if match[0] in self.names else match[0].upper()
        if name not in self.names:
            name = self._by_group[(match.lastindex or 1) - 1]
        return Mention(name, match.start(), match.end())

    def _is_a_word(self, match: re.Match[str], plain: str) -> bool:
        word = match[0]
        if unicodedata.category(plain[match.end() : match.end() + 1] or " ")[0] == "M":  # "E" in "É" as two characters
            return True
        if word in _WORDS and _RUNS_ON.match(plain, match.end()):
            return True
        is_letter = len(word) == 1 and word.isalpha()
        if is_letter and (_VARIABLE.match(plain, match.end()) or self._is_argument(match, plain)):
            return True
        small = len(word) == 1 and word not in self.names and word.islower()
        return small and not _ENDS.match(plain, match.end())

    def _is_argument(self, match: re.Match[str], plain: str) -> bool:
        # A match of `_ARGUMENT` has at most 22 characters.
        return _ARGUMENT.search(plain, max(0, match.start() - 24), match.start()) is not None


def _bounded(name: str) -> str:
    """Return a group that matches `name` unless it is part of a longer word or number."""
    before = rf"(?<!{_LETTER})" if re.match(_LETTER, name[0]) else ""
    after = rf"(?!{_LETTER})(?!-[a-z]{{2}})" if re.match(_LETTER, name[-1]) else ""
    if name[0].isdigit():
        before = r"(?<![\w.,/^+\-\u2212])"
    if name[-1].isdigit():
        after = r"(?![\w^%]|[.,:/\-\u2013\u2212]\d| %)"
    return f"{before}({re.escape(name)}){after}"


_WINDOW = 160
"""The number of characters read around a mention. The number is arbitrary: the words that make a mention a claim are in
its clause, and reading the whole text for every mention would take quadratic time."""
_TAIL = 1_000
"""The number of characters at the end that are read first. The number is arbitrary, but well above `_WINDOW`, because
these characters must include the statement and everything that may deny it."""
_PART_OF_A_SOLUTION = 100
"""The minimum length at which a line with a lower-case label is a part of a solution: "a) The vapor pressure is ...".
The number is arbitrary: option text is shorter."""
_SHORT = 48
"""The number of characters before an option that are searched by patterns that end right before it. The number is
arbitrary, but larger than the length of a phrase such as "so it must be option"."""

Rank = Callable[[int], bool]
"""A function that returns whether the mention with a given index is a claim of a certain rank."""


def _any(*patterns: str, end: str = "") -> re.Pattern[str]:
    return re.compile(f"(?:{'|'.join(patterns)}){end}", re.IGNORECASE)


# Not "may be" and "could be", which express doubt.
_BE = r"(?:is|was|are|must be|should be|will be|has to be|can only be)"
# Words between "is" and an option: "is definitely B", "is, of course, B".
_ADVERB = (
    r"(?:(?:absolute|actual|certain|clear|complete|consequent|definite|entire|evident|exact|final|ful|logical|"
    r"(?:most )?like|obvious|on|precise|probab|real|simp|sure|tru|ultimate|undoubted|unequivocal)ly|"
    r"therefore|thus|indeed|hence|then|in fact|of course|just|for sure|for certain|donc)"
)
# A name for an option before its letter: "is option B", "is the letter B", "es la opción B".
_KIND = (
    r"(?:(?:the |la |a )?(?:option|choice|answer|letter|number|opción|opção|alternativa|letra|lettre|pilihan|"
    r"вариант|буква|antwort|réponse|respuesta|resposta|risposta)|"
    r"the (?:first|second|third|fourth|fifth|last) (?:option|choice|one),?|the|la|(?-i:a)(?= [A-Z]\b))"
)
# "(B" and "((B": only brackets may be between the words and the option.
_OPENING = r" ?[(\[]{0,2}\Z"
_CLOSING = r"[)\]]{0,2}"

# Phrases that state an option, besides "the answer is", by the words that they begin with.

# "The answer to the question is B": the subject of a question has at most 80 characters, all in one sentence.
_OF = r"(?: (?:to|for|of|in|here|considering|given|based on|among|according to)\b[^.:;!?\n]{0,80}?)??"
# A separator before an option: "Answer: B", "Final -> B"; the period only in "Ans. B".
_SEPARATOR = r"(?: ?(?:[:=→–—-]|=>|->)|(?<=\bans)\.)"
# The rest of a statement after "answer": "answers are", "answer to this is clearly option", "respuesta es".
_IS = rf"s?{_OF},? (?:ist|est|es|é|{_BE})(?: {_ADVERB},?|, {_ADVERB},)?(?: {_KIND})?(?: ?:)?"
_NOUNS = ("answer", "choice", "option", "solution", "response", "result", "description", "one")
_LABELS_OF_ANSWERS = ("ans", "choice", "solution", "conclusion", "correct", "final", "decision", "verdict")
_LEADS: dict[str, re.Pattern[str]] = {
    noun: _any(rf"\b{noun}{_IS}", *([rf"\b{noun}(?: {_KIND})?{_SEPARATOR}"] if noun in _LABELS_OF_ANSWERS else []))
    for noun in (*_NOUNS, *_LABELS_OF_ANSWERS)
} | {
    **{
        word: _any(
            rf"\b{word} (?:answer|choice|option)(?: {_KIND})?(?: ?(?::|=|->|→))?",
            *([rf"\b{word}(?: {_KIND})?{_SEPARATOR}"] if word in _LABELS_OF_ANSWERS else []),
        )
        for word in ("correct", "right", "best", "final")
    },
    "choice:": _any(r"(?:(?<=\n)|\A)(?:(?:the|my|final|correct|best) ){0,2}choice:?\n"),
    "is option": _any(r"\b(?:is|be) (?:the )?(?:option|choice)(?: letter)?"),
    "is the option": _any(r"\bis the (?:option|choice)(?: letter)?"),
    **{word: _any(rf"\b{word} (?:it's|it is)") for word in ("actually", "wait,", "no,")},
    **{word: _any(rf"\b{word}") for word in ("sondern", "sino", "richtig ist", "korrekt ist")},
    **{
        word: _any(rf"\b{word}(?: (?:correcta|correta|final|ответа))?(?: (?:es|é) ?:?| ?:)")
        for word in ("opción", "opção", "alternativa", "вариант", "variant")
    },
    "选项": _any(r"选项(?:应该|应)?(?:是|为|為)? ?:?"),
    "選項": _any(r"選項(?:應該|應)?(?:是|為)? ?:?"),
    "正确": _any(r"(?:正确|正確)的?(?:选项|答案)?(?:是|为|為)"),
    "正確": _any(r"(?:正确|正確)的?(?:选项|答案)?(?:是|为|為)"),
    "아니라": _any(r"아니라"),
    "而是": _any(r"而是"),
    "ではなく": _any(r"ではなく(?:て)?,?"),
}  # fmt: skip
# Text that may be between a statement and its option: "The answer is... (B".
_TO_MENTION = re.compile(
    rf"(?:[ .]*(?:\.\.|…))?[ \n]{{0,2}}(?:{_ADVERB} )?(?:{_KIND}[ :]?)?\s?[(\[【]{{0,2}} ?", re.IGNORECASE
)
# "or the answer is B" offers a second answer.
_OR_LEAD = re.compile(r"\bor (?:\w+ ){0,2}\Z")
# Text before an option.

# "I choose B", "this corresponds to option B". A pick counts less than a statement: "you may choose B".
_PICKED = _any(
    r"\b(?:choose|pick|select|chose|picked|selected|choosing|go with|going with|opt for|settle on)"
    rf"(?: {_KIND})? ?:?",
    r"\banswer would be",
    rf"\b(?:corresponds? to|corresponding to|matche?s?|matching)(?: {_KIND}){{0,2}} ?:?",
    r"(?:选择|选|選択|選|chọn) ?:?",
    r"\bonly(?: option| choice)?",
    end=_OPENING,
)
# A conclusion before an option that ends its clause: "So B.", "It must be B.".
_CONCLUDED = _any(
    r"\b(?:so|thus|therefore|hence|conclusion|it's|it is|that's|it must be|c'est)"
    rf"(?: (?:it's|it is|it must be))?[:,]?(?: {_KIND})?",
    end=_OPENING,
)
_JUDGED = _any(r"\b(?:is|as|be|it's)(?: (?:\w+ly|very|quite))?(?: an?)?", r"[a-z]s an?", ":", end=_OPENING)
"""Text before an option that is a whole word: "the sentiment is positive", "it expresses a positive sentiment"."""

# One word after an option that ends the sentence: "a positive review." but not "a positive review is".
_JUDGED_NOUN = re.compile(r" (?:\w+(?:[.!,;]|\Z)|rather than\b)")

_CONCLUDED_SUBJECT = re.compile(
    rf"\b(?:so|thus|therefore|hence|consequently),? (?:the|this|that|it)\b[^.,;:!?\n]{{1,80}} (?:is|must be|"
    rf"should be|would be)(?: {_ADVERB})?"
    rf"(?: {_KIND})? ?[(\[]{{0,2}}\Z",
    re.IGNORECASE,
)
"""Text before an option that ends its sentence: "So the exception is B."."""

# "The capital is B": the verb alone, as the subject may be anything. It counts only if the text of the option follows,
# as in "The capital is B. Rome".
_SUBJECT = _any(r"\b(?:is|are|be|would be) ?:?\n?", end=_OPENING)
_OPTION_TEXT = re.compile(
    r"(?:[.)]|:) ?(?!(?:It|Then|So|Thus|Hence|However|We|Therefore|Next|Now|Let|But|And|Or|Also|Because|Since|"
    r"If|When)\b)[^\s.,;:)]"
)
"""An option's text after its label: "The compound is A. ethyl benzoate". "The product is A. It reacts" has no such
text."""

# ". Actually, C", "\nAnswer: C" or "? C": the beginning of a sentence that is just another option.
_REPLACING = re.compile(
    r"[.!?\n]\s?(?:(?P<concludes>(?:so|therefore|thus|hence|however|but|actually|also),? (?:option |choice )?)"
    r"|(?P<label>(?:[\w']+ ){0,5}[\w']+(?:[:,]| -) )"
    r"|(?:option |choice |on [a-z]+ )?)[(\[]?\Z",
    re.IGNORECASE,
)
_SENTENCE_OVER = re.compile(rf"{_CLOSING}[.!]?(?:\s*\Z|\n|(?<=[.!]) )")
"""The end of a sentence after an option that is the whole sentence or its conclusion."""

# "option B", "that leaves B", "Mitochondria (B": weak signs of a choice, which count only at the very end.
_POINTED = _any(
    r"\b(?:answer|option|choice|letter) ?",
    r"\b(?:is|be|leaves|leaves us with|leaving|elimination,|probably|definitely|say)",
    r"[^\s(\[] [(\[]",
    end=_OPENING,
)
# The start of a line that names an option: "Option B", "(B".
_LINE_START = re.compile(rf"(?:{_KIND} )? ?[(\[【]{{0,2}}", re.IGNORECASE)

# Text after an option.

# "B is correct", "B) Mitochondria is the best answer", "B ist richtig", "B是正确的"; not "B is correct if".
_RIGHT = re.compile(
    r"[)\]]?(?:[).:]? [^.,;:!?\n]{1,60}?)?? (?:is|was|must be|should be|will be|has to be|can only be)"
    rf"(?: {_ADVERB}| also)? (?:(?:the )?(?:only |single |most )?"
    r"(?:correct|right|accurate|appropriate|likely|better|best)\b"
    r"(?=\W*(?:\Z|\n|[.,;:!)–—])| (?:answer|choice|option|one|because|since|as|here|so|and|but|for|given|to|in|"
    r"statement|"
    r"response|description|explanation|candidate|match|conclusion)\b)"
    r"|(?:the|our|my) (?:final |best |only |correct |right )?(?:answer|choice|option|one|match|fit)\b"
    r"(?! (?:to (?:a|an|another|some|other)|my|he|she|they|everyone)\b))(?! if\b)|[)\]]?,? it is(?=[.!])|"
    r"[)\]]?(?: ist| est| es| é)? (?:die |la |a )?(?:richtig|korrekt|correct[ae]|corret[ao]|bonne)e?"
    r"(?=\W*(?:\Z|[.,;\n]))|"
    r"(?:是|为|為)?(?:正确|正確|对|"
    r"對)的?(?=[。.,;! \n]|\Z|(?:答案|选项|選項))",
    re.IGNORECASE,
)
# Text after an option that calls it the best: "B is the best approach".
_BEST = re.compile(
    rf"{_CLOSING} (?:is|would be) the (?:best|correct|right|only|most [a-z]{{2,20}}) [a-z]{{2,20}}\b", re.IGNORECASE
)
_NAMED_OPTION = re.compile(r"\b(?:option|choice|answer) ?[(\[]{0,2}\Z", re.IGNORECASE)
"""Text that calls the following mention an option: "option B is the best approach"."""

# The option ends its line.
_OVER = re.compile(rf"{_CLOSING} ?[.!,;:]{{0,2}}(?:\n|\Z)")
# The option ends its clause, or a reason follows.
_STOPS = re.compile(rf"{_CLOSING}(?: ?(?:[.!,;]|\n|\Z)| (?:because|since|as|for|due|given)\b)")
# The text of the option follows: "B) Paris", "B: Paris", "B – Paris".
_LABELS = re.compile(
    rf"{_CLOSING}(?:(?<=[)\]]) ?[^?]|[.:,;!] ?|\s?[–—]| - "
    r"| (?:because|since|as|due to|given|not|rather than|instead of)\b)"
)
# "Also B. C could be also right" continues in a new sentence.
_ALSO = re.compile(rf"{_CLOSING} (?:is|would be|could be|may be) also\b", re.IGNORECASE)
# "Is it (B)?"
_ASKED = re.compile(r"[)\].]{0,2} ?\?")
_PART = re.compile(
    r"['′](?!s (?:correct|right|the)\b|\w{2})| ?[+*^] ?\d| ?[-−–/] ?\d|"
    r" (?:to(?! (?:the|this|a|be)\b)|through|until|times|plus|minus|divided by|or (?:none|neither|another|something))\b"
)
"""Text after a mention that makes it the beginning of something else: "B to C", "B's successor", "2 times 1"."""
# "B is not", "B can't", "B (wrong)"; not "B is notable".
_WRONG = re.compile(
    rf"{_CLOSING}\s\(?(?:(?:is|was|are|would be|seems) (?:\w{{2,20}}ly )?(?:not|wrong|incorrect|false|out)\b|isn't\b"
    r"|(?:cannot|can't|wrong|incorrect|not (?:correct|right))\b)",
    re.IGNORECASE,
)
_NAY = re.compile(
    r"(?:(?P<bracket>[)\]]),?|[.:]) ?(?:(?i:no|false|wrong|incorrect|untrue|never)(?=[*.!]{0,3}(?:\s|\Z)|"
    r", (?:because|since|as)\b)(?!\W{1,3}(?:wait|it|that|the answer|actually)\b)"
    r"|(?:(?i:none|not|neither|can't|cannot)|N(?:o|othing)) (?!wait\b|it\b|that\b|"
    r"the answer\b)[^.!?,\n]{1,80}(?=[.!]{0,2}(?:\s|\Z)))| \((?i:no|false|wrong|incorrect)\)"
)
"""Option text that sounds like a denial."""

# "B describes ...": the option is the subject of a statement and not a choice; in "B is correct", it is a choice.
_PREDICATE = re.compile(
    rf"{_CLOSING} (?!(?:is|are) (?:also|both|possible|plausible)\b)(?:is|isn't|was|are|aren't|were|has|have|had|would"
    r"|does|doesn't|do|can|cannot|can't|could|makes?|holds?|describes?|refers?|fails?|says?|states?|contains?)\b"
    r"(?! (?:correct|right)\b)",
    re.IGNORECASE,
)

# "B - C and D are wrong": a dash ends the label, and the text of the option follows.
_DASH = re.compile(rf"{_CLOSING} ?[.:;–—-]")
# Text after two options that are both the subject: "A and B are".
_PLURAL = re.compile(rf"{_CLOSING} (?:are|aren't|were|have|do|don't)\b", re.IGNORECASE)

# Words that withdraw a claim that follows in the same clause.

# The end of a clause: in "Not A, so B", the denial of A does not deny B.
_CLAUSE = _any(r"[.!?;\n—]|, ", r"\b(?:but|so|therefore|thus|hence|however|because|since|and|then)\b")
_JUDGMENT = _any(
    r"\b(?:in)?(?:correct|accurate|valid)(?:ly)? (?:statement|sentence|assertion|claim|pair|match|combination|"
    r"matched)s?\b",
    r"\b(?:false|wrong|untrue|mismatched) (?:statement|sentence|assertion|claim|pair|match|combination)s?\b",
    r"\b(?:that|which|who) (?:is|are|was|were|does|do|did|would|can|could|will)(?:n't| not| never)\b",
    r"\b(?:that|which|who) (?:cannot|never|can't)\b",
    r"\b(?:that|which|who) (?:is|are|was|were) (?:false|wrong|incorrect|untrue|inaccurate|invalid)\b",
)
"""Words that restate the question and do not deny anything: "the incorrect statement", "the option that is not
true"."""

# "not", "doubt" or "students think" before a claim in its clause; "without doubt" and "the most" deny nothing.
_DENIED = _any(
    r"\b(?:not|never|cannot|neither|nor|none|nicht|pas|не)\b|n't\b|不|别|\bno (?:option|choice|answer|one)\b",
    r"\b(?:although|though|while|assume|hardly|barely|nobody|refuse[sd]?|second[- ]best|opposite)\b",
    r"\b(?:exclude[sd]?|eliminate[sd]?|rule[sd]? out)\b",
    r"\b(?:wrong|wrongly|incorrect|incorrectly|worst|false|mistake|mistaken|mistakenly|distractor|trap|misconception|myth)\b",
    r"(?<!no )(?<!without )\bdoubt\b",
    r"\b(?:tempt(?:ing|ed)|unlikely|if|whether|suppose|assuming|unless|except|anything but|might)\b",
    r"\b(?:people|students|others|everyone)\b",
    r"(?<!the )\b(?:many|most|some|they)(?: \w{1,20}){0,3}? (?:would|may|think|thought|say|said|believe|argue)\b",
    r"(?<!the )\b(?:many|most|some|they)(?: \w{1,20}){0,2} ?\Z",
)

# Words that join two options, and words that separate them.

_JOIN_WORD = _any(OR_WORDS, AND_WORDS, "か", r"\bif not\b", r"\bunless (?:it is|it's)\b")
# "A or probably option B": words that may be between two options that are joined.
_BESIDE = r"\b(?:option|choice|letter|probably|likely|i (?:think|guess|believe|suppose))\b"
# Text between two joined options: "A, B", "A / B", "A or option B".
_JOINED = _any(r"[\s()\[\],;:./|&+~>→\-–—…・·∨∧∪∩⁄\\]", _JOIN_WORD.pattern, _BESIDE, end="+")
# Text between copies of an option: "B B B", "B, B, B".
_COPY = re.compile(r"[ ,;]{1,3}")
_COPIES = 3
"""The number of consecutive copies that do not count as a choice. The number is arbitrary: nobody gives an option three
times in a row, and a policy that is stuck repeats it far more often."""
# One of these must be in the text between: "A B" may be a list of marks.
_OR_BEFORE = _any(_JOIN_WORD.pattern, r"\bnor\b", "[/&+]", ",\n")
_TOPIC = re.compile(r"[은는] ?")
"""A Korean topic particle. 정답은 B는 C has two options unless a sentence follows, as in B는 C와 달리."""
# The end of a Korean sentence, with a copula: "B입니다.".
_TOPIC_END = re.compile(r"[)\]]{0,2}(?:입니다|이다|이에요|예요|요)?[.!]?(?:\n|\Z)")
# The break between options on separate lines: "A\nB".
_LINE_BREAK = re.compile(r"[)\]]{0,2} ?[.!,;:]{0,2}\n[(\[]{0,2}")
# Text before a second answer: "A is right, and so is B."
_SO_IS = _any(r"\b(?:so|as|likewise) (?:is|are|was|does)", end=_OPENING)
# Text before a possible second answer: "A. Or perhaps B."
_PERHAPS = _any(r"\b(?:maybe|perhaps|possibly|it could be|or else)", end=_OPENING)
_ALSO_BEFORE = _any(
    r"\bor is (?:it|the answer)|\b(?:could|might|may|can) (?:also |well |equally )?be|\balso(?: be)?|\bequally|"
    r"\bif (?:(?:it|that|this|i)(?:'s|'m| is| was| am) )?(?:wrong|incorrect|not|mistaken),?(?: then)?",
    end=_OPENING,
)
_ALSO_AFTER = re.compile(
    rf"{_CLOSING},? (?:(?:is|are|seems|would be|could be|may be|might be) (?:also|equally|just as|as|similarly)"
    r"|(?:is \w+ )?(?:too|as well)\b|otherwise\b|else\b|"
    r"for (?:large|small|other|all other|negative|positive|even|odd)\b|(?:could|might) be (?:right|correct))\b",
    re.IGNORECASE,
)
"""Text after an option that makes it a second answer: "C is equally correct"."""

# "B if x > 0": an answer for one case only.
_CONDITION = re.compile(rf"{_CLOSING},? (?:if|when|unless|in case|provided|assuming)\b", re.IGNORECASE)
# "A because B is wrong", "A, not B": words that keep two options apart.
_APART = _any(
    r"\b(?:not|rather|since|because|instead|over|while|whereas|unlike|as|both|neither|all|combination|but)\b|[.!?] |\n"
)
# "A. red" lists an option, as the text of the option follows.
_LISTED_OPTION = re.compile(r"\. ?[^\s.]")
# "C) A and B": the text of an option names other options.
_LIST_OF_TWO = re.compile(r"(?:[)\]:]|\.) (?:both )?(\w) and (\w)(?: only)?(?=[.)]?(?:\n|\Z))")
# "A or (" before an option makes the option part of a list.
_LISTED = _any(r"(?:\b(?:or|and)|[,/|]) ?[(\[]?\Z")
# Text after a letter that is a label: "B)" or "B. red"; not "B.", which ends a sentence.
_ITS_LABEL = re.compile(r"[)\]:]|\. ?\w")
# A pick after one of these replaces the claim before it: "B is right. Actually, C".
_NEW_SENTENCE = _any(r"[.!?](?:\s|\Z)|\n", r"\b(?:so|thus|therefore|hence|actually|wait)\b")


def _denies(clause: str) -> bool:
    return bool(_DENIED.search(_JUDGMENT.sub(" ", clause)))


def chosen(options: Options, text: str, *, marked: bool) -> str | None:
    """Return the option that `text` chooses; None if it chooses no option or more than one.

    A marked answer must be the choice itself. In other text, the choice may be anywhere in an explanation.
    """
    if not marked and len(text) > 2 * _TAIL:
        # The end of a text nearly always states the answer, and reading only the end is much faster. It must include
        # enough text before the statement for words that may deny it.
        plain = options.plain(text[-_TAIL:])
        end = _Text(plain, tuple(options.mentions(plain) or ()), may_read_no=len(options.names) == 2)
        if end.last_lead >= _WINDOW and end.states_an_option:
            return end.choice(marked=False)
    plain = options.plain(text)
    name = options.named(" ".join(text.split())) or options.named(plain)
    mentions = None if name else options.mentions(plain)
    if not mentions:
        return name
    return _Text(plain, tuple(mentions), may_read_no=marked or len(options.names) == 2).choice(marked=marked)


@dataclass(frozen=True)
class _Text:
    """Plain text and its mentions of options, in order.

    Attributes:
        may_read_no: True if "B. No" is an option with its text, as in a marked answer or if there are two options.
            Otherwise, it may be a claim that is retracted.
    """

    text: str
    mentions: tuple[Mention, ...]
    may_read_no: bool

    @property
    def last_lead(self) -> int:
        """The start of the first phrase that states an option; -1 if there is none."""
        leads = [self._leads.get(mention.start) for mention in self.mentions]
        return min((lead for lead in leads if lead is not None), default=-1)

    @property
    def states_an_option(self) -> bool:
        return any(map(self._stated, range(len(self.mentions))))

    def choice(self, *, marked: bool) -> str | None:
        claims = self._claims(0, marked=marked)
        if not claims:
            return None
        corrected = self._corrected(claims[-1])
        if corrected is not None:
            claims = [corrected]
        start = self._kept_from(claims[-1])
        if start is not None:
            direct = [start] if start < len(self.mentions) and self._is_direct(start) else []
            claims = self._claims(start, marked=marked) or direct
        if not claims or (not marked and self._picked_later(claims[-1])):
            return None
        return self._settled(claims)

    def _claims(self, first: int, *, marked: bool) -> list[int]:
        """Return the claims of the first rank that has any claims, among the mentions starting at index `first`."""
        ranks: list[Rank] = [
            *(self._stated, self._line, self._concluded, self._right, self._subject, self._picked, self._pointed)
        ]
        for rank in [self._line, self._stated, self._right, self._pointed] if marked else ranks:
            claims = [number for number in range(first, len(self.mentions)) if rank(number)]
            if claims:
                return claims
        return []

    # retractions

    def _corrected(self, number: int) -> int | None:
        """Return the last mention that corrects the claim: "No, C." or "Actually, it's C."."""
        later = range(len(self.mentions) - 1, number, -1)
        return next((other for other in later if corrects(self.text, self._start(other)) and self._ends(other)), None)

    def _kept_from(self, number: int) -> int | None:
        """Return the first mention after a retraction of the claim ("Scratch that."); None if it is not retracted."""
        claim = self.mentions[number]
        retraction = last_retraction(self.text, self._end(number))
        if retraction is None:
            return None
        following = next(
            (n for n in range(number, len(self.mentions)) if self.mentions[n].start >= retraction.end),
            len(self.mentions),
        )
        nearest = max((n for n in range(following) if self.mentions[n].end <= retraction.start), default=number)
        return following if retraction.everything or self.mentions[nearest].name == claim.name else None

    def _is_direct(self, number: int) -> bool:
        """Return whether nothing but the mention follows the retraction: "Correction: C.", "Scratch that. It's C."."""
        return corrects(self.text, self._start(number)) or (self._ends(number) and not self._denied(number))

    def _ends(self, number: int) -> bool:
        """Return whether the mention ends its clause, or labels the text after it."""
        end = self.mentions[number].end
        ends = _STOPS.match(self.text, end) or _LABELS.match(self.text, end) or _RIGHT.match(self.text, end)
        return bool(ends) and not self._denied(number)

    def _start(self, number: int) -> int:
        return self.mentions[number].start

    def _denied(self, number: int) -> bool:
        return denied_before(self.text, self.mentions[number].start) or denied_after(self.text, self._end(number))

    def _end(self, number: int) -> int:
        """Return the end of a mention, including option text that sounds like a denial: "(B) No", "A. False"."""
        end = self.mentions[number].end
        text = _NAY.match(self.text, end)
        return text.end() if text and (self.may_read_no or text["bracket"]) else end

    def _picked_later(self, number: int) -> bool:
        """Return whether the claim is withdrawn because another option is picked after it."""
        name, later = self.mentions[number].name, range(number + 1, len(self.mentions))
        return any(self.mentions[n].name != name and (self._picked(n) or self._replaces(n)) for n in later)

    def _replaces(self, number: int) -> bool:
        """Return whether the mention is a whole sentence or its conclusion: "Edit: C.", "So C is the answer."."""
        mention = self.mentions[number]
        lead = _REPLACING.search(self.text, max(0, mention.start - _SHORT), mention.start)
        if lead is None:
            return False
        if lead["concludes"] and self._right(number):
            return True
        end = _SENTENCE_OVER.match(self.text, mention.end)
        is_last = end is not None and end.end() == len(self.text) and self.text[mention.start].isupper()
        if end is None or not (lead["concludes"] or lead["label"] or is_last):
            return False
        return not self._is_withdrawn(number, mention.start)

    def _settled(self, claims: list[int]) -> str | None:
        last = self.mentions[claims[-1]]
        after = last
        for number in reversed(claims):
            mention = self.mentions[number]
            sentence_break = _NEW_SENTENCE.search(self.text, mention.end, after.start)
            if sentence_break and not _ALSO.match(self.text, after.end):
                break
            if mention.name != last.name:
                return None
            after = mention
        return None if self._hedged(claims[-1]) else last.name

    # the ranks

    def _stated(self, number: int) -> bool:
        lead = self._leads.get(self.mentions[number].start)
        if lead is None or self._is_denied_or_asked(number) or self._predicated(number):
            return False
        return not _denies(self._clause(lead))

    @cached_property
    def _unclaimed(self) -> frozenset[int]:
        """The positions of stated options that the writer does not claim: "My friend says the answer is B"."""
        starts = {mention.start for mention in self.mentions}
        stated = ((self._to_mention(statement.start), statement) for statement in self._statements)
        return frozenset(
            start
            for start, statement in stated
            if start in starts
            and not is_claimed(self.text, statement)
            and not _OR_LEAD.search(self.text, max(0, statement.lead - _SHORT), statement.lead)
        )

    @cached_property
    def _statements(self) -> list[Statement]:
        return list(statements(self.text))

    @cached_property
    def _leads(self) -> dict[int, int]:
        """A map from the position of each stated option to the start of the words that state it."""
        leads = dict(self._phrases())
        leads |= {start: lead for lead, start in self._statements}
        return {self._to_mention(start): lead for start, lead in leads.items()}

    def _to_mention(self, start: int) -> int:
        to_mention = _TO_MENTION.match(self.text, start)
        return to_mention.end() if to_mention else start

    def _phrases(self) -> Iterator[tuple[int, int]]:
        lowered = self.text.replace("İ", "I").lower()
        for word, pattern in _LEADS.items():
            for position in from_the_end(lowered, word):
                if phrase := pattern.match(self.text, position):
                    yield phrase.end(), position

    def _concluded(self, number: int) -> bool:
        mention = self.mentions[number]
        if not (_STOPS.match(self.text, mention.end) or _OPTION_TEXT.match(self.text, mention.end)):
            return False
        start = max(0, mention.start - _WINDOW)
        phrase = _CONCLUDED_SUBJECT.search(self.text, start, mention.start)
        return phrase is not None and not self._is_withdrawn(number, mention.start)

    def _right(self, number: int) -> bool:
        mention = self.mentions[number]
        right = _RIGHT.match(self.text, mention.end, mention.end + _WINDOW)
        # A match of `_NAMED_OPTION` has at most 9 characters.
        if not right and _NAMED_OPTION.search(self.text, max(0, mention.start - 10), mention.start):
            right = _BEST.match(self.text, mention.end)
        if not right or self._starts_before(number + 1, right.end()) or self._is_listed(number):
            return False
        return not _ASKED.match(self.text, right.end()) and not _denies(self._clause(mention.start))

    def _is_listed(self, number: int) -> bool:
        """Return whether the mention ends a list of options, as in "none of (A, B, C) is correct".

        In "Of A and B, A", the last A is chosen.
        """
        first = number
        while first and self.mentions[first - 1].name != self.mentions[number].name and self._joined(first - 1):
            first -= 1
        ends_list = first < number
        return ends_list and not (first and self._joined(first - 1))

    def _subject(self, number: int) -> bool:
        return self._follows(number, _SUBJECT) and bool(_OPTION_TEXT.match(self.text, self.mentions[number].end))

    def _line(self, number: int) -> bool:
        return number in self._lines

    def _picked(self, number: int) -> bool:
        mention = self.mentions[number]
        if self._follows(number, _PICKED):
            return not self._predicated(number)
        stops = _STOPS.match(self.text, mention.end)
        if len(mention.name) > 1 and self._follows(number, _JUDGED):
            return bool(stops or _JUDGED_NOUN.match(self.text, mention.end))
        return bool(stops) and self._follows(number, _CONCLUDED)

    def _pointed(self, number: int) -> bool:
        mention = self.mentions[number]
        line_end = _OVER.match(self.text, mention.end)
        return bool(line_end and line_end.end() == len(self.text) and self._follows(number, _POINTED))

    @cached_property
    def _lines(self) -> frozenset[int]:
        """The mentions that fill or label the first or last line; empty if other options also have such lines."""
        starting = [number for number in range(len(self.mentions)) if self._starts_line(number)]
        tasks = [number for number in starting if self.text[self.mentions[number].start].islower()]
        if tasks and len({m.name for m in self.mentions if self.text[m.start].islower()}) > 1:
            starting = [number for number in starting if number not in tasks]  # (a) ... (b) ... are parts of a solution
        alone = [number for number in starting if _OVER.match(self.text, self.mentions[number].end)]
        labels = [number for number in starting if _LABELS.match(self.text, self.mentions[number].end)]
        names = [self.mentions[number].name for number in labels]
        if len(names) > 2 and names[-1] in names[:-1] and len(set(names)) == len(names) - 1:
            labels = labels[-1:]  # all options are listed, and one of them again
        first, last = self.text.find("\n"), self.text.rfind("\n")
        first = len(self.text) if first < 0 else first
        for lines in (alone, labels):
            edges = [n for n in lines if self.mentions[n].start < first or self.mentions[n].start > last]
            if edges:
                is_single = len({self.mentions[number].name for number in lines}) == 1
                return frozenset(edges if is_single else ())
        return frozenset()

    def _starts_line(self, number: int) -> bool:
        start = self.mentions[number].start
        line = self.text.rfind("\n", 0, start) + 1
        end = self.text.find("\n", start, start + _PART_OF_A_SOLUTION)
        if self.text[start].islower() and end < 0 and len(self.text) > start + _PART_OF_A_SOLUTION:
            return False
        return (
            start - line < _SHORT
            and bool(_LINE_START.fullmatch(self.text, line, start))
            and not self._is_withdrawn(number, line)
            and not (line and self.text[line - 2] not in ".!?;…" and _denies(self._clause(line - 1).rstrip(":")))
        )

    # the text around a mention

    def _follows(self, number: int, lead: re.Pattern[str]) -> bool:
        """Return whether `lead` precedes the mention, and the mention is neither denied nor questioned."""
        start = self.mentions[number].start
        phrase = lead.search(self.text, max(0, start - _SHORT), start)
        return phrase is not None and not self._is_withdrawn(number, phrase.start())

    def _is_withdrawn(self, number: int, start: int) -> bool:
        """Return whether the mention, or the clause before `start`, is denied, doubted, or questioned."""
        return self._is_denied_or_asked(number) or _denies(self._clause(start))

    def _is_denied_or_asked(self, number: int) -> bool:
        end = self._end(number)
        if any(pattern.match(self.text, end) for pattern in (_ASKED, _WRONG, _PART)):
            return True
        if self._start(number) in self._unclaimed:
            return True
        return self._denied(number)

    def _clause(self, end: int) -> str:
        """Return the clause before `end`."""
        window = self.text[max(0, end - _WINDOW) : end]
        boundary = 0
        for match in _CLAUSE.finditer(window):
            boundary = match.end()
        return window[boundary:]

    def _predicated(self, number: int) -> bool:
        return bool(_PREDICATE.match(self.text, self.mentions[number].end))

    def _starts_before(self, number: int, end: int) -> bool:
        return number < len(self.mentions) and self.mentions[number].start < end

    # other options joined to a claim

    def _hedged(self, number: int) -> bool:
        name = self.mentions[number].name
        if self._is_repeated(number):
            return True
        if number and self.mentions[number - 1].name != name and self._joined(number - 1, _OR_BEFORE):
            return True
        end = number
        while end + 1 < len(self.mentions) and self._joined(end):
            end += 1
        if (number + 1 < len(self.mentions) and self._next_is_added(number)) or self._is_one_of_two(number):
            return True
        if self._lists_options(number):
            return True
        if self._is_label_of_list(number):
            return False
        has_others = any(mention.name != name for mention in self.mentions[number + 1 : end + 1])
        if has_others and _PLURAL.match(self.text, self.mentions[end].end):
            # "B, C and D are wrong", but not "B - C and D are wrong"
            return not _DASH.match(self.text, self.mentions[number].end)
        return (has_others and not self._predicated(end)) or self._lists_another(number)

    def _is_repeated(self, number: int) -> bool:
        """Return whether the mention is one of several copies in a row: "B B B"."""
        name, first, last = self.mentions[number].name, number, number
        while first and self.mentions[first - 1].name == name and self._is_copied(first - 1):
            first -= 1
        while last + 1 < len(self.mentions) and self.mentions[last + 1].name == name and self._is_copied(last):
            last += 1
        return last - first + 1 >= _COPIES

    def _is_copied(self, number: int) -> bool:
        return _COPY.fullmatch(self.text, self.mentions[number].end, self.mentions[number + 1].start) is not None

    def _lists_options(self, number: int) -> bool:
        """Return whether two other options with their text follow on the same line: "A. one B. two C. three"."""
        end = self.text.find("\n", self.mentions[number].end)
        end = len(self.text) if end < 0 else end
        following = (m for m in self.mentions[number + 1 :] if m.start < end and _LISTED_OPTION.match(self.text, m.end))
        return len({mention.name for mention in following} - {self.mentions[number].name}) > 1

    def _is_label_of_list(self, number: int) -> bool:
        """Return whether the mention is a label for text that names two options: "D) A and B only"."""
        text = _LIST_OF_TWO.match(self.text, self.mentions[number].end)
        following = self.mentions[number + 1 : number + 3]
        return text is not None and [(m.start, m.end) for m in following] == [text.span(1), text.span(2)]

    def _next_is_added(self, number: int) -> bool:
        """Return whether the next mention adds another option as a second answer: on a separate line, or "so is C"."""
        mention, other = self.mentions[number], self.mentions[number + 1]
        if other.name == mention.name or other.start - mention.end > _WINDOW:
            return False
        between = self.text[mention.end : other.start]
        if _TOPIC.fullmatch(between) and _TOPIC_END.match(self.text, other.end):
            return True
        if _SO_IS.search(between) or (len(between) < _SHORT and _PERHAPS.search(between)):
            return True
        alone = _OVER.match(self.text, mention.end) and _OVER.match(self.text, other.end)
        return bool(alone) and _LINE_BREAK.fullmatch(between) is not None

    def _is_one_of_two(self, number: int) -> bool:
        """Return whether another option is also called correct, or is the answer under another condition."""
        claim = self.mentions[number]
        conditional = _CONDITION.match(self.text, claim.end)
        for other in self.mentions[number + 1 :]:
            if other.name == claim.name:
                continue
            before = self.text[max(0, other.start - _SHORT) : other.start]
            also = _ALSO_BEFORE.search(before) or _ALSO_AFTER.match(self.text, other.end)
            if also and (_ASKED.match(self.text, other.end) or not denied_after(self.text, other.end)):
                return True
            if conditional and not _APART.search(self.text, claim.end, other.start):
                return True
        return False

    def _joined(self, number: int, word: re.Pattern[str] | None = None) -> bool:
        """Return whether only joining words or marks precede the next mention. Across lines, a word is required."""
        between = self.text[self.mentions[number].end : self.mentions[number + 1].start]
        if len(between) > _WINDOW or not _JOINED.fullmatch(between):
            return False
        if word:
            return bool(word.search(between))
        return "\n" not in between or between == ",\n" or bool(_JOIN_WORD.search(between))

    def _lists_another(self, number: int) -> bool:
        """Return whether the mention's sentence continues with ``or C) ...``."""
        name, end = self.mentions[number].name, self.mentions[number].end
        for follower in range(number + 1, len(self.mentions)):
            mention = self.mentions[follower]
            if mention.start - end > _WINDOW or _APART.search(self.text, end + 2, mention.start):
                return False
            # A match of `_LISTED` has at most 5 characters.
            list_match = _LISTED.search(self.text[max(0, mention.start - 8) : mention.start])
            if list_match and mention.name != name and _ITS_LABEL.match(self.text, mention.end):
                return not self._predicated(follower)
        return False
