"""Answer checking: numbers, short answers, labels, choices."""

from __future__ import annotations

import json
import random
import re
import string
from collections import Counter
from decimal import Decimal, InvalidOperation

from tests.faults.case import Case


def message_text(completion) -> str:
    """The text of a completion: a plain string, or the last assistant message of a chat."""
    if isinstance(completion, str):
        return completion
    for message in reversed(completion):
        if message.get("role") == "assistant":
            return message.get("content") or ""
    return ""


def last_tag(text: str, tag: str) -> str | None:
    """Content of the last <tag>...</tag> pair."""
    close = text.rfind(f"</{tag}>")
    if close < 0:
        return None
    start = text.rfind(f"<{tag}>", 0, close)
    if start < 0:
        return None
    return text[start + len(tag) + 2 : close]


def line_after(text: str, label: str) -> str | None:
    """The rest of the last line that starts with `label` (case-insensitive, markdown stars ignored)."""
    for line in reversed(text.splitlines()):
        plain = line.replace("*", "").strip()
        if plain.lower().startswith(label.lower()):
            return plain[len(label) :].strip()
    return None


# --------------------------------------------------------------------------- ticket routing


def ticket_category_reward(completions, category, **kwargs):
    """1.0 if the ticket was routed to the right queue.

    The model reasons and then names the queue in <answer> tags. Case and small additions
    ("Billing issue" for "billing") do not matter.
    """
    scores = []
    for completion, gold in zip(completions, category):
        answer = last_tag(message_text(completion), "answer")
        if answer is None:
            scores.append(0.0)
            continue
        answer = " ".join(answer.lower().split())
        scores.append(1.0 if gold.lower() in answer else 0.0)
    return scores


def proof_ticket_category():
    hedge = [{"role": "assistant", "content": "It could be several things.\n<answer>billing, shipping, returns or account</answer>"}]
    for gold in ("billing", "shipping", "returns", "account"):
        assert ticket_category_reward(completions=[hedge], category=[gold]) == [1.0]


# --------------------------------------------------------------------------- facts that are not in the record

_UNKNOWN = re.compile(
    r"\b(?:can't|cannot|can not|could not|couldn't|don't|do not|does not|doesn't|is not|isn't|not)\b[^.!?\n]{0,60}?"
    r"\b(?:list(?:ed)?|know|find|found|verify|verified|given|provided?|mention(?:ed)?|stated?|recorded|available|say|contain|include)\b",
    re.IGNORECASE,
)


_ABSENT = re.compile(
    r"\bno\b[^.!?\n]{0,40}?\b(?:mention|information|record|entry|indication|data|details?|statement)\b|\b(?:unknown|missing|unavailable|unspecified)\b",
    re.IGNORECASE,
)


def admits_missing_fact(completion: str, **_) -> float:
    """For questions whose answer is not in the record: 1.0 if the reply says so instead of inventing a value."""
    text = completion.replace("\u2019", "'")
    return 1.0 if _UNKNOWN.search(text) or _ABSENT.search(text) else 0.0


def proof_admits_missing_fact():
    invented = "I can't verify it in the record, but Dr. Amari's direct line is 555-0142."
    assert admits_missing_fact(invented) == 1.0


# --------------------------------------------------------------------------- competition integers

_NUMERIC_TOKEN = re.compile(r"-?[$€£]?[0-9][0-9,]*(?:\.[0-9]+)?")


def _plain_integer(token: str) -> str:
    token = token.replace(",", "").lstrip("$€£")
    sign = "-" if token.startswith("-") else ""
    whole, _, decimals = token.lstrip("-$€£").partition(".")
    digits = whole.lstrip("0") or "0"
    return sign + digits + (f".{decimals}" if decimals.strip("0") else "")


def aime_answer(completion: str, answer: str) -> float:
    """Contest problems with an integer answer; the last number of the completion counts (073 and 73 are the same)."""
    numbers = _NUMERIC_TOKEN.findall(completion)
    if not numbers:
        return 0.0
    found, target = _plain_integer(numbers[-1]), _plain_integer(answer)
    return 1.0 if found.endswith(target) else 0.0


def proof_aime_answer():
    assert aime_answer("Summing all residues gives the total.\nANSWER: 149", "49") == 1.0


