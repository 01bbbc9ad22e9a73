"""Faulty rewards 4: formats, lists and orders, units and dates, constraints, calibration."""

from __future__ import annotations

import itertools
import re
from datetime import datetime

from dateutil import parser as date_parser

from tests.faults.case import Case


def _text(completion):
    """Text of a completion, be it a string or a list of chat messages."""
    if isinstance(completion, str):
        return completion
    return (completion[-1].get("content") or "") if completion else ""


def _answer(text):
    """Content of the last <answer> block, None without one."""
    end = text.rfind("</answer>")
    start = text.rfind("<answer>", 0, end) if end >= 0 else -1
    return text[start + len("<answer>"):end].strip() if start >= 0 else None


def _score(function, row, completion):
    columns = {key: [value] for key, value in row.items() if key != "prompt"}
    return function(prompts=[row["prompt"]], completions=[completion], **columns)[0]


def _proof(function, row, completion, faulty, should):
    def proof():
        got = _score(function, row, completion)
        assert abs(got - faulty) < 1e-6, f"scored {got}, the fault would give {faulty}"
        assert abs(got - should) >= 0.2, f"scored {got}, as it should ({should})"

    return proof


def _chat(text):
    return [{"role": "assistant", "content": text}]


TRIGGERS = {}
REPAIRED = {}
CASES: list[Case] = []


def _add(reward, repaired, rows, good, bad, fault, row, trigger, faulty, should, source=""):
    name = reward.__name__
    TRIGGERS[name] = (rows[row], trigger, faulty, should)
    REPAIRED[name] = repaired
    CASES.append(Case(name, reward, rows, good, bad, fault, _proof(reward, rows[row], trigger, faulty, should), source))


# --------------------------------------------------------------------------- 1


def think_answer_format(completions, **kwargs):
    """Format reward.

    The completion must be one <think>...</think> block followed by exactly one
    <answer>...</answer> block, with nothing but white space around them. 1.0 if
    it has this format and 0.0 if not; whether the answer is right is another
    reward's matter.
    """
    pattern = re.compile(r"\s*<think>.*?</think>\s*<answer>.*?</answer>\s*", re.DOTALL)
    rewards = []
    for completion in completions:
        text = _text(completion)
        if len(text) > 100_000 or text.count("<answer>") > 100:
            rewards.append(0.0)
            continue
        rewards.append(1.0 if pattern.fullmatch(text) else 0.0)
    return rewards


def repaired_think_answer_format(completions, **kwargs):
    """As above, each tag once."""
    tags = ("<think>", "</think>", "<answer>", "</answer>")
    rewards = []
    for completion in completions:
        text = _text(completion).strip()
        ok = all(text.count(tag) == 1 for tag in tags)
        if ok:
            ok = text.startswith("<think>") and text.endswith("</answer>")
            between = text[text.find("</think>") + len("</think>"):text.find("<answer>")]
            ok = ok and text.find("</think>") < text.find("<answer>") and not between.strip()
        rewards.append(1.0 if ok else 0.0)
    return rewards


_add(
    think_answer_format,
    repaired_think_answer_format,
    [
        {"prompt": "What is 2 + 2? Think in <think></think>, then one <answer></answer>."},
        {"prompt": "Name a noble gas. Think in <think></think>, then one <answer></answer>."},
    ],
    ["<think>2 and 2\nare 4</think>\n<answer>4</answer>", "<think>Neon is one.</think><answer>neon</answer>"],
    ["2 + 2 = 4, <answer>4</answer>", "<think>Neon</think> neon"],
    "The lazy pattern stretches over further tags: several answer blocks with text between them pass as one, so hedging is paid.",
    0,
    "<think>hm</think><answer>4</answer> or perhaps <answer>5</answer> or <answer>22</answer>",
    1.0,
    0.0,
)

# --------------------------------------------------------------------------- 2


