"""Sound rewards 1: math answers, multiple choice, code and SQL, tool calls."""

from __future__ import annotations

import ast
import json
import re
import sqlite3
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


def hash_answer_reward(completions, answer, **kwargs):
    """GSM8K style: the last line which is not blank is "#### number".

    The number may have a dollar sign in front (after the minus sign, if any),
    commas between groups of three digits, and decimals. It is compared by value
    with the gold number: 1,050 and 1050.00 are the same. Anything else on the line,
    or a number of more than 40 characters, is no answer.

    Returns:
        1.0 for the right number, 0.0 otherwise.
    """
    number = re.compile(r"####\s{0,5}([+-]?)\$?((?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]+)?)")
    rewards = []
    for completion, gold in zip(completions, answer):
        line = _last_line(_text(completion))
        match = number.fullmatch(line) if len(line) <= 60 else None
        if match is None or len(match[2]) > 40:
            rewards.append(0.0)
            continue
        value = Fraction(match[2].replace(",", ""))
        if match[1] == "-":
            value = -value
        rewards.append(1.0 if value == Fraction(str(gold)) else 0.0)
    return rewards


_add(
    hash_answer_reward,
    [
        {"prompt": "A shop sells 35 lamps at $30 each. What does it earn? End with a line '#### number'.", "answer": "1050"},
        {"prompt": "Tom owes 12 and pays back 4.5. What is his balance (negative if he owes)? End with a line '#### number'.", "answer": "-7.5"},
    ],
    ["35 * 30 = 1050\n#### $1,050", "4.5 - 12\n#### -7.50"],
    ["35 + 30\n#### 65", "#### 7.5"],
)

# --------------------------------------------------------------------------- 2


def boxed_value_reward(completions, solution, **kwargs):
    r"""The value in the last \boxed{} of the completion against a rational gold.

    Accepted forms are an integer, a decimal, a/b and \frac{a}{b} (\dfrac and \tfrac
    too) with integers a and b, a sign in front if need be; white space is allowed
    around these parts and dollar signs around the whole. Equal values are right
    whatever the form: 1.0, else 0.0. If the last \boxed{ is not closed, or holds
    more than 100 characters, there is no answer.
    """
    fraction = re.compile(r"([+-]?)\s*\\[dt]?frac\s*\{\s*([+-]?[0-9]+)\s*\}\s*\{\s*([+-]?[0-9]+)\s*\}")
    ratio = re.compile(r"([+-]?)\s*([0-9]+)\s*/\s*([0-9]+)")
    plain = re.compile(r"([+-]?)\s*([0-9]+(?:\.[0-9]+)?|\.[0-9]+)")

    def value(latex):
        latex = latex.strip().strip("$").strip()
        for pattern in (fraction, ratio, plain):
            match = pattern.fullmatch(latex)
            if match:
                denominator = int(match[3]) if pattern is not plain else 1
                if denominator == 0:
                    return None
                size = Fraction(match[2]) / denominator
                return -size if match[1] == "-" else size
        return None

    def last_boxed(text):
        start = text.rfind("\\boxed{")
        if start < 0:
            return None
        depth = 0
        for i in range(start + len("\\boxed"), min(len(text), start + 110)):
            depth += {"{": 1, "}": -1}.get(text[i], 0)
            if depth == 0:
                return text[start + len("\\boxed{"):i]
        return None

    rewards = []
    for completion, gold in zip(completions, solution):
        boxed = last_boxed(_text(completion))
        found = value(boxed) if boxed is not None and len(boxed) <= 100 else None
        rewards.append(1.0 if found is not None and found == Fraction(gold) else 0.0)
    return rewards


_add(
    boxed_value_reward,
    [
        {"prompt": "Find the slope of 2y + 3x = 6 as a number in \\boxed{}.", "solution": "-3/2"},
        {"prompt": "Compute 1/4 + 1/8 as a number in \\boxed{}.", "solution": "3/8"},
        {"prompt": "Compute 12 * 12 in \\boxed{}.", "solution": "144"},
    ],
    [r"y = 3 - 3x/2, so \boxed{-\frac{3}{2}}", r"\boxed{0.375}", r"\boxed{144}"],
    [r"\boxed{\frac{3}{2}}", r"\boxed{\frac{2}{12}}", r"\boxed{124}"],
)

