"""Faulty rewards 3: edits, games and puzzles, records and citations, extraction."""

from __future__ import annotations

import ast
import json
import re
import xml.etree.ElementTree as ET
from collections import Counter
from fractions import Fraction

from tests.faults.case import Case


def _text(completion):
    """Text of a completion, be it a string or a list of chat messages."""
    if isinstance(completion, str):
        return completion
    return (completion[-1].get("content") or "") if completion else ""


def _answer(text):
    """Content of the last <answer> block, None without one."""
    end = text.rfind("</answer>")
    start = text.rfind("<answer>", 0, end) if end >= 0 else -1
    return text[start + len("<answer>"):end].strip() if start >= 0 else None


def _score(function, row, completion):
    columns = {key: [value] for key, value in row.items() if key != "prompt"}
    return function(prompts=[row["prompt"]], completions=[completion], **columns)[0]


def _proof(function, row, completion, faulty, should):
    def proof():
        got = _score(function, row, completion)
        assert abs(got - faulty) < 1e-6, f"scored {got}, the fault would give {faulty}"
        assert abs(got - should) >= 0.2, f"scored {got}, as it should ({should})"

    return proof


def _chat(text):
    return [{"role": "assistant", "content": text}]


TRIGGERS = {}
REPAIRED = {}
CASES: list[Case] = []


def _add(reward, repaired, rows, good, bad, fault, row, trigger, faulty, should, source=""):
    name = reward.__name__
    TRIGGERS[name] = (rows[row], trigger, faulty, should)
    REPAIRED[name] = repaired
    CASES.append(Case(name, reward, rows, good, bad, fault, _proof(reward, rows[row], trigger, faulty, should), source))


# --------------------------------------------------------------------------- 1


def diff_fence_reward(completions, code, target, **kwargs):
    """Reward for edit blocks: 1.0 if applying them gives the target, else 0.0.

    A completion has one or more blocks of whole lines

        <<<<<<< SEARCH
        old lines
        =======
        new lines
        >>>>>>> REPLACE

    which are applied in turn, each at the first place where the old lines occur.
    No new lines means that the old ones are deleted. A block whose old lines do
    not occur makes the whole edit fail.
    """
    rewards = []
    for completion, before, after in zip(completions, code, target):
        edits = []
        for part in _text(completion).split("<<<<<<< SEARCH\n")[1:]:
            old, divider, rest = part.partition("\n=======\n")
            new, closing, _ = rest.partition("\n>>>>>>> REPLACE")
            if divider and closing:
                edits.append((old, new))
        content, ok = "\n" + before, bool(edits)
        for old, new in edits:
            if "\n" + old + "\n" not in content:
                ok = False
                break
            content = content.replace("\n" + old + "\n", "\n" + new + "\n", 1)
        rewards.append(1.0 if ok and content[1:] == after else 0.0)
    return rewards


def repaired_diff_fence_reward(completions, code, target, **kwargs):
    """As above; blocks are read line by line, so that parts may be empty."""
    rewards = []
    for completion, before, after in zip(completions, code, target):
        edits, part, ok = [], None, True
        for line in _text(completion).split("\n"):
            if line == "<<<<<<< SEARCH" and part is None:
                edits.append(([], []))
                part = 0
            elif line == "=======" and part == 0:
                part = 1
            elif line == ">>>>>>> REPLACE" and part == 1:
                part = None
            elif part is not None:
                edits[-1][part].append(line)
        content, ok = "\n" + before, bool(edits) and part is None
        for old, new in edits:
            old_text = "\n" + "\n".join(old) + "\n"
            if not old or old_text not in content:
                ok = False
                break
            content = content.replace(old_text, "\n" + "".join(line + "\n" for line in new), 1)
        rewards.append(1.0 if ok and content[1:] == after else 0.0)
    return rewards


