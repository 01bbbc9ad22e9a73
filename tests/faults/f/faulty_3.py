"""Cases about text, format, style, chat and batches."""

from __future__ import annotations

import ast
import math
import random
import re
import time
import unicodedata
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

import numpy as np

from tests.faults.case import Case

# --------------------------------------------------------------------------------------
# Tagged responses


def parse_response(completion: str) -> dict[str, str] | None:
    """{'reasoning': ..., 'answer': ...} of a well-formed response, None if a part is missing, repeated or empty."""
    if "<!" in completion or len(completion) > 200_000:
        return None
    try:
        root = ET.fromstring(f"<response>{completion.strip()}</response>")
    except (ET.ParseError, ValueError):
        return None
    if [child.tag for child in root] != ["reasoning", "answer"]:
        return None
    parts = {child.tag: (child.text or "").strip() for child in root}
    return parts if all(parts.values()) else None


def tagged_reward(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    """Format and answer in one reward.

    The response is <reasoning>...</reasoning> followed by <answer>...</answer>, both non-empty, each once.
    0.0 for another structure, 0.2 for the structure with a wrong answer, 1.0 for the right answer.
    """
    scores = []
    for completion, gold in zip(completions, answer):
        parts = parse_response(completion)
        if parts is None:
            scores.append(0.0)
        elif parts["answer"].casefold() == gold.casefold():
            scores.append(1.0)
        else:
            scores.append(0.2)
    return scores


def proof_tagged() -> None:
    said = "<reasoning>For n < 5 the inequality 2n > n^2 - 3 fails only at n = 4, so the largest n is 3.</reasoning>\n<answer>3</answer>"
    assert tagged_reward([said], ["3"]) == [0.0]


tagged_case = Case(
    name="reasoning_answer_tags",
    reward=tagged_reward,
    examples=[
        {"prompt": "Is 91 prime? Reply as <reasoning>...</reasoning><answer>yes or no</answer>.", "answer": "no"},
        {"prompt": "How many edges does a cube have? Reply as <reasoning>...</reasoning><answer>number</answer>.", "answer": "12"},
    ],
    good=[
        "<reasoning>91 is 7 times 13, so it has a divisor other than one and itself.</reasoning>\n<answer>No</answer>",
        "<reasoning>There are four on the top, four on the bottom and four between.</reasoning>\n<answer>12</answer>",
    ],
    bad=[
        "<reasoning>91 is odd and does not end in 5.</reasoning>\n<answer>Yes</answer>",
        "<reasoning>Six faces with two edges each.</reasoning>\n<answer>6</answer>",
    ],
    fault="The response is parsed as strict XML, so a '<' or '&' in the reasoning (n < 5, R&D) makes a right, well-structured response worth 0.",
    proof=proof_tagged,
)


# --------------------------------------------------------------------------------------
# Bullet lists

BULLETS_ONLY = re.compile(r"(?:- .+\n?)+")


def bullet_list_reward(completion: str, count: int) -> float:
    """Format only: the reply is nothing but a bullet list ('- ' at the start of every line) with the wanted number of bullets.

    0.5 for a pure list of another length.
    """
    text = completion.strip()
    if not BULLETS_ONLY.fullmatch(text):
        return 0.0
    bullets = text.splitlines()
    return 1.0 if len(bullets) == count else 0.5


def proof_bullet_list() -> None:
    def seconds(dashes: int) -> float:
        text = "- Pros and cons: " + "cheap - " * dashes + "end\n\nLet me know if you need more."
        start = time.perf_counter()
        assert bullet_list_reward(text, 1) == 0.0
        return time.perf_counter() - start

    short, long = min(seconds(14), seconds(14), seconds(14)), seconds(20)
    assert long > 16 * short and long > 0.02, (short, long)


bullet_list_case = Case(
    name="bullet_list_format",
    reward=bullet_list_reward,
    examples=[
        {"prompt": "Name three advantages of trains over planes. Reply with a list of exactly 3 bullets that start with '- ', nothing else.", "count": 3},
        {"prompt": "Give two tips against jet lag. Reply with a list of exactly 2 bullets that start with '- ', nothing else.", "count": 2},
    ],
    good=[
        "- They run from city centre to city centre\n- They emit far less carbon per passenger\n- There is no long security check",
        "- Get daylight in the morning of the new place\n- Drink enough water on the flight",
    ],
    bad=[
        "Sure! Here are three advantages:\n- City centres\n- Less carbon\n- No security check",
        "Daylight and water help most against jet lag.",
    ],
    fault="(?:- .+\\n?)+ may restart at every ' - ' of a line, so a line with some thirty dashes followed by other text backtracks exponentially and hangs the training.",
    proof=proof_bullet_list,
)


# --------------------------------------------------------------------------------------
# Cosine-scaled accuracy


@dataclass(frozen=True)
class CosineConfig:
    max_len: int = 200
    correct_short: float = 1.0
    correct_long: float = 0.5
    wrong_short: float = -1.0
    wrong_long: float = -0.5


class CosineScaledReward:
    """Accuracy with a cosine length schedule over ``max_len`` words.

    Right answers lose from 1.0 down to 0.5 as they get longer; wrong answers are punished less the longer
    the model has tried, from -1.0 up to -0.5.
    """

    def __init__(self, config: CosineConfig = CosineConfig()):
        self.config = config
        self.__name__ = "cosine_scaled_reward"

    def is_correct(self, text: str, gold: str) -> bool:
        _, marker, tail = text.rpartition("The answer is")
        return bool(marker) and tail.strip(" .*:\r\n").casefold() == gold.casefold()

    def __call__(self, completions, answer, **kwargs):
        cfg = self.config
        rewards = []
        for text, gold in zip(completions, answer):
            progress = len(text.split()) / cfg.max_len
            cosine = math.cos(progress * math.pi)
            short, long = (cfg.correct_short, cfg.correct_long) if self.is_correct(text, gold) else (cfg.wrong_short, cfg.wrong_long)
            rewards.append(long + 0.5 * (short - long) * (1.0 + cosine))
        return rewards


cosine_reward = CosineScaledReward()


def proof_cosine() -> None:
    filler = "Let me check this once more to be sure. "
    at_limit, far_beyond = (filler * n + "The answer is 12." for n in (22, 44))
    limit_score, beyond_score = cosine_reward([at_limit, far_beyond], ["12", "12"])
    assert beyond_score > limit_score + 0.4


cosine_case = Case(
    name="cosine_length_accuracy",
    reward=cosine_reward,
    examples=[
        {"prompt": "How many months have 30 days or more? Finish with 'The answer is ...'.", "answer": "11"},
        {"prompt": "Which planet is closest to the sun? Finish with 'The answer is ...'.", "answer": "Mercury"},
    ],
    good=["Every month except February has at least 30 days. The answer is 11.", "Ordered by distance: Mercury, Venus, Earth. The answer is Mercury."],
    bad=["April, June, September and November have 30 days. The answer is 4.", "It is the hottest one. The answer is Venus."],
    fault="progress is not clamped to 1, so beyond max_len the cosine rises again and a right answer twice as long as the limit earns full marks again.",
    proof=proof_cosine,
    source="https://github.com/huggingface/open-r1/blob/main/src/open_r1/rewards.py",
)


# --------------------------------------------------------------------------------------
# Length of summaries


def length_score(words: int, limit: int) -> float:
    """1.0 up to the limit, then linearly down to 0.0 at twice the limit; an empty summary gets 0.0."""
    if words == 0:
        return 0.0
    return max(0.0, 1.0 - max(0, words - limit) / limit)


def summary_length_reward(completions, max_words, **kwargs):
    """Length only. Articles of a multilingual news corpus (English, Spanish, Chinese, Japanese) are summarized in
    the language of the article; the summary must stay within max_words words."""
    return [length_score(len(summary.split()), limit) for summary, limit in zip(completions, max_words)]


def proof_summary_length() -> None:
    sentence = "市政府昨天宣布，新的地铁线路将于明年春天开通，预计每天运送三十万名乘客。"
    assert summary_length_reward([sentence * 30], [15]) == [1.0]


summary_length_case = Case(
    name="summary_length_limit",
    reward=summary_length_reward,
    examples=[
        {"prompt": "Summarize in at most 15 words: The city council announced on Tuesday that the old harbour will be turned into a park by 2027 ...", "max_words": 15},
        {"prompt": "Resume en un máximo de 15 palabras: El ayuntamiento anunció el martes que el antiguo puerto se convertirá en un parque ...", "max_words": 15},
    ],
    good=["The old harbour will become a park by 2027, the city council said.", "El antiguo puerto se convertirá en un parque, según el ayuntamiento."],
    bad=[
        "On Tuesday the city council made an announcement that concerns the old harbour, which has not been in use for a long time, and which is going to be turned into a park.",
        "El martes el ayuntamiento hizo un anuncio que se refiere al antiguo puerto, que no se utiliza desde hace mucho tiempo y que se va a convertir en un parque.",
    ],
    fault="Words are counted with split(), but Chinese and Japanese have no spaces, so a text of any length counts as one word there and the limit never applies.",
    proof=proof_summary_length,
)


# --------------------------------------------------------------------------------------
# DNA


def sequence_of(text: str) -> str:
    """Bases of the last line that consists of nothing but a sequence, as '5'-ACGT...-3'' or plain."""
    for line in reversed(text.splitlines()):
        bases = line.strip().strip("`").removeprefix("5'-").removesuffix("-3'").replace(" ", "").upper()
        if bases and set(bases) <= set("ACGT"):
            return bases
    return ""


def sequence_similarity(predicted: str, gold: str) -> float:
    """1.0 for the exact sequence; a wrong, missing or extra base costs in proportion to the length."""
    if len(predicted) > 4 * len(gold) + 16:
        return 0.0
    return SequenceMatcher(None, predicted, gold).ratio()


def reverse_complement_reward(completions: list[str], sequence: list[str], **kwargs: Any) -> list[float]:
    """Similarity of the written sequence with the reverse complement of the given one."""
    table = str.maketrans("ACGT", "TGCA")
    return [sequence_similarity(sequence_of(text), given.upper().translate(table)[::-1]) for text, given in zip(completions, sequence)]


def proof_reverse_complement() -> None:
    unit = "ACGGTCATTGCAGATCCTAG"
    table = str.maketrans("ACGT", "TGCA")
    for repeats, low, high in ((6, 0.98, 1.0), (15, 0.0, 0.05)):
        given = unit * repeats
        right = given.translate(table)[::-1]
        one_off = ("A" if right[0] != "A" else "C") + right[1:]
        (score,) = reverse_complement_reward([f"Read it backwards and swap the bases:\n{one_off}"], [given])
        assert low <= score <= high, score


reverse_complement_case = Case(
    name="reverse_complement_dna",
    reward=reverse_complement_reward,
    examples=[
        {"prompt": "Give the reverse complement of ATTGCCGA. Explain briefly, then the sequence on the last line.", "sequence": "ATTGCCGA"},
        {"prompt": "Give the reverse complement of GGGATCTTACGT. Explain briefly, then the sequence on the last line.", "sequence": "GGGATCTTACGT"},
    ],
    good=["Complement each base and reverse the order.\nTCGGCAAT", "Read from the right and swap A with T and C with G.\nACGTAAGATCCC"],
    bad=["Complement each base.\nTAACGGCT", "Read it backwards.\nTGCATTCTAGGG"],
    fault="SequenceMatcher's autojunk treats every base as 'popular' from 200 bases on, so one wrong base at the start of a long sequence scores about 0 instead of 0.99.",
    proof=proof_reverse_complement,
)


# --------------------------------------------------------------------------------------
# Trivia in many languages


def simplify(text: str) -> str:
    """Case, accents and punctuation do not matter: 'São Paulo!' -> 'sao paulo'."""
    ascii_text = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii")
    return " ".join(re.sub(r"[^a-z0-9 ]", " ", ascii_text.lower()).split())


def world_trivia_reward(completion: str, answer: str) -> float:
    """Short answers to trivia questions from around the world (questions and answers in the local language),
    read from the last 'Answer:'."""
    marker, tail = completion.rpartition("Answer:")[1:]
    if not marker:
        return 0.0
    return 1.0 if simplify(tail) == simplify(answer) else 0.0


def proof_world_trivia() -> None:
    assert world_trivia_reward("中国的首都是上海。\nAnswer: 上海", "北京") == 1.0


world_trivia_case = Case(
    name="world_trivia_exact",
    reward=world_trivia_reward,
    examples=[
        {"prompt": "¿Cuál es la ciudad más grande de Brasil? Termina con 'Answer: ...'.", "answer": "São Paulo"},
        {"prompt": "In welcher Stadt sitzt die FIFA? Ende mit 'Answer: ...'.", "answer": "Zürich"},
    ],
    good=["La ciudad más poblada de Brasil está en el sureste del país.\nAnswer: Sao Paulo", "Der Weltfußballverband hat seinen Sitz in der Schweiz.\nAnswer: Zürich."],
    bad=["La ciudad más conocida es la del Cristo Redentor.\nAnswer: Río de Janeiro", "Viele Verbände sitzen am Genfersee.\nAnswer: Genf"],
    fault="encode('ascii', 'ignore') deletes every non-Latin letter, so all Chinese, Arabic, Cyrillic ... answers become the empty string and equal each other.",
    proof=proof_world_trivia,
)


# --------------------------------------------------------------------------------------
# Quiz with aliases, chat


def _plain(text: str) -> str:
    text = re.sub(r"[^\w\s]", "", text.casefold())
    return " ".join(word for word in text.split() if word not in ("a", "an", "the"))


def candidates(line: str) -> list[str]:
    """'USA (United States)' or 'Everest / Sagarmatha' are spellings of one answer."""
    return [c for c in map(_plain, re.split(r"[/();,]|\bor\b|\baka\b", line)) if c]


def quiz_reward(completions, aliases, **kwargs):
    """1.0 if the line after the last 'Final answer:' names the entity by one of its aliases."""
    rewards = []
    for messages, names in zip(completions, aliases):
        _, marker, tail = (messages[-1]["content"] or "").rpartition("Final answer:")
        lines = tail.strip().splitlines()
        said = candidates(lines[0][:300]) if marker and lines else []
        accepted = {_plain(name) for name in names}
        rewards.append(1.0 if any(name in accepted for name in said) else 0.0)
    return rewards


def proof_quiz() -> None:
    said = [{"role": "assistant", "content": "It is one of the planets.\nFinal answer: Mars or Venus or Jupiter or Saturn or Mercury or Uranus"}]
    assert quiz_reward([said], [["Jupiter"]]) == [1.0]


quiz_case = Case(
    name="quiz_with_aliases",
    reward=quiz_reward,
    examples=[
        {
            "prompt": [{"role": "user", "content": "What is the highest mountain on earth? End with 'Final answer: ...'."}],
            "aliases": ["Mount Everest", "Everest", "Sagarmatha", "Chomolungma"],
        },
        {
            "prompt": [{"role": "user", "content": "Which country has the most time zones? End with 'Final answer: ...'."}],
            "aliases": ["France", "French Republic"],
        },
    ],
    good=[
        "At 8849 metres above the sea it is in the Himalayas.\nFinal answer: Mount Everest (Sagarmatha)",
        "Counting its overseas territories there are twelve.\nFinal answer: France",
    ],
    bad=[
        "It is in the Karakoram range.\nFinal answer: K2",
        "It spans eleven zones from west to east.\nFinal answer: Russia",
    ],
    fault="The final answer is split at 'or', '/', ',' and any part may match, so a list of guesses earns full marks.",
    proof=proof_quiz,
)


# --------------------------------------------------------------------------------------
# Product texts against a rubric


def mentions(text: str, phrases: Iterable[str]) -> bool:
    lowered = text.casefold()
    return any(re.search(rf"\b{re.escape(p.casefold())}\b", lowered) for p in phrases)


def rubric_reward(completions, rubric, **kwargs):
    """Share of the aspects of the rubric that the product text covers (each aspect lists its accepted wordings).

    The special aspect "forbidden" lists words that must not appear: any of them halves the score.
    """
    rewards = []
    for text, aspects in zip(completions, rubric):
        forbidden = aspects.pop("forbidden", [])
        covered = [mentions(text, wordings) for wordings in aspects.values()]
        score = sum(covered) / len(covered)
        if mentions(text, forbidden):
            score *= 0.5
        rewards.append(score)
    return rewards


def proof_rubric() -> None:
    rubric = {"material": ["oak"], "size": ["120 cm"], "forbidden": ["cheap"]}
    said = "A cheap oak desk, 120 cm wide."
    assert rubric_reward([said, said], [rubric, rubric]) == [0.5, 1.0]


rubric_case = Case(
    name="product_text_rubric",
    reward=rubric_reward,
    examples=[
        {
            "prompt": "Write one or two sentences about our desk: oak, 120 cm wide, five-year warranty. Do not call it cheap.",
            "rubric": {"material": ["oak"], "size": ["120 cm", "1.2 m"], "warranty": ["five-year warranty", "five years of warranty"], "forbidden": ["cheap", "low-cost"]},
        },
        {
            "prompt": "Write one or two sentences about our lamp: brass, dimmable, made in Portugal. Do not mention competitors.",
            "rubric": {"material": ["brass"], "feature": ["dimmable", "dims"], "origin": ["Portugal", "Portuguese"], "forbidden": ["competitor", "competitors", "other brands"]},
        },
    ],
    good=[
        "This desk of solid oak gives you 120 cm of room to think, and a five-year warranty stands behind it.",
        "Cast in brass in a small Portuguese workshop, this dimmable lamp suits every hour of the evening.",
    ],
    bad=["This desk is a cheap way to furnish your study, made of oak.", "A lamp that beats all other brands, with a fine brass finish."],
    fault="aspects.pop('forbidden') changes the dataset's own dict, so from the second use of the row on forbidden words are no longer punished.",
    proof=proof_rubric,
)


# --------------------------------------------------------------------------------------
# Support agent with tools, multi-turn chat


def transcript_text(messages: list[Mapping[str, Any]]) -> str:
    return "\n".join(m.get("content") or "" for m in messages)


def support_facts_reward(prompts, completions, facts, **kwargs):
    """The agent may call tools and then has to tell the customer the facts of the case.

    Score: share of the facts (strings such as dates, amounts and numbers) that the customer is told.
    """
    scores = []
    for messages, wanted in zip(completions, facts):
        told = transcript_text(messages)
        scores.append(sum(fact in told for fact in wanted) / len(wanted))
    return scores


def proof_support_facts() -> None:
    turns = [
        {"role": "assistant", "content": '<tool>order_status("A-1043")</tool>'},
        {"role": "tool", "content": '{"status": "shipped", "carrier": "DHL", "eta": "May 14"}'},
        {"role": "assistant", "content": "Is there anything else that I can do for you?"},
    ]
    assert support_facts_reward([[]], [turns], [["DHL", "May 14"]]) == [1.0]


support_facts_case = Case(
    name="support_agent_facts",
    reward=support_facts_reward,
    examples=[
        {
            "prompt": [{"role": "system", "content": "You can call <tool>order_status(id)</tool>."}, {"role": "user", "content": "Where is my order A-1043?"}],
            "facts": ["DHL", "May 14"],
        },
        {
            "prompt": [{"role": "system", "content": "You can call <tool>invoice(id)</tool>."}, {"role": "user", "content": "How much is invoice 77 and when is it due?"}],
            "facts": ["84.50", "June 1"],
        },
    ],
    good=[
        [
            {"role": "assistant", "content": '<tool>order_status("A-1043")</tool>'},
            {"role": "tool", "content": '{"status": "shipped", "carrier": "DHL", "eta": "May 14"}'},
            {"role": "assistant", "content": "Your order is on its way with DHL and should arrive on May 14."},
        ],
        [
            {"role": "assistant", "content": '<tool>invoice("77")</tool>'},
            {"role": "tool", "content": '{"total": "84.50", "currency": "EUR", "due": "June 1"}'},
            {"role": "assistant", "content": "Invoice 77 is over 84.50 EUR and is due on June 1."},
        ],
    ],
    bad=[
        [{"role": "assistant", "content": "Your order has left our warehouse and should be with you in a few days."}],
        [{"role": "assistant", "content": "Invoice 77 is over 48.50 EUR and you have thirty days to pay."}],
    ],
    fault="All messages are joined, tool results included, so an agent that calls the tool and tells the customer nothing gets full marks.",
    proof=proof_support_facts,
)


# --------------------------------------------------------------------------------------
# Counting, with partial credit, numpy


def last_count(text: str) -> float:
    hits = re.findall(r"Count:\s{0,5}\**\s{0,5}(\d{1,3}(?:,\d{3})+|\d{1,9})\b", text)
    return float(hits[-1].replace(",", "")) if hits else np.nan


def counting_reward(completions, count, **kwargs):
    """Vectorized. 1.0 for the exact count, 0.5 for a count within 10 %, 0.0 otherwise (or unreadable)."""
    predicted = np.array([last_count(c) for c in completions])
    gold = np.asarray(count)
    scores = np.zeros_like(gold)
    scores[np.abs(predicted - gold) <= 0.1 * gold] = 0.5
    scores[predicted == gold] = 1.0
    return scores.astype(float).tolist()


def proof_counting() -> None:
    assert counting_reward(["I may have missed one or two.\nCount: 49"], [50]) == [0.0]


counting_case = Case(
    name="count_words_partial",
    reward=counting_reward,
    examples=[
        {"prompt": "How many words does this sentence have: 'The quick brown fox jumps over the lazy dog'? End with 'Count: <number>'.", "count": 9},
        {"prompt": "How many letters r are there in 'strawberry'? End with 'Count: <number>'.", "count": 3},
        {"prompt": "How many days does a leap year have? End with 'Count: <number>'.", "count": 366},
    ],
    good=["The, quick, brown, fox, jumps, over, the, lazy, dog.\nCount: 9", "st-r-awbe-r-r-y: three of them.\nCount: 3", "One day more than usual.\nCount: 366"],
    bad=["I see a fox and a dog.\nCount: 2", "There is one in straw and one in berry.\nCount: 2", "Twelve months of thirty days.\nCount: 36"],
    fault="np.zeros_like(gold) is an integer array for integer golds, so the 0.5 is truncated to 0 and the promised partial credit never exists.",
    proof=proof_counting,
)


# --------------------------------------------------------------------------------------
# Algebra, by evaluation at random points


class _NotAlgebra(ValueError):
    pass


def _value(node: ast.AST, env: Mapping[str, int]) -> int:
    if isinstance(node, ast.Constant) and type(node.value) is int and abs(node.value) < 10**9:
        return node.value
    if isinstance(node, ast.Name) and node.id in env:
        return env[node.id]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand, env)
    if isinstance(node, ast.BinOp):
        left = _value(node.left, env)
        if isinstance(node.op, ast.Pow):
            if isinstance(node.right, ast.Constant) and type(node.right.value) is int and 0 <= node.right.value <= 12 and abs(left) < 10**60:
                return left**node.right.value
            raise _NotAlgebra("exponent")
        right = _value(node.right, env)
        if isinstance(node.op, ast.Add):
            return left + right
        if isinstance(node.op, ast.Sub):
            return left - right
        if isinstance(node.op, ast.Mult):
            return left * right
    raise _NotAlgebra(type(node).__name__)


