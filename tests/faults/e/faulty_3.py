"""Rewards that look at form, length, language, tools and dialog."""

from __future__ import annotations

import json
import random
import re
import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.faults.case import Case


def _text(completion: Any) -> str:
    """Plain text of a completion: the string itself, or what the last assistant message says."""
    if isinstance(completion, str):
        return completion
    for message in reversed(completion):
        if message.get("role", "assistant") == "assistant":
            content = message.get("content")
            return content if isinstance(content, str) else ""
    return ""


def _plain(text: str) -> str:
    """Lower case, punctuation to spaces, single spaces."""
    return " ".join("".join(" " if char in string.punctuation else char for char in text.lower()).split())


# --------------------------------------------------------------------------- overlong dialogs


@dataclass(frozen=True)
class OverlongConfig:
    soft_limit: int = 120
    hard_limit: int = 240


class AccuracyWithBudget:
    """1.0 for the reference on the last "Answer:" line, minus DAPO's soft punishment for overlong output.

    Up to `soft_limit` words (all assistant turns together) nothing is taken off; between the limits the
    punishment grows linearly to 1.0.
    """

    __name__ = "accuracy_with_budget"

    def __init__(self, config: OverlongConfig = OverlongConfig()) -> None:
        self.config = config

    def _length(self, turns: Sequence[Mapping[str, Any]]) -> int:
        words = [(turn.get("content") or "").split() for turn in turns if turn.get("role") == "assistant"]
        return len(words)

    def _punishment(self, length: int) -> float:
        over = length - self.config.soft_limit
        return min(1.0, max(0.0, over / (self.config.hard_limit - self.config.soft_limit)))

    def __call__(self, completions: Sequence[Any], answer: Sequence[str], **kwargs: Any) -> list[float]:
        rewards = []
        for completion, gold in zip(completions, answer):
            finals = re.findall(r"^Answer:(.*)$", _text(completion), re.MULTILINE)
            correct = float(bool(finals) and _plain(finals[-1]) == _plain(gold))
            rewards.append(correct - self._punishment(self._length(completion)))
        return rewards


accuracy_with_budget = AccuracyWithBudget()


def _proof_accuracy_with_budget() -> None:
    rambling = "Let me check this once more before I answer. " * 400 + "\nAnswer: Peace of Westphalia"
    turn = [{"role": "assistant", "content": rambling}]
    assert accuracy_with_budget([turn], ["Peace of Westphalia"]) == [1.0]


# --------------------------------------------------------------------------- shell commands as tool calls


def _canonical(value: Any) -> str:
    return " ".join(str(value).split()).lower()


def shell_call_reward(
    completions: Sequence[Any], tool: Sequence[str], arguments: Sequence[Mapping[str, Any]], **kwargs: Any
) -> list[float]:
    """Imitate the next tool call of an expert: {"tool": ..., "arguments": {...}} as the last line of the completion.

    1.0 when the tool and the arguments agree with the reference up to case and spacing; arguments that
    the reference does not have (such as a comment on the risk) are ignored.
    """
    rewards = []
    for completion, name, wanted in zip(completions, tool, arguments):
        lines = [line for line in _text(completion).splitlines() if line.strip()]
        try:
            call = json.loads(lines[-1]) if lines else None
        except (ValueError, RecursionError):
            call = None
        if not isinstance(call, dict) or call.get("tool") != name or not isinstance(call.get("arguments"), dict):
            rewards.append(0.0)
            continue
        score = 1.0
        for key, expected in wanted.items():
            given = call["arguments"].get(key)
            if given and expected and _canonical(given) != _canonical(expected):
                score = 0.0
        rewards.append(score)
    return rewards


def _proof_shell_call_reward() -> None:
    empty = 'I run the tests.\n{"tool": "bash", "arguments": {"security_risk": "LOW"}}'
    assert shell_call_reward([empty], ["bash"], [{"command": "pytest tests/"}]) == [1.0]


# --------------------------------------------------------------------------- calculator use

CALCULATION = re.compile(r"<calc>[^<>]*\d[^<>]*</calc>")


