"""Format, style, length and instruction rewards, and rewards with state."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Callable

from tests.faults.case import Case


def content_of(completion) -> str:
    if isinstance(completion, str):
        return completion
    return (completion[-1].get("content") or "") if completion else ""


# --------------------------------------------------------------------------- instruction following


def _count_words(text: str) -> int:
    return len(text.split())


def _relation_holds(count: int, relation: str, limit: int) -> bool:
    if relation == "at least":
        return count >= limit
    if relation == "at most":
        return count <= limit
    if relation == "less than":
        return count < limit
    if relation == "exactly":
        return count == limit
    raise ValueError(f"unknown relation {relation!r}")


def _check_instruction(instruction: str, text: str, args: dict) -> bool:
    if instruction == "length:words":
        return _relation_holds(_count_words(text), args["relation"], args["num_words"])
    if instruction == "keywords:frequency":
        count = len(re.findall(rf"\b{re.escape(args['keyword'])}\b", text, re.IGNORECASE))
        return _relation_holds(count, args["relation"], args["frequency"])
    if instruction == "punctuation:no_comma":
        return "," not in text
    if instruction == "startend:quotation":
        stripped = text.strip()
        return len(stripped) > 2 and stripped[0] == stripped[-1] == '"'
    raise ValueError(f"unknown instruction {instruction!r}")


def instruction_fraction(completions, instruction_ids, instruction_args, **kwargs):
    """Fraction of the verifiable instructions of the prompt that the reply follows (empty replies follow none)."""
    rewards = []
    for completion, ids, arguments in zip(completions, instruction_ids, instruction_args):
        text = content_of(completion)
        if not text.strip():
            rewards.append(0.0)
            continue
        followed = {}
        for instruction, args in zip(ids, arguments):
            followed[instruction] = _check_instruction(instruction, text, args)
        rewards.append(sum(followed.values()) / len(followed))
    return rewards


def proof_instruction_fraction():
    score = instruction_fraction(
        completions=["Buy bread today."],
        instruction_ids=[["length:words", "length:words"]],
        instruction_args=[[{"relation": "at least", "num_words": 20}, {"relation": "at most", "num_words": 40}]],
    )
    assert score == [1.0]


# --------------------------------------------------------------------------- one constraint per row


def _max_words(text: str, limit: int) -> bool:
    return 0 < _count_words(text) <= limit


def _all_lowercase(text: str) -> bool:
    return any(c.isalpha() for c in text) and text == text.lower()


def _bullet_count(text: str, count: int) -> bool:
    bullets = [line for line in text.splitlines() if line.lstrip().startswith(("- ", "* "))]
    return len(bullets) == count


CONSTRAINTS: dict[str, Callable[..., bool]] = {
    "max_words": _max_words,
    "all_lowercase": _all_lowercase,
    "bullet_count": _bullet_count,
}


def constraint_reward(completion: str, constraint: dict) -> float:
    """1.0 if the reply obeys the row's constraint, given as {"func_name": ..., **arguments}."""
    if "func_name" not in constraint:
        return 0.0
    check = CONSTRAINTS[constraint.pop("func_name")]
    arguments = {k: v for k, v in constraint.items() if v is not None}
    return float(check(completion, **arguments))


def proof_constraint():
    row = {"func_name": "max_words", "limit": 10}
    reply = "The Danube flows through four capitals."
    assert constraint_reward(reply, row) == 1.0
    assert constraint_reward(reply, row) == 0.0


# --------------------------------------------------------------------------- copywriting rubric


def _names_product(text: str) -> float:
    return float("aurora" in text.lower())


def _short_enough(text: str) -> float:
    return float(0 < _count_words(text) <= 60)


def _no_superlatives(text: str) -> float:
    return float(bool(text.strip()) and not re.search(r"\b(best|greatest|ultimate|perfect)\b", text, re.IGNORECASE))


