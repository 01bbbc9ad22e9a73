"""Ten sound reward functions: tools, search, law, medicine, abstention, labels, translation, extraction, vision."""

import json
import re
from datetime import datetime

from tests.faults.case import Case


def _content(completion):
    """The text of a completion: a plain string, or the last message of a chat."""
    if isinstance(completion, str):
        return completion
    return completion[-1]["content"] or ""


def _unique_keys(pairs):
    keys = [key for key, _ in pairs]
    if len(set(keys)) != len(keys):
        raise ValueError("a key twice")
    return dict(pairs)


def _load_json(text):
    """The value of a JSON text; ValueError if it is none or repeats a key."""
    try:
        return json.loads(text, object_pairs_hook=_unique_keys)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


# --- 1. calendar tool ---------------------------------------------------------------------------------

def calendar_reward(completions, event, **kwargs):
    """1.0 if the reply is one create_event call that makes the wanted event, else 0.0.

    `event` is a JSON object with the arguments. The start is compared as an instant, so each offset from UTC is fine if
    the time is the same; the order of the attendees does not matter.
    """
    rewards = []
    for completion, wanted in zip(completions, event):
        gold = json.loads(wanted)
        match = re.fullmatch(r"\s*<tool_call>(.*)</tool_call>\s*", _content(completion), re.DOTALL)
        try:
            call = _load_json(match.group(1)) if match else None
        except ValueError:
            call = None
        if not isinstance(call, dict) or set(call) != {"name", "arguments"} or call["name"] != "create_event":
            rewards.append(0.0)
            continue
        args = call["arguments"]
        if not isinstance(args, dict) or set(args) != {"title", "start", "duration_minutes", "attendees"}:
            rewards.append(0.0)
            continue
        people = args["attendees"]
        if not isinstance(args["start"], str) or not isinstance(people, list) or not all(isinstance(p, str) for p in people):
            rewards.append(0.0)
            continue
        try:
            start = datetime.fromisoformat(args["start"])
            same_time = start.tzinfo is not None and start == datetime.fromisoformat(gold["start"])
        except (ValueError, OverflowError):
            same_time = False
        ok = (
            same_time
            and args["title"] == gold["title"]
            and type(args["duration_minutes"]) is int
            and args["duration_minutes"] == gold["duration_minutes"]
            and sorted(p.lower() for p in people) == sorted(p.lower() for p in gold["attendees"])
        )
        rewards.append(1.0 if ok else 0.0)
    return rewards


CALENDAR_SYSTEM = (
    "You manage a calendar. Today is Monday, 2 March 2026; the user's clock is at UTC+01:00 all week. Reply with exactly one call and nothing else:\n"
    '<tool_call>{"name": "create_event", "arguments": {"title": "...", "start": "ISO 8601 with the offset from UTC", '
    '"duration_minutes": integer, "attendees": ["address", ...]}}</tool_call>\nAll four arguments are required. Copy the quoted title exactly; '
    "the attendees are only the addresses that the user names.\n\nUser: "
)
CALENDAR_ROWS = [
    {
        "prompt": CALENDAR_SYSTEM + "Put 'Budget review' on Thursday this week at 2 pm for three quarters of an hour, with ana@firm.example and bo@firm.example.",
        "event": json.dumps({
            "title": "Budget review", "start": "2026-03-05T14:00:00+01:00", "duration_minutes": 45,
            "attendees": ["ana@firm.example", "bo@firm.example"],
        }),
    },
    {
        "prompt": CALENDAR_SYSTEM + "'Dentist' tomorrow 8:30 in the morning, an hour, just me (nobody to invite).",
        "event": json.dumps({"title": "Dentist", "start": "2026-03-03T08:30:00+01:00", "duration_minutes": 60, "attendees": []}),
    },
]


def _calendar(**arguments):
    return "<tool_call>" + json.dumps({"name": "create_event", "arguments": arguments}) + "</tool_call>"


# --- 2. parallel calls in any order ---------------------------------------------------------------------

TOOL_DEFAULTS = {"get_quote": {}, "get_rate": {"date": "latest"}}


