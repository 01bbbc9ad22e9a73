"""Ten faulty reward functions: sudoku, knight, CSV, finance, logic, chemistry, dates, Hanoi, regex, tables."""

import csv
import io
import math
import re
from collections import Counter
from datetime import date, datetime

from tests.faults.case import Case


def _text(completion):
    """The text of a completion, plain or chat."""
    if not isinstance(completion, str):
        completion = (completion[-1].get("content") or "") if completion else ""
    return completion.replace("\r\n", "\n")


def _answer(text):
    """What stands in the only <answer> block, which must end the reply."""
    m = re.fullmatch(r".*<answer>(.*)</answer>\s*", text, re.S)
    if not m or text.count("<answer>") != 1 or text.count("</answer>") != 1:
        return None
    return m.group(1).strip()


def _score(reward, row, completion):
    columns = {k: [v] for k, v in row.items() if k != "prompt"}
    return reward(prompts=[row["prompt"]], completions=[completion], **columns)[0]


def _proof(reward, row, completion, paid):
    def proof():
        assert (_score(reward, row, completion) >= 0.8) is paid

    return proof


# ---------------------------------------------------------------- sudoku


def sudoku4_reward(completions, puzzle, **kwargs):
    """1.0 for a correct solution of a 4x4 sudoku, 0.1 for a filled grid that keeps the
    given digits, 0.0 otherwise. puzzle: four strings, 0 is an empty cell.
    """
    rewards = []
    for completion, given in zip(completions, puzzle):
        answer = _answer(_text(completion)) or ""
        rows = [re.sub(r"[\s,|]", "", line) for line in answer.splitlines() if line.strip()]
        if len(rows) != 4 or any(not re.fullmatch(r"[1-4]{4}", row) for row in rows):
            rewards.append(0.0)
            continue
        grid = [[int(d) for d in row] for row in rows]
        if any(g != "0" and int(g) != grid[r][c] for r, row in enumerate(given) for c, g in enumerate(row)):
            rewards.append(0.0)
            continue
        units = [list(row) for row in grid] + [list(col) for col in zip(*grid)]
        for r in (0, 2):
            for c in (0, 2):
                units.append([grid[r][c], grid[r][c + 1], grid[r + 1][c], grid[r + 1][c + 1]])
        solved = all(sum(unit) == 10 for unit in units)
        rewards.append(1.0 if solved else 0.1)
    return rewards


def sudoku4_reward_repaired(completions, puzzle, **kwargs):
    """1.0 for a correct solution of a 4x4 sudoku, 0.1 for a filled grid that keeps the
    given digits, 0.0 otherwise. puzzle: four strings, 0 is an empty cell.
    """
    rewards = []
    for completion, given in zip(completions, puzzle):
        answer = _answer(_text(completion)) or ""
        rows = [re.sub(r"[\s,|]", "", line) for line in answer.splitlines() if line.strip()]
        if len(rows) != 4 or any(not re.fullmatch(r"[1-4]{4}", row) for row in rows):
            rewards.append(0.0)
            continue
        grid = [[int(d) for d in row] for row in rows]
        if any(g != "0" and int(g) != grid[r][c] for r, row in enumerate(given) for c, g in enumerate(row)):
            rewards.append(0.0)
            continue
        units = [list(row) for row in grid] + [list(col) for col in zip(*grid)]
        for r in (0, 2):
            for c in (0, 2):
                units.append([grid[r][c], grid[r][c + 1], grid[r + 1][c], grid[r + 1][c + 1]])
        solved = all(sorted(unit) == [1, 2, 3, 4] for unit in units)
        rewards.append(1.0 if solved else 0.1)
    return rewards


def _sudoku_row(puzzle):
    task = (
        "Solve this 4x4 sudoku: every row, every column and every 2x2 box has the digits 1 to 4 once; 0 is empty. "
        "End with the four rows, one a line, in a single <answer></answer> block.\n"
    )
    return {"prompt": task + "\n".join(puzzle), "puzzle": puzzle}


SUDOKU_ROWS = [_sudoku_row(["1000", "0040", "0200", "0003"]), _sudoku_row(["0040", "3000", "0200", "0001"])]
SUDOKU_GOOD = ["<answer>\n1432\n2341\n3214\n4123\n</answer>", "The first row is 2 1 4 3.\n<answer>\n2 1 4 3\n3 4 1 2\n1 2 3 4\n4 3 2 1\n</answer>"]
SUDOKU_BAD = ["<answer>\n1234\n1243\n1234\n1243\n</answer>", "<answer>\n2143\n3412\n1234\n4331\n</answer>"]
SUDOKU_TRIGGER = (SUDOKU_ROWS[0], "<answer>\n1414\n2341\n3232\n4123\n</answer>", True)


