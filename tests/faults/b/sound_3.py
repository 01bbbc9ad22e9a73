"""Tools, dialog, structured output, puzzles, retrieval, boxes."""

from __future__ import annotations

import ast
import json
import math
import operator
import re
from collections import Counter
from datetime import date, timedelta
from fractions import Fraction

from tests.faults.case import Case


def reply(completion) -> str:
    if isinstance(completion, str):
        return completion
    return (completion[-1].get("content") or "") if completion else ""


def blocks(text: str, tag: str) -> list[str] | None:
    """Contents of the <tag> blocks in order; None if opening and closing tags do not alternate."""
    opening, closing = f"<{tag}>", f"</{tag}>"
    found, position = [], 0
    while True:
        start, end = text.find(opening, position), text.find(closing, position)
        if start < 0 and end < 0:
            return found
        if start < 0 or end < start:
            return None
        inside = text[start + len(opening) : end]
        if opening in inside:
            return None
        found.append(inside)
        position = end + len(closing)


def strict_json(text: str):
    """json.loads without duplicate keys, NaN and infinities; raises ValueError (or RecursionError) otherwise."""

    def unique(pairs):
        if len({key for key, _ in pairs}) != len(pairs):
            raise ValueError("duplicate key")
        return dict(pairs)

    def constant(name):
        raise ValueError(name)

    return json.loads(text, object_pairs_hook=unique, parse_constant=constant)


def same_json(a, b) -> bool:
    """Equality in which booleans differ from numbers (in Python True == 1) and 2.0 equals 2."""
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same_json(a[k], b[k]) for k in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same_json, a, b))
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return a == b
    return type(a) is type(b) and a == b


# --------------------------------------------------------------------------- tool calls


def strict_call_reward(completions, tool, **kwargs):
    """One tool call, checked like BFCL's AST match.

    The reply has to contain exactly one <tool_call> block with {"name", "arguments"}. `tool` names the function, the accepted
    values of each required parameter, and those of optional parameters, which may be left out. A missing parameter, one
    that the function does not have, or a value that is not accepted gives 0. Text around the block does not matter.
    """
    rewards = []
    for completion, expected in zip(completions, tool):
        found = blocks(reply(completion), "tool_call")
        call = None
        if found is not None and len(found) == 1:
            try:
                call = strict_json(found[0])
            except (ValueError, RecursionError):
                call = None
        if not (isinstance(call, dict) and call.get("name") == expected["name"] and isinstance(call.get("arguments"), dict)):
            rewards.append(0.0)
            continue
        given, required, optional = call["arguments"], expected["required"], expected.get("optional", {})
        accepted = {**required, **optional}
        ok = set(required) <= set(given) <= set(accepted)
        ok = ok and all(any(same_json(value, choice) for choice in accepted[key]) for key, value in given.items())
        rewards.append(1.0 if ok else 0.0)
    return rewards


# --------------------------------------------------------------------------- no suitable tool


_CALL_LIKE = re.compile(r"\b\w{1,64}\((?:\)|[^()\n]{0,200}[=\"'])")


def declines_to_call(completion: str, functions: list) -> float:
    """No offered function fits: 1.0 for an explanation in at least five words without any attempt at a call.

    An attempt is the name of an offered function followed by a parenthesis, anything else that looks like a call with arguments
    (f(x=1), f("x"), f()), a <tool_call> tag, or a JSON "name" key, well-formed or not. Naming a function in a sentence is fine.
    Malformed calls are attempts, not abstentions.
    """
    lowered = completion.lower()
    if _CALL_LIKE.search(lowered):
        return 0.0
    if "tool_call" in lowered or re.search(r"[\"']name[\"']\s{0,5}:", lowered):
        return 0.0
    for name in functions:
        if re.search(rf"(?<!\w){re.escape(name.lower())}\s{{0,5}}\(", lowered):
            return 0.0
    words = [w for w in completion.split() if any(c.isalpha() for c in w)]
    return 1.0 if len(words) >= 5 else 0.0


# --------------------------------------------------------------------------- several calls