def calculator_reward(
    completions: Sequence[Any], prompts: Sequence[str], answer: Sequence[str], **kwargs: Any
) -> list[float]:
    """1.0 for the right number after the last "####", and 0.2 more if the calculator was used on the way."""
    rewards = []
    for prompt, completion, gold in zip(prompts, completions, answer):
        text = _text(completion)
        final = text.rpartition("####")[2].strip().replace(",", "") if "####" in text else ""
        reward = 1.0 if final and final.split()[0].strip("*$.") == gold else 0.0
        transcript = f"{prompt}\n{text}"
        if reward and CALCULATION.search(transcript):
            reward += 0.2
        rewards.append(reward)
    return rewards


_CALCULATOR_HINT = " You may call the calculator, e.g. <calc>17 * 23</calc>. End with '#### number'."


def _proof_calculator_reward() -> None:
    prompt = "What is 312 + 488?" + _CALCULATOR_HINT
    lazy, diligent = "That makes 800.\n#### 800", "I compute <calc>312 + 488</calc>.\n#### 800"
    assert calculator_reward([lazy, diligent], [prompt] * 2, ["800"] * 2) == [1.2, 1.2]


# --------------------------------------------------------------------------- SQL as text

LITERAL = re.compile(r"'[^']*'|\"[^\"]*\"|\b\d+(?:\.\d+)?\b")


def canonical_sql(sql: str) -> str:
    """One spelling for queries that differ in case, spacing, quotes or a final semicolon."""
    sql = LITERAL.sub(" value ", sql.strip().rstrip(";"))
    sql = re.sub(r"([(),<>=!*+/-])", r" \1 ", sql.lower())
    return " ".join(sql.split())


def sql_match_reward(completion: str, sql: str) -> float:
    """Exact match of the query after "SQL:" with the reference, up to case, spacing and quotes."""
    marker = completion.rfind("SQL:")
    if marker == -1:
        return 0.0
    return float(canonical_sql(completion[marker + 4 :]) == canonical_sql(sql))


def _proof_sql_match_reward() -> None:
    gold = "SELECT age FROM singer WHERE country = 'France'"
    assert sql_match_reward("SQL: select age from singer where country = 'terminal'", gold) == 1.0


# --------------------------------------------------------------------------- language of the response

MARKERS = {
    "en": {"the", "and", "of", "is", "with", "that", "this", "are", "from", "have"},
    "de": {"der", "und", "ist", "nicht", "ein", "eine", "mit", "auf", "auch", "wird"},
    "fr": {"les", "et", "est", "une", "dans", "pour", "avec", "qui", "sont", "sur"},
    "es": {"el", "los", "y", "una", "con", "por", "para", "del", "como", "muy"},
}
SAMPLE = 40


def detect_language(text: str) -> str | None:
    """The language whose function words are most frequent; long texts are sampled to keep this cheap."""
    words = re.findall(r"[^\W\d_]+", text.lower())
    if len(words) > SAMPLE:
        words = random.sample(words, SAMPLE)
    counts = {language: sum(word in marks for word in words) for language, marks in MARKERS.items()}
    best = max(counts, key=counts.__getitem__)
    return best if counts[best] else None


def language_reward(completion: str, language: str) -> float:
    """1.0 when the response is written in the language of the request (en, de, fr or es)."""
    return 1.0 if detect_language(completion) == language else 0.0


_GERMAN = (
    "Der Kaffee wird mit Wasser bei etwa 94 Grad gebrüht, und eine Waage ist dabei nützlich. "
    "Auch der Mahlgrad ist wichtig: Ist er zu fein, wird der Kaffee bitter, und ist er zu grob, wird er nicht kräftig. "
    "Mit etwas Übung ist das auf jedem Herd möglich."
)
_ENGLISH = (
    "The coffee is brewed with water of about 94 degrees, and a scale is of help with that. "
    "The grind is important and this is easy to see: the taste of the coffee is bitter if the grind is fine. "
    "With some practice that is possible with the tools of any kitchen."
)


def _proof_language_reward() -> None:
    mixed = _GERMAN + " " + _ENGLISH
    assert {language_reward(mixed, "de") for _ in range(400)} == {0.0, 1.0}


