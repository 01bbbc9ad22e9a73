"""Reward functions: calibration, voting, anagrams, dialog state, patches, ciphers, intents, mixed tasks,
constraints, knights.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from typing import Any

from tests.faults.case import Case


def _last_line(text: str) -> str:
    return text.rstrip().rpartition("\n")[2].strip()


# ---------------------------------------------------------------------------------------------------------------------
# calibration

CLAIM = re.compile(r"Answer: ([^()]{1,80}) \(confidence: (1(?:\.0{1,12})?|0(?:\.[0-9]{1,12})?)\)\.?")


def calibrated_answer_reward(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    """Brier-style: the last line is "Answer: X (confidence: p)" with p from 0 to 1. Right: 1 - (1 - p)^2, wrong: -p^2.

    The honest probability maximizes the expected score. Without such a line: -1.0. X has no brackets and is
    compared without regard to case.
    """
    rewards = []
    for text, gold in zip(completions, answer):
        match = CLAIM.fullmatch(_last_line(text))
        if match is None:
            rewards.append(-1.0)
            continue
        right = " ".join(match.group(1).casefold().split()) == " ".join(gold.casefold().split())
        confidence = float(match.group(2))
        rewards.append(1.0 - (1.0 - confidence) ** 2 if right else 0.0 - confidence**2)
    return rewards


# ---------------------------------------------------------------------------------------------------------------------
# majority, without labels


def _vote(text: str) -> str:
    match = re.fullmatch(r"Answer: ?(-?[0-9]{1,30})\.?", _last_line(text))
    return str(int(match.group(1))) if match else ""


def strict_majority_reward(prompts: list[str], completions: list[str], **kwargs: Any) -> list[float]:
    """Self-consistency without labels; a score depends on the other samples of the same prompt, and on nothing
    else.

    1.0 for an integer answer (last line "Answer: n") that more than half of all samples of the prompt give,
    else 0.0. If no answer has a strict majority nobody is paid. Agreement is all that is rewarded: there is no
    gold answer here.
    """
    votes = [_vote(text) for text in completions]
    groups: dict[str, Counter[str]] = defaultdict(Counter)
    for prompt, vote in zip(prompts, votes):
        groups[json.dumps(prompt)][vote] += 1
    rewards = []
    for prompt, vote in zip(prompts, votes):
        group = groups[json.dumps(prompt)]
        rewards.append(1.0 if vote and 2 * group[vote] > sum(group.values()) else 0.0)
    return rewards


# ---------------------------------------------------------------------------------------------------------------------
# anagrams


def anagram_reward(completion: str, letters: str, lexicon: list[str]) -> float:
    """Word game: the last line is one word of the lexicon that uses each of the letters at most as often as it
    is given.

    Score: length of the word relative to the longest word that is possible, so the best word earns 1.0. Case is
    ignored.
    """
    given = Counter(letters.lower())
    playable = {word.lower() for word in lexicon if word and Counter(word.lower()) <= given}
    said = _last_line(completion).strip(" .*").lower()
    return len(said) / max(map(len, playable)) if said in playable else 0.0


# ---------------------------------------------------------------------------------------------------------------------
# dialog state


def _state(completion: Any) -> dict[str, str] | None:
    text = completion if isinstance(completion, str) else (completion[-1].get("content") if completion else "")
    if not isinstance(text, str):
        return None
    try:
        value = json.loads(text.strip().removeprefix("```json").removesuffix("```"))
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or not all(isinstance(slot, str) for slot in value.values()):
        return None
    return {key: " ".join(slot.casefold().split()) for key, slot in value.items()}


def dialog_state_reward(completions: list[Any], state: list[dict[str, Any]], **kwargs: Any) -> list[float]:
    """Dialog state tracking: the reply is a JSON object of slots and values (strings), bare or in a ```json fence.

    Score: slots with the right value, relative to all slots that are in the reply or in the gold state; so missing,
    invented and wrong slots all cost, and 1.0 means joint accuracy. Slots that are None in `state` are not set.
    """
    rewards = []
    for completion, gold in zip(completions, state):
        want = {key: " ".join(str(slot).casefold().split()) for key, slot in gold.items() if slot is not None}
        got = _state(completion)
        if got is None:
            rewards.append(0.0)
        elif not got and not want:
            rewards.append(1.0)
        else:
            right = sum(key in got and got[key] == slot for key, slot in want.items())
            rewards.append(right / len(got.keys() | want.keys()))
    return rewards


# ---------------------------------------------------------------------------------------------------------------------
# patches

OPEN, MIDDLE, CLOSE = "<<<<<<< SEARCH", "=======", ">>>>>>> REPLACE"


def _edits(text: str) -> list[tuple[str, str]] | None:
    """Pairs of search and replacement (whole lines), or None if a block is nested or not closed."""
    edits: list[tuple[str, str]] = []
    search: list[str] = []
    replacement: list[str] = []
    part = ""
    for line in text.split("\n"):
        mark = line.rstrip()
        if mark == OPEN:
            if part:
                return None
            part, search, replacement = OPEN, [], []
        elif mark == MIDDLE and part == OPEN:
            part = MIDDLE
        elif mark == CLOSE and part == MIDDLE:
            edits.append(("".join(f"{one}\n" for one in search), "".join(f"{one}\n" for one in replacement)))
            part = ""
        elif part:
            (search if part == OPEN else replacement).append(line)
    return None if part else edits


def _patched(source: str, text: str) -> str | None:
    """`source` after all edits of the text, or None if there is none, there are over 20, or one does not apply."""
    edits = _edits(text)
    if not edits or len(edits) > 20:
        return None
    source = "\n" + source + ("" if source.endswith("\n") else "\n")
    for search, replacement in edits:
        at = source.find("\n" + search)
        if not search or at < 0 or source.find("\n" + search, at + 1) >= 0:
            return None
        source = source[: at + 1] + replacement + source[at + 1 + len(search) :]
    return source[1:]


def search_replace_patch_reward(
    completions: list[str], source: list[str], target: list[str], **kwargs: Any
) -> list[float]:
    """1.0 if the SEARCH/REPLACE edits of the reply, applied in order, turn the file `source` into `target`,
    else 0.0.

    Each search text is whole lines that occur exactly once at that point, white space included. Trailing white
    space of the resulting lines is not compared. Edits that leave the file as it is change nothing and earn
    nothing.
    """
    rewards = []
    for text, before, after in zip(completions, source, target):
        result = _patched(before, text)
        lines = [line.rstrip() for line in result.rstrip().split("\n")] if result is not None else None
        rewards.append(1.0 if lines == [line.rstrip() for line in after.rstrip().split("\n")] else 0.0)
    return rewards


# ---------------------------------------------------------------------------------------------------------------------
# ciphers


def decipher_reward(completion: str, plaintext: str) -> float:
    """The last line is "Plaintext: ...". 1.0 for the exact text (case ignored), else half the square of the
    share of right characters.

    Characters are compared place by place, relative to the longer of both texts, so padding costs; the square
    keeps chance hits low.
    """
    line = _last_line(completion)
    if not line.startswith("Plaintext:"):
        return 0.0
    said, want = line.removeprefix("Plaintext:").strip().casefold(), plaintext.casefold()
    if said == want:
        return 1.0
    share = sum(a == b for a, b in zip(said, want)) / max(len(said), len(want))
    return 0.5 * share**2


# ---------------------------------------------------------------------------------------------------------------------
# intents

INTENTS = ("card_lost", "card_blocked", "transfer_failed", "transfer_fee", "none_of_these")


def intent_reward(completion: str, intent: str) -> float:
    """Banking intents: 1.0 if the last line is the right intent, 0.0 if it is another one, -0.2 if it is none of them.

    Case, a period, backticks or asterisks around the name do not matter; anything else on that line, such as a second
    name, makes it none of them.
    """
    said = _last_line(completion).strip(" `*.").lower()
    if said not in INTENTS:
        return -0.2
    return 1.0 if said == intent else 0.0