def parallel_calls(completions, calls, **kwargs):
    """Parallel tool calls: an optional closed <think> block, then <tool_call> blocks and nothing else.

    The calls have to be the expected ones, each once and in any order. The reply is read from left to right in one pass, so
    cut-off replies are cheap (and get 0).
    """
    rewards = []
    for completion, expected in zip(completions, calls):
        text = reply(completion).strip()
        if text.startswith("<think>"):
            _, _, text = text.partition("</think>")
        given, ok = [], True
        rest = text.strip()
        while rest and ok and len(given) <= 50:
            head, closed, tail = rest.partition("</tool_call>")
            try:
                ok = bool(closed) and head.startswith("<tool_call>")
                given.append(strict_json(head[len("<tool_call>") :]) if ok else None)
            except (ValueError, RecursionError):
                ok = False
            rest = tail.lstrip()
        if not ok or rest or len(given) != len(expected):
            rewards.append(0.0)
            continue
        left = list(given)
        for wanted in expected:
            match = next((i for i, call in enumerate(left) if same_json(call, wanted)), None)
            if match is None:
                break
            left.pop(match)
        rewards.append(1.0 if not left else 0.0)
    return rewards


# --------------------------------------------------------------------------- what was told to the customer

_TOKEN = re.compile(r"[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?|[0-9]+(?:\.[0-9]+)?|[a-z]+")


def _told_tokens(text: str) -> list[str]:
    return [t.replace(",", "") for t in _TOKEN.findall(text.lower())]


def communicated(completions, required, max_figures, **kwargs):
    """Customer dialog: 1.0 if the assistant mentioned every required value in the conversation, as whole tokens.

    10 is not found in 100 or 10.5; thousands separators and case do not matter; what the user or a tool says does not count.
    To keep the agent from reading out every number it can think of, it may use at most `max_figures` different figures.
    """
    rewards = []
    for conversation, values, limit in zip(completions, required, max_figures):
        told = [_told_tokens(m.get("content") or "") for m in conversation if m.get("role") == "assistant"]
        figures = {t for tokens in told for t in tokens if t[0].isdigit()}
        if len(figures) > limit:
            rewards.append(0.0)
            continue
        complete = True
        for value in values:
            wanted = _told_tokens(value)
            size = len(wanted)
            complete = complete and any(tokens[i : i + size] == wanted for tokens in told for i in range(len(tokens) - size + 1))
        rewards.append(1.0 if complete else 0.0)
    return rewards


# --------------------------------------------------------------------------- countdown

_ARITHMETIC = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}


def _evaluate(node: ast.AST, used: list[int]) -> Fraction:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        used.append(node.value)
        return Fraction(node.value)
    if isinstance(node, ast.BinOp) and type(node.op) in _ARITHMETIC:
        left, right = _evaluate(node.left, used), _evaluate(node.right, used)
        return Fraction(_ARITHMETIC[type(node.op)](left, right))
    raise ValueError("only + - * / on whole numbers")


_SYMBOLS = str.maketrans({"×": "*", "÷": "/", "−": "-"})


def countdown_equation(completions, numbers, target, **kwargs):
    """Countdown. The last <answer> holds an expression (optionally followed by "= target") over + - * / and parentheses
    that uses every given number exactly once and no other number, and has exactly the target value. No partial credit.
    """
    rewards = []
    for completion, given, goal in zip(completions, numbers, target):
        found = blocks(reply(completion), "answer")
        expression = found[-1].strip().translate(_SYMBOLS) if found else ""
        expression, equals, result = expression.partition("=")
        ok = 0 < len(expression) <= 200 and re.fullmatch(r"[0-9+\-*/() ]+", expression) is not None
        ok = ok and (not equals or result.strip() == str(goal))
        if ok:
            try:
                used: list[int] = []
                value = _evaluate(ast.parse(expression.strip(), mode="eval").body, used)
                ok = value == goal and Counter(used) == Counter(given)
            except (SyntaxError, ValueError, ZeroDivisionError, RecursionError, MemoryError):
                ok = False
        rewards.append(1.0 if ok else 0.0)
    return rewards


# --------------------------------------------------------------------------- small sudoku