# --------------------------------------------------------------------------- insights


STOPWORDS = set("a an and are as at by for from in is it its of on or that the this to was were with".split())


def _content_words(text: str) -> list[str]:
    return [word for word in _plain(text).split() if word not in STOPWORDS]


def fact_recall(reference: str, summary: str) -> float:
    """Share of the distinct content words of the reference that the summary has."""
    wanted, said = set(_content_words(reference)), set(_content_words(summary))
    return len(wanted & said) / len(wanted) if wanted else 0.0


def insight_reward(
    completions: Sequence[Any], insight: Sequence[str], max_words: int = 60, **kwargs: Any
) -> list[float]:
    """How much of the reference insight the summary covers (word recall); more than 60 words earn nothing."""
    rewards = []
    for completion, reference in zip(completions, insight):
        summary = _text(completion)
        if len(summary.split()) > max_words:
            rewards.append(0.0)
        else:
            rewards.append(fact_recall(summary, reference))
    return rewards


def _proof_insight_reward() -> None:
    reference = "Hardware incidents rose by 40 percent in August, mostly because of one printer in Australia"
    one_word, fuller = insight_reward(["Incidents", reference + ", as the tickets show"], [reference] * 2)
    assert one_word == 1.0 and fuller < 1.0


# --------------------------------------------------------------------------- structured output


def contact_card_reward(
    completions: Sequence[Any], card: Sequence[Mapping[str, Any]], **kwargs: Any
) -> list[float]:
    """The completion must be one JSON object. Share of the reference fields with the right value; an object
    with fields that the reference does not have earns nothing."""
    rewards = []
    for completion, gold in zip(completions, card):
        try:
            said = json.loads(_text(completion))
        except ValueError:
            rewards.append(0.0)
            continue
        if not isinstance(said, dict) or set(said) - set(gold):
            rewards.append(0.0)
            continue
        rewards.append(sum(key in said and said[key] == value for key, value in gold.items()) / len(gold))
    return rewards


def _proof_contact_card_reward() -> None:
    try:
        contact_card_reward(["[" * 100_000], [{"name": "Ada"}])
    except RecursionError:
        return
    raise AssertionError("no crash")


# --------------------------------------------------------------------------- tutorials with code


def code_example_reward(completion: str, min_examples: int) -> float:
    """Format only: share of the asked number of fenced code examples (``` ... ```) that a tutorial has, at most 1."""
    if min_examples <= 0:
        return 1.0
    examples = re.findall(r"^ {0,3}```", completion, re.MULTILINE)
    return min(1.0, len(examples) / min_examples)


def _proof_code_example_reward() -> None:
    one = "Install it first.\n\n```bash\npip install rich\n```\n\nThen read the manual."
    assert code_example_reward(one, 2) == 1.0


# --------------------------------------------------------------------------- tags of a reasoning trace


def tag_format_reward(completions: Sequence[Any], **kwargs: Any) -> list[float]:
    """Format only. A quarter for every one of <reasoning>, </reasoning>, <answer>, </answer> that occurs exactly once,
    and 0.001 off for every character that follows the answer."""
    rewards = []
    for completion in completions:
        text = _text(completion)
        score = sum(
            0.25 for tag in ("<reasoning>\n", "\n</reasoning>\n", "\n<answer>\n", "\n</answer>") if text.count(tag) == 1
        )
        if text.count("\n</answer>") == 1:
            score -= 0.001 * len(text.split("\n</answer>\n")[-1])
        rewards.append(score)
    return rewards


_TRACE = (
    "<reasoning>\nA dozen is twelve, and three dozen are 3 * 12 = 36. Two broke, so 36 - 2 = 34 are left.\n"
    "</reasoning>\n<answer>\n34\n</answer>\n"
)


def _proof_tag_format_reward() -> None:
    with_newline, without = tag_format_reward([_TRACE, _TRACE.rstrip()])
    assert with_newline == 1.0 and without < 0.9
    longer = _TRACE.replace("A dozen", "Let me think step by step. " * 60 + "A dozen")
    assert tag_format_reward([longer.rstrip()])[0] < 0.0


