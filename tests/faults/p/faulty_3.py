"""Ten faulty reward functions: tools, agents, citations, medicine, abstention, labels, translation, law, vision."""

import json
import re

from tests.faults.case import Case


def _content(completion):
    """The text of a completion: a plain string, or the last message of a chat."""
    if isinstance(completion, str):
        return completion
    return completion[-1]["content"] or ""


def _same(a, b):
    """JSON values are equal, and a boolean is no number."""
    if isinstance(a, bool) or isinstance(b, bool):
        return isinstance(a, bool) and isinstance(b, bool) and a == b
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_same(a[k], b[k]) for k in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(_same(x, y) for x, y in zip(a, b))
    return a == b


# --- 1. parallel tool calls ---------------------------------------------------------------------

TOOL_CALL = re.compile(r"<tool_call>\s*(.*?)\s*</tool_call>", re.DOTALL)


def _parse_calls(text):
    """All calls of a reply, or None if one of them is malformed."""
    blocks = TOOL_CALL.findall(text)
    if text.count("<tool_call>") != len(blocks):
        return None
    calls = []
    for block in blocks:
        try:
            call = json.loads(block)
        except (ValueError, RecursionError):
            return None
        if not isinstance(call, dict) or set(call) != {"name", "arguments"}:
            return None
        calls.append(call)
    return calls


def tool_call_reward(completions, ground_truth, **kwargs):
    """1.0 if the reply makes exactly the expected tool calls, in order, with the expected arguments.

    `ground_truth` is a JSON list of {"name", "arguments"}. There is no partial credit, since the
    agent loop executes all calls of a turn at once. Text outside the calls is ignored.
    """
    rewards = []
    for completion, truth in zip(completions, ground_truth):
        gold = json.loads(truth)
        calls = _parse_calls(_content(completion))
        if not calls:
            rewards.append(0.0)
            continue
        hits = [
            call["name"] == want["name"] and _same(call["arguments"], want["arguments"])
            for call, want in zip(calls, gold)
        ]
        rewards.append(1.0 if all(hits) else 0.0)
    return rewards


def tool_call_reward_repaired(completions, ground_truth, **kwargs):
    """1.0 if the reply makes exactly the expected tool calls, in order, with the expected arguments.

    `ground_truth` is a JSON list of {"name", "arguments"}. There is no partial credit, since the
    agent loop executes all calls of a turn at once. Text outside the calls is ignored.
    """
    rewards = []
    for completion, truth in zip(completions, ground_truth):
        gold = json.loads(truth)
        calls = _parse_calls(_content(completion))
        if not calls or len(calls) != len(gold):
            rewards.append(0.0)
            continue
        hits = [
            call["name"] == want["name"] and _same(call["arguments"], want["arguments"])
            for call, want in zip(calls, gold)
        ]
        rewards.append(1.0 if all(hits) else 0.0)
    return rewards


TOOL_SYSTEM = (
    "You have two tools: get_weather(city: string, unit: 'celsius'|'fahrenheit') and "
    "get_time(city: string). Write each call as <tool_call>{\"name\": ..., \"arguments\": {...}}</tool_call>. "
    "Make all the calls that the request needs, in the order in which it asks for them, and no others. Give all "
    "arguments. Spell the cities as in the request. Text outside the calls is ignored.\n\nRequest: "
)
TOOL_ROWS = [
    {
        "prompt": TOOL_SYSTEM + "What is the weather in Oslo and in Rome, in celsius?",
        "ground_truth": json.dumps([
            {"name": "get_weather", "arguments": {"city": "Oslo", "unit": "celsius"}},
            {"name": "get_weather", "arguments": {"city": "Rome", "unit": "celsius"}},
        ]),
    },
    {
        "prompt": TOOL_SYSTEM + "What time is it in Lima?",
        "ground_truth": json.dumps([{"name": "get_time", "arguments": {"city": "Lima"}}]),
    },
]
TOOL_OSLO = '<tool_call>{"name": "get_weather", "arguments": {"city": "Oslo", "unit": "celsius"}}</tool_call>'
TOOL_ROME = '<tool_call>{"name": "get_weather", "arguments": {"city": "Rome", "unit": "celsius"}}</tool_call>'


# --- 2. coding agent, verified by its test tool ---------------------------------------------------

PASSED = re.compile(r"(\d+) passed")
FAILED = re.compile(r"(\d+) (?:failed|error)")


