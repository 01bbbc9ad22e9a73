"""Cases about ranking, planning, notation, constraints and style."""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from types import MappingProxyType
from typing import Any

import numpy as np

from tests.faults.case import Case


def last_text(messages: Any) -> str:
    """Text of the last message of a chat completion; content may be None or a list of parts."""
    content = messages[-1].get("content") if messages else ""
    if isinstance(content, list):
        content = "".join(part.get("text") or "" for part in content if isinstance(part, Mapping))
    return content or ""


# --------------------------------------------------------------------------------------
# Diversity within a group


def shingles(text: str, n: int = 3) -> frozenset[tuple[str, ...]]:
    """Word n-grams of the beginning (20,000 characters) of a text."""
    words = re.findall(r"\w+", text[:20_000].casefold())
    return frozenset(zip(*(words[i:] for i in range(n))))


def jaccard(a: frozenset, b: frozenset) -> float:
    union = len(a | b)
    return len(a & b) / union if union else 0.0


def group_diversity_reward(prompts: list[str], completions: list[str], **kwargs: Any) -> list[float]:
    """Diversity bonus against mode collapse: 1 minus the mean similarity (Jaccard of word trigrams) with the other
    completions of the same prompt. It is relative to the group on purpose; quality is judged by another reward.

    A completion that is alone in its group has nobody to resemble and gets 1.0; one of fewer than 8 different words
    gets 0.0, so that degenerate replies are not 'diverse'.
    """
    sets = [shingles(text) for text in completions]
    rewards = []
    for i, (prompt, mine) in enumerate(zip(prompts, sets)):
        others = [sets[j] for j in range(len(sets)) if j != i and prompts[j] == prompt]
        if len(set(re.findall(r"\w+", completions[i][:20_000].casefold()))) < 8:
            rewards.append(0.0)
        elif not others:
            rewards.append(1.0)
        else:
            rewards.append(1.0 - sum(jaccard(mine, other) for other in others) / len(others))
    return rewards


_story = "Write the first sentence of a story about a lighthouse."

diversity_case = Case(
    name="group_diversity",
    reward=group_diversity_reward,
    examples=[{"prompt": _story}, {"prompt": _story}, {"prompt": _story}],
    good=[
        "Nobody had told the new keeper that the lamp was afraid of the dark.",
        "On the morning after the storm, Marta found a piano on the rocks below the tower.",
        "It took my grandfather forty winters to learn the names of all the waves.",
    ],
    bad=["The old lighthouse stood on the cliff and looked out over the sea."] * 3,
)


# --------------------------------------------------------------------------------------
# Retrieval


@dataclass(frozen=True)
class NdcgReward:
    """nDCG@k of 'Ranking: D3, D1, D2'. The first mention of a document counts, later ones are ignored; unknown
    documents take a place without any gain. A row without relevant documents gets 0.0."""

    gain_base: float = 2.0

    @property
    def __name__(self) -> str:
        return "ndcg_reward"

    def dcg(self, relevances: Iterable[int]) -> float:
        return sum((self.gain_base**rel - 1.0) / math.log2(place + 2) for place, rel in enumerate(relevances))

    def __call__(self, completion: str, relevance: Mapping[str, int], k: int) -> float:
        _, marker, tail = completion.rpartition("Ranking:")
        lines = tail.strip(" *\r\n").splitlines()
        if not marker or not lines:
            return 0.0
        ranking = list(dict.fromkeys(re.findall(r"\bD[0-9]{1,6}\b", lines[0][:5000])))[:k]
        ideal = self.dcg(sorted(relevance.values(), reverse=True)[:k])
        return self.dcg(relevance.get(doc, 0) for doc in ranking) / ideal if ideal else 0.0


ndcg_case = Case(
    name="ndcg_first_mention",
    reward=NdcgReward(),
    examples=[
        {
            "prompt": "Query: train from Oslo to Bergen\nD1: Oslo bus map\nD2: Bergen line timetable\nD3: Norwegian rail tickets\nD4: Bergen fish market\nRank the documents: 'Ranking: Da, Db, ...'.",
            "relevance": {"D1": 0, "D2": 3, "D3": 2, "D4": 0},
            "k": 3,
        },
        {
            "prompt": "Query: sourdough too sour\nD1: flour types\nD2: fixing an acidic starter\nD3: history of bread\nRank the documents: 'Ranking: Da, Db, ...'.",
            "relevance": {"D1": 1, "D2": 3, "D3": 0},
            "k": 2,
        },
    ],
    good=["The timetable comes first, then tickets.\nRanking: D2, D3, D1, D4", "D2 treats just that.\nRanking: D2 > D1 > D3"],
    bad=["Oslo first.\nRanking: D1, D4, D3, D2", "In order.\nRanking: D3, D1, D2"],
)


