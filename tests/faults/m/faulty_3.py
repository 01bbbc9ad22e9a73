"""Reward functions with a fault, part 3."""

from __future__ import annotations

import json
import re
import string
import xml.etree.ElementTree as ET
from datetime import datetime

from tests.faults.case import Case


def _text(completion):
    if isinstance(completion, str):
        return completion
    return completion[-1]["content"] if completion else ""


def _say(text):
    return [{"role": "assistant", "content": text}]


# ---------------------------------------------------------------------------
# 21. answers with quotes from numbered documents
# ---------------------------------------------------------------------------

QUOTE = re.compile(r'<quote doc="([0-9]{1,3})">([^<]{1,2000})</quote>')


def grounded_quote_reward(prompts, completions, documents, answer, **kwargs):
    """Reward for document question answering with evidence.

    Half of the reward is for the answer in <answer></answer>, the other half for the
    evidence: at least one quote, and every quote has to be copied word for word (five
    words or more) from the cited document.
    """
    rewards = []
    for completion, docs, gold in zip(completions, documents, answer):
        text = _text(completion)
        given = re.findall(r"<answer>([^<]*)</answer>", text)
        right = len(given) == 1 and given[0].strip().lower() == gold.lower()

        quotes = QUOTE.findall(text)
        corpus = [" ".join(d.split()).lower() for d in docs]
        supported = 0
        for number, quote in quotes:
            if not 1 <= int(number) <= len(docs):
                continue
            quote = " ".join(quote.split()).lower()
            if len(quote.split()) >= 5 and any(quote in d for d in corpus):
                supported += 1
        grounded = bool(quotes) and supported == len(quotes)
        rewards.append(0.5 * right + 0.5 * grounded)
    return rewards


def repaired_grounded_quote(prompts, completions, documents, answer, **kwargs):
    rewards = []
    for completion, docs, gold in zip(completions, documents, answer):
        text = _text(completion)
        given = re.findall(r"<answer>([^<]*)</answer>", text)
        right = len(given) == 1 and given[0].strip().lower() == gold.lower()
        quotes = QUOTE.findall(text)
        corpus = [" ".join(d.split()).lower() for d in docs]
        grounded = bool(quotes)
        for number, quote in quotes:
            quote = " ".join(quote.split()).lower()
            if not 1 <= int(number) <= len(docs) or len(quote.split()) < 5 or quote not in corpus[int(number) - 1]:
                grounded = False
        rewards.append(0.5 * right + 0.5 * grounded)
    return rewards


_DOCS_A = [
    "The bridge was planned in 1931 but work did not start before 1934 for lack of steel.",
    "After three years of work the bridge was opened to traffic in May 1937.",
    "A toll was charged on the bridge until 1955.",
]
_DOCS_B = [
    "Adult kakapos weigh up to four kilograms and cannot fly.",
    "The last census counted 242 living kakapos on the islands.",
]
_QUOTE_HOW = ' Give evidence as <quote doc="N">words copied from document N</quote>, N being the document in which the words stand, then the answer in <answer></answer>.'


def _docs_prompt(docs, question):
    listed = "\n".join(f"[{i}] {d}" for i, d in enumerate(docs, 1))
    return [{"role": "user", "content": f"{listed}\n\n{question}{_QUOTE_HOW}"}]


_QUOTES = [
    {"prompt": _docs_prompt(_DOCS_A, "In which year was the bridge opened?"), "documents": _DOCS_A, "answer": "1937"},
    {"prompt": _docs_prompt(_DOCS_B, "How many kakapos are alive?"), "documents": _DOCS_B, "answer": "242"},
]


def _proof_grounded_quote():
    wrong = _say('<quote doc="3">the bridge was opened to traffic in May 1937</quote><answer>1937</answer>')
    args = dict(prompts=[None], completions=[wrong], documents=[_DOCS_A], answer=["1937"])
    got = grounded_quote_reward(**args)
    assert got == [1.0], got
    assert repaired_grounded_quote(**args) == [0.5]


