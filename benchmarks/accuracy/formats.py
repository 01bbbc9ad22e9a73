"""Completions that state an answer as public prompts ask for it or as models write it, and some that state none.

Each format occurs alone, before a closing remark, and before a made-up next turn that states another answer in the same
format. Each completion is asked about twice: with the answer that it states as the gold answer, and with another one,
which is that of the made-up turn.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks.accuracy.sets import Case, Kind, hashed

FORMATS: dict[str, tuple[tuple[str, str, str], ...]] = {
    "openai/grade-school-math": (("gsm8k-hash", "nlet", "#### @"),),
    "EleutherAI/lm-evaluation-harness": (
        ("answer-is", "nlet", "The answer is @."),
        ("minerva", "nlet", "Final Answer: The final answer is $@$. I hope it is correct."),
        (
            "minerva-box",
            "net",
            "Therefore the result is $\\boxed{@}$.\nFinal Answer: The final answer is $@$. I hope it is correct.",
        ),
        ("llama-final", "nlet", "The final answer is @"),
        ("llama-final-box", "nlet", r"The final answer is: $\boxed{@}$"),
        ("llama-best", "l", "The best answer is @."),
        ("fbox", "nle", r"The answer is $\fbox{@}$."),
        ("tr-answer", "nlet", "Cevap: @"),
    ),
    "suzgunmirac/BIG-Bench-Hard": (
        ("so-the-answer-is", "nlet", "So the answer is @."),
        ("so-the-answer-is-paren", "l", "So the answer is (@)."),
    ),
    "TIGER-AI-Lab/MMLU-Pro": (("mmlu-pro", "l", "The answer is (@)."),),
    "open-compass/opencompass": (
        ("opencompass-agent", "nle", "FinalAnswer: The final answer is $@$. I hope it is correct."),
        ("answer-upper", "nlet", "ANSWER: @"),
        ("answer-upper-paren", "l", "ANSWER: (@)"),
        ("xml-answer", "nlet", "<conclude>\n<answer>@</answer>\n</conclude>"),
        ("therefore-answer", "nlet", "Therefore, the answer is @."),
        ("correct-answer-option", "l", "Therefore, the correct answer is option @."),
        ("answer-option-colon", "l", "Answer option: @"),
        ("supergpqa", "nlet", "Thus, my final answer is: @"),
        ("zh-answer-is-space", "nlet", "答案是 @"),
        ("zh-answer-colon", "nlet", "答案: @"),
        ("zh-answer-wide", "nlet", "答案：@"),
        ("zh-therefore-for", "nlet", "因此，答案为@。"),
        ("zh-option-x", "l", "所以答案为选项@"),
        ("zh-answer-option", "l", "答案选项：@"),
        ("zh-should-choose", "l", "因此，本题答案应该选@。"),
        ("zh-is-correct", "l", "@是正确答案。"),
        ("zh-option-correct", "l", "因此，选项@正确。"),
        ("zh-box", "nlet", r"因此，最终答案是 $\boxed{@}$。"),
    ),
    "meta-llama/llama-cookbook": (
        ("llama-math", "nlet", r"Therefore, the final answer is: $\boxed{@}$. I hope it is correct."),
        ("llama-best-paren", "l", "The best answer is (@)"),
    ),
    "openai/simple-evals": (
        ("simple-answer", "nlet", "Answer: @"),
        ("simple-dollar", "nl", "Answer: $@"),
        ("simple-dollars", "nle", "Answer: $@$"),
        ("ko-answer", "nlet", "정답: @"),
        ("ja-answer", "nlet", "答え: @"),
        ("ja-answer-wide", "nlet", "答え：@"),
        ("ja-kaitou", "nlet", "回答: @"),
        ("ar-final", "nlet", "الإجابة النهائية: @"),
        ("ar-correct-is", "nlet", "الإجابة الصحيحة هي: @"),
        ("hi-answer", "nlet", "उत्तर: @"),
        ("bn-answer", "nlet", "উত্তর: @"),
        ("de-answer", "nlet", "Antwort: @"),
        ("es-answer", "nlet", "Respuesta: @"),
        ("fr-answer", "nlet", "Réponse : @"),
        ("it-answer", "nlet", "Risposta: @"),
        ("pt-answer", "nlet", "Resposta: @"),
        ("id-answer", "nlet", "Jawaban: @"),
        ("ru-answer", "nlet", "Ответ: @"),
        ("sw-answer", "nlet", "Jibu: @"),
        ("te-answer", "nlet", "సమాధానం: @"),
        ("th-answer", "nlet", "คำตอบ: @"),
        ("yo-answer", "nlet", "Ìdáhùn: @"),
    ),
    "models": (
        ("simple-bold", "nlet", "**Answer: @**"),
        ("simple-bold-label", "nlet", "**Answer:** @"),
        ("final-answer-bold", "nlet", "**Final Answer:** @"),
        ("final-answer-heading-box", "nlet", "**Final Answer**\n\n\\[\n\\boxed{@}\n\\]"),
        ("final-answer-heading", "nlet", "### Final Answer\n\n@"),
        ("final-answer-heading-bold", "nlet", "## Final Answer:\n**@**"),
        ("box-display", "nlet", "Therefore, the answer is:\n\n$$\\boxed{@}$$"),
        ("box-text", "lt", r"The answer is $\boxed{\text{@}}$."),
        ("box-textbf", "l", r"\boxed{\textbf{(@)}}"),
        ("box-paren", "l", r"The correct option is \boxed{(@)}."),
        ("think-then-answer", "nlet", "<think>\nIt might be &. No, @.\n</think>\n\nThe answer is @."),
        ("correct-answer", "nlet", "The correct answer is **@**."),
        ("correct-answer-colon", "nlet", "The correct answer is:\n\n**@**"),
        ("correct-option-text", "l", "The correct answer is **@. Paris**."),
        ("correct-paren-text", "l", "The correct option is **(@) Paris**."),
        ("option-is-correct", "l", "So option @ is correct."),
        ("answer-equals", "n", "So the total is 6 * 7 = @."),
        ("answer-newline", "nlet", "Answer:\n@"),
        ("answer-heading", "nlet", "### Answer: @"),
        ("answer-dash", "nlet", "Answer - @"),
        ("bold-alone", "nlet", "So we have:\n\n**@**"),
        ("code-ticks", "nlet", "The answer is `@`."),
        ("italic", "nlet", "The answer is *@*."),
        ("underscores", "nlet", "The answer is __@__."),
        ("html-bold", "nlet", "The answer is <b>@</b>."),
        ("math-parens", "ne", r"The answer is \(@\)."),
        ("math-brackets", "ne", "The answer is\n\\[\n@\n\\]"),
        ("math-dollars", "ne", "The answer is $$@$$"),
        ("my-answer", "nlet", "My answer is @."),
        ("result-is", "ne", "The result is @."),
        ("final-result", "ne", "**Final result:** @"),
        ("conclusion-heading", "nlet", "### Conclusion\nThe answer is **@**."),
        ("zh-so-answer", "ne", "故答案为：@．"),
        ("zh-final", "nlet", "**最终答案：** @"),
        ("ja-bracket", "nlet", "したがって、正解は「@」です。"),
        ("es-final", "nlet", "**Respuesta final:** @"),
        ("ru-answer-bold", "nlet", "**Ответ:** @."),
        ("pl-answer", "nlet", "Odpowiedź: @"),
        ("json-fence", "nl", '```json\n{"answer": "@"}\n```'),
    ),
    "huggingface/smolagents": (("final-answer-label", "nlet", "Final Answer: @"),),
    "QwenLM/Qwen2.5-Math": (
        ("qwen-box", "nlet", r"Therefore, the answer is $\boxed{@}$."),
        ("box-parens", "nlet", r"Thus, the result is \(\boxed{@}\)."),
        ("kpmath", "nlet", "The answer is: @"),
        ("kpmath-dot", "nlet", "The answer is: @."),
        ("kpmath-dollar", "ne", "The answer is: $@$."),
        ("choice-is", "l", "The choice is (@)"),
    ),
    "deepseek-ai/DeepSeek-Math": (
        ("box-alone", "nlet", r"\boxed{@}"),
        ("zh-answer-is", "nlet", "所以答案是@。"),
    ),
    "deepseek-ai/DeepSeek-R1": (("answer-tags", "nlet", "<answer>@</answer>"),),
    "huggingface/open-r1": (
        ("answer-tags-spaced", "nlet", "<answer>\n@\n</answer>"),
        ("answer-tags-box", "nlet", r"<answer>\boxed{@}</answer>"),
    ),
    "suzgunmirac/dynamic-cheatsheet": (("final-tags", "nlet", "FINAL ANSWER:\n<answer>\n@\n</answer>"),),
    "Jiayi-Pan/TinyZero": (
        ("think-answer-tags", "nlet", "<think>We try & first, but that fails.</think>\n<answer>@</answer>"),
    ),
    "unslothai/notebooks": (("solution-tags", "nlet", "<SOLUTION>@</SOLUTION>"),),
    "kojima-takeshi188/zero_shot_cot": (
        ("kojima-number", "n", "Therefore, the answer (arabic numerals) is @."),
        ("kojima-letter", "l", "Therefore, among A through E, the answer is @."),
        ("kojima-text", "t", 'Therefore, the answer is "@".'),
    ),
    "microsoft/MEGA": (
        ("hence-comma", "nlet", "Hence the answer is, @."),
        ("hence-quoted", "nlet", 'Therefore, the answer is: "@"'),
    ),
    "OpenLMLab/GAOKAO-Bench": (
        ("gaokao-zh", "nlet", "【解析】依题意计算即可。 <eoe>\n【答案】@ <eoa>"),
        ("gaokao-zh-colon", "nlet", "【解析】依题意计算即可。<eoe>\n【答案】: @ <eoa>"),
    ),
    "ruixiangcui/AGIEval": (("zh-so-choose", "l", "故选：@."),),
    "HAERAE-HUB/KMMLU": (("ko-answer-is", "nlet", "따라서 정답은 @입니다."),),
    "EleutherAI/lm-evaluation-harness mmlu_prox": (
        ("vi-answer", "nlet", "Đáp án: @"),
        ("uk-answer", "nlet", "Відповідь: @"),
    ),
    "yuchenlin/ZeroEval": (("json-answer", "nl", '{"reasoning": "We count them.", "answer": "@"}'),),
}
"""Name, kinds of answers (keys of `ANSWERS`), and the text, by where the format comes from.

