"""Sound reward functions."""

from __future__ import annotations

import json
import re
import unicodedata
from datetime import date
from decimal import Decimal, InvalidOperation
from itertools import combinations

from tests.faults.case import Case


def _text(completion):
    """The text of a completion: a string, or the last message of a chat."""
    if isinstance(completion, str):
        return completion
    return (completion[-1].get("content") or "") if completion else ""


def _unique(pairs):
    if len({key for key, _ in pairs}) != len(pairs):
        raise ValueError("a key is given twice")
    return dict(pairs)


def _constant(name):
    raise ValueError(name)


def _json(text):
    """The JSON value that the text is, bare or in one code fence; None if it is none or names a key twice."""
    text = text.strip()
    fence = re.fullmatch(r"```(?:json)?\s*\n(.*?)\n\s*```", text, re.DOTALL)
    try:
        return json.loads(fence.group(1) if fence else text, object_pairs_hook=_unique, parse_constant=_constant)
    except (ValueError, RecursionError):
        return None


def _final(text, label):
    """What stands after the label on the last line; None if the label is not there or begins two lines."""
    lines = [re.sub(r"[*`]", "", line).strip() for line in text.splitlines() if line.strip()]
    marked = [line for line in lines if line.lower().startswith(label.lower() + ":")]
    if len(marked) != 1 or lines[-1] != marked[0]:
        return None
    return marked[0][len(label) + 1 :].strip()


