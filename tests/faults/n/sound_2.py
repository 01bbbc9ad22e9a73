"""Sound reward functions, part 2."""

from __future__ import annotations

import ast
import configparser
import json
import re
import xml.etree.ElementTree as ElementTree
from collections import Counter
from fractions import Fraction

from tests.faults.case import Case


def _text(completion):
    """The text of a completion, which is a string or a list of chat messages."""
    if isinstance(completion, str):
        return completion
    return str(completion[-1].get("content") or "") if completion else ""


def _tag(text, name):
    """The text of the last complete <name> element, None without one."""
    end = text.rfind(f"</{name}>")
    start = text.rfind(f"<{name}>", 0, end) if end >= 0 else -1
    return text[start + len(name) + 2 : end] if start >= 0 else None


def _chat(text):
    return [{"role": "assistant", "content": text}]


# ---------------------------------------------------------------- 11 SEARCH/REPLACE


def _blocks(text):
    """(search, replace) of each SEARCH/REPLACE block; None if a block is not complete."""
    blocks, search, replace, state = [], [], [], None
    for line in text.split("\n"):
        line = line.rstrip("\r")
        if line == "<<<<<<< SEARCH" and state is None:
            search, replace, state = [], [], "search"
        elif line == "=======" and state == "search":
            state = "replace"
        elif line == ">>>>>>> REPLACE" and state == "replace":
            blocks.append(("\n".join(search), "\n".join(replace)))
            state = None
        elif state == "search":
            search.append(line)
        elif state == "replace":
            replace.append(line)
    return blocks if state is None else None


def rename_edit_reward(completions, source, target, **kwargs):
    """Rename a variable in a Python function by SEARCH/REPLACE edits.

    The blocks are applied one after another; each SEARCH must be non-empty and occur exactly once
    in the file as it then is. The result must be the target file to the letter, blanks at the end
    of lines and of the file aside, which makes the indentation count. 1.0 for the target, 0.1
    for edits that apply but give another file, 0.0 for edits that do not apply.
    """
    rewards = []
    for completion, before, after in zip(completions, source, target):
        blocks = _blocks(_text(completion))
        if not blocks or len(blocks) > 50:
            rewards.append(0.0)
            continue
        text, applies = before, True
        for search, replace in blocks:
            applies = applies and bool(search) and text.count(search) == 1
            if applies:
                text = text.replace(search, replace)
        if not applies:
            rewards.append(0.0)
            continue
        got, want = ([line.rstrip() for line in side.rstrip().split("\n")] for side in (text, after))
        rewards.append(1.0 if got == want else 0.1)
    return rewards


def _edit(search, replace):
    return f"<<<<<<< SEARCH\n{search}\n=======\n{replace}\n>>>>>>> REPLACE"


_EDIT_RULE = "Edit with SEARCH/REPLACE blocks (each SEARCH must occur exactly once when its block is applied). {} and change nothing else.\n\n"
_MEAN = "def mean(xs):\n    t = 0\n    for x in xs:\n        t += x\n    return t / len(xs)\n"
_AREA = "def area(w, h):\n    r = w * h\n    return r\n"
_EDITS = [
    {"prompt": _EDIT_RULE.format("Rename the variable t to total") + _MEAN, "source": _MEAN, "target": _MEAN.replace(" t ", " total ")},
    {"prompt": _EDIT_RULE.format("Rename the variable r to result") + _AREA, "source": _AREA, "target": "def area(w, h):\n    result = w * h\n    return result\n"},
]

# ---------------------------------------------------------------- 12 settings file