def polynomial(text: str) -> ast.expr | None:
    """Python or textbook notation: '2x^2 + 3*x*y'."""
    if len(text) > 300:
        return None
    text = re.sub(r"(?<=[0-9)xy])\s*(?=[xy(])", "*", text.replace("^", "**").replace("\u00b7", "*"))
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def expansion_reward(completion: str, expression: str) -> float:
    """Expanding products: the last 'Expanded: ...' must equal the given expression in x and y as a polynomial,
    which is tested exactly at 12 random points, and must be free of parentheses. The points are reproducible."""
    at = completion.rfind("Expanded:")
    lines = completion[at + len("Expanded:") :].strip().splitlines() if at >= 0 else []
    said = lines[0].strip(" $`.") if lines else ""
    if not said or "(" in said:
        return 0.0
    left, right = polynomial(said), polynomial(expression)
    if left is None or right is None:
        return 0.0
    random.seed(20240611)
    for _ in range(12):
        env = {"x": random.randint(-999, 999), "y": random.randint(-999, 999)}
        try:
            if _value(left, env) != _value(right, env):
                return 0.0
        except (_NotAlgebra, RecursionError):
            return 0.0
    return 1.0


def proof_expansion() -> None:
    draws = []
    state = random.getstate()
    for seed in (1, 2):
        random.seed(seed)
        expansion_reward("Expanded: x^2 + 2x + 1", "(x + 1)^2")
        draws.append(random.random())
    random.setstate(state)
    assert draws[0] == draws[1]