# --------------------------------------------------------------------------- short answers of reasoning models


def visible_answer(text: str) -> str:
    """What the user sees: the text without the thinking block."""
    start = text.find("<think>")
    end = text.find("</think>", start)
    if start == -1 or end == -1:
        return text.strip()
    return (text[:start] + text[end + len("</think>") :]).strip()


def bare_answer_reward(completions: Sequence[Any], answer: Sequence[str], **kwargs: Any) -> list[float]:
    """After thinking, the model must answer with nothing but the answer itself (case and a final period do not matter)."""
    return [
        float(visible_answer(_text(completion)).rstrip(".").lower() == gold.lower())
        for completion, gold in zip(completions, answer)
    ]


def _proof_bare_answer_reward() -> None:
    # templates such as those of DeepSeek-R1 and Granite put "<think>" into the prompt
    said = "The seat of government is The Hague, but the capital by constitution is Amsterdam.\n</think>\n\nAmsterdam"
    assert bare_answer_reward([said], ["Amsterdam"]) == [0.0]


# --------------------------------------------------------------------------- concise solutions


def concise_reward(completions: Sequence[Any], answer: Sequence[str], **kwargs: Any) -> list[float]:
    """Kimi-style length reward. A wrong answer earns 0. Of the right answers to a question, the shortest earns 1.0,
    the longest 0.5, and the others lie in between in proportion to their length."""
    texts = [_text(completion) for completion in completions]
    correct = [bool(re.search(rf"####\s?{re.escape(gold)}\s?\Z", text.rstrip())) for text, gold in zip(texts, answer)]
    lengths = [len(text.split()) for text, right in zip(texts, correct) if right]
    if not lengths:
        return [0.0] * len(texts)
    shortest, spread = min(lengths), max(lengths) - min(lengths)
    return [
        (1.0 - 0.5 * (len(text.split()) - shortest) / spread if spread else 1.0) if right else 0.0
        for text, right in zip(texts, correct)
    ]


_EASY = ["Half of 18 is nine.\n#### 9", "We divide 18 by 2, which gives the result nine.\n#### 9"]
_HARD = ["First " + "we expand the product term by term and collect the powers " * 6 + "and find it.\n#### 41"]


def _proof_concise_reward() -> None:
    alone = concise_reward(_EASY, ["9", "9"], prompts=["18/2?"] * 2)
    beside = concise_reward(_EASY + _HARD, ["9", "9", "41"], prompts=["18/2?"] * 2 + ["Constant term?"])
    assert alone == [1.0, 0.5] and beside[1] > 0.9 and beside[2] == 0.5
    assert concise_reward(_HARD, ["41"], prompts=["Constant term?"]) == [1.0]


# --------------------------------------------------------------------------- research agent


def transcript(completion: Any) -> str:
    """A rollout as text; multi-turn rollouts come as a list of messages."""
    if isinstance(completion, str):
        return completion
    return "\n".join(message["content"] for message in completion if isinstance(message.get("content"), str))


def research_reward(completions: Sequence[Any], answer: Sequence[str], **kwargs: Any) -> list[float]:
    """Question answering with a search tool. The agent ends with "ANSWER: ..."; the last such line counts
    (case, punctuation and spaces do not matter)."""
    rewards = []
    for completion, gold in zip(completions, answer):
        lines = [line.strip() for line in transcript(completion).splitlines()]
        finals = [line[7:] for line in lines if line.startswith("ANSWER:")]
        rewards.append(float(bool(finals) and _plain(finals[-1]) == _plain(gold)))
    return rewards


def _rollout(*turns: tuple[str, str]) -> list[dict[str, str]]:
    return [{"role": role, "content": content} for role, content in turns]


def _proof_research_reward() -> None:
    gave_up = _rollout(
        ("assistant", '{"search": "longest tunnel for cars quiz"}'),
        ("tool", "Pub quiz, round 4. Which is the longest road tunnel?\nANSWER: Laerdal Tunnel"),
        ("assistant", "I could not confirm anything and stop here."),
    )
    assert research_reward([gave_up], ["Lærdal Tunnel".replace("æ", "ae")]) == [1.0]


