"""Sound reward functions, part 4."""

from __future__ import annotations

import re
from datetime import date
from decimal import Decimal

from tests.faults.case import Case


def _text(completion) -> str:
    """Text of a completion: a string, or the last message of a chat."""
    if isinstance(completion, str):
        return completion
    if completion and isinstance(completion[-1], dict):
        return str(completion[-1].get("content") or "")
    return ""


def _say(text):
    return [{"role": "assistant", "content": text}]


def _tag(text: str, name: str) -> str | None:
    """Stripped content of the only <name>...</name> of the text, None if there is not exactly one."""
    start, end = f"<{name}>", f"</{name}>"
    if text.count(start) != 1 or text.count(end) != 1:
        return None
    head, rest = text.split(start)
    if end not in rest:
        return None
    return rest.split(end)[0].strip()


# ---------------------------------------------------------------------------
# 31. free choice from a set
# ---------------------------------------------------------------------------


def name_some_reward(prompts, completions, members, count, **kwargs):
    """Name N different members of a set; which ones is up to the model.

    ``members`` maps every accepted spelling (lower case) to one member. <list></list> must
    hold exactly N lines. The reward is the number of different members named over N, so
    repeating one, or naming it in two spellings, earns nothing. Another number of lines: 0.0.
    """
    rewards = []
    for completion, spellings, n in zip(completions, members, count):
        body = _tag(_text(completion), "list") or ""
        lines = [ln.strip().lower() for ln in body.split("\n") if ln.strip()]
        if len(lines) != n:
            rewards.append(0.0)
            continue
        rewards.append(len({spellings[ln] for ln in lines if ln in spellings}) / n)
    return rewards


_NEIGHBOURS = {
    "denmark": "DK", "poland": "PL", "czechia": "CZ", "czech republic": "CZ", "the czech republic": "CZ", "austria": "AT",
    "switzerland": "CH", "france": "FR", "luxembourg": "LU", "belgium": "BE", "netherlands": "NL", "the netherlands": "NL",
}
_PLANETS = {p: p for p in ("jupiter", "saturn", "uranus", "neptune")}
_LIST_HOW = " different, one per line and nothing else, in <list></list>."
_NAME_SOME = [
    {"prompt": "Name exactly three countries which share a land border with Germany, all" + _LIST_HOW, "members": _NEIGHBOURS, "count": 3},
    {"prompt": "Name exactly two of the giant planets of the solar system, both" + _LIST_HOW, "members": _PLANETS, "count": 2},
]

# ---------------------------------------------------------------------------
# 32. lengths in any unit
# ---------------------------------------------------------------------------

_METRES = {"mm": 0.001, "cm": 0.01, "m": 1.0, "km": 1000.0, "in": 0.0254, "ft": 0.3048, "yd": 0.9144, "mi": 1609.344}
_LENGTH_FORM = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,12})?) ?(mm|cm|m|km|in|ft|yd|mi)")


def any_unit_length_reward(completions, metres, **kwargs):
    """Lengths in the unit the model likes: mm, cm, m, km, in, ft, yd or mi.

    <answer></answer> holds one number and one of these units. 1.0 within one percent of the
    gold length, 0.5 within five percent, else 0.0.
    """
    rewards = []
    for completion, gold in zip(completions, metres):
        m = _LENGTH_FORM.fullmatch(_tag(_text(completion), "answer") or "")
        if not m:
            rewards.append(0.0)
            continue
        error = abs(float(m.group(1)) * _METRES[m.group(2)] - gold) / gold
        rewards.append(1.0 if error <= 0.01 else 0.5 if error <= 0.05 else 0.0)
    return rewards


_ANYUNIT_HOW = " Give a number (no separators) and one of the units mm, cm, m, km, in, ft, yd, mi in <answer></answer>. Within 1 percent is right, within 5 percent half right."
_ANYUNIT = [
    {"prompt": "How long is a marathon?" + _ANYUNIT_HOW, "metres": 42195.0},
    {"prompt": "A square field has an area of 1 hectare. How long is its diagonal?" + _ANYUNIT_HOW, "metres": 141.421},
]