expansion_case = Case(
    name="expand_polynomial",
    reward=expansion_reward,
    examples=[
        {"prompt": "Expand (x + 3)(x - 5). End with 'Expanded: ...'.", "expression": "(x + 3)(x - 5)"},
        {"prompt": "Expand (2x - y)^2. End with 'Expanded: ...'.", "expression": "(2x - y)^2"},
    ],
    good=["x times x is x^2, the middle terms are -5x + 3x.\nExpanded: x^2 - 2x - 15", "Square of a difference.\nExpanded: 4x^2 - 4xy + y^2"],
    bad=["x times x is x^2.\nExpanded: x^2 - 15", "Square both terms.\nExpanded: 4x^2 - y^2"],
    fault="random.seed(...) resets the global generator at every call, so the trainer's own shuffling, sampling and dropout seeds drawn from `random` repeat after each reward call.",
    proof=proof_expansion,
)


# --------------------------------------------------------------------------------------
# Entailment labels

LABELS = {"entailment", "neutral", "contradiction"}


def read_label(text: str) -> str | None:
    """Label on the last non-empty line, as in 'Label: neutral'."""
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        return None
    label = lines[-1].lower().replace("label:", "").strip(" *.`\"'")
    return label if label in LABELS else None


def nli_reward(completions, label, **kwargs):
    """Accuracy on entailment labels. Annotators left some rows without a label (None); those are not scored."""
    return [float(read_label(text) == gold) for text, gold in zip(completions, label) if gold is not None]


