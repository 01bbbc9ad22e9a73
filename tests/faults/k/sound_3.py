"""Sound rewards 3: edits, games and puzzles, records and citations, extraction."""

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


def find_replace_list_reward(completions, document, target, **kwargs):
    """Edits as a JSON list, applied one after the other.

    The whole completion is a list of {"find": ..., "replace": ...} (strings, "find" not
    empty). Each "find" must occur exactly once in the document as it is when the edit's
    turn comes (overlapping places count separately). 1.0 if the result is the target,
    letter by letter; otherwise, or if an edit cannot be applied, 0.0. At most 20 edits,
    and no result may be longer than 10 times the document.
    """

    def occurs_once(part, text):
        first = text.find(part)
        return first >= 0 and text.find(part, first + 1) < 0

    rewards = []
    for completion, before, after in zip(completions, document, target):
        try:
            edits = json.loads(_text(completion), object_pairs_hook=_unique)
        except (ValueError, RecursionError):
            edits = None
        ok = isinstance(edits, list) and len(edits) <= 20
        text = before
        for edit in edits if ok else []:
            ok = isinstance(edit, dict) and edit.keys() == {"find", "replace"}
            ok = ok and all(isinstance(part, str) for part in edit.values())
            ok = ok and edit["find"] != "" and occurs_once(edit["find"], text)
            if ok:
                text = text.replace(edit["find"], edit["replace"])
                ok = len(text) <= 10 * len(before)
            if not ok:
                break
        rewards.append(1.0 if ok and text == after else 0.0)
    return rewards


_NOTE = "Dear Ms Berg,\nyour order 17 ships on Monday.\nYours, Kim\n"
_add(
    find_replace_list_reward,
    [
        {
            "prompt": _NOTE + "Change the order to 71 and Monday to Friday. JSON list of {\"find\", \"replace\"}, each find occurring once.",
            "document": _NOTE,
            "target": _NOTE.replace("17", "71").replace("Monday", "Friday"),
        },
        {
            "prompt": _NOTE + "Delete ' Ms'. JSON list of {\"find\", \"replace\"}, each find occurring once.",
            "document": _NOTE,
            "target": _NOTE.replace(" Ms", ""),
        },
    ],
    [
        '[{"find": "order 17", "replace": "order 71"}, {"find": "Monday", "replace": "Friday"}]',
        '[{"find": " Ms", "replace": ""}]',
    ],
    ['[{"find": "order 17", "replace": "order 71"}]', '[{"find": "Ms Berg", "replace": "Kim"}]'],
)

# --------------------------------------------------------------------------- 2


def countdown_exact_reward(completions, nums, target, **kwargs):
    """Countdown with every number used exactly once.

    The one <answer></answer> pair holds an expression of at most 200 characters, of
    whole numbers, + - * / (between two operands), round brackets and spaces only. It
    uses the given numbers, each exactly once, and no others. 1.0 if its exact value is
    the target, 0.1 if it is such an expression with another value, else 0.0.
    """

    def evaluate(node, used):
        if isinstance(node, ast.Constant) and type(node.value) is int:
            used[node.value] += 1
            return Fraction(node.value)
        if not isinstance(node, ast.BinOp):
            raise ValueError("not allowed")
        left, right = evaluate(node.left, used), evaluate(node.right, used)
        if isinstance(node.op, ast.Add):
            return left + right
        if isinstance(node.op, ast.Sub):
            return left - right
        if isinstance(node.op, ast.Mult):
            return left * right
        if isinstance(node.op, ast.Div):
            return left / right
        raise ValueError("not allowed")

    rewards = []
    for completion, numbers, goal in zip(completions, nums, target):
        expression = (_block(_text(completion)) or "").strip()
        if len(expression) > 200 or not re.fullmatch(r"[0-9+\-*/() ]+", expression):
            rewards.append(0.0)
            continue
        used = Counter()
        try:
            value = evaluate(ast.parse(expression, mode="eval").body, used)
        except (SyntaxError, ValueError, ZeroDivisionError, RecursionError, MemoryError):
            rewards.append(0.0)
            continue
        if used != Counter(numbers):
            rewards.append(0.0)
        else:
            rewards.append(1.0 if value == goal else 0.1)
    return rewards