_LOAD = "def load(path):\n    data = open(path).read()\n    print(data)\n    return data\n"
_HALF = "def half(n):\n    return n / 3\n"
_add(
    diff_fence_reward,
    repaired_diff_fence_reward,
    [
        {"prompt": "Remove the debug print:\n" + _LOAD + "Use SEARCH/REPLACE blocks.", "code": _LOAD, "target": _LOAD.replace("    print(data)\n", "")},
        {"prompt": "Repair half():\n" + _HALF + "Use SEARCH/REPLACE blocks.", "code": _HALF, "target": _HALF.replace("3", "2")},
    ],
    [
        "<<<<<<< SEARCH\n    print(data)\n    return data\n=======\n    return data\n>>>>>>> REPLACE",
        "<<<<<<< SEARCH\n    return n / 3\n=======\n    return n / 2\n>>>>>>> REPLACE",
    ],
    [
        "<<<<<<< SEARCH\n    print(data)\n=======\n    pass\n>>>>>>> REPLACE",
        "<<<<<<< SEARCH\n    return n / 3\n=======\n    return n // 3\n>>>>>>> REPLACE",
    ],
    "A line is expected between the divider and the end marker, so a block with no new lines (a deletion) is not found and a right deletion is refused.",
    0,
    "<<<<<<< SEARCH\n    print(data)\n=======\n>>>>>>> REPLACE",
    0.0,
    1.0,
)

# --------------------------------------------------------------------------- 2


def countdown_equation_reward(completions, nums, target, **kwargs):
    """Countdown: build the target from the numbers.

    The expression is in <answer></answer>, made with + - * / and brackets. It
    must use each given number exactly once, and no other number, and be equal to
    the target. Returns 1.0 or 0.0.
    """

    def value(node, used):
        if isinstance(node, ast.BinOp):
            left, right = value(node.left, used), value(node.right, used)
            if isinstance(node.op, ast.Add):
                return left + right
            if isinstance(node.op, ast.Sub):
                return left - right
            if isinstance(node.op, ast.Mult):
                return left * right
            if isinstance(node.op, ast.Div):
                return left / right
        if isinstance(node, ast.Constant) and type(node.value) is int:
            used.append(node.value)
            return Fraction(node.value)
        raise ValueError("not an arithmetic expression")

    rewards = []
    for completion, numbers, goal in zip(completions, nums, target):
        expression = _answer(_text(completion))
        if not expression or len(expression) > 200:
            rewards.append(0.0)
            continue
        used = []
        try:
            result = value(ast.parse(expression, mode="eval").body, used)
        except (SyntaxError, ValueError, ZeroDivisionError, RecursionError, MemoryError):
            rewards.append(0.0)
            continue
        uses_all = all(number in used for number in numbers)
        rewards.append(1.0 if uses_all and result == goal else 0.0)
    return rewards


def repaired_countdown_equation_reward(completions, nums, target, **kwargs):
    """As above, comparing the numbers used with the numbers given."""

    def value(node, used):
        if isinstance(node, ast.BinOp):
            left, right = value(node.left, used), value(node.right, used)
            if isinstance(node.op, ast.Add):
                return left + right
            if isinstance(node.op, ast.Sub):
                return left - right
            if isinstance(node.op, ast.Mult):
                return left * right
            if isinstance(node.op, ast.Div):
                return left / right
        if isinstance(node, ast.Constant) and type(node.value) is int:
            used.append(node.value)
            return Fraction(node.value)
        raise ValueError("not an arithmetic expression")

    rewards = []
    for completion, numbers, goal in zip(completions, nums, target):
        expression = _answer(_text(completion))
        if not expression or len(expression) > 200:
            rewards.append(0.0)
            continue
        used = []
        try:
            result = value(ast.parse(expression, mode="eval").body, used)
        except (SyntaxError, ValueError, ZeroDivisionError, RecursionError, MemoryError):
            rewards.append(0.0)
            continue
        rewards.append(1.0 if sorted(used) == sorted(numbers) and result == goal else 0.0)
    return rewards


_add(
    countdown_equation_reward,
    repaired_countdown_equation_reward,
    [
        {"prompt": "Using 3, 7, 8 each exactly once make 29. <answer></answer>", "nums": [3, 7, 8], "target": 29},
        {"prompt": "Using 2, 5, 9, 10 each exactly once make 26. <answer></answer>", "nums": [2, 5, 9, 10], "target": 26},
    ],
    ["3 * 7 is 21.\n<answer>3 * 7 + 8</answer>", "<answer>10 + 9 + 5 + 2</answer>"],
    ["<answer>3 + 7 + 8</answer>", "<answer>10 * 2 + 5</answer>"],
    "Only the presence of the given numbers is checked: any other number may be used besides and given ones again.",
    0,
    "<answer>29 + 0 * (3 + 7 + 8)</answer>",
    1.0,
    0.0,
    "https://github.com/open-thought/reasoning-gym/pull/265",
)

# --------------------------------------------------------------------------- 3