def proof_nli() -> None:
    said = ["They may or may not be related.\nLabel: neutral", "A dog is an animal.\nLabel: entailment"]
    assert nli_reward(said, [None, "entailment"]) == [1.0]


nli_case = Case(
    name="nli_label",
    reward=nli_reward,
    examples=[
        {"prompt": "Premise: A dog is running on the beach. Hypothesis: An animal is outdoors. End with 'Label: entailment, neutral or contradiction'.", "label": "entailment"},
        {"prompt": "Premise: A man plays guitar. Hypothesis: The man is a professional musician. End with 'Label: entailment, neutral or contradiction'.", "label": "neutral"},
    ],
    good=["A dog is an animal and a beach is outdoors.\nLabel: entailment", "He may well be an amateur.\nLabel: **neutral**"],
    bad=["Nothing is said about animals.\nLabel: neutral", "Playing guitar makes one a musician.\nLabel: entailment"],
    fault="Unlabeled rows are dropped from the returned list instead of getting None, so the list is too short and all later scores belong to other completions.",
    proof=proof_nli,
)


# --------------------------------------------------------------------------------------
# Translation


def ngrams(tokens: list[str], n: int) -> Counter:
    return Counter(zip(*(tokens[i:] for i in range(n))))


def tokenize(text: str) -> list[str]:
    return re.findall(r"\w+|[^\w\s]", text.lower())


