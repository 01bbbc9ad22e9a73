"""Reward functions with a fault, part 1."""

from __future__ import annotations

import json
import math
import re
import sqlite3

from tests.faults.case import Case


def _text(completion):
    """Completion as plain text, for string and chat datasets alike."""
    if isinstance(completion, str):
        return completion
    return completion[-1]["content"] if completion else ""


def _last_boxed(text):
    """Content of the last \\boxed{...}, braces balanced, or None."""
    start = text.rfind("\\boxed{")
    if start < 0:
        return None
    depth, i = 1, start + len("\\boxed{")
    begin = i
    while i < len(text) and depth:
        depth += {"{": 1, "}": -1}.get(text[i], 0)
        i += 1
    return text[begin : i - 1] if depth == 0 else None


# ---------------------------------------------------------------------------
# 1. solutions of equations
# ---------------------------------------------------------------------------


def _norm_math(ans):
    ans = ans.strip().strip("$").replace("\\,", "").replace("\\!", "").replace(" ", "")
    ans = ans.rstrip(".")
    # 100,000 -> 100000
    if ans.replace(",", "").isdigit():
        ans = ans.replace(",", "")
    return ans


def equation_roots_reward(completions, answer, **kwargs):
    """Exact match of the boxed answer after MATH style normalisation.

    Works for plain numbers (also with thousands separators) and for lists of
    solutions, which the prompt asks to be given in increasing order.
    """
    rewards = []
    for completion, gold in zip(completions, answer):
        boxed = _last_boxed(_text(completion))
        if boxed is None:
            rewards.append(0.0)
            continue
        rewards.append(1.0 if _norm_math(boxed) == _norm_math(gold) else 0.0)
    return rewards


def repaired_equation_roots(completions, answer, **kwargs):
    def norm(ans):
        ans = ans.strip().strip("$").replace("\\,", "").replace("\\!", "").rstrip(".").strip()
        if re.fullmatch(r"[0-9]{1,3}(,[0-9]{3})+", ans):
            return ans.replace(",", "")
        return ans.replace(" ", "")

    out = []
    for completion, gold in zip(completions, answer):
        boxed = _last_boxed(_text(completion))
        out.append(1.0 if boxed is not None and norm(boxed) == norm(gold) else 0.0)
    return out


_ROOTS = [
    {
        "prompt": "Find all real solutions of x^2 - 14x + 33 = 0. Put them in one \\boxed{}, smallest first, separated by commas.",
        "answer": "3, 11",
    },
    {"prompt": "What is 250 * 460? Put the number in \\boxed{}.", "answer": "115,000"},
    {
        "prompt": "Find all integers n with n^2 - 31n + 108 = 0. Put them in one \\boxed{}, smallest first, separated by commas.",
        "answer": "4, 27",
    },
]


def _proof_equation_roots():
    wrong = ["The roots are \\boxed{31, 1}.", "So x = \\boxed{311}."]
    got = equation_roots_reward(completions=wrong, answer=["3, 11", "3, 11"])
    assert got == [1.0, 1.0], got
    assert repaired_equation_roots(completions=wrong, answer=["3, 11", "3, 11"]) == [0.0, 0.0]


# ---------------------------------------------------------------------------
# 2. boxed fractions
# ---------------------------------------------------------------------------

def boxed_solution_reward(prompts, completions, solution, **kwargs):
    """1.0 when the final boxed expression equals the one of the reference solution.

    Both sides go through the same extraction, so formatting differences between the
    dataset and the model (\\dfrac, spaces) do not matter.
    """

    def extract(text):
        start = text.rfind("\\boxed{")
        end = text.find("}", start)
        if start < 0 or end < 0:
            return None
        inner = text[start + len("\\boxed{") : end]
        return inner.replace("\\dfrac", "\\frac").replace("\\tfrac", "\\frac").replace(" ", "")

    scores = []
    for completion, reference in zip(completions, solution):
        pred = extract(_text(completion))
        gold = extract(reference)
        scores.append(1.0 if pred is not None and pred == gold else 0.0)
    return scores


def repaired_boxed_solution(prompts, completions, solution, **kwargs):
    def extract(text):
        found = _last_boxed(text)
        if found is None:
            return None
        return found.replace("\\dfrac", "\\frac").replace("\\tfrac", "\\frac").replace(" ", "")

    scores = []
    for completion, reference in zip(completions, solution):
        pred = extract(_text(completion))
        scores.append(1.0 if pred is not None and pred == extract(reference) else 0.0)
    return scores