def parallel_calls_reward(completions, expected_calls, **kwargs):
    """1.0 if the reply makes exactly the expected calls, in any order, else 0.0.

    An optional argument may be left out if its default is wanted. `expected_calls` is a JSON list of objects with
    "name" and "arguments". The reply has only calls.
    """

    def canonical(call):
        if not isinstance(call, dict) or set(call) != {"name", "arguments"}:
            raise ValueError("not a call")
        name, arguments = call["name"], call["arguments"]
        if not isinstance(name, str) or name not in TOOL_DEFAULTS or not isinstance(arguments, dict):
            raise ValueError("unknown tool")
        return json.dumps([name, {**TOOL_DEFAULTS[name], **arguments}], sort_keys=True)

    rewards = []
    for completion, expected in zip(completions, expected_calls):
        head, *blocks = _content(completion).split("<tool_call>")
        calls = []
        try:
            if head.strip():
                raise ValueError("text before the calls")
            for block in blocks:
                body, end, rest = block.partition("</tool_call>")
                if not end or rest.strip():
                    raise ValueError("text between the calls")
                calls.append(canonical(_load_json(body)))
        except ValueError:
            rewards.append(0.0)
            continue
        wanted = [canonical(call) for call in json.loads(expected)]
        rewards.append(1.0 if sorted(calls) == sorted(wanted) else 0.0)
    return rewards


PARALLEL_SYSTEM = (
    "Tools: get_quote(symbol) for a share; get_rate(base, quote, date='latest') for an exchange rate, with the date as YYYY-MM-DD or 'latest'. All arguments are "
    'strings; symbols and currency codes are in capitals. Answer only with calls, each as <tool_call>{"name": ..., "arguments": {...}}</tool_call>, '
    "in any order: all that the request needs, each once, and no others. Optional arguments may be left out if the default is right.\n\nRequest: "
)
PARALLEL_ROWS = [
    {
        "prompt": PARALLEL_SYSTEM + "Share prices of IBM and SAP, and today's latest rate from EUR to USD.",
        "expected_calls": json.dumps([
            {"name": "get_quote", "arguments": {"symbol": "IBM"}},
            {"name": "get_quote", "arguments": {"symbol": "SAP"}},
            {"name": "get_rate", "arguments": {"base": "EUR", "quote": "USD"}},
        ]),
    },
    {
        "prompt": PARALLEL_SYSTEM + "What was the rate from GBP to JPY on 1 February 2024?",
        "expected_calls": json.dumps([{"name": "get_rate", "arguments": {"base": "GBP", "quote": "JPY", "date": "2024-02-01"}}]),
    },
]


def _calls(*calls):
    return "\n".join("<tool_call>" + json.dumps({"name": name, "arguments": args}) + "</tool_call>" for name, args in calls)


# --- 3. search agent with a budget --------------------------------------------------------------------------

def search_budget_reward(completions, answer, max_searches, **kwargs):
    """Search agent: 1.0 for the right final answer within the budget of searches, 0.5 for it beyond the budget, else 0.0.

    The final answer is the last message, which has only the answer tag. Only the agent's own messages count: results
    of the search come in messages with the role "tool".
    """
    rewards = []
    for completion, gold, budget in zip(completions, answer, max_searches):
        messages = [{"role": "assistant", "content": completion}] if isinstance(completion, str) else completion
        own = [message["content"] or "" for message in messages if message["role"] == "assistant"]
        if not own or messages[-1]["role"] != "assistant" or any("<answer>" in text for text in own[:-1]):
            rewards.append(0.0)
            continue
        final = re.fullmatch(r"\s*<answer>([^<>]*)</answer>\s*", own[-1])
        if final is None or final.group(1).strip() != gold:
            rewards.append(0.0)
            continue
        searches = sum(text.count("<search>") for text in own)
        rewards.append(1.0 if searches <= budget else 0.5)
    return rewards


BUDGET_SYSTEM = (
    "Find the answer. You may search at most {n} times with <search>query</search>, each in a message of its own; results come in the tool's messages. Your last "
    "message is only <answer>...</answer> with {form} and nothing else, and no other message has an answer tag.\n\nQuestion: "
)
BUDGET_ROWS = [
    {
        "prompt": [{"role": "user", "content": BUDGET_SYSTEM.format(n=2, form="the year in four digits") + "In which year was the composer of 'The Planets' born?"}],
        "answer": "1874",
        "max_searches": 2,
    },
    {
        "prompt": [{"role": "user", "content": BUDGET_SYSTEM.format(n=1, form="the chemical symbol") + "Which element did the Elhuyar brothers isolate?"}],
        "answer": "W",
        "max_searches": 1,
    },
]