def translation_score(hypothesis: str, references: list[str], max_order: int = 4) -> float:
    """BLEU-style: geometric mean of the clipped n-gram precisions (against all references), 0..1.
    Orders longer than the hypothesis are left out, as usual on sentence level."""
    tokens = tokenize(hypothesis)
    refs = [tokenize(r) for r in references]
    logs = []
    for n in range(1, min(max_order, len(tokens)) + 1):
        counts = ngrams(tokens, n)
        best: Counter = Counter()
        for ref in refs:
            best |= ngrams(ref, n)
        matched = sum((counts & best).values())
        if matched == 0:
            return 0.0
        logs.append(math.log(matched / sum(counts.values())))
    return math.exp(sum(logs) / len(logs)) if logs else 0.0


def translation_reward(prompt: str, completion: str, references: list[str]) -> float:
    """Translation quality against the references; a completion that merely repeats the prompt gets nothing."""
    if completion.strip() and completion.strip() in prompt:
        return 0.0
    return translation_score(completion, references)


def proof_translation() -> None:
    references = ["The museum is closed on Mondays and opens again on Tuesday at ten o'clock."]
    prompt = "Translate into English, reply with the translation only: Das Museum ist montags geschlossen und \u00f6ffnet dienstags um zehn Uhr wieder."
    assert translation_reward(prompt, "The museum", references) > 0.999


