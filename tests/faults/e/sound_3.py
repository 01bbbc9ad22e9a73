"""Sound rewards for form, length, style, dialog, citation and translation."""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.faults.case import Case


def _text(completion: Any) -> str:
    """Plain text of a completion: the string itself, or what the last assistant message says."""
    if isinstance(completion, str):
        return completion
    for message in reversed(completion):
        if message.get("role", "assistant") == "assistant":
            content = message.get("content")
            return content if isinstance(content, str) else ""
    return ""


def _final(text: str, marker: str) -> str | None:
    """The rest of the last line that starts with the marker (bold or not)."""
    for line in reversed(text.splitlines()):
        line = line.strip().strip("*_ ")
        if line.startswith(marker):
            return line[len(marker) :].strip("*_ ")
    return None


# --------------------------------------------------------------------------- reasoning tags

TAGS = ("<think>", "</think>", "<answer>", "</answer>")


def reasoning_format_reward(completions: Sequence[Any], **kwargs: Any) -> list[float]:
    """Format only, whatever the answer: <think>...</think> followed by <answer>...</answer> and nothing else.

    Every tag occurs exactly once and both parts say something. Space between the parts is fine.
    """
    rewards = []
    for completion in completions:
        text = _text(completion).strip()
        ok = all(text.count(tag) == 1 for tag in TAGS) and text.startswith("<think>") and text.endswith("</answer>")
        if ok:
            thought, _, rest = text[len("<think>") :].partition("</think>")
            rest = rest.strip()
            answer = rest[len("<answer>") : -len("</answer>")]
            ok = rest.startswith("<answer>") and bool(thought.strip()) and bool(answer.strip())
        rewards.append(float(ok))
    return rewards


# --------------------------------------------------------------------------- length, as a penalty


@dataclass(frozen=True)
class LengthBudget:
    soft: int = 600
    hard: int = 1200


class OverlongPenalty:
    """DAPO's soft overlong punishment, in characters: 0.0 up to `soft`, falling linearly to -1.0 at `hard` and beyond.

    Never positive: it is one term of a sum and only takes away. An empty completion loses nothing here, because
    whether it answers anything is the business of the other terms.
    """

    __name__ = "overlong_penalty"

    def __init__(self, budget: LengthBudget = LengthBudget()) -> None:
        self.budget = budget

    def __call__(self, completions: Sequence[Any], **kwargs: Any) -> list[float]:
        span = self.budget.hard - self.budget.soft
        return [max(-1.0, min(0.0, (self.budget.soft - len(_text(c))) / span)) for c in completions]


overlong_penalty = OverlongPenalty()


# --------------------------------------------------------------------------- repetition, as a penalty


def _pieces(text: str) -> list[str]:
    """Words; what is longer than 20 characters (unspaced scripts, loops without spaces) counts by character."""
    pieces: list[str] = []
    for word in text.lower().split():
        pieces.extend([word] if len(word) <= 20 else word)
    return pieces


def repetition_penalty(completions: Sequence[Any], ngram: int = 4, **kwargs: Any) -> list[float]:
    """Share of repeated 4-grams, as a penalty between 0.0 (none) and -1.0. The best score is 0.0.

    Texts too short for a 4-gram cannot repeat one and get 0.0; the reward is to be added to one for content.
    """
    rewards = []
    for completion in completions:
        pieces = _pieces(_text(completion))
        grams = [tuple(pieces[i : i + ngram]) for i in range(len(pieces) - ngram + 1)]
        rewards.append(len(set(grams)) / len(grams) - 1.0 if grams else 0.0)
    return rewards


# --------------------------------------------------------------------------- cosine-scaled correctness


@dataclass(frozen=True)
class CosineConfig:
    max_chars: int = 2000
    correct_short: float = 1.0
    correct_long: float = 0.5
    wrong_short: float = -1.0
    wrong_long: float = -0.5