# ---------------------------------------------------------------------------
# 33. dates
# ---------------------------------------------------------------------------

_MONTHS = ("january february march april may june july august september october november december").split()


def calendar_date_reward(prompts, completions, when, **kwargs):
    """Dates, written as YYYY-MM-DD, as "14 March 2025" or as "March 14, 2025".

    1.0 if <answer></answer> holds nothing but the gold date in one of these forms, else 0.0.
    Forms in which day and month could be confused are not accepted.
    """

    def read(s):
        iso = re.fullmatch(r"([0-9]{4})-([0-9]{2})-([0-9]{2})", s)
        day_first = re.fullmatch(r"([0-9]{1,2}) ([a-z]{3,9}) ([0-9]{4})", s)
        month_first = re.fullmatch(r"([a-z]{3,9}) ([0-9]{1,2}),? ([0-9]{4})", s)
        if iso:
            year, month, day = (int(g) for g in iso.groups())
        elif day_first and day_first.group(2) in _MONTHS:
            day, month, year = int(day_first.group(1)), _MONTHS.index(day_first.group(2)) + 1, int(day_first.group(3))
        elif month_first and month_first.group(1) in _MONTHS:
            month, day, year = _MONTHS.index(month_first.group(1)) + 1, int(month_first.group(2)), int(month_first.group(3))
        else:
            return None
        try:
            return date(year, month, day)
        except ValueError:
            return None

    rewards = []
    for completion, gold in zip(completions, when):
        answer = _tag(_text(completion), "answer") or ""
        found = read(answer.lower()) if len(answer) <= 40 else None
        rewards.append(1.0 if found is not None and found == date.fromisoformat(gold) else 0.0)
    return rewards


_WHEN_HOW = " Answer in <answer></answer> as 2025-03-14, as 14 March 2025 or as March 14, 2025."
_WHEN = [
    {"prompt": [{"role": "user", "content": "Which date is 10 days after 25 February 2024?" + _WHEN_HOW}], "when": "2024-03-06"},
    {"prompt": [{"role": "user", "content": "The lease began on 1 July 2022 and ran for six months. What was its last day?" + _WHEN_HOW}], "when": "2022-12-31"},
]

# ---------------------------------------------------------------------------
# 34. money
# ---------------------------------------------------------------------------

_MONEY_FORMS = (
    re.compile(r"(?P<code>[A-Z]{3}) ?(?P<sum>-?(?:[0-9]{1,12}|[0-9]{1,3}(?:,[0-9]{3}){1,3})(?:\.[0-9]{1,2})?)"),
    re.compile(r"(?P<sum>-?(?:[0-9]{1,12}|[0-9]{1,3}(?:,[0-9]{3}){1,3})(?:\.[0-9]{1,2})?) ?(?P<code>[A-Z]{3})"),
)


def money_amount_reward(completions, amount, currency, **kwargs):
    """Amounts of money: 1.0 if amount (to the cent) and currency code are right, else 0.0.

    <answer></answer> holds the amount with a decimal point and the ISO code in front or
    behind, like "EUR 1,234.50" or "1234.5 EUR".
    """
    rewards = []
    for completion, total, code in zip(completions, amount, currency):
        answer = _tag(_text(completion), "answer") or ""
        m = _MONEY_FORMS[0].fullmatch(answer) or _MONEY_FORMS[1].fullmatch(answer)
        ok = m is not None and m["code"] == code and Decimal(m["sum"].replace(",", "")) == Decimal(total)
        rewards.append(1.0 if ok else 0.0)
    return rewards


_MONEY_HOW = " Give the amount with decimal point and ISO currency code in <answer></answer>, e.g. 'EUR 1,234.50' or '1234.50 EUR'."
_MONEY = [
    {"prompt": "The invoice lists 3 chairs at 89.90 euros and a desk at 1,020 euros. What is the total?" + _MONEY_HOW, "amount": "1289.70", "currency": "EUR"},
    {"prompt": "One pound buys 1.25 US dollars. How many US dollars are 60 pounds?" + _MONEY_HOW, "amount": "75", "currency": "USD"},
]

# ---------------------------------------------------------------------------
# 35. constrained texts
# ---------------------------------------------------------------------------