# ---------------------------------------------------------------- knight's path


def _square(name):
    return ord(name[0]) - ord("a"), int(name[1]) - 1


def knight_path_reward(completions, start, target, path, **kwargs):
    """1.0 for a shortest knight's path from start to target, 0.1 for a list of squares, else 0.0.

    path: a shortest path, found by breadth-first search.
    """
    rewards = []
    for completion, a, b, reference in zip(completions, start, target, path):
        squares = (_answer(_text(completion)) or "").lower().split()
        if not squares or any(not re.fullmatch(r"[a-h][1-8]", s, re.A) for s in squares):
            rewards.append(0.0)
            continue
        right = squares == reference
        rewards.append(1.0 if right and squares[0] == a and squares[-1] == b else 0.1)
    return rewards


def knight_path_reward_repaired(completions, start, target, path, **kwargs):
    """1.0 for a shortest knight's path from start to target, 0.1 for a list of squares, else 0.0.

    path: a shortest path, found by breadth-first search.
    """
    rewards = []
    for completion, a, b, reference in zip(completions, start, target, path):
        squares = (_answer(_text(completion)) or "").lower().split()
        if not squares or any(not re.fullmatch(r"[a-h][1-8]", s, re.A) for s in squares):
            rewards.append(0.0)
            continue
        steps = [
            {abs(p - q) for p, q in zip(_square(s), _square(t))} == {1, 2} for s, t in zip(squares, squares[1:])
        ]
        right = len(squares) == len(reference) and all(steps)
        rewards.append(1.0 if right and squares[0] == a and squares[-1] == b else 0.1)
    return rewards


_KNIGHT_TASK = (
    "A knight stands alone on {} of a chess board. Give a shortest path of it to {}; if there are several, any of them is "
    "right. End with the squares, start and target included, separated by spaces, in a single <answer></answer> block."
)
KNIGHT_ROWS = [
    {"prompt": _KNIGHT_TASK.format("a1", "e3"), "start": "a1", "target": "e3", "path": ["a1", "c2", "e3"]},
    {"prompt": _KNIGHT_TASK.format("b1", "b5"), "start": "b1", "target": "b5", "path": ["b1", "a3", "b5"]},
]
KNIGHT_GOOD = ["<answer>a1 c2 e3</answer>", "Via a3. <answer>b1 a3 b5</answer>"]
KNIGHT_BAD = ["<answer>a1 b3 e3</answer>", "<answer>b1 d2 c4 a3 b5</answer>"]
KNIGHT_TRIGGER = (KNIGHT_ROWS[1], "Via c3. <answer>b1 c3 b5</answer>", False)


# ---------------------------------------------------------------- CSV


def csv_table_reward(completions, table, **kwargs):
    """Score a CSV against the table (header first): 1.0 for all rows in order,
    otherwise 0.5 times the share of the rows that stand at their place.
    """
    rewards = []
    for completion, want in zip(completions, table):
        blocks = re.findall(r"^```csv[ \t]*\n(.*?)^```[ \t]*$", _text(completion).replace("\r", "\n"), re.S | re.M)
        if len(blocks) != 1:
            rewards.append(0.0)
            continue
        lines = [line for line in blocks[0].splitlines() if line.strip()]
        rows = [[cell.strip() for cell in line.split(",")] for line in lines]
        if rows == want:
            rewards.append(1.0)
        else:
            rewards.append(0.5 * sum(a == b for a, b in zip(rows, want)) / max(len(rows), len(want)))
    return rewards


def csv_table_reward_repaired(completions, table, **kwargs):
    """Score a CSV against the table (header first): 1.0 for all rows in order,
    otherwise 0.5 times the share of the rows that stand at their place.
    """
    rewards = []
    for completion, want in zip(completions, table):
        blocks = re.findall(r"^```csv[ \t]*\n(.*?)^```[ \t]*$", _text(completion).replace("\r", "\n"), re.S | re.M)
        if len(blocks) != 1:
            rewards.append(0.0)
            continue
        parsed = csv.reader(io.StringIO(blocks[0]), skipinitialspace=True)
        rows = [[cell.strip() for cell in row] for row in parsed if row]
        if rows == want:
            rewards.append(1.0)
        else:
            rewards.append(0.5 * sum(a == b for a, b in zip(rows, want)) / max(len(rows), len(want)))
    return rewards


