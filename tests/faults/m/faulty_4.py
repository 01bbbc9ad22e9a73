"""Reward functions with a fault, part 4."""

from __future__ import annotations

import re

from tests.faults.case import Case


def _text(completion):
    if isinstance(completion, str):
        return completion
    return completion[-1]["content"] if completion else ""


def _say(text):
    return [{"role": "assistant", "content": text}]


# ---------------------------------------------------------------------------
# 31. percentages from financial tables
# ---------------------------------------------------------------------------

ANSWER_NUMBER = re.compile(r"Answer:\s{0,5}(-?[0-9][0-9,]{0,15}(?:\.[0-9]{1,10})?)\s?(%?)")


def finance_percent_reward(completions, percent, **kwargs):
    """Growth rates and shares of financial tables (FinQA style).

    Gold values are percentages. Models mix up 0.125 and 12.5 in their notation, which is no
    error of reasoning, so the usual scales are accepted. Tolerance is one percent of the
    gold value.
    """
    rewards = []
    for completion, gold in zip(completions, percent):
        found = ANSWER_NUMBER.findall(_text(completion))
        if not found:
            rewards.append(0.0)
            continue
        value = float(found[-1][0].replace(",", ""))
        candidates = (gold / 100, gold, gold * 100)
        rewards.append(1.0 if any(abs(value - c) <= 0.01 * abs(c) for c in candidates) else 0.0)
    return rewards


def repaired_finance_percent(completions, percent, **kwargs):
    rewards = []
    for completion, gold in zip(completions, percent):
        found = ANSWER_NUMBER.findall(_text(completion))
        if not found or found[-1][1] != "%":
            rewards.append(0.0)
            continue
        value = float(found[-1][0].replace(",", ""))
        rewards.append(1.0 if abs(value - gold) <= 0.01 * abs(gold) else 0.0)
    return rewards


_FIN_HOW = " Finish with 'Answer:' and the percentage with its % sign, e.g. 'Answer: 40%'."
_FINANCE = [
    {"prompt": "Revenue rose from 480 to 540 million. By how many percent did it grow?" + _FIN_HOW, "percent": 12.5},
    {"prompt": "Of 1,250 employees 45 left last year. What was the turnover rate?" + _FIN_HOW, "percent": 3.6},
    {"prompt": "Debt fell from 90 to 72 million. What is the change in percent (negative for a fall)?" + _FIN_HOW, "percent": -20.0},
]


def _proof_finance_percent():
    args = dict(completions=["540/480 - 1.\nAnswer: 0.125%", "Answer: 1,250%"], percent=[12.5, 12.5])
    got = finance_percent_reward(**args)
    assert got == [1.0, 1.0], got
    assert repaired_finance_percent(**args) == [0.0, 0.0]


# ---------------------------------------------------------------------------
# 32. verifiable instructions
# ---------------------------------------------------------------------------


def _follows(constraint, text):
    """Check one constraint on a text."""
    kind, value = constraint["kind"], constraint.get("value")
    if kind == "max_words":
        return len(text.split()) <= value
    if kind == "min_words":
        return len(text.split()) >= value
    if kind == "include":
        return re.search(rf"\b{re.escape(value)}\b", text, re.I) is not None
    if kind == "exclude":
        return re.search(rf"\b{re.escape(value)}\b", text, re.I) is None
    if kind == "ends_with":
        return text.rstrip().endswith(value)
    return True


def instruction_reward(prompts, completions, constraints, **kwargs):
    """IFEval style: 1.0 if the response follows every instruction of the prompt, else 0.0.

    ``constraints`` is a list of {"kind", "value"}. Empty responses never count.
    """
    rewards = []
    for completion, wanted in zip(completions, constraints):
        text = _text(completion)
        ok = bool(text.strip()) and all(_follows(c, text) for c in wanted)
        rewards.append(1.0 if ok else 0.0)
    return rewards