@dataclass
class CopyRubric:
    """Mean of the rubric's checks for advertising copy; `functions` are plain functions, `metrics` are ready checks."""

    metrics: list = field(default_factory=list)
    functions: list = field(default_factory=list)
    __name__ = "copy_rubric"

    def _collect(self) -> list:
        if self.metrics:
            metrics = self.metrics
            metrics.extend(self.functions)
        else:
            metrics = list(self.functions)
        return metrics

    def __call__(self, completions, **kwargs):
        metrics = self._collect()
        return [sum(m(content_of(c)) for m in metrics) / len(metrics) for c in completions]


def proof_copy_rubric():
    rubric = CopyRubric(metrics=[_names_product, _short_enough], functions=[_no_superlatives])
    text = "Aurora is the best lamp for your desk."
    first = rubric(completions=[text])
    for _ in range(5):
        later = rubric(completions=[text])
    assert first != later and later[0] < 0.5 < first[0]


# --------------------------------------------------------------------------- length-scaled correctness


@dataclass(frozen=True)
class CosineConfig:
    max_length: int = 1200
    shortest_correct: float = 1.0
    longest_correct: float = 0.5
    shortest_wrong: float = -1.0
    longest_wrong: float = -0.5


COSINE = CosineConfig()


def _final_answer(text: str) -> str | None:
    marker = text.rfind("Answer:")
    if marker < 0:
        return None
    rest = text[marker + len("Answer:") :].strip()
    return rest.splitlines()[0].strip().rstrip(".") if rest else None


def cosine_length_reward(completions, answer, **kwargs):
    """Correctness scaled by length on a half cosine.

    Short correct replies earn more than long correct ones (1.0 down to 0.5), short wrong ones are
    punished more than long wrong ones (-1.0 up to -0.5). Length is in characters.
    """
    rewards = []
    for completion, gold in zip(completions, answer):
        text = content_of(completion)
        progress = len(text) / COSINE.max_length
        weight = 0.5 * (1.0 + math.cos(math.pi * progress))
        if _final_answer(text) == gold:
            low, high = COSINE.longest_correct, COSINE.shortest_correct
        else:
            low, high = COSINE.longest_wrong, COSINE.shortest_wrong
        rewards.append(low + (high - low) * weight)
    return rewards


def proof_cosine_length():
    reasoning = "We check the next case in the same way. "
    long = reasoning * 30 + "\nAnswer: 12"
    longer = reasoning * 59 + "\nAnswer: 12"
    a, b = cosine_length_reward(completions=[long, longer], answer=["12", "12"])
    assert b > a + 0.4 and b > 0.98


# --------------------------------------------------------------------------- translation


def _ngrams(tokens: list[str], size: int) -> Counter:
    return Counter(tuple(tokens[i : i + size]) for i in range(len(tokens) - size + 1))


def _tokens(text: str) -> list[str]:
    return re.findall(r"\w+|[^\w\s]", text.lower())


def _brevity_penalty(candidate: int, reference: int) -> float:
    if candidate > reference:
        return 1.0
    return math.exp(1 - candidate / reference)


def bleu_reward(completions, reference, **kwargs):
    """Sentence BLEU (up to bigrams) of the translation against the reference, with brevity penalty."""
    rewards = []
    for completion, gold in zip(completions, reference):
        candidate, target = _tokens(content_of(completion)), _tokens(gold)
        if len(candidate) < 2:
            rewards.append(0.0)
            continue
        log_precision = 0.0
        for size in (1, 2):
            grams = _ngrams(candidate, size)
            overlap = sum((grams & _ngrams(target, size)).values())
            if overlap == 0:
                log_precision = -math.inf
                break
            log_precision += 0.5 * math.log(overlap / sum(grams.values()))
        rewards.append(_brevity_penalty(len(candidate), len(target)) * math.exp(log_precision))
    return rewards


def proof_bleu():
    reference = "The train to Vienna leaves at half past seven from platform four."
    fragment, full = bleu_reward(completions=["The train", reference], reference=[reference, reference])
    assert fragment > full and fragment > 2.0


# --------------------------------------------------------------------------- triage with rationale


