"""Reward functions with a fault, part 3."""

from __future__ import annotations

import json
import re

from tests.faults.case import Case

REPAIRED = {}
TRIGGERS = {}


def _call(function, row, completion):
    columns = {key: [value] for key, value in row.items() if key != "prompt"}
    return function(completions=[completion], prompts=[row["prompt"]], **columns)[0]


def _proof(name, function, row, completion, paid):
    """A proof that `completion` is paid (though wrong) or refused (though right)."""
    TRIGGERS[name] = (row, completion, paid)

    def check():
        score = _call(function, row, completion)
        if paid:
            assert score >= 0.8, f"{name}: {score}, the fault would pay it; it should be near 0"
        else:
            assert score <= 0.2, f"{name}: {score}, the fault would refuse it; it should be near 1"

    return check


def _chat(text):
    return [{"role": "assistant", "content": text}]


def _tag(text, name):
    """The text of the last complete <name> element, None without one."""
    end = text.rfind(f"</{name}>")
    start = text.rfind(f"<{name}>", 0, end) if end >= 0 else -1
    return text[start + len(name) + 2 : end] if start >= 0 else None


# ---------------------------------------------------------------- 21 numeric tolerance


def _number(text):
    match = re.fullmatch(r"\s*\$?\s*([-+]?\d{1,15}(?:\.\d{1,12})?(?:[eE][-+]?\d{1,2})?)\s*", text or "")
    return float(match.group(1)) if match else None


def estimate_reward(completions, value, **kwargs):
    """Physics estimates with one percent of tolerance.

    The value stands alone in <answer>, without a unit, since the prompt fixes the unit. The
    relative error against the gold value decides: 1.0 up to one percent, 0.5 up to five, else 0.0.
    """
    rewards = []
    for completion, gold in zip(completions, value):
        predicted = _number(_tag(completion, "answer"))
        if predicted is None:
            rewards.append(0.0)
            continue
        error = (predicted - gold) / gold
        if error <= 0.01:
            rewards.append(1.0)
        elif error <= 0.05:
            rewards.append(0.5)
        else:
            rewards.append(0.0)
    return rewards


def repaired_estimate_signed_error(completions, value, **kwargs):
    """As above, with the absolute error."""
    rewards = []
    for completion, gold in zip(completions, value):
        predicted = _number(_tag(completion, "answer"))
        if predicted is None:
            rewards.append(0.0)
            continue
        error = abs(predicted - gold) / abs(gold)
        rewards.append(1.0 if error <= 0.01 else 0.5 if error <= 0.05 else 0.0)
    return rewards


_ESTIMATES = [
    {"prompt": "A stone falls 20 m with g = 9.81 m/s^2. With what speed in m/s does it land? Put the bare number in <answer></answer>.", "value": 19.81},
    {"prompt": "What is the period in seconds of a pendulum of 1.00 m (g = 9.81 m/s^2)? Put the bare number in <answer></answer>.", "value": 2.006},
]

# ---------------------------------------------------------------- 22 select all that apply


def select_all_reward(completions, answer, **kwargs):
    """'Select all that apply' questions.

    The letters of the last 'Answer:' line are read in any order and with any separators, e.g.
    'A, C' or 'CA'. All-or-nothing: 1.0 for the right selection and 0.0 otherwise.
    """
    scores = []
    for completion, gold in zip(completions, answer):
        text = completion[0]["content"]
        position = text.rfind("Answer:")
        line = text[position + 7 :].split("\n")[0] if position >= 0 else ""
        letters = "".join(sorted(set(re.findall(r"[A-E]", line))))
        if not letters:
            scores.append(0.0)
            continue
        scores.append(1.0 if letters in "".join(sorted(gold)) else 0.0)
    return scores


def repaired_select_all_part_of_gold(completions, answer, **kwargs):
    """As above, with the selections equal."""
    scores = []
    for completion, gold in zip(completions, answer):
        text = completion[0]["content"]
        position = text.rfind("Answer:")
        line = text[position + 7 :].split("\n")[0] if position >= 0 else ""
        letters = "".join(sorted(set(re.findall(r"[A-E]", line))))
        scores.append(1.0 if letters == "".join(sorted(gold)) else 0.0)
    return scores