_add(
    countdown_exact_reward,
    [
        {"prompt": "Make 24 from 4, 6, 6, 6 with + - * / and brackets, each exactly once. One <answer></answer>.", "nums": [4, 6, 6, 6], "target": 24},
        {"prompt": "Make 5 from 2, 3, 9 with + - * / and brackets, each exactly once. One <answer></answer>.", "nums": [2, 3, 9], "target": 5},
    ],
    ["<answer>4 * 6 + 6 - 6</answer>", "<answer>9 / 3 + 2</answer>"],
    ["<answer>4 * 6</answer>", "<answer>9 - 3 * 2</answer>"],
)

# --------------------------------------------------------------------------- 3


def maze_moves_reward(completions, maze, **kwargs):
    """A path through a maze.

    `maze` is a list of strings of equal length: "S" start, "G" goal, "#" wall, "."
    free. The one <path></path> pair holds the moves U, D, L, R (capitals; white space
    and commas between them are ignored). 1.0 if no move leaves the maze or enters a
    wall and the last one ends on G (the path may be longer than needed), else 0.0.
    """
    steps = {"U": (-1, 0), "D": (1, 0), "L": (0, -1), "R": (0, 1)}
    rewards = []
    for completion, rows in zip(completions, maze):
        moves = "".join((_block(_text(completion), "path") or "").replace(",", " ").split())
        r, c = next((i, row.index("S")) for i, row in enumerate(rows) if "S" in row)
        ok = bool(moves)
        for move in moves:
            if move not in steps:
                ok = False
                break
            r, c = r + steps[move][0], c + steps[move][1]
            if not (0 <= r < len(rows) and 0 <= c < len(rows[0])) or rows[r][c] == "#":
                ok = False
                break
        rewards.append(1.0 if ok and rows[r][c] == "G" else 0.0)
    return rewards


_add(
    maze_moves_reward,
    [
        {"prompt": "S.#\n#..\n#.G\nMoves U, D, L, R from S to G in one <path></path>.", "maze": ["S.#", "#..", "#.G"]},
        {"prompt": "..S\n.#.\nG#.\nMoves U, D, L, R from S to G in one <path></path>.", "maze": ["..S", ".#.", "G#."]},
    ],
    [_chat("<path>R, D, D, R</path>"), _chat("Along the top.\n<path>LLDD</path>")],
    [_chat("<path>DDRR</path>"), _chat("<path>DDLL</path>")],
)

# --------------------------------------------------------------------------- 4


def sudoku4_reward(completions, puzzle, **kwargs):
    """A 4x4 sudoku.

    `puzzle` is four strings of four characters, 1 to 4 or "." for an empty cell. The
    one <answer></answer> pair holds the four rows on lines of their own, four digits
    each, with or without spaces between them; blank lines are ignored. Solved (all
    clues kept, every row, column and 2x2 box with 1 to 4): 1.0. Any solution of a
    puzzle with several is right. Anything else: 0.0.
    """
    full = set("1234")
    rewards = []
    for completion, clues in zip(completions, puzzle):
        lines = (_block(_text(completion)) or "").split("\n")
        rows = ["".join(line.split()) for line in lines if line.strip()]
        ok = len(rows) == 4 and all(len(row) == 4 and set(row) == full for row in rows)
        ok = ok and all(set(column) == full for column in zip(*rows))
        ok = ok and all(
            {rows[r][c] for r in (i, i + 1) for c in (j, j + 1)} == full for i in (0, 2) for j in (0, 2)
        )
        ok = ok and all(clue in (".", cell) for row, line in zip(rows, clues) for cell, clue in zip(row, line))
        rewards.append(1.0 if ok else 0.0)
    return rewards