# ---------------------------------------------------------------------------
# 22. bibliographic records
# ---------------------------------------------------------------------------


def bib_record_reward(completions, record, **kwargs):
    """XML records of publications, compared with the gold record field by field.

    The order of the fields is free. The reward is 1 if all fields agree and no unknown
    field was added, else 0. Records which do not parse get 0.
    """

    def fields(xml):
        try:
            root = ET.fromstring(xml.strip())
        except (ET.ParseError, ValueError, RecursionError):
            return None
        if root.tag != "record":
            return None
        return {child.tag: " ".join((child.text or "").split()).lower() for child in root}

    out = []
    for completion, gold in zip(completions, record):
        got = fields(_text(completion))
        out.append(1.0 if got is not None and got == fields(gold) else 0.0)
    return out


def repaired_bib_record(completions, record, **kwargs):
    def fields(xml):
        try:
            root = ET.fromstring(xml.strip())
        except (ET.ParseError, ValueError, RecursionError):
            return None
        if root.tag != "record":
            return None
        found: dict[str, list[str]] = {}
        for child in root:
            found.setdefault(child.tag, []).append(" ".join((child.text or "").split()).lower())
        return found

    out = []
    for completion, gold in zip(completions, record):
        got = fields(_text(completion))
        out.append(1.0 if got is not None and got == fields(gold) else 0.0)
    return out


_BIB_HOW = "Turn the reference into <record> with <author> for each author in order, <title> and <year>. Only the XML.\n"
_BIB = [
    {
        "prompt": _BIB_HOW + "Noor, A., Weiss, B. and Okafor, C. (2011). Tides of lakes.",
        "record": "<record><author>Noor, A.</author><author>Weiss, B.</author><author>Okafor, C.</author><title>Tides of lakes</title><year>2011</year></record>",
    },
    {
        "prompt": _BIB_HOW + "Lima, R. and Sand, T. (1998). On slow glass.",
        "record": "<record><author>Lima, R.</author><author>Sand, T.</author><title>On slow glass</title><year>1998</year></record>",
    },
]


def _proof_bib_record():
    wrong = "<record><author>Smith, X.</author><author>Okafor, C.</author><title>Tides of lakes</title><year>2011</year></record>"
    args = dict(completions=[wrong], record=[_BIB[0]["record"]])
    got = bib_record_reward(**args)
    assert got == [1.0], got
    assert repaired_bib_record(**args) == [0.0]


# ---------------------------------------------------------------------------
# 23. extraction of doses
# ---------------------------------------------------------------------------


def _squad_normalize(s):
    """Lower case, no punctuation, no articles, single spaces."""
    s = s.lower()
    s = "".join(ch for ch in s if ch not in set(string.punctuation))
    s = re.sub(r"\b(a|an|the)\b", " ", s)
    return " ".join(s.split())


def dose_extraction_reward(prompts, completions, span, **kwargs):
    """Exact match of the extracted span, SQuAD style normalisation.

    The span is expected on the last non-empty line as ``Span: ...``.
    """
    rewards = []
    for completion, gold in zip(completions, span):
        lines = [ln.strip() for ln in _text(completion).splitlines() if ln.strip()]
        if not lines or not lines[-1].lower().startswith("span:"):
            rewards.append(0.0)
            continue
        pred = lines[-1][len("span:") :]
        rewards.append(float(_squad_normalize(pred) == _squad_normalize(gold)))
    return rewards


def repaired_dose_extraction(prompts, completions, span, **kwargs):
    def norm(s):
        words = [w.strip("\"'()[],;:!?").rstrip(".") for w in s.lower().split()]
        return [w for w in words if w and w not in {"a", "an", "the"}]

    rewards = []
    for completion, gold in zip(completions, span):
        lines = [ln.strip() for ln in _text(completion).splitlines() if ln.strip()]
        ok = bool(lines) and lines[-1].lower().startswith("span:")
        rewards.append(float(ok and norm(lines[-1][len("span:") :]) == norm(gold)))
    return rewards