# --------------------------------------------------------------------------- 3


def physics_value_reward(completions, value, **kwargs):
    """Numeric physics answers within one per cent.

    The completion has exactly one <answer></answer> pair with a number only, plain
    or with an exponent as in 3.2e8 (the unit is given in the prompt and is not
    repeated). Reward 1.0 if it is within 1 % of the gold value, 0.5 if within 5 %,
    else 0.0. Golds are not zero.
    """
    number = re.compile(r"[+-]?[0-9]{1,20}(?:\.[0-9]{1,20})?(?:[eE][+-]?[0-9]{1,2})?")
    rewards = []
    for completion, gold in zip(completions, value):
        found = (_block(_text(completion)) or "").strip()
        if not number.fullmatch(found):
            rewards.append(0.0)
            continue
        error = abs(float(found) - gold) / abs(gold)
        rewards.append(1.0 if error <= 0.01 else 0.5 if error <= 0.05 else 0.0)
    return rewards


_add(
    physics_value_reward,
    [
        {"prompt": "Free fall for 3 s on Earth: final speed in m/s? Number only (at most 20 digits) in one <answer></answer>; 1 % is near enough, 5 % gives half.", "value": 29.43},
        {"prompt": "Speed of light in km/s? Number only (at most 20 digits) in one <answer></answer>; 1 % is near enough, 5 % gives half.", "value": 299792.458},
    ],
    ["9.81 * 3\n<answer>29.4</answer>", "<answer>3.0e5</answer>"],
    ["<answer>9.81</answer>", "<answer>150000</answer>"],
)

# --------------------------------------------------------------------------- 4


def mcq_last_line_reward(completions, gold, **kwargs):
    """Multiple choice with the choice on the last line.

    The last line which is not blank is "Answer: X", X one letter A to E, small or
    capital, perhaps in round brackets or with a full stop. Only this line counts,
    and a line with anything more is no choice. 1.0 for the gold letter, else 0.0.
    """
    line = re.compile(r"answer: {0,3}(\(?)([a-e])(\)?)\.?", re.IGNORECASE | re.ASCII)
    rewards = []
    for completion, letter in zip(completions, gold):
        match = line.fullmatch(_last_line(_text(completion)))
        ok = match is not None and bool(match[1]) == bool(match[3]) and match[2].upper() == letter
        rewards.append(1.0 if ok else 0.0)
    return rewards


_add(
    mcq_last_line_reward,
    [
        {"prompt": "Largest ocean? A) Atlantic B) Pacific C) Indian D) Arctic E) Southern. Last line: 'Answer: X'.", "gold": "B"},
        {"prompt": "H2O is? A) salt B) acid C) water D) iron E) air. Last line: 'Answer: X'.", "gold": "C"},
    ],
    [_chat("The answer is not A, it is the Pacific.\n\nAnswer: B"), _chat("Answer: (c).")],
    [_chat("Answer: A"), _chat("It may be C.\nAnswer: D")],
)

# --------------------------------------------------------------------------- 5


def multi_select_reward(completions, correct, n_options, **kwargs):
    """Select all that apply, with negative marking.

    The completion has exactly one <answer></answer> pair with the chosen letters,
    separated by commas (case and a repetition do not matter). Each right letter
    adds 1/n and each wrong one takes 1/n away, n being the number of right letters;
    not below 0.0. Malformed answers and letters beyond the options: 0.0.
    """
    rewards = []
    for completion, gold, count in zip(completions, correct, n_options):
        options = "ABCDEFGHIJ"[:count]
        chosen = {part.strip().upper() for part in (_block(_text(completion)) or "").split(",")}
        if not all(len(letter) == 1 and letter in options for letter in chosen):
            rewards.append(0.0)
            continue
        right = set(gold)
        rewards.append(max(0.0, (len(chosen & right) - len(chosen - right)) / len(right)))
    return rewards


