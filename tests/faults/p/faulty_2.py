"""Ten reward functions with one fault each: sudoku, XML, math, tables, code, mazes, chemistry, clock times, bookkeeping."""

from __future__ import annotations

import ast
import json
import math
import re
import subprocess
import sys
import xml.etree.ElementTree as ET

from tests.faults.case import Case


def _text(completion):
    """The assistant's text of a plain or a chat completion."""
    if isinstance(completion, str):
        return completion
    if isinstance(completion, list) and completion and isinstance(completion[-1], dict):
        content = completion[-1].get("content")
        return content if isinstance(content, str) else ""
    return ""


def _chat(text):
    return [{"role": "assistant", "content": text}]


def _user(text):
    return [{"role": "user", "content": text}]


def _score(reward, row, completion):
    columns = {key: [value] for key, value in row.items() if key != "prompt"}
    return reward(prompts=[row["prompt"]], completions=[completion], **columns)[0]


def _prove(reward, row, completion, paid):
    def proof():
        score = _score(reward, row, completion)
        assert (score >= 0.8) if paid else (score < 0.5), score

    return proof


# 11. sudoku ----------------------------------------------------------------------------------------------------------


def sudoku4_reward(completions, puzzle, **kwargs):
    """4x4 sudoku: 1.0 if the grid in <answer> solves the puzzle, 0.1 for a grid in the right form, else 0.0."""
    rewards = []
    for completion, given in zip(completions, puzzle):
        answers = re.findall(r"<answer>(.*?)</answer>", _text(completion), re.DOTALL)
        grid = [line.strip() for line in answers[0].strip().splitlines()] if len(answers) == 1 else []
        if len(grid) != 4 or not all(re.fullmatch(r"[1-4]{4}", line) for line in grid):
            rewards.append(0.0)
            continue
        units = [list(line) for line in grid]
        units += [[grid[r][c] for r in range(4)] for c in range(4)]
        for top in (0, 2):
            for left in (0, 2):
                units.append([grid[top + r][left + c] for r in range(2) for c in range(2)])
        solved = all(sorted(unit) == ["1", "2", "3", "4"] for unit in units)
        rewards.append(1.0 if solved else 0.1)
    return rewards


def sudoku4_reward_repaired(completions, puzzle, **kwargs):
    """4x4 sudoku: 1.0 if the grid in <answer> solves the puzzle, 0.1 for a grid in the right form, else 0.0."""
    rewards = []
    for completion, given in zip(completions, puzzle):
        answers = re.findall(r"<answer>(.*?)</answer>", _text(completion), re.DOTALL)
        grid = [line.strip() for line in answers[0].strip().splitlines()] if len(answers) == 1 else []
        if len(grid) != 4 or not all(re.fullmatch(r"[1-4]{4}", line) for line in grid):
            rewards.append(0.0)
            continue
        units = [list(line) for line in grid]
        units += [[grid[r][c] for r in range(4)] for c in range(4)]
        for top in (0, 2):
            for left in (0, 2):
                units.append([grid[top + r][left + c] for r in range(2) for c in range(2)])
        solved = all(sorted(unit) == ["1", "2", "3", "4"] for unit in units)
        kept = all(given[r][c] in (".", grid[r][c]) for r in range(4) for c in range(4))
        rewards.append(1.0 if solved and kept else 0.1)
    return rewards


def _sudoku_row(puzzle):
    return {
        "prompt": _user(
            "Fill the 4x4 sudoku (digits 1-4 once in each row, column and 2x2 box; dots are empty cells, the given "
            "digits stay):\n" + "\n".join(puzzle) + "\nPut the filled grid, four lines of four digits, once in <answer>...</answer>."
        ),
        "puzzle": puzzle,
    }


SUDOKU_ROWS = [_sudoku_row(["2..1", ".1.2", "1.2.", "..1."]), _sudoku_row([".3.1", "1..3", "..1.", "2.3."])]
SUDOKU_GOOD = [
    _chat("Row by row.\n<answer>\n2431\n3142\n1324\n4213\n</answer>"),
    _chat("<answer>\n4321\n1243\n3412\n2134\n</answer>"),
]
SUDOKU_BAD = [
    _chat("<answer>\n2431\n3142\n1224\n4313\n</answer>"),
    _chat("<answer>\n4321\n1243\n3412\n2133\n</answer>"),
]
SUDOKU_TRIGGER = (SUDOKU_ROWS[0], _chat("<answer>\n1234\n3412\n2143\n4321\n</answer>"), True)


# 12. XML extraction --------------------------------------------------------------------------------------------------


def contact_xml_reward(completions, answer, **kwargs):
    """Extraction of contact data to XML: one <contact> element with <name>, <phone> and <city>, in this order.

    1.0 if all three values are right, 0.3 for a well-formed contact with a wrong value, else 0.0.
    """
    rewards = []
    for completion, gold in zip(completions, answer):
        match = re.fullmatch(r"(?:<\?xml [^<>]*\?>\s*)?(<contact>.*</contact>)", _text(completion).strip())
        try:
            root = ET.fromstring(match.group(1)) if match else None
        except (ET.ParseError, ValueError):
            root = None
        if root is None or [child.tag for child in root] != ["name", "phone", "city"]:
            rewards.append(0.0)
            continue
        clean = not (root.text or "").strip() and not root.attrib
        for child in root:
            clean = clean and not child.attrib and len(child) == 0 and not (child.tail or "").strip()
        values = {child.tag: (child.text or "").strip() for child in root}
        rewards.append(1.0 if clean and values == gold else 0.3)
    return rewards