In the text, @ is the answer and & another one. The name decides which half a format belongs to.
"""
MMLU_PROX = {
    "en": "the answer is (@)",
    "ja": "答えは (@) です",
    "zh": "答案是 (@)",
    "ko": "답은 (@)입니다",
    "fr": "La réponse est (@)",
    "de": "Die Antwort ist (@)",
    "es": "La respuesta es (@)",
    "pt": "A resposta é (@)",
    "zu": "Impendulo ithi (@)",
    "sw": "Jibu ni (@)",
    "wo": "Tontu bi mooy (@)",
    "yo": "Ìdáhùn náà ni (@)",
    "th": "คำตอบคือ (@)",
    "ar": "الإجابة هي (@)",
    "hi": "उत्तर है (@)",
    "bn": "উত্তর হল (@)",
    "mr": "उत्तर आहे (@)",
    "ne": "उत्तर (@) हो।",
    "af": "Die antwoord is (@)",
    "te": "సమాధానం (@)",
    "ur": "جواب (@) ہے",
    "ru": "Ответ - (@)",
    "id": "Jawabannya adalah (@)",
    "vi": "Câu trả lời là (@)",
    "cs": "Odpověď je (@)",
    "hu": "A válasz (@)",
    "it": "La risposta è (@)",
    "sr": "Odgovor je (@)",
    "uk": "Відповідь: (@)",
}
"""What mmlu_prox of EleutherAI/lm-evaluation-harness asks for, by language. Models also leave out the parentheses."""


class Answers(NamedTuple):
    """A kind of answer: the answer, the work before it, and a made-up next turn that states another answer."""

    kind: Kind
    options: str
    answer: str
    work: str
    next_question: str
    next_work: str
    next_answer: str


ANSWERS = {
    "n": Answers(
        "number",
        "",
        "42",
        "There are 6 boxes with 7 pens each.",
        "How many pens are in 3 boxes with 19 pens each?",
        "There are 3 boxes with 19 pens each.",
        "57",
    ),
    "l": Answers(
        "letter",
        "ABCD",
        "B",
        "The first claim contradicts the text, and so does the last.",
        "Which of these is a mammal?\nA. Trout\nB. Crow\nC. Frog\nD. Bat",
        "Only one of them nurses its young.",
        "D",
    ),
    "e": Answers(
        "formula",
        "",
        r"\frac{3\sqrt{2}}{2}",
        "We complete the square and simplify.",
        "What is the length of the shorter side?",
        "We use the cosine rule.",
        r"\frac{2\sqrt{3}}{5}",
    ),
    "t": Answers(
        "words",
        "",
        "Paris",
        "The Seine flows through it, and the Louvre is there.",
        "What is the capital of the United Kingdom?",
        "The Thames flows through it.",
        "London",
    ),
}
CLOSINGS = (
    "\n\nI hope this helps! Let me know if you have any other questions.",
    "\n\nThis matches the estimate from the beginning.",
    "\n\nNote: the steps above can be checked by substituting back.",
)
TURNS = (
    "\n\nQuestion: {question}\nAnswer: {answer}",
    "\n\nQ: {question}\nA: {answer}",
    "\n\nProblem:\n{question}\n\nSolution:\n{answer}",
    "<|im_end|>\n<|im_start|>user\n{question}<|im_end|>\n<|im_start|>assistant\n{answer}",
    "\n\nHuman: {question}\n\nAssistant: {answer}",
    "\n\n### Instruction:\n{question}\n\n### Response:\n{answer}",
)
CHINESE_TURN = "\n\n问题：{question}\n答案：{answer}"


def formats(sets: Path) -> list[Case]:
    """Return the completions of all formats."""
    return [case for name, kinds, form in _all_formats() for key in kinds for case in _cases(name, key, form)]


def _all_formats() -> Iterator[tuple[str, str, str]]:
    for some in FORMATS.values():
        yield from some
    for language, form in MMLU_PROX.items():
        yield f"prox-{language}", "l", form
        yield f"prox-{language}-bare", "nlet", form.replace("(@)", "@")


def _cases(name: str, key: str, form: str) -> Iterator[Case]:
    kind, options, answer, work, next_question, next_work, next_answer = ANSWERS[key]
    stated = f"{work}\n{_filled(form, kind, answer, next_answer)}"
    next_stated = f"{next_work}\n{_filled(form, kind, next_answer, answer)}"
    number = hashed(name + key)
    turn = CHINESE_TURN if name.startswith(("zh", "gaokao")) else TURNS[number % len(TURNS)]
    texts = {
        "plain": stated,
        "closing": stated + CLOSINGS[number % len(CLOSINGS)],
        "turn": stated + turn.format(question=next_question, answer=next_stated),
    }
    for variant, text in texts.items():
        yield Case(f"{name}/{key}/{variant}/right", answer, text, True, kind, options)
        yield Case(f"{name}/{key}/{variant}/wrong", next_answer, text, False, kind, options)


def _filled(form: str, kind: Kind, answer: str, other: str) -> str:
    """Return the format with its answers; a formula gets dollars unless the format makes it one."""
    if kind == "formula":
        is_marked = any(opening in form for opening in ("{@", "$@", r"\(@", "\\[\n@"))
        answer, other = answer if is_marked else f"${answer}$", f"${other}$"
    return form.replace("@", answer).replace("&", other)


def traps(sets: Path) -> list[Case]:
    """Return completions that state no answer, or not the one that they name."""
    return [Case(name, gold, text, False, ANSWERS[key].kind, ANSWERS[key].options) for name, key, gold, text in TRAPS]


TRAPS: tuple[tuple[str, str, str, str], ...] = (
    (
        "echo-letter",
        "l",
        "A",
        "I will think, then finish with 'The answer is (X)', where X is one of A, B, C and D.\nThe text does not say.",
    ),
    ("echo-example", "l", "A", "The last line has the format 'Answer: A' or 'Answer: B'.\nI cannot decide."),
    (
        "echo-template",
        "n",
        "42",
        "The last line is of the form Answer: $ANSWER, for example Answer: 42.\nI do not know the answer.",
    ),
    ("echo-box", "n", "42", r"Put the final answer in a box, such as \boxed{42}, when you know it. I do not."),
    ("placeholder", "l", "B", "The answer is [the_answer_letter]."),
    ("options-after-mark", "l", "A", "【答案】A. 42 B. 57 C. 12 D. 99"),
    ("all-letters", "l", "D", "The answer is (A), (B), (C) and (D)."),
    ("every-number", "n", "42", "The answer is 41, 42, 43."),
    ("two-answer-lines", "l", "B", "Answer: A\nAnswer: B\nAnswer: C\nAnswer: D"),
    ("two-answer-numbers", "n", "42", "Answer: 41\nAnswer: 42\nAnswer: 43"),
    ("not-enough", "n", "0", "With $x = 0$ it would be 0.\nThe answer is: not enough information."),
    ("undetermined-box", "e", "0", r"If $x = 0$, it is 0. \boxed{\text{cannot be determined}}"),
    ("list-for-number", "n", "3", "The answer is [4, 3]."),
    ("coefficient", "e", r"\pi", r"16 $\pi$"),
    ("subtask-labels", "l", "A", "(a) The field is 5 N/C. (b) The potential is 3 V."),
    ("sub-letters", "l", "B", "Answers: 1. A 2. B 3. C"),
    ("text-among", "t", "Paris", "The answer is Paris or London."),
    ("text-denied", "t", "Paris", "The answer is not Paris."),
    ("text-question", "t", "Paris", "Is the answer Paris?"),
    ("text-prefix", "t", "Paris", "The answer is Paris, Texas."),
    ("text-prefix-2", "t", "no", "The answer is no one."),
    ("text-longer", "t", "yes", "The answer is yes and no."),
    ("thinking-only", "n", "42", "<think>The answer is 42.</think>\nI am not sure."),
    ("blank", "n", "2", "The model has ___ dots divided into 2 equal groups."),
)
"""Name, kind of answer (a key of `ANSWERS`), gold answer, completion."""