_add(
    sudoku4_reward,
    [
        {"prompt": "Solve the 4x4 sudoku\n1...\n..1.\n.1..\n...1\nFour rows in one <answer></answer>.", "puzzle": ["1...", "..1.", ".1..", "...1"]},
        {"prompt": "Solve the 4x4 sudoku\n12..\n34..\n..4.\n..21\nFour rows in one <answer></answer>.", "puzzle": ["12..", "34..", "..4.", "..21"]},
    ],
    ["<answer>\n1 2 3 4\n3 4 1 2\n4 1 2 3\n2 3 4 1\n</answer>", "<answer>1234\n3412\n2143\n4321</answer>"],
    ["<answer>\n1 2 3 4\n3 4 1 2\n2 1 4 3\n4 3 1 2\n</answer>", "<answer>1243\n3412\n2134\n4321</answer>"],
)

# --------------------------------------------------------------------------- 5


def tictactoe_win_reward(completions, board, **kwargs):
    """Tic-tac-toe: X to move and win.

    `board` is three strings of three characters, X, O or "."; X can win at once. The
    last line which is not blank is "Move: row,column", both from 1 to 3. 1.0 for any
    move which makes three X in a line, 0.2 for another free cell, 0.0 for a taken cell
    or no valid move.
    """
    pattern = re.compile(r"Move: {0,3}([1-3]) {0,3}, {0,3}([1-3])")
    lines = [[(i, j) for j in range(3)] for i in range(3)]
    lines += [[(i, j) for i in range(3)] for j in range(3)]
    lines += [[(i, i) for i in range(3)], [(i, 2 - i) for i in range(3)]]
    rewards = []
    for completion, rows in zip(completions, board):
        match = pattern.fullmatch(_last_line(_text(completion)))
        cell = (int(match[1]) - 1, int(match[2]) - 1) if match else None
        if cell is None or rows[cell[0]][cell[1]] != ".":
            rewards.append(0.0)
            continue
        wins = any(
            cell in line and all(other == cell or rows[other[0]][other[1]] == "X" for other in line) for line in lines
        )
        rewards.append(1.0 if wins else 0.2)
    return rewards


_add(
    tictactoe_win_reward,
    [
        {"prompt": "XX.\nOO.\n...\nX to move: win at once. Last line 'Move: row,column'.", "board": ["XX.", "OO.", "..."]},
        {"prompt": "O.X\n.X.\n..O\nX to move: win at once. Last line 'Move: row,column'.", "board": ["O.X", ".X.", "..O"]},
    ],
    ["Top row.\nMove: 1,3", "The other diagonal.\nMove: 3,1"],
    ["Move: 2,3", "Move: 2,2"],
)

# --------------------------------------------------------------------------- 6


def chess_uci_or_san_reward(completions, accepted, **kwargs):
    """Chess puzzle with several winning moves.

    `accepted` lists the winning moves of the position, each as {"uci": ..., "san": ...}.
    The last line which is not blank is "Move: " and the move in UCI (small letters, as
    d1d8) or in standard algebraic notation, in which capitals matter (Bxc3 is a
    bishop's move, bxc3 a pawn's); signs +, #, ! and ? at its end may be left out or
    added. 1.0 for an accepted move, 0.0 otherwise.
    """
    rewards = []
    for completion, moves in zip(completions, accepted):
        line = _last_line(_text(completion))
        move = line[len("Move:"):].strip().rstrip("+#!?") if line.startswith("Move:") else ""
        winning = {entry["uci"] for entry in moves} | {entry["san"].rstrip("+#!?") for entry in moves}
        rewards.append(1.0 if move in winning else 0.0)
    return rewards


_add(
    chess_uci_or_san_reward,
    [
        {
            "prompt": "FEN 6k1/5ppp/8/8/8/8/5PPP/3RR1K1 w - - 0 1: a move which mates. Last line 'Move: ' with UCI or SAN.",
            "accepted": [{"uci": "d1d8", "san": "Rd8#"}, {"uci": "e1e8", "san": "Re8#"}],
        },
        {
            "prompt": "FEN 4k3/8/8/8/8/2q5/1P6/4K3 w - - 0 1: the move which wins the queen. Last line 'Move: ' with UCI or SAN.",
            "accepted": [{"uci": "b2c3", "san": "bxc3"}],
        },
    ],
    ["Back rank.\nMove: Re8", "Move: b2c3"],
    ["Move: Rd7", "Move: Bxc3"],
)