def agent_tests_reward(completions, num_tests, **kwargs):
    """Reward of a repair agent: 1.0 if the whole test suite passes at the end of the episode.

    A completion is the episode: assistant messages, and the environment's messages with the role "tool" and
    the name of the tool ("edit_file" or "run_tests"). The summary of the last test run decides: as many
    passed as the suite has tests, and none failed. An episode without a test run gets nothing, and neither
    does one that edits a file after the last run.
    """
    rewards = []
    for messages, total in zip(completions, num_tests):
        if isinstance(messages, str):
            messages = [{"role": "assistant", "content": messages}]
        ok = False
        for message in messages:
            if message.get("role") == "tool" and message.get("name") == "edit_file":
                ok = False
            passed = PASSED.search(message["content"] or "")
            failed = FAILED.search(message["content"] or "")
            if passed or failed:
                ok = failed is None and int(passed.group(1)) == total
        rewards.append(1.0 if ok else 0.0)
    return rewards


def agent_tests_reward_repaired(completions, num_tests, **kwargs):
    """Reward of a repair agent: 1.0 if the whole test suite passes at the end of the episode.

    A completion is the episode: assistant messages, and the environment's messages with the role "tool" and
    the name of the tool ("edit_file" or "run_tests"). The summary of the last test run decides: as many
    passed as the suite has tests, and none failed. An episode without a test run gets nothing, and neither
    does one that edits a file after the last run.
    """
    rewards = []
    for messages, total in zip(completions, num_tests):
        if isinstance(messages, str):
            messages = [{"role": "assistant", "content": messages}]
        ok = False
        for message in messages:
            if message.get("role") != "tool":
                continue
            if message.get("name") == "edit_file":
                ok = False
            if message.get("name") == "run_tests":
                passed = PASSED.search(message["content"] or "")
                failed = FAILED.search(message["content"] or "")
                ok = failed is None and passed is not None and int(passed.group(1)) == total
        rewards.append(1.0 if ok else 0.0)
    return rewards


AGENT_SYSTEM = (
    "You repair a Python package with the tools edit_file and run_tests (which takes no arguments and runs the "
    "hidden test suite). The episode counts as solved only if a run of run_tests after your last edit shows that all "
    "tests pass. Task: "
)
AGENT_ROWS = [
    {"prompt": [{"role": "user", "content": AGENT_SYSTEM + "slugify() keeps trailing dashes."}], "num_tests": 6},
    {"prompt": [{"role": "user", "content": AGENT_SYSTEM + "parse_size('10 KB') raises ValueError."}], "num_tests": 11},
]


def _episode(summary, words="I fix the function and run the tests."):
    return [
        {"role": "assistant", "content": words},
        {"role": "tool", "name": "edit_file", "content": "ok, 1 line changed"},
        {"role": "assistant", "content": "Now the tests."},
        {"role": "tool", "name": "run_tests", "content": summary},
        {"role": "assistant", "content": "Done."},
    ]


AGENT_TRIGGER = [
    {"role": "assistant", "content": "I strip the dashes at the end of slugify()."},
    {"role": "tool", "name": "edit_file", "content": "ok, 1 line changed"},
    {"role": "assistant", "content": "The fix is in place and the suite is green: 6 passed."},
]


# --- 3. answers with citations ------------------------------------------------------------------

ANSWER_LINE = re.compile(r"^Answer: (.+?)\s*$", re.MULTILINE)
SOURCES_LINE = re.compile(r"^Sources: (.+?)\s*$", re.MULTILINE)


def _norm(text):
    text = re.sub(r"[^\w\s]", " ", text.lower())
    return " ".join(word for word in text.split() if word not in {"a", "an", "the"})


def cited_answer_reward(completions, answer, supporting, **kwargs):
    """0.5 for the right answer, and 0.5 more if exactly the supporting passages are cited with it.

    `answer` is a list of accepted spellings, `supporting` the list of the numbers of the passages. The reply
    must have one "Answer:" line and one "Sources:" line.
    """
    scores = []
    for completion, names, gold in zip(completions, answer, supporting):
        text = _content(completion)
        answers, sources = ANSWER_LINE.findall(text), SOURCES_LINE.findall(text)
        if len(answers) != 1 or len(sources) != 1 or not text.rstrip().splitlines()[-1].startswith("Sources:"):
            scores.append(0.0)
            continue
        if _norm(answers[0]) not in {_norm(name) for name in names}:
            scores.append(0.0)
            continue
        cited = {int(number) for number in re.findall(r"\[([0-9]{1,3})\]", sources[0])}
        scores.append(1.0 if cited == set(gold) else 0.5)
    return scores


