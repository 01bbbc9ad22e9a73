"""Sound reward functions, part 3."""

from __future__ import annotations

import csv
import io
import json
import re
import unicodedata
import xml.etree.ElementTree as ET
from collections import Counter

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
# 21. small sudokus
# ---------------------------------------------------------------------------


def mini_sudoku_reward(completions, puzzle, **kwargs):
    """4x4 sudoku: 1.0 for a grid that keeps the clues and has 1 to 4 once in each row, column
    and 2x2 box; 0.0 otherwise. Any such grid is right, also where the puzzle has several.

    <grid></grid> holds four lines of four digits; blanks between the digits are ignored.
    """
    digits = set("1234")
    rewards = []
    for completion, clues in zip(completions, puzzle):
        body = _tag(_text(completion), "grid") or ""
        rows = ["".join(line.split()) for line in body[:500].split("\n") if line.strip()]
        ok = len(body) <= 500 and len(rows) == 4 and all(len(r) == 4 for r in rows)
        if ok:
            columns = ["".join(r[c] for r in rows) for c in range(4)]
            boxes = [rows[r][c : c + 2] + rows[r + 1][c : c + 2] for r in (0, 2) for c in (0, 2)]
            ok = all(set(unit) == digits for unit in rows + columns + boxes)
            ok = ok and all(clue in (".", cell) for line, row in zip(clues, rows) for clue, cell in zip(line, row))
        rewards.append(1.0 if ok else 0.0)
    return rewards


_SUDOKU_HOW = "Fill the dots so that 1-4 occur once in each row, column and 2x2 box. Answer with four lines of four digits in <grid></grid>.\n"
_SUDOKU_A, _SUDOKU_B = ["1..4", "..1.", ".1..", "4..1"], ["1...", "..3.", ".4..", "...2"]
_SUDOKUS = [
    {"prompt": _SUDOKU_HOW + "\n".join(_SUDOKU_A), "puzzle": _SUDOKU_A},
    {"prompt": _SUDOKU_HOW + "\n".join(_SUDOKU_B), "puzzle": _SUDOKU_B},
]

# ---------------------------------------------------------------------------
# 22. XML records
# ---------------------------------------------------------------------------


def book_record_reward(completions, record, **kwargs):
    """Book records: share of the gold fields that are right.

    The completion is one <book> element whose children are <title>, <author> (one for each
    author, in the order of the book) and <year>. The order of the different fields is free;
    the authors count as one field and must all be there in order. A record with another tag,
    a repeated title or year, attributes, nested elements or loose text gets 0.0.
    """

    def read(xml):
        if len(xml) > 10_000 or "<!" in xml:
            return None
        try:
            root = ET.fromstring(xml)
        except (ET.ParseError, ValueError):
            return None
        if root.tag != "book" or root.attrib or (root.text or "").strip():
            return None
        found = {"title": [], "author": [], "year": []}
        for child in root:
            if child.tag not in found or len(child) or child.attrib or (child.tail or "").strip():
                return None
            found[child.tag].append(" ".join((child.text or "").split()).lower())
        return found if len(found["title"]) <= 1 and len(found["year"]) <= 1 else None

    rewards = []
    for completion, gold in zip(completions, record):
        found = read(_text(completion).strip())
        wanted = {k: [v.lower() for v in vs] for k, vs in gold.items()}
        rewards.append(0.0 if found is None else sum(found[k] == wanted[k] for k in wanted) / len(wanted))
    return rewards


_BOOK_HOW = "Only XML, no attributes: <book> with <title>, <author> for each author in order (as written) and <year>.\n"
_BOOKS = [
    {
        "prompt": _BOOK_HOW + "'Gödel for Gardeners' by Ada Quill and Ben Moss, 2003",
        "record": {"title": ["Gödel for Gardeners"], "author": ["Ada Quill", "Ben Moss"], "year": ["2003"]},
    },
    {"prompt": _BOOK_HOW + "Rita Vane: 'Salt & Rope' (1987)", "record": {"title": ["Salt & Rope"], "author": ["Rita Vane"], "year": ["1987"]}},
]

# ---------------------------------------------------------------------------
# 23. supporting documents
# ---------------------------------------------------------------------------


