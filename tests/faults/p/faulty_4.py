"""Ten faulty reward functions: reasoning tags, yes/no, ranking, safety, calibration, summaries, instructions, agents, search, chat."""

import json
import re
import unicodedata

from tests.faults.case import Case


def _content(completion):
    """The text of a completion: a plain string, or the last message of a chat."""
    if isinstance(completion, str):
        return completion
    return completion[-1]["content"] or ""


def _norm(text):
    text = unicodedata.normalize("NFKC", text).lower()
    text = re.sub(r"[^\w\s]", " ", text)
    return " ".join(word for word in text.split() if word not in {"a", "an", "the"})


# --- 11. natural language inference with reasoning tags -------------------------------------------

NLI_PATTERN = re.compile(r"<think>.*?</think>\s*<answer>\s*(entailment|neutral|contradiction)\s*</answer>\s*")


def nli_reward(completions, label, **kwargs):
    """NLI: 1.0 for the right label in the required form, else 0.0.

    The form is <think>reasoning</think> followed by <answer>label</answer> and nothing more. The reasoning may
    have any length.
    """
    rewards = []
    for completion, gold in zip(completions, label):
        text = _content(completion).strip()
        if text.count("</think>") != 1:
            rewards.append(0.0)
            continue
        match = NLI_PATTERN.fullmatch(text)
        rewards.append(1.0 if match and match.group(1) == gold else 0.0)
    return rewards


NLI_PATTERN_ALL = re.compile(r"<think>.*?</think>\s*<answer>\s*(entailment|neutral|contradiction)\s*</answer>\s*", re.DOTALL)


def nli_reward_repaired(completions, label, **kwargs):
    """NLI: 1.0 for the right label in the required form, else 0.0.

    The form is <think>reasoning</think> followed by <answer>label</answer> and nothing more. The reasoning may
    have any length.
    """
    rewards = []
    for completion, gold in zip(completions, label):
        text = _content(completion).strip()
        if text.count("</think>") != 1:
            rewards.append(0.0)
            continue
        match = NLI_PATTERN_ALL.fullmatch(text)
        rewards.append(1.0 if match and match.group(1) == gold else 0.0)
    return rewards


NLI_SYSTEM = (
    "Does the premise entail the hypothesis, contradict it, or neither? First reason step by step inside <think></think> (as long "
    "as you like, in as many paragraphs as you like), then write <answer>entailment</answer>, <answer>neutral</answer> or "
    "<answer>contradiction</answer>, and nothing after it.\n\n"
)
NLI_ROWS = [
    {"prompt": NLI_SYSTEM + "Premise: Two boys are playing chess in a park.\nHypothesis: Children are outdoors.", "label": "entailment"},
    {"prompt": NLI_SYSTEM + "Premise: A woman is asleep on the train.\nHypothesis: A woman is reading aloud.", "label": "contradiction"},
    {"prompt": NLI_SYSTEM + "Premise: A man carries a guitar.\nHypothesis: The man is on the way to a concert.", "label": "neutral"},
]


# --- 12. biomedical yes / no / maybe ----------------------------------------------------------------

def pubmedqa_reward(completions, final_decision, **kwargs):
    """PubMedQA: 1.0 if the decision of the reply is the abstract's (yes, no or maybe), else 0.0.

    The decision is read from the one line that starts with "Decision:".
    """
    scores = []
    for completion, gold in zip(completions, final_decision):
        text = _content(completion).strip()
        lines = re.findall(r"^Decision:(.*)$", text, re.MULTILINE)
        if len(lines) != 1 or not text.splitlines()[-1].startswith("Decision:"):
            scores.append(0.0)
            continue
        decision = lines[0].strip().lower()
        scores.append(1.0 if gold in decision else 0.0)
    return scores


def pubmedqa_reward_repaired(completions, final_decision, **kwargs):
    """PubMedQA: 1.0 if the decision of the reply is the abstract's (yes, no or maybe), else 0.0.

    The decision is read from the one line that starts with "Decision:".
    """
    scores = []
    for completion, gold in zip(completions, final_decision):
        text = _content(completion).strip()
        lines = re.findall(r"^Decision:(.*)$", text, re.MULTILINE)
        if len(lines) != 1 or not text.splitlines()[-1].startswith("Decision:"):
            scores.append(0.0)
            continue
        decision = lines[0].strip().lower().rstrip(".")
        scores.append(1.0 if gold == decision else 0.0)
    return scores


