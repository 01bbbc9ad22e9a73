"""Sound reward functions, part 1."""

from __future__ import annotations

import ast
import itertools
import json
import re
import sqlite3
from fractions import Fraction

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
# 1. numbers with a tolerance
# ---------------------------------------------------------------------------

PLAIN_NUMBER = re.compile(r"[+-]?[0-9]{1,15}(?:\.[0-9]{1,15})?(?:[eE][+-]?[0-9]{1,2})?")


def estimate_within_tolerance(completions, value, **kwargs) -> list[float]:
    """1.0 if the number in the single <answer></answer> lies within one percent of the gold value.

    The prompt asks for a plain number in the named unit: no unit, no thousands separators,
    scientific notation allowed. Everything else gets 0.0.
    """
    rewards = []
    for completion, gold in zip(completions, value):
        answer = (_tag(_text(completion), "answer") or "").replace("\u2212", "-")
        if not PLAIN_NUMBER.fullmatch(answer):
            rewards.append(0.0)
            continue
        rewards.append(1.0 if abs(float(answer) - gold) <= 0.01 * abs(gold) else 0.0)
    return rewards


_EST_HOW = " Give a plain number without unit and without separators (1.2e5 is fine) in <answer></answer>; it has to be right within one percent."
_ESTIMATE = [
    {"prompt": "What is the circumference of a circle of radius 3.5 m, in metres?" + _EST_HOW, "value": 21.9911},
    {"prompt": "How many seconds have 17 days?" + _EST_HOW, "value": 1468800.0},
    {"prompt": "Temperature falls from 4 to -9.5 degrees Celsius. What is the change in kelvin (negative for a fall)?" + _EST_HOW, "value": -13.5},
]

# ---------------------------------------------------------------------------
# 2. fractions in any form
# ---------------------------------------------------------------------------

_FRACTION_FORMS = (
    re.compile(r"([+-]?)([0-9]{1,12}) ?/ ?(-?[0-9]{1,12})"),
    re.compile(r"([+-]?)\\[dt]?frac\{(-?[0-9]{1,12})\}\{(-?[0-9]{1,12})\}"),
)
_DECIMAL_FORM = re.compile(r"[+-]?[0-9]{1,12}(?:\.[0-9]{1,12})?")


def _exact_value(expression: str) -> Fraction | None:
    """Value of an integer, a decimal, a/b or \\frac{a}{b}."""
    for form in _FRACTION_FORMS:
        m = form.fullmatch(expression)
        if m:
            if int(m.group(3)) == 0:
                return None
            value = Fraction(int(m.group(2)), int(m.group(3)))
            return -value if m.group(1) == "-" else value
    return Fraction(expression) if _DECIMAL_FORM.fullmatch(expression) else None


def exact_fraction_reward(prompts, completions, answer, **kwargs):
    """Exact rational answers: 1.0 for the right value, whatever the form, else 0.0.

    The prompt allows an integer, an exact decimal, a/b or \\frac{a}{b}; fractions need not be
    reduced. Rounded decimals (0.333 for 1/3) are wrong.
    """
    rewards = []
    for completion, gold in zip(completions, answer):
        given = _tag(_text(completion), "answer")
        value = _exact_value(given.strip("$ ").replace("\u2212", "-")) if given else None
        rewards.append(1.0 if value is not None and value == _exact_value(gold) else 0.0)
    return rewards


_FRAC_HOW = " Put the exact value into <answer></answer>: an integer, an exact decimal, a/b or \\frac{a}{b}, reduced or not. Rounded values are wrong."
_FRACTION = [
    {"prompt": [{"role": "user", "content": "Compute 1/6 + 1/10." + _FRAC_HOW}], "answer": "4/15"},
    {"prompt": [{"role": "user", "content": "What is the slope of the line through (2, 5) and (6, 2)?" + _FRAC_HOW}], "answer": "-3/4"},
    {"prompt": [{"role": "user", "content": "Solve 5x - 7 = 13 for x." + _FRAC_HOW}], "answer": "4"},
]

# ---------------------------------------------------------------------------
# 3. sets of solutions
# ---------------------------------------------------------------------------