# --------------------------------------------------------------------------- 7


def xml_paper_reward(completions, paper, **kwargs):
    """A bibliographic record in XML.

    The whole completion is an XML element <paper> with the children <title>, <year> and
    one <author> for each author in the order of the paper; children of different
    tags may be mixed in any order. `paper` is {"title", "year", "authors"}. The reward
    is one third for each of the three which is right: exactly one title (and one year)
    with the gold text, and exactly the gold list of authors; outer white space does
    not matter, case does, and a field with elements inside is wrong. Attributes are
    ignored. Other children, text between the children, XML which is not well-formed, and
    DTDs, comments or CDATA ("<!"): 0.0.
    """
    rewards = []
    for completion, gold in zip(completions, paper):
        text = _text(completion).strip()
        try:
            root = None if "<!" in text else ET.fromstring(text)
        except (ET.ParseError, ValueError, RecursionError):
            root = None
        valid = root is not None and root.tag == "paper" and not (root.text or "").strip()
        valid = valid and all(c.tag in ("title", "year", "author") and not (c.tail or "").strip() for c in root)
        if not valid:
            rewards.append(0.0)
            continue
        found = {"title": [], "year": [], "author": []}
        for child in root:
            found[child.tag].append(None if len(child) else (child.text or "").strip())
        right = [
            found["title"] == [gold["title"]],
            found["year"] == [gold["year"]],
            found["author"] == list(gold["authors"]),
        ]
        rewards.append(sum(right) / 3)
    return rewards


_add(
    xml_paper_reward,
    [
        {
            "prompt": "'Fast Heaps', by M. Ito and R. Sand, 2011. As XML <paper> with <title>, <year>, <author>...",
            "paper": {"title": "Fast Heaps", "year": "2011", "authors": ["M. Ito", "R. Sand"]},
        },
        {
            "prompt": "'On R & D', by L. Vik, 1987. As XML <paper> with <title>, <year>, <author>...",
            "paper": {"title": "On R & D", "year": "1987", "authors": ["L. Vik"]},
        },
    ],
    [
        "<paper>\n <title>Fast Heaps</title>\n <author>M. Ito</author>\n <author>R. Sand</author>\n <year>2011</year>\n</paper>",
        "<paper><title>On R &amp; D</title><year>1987</year><author>L. Vik</author></paper>",
    ],
    [
        "<paper><title>Heaps</title><year>2011</year><author>R. Sand</author></paper>",
        "<paper><title>On R & D</title><year>1987</year><author>L. Vik</author></paper>",
    ],
)

# --------------------------------------------------------------------------- 8


def claim_sources_reward(completions, sources, **kwargs):
    """Attribution: which sources support which claim?

    `sources` maps each claim of the prompt to the list of the numbers of the sources
    which support it (one at least). The whole completion is a JSON object of the same
    claims, each with a list of numbers (integers; order and repetition do not matter).
    The reward is the mean over the claims of the F1 between the two sets of numbers. An
    object with a claim missing or added, or with anything but lists of integers: 0.0.
    """
    rewards = []
    for completion, gold in zip(completions, sources):
        try:
            found = json.loads(_text(completion), object_pairs_hook=_unique)
        except (ValueError, RecursionError):
            found = None
        valid = isinstance(found, dict) and found.keys() == gold.keys()
        valid = valid and all(isinstance(ids, list) and all(type(n) is int for n in ids) for ids in found.values())
        if not valid:
            rewards.append(0.0)
            continue
        scores = []
        for claim, ids in gold.items():
            cited, right = set(found[claim]), set(ids)
            scores.append(2 * len(cited & right) / (len(cited) + len(right)))
        rewards.append(sum(scores) / len(scores))
    return rewards