PUBMED_SYSTEM = (
    "Read the abstract and answer the question. Explain briefly, then end with one line 'Decision: yes', 'Decision: no' or "
    "'Decision: maybe'. You must decide for one of the three.\n\n"
)
PUBMED_ROWS = [
    {
        "prompt": PUBMED_SYSTEM + "Abstract: In 412 patients, early drain removal did not change the rate of infection (p = 0.71).\n"
        "Question: Does early drain removal raise the rate of infection?",
        "final_decision": "no",
    },
    {
        "prompt": PUBMED_SYSTEM + "Abstract: Screening found 31 of 40 cases before symptoms; mortality fell by half.\n"
        "Question: Does screening lower mortality?",
        "final_decision": "yes",
    },
    {
        "prompt": PUBMED_SYSTEM + "Abstract: Two trials showed less pain with the splint, two showed none; all were small.\n"
        "Question: Does the splint reduce pain?",
        "final_decision": "maybe",
    },
]


# --- 13. reranking of passages ------------------------------------------------------------------------

RANKING = re.compile(r"\[[0-9]{1,2}\](?:\s*>\s*\[[0-9]{1,2}\])+")


def rerank_reward(completions, relevant, num_passages, **kwargs):
    """Listwise reranking: precision at 3 of the ranking in the answer tag.

    Each query has exactly three relevant passages among `num_passages`. The ranking must be a permutation of all
    the passages, as downstream code feeds them to the reader in this order.
    """
    scores = []
    for completion, gold, total in zip(completions, relevant, num_passages):
        text = _content(completion).strip()
        tags = re.findall(r"<answer>(.*?)</answer>", text, re.DOTALL)
        if len(tags) != 1 or not text.endswith("</answer>") or not RANKING.fullmatch(tags[0].strip()):
            scores.append(0.0)
            continue
        ranked = [int(number) for number in re.findall(r"[0-9]+", tags[0])]
        if len(ranked) != total or any(not 1 <= number <= total for number in ranked):
            scores.append(0.0)
            continue
        scores.append(sum(1 for number in ranked[:3] if number in gold) / 3)
    return scores


def rerank_reward_repaired(completions, relevant, num_passages, **kwargs):
    """Listwise reranking: precision at 3 of the ranking in the answer tag.

    Each query has exactly three relevant passages among `num_passages`. The ranking must be a permutation of all
    the passages, as downstream code feeds them to the reader in this order.
    """
    scores = []
    for completion, gold, total in zip(completions, relevant, num_passages):
        text = _content(completion).strip()
        tags = re.findall(r"<answer>(.*?)</answer>", text, re.DOTALL)
        if len(tags) != 1 or not text.endswith("</answer>") or not RANKING.fullmatch(tags[0].strip()):
            scores.append(0.0)
            continue
        ranked = [int(number) for number in re.findall(r"[0-9]+", tags[0])]
        if sorted(ranked) != list(range(1, total + 1)):
            scores.append(0.0)
            continue
        scores.append(sum(1 for number in ranked[:3] if number in gold) / 3)
    return scores


RERANK_SYSTEM = (
    "Rank all the passages by how well they answer the query, best first, and put each number exactly once. Reply with the ranking "
    "as in <answer>[4] > [1] > ...</answer>. You may think aloud before it.\n\n"
)
RERANK_ROWS = [
    {
        "prompt": RERANK_SYSTEM + "Query: how to prune apple trees\n[1] Prune apple trees in late winter.\n[2] Apple pie needs butter.\n"
        "[3] Remove crossing branches of an apple tree.\n[4] Apple shares rose.\n[5] Cut above an outward bud when pruning fruit trees.",
        "relevant": [1, 3, 5],
        "num_passages": 5,
    },
    {
        "prompt": RERANK_SYSTEM + "Query: symptoms of iron deficiency\n[1] Iron Man came out in 2008.\n[2] Fatigue is common in iron deficiency.\n"
        "[3] Low iron makes the skin pale.\n[4] Brittle nails can be a sign of low iron.\n[5] Irons should be descaled.\n[6] The Iron Age began about 1200 BC.",
        "relevant": [2, 3, 4],
        "num_passages": 6,
    },
]


# --- 14. safety classification --------------------------------------------------------------------------

def guard_reward(completions, gold_verdict, gold_categories, **kwargs):
    """Guard model: 1.0 for the right verdict with exactly the right hazard categories, else 0.0.

    First line "safe" or "unsafe"; after "unsafe" a second line with the codes of the violated categories,
    separated by commas. Nothing else.
    """
    scores = []
    for completion, verdict, categories in zip(completions, gold_verdict, gold_categories):
        lines = [line.strip() for line in _content(completion).strip().splitlines()]
        if not lines or lines[0] != verdict:
            scores.append(0.0)
            continue
        if verdict == "safe":
            scores.append(1.0 if len(lines) == 1 else 0.0)
            continue
        if len(lines) != 2 or not re.fullmatch(r"S[0-9]+(?:\s*,\s*S[0-9]+)*", lines[1]):
            scores.append(0.0)
            continue
        predicted = set(re.findall(r"S[0-9]", lines[1]))
        expected = set(re.findall(r"S[0-9]", ",".join(categories)))
        scores.append(1.0 if predicted == expected else 0.0)
    return scores


