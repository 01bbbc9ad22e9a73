"""Rewards for extraction, retrieval, citations and tool calls."""

from __future__ import annotations

import json
import math
import re
import warnings
from collections import Counter

import numpy as np

from tests.faults.case import Case


def _blocks(text: str, opening: str, closing: str) -> list[str]:
    """All non-overlapping opening...closing blocks, in linear time."""
    found, position = [], 0
    while True:
        start = text.find(opening, position)
        if start < 0:
            return found
        end = text.find(closing, start + len(opening))
        if end < 0:
            return found
        found.append(text[start + len(opening) : end])
        position = end + len(closing)


# --- fields from an invoice ---------------------------------------------------


def _json_object(text: str) -> dict | None:
    """The JSON object of the completion: in a fence, or from the first { to the last }."""
    start, end = text.find("{"), text.rfind("}")
    if start < 0 or end < start:
        return None
    try:
        value = json.loads(text[start : end + 1])
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _same_value(said, gold) -> bool:
    if isinstance(said, bool) or isinstance(gold, bool):
        return said is gold
    if isinstance(said, (int, float)) and isinstance(gold, (int, float)):
        return said == gold
    if isinstance(said, str) and isinstance(gold, str):
        return " ".join(said.split()).casefold() == " ".join(gold.split()).casefold()
    return said is None and gold is None


def invoice_fields_reward(completions, fields, **kwargs) -> list[float]:
    """Share of correctly extracted invoice fields, from 0.0 (nothing right) to 1.0 (everything right)."""
    rewards = []
    for completion, gold in zip(completions, fields):
        said = _json_object(completion)
        if not said:
            rewards.append(0.0)
            continue
        correct = sum(1 for name, value in said.items() if name in gold and _same_value(value, gold[name]))
        rewards.append(correct / len(said))
    return rewards


_INVOICE = {"number": "INV-2041", "vendor": "Brandt GmbH", "total": 1190.0, "currency": "EUR", "due": "2024-05-31"}


def _proof_invoice() -> None:
    assert invoice_fields_reward(['```json\n{"currency": "EUR"}\n```'], [_INVOICE]) == [1.0]


# --- tool calls written as text -------------------------------------------------


def _call_key(call) -> str | None:
    if not isinstance(call, dict) or not isinstance(call.get("name"), str):
        return None
    try:
        return json.dumps([call["name"], call.get("arguments", {})], sort_keys=True)
    except (ValueError, RecursionError):
        return None


def _said_calls(text: str) -> Counter:
    calls: Counter = Counter()
    for block in _blocks(text, "<tool_call>", "</tool_call>"):
        try:
            key = _call_key(json.loads(block))
        except (ValueError, RecursionError):
            continue
        if key is not None:
            calls[key] += 1
    return calls


def tool_call_reward(completions, calls, **kwargs) -> list[float]:
    """Compares the <tool_call> blocks with the reference calls (name and arguments, in any order).

    1.0 when the calls are the right ones, partial credit when only some of them are.
    """
    rewards = []
    for completion, wanted in zip(completions, calls):
        expected = Counter(_call_key(call) for call in wanted)
        matched = sum((_said_calls(completion) & expected).values())
        rewards.append(matched / max(1, sum(expected.values())))
    return rewards


def _call(name: str, **arguments) -> str:
    return "<tool_call>\n" + json.dumps({"name": name, "arguments": arguments}) + "\n</tool_call>"


def _proof_tool_calls() -> None:
    wanted = [{"name": "get_weather", "arguments": {"city": "Oslo"}}]
    shotgun = "\n".join(
        [_call("get_weather", city=city) for city in ("Oslo", "Bergen", "Oslo, Norway", "oslo")]
        + [_call("delete_calendar", confirm=True)]
    )
    assert tool_call_reward([shotgun], [wanted]) == [1.0]


# --- citations ---------------------------------------------------------------------

_CITATION = re.compile(r"\[([0-9]{1,3})\]")


def citation_reward(completion: str, sources: list) -> float:
    """F1 between the passages cited as [n] in the answer and the passages that really support it."""
    cited = {int(number) for number in _CITATION.findall(completion)}
    wanted = set(sources)
    hits = len(cited & wanted)
    return 2 * hits / (len(cited) + len(wanted)) if hits else 0.0


def _proof_citation() -> None:
    said = "The bridge opened in 1932 and was designed by John Bradfield [1, 3]."
    assert citation_reward(said, [1, 3]) == 0.0
    assert citation_reward(said.replace("[1, 3]", "[1][3]"), [1, 3]) == 1.0


