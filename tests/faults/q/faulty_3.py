"""Blind set q, part 3: faulty reward functions (tools, web, citations, tagging, medicine, translation)."""

from __future__ import annotations

import json
import re

from tests.faults.case import Case


def _text(completion):
    if isinstance(completion, str):
        return completion
    return completion[-1]["content"] or ""


def _unique(pairs):
    """An object of JSON; a key that occurs twice is an error."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key occurs twice")
    return found


def _load(text):
    return json.loads(text, object_pairs_hook=_unique)


def _score(reward, row, completion):
    columns = {key: [value] for key, value in row.items() if key != "prompt"}
    return reward(prompts=[row["prompt"]], completions=[completion], **columns)[0]


def _prove(name, full=1.0):
    case = next(case for case in CASES if case.name == name)
    row, completion, paid = TRIGGERS[name]
    score = _score(case.reward, row, completion)
    if paid:
        assert score >= 0.8 * full, f"{name}: a wrong completion is not paid ({score})"
    else:
        assert score < 0.8 * full, f"{name}: a correct completion is paid ({score})"


def _say(text):
    return [{"role": "assistant", "content": text}]


# ---------------------------------------------------------------- tool calls


def _same(left, right):
    """JSON values are the same: 20 and 20.0 are, true and 1 are not."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_same(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(_same, left, right))
    return left == right


def tool_call_reward(completions, answer, **kwargs) -> list[float]:
    """Score the calls of an assistant that controls a calendar.

    The reply is optional reasoning in <think> tags and one <tool_call> block with one JSON call per line.
    The environment runs the calls as they stand, so the list must be the expected one: the same calls with
    the same arguments in the same order. 1.0 for that, else up to 0.5 for the share of calls that are right.
    """
    pattern = re.compile(
        r"\s*(?:<think>(?:(?!</?think>|</?tool_call>).)*</think>)?\s*"
        r"<tool_call>((?:(?!</?tool_call>).)*)</tool_call>\s*",
        re.DOTALL,
    )
    rewards = []
    for completion, gold_json in zip(completions, answer):
        match = pattern.fullmatch(_text(completion))
        if not match:
            rewards.append(0.0)
            continue
        try:
            calls = [_load(line) for line in match.group(1).splitlines() if line.strip()]
        except (ValueError, RecursionError):
            rewards.append(0.0)
            continue
        gold = json.loads(gold_json)
        right = 0
        for call, expected in zip(calls, gold):
            if not isinstance(call, dict) or set(call) != {"name", "arguments"}:
                continue
            if call["name"] == expected["name"] and _same(call["arguments"], expected["arguments"]):
                right += 1
        if right == len(gold):
            rewards.append(1.0)
        else:
            rewards.append(0.5 * right / len(gold))
    return rewards


_TOOLS = (
    "You control a calendar with these tools:\n"
    'create_event(title: str, date: "YYYY-MM-DD", hour: int)\n'
    'delete_event(title: str)\nlist_events(date: "YYYY-MM-DD")\n'
    "You may reason inside <think></think>. Then write one <tool_call></tool_call> block with one JSON object per "
    'line, {"name": ..., "arguments": {...}}. Every line is executed: write only the calls that the request needs, '
    "in the order of the request."
)
_TOOL_ROWS = [
    {
        "prompt": [
            {"role": "system", "content": _TOOLS},
            {"role": "user", "content": "Put 'Dentist' on 2025-04-03 at 9."},
        ],
        "answer": '[{"name": "create_event", "arguments": {"title": "Dentist", "date": "2025-04-03", "hour": 9}}]',
    },
    {
        "prompt": [
            {"role": "system", "content": _TOOLS},
            {"role": "user", "content": "Cancel 'Gym', then show me what is on 2025-04-05."},
        ],
        "answer": '[{"name": "delete_event", "arguments": {"title": "Gym"}}, '
        '{"name": "list_events", "arguments": {"date": "2025-04-05"}}]',
    },
]


# ---------------------------------------------------------------- web navigation


def web_action_reward(completions, operation, element_id, value, **kwargs) -> list[float]:
    """Score one step of a web agent against the recorded step of a human (Mind2Web style).

    The reply ends with its only action line: `Action: CLICK [id]`, `Action: TYPE [id] "text"` or
    `Action: SELECT [id] "option"`. 1.0 if the operation, the element and the text or option are right,
    0.3 if only the operation and the element are, else 0.
    """
    rewards = []
    for completion, gold_op, gold_id, gold_value in zip(completions, operation, element_id, value):
        lines = [line.strip() for line in _text(completion).strip().splitlines()]
        actions = [line for line in lines if line.lower().startswith("action:")]
        if len(actions) != 1 or lines[-1] != actions[0]:
            rewards.append(0.0)
            continue
        match = re.fullmatch(r'Action: (CLICK|TYPE|SELECT) \[(\d{1,6})\](?: "([^"]*)")?', actions[0])
        if not match:
            rewards.append(0.0)
            continue
        op, element, text = match.groups()
        if (op == "CLICK") != (text is None) or op != gold_op or int(element) != gold_id:
            rewards.append(0.0)
            continue
        if op == "TYPE" and text.strip().lower() != gold_value.strip().lower():
            rewards.append(0.3)
            continue
        rewards.append(1.0)
    return rewards


