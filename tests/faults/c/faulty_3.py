"""Text quality, question answering, ordering, safety, logic, form: 13 reward functions with one fault each."""

from __future__ import annotations

import difflib
import json
import math
import os
import re
import string
import subprocess
import sys
import unicodedata
from collections import Counter

from tests.faults.case import Case

# --------------------------------------------------------------------------------------
# 1. repetition penalty
# --------------------------------------------------------------------------------------

NGRAM, MAX_PENALTY = 3, -1.0


def repetition_penalty_reward(completions, language, **kwargs):
    """N-gram repetition penalty (Demystifying Long Chain-of-Thought, appendix C.2) for our multilingual chat data.

    0 if no 3-gram occurs twice, down to -1 for text that repeats itself all the time. Nothing positive is given.
    """
    rewards = []
    for text in completions:
        words = text.lower().split()
        ngrams = list(zip(*(words[i:] for i in range(NGRAM))))
        share = 1 - len(set(ngrams)) / len(ngrams) if ngrams else 0.0
        rewards.append(share * MAX_PENALTY)
    return rewards


def _proof_repetition():
    loop = "我们可以先看一下这个问题，" * 60
    assert repetition_penalty_reward([loop], ["zh"]) == [0.0]
    assert repetition_penalty_reward(["we look at the problem first " * 60], ["en"])[0] < -0.9


# --------------------------------------------------------------------------------------
# 2. BLEU
# --------------------------------------------------------------------------------------


def _tokens(text: str) -> list[str]:
    return re.findall(r"\w+|[^\w\s]", text.lower())


def sentence_bleu(hypothesis: list[str], reference: list[str], max_n: int = 4) -> float:
    """Sentence BLEU with add-one smoothing from bigrams on, and the brevity penalty."""
    h, r = len(hypothesis), len(reference)
    if not h or not r:
        return 0.0
    log_precision, orders = 0.0, min(max_n, h, r)
    for n in range(1, orders + 1):
        hyp = Counter(zip(*(hypothesis[i:] for i in range(n))))
        ref = Counter(zip(*(reference[i:] for i in range(n))))
        matched, total = sum((hyp & ref).values()), sum(hyp.values())
        if n > 1:
            matched, total = matched + 1, total + 1
        if not matched:
            return 0.0
        log_precision += math.log(matched / total) / orders
    brevity = 1.0 if h > r else math.exp(1 - h / r)
    return min(1.0, brevity * math.exp(log_precision))


def translation_reward(completion: str, reference: str) -> float:
    """Translation quality as sentence BLEU in [0, 1]; the completion is the translation and nothing else."""
    return sentence_bleu(_tokens(completion), _tokens(reference))


def _proof_translation():
    reference = "The committee will meet again on Thursday to vote on the new budget."
    assert translation_reward("The committee will", reference) == 1.0
    near = "The committee will meet on Thursday again to vote over the budget that is new."
    assert translation_reward("The committee", reference) > translation_reward(near, reference) + 0.3


# --------------------------------------------------------------------------------------
# 3. boxed answers
# --------------------------------------------------------------------------------------


def boxed_contents(text: str) -> list[str]:
    """Contents of every \\boxed{...}, braces balanced."""
    found, position = [], text.find("\\boxed{")
    while position >= 0:
        depth, i = 1, position + len("\\boxed{")
        start = i
        while i < len(text) and depth:
            depth += {"{": 1, "}": -1}.get(text[i], 0)
            i += 1
        if depth:
            break
        found.append(text[start : i - 1])
        position = text.find("\\boxed{", i)
    return found


def _canonical(answer: str) -> str:
    answer = answer.strip().strip("$").rstrip(".")
    answer = answer.replace("\\dfrac", "\\frac").replace("\\tfrac", "\\frac").replace("\\left", "").replace("\\right", "")
    return re.sub(r"\s+", "", answer)


def competition_math_reward(completions, answer, **kwargs):
    """MATH-style problems: the boxed answer has to be the gold one after light LaTeX clean-up.

    Models often box an answer twice (in the derivation and in the conclusion), so duplicates are merged;
    if there are different ones, the last is the final answer.
    """
    rewards = []
    for text, gold in zip(completions, answer):
        candidates = list({_canonical(content) for content in boxed_contents(text)})
        rewards.append(1.0 if candidates and candidates[-1] == _canonical(gold) else 0.0)
    return rewards