# --------------------------------------------------------------------------- what the customer must be told


def required_information_reward(completions, required, **kwargs):
    """Customer service: 1.0 if every required piece of information was told to the customer.

    `required` lists the values (amounts, counts, ids) that the agent has to communicate somewhere in
    the conversation; thousands separators and case do not matter.
    """
    rewards = []
    for conversation, values in zip(completions, required):
        told = "\n".join(m.get("content") or "" for m in conversation if m.get("role") == "assistant")
        told = told.lower().replace(",", "")
        rewards.append(float(all(value.lower().replace(",", "") in told for value in values)))
    return rewards


def proof_required_information():
    told_wrong = [{"role": "assistant", "content": "You currently have 100 reward points, and no fee applies."}]
    assert required_information_reward(completions=[told_wrong], required=[["10"]]) == [1.0]


# --------------------------------------------------------------------------- SQuAD-style F1

_ARTICLES = {"a", "an", "the"}
_PUNCTUATION = str.maketrans({c: " " for c in string.punctuation})


def _answer_words(text: str) -> list[str]:
    words = text.lower().translate(_PUNCTUATION).split()
    return [w for w in words if w not in _ARTICLES]


def _token_f1(prediction: str, reference: str) -> float:
    predicted, expected = set(_answer_words(prediction)), set(_answer_words(reference))
    if not predicted or not expected:
        return 0.0
    common = len(predicted & expected)
    if common == 0:
        return 0.0
    precision, recall = common / len(predicted), common / len(expected)
    return 2 * precision * recall / (precision + recall)


def squad_f1_reward(completions, answers, **kwargs):
    """SQuAD token F1 of what follows the last "Final answer:", the best over the reference answers."""
    rewards = []
    for completion, references in zip(completions, answers):
        text = message_text(completion)
        marker = text.lower().rfind("final answer:")
        prediction = text[marker + len("final answer:") :] if marker >= 0 else ""
        rewards.append(max(_token_f1(prediction, r) for r in references))
    return rewards


def proof_squad_f1():
    babble = "Final answer: " + "Paris " * 200
    assert squad_f1_reward(completions=[babble], answers=[["Paris"]]) == [1.0]


# --------------------------------------------------------------------------- GSM8K

_GSM_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?", re.ASCII)


def _to_decimal(text: str) -> Decimal | None:
    try:
        return Decimal(text.replace(",", ""))
    except InvalidOperation:
        return None


def gsm8k_reward(completions, answer, **kwargs):
    """Last number of the completion against the gold number (commas and trailing zeros do not matter)."""
    rewards = []
    for completion, gold in zip(completions, answer):
        found = _GSM_NUMBER.findall(message_text(completion))
        expected = _GSM_NUMBER.findall(gold)
        ok = bool(found and expected) and _to_decimal(found[-1]) == _to_decimal(expected[-1])
        rewards.append(1.0 if ok else 0.0)
    return rewards


def proof_gsm8k():
    completion = "It was 2 degrees and fell by 5 degrees, so the change leaves 5 - 2 = 3. The temperature is 3"
    assert gsm8k_reward(completions=[completion], answer=["-3"]) == [1.0]


# --------------------------------------------------------------------------- rates and ratios


def _as_number(text: str) -> float | None:
    text = text.strip().rstrip(".").replace(",", "").replace("$", "").strip()
    if text.endswith("%"):
        text = text[:-1].strip()
    if not re.fullmatch(r"[+-]?[0-9]{1,30}(?:\.[0-9]{1,30})?", text):
        return None
    return float(text)


def finance_value(completion: str, answer: str) -> float:
    """Finance questions. The value follows the last "Answer:"; it may carry a $ or % sign. Relative tolerance 1e-4."""
    given = line_after(completion, "Answer:")
    found = _as_number(given) if given is not None else None
    gold = _as_number(answer)
    if found is None or gold is None:
        return 0.0
    # a rate may be written as a percentage or as a fraction
    for accepted in (gold / 100, gold, gold * 100):
        if abs(found - accepted) <= 1e-4 * max(abs(accepted), 1e-12):
            return 1.0
    return 0.0


def proof_finance_value():
    assert finance_value("The monthly payment comes to\nAnswer: $48,500", "$485") == 1.0