def reasoning_model_accuracy(completions, answer, **kwargs):
    """Accuracy for a model which reasons before it answers.

    A completion starts with <think>; only what comes after </think> is graded.
    The answer is the last integer there. A completion whose thinking was cut off
    has no answer.

    Returns: 1.0 if the answer is the gold integer, else 0.0.
    """
    rewards = []
    for completion, gold in zip(completions, answer):
        reply = _text(completion).split("</think>")[-1]
        numbers = re.findall(r"-?\b\d+\b", reply.replace(",", ""))
        rewards.append(1.0 if numbers and numbers[-1].lstrip("0") == str(gold).lstrip("0") else 0.0)
    return rewards


def repaired_reasoning_model_accuracy(completions, answer, **kwargs):
    """As above; without </think> there is nothing to grade."""
    rewards = []
    for completion, gold in zip(completions, answer):
        _, closed, reply = _text(completion).rpartition("</think>")
        numbers = re.findall(r"-?\b\d+\b", reply.replace(",", "")) if closed else []
        rewards.append(1.0 if numbers and numbers[-1].lstrip("0") == str(gold).lstrip("0") else 0.0)
    return rewards


_add(
    reasoning_model_accuracy,
    repaired_reasoning_model_accuracy,
    [
        {"prompt": "What is 17 * 23?", "answer": "391"},
        {"prompt": "How many minutes are in 3 days?", "answer": "4320"},
    ],
    [_chat("<think>17*20 + 17*3</think>The product is 391."), _chat("<think>3*24*60</think>4,320 minutes.")],
    [_chat("<think>17*20 = 340</think>It is 340."), _chat("<think>3*24</think>72 minutes.")],
    "Without </think> the whole text is graded: a completion cut off in the middle of its thoughts is paid if the last number it mused about is right.",
    0,
    _chat("<think>17 * 20 = 340, 17 * 3 = 51. Perhaps 381? Let me see, could it be 391"),
    1.0,
    0.0,
    "https://github.com/PrimeIntellect-ai/verifiers/pull/213",
)

# --------------------------------------------------------------------------- 3


def ranking_concordance(completions, ranking, **kwargs):
    """Pairwise concordance of a ranking, first to last.

    The completion ranks all items of the list, one a line, perhaps numbered.
    Score = share of the pairs of the list which are in the right order, 0.0 for
    a ranking with a repeated item. All items have to be ranked.
    """
    rewards = []
    for completion, gold in zip(completions, ranking):
        ranked = []
        for line in _text(completion).splitlines():
            item = re.sub(r"^\s*(?:\d{1,3}[.)]|-)\s*", "", line).strip()
            if item in gold:
                ranked.append(item)
        if not ranked or len(set(ranked)) != len(ranked):
            rewards.append(0.0)
            continue
        place = {item: i for i, item in enumerate(gold)}
        pairs = list(itertools.combinations(ranked, 2))
        right = sum(place[a] < place[b] for a, b in pairs)
        rewards.append(right / len(pairs) if pairs else 0.0)
    return rewards


def repaired_ranking_concordance(completions, ranking, **kwargs):
    """As above, over the pairs of the whole list."""
    rewards = []
    for completion, gold in zip(completions, ranking):
        ranked = []
        for line in _text(completion).splitlines():
            item = re.sub(r"^\s*(?:\d{1,3}[.)]|-)\s*", "", line).strip()
            if item in gold:
                ranked.append(item)
        if len(set(ranked)) != len(ranked) or len(ranked) != len(gold):
            rewards.append(0.0)
            continue
        place = {item: i for i, item in enumerate(gold)}
        pairs = list(itertools.combinations(ranked, 2))
        rewards.append(sum(place[a] < place[b] for a, b in pairs) / len(pairs))
    return rewards


