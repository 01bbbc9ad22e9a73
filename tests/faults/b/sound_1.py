"""Answer checking with explicit contracts."""

from __future__ import annotations

import json
import math
import re
import sqlite3
import string
from collections import Counter
from fractions import Fraction

from tests.faults.case import Case


def message_text(completion) -> str:
    """A plain string, or the content of the last message of a chat completion."""
    if isinstance(completion, str):
        return completion
    return (completion[-1].get("content") or "") if completion else ""


def tag_contents(text: str, tag: str) -> list[str]:
    """Contents of all <tag>...</tag> pairs, in order (linear; an opening tag without closing tag is ignored)."""
    opening, closing = f"<{tag}>", f"</{tag}>"
    found, position = [], 0
    while True:
        end = text.find(closing, position)
        if end < 0:
            return found
        start = text.rfind(opening, position, end)
        if start >= 0:
            found.append(text[start + len(opening) : end].strip())
        position = end + len(closing)


def last_line_value(text: str, label: str) -> str | None:
    """What follows `label` on the last line that begins with it; markdown stars and case are ignored."""
    for line in reversed(text.splitlines()):
        plain = line.replace("*", "").strip()
        if plain[: len(label)].lower() == label.lower():
            return plain[len(label) :].strip()
    return None


_PLAIN = re.compile(r"[+-]?(?:[0-9]{1,3}(?:,[0-9]{3}){1,8}|[0-9]{1,30})(?:\.[0-9]{1,30})?")
_RATIO = re.compile(r"([+-]?[0-9]{1,30})\s{0,3}/\s{0,3}([0-9]{1,30})")


def exact_value(text: str) -> Fraction | None:
    """Integers, decimals (with thousands separators) and a/b as exact fractions; None for everything else."""
    text = text.strip()
    if _PLAIN.fullmatch(text):
        return Fraction(text.replace(",", ""))
    ratio = _RATIO.fullmatch(text)
    if ratio and int(ratio.group(2)) != 0:
        return Fraction(int(ratio.group(1)), int(ratio.group(2)))
    return None


# --------------------------------------------------------------------------- answer tags, prompt included

_PUNCTUATION = str.maketrans("", "", string.punctuation)


def _normal_answer(text: str) -> str:
    words = text.lower().translate(_PUNCTUATION).split()
    without = [w for w in words if w not in ("a", "an", "the")]
    return " ".join(without or words)


def transcript_em(prompts, completions, golden_answers, **kwargs):
    """Exact match on the last <answer> of the whole transcript (prompt followed by completion).

    The instruction in the prompt contains an example pair of tags. Those pairs never count: a transcript
    that has no more pairs than its prompt has no answer. Any of the golden answers is fine; case,
    punctuation and articles do not matter.
    """
    rewards = []
    for prompt, completion, golds in zip(prompts, completions, golden_answers):
        shown = len(tag_contents(prompt, "answer"))
        pairs = tag_contents(prompt + "\n" + message_text(completion), "answer")
        if len(pairs) <= shown or not pairs[-1] or len(pairs[-1]) > 200:
            rewards.append(0.0)
            continue
        given = _normal_answer(pairs[-1])
        rewards.append(1.0 if given and any(given == _normal_answer(g) for g in golds) else 0.0)
    return rewards


# --------------------------------------------------------------------------- boxed mathematics

_SIMPLE_FRACTION = re.compile(r"([+-]?)\\[dt]?frac\{([+-]?[0-9]{1,30})\}\{([0-9]{1,30})\}")
_LIST_COMMA = re.compile(r",\s{1,5}(?=[0-9]{3}(?![0-9]))")  # 1, 200 are two numbers, 1,200 is one
_BARE_FRACTION = re.compile(r"\\[dt]?frac([0-9])([0-9])")
_BARE_ROOT = re.compile(r"\\sqrt([0-9])")
_VARIABLE = re.compile(r"[a-zA-Z]=")
_TEXT = re.compile(r"\\(?:text|mathrm|mathbf|textbf)\{([^{}]{0,100})\}")


def _last_box(text: str) -> str | None:
    """Content of the last \\boxed{...} or \\fbox{...} with balanced braces; None if there is none or it is cut off."""
    candidates = [(text.rfind(command), command) for command in ("\\boxed{", "\\fbox{")]
    start, command = max(candidates)
    if start < 0:
        return None
    depth, begin = 1, start + len(command)
    for index in range(begin, min(len(text), begin + 400)):
        if text[index] == "{":
            depth += 1
        elif text[index] == "}":
            depth -= 1
            if depth == 0:
                return text[begin:index]
    return None