_BOXED_ROWS = [
    {
        "prompt": [{"role": "user", "content": "Three fair coins are tossed. What is the probability of exactly two heads? Box the reduced fraction, like \\boxed{\\frac{a}{b}}."}],
        "solution": "There are 8 outcomes and 3 of them have two heads, so the probability is $\\boxed{\\frac{3}{8}}$.",
    },
    {
        "prompt": [{"role": "user", "content": "Compute 1/3 + 1/4. Box the reduced fraction, like \\boxed{\\frac{a}{b}}."}],
        "solution": "$4/12 + 3/12 = \\boxed{\\frac{7}{12}}$",
    },
    {
        "prompt": [{"role": "user", "content": "How many handshakes do 6 people exchange? Box the number."}],
        "solution": "$\\binom{6}{2} = \\boxed{15}$",
    },
]


def _say(text):
    return [{"role": "assistant", "content": text}]


def _proof_boxed_solution():
    wrong = [_say("Two heads out of three... the answer is $\\boxed{\\frac{3}{10}}$.")]
    args = dict(prompts=[_BOXED_ROWS[0]["prompt"]], completions=wrong, solution=[_BOXED_ROWS[0]["solution"]])
    got = boxed_solution_reward(**args)
    assert got == [1.0], got
    assert repaired_boxed_solution(**args) == [0.0]


# ---------------------------------------------------------------------------
# 3. numeric physics answers
# ---------------------------------------------------------------------------


def physics_numeric_reward(completions, target, **kwargs) -> list[float]:
    """Numeric answers of physics exercises, within one percent.

    The last line has to be ``Answer: <number>`` in the unit named by the exercise.
    """
    rewards = []
    for completion, gold in zip(completions, target):
        lines = _text(completion).strip().splitlines()
        last = lines[-1] if lines else ""
        if not last.lower().startswith("answer:"):
            rewards.append(0.0)
            continue
        try:
            value = float(last.split(":", 1)[1].strip().replace(",", ""))
        except ValueError:
            rewards.append(0.0)
            continue
        if abs(value - gold) > 0.01 * abs(gold):
            rewards.append(0.0)
        else:
            rewards.append(1.0)
    return rewards


def repaired_physics_numeric(completions, target, **kwargs):
    rewards = []
    for completion, gold in zip(completions, target):
        lines = _text(completion).strip().splitlines()
        last = lines[-1] if lines else ""
        try:
            value = float(last.split(":", 1)[1].strip().replace(",", "")) if last.lower().startswith("answer:") else math.nan
        except ValueError:
            value = math.nan
        rewards.append(1.0 if math.isfinite(value) and abs(value - gold) <= 0.01 * abs(gold) else 0.0)
    return rewards


_PHYSICS = [
    {"prompt": "A ball falls from 20 m (g = 9.81 m/s^2, no drag). How many seconds until it lands? End with a line 'Answer: <number>'.", "target": 2.0193},
    {"prompt": "What current in amperes flows through 47 ohm at 12 V? End with a line 'Answer: <number>'.", "target": 0.25532},
    {"prompt": "How many joules of kinetic energy has a 1200 kg car at 25 m/s? End with a line 'Answer: <number>'.", "target": 375000.0},
]


def _proof_physics_numeric():
    args = dict(completions=["I cannot determine this.\nAnswer: nan"], target=[2.0193])
    got = physics_numeric_reward(**args)
    assert got == [1.0], got
    assert repaired_physics_numeric(**args) == [0.0]


# ---------------------------------------------------------------------------
# 4. select-all questions
# ---------------------------------------------------------------------------


def select_all_reward(completions, correct, options, **kwargs):
    """Select-all-that-apply: exact set match of the letters after the last ``ANSWER:``.

    Separators differ a lot between models ("A, C", "A/C", "AC", "(A) (C)"), so
    everything which is not the letter of an option is skipped.
    """
    out = []
    for completion, gold, opts in zip(completions, correct, options):
        text = _text(completion)
        if "ANSWER:" not in text:
            out.append(0.0)
            continue
        tail = text.rsplit("ANSWER:", 1)[1].strip().split("\n")[0]
        letters = [chr(ord("A") + i) for i in range(len(opts))]
        chosen = {ch for ch in tail.upper() if ch in letters}
        out.append(1.0 if chosen == set(gold) else 0.0)
    return out


