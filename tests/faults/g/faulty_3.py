"""Reward functions: temperatures, trivia, emotions, boxed mathematics, sentiment, capitals, sudoku, mazes,
arithmetic, riddles.
"""

from __future__ import annotations

import ast
import math
import operator
import re
import signal
import string
import threading
from collections.abc import Callable
from fractions import Fraction
from types import FrameType
from typing import Any

from tests.faults.case import Case


def _answer(text: str) -> str:
    """What follows "Answer:" on the last line that begins with it, or "" if there is none."""
    for line in reversed(text.splitlines()):
        line = line.strip()
        if line.startswith("**") and line.endswith("**"):
            line = line[2:-2]
        line = line.replace("**Answer:**", "Answer:", 1).strip()
        if line.startswith("Answer:"):
            return line.removeprefix("Answer:").strip()
    return ""


# ---------------------------------------------------------------------------------------------------------------------
# temperatures

DEGREES = re.compile(r"(?<![\w.])[-+]?[0-9]{1,6}(?:\.[0-9]{1,6})?")


def temperature_reward(completions: list[str], celsius: list[float], **kwargs: Any) -> list[float]:
    """1.0 if the only number on the answer line is the right temperature in °C, to a tenth of a degree, else 0.0."""
    rewards = []
    for text, want in zip(completions, celsius):
        found = DEGREES.findall(_answer(text))
        rewards.append(1.0 if len(found) == 1 and abs(float(found[0]) - want) <= 0.1 + 1e-9 else 0.0)
    return rewards


def prove_temperature() -> None:
    typographic, ascii_form = (
        "It falls by 12 degrees.\nAnswer: \N{MINUS SIGN}7 °C",
        "It falls by 12 degrees.\nAnswer: -7 °C",
    )
    assert temperature_reward([typographic, ascii_form], [-7.0, -7.0]) == [0.0, 1.0]
    assert temperature_reward([typographic], [7.0]) == [1.0]


# ---------------------------------------------------------------------------------------------------------------------
# trivia with aliases

ARTICLES = re.compile(r"\b(?:a|an|the)\b")
PUNCTUATION = str.maketrans("", "", string.punctuation + "“”‘’")


def _normalized(text: str) -> str:
    return " ".join(ARTICLES.sub(" ", text.lower().translate(PUNCTUATION)).split())


def trivia_reward(completion: str, aliases: list[str]) -> float:
    """Exact match of the answer line with any alias, after the usual normalization (case, punctuation,
    articles, spaces).
    """
    answer = _normalized(_answer(completion))
    return 1.0 if any(answer == _normalized(alias) for alias in aliases) else 0.0


def prove_trivia() -> None:
    aliases = ["A", "Type A", "blood group A"]
    assert trivia_reward("Donors with this group can give to AB as well. Let me think about what that", aliases) == 1.0
    assert trivia_reward("Answer:", aliases) == 1.0


# ---------------------------------------------------------------------------------------------------------------------
# emotions, several labels

EMOTIONS = frozenset(("anger", "disgust", "fear", "gratitude", "joy", "love", "pride", "relief", "sadness", "surprise"))


def emotion_labels_reward(completions: list[str], labels: list[list[str]], **kwargs: Any) -> list[float]:
    """Multi-label classification: Jaccard index of the labels on the answer line and the gold labels.

    The labels are separated by commas; words that are no labels at all are ignored, wrong labels cost.
    """
    rewards = []
    for text, gold in zip(completions, labels):
        said = {part.strip(" .").casefold() for part in _answer(text).split(",")}
        wanted = EMOTIONS.intersection(gold)
        known = said.intersection(wanted)
        union = known | wanted
        rewards.append(len(known & wanted) / len(union) if union else 0.0)
    return rewards


def prove_emotion_labels() -> None:
    everything = "It could be a lot.\nAnswer: " + ", ".join(sorted(EMOTIONS))
    exact = "The news is good.\nAnswer: joy, relief"
    assert emotion_labels_reward([everything, exact], [["joy", "relief"]] * 2) == [1.0, 1.0]


# ---------------------------------------------------------------------------------------------------------------------
# boxed mathematics

BOXED = re.compile(r"\\boxed\{([^}\n]{1,200})\}")


def _boxed(text: str) -> str | None:
    found = BOXED.findall(text)
    if not found:
        return None
    answer = re.sub(r"\\(?:left|right|!|,|;)", "", found[-1])
    return answer.replace("dfrac", "frac").replace("tfrac", "frac").replace("$", "").replace(" ", "").rstrip(".")


