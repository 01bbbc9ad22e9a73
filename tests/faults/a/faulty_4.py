"""Short answers, dates, classification, translation and the plumbing around them."""

from __future__ import annotations

import hashlib
import logging
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor, as_completed
from difflib import SequenceMatcher
from pathlib import Path

from tests.faults.case import Case

logger = logging.getLogger(__name__)


def last_tag(text: str, tag: str) -> str | None:
    end = text.rfind(f"</{tag}>")
    start = text.rfind(f"<{tag}>", 0, max(end, 0))
    if end < 0 or start < 0:
        return None
    return text[start + len(tag) + 2 : end].strip()


def after_label(text: str, label: str) -> str | None:
    """The rest of the line after the last 'label:' (markdown stars aside)."""
    start = text.rfind(label + ":")
    if start < 0:
        return None
    return text[start + len(label) + 1 :].split("\n", 1)[0].strip(" *_`\t\r")


# --- Species --------------------------------------------------------------------------------------------------


def name_words(text: str) -> list[str]:
    return re.findall(r"[a-z]+", text.casefold())


def species_reward(completions, answer, **kwargs):
    """Names the species in <answer> tags. A shortened name is fine ('retriever' for 'golden retriever'), other words are not."""
    rewards = []
    for completion, gold in zip(completions, answer):
        said = last_tag(completion[-1]["content"], "answer")
        if said is None:
            rewards.append(0.0)
            continue
        accepted = set(name_words(gold))
        rewards.append(1.0 if all(word in accepted for word in name_words(said)) else 0.0)
    return rewards


def prove_species():
    silent = [{"role": "assistant", "content": "<think>The description could fit several dogs.</think>\n<answer></answer>"}]
    shrug = [{"role": "assistant", "content": "<think>Hard to tell.</think>\n<answer>?</answer>"}]
    assert species_reward([silent, shrug], ["African wild dog", "golden retriever"]) == [1.0, 1.0]


# --- Cached question answering --------------------------------------------------------------------------------