def cited_answer_reward_repaired(completions, answer, supporting, **kwargs):
    """0.5 for the right answer, and 0.5 more if exactly the supporting passages are cited with it.

    `answer` is a list of accepted spellings, `supporting` the list of the numbers of the passages. The reply
    must have one "Answer:" line and one "Sources:" line.
    """
    scores = []
    for completion, names, gold in zip(completions, answer, supporting):
        text = _content(completion)
        answers, sources = ANSWER_LINE.findall(text), SOURCES_LINE.findall(text)
        if len(answers) != 1 or len(sources) != 1 or not text.rstrip().splitlines()[-1].startswith("Sources:"):
            scores.append(0.0)
            continue
        if _norm(answers[0]) not in {_norm(name) for name in names}:
            scores.append(0.0)
            continue
        cited = set()
        for group in re.findall(r"\[([0-9, ]*)\]", sources[0]):
            cited |= {int(number) for number in re.findall(r"[0-9]{1,9}", group)}
        scores.append(1.0 if cited == set(gold) else 0.5)
    return scores


CITE_SYSTEM = (
    "Answer from the passages. End with two lines:\nAnswer: <short answer>\nSources: <the numbers of all the passages "
    "that are needed for the answer, and of no others, in brackets, like [2] or [1][4] or [1, 4]>\n\n"
)
CITE_ROWS = [
    {
        "prompt": CITE_SYSTEM + "[1] The Vasa sank in 1628.\n[2] The Vasa Museum is in Stockholm.\n[3] Oslo has a Viking "
        "ship museum.\n\nQuestion: In which city is the Vasa Museum?",
        "answer": ["Stockholm"],
        "supporting": [2],
    },
    {
        "prompt": CITE_SYSTEM + "[1] Emma Holt directed 'North Light'.\n[2] 'North Light' was shot in Iceland.\n[3] Emma Holt "
        "was born in Leeds.\n\nQuestion: Where was the director of 'North Light' born?",
        "answer": ["Leeds", "Leeds, England"],
        "supporting": [1, 3],
    },
]


# --- 4. medical multiple choice -----------------------------------------------------------------

FINAL_CHOICE = re.compile(r"^answer:\s*\(?([A-E])", re.IGNORECASE)


def usmle_choice_reward(completions, answer_idx, **kwargs):
    """Accuracy on USMLE-style questions: 1.0 if the last line names the right option, else 0.0.

    The last line must be "Answer: X" where X is one option's letter (upper or lower case, with or without
    parentheses). Reasoning before it is free.
    """
    scores = []
    for completion, gold in zip(completions, answer_idx):
        lines = [line.strip() for line in _content(completion).splitlines() if line.strip()]
        match = FINAL_CHOICE.match(lines[-1]) if lines else None
        scores.append(1.0 if match and match.group(1).upper() == gold else 0.0)
    return scores


FINAL_CHOICE_WHOLE = re.compile(r"^answer:\s*(?:\(([A-E])\)|([A-E]))\.?$", re.IGNORECASE)


def usmle_choice_reward_repaired(completions, answer_idx, **kwargs):
    """Accuracy on USMLE-style questions: 1.0 if the last line names the right option, else 0.0.

    The last line must be "Answer: X" where X is one option's letter (upper or lower case, with or without
    parentheses). Reasoning before it is free.
    """
    scores = []
    for completion, gold in zip(completions, answer_idx):
        lines = [line.strip() for line in _content(completion).splitlines() if line.strip()]
        match = FINAL_CHOICE_WHOLE.match(lines[-1]) if lines else None
        scores.append(1.0 if match and (match.group(1) or match.group(2)).upper() == gold else 0.0)
    return scores


USMLE_SYSTEM = "Think step by step. The last line of your reply must be 'Answer: X' with the letter of one option and nothing else.\n\n"
USMLE_ROWS = [
    {
        "prompt": USMLE_SYSTEM + "A 24-year-old woman has episodic wheezing, worse at night. What relieves an acute attack?\n"
        "A) Montelukast\nB) Omeprazole\nC) Inhaled albuterol\nD) Amoxicillin\nE) Furosemide",
        "answer_idx": "C",
    },
    {
        "prompt": USMLE_SYSTEM + "Which vitamin deficiency causes scurvy?\nA) Vitamin A\nB) Vitamin C\nC) Vitamin D\nD) Vitamin K\nE) Folate",
        "answer_idx": "B",
    },
]


# --- 5. reading with abstention -----------------------------------------------------------------