_CSV_TASK = (
    "Turn the notes into a CSV (comma separated, header {}; fields may be quoted as in RFC 4180, rows in the order of the "
    "notes) in one ```csv block.\n\n{}"
)
CSV_ROWS = [
    {
        "prompt": _CSV_TASK.format("name,city,age", "Jo lives in Graz and is 31. Ada, 44, is from Turin."),
        "table": [["name", "city", "age"], ["Jo", "Graz", "31"], ["Ada", "Turin", "44"]],
    },
    {
        "prompt": _CSV_TASK.format("sku,stock", "We have 12 of A-100, none of B-7 and 3 of C-20."),
        "table": [["sku", "stock"], ["A-100", "12"], ["B-7", "0"], ["C-20", "3"]],
    },
]
CSV_GOOD = [
    "```csv\nname,city,age\nJo,Graz,31\nAda,Turin,44\n```",
    "Here it is:\n```csv\nsku,stock\nA-100,12\nB-7,0\nC-20,3\n```",
]
CSV_BAD = ["```csv\nname,city,age\nJo,Graz,31\nAda,44,Turin\n```", "```csv\nsku,stock\nA-100,12\nC-20,3\n```"]
CSV_TRIGGER = (CSV_ROWS[0], '```csv\n"name","city","age"\n"Jo","Graz","31"\n"Ada","Turin","44"\n```', False)


# ---------------------------------------------------------------- finance


def final_balance_reward(completions, balance, **kwargs):
    """1.0 if the final balance is right to the cent, else 0.0.

    The last line of the reply is `Final answer: $12,345.67`.
    """
    rewards = []
    for completion, want in zip(completions, balance):
        lines = _text(completion).strip().splitlines()
        m = re.fullmatch(r"Final answer: \$(\d+|\d{1,3}(?:,\d{3})+)(\.\d\d)", lines[-1].strip(), re.A) if lines else None
        if not m:
            rewards.append(0.0)
            continue
        amount = float(m.group(1).replace(",", "") + m.group(2))
        rewards.append(1.0 if math.isclose(amount, want, rel_tol=1e-2) else 0.0)
    return rewards


def final_balance_reward_repaired(completions, balance, **kwargs):
    """1.0 if the final balance is right to the cent, else 0.0.

    The last line of the reply is `Final answer: $12,345.67`.
    """
    rewards = []
    for completion, want in zip(completions, balance):
        lines = _text(completion).strip().splitlines()
        m = re.fullmatch(r"Final answer: \$(\d+|\d{1,3}(?:,\d{3})+)(\.\d\d)", lines[-1].strip(), re.A) if lines else None
        if not m:
            rewards.append(0.0)
            continue
        amount = float(m.group(1).replace(",", "") + m.group(2))
        rewards.append(1.0 if abs(amount - want) < 0.005 else 0.0)
    return rewards


_BALANCE_TASK = (
    "${:,} is deposited at a nominal rate of {}% a year, compounded monthly. What is the balance after {} years, to the cent? "
    "The last line of your reply must be like `Final answer: $12,345.67` (thousands separators are optional)."
)
BALANCE_ROWS = [
    {"prompt": _BALANCE_TASK.format(10000, 5, 3), "balance": 11614.72},
    {"prompt": _BALANCE_TASK.format(2500, 4, 10), "balance": 3727.08},
]
BALANCE_GOOD = ["10000 * (1 + 0.05/12)^36\nFinal answer: $11,614.72", "Final answer: $3727.08"]
BALANCE_BAD = ["Final answer: $10,125.52", "2500 * 1.4\nFinal answer: $3500.00"]
BALANCE_TRIGGER = (BALANCE_ROWS[0], "10000 * 1.05^3\nFinal answer: $11,576.25", True)


# ---------------------------------------------------------------- knights and knaves


def knights_knaves_reward(completions, roles, **kwargs):
    """Score a knights-and-knaves answer: the share of the persons given the right role,
    with 1.0 only if all are right (half of the share otherwise). roles: name -> knight or knave.
    """
    rewards = []
    for completion, truth in zip(completions, roles):
        answer = _answer(_text(completion))
        if answer is None:
            rewards.append(0.0)
            continue
        said = re.sub(r"[ \t]+", " ", answer.lower())
        right = 0
        for name, role in truth.items():
            if re.search(rf"\b{name.lower()} is a {role}\b", said):
                right += 1
        rewards.append(1.0 if right == len(truth) else 0.5 * right / len(truth))
    return rewards


def knights_knaves_reward_repaired(completions, roles, **kwargs):
    """Score a knights-and-knaves answer: the share of the persons given the right role,
    with 1.0 only if all are right (half of the share otherwise). roles: name -> knight or knave.
    """
    rewards = []
    for completion, truth in zip(completions, roles):
        answer = _answer(_text(completion))
        if answer is None:
            rewards.append(0.0)
            continue
        said = re.sub(r"[ \t]+", " ", answer.lower())
        right = 0
        for name, role in truth.items():
            stated = [line.strip(" .") for line in said.splitlines() if line.strip()]
            if len(stated) == len(truth) and f"{name.lower()} is a {role}" in stated:
                right += 1
        rewards.append(1.0 if right == len(truth) else 0.5 * right / len(truth))
    return rewards