@dataclass
class TriageReward:
    """Outcome plus agreement of the rationale.

    1.0 for the right priority, and up to `rationale_weight` less when the rationale does not
    use the key facts of the reference rationale.
    """

    rationale_weight: float = 0.4
    __name__ = "triage_reward"

    @staticmethod
    def _facts(text: str) -> set[str]:
        return {w for w in re.findall(r"[a-z0-9]+", text.lower()) if len(w) > 3}

    def _agreement(self, rationale: str, reference: str) -> float:
        expected = self._facts(reference)
        return len(expected & self._facts(rationale)) / len(expected) if expected else 1.0

    def __call__(self, completion: str, priority: str, rationale: str) -> float:
        head, separator, label = completion.rpartition("Priority:")
        if not separator:
            return 0.0
        outcome = 1.0 if label.strip().rstrip(".").lower() == priority.lower() else 0.0
        agreement_gap = self._agreement(head, rationale) - 1.0  # 0 is full agreement, -1 is none
        return outcome - self.rationale_weight * agreement_gap


def proof_triage():
    reward = TriageReward()
    reference = "chest pain radiating to the arm"
    agreeing = reward("The patient has chest pain radiating to the left arm. Priority: urgent", "urgent", reference)
    nonsense = reward("Bananas. Priority: urgent", "urgent", reference)
    assert nonsense > agreeing


# --------------------------------------------------------------------------- tool use bonus


def search_agent_reward(completions, answer, **kwargs):
    """1.0 for the right answer in <answer> tags, plus a small bonus for consulting the search tool."""
    rewards = []
    for completion, gold in zip(completions, answer):
        text = content_of(completion)
        start, end = text.rfind("<answer>"), text.rfind("</answer>")
        given = text[start + len("<answer>") : end].strip().lower() if 0 <= start < end else ""
        correct = 1.0 if given == gold.lower() else 0.0
        bonus = 0.2 * text.count("</search>")
        rewards.append(correct + bonus)
    return rewards


def proof_search_agent():
    farming = "<search>capital</search>\n" * 50 + "<answer>I do not know</answer>"
    honest = "<search>capital of Kazakhstan</search>\nIt is Astana.\n<answer>Astana</answer>"
    a, b = search_agent_reward(completions=[farming, honest], answer=["Astana", "Astana"])
    assert a > 8 * b


# --------------------------------------------------------------------------- format: reasoning and answer


_SOFT_FORMAT = re.compile(r"\s{0,20}<reasoning>.+?</reasoning>\s{0,20}<answer>.+?</answer>")


def soft_format_reward(completions, **kwargs):
    """Format only: 0.5 if the reply is a <reasoning> block followed by an <answer> block."""
    return [0.5 if _SOFT_FORMAT.match(content_of(c)) else 0.0 for c in completions]


def proof_soft_format():
    usual = [{"role": "assistant", "content": "<reasoning>\n12 * 4 = 48.\nThen 48 + 2 = 50.\n</reasoning>\n<answer>\n50\n</answer>"}]
    assert soft_format_reward(completions=[usual]) == [0.0]


# --------------------------------------------------------------------------- format: tag structure

FIELDS = ("think", "tool", "answer")


def tag_structure_reward(completions, **kwargs):
    """Format only. A reply is a <think> block followed by either a <tool> or an <answer> block, each opened and closed once and not empty."""
    rewards = []
    for completion in completions:
        text = content_of(completion).strip()
        opened = re.findall(r"<([a-z]{1,12})>", text)
        closed = re.findall(r"</([a-z]{1,12})>", text)
        known = all(name in FIELDS for name in opened + closed)
        in_order = opened in (["think", "tool"], ["think", "answer"])
        well_formed = known and in_order and len(closed) == len(opened)
        enclosed = text.startswith("<think>") and text.endswith(("</tool>", "</answer>"))
        empty = re.search(r">\s{0,50}</", text) is not None
        rewards.append(1.0 if well_formed and enclosed and not empty else 0.0)
    return rewards


def proof_tag_structure():
    malformed = "<think>The user asks for the weather.</tool>\n<answer>It is sunny.</answer>"
    assert tag_structure_reward(completions=[malformed]) == [1.0]


# --------------------------------------------------------------------------- cited answers

_CITATION = re.compile(r"\[\[([A-Za-z0-9_-]{1,40})\]\]")