def mini_sudoku(completions, puzzle, **kwargs):
    """4x4 Sudoku. The last <grid> block holds four lines of four digits 1-4 (spaces between them are fine).

    Any grid that keeps the clues ("0" is empty) and has all digits in every row, column and 2x2 box earns 1.0, else 0.
    """
    rewards = []
    for completion, clues in zip(completions, puzzle):
        found = blocks(reply(completion), "grid")
        lines = [re.sub(r"[ \t|]", "", line) for line in found[-1][:400].splitlines()] if found else []
        grid = [line for line in lines if line]
        ok = len(grid) == 4 and all(sorted(row) == ["1", "2", "3", "4"] for row in grid)
        ok = ok and all(sorted(column) == ["1", "2", "3", "4"] for column in zip(*grid))
        ok = ok and all(
            len({grid[r + i][c + j] for i in (0, 1) for j in (0, 1)}) == 4 for r in (0, 2) for c in (0, 2)
        )
        ok = ok and all(c in ("0", g) for clue, row in zip(clues, grid) for c, g in zip(clue, row))
        rewards.append(1.0 if ok else 0.0)
    return rewards


# --------------------------------------------------------------------------- knights and knaves

_ROLE = re.compile(r"(?:\(?[0-9]{1,2}[.)]\s{0,3})?([A-Za-z]{1,20}) is an? (knight|knave)", re.IGNORECASE)


def knights_and_knaves(completion: str, roles: dict) -> float:
    """Logic puzzle. The last <answer> block names each person once as "X is a knight" or "X is a knave", separated by line
    breaks, commas, semicolons or "and". Anything else in the block ("X is not a knight", a person twice) gives 0.
    """
    found = blocks(completion, "answer")
    if not found or len(found[-1]) > 2000:
        return 0.0
    said = {}
    for part in re.split(r"[\n,;]|\band\b", found[-1]):
        part = part.strip().rstrip(".").strip()
        if not part:
            continue
        match = _ROLE.fullmatch(part)
        if match is None or match.group(1).lower() in said:
            return 0.0
        said[match.group(1).lower()] = match.group(2).lower()
    return 1.0 if said == {name.lower(): role for name, role in roles.items()} else 0.0


# --------------------------------------------------------------------------- plans for robots


def box_transport(completion: str, world: dict) -> float:
    """Multi-robot planning. The last JSON list of the reply, in <plan> tags, holds steps {robot: action}; actions are
    "move to CELL", "lift BOX" and "drop". Reward: share of boxes on their goals at the end.

    A plan that cannot be read, names a robot or cell that does not exist, or breaks a rule (lifting a box that is elsewhere, two
    boxes at once, dropping nothing, more than 50 steps) earns 0, whatever it reached before.
    """
    found = blocks(completion, "plan")
    try:
        plan = strict_json(found[-1]) if found else None
    except (ValueError, RecursionError):
        plan = None
    if not isinstance(plan, list) or len(plan) > 50:
        return 0.0
    robots, boxes = dict(world["robots"]), dict(world["boxes"])
    load: dict[str, str] = {}
    for step in plan:
        if not isinstance(step, dict):
            return 0.0
        for robot, action in step.items():
            if robot not in robots or not isinstance(action, str):
                return 0.0
            verb, _, target = action.partition(" ")
            if verb == "move" and target.startswith("to ") and target[3:] in world["cells"]:
                robots[robot] = target[3:]
            elif verb == "lift" and robot not in load and boxes.get(target) == robots[robot]:
                load[robot] = target
                boxes[target] = None
            elif action == "drop" and robot in load:
                boxes[load.pop(robot)] = robots[robot]
            else:
                return 0.0
    return sum(boxes[box] == goal for box, goal in world["goals"].items()) / len(world["goals"])


# --------------------------------------------------------------------------- ranking