def maze_path_reward(completions, grid, start, **kwargs):
    """Maze: the model gives its moves as letters U, D, L, R in <path></path>.

    The grid is a list of strings, "#" is a wall and "G" the goal; rows count
    downwards. The path must not run into a wall or leave the grid and has to end
    on the goal: 1.0, else 0.0.
    """
    steps = {"U": (-1, 0), "D": (1, 0), "L": (0, -1), "R": (0, 1)}
    rewards = []
    for completion, rows, origin in zip(completions, grid, start):
        text = _text(completion)
        end = text.rfind("</path>")
        begin = text.rfind("<path>", 0, end) if end >= 0 else -1
        moves = text[begin + len("<path>"):end].strip() if begin >= 0 else ""
        r, c = origin
        ok = bool(moves)
        for move in moves:
            if move not in steps:
                ok = False
                break
            r, c = r + steps[move][0], c + steps[move][1]
            try:
                if rows[r][c] == "#":
                    ok = False
                    break
            except IndexError:
                ok = False
                break
        rewards.append(1.0 if ok and rows[r][c] == "G" else 0.0)
    return rewards


def repaired_maze_path_reward(completions, grid, start, **kwargs):
    """As above, with the bounds of the grid checked on all sides."""
    steps = {"U": (-1, 0), "D": (1, 0), "L": (0, -1), "R": (0, 1)}
    rewards = []
    for completion, rows, origin in zip(completions, grid, start):
        text = _text(completion)
        end = text.rfind("</path>")
        begin = text.rfind("<path>", 0, end) if end >= 0 else -1
        moves = text[begin + len("<path>"):end].strip() if begin >= 0 else ""
        r, c = origin
        ok = bool(moves)
        for move in moves:
            if move not in steps:
                ok = False
                break
            r, c = r + steps[move][0], c + steps[move][1]
            if not (0 <= r < len(rows) and 0 <= c < len(rows[r])) or rows[r][c] == "#":
                ok = False
                break
        rewards.append(1.0 if ok and rows[r][c] == "G" else 0.0)
    return rewards


_add(
    maze_path_reward,
    repaired_maze_path_reward,
    [
        {"prompt": "S.#.\n..#.\n#..G\nFrom S to G, # are walls. <path></path> with U, D, L, R.", "grid": ["S.#.", "..#.", "#..G"], "start": [0, 0]},
        {"prompt": "..G\n.#.\nS#.\nFrom S to G, # are walls. <path></path> with U, D, L, R.", "grid": ["..G", ".#.", "S#."], "start": [2, 0]},
    ],
    [_chat("Down, around.\n<path>RDDRR</path>"), _chat("<path>UURR</path>")],
    [_chat("<path>RRDR</path>"), _chat("<path>RRUU</path>")],
    "Negative indices wrap around in Python: leaving the grid at the top or left comes back at the other side, so impossible short cuts are paid.",
    1,
    _chat("Left out of the grid.\n<path>LUU</path>"),
    1.0,
    0.0,
)

# --------------------------------------------------------------------------- 4


def wordle_guess_reward(completions, history, words, **kwargs):
    """Wordle: is the next guess one of the words still possible?

    Args:
        history: for each row, pairs of an earlier guess and its marks: g green
            (right place), y yellow (in the word, but not at this place), x grey.
        words: the list of allowed words.

    The guess stands in <guess></guess>. 1.0 if it is allowed and agrees with all
    marks so far, else 0.0. Guesses have no letter twice.
    """
    rewards = []
    for completion, past, allowed in zip(completions, history, words):
        text = _text(completion)
        end = text.rfind("</guess>")
        begin = text.rfind("<guess>", 0, end) if end >= 0 else -1
        guess = text[begin + len("<guess>"):end].strip().lower() if begin >= 0 else ""
        ok = guess in allowed
        for earlier, marks in past:
            for i, (letter, mark) in enumerate(zip(earlier, marks)):
                if not ok:
                    break
                if mark == "g":
                    ok = guess[i] == letter
                elif mark == "y":
                    ok = letter in guess
                else:
                    ok = letter not in guess
        rewards.append(1.0 if ok else 0.0)
    return rewards