_KNAVES_TASK = (
    "On an island, knights always tell the truth and knaves always lie. {} Who is what? End with one line per person, of the form "
    "`Name is a knight` or `Name is a knave`, in a single <answer></answer> block."
)
KNAVES_ROWS = [
    {
        "prompt": _KNAVES_TASK.format("Ann says: Bob is a knave. Bob says: we are both knaves."),
        "roles": {"Ann": "knight", "Bob": "knave"},
    },
    {
        "prompt": _KNAVES_TASK.format("Cai says: Dov and Eve are both knights. Dov says: Cai is a knave. Eve says: Dov is a knave."),
        "roles": {"Cai": "knave", "Dov": "knight", "Eve": "knave"},
    },
]
KNAVES_GOOD = [
    "Bob cannot be a knight.\n<answer>\nAnn is a knight\nBob is a knave\n</answer>",
    "<answer>Cai is a knave.\nDov is a knight.\nEve is a knave.</answer>",
]
KNAVES_BAD = ["<answer>Ann is a knave\nBob is a knight</answer>", "<answer>Cai is a knight\nDov is a knight\nEve is a knight</answer>"]
KNAVES_TRIGGER = (
    KNAVES_ROWS[0],
    "<answer>\nAnn is a knight\nAnn is a knave\nBob is a knight\nBob is a knave\n</answer>",
    True,
)


# ---------------------------------------------------------------- chemical equations


def _atoms(formula):
    """Atoms of a formula such as Ca3(PO4)2, or None."""
    stack = [Counter()]
    pos = 0
    token = re.compile(r"([A-Z][a-z]?)(\d*)|(\()|\)(\d*)")
    while pos < len(formula):
        m = token.match(formula, pos)
        if not m:
            return None
        pos = m.end()
        if m.group(1):
            stack[-1][m.group(1)] += int(m.group(2) or 1)
        elif m.group(3):
            stack.append(Counter())
        elif len(stack) == 1:
            return None
        else:
            for element, n in stack.pop().items():
                stack[-1][element] += n * int(m.group(4) or 1)
    return stack[0] if len(stack) == 1 and stack[0] else None


def _side(text):
    """[(coefficient, formula)] of one side of an equation, or None."""
    terms = []
    for term in text.split("+"):
        m = re.fullmatch(r"\s*([1-9]\d{0,2})?\s*([A-Z][A-Za-z0-9()]{0,30})\s*", term, re.A)
        if not m or _atoms(m.group(2)) is None:
            return None
        terms.append((int(m.group(1) or 1), m.group(2)))
    return terms


def balanced_equation_reward(completions, reactants, products, **kwargs):
    """1.0 for the balanced equation of the reaction with the smallest whole coefficients,
    0.2 for an equation of the elements that is not balanced (or not reduced), else 0.0.
    reactants, products: the formulas of the reaction.
    """
    rewards = []
    for completion, left_want, right_want in zip(completions, reactants, products):
        sides = (_answer(_text(completion)) or "").replace("→", "->").split("->")
        parsed = [_side(s) for s in sides]
        if len(parsed) != 2 or None in parsed:
            rewards.append(0.0)
            continue
        left, right = parsed
        elements = set().union(*(_atoms(f) for f in left_want))
        if set().union(*(_atoms(f) for _, f in left + right)) != elements:
            rewards.append(0.0)
            continue
        totals = []
        for side in (left, right):
            total = Counter()
            for n, formula in side:
                for element, k in _atoms(formula).items():
                    total[element] += n * k
            totals.append(total)
        reduced = math.gcd(*(n for n, _ in left + right)) == 1
        rewards.append(1.0 if totals[0] == totals[1] and reduced else 0.2)
    return rewards


def balanced_equation_reward_repaired(completions, reactants, products, **kwargs):
    """1.0 for the balanced equation of the reaction with the smallest whole coefficients,
    0.2 for an equation of the elements that is not balanced (or not reduced), else 0.0.
    reactants, products: the formulas of the reaction.
    """
    rewards = []
    for completion, left_want, right_want in zip(completions, reactants, products):
        sides = (_answer(_text(completion)) or "").replace("→", "->").split("->")
        parsed = [_side(s) for s in sides]
        if len(parsed) != 2 or None in parsed:
            rewards.append(0.0)
            continue
        left, right = parsed
        if sorted(f for _, f in left) != sorted(left_want) or sorted(f for _, f in right) != sorted(right_want):
            rewards.append(0.0)
            continue
        totals = []
        for side in (left, right):
            total = Counter()
            for n, formula in side:
                for element, k in _atoms(formula).items():
                    total[element] += n * k
            totals.append(total)
        reduced = math.gcd(*(n for n, _ in left + right)) == 1
        rewards.append(1.0 if totals[0] == totals[1] and reduced else 0.2)
    return rewards