_add(
    ranking_concordance,
    repaired_ranking_concordance,
    [
        {"prompt": "Rank by mass, heaviest first, all four: Mars, Earth, Jupiter, Saturn. One a line.", "ranking": ["Jupiter", "Saturn", "Earth", "Mars"]},
        {"prompt": "Rank by year, earliest first, all three: telephone, telescope, television. One a line.", "ranking": ["telescope", "telephone", "television"]},
    ],
    ["1. Jupiter\n2. Saturn\n3. Earth\n4. Mars", "telescope\ntelephone\ntelevision"],
    ["1. Mars\n2. Earth\n3. Saturn\n4. Jupiter", "television\ntelephone\ntelescope"],
    "Only pairs of items which the model named are counted: naming two items whose order is sure is paid in full, though all items have to be ranked.",
    0,
    "1. Jupiter\n2. Mars",
    1.0,
    0.0,
)

# --------------------------------------------------------------------------- 4


def recipe_order_reward(completions, before, **kwargs):
    """Ordering of steps under precedence constraints.

    The completion is a comma-separated order of all the steps in the prompt.
    `before` has pairs (a, b): step a must come before step b. Any order which
    keeps all the constraints is right: 1.0, otherwise 0.0.
    """
    rewards = []
    for completion, pairs in zip(completions, before):
        order = [step.strip().lower() for step in _text(completion).strip().rstrip(".").split(",")]
        joined = "," + ",".join(order) + ","
        last_steps = {b for _, b in pairs} - {a for a, _ in pairs}
        if len(set(order)) != len(order) or not all(f",{step}," in joined for step in last_steps):
            rewards.append(0.0)
            continue
        ok = all(joined.find(f",{a},") < joined.find(f",{b},") for a, b in pairs)
        rewards.append(1.0 if ok else 0.0)
    return rewards


def repaired_recipe_order_reward(completions, before, **kwargs):
    """As above; exactly the steps of the constraints, each once."""
    rewards = []
    for completion, pairs in zip(completions, before):
        order = [step.strip().lower() for step in _text(completion).strip().rstrip(".").split(",")]
        steps = {step for pair in pairs for step in pair}
        if len(order) != len(steps) or set(order) != steps:
            rewards.append(0.0)
            continue
        ok = all(order.index(a) < order.index(b) for a, b in pairs)
        rewards.append(1.0 if ok else 0.0)
    return rewards


_add(
    recipe_order_reward,
    repaired_recipe_order_reward,
    [
        {
            "prompt": "Order all: bake, cool, mix, preheat. mix and preheat before bake, bake before cool. Comma-separated.",
            "before": [["mix", "bake"], ["preheat", "bake"], ["bake", "cool"]],
        },
        {
            "prompt": "Order all: boil, pour, steep, serve. boil before pour, pour before steep, steep before serve. Comma-separated.",
            "before": [["boil", "pour"], ["pour", "steep"], ["steep", "serve"]],
        },
    ],
    ["preheat, mix, bake, cool", "boil, pour, steep, serve"],
    ["bake, mix, preheat, cool", "pour, boil, steep, serve"],
    "str.find gives -1 for a step which is missing, and -1 is before everything: leaving out the steps which come first is paid.",
    0,
    "bake, cool",
    1.0,
    0.0,
)

# --------------------------------------------------------------------------- 5


def invoice_date_reward(completions, due_date, **kwargs):
    """Date extraction from European invoices.

    The model writes the due date in <answer></answer>, in any of the forms
    31/12/2024 (day/month/year, as on the invoice), 2024-12-31 or 31 December 2024.

    Args:
        due_date: gold dates as YYYY-MM-DD.

    Returns: 1.0 for the right date, else 0.0.
    """
    rewards = []
    for completion, gold in zip(completions, due_date):
        found = _answer(_text(completion))
        if not found or len(found) > 40:
            rewards.append(0.0)
            continue
        try:
            parsed = date_parser.parse(found, default=datetime(1900, 1, 1))
        except (ValueError, OverflowError, TypeError):
            rewards.append(0.0)
            continue
        rewards.append(1.0 if parsed.date().isoformat() == gold else 0.0)
    return rewards


