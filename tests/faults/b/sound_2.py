"""Format, style, length and instruction rewards whose contracts are written down."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass
from typing import Callable

from tests.faults.case import Case


def content_of(completion) -> str:
    if isinstance(completion, str):
        return completion
    return (completion[-1].get("content") or "") if completion else ""


def final_answer(text: str) -> str | None:
    """The rest of the last line that starts with "Answer:", without a full stop."""
    for line in reversed(text.splitlines()):
        line = line.replace("*", "").strip()
        if line.startswith("Answer:"):
            return line[len("Answer:") :].strip().removesuffix(".")
    return None


# --------------------------------------------------------------------------- overlong replies


def overlong_penalty(completions, **kwargs):
    """Length only: the soft overlong punishment of DAPO, in characters. It is a penalty, so the best score is 0.

    0 up to 500 characters, then falling in a straight line to -1 at 800 characters, and -1 beyond.
    """
    limit, buffer = 800, 300
    rewards = []
    for completion in completions:
        excess = len(content_of(completion)) - (limit - buffer)
        rewards.append(-min(max(excess, 0) / buffer, 1.0) if excess > 0 else 0.0)
    return rewards


# --------------------------------------------------------------------------- repetition


@dataclass(frozen=True)
class RepetitionPenalty:
    """Share of repeated word n-grams, as a penalty between 0 (nothing repeated) and `worst`.

    Words are separated by whitespace and compared in lower case. Replies shorter than n words are not punished:
    there is nothing in them that could repeat. Correctness is judged elsewhere.
    """

    size: int = 3
    worst: float = -1.0
    __name__ = "repetition_penalty"

    def __call__(self, completions, **kwargs):
        rewards = []
        for completion in completions:
            words = content_of(completion).lower().split()
            total = len(words) - self.size + 1
            if total <= 0:
                rewards.append(0.0)
                continue
            distinct = len({tuple(words[i : i + self.size]) for i in range(total)})
            rewards.append(self.worst * (1.0 - distinct / total) if distinct < total else 0.0)
        return rewards


# --------------------------------------------------------------------------- format of reasoning and answer


def _is_think_answer(text: str) -> bool:
    text = text.strip()
    if any(text.count(tag) != 1 for tag in ("<think>", "</think>", "<answer>", "</answer>")):
        return False
    if not (text.startswith("<think>") and text.endswith("</answer>")):
        return False
    thinking, _, rest = text[len("<think>") :].partition("</think>")
    before, opened, answer = rest.partition("<answer>")
    return bool(opened) and not before.strip() and bool(thinking.strip()) and bool(answer[: -len("</answer>")].strip())


def think_answer_format(completions, **kwargs):
    """Format only, to be added to a correctness reward.

    The reply consists of one <think> block and one <answer> block, both with text in them (line breaks are fine), and
    of nothing else. Every tag occurs once; a second block, a nested tag or text outside gives 0.
    """
    return [1.0 if _is_think_answer(content_of(c)) else 0.0 for c in completions]


# --------------------------------------------------------------------------- thinking opened by the template


def template_think_format(prompts, completions, **kwargs):
    """Format only, for chat templates that already open the thinking at the end of the prompt.

    Prompt end and completion together have to contain one <think> and one </think>, thinking before it, and a reply of
    at least one word after it. Whether the model or the template wrote the opening tag does not matter.
    """
    rewards = []
    for prompt, completion in zip(prompts, completions):
        text = completion.strip()
        if prompt.rstrip().endswith("<think>"):
            text = "<think>" + text
        well_formed = text.startswith("<think>") and text.count("<think>") == 1 and text.count("</think>") == 1
        thinking, _, answer = text[len("<think>") :].partition("</think>")
        rewards.append(1.0 if well_formed and thinking.strip() and any(ch.isalnum() for ch in answer) else 0.0)
    return rewards


# --------------------------------------------------------------------------- verifiable instructions


def _holds(count: int, relation: str, limit: int) -> bool:
    return {
        "at least": count >= limit,
        "at most": count <= limit,
        "less than": count < limit,
        "more than": count > limit,
        "exactly": count == limit,
    }.get(relation, False)


def _words(text: str) -> list[str]:
    return [w for w in text.split() if any(c.isalnum() for c in w)]


def _length(text: str, relation: str, num_words: int) -> bool:
    return _holds(len(_words(text)), relation, num_words)


def _frequency(text: str, keyword: str, relation: str, frequency: int) -> bool:
    found = re.findall(rf"(?<!\w){re.escape(keyword.lower())}(?!\w)", text.lower())
    return _holds(len(found), relation, frequency)


def _no_comma(text: str) -> bool:
    return "," not in text


def _bullets(text: str, count: int) -> bool:
    return sum(line.lstrip().startswith(("- ", "* ")) for line in text.splitlines()) == count


def _quoted(text: str) -> bool:
    text = text.strip()
    return len(text) > 2 and text[0] == '"' and text[-1] == '"'


CHECKS: dict[str, Callable[..., bool]] = {
    "length:words": _length,
    "keywords:frequency": _frequency,
    "punctuation:no_comma": _no_comma,
    "format:bullets": _bullets,
    "startend:quotation": _quoted,
}


def instructions_followed(completions, instruction_ids, instruction_args, **kwargs):
    """Instruction following: the share of the row's verifiable instructions that the reply follows (partial credit).

    Instructions are judged one by one, also when an id occurs twice, and an id or relation that is not known here counts as
    not followed. A reply without any word follows nothing. Only the instructions are judged, not the content.
    """
    rewards = []
    for completion, ids, arguments in zip(completions, instruction_ids, instruction_args):
        text = content_of(completion)
        results = []
        for name, args in zip(ids, arguments):
            check = CHECKS.get(name)
            results.append(bool(_words(text)) and check is not None and check(text, **args))
        rewards.append(sum(results) / len(results) if results else 0.0)
    return rewards


# --------------------------------------------------------------------------- first word of a paragraph


def paragraph_opening(completion: str, paragraphs: int, nth: int, first_word: str) -> float:
    """IFEval: exactly `paragraphs` paragraphs, separated by blank lines, and the nth one begins with `first_word`.

    Blank paragraphs are dropped first, so that the paragraph that is counted is the one that is looked at. Quotes and
    punctuation around the word, and case, do not matter.
    """
    blocks, current = [], []
    for line in completion.splitlines() + [""]:
        if line.strip():
            current.append(line)
        elif current:
            blocks.append(" ".join(current))
            current = []
    if len(blocks) != paragraphs or not 1 <= nth <= len(blocks):
        return 0.0
    opening = blocks[nth - 1].split()[0].strip("\"'“”‘’*_.,;:!?()").lower()
    return 1.0 if opening == first_word.lower() else 0.0


# --------------------------------------------------------------------------- length-scaled correctness


def cosine_scaled_accuracy(completions, answer, **kwargs):
    """Accuracy of the last "Answer:" line, scaled by length on a half cosine over 1,500 characters.

    Right: from 1.0 (short) down to 0.5 (1,500 characters and more). Wrong: from -1.0 (short) up to -0.5. A right reply
    is always worth more than a wrong one. Beyond the maximum the curve stays at its end.
    """
    rewards = []
    for completion, gold in zip(completions, answer):
        text = content_of(completion)
        progress = min(len(text), 1500) / 1500
        falling = 0.5 * (1.0 + math.cos(math.pi * progress))
        right = final_answer(text) == gold
        rewards.append(0.5 + 0.5 * falling if right else -0.5 - 0.5 * falling)
    return rewards


# --------------------------------------------------------------------------- translation


def _tokens(text: str) -> list[str]:
    return re.findall(r"\w+|[^\w\s]", text.lower())


def _grams(tokens: list[str], size: int) -> Counter:
    return Counter(tuple(tokens[i : i + size]) for i in range(len(tokens) - size + 1))


def _bleu(candidate: list[str], reference: list[str], order: int = 2) -> float:
    if len(candidate) < order:
        return 0.0
    total = 0.0
    for size in range(1, order + 1):
        grams = _grams(candidate, size)
        matches = sum((grams & _grams(reference, size)).values())
        if matches == 0:
            return 0.0
        total += math.log(matches / sum(grams.values())) / order
    brevity = 1.0 if len(candidate) >= len(reference) else math.exp(1 - len(reference) / len(candidate))
    return min(1.0, brevity * math.exp(total))


def translation_bleu(completions, references, **kwargs):
    """Sentence BLEU with clipped uni- and bigrams and brevity penalty, the best over the references; between 0 and 1.

    The whole reply counts as the translation, so remarks around it cost precision. Other wordings earn partial credit.
    """
    return [
        max(_bleu(_tokens(content_of(completion)), _tokens(reference)) for reference in golds)
        for completion, golds in zip(completions, references)
    ]


# --------------------------------------------------------------------------- brevity within the group


def group_brevity_reward(prompts, completions, answer, **kwargs):
    """Correctness with a brevity share that is relative to the group, so scores depend on the other completions on purpose.

    Wrong replies earn 0. Among the right replies to the same prompt the shortest earns 1.0, and one of length L earns
    0.5 + 0.5 * shortest / L. Being right is always worth at least 0.5; being short is worth nothing without being right.
    """
    right = [final_answer(content_of(c)) == gold for c, gold in zip(completions, answer)]
    shortest: dict[str, int] = {}
    for prompt, completion, ok in zip(prompts, completions, right):
        if ok:
            length = len(content_of(completion))
            key = str(prompt)
            shortest[key] = min(length, shortest.get(key, length))
    return [
        0.5 + 0.5 * shortest[str(prompt)] / len(content_of(completion)) if ok else 0.0
        for prompt, completion, ok in zip(prompts, completions, right)
    ]


# --------------------------------------------------------------------------- word limits


def word_window(completion: str, low: int, high: int) -> float:
    """Length only, to be combined with a content reward: 1.0 for `low` to `high` words, less outside.

    Outside of the window the score falls with the relative distance from it and reaches 0 at half of `low` and at twice
    `high`. Words are whitespace-separated and contain a letter or digit.
    """
    count = len(_words(completion))
    if low <= count <= high:
        return 1.0
    if count < low:
        return max(0.0, (count - low / 2) / (low - low / 2))
    return max(0.0, (2 * high - count) / high)


# --------------------------------------------------------------------------- citations

_CITATION = re.compile(r"\[\[([A-Za-z0-9_-]{1,40})\]\]")


@dataclass(frozen=True)
class CitedAnswer:
    """Grounded answers: an answer in words, with its sources as [[id]].

    1.0 if the text without the markers has 4 to `max_words` words and contains the key fact, all required sources are cited, at
    most one more than that, and none that is not in the context. Bare markers are no answer, and invented ids give 0.
    """

    max_words: int = 60
    __name__ = "cited_answer_reward"

    def __call__(self, completion: str, sources: list, required: list, key_fact: str) -> float:
        cited = set(_CITATION.findall(completion))
        if not set(required) <= cited <= set(sources) or len(cited) > len(set(required)) + 1:
            return 0.0
        words = _words(_CITATION.sub(" ", completion))
        if not 4 <= len(words) <= self.max_words:
            return 0.0
        plain = " ".join(w.strip(".,;:!?()\"'*").lower() for w in words)
        return 1.0 if f" {key_fact.lower()} " in f" {plain} " else 0.0


CASES = [
    Case(
        "overlong_penalty",
        overlong_penalty,
        [
            {"prompt": "Explain in a few sentences why the sky is blue."},
            {"prompt": "Explain why ice floats."},
        ],
        [
            "Sunlight is scattered by the molecules of the air. Blue light is scattered far more than red light, so blue reaches us from all directions.",
            "Water expands when it freezes, because the molecules form an open lattice. Ice is therefore lighter than water and floats.",
        ],
        [
            "The sky is blue for a reason that can be told in many words. " * 14,
            "Ice floats, and there is a long story behind that, which begins with the molecules of water. " * 9,
        ],
        source="https://github.com/huggingface/trl/pull/3804",
    ),
    Case(
        "repetition_penalty",
        RepetitionPenalty(),
        [
            {"prompt": "What is 12 * 15? Think step by step."},
            {"prompt": "Describe a harbour at night."},
        ],
        [
            "12 * 10 is 120 and 12 * 5 is 60, so the product is 180.",
            "Lamps sway on their masts, ropes creak, and somewhere behind the sheds a radio plays.",
        ],
        [
            "Let me think about it. Let me think about it. Let me think about it. Let me think about it.",
            "The water is dark and the water is dark and the water is dark and the boats are dark.",
        ],
        source="https://github.com/huggingface/open-r1/pull/272",
    ),
    Case(
        "think_answer_format",
        think_answer_format,
        [
            {"prompt": [{"role": "system", "content": "Reply as <think>...</think><answer>...</answer>."}, {"role": "user", "content": "Is 221 prime?"}]},
            {"prompt": [{"role": "system", "content": "Reply as <think>...</think><answer>...</answer>."}, {"role": "user", "content": "What is the plural of ox?"}]},
        ],
        [
            "<think>\nI try small primes.\n221 = 13 * 17.\n</think>\n<answer>\nNo, 221 is 13 times 17.\n</answer>",
            "<think>It is irregular.</think><answer>oxen</answer>",
        ],
        [
            "<think>221 = 13 * 17.</think>\n<think>So it is not prime.</think>\n<answer>No</answer>",
            "The plural is irregular. <answer>oxen</answer>",
        ],
        source="https://github.com/huggingface/open-r1/pull/418",
    ),
    Case(
        "template_think_format",
        template_think_format,
        [
            {"prompt": "<|user|>How many minutes has a day?<|assistant|><think>\n"},
            {"prompt": "<|user|>Name a river in Spain.<|assistant|>"},
        ],
        [
            "A day has 24 hours of 60 minutes.\n</think>\nA day has 1440 minutes.",
            "<think>\nThe Ebro is the longest one that ends in Spain.\n</think>\nThe Ebro.",
        ],
        [
            "A day has 24 hours of 60 minutes, which makes 1440 minutes.",
            "The Ebro.",
        ],
        source="https://github.com/huggingface/open-r1/issues/560",
    ),
    Case(
        "instructions_followed",
        instructions_followed,
        [
            {"prompt": "Advertise a bakery in at least 10 and less than 20 words. Use 'fresh' exactly twice.", "instruction_ids": ["length:words", "length:words", "keywords:frequency"],
             "instruction_args": [{"relation": "at least", "num_words": 10}, {"relation": "less than", "num_words": 20}, {"keyword": "fresh", "relation": "exactly", "frequency": 2}]},
            {"prompt": "List two advantages of trains as bullet points, without commas.", "instruction_ids": ["format:bullets", "punctuation:no_comma"], "instruction_args": [{"count": 2}, {}]},
        ],
        [
            "Fresh bread at six, fresh rolls at seven, and warm cinnamon buns all day long.",
            "- You can read on the way\n- They rarely get stuck in traffic",
        ],
        [
            "Fresh bread.",
            "You can read on the way, and they rarely get stuck in traffic.",
        ],
        source="https://github.com/thinking-machines-lab/tinker-cookbook/pull/894",
    ),
    Case(
        "paragraph_opening",
        paragraph_opening,
        [
            {"prompt": "Write two paragraphs about rivers. The second one must start with the word 'Bridges'.", "paragraphs": 2, "nth": 2, "first_word": "Bridges"},
            {"prompt": "Write three short paragraphs about snow. The first one must start with 'Quietly'.", "paragraphs": 3, "nth": 1, "first_word": "Quietly"},
        ],
        [
            "Rivers divide towns and feed them.\n\n\n\nBridges join what the water has parted.",
            "\n\nQuietly it falls at night.\n\nIn the morning the roofs are white.\n\nBy noon the street is grey again.",
        ],
        [
            "Bridges cross rivers.\n\nRivers divide towns and feed them.",
            "Snow falls quietly at night.\n\nIn the morning the roofs are white.\n\nBy noon the street is grey again.",
        ],
        source="https://github.com/scitix/sieval/pull/104",
    ),
    Case(
        "cosine_scaled_accuracy",
        cosine_scaled_accuracy,
        [
            {"prompt": "How many corners has an octahedron? End with 'Answer: n'.", "answer": "6"},
            {"prompt": "What is 19 squared? End with 'Answer: n'.", "answer": "361"},
        ],
        [
            "An octahedron has four corners around the middle, one on top and one below.\nAnswer: 6",
            "20 squared is 400; minus 2 * 20 plus 1 makes 361.\nAnswer: 361",
        ],
        [
            "An octahedron has eight faces, and so it has eight corners.\nAnswer: 8",
            "20 squared is 400; minus 20 makes 380.\nAnswer: 380",
        ],
        source="https://github.com/huggingface/trl/pull/6066",
    ),
    Case(
        "translation_bleu",
        translation_bleu,
        [
            {"prompt": "Translate into English: Le musée est fermé le mardi.", "references": ["The museum is closed on Tuesdays.", "The museum is closed on Tuesday."]},
            {"prompt": "Translate into English: Il a oublié son parapluie dans le tram.", "references": ["He forgot his umbrella on the tram.", "He left his umbrella in the tram."]},
        ],
        [
            "The museum is closed on Tuesdays.",
            "He left his umbrella in the tram.",
        ],
        [
            "Museums often open at ten.",
            "She has lost her keys at work again.",
        ],
        source="https://github.com/promptfoo/promptfoo/pull/9717",
    ),
    Case(
        "group_brevity",
        group_brevity_reward,
        [
            {"prompt": "A box holds 6 rows of 8 pears. How many pears? End with 'Answer: n'.", "answer": "48"},
            {"prompt": "Half of the 90 seats are taken. How many are free? End with 'Answer: n'.", "answer": "45"},
        ],
        [
            "6 rows of 8 pears are 6 * 8 = 48 pears.\nAnswer: 48",
            "If half of 90 are taken, the other half is free.\nAnswer: 45",
        ],
        [
            "6 and 8 make 14.\nAnswer: 14",
            "Nearly all are free.\nAnswer: 80",
        ],
        source="https://github.com/PrimeIntellect-ai/prime-rl/pull/2169",
    ),
    Case(
        "word_window",
        word_window,
        [
            {"prompt": "Summarize the plot of Hamlet in 15 to 30 words.", "low": 15, "high": 30},
            {"prompt": "Describe the taste of a lemon in 5 to 10 words.", "low": 5, "high": 10},
        ],
        [
            "A prince learns that his uncle murdered his father, feigns madness, hesitates, and takes his revenge in a duel which nobody at court survives.",
            "Sharp and bright, sour first, then almost sweet.",
        ],
        [
            "Everybody dies in the end.",
            "Sour.",
        ],
    ),
    Case(
        "cited_answer_reward",
        CitedAnswer(),
        [
            {"prompt": "[ice-1] Glaciers move a few centimetres per day. [ice-2] Jakobshavn moves 40 metres per day.\nWhich glacier moves 40 metres per day? Cite as [[id]].", "sources": ["ice-1", "ice-2"], "required": ["ice-2"], "key_fact": "Jakobshavn"},
            {"prompt": "[tea-1] Green tea is not oxidised. [tea-2] Black tea is fully oxidised. [tea-3] Tea grows in Assam.\nHow do green and black tea differ? Cite as [[id]].", "sources": ["tea-1", "tea-2", "tea-3"], "required": ["tea-1", "tea-2"], "key_fact": "not oxidised"},
        ],
        [
            "The fastest of them, Jakobshavn, moves forty metres per day [[ice-2]].",
            "Green tea is not oxidised [[tea-1]], while black tea is fully oxidised [[tea-2]].",
        ],
        [
            "Glaciers move a few centimetres per day [[ice-1]].",
            "Black tea is stronger than green tea [[tea-3]].",
        ],
        source="https://github.com/NVIDIA-NeMo/Gym/issues/2585",
    ),
]