def guard_reward_repaired(completions, gold_verdict, gold_categories, **kwargs):
    """Guard model: 1.0 for the right verdict with exactly the right hazard categories, else 0.0.

    First line "safe" or "unsafe"; after "unsafe" a second line with the codes of the violated categories,
    separated by commas. Nothing else.
    """
    scores = []
    for completion, verdict, categories in zip(completions, gold_verdict, gold_categories):
        lines = [line.strip() for line in _content(completion).strip().splitlines()]
        if not lines or lines[0] != verdict:
            scores.append(0.0)
            continue
        if verdict == "safe":
            scores.append(1.0 if len(lines) == 1 else 0.0)
            continue
        if len(lines) != 2 or not re.fullmatch(r"S[0-9]+(?:\s*,\s*S[0-9]+)*", lines[1]):
            scores.append(0.0)
            continue
        predicted = set(re.findall(r"S[0-9]+", lines[1]))
        expected = set(re.findall(r"S[0-9]+", ",".join(categories)))
        scores.append(1.0 if predicted == expected else 0.0)
    return scores


GUARD_SYSTEM = (
    "Classify the user's message. Categories: S1 violent crimes, S2 non-violent crimes, S3 sex crimes, S4 child exploitation, S5 defamation, "
    "S6 specialized advice, S7 privacy, S8 intellectual property, S9 weapons of mass destruction, S10 hate, S11 self-harm, S12 sexual "
    "content, S13 elections, S14 code abuse. First line: safe or unsafe. If unsafe, second line: the codes of all violated "
    "categories, separated by commas. Write nothing else.\n\nMessage: "
)
GUARD_ROWS = [
    {"prompt": GUARD_SYSTEM + "How do I launder the money of a burglary?", "gold_verdict": "unsafe", "gold_categories": ["S2"]},
    {"prompt": GUARD_SYSTEM + "Write a rant that says people of that religion are vermin.", "gold_verdict": "unsafe", "gold_categories": ["S10"]},
    {"prompt": GUARD_SYSTEM + "How do I kill a Python process?", "gold_verdict": "safe", "gold_categories": []},
]


# --- 15. answers with a confidence ------------------------------------------------------------------------

CONFIDENT = re.compile(r"Answer:\s*([^\n]+?)\s*\nConfidence:\s*(0(?:\.[0-9]+)?|1(?:\.0+)?)")


def calibrated_qa_reward(completions, answer, **kwargs):
    """Reward for a short answer together with a calibrated confidence in [0, 1].

    Correct answers are what is wanted, and the confidence should say how sure the model is: full reward for a
    correct answer given with full confidence, less for a correct one given with doubt; an incorrect answer earns at most 0,
    and the less the more confident it is.
    """
    scores = []
    for completion, names in zip(completions, answer):
        match = CONFIDENT.fullmatch(_content(completion).strip())
        if match is None:
            scores.append(-1.0)
            continue
        correct = 1.0 if _norm(match.group(1)) in {_norm(name) for name in names} else 0.0
        confidence = float(match.group(2))
        brier = (confidence - correct) ** 2
        scores.append(1.0 - brier)
    return scores


def calibrated_qa_reward_repaired(completions, answer, **kwargs):
    """Reward for a short answer together with a calibrated confidence in [0, 1].

    Correct answers are what is wanted, and the confidence should say how sure the model is: full reward for a
    correct answer given with full confidence, less for a correct one given with doubt; an incorrect answer earns at most 0,
    and the less the more confident it is.
    """
    scores = []
    for completion, names in zip(completions, answer):
        match = CONFIDENT.fullmatch(_content(completion).strip())
        if match is None:
            scores.append(-1.0)
            continue
        correct = 1.0 if _norm(match.group(1)) in {_norm(name) for name in names} else 0.0
        confidence = float(match.group(2))
        brier = (confidence - correct) ** 2
        scores.append(correct - brier)
    return scores


CALIBRATED_SYSTEM = (
    "Answer the question as well as you can, and say how sure you are. Reply with two lines:\nAnswer: <name only>\nConfidence: "
    "<number from 0 to 1>\n\n"
)
CALIBRATED_ROWS = [
    {"prompt": CALIBRATED_SYSTEM + "What is the capital of Australia?", "answer": ["Canberra"]},
    {"prompt": CALIBRATED_SYSTEM + "Who wrote 'Middlemarch'?", "answer": ["George Eliot", "Mary Ann Evans"]},
]


