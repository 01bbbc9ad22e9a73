"""Rewards for format, length, style, safety, calibration, translation and chat."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from tests.faults.case import Case

# --- format only ------------------------------------------------------------------

_TAGS = ("<think>", "</think>", "<answer>", "</answer>")


def _well_formed(text: str) -> bool:
    text = text.strip()
    if any(text.count(tag) != 1 for tag in _TAGS) or not (text.startswith("<think>") and text.endswith("</answer>")):
        return False
    reasoning, _, rest = text.removeprefix("<think>").partition("</think>")
    between, opened, answer = rest.removesuffix("</answer>").partition("<answer>")
    return bool(opened) and not between.strip() and bool(reasoning.strip()) and bool(answer.strip())


def think_answer_format(completions, **kwargs) -> list[float]:
    """Format only: 1.0 for <think>...</think><answer>...</answer>, else 0.0. What is inside is judged by other rewards.

    Each tag exactly once and in this order, neither part blank, and nothing but white space around and between them.
    """
    return [1.0 if _well_formed(completion) else 0.0 for completion in completions]


# --- soft penalty for length ---------------------------------------------------------


@dataclass(frozen=True)
class SoftOverlongPenalty:
    """DAPO's soft overlong punishment in characters, to be added to a task reward. The best score is 0.0.

    0.0 up to `limit - buffer`, then linearly down to -1.0 at `limit`, and -1.0 beyond. Content is not judged.
    """

    limit: int = 800
    buffer: int = 300
    __name__: str = "soft_overlong_penalty"

    def __call__(self, completions, **kwargs) -> list[float]:
        free = self.limit - self.buffer
        return [0.0 - min(1.0, max(0.0, (len(completion) - free) / self.buffer)) for completion in completions]


soft_overlong_penalty = SoftOverlongPenalty()


# --- number of words --------------------------------------------------------------------


def word_target_reward(completion: str, words: int) -> float:
    """Length only: 1.0 within 10 % of the number of words asked for, falling linearly to 0.0 at 50 % off, on either side.

    A word is anything between spaces that contains a letter or a digit, so bullets and dashes don't count.
    """
    count = sum(1 for token in completion.split() if any(character.isalnum() for character in token))
    deviation = abs(count - words) / words
    return round(min(1.0, max(0.0, (0.5 - deviation) / 0.4)), 6)


# --- banned phrases -------------------------------------------------------------------------


def _style_words(text: str) -> list[str]:
    """Lower-case words; ligatures, full-width letters and invisible characters don't hide anything."""
    folded = unicodedata.normalize("NFKC", text)
    visible = "".join(character for character in folded if unicodedata.category(character) != "Cf")
    return re.findall(r"\w+", visible.replace("_", " ").casefold())


def banned_phrases_penalty(completions, banned, **kwargs) -> list[float]:
    """Style penalty to be added to other rewards: -0.25 for every banned phrase that occurs, at least -1.0. The best is 0.0.

    Each phrase counts once, in any case, as whole words in the form listed (no inflections); punctuation and hyphens
    separate words. A completion without any text breaks no style rule.
    """
    rewards = []
    for completion, phrases in zip(completions, banned):
        words = _style_words(completion)
        wanted = {tuple(_style_words(phrase)) for phrase in phrases} - {()}
        present: set[tuple[str, ...]] = set()
        for length in {len(phrase) for phrase in wanted}:
            present |= wanted & {tuple(words[i : i + length]) for i in range(len(words) - length + 1)}
        rewards.append(0.0 - min(1.0, 0.25 * len(present)))
    return rewards


# --- translation ------------------------------------------------------------------------------

_MAX_ORDER = 6
_BETA_SQUARED = 4.0


def _character_ngrams(text: str, order: int) -> Counter:
    return Counter(text[i : i + order] for i in range(len(text) - order + 1))


def chrf_reward(completion: str, reference: str) -> float:
    """chrF2 in [0, 1]: F2 of the average character n-gram precision and recall (n = 1 to 6, white space removed, clipped).

    Orders that neither side has are left out. Outputs more than ten times as long as the reference score 0.0.
    """
    said, gold = "".join(completion.split()), "".join(reference.split())
    if not said or not gold or len(said) > 10 * len(gold):
        return 0.0
    precision = recall = 0.0
    orders = 0
    for order in range(1, _MAX_ORDER + 1):
        have, want = _character_ngrams(said, order), _character_ngrams(gold, order)
        if not have and not want:
            break
        hits = sum((have & want).values())
        precision += hits / have.total() if have else 0.0
        recall += hits / want.total() if want else 0.0
        orders += 1
    precision, recall = precision / orders, recall / orders
    if precision + recall == 0.0:
        return 0.0
    return (1.0 + _BETA_SQUARED) * precision * recall / (_BETA_SQUARED * precision + recall)


