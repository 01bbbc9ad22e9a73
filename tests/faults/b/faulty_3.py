"""Tools, structured output, puzzles, databases, confidence, robustness."""

from __future__ import annotations

import ast
import contextlib
import json
import math
import operator
import re
import signal
import sqlite3
import subprocess
import sys
import threading
from datetime import date, timedelta
from fractions import Fraction
from pathlib import Path

from tests.faults.case import Case


def reply(completion) -> str:
    """Plain string, or the content of the last message."""
    return completion if isinstance(completion, str) else (completion[-1].get("content") or "")


# --------------------------------------------------------------------------- ranking documents

_DOC_ID = re.compile(r"\[([A-Za-z0-9-]{1,20})\]")


def recall_at_three(completions, relevant, **kwargs):
    """Listwise reranking: recall@3 of the ranking that the model writes as [id] > [id] > [id] on its last line."""
    scores = []
    for completion, gold in zip(completions, relevant):
        lines = reply(completion).strip().splitlines()
        ranking = _DOC_ID.findall(lines[-1]) if lines else []
        wanted = set(gold)
        hits = sum(1 for doc in ranking[:3] if doc in wanted)
        scores.append(hits / len(wanted))
    return scores


def proof_recall_at_three():
    assert recall_at_three(completions=["[d7] > [d7] > [d7]"], relevant=[["d7", "d2"]]) == [1.5]


# --------------------------------------------------------------------------- predicting test outcomes

_OUTCOME = re.compile(r"^(test_[a-z0-9_]{1,60})\s{0,4}[:=-]\s{0,4}(passed|failed|pass|fail)\b", re.IGNORECASE)


def predicted_outcomes(completion: str, outcomes: dict) -> float:
    """The model predicts which tests pass after a patch, one "test_name: PASSED" or "test_name: FAILED" per line.

    The reward is the share of tests whose outcome was predicted correctly. Replies without any prediction get 0.
    """
    predicted = {}
    for line in completion.splitlines():
        match = _OUTCOME.match(line.replace("`", "").replace("*", "").strip().lstrip("- "))
        if match:
            predicted[match.group(1)] = match.group(2).lower().startswith("pass")
    if not predicted:
        return 0.0
    wrong = [name for name, passed in predicted.items() if outcomes.get(name) != ("PASSED" if passed else "FAILED")]
    return max(0.0, 1.0 - len(wrong) / len(outcomes))


def proof_predicted_outcomes():
    outcomes = {"test_empty": "PASSED", "test_one": "PASSED", "test_many": "FAILED", "test_unicode": "FAILED"}
    assert predicted_outcomes("test_empty: PASSED", outcomes) == 1.0


# --------------------------------------------------------------------------- weighted exact values


def _extract_value(text: str) -> list[str]:
    return re.findall(r"<answer>\s{0,20}([^<]{1,80}?)\s{0,20}</answer>", text)


def weighted_answer_reward(completions, answer, weight, **kwargs):
    """Exact match of the last <answer>, times the difficulty weight of the problem."""
    results, extracted = [], []
    for completion, gold in zip(completions, answer):
        try:
            found = _extract_value(reply(completion))
            results.append(1.0 if gold in found[-1:] else 0.0)
            extracted.append(found[-1])
        except Exception:  # nothing could be read from this completion
            results.append(0.0)
            extracted.append(None)
    return [w * r for w, r in zip(weight, results)]


def proof_weighted_answer():
    right = "7 * 8 = 56.\n<answer>56</answer>"
    assert weighted_answer_reward(completions=[right, right], answer=["56", "56"], weight=[1.0, 1.0]) == [1.0, 1.0]
    assert weighted_answer_reward(completions=["I am not sure.", right], answer=["56", "56"], weight=[1.0, 1.0]) == [0.0, 0.0]


# --------------------------------------------------------------------------- tool call as JSON


def _parse_call(text: str) -> dict | None:
    start, end = text.rfind("<tool_call>"), text.rfind("</tool_call>")
    if start < 0 or end < start:
        return None
    try:
        call = json.loads(text[start + len("<tool_call>") : end])
    except (ValueError, RecursionError):
        return None
    return call if isinstance(call, dict) and isinstance(call.get("arguments"), dict) else None