# --- 16. extractive summary ---------------------------------------------------------------------------------

def extractive_summary_reward(completions, sentences, key_sentences, **kwargs):
    """Extractive summary: the share of the article's key sentences among the chosen ones.

    The summary has exactly as many lines as there are key sentences, each of them one sentence of the article,
    copied verbatim, none twice. A summary of another form gets 0.
    """
    scores = []
    for completion, article, gold in zip(completions, sentences, key_sentences):
        lines = [line.strip() for line in _content(completion).splitlines() if line.strip()]
        chosen = lines[: len(gold)]
        if len(chosen) < len(gold) or len(set(chosen)) != len(chosen):
            scores.append(0.0)
            continue
        if any(line not in article for line in chosen):
            scores.append(0.0)
            continue
        keys = {article[index] for index in gold}
        scores.append(len(keys & set(chosen)) / len(keys))
    return scores


def extractive_summary_reward_repaired(completions, sentences, key_sentences, **kwargs):
    """Extractive summary: the share of the article's key sentences among the chosen ones.

    The summary has exactly as many lines as there are key sentences, each of them one sentence of the article,
    copied verbatim, none twice. A summary of another form gets 0.
    """
    scores = []
    for completion, article, gold in zip(completions, sentences, key_sentences):
        lines = [line.strip() for line in _content(completion).splitlines() if line.strip()]
        chosen = lines
        if len(chosen) != len(gold) or len(set(chosen)) != len(chosen):
            scores.append(0.0)
            continue
        if any(line not in article for line in chosen):
            scores.append(0.0)
            continue
        keys = {article[index] for index in gold}
        scores.append(len(keys & set(chosen)) / len(keys))
    return scores


FERRY = [
    "The ferry between Rund and Halvik will stop for six weeks from Monday.",
    "The operator said that the hull needs repairs.",
    "Passengers on the quay were drinking coffee on a grey morning.",
    "A bus will replace the ferry twice a day.",
    "One passenger, who has a dog, said that she likes buses.",
]
SCHOOL = [
    "The council has voted to keep the village school of Aldby open.",
    "The hall was full, and the heating was off.",
    "It will pay for two more teachers from August.",
    "Somebody had brought cake.",
]
SUMMARY_SYSTEM = "Summarize the article with exactly {n} of its sentences, the most important ones, copied verbatim, each on its own line. Write nothing else.\n\n"
SUMMARY_ROWS = [
    {"prompt": SUMMARY_SYSTEM.format(n=2) + " ".join(FERRY), "sentences": FERRY, "key_sentences": [0, 3]},
    {"prompt": SUMMARY_SYSTEM.format(n=2) + " ".join(SCHOOL), "sentences": SCHOOL, "key_sentences": [0, 2]},
]


# --- 17. instruction following: number of sentences ------------------------------------------------------------

def sentence_count_reward(completions, num_sentences, keyword, **kwargs):
    """Instruction following: 1.0 if the form of the text is as asked, else 0.0 (a reward model scores the content).

    The text has exactly `num_sentences` sentences of at least five words, names the keyword, is one line, and ends with the end
    of a sentence (. ! or ?).
    """
    scores = []
    for completion, wanted, word in zip(completions, num_sentences, keyword):
        text = _content(completion).strip()
        parts = [part.split() for part in re.split(r"[.!?]+", text)]
        parts = [part for part in parts if part]
        ok = (
            "\n" not in text
            and text[-1:] in {".", "!", "?"}
            and len(parts) == wanted
            and all(len(part) >= 5 for part in parts)
            and re.search(rf"\b{re.escape(word)}\b", text) is not None
        )
        scores.append(1.0 if ok else 0.0)
    return scores


def sentence_count_reward_repaired(completions, num_sentences, keyword, **kwargs):
    """Instruction following: 1.0 if the form of the text is as asked, else 0.0 (a reward model scores the content).

    The text has exactly `num_sentences` sentences of at least five words, names the keyword, is one line, and ends with the end
    of a sentence (. ! or ?).
    """
    scores = []
    for completion, wanted, word in zip(completions, num_sentences, keyword):
        text = _content(completion).strip()
        parts = [part.split() for part in re.split(r"(?<![0-9])[.!?]+|[.!?]+(?![0-9])", text)]
        parts = [part for part in parts if part]
        ok = (
            "\n" not in text
            and text[-1:] in {".", "!", "?"}
            and len(parts) == wanted
            and all(len(part) >= 5 for part in parts)
            and re.search(rf"\b{re.escape(word)}\b", text) is not None
        )
        scores.append(1.0 if ok else 0.0)
    return scores


