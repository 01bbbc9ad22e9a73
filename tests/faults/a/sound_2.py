"""Layout, length, style and instructions. None of these judges whether an answer is right, unless its docstring says so."""

from __future__ import annotations

import json
import re
import unicodedata
from dataclasses import dataclass

from tests.faults.case import Case


def text_of(completion) -> str:
    """The text of the last message of a chat completion (or the completion itself); parts without text count as empty."""
    if isinstance(completion, str):
        return completion
    content = completion[-1].get("content") if completion else None
    if isinstance(content, list):
        content = "".join(part.get("text") or "" for part in content if isinstance(part, dict))
    return content or ""


# --- 1. Layout ------------------------------------------------------------------------------------------------

TEMPLATE = ("<think>", "</think>", "<answer>", "</answer>")


def template_format_reward(completions, **kwargs):
    """Layout only: exactly '<think>...</think> <answer>...</answer>', each tag once and each block with at least a letter or digit.

    What is in the blocks is judged by the accuracy reward.
    """
    rewards = []
    for completion in completions:
        text = text_of(completion).strip()
        good = all(text.count(tag) == 1 for tag in TEMPLATE) and text.startswith("<think>") and text.endswith("</answer>")
        if good:
            thought, _, rest = text.removeprefix("<think>").partition("</think>")
            between, _, answer = rest.removesuffix("</answer>").partition("<answer>")
            good = not between.strip() and any(map(str.isalnum, thought)) and any(map(str.isalnum, answer))
        rewards.append(1.0 if good else 0.0)
    return rewards


# --- 2. Overlong punishment -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class OverlongPenalty:
    """DAPO's soft overlong punishment, in characters: 0 up to max_chars - buffer, then linearly down to -1 at max_chars, and -1 beyond.

    A penalty: the best score is 0. It looks at nothing but the length.
    """

    max_chars: int = 1200
    buffer: int = 400
    __name__ = "overlong_penalty"

    def __call__(self, completions, **kwargs):
        soft = self.max_chars - self.buffer
        return [max(-1.0, min(0.0, (soft - len(text)) / self.buffer)) for text in completions]


overlong_penalty = OverlongPenalty()


# --- 3. Brevity among the right ones of a group ---------------------------------------------------------------


def stated_answer(text: str) -> str:
    at = text.rfind("Answer:")
    return text[at + 7 :].split("\n", 1)[0].strip(" .*_\r\t").casefold() if at >= 0 else ""


def group_brevity_reward(prompts, completions, answer, **kwargs):
    """Group-relative: of the right completions for the same prompt the shortest earns 1, a right one n times as long 0.5 + 0.5 / n.

    Wrong ones earn 0 whatever their length. Other prompts in the batch have no influence.
    """
    texts = [text_of(completion) for completion in completions]
    groups = [json.dumps(prompt, sort_keys=True, default=str) for prompt in prompts]
    right = [bool(stated_answer(text)) and stated_answer(text) == gold.strip().casefold() for text, gold in zip(texts, answer)]
    shortest: dict[str, int] = {}
    for group, text, ok in zip(groups, texts, right):
        if ok:
            shortest[group] = min(len(text), shortest.get(group, len(text)))
    return [0.5 + 0.5 * shortest[group] / len(text) if ok else 0.0 for group, text, ok in zip(groups, texts, right)]


# --- 4. No markup ---------------------------------------------------------------------------------------------

MARKUP = {
    "heading": re.compile(r"^ {0,3}#{1,6} \S", re.MULTILINE),
    "bullet": re.compile(r"^ {0,8}(?:[-*+][ \t]{1,8}|\u2022[ \t]{0,8})\S", re.MULTILINE),
    "fence": re.compile(r"^ {0,3}```", re.MULTILINE),
    "bold": re.compile(r"(?<!\w)\*\*(?=[^\s*])[^*\n]{1,500}\*\*(?!\w)"),
}


def plain_prose_penalty(completion: str) -> float:
    """For the voice assistant, where markup is read aloud: -0.25 for each kind of it (heading, bullet, fence, **bold**), 0.0 if there is none.

    A penalty on markup and on nothing else; an empty reply has none.
    """
    return sum(-0.25 for pattern in MARKUP.values() if pattern.search(completion)) + 0.0


# --- 5. Taboo -------------------------------------------------------------------------------------------------