def _tidy(expression: str) -> str:
    expression = _LIST_COMMA.sub(";", _TEXT.sub(r"\1", expression))
    expression = _BARE_ROOT.sub(r"\\sqrt{\1}", expression.replace("{,}", ","))
    expression = _BARE_FRACTION.sub(r"\\frac{\1}{\2}", expression)
    expression = _SIMPLE_FRACTION.sub(r"\1\2/\3", expression)
    for noise in ("\\left", "\\right", "\\,", "\\!", "\\;", "\\ ", "$", " ", "\n", "\t"):
        expression = expression.replace(noise, "")
    return _VARIABLE.sub("", expression.removesuffix("."), count=1) if _VARIABLE.match(expression) else expression.removesuffix(".")


def boxed_math_reward(completions, solution, **kwargs):
    """1.0 if the last box (\\boxed or \\fbox) holds the solution.

    Earlier boxes are scratch work. Numbers are compared exactly (0.5 = 1/2 = \\frac{1}{2}), everything
    else as LaTeX without spacing. A box that is not closed within 400 characters is no answer.
    """
    rewards = []
    for completion, gold in zip(completions, solution):
        box = _last_box(message_text(completion))
        if box is None:
            rewards.append(0.0)
            continue
        given, wanted = _tidy(box), _tidy(gold)
        a, b = exact_value(given), exact_value(wanted)
        same = a == b if a is not None and b is not None else given == wanted
        rewards.append(1.0 if same else 0.0)
    return rewards


# --------------------------------------------------------------------------- SQL by execution

_FUNCTIONS = frozenset(
    "count sum total avg min max group_concat abs round length lower upper trim ltrim rtrim substr substring replace "
    "coalesce ifnull nullif instr iif like row_number rank dense_rank lag lead".split()
)
_MAX_ROWS = 500


def _authorize(action, first, second, database, source):
    if action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE):
        return sqlite3.SQLITE_OK
    if action == sqlite3.SQLITE_FUNCTION and (second or "").lower() in _FUNCTIONS:
        return sqlite3.SQLITE_OK
    return sqlite3.SQLITE_DENY


def _rows(script: str, query: str) -> list[tuple]:
    connection = sqlite3.connect(":memory:")
    try:
        connection.executescript(script)
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 20_000)
        connection.set_authorizer(_authorize)
        ticks = [0]

        def out_of_time() -> bool:
            ticks[0] += 1
            return ticks[0] > 100

        connection.set_progress_handler(out_of_time, 10_000)
        rows = connection.execute(query).fetchmany(_MAX_ROWS + 1)
    finally:
        connection.close()
    if len(rows) > _MAX_ROWS:
        raise ValueError("too many rows")
    return [tuple(round(v, 6) if isinstance(v, float) else v for v in row) for row in rows]


def _sql_block(text: str) -> str:
    parts = re.split(r"```sql", text, flags=re.IGNORECASE)
    query = text if len(parts) == 1 else parts[-1].split("```")[0]
    return query.strip().rstrip(";")


def sql_execution_reward(completions, databases, gold_sql, ordered, **kwargs):
    """Text-to-SQL by execution on several databases of the same schema.

    The query (last ```sql block, or the whole reply) has to return the rows of the reference query on every
    database: with multiplicities, columns in order, and rows in order too if `ordered`. Only SELECT statements
    with common functions run; errors, time-outs and huge results get 0.
    """
    rewards = []
    for completion, scripts, gold, in_order in zip(completions, databases, gold_sql, ordered):
        query = _sql_block(message_text(completion))
        ok = True
        for script in scripts:
            expected = _rows(script, gold)
            try:
                rows = _rows(script, query)
            except Exception:  # whatever is wrong with the model's query, it is no answer
                ok = False
                break
            ok = rows == expected if in_order else Counter(rows) == Counter(expected)
            if not ok:
                break
        rewards.append(1.0 if ok else 0.0)
    return rewards


_LIBRARY = [
    "CREATE TABLE book (id INTEGER, title TEXT, year INTEGER, author TEXT);"
    "INSERT INTO book VALUES (1, 'Winter', 1999, 'Lund'), (2, 'Harbour', 2004, 'Lund'), (3, 'Salt', 2004, 'Okoye'), (4, 'Lamp', 2011, 'Petit');",
    "CREATE TABLE book (id INTEGER, title TEXT, year INTEGER, author TEXT);"
    "INSERT INTO book VALUES (7, 'Rain', 2004, 'Aziz'), (8, 'Bridge', 1988, 'Aziz'), (9, 'Rain', 2020, 'Berg'), (10, 'Moss', 2004, 'Cruz'), (11, 'Fog', 2004, 'Berg');",
]


# --------------------------------------------------------------------------- "#### 42"