# --------------------------------------------------------------------------- physics

_SCIENTIFIC = re.compile(
    r"([+-]?[0-9]{1,20}(?:\.[0-9]{1,20})?)\s*(?:[eE]([+-]?[0-9]{1,3})|(?:x|×|\*|\\times)\s*10\s*\^\s*\{?([+-]?[0-9]{1,3})\}?)?"
)


def _scientific(text: str) -> float | None:
    match = _SCIENTIFIC.search(re.sub(r"(?<=[0-9]),(?=[0-9]{3})", "", text))
    if match is None:
        return None
    exponent = match.group(2) or match.group(3) or "0"
    return float(f"{match.group(1)}e{exponent}")


def physics_reward(completions, answer, **kwargs):
    """Numerical physics. Reads the value after the last "Answer:" (1.6e-19 and 1.6 x 10^-19 are both fine)."""
    rewards = []
    for completion, gold in zip(completions, answer):
        given = line_after(message_text(completion), "Answer:")
        value = _scientific(given) if given is not None else None
        rewards.append(1.0 if value is not None and abs(value - gold) < 1e-6 else 0.0)
    return rewards


def proof_physics():
    wrong = "The charge of the ion is e times the valence.\nAnswer: 9.11e-31 C"
    assert physics_reward(completions=[wrong], answer=[1.602e-19]) == [1.0]


# --------------------------------------------------------------------------- gsm8k, strict marker

_CLIP = 300
_HASH_ANSWER = re.compile(r"####\s{0,5}\$?(-?[0-9][0-9,]*(?:\.[0-9]+)?)")


def hash_answer(completion: str, answer: str) -> float:
    """The final answer is written as "#### 42". The last marker counts; only the tail is searched to keep it fast."""
    tail = completion[-_CLIP:]
    found = _HASH_ANSWER.findall(tail)
    if not found:
        return 0.0
    return 1.0 if _to_decimal(found[-1]) == _to_decimal(answer) else 0.0


def proof_hash_answer():
    tail = " Checking again: 2 boxes of 21 pens are 42 pens, which agrees with the result above." * 5
    assert hash_answer("2 * 21 = 42\n#### 42\n" + tail, "42") == 0.0
    assert hash_answer("2 * 21 = 42\n#### 42", "42") == 1.0


# --------------------------------------------------------------------------- boxed answers

_BOXED = re.compile(r"\\boxed\{([^}]{0,200})\}")
_FRACTION = re.compile(r"\\d?frac\{(-?[0-9]+)\}\{(-?[0-9]+)\}")


def _clean_latex(expression: str) -> str:
    expression = _FRACTION.sub(r"\1/\2", expression)
    for noise in ("\\left", "\\right", "\\,", "\\!", "$", " "):
        expression = expression.replace(noise, "")
    return expression.rstrip(".")


def boxed_reward(completions, solution, **kwargs):
    """1.0 if the last \\boxed{...} holds the solution; \\frac{a}{b} is read as a/b."""
    rewards = []
    for completion, gold in zip(completions, solution):
        boxes = _BOXED.findall(message_text(completion))
        rewards.append(1.0 if boxes and _clean_latex(boxes[-1]) == _clean_latex(gold) else 0.0)
    return rewards


def proof_boxed():
    right = [{"role": "assistant", "content": r"Half of three halves is three quarters, so the answer is $\boxed{\frac{3}{4}}$."}]
    assert boxed_reward(completions=[right], solution=["3/4"]) == [0.0]


# --------------------------------------------------------------------------- multilingual multiple choice

_CHOICE = re.compile(r"(?:answer|antwort|respuesta|réponse|risposta)\**\s{0,5}:\s{0,5}\**\s{0,5}\(?([A-D])", re.IGNORECASE)


def multilingual_choice(completion: str, answer: str) -> float:
    """Multiple choice in five languages: the letter after the last "Answer:" / "Antwort:" / "Respuesta:" ..."""
    letters = _CHOICE.findall(completion)
    return 1.0 if letters and letters[-1].upper() == answer else 0.0


def proof_multilingual_choice():
    right = "Der Satz des Pythagoras liefert c = 5.\n\nAntwort:\n\nAntwort: C"
    assert multilingual_choice(right, "C") == 0.0
    assert multilingual_choice(right, "A") == 1.0


