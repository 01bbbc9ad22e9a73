"""NeMo Gym's servers for long contexts, references and transcripts: sets of names, and texts that are compared."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from subject import Subject, each
from subjects.nemo_gym_server import checked, judged, judged_by, module, server
from texts import FACTS, MISNAMED, NAMED

POEMS = (
    "Golden leaves drift down,\nWhispering secrets to the ground,\nAutumn's gentle crown.",
    "A lighthouse counts the waves at night,\nAnd every wave pays back in light.",
)
OTHERS = ("Crimson leaves descend,\nDancing on the wind.", "Snow forgets the road,\nAnd the road forgets me.")
SENTENCES = ("The meeting starts at nine, doesn't it?", "Hello, Anna. Please call me back tomorrow morning.")
MISHEARD = ("A greeting parts the mind dozens of times", "Yellow banana, peas fall from the back of a borrowed van.")


def subjects() -> Iterator[Subject]:
    yield from _nodes()
    yield from _needles()
    counts = ("6", "11")
    rows: list[dict[str, Any]] = [
        {"prompt": f"Count the snippets about {one}.", "answer": n}
        for one, n in zip(("ice", "x-rays"), counts, strict=True)
    ]
    yield Subject("equivalence_rule (exact)", judged("equivalence_rule"), rows, list(counts), ["7", "9"])
    rows = [
        {"prompt": f"Repeat the poem about {one}.", "answer": p}
        for one, p in zip(("leaves", "light"), POEMS, strict=True)
    ]
    for rule in ("seq_match", "weighted_seq_match"):
        reward = judged("equivalence_rule", grading_rule=rule)
        yield Subject(f"equivalence_rule ({rule})", reward, rows, list(POEMS), list(OTHERS))
    task = {"random_string_to_prepend": "abc123", "n_needles": 2, "n_tokens": 180}
    rows = [{**row, "answer": f"abc123{row['answer']}", "task": task} for row in rows]
    right, wrong = ([f"abc123{poem}" for poem in poems] for poems in (POEMS, OTHERS))
    yield Subject("mrcr", judged("mrcr"), rows, right, wrong)
    yield from _transcripts()
    yield _translations()
    yield _replies()


def _nodes() -> Iterator[Subject]:
    """Nodes of a graph, scored by F1."""
    graph = "node_0 -> node_1, node_2\nnode_1 -> node_3\nnode_2 -> node_3, node_4\nnode_3 -> node_5"
    cases = (
        ("the parents of node_3", ["node_1", "node_2"], "node_0, node_4"),
        ("the parents of node_5", ["node_3"], "node_4"),
    )
    rows = [
        {"prompt": f"{graph}\n\nFind {asked}.", "answer": json.dumps(nodes), "task": {"problem_type": "parents"}}
        for asked, nodes, _ in cases
    ]
    right = [f"I follow the edges.\nFinal Answer: [{', '.join(nodes)}]" for _, nodes, _ in cases]
    wrong = [f"I follow the edges.\nFinal Answer: [{nodes}]" for _, _, nodes in cases]
    for name in ("graphwalks", "lc_niah"):
        yield Subject(name, judged(name), rows, right, wrong)


def _needles() -> Iterator[Subject]:
    numbers, off = ("1234567890", "5550001112"), ("1234567809", "5550001110")
    prompts = [f"One of the magic numbers for {one} is hidden above. Which is it?" for one in ("the fox", "the bird")]
    right, wrong = ([f"The special magic number is {one}." for one in ones] for ones in (numbers, off))
    rows: list[dict[str, Any]] = [
        {"prompt": prompt, "answer": [one]} for prompt, one in zip(prompts, numbers, strict=True)
    ]
    yield Subject("ruler2 (all)", judged("ruler2"), rows, right, wrong)
    rows = [{**row, "task": {"length": 100, "subset": "niah_single_1"}} for row in rows]
    yield Subject("ruler (all)", judged("ruler", "outputs"), rows, right, wrong)
    rows = [{**row, "answer": [row["answer"]], "task": {"length": 100, "subset": "qa_1"}} for row in FACTS]
    right, wrong = ([f"The answer is {name}." for name in names] for names in (NAMED, MISNAMED))
    yield Subject("ruler (part)", judged("ruler", "outputs"), rows, right, wrong)
    rows = [{**row, "task": {"match_type": "part"}} for row in rows]
    yield Subject("ruler2 (part)", judged("ruler2"), rows, right, wrong)
    rows = [{**row, "task": {"match_type": "2steps"}} for row in rows]
    right, wrong = ([f"I find the document first.\n\n{one}" for one in texts] for texts in (right, wrong))
    yield Subject("ruler2 (2steps)", judged("ruler2"), rows, right, wrong)


def _transcripts() -> Iterator[Subject]:
    for kind in ("ASR-PC", "ASR"):
        rows: list[dict[str, Any]] = [
            {"prompt": "Transcribe the audio.", "answer": text, "task": {"task_type": kind}} for text in SENTENCES
        ]
        yield Subject(f"asr_with_pc ({kind})", judged("asr_with_pc"), rows, list(SENTENCES), list(MISHEARD))
    task = {"expected_answer": "", "task_type": "Hallucination", "audio_duration": 6.0}
    rows = [{"prompt": f"Transcribe recording {number}.", "task": task} for number in (1, 2)]
    looped = ["thank you for watching, " * 20, "you know, " * 40]
    yield Subject("asr_with_pc (Hallucination)", checked("asr_with_pc"), rows, list(SENTENCES), looped)


def _translations() -> Subject:
    """The reward is chrF. The spBLEU that is reported beside it needs a model, so it has another tokenizer here."""
    made = server("wmt_translation", compute_comet=False)
    made._sentence_spbleu_metric = vars(module("wmt_translation"))["BLEU"](tokenize="13a", effective_order=True)
    texts = {
        "The weather is lovely today.": "Das Wetter ist heute schön.",
        "Where is the station?": "Wo ist der Bahnhof?",
    }
    rows = [
        {
            "prompt": f"Translate the following segment into German.\n\n{text}",
            "answer": gold,
            "task": {"text": text, "source_language": "en", "target_language": "de_DE"},
        }
        for text, gold in texts.items()
    ]
    wrong = ["Ich habe meinen Schirm vergessen.", "Können Sie mir helfen?"]
    return Subject("wmt_translation", judged_by(made, "translation"), rows, list(texts.values()), wrong)


def _replies() -> Subject:
    """What decides in mode ``reference``: the others of its metrics need data of NLTK and are only reported."""
    app: Any = module("rolemrc")

    def score(text: str, gold: str) -> float:
        return float(app._compute_rouge(app._strip_think(text), gold)["rougeL"])

    replies = (
        "The intruder departed through the window, as the print attests.",
        "I know nothing of rockets, my dear Watson.",
    )
    prompts = ("Which way did the intruder leave, Holmes?", "How does a rocket engine work, Holmes?")
    rows = [{"prompt": prompt, "answer": reply} for prompt, reply in zip(prompts, replies, strict=True)]
    wrong = ["He hid in the cellar.", "It burns fuel and throws the gas backward."]
    return Subject("rolemrc (reference)", each("rolemrc", score), rows, list(replies), wrong)