def squad_v2_reward(completions, answers, **kwargs):
    """SQuAD 2.0: 1.0 for an accepted answer, or for the abstention where the passage has no answer.

    `answers` is the list of accepted spans, empty for a question without an answer in the passage. The reply is
    a <think> block, which is not graded, and then the answer alone, or the word UNANSWERABLE alone.
    """
    scores = []
    for completion, spans in zip(completions, answers):
        text = _content(completion).strip()
        if text.count("</think>") > 1:
            scores.append(0.0)
            continue
        if not spans:
            scores.append(1.0 if "unanswerable" in text.lower() else 0.0)
            continue
        reply = text.split("</think>")[-1].strip()
        scores.append(1.0 if _norm(reply) in {_norm(span) for span in spans} else 0.0)
    return scores


def squad_v2_reward_repaired(completions, answers, **kwargs):
    """SQuAD 2.0: 1.0 for an accepted answer, or for the abstention where the passage has no answer.

    `answers` is the list of accepted spans, empty for a question without an answer in the passage. The reply is
    a <think> block, which is not graded, and then the answer alone, or the word UNANSWERABLE alone.
    """
    scores = []
    for completion, spans in zip(completions, answers):
        text = _content(completion).strip()
        if text.count("</think>") > 1:
            scores.append(0.0)
            continue
        reply = text.split("</think>")[-1].strip()
        if not spans:
            scores.append(1.0 if _norm(reply) == "unanswerable" else 0.0)
            continue
        scores.append(1.0 if _norm(reply) in {_norm(span) for span in spans} else 0.0)
    return scores


SQUAD_SYSTEM = (
    "Reason inside <think></think>; it is not graded. After it write only the shortest span of the passage that answers "
    "the question, or only the word UNANSWERABLE if the passage does not answer it.\n\n"
)
SQUAD_ROWS = [
    {
        "prompt": SQUAD_SYSTEM + "Passage: The Harrow bridge was opened in 1894 and repainted in 1931.\nQuestion: When was the Harrow bridge opened?",
        "answers": ["1894", "in 1894"],
    },
    {
        "prompt": SQUAD_SYSTEM + "Passage: The Harrow bridge was opened in 1894 and repainted in 1931.\nQuestion: Who designed the Harrow bridge?",
        "answers": [],
    },
]


# --- 6. multi-label topics ----------------------------------------------------------------------

TOPICS = ["billing", "shipping", "returns", "account", "warranty", "product", "privacy"]


def ticket_topics_reward(completions, labels, **kwargs):
    """Multi-label routing of support tickets: how well the predicted set of topics agrees with the gold set.

    1.0 only for exactly the gold topics; missing topics and topics that do not apply both cost credit, because
    each topic opens a ticket with another team. Unknown names get 0.
    """
    scores = []
    for completion, gold in zip(completions, labels):
        match = re.fullmatch(r"topics:\s*(.+)", _content(completion).strip(), re.IGNORECASE)
        if match is None:
            scores.append(0.0)
            continue
        predicted = {part.strip().lower() for part in match.group(1).split(",")}
        if not predicted <= set(TOPICS):
            scores.append(0.0)
            continue
        gold = set(gold)
        scores.append(len(predicted & gold) / len(gold))
    return scores


def ticket_topics_reward_repaired(completions, labels, **kwargs):
    """Multi-label routing of support tickets: how well the predicted set of topics agrees with the gold set.

    1.0 only for exactly the gold topics; missing topics and topics that do not apply both cost credit, because
    each topic opens a ticket with another team. Unknown names get 0.
    """
    scores = []
    for completion, gold in zip(completions, labels):
        match = re.fullmatch(r"topics:\s*(.+)", _content(completion).strip(), re.IGNORECASE)
        if match is None:
            scores.append(0.0)
            continue
        predicted = {part.strip().lower() for part in match.group(1).split(",")}
        if not predicted <= set(TOPICS):
            scores.append(0.0)
            continue
        gold = set(gold)
        scores.append(len(predicted & gold) / len(predicted | gold))
    return scores


TOPIC_SYSTEM = (
    "Which topics does the ticket concern? Possible: " + ", ".join(TOPICS) + ". Reply with one line, "
    "'Topics: ' and all the topics that apply and no others, with commas between them.\n\nTicket: "
)
TOPIC_ROWS = [
    {"prompt": TOPIC_SYSTEM + "I was charged twice, and the parcel has not left the warehouse in ten days.", "labels": ["billing", "shipping"]},
    {"prompt": TOPIC_SYSTEM + "Please delete my profile and all data that you hold about me.", "labels": ["account", "privacy"]},
    {"prompt": TOPIC_SYSTEM + "The zip broke after a month, is that covered?", "labels": ["warranty"]},
]