_MARKED = re.compile(r"####[ \t]{0,5}\$?[ \t]{0,2}([+-]?(?:[0-9]{1,3}(?:,[0-9]{3}){1,8}|[0-9]{1,30})(?:\.[0-9]{1,30})?)[ \t]{0,5}\.?")


def marked_number(completion: str, answer: str) -> float:
    """The final answer stands on a line of its own as "#### <number>".

    The last line that begins with #### counts, wherever it is; it may carry a $ sign, thousands separators
    and a full stop, and nothing else. The sign matters.
    """
    for line in reversed(completion.splitlines()):
        line = line.strip()
        if line.startswith("####"):
            match = _MARKED.fullmatch(line)
            return 1.0 if match and exact_value(match.group(1)) == exact_value(answer) else 0.0
    return 0.0


# --------------------------------------------------------------------------- measured values

_FLOAT = re.compile(
    r"([+-]?(?:[0-9]{1,3}(?:,[0-9]{3}){1,8}|[0-9]{1,30})(?:\.[0-9]{1,30})?)"
    r"(?:[eE]([+-]?[0-9]{1,3})|[ \t]{0,2}(?:x|×|\*|\\times|\\cdot)[ \t]{0,2}10[ \t]{0,2}\^[ \t]{0,2}\{?([+-]?[0-9]{1,3})\}?)?[ \t]{0,3}(\S{0,20})"
)


def measured_value(completion: str, answer: float, unit: str) -> float:
    """Numerical answers within half a percent, read from the last line that starts with "Answer:".

    The line holds one number (1e-19 and 1 x 10^-19 are fine), optionally followed by the unit of the problem, and
    nothing else. A reference of zero has to be met up to 1e-9.
    """
    given = last_line_value(completion, "Answer:")
    match = _FLOAT.fullmatch(given.replace("$", "")) if given is not None else None
    if match is None or match.group(4) not in ("", ".", unit, unit + "."):
        return 0.0
    value = float(match.group(1).replace(",", "") + "e" + (match.group(2) or match.group(3) or "0"))
    if not math.isfinite(value):
        return 0.0
    tolerance = 0.005 * abs(answer) if answer != 0 else 1e-9
    return 1.0 if abs(value - answer) <= tolerance else 0.0


# --------------------------------------------------------------------------- percentages

_PERCENT = re.compile(r"([+-]?[0-9]{1,9}(?:\.[0-9]{1,9})?)[ \t]{0,3}(?:%|\\%|percent|per cent)\.?", re.IGNORECASE)


def percentage(completion: str, answer: float) -> float:
    """Percentages, which must be written as such: "Answer: 12.5%" or "Answer: 12.5 percent".

    A bare number or a fraction like 0.125 is refused on purpose, because it does not say what it counts.
    Rounding to two decimals is fine. The last "Answer:" line counts.
    """
    given = last_line_value(completion, "Answer:")
    match = _PERCENT.fullmatch(given.replace("$", "")) if given is not None else None
    return 1.0 if match and abs(float(match.group(1)) - answer) <= 0.00501 else 0.0


# --------------------------------------------------------------------------- all solutions

_SEPARATOR = re.compile(r",(?![0-9]{3}(?![0-9]))|;|\b(?:and|or)\b")
_NAME = re.compile(r"[a-zA-Z](?:_\{?[0-9]\}?)?\s{0,3}=\s{0,3}")


def solution_set_reward(completions, solutions, **kwargs):
    """"Find all solutions": the last <answer> has to list exactly the solutions.

    Values are separated by commas, semicolons, "and" or "or"; "x = 3", set braces, repetitions and any order are fine.
    A comma directly before exactly three digits is a thousands separator (1,200), with a space it separates (1, 200).
    A missing value, a value too many or anything unreadable gives 0; there is no partial credit. "none" is the empty set.
    """
    rewards = []
    for completion, gold in zip(completions, solutions):
        answers = tag_contents(message_text(completion), "answer")
        answer = answers[-1] if answers else ""
        if not answer or len(answer) > 500:
            rewards.append(0.0)
            continue
        wanted = {exact_value(g) for g in gold}
        answer = answer.strip("$. ")
        if answer.startswith(("{", "\\{")) and answer.endswith("}"):
            answer = answer.removeprefix("\\").removeprefix("{").removesuffix("}").removesuffix("\\").strip()
        if answer.lower() == "none":
            given = set()
        else:
            parts = _SEPARATOR.split(answer)
            given = {exact_value(_tidy(_NAME.sub("", part.strip().strip("$"), count=1))) for part in parts if part.strip()}
            if not given:
                rewards.append(0.0)
                continue
        rewards.append(1.0 if None not in given and given == wanted else 0.0)
    return rewards


