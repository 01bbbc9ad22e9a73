"""Habits that make our English hard to read, as patterns over prose, with what to write instead.

``python -m tests.wording.english FILE...`` prints every line of the prose of Markdown files that has one of them.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

CODE = re.compile(
    r"^([ >]*)```.*?^\1```$|`[^`\n]+`|(?<=\])\([^)\s]*\)|<!--.*?-->|https?://\S+", re.MULTILINE | re.DOTALL
)
"""Fenced and inline code, targets of links, comments: not prose."""

HABITS = {
    "noun clause with what": (
        r"\bwhat (it|is|a|the|they|was|can|cannot|has|does|only|counts|follows|waits|makes)\b",
        "the noun: findings, pending calls",
    ),
    "heading that is a question word": (r"^#+ (What|Where|How|When|Which|Why)\b", "the keyword: Supported inputs"),
    "X is no Y": (r"(?<!there )\b(is|are|be) no (?!longer|more\b)\w+", "is not a Y"),
    "things that say": (r"\bsays\b", "shows, names"),
    "things that tell or know": (r"\btells?\b|\bknows\b", "contains, shows, reports"),
    "pay and earn": (r"\b(pays?|paid|earns?|earned)\b", "scores, gets"),
    "right and wrong": (
        r"\b(right|wrong) (completion|answer|one|value|program|call|number|result|format|type)s?\b",
        "correct, incorrect",
    ),
    "trailing too": (r", too\b", "also, before the verb"),
    "of its own": (
        r"\b(of|in|on) (its|their|your|one's) own\b(?! \w)|of their own|\bby itself\b",
        "separate, its own process",
    ),
    "where for if": (r"(?<!from )\bwhere (it|nothing|no|any|a|the|its|only)\b", "if, when"),
    "beside": (r"\bbeside\b", "next to, in addition to"),
    "texts": (r"\btexts\b", "strings"),
    "from X on": (r"\bfrom [^.,:()]{1,35} on(?=[.,:;)]| and\b)", "starting with, after"),
    "inverted clause": (r"(?<=[.:] )So (do|does|is|are)\b|\bnor\b", "subject, then verb"),
    "fronted of": (r"(?:^|(?<=[.:] ))Of (a|the|two|such)\b", "subject first"),
    "semicolon": (r"; ", "two sentences, or two cells of a table"),
    "those that": (r"\bthose (that|which)\b", "the noun"),
    "left out": (r"\b(left|leaves?|leaving)( \w+)? out\b", "excluded, omitted, skipped"),
    "truth": (r"(?<!ground[- ])\btruths?\b", "ground-truth metric"),
    "two words for one": (
        r"\bdata sets?\b|\bhacks?\b|\bprimitives?\b|\bgold keys?\b",
        "dataset, exploit, ready reward, gold answer",
    ),
    "units": (r"\d %|\d us\b", "5%, 5 µs"),
    "rare words": (
        r"\b(mend\w*|surely|in force|on the spot|but for|anew|alike|whoever|nobody|somewhere|goes on)\b",
        "fix, active, immediately, except, again, the same, anyone who, no one, continues",
    ),
}
PATTERNS = {name: (re.compile(pattern, re.IGNORECASE | re.MULTILINE), rule) for name, (pattern, rule) in HABITS.items()}
PATTERNS["fronted of"] = (re.compile(HABITS["fronted of"][0], re.MULTILINE), HABITS["fronted of"][1])


def prose(markdown: str) -> str:
    """Return `markdown` without code, with the same line breaks."""
    return CODE.sub(lambda code: "`" + "\n" * code[0].count("\n"), markdown)


def habits(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield (line number, habit and rule, the passage) for each habit in `text`."""
    for name, (pattern, rule) in PATTERNS.items():
        for match in pattern.finditer(text):
            start, end = max(0, match.start() - 30), match.end() + 30
            yield text.count("\n", 0, match.start()) + 1, f"{name} -> {rule}", " ".join(text[start:end].split())


if __name__ == "__main__":
    for path in sys.argv[1:]:
        for line, habit, passage in sorted(habits(prose(Path(path).read_text(encoding="utf-8")))):
            print(f"{path}:{line}: {habit}: ...{passage}...")