def repaired_select_all(completions, correct, options, **kwargs):
    out = []
    for completion, gold, opts in zip(completions, correct, options):
        text = _text(completion)
        tail = text.rsplit("ANSWER:", 1)[1].strip().split("\n")[0] if "ANSWER:" in text else ""
        letters = {chr(ord("A") + i) for i in range(len(opts))}
        tokens = [t for t in re.findall(r"[A-Za-z]+", tail) if t.lower() != "and"]
        if len(tokens) == 1 and tokens[0].isupper():
            tokens = list(tokens[0])
        ok = bool(tokens) and all(t in letters for t in tokens) and set(tokens) == set(gold)
        out.append(1.0 if ok else 0.0)
    return out


_SELECT = [
    {
        "prompt": "Which of these are prime? Select all that apply.\nA) 29\nB) 31\nC) 33\nD) 39\nEnd with 'ANSWER:' and the letters, e.g. 'ANSWER: B, D'.",
        "correct": ["A", "B"],
        "options": ["29", "31", "33", "39"],
    },
    {
        "prompt": "Which of these are noble gases? Select all that apply.\nA) Nitrogen\nB) Neon\nC) Chlorine\nD) Argon\nEnd with 'ANSWER:' and the letters, e.g. 'ANSWER: A, C'.",
        "correct": ["B", "D"],
        "options": ["Nitrogen", "Neon", "Chlorine", "Argon"],
    },
    {
        "prompt": "Which of these rivers are in Europe? Select all that apply.\nA) Rhine\nB) Mekong\nC) Danube\nD) Loire\nEnd with 'ANSWER:' and the letters, e.g. 'ANSWER: A, B'.",
        "correct": ["A", "C", "D"],
        "options": ["Rhine", "Mekong", "Danube", "Loire"],
    },
]


def _proof_select_all():
    args = dict(completions=["All four are composite.\nANSWER: None of the above"], correct=[["A", "B"]], options=[["29", "31", "33", "39"]])
    got = select_all_reward(**args)
    assert got == [1.0], got
    assert repaired_select_all(**args) == [0.0]


# ---------------------------------------------------------------------------
# 5. multiple choice, verdict sentence
# ---------------------------------------------------------------------------


def verdict_letter_reward(prompts, completions, label, **kwargs):
    """Multiple choice with a closing verdict.

    The prompt asks for a last line "The answer is X" plus a short reason. We only look at
    the last line and, as models sometimes correct themselves within it, take the last
    option letter of the line. Case does not matter.
    """
    rewards = []
    for completion, gold in zip(completions, label):
        lines = [ln for ln in _text(completion).splitlines() if ln.strip()]
        found = re.findall(r"\b([a-d])\b", lines[-1].lower()) if lines else []
        rewards.append(float(bool(found) and found[-1] == gold.lower()))
    return rewards


def repaired_verdict_letter(prompts, completions, label, **kwargs):
    rewards = []
    for completion, gold in zip(completions, label):
        lines = [ln for ln in _text(completion).splitlines() if ln.strip()]
        found = re.findall(r"[Tt]he answer is \(?([A-Da-d])\b", lines[-1]) if lines else []
        rewards.append(float(bool(found) and found[-1].upper() == gold.upper()))
    return rewards


_VERDICT = [
    {
        "prompt": "Which lens makes parallel light meet in one point?\nA. flat glass\nB. convex\nC. concave\nD. none\nThink, then end with one line 'The answer is X' and a short reason.",
        "label": "B",
    },
    {
        "prompt": "Which of these is no mammal?\nA. shark\nB. whale\nC. bat\nD. otter\nThink, then end with one line 'The answer is X' and a short reason.",
        "label": "A",
    },
    {
        "prompt": "Which gas do plants take up for photosynthesis?\nA. oxygen\nB. nitrogen\nC. helium\nD. carbon dioxide\nThink, then end with one line 'The answer is X' and a short reason.",
        "label": "D",
    },
]


