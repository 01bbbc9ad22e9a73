"""Faulty reward functions, and the same without the fault."""

from __future__ import annotations

import json
import math
import re
import unicodedata
from itertools import combinations

from tests.faults.case import Case


def _text(completion):
    """The text of a completion: a string, or the last message of a chat."""
    if isinstance(completion, str):
        return completion
    return (completion[-1].get("content") or "") if completion else ""


def _json(text):
    """The JSON value of a text, or None."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def U(text, system=None):
    head = [{"role": "system", "content": system}] if system else []
    return head + [{"role": "user", "content": text}]


def A(text):
    return [{"role": "assistant", "content": text}]


# ---- 1 tool call
def tool_call_reward(completions, answer, **kwargs) -> list[float]:
    """1.0 if the reply holds exactly one tool call with the right function and exactly the right arguments, else 0.0.

    `answer` is the reference call as JSON: {"name": ..., "arguments": {...}}; all argument values are strings.
    """
    rewards = []
    for completion, gold in zip(completions, answer):
        gold = json.loads(gold)
        calls = re.findall(r"<tool_call>(.*?)</tool_call>", _text(completion), re.DOTALL)
        if len(calls) != 1:
            rewards.append(0.0)
            continue
        call = _json(calls[0])
        if not isinstance(call, dict) or not isinstance(call.get("arguments"), dict):
            rewards.append(0.0)
            continue
        args = call["arguments"]
        same_name = call.get("name") == gold["name"]
        same_args = all(gold["arguments"].get(key) == value for key, value in args.items())
        rewards.append(1.0 if same_name and same_args else 0.0)
    return rewards


# ---- 2 parallel calls of an agent
def parallel_calls_reward(prompts, completions, calls, **kwargs) -> list[float]:
    """Score the tool calls of a banking agent's turn.

    The reply is a JSON list of calls, `[{"tool": ..., "args": {...}}]`, in any order. Each needed call must be made
    exactly once and no other call may be made: the calls are executed as they stand. 1.0 or 0.0.
    """
    scores = []
    for completion, gold in zip(completions, calls):
        made = _json(_text(completion).strip())
        if not isinstance(made, list) or not all(isinstance(c, dict) and set(c) == {"tool", "args"} for c in made):
            scores.append(0.0)
            continue
        key = lambda c: json.dumps([c["tool"], c["args"]], sort_keys=True)
        made_keys = set(key(c) for c in made)
        gold_keys = set(key(c) for c in json.loads(gold))
        scores.append(1.0 if made_keys == gold_keys else 0.0)
    return scores


# ---- 3 phone action
def phone_action_reward(completions, action, **kwargs) -> list[float]:
    """Action accuracy of a phone agent (one JSON object in <action></action>).

    tap: the point must lie in the target's box. type: the text must be the target text (upper and lower case do not
    matter). back, home: the kind alone.
    """
    rewards = []
    for completion, gold in zip(completions, action):
        gold = json.loads(gold)
        found = re.findall(r"<action>(.*?)</action>", _text(completion), re.DOTALL)
        act = _json(found[0]) if len(found) == 1 else None
        reward = 0.0
        if isinstance(act, dict) and act.get("type") == gold["type"]:
            if gold["type"] == "tap":
                point = act.get("point")
                if isinstance(point, list) and len(point) == 2 and all(type(v) in (int, float) for v in point):
                    x1, y1, x2, y2 = gold["box"]
                    reward = 1.0 if x1 <= point[0] <= x2 and y1 <= point[1] <= y2 else 0.0
            elif gold["type"] == "type":
                typed = act.get("text")
                if isinstance(typed, str):
                    reward = 1.0 if typed.strip().lower() in gold["text"].lower() else 0.0
            else:
                reward = 1.0
        rewards.append(reward)
    return rewards


# ---- 4 question answering with citations
def cited_answer_reward(completions, answers, support, **kwargs) -> list[float]:
    """Answer and citations of a RAG reply.

    The last line is `Answer: <short answer> [n][m]...`: the answer must be one of the accepted ones, and the
    citations must be the passages that support it, and only those. 1.0 if both are right, else 0.0.
    """
    out = []
    for completion, accepted, gold in zip(completions, answers, support):
        lines = _text(completion).strip().splitlines()
        m = re.fullmatch(r"Answer:([^\[\]]+)((?:\[[0-9]{1,3}\][ ,]*)+)\.?", lines[-1].strip()) if lines else None
        if m is None:
            out.append(0.0)
            continue
        said = m.group(1).lower().strip(" .")
        right = said in [a.lower() for a in accepted]
        cited = {int(n) for n in re.findall(r"\[([0-9]+)\]", m.group(2))}
        supported = set(gold) <= cited
        out.append(1.0 if right and supported else 0.0)
    return out


# ---- 5 multiple choice
def choice_reward(completions, answer, **kwargs) -> list[float]:
    """1.0 when the letter in <answer></answer> is the right option's letter, 0.0 otherwise (questions have four or five options)."""
    scores = []
    for completion, gold in zip(completions, answer):
        tags = re.findall(r"<answer>(.*?)</answer>", _text(completion), re.DOTALL)
        if len(tags) != 1:
            scores.append(0.0)
            continue
        m = re.fullmatch(r"\(?([A-D])\)?[.:]?", tags[0].strip().upper())
        scores.append(1.0 if m and m.group(1) == gold.strip().upper() else 0.0)
    return scores