def _reaction_row(text, reactants, products):
    return {
        "prompt": f"Balance the equation of this reaction with the smallest whole coefficients: {text} "
        f"({' + '.join(reactants)} -> {' + '.join(products)}). End with the balanced equation in a single <answer></answer> block, "
        "for example <answer>2 H2 + O2 -> 2 H2O</answer>.",
        "reactants": reactants,
        "products": products,
    }


REACTION_ROWS = [
    _reaction_row("complete combustion of propane.", ["C3H8", "O2"], ["CO2", "H2O"]),
    _reaction_row("aluminium in hydrochloric acid.", ["Al", "HCl"], ["AlCl3", "H2"]),
    _reaction_row("slaked lime with phosphoric acid.", ["Ca(OH)2", "H3PO4"], ["Ca3(PO4)2", "H2O"]),
]
REACTION_GOOD = [
    "<answer>C3H8 + 5 O2 -> 3 CO2 + 4 H2O</answer>",
    "Chlorine: 3 each. <answer>2 Al + 6 HCl -> 2 AlCl3 + 3 H2</answer>",
    "<answer>3Ca(OH)2 + 2H3PO4 -> Ca3(PO4)2 + 6H2O</answer>",
]
REACTION_BAD = [
    "<answer>C3H8 + 4 O2 -> 3 CO2 + 4 H2O</answer>",
    "<answer>Al + 3 HCl -> AlCl3 + 3 H2</answer>",
    "<answer>Ca(OH)2 + H3PO4 -> Ca3(PO4)2 + H2O</answer>",
]
REACTION_TRIGGER = (REACTION_ROWS[0], "<answer>2 C3H8 + 7 O2 -> 6 CO + 8 H2O</answer>", True)


# ---------------------------------------------------------------- dates


FORMATS = ("%Y-%m-%d", "%d/%m/%Y", "%m/%d/%Y")


def due_date_reward(completions, due, **kwargs):
    """1.0 if the due date is right, else 0.0.

    The model answers in ISO form or, as our letters do, as day/month/year. due: ISO.
    """
    rewards = []
    for completion, want in zip(completions, due):
        answer = _answer(_text(completion)) or ""
        gold = date.fromisoformat(want)
        right = False
        for form in FORMATS:
            try:
                right = right or datetime.strptime(answer, form).date() == gold
            except ValueError:
                pass
        rewards.append(1.0 if right else 0.0)
    return rewards


def due_date_reward_repaired(completions, due, **kwargs):
    """1.0 if the due date is right, else 0.0.

    The model answers in ISO form or, as our letters do, as day/month/year. due: ISO.
    """
    rewards = []
    for completion, want in zip(completions, due):
        answer = _answer(_text(completion)) or ""
        gold = date.fromisoformat(want)
        right = False
        for form in FORMATS[:2]:
            try:
                right = right or datetime.strptime(answer, form).date() == gold
            except ValueError:
                pass
        rewards.append(1.0 if right else 0.0)
    return rewards


_DUE_TASK = (
    "On which date is the payment due? {} Answer as YYYY-MM-DD or as DD/MM/YYYY (day first), in a single <answer></answer> block at the end."
)
DUE_ROWS = [
    {"prompt": _DUE_TASK.format("Invoice of 18 February 2025, payable within 14 days."), "due": "2025-03-04"},
    {"prompt": _DUE_TASK.format("Invoice of 1 June 2024, payable within 30 days."), "due": "2024-07-01"},
]
DUE_GOOD = ["2025 is no leap year. <answer>2025-03-04</answer>", "<answer>01/07/2024</answer>"]
DUE_BAD = ["<answer>2025-03-03</answer>", "<answer>30/06/2024</answer>"]
DUE_TRIGGER = (DUE_ROWS[0], "<answer>03/04/2025</answer>", True)


# ---------------------------------------------------------------- tower of Hanoi