def ini_reward(completions, source, changes, **kwargs):
    """Rewrite an INI file with some values changed.

    The new file stands in <ini>. It is compared by its sections, keys and values, so comments,
    blank lines and the order are free; keys are read in any case, as INI files are. 1.0 if exactly the asked values changed, else 0.0.
    """
    rewards = []
    for completion, before, wanted in zip(completions, source, changes):
        body = _tag(_text(completion), "ini") or ""
        found, expected = (configparser.ConfigParser(interpolation=None, default_section="", inline_comment_prefixes=(";", "#")) for _ in range(2))
        try:
            expected.read_string(before)
            found.read_string(body[:10000])
        except configparser.Error:
            rewards.append(0.0)
            continue
        for section, key, value in wanted:
            expected.set(section, key, value)
        rewards.append(1.0 if {s: dict(found[s]) for s in found.sections()} == {s: dict(expected[s]) for s in expected.sections()} else 0.0)
    return rewards


_INI = "[db]\nhost = localhost\nport = 5432\n\n[cache]\nttl = 60\n"
_INI_RULE = "Write the whole INI file again in <ini></ini>, with only this change; comments and order are free. If this element is there several times, the last one counts. "
_INIS = [
    {"prompt": _INI_RULE + "Set the port to 5433.\n" + _INI, "source": _INI, "changes": [["db", "port", "5433"]]},
    {"prompt": _INI_RULE + "Set the ttl to 300 and the host to db1.\n" + _INI, "source": _INI, "changes": [["cache", "ttl", "300"], ["db", "host", "db1"]]},
]

# ---------------------------------------------------------------- 13 sudoku


def sudoku_units_reward(completions, puzzle, **kwargs):
    """4x4 sudoku, four lines of four digits (blanks between them allowed) in <grid>.

    Any solution which keeps the given digits is right: 1.0. A full grid which keeps the given digits
    but breaks a rule gets 0.3 times the share of its rows, columns and blocks that hold 1 to 4.
    """
    scores = []
    for completion, given in zip(completions, puzzle):
        lines = [re.sub(r"[ \t\r]", "", line) for line in (_tag(_text(completion), "grid") or "").strip().split("\n")]
        if len(lines) != 4 or not all(re.fullmatch("[1-4]{4}", line) for line in lines):
            scores.append(0.0)
            continue
        if any(clue not in (".", cell) for row, clues in zip(lines, given) for cell, clue in zip(row, clues)):
            scores.append(0.0)
            continue
        units = lines + ["".join(column) for column in zip(*lines)]
        units += [lines[r][c : c + 2] + lines[r + 1][c : c + 2] for r in (0, 2) for c in (0, 2)]
        right = sum(len(set(unit)) == 4 for unit in units)
        scores.append(1.0 if right == 12 else 0.3 * right / 12)
    return scores


_SUDOKU_RULE = "Fill the 4x4 sudoku: rows, columns and 2x2 blocks hold 1 to 4, given digits stay. Write the four lines in <grid></grid>. If this element is there several times, the last one counts.\n"
_SUDOKUS = [
    {"prompt": _SUDOKU_RULE + "1..4\n.41.\n.14.\n4..1", "puzzle": ["1..4", ".41.", ".14.", "4..1"]},
    {"prompt": _SUDOKU_RULE + "2...\n.1..\n...4\n.3..", "puzzle": ["2...", ".1..", "...4", ".3.."]},
]

# ---------------------------------------------------------------- 14 countdown


def _exact_value(node):
    """Exact value of a tree of whole numbers, + - * / and signs; ValueError for anything else."""
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return Fraction(node.value)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.UAdd, ast.USub)):
        value = _exact_value(node.operand)
        return -value if isinstance(node.op, ast.USub) else value
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub, ast.Mult, ast.Div)):
        left, right = _exact_value(node.left), _exact_value(node.right)
        if isinstance(node.op, ast.Add):
            return left + right
        if isinstance(node.op, ast.Sub):
            return left - right
        return left * right if isinstance(node.op, ast.Mult) else left / right
    raise ValueError("not allowed")