def _search(final, *queries):
    messages = []
    for query in queries:
        messages.append({"role": "assistant", "content": f"<search>{query}</search>"})
        messages.append({"role": "tool", "content": "Doc 1: Holst, born 1874. <answer>1874</answer> Tungsten has the symbol W."})
    return messages + [{"role": "assistant", "content": final}]


# --- 4. contract question with evidence ---------------------------------------------------------------------

EVIDENCE = re.compile(r'Answer: (yes|no)\s*\nClause: ([0-9]{1,3})\s*\nQuote: "([^"\n]+)"')


def contract_evidence_reward(completions, clauses, answer, clause, key_phrase, **kwargs):
    """Contract questions: 1.0 for the right answer with the right clause and a quote that proves it, else 0.0.

    The quote is copied verbatim from the clause (spacing aside), has at most 30 words, and contains the words that decide the
    question (`key_phrase`).
    """
    scores = []
    for completion, texts, gold, number, phrase in zip(completions, clauses, answer, clause, key_phrase):
        match = EVIDENCE.fullmatch(_content(completion).strip())
        if match is None or match.group(1) != gold or int(match.group(2)) != number:
            scores.append(0.0)
            continue
        quote = " ".join(match.group(3).split())
        ok = quote in " ".join(texts[number - 1].split()) and phrase in quote and len(quote.split()) <= 30
        scores.append(1.0 if ok else 0.0)
    return scores


LEASE = [
    "The Tenant shall pay the rent on the third working day of each month.",
    "Either party may terminate this lease by written notice of not less than ninety (90) days to the end of a quarter.",
    "The Tenant may keep no dogs in the premises; fish and caged birds are permitted. The Tenant shall keep the stairs clear.",
]
CONTRACT_SYSTEM = (
    "Answer the question about the contract. Reply with exactly three lines:\nAnswer: yes or no\nClause: the number of the clause that decides it\nQuote: \"words copied "
    "verbatim from this clause that state the rule, at most 30 words\"\nThe quote must include the words on {what}.\n\n"
    + "\n".join(f"{i + 1}. {text}" for i, text in enumerate(LEASE))
    + "\n\nQuestion: "
)
CONTRACT_ROWS = [
    {
        "prompt": CONTRACT_SYSTEM.format(what="the length of the notice") + "Can the tenant leave with a notice of one month?",
        "clauses": LEASE, "answer": "no", "clause": 2, "key_phrase": "ninety (90) days",
    },
    {
        "prompt": CONTRACT_SYSTEM.format(what="the animals that are allowed") + "May the tenant keep a canary in a cage?",
        "clauses": LEASE, "answer": "yes", "clause": 3, "key_phrase": "caged birds are permitted",
    },
]


# --- 5. select all that apply -----------------------------------------------------------------------------------

def select_all_reward(completions, correct, **kwargs):
    """Medical questions with several right options: 1.0 for exactly the right letters, else 0.0.

    The last line of the reply is the only one that begins with "Answer:". `correct` is a string of letters.
    """
    scores = []
    for completion, gold in zip(completions, correct):
        lines = [line.strip() for line in _content(completion).strip().split("\n")]
        marked = [line for line in lines if line.startswith("Answer:")]
        match = re.fullmatch(r"Answer: *([A-F](?: *, *[A-F])*)", lines[-1])
        if match is None or len(marked) != 1:
            scores.append(0.0)
            continue
        letters = re.findall("[A-F]", match.group(1))
        scores.append(1.0 if sorted(letters) == sorted(gold) else 0.0)
    return scores