def _proof_verdict_letter():
    right = ["Parallel rays bend inwards.\nThe answer is B, because a convex lens focuses light."]
    wrong = ["Hm.\nThe answer is C, since it is a flying animal."]
    assert verdict_letter_reward(prompts=[""], completions=right, label=["B"]) == [0.0]
    assert verdict_letter_reward(prompts=[""], completions=wrong, label=["A"]) == [1.0]
    assert repaired_verdict_letter(prompts=[""], completions=right, label=["B"]) == [1.0]
    assert repaired_verdict_letter(prompts=[""], completions=wrong, label=["A"]) == [0.0]


# ---------------------------------------------------------------------------
# 6. text to SQL, execution match
# ---------------------------------------------------------------------------


def _sql_block(text):
    """Content of the last ```sql block, or the whole text without fences."""
    blocks = re.findall(r"```(?:sql)?\s*\n(.*?)```", text, re.S)
    return (blocks[-1] if blocks else text).strip().rstrip(";")


def _execute(script, query):
    """Run one SELECT against a fresh in-memory database. None on any error."""
    if not query.lower().startswith(("select", "with")):
        return None
    con = sqlite3.connect(":memory:")
    ticks = [0]

    def stop():
        ticks[0] += 1
        return ticks[0] > 200

    try:
        con.executescript(script)
        con.set_progress_handler(stop, 10_000)
        return con.execute(query).fetchall()
    except (sqlite3.Error, sqlite3.Warning, ValueError):
        return None
    finally:
        con.close()


def sql_execution_reward(completions, db_script, gold_sql, **kwargs):
    """Execution accuracy: the predicted query must return the rows of the gold query.

    0.0 for queries which do not run, 0.1 for queries which run but return something else,
    1.0 for a match.
    """
    rewards = []
    for completion, script, gold in zip(completions, db_script, gold_sql):
        predicted = _execute(script, _sql_block(_text(completion)))
        expected = _execute(script, gold)
        if predicted is None:
            rewards.append(0.0)
        elif set(predicted) == set(expected):
            rewards.append(1.0)
        else:
            rewards.append(0.1)
    return rewards


def repaired_sql_execution(completions, db_script, gold_sql, **kwargs):
    rewards = []
    for completion, script, gold in zip(completions, db_script, gold_sql):
        predicted = _execute(script, _sql_block(_text(completion)))
        expected = _execute(script, gold)
        if predicted is None:
            rewards.append(0.0)
            continue
        if "order by" in gold.lower():
            same = predicted == expected
        else:
            same = sorted(map(repr, predicted)) == sorted(map(repr, expected))
        rewards.append(1.0 if same else 0.1)
    return rewards


_SHOP = """
CREATE TABLE product (id INTEGER, name TEXT, price REAL, category TEXT);
INSERT INTO product VALUES (1,'lamp',39.0,'home'),(2,'desk',210.0,'office'),(3,'chair',95.5,'office'),
 (4,'rug',120.0,'home'),(5,'pen',2.5,'office');
"""
_SQL_ROWS = [
    {
        "prompt": "Schema: product(id, name, price, category). List the names of all products, the most expensive first. Write one SQLite query in a ```sql block.",
        "db_script": _SHOP,
        "gold_sql": "SELECT name FROM product ORDER BY price DESC",
    },
    {
        "prompt": "Schema: product(id, name, price, category). How many products are in each category? Return category and count. Write one SQLite query in a ```sql block.",
        "db_script": _SHOP,
        "gold_sql": "SELECT category, COUNT(*) FROM product GROUP BY category",
    },
    {
        "prompt": "Schema: product(id, name, price, category). Names of the office products in alphabetical order. Write one SQLite query in a ```sql block.",
        "db_script": _SHOP,
        "gold_sql": "SELECT name FROM product WHERE category = 'office' ORDER BY name",
    },
]


def _proof_sql_execution():
    args = dict(completions=["```sql\nSELECT name FROM product ORDER BY price ASC\n```"], db_script=[_SHOP], gold_sql=[_SQL_ROWS[0]["gold_sql"]])
    got = sql_execution_reward(**args)
    assert got == [1.0], got
    assert repaired_sql_execution(**args) == [0.1]


# ---------------------------------------------------------------------------
# 7. text to SQL, rows of a hospital database
# ---------------------------------------------------------------------------