def countdown_subset_reward(completions, numbers, target, **kwargs):
    """Countdown where each given number may be used at most once.

    The expression in <answer> may use + - * / and round brackets. 1.0 if it is legal and its exact
    value is the target, else 0.0. The value is computed with fractions, so that 1/3*3 is 1.
    """
    rewards = []
    for completion, given, goal in zip(completions, numbers, target):
        expression = (_tag(_text(completion), "answer") or "").strip()
        right = len(expression) <= 100 and re.fullmatch(r"[0-9+\-*/() ]+", expression) is not None
        if right:
            try:
                used = Counter(int(digits) for digits in re.findall(r"[0-9]+", expression))
                tree = ast.parse(expression, mode="eval").body
                right = not used - Counter(given) and _exact_value(tree) == goal
            except (SyntaxError, ValueError, ZeroDivisionError, RecursionError, MemoryError):
                right = False
        rewards.append(1.0 if right else 0.0)
    return rewards


_COUNT_RULE = "Use some of the numbers {}, each at most once, with + - * / and brackets, to make {}. Put only the expression in <answer></answer>. If this element is there several times, the last one counts."
_COUNTS = [
    {"prompt": _COUNT_RULE.format([4, 6, 25, 50], 146), "numbers": [4, 6, 25, 50], "target": 146},
    {"prompt": _COUNT_RULE.format([3, 3, 8, 8], 24), "numbers": [3, 3, 8, 8], "target": 24},
]

# ---------------------------------------------------------------- 15 maze with a bonus for short ways


def shortest_path_reward(completions, grid, shortest, **kwargs):
    """A way through a maze as a string of N, S, E, W in <path>.

    The way starts at A and must end at B; it may not enter '#' or leave the grid, and ends when
    B is reached (moves after that make it wrong). A shortest way earns 1.0 and each step more
    costs 0.1, down to 0.4. Any other way earns nothing.
    """
    step = {"N": (-1, 0), "S": (1, 0), "E": (0, 1), "W": (0, -1)}
    rewards = []
    for completion, rows, best in zip(completions, grid, shortest):
        path = "".join((_tag(_text(completion), "path") or "").split())
        place, goal = ((r, line.index(sign)) for sign in "AB" for r, line in enumerate(rows) if sign in line)
        legal = 0 < len(path) <= 500
        for letter in path if legal else "":
            if letter not in step or place == goal:
                legal = False
                break
            place = (place[0] + step[letter][0], place[1] + step[letter][1])
            if not (0 <= place[0] < len(rows) and 0 <= place[1] < len(rows[0])) or rows[place[0]][place[1]] == "#":
                legal = False
                break
        rewards.append(max(0.4, 1.0 - 0.1 * (len(path) - best)) if legal and place == goal else 0.0)
    return rewards


_PATH_RULE = "Go from A to B over '.'; '#' is a wall. Give the moves N, S, E, W in <path></path>, as few as possible, and stop at B. If this element is there several times, the last one counts.\n"
_PATHS = [
    {"prompt": _PATH_RULE + "A.#\n#..\n..B", "grid": ["A.#", "#..", "..B"], "shortest": 4},
    {"prompt": _PATH_RULE + "A#B\n...\n.#.", "grid": ["A#B", "...", ".#."], "shortest": 4},
]

# ---------------------------------------------------------------- 16 queens


def queens_reward(completions, size, fixed, **kwargs):
    """N queens with one queen given.

    <queens> holds the column (1 to n) of the queen of each row, separated by commas. Any placement with
    the given queen and without an attack earns 1.0; one attack or more, or a wrong form, earns 0.0.
    """
    rewards = []
    for completion, n, (row, column) in zip(completions, size, fixed):
        parts = [part.strip() for part in (_tag(_text(completion), "queens") or "").split(",")]
        if len(parts) != n or not all(re.fullmatch("[1-9][0-9]?", part) for part in parts):
            rewards.append(0.0)
            continue
        places = [int(part) for part in parts]
        right = max(places) <= n and places[row - 1] == column and len(set(places)) == n
        right = right and len({r + c for r, c in enumerate(places)}) == n and len({r - c for r, c in enumerate(places)}) == n
        rewards.append(1.0 if right else 0.0)
    return rewards