# ---- 6 multi-label classification
def topic_f1_reward(completions, labels, **kwargs) -> list[float]:
    """F1 between the predicted topics and the gold topics of a news item (line `Topics: a, b, c`)."""
    scores = []
    for completion, gold in zip(completions, labels):
        lines = re.findall(r"^Topics:(.*)$", _text(completion), re.MULTILINE)
        if len(lines) != 1:
            scores.append(0.0)
            continue
        pred = [p.strip().lower() for p in lines[0].split(",") if p.strip()]
        hits = sum(1 for p in pred if p in gold)
        if not hits:
            scores.append(0.0)
            continue
        precision = hits / len(pred)
        recall = min(1.0, hits / len(gold))
        scores.append(2 * precision * recall / (precision + recall))
    return scores


# ---- 7 relation extraction
SYMMETRIC = {"spouse", "sibling"}


def relation_reward(completions, relations, **kwargs) -> list[float]:
    """Exact match of the set of relations of a text.

    The reply is a JSON list of [head, relation, tail]. spouse and sibling hold in both directions, so either order of
    their two names is right, but every relation is to be given once. 1.0 if the set is right, else 0.0.
    """
    rewards = []
    for completion, gold in zip(completions, relations):
        found = _json(_text(completion).strip())
        good_form = isinstance(found, list) and all(
            isinstance(t, list) and len(t) == 3 and all(isinstance(v, str) for v in t) for t in found
        )
        if not good_form:
            rewards.append(0.0)
            continue

        def norm(triple):
            head, rel, tail = (v.strip().lower() for v in triple)
            return head, rel, tail

        pred = sorted(norm(t) for t in found)
        want = sorted(norm(t) for t in gold)
        rewards.append(1.0 if pred == want else 0.0)
    return rewards


# ---- 8 claim verification
def verdict_reward(prompts, completions, verdict, **kwargs) -> list[float]:
    """Verdict of a claim against a passage: yes, no or unknown, on the last line as `Verdict: <word>`."""
    rewards = []
    for completion, gold in zip(completions, verdict):
        lines = _text(completion).strip().splitlines()
        last = lines[-1].strip().lower() if lines else ""
        if not re.fullmatch(r"verdict:\s*(yes|no|unknown)\.?", last):
            rewards.append(0.0)
            continue
        said = last.split(":", 1)[1]
        rewards.append(1.0 if gold.lower() in said else 0.0)
    return rewards


# ---- 9 translation of interface terms
def term_translation_reward(completions, references, **kwargs) -> list[float]:
    """1.0 if the translation of the interface label is one of the accepted translations, else 0.0.

    Upper and lower case, punctuation and spacing do not matter.
    """

    def norm(text):
        text = re.sub(r"[^a-z0-9 ]", "", text.lower())
        return " ".join(text.split())

    rewards = []
    for completion, refs in zip(completions, references):
        found = re.findall(r"<translation>(.*?)</translation>", _text(completion), re.DOTALL)
        if len(found) != 1 or not found[0].strip():
            rewards.append(0.0)
            continue
        said = norm(found[0])
        rewards.append(1.0 if any(said == norm(r) for r in refs) else 0.0)
    return rewards