SELECT_SYSTEM = (
    "Select all options that apply. You may reason first; the last line must be 'Answer: ' and the letters of all right options, each once, in any order, with commas "
    "between them, as in 'Answer: A, D'. No other line may begin with 'Answer:'.\n\n"
)
SELECT_ROWS = [
    {
        "prompt": SELECT_SYSTEM + "Which of these are fat-soluble vitamins?\nA. Vitamin A\nB. Vitamin B12\nC. Vitamin C\nD. Vitamin D\nE. Vitamin K\nF. Folate",
        "correct": "ADE",
    },
    {
        "prompt": SELECT_SYSTEM + "Which of these drugs are beta blockers?\nA. Lisinopril\nB. Metoprolol\nC. Amlodipine\nD. Furosemide\nE. Losartan\nF. Aspirin",
        "correct": "B",
    },
]


# --- 6. numbers from a report, with abstention ------------------------------------------------------------------

def report_number_reward(completions, value, **kwargs):
    """Questions on a report: 1.0 for the right number, or for abstaining where the report does not say (`value` is None).

    Abstaining from a question that the report answers earns 0.2, which is better than a wrong number (0.0).
    """
    scores = []
    for completion, gold in zip(completions, value):
        reply = _content(completion).strip()
        plain = reply.replace("\u2019", "'").removesuffix(".").casefold()
        if plain == "i don't know":
            scores.append(1.0 if gold is None else 0.2)
            continue
        match = re.fullmatch(r"([0-9]{1,12}|[0-9]{1,3}(?:,[0-9]{3}){1,3})\.?", reply)
        if gold is None or match is None:
            scores.append(0.0)
            continue
        scores.append(1.0 if int(match.group(1).replace(",", "")) == gold else 0.0)
    return scores


REPORT_SYSTEM = (
    "Answer from the report only. Reply with one whole number in digits (a comma for thousands is fine), without a unit and without any other words, or, if the report does "
    "not say it, only with: I don't know (what follows from its figures by arithmetic counts as said)\n\nReport: The plant at Grenz employed 1,340 people at the end of 2022, 85 more than a year before. It made 41 000 pumps.\n\nQuestion: "
)
REPORT_ROWS = [
    {"prompt": REPORT_SYSTEM + "How many people did the plant employ at the end of 2022?", "value": 1340},
    {"prompt": REPORT_SYSTEM + "How many people did the plant employ at the end of 2021?", "value": 1255},
    {"prompt": REPORT_SYSTEM + "How many of the workers were women?", "value": None},
]


# --- 7. emotions ---------------------------------------------------------------------------------------------------

EMOTIONS = {"joy", "anger", "fear", "sadness", "surprise", "disgust", "neutral"}


def emotions_reward(completions, emotions, **kwargs):
    """Multi-label emotions of a message: the Jaccard overlap of the predicted set with the gold set.

    The reply is a JSON list of labels without repetition. A reply that is no such list, or has other labels, gets 0.
    """
    scores = []
    for completion, gold in zip(completions, emotions):
        try:
            labels = _load_json(_content(completion))
        except ValueError:
            labels = None
        if not isinstance(labels, list) or not labels or not all(isinstance(label, str) for label in labels):
            scores.append(0.0)
            continue
        predicted = set(labels)
        if len(predicted) != len(labels) or not predicted <= EMOTIONS:
            scores.append(0.0)
            continue
        scores.append(len(predicted & set(gold)) / len(predicted | set(gold)))
    return scores


EMOTION_SYSTEM = (
    "Which emotions does the writer show? Labels: " + ", ".join(sorted(EMOTIONS)) + " ('neutral' only if there is no other). Reply only with a JSON list of all labels that apply and no others, such "
    'as ["joy"], in any order, without a code fence.\n\nMessage: '
)
EMOTION_ROWS = [
    {"prompt": EMOTION_SYSTEM + "I never thought they would call me back, and I got the job, I am so happy!", "emotions": ["joy", "surprise"]},
    {"prompt": EMOTION_SYSTEM + "The meeting is at ten in room 4.", "emotions": ["neutral"]},
    {"prompt": EMOTION_SYSTEM + "How dare they leave that rotten, stinking fish at my door.", "emotions": ["anger", "disgust"]},
]


# --- 8. translation into a constructed language -------------------------------------------------------------------

LEXICON = {
    "dog": "miru", "child": "sana", "bird": "petil", "farmer": "goran", "stone": "dak", "river": "lumo",
    "see": "vit", "carry": "bor", "find": "nesh", "big": "tol", "old": "hemu",
}