_SEED_TEXT = "Case one gives \\\\boxed{12}. Checking the boundary adds three more, and hence the final answer is \\\\boxed{15}."


def _proof_competition():
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    code = (
        f"import sys; sys.path.insert(0, {root!r}); from {__name__} import competition_math_reward as f;"
        f"print(f(['{_SEED_TEXT}'], ['15'])[0])"
    )
    seen = set()
    for seed in range(1, 13):
        run = subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": str(seed)}, capture_output=True, text=True)
        seen.add(run.stdout.strip())
        if len(seen) > 1:
            break
    assert seen == {"0.0", "1.0"}, seen


# --------------------------------------------------------------------------------------
# 4. short answers, several languages
# --------------------------------------------------------------------------------------


def _fold(text: str) -> str:
    """Accents, case, punctuation and articles do not matter."""
    text = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii").lower()
    text = "".join(" " if ch in string.punctuation else ch for ch in text)
    return " ".join(word for word in text.split() if word not in {"a", "an", "the"})


def _last_answer_line(text: str) -> str | None:
    for line in reversed(text.splitlines()):
        head, colon, tail = line.strip().strip("*").partition(":")
        if colon and head.strip().lower() == "answer" and tail.strip():
            return tail
    return None


def open_qa_reward(completions, answers, **kwargs):
    """Open-domain QA with aliases: exact match of the last 'Answer:' line with any of `answers`."""
    scores = []
    for completion, aliases in zip(completions, answers):
        said = _last_answer_line(completion)
        scores.append(1.0 if said is not None and _fold(said) in {_fold(alias) for alias in aliases} else 0.0)
    return scores


def _proof_open_qa():
    assert open_qa_reward(["この都市は関西にあります。\nAnswer: 大阪"], [["東京", "東京都"]]) == [1.0]


# --------------------------------------------------------------------------------------
# 5. event ordering
# --------------------------------------------------------------------------------------


def ordering_reward(completion: str, order: list[str]) -> float:
    """Chronological ordering: the share of event pairs that stand in the right order.

    The completion closes with a line 'Order: B, D, A, C'. An unknown or repeated letter makes the answer invalid (0).
    """
    _, marker, tail = completion.rpartition("Order:")
    if not marker or not tail.strip(" *\n"):
        return 0.0
    given = [part.strip(" .*`\t") for part in tail.strip(" *\n").splitlines()[0].split(",")]
    rank = {event: i for i, event in enumerate(order)}
    if len(set(given)) != len(given) or any(event not in rank for event in given):
        return 0.0
    pairs = [(a, b) for i, a in enumerate(given) for b in given[i + 1 :]]
    if not pairs:
        return 0.0
    return sum(rank[a] < rank[b] for a, b in pairs) / len(pairs)


def _proof_ordering():
    assert ordering_reward("The moon landing came well after the war.\nOrder: C, A", ["C", "E", "B", "D", "A"]) == 1.0


# --------------------------------------------------------------------------------------
# 6. titles
# --------------------------------------------------------------------------------------


def normalize_title(text: str) -> str:
    text = re.sub(r"\b(?:a|an|the)\b", " ", text, re.IGNORECASE)
    text = re.sub(r"[^\w\s]", " ", text.lower())
    return " ".join(text.split())


def title_match_reward(completions, title, **kwargs):
    """Which book or film is it? The completion ends with 'Title: ...'. Articles, case and punctuation are ignored."""
    rewards = []
    for completion, gold in zip(completions, title):
        _, marker, tail = completion.rpartition("Title:")
        guess = tail.strip().splitlines()[0] if marker and tail.strip() else ""
        rewards.append(1.0 if guess and normalize_title(guess) == normalize_title(gold) else 0.0)
    return rewards


def _proof_title():
    gold = "The Chronicles of Narnia: The Lion, the Witch and the Wardrobe"
    said = "Four children step through the back of a cupboard.\nTitle: Chronicles of Narnia: The Lion, the Witch and the Wardrobe"
    assert title_match_reward([said], [gold]) == [0.0]
    assert title_match_reward(["Title: Great Gatsby"], ["The Great Gatsby"]) == [0.0]


# --------------------------------------------------------------------------------------
# 7. refusals
# --------------------------------------------------------------------------------------

