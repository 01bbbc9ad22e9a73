"""Faulty rewards 1: math answers, multiple choice, code and SQL, tool calls."""

from __future__ import annotations

import json
import math
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


def word_problem_accuracy(completions, answer, **kwargs):
    """Accuracy of word problems.

    The number in the last <answer> block is compared with the gold number.
    Counts (integer golds) must be exact; decimal golds may be off by rounding
    to two places.

    Returns:
        1.0 for a right number, 0.0 for a wrong or missing one.
    """
    rewards = []
    for completion, gold in zip(completions, answer):
        found = _answer(_text(completion))
        if found is None:
            rewards.append(0.0)
            continue
        try:
            value = float(found.replace(",", "").replace("$", "").strip())
        except ValueError:
            rewards.append(0.0)
            continue
        rewards.append(1.0 if math.isclose(value, float(gold), rel_tol=1e-2) else 0.0)
    return rewards


def repaired_word_problem_accuracy(completions, answer, **kwargs):
    """As above, with exact counts and an absolute tolerance for decimals."""
    rewards = []
    for completion, gold in zip(completions, answer):
        found = _answer(_text(completion))
        try:
            value = float((found or "").replace(",", "").replace("$", "").strip())
        except ValueError:
            rewards.append(0.0)
            continue
        gold = str(gold)
        tolerance = 0.0051 if "." in gold else 0.0
        rewards.append(1.0 if abs(value - float(gold)) <= tolerance else 0.0)
    return rewards


_add(
    word_problem_accuracy,
    repaired_word_problem_accuracy,
    [
        {"prompt": "A hall has 42 rows of 42 seats. How many seats are there? Give the exact number in <answer></answer>.", "answer": "1764"},
        {"prompt": "Three equal parts of a 40 kg sack: how heavy is each, to two places? Answer in <answer></answer>.", "answer": "13.33"},
    ],
    ["42 * 42 = 1764.\n<answer>1,764</answer>", "40 / 3\n<answer>13.33</answer>"],
    ["42 + 42 = 84\n<answer>84</answer>", "40 / 4\n<answer>10</answer>"],
    "A relative tolerance of one per cent is used for counts as well: 1760 or 1770 is paid for 1764 though the docstring asks for the exact count.",
    0,
    "I estimate about 1770.\n<answer>1770</answer>",
    1.0,
    0.0,
)

# --------------------------------------------------------------------------- 2


def boxed_rational_reward(completions, solution, **kwargs):
    r"""Compare the last \boxed{} of the completion with a rational gold.

    Accepts integers, decimals, a/b and \frac{a}{b} (also \dfrac, \tfrac); 3/4,
    0.75 and \frac{6}{8} are the same answer. 1.0 if equal, else 0.0.
    """

    def last_boxed(text):
        start = text.rfind("\\boxed{")
        if start < 0:
            return None
        depth, begin = 0, start + len("\\boxed")
        for i in range(begin, len(text)):
            if text[i] == "{":
                depth += 1
            elif text[i] == "}":
                depth -= 1
                if depth == 0:
                    return text[begin + 1:i]
        return None

    def to_fraction(latex):
        latex = latex.replace(" ", "").replace("$", "")
        match = re.search(r"\\[dt]?frac\{(\d+)\}\{(\d+)\}", latex)
        try:
            if match:
                return Fraction(int(match[1]), int(match[2]))
            return Fraction(latex)
        except (ValueError, ZeroDivisionError):
            return None

    rewards = []
    for completion, gold in zip(completions, solution):
        boxed = last_boxed(_text(completion))
        value = to_fraction(boxed) if boxed is not None else None
        rewards.append(1.0 if value is not None and value == to_fraction(gold) else 0.0)
    return rewards


def repaired_boxed_rational_reward(completions, solution, **kwargs):
    """As above, with the sign before the fraction read and nothing else beside it."""

    def last_boxed(text):
        start = text.rfind("\\boxed{")
        if start < 0:
            return None
        depth, begin = 0, start + len("\\boxed")
        for i in range(begin, len(text)):
            if text[i] == "{":
                depth += 1
            elif text[i] == "}":
                depth -= 1
                if depth == 0:
                    return text[begin + 1:i]
        return None

    def to_fraction(latex):
        latex = latex.replace(" ", "").replace("$", "")
        match = re.fullmatch(r"([+-]?)\\[dt]?frac\{(-?\d+)\}\{(-?\d+)\}", latex)
        try:
            if match:
                value = Fraction(int(match[2]), int(match[3]))
                return -value if match[1] == "-" else value
            return Fraction(latex)
        except (ValueError, ZeroDivisionError):
            return None

    rewards = []
    for completion, gold in zip(completions, solution):
        boxed = last_boxed(_text(completion))
        value = to_fraction(boxed) if boxed is not None else None
        rewards.append(1.0 if value is not None and value == to_fraction(gold) else 0.0)
    return rewards