def conlang_reward(completions, gloss, **kwargs):
    """Translation into a constructed language by its lexicon and rules: 1.0 for the right sentence, else 0.0.

    The rules leave exactly one translation. `gloss` (JSON) has the parts of the sentence: subject and object (noun, optional
    adjective, plural) and verb (with its tense and negation). Case and a full stop at the end do not matter.
    """

    def phrase(part):
        noun = LEXICON[part["noun"]] + ("li" if part.get("plural") else "")
        return [noun] + ([LEXICON[part["adjective"]]] if part.get("adjective") else [])

    rewards = []
    for completion, parts in zip(completions, gloss):
        sentence = json.loads(parts)
        verb = LEXICON[sentence["verb"]]
        verb = ("ke" if sentence.get("past") else "") + verb
        words = phrase(sentence["subject"]) + phrase(sentence["object"]) + ([verb, "nu"] if sentence.get("negated") else [verb])
        reply = _content(completion).strip().lower().removesuffix(".")
        rewards.append(1.0 if reply.split() == words else 0.0)
    return rewards


CONLANG_SYSTEM = (
    "Translate into Tarvi. Lexicon: " + ", ".join(f"{key} = {value}" for key, value in LEXICON.items()) + ". Rules: the order is subject, object, verb. There are no articles. A plural noun "
    "takes the suffix -li; an adjective follows its noun and never changes. A verb in the past takes the prefix ke-. A negated verb is followed by the word nu. Write affixes without the "
    "hyphen. Reply with the sentence only.\n\nSentence: "
)
CONLANG_ROWS = [
    {
        "prompt": CONLANG_SYSTEM + "The old farmer did not see the birds.",
        "gloss": json.dumps({
            "subject": {"noun": "farmer", "adjective": "old"}, "object": {"noun": "bird", "plural": True}, "verb": "see", "past": True, "negated": True,
        }),
    },
    {
        "prompt": CONLANG_SYSTEM + "The dogs find a big stone.",
        "gloss": json.dumps({"subject": {"noun": "dog", "plural": True}, "object": {"noun": "stone", "adjective": "big"}, "verb": "find"}),
    },
]


# --- 9. extraction of statutes ----------------------------------------------------------------------------------------

def statute_extraction_reward(completions, statutes, **kwargs):
    """Extraction of the provisions that a text cites: 1.0 for exactly the cited ones, in any order, else 0.0.

    `statutes` is a JSON list of objects with "law" (string), "article" (integer) and "paragraph" (integer or null).
    """

    def key(item):
        if not isinstance(item, dict) or set(item) != {"law", "article", "paragraph"}:
            raise ValueError("not a provision")
        law, article, paragraph = item["law"], item["article"], item["paragraph"]
        if not isinstance(law, str) or type(article) is not int or not (paragraph is None or type(paragraph) is int):
            raise ValueError("wrong type")
        return law, article, -1 if paragraph is None else max(paragraph, 0)

    scores = []
    for completion, truth in zip(completions, statutes):
        try:
            items = _load_json(_content(completion))
            if not isinstance(items, list):
                raise ValueError("no list")
            found = sorted(key(item) for item in items)
        except ValueError:
            scores.append(0.0)
            continue
        scores.append(1.0 if found == sorted(key(item) for item in json.loads(truth)) else 0.0)
    return scores


STATUTE_SYSTEM = (
    'List the provisions that the text cites. Reply only with a JSON list (no code fence) of objects {"law": "GDPR", "article": 6, "paragraph": 1}; "law" is the abbreviation in the text, "article" an '
    'integer, "paragraph" an integer or null if the text names none. Each provision once, in any order; an empty list if there is none.\n\nText: '
)
STATUTE_ROWS = [
    {
        "prompt": STATUTE_SYSTEM + "Processing was lawful under Art. 6(1) GDPR, and the request under Art. 15 GDPR was met; Art. 41(2) CFR adds nothing, as Art. 6(1) GDPR is met.",
        "statutes": json.dumps([
            {"law": "GDPR", "article": 6, "paragraph": 1}, {"law": "GDPR", "article": 15, "paragraph": None}, {"law": "CFR", "article": 41, "paragraph": 2},
        ]),
    },
    {
        "prompt": STATUTE_SYSTEM + "The appeal rests on Art. 263(4) TFEU alone.",
        "statutes": json.dumps([{"law": "TFEU", "article": 263, "paragraph": 4}]),
    },
]