# --------------------------------------------------------------------------- interval notation

_INTERVAL = re.compile(r"([\[(])([^,\[\]()]{1,40}),([^,\[\]()]{1,40})([\])])")


def _endpoint(text: str) -> Fraction | float | None:
    text = text.strip().replace("\\infty", "inf").replace("∞", "inf").replace("oo", "inf").lstrip("+")
    if text in ("inf", "-inf"):
        return float(text)
    return exact_value(text)


def _intervals(text: str) -> list[tuple] | None:
    text = text.replace("\\left", "").replace("\\right", "").replace("$", "").replace("\\cup", "∪").replace("U", "∪")
    result = []
    for part in text.split("∪"):
        match = _INTERVAL.fullmatch(part.strip())
        if match is None:
            return None
        low, high = _endpoint(match.group(2)), _endpoint(match.group(3))
        if low is None or high is None or not low < high:
            return None
        result.append((low, match.group(1), high, match.group(4)))
    return sorted(result)


def interval_notation(completion: str, answer: str) -> float:
    """Solution sets in interval notation, e.g. "Answer: (-inf, 2] U (5, inf)".

    The form is part of the task: an equivalent inequality such as x <= 2 is not accepted, and open and
    closed ends are told apart. The order of the parts of a union does not matter. The last "Answer:" line counts.
    """
    given = last_line_value(completion, "Answer:")
    if given is None or len(given) > 300:
        return 0.0
    given = re.sub(r"^\$?\s{0,3}[a-z]\s{0,3}(?:∈|\\in\b)\s{0,3}", "", given.rstrip("."))
    found = _intervals(given)
    return 1.0 if found is not None and found == _intervals(answer) else 0.0


# --------------------------------------------------------------------------- multiple choice

_LETTER = re.compile(r"[\[(]?([A-J])[\])]?\.?")


def choice_line_reward(completions, answer, **kwargs):
    """Multiple choice. The last line that starts with "Answer:" has to hold one option letter and nothing else.

    Brackets, a full stop and bold face are fine ("**Answer: (C)**"). Letters elsewhere in the text, and
    earlier "Answer:" lines, do not count; "Answer: A or B" is no answer.
    """
    rewards = []
    for completion, gold in zip(completions, answer):
        given = last_line_value(message_text(completion), "Answer:")
        match = _LETTER.fullmatch(given) if given is not None else None
        rewards.append(1.0 if match and match.group(1) == gold else 0.0)
    return rewards


# --------------------------------------------------------------------------- claims

VERDICTS = ("supported", "unsupported", "not enough information")


def strict_verdict(completion: str, label: str) -> float:
    """Fact checking. The last line that starts with "Verdict:" has to hold exactly one of the three labels."""
    verdict = last_line_value(completion, "Verdict:")
    if verdict is None:
        return 0.0
    verdict = verdict.rstrip(".").lower()
    return 1.0 if verdict in VERDICTS and verdict == label else 0.0


# --------------------------------------------------------------------------- JSON verdicts


def _no_duplicates(pairs):
    keys = [key for key, _ in pairs]
    if len(keys) != len(set(keys)):
        raise ValueError("duplicate key")
    return dict(pairs)


def json_verdict_reward(completions, same, **kwargs):
    """Entity matching. The reply is one JSON object (a code fence around it is fine) with a boolean "match" and a
    non-empty string "reason". Strings such as "false", numbers, duplicate keys and text around the object get 0.
    Only the verdict is judged; the reason just has to be there.
    """
    rewards = []
    for completion, expected in zip(completions, same):
        text = message_text(completion).strip()
        if text.startswith("```") and text.endswith("```") and "\n" in text:
            text = text[text.index("\n") : -3]
        try:
            reply = json.loads(text, object_pairs_hook=_no_duplicates)
        except (ValueError, RecursionError):
            rewards.append(0.0)
            continue
        ok = (
            isinstance(reply, dict)
            and isinstance(reply.get("reason"), str)
            and reply["reason"].strip() != ""
            and isinstance(reply.get("match"), bool)
            and reply["match"] is bool(expected)
        )
        rewards.append(1.0 if ok else 0.0)
    return rewards


# --------------------------------------------------------------------------- confidence

_PROBABILITY = re.compile(r"(?:0(?:\.[0-9]{1,10})?|1(?:\.0{1,10})?|\.[0-9]{1,10})")