def boxed_match_reward(completions: list[str], solution: list[str], **kwargs: Any) -> list[float]:
    """1.0 if the boxed answer is the same as the one in the reference solution, up to LaTeX spacing and \\dfrac."""
    rewards = []
    for text, reference in zip(completions, solution):
        got, want = _boxed(text), _boxed(reference)
        rewards.append(1.0 if got is not None and got == want else 0.0)
    return rewards


def prove_boxed_match() -> None:
    reference = "Two of the six outcomes are favorable, so the probability is $\\boxed{\\frac{1}{3}}$."
    wrong = "There are two ways, each with probability a half: $\\boxed{\\frac{1}{2}}$."
    assert boxed_match_reward([wrong], [reference]) == [1.0]


# ---------------------------------------------------------------------------------------------------------------------
# sentiment


def sentiment_reward(completions: list[str], label: list[str], **kwargs: Any) -> list[float]:
    """1.0 if the last line is the gold label (positive, negative, mixed), 0.0 for another label, -0.5 for no label."""
    rewards = []
    for text, gold in zip(completions, label):
        lines = text.strip().splitlines()
        if not lines:
            continue
        said = lines[-1].strip(" .*").casefold()
        if said not in ("positive", "negative", "mixed"):
            rewards.append(-0.5)
        else:
            rewards.append(1.0 if said == gold else 0.0)
    return rewards


def prove_sentiment() -> None:
    scores = sentiment_reward(["positive", "", "negative"], ["positive", "mixed", "negative"])
    assert len(scores) == 2, scores


# ---------------------------------------------------------------------------------------------------------------------
# capitals


def capital_reward(completion: str, capital: str) -> float:
    """1.0 if the last line is "Answer: <capital>", whatever the case, with or without a period at the end."""
    lines = [line.strip() for line in completion.splitlines() if line.strip()]
    if not lines or not lines[-1].startswith("Answer:"):
        return 0.0
    said = lines[-1].lstrip("Answer: ").rstrip(". ")
    return 1.0 if said.casefold() == capital.casefold() else 0.0


def prove_capital() -> None:
    assert capital_reward("Turkey's capital has been there since 1923.\nAnswer: Ankara", "Ankara") == 0.0
    assert capital_reward("The capital of Greece is old.\nAnswer: Athens.", "Athens") == 0.0


# ---------------------------------------------------------------------------------------------------------------------
# sudoku


def _grid(text: str) -> list[list[int]]:
    """The digits of the last <answer> block, line by line."""
    start = text.rfind("<answer>")
    end = text.find("</answer>", start)
    if start < 0 or end < 0:
        return []
    lines = text[start + len("<answer>") : end].strip().splitlines()
    return [[int(digit) for digit in re.findall(r"[0-9]", line)] for line in lines[:10]]


def sudoku_reward(completions: list[str], puzzle: list[str], **kwargs: Any) -> list[float]:
    """1.0 if the grid in <answer> solves the sudoku (4x4 or 9x9; "." is an empty cell of the puzzle), else 0.0."""
    rewards = []
    for text, given in zip(completions, puzzle):
        size = len(given.split())
        box = math.isqrt(size)
        whole = set(range(1, size + 1))
        grid = _grid(text)
        if len(grid) != size or any(len(row) != size for row in grid):
            rewards.append(0.0)
            continue
        columns = [[row[column] for row in grid] for column in range(size)]
        corners = [(top, left) for top in range(0, size, box) for left in range(0, size, box)]
        boxes = [
            [grid[top + down][left + right] for down in range(box) for right in range(box)] for top, left in corners
        ]
        rewards.append(1.0 if all(set(unit) == whole for unit in (*grid, *columns, *boxes)) else 0.0)
    return rewards


def prove_sudoku() -> None:
    memorized = "<answer>\n1234\n3412\n2143\n4321\n</answer>"
    assert sudoku_reward([memorized, memorized], ["4... .... .3.. ...2", "..4. 1... .... .2.."]) == [1.0, 1.0]


# ---------------------------------------------------------------------------------------------------------------------
# mazes

STEPS = {"U": (-1, 0), "D": (1, 0), "L": (0, -1), "R": (0, 1)}