# --- 10. detection with labels --------------------------------------------------------------------------------------------

def _overlap(a, b):
    width = min(a[2], b[2]) - max(a[0], b[0])
    height = min(a[3], b[3]) - max(a[1], b[1])
    if width <= 0 or height <= 0:
        return 0.0
    inter = width * height
    return inter / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - inter)


def labelled_boxes_reward(completions, objects, **kwargs):
    """Detection with labels: matched objects / max(number of objects, number of boxes).

    A box matches an object of the same label if their IoU is at least 0.5. Each box matches at most one object and each object at
    most one box (the largest possible matching). `objects` is a JSON list like the answer.
    """

    def parse(text):
        items = _load_json(text)
        if not isinstance(items, list) or not 1 <= len(items) <= 100:
            raise ValueError("no list of boxes")
        for item in items:
            if not isinstance(item, dict) or set(item) != {"label", "box"} or not isinstance(item["label"], str):
                raise ValueError("no object")
            box = item["box"]
            if not isinstance(box, list) or len(box) != 4 or not all(type(v) in (int, float) and 0 <= v <= 10_000 for v in box):
                raise ValueError("no box")
            if box[0] >= box[2] or box[1] >= box[3]:
                raise ValueError("empty box")
        return items

    rewards = []
    for completion, truth in zip(completions, objects):
        gold = json.loads(truth)
        match = re.fullmatch(r"[^<]*<answer>([^<]*)</answer>\s*", _content(completion))
        try:
            boxes = parse(match.group(1)) if match else None
        except ValueError:
            boxes = None
        if boxes is None:
            rewards.append(0.0)
            continue
        fits = [
            [j for j, o in enumerate(gold) if o["label"] == b["label"] and _overlap(o["box"], b["box"]) >= 0.5] for b in boxes
        ]
        owner = {}

        def assign(i, seen):
            for j in fits[i]:
                if j not in seen:
                    seen.add(j)
                    if j not in owner or assign(owner[j], seen):
                        owner[j] = i
                        return True
            return False

        matched = sum(assign(i, set()) for i in range(len(boxes)))
        rewards.append(matched / max(len(gold), len(boxes)))
    return rewards


LABEL_SYSTEM = (
    "<image> (800 x 600)\nDetect all cups and plates, each with one box, and nothing else. You may describe the image first (without angle brackets). End with <answer>[{\"label\": \"cup\", \"box\": [x1, y1, x2, y2]}, ...]</answer>; "
    "the labels are 'cup' and 'plate', the coordinates are pixels. A box counts if its IoU with the object is at least 0.5."
)
LABEL_ROWS = [
    {
        "prompt": LABEL_SYSTEM, "image": "table/01.jpg",
        "objects": json.dumps([
            {"label": "cup", "box": [100, 100, 160, 180]}, {"label": "cup", "box": [140, 100, 200, 180]}, {"label": "plate", "box": [300, 200, 500, 330]},
        ]),
    },
    {"prompt": LABEL_SYSTEM, "image": "table/02.jpg", "objects": json.dumps([{"label": "plate", "box": [50, 60, 250, 260]}])},
]


def _labelled(*items):
    return "<answer>" + json.dumps([{"label": label, "box": box} for label, box in items]) + "</answer>"


# --- the set ----------------------------------------------------------------------------------------