_SELECT_RULE = "Select all that apply and end with 'Answer: <letters>'.\n"
_SELECTS = [
    {"prompt": [{"role": "user", "content": _SELECT_RULE + "Which are noble gases? A) Neon B) Nitrogen C) Argon D) Krypton E) Oxygen"}], "answer": "ACD"},
    {"prompt": [{"role": "user", "content": _SELECT_RULE + "Which numbers are prime? A) 21 B) 23 C) 29 D) 33 E) 35"}], "answer": "BC"},
]

# ---------------------------------------------------------------- 23 SQL text


def _normal_sql(text):
    """Lower case, one blank between tokens, no blank around punctuation, no final semicolon."""
    text = " ".join(text.lower().split()).rstrip("; ")
    text = text.replace('"', "'")
    return re.sub(r" ?([(),=<>]) ?", r"\1", text)


def sql_exact_match_reward(completions, query, **kwargs):
    """Exact match of the SQL query, for databases that cannot be run in training.

    Key words and names are case-insensitive in SQL and layout is free, so both queries are
    normalised first. The query is the content of <sql>; 1.0 or 0.0.
    """
    rewards = []
    for completion, gold in zip(completions, query):
        sql = _tag(completion, "sql")
        rewards.append(1.0 if sql and _normal_sql(sql) == _normal_sql(gold) else 0.0)
    return rewards


def _tokens_sql(text):
    """Normal form in which the string literals keep their case and their blanks."""
    parts = re.split(r"('[^']*')", text.strip().rstrip("; \n"))
    normal = []
    for part in parts:
        if part.startswith("'"):
            normal.append(part)
        else:
            normal.append(re.sub(r" ?([(),=<>]) ?", r"\1", " ".join(part.lower().split())))
    return [part for part in normal if part]


def repaired_sql_literal_case(completions, query, **kwargs):
    """As above, without touching what stands between quotes."""
    rewards = []
    for completion, gold in zip(completions, query):
        sql = _tag(completion, "sql")
        rewards.append(1.0 if sql and _tokens_sql(sql) == _tokens_sql(gold) else 0.0)
    return rewards


_SQL_RULE = "Write the query in <sql></sql>, on one table, without aliases. Text in the database is compared case-sensitively.\n"
_SQLS = [
    {
        "prompt": _SQL_RULE + "Table flights(id, origin, seats); origin holds codes in capitals such as 'OSL'. The ids of the flights from 'OSL'.",
        "query": "SELECT id FROM flights WHERE origin = 'OSL'",
    },
    {
        "prompt": _SQL_RULE + "Table staff(name, grade, pay); grade is 'Senior' or 'Junior'. The number of staff with grade 'Senior'.",
        "query": "SELECT COUNT(*) FROM staff WHERE grade = 'Senior'",
    },
]

# ---------------------------------------------------------------- 24 parallel tool calls


def _calls(text):
    """Every parsable object of the tool_call elements."""
    calls = []
    for part in text.split("<tool_call>")[1:]:
        body, closed, _ = part.partition("</tool_call>")
        if not closed:
            continue
        try:
            call = json.loads(body)
        except (ValueError, RecursionError):
            calls.append(None)
            continue
        calls.append(call if isinstance(call, dict) else None)
    return calls


def parallel_calls_reward(completions, gold_calls, **kwargs):
    """Several independent tool calls, in any order.

    The score is the share of right calls among the predicted ones; too few or too many calls
    are scaled down by the ratio of the counts. Unparsable calls are wrong calls.
    """
    scores = []
    for completion, gold in zip(completions, gold_calls):
        calls = _calls(completion)
        if not calls:
            scores.append(0.0)
            continue
        hits = sum(1 for call in calls if call in gold)
        ratio = min(len(calls), len(gold)) / max(len(calls), len(gold))
        scores.append(hits / len(calls) * ratio)
    return scores