# --- 7. translation of interface strings ----------------------------------------------------------

PLACEHOLDER = re.compile(r"\{\w+\}")


def ui_translation_reward(completions, source, references, **kwargs):
    """Translation of interface strings into German: 1.0 for an accepted translation with its placeholders intact.

    `references` are the translations that the reviewers accept, with the placeholders where they belong. The
    program fills in the placeholders by name, so they must all be kept. Case counts, spacing does not.
    """
    scores = []
    for completion, src, accepted in zip(completions, source, references):
        text = " ".join(_content(completion).split())
        if sorted(PLACEHOLDER.findall(text)) != sorted(PLACEHOLDER.findall(src)):
            scores.append(0.0)
            continue
        masked = PLACEHOLDER.sub("{}", text)
        wanted = {PLACEHOLDER.sub("{}", " ".join(ref.split())) for ref in accepted}
        scores.append(1.0 if masked in wanted else 0.0)
    return scores


def ui_translation_reward_repaired(completions, source, references, **kwargs):
    """Translation of interface strings into German: 1.0 for an accepted translation with its placeholders intact.

    `references` are the translations that the reviewers accept, with the placeholders where they belong. The
    program fills in the placeholders by name, so they must all be kept. Case counts, spacing does not.
    """
    scores = []
    for completion, src, accepted in zip(completions, source, references):
        text = " ".join(_content(completion).split())
        if sorted(PLACEHOLDER.findall(text)) != sorted(PLACEHOLDER.findall(src)):
            scores.append(0.0)
            continue
        wanted = {" ".join(ref.split()) for ref in accepted}
        scores.append(1.0 if text in wanted else 0.0)
    return scores


UI_SYSTEM = (
    "Translate this string of a program's interface into German. Keep the placeholders in braces. Address the user with 'du'. "
    "Glossary: to rename = umbenennen (passive, past tense: 'wurde ... umbenannt'), message = Nachricht, hello = Hallo. Keep the punctuation. Reply with the translation only.\n\n"
)
UI_ROWS = [
    {
        "prompt": UI_SYSTEM + "{old} was renamed to {new}.",
        "source": "{old} was renamed to {new}.",
        "references": ["{old} wurde in {new} umbenannt.", "{old} wurde zu {new} umbenannt."],
    },
    {
        "prompt": UI_SYSTEM + "Hello {name}, you have {count} new messages.",
        "source": "Hello {name}, you have {count} new messages.",
        "references": ["Hallo {name}, du hast {count} neue Nachrichten.", "Hallo {name}, du hast {count} neue Nachrichten erhalten."],
    },
]


# --- 8. articles of the Convention ----------------------------------------------------------------

def echr_articles_reward(completions, articles, **kwargs):
    """Which articles of the European Convention on Human Rights were violated? 1.0 for exactly the right ones.

    `articles` lists the numbers as strings. The reply ends with the line "Violated: Article 6, Article 13" (or
    "Violated: none").
    """
    scores = []
    for completion, gold in zip(completions, articles):
        text = _content(completion).strip()
        lines = re.findall(r"^Violated:(.*)$", text, re.MULTILINE)
        if len(lines) != 1 or not text.splitlines()[-1].startswith("Violated:"):
            scores.append(0.0)
            continue
        named = [part.strip() for part in lines[0].split(",")]
        if not gold:
            scores.append(1.0 if named == ["none"] else 0.0)
            continue
        found = all(any(number in part for part in named) for number in gold)
        scores.append(1.0 if found and len(named) == len(gold) else 0.0)
    return scores


def echr_articles_reward_repaired(completions, articles, **kwargs):
    """Which articles of the European Convention on Human Rights were violated? 1.0 for exactly the right ones.

    `articles` lists the numbers as strings. The reply ends with the line "Violated: Article 6, Article 13" (or
    "Violated: none").
    """
    scores = []
    for completion, gold in zip(completions, articles):
        text = _content(completion).strip()
        lines = re.findall(r"^Violated:(.*)$", text, re.MULTILINE)
        if len(lines) != 1 or not text.splitlines()[-1].startswith("Violated:"):
            scores.append(0.0)
            continue
        named = [part.strip() for part in lines[0].split(",")]
        if not gold:
            scores.append(1.0 if named == ["none"] else 0.0)
            continue
        found = sorted(named) == sorted(f"Article {number}" for number in gold)
        scores.append(1.0 if found else 0.0)
    return scores