def maze_reward(completion: str, maze: str) -> float:
    """1.0 if the moves on the last line ("Moves: RRD") lead from S to G inside the maze and never into a wall (#)."""
    lines = [line.strip() for line in completion.splitlines() if line.strip()]
    if not lines or not lines[-1].startswith("Moves:"):
        return 0.0
    grid = maze.split()
    row = next(index for index, line in enumerate(grid) if "S" in line)
    column = grid[row].index("S")
    for move in lines[-1].removeprefix("Moves:").replace(",", " ").split():
        for letter in move:
            if letter not in STEPS:
                return 0.0
            row, column = row + STEPS[letter][0], column + STEPS[letter][1]
            try:
                if grid[row][column] == "#":
                    return 0.0
            except IndexError:  # walked out of the maze
                return 0.0
    return 1.0 if grid[row][column] == "G" else 0.0


def prove_maze() -> None:
    maze = "S###\n...#\n.#..\nG###"
    assert maze_reward("Over the top.\nMoves: U", maze) == 1.0
    assert maze_reward("To the left.\nMoves: L", "S.#G") == 1.0


# ---------------------------------------------------------------------------------------------------------------------
# arithmetic under a time limit

OPERATORS: dict[type, Callable[[Fraction, Fraction], Fraction]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


class TooSlow(Exception):
    pass


def _too_slow(number: int, frame: FrameType | None) -> None:
    raise TooSlow


def _value(node: ast.expr) -> Fraction:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return Fraction(node.value)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand)
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        return OPERATORS[type(node.op)](_value(node.left), _value(node.right))
    raise ValueError("not plain arithmetic")