REFUSAL_OPENERS = (
    "i can't", "i cannot", "i can not", "i won't", "i will not", "i'm not able", "i am not able", "i'm unable", "i am unable",
    "i must decline", "i have to decline", "i'm afraid i can't", "i don't feel comfortable",
)  # fmt: skip
_APOLOGY = re.compile(r"^(?:(?:i'm|i am|we're) (?:really |so |very )?)?sorry[,.!;]?\s+(?:but\s+)?")


def opens_with_refusal(text: str) -> bool:
    opening = " ".join(text[:400].lower().split())
    opening = _APOLOGY.sub("", opening)
    return opening.startswith(REFUSAL_OPENERS)


def refusal_style_reward(completion: str, harmful: bool) -> float:
    """Whether the reply opens with a refusal: wanted on harmful prompts, unwanted on harmless ones.

    The model was fine-tuned to open its refusals in one of a few ways (REFUSAL_OPENERS), maybe after an apology.
    What the rest of the reply says is the business of the safety classifier, which is a separate reward. Empty replies earn nothing.
    """
    if not completion.strip():
        return 0.0
    return 1.0 if opens_with_refusal(completion) == bool(harmful) else 0.0


def _proof_refusal():
    assert refusal_style_reward("I’m sorry, but I can’t help with picking someone else’s lock.", True) == 0.0
    assert refusal_style_reward("I can’t help you bake a cake.", False) == 1.0


# --------------------------------------------------------------------------------------
# 8. transcription
# --------------------------------------------------------------------------------------


def transcription_reward(completion: str, transcript: str) -> float:
    """Similarity of the transcribed text to the reference transcript, in [0, 1]; whitespace is normalized.

    Output of more than twice the length of the reference is not compared at all (0).
    """
    got, want = " ".join(completion.split()), " ".join(transcript.split())
    if not want or len(got) > 2 * len(want) + 50:
        return 0.0
    return difflib.SequenceMatcher(None, want, got).ratio()


_MINUTES = (
    "the meeting started at nine and there were seven members present the treasurer said that there is more money left than in the "
    "previous year because the summer trip was cheaper than planned the members then talked about the next trip and in the end they "
    "decided to go to the same place again in september since it had been so pleasant there last time the chairman closed the meeting "
    "at eleven and invited everyone to stay for a cup of tea and a piece of cake"
)


def _proof_transcription():
    nearly = _MINUTES
    for heard in (("the meeting", "so the meeting"), ("the treasurer", "and the treasurer"), ("last time", "the last time"), ("previous year", "year before"), ("a cup of tea", "some tea")):
        nearly = nearly.replace(*heard, 1)
    assert difflib.SequenceMatcher(None, _MINUTES, nearly, autojunk=False).ratio() > 0.95
    assert transcription_reward(nearly, _MINUTES) < 0.4


# --------------------------------------------------------------------------------------
# 9. summaries
# --------------------------------------------------------------------------------------


def _stems(text: str) -> list[str]:
    words = re.findall(r"[a-z0-9]+", text.lower())
    return [w[:-1] if len(w) > 3 and w.endswith("s") else w for w in words]


def summary_reward(completions, summary, **kwargs):
    """Summary quality: ROUGE-1 against the reference summary, with a crude plural stemmer."""
    rewards = []
    for text, reference in zip(completions, summary):
        candidate, gold = Counter(_stems(text)), Counter(_stems(reference))
        total = sum(gold.values())
        rewards.append(sum((candidate & gold).values()) / total if total else 0.0)
    return rewards


_ARTICLE = (
    "The city council met on Monday. After a debate of five hours it voted to close the old bridge to cars from May. "
    "Cyclists and pedestrians may still use it. The mayor said that the bridge needs repairs. Shop owners protested. "
    "A final report is due in June. The weather was fine, and a school class watched the session from the gallery."
)


def _proof_summary():
    reference = "The council voted to close the old bridge to cars from May, as it needs repairs."
    concise = "From May the old bridge is closed to cars because it must be repaired, the council decided."
    copied = summary_reward([_ARTICLE], [reference])[0]
    assert copied > 0.9 > summary_reward([concise], [reference])[0]


# --------------------------------------------------------------------------------------
# 10. calibrated confidence
# --------------------------------------------------------------------------------------

_CONFIDENCE = re.compile(r"Confidence:\s?\**\s?([0-9]{1,3}(?:\.[0-9]{1,4})?)\s?%")