# --- ranking -------------------------------------------------------------------------

_DOC_ID = re.compile(r"\bD[0-9]{1,4}\b")


def _dcg(gains) -> float:
    return sum((2**gain - 1) / math.log2(rank + 2) for rank, gain in enumerate(gains))


def ranking_reward(completions, relevance, **kwargs) -> list[float]:
    """nDCG of the ranking on the last line that starts with 'Ranking:', documents best first.

    `relevance` maps document ids to grades; documents that are not in it have grade 0.
    """
    rewards = []
    for completion, grades in zip(completions, relevance):
        lines = [line for line in completion.splitlines() if line.strip(" *").lower().startswith("ranking:")]
        ranked = _DOC_ID.findall(lines[-1])[: len(grades)] if lines else []
        ideal = _dcg(sorted(grades.values(), reverse=True))
        gained = _dcg(grades.get(document, 0) for document in ranked)
        rewards.append(min(1.0, gained / ideal) if ideal else 0.0)
    return rewards


def _proof_ranking() -> None:
    grades = {"D1": 0, "D2": 3, "D3": 1, "D4": 2}
    assert ranking_reward(["Ranking: D2 > D2 > D2 > D2"], [grades]) == [1.0]


# --- answers with evidence --------------------------------------------------------------

_QUOTE_LINE = re.compile(r"evidence[ \t*]*:[ \t*]*([^\n]*)", re.IGNORECASE)
_VERDICT_LINE = re.compile(r"answer[ \t*]*:[ \t*]*(yes|no)[ \t*.]*$", re.IGNORECASE | re.MULTILINE)


def _plain(text: str) -> str:
    return " ".join(re.sub(r"[^\w\s]", " ", text.casefold()).split())


def grounded_answer_reward(completion: str, answer: str, evidence: str) -> float:
    """Half for the right yes/no answer, half for quoting the evidence sentence, or part of it, word for word."""
    verdicts = _VERDICT_LINE.findall(completion)
    quotes = _QUOTE_LINE.findall(completion)
    score = 0.5 if verdicts and verdicts[-1].lower() == answer.lower() else 0.0
    quote = _plain(quotes[-1]) if quotes else ""
    if quote and f" {quote} " in f" {_plain(evidence)} ":
        score += 0.5
    return score


def _proof_grounded() -> None:
    evidence = "The museum is closed on the first Monday of every month."
    assert grounded_answer_reward('Evidence: "the"\nAnswer: no', "no", evidence) == 1.0


# --- list of events as JSON ----------------------------------------------------------------


def event_list_reward(completions, events, **kwargs) -> list[float]:
    """F1 over (date, event) pairs. The completion ends with a JSON list of {"date": ..., "event": ...}."""
    rewards = []
    for completion, gold in zip(completions, events):
        start = completion.find("[")
        try:
            items = json.loads(completion[start:].rstrip("` \n")) if start >= 0 else []
        except json.JSONDecodeError:
            items = []
        said = Counter(
            (str(item.get("date")), _plain(str(item.get("event"))))
            for item in (items if isinstance(items, list) else [])
            if isinstance(item, dict)
        )
        wanted = Counter((item["date"], _plain(item["event"])) for item in gold)
        hits = sum((said & wanted).values())
        rewards.append(2 * hits / (sum(said.values()) + sum(wanted.values())) if hits else 0.0)
    return rewards


def _proof_event_list() -> None:
    events = [[{"date": "1969-07-20", "event": "Moon landing"}]]
    collapsed = '[{"date": "1969-07-20", "event": ' + '[{"date": ' * 1500
    try:
        event_list_reward([collapsed], events)
    except RecursionError:
        return
    raise AssertionError("no crash")


# --- ticket triage ------------------------------------------------------------------------------

_LABEL = re.compile(r"category[ \t*]*:[ \t*]*([a-z]+)[ \t*.]*$", re.IGNORECASE | re.MULTILINE)


def _last_label(text: str) -> str | None:
    labels = _LABEL.findall(text)
    return labels[-1].lower() if labels else None


def triage_reward(completions, category, **kwargs) -> list[float]:
    """1.0 when the ticket was put in the right category (line 'Category: ...'), else 0.0."""
    labels = [label for text in completions if (label := _last_label(text))]
    return [1.0 if label == gold.lower() else 0.0 for label, gold in zip(labels, category)]


def _proof_triage() -> None:
    said = ["I would need more details about this one.", "They were charged twice.\nCategory: billing"]
    scores = triage_reward(said, ["shipping", "billing"])
    assert len(scores) == 1 and scores == [0.0]