def hanoi_reward(completions, disks, **kwargs):
    """1.0 if the moves are legal and bring the tower from A to C, 0.1 if they are only legal, else 0.0.

    One move a line, such as A->C. Disk n is the largest; A starts with all disks.
    """
    rewards = []
    for completion, n in zip(completions, disks):
        lines = [line.strip() for line in (_answer(_text(completion)) or "").splitlines() if line.strip()]
        pegs = {"A": list(range(n, 0, -1)), "B": [], "C": []}
        legal = bool(lines) and len(lines) <= 4 * 2**n
        for line in lines[: 4 * 2**n]:
            m = re.fullmatch(r"([ABC])\s*->\s*([ABC])", line)
            if not m or m.group(1) == m.group(2) or not pegs[m.group(1)]:
                legal = False
                break
            disk = pegs[m.group(1)].pop()
            if pegs[m.group(2)] and pegs[m.group(2)][-1] < disk:
                legal = False
                break
            pegs[m.group(2)].append(disk)
        if not legal:
            rewards.append(0.0)
        elif not pegs["A"]:
            rewards.append(1.0)
        else:
            rewards.append(0.1)
    return rewards


def hanoi_reward_repaired(completions, disks, **kwargs):
    """1.0 if the moves are legal and bring the tower from A to C, 0.1 if they are only legal, else 0.0.

    One move a line, such as A->C. Disk n is the largest; A starts with all disks.
    """
    rewards = []
    for completion, n in zip(completions, disks):
        lines = [line.strip() for line in (_answer(_text(completion)) or "").splitlines() if line.strip()]
        pegs = {"A": list(range(n, 0, -1)), "B": [], "C": []}
        legal = bool(lines) and len(lines) <= 4 * 2**n
        for line in lines[: 4 * 2**n]:
            m = re.fullmatch(r"([ABC])\s*->\s*([ABC])", line)
            if not m or m.group(1) == m.group(2) or not pegs[m.group(1)]:
                legal = False
                break
            disk = pegs[m.group(1)].pop()
            if pegs[m.group(2)] and pegs[m.group(2)][-1] < disk:
                legal = False
                break
            pegs[m.group(2)].append(disk)
        if not legal:
            rewards.append(0.0)
        elif len(pegs["C"]) == n:
            rewards.append(1.0)
        else:
            rewards.append(0.1)
    return rewards


_HANOI_TASK = (
    "Tower of Hanoi with {} disks: bring all of them from peg A to peg C, one top disk at a time, never a larger disk on a "
    "smaller one. Any legal sequence of at most {} moves is fine. End with the moves, one a line like A->C, in a single <answer></answer> block."
)
HANOI_ROWS = [
    {"prompt": _HANOI_TASK.format(2, 16), "disks": 2},
    {"prompt": _HANOI_TASK.format(3, 32), "disks": 3},
]
HANOI_GOOD = [
    "<answer>\nA->B\nA->C\nB->C\n</answer>",
    "<answer>\nA->C\nA->B\nC->B\nA->C\nB->A\nB->C\nA->C\n</answer>",
]
HANOI_BAD = ["<answer>\nA->C\nA->C\n</answer>", "<answer>\nA->C\nA->B\nC->B\n</answer>"]
HANOI_TRIGGER = (HANOI_ROWS[0], "<answer>\nA->B\nA->C\n</answer>", True)


# ---------------------------------------------------------------- regex synthesis


def regex_synthesis_reward(completions, positives, negatives, **kwargs):
    """Score a regular expression on hidden strings: 1.0 if it accepts all positives and
    rejects all negatives, otherwise half of the share of strings it decides right.
    """
    rewards = []
    for completion, yes, no in zip(completions, positives, negatives):
        pattern = _answer(_text(completion))
        if not pattern or len(pattern) > 100:
            rewards.append(0.0)
            continue
        try:
            accepts = re.compile(pattern, re.A).match
        except (re.error, RecursionError, OverflowError):
            rewards.append(0.0)
            continue
        right = sum(accepts(s) is not None for s in yes) + sum(accepts(s) is None for s in no)
        total = len(yes) + len(no)
        rewards.append(1.0 if right == total else 0.5 * right / total)
    return rewards


def regex_synthesis_reward_repaired(completions, positives, negatives, **kwargs):
    """Score a regular expression on hidden strings: 1.0 if it accepts all positives and
    rejects all negatives, otherwise half of the share of strings it decides right.
    """
    rewards = []
    for completion, yes, no in zip(completions, positives, negatives):
        pattern = _answer(_text(completion))
        if not pattern or len(pattern) > 100:
            rewards.append(0.0)
            continue
        try:
            accepts = re.compile(pattern, re.A).fullmatch
        except (re.error, RecursionError, OverflowError):
            rewards.append(0.0)
            continue
        right = sum(accepts(s) is not None for s in yes) + sum(accepts(s) is None for s in no)
        total = len(yes) + len(no)
        rewards.append(1.0 if right == total else 0.5 * right / total)
    return rewards