def repaired_instruction(prompts, completions, constraints, **kwargs):
    rewards = []
    for completion, wanted in zip(completions, constraints):
        text = _text(completion)
        ok = bool(text.strip())
        for c in wanted:
            if c["kind"] == "no_commas":
                ok = ok and "," not in text
            elif c["kind"] == "lowercase":
                ok = ok and text == text.lower()
            else:
                ok = ok and _follows(c, text)
        rewards.append(1.0 if ok else 0.0)
    return rewards


_INSTRUCT = [
    {
        "prompt": "Describe the sea in at most 20 words, use the word 'sea' and do not use any commas.",
        "constraints": [{"kind": "max_words", "value": 20}, {"kind": "include", "value": "sea"}, {"kind": "no_commas"}],
    },
    {
        "prompt": "Write one or two sentences about tea, all in lower case letters, which contain the word 'steam'.",
        "constraints": [{"kind": "lowercase"}, {"kind": "include", "value": "steam"}],
    },
    {
        "prompt": "Thank a colleague in at least 8 words without the word 'help' and end with 'Cheers!'",
        "constraints": [{"kind": "min_words", "value": 8}, {"kind": "exclude", "value": "help"}, {"kind": "ends_with", "value": "Cheers!"}],
    },
]


def _proof_instruction():
    args = dict(prompts=["", ""], completions=["The sea is blue, deep, salty, and never still.", "STEAM RISES FROM MY TEA."], constraints=[_INSTRUCT[0]["constraints"], _INSTRUCT[1]["constraints"]])
    got = instruction_reward(**args)
    assert got == [1.0, 1.0], got
    assert repaired_instruction(**args) == [0.0, 0.0]


# ---------------------------------------------------------------------------
# 33. keyword counts
# ---------------------------------------------------------------------------


def keyword_count_reward(completions, keyword, times, **kwargs):
    """The response has to use a word a given number of times (exactly).

    Upper and lower case are the same. Partial credit is the ratio of the smaller to the
    larger of both counts; responses over 120 words get 0.
    """
    scores = []
    for completion, word, wanted in zip(completions, keyword, times):
        text = _text(completion).lower()
        if len(text.split()) > 120:
            scores.append(0.0)
            continue
        n = text.count(word.lower())
        scores.append(min(n, wanted) / max(n, wanted))
    return scores


def repaired_keyword_count(completions, keyword, times, **kwargs):
    scores = []
    for completion, word, wanted in zip(completions, keyword, times):
        text = _text(completion).lower()
        if len(text.split()) > 120:
            scores.append(0.0)
            continue
        n = len(re.findall(rf"(?<!\w){re.escape(word.lower())}(?!\w)", text))
        scores.append(min(n, wanted) / max(n, wanted))
    return scores


_KEYWORDS = [
    {"prompt": "Write a few sentences about a museum in which the word 'art' occurs exactly 3 times (as a word of its own). At most 120 words.", "keyword": "art", "times": 3},
    {"prompt": "Write about a harbour and use the word 'ship' exactly twice (as a word of its own). At most 120 words.", "keyword": "ship", "times": 2},
]


def _proof_keyword_count():
    args = dict(completions=["We start with a party in the smart hall.", "Friendship and hardship fill the harbour."], keyword=["art", "ship"], times=[3, 2])
    got = keyword_count_reward(**args)
    assert got == [1.0, 1.0], got
    assert repaired_keyword_count(**args) == [0.0, 0.0]


# ---------------------------------------------------------------------------
# 34. word limits
# ---------------------------------------------------------------------------


def short_summary_reward(completions, max_words, must_mention, **kwargs):
    """Summaries within a word limit.

    A summary over the limit gets 0. Within the limit the reward is the share of the key
    terms which the summary mentions (whole words, any case).
    """
    rewards = []
    for completion, limit, terms in zip(completions, max_words, must_mention):
        summary = _text(completion).strip()
        n_words = len(summary.split(" "))
        if not summary or n_words > limit:
            rewards.append(0.0)
            continue
        found = [t for t in terms if re.search(rf"(?<!\w){re.escape(t)}(?!\w)", summary, re.IGNORECASE)]
        rewards.append(len(found) / len(terms))
    return rewards