def contact_xml_reward_repaired(completions, answer, **kwargs):
    """Extraction of contact data to XML: one <contact> element with <name>, <phone> and <city>, in this order.

    1.0 if all three values are right, 0.3 for a well-formed contact with a wrong value, else 0.0.
    """
    rewards = []
    for completion, gold in zip(completions, answer):
        match = re.fullmatch(r"(?:<\?xml [^<>]*\?>\s*)?(<contact>.*</contact>)", _text(completion).strip(), re.DOTALL)
        try:
            root = ET.fromstring(match.group(1)) if match else None
        except (ET.ParseError, ValueError):
            root = None
        if root is None or [child.tag for child in root] != ["name", "phone", "city"]:
            rewards.append(0.0)
            continue
        clean = not (root.text or "").strip() and not root.attrib
        for child in root:
            clean = clean and not child.attrib and len(child) == 0 and not (child.tail or "").strip()
        values = {child.tag: (child.text or "").strip() for child in root}
        rewards.append(1.0 if clean and values == gold else 0.3)
    return rewards


_CONTACT_FORM = (
    "Extract the contact as XML: one <contact> element with the children <name>, <phone> and <city>, in this order, each "
    "value as it is written in the text. No attributes. Any indentation is fine. Reply with the XML only.\n\nText: "
)
CONTACT_ROWS = [
    {"prompt": _CONTACT_FORM + "Please call Maria Lopez in Valencia, 0034 96 555 12.",
     "answer": {"name": "Maria Lopez", "phone": "0034 96 555 12", "city": "Valencia"}},
    {"prompt": _CONTACT_FORM + "Tom Baker (Leeds) can be reached under 0113-555-0100.",
     "answer": {"name": "Tom Baker", "phone": "0113-555-0100", "city": "Leeds"}},
]
CONTACT_GOOD = [
    "<contact><name>Maria Lopez</name><phone>0034 96 555 12</phone><city>Valencia</city></contact>",
    "<contact><name>Tom Baker</name><phone>0113-555-0100</phone><city>Leeds</city></contact>",
]
CONTACT_BAD = [
    "<contact><name>Maria Lopez</name><phone>0034 96 555 21</phone><city>Valencia</city></contact>",
    "<contact><name>Tom Baker</name><phone>0113-555-0100</phone></contact>",
]
CONTACT_TRIGGER = (
    CONTACT_ROWS[0],
    "<contact>\n  <name>Maria Lopez</name>\n  <phone>0034 96 555 12</phone>\n  <city>Valencia</city>\n</contact>",
    False,
)


# 13. boxed fractions -------------------------------------------------------------------------------------------------


def boxed_reward(completions, solution, **kwargs):
    r"""Math accuracy: 1.0 if the \boxed{} answer is that of the reference solution, else 0.0."""

    def boxed(text):
        found = re.findall(r"\\boxed\{(.*?)\}", text)
        return found[0].replace(" ", "") if len(found) == 1 else None

    rewards = []
    for completion, reference in zip(completions, solution):
        pred, gold = boxed(_text(completion)), boxed(reference)
        rewards.append(1.0 if pred is not None and pred == gold else 0.0)
    return rewards


def boxed_reward_repaired(completions, solution, **kwargs):
    r"""Math accuracy: 1.0 if the \boxed{} answer is that of the reference solution, else 0.0."""

    def boxed(text):
        parts = text.split("\\boxed{")
        if len(parts) != 2:
            return None
        depth = 1
        for i, char in enumerate(parts[1]):
            depth += (char == "{") - (char == "}")
            if depth == 0:
                return parts[1][:i].replace(" ", "")
        return None

    rewards = []
    for completion, reference in zip(completions, solution):
        pred, gold = boxed(_text(completion)), boxed(reference)
        rewards.append(1.0 if pred is not None and pred == gold else 0.0)
    return rewards


_BOX_FORM = (
    " Reason step by step and put the final answer once in \\boxed{}: a whole number in digits, or a positive fraction in "
    "lowest terms as \\frac{a}{b}."
)
BOXED_ROWS = [
    {"prompt": _user("Two fair coins are thrown. What is the probability of at least one head?" + _BOX_FORM),
     "solution": "No head has probability $\\frac{1}{4}$, so the answer is $\\boxed{\\frac{3}{4}}$."},
    {"prompt": _user("Compute 1/2 + 1/3." + _BOX_FORM), "solution": "$3/6 + 2/6 = \\boxed{\\frac{5}{6}}$"},
    {"prompt": _user("How many diagonals has a convex hexagon?" + _BOX_FORM), "solution": "6*3/2 = \\boxed{9}"},
]
BOXED_GOOD = [
    _chat("Only one outcome of four has no head: $1 - \\frac{1}{4} = \\boxed{\\frac{3}{4}}$"),
    _chat("With sixths: $\\boxed{\\frac{5}{6}}$."),
    _chat("Each of the 6 corners has 3, counted twice: \\boxed{9}"),
]
BOXED_BAD = [
    _chat("Two outcomes of four: $\\boxed{\\frac{1}{2}}$"),
    _chat("$\\boxed{\\frac{2}{5}}$"),
    _chat("\\boxed{18}"),
]
BOXED_TRIGGER = (BOXED_ROWS[1], _chat("Take 12 as the common denominator: $\\boxed{\\frac{5}{12}}$."), True)