def supporting_documents_reward(prompts, completions, support, **kwargs):
    """F1 of the documents named as support for a claim.

    <sources></sources> holds numbers like [2][5] or [2], [5]; repetitions count once, numbers
    of documents which do not exist count as wrong. Any other text in the tag makes it void.
    """
    rewards = []
    for completion, gold in zip(completions, support):
        body = _tag(_text(completion), "sources") or ""
        numbers = re.findall(r"\[([0-9]{1,4})\]", body[:1000])
        rest = re.sub(r"\[[0-9]{1,4}\]", "", body[:1000])
        if len(body) > 1000 or not numbers or rest.strip(", \n"):
            rewards.append(0.0)
            continue
        named, wanted = {int(n) for n in numbers}, set(gold)
        rewards.append(2 * len(named & wanted) / (len(named) + len(wanted)))
    return rewards


_SUP_HOW = "\nWhich documents support the claim? Name exactly those, like <sources>[1][3]</sources>."
_SUPPORT = [
    {
        "prompt": [{"role": "user", "content": "[1] The mill burned down in 1902.\n[2] In 1910 a new mill was built.\n[3] After the fire of 1902 only the mill's walls stood.\n[4] The village has a pond.\nClaim: The mill was destroyed by a fire in 1902." + _SUP_HOW}],
        "support": [1, 3],
    },
    {
        "prompt": [{"role": "user", "content": "[1] Ducks moult in summer.\n[2] While they moult, ducks cannot fly.\n[3] Swans are larger than ducks.\nClaim: Swans are bigger birds than ducks." + _SUP_HOW}],
        "support": [3],
    },
]

# ---------------------------------------------------------------------------
# 24. CSV tables
# ---------------------------------------------------------------------------


def csv_table_reward(completions, header, rows, **kwargs):
    """Tables as CSV: F1 of whole rows, order of the rows free.

    The first row in <csv></csv> has to be the header of the prompt. A row is right if all its
    cells are right (outer blanks aside); rows are compared as a multiset, so repeated rows do
    not help. Without the header, or with more than 200 rows, the reward is 0.0.
    """
    rewards = []
    for completion, names, gold in zip(completions, header, rows):
        body = _tag(_text(completion), "csv")
        try:
            table = [[cell.strip() for cell in row] for row in csv.reader(io.StringIO(body)) if row] if body else []
        except csv.Error:
            table = []
        if not table or table[0] != names or len(table) > 201 or len(table) == 1:
            rewards.append(0.0)
            continue
        made, wanted = Counter(map(tuple, table[1:])), Counter(map(tuple, gold))
        rewards.append(2 * sum((made & wanted).values()) / (len(table) - 1 + len(gold)))
    return rewards


_CSV_HOW = "Write a CSV table with the header {} into <csv></csv>, one row for each, values as in the text, numbers without units.\n"
_TABLES = [
    {
        "prompt": _CSV_HOW.format("name,age,city") + "Ina is 31 and lives in Bern. Olu, 28, is from Lagos.",
        "header": ["name", "age", "city"],
        "rows": [["Ina", "31", "Bern"], ["Olu", "28", "Lagos"]],
    },
    {
        "prompt": _CSV_HOW.format("item,price") + 'Prices: bread 3.20; butter, salted 2.75 (the item is "butter, salted"); milk 1.10.',
        "header": ["item", "price"],
        "rows": [["bread", "3.20"], ["butter, salted", "2.75"], ["milk", "1.10"]],
    },
]

# ---------------------------------------------------------------------------
# 25. extraction of addresses
# ---------------------------------------------------------------------------


def email_extraction_reward(completions, emails, **kwargs):
    """F1 of the extracted e-mail addresses, regardless of case and order.

    <emails></emails> has one address per line, or the single word none. Repeated lines count
    once. Lines which are no address in the text are wrong, so listing guesses costs; none together with addresses is void.
    """
    rewards = []
    for completion, gold in zip(completions, emails):
        body = _tag(_text(completion), "emails")
        if not body:
            rewards.append(0.0)
            continue
        named = {line.strip().lower() for line in body.split("\n") if line.strip()}
        wanted = {e.lower() for e in gold}
        if not wanted or "none" in named:
            rewards.append(1.0 if not wanted and named == {"none"} else 0.0)
            continue
        rewards.append(2 * len(named & wanted) / (len(named) + len(wanted)))
    return rewards