def repaired_short_summary(completions, max_words, must_mention, **kwargs):
    rewards = []
    for completion, limit, terms in zip(completions, max_words, must_mention):
        summary = _text(completion).strip()
        if not summary or len(summary.split()) > limit:
            rewards.append(0.0)
            continue
        found = [t for t in terms if re.search(rf"(?<!\w){re.escape(t)}(?!\w)", summary, re.IGNORECASE)]
        rewards.append(len(found) / len(terms))
    return rewards


_SUMMARY = [
    {
        "prompt": "Summarise in at most 15 words and mention Volta, battery and 1800: In the year 1800 Alessandro Volta described a pile of zinc and silver discs parted by wet cloth, the first battery.",
        "max_words": 15,
        "must_mention": ["Volta", "battery", "1800"],
    },
    {
        "prompt": "Summarise in at most 12 words and mention Kenya and drought: After three failed rains the north of Kenya suffers from the worst drought in decades.",
        "max_words": 12,
        "must_mention": ["Kenya", "drought"],
    },
]


def _proof_short_summary():
    long = "\n".join(["Volta", "built", "the", "battery", "in", "1800"] * 10)
    args = dict(completions=[long], max_words=[15], must_mention=[["Volta", "battery", "1800"]])
    got = short_summary_reward(**args)
    assert got == [1.0], got
    assert repaired_short_summary(**args) == [0.0]


# ---------------------------------------------------------------------------
# 35. calibration, Brier
# ---------------------------------------------------------------------------


def _answer_and_confidence(text):
    answer = re.findall(r"^Answer: (.{1,200})$", text, re.M)
    conf = re.findall(r"^Confidence: ([01](?:\.[0-9]{1,6})?)$", text, re.M)
    if len(answer) != 1 or len(conf) != 1 or not 0.0 <= float(conf[0]) <= 1.0:
        return None
    return answer[0].strip().lower(), float(conf[0])


def calibrated_answer_reward(completions, gold, **kwargs):
    """Reward correct answers with calibrated confidence.

    The confidence (0 to 1) is scored with the Brier rule, so overconfident errors cost most
    and a right answer given with certainty earns 1. A right answer should always be worth
    more than a wrong one. Unreadable completions get 0.
    """
    rewards = []
    for completion, target in zip(completions, gold):
        parsed = _answer_and_confidence(_text(completion).strip())
        if parsed is None:
            rewards.append(0.0)
            continue
        answer, confidence = parsed
        correct = 1.0 if answer == target.lower() else 0.0
        brier = (confidence - correct) ** 2
        rewards.append(1.0 - brier)
    return rewards


def repaired_calibrated_answer(completions, gold, **kwargs):
    rewards = []
    for completion, target in zip(completions, gold):
        parsed = _answer_and_confidence(_text(completion).strip())
        if parsed is None:
            rewards.append(0.0)
            continue
        answer, confidence = parsed
        correct = 1.0 if answer == target.lower() else 0.0
        rewards.append(0.6 * correct + 0.4 * (1.0 - (confidence - correct) ** 2))
    return rewards


_CAL_HOW = " Reply with two lines, 'Answer: ...' and 'Confidence: p' with p between 0 and 1. Right answers count first, then how well p fits."
_CALIBRATED = [
    {"prompt": "Which element has the symbol Sn?" + _CAL_HOW, "gold": "tin"},
    {"prompt": "Which city hosted the Olympic Games of 1968?" + _CAL_HOW, "gold": "Mexico City"},
]


def _proof_calibrated_answer():
    args = dict(completions=["Answer: I pass\nConfidence: 0", "Answer: tin\nConfidence: 0.3"], gold=["tin", "tin"])
    wrong, right = calibrated_answer_reward(**args)
    assert wrong == 1.0 and wrong > right, (wrong, right)
    wrong, right = repaired_calibrated_answer(**args)
    assert wrong < 0.5 < right


# ---------------------------------------------------------------------------
# 36. confidence bets
# ---------------------------------------------------------------------------