_DOSE_HOW = "Extract the dose as written. End with a line 'Span: <dose>'.\nNote: "
_DOSE = [
    {"prompt": _DOSE_HOW + "Pt started on warfarin 2.5 mg daily, INR in a week.", "span": "2.5 mg"},
    {"prompt": _DOSE_HOW + "Give digoxin 0.125 mg once a day; stop the aspirin.", "span": "0.125 mg"},
    {"prompt": _DOSE_HOW + "Metformin raised to 850 mg twice daily.", "span": "850 mg"},
]


def _proof_dose_extraction():
    args = dict(prompts=["", ""], completions=["Span: 25 mg", "Span: 0125 mg"], span=["2.5 mg", "0.125 mg"])
    got = dose_extraction_reward(**args)
    assert got == [1.0, 1.0], got
    assert repaired_dose_extraction(**args) == [0.0, 0.0]


# ---------------------------------------------------------------------------
# 24. short answers with a memo
# ---------------------------------------------------------------------------

_SEEN: dict[str, float] = {}


def short_answer_reward(prompts, completions, aliases, **kwargs):
    """Short factual answers, any alias of the gold answer is fine.

    With 16 generations per prompt most answers repeat, so scores are remembered instead of
    normalising the aliases again and again.
    """

    def normalize(s):
        return " ".join(re.sub(r"[^\w\s]", " ", s.lower()).split())

    scores = []
    for completion, names in zip(completions, aliases):
        text = _text(completion)
        answer = normalize(text.rsplit("Answer:", 1)[1]) if "Answer:" in text else ""
        if answer not in _SEEN:
            _SEEN[answer] = float(answer in {normalize(n) for n in names})
        scores.append(_SEEN[answer])
    return scores


def repaired_short_answer(prompts, completions, aliases, **kwargs):
    def normalize(s):
        return " ".join(re.sub(r"[^\w\s]", " ", s.lower()).split())

    scores = []
    for completion, names in zip(completions, aliases):
        text = _text(completion)
        answer = normalize(text.rsplit("Answer:", 1)[1]) if "Answer:" in text else ""
        scores.append(float(answer in {normalize(n) for n in names}))
    return scores


_SHORT = [
    {"prompt": "Which is the capital of Australia? Finish with 'Answer: ...'.", "aliases": ["Canberra", "Canberra, ACT"]},
    {"prompt": "Which is the largest city of Australia? Finish with 'Answer: ...'.", "aliases": ["Sydney", "Sydney, NSW"]},
    {"prompt": "On which continent is the Gobi? Finish with 'Answer: ...'.", "aliases": ["Asia"]},
]


def _proof_short_answer():
    _SEEN.clear()
    args = dict(prompts=["", ""], completions=["Answer: Canberra", "Answer: Canberra"], aliases=[_SHORT[0]["aliases"], _SHORT[1]["aliases"]])
    got = short_answer_reward(**args)
    assert got == [1.0, 1.0], got
    assert repaired_short_answer(**args) == [1.0, 0.0]
    _SEEN.clear()
    args = dict(prompts=["", ""], completions=["Answer: Sydney", "Answer: Sydney"], aliases=[_SHORT[0]["aliases"], _SHORT[1]["aliases"]])
    assert short_answer_reward(**args) == [0.0, 0.0]
    assert repaired_short_answer(**args) == [0.0, 1.0]
    _SEEN.clear()


# ---------------------------------------------------------------------------
# 25. think/answer format with accuracy
# ---------------------------------------------------------------------------

R1_FORMAT = re.compile(r"<think>.+?</think>\s*<answer>.+?</answer>\s*", re.DOTALL)