def _plain(text):
    """Case, width, and spacing made equal."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def U(text, system=None):
    head = [{"role": "system", "content": system}] if system else []
    return head + [{"role": "user", "content": text}]


def A(text):
    return [{"role": "assistant", "content": text}]


CASES = []


def _case(name, reward, examples, good, bad):
    CASES.append(Case(name=name, reward=reward, examples=examples, good=good, bad=bad))


# ---- 1 agent with tool messages
def order_agent_reward(completions, order_id, answer, **kwargs) -> list[float]:
    """Outcome of a support agent's talk with its tools.

    The completion is the whole run: assistant messages (with tool_calls), tool messages, and a last assistant message
    that ends with `Answer: ...`. 1.0 if the order was looked up (lookup_order with its id), at most four calls were
    made, none of them a refund, and the answer is right. Else 0.0.
    """
    rewards = []
    for completion, wanted, gold in zip(completions, order_id, answer):
        if isinstance(completion, str) or not completion:
            rewards.append(0.0)
            continue
        if completion[-1].get("role") != "assistant" or completion[-1].get("tool_calls"):
            rewards.append(0.0)
            continue
        calls = []
        for message in completion:
            if message.get("role") == "assistant":
                calls += [call.get("function") or {} for call in message.get("tool_calls") or []]
        looked_up = False
        for call in calls:
            args = call.get("arguments")
            if isinstance(args, str):
                args = _json(args)
            if call.get("name") == "lookup_order" and isinstance(args, dict):
                looked_up = looked_up or args == {"order_id": wanted}
        names = [call.get("name") for call in calls]
        said = _final(_text(completion), "Answer")
        right = said is not None and _plain(said).rstrip(".") == _plain(gold)
        rewards.append(1.0 if looked_up and len(calls) <= 4 and "refund" not in names and right else 0.0)
    return rewards


# ---- 2 parallel calls
def calendar_calls_reward(completions, calls, **kwargs) -> list[float]:
    """1.0 if the JSON list of calls is the needed one, in any order but each call once; half the share of right calls otherwise.

    A call that is not needed, or made again, takes a right one away.
    """

    def key(call):
        if not isinstance(call, dict) or set(call) != {"name", "arguments"} or not isinstance(call["arguments"], dict):
            return None
        return json.dumps([call["name"], call["arguments"]], sort_keys=True)

    scores = []
    for completion, gold in zip(completions, calls):
        made = _json(_text(completion))
        if not isinstance(made, list):
            scores.append(0.0)
            continue
        keys = [key(call) for call in made]
        open_calls = [key(call) for call in json.loads(gold)]
        needed, extra = len(open_calls), 0
        for k in keys:
            if k is not None and k in open_calls:
                open_calls.remove(k)
            else:
                extra += 1
        if not open_calls and not extra:
            scores.append(1.0)
        else:
            scores.append(0.5 * max(0, needed - len(open_calls) - extra) / needed)
    return scores


# ---- 3 web action
ACTION = re.compile(r"(?:(click) \[([0-9]{1,4})\]|(type) \[([0-9]{1,4})\] \[(.*)\]|(stop) \[(.*)\])", re.IGNORECASE)


def web_action_reward(completions, action, **kwargs) -> list[float]:
    """1.0 if the action on the last line is the right one.

    `click [id]`, `type [id] [text]` or `stop [answer]`; for text and answer neither case nor spacing matters. The reply
    has exactly one line that starts with `Action:`.
    """

    def parse(line):
        m = ACTION.fullmatch(line.strip())
        if m is None:
            return None
        if m.group(1):
            return "click", int(m.group(2)), ""
        if m.group(3):
            return "type", int(m.group(4)), _plain(m.group(5))
        return "stop", -1, _plain(m.group(7))

    rewards = []
    for completion, gold in zip(completions, action):
        said = _final(_text(completion), "Action")
        got = parse(said) if said is not None else None
        rewards.append(1.0 if got is not None and got == parse(gold) else 0.0)
    return rewards


# ---- 4 search agent, exact match
def search_em_reward(completions, golden_answers, **kwargs) -> list[float]:
    """Exact match of the text in the one <answer></answer> at the end with one of the golden answers (1.0 or 0.0).

    As usual for open questions: articles, punctuation, case and spacing do not matter.
    """

    def norm(text):
        text = unicodedata.normalize("NFKC", text).casefold()
        text = "".join(c for c in text if not unicodedata.category(c).startswith("P"))
        words = text.split()
        while len(words) > 1 and words[0] in ("the", "a", "an"):
            words = words[1:]
        return " ".join(words)

    rewards = []
    for completion, golds in zip(completions, golden_answers):
        text = _text(completion).strip()
        m = re.search(r"<answer>([^<>]*)</answer>$", text)
        if m is None or text.count("<answer>") != 1 or text.count("</answer>") != 1:
            rewards.append(0.0)
            continue
        said = norm(m.group(1))
        rewards.append(1.0 if said and any(said == norm(g) for g in golds) else 0.0)
    return rewards


# ---- 5 citations of claims
def claim_support_reward(completions, support, **kwargs) -> list[float]:
    """Which passages support which claim: one JSON object from claim id to the list of passage numbers.

    1.0 if all claims have exactly their passages (an empty list if none supports them), else 0.0.
    """
    scores = []
    for completion, gold in zip(completions, support):
        gold = json.loads(gold)
        said = _json(_text(completion))
        if not isinstance(said, dict) or set(said) != set(gold):
            scores.append(0.0)
            continue
        right = True
        for claim, passages in gold.items():
            cited = said[claim]
            if not isinstance(cited, list) or not all(type(n) is int for n in cited):
                right = False
            elif sorted(cited) != sorted(passages):
                right = False
        scores.append(1.0 if right else 0.0)
    return scores


# ---- 6 multiple choice with several right options
def multi_choice_reward(completions, correct, **kwargs) -> list[float]:
    """1.0 if the letters on the last line `Answer: A, C` are all the right ones and no others, else 0.0."""
    rewards = []
    for completion, gold in zip(completions, correct):
        said = _final(_text(completion), "Answer")
        if said is None or not re.fullmatch(r"\(?[A-Fa-f]\)?(?:(?:\s*,\s*(?:and\s+)?|\s+and\s+|\s+)\(?[A-Fa-f]\)?)*\.?", said):
            rewards.append(0.0)
            continue
        letters = re.findall(r"\b[A-Fa-f]\b", said)
        rewards.append(1.0 if {x.upper() for x in letters} == set(gold) else 0.0)
    return rewards


# ---- 7 yes, no, or not stated
def policy_question_reward(completions, label, **kwargs) -> list[float]:
    """Answer to a yes/no question on an insurance text: yes, no, or not stated.

    1.0 for the right label, 0.2 for 'not stated' where the text does answer, 0.0 for anything else.
    """
    rewards = []
    for completion, gold in zip(completions, label):
        said = _final(_text(completion), "Answer")
        said = _plain(said).rstrip(".").strip() if said is not None else ""
        if said not in ("yes", "no", "not stated"):
            rewards.append(0.0)
        elif said == gold:
            rewards.append(1.0)
        else:
            rewards.append(0.2 if said == "not stated" else 0.0)
    return rewards


# ---- 8 multi-label classification
EMOTIONS = {"anger", "joy", "fear", "sadness", "surprise", "disgust"}


def emotion_reward(completions, emotions, **kwargs) -> list[float]:
    """Emotions of a message as a JSON list of labels: 1.0 for the exact set, else half the Jaccard overlap.

    A label that is not in the list of the prompt, or that is given twice, makes the reply worth nothing.
    """
    scores = []
    for completion, gold in zip(completions, emotions):
        said = _json(_text(completion))
        if not isinstance(said, list) or not all(isinstance(label, str) for label in said):
            scores.append(0.0)
            continue
        labels = [label.strip().lower() for label in said]
        if len(set(labels)) != len(labels) or not set(labels) <= EMOTIONS:
            scores.append(0.0)
            continue
        pred, want = set(labels), set(gold)
        if pred == want:
            scores.append(1.0)
        else:
            scores.append(0.5 * len(pred & want) / len(pred | want))
    return scores


# ---- 9 entity extraction
def entity_reward(prompts, completions, text, entities, **kwargs) -> list[float]:
    """Entities of a text as a JSON list of {"text", "type"}, in the order of the text, one for every mention.

    1.0 if the list is exactly right, else 0.6 times the F1 over mentions (each gold mention can be found once).
    """
    scores = []
    for completion, source, gold in zip(completions, text, entities):
        said = _json(_text(completion))
        well_formed = isinstance(said, list) and all(
            isinstance(e, dict) and set(e) == {"text", "type"} and all(isinstance(v, str) for v in e.values()) for e in said
        )
        if not well_formed:
            scores.append(0.0)
            continue
        pred = [(e["text"].strip(), e["type"].strip().upper()) for e in said]
        want = [tuple(e) for e in gold]
        if pred == want:
            scores.append(1.0)
            continue
        left = list(want)
        hits = 0
        for entity in pred:
            if entity in left and entity[0] in source:
                left.remove(entity)
                hits += 1
        scores.append(0.6 * 2 * hits / (len(pred) + len(want)) if pred or want else 0.0)
    return scores


# ---- 10 medical coding
def icd_set_reward(completions, codes, **kwargs) -> list[float]:
    """1.0 if the ICD-10-CM codes on the last line `Codes: ...` are those of the discharge note, else 0.0.

    They are parted by commas, in any order, each once; the dot and the case do not matter.
    """
    rewards = []
    for completion, gold in zip(completions, codes):
        said = _final(_text(completion), "Codes")
        if said is None:
            rewards.append(0.0)
            continue
        parts = [p.strip().upper() for p in said.rstrip(".").split(",")]
        if not all(re.fullmatch(r"[A-Z][0-9][0-9A-Z](?:\.?[0-9A-Z]{1,4})?", p) for p in parts):
            rewards.append(0.0)
            continue
        pred = sorted(p.replace(".", "") for p in parts)
        rewards.append(1.0 if pred == sorted(c.replace(".", "") for c in gold) else 0.0)
    return rewards


_AG = 'You are a support agent with the tools lookup_order(order_id) and refund(order_id). The order must be looked up before you answer; never refund; at most four calls. End your last message with the line `Answer: <status>`, the status as the tool gives it, and begin no other line with "Answer:".'


def _run(order, status, said):
    return [
        {"role": "assistant", "content": "", "tool_calls": [{"type": "function", "function": {"name": "lookup_order", "arguments": json.dumps({"order_id": order})}}]},
        {"role": "tool", "name": "lookup_order", "content": json.dumps({"status": status})},
        {"role": "assistant", "content": said},
    ]


_case("r_sound_order_agent", order_agent_reward,
    [{"prompt": U("Where is my order A-17?", _AG), "order_id": "A-17", "answer": "in transit"},
     {"prompt": U("And what about B-02?", _AG), "order_id": "B-02", "answer": "delivered"}],
    [_run("A-17", "in transit", "It is on its way.\nAnswer: in transit"), _run("B-02", "delivered", "Answer: Delivered")],
    [A("Answer: in transit"), _run("B-20", "cancelled", "Answer: cancelled")])

_CAL = 'Tools: add_event(title, date, hour), delete_event(id). Reply only with a JSON list of the calls needed, each once: [{"name": ..., "arguments": {...}}]; title, date (YYYY-MM-DD) and id are strings, hour is a whole number; give all arguments and the titles as quoted.'
_case("r_sound_calendar_calls", calendar_calls_reward,
    [{"prompt": U('Add "Dentist" on 2 June 2025 at 9 and delete event e7.', _CAL), "calls": '[{"name": "add_event", "arguments": {"title": "Dentist", "date": "2025-06-02", "hour": 9}}, {"name": "delete_event", "arguments": {"id": "e7"}}]'},
     {"prompt": U("Delete event e1.", _CAL), "calls": '[{"name": "delete_event", "arguments": {"id": "e1"}}]'}],
    [A('[{"name": "delete_event", "arguments": {"id": "e7"}}, {"name": "add_event", "arguments": {"hour": 9, "title": "Dentist", "date": "2025-06-02"}}]'),
     A('```json\n[{"name": "delete_event", "arguments": {"id": "e1"}}]\n```')],
    [A('[{"name": "delete_event", "arguments": {"id": "e7"}}]'), A('[{"name": "delete_event", "arguments": {"id": "e2"}}]')])

_WEB = 'Page: [12] search box, [13] button "Search", [20] link "Cart". {} Think if you like; end with one line `Action: click [id]`, `Action: type [id] [text]` or `Action: stop [answer]`, and begin no other line with "Action:".'
_case("r_sound_web_action", web_action_reward,
    [{"prompt": _WEB.format('Task: search for "usb hub"; nothing is typed yet. Type it in.'), "action": "type [12] [usb hub]"},
     {"prompt": _WEB.format("Task: open the cart."), "action": "click [20]"},
     {"prompt": _WEB.format("Task: what does the link [20] say?"), "action": "stop [Cart]"}],
    ["I type the words.\nAction: type [12] [usb hub]", "Action: click [20]", "Action: stop [cart]"],
    ["Action: type [13] [usb hub]", "Action: click [13]", "Action: stop [Search]"])

_SQ = "Answer the question; you may think in <think></think>. End with the short answer alone in <answer></answer>. Question: "
_case("r_sound_search_em", search_em_reward,
    [{"prompt": _SQ + "Which band made Tommy?", "golden_answers": ["The Who", "Who"]},
     {"prompt": _SQ + "In which city was Mozart born?", "golden_answers": ["Salzburg"]}],
    ["<think>A rock opera of 1969.</think>\n<answer>The Who</answer>", "<answer>Salzburg.</answer>"],
    ["<answer>The Kinks</answer>", "<answer>Vienna or Salzburg</answer>"])

_CL = ' For each claim list the numbers of all passages that support it, each once, as one JSON object {"c1": [..], "c2": [..]} and nothing else; [] if none does.'
_case("r_sound_claim_support", claim_support_reward,
    [{"prompt": "[1] Bats hunt at night. [2] Bats are mammals. [3] At night, bats find moths. c1: Bats are active at night. c2: Bats are birds." + _CL, "support": '{"c1": [1, 3], "c2": []}'},
     {"prompt": "[1] Tea has caffeine. [2] Tea is grown in Assam. c1: Tea comes from Assam. c2: Tea has caffeine." + _CL, "support": '{"c1": [2], "c2": [1]}'}],
    ['{"c1": [3, 1], "c2": []}', '{"c1": [2], "c2": [1]}'], ['{"c1": [1, 2, 3], "c2": []}', '{"c1": [2], "c2": []}'])

_MS = ' Several options may be right. End with one line `Answer: ` and all right letters, parted by commas, such as `Answer: A, C`; begin no other line with "Answer:".'
_case("r_sound_multi_choice", multi_choice_reward,
    [{"prompt": U("Which are prime? A) 2 B) 9 C) 11 D) 15" + _MS), "correct": ["A", "C"]},
     {"prompt": U("Which are noble gases? A) Neon B) Nitrogen C) Oxygen D) Argon E) Xenon" + _MS), "correct": ["A", "D", "E"]}],
    [A("9 and 15 can be divided by 3.\nAnswer: C, A"), A("**Answer:** A, D and E")], [A("Answer: A, B, C, D"), A("Answer: A, D")])

_PQ = ' Does the text answer it? End with the line `Answer: yes`, `Answer: no` or `Answer: not stated`, and begin no other line with "Answer:".'
_case("r_sound_policy_question", policy_question_reward,
    [{"prompt": "Policy: Glass is covered. Flood is excluded. Question: Is flood covered?" + _PQ, "label": "no"},
     {"prompt": "Policy: Glass is covered. Question: Is theft covered?" + _PQ, "label": "not stated"},
     {"prompt": "Policy: Glass is covered. Question: Is a broken window pane covered?" + _PQ, "label": "yes"}],
    ["It is excluded.\nAnswer: No", "Answer: not stated.", "Answer: yes"], ["Answer: not stated", "Answer: no", "Answer: no"])

_EM = " Give all emotions of the message, each once, from anger, joy, fear, sadness, surprise, disgust, as a JSON list of strings and nothing else; [] if there is none."
_case("r_sound_emotions", emotion_reward,
    [{"prompt": "Message: I can't believe we won, I'm so happy!" + _EM, "emotions": ["joy", "surprise"]},
     {"prompt": "Message: The meeting is at ten." + _EM, "emotions": []}],
    ['["surprise", "joy"]', "[]"], ['["joy"]', '["fear"]'])

_EN = ' List every mention of a person (PER), place (LOC) or organization (ORG), in the order of the text, as a JSON list of {"text": ..., "type": ...} and nothing else; the text as it stands there.'
_case("r_sound_entities", entity_reward,
    [{"prompt": "Text: Marie left Paris for Nokia." + _EN, "text": "Marie left Paris for Nokia.", "entities": [["Marie", "PER"], ["Paris", "LOC"], ["Nokia", "ORG"]]},
     {"prompt": "Text: Oslo is cold, but Oslo is fine." + _EN, "text": "Oslo is cold, but Oslo is fine.", "entities": [["Oslo", "LOC"], ["Oslo", "LOC"]]}],
    ['[{"text": "Marie", "type": "PER"}, {"text": "Paris", "type": "LOC"}, {"text": "Nokia", "type": "ORG"}]', '[{"text": "Oslo", "type": "LOC"}, {"text": "Oslo", "type": "LOC"}]'],
    ['[{"text": "Marie", "type": "LOC"}]', '[{"text": "Oslo", "type": "LOC"}]'])

_CO = ' Give the ICD-10-CM codes of the diagnoses, in full detail, each once, parted by commas, on a last line `Codes: ...`; begin no other line with "Codes:".'
_case("r_sound_icd_set", icd_set_reward,
    [{"prompt": "Note: essential hypertension; type 2 diabetes without complications." + _CO, "codes": ["I10", "E11.9"]},
     {"prompt": "Note: mild intermittent asthma, uncomplicated." + _CO, "codes": ["J45.20"]}],
    ["Two diagnoses.\nCodes: E11.9, I10", "Codes: J4520"], ["Codes: I10", "Codes: J45.40"])