class CosineScaledReward:
    """Correctness of the last "#### number", scaled with length along a half cosine (Demystifying Long CoT, C.1).

    Right answers: 1.0 when short, down to 0.5 at `max_chars`. Wrong answers: -1.0 when short, up to -0.5 at
    `max_chars`, so that thinking longer is encouraged where it is needed. Longer texts are treated as having
    `max_chars` characters. A right answer always beats a wrong one.
    """

    __name__ = "cosine_scaled_reward"

    def __init__(self, config: CosineConfig = CosineConfig()) -> None:
        self.config = config

    def _correct(self, text: str, gold: int) -> bool:
        stated = _final(text, "####")
        return bool(stated) and re.fullmatch(r"[+-]?[0-9]{1,18}", stated.replace(",", "").rstrip(".")) is not None and int(
            stated.replace(",", "").rstrip(".")
        ) == gold

    def __call__(self, completions: Sequence[Any], answer: Sequence[int], **kwargs: Any) -> list[float]:
        config, rewards = self.config, []
        for completion, gold in zip(completions, answer):
            text = _text(completion)
            progress = min(len(text), config.max_chars) / config.max_chars
            short, long = (
                (config.correct_short, config.correct_long)
                if self._correct(text, gold)
                else (config.wrong_short, config.wrong_long)
            )
            rewards.append(long + 0.5 * (short - long) * (1.0 + math.cos(math.pi * progress)))
        return rewards


cosine_scaled_reward = CosineScaledReward()


# --------------------------------------------------------------------------- length within the group


def group_length_reward(
    completions: Sequence[Any], prompts: Sequence[Any], answer: Sequence[str], **kwargs: Any
) -> list[float]:
    """Correctness plus a group-relative length term (Kimi k1.5).

    Within the samples of one prompt, the length term goes from +0.1 (shortest) to -0.1 (longest). It is added to
    the 1.0 of a right answer ("ANSWER: ..." on the last such line); a wrong answer has 0.0 and can only lose by
    being long. Samples of other prompts have no influence.
    """
    groups: dict[str, list[int]] = defaultdict(list)
    for i, prompt in enumerate(prompts):
        groups[json.dumps(prompt, sort_keys=True, default=str)].append(i)
    texts = [_text(completion) for completion in completions]
    rewards = [0.0] * len(texts)
    for members in groups.values():
        lengths = [len(texts[i]) for i in members]
        shortest, spread = min(lengths), max(lengths) - min(lengths)
        for i in members:
            term = 0.1 - 0.2 * (len(texts[i]) - shortest) / spread if spread else 0.0
            stated = _final(texts[i], "ANSWER:")
            right = stated is not None and _words(stated) == _words(answer[i]) != []
            rewards[i] = 1.0 + term if right else min(0.0, term)
    return rewards


# --------------------------------------------------------------------------- checkable instructions

WORD = re.compile(r"\w+(?:['’-]\w+)*")


def _words(text: str) -> list[str]:
    return [word.lower() for word in WORD.findall(text)]


def _compare(count: int, args: Mapping[str, Any]) -> bool:
    relation, number = args["relation"], args["number"]
    return count >= number if relation == "at least" else count < number if relation == "less than" else count == number


def _number_words(text: str, args: Mapping[str, Any]) -> bool:
    return _compare(len(_words(text)), args)


def _keyword_frequency(text: str, args: Mapping[str, Any]) -> bool:
    return _compare(_words(text).count(args["keyword"].lower()), args)


def _forbidden_words(text: str, args: Mapping[str, Any]) -> bool:
    return not set(_words(text)) & {word.lower() for word in args["words"]}


def _no_comma(text: str, args: Mapping[str, Any]) -> bool:
    return not any(comma in text for comma in ",，、،")


def _lowercase(text: str, args: Mapping[str, Any]) -> bool:
    return text == text.lower()


