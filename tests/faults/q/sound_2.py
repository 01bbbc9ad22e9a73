"""Ten sound reward functions: wordle, queens, CSV, loans, seating, chemistry, working days, blocks, courses, code."""

import ast
import csv
import io
import json
import math
import re
from collections import Counter
from datetime import date, timedelta
from decimal import ROUND_HALF_UP, Decimal

from tests.faults.case import Case


def _text(completion):
    """The text of a completion, plain or chat."""
    if not isinstance(completion, str):
        completion = (completion[-1].get("content") or "") if completion else ""
    return completion.replace("\r\n", "\n")


def _answer(text):
    """What stands in the only <answer> block, which must end the reply; '' if there is none."""
    m = re.fullmatch(r".*<answer>(.*)</answer>\s*", text, re.S)
    if not m or text.count("<answer>") != 1 or text.count("</answer>") != 1:
        return ""
    return m.group(1).strip()


# ---------------------------------------------------------------- wordle


def _marks(secret, guess):
    """Wordle marks of a guess: g, y and b, doubled letters as in the game."""
    rest = Counter(s for s, g in zip(secret, guess) if s != g)
    marks = ""
    for s, g in zip(secret, guess):
        if s == g:
            marks += "g"
        elif rest[g] > 0:
            rest[g] -= 1
            marks += "y"
        else:
            marks += "b"
    return marks


def wordle_candidate_reward(completions, words, history, **kwargs):
    """1.0 for a word of the list that would give exactly the marks of all guesses so far,
    0.1 for another word of the list, 0.0 otherwise. history: [[guess, marks], ...].
    """
    rewards = []
    for completion, allowed, past in zip(completions, words, history):
        word = _answer(_text(completion)).lower()
        if word not in allowed:
            rewards.append(0.0)
        else:
            rewards.append(1.0 if all(_marks(word, guess) == marks for guess, marks in past) else 0.1)
    return rewards


_WORDS = ["allow", "alley", "label", "llama", "level", "lapel", "eagle", "steel", "sleet", "geese", "theme", "melee", "camel"]


def _wordle_row(secret, guesses):
    history = [[g, _marks(secret, g)] for g in guesses]
    listing = "\n".join(f"{g} {m}" for g, m in history)
    return {
        "prompt": "Wordle with this list of words: " + ", ".join(_WORDS) + ".\nGuesses and marks so far (g: right place; y: in the word at another "
        "place; b: not in the word, or not as often as guessed, as in the original game):\n" + listing + "\nName a word of the list that is "
        "still possible. End with the word in a single <answer></answer> block.",
        "words": _WORDS,
        "history": history,
    }


WORDLE_ROWS = [_wordle_row("label", ["alley"]), _wordle_row("steel", ["geese", "eagle"]), _wordle_row("melee", ["theme"])]
WORDLE_GOOD = ["Two l, a, e elsewhere. <answer>label</answer>", "<answer>STEEL</answer>", "<answer>melee</answer>"]
WORDLE_BAD = ["<answer>allow</answer>", "<answer>eagle</answer>", "<answer>thema</answer>"]

# ---------------------------------------------------------------- queens


def queens_reward(completions, size, placed, **kwargs):
    """1.0 if the queens of all rows do not attack each other and the given queens stay, 0.1 for a
    list of columns in the board with one for each row, else 0.0. placed: [[row, column], ...] from 1.
    """
    rewards = []
    for completion, n, given in zip(completions, size, placed):
        answer = _answer(_text(completion))
        if not re.fullmatch(r"[0-9]{1,2}(?:[\s,]+[0-9]{1,2})*", answer):
            rewards.append(0.0)
            continue
        columns = [int(c) for c in re.findall(r"[0-9]+", answer)]
        if len(columns) != n or not all(1 <= c <= n for c in columns):
            rewards.append(0.0)
            continue
        safe = (
            len(set(columns)) == n
            and len({r + c for r, c in enumerate(columns)}) == n
            and len({r - c for r, c in enumerate(columns)}) == n
        )
        kept = all(columns[r - 1] == c for r, c in given)
        rewards.append(1.0 if safe and kept else 0.1)
    return rewards