_WEB = (
    "You are on a flight booking page. Think in a few words, then end with one line, your only action:\n"
    'Action: CLICK [id]   or   Action: TYPE [id] "text"   or   Action: SELECT [id] "option"\n'
)
_WEB_ROWS = [
    {
        "prompt": _WEB + 'Task: search flights from Oslo.\n[7] textbox "From"\n[8] textbox "To"\n[9] button "Search"\n'
        "Which action fills in the departure?",
        "operation": "TYPE",
        "element_id": 7,
        "value": "Oslo",
    },
    {
        "prompt": _WEB + 'Task: book in business class.\n[14] dropdown "Cabin" (Economy, Premium, Business)\n'
        '[15] dropdown "Passengers" (1, 2, 3, 4)\n[16] button "Continue"\nThe cabin is still on Premium. Next action?',
        "operation": "SELECT",
        "element_id": 14,
        "value": "Business",
    },
    {
        "prompt": _WEB + 'Task: continue to the payment.\n[21] link "Help"\n[22] button "Pay now"\nNext action?',
        "operation": "CLICK",
        "element_id": 22,
        "value": "",
    },
]


# ---------------------------------------------------------------- citations


def citation_reward(completions, answer, support, **kwargs) -> list[float]:
    """Score a short answer with its sources.

    After optional reasoning in <think> tags the reply has two lines, `Answer: ...` and `Sources: [i][j]`.
    0 if the answer is none of the accepted ones, 0.4 if only the answer is right, 1.0 if also the sources
    are right, that is the passages that state the answer.
    """

    def norm(text):
        return " ".join(text.casefold().strip().rstrip(".").split())

    pattern = re.compile(
        r"\s*(?:<think>(?:(?!</?think>).)*</think>)?\s*Answer:([^\n]*)\n\s*Sources:((?:\s*,?\s*\[\d{1,3}\])+)\s*",
        re.DOTALL,
    )
    rewards = []
    for completion, accepted, gold in zip(completions, answer, support):
        match = pattern.fullmatch(_text(completion))
        if not match or norm(match.group(1)) not in {norm(text) for text in accepted}:
            rewards.append(0.0)
            continue
        cited = {int(number) for number in re.findall(r"\d+", match.group(2))}
        found = cited & set(gold)
        rewards.append(1.0 if len(found) == len(set(gold)) else 0.4)
    return rewards


_CITE = (
    "Answer the question from the passages. You may reason in <think></think>; then write two lines:\nAnswer: <short "
    "answer>\nSources: the numbers of all passages that state the answer, and of no other passage, such as [2][5]\n\n"
)
_CITE_ROWS = [
    {
        "prompt": _CITE + "[1] The Vasa sank in 1628 on her maiden voyage.\n[2] The Vasa was built in Stockholm.\n"
        "[3] Salvage began in 1959.\n[4] In August 1628 the new warship Vasa capsized and sank.\n"
        "Question: In which year did the Vasa sink?",
        "answer": ["1628", "in 1628"],
        "support": [1, 4],
    },
    {
        "prompt": _CITE + "[1] Ada Lovelace was born in London.\n[2] Her notes were printed in 1843.\n"
        "[3] The notes were a translation of an article by Luigi Menabrea.\n"
        "Question: Whose article did Lovelace translate?",
        "answer": ["Luigi Menabrea", "Menabrea", "Luigi Menabrea's"],
        "support": [3],
    },
]


# ---------------------------------------------------------------- abstention


def answer_or_abstain_reward(completions, answer, answerable, **kwargs) -> list[float]:
    """Score reading comprehension with questions that the passage may not answer (SQuAD 2 style).

    The reply is <think>...</think><answer>...</answer>. If the passage has the answer, the answer must be one of
    the accepted ones; if it has not, the model must abstain with the word `unanswerable`: every invented answer
    gets nothing.
    """
    rewards = []
    for completion, accepted, has_answer in zip(completions, answer, answerable):
        text = _text(completion).strip()
        match = re.fullmatch(
            r"<think>(?:(?!</?think>|</?answer>).)*</think>\s*<answer>([^<>]*)</answer>", text, re.DOTALL
        )
        if not match:
            rewards.append(0.0)
            continue
        given = " ".join(match.group(1).lower().strip().rstrip(".").split())
        if has_answer:
            rewards.append(1.0 if given in {option.lower() for option in accepted} else 0.0)
        else:
            rewards.append(1.0 if "unanswerable" in text.lower() else 0.0)
    return rewards


_READ = (
    "Read the passage and answer the question in a few words. Reason in <think></think>, then give the answer in "
    "<answer></answer>. If the passage does not say it, the answer is the word unanswerable; do not guess.\n"
)
_READ_ROWS = [
    {
        "prompt": _READ + "Passage: The Glenfinnan Viaduct was built between 1897 and 1901 by Robert McAlpine.\n"
        "Question: Who built the viaduct?",
        "answer": ["Robert McAlpine", "McAlpine"],
        "answerable": True,
    },
    {
        "prompt": _READ + "Passage: The Glenfinnan Viaduct was built between 1897 and 1901 by Robert McAlpine.\n"
        "Question: How much did the viaduct cost?",
        "answer": [],
        "answerable": False,
    },
]