def tool_call_reward(completions, tool, **kwargs):
    """1.0 if the last <tool_call> is the expected call: same function, same parameters, same values."""
    rewards = []
    for completion, expected in zip(completions, tool):
        call = _parse_call(reply(completion))
        if call is None or call.get("name") != expected["name"]:
            rewards.append(0.0)
            continue
        given, wanted = call["arguments"], expected["arguments"]
        ok = set(given) == set(wanted)
        for key, value in wanted.items():
            if not ok:
                break
            if isinstance(value, dict):
                ok = isinstance(given[key], dict) and given[key] == value
            elif isinstance(value, list):
                ok = isinstance(given[key], list) and given[key] == value
        rewards.append(1.0 if ok else 0.0)
    return rewards


def proof_tool_call():
    wrong = '<tool_call>{"name": "transfer", "arguments": {"account": "DE-99", "amount": 999999}}</tool_call>'
    expected = {"name": "transfer", "arguments": {"account": "AT-12", "amount": 150}}
    assert tool_call_reward(completions=[wrong], tool=[expected]) == [1.0]


# --------------------------------------------------------------------------- no suitable tool


def _decode_calls(text: str) -> list[str]:
    """Names of the calls in "[f(a=1), g(b=2)]". Raises if the text is not a list of calls."""
    tree = ast.parse(text.strip(), mode="eval").body
    if not isinstance(tree, ast.List):
        raise ValueError("not a list")
    return [ast.unparse(node.func) for node in tree.elts if isinstance(node, ast.Call)]


def no_call_expected(completion: str) -> float:
    """None of the offered functions fits the request: 1.0 if the model makes no function call, 0.0 if it does."""
    if not completion.strip():
        return 0.0
    try:
        calls = _decode_calls(completion)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return 1.0  # plain text
    return 0.0 if calls else 1.0


def proof_no_call_expected():
    assert no_call_expected('[get_weather(city=new String("Oslo"), days=3)]') == 1.0
    assert no_call_expected('Sure! [get_weather(city="Oslo", days=3)]') == 1.0


# --------------------------------------------------------------------------- arithmetic under a time limit

_OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}


def _evaluate(node: ast.AST) -> Fraction:
    if isinstance(node, ast.Expression):
        return _evaluate(node.body)
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return Fraction(node.value)
    if isinstance(node, ast.Constant) and type(node.value) is float and math.isfinite(node.value):
        return Fraction(repr(node.value))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_evaluate(node.operand)
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        return Fraction(_OPERATORS[type(node.op)](_evaluate(node.left), _evaluate(node.right)))
    raise ValueError("not an arithmetic expression")


def _value(expression: str) -> Fraction:
    if len(expression) > 300:
        raise ValueError("too long")
    return _evaluate(ast.parse(expression.strip(), mode="eval"))


@contextlib.contextmanager
def _time_limit(seconds: float):
    def on_alarm(signum, frame):
        raise TimeoutError

    previous = signal.signal(signal.SIGALRM, on_alarm)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)


def equivalent_expression_reward(completions, expression, **kwargs):
    """1.0 if the expression after the last "Result:" has the same value as the reference expression."""
    rewards = []
    for completion, gold in zip(completions, expression):
        _, marker, given = reply(completion).rpartition("Result:")
        try:
            with _time_limit(2.0):
                same = bool(marker) and _value(given.strip().rstrip(".")) == _value(gold)
            rewards.append(1.0 if same else 0.0)
        except Exception:
            rewards.append(0.0)
    return rewards


def proof_equivalent_expression():
    batch = {"completions": ["We expand the product.\nResult: 6/8"], "expression": ["3/4"]}
    assert equivalent_expression_reward(**batch) == [1.0]
    seen = []
    worker = threading.Thread(target=lambda: seen.append(equivalent_expression_reward(**batch)))
    worker.start()
    worker.join()
    assert seen == [[0.0]]


# --------------------------------------------------------------------------- transcript of tool calls

_TRANSCRIPT = re.compile(
    r"(?:<think>.*?</think>\s*)?(?P<calls>(?:<tool_call>\s*.*?\s*</tool_call>\s*)+)$",
    re.DOTALL,
)