_add(
    boxed_rational_reward,
    repaired_boxed_rational_reward,
    [
        {"prompt": "Find the slope of 3x + 4y = 8. Put the answer in \\boxed{}.", "solution": r"-\frac{3}{4}"},
        {"prompt": "What is 1/3 + 1/2? Put the answer in \\boxed{}.", "solution": r"\frac{5}{6}"},
        {"prompt": "Evaluate 7 - 12. Put the answer in \\boxed{}.", "solution": "-5"},
    ],
    [r"y = -3x/4 + 2, so the slope is \boxed{-\frac{3}{4}}.", r"\boxed{\dfrac{5}{6}}", r"\boxed{-5}"],
    [r"The slope is \boxed{-\frac{4}{3}}.", r"\boxed{\frac{2}{5}}", r"\boxed{5}"],
    "The fraction is searched in the expression and its sign is dropped, in gold and answer alike, so 3/4 is paid for -3/4.",
    0,
    r"So the slope is \boxed{\frac{3}{4}}.",
    1.0,
    0.0,
)

# --------------------------------------------------------------------------- 3


def competition_boxed_match(completions, answer, **kwargs):
    r"""Reward of 1.0 if the final boxed answer is the gold answer, else 0.0.

    The model is told to end its solution with one \boxed{answer}. Spaces and
    a trailing full stop are ignored and so are dollar signs.
    """

    def clean(s):
        return s.replace(" ", "").replace("$", "").rstrip(".")

    scores = []
    for completion, gold in zip(completions, answer):
        boxes = re.findall(r"\\boxed\{([^{}]*)\}", _text(completion))
        if not boxes:
            scores.append(0.0)
        elif any(clean(box) == clean(gold) for box in boxes):
            scores.append(1.0)
        else:
            scores.append(0.0)
    return scores


def repaired_competition_boxed_match(completions, answer, **kwargs):
    """As above, the last box only."""

    def clean(s):
        return s.replace(" ", "").replace("$", "").rstrip(".")

    scores = []
    for completion, gold in zip(completions, answer):
        _, found, tail = _text(completion).rpartition("\\boxed{")
        box, closed, _ = tail.partition("}")
        scores.append(1.0 if found and closed and clean(box) == clean(gold) else 0.0)
    return scores


_add(
    competition_boxed_match,
    repaired_competition_boxed_match,
    [
        {"prompt": "How many primes are below 30? End with one \\boxed{}.", "answer": "10"},
        {"prompt": "What is the remainder of 2^10 by 7? End with one \\boxed{}.", "answer": "2"},
    ],
    [_chat(r"2,3,5,7,11,13,17,19,23,29: \boxed{10}"), _chat(r"2^3 = 1 mod 7, so 2^10 = 2. \boxed{2}")],
    [_chat(r"I count \boxed{9}"), _chat(r"\boxed{4}")],
    "Any box counts, not the final one: a completion which boxes many guesses is paid whatever it ends with.",
    0,
    _chat(r"It may be \boxed{8} or \boxed{9} or \boxed{10} or \boxed{11}. I settle on \boxed{11}"),
    1.0,
    0.0,
)

# --------------------------------------------------------------------------- 4


def mcq_stated_letter(completions, label, **kwargs):
    """Multiple choice, options A to D.

    The model must state its choice as "answer is X" or "Answer: X" (the letter
    may stand in brackets); if it states several, the last one counts.

    Returns 1.0 for the gold letter, else 0.0.
    """
    pattern = re.compile(r"answer\s*(?:is|:)?\s*\(?([A-D])", re.IGNORECASE)
    out = []
    for completion, gold in zip(completions, label):
        stated = pattern.findall(_text(completion))
        out.append(1.0 if stated and stated[-1].upper() == gold else 0.0)
    return out