def constrained_text_reward(completions, max_words, required, forbidden, **kwargs):
    """Texts under constraints; style and content are judged by another reward.

    Words are the maximal runs of letters and digits (an apostrophe inside belongs to the word,
    a hyphen parts two words), without regard to case. Texts without words or with more than ``max_words`` get
    0.0, so do texts with a forbidden word. Otherwise: share of the required words which occur.
    """
    rewards = []
    for completion, limit, needed, banned in zip(completions, max_words, required, forbidden):
        words = re.findall(r"[^\W_]+(?:['\u2019][^\W_]+)*", _text(completion).lower())
        vocabulary = set(words)
        if not words or len(words) > limit or any(w in vocabulary for w in banned):
            rewards.append(0.0)
            continue
        rewards.append(sum(w in vocabulary for w in needed) / len(needed))
    return rewards


_CONSTRAINED = [
    {
        "prompt": "Advertise a tent in at most 25 words. Use the words 'light' and 'rain'; do not use 'cheap'. These words count in exactly this form, upper or lower case; hyphens part words.",
        "max_words": 25,
        "required": ["light", "rain"],
        "forbidden": ["cheap"],
    },
    {
        "prompt": "Describe winter in at most 20 words. Use the words 'ice', 'north' and 'quiet'; use neither 'snow' nor 'cold'. These words count in exactly this form, upper or lower case; hyphens part words.",
        "max_words": 20,
        "required": ["ice", "north", "quiet"],
        "forbidden": ["snow", "cold"],
    },
]

# ---------------------------------------------------------------------------
# 36. acrostics
# ---------------------------------------------------------------------------


def acrostic_reward(prompts, completions, word, **kwargs):
    """Acrostics: share of the lines with the right first letter.

    The completion has to have exactly one non-empty line for each letter of the word, all
    lines different and of at least three words; otherwise 0.0. Case does not matter.
    """
    rewards = []
    for completion, target in zip(completions, word):
        lines = [ln.strip().lower() for ln in _text(completion).split("\n") if ln.strip()]
        if len(lines) != len(target) or len(set(lines)) != len(lines) or any(len(ln.split()) < 3 for ln in lines):
            rewards.append(0.0)
            continue
        rewards.append(sum(ln[0] == letter for ln, letter in zip(lines, target.lower())) / len(target))
    return rewards


_ACROSTICS = [
    {"prompt": "Write an acrostic on MOON: four different lines of three or more words whose first letters spell the word. Only the lines.", "word": "MOON"},
    {"prompt": "Write an acrostic on SEA: three different lines of three or more words whose first letters spell the word. Only the lines.", "word": "SEA"},
]

# ---------------------------------------------------------------------------
# 37. calibration
# ---------------------------------------------------------------------------


def proper_confidence_reward(prompts, completions, options, answer, **kwargs):
    """Correctness plus calibration.

    <answer></answer> names one of the options, <confidence></confidence> a probability from 0
    to 1. Right with confidence p: 1 - 0.5 * (1 - p)^2. Wrong with confidence p: -0.5 * p^2.
    The honest p has the best expectation (Brier rule), and every right answer beats every
    wrong one. Anything unreadable gets -0.5.
    """
    rewards = []
    for completion, choices, gold in zip(completions, options, answer):
        text = _text(completion)
        named = (_tag(text, "answer") or "").lower()
        stated = _tag(text, "confidence") or ""
        if named not in [c.lower() for c in choices] or not re.fullmatch(r"0(?:\.[0-9]{1,6})?|1(?:\.0{1,6})?|\.[0-9]{1,6}", stated):
            rewards.append(-0.5)
            continue
        p = float(stated)
        rewards.append(1.0 - 0.5 * (1.0 - p) ** 2 if named == gold.lower() else -0.5 * p**2)
    return rewards