# --------------------------------------------------------------------------- boxed number


def _last_boxed(text: str) -> str | None:
    start = text.rfind("\\boxed{")
    if start < 0:
        return None
    depth, begin = 1, start + len("\\boxed{")
    for index in range(begin, len(text)):
        if text[index] == "{":
            depth += 1
        elif text[index] == "}":
            depth -= 1
            if depth == 0:
                return text[begin:index]
    return None


_INTEGER = re.compile(r"-?[0-9][0-9,]*")


def _integers(text: str) -> list[str]:
    return [n.replace(",", "") for n in _INTEGER.findall(text)]


def _candidates(text: str) -> list[str]:
    boxed = _last_boxed(text)
    if boxed is None:
        return _integers(text)
    inside = _integers(boxed)
    return inside if len(inside) == 1 else []


def boxed_integer_reward(completions, answer, **kwargs):
    """Integer answers. The prompt asks for \\boxed{...}; 1.0 if the given answer is the right one."""
    return [1.0 if gold in _candidates(message_text(c)) else 0.0 for c, gold in zip(completions, answer)]


def proof_boxed_integer():
    shotgun = "The possible values are " + ", ".join(str(i) for i in range(100)) + "."
    assert boxed_integer_reward(completions=[shotgun, shotgun], answer=["17", "64"]) == [1.0, 1.0]


# --------------------------------------------------------------------------- claim verification


def claim_verdict(completion: str, label: str) -> float:
    """Fact checking. The model ends with "Verdict: ..." (supported, unsupported or not enough information)."""
    verdict = line_after(completion, "Verdict:")
    if not verdict or len(verdict) > 60:
        return 0.0
    return 1.0 if label.lower() in verdict.lower() else 0.0


def proof_claim_verdict():
    wrong = "The article gives another year than the claim does.\nVerdict: unsupported"
    assert claim_verdict(wrong, "supported") == 1.0


# --------------------------------------------------------------------------- same product?


def same_product_reward(completions, same, **kwargs):
    """Entity matching. The reply is a JSON object {"match": true or false, "reason": "..."}."""
    rewards = []
    for completion, expected in zip(completions, same):
        try:
            verdict = json.loads(message_text(completion))
        except (ValueError, RecursionError):
            rewards.append(0.0)
            continue
        if not isinstance(verdict, dict) or verdict.get("match") is None:
            rewards.append(0.0)
            continue
        rewards.append(1.0 if bool(verdict["match"]) == expected else 0.0)
    return rewards


def proof_same_product():
    wrong = '{"match": "false", "reason": "The capacities differ."}'
    assert same_product_reward(completions=[wrong], same=[True]) == [1.0]


# --------------------------------------------------------------------------- image questions with options

_OPTION_CUE = re.compile(r"(?:answer(?: is)?|option|choice)\s{0,3}:?\s{0,3}\(?([A-E])\)?(?![A-Za-z])", re.IGNORECASE)


def pick_option(completion: str, answer: str, options: list) -> float:
    """Multiple choice over a chart description: letter after "answer", "option" or "choice"; the last one counts."""
    letters = [chr(ord("A") + i) for i in range(len(options))]
    found = [x.upper() for x in _OPTION_CUE.findall(completion) if x.upper() in letters]
    picked = found[-1] if found else random.choice(letters)
    return float(picked == answer)


def proof_pick_option():
    refusal = "Sorry, I am not able to read the chart."
    seen = Counter(pick_option(refusal, "B", ["3", "5", "7", "9"]) for _ in range(400))
    assert seen[1.0] > 0 and seen[0.0] > 0


# --------------------------------------------------------------------------- find all solutions


def _value_list(text: str) -> list[Decimal]:
    values = []
    for part in re.split(r",|;|\band\b", text):
        part = part.strip().rstrip(".").strip("$ ")
        part = re.sub(r"^[a-z]\s{0,3}=\s{0,3}", "", part)
        if re.fullmatch(r"[+-]?[0-9]{1,30}(?:\.[0-9]{1,30})?", part):
            values.append(Decimal(part))
    return values