_QUEENS_TASK = (
    "Place {0} queens on a {0}x{0} board, one in each row, so that none attacks another. {1} End with the columns (1 to {0}) of the "
    "queens from row 1 to row {0}, separated by spaces, in a single <answer></answer> block."
)
QUEENS_ROWS = [
    {"prompt": _QUEENS_TASK.format(6, "The queen of row 1 stands in column 2."), "size": 6, "placed": [[1, 2]]},
    {"prompt": _QUEENS_TASK.format(8, "The queens of rows 1 and 2 stand in the columns 1 and 5."), "size": 8, "placed": [[1, 1], [2, 5]]},
    {"prompt": _QUEENS_TASK.format(5, "You are free to choose any solution."), "size": 5, "placed": []},
]
QUEENS_GOOD = ["<answer>2 4 6 1 3 5</answer>", "<answer>1 5 8 6 3 7 2 4</answer>", "<answer>1, 3, 5, 2, 4</answer>"]
QUEENS_BAD = ["<answer>3 6 2 5 1 4</answer>", "<answer>1 5 2 6 3 7 4 8</answer>", "<answer>1 2 3 4 5</answer>"]

# ---------------------------------------------------------------- CSV


def csv_notes_reward(completions, table, **kwargs):
    """1.0 if the ```csv block parses to exactly the table (header first, rows in order),
    otherwise half of the share of the rows at their place, 0.0 without one block of valid CSV.
    """
    rewards = []
    for completion, want in zip(completions, table):
        text = _text(completion).replace("\r\n", "\n").replace("\r", "\n")
        blocks = re.findall(r"^```csv[ \t]*\n(.*?)^```[ \t]*$", text, re.S | re.M)
        if len(blocks) != 1 or text.count("```") != 2 or len(blocks[0]) > 10_000:
            rewards.append(0.0)
            continue
        try:
            parsed = list(csv.reader(io.StringIO(blocks[0]), skipinitialspace=True, strict=True))
        except csv.Error:
            rewards.append(0.0)
            continue
        rows = [[cell.strip() for cell in row] for row in parsed if row]
        if rows == want:
            rewards.append(1.0)
        else:
            rewards.append(0.5 * sum(a == b for a, b in zip(rows, want)) / max(len(rows), len(want)))
    return rewards


_CSV_TASK = (
    "Turn the notes into a CSV as in RFC 4180 (commas, fields with a comma in double quotes) with the header {}, one row for each {}, "
    "in the order of the notes. Reply with exactly one ```csv block.\n\n{}"
)
CSV_ROWS = [
    {
        "prompt": _CSV_TASK.format("title,author,year", "book", "Dune by Herbert, Frank (1965); Emma by Austen, Jane (1815); write the authors as here."),
        "table": [["title", "author", "year"], ["Dune", "Herbert, Frank", "1965"], ["Emma", "Austen, Jane", "1815"]],
    },
    {
        "prompt": _CSV_TASK.format("room,seats", "room", "Room Alpha seats 20, Beta 8 and Gamma 12 (write the names without the word Room)."),
        "table": [["room", "seats"], ["Alpha", "20"], ["Beta", "8"], ["Gamma", "12"]],
    },
]
CSV_GOOD = [
    '```csv\ntitle,author,year\nDune,"Herbert, Frank",1965\nEmma,"Austen, Jane",1815\n```',
    'Three rooms:\n```csv\n"room","seats"\n"Alpha","20"\n"Beta","8"\n"Gamma","12"\n```',
]
CSV_BAD = [
    "```csv\ntitle,author,year\nDune,Herbert, Frank,1965\nEmma,Austen, Jane,1815\n```",
    "```csv\nroom,seats\nAlpha,20\nBeta,8\nGamma,12\nDelta,10\n```",
]

# ---------------------------------------------------------------- loans

CENT = Decimal("0.01")


def _json_object(text):
    def pairs(items):
        if len({k for k, _ in items}) != len(items):
            raise ValueError("a key twice")
        return dict(items)

    return json.loads(text, object_pairs_hook=pairs, parse_float=Decimal)