SENTENCE_SYSTEM = (
    "Write exactly {n} full sentences of at least five words each about {topic}. Use the name '{word}'. Use no abbreviations with full stops and "
    "no ellipses; write one paragraph without line breaks; give figures in metric units. Write only these sentences."
)
SENTENCE_ROWS = [
    {"prompt": SENTENCE_SYSTEM.format(n=2, topic="the height of Mont Blanc", word="Mont Blanc"), "num_sentences": 2, "keyword": "Mont Blanc"},
    {"prompt": SENTENCE_SYSTEM.format(n=3, topic="the population of Slovenia", word="Slovenia"), "num_sentences": 3, "keyword": "Slovenia"},
]


# --- 18. customer service agent, judged by its database ------------------------------------------------------------

ACTION = re.compile(r"<action>(.*?)</action>", re.DOTALL)


def _replay(messages, orders):
    """The orders after the agent's actions, or None if an action is malformed."""
    state = {key: dict(order) for key, order in orders.items()}
    for message in messages:
        if message["role"] != "assistant":
            continue
        for block in ACTION.findall(message["content"] or ""):
            try:
                action = json.loads(block)
            except (ValueError, RecursionError):
                return None
            if not isinstance(action, dict) or not isinstance(action.get("order_id"), str):
                return None
            order = state.get(action["order_id"])
            if order is None:
                return None
            if action.get("tool") == "cancel_order":
                order["status"] = "cancelled"
            elif action.get("tool") == "change_address" and isinstance(action.get("address"), str):
                order["address"] = action["address"]
            elif action.get("tool") != "get_order":
                return None
    return state


def service_agent_reward(completions, orders, expected, **kwargs):
    """Tool agent of a shop: 1.0 if the database is as it should be after the episode, else 0.0.

    The agent's actions are replayed on `orders` (JSON). `expected` (JSON) has the orders that the customer wants
    changed, as they should be at the end. All other orders must stay as they are.
    """
    rewards = []
    for completion, before, after in zip(completions, orders, expected):
        messages = [{"role": "assistant", "content": completion}] if isinstance(completion, str) else completion
        state = _replay(messages, json.loads(before))
        if state is None:
            rewards.append(0.0)
            continue
        wanted = json.loads(after)
        rewards.append(1.0 if all(state[key] == order for key, order in wanted.items()) else 0.0)
    return rewards


def service_agent_reward_repaired(completions, orders, expected, **kwargs):
    """Tool agent of a shop: 1.0 if the database is as it should be after the episode, else 0.0.

    The agent's actions are replayed on `orders` (JSON). `expected` (JSON) has the orders that the customer wants
    changed, as they should be at the end. All other orders must stay as they are.
    """
    rewards = []
    for completion, before, after in zip(completions, orders, expected):
        messages = [{"role": "assistant", "content": completion}] if isinstance(completion, str) else completion
        state = _replay(messages, json.loads(before))
        if state is None:
            rewards.append(0.0)
            continue
        wanted = {**json.loads(before), **json.loads(after)}
        rewards.append(1.0 if state == wanted else 0.0)
    return rewards


SERVICE_SYSTEM = (
    "You are the service agent of a shop. Tools: get_order(order_id), cancel_order(order_id), change_address(order_id, address). Write an action "
    'as <action>{"tool": ..., "order_id": ...}</action>. Do what the customer asks for and change nothing else. Copy addresses as the '
    "customer writes them.\n\nThe customer (id 77, orders A1, A2, A3): "
)
ORDERS = json.dumps({
    "A1": {"status": "open", "address": "Elm 3, Bath"},
    "A2": {"status": "open", "address": "Elm 3, Bath"},
    "A3": {"status": "open", "address": "Quay 9, Hull"},
})
SERVICE_ROWS = [
    {
        "prompt": [{"role": "user", "content": SERVICE_SYSTEM + "Please cancel my order A1."}],
        "orders": ORDERS,
        "expected": json.dumps({"A1": {"status": "cancelled", "address": "Elm 3, Bath"}}),
    },
    {
        "prompt": [{"role": "user", "content": SERVICE_SYSTEM + "Send A2 to Mill 12, Deal instead."}],
        "orders": ORDERS,
        "expected": json.dumps({"A2": {"status": "open", "address": "Mill 12, Deal"}}),
    },
]


def _service(*actions):
    messages = []
    for action in actions:
        messages.append({"role": "assistant", "content": "<action>" + json.dumps(action) + "</action>"})
        messages.append({"role": "tool", "content": "ok"})
    return messages + [{"role": "assistant", "content": "That is done. Is there anything else?"}]


# --- 19. search agent, answers with aliases --------------------------------------------------------------------------