# ---------------------------------------------------------------------------------------------------------------------
# mixed tasks: this reward abstains from what it cannot judge


def integer_task_reward(
    completions: list[str], task: list[str], answer: list[str], **kwargs: Any
) -> list[float | None]:
    """For data with several tasks. Rows with task "integer": 1.0 if the last line is "Answer: <the integer>", else 0.0.

    Rows of any other task get None, which TRL leaves out, as another reward function judges them.
    """
    rewards: list[float | None] = []
    for text, kind, gold in zip(completions, task, answer):
        if kind != "integer":
            rewards.append(None)
            continue
        match = re.fullmatch(r"Answer: ?([-−]?)([0-9]{1,30}|[0-9]{1,3}(?:,[0-9]{3}){1,9})\.?", _last_line(text))
        said = int(match.group(2).replace(",", "")) * (-1 if match.group(1) else 1) if match else None
        rewards.append(1.0 if said is not None and said == int(gold) else 0.0)
    return rewards


# ---------------------------------------------------------------------------------------------------------------------
# instruction following


class ConstraintReward:
    """1.0 if the reply follows all of the row's instructions (all can be checked), else 0.0; an empty one earns 0.0.

    `constraints` may hold: min_words, max_words, forbidden (words that must not occur as whole words), ending (how the
    reply ends), lowercase (no capitals), paragraphs (number of blocks between blank lines). None means: not asked for.
    """

    def __init__(self) -> None:
        self.__name__ = "constraint_reward"

    def _checks(self, text: str, asked: dict[str, Any]) -> list[bool]:
        words = text.split()
        checks = []
        if asked.get("min_words") is not None:
            checks.append(len(words) >= asked["min_words"])
        if asked.get("max_words") is not None:
            checks.append(len(words) <= asked["max_words"])
        if asked.get("forbidden"):
            used = set(re.findall(r"\w+", text.casefold()))
            checks.append(not used & {word.casefold() for word in asked["forbidden"]})
        if asked.get("ending") is not None:
            checks.append(text.rstrip().endswith(asked["ending"]))
        if asked.get("lowercase"):
            checks.append(text == text.lower())
        if asked.get("paragraphs") is not None:
            blocks = 0
            inside = False
            for line in text.splitlines():
                blocks += bool(line.strip()) and not inside
                inside = bool(line.strip())
            checks.append(blocks == asked["paragraphs"])
        return checks

    def __call__(self, completions: list[str], constraints: list[dict[str, Any]], **kwargs: Any) -> list[float]:
        rewards = []
        for text, asked in zip(completions, constraints):
            checks = self._checks(text, asked) if any(character.isalnum() for character in text) else []
            rewards.append(1.0 if checks and all(checks) else 0.0)
        return rewards