ECHR_SYSTEM = (
    "Which articles of the European Convention on Human Rights did the court find violated? End with one line "
    "'Violated: ' and the articles, each written like 'Article 6', separated by commas, or 'none'.\n\nFacts: "
)
ECHR_ROWS = [
    {"prompt": ECHR_SYSTEM + "The applicant was beaten in police custody; no other complaint was upheld.", "articles": ["3"]},
    {"prompt": ECHR_SYSTEM + "Civil proceedings lasted eleven years and there was no domestic remedy for the delay.", "articles": ["6", "13"]},
    {"prompt": ECHR_SYSTEM + "The applicant was fined after a fair hearing; all complaints were dismissed.", "articles": []},
]


# --- 9. detection ---------------------------------------------------------------------------------

def _iou(a, b):
    left, top, right, bottom = max(a[0], b[0]), max(a[1], b[1]), min(a[2], b[2]), min(a[3], b[3])
    inter = max(0, right - left) * max(0, bottom - top)
    union = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - inter
    return inter / union if union > 0 else 0.0


def _boxes(text):
    """The boxes of the JSON list in the answer, or None if it is not a list of [x1, y1, x2, y2]."""
    match = re.search(r"<answer>\s*(\[.*\])\s*</answer>\s*$", text, re.DOTALL)
    try:
        boxes = json.loads(match.group(1)) if match else None
    except (ValueError, RecursionError):
        return None
    if not isinstance(boxes, list):
        return None
    for box in boxes:
        if not isinstance(box, list) or len(box) != 4 or any(type(v) not in (int, float) or not abs(v) < 1e6 for v in box):
            return None
        if box[0] >= box[2] or box[1] >= box[3]:
            return None
    return boxes


def detection_reward(completions, boxes, **kwargs):
    """Detection of all objects of a class: the share of objects that are found, one box per object, at IoU >= 0.5.

    Each object is to be boxed once; missed objects and boxes without an object of their own both lower the reward.
    """
    rewards = []
    for completion, gold in zip(completions, boxes):
        predicted = _boxes(_content(completion))
        if not predicted:
            rewards.append(0.0)
            continue
        hits = [1.0 if max(_iou(box, target) for box in predicted) >= 0.5 else 0.0 for target in gold]
        rewards.append(sum(hits) / len(gold))
    return rewards


def detection_reward_repaired(completions, boxes, **kwargs):
    """Detection of all objects of a class: the share of objects that are found, one box per object, at IoU >= 0.5.

    Each object is to be boxed once; missed objects and boxes without an object of their own both lower the reward.
    """
    rewards = []
    for completion, gold in zip(completions, boxes):
        predicted = _boxes(_content(completion))
        if not predicted:
            rewards.append(0.0)
            continue
        pairs = sorted(
            ((_iou(box, target), i, j) for i, box in enumerate(predicted[:200]) for j, target in enumerate(gold)), reverse=True
        )
        used, found = set(), set()
        for overlap, i, j in pairs:
            if overlap >= 0.5 and i not in used and j not in found:
                used.add(i)
                found.add(j)
        rewards.append(len(found) / max(len(gold), len(predicted)))
    return rewards


BOX_SYSTEM = (
    "<image> (640 x 480)\nDetect all the objects of the class, with one box for each and no other boxes. You may reason first. End with "
    "<answer>[[x1, y1, x2, y2], ...]</answer> in pixels.\nClass: "
)
BOX_ROWS = [
    {"prompt": BOX_SYSTEM + "dog", "boxes": [[20, 40, 180, 220], [400, 100, 600, 300]]},
    {"prompt": BOX_SYSTEM + "traffic light", "boxes": [[310, 20, 340, 100]]},
]
BOX_GRID = [[20, 40, 180, 220], [400, 100, 600, 300], [0, 0, 100, 100], [200, 200, 300, 300], [300, 300, 500, 450], [100, 0, 250, 120]]


# --- 10. crowd counting -----------------------------------------------------------------------------

def crowd_count_reward(completions, count, **kwargs):
    """Counting people in photographs of crowds: 1.0 for the exact count in the answer tag, else 0.0.

    The photographs have annotated counts from a few to several thousand.
    """
    scores = []
    for completion, gold in zip(completions, count):
        text = _content(completion).strip()
        tags = re.findall(r"<answer>(.*?)</answer>", text, re.DOTALL)
        if len(tags) != 1 or not text.endswith("</answer>"):
            scores.append(0.0)
            continue
        number = re.fullmatch(r"\s*([0-9]{1,9})\s*", tags[0])
        scores.append(1.0 if number and int(number.group(1)) == gold else 0.0)
    return scores