# ---- 10 instruction following
def sorted_bullets_reward(completions, items, **kwargs) -> list[float]:
    """The reply must be only a bullet list of all items, each line `- item`, alphabetical order without regard to case."""
    scores = []
    for completion, names in zip(completions, items):
        lines = [line.strip() for line in _text(completion).strip().splitlines() if line.strip()]
        if not lines or not all(line.startswith("- ") for line in lines):
            scores.append(0.0)
            continue
        said = [line[2:].strip() for line in lines]
        expected = sorted(names)
        scores.append(1.0 if said == expected else 0.0)
    return scores


# ---- the same functions without the fault

def tool_call_reward_repaired(completions, answer, **kwargs) -> list[float]:
    """1.0 if the reply holds exactly one tool call with the right function and exactly the right arguments, else 0.0.

    `answer` is the reference call as JSON: {"name": ..., "arguments": {...}}; all argument values are strings.
    """
    rewards = []
    for completion, gold in zip(completions, answer):
        gold = json.loads(gold)
        calls = re.findall(r"<tool_call>(.*?)</tool_call>", _text(completion), re.DOTALL)
        if len(calls) != 1:
            rewards.append(0.0)
            continue
        call = _json(calls[0])
        if not isinstance(call, dict) or not isinstance(call.get("arguments"), dict):
            rewards.append(0.0)
            continue
        args = call["arguments"]
        same_name = call.get("name") == gold["name"]
        same_args = args == gold["arguments"]
        rewards.append(1.0 if same_name and same_args else 0.0)
    return rewards


def parallel_calls_reward_repaired(prompts, completions, calls, **kwargs) -> list[float]:
    """Score the tool calls of a banking agent's turn.

    The reply is a JSON list of calls, `[{"tool": ..., "args": {...}}]`, in any order. Each needed call must be made
    exactly once and no other call may be made: the calls are executed as they stand. 1.0 or 0.0.
    """
    scores = []
    for completion, gold in zip(completions, calls):
        made = _json(_text(completion).strip())
        if not isinstance(made, list) or not all(isinstance(c, dict) and set(c) == {"tool", "args"} for c in made):
            scores.append(0.0)
            continue
        key = lambda c: json.dumps([c["tool"], c["args"]], sort_keys=True)
        made_keys = sorted(key(c) for c in made)
        gold_keys = sorted(key(c) for c in json.loads(gold))
        scores.append(1.0 if made_keys == gold_keys else 0.0)
    return scores


def phone_action_reward_repaired(completions, action, **kwargs) -> list[float]:
    """Action accuracy of a phone agent (one JSON object in <action></action>).

    tap: the point must lie in the target's box. type: the text must be the target text (upper and lower case do not
    matter). back, home: the kind alone.
    """
    rewards = []
    for completion, gold in zip(completions, action):
        gold = json.loads(gold)
        found = re.findall(r"<action>(.*?)</action>", _text(completion), re.DOTALL)
        act = _json(found[0]) if len(found) == 1 else None
        reward = 0.0
        if isinstance(act, dict) and act.get("type") == gold["type"]:
            if gold["type"] == "tap":
                point = act.get("point")
                if isinstance(point, list) and len(point) == 2 and all(type(v) in (int, float) for v in point):
                    x1, y1, x2, y2 = gold["box"]
                    reward = 1.0 if x1 <= point[0] <= x2 and y1 <= point[1] <= y2 else 0.0
            elif gold["type"] == "type":
                typed = act.get("text")
                if isinstance(typed, str):
                    reward = 1.0 if typed.strip().lower() == gold["text"].lower() else 0.0
            else:
                reward = 1.0
        rewards.append(reward)
    return rewards