_PROPER_HOW = " Give one of the options in <answer></answer> and the probability that it is right, 0 to 1, in <confidence></confidence>."
_PROPER = [
    {
        "prompt": [{"role": "user", "content": "Which city lies furthest north? Options: Oslo, Helsinki, Stockholm, Reykjavik." + _PROPER_HOW}],
        "options": ["Oslo", "Helsinki", "Stockholm", "Reykjavik"],
        "answer": "Reykjavik",
    },
    {
        "prompt": [{"role": "user", "content": "Which is the densest? Options: iron, gold, lead." + _PROPER_HOW}],
        "options": ["iron", "gold", "lead"],
        "answer": "gold",
    },
]

# ---------------------------------------------------------------------------
# 38. knowing what one does not know
# ---------------------------------------------------------------------------


def abstain_reward(completions, answer, **kwargs):
    """Facts with the possibility to pass.

    Right answers get 1.0, the word "unknown" gets 0.25, wrong answers and anything that is
    not exactly one <answer></answer> get 0.0. The gold answers are numbers of at most nine
    digits; separators in groups of three are allowed.
    """
    rewards = []
    for completion, gold in zip(completions, answer):
        given = (_tag(_text(completion), "answer") or "").lower()
        if given == "unknown":
            rewards.append(0.25)
        elif re.fullmatch(r"[0-9]{1,9}|[0-9]{1,3}(?:,[0-9]{3}){1,2}", given):
            rewards.append(1.0 if int(given.replace(",", "")) == gold else 0.0)
        else:
            rewards.append(0.0)
    return rewards


_ABSTAIN_HOW = " Give the number in <answer></answer>. If you do not know it write <answer>unknown</answer>: that earns a quarter of the credit, a wrong number nothing."
_ABSTAIN = [
    {"prompt": "How many bones has an adult human, in the usual count?" + _ABSTAIN_HOW, "answer": 206},
    {"prompt": "How many metres high is Mont Blanc in the 2023 survey (4805.59 m), rounded down?" + _ABSTAIN_HOW, "answer": 4805},
    {"prompt": "In which year did the Titanic sink?" + _ABSTAIN_HOW, "answer": 1912},
]

# ---------------------------------------------------------------------------
# 39. triage
# ---------------------------------------------------------------------------

_LEVELS = ("red", "orange", "yellow", "green", "blue")  # most to least urgent


def manchester_triage_reward(prompts, completions, level, **kwargs):
    """Triage colours with asymmetric credit.

    1.0 for the right colour, 0.3 for the next more urgent one, 0.0 for every less urgent
    colour, for larger errors and for anything but one colour in <triage></triage>.
    """
    rewards = []
    for completion, gold in zip(completions, level):
        colour = (_tag(_text(completion), "triage") or "").lower()
        if colour not in _LEVELS:
            rewards.append(0.0)
            continue
        too_urgent = _LEVELS.index(gold) - _LEVELS.index(colour)
        rewards.append({0: 1.0, 1: 0.3}.get(too_urgent, 0.0))
    return rewards


_COLOUR_HOW = " Give the colour (red = immediate, orange = very urgent, yellow = urgent, green = standard, blue = not urgent) in <triage></triage>. One level too urgent earns a little, too low a level nothing."
_COLOURS = [
    {"prompt": "Adult, does not breathe." + _COLOUR_HOW, "level": "red"},
    {"prompt": "Adult, wants a prescription renewed, feels well." + _COLOUR_HOW, "level": "blue"},
    {"prompt": "Adult, stroke signs (face, arm, speech) for one hour, awake, breathes normally." + _COLOUR_HOW, "level": "orange"},
]

# ---------------------------------------------------------------------------
# 40. clauses with several labels
# ---------------------------------------------------------------------------

_CLAUSE_LABELS = {"payment", "liability", "termination", "confidentiality", "jurisdiction"}


def clause_labels_f1_reward(completions, labels, **kwargs):
    """Labels of contract clauses: F1 of the label sets.

    <labels></labels> holds labels of the list in the prompt, separated by commas, or none. An
    unknown or repeated label, or none next to a label, makes the answer void (0.0).
    """
    rewards = []
    for completion, gold in zip(completions, labels):
        body = (_tag(_text(completion), "labels") or "").lower()
        named = [part.strip() for part in body[:500].split(",")]
        if body == "none" or not gold:
            rewards.append(1.0 if body == "none" and not gold else 0.0)
            continue
        if len(body) > 500 or len(set(named)) != len(named) or not set(named) <= _CLAUSE_LABELS:
            rewards.append(0.0)
            continue
        rewards.append(2 * len(set(named) & set(gold)) / (len(named) + len(gold)))
    return rewards