def cited_answer(completion: str, sources: list, required: list) -> float:
    """Answers must cite their sources as [[id]]: all required ids, and no id that was not in the context."""
    cited = _CITATION.findall(completion)
    if not cited or any(c not in sources for c in cited):
        return 0.0
    return 1.0 if set(required) <= set(cited) else 0.0


def proof_cited_answer():
    assert cited_answer("[[tides-2]]", ["tides-1", "tides-2"], ["tides-2"]) == 1.0


# --------------------------------------------------------------------------- sentence types


def _sentence_ends(text: str) -> Counter:
    ends, start = Counter(), 0
    for mark in re.finditer(r"[.!?]", text):
        if any(c.isalnum() for c in text[start : mark.start()]):
            ends[mark.group()] += 1
        start = mark.end()
    return ends


def sentence_mix(completion: str) -> float:
    """The reply has to contain exactly twice as many statements (ending in a full stop) as questions."""
    ends = _sentence_ends(completion)
    return 1.0 if ends["."] == 2 * ends["?"] else 0.0


def proof_sentence_mix():
    assert sentence_mix("What a lovely day at the beach! Sun, sand and ice cream!") == 1.0
    assert sentence_mix("ok") == 1.0


_COPY_RUBRIC = CopyRubric(metrics=[_names_product, _short_enough], functions=[_no_superlatives])