def repaired_mcq_stated_letter(completions, label, **kwargs):
    """As above, the letter must be a capital which stands alone."""
    pattern = re.compile(r"\b[Aa]nswer\s*(?:is|:)\s*\(?([A-D])(?=[).,;]|\s*$|\s*\n)")
    out = []
    for completion, gold in zip(completions, label):
        stated = pattern.findall(_text(completion))
        out.append(1.0 if stated and stated[-1] == gold else 0.0)
    return out


_add(
    mcq_stated_letter,
    repaired_mcq_stated_letter,
    [
        {"prompt": "Which gas do plants take up? A) oxygen B) nitrogen C) carbon dioxide D) helium. State 'Answer: X'.", "label": "C"},
        {"prompt": "Which planet is largest? A) Mars B) Jupiter C) Venus D) Earth. State 'Answer: X'.", "label": "B"},
    ],
    ["Photosynthesis needs CO2.\nAnswer: C", "The answer is (B)."],
    ["They breathe.\nAnswer: A", "The answer is D."],
    "The pattern has no word boundary, ignores case and does not need 'is' or ':': in 'this answer agrees' it reads A. A correct completion with a remark after it is refused, a wrong one can be paid.",
    0,
    "The answer is C. This answer agrees with what is known of photosynthesis.",
    0.0,
    1.0,
)

# --------------------------------------------------------------------------- 5


def select_all_reward(completions, correct, **kwargs):
    """Select-all-that-apply questions.

    The letters chosen are given in <answer></answer>, separated by commas.
    Full credit for exactly the right letters; partial credit for a part of them;
    wrong letters count against the choice.
    """
    rewards = []
    for completion, gold in zip(completions, correct):
        found = _answer(_text(completion))
        if not found:
            rewards.append(0.0)
            continue
        chosen = {letter.strip().upper() for letter in found.split(",") if letter.strip()}
        gold = set(gold)
        hits = len(chosen & gold)
        rewards.append(hits / len(gold))
    return rewards


def repaired_select_all_reward(completions, correct, **kwargs):
    """As above, each wrong letter takes away as much as a right one gives."""
    rewards = []
    for completion, gold in zip(completions, correct):
        found = _answer(_text(completion)) or ""
        chosen = {letter.strip().upper() for letter in found.split(",") if letter.strip()}
        gold = set(gold)
        rewards.append(max(0.0, (len(chosen & gold) - len(chosen - gold)) / len(gold)))
    return rewards


_add(
    select_all_reward,
    repaired_select_all_reward,
    [
        {"prompt": "Which are prime? A) 7 B) 9 C) 11 D) 15 E) 21. All that apply in <answer></answer>.", "correct": ["A", "C"]},
        {"prompt": "Which are mammals? A) bat B) trout C) gecko D) whale E) hen. All that apply in <answer></answer>.", "correct": ["A", "D"]},
    ],
    ["<answer>A, C</answer>", "<answer>D,A</answer>"],
    ["<answer>B, D</answer>", "<answer>B</answer>"],
    "Only recall is scored: choosing every letter is paid in full, though wrong letters should count against it.",
    0,
    "<answer>A, B, C, D, E</answer>",
    1.0,
    0.0,
)

# --------------------------------------------------------------------------- 6


def choice_or_text_reward(completions, options, gold_letter, **kwargs):
    """The final line is "Answer: ..." with the letter or the text of the option.

    Args:
        completions: of the model.
        options: a dict of letter to text for each row.
        gold_letter: the right letter.

    Returns:
        1.0 if the chosen option is the right one, else 0.0.
    """

    def choose(reply, choices):
        match = re.fullmatch(r"\(?([A-Z])\)?[.:]?", reply)
        if match:
            return match[1]
        for letter, text in choices.items():
            if text.lower() in reply.lower():
                return letter
        return None

    scores = []
    for completion, choices, gold in zip(completions, options, gold_letter):
        lines = _text(completion).strip().splitlines()
        last = lines[-1].strip() if lines else ""
        if not last.lower().startswith("answer:"):
            scores.append(0.0)
            continue
        scores.append(float(choose(last[len("answer:"):].strip(), choices) == gold))
    return scores


def repaired_choice_or_text_reward(completions, options, gold_letter, **kwargs):
    """As above, the text must be that of the option, not contain it."""

    def choose(reply, choices):
        match = re.fullmatch(r"\(?([A-Z])\)?[.:]?", reply)
        if match:
            return match[1]
        reply = reply.lower().rstrip(".").strip()
        for letter, text in choices.items():
            if text.lower() == reply:
                return letter
        return None

    scores = []
    for completion, choices, gold in zip(completions, options, gold_letter):
        lines = _text(completion).strip().splitlines()
        last = lines[-1].strip() if lines else ""
        if not last.lower().startswith("answer:"):
            scores.append(0.0)
            continue
        scores.append(float(choose(last[len("answer:"):].strip(), choices) == gold))
    return scores