constraint_reward = ConstraintReward()

# ---------------------------------------------------------------------------------------------------------------------
# knights and knaves

ROLE = re.compile(r"([A-Z][a-z]{1,15}) is a (knight|knave)")


def knights_and_knaves_reward(completions: list[str], roles: list[dict[str, Any]], **kwargs: Any) -> list[float]:
    """1.0 if the last line says of everybody, once and rightly, what they are: "Ann is a knight, Ben is a knave".

    The statements are separated by commas, semicolons or "and". No partial credit, as half of it can be guessed.
    """
    rewards = []
    for text, gold in zip(completions, roles):
        want = {name: role for name, role in gold.items() if role is not None}
        line = _last_line(text).replace("*", "").removesuffix(".")
        line = line.removeprefix("Answer:").strip()
        parts = [part for part in re.split(r"[,;]| and (?=[A-Z])", line[:2000]) if part.strip()]
        stated = [ROLE.fullmatch(part.strip().removeprefix("and ")) for part in parts]
        if len(stated) != len(want) or not all(stated):
            rewards.append(0.0)
            continue
        rewards.append(1.0 if {match.group(1): match.group(2) for match in stated if match} == want else 0.0)
    return rewards


# ---------------------------------------------------------------------------------------------------------------------

VOTE_PROMPT = "How many squares of any size are on a 4x4 board? End with 'Answer: n'."
MEAN_BEFORE = (
    "def mean(values):\n    total = 0\n    for value in values:\n        total += value\n    return "
    "total / len(value)\n"
)