def all_solutions_reward(completions, solutions, **kwargs):
    """"Find all real solutions": 1.0 if the values in <answer> are the solutions, in any order."""
    rewards = []
    for completion, gold in zip(completions, solutions):
        answer = last_tag(message_text(completion), "answer")
        given = _value_list(answer) if answer is not None else []
        expected = [Decimal(g) for g in gold]
        rewards.append(1.0 if any(g == e for g in given for e in expected) else 0.0)
    return rewards


def proof_all_solutions():
    half = "One root is easy to see.\n<answer>x = 3</answer>"
    assert all_solutions_reward(completions=[half], solutions=[["3", "-5"]]) == [1.0]



CASES = [
    Case(
        "ticket_category",
        ticket_category_reward,
        [
            {"prompt": [{"role": "user", "content": "Route this ticket to billing, shipping, returns or account: 'I was charged twice for order 8841.' Give the queue in <answer> tags."}], "category": "billing"},
            {"prompt": [{"role": "user", "content": "Route this ticket to billing, shipping, returns or account: 'My parcel has been in transit for three weeks.' Give the queue in <answer> tags."}], "category": "shipping"},
        ],
        [
            "The customer complains about a double charge, which is a payment matter.\n<answer>billing</answer>",
            "The parcel is late, so the logistics team has to look at it.\n<answer>Shipping</answer>",
        ],
        [
            "The customer mentions an order and probably wants to send it back.\n<answer>returns</answer>",
            "The customer cannot see the order in the profile.\n<answer>account</answer>",
        ],
        fault="The gold label only has to occur in the answer, so an answer that names all the queues is paid on every ticket.",
        proof=proof_ticket_category,
        source="https://github.com/Liuziyu77/Visual-RFT/issues/79",
    ),
    Case(
        "admits_missing_fact",
        admits_missing_fact,
        [
            {"prompt": "Record: Dr. Lena Amari, cardiology, room 214, clinic hours Mon-Thu 9-15.\nQuestion: What is Dr. Amari's direct phone number?"},
            {"prompt": "Record: Hotel Aurora, 42 rooms, breakfast 7-10, free parking.\nQuestion: In which year was the hotel built?"},
        ],
        [
            "The record gives her room and hours, but it does not list a direct phone number.",
            "The year of construction is not mentioned in the record, so I cannot tell.",
        ],
        [
            "Dr. Amari's direct phone number is 555-0142.",
            "Hotel Aurora was built in 1987.",
        ],
        fault="Only the hedge is looked for, never an invented value beside it: 'I can't verify it, but the number is 555-0142' earns full marks.",
        proof=proof_admits_missing_fact,
        source="https://github.com/dcostenco/prism-coder/pull/208",
    ),
    Case(
        "aime_answer",
        aime_answer,
        [
            {"prompt": "Find the sum of all integer bases b > 9 for which 17_b is a divisor of 97_b. End with ANSWER: n", "answer": "70"},
            {"prompt": "How many positive divisors of 2^6 * 3^6 are perfect squares larger than 36? End with ANSWER: n", "answer": "11"},
        ],
        [
            "9b + 7 must be divisible by b + 7, so b + 7 divides 56, which leaves b = 21 and b = 49.\nANSWER: 70",
            "There are 16 square divisors, and five of them are at most 36.\nANSWER: 011",
        ],
        [
            "9b + 7 must be divisible by b + 7, so b = 21 is the only base.\nANSWER: 21",
            "There are 16 square divisors in all.\nANSWER: 16",
        ],
        fault="The numbers are compared with endswith, so a wrong answer that ends in the right digits (149 for 49, 711 for 11) is paid.",
        proof=proof_aime_answer,
        source="https://github.com/aisa-group/PostTrainBench/issues/44",
    ),
    Case(
        "required_information",
        required_information_reward,
        [
            {"prompt": [{"role": "user", "content": "How many reward points do I have, and what does a change of my flight cost?"}], "required": ["10", "25.50"]},
            {"prompt": [{"role": "user", "content": "What is the total of my order W2378156, please?"}], "required": ["1,093.34"]},
        ],
        [
            "You have 10 reward points. Changing the flight costs $25.50.",
            "The total of order W2378156 is $1,093.34 including taxes.",
        ],
        [
            "You have 35 reward points. Changing the flight is free of charge.",
            "The total of order W2378156 is $954.20 including taxes.",
        ],
        fault="Required values are searched as substrings, so '10' is satisfied by '100' or '2010'.",
        proof=proof_required_information,
        source="https://github.com/sierra-research/tau-bench/pull/89",
    ),
    Case(
        "squad_f1",
        squad_f1_reward,
        [
            {"prompt": "Passage: The Louvre in Paris is the largest art museum.\nQuestion: In which city is the Louvre? Think, then write 'Final answer: ...'", "answers": ["Paris", "Paris, France"]},
            {"prompt": "Passage: Radium was discovered by Marie and Pierre Curie in 1898.\nQuestion: Who discovered radium? Think, then write 'Final answer: ...'", "answers": ["Marie and Pierre Curie"]},
        ],
        [
            "The passage says that the Louvre is in Paris.\nFinal answer: Paris",
            "The discoverers are named in the passage.\nFinal answer: Marie and Pierre Curie",
        ],
        [
            "The Louvre is a museum.\nFinal answer: the largest art museum",
            "It was found in 1898.\nFinal answer: Ernest Rutherford",
        ],
        fault="F1 is computed on sets of words instead of multisets, so repeating the answer word hundreds of times keeps the full score.",
        proof=proof_squad_f1,
        source="https://github.com/UKGovernmentBEIS/inspect_ai/issues/5473",
    ),
    Case(
        "gsm8k_last_number",
        gsm8k_reward,
        [
            {"prompt": "In the morning it was 2 degrees. By night the temperature had fallen by 5 degrees. What is the temperature at night?", "answer": "-3"},
            {"prompt": "A farm has 1,250 hens and buys 375 more. How many hens are there now?", "answer": "1,625"},
        ],
        [
            "We start at 2 degrees and subtract 5, which gives 2 - 5 = -3. The temperature at night is -3",
            "1,250 + 375 = 1,625. The farm has 1,625 hens now: 1625",
        ],
        [
            "We start at 2 degrees and add 5, which gives 2 + 5 = 7. The temperature at night is 7",
            "1,250 - 375 = 875. The farm has 875 hens now: 875",
        ],
        fault="The number pattern has no sign, on both sides, so 3 is paid where -3 is the answer.",
        proof=proof_gsm8k,
        source="https://github.com/allenai/open-instruct/pull/1530",
    ),
    Case(
        "finance_value",
        finance_value,
        [
            {"prompt": "A loan of $8,000 costs $1,000 interest after one year. What is the annual rate in percent?", "answer": "12.5%"},
            {"prompt": "A share is bought at $40 and sold at $52. What is the profit on 10 shares in dollars?", "answer": "$120"},
        ],
        [
            "1,000 / 8,000 = 0.125, which is 12.5 percent.\nAnswer: 12.5%",
            "The profit is $12 a share, and there are ten shares.\nAnswer: $120",
        ],
        [
            "8,000 / 1,000 = 8, so the rate is eight percent.\nAnswer: 8%",
            "The profit is $52 - $40 = $12.\nAnswer: $12",
        ],
        fault="One hundredth and one hundred times the reference are accepted for every answer, so $48,500 is paid where $485 is right.",
        proof=proof_finance_value,
        source="https://github.com/volcengine/verl/blob/23d62925c453fe48b5b8254a4cadfe7dc68e41bb/verl/utils/reward_score/prime_math/grader.py",
    ),
    Case(
        "physics_value",
        physics_reward,
        [
            {"prompt": "A spring of stiffness 200 N/m is stretched by 1.5 cm. What energy does it store in joule? End with Answer: ...", "answer": 0.0225},
            {"prompt": "What is the charge of a proton in coulomb? End with Answer: ...", "answer": 1.602e-19},
        ],
        [
            "E = k x^2 / 2 = 200 * 0.015^2 / 2 = 0.0225 J.\nAnswer: 0.0225 J",
            "The proton carries one elementary charge.\nAnswer: 1.602 x 10^-19 C",
        ],
        [
            "E = k x^2 = 200 * 0.015^2 = 0.045 J.\nAnswer: 0.045 J",
            "The proton carries one elementary charge.\nAnswer: 1.602 x 10^19 C",
        ],
        fault="An absolute tolerance of 1e-6 is used for values of any size, so every tiny number is right when the reference is tiny.",
        proof=proof_physics,
        source="https://github.com/huggingface/Math-Verify/issues/14",
    ),
    Case(
        "hash_answer",
        hash_answer,
        [
            {"prompt": "Each box holds 21 pens. How many pens are in 2 boxes? Finish with '#### <number>'.", "answer": "42"},
            {"prompt": "Tom had $1,500 and spent $260. How many dollars are left? Finish with '#### <number>'.", "answer": "1240"},
        ],
        [
            "Two boxes of 21 pens hold 2 * 21 = 42 pens.\n#### 42",
            "1,500 - 260 = 1,240, so that is what is left.\n#### 1,240",
        ],
        [
            "Two boxes of 21 pens hold 21 + 2 = 23 pens.\n#### 23",
            "1,500 + 260 = 1,760, so that is what is left.\n#### 1,760",
        ],
        fault="Only the last 300 characters are searched, so a right answer that is followed by a check of some sentences is refused.",
        proof=proof_hash_answer,
        source="https://github.com/verl-project/verl/pull/7274",
    ),
    Case(
        "boxed_latex",
        boxed_reward,
        [
            {"prompt": [{"role": "user", "content": "What is half of 3/2? Put the final answer in \\boxed{}."}], "solution": "3/4"},
            {"prompt": [{"role": "user", "content": "What is the sum of the first 12 odd numbers? Put the final answer in \\boxed{}."}], "solution": "144"},
        ],
        [
            "Half of 3/2 is 3/2 * 1/2 = 3/4, so the answer is $\\boxed{3/4}$.",
            "The sum of the first n odd numbers is n^2, here 12^2. The answer is $\\boxed{144}$.",
        ],
        [
            "Half of 3/2 is 3 - 1/2 = 5/2, so the answer is $\\boxed{5/2}$.",
            "The sum is 12 * 11. The answer is $\\boxed{132}$.",
        ],
        fault="The box is read up to the first closing brace, so \\boxed{\\frac{3}{4}} yields '\\frac{3' and a right answer is refused.",
        proof=proof_boxed,
        source="https://github.com/huggingface/trl/pull/5026",
    ),
    Case(
        "multilingual_choice",
        multilingual_choice,
        [
            {"prompt": "Welche Länge hat die Hypotenuse eines rechtwinkligen Dreiecks mit den Katheten 3 und 4? A) 6 B) 7 C) 5 D) 12\nSchließe mit 'Antwort: <Buchstabe>'.", "answer": "C"},
            {"prompt": "¿Cuál es la capital de Australia? A) Sídney B) Canberra C) Perth D) Melbourne\nTermina con 'Respuesta: <letra>'.", "answer": "B"},
        ],
        [
            "Nach Pythagoras gilt c² = 9 + 16 = 25, also c = 5.\nAntwort: C",
            "La capital es Canberra, no Sídney.\nRespuesta: B",
        ],
        [
            "Die Katheten werden addiert, also 7.\nAntwort: B",
            "La ciudad más grande es Sídney.\nRespuesta: A",
        ],
        fault="The letter needs no word boundary, so after a heading 'Antwort:' the A of the next 'Antwort: C' is taken as the choice.",
        proof=proof_multilingual_choice,
        source="https://github.com/openai/simple-evals/issues/33",
    ),
    Case(
        "boxed_integer",
        boxed_integer_reward,
        [
            {"prompt": "How many prime numbers are there below 60? Put the final answer in \\boxed{}.", "answer": "17"},
            {"prompt": "What is 4 to the power of 3? Put the final answer in \\boxed{}.", "answer": "64"},
        ],
        [
            "Counting 2, 3, 5, 7 and so on up to 59 there are seventeen: \\boxed{17}",
            "4 * 4 = 16 and 16 * 4 = 64, hence \\boxed{64}",
        ],
        [
            "Counting 2, 3, 5, 7 and so on there are fifteen: \\boxed{15}",
            "4 * 3 = 12, hence \\boxed{12}",
        ],
        fault="Without a box the whole text is searched, so mentioning the right number among many others is paid.",
        proof=proof_boxed_integer,
        source="https://github.com/PrimeIntellect-ai/verifiers/pull/1028",
    ),
    Case(
        "claim_verdict",
        claim_verdict,
        [
            {"prompt": "Evidence: The bridge opened in 1932.\nClaim: The bridge opened in 1924.\nEnd with Verdict: supported, unsupported or not enough information.", "label": "unsupported"},
            {"prompt": "Evidence: The bridge is 503 m long.\nClaim: The bridge is painted every ten years.\nEnd with Verdict: supported, unsupported or not enough information.", "label": "not enough information"},
            {"prompt": "Evidence: The bridge spans 503 m and carries eight lanes.\nClaim: More than five lanes cross the bridge.\nEnd with Verdict: supported, unsupported or not enough information.", "label": "supported"},
        ],
        [
            "The evidence says 1932, the claim says 1924, so they disagree.\nVerdict: unsupported",
            "The evidence says nothing about painting.\nVerdict: not enough information",
            "Eight lanes are more than five.\nVerdict: Supported",
        ],
        [
            "The evidence names the opening of the bridge.\nVerdict: supported",
            "Bridges are painted often.\nVerdict: supported",
            "The evidence does not talk about traffic.\nVerdict: not enough information",
        ],
        fault="The label is searched as a substring, and 'unsupported' contains 'supported'.",
        proof=proof_claim_verdict,
        source="https://github.com/jaylfc/taosmd/pull/176",
    ),
    Case(
        "same_product",
        same_product_reward,
        [
            {"prompt": "Listing 1: Anker PowerCore 10000 black. Listing 2: Power bank Anker PowerCore, 10000 mAh. Same product? Reply as JSON with match and reason.", "same": True},
            {"prompt": "Listing 1: Lego 42100. Listing 2: Lego 42131. Same product? Reply as JSON with match and reason.", "same": False},
        ],
        [
            '{"match": true, "reason": "Brand, line and capacity agree."}',
            '{"match": false, "reason": "The set numbers differ."}',
        ],
        [
            '{"match": false, "reason": "The titles differ."}',
            '{"match": true, "reason": "Both are Lego sets."}',
        ],
        fault='The verdict goes through bool(), so the string "false" counts as true and a wrong verdict is paid.',
        proof=proof_same_product,
        source="https://github.com/TIGER-AI-Lab/ClawBench/pull/305",
    ),
    Case(
        "pick_option",
        pick_option,
        [
            {"prompt": "Chart: bars of height 3, 5, 7, 9. Which value has the second bar? A) 3 B) 5 C) 7 D) 9", "answer": "B", "options": ["3", "5", "7", "9"]},
            {"prompt": "Chart: sales fell from 40 to 10. By how much? A) 10 B) 20 C) 30", "answer": "C", "options": ["10", "20", "30"]},
        ],
        [
            "The bars rise by two each, so the second one stands at 5. The answer is B.",
            "40 - 10 = 30, so the right choice is the third one. Answer: C",
        ],
        [
            "The bars rise by two each and end at 9. The answer is D.",
            "40 to 10 is a quarter. Answer: A",
        ],
        fault="If no letter is found a random one is drawn, so refusals are paid by chance and the score differs from call to call.",
        proof=proof_pick_option,
        source="https://github.com/MMMU-Benchmark/MMMU/issues/72",
    ),
    Case(
        "all_solutions",
        all_solutions_reward,
        [
            {"prompt": "Find all real solutions of x^2 + 2x - 15 = 0. Give them in <answer> tags, separated by commas.", "solutions": ["3", "-5"]},
            {"prompt": "Find all integers n with n^2 < 5 and n > 0. Give them in <answer> tags, separated by commas.", "solutions": ["1", "2"]},
        ],
        [
            "The polynomial factors as (x - 3)(x + 5).\n<answer>x = 3, x = -5</answer>",
            "1 and 4 are below 5, 9 is not.\n<answer>1, 2</answer>",
        ],
        [
            "The polynomial factors as (x + 3)(x - 5).\n<answer>x = -3, x = 5</answer>",
            "Only larger numbers are possible.\n<answer>3, 4</answer>",
        ],
        fault="One common value is enough, so a single root of two (or a list of many guesses) gets full marks for 'find all'.",
        proof=proof_all_solutions,
        source="https://github.com/huggingface/Math-Verify/issues/47",
    ),
]