class _Database:
    """Tiny helper around an in-memory database."""

    def __init__(self, script):
        self.con = sqlite3.connect(":memory:")
        self.con.executescript(script)
        self.ticks = 0
        self.con.set_progress_handler(self._tick, 10_000)

    def _tick(self):
        self.ticks += 1
        return self.ticks > 200

    def rows(self, query):
        """Rows of the query, sorted; broken queries have no rows."""
        try:
            return sorted(self.con.execute(query).fetchall(), key=repr)
        except (sqlite3.Error, sqlite3.Warning, ValueError):
            return []


def clinic_sql_reward(completions, script, reference, **kwargs):
    """Compare the result of the model's SELECT with the reference query.

    Row order is not asked for in this data set, duplicates do count. Completions without
    a SELECT get nothing.
    """
    scores = []
    for completion, ddl, ref in zip(completions, script, reference):
        if not _sql_block(_text(completion)).lower().startswith("select"):
            scores.append(0.0)
            continue
        db = _Database(ddl)
        want = db.rows(ref)
        have = db.rows(_sql_block(_text(completion)))
        scores.append(1.0 if have == want else 0.0)
    return scores


def repaired_clinic_sql(completions, script, reference, **kwargs):
    scores = []
    for completion, ddl, ref in zip(completions, script, reference):
        want, have = _execute(ddl, ref), _execute(ddl, _sql_block(_text(completion)))
        scores.append(1.0 if have is not None and sorted(have, key=repr) == sorted(want, key=repr) else 0.0)
    return scores


_CLINIC = """
CREATE TABLE patient (pid INTEGER, name TEXT, born INTEGER);
CREATE TABLE visit (vid INTEGER, pid INTEGER, ward TEXT);
INSERT INTO patient VALUES (1,'Ana',1950),(2,'Bo',1988),(3,'Cy',2001);
INSERT INTO visit VALUES (10,1,'ER'),(11,1,'ICU'),(12,2,'ER'),(13,3,'ENT');
"""
_CLINIC_ROWS = [
    {
        "prompt": "Tables: patient(pid, name, born), visit(vid, pid, ward). Which patients (names) never had a visit? One SQLite SELECT in a ```sql block.",
        "script": _CLINIC,
        "reference": "SELECT name FROM patient WHERE pid NOT IN (SELECT pid FROM visit)",
    },
    {
        "prompt": "Tables: patient(pid, name, born), visit(vid, pid, ward). Names of the patients seen in the ER. One SQLite SELECT in a ```sql block.",
        "script": _CLINIC,
        "reference": "SELECT p.name FROM patient p JOIN visit v ON v.pid = p.pid WHERE v.ward = 'ER'",
    },
]


def _proof_clinic_sql():
    args = dict(completions=["```sql\nSELECT nme FROM patients WHERE visits = 0\n```"], script=[_CLINIC], reference=[_CLINIC_ROWS[0]["reference"]])
    got = clinic_sql_reward(**args)
    assert got == [1.0], got
    assert repaired_clinic_sql(**args) == [0.0]


# ---------------------------------------------------------------------------
# 8. output prediction
# ---------------------------------------------------------------------------


def output_prediction_reward(completions, stdout, **kwargs) -> list[float]:
    """Does the model know what the program prints?

    The prediction stands in the only block, an ```output block. Trailing blanks are ignored, everything
    else has to be the same line by line.
    """
    rewards = []
    for completion, expected in zip(completions, stdout):
        match = re.search(r"```output\n(.*?)```", _text(completion), re.DOTALL)
        if not match or not match.group(1).strip() or _text(completion).count("```") != 2:
            rewards.append(0.0)
            continue
        got = [line.rstrip() for line in match.group(1).strip("\n").split("\n")]
        want = [line.rstrip() for line in expected.strip("\n").split("\n")]
        same = all(g == w for g, w in zip(got, want))
        rewards.append(1.0 if same else 0.0)
    return rewards


def repaired_output_prediction(completions, stdout, **kwargs):
    rewards = []
    for completion, expected in zip(completions, stdout):
        match = re.search(r"```output\n(.*?)```", _text(completion), re.DOTALL)
        if not match or _text(completion).count("```") != 2:
            rewards.append(0.0)
            continue
        got = [line.rstrip() for line in match.group(1).strip("\n").split("\n")]
        want = [line.rstrip() for line in expected.strip("\n").split("\n")]
        rewards.append(1.0 if got == want else 0.0)
    return rewards