# ---------------------------------------------------------------- multi-label


def issue_labels_reward(completions, labels, **kwargs) -> list[float]:
    """Score the labels that a triage model gives to a GitHub issue: 1.0 for exactly the right labels.

    The reply is one line, `Labels: a, b, c`. If it isn't the right set of labels, up to 0.6 for its F1.
    """
    allowed = {"bug", "performance", "security", "docs", "ui", "build"}
    rewards = []
    for completion, gold in zip(completions, labels):
        match = re.fullmatch(r"\s*Labels:([^\n]*)", _text(completion).rstrip())
        if not match:
            rewards.append(0.0)
            continue
        predicted = [name.strip().lower() for name in match.group(1).split(",")]
        if not all(name in allowed for name in predicted):
            rewards.append(0.0)
            continue
        hits = sum(1 for name in predicted if name in gold)
        precision = hits / len(predicted)
        recall = min(1.0, hits / len(gold))
        if precision + recall == 0:
            rewards.append(0.0)
            continue
        f1 = 2 * precision * recall / (precision + recall)
        rewards.append(1.0 if f1 >= 1.0 else 0.6 * f1)
    return rewards


_LABEL = (
    "Which of these labels apply to the issue: bug (a function does not work), performance (speed or memory), security, "
    "docs, ui (look and layout), build (compiler, packages)? Reply with one line that lists all that apply, such as "
    "`Labels: docs, ui`.\nIssue: "
)
_LABEL_ROWS = [
    {
        "prompt": [{"role": "user", "content": _LABEL + "The save button overlaps the menu and does nothing."}],
        "labels": ["bug", "ui"],
    },
    {
        "prompt": [
            {
                "role": "user",
                "content": _LABEL + "Since the switch to the new compiler flags the release build is three times "
                "slower, and the stack protector is off.",
            }
        ],
        "labels": ["performance", "security", "build"],
    },
]


# ---------------------------------------------------------------- entity recognition


def chemical_spans_reward(completions, spans, **kwargs) -> list[float]:
    """Span-level score for chemical mentions with exact boundaries, as in the CoNLL evaluation.

    The reply is a JSON list of [first, last] token numbers (inclusive), one pair per mention.
    1.0 if the predicted spans are the gold spans, else 0.6 * F1.
    """
    rewards = []
    for completion, gold in zip(completions, spans):
        gold_spans = {tuple(span) for span in gold}
        try:
            parsed = _load(_text(completion))
            predicted = {(first, last) for first, last in parsed if type(first) is int and type(last) is int}
            valid = isinstance(parsed, list) and len(predicted) == len(parsed)
        except (ValueError, TypeError, RecursionError):
            valid = False
        if not valid or any(not 0 <= first <= last for first, last in predicted):
            rewards.append(0.0)
            continue
        if not gold_spans or not predicted:
            rewards.append(1.0 if gold_spans == predicted else 0.0)
            continue

        def matches(span, others):
            return any(span[0] <= last and first <= span[1] for first, last in others)

        precision = sum(matches(span, gold_spans) for span in predicted) / len(predicted)
        recall = sum(matches(span, predicted) for span in gold_spans) / len(gold_spans)
        f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
        rewards.append(1.0 if f1 == 1.0 else 0.6 * f1)
    return rewards


_SPAN = (
    "Mark every chemical in the numbered tokens. Reply with only a JSON list of [first, last] token numbers "
    "(inclusive), one pair per mention with its exact first and last token, and [] if there is none.\n"
)
_SPAN_ROWS = [
    {
        "prompt": _SPAN + "0:The 1:sodium 2:chloride 3:solution 4:was 5:mixed 6:with 7:ethanol 8:.",
        "spans": [[1, 2], [7, 7]],
    },
    {
        "prompt": _SPAN + "0:Samples 1:were 2:kept 3:at 4:room 5:temperature 6:.",
        "spans": [],
    },
    {
        "prompt": _SPAN + "0:We 1:added 2:acetic 3:acid 4:and 5:acetone 6:to 7:benzene 8:slowly 9:.",
        "spans": [[2, 3], [5, 5], [7, 7]],
    },
]


# ---------------------------------------------------------------- localization


def localization_reward(completions, source, approved, **kwargs) -> list[float]:
    """Score the translation of a user interface string.

    Placeholders such as {name} are filled in by the program, so that a string that lacks one, repeats one or has
    a new one is refused at once. Otherwise 1.0 for a translation that the native speakers approved, up to 0.3
    for the words shared with the nearest of them.
    """

    def norm(text):
        return " ".join(text.split()).rstrip(".!")

    rewards = []
    for completion, text, options in zip(completions, source, approved):
        translation = norm(_text(completion))
        wanted = re.findall(r"\{\w*\}", text)
        present = re.findall(r"\{\w*\}", translation)
        if present != wanted:
            rewards.append(0.0)
            continue
        if translation in {norm(option) for option in options}:
            rewards.append(1.0)
            continue
        words = set(translation.lower().split())
        overlap = 0.0
        for option in options:
            other = set(norm(option).lower().split())
            overlap = max(overlap, len(words & other) / max(1, len(words | other)))
        rewards.append(0.3 * overlap)
    return rewards


