"""Choices, classification, dialog, puzzles, chemistry, translation, dates and names."""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections import Counter, deque
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from functools import lru_cache

from tests.faults.case import Case


def last_line(text: str, longest: int = 120) -> str:
    """The last line without stars; empty if it is longer than an answer line would be."""
    line = text.strip().rsplit("\n", 1)[-1].strip()
    return line.replace("*", "").strip() if len(line) <= longest else ""


def last_tag(text: str, tag: str) -> str | None:
    end = text.rfind(f"</{tag}>")
    start = text.rfind(f"<{tag}>", 0, max(end, 0))
    if end < 0 or start < 0:
        return None
    return text[start + len(tag) + 2 : end].strip()


# --- 1. Multiple choice ---------------------------------------------------------------------------------------


def choice_line_reward(completion: str, answer: str) -> float:
    """The last line must be 'Answer: X' with one capital letter (stars, brackets and a final dot are fine): 1.0 if it is the gold one.

    Letters elsewhere in the text do not matter, however many there are.
    """
    match = re.fullmatch(r"Answer: ?\(?([A-Z])\)?\.?", last_line(completion))
    return 1.0 if match and match.group(1) == answer else 0.0


# --- 2. Several choices ---------------------------------------------------------------------------------------


def multi_select_reward(completions, answer, choices, **kwargs):
    """'Answers: A, C' (or 'Answers: none') on the last line, with negative marking: each right letter earns 1/right, each wrong one costs 1/wrong.

    So ticking all or nothing scores 0, and the range is -1 to 1. No such line, or a letter that is no choice: -1.
    `answer` is a string of letters such as 'AC', `choices` the number of choices.
    """
    rewards = []
    for completion, gold, count in zip(completions, answer, choices):
        match = re.fullmatch(r"Answers: ?(none|[A-Z](?:(?: ?,| and|, and)? ?[A-Z]){0,25})\.?", last_line(completion))
        ticked = set() if not match or match.group(1) == "none" else set(re.findall(r"[A-Z]", match.group(1)))
        right, offered = set(gold), set("ABCDEFGHIJKLMNOPQRSTUVWXYZ"[:count])
        if not match or not ticked <= offered:
            rewards.append(-1.0)
            continue
        wrong = offered - right
        gain = len(ticked & right) / len(right) if right else float(not ticked)
        loss = len(ticked & wrong) / len(wrong) if wrong else 0.0
        rewards.append(gain - loss)
    return rewards


# --- 3. Triage with costs -------------------------------------------------------------------------------------


def triage_reward(completion: str, payoff: dict) -> float:
    """Support triage with the row's own payoffs: the last line is 'Queue: name' and the score is what that queue is worth for the ticket.

    Payoffs run from -2 (an outage sent to marketing) to 1 (the right queue). No readable queue, or one without a payoff: -2.
    """
    line = last_line(completion)
    if not line.casefold().startswith("queue:"):
        return -2.0
    worth = payoff.get(line[6:].strip(" .").casefold())
    return -2.0 if worth is None else float(worth)


# --- 4. Agents ------------------------------------------------------------------------------------------------


def plain(text: str) -> str:
    return " ".join(text.replace("\u2019", "'").casefold().split()).strip(" .,;:!?*_\"'`")