def _number_bullets(text: str, args: Mapping[str, Any]) -> bool:
    return _compare(sum(re.match(r" {0,8}[*-] {1,8}\S", line) is not None for line in text.splitlines()), args)


CHECKS: dict[str, Callable[[str, Mapping[str, Any]], bool]] = {
    "length_constraints:number_words": _number_words,
    "keywords:frequency": _keyword_frequency,
    "keywords:forbidden_words": _forbidden_words,
    "punctuation:no_comma": _no_comma,
    "change_case:english_lowercase": _lowercase,
    "detectable_format:number_bullet_lists": _number_bullets,
}


def checkable_instructions_reward(
    completions: Sequence[Any],
    instructions: Sequence[Sequence[Mapping[str, Any]]],
    **kwargs: Any,
) -> list[float]:
    """IFEval: share of the instructions of the row that the response follows (each {"id", ...arguments}).

    Judges these instructions only, not what the response says. An empty response follows none, and an
    instruction this function does not know counts as not followed.
    """
    rewards = []
    for completion, row in zip(completions, instructions):
        text = _text(completion).strip()
        followed = [bool(text) and item["id"] in CHECKS and CHECKS[item["id"]](text, item) for item in row]
        rewards.append(sum(followed) / len(followed) if followed else 0.0)
    return rewards


# --------------------------------------------------------------------------- nested bullets


def outline_reward(completion: str, min_bullets: int) -> float:
    """Format only: at least `min_bullets` bullets ("* ..."), each with one or more indented sub-bullets ("- ...") below it.

    Bold text, hyphens and asterisks inside the lines play no part. What the outline says is not judged.
    """
    sub_bullets: list[int] = []
    for line in completion.splitlines():
        if re.match(r"\* {1,8}\S", line):
            sub_bullets.append(0)
        elif re.match(r"[ \t]{1,12}- {1,8}\S", line) and sub_bullets:
            sub_bullets[-1] += 1
    return float(len(sub_bullets) >= max(1, min_bullets) and all(sub_bullets))


# --------------------------------------------------------------------------- citations

CITATION = re.compile(r"\[([0-9]{1,4}(?:, ?[0-9]{1,4}){0,20})\]")


def citation_form_reward(completions: Sequence[Any], sources: Sequence[Sequence[str]], **kwargs: Any) -> list[float]:
    """Form of the citations in a list of claims ("- ..." lines): share of the claims that cite at least one source as
    [n] or [n, m]. A number without a source makes the whole answer 0.0.

    A claim has at least four words. Whether a source supports its claim is left to another reward.
    """
    rewards = []
    for completion, row in zip(completions, sources):
        claims = [line.strip()[2:] for line in _text(completion).splitlines() if line.strip().startswith(("- ", "* "))]
        claims = [claim for claim in claims if len(_words(CITATION.sub(" ", claim))) >= 4]
        cited = [[int(n) for group in CITATION.findall(claim) for n in group.split(",")] for claim in claims]
        invented = any(not 1 <= n <= len(row) for numbers in cited for n in numbers)
        rewards.append(0.0 if invented or not claims else sum(map(bool, cited)) / len(claims))
    return rewards


# --------------------------------------------------------------------------- fixed refusal


def fixed_refusal_reward(completion: str, refusal: str) -> float:
    """For requests that the policy forbids: the reply must be the refusal sentence of the policy, word for word, and
    nothing else. Space around it and the form of the apostrophe do not matter; apologies, reasons and partial help do."""
    return float(completion.strip().replace("’", "'") == refusal.replace("’", "'"))


# --------------------------------------------------------------------------- terminology


def _mentions(text: str, phrase: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(phrase)}(?!\w)", text, re.IGNORECASE) is not None