def loan_reward(completions, principal, rate, months, **kwargs):
    """Score the monthly payment and the total interest of an annuity loan.

    1.0 if both are right to the cent, 0.4 if only the payment is, else 0.0. rate: percent
    a year, a twelfth of it each month. Total interest: months times the rounded payment
    less the principal.
    """
    rewards = []
    for completion, amount, percent, n in zip(completions, principal, rate, months):
        monthly = Decimal(percent) / 1200
        payment = (amount * monthly / (1 - (1 + monthly) ** -n)).quantize(CENT, ROUND_HALF_UP)
        interest = n * payment - amount
        try:
            data = _json_object(_answer(_text(completion)))
        except (ValueError, RecursionError, ArithmeticError):
            rewards.append(0.0)
            continue
        if not isinstance(data, dict) or set(data) != {"payment", "total_interest"}:
            rewards.append(0.0)
            continue
        got = [data["payment"], data["total_interest"]]
        if any(isinstance(v, bool) or not isinstance(v, (int, Decimal)) for v in got) or got[0] != payment:
            rewards.append(0.0)
        else:
            rewards.append(1.0 if got[1] == interest else 0.4)
    return rewards


def _loan_row(principal, rate, months):
    return {
        "prompt": f"A loan of ${principal:,} at {rate}% a year (a twelfth of it each month) is repaid in {months} equal monthly payments at the end "
        "of each month. Give the monthly payment, rounded to the cent, and the total interest: the number of payments times the rounded payment, "
        'less the loan. End with a JSON object of two numbers in a single block of the form <answer>{"payment": 123.45, "total_interest": 678.90}</answer>.',
        "principal": principal,
        "rate": rate,
        "months": months,
    }


LOAN_ROWS = [_loan_row(20000, "6", 60), _loan_row(1500, "9.9", 12), _loan_row(300000, "4.5", 360)]
LOAN_GOOD = [
    '<answer>{"payment": 386.66, "total_interest": 3199.60}</answer>',
    'r = 0.00825\n<answer>{"payment": 131.80, "total_interest": 81.60}</answer>',
    '<answer>\n{"total_interest": 247221.6, "payment": 1520.06}\n</answer>',
]
LOAN_BAD = [
    '<answer>{"payment": 433.33, "total_interest": 6000}</answer>',
    '<answer>{"payment": 131.80, "total_interest": 148.5}</answer>',
    '<answer>{"payment": "1520.06", "total_interest": "247221.6"}</answer>',
]

# ---------------------------------------------------------------- seating


def _holds(rule, seat):
    kind, a, b = rule
    if kind == "seat":
        return seat[a] == b
    if kind == "left_of":
        return seat[a] < seat[b]
    if kind == "next_to":
        return abs(seat[a] - seat[b]) == 1
    if kind == "apart":
        return abs(seat[a] - seat[b]) > 1
    raise ValueError(kind)


def seating_reward(completions, people, rules, **kwargs):
    """1.0 for an order of all people that obeys every rule, at most 0.5 by the share of obeyed rules
    for another order of all people, 0.0 if somebody is missing, twice there or unknown.
    """
    rewards = []
    for completion, names, conditions in zip(completions, people, rules):
        order = [name.strip() for name in _answer(_text(completion)).split(",")]
        if sorted(order) != sorted(names):
            rewards.append(0.0)
            continue
        seat = {name: i + 1 for i, name in enumerate(order)}
        obeyed = sum(_holds(rule, seat) for rule in conditions)
        rewards.append(1.0 if obeyed == len(conditions) else 0.5 * obeyed / len(conditions))
    return rewards


_RULE_TEXT = {
    "seat": "{} sits on chair {}",
    "left_of": "{} sits somewhere to the left of {}",
    "next_to": "{} sits directly beside {}",
    "apart": "{} does not sit directly beside {}",
}


def _seating_row(people, rules):
    clues = "; ".join(_RULE_TEXT[kind].format(a, b) for kind, a, b in rules)
    return {
        "prompt": f"{', '.join(people)} sit in a row on chairs 1 to {len(people)}, counted from the left. {clues}. Give an order that fits, from left "
        "to right, as names separated by commas in a single <answer></answer> block at the end of your reply.",
        "people": people,
        "rules": rules,
    }