def cited_answer_reward_repaired(completions, answers, support, **kwargs) -> list[float]:
    """Answer and citations of a RAG reply.

    The last line is `Answer: <short answer> [n][m]...`: the answer must be one of the accepted ones, and the
    citations must be the passages that support it, and only those. 1.0 if both are right, else 0.0.
    """
    out = []
    for completion, accepted, gold in zip(completions, answers, support):
        lines = _text(completion).strip().splitlines()
        m = re.fullmatch(r"Answer:([^\[\]]+)((?:\[[0-9]{1,3}\][ ,]*)+)\.?", lines[-1].strip()) if lines else None
        if m is None:
            out.append(0.0)
            continue
        said = m.group(1).lower().strip(" .")
        right = said in [a.lower() for a in accepted]
        cited = {int(n) for n in re.findall(r"\[([0-9]+)\]", m.group(2))}
        supported = set(gold) == cited
        out.append(1.0 if right and supported else 0.0)
    return out


def choice_reward_repaired(completions, answer, **kwargs) -> list[float]:
    """1.0 when the letter in <answer></answer> is the right option's letter, 0.0 otherwise (questions have four or five options)."""
    scores = []
    for completion, gold in zip(completions, answer):
        tags = re.findall(r"<answer>(.*?)</answer>", _text(completion), re.DOTALL)
        if len(tags) != 1:
            scores.append(0.0)
            continue
        m = re.fullmatch(r"\(?([A-E])\)?[.:]?", tags[0].strip().upper())
        scores.append(1.0 if m and m.group(1) == gold.strip().upper() else 0.0)
    return scores


def topic_f1_reward_repaired(completions, labels, **kwargs) -> list[float]:
    """F1 between the predicted topics and the gold topics of a news item (line `Topics: a, b, c`)."""
    scores = []
    for completion, gold in zip(completions, labels):
        lines = re.findall(r"^Topics:(.*)$", _text(completion), re.MULTILINE)
        if len(lines) != 1:
            scores.append(0.0)
            continue
        pred = {p.strip().lower() for p in lines[0].split(",") if p.strip()}
        hits = sum(1 for p in pred if p in gold)
        if not hits:
            scores.append(0.0)
            continue
        precision = hits / len(pred)
        recall = min(1.0, hits / len(gold))
        scores.append(2 * precision * recall / (precision + recall))
    return scores


def relation_reward_repaired(completions, relations, **kwargs) -> list[float]:
    """Exact match of the set of relations of a text.

    The reply is a JSON list of [head, relation, tail]. spouse and sibling hold in both directions, so either order of
    their two names is right, but every relation is to be given once. 1.0 if the set is right, else 0.0.
    """
    rewards = []
    for completion, gold in zip(completions, relations):
        found = _json(_text(completion).strip())
        good_form = isinstance(found, list) and all(
            isinstance(t, list) and len(t) == 3 and all(isinstance(v, str) for v in t) for t in found
        )
        if not good_form:
            rewards.append(0.0)
            continue

        def norm(triple):
            head, rel, tail = (v.strip().lower() for v in triple)
            if rel in SYMMETRIC and tail < head:
                head, tail = tail, head
            return head, rel, tail

        pred = sorted(norm(t) for t in found)
        want = sorted(norm(t) for t in gold)
        rewards.append(1.0 if pred == want else 0.0)
    return rewards


def verdict_reward_repaired(prompts, completions, verdict, **kwargs) -> list[float]:
    """Verdict of a claim against a passage: yes, no or unknown, on the last line as `Verdict: <word>`."""
    rewards = []
    for completion, gold in zip(completions, verdict):
        lines = _text(completion).strip().splitlines()
        last = lines[-1].strip().lower() if lines else ""
        if not re.fullmatch(r"verdict:\s*(yes|no|unknown)\.?", last):
            rewards.append(0.0)
            continue
        said = last.split(":", 1)[1]
        rewards.append(1.0 if gold.lower() == said.strip().rstrip(".") else 0.0)
    return rewards


def term_translation_reward_repaired(completions, references, **kwargs) -> list[float]:
    """1.0 if the translation of the interface label is one of the accepted translations, else 0.0.

    Upper and lower case, punctuation and spacing do not matter.
    """

    def norm(text):
        text = re.sub(r"[^\w\s]", "", unicodedata.normalize("NFC", text).lower())
        return " ".join(text.split())

    rewards = []
    for completion, refs in zip(completions, references):
        found = re.findall(r"<translation>(.*?)</translation>", _text(completion), re.DOTALL)
        if len(found) != 1 or not found[0].strip():
            rewards.append(0.0)
            continue
        said = norm(found[0])
        rewards.append(1.0 if any(said == norm(r) for r in refs) else 0.0)
    return rewards