_add(
    multi_select_reward,
    [
        {"prompt": "Even numbers? A) 4 B) 7 C) 10 D) 13. Letters in one <answer></answer>; wrong letters count against you.", "correct": ["A", "C"], "n_options": 4},
        {"prompt": "In Europe? A) Chad B) Latvia C) Peru D) Malta E) Fiji. Letters in one <answer></answer>; wrong letters count against you.", "correct": ["B", "D"], "n_options": 5},
    ],
    ["<answer>A, C</answer>", "Both are in the EU.\n<answer>d,b</answer>"],
    ["<answer>A, B</answer>", "<answer>A,B,C,D,E</answer>"],
)

# --------------------------------------------------------------------------- 6


def letter_or_option_reward(completions, options, gold_letter, **kwargs):
    """The answer is the letter of an option or its text, word for word.

    It stands in the one <answer></answer> pair of the completion, as "B", "(B)", the
    text, or "B) text" or "(B) text" with the text of that same option. Case, outer white space and
    a final full stop do not matter. 1.0 for the gold option, 0.0 for another one or
    for something else.
    """
    rewards = []
    for completion, choices, gold in zip(completions, options, gold_letter):
        reply = (_block(_text(completion)) or "").strip().lower().removesuffix(".").rstrip()
        text = choices[gold].lower()
        letter = gold.lower()
        accepted = {letter, f"({letter})", text, f"{letter}) {text}", f"({letter}) {text}"}
        rewards.append(1.0 if reply in accepted else 0.0)
    return rewards


_add(
    letter_or_option_reward,
    [
        {
            "prompt": "Rust is? A) iron B) iron oxide C) oxide D) oxygen. Letter or text of the option in one <answer></answer>.",
            "options": {"A": "iron", "B": "iron oxide", "C": "oxide", "D": "oxygen"},
            "gold_letter": "B",
        },
        {
            "prompt": "Longest river? A) Nile B) Rhine C) Po D) Ob. Letter or text of the option in one <answer></answer>.",
            "options": {"A": "Nile", "B": "Rhine", "C": "Po", "D": "Ob"},
            "gold_letter": "A",
        },
    ],
    ["<answer>Iron oxide.</answer>", "<answer>A) Nile</answer>"],
    ["<answer>iron</answer>", "<answer>Rhine</answer>"],
)

# --------------------------------------------------------------------------- 7


def sql_two_databases_reward(completions, databases, gold_sql, ordered, **kwargs):
    """Text to SQL by execution on several databases of the same schema.

    The completion has exactly one ```sql fence, which holds one SELECT statement
    (WITH is fine). It is right if it gives the rows of the gold query on every
    one of `databases` (scripts, not all of them shown to the model), so a query with
    the result written into it fails. Duplicate rows count; the order of rows counts
    if `ordered`; the names of columns do not. Statements which change something,
    fail, or need more than two million steps of SQLite get 0.0.

    Returns: 1.0 or 0.0 for each completion.
    """

    reading = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}

    def rows(script, query, limit):
        connection = sqlite3.connect(":memory:")
        try:
            connection.executescript(script)
            connection.set_authorizer(
                lambda action, *_: sqlite3.SQLITE_OK if action in reading else sqlite3.SQLITE_DENY
            )
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 100_000)
            connection.setlimit(sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 100)
            steps = iter(range(200))
            connection.set_progress_handler(lambda: 0 if next(steps, None) is not None else 1, 10_000)
            return connection.execute(query).fetchmany(limit)
        finally:
            connection.close()

    rewards = []
    for completion, scripts, gold, in_order in zip(completions, databases, gold_sql, ordered):
        text = _text(completion)
        query = ""
        if text.count("```") == 2 and "```sql" in text:
            start = text.find("```sql") + len("```sql")
            query = text[start:text.rfind("```")].strip() if text.rfind("```") >= start else ""
        ok = bool(query)
        for script in scripts if ok else []:
            expected = rows(script, gold, 10_000)
            try:
                found = rows(script, query, len(expected) + 1)
            except (sqlite3.Error, sqlite3.Warning, ValueError, OverflowError):
                ok = False
                break
            ok = ok and (found == expected if in_order else Counter(found) == Counter(expected))
        rewards.append(1.0 if ok else 0.0)
    return rewards