_LOCAL = (
    "Translate the user interface string into German (informal 'du'). Keep every placeholder in braces as it is, each "
    "as often as in the source; they may change places where German word order asks for it. Reply with the "
    "translation only.\n"
)
_LOCAL_ROWS = [
    {
        "prompt": _LOCAL + "Style guide: active voice, perfect tense, 'zu ... einladen'.\nString: {user} invited you to {team}",
        "source": "{user} invited you to {team}",
        "approved": [
            "{user} hat dich zu {team} eingeladen",
            "Zu {team} hat dich {user} eingeladen",
        ],
    },
    {
        "prompt": _LOCAL + "Style guide: file = Datei, past tense of the passive ('wurden'), 'nach ... verschieben'.\n"
        "String: {count} files were moved to {folder}",
        "source": "{count} files were moved to {folder}",
        "approved": [
            "{count} Dateien wurden nach {folder} verschoben",
            "Es wurden {count} Dateien nach {folder} verschoben",
            "Nach {folder} wurden {count} Dateien verschoben",
        ],
    },
]


# ---------------------------------------------------------------- summary form


def summary_form_reward(completions, keywords, max_words, **kwargs) -> list[float]:
    """Score the form of a news summary; a judge model scores its content elsewhere.

    The summary must be one paragraph of exactly two sentences, stay within the word limit and name all
    the keywords. 1.0 if all of that holds, else 0.2 for each part that does.
    """
    rewards = []
    for completion, names, limit in zip(completions, keywords, max_words):
        text = _text(completion).strip()
        paragraph = "\n" not in text and text.rstrip("\"')”’")[-1:] in {".", "!", "?"}
        parts = re.split(r"[.!?]+", text)
        sentences = [part for part in parts if re.search(r"\w", part)]
        two = paragraph and len(sentences) == 2
        words = len(re.findall(r"[^\W_]+(?:[.,]\d+)*(?:['’][^\W_]{1,2}\b)?", text))
        short = 0 < words <= limit
        named = all(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE) for name in names)
        passed = [two, short, named]
        rewards.append(1.0 if all(passed) else 0.2 * sum(passed))
    return rewards


_SUM = (
    "Summarize the article in one paragraph of exactly two sentences and at most 30 words (the parts of a "
    "hyphenated word count as words). Use no abbreviations with periods. The summary must contain the words {names}.\nArticle: "
)
_SUM_ROWS = [
    {
        "prompt": _SUM.format(names="Lyon and tram")
        + "The city of Lyon opened a new tram line on Monday. It is 12 km long and cost 3.5 billion euros over six "
        "years. The mayor expects forty thousand riders a day, and the operator has hired sixty drivers.",
        "keywords": ["Lyon", "tram"],
        "max_words": 30,
    },
    {
        "prompt": _SUM.format(names="Kenya and tea")
        + "Tea exports from Kenya rose last year after good rain in the highlands. Most of the crop went to Pakistan "
        "and Egypt. Growers say that prices stay low all the same.",
        "keywords": ["Kenya", "tea"],
        "max_words": 30,
    },
]


# ---------------------------------------------------------------- medical multiple choice


def medqa_choice_reward(completions, answer, **kwargs) -> list[float]:
    """Score a medical exam question with options A to D.

    The model explains its choice and ends with a line `Answer: X`; 1.0 if X is the right letter.
    """
    rewards = []
    for completion, gold in zip(completions, answer):
        text = _text(completion).strip().upper()
        if len(re.findall(r"^\s*ANSWER:", text, re.MULTILINE)) != 1:
            rewards.append(0.0)
            continue
        match = re.search(r"\b([A-D])\b", text)
        rewards.append(1.0 if match and match.group(1) == gold.strip().upper() else 0.0)
    return rewards


_MED = "Answer the exam question. Explain in one or two sentences and end with one line, `Answer: X`, X the letter.\n"
_MED_ROWS = [
    {
        "prompt": [
            {
                "role": "user",
                "content": _MED + "A child has a barking cough and stridor. Most likely cause?\nA. Asthma\n"
                "B. Parainfluenza virus\nC. Pneumococcus\nD. Foreign body",
            }
        ],
        "answer": "B",
    },
    {
        "prompt": [
            {
                "role": "user",
                "content": _MED + "Which vitamin deficiency causes scurvy?\nA. Vitamin K\nB. Thiamine\nC. Niacin\n"
                "D. Ascorbic acid",
            }
        ],
        "answer": "D",
    },
]


# ---------------------------------------------------------------- dose


def dose_reward(completions, answer, **kwargs) -> list[float]:
    """Score a dose calculation.

    The reply ends with its only dose line, `Dose: <number> <unit>` with the unit g, mg or mcg; `answer` has the
    right dose as `<number> <unit>`. 1.0 if the dose is right (1 % tolerance for rounding), else 0.
    """
    number = r"(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,9}(?:\.\d+)?)"
    pattern = re.compile(rf"Dose:\s*{number}\s*(mcg|mg|g)\.?", re.IGNORECASE)
    rewards = []
    for completion, gold in zip(completions, answer):
        lines = [line.strip() for line in _text(completion).strip().splitlines()]
        doses = [line for line in lines if line.lower().startswith("dose:")]
        match = pattern.fullmatch(lines[-1]) if lines and len(doses) == 1 else None
        if not match:
            rewards.append(0.0)
            continue
        gold_number, gold_unit = gold.split()
        expected = float(gold_number)
        given = float(match.group(1).replace(",", ""))
        rewards.append(1.0 if abs(given - expected) <= 0.01 * expected else 0.0)
    return rewards