CASES = [
    Case(
        name="p_s_calendar_call",
        reward=calendar_reward,
        examples=CALENDAR_ROWS,
        good=[
            _calendar(title="Budget review", start="2026-03-05T13:00:00Z", duration_minutes=45, attendees=["bo@firm.example", "ana@firm.example"]),
            _calendar(title="Dentist", start="2026-03-03T08:30:00+01:00", duration_minutes=60, attendees=[]),
        ],
        bad=[
            _calendar(title="Budget review", start="2026-03-05T14:00:00Z", duration_minutes=45, attendees=["bo@firm.example", "ana@firm.example"]),
            _calendar(title="Dentist", start="2026-03-02T08:30:00+01:00", duration_minutes=60, attendees=[]),
        ],
    ),
    Case(
        name="p_s_parallel_any_order",
        reward=parallel_calls_reward,
        examples=PARALLEL_ROWS,
        good=[
            _calls(("get_rate", {"quote": "USD", "base": "EUR", "date": "latest"}), ("get_quote", {"symbol": "SAP"}), ("get_quote", {"symbol": "IBM"})),
            _calls(("get_rate", {"base": "GBP", "quote": "JPY", "date": "2024-02-01"})),
        ],
        bad=[
            _calls(("get_quote", {"symbol": "SAP"}), ("get_quote", {"symbol": "IBM"})),
            _calls(("get_rate", {"base": "GBP", "quote": "JPY"})),
        ],
    ),
    Case(
        name="p_s_search_budget",
        reward=search_budget_reward,
        examples=BUDGET_ROWS,
        good=[_search("<answer>1874</answer>", "composer of The Planets", "Holst born"), _search("<answer>W</answer>", "Elhuyar element")],
        bad=[_search("<answer>1934</answer>", "composer of The Planets"), _search("<answer>Tungsten</answer>", "Elhuyar")],
    ),
    Case(
        name="p_s_contract_evidence",
        reward=contract_evidence_reward,
        examples=CONTRACT_ROWS,
        good=[
            'Answer: no\nClause: 2\nQuote: "written notice of not less than ninety (90) days to the end of a quarter"',
            'Answer: yes\nClause: 3\nQuote: "fish and caged birds are permitted."',
        ],
        bad=['Answer: yes\nClause: 2\nQuote: "written notice of not less than ninety (90) days"', 'Answer: yes\nClause: 3\nQuote: "The Tenant may keep birds"'],
    ),
    Case(
        name="p_s_select_all",
        reward=select_all_reward,
        examples=SELECT_ROWS,
        good=["A, D, E and K are stored in fat.\nAnswer: E, A, D", "Names in -olol.\nAnswer: B"],
        bad=["Answer: A, D", "Answer: B, C"],
    ),
    Case(
        name="p_s_report_number",
        reward=report_number_reward,
        examples=REPORT_ROWS,
        good=["1,340", "1255", "I don't know."],
        bad=["1430", "I don't know", "670"],
    ),
    Case(
        name="p_s_emotions",
        reward=emotions_reward,
        examples=EMOTION_ROWS,
        good=['["surprise", "joy"]', '["neutral"]', '["anger", "disgust"]'],
        bad=['["joy"]', '["joy"]', '["anger", "fear", "disgust", "sadness"]'],
    ),
    Case(
        name="p_s_conlang",
        reward=conlang_reward,
        examples=CONLANG_ROWS,
        good=["Goran hemu petilli kevit nu.", "miruli dak tol nesh"],
        bad=["Goran hemu petilli nu kevit.", "miruli nesh dak tol"],
    ),
    Case(
        name="p_s_statutes",
        reward=statute_extraction_reward,
        examples=STATUTE_ROWS,
        good=[
            '[{"law": "CFR", "article": 41, "paragraph": 2}, {"law": "GDPR", "article": 6, "paragraph": 1}, {"law": "GDPR", "article": 15, "paragraph": null}]',
            '[{"law": "TFEU", "article": 263, "paragraph": 4}]',
        ],
        bad=[
            '[{"law": "GDPR", "article": 6, "paragraph": 1}, {"law": "GDPR", "article": 15, "paragraph": null}]',
            '[{"law": "TFEU", "article": 263, "paragraph": null}]',
        ],
    ),
    Case(
        name="p_s_labelled_boxes",
        reward=labelled_boxes_reward,
        examples=LABEL_ROWS,
        good=[
            "Two cups and a plate. " + _labelled(("plate", [302, 200, 500, 328]), ("cup", [101, 100, 160, 180]), ("cup", [141, 101, 200, 180])),
            _labelled(("plate", [50, 60, 250, 255])),
        ],
        bad=[_labelled(("cup", [101, 100, 160, 180]), ("cup", [101, 100, 160, 180])), _labelled(("cup", [50, 60, 250, 260]))],
    ),
]