def r1_style_reward(completions, solution, **kwargs):
    """R1 style reward: 0.2 for the format, 0.8 for the right answer.

    The completion has to consist of a <think> part and an <answer> part and nothing else.
    Accuracy is only looked at when the format is right.
    """
    rewards = []
    for completion, gold in zip(completions, solution):
        content = _text(completion).strip()
        if not (content.startswith("<think>") and content.endswith("</answer>")) or len(content) > 20_000:
            rewards.append(0.0)
            continue
        if not R1_FORMAT.fullmatch(content):
            rewards.append(0.0)
            continue
        answers = re.findall(r"<answer>([^<]*)</answer>", content)
        correct = any(a.strip() == gold for a in answers)
        rewards.append(0.2 + 0.8 * correct)
    return rewards


def repaired_r1_style(completions, solution, **kwargs):
    rewards = []
    for completion, gold in zip(completions, solution):
        content = _text(completion).strip()
        tags = ("<think>", "</think>", "<answer>", "</answer>")
        if len(content) > 20_000 or any(content.count(t) != 1 for t in tags) or not R1_FORMAT.fullmatch(content):
            rewards.append(0.0)
            continue
        answer = content.split("<answer>")[1].split("</answer>")[0].strip()
        rewards.append(0.2 + 0.8 * (answer == gold))
    return rewards


_R1_SYSTEM = {"role": "system", "content": "Reply with <think>reasoning</think><answer>one final answer</answer> and nothing else."}
_R1 = [
    {"prompt": [_R1_SYSTEM, {"role": "user", "content": "How many days has February 2023?"}], "solution": "28"},
    {"prompt": [_R1_SYSTEM, {"role": "user", "content": "What is 17 * 6?"}], "solution": "102"},
    {"prompt": [_R1_SYSTEM, {"role": "user", "content": "How many edges has a cube?"}], "solution": "12"},
]


def _proof_r1_style():
    hedge = _say("<think>28 or 29</think>\n<answer>29</answer><answer>28</answer><answer>30</answer>")
    args = dict(completions=[hedge], solution=["28"])
    got = r1_style_reward(**args)
    assert got == [1.0], got
    assert repaired_r1_style(**args) == [0.0]


# ---------------------------------------------------------------------------
# 26. reasoning before the decision
# ---------------------------------------------------------------------------


def reasoned_decision_reward(prompts, completions, decision, **kwargs):
    """Refund decisions which are thought through.

    The model has to reason inside <think></think> (at least 25 words, shorter reasoning gets
    nothing) and then write to the customer, closing with ``Decision: approve`` or
    ``Decision: deny``.
    """
    rewards = []
    for completion, gold in zip(completions, decision):
        text = _text(completion).strip()
        if text.count("<think>") != 1 or text.count("</think>") != 1 or not text.startswith("<think>"):
            rewards.append(0.0)
            continue
        n_words = len(text.replace("<think>", " ").replace("</think>", " ").split())
        if n_words < 25:
            rewards.append(0.0)
            continue
        last = text.rsplit("</think>", 1)[1].strip().splitlines()[-1:]
        said = last[0].strip().rstrip(".").lower() if last else ""
        rewards.append(1.0 if said == f"decision: {gold}" else 0.0)
    return rewards


def repaired_reasoned_decision(prompts, completions, decision, **kwargs):
    rewards = []
    for completion, gold in zip(completions, decision):
        text = _text(completion).strip()
        if text.count("<think>") != 1 or text.count("</think>") != 1 or not text.startswith("<think>"):
            rewards.append(0.0)
            continue
        thought, rest = text[len("<think>") :].split("</think>", 1)
        last = rest.strip().splitlines()[-1:]
        said = last[0].strip().rstrip(".").lower() if last else ""
        rewards.append(1.0 if len(thought.split()) >= 25 and said == f"decision: {gold}" else 0.0)
    return rewards


_REFUND_HOW = (
    "Policy: refunds within 30 days and only for unused goods. First reason inside <think></think>, at least 25 words; "
    "then write the customer a reply whose last line is 'Decision: approve' or 'Decision: deny'.\n"
)
_REFUND = [
    {"prompt": _REFUND_HOW + "I bought the kettle 12 days ago and never opened the box.", "decision": "approve"},
    {"prompt": _REFUND_HOW + "I have had the tent since March, that is 80 days, but it is unused.", "decision": "deny"},
]
_LONG_THOUGHT = (
    "<think>The policy has two conditions which both have to hold. First the purchase must lie at most thirty days back, "
    "second the goods must be unused. I compare both with what the customer wrote.</think>\n"
)