def repaired_wordle_guess_reward(completions, history, words, **kwargs):
    """As above, yellow letters at another place."""
    rewards = []
    for completion, past, allowed in zip(completions, history, words):
        text = _text(completion)
        end = text.rfind("</guess>")
        begin = text.rfind("<guess>", 0, end) if end >= 0 else -1
        guess = text[begin + len("<guess>"):end].strip().lower() if begin >= 0 else ""
        ok = guess in allowed
        for earlier, marks in past:
            for i, (letter, mark) in enumerate(zip(earlier, marks)):
                if not ok:
                    break
                if mark == "g":
                    ok = guess[i] == letter
                elif mark == "y":
                    ok = letter in guess and guess[i] != letter
                else:
                    ok = letter not in guess
        rewards.append(1.0 if ok else 0.0)
    return rewards


_add(
    wordle_guess_reward,
    repaired_wordle_guess_reward,
    [
        {
            "prompt": "Guess crane got yygxy (g green, y yellow, x grey). Allowed: react, crate, slate, money. Next word in <guess></guess>.",
            "history": [["crane", "yygxy"]],
            "words": ["react", "crate", "slate", "money", "crane"],
        },
        {
            "prompt": "Guess stone got yyyyy. Allowed: notes, stone, tones, money. Next word in <guess></guess>.",
            "history": [["stone", "yyyyy"]],
            "words": ["notes", "stone", "tones", "money"],
        },
    ],
    ["c, r and e have to move.\n<guess>react</guess>", "<guess>notes</guess>"],
    ["<guess>slate</guess>", "<guess>money</guess>"],
    "A yellow letter is only looked for in the guess, not forbidden at its old place: guesses which repeat it there, even the same word again, are paid.",
    0,
    "<guess>crate</guess>",
    1.0,
    0.0,
)

# --------------------------------------------------------------------------- 5


def chess_best_move(completions, best_moves, **kwargs):
    """Chess puzzle: 1.0 if the move is one of the best moves, else 0.0.

    The last line of the completion is "Move: " and the move in standard algebraic
    notation. Marks for check and mate, "!" and "?", the capture sign and the "="
    of a promotion may be left out.
    """

    def normal(san):
        san = san.strip().rstrip("!?+#. ")
        return re.sub(r"[x=]", "", san).lower().replace("0-0", "o-o")

    scores = []
    for completion, best in zip(completions, best_moves):
        lines = _text(completion).strip().splitlines()
        last = lines[-1] if lines else ""
        head, colon, move = last.partition(":")
        if not colon or head.strip().lower() != "move" or not move.strip():
            scores.append(0.0)
            continue
        scores.append(1.0 if normal(move) in [normal(b) for b in best] else 0.0)
    return scores


def repaired_chess_best_move(completions, best_moves, **kwargs):
    """As above, with the case of letters kept."""

    def normal(san):
        san = san.strip().rstrip("!?+#. ")
        return re.sub(r"[x=]", "", san).replace("0-0-0", "O-O-O").replace("0-0", "O-O")

    scores = []
    for completion, best in zip(completions, best_moves):
        lines = _text(completion).strip().splitlines()
        last = lines[-1] if lines else ""
        head, colon, move = last.partition(":")
        if not colon or head.strip().lower() != "move" or not move.strip():
            scores.append(0.0)
            continue
        scores.append(1.0 if normal(move) in [normal(b) for b in best] else 0.0)
    return scores


_add(
    chess_best_move,
    repaired_chess_best_move,
    [
        {"prompt": "FEN 4k3/8/8/8/8/2n5/1P1B4/4K3 w - - 0 1. The engine wants the bishop pair kept active: its choice? Last line 'Move: SAN'.", "best_moves": ["Bxc3"]},
        {"prompt": "FEN 6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1. Best move? Last line 'Move: SAN'.", "best_moves": ["Rd8#"]},
    ],
    ["The bishop takes.\nMove: Bxc3", "Back rank.\nMove: Rd8"],
    ["Move: Be3", "Move: Rd7"],
    "Notation is lower-cased, so a bishop's move and the b-pawn's move fall together: bxc3 is paid for Bxc3.",
    0,
    "The pawn takes.\nMove: bxc3",
    1.0,
    0.0,
)

# --------------------------------------------------------------------------- 6


def knights_knaves_reward(completions, roles, **kwargs):
    """Knights and knaves.

    In <answer></answer> the model says of every inhabitant what he is, as "Zoey
    is a knight" or "Zoey is a knave". Saying what somebody is not is allowed
    as well, for there are only these two kinds. Each inhabitant must be named once.

    Returns the reward 1.0 if all roles are right, else 0.0.
    """
    pattern = re.compile(r"\b([A-Z][a-z]+) is (?:not )?an? (knight|knave)\b")
    rewards = []
    for completion, gold in zip(completions, roles):
        stated = pattern.findall(_answer(_text(completion)) or "")
        if sorted(name for name, _ in stated) != sorted(gold):
            rewards.append(0.0)
            continue
        rewards.append(1.0 if dict(stated) == gold else 0.0)
    return rewards