def brier_reward(completions, answer, **kwargs):
    """Correctness minus the Brier loss of the stated confidence, a proper scoring rule between -1 and 1.

    The reply ends with "Answer: ..." and "Confidence: p", p from 0 to 1 as a decimal number (the last such lines count).
    Right at p = 1 earns 1, wrong at p = 0 earns 0, wrong at p = 1 earns -1. Without both lines in this form the reward is -1.
    Answers are compared as text, without regard to case and a full stop.
    """
    rewards = []
    for completion, gold in zip(completions, answer):
        text = message_text(completion)
        given, stated = last_line_value(text, "Answer:"), last_line_value(text, "Confidence:")
        if not given or stated is None or not _PROBABILITY.fullmatch(stated):
            rewards.append(-1.0)
            continue
        p = float(stated)
        correct = 1.0 if given.rstrip(".").casefold() == gold.casefold() else 0.0
        rewards.append(correct - (p - correct) ** 2)
    return rewards


# --------------------------------------------------------------------------- the answer after the thinking


def post_think_reward(completions, answer, **kwargs):
    """Judges only what follows the last </think>: 1.0 if its last box holds the integer answer.

    Boxes inside the thinking do not count, and a reply whose thinking is not closed (it was cut off) gets 0.
    """
    rewards = []
    for completion, gold in zip(completions, answer):
        text = message_text(completion)
        _, closed, final = text.rpartition("</think>")
        if not closed or "<think>" in final:
            rewards.append(0.0)
            continue
        box = _last_box(final)
        rewards.append(1.0 if box is not None and exact_value(_tidy(box)) == Fraction(gold) else 0.0)
    return rewards


# --------------------------------------------------------------------------- unreadable references


def accuracy_or_skip(completions, solution, **kwargs):
    """Numeric accuracy of the last <answer>; None for rows whose reference is not a number.

    TRL leaves None rewards out of the group, so rows that this function cannot judge are neither paid nor punished.
    """
    rewards = []
    for completion, gold in zip(completions, solution):
        wanted = exact_value(gold)
        if wanted is None:
            rewards.append(None)
            continue
        answers = tag_contents(message_text(completion), "answer")
        given = exact_value(answers[-1].strip("$")) if answers else None
        rewards.append(1.0 if given == wanted else 0.0)
    return rewards


# --------------------------------------------------------------------------- questions without answer


def answer_or_abstain(completion: str, answers: list | None) -> float:
    """Reading comprehension with unanswerable questions (`answers` is None for those, else the accepted wordings).

    The last "Answer:" line holds a short answer or NO ANSWER. Right answers and right abstentions earn 1, an
    abstention on an answerable question 0, and a wrong answer or a missing line -1: guessing must not pay.
    """
    given = last_line_value(completion, "Answer:")
    if not given:
        return -1.0
    given = given.rstrip(".").strip()
    if given == "NO ANSWER":
        return 1.0 if answers is None else 0.0
    return 1.0 if answers is not None and given.casefold() in [a.casefold() for a in answers] else -1.0


# --------------------------------------------------------------------------- quantities with units

_TO_BASE = {
    "mm": ("length", 1), "cm": ("length", 10), "m": ("length", 1000), "km": ("length", 1_000_000),
    "g": ("mass", 1), "kg": ("mass", 1000), "t": ("mass", 1_000_000),
    "s": ("time", 1), "min": ("time", 60), "h": ("time", 3600), "d": ("time", 86400),
}
_QUANTITY = re.compile(r"([+-]?(?:[0-9]{1,3}(?:,[0-9]{3}){1,5}|[0-9]{1,15})(?:\.[0-9]{1,15})?)[ \t]{0,3}([a-z]{1,3})")


def _quantity(text: str) -> tuple[str, Fraction] | None:
    match = _QUANTITY.fullmatch(text.strip().rstrip("."))
    if match is None or match.group(2) not in _TO_BASE:
        return None
    kind, factor = _TO_BASE[match.group(2)]
    return kind, Fraction(match.group(1).replace(",", "")) * factor


def quantity_with_unit(completion: str, answer: str) -> float:
    """Quantities with units: the last "Answer:" line holds a number and a unit (mm cm m km, g kg t, s min h d).

    Any unit of the same kind is fine if the quantity is exactly the same (1.5 km = 1500 m). A number without unit is refused.
    """
    given = last_line_value(completion, "Answer:")
    found = _quantity(given) if given is not None else None
    return 1.0 if found is not None and found == _quantity(answer) else 0.0


_ASK = "Give your answer between <answer> and </answer>, for example <answer> Beijing </answer>. Question: "