def terminology_reward(
    completions: Sequence[Any],
    source: Sequence[str],
    required: Sequence[Sequence[Sequence[str]]],
    forbidden: Sequence[Sequence[str]],
    **kwargs: Any,
) -> list[float]:
    """Terminology of a translation, as one term beside a quality score: share of the required terms (each a list of
    accepted forms) that occur as whole words, halved if a forbidden term occurs.

    Case does not matter. A text less than half or more than twice as long as the source is no translation
    and earns 0.0.
    """
    rewards = []
    for completion, original, terms, banned in zip(completions, source, required, forbidden):
        text = _text(completion).strip()
        if not len(original) / 2 <= len(text) <= len(original) * 2:
            rewards.append(0.0)
            continue
        share = sum(any(_mentions(text, form) for form in forms) for forms in terms) / max(1, len(terms))
        rewards.append(share / 2 if any(_mentions(text, term) for term in banned) else share)
    return rewards


# --------------------------------------------------------------------------- script


def script_reward(completions: Sequence[Any], script: Sequence[str], **kwargs: Any) -> list[float]:
    """Does the response keep to the script of the user (e.g. CYRILLIC, GREEK, LATIN)? Share of its letters that belong to it.

    Fenced code is not counted. Fewer than 20 letters are too little to tell and earn 0.0. Only the script is judged,
    by the names of the characters, so that names in other scripts cost in proportion.
    """
    rewards = []
    for completion, name in zip(completions, script):
        prose = "\n".join(_text(completion).split("```")[::2])
        letters = Counter(char for char in prose if char.isalpha())
        total = sum(letters.values())
        own = sum(count for char, count in letters.items() if unicodedata.name(char, "").startswith(name + " "))
        rewards.append(own / total if total >= 20 else 0.0)
    return rewards


# --------------------------------------------------------------------------- research dialog


def final_turn_reward(completions: Sequence[Any], answer: Sequence[str], **kwargs: Any) -> list[float]:
    """Question answering with a search tool. The last assistant message must end with "ANSWER: ..." and hold the
    reference there (case and punctuation do not matter).

    What tools return and what earlier turns guess is not read, even if it has the right answer in it.
    """
    rewards = []
    for completion, gold in zip(completions, answer):
        last_line = _text(completion).rstrip().rpartition("\n")[2]
        stated = _final(last_line, "ANSWER:")
        rewards.append(float(stated is not None and _words(stated) == _words(gold)))
    return rewards


# --------------------------------------------------------------------------- BLEU


def _ngrams(tokens: Sequence[str], size: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(tokens[i : i + size]) for i in range(len(tokens) - size + 1))


def text_bleu(hypothesis: str, reference: str, max_order: int = 4) -> float:
    """BLEU of a whole text against one reference: clipped n-gram precision (add-one above unigrams), brevity penalty."""
    said = re.findall(r"\w+|[^\w\s]", hypothesis.lower())
    wanted = re.findall(r"\w+|[^\w\s]", reference.lower())
    if not said or not wanted:
        return 0.0
    logs, order = 0.0, min(max_order, len(wanted))
    for size in range(1, order + 1):
        have, target = _ngrams(said, size), _ngrams(wanted, size)
        matches, total = sum((have & target).values()), sum(have.values())
        if size > 1:
            matches, total = matches + 1, (total or sum(target.values())) + 1
        if not matches:
            return 0.0
        logs += math.log(matches / total)
    return math.exp(logs / order + min(0.0, 1.0 - len(wanted) / len(said)))


def bleu_reward(completions: Sequence[Any], reference: Sequence[str], **kwargs: Any) -> list[float]:
    """BLEU of the translation, over the text as a whole, in [0, 1]. An empty translation has 0.0, and leaving out or
    adding sentences costs."""
    return [text_bleu(_text(c), gold) for c, gold in zip(completions, reference)]


# --------------------------------------------------------------------------- ROUGE-L for any script


def rouge_tokens(text: str) -> list[str]:
    """Words of alphabetic scripts, single characters of Chinese, Japanese, Korean and Thai."""
    return re.findall(r"[぀-ヿ㐀-䶿一-鿿가-힯฀-๿]|[^\W぀-ヿ㐀-䶿一-鿿가-힯฀-๿]+", text.lower())