# --------------------------------------------------------------------------------------
# Planning, chat


def plan_steps(text: str) -> list[str]:
    """Items of the numbered list; the last list wins if there are several (a list starts with number 1)."""
    steps: list[str] = []
    for line in text.splitlines():
        m = re.match(r"\s{0,8}\**([0-9]{1,3})[.)]\**\s{1,4}(\S.*)", line)
        if m:
            if int(m[1]) == 1:
                steps = []
            steps.append(m[2].strip(" .*`").casefold())
    return steps


def plan_order_reward(completions, tasks, needs, **kwargs):
    """A plan is a numbered list with every task exactly once, by its name, and no other item. 1.0 if each task comes
    after all tasks that it needs (`needs`: pairs [task, needed task]), else 0.0. Any valid order is right."""
    rewards = []
    for messages, names, pairs in zip(completions, tasks, needs):
        steps = plan_steps(last_text(messages))
        if Counter(steps) != Counter(name.casefold() for name in names):
            rewards.append(0.0)
            continue
        place = {step: i for i, step in enumerate(steps)}
        rewards.append(1.0 if all(place[a.casefold()] > place[b.casefold()] for a, b in pairs) else 0.0)
    return rewards


plan_case = Case(
    name="plan_dependencies",
    reward=plan_order_reward,
    examples=[
        {
            "prompt": [{"role": "user", "content": "Tasks: paint walls, lay floor, install wiring, plaster. Plaster needs wiring, paint needs plaster, floor needs paint. Give the order as a numbered list with exactly these names."}],
            "tasks": ["paint walls", "lay floor", "install wiring", "plaster"],
            "needs": [["plaster", "install wiring"], ["paint walls", "plaster"], ["lay floor", "paint walls"]],
        },
        {
            "prompt": [{"role": "user", "content": "Tasks: bake, mix dough, heat oven, cool. Bake needs mix dough and heat oven, cool needs bake. Give the order as a numbered list with exactly these names."}],
            "tasks": ["bake", "mix dough", "heat oven", "cool"],
            "needs": [["bake", "mix dough"], ["bake", "heat oven"], ["cool", "bake"]],
        },
    ],
    good=[
        "Wiring goes into the walls before plaster.\n1. Install wiring\n2. Plaster\n3. Paint walls\n4. Lay floor",
        "The oven can heat first.\n\n1. heat oven\n2. mix dough\n3. bake\n4. cool",
    ],
    bad=[
        "The floor comes first so that we can walk on it.\n1. Lay floor\n2. Install wiring\n3. Plaster\n4. Paint walls",
        "1. mix dough\n2. bake\n3. cool",
    ],
)


# --------------------------------------------------------------------------------------
# Chemical formulas