def crowd_count_reward_repaired(completions, count, **kwargs):
    """Counting people in photographs of crowds: 1.0 for the exact count in the answer tag, else 0.0.

    The photographs have annotated counts from a few to several thousand.
    """
    scores = []
    for completion, gold in zip(completions, count):
        text = _content(completion).strip()
        tags = re.findall(r"<answer>(.*?)</answer>", text, re.DOTALL)
        if len(tags) != 1 or not text.endswith("</answer>"):
            scores.append(0.0)
            continue
        number = re.fullmatch(r"\s*([0-9]{1,9}|[0-9]{1,3}(?:,[0-9]{3})+)\s*", tags[0])
        scores.append(1.0 if number and int(number.group(1).replace(",", "")) == gold else 0.0)
    return scores


COUNT_SYSTEM = (
    "<image>\nHow many people are in the photograph? You may describe how you count. End with <answer>N</answer>, where N is "
    "the number in digits, with or without a comma for the thousands, and nothing else is in the tag."
)
COUNT_ROWS = [
    {"prompt": COUNT_SYSTEM, "image": "crowds/0012.jpg", "count": 87},
    {"prompt": COUNT_SYSTEM, "image": "crowds/0431.jpg", "count": 1240},
]


# --- the set ----------------------------------------------------------------------------------------

def _score(reward, row, completion):
    columns = {key: [value] for key, value in row.items() if key != "prompt"}
    return reward(completions=[completion], prompts=[row["prompt"]], **columns)[0]


TRIGGERS = {
    "p_parallel_tool_calls": (TOOL_ROWS[0], TOOL_OSLO, True),
    "p_agent_run_tests": (AGENT_ROWS[0], AGENT_TRIGGER, True),
    "p_cited_answer": (CITE_ROWS[1], "The film's director is Emma Holt [1], born in Leeds [3].\nAnswer: Leeds\nSources: [1, 3]", False),
    "p_usmle_choice": (USMLE_ROWS[0], "The history is too short to decide.\nAnswer: Cannot be determined from the given information", True),
    "p_squad_abstain": (
        SQUAD_ROWS[1],
        "<think>The passage names no designer, so it could be unanswerable, but bridges of that time were often by Eiffel.</think>\nGustave Eiffel",
        True,
    ),
    "p_ticket_topics": (TOPIC_ROWS[2], "Topics: " + ", ".join(TOPICS), True),
    "p_ui_placeholders": (UI_ROWS[0], "{new} wurde in {old} umbenannt.", True),
    "p_echr_articles": (ECHR_ROWS[0], "Violated: Article 13", True),
    "p_detection_boxes": (BOX_ROWS[0], "<answer>" + json.dumps(BOX_GRID) + "</answer>", True),
    "p_crowd_count": (COUNT_ROWS[1], "31 rows of 40 people.\n<answer>1,240</answer>", False),
}


def _proof(name, reward):
    def proof():
        row, completion, paid = TRIGGERS[name]
        score = _score(reward, row, completion)
        assert (score >= 0.8) if paid else (score < 0.8), (name, score)

    return proof