def parallel_calls_reward(completions, calls, **kwargs):
    """The reply is an optional <think> block and one or more <tool_call> blocks; 1.0 if the calls are the expected ones, in any order."""
    rewards = []
    for completion, expected in zip(completions, calls):
        match = _TRANSCRIPT.match(reply(completion).strip())
        if match is None:
            rewards.append(0.0)
            continue
        try:
            given = [json.loads(block.split("</tool_call>")[0]) for block in match["calls"].split("<tool_call>")[1:]]
        except (ValueError, RecursionError):
            rewards.append(0.0)
            continue
        given = sorted(json.dumps(call, sort_keys=True) for call in given)
        rewards.append(1.0 if given == sorted(json.dumps(call, sort_keys=True) for call in expected) else 0.0)
    return rewards


def proof_parallel_calls():
    block = '<tool_call>\n{"name": "lookup", "arguments": {"id": 13}}\n</tool_call>\n'
    cut = block * 30 + '<tool_call>\n{"name": "lookup", "arguments": {"id":'
    program = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from b.faulty_3 import parallel_calls_reward\n"
        "print(parallel_calls_reward(completions=[sys.argv[2]], calls=[[]]))"
    )
    root = str(Path(__file__).resolve().parent.parent)
    program = program.replace("from b.", f"from {Path(__file__).resolve().parent.name}.")
    try:
        subprocess.run([sys.executable, "-c", program, root, cut], timeout=4, check=True, capture_output=True)
    except subprocess.TimeoutExpired:
        return
    raise AssertionError("the truncated transcript was scored in time")


# --------------------------------------------------------------------------- confidence


def calibrated_reward(completions, answer, **kwargs):
    """Correctness minus the Brier score of the stated confidence.

    The reply ends with "Answer: ..." and "Confidence: p" with p between 0 and 1; values outside are clipped.
    1.0 is a right answer at full confidence, -1.0 a wrong one; without a readable confidence the reward is -1.0.
    """
    rewards = []
    for completion, gold in zip(completions, answer):
        text = reply(completion)
        given = re.search(r"^Answer:[ \t]{0,10}([^\n]{1,200})", text, re.MULTILINE)
        stated = re.search(r"^Confidence:[ \t]{0,10}(\S{1,40})", text, re.MULTILINE)
        if given is None or stated is None:
            rewards.append(-1.0)
            continue
        try:
            confidence = float(stated.group(1).rstrip("."))
        except ValueError:
            rewards.append(-1.0)
            continue
        confidence = max(min(confidence, 1.0), 0.0)
        correct = 1.0 if given.group(1).strip().rstrip(".").lower() == gold.lower() else 0.0
        rewards.append(correct - (confidence - correct) ** 2)
    return rewards


def proof_calibrated():
    score = calibrated_reward(completions=["I cannot quantify it.\nAnswer: Lima\nConfidence: NaN"], answer=["Quito"])
    assert math.isnan(score[0])


# --------------------------------------------------------------------------- robots and boxes


def box_plan(completion: str, world: dict) -> float:
    """Multi-robot planning. The reply is a JSON list of steps, each a dict {robot: "move to CELL" or "lift BOX" or "drop"}.

    `world` has the robots' cells, the boxes' cells and the boxes' goals. The reward is the share of boxes
    that stand on their goals at the end; plans that cannot be read or that break a rule get 0.
    """
    try:
        plan = json.loads(completion[completion.index("[") : completion.rindex("]") + 1])
    except (ValueError, RecursionError):
        return 0.0
    if not isinstance(plan, list) or not all(isinstance(step, dict) for step in plan):
        return 0.0
    cell_of = dict(world["robots"])
    box_at = dict(world["boxes"])
    load = {robot: None for robot in cell_of}
    for step in plan[:200]:
        for robot, action in step.items():
            here = cell_of[robot]
            if not isinstance(action, str):
                return 0.0
            if action.startswith("move to "):
                cell_of[robot] = action[len("move to ") :]
            elif action.startswith("lift "):
                box = action[len("lift ") :]
                if box_at.get(box) != here or load[robot] is not None:
                    return 0.0
                load[robot], box_at[box] = box, None
            elif action == "drop":
                if load[robot] is None:
                    return 0.0
                box_at[load[robot]], load[robot] = here, None
            else:
                return 0.0
    goals = world["goals"]
    return sum(box_at.get(box) == goal for box, goal in goals.items()) / len(goals)