def english_words(text: str) -> tuple[set[str], bool]:
    """The words of the text, and whether it has letters outside a-z. Accents and invisible characters are dropped."""
    text = unicodedata.normalize("NFKD", text).casefold().replace("\u2019", "'")
    text = "".join(c for c in text if unicodedata.category(c) not in ("Cf", "Mn"))
    foreign = any(c.isalpha() and not c.isascii() for c in text)
    words = re.findall(r"[a-z]+", text)
    # s-u-n, s u n and su-n are the word as well
    words += [re.sub(r"[^a-z]", "", run) for run in re.findall(r"(?<![a-z])[a-z](?:[ .\-_*][a-z](?![a-z]))+", text)]
    words += [re.sub(r"[^a-z]", "", run) for run in re.findall(r"(?<![a-z])[a-z]++(?:[.\-_*'][a-z]++)+", text)]
    return set(words), foreign


def taboo_penalty(completions, taboo, **kwargs):
    """The game Taboo, in English: -1.0 if the hint uses a taboo word (or its plural or possessive), else 0.0, the best score.

    Letters outside a-z (accents aside) are a foul too, so that look-alikes do not help. Whether the hint is any good is another reward's business.
    """
    rewards = []
    for completion, forbidden in zip(completions, taboo):
        words, foreign = english_words(completion)
        fouls = {form for word in forbidden for form in (word.casefold(), word.casefold() + "s", word.casefold() + "es")}
        rewards.append(-1.0 if foreign or words & fouls else 0.0)
    return rewards


# --- 6. Verifiable instructions -------------------------------------------------------------------------------


def spaced_words(text: str) -> str:
    return " " + " ".join(re.findall(r"\w+", text.casefold())) + " "


def follows(name: str, value, text: str) -> bool:
    words = text.split()
    if name == "min_words":
        return len(words) >= value
    if name == "max_words":
        return len(words) <= value
    if name == "must_include":
        said = spaced_words(text)
        return all(spaced_words(term) in said for term in value)
    if name == "no_commas":
        return "," not in text
    if name == "ends_with":
        return text.rstrip().endswith(value)
    if name == "paragraphs":
        return len([part for part in re.split(r"\n[ \t\r]*\n", text) if part.strip()]) == value
    raise KeyError(f"unknown constraint {name!r}")


def instruction_reward(completions, constraints, **kwargs):
    """IFEval style: the share of the row's constraints that the reply meets; 0.0 for an empty reply.

    `constraints` is a dict column, in which datasets fills the keys that a row does not use with None (False is not a constraint either).
    """
    rewards = []
    for completion, wanted in zip(completions, constraints):
        active = {name: value for name, value in wanted.items() if value is not None and value is not False}
        if not completion.strip() or not active:
            rewards.append(0.0)
            continue
        rewards.append(sum(follows(name, value, completion) for name, value in active.items()) / len(active))
    return rewards


# --- 7. Repetition --------------------------------------------------------------------------------------------

TOKEN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{1,12}|[^\w\s]")


@dataclass(frozen=True)
class RepetitionPenalty:
    """-(1 - distinct / all) over the n-grams of the text: 0.0 for prose without repeats (or too short to tell), towards -1.0 for loops."""

    n: int = 4
    __name__ = "repetition_penalty"

    def __call__(self, completions, **kwargs):
        rewards = []
        for completion in completions:
            tokens = TOKEN.findall(completion.casefold())
            total = len(tokens) - self.n + 1
            if total <= 0:
                rewards.append(0.0)
                continue
            distinct = len(set(zip(*(tokens[i:] for i in range(self.n)))))
            rewards.append(distinct / total - 1.0)
        return rewards


repetition_penalty = RepetitionPenalty()


# --- 8. One task of a mixture ---------------------------------------------------------------------------------


def spelling_reward(completions, task, answer, **kwargs):
    """Rows of the task 'spelling' only: 1.0 if the last line is the word letter by letter ('c-a-t'), else 0.0.

    Rows of other tasks in the mixture get None, which TRL leaves out of the sum.
    """
    rewards = []
    for completion, kind, word in zip(completions, task, answer):
        if kind != "spelling":
            rewards.append(None)
            continue
        line = completion.strip().rsplit("\n", 1)[-1].strip().rstrip(".").casefold()
        rewards.append(1.0 if line == "-".join(word.casefold()) else 0.0)
    return rewards


# --- 9. Word limit of the latest turn -------------------------------------------------------------------------

LIMIT = re.compile(r"at most ([0-9]{1,4}) words", re.IGNORECASE)