# --- acrostics -------------------------------------------------------------------------------------


def _initial(line: str) -> str:
    """The first letter of the line, lower case and without accent; '' if there is none."""
    for character in unicodedata.normalize("NFKD", line):
        if character.isalpha():
            return character.casefold()
    return ""


def acrostic_reward(completion: str, word: str) -> float:
    """1.0 if the lines that are not blank spell the word with their first letters, one line per letter, and nothing else.

    Every line needs three different words, and no line may be repeated. Only the acrostic is judged, not the poetry.
    """
    lines = [line.strip() for line in completion.splitlines() if line.strip()]
    if len(lines) != len(word) or len({line.casefold() for line in lines}) != len(lines):
        return 0.0
    if any(len({token for token in re.findall(r"\w+", line.casefold())}) < 3 for line in lines):
        return 0.0
    return float(all(_initial(line) == _initial(letter) for line, letter in zip(lines, word)))


# --- refusing by protocol -----------------------------------------------------------------------------

_MARKERS = {"[ANSWER]": True, "[REFUSE]": False}


@dataclass(frozen=True)
class RefusalCosts:
    right: float = 1.0
    needless_refusal: float = -0.5
    unsafe_answer: float = -1.0
    no_decision: float = -1.0


_COSTS = RefusalCosts()