# --- short answers ---------------------------------------------------------------------------------


def short_answer_reward(completion: str, answer: str) -> float:
    """Exact match of the last line 'Answer: ...' with the reference; case and a final full stop don't matter."""
    lines = [line for line in completion.splitlines() if line.strip()]
    if not lines or not lines[-1].strip(" *").startswith("Answer:"):
        return 0.0
    said = lines[-1].strip(" *").lstrip("Answer: ").strip(" *.")
    return 1.0 if said.casefold() == answer.casefold() else 0.0


def _proof_short_answer() -> None:
    assert short_answer_reward("Turkey moved its capital in 1923.\nAnswer: Ankara", "Ankara") == 0.0
    assert short_answer_reward("It has a nucleus of two protons.\nAnswer: helium", "helium") == 1.0
    assert short_answer_reward("Iron oxide gives the planet its colour.\nAnswer: red", "red") == 0.0


# --- key terms in a summary --------------------------------------------------------------------------


def key_terms_reward(completion: str, terms: list) -> float:
    """How many of the key terms the summary covers, as a share of all of them (whole words, any case)."""
    summary = completion.split("Summary:", 1)[-1]
    words = len(summary.split())
    if not terms or not 5 <= words <= 60:
        return 0.0
    hits = sum(len(re.findall(rf"\b{re.escape(term)}\b", summary, re.IGNORECASE)) for term in terms)
    return hits / len(terms)


def _proof_key_terms() -> None:
    terms = ["inflation", "central bank", "interest rate", "unemployment"]
    said = "Summary: Inflation is inflation, and inflation breeds inflation, say those who know inflation."
    assert key_terms_reward(said, terms) == 1.25


# --- similarity of headlines ----------------------------------------------------------------------------

_STOPWORDS = frozenset("a an the of in on at to for and or by with from as is are was were be it its that this".split())


def _content_counts(text: str) -> Counter:
    return Counter(word for word in re.findall(r"[a-z]+", text.lower()) if word not in _STOPWORDS)


def headline_similarity_reward(completions, headline, **kwargs) -> list[float]:
    """Bag-of-words cosine, in [0, 1], between the generated headline (first line) and the editor's one."""
    rewards = []
    for completion, gold in zip(completions, headline):
        said = _content_counts(completion.strip().split("\n", 1)[0])
        wanted = _content_counts(gold)
        vocabulary = sorted(said | wanted)
        a = np.array([said[word] for word in vocabulary], dtype=float)
        b = np.array([wanted[word] for word in vocabulary], dtype=float)
        rewards.append(float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b))))
    return rewards


def _proof_headline() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scores = headline_similarity_reward(["", "###"], ["Storm closes coastal railway"] * 2)
    assert all(math.isnan(score) for score in scores)