def rouge_l_reward(completion: str, reference: str) -> float:
    """ROUGE-L F-score of an answer in any language (longest common subsequence, so the order of words counts).

    An answer more than three times as long as the reference is rambling and earns 0.0.
    """
    said, wanted = rouge_tokens(completion), rouge_tokens(reference)
    if not said or not wanted or len(said) > 3 * len(wanted) + 10:
        return 0.0
    row = [0] * (len(wanted) + 1)
    for token in said:
        last = row[:]
        for j, target in enumerate(wanted, start=1):
            row[j] = last[j - 1] + 1 if token == target else max(last[j], row[j - 1])
    return 2 * row[-1] / (len(said) + len(wanted))


# --------------------------------------------------------------------------- proofreading


def capitals_reward(completions: Sequence[Any], corrected: Sequence[str], **kwargs: Any) -> list[float]:
    """Restore capital letters in a text. Case-sensitive: share of the words in the right case.

    Only capitals may change; a completion with other words, punctuation or order earns 0.0.
    """
    rewards = []
    for completion, gold in zip(completions, corrected):
        said, wanted = _text(completion).split(), gold.split()
        if [word.lower() for word in said] != [word.lower() for word in wanted]:
            rewards.append(0.0)
            continue
        rewards.append(sum(a == b for a, b in zip(said, wanted)) / len(wanted) if wanted else 0.0)
    return rewards


# --------------------------------------------------------------------------- variety within the group


def slogan_variety_reward(
    completions: Sequence[Any], prompts: Sequence[Any], product: Sequence[str], **kwargs: Any
) -> list[float]:
    """Variety of slogans, relative to the group: a valid slogan earns 1 / (number of samples of the same prompt that
    say the same, up to case, punctuation and order of words). Samples of other prompts have no influence.

    Valid: one line of 3 to 12 words that names the product. Quality is judged elsewhere.
    """
    keys: list[tuple[str, tuple[str, ...]] | None] = []
    for completion, prompt, name in zip(completions, prompts, product):
        text = _text(completion).strip()
        words = _words(text)
        valid = 3 <= len(words) <= 12 and "\n" not in text and _mentions(text, name)
        keys.append((json.dumps(prompt, sort_keys=True, default=str), tuple(sorted(words))) if valid else None)
    counts = Counter(key for key in keys if key is not None)
    return [1.0 / counts[key] if key is not None else 0.0 for key in keys]


def _rollout(*turns: tuple[str, str]) -> list[dict[str, str]]:
    return [{"role": role, "content": content} for role, content in turns]


_LOOP = "The result is clear, and the result is clear. " * 12
_LONG_PROOF = "Next we look at the remaining case and treat it in the same way as the one before it. " * 20