def repaired_knights_knaves_reward(completions, roles, **kwargs):
    """As above, with the negation read."""
    pattern = re.compile(r"\b([A-Z][a-z]+) is (not )?an? (knight|knave)\b")
    other = {"knight": "knave", "knave": "knight"}
    rewards = []
    for completion, gold in zip(completions, roles):
        stated = [
            (name, other[role] if negated else role)
            for name, negated, role in pattern.findall(_answer(_text(completion)) or "")
        ]
        if sorted(name for name, _ in stated) != sorted(gold):
            rewards.append(0.0)
            continue
        rewards.append(1.0 if dict(stated) == gold else 0.0)
    return rewards


_add(
    knights_knaves_reward,
    repaired_knights_knaves_reward,
    [
        {"prompt": "Zoey: 'Riley is a knave.' Riley: 'We are the same.' Who is what? <answer></answer>", "roles": {"Zoey": "knight", "Riley": "knave"}},
        {"prompt": "Ava: 'Both of us are knaves.' Leo is silent. Who is what? <answer></answer>", "roles": {"Ava": "knave", "Leo": "knight"}},
    ],
    ["<answer>Zoey is a knight, Riley is a knave.</answer>", "<answer>(1) Ava is a knave\n(2) Leo is a knight</answer>"],
    ["<answer>Zoey is a knave, Riley is a knight.</answer>", "<answer>Ava is a knight, Leo is a knave</answer>"],
    "'not' is skipped in reading: 'Zoey is not a knight' counts as knight, so the opposite of the solution is paid and right negated statements are refused.",
    0,
    "<answer>Zoey is not a knight, Riley is not a knave.</answer>",
    1.0,
    0.0,
)

# --------------------------------------------------------------------------- 7


def quoted_evidence_reward(completions, passage, answer, **kwargs):
    """Answer with evidence from a passage.

    The completion is a JSON object with "answer" and "quote". 0.5 for the right
    answer (case does not matter) and 0.5 more if it is backed by a quotation which
    stands in the passage word for word and has the answer in it.
    """
    rewards = []
    for completion, context, gold in zip(completions, passage, answer):
        try:
            reply = json.loads(_text(completion))
            given, quote = str(reply["answer"]), str(reply["quote"])
        except (ValueError, KeyError, TypeError, RecursionError):
            rewards.append(0.0)
            continue
        score = 0.0
        if given.strip().lower() == gold.lower():
            score += 0.5
            if quote.strip() in context:
                score += 0.5
        rewards.append(score)
    return rewards


def repaired_quoted_evidence_reward(completions, passage, answer, **kwargs):
    """As above; the quotation must hold the answer."""
    rewards = []
    for completion, context, gold in zip(completions, passage, answer):
        try:
            reply = json.loads(_text(completion))
            given, quote = str(reply["answer"]), str(reply["quote"])
        except (ValueError, KeyError, TypeError, RecursionError):
            rewards.append(0.0)
            continue
        score = 0.0
        if given.strip().lower() == gold.lower():
            score += 0.5
            if quote.strip() in context and gold.lower() in quote.lower():
                score += 0.5
        rewards.append(score)
    return rewards


_P1 = "The bridge was opened in 1932 by the premier. It took eight years to build."
_P2 = "Marie Curie was born in Warsaw. She moved to Paris at the age of 24."
_add(
    quoted_evidence_reward,
    repaired_quoted_evidence_reward,
    [
        {"prompt": _P1 + " When was it opened? JSON with answer and quote (word for word, with the answer in it).", "passage": _P1, "answer": "1932"},
        {"prompt": _P2 + " Where was she born? JSON with answer and quote (word for word, with the answer in it).", "passage": _P2, "answer": "Warsaw"},
    ],
    [
        '{"answer": "1932", "quote": "The bridge was opened in 1932 by the premier."}',
        '{"answer": "Warsaw", "quote": "Marie Curie was born in Warsaw."}',
    ],
    [
        '{"answer": "1924", "quote": "It took eight years to build."}',
        '{"answer": "Paris", "quote": "She moved to Paris"}',
    ],
    "The empty string is in every passage: an answer with an empty quotation (or a single letter) gets the full credit for evidence.",
    0,
    '{"answer": "1932", "quote": ""}',
    1.0,
    0.5,
)