def integer_solutions_reward(completions, solutions, **kwargs):
    """All integer solutions, in any order.

    The single <answer></answer> holds the solutions separated by commas, or the word "none".
    1.0 for exactly the right numbers, each named once; 0.0 otherwise (missing, additional or
    repeated numbers).
    """
    rewards = []
    for completion, gold in zip(completions, solutions):
        answer = _tag(_text(completion), "answer")
        if not answer or len(answer) > 1000:
            rewards.append(0.0)
            continue
        parts = [p.strip().replace("\u2212", "-") for p in answer.split(",")]
        if answer.lower() == "none":
            numbers = []
        elif all(re.fullmatch(r"-?[0-9]{1,9}", p) for p in parts):
            numbers = [int(p) for p in parts]
        else:
            rewards.append(0.0)
            continue
        rewards.append(1.0 if sorted(numbers) == sorted(gold) else 0.0)
    return rewards


_SOL_HOW = " Give all of them as plain integers in <answer></answer>, separated by commas, in any order, each once; write none if there are none."
_SOLUTIONS = [
    {"prompt": "Which integers x satisfy x^2 + 2x - 15 = 0?" + _SOL_HOW, "solutions": [3, -5]},
    {"prompt": "Which integers x satisfy x^2 = 7?" + _SOL_HOW, "solutions": []},
    {"prompt": "Which positive integers divide 21?" + _SOL_HOW, "solutions": [1, 3, 7, 21]},
]

# ---------------------------------------------------------------------------
# 4. multiple choice
# ---------------------------------------------------------------------------


def single_choice_reward(prompts, completions, label, **kwargs):
    """Single choice: the only <answer></answer> has to hold the right letter and nothing else.

    A bracket or a full stop around the letter, as in "(B)" or "B.", does no harm. The text in
    front of the tag is free and never read.
    """
    rewards = []
    for completion, gold in zip(completions, label):
        answer = _tag(_text(completion), "answer")
        m = re.fullmatch(r"\(?([A-Za-z])[).]?", answer or "")
        rewards.append(1.0 if m and m.group(1).upper() == gold else 0.0)
    return rewards


_CHOICE_HOW = "\nReason first, then give only the letter in <answer></answer>."
_CHOICE = [
    {"prompt": "Which organ makes insulin?\nA. liver\nB. pancreas\nC. spleen\nD. kidney" + _CHOICE_HOW, "label": "B"},
    {"prompt": "Which number is a perfect square?\nA. 144\nB. 150\nC. 160\nD. 170" + _CHOICE_HOW, "label": "A"},
    {"prompt": "Which language is written from right to left?\nA. Thai\nB. Greek\nC. Hebrew\nD. Korean" + _CHOICE_HOW, "label": "C"},
]

# ---------------------------------------------------------------------------
# 5. several right options
# ---------------------------------------------------------------------------


def multi_choice_partial_reward(completions, correct, n_options, **kwargs):
    """Select-all questions with partial credit.

    (right choices - wrong choices) / (number of right options), at least 0. Choosing
    everything is therefore no strategy. The <answer></answer> holds letters separated by
    commas; letters which are no option, repetitions or other text make the answer void.
    """
    rewards = []
    for completion, gold, n in zip(completions, correct, n_options):
        answer = _tag(_text(completion), "answer") or ""
        chosen = [part.strip().upper() for part in answer[:200].split(",")]
        options = [chr(ord("A") + i) for i in range(n)]
        if len(answer) > 200 or len(set(chosen)) != len(chosen) or any(c not in options for c in chosen):
            rewards.append(0.0)
            continue
        right = sum(c in gold for c in chosen)
        rewards.append(max(0.0, (2 * right - len(chosen)) / len(gold)))
    return rewards


_MULTI_HOW = "\nSeveral options may be right. Give their letters, separated by commas, in <answer></answer>. Each wrong letter cancels a right one."
_MULTI = [
    {"prompt": "Which are even?\nA. 14\nB. 27\nC. 38\nD. 51\nE. 60" + _MULTI_HOW, "correct": ["A", "C", "E"], "n_options": 5},
    {"prompt": "Which are metals?\nA. sulphur\nB. zinc\nC. iodine\nD. cobalt" + _MULTI_HOW, "correct": ["B", "D"], "n_options": 4},
]

# ---------------------------------------------------------------------------
# 6. SQL, run on hidden databases
# ---------------------------------------------------------------------------


def _run_select(script: str, query: str):
    """Rows of a single SELECT, None if it is not allowed, fails or takes too long."""
    while query.startswith("--"):  # comments in front of the query
        query = query.partition("\n")[2].lstrip()
    if not re.match(r"(?:select|with)\b", query, re.I):
        return None
    con = sqlite3.connect(":memory:")
    try:
        con.executescript(script)
        con.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 100_000)
        con.execute("PRAGMA query_only = ON")
        budget = itertools.count()
        con.set_progress_handler(lambda: next(budget) > 100, 10_000)
        rows = con.execute(query).fetchmany(10_001)
        if len(rows) > 10_000:
            return None
        return [tuple(int(v) if isinstance(v, float) and v.is_integer() else v for v in row) for row in rows]
    except (sqlite3.Error, sqlite3.Warning, ValueError, OverflowError, MemoryError):
        return None
    finally:
        con.close()