def ndcg_at_five(completions, relevance, **kwargs):
    """Reranking: nDCG@5 of the ranking "[id] > [id] > ..." on the last non-empty line, between 0 and 1.

    `relevance` grades the relevant documents. Only the first mention of a document counts, later ones are dropped before
    the cut, so that repeating a good document gains nothing. Unknown ids take up a place.
    """
    rewards = []
    for completion, grades in zip(completions, relevance):
        lines = reply(completion).strip().splitlines()
        ranking = list(dict.fromkeys(re.findall(r"\[([A-Za-z0-9-]{1,20})\]", lines[-1]))) if lines else []
        gain = sum(grades.get(doc, 0) / math.log2(place + 2) for place, doc in enumerate(ranking[:5]))
        best = sorted(grades.values(), reverse=True)[:5]
        ideal = sum(grade / math.log2(place + 2) for place, grade in enumerate(best))
        rewards.append(min(1.0, gain / ideal) if ideal > 0 else 0.0)
    return rewards


# --------------------------------------------------------------------------- extraction


def extraction_f1(completions, record, **kwargs):
    """Information extraction: F1 over the top-level fields of the JSON object that the reply consists of (partial credit).

    A field is right if its value is the same, type included (2 is not "2", true is not 1; surrounding spaces of strings do not
    matter). Missing fields cost recall, invented ones cost precision. Replies that are not one JSON object earn 0.
    """
    rewards = []
    for completion, gold in zip(completions, record):
        text = reply(completion).strip()
        if text.startswith("```") and text.endswith("```") and "\n" in text:
            text = text[text.index("\n") : -3]
        try:
            given = strict_json(text)
        except (ValueError, RecursionError):
            given = None
        if not isinstance(given, dict) or not given:
            rewards.append(0.0)
            continue
        trimmed = {k: v.strip() if isinstance(v, str) else v for k, v in given.items()}
        right = sum(key in trimmed and same_json(trimmed[key], value) for key, value in gold.items())
        rewards.append(2 * right / (len(trimmed) + len(gold)))
    return rewards


# --------------------------------------------------------------------------- dates

_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")


def next_weekday(completion: str, today: str, weekday: str) -> float:
    """Scheduling. The last "Date:" line has to hold the date (YYYY-MM-DD) of the next `weekday` after `today`.

    If today is that weekday, the one a week later is meant.
    """
    given = None
    for line in reversed(completion.splitlines()):
        line = line.replace("*", "").strip()
        if line.lower().startswith("date:"):
            given = _DATE.fullmatch(line[len("date:") :].strip().rstrip("."))
            break
    if given is None:
        return 0.0
    start = date.fromisoformat(today)
    ahead = (_WEEKDAYS.index(weekday.lower()) - start.weekday() - 1) % 7 + 1
    return 1.0 if given.group(0) == (start + timedelta(days=ahead)).isoformat() else 0.0


# --------------------------------------------------------------------------- routes


def route_reward(completions, edges, start, goal, best, **kwargs):
    """Shortest paths. The last <route> block holds "A -> B -> C". Valid routes earn best length / length: 1.0 for a shortest one.

    Routes that do not begin at the start or end at the goal, use a road that does not exist, or visit a town twice earn 0.
    Roads can be used in both directions.
    """
    rewards = []
    for completion, roads, first, last, optimum in zip(completions, edges, start, goal, best):
        found = blocks(reply(completion), "route")
        towns = [t.strip() for t in re.split(r"->|→", found[-1][:2000])] if found else []
        length_of = {}
        for a, b, distance in roads:
            length_of[a, b] = length_of[b, a] = distance
        hops = list(zip(towns, towns[1:]))
        valid = bool(hops) and towns[0] == first and towns[-1] == last and len(set(towns)) == len(towns)
        if not valid or any(hop not in length_of for hop in hops):
            rewards.append(0.0)
            continue
        rewards.append(min(1.0, optimum / sum(length_of[hop] for hop in hops)))
    return rewards


# --------------------------------------------------------------------------- bounding boxes


def _box(text: str) -> list[float] | None:
    try:
        found = strict_json(text)
    except (ValueError, RecursionError):
        return None
    corners = found.get("bbox_2d") if isinstance(found, dict) else None
    if not isinstance(corners, list) or len(corners) != 4:
        return None
    if any(isinstance(c, bool) or not isinstance(c, (int, float)) or not 0 <= c <= 100_000 for c in corners):
        return None
    x1, y1, x2, y2 = corners
    return corners if x1 < x2 and y1 < y2 else None