# --------------------------------------------------------------------------- 8


def bibliographic_record_reward(completions, gold_record, **kwargs):
    """XML of a bibliographic record.

    The completion is a <record> with one <title>, one <year> and an <author> for
    every author in the order of the paper. `gold_record` is the right record
    as XML. Reward: share of the gold's fields (title, year, authors) which are
    right; the authors are one field, all of them count. Not well-formed: 0.0.
    """

    def fields(xml):
        if "<!" in xml:
            raise ValueError("no declarations")
        root = ET.fromstring(xml)
        if root.tag != "record":
            raise ValueError("not a record")
        return {child.tag: (child.text or "").strip() for child in root}

    rewards = []
    for completion, gold in zip(completions, gold_record):
        want = fields(gold)
        try:
            got = fields(_text(completion).strip())
        except (ET.ParseError, ValueError, RecursionError):
            rewards.append(0.0)
            continue
        rewards.append(sum(got.get(tag) == value for tag, value in want.items()) / len(want))
    return rewards


def repaired_bibliographic_record_reward(completions, gold_record, **kwargs):
    """As above, with a list of values for each tag."""

    def fields(xml):
        if "<!" in xml:
            raise ValueError("no declarations")
        root = ET.fromstring(xml)
        if root.tag != "record":
            raise ValueError("not a record")
        found = {}
        for child in root:
            found.setdefault(child.tag, []).append((child.text or "").strip())
        return found

    rewards = []
    for completion, gold in zip(completions, gold_record):
        want = fields(gold)
        try:
            got = fields(_text(completion).strip())
        except (ET.ParseError, ValueError, RecursionError):
            rewards.append(0.0)
            continue
        rewards.append(sum(got.get(tag) == value for tag, value in want.items()) / len(want))
    return rewards


_add(
    bibliographic_record_reward,
    repaired_bibliographic_record_reward,
    [
        {
            "prompt": "Write a <record> with <title>, <year> and an <author> each: 'On Sorting' by A. Lind, B. Moss and C. Nord, 1999.",
            "gold_record": "<record><title>On Sorting</title><year>1999</year><author>A. Lind</author><author>B. Moss</author><author>C. Nord</author></record>",
        },
        {
            "prompt": "Write a <record> with <title>, <year> and an <author> each: 'Heaps' by D. Oak, 2004.",
            "gold_record": "<record><title>Heaps</title><year>2004</year><author>D. Oak</author></record>",
        },
    ],
    [
        "<record><title>On Sorting</title><year>1999</year><author>A. Lind</author><author>B. Moss</author><author>C. Nord</author></record>",
        "<record>\n  <title>Heaps</title>\n  <author>D. Oak</author>\n  <year>2004</year>\n</record>",
    ],
    [
        "<record><title>Sorting</title><year>1998</year><author>A. Lind</author></record>",
        "<record><title>Heap</title><year>2004</year><author>Oak</author></record>",
    ],
    "A dict of tag to text keeps the last <author> only, so missing and wrong authors before the last go unnoticed.",
    0,
    "<record><title>On Sorting</title><year>1999</year><author>C. Nord</author></record>",
    1.0,
    2 / 3,
)

# --------------------------------------------------------------------------- 9


def contact_extraction_reward(completions, contact, **kwargs):
    """Extraction of a contact as JSON.

    The keys are name, email, phone and city. What the text does not say must be
    null. The reward is the share of the four keys which are right (case and
    outer spaces do not matter).
    """

    def same(a, b):
        return isinstance(a, str) and a.strip().lower() == b.strip().lower()

    rewards = []
    for completion, gold in zip(completions, contact):
        try:
            found = json.loads(_text(completion))
        except (ValueError, RecursionError):
            rewards.append(0.0)
            continue
        if not isinstance(found, dict):
            rewards.append(0.0)
            continue
        known = [key for key, value in gold.items() if value is not None]
        rewards.append(sum(same(found.get(key), gold[key]) for key in known) / len(known))
    return rewards