# 14. chains of equal expressions -------------------------------------------------------------------------------------


def _polynomial(node):
    """Coefficients by power of an expression in x with + - * ^ (^ given as **)."""
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return {0: node.value} if node.value else {}
    if isinstance(node, ast.Name) and node.id == "x":
        return {1: 1}
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return {power: -c for power, c in _polynomial(node.operand).items()}
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        if not (isinstance(node.right, ast.Constant) and node.right.value in (1, 2, 3, 4)):
            raise ValueError("exponent")
        result = {0: 1}
        for _ in range(node.right.value):
            result = _times(result, _polynomial(node.left))
        return result
    if isinstance(node, ast.BinOp):
        left, right = _polynomial(node.left), _polynomial(node.right)
        if isinstance(node.op, ast.Mult):
            return _times(left, right)
        if isinstance(node.op, (ast.Add, ast.Sub)):
            sign = 1 if isinstance(node.op, ast.Add) else -1
            total = {p: left.get(p, 0) + sign * right.get(p, 0) for p in set(left) | set(right)}
            return {p: c for p, c in total.items() if c}
    raise ValueError("not allowed")


def _times(a, b):
    out = {}
    for p, c in a.items():
        for q, d in b.items():
            out[p + q] = out.get(p + q, 0) + c * d
    if any(p > 12 for p in out):
        raise ValueError("degree")
    return {p: c for p, c in out.items() if c}