_QUEEN_RULE = "Place {n} queens on a {n}x{n} board, one in each row, with none attacking another. The queen of row {r} stands in column {c}. Give the columns of rows 1 to {n}, separated by commas, in <queens></queens>. If this element is there several times, the last one counts."
_QUEENS = [
    {"prompt": _QUEEN_RULE.format(n=4, r=1, c=2), "size": 4, "fixed": [1, 2]},
    {"prompt": _QUEEN_RULE.format(n=5, r=3, c=5), "size": 5, "fixed": [3, 5]},
]

# ---------------------------------------------------------------- 17 knight's way


def knight_way_reward(completions, start, goal, limit, **kwargs):
    """A knight's way on the chess board as squares separated by blanks in <way>.

    The way names all its squares, the first and the last one included, and takes at most `limit` moves.
    1.0 for such a way, otherwise 0.0. Upper and lower case are the same.
    """
    rewards = []
    for completion, first, last, most in zip(completions, start, goal, limit):
        squares = (_tag(_text(completion)[-5000:], "way") or "").lower().split()
        right = 2 <= len(squares) <= most + 1 and all(re.fullmatch("[a-h][1-8]", square) for square in squares)
        right = right and squares[0] == first and squares[-1] == last
        for here, there in zip(squares, squares[1:]) if right else ():
            across, up = abs(ord(here[0]) - ord(there[0])), abs(int(here[1]) - int(there[1]))
            right = right and {across, up} == {1, 2}
        rewards.append(1.0 if right else 0.0)
    return rewards


_KNIGHT_RULE = "Bring a knight on the empty board from {} to {} in at most {} moves. Give all squares from first to last, separated by blanks, in <way></way>; keep your answer below 5000 characters."
_KNIGHTS = [
    {"prompt": _KNIGHT_RULE.format("a1", "c5", 2), "start": "a1", "goal": "c5", "limit": 2},
    {"prompt": _KNIGHT_RULE.format("g1", "h1", 3), "start": "g1", "goal": "h1", "limit": 3},
]

# ---------------------------------------------------------------- 18 XML records


def xml_record_reward(completions, record, **kwargs):
    """A bibliographic record as XML: <record> with the elements title, author (one for each), year.

    The completion must be the element and nothing else. Authors may come in any order, the elements
    too; text is compared without regard to outer blanks. Each right part (title, authors, year)
    earns a third; other elements, attributes, doctypes or broken XML earn 0.0.
    """
    rewards = []
    for completion, gold in zip(completions, record):
        text = _text(completion).strip()
        if not text.startswith("<record>") or len(text) > 5000 or "<!" in text or "<?" in text:
            rewards.append(0.0)
            continue
        try:
            root = ElementTree.fromstring(text)
        except (ElementTree.ParseError, ValueError):
            rewards.append(0.0)
            continue
        fields = {"title": [], "author": [], "year": []}
        sound = all(child.tag in fields and not len(child) and not child.attrib and not (child.tail or "").strip() for child in root)
        if not sound or (root.text or "").strip():
            rewards.append(0.0)
            continue
        for child in root:
            fields[child.tag].append((child.text or "").strip())
        right = (fields["title"] == [gold["title"]]) + (sorted(fields["author"]) == sorted(gold["authors"])) + (fields["year"] == [gold["year"]])
        rewards.append(right / 3)
    return rewards


_XML_RULE = "Write the book as <record> with <title>, one <author> for each author, and <year>; only the XML, no attributes.\n"
_XMLS = [
    {"prompt": _XML_RULE + "'The Mythical Man-Month' by Frederick Brooks, 1975.", "record": {"title": "The Mythical Man-Month", "authors": ["Frederick Brooks"], "year": "1975"}},
    {"prompt": _XML_RULE + "'Good Omens', 1990, by Terry Pratchett and Neil Gaiman.", "record": {"title": "Good Omens", "authors": ["Terry Pratchett", "Neil Gaiman"], "year": "1990"}},
]

# ---------------------------------------------------------------- 19 citations with quotes