_SHOP = "CREATE TABLE sales(item TEXT, shop TEXT, qty INT);INSERT INTO sales VALUES "
_SHOP_A = _SHOP + "('tea','north',3),('tea','south',5),('milk','north',2),('rice','south',9);"
_SHOP_B = _SHOP + "('tea','north',1),('rice','north',4),('rice','south',1),('oats','south',7),('oats','north',7);"
_add(
    sql_two_databases_reward,
    [
        {
            "prompt": "sales(item, shop, qty). Items with their total qty, most sold first, ties by item. One SELECT in a ```sql fence.",
            "databases": [_SHOP_A, _SHOP_B],
            "gold_sql": "SELECT item, SUM(qty) AS t FROM sales GROUP BY item ORDER BY t DESC, item",
            "ordered": True,
        },
        {
            "prompt": "sales(item, shop, qty). The item of every sale in the north shop, in any order. One SELECT in a ```sql fence.",
            "databases": [_SHOP_A, _SHOP_B],
            "gold_sql": "SELECT item FROM sales WHERE shop = 'north'",
            "ordered": False,
        },
    ],
    [
        "```sql\nSELECT item, SUM(qty) FROM sales GROUP BY item ORDER BY SUM(qty) DESC, item;\n```",
        "```sql\nSELECT s.item FROM sales AS s WHERE s.shop LIKE 'north' ORDER BY s.item\n```",
    ],
    ["```sql\nSELECT item, SUM(qty) FROM sales GROUP BY item\n```", "```sql\nSELECT DISTINCT item FROM sales\n```"],
)

# --------------------------------------------------------------------------- 8


def program_output_reward(completions, stdout, **kwargs):
    """What does the program print?

    The one <answer></answer> pair holds the whole output. Line by line it has to be
    the real output; white space at the ends of lines, one line break after <answer>
    and blank lines at the end do not matter, but leading spaces do.

    Returns: 1.0 for the exact output, 0.0 otherwise; no partial credit.
    """

    def lines_of(text):
        lines = [line.rstrip() for line in text.replace("\r\n", "\n").split("\n")]
        while lines and not lines[-1]:
            lines.pop()
        return lines

    rewards = []
    for completion, expected in zip(completions, stdout):
        found = _block(_text(completion))
        ok = found is not None and lines_of(found.replace("\r\n", "\n").removeprefix("\n")) == lines_of(expected)
        rewards.append(1.0 if ok else 0.0)
    return rewards


_add(
    program_output_reward,
    [
        {"prompt": "for i in range(3): print(' ' * i + '*')\nWhole output in one <answer></answer>.", "stdout": "*\n *\n  *\n"},
        {"prompt": "print(sorted([3, 1, 2]))\nWhole output in one <answer></answer>.", "stdout": "[1, 2, 3]\n"},
    ],
    ["<answer>\n*\n *\n  *\n</answer>", "<answer>[1, 2, 3]</answer>"],
    ["<answer>*\n*\n*</answer>", "<answer>[3, 1, 2]</answer>"],
)

# --------------------------------------------------------------------------- 9


def function_header_reward(completions, function_name, parameters, **kwargs):
    """Shape of generated Python code, without running it.

    The completion has exactly one fence, ```python, of at most 20 000 characters.
    If the code does not parse: 0.0. Otherwise 0.4 if there is a plain function of the
    asked name on the top level (the last one counts if there are several), and for
    this function 0.3 more if its parameters are exactly the asked ones in order (no
    star or keyword-only ones; defaults are free) and 0.3 if it has a docstring with
    something in it. What the body does is scored by the unit tests, not here.
    """
    rewards = []
    for completion, name, wanted in zip(completions, function_name, parameters):
        text = _text(completion).replace("\r\n", "\n")
        start = text.find("```python\n")
        code = text[start + len("```python\n"):text.rfind("```")] if start >= 0 and text.count("```") == 2 else None
        if code is None or len(code) > 20_000 or start == text.rfind("```"):
            rewards.append(0.0)
            continue
        try:
            body = ast.parse(code).body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            rewards.append(0.0)
            continue
        functions = [node for node in body if isinstance(node, ast.FunctionDef) and node.name == name]
        if not functions:
            rewards.append(0.0)
            continue
        arguments = functions[-1].args
        names = [argument.arg for argument in arguments.posonlyargs + arguments.args]
        plain = names == list(wanted) and not (arguments.kwonlyargs or arguments.vararg or arguments.kwarg)
        documented = bool((ast.get_docstring(functions[-1]) or "").strip())
        rewards.append(0.4 + 0.3 * plain + 0.3 * documented)
    return rewards