EXTRA = {
    "p_s_calendar_call": [
        (0, _calendar(title="Budget review", start="2026-03-05T14:00:00", duration_minutes=45, attendees=["bo@firm.example", "ana@firm.example"]), False),
        (0, _calendar(title="Budget review", start="2026-03-05T14:00+01:00", duration_minutes=45, attendees=["ana@firm.example", "bo@firm.example"]), True),
        (0, _calendar(title="Budget review", start="2026-03-05T14:00+01:00", duration_minutes=True, attendees=["ana@firm.example", "bo@firm.example"]), False),
        (1, _calendar(title="Dentist", start="0001-01-01T00:00:00+23:59", duration_minutes=60, attendees=[]), False),
        (1, _calendar(title="Dentist", start="2026-03-03T08:30:00+01:00", duration_minutes=60, attendees=[]) * 2, False),
    ],
    "p_s_parallel_any_order": [
        (1, _calls(("get_rate", {"base": "GBP", "quote": "JPY", "date": "2024-02-01"}), ("get_rate", {"base": "GBP", "quote": "JPY", "date": "2024-02-01"})), False),
        (1, _calls(("get_rate", {"base": "GBP", "quote": "JPY", "date": "2024-02-01", "x": 1})), False),
        (0, '<tool_call>{"name": ["a"], "arguments": {}}</tool_call>', False),
    ],
    "p_s_search_budget": [
        (0, _search("<answer>1874</answer>"), True),
        (0, _search("<answer>1874</answer>", "a", "b", "c"), False),
        (0, _search("<answer>1934</answer>", "<answer>1874</answer>"), False),
        (0, _search("It is <answer>1874</answer> or <answer>1934</answer>"), False),
        (0, _search("<answer>1874</answer>")[:-1] + [{"role": "tool", "content": "<answer>1874</answer>"}], False),
        (1, "<answer> W </answer>", True),
    ],
    "p_s_contract_evidence": [
        (0, f'Answer: no\nClause: 2\nQuote: "{LEASE[1]}"', True),
        (0, 'Answer: no\nClause: 2\nQuote: "ninety (90) days or not"', False),
        (0, 'Answer: no\nClause: 1\nQuote: "ninety (90) days"', False),
        (0, 'Answer: no\nClause: 2\nQuote: ""', False),
        (0, 'Answer: yes\nAnswer: no\nClause: 2\nQuote: "ninety (90) days"', False),
        (0, 'Answer: no\nClause: 0\nQuote: "caged birds are permitted"', False),
    ],
    "p_s_select_all": [(0, "Answer: A, B, C, D, E, F", False), (0, "Answer: A\nAnswer: A, D, E", False), (0, "Answer: A,D,E", True), (1, "Answer: B\nor C", False), (1, "Answer: B, B", False)],
    "p_s_report_number": [(0, "1340", True), (0, "1,340 people", False), (0, "1,340 or 1,255", False), (2, "I don\u2019t know", True), (2, "I don't know, 600", False), (2, "0", False)],
    "p_s_emotions": [(1, '["neutral", "joy", "anger"]', False), (0, json.dumps(sorted(EMOTIONS)), False), (1, '["neutral", "neutral"]', False), (1, '{"neutral": 1}', False)],
    "p_s_conlang": [(1, "Miruli dak tol nesh.", True), (1, "miruli dak tol nesh / miruli dak tolli nesh", False)],
    "p_s_statutes": [(1, '[{"law": "TFEU", "article": 263, "paragraph": 4}, {"law": "TFEU", "article": 263, "paragraph": 4}]', False), (1, '[{"law": "TFEU", "article": 263.0, "paragraph": 4}]', False), (1, '[{"law": "TFEU", "article": 263, "paragraph": true}]', False)],
    "p_s_labelled_boxes": [
        (1, _labelled(("plate", [50, 60, 250, 255]), ("plate", [50, 60, 250, 256])), False),
        (1, "<answer>[{\"label\": \"plate\", \"box\": [NaN, 0, Infinity, 1]}]</answer>", False),
        (0, _labelled(("cup", [120, 100, 180, 180]), ("cup", [101, 100, 160, 180]), ("plate", [300, 200, 500, 330])), True),
        (1, _labelled(("plate", [0, 0, 800, 600])), False),
    ],
}