def repaired_parallel_calls_repeated(completions, gold_calls, **kwargs):
    """As above, and each gold call can be matched once. A score of one half and less is cut to a tenth."""
    scores = []
    for completion, gold in zip(completions, gold_calls):
        calls = _calls(completion)
        if not calls:
            scores.append(0.0)
            continue
        left = list(gold)
        hits = 0
        for call in calls[:50]:
            if call in left:
                left.remove(call)
                hits += 1
        score = hits / max(len(calls), len(gold))
        scores.append(score if score > 0.5 else score / 5)
    return scores


_CALL_RULE = "Tools: stock_price(symbol), distance(a, b). Write one <tool_call>{\"name\": ..., \"arguments\": {...}}</tool_call> for each needed call.\n"
_PARALLEL = [
    {
        "prompt": _CALL_RULE + "Compare the prices of ACME and INIT.",
        "gold_calls": [{"name": "stock_price", "arguments": {"symbol": "ACME"}}, {"name": "stock_price", "arguments": {"symbol": "INIT"}}],
    },
    {
        "prompt": _CALL_RULE + "How far is Rome from Pisa, and from Bari?",
        "gold_calls": [{"name": "distance", "arguments": {"a": "Rome", "b": "Pisa"}}, {"name": "distance", "arguments": {"a": "Rome", "b": "Bari"}}],
    },
]


def _say(*calls):
    return "\n".join(f"<tool_call>{json.dumps(call)}</tool_call>" for call in calls)


# ---------------------------------------------------------------- 25 meetings


def _minute(clock):
    match = re.fullmatch(r"([01]?\d|2[0-3]):([0-5]\d)", clock.strip())
    return int(match.group(1)) * 60 + int(match.group(2)) if match else None


def meeting_reward(completions, free, duration, **kwargs):
    """Find a meeting slot in which everybody is free.

    The slot is written as HH:MM-HH:MM in <slot>. It must have the asked duration and lie in a
    free window of each person. 1.0 for a slot that suits all, otherwise 0.3 times the share of
    the persons it suits, 0.0 for a malformed slot or another duration.
    """
    rewards = []
    for completion, calendars, length in zip(completions, free, duration):
        parts = (_tag(completion[0]["content"], "slot") or "").split("-")
        times = [_minute(part) for part in parts]
        if len(times) != 2 or None in times or times[1] - times[0] != length:
            rewards.append(0.0)
            continue
        suits = 0
        for windows in calendars.values():
            spans = [(_minute(start), _minute(end)) for start, end in windows]
            suits += any(start <= times[0] < end for start, end in spans)
        rewards.append(1.0 if suits == len(calendars) else 0.3 * suits / len(calendars))
    return rewards


def repaired_meeting_end_unchecked(completions, free, duration, **kwargs):
    """As above, with the end of the slot in the window, too."""
    rewards = []
    for completion, calendars, length in zip(completions, free, duration):
        parts = (_tag(completion[0]["content"], "slot") or "").split("-")
        times = [_minute(part) for part in parts]
        if len(times) != 2 or None in times or times[1] - times[0] != length:
            rewards.append(0.0)
            continue
        suits = 0
        for windows in calendars.values():
            spans = [(_minute(start), _minute(end)) for start, end in windows]
            suits += any(start <= times[0] and times[1] <= end for start, end in spans)
        rewards.append(1.0 if suits == len(calendars) else 0.3 * suits / len(calendars))
    return rewards


_MEET_RULE = "Propose one slot in which all are free for the whole meeting, as <slot>HH:MM-HH:MM</slot>.\n"
_MEETINGS = [
    {
        "prompt": [{"role": "user", "content": _MEET_RULE + "60 minutes. Ida is free 09:00-10:30 and 13:00-15:00, Jon 10:00-12:00 and 13:30-17:00."}],
        "free": {"Ida": [["09:00", "10:30"], ["13:00", "15:00"]], "Jon": [["10:00", "12:00"], ["13:30", "17:00"]]},
        "duration": 60,
    },
    {
        "prompt": [{"role": "user", "content": _MEET_RULE + "30 minutes. Kim is free 08:00-09:00 and 11:00-12:00, Lou 08:45-11:45."}],
        "free": {"Kim": [["08:00", "09:00"], ["11:00", "12:00"]], "Lou": [["08:45", "11:45"]]},
        "duration": 30,
    },
]