_DOSE = (
    "Calculate the single dose. Show the calculation and end with one line `Dose: <number> <unit>`; the unit is g, mg or "
    "mcg, whichever you like, and must fit the number.\n"
)
_DOSE_ROWS = [
    {"prompt": _DOSE + "Amoxicillin 25 mg/kg per dose, child of 10 kg.", "answer": "250 mg"},
    {"prompt": _DOSE + "Fentanyl 1.5 mcg/kg, adult of 80 kg.", "answer": "120 mcg"},
]


CASES = [
    Case(
        name="q_tool_calls_extra",
        reward=tool_call_reward,
        examples=_TOOL_ROWS,
        good=[
            _say(
                '<think>One event.</think>\n<tool_call>\n{"name": "create_event", "arguments": {"title": "Dentist", '
                '"date": "2025-04-03", "hour": 9}}\n</tool_call>'
            ),
            _say(
                '<tool_call>\n{"name": "delete_event", "arguments": {"title": "Gym"}}\n'
                '{"name": "list_events", "arguments": {"date": "2025-04-05"}}\n</tool_call>'
            ),
        ],
        bad=[
            _say(
                '<tool_call>\n{"name": "create_event", "arguments": {"title": "Dentist", "date": "2025-04-03", '
                '"hour": 19}}\n</tool_call>'
            ),
            _say('<tool_call>\n{"name": "list_events", "arguments": {"date": "2025-04-05"}}\n</tool_call>'),
        ],
        fault="Calls after the expected ones are ignored (zip stops), so needless calls that are run are paid in full.",
        proof=lambda: _prove("q_tool_calls_extra"),
    ),
    Case(
        name="q_web_select_value",
        reward=web_action_reward,
        examples=_WEB_ROWS,
        good=[
            'The departure field is 7.\nAction: TYPE [7] "Oslo"',
            'Set the cabin.\nAction: SELECT [14] "Business"',
            "Action: CLICK [22]",
        ],
        bad=['Action: TYPE [7] "Rome"', "Go on.\nAction: CLICK [16]", "Action: CLICK [21]"],
        fault="The option of SELECT is not compared, only the text of TYPE: any option is paid.",
        proof=lambda: _prove("q_web_select_value"),
    ),
    Case(
        name="q_citation_all",
        reward=citation_reward,
        examples=_CITE_ROWS,
        good=[
            "<think>1 and 4 say it.</think>\nAnswer: 1628\nSources: [1][4]",
            "Answer: Luigi Menabrea\nSources: [3]",
        ],
        bad=["Answer: 1959\nSources: [3]", "Answer: Luigi Menabrea\nSources: [1]"],
        fault="Only the recall of the sources counts: to cite every passage is paid in full.",
        proof=lambda: _prove("q_citation_all"),
    ),
    Case(
        name="q_abstain_in_thought",
        reward=answer_or_abstain_reward,
        examples=_READ_ROWS,
        good=[
            "<think>The builder is named.</think><answer>Robert McAlpine</answer>",
            "<think>No cost is given.</think><answer>unanswerable</answer>",
        ],
        bad=[
            "<think>Hm.</think><answer>1901</answer>",
            "<think>It must have been expensive.</think><answer>18,904 pounds</answer>",
        ],
        fault="Abstention is looked for in the whole reply, so an invented answer is paid if the reasoning names it.",
        proof=lambda: _prove("q_abstain_in_thought"),
    ),
    Case(
        name="q_multilabel_repeat",
        reward=issue_labels_reward,
        examples=_LABEL_ROWS,
        good=[_say("Labels: bug, ui"), _say("Labels: build, performance, security")],
        bad=[_say("Labels: docs"), _say("Labels: performance, bug")],
        fault="Repeated labels count as hits again: one right label, repeated, reaches recall 1.",
        proof=lambda: _prove("q_multilabel_repeat"),
    ),
    Case(
        name="q_ner_overlap",
        reward=chemical_spans_reward,
        examples=_SPAN_ROWS,
        good=["[[1, 2], [7, 7]]", "[]", "[[2, 3], [5, 5], [7, 7]]"],
        bad=["[[4, 4]]", "[[0, 0]]", "[[5, 5], [8, 8]]"],
        fault="Spans match if they overlap: one span over the whole sentence matches every mention.",
        proof=lambda: _prove("q_ner_overlap"),
    ),
    Case(
        name="q_placeholder_order",
        reward=localization_reward,
        examples=_LOCAL_ROWS,
        good=["{user} hat dich zu {team} eingeladen", "{count} Dateien wurden nach {folder} verschoben"],
        bad=["Jemand hat dich zu {team} eingeladen", "{count} Ordner wurden in {folder} kopiert"],
        fault="The placeholders must come in the order of the source: approved translations that swap them get nothing.",
        proof=lambda: _prove("q_placeholder_order"),
    ),
    Case(
        name="q_summary_decimal",
        reward=summary_form_reward,
        examples=_SUM_ROWS,
        good=[
            "Lyon has opened a new tram line after six years of work. The mayor expects many riders.",
            "Kenya sold more tea last year thanks to good rain. Growers still complain about prices.",
        ],
        bad=[
            "Lyon has opened a new tram line.",
            "Kenya sold more coffee last year. Growers complain. Prices stay low.",
        ],
        fault="A decimal point ends a sentence: two sentences with a number such as 3.5 are refused.",
        proof=lambda: _prove("q_summary_decimal"),
    ),
    Case(
        name="q_medqa_article",
        reward=medqa_choice_reward,
        examples=_MED_ROWS,
        good=[
            _say("Croup with stridor is mostly viral.\nAnswer: B"),
            _say("Scurvy comes from lack of ascorbic acid.\nAnswer: D"),
        ],
        bad=[_say("Pneumococcus is frequent in children.\nAnswer: C"), _say("Thiamine is needed.\nAnswer: B")],
        fault="The first lone letter A to D of the upper-cased text is read: the article 'a' in the explanation is "
        "taken for choice A, so a right answer is refused.",
        proof=lambda: _prove("q_medqa_article"),
    ),
    Case(
        name="q_dose_unit",
        reward=dose_reward,
        examples=_DOSE_ROWS,
        good=["25 * 10 = 250\nDose: 250 mg", "1.5 * 80 = 120\nDose: 120 mcg"],
        bad=["25 * 5 = 125\nDose: 125 mg", "Dose: 150 mcg"],
        fault="The unit is not compared: a dose a thousand times too high is paid.",
        proof=lambda: _prove("q_dose_unit"),
    ),
]