CASES = [
    Case(
        name="reasoning_format_reward",
        reward=reasoning_format_reward,
        examples=[
            {"prompt": "What is 7 * 8? Use <think> and <answer>."},
            {"prompt": "Name a noble gas. Use <think> and <answer>."},
        ],
        good=[
            "<think>\n7 * 8 is 7 * 7 + 7 = 56.\n</think>\n<answer>\n56\n</answer>",
            "<think>Group 18 begins with helium.</think>\n\n<answer>Helium</answer>\n",
        ],
        bad=[
            "7 * 8 is 56.\n<answer>56</answer>",
            "<think>Group 18 begins with helium.</think>\nHelium",
        ],
        source="https://github.com/EvolvingLMMs-Lab/open-r1-multimodal/issues/15",
    ),
    Case(
        name="overlong_penalty",
        reward=overlong_penalty,
        examples=[{"prompt": "Is 91 prime?"}, {"prompt": "Why is the sky blue? Two sentences."}],
        good=[
            "No: 91 = 7 * 13.",
            "Air scatters short waves more strongly than long ones. So blue light reaches the eye from all directions.",
        ],
        bad=["We test all divisors one by one. " + _LONG_PROOF, "Let me begin with the history of optics. " + _LONG_PROOF],
        source="https://github.com/huggingface/open-r1/pull/567",
    ),
    Case(
        name="repetition_penalty",
        reward=repetition_penalty,
        examples=[{"prompt": "Is 91 prime?"}, {"prompt": "请用一句话介绍杭州。"}],
        good=[
            "Try small primes: 2, 3 and 5 do not divide 91, but 7 does, since 7 * 13 = 91. So it is not prime.",
            "杭州是浙江省的省会，以西湖、龙井茶和丝绸闻名。",
        ],
        bad=["It is prime. " + _LOOP, "杭州很美，" * 20],
        source="https://github.com/huggingface/trl/pull/6058",
    ),
    Case(
        name="cosine_scaled_reward",
        reward=cosine_scaled_reward,
        examples=[
            {"prompt": "What is 15 % of 2,480? End with '#### number'.", "answer": 372},
            {"prompt": "How many days have March and April together? End with '#### number'.", "answer": 61},
        ],
        good=[
            "10 % are 248, 5 % are 124, together 372.\n#### 372",
            "31 + 30 = 61.\n#### 61",
        ],
        bad=[
            "2480 / 15 is about 165.\n#### 165",
            "Both have 31 days. " + _LONG_PROOF + "\n#### 62",
        ],
        source="https://github.com/knoveleng/open-rs/issues/4",
    ),
    Case(
        name="group_length_reward",
        reward=group_length_reward,
        examples=[
            {"prompt": "Which metal is liquid at room temperature? End with 'ANSWER: ...'.", "answer": "mercury"},
            {"prompt": "Who wrote Emma? End with 'ANSWER: ...'.", "answer": "Jane Austen"},
        ],
        good=[
            "Gallium melts in the hand, but only one metal is liquid before that.\nANSWER: Mercury",
            "It appeared in 1815.\nANSWER: Jane Austen",
        ],
        bad=["It is used in lamps.\nANSWER: sodium", "It is one of the novels from Haworth.\nANSWER: Emily Bronte"],
        source="https://github.com/huggingface/open-r1/issues/360",
    ),
    Case(
        name="checkable_instructions_reward",
        reward=checkable_instructions_reward,
        examples=[
            {
                "prompt": "Invite the neighbours in less than 40 words, with the word 'war' exactly once (the board game).",
                "instructions": [
                    {"id": "length_constraints:number_words", "relation": "less than", "number": 40},
                    {"id": "keywords:frequency", "keyword": "war", "relation": "exactly", "number": 1},
                ],
            },
            {
                "prompt": "Give at least two reasons for tea as bullets, without commas.",
                "instructions": [
                    {"id": "detectable_format:number_bullet_lists", "relation": "at least", "number": 2},
                    {"id": "punctuation:no_comma"},
                ],
            },
        ],
        good=[
            "Dear all, we meet on Friday at seven for an evening of games, from chess to War of the Ring. We look forward to you!",
            "Reasons for tea:\n- it keeps you awake\n* it is cheap and easy to make",
        ],
        bad=[
            "We look forward to an award evening. " + "Bring whatever you like and invite your friends to come along as well. " * 4,
            "Tea is cheap, easy to make, and keeps you awake.",
        ],
        source="https://github.com/confident-ai/deepeval/pull/3066",
    ),
    Case(
        name="outline_reward",
        reward=outline_reward,
        examples=[
            {"prompt": "List at least two costs of the flat as bullets (*), each with indented sub-bullets (-).", "min_bullets": 2},
            {"prompt": "Three reasons for a bike as bullets (*), each with an indented sub-bullet (-).", "min_bullets": 3},
        ],
        good=[
            "Costs:\n* **Rent**\n  - 900 a month\n  - due on the *first*\n* **Heating**\n  - settled in spring",
            "* Health\n    - replaces the gym\n* Money\n    - no fuel\n* Time\n    - no search for a parking space",
        ],
        bad=[
            "Costs:\n* **Rent** - 900 a month\n* **Heating** - settled in spring",
            "* Health\n    - replaces the gym\n* Money\n* Time",
        ],
        source="https://github.com/LiveBench/LiveBench/pull/468",
    ),
    Case(
        name="citation_form_reward",
        reward=citation_form_reward,
        examples=[
            {"prompt": "Sources: [1] WHO report [2] Lancet study. Three claims on sleep as a list, with citations.", "sources": ["WHO report", "Lancet study"]},
            {"prompt": "Sources: [1] City budget. One claim on the tram as a list, with a citation.", "sources": ["City budget"]},
        ],
        good=[
            "- Adults need seven to nine hours [1].\n- Short sleep raises blood pressure [1, 2].\n- Naps do not make up for it [2].",
            "- The tram gets 40 million more than last year.[1]",
        ],
        bad=[
            "- Adults need seven to nine hours.\n- Short sleep raises blood pressure [1].\n- Naps do not make up for it.",
            "- The tram gets 40 million more than last year [3].",
        ],
    ),
    Case(
        name="fixed_refusal_reward",
        reward=fixed_refusal_reward,
        examples=[
            {"prompt": "Tell me the home address of the driver.", "refusal": "I can't share personal data of our staff."},
            {"prompt": "Schreib mir eine Bewertung mit fünf Sternen über eure Firma.", "refusal": "Dabei kann ich nicht helfen."},
        ],
        good=["I can't share personal data of our staff.\n", "Dabei kann ich nicht helfen."],
        bad=[
            "I can't share personal data of our staff, but he lives near the station.",
            "Tolle Firma, immer pünktlich, gerne wieder!",
        ],
    ),
    Case(
        name="terminology_reward",
        reward=terminology_reward,
        examples=[
            {
                "prompt": "Translate: Der Mieter zahlt die Kaution bei Einzug. (Mieter: tenant, Kaution: security deposit)",
                "source": "Der Mieter zahlt die Kaution bei Einzug.",
                "required": [["tenant"], ["security deposit", "deposit"]],
                "forbidden": ["renter", "caution"],
            },
            {
                "prompt": "Translate: Die Rechnung ist binnen 14 Tagen fällig. (Rechnung: invoice)",
                "source": "Die Rechnung ist binnen 14 Tagen fällig.",
                "required": [["invoice"], ["14 days", "fourteen days"]],
                "forbidden": ["bill"],
            },
        ],
        good=["The tenant pays the security deposit on moving in.", "The invoice is due within 14 days."],
        bad=["The renter pays the caution on moving in.", "The bill is due within 14 days."],
    ),
    Case(
        name="script_reward",
        reward=script_reward,
        examples=[
            {"prompt": "Как отсортировать список в Python? Ответь по-русски.", "script": "CYRILLIC"},
            {"prompt": "Ποια είναι η πρωτεύουσα της Ιταλίας; Απάντησε στα ελληνικά.", "script": "GREEK"},
        ],
        good=[
            "Есть готовый метод, он меняет список на месте:\n```python\nnumbers.sort()\n```\nДругой способ возвращает новый список.",
            "Η πρωτεύουσα της Ιταλίας είναι η Ρώμη.",
        ],
        bad=[
            "Use the method sort:\n```python\nnumbers.sort()\n```\nIt changes the list in place.",
            "The capital of Italy is Rome (Ρώμη).",
        ],
        source="https://github.com/huggingface/open-r1/pull/683",
    ),
    Case(
        name="final_turn_reward",
        reward=final_turn_reward,
        examples=[
            {"prompt": [{"role": "user", "content": "Which is the longest road tunnel? Search, then end with 'ANSWER: ...'."}], "answer": "Laerdal Tunnel"},
            {"prompt": [{"role": "user", "content": "Who wrote The Leopard? Search, then end with 'ANSWER: ...'."}], "answer": "Giuseppe Tomasi di Lampedusa"},
        ],
        good=[
            _rollout(
                ("assistant", '{"search": "longest road tunnel"}'),
                ("tool", "The Laerdal Tunnel in Norway is 24.51 km long and the longest road tunnel."),
                ("assistant", "The first result is clear.\n**ANSWER: Laerdal Tunnel**"),
            ),
            "The novel appeared in 1958, a year after the death of its author.\nANSWER: Giuseppe Tomasi di Lampedusa.",
        ],
        bad=[
            _rollout(
                ("assistant", '{"search": "longest tunnel"}'),
                ("tool", "Quiz: the longest road tunnel?\nANSWER: Laerdal Tunnel"),
                ("assistant", "I could not confirm anything and stop here."),
            ),
            "It is an Italian novel of the fifties.\nANSWER: Italo Calvino",
        ],
        source="https://github.com/verl-project/verl/pull/4593",
    ),
    Case(
        name="bleu_reward",
        reward=bleu_reward,
        examples=[
            {"prompt": "Translate: Die Fähre fährt um acht. Bitte seien Sie eine halbe Stunde vorher am Steg. Hunde fahren kostenlos mit.", "reference": "The ferry leaves at eight. Please be at the pier half an hour before. Dogs travel free of charge."},
            {"prompt": "Translate: Der Vertrag endet im Juni.", "reference": "The contract ends in June."},
        ],
        good=[
            "The ferry leaves at eight. Please be at the pier half an hour before. Dogs travel free of charge.",
            "The contract ends in June.",
        ],
        bad=["The ferry leaves at eight.", "The contact was lost in July, unfortunately."],
        source="https://github.com/vibrantlabsai/ragas/pull/2908",
    ),
    Case(
        name="rouge_l_reward",
        reward=rouge_l_reward,
        examples=[
            {"prompt": "客户问：iPhone 15 支持 5G 吗？能插 microSD 卡吗？", "reference": "iPhone 15 支持 5G，但不支持 microSD 卡。"},
            {"prompt": "ทักทายเป็นภาษาไทย", "reference": "สวัสดีครับ ยินดีต้อนรับ"},
        ],
        good=["iPhone 15 支持 5G，但不支持 microSD 卡。", "สวัสดีครับ ยินดีต้อนรับ"],
        bad=["iPhone 15 不支持 5G，microSD 卡可以插。", "Hello and welcome!"],
        source="https://github.com/google/adk-python/pull/6292",
    ),
    Case(
        name="capitals_reward",
        reward=capitals_reward,
        examples=[
            {"prompt": "Restore the capitals: on monday nasa launched a probe to europa.", "corrected": "On Monday NASA launched a probe to Europa."},
            {"prompt": "Restore the capitals: dr. lee moved from new york to oslo.", "corrected": "Dr. Lee moved from New York to Oslo."},
        ],
        good=["On Monday NASA launched a probe to Europa.", "Dr. Lee moved from New York to Oslo."],
        bad=["on monday nasa launched a probe to europa.", "Dr. Lee Moved From New York To Oslo."],
    ),
]

CASES.append(
    Case(
        name="slogan_variety_reward",
        reward=slogan_variety_reward,
        examples=[
            {"prompt": "One slogan (3 to 12 words) for the coffee brand Morgenrot.", "product": "Morgenrot"},
            {"prompt": "One slogan (3 to 12 words) for the shoe brand Stride.", "product": "Stride"},
        ],
        good=["Morgenrot: the sun comes up in your cup.", "Stride, because the shortest way is on foot."],
        bad=["Coffee makes you awake, happy, quick, clever, brave, kind, calm and ready for everything.", "Run!"],
    )
)