_add(
    choice_or_text_reward,
    repaired_choice_or_text_reward,
    [
        {
            "prompt": "What is table salt? A) Sodium B) Sodium chloride C) Chlorine D) Potassium. Finish with 'Answer: letter or text'.",
            "options": {"A": "Sodium", "B": "Sodium chloride", "C": "Chlorine", "D": "Potassium"},
            "gold_letter": "B",
        },
        {
            "prompt": "Capital of Peru? A) Lima B) Quito C) Bogota D) La Paz. Finish with 'Answer: letter or text'.",
            "options": {"A": "Lima", "B": "Quito", "C": "Bogota", "D": "La Paz"},
            "gold_letter": "A",
        },
    ],
    ["NaCl.\nAnswer: B", "Answer: Lima"],
    ["Answer: D", "Answer: Quito"],
    "The first option whose text occurs in the reply is taken: 'Sodium chloride' is read as A (Sodium), so the right text is refused.",
    0,
    "It is NaCl.\nAnswer: Sodium chloride",
    0.0,
    1.0,
)

# --------------------------------------------------------------------------- 7


def sql_execution_reward(completions, schema, gold_sql, **kwargs):
    """Text to SQL: 1.0 if the query returns what the gold query returns, else 0.0.

    The last ```sql block is run on an in-memory database made from `schema`.
    Where the question asks for an order, the rows have to come in that order.
    """

    def run(script, query):
        connection = sqlite3.connect(":memory:")
        try:
            connection.executescript(script)
            reading = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE)
            connection.set_authorizer(lambda action, *_: sqlite3.SQLITE_OK if action in reading else sqlite3.SQLITE_DENY)
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 100_000)
            steps = iter(range(200))
            connection.set_progress_handler(lambda: 0 if next(steps, None) is not None else 1, 10_000)
            return connection.execute(query).fetchmany(10_000)
        finally:
            connection.close()

    rewards = []
    for completion, script, gold in zip(completions, schema, gold_sql):
        blocks = re.findall(r"```sql\n(.*?)```", _text(completion), re.DOTALL)
        if not blocks:
            rewards.append(0.0)
            continue
        try:
            predicted = run(script, blocks[-1].strip())
        except (sqlite3.Error, sqlite3.Warning, ValueError):
            rewards.append(0.0)
            continue
        expected = run(script, gold)
        rewards.append(1.0 if set(predicted) == set(expected) else 0.0)
    return rewards


def repaired_sql_execution_reward(completions, schema, gold_sql, **kwargs):
    """As above, with the order if the gold query sorts and duplicates always."""

    def run(script, query):
        connection = sqlite3.connect(":memory:")
        try:
            connection.executescript(script)
            reading = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE)
            connection.set_authorizer(lambda action, *_: sqlite3.SQLITE_OK if action in reading else sqlite3.SQLITE_DENY)
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 100_000)
            steps = iter(range(200))
            connection.set_progress_handler(lambda: 0 if next(steps, None) is not None else 1, 10_000)
            return connection.execute(query).fetchmany(10_000)
        finally:
            connection.close()

    rewards = []
    for completion, script, gold in zip(completions, schema, gold_sql):
        blocks = re.findall(r"```sql\n(.*?)```", _text(completion), re.DOTALL)
        if not blocks:
            rewards.append(0.0)
            continue
        try:
            predicted = run(script, blocks[-1].strip())
        except (sqlite3.Error, sqlite3.Warning, ValueError):
            rewards.append(0.0)
            continue
        expected = run(script, gold)
        same = predicted == expected if "order by" in gold.lower() else Counter(predicted) == Counter(expected)
        rewards.append(1.0 if same else 0.0)
    return rewards