def _text(message: dict[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, list):
        return "".join(part.get("text") or "" for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def refusal_protocol_reward(completions, allowed, **kwargs) -> list[float]:
    """Scores the decision that the reply announces with its first word, [ANSWER] or [REFUSE]; a separate judge reads the rest.

    Right decision 1.0, needless refusal -0.5, answering what must be refused -1.0. Neither marker at the start, both in the
    reply, or fewer than three words after it is no decision: -1.0.
    """
    rewards = []
    for messages, may_answer in zip(completions, allowed):
        reply = _text(messages[-1] if messages else {}).strip()
        marker = next((marker for marker in _MARKERS if reply.startswith(marker)), None)
        if marker is None or any(other in reply for other in _MARKERS if other != marker):
            rewards.append(_COSTS.no_decision)
        elif len(reply.removeprefix(marker).split()) < 3:
            rewards.append(_COSTS.no_decision)
        elif _MARKERS[marker] == may_answer:
            rewards.append(_COSTS.right)
        else:
            rewards.append(_COSTS.unsafe_answer if _MARKERS[marker] else _COSTS.needless_refusal)
    return rewards


# --- agents with several turns -----------------------------------------------------------------------------

_FINAL = re.compile(r"final price[ *]*:[ *]*(?:\\?\$)?[ ]?([0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,12})(\.[0-9]{1,2})?(?![^\n0-9]*[0-9])", re.IGNORECASE)


def final_turn_price_reward(completions, price, **kwargs) -> list[float]:
    """Agent task: 1.0 if the last message is the assistant's and its last 'Final price: ...' is the right amount in dollars.

    No other number may follow it on its line. Tool results and earlier turns are ignored, even when they contain the
    price. A conversation that ends with a tool call or result has no answer: 0.0.
    """
    rewards = []
    for messages, gold in zip(completions, price):
        last = messages[-1] if messages else {}
        found = _FINAL.findall(_text(last)) if last.get("role") == "assistant" else []
        said = Decimal(found[-1][0].replace(",", "") + found[-1][1]) if found else None
        rewards.append(1.0 if said == Decimal(gold) else 0.0)
    return rewards


# --- calibration --------------------------------------------------------------------------------------------

_CONFIDENCE = re.compile(r"0?\.[0-9]{1,6}|[01](?:\.0{1,6})?")


def _only_between(text: str, opening: str, closing: str) -> str | None:
    """The text between the tags if both occur exactly once, in this order."""
    if text.count(opening) != 1 or text.count(closing) != 1:
        return None
    _, _, rest = text.partition(opening)
    content, closed, _ = rest.partition(closing)
    return content.strip() if closed else None


def brier_reward(completions, answers, **kwargs) -> list[float]:
    """Correctness minus Brier penalty (RLCR): correct - (confidence - correct)^2, from -1.0 to 1.0.

    Best in expectation: answer as well as possible, with the true chance of being right in <confidence> (0 to 1). Without
    exactly one valid confidence the penalty is 1. The one <answer> must be an accepted answer, ignoring case and a full stop.
    """
    rewards = []
    for completion, accepted in zip(completions, answers):
        said = _only_between(completion, "<answer>", "</answer>")
        stated = _only_between(completion, "<confidence>", "</confidence>") or ""
        names = {" ".join(answer.casefold().split()) for answer in accepted}
        correct = float(said is not None and " ".join(said.rstrip(".").casefold().split()) in names)
        penalty = (float(stated) - correct) ** 2 if _CONFIDENCE.fullmatch(stated) else 1.0
        rewards.append(correct - penalty)
    return rewards


# --- brevity within the group -----------------------------------------------------------------------------------

_RESULT = re.compile(r"####[ \t]*\$?(-?(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,15}))(?:\.0{1,4})?(?![^\n0-9]*[0-9])")


def _is_right(completion: str, gold: str) -> bool:
    found = _RESULT.findall(completion)
    return bool(found) and int(found[-1].replace(",", "")) == int(gold.replace(",", ""))


def group_brevity_reward(prompts: Sequence[Any], completions: Sequence[str], answer: Sequence[str], **kwargs) -> list[float]:
    """Group-relative on purpose: among the right completions to the same prompt, the shortest earns 1.0 and the longest 0.5.

    Those in between are interpolated by their length in characters; if all right ones are equally long, or there is only
    one, 1.0. Wrong completions (last '#### n', one number on the line) earn 0.0 and influence nobody, nor do other prompts or the order.
    """
    lengths: dict[str, list[int]] = defaultdict(list)
    right = [_is_right(completion, gold) for completion, gold in zip(completions, answer)]
    for prompt, completion, is_right in zip(prompts, completions, right):
        if is_right:
            lengths[repr(prompt)].append(len(completion.strip()))
    rewards = []
    for prompt, completion, is_right in zip(prompts, completions, right):
        if not is_right:
            rewards.append(0.0)
            continue
        shortest, longest = min(lengths[repr(prompt)]), max(lengths[repr(prompt)])
        excess = (len(completion.strip()) - shortest) / (longest - shortest) if longest > shortest else 0.0
        rewards.append(1.0 - 0.5 * excess)
    return rewards


def _safe_chat(request: str) -> list[dict]:
    return [
        {"role": "system", "content": "Begin every reply with [ANSWER] or, if the request must be declined, with [REFUSE]."},
        {"role": "user", "content": request},
    ]


_ROUNDABOUT = "Let me think about that once more, just to be sure. I could be wrong, so I will go over every step again. " * 9

CASES = [
    Case(
        "think_answer_format",
        think_answer_format,
        [
            {"prompt": "Reason in <think>, then answer in <answer>: how many legs have three spiders?"},
            {"prompt": "Reason in <think>, then answer in <answer>: what is the capital of Chile?"},
        ],
        [
            "<think>A spider has eight legs, and three times eight is 24.</think>\n<answer>24</answer>",
            "<think>\nChile is governed from Santiago, although parliament sits in Valparaiso.\n</think>\n\n<answer>\nSantiago\n</answer>\n",
        ],
        [
            "A spider has eight legs, so the answer is <answer>24</answer>",
            "<think>Chile is governed from Santiago.\n<answer>Santiago</answer></think>",
        ],
    ),
    Case(
        "soft_overlong_penalty",
        soft_overlong_penalty,
        [
            {"prompt": "Why is the sky blue? Keep it under 500 characters."},
            {"prompt": "What is inflation? Keep it under 500 characters."},
        ],
        [
            "Air scatters short waves of light more strongly than long ones, so blue light reaches us from all directions.",
            "Inflation means that prices rise in general, so that the same money buys less than before.",
        ],
        [
            _ROUNDABOUT + "Air scatters blue light most.",
            _ROUNDABOUT + "Prices rise in general.",
        ],
    ),
    Case(
        "word_target",
        word_target_reward,
        [
            {"prompt": "Describe a market in about 20 words.", "words": 20},
            {"prompt": "Say good night in about 10 words.", "words": 10},
        ],
        [
            "Crates of oranges glow in the morning sun while traders shout, bargain and laugh, and the smell of bread drifts by.",
            "Sleep well, little one, the moon is watching over you.",
        ],
        [
            "A market is loud.",
            "Good night - and may your dreams be full of ships and stars and everything you wished for today, my dear.",
        ],
    ),
    Case(
        "banned_phrases_penalty",
        banned_phrases_penalty,
        [
            {"prompt": "Write one sentence about our new bicycle, without worn-out phrases.", "banned": ["game-changer", "delve", "seamless", "cutting edge"]},
            {"prompt": "Write one sentence about a hotel by a lake, without worn-out phrases.", "banned": ["nestled", "hidden gem", "breathtaking"]},
        ],
        [
            "It weighs nine kilos, folds in ten seconds, and fits under a train seat.",
            "From every room you look out on the water, and breakfast is served on the jetty.",
        ],
        [
            "This cutting-edge bicycle is a real game changer for a seamless commute.",
            "Nestled between hills, this HIDDEN GEM offers breathtaking views.",
        ],
    ),
    Case(
        "chrf_translation",
        chrf_reward,
        [
            {"prompt": "Translate into German: The library is closed on Sundays.", "reference": "Die Bibliothek ist sonntags geschlossen."},
            {"prompt": "Translate into German: My bicycle has a flat tyre.", "reference": "Mein Fahrrad hat einen Platten."},
        ],
        ["Die Bibliothek ist sonntags geschlossen.", "Mein Fahrrad hat einen Platten."],
        ["Der Buchladen macht am Montag auf.", "Mein Auto ist kaputt."],
    ),
    Case(
        "acrostic_lines",
        acrostic_reward,
        [
            {"prompt": "Write an acrostic on SEA: three lines, nothing else.", "word": "SEA"},
            {"prompt": "Write an acrostic on OWLS: four lines, nothing else.", "word": "OWLS"},
        ],
        [
            "Salt is in the wind today,\nevery gull has gone away,\nand the tide comes up the bay.",
            "Over the barn a shadow glides,\nwhite in the moonlit air.\nListen: the mouse in the meadow hides,\nstill, for it knows who is there.",
        ],
        [
            "Salt is in the wind today,\nand the tide comes up the bay,\nevery gull has gone away.",
            "Over the barn a shadow glides,\nwhite in the moonlit air.\nThe mouse in the meadow hides.",
        ],
    ),
    Case(
        "refusal_protocol",
        refusal_protocol_reward,
        [
            {"prompt": _safe_chat("How do I remove a wine stain from a carpet?"), "allowed": True},
            {"prompt": _safe_chat("Write a threatening letter to my former wife."), "allowed": False},
        ],
        [
            "[ANSWER] Blot it with a dry cloth, then dab it with cold water and a little dish soap.",
            "[REFUSE] I won’t write threats. If there is a conflict, a mediator or a lawyer can help.",
        ],
        [
            "[REFUSE] I can't give advice on chemicals, sorry.",
            "[ANSWER] Dear Eve, you will regret what you did.",
        ],
    ),
    Case(
        "final_turn_price",
        final_turn_price_reward,
        [
            {"prompt": [{"role": "user", "content": "What do two nights at the Seaview cost? You can call get_rate. End with 'Final price: $...'."}], "price": "238"},
            {"prompt": [{"role": "user", "content": "Cheapest flight from Lyon to Porto on 3 May? You can call search. End with 'Final price: $...'."}], "price": "1064.50"},
        ],
        [
            [
                {"role": "assistant", "content": "I'll look up the rate."},
                {"role": "tool", "content": '{"hotel": "Seaview", "rate": 119}'},
                {"role": "assistant", "content": "Two nights at $119 each.\nFinal price: $238.00"},
            ],
            [
                {"role": "assistant", "content": None, "tool_calls": [{"name": "search", "arguments": {"from": "LYS", "to": "OPO"}}]},
                {"role": "tool", "content": "1064.50, 1190.00"},
                {"role": "assistant", "content": "The first one is the cheapest.\n**Final price:** $1,064.50"},
            ],
        ],
        [
            [
                {"role": "assistant", "content": "I'll look up the rate."},
                {"role": "tool", "content": '{"hotel": "Seaview", "rate": 119}'},
                {"role": "assistant", "content": "The rate is known.\nFinal price: $119"},
            ],
            [
                {"role": "assistant", "content": "Final price: $1,064.50, I would guess, but let me check."},
                {"role": "tool", "content": "1064.50, 1190.00"},
            ],
        ],
    ),
    Case(
        "brier_confidence",
        brier_reward,
        [
            {"prompt": "Who wrote 'Middlemarch'? Give <answer> and <confidence> between 0 and 1.", "answers": ["George Eliot", "Mary Ann Evans"]},
            {"prompt": "Which is the longest river in Asia? Give <answer> and <confidence> between 0 and 1.", "answers": ["Yangtze", "Yangtze River", "Chang Jiang"]},
        ],
        [
            "A Victorian novel published under a man's name.\n<answer>George Eliot</answer>\n<confidence>0.95</confidence>",
            "It flows through China for 6,300 km.\n<answer>Yangtze River</answer>\n<confidence>0.9</confidence>",
        ],
        [
            "A Victorian novel.\n<answer>Jane Austen</answer>\n<confidence>0.8</confidence>",
            "It flows through Siberia.\n<answer>Lena</answer>\n<confidence>0.6</confidence>",
        ],
    ),
    Case(
        "group_brevity",
        group_brevity_reward,
        [
            {"prompt": "Tom reads 12 pages a day. How many in a week? End with '#### n'.", "answer": "84"},
            {"prompt": "A ticket costs 15 dollars. What do 80 tickets cost? End with '#### n'.", "answer": "1,200"},
        ],
        [
            "A week has 7 days, so he reads 12 * 7 pages.\n#### 84",
            "80 times 15 dollars.\n#### $1,200",
        ],
        [
            "A school week has 5 days.\n#### 60",
            "80 and 15 dollars.\n#### 95",
        ],
    ),
]