CASES = [
    Case(
        "transcript_em",
        transcript_em,
        [
            {"prompt": _ASK + "In which country is the volcano Cotopaxi?", "golden_answers": ["Ecuador"]},
            {"prompt": _ASK + "Which band released the album Tommy?", "golden_answers": ["The Who", "Who"]},
        ],
        [
            "Cotopaxi lies in the Andes south of Quito, so the country is Ecuador. <answer> Ecuador </answer>",
            "Tommy is a rock opera of 1969. <answer>The Who</answer>",
        ],
        [
            "Cotopaxi lies in the Andes. <answer> Peru </answer>",
            "Tommy is a rock opera of 1969. <answer>Pink Floyd</answer>",
        ],
        source="https://github.com/PeterGriffinJin/Search-R1/issues/79",
    ),
    Case(
        "boxed_math",
        boxed_math_reward,
        [
            {"prompt": [{"role": "user", "content": "What is the probability of at least one head in two tosses? Put the final answer in a box."}], "solution": "\\frac{3}{4}"},
            {"prompt": [{"role": "user", "content": "Solve x^2 = 2 for positive x. Put the final answer in a box."}], "solution": "\\sqrt{2}"},
        ],
        [
            "No head has probability $\\boxed{\\frac14}$ at first sight, so at least one head has $1 - \\frac{1}{4}$. The answer is $\\boxed{\\dfrac{3}{4}}$.",
            "The positive root is \\fbox{\\sqrt{2}}.",
        ],
        [
            "No head has probability 1/4. The answer is $\\boxed{\\frac{1}{4}}$.",
            "The positive root is $\\boxed{1.41}$.",
        ],
        source="https://github.com/OpenRLHF/OpenRLHF/pull/1285",
    ),
    Case(
        "sql_execution",
        sql_execution_reward,
        [
            {"prompt": "Table book(id, title, year, author). How many books were published in 2004? Reply with SQL.", "databases": _LIBRARY, "gold_sql": "SELECT COUNT(*) FROM book WHERE year = 2004", "ordered": False},
            {"prompt": "Table book(id, title, year, author). Titles and years, the newest first, then by title. Reply with SQL.", "databases": _LIBRARY, "gold_sql": "SELECT title, year FROM book ORDER BY year DESC, title", "ordered": True},
        ],
        [
            "We count the rows of that year.\n```sql\nSELECT COUNT(id) FROM book WHERE year = 2004;\n```",
            "Two sort keys are needed.\n```sql\nSELECT title, year FROM book ORDER BY year DESC, title ASC\n```",
        ],
        [
            "We count the titles.\n```sql\nSELECT COUNT(DISTINCT year) FROM book\n```",
            "One sort key is needed.\n```sql\nSELECT title, year FROM book ORDER BY title\n```",
        ],
        source="https://github.com/AlibabaResearch/DAMO-ConvAI/pull/213",
    ),
    Case(
        "marked_number",
        marked_number,
        [
            {"prompt": "At noon it was 4 degrees; it fell by 9 degrees. What is the temperature? Finish with '#### <number>'.", "answer": "-5"},
            {"prompt": "A car costs $18,500 and its price falls by $2,250. What is the new price? Finish with '#### <number>'.", "answer": "16250"},
        ],
        [
            "4 - 9 = -5, so it is five degrees below zero.\n#### -5",
            "18,500 - 2,250 = 16,250.\n#### $16,250\nThe discount is about 12 percent, which sounds plausible.",
        ],
        [
            "9 - 4 = 5.\n#### 5",
            "18,500 + 2,250 = 20,750.\n#### $20,750",
        ],
        source="https://github.com/verl-project/verl/pull/7274",
    ),
    Case(
        "measured_value",
        measured_value,
        [
            {"prompt": "What is the energy of a photon of 500 nm in joule? End with 'Answer: <number> J'.", "answer": 3.973e-19, "unit": "J"},
            {"prompt": "A stone falls for 3.2 s. How fast is it, in m/s? End with 'Answer: <number> m/s'.", "answer": 31.39, "unit": "m/s"},
        ],
        [
            "E = h c / lambda = 6.626e-34 * 2.998e8 / 5e-7.\nAnswer: 3.97e-19 J",
            "v = g t = 9.81 * 3.2 = 31.4.\n**Answer:** 31.4 m/s",
        ],
        [
            "E = h c / lambda.\nAnswer: 9.11e-31 J",
            "v = g t / 2 = 15.7.\nAnswer: 15.7 m/s",
        ],
        source="https://github.com/huggingface/Math-Verify/issues/14",
    ),
    Case(
        "percentage",
        percentage,
        [
            {"prompt": "A coat costs 80 instead of 120 euros. By what percentage was it reduced? End with 'Answer: ...%'.", "answer": 33.3333333},
            {"prompt": "7 of 56 seats are empty. What percentage is that? End with 'Answer: ...%'.", "answer": 12.5},
        ],
        [
            "The reduction is 40 of 120 euros, which is a third.\nAnswer: 33.33%",
            "7 / 56 = 1/8.\nAnswer: 12.5 percent",
        ],
        [
            "The reduction is 40 of 80 euros.\nAnswer: 50%",
            "7 / 56 = 1/8.\nAnswer: 0.125",
        ],
        source="https://github.com/volcengine/verl/blob/23d62925c453fe48b5b8254a4cadfe7dc68e41bb/verl/utils/reward_score/prime_math/grader.py",
    ),
    Case(
        "solution_set",
        solution_set_reward,
        [
            {"prompt": "Find all real x with 2x^2 - x - 1 = 0. List them in <answer> tags.", "solutions": ["1", "-1/2"]},
            {"prompt": "Find all primes p for which p + 1 is a square. List them in <answer> tags.", "solutions": ["3"]},
        ],
        [
            "The polynomial factors as (2x + 1)(x - 1).\n<answer>x = 1, x = -0.5</answer>",
            "p = (n - 1)(n + 1), so n = 2.\n<answer>3</answer>",
        ],
        [
            "The polynomial factors as (2x - 1)(x + 1).\n<answer>x = -1, x = 1/2</answer>",
            "p = (n - 1)(n + 1), so many n work.\n<answer>3, 8, 15</answer>",
        ],
        source="https://github.com/huggingface/Math-Verify/issues/47",
    ),
    Case(
        "interval_notation",
        interval_notation,
        [
            {"prompt": "Solve (x - 2)(x - 5) >= 0 and give the solution in interval notation after 'Answer:'.", "answer": "(-inf, 2] U [5, inf)"},
            {"prompt": "Where is sqrt(x + 3/2) defined for x < 4? Give interval notation after 'Answer:'.", "answer": "[-3/2, 4)"},
        ],
        [
            "The product is not negative outside the roots, the roots included.\nAnswer: $(-\\infty, 2] \\cup [5, \\infty)$",
            "The radicand must not be negative.\nAnswer: [-1.5, 4)",
        ],
        [
            "The product is not negative between the roots.\nAnswer: [2, 5]",
            "The radicand must be positive.\nAnswer: (-3/2, 4)",
        ],
        source="https://github.com/huggingface/Math-Verify/issues/10",
    ),
    Case(
        "choice_line",
        choice_line_reward,
        [
            {"prompt": [{"role": "user", "content": "Which gas do plants take up? A) oxygen B) nitrogen C) carbon dioxide D) argon. Think, then write 'Answer: <letter>'."}], "answer": "C"},
            {"prompt": [{"role": "user", "content": "A plane flies 900 km in 2 h. How fast is it? A) 450 km/h B) 900 km/h C) 1800 km/h D) 225 km/h. Think, then write 'Answer: <letter>'."}], "answer": "A"},
        ],
        [
            "A is what plants give off, B and D are inert here. I take C.\n\n**Answer: C**",
            "I first thought of Answer: B, but the distance has to be divided by two hours.\nAnswer: (A)",
        ],
        [
            "C is what plants give off at night.\nAnswer: A",
            "A plane flies at its cruising speed.\nAnswer: B",
        ],
        source="https://github.com/TIGER-AI-Lab/MMLU-Pro/issues/7",
    ),
    Case(
        "strict_verdict",
        strict_verdict,
        [
            {"prompt": "Evidence: The tower has 324 m.\nClaim: The tower is more than 300 m high.\nEnd with Verdict: supported, unsupported or not enough information.", "label": "supported"},
            {"prompt": "Evidence: The tower was painted in 2022.\nClaim: The tower was painted in 2019 for the last time.\nEnd with Verdict: supported, unsupported or not enough information.", "label": "unsupported"},
            {"prompt": "Evidence: The tower was painted in 2022.\nClaim: The tower has two restaurants.\nEnd with Verdict: supported, unsupported or not enough information.", "label": "not enough information"},
        ],
        [
            "324 is more than 300.\nVerdict: Supported",
            "The last painting was in 2022.\n**Verdict:** unsupported.",
            "Nothing is said about restaurants.\nVerdict: not enough information",
        ],
        [
            "The height may have changed.\nVerdict: unsupported",
            "The tower was painted.\nVerdict: supported",
            "Towers have restaurants.\nVerdict: supported",
        ],
        source="https://github.com/anthropics/claude-cookbooks/issues/497",
    ),
    Case(
        "json_verdict",
        json_verdict_reward,
        [
            {"prompt": "Record 1: J. Smith, Leeds, 1970. Record 2: John Smith, Leeds, b. 1970. Same person? Reply as JSON with match and reason.", "same": True},
            {"prompt": "Record 1: J. Smith, Leeds, 1970. Record 2: Jane Smith, York, b. 1988. Same person? Reply as JSON with match and reason.", "same": False},
        ],
        [
            '```json\n{"match": true, "reason": "Initial, town and year of birth agree."}\n```',
            '{"match": false, "reason": "Town and year of birth differ."}',
        ],
        [
            '{"match": false, "reason": "The first names differ."}',
            '{"match": true, "reason": "Both are called J. Smith."}',
        ],
        source="https://github.com/TIGER-AI-Lab/ClawBench/pull/305",
    ),
    Case(
        "brier",
        brier_reward,
        [
            {"prompt": "Which element has the symbol W? End with 'Answer: ...' and 'Confidence: p'.", "answer": "tungsten"},
            {"prompt": "Who painted The Night Watch? End with 'Answer: ...' and 'Confidence: p'.", "answer": "Rembrandt"},
        ],
        [
            "The symbol comes from wolfram.\nAnswer: Tungsten\nConfidence: 0.99",
            "It hangs in the Rijksmuseum.\nAnswer: Rembrandt.\nConfidence: 1",
        ],
        [
            "It is a light metal.\nAnswer: Wolframite\nConfidence: 0.6",
            "It hangs in the Rijksmuseum.\nAnswer: Vermeer\nConfidence: 0.8",
        ],
        source="https://github.com/huggingface/OpenEnv/pull/1200",
    ),
    Case(
        "post_think",
        post_think_reward,
        [
            {"prompt": [{"role": "user", "content": "How many diagonals has a hexagon? Box the final answer."}], "answer": "9"},
            {"prompt": [{"role": "user", "content": "What is 15 choose 2? Box the final answer."}], "answer": "105"},
        ],
        [
            "<think>Each corner has three diagonals, 18 in all. \\boxed{18}? No, each is counted twice.</think>\nA hexagon has $\\boxed{9}$ diagonals.",
            "<think>15 * 14 / 2 = 105.</think>\nThe result is $\\boxed{105}$.",
        ],
        [
            "<think>Each corner has three diagonals. The answer may be \\boxed{9}.</think>\nA hexagon has $\\boxed{18}$ diagonals.",
            "<think>15 * 14 / 2 = 105, so \\boxed{105}, or",
        ],
        source="https://github.com/huggingface/trl/pull/4563",
    ),
    Case(
        "accuracy_or_skip",
        accuracy_or_skip,
        [
            {"prompt": "What is 2/3 + 1/6? Answer in <answer> tags.", "solution": "5/6"},
            {"prompt": "What is 12.5 * 8? Answer in <answer> tags.", "solution": "100"},
        ],
        [
            "2/3 is 4/6, and one sixth more is 5/6.\n<answer>5/6</answer>",
            "12.5 * 8 = 100.\n<answer>100.0</answer>",
        ],
        [
            "2/3 + 1/6 = 3/9.\n<answer>3/9</answer>",
            "12.5 * 8 = 96 and a half.\n<answer>96.5</answer>",
        ],
        source="https://github.com/huggingface/open-r1/pull/566",
    ),
    Case(
        "answer_or_abstain",
        answer_or_abstain,
        [
            {"prompt": "Text: The ferry leaves Bergen at 8 and arrives in Stavanger at 13.\nWhen does the ferry leave Bergen? End with 'Answer: ...' or 'Answer: NO ANSWER'.", "answers": ["8", "at 8", "8:00", "8 a.m", "8 o'clock"]},
            {"prompt": "Text: The ferry leaves Bergen at 8 and arrives in Stavanger at 13.\nWhat does the ticket cost? End with 'Answer: ...' or 'Answer: NO ANSWER'.", "answers": None},
        ],
        [
            "The departure is in the first half of the sentence.\nAnswer: At 8",
            "The text gives times but no prices.\nAnswer: NO ANSWER",
        ],
        [
            "The times are given for Stavanger.\nAnswer: at 13",
            "A trip of five hours is not cheap.\nAnswer: 40 euros",
        ],
        source="https://github.com/dcostenco/prism-coder/pull/208",
    ),
    Case(
        "quantity_with_unit",
        quantity_with_unit,
        [
            {"prompt": "A lap has 400 m. How long are 12.5 laps? End with 'Answer: <number> <unit>'.", "answer": "5 km"},
            {"prompt": "A machine needs 45 s per part. How long does it need for 100 parts? End with 'Answer: <number> <unit>'.", "answer": "75 min"},
        ],
        [
            "12.5 * 400 = 5,000.\nAnswer: 5,000 m",
            "100 * 45 s = 4500 s, which is an hour and a quarter.\nAnswer: 1.25 h",
        ],
        [
            "12.5 * 400 = 5,000.\nAnswer: 5000 km",
            "100 * 45 s = 4500 s.\nAnswer: 45 min",
        ],
    ),
]