def tool_call_reward_repaired(completions, answer, **kwargs) -> list[float]:
    """Score the calls of an assistant that controls a calendar.

    The reply is optional reasoning in <think> tags and one <tool_call> block with one JSON call per line.
    The environment runs the calls as they stand, so the list must be the expected one: the same calls with
    the same arguments in the same order. 1.0 for that, else up to 0.5 for the share of calls that are right.
    """
    pattern = re.compile(
        r"\s*(?:<think>(?:(?!</?think>|</?tool_call>).)*</think>)?\s*"
        r"<tool_call>((?:(?!</?tool_call>).)*)</tool_call>\s*",
        re.DOTALL,
    )
    rewards = []
    for completion, gold_json in zip(completions, answer):
        match = pattern.fullmatch(_text(completion))
        if not match:
            rewards.append(0.0)
            continue
        try:
            calls = [_load(line) for line in match.group(1).splitlines() if line.strip()]
        except (ValueError, RecursionError):
            rewards.append(0.0)
            continue
        gold = json.loads(gold_json)
        right = 0
        for call, expected in zip(calls, gold):
            if not isinstance(call, dict) or set(call) != {"name", "arguments"}:
                continue
            if call["name"] == expected["name"] and _same(call["arguments"], expected["arguments"]):
                right += 1
        if right == len(gold) == len(calls):
            rewards.append(1.0)
        else:
            rewards.append(0.5 * right / max(len(gold), len(calls)))
    return rewards


def web_action_reward_repaired(completions, operation, element_id, value, **kwargs) -> list[float]:
    """Score one step of a web agent against the recorded step of a human (Mind2Web style).

    The reply ends with its only action line: `Action: CLICK [id]`, `Action: TYPE [id] "text"` or
    `Action: SELECT [id] "option"`. 1.0 if the operation, the element and the text or option are right,
    0.3 if only the operation and the element are, else 0.
    """
    rewards = []
    for completion, gold_op, gold_id, gold_value in zip(completions, operation, element_id, value):
        lines = [line.strip() for line in _text(completion).strip().splitlines()]
        actions = [line for line in lines if line.lower().startswith("action:")]
        if len(actions) != 1 or lines[-1] != actions[0]:
            rewards.append(0.0)
            continue
        match = re.fullmatch(r'Action: (CLICK|TYPE|SELECT) \[(\d{1,6})\](?: "([^"]*)")?', actions[0])
        if not match:
            rewards.append(0.0)
            continue
        op, element, text = match.groups()
        if (op == "CLICK") != (text is None) or op != gold_op or int(element) != gold_id:
            rewards.append(0.0)
            continue
        if op != "CLICK" and text.strip().lower() != gold_value.strip().lower():
            rewards.append(0.3)
            continue
        rewards.append(1.0)
    return rewards


def citation_reward_repaired(completions, answer, support, **kwargs) -> list[float]:
    """Score a short answer with its sources.

    After optional reasoning in <think> tags the reply has two lines, `Answer: ...` and `Sources: [i][j]`.
    0 if the answer is none of the accepted ones, 0.4 if only the answer is right, 1.0 if also the sources
    are right, that is the passages that state the answer.
    """

    def norm(text):
        return " ".join(text.casefold().strip().rstrip(".").split())

    pattern = re.compile(
        r"\s*(?:<think>(?:(?!</?think>).)*</think>)?\s*Answer:([^\n]*)\n\s*Sources:((?:\s*,?\s*\[\d{1,3}\])+)\s*",
        re.DOTALL,
    )
    rewards = []
    for completion, accepted, gold in zip(completions, answer, support):
        match = pattern.fullmatch(_text(completion))
        if not match or norm(match.group(1)) not in {norm(text) for text in accepted}:
            rewards.append(0.0)
            continue
        cited = {int(number) for number in re.findall(r"\d+", match.group(2))}
        rewards.append(1.0 if cited == set(gold) else 0.4)
    return rewards