CASES = [
    Case(
        name="calibrated_answer",
        reward=calibrated_answer_reward,
        examples=[
            {"prompt": "Which planet has the most moons? End with 'Answer: X (confidence: p)'.", "answer": "Saturn"},
            {"prompt": "Who wrote 'The Waves'? End with 'Answer: X (confidence: p)'.", "answer": "Virginia Woolf"},
        ],
        good=[
            "Saturn overtook Jupiter in 2023.\nAnswer: Saturn (confidence: 1)",
            "A novel from 1931.\nAnswer: Virginia Woolf (confidence: 1.0)",
        ],
        bad=[
            "The biggest one, I guess.\nAnswer: Jupiter (confidence: 0.7)",
            "A novel from 1931.\nAnswer: E. M. Forster (confidence: 0.9)",
        ],
    ),
    Case(
        name="strict_majority",
        reward=strict_majority_reward,
        examples=[{"prompt": VOTE_PROMPT}, {"prompt": VOTE_PROMPT}, {"prompt": VOTE_PROMPT}],
        good=[
            "16 + 9 + 4 + 1 = 30.\nAnswer: 30",
            "The sum of the first four squares.\nAnswer: 30",
            "n(n+1)(2n+1)/6 with n = 4.\nAnswer: 30.",
        ],
        bad=["There are 4 * 4.\nAnswer: 16", "16 small ones and the board.\nAnswer: 17", "16 + 9.\nAnswer: 25"],
    ),
    Case(
        name="letters_game",
        reward=anagram_reward,
        examples=[
            {
                "prompt": "Longest English word from the letters A, E, L, P, S, T, T? Last line: the word.",
                "letters": "aelpstt",
                "lexicon": ["plate", "plates", "staple", "tap", "pallet", "let", "palette"],
            },
            {
                "prompt": "Longest English word from the letters N, O, O, S? Last line: the word.",
                "letters": "noos",
                "lexicon": ["soon", "son", "so", "noon"],
            },
        ],
        good=["'plate' can take a plural.\nplates", "'noon' needs two n.\nSoon"],
        bad=["'pallet' looks good.\npallet", "With two n.\nnoon"],
    ),
    Case(
        name="dialog_state",
        reward=dialog_state_reward,
        examples=[
            {
                "prompt": [
                    {"role": "user", "content": "A cheap Thai place in the north, please."},
                    {"role": "assistant", "content": "For how many?"},
                    {"role": "user", "content": "Five. Oh, and make it the centre."},
                ],
                "state": {"food": "thai", "price": "cheap", "area": "centre", "people": "5"},
            },
            {
                "prompt": [{"role": "user", "content": "I need a train to Ely on Sunday."}],
                "state": {"destination": "Ely", "day": "Sunday", "people": None},
            },
        ],
        good=[
            '{"food": "Thai", "price": "cheap", "area": "centre", "people": "5"}',
            '```json\n{"day": "sunday", "destination": "ely"}\n```',
        ],
        bad=[
            '{"food": "Thai", "price": "cheap", "area": "north"}',
            '{"destination": "Sunday", "day": "Ely", "people": "1"}',
        ],
    ),
    Case(
        name="search_replace_patch",
        reward=search_replace_patch_reward,
        examples=[
            {
                "prompt": "Fix the NameError in mean() with a SEARCH/REPLACE block.\n" + MEAN_BEFORE,
                "source": MEAN_BEFORE,
                "target": MEAN_BEFORE.replace("len(value)", "len(values)"),
            },
            {
                "prompt": "Set debug to false with a SEARCH/REPLACE block.\nname: app\ndebug: true\n",
                "source": "name: app\ndebug: true\n",
                "target": "name: app\ndebug: false\n",
            },
        ],
        good=[
            "The loop variable is used in place of the list.\n<<<<<<< SEARCH\n    return total / len(value)\n=======\n"
            "    return total / len(values)\n>>>>>>> REPLACE",
            "<<<<<<< SEARCH\ndebug: true\n=======\ndebug: false\n>>>>>>> REPLACE\nThat is all.",
        ],
        bad=[
            "<<<<<<< SEARCH\n    return total / len(value)\n=======\n    return total / 2\n>>>>>>> REPLACE",
            "<<<<<<< SEARCH\ndebug: True\n=======\ndebug: false\n>>>>>>> REPLACE",
        ],
    ),
    Case(
        name="decipher",
        reward=decipher_reward,
        examples=[
            {
                "prompt": "Caesar, shifted by 3: 'phhw dw qrrq'. Last line 'Plaintext: ...'.",
                "plaintext": "meet at noon",
            },
            {"prompt": "Reversed: 'tra fo krow'. Last line 'Plaintext: ...'.", "plaintext": "work of art"},
        ],
        good=[
            "p becomes m, h becomes e, w becomes t.\nPlaintext: Meet at noon",
            "Read it from the end.\nPlaintext: work of art",
        ],
        bad=["p becomes s.\nPlaintext: skkz gz tuut", "Word by word.\nPlaintext: art of work"],
    ),
    Case(
        name="banking_intent",
        reward=intent_reward,
        examples=[
            {
                "prompt": (
                    "Intent (card_lost, card_blocked, transfer_failed, transfer_fee, none_of_these)? "
                    "Name it on the last "
                    "line. 'I left my card on the train.'"
                ),
                "intent": "card_lost",
            },
            {
                "prompt": (
                    "Intent (card_lost, card_blocked, transfer_failed, transfer_fee, none_of_these)? "
                    "Name it on the last "
                    "line. 'Why was I charged 2 EUR for sending money?'"
                ),
                "intent": "transfer_fee",
            },
        ],
        good=["The customer no longer has the card.\n`card_lost`", "transfer_fee"],
        bad=[
            "The card should be stopped.\ncard_blocked",
            "It is about sending money.\ntransfer_fee or transfer_failed",
        ],
    ),
    Case(
        name="integer_task_only",
        reward=integer_task_reward,
        examples=[
            {"prompt": "What is 45 * 45? End with 'Answer: n'.", "task": "integer", "answer": "2025"},
            {"prompt": "What is 3 - 11? End with 'Answer: n'.", "task": "integer", "answer": "-8"},
        ],
        good=["40 * 50 = 2000, plus 25.\nAnswer: 2,025", "Eleven is eight more than three.\nAnswer: -8"],
        bad=["40 * 40 + 5 * 5 = 1625.\nAnswer: 1625", "Eleven is eight more than three.\nAnswer: 8"],
    ),
    Case(
        name="checkable_constraints",
        reward=constraint_reward,
        examples=[
            {
                "prompt": "Describe autumn in 10 to 30 words without the word 'leaves', and end with 'The end.'",
                "constraints": {"min_words": 10, "max_words": 30, "forbidden": ["leaves"], "ending": "The end."},
            },
            {
                "prompt": "Two paragraphs on tea, all in lowercase.",
                "constraints": {"min_words": None, "paragraphs": 2, "lowercase": True, "forbidden": None},
            },
        ],
        good=[
            "Mist lies over the fields in the morning, apples are picked, and the evenings smell of smoke. The end.",
            (
                "tea is a shrub before it is a drink.\n\nmost of what differs between green and black is made after "
                "the harvest."
            ),
        ],
        bad=["Autumn is when the leaves fall.", "Tea is a drink. It comes from a shrub, and there are many kinds."],
    ),
    Case(
        name="knights_and_knaves",
        reward=knights_and_knaves_reward,
        examples=[
            {
                "prompt": (
                    "Ann says: 'Ben is a knave.' Ben says: 'We are both knights.' Who is what? State all on the last "
                    "line."
                ),
                "roles": {"Ann": "knight", "Ben": "knave"},
            },
            {
                "prompt": (
                    "Cleo says: 'Dan and I are of different kinds.' Dan says: 'Cleo is a knave.' Eve says: 'Dan is a "
                    "knight.' State all on the last line."
                ),
                "roles": {"Cleo": "knight", "Dan": "knave", "Eve": "knave"},
            },
        ],
        good=[
            "If Ben told the truth Ann would be a knight who lies, so he lies.\nAnn is a knight, Ben is a knave",
            "Let us try both for Cleo.\nAnswer: Cleo is a knight, Dan is a knave, and Eve is a knave.",
        ],
        bad=[
            "Ben accuses himself.\nAnn is a knave, Ben is a knight",
            "Let us try both for Cleo.\nCleo is a knave, Dan is a knight and Eve is a knight",
        ],
    ),
]