def quote_reward(completions, passages, evidence, **kwargs):
    """Find the passages that answer a question and quote from each.

    The completion is a JSON list of {"id": n, "quote": text} in <evidence>, each id once. A quote counts if it stands
    literally in its passage and contains the marked core of it (blanks aside). The reward is the F1 of the
    counted quotes against the passages that hold evidence; passages are numbered from 1.
    """
    rewards = []
    for completion, texts, cores in zip(completions, passages, evidence):
        try:
            items = json.loads((_tag(_text(completion), "evidence") or "")[:5000])
        except (ValueError, RecursionError):
            items = None
        if not isinstance(items, list) or not items or not all(isinstance(item, dict) and type(item.get("id")) is int and isinstance(item.get("quote"), str) for item in items):
            rewards.append(0.0)
            continue
        right = set()
        for item in items:
            core, quote = cores.get(str(item["id"])), " ".join(item["quote"].split())
            if core and core in quote and quote in texts[item["id"] - 1]:
                right.add(item["id"])
        rewards.append(2 * len(right) / (len(items) + len(cores)))
    return rewards


_QUOTE_RULE = 'Quote from every passage that helps to answer, and from no other: a JSON list of {"id": n, "quote": "..."} in <evidence></evidence>, one item per passage. If this element is there several times, the last one counts. A quote is literal and contains the words which answer.\n'
_QUOTE_TEXTS = [
    ["The mill was built in 1782.", "It burned down in 1840 and again in 1871.", "The owner lived in Ulm."],
    ["Rye needs less water than wheat.", "Barley was sown in April.", "Oats were sown in March."],
]
_QUOTES = [
    {"prompt": _QUOTE_RULE + "[1] {}\n[2] {}\n[3] {}\nQuestion: in which years did the mill burn?".format(*_QUOTE_TEXTS[0]), "passages": _QUOTE_TEXTS[0], "evidence": {"2": "in 1840 and again in 1871"}},
    {"prompt": _QUOTE_RULE + "[1] {}\n[2] {}\n[3] {}\nQuestion: when were barley and oats sown?".format(*_QUOTE_TEXTS[1]), "passages": _QUOTE_TEXTS[1], "evidence": {"2": "April", "3": "March"}},
]

# ---------------------------------------------------------------- 20 extraction of addresses


def address_f1_reward(completions, addresses, **kwargs):
    """F1 of the e-mail addresses found in a text, one per line in <found>.

    Case does not matter and the order is free. Every line counts as a prediction, so repeated
    or invented addresses lower the precision. <found></found> is right if there is no address.
    """
    scores = []
    for completion, gold in zip(completions, addresses):
        body = _tag(_text(completion), "found")
        if body is None:
            scores.append(0.0)
            continue
        lines = [line.strip().lower() for line in body.split("\n") if line.strip()]
        expected = {address.lower() for address in gold}
        if not lines and not expected:
            scores.append(1.0)
            continue
        scores.append(2 * len(set(lines) & expected) / (len(lines) + len(expected)))
    return scores


_MAIL_RULE = "List every e-mail address of the text once, one per line, in <found></found>. If this element is there several times, the last one counts.\nText: "
_MAILS = [
    {"prompt": [{"role": "user", "content": _MAIL_RULE + "Write to Eva.Berg@example.org or sales@example.com, not to the old info at example."}], "addresses": ["eva.berg@example.org", "sales@example.com"]},
    {"prompt": [{"role": "user", "content": _MAIL_RULE + "Call us, or write to help@shop.example."}], "addresses": ["help@shop.example"]},
]