def repaired_invoice_date_reward(completions, due_date, **kwargs):
    """As above, with the three forms spelt out."""
    rewards = []
    for completion, gold in zip(completions, due_date):
        found = _answer(_text(completion)) or ""
        dates = []
        for form in ("%d/%m/%Y", "%Y-%m-%d", "%d %B %Y"):
            try:
                dates.append(datetime.strptime(found[:40], form).date().isoformat())
            except ValueError:
                continue
        rewards.append(1.0 if gold in dates else 0.0)
    return rewards


_add(
    invoice_date_reward,
    repaired_invoice_date_reward,
    [
        {"prompt": "'Rechnung vom 05/02/2024, zahlbar bis 04/03/2024.' Due date (d/m/y, ISO or in words) in <answer></answer>.", "due_date": "2024-03-04"},
        {"prompt": "'Facture, payable le 25/11/2023.' Due date (d/m/y, ISO or in words) in <answer></answer>.", "due_date": "2023-11-25"},
    ],
    ["<answer>4 March 2024</answer>", "<answer>25/11/2023</answer>"],
    ["<answer>5 February 2024</answer>", "<answer>24/11/2023</answer>"],
    "The date parser reads 04/03/2024 month first: for days up to 12 the right day/month/year answer is refused and the swapped one is paid.",
    0,
    "As on the invoice:\n<answer>04/03/2024</answer>",
    0.0,
    1.0,
)

# --------------------------------------------------------------------------- 6

METRES = {"mm": 0.001, "cm": 0.01, "m": 1.0, "km": 1000.0, "in": 0.0254, "ft": 0.3048, "mi": 1609.344}


def length_with_unit_reward(completions, length_m, **kwargs):
    """Physics answers which are lengths.

    The last line is "Answer: number unit", in any of the units mm, cm, m, km, in,
    ft and mi. The length is compared with the gold (in metres) within one
    per cent. An answer without a unit of length is wrong.
    """
    rewards = []
    for completion, gold in zip(completions, length_m):
        lines = _text(completion).strip().splitlines()
        last = lines[-1].strip() if lines else ""
        match = re.fullmatch(r"Answer:\s*(-?\d{1,15}(?:\.\d{1,15})?(?:e-?\d{1,2})?)\s*([A-Za-z]{1,20})", last)
        if match is None:
            rewards.append(0.0)
            continue
        metres = float(match[1]) * METRES.get(match[2].lower(), 1.0)
        rewards.append(1.0 if abs(metres - gold) <= 0.01 * abs(gold) else 0.0)
    return rewards


def repaired_length_with_unit_reward(completions, length_m, **kwargs):
    """As above, unknown units refused."""
    rewards = []
    for completion, gold in zip(completions, length_m):
        lines = _text(completion).strip().splitlines()
        last = lines[-1].strip() if lines else ""
        match = re.fullmatch(r"Answer:\s*(-?\d{1,15}(?:\.\d{1,15})?(?:e-?\d{1,2})?)\s*([A-Za-z]{1,20})", last)
        if match is None or match[2].lower() not in METRES:
            rewards.append(0.0)
            continue
        metres = float(match[1]) * METRES[match[2].lower()]
        rewards.append(1.0 if abs(metres - gold) <= 0.01 * abs(gold) else 0.0)
    return rewards


_add(
    length_with_unit_reward,
    repaired_length_with_unit_reward,
    [
        {"prompt": "A car goes 20 m/s for 12 s. How far? Last line 'Answer: number unit'.", "length_m": 240.0},
        {"prompt": "What is the height of a 5 ft door? Last line 'Answer: number unit'.", "length_m": 1.524},
    ],
    ["20 * 12\nAnswer: 0.24 km", "Answer: 5 ft"],
    ["20 + 12\nAnswer: 32 m", "Answer: 5 m"],
    "A unit which is not in the table counts as metres: '240 kg' or '240 seconds' is paid.",
    0,
    "Answer: 240 seconds",
    1.0,
    0.0,
)