def hidden_database_sql_reward(completions, databases, gold_query, ordered, **kwargs):
    """Execution match on several hidden databases.

    1.0 if the query in the single ```sql block returns the rows of the gold query on every
    database: in the same order where the question asks for one, else as a multiset. 0.0
    otherwise. Names of result columns do not matter, their order does (see the prompt).
    """
    rewards = []
    for completion, scripts, gold, in_order in zip(completions, databases, gold_query, ordered):
        pieces = _text(completion).split("```")
        blocks = [p[len("sql") :].strip().rstrip(";").strip() for p in pieces[1::2] if p[:4] in ("sql\n", "sql ")]
        ok = len(blocks) == 1 and len(blocks[0]) < 5000
        for script in scripts if ok else ():
            rows, expected = _run_select(script, blocks[0]), _run_select(script, gold)
            if rows is None or expected is None:
                ok = False
            elif in_order:
                ok = ok and rows == expected
            else:
                ok = ok and sorted(map(repr, rows)) == sorted(map(repr, expected))
        rewards.append(1.0 if ok else 0.0)
    return rewards


_DDL = "CREATE TABLE film (id INTEGER, title TEXT, year INTEGER, minutes INTEGER);\n"
_FILM_1 = _DDL + "INSERT INTO film VALUES (1,'Ash',1999,95),(2,'Birch',2005,121),(3,'Cedar',2005,88),(4,'Dogwood',2012,140);"
_FILM_2 = _DDL + "INSERT INTO film VALUES (7,'Rain',2005,131),(8,'Hail',1987,62),(9,'Snow',2020,101);"
_SQL_HOW = " Table film(id INTEGER, title TEXT, year INTEGER, minutes INTEGER); titles and lengths are unique. SQLite, exactly one query in one ```sql block; it runs on several databases."
_FILMS = [
    {
        "prompt": "Titles of the films, longest film first (only the title column)." + _SQL_HOW,
        "databases": [_FILM_1, _FILM_2],
        "gold_query": "SELECT title FROM film ORDER BY minutes DESC",
        "ordered": True,
    },
    {
        "prompt": "For each year with films: year and number of films, two columns in this order; rows in any order." + _SQL_HOW,
        "databases": [_FILM_1, _FILM_2],
        "gold_query": "SELECT year, COUNT(*) FROM film GROUP BY year",
        "ordered": False,
    },
]

# ---------------------------------------------------------------------------
# 7. predicted program output
# ---------------------------------------------------------------------------


def program_output_reward(completions, expected, **kwargs):
    """Predict the output of a program.

    1.0 if the text in <output></output> equals the output, line by line; blanks at line ends
    and white space around the whole do not matter. Otherwise up to 0.4 for the share of leading lines that
    are right, measured against the longer of both texts.
    """
    rewards = []
    for completion, gold in zip(completions, expected):
        given = _tag(_text(completion), "output")
        if not given:
            rewards.append(0.0)
            continue
        lines = [ln.rstrip() for ln in given.split("\n")]
        wanted = [ln.rstrip() for ln in gold.strip().split("\n")]
        same = 0
        while same < min(len(lines), len(wanted)) and lines[same] == wanted[same]:
            same += 1
        longer = max(len(lines), len(wanted))
        rewards.append(1.0 if same == longer else 0.4 * same / longer)
    return rewards


_OUT_HOW = "What does it print? Put the complete output into <output></output>.\n"
_PROGRAMS = [
    {"prompt": _OUT_HOW + "for k in range(3):\n    print(k, 2 ** k)", "expected": "0 1\n1 2\n2 4\n"},
    {"prompt": _OUT_HOW + "print('-'.join(sorted('cab')))\nprint(len('cab') * 'x')", "expected": "a-b-c\nxxx\n"},
]

# ---------------------------------------------------------------------------
# 8. Boolean formulas
# ---------------------------------------------------------------------------