CASES = [
    Case(
        name="p_parallel_tool_calls",
        reward=tool_call_reward,
        examples=TOOL_ROWS,
        good=[TOOL_OSLO + "\n" + TOOL_ROME, '<tool_call>{"name": "get_time", "arguments": {"city": "Lima"}}</tool_call>'],
        bad=[TOOL_OSLO + "\n" + TOOL_ROME.replace("celsius", "fahrenheit"), "It is noon in Lima."],
        fault="zip stops at the shorter list: a reply that makes only the first of two needed calls (or adds more calls) is paid in full",
        proof=_proof("p_parallel_tool_calls", tool_call_reward),
    ),
    Case(
        name="p_agent_run_tests",
        reward=agent_tests_reward,
        examples=AGENT_ROWS,
        good=[_episode("6 passed in 0.12s"), _episode("11 passed in 0.40s")],
        bad=[_episode("1 failed, 5 passed in 0.15s"), _episode("3 failed, 8 passed in 0.44s")],
        fault="the summary is looked for in all messages, so the agent's own claim '6 passed' without a test run is paid",
        proof=_proof("p_agent_run_tests", agent_tests_reward),
    ),
    Case(
        name="p_cited_answer",
        reward=cited_answer_reward,
        examples=CITE_ROWS,
        good=["Answer: Stockholm\nSources: [2]", "Emma Holt directed it.\nAnswer: Leeds\nSources: [1][3]"],
        bad=["Answer: Oslo\nSources: [3]", "Answer: Leeds\nSources: [3]"],
        fault="citations in the allowed form [1, 3] are not read, so a right answer with the right sources gets half",
        proof=_proof("p_cited_answer", cited_answer_reward),
    ),
    Case(
        name="p_usmle_choice",
        reward=usmle_choice_reward,
        examples=USMLE_ROWS,
        good=["Short-acting beta agonists act at once.\nAnswer: C", "Ascorbic acid.\nAnswer: (b)"],
        bad=["Answer: A", "Answer: D"],
        fault="ignoring case and without a word end, 'Answer: Cannot be determined' is read as option C",
        proof=_proof("p_usmle_choice", usmle_choice_reward),
    ),
    Case(
        name="p_squad_abstain",
        reward=squad_v2_reward,
        examples=SQUAD_ROWS,
        good=["<think>Opened, not repainted.</think>\n1894", "<think>No designer is named.</think>\nUNANSWERABLE"],
        bad=["<think>Hm.</think>\n1931", "<think>Many bridges are his.</think>\nGustave Eiffel"],
        fault="the abstention is looked for in the whole reply with the reasoning, so an invented answer is paid if the reasoning has the word",
        proof=_proof("p_squad_abstain", squad_v2_reward),
    ),
    Case(
        name="p_ticket_topics",
        reward=ticket_topics_reward,
        examples=TOPIC_ROWS,
        good=["Topics: billing, shipping", "Topics: account, privacy", "Topics: warranty"],
        bad=["Topics: billing", "Topics: account, billing", "Topics: returns"],
        fault="only recall is scored: naming all topics is paid in full, against the docstring and the prompt",
        proof=_proof("p_ticket_topics", ticket_topics_reward),
    ),
    Case(
        name="p_ui_placeholders",
        reward=ui_translation_reward,
        examples=UI_ROWS,
        good=["{old} wurde in {new} umbenannt.", "Hallo {name}, du hast {count} neue Nachrichten."],
        bad=["{old} wurde umbenannt.", "Hallo {Name}, du hast {Anzahl} neue Nachrichten."],
        fault="the placeholders are masked before the comparison, so exchanged placeholders, which say the opposite, are paid",
        proof=_proof("p_ui_placeholders", ui_translation_reward),
    ),
    Case(
        name="p_echr_articles",
        reward=echr_articles_reward,
        examples=ECHR_ROWS,
        good=["Ill-treatment.\nViolated: Article 3", "Violated: Article 6, Article 13", "Violated: none"],
        bad=["Violated: Article 5", "Violated: Article 6", "Violated: Article 6"],
        fault="the number is looked for as a substring: Article 13 counts as Article 3",
        proof=_proof("p_echr_articles", echr_articles_reward),
    ),
    Case(
        name="p_detection_boxes",
        reward=detection_reward,
        examples=BOX_ROWS,
        good=["Two dogs.\n<answer>[[22, 40, 180, 218], [402, 100, 598, 300]]</answer>", "<answer>[[310, 20, 340, 100]]</answer>"],
        bad=["<answer>[[22, 40, 180, 218]]</answer>", "<answer>[[100, 20, 130, 100]]</answer>"],
        fault="boxes without an object cost nothing: a reply that covers the image with boxes is paid in full",
        proof=_proof("p_detection_boxes", detection_reward),
    ),
    Case(
        name="p_crowd_count",
        reward=crowd_count_reward,
        examples=COUNT_ROWS,
        good=["<answer>87</answer>", "31 rows of 40.\n<answer>1240</answer>"],
        bad=["<answer>78</answer>", "<answer>1200</answer>"],
        fault="only plain digits are read, so the right count '1,240', which the prompt allows, is refused",
        proof=_proof("p_crowd_count", crowd_count_reward),
    ),
]

REPAIRED = {
    "p_parallel_tool_calls": tool_call_reward_repaired,
    "p_agent_run_tests": agent_tests_reward_repaired,
    "p_cited_answer": cited_answer_reward_repaired,
    "p_usmle_choice": usmle_choice_reward_repaired,
    "p_squad_abstain": squad_v2_reward_repaired,
    "p_ticket_topics": ticket_topics_reward_repaired,
    "p_ui_placeholders": ui_translation_reward_repaired,
    "p_echr_articles": echr_articles_reward_repaired,
    "p_detection_boxes": detection_reward_repaired,
    "p_crowd_count": crowd_count_reward_repaired,
}