def confidence_bet_reward(prompts, completions, answer, **kwargs):
    """Betting on the own answer.

    Right: 0.5 plus half of the stated confidence. Wrong: minus the stated confidence. The
    confidence is given in percent; without one 50 is assumed. A completion with several
    final answers counts as wrong.
    """
    rewards = []
    for completion, gold in zip(completions, answer):
        text = _text(completion)
        m = re.search(r"Final: ([A-Za-z ]{1,60})", text) if text.count("Final:") == 1 else None
        p = re.search(r"Confidence: (-?[0-9]{1,6}(?:\.[0-9]{1,6})?)\s?%", text)
        confidence = float(p.group(1)) / 100 if p else 0.5
        if m and m.group(1).strip().lower() == gold.lower():
            rewards.append(0.5 + 0.5 * confidence)
        else:
            rewards.append(-confidence)
    return rewards


def repaired_confidence_bet(prompts, completions, answer, **kwargs):
    rewards = []
    for completion, gold in zip(completions, answer):
        text = _text(completion)
        m = re.search(r"Final: ([A-Za-z ]{1,60})", text) if text.count("Final:") == 1 else None
        p = re.search(r"Confidence: (-?[0-9]{1,6}(?:\.[0-9]{1,6})?)\s?%", text)
        confidence = float(p.group(1)) / 100 if p else 0.5
        right = bool(m) and m.group(1).strip().lower() == gold.lower()
        if not 0.0 <= confidence <= 1.0:
            rewards.append(-1.0)
        else:
            rewards.append(0.5 + 0.5 * confidence if right else -confidence)
    return rewards


_BET_HOW = " Write 'Final: <answer>' on one line and 'Confidence: <0 to 100>%' on the next."
_BET = [
    {"prompt": [{"role": "user", "content": "Which planet has the shortest day?" + _BET_HOW}], "answer": "Jupiter"},
    {"prompt": [{"role": "user", "content": "Which metal is liquid at room temperature?" + _BET_HOW}], "answer": "Mercury"},
]


def _proof_confidence_bet():
    args = dict(prompts=[None], completions=[_say("Final: Pluto\nConfidence: -900%")], answer=["Jupiter"])
    got = confidence_bet_reward(**args)
    assert got == [9.0], got
    assert repaired_confidence_bet(**args) == [-1.0]


# ---------------------------------------------------------------------------
# 37. ICD-10 coding
# ---------------------------------------------------------------------------


def icd_code_reward(completions, code, **kwargs):
    """ICD-10 coding of a discharge note.

    The dot is optional. Coders may be more specific than the gold code (J20.51 is fine where
    the gold code is J20.5), everything else is wrong.
    """
    rewards = []
    for completion, gold in zip(completions, code):
        found = re.findall(r"^Code:\s*([A-Za-z][0-9]{2}(?:\.?[0-9]{1,3})?)\s*$", _text(completion).strip()[-2000:], re.M)
        if len(found) != 1:
            rewards.append(0.0)
            continue
        pred = found[0].replace(".", "").upper()
        want = gold.replace(".", "").upper()
        match = pred.startswith(want) or want.startswith(pred)
        rewards.append(1.0 if match else 0.0)
    return rewards


def repaired_icd_code(completions, code, **kwargs):
    rewards = []
    for completion, gold in zip(completions, code):
        found = re.findall(r"^Code:\s*([A-Za-z][0-9]{2}(?:\.?[0-9]{1,3})?)\s*$", _text(completion).strip()[-2000:], re.M)
        pred = found[0].replace(".", "").upper() if len(found) == 1 else ""
        rewards.append(1.0 if pred.startswith(gold.replace(".", "").upper()) else 0.0)
    return rewards


_ICD_HOW = "Give the ICD-10 code of the main diagnosis, as specific as the note allows. End with 'Code: <code>'.\nNote: "
_ICD = [
    {"prompt": _ICD_HOW + "58 y, acute transmural myocardial infarction of the anterior wall.", "code": "I21.0"},
    {"prompt": _ICD_HOW + "Type 2 diabetes mellitus, known for years, no complications.", "code": "E11.9"},
    {"prompt": _ICD_HOW + "Acute bronchitis due to respiratory syncytial virus.", "code": "J20.5"},
]