def _truth_table(formula: str, variables: list[str]):
    """Truth table of a formula of and/or/not over the variables, None if it is something else."""
    if len(formula) > 300:
        return None
    try:
        tree = ast.parse(formula, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None

    def value(node, env):
        if isinstance(node, ast.Name) and node.id in env:
            return env[node.id]
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return not value(node.operand, env)
        if isinstance(node, ast.BoolOp):
            parts = [value(v, env) for v in node.values]
            return all(parts) if isinstance(node.op, ast.And) else any(parts)
        raise ValueError("not allowed")

    try:
        return [value(tree, dict(zip(variables, bits))) for bits in itertools.product([False, True], repeat=len(variables))]
    except (ValueError, RecursionError):
        return None


def boolean_formula_reward(prompts, completions, variables, gold_table, **kwargs):
    """Formulas are right if their truth table is right, however they are written.

    ``gold_table`` lists the wanted values for all assignments, the last variable changing
    fastest. Only and, or, not, brackets and the variables are allowed, 300 characters at most.
    """
    rewards = []
    for completion, names, table in zip(completions, variables, gold_table):
        formula = _tag(_text(completion), "formula")
        rewards.append(1.0 if formula and _truth_table(" ".join(formula.split()), names) == table else 0.0)
    return rewards


_FORM_HOW = " Write a formula with and, or, not, brackets and the variables, at most 300 characters, in <formula></formula>."
_FORMULAS = [
    {"prompt": "The lamp is on if exactly one of the switches a and b is on." + _FORM_HOW, "variables": ["a", "b"], "gold_table": [False, True, True, False]},
    {
        "prompt": "The alarm rings if at least two of the sensors a, b and c report." + _FORM_HOW,
        "variables": ["a", "b", "c"],
        "gold_table": [False, False, False, True, False, True, True, True],
    },
]

# ---------------------------------------------------------------------------
# 9. one tool call
# ---------------------------------------------------------------------------


def _unique(pairs):
    keys = [k for k, _ in pairs]
    if len(set(keys)) != len(keys):
        raise ValueError("repeated key")
    return dict(pairs)


def _json_object(text: str | None):
    """The JSON object of the text; None if it is none or repeats a key."""
    if not text or len(text) > 10_000:
        return None
    try:
        data = json.loads(text, object_pairs_hook=_unique)
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None


def _equal(a, b) -> bool:
    """JSON equality: true is not 1, but 2.0 is 2."""
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_equal(a[k], b[k]) for k in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(_equal, a, b))
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return a == b
    return type(a) is type(b) and a == b


def home_tool_call_reward(prompts, completions, call, **kwargs):
    """1.0 for the wanted call with exactly the wanted arguments, 0.2 for the right tool with
    other arguments, 0.0 for everything else, also for more than one call."""
    rewards = []
    for completion, gold in zip(completions, call):
        given = _json_object(_tag(_text(completion), "tool_call"))
        if given is None or given.keys() != {"name", "arguments"} or given["name"] != gold["name"]:
            rewards.append(0.0)
        elif not isinstance(given["arguments"], dict):
            rewards.append(0.0)
        else:
            rewards.append(1.0 if _equal(given["arguments"], gold["arguments"]) else 0.2)
    return rewards


_HOME = (
    "Tools: set_light(room: string, on: boolean, level: integer 0-100, optional), set_heat(room: string, celsius: number). "
    'Answer with one <tool_call>{"name": ..., "arguments": {...}}</tool_call>. Rooms in lower case, as the user says them; pass optional arguments only if the user gives a value.'
)
_HOME_ROWS = [
    {
        "prompt": [{"role": "system", "content": _HOME}, {"role": "user", "content": "Kitchen light on, please."}],
        "call": {"name": "set_light", "arguments": {"room": "kitchen", "on": True}},
    },
    {
        "prompt": [{"role": "system", "content": _HOME}, {"role": "user", "content": "Make it 19.5 degrees in the study."}],
        "call": {"name": "set_heat", "arguments": {"room": "study", "celsius": 19.5}},
    },
]

# ---------------------------------------------------------------------------
# 10. JSON with an optional field
# ---------------------------------------------------------------------------


def reminder_json_reward(completions, fields, **kwargs):
    """Reminders as JSON: share of the three fields title, date, place that are right.

    The place is optional: where the note names none it may be null or left out (both are
    right), any invented place is wrong. The place counts only if the title or the date is
    right, so that leaving everything out earns nothing. Unknown keys or anything besides the
    object: 0.0. Strings are compared without regard to case and outer blanks.
    """
    keys = ("title", "date", "place")

    def clean(value):
        return value.strip().lower() if isinstance(value, str) else value

    rewards = []
    for completion, gold in zip(completions, fields):
        data = _json_object(_text(completion).strip())
        if data is None or not set(data) <= set(keys):
            rewards.append(0.0)
            continue
        right = {k: _equal(clean(data.get(k)), clean(gold[k])) for k in keys}
        rewards.append(sum(right.values()) / 3 if right["title"] or right["date"] else 0.0)
    return rewards