SEATING_ROWS = [
    _seating_row(["Ana", "Ben", "Cem", "Dia"], [["seat", "Cem", 2], ["left_of", "Dia", "Ana"], ["next_to", "Ben", "Cem"], ["apart", "Ana", "Ben"]]),
    _seating_row(["Eli", "Fay", "Gus", "Hal", "Ida"], [["seat", "Hal", 3], ["next_to", "Eli", "Fay"], ["left_of", "Gus", "Eli"], ["apart", "Ida", "Hal"]]),
]
SEATING_GOOD = ["Ben is on 1 or 3. <answer>Ben, Cem, Dia, Ana</answer>", "<answer>Ida,Gus,Hal,Fay,Eli</answer>"]
SEATING_BAD = ["<answer>Dia, Cem, Ben, Ana</answer>", "<answer>Gus, Ida, Hal, Eli</answer>"]

# ---------------------------------------------------------------- chemical equations


def _count_atoms(formula):
    """Counter of the atoms of a formula with groups, such as (NH4)2Cr2O7."""
    stack = [Counter()]
    for element, n, opening, closing, factor in re.findall(r"([A-Z][a-z]?)([0-9]*)|(\()|(\))([0-9]*)", formula):
        if element:
            stack[-1][element] += int(n or 1)
        elif opening:
            stack.append(Counter())
        else:
            group = stack.pop()
            for name, k in group.items():
                stack[-1][name] += k * int(factor or 1)
    return stack[0]


def _parse_side(text, species):
    """Coefficients by formula if the side names exactly the species, each once; else None."""
    terms = [re.fullmatch(r"\s*([1-9][0-9]{0,2})?\s*([A-Z(][A-Za-z0-9()]*)\s*", term) for term in text.split("+")]
    if None in terms or sorted(m.group(2) for m in terms) != sorted(species):
        return None
    return {m.group(2): int(m.group(1) or 1) for m in terms}


def equation_reward(completions, reactants, products, **kwargs):
    """1.0 for the balanced equation in smallest whole coefficients, 0.5 if balanced with a common factor,
    0.1 for the right substances out of balance, 0.0 otherwise.
    """
    rewards = []
    for completion, left_species, right_species in zip(completions, reactants, products):
        sides = _answer(_text(completion)).replace("→", "->").split("->")
        if len(sides) != 2:
            rewards.append(0.0)
            continue
        left, right = _parse_side(sides[0], left_species), _parse_side(sides[1], right_species)
        if left is None or right is None:
            rewards.append(0.0)
            continue
        balance = Counter()
        for side, sign in ((left, 1), (right, -1)):
            for formula, n in side.items():
                for element, k in _count_atoms(formula).items():
                    balance[element] += sign * n * k
        if any(balance.values()):
            rewards.append(0.1)
        else:
            rewards.append(1.0 if math.gcd(*left.values(), *right.values()) == 1 else 0.5)
    return rewards


def _equation_row(reactants, products):
    return {
        "prompt": f"Balance with the smallest whole coefficients: {' + '.join(reactants)} -> {' + '.join(products)}. Keep the formulas as they are "
        "written here (no states, no subscripts). End with the equation in a single <answer></answer> block, for example <answer>2 H2 + O2 -> 2 H2O</answer>.",
        "reactants": reactants,
        "products": products,
    }


EQUATION_ROWS = [
    _equation_row(["Fe2O3", "CO"], ["Fe", "CO2"]),
    _equation_row(["KMnO4", "HCl"], ["KCl", "MnCl2", "H2O", "Cl2"]),
    _equation_row(["(NH4)2Cr2O7"], ["N2", "Cr2O3", "H2O"]),
]
EQUATION_GOOD = [
    "<answer>Fe2O3 + 3 CO -> 2 Fe + 3 CO2</answer>",
    "Manganese goes from 7 to 2.\n<answer>2KMnO4 + 16HCl → 2KCl + 2MnCl2 + 8H2O + 5Cl2</answer>",
    "<answer>1 (NH4)2Cr2O7 -> 4 H2O + N2 + Cr2O3</answer>",
]
EQUATION_BAD = [
    "<answer>2 Fe2O3 + 6 CO -> 4 Fe + 6 CO2</answer>",
    "<answer>KMnO4 + 8 HCl -> KCl + MnCl2 + 4 H2O + 2 Cl2</answer>",
    "<answer>(NH4)2Cr2O7 -> 2 N + Cr2O3 + 4 H2O</answer>",
]

# ---------------------------------------------------------------- working days

WEEKDAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]


