"""Find the option that a text claims: in ``It cannot be A, so the answer is B.`` only ``answer is B`` is a claim.

Claims have ranks, and the first rank that occurs in a text decides:

1. stated: ``the answer is B``;
2. on a separate line, the first or the last: ``B``, ``(B) Mitochondria``;
3. called correct: ``B is correct``;
4. picked: ``I choose B``, ``So B.``, ``It's B.``;
5. pointed at, at the very end: ``Mitochondria (B)``, ``option B``.

In a marked answer (a tag, a box) the line comes first and picks do not count. The last of several claims of a rank
counts, but not if its sentence claims another option, if it is joined to one (``B or C``), or if another option is
picked after it. Denials, questions, suppositions and reports about other people are not claims.

Each pattern reads at most `_WINDOW` characters around one mention, so the time is linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from rewardkit.core.text.claims import AND_WORDS, OR_WORDS, corrects, denied_after, denied_before, last_retraction
from rewardkit.primitives.choices.options import Mention, Options

_WINDOW = 160

Rank = Callable[[int], bool]
"""A test of whether a mention, given by its number, is a claim of some kind."""


def _any(*patterns: str, end: str = "") -> re.Pattern[str]:
    return re.compile(f"(?:{'|'.join(patterns)}){end}", re.IGNORECASE)


_BE = r"(?:is|was|are|must be|should be|will be|has to be|can only be)"
_ADVERB = r"(?:[a-z]{1,20}ly|therefore|thus|indeed|hence|then|in fact|of course|just|for sure|for certain)"
_KIND = r"(?:(?:the )?(?:option|choice|answer|letter|number)|the)"
_OPENING = r" ?[(\[]{0,2}\Z"
_CLOSING = r"[)\]]{0,2}"

# Text before an option.

_STATED_IN_ASCII = (
    r"\b(?:answer|choice|option|solution|response|result|description|one)s?"
    rf"(?: (?:to|for|of|in|here)\b[^.:;!?\n]{{0,80}}?)?,? {_BE}(?: {_ADVERB},?|, {_ADVERB},)?(?: {_KIND})?(?: ?:)?",
    rf"\b(?:answer|ans|choice|solution|conclusion|correct|final|decision|verdict)(?: {_KIND})?(?: ?(?:[:=→–—-]|=>|->))",
    rf"\b(?:correct|right|best|final) (?:answer|choice|option)(?: {_KIND})?(?: ?(?::|=|->|→))?",
    r"(?:^|\n)(?:the |my )?(?:(?:final|correct|best) )?(?:answer|choice):?\n",
    r"\b(?:actually|wait,|no,) (?:it's|it is)",
    r"\b(?:respuesta|resposta|risposta)(?: (?:correcta|correta|corretta|final|finale))?(?: es ?:?| ?:)(?: la)?",
    r"\b(?:antwort|antwoord)(?: (?:ist|is|lautet) ?:?| ?:)",
    r"\b(?:jawaban|jibu|svar|cevap)(?: ?:| adalah| ni)",
    r"\b(?:sondern|sino)",
)
_STATED_WORDS = (
    "answer", "choice", "option", "solution", "resp", "result", "descri", "one", "ans", "conclusion",
    "correct", "final", "decision", "verdict", "right", "best", "actually", "wait,", "no,", "rispo", "antwo",
    "jawab", "jibu", "svar", "cevap", "sondern", "sino",
)  # fmt: skip
"""One of these is in every match of these patterns, and finding none is faster than trying them."""
_STATED_IN_OTHERS = (
    r"(?:答案|正确选项|正解|答え) ?(?:是|为|為|は)?(?:选项)? ?:?",
    r"(?:正确的|正確的)(?:选项|答案)?(?:是|为|為)",
    r"\b(?:respuesta|resposta|risposta|opción|opção)(?: (?:correcta|correta|corretta|final|finale))?"
    r"(?: (?:es|é|è) ?:?| ?:)(?: la)?",
    r"\bréponse(?: (?:correcte|finale))?(?: est ?:?| ?:)(?: la)?",
    r"\blösung(?: (?:ist|lautet) ?:?| ?:)",
    r"\bответ(?: ?[:—–-])?",
    r"\b(?:svar är|odpowiedź(?: to| ?:))",
    r"(?:정답|답변?)(?:은|는|:)?",
    r"(?:الإجابة|إجابة|الجواب)(?: الصحيحة| الصحيح| النهائية| النهائي)?(?: هي| هو| ?:)",
    r"(?:उत्तर|উত্তর)(?: है)? ?:?",
    r"[가이]? ?아니라|而是|ではなく(?:て)?,?",
)
_STATED = _any(*_STATED_IN_ASCII, *_STATED_IN_OTHERS, end=r"[ \n]?[(\[]{0,2}\Z")
_STATED_IN_PLAIN_TEXT = _any(*_STATED_IN_ASCII, end=r"[ \n]?[(\[]{0,2}\Z")
_PICKED = _any(
    r"\b(?:choose|pick|select|chose|picked|selected|choosing|go with|going with|opt for|settle on)"
    rf"(?: {_KIND})? ?:?",
    r"\banswer would be",
    r"(?:选择|选|選択) ?:?",
    end=_OPENING,
)
_CONCLUDED = _any(
    r"\b(?:so|thus|therefore|hence|conclusion|it's|it is|that's|it must be)"
    rf"(?: (?:it's|it is|it must be))?[:,]?(?: {_KIND})?",
    end=_OPENING,
)
_JUDGED = _any(r"\b(?:is|as|be)", ":", end=_OPENING)
"""Before a whole word: "the sentiment is positive"."""

_POINTED = _any(
    r"\b(?:answer|option|choice|letter) ?",
    r"\b(?:is|be|leaves|leaves us with|leaving|elimination,|probably|definitely|say)",
    r"[^\s(\[] [(\[]",
    end=_OPENING,
)
_LINE_START = _any(r"(?:^|\n)(?:(?:option|choice|letter|answer) )?", end=_OPENING)

# Text after an option.

_RIGHT = re.compile(
    rf"[)\]]?(?:[).:]? [^.,;:!?\n]{{1,60}}?)?? {_BE}(?: {_ADVERB}| also)? (?:(?:the )?(?:only |single |most )?"
    r"(?:correct|right|accurate|appropriate|likely)\b|the (?:final |best )?(?:answer|choice|option|one)\b)(?! if\b)",
    re.IGNORECASE,
)
_OVER = re.compile(rf"{_CLOSING} ?[.!,;:]{{0,2}}(?:\n|\Z)")
_STOPS = re.compile(rf"{_CLOSING}(?: ?(?:[.!,;]|\n|\Z)| (?:because|since|as|for|due|given)\b)")
_LABELS = re.compile(
    rf"{_CLOSING}(?:(?<=[)\]]) ?[^?]|[.:,;!] ?|\s?[–—]| - "
    r"| (?:because|since|as|due to|given|not|rather than|instead of)\b)"
)
_ALSO = re.compile(rf"{_CLOSING} (?:is|would be|could be|may be) also\b", re.IGNORECASE)
_ASKED = re.compile(r"[)\].]{0,2} ?\?")
_WRONG = re.compile(
    rf"{_CLOSING} \(?(?:(?:is|was|are|would be|seems) (?:\w{{2,20}}ly )?(?:not|wrong|incorrect|false|out)\b|isn't\b"
    r"|(?:cannot|can't|wrong|incorrect|not (?:correct|right))\b)",
    re.IGNORECASE,
)
_PREDICATE = re.compile(
    rf"{_CLOSING} (?!(?:is|are) (?:also|both|possible|plausible)\b)(?:is|isn't|was|are|aren't|were|has|have|had|would"
    r"|does|doesn't|do|can|cannot|can't|could|makes?|holds?|describes?|refers?|fails?|says?|states?|contains?)\b"
    r"(?! (?:correct|right)\b)",
    re.IGNORECASE,
)

_DASH = re.compile(rf"{_CLOSING} ?[.:;–—-]")
_PLURAL = re.compile(rf"{_CLOSING} (?:are|aren't|were|have|do|don't)\b", re.IGNORECASE)

# Words before a claim in its clause that withdraw it.

_CLAUSE = _any(r"[.!?;\n—]|, ", r"\b(?:but|so|therefore|thus|hence|however|because|since|and|then)\b")
_DENIED = _any(
    r"\b(?:not|never|cannot|neither|nor|nicht|pas|не)\b|n't\b|不|别",
    r"\b(?:although|though|while|assume|hardly|second[- ]best|opposite|exclude[sd]?|eliminate[sd]?|rule[sd]? out)\b",
    r"\b(?:wrong|wrongly|incorrect|incorrectly|worst|false|mistake|mistaken|mistakenly|distractor|trap)\b",
    r"\b(?:tempt(?:ing|ed)|(?<!no )doubt that|unlikely|if|whether|suppose|assuming|unless|except|anything but|might)\b",
    r"\b(?:people|students|others|everyone)\b",
    r"(?<!the )\b(?:many|most|some|they)(?: \w{1,20}){0,3}? (?:would|may|think|thought|say|said|believe|argue)\b",
    r"(?<!the )\b(?:many|most|some|they)(?: \w{1,20}){0,2} ?\Z",
)

# Words that join two options, and words that separate them.

_JOIN_WORD = _any(OR_WORDS, AND_WORDS, "か", r"\bif not\b", r"\bunless (?:it is|it's)\b")
_BESIDE = r"\b(?:option|choice|letter|i (?:think|guess|believe|suppose))\b"
_JOINED = _any(r"[\s()\[\],;:./|&+~\-–—・·∨∧∪∩⁄\\]", _JOIN_WORD.pattern, _BESIDE, end="+")
_OR_BEFORE = _any(_JOIN_WORD.pattern, r"\bnor\b", "[/&+]")
_TOPIC = re.compile(r"[은는] ?")
"""정답은 B는 C: two options, unless a sentence follows, as in B는 C와 달리."""
_TOPIC_END = re.compile(r"[)\]]{0,2}(?:입니다|이다|이에요|예요|요)?[.!]?(?:\n|\Z)")
_LINE_BREAK = re.compile(r"[)\]]{0,2} ?[.!,;:]{0,2}\n[(\[]{0,2}")
_SO_IS = _any(r"\b(?:so|as|likewise) (?:is|are|was|does)", end=_OPENING)
_APART = _any(
    r"\b(?:not|rather|since|because|instead|over|while|whereas|unlike|as|both|neither|all|combination|but)\b|[.!?] |\n"
)
_LISTED = _any(r"(?:\b(?:or|and)|[,/|]) ?[(\[]?\Z")
_ITS_LABEL = re.compile(r"[)\]:]|\. ?\w")
_NEW_SENTENCE = _any(r"[.!?](?:\s|\Z)|\n", r"\b(?:so|thus|therefore|hence|actually|wait)\b")


def chosen(options: Options, text: str, *, marked: bool) -> str | None:
    """Return the option that `text` chooses; None if it chooses none, or more than one.

    A marked answer must be the choice itself; otherwise the choice may be anywhere in an explanation.
    """
    plain = options.plain(text)
    name = options.named(" ".join(text.split())) or options.named(plain)
    mentions = None if name else options.mentions(plain)
    return _Statement(plain, tuple(mentions)).choice(marked=marked) if mentions else name


@dataclass(frozen=True)
class _Statement:
    """A plain text and its mentions of options, in order."""

    text: str
    mentions: tuple[Mention, ...]

    def choice(self, *, marked: bool) -> str | None:
        claims = self._claims(0, marked=marked)
        if not claims:
            return None
        corrected = self._corrected(claims[-1])
        if corrected is not None:
            claims = [corrected]
        kept = self._kept_from(claims[-1])
        if kept is not None:
            direct = [kept] if kept < len(self.mentions) and self._is_direct(kept) else []
            claims = self._claims(kept, marked=marked) or direct
        if not claims or (not marked and self._picked_later(claims[-1])):
            return None
        return self._settled(claims)

    def _claims(self, first: int, *, marked: bool) -> list[int]:
        """Return the mentions from `first` on that are claims of the first rank that has any."""
        ranks: list[Rank] = [self._stated, self._line, self._right, self._picked, self._pointed]
        for rank in [self._line, self._stated, self._right, self._pointed] if marked else ranks:
            claims = [number for number in range(first, len(self.mentions)) if rank(number)]
            if claims:
                return claims
        return []

    # retractions

    def _corrected(self, number: int) -> int | None:
        """Return the last mention that replaces the claim: "No, C." or "Actually, it's C."."""
        later = range(len(self.mentions) - 1, number, -1)
        return next((other for other in later if corrects(self.text, self._start(other)) and self._ends(other)), None)

    def _kept_from(self, number: int) -> int | None:
        """Return the first mention after a retraction of the claim ("Scratch that."); None if it is not retracted."""
        claim = self.mentions[number]
        retraction = last_retraction(self.text, claim.end)
        if retraction is None:
            return None
        following = next(
            (n for n in range(number, len(self.mentions)) if self.mentions[n].start >= retraction.end),
            len(self.mentions),
        )
        nearest = max((n for n in range(following) if self.mentions[n].end <= retraction.start), default=number)
        return following if retraction.everything or self.mentions[nearest].name == claim.name else None

    def _is_direct(self, number: int) -> bool:
        """Return whether the mention alone follows the retraction: "Correction: C.", "Scratch that. It's C."."""
        return corrects(self.text, self._start(number)) or (self._ends(number) and not self._denied(number))

    def _ends(self, number: int) -> bool:
        """Return whether the mention ends its clause, or labels what follows."""
        end = self.mentions[number].end
        ends = _STOPS.match(self.text, end) or _LABELS.match(self.text, end) or _RIGHT.match(self.text, end)
        return bool(ends) and not self._denied(number)

    def _start(self, number: int) -> int:
        return self.mentions[number].start

    def _denied(self, number: int) -> bool:
        mention = self.mentions[number]
        return denied_before(self.text, mention.start) or denied_after(self.text, mention.end)

    def _picked_later(self, number: int) -> bool:
        """Return whether another option is picked after the claim, which withdraws it."""
        name, later = self.mentions[number].name, range(number + 1, len(self.mentions))
        return any(self.mentions[other].name != name and self._picked(other) for other in later)

    def _settled(self, claims: list[int]) -> str | None:
        last = self.mentions[claims[-1]]
        after = last
        for number in reversed(claims):
            mention = self.mentions[number]
            apart = _NEW_SENTENCE.search(self.text, mention.end, after.start)
            if apart and not _ALSO.match(self.text, after.end):
                break
            if mention.name != last.name:
                return None
            after = mention
        return None if self._hedged(claims[-1]) else last.name

    # the ranks

    def _stated(self, number: int) -> bool:
        if not self._is_ascii:
            return self._follows(number, _STATED) and not self._predicated(number)
        start = self.mentions[number].start
        window = self.text[max(0, start - _WINDOW) : start].lower()
        if not any(map(window.__contains__, _STATED_WORDS)):
            return False
        return self._follows(number, _STATED_IN_PLAIN_TEXT) and not self._predicated(number)

    def _right(self, number: int) -> bool:
        mention = self.mentions[number]
        right = _RIGHT.match(self.text, mention.end, mention.end + _WINDOW)
        if not right or self._starts_before(number + 1, right.end()):
            return False
        return not _ASKED.match(self.text, right.end()) and not _DENIED.search(self._clause(mention.start))

    def _line(self, number: int) -> bool:
        return number in self._lines

    def _picked(self, number: int) -> bool:
        mention = self.mentions[number]
        if self._follows(number, _PICKED):
            return not self._predicated(number)
        if not _STOPS.match(self.text, mention.end):
            return False
        return self._follows(number, _CONCLUDED) or (len(mention.name) > 1 and self._follows(number, _JUDGED))

    def _pointed(self, number: int) -> bool:
        mention = self.mentions[number]
        over = _OVER.match(self.text, mention.end)
        return bool(over and over.end() == len(self.text) and self._follows(number, _POINTED))

    @cached_property
    def _is_ascii(self) -> bool:
        return self.text.isascii()

    @cached_property
    def _lines(self) -> frozenset[int]:
        """Mentions that are the first or last line, alone or as its label; none if another option has such a line."""
        starting = [number for number in range(len(self.mentions)) if self._follows(number, _LINE_START)]
        alone = [number for number in starting if _OVER.match(self.text, self.mentions[number].end)]
        labels = [number for number in starting if _LABELS.match(self.text, self.mentions[number].end)]
        first, last = self.text.find("\n"), self.text.rfind("\n")
        first = len(self.text) if first < 0 else first
        for lines in (alone, labels):
            edges = [n for n in lines if self.mentions[n].start < first or self.mentions[n].start > last]
            if edges:
                one = len({self.mentions[number].name for number in lines}) == 1
                return frozenset(edges if one else ())
        return frozenset()

    # the text around a mention

    def _follows(self, number: int, lead: re.Pattern[str]) -> bool:
        """Return whether `lead` precedes the mention, which is neither denied nor questioned."""
        mention = self.mentions[number]
        start = max(0, mention.start - _WINDOW)
        window = self.text[start : mention.start]
        found = lead.search(window)
        if not found or _ASKED.match(self.text, mention.end) or _WRONG.match(self.text, mention.end):
            return False
        if self._denied(number):
            return False
        return not _DENIED.search(self._clause(start + found.start()))

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
        if number and self.mentions[number - 1].name != name and self._joined(number - 1, _OR_BEFORE):
            return True
        end = number
        while end + 1 < len(self.mentions) and self._joined(end):
            end += 1
        if number + 1 < len(self.mentions) and self._next_is_added(number):
            return True
        others = any(mention.name != name for mention in self.mentions[number + 1 : end + 1])
        if others and _PLURAL.match(self.text, self.mentions[end].end):
            # "B, C and D are wrong", but not "B - C and D are wrong"
            return not _DASH.match(self.text, self.mentions[number].end)
        return (others and not self._predicated(end)) or self._lists_another(number)

    def _next_is_added(self, number: int) -> bool:
        """Return whether the next mention, of another option, is a second answer: on its own line, or "so is C"."""
        mention, other = self.mentions[number], self.mentions[number + 1]
        if other.name == mention.name or other.start - mention.end > _WINDOW:
            return False
        between = self.text[mention.end : other.start]
        if _TOPIC.fullmatch(between) and _TOPIC_END.match(self.text, other.end):
            return True
        if _SO_IS.search(between):
            return True
        alone = _OVER.match(self.text, mention.end) and _OVER.match(self.text, other.end)
        return bool(alone) and _LINE_BREAK.fullmatch(between) is not None

    def _joined(self, number: int, word: re.Pattern[str] | None = None) -> bool:
        """Return whether only a join is between this mention and the next; across lines it must be a word."""
        between = self.text[self.mentions[number].end : self.mentions[number + 1].start]
        if len(between) > _WINDOW or not _JOINED.fullmatch(between):
            return False
        if word:
            return bool(word.search(between))
        return "\n" not in between or bool(_JOIN_WORD.search(between))

    def _lists_another(self, number: int) -> bool:
        """Return whether its sentence continues with ``or C) ...``."""
        name, end = self.mentions[number].name, self.mentions[number].end
        for follower in range(number + 1, len(self.mentions)):
            mention = self.mentions[follower]
            if mention.start - end > _WINDOW or _APART.search(self.text, end + 2, mention.start):
                return False
            listed = _LISTED.search(self.text[max(0, mention.start - 8) : mention.start])
            if listed and mention.name != name and _ITS_LABEL.match(self.text, mention.end):
                return not self._predicated(follower)
        return False