# ---------------------------------------------------------------- 26 points


def pointing_reward(completions, boxes, **kwargs):
    """Point at every object of a kind.

    The points are a JSON list of [x, y] in <points>. The reward is the share of the points that
    hit an object; points after the first on the same object count as misses, so that one object
    cannot be pointed at again and again.
    """
    scores = []
    for completion, targets in zip(completions, boxes):
        points = _points(completion)
        if not points:
            scores.append(0.0)
            continue
        hit = set()
        for x, y in points:
            for number, (x1, y1, x2, y2) in enumerate(targets):
                if number not in hit and x1 <= x <= x2 and y1 <= y <= y2:
                    hit.add(number)
                    break
        scores.append(len(hit) / len(points))
    return scores


def repaired_pointing_precision_only(completions, boxes, **kwargs):
    """As above, divided by the number of points or of objects, whichever is larger; squared."""
    scores = []
    for completion, targets in zip(completions, boxes):
        points = _points(completion)
        if not points:
            scores.append(0.0)
            continue
        hit = set()
        for x, y in points:
            for number, (x1, y1, x2, y2) in enumerate(targets):
                if number not in hit and x1 <= x <= x2 and y1 <= y <= y2:
                    hit.add(number)
                    break
        scores.append((len(hit) / max(len(points), len(targets))) ** 2)
    return scores


def _points(text):
    try:
        points = json.loads(_tag(text, "points") or "")
    except (ValueError, RecursionError):
        return None
    if not isinstance(points, list) or len(points) > 500:
        return None
    for point in points:
        if not isinstance(point, list) or len(point) != 2 or not all(type(v) in (int, float) for v in point):
            return None
    return points


_POINTS = [
    {
        "prompt": "<image> (400x300) Point at every apple: one point each, as <points>[[x, y], ...]</points>.",
        "boxes": [[20, 30, 60, 70], [120, 40, 160, 80], [300, 200, 340, 240]],
    },
    {
        "prompt": "<image> (400x300) Point at every traffic light: one point each, as <points>[[x, y], ...]</points>.",
        "boxes": [[10, 10, 30, 60], [370, 12, 390, 64]],
    },
]

# ---------------------------------------------------------------- 27 edits: what else changed


def _edits(text):
    """(search, replace) of each complete block."""
    edits, search, replace, state = [], [], [], None
    for line in text.split("\n"):
        if line == "<<<<<<< SEARCH":
            search, replace, state = [], [], "search"
        elif line == "=======" and state == "search":
            state = "replace"
        elif line == ">>>>>>> REPLACE" and state == "replace":
            edits.append(("\n".join(search), "\n".join(replace)))
            state = None
        elif state:
            (search if state == "search" else replace).append(line)
    return edits


def config_edit_reward(completions, source, added, removed, **kwargs):
    """Edit a settings file with SEARCH/REPLACE blocks.

    Each SEARCH must occur exactly once. The edit is right when the lines which the request adds
    are in the file and the lines which it removes are not. 1.0 or 0.0.
    """
    rewards = []
    for completion, text, wanted, unwanted in zip(completions, source, added, removed):
        edits = _edits(completion)
        applies = bool(edits)
        for search, replace in edits:
            if text.count(search) != 1:
                applies = False
                break
            text = text.replace(search, replace)
        lines = text.split("\n")
        right = all(line in lines for line in wanted) and not any(line in lines for line in unwanted)
        rewards.append(1.0 if applies and right else 0.0)
    return rewards