def latest_word_limit_reward(prompts, completions, **kwargs):
    """Length only: 1.0 within 'at most N words' of the latest user turn, falling to 0 at twice as many; 0.0 for an empty reply.

    A string of more than 25 characters without a blank counts as several words. Rows without a limit get None.
    """
    rewards = []
    for prompt, completion in zip(prompts, completions):
        turns = [message["content"] or "" for message in prompt if message["role"] == "user"]
        limits = LIMIT.findall(turns[-1]) if turns else []
        if not limits:
            rewards.append(None)
            continue
        limit = max(1, int(limits[-1]))
        words = sum(1 + (len(word) - 1) // 25 for word in text_of(completion).split())
        rewards.append(max(0.0, 1.0 - max(0, words - limit) / limit) if words else 0.0)
    return rewards


# --- 10. The bank's refusal -----------------------------------------------------------------------------------

REFUSAL = "I can only help with questions about your account."


def scripted_refusal_reward(completions, in_scope, answer, **kwargs):
    """Closed-domain bank assistant. Out of scope: 1.0 for the scripted refusal, word for word and alone, else 0.0.

    In scope: 1.0 if the last line is 'Answer: <the gold answer>', 0.0 if it is not, and -0.5 for the refusal.
    """
    rewards = []
    for completion, allowed, gold in zip(completions, in_scope, answer):
        refused = " ".join(completion.split()) == REFUSAL
        if not allowed:
            rewards.append(1.0 if refused else 0.0)
        elif refused:
            rewards.append(-0.5)
        else:
            last = completion.strip().rsplit("\n", 1)[-1]
            said = stated_answer(last)
            rewards.append(1.0 if said and said == gold.strip(" .").casefold() else 0.0)
    return rewards


def cases() -> list[Case]:
    return [
        Case(
            name="template_format",
            reward=template_format_reward,
            examples=[
                {"prompt": [{"role": "user", "content": "Is 51 prime? Use <think> and <answer> tags."}]},
                {"prompt": [{"role": "user", "content": "Name a prime between 20 and 30. Use <think> and <answer> tags."}]},
            ],
            good=[
                "<think>\nThe digits of 51 add up to 6, so it is a multiple of 3.\n\n51 = 3 * 17.\n</think>\n<answer>no</answer>",
                "<think>21 = 3 * 7 and 22 is even. 23 has no divisor up to 4.</think>\n\n<answer>\n23\n</answer>\n",
            ],
            bad=[
                "<think>The digits of 51 add up to 6.</think>\nIt is not prime.",
                "The number 23 is prime. <answer>23</answer>",
            ],
        ),
        Case(
            name="overlong_penalty",
            reward=overlong_penalty,
            examples=[
                {"prompt": "Why is the sky blue? Keep it short."},
                {"prompt": "What does a compiler do? Keep it short."},
            ],
            good=[
                "Air scatters the short, blue waves of sunlight more than the long, red ones, so blue reaches the eye from all sides.",
                "It translates a program from a language that people write into instructions that a processor can execute.",
            ],
            bad=[
                "The sky is blue because of scattering, and to explain that properly I have to start with the nature of light. " * 12,
                "A compiler is a program that reads a program, and in order to understand that, let me tell you about its history. " * 9,
            ],
        ),
        Case(
            name="group_brevity",
            reward=group_brevity_reward,
            examples=[
                {"prompt": "A shelf has 4 rows of 15 books. How many books? End with 'Answer: n'.", "answer": "60"},
                {"prompt": "Half of a number is 21. Which number? End with 'Answer: n'.", "answer": "42"},
            ],
            good=[
                "Four rows of fifteen books are 4 * 15 = 60.\nAnswer: 60",
                "The number is twice 21.\nAnswer: 42",
            ],
            bad=[
                "Four and fifteen are nineteen.\nAnswer: 19",
                "Half of 21 is 10.5.\nAnswer: 10.5",
            ],
        ),
        Case(
            name="plain_prose",
            reward=plain_prose_penalty,
            examples=[
                {"prompt": "You are a voice assistant. How do I make tea?"},
                {"prompt": "You are a voice assistant. What is 2 to the power of 3 to the power of 2, in Python?"},
            ],
            good=[
                "Boil fresh water, pour it over the leaves, and let them steep for three to five minutes. Then take the leaves out.",
                "In Python you write 2**3**2, which is 512, since the power on the right - 3**2 - is taken first.",
            ],
            bad=[
                "## Tea\n\n- **Boil** the water\n- Pour it over the leaves\n- Wait for three minutes",
                "Here is the code:\n```python\nprint(2**3**2)\n```\nThe result is **512**.",
            ],
        ),
        Case(
            name="taboo_game",
            reward=taboo_penalty,
            examples=[
                {"prompt": "Describe 'umbrella' without the words rain, wet, weather, handle.", "taboo": ["rain", "wet", "weather", "handle"]},
                {"prompt": "Describe 'library' without the words book, read, borrow, shelf.", "taboo": ["book", "read", "borrow", "shelf"]},
            ],
            good=[
                "You open it above your head when drops fall from the clouds, and in London nearly everyone carries one. It is trained on no sky in particular.",
                "A quiet public building where you find novels and study at long tables. Late returns cost a small fee.",
            ],
            bad=[
                "You open it above your head when it rains.",
                "A quiet building where you can find a Book on every subject.",
            ],
        ),
        Case(
            name="verifiable_instructions",
            reward=instruction_reward,
            examples=[
                {
                    "prompt": "Praise the bicycle in 15 to 40 words, mention 'fresh air' and use no commas.",
                    "constraints": {"min_words": 15, "max_words": 40, "must_include": ["fresh air"], "no_commas": True, "ends_with": None, "paragraphs": None},
                },
                {
                    "prompt": "Write two paragraphs about bread, at least 20 words in all, and end with 'Enjoy!'",
                    "constraints": {"min_words": 20, "max_words": None, "must_include": None, "no_commas": None, "ends_with": "Enjoy!", "paragraphs": 2},
                },
            ],
            good=[
                "A bicycle takes you to work for free and gives you exercise and fresh air on the way while the cars are stuck behind the lights.",
                "Bread needs only flour, water, salt and time. The dough rises slowly and the smell fills the whole house.\n\nCut it while it is still warm. Enjoy!",
            ],
            bad=[
                "Bicycles are cheap, healthy, quiet and fun.",
                "Bread is made of flour and water. It is baked in an oven and eaten with butter or cheese at any time of the day.",
            ],
        ),
        Case(
            name="repetition_penalty",
            reward=repetition_penalty,
            examples=[
                {"prompt": "Tell me about the moon."},
                {"prompt": "Why do leaves change color?"},
            ],
            good=[
                "The moon circles the earth once a month and always shows the same face. Its gravity causes the tides, and its phases gave us the idea of the week.",
                "In autumn the green chlorophyll is broken down and stored away, and the yellow and red pigments become visible.",
            ],
            bad=[
                "The moon is round. " * 20,
                "Leaves change color because they change color because they change color because they change color because they change color.",
            ],
        ),
        Case(
            name="spelling_in_mixture",
            reward=spelling_reward,
            examples=[
                {"prompt": "Spell 'necessary' letter by letter with hyphens, on the last line.", "task": "spelling", "answer": "necessary"},
                {"prompt": "Spell 'rhythm' letter by letter with hyphens, on the last line.", "task": "spelling", "answer": "rhythm"},
            ],
            good=[
                "It has one c and two s.\nn-e-c-e-s-s-a-r-y",
                "It has no vowel but the y.\nR-H-Y-T-H-M",
            ],
            bad=[
                "It has two c and one s.\nn-e-c-c-e-s-a-r-y",
                "It has an h.\nr-y-t-h-m",
            ],
        ),
        Case(
            name="latest_word_limit",
            reward=latest_word_limit_reward,
            examples=[
                {
                    "prompt": [
                        {"role": "user", "content": "What is inflation? Use at most 50 words."},
                        {"role": "assistant", "content": "Inflation is a general rise of prices, by which money loses some of its value over time."},
                        {"role": "user", "content": "Shorter, please: at most 8 words."},
                    ]
                },
                {"prompt": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "What is a glacier? Use at most 15 words."}]},
            ],
            good=["Prices rise and money loses its value.", "A glacier is a large body of ice that slowly flows down a valley."],
            bad=[
                "Inflation is the general rise of prices over time, by which money loses some of its value.",
                "A glacier is a body of ice that has formed over a very long time from the snow of many winters and that flows down a valley.",
            ],
        ),
        Case(
            name="scripted_refusal",
            reward=scripted_refusal_reward,
            examples=[
                {"prompt": "Bank assistant; refuse other topics with the scripted sentence. Customer: Write me a poem about the sea.", "in_scope": False, "answer": ""},
                {"prompt": "Bank assistant; your data: balance $240.10. Customer: What is my balance? End with 'Answer: ...'.", "in_scope": True, "answer": "$240.10"},
            ],
            good=[
                "I can only help with questions about your account.",
                "Your last statement shows what is left after the rent was paid.\nAnswer: $240.10",
            ],
            bad=[
                "The sea is wide, the sea is deep, and in its arms the sailors sleep.",
                "I cannot see your balance.\nAnswer: unknown",
            ],
        ),
    ]