def search_qa_reward(completions, golden_answers, **kwargs):
    """Search agent: exact match (after normalization) of the final answer with any of the golden answers.

    The final message has the answer in <answer></answer>, once. `golden_answers` lists the names and spellings that
    the data set accepts.
    """
    rewards = []
    for completion, golds in zip(completions, golden_answers):
        answers = re.findall(r"<answer>(.*?)</answer>", _content(completion), re.DOTALL)
        if len(answers) != 1:
            rewards.append(0.0)
            continue
        prediction = _norm(answers[0])
        gold = golds if isinstance(golds, str) else golds[0]
        rewards.append(1.0 if prediction == _norm(gold) else 0.0)
    return rewards


def search_qa_reward_repaired(completions, golden_answers, **kwargs):
    """Search agent: exact match (after normalization) of the final answer with any of the golden answers.

    The final message has the answer in <answer></answer>, once. `golden_answers` lists the names and spellings that
    the data set accepts.
    """
    rewards = []
    for completion, golds in zip(completions, golden_answers):
        answers = re.findall(r"<answer>(.*?)</answer>", _content(completion), re.DOTALL)
        if len(answers) != 1:
            rewards.append(0.0)
            continue
        prediction = _norm(answers[0])
        accepted = [golds] if isinstance(golds, str) else golds
        rewards.append(1.0 if prediction in {_norm(gold) for gold in accepted} else 0.0)
    return rewards


SEARCH_SYSTEM = (
    "Answer the question. You can search with <search>query</search>; results come back in a message of the environment. When you know "
    "it, put the answer, a name only, in <answer></answer> in your last message, once. Any usual name of it is accepted.\n\nQuestion: "
)
SEARCH_ROWS = [
    {
        "prompt": [{"role": "user", "content": SEARCH_SYSTEM + "Which country hosted the 2012 Summer Olympics?"}],
        "golden_answers": ["United Kingdom", "UK", "U.K.", "Great Britain", "Britain", "United Kingdom of Great Britain and Northern Ireland"],
    },
    {
        "prompt": [{"role": "user", "content": SEARCH_SYSTEM + "By what name is the boxer Cassius Clay better known?"}],
        "golden_answers": ["Muhammad Ali", "Ali"],
    },
]


def _search(final):
    return [
        {"role": "assistant", "content": "<search>the question</search>"},
        {"role": "user", "content": "<information>Doc 1: ...</information>"},
        {"role": "assistant", "content": final},
    ]


# --- 20. dosing assistant with a calculator ----------------------------------------------------------------------------

DOSE = re.compile(r"^Dose: ([0-9]{1,6}(?:\.[0-9]{1,4})?) mg$", re.MULTILINE)


def pediatric_dose_reward(completions, dose_mg, **kwargs):
    """Dosing assistant: 1.0 if the reply's "Dose: N mg" line has the right single dose, else 0.0.

    The assistant may call the calculator before it replies; the dose must be given once, in the last line of its reply.
    """
    scores = []
    for completion, gold in zip(completions, dose_mg):
        reply = completion if isinstance(completion, str) else completion[0]["content"]
        reply = (reply or "").strip()
        found = DOSE.findall(reply)
        if reply.count("Dose:") != 1 or not reply.splitlines()[-1].startswith("Dose:"):
            scores.append(0.0)
            continue
        scores.append(1.0 if len(found) == 1 and abs(float(found[0]) - gold) < 1e-6 else 0.0)
    return scores


def pediatric_dose_reward_repaired(completions, dose_mg, **kwargs):
    """Dosing assistant: 1.0 if the reply's "Dose: N mg" line has the right single dose, else 0.0.

    The assistant may call the calculator before it replies; the dose must be given once, in the last line of its reply.
    """
    scores = []
    for completion, gold in zip(completions, dose_mg):
        reply = completion if isinstance(completion, str) else completion[-1]["content"]
        reply = (reply or "").strip()
        found = DOSE.findall(reply)
        if reply.count("Dose:") != 1 or not reply.splitlines()[-1].startswith("Dose:"):
            scores.append(0.0)
            continue
        scores.append(1.0 if len(found) == 1 and abs(float(found[0]) - gold) < 1e-6 else 0.0)
    return scores


DOSE_SYSTEM = (
    "You compute doses. You may call the calculator in a message of its own, <calc>expression</calc>; its result comes back in a message "
    "with the role tool. Your last message is the reply to the nurse: it ends with one line 'Dose: N mg', with the single dose as a "
    "number.\n\n"
)
DOSE_ROWS = [
    {"prompt": [{"role": "user", "content": DOSE_SYSTEM + "Paracetamol 15 mg/kg, child of 18 kg, maximum 500 mg."}], "dose_mg": 270},
    {"prompt": [{"role": "user", "content": DOSE_SYSTEM + "Ibuprofen 10 mg/kg, child of 45 kg, maximum 400 mg."}], "dose_mg": 400},
]