_add(
    claim_sources_reward,
    [
        {
            "prompt": "[1] Tea is grown in Assam. [2] Assam is wet. [3] Assam is hot and wet. Sources of a: 'Assam grows tea', b: 'Assam is wet'? JSON {\"a\": [...], \"b\": [...]}.",
            "sources": {"a": [1], "b": [2, 3]},
        },
        {
            "prompt": "[1] The tower is 90 m high. [2] It was built in 1901. Sources of a: 'The tower dates from 1901'? JSON {\"a\": [...]}.",
            "sources": {"a": [2]},
        },
    ],
    ['{"b": [3, 2], "a": [1]}', '{"a": [2]}'],
    ['{"a": [2], "b": [1]}', '{"a": [1]}'],
)

# --------------------------------------------------------------------------- 9


def nullable_fields_reward(completions, fields, **kwargs):
    """Extraction of fields, with null for what the text does not say.

    The whole completion is a JSON object with exactly the keys of `fields`; otherwise
    0.0. A value is right if it is null where the gold is null, or a string equal to the
    gold but for case and outer white space. The reward is the share of right
    values, so an invented value costs as much as a missing one.
    """

    def right(value, gold):
        if gold is None:
            return value is None
        return isinstance(value, str) and value.strip().casefold() == gold.casefold()

    rewards = []
    for completion, gold in zip(completions, fields):
        try:
            found = json.loads(_text(completion), object_pairs_hook=_unique)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict) or found.keys() != gold.keys():
            rewards.append(0.0)
            continue
        rewards.append(sum(right(found[key], value) for key, value in gold.items()) / len(gold))
    return rewards


_add(
    nullable_fields_reward,
    [
        {
            "prompt": "'Flat in Lund, 3 rooms.' JSON with the strings city, rooms, rent; null where the text is silent.",
            "fields": {"city": "Lund", "rooms": "3", "rent": None},
        },
        {
            "prompt": "'Rent 900, in the heart of Graz.' JSON with the strings city, rooms, rent; null where the text is silent.",
            "fields": {"city": "Graz", "rooms": None, "rent": "900"},
        },
    ],
    ['{"city": "Lund", "rooms": "3", "rent": null}', '{"rent": "900", "city": "graz", "rooms": null}'],
    ['{"city": "Malmo", "rooms": "3", "rent": "700"}', '{"city": "Graz", "rooms": "1", "rent": "90"}'],
)

# --------------------------------------------------------------------------- 10


def typed_entities_reward(completions, entities, **kwargs):
    """Named entities with types, F1.

    Each line of the completion which is not blank is "TYPE: entity", in any order. An
    entity which occurs twice in the text is listed twice. Lines are matched one to one
    with the gold pairs [type, entity]; both must be the same letter by letter, apart
    from white space around them. Reward 2 * matched / (lines + gold pairs); lines of
    another form count as lines which do not match.
    """
    rewards = []
    for completion, gold in zip(completions, entities):
        found = Counter()
        for line in _text(completion).split("\n"):
            if line.strip():
                kind, colon, entity = line.partition(":")
                found[(kind.strip(), entity.strip()) if colon else None] += 1
        matched = sum((found & Counter((kind, entity) for kind, entity in gold)).values())
        rewards.append(2 * matched / (sum(found.values()) + len(gold)))
    return rewards


_add(
    typed_entities_reward,
    [
        {
            "prompt": "'Ada met Ada's mother in Kiel.' Lines 'TYPE: entity' (PER, LOC, ORG), one for each mention of a name.",
            "entities": [["PER", "Ada"], ["PER", "Ada"], ["LOC", "Kiel"]],
        },
        {
            "prompt": "'Saab left Trollhattan.' Lines 'TYPE: entity' (PER, LOC, ORG), one for each mention of a name.",
            "entities": [["ORG", "Saab"], ["LOC", "Trollhattan"]],
        },
    ],
    ["PER: Ada\nLOC: Kiel\nPER: Ada", "ORG: Saab\nLOC: Trollhattan\n"],
    ["LOC: Ada\nPER: Kiel", "Saab\nTrollhattan"],
)