def working_day_reward(completions, start, days, holidays, **kwargs):
    """1.0 for the right date with its weekday, 0.5 for the right date with a wrong weekday, else 0.0.

    The date is `days` working days after start: Saturdays, Sundays and holidays do not count.
    """
    rewards = []
    for completion, first, n, closed in zip(completions, start, days, holidays):
        due = date.fromisoformat(first)
        left = n
        while left:
            due += timedelta(days=1)
            if due.weekday() < 5 and due.isoformat() not in closed:
                left -= 1
        m = re.fullmatch(r"([0-9]{4}-[0-9]{2}-[0-9]{2}),?\s+\(?([a-z]+)\)?", _answer(_text(completion)).lower())
        if not m or m.group(1) != due.isoformat():
            rewards.append(0.0)
        else:
            rewards.append(1.0 if m.group(2) == WEEKDAYS[due.weekday()] else 0.5)
    return rewards


def _day_row(start, days, holidays):
    closed = ", ".join(holidays) or "none"
    weekday = WEEKDAYS[date.fromisoformat(start).weekday()].capitalize()
    return {
        "prompt": f"Today is {weekday}, {start}. Which day is {days} working days after today? Working days are Monday to Friday without the holidays "
        f"({closed}); today is not counted. End with the date and the English weekday in a single block, for example <answer>2024-01-31 Wednesday</answer>.",
        "start": start,
        "days": days,
        "holidays": holidays,
    }


DAY_ROWS = [
    _day_row("2024-03-27", 3, ["2024-03-29", "2024-04-01"]),
    _day_row("2023-12-21", 5, ["2023-12-25", "2023-12-26", "2024-01-01"]),
    _day_row("2025-02-26", 4, []),
]
DAY_GOOD = [
    "Thursday is the first. <answer>2024-04-03 Wednesday</answer>",
    "22, 27, 28, 29 December, then 2 January. <answer>2024-01-02 Tuesday</answer>",
    "<answer>2025-03-04, tuesday</answer>",
]
DAY_BAD = ["<answer>2024-03-30 Saturday</answer>", "<answer>2023-12-28 Thursday</answer>", "<answer>2025-03-04 Wednesday</answer>"]

# ---------------------------------------------------------------- blocks world


def blocks_reward(completions, stacks, goal, limit, **kwargs):
    """1.0 if the plan is legal, not longer than the limit and reaches the goal, 0.1 if it is only legal, else 0.0.

    stacks and goal: lists of stacks, each from bottom to top; the stacks have no order.
    """
    rewards = []
    for completion, initial, wanted, most in zip(completions, stacks, goal, limit):
        lines = [line.strip() for line in _answer(_text(completion)).split("\n") if line.strip()]
        moves = [re.fullmatch(r"[Mm]ove ([A-Z]) to ([A-Z]|table)", line) for line in lines]
        if not moves or len(moves) > most or None in moves:
            rewards.append(0.0)
            continue
        state = [list(s) for s in initial]
        legal = True
        for m in moves:
            block, place = m.groups()
            source = next((s for s in state if s[-1] == block), None)
            target = next((s for s in state if s[-1] == place), None)
            alone = source is not None and len(source) == 1
            if source is None or (place == "table" and alone) or (place != "table" and (target is None or target is source)):
                legal = False
                break
            source.pop()
            if place == "table":
                state.append([block])
            else:
                target.append(block)
            state = [s for s in state if s]
        if not legal:
            rewards.append(0.0)
        else:
            rewards.append(1.0 if sorted(state) == sorted(map(list, wanted)) else 0.1)
    return rewards


def _blocks_row(stacks, goal, limit):
    def show(state):
        return "; ".join(" ".join(s) for s in state)

    return {
        "prompt": f"Blocks on a table, as stacks from bottom to top: {show(stacks)}. Goal: {show(goal)} (where a stack stands does not matter). Only a block "
        f"with nothing on it can be moved, onto the table or onto another block with nothing on it, and it must change its place. Use at most {limit} moves. "
        "End with the moves, one a line like `move A to B` or `move A to table`, in a single <answer></answer> block.",
        "stacks": stacks,
        "goal": goal,
        "limit": limit,
    }