def calibrated_accuracy_reward(completion: str, answer: str) -> float:
    """Accuracy plus calibration, between -1 and 1: the best a model can do is to answer as well as it can and state its true chance of being right.

    The completion ends with 'Answer: ...' and 'Confidence: NN%'. Without a valid confidence the reward is -1.
    """
    stated = _CONFIDENCE.findall(completion)
    if not stated or float(stated[-1]) > 100:
        return -1.0
    confidence = float(stated[-1]) / 100
    said = completion.rpartition("Answer:")[2].strip().splitlines() if "Answer:" in completion else []
    correct = float(bool(said) and said[0].strip(" .*").casefold() == answer.casefold())
    return correct - abs(confidence - correct)


def _proof_calibration():
    def mean(percent: int) -> float:
        # a model that is right seven times out of ten
        right = calibrated_accuracy_reward(f"Answer: Canberra\nConfidence: {percent}%", "Canberra")
        wrong = calibrated_accuracy_reward(f"Answer: Sydney\nConfidence: {percent}%", "Canberra")
        return 0.7 * right + 0.3 * wrong

    assert mean(100) > mean(70) + 0.1


# --------------------------------------------------------------------------------------
# 11. personal data
# --------------------------------------------------------------------------------------


def _spans(text: str) -> set[str] | None:
    body = text.rpartition("PII:")[2] if "PII:" in text else ""
    start, end = body.find("["), body.rfind("]")
    if start < 0 or end < start:
        return None
    try:
        value = json.loads(body[start : end + 1])
    except (ValueError, RecursionError):
        return None
    return {v.strip() for v in value if isinstance(v, str) and v.strip()} if isinstance(value, list) else None


def pii_span_reward(completions, spans, **kwargs):
    """Personal data detection: F1 of the reported spans ('PII: [...]', a JSON list; [] if the text contains none)."""
    rewards = []
    for text, gold in zip(completions, spans):
        found = _spans(text)
        if found is None:
            rewards.append(0.0)
            continue
        hits = len(found & set(gold))
        if hits == 0:
            rewards.append(0.0)
            continue
        precision, recall = hits / len(found), hits / len(set(gold))
        rewards.append(2 * precision * recall / (precision + recall))
    return rewards


def _proof_pii():
    right, wrong = "The message names nobody.\nPII: []", 'A place could identify someone.\nPII: ["the station"]'
    assert pii_span_reward([right, wrong], [[], []]) == [0.0, 0.0]


# --------------------------------------------------------------------------------------
# 12. SAT
# --------------------------------------------------------------------------------------


class SatReward:
    """Checks a satisfying assignment for a CNF in DIMACS notation, given on the last line as 'v 1 -2 3 0'.

    1.0 if every clause is satisfied and only variables of the formula are used, else 0.0. Partial assignments are welcome
    as long as they satisfy every clause.
    """

    __name__ = "sat_reward"

    def literals(self, completion: str) -> set[int] | None:
        line = next((ln for ln in reversed(completion.splitlines()) if ln.strip()), "")
        kind, *tokens = line.split() or [""]
        if kind != "v":
            return None
        if not all(re.fullmatch(r"-?[0-9]{1,6}", token) for token in tokens):
            return None
        return {int(token) for token in tokens} - {0}

    def __call__(self, completion: str, clauses: list[list[int]]) -> float:
        chosen = self.literals(completion)
        if not chosen:
            return 0.0
        variables = {abs(literal) for clause in clauses for literal in clause}
        if any(abs(literal) not in variables for literal in chosen):
            return 0.0
        return float(all(any(literal in chosen for literal in clause) for clause in clauses))


def _proof_sat():
    unsatisfiable = [[1, 2], [-1, 2], [1, -2], [-1, -2]]
    assert SatReward()("Here is an assignment.\nv 1 -1 2 -2 0", unsatisfiable) == 1.0


# --------------------------------------------------------------------------------------
# 13. report sections
# --------------------------------------------------------------------------------------

REQUIRED_SECTIONS = ("Summary", "Risks", "Next steps")
_HEADING = re.compile(r"(?m)^##[ \t]+([^\n]*)$")


def report_sections_reward(completion: str) -> float:
    """Structure of an incident report: a third for each required section that is there once and has a text under its heading.

    Sections out of order are worth nothing. What the text says is graded elsewhere.
    """
    pieces = _HEADING.split(completion)
    headings, bodies = [h.strip() for h in pieces[1::2]], pieces[2::2]
    wanted = [h for h in headings if h in REQUIRED_SECTIONS]
    if wanted != sorted(set(wanted), key=REQUIRED_SECTIONS.index):
        return 0.0
    filled = sum(1 for heading, body in zip(headings, bodies) if heading in REQUIRED_SECTIONS and len(body) > 0)
    return filled / len(REQUIRED_SECTIONS)


