r"""Distinguish the claims in a text from mere mentions: ``not 42``, ``42 is wrong``, and ``Is it 42?`` do not claim 42.

A mention is a part of a text, from `start` to `end`: a number, or an answer option. It is a claim unless the words next
to it deny it (``rather than 42``), doubt it (``it might be 42``), suppose it (``if it is 42``), or report it
(``others say 42``). "Next to it" is meant literally: ``the number of people who do not pass is 42`` claims 42. After a
retraction (``No wait, 41``), earlier claims no longer count.

Texts must have straight apostrophes. Every function reads at most `WINDOW` characters around a mention, or reads the
text once.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from rewardkit.text.phrases import WRONG_WORDS, words

WINDOW = 160
"""The number of characters to read around a mention, half of them on each side. At 60, the word "incorrect" in "42
apples is incorrect" is missed. Ten times as many change no test result, and reading the whole text for every mention
would take quadratic time."""


# Before a mention.

_LINKS = frozenset((
    "case", "expect", "says", "thinks", "believes", "claims", "write", "output", "enter",
    "=", "a", "absolutely", "actually", "an", "answer", "answers", "are", "as", "at", "be", "been", "being",
    "believe", "by", "certain", "certainly", "choice", "claim", "claiming", "clearly", "convinced", "correct",
    "count", "definitely", "equal", "equaling", "equals", "es", "est", "even", "exactly", "final", "for", "from",
    "give", "gives", "guess", "guessing", "i'd", "i'm", "is", "ist", "it", "it's", "its", "just", "least", "like",
    "likely", "mean", "must", "necessarily", "number", "option", "plausible", "possible", "possibly", "precisely",
    "probably", "quantity", "quite", "really", "result", "right", "say", "saying", "simply", "solution", "son",
    "sum", "sure", "that", "that's", "the", "there", "they", "think", "thinking", "this", "to", "total", "truly",
    "value", "was", "were", "would", "x", "y", "z", "n", "é", "è", "это", "равно",
    "là", "phải", "ole", "on", "este", "είναι", "ni", "adalah", "är", "er", "het", "de", "la", "le", "el", "igual",
    "égal", "gleich",
))  # fmt: skip
"""Words that may link a denial to a mention: "not [likely to be equal to] 42"."""

_OPINIONS = frozenset((
    "says", "thinks", "believes", "claims", "expect",
    "believe", "claim", "guess", "say", "saying", "think", "thinking",
))  # fmt: skip
_OTHERS = frozenset((
    "nobody", "noone",
    "people", "students", "others", "everyone", "many", "most", "some", "they", "one", "he", "she", "you",
    "friends",
))  # fmt: skip
"""People whose opinions are not the writer's: "some [say it is] 42"."""

_DENIALS = frozenset((
    "n't", "isnt", "arent", "wasnt", "doesnt", "dont", "didnt", "cant", "couldnt", "wont", "wouldnt", "discarding",
    "mistake",
    "not", "never", "isn't", "aren't", "wasn't", "weren't", "cannot", "can't", "couldn't", "won't", "wouldn't",
    "shouldn't", "don't", "doesn't", "didn't", "ain't", "neither", "nor", "doubts", "doubted", "doubtful",
    "unlikely", "except", "excluding", "exclude", "excludes", "excluded", "eliminate", "eliminates", "eliminated",
    "eliminating", "reject", "rejects", "rejected", "rejecting", "discard", "discarded", "dismiss", "dismissed",
    "ignore", "ignoring", "wrong", "incorrect", "incorrectly", "wrongly", "false", "falsely", "mistaken",
    "mistakenly", "worst", "opposite", "distractor", "trap", "nowhere", "thought", "guessed", "≠", "!=", "/=", "<>",
    "example", "e.g.", *words("not").split("|"),
))  # fmt: skip
_SUPPOSED = frozenset((
    "might", "may", "could", "if", "whether", "suppose", "supposing", "assume", "assuming", "assumed", "unless",
    "imagine", "pretend",
))  # fmt: skip
"""Words that deny a mention only through a link: "it may [be] 42", but not "in May 42 people came"."""