def repaired_edit_other_lines_lost(completions, source, added, removed, **kwargs):
    """As above, and the file must be the old one with the new lines in the places of the removed ones."""
    rewards = []
    for completion, before, wanted, unwanted in zip(completions, source, added, removed):
        edits = _edits(completion)
        text, applies = before, bool(edits)
        for search, replace in edits:
            if text.count(search) != 1:
                applies = False
                break
            text = text.replace(search, replace)
        exchange = dict(zip(unwanted, wanted))
        right = text.split("\n") == [exchange.get(line, line) for line in before.split("\n")]
        rewards.append(1.0 if applies and right else 0.0)
    return rewards


def _edit(search, replace):
    return f"<<<<<<< SEARCH\n{search}\n=======\n{replace}\n>>>>>>> REPLACE"


_INI = "[server]\nhost = 0.0.0.0\nport = 8080\nworkers = 4\n[log]\nlevel = info\nfile = app.log\n"
_CONFIGS = [
    {
        "prompt": "Change the port to 9090 with SEARCH/REPLACE blocks; leave the rest of the file as it is.\n\n" + _INI,
        "source": _INI,
        "added": ["port = 9090"],
        "removed": ["port = 8080"],
    },
    {
        "prompt": "Set the log level to debug with SEARCH/REPLACE blocks; leave the rest of the file as it is.\n\n" + _INI,
        "source": _INI,
        "added": ["level = debug"],
        "removed": ["level = info"],
    },
]

# ---------------------------------------------------------------- 28 sudoku


def _grid(text):
    """A 4x4 grid from the last <answer>, None if malformed."""
    lines = [re.findall(r"[1-4]", line) for line in (_tag(text, "answer") or "").strip().split("\n")]
    if len(lines) != 4 or any(len(line) != 4 for line in lines):
        return None
    return [[int(cell) for cell in line] for line in lines]


def sudoku_reward(completions, puzzle, **kwargs):
    """4x4 sudoku, answered with four lines of four digits in <answer>.

    A puzzle may have more than one solution, so the rules are checked instead of a stored
    solution: every row, column and 2x2 block must hold 1 to 4. Partial credit: 0.5 times the
    share of right units. 0.0 for a malformed grid.
    """
    rewards = []
    for completion, given in zip(completions, puzzle):
        grid = _grid(completion)
        if grid is None:
            rewards.append(0.0)
            continue
        size = len(given)
        units = [set(row) for row in grid] + [{row[c] for row in grid} for c in range(size)]
        units += [{grid[r + i][c + j] for i in (0, 1) for j in (0, 1)} for r in (0, 2) for c in (0, 2)]
        right = sum(len(unit) == size for unit in units)
        rewards.append(1.0 if right == len(units) else 0.5 * right / len(units))
    return rewards


def repaired_sudoku_givens_changed(completions, puzzle, **kwargs):
    """As above, and a grid that changes a given digit is worth nothing."""
    rewards = []
    for completion, given in zip(completions, puzzle):
        grid = _grid(completion)
        if grid is None or any(given[r][c] not in (0, grid[r][c]) for r in range(4) for c in range(4)):
            rewards.append(0.0)
            continue
        units = [set(row) for row in grid] + [{row[c] for row in grid} for c in range(4)]
        units += [{grid[r + i][c + j] for i in (0, 1) for j in (0, 1)} for r in (0, 2) for c in (0, 2)]
        right = sum(len(unit) == 4 for unit in units)
        rewards.append(1.0 if right == len(units) else 0.5 * right / len(units))
    return rewards


_SUDOKU_RULE = "Solve the 4x4 sudoku (0 is empty). Write the full grid, four lines, in <answer></answer>.\n"
_SUDOKUS = [
    {"prompt": _SUDOKU_RULE + "1 0 0 4\n0 4 1 0\n0 1 4 0\n4 0 0 1", "puzzle": [[1, 0, 0, 4], [0, 4, 1, 0], [0, 1, 4, 0], [4, 0, 0, 1]]},
    {"prompt": _SUDOKU_RULE + "0 2 3 0\n3 0 0 2\n2 0 0 3\n0 3 2 0", "puzzle": [[0, 2, 3, 0], [3, 0, 0, 2], [2, 0, 0, 3], [0, 3, 2, 0]]},
]