CASES: list[Case] = [
    Case(
        name="rename_edit",
        reward=rename_edit_reward,
        examples=_EDITS,
        good=[
            "\n".join([_edit("    t = 0", "    total = 0"), _edit("        t += x", "        total += x"), _edit("    return t / len(xs)", "    return total / len(xs)")]),
            _edit("    r = w * h\n    return r", "    result = w * h\n    return result"),
        ],
        bad=[_edit("    t = 0", "    total = 0"), _edit("    r = w * h\n    return r", "    return w * h")],
    ),
    Case(
        name="ini_rewrite",
        reward=ini_reward,
        examples=_INIS,
        good=["<ini>\n[db]\nhost = localhost\nport = 5433\n[cache]\nttl = 60\n</ini>", "<ini>[cache]\n; five minutes\nttl=300\n\n[db]\nhost=db1\nport=5432\n</ini>"],
        bad=["<ini>\n[db]\nport = 5433\n</ini>", "<ini>\n[db]\nhost = db1\nport = 5432\n[cache]\nttl = 60\n</ini>"],
    ),
    Case(
        name="sudoku_units",
        reward=sudoku_units_reward,
        examples=_SUDOKUS,
        good=["<grid>\n1234\n3412\n2143\n4321\n</grid>", "<grid>2 4 1 3\n3 1 4 2\n1 2 3 4\n4 3 2 1</grid>"],
        bad=["<grid>\n1234\n4321\n2143\n3412\n</grid>", "<grid>2413\n3142\n1324\n4231</grid>"],
    ),
    Case(
        name="countdown_subset",
        reward=countdown_subset_reward,
        examples=_COUNTS,
        good=["<think>25 * 6 = 150</think><answer>(50 - 25) * 6 - 4</answer>", "<answer>8 / (3 - 8 / 3)</answer>"],
        bad=["<answer>25 * 4 + 50</answer>", "<answer>8 + 8 + 3 + 3</answer>"],
    ),
    Case(
        name="shortest_path",
        reward=shortest_path_reward,
        examples=_PATHS,
        good=["<path>ESES</path>", "Under the wall: <path>S E E N</path>"],
        bad=["<path>SSEE</path>", "<path>EE</path>"],
    ),
    Case(
        name="queens_with_given",
        reward=queens_reward,
        examples=_QUEENS,
        good=["<queens>2, 4, 1, 3</queens>", "<queens>1,3,5,2,4</queens>"],
        bad=["<queens>3, 1, 4, 2</queens>", "<queens>1,2,5,3,4</queens>"],
    ),
    Case(
        name="knight_way",
        reward=knight_way_reward,
        examples=_KNIGHTS,
        good=["<way>a1 b3 c5</way>", "<way>g1 e2 g3 h1</way>"],
        bad=["<way>a1 c3 c5</way>", "<way>g1 h1</way>"],
    ),
    Case(
        name="xml_record",
        reward=xml_record_reward,
        examples=_XMLS,
        good=["<record><title>The Mythical Man-Month</title><author>Frederick Brooks</author><year>1975</year></record>", "<record>\n  <year>1990</year>\n  <author>Neil Gaiman</author>\n  <author>Terry Pratchett</author>\n  <title>Good Omens</title>\n</record>"],
        bad=["<record><title>Mythical Man-Month</title><author>Brooks, F.</author><year>1975</year></record>", "<book><title>Good Omens</title></book>"],
    ),
    Case(
        name="evidence_quotes",
        reward=quote_reward,
        examples=_QUOTES,
        good=['<evidence>[{"id": 2, "quote": "burned down in 1840 and again in 1871"}]</evidence>', '<evidence>[{"id": 3, "quote": "Oats were sown in March."}, {"id": 2, "quote": "sown in April"}]</evidence>'],
        bad=['<evidence>[{"id": 1, "quote": "built in 1782"}]</evidence>', '<evidence>[{"id": 1, "quote": "Rye needs less water"}, {"id": 2, "quote": "barley in May"}]</evidence>'],
    ),
    Case(
        name="address_f1",
        reward=address_f1_reward,
        examples=_MAILS,
        good=[_chat("<found>\nsales@example.com\nEva.Berg@example.org\n</found>"), _chat("One: <found>help@shop.example</found>")],
        bad=[_chat("<found>\ninfo@example\n</found>"), _chat("<found></found>")],
    ),
]