_REM_HOW = (
    'Only a JSON object {"title": the thing to do in the words of the note, "date": "YYYY-MM-DD", "place": string}; '
    "place null or left out if the note has none. Today is 2024-05-06, a Monday.\nNote: "
)
_REMINDERS = [
    {"prompt": _REM_HOW + "'water plants', tomorrow", "fields": {"title": "water plants", "date": "2024-05-07", "place": None}},
    {"prompt": _REM_HOW + "'pick up suit', 9 May 2024, at Main Street 4", "fields": {"title": "pick up suit", "date": "2024-05-09", "place": "Main Street 4"}},
]

CASES: list[Case] = [
    Case(
        "estimate_within_tolerance", estimate_within_tolerance, _ESTIMATE,
        good=["2 pi r\n<answer>21.99</answer>", "<answer>1.4688e6</answer>", "It falls.\n<answer>-13.5</answer>"],
        bad=["<answer>38.5</answer>", "<answer>146880</answer>", "<answer>13.5</answer>"],
    ),
    Case(
        "exact_fraction", exact_fraction_reward, _FRACTION,
        good=[_say("<answer>8/30</answer>"), _say("<answer>-0.75</answer>"), _say("5x = 20. <answer>4</answer>")],
        bad=[_say("<answer>2/16</answer>"), _say("<answer>\\frac{3}{4}</answer>"), _say("<answer>6/5</answer>")],
    ),
    Case(
        "integer_solutions", integer_solutions_reward, _SOLUTIONS,
        good=["(x+5)(x-3)\n<answer>-5, 3</answer>", "<answer>none</answer>", "<answer>21, 7, 3, 1</answer>"],
        bad=["<answer>5, -3</answer>", "<answer>-7, 7</answer>", "<answer>3, 7</answer>"],
    ),
    Case(
        "single_choice", single_choice_reward, _CHOICE,
        good=["Islet cells. <answer>B</answer>", "12 * 12 = 144.\n<answer>(A)</answer>", "<answer>C.</answer>"],
        bad=["<answer>A</answer>", "<answer>D</answer>", "<answer>A</answer>"],
    ),
    Case(
        "multi_choice_partial", multi_choice_partial_reward, _MULTI,
        good=["<answer>A, C, E</answer>", "<answer>d, b</answer>"],
        bad=["<answer>B, D</answer>", "<answer>A, C</answer>"],
    ),
    Case(
        "hidden_database_sql", hidden_database_sql_reward, _FILMS,
        good=["```sql\nSELECT title FROM film ORDER BY minutes DESC;\n```", "```sql\nSELECT year, COUNT(id) AS n FROM film GROUP BY year ORDER BY n\n```"],
        bad=["```sql\nSELECT title FROM film ORDER BY minutes\n```", "```sql\nSELECT year, COUNT(*) FROM film\n```"],
    ),
    Case(
        "program_output", program_output_reward, _PROGRAMS,
        good=["<output>\n0 1\n1 2\n2 4\n</output>", "Sorted letters.\n<output>a-b-c\nxxx</output>"],
        bad=["<output>1 2\n2 4\n3 8</output>", "<output>c-a-b\nxxx</output>"],
    ),
    Case(
        "boolean_formula", boolean_formula_reward, _FORMULAS,
        good=["<formula>(a or b) and not (a and b)</formula>", "<formula>(a and b) or (a and c) or (b and c)</formula>"],
        bad=["<formula>a or b</formula>", "<formula>a and b and c</formula>"],
    ),
    Case(
        "home_tool_call", home_tool_call_reward, _HOME_ROWS,
        good=[
            _say('<tool_call>{"name": "set_light", "arguments": {"room": "kitchen", "on": true}}</tool_call>'),
            _say('<tool_call>{"arguments": {"celsius": 19.5, "room": "study"}, "name": "set_heat"}</tool_call>'),
        ],
        bad=[
            _say('<tool_call>{"name": "set_light", "arguments": {"room": "kitchen", "on": false}}</tool_call>'),
            _say('<tool_call>{"name": "set_light", "arguments": {"room": "study", "on": true}}</tool_call>'),
        ],
    ),
    Case(
        "reminder_json", reminder_json_reward, _REMINDERS,
        good=['{"title": "water plants", "date": "2024-05-07"}', '{"title": "Pick up suit", "date": "2024-05-09", "place": "Main Street 4"}'],
        bad=['{"title": "plants", "date": "2024-05-06", "place": "garden"}', '{"title": "suit", "date": "2024-09-05"}'],
    ),
]