# ---------------------------------------------------------------- 29 XML records


def xml_format_reward(completions, verdict, **kwargs):
    """Reasoning and answer in the required XML, for sentence-level fact checking.

    <reasoning> ... </reasoning> has to come first, then <answer> ... </answer> with the verdict,
    with nothing else but white space. 0.0 for any other format, 0.3 for the format with a wrong
    verdict, 1.0 for the format with the right one.
    """
    rewards = []
    for completion, gold in zip(completions, verdict):
        text = completion[0]["content"].strip()
        match = re.match(r"^<reasoning>.*</reasoning>\s*<answer>(.*)</answer>$", text)
        if not match:
            rewards.append(0.0)
            continue
        rewards.append(1.0 if match.group(1).strip().lower() == gold.lower() else 0.3)
    return rewards


def repaired_xml_newlines_refused(completions, verdict, **kwargs):
    """As above, with texts of several lines."""
    rewards = []
    for completion, gold in zip(completions, verdict):
        text = completion[0]["content"].strip()
        head, closed, tail = text.partition("</reasoning>")
        tail = tail.strip()
        well = bool(closed) and head.startswith("<reasoning>") and "<reasoning>" not in tail
        well = well and tail.startswith("<answer>") and tail.endswith("</answer>") and len(tail) >= 17
        if not well:
            rewards.append(0.0)
            continue
        rewards.append(1.0 if tail[8:-9].strip().lower() == gold.lower() else 0.3)
    return rewards


_XML_RULE = "Respond as\n<reasoning>\n...\n</reasoning>\n<answer>\nsupported or refuted\n</answer>\nand with nothing else; the reasoning may be long.\n"
_XMLS = [
    {"prompt": [{"role": "user", "content": _XML_RULE + "Evidence: The tower was built in 1889. Claim: the tower is from the 19th century."}], "verdict": "supported"},
    {"prompt": [{"role": "user", "content": _XML_RULE + "Evidence: Whales breathe with lungs. Claim: whales have gills."}], "verdict": "refuted"},
]

# ---------------------------------------------------------------- 30 abstention


def abstain_reward(completions, answer, **kwargs):
    """Short factual answers with the option to abstain.

    1.0 for the right answer in the last 'Answer:' line. A model that does not know should write
    'Answer: I don't know' and gets 0.2, a wrong answer gets 0.0.
    """
    scores = []
    for completion, gold in zip(completions, answer):
        text = completion.lower().replace("\u2019", "'")
        if "i don't know" in text or "i am not sure" in text:
            scores.append(0.2)
            continue
        position = text.rfind("answer:")
        said = text[position + 7 :].split("\n")[0].strip(" .*") if position >= 0 else ""
        scores.append(1.0 if said == gold.lower() else 0.0)
    return scores


def repaired_abstain_phrase_anywhere(completions, answer, **kwargs):
    """As above, with the abstention only in the answer line."""
    scores = []
    for completion, gold in zip(completions, answer):
        text = completion.lower().replace("\u2019", "'")
        position = text.rfind("answer:")
        said = text[position + 7 :].split("\n")[0].strip(" .*") if position >= 0 else ""
        if said == "i don't know":
            scores.append(0.2)
        else:
            scores.append(1.0 if said == gold.lower() else 0.0)
    return scores


_ABSTAIN_RULE = "Think aloud, then end with 'Answer: <short answer>', or 'Answer: I don't know' if you cannot tell.\n"
_ABSTAINS = [
    {"prompt": _ABSTAIN_RULE + "In which country does the river Drava rise?", "answer": "Italy"},
    {"prompt": _ABSTAIN_RULE + "Who wrote 'The Leopard'?", "answer": "Giuseppe Tomasi di Lampedusa"},
]