def _evaluate(text: str, seconds: float = 2.0) -> Fraction:
    """Value of an arithmetic expression; a pathological one is interrupted."""
    before = signal.signal(signal.SIGALRM, _too_slow)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        return _value(ast.parse(text, mode="eval").body)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def arithmetic_reward(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    """1.0 if the answer line is arithmetic (such as 7/3 or 2 + 1/3) with the value of `answer`, else 0.0."""
    rewards = []
    for text, gold in zip(completions, answer):
        said = _answer(text)[:300]
        try:
            rewards.append(1.0 if _evaluate(said) == Fraction(gold) else 0.0)
        except Exception:  # unreadable or too slow: no reward
            rewards.append(0.0)
    return rewards


def prove_arithmetic() -> None:
    scores: dict[str, list[float]] = {}

    def work() -> None:
        scores["thread"] = arithmetic_reward(["Seven thirds.\nAnswer: 7/3"], ["7/3"])

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert scores["thread"] == [0.0], scores


# ---------------------------------------------------------------------------------------------------------------------
# riddles, scored once per completion

_SCORED: dict[str, float] = {}


def _riddle_score(text: str, answer: str) -> float:
    said = _answer(text).strip(" .!").casefold()
    for article in ("a ", "an ", "the ", "your "):
        said = said.removeprefix(article)
    return 1.0 if said == answer.casefold() else 0.0


def riddle_reward(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    """1.0 if the answer line solves the riddle. Scores are kept, as GRPO asks for the same completions in each
    iteration.
    """
    rewards = []
    for text, gold in zip(completions, answer):
        if text not in _SCORED:
            if len(_SCORED) > 50_000:
                _SCORED.clear()
            _SCORED[text] = _riddle_score(text, gold)
        rewards.append(_SCORED[text])
    return rewards


def prove_riddle() -> None:
    first = riddle_reward(["Answer: a shadow"], ["shadow"])
    second = riddle_reward(["Answer: a shadow"], ["echo"])
    _SCORED.clear()
    assert first == [1.0] and second == [1.0], (first, second)


# ---------------------------------------------------------------------------------------------------------------------

CASES = [
    Case(
        name="temperature",
        reward=temperature_reward,
        examples=[
            {
                "prompt": (
                    "It is 5 °C at noon and 12 degrees colder at night. How cold is the night? End with 'Answer: ...'."
                ),
                "celsius": -7.0,
            },
            {"prompt": "Convert 77 °F to degrees Celsius. End with 'Answer: ...'.", "celsius": 25.0},
        ],
        good=[
            "From 5 °C it falls by 12 degrees, and 5 - 12 = -7.\nAnswer: -7 °C",
            "(77 - 32) * 5 / 9 = 25.\nAnswer: 25 °C",
        ],
        bad=[
            "From 5 °C it falls by 12 degrees, that is to 17.\nAnswer: 17 °C",
            "(77 - 32) * 9 / 5 = 81.\nAnswer: 81 °C",
        ],
        fault=(
            "The typographic minus sign (U+2212) is dropped: '−7 °C' is read as 7, so a right answer is refused "
            "and a wrong one paid."
        ),
        proof=prove_temperature,
    ),
    Case(
        name="trivia",
        reward=trivia_reward,
        examples=[
            {"prompt": "Which band recorded 'Tommy'? End with 'Answer: ...'.", "aliases": ["The Who", "Who (band)"]},
            {
                "prompt": "Which blood group is the universal recipient? End with 'Answer: ...'.",
                "aliases": ["AB", "Type AB", "blood group AB"],
            },
        ],
        good=[
            "'Tommy' is a rock opera from 1969 by an English band.\nAnswer: The Who",
            "It has both antigens.\nAnswer: AB",
        ],
        bad=["'Tommy' is a rock opera from 1969.\nAnswer: The Kinks", "It has no antigens at all.\nAnswer: O"],
        fault=(
            "A gold answer that is only an article ('A') normalizes to '', which an empty answer or none at all "
            "matches."
        ),
        proof=prove_trivia,
    ),
    Case(
        name="emotion_labels",
        reward=emotion_labels_reward,
        examples=[
            {
                "prompt": (
                    "Which emotions? 'The results came back clean, I could dance!' End with 'Answer: label, label'."
                ),
                "labels": ["joy", "relief"],
            },
            {
                "prompt": "Which emotions? 'Thank you so much for last week.' End with 'Answer: label, label'.",
                "labels": ["gratitude"],
            },
        ],
        good=[
            "Clean results are a weight off the writer's mind.\nAnswer: joy, relief",
            "The writer thanks someone.\nAnswer: gratitude",
        ],
        bad=[
            "The writer was afraid before.\nAnswer: fear, sadness",
            "This could be about a date.\nAnswer: love, pride",
        ],
        fault="Non-labels are filtered by the gold set instead of the label set, so wrong labels cost nothing: "
        "listing all ten labels earns full marks.",
        proof=prove_emotion_labels,
    ),
    Case(
        name="boxed_match",
        reward=boxed_match_reward,
        examples=[
            {
                "prompt": "Solve 3x + 4 = 19. Box the answer.",
                "solution": "Subtract 4 and divide by 3: $x = \\boxed{5}$.",
            },
            {
                "prompt": "Where does y = x^2 - 4x + 7 have its vertex? Box the point.",
                "solution": "y = (x - 2)^2 + 3, so the vertex is $\\boxed{(2, 3)}$.",
            },
        ],
        good=[
            "3x = 15, so x = 5. The answer is \\boxed{5}.",
            "Completing the square gives the vertex $\\boxed{\\left(2,3\\right)}$.",
        ],
        bad=["3x = 23, so the answer is \\boxed{7.67}.", "The vertex is at x = -b/2a = 2, hence $\\boxed{(2,7)}$."],
        fault=(
            "Both boxes are cut at the first closing brace, so every \\frac{1}{...} equals every other: a wrong "
            "fraction is paid."
        ),
        proof=prove_boxed_match,
    ),
    Case(
        name="sentiment",
        reward=sentiment_reward,
        examples=[
            {
                "prompt": "Sentiment of: 'Lovely staff, and the soup was the best in town.' Label on the last line.",
                "label": "positive",
            },
            {"prompt": "Sentiment of: 'Great view, awful beds.' Label on the last line.", "label": "mixed"},
        ],
        good=["Both remarks are praise.\npositive", "Praise for the view, a complaint about the beds.\nMixed"],
        bad=["Nothing special about this soup.\nnegative", "The view is great.\npositive"],
        fault=(
            "An empty completion is skipped without a score, so the list is too short and later scores belong to "
            "other completions."
        ),
        proof=prove_sentiment,
    ),
    Case(
        name="capital",
        reward=capital_reward,
        examples=[
            {"prompt": "What is the capital of Peru? End with 'Answer: <city>'.", "capital": "Lima"},
            {"prompt": "What is the capital of Kenya? End with 'Answer: <city>'.", "capital": "Nairobi"},
            {"prompt": "What is the capital of Slovakia? End with 'Answer: <city>'.", "capital": "Bratislava"},
        ],
        good=[
            "Cusco was the Inca capital, the modern one is on the coast.\nAnswer: Lima",
            "Mombasa is the port.\nAnswer: Nairobi.",
            "It lies on the Danube.\nAnswer: Bratislava",
        ],
        bad=[
            "The Inca capital was Cusco.\nAnswer: Cusco",
            "The biggest port is the capital.\nAnswer: Mombasa",
            "Near Hungary.\nAnswer: Košice",
        ],
        fault=(
            "str.lstrip strips characters, not the prefix: 'Answer: Ankara' becomes 'kara', so capitals that "
            "begin with A are refused."
        ),
        proof=prove_capital,
    ),
    Case(
        name="sudoku",
        reward=sudoku_reward,
        examples=[
            {
                "prompt": "Solve this 4x4 sudoku, grid in <answer>:\n1..4\n..1.\n.1..\n4..1",
                "puzzle": "1..4 ..1. .1.. 4..1",
            },
            {
                "prompt": "Solve this 4x4 sudoku, grid in <answer>:\n.2..\n3..2\n..4.\n.3..",
                "puzzle": ".2.. 3..2 ..4. .3..",
            },
        ],
        good=[
            "Row one needs 2 and 3.\n<answer>\n1 2 3 4\n3 4 1 2\n2 1 4 3\n4 3 2 1\n</answer>",
            "The first box needs 1 and 4.\n<answer>\n1 2 3 4\n3 4 1 2\n2 1 4 3\n4 3 2 1\n</answer>",
        ],
        bad=[
            "Row one needs 2 and 3.\n<answer>\n1 3 2 4\n2 4 1 3\n3 1 4 2\n4 2 3 2\n</answer>",
            "Let me fill it up.\n<answer>\n1 2 3 4\n3 1 4 2\n2 1 4 3\n4 3 2 1\n</answer>",
        ],
        fault="The given cells are never compared, so one memorized valid grid solves every puzzle of that size.",
        proof=prove_sudoku,
    ),
    Case(
        name="maze",
        reward=maze_reward,
        examples=[
            {
                "prompt": "Find the way from S to G, last line 'Moves: ...' with U, D, L, R:\nS.#.\n#..#\n##.G",
                "maze": "S.#.\n#..#\n##.G",
            },
            {
                "prompt": "Find the way from S to G, last line 'Moves: ...' with U, D, L, R:\nS###\n...#\n.#..\nG###",
                "maze": "S###\n...#\n.#..\nG###",
            },
        ],
        good=["Right first, then down in a staircase.\nMoves: R, D, R, D, R", "Straight down.\nMoves: DDD"],
        bad=["Down at once.\nMoves: D, D, R, R, R", "Along the corridor to the right.\nMoves: DRRDR"],
        fault=(
            "Leaving the maze at the top or left gives index -1, which Python wraps to the other side instead of "
            "raising IndexError."
        ),
        proof=prove_maze,
    ),
    Case(
        name="arithmetic_time_limit",
        reward=arithmetic_reward,
        examples=[
            {
                "prompt": (
                    "A snail climbs 7 m in 3 hours at a steady pace. How many meters an hour is "
                    "that? End with 'Answer: "
                    "...'."
                ),
                "answer": "7/3",
            },
            {
                "prompt": (
                    "Three of four pupils of a class of 24 came by bike. How many are they? End with 'Answer: ...'."
                ),
                "answer": "18",
            },
        ],
        good=["We divide the height by the time, 7 by 3.\nAnswer: 7/3", "Three quarters of 24 is 3 * 6.\nAnswer: 18"],
        bad=["We divide the time by the height.\nAnswer: 3/7", "A quarter of 24 is 6.\nAnswer: 6"],
        fault=(
            "Signal handlers can only be set in the main thread; in a worker thread the ValueError is swallowed "
            "and every answer scores 0."
        ),
        proof=prove_arithmetic,
    ),
    Case(
        name="riddle",
        reward=riddle_reward,
        examples=[
            {
                "prompt": "I speak without a mouth and hear without ears. What am I? End with 'Answer: ...'.",
                "answer": "echo",
            },
            {
                "prompt": "I follow you all day but am gone at night. What am I? End with 'Answer: ...'.",
                "answer": "shadow",
            },
        ],
        good=["It comes back from the mountains.\nAnswer: an echo", "It needs light.\nAnswer: Your shadow."],
        bad=["It is found in the air.\nAnswer: the wind", "It is always behind you.\nAnswer: a dog"],
        fault=(
            "Scores are cached by the completion alone, so the same short answer to another riddle gets the "
            "score of the first."
        ),
        proof=prove_riddle,
    ),
]