_STAFF = (
    "CREATE TABLE staff(name TEXT, dept TEXT, salary INT);"
    "INSERT INTO staff VALUES ('Ana','ops',50),('Bo','ops',70),('Cy','law',60),('Di','law',90);"
)
_add(
    sql_execution_reward,
    repaired_sql_execution_reward,
    [
        {
            "prompt": "Table staff(name, dept, salary). List all names from the highest salary to the lowest. Reply with a ```sql block.",
            "schema": _STAFF,
            "gold_sql": "SELECT name FROM staff ORDER BY salary DESC",
        },
        {
            "prompt": "Table staff(name, dept, salary). Total salary of each dept (dept, total). Reply with a ```sql block.",
            "schema": _STAFF,
            "gold_sql": "SELECT dept, SUM(salary) FROM staff GROUP BY dept",
        },
    ],
    [
        "```sql\nSELECT name FROM staff ORDER BY salary DESC;\n```",
        "```sql\nSELECT dept, SUM(salary) AS total FROM staff GROUP BY dept\n```",
    ],
    ["```sql\nSELECT salary FROM staff\n```", "```sql\nSELECT dept, MAX(salary) FROM staff GROUP BY dept\n```"],
    "Results are compared as sets, so the order asked for and duplicate rows do not matter: a query without (or with the wrong) ORDER BY is paid.",
    0,
    "```sql\nSELECT name FROM staff ORDER BY salary ASC\n```",
    1.0,
    0.0,
    "https://github.com/AlibabaResearch/DAMO-ConvAI/issues/177",
)

# --------------------------------------------------------------------------- 8


def stdout_prediction_reward(completions, expected_output, **kwargs):
    """Output prediction: what does the given program print?

    The prediction is inside <answer></answer>. It must be the program's whole
    output; spaces at the ends of lines do not matter. 1.0 or 0.0.
    """
    rewards = []
    for completion, expected in zip(completions, expected_output):
        prediction = _answer(_text(completion))
        if prediction is None:
            rewards.append(0.0)
            continue
        got = [line.strip() for line in prediction.strip().split("\n")]
        want = [line.strip() for line in expected.strip().split("\n")]
        rewards.append(1.0 if all(a == b for a, b in zip(got, want)) else 0.0)
    return rewards


def repaired_stdout_prediction_reward(completions, expected_output, **kwargs):
    """As above, with the number of lines compared too."""
    rewards = []
    for completion, expected in zip(completions, expected_output):
        prediction = _answer(_text(completion))
        if prediction is None:
            rewards.append(0.0)
            continue
        got = [line.strip() for line in prediction.strip().split("\n")]
        want = [line.strip() for line in expected.strip().split("\n")]
        rewards.append(1.0 if got == want else 0.0)
    return rewards


_add(
    stdout_prediction_reward,
    repaired_stdout_prediction_reward,
    [
        {"prompt": "for i in range(4): print(i * i)\nWhat does it print? <answer></answer>", "expected_output": "0\n1\n4\n9\n"},
        {"prompt": "for w in 'a b c'.split(): print(w * 2)\nWhat does it print? <answer></answer>", "expected_output": "aa\nbb\ncc\n"},
    ],
    ["<answer>\n0\n1\n4\n9\n</answer>", "<answer>aa\nbb\ncc</answer>"],
    ["<answer>1\n4\n9\n16</answer>", "<answer>a2\nb2\nc2</answer>"],
    "zip stops at the shorter list: a prediction of the first line only (or of extra lines after the output) is paid in full.",
    0,
    "<answer>0</answer>",
    1.0,
    0.0,
)

# --------------------------------------------------------------------------- 9


def regex_synthesis_reward(completions, positives, negatives, **kwargs):
    """Regex from examples.

    The model answers with one Python regular expression in <answer></answer>
    which must match each positive string as a whole and no negative string as a
    whole. Score 1.0 if it does, else 0.0; patterns of more than 80 characters
    or which do not compile get 0.0.
    """
    out = []
    for completion, yes, no in zip(completions, positives, negatives):
        source = _answer(_text(completion))
        if not source or len(source) > 80:
            out.append(0.0)
            continue
        try:
            pattern = re.compile(source)
        except (re.error, OverflowError, RecursionError):
            out.append(0.0)
            continue
        ok = all(pattern.match(s) for s in yes) and not any(pattern.match(s) for s in no)
        out.append(1.0 if ok else 0.0)
    return out


def repaired_regex_synthesis_reward(completions, positives, negatives, **kwargs):
    """As above, with fullmatch."""
    out = []
    for completion, yes, no in zip(completions, positives, negatives):
        source = _answer(_text(completion))
        if not source or len(source) > 80:
            out.append(0.0)
            continue
        try:
            pattern = re.compile(source)
        except (re.error, OverflowError, RecursionError):
            out.append(0.0)
            continue
        ok = all(pattern.fullmatch(s) for s in yes) and not any(pattern.fullmatch(s) for s in no)
        out.append(1.0 if ok else 0.0)
    return out