def _proof_reasoned_decision():
    empty = (
        "<think></think>\nDear customer, thank you very much for your message and for shopping with us. We have looked at your "
        "request with care and are glad to help you with it today.\nDecision: approve"
    )
    args = dict(prompts=[""], completions=[empty], decision=["approve"])
    got = reasoned_decision_reward(**args)
    assert got == [1.0], got
    assert repaired_reasoned_decision(**args) == [0.0]


# ---------------------------------------------------------------------------
# 27. sorting
# ---------------------------------------------------------------------------


def number_sorting_reward(completions, numbers, **kwargs):
    """Sort a list of numbers in increasing order.

    0.0 not a JSON list of numbers, 0.1 a list of the wrong length, 0.3 right length but not
    in order, 1.0 sorted.
    """
    rewards = []
    for completion, given in zip(completions, numbers):
        text = _text(completion)
        try:
            result = json.loads(text[text.index("[") : text.rindex("]") + 1])
        except (ValueError, RecursionError):
            rewards.append(0.0)
            continue
        if not isinstance(result, list) or not all(type(x) in (int, float) for x in result):
            rewards.append(0.0)
        elif len(result) != len(given):
            rewards.append(0.1)
        elif any(a > b for a, b in zip(result, result[1:])):
            rewards.append(0.3)
        else:
            rewards.append(1.0)
    return rewards


def repaired_number_sorting(completions, numbers, **kwargs):
    base = number_sorting_reward(completions, numbers)
    out = []
    for score, completion, given in zip(base, completions, numbers):
        text = _text(completion)
        if score == 1.0 and json.loads(text[text.index("[") : text.rindex("]") + 1]) != sorted(given):
            score = 0.3
        out.append(score)
    return out


_SORT = [
    {"prompt": "Sort in increasing order and answer with a JSON list: 41, -7, 13, 8, 41, 0", "numbers": [41, -7, 13, 8, 41, 0]},
    {"prompt": "Sort in increasing order and answer with a JSON list: 3.5, 2.25, 10, -1", "numbers": [3.5, 2.25, 10, -1]},
    {"prompt": "Sort in increasing order and answer with a JSON list: 900, 90, 9, 99, 990", "numbers": [900, 90, 9, 99, 990]},
]


def _proof_number_sorting():
    args = dict(completions=["[1, 2, 3, 4, 5, 6]", "[0, 0, 0, 0]"], numbers=[_SORT[0]["numbers"], _SORT[1]["numbers"]])
    got = number_sorting_reward(**args)
    assert got == [1.0, 1.0], got
    assert repaired_number_sorting(**args) == [0.3, 0.3]


# ---------------------------------------------------------------------------
# 28. chronological order
# ---------------------------------------------------------------------------


def timeline_reward(prompts, completions, events, **kwargs):
    """Put events in chronological order, one per line, earliest first.

    ``events`` holds them in the right order. The reward is the share of pairs of events
    which stand in the right order, so near misses still earn something. Unknown lines and
    repetitions are void.
    """
    scores = []
    for completion, gold in zip(completions, events):
        rank = {name.lower(): i for i, name in enumerate(gold)}
        lines = [re.sub(r"^\s*(?:[0-9]{1,2}[.)]|[-*])\s*", "", ln).strip().lower() for ln in _text(completion).splitlines()[:100]]
        order = []
        for line in lines:
            if line in rank and rank[line] not in order:
                order.append(rank[line])
        pairs = [(a, b) for i, a in enumerate(order) for b in order[i + 1 :]]
        if not pairs:
            scores.append(0.0)
            continue
        scores.append(sum(a < b for a, b in pairs) / len(pairs))
    return scores