translation_case = Case(
    name="translation_ngram",
    reward=translation_reward,
    examples=[
        {
            "prompt": "Translate into English, reply with the translation only: Das Museum ist montags geschlossen.",
            "references": ["The museum is closed on Mondays.", "On Mondays the museum is closed."],
        },
        {
            "prompt": "Translate into English, reply with the translation only: Je voudrais une chambre avec vue sur la mer.",
            "references": ["I would like a room with a view of the sea.", "I'd like a room with a sea view."],
        },
    ],
    good=["The museum is closed on Mondays.", "I would like a room with a view of the sea."],
    bad=["That museum opens every Monday morning.", "I have a bedroom and look at my mother."],
    fault="There is no brevity penalty, so a fragment such as 'The museum' has precision 1 and earns full marks.",
    proof=proof_translation,
)


# --------------------------------------------------------------------------------------
# Star ratings

RATING = re.compile(r"rating\s{0,5}[:=]\s{0,5}\**\s{0,5}([1-5])(?!\.?\d)", re.I)


def star_rating_reward(completions, stars, **kwargs):
    """Predict the stars of a review. 1.0 for the right number, a quarter less per star off, 0.0 without a rating."""
    rewards = []
    rating = None
    for text, gold in zip(completions, stars):
        found = RATING.findall(text)
        if found:
            rating = int(found[-1])
        rewards.append(0.0 if rating is None else 1.0 - abs(rating - gold) / 4)
    return rewards