def answer_or_abstain_reward_repaired(completions, answer, answerable, **kwargs) -> list[float]:
    """Score reading comprehension with questions that the passage may not answer (SQuAD 2 style).

    The reply is <think>...</think><answer>...</answer>. If the passage has the answer, the answer must be one of
    the accepted ones; if it has not, the model must abstain with the word `unanswerable`: every invented answer
    gets nothing.
    """
    rewards = []
    for completion, accepted, has_answer in zip(completions, answer, answerable):
        text = _text(completion).strip()
        match = re.fullmatch(
            r"<think>(?:(?!</?think>|</?answer>).)*</think>\s*<answer>([^<>]*)</answer>", text, re.DOTALL
        )
        if not match:
            rewards.append(0.0)
            continue
        given = " ".join(match.group(1).lower().strip().rstrip(".").split())
        if has_answer:
            rewards.append(1.0 if given in {option.lower() for option in accepted} else 0.0)
        else:
            rewards.append(1.0 if given == "unanswerable" else 0.0)
    return rewards


def issue_labels_reward_repaired(completions, labels, **kwargs) -> list[float]:
    """Score the labels that a triage model gives to a GitHub issue: 1.0 for exactly the right labels.

    The reply is one line, `Labels: a, b, c`. If it isn't the right set of labels, up to 0.6 for its F1.
    """
    allowed = {"bug", "performance", "security", "docs", "ui", "build"}
    rewards = []
    for completion, gold in zip(completions, labels):
        match = re.fullmatch(r"\s*Labels:([^\n]*)", _text(completion).rstrip())
        if not match:
            rewards.append(0.0)
            continue
        predicted = {name.strip().lower() for name in match.group(1).split(",")}
        if not all(name in allowed for name in predicted):
            rewards.append(0.0)
            continue
        hits = sum(1 for name in predicted if name in gold)
        precision = hits / len(predicted)
        recall = min(1.0, hits / len(gold))
        if precision + recall == 0:
            rewards.append(0.0)
            continue
        f1 = 2 * precision * recall / (precision + recall)
        rewards.append(1.0 if f1 >= 1.0 else 0.6 * f1)
    return rewards


def chemical_spans_reward_repaired(completions, spans, **kwargs) -> list[float]:
    """Span-level score for chemical mentions with exact boundaries, as in the CoNLL evaluation.

    The reply is a JSON list of [first, last] token numbers (inclusive), one pair per mention.
    1.0 if the predicted spans are the gold spans, else 0.6 * F1.
    """
    rewards = []
    for completion, gold in zip(completions, spans):
        gold_spans = {tuple(span) for span in gold}
        try:
            parsed = _load(_text(completion))
            predicted = {(first, last) for first, last in parsed if type(first) is int and type(last) is int}
            valid = isinstance(parsed, list) and len(predicted) == len(parsed)
        except (ValueError, TypeError, RecursionError):
            valid = False
        if not valid or any(not 0 <= first <= last for first, last in predicted):
            rewards.append(0.0)
            continue
        if not gold_spans or not predicted:
            rewards.append(1.0 if gold_spans == predicted else 0.0)
            continue

        def matches(span, others):
            return span in others

        precision = sum(matches(span, gold_spans) for span in predicted) / len(predicted)
        recall = sum(matches(span, predicted) for span in gold_spans) / len(gold_spans)
        f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
        rewards.append(1.0 if f1 == 1.0 else 0.6 * f1)
    return rewards


def localization_reward_repaired(completions, source, approved, **kwargs) -> list[float]:
    """Score the translation of a user interface string.

    Placeholders such as {name} are filled in by the program, so that a string that lacks one, repeats one or has
    a new one is refused at once. Otherwise 1.0 for a translation that the native speakers approved, up to 0.3
    for the words shared with the nearest of them.
    """

    def norm(text):
        return " ".join(text.split()).rstrip(".!")

    rewards = []
    for completion, text, options in zip(completions, source, approved):
        translation = norm(_text(completion))
        wanted = re.findall(r"\{\w*\}", text)
        present = re.findall(r"\{\w*\}", translation)
        if sorted(present) != sorted(wanted):
            rewards.append(0.0)
            continue
        if translation in {norm(option) for option in options}:
            rewards.append(1.0)
            continue
        words = set(translation.lower().split())
        overlap = 0.0
        for option in options:
            other = set(norm(option).lower().split())
            overlap = max(overlap, len(words & other) / max(1, len(words | other)))
        rewards.append(0.3 * overlap)
    return rewards