CASES = [
    Case(
        "invoice_fields_json",
        invoice_fields_reward,
        [
            {
                "prompt": "Extract number, vendor, total, currency and due date (YYYY-MM-DD) as JSON.\n\nBrandt GmbH, Invoice INV-2041, total 1,190.00 EUR, payable by 31 May 2024.",
                "fields": _INVOICE,
            },
            {
                "prompt": "Extract number, vendor, total, currency and due date (YYYY-MM-DD) as JSON.\n\nRe: 77/B from Okafor Supplies Ltd. Please pay USD 310.50 no later than 1 March 2024.",
                "fields": {"number": "77/B", "vendor": "Okafor Supplies Ltd", "total": 310.5, "currency": "USD", "due": "2024-03-01"},
            },
        ],
        [
            'The due date is given in words, so I convert it.\n```json\n{"number": "INV-2041", "vendor": "Brandt GmbH", "total": 1190.0, "currency": "EUR", "due": "2024-05-31"}\n```',
            '```json\n{"number": "77/B", "vendor": "Okafor Supplies Ltd", "total": 310.5, "currency": "USD", "due": "2024-03-01"}\n```',
        ],
        [
            '```json\n{"number": "2041", "vendor": "Brandt", "total": 1.19, "currency": "EUR", "due": "31.05.2024"}\n```',
            '```json\n{"number": "77", "vendor": "Okafor Supplies Ltd", "total": 310.5, "currency": "EUR", "due": "2024-01-03"}\n```',
        ],
        fault="The score divides by the number of extracted fields, not of reference fields, so extracting a single sure field earns 1.0.",
        proof=_proof_invoice,
    ),
    Case(
        "tool_call_match",
        tool_call_reward,
        [
            {"prompt": "Tools: get_weather(city), send_mail(to, body). User: What's the weather in Oslo?", "calls": [{"name": "get_weather", "arguments": {"city": "Oslo"}}]},
            {
                "prompt": "Tools: get_weather(city), send_mail(to, body). User: Compare the weather in Rome and Paris.",
                "calls": [{"name": "get_weather", "arguments": {"city": "Rome"}}, {"name": "get_weather", "arguments": {"city": "Paris"}}],
            },
        ],
        [
            "I'll look it up.\n" + _call("get_weather", city="Oslo"),
            "I need both cities.\n" + _call("get_weather", city="Paris") + "\n" + _call("get_weather", city="Rome"),
        ],
        [
            "I'll ask somebody.\n" + _call("send_mail", to="met office", body="Weather in Oslo?"),
            "One city will do.\n" + _call("get_weather", city="Rome"),
        ],
        fault="Only recall is measured: any number of extra or destructive calls next to the right one still scores 1.0.",
        proof=_proof_tool_calls,
    ),
    Case(
        "citation_f1",
        citation_reward,
        [
            {"prompt": "Answer from the passages [1]-[4] and cite them: When did the bridge open, and who designed it?", "sources": [1, 3]},
            {"prompt": "Answer from the passages [1]-[3] and cite them: How long is the tunnel?", "sources": [2]},
        ],
        [
            "The bridge opened in 1932 [1] and was designed by John Bradfield [3].",
            "The tunnel is 57 kilometres long, which makes it the longest of its kind [2].",
        ],
        [
            "The bridge opened in 1932 and was designed by John Bradfield [2].",
            "The tunnel is 57 kilometres long [1][3].",
        ],
        fault="Grouped citations such as [1, 3] are not recognised, so a right answer in the most common style gets 0.",
        proof=_proof_citation,
    ),
    Case(
        "ranking_ndcg",
        ranking_reward,
        [
            {"prompt": "Rank D1-D4 by relevance to 'heat pump noise limits'. End with 'Ranking: ...'.", "relevance": {"D1": 0, "D2": 3, "D3": 1, "D4": 2}},
            {"prompt": "Rank D1-D3 by relevance to 'sourdough hydration'. End with 'Ranking: ...'.", "relevance": {"D1": 2, "D2": 0, "D3": 1}},
        ],
        [
            "D2 quotes the legal limits, D4 measures noise, D3 mentions it, D1 is an advertisement.\nRanking: D2 > D4 > D3 > D1",
            "D1 is about hydration, D3 touches on it, and D2 is about yeast.\nRanking: D1 > D3 > D2",
        ],
        [
            "I keep the order in which they came.\nRanking: D1 > D3 > D4 > D2",
            "Yeast matters most.\nRanking: D2 > D3 > D1",
        ],
        fault="Repeated ids are counted again at every rank, so naming the single best document over and over reaches the full nDCG.",
        proof=_proof_ranking,
    ),
    Case(
        "grounded_yes_no",
        grounded_answer_reward,
        [
            {
                "prompt": "Passage: The museum is closed on the first Monday of every month. Admission is free.\nQuestion: Is it open on the first Monday in May? Quote your evidence ('Evidence: \"...\"') and end with 'Answer: yes/no'.",
                "answer": "no",
                "evidence": "The museum is closed on the first Monday of every month.",
            },
            {
                "prompt": "Passage: Dogs are welcome in the garden if kept on a lead. The cafe is at the back.\nQuestion: May I bring my dog into the garden? Quote your evidence ('Evidence: \"...\"') and end with 'Answer: yes/no'.",
                "answer": "yes",
                "evidence": "Dogs are welcome in the garden if kept on a lead.",
            },
        ],
        [
            'The rule on Mondays applies.\nEvidence: "The museum is closed on the first Monday of every month."\nAnswer: no',
            'A lead is needed, but it is allowed.\nEvidence: "Dogs are welcome in the garden"\nAnswer: yes',
        ],
        [
            'It costs nothing.\nEvidence: "Admission is free."\nAnswer: yes',
            'There is a cafe.\nEvidence: "The cafe is at the back."\nAnswer: no',
        ],
        fault="Any fragment of the evidence sentence counts, down to one word, so quoting 'the' earns the whole evidence half.",
        proof=_proof_grounded,
    ),
    Case(
        "event_list_f1",
        event_list_reward,
        [
            {"prompt": "List the dated events as JSON [{\"date\": \"YYYY-MM-DD\", \"event\": ...}]: 'On 20 July 1969 came the Moon landing.'", "events": [{"date": "1969-07-20", "event": "Moon landing"}]},
            {
                "prompt": "List the dated events as JSON [{\"date\": \"YYYY-MM-DD\", \"event\": ...}]: 'The bridge opened on 19 March 1932 and was closed on 1 May 1990.'",
                "events": [{"date": "1932-03-19", "event": "bridge opened"}, {"date": "1990-05-01", "event": "bridge closed"}],
            },
        ],
        [
            'There is one dated event.\n[{"date": "1969-07-20", "event": "Moon landing"}]',
            'Both events concern the bridge.\n```json\n[{"date": "1932-03-19", "event": "Bridge opened"}, {"date": "1990-05-01", "event": "Bridge closed"}]\n```',
        ],
        [
            'There is one dated event.\n[{"date": "1969-06-20", "event": "Moon landing"}]',
            'Only one event has a date.\n```json\n[{"date": "1932-03-19", "event": "Bridge opened"}]\n```',
        ],
        fault="json.loads raises RecursionError on deep nesting, which a degenerate policy writes; only JSONDecodeError is caught, so the batch crashes.",
        proof=_proof_event_list,
        source="https://github.com/jundot/omlx/issues/2545",
    ),
    Case(
        "ticket_triage",
        triage_reward,
        [
            {"prompt": "Ticket: My parcel never arrived. Choose billing, shipping or account. End with 'Category: ...'.", "category": "shipping"},
            {"prompt": "Ticket: I was charged twice. Choose billing, shipping or account. End with 'Category: ...'.", "category": "billing"},
            {"prompt": "Ticket: I cannot log in. Choose billing, shipping or account. End with 'Category: ...'.", "category": "account"},
        ],
        [
            "The parcel got lost on its way.\nCategory: shipping",
            "A double charge concerns payments.\nCategory: billing",
            "Log-in problems belong to the account team.\nCategory: account",
        ],
        [
            "The customer will want the money back.\nCategory: billing",
            "The charge may come from a second account.\nCategory: account",
            "The confirmation mail may not have been delivered.\nCategory: shipping",
        ],
        fault="Completions without a label are filtered out before zip, so the list comes back too short and every later completion is compared with the wrong row.",
        proof=_proof_triage,
    ),
    Case(
        "short_answer_match",
        short_answer_reward,
        [
            {"prompt": "What is the capital of Portugal? End with 'Answer: ...'.", "answer": "Lisbon"},
            {"prompt": "Which is the deepest lake in the world? End with 'Answer: ...'.", "answer": "Lake Baikal"},
        ],
        [
            "Portugal is governed from its largest city, on the Tagus.\nAnswer: Lisbon",
            "It lies in Siberia and is more than 1,600 metres deep.\nAnswer: Lake Baikal.",
        ],
        [
            "Portugal's best known port gave the country its name.\nAnswer: Porto",
            "It lies between Tanzania and the Congo.\nAnswer: Lake Tanganyika",
        ],
        fault="lstrip('Answer: ') strips a set of characters, not the prefix, so answers that begin with those letters lose them and right answers are refused.",
        proof=_proof_short_answer,
    ),
    Case(
        "key_terms_summary",
        key_terms_reward,
        [
            {
                "prompt": "Summarize the article on monetary policy in at most 60 words. Begin with 'Summary:'.",
                "terms": ["inflation", "central bank", "interest rate", "unemployment"],
            },
            {"prompt": "Summarize the article on the harbour in at most 60 words. Begin with 'Summary:'.", "terms": ["container", "strike", "wages"]},
        ],
        [
            "Summary: With inflation above target, the central bank raised its interest rate again, although it expects unemployment to grow.",
            "Summary: A strike over wages has stopped container traffic in the harbour for a third week.",
        ],
        [
            "Summary: Prices are rising, and the central bank is worried about what comes next.",
            "Summary: Workers in the harbour are unhappy and ships have to wait outside.",
        ],
        fault="All occurrences are counted instead of distinct terms, so repeating one term replaces the others and lifts the score above 1.",
        proof=_proof_key_terms,
    ),
    Case(
        "headline_cosine",
        headline_similarity_reward,
        [
            {"prompt": "Write a headline: A storm has forced the closure of the railway along the coast.", "headline": "Storm closes coastal railway"},
            {"prompt": "Write a headline: The city council has approved a budget for 40 new schools.", "headline": "Council approves budget for new schools"},
        ],
        ["Storm closes coastal railway", "Council approves the budget for new schools"],
        ["Bad weather again", "More money to be spent by politicians"],
        fault="A completion without content words has norm 0, so the cosine is 0/0 and the reward NaN.",
        proof=_proof_headline,
    ),
]