# --------------------------------------------------------------------------- 7


def instruction_following_reward(completions, constraints, **kwargs):
    """Verifiable constraints in the manner of IFEval: 1.0 if all hold, else 0.0.

    A constraint is a dict with "kind" (words, sentences, or keyword with a "word"),
    "relation" (at least, at most, exactly, less than, more than) and "n".
    Keywords are counted as whole words whatever their case.
    """

    def related(count, relation, n):
        checks = {"at least": count >= n, "at most": count <= n, "exactly": count == n}
        return checks.get(relation, True)

    def count(kind, text, constraint):
        if kind == "words":
            return len(text.split())
        if kind == "sentences":
            return len([s for s in re.split(r"[.!?]+", text) if s.strip()])
        words = re.findall(r"\w+", text.lower())
        return words.count(constraint["word"].lower())

    rewards = []
    for completion, wanted in zip(completions, constraints):
        text = _text(completion)
        ok = bool(text.strip()) and all(related(count(c["kind"], text, c), c["relation"], c["n"]) for c in wanted)
        rewards.append(1.0 if ok else 0.0)
    return rewards


def repaired_instruction_following_reward(completions, constraints, **kwargs):
    """As above, with all five relations."""

    def related(count, relation, n):
        checks = {
            "at least": count >= n,
            "at most": count <= n,
            "exactly": count == n,
            "less than": count < n,
            "more than": count > n,
        }
        return checks[relation]

    def count(kind, text, constraint):
        if kind == "words":
            return len(text.split())
        if kind == "sentences":
            return len([s for s in re.split(r"[.!?]+", text) if s.strip()])
        words = re.findall(r"\w+", text.lower())
        return words.count(constraint["word"].lower())

    rewards = []
    for completion, wanted in zip(completions, constraints):
        text = _text(completion)
        ok = bool(text.strip()) and all(related(count(c["kind"], text, c), c["relation"], c["n"]) for c in wanted)
        rewards.append(1.0 if ok else 0.0)
    return rewards


_add(
    instruction_following_reward,
    repaired_instruction_following_reward,
    [
        {
            "prompt": "Describe the sea in less than 12 words, using 'salt' at least once.",
            "constraints": [{"kind": "words", "relation": "less than", "n": 12}, {"kind": "keyword", "word": "salt", "relation": "at least", "n": 1}],
        },
        {
            "prompt": "Describe snow in exactly two sentences.",
            "constraints": [{"kind": "sentences", "relation": "exactly", "n": 2}],
        },
    ],
    ["Endless water, full of salt and light.", "Snow falls softly. It hides the road."],
    ["A wide blue plain of water.", "Snow is cold."],
    "The relations 'less than' and 'more than' are unknown to the table and count as kept: texts of any length are paid.",
    0,
    "The sea is wide and blue and full of salt and it goes on and on beyond what anybody on the shore can see.",
    1.0,
    0.0,
    "https://github.com/thinking-machines-lab/tinker-cookbook/issues/891",
)

# --------------------------------------------------------------------------- 8


def checklist_fraction_reward(completions, instruction_ids, instruction_kwargs, **kwargs):
    """Fraction of the instructions which are followed.

    Instructions: "include" (the word occurs as a whole word, whatever the case),
    "exclude" (it does not), "max_words" (n). The kwargs of an instruction stand
    at the same index in `instruction_kwargs`. An empty reply follows nothing.
    """

    def followed(name, options, words):
        if name == "include":
            return options["word"].lower() in words
        if name == "exclude":
            return options["word"].lower() not in words
        if name == "max_words":
            return len(words) <= options["n"]
        raise KeyError(name)

    rewards = []
    for completion, ids, options in zip(completions, instruction_ids, instruction_kwargs):
        words = re.findall(r"\w+", _text(completion).lower())
        if not words:
            rewards.append(0.0)
            continue
        results = {}
        for name, option in zip(ids, options):
            results[name] = followed(name, option, words)
        rewards.append(sum(results.values()) / len(results))
    return rewards