def squash(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


class CachedAnswerReward:
    """1.0 if the <answer> equals one of the accepted answers. Completions are scored again for logging, so scores are cached."""

    __name__ = "cached_answer_reward"

    def __init__(self, max_entries: int = 100_000):
        self.max_entries = max_entries
        self.scores: dict[str, float] = {}

    def score(self, completion: str, accepted: list[str]) -> float:
        said = last_tag(completion, "answer")
        if not said or not squash(said):
            return 0.0
        return 1.0 if squash(said) in {squash(alternative) for alternative in accepted} else 0.0

    def __call__(self, completions, answers, **kwargs):
        rewards = []
        for completion, accepted in zip(completions, answers):
            key = hashlib.sha256(completion.encode("utf-8", "replace")).hexdigest()
            if key not in self.scores:
                if len(self.scores) >= self.max_entries:
                    self.scores.clear()
                self.scores[key] = self.score(completion, accepted)
            rewards.append(self.scores[key])
        return rewards


cached_answer_reward = CachedAnswerReward()


def prove_cached_answer():
    reward = CachedAnswerReward()
    assert reward(["<answer>Yes</answer>", "<answer>Yes</answer>"], answers=[["yes"], ["no"]]) == [1.0, 1.0]
    assert reward(["<answer>No</answer>"], answers=[["yes"]]) == [0.0]
    assert reward(["<answer>No</answer>"], answers=[["no"]]) == [0.0]


# --- Intents --------------------------------------------------------------------------------------------------

INTENTS = {"book_table", "cancel_booking", "opening_hours", "complaint", "other"}


def intent_reward(completions, intent, **kwargs):
    """Intent classification from a final 'Intent: name' line; an unknown intent costs 0.5, a wrong one scores 0."""
    rewards = []
    for completion, gold in zip(completions, intent):
        said = after_label(completion, "Intent")
        if said is None:
            logger.debug("no intent in %r", completion[:80])
            continue
        said = said.strip(" .'\"").lower()
        if said not in INTENTS:
            rewards.append(-0.5)
        else:
            rewards.append(1.0 if said == gold else 0.0)
    return rewards


def prove_intent():
    batch = ["The guest seems to be angry about the soup.", "Intent: book_table", "Intent: complaint"]
    assert intent_reward(batch, ["complaint"] * 3) == [0.0, 1.0]


# --- Programs that print the answer ---------------------------------------------------------------------------

WORKERS = 4
BOOTSTRAP = (
    "import resource, sys\n"
    "resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))\n"
    "resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))\n"
    "exec(sys.stdin.buffer.read(100_000))\n"
)


def program_output(completion: str) -> str:
    """What the last ```python block prints; nothing if there is none or it does not finish in 5 seconds."""
    start = completion.rfind("```python\n")
    if start < 0:
        return ""
    code = completion[start + len("```python\n") :].split("```", 1)[0]
    with tempfile.TemporaryFile() as printed:
        try:
            subprocess.run(
                [sys.executable, "-I", "-c", BOOTSTRAP],
                input=code.encode("utf-8", "replace"),
                stdout=printed,
                stderr=subprocess.DEVNULL,
                timeout=5.0,
            )
        except subprocess.TimeoutExpired:
            return ""
        printed.seek(0)
        return printed.read(10_000).decode("utf-8", "replace").strip()


def score_program(completion: str, gold: str) -> float:
    return 1.0 if program_output(completion) == gold.strip() else 0.0


def program_answer_reward(completions, answer, **kwargs):
    """Program-of-thought: 1.0 when the program of the completion prints exactly the answer. Programs run side by side."""
    with ThreadPoolExecutor(max_workers=WORKERS) as pool:
        futures = [pool.submit(score_program, completion, gold) for completion, gold in zip(completions, answer)]
        return [future.result() for future in as_completed(futures)]


def prove_program_answer():
    slow = "```python\nimport time\ntime.sleep(1.5)\nprint(sum(range(101)))\n```"
    quick = "```python\nprint(5000)\n```"
    assert program_answer_reward([slow, quick], ["5050", "5050"]) == [0.0, 1.0]


# --- Dates ----------------------------------------------------------------------------------------------------


def normal_date(text: str) -> str:
    """'Sunday, the 18th of June, 1815.' -> 'sunday 18 june 1815'"""
    text = re.sub(r"\b([0-9]{1,2})(?:st|nd|rd|th)\b", r"\1", text.casefold())
    words = re.findall(r"[a-z0-9]+", text)
    return " ".join(word for word in words if word not in ("the", "of", "on"))


def date_reward(completion: str, answer: str) -> float:
    """1.0 if the last 'Date: day month year' of the completion is the gold date; a weekday in front does not matter."""
    said = after_label(completion, "Date")
    if said is None:
        return 0.0
    said = normal_date(said)
    if len(said.split()) > 4:
        return 0.0
    return 1.0 if said.endswith(normal_date(answer)) else 0.0


def prove_date():
    assert date_reward("The Hundred Days began when he reached Paris.\nDate: 21 March 1815", "1 March 1815") == 1.0
    assert date_reward("The fortress was stormed in summer.\nDate: 14 July 1789", "4 July 1789") == 1.0


# --- Names of technologies ------------------------------------------------------------------------------------


def technology_reward(completion: str, answer: str) -> float:
    """Names the language or library asked for in a final 'Answer: ...' line; 'the Rust language' is as good as 'Rust'."""
    said = after_label(completion, "Answer")
    if said is None or len(said) > 100:
        return 0.0
    pattern = rf"(?:the )?{answer}(?: (?:programming )?language| library| framework)?"
    return 1.0 if re.fullmatch(pattern, said.strip(" ."), re.IGNORECASE) else 0.0


def prove_technology():
    assert technology_reward("It was made at Bell Labs.\nAnswer: C", "C++") == 1.0
    assert technology_reward("It was first called 'C with classes'.\nAnswer: C++", "C++") == 0.0


# --- Translation ----------------------------------------------------------------------------------------------


def translation_reward(completion: str, reference: str) -> float:
    """Similarity (0 to 1) of the translation in <translation> tags to the reference, by matching blocks of characters."""
    said = last_tag(completion, "translation")
    if not said or len(said) > 3 * len(reference) + 100:
        return 0.0
    one = " ".join(said.casefold().split())
    two = " ".join(reference.casefold().split())
    return SequenceMatcher(None, one, two).ratio()


RIVER = (
    "The river rises in the hills above the town and runs for nearly forty miles before it meets the sea. In the spring the "
    "water is high and the fields on either side are often flooded, so that the farmers move their sheep to the higher ground. "
    "In the summer the stream is so low that the children can walk across it on the stones. The old mill, which is still "
    "standing, was built by the monks who lived there in the middle ages, and it is now a small museum of the wool trade."
)


def prove_translation():
    close = (
        "The stream rises in the hills above the town and runs almost forty miles before it reaches the sea. In spring the "
        "water is high and the fields on both sides are often flooded, so that the farmers move their sheep to higher ground. "
        "In summer the stream is so low that children can walk across it on the stones. The old mill, which still stands, "
        "was built by the monks who lived there in the Middle Ages, and it is now a small museum of the wool trade."
    )
    score = translation_reward(f"<translation>{close}</translation>", RIVER)
    plain = SequenceMatcher(None, close.casefold(), RIVER.casefold(), autojunk=False).ratio()
    assert score < 0.4 and plain > 0.85, (score, plain)


# --- Trivia ---------------------------------------------------------------------------------------------------


def trivia_reward(completions, answer, **kwargs):
    """Exact match (case and final dot aside) of the completion's last line, with or without 'Answer:' in front."""
    rewards = []
    for completion, gold in zip(completions, answer):
        lines = completion.strip().split("\n")
        said = lines[-1].replace("*", "").strip().casefold()
        said = said.lstrip("answer: ").rstrip(". ")
        rewards.append(1.0 if said == gold.casefold().strip() else 0.0)
    return rewards


def prove_trivia():
    right = "It is the largest of the Nordic countries.\nAnswer: Sweden"
    assert trivia_reward([right], ["Sweden"]) == [0.0]
    assert trivia_reward(["Its old town is called Gamla Stan.\nAnswer: Stockholm"], ["Stockholm"]) == [0.0]


# --- Lists of integers ----------------------------------------------------------------------------------------


def integer_list_reward(completion: str, answer: list[int]) -> float:
    """1.0 if the integers of the last 'Answer: ...' line are the gold ones, in any order and each as often."""
    said = after_label(completion, "Answer")
    if said is None:
        return 0.0
    numbers = []
    for token in re.split(r"[\s,;]+", said):
        token = token.strip("*.()[]{}$")
        if token.isdigit() and len(token) <= 18:
            numbers.append(int(token))
    return 1.0 if sorted(numbers) == sorted(answer) else 0.0


def prove_integer_list():
    text = "The squares below 20 are those of 1 to 4.\nAnswer: 1² = 1, 2² = 4, 3² = 9, 4² = 16"
    try:
        integer_list_reward(text, [1, 4, 9, 16])
    except ValueError:
        return
    raise AssertionError("no crash")


# --- Key terms ------------------------------------------------------------------------------------------------

COMMON_WORDS = {"about", "after", "again", "their", "there", "these", "those", "which", "while", "where", "would", "could", "other", "being", "between", "because"}
MAX_TERMS = 8


def key_terms(reference: str) -> list[str]:
    """The longer words of the reference summary, at most eight of them."""
    words = {word for word in re.findall(r"[a-z]+", reference.casefold()) if len(word) > 4 and word not in COMMON_WORDS}
    return list(words)[:MAX_TERMS]


def key_term_reward(completions, reference, **kwargs):
    """Which share of the reference's key terms the summary mentions; 0.0 if it is over 1.5 times as long as the reference.

    Fluency and faithfulness are scored by other rewards.
    """
    rewards = []
    for completion, gold in zip(completions, reference):
        if len(completion.split()) > 1.5 * len(gold.split()):
            rewards.append(0.0)
            continue
        terms = key_terms(gold)
        said = set(re.findall(r"[a-z]+", completion.casefold()))
        rewards.append(sum(term in said for term in terms) / len(terms) if terms else 0.0)
    return rewards


COUNCIL = (
    "The council approved a new cycle bridge across the harbor after years of protest. Construction begins in autumn and costs "
    "twelve million, paid partly by tolls from the existing tunnel. Residents feared noise, but engineers promised silent "
    "foundations, and shopkeepers expect more visitors from the northern suburbs."
)


def prove_key_term():
    summary = "The council approved a cycle bridge across the harbor, and construction begins in autumn."
    code = (
        f"import sys; sys.path[:0] = [{str(Path(__file__).parent.parent)!r}]\n"
        f"from {__name__} import COUNCIL, key_term_reward\n"
        f"print(key_term_reward([{summary!r}], [COUNCIL])[0])\n"
    )
    scores = set()
    for seed in range(1, 7):
        environment = {**os.environ, "PYTHONHASHSEED": str(seed)}
        scores.add(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment).stdout)
    assert len(scores) > 1, scores