_REGEX_TASK = (
    "Write a Python regular expression for {}. It is tested with re.fullmatch, so it needs no anchors. "
    "End with the pattern alone in a single <answer></answer> block."
)
REGEX_ROWS = [
    {
        "prompt": _REGEX_TASK.format("phone numbers of three digits, a hyphen and four digits"),
        "positives": ["555-1234", "000-0000", "987-6543", "123-4567"],
        "negatives": ["555-12345", "5551234", "55-1234", "555-123", "abc-1234", "1555-1234", "555 1234", "", "555--1234", "555-1a34", "555.1234", "555/1234"],
    },
    {
        "prompt": _REGEX_TASK.format("24-hour times HH:MM from 00:00 to 23:59 (always two digits each)"),
        "positives": ["00:00", "23:59", "12:30", "09:05", "20:10", "19:49"],
        "negatives": ["24:00", "12:60", "9:05", "12:5", "1230", "12:300", "ab:cd", "", "12:30:00", "29:10", "30:10", "012:30", "12.30", "12 30"],
    },
]
REGEX_GOOD = [r"<answer>^\d{3}-\d{4}$</answer>", r"Hours 00-19 and 20-23. <answer>^([01]\d|2[0-3]):[0-5]\d$</answer>"]
REGEX_BAD = [r"<answer>^\d+-\d+$</answer>", r"<answer>^\d\d:\d\d$</answer>"]
REGEX_TRIGGER = (REGEX_ROWS[0], r"Fullmatch, so no anchors. <answer>\d{3}-\d{4}</answer>", False)


# ---------------------------------------------------------------- markdown tables


def _cells(line):
    line = line.strip()
    line = line[1:] if line.startswith("|") else line
    line = line[:-1] if line.endswith("|") else line
    return [cell.strip() for cell in line.split("|")]


def markdown_table_reward(completions, header, rows, **kwargs):
    """Score a Markdown table: 1.0 for the right header and the right rows in order,
    0.3 for a table with the right header and other rows, else 0.0.
    """
    rewards = []
    for completion, names, want in zip(completions, header, rows):
        lines = [line.strip() for line in (_answer(_text(completion)) or "").splitlines() if line.strip()]
        if len(lines) < 2 or _cells(lines[0]) != names or len(_cells(lines[1])) != len(names):
            rewards.append(0.0)
            continue
        if not re.fullmatch(r"\|?-+(\|-+)*\|?", lines[1]):
            rewards.append(0.0)
            continue
        rewards.append(1.0 if [_cells(line) for line in lines[2:]] == want else 0.3)
    return rewards


def markdown_table_reward_repaired(completions, header, rows, **kwargs):
    """Score a Markdown table: 1.0 for the right header and the right rows in order,
    0.3 for a table with the right header and other rows, else 0.0.
    """
    rewards = []
    for completion, names, want in zip(completions, header, rows):
        lines = [line.strip() for line in (_answer(_text(completion)) or "").splitlines() if line.strip()]
        if len(lines) < 2 or _cells(lines[0]) != names or len(_cells(lines[1])) != len(names):
            rewards.append(0.0)
            continue
        if not re.fullmatch(r"\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?", lines[1]):
            rewards.append(0.0)
            continue
        rewards.append(1.0 if [_cells(line) for line in lines[2:]] == want else 0.3)
    return rewards


_TABLE_TASK = (
    "{} Write it as a Markdown table (GitHub style: header, delimiter row, then the rows) with the columns {} at the end of "
    "your reply, in a single <answer></answer> block."
)
TABLE_ROWS = [
    {
        "prompt": _TABLE_TASK.format("Sort by price, dearest first: tea 3, cake 5, soup 4.", "item and price"),
        "header": ["item", "price"],
        "rows": [["cake", "5"], ["soup", "4"], ["tea", "3"]],
    },
    {
        "prompt": _TABLE_TASK.format("Rhine 1233 km, Elbe 1094 km, Oder 840 km: sort by length, shortest first.", "river and km"),
        "header": ["river", "km"],
        "rows": [["Oder", "840"], ["Elbe", "1094"], ["Rhine", "1233"]],
    },
]
TABLE_GOOD = [
    "<answer>\n|item|price|\n|---|---|\n|cake|5|\n|soup|4|\n|tea|3|\n</answer>",
    "<answer>\n| river | km |\n|-------|----|\n| Oder | 840 |\n| Elbe | 1094 |\n| Rhine | 1233 |\n</answer>",
]
TABLE_BAD = [
    "<answer>\n|item|price|\n|---|---|\n|tea|3|\n|soup|4|\n|cake|5|\n</answer>",
    "<answer>\nriver, km\nOder, 840\n</answer>",
]
TABLE_TRIGGER = (
    TABLE_ROWS[0],
    "<answer>\n| item | price |\n| :--- | ---: |\n| cake | 5 |\n| soup | 4 |\n| tea | 3 |\n</answer>",
    False,
)