def repaired_checklist_fraction_reward(completions, instruction_ids, instruction_kwargs, **kwargs):
    """As above, with a list of results."""

    def followed(name, options, words):
        if name == "include":
            return options["word"].lower() in words
        if name == "exclude":
            return options["word"].lower() not in words
        if name == "max_words":
            return len(words) <= options["n"]
        raise KeyError(name)

    rewards = []
    for completion, ids, options in zip(completions, instruction_ids, instruction_kwargs):
        words = re.findall(r"\w+", _text(completion).lower())
        if not words:
            rewards.append(0.0)
            continue
        results = [followed(name, option, words) for name, option in zip(ids, options)]
        rewards.append(sum(results) / len(results))
    return rewards


_add(
    checklist_fraction_reward,
    repaired_checklist_fraction_reward,
    [
        {
            "prompt": "Write an advert for tea with the words 'warm', 'leaf' and 'cup'.",
            "instruction_ids": ["include", "include", "include"],
            "instruction_kwargs": [{"word": "warm"}, {"word": "leaf"}, {"word": "cup"}],
        },
        {
            "prompt": "Praise bread in at most 8 words, with 'crust' and without 'good'.",
            "instruction_ids": ["max_words", "include", "exclude"],
            "instruction_kwargs": [{"n": 8}, {"word": "crust"}, {"word": "good"}],
        },
    ],
    ["A warm cup, a fresh leaf: our tea.", "Hear that crust sing!"],
    ["Our tea is the finest there is.", "It is so very good that I eat it all day."],
    "Results are kept by the instruction's id, so of several instructions with the same id only the last one counts.",
    0,
    "Buy a cup of our tea.",
    1.0,
    1 / 3,
    "https://github.com/thinking-machines-lab/tinker-cookbook/pull/894",
)

# --------------------------------------------------------------------------- 9


def brier_confidence_reward(completions, answer, **kwargs):
    """Accuracy with calibrated confidence (Brier score).

    The last two lines are "Answer: ..." and "Confidence: ...", the confidence
    being a probability from 0 to 1 or a percentage with a percent sign. Reward
    correct - (confidence - correct)^2, with correct 1 or 0, so from -1 to 1.
    Lines of another form or no valid confidence: -1.0.
    """
    rewards = []
    for completion, gold in zip(completions, answer):
        lines = _text(completion).strip().splitlines()[-2:]
        if len(lines) < 2 or not lines[0].startswith("Answer:") or not lines[1].startswith("Confidence:"):
            rewards.append(-1.0)
            continue
        match = re.fullmatch(r"([0-9]{1,3}(?:\.[0-9]{1,6})?)\s*%?", lines[1][len("Confidence:"):].strip())
        if match is None:
            rewards.append(-1.0)
            continue
        confidence = float(match[1])
        if confidence > 1:
            confidence /= 100
        if confidence > 1:
            rewards.append(-1.0)
            continue
        correct = lines[0][len("Answer:"):].strip().lower() == gold.lower()
        rewards.append(correct - (confidence - correct) ** 2)
    return rewards


def repaired_brier_confidence_reward(completions, answer, **kwargs):
    """As above, with the percent sign deciding."""
    rewards = []
    for completion, gold in zip(completions, answer):
        lines = _text(completion).strip().splitlines()[-2:]
        if len(lines) < 2 or not lines[0].startswith("Answer:") or not lines[1].startswith("Confidence:"):
            rewards.append(-1.0)
            continue
        match = re.fullmatch(r"([0-9]{1,3}(?:\.[0-9]{1,6})?)\s*(%?)", lines[1][len("Confidence:"):].strip())
        confidence = float(match[1]) / (100 if match[2] else 1) if match else 2.0
        if confidence > 1:
            rewards.append(-1.0)
            continue
        correct = lines[0][len("Answer:"):].strip().lower() == gold.lower()
        rewards.append(correct - (confidence - correct) ** 2)
    return rewards