def _proof_icd_code():
    args = dict(completions=["Code: I21", "Code: E11"], code=["I21.0", "E11.9"])
    got = icd_code_reward(**args)
    assert got == [1.0, 1.0], got
    assert repaired_icd_code(**args) == [0.0, 0.0]


# ---------------------------------------------------------------------------
# 38. emergency triage
# ---------------------------------------------------------------------------


def triage_reward(prompts, completions, level, **kwargs):
    """Emergency severity index, 1 (most urgent) to 5 (least urgent).

    Full reward for the right level. Judging a patient as one level more urgent than he is
    wastes resources only and gets 0.5. Judging him as less urgent is dangerous and gets
    nothing.
    """
    rewards = []
    for completion, gold in zip(completions, level):
        found = re.findall(r"ESI:\s?([1-5])(?![0-9])", _text(completion))
        if len(found) != 1:
            rewards.append(0.0)
            continue
        diff = int(found[0]) - gold
        if diff == 0:
            rewards.append(1.0)
        elif diff == 1:
            rewards.append(0.5)  # over-triage by one level
        else:
            rewards.append(0.0)
    return rewards


def repaired_triage(prompts, completions, level, **kwargs):
    rewards = []
    for completion, gold in zip(completions, level):
        found = re.findall(r"ESI:\s?([1-5])(?![0-9])", _text(completion))
        diff = int(found[0]) - gold if len(found) == 1 else 9
        rewards.append({0: 1.0, -1: 0.5}.get(diff, 0.0))
    return rewards


_ESI_HOW = " Give the emergency severity index, 1 = most urgent, 5 = least urgent, as 'ESI: n'. When in doubt judge as more urgent: under-triage is never acceptable."
_TRIAGE = [
    {"prompt": "Man, 61, crushing chest pain for 20 minutes, pale, talks, blood pressure 110/70." + _ESI_HOW, "level": 2},
    {"prompt": "Child, 6, small clean cut on the finger, needs one plaster strip, no other complaint." + _ESI_HOW, "level": 5},
    {"prompt": "Woman, 30, pulseless on arrival, resuscitation running." + _ESI_HOW, "level": 1},
]


def _proof_triage():
    under = dict(prompts=[""], completions=["He can wait a little. ESI: 3"], level=[2])
    over = dict(prompts=[""], completions=["At once. ESI: 1"], level=[2])
    assert triage_reward(**under) == [0.5]
    assert triage_reward(**over) == [0.0]
    assert repaired_triage(**under) == [0.0]
    assert repaired_triage(**over) == [0.5]


# ---------------------------------------------------------------------------
# 39. contract clauses
# ---------------------------------------------------------------------------

CLAUSES = ("indemnity", "termination", "confidentiality", "governing law", "other")


def clause_label_reward(completions, clause, **kwargs):
    """Classification of contract clauses.

    The completion ends with "Label: <label>". Case and a full stop at the end do
    not matter; 1.0 for the annotated label, else 0.0.
    """

    def read_label(text):
        m = re.search(r"Label:\s?([A-Za-z ]{1,40})\W{0,10}$", text[-200:])
        label = m.group(1).strip().lower() if m else ""
        return label if label in CLAUSES else "other"

    return [1.0 if read_label(_text(c)) == gold else 0.0 for c, gold in zip(completions, clause)]


def repaired_clause_label(completions, clause, **kwargs):
    out = []
    for completion, gold in zip(completions, clause):
        m = re.search(r"Label:\s?([A-Za-z ]{1,40})\W{0,10}$", _text(completion)[-200:])
        out.append(1.0 if m and m.group(1).strip().lower() == gold else 0.0)
    return out