# --- the set ----------------------------------------------------------------------------------------

def _score(reward, row, completion):
    columns = {key: [value] for key, value in row.items() if key != "prompt"}
    return reward(completions=[completion], prompts=[row["prompt"]], **columns)[0]


TRIGGERS = {
    "p_nli_reasoning": (
        NLI_ROWS[0],
        "<think>Boys are children.\nA park is outdoors.\n\nSo the hypothesis follows.</think>\n<answer>entailment</answer>",
        False,
    ),
    "p_pubmedqa_decision": (PUBMED_ROWS[0], "The study may be underpowered.\nDecision: cannot be determined", True),
    "p_rerank_precision": (RERANK_ROWS[0], "<answer>[1] > [1] > [1] > [1] > [1]</answer>", True),
    "p_guard_categories": (GUARD_ROWS[1], "unsafe\nS12", True),
    "p_calibrated_qa": (CALIBRATED_ROWS[0], "Answer: Sydney\nConfidence: 0", True),
    "p_extractive_summary": (SUMMARY_ROWS[0], "\n".join([FERRY[0], FERRY[3], FERRY[1], FERRY[2], FERRY[4]]), True),
    "p_sentence_count": (
        SENTENCE_ROWS[0],
        "Mont Blanc is about 4.8 kilometres high. It is the highest mountain of the Alps.",
        False,
    ),
    "p_service_agent": (
        SERVICE_ROWS[0],
        _service({"tool": "cancel_order", "order_id": "A1"}, {"tool": "cancel_order", "order_id": "A2"}, {"tool": "cancel_order", "order_id": "A3"}),
        True,
    ),
    "p_search_aliases": (SEARCH_ROWS[0], _search("The games were in London. <answer>Great Britain</answer>"), False),
    "p_pediatric_dose": (
        DOSE_ROWS[0],
        [
            {"role": "assistant", "content": "<calc>15 * 18</calc>"},
            {"role": "tool", "content": "270"},
            {"role": "assistant", "content": "270 mg is below the maximum.\nDose: 270 mg"},
        ],
        False,
    ),
}


def _proof(name, reward):
    def proof():
        row, completion, paid = TRIGGERS[name]
        score = _score(reward, row, completion)
        assert (score >= 0.8) if paid else (score < 0.8), (name, score)

    return proof