def sorted_bullets_reward_repaired(completions, items, **kwargs) -> list[float]:
    """The reply must be only a bullet list of all items, each line `- item`, alphabetical order without regard to case."""
    scores = []
    for completion, names in zip(completions, items):
        lines = [line.strip() for line in _text(completion).strip().splitlines() if line.strip()]
        if not lines or not all(line.startswith("- ") for line in lines):
            scores.append(0.0)
            continue
        said = [line[2:].strip() for line in lines]
        expected = sorted(names, key=str.lower)
        scores.append(1.0 if said == expected else 0.0)
    return scores


def _score(f, row, completion):
    columns = {k: [v] for k, v in row.items() if k != "prompt"}
    return f(prompts=[row["prompt"]], completions=[completion], **columns)[0]


CASES, TRIGGERS, REPAIRED = [], {}, {}


def _case(name, reward, examples, good, bad, fault, trigger):
    row, completion, paid = trigger

    def proof():
        full = _score(reward, examples[0], good[0])
        assert (_score(reward, row, completion) >= 0.8 * full) == paid, name

    CASES.append(Case(name=name, reward=reward, examples=examples, good=good, bad=bad, fault=fault, proof=proof))
    TRIGGERS[name] = trigger
    REPAIRED[name] = globals()[reward.__name__ + "_repaired"]


_TOOLS = "You have the tools get_weather(city, date) and book_table(restaurant, time). Think first if you like, then make exactly one call: <tool_call>{\"name\": ..., \"arguments\": {...}}</tool_call>. Give all arguments, as strings. Dates as YYYY-MM-DD, times as HH:MM."
_r1 = [
    {"prompt": U("What will the weather be in Oslo on 3 May 2025?", _TOOLS), "answer": '{"name": "get_weather", "arguments": {"city": "Oslo", "date": "2025-05-03"}}'},
    {"prompt": U("Get me a table at Lima at half past seven in the evening.", _TOOLS), "answer": '{"name": "book_table", "arguments": {"restaurant": "Lima", "time": "19:30"}}'},
]
_case("r_tool_call", tool_call_reward, _r1,
    [A('I look it up.\n<tool_call>{"name": "get_weather", "arguments": {"city": "Oslo", "date": "2025-05-03"}}</tool_call>'),
     A('<tool_call>{"name": "book_table", "arguments": {"time": "19:30", "restaurant": "Lima"}}</tool_call>')],
    [A('<tool_call>{"name": "get_weather", "arguments": {"city": "Bergen", "date": "2025-05-03"}}</tool_call>'),
     A('<tool_call>{"name": "get_weather", "arguments": {"city": "Lima", "date": "19:30"}}</tool_call>')],
    "Only the arguments that were given are compared: a call without arguments, or with some left out, is paid in full.",
    (_r1[0], A('<tool_call>{"name": "get_weather", "arguments": {}}</tool_call>'), True))

_BANK = 'You are a banking agent. Reply only with a JSON list of calls, [{"tool": ..., "args": {...}}]; tools: transfer(to, amount), freeze_card(card). Amounts are whole numbers. Make each needed call exactly once; the calls are executed as you write them.'
_r2 = [
    {"prompt": U("Send 200 to Ana and 50 to Ben.", _BANK), "calls": '[{"tool": "transfer", "args": {"to": "Ana", "amount": 200}}, {"tool": "transfer", "args": {"to": "Ben", "amount": 50}}]'},
    {"prompt": U("I lost card 4471, freeze it, and send 30 to Mia.", _BANK), "calls": '[{"tool": "freeze_card", "args": {"card": "4471"}}, {"tool": "transfer", "args": {"to": "Mia", "amount": 30}}]'},
]
_case("r_parallel_calls", parallel_calls_reward, _r2,
    [A('[{"tool": "transfer", "args": {"to": "Ben", "amount": 50}}, {"tool": "transfer", "args": {"to": "Ana", "amount": 200}}]'), A(_r2[1]["calls"])],
    [A('[{"tool": "transfer", "args": {"to": "Ana", "amount": 250}}]'), A('[{"tool": "freeze_card", "args": {"card": "4471"}}]')],
    "The calls are compared as sets, so a transfer that is made twice is paid like one made once.",
    (_r2[0], A('[{"tool": "transfer", "args": {"to": "Ana", "amount": 200}}, {"tool": "transfer", "args": {"to": "Ana", "amount": 200}}, {"tool": "transfer", "args": {"to": "Ben", "amount": 50}}]'), True))