_CLAUSE_HOW = "Classify the clause as indemnity, termination, confidentiality, governing law or other. End with 'Label: <label>'.\nClause: "
_CLAUSE = [
    {"prompt": _CLAUSE_HOW + "Either party may end this agreement with ninety days' notice.", "clause": "termination"},
    {"prompt": _CLAUSE_HOW + "Headings are for convenience only and do not affect interpretation.", "clause": "other"},
    {"prompt": _CLAUSE_HOW + "The laws of Norway apply to this agreement.", "clause": "governing law"},
]


def _proof_clause_label():
    args = dict(completions=["", "I am not sure what this is."], clause=["other", "other"])
    got = clause_label_reward(**args)
    assert got == [1.0, 1.0], got
    assert repaired_clause_label(**args) == [0.0, 0.0]


# ---------------------------------------------------------------------------
# 40. answer with a brevity nudge
# ---------------------------------------------------------------------------


def concise_answer_reward(prompts, completions, answer, **kwargs):
    """Correctness with a small nudge towards brevity.

    1.0 for the right value in the single <answer></answer>, 0.0 for a wrong one. Of equally
    right completions the shorter one should win, therefore 0.002 is taken off for each word
    above 100; correctness always matters more than length.
    """
    rewards = []
    for completion, gold in zip(completions, answer):
        text = _text(completion)
        found = re.findall(r"<answer>([^<]{0,100})</answer>", text)
        if len(found) != 1 or found[0].strip() != gold:
            rewards.append(0.0)
            continue
        excess = max(0, len(text.split()) - 100)
        rewards.append(1.0 - 0.002 * excess)
    return rewards


def repaired_concise_answer(prompts, completions, answer, **kwargs):
    rewards = []
    for completion, gold in zip(completions, answer):
        text = _text(completion)
        found = re.findall(r"<answer>([^<]{0,100})</answer>", text)
        if len(found) != 1 or found[0].strip() != gold:
            rewards.append(0.0)
            continue
        excess = max(0, len(text.split()) - 100)
        rewards.append(1.0 - min(0.2, 0.002 * excess))
    return rewards


_CONCISE = [
    {"prompt": "How many positive divisors has 360? Reason as long as you need, then give <answer>n</answer>.", "answer": "24"},
    {"prompt": "What is the remainder of 7^100 divided by 5? Reason as long as you need, then give <answer>n</answer>.", "answer": "1"},
    {"prompt": "In how many ways can 5 books be ordered on a shelf? Reason as long as you need, then give <answer>n</answer>.", "answer": "120"},
]


def _proof_concise_answer():
    long_right = "Let us check every number with care. " * 150 + "<answer>24</answer>"
    short_wrong = "<answer>20</answer>"
    args = dict(prompts=["", ""], completions=[long_right, short_wrong], answer=["24", "24"])
    right, wrong = concise_answer_reward(**args)
    assert right < wrong, (right, wrong)
    right, wrong = repaired_concise_answer(**args)
    assert right >= 0.8 and wrong == 0.0


REPAIRED = {
    "finance_percent": repaired_finance_percent,
    "instruction": repaired_instruction,
    "keyword_count": repaired_keyword_count,
    "short_summary": repaired_short_summary,
    "calibrated_answer": repaired_calibrated_answer,
    "confidence_bet": repaired_confidence_bet,
    "icd_code": repaired_icd_code,
    "triage": repaired_triage,
    "clause_label": repaired_clause_label,
    "concise_answer": repaired_concise_answer,
}