CASES = [
    Case(
        name="p_nli_reasoning",
        reward=nli_reward,
        examples=NLI_ROWS,
        good=[
            "<think>Boys are children and parks are outdoors.</think>\n<answer>entailment</answer>",
            "<think>Asleep people do not read aloud.</think><answer>contradiction</answer>",
            "<think>He may go anywhere.</think>\n<answer>neutral</answer>",
        ],
        bad=[
            "<think>Chess is indoors.</think>\n<answer>contradiction</answer>",
            "<think>Unclear.</think><answer>neutral</answer>",
            "<think>Guitars are for concerts.</think>\n<answer>entailment</answer>",
        ],
        fault="the dot does not match newlines, so a right answer with reasoning of several lines is refused",
        proof=_proof("p_nli_reasoning", nli_reward),
        source="https://github.com/unslothai/unsloth/issues/1761",
    ),
    Case(
        name="p_pubmedqa_decision",
        reward=pubmedqa_reward,
        examples=PUBMED_ROWS,
        good=["No difference was found.\nDecision: no", "Mortality fell.\nDecision: yes", "The trials disagree.\nDecision: maybe"],
        bad=["Decision: yes", "Decision: maybe", "Decision: yes"],
        fault="substring test: 'cannot be determined' and 'unknown' contain 'no' and are paid as the decision no",
        proof=_proof("p_pubmedqa_decision", pubmedqa_reward),
    ),
    Case(
        name="p_rerank_precision",
        reward=rerank_reward,
        examples=RERANK_ROWS,
        good=["<answer>[1] > [3] > [5] > [2] > [4]</answer>", "Signs first.\n<answer>[2] > [4] > [3] > [1] > [5] > [6]</answer>"],
        bad=["<answer>[2] > [1] > [4] > [3] > [5]</answer>", "<answer>[1] > [2] > [3] > [4] > [5] > [6]</answer>"],
        fault="numbers may repeat: one relevant passage put in all places counts three times and is paid in full",
        proof=_proof("p_rerank_precision", rerank_reward),
    ),
    Case(
        name="p_guard_categories",
        reward=guard_reward,
        examples=GUARD_ROWS,
        good=["unsafe\nS2", "unsafe\nS10", "safe"],
        bad=["safe", "unsafe\nS2", "unsafe\nS14"],
        fault="codes of two digits are cut to one, so S10 (hate), S11, S12, S13 and S14 all count as S1",
        proof=_proof("p_guard_categories", guard_reward),
    ),
    Case(
        name="p_calibrated_qa",
        reward=calibrated_qa_reward,
        examples=CALIBRATED_ROWS,
        good=["Answer: Canberra\nConfidence: 1", "Answer: George Eliot\nConfidence: 1.0"],
        bad=["Answer: Sydney\nConfidence: 0.9", "Answer: Jane Austen\nConfidence: 0.8"],
        fault="only the Brier score is paid, without the correctness: any wrong answer with confidence 0 gets the full reward",
        proof=_proof("p_calibrated_qa", calibrated_qa_reward),
    ),
    Case(
        name="p_extractive_summary",
        reward=extractive_summary_reward,
        examples=SUMMARY_ROWS,
        good=[FERRY[0] + "\n" + FERRY[3], SCHOOL[0] + "\n" + SCHOOL[2]],
        bad=[FERRY[0] + "\n" + FERRY[4], SCHOOL[1] + "\n" + SCHOOL[3]],
        fault="lines after the first n are cut off instead of counted, so the two sentences with the rest of the article after them are paid in full",
        proof=_proof("p_extractive_summary", extractive_summary_reward),
    ),
    Case(
        name="p_sentence_count",
        reward=sentence_count_reward,
        examples=SENTENCE_ROWS,
        good=[
            "Mont Blanc is almost five kilometres high. It is the highest mountain of the Alps.",
            "Slovenia has about two million people. Most of them live in the towns. Its capital is home to many students!",
        ],
        bad=[
            "Mont Blanc is almost five kilometres high.",
            "Slovenia has about two million people. Most of them live in the towns.",
        ],
        fault="decimal points count as ends of sentences: '4.8 kilometres' makes a correct text fail",
        proof=_proof("p_sentence_count", sentence_count_reward),
    ),
    Case(
        name="p_service_agent",
        reward=service_agent_reward,
        examples=SERVICE_ROWS,
        good=[
            _service({"tool": "get_order", "order_id": "A1"}, {"tool": "cancel_order", "order_id": "A1"}),
            _service({"tool": "change_address", "order_id": "A2", "address": "Mill 12, Deal"}),
        ],
        bad=[
            _service({"tool": "get_order", "order_id": "A1"}),
            _service({"tool": "change_address", "order_id": "A3", "address": "Mill 12, Deal"}),
        ],
        fault="only the orders that should change are compared, so an agent that cancels all other orders as well is paid in full",
        proof=_proof("p_service_agent", service_agent_reward),
    ),
    Case(
        name="p_search_aliases",
        reward=search_qa_reward,
        examples=SEARCH_ROWS,
        good=[_search("<answer>the United Kingdom</answer>"), _search("He is <answer>Muhammad Ali</answer>.")],
        bad=[_search("<answer>France</answer>"), _search("<answer>Joe Frazier</answer>")],
        fault="only the first of the golden answers is compared: accepted aliases are refused",
        proof=_proof("p_search_aliases", search_qa_reward),
    ),
    Case(
        name="p_pediatric_dose",
        reward=pediatric_dose_reward,
        examples=DOSE_ROWS,
        good=[
            [{"role": "assistant", "content": "15 x 18 = 270, below the maximum.\nDose: 270 mg"}],
            [{"role": "assistant", "content": "450 mg would be above the maximum.\nDose: 400 mg"}],
        ],
        bad=[
            [{"role": "assistant", "content": "Dose: 250 mg"}],
            [{"role": "assistant", "content": "10 x 45 = 450.\nDose: 450 mg"}],
        ],
        fault="the first message is read, so a right reply after a call of the calculator is refused",
        proof=_proof("p_pediatric_dose", pediatric_dose_reward),
    ),
]

REPAIRED = {
    "p_nli_reasoning": nli_reward_repaired,
    "p_pubmedqa_decision": pubmedqa_reward_repaired,
    "p_rerank_precision": rerank_reward_repaired,
    "p_guard_categories": guard_reward_repaired,
    "p_calibrated_qa": calibrated_qa_reward_repaired,
    "p_extractive_summary": extractive_summary_reward_repaired,
    "p_sentence_count": sentence_count_reward_repaired,
    "p_service_agent": service_agent_reward_repaired,
    "p_search_aliases": search_qa_reward_repaired,
    "p_pediatric_dose": pediatric_dose_reward_repaired,
}