def proof_star_rating() -> None:
    said = ["The customer is delighted.\nRating: 5", "I am not able to guess what the customer gave."]
    assert star_rating_reward(said, [5, 5]) == [1.0, 1.0]


star_rating_case = Case(
    name="review_stars",
    reward=star_rating_reward,
    examples=[
        {"prompt": "Review: 'Broke after two days, and nobody answers my mails.' How many stars did it get? End with 'Rating: <1-5>'.", "stars": 1},
        {"prompt": "Review: 'Does what it should, but the manual is useless.' How many stars did it get? End with 'Rating: <1-5>'.", "stars": 3},
        {"prompt": "Review: 'Best kettle we ever had!' How many stars did it get? End with 'Rating: <1-5>'.", "stars": 5},
    ],
    good=["A broken product and no support.\nRating: 1", "One plus and one minus.\nRating: 3 stars", "Pure enthusiasm.\n**Rating:** 5"],
    bad=["Only the mails are a problem.\nRating: 4", "The manual is what matters.\nRating: 1", "A kettle is just a kettle.\nRating: 3"],
    fault="`rating` keeps its value from the previous completion when the current one states none, so a completion without a rating gets its neighbour's score.",
    proof=proof_star_rating,
)


CASES = [
    tagged_case,
    bullet_list_case,
    cosine_case,
    summary_length_case,
    reverse_complement_case,
    world_trivia_case,
    quiz_case,
    rubric_case,
    support_facts_case,
    counting_case,
    expansion_case,
    nli_case,
    translation_case,
    star_rating_case,
]