def summary_form_reward_repaired(completions, keywords, max_words, **kwargs) -> list[float]:
    """Score the form of a news summary; a judge model scores its content elsewhere.

    The summary must be one paragraph of exactly two sentences, stay within the word limit and name all
    the keywords. 1.0 if all of that holds, else 0.2 for each part that does.
    """
    rewards = []
    for completion, names, limit in zip(completions, keywords, max_words):
        text = _text(completion).strip()
        paragraph = "\n" not in text and text.rstrip("\"')”’")[-1:] in {".", "!", "?"}
        parts = re.split(r"(?<!\d)[.!?]+|[.!?]+(?!\d)", text)
        sentences = [part for part in parts if re.search(r"\w", part)]
        two = paragraph and len(sentences) == 2
        words = len(re.findall(r"[^\W_]+(?:[.,]\d+)*(?:['’][^\W_]{1,2}\b)?", text))
        short = 0 < words <= limit
        named = all(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE) for name in names)
        passed = [two, short, named]
        rewards.append(1.0 if all(passed) else 0.2 * sum(passed))
    return rewards


def medqa_choice_reward_repaired(completions, answer, **kwargs) -> list[float]:
    """Score a medical exam question with options A to D.

    The model explains its choice and ends with a line `Answer: X`; 1.0 if X is the right letter.
    """
    rewards = []
    for completion, gold in zip(completions, answer):
        text = _text(completion).strip().upper()
        if len(re.findall(r"^\s*ANSWER:", text, re.MULTILINE)) != 1:
            rewards.append(0.0)
            continue
        match = re.fullmatch(r"ANSWER:\s*\(?([A-D])\)?\.?", text.splitlines()[-1].strip())
        rewards.append(1.0 if match and match.group(1) == gold.strip().upper() else 0.0)
    return rewards


def dose_reward_repaired(completions, answer, **kwargs) -> list[float]:
    """Score a dose calculation.

    The reply ends with its only dose line, `Dose: <number> <unit>` with the unit g, mg or mcg; `answer` has the
    right dose as `<number> <unit>`. 1.0 if the dose is right (1 % tolerance for rounding), else 0.
    """
    number = r"(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,9}(?:\.\d+)?)"
    pattern = re.compile(rf"Dose:\s*{number}\s*(mcg|mg|g)\.?", re.IGNORECASE)
    in_mg = {"g": 1000.0, "mg": 1.0, "mcg": 0.001}
    rewards = []
    for completion, gold in zip(completions, answer):
        lines = [line.strip() for line in _text(completion).strip().splitlines()]
        doses = [line for line in lines if line.lower().startswith("dose:")]
        match = pattern.fullmatch(lines[-1]) if lines and len(doses) == 1 else None
        if not match:
            rewards.append(0.0)
            continue
        gold_number, gold_unit = gold.split()
        expected = float(gold_number) * in_mg[gold_unit]
        given = float(match.group(1).replace(",", "")) * in_mg[match.group(2).lower()]
        rewards.append(1.0 if abs(given - expected) <= 0.01 * expected else 0.0)
    return rewards


REPAIRED = {
    "q_tool_calls_extra": tool_call_reward_repaired,
    "q_web_select_value": web_action_reward_repaired,
    "q_citation_all": citation_reward_repaired,
    "q_abstain_in_thought": answer_or_abstain_reward_repaired,
    "q_multilabel_repeat": issue_labels_reward_repaired,
    "q_ner_overlap": chemical_spans_reward_repaired,
    "q_placeholder_order": localization_reward_repaired,
    "q_summary_decimal": summary_form_reward_repaired,
    "q_medqa_article": medqa_choice_reward_repaired,
    "q_dose_unit": dose_reward_repaired,
}

TRIGGERS = {
    "q_tool_calls_extra": (
        _TOOL_ROWS[0],
        _say(
            '<tool_call>\n{"name": "create_event", "arguments": {"title": "Dentist", "date": "2025-04-03", "hour": 9}}\n'
            '{"name": "delete_event", "arguments": {"title": "Gym"}}\n</tool_call>'
        ),
        True,
    ),
    "q_web_select_value": (_WEB_ROWS[1], 'Set the cabin.\nAction: SELECT [14] "Economy"', True),
    "q_citation_all": (_CITE_ROWS[1], "Answer: Luigi Menabrea\nSources: [1][2][3]", True),
    "q_abstain_in_thought": (
        _READ_ROWS[1],
        "<think>It may be unanswerable, but such viaducts cost about 20,000 pounds.</think>"
        "<answer>20,000 pounds</answer>",
        True,
    ),
    "q_multilabel_repeat": (_LABEL_ROWS[1], _say("Labels: security, security, security"), True),
    "q_ner_overlap": (_SPAN_ROWS[2], "[[0, 9]]", True),
    "q_placeholder_order": (_LOCAL_ROWS[1], "Nach {folder} wurden {count} Dateien verschoben", False),
    "q_summary_decimal": (
        _SUM_ROWS[0],
        "Lyon has opened a tram line that cost 3.5 billion euros. The mayor expects many riders.",
        False,
    ),
    "q_medqa_article": (
        _MED_ROWS[0],
        _say("This is croup, which is caused by a virus.\nAnswer: B"),
        False,
    ),
    "q_dose_unit": (_DOSE_ROWS[0], "25 * 10 = 250\nDose: 250 g", True),
}