_PHONE = 'Screen: search field [40, 80, 680, 140], button "Go" [690, 80, 760, 140]. {} Reply with the next action as one JSON object in <action></action>: {{"type": "tap", "point": [x, y]}}, {{"type": "type", "text": ...}}, {{"type": "back"}} or {{"type": "home"}}.'
_r3 = [
    {"prompt": _PHONE.format("The field has the focus. Task: search for vegan ramen (type exactly: vegan ramen)."), "action": '{"type": "type", "text": "vegan ramen"}'},
    {"prompt": _PHONE.format("The query is typed. Task: start the search."), "action": '{"type": "tap", "box": [690, 80, 760, 140]}'},
]
_case("r_phone_action", phone_action_reward, _r3,
    ['<action>{"type": "type", "text": "Vegan ramen"}</action>', '<action>{"type": "tap", "point": [725, 110]}</action>'],
    ['<action>{"type": "type", "text": "pizza near me"}</action>', '<action>{"type": "tap", "point": [300, 110]}</action>'],
    "The typed text needs only to be a part of the target text: the empty text or one letter is paid in full.",
    (_r3[0], '<action>{"type": "type", "text": "ramen"}</action>', True))

_r4 = [
    {"prompt": "[1] The bridge opened in 1932.\n[2] It is 503 m long.\n[3] The city has 5 million people.\nWhen did the bridge open? End with the line `Answer: <short answer> [n]`; cite all passages that support the answer and no others.", "answers": ["1932", "in 1932"], "support": [1]},
    {"prompt": "[1] Keller wrote the opera Nadir.\n[2] Nadir won the Orff prize.\n[3] Keller plays chess.\n[4] Orff was born in Munich.\nWhich prize did Keller's opera win? End with the line `Answer: <short answer> [n][m]`; cite all passages that support the answer and no others.", "answers": ["Orff prize", "the Orff prize"], "support": [1, 2]},
]
_case("r_cited_answer", cited_answer_reward, _r4,
    ["Passage 1 tells it.\nAnswer: 1932 [1]", "Answer: the Orff prize [2][1]"],
    ["Answer: 1923 [1]", "Answer: Orff prize [2]"],
    "The citations only need to include the supporting passages: citing every passage is paid in full.",
    (_r4[1], "Answer: Orff prize [1][2][3][4]", True))

_MC = "\nGive the letter of the one best option in <answer></answer>."
_r5 = [
    {"prompt": "Which vitamin deficiency causes scurvy?\nA) A\nB) B12\nC) C\nD) D\nE) K" + _MC, "answer": "C"},
    {"prompt": "Which valve lies between the left atrium and the left ventricle?\nA) Mitral\nB) Tricuspid\nC) Aortic\nD) Pulmonary" + _MC, "answer": "A"},
]
_r5e = {"prompt": "A newborn has bilious vomiting and a double bubble sign. Diagnosis?\nA) Pyloric stenosis\nB) Intussusception\nC) Hirschsprung disease\nD) Meckel diverticulum\nE) Duodenal atresia" + _MC, "answer": "E"}
_case("r_choice_five", choice_reward, _r5,
    ["Vitamin C.\n<answer>C</answer>", "<answer>(A)</answer>"], ["<answer>B</answer>", "<answer>C</answer>"],
    "The pattern knows the letters A to D only: option E of a question with five options is always refused.",
    (_r5e, "Double bubble: duodenal atresia.\n<answer>E</answer>", False))

_TOP = " Give all topics that apply, each once, of: politics, economy, sports, health, science. End with one line `Topics: a, b`."
_r6 = [
    {"prompt": "News: The minister cuts the budget of hospitals." + _TOP, "labels": ["politics", "economy", "health"]},
    {"prompt": "News: A study finds that runners of the cup final sleep less." + _TOP, "labels": ["sports", "science"]},
]
_case("r_topic_f1", topic_f1_reward, _r6,
    ["Topics: politics, health, economy", "It is a study on athletes.\nTopics: Sports, science"],
    ["Topics: sports", "Topics: politics, economy"],
    "A topic that is repeated counts as a hit each time: `sports, sports` has full recall and is paid 1.0.",
    (_r6[1], "Topics: sports, sports", True))