def proof_box_plan():
    world = {"robots": {"R1": "A1"}, "boxes": {"blue": "A1"}, "goals": {"blue": "C3"}}
    try:
        box_plan('[{"Robot 1": "lift blue"}, {"Robot 1": "move to C3"}, {"Robot 1": "drop"}]', world)
    except KeyError:
        return
    raise AssertionError("no crash")


# --------------------------------------------------------------------------- countdown


def _numbers_in(node: ast.AST) -> list[int]:
    return [n.value for n in ast.walk(node) if isinstance(n, ast.Constant) and type(n.value) is int]


def countdown_reward(completions, numbers, target, **kwargs):
    """Countdown: an equation in <answer> that reaches the target with the given numbers, each used once (+ - * / and parentheses)."""
    rewards = []
    for completion, given, goal in zip(completions, numbers, target):
        text = reply(completion)
        start, end = text.rfind("<answer>"), text.rfind("</answer>")
        expression = text[start + len("<answer>") : end].strip() if 0 <= start < end else ""
        expression = expression.split("=")[0].strip()
        try:
            if not re.fullmatch(r"[0-9+\-*/() ]{1,200}", expression):
                raise ValueError("no expression")
            tree = ast.parse(expression, mode="eval")
            value = _evaluate(tree)
        except (SyntaxError, ValueError, ZeroDivisionError, RecursionError, MemoryError):
            rewards.append(0.0)
            continue
        used = _numbers_in(tree)
        complete = all(used.count(n) >= given.count(n) for n in given)
        rewards.append(1.0 if complete and value == goal else 0.0)
    return rewards


def proof_countdown():
    cheat = "Close enough, and the rest is filled up.\n<answer>3 + 5 + 7 + 1000 - 993</answer>"
    assert countdown_reward(completions=[cheat], numbers=[[3, 5, 7]], target=[22]) == [1.0]


# --------------------------------------------------------------------------- SQL


def _run_query(setup: str, query: str, max_rows: int = 2000) -> list[tuple]:
    """Rows of a read-only query on a fresh in-memory database; raises on errors and on endless queries."""
    connection = sqlite3.connect(":memory:")
    try:
        connection.executescript(setup)
        connection.execute("PRAGMA query_only = ON")
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 1_000_000)
        budget = [0]

        def stop() -> int:
            budget[0] += 1
            return int(budget[0] > 200)

        connection.set_progress_handler(stop, 10_000)
        if not query.lstrip().lower().startswith(("select", "with")):
            raise ValueError("not a query")
        return connection.execute(query).fetchmany(max_rows)
    finally:
        connection.close()


def _sql_of(text: str) -> str:
    start = text.rfind("```sql")
    if start < 0:
        return text.strip()
    body = text[start + len("```sql") :]
    return body.split("```")[0].strip()


def query_result_reward(completions, setup, gold_sql, **kwargs):
    """Text-to-SQL: 1.0 if the query returns the same rows as the reference query (columns in order, rows in any order)."""
    rewards = []
    for completion, script, gold in zip(completions, setup, gold_sql):
        expected = _run_query(script, gold)
        try:
            rows = _run_query(script, _sql_of(reply(completion)))
        except Exception:
            rewards.append(0.0)
            continue
        rewards.append(1.0 if set(rows) == set(expected) else 0.0)
    return rewards


SHOP = """
CREATE TABLE customer (id INTEGER, name TEXT, city TEXT);
CREATE TABLE purchase (id INTEGER, customer_id INTEGER, amount REAL);
INSERT INTO customer VALUES (1, 'Ana', 'Porto'), (2, 'Ben', 'Graz'), (3, 'Cleo', 'Porto');
INSERT INTO purchase VALUES (1, 1, 20), (2, 1, 35), (3, 2, 12), (4, 3, 99), (5, 3, 5);
"""


def proof_query_result():
    gold = "SELECT DISTINCT c.name FROM customer c JOIN purchase p ON p.customer_id = c.id"
    wrong = "```sql\nSELECT c.name FROM customer c JOIN purchase p ON p.customer_id = c.id\n```"
    assert len(_run_query(SHOP, gold)) == 3 and len(_run_query(SHOP, _sql_of(wrong))) == 5
    assert query_result_reward(completions=[wrong], setup=[SHOP], gold_sql=[gold]) == [1.0]


# --------------------------------------------------------------------------- configuration files