def grounding_iou(completions, box, **kwargs):
    """Visual grounding: intersection over union of the one box {"bbox_2d": [x1, y1, x2, y2]} in <answer> with the reference box.

    The value itself is the reward (partial credit, between 0 and 1). More than one <answer>, more than one box, and boxes
    without area or with corners in the wrong order earn 0.
    """
    rewards = []
    for completion, gold in zip(completions, box):
        found = blocks(reply(completion), "answer")
        given = _box(found[0]) if found is not None and len(found) == 1 else None
        if given is None:
            rewards.append(0.0)
            continue
        width = min(given[2], gold[2]) - max(given[0], gold[0])
        height = min(given[3], gold[3]) - max(given[1], gold[1])
        overlap = max(0.0, width) * max(0.0, height)
        union = (given[2] - given[0]) * (given[3] - given[1]) + (gold[2] - gold[0]) * (gold[3] - gold[1]) - overlap
        rewards.append(overlap / union)
    return rewards


_WORLD = {
    "cells": ["A1", "A2", "B1", "B2", "C1", "C2"],
    "robots": {"R1": "A1", "R2": "C2"},
    "boxes": {"blue": "A1", "red": "C2"},
    "goals": {"blue": "B1", "red": "B2"},
}
_WORLD_2 = {"cells": ["A1", "A2", "A3"], "robots": {"R1": "A2"}, "boxes": {"green": "A1"}, "goals": {"green": "A3"}}
_ROADS = [["Ash", "Birch", 4], ["Birch", "Cedar", 3], ["Ash", "Cedar", 9], ["Cedar", "Elm", 2], ["Birch", "Elm", 7]]