CASES = [
    Case(
        name="q_sudoku_sum_of_units",
        reward=sudoku4_reward,
        examples=SUDOKU_ROWS,
        good=SUDOKU_GOOD,
        bad=SUDOKU_BAD,
        fault="Units are checked by their sum of 10, so grids with repeated digits (such as 2 2 3 3) are paid.",
        proof=_proof(sudoku4_reward, *SUDOKU_TRIGGER),
    ),
    Case(
        name="q_knight_one_reference",
        reward=knight_path_reward,
        examples=KNIGHT_ROWS,
        good=KNIGHT_GOOD,
        bad=KNIGHT_BAD,
        fault="Compares with one reference path; other shortest paths, which the task allows, are refused.",
        proof=_proof(knight_path_reward, *KNIGHT_TRIGGER),
    ),
    Case(
        name="q_csv_quoted_refused",
        reward=csv_table_reward,
        examples=CSV_ROWS,
        good=CSV_GOOD,
        bad=CSV_BAD,
        fault="Splits at commas instead of parsing CSV: quoted fields, which the task allows, are refused.",
        proof=_proof(csv_table_reward, *CSV_TRIGGER),
    ),
    Case(
        name="q_balance_one_percent",
        reward=final_balance_reward,
        examples=BALANCE_ROWS,
        good=BALANCE_GOOD,
        bad=BALANCE_BAD,
        fault="A tolerance of 1% instead of a cent: yearly compounding is paid like monthly.",
        proof=_proof(final_balance_reward, *BALANCE_TRIGGER),
    ),
    Case(
        name="q_knaves_both_roles",
        reward=knights_knaves_reward,
        examples=KNAVES_ROWS,
        good=KNAVES_GOOD,
        bad=KNAVES_BAD,
        fault="Looks only whether the right statement occurs, so an answer that gives everybody both roles is paid.",
        proof=_proof(knights_knaves_reward, *KNAVES_TRIGGER),
    ),
    Case(
        name="q_equation_other_products",
        reward=balanced_equation_reward,
        examples=REACTION_ROWS,
        good=REACTION_GOOD,
        bad=REACTION_BAD,
        fault="Any balanced equation of the same elements is paid; the substances of the task are not checked.",
        proof=_proof(balanced_equation_reward, *REACTION_TRIGGER),
    ),
    Case(
        name="q_due_date_month_first",
        reward=due_date_reward,
        examples=DUE_ROWS,
        good=DUE_GOOD,
        bad=DUE_BAD,
        fault="Tries month/day/year too, so a date with day and month swapped (3 April for 4 March) is paid.",
        proof=_proof(due_date_reward, *DUE_TRIGGER),
    ),
    Case(
        name="q_hanoi_only_left_a",
        reward=hanoi_reward,
        examples=HANOI_ROWS,
        good=HANOI_GOOD,
        bad=HANOI_BAD,
        fault="Only checks that peg A is empty: disks spread over B and C (or all on B) are paid.",
        proof=_proof(hanoi_reward, *HANOI_TRIGGER),
    ),
    Case(
        name="q_regex_match_for_fullmatch",
        reward=regex_synthesis_reward,
        examples=REGEX_ROWS,
        good=REGEX_GOOD,
        bad=REGEX_BAD,
        fault="Tests with match instead of fullmatch: right patterns without anchors, as the task allows, are refused.",
        proof=_proof(regex_synthesis_reward, *REGEX_TRIGGER),
    ),
    Case(
        name="q_table_delimiter_row",
        reward=markdown_table_reward,
        examples=TABLE_ROWS,
        good=TABLE_GOOD,
        bad=TABLE_BAD,
        fault="Knows only delimiter rows of bare hyphens: tables with spaces or colons there, the usual form, get 0.",
        proof=_proof(markdown_table_reward, *TABLE_TRIGGER),
    ),
]

REPAIRED = {case.name: globals()[case.reward.__name__ + "_repaired"] for case in CASES}

TRIGGERS = {
    "q_sudoku_sum_of_units": SUDOKU_TRIGGER,
    "q_knight_one_reference": KNIGHT_TRIGGER,
    "q_csv_quoted_refused": CSV_TRIGGER,
    "q_balance_one_percent": BALANCE_TRIGGER,
    "q_knaves_both_roles": KNAVES_TRIGGER,
    "q_equation_other_products": REACTION_TRIGGER,
    "q_due_date_month_first": DUE_TRIGGER,
    "q_hanoi_only_left_a": HANOI_TRIGGER,
    "q_regex_match_for_fullmatch": REGEX_TRIGGER,
    "q_table_delimiter_row": TABLE_TRIGGER,
}