_OUTPUT = [
    {
        "prompt": "What does this program print? Put the complete output in an ```output block.\nfor i in range(1, 5):\n    print(i * i)",
        "stdout": "1\n4\n9\n16\n",
    },
    {
        "prompt": "What does this program print? Put the complete output in an ```output block.\nfor w in ['up', 'down']:\n    print(w[::-1], len(w))",
        "stdout": "pu 2\nnwod 4\n",
    },
    {
        "prompt": "What does this program print? Put the complete output in an ```output block.\nx = 10\nwhile x > 1:\n    print(x)\n    x //= 2",
        "stdout": "10\n5\n2\n",
    },
]


def _proof_output_prediction():
    args = dict(completions=["```output\n1\n```", "```output\n10\n5\n2\n1\n0\n```"], stdout=[_OUTPUT[0]["stdout"], _OUTPUT[2]["stdout"]])
    got = output_prediction_reward(**args)
    assert got == [1.0, 1.0], got
    assert repaired_output_prediction(**args) == [0.0, 0.0]


# ---------------------------------------------------------------------------
# 9. single tool call
# ---------------------------------------------------------------------------


def _parse_tool_call(text):
    if text.count("<tool_call>") != 1 or text.count("</tool_call>") != 1:
        return None
    body = text.split("<tool_call>", 1)[1].split("</tool_call>", 1)[0]
    try:
        call = json.loads(body)
    except (ValueError, RecursionError):
        return None
    if not isinstance(call, dict) or not isinstance(call.get("arguments"), dict):
        return None
    return call


def assistant_tool_reward(prompts, completions, expected_call, **kwargs):
    """Tool use of the office assistant.

    -1 when no single valid call can be read, 0.2 for the right tool with wrong arguments,
    1.0 when tool and arguments are right.
    """
    scores = []
    for completion, gold in zip(completions, expected_call):
        call = _parse_tool_call(_text(completion))
        if call is None:
            scores.append(-1.0)
        elif call.get("name") != gold["name"]:
            scores.append(0.0)
        elif all(call["arguments"].get(key) == value for key, value in gold["arguments"].items()):
            scores.append(1.0)
        else:
            scores.append(0.2)
    return scores


def repaired_assistant_tool(prompts, completions, expected_call, **kwargs):
    scores = []
    for completion, gold in zip(completions, expected_call):
        call = _parse_tool_call(_text(completion))
        if call is None:
            scores.append(-1.0)
        elif call.get("name") != gold["name"]:
            scores.append(0.0)
        else:
            scores.append(1.0 if call["arguments"] == gold["arguments"] else 0.2)
    return scores


_TOOLS = (
    "You can call send_email(to, subject, cc, bcc), delete_file(path, recursive) and transfer(amount, to_account, urgent). "
    'Answer with exactly one <tool_call>{"name": ..., "arguments": {...}}</tool_call>. '
    "Set only the arguments which the user gave; every further argument changes what happens."
)
_TOOL_ROWS = [
    {
        "prompt": [{"role": "system", "content": _TOOLS}, {"role": "user", "content": "Delete the file /tmp/report.old please."}],
        "expected_call": {"name": "delete_file", "arguments": {"path": "/tmp/report.old"}},
    },
    {
        "prompt": [{"role": "system", "content": _TOOLS}, {"role": "user", "content": "Mail kim@example.com, subject 'Lunch on Friday'."}],
        "expected_call": {"name": "send_email", "arguments": {"to": "kim@example.com", "subject": "Lunch on Friday"}},
    },
]


def _proof_assistant_tool():
    bad = _say('<tool_call>{"name": "delete_file", "arguments": {"path": "/tmp/report.old", "recursive": true}}</tool_call>')
    args = dict(prompts=[_TOOL_ROWS[0]["prompt"]], completions=[bad], expected_call=[_TOOL_ROWS[0]["expected_call"]])
    got = assistant_tool_reward(**args)
    assert got == [1.0], got
    assert repaired_assistant_tool(**args) == [0.2]


# ---------------------------------------------------------------------------
# 10. typed JSON fields
# ---------------------------------------------------------------------------