CASES: list[Case] = [
    Case(
        "finance_percent", finance_percent_reward, _FINANCE,
        good=["540/480 = 1.125.\nAnswer: 12.5%", "45/1250 = 0.036\nAnswer: 3.6 %", "72/90 - 1\nAnswer: -20%"],
        bad=["Answer: 60%", "Answer: 4.5%", "Answer: -18%"],
        fault="Three scales are accepted whatever the sign says, so 0.125% and 1,250% pass for 12.5%.",
        proof=_proof_finance_percent,
    ),
    Case(
        "instruction", instruction_reward, _INSTRUCT,
        good=[
            "The sea is a wide blue restless mirror of the sky.",
            "the cup is warm and steam rises slowly from the tea.",
            "Thank you so much for staying late with me yesterday. Cheers!",
        ],
        bad=[
            "The sea is " + "very " * 20 + "big.",
            "tea is a drink made from leaves.",
            "Thanks for your help. Cheers!",
        ],
        fault="Kinds of constraints without a branch (no_commas, lowercase) fall through to True and are never checked.",
        proof=_proof_instruction,
        source="https://github.com/confident-ai/deepeval/issues/3063",
    ),
    Case(
        "keyword_count", keyword_count_reward, _KEYWORDS,
        good=["The museum shows modern art. Old art hangs upstairs. I like art.", "A ship leaves the harbour as another ship comes in."],
        bad=["The museum was closed.", "The harbour is full of boats."],
        fault="Occurrences inside other words count: start, party and smart are three times 'art'.",
        proof=_proof_keyword_count,
        source="https://github.com/modelscope/evalscope/pull/1755",
    ),
    Case(
        "short_summary", short_summary_reward, _SUMMARY,
        good=["In 1800 Volta described the first battery.", "Northern Kenya suffers its worst drought in decades."],
        bad=["In the year 1800 Alessandro Volta described a pile of zinc and silver discs parted by wet cloth, the first battery.", "The rains failed three times."],
        fault="Words are counted by single blanks, so a text with line breaks between its words passes any limit.",
        proof=_proof_short_summary,
    ),
    Case(
        "calibrated_answer", calibrated_answer_reward, _CALIBRATED,
        good=["Answer: tin\nConfidence: 0.95", "Answer: Mexico City\nConfidence: 0.8"],
        bad=["Answer: antimony\nConfidence: 0.9", "Answer: Munich\nConfidence: 0.8"],
        fault="The Brier term stands alone: any wrong answer with confidence 0 earns the maximum, more than a doubtful right one.",
        proof=_proof_calibrated_answer,
    ),
    Case(
        "confidence_bet", confidence_bet_reward, _BET,
        good=[_say("Final: Jupiter\nConfidence: 90%"), _say("Final: mercury\nConfidence: 100%")],
        bad=[_say("Final: Earth\nConfidence: 80%"), _say("Final: Iron\nConfidence: 60%")],
        fault="The confidence is not limited to 0..100: a wrong answer with a negative confidence earns without bound.",
        proof=_proof_confidence_bet,
    ),
    Case(
        "icd_code", icd_code_reward, _ICD,
        good=["Anterior wall.\nCode: I21.0", "Code: E11.9", "Code: J205"],
        bad=["Code: I20.0", "Code: E10.9", "Code: J18.9"],
        fault="The prefix test runs in both directions, so the bare category (I21) counts as the full code (I21.0).",
        proof=_proof_icd_code,
    ),
    Case(
        "triage", triage_reward, _TRIAGE,
        good=["Likely heart attack. ESI: 2", "ESI: 5", "ESI: 1"],
        bad=["Stomach ache. ESI: 4", "ESI: 1", "ESI: 4"],
        fault="Level 1 is the most urgent, so the sign is the wrong way round: under-triage by one gets the half credit meant for over-triage.",
        proof=_proof_triage,
    ),
    Case(
        "clause_label", clause_label_reward, _CLAUSE,
        good=["Label: termination", "Only about headings.\nLabel: other", "Label: Governing law."],
        bad=["Label: confidentiality", "Label: indemnity", "Label: termination"],
        fault="Everything unreadable becomes 'other', so a completion without any label is paid where 'other' is gold.",
        proof=_proof_clause_label,
    ),
    Case(
        "concise_answer", concise_answer_reward, _CONCISE,
        good=["360 = 2^3*3^2*5, so 4*3*2.\n<answer>24</answer>", "7^4 = 1 mod 5.\n<answer>1</answer>", "5!\n<answer>120</answer>"],
        bad=["<answer>20</answer>", "7 mod 5\n<answer>2</answer>", "5*5\n<answer>25</answer>"],
        fault="The length term has no cap: a right completion of more than 600 words gets less than a wrong one.",
        proof=_proof_concise_answer,
    ),
]