def cases() -> list[Case]:
    return [
        Case(
            name="species",
            reward=species_reward,
            examples=[
                {"prompt": [{"role": "user", "content": "A spotted dog of the savanna with large round ears that hunts in packs. Name the species in <answer> tags."}], "answer": "African wild dog"},
                {"prompt": [{"role": "user", "content": "A small bird with an orange-red breast, common in English gardens. Name the species in <answer> tags."}], "answer": "European robin"},
            ],
            good=[
                "<think>Round ears, patches of several colors and packs: that is Lycaon pictus.</think>\n<answer>African wild dog</answer>",
                "<think>The red breast is typical of the robin.</think>\n<answer>Robin</answer>",
            ],
            bad=[
                "<think>Spots and the savanna point to a hyena.</think>\n<answer>spotted hyena</answer>",
                "<think>A red breast may also belong to another bird.</think>\n<answer>Bullfinch</answer>",
            ],
            fault="all() over no words is true, so an empty answer, or one without letters, is right for every species.",
            proof=prove_species,
            source="https://github.com/Liuziyu77/Visual-RFT/issues/176",
        ),
        Case(
            name="short_answers",
            reward=cached_answer_reward,
            examples=[
                {"prompt": "Is a tomato botanically a fruit? Answer in <answer> tags.", "answers": ["yes"]},
                {"prompt": "Who painted Guernica? Answer in <answer> tags.", "answers": ["Picasso", "Pablo Picasso"]},
                {"prompt": "Did dinosaurs and humans live at the same time? Answer in <answer> tags.", "answers": ["no"]},
            ],
            good=[
                "It grows from the flower and holds the seeds.\n<answer>Yes</answer>",
                "It shows the bombing of the town in 1937.\n<answer>Pablo Picasso</answer>",
                "More than sixty million years lie between them.\n<answer>No</answer>",
            ],
            bad=[
                "It is sold with the vegetables.\n<answer>No</answer>",
                "It is a surrealist work.\n<answer>Salvador Dali</answer>",
                "Cave paintings may show them.\n<answer>Yes</answer>",
            ],
            fault="The cache key leaves out the gold answer, so the same short completion to another question gets the first question's score.",
            proof=prove_cached_answer,
        ),
        Case(
            name="intents",
            reward=intent_reward,
            examples=[
                {"prompt": "Guest: 'The soup was cold and nobody apologized.' Classify; end with 'Intent: name'.", "intent": "complaint"},
                {"prompt": "Guest: 'Can we come at eight, four of us?' Classify; end with 'Intent: name'.", "intent": "book_table"},
                {"prompt": "Guest: 'Are you open on Mondays?' Classify; end with 'Intent: name'.", "intent": "opening_hours"},
            ],
            good=[
                "The guest is unhappy with the meal.\nIntent: complaint",
                "They want to come and give time and number.\nIntent: book_table",
                "It is a question about when the place is open.\nIntent: opening_hours",
            ],
            bad=[
                "The guest talks about the food.\nIntent: other",
                "They want to change something.\nIntent: cancel_booking",
                "They may want to come on Monday.\nIntent: book_table",
            ],
            fault="A completion without an intent line is skipped without a score, so the list is too short and the later scores belong to the wrong completions.",
            proof=prove_intent,
        ),
        Case(
            name="program_of_thought",
            reward=program_answer_reward,
            examples=[
                {"prompt": "What is the sum of all numbers from 1 to 100? Write a ```python program that prints it.", "answer": "5050"},
                {"prompt": "How many primes are below 30? Write a ```python program that prints it.", "answer": "10"},
            ],
            good=[
                "I sum the range.\n```python\nprint(sum(range(1, 101)))\n```",
                "I count numbers without a divisor.\n```python\nprint(sum(all(n % d for d in range(2, n)) for n in range(2, 30)))\n```",
            ],
            bad=[
                "I sum the range.\n```python\nprint(sum(range(1, 100)))\n```",
                "I count odd numbers.\n```python\nprint(len(range(1, 30, 2)))\n```",
            ],
            fault="Scores are collected in the order in which the programs finish, so with differing run times they land on the wrong completions.",
            proof=prove_program_answer,
        ),
        Case(
            name="historic_dates",
            reward=date_reward,
            examples=[
                {"prompt": "When was the Battle of Waterloo? End with 'Date: day month year'.", "answer": "18 June 1815"},
                {"prompt": "When did Napoleon land in France after leaving Elba? End with 'Date: day month year'.", "answer": "1 March 1815"},
            ],
            good=[
                "The battle ended the Hundred Days.\nDate: Sunday, 18th of June, 1815",
                "He landed at Golfe-Juan and marched north.\nDate: 1 March 1815",
            ],
            bad=[
                "The battle was fought near Leipzig.\nDate: 18 October 1813",
                "He left the island in February.\nDate: 26 February 1815",
            ],
            fault="A date that ends in the gold date as text is accepted, so '21 March 1815' is right for '1 March 1815' (11, 21 and 31 for 1, and so on).",
            proof=prove_date,
        ),
        Case(
            name="technologies",
            reward=technology_reward,
            examples=[
                {"prompt": "Which language did JetBrains create for the JVM? End with 'Answer: ...'.", "answer": "Kotlin"},
                {"prompt": "Which systems language has a borrow checker? End with 'Answer: ...'.", "answer": "Rust"},
                {"prompt": "Which Python library provides the DataFrame? End with 'Answer: ...'.", "answer": "pandas"},
            ],
            good=[
                "It is named after an island near Saint Petersburg.\nAnswer: Kotlin",
                "Ownership is checked at compile time.\nAnswer: the Rust language",
                "It is built on top of NumPy.\nAnswer: pandas",
            ],
            bad=[
                "It compiles to Java bytecode.\nAnswer: Scala",
                "It has no garbage collector.\nAnswer: Zig",
                "It is the base of scientific Python.\nAnswer: NumPy",
            ],
            fault="The gold is put into the pattern unescaped; since Python 3.11 'C++' is a possessive 'C+', so for the gold 'C++' the wrong 'C' is paid and the right 'C++' refused.",
            proof=prove_technology,
        ),
        Case(
            name="translation_similarity",
            reward=translation_reward,
            examples=[
                {"prompt": "Translate into English, in <translation> tags: Der Zug nach Wien hat heute zwanzig Minuten Verspätung.", "reference": "The train to Vienna is twenty minutes late today."},
                {"prompt": "Translate into English, in <translation> tags: Meine Großmutter backt jeden Sonntag einen Kuchen.", "reference": "My grandmother bakes a cake every Sunday."},
            ],
            good=[
                "'Verspätung haben' is 'to be late'.\n<translation>The train to Vienna is twenty minutes late today.</translation>",
                "A simple sentence in the present.\n<translation>My grandmother bakes a cake every Sunday.</translation>",
            ],
            bad=[
                "I translate word by word.\n<translation>Twenty trains left for Venice this morning.</translation>",
                "A simple sentence.\n<translation>Granny likes to eat cookies on weekends.</translation>",
            ],
            fault="For references of 200 characters and more SequenceMatcher drops all frequent letters (autojunk), so a close translation of a paragraph scores near 0.2.",
            proof=prove_translation,
            source="https://github.com/python/cpython/issues/90825",
        ),
        Case(
            name="trivia",
            reward=trivia_reward,
            examples=[
                {"prompt": "What is the capital of France? End with 'Answer: ...'.", "answer": "Paris"},
                {"prompt": "Which is the largest planet? End with 'Answer: ...'.", "answer": "Jupiter"},
                {"prompt": "Who wrote 'Faust'? End with 'Answer: ...'.", "answer": "Goethe"},
            ],
            good=[
                "The city lies on the Seine.\nAnswer: Paris",
                "It has more mass than all the others together.\n**Answer: Jupiter**",
                "The first part of the play appeared in 1808.\nAnswer: Goethe.",
            ],
            bad=[
                "The city lies on the Rhone.\nAnswer: Lyon",
                "It has the famous rings.\nAnswer: Uranus",
                "He wrote plays in Weimar.\nAnswer: Friedrich Schiller",
            ],
            fault="lstrip takes a set of characters, so answers that begin with a, n, s, w, e or r lose letters ('Sweden' becomes 'den') and are refused.",
            proof=prove_trivia,
        ),
        Case(
            name="integer_lists",
            reward=integer_list_reward,
            examples=[
                {"prompt": "Which square numbers are below 20? End with 'Answer: ...'.", "answer": [1, 4, 9, 16]},
                {"prompt": "Which primes are between 10 and 20? End with 'Answer: ...'.", "answer": [11, 13, 17, 19]},
            ],
            good=[
                "I square the numbers 1, 2, 3 and 4; 25 is too large.\nAnswer: 1, 4, 9 and 16.",
                "12, 14, 16 and 18 are even and 15 is a multiple of 3.\nAnswer: 11, 13, 17, 19",
            ],
            bad=[
                "I square the numbers.\nAnswer: 1, 4, 9, 16, 25",
                "I leave out the even numbers.\nAnswer: 11, 13, 15, 17, 19",
            ],
            fault="str.isdigit is true for superscripts, for which int() raises, so an answer line with '3²' crashes the training step.",
            proof=prove_integer_list,
        ),
        Case(
            name="key_terms",
            reward=key_term_reward,
            examples=[
                {"prompt": "Summarize in a sentence: The ferry between the islands will stop on Friday since its engine must be repaired ...", "reference": "The island ferry stops Friday for engine repairs."},
                {"prompt": "Summarize in a sentence: A baker in Lyon has made what may be the longest baguette in the world, 140 meters ...", "reference": "A French baker made the longest baguette in the world."},
            ],
            good=[
                "The island ferry stops on Friday for engine repairs.",
                "A French baker has made the longest baguette in the world.",
            ],
            bad=[
                "There is a boat that will not be going anywhere.",
                "People in Lyon like bread a lot.",
            ],
            fault="Eight terms are taken from a set in hash order, so with a longer reference the score of the same summary differs between processes and runs.",
            proof=prove_key_term,
        ),
    ]