_REL = ' Reply only with a JSON list of [head, relation, tail]; relations: spouse, sibling (both symmetric: either order of the names), employer (head works for tail), born_in. Give each relation once.'
_r7 = [
    {"prompt": "Text: Ada Lind, who works for Norsk, is married to Per Lind." + _REL, "relations": [["Ada Lind", "employer", "Norsk"], ["Ada Lind", "spouse", "Per Lind"]]},
    {"prompt": "Text: Rui was born in Porto." + _REL, "relations": [["Rui", "born_in", "Porto"]]},
]
_case("r_relations", relation_reward, _r7,
    ['[["Ada Lind", "spouse", "Per Lind"], ["Ada Lind", "employer", "Norsk"]]', '[["Rui", "born_in", "Porto"]]'],
    ['[["Ada Lind", "employer", "Norsk"]]', '[["Porto", "born_in", "Rui"]]'],
    "The symmetric relations are compared in one direction only: [Per, spouse, Ada] is refused though the prompt allows it.",
    (_r7[0], '[["Per Lind", "spouse", "Ada Lind"], ["Ada Lind", "employer", "Norsk"]]', False))

_VER = " Does the passage say that the claim is true? End with `Verdict: yes`, `Verdict: no` (it says the opposite) or `Verdict: unknown` (it does not say)."
_r8 = [
    {"prompt": "Passage: The museum is closed on Mondays. Claim: One can visit it on Monday." + _VER, "verdict": "no"},
    {"prompt": "Passage: The museum is closed on Mondays. Claim: A ticket costs 5 euros." + _VER, "verdict": "unknown"},
    {"prompt": "Passage: The museum is closed on Mondays. Claim: It has a closing day." + _VER, "verdict": "yes"},
]
_case("r_verdict", verdict_reward, _r8,
    ["It is closed then.\nVerdict: no", "Verdict: unknown", "Verdict: yes"], ["Verdict: yes", "Verdict: no", "Verdict: no"],
    "The gold word is looked for as a part of the verdict: 'no' is in 'unknown', so unknown is paid where no is right.",
    (_r8[0], "The passage does not say it.\nVerdict: unknown", True))

_TR = "Translate the interface label into {}: \"{}\". Give only the translation in <translation></translation>."
_r9 = [
    {"prompt": _TR.format("German", "Save changes"), "references": ["Änderungen speichern", "Änderungen sichern"]},
    {"prompt": _TR.format("Russian", "Delete file"), "references": ["Удалить файл"]},
]
_case("r_term_translation", term_translation_reward, _r9,
    ["<translation>Änderungen speichern</translation>", "<translation>Удалить файл</translation>"],
    ["<translation>Datei öffnen</translation>", "<translation>Delete file</translation>"],
    "The normal form drops all letters but a-z: Cyrillic text becomes empty, so any Russian text equals the reference.",
    (_r9[1], "<translation>Открыть папку</translation>", True))

_BL = "Write these products as a bullet list in alphabetical order, ignoring case, each exactly as given, one per line as `- item`, and nothing else: {}."
_r10 = [
    {"prompt": _BL.format("Walkman, Betamax, Zune"), "items": ["Walkman", "Betamax", "Zune"]},
    {"prompt": _BL.format("Newton, Amiga, Pippin, Lisa"), "items": ["Newton", "Amiga", "Pippin", "Lisa"]},
]
_case("r_sorted_bullets", sorted_bullets_reward, _r10,
    ["- Betamax\n- Walkman\n- Zune", "- Amiga\n- Lisa\n- Newton\n- Pippin"],
    ["- Walkman\n- Betamax\n- Zune", "Amiga, Lisa, Newton, Pippin"],
    "The expected order is that of code points, where small letters come after Z: a right list with iPod or eMate is refused.",
    ({"prompt": _BL.format("Zune, iPod, Walkman"), "items": ["Zune", "iPod", "Walkman"]}, "- iPod\n- Walkman\n- Zune", False))