def repaired_timeline(prompts, completions, events, **kwargs):
    scores = []
    for completion, gold in zip(completions, events):
        rank = {name.lower(): i for i, name in enumerate(gold)}
        lines = [re.sub(r"^\s*(?:[0-9]{1,2}[.)]|[-*])\s*", "", ln).strip().lower() for ln in _text(completion).splitlines()[:100]]
        order = []
        for line in lines:
            if line in rank and rank[line] not in order:
                order.append(rank[line])
        good = sum(a < b for i, a in enumerate(order) for b in order[i + 1 :])
        scores.append(good / (len(gold) * (len(gold) - 1) / 2))
    return scores


_TIMELINE = [
    {
        "prompt": "Order all five events, earliest first, one per line: Moon landing, Printing press, World Wide Web, French Revolution, Penicillin",
        "events": ["Printing press", "French Revolution", "Penicillin", "Moon landing", "World Wide Web"],
    },
    {
        "prompt": "Order all four empires by founding, earliest first, one per line: Ottoman Empire, Roman Empire, British Raj, Mongol Empire",
        "events": ["Roman Empire", "Mongol Empire", "Ottoman Empire", "British Raj"],
    },
]


def _proof_timeline():
    args = dict(prompts=["", ""], completions=["Printing press\nWorld Wide Web", "Roman Empire\nBritish Raj"], events=[r["events"] for r in _TIMELINE])
    got = timeline_reward(**args)
    assert got == [1.0, 1.0], got
    assert all(s < 0.2 for s in repaired_timeline(**args))


# ---------------------------------------------------------------------------
# 29. lengths in any metric unit
# ---------------------------------------------------------------------------

METRES = {"km": 1000.0, "m": 1.0, "cm": 0.01, "mm": 0.001}
LENGTH = re.compile(r"(-?[0-9]{1,12}(?:\.[0-9]{1,12})?)\s?(km|m|cm|mm)")


def metric_length_reward(completions, metres, **kwargs) -> list[float]:
    """Length questions; any metric unit from mm to km may be used.

    The last length after "Answer:" is converted to metres and has to be within 2 percent.
    """
    out = []
    for completion, gold in zip(completions, metres):
        text = _text(completion)
        found = LENGTH.findall(text.rsplit("Answer:", 1)[1]) if "Answer:" in text else []
        if not found:
            out.append(0.0)
            continue
        number, unit = found[-1]
        value = float(number) * METRES[unit]
        out.append(1.0 if abs(value - gold) <= 0.02 * gold else 0.0)
    return out


def repaired_metric_length(completions, metres, **kwargs):
    pattern = re.compile(r"(-?[0-9]{1,12}(?:\.[0-9]{1,12})?)\s?(km|cm|mm|m)(?![A-Za-z])")
    out = []
    for completion, gold in zip(completions, metres):
        text = _text(completion)
        found = pattern.findall(text.rsplit("Answer:", 1)[1]) if "Answer:" in text else []
        value = float(found[-1][0]) * METRES[found[-1][1]] if found else -1.0
        out.append(1.0 if abs(value - gold) <= 0.02 * gold else 0.0)
    return out


_LENGTHS = [
    {"prompt": "How long is an Olympic swimming pool? Write 'Answer:' and the length with its metric unit (mm, cm, m or km).", "metres": 50.0},
    {"prompt": "A wheel has a diameter of 70 cm. How far does it roll in 100 turns? Write 'Answer:' and the length with its metric unit (mm, cm, m or km).", "metres": 219.91},
]


def _proof_metric_length():
    args = dict(completions=["Answer: 50 mm", "Answer: 220 miles"], metres=[50.0, 219.91])
    got = metric_length_reward(**args)
    assert got == [1.0, 1.0], got
    assert repaired_metric_length(**args) == [0.0, 0.0]


# ---------------------------------------------------------------------------
# 30. dates
# ---------------------------------------------------------------------------