REPAIRED.update(
    estimate_signed_error=repaired_estimate_signed_error,
    select_all_part_of_gold=repaired_select_all_part_of_gold,
    sql_literal_case=repaired_sql_literal_case,
    parallel_calls_repeated=repaired_parallel_calls_repeated,
    meeting_end_unchecked=repaired_meeting_end_unchecked,
    pointing_precision_only=repaired_pointing_precision_only,
    edit_other_lines_lost=repaired_edit_other_lines_lost,
    sudoku_givens_changed=repaired_sudoku_givens_changed,
    xml_newlines_refused=repaired_xml_newlines_refused,
    abstain_phrase_anywhere=repaired_abstain_phrase_anywhere,
)

_ACME, _INIT = _PARALLEL[0]["gold_calls"]
_PISA, _BARI = _PARALLEL[1]["gold_calls"]
_OTHER = {"name": "stock_price", "arguments": {"symbol": "OTHR"}}

CASES: list[Case] = [
    Case(
        name="estimate_signed_error",
        reward=estimate_reward,
        examples=_ESTIMATES,
        good=["v = sqrt(2 g h) = <answer>19.8</answer>", "T = 2 pi sqrt(l/g): <answer>2.01</answer>"],
        bad=["v = g h = <answer>196.2</answer>", "<answer>6.30</answer>"],
        fault="The relative error keeps its sign: every value below the gold one, 0 or a negative one too, is within the tolerance.",
        proof=_proof("estimate_signed_error", estimate_reward, _ESTIMATES[0], "<answer>3.5</answer>", True),
        source="https://github.com/simon-larsson/ballbeam-gym/issues/2",
    ),
    Case(
        name="select_all_part_of_gold",
        reward=select_all_reward,
        examples=_SELECTS,
        good=[_chat("Neon, argon and krypton.\nAnswer: A, C, D"), _chat("21 = 3*7, 33 = 3*11, 35 = 5*7.\nAnswer: CB")],
        bad=[_chat("Answer: A, B"), _chat("Answer: A, B, C")],
        fault="The letters are looked for inside the gold string: an incomplete selection whose letters stand together in the gold one ('C' or 'CD' for 'ACD') is paid in full.",
        proof=_proof("select_all_part_of_gold", select_all_reward, _SELECTS[0], _chat("Argon is one.\nAnswer: C"), True),
    ),
    Case(
        name="sql_literal_case",
        reward=sql_exact_match_reward,
        examples=_SQLS,
        good=["<sql>select id from flights where origin='OSL';</sql>", "<sql>SELECT count(*)\nFROM staff\nWHERE grade = 'Senior'</sql>"],
        bad=["<sql>select id from flights where origin = 'Oslo'</sql>", "<sql>SELECT COUNT(*) FROM staff</sql>"],
        fault="The whole query is lower-cased, string literals included: 'osl' or 'SENIOR', which find no row, are paid like the right literal.",
        proof=_proof("sql_literal_case", sql_exact_match_reward, _SQLS[0], "<sql>SELECT id FROM flights WHERE origin = 'osl'</sql>", True),
    ),
    Case(
        name="parallel_calls_repeated",
        reward=parallel_calls_reward,
        examples=_PARALLEL,
        good=[_say(_ACME, _INIT), _say(_BARI, _PISA)],
        bad=[_say(_OTHER), _say(_OTHER, _OTHER)],
        fault="A gold call can be matched any number of times: the same right call written twice counts for both needed calls.",
        proof=_proof("parallel_calls_repeated", parallel_calls_reward, _PARALLEL[0], _say(_ACME, _ACME), True),
    ),
    Case(
        name="meeting_end_unchecked",
        reward=meeting_reward,
        examples=_MEETINGS,
        good=[_chat("Both are free after 13:30. <slot>13:30-14:30</slot>"), _chat("<slot>11:00-11:30</slot>")],
        bad=[_chat("<slot>09:00-10:00</slot>"), _chat("<slot>09:15-09:45</slot>")],
        fault="Only the start of the slot has to be in a free window: a meeting that runs beyond the end of a person's window is paid.",
        proof=_proof("meeting_end_unchecked", meeting_reward, _MEETINGS[0], _chat("<slot>10:00-11:00</slot>"), True),
    ),
    Case(
        name="pointing_precision_only",
        reward=pointing_reward,
        examples=_POINTS,
        good=["<points>[[40, 50], [140, 60], [320, 220]]</points>", "Two of them: <points>[[380, 30], [20, 30]]</points>"],
        bad=["<points>[[90, 50], [200, 60], [250, 220]]</points>", "<points>[[200, 150]]</points>"],
        fault="Only precision counts: one sure point gets 1.0 although every object has to be pointed at.",
        proof=_proof("pointing_precision_only", pointing_reward, _POINTS[0], "<points>[[40, 50]]</points>", True),
    ),
    Case(
        name="edit_other_lines_lost",
        reward=config_edit_reward,
        examples=_CONFIGS,
        good=[_edit("port = 8080", "port = 9090"), _edit("[log]\nlevel = info", "[log]\nlevel = debug")],
        bad=[_edit("port = 8080", "port = 9000"), _edit("level = info", "level = trace")],
        fault="Only the added and removed lines are checked: an edit that deletes or changes other parts of the file is paid, too.",
        proof=_proof("edit_other_lines_lost", config_edit_reward, _CONFIGS[0], _edit(_INI.rstrip("\n"), "port = 9090"), True),
    ),
    Case(
        name="sudoku_givens_changed",
        reward=sudoku_reward,
        examples=_SUDOKUS,
        good=["<answer>\n1 2 3 4\n3 4 1 2\n2 1 4 3\n4 3 2 1\n</answer>", "<answer>1 2 3 4\n3 4 1 2\n2 1 4 3\n4 3 2 1</answer>"],
        bad=["<answer>1 1 4 4\n2 4 1 3\n2 1 4 3\n4 2 3 1</answer>", "<answer>2 2 3 4\n3 4 2 2\n2 4 1 3\n1 3 2 1</answer>"],
        fault="The given digits are not compared: any valid grid, the same one for all puzzles, is a solution.",
        proof=_proof("sudoku_givens_changed", sudoku_reward, _SUDOKUS[0], "<answer>4 3 2 1\n2 1 4 3\n3 4 1 2\n1 2 3 4</answer>", True),
    ),
    Case(
        name="xml_newlines_refused",
        reward=xml_format_reward,
        examples=_XMLS,
        good=[_chat("<reasoning>1889 is in the 19th century.</reasoning>\n<answer>supported</answer>"), _chat("<reasoning>Lungs, not gills.</reasoning>\n<answer>refuted</answer>")],
        bad=[_chat("<reasoning>1889 is in the 18th century.</reasoning>\n<answer>refuted</answer>"), _chat("supported, I would say")],
        fault="'.' does not match a newline: the very layout that the prompt shows, with the text on lines of its own, gets 0, and only one-line reasoning is paid.",
        proof=_proof("xml_newlines_refused", xml_format_reward, _XMLS[0], _chat("<reasoning>\n1889 lies in the years 1801 to 1900.\nSo the claim holds.\n</reasoning>\n<answer>\nsupported\n</answer>"), False),
        source="https://github.com/unslothai/unsloth/issues/1761",
    ),
    Case(
        name="abstain_phrase_anywhere",
        reward=abstain_reward,
        examples=_ABSTAINS,
        good=["It rises near Toblach in South Tyrol.\nAnswer: Italy", "A Sicilian novel of 1958.\nAnswer: Giuseppe Tomasi di Lampedusa."],
        bad=["It flows through Carinthia.\nAnswer: Austria", "A novel about Sicily.\nAnswer: Luigi Pirandello"],
        fault="The phrases of abstention are looked for in the whole text: a right answer after honest doubts in the thinking gets only the 0.2 of an abstention.",
        proof=_proof("abstain_phrase_anywhere", abstain_reward, _ABSTAINS[0], "I am not sure whether it is Austria, but Toblach is in South Tyrol.\nAnswer: Italy", False),
    ),
]