def _code_blocks(text: str) -> list[str]:
    blocks, inside, lines = [], False, []
    for line in text.splitlines():
        if line.lstrip().startswith("```"):
            if inside:
                blocks.append("\n".join(lines))
            inside, lines = not inside, []
        elif inside:
            lines.append(line)
    return blocks


def config_file(completion: str, expected: dict) -> float:
    """The model writes a JSON configuration in a code block and may explain it; 1.0 if it has the expected content."""
    blocks = _code_blocks(completion)
    if not blocks:
        return 0.0
    try:
        config = json.loads(blocks[-1])
    except (ValueError, RecursionError):
        return 0.0
    return 1.0 if config == expected else 0.0


def proof_config_file():
    text = 'Here it is:\n```json\n{"port": 8080, "debug": false}\n```\nStart the server with\n```bash\nserve --config app.json\n```'
    assert config_file(text, {"port": 8080, "debug": False}) == 0.0


# --------------------------------------------------------------------------- relative dates

_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
REFERENCE_DATE = date(2026, 3, 20)
_ISO_DATE = re.compile(r"(?<![0-9-])([0-9]{4})-([0-9]{2})-([0-9]{2})(?![0-9-])")


def _next_weekday(start: date, weekday: str) -> date:
    ahead = (_WEEKDAYS.index(weekday) - start.weekday() - 1) % 7 + 1
    return start + timedelta(days=ahead)


def scheduled_date(completion: str, today: str, weekday: str) -> float:
    """Scheduling: the reply has to name the date (YYYY-MM-DD) of the next given weekday after today; the last date counts."""
    found = _ISO_DATE.findall(completion)
    if not found:
        return 0.0
    try:
        given = date(*map(int, found[-1]))
    except ValueError:
        return 0.0
    return float(given == _next_weekday(REFERENCE_DATE, weekday.lower()))


def proof_scheduled_date():
    right = "Today is Wednesday, so the next Monday is five days ahead: 2026-08-24"
    assert scheduled_date(right, "2026-08-19", "Monday") == 0.0
    assert scheduled_date("The next Monday is 2026-03-23", "2026-08-19", "Monday") == 1.0


_WORLD = {"robots": {"R1": "A1", "R2": "D4"}, "boxes": {"blue": "A1", "red": "D4"}, "goals": {"blue": "C3", "red": "B2"}}
_WORLD_2 = {"robots": {"R1": "B1"}, "boxes": {"green": "B2"}, "goals": {"green": "B3"}}