def message_text(message: dict) -> str:
    content = message.get("content")
    if isinstance(content, list):
        content = "\n".join(part.get("text") or "" for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def agent_reply_reward(completions, answers, **kwargs):
    """Multi-turn agent: the episode must end with the assistant's own message, and its last 'Final answer:' line must be an accepted answer.

    Tool results, user turns and earlier assistant turns are not read. An episode that ends in a tool call or a tool result scores 0.
    """
    rewards = []
    for completion, accepted in zip(completions, answers):
        last = completion[-1] if completion else {}
        if last.get("role") != "assistant" or last.get("tool_calls"):
            rewards.append(0.0)
            continue
        text = message_text(last).replace("*", "")
        at = text.rfind("Final answer:")
        said = plain(text[at + len("Final answer:") :].split("\n", 1)[0]) if at >= 0 else ""
        rewards.append(1.0 if said and said in {plain(name) for name in accepted} else 0.0)
    return rewards


# --- 5. Sudoku ------------------------------------------------------------------------------------------------


def solved_sudoku_reward(completion: str, puzzle: str) -> float:
    """1.0 if the last <answer> holds the puzzle's grid, a row per line, completed by the rules and with all the given digits kept; else 0.0."""
    given = ["".join(line.split()) for line in puzzle.strip().split("\n")]
    size = len(given)
    box = math.isqrt(size)
    answer = last_tag(completion, "answer")
    if answer is None or len(answer) > 2_000:
        return 0.0
    grid = ["".join(c for c in line if c not in " |\t\r") for line in answer.split("\n")]
    grid = [row for row in grid if row and set(row) - set("-+")]
    digits = set("123456789"[:size])
    if len(grid) != size or any(len(row) != size or set(row) != digits for row in grid):
        return 0.0
    if any({row[at] for row in grid} != digits for at in range(size)):
        return 0.0
    corners = [(r, c) for r in range(0, size, box) for c in range(0, size, box)]
    if any({grid[r + i][c + j] for i in range(box) for j in range(box)} != digits for r, c in corners):
        return 0.0
    kept = all(clue == "." or clue == cell for clues, row in zip(given, grid) for clue, cell in zip(clues, row))
    return 1.0 if kept else 0.0


# --- 6. Mazes -------------------------------------------------------------------------------------------------

STEP = {"U": (-1, 0), "D": (1, 0), "L": (0, -1), "R": (0, 1)}


def shortest_walk(maze: list[str], start: tuple[int, int], goal: tuple[int, int]) -> int | None:
    distance, queue = {start: 0}, deque([start])
    while queue:
        cell = queue.popleft()
        if cell == goal:
            return distance[cell]
        for down, right in STEP.values():
            r, c = cell[0] + down, cell[1] + right
            if 0 <= r < len(maze) and 0 <= c < len(maze[r]) and maze[r][c] != "#" and (r, c) not in distance:
                distance[r, c] = distance[cell] + 1
                queue.append((r, c))
    return None


def maze_walk_reward(completions, maze, **kwargs):
    """'R3 D2' in the last <moves>: 0.0 for a walk that leaves the maze, hits a wall or does not end on G, else 0.5 + 0.5 * shortest / steps.

    The walk stops at its first illegal step, so a run length can be as large as it likes.
    """
    rewards = []
    for completion, cells in zip(completions, maze):
        marks = {cell: (r, c) for r, row in enumerate(cells) for c, cell in enumerate(row) if cell in "SG"}
        moves = (last_tag(completion, "moves") or "").replace(",", " ").split()
        place, steps, legal = marks["S"], 0, bool(moves)
        for move in moves:
            match = re.fullmatch(r"([UDLR])([0-9]{0,9})", move)
            if not match:
                legal = False
                break
            down, right = STEP[match.group(1)]
            for _ in range(int(match.group(2) or 1)):
                r, c = place[0] + down, place[1] + right
                if not (0 <= r < len(cells) and 0 <= c < len(cells[r])) or cells[r][c] == "#":
                    legal = False
                    break
                place, steps = (r, c), steps + 1
            if not legal:
                break
        best = shortest_walk(cells, marks["S"], marks["G"])
        arrived = legal and steps > 0 and place == marks["G"] and best is not None
        rewards.append(0.5 + 0.5 * best / steps if arrived else 0.0)
    return rewards


# --- 7. Names without duplicates ------------------------------------------------------------------------------


def name_key(name: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFKD", name).casefold() if c.isalpha())


def shared_credit_reward(prompts, completions, **kwargs):
    """Brainstorming: the last line is 'Name: X', one to three words of letters. A valid name earns 1 / (how many replies to the same prompt propose it).

    Relative by design, since the samples of a prompt should differ; case, spacing and accents make no new name. No valid name: 0.0.
    """
    keys = []
    for prompt, completion in zip(prompts, completions):
        line = unicodedata.normalize("NFC", last_line(completion))
        name = line[5:].strip(" .\"'") if line.casefold().startswith("name:") else ""
        valid = re.fullmatch(r"[^\W\d_]{2,20}(?:[ '-][^\W\d_]{1,20}){0,2}", name) is not None
        keys.append((json.dumps(prompt, sort_keys=True, default=str), name_key(name)) if valid else None)
    times = Counter(key for key in keys if key is not None)
    return [1.0 / times[key] if key is not None else 0.0 for key in keys]


# --- 8. Chemical equations ------------------------------------------------------------------------------------

PLAIN_DIGITS = str.maketrans("\u2080\u2081\u2082\u2083\u2084\u2085\u2086\u2087\u2088\u2089", "0123456789")


@lru_cache(maxsize=1024)
def atoms(formula: str) -> tuple[tuple[str, int], ...]:
    """'Ca(OH)2' -> (('Ca', 1), ('H', 2), ('O', 2)). Formulas come from the dataset; the cache holds nothing but them."""
    stack: list[Counter] = [Counter()]
    for element, count, opened, closed, times in re.findall(r"([A-Z][a-z]?)([0-9]*)|(\()|(\))([0-9]*)", formula):
        if element:
            stack[-1][element] += int(count or 1)
        elif opened:
            stack.append(Counter())
        elif closed:
            group = stack.pop()
            for name, number in group.items():
                stack[-1][name] += number * int(times or 1)
    return tuple(sorted(stack[0].items()))


def read_side(text: str, species: list[str]) -> list[int] | None:
    """The coefficients of one side in the order of `species`; None unless exactly these occur, each once."""
    found: dict[str, int] = {}
    for term in text.split("+"):
        match = re.fullmatch(r"([1-9][0-9]{0,3})?([A-Z(][A-Za-z0-9()]{0,60})", term)
        if not match or match.group(2) in found:
            return None
        found[match.group(2)] = int(match.group(1) or 1)
    return [found[name] for name in species] if set(found) == set(species) else None


def balanced_equation_reward(completion: str, reactants: list[str], products: list[str]) -> float:
    """'Equation: 2 H2 + O2 -> 2 H2O' on the last such line: 1.0 if it has the given substances, balances and cannot be divided; 0.3 if it could be.

    Substances may stand in any order; state symbols, subscripts and the kind of arrow do not matter.
    """
    at = completion.rfind("Equation:")
    if at < 0:
        return 0.0
    text = completion[at + len("Equation:") :].split("\n", 1)[0].translate(PLAIN_DIGITS)
    if len(text) > 500:
        return 0.0
    for arrow in ("\\rightarrow", "\\to", "\u2192", "\u27f6", "-->", "=>", "="):
        text = text.replace(arrow, "->")
    text = re.sub(r"\((?:s|l|g|aq)\)", "", text)
    sides = "".join(c for c in text if c not in " \t\r$*_{}`.\u00b7").split("->")
    if len(sides) != 2:
        return 0.0
    left, right = read_side(sides[0], reactants), read_side(sides[1], products)
    if left is None or right is None:
        return 0.0
    balance: Counter = Counter()
    for sign, counts, names in ((1, left, reactants), (-1, right, products)):
        for times, name in zip(counts, names):
            for element, number in atoms(name):
                balance[element] += sign * times * number
    if any(balance.values()):
        return 0.0
    return 1.0 if math.gcd(*left, *right) == 1 else 0.3


# --- 9. Translation -------------------------------------------------------------------------------------------

ORDERS, BETA = 6, 2.0


def chrf(said: str, reference: str) -> float:
    """chrF: F-score with beta 2 of the clipped matches of character n-grams up to six, blanks left out."""
    one, two = "".join(said.split()), "".join(reference.split())
    precisions, recalls = [], []
    for n in range(1, ORDERS + 1):
        made = Counter(one[i : i + n] for i in range(len(one) - n + 1))
        wanted = Counter(two[i : i + n] for i in range(len(two) - n + 1))
        if not wanted:
            break
        hits = sum((made & wanted).values())
        precisions.append(hits / sum(made.values()) if made else 0.0)
        recalls.append(hits / sum(wanted.values()))
    if not precisions:
        return 0.0
    precision, recall = sum(precisions) / len(precisions), sum(recalls) / len(recalls)
    if precision + recall == 0.0:
        return 0.0
    return (1 + BETA**2) * precision * recall / (BETA**2 * precision + recall)


def score_translation(completion: str, references: list[str]) -> float:
    said = last_tag(completion, "translation")
    if not said or len(said) > 4 * max(map(len, references)) + 100:
        return 0.0
    return max(chrf(unicodedata.normalize("NFC", said), unicodedata.normalize("NFC", text)) for text in references)


def chrf_reward(completions, references, **kwargs):
    """chrF (0 to 1) of the last <translation> against the best of the row's references; 0.0 without one or for a runaway.

    Rows are scored side by side; map() keeps their order.
    """
    with ThreadPoolExecutor(max_workers=2) as pool:
        return list(pool.map(score_translation, completions, references))


# --- 10. Dates ------------------------------------------------------------------------------------------------


def iso_date_reward(completion: str, answer: str) -> float:
    """Date extraction, strict format: the last line is 'Date: YYYY-MM-DD'. 1.0 for the day, 0.4 for the right month and year, 0.1 for the year, else 0.0."""
    match = re.fullmatch(r"Date: ?([0-9]{4}-[0-9]{2}-[0-9]{2})\.?", last_line(completion))
    if not match:
        return 0.0
    try:
        said = date.fromisoformat(match.group(1))
    except ValueError:
        return 0.0
    gold = date.fromisoformat(answer)
    if said == gold:
        return 1.0
    if (said.year, said.month) == (gold.year, gold.month):
        return 0.4
    return 0.1 if said.year == gold.year else 0.0


SMALL_PUZZLE = "1 . . 4\n. 4 1 .\n2 . 4 .\n. 3 . 1"
OTHER_PUZZLE = ". 1 . 3\n3 . 1 .\n. 3 . 4\n. . 3 ."
MAZE = ["S.#", "..#", "#.G"]


def cases() -> list[Case]:
    return [
        Case(
            name="choice_line",
            reward=choice_line_reward,
            examples=[
                {"prompt": "Which is a mammal? A) shark B) whale C) tuna. Last line: 'Answer: X'.", "answer": "B"},
                {"prompt": "Which is a vitamin? A) C B) D C) both. Last line: 'Answer: X'.", "answer": "C"},
            ],
            good=[
                "A shark is a fish, and so is the tuna (C). A whale nurses its young, so it is B.\nAnswer: B",
                "A names vitamin C and B names vitamin D, and the answer is a matter of both.\n**Answer: (C)**",
            ],
            bad=[
                "All of them live in the sea, but only the shark has teeth.\nAnswer: A",
                "Vitamin C is in lemons, so it is A, or C.\nAnswer: A",
            ],
        ),
        Case(
            name="multi_select",
            reward=multi_select_reward,
            examples=[
                {"prompt": "Which are prime? A) 2 B) 9 C) 13 D) 21 E) 1. Last line: 'Answers: ...'.", "answer": "AC", "choices": 5},
                {"prompt": "Which are noble gases? A) neon B) nitrogen C) argon D) xenon. Last line: 'Answers: ...'.", "answer": "ACD", "choices": 4},
            ],
            good=[
                "9 is 3 * 3, 21 is 3 * 7, and 1 is not a prime.\nAnswers: A, C",
                "Nitrogen forms ammonia, the others do not react.\nAnswers: A, C and D",
            ],
            bad=[
                "They are all odd but for the first.\nAnswers: B, C, D",
                "They are all gases.\nAnswers: A, B, C, D",
            ],
        ),
        Case(
            name="ticket_triage",
            reward=triage_reward,
            examples=[
                {"prompt": "Ticket: 'Nobody here can log in since 9.' Queues: outage, billing, howto, marketing. Last line 'Queue: name'.", "payoff": {"outage": 1.0, "howto": -0.5, "billing": -1.0, "marketing": -2.0}},
                {"prompt": "Ticket: 'I was charged twice in May.' Queues: outage, billing, howto, marketing. Last line 'Queue: name'.", "payoff": {"outage": -1.0, "howto": 0.0, "billing": 1.0, "marketing": None}},
            ],
            good=[
                "It affects everybody and began at one moment, so something is down.\nQueue: outage",
                "It is about a payment.\nQueue: Billing",
            ],
            bad=[
                "They may have forgotten how to log in.\nQueue: howto",
                "The customer is unhappy and should be won back.\nQueue: marketing",
            ],
        ),
        Case(
            name="agent_reply",
            reward=agent_reply_reward,
            examples=[
                {"prompt": [{"role": "user", "content": "Use the search tool if you need it: who is the mayor of Newtown? End with 'Final answer: ...'."}], "answers": ["Rosa Klein", "Klein"]},
                {"prompt": [{"role": "user", "content": "Use the search tool if you need it: when was the Newtown bridge built? End with 'Final answer: ...'."}], "answers": ["1931"]},
            ],
            good=[
                [
                    {"role": "assistant", "content": None, "tool_calls": [{"type": "function", "function": {"name": "search", "arguments": {"query": "mayor of Newtown"}}}]},
                    {"role": "tool", "name": "search", "content": "Newtown Gazette: Mayor Rosa Klein opened the fair."},
                    {"role": "assistant", "content": "According to the Gazette, the mayor is Rosa Klein.\nFinal answer: Rosa Klein"},
                ],
                [{"role": "assistant", "content": "The bridge was opened in the same year as the station.\n**Final answer:** 1931."}],
            ],
            bad=[
                [
                    {"role": "assistant", "content": None, "tool_calls": [{"type": "function", "function": {"name": "search", "arguments": {"query": "mayor of Newtown"}}}]},
                    {"role": "tool", "name": "search", "content": "Newtown Gazette: Mayor Rosa Klein opened the fair."},
                    {"role": "assistant", "content": "I could not find it, but I think it is Paul Stein.\nFinal answer: Paul Stein"},
                ],
                [{"role": "assistant", "content": "The bridge is from the time after the war.\nFinal answer: 1947"}],
            ],
        ),
        Case(
            name="solved_sudoku",
            reward=solved_sudoku_reward,
            examples=[
                {"prompt": "Solve this 4x4 sudoku; the grid goes into <answer>:\n" + SMALL_PUZZLE, "puzzle": SMALL_PUZZLE},
                {"prompt": "Solve this 4x4 sudoku; the grid goes into <answer>:\n" + OTHER_PUZZLE, "puzzle": OTHER_PUZZLE},
            ],
            good=[
                "The first row lacks 2 and 3, and the 3 in the second column puts the 2 first.\n<answer>\n1 2 3 4\n3 4 1 2\n2 1 4 3\n4 3 2 1\n</answer>",
                "The last column lacks 1 and 2, and the second row has its 1 already.\n<answer>\n2 1 | 4 3\n3 4 | 1 2\n----+----\n1 3 | 2 4\n4 2 | 3 1\n</answer>",
            ],
            bad=[
                "I fill in the rows.\n<answer>\n1 2 3 4\n2 4 1 3\n2 3 4 1\n4 3 2 1\n</answer>",
                "Here is a valid grid.\n<answer>\n1 2 3 4\n3 4 1 2\n2 1 4 3\n4 3 2 1\n</answer>",
            ],
        ),
        Case(
            name="maze_walks",
            reward=maze_walk_reward,
            examples=[
                {"prompt": "Walk from S to G: <moves>R3 D2</moves>\n" + "\n".join(MAZE), "maze": MAZE},
                {"prompt": "Walk from S to G: <moves>R3 D2</moves>\nS..G", "maze": ["S..G"]},
            ],
            good=[
                "The wall on the right leaves the middle column.\n<moves>R1 D2 R1</moves>",
                "It is a straight corridor.\n<moves>R3</moves>",
            ],
            bad=[
                "G is two to the right and two down.\n<moves>R2 D2</moves>",
                "It is a straight corridor.\n<moves>R2</moves>",
            ],
        ),
        Case(
            name="shared_credit_names",
            reward=shared_credit_reward,
            examples=[
                {"prompt": "Propose a name for a bakery that delivers by bicycle. Last line 'Name: ...', at most three words."},
                {"prompt": "Propose a name for an app that names birds by their song. Last line 'Name: ...', at most three words."},
            ],
            good=[
                "It should bring both the wheels and the bread to mind.\nName: Rolling Loaf",
                "It is short and has a bird in it.\nName: Wrenly",
            ],
            bad=[
                "It should be honest.\nName: The bakery that brings bread by bicycle",
                "There are many options, such as Chirp or Birdie, depending on the audience.",
            ],
        ),
        Case(
            name="balanced_equations",
            reward=balanced_equation_reward,
            examples=[
                {"prompt": "Balance: C3H8 + O2 -> CO2 + H2O. Last line 'Equation: ...'.", "reactants": ["C3H8", "O2"], "products": ["CO2", "H2O"]},
                {"prompt": "Balance: Ca(OH)2 + HCl -> CaCl2 + H2O. Last line 'Equation: ...'.", "reactants": ["Ca(OH)2", "HCl"], "products": ["CaCl2", "H2O"]},
            ],
            good=[
                "Three carbons give 3 CO2 and eight hydrogens 4 H2O, which takes ten oxygens.\nEquation: C3H8 + 5 O2 -> 3 CO2 + 4 H2O",
                "Two chlorines are needed, and then two waters form.\nEquation: Ca(OH)\u2082(aq) + 2 HCl(aq) \u2192 CaCl\u2082(aq) + 2 H\u2082O(l)",
            ],
            bad=[
                "Three carbons give 3 CO2.\nEquation: C3H8 + 3 O2 -> 3 CO2 + 4 H2O",
                "All coefficients are one.\nEquation: Ca(OH)2 + HCl -> CaCl2 + H2O",
            ],
        ),
        Case(
            name="chrf_translation",
            reward=chrf_reward,
            examples=[
                {"prompt": "Translate into German, in <translation> tags: The library is closed on Mondays.", "references": ["Die Bibliothek ist montags geschlossen.", "Die B\u00fccherei hat montags geschlossen."]},
                {"prompt": "Translate into French, in <translation> tags: I would like a coffee, please.", "references": ["Je voudrais un caf\u00e9, s'il vous pla\u00eet."]},
            ],
            good=[
                "'On Mondays' is an adverb in German.\n<translation>Die Bibliothek ist montags geschlossen.</translation>",
                "The polite form takes the conditional.\n<translation>Je voudrais un caf\u00e9, s'il vous pla\u00eet.</translation>",
            ],
            bad=[
                "I translate word by word.\n<translation>Das Buch war gestern zu Ende.</translation>",
                "It is about coffee.\n<translation>Tu as une tasse de th\u00e9 ?</translation>",
            ],
        ),
        Case(
            name="iso_dates",
            reward=iso_date_reward,
            examples=[
                {"prompt": "When is the meeting? 'We meet on the second Tuesday of October 2024.' Last line 'Date: YYYY-MM-DD'.", "answer": "2024-10-08"},
                {"prompt": "When is it due? 'Due on the last day of February 2024.' Last line 'Date: YYYY-MM-DD'.", "answer": "2024-02-29"},
            ],
            good=[
                "October 2024 begins on a Tuesday, so the second one is the 8th.\nDate: 2024-10-08",
                "2024 is a leap year.\n**Date: 2024-02-29**",
            ],
            bad=[
                "The second Tuesday is the 15th.\nDate: 2024-10-15",
                "February has 28 days.\nDate: 2024-02-28",
            ],
        ),
    ]