_MAIL_HOW = "List all e-mail addresses of the text in <emails></emails>, one per line, or write none there.\n"
_MAILS = [
    {"prompt": _MAIL_HOW + "Ask info@moor.example or, for bills, pay.desk@moor.example (not the old desk).", "emails": ["info@moor.example", "pay.desk@moor.example"]},
    {"prompt": _MAIL_HOW + "Call us at 555-0101, we have no mail yet.", "emails": []},
    {"prompt": _MAIL_HOW + "Write to Jo.Lim@uni.example until May.", "emails": ["jo.lim@uni.example"]},
]

# ---------------------------------------------------------------------------
# 26. short answers with accepted variants
# ---------------------------------------------------------------------------


def accepted_answers_reward(prompts, completions, accepted, **kwargs):
    """1.0 if the only <answer></answer> is one of the accepted answers, else 0.0.

    Case, accents, a leading "the" and full stops or quotes around the answer are ignored; it
    has to be the whole answer, not a part of it.
    """

    def plain(s):
        s = unicodedata.normalize("NFKD", s[:300]).casefold()
        s = " ".join("".join(ch for ch in s if not unicodedata.combining(ch)).split()).strip(" .\"'")
        return s[len("the ") :] if s.startswith("the ") else s

    rewards = []
    for completion, variants in zip(completions, accepted):
        answer = _tag(_text(completion), "answer")
        ok = bool(answer) and len(answer) <= 300 and plain(answer) in {plain(v) for v in variants}
        rewards.append(1.0 if ok else 0.0)
    return rewards


_ACC_HOW = " Give only the name in <answer></answer>."
_ACCEPTED = [
    {"prompt": "Which country lies between Spain and France?" + _ACC_HOW, "accepted": ["Andorra", "Principality of Andorra"]},
    {"prompt": "Who wrote One Hundred Years of Solitude?" + _ACC_HOW, "accepted": ["Gabriel García Márquez", "García Márquez", "Gabriel José García Márquez", "Gabo"]},
    {"prompt": "Which river flows through Cairo?" + _ACC_HOW, "accepted": ["Nile", "Nile River", "River Nile"]},
]

# ---------------------------------------------------------------------------
# 27. format and accuracy
# ---------------------------------------------------------------------------


def think_then_answer_reward(prompts, completions, answer, **kwargs):
    """Format and accuracy of reasoning models.

    The whole completion has to be <think>...</think> followed by <answer>...</answer>: each
    tag exactly once, in this order, only white space around and between, at least five words
    of thought and a non-empty answer. Format violated: 0.0. Format kept, answer wrong: 0.2.
    Format kept and answer right (an integer): 1.0.
    """
    tags = ("<think>", "</think>", "<answer>", "</answer>")
    rewards = []
    for completion, gold in zip(completions, answer):
        text = _text(completion).strip()
        if any(text.count(t) != 1 for t in tags) or not text.startswith(tags[0]) or not text.endswith(tags[3]):
            rewards.append(0.0)
            continue
        places = [text.index(t) for t in tags]
        thought = text[places[0] + len(tags[0]) : places[1]]
        between = text[places[1] + len(tags[1]) : places[2]]
        final = text[places[2] + len(tags[2]) : places[3]].strip()
        if places != sorted(places) or between.strip() or len(thought.split()) < 5 or not final:
            rewards.append(0.0)
            continue
        right = re.fullmatch(r"-?[0-9]{1,15}", final) is not None and int(final) == gold
        rewards.append(1.0 if right else 0.2)
    return rewards


_TTA_SYSTEM = {"role": "system", "content": "Answer with <think>your reasoning, five words or more</think> and then <answer>integer</answer>, nothing else."}
_TTA = [
    {"prompt": [_TTA_SYSTEM, {"role": "user", "content": "What is 23 * 7?"}], "answer": 161},
    {"prompt": [_TTA_SYSTEM, {"role": "user", "content": "What is the sum of the first ten positive integers?"}], "answer": 55},
]

# ---------------------------------------------------------------------------
# 28. structure of reports
# ---------------------------------------------------------------------------