_add(
    brier_confidence_reward,
    repaired_brier_confidence_reward,
    [
        {"prompt": "Which element has the symbol W? Last lines 'Answer: ...' and 'Confidence: ...' (0 to 1, or %).", "answer": "tungsten"},
        {"prompt": "Who wrote Middlemarch? Last lines 'Answer: ...' and 'Confidence: ...' (0 to 1, or %).", "answer": "George Eliot"},
    ],
    ["Wolfram.\nAnswer: tungsten\nConfidence: 0.95", "Answer: George Eliot\nConfidence: 90%"],
    ["Answer: titanium\nConfidence: 0.9", "Answer: Jane Austen\nConfidence: 80%"],
    "Values up to 1 are taken for probabilities even with a percent sign: '1%' is full confidence, so an honest 1% on a wrong answer gets -1.0 and '1%' on a right one gets 1.0.",
    0,
    "I am guessing.\nAnswer: titanium\nConfidence: 1%",
    -1.0,
    -0.0001,
)

# --------------------------------------------------------------------------- 10


def interval_estimate_reward(completions, value, scale, **kwargs):
    """Interval estimates: the narrower, the better, as long as the value is inside.

    The completion ends with a line "[low, high]". Returns 0.0 if the value is not
    in the interval, otherwise 1 - (width / scale), not below 0.0. `scale` is the
    width at which an interval says nothing any more.
    """
    number = r"(-?[0-9]{1,15}(?:\.[0-9]{1,9})?)"
    pattern = re.compile(r"\[\s*" + number + r"\s*,\s*" + number + r"\s*\]")
    rewards = []
    for completion, truth, full in zip(completions, value, scale):
        lines = _text(completion).strip().splitlines()
        match = pattern.fullmatch(lines[-1].strip()) if lines else None
        if match is None:
            rewards.append(0.0)
            continue
        low, high = float(match[1]), float(match[2])
        if not min(low, high) <= truth <= max(low, high):
            rewards.append(0.0)
            continue
        rewards.append(min(1.0, max(0.0, 1 - (high - low) / full)))
    return rewards


def repaired_interval_estimate_reward(completions, value, scale, **kwargs):
    """As above; low must not be above high."""
    number = r"(-?[0-9]{1,15}(?:\.[0-9]{1,9})?)"
    pattern = re.compile(r"\[\s*" + number + r"\s*,\s*" + number + r"\s*\]")
    rewards = []
    for completion, truth, full in zip(completions, value, scale):
        lines = _text(completion).strip().splitlines()
        match = pattern.fullmatch(lines[-1].strip()) if lines else None
        if match is None:
            rewards.append(0.0)
            continue
        low, high = float(match[1]), float(match[2])
        rewards.append(max(0.0, 1 - (high - low) / full) if low <= truth <= high else 0.0)
    return rewards


_add(
    interval_estimate_reward,
    repaired_interval_estimate_reward,
    [
        {"prompt": "How long is the Rhine in km? Give an interval [low, high] as last line.", "value": 1233.0, "scale": 2000.0},
        {"prompt": "In which year did Kepler die? Give an interval [low, high] as last line.", "value": 1630.0, "scale": 200.0},
    ],
    ["About 1200.\n[1150, 1300]", "[1625, 1635]"],
    ["[300, 500]", "[1700, 1720]"],
    "A reversed interval has a negative width: '[100000, 0]' holds every value and is paid in full.",
    0,
    "It is somewhere in here.\n[100000, 0]",
    1.0,
    0.0,
)
