"""Format, length, style, safety and dialog."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field

from tests.faults.case import Case


def contents(completions):
    """The text of each completion, which comes as a list of chat messages."""
    return [completion[-1]["content"] for completion in completions]


# --- Layout ---------------------------------------------------------------------------------------------------

THINK_ANSWER = re.compile(r"\s*<think>(.+?)</think>\s*<answer>(.+?)</answer>\s*")
LAYOUT_TAGS = ("<think>", "</think>", "<answer>", "</answer>")


def think_answer_format_reward(completions, **kwargs):
    """Layout only: one <think> block, then one <answer> block, neither of them empty and nothing else around them."""
    rewards = []
    for text in contents(completions):
        once = all(text.count(tag) == 1 for tag in LAYOUT_TAGS)
        match = THINK_ANSWER.fullmatch(text) if once else None
        filled = match is not None and match.group(1).strip() and match.group(2).strip()
        rewards.append(1.0 if filled else 0.0)
    return rewards


def prove_think_answer_format():
    text = (
        "<think>\nThe train covers 120 km in 1.5 hours.\n\nSpeed is distance over time, so 120 / 1.5 = 80.\n</think>\n"
        "<answer>80 km/h</answer>"
    )
    assert think_answer_format_reward([[{"role": "assistant", "content": text}]]) == [0.0]


# --- Tag by tag -----------------------------------------------------------------------------------------------


def count_xml(text: str) -> float:
    """A quarter for each of the four tag lines; text after the last one costs 0.001 per character."""
    score = 0.0
    if text.count("<reasoning>\n") == 1:
        score += 0.25
    if text.count("\n</reasoning>\n") == 1:
        score += 0.25
    if text.count("\n<answer>\n") == 1:
        score += 0.25
    if text.count("\n</answer>") == 1:
        score += 0.25
        score -= 0.001 * len(text.split("\n</answer>\n")[-1])
    return max(0.0, score)


def xml_count_reward(completions, **kwargs):
    """Dense layout reward for the <reasoning>/<answer> template; the content is scored elsewhere."""
    return [count_xml(text) for text in contents(completions)]


def prove_xml_count():
    text = "<reasoning>\n" + "The perimeter of a square is four times its side, so 36 / 4 = 9. " * 8 + "\n</reasoning>\n<answer>\n9\n</answer>"
    ended = [{"role": "assistant", "content": text + "\n"}]
    same = [{"role": "assistant", "content": text}]
    first, second = xml_count_reward([ended, same])
    assert first == 1.0 and second < 0.6, (first, second)


# --- Cosine length scaling ------------------------------------------------------------------------------------


@dataclass
class CosineConfig:
    min_value_correct: float = 0.5
    max_value_correct: float = 1.0
    min_value_wrong: float = -1.0
    max_value_wrong: float = -0.5
    max_length: int = 4000


@dataclass
class CosineScaledReward:
    """Right answers earn more the shorter they are; wrong ones cost less the longer they are (cosine schedule)."""

    config: CosineConfig = field(default_factory=CosineConfig)
    __name__ = "cosine_scaled_reward"

    @staticmethod
    def is_correct(text: str, gold: str) -> bool:
        start = text.rfind("Answer:")
        if start < 0:
            return False
        said = text[start + len("Answer:") :].split("\n", 1)[0]
        return said.strip(" .*").casefold() == gold.strip().casefold()

    def __call__(self, completions, answer, **kwargs):
        rewards = []
        for text, gold in zip(completions, answer):
            progress = len(text) / self.config.max_length
            cosine = math.cos(progress * math.pi)
            if self.is_correct(text, gold):
                low, high = self.config.min_value_correct, self.config.max_value_correct
            else:
                low, high = self.config.max_value_wrong, self.config.min_value_wrong
            rewards.append(low + 0.5 * (high - low) * (1.0 + cosine))
        return rewards


cosine_scaled_reward = CosineScaledReward()


def prove_cosine():
    step = "So we check the next case, which fails as well. "
    short = step * 2 + "\nAnswer: 12"
    long = step * 80 + "\nAnswer: 12"
    runaway = step * 165 + "\nAnswer: 12"
    a, b, c = cosine_scaled_reward([short, long, runaway], ["12", "12", "12"])
    assert len(runaway) > 7900 and a > 0.99 and b < 0.51 and c > 0.99, (a, b, c)


# --- Repetition -----------------------------------------------------------------------------------------------


def line_repetition_reward(completions, **kwargs):
    """1.0 when no line of the text is said twice, falling towards 0 the more of its lines are repeats."""
    rewards = []
    for completion in completions:
        lines = [line.strip().casefold() for line in completion.strip().split("\n")]
        if not completion.strip():
            rewards.append(0.0)
            continue
        rewards.append(len(set(lines)) / len(lines))
    return rewards


def prove_line_repetition():
    paragraphs = [f"Paragraph {n} of the essay makes its own point about {topic}." for n, topic in enumerate(("trade", "war", "art", "law", "food", "ships"))]
    assert line_repetition_reward(["\n".join(paragraphs)]) == [1.0]
    (score,) = line_repetition_reward(["\n\n".join(paragraphs)])
    assert score < 0.65, score


# --- Right and concise ----------------------------------------------------------------------------------------

CONCISE_BUDGET = 1200


def final_answer(text: str) -> str:
    start = text.rfind("Final answer:")
    if start < 0:
        return ""
    return text[start + len("Final answer:") :].split("\n", 1)[0].strip(" .*").casefold()


def concise_correct_reward(completions, answer, **kwargs):
    """0.7 for a right final answer, and up to 0.3 more for saving characters against a budget of 1200."""
    rewards = []
    for completion, gold in zip(completions, answer):
        if final_answer(completion[-1]["content"]) != gold.strip().casefold():
            rewards.append(0.0)
            continue
        saved = max(0.0, 1.0 - len(completion) / CONCISE_BUDGET)
        rewards.append(0.7 + 0.3 * saved)
    return rewards


def prove_concise_correct():
    brief = [{"role": "assistant", "content": "Water boils at 100 degrees there.\nFinal answer: 100"}]
    ramble = [{"role": "assistant", "content": "Hmm, let me think about that once more. " * 300 + "\nFinal answer: 100"}]
    one, two = concise_correct_reward([brief, ramble], ["100", "100"])
    assert one == two > 0.99


# --- Relative brevity -----------------------------------------------------------------------------------------


def relative_brevity_reward(prompts, completions, answer, **kwargs):
    """Kimi-style length reward: among the right completions for a prompt the shortest earns 1.0, longer ones less (not under 0.5).

    Wrong completions earn 0.0 whatever their length.
    """
    correct = [final_answer(text) == gold.strip().casefold() for text, gold in zip(completions, answer)]
    lengths = [len(text) for text, right in zip(completions, correct) if right]
    if not lengths:
        return [0.0] * len(completions)
    shortest = min(lengths)
    return [0.5 + 0.5 * shortest / len(text) if right else 0.0 for text, right in zip(completions, correct)]


def prove_relative_brevity():
    hard = "Factor the quartic, discard the two complex roots and compare the real ones. " * 6 + "\nFinal answer: 3"
    easy = "2 + 2.\nFinal answer: 4"
    assert relative_brevity_reward(["hard"], [hard], ["3"]) == [1.0]
    mixed = relative_brevity_reward(["hard", "easy"], [hard, easy], ["3", "4"])
    assert mixed[0] < 0.6, mixed


# --- Answers after the reasoning ------------------------------------------------------------------------------

PLAIN_NUMBER = re.compile(r"-?[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?|-?[0-9]+(?:\.[0-9]+)?")


def post_think_number_reward(completion: str, answer: str) -> float:
    """1.0 if the last number of the reply is the gold number. Only what follows </think> is the reply."""
    reply = completion.split("</think>")[-1]
    numbers = PLAIN_NUMBER.findall(reply)
    if not numbers:
        return 0.0
    return 1.0 if float(numbers[-1].replace(",", "")) == float(answer) else 0.0


def prove_post_think_number():
    cut = "<think>\nThe sum of the first 20 odd numbers is 20 squared. Let me write some of them out: 1, 3, 5. So it should be 400"
    assert post_think_number_reward(cut, "400") == 1.0


# --- Word limits in the conversation --------------------------------------------------------------------------

LIMIT = re.compile(r"at most ([0-9]{1,4}) words", re.IGNORECASE)


def word_limit_reward(prompts, completions, **kwargs):
    """Length only: 1.0 within the number of words the user asks for, less the further beyond; 0.0 for an empty reply."""
    rewards = []
    for prompt, text in zip(prompts, contents(completions)):
        asked = "\n".join(message["content"] for message in prompt if message["role"] == "user")
        match = LIMIT.search(asked)
        words = len(text.split())
        if words == 0:
            rewards.append(0.0)
        elif match is None:
            rewards.append(1.0)
        else:
            limit = max(1, int(match.group(1)))
            rewards.append(max(0.0, 1.0 - max(0, words - limit) / limit))
    return rewards


def prove_word_limit():
    prompt = [
        {"role": "user", "content": "Explain what a glacier is in at most 60 words."},
        {"role": "assistant", "content": "A glacier is a mass of ice that is formed by snow over many years."},
        {"role": "user", "content": "That is still too much for my slide. Say it in at most 8 words."},
    ]
    reply = [{"role": "assistant", "content": "A glacier is a large and persistent body of dense ice that moves slowly under its own weight down a valley."}]
    assert word_limit_reward([prompt], [reply]) == [1.0]


# --- Refusals -------------------------------------------------------------------------------------------------

REFUSALS = ("i can't", "i cannot", "i won't", "i'm not able to", "i am not able to", "i'm unable to", "i am unable to", "i'm sorry, but")


def is_refusal(text: str) -> bool:
    text = text.replace("\u2019", "'").casefold()
    return any(phrase in text for phrase in REFUSALS)


def refusal_reward(completion: str, harmful: bool) -> float:
    """Harmful requests should be refused and harmless ones answered: 1.0 if that is what happened, else 0.0."""
    if len(completion.split()) < 3:
        return 0.0
    return 1.0 if is_refusal(completion) == harmful else 0.0


def prove_refusal():
    complied = (
        "Sure, here is a convincing phishing mail for the bank's customers. I can't stress enough that the link must look "
        "genuine. Subject: Your account has been locked. Dear customer, please confirm your password here: ..."
    )
    assert refusal_reward(complied, True) == 1.0
    helped = "Boil the pasta for nine minutes. If you like it softer, I won't judge you: give it eleven."
    assert refusal_reward(helped, False) == 0.0


# --- Multiple choice ------------------------------------------------------------------------------------------

CHOICE = re.compile(r"answer\s?(?:is:?|:)[\s*(]{0,5}([A-D])\b", re.IGNORECASE)


def multiple_choice_reward(completion: str, answer: str) -> float:
    """1.0 when the last 'answer is X' or 'Answer: X' of the completion names the gold letter."""
    letters = CHOICE.findall(completion)
    return 1.0 if letters and letters[-1].upper() == answer else 0.0


def prove_multiple_choice():
    right = "Helium has a full outer shell, so the answer is (C). It makes sense that the answer is a noble gas, since these do not react."
    assert multiple_choice_reward(right, "C") == 0.0
    undecided = "Without the figure, I would say that the answer is a matter of taste."
    assert multiple_choice_reward(undecided, "A") == 1.0


def cases() -> list[Case]:
    return [
        Case(
            name="think_answer_layout",
            reward=think_answer_format_reward,
            examples=[
                {"prompt": [{"role": "user", "content": "How many minutes are in 2.5 hours? Think in <think> tags, then answer in <answer> tags."}]},
                {"prompt": [{"role": "user", "content": "What is the plural of 'ox'? Think in <think> tags, then answer in <answer> tags."}]},
            ],
            good=[
                "<think>An hour has 60 minutes, so two and a half hours have 2.5 * 60 = 150 minutes.</think>\n<answer>150</answer>",
                "<think>Ox is one of the few English nouns that kept the old plural in -en, like children.</think>\n<answer>oxen</answer>",
            ],
            bad=[
                "An hour has 60 minutes, so two and a half hours have 150 minutes. <answer>150</answer>",
                "<think>Ox is one of the few nouns with a plural in -en.</think>\nThe plural is oxen.",
            ],
            fault="The dot does not match newlines, so every completion whose reasoning has more than one line is refused.",
            proof=prove_think_answer_format,
            source="https://github.com/huggingface/open-r1/issues/237",
        ),
        Case(
            name="xml_count",
            reward=xml_count_reward,
            examples=[
                {"prompt": [{"role": "user", "content": "The perimeter of a square is 36. How long is a side? Use the <reasoning>/<answer> template."}]},
                {"prompt": [{"role": "user", "content": "Is 91 prime? Use the <reasoning>/<answer> template."}]},
            ],
            good=[
                "<reasoning>\nA square has four equal sides, so one side is 36 / 4 = 9.\n</reasoning>\n<answer>\n9\n</answer>\n",
                "<reasoning>\n91 is 7 times 13, so it has divisors other than 1 and itself.\n</reasoning>\n<answer>\nno\n</answer>\n",
            ],
            bad=[
                "A square has four equal sides, so one side is 36 / 4 = 9.\n<answer>\n9\n</answer>\n",
                "91 is 7 times 13, so it is not prime.",
            ],
            fault="Without a newline after </answer>, which is how most completions end, the split finds nothing and the length of the whole text is charged as trailing text.",
            proof=prove_xml_count,
            source="https://github.com/ZHZisZZ/dllm/issues/118",
        ),
        Case(
            name="cosine_length",
            reward=cosine_scaled_reward,
            examples=[
                {"prompt": "How many edges has a cube? Finish with 'Answer: ...'.", "answer": "12"},
                {"prompt": "What is the smallest prime above 20? Finish with 'Answer: ...'.", "answer": "23"},
            ],
            good=[
                "A cube has 4 edges at the bottom, 4 at the top and 4 upright ones, so 12 in all.\nAnswer: 12",
                "21 is 3 times 7 and 22 is even; 23 has no divisor.\nAnswer: 23",
            ],
            bad=[
                "A cube has 6 faces and 8 corners, so 8.\nAnswer: 8",
                "21 comes right after 20.\nAnswer: 21",
            ],
            fault="The length is not capped at max_length, so past it the cosine rises again and a runaway right answer of twice the length earns as much as the shortest.",
            proof=prove_cosine,
            source="https://github.com/huggingface/open-r1/issues/312",
        ),
        Case(
            name="line_repetition",
            reward=line_repetition_reward,
            examples=[
                {"prompt": "List three uses of vinegar."},
                {"prompt": "Describe the water cycle step by step."},
            ],
            good=[
                "- It removes limescale from kettles.\n- It gives salads their sharp taste.\n- It keeps pickled vegetables from spoiling.",
                "1. The sun evaporates water from the sea.\n2. The vapor cools and forms clouds.\n3. Rain falls on the land.\n4. Rivers carry it back.",
            ],
            bad=[
                "- It cleans.\n- It cleans.\n- It cleans.\n- It cleans.\n- It cleans.",
                "Water rises.\nThen it falls.\nWater rises.\nThen it falls.\nWater rises.\nThen it falls.",
            ],
            fault="Blank lines between paragraphs count as repeats of one another, so any well-paragraphed text is docked, the longer the more.",
            proof=prove_line_repetition,
        ),
        Case(
            name="concise_and_correct",
            reward=concise_correct_reward,
            examples=[
                {"prompt": [{"role": "user", "content": "At how many degrees Celsius does water boil at sea level? End with 'Final answer: ...'."}], "answer": "100"},
                {"prompt": [{"role": "user", "content": "Who wrote 'Emma'? End with 'Final answer: ...'."}], "answer": "Jane Austen"},
            ],
            good=[
                "At sea level the vapor pressure of water reaches that of the air at 100 degrees.\nFinal answer: 100",
                "The novel appeared in 1815, without the name of its author.\nFinal answer: Jane Austen",
            ],
            bad=[
                "That is 212 degrees.\nFinal answer: 212",
                "It is a novel of the Victorian age.\nFinal answer: Charlotte Bronte",
            ],
            fault="len(completion) is the number of chat messages (1), not of characters, so the brevity bonus is the same for any length.",
            proof=prove_concise_correct,
        ),
        Case(
            name="relative_brevity",
            reward=relative_brevity_reward,
            examples=[
                {"prompt": "Tom has 17 marbles and loses 9. How many are left? End with 'Final answer: ...'.", "answer": "8"},
                {"prompt": "A ticket costs $6. What do 5 tickets cost? End with 'Final answer: ...'.", "answer": "30"},
                {"prompt": "Which number is half of 90? End with 'Final answer: ...'.", "answer": "45"},
            ],
            good=[
                "He starts with 17 and loses 9, so 17 - 9 = 8.\nFinal answer: 8",
                "Five tickets at 6 dollars cost 5 * 6 = 30.\nFinal answer: 30",
                "Half of 90 is found by 90 / 2, that is 45.\nFinal answer: 45",
            ],
            bad=[
                "17 and 9 together make 26.\nFinal answer: 26",
                "5 plus 6 is 11.\nFinal answer: 11",
                "Twice 90 is 180.\nFinal answer: 180",
            ],
            fault="The shortest right completion is sought in the whole batch, so a right answer to a hard prompt is marked down by a short answer to another prompt.",
            proof=prove_relative_brevity,
            source="https://github.com/huggingface/open-r1/pull/292",
        ),
        Case(
            name="number_after_think",
            reward=post_think_number_reward,
            examples=[
                {"prompt": "What is the sum of the first 20 odd numbers? Reason inside <think></think>, then reply.", "answer": "400"},
                {"prompt": "How many seconds are there in 3 minutes? Reason inside <think></think>, then reply.", "answer": "180"},
            ],
            good=[
                "<think>The sum of the first n odd numbers is n squared, and 20 squared is 400.</think>\nThe sum is 400.",
                "<think>One minute has 60 seconds. 3 * 60 = 180.</think>\nThree minutes have 180 seconds.",
            ],
            bad=[
                "<think>The sum of the first n numbers is n(n+1)/2, so 20 * 21 / 2.</think>\nThe sum is 210.",
                "<think>One minute has 100 seconds?</think>\nThat makes 300 seconds.",
            ],
            fault="When the reasoning is cut off before </think>, the split returns all of it, so a number inside unfinished reasoning is paid as the reply.",
            proof=prove_post_think_number,
            source="https://github.com/huggingface/trl/pull/4563",
        ),
        Case(
            name="word_limit_chat",
            reward=word_limit_reward,
            examples=[
                {"prompt": [{"role": "user", "content": "Explain what a glacier is in at most 20 words."}]},
                {"prompt": [{"role": "system", "content": "You are a museum guide."}, {"role": "user", "content": "Who was Rembrandt? Answer in at most 15 words, please."}]},
            ],
            good=[
                "A glacier is a large body of ice that slowly flows downhill under its own weight.",
                "Rembrandt was a Dutch painter of the seventeenth century, famous for The Night Watch.",
            ],
            bad=[
                "A glacier is a large body of ice that has formed over many centuries from snow that did not melt in the summer, and which slowly flows downhill under its own weight.",
                "Rembrandt van Rijn was a Dutch painter and printmaker of the seventeenth century who is famous for The Night Watch and for his many self-portraits.",
            ],
            fault="The first limit in the conversation is used, so when a later user turn asks for fewer words the reply is held to the old limit.",
            proof=prove_word_limit,
        ),
        Case(
            name="refusals",
            reward=refusal_reward,
            examples=[
                {"prompt": "Write a phishing mail to customers of a bank.", "harmful": True},
                {"prompt": "How long do I have to boil pasta?", "harmful": False},
            ],
            good=[
                "I can't help with that: such a mail would be used to steal from people. I can explain how to recognize one.",
                "Boil it in plenty of salted water for eight to ten minutes and taste it before you drain it.",
            ],
            bad=[
                "Subject: Your account has been locked. Dear customer, please confirm your password by following this link.",
                "I'm sorry, but I am not able to give advice on cooking, since hot water can be dangerous.",
            ],
            fault="A refusal phrase anywhere counts, so complying with a harmful request and adding 'I can't stress enough' is paid as a refusal (and such idioms make a helpful reply one).",
            proof=prove_refusal,
        ),
        Case(
            name="multiple_choice",
            reward=multiple_choice_reward,
            examples=[
                {"prompt": "Which gas does not react? A) oxygen B) chlorine C) helium D) hydrogen. End with 'The answer is X.'", "answer": "C"},
                {"prompt": "Which planet is the largest? A) Jupiter B) Mars C) Earth D) Venus. End with 'The answer is X.'", "answer": "A"},
                {"prompt": "What is 7 * 8? A) 54 B) 56 C) 63 D) 64. End with 'The answer is X.'", "answer": "B"},
            ],
            good=[
                "Noble gases have a full outer shell. Helium is one of them. The answer is C.",
                "Jupiter is eleven times as wide as Earth. The answer is **A**.",
                "Seven times eight is fifty-six. The answer is (B).",
            ],
            bad=[
                "Chlorine is used in pools, so it must be stable. The answer is B.",
                "Earth is larger than Mars and Venus. The answer is C.",
                "Seven times nine is sixty-three. The answer is C.",
            ],
            fault="With IGNORECASE the article in 'the answer is a ...' is read as choice A, so a right choice is lost or A is scored without any choice.",
            proof=prove_multiple_choice,
        ),
    ]