_LAB_HOW = "Which of payment, liability, termination, confidentiality, jurisdiction does the clause deal with? Comma-separated in <labels></labels>, or none there.\nClause: "
_CLAUSES = [
    {"prompt": _LAB_HOW + "If an invoice is not paid within 60 days, the supplier may end the contract.", "labels": ["payment", "termination"]},
    {"prompt": _LAB_HOW + "Headings are for convenience only.", "labels": []},
    {"prompt": _LAB_HOW + "The courts of Lisbon shall hear all disputes.", "labels": ["jurisdiction"]},
]

CASES: list[Case] = [
    Case(
        "name_some", name_some_reward, _NAME_SOME,
        good=["<list>\nPoland\nThe Netherlands\nFrance\n</list>", "<list>Saturn\nNeptune</list>"],
        bad=["<list>Italy\nSpain\nHungary</list>", "<list>Mars\nVenus</list>"],
    ),
    Case(
        "any_unit_length", any_unit_length_reward, _ANYUNIT,
        good=["<answer>26.2 mi</answer>", "100 m times root two. <answer>141.4 m</answer>"],
        bad=["<answer>42195 km</answer>", "<answer>100 m</answer>"],
    ),
    Case(
        "calendar_date", calendar_date_reward, _WHEN,
        good=[_say("2024 is a leap year. <answer>6 March 2024</answer>"), _say("<answer>2022-12-31</answer>")],
        bad=[_say("<answer>7 March 2024</answer>"), _say("<answer>January 1, 2023</answer>")],
    ),
    Case(
        "money_amount", money_amount_reward, _MONEY,
        good=["269.70 + 1020\n<answer>EUR 1,289.70</answer>", "<answer>75.00 USD</answer>"],
        bad=["<answer>EUR 1,109.90</answer>", "<answer>48.00 USD</answer>"],
    ),
    Case(
        "constrained_text", constrained_text_reward, _CONSTRAINED,
        good=["Our tent is light, quick to pitch and keeps out the rain.", "In the north the lakes turn to ice and the woods are quiet."],
        bad=["A cheap tent for everyone, light and safe in the rain!", "Snow falls and it is cold."],
    ),
    Case(
        "acrostic", acrostic_reward, _ACROSTICS,
        good=["Moving over the hills\nOld and pale light\nOwls call to you\nNight is your home", "Salt on the wind\nEndless blue far out\nAll rivers end here"],
        bad=["Shining in the night\nAlways pale and far\nTurning around the earth\nLight of the sea", "The sea is wide"],
    ),
    Case(
        "proper_confidence", proper_confidence_reward, _PROPER,
        good=[_say("<answer>Reykjavik</answer><confidence>0.9</confidence>"), _say("<answer>Gold</answer>\n<confidence>0.8</confidence>")],
        bad=[_say("<answer>Helsinki</answer><confidence>0.7</confidence>"), _say("<answer>lead</answer><confidence>0.9</confidence>")],
    ),
    Case(
        "abstain", abstain_reward, _ABSTAIN,
        good=["<answer>206</answer>", "<answer>4,805</answer>", "In April. <answer>1912</answer>"],
        bad=["<answer>212</answer>", "<answer>4810</answer>", "<answer>1921</answer>"],
    ),
    Case(
        "manchester_triage", manchester_triage_reward, _COLOURS,
        good=["<triage>red</triage>", "No danger. <triage>Blue</triage>", "<triage>orange</triage>"],
        bad=["<triage>green</triage>", "<triage>orange</triage>", "<triage>yellow</triage>"],
    ),
    Case(
        "clause_labels_f1", clause_labels_f1_reward, _CLAUSES,
        good=["<labels>termination, payment</labels>", "<labels>none</labels>", "It names the courts. <labels>Jurisdiction</labels>"],
        bad=["<labels>liability</labels>", "<labels>confidentiality</labels>", "<labels>payment, liability</labels>"],
    ),
]