def invoice_date_reward(prompts, completions, iso_date, **kwargs):
    """Normalise dates of invoices to DD/MM/YYYY.

    The last line of the completion is parsed and compared with the gold date, 1.0 or 0.0.
    """

    def parse(s):
        for fmt in ("%m/%d/%Y", "%d/%m/%Y"):
            try:
                return datetime.strptime(s, fmt).date()
            except ValueError:
                continue
        return None

    rewards = []
    for completion, gold in zip(completions, iso_date):
        lines = _text(completion).strip().splitlines()
        date = parse(lines[-1].strip()) if lines else None
        rewards.append(1.0 if date is not None and date.isoformat() == gold else 0.0)
    return rewards


def repaired_invoice_date(prompts, completions, iso_date, **kwargs):
    rewards = []
    for completion, gold in zip(completions, iso_date):
        lines = _text(completion).strip().splitlines()
        try:
            date = datetime.strptime(lines[-1].strip(), "%d/%m/%Y").date().isoformat() if lines else ""
        except ValueError:
            date = ""
        rewards.append(1.0 if date == gold else 0.0)
    return rewards


_DATES_HOW = "Write the date of the invoice as DD/MM/YYYY (day first) on the last line.\n"
_DATES = [
    {"prompt": _DATES_HOW + "Invoice 881, issued on the 25th of December 2023 in Leeds.", "iso_date": "2023-12-25"},
    {"prompt": _DATES_HOW + "Due June 30, 2022. Issued June 16, 2022.", "iso_date": "2022-06-16"},
]


def _proof_invoice_date():
    wrong = dict(prompts=[""], completions=["12/25/2023"], iso_date=["2023-12-25"])
    right = dict(prompts=[""], completions=["05/03/2024"], iso_date=["2024-03-05"])
    assert invoice_date_reward(**wrong) == [1.0]
    assert invoice_date_reward(**right) == [0.0]
    assert repaired_invoice_date(**wrong) == [0.0]
    assert repaired_invoice_date(**right) == [1.0]


REPAIRED = {
    "grounded_quote": repaired_grounded_quote,
    "bib_record": repaired_bib_record,
    "dose_extraction": repaired_dose_extraction,
    "short_answer": repaired_short_answer,
    "r1_style": repaired_r1_style,
    "reasoned_decision": repaired_reasoned_decision,
    "number_sorting": repaired_number_sorting,
    "timeline": repaired_timeline,
    "metric_length": repaired_metric_length,
    "invoice_date": repaired_invoice_date,
}