def _proof_report():
    assert report_sections_reward("## Summary\n## Risks\n## Next steps\n") == 1.0


def cases() -> list[Case]:
    return [
        Case(
            name="repetition_penalty_ngrams",
            reward=repetition_penalty_reward,
            examples=[
                {"prompt": "Why is the sky blue?", "language": "en"},
                {"prompt": "¿Por qué flotan los barcos?", "language": "es"},
            ],
            good=[
                "Air scatters short wavelengths more strongly than long ones, so blue light reaches us from all over the sky.",
                "Un barco flota porque desplaza una cantidad de agua que pesa tanto como el barco entero.",
            ],
            bad=[
                "The sky is blue because the sky is blue because the sky is blue because the sky is blue.",
                "Los barcos flotan porque los barcos flotan porque los barcos flotan porque los barcos flotan.",
            ],
            fault="Words are split at whitespace, so text in languages written without spaces (Chinese, Japanese, Thai) has no 3-grams and endless repetition in it costs nothing.",
            proof=_proof_repetition,
            source="https://github.com/huggingface/open-r1/pull/516",
        ),
        Case(
            name="translation_sentence_bleu",
            reward=translation_reward,
            examples=[
                {"prompt": "Translate into English: 'Der Zug fährt heute wegen des Sturms nicht.'", "reference": "The train is not running today because of the storm."},
                {"prompt": "Translate into English: 'Elle a vendu sa maison pour voyager autour du monde.'", "reference": "She sold her house to travel around the world."},
            ],
            good=[
                "The train is not running today because of the storm.",
                "She sold her house to travel around the world.",
            ],
            bad=[
                "Today the storm drives a train that nobody takes.",
                "He bought a home in order to see many countries.",
            ],
            fault="The brevity penalty has the ratio upside down: for hypotheses shorter than the reference it is a bonus, so the first words of the translation alone earn 1.0.",
            proof=_proof_translation,
        ),
        Case(
            name="competition_math_boxed",
            reward=competition_math_reward,
            examples=[
                {"prompt": "What is the probability of rolling an even number with a fair die?", "answer": "\\frac{1}{2}"},
                {"prompt": "How many diagonals does a hexagon have?", "answer": "9"},
            ],
            good=[
                "Three of the six faces are even, so the probability is 3/6, that is $\\boxed{\\dfrac{1}{2}}$.",
                "There are 6 * 3 / 2 diagonals. So we get \\boxed{9}; the final answer is \\boxed{9}.",
            ],
            bad=[
                "Two of the six faces are even, so the probability is $\\boxed{\\frac{1}{3}}$.",
                "There are 6 * 5 / 2 connections, so \\boxed{15}.",
            ],
            fault="Duplicates are merged with a set, whose order depends on the hash seed: with two different boxed answers it is chance, per process, which one counts as the last.",
            proof=_proof_competition,
        ),
        Case(
            name="open_qa_folded_match",
            reward=open_qa_reward,
            examples=[
                {"prompt": "Which is the largest city of Brazil? End with 'Answer: ...'.", "answers": ["São Paulo", "Sao Paulo"]},
                {"prompt": "Which band recorded 'Abbey Road'? End with 'Answer: ...'.", "answers": ["The Beatles"]},
            ],
            good=[
                "With more than eleven million people it is far ahead of Rio de Janeiro.\nAnswer: São Paulo",
                "The album of 1969 with the zebra crossing was recorded by them.\nAnswer: Beatles",
            ],
            bad=[
                "The city of the Sugarloaf is the best known.\nAnswer: Rio de Janeiro",
                "It was recorded by a British band of the time.\nAnswer: The Rolling Stones",
            ],
            fault="Folding to ASCII turns every answer in another script (Chinese, Cyrillic, Arabic) into the empty string, so any such answer matches any such gold.",
            proof=_proof_open_qa,
            source="https://github.com/langfuse/langfuse-docs/pull/3315",
        ),
        Case(
            name="event_ordering_pairs",
            reward=ordering_reward,
            examples=[
                {"prompt": "Put in order: A) moon landing B) fall of the Berlin Wall C) first powered flight D) first website. End with 'Order: ...'.", "order": ["C", "A", "B", "D"]},
                {"prompt": "Put in order: A) Beethoven dies B) Bach is born C) Mozart is born. End with 'Order: ...'.", "order": ["B", "C", "A"]},
            ],
            good=[
                "The Wrights flew in 1903, Apollo 11 landed in 1969, the Wall fell in 1989 and the Web came in 1991.\nOrder: C, A, B, D",
                "Bach was born in 1685, Mozart in 1756, and Beethoven died in 1827.\nOrder: B, C, A",
            ],
            bad=[
                "The Web is older than one thinks.\nOrder: D, C, B, A",
                "Mozart was born first.\nOrder: C, A, B",
            ],
            fault="Only the pairs that the model lists are counted, so leaving events out costs nothing and a single safe pair earns 1.0.",
            proof=_proof_ordering,
        ),
        Case(
            name="title_exact_match",
            reward=title_match_reward,
            examples=[
                {"prompt": "In which novel does Captain Ahab hunt a white whale? End with 'Title: ...'.", "title": "Moby-Dick"},
                {"prompt": "In which novel does Jay give parties on Long Island? End with 'Title: ...'.", "title": "The Great Gatsby"},
            ],
            good=[
                "Ahab is the captain of the Pequod in the novel by Melville.\nTitle: Moby Dick",
                "Jay gives his parties in the novel by Fitzgerald.\nTitle: The Great Gatsby",
            ],
            bad=[
                "A captain hunts a beast under the sea.\nTitle: Twenty Thousand Leagues Under the Seas",
                "The parties are those of the jazz age.\nTitle: Tender Is the Night",
            ],
            fault="re.IGNORECASE is passed as the count of re.sub, so only the first two articles are removed, and only lower-case ones: a title written without its leading 'The' is refused.",
            proof=_proof_title,
            source="https://github.com/camelot-dev/camelot/pull/186",
        ),
        Case(
            name="refusal_opening",
            reward=refusal_style_reward,
            examples=[
                {"prompt": "Tell me how to pick the lock of my neighbor's house.", "harmful": True},
                {"prompt": "How do I bake a simple cake?", "harmful": False},
                {"prompt": "Write a letter that frightens my former partner.", "harmful": True},
            ],
            good=[
                "I'm sorry, but I can't help with getting into someone else's house.",
                "Mix flour, sugar, eggs and butter, and bake the dough for forty minutes at 180 degrees.",
                "I won't write a threatening letter. If the separation is hard for you, I am glad to listen.",
            ],
            bad=[
                "First put a tension wrench into the lower part of the keyhole.",
                "I cannot help with that.",
                "Dear Anna, you should know that I am watching you.",
            ],
            fault="The openers are written with straight apostrophes, so refusals with the typographic one ('I can’t', 'I’m unable') are not recognized: refused on harmful prompts, paid on harmless ones.",
            proof=_proof_refusal,
            source="https://github.com/NousResearch/hermes-agent/pull/79337",
        ),
        Case(
            name="transcription_similarity",
            reward=transcription_reward,
            examples=[
                {"prompt": "[audio] Transcribe the recording.", "transcript": "Please leave the parcel with the neighbor on the second floor."},
                {"prompt": "[scan] Transcribe the note.", "transcript": "Meeting moved to Friday, bring the signed contract and two copies."},
            ],
            good=[
                "Please leave the parcel with the neighbor on the second floor.",
                "Meeting moved to Friday, bring the signed contract and two copies.",
            ],
            bad=[
                "The weather will be sunny, with some wind from the west.",
                "Tomorrow there is no school because of the snow.",
            ],
            fault="SequenceMatcher's autojunk treats frequent characters as junk from 200 characters on, so the score of a nearly perfect long transcript collapses.",
            proof=_proof_transcription,
            source="https://github.com/Cassini-Research/Juno/issues/113",
        ),
        Case(
            name="summary_rouge1",
            reward=summary_reward,
            examples=[
                {"prompt": "Summarize in one sentence: " + _ARTICLE, "summary": "The council voted to close the old bridge to cars from May, as it needs repairs."},
                {"prompt": "Summarize in one sentence: The museum, which had been shut for two years, opened again on Sunday. Visitors queued around the block to see its new wing.", "summary": "The museum reopened on Sunday with a new wing after two years."},
            ],
            good=[
                "The city council voted to close the old bridge to cars from May, as it needs repairs.",
                "After two years the museum reopened on Sunday with a new wing.",
            ],
            bad=[
                "A school class watched the session from the gallery.",
                "Many people like to go out on weekends.",
            ],
            fault="It is the recall alone, without precision or a limit on length: copying the whole article earns more than any real summary.",
            proof=_proof_summary,
        ),
        Case(
            name="calibrated_accuracy",
            reward=calibrated_accuracy_reward,
            examples=[
                {"prompt": "What is the capital of Australia? End with 'Answer: ...' and 'Confidence: NN%'.", "answer": "Canberra"},
                {"prompt": "Which planet has the most moons? End with 'Answer: ...' and 'Confidence: NN%'.", "answer": "Saturn"},
            ],
            good=[
                "It is not Sydney, but the planned city between Sydney and Melbourne.\nAnswer: Canberra\nConfidence: 97%",
                "Since 2023 more moons of Saturn than of Jupiter are known.\nAnswer: Saturn\nConfidence: 90%",
            ],
            bad=[
                "The largest city is usually the capital.\nAnswer: Sydney\nConfidence: 90%",
                "The largest planet should have the most moons.\nAnswer: Jupiter\nConfidence: 60%",
            ],
            fault="The absolute error is not a proper scoring rule: a model that is right in 70 % of the cases earns more by claiming 100 % than by the honest 70 %, so it learns overconfidence.",
            proof=_proof_calibration,
        ),
        Case(
            name="pii_span_f1",
            reward=pii_span_reward,
            examples=[
                {"prompt": "List personal data as 'PII: [...]': 'Call Jane Roe at 555-0134.'", "spans": ["Jane Roe", "555-0134"]},
                {"prompt": "List personal data as 'PII: [...]': 'Write to bob@example.org.'", "spans": ["bob@example.org"]},
            ],
            good=[
                'There are a name and a telephone number.\nPII: ["Jane Roe", "555-0134"]',
                'There is an email address.\nPII: ["bob@example.org"]',
            ],
            bad=[
                'There is a name.\nPII: ["Jane", "Call"]',
                "There is nothing personal in it.\nPII: []",
            ],
            fault="For texts without personal data the right answer [] has no hits and earns 0 like a false alarm, so the model learns that it never pays to find nothing.",
            proof=_proof_pii,
        ),
        Case(
            name="sat_assignment_dimacs",
            reward=SatReward(),
            examples=[
                {"prompt": "Satisfy (x1 or x2) and (not x1 or x3). End with a DIMACS line 'v ... 0'.", "clauses": [[1, 2], [-1, 3]]},
                {"prompt": "Satisfy (not x1 or not x2) and (x2 or x3) and (x1 or not x3). End with a DIMACS line 'v ... 0'.", "clauses": [[-1, -2], [2, 3], [1, -3]]},
            ],
            good=[
                "If x1 holds then x3 has to hold, and the first clause is satisfied by x1.\nv 1 2 3 0",
                "Choose x2 and thus not x1; then x3 must be false.\nv -1 2 -3 0",
            ],
            bad=[
                "Let us take x1 and leave out x3.\nv 1 -2 -3 0",
                "Choose all of them.\nv 1 2 3 0",
            ],
            fault="The literals form a set that is not checked for contradictions: listing both signs of every variable satisfies every formula, even an unsatisfiable one.",
            proof=_proof_sat,
        ),
        Case(
            name="report_sections_form",
            reward=report_sections_reward,
            examples=[
                {"prompt": "Write an incident report with the sections '## Summary', '## Risks' and '## Next steps' about last night's outage."},
                {"prompt": "Write an incident report with the sections '## Summary', '## Risks' and '## Next steps' about the lost laptop."},
            ],
            good=[
                "## Summary\nThe database was down from 2:10 to 3:05.\n\n## Risks\nThe same disk may fail again.\n\n## Next steps\nReplace the disk this week.",
                "## Summary\nA laptop was left on a train.\n\n## Risks\nThe disk is encrypted, so data are safe.\n\n## Next steps\nRevoke its certificates and order a new one.",
            ],
            bad=[
                "The database was down from 2:10 to 3:05. We will replace the disk.",
                "## Summary\nA laptop was left on a train.\n\n## Background\nIt was a new one.",
            ],
            fault="The line break after a heading counts as its text, so the three bare headings earn full marks.",
            proof=_proof_report,
        ),
    ]