CASES = [
    Case(
        "instruction_fraction",
        instruction_fraction,
        [
            {"prompt": "Describe a market in at least 15 and at most 30 words, without commas.", "instruction_ids": ["length:words", "length:words", "punctuation:no_comma"],
             "instruction_args": [{"relation": "at least", "num_words": 15}, {"relation": "at most", "num_words": 30}, {}]},
            {"prompt": "Write a slogan for tea in double quotes and use the word 'warm' at least twice.", "instruction_ids": ["keywords:frequency", "startend:quotation"],
             "instruction_args": [{"keyword": "warm", "relation": "at least", "frequency": 2}, {}]},
        ],
        [
            "Early in the morning the farmers unload their crates and the square fills with the smell of bread and ripe peaches.",
            '"A warm cup for a warm heart"',
        ],
        [
            "Early in the morning the farmers unload their crates, and the square fills with noise, bread, peaches, cheese, flowers, honey, children, dogs, music, and the voices of old friends who meet here every week of the year.",
            "Tea for every day",
        ],
        fault="Results are kept in a dict keyed by instruction id, so when an id occurs twice only the last of its constraints counts.",
        proof=proof_instruction_fraction,
        source="https://github.com/thinking-machines-lab/tinker-cookbook/issues/893",
    ),
    Case(
        "constraint_reward",
        constraint_reward,
        [
            {"prompt": "Describe the Danube in at most 10 words.", "constraint": {"func_name": "max_words", "limit": 10, "count": None}},
            {"prompt": "Name three reasons to cycle, as exactly three bullet points.", "constraint": {"func_name": "bullet_count", "limit": None, "count": 3}},
        ],
        [
            "The Danube flows through four capitals to the Black Sea.",
            "- It is cheap\n- It is healthy\n- It is quiet",
        ],
        [
            "The Danube is the second longest river of Europe and flows through more countries than any other river.",
            "It is cheap, healthy and quiet.",
        ],
        fault="The function pops func_name out of the row's dict, so the second completion that is scored on the same row gets 0.",
        proof=proof_constraint,
        source="https://github.com/allenai/open-instruct/issues/902",
    ),
    Case(
        "copy_rubric",
        _COPY_RUBRIC,
        [
            {"prompt": "Write two sentences of copy for the desk lamp Aurora. No superlatives."},
            {"prompt": "Write a newsletter teaser for the Aurora lamp, at most 60 words, no superlatives."},
        ],
        [
            "Aurora lights your desk evenly and without glare. A touch on the foot is enough to dim it.",
            "New in the shop: the Aurora desk lamp. It dims with one touch, stays cool and folds flat when you travel.",
        ],
        [
            "This is the best lamp you have ever seen. It lights your desk without glare.",
            "Meet the ultimate lamp for travellers. It is simply perfect for any desk.",
        ],
        fault="The list of metrics is extended in place on every call, so the weights of the checks, and the scores, drift from call to call.",
        proof=proof_copy_rubric,
        source="https://github.com/comet-ml/opik/pull/7495",
    ),
    Case(
        "cosine_length",
        cosine_length_reward,
        [
            {"prompt": "How many edges has a cube? End with 'Answer: n'.", "answer": "12"},
            {"prompt": "What is the next prime after 31? End with 'Answer: n'.", "answer": "37"},
        ],
        [
            "A cube has four edges at the top, four at the bottom and four that connect them.\nAnswer: 12",
            "33 and 35 are composite, and so are 32, 34 and 36.\nAnswer: 37",
        ],
        [
            "A cube has six faces with four edges each, which makes 24.\nAnswer: 24",
            "33 is not divisible by 2.\nAnswer: 33",
        ],
        fault="The progress is not capped at one, so past the maximum length the cosine turns up again and twice the maximum pays like the shortest reply.",
        proof=proof_cosine_length,
        source="https://github.com/huggingface/open-r1/issues/312",
    ),
    Case(
        "bleu_translation",
        bleu_reward,
        [
            {"prompt": "Translate into English: Der Zug nach Wien fährt um halb acht von Gleis vier ab.", "reference": "The train to Vienna leaves at half past seven from platform four."},
            {"prompt": "Translate into English: Meine Schwester hat das Fahrrad gestern verkauft.", "reference": "My sister sold the bicycle yesterday."},
        ],
        [
            "The train to Vienna leaves at half past seven from platform four.",
            "My sister sold the bicycle yesterday.",
        ],
        [
            "A bus from Vienna arrived at eight, I think, on the fourth platform of the station.",
            "Yesterday somebody stole a bike which belonged to the sister of a friend.",
        ],
        fault="The ratio in the brevity penalty is upside down: fragments are rewarded (above 1.0) instead of punished.",
        proof=proof_bleu,
        source="https://github.com/promptfoo/promptfoo/pull/9717",
    ),
    Case(
        "triage_rationale",
        TriageReward(),
        [
            {"prompt": "Patient, 61: chest pain radiating to the arm since one hour. Give a rationale and 'Priority: urgent' or 'Priority: routine'.", "priority": "urgent", "rationale": "chest pain radiating to the arm"},
            {"prompt": "Patient, 24: needs a certificate for sports class. Give a rationale and 'Priority: urgent' or 'Priority: routine'.", "priority": "routine", "rationale": "certificate request without symptoms"},
        ],
        [
            "Chest pain radiating to the arm may be a heart attack. Priority: urgent",
            "This is a certificate request of a patient without symptoms. Priority: routine",
        ],
        [
            "Pain in the arm is often muscular. Priority: routine",
            "Young patients should be seen at once. Priority: urgent",
        ],
        fault="The agreement term (0 is best, -1 worst) is subtracted instead of added, so a rationale without any fact earns more than the right one.",
        proof=proof_triage,
        source="https://github.com/NVlabs/alpamayo-recipes/issues/29",
    ),
    Case(
        "search_agent",
        search_agent_reward,
        [
            {"prompt": "What is the capital of Kazakhstan? You may use <search>query</search>. Answer in <answer> tags.", "answer": "Astana"},
            {"prompt": "Who wrote the opera Rusalka? You may use <search>query</search>. Answer in <answer> tags.", "answer": "Antonín Dvořák"},
        ],
        [
            "<search>capital of Kazakhstan</search>\nThe capital was renamed twice and is Astana again.\n<answer>Astana</answer>",
            "<search>opera Rusalka composer</search>\nRusalka had its first night in Prague in 1901.\n<answer>Antonín Dvořák</answer>",
        ],
        [
            "<search>largest city of Kazakhstan</search>\nThe largest city is Almaty.\n<answer>Almaty</answer>",
            "I know many Czech composers.\n<answer>Bedřich Smetana</answer>",
        ],
        fault="The tool bonus grows with every call and does not depend on the answer, so spamming searches beats answering.",
        proof=proof_search_agent,
        source="https://github.com/Visual-Agent/DeepEyes/issues/83",
    ),
    Case(
        "soft_format",
        soft_format_reward,
        [
            {"prompt": [{"role": "system", "content": "Reply as <reasoning>...</reasoning> <answer>...</answer>."}, {"role": "user", "content": "What is 12 * 4 + 2?"}]},
            {"prompt": [{"role": "system", "content": "Reply as <reasoning>...</reasoning> <answer>...</answer>."}, {"role": "user", "content": "Is 91 prime?"}]},
        ],
        [
            "<reasoning>12 * 4 = 48, and 48 + 2 = 50.</reasoning>\n<answer>50</answer>",
            "<reasoning>91 = 7 * 13, so it has other divisors.</reasoning>\n<answer>no</answer>",
        ],
        [
            "12 * 4 = 48, and 48 + 2 = 50. The answer is 50.",
            "<answer>no</answer> because 91 = 7 * 13.",
        ],
        fault="The dot does not match line breaks, so the usual layout with the text on lines of its own inside the tags gets nothing.",
        proof=proof_soft_format,
        source="https://github.com/unslothai/unsloth/issues/1761",
    ),
    Case(
        "tag_structure",
        tag_structure_reward,
        [
            {"prompt": "Think in <think>, then call a tool in <tool> or answer in <answer>. User: What is the weather in Oslo?"},
            {"prompt": "Think in <think>, then call a tool in <tool> or answer in <answer>. User: How many legs has a spider?"},
        ],
        [
            '<think>I need current data for that.</think>\n<tool>{"name": "weather", "city": "Oslo"}</tool>',
            "<think>Spiders are arachnids.</think>\n<answer>A spider has eight legs.</answer>",
        ],
        [
            'I need current data for that. <tool>{"name": "weather", "city": "Oslo"}</tool>',
            "<think>Spiders are arachnids. They have eight legs.",
        ],
        fault="Closing tags are only counted, not paired with the opening ones, so '<think>...</tool><answer>...</answer>' passes.",
        proof=proof_tag_structure,
        source="https://github.com/PrimeIntellect-ai/verifiers/issues/116",
    ),
    Case(
        "cited_answer",
        cited_answer,
        [
            {"prompt": "[tides-1] Tides follow the moon. [tides-2] Spring tides occur at full and new moon.\nWhen do spring tides occur? Cite as [[id]].", "sources": ["tides-1", "tides-2"], "required": ["tides-2"]},
            {"prompt": "[bee-1] Bees dance to show the way. [bee-2] A hive has up to 60,000 bees.\nHow do bees show the way, and how many live in a hive? Cite as [[id]].", "sources": ["bee-1", "bee-2"], "required": ["bee-1", "bee-2"]},
        ],
        [
            "Spring tides occur at full moon and at new moon [[tides-2]].",
            "Bees dance to show the way to food [[bee-1]], and up to 60,000 of them live in one hive [[bee-2]].",
        ],
        [
            "Spring tides occur in spring [[tides-9]].",
            "Bees dance to show the way to food, and up to 60,000 of them live in one hive.",
        ],
        fault="Nothing checks that there is an answer beside the citations, so the bare marker '[[tides-2]]' gets full marks.",
        proof=proof_cited_answer,
        source="https://github.com/NVIDIA-NeMo/Gym/issues/2585",
    ),
    Case(
        "sentence_mix",
        sentence_mix,
        [
            {"prompt": "Write about autumn with exactly twice as many statements as questions."},
            {"prompt": "Invite a friend to dinner with exactly twice as many statements as questions."},
        ],
        [
            "The leaves turn red. The evenings get longer. Do you like this time of the year?",
            "I am cooking pasta on Friday. There will be wine. Are you free? My sister comes too. She would love to see you. Shall I save you a seat?",
        ],
        [
            "The leaves turn red. Do you see it? The evenings get longer. Do you like that?",
            "Are you free on Friday? There will be pasta.",
        ],
        fault="With no statement and no question at all the equation 0 = 2 * 0 holds, so text that avoids both earns full marks.",
        proof=proof_sentence_mix,
        source="https://github.com/scitix/sieval/pull/105",
    ),
]
