"""Sound rewards 4: formats, lists and orders, dates and money, constraints, calibration."""

from __future__ import annotations

import re
from collections import Counter
from datetime import date
from decimal import Decimal

from tests.faults.case import Case


def _text(completion):
    """Text of a completion, be it a string or a list of chat messages."""
    if isinstance(completion, str):
        return completion
    return (completion[-1].get("content") or "") if completion else ""


def _block(text, tag="answer"):
    """Content of the one <tag></tag> pair of a text; None if there is not exactly one."""
    opening, closing = f"<{tag}>", f"</{tag}>"
    if text.count(opening) != 1 or text.count(closing) != 1:
        return None
    start, end = text.find(opening) + len(opening), text.find(closing)
    return text[start:end] if start <= end else None


def _last_line(text):
    """Last line which is not blank, stripped; "" if there is none."""
    text = text.strip()
    return text[text.rfind("\n") + 1:].strip()


def _unique(pairs):
    """For json: refuse objects with a key twice."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key twice")
    return found


def _chat(text):
    return [{"role": "assistant", "content": text}]


CASES: list[Case] = []


def _add(reward, rows, good, bad):
    CASES.append(Case(reward.__name__, reward, rows, good, bad))


# --------------------------------------------------------------------------- 1


def strict_think_answer_format(completions, **kwargs):
    """Format reward, to be added to a reward for the answer itself.

    1.0 if the completion is <think>...</think> and then <answer>...</answer>, each of
    the four tags exactly once, with something that is not white space inside either
    pair and nothing but white space before, between and after them; otherwise 0.0.
    What stands inside is not judged here.
    """
    tags = ("<think>", "</think>", "<answer>", "</answer>")
    rewards = []
    for completion in completions:
        text = _text(completion).strip()
        places = [text.find(tag) for tag in tags]
        ok = all(text.count(tag) == 1 for tag in tags) and places == sorted(places)
        if ok:
            thought = text[places[0] + len(tags[0]):places[1]]
            between = text[places[1] + len(tags[1]):places[2]]
            reply = text[places[2] + len(tags[2]):places[3]]
            ok = places[0] == 0 and text.endswith(tags[3]) and not between.strip()
            ok = ok and bool(thought.strip()) and bool(reply.strip())
        rewards.append(1.0 if ok else 0.0)
    return rewards


_add(
    strict_think_answer_format,
    [
        {"prompt": "What is 9 * 8? Reply as <think>...</think><answer>...</answer> and nothing else."},
        {"prompt": "Name a river. Reply as <think>...</think><answer>...</answer> and nothing else."},
    ],
    [_chat("<think>\n9 * 8 is 72\n</think>\n<answer>72</answer>\n"), _chat("<think>The Po?</think><answer>Po</answer>")],
    [_chat("<think>72</think>72"), _chat("<answer>Po</answer><think>It is one.</think>")],
)

# --------------------------------------------------------------------------- 2


def report_sections_reward(completions, headings, **kwargs):
    """Format of a report with given sections, with part marks.

    A heading is a line "# Title", spelt as in `headings`. If all headings which the
    report has (lines beginning with "# ") are among the asked ones, none of them twice
    and they stand in the asked order, the reward is the share of asked sections which
    have text (a line after the heading, before the next one, which is not blank).
    If headings are repeated, unknown or out of order, or other text comes before the
    first one: 0.0. The content is judged by another reward.
    """
    rewards = []
    for completion, wanted in zip(completions, headings):
        sections, valid = [], True
        for line in _text(completion).split("\n"):
            if line.startswith("# "):
                sections.append([line[2:].strip(), False])
            elif line.strip():
                if sections:
                    sections[-1][1] = True
                else:
                    valid = False
        titles = [title for title, _ in sections]
        valid = valid and titles == [title for title in wanted if title in titles]
        rewards.append(sum(filled for _, filled in sections) / len(wanted) if valid else 0.0)
    return rewards


_add(
    report_sections_reward,
    [
        {
            "prompt": "Write a report with the sections '# Summary', '# Findings', '# Next steps', in this order, each with text, and nothing before them.",
            "headings": ["Summary", "Findings", "Next steps"],
        },
        {
            "prompt": "Write a recipe with the sections '# Ingredients' and '# Method', in this order, each with text, and nothing before them.",
            "headings": ["Ingredients", "Method"],
        },
    ],
    [
        "# Summary\nAll well.\n\n# Findings\n- none\n\n# Next steps\nRest.",
        "# Ingredients\n\nRice, salt\n# Method\nCook.",
    ],
    ["# Summary\nAll well.\n# Findings\n", "# Method\nCook.\n# Ingredients\nRice"],
)

# --------------------------------------------------------------------------- 3


def step_order_reward(completions, steps, before, **kwargs):
    """An order of steps under precedence constraints.

    The one <answer></answer> pair holds all `steps`, each exactly once, separated by
    ">" or line breaks (one of the two or both; empty pieces are ignored); the case of
    the letters and outer white space do not matter. If it is not such a list: 0.0.
    Otherwise 1.0 if a comes before b for every pair (a, b) of `before`; any such order
    is right; and 0.0 if one of them is broken.
    """
    rewards = []
    for completion, names, pairs in zip(completions, steps, before):
        pieces = (_block(_text(completion)) or "").replace("\n", ">").split(">")
        order = [piece.strip().lower() for piece in pieces if piece.strip()]
        place = {step: i for i, step in enumerate(order)}
        ok = len(order) == len(names) and place.keys() == {name.lower() for name in names}
        ok = ok and all(place[a.lower()] < place[b.lower()] for a, b in pairs)
        rewards.append(1.0 if ok else 0.0)
    return rewards


_add(
    step_order_reward,
    [
        {
            "prompt": "Order: sand, prime, paint, dry. sand before prime, prime before paint, paint before dry. 'a > b > ...' in one <answer></answer>.",
            "steps": ["sand", "prime", "paint", "dry"],
            "before": [["sand", "prime"], ["prime", "paint"], ["paint", "dry"]],
        },
        {
            "prompt": "Order: task 1, task 10, task 2. task 1 before task 2. 'a > b > ...' in one <answer></answer>.",
            "steps": ["task 1", "task 10", "task 2"],
            "before": [["task 1", "task 2"]],
        },
    ],
    ["<answer>Sand > prime > paint > dry</answer>", "<answer>\ntask 10\ntask 1\ntask 2\n</answer>"],
    ["<answer>sand > paint > prime > dry</answer>", "<answer>task 1 > task 2</answer>"],
)

# --------------------------------------------------------------------------- 4


def alias_set_reward(completions, items, **kwargs):
    """A set of things, each with several accepted names.

    `items` is a list of lists: the names of each thing, all different. The one
    <answer></answer> pair holds names separated by commas or line breaks; case, outer
    white space, a "- " in front and a final full stop do not matter, empty pieces are
    ignored. Order is free. A thing counts once; naming it again, by any of its names,
    and names of nothing in the list are errors. Reward: things named / (things in the
    list + errors).
    """
    rewards = []
    for completion, things in zip(completions, items):
        owner = {name.lower(): i for i, names in enumerate(things) for name in names}
        pieces = (_block(_text(completion)) or "").replace("\n", ",").split(",")
        named, errors = set(), 0
        for piece in pieces:
            name = piece.strip().removeprefix("- ").removesuffix(".").strip().lower()
            if not name:
                continue
            if name in owner and owner[name] not in named:
                named.add(owner[name])
            else:
                errors += 1
        rewards.append(len(named) / (len(things) + errors))
    return rewards


_add(
    alias_set_reward,
    [
        {
            "prompt": "Which countries border Portugal or Monaco? Names in one <answer></answer>, separated by commas.",
            "items": [["Spain", "Kingdom of Spain"], ["France", "French Republic"]],
        },
        {
            "prompt": "Name the halogens of the first four periods. In one <answer></answer>, separated by commas.",
            "items": [["fluorine", "F"], ["chlorine", "Cl"], ["bromine", "Br"]],
        },
    ],
    ["<answer>France, Kingdom of Spain</answer>", "<answer>\n- Cl\n- bromine\n- F.\n</answer>"],
    ["<answer>Spain, Italy</answer>", "<answer>F, fluorine, neon</answer>"],
)

# --------------------------------------------------------------------------- 5

MONTHS = ["january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december"]


def invoice_due_date_reward(completions, due, **kwargs):
    """The due date of an invoice which writes its dates day first.

    The one <answer></answer> pair holds the date in one of three forms: YYYY-MM-DD,
    D/M/YYYY (day first, leading zeros allowed, "." in place of "/" as well) or
    "D Month YYYY" with the English name of the month or its first three letters, in
    any case. `due` is the gold date as YYYY-MM-DD. 1.0 for this date, else 0.0.
    """
    iso = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
    slashed = re.compile(r"([0-9]{1,2})([/.])([0-9]{1,2})\2([0-9]{4})")
    written = re.compile(r"([0-9]{1,2}) {1,3}([a-z]{3,9}) {1,3}([0-9]{4})")

    def read(text):
        if match := iso.fullmatch(text):
            return int(match[1]), int(match[2]), int(match[3])
        if match := slashed.fullmatch(text):
            return int(match[4]), int(match[3]), int(match[1])
        if match := written.fullmatch(text):
            for number, name in enumerate(MONTHS, start=1):
                if match[2] in (name, name[:3]):
                    return int(match[3]), number, int(match[1])
        return None

    rewards = []
    for completion, gold in zip(completions, due):
        found = read((_block(_text(completion)) or "").strip().lower())
        expected = date.fromisoformat(gold)
        rewards.append(1.0 if found == (expected.year, expected.month, expected.day) else 0.0)
    return rewards


_add(
    invoice_due_date_reward,
    [
        {"prompt": "'Dated 02/04/2024, payable by 03/05/2024' (day first). Due date in one <answer></answer>: YYYY-MM-DD, D/M/YYYY or 'D Month YYYY'.", "due": "2024-05-03"},
        {"prompt": "'Payable until the last day of February 2023.' Due date in one <answer></answer>: YYYY-MM-DD, D/M/YYYY or 'D Month YYYY'.", "due": "2023-02-28"},
    ],
    ["<answer>3/5/2024</answer>", "<answer>28 Feb 2023</answer>"],
    ["<answer>5 March 2024</answer>", "<answer>29/02/2023</answer>"],
)

# --------------------------------------------------------------------------- 6


def money_reward(completions, amount, currency, **kwargs):
    """Amounts of money.

    The last line which is not blank is "Total: " and an amount with its currency, the
    code (EUR, USD, GBP) or sign before or after it, as "EUR 1,250.50", "$20" or
    "-12.5 GBP"; at most one space between. A minus sign comes first of all. Commas only
    between groups of three digits; up to four decimals. 1.0 if amount (exactly) and
    currency are the gold ones, 0.25 if only the amount is, else 0.0.
    """
    names = {"€": "EUR", "$": "USD", "£": "GBP", "EUR": "EUR", "USD": "USD", "GBP": "GBP"}
    unit = r"(€|\$|£|EUR|USD|GBP)"
    number = r"((?:[0-9]{1,3}(?:,[0-9]{3}){1,4}|[0-9]{1,15})(?:\.[0-9]{1,4})?)"
    before = re.compile("(-?)" + unit + " ?" + number)
    after = re.compile("(-?)" + number + " ?" + unit)

    rewards = []
    for completion, gold, code in zip(completions, amount, currency):
        line = _last_line(_text(completion))
        text = line[len("Total:"):].strip() if line.startswith("Total:") else ""
        if match := before.fullmatch(text):
            sign, name, digits = match.groups()
        elif match := after.fullmatch(text):
            sign, digits, name = match.groups()
        else:
            rewards.append(0.0)
            continue
        value = Decimal(sign + digits.replace(",", ""))
        if value != Decimal(gold):
            rewards.append(0.0)
        else:
            rewards.append(1.0 if names[name] == code else 0.25)
    return rewards


_add(
    money_reward,
    [
        {"prompt": "Three chairs at 416.50 euros each. Last line 'Total: ' amount and currency.", "amount": "1249.50", "currency": "EUR"},
        {"prompt": "A refund of 20 dollars is a total of minus 20. Last line 'Total: ' amount and currency.", "amount": "-20", "currency": "USD"},
    ],
    ["3 * 416.50\nTotal: €1,249.50", "Total: -$20.00"],
    ["Total: 1249.50 USD", "Total: $20"],
)

# --------------------------------------------------------------------------- 7


def constraints_share_reward(completions, constraints, **kwargs):
    """Share of the constraints which a text keeps.

    A constraint has a "kind", a "relation" ("at least", "at most", "exactly", "less
    than", "more than") and a number "n". Kinds: "words" (pieces between white space which
    have a letter or digit), "lines" (lines which are not blank), "keyword" (occurrences
    of "word" as a whole word, a word being a run of letters, digits and underscores,
    whatever the case). A reply without a word gets 0.0, however few words are asked.
    Constraints of the same kind count separately.
    """
    relations = {
        "at least": lambda a, b: a >= b,
        "at most": lambda a, b: a <= b,
        "exactly": lambda a, b: a == b,
        "less than": lambda a, b: a < b,
        "more than": lambda a, b: a > b,
    }
    rewards = []
    for completion, wanted in zip(completions, constraints):
        text = _text(completion)
        tokens = Counter(re.findall(r"\w+", text.lower()))
        counts = {
            "words": sum(any(letter.isalnum() for letter in piece) for piece in text.split()),
            "lines": sum(bool(line.strip()) for line in text.split("\n")),
        }
        if not counts["words"]:
            rewards.append(0.0)
            continue
        kept = 0
        for item in wanted:
            count = tokens[item["word"].lower()] if item["kind"] == "keyword" else counts[item["kind"]]
            kept += relations[item["relation"]](count, item["n"])
        rewards.append(kept / len(wanted))
    return rewards


_add(
    constraints_share_reward,
    [
        {
            "prompt": "Praise art in less than 15 words: 'art' at least twice, 'start' not at all.",
            "constraints": [
                {"kind": "words", "relation": "less than", "n": 15},
                {"kind": "keyword", "word": "art", "relation": "at least", "n": 2},
                {"kind": "keyword", "word": "start", "relation": "exactly", "n": 0},
            ],
        },
        {
            "prompt": "Two lines about rain, at least 3 words in all.",
            "constraints": [
                {"kind": "lines", "relation": "exactly", "n": 2},
                {"kind": "words", "relation": "at least", "n": 3},
            ],
        },
    ],
    ["Art is long; art is also good company.", "Rain on the roof,\nrain in the gutter."],
    ["You start to see, and then you start to love it, whatever it is, day after day.", "Rain."],
)

# --------------------------------------------------------------------------- 8


def acrostic_bullets_reward(completions, word, max_words, **kwargs):
    """A bullet list which is an acrostic.

    Every line which is not blank is a bullet, "- " and text. The first letters of the
    texts, in order, spell the word (case does not matter), one bullet for each letter.
    Each bullet has at least two words (pieces between white space) and at most
    `max_words`. 1.0 if all this holds, 0.5 if all but the number of words of bullets,
    0.0 otherwise.
    """
    rewards = []
    for completion, spelt, limit in zip(completions, word, max_words):
        lines = [line.strip() for line in _text(completion).split("\n") if line.strip()]
        texts = [line[2:].strip() for line in lines if line.startswith("- ")]
        ok = len(texts) == len(lines) == len(spelt)
        ok = ok and all(text[:1].lower() == letter for text, letter in zip(texts, spelt.lower()))
        if not ok:
            rewards.append(0.0)
            continue
        rewards.append(1.0 if all(2 <= len(text.split()) <= limit for text in texts) else 0.5)
    return rewards


_add(
    acrostic_bullets_reward,
    [
        {"prompt": "A bullet list ('- ') of 3 lines whose first letters spell SEA, 2 to 6 words each.", "word": "SEA", "max_words": 6},
        {"prompt": "A bullet list ('- ') of 2 lines whose first letters spell OK, 2 to 4 words each.", "word": "OK", "max_words": 4},
    ],
    ["- Salt in the air\n- Endless waves\n- An old harbour", "- Oh, fine\n- Keep it up"],
    ["- Salt in the air\n- All the waves\n- Endless harbour", "* Oh, fine\n* Keep it up"],
)

# --------------------------------------------------------------------------- 9


def calibrated_answer_reward(completions, answer, **kwargs):
    """Correctness with calibration, correct - (confidence - correct)^2.

    The last two lines which are not blank are "Answer: ..." and "Confidence: N%", N
    from 0 to 100 with up to two decimals and the percent sign. correct is 1 if the
    answer is one of the accepted ones in `answer` (case, outer white space and a final
    full stop do not matter), else 0; confidence is N / 100. So the reward goes from 1
    (right and sure) over 0 (wrong and not sure at all) to -1 (wrong and sure). Lines of
    another form get -1.0.
    """
    pattern = re.compile(r"([0-9]{1,3}(?:\.[0-9]{1,2})?) ?%")
    rewards = []
    for completion, accepted in zip(completions, answer):
        lines = [line.strip() for line in _text(completion).strip().split("\n") if line.strip()][-2:]
        valid = len(lines) == 2 and lines[0].startswith("Answer:") and lines[1].startswith("Confidence:")
        match = pattern.fullmatch(lines[1][len("Confidence:"):].strip()) if valid else None
        if match is None or float(match[1]) > 100:
            rewards.append(-1.0)
            continue
        reply = lines[0][len("Answer:"):].strip().removesuffix(".").strip().lower()
        correct = float(reply in {name.lower() for name in accepted})
        rewards.append(correct - (float(match[1]) / 100 - correct) ** 2)
    return rewards


_add(
    calibrated_answer_reward,
    [
        {"prompt": "Chemical symbol of tin? Last lines 'Answer: ...' and 'Confidence: N%'.", "answer": ["Sn"]},
        {"prompt": "Who wrote Emma? Last lines 'Answer: ...' and 'Confidence: N%'.", "answer": ["Jane Austen", "Austen"]},
    ],
    ["From stannum.\nAnswer: Sn\nConfidence: 97%", "Answer: Austen.\nConfidence: 90 %"],
    ["Answer: Ti\nConfidence: 80%", "Answer: Emily Bronte\nConfidence: 1%"],
)

# --------------------------------------------------------------------------- 10


def interval_width_reward(completions, truth, scale, **kwargs):
    """Estimates as an interval, the narrower the better.

    The last line which is not blank is "[low, high]" with plain numbers and low not
    above high. If the true value is in it (the ends belong to it) the reward is
    1 - (high - low) / scale, not below 0.05, so that a wide but true interval is still
    worth more than a wrong one; if it is not, or the line has another form: 0.0.
    """
    number = r"(-?[0-9]{1,15}(?:\.[0-9]{1,10})?)"
    pattern = re.compile(r"\[ {0,3}" + number + r" {0,3}, {0,3}" + number + r" {0,3}\]")
    rewards = []
    for completion, value, full in zip(completions, truth, scale):
        match = pattern.fullmatch(_last_line(_text(completion)))
        low, high = (float(match[1]), float(match[2])) if match else (1.0, 0.0)
        if not low <= value <= high:
            rewards.append(0.0)
            continue
        rewards.append(max(0.05, 1 - (high - low) / full))
    return rewards


_add(
    interval_width_reward,
    [
        {"prompt": "Height of Mont Blanc in metres? Last line '[low, high]', narrow but true.", "truth": 4806.0, "scale": 2000.0},
        {"prompt": "Lowest temperature on record in Celsius? Last line '[low, high]', narrow but true.", "truth": -89.2, "scale": 50.0},
    ],
    ["A little below 4810.\n[4790, 4820]", "[-91, -88.5]"],
    ["[4000, 4500]", "[-80, -60]"],
)