_add(
    function_header_reward,
    [
        {"prompt": "Write clamp(x, low, high) with a docstring in one ```python fence.", "function_name": "clamp", "parameters": ["x", "low", "high"]},
        {"prompt": "Write greet(name) with a docstring in one ```python fence.", "function_name": "greet", "parameters": ["name"]},
    ],
    [
        '```python\ndef clamp(x, low=0, high=1):\n    """Limit x to the range."""\n    return max(low, min(high, x))\n```',
        '```python\ndef greet(name: str) -> str:\n    """Say hello."""\n    return f"Hello {name}"\n```',
    ],
    ["```python\ndef clamp(value):\n    return value\n```", "```python\ndef hello(name):\n    return name\n```"],
)

# --------------------------------------------------------------------------- 10


def tool_call_defaults_reward(completions, tools, call, **kwargs):
    """One tool call as JSON in the one <tool_call></tool_call> pair of the completion.

    Args:
        tools: for each row the tools with their optional arguments and defaults,
            {"tool": {"argument": default}}.
        call: the gold call, {"name": ..., "arguments": {...}}, all arguments given.

    The call must be an object of just "name" and "arguments". An optional argument
    which is left out has its default. 1.0 if tool and arguments are right, 0.3 if
    only the tool is, else 0.0. Numbers are compared by value (4 and 4.0 are equal);
    true is not 1 and "4" is not 4. Keys given twice make the JSON invalid.
    """

    def same(a, b):
        if isinstance(a, dict) and isinstance(b, dict):
            return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
        if isinstance(a, list) and isinstance(b, list):
            return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b))
        return isinstance(a, bool) == isinstance(b, bool) and a == b

    rewards = []
    for completion, optional, gold in zip(completions, tools, call):
        try:
            found = json.loads(_block(_text(completion), "tool_call") or "", object_pairs_hook=_unique)
        except (ValueError, RecursionError):
            rewards.append(0.0)
            continue
        if not isinstance(found, dict) or found.keys() != {"name", "arguments"} or found["name"] != gold["name"]:
            rewards.append(0.0)
            continue
        arguments = found["arguments"]
        if not isinstance(arguments, dict):
            rewards.append(0.3)
            continue
        filled = {**optional.get(gold["name"], {}), **arguments}
        rewards.append(1.0 if same(filled, gold["arguments"]) else 0.3)
    return rewards


_TOOLS = {"search_flights": {"seats": 1, "direct": False}, "cancel": {}}
_add(
    tool_call_defaults_reward,
    [
        {
            "prompt": "Tools: search_flights(origin, to, seats=1, direct=false), cancel(id). 'A flight from Rome to Oslo for me.' One <tool_call></tool_call>.",
            "tools": _TOOLS,
            "call": {"name": "search_flights", "arguments": {"origin": "Rome", "to": "Oslo", "seats": 1, "direct": False}},
        },
        {
            "prompt": "Tools: search_flights(origin, to, seats=1, direct=false), cancel(id). 'Cancel booking 77.' (id is a number) One <tool_call></tool_call>.",
            "tools": _TOOLS,
            "call": {"name": "cancel", "arguments": {"id": 77}},
        },
    ],
    [
        '<tool_call>{"name": "search_flights", "arguments": {"origin": "Rome", "to": "Oslo"}}</tool_call>',
        'I cancel it.<tool_call>{"name": "cancel", "arguments": {"id": 77}}</tool_call>',
    ],
    [
        '<tool_call>{"name": "search_flights", "arguments": {"origin": "Oslo", "to": "Rome"}}</tool_call>',
        '<tool_call>{"name": "cancel", "arguments": {"id": 7}}</tool_call>',
    ],
)