def report_structure_reward(completions, sections, **kwargs):
    """Structure of reports; what the sections say is judged by another reward.

    Lines which start with "## " are headings. 1.0 if the headings are exactly those of the
    prompt in its order and every section has at least five words, 0.0 otherwise. Text in
    front of the first heading is not allowed.
    """
    rewards = []
    for completion, wanted in zip(completions, sections):
        headings, words, early = [], [], False
        for line in _text(completion).strip().split("\n"):
            if line.startswith("## "):
                headings.append(line[3:].strip().lower())
                words.append(0)
            elif words:
                words[-1] += len(line.split())
            elif line.strip():
                early = True
        ok = not early and headings == [w.lower() for w in wanted] and all(n >= 5 for n in words)
        rewards.append(1.0 if ok else 0.0)
    return rewards


_STRUCTURE = [
    {
        "prompt": "Report on a broken pump (it leaked since Monday, the seal was worn, it was replaced). Exactly the headings '## Problem', '## Cause', '## Repair' in this order, at least five words under each, nothing in front.",
        "sections": ["Problem", "Cause", "Repair"],
    },
    {
        "prompt": "Note on a test drive (quiet car, hard seats). Exactly the headings '## Likes', '## Dislikes' in this order, at least five words under each, nothing in front.",
        "sections": ["Likes", "Dislikes"],
    },
]

# ---------------------------------------------------------------------------
# 29. orderings with partial credit
# ---------------------------------------------------------------------------


def ordering_tau_reward(completions, order, **kwargs):
    """Orderings: (concordant - discordant pairs) / all pairs, negative values cut to 0.

    <order></order> has to contain all items of the prompt exactly once, one per line, and
    nothing else; otherwise 0.0. Case does not matter.
    """
    rewards = []
    for completion, gold in zip(completions, order):
        body = _tag(_text(completion), "order") or ""
        lines = [ln.strip().lower() for ln in body[:5000].split("\n") if ln.strip()]
        place = {item.lower(): i for i, item in enumerate(gold)}
        if sorted(lines) != sorted(place):
            rewards.append(0.0)
            continue
        ranks = [place[ln] for ln in lines]
        pairs = [(a, b) for i, a in enumerate(ranks) for b in ranks[i + 1 :]]
        rewards.append(max(0.0, sum(1 if a < b else -1 for a, b in pairs) / len(pairs)))
    return rewards


_ORDER_HOW = " Each item exactly once, one per line, in <order></order>; pairs in the right order earn credit."
_ORDERS = [
    {"prompt": "Order by diameter, smallest first: Jupiter, Earth, Mercury, Neptune." + _ORDER_HOW, "order": ["Mercury", "Earth", "Neptune", "Jupiter"]},
    {"prompt": "Order the steps of making tea, first step first: pour, drink, boil, steep." + _ORDER_HOW + " (steep means that the leaves lie in the hot water)", "order": ["boil", "pour", "steep", "drink"]},
]

# ---------------------------------------------------------------------------
# 30. sorting
# ---------------------------------------------------------------------------


def sorted_list_reward(prompts, completions, values, descending, **kwargs):
    """1.0 if <list></list> holds the JSON list of exactly the given numbers in the wanted
    order, else 0.0. 3 and 3.0 are the same number; booleans and strings are no numbers."""
    rewards = []
    for completion, given, down in zip(completions, values, descending):
        body = _tag(_text(completion), "list")
        try:
            found = json.loads(body) if body and len(body) < 5000 else None
        except (ValueError, RecursionError):
            found = None
        ok = isinstance(found, list) and all(type(x) in (int, float) for x in found) and found == sorted(given, reverse=down)
        rewards.append(1.0 if ok else 0.0)
    return rewards


_SORTS = [
    {"prompt": "Sort in increasing order as a JSON list in <list></list>: 12, -3, 7.5, 12, 0", "values": [12, -3, 7.5, 12, 0], "descending": False},
    {"prompt": "Sort in decreasing order as a JSON list in <list></list>: 101, 11, 110, 1", "values": [101, 11, 110, 1], "descending": True},
]