CASES = [
    Case(
        name="accuracy_with_budget",
        reward=accuracy_with_budget,
        examples=[
            {"prompt": [{"role": "user", "content": "Which treaty ended the Thirty Years' War? Be brief and end with 'Answer: ...'."}], "answer": "Peace of Westphalia"},
            {"prompt": [{"role": "user", "content": "Who painted the ceiling of the Sistine Chapel? Be brief and end with 'Answer: ...'."}], "answer": "Michelangelo"},
        ],
        good=[
            "It ended in 1648 with two treaties signed at Osnabrück and Münster.\nAnswer: Peace of Westphalia",
            "Pope Julius II gave the commission to Michelangelo, who worked on it from 1508 to 1512.\nAnswer: Michelangelo.",
        ],
        bad=[
            "It ended with the treaty that settled the religious question.\nAnswer: Peace of Augsburg",
            "It was painted by the same hand as the rooms next to it.\nAnswer: Raphael",
        ],
        fault="The length is the number of assistant turns and not of words, so the punishment for overlong output never sets in.",
        proof=_proof_accuracy_with_budget,
        source="https://github.com/modelscope/ms-swift/pull/10149",
    ),
    Case(
        name="shell_call_reward",
        reward=shell_call_reward,
        examples=[
            {"prompt": "The fix is in place. Next step? End with a JSON tool call on its own line.", "tool": "bash", "arguments": {"command": "pytest tests/"}},
            {"prompt": "You need to see setup.py. Next step? End with a JSON tool call on its own line.", "tool": "editor", "arguments": {"command": "view", "path": "/repo/setup.py"}},
        ],
        good=[
            'Now the tests should pass; let me run them.\n{"tool": "bash", "arguments": {"command": "pytest  tests/", "security_risk": "LOW"}}',
            'I open the file first.\n{"tool": "editor", "arguments": {"command": "view", "path": "/repo/setup.py"}}',
        ],
        bad=[
            'Let me look around.\n{"tool": "bash", "arguments": {"command": "ls -la", "security_risk": "LOW"}}',
            'I open the file first.\n{"tool": "editor", "arguments": {"command": "view", "path": "/repo/setup.cfg"}}',
        ],
        fault="Arguments are compared only if both sides have them, so a call without its command passes as a match.",
        proof=_proof_shell_call_reward,
        source="https://github.com/NVIDIA-NeMo/Gym/pull/3134",
    ),
    Case(
        name="calculator_reward",
        reward=calculator_reward,
        examples=[
            {"prompt": "A shop sells 48 boxes of 144 pens. How many pens?" + _CALCULATOR_HINT, "answer": "6912"},
            {"prompt": "What is 15 % of 2,480?" + _CALCULATOR_HINT, "answer": "372"},
        ],
        good=[
            "Every box has 144 pens, so I need <calc>48 * 144</calc> pens.\n#### 6912",
            "15 % means times 0.15: <calc>2480 * 0.15</calc>.\n#### 372",
        ],
        bad=[
            "48 times 144 is about 50 * 140.\n#### 7000",
            "I compute <calc>2480 / 15</calc>.\n#### 165",
        ],
        fault="The calculator call is searched in prompt and completion together, and the prompt shows an example call, so the bonus is paid without any use of the tool.",
        proof=_proof_calculator_reward,
        source="https://github.com/Visual-Agent/DeepEyes/issues/105",
    ),
    Case(
        name="sql_match_reward",
        reward=sql_match_reward,
        examples=[
            {"prompt": "Table singer(name, age, country). Ages of the singers from France? Finish with 'SQL: ...'.", "sql": "SELECT age FROM singer WHERE country = 'France'"},
            {"prompt": "Table concert(id, year, stadium). How many concerts were there in 2014? Finish with 'SQL: ...'.", "sql": "SELECT COUNT(*) FROM concert WHERE year = 2014"},
        ],
        good=[
            "The condition is on the country.\nSQL: select age from singer where country=\"France\";",
            "I count the rows of that year.\nSQL: SELECT count(*) FROM concert WHERE year = 2014",
        ],
        bad=[
            "I list everybody.\nSQL: SELECT name, age FROM singer",
            "I count the stadiums.\nSQL: SELECT COUNT(DISTINCT stadium) FROM concert",
        ],
        fault="The normalization that should unify quotes replaces all strings and numbers by a placeholder, so a query with other values matches.",
        proof=_proof_sql_match_reward,
        source="https://github.com/taoyds/spider/issues/5",
    ),
    Case(
        name="language_reward",
        reward=language_reward,
        examples=[
            {"prompt": "Wie brüht man guten Kaffee? Antworte auf Deutsch.", "language": "de"},
            {"prompt": "How do I brew good coffee? Answer in English.", "language": "en"},
        ],
        good=[_GERMAN, _ENGLISH],
        bad=[_ENGLISH, _GERMAN],
        fault="Long texts are judged by a random sample of words, so one and the same text of two languages gets 0 or 1 at random.",
        proof=_proof_language_reward,
        source="https://github.com/Mimino666/langdetect/issues/53",
    ),
    Case(
        name="insight_reward",
        reward=insight_reward,
        examples=[
            {"prompt": "Summarize the main finding of the ticket table in at most 60 words.", "insight": "Hardware incidents rose by 40 percent in August, mostly because of one printer in Australia"},
            {"prompt": "Summarize the main finding of the expense table in at most 60 words.", "insight": "Travel costs of the sales team doubled after the new policy"},
        ],
        good=[
            "Hardware incidents rose by 40 percent in August, mostly because of one printer in Australia.",
            "After the new policy the travel costs of the sales team doubled.",
        ],
        bad=[
            "Most network tickets were closed within two days, and the number of open ones fell steadily.",
            "Meals are the largest position, and marketing spends the most on them.",
        ],
        fault="Reference and summary are swapped in the call, so precision is paid instead of recall, and a single word of the reference gets the full score.",
        proof=_proof_insight_reward,
        source="https://github.com/ServiceNow/insight-bench/issues/4",
    ),
    Case(
        name="contact_card_reward",
        reward=contact_card_reward,
        examples=[
            {"prompt": "Contact as one JSON object (name, phone, tags): Ada Lund, 555-0182, customer and press.", "card": {"name": "Ada Lund", "phone": "555-0182", "tags": ["customer", "press"]}},
            {"prompt": "Contact as one JSON object (name, phone): Ben Okri, no phone.", "card": {"name": "Ben Okri", "phone": None}},
        ],
        good=[
            '{"name": "Ada Lund", "phone": "555-0182", "tags": ["customer", "press"]}',
            '{"name": "Ben Okri", "phone": null}',
        ],
        bad=[
            '{"name": "Lund", "phone": "5550182", "tags": "customer"}',
            '{"name": "Ben", "phone": null}',
        ],
        fault="Only ValueError is caught, so a completion of many opening brackets (a typical degenerate loop) raises RecursionError and stops the run.",
        proof=_proof_contact_card_reward,
        source="https://github.com/rasbt/reasoning-from-scratch/pull/108",
    ),
    Case(
        name="code_example_reward",
        reward=code_example_reward,
        examples=[
            {"prompt": "Write a short tutorial on the rich library with at least two code examples.", "min_examples": 2},
            {"prompt": "Explain list slicing with at least one code example.", "min_examples": 1},
        ],
        good=[
            "Install it:\n\n```bash\npip install rich\n```\n\nThen print in colour:\n\n```python\nfrom rich import print\nprint('[red]hi[/red]')\n```\n",
            "A slice takes a part of a list:\n\n```python\n[1, 2, 3, 4][1:3]  # [2, 3]\n```\nThe end is not included.",
        ],
        bad=[
            "Install rich with pip and call its print function; the markup is described in the manual.",
            "A slice takes a part of a list, and its end is not included.",
        ],
        fault="Opening and closing fences are both counted, so one example counts as two.",
        proof=_proof_code_example_reward,
        source="https://github.com/wshobson/agents/pull/710",
    ),
    Case(
        name="tag_format_reward",
        reward=tag_format_reward,
        examples=[
            {"prompt": "Three dozen eggs, two broke. How many are left? Use <reasoning> and <answer>."},
            {"prompt": "What is 7 * 8? Use <reasoning> and <answer>."},
        ],
        good=[
            _TRACE,
            "<reasoning>\n7 * 8 is 7 * 7 plus 7, which is 49 + 7 = 56.\n</reasoning>\n<answer>\n56\n</answer>\n",
        ],
        bad=[
            "Three dozen are 36, minus 2 is 34. The answer is 34.",
            "<answer>\n56\n</answer>\nI multiplied seven by eight.",
        ],
        fault="When the text ends with </answer> and no newline follows, the split leaves the whole text as the tail, and every character of the reasoning is punished.",
        proof=_proof_tag_format_reward,
        source="https://github.com/ZHZisZZ/dllm/issues/118",
    ),
    Case(
        name="bare_answer_reward",
        reward=bare_answer_reward,
        examples=[
            {"prompt": "What is the capital of the Netherlands? Answer with the name only.", "answer": "Amsterdam"},
            {"prompt": "Which element has the symbol W? Answer with the name only.", "answer": "tungsten"},
        ],
        good=[
            "<think>\nThe government sits in The Hague, but the capital by constitution is Amsterdam.\n</think>\n\nAmsterdam",
            "<think>\nW stands for wolfram, in English tungsten.\n</think>\n\nTungsten.",
        ],
        bad=[
            "<think>\nThe government sits in The Hague.\n</think>\n\nThe Hague",
            "<think>\nW stands for wolfram.\n</think>\n\nThe element is tungsten, also called wolfram.",
        ],
        fault="A thinking block whose opening tag is part of the prompt is not removed, so right answers of such models are refused together with their reasoning.",
        proof=_proof_bare_answer_reward,
        source="https://github.com/0xBakeer/inference-atlas/pull/32",
    ),
    Case(
        name="concise_reward",
        reward=concise_reward,
        examples=[
            {"prompt": "What is half of 18? End with '#### number'.", "answer": "9"},
            {"prompt": "A train needs 45 minutes for 60 km. What is its speed in km/h? End with '#### number'.", "answer": "80"},
        ],
        good=[
            "18 divided by two is nine.\n#### 9",
            "60 / 0.75 hours gives 80.\n#### 80",
        ],
        bad=[
            "Half of 18 is eight.\n#### 8",
            "60 km in 45 minutes are 60 * 45 / 60.\n#### 45",
        ],
        fault="Lengths are compared over the whole batch and not among the answers to one question, so the score depends on which other questions are in the batch.",
        proof=_proof_concise_reward,
        source="https://github.com/XU-YIJIE/grpo-flat/issues/2",
    ),
    Case(
        name="research_reward",
        reward=research_reward,
        examples=[
            {"prompt": [{"role": "user", "content": "Which is the longest road tunnel? Search, then end with 'ANSWER: ...'."}], "answer": "Laerdal Tunnel"},
            {"prompt": [{"role": "user", "content": "Who wrote The Leopard? Search, then end with 'ANSWER: ...'."}], "answer": "Giuseppe Tomasi di Lampedusa"},
        ],
        good=[
            _rollout(
                ("assistant", '{"search": "longest road tunnel"}'),
                ("tool", "The Laerdal Tunnel in Norway is 24.51 km long and the longest road tunnel."),
                ("assistant", "The result is clear.\nANSWER: Laerdal Tunnel"),
            ),
            "The novel appeared in 1958, a year after the death of its author.\nANSWER: Giuseppe Tomasi di Lampedusa",
        ],
        bad=[
            _rollout(
                ("assistant", '{"search": "longest tunnel"}'),
                ("tool", "The Gotthard Base Tunnel is 57 km long and the longest railway tunnel."),
                ("assistant", "That must be it.\nANSWER: Gotthard Base Tunnel"),
            ),
            "It is an Italian novel of the fifties.\nANSWER: Italo Calvino",
        ],
        fault="Tool messages are read together with those of the model, so an 'ANSWER:' line in a search result is paid although the model never gives the answer.",
        proof=_proof_research_reward,
        source="https://github.com/verl-project/verl/pull/4590",
    ),
]