_add(
    regex_synthesis_reward,
    repaired_regex_synthesis_reward,
    [
        {
            "prompt": "Write a regex which matches wholly 555-1234, 800-0000 and not abc, 12-345, x555-1234. <answer></answer>",
            "positives": ["555-1234", "800-0000"],
            "negatives": ["abc", "12-345", "x555-1234"],
        },
        {
            "prompt": "Write a regex which matches wholly #ffcc00, #0A1B2C and not ffcc00, #fff, red. <answer></answer>",
            "positives": ["#ffcc00", "#0A1B2C"],
            "negatives": ["ffcc00", "#fff", "red"],
        },
    ],
    [_chat(r"<answer>\d{3}-\d{4}</answer>"), _chat("<answer>#[0-9a-fA-F]{6}</answer>")],
    [_chat(r"<answer>\w+</answer>"), _chat(r"<answer>#\w{3}</answer>")],
    "pattern.match anchors the start only, so a regex for a mere prefix of the positives is paid (and a right one is refused where a negative begins like a positive).",
    0,
    _chat(r"<answer>\d{3}</answer>"),
    1.0,
    0.0,
)

# --------------------------------------------------------------------------- 10


def tool_call_match(completions, expected_call, **kwargs):
    """Score a single tool call written as JSON in <tool_call></tool_call>.

    The call has "name" and "arguments"; name and arguments must be those of the
    expected call. A malformed call gets 0.0, a right one 1.0, the right tool
    with wrong arguments 0.2.
    """
    rewards = []
    for completion, expected in zip(completions, expected_call):
        text = _text(completion)
        start, end = text.find("<tool_call>"), text.rfind("</tool_call>")
        if start < 0 or end < start:
            rewards.append(0.0)
            continue
        try:
            call = json.loads(text[start + len("<tool_call>"):end])
            name, arguments = call["name"], call["arguments"]
            if name != expected["name"]:
                rewards.append(0.0)
                continue
            same = all(expected["arguments"].get(key) == value for key, value in arguments.items())
            rewards.append(1.0 if same else 0.2)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            rewards.append(0.0)
    return rewards


def repaired_tool_call_match(completions, expected_call, **kwargs):
    """As above, the arguments must be the same object."""
    rewards = []
    for completion, expected in zip(completions, expected_call):
        text = _text(completion)
        start, end = text.find("<tool_call>"), text.rfind("</tool_call>")
        if start < 0 or end < start:
            rewards.append(0.0)
            continue
        try:
            call = json.loads(text[start + len("<tool_call>"):end])
            name, arguments = call["name"], call["arguments"]
            if name != expected["name"] or not isinstance(arguments, dict):
                rewards.append(0.0)
                continue
            same = json.dumps(arguments, sort_keys=True) == json.dumps(expected["arguments"], sort_keys=True)
            rewards.append(1.0 if same else 0.2)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            rewards.append(0.0)
    return rewards


_add(
    tool_call_match,
    repaired_tool_call_match,
    [
        {
            "prompt": "Book a table for 4 at Luigi's at 19:30. Tools: book_table(restaurant, people, time). Reply with a <tool_call>.",
            "expected_call": {"name": "book_table", "arguments": {"restaurant": "Luigi's", "people": 4, "time": "19:30"}},
        },
        {
            "prompt": "What is the weather in Oslo tomorrow? Tools: get_weather(city, day). Reply with a <tool_call>.",
            "expected_call": {"name": "get_weather", "arguments": {"city": "Oslo", "day": "tomorrow"}},
        },
    ],
    [
        '<tool_call>{"name": "book_table", "arguments": {"restaurant": "Luigi\'s", "people": 4, "time": "19:30"}}</tool_call>',
        '<tool_call>{"name": "get_weather", "arguments": {"day": "tomorrow", "city": "Oslo"}}</tool_call>',
    ],
    [
        '<tool_call>{"name": "book_table", "arguments": {"restaurant": "Luigi\'s", "people": 2, "time": "18:30"}}</tool_call>',
        '<tool_call>{"name": "get_time", "arguments": {"city": "Oslo"}}</tool_call>',
    ],
    "Only the arguments which the model gave are checked: a call with no arguments, or without required ones, is paid in full.",
    0,
    '<tool_call>{"name": "book_table", "arguments": {}}</tool_call>',
    1.0,
    0.2,
)