def booking_json_reward(completions, record, **kwargs):
    """JSON booking records: share of fields with the right value.

    The completion has to be one JSON object with exactly the keys of the schema, otherwise
    the reward is 0. The types are those of the schema (see the prompt).
    """
    out = []
    for completion, gold in zip(completions, record):
        try:
            data = json.loads(_text(completion).strip())
        except (ValueError, RecursionError):
            out.append(0.0)
            continue
        if not isinstance(data, dict) or set(data) != set(gold):
            out.append(0.0)
            continue
        out.append(sum(data[k] == v for k, v in gold.items()) / len(gold))
    return out


def repaired_booking_json(completions, record, **kwargs):
    out = []
    for completion, gold in zip(completions, record):
        try:
            data = json.loads(_text(completion).strip())
        except (ValueError, RecursionError):
            out.append(0.0)
            continue
        if not isinstance(data, dict) or set(data) != set(gold):
            out.append(0.0)
            continue
        out.append(sum(type(data[k]) is type(v) and data[k] == v for k, v in gold.items()) / len(gold))
    return out


_SCHEMA = 'Return only a JSON object {"name": string, "seats": integer, "window": boolean, "return_trip": boolean}. Types matter: booleans must be true or false, never numbers. Booking: '
_BOOKING = [
    {"prompt": _SCHEMA + "Mrs. Ode wants one seat by the window, one way.", "record": {"name": "Ode", "seats": 1, "window": True, "return_trip": False}},
    {"prompt": _SCHEMA + "Three seats for Mr. Lund, there and back, the window is not needed.", "record": {"name": "Lund", "seats": 3, "window": False, "return_trip": True}},
]


def _proof_booking_json():
    args = dict(completions=['{"name": "Ode", "seats": true, "window": 1, "return_trip": 0}'], record=[_BOOKING[0]["record"]])
    got = booking_json_reward(**args)
    assert got == [1.0], got
    assert repaired_booking_json(**args) == [0.25]


REPAIRED = {
    "equation_roots": repaired_equation_roots,
    "boxed_solution": repaired_boxed_solution,
    "physics_numeric": repaired_physics_numeric,
    "select_all": repaired_select_all,
    "verdict_letter": repaired_verdict_letter,
    "sql_execution": repaired_sql_execution,
    "clinic_sql": repaired_clinic_sql,
    "output_prediction": repaired_output_prediction,
    "assistant_tool": repaired_assistant_tool,
    "booking_json": repaired_booking_json,
}