_NO = frozenset(("no", "without", "beyond", "any", "little"))
_TWO_WORDS = {
    "than": ("rather", "other", "different"),
    "of": ("instead", "short"),
    "as": ("such",),
    "out": ("rule", "ruled", "rules", "ruling"),
    "es": ("no",),
    "son": ("no",),
    "este": ("nu",),
    "circumstances": ("no",),
    "way": ("no",),
    "account": ("no",),
    "means": ("no",),
    "case": ("no",),
    "near": ("nowhere", "not", "isn't"),
}
"""Two-word denials: the second word -> the first words that turn it into a denial."""

# Signs, and words in languages without spaces, that deny a mention right after them.
_SIGNS = (
    "≠", "!=", "✗", "✘", "❌", "✖", "不是", "并非", "並非", "不等于", "不等於", "不会是",
    "不可能是", "而非", "不选", "不選", "不应选", "不为", "不為", "没有", "非", "ไม่ใช่", "ไม่", "มิใช่", "ບໍ່ແມ່ນ", "មិនមែន",
)  # fmt: skip
_MARKUP = '*_`$"“”«»„()[]{}~\\'
_MOST_WORDS = 14
"""The number of words to read before a mention. Arbitrary: 80 characters contain about this many words."""


def denied_before(text: str, start: int) -> bool:
    """Return whether the words before the mention at `start` deny, doubt, suppose, or report it."""
    tail = text[max(0, start - WINDOW // 2) : start].lower()
    if not tail.isascii() and tail.rstrip(_MARKUP + " ").endswith(_SIGNS):
        return True
    lines, _, tail = tail.rpartition("\n")
    if not tail.strip(_MARKUP + " "):  # a line that does not end its sentence continues: "It is not equal to\n42"
        tail = lines.rstrip().rpartition("\n")[2].rstrip(":")
        if tail.endswith((".", "!", "?", ";", "。")):
            return False
    linked = opinion = False
    for _ in range(_MOST_WORDS):
        tail, word = _last_word(tail)
        if word[-1:] == ":" and not linked:
            word = word[:-1]
        if word == "doubt" or (word == "but" and _last_word(tail)[1] == "anything"):
            rest, before = _last_word(tail)  # "no doubt that it is 42", "it can't be anything but 42"
            rest = rest if word == "but" else tail
            return before not in _NO and not denied_before(rest, len(rest))
        if word in _DENIALS or (linked and word in _SUPPOSED) or (opinion and word in _OTHERS):
            return True
        if word in _TWO_WORDS and _last_word(tail)[1] in _TWO_WORDS[word]:
            return True
        if word not in _LINKS and (word or not tail):
            return False
        linked, opinion = linked or bool(word), opinion or word in _OPINIONS
    return False


def _last_word(text: str) -> tuple[str, str]:
    """Return (`text` without its last word, the last word without markup)."""
    parts = text.rsplit(None, 1)
    return (parts[0] if len(parts) > 1 else "", parts[-1].strip(_MARKUP) if parts else "")


# After a mention.

# Forms of "be" after a mention, with "'s" as in "42's wrong".
_BE = r"(?:is|was|are|were|would be|will be|seems|looks|must be|has to be|'s)"
# Words that deny a mention after "is": "42 is too large", "42 is a trap" and "42 was my first guess". "out" does not
# match in "is out of the question".
_FALSE = (
    r"(?:wrong|incorrect|false|impossible|mistaken|invalid|ruled out|excluded|eliminated|out\b(?! of)|nonsense|absurd|"
    r"extraneous|rejected|discarded|refuted|disproved|inadmissible|infeasible|contradict\w+|a contradiction|"
    r"unlikely|a (?:trap|mistake|distractor|lie|wrong|common (?:mistake|error))|an (?:error|incorrect)|"
    r"(?:just )?(?:my|the|a) (?:guess|(?:first|initial|old|wrong) (?:guess|answer|thought))|"
    r"(?:far |much |way )?too (?:big|small|large|little|high|low|many|much|long|short|few)\b)"
)
# Words that deny a mention after "not": "42 is not right", "is not the answer", "is not what we want".
_TRUE = (
    r"(?:it\b|right|correct|true|possible|valid|plausible|"
    r"(?:the|my|an?|our) (?:\w+ )?(?:answer|solution|result|option|choice)|"
    r"what (?:we|i) (?:want|need)|the (?:right|correct|number|value|case))"
)
# The end of a denial: "42 - no." denies 42, but in "42 - no tax is added", "no" belongs to a noun.
_UNDENIED = r"(?=[ ]?[)\].!,;|\n]|\Z)"
_DENIED_AFTER = "|".join((
    # "42 is wrong", "42, which is not the answer", "42, but it's too large"
    r"(?: ?[,:–—-]|(?:,? ?\(| ?[,;–—-]) ?(?:which|that|it|this|and that)|,? ?(?:but|however),? (?:it|that|this))? ?"
    rf"{_BE} (?:\w+ly |just |simply |also )?(?:not (?:\w+ly )?{_TRUE}|{_FALSE})",
    # "42 isn't right", "42; it can't be true"
    r"(?:,? which| ?[;–—-] ?(?:it|that|this))? (?:isn't|wasn't|can't be|cannot be|can not be|couldn't be) "
    rf"(?:\w+ly )?{_TRUE}",
    # "42 can't be right", "42 doesn't work"
    r"(?:,? which)? (?:can't|cannot|can not|couldn't|won't|doesn't|does not|didn't|fails to|will not)"
    r" (?:be (?:it|right|correct|true|the)|hold|work|fit|do\b|satisfy|make sense|match|check out)",
    # "42 makes no sense", "42 isn't."
    rf"(?:,? which)? (?:(?:fails|makes no sense|must be wrong|has been ruled out)\b|isn't{_UNDENIED})",
    # "42 (wrong)", "42 - no good."
    rf" ?[,;:=→|–—-]? ?[(\[]? ?(?:wrong|incorrect|false|impossible|invalid|rejected|extraneous|"
    rf"not (?:it|right|correct|true|"
    rf"really)|no good|(?:but )?no(?:pe)?|just (?:a guess|guessing|kidding)|kidding|a contradiction){_UNDENIED}",
    # "42 - not!"
    r" ?[,–—-]? ?\(?not(?:[.!)\n]|\Z)",
    # "42, but that isn't", "42, which contradicts"
    r",? (?:but|however),? (?:it|that|this) (?:isn't|wasn't|can't|cannot|doesn't|(?:is|was) not|'s not)|"
    r",? which contradicts\b| it is not\b",
    # "42?", "42 ✗"
    r" ?[?？✗✘❌✖吗嗎]",
    # Japanese and Korean put the denial after the number: "42ではない", "42가 아니다"
    r" ?(?:ではな|ではあり|じゃな|では無|[はが]?(?:間違|誤り|不正解)|[은는이가]? ?아[니닙닌]|[이가]? ?틀[리렸])",
    # "42不对"
    r" ?(?:不对|不對|不正确|不正確|是错|是錯|错误|錯誤)",
    # "42 ist falsch", "42 est faux", "42 неверно"
    r" (?:ist|sind) (?:falsch|nicht)| (?:es|son) (?:incorrect|fals|erróne)| est (?:faux|incorrect)| неверно| неправ",
    # "42とは思わない": not thought to be 42
    r" ?(?:とは(?:思わ|思い(?:ませ|難)|言え|限ら)|라고 (?:생각|보)\w*지|[은는이가]? ?아니)",
    # a denial in any language of the table, after up to two words
    rf" ?(?:[^\s\d,.;:!?。，、।]{{1,20}} ){{0,2}}(?:{words('not_last')})(?![^\W\d])",
    # "42, falsch"
    rf" ?[-–—,，、;(（。.] ?(?:{WRONG_WORDS})(?![^\W\d])",
))  # fmt: skip
# "42 apples is wrong": up to two words, none of which begins another clause.
_NOUN = r" ?(?!(?:because|since|as|and|or|but|so|while|if|which|that|not|rather|than|instead)\b)[a-z%°]{1,20}"
# A denial after a mention, with only closing marks between them: "42) is wrong", "42?".
_CLOSE_AFTER = re.compile(rf"[)\]*_`$\"'”’»]{{0,4}}(?:{_DENIED_AFTER})")
# A denial after a mention with a noun: "42 apples is wrong".
_AFTER = re.compile(rf"[)\]}}*_`$\"'”’»\\]{{0,6}}(?:{_NOUN}){{0,2}}?(?:{_DENIED_AFTER})")
# Every denial above contains one of these words; searching for them first is faster than matching the denials.
_MAY_DENY = re.compile(
    r"[?？✗✘❌✖吗嗎]|not\b|n't|wrong|incor|false|impos|mistak|inval|ruled|excl|elim|out\b|nonse|absurd|unlike|trap|"
    r"but|contra|extran|reject|disc|refut|disp|inad|infe|kidding|"
    r"\bno(?:pe)?\b|error|guess|answer|thought|too |fail|sense|good|lie\b|distr|falsch|nicht|fals|erró|faux|"
    rf"невер|неправ|で|じ|아니|아닙|아닌|틀|不|错|錯|は|が|と|라고|{words('not_last')}|{WRONG_WORDS}"
)
_WRAPPED = re.compile(r"\A[ \t]*\n[ \t]*(?=(?:is|was|are|isn't|wasn't|cannot|can't|does|doesn't|which)\b)")
"""A line that continues with a verb does not end a sentence: "42\nis wrong"."""

# A period ends a sentence only before a space: 3.5 is one number.
_SENTENCE_END = re.compile(r"[?？]|[!。！\n]|\.(?:\s|\Z)")


def denied_after(text: str, end: int, *, noun: bool = False) -> bool:
    """Return whether the words after the mention that ends at `end` deny it or ask about it.

    Args:
        noun: True if a noun may follow the mention: "42 apples is wrong".
    """
    tail = _WRAPPED.sub(" ", text[end : end + WINDOW // 2].lower(), count=1)
    if tail.lstrip(_MARKUP)[:1] in ("", ".", "\n"):
        return False
    return bool(_MAY_DENY.search(tail, 0, WINDOW // 4) and (_AFTER if noun else _CLOSE_AFTER).match(tail))


def asked(text: str, end: int) -> bool:
    """Return whether the sentence of the mention that ends at `end` is a question."""
    stop = _SENTENCE_END.search(text, end, end + WINDOW)
    return stop is not None and stop[0] in "?？"


# Retractions.

# A retraction of all earlier claims: "No, wait", "I changed my mind"; not "wait for the bus" or "never mind the rest".
_RETRACTED = re.compile(
    r"(?<![a-z])(?:(?:no|hold on|oops|hmm)[,.!]* ?wait\b|wait[,.!]* ?no\b|correction ?[,:–—]|"
    r"(?:scratch|strike|forget|ignore|disregard) (?:that|this|it|the above|what i (?:said|wrote))\b|"
    r"(?:i|we) (?:was|am|were|have been) (?:wrong|mistaken)\b|i stand corrected\b|i take (?:that|it) back\b|"
    r"(?:oops|wait|hold on|psych|jk)[.!]|i (?:have )?changed my mind\b|i've changed my mind\b|"
    r"i lied\b|let me reconsider\b|i made (?:that|this|it) up\b|"
    r"i (?:now |want to |have to |would like to )?change (?:my (?:answer|mind|choice)|that|this|it) to\b|"
    r"(?:please )?ignore(?: the)? (?:previous|above)|please ignore\b|"
    r"never ?mind\b(?! the\b)|on second thoughts?\b|i (?:have )?made an? (?:mistake|error|slip)\b|"
    r"i misspoke\b|i meant\b|"
    r"my (?:mistake|bad|apologies)\b|let me correct (?:that|this|myself|it)\b|just kidding\b|"
    r"i (?:hereby )?(?:retract|withdraw)\b|"
    r"(?:i'm|i am) (?:(?:not (?:so |quite |really |at all )?(?:sure|certain|confident)\b(?! (?:if|whether) you))|"
    r"lying|joking)|"
    r"(?:that|this|it) (?:was|is) (?:just |only )?a (?:joke|lie|guess)\b|don't (?:believe|trust) (?:me|it|that|this)\b|"
    r"(?:nein|non|нет|não),? (?:warte|moment|attend|подожди|espera)|no,? espera|"
    r"(?:korrektur|corrección|correção|correzione|поправка) ?:)|"
    r"更正|口误|我错了|我錯了|等等[,，]|(?:不对|不對)[,，。]|訂正|間違えました|정정|잠깐만"
)
# A retraction of the last mention: "That's wrong." or the sentence "No."; not "that is wrong to say" or "No tax is
# added".
_TAKEN_BACK = re.compile(
    r"(?<![a-z])(?:(?:that|this|which|it)(?:'s| is| was) (?:\w+ly )?(?:wrong|incorrect|false|a mistake|an error|"
    r"not (?:right|correct|true))\b(?! (?:to|that|because|if)\b)|(?:that|this|it) (?:isn't|wasn't|can't be|cannot be|"
    r"doesn't (?:seem|look)|does not (?:seem|look)) "
    r"(?:right|correct|true|it)\b|that(?:'s| is) (?:impossible|not it)\b|the above is (?:wrong|incorrect)\b|"
    r"(?:that|this|the|my) (?:\w+ )?(?:answer|claim|result|option|choice)(?: \w+)? (?:is|was) (?:\w+ly )?"
    r"(?:wrong|incorrect|false|not (?:right|correct|true))\b)|"
    r"(?<=[.!?\n)。！]) ?(?:(?:hmm|oh|well|um|uh),? )?(?:no|nope|wrong|incorrect|false|not|not really|it(?:'s| is) not|"
    rf"nein|non|não|{WRONG_WORDS})(?:[.!。！]+(?=\s|\Z)|\Z)"
)
_SHORTEST = 3
"""The length of the shortest retraction, "No."."""
# Every retraction contains one of these words; a text without them is not searched further.
_RETRACTION_WORD = re.compile(
    r"sure|certain|confident|lying|joking|joke|lie\b|guess|believe|trust|wait|hold on|psych|jk|lied|reconsider|oops|"
    r"doesn't|does not|impossible|"
    r"correct|scratch|strike|forget|ignore|disregard|wrong|mistake|back|mind|thought|error|slip|misspoke|meant|"
    r"my bad|apolog|kidding|made|change|retract|withdraw|false|isn't|wasn't|can't|cannot|nope|no[.!]|no\Z|not|"
    r"warte|moment|attend|подожди|espera|"
    rf"{WRONG_WORDS}|nein|non|não|korrek|corre|поправ|更正|口误|我错了|我錯了|等等|不对|不對|訂正|間違|정정|잠깐"
)
# Words before a retraction that cancel it: "I am not sure that's wrong" and "check if that's wrong" take nothing back.
_NOT_MEANT = re.compile(r"(?:not|n't|never|nothing|if|why|what|whether|think|thinks|say|says|check|sure)\s(?:\w+\s)?\Z")
# Words right before a new value: "Actually, 41", "no: it's 41", "make that 41".
_CORRECTS = re.compile(
    rf"(?<![^\W\d_])(?:{words('no')}|"
    r"actually|no|wait|hmm|sorry|oops|or rather|i mean|i meant|make (?:that|it)|"
    r"change (?:that|it) to|it should be)[,:.!、，]*(?: (?:it's|it is|that's|i mean|make (?:that|it)|"
    r"the (?:correct |right |final )?answer (?:is|should be)|it (?:should|must) be|"
    r"we get|it'd be))*:? ?[*_`$(\"'\[]{0,4}\Z"
)


@dataclass(frozen=True)
class Retraction:
    """A phrase that retracts an earlier claim.

    Attributes:
        start, end: the position of the phrase.
        everything: True if it withdraws all earlier claims ("No wait"), not only the last mention ("That's wrong.").
    """

    start: int
    end: int
    everything: bool


def last_retraction(text: str, start: int) -> Retraction | None:
    """Return the last retraction in ``text[start:]``, preferably one that withdraws everything."""
    if len(text) - start < _SHORTEST:
        return None
    tail = text[start:].replace("İ", "i").lower()
    if not _RETRACTION_WORD.search(tail):
        return None
    for pattern, everything in ((_RETRACTED, True), (_TAKEN_BACK, False)):
        for match in reversed(list(pattern.finditer(tail))):
            # 24 characters are arbitrary: they contain about two words, as `_NOT_MEANT` needs.
            if not _NOT_MEANT.search(tail, max(0, match.start() - 24), match.start()):
                return Retraction(start + match.start(), start + match.end(), everything)
    return None


def corrects(text: str, start: int) -> bool:
    """Return whether the mention at `start` replaces an earlier claim: "Actually, 41", "no, 41"."""
    # 60 characters are arbitrary, but longer than any single phrase of `_CORRECTS`.
    return _CORRECTS.search(text[max(0, start - 60) : start].lower()) is not None


# Text that a reader does not see, or sees struck out.

# Struck-out text: at most 400 characters, without an empty line, as two "~~" far apart may both mean "about".
_CROSSED_OUT = re.compile(r"(?<!~)~~(?!~)(?:[^~\n]|\n(?![ \t]*\n)){1,400}(?<!~)~~(?!~)")
# Marks that strike out a character, and other marks and invisible characters, which may be on the same character.
_STROKES = "\u0334-\u0338\u20d2\u20d3\u20e0\u20e5\u20e6\u20ea\u20eb"
_OTHER_MARKS = (
    "\u0300-\u0333\u0339-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0\u20d1\u20d4-\u20df\u20e1-\u20e4\u20e7-\u20e9"
    "\u20ec-\u20f0\ufe00-\ufe0f\ufe20-\ufe2f\u00ad\u200b-\u200d\u2060\ufeff"
)
_STROKE = rf"(?=[{_OTHER_MARKS}]*[{_STROKES}])[{_OTHER_MARKS}{_STROKES}]+"
# Characters with such a mark on each: it begins with a letter or a digit, as "=" with a stroke is "is not equal to".
_OVERLAID = re.compile(rf"[^\W_]{_STROKE}(?:[^\n{_OTHER_MARKS}{_STROKES}]{_STROKE})*")
# Parts of a page that are struck out, or that CSS hides: <span style="display:none">.
_HIDDEN_TAG = re.compile(
    r"<(?:(del|s|strike)\b[^<>]{0,60}"
    r"|(\w{1,10})\s[^<>]{0,60}?(?:display: ?none|visibility: ?hidden|\bhidden\b)[^<>]{0,60})>",
    re.IGNORECASE,
)
_LONGEST_S = 400
"""The maximum length of the text in ``<s>``, the same as for "~~". ``<s>`` and ``</s>`` may also be the tokens at
the beginning and the end of a text."""


def without_struck(text: str) -> str:
    """Return `text` without struck-through or hidden parts: ``~~41~~ 42`` and ``4\u03361\u0336 42`` are ``"  42"``."""
    if "<!--" in text:
        head, *comments = text.split("<!--")
        text = head + " ".join(after for _, closed, after in (part.partition("-->") for part in comments) if closed)
    if "~~" in text:
        text = _CROSSED_OUT.sub(" ", text)
    if not text.isascii():
        text = _OVERLAID.sub(_without_whole_word, text)
    return _without_hidden(text) if "</" in text else text


def _without_whole_word(overlaid: re.Match[str]) -> str:
    """Return " " for a struck-through word. Part of a word is kept, because ø may be an o with a stroke."""
    text, start, end = overlaid.string, overlaid.start(), overlaid.end()
    return overlaid[0] if text[max(0, start - 1) : start].isalnum() or text[end : end + 1].isalnum() else " "


def _without_hidden(text: str) -> str:
    lowered = text.replace("İ", "I").lower()
    pieces, position, unclosed = [], 0, set()
    for tag in _HIDDEN_TAG.finditer(text):
        name = (tag[1] or tag[2]).lower()
        if tag.start() < position or name in unclosed:
            continue
        closing = f"</{name}>"
        end = lowered.find(closing, tag.end(), tag.end() + _LONGEST_S if name == "s" else None)
        if end >= 0:
            pieces += [text[position : tag.start()], " "]
            position = end + len(closing)
        elif name != "s":
            unclosed.add(name)
    return "".join([*pieces, text[position:]])