CASES: list[Case] = [
    Case(
        "mini_sudoku", mini_sudoku_reward, _SUDOKUS,
        good=["<grid>\n1 2 3 4\n3 4 1 2\n2 1 4 3\n4 3 2 1\n</grid>", "<grid>1324\n4231\n2413\n3142</grid>"],
        bad=["<grid>1234\n3412\n4123\n2341</grid>", "<grid>1234\n2341\n3412\n4123</grid>"],
    ),
    Case(
        "book_record", book_record_reward, _BOOKS,
        good=[
            "<book>\n  <year>2003</year>\n  <author>Ada Quill</author>\n  <author>Ben Moss</author>\n  <title>Gödel for Gardeners</title>\n</book>",
            "<book><title>Salt &amp; Rope</title><author>Rita Vane</author><year>1987</year></book>",
        ],
        bad=[
            "<book><title>Gardeners</title><author>Ben Moss</author><author>Ada Quill</author><year>2003</year></book>",
            "<book><title>Salt</title><author>Vane</author><year>1978</year></book>",
        ],
    ),
    Case(
        "supporting_documents", supporting_documents_reward, _SUPPORT,
        good=[_say("Both tell of the fire. <sources>[3], [1]</sources>"), _say("<sources>[3]</sources>")],
        bad=[_say("<sources>[2][4]</sources>"), _say("<sources>[1]</sources>")],
    ),
    Case(
        "csv_table", csv_table_reward, _TABLES,
        good=["<csv>\nname,age,city\nOlu,28,Lagos\nIna,31,Bern\n</csv>", '<csv>item,price\nbread,3.20\n"butter, salted",2.75\nmilk,1.10</csv>'],
        bad=["<csv>name,age,city\nIna,28,Bern\nOlu,31,Lagos</csv>", "<csv>item,price\nbread,2.75\nbutter,3.20\nmilk,11.0</csv>"],
    ),
    Case(
        "email_extraction", email_extraction_reward, _MAILS,
        good=["<emails>\ninfo@moor.example\npay.desk@moor.example\n</emails>", "<emails>none</emails>", "<emails>Jo.Lim@uni.example</emails>"],
        bad=["<emails>desk@moor.example</emails>", "<emails>555-0101</emails>", "<emails>lim@uni.example</emails>"],
    ),
    Case(
        "accepted_answers", accepted_answers_reward, _ACCEPTED,
        good=["In the Pyrenees. <answer>Andorra</answer>", "<answer>Gabriel Garcia Marquez</answer>", "<answer>The Nile.</answer>"],
        bad=["<answer>Monaco</answer>", "<answer>Mario Vargas Llosa</answer>", "<answer>Jordan</answer>"],
    ),
    Case(
        "think_then_answer", think_then_answer_reward, _TTA,
        good=[
            _say("<think>20 times 7 is 140 and 3 times 7 is 21.</think>\n<answer>161</answer>"),
            _say("<think>Ten times eleven divided by two.</think><answer>55</answer>"),
        ],
        bad=[_say("<answer>161</answer>"), _say("<think>One plus two plus three and so on.</think>\n<answer>50</answer>")],
    ),
    Case(
        "report_structure", report_structure_reward, _STRUCTURE,
        good=[
            "## Problem\nThe pump has leaked since Monday.\n\n## Cause\nIts seal was worn out completely.\n\n## Repair\nWe put in a new seal.",
            "## Likes\nThe car is very quiet, even on the motorway.\n## Dislikes\nThe seats are hard, the back hurts soon.",
        ],
        bad=[
            "## Problem\nThe pump has leaked since Monday.\n## Repair\nThe worn seal was replaced today.",
            "I liked that it is quiet.\n## Dislikes\nThe seats are hard and narrow.",
        ],
    ),
    Case(
        "ordering_tau", ordering_tau_reward, _ORDERS,
        good=["<order>\nMercury\nEarth\nNeptune\nJupiter\n</order>", "<order>boil\npour\nsteep\ndrink</order>"],
        bad=["<order>Jupiter\nNeptune\nEarth\nMercury</order>", "<order>drink\nsteep\nboil\npour</order>"],
    ),
    Case(
        "sorted_list", sorted_list_reward, _SORTS,
        good=["<list>[-3, 0, 7.5, 12, 12]</list>", "<list>[110, 101, 11, 1]</list>"],
        bad=["<list>[-3, 0, 7.5, 12]</list>", "<list>[1, 11, 101, 110]</list>"],
    ),
]