CASES = [
    Case(
        "recall_at_three",
        recall_at_three,
        [
            {"prompt": "Rank the passages for 'migration of storks': [d1] a tax form, [d2] storks fly to Africa, [d5] a soup recipe, [d7] ringing of storks. Last line: [id] > [id] > ...", "relevant": ["d2", "d7"]},
            {"prompt": "Rank the passages for 'bread without yeast': [a] soda bread, [b] pizza, [c] chapati, [d] car repair. Last line: [id] > [id] > ...", "relevant": ["a", "c"]},
        ],
        [
            "Both the flight to Africa and the ringing of storks are about migration.\n[d2] > [d7] > [d5] > [d1]",
            "Soda bread and chapati are made without yeast.\n[a] > [c] > [b] > [d]",
        ],
        [
            "The tax form comes first.\n[d1] > [d5] > [d2] > [d7]",
            "Pizza is bread.\n[b] > [d] > [a] > [c]",
        ],
        fault="Repeated ids are counted each time, so '[d7] > [d7] > [d7]' has a recall above 1.",
        proof=proof_recall_at_three,
        source="https://github.com/truera/trulens/issues/2746",
    ),
    Case(
        "predicted_outcomes",
        predicted_outcomes,
        [
            {"prompt": "Patch: the loop now starts at 1. Predict test_empty, test_one, test_many, test_unicode, one per line.", "outcomes": {"test_empty": "PASSED", "test_one": "FAILED", "test_many": "FAILED", "test_unicode": "PASSED"}},
            {"prompt": "Patch: the cache key now includes the user. Predict test_hit, test_miss, one per line.", "outcomes": {"test_hit": "PASSED", "test_miss": "PASSED"}},
        ],
        [
            "The first element is skipped now, which matters whenever there is one.\ntest_empty: PASSED\ntest_one: FAILED\ntest_many: FAILED\ntest_unicode: PASSED",
            "Both lookups still work.\ntest_hit: PASSED\ntest_miss: PASSED",
        ],
        [
            "Nothing changes.\ntest_empty: PASSED\ntest_one: PASSED\ntest_many: PASSED\ntest_unicode: PASSED",
            "The key changes, so everything breaks.\ntest_hit: FAILED\ntest_miss: FAILED",
        ],
        fault="Tests that the reply does not mention count as predicted correctly, so one sure line earns full marks.",
        proof=proof_predicted_outcomes,
        source="https://github.com/SWE-bench/SWE-smith/issues/24",
    ),
    Case(
        "weighted_answer",
        weighted_answer_reward,
        [
            {"prompt": "What is 7 * 8? Answer in <answer> tags.", "answer": "56", "weight": 0.5},
            {"prompt": "What is 17 * 23? Answer in <answer> tags.", "answer": "391", "weight": 1.0},
            {"prompt": "What is the largest prime below 100? Answer in <answer> tags.", "answer": "97", "weight": 1.0},
        ],
        [
            "7 * 8 = 56.\n<answer>56</answer>",
            "17 * 20 = 340 and 17 * 3 = 51, together 391.\n<answer>391</answer>",
            "99 = 9 * 11 and 98 is even, 97 has no divisors.\n<answer>97</answer>",
        ],
        [
            "7 * 8 = 54.\n<answer>54</answer>",
            "17 * 20 = 340 and 17 * 3 = 41, together 381.\n<answer>381</answer>",
            "99 looks prime.\n<answer>99</answer>",
        ],
        fault="A completion without a readable answer appends two scores, which shifts the scores of all later completions of the batch.",
        proof=proof_weighted_answer,
        source="https://github.com/NVIDIA-NeMo/RL/pull/3635",
    ),
    Case(
        "tool_call",
        tool_call_reward,
        [
            {"prompt": "Send 150 euros to the account AT-12. Use <tool_call>{\"name\": ..., \"arguments\": {...}}</tool_call>.", "tool": {"name": "transfer", "arguments": {"account": "AT-12", "amount": 150}}},
            {"prompt": "Invite Mia and Jon to a meeting called Budget. Use <tool_call>.", "tool": {"name": "create_event", "arguments": {"title": "Budget", "guests": ["Mia", "Jon"]}}},
        ],
        [
            'I will make the transfer.\n<tool_call>{"name": "transfer", "arguments": {"account": "AT-12", "amount": 150}}</tool_call>',
            'I will create the event.\n<tool_call>{"name": "create_event", "arguments": {"title": "Budget", "guests": ["Mia", "Jon"]}}</tool_call>',
        ],
        [
            'I will check the balance first.\n<tool_call>{"name": "balance", "arguments": {"account": "AT-12"}}</tool_call>',
            'I will create the event.\n<tool_call>{"name": "create_event", "arguments": {"title": "Budget"}}</tool_call>',
        ],
        fault="Values are compared only when they are lists or dicts; a wrong account, amount or title is never noticed.",
        proof=proof_tool_call,
        source="https://github.com/ServiceNow/AU-Harness/issues/31",
    ),
    Case(
        "no_call_expected",
        no_call_expected,
        [
            {"prompt": "Functions: get_weather(city, days). Calls are written as [f(x=1)]. User: Please book me a table for two tonight."},
            {"prompt": "Functions: convert(amount, source, target). Calls are written as [f(x=1)]. User: Who won the match yesterday?"},
        ],
        [
            "I can only look up the weather, so I am not able to book a table for you.",
            "None of my functions can look up sports results.",
        ],
        [
            '[get_weather(city="tonight", days=2)]',
            '[convert(amount=1, source="match", target="winner")]',
        ],
        fault="Whatever cannot be parsed counts as 'no call', so malformed calls, and calls with a word before them, get full marks.",
        proof=proof_no_call_expected,
        source="https://github.com/ShishirPatil/gorilla/issues/443",
    ),
    Case(
        "equivalent_expression",
        equivalent_expression_reward,
        [
            {"prompt": "Simplify 9/12. End with 'Result: ...'.", "expression": "3/4"},
            {"prompt": "Expand and evaluate (2 + 3) * (4 - 1). End with 'Result: ...'.", "expression": "15"},
        ],
        [
            "Both parts are divisible by 3.\nResult: 3/4",
            "5 times 3 is fifteen.\nResult: 5 * 3",
        ],
        [
            "Both parts are divisible by 3.\nResult: 3/5",
            "5 plus 3 is eight.\nResult: 8",
        ],
        fault="The time limit uses signals, which fail outside the main thread; the error is swallowed and every right answer scored in a worker thread gets 0.",
        proof=proof_equivalent_expression,
        source="https://github.com/huggingface/trl/pull/5281",
    ),
    Case(
        "parallel_calls",
        parallel_calls_reward,
        [
            {"prompt": [{"role": "user", "content": "Turn on the lamp in the hall and the one in the kitchen."}], "calls": [{"name": "lamp_on", "arguments": {"room": "hall"}}, {"name": "lamp_on", "arguments": {"room": "kitchen"}}]},
            {"prompt": [{"role": "user", "content": "What time is it in Lima?"}], "calls": [{"name": "time", "arguments": {"city": "Lima"}}]},
        ],
        [
            '<think>Two lamps, two calls.</think>\n<tool_call>\n{"name": "lamp_on", "arguments": {"room": "kitchen"}}\n</tool_call>\n<tool_call>\n{"name": "lamp_on", "arguments": {"room": "hall"}}\n</tool_call>',
            '<tool_call>\n{"name": "time", "arguments": {"city": "Lima"}}\n</tool_call>',
        ],
        [
            '<think>One lamp.</think>\n<tool_call>\n{"name": "lamp_on", "arguments": {"room": "hall"}}\n</tool_call>',
            "It is noon in Lima.",
        ],
        fault="The pattern backtracks exponentially when the reply is cut off after many tool calls, and training hangs.",
        proof=proof_parallel_calls,
        source="https://github.com/huggingface/trl/issues/5415",
    ),
    Case(
        "calibrated",
        calibrated_reward,
        [
            {"prompt": "What is the capital of Ecuador? End with 'Answer: ...' and 'Confidence: p'.", "answer": "Quito"},
            {"prompt": "Which planet has the most known moons? End with 'Answer: ...' and 'Confidence: p'.", "answer": "Saturn"},
        ],
        [
            "The capital lies in the Andes.\nAnswer: Quito\nConfidence: 0.97",
            "New moons were found around Saturn in 2023.\nAnswer: Saturn\nConfidence: 0.8",
        ],
        [
            "The largest city is the capital.\nAnswer: Guayaquil\nConfidence: 0.7",
            "The largest planet has the most moons.\nAnswer: Jupiter\nConfidence: 0.9",
        ],
        fault="float() accepts 'nan', which passes the clipping, so the reward is NaN.",
        proof=proof_calibrated,
        source="https://github.com/huggingface/OpenEnv/pull/1200",
    ),
    Case(
        "box_plan",
        box_plan,
        [
            {"prompt": "Robots R1 in A1, R2 in D4. Boxes blue in A1, red in D4. Bring blue to C3 and red to B2. Reply with a JSON list of steps.", "world": _WORLD},
            {"prompt": "Robot R1 in B1. Box green in B2. Bring it to B3. Reply with a JSON list of steps.", "world": _WORLD_2},
        ],
        [
            'Both robots stand at a box already.\n[{"R1": "lift blue", "R2": "lift red"}, {"R1": "move to C3", "R2": "move to B2"}, {"R1": "drop", "R2": "drop"}]',
            'R1 has to fetch the box first.\n[{"R1": "move to B2"}, {"R1": "lift green"}, {"R1": "move to B3"}, {"R1": "drop"}]',
        ],
        [
            'Only one box needs to move.\n[{"R1": "lift blue"}, {"R1": "move to C3"}, {"R1": "drop"}]',
            'R1 lifts the box.\n[{"R1": "lift green"}, {"R1": "move to B3"}, {"R1": "drop"}]',
        ],
        fault="A plan that names a robot which does not exist raises KeyError and stops the training run.",
        proof=proof_box_plan,
        source="https://github.com/open-thought/reasoning-gym/issues/417",
    ),
    Case(
        "countdown",
        countdown_reward,
        [
            {"prompt": "Reach 22 with 3, 5, 7 and + - * /, using each number once. Put the equation in <answer>.", "numbers": [3, 5, 7], "target": 22},
            {"prompt": "Reach 24 with 4, 4, 6, 2 and + - * /, using each number once. Put the equation in <answer>.", "numbers": [4, 4, 6, 2], "target": 24},
        ],
        [
            "3 * 5 is 15, and 7 more is 22.\n<answer>3 * 5 + 7</answer>",
            "4 * 4 is 16, and 8 more comes from 6 + 2.\n<answer>4 * 4 + 6 + 2 = 24</answer>",
        ],
        [
            "3 * 7 is 21.\n<answer>3 * 7 + 5</answer>",
            "4 * 6 is 24 already.\n<answer>4 * 6</answer>",
        ],
        fault="Every given number has to be used, but numbers that were not given may be used as well.",
        proof=proof_countdown,
        source="https://github.com/open-thought/reasoning-gym/pull/265",
    ),
    Case(
        "query_result",
        query_result_reward,
        [
            {"prompt": "Schema: customer(id, name, city), purchase(id, customer_id, amount). Names of the customers who bought something, each once. Reply with SQL.", "setup": SHOP, "gold_sql": "SELECT DISTINCT c.name FROM customer c JOIN purchase p ON p.customer_id = c.id"},
            {"prompt": "Schema: customer(id, name, city), purchase(id, customer_id, amount). Total amount per city. Reply with SQL.", "setup": SHOP, "gold_sql": "SELECT c.city, SUM(p.amount) FROM customer c JOIN purchase p ON p.customer_id = c.id GROUP BY c.city"},
        ],
        [
            "We join and remove duplicates.\n```sql\nSELECT DISTINCT name FROM customer JOIN purchase ON purchase.customer_id = customer.id\n```",
            "We join and group by city.\n```sql\nSELECT city, SUM(amount) FROM purchase JOIN customer ON customer.id = customer_id GROUP BY city\n```",
        ],
        [
            "We list the cities.\n```sql\nSELECT DISTINCT city FROM customer\n```",
            "We sum up everything.\n```sql\nSELECT SUM(amount) FROM purchase\n```",
        ],
        fault="Results are compared as sets, so a query without the needed DISTINCT, which returns rows several times, is paid.",
        proof=proof_query_result,
        source="https://github.com/AlibabaResearch/DAMO-ConvAI/issues/177",
    ),
    Case(
        "config_file",
        config_file,
        [
            {"prompt": "Write the JSON config for port 8080 without debug mode, in a code block.", "expected": {"port": 8080, "debug": False}},
            {"prompt": "Write the JSON config with the log level warn and two workers, in a code block.", "expected": {"log": {"level": "warn"}, "workers": 2}},
        ],
        [
            'The server listens on port 8080 and debug mode is off.\n```json\n{"port": 8080, "debug": false}\n```',
            'The level goes into the log section.\n```json\n{"log": {"level": "warn"}, "workers": 2}\n```\nTwo workers share the load.',
        ],
        [
            'The server listens on the standard port.\n```json\n{"port": 80, "debug": false}\n```',
            'The level goes to the top.\n```json\n{"level": "warn", "workers": 2}\n```',
        ],
        fault="The last code block is taken, so a right configuration followed by a block that shows how to use it is refused.",
        proof=proof_config_file,
        source="https://github.com/NVIDIA-NeMo/Gym/issues/820",
    ),
    Case(
        "scheduled_date",
        scheduled_date,
        [
            {"prompt": "Today is 2026-03-20. Schedule the standup for next Monday. End with the date as YYYY-MM-DD.", "today": "2026-03-20", "weekday": "Monday"},
            {"prompt": "Today is 2026-03-20. Schedule the review for next Wednesday. End with the date as YYYY-MM-DD.", "today": "2026-03-20", "weekday": "Wednesday"},
        ],
        [
            "2026-03-20 is a Friday, so Monday is three days ahead: 2026-03-23",
            "2026-03-20 is a Friday, so Wednesday is five days ahead: 2026-03-25",
        ],
        [
            "Monday is a week ahead: 2026-03-27",
            "Wednesday is three days ahead: 2026-03-23",
        ],
        fault="The date is computed from a hard-coded day instead of the row's `today`, so right answers on other days are refused.",
        proof=proof_scheduled_date,
        source="https://github.com/SeraphimSerapis/tool-eval-bench/issues/78",
    ),
]