BLOCKS_ROWS = [
    _blocks_row([["A", "C"], ["B"]], [["A", "B", "C"]], 4),
    _blocks_row([["D", "E", "F"], ["G"]], [["F", "E"], ["G", "D"]], 5),
]
BLOCKS_GOOD = [
    "C must be out of the way.\n<answer>\nmove C to table\nmove B to A\nmove C to B\n</answer>",
    "<answer>move F to table\nmove E to F\nmove D to G</answer>",
]
BLOCKS_BAD = ["<answer>move B to A\nmove C to B</answer>", "<answer>move F to table\nmove E to table</answer>"]

# ---------------------------------------------------------------- course plans


def course_plan_reward(completions, requires, capacity, fewest, **kwargs):
    """1.0 for a valid plan in the fewest terms possible, 0.5 for a longer valid plan, else 0.0.

    A plan is valid if it has every course once, at most `capacity` courses a term, no empty
    term, and every course in a later term than all that it requires. requires: course -> list.
    """
    rewards = []
    for completion, needs, most, best in zip(completions, requires, capacity, fewest):
        lines = [line.strip() for line in _answer(_text(completion)).split("\n") if line.strip()]
        terms = [re.fullmatch(r"Term ([0-9]{1,2}): (.+)", line) for line in lines]
        if not terms or None in terms or [int(m.group(1)) for m in terms] != list(range(1, len(terms) + 1)):
            rewards.append(0.0)
            continue
        plan = [[course.strip() for course in m.group(2).split(",")] for m in terms]
        when = {course: i for i, term in enumerate(plan) for course in term}
        valid = (
            sorted(course for term in plan for course in term) == sorted(needs)
            and all(len(term) <= most for term in plan)
            and all(when[before] < when[course] for course in needs for before in needs[course])
        )
        if not valid:
            rewards.append(0.0)
        else:
            rewards.append(1.0 if len(plan) == best else 0.5)
    return rewards


def _course_row(requires, capacity, fewest):
    listing = "; ".join(f"{c} (requires {', '.join(r)})" if r else c for c, r in requires.items())
    return {
        "prompt": f"Plan these courses: {listing}. At most {capacity} courses a term, and whatever a course requires must be done in an earlier term. Use as few "
        "terms as possible. End with one line per term, in a single <answer></answer> block, of the form `Term 1: course, course`.",
        "requires": requires,
        "capacity": capacity,
        "fewest": fewest,
    }


COURSE_ROWS = [
    _course_row({"Algebra": [], "Calculus": [], "Statistics": ["Calculus"], "Learning": ["Algebra", "Statistics"], "Logic": []}, 2, 3),
    _course_row({"Latin": [], "Greek": ["Latin"], "Epic": ["Greek"], "Rhetoric": ["Latin"], "Law": [], "Drama": ["Greek", "Law"]}, 2, 3),
]
COURSE_GOOD = [
    "Calculus has to come first.\n<answer>\nTerm 1: Algebra, Calculus\nTerm 2: Statistics, Logic\nTerm 3: Learning\n</answer>",
    "<answer>Term 1: Latin, Law\nTerm 2: Greek, Rhetoric\nTerm 3: Epic, Drama</answer>",
]
COURSE_BAD = [
    "<answer>Term 1: Algebra, Calculus, Logic\nTerm 2: Statistics\nTerm 3: Learning</answer>",
    "<answer>Term 1: Latin\nTerm 2: Greek, Law\nTerm 3: Epic, Drama\nTerm 4: Rhetoric</answer>",
]

# ---------------------------------------------------------------- code: an expression

NODES = (
    ast.Expression, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Constant, ast.Name, ast.Load,
    ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod, ast.USub, ast.Not, ast.And, ast.Or,
    ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE,
)  # fmt: skip


