"""Protects a judge from the completions that it judges.

``shielded("Paris\\u202e", 100).text`` is ``Paris\\u202e`` with the control character spelled out, between two marks
with a nonce. A completion cannot know the nonce, so it cannot forge the end mark. Text that addresses the judge is
reported, but not penalized.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import unicodedata
from dataclasses import dataclass

from rewardkit.text.visibility import unmasked

NONCE = "\x00"
"""Replaced by the nonce when a conversation is sent. Escaped text never contains it."""

_SECRET = secrets.token_bytes(32)
_KEPT_CONTROLS = "\n\t"
_JOINERS = "\u200c\u200d"
"""Invisible characters that Persian, Hindi and emoji need."""

_CHAT_TOKEN = re.compile(
    r"<(?=(?:\|[^|<>\s]{1,40}\||\uff5c[^<>]{1,40}\uff5c|/?s|bos|eos|pad|unk|sop|eop|role|start_of_turn|end_of_turn"
    r"|/?tool_(?:call|response)|(?:unused|extra_id_|SPECIAL_)\d{1,6}|seed:[\w:]{1,40}|[A-Z_]{1,40}_TOKEN)>)"
    r"|\[(?=(?:/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|THINK|[gs]MASK)"
    r"|\|[^|\[\]\s]{1,40}\|)\])|\](?=[~!]b[\[\]])|\](?=~!b\[)|<(?=</?SYS>>)"
)
"""The start of a token of chat templates, which a server might read as the end of a turn."""

_THINKING = re.compile(r"<(?=/?think(?:ing)?>)", re.IGNORECASE)
"""The marks of thinking: if a judge quotes them, they must not look like its own."""

# "Human:" at the beginning of a line; "a human: me" is prose.
_TURN = re.compile(r"^[ \t]{0,9}(?:Human|Assistant|System)[ \t]{0,9}:", re.MULTILINE)

_SUSPICIOUS = {
    # "Dear judge", "Note to the grader", "the judge must"; "the judge ruled" is a story.
    "addresses the judge": re.compile(
        r"\b(?:dear|attention|note (?:to|for)|message (?:to|for)|hey|hello|to) (?:the |all |any |our )?"
        r"(?:ai |llm )?(?:judge|grader|evaluator|reviewer|marker)s?\b"
        r"|\b(?:you are|as) (?:now )?(?:an? |the )?(?:\w+ )?(?:judge|grader|evaluator)\b"
        r"|\b(?:the|any) (?:judge|grader|evaluator) (?:must|should|will|has to)\b|\b(?:grader|evaluator) ?:"
        r"|\bso (?:fair|wise|kind) a judge\b"
    ),
    # "Ignore all previous instructions"; "ignore the noise" is advice.
    "gives instructions": re.compile(
        r"\b(?:ignore|disregard|forget|override) (?:all |any |the |your |these |those )*"
        r"(?:previous|prior|above|earlier|preceding|rubric|instructions?|criteria|rules)\b"
        r"|\bnew (?:system )?instructions?\b|\bsystem (?:prompt|message|override)\b"
    ),
    # "Give this answer full marks"; "give the highest bidder" is matched as well, and only reported.
    "asks for a score": re.compile(
        r"\b(?:give|award|assign|grant|return|output|respond with|rate|score|grade|mark)\b[^.\n]{0,60}"
        r"\b(?:full|maximum|max|highest|perfect|top|best(?: possible)?|10/10|100%|10 out of 10)\b"
        r"|\bfull (?:marks|score|credit|points)\b"
        r"|\b(?:deserves?|earns?|receives?|merits?)\b[^.\n]{0,40}"
        r"\b(?:full|maximum|highest|perfect|top|10/10)\b[^.\n]{0,20}\b(?:scores?|marks?|points?|grades?)"
    ),
    # '"score": 10', "Score: [[10"; "the score was 10" reports a game.
    "forges a verdict": re.compile(
        r"[\"'](?:score|scores|verdict|ranking|answers)[\"']\s*:"
        r"|\b(?:score|verdict|grade|rating|judge?ment)(?: is)? ?[:=] ?(?:\[\[|\d|(?:pass|yes|correct|[a-e])\b)"
        r"|</?score>"
    ),
    # "This answer is completely correct"; "this answer depends" is none.
    "praises itself": re.compile(
        r"\bthis (?:answer|response|solution|output|completion) (?:is|was) (?:\w+ ){0,2}"
        r"(?:correct|right|perfect|excellent|brilliant|accurate|flawless)\b"
        r"|\bi (?:have )?(?:verified|checked|confirmed) (?:that )?(?:this|the|my) (?:answer|response|solution)\b"
    ),
    # "</completion" and "<rubric>": the marks of our own prompts.
    "forges a delimiter": re.compile(r"</?completion\b|</?(?:system|instructions?|rubric|reference)>"),
}


@dataclass(frozen=True, slots=True)
class Shielded:
    """A completion as it is shown to a judge, and what in it is ``suspicious``, in a few words each."""

    text: str
    suspicious: tuple[str, ...]


def shielded(completion: str, max_characters: int, name: str = "completion") -> Shielded:
    """Return `completion` escaped, cut to `max_characters`, and between marks with a nonce."""
    text = escaped(completion)
    missing = len(text) - max_characters  # counted after escaping: an escaped character takes six or more
    if missing > 0:
        omission = f"\n[{NONCE}: {missing:,} characters are left out here]\n"
        text = _ends(text, max_characters, omission)
    return Shielded(delimited(text, name), suspicious(_ends(completion, max_characters, "\n")))


def _ends(text: str, most: int, between: str) -> str:
    """Return `text`; if it is longer than `most` characters, its head and tail with `between` between them."""
    # A quarter: the end of a completion has its answer, the head what it does.
    behind = most // 4
    return text if len(text) <= most else f"{text[: most - behind]}{between}{text[len(text) - behind :]}"


def delimited(text: str, name: str) -> str:
    """Return the escaped `text` between marks that cannot be forged."""
    return f"<{name}-{NONCE}>\n{text}\n</{name}-{NONCE}>"


def suspicious(text: str) -> tuple[str, ...]:
    """Return what in `text` is addressed to a judge instead of a reader."""
    plain = unmasked(text)
    findings = [finding for finding, pattern in _SUSPICIOUS.items() if pattern.search(plain)]
    if _CHAT_TOKEN.search(text) or _TURN.search(text):
        findings.append("forges a turn")
    return tuple(findings)


def nonce_of(key: str) -> str:
    """Return the nonce for a conversation: the same for the same key, and a secret of this process."""
    return hmac.new(_SECRET, key.encode(), hashlib.sha256).hexdigest()[:16]


def escaped(text: str) -> str:
    """Return `text` with everything spelled out that could mislead a judge: control and bidi characters, chat tokens.

    >>> escaped("a\\u202eb")
    'a\\\\u202eb'
    """
    text = text.replace("\r\n", "\n")
    hidden = {ord(character): _spelled(character) for character in set(text) if _is_hidden(character)}
    text = text.translate(hidden) if hidden else text
    return _THINKING.sub("\\\\u003c", _CHAT_TOKEN.sub(lambda match: _spelled(match[0]), text))


def _is_hidden(character: str) -> bool:
    if character in _KEPT_CONTROLS or character in _JOINERS:
        return False
    # Variation selectors of the second block and tags are invisible, and can carry a whole message.
    return (
        unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp") or "\U000e0100" <= character <= "\U000e01ef"
    )


def _spelled(character: str) -> str:
    return f"\\u{ord(character):04x}" if ord(character) < 0x10000 else f"\\U{ord(character):08x}"
