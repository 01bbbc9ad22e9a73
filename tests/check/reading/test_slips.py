"""Slips: constructions that do something else than they say, and what may be meant instead."""

from __future__ import annotations

import pytest

from rewardkit.check.mutants.sites import Source, sites_of
from rewardkit.check.reading.slips import Slip, slips


def found(code: str) -> list[Slip]:
    """The slips of a function with this body."""
    lines = "".join(f"    {line}\n" for line in code.splitlines())
    return list(slips(sites_of(Source(f"import re\n\n\ndef judge(text, gold, keys):\n{lines}"))))


@pytest.mark.parametrize(
    ("code", "meant"),
    [
        ('return re.sub(r"[aeo]", "", text, re.I)', 're.sub(r"[aeo]", "", text, flags=re.I)'),
        ('return re.split("x", text, re.I | re.S)', 're.split("x", text, flags=re.I | re.S)'),
        ('return text.lstrip("Answer: ")', 'text.removeprefix("Answer: ")'),
        ('return text.rstrip("dollars")', 'text.removesuffix("dollars")'),
        ('return re.search(rf"\\b{gold}\\b", text)', "re.search(f'\\\\b{re.escape(str(gold))}\\\\b', text)"),
        ("return re.search(gold, text)", "re.search(re.escape(str(gold)), text)"),
        ('return re.search("is " + gold, text)', "re.search('is ' + re.escape(str(gold)), text)"),
        ('return re.findall(r"[A-z]+", text)', r"'[A-Za-z]+'"),
        ('return re.findall(r"\\d+.\\d+", text)', r"'\\d+\\.\\d+'"),
        ('return re.search(r"^yes|no$", text)', r"'^(?:yes|no)$'"),
        ('return re.search("\\bno\\b", text)', r"'\\bno\\b'"),
        ('return text in ("yes")', "text in (('yes',))"),
        ('return 1 if gold == "a" or "b" else 0', '(gold == "a" or gold == "b")'),
        ('return 1 if "a" in text or "b" else 0', '("a" in text or "b" in text)'),
        ('return 1 if text.find("x") else 0', '("x" in text)'),
        ('return not text.find("x")', '("x" in text)'),
        ('return "Yes" in text.lower()', "'yes' in text.lower()"),
        ('said = text.lower().strip()\nreturn said.startswith("The ")', "said.startswith('the ')"),
        ('return re.search(r"Answer: \\S+", text.lower())', r"re.search('answer: \\S+', text.lower())"),
        ("return SequenceMatcher(None, text, gold).ratio()", "SequenceMatcher(None, text, gold, autojunk=False)"),
        ("return list(set(text.split()))[0]", "sorted(set(text.split()), key=str, reverse=False)"),
        ('return text in ["yes" "no", "maybe"]', '["yes", \'no\', "maybe"]'),
        ("return re.search('a.b', text, re.I & re.S)", "(re.I | re.S)"),
    ],
)
def test_each_slip_has_what_is_meant(code: str, meant: str) -> None:
    (one,) = found(code)
    assert one.repairs[0].replace("'yes', 'no'", "\"yes\", 'no'") == meant
    assert one.line == 4 + code.count("\n", 0, max(code.find("return"), 0)) + 1
    assert one.why


@pytest.mark.parametrize(
    "code",
    [
        'return re.sub(r"[aeo]", "", text, 0, re.I)',
        'return re.sub(r"[aeo]", "", text, flags=re.I)',
        'return re.sub(r"[aeo]", "", text, 1)',
        'return re.split("x", text, 1)',
        'return text.strip(" .\\n").rstrip("!?")',
        'return text.strip("*_`")',
        'return re.search(rf"\\b{re.escape(gold)}\\b", text)',
        "safe = re.escape(gold)\nreturn re.search(safe, text)",
        'pattern = r"\\d+"\nreturn re.search(pattern, text)',
        "return any(re.search(pattern, text) for pattern in PATTERNS)",
        'return re.findall(r"[A-Za-z]+\\.\\d+\\.\\d+", text)',
        'return re.search(r"^(?:yes|no)$", text)',
        'return "y" in "yes"',
        'return text in ("yes", "no")',
        'return gold == "a" or gold == "b"',
        'name = gold or "nobody"\nreturn name',
        'return text.find("x") >= 0',
        'return "yes" in text.lower()',
        'return "Yes" in text',
        'return re.search(r"(?i)Answer", text.lower())',
        "return SequenceMatcher(None, text, gold, autojunk=False).ratio()",
        "return sorted(set(text.split()))[0]",
        "return len(set(text.split()))",
        'return text in ["yes", "no"]',
    ],
)
def test_what_says_what_it_does_is_no_slip(code: str) -> None:
    assert found(code) == []