_SUB = {ord(c): str(i) for i, c in enumerate("₀₁₂₃₄₅₆₇₈₉")}
_SUP = {**{ord(c): str(i) for i, c in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")}, ord("⁺"): "+", ord("⁻"): "-"}
_SUP_RUN = re.compile("[" + "".join(map(chr, _SUP)) + "]{1,4}")


def plain_formula(text: str) -> str:
    """One spelling per formula: H₂SO₄, H_2SO_4 and \\ce{H2SO4} are H2SO4; SO₄²⁻ is SO4^2-. Case is kept: CO is not Co."""
    text = _SUP_RUN.sub(lambda m: "^" + m[0].translate(_SUP), text.translate(_SUB))
    text = re.sub(r"\\(?:ce|mathrm|text|mathsf|rm)(?![a-zA-Z])", "", text.replace("\u2212", "-").replace("\\cdot", "."))
    text = re.sub(r"[\s{}$_`\\]", "", text.strip(" *`$"))
    return re.sub(r"[\u00b7\u2022\u2219*]", ".", text.strip("*")).rstrip(".")


def formula_reward(completion: str, formula: str) -> float:
    """The line after the last 'Formula:' must be the reference formula, element symbols in the right case. Charges are
    written after ^ or in superscript; the plain spelling without ^ (NH4+, SO42-) is accepted too."""
    _, marker, tail = completion.rpartition("Formula:")
    lines = tail.strip(" *\r\n").splitlines()
    if not marker or not lines or len(lines[0]) > 200:
        return 0.0
    said, wanted = plain_formula(lines[0]), plain_formula(formula)
    return 1.0 if said == wanted or ("^" not in said and said == wanted.replace("^", "")) else 0.0


formula_case = Case(
    name="chemical_formula",
    reward=formula_reward,
    examples=[
        {"prompt": "What is the formula of sulfuric acid? Explain in a sentence, then 'Formula: ...'.", "formula": "H2SO4"},
        {"prompt": "What is the formula of carbon monoxide? Explain in a sentence, then 'Formula: ...'.", "formula": "CO"},
        {"prompt": "What is the formula of the ammonium ion? Explain in a sentence, then 'Formula: ...'.", "formula": "NH4^+"},
    ],
    good=["Two protons and a sulfate ion.\nFormula: H₂SO₄", "One carbon and one oxygen atom.\nFormula: CO", "Ammonia with one more proton.\nFormula: $\\mathrm{NH_4^+}$"],
    bad=["Two protons and a sulfite ion.\nFormula: H2SO3", "Carbon with oxygen.\nFormula: Co", "The gas with the sharp smell.\nFormula: NH3"],
)


# --------------------------------------------------------------------------------------
# Concept coverage


def names_concept(text: str, wordings: Iterable[str]) -> bool:
    return any(re.search(rf"(?<!\w){re.escape(w.casefold())}(?!\w)", text) for w in wordings)


def concept_coverage_reward(completions, rubric, max_words, **kwargs):
    """Weighted share of the concepts of the rubric that a short explanation names (each concept: accepted wordings and
    a weight). A concept counts once however often it is named; an explanation over the word limit gets 0.0, so
    dumping a glossary does not pay. Coverage only, a judge model looks at the quality.
    """
    scores = []
    for text, concepts, limit in zip(completions, rubric, max_words):
        if len(text.split()) > limit or len(text) > 12 * limit:
            scores.append(0.0)
            continue
        lowered = " ".join(text.casefold().replace("\u2019", "'").split())
        reached = sum(c["weight"] for c in concepts if names_concept(lowered, c["any_of"]))
        scores.append(reached / sum(c["weight"] for c in concepts))
    return scores


coverage_case = Case(
    name="concept_coverage",
    reward=concept_coverage_reward,
    examples=[
        {
            "prompt": "Explain in at most 50 words why leaves turn yellow in autumn.",
            "rubric": [
                {"any_of": ["chlorophyll"], "weight": 2},
                {"any_of": ["carotenoid", "carotenoids", "carotene"], "weight": 1},
                {"any_of": ["break down", "breaks down", "broken down", "breakdown", "degraded"], "weight": 1},
            ],
            "max_words": 50,
        },
        {
            "prompt": "Explain in at most 50 words why we see lightning before we hear thunder.",
            "rubric": [{"any_of": ["speed of light", "light travels", "light is"], "weight": 1}, {"any_of": ["speed of sound", "sound travels", "sound needs", "sound takes"], "weight": 1}],
            "max_words": 50,
        },
    ],
    good=[
        "When days get shorter the tree breaks down its green chlorophyll and stores the nitrogen. The yellow carotenoids, which were there all the time, become visible.",
        "Light travels so fast that the flash reaches us at once, while sound takes about three seconds for each kilometre.",
    ],
    bad=["The tree prepares for winter and lets the leaves dry, which makes them lose their green colour.", "The flash comes first and makes the thunder afterwards, so there is a delay."],
)


# --------------------------------------------------------------------------------------
# Lipograms


def latin_letters(text: str) -> str | None:
    """Lower-case base letters of a text (é -> e), None if it contains letters of another script (look-alikes)."""
    letters = [c for c in unicodedata.normalize("NFKD", text).casefold() if c.isalpha()]
    return "".join(letters) if all("a" <= c <= "z" for c in letters) else None


def lipogram_reward(completion: str, letter: str, min_words: int) -> float:
    """Constrained writing: the text must not contain the letter, in upper or lower case, with or without an accent, and
    must have at least `min_words` different words of Latin letters. Only the constraint is judged: 1.0 or 0.0."""
    letters = latin_letters(completion)
    words = set(re.findall(r"[^\W\d_]+", completion.casefold()))
    ok = letters is not None and letter.casefold() not in letters and len(words) >= min_words
    return 1.0 if ok else 0.0


lipogram_case = Case(
    name="lipogram",
    reward=lipogram_reward,
    examples=[
        {"prompt": "Write a text of at least 12 different words about a garden without the letter e.", "letter": "e", "min_words": 12},
        {"prompt": "Write a text of at least 10 different words about the sea without the letter a.", "letter": "a", "min_words": 10},
    ],
    good=[
        "A robin sings on a mossy wall, and tulips grow along a dusty path. Soon a warm wind will bring rain.",
        "Those blue, restless hills of surf move on without end; gulls circle high over them.",
    ],
    bad=[
        "In the garden there are roses and tulips, and the bees visit them all day long.",
        "The sea is calm today and a gull sails over the harbour.",
    ],
)


# --------------------------------------------------------------------------------------
# ISBN


def isbn13_valid(digits: str) -> bool:
    total = sum(int(d) * (3 if i % 2 else 1) for i, d in enumerate(digits))
    return len(digits) == 13 and total % 10 == 0


def isbn_reward(completion: str, prefix: str) -> float:
    """Make up a valid ISBN-13. The last line must be 'ISBN: ' and 13 digits, hyphens or spaces between them allowed,
    that begin with the prefix and have a right check digit. Any such number is right."""
    lines = completion.strip().splitlines()
    m = re.fullmatch(r"[\s*]{0,4}ISBN(?:-13)?:[\s*]{0,4}([0-9][0-9 \u2010\u2011-]{11,20}[0-9])[\s*.]{0,4}", lines[-1]) if lines else None
    digits = re.sub(r"[ \u2010\u2011-]", "", m[1]) if m else ""
    return 1.0 if isbn13_valid(digits) and digits.startswith(prefix) else 0.0


isbn_case = Case(
    name="valid_isbn13",
    reward=isbn_reward,
    examples=[
        {"prompt": "Make up a valid ISBN-13 that begins with 978-3. Show how the check digit comes about; the last line must be 'ISBN: ...'.", "prefix": "9783"},
        {"prompt": "Make up a valid ISBN-13 that begins with 979-10. Show how the check digit comes about; the last line must be 'ISBN: ...'.", "prefix": "97910"},
    ],
    good=[
        "I take 978-3-16-148410. Weighted 1 and 3: 9+21+8+9+1+18+1+12+8+12+1+0 = 100, so the check digit is 0.\nISBN: 978-3-16-148410-0",
        "I take 979-10-90636-07. The weighted sum is 9+21+9+3+0+27+0+18+3+18+0+21 = 129, so the check digit is 1.\nISBN: 979-10-90636-07-1",
    ],
    bad=["I take 978-3-16-148410 and add a 5.\nISBN: 978-3-16-148410-5", "I take 979-10-90636-07 and a 0.\nISBN: 979-10-90636-07-0"],
)


# --------------------------------------------------------------------------------------
# Matrices, numpy


def _reject(name):
    raise ValueError(name)


def read_matrix(text, max_chars=5000):
    """2-d float array after the last 'Result:', e.g. [[1, 2.5], [0, -3]]; None unless it is a full, finite, numeric matrix."""
    _, marker, tail = text.rpartition("Result:")
    source = tail.strip(" *`$.\r\n\t")
    if not marker or not source or len(source) > max_chars:
        return None
    try:
        rows = json.loads(source.replace("\u2212", "-"), parse_constant=_reject)
    except (ValueError, RecursionError):
        return None
    if not isinstance(rows, list) or not rows or not all(isinstance(row, list) and row for row in rows):
        return None
    if len({len(row) for row in rows}) != 1 or not all(type(x) in (int, float) and abs(x) < 1e12 for row in rows for x in row):
        return None
    return np.array(rows, dtype=float)


def matrix_reward(completions, matrix, **kwargs):
    """1.0 if the matrix has the right shape and every entry is right to 1e-3 (absolute, or relative for large entries)."""
    out = np.zeros(len(completions))
    for i, (text, gold) in enumerate(zip(completions, matrix)):
        said, wanted = read_matrix(text), np.array(gold, dtype=float)
        out[i] = said is not None and said.shape == wanted.shape and bool(np.allclose(said, wanted, rtol=1e-3, atol=1e-3))
    return out.tolist()


matrix_case = Case(
    name="matrix_result",
    reward=matrix_reward,
    examples=[
        {"prompt": "Multiply [[1, 2], [3, 4]] by [[0, 1], [1, 0]]. Explain, then end with 'Result: [[..., ...], [..., ...]]'.", "matrix": [[2, 1], [4, 3]]},
        {"prompt": "Invert [[2, 0], [0, 3]]. Decimals to 4 places. Explain, then end with 'Result: [[..., ...], [..., ...]]'.", "matrix": [[0.5, 0.0], [0.0, 0.33333333]]},
    ],
    good=["The second matrix swaps the columns.\nResult: [[2, 1], [4, 3]]", "A diagonal matrix is inverted entry by entry.\nResult: [[0.5, 0], [0, 0.3333]]"],
    bad=["The second matrix swaps the rows.\nResult: [[3, 4], [1, 2]]", "Every entry is inverted.\nResult: [[0.5, 1], [1, 0.3333]]"],
)


# --------------------------------------------------------------------------------------
# Clock times


def clock_minutes(text: str) -> int | None:
    """Minutes after midnight of the line after the last 'Time:', as '15:45', '3:45 PM' or '3:45 p.m.'."""
    _, marker, tail = text.rpartition("Time:")
    lines = tail.strip(" *\r\n").splitlines()
    if not marker or not lines or len(lines[0]) > 40:
        return None
    m = re.fullmatch(r"([0-9]{1,2}):([0-9]{2})(?:\s?([ap])\.?m\.?)?", lines[0].strip(" *.").lower())
    if not m:
        return None
    hour, minute = int(m[1]), int(m[2])
    if m[3]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if m[3] == "p" else 0)
    return hour * 60 + minute if hour < 24 and minute < 60 else None


@dataclass(frozen=True, slots=True)
class ClockReward:
    """Time of day, with partial credit: 1.0 for the exact minute, then linearly down to 0.0 at `reach` minutes off. The clock
    is a circle, so 23:50 and 00:10 are 20 minutes apart. A time without am/pm is read on the 24-hour clock."""

    reach: int = 60

    @property
    def __name__(self) -> str:
        return "clock_reward"

    def distance(self, said: int, gold: str) -> int:
        hour, minute = map(int, gold.split(":"))
        off = (said - hour * 60 - minute) % 1440
        return min(off, 1440 - off)

    def __call__(self, completions: list[str], time: list[str], **kwargs: Any) -> list[float]:
        said = [clock_minutes(text) for text in completions]
        return [0.0 if s is None else max(0.0, 1.0 - self.distance(s, gold) / self.reach) for s, gold in zip(said, time)]


clock_case = Case(
    name="clock_time_circular",
    reward=ClockReward(),
    examples=[
        {"prompt": "The film starts at 10:35 PM and lasts 1 h 40 min. When does it end? Finish with 'Time: ...' (24-hour clock, or with AM/PM).", "time": "00:15"},
        {"prompt": "School starts at 8:05 AM. The way takes 35 minutes, breakfast 20. When must I get up at the latest? Finish with 'Time: ...' (24-hour clock, or with AM/PM).", "time": "07:10"},
    ],
    good=["An hour later it is 11:35 PM, and 40 minutes later a quarter past midnight.\nTime: 12:15 AM", "55 minutes before 8:05.\nTime: 7:10"],
    bad=["10:35 plus 1:40.\nTime: 12:15 PM", "55 minutes before 8:05.\nTime: 8:50 AM"],
)


# --------------------------------------------------------------------------------------
# Search-and-replace edits


class EditError(ValueError):
    """The edit blocks of a completion cannot be applied."""


def edit_blocks(text: str) -> list[tuple[str, list[str]]]:
    """(search text, new lines) of the blocks <<<<<<< SEARCH / ======= / >>>>>>> REPLACE, each marker on a line of its own."""
    blocks, state, search, replace = [], "outside", [], []
    for line in text.replace("\r\n", "\n").split("\n"):
        mark = line.rstrip()
        if state == "outside":
            if mark == "<<<<<<< SEARCH":
                state, search, replace = "search", [], []
        elif state == "search":
            if mark == "=======":
                state = "replace"
            else:
                search.append(line)
        elif mark == ">>>>>>> REPLACE":
            blocks.append(("\n".join(search), replace))
            state = "outside"
        else:
            replace.append(line)
    if state != "outside":
        raise EditError("unfinished block")
    return blocks


def apply_edits(source: str, text: str, max_blocks: int = 20) -> str:
    blocks = edit_blocks(text)
    if not 1 <= len(blocks) <= max_blocks:
        raise EditError("no block, or too many")
    lines = "\n" + source.rstrip("\n") + "\n"
    for search, replace in blocks:
        old = "\n" + search + "\n"
        at = lines.find(old)
        if not search.strip() or at < 0 or lines.find(old, at + 1) >= 0:
            raise EditError("the search text must occur exactly once")
        lines = lines[:at] + "\n" + "".join(line + "\n" for line in replace) + lines[at + len(old) :]
        if len(lines) > 1_000_000:
            raise EditError("too long")
    return lines


def same_code(a: str, b: str) -> bool:
    """Equal up to white space at the ends of lines and empty lines at the ends of the file."""
    first, second = ([line.rstrip() for line in s.strip("\n").split("\n")] for s in (a, b))
    return first == second


def edit_reward(completions, source, edited, **kwargs):
    """Code editing by search-and-replace blocks. 1.0 if the blocks apply (whole lines, each search text found exactly once)
    and turn `source` into `edited`; else 0.0."""
    rewards = []
    for text, before, after in zip(completions, source, edited):
        try:
            rewards.append(float(same_code(apply_edits(before, text), after)))
        except EditError:
            rewards.append(0.0)
    return rewards


_code = "def mean(xs):\n    total = 0\n    for x in xs:\n        total += x\n    return total / len(xs)\n"
_code_2 = "LIMIT = 10\n\ndef clip(x):\n    return min(x, 10)\n"
_edit_rules = "Answer with blocks of the form\n<<<<<<< SEARCH\nold lines\n=======\nnew lines\n>>>>>>> REPLACE\n"

edit_case = Case(
    name="search_replace_edit",
    reward=edit_reward,
    examples=[
        {
            "prompt": f"{_code}\nReturn 0.0 for an empty list, as the first statement 'if not xs: return 0.0' on one line. {_edit_rules}",
            "source": _code,
            "edited": _code.replace("    total = 0\n", "    if not xs: return 0.0\n    total = 0\n"),
        },
        {"prompt": f"{_code_2}\nReplace the literal 10 in clip by LIMIT and change nothing else. {_edit_rules}", "source": _code_2, "edited": "LIMIT = 10\n\ndef clip(x):\n    return min(x, LIMIT)\n"},
    ],
    good=[
        "The check goes before the sum.\n\n<<<<<<< SEARCH\n    total = 0\n=======\n    if not xs: return 0.0\n    total = 0\n>>>>>>> REPLACE\n",
        "One line changes.\n\n```python\n<<<<<<< SEARCH\ndef clip(x):\n    return min(x, 10)\n=======\ndef clip(x):\n    return min(x, LIMIT)\n>>>>>>> REPLACE\n```",
    ],
    bad=[
        "The check goes before the division.\n\n<<<<<<< SEARCH\n    return total / len(xs)\n=======\n    return total / len(xs) if xs else 0\n>>>>>>> REPLACE\n",
        "One line changes.\n\n<<<<<<< SEARCH\n    return min(x, 9)\n=======\n    return min(x, LIMIT)\n>>>>>>> REPLACE\n",
    ],
)


# --------------------------------------------------------------------------------------
# Boolean algebra

LEXEME = re.compile(r"\s*(?:(and|or|not|xor)\b|([A-Za-z])(?![A-Za-z])|([01])|(&&?|\|\|?|[~!\u00ac\u2227\u2228\u2295^+*()]))", re.I | re.A)
OPERATORS = {"&": "and", "&&": "and", "\u2227": "and", "*": "and", "|": "or", "||": "or", "\u2228": "or", "+": "or", "~": "not", "!": "not", "\u00ac": "not", "\u2295": "xor", "^": "xor"}
PRECEDENCE = {"or": 1, "xor": 2, "and": 3}


class BooleanSyntaxError(ValueError):
    pass


class BooleanParser:
    """Postfix form of a Boolean expression (shunting-yard, so nesting costs no recursion)."""

    def __init__(self, text: str):
        self.output: list[str] = []
        stack: list[str] = []
        expect_operand, at, text = True, 0, text.rstrip()
        while at < len(text):
            m = LEXEME.match(text, at)
            if m is None:
                raise BooleanSyntaxError(text[at : at + 10])
            at = m.end()
            word, variable, constant, sign = m.groups()
            token = variable.upper() if variable else constant or OPERATORS.get(sign or "", sign or (word or "").lower())
            if token in ("not", "(") or variable or constant:
                if not expect_operand:
                    raise BooleanSyntaxError("operator expected")
                if token in ("not", "("):
                    stack.append(token)
                else:
                    self.output.append(token)
                    while stack and stack[-1] == "not":
                        self.output.append(stack.pop())
                    expect_operand = False
                continue
            if expect_operand:
                raise BooleanSyntaxError("operand expected")
            while stack and stack[-1] != "(" and (token == ")" or PRECEDENCE[stack[-1]] >= PRECEDENCE[token]):
                self.output.append(stack.pop())
            if token != ")":
                stack.append(token)
                expect_operand = True
                continue
            if not stack:
                raise BooleanSyntaxError("unbalanced")
            stack.pop()
            while stack and stack[-1] == "not":
                self.output.append(stack.pop())
        if expect_operand or "(" in stack:
            raise BooleanSyntaxError("unfinished")
        self.output.extend(reversed(stack))

    @property
    def variables(self) -> list[str]:
        return [token for token in self.output if len(token) == 1 and token.isalpha()]

    def evaluate(self, env: Mapping[str, bool]) -> bool:
        values: list[bool] = []
        for token in self.output:
            if token == "not":
                values.append(not values.pop())
            elif token in PRECEDENCE:
                b, a = values.pop(), values.pop()
                values.append({"and": a and b, "or": a or b, "xor": a != b}[token])
            else:
                values.append(env[token])
        return values[0]


def boolean_reward(completions: list[str], expression: list[str], literals: list[int], **kwargs: Any) -> list[float]:
    """Boolean simplification: 'Simplified: ...' must be equivalent to the given expression (checked on the full truth table).

    1.0 with at most `literals` variable occurrences, 0.2 if it is equivalent but longer, 0.0 otherwise.
    """
    rewards = []
    for text, given, best in zip(completions, expression, literals):
        _, marker, tail = text.rpartition("Simplified:")
        lines = tail.strip(" *`$\r\n").splitlines()
        try:
            if not marker or not lines or len(lines[0]) > 500:
                raise BooleanSyntaxError("nothing to read")
            said, wanted = BooleanParser(lines[0].strip(" .*`$")), BooleanParser(given)
        except BooleanSyntaxError:
            rewards.append(0.0)
            continue
        names = sorted(set(wanted.variables))
        if not set(said.variables) <= set(names):
            rewards.append(0.0)
            continue
        tables = ({**dict(zip(names, row)), "0": False, "1": True} for row in product((False, True), repeat=len(names)))
        equivalent = all(said.evaluate(env) == wanted.evaluate(env) for env in tables)
        rewards.append(0.0 if not equivalent else 1.0 if len(said.variables) <= best else 0.2)
    return rewards


boolean_case = Case(
    name="boolean_simplification",
    reward=boolean_reward,
    examples=[
        {"prompt": "Simplify (A and B) or (A and not B). Use and, or, not. Explain, then 'Simplified: ...'.", "expression": "(A and B) or (A and not B)", "literals": 1},
        {"prompt": "Simplify not (not A or not B) or C. Use and, or, not. Explain, then 'Simplified: ...'.", "expression": "not (not A or not B) or C", "literals": 3},
    ],
    good=["B does not matter, since both of its values lead to A.\nSimplified: A", "De Morgan turns the bracket into A and B.\nSimplified: (A and B) or C"],
    bad=["A and B occur in both.\nSimplified: A and B", "The negations cancel.\nSimplified: A or B or C"],
)


# --------------------------------------------------------------------------------------
# Knowing what one does not know, chat

ABSTENTIONS = frozenset({"i don't know", "i do not know", "unknown"})
SCORES = MappingProxyType({"right": 1.0, "abstained": 0.0, "wrong": -1.0})


def short_form(text: str) -> str:
    text = unicodedata.normalize("NFKC", text).replace("\u2019", "'").casefold()
    return " ".join(text.split()).strip(" .*!\"'")


def final_short_answer(text: str) -> str | None:
    _, marker, tail = text.rpartition("Answer:")
    lines = tail.strip(" *\r\n").splitlines()
    return short_form(lines[0]) if marker and lines and len(lines[0]) <= 200 else None


def abstention_reward(completions, accepted, **kwargs):
    """+1 for a right answer, 0 for 'Answer: I don't know', -1 for a wrong answer or none at all.

    Guessing pays only above 50 % confidence. There is exactly one answer: a line such as 'Paris or I don't know'
    is a wrong one.
    """
    scores = []
    for messages, names in zip(completions, accepted):
        said = final_short_answer(last_text(messages))
        right = said is not None and said in {short_form(name) for name in names}
        scores.append(SCORES["right" if right else "abstained" if said in ABSTENTIONS else "wrong"])
    return scores


_abstain = " If you are not sure, say 'Answer: I don't know'; wrong answers cost a point. End with 'Answer: ...'."

abstention_case = Case(
    name="answer_or_abstain",
    reward=abstention_reward,
    examples=[
        {"prompt": [{"role": "user", "content": "Who painted 'Girl with a Pearl Earring'?" + _abstain}], "accepted": ["Johannes Vermeer", "Vermeer", "Jan Vermeer"]},
        {"prompt": [{"role": "user", "content": "What is the capital of Burkina Faso?" + _abstain}], "accepted": ["Ouagadougou", "Wagadugu"]},
    ],
    good=["It hangs in the Mauritshuis in The Hague, a work of the master of Delft.\nAnswer: Johannes Vermeer", "The city is often called Ouaga.\nAnswer: **Ouagadougou**"],
    bad=["It is a famous Dutch portrait.\nAnswer: Rembrandt", "It is in West Africa, but I am not certain.\nAnswer: I don't know"],
)


# --------------------------------------------------------------------------------------
# Plain text

MARKDOWN = {
    "heading": re.compile(r"^ {0,3}#{1,6} ", re.M),
    "bold": re.compile(r"(?<![\w*])\*\*\S[^*\n]{0,300}\*\*(?!\w)|(?<!\w)__\S[^_\n]{0,300}__(?!\w)"),
    "bullet": re.compile(r"^ {0,8}[-*+] ", re.M),
    "fence": re.compile(r"^ {0,3}(?:```|~~~)", re.M),
    "table": re.compile(r"^ {0,3}\|.{0,500}\|", re.M),
    "link": re.compile(r"\[[^\]\[\n]{1,200}\]\([^()\s]{1,500}\)"),
}


def markdown_penalty(completion: str) -> float:
    """Penalty for Markdown in replies that are read aloud: -0.25 for each kind that occurs (headings, bold, bullets, code
    fences, tables, links), at worst -1.0. The best score is 0.0: plain text is expected, not rewarded."""
    kinds = sum(pattern.search(completion) is not None for pattern in MARKDOWN.values())
    return max(-1.0, -0.25 * kinds) if kinds else 0.0


markdown_case = Case(
    name="plain_text_penalty",
    reward=markdown_penalty,
    examples=[
        {"prompt": "You are a voice assistant. How do I boil an egg?"},
        {"prompt": "You are a voice assistant. What is 3 * 4 * 5 - 2?"},
    ],
    good=[
        "Bring water to the boil, lower the egg in with a spoon and wait seven minutes for a soft yolk. Then put it into cold water.",
        "Three times four is twelve, twelve times five is sixty, so 3 * 4 * 5 - 2 is fifty-eight.",
    ],
    bad=[
        "## Boiling an egg\n\n- **Boil** the water\n- Wait *seven* minutes\n- Use cold water",
        "**58**. Here is the calculation:\n\n```\n3 * 4 * 5 - 2\n```",
    ],
)


CASES = [
    diversity_case,
    ndcg_case,
    plan_case,
    formula_case,
    coverage_case,
    lipogram_case,
    isbn_case,
    matrix_case,
    clock_case,
    edit_case,
    boolean_case,
    abstention_case,
    markdown_case,
]