CASES = [
    Case(
        "strict_call",
        strict_call_reward,
        [
            {"prompt": 'Set the heating in the bath to 22 degrees. Use <tool_call>{"name": ..., "arguments": {...}}</tool_call>.', "tool": {"name": "set_heating", "required": {"room": ["bath", "bathroom"], "celsius": [22]}, "optional": {"eco": [False]}}},
            {"prompt": "Book a table for four at Nonna on 2026-05-02. Use <tool_call>.", "tool": {"name": "book_table", "required": {"restaurant": ["Nonna"], "guests": [4], "date": ["2026-05-02"]}}},
        ],
        [
            'I will set it now.\n<tool_call>{"name": "set_heating", "arguments": {"room": "bathroom", "celsius": 22}}</tool_call>',
            '<tool_call>\n{"name": "book_table", "arguments": {"restaurant": "Nonna", "guests": 4, "date": "2026-05-02"}}\n</tool_call>',
        ],
        [
            'I will set it now.\n<tool_call>{"name": "set_heating", "arguments": {"room": "bath", "celsius": 22, "fan": "high"}}</tool_call>',
            '<tool_call>\n{"name": "book_table", "arguments": {"restaurant": "Nonna", "guests": 2, "date": "2026-05-02"}}\n</tool_call>',
        ],
        source="https://github.com/thinking-machines-lab/tinker-cookbook/issues/937",
    ),
    Case(
        "declines_to_call",
        declines_to_call,
        [
            {"prompt": "Functions: get_weather(city, days). User: Please book me a table for two tonight.", "functions": ["get_weather"]},
            {"prompt": "Functions: convert(amount, source, target), stock_price(symbol). User: Who won the match yesterday?", "functions": ["convert", "stock_price"]},
        ],
        [
            "I only have get_weather here, which is about the weather, so I am not able to book a table.",
            "None of my functions can look up sports results. Shall I convert a currency instead?",
        ],
        [
            '[get_weather(city="tonight", days=2)]',
            'Let me see. stock_price(symbol="MATCH"',
        ],
        source="https://github.com/ShishirPatil/gorilla/issues/443",
    ),
    Case(
        "parallel_calls_once",
        parallel_calls,
        [
            {"prompt": [{"role": "user", "content": "Close the blinds in the office and in the bedroom."}], "calls": [{"name": "close_blinds", "arguments": {"room": "office"}}, {"name": "close_blinds", "arguments": {"room": "bedroom"}}]},
            {"prompt": [{"role": "user", "content": "What is the tide in Brest today?"}], "calls": [{"name": "tide", "arguments": {"port": "Brest"}}]},
        ],
        [
            '<think>Two rooms, so two calls.</think>\n<tool_call>\n{"name": "close_blinds", "arguments": {"room": "bedroom"}}\n</tool_call>\n<tool_call>\n{"name": "close_blinds", "arguments": {"room": "office"}}\n</tool_call>',
            '<tool_call>{"arguments": {"port": "Brest"}, "name": "tide"}</tool_call>',
        ],
        [
            '<tool_call>\n{"name": "close_blinds", "arguments": {"room": "office"}}\n</tool_call>\n<tool_call>\n{"name": "close_blinds", "arguments": {"room": "office"}}\n</tool_call>',
            "The tide is high in the afternoon.",
        ],
        source="https://github.com/huggingface/trl/issues/5415",
    ),
    Case(
        "communicated",
        communicated,
        [
            {"prompt": [{"role": "user", "content": "How many points do I have, and when do they expire?"}], "required": ["1,250", "31 March"], "max_figures": 6},
            {"prompt": [{"role": "user", "content": "What would the upgrade of both tickets cost?"}], "required": ["96.40"], "max_figures": 6},
        ],
        [
            [
                {"role": "assistant", "content": "Let me look that up."},
                {"role": "tool", "content": "points=1250 expiry=2027-03-31"},
                {"role": "assistant", "content": "You have 1,250 points, and they expire on 31 March 2027."},
            ],
            [{"role": "assistant", "content": "The upgrade is 48.20 euros per ticket, so both together cost 96.40 euros."}],
        ],
        [
            [
                {"role": "assistant", "content": "Let me look that up."},
                {"role": "tool", "content": "points=1250 expiry=2027-03-31"},
                {"role": "assistant", "content": "You have 250 points, and they expire in spring."},
            ],
            [{"role": "assistant", "content": "The upgrade is 48.20 euros per ticket."}],
        ],
        source="https://github.com/sierra-research/tau-bench/pull/89",
    ),
    Case(
        "countdown_equation",
        countdown_equation,
        [
            {"prompt": "Reach 50 with 2, 4, 7, 8 and + - * /, each number once. Put the equation in <answer>.", "numbers": [2, 4, 7, 8], "target": 50},
            {"prompt": "Reach 6 with 3, 3, 12, 2 and + - * /, each number once. Put the equation in <answer>.", "numbers": [3, 3, 12, 2], "target": 6},
        ],
        [
            "7 * 8 is 56, and 4 + 2 has to go.\n<answer>7 * 8 - (4 + 2)</answer>",
            "12 / 2 is 6 already, and 3 / 3 does not change it.\n<answer>12 / 2 × 3 / 3 = 6</answer>",
        ],
        [
            "7 * 8 is 56.\n<answer>7 * 8 - 6</answer>",
            "12 / 2 is 6.\n<answer>12 / 2 = 6</answer>",
        ],
        source="https://github.com/open-thought/reasoning-gym/pull/265",
    ),
    Case(
        "mini_sudoku",
        mini_sudoku,
        [
            {"prompt": "Solve the 4x4 Sudoku (0 is empty): 1030 / 0002 / 2000 / 0301. Put the grid in <grid>.", "puzzle": ["1030", "0002", "2000", "0301"]},
            {"prompt": "Solve the 4x4 Sudoku (0 is empty): 0040 / 4003 / 0400 / 3004. Put the grid in <grid>.", "puzzle": ["0040", "4003", "0400", "3004"]},
        ],
        [
            "The first row lacks 2 and 4, and the 2 in the second row decides.\n<grid>\n1 2 3 4\n3 4 1 2\n2 1 4 3\n4 3 2 1\n</grid>",
            "The 4 in the third row settles the fourth row.\n<grid>\n1342\n4213\n2431\n3124\n</grid>",
        ],
        [
            "The first row lacks 2 and 4.\n<grid>\n1 4 3 2\n3 2 4 2\n2 1 1 3\n4 3 2 1\n</grid>",
            "I start again.\n<grid>\n1234\n3412\n2143\n4321\n</grid>",
        ],
        source="https://github.com/open-thought/reasoning-gym/pull/161",
    ),
    Case(
        "knights_and_knaves",
        knights_and_knaves,
        [
            {"prompt": "Knights tell the truth, knaves lie. Ada: 'Ben is a knave.' Ben: 'We are both knaves.' Who is what? Answer in <answer> tags.", "roles": {"Ada": "knight", "Ben": "knave"}},
            {"prompt": "Knights tell the truth, knaves lie. Cai: 'Dov and I are of the same kind.' Dov: 'Cai is a knight.' Eli: 'Dov is a knave.' Cai is a knight. Who is what? Answer in <answer> tags.", "roles": {"Cai": "knight", "Dov": "knight", "Eli": "knave"}},
        ],
        [
            "Ben cannot be a knight who calls himself a knave, so Ben lies and Ada is right.\n<answer>Ada is a knight and Ben is a knave.</answer>",
            "If Cai tells the truth then Dov is of the same kind, so Eli lies.\n<answer>\n(1) Cai is a knight\n(2) Dov is a knight\n(3) Eli is a knave\n</answer>",
        ],
        [
            "Ada accuses Ben, so both lie.\n<answer>Ada is a knave and Ben is a knave.</answer>",
            "Eli accuses Dov.\n<answer>\n(1) Cai is a knight\n(2) Dov is a knave\n(3) Eli is a knight\n</answer>",
        ],
        source="https://github.com/open-thought/reasoning-gym/pull/196",
    ),
    Case(
        "box_transport",
        box_transport,
        [
            {"prompt": "Cells A1 A2 B1 B2 C1 C2. R1 and box blue in A1, R2 and box red in C2. Goals: blue in B1, red in B2. Give the steps as JSON in <plan>.", "world": _WORLD},
            {"prompt": "Cells A1 A2 A3. R1 in A2, box green in A1. Goal: green in A3. Give the steps as JSON in <plan>.", "world": _WORLD_2},
        ],
        [
            'Both robots stand at their boxes.\n<plan>[{"R1": "lift blue", "R2": "lift red"}, {"R1": "move to B1", "R2": "move to B2"}, {"R1": "drop", "R2": "drop"}]</plan>',
            'R1 fetches the box first.\n<plan>[{"R1": "move to A1"}, {"R1": "lift green"}, {"R1": "move to A3"}, {"R1": "drop"}]</plan>',
        ],
        [
            'R1 does its part.\n<plan>[{"R1": "lift blue"}, {"R1": "move to B1"}, {"R1": "drop"}]</plan>',
            'R1 lifts the box.\n<plan>[{"R1": "lift green"}, {"R1": "move to A3"}, {"R1": "drop"}]</plan>',
        ],
        source="https://github.com/open-thought/reasoning-gym/issues/417",
    ),
    Case(
        "ndcg_at_five",
        ndcg_at_five,
        [
            {"prompt": "Rank for 'repair a leaking tap': [p1] plumbing basics, [p2] changing the washer of a tap, [p3] garden hoses, [p4] water bills. Last line: [id] > [id] > ...", "relevance": {"p2": 3, "p1": 1}},
            {"prompt": "Rank for 'symptoms of measles': [m] measles, [f] flu, [r] rubella, [s] sprains. Last line: [id] > [id] > ...", "relevance": {"m": 3, "r": 1}},
        ],
        [
            "The washer is the usual cause, and basics help.\n[p2] > [p1] > [p3] > [p4]",
            "Measles first, then the similar rubella.\n[m] > [r] > [f] > [s]",
        ],
        [
            "Hoses leak as well.\n[p3] > [p4] > [p1] > [p2]",
            "Flu is the most common.\n[f] > [s] > [r] > [m]",
        ],
        source="https://github.com/deepset-ai/haystack/pull/11959",
    ),
    Case(
        "extraction_f1",
        extraction_f1,
        [
            {"prompt": "Extract vendor, total, currency and paid as JSON: 'Invoice of Lindt & Co, 148.50 EUR, settled on 3 May.'", "record": {"vendor": "Lindt & Co", "total": 148.5, "currency": "EUR", "paid": True}},
            {"prompt": "Extract title, pages and tags as JSON: 'Dune Walks, 96 pages, travel, Netherlands.'", "record": {"title": "Dune Walks", "pages": 96, "tags": ["travel", "Netherlands"]}},
        ],
        [
            '```json\n{"vendor": "Lindt & Co", "total": 148.50, "currency": "EUR", "paid": true}\n```',
            '{"title": "Dune Walks", "pages": 96, "tags": ["travel", "Netherlands"]}',
        ],
        [
            '{"vendor": "Lindt & Co", "total": "148.50 EUR", "date": "3 May"}',
            '{"title": "Dune Walks", "pages": "96 pages"}',
        ],
        source="https://github.com/SWE-bench/SWE-smith/issues/24",
    ),
    Case(
        "next_weekday",
        next_weekday,
        [
            {"prompt": "Today is 2026-08-19, a Wednesday. Schedule the standup for next Monday. End with 'Date: YYYY-MM-DD'.", "today": "2026-08-19", "weekday": "Monday"},
            {"prompt": "Today is 2027-02-26, a Friday. Schedule the review for next Friday. End with 'Date: YYYY-MM-DD'.", "today": "2027-02-26", "weekday": "Friday"},
        ],
        [
            "Monday is five days ahead of Wednesday the 19th.\nDate: 2026-08-24",
            "A week ahead is in March, as February 2027 has 28 days.\nDate: 2027-03-05",
        ],
        [
            "Monday is four days ahead.\nDate: 2026-08-23",
            "Today is a Friday.\nDate: 2027-02-26",
        ],
        source="https://github.com/SeraphimSerapis/tool-eval-bench/issues/78",
    ),
    Case(
        "route",
        route_reward,
        [
            {"prompt": "Roads: Ash-Birch 4, Birch-Cedar 3, Ash-Cedar 9, Cedar-Elm 2, Birch-Elm 7. Shortest way from Ash to Elm? Put it in <route>A -> B</route>.", "edges": _ROADS, "start": "Ash", "goal": "Elm", "best": 9},
            {"prompt": "Roads: Ash-Birch 4, Birch-Cedar 3, Ash-Cedar 9, Cedar-Elm 2, Birch-Elm 7. Shortest way from Cedar to Ash? Put it in <route>A -> B</route>.", "edges": _ROADS, "start": "Cedar", "goal": "Ash", "best": 7},
        ],
        [
            "Over Birch and Cedar it is 4 + 3 + 2 = 9, directly over Cedar 11.\n<route>Ash -> Birch -> Cedar -> Elm</route>",
            "Over Birch it is 3 + 4 = 7, which beats 9.\n<route>Cedar -> Birch -> Ash</route>",
        ],
        [
            "Over Cedar there are only two roads.\n<route>Ash -> Cedar -> Elm</route>",
            "Elm is on the way.\n<route>Cedar -> Elm -> Ash</route>",
        ],
    ),
    Case(
        "grounding_iou",
        grounding_iou,
        [
            {"prompt": 'Image 640x480. Where is the red kite? Answer as <answer>{"bbox_2d": [x1, y1, x2, y2]}</answer>.', "box": [120, 40, 220, 160]},
            {"prompt": 'Image 640x480. Where is the bicycle? Answer as <answer>{"bbox_2d": [x1, y1, x2, y2]}</answer>.', "box": [300.5, 200, 500.5, 400]},
        ],
        [
            'The kite is in the upper left part.\n<answer>{"bbox_2d": [120, 40, 220, 160]}</answer>',
            'The bicycle leans on the wall at the right.\n<answer>{"bbox_2d": [300.5, 200, 500.5, 400]}</answer>',
        ],
        [
            'The kite may be anywhere.\n<answer>{"bbox_2d": [0, 0, 640, 480]}</answer>',
            'The bicycle stands in front of the door.\n<answer>{"bbox_2d": [100, 220, 320, 420]}</answer>',
        ],
        source="https://github.com/om-ai-lab/VLM-R1/issues/44",
    ),
]