def _compiled(expression):
    """Code of an expression in n of the allowed kind, or None."""
    if not 0 < len(expression) <= 200:
        return None
    try:
        tree = ast.parse(expression, mode="eval")
        for node in ast.walk(tree):
            if not isinstance(node, NODES):
                return None
            if isinstance(node, ast.Name) and node.id != "n":
                return None
            if isinstance(node, ast.Constant) and type(node.value) not in (int, bool):
                return None
        return compile(tree, "<expression>", "eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def expression_reward(completions, reference, last, **kwargs):
    """1.0 if the Python expression gives the value of the reference (also of its type, bool or int)
    for every n from 0 to last, else 0.0. Allowed: n, whole numbers, True and False, + - * // %,
    comparisons, and, or, not, conditional expressions and parentheses; no calls, no **.
    """
    rewards = []
    for completion, gold, top in zip(completions, reference, last):
        code, want = _compiled(" ".join(_answer(_text(completion)).split())), _compiled(gold)
        if code is None:
            rewards.append(0.0)
            continue
        scope = {"__builtins__": {}}
        try:
            right = True
            for n in range(top + 1):
                got, expected = eval(code, scope, {"n": n}), eval(want, scope, {"n": n})
                if type(got) is not type(expected) or got != expected:
                    right = False
                    break
        except ArithmeticError:
            right = False
        rewards.append(1.0 if right else 0.0)
    return rewards


_EXPRESSION_TASK = (
    "Write a Python expression in the variable n (a whole number from 0 to {}) that {} Allowed are n, whole numbers, True, False, + - * // %, comparisons, "
    "and, or, not, conditional expressions and parentheses (no calls, no **), at most 200 characters. It must evaluate to {}. End with the expression alone in "
    "<answer></answer>."
)
_BOOL = "True or False themselves, not to a number"
_INT = "a whole number, not to True or False"
EXPRESSION_ROWS = [
    {
        "prompt": _EXPRESSION_TASK.format(2500, "is True exactly if the year n is a leap year of the Gregorian calendar (taken to hold for all n).", _BOOL),
        "reference": "n % 4 == 0 and (n % 100 != 0 or n % 400 == 0)",
        "last": 2500,
    },
    {
        "prompt": _EXPRESSION_TASK.format(1000, "is the price in cents of n copies: 10 cents each for the first 50, 6 cents for each further one.", _INT),
        "reference": "10 * n if n <= 50 else 500 + 6 * (n - 50)",
        "last": 1000,
    },
    {
        "prompt": _EXPRESSION_TASK.format(999, "is the sum of the decimal digits of n.", _INT),
        "reference": "n // 100 + n // 10 % 10 + n % 10",
        "last": 999,
    },
]
EXPRESSION_GOOD = [
    "<answer>(n % 4 == 0 and not n % 100 == 0) or n % 400 == 0</answer>",
    "Above 50: 500 + 6 (n - 50) = 200 + 6 n. <answer>n * 10 if n < 51 else 6 * n + 200</answer>",
    "<answer>n % 10 + (n // 10) % 10 + (n // 100)</answer>",
]
EXPRESSION_BAD = ["<answer>n % 4 == 0 and n % 100 != 0</answer>", "<answer>10 * n if n < 50 else 6 * n</answer>", "<answer>n % 9</answer>"]

CASES = [
    Case(name="q_ok_wordle_candidate", reward=wordle_candidate_reward, examples=WORDLE_ROWS, good=WORDLE_GOOD, bad=WORDLE_BAD),
    Case(name="q_ok_queens", reward=queens_reward, examples=QUEENS_ROWS, good=QUEENS_GOOD, bad=QUEENS_BAD),
    Case(name="q_ok_csv_notes", reward=csv_notes_reward, examples=CSV_ROWS, good=CSV_GOOD, bad=CSV_BAD),
    Case(name="q_ok_loan", reward=loan_reward, examples=LOAN_ROWS, good=LOAN_GOOD, bad=LOAN_BAD),
    Case(name="q_ok_seating", reward=seating_reward, examples=SEATING_ROWS, good=SEATING_GOOD, bad=SEATING_BAD),
    Case(name="q_ok_equation", reward=equation_reward, examples=EQUATION_ROWS, good=EQUATION_GOOD, bad=EQUATION_BAD),
    Case(name="q_ok_working_day", reward=working_day_reward, examples=DAY_ROWS, good=DAY_GOOD, bad=DAY_BAD),
    Case(name="q_ok_blocks", reward=blocks_reward, examples=BLOCKS_ROWS, good=BLOCKS_GOOD, bad=BLOCKS_BAD),
    Case(name="q_ok_course_plan", reward=course_plan_reward, examples=COURSE_ROWS, good=COURSE_GOOD, bad=COURSE_BAD),
    Case(name="q_ok_expression", reward=expression_reward, examples=EXPRESSION_ROWS, good=EXPRESSION_GOOD, bad=EXPRESSION_BAD),
]