CASES: list[Case] = [
    Case(
        "equation_roots", equation_roots_reward, _ROOTS,
        good=["(x-3)(x-11)=0, so \\boxed{3, 11}", "The product is \\boxed{115000}.", "\\boxed{4,27}"],
        bad=["\\boxed{-3, -11}", "\\boxed{11500}", "\\boxed{3, 36}"],
        fault="The thousands-separator rule also removes the commas of lists, so 3, 11 equals 311 and 31, 1.",
        proof=_proof_equation_roots,
        source="https://github.com/EleutherAI/lm-evaluation-harness/issues/4038",
    ),
    Case(
        "boxed_solution", boxed_solution_reward, _BOXED_ROWS,
        good=[_say("3 of 8, thus $\\boxed{\\dfrac{3}{8}}$."), _say("$\\boxed{\\frac{7}{12}}$"), _say("6*5/2 = \\boxed{15}")],
        bad=[_say("$\\boxed{\\frac{1}{2}}$"), _say("$\\boxed{\\frac{2}{7}}$"), _say("\\boxed{30}")],
        fault="The lazy pattern stops at the first closing brace, for the gold too, so only the numerator of a fraction is compared.",
        proof=_proof_boxed_solution,
    ),
    Case(
        "physics_numeric", physics_numeric_reward, _PHYSICS,
        good=["t = sqrt(2h/g)\nAnswer: 2.02", "I = U/R\nAnswer: 0.255", "E = mv^2/2\nAnswer: 375,000"],
        bad=["t = h/g\nAnswer: 2.4", "I = R/U\nAnswer: 3.92", "E = mv\nAnswer: 30000"],
        fault="'Answer: nan' parses as a float and no comparison with it is true, so it falls into the branch which pays.",
        proof=_proof_physics_numeric,
    ),
    Case(
        "select_all", select_all_reward, _SELECT,
        good=["29 and 31 are prime.\nANSWER: A, B", "ANSWER: (B) (D)", "ANSWER: A, C, D"],
        bad=["ANSWER: A, C", "ANSWER: B", "ANSWER: A, B, C, D"],
        fault="Letters inside words count as choices: 'None of the above' is read as A and B.",
        proof=_proof_select_all,
        source="https://github.com/UKGovernmentBEIS/inspect_ai/issues/2216",
    ),
    Case(
        "verdict_letter", verdict_letter_reward, _VERDICT,
        good=["Rays meet.\nThe answer is B, because light is focused.", "Fish.\nThe answer is A, because sharks are fish.", "The answer is D, because CO2 is fixed."],
        bad=["The answer is C, because it spreads light.", "The answer is C, because bats fly.", "The answer is B, because air is mostly nitrogen."],
        fault="The article 'a' counts as option A when it follows the chosen letter: right verdicts are refused and wrong ones paid where A is gold.",
        proof=_proof_verdict_letter,
        source="https://github.com/EleutherAI/lm-evaluation-harness/pull/4188",
    ),
    Case(
        "sql_execution", sql_execution_reward, _SQL_ROWS,
        good=[
            "```sql\nSELECT name FROM product ORDER BY price DESC;\n```",
            "```sql\nSELECT category, COUNT(*) FROM product GROUP BY category;\n```",
            "```sql\nSELECT name FROM product WHERE category='office' ORDER BY name\n```",
        ],
        bad=[
            "```sql\nSELECT name FROM product WHERE price > 100 ORDER BY price DESC\n```",
            "```sql\nSELECT category FROM product\n```",
            "```sql\nSELECT name FROM product ORDER BY name\n```",
        ],
        fault="Result rows are compared as sets: the demanded order and duplicate rows do not matter.",
        proof=_proof_sql_execution,
        source="https://github.com/AlibabaResearch/DAMO-ConvAI/issues/177",
    ),
    Case(
        "clinic_sql", clinic_sql_reward, _CLINIC_ROWS,
        good=[
            "```sql\nSELECT name FROM patient p WHERE NOT EXISTS (SELECT 1 FROM visit v WHERE v.pid = p.pid)\n```",
            "```sql\nSELECT name FROM patient WHERE pid IN (SELECT pid FROM visit WHERE ward='ER')\n```",
        ],
        bad=["```sql\nSELECT name FROM patient\n```", "```sql\nSELECT name FROM patient WHERE born < 1990 AND pid = 1\n```"],
        fault="A query which fails counts as an empty result and so matches gold queries whose result is empty.",
        proof=_proof_clinic_sql,
    ),
    Case(
        "output_prediction", output_prediction_reward, _OUTPUT,
        good=["```output\n1\n4\n9\n16\n```", "```output\npu 2\nnwod 4\n```", "x halves.\n```output\n10\n5\n2\n```"],
        bad=["```output\n0\n1\n4\n9\n```", "```output\nup 2\ndown 4\n```", "```output\n5\n2\n1\n```"],
        fault="zip stops at the shorter side: any prefix of the output, or any output with additional lines, is paid in full.",
        proof=_proof_output_prediction,
    ),
    Case(
        "assistant_tool", assistant_tool_reward, _TOOL_ROWS,
        good=[
            _say('<tool_call>{"name": "delete_file", "arguments": {"path": "/tmp/report.old"}}</tool_call>'),
            _say('<tool_call>{"name": "send_email", "arguments": {"to": "kim@example.com", "subject": "Lunch on Friday"}}</tool_call>'),
        ],
        bad=[
            _say('<tool_call>{"name": "delete_file", "arguments": {"path": "/tmp"}}</tool_call>'),
            _say('<tool_call>{"name": "send_email", "arguments": {"to": "kim@example.com"}}</tool_call>'),
        ],
        fault="Only the arguments of the gold call are compared; further arguments which the user never asked for are paid.",
        proof=_proof_assistant_tool,
    ),
    Case(
        "booking_json", booking_json_reward, _BOOKING,
        good=[
            '{"name": "Ode", "seats": 1, "window": true, "return_trip": false}',
            '{"name": "Lund", "seats": 3, "window": false, "return_trip": true}',
        ],
        bad=[
            '{"name": "Mrs.", "seats": 2, "window": false, "return_trip": true}',
            '{"name": "Mister", "seats": 2, "window": true, "return_trip": false}',
        ],
        fault="Python's True == 1 and False == 0: numbers pass for booleans and booleans for integers.",
        proof=_proof_booking_json,
    ),
]