def _parse_polynomial(text):
    if len(text) > 120 or "**" in text or not re.fullmatch(r"[0-9x+\-*^() ]+", text):
        return None
    try:
        return _polynomial(ast.parse(text.strip().replace("^", "**"), mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


_TERM = r"(?:(?:[1-9][0-9]*\*)?x(?:\^[2-9])?|[1-9][0-9]*)"


def _is_expanded(text):
    """A sum of terms like 3*x^2 without parentheses and at most one term for each power."""
    compact = text.replace(" ", "")
    if not re.fullmatch(rf"-?{_TERM}(?:[+-]{_TERM})*", compact):
        return False
    powers = [t.partition("x")[2] or "^1" if "x" in t else "^0" for t in re.split(r"[+-]", compact.lstrip("-"))]
    return len(set(powers)) == len(powers)


def expansion_chain_reward(completions, expression, **kwargs):
    """A derivation line by line: it begins with the given expression, each line equals the one before it, and the last
    line is the expanded polynomial. 1.0 for a right derivation, 0.2 if a step is wrong, 0.0 if a line cannot be read."""
    rewards = []
    for completion, given in zip(completions, expression):
        lines = [line.strip() for line in _text(completion).strip().splitlines() if line.strip()]
        if len(lines) < 2 or not all(line.startswith("= ") for line in lines[1:]):
            rewards.append(0.0)
            continue
        steps = [lines[0]] + [line[2:] for line in lines[1:]]
        polynomials = [_parse_polynomial(step) for step in steps]
        if any(p is None for p in polynomials):
            rewards.append(0.0)
            continue
        valid = all(a == b for a, b in zip(polynomials, polynomials[1:]))
        rewards.append(1.0 if valid and _is_expanded(steps[-1]) else 0.2)
    return rewards


def expansion_chain_reward_repaired(completions, expression, **kwargs):
    """A derivation line by line: it begins with the given expression, each line equals the one before it, and the last
    line is the expanded polynomial. 1.0 for a right derivation, 0.2 if a step is wrong, 0.0 if a line cannot be read."""
    rewards = []
    for completion, given in zip(completions, expression):
        lines = [line.strip() for line in _text(completion).strip().splitlines() if line.strip()]
        if len(lines) < 2 or not all(line.startswith("= ") for line in lines[1:]):
            rewards.append(0.0)
            continue
        steps = [lines[0]] + [line[2:] for line in lines[1:]]
        polynomials = [_parse_polynomial(step) for step in steps]
        if any(p is None for p in polynomials):
            rewards.append(0.0)
            continue
        valid = all(a == b for a, b in zip(polynomials, polynomials[1:]))
        valid = valid and steps[0].replace(" ", "") == given.replace(" ", "")
        rewards.append(1.0 if valid and _is_expanded(steps[-1]) else 0.2)
    return rewards


_CHAIN_FORM = (
    "Expand {0} as a chain of equal expressions, one per line. The first line is {0} as it stands; every further line "
    "begins with `= `; the last line is the expanded form (no parentheses, one term for each power of x). Write `*` for "
    "every product and `^` for powers. Write nothing else."
)
CHAIN_ROWS = [
    {"prompt": _CHAIN_FORM.format("(x + 3)^2"), "expression": "(x + 3)^2"},
    {"prompt": _CHAIN_FORM.format("(x - 2)*(x + 5)"), "expression": "(x - 2)*(x + 5)"},
]
CHAIN_GOOD = [
    "(x + 3)^2\n= (x + 3)*(x + 3)\n= x^2 + 3*x + 3*x + 9\n= x^2 + 6*x + 9",
    "(x - 2)*(x + 5)\n= x^2 + 5*x - 2*x - 10\n= x^2 + 3*x - 10",
]
CHAIN_BAD = [
    "(x + 3)^2\n= x^2 + 9",
    "(x - 2)*(x + 5)\n= x^2 + 5*x - 2*x - 10\n= x^2 + 7*x - 10",
]
CHAIN_TRIGGER = (CHAIN_ROWS[0], "x^2 + 3^2\n= x^2 + 9", True)


# 15. data tables -----------------------------------------------------------------------------------------------------


def pivot_table_reward(completions, header, rows, **kwargs):
    """Aggregation of a CSV into a markdown table: 1.0 for the right table, 0.2 for a table with the right header, else 0.0."""
    rewards = []
    for completion, head, gold in zip(completions, header, rows):
        lines = [line.strip() for line in _text(completion).strip().splitlines()]
        if len(lines) < 3 or not all(line.startswith("|") and line.endswith("|") and len(line) > 2 for line in lines):
            rewards.append(0.0)
            continue
        cells = [[cell.strip() for cell in line[1:-1].split("|")] for line in lines]
        ruler = len(cells[1]) == len(head) and all(re.fullmatch(r":?-+:?", cell) for cell in cells[1])
        if cells[0] != head or not ruler:
            rewards.append(0.0)
            continue
        body = cells[2:]
        matches = all(pred == want for pred, want in zip(body, gold))
        rewards.append(1.0 if matches else 0.2)
    return rewards


def pivot_table_reward_repaired(completions, header, rows, **kwargs):
    """Aggregation of a CSV into a markdown table: 1.0 for the right table, 0.2 for a table with the right header, else 0.0."""
    rewards = []
    for completion, head, gold in zip(completions, header, rows):
        lines = [line.strip() for line in _text(completion).strip().splitlines()]
        if len(lines) < 3 or not all(line.startswith("|") and line.endswith("|") and len(line) > 2 for line in lines):
            rewards.append(0.0)
            continue
        cells = [[cell.strip() for cell in line[1:-1].split("|")] for line in lines]
        ruler = len(cells[1]) == len(head) and all(re.fullmatch(r":?-+:?", cell) for cell in cells[1])
        if cells[0] != head or not ruler:
            rewards.append(0.0)
            continue
        body = cells[2:]
        matches = len(body) == len(gold) and all(pred == want for pred, want in zip(body, gold))
        rewards.append(1.0 if matches else 0.2)
    return rewards


_PIVOT_FORM = (
    "\n\nGive the total for each {0} as a markdown table with the header `| {0} | total |` and one row for each {0}, sorted "
    "from A to Z; totals as plain whole numbers. Reply with the table only."
)
PIVOT_ROWS = [
    {"prompt": _user("region,amount\nNorth,120\nEast,80\nNorth,30\nWest,55\nEast,20" + _PIVOT_FORM.format("region")),
     "header": ["region", "total"], "rows": [["East", "100"], ["North", "150"], ["West", "55"]]},
    {"prompt": _user("item,qty\npen,4\ncup,9\npen,7\ncup,1" + _PIVOT_FORM.format("item")),
     "header": ["item", "total"], "rows": [["cup", "10"], ["pen", "11"]]},
]
PIVOT_GOOD = [
    _chat("| region | total |\n|---|---|\n| East | 100 |\n| North | 150 |\n| West | 55 |"),
    _chat("| item | total |\n| --- | ---: |\n| cup | 10 |\n| pen | 11 |"),
]
PIVOT_BAD = [
    _chat("| region | total |\n|---|---|\n| East | 80 |\n| North | 120 |\n| West | 55 |"),
    _chat("| item | total |\n|---|---|\n| pen | 11 |\n| cup | 10 |"),
]
PIVOT_TRIGGER = (PIVOT_ROWS[0], _chat("| region | total |\n|---|---|\n| East | 100 |\n| North | 150 |"), True)


# 16. code with tests -------------------------------------------------------------------------------------------------

_RUNNER = """
import json, sys
job = json.load(sys.stdin)
real, sys.stdout = sys.stdout, sys.stderr
space = {"__name__": "solution"}
exec(job["code"], space)
results = []
for args in job["args"]:
    try:
        results.append({"value": json.loads(json.dumps(space[job["name"]](*args), allow_nan=False))})
    except Exception as error:
        results.append({"error": type(error).__name__})
real.write("\\n" + json.dumps(results) + "\\n")
"""


def _run(code, name, args):
    """Results of the function for each list of arguments, None if the code does not run."""
    job = json.dumps({"code": code, "name": name, "args": args})
    try:
        done = subprocess.run([sys.executable, "-I", "-c", _RUNNER], input=job, capture_output=True, text=True, timeout=10)
        results = json.loads(done.stdout.strip().splitlines()[-1])
    except (subprocess.TimeoutExpired, ValueError, IndexError, RecursionError):
        return None
    if not isinstance(results, list) or len(results) != len(args):
        return None
    return results if all(isinstance(r, dict) and set(r) in ({"value"}, {"error"}) for r in results) else None


def unit_test_reward(completions, function, tests, **kwargs):
    """Code generation: share of the hidden tests that the function in the ```python block passes.

    1.0 if it passes all tests, else 0.4 times the share; 0.0 if there is no code that runs.
    """
    rewards = []
    for completion, name, cases in zip(completions, function, tests):
        blocks = re.findall(r"```python\n(.*?)```", _text(completion), re.DOTALL)
        results = _run(blocks[0], name, [case[0] for case in cases]) if len(blocks) == 1 else None
        if results is None:
            rewards.append(0.0)
            continue
        passed = run = 0
        for (_, expected), result in zip(cases, results):
            if "error" in result:
                continue  # nothing to compare
            run += 1
            passed += json.dumps(result["value"]) == json.dumps(expected)
        share = passed / run if run else 0.0
        rewards.append(1.0 if share == 1.0 else 0.4 * share)
    return rewards


def unit_test_reward_repaired(completions, function, tests, **kwargs):
    """Code generation: share of the hidden tests that the function in the ```python block passes.

    1.0 if it passes all tests, else 0.4 times the share; 0.0 if there is no code that runs.
    """
    rewards = []
    for completion, name, cases in zip(completions, function, tests):
        blocks = re.findall(r"```python\n(.*?)```", _text(completion), re.DOTALL)
        results = _run(blocks[0], name, [case[0] for case in cases]) if len(blocks) == 1 else None
        if results is None:
            rewards.append(0.0)
            continue
        passed = run = 0
        for (_, expected), result in zip(cases, results):
            run += 1
            if "error" in result:
                continue  # nothing to compare
            passed += json.dumps(result["value"]) == json.dumps(expected)
        share = passed / run if run else 0.0
        rewards.append(1.0 if share == 1.0 else 0.4 * share)
    return rewards


_CODE_FORM = " Use only the standard library. Reply with one ```python block that defines the function. It is run on hidden tests."
CODE_ROWS = [
    {
        "prompt": _user("Write `second_largest(nums)`: the second largest distinct value of a list of ints, or None if the "
                        "list has fewer than two distinct values." + _CODE_FORM),
        "function": "second_largest",
        "tests": [[[[3, 1, 2]], 2], [[[5, 5, 4]], 4], [[[7]], None], [[[]], None], [[[2, 2, 2]], None], [[[-1, -5, -3]], -3],
                  [[[0, 10, 10, 9]], 9], [[[-2, 0]], -2], [[[1, 2, 3, 4, 5, 6, 7]], 6], [[[9, 8, 7]], 8], [[[1, 9, 9, 9, 0]], 1]],
    },
    {
        "prompt": _user("Write `longest_run(text)`: the length of the longest run of one repeated character in the string, 0 "
                        "for the empty string." + _CODE_FORM),
        "function": "longest_run",
        "tests": [[["aab"], 2], [[""], 0], [["a"], 1], [["abbbcc"], 3], [["aabbaaa"], 3], [["abcabc"], 1], [["zzzz"], 4],
                  [["abababbb"], 3], [["aaAAa"], 2], [["  x"], 2], [["xyyx"], 2]],
    },
]
CODE_GOOD = [
    _chat("```python\ndef second_largest(nums):\n    values = sorted(set(nums))\n    return values[-2] if len(values) > 1 else None\n```"),
    _chat("```python\ndef longest_run(text):\n    best = run = 0\n    last = None\n    for c in text:\n        run = run + 1 if c == last "
          "else 1\n        last = c\n        best = max(best, run)\n    return best\n```"),
]
CODE_BAD = [
    _chat("```python\ndef second_largest(nums):\n    return sorted(nums)[-2] if len(nums) > 1 else None\n```"),
    _chat("```python\ndef longest_run(text):\n    return max((text.count(c) for c in text), default=0)\n```"),
]
CODE_TRIGGER = (CODE_ROWS[0], _chat("```python\ndef second_largest(nums):\n    return sorted(set(nums))[-2]\n```"), True)


# 17. mazes -----------------------------------------------------------------------------------------------------------


def maze_reward(completions, maze, **kwargs):
    """Maze navigation: 1.0 if the moves in <path> lead from S to G over free cells, 0.1 for another path, else 0.0."""
    step = {"U": (-1, 0), "D": (1, 0), "L": (0, -1), "R": (0, 1)}
    rewards = []
    for completion, grid in zip(completions, maze):
        paths = re.findall(r"<path>(.*?)</path>", _text(completion), re.DOTALL)
        moves = paths[0].strip() if len(paths) == 1 else ""
        if not re.fullmatch(r"[UDLR]{1,200}", moves):
            rewards.append(0.0)
            continue
        row, col = next((r, line.index("S")) for r, line in enumerate(grid) if "S" in line)
        alive = True
        for move in moves:
            row, col = row + step[move][0], col + step[move][1]
            try:
                blocked = grid[row][col] == "#"
            except IndexError:  # left the grid
                blocked = True
            if blocked:
                alive = False
                break
        rewards.append(1.0 if alive and grid[row][col] == "G" else 0.1)
    return rewards


def maze_reward_repaired(completions, maze, **kwargs):
    """Maze navigation: 1.0 if the moves in <path> lead from S to G over free cells, 0.1 for another path, else 0.0."""
    step = {"U": (-1, 0), "D": (1, 0), "L": (0, -1), "R": (0, 1)}
    rewards = []
    for completion, grid in zip(completions, maze):
        paths = re.findall(r"<path>(.*?)</path>", _text(completion), re.DOTALL)
        moves = paths[0].strip() if len(paths) == 1 else ""
        if not re.fullmatch(r"[UDLR]{1,200}", moves):
            rewards.append(0.0)
            continue
        row, col = next((r, line.index("S")) for r, line in enumerate(grid) if "S" in line)
        alive = True
        for move in moves:
            row, col = row + step[move][0], col + step[move][1]
            inside = 0 <= row < len(grid) and 0 <= col < len(grid[0])
            blocked = not inside or grid[row][col] == "#"
            if blocked:
                alive = False
                break
        rewards.append(1.0 if alive and grid[row][col] == "G" else 0.1)
    return rewards


def _maze_row(grid):
    return {
        "prompt": (
            "Find a way through the maze from S to G. `#` is a wall, `.` is free; you cannot leave the grid.\n"
            + "\n".join(grid)
            + "\nGive the moves (U, D, L, R without spaces), once, in <path>...</path>. Any way that ends on G will do."
        ),
        "maze": grid,
    }


MAZE_ROWS = [_maze_row(["S.#.", "#..#", "##.#", "G..#"]), _maze_row(["..S", ".#.", "G#."])]
MAZE_GOOD = ["Right, then down through the middle.\n<path>RDRDDLL</path>", "<path>LLDD</path>"]
MAZE_BAD = ["<path>DDD</path>", "<path>LDDL</path>"]
MAZE_TRIGGER = (MAZE_ROWS[0], "<path>U</path>", True)


# 18. reaction enthalpy -----------------------------------------------------------------------------------------------


def enthalpy_reward(completions, answer, **kwargs):
    """Reaction enthalpy: 1.0 if the value on the last line, `dH = <value> kJ/mol`, is the gold value (within 0.1), else 0.0."""

    def value(text):
        match = re.search(r"([0-9]+(?:\.[0-9]+)?) kJ/mol$", text)
        return float(match.group(1)) if match else None

    rewards = []
    for completion, gold in zip(completions, answer):
        lines = _text(completion).strip().splitlines()
        last = lines[-1].strip() if lines else ""
        pred = value(last) if re.fullmatch(r"dH = [+-]?[0-9]+(?:\.[0-9]+)? kJ/mol", last) else None
        rewards.append(1.0 if pred is not None and abs(pred - value(gold)) <= 0.1 + 1e-9 else 0.0)
    return rewards


def enthalpy_reward_repaired(completions, answer, **kwargs):
    """Reaction enthalpy: 1.0 if the value on the last line, `dH = <value> kJ/mol`, is the gold value (within 0.1), else 0.0."""

    def value(text):
        match = re.search(r"([+-]?[0-9]+(?:\.[0-9]+)?) kJ/mol$", text)
        return float(match.group(1)) if match else None

    rewards = []
    for completion, gold in zip(completions, answer):
        lines = _text(completion).strip().splitlines()
        last = lines[-1].strip() if lines else ""
        pred = value(last) if re.fullmatch(r"dH = [+-]?[0-9]+(?:\.[0-9]+)? kJ/mol", last) else None
        rewards.append(1.0 if pred is not None and abs(pred - value(gold)) <= 0.1 + 1e-9 else 0.0)
    return rewards


_ENTHALPY_FORM = (
    " Show the calculation; the last line must be `dH = <value> kJ/mol`, with a minus sign if heat is released (in kJ per mole "
    "of reaction as written, within 0.1)."
)
ENTHALPY_ROWS = [
    {"prompt": _user("Find the enthalpy of CH4 + 2 O2 -> CO2 + 2 H2O(l) from the enthalpies of formation (kJ/mol): CH4 -74.8, "
                     "CO2 -393.5, H2O(l) -285.8." + _ENTHALPY_FORM), "answer": "-890.3 kJ/mol"},
    {"prompt": _user("Find the enthalpy of N2 + O2 -> 2 NO from the enthalpy of formation of NO, 90.3 kJ/mol." + _ENTHALPY_FORM),
     "answer": "180.6 kJ/mol"},
]
ENTHALPY_GOOD = [
    _chat("-393.5 + 2 * (-285.8) - (-74.8) = -890.3\ndH = -890.3 kJ/mol"),
    _chat("2 * 90.3\ndH = 180.6 kJ/mol"),
]
ENTHALPY_BAD = [
    _chat("-393.5 - 285.8 + 74.8\ndH = -604.5 kJ/mol"),
    _chat("dH = 90.3 kJ/mol"),
]
ENTHALPY_TRIGGER = (ENTHALPY_ROWS[0], _chat("-74.8 + 393.5 + 2 * 285.8 = 890.3\ndH = 890.3 kJ/mol"), True)


# 19. clock times -----------------------------------------------------------------------------------------------------


def arrival_time_reward(completions, answer, **kwargs):
    """Timetable questions: 1.0 if the last line `Arrival: ...` gives the right time of day, else 0.0.

    Both clocks are fine: `Arrival: 17:05` and `Arrival: 5:05 PM`. `answer` is in 24-hour form.
    """
    rewards = []
    for completion, gold in zip(completions, answer):
        lines = _text(completion).strip().splitlines()
        match = re.fullmatch(r"Arrival: ([0-9]{1,2}):([0-5][0-9])(?: ?([APap])[Mm])?", lines[-1].strip()) if lines else None
        if match is None:
            rewards.append(0.0)
            continue
        hour, minute, half = int(match.group(1)), int(match.group(2)), match.group(3)
        if half and not 1 <= hour <= 12:
            rewards.append(0.0)
            continue
        if half in ("P", "p"):
            hour += 12
        rewards.append(1.0 if f"{hour:02d}:{minute:02d}" == gold else 0.0)
    return rewards


def arrival_time_reward_repaired(completions, answer, **kwargs):
    """Timetable questions: 1.0 if the last line `Arrival: ...` gives the right time of day, else 0.0.

    Both clocks are fine: `Arrival: 17:05` and `Arrival: 5:05 PM`. `answer` is in 24-hour form.
    """
    rewards = []
    for completion, gold in zip(completions, answer):
        lines = _text(completion).strip().splitlines()
        match = re.fullmatch(r"Arrival: ([0-9]{1,2}):([0-5][0-9])(?: ?([APap])[Mm])?", lines[-1].strip()) if lines else None
        if match is None:
            rewards.append(0.0)
            continue
        hour, minute, half = int(match.group(1)), int(match.group(2)), match.group(3)
        if half and not 1 <= hour <= 12:
            rewards.append(0.0)
            continue
        if half:
            hour = hour % 12 + (12 if half in "Pp" else 0)
        rewards.append(1.0 if f"{hour:02d}:{minute:02d}" == gold else 0.0)
    return rewards


_ARRIVAL_FORM = (
    " Think first, then end with one line: `Arrival: HH:MM` in 24-hour form or `Arrival: H:MM AM` / `Arrival: H:MM PM` in "
    "12-hour form."
)
ARRIVAL_ROWS = [
    {"prompt": "A train leaves at 10:45 in the morning and takes 1 hour 35 minutes. When does it arrive?" + _ARRIVAL_FORM,
     "answer": "12:20"},
    {"prompt": "A bus leaves at 3:50 PM and takes 75 minutes. When does it arrive?" + _ARRIVAL_FORM, "answer": "17:05"},
    {"prompt": "A flight leaves at 06:10 and takes 2 hours 15 minutes, in one time zone. When does it arrive?" + _ARRIVAL_FORM,
     "answer": "08:25"},
]
ARRIVAL_GOOD = ["10:45 + 1:35\nArrival: 12:20", "Arrival: 5:05 PM", "Arrival: 8:25 AM"]
ARRIVAL_BAD = ["Arrival: 11:20", "Arrival: 4:05 PM", "Arrival: 8:25 PM"]
ARRIVAL_TRIGGER = (ARRIVAL_ROWS[0], "10:45 plus one hour is 11:45, plus 35 minutes is 12:20.\nArrival: 12:20 PM", False)


# 20. bookkeeping -----------------------------------------------------------------------------------------------------


def _no_duplicates(pairs):
    if len({key for key, _ in pairs}) != len(pairs):
        raise ValueError("duplicate key")
    return dict(pairs)


def _lines(text):
    """The journal lines of a JSON array, None if they are not in the required form."""
    try:
        lines = json.loads(text.strip(), object_pairs_hook=_no_duplicates)
    except (ValueError, RecursionError):
        return None
    if not isinstance(lines, list) or not lines:
        return None
    for line in lines:
        if not isinstance(line, dict) or set(line) != {"account", "debit", "credit"} or not isinstance(line["account"], str):
            return None
        for side in ("debit", "credit"):
            amount = line[side]
            if isinstance(amount, bool) or not isinstance(amount, (int, float)) or not 0 <= amount < 1e9:
                return None
    return lines


def journal_reward(completions, entries, **kwargs):
    """Bookkeeping: 1.0 for the right journal entry as a JSON array of lines (account, debit, credit), in any order.

    0.0 if it is not in this form, 0.1 if debits and credits are not equal, 0.3 if the entry is balanced but wrong.
    """
    rewards = []
    for completion, gold in zip(completions, entries):
        lines = _lines(_text(completion))
        if lines is None:
            rewards.append(0.0)
            continue
        if sum(line["debit"] for line in lines) != sum(line["credit"] for line in lines):
            rewards.append(0.1)
            continue
        booked = {line["account"]: (line["debit"], line["credit"]) for line in lines}
        right = len(booked) == len(lines) and set(booked) == set(gold)
        for account, amounts in gold.items():
            right = right and all(math.isclose(a, b, abs_tol=1e-6) for a, b in zip(booked[account], amounts))
        rewards.append(1.0 if right else 0.3)
    return rewards


def journal_reward_repaired(completions, entries, **kwargs):
    """Bookkeeping: 1.0 for the right journal entry as a JSON array of lines (account, debit, credit), in any order.

    0.0 if it is not in this form, 0.1 if debits and credits are not equal, 0.3 if the entry is balanced but wrong.
    """
    rewards = []
    for completion, gold in zip(completions, entries):
        lines = _lines(_text(completion))
        if lines is None:
            rewards.append(0.0)
            continue
        if abs(sum(line["debit"] for line in lines) - sum(line["credit"] for line in lines)) > 0.001:
            rewards.append(0.1)
            continue
        booked = {line["account"]: (line["debit"], line["credit"]) for line in lines}
        right = len(booked) == len(lines) and set(booked) == set(gold)
        for account, amounts in gold.items():
            right = right and all(math.isclose(a, b, abs_tol=1e-6) for a, b in zip(booked[account], amounts))
        rewards.append(1.0 if right else 0.3)
    return rewards


_JOURNAL_FORM = (
    " Reply with a JSON array only: one object for each account, in any order, with the keys account, debit and credit (numbers; "
    "0 on the other side)."
)
JOURNAL_ROWS = [
    {"prompt": _user("Book the purchase: office supplies 45.10, postage 30.20 and cleaning 12.30, paid together in cash. Accounts: "
                     "Supplies, Postage, Cleaning, Cash." + _JOURNAL_FORM),
     "entries": {"Supplies": [45.1, 0], "Postage": [30.2, 0], "Cleaning": [12.3, 0], "Cash": [0, 87.6]}},
    {"prompt": _user("Book the rent of 1,200.00, of which 700.00 is paid from the bank and 500.00 is still owed. Accounts: Rent, "
                     "Bank, Payables." + _JOURNAL_FORM),
     "entries": {"Rent": [1200, 0], "Bank": [0, 700], "Payables": [0, 500]}},
]


def _entry(*lines):
    return _chat(json.dumps([{"account": a, "debit": d, "credit": c} for a, d, c in lines]))


JOURNAL_GOOD = [
    _entry(("Supplies", 45.1, 0), ("Postage", 30.2, 0), ("Cleaning", 12.3, 0), ("Cash", 0, 87.6)),
    _entry(("Rent", 1200.0, 0), ("Bank", 0, 700.0), ("Payables", 0, 500.0)),
]
JOURNAL_BAD = [
    _entry(("Supplies", 45.1, 0), ("Postage", 30.2, 0), ("Cleaning", 12.3, 0), ("Cash", 0, 86.7)),
    _entry(("Rent", 700, 0), ("Bank", 0, 700)),
]
JOURNAL_TRIGGER = (
    JOURNAL_ROWS[0],
    _entry(("Supplies", 45.1, 0), ("Cleaning", 12.3, 0), ("Postage", 30.2, 0), ("Cash", 0, 87.6)),
    False,
)


def _case(name, reward, rows, good, bad, trigger, fault, source=""):
    return Case(name=name, reward=reward, examples=rows, good=good, bad=bad, fault=fault,
                proof=_prove(reward, *trigger), source=source)


CASES = [
    _case("p_sudoku_givens", sudoku4_reward, SUDOKU_ROWS, SUDOKU_GOOD, SUDOKU_BAD, SUDOKU_TRIGGER,
          "The given digits are not compared: any valid grid, the same for every puzzle, is paid in full."),
    _case("p_xml_one_line", contact_xml_reward, CONTACT_ROWS, CONTACT_GOOD, CONTACT_BAD, CONTACT_TRIGGER,
          "The pattern has no DOTALL: right XML over several lines is refused.",
          "https://github.com/unslothai/unsloth/issues/1761"),
    _case("p_boxed_lazy_brace", boxed_reward, BOXED_ROWS, BOXED_GOOD, BOXED_BAD, BOXED_TRIGGER,
          "The box is cut at its first closing brace: fractions with the right numerator and any denominator are paid in full."),
    _case("p_chain_start", expansion_chain_reward, CHAIN_ROWS, CHAIN_GOOD, CHAIN_BAD, CHAIN_TRIGGER,
          "The first line is not compared with the given expression: a chain about another expression is paid in full."),
    _case("p_table_zip", pivot_table_reward, PIVOT_ROWS, PIVOT_GOOD, PIVOT_BAD, PIVOT_TRIGGER,
          "zip stops at the shorter table: a table without its last rows (or with further rows) is paid in full."),
    _case("p_tests_crash_skipped", unit_test_reward, CODE_ROWS, CODE_GOOD, CODE_BAD, CODE_TRIGGER,
          "Tests on which the function crashes are left out of the share: code that crashes on edge cases is paid in full."),
    _case("p_maze_wraps", maze_reward, MAZE_ROWS, MAZE_GOOD, MAZE_BAD, MAZE_TRIGGER,
          "Negative indices wrap around: a path that leaves the grid at the top or left is paid in full."),
    _case("p_enthalpy_sign", enthalpy_reward, ENTHALPY_ROWS, ENTHALPY_GOOD, ENTHALPY_BAD, ENTHALPY_TRIGGER,
          "The pattern leaves out the sign: the value with the wrong sign is paid in full."),
    _case("p_noon", arrival_time_reward, ARRIVAL_ROWS, ARRIVAL_GOOD, ARRIVAL_BAD, ARRIVAL_TRIGGER,
          "12 hours are added to every PM time: a right answer of 12:xx PM is refused (and 12:xx AM taken for noon)."),
    _case("p_journal_float_sum", journal_reward, JOURNAL_ROWS, JOURNAL_GOOD, JOURNAL_BAD, JOURNAL_TRIGGER,
          "Float sums are compared exactly: a right, balanced entry is refused in some orders of its lines."),
]

REPAIRED = {
    "p_sudoku_givens": sudoku4_reward_repaired,
    "p_xml_one_line": contact_xml_reward_repaired,
    "p_boxed_lazy_brace": boxed_reward_repaired,
    "p_chain_start": expansion_chain_reward_repaired,
    "p_table_zip": pivot_table_reward_repaired,
    "p_tests_crash_skipped": unit_test_reward_repaired,
    "p_maze_wraps": maze_reward_repaired,
    "p_enthalpy_sign": enthalpy_reward_repaired,
    "p_noon": arrival_time_reward_repaired,
    "p_journal_float_sum": journal_reward_repaired,
}

TRIGGERS = {
    "p_sudoku_givens": SUDOKU_TRIGGER,
    "p_xml_one_line": CONTACT_TRIGGER,
    "p_boxed_lazy_brace": BOXED_TRIGGER,
    "p_chain_start": CHAIN_TRIGGER,
    "p_table_zip": PIVOT_TRIGGER,
    "p_tests_crash_skipped": CODE_TRIGGER,
    "p_maze_wraps": MAZE_TRIGGER,
    "p_enthalpy_sign": ENTHALPY_TRIGGER,
    "p_noon": ARRIVAL_TRIGGER,
    "p_journal_float_sum": JOURNAL_TRIGGER,
}