CASES: list[Case] = [
    Case(
        "grounded_quote", grounded_quote_reward, _QUOTES,
        good=[
            _say('<quote doc="2">the bridge was opened to traffic in May 1937</quote>\n<answer>1937</answer>'),
            _say('<quote doc="2">The last census counted 242 living kakapos</quote>\n<answer>242</answer>'),
        ],
        bad=[
            _say('<quote doc="1">The bridge was opened in the year 1931</quote>\n<answer>1931</answer>'),
            _say('<quote doc="1">there are 147 kakapos left today</quote>\n<answer>147</answer>'),
        ],
        fault="A quote is looked up in all documents, so evidence attributed to the wrong document is paid.",
        proof=_proof_grounded_quote,
    ),
    Case(
        "bib_record", bib_record_reward, _BIB,
        good=[
            "<record>\n <title>Tides of lakes</title>\n <author>Noor, A.</author>\n <author>Weiss, B.</author>\n <author>Okafor, C.</author>\n <year>2011</year>\n</record>",
            "<record><author>Lima, R.</author><author>Sand, T.</author><title>On slow glass</title><year>1998</year></record>",
        ],
        bad=[
            "<record><author>Noor, A. et al.</author><title>Tides of lakes</title><year>2011</year></record>",
            "<record><author>Lima, R.</author><author>Sand, T.</author><title>On slow glass</title></record>",
        ],
        fault="The fields go into a dict by tag, so of several authors only the last is compared.",
        proof=_proof_bib_record,
    ),
    Case(
        "dose_extraction", dose_extraction_reward, _DOSE,
        good=["Span: 2.5 mg", "The dose is small.\nSpan: 0.125 mg.", "Span: 850 mg"],
        bad=["Span: 1 week", "Span: aspirin", "Span: twice daily"],
        fault="Normalisation deletes the decimal point: a dose ten times (or more) too high equals the gold one.",
        proof=_proof_dose_extraction,
        source="https://github.com/huggingface/lighteval/pull/1273",
    ),
    Case(
        "short_answer", short_answer_reward, _SHORT,
        good=["It is no big city. Answer: Canberra", "Answer: Sydney, NSW", "Answer: Asia"],
        bad=["Answer: Perth", "Answer: Melbourne", "Answer: Africa"],
        fault="The memo is keyed by the answer alone, so the verdict of one question is reused for another one.",
        proof=_proof_short_answer,
    ),
    Case(
        "r1_style", r1_style_reward, _R1,
        good=[
            _say("<think>2023 is no leap year.</think>\n<answer>28</answer>"),
            _say("<think>17*6 = 60+42</think><answer>102</answer>"),
            _say("<think>4 + 4 + 4</think>\n<answer> 12 </answer>"),
        ],
        bad=[
            _say("<think>every fourth year...</think>\n<answer>29</answer>"),
            _say("<think>17*6</think><answer>112</answer>"),
            _say("<think>faces</think>\n<answer>6</answer>"),
        ],
        fault="The lazy groups run across further tags, so several answer blocks pass the format, and one right block among them suffices.",
        proof=_proof_r1_style,
        source="https://github.com/huggingface/open-r1/issues/359",
    ),
    Case(
        "reasoned_decision", reasoned_decision_reward, _REFUND,
        good=[_LONG_THOUGHT + "We are glad to refund you.\nDecision: approve", _LONG_THOUGHT + "Unfortunately the 30 days are over.\nDecision: deny"],
        bad=[_LONG_THOUGHT + "We cannot do that.\nDecision: deny", "<think>80 days, unused.</think>\nDecision: approve"],
        fault="The words of the whole completion are counted, so a long reply makes up for an empty think part.",
        proof=_proof_reasoned_decision,
    ),
    Case(
        "number_sorting", number_sorting_reward, _SORT,
        good=["[-7, 0, 8, 13, 41, 41]", "[-1, 2.25, 3.5, 10]", "Sorted: [9, 90, 99, 900, 990]"],
        bad=["[41, 41, 13, 8, 0, -7]", "[2.25, 3.5, 10, -1]", "[900, 90, 9, 99, 990]"],
        fault="Only order and length are checked, not that the list consists of the given numbers.",
        proof=_proof_number_sorting,
    ),
    Case(
        "timeline", timeline_reward, _TIMELINE,
        good=["Printing press\nFrench Revolution\nPenicillin\nMoon landing\nWorld Wide Web", "1. Roman Empire\n2. Mongol Empire\n3. Ottoman Empire\n4. British Raj"],
        bad=["World Wide Web\nMoon landing\nPenicillin\nFrench Revolution\nPrinting press", "British Raj\nOttoman Empire\nRoman Empire\nMongol Empire"],
        fault="The share is taken over the pairs which the completion lists: leaving out all but two sure events is paid in full.",
        proof=_proof_timeline,
    ),
    Case(
        "metric_length", metric_length_reward, _LENGTHS,
        good=["It has eight lanes. Answer: 50 m", "pi * 0.7 m * 100. Answer: 0.22 km"],
        bad=["Answer: 25 m", "Answer: 70 m"],
        fault="The alternation tries m before mm and has no boundary: '50 mm' and '220 miles' are read as metres.",
        proof=_proof_metric_length,
    ),
    Case(
        "invoice_date", invoice_date_reward, _DATES,
        good=["25/12/2023", "The issue date counts.\n16/06/2022"],
        bad=["24/12/2023", "30/06/2022"],
        fault="Month first is tried before day first: US dates are paid, and right dates with a day up to 12 are refused.",
        proof=_proof_invoice_date,
    ),
]