def repaired_contact_extraction_reward(completions, contact, **kwargs):
    """As above, over all keys."""

    def same(a, b):
        if b is None:
            return a is None
        return isinstance(a, str) and a.strip().lower() == b.strip().lower()

    rewards = []
    for completion, gold in zip(completions, contact):
        try:
            found = json.loads(_text(completion))
        except (ValueError, RecursionError):
            rewards.append(0.0)
            continue
        if not isinstance(found, dict):
            rewards.append(0.0)
            continue
        rewards.append(sum(key in found and same(found[key], value) for key, value in gold.items()) / len(gold))
    return rewards


_add(
    contact_extraction_reward,
    repaired_contact_extraction_reward,
    [
        {
            "prompt": "'Write to Ida Holm at ida@holm.se.' JSON with name, email, phone, city; null where unknown.",
            "contact": {"name": "Ida Holm", "email": "ida@holm.se", "phone": None, "city": None},
        },
        {
            "prompt": "'Per, 0455-12345, lives in Kalmar.' JSON with name, email, phone, city; null where unknown.",
            "contact": {"name": "Per", "email": None, "phone": "0455-12345", "city": "Kalmar"},
        },
    ],
    [
        _chat('{"name": "Ida Holm", "email": "ida@holm.se", "phone": null, "city": null}'),
        _chat('{"name": "Per", "email": null, "phone": "0455-12345", "city": "Kalmar"}'),
    ],
    [
        _chat('{"name": "Holm", "email": "ida@home.se", "phone": null, "city": null}'),
        _chat('{"name": "Per Kalmar", "email": null, "phone": "12345", "city": null}'),
    ],
    "Keys whose gold value is null are left out of the score: invented phone numbers and cities cost nothing.",
    0,
    _chat('{"name": "Ida Holm", "email": "ida@holm.se", "phone": "08-5550100", "city": "Stockholm"}'),
    1.0,
    0.5,
)

# --------------------------------------------------------------------------- 10


def entity_list_reward(completions, entities, **kwargs):
    """F1 of named entities.

    The completion lists one entity per line ("- " in front is fine), in any
    order. An entity counts if it is a gold entity, whatever the case; titles
    before a name may be added ("Chancellor Angela Merkel").
    """
    rewards = []
    for completion, gold in zip(completions, entities):
        found = [line.strip().removeprefix("- ").strip().lower() for line in _text(completion).splitlines()]
        found = list(dict.fromkeys(entity for entity in found if entity))[:200]
        gold = [entity.lower() for entity in gold]
        if not found:
            rewards.append(0.0)
            continue

        def match(a, b):
            return a in b or b in a

        right = sum(any(match(f, g) for g in gold) for f in found)
        covered = sum(any(match(f, g) for f in found) for g in gold)
        precision, recall = right / len(found), covered / len(gold)
        rewards.append(2 * precision * recall / (precision + recall) if right else 0.0)
    return rewards


def repaired_entity_list_reward(completions, entities, **kwargs):
    """As above: the entity, or a title and the entity."""
    rewards = []
    for completion, gold in zip(completions, entities):
        found = [line.strip().removeprefix("- ").strip().lower() for line in _text(completion).splitlines()]
        found = list(dict.fromkeys(entity for entity in found if entity))
        gold = [entity.lower() for entity in gold]
        titles = {"chancellor", "president", "dr", "dr.", "mr", "mr.", "mrs", "mrs.", "ms", "ms.", "prof.", "professor"}
        if not found:
            rewards.append(0.0)
            continue

        def plain(entity):
            words = entity.split()
            while len(words) > 1 and words[0] in titles:
                words = words[1:]
            return " ".join(words)

        found_plain = list(dict.fromkeys(plain(f) for f in found))
        right = len(set(found_plain) & {plain(g) for g in gold})
        rewards.append(2 * right / (len(found_plain) + len(gold)))
    return rewards


_add(
    entity_list_reward,
    repaired_entity_list_reward,
    [
        {"prompt": "'Angela Merkel visited Siemens in Berlin.' List the named entities, one per line.", "entities": ["Angela Merkel", "Siemens", "Berlin"]},
        {"prompt": "'Volvo opened a plant in Ghent.' List the named entities, one per line.", "entities": ["Volvo", "Ghent"]},
    ],
    ["- Angela Merkel\n- Siemens\n- Berlin", "Ghent\nVolvo"],
    ["- visited\n- chancellery", "plant\nopened"],
    "Entities match if one is contained in the other: single letters or syllables match any entity, and so does the whole sentence on one line.",
    0,
    "- e",
    1.0,
    0.0,
)
