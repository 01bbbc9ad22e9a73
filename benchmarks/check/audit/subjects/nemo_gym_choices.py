"""NeMo Gym's servers for choices, verdicts and labels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from subject import Subject
from subjects.nemo_gym_server import checked, judged

LETTERS = "ABCD"
QUESTIONS = (
    ("Which of these is a prime number?", ("21", "23", "25", "27"), "B"),
    ("Which of these animals is a mammal?", ("a trout", "a wren", "a viper", "a whale"), "D"),
    ("Which element has the symbol Na?", ("sodium", "nickel", "nitrogen", "neon"), "A"),
)
OFF = ("C", "A", "D")
_REGEX = {"template_metadata": {"output_regex": r"Option Selected:\s*([A-Za-z])\s*"}}


def rows(**extra: Any) -> list[dict[str, Any]]:
    """The questions with their options, as the data sets have them, and `extra` fields."""
    return [
        {
            "prompt": question + "".join(f"\n{letter}: {text}" for letter, text in zip(LETTERS, texts, strict=True)),
            "answer": answer,
            "task": {"options": [{letter: text} for letter, text in zip(LETTERS, texts, strict=True)], **extra},
        }
        for question, texts, answer in QUESTIONS
    ]


def chosen(form: str, letters: tuple[str, ...]) -> list[str]:
    return [f"I compare the four options.\n{form % letter}" for letter in letters]


def subjects() -> Iterator[Subject]:
    right = tuple(answer for _, _, answer in QUESTIONS)
    modes = {"strict_single_letter_boxed": r"\boxed{%s}", "lenient_boxed": r"\boxed{%s}"}
    for mode, form in {**modes, "lenient_answer_colon": "Answer: %s"}.items():
        data = rows(grading_mode=mode)
        yield Subject(f"mcqa ({mode})", judged("mcqa"), data, chosen(form, right), chosen(form, OFF))
    reward = judged("mcqa", grading_mode="lenient_answer_colon_md")
    yield Subject("mcqa (lenient_answer_colon_md)", reward, rows(), *_both("**Answer:** %s", right))
    yield Subject("mcqa (output_regex)", judged("mcqa"), rows(**_REGEX), *_both("Option Selected: %s", right))
    yield Subject("gpqa_diamond", judged("gpqa_diamond"), rows(), *_both("Answer: %s", right))
    tags = [
        [f"<choice>{texts[LETTERS.index(one)]}</choice>" for (_, texts, _), one in zip(QUESTIONS, letters, strict=True)]
        for letters in (right, OFF)
    ]
    yield Subject("bunsenbench_chemistry_mcq", judged("bunsenbench_chemistry_mcq"), rows(), *tags)
    search = judged("google_search", google_api_key="", google_cx="")
    data = [{**row, "task": {"task_difficulty_qwen3_32b_avg_8": 0.5}} for row in rows()]
    yield Subject("google_search", search, data, *_both(r"The answer is \boxed{%s}.", right))
    data = [{**row, "task": {"eval_type": "multichoice"}} for row in rows()]
    yield Subject("ruler2 (multichoice)", judged("ruler2"), data, *_both(r"\boxed{%s}", right))
    for mode in ("lenient", "strict"):
        yield Subject(f"swerl_llm_judge ({mode})", judged("swerl_llm_judge"), rows(grading_mode=mode),
                      *_both("<solution>[%s]</solution>", right))  # fmt: skip
    yield from _verdicts()
    yield from _labels()


def _both(form: str, right: tuple[str, ...]) -> tuple[list[str], list[str]]:
    return chosen(form, right), chosen(form, OFF)


def _verdicts() -> Iterator[Subject]:
    prompts = [f"Is this a proof of theorem {number}?" for number in (1, 2, 3)]
    grades, off = ("correct", "partial", "incorrect"), ("almost", "incorrect", "correct")
    data: list[dict[str, Any]] = [
        {"prompt": prompt, "answer": grade} for prompt, grade in zip(prompts, grades, strict=True)
    ]
    good, bad = ([f"Step 2 decides the case, so the grade is\n{one}" for one in words] for words in (grades, off))
    yield Subject("imo_gradingbench", judged("imo_gradingbench"), data, good, bad)
    verdicts = ("Judgement: Yes", "Judgement: No")
    data = [{"prompt": prompt, "answer": one} for prompt, one in zip(prompts[:2], verdicts, strict=True)]
    good, bad = ([f"I checked every step.\n{one}" for one in words] for words in (verdicts, verdicts[::-1]))
    reward = judged("math_proof_judgement", "expected_judgement")
    yield Subject("math_proof_judgement", reward, data, good, bad)
    pair = {"problem": "Show that 2n is even.", "proof_1": "It is 2 times n.", "proof_2": "All numbers are even."}
    data = [
        {"prompt": "Which proof is more correct? 1 or 2", "answer": 1, "task": pair},
        {
            "prompt": "Which of the two proofs is more correct? 1 or 2",
            "answer": 2,
            "task": {**pair, "proof_1": pair["proof_2"], "proof_2": pair["proof_1"]},
        },
    ]
    good, bad = (
        [f"Only one argument holds.\n<best_solution>{one}</best_solution>" for one in numbers]
        for numbers in ((1, 2), (2, 1))
    )
    yield Subject("proof_genselect", judged("proof_genselect", "correct_index"), data, good, bad)


def _labels() -> Iterator[Subject]:
    data: list[dict[str, Any]] = [
        {
            "prompt": f"Passage: The Louvre is in Paris. Answer: it is in {town}. List hallucinated spans as JSON.",
            "task": {"is_halu": town != "Paris"},
        }
        for town in ("Rome", "Paris")
    ]
    spans = ['{"hallucination list": ["it is in Rome"]}', '{"hallucination list": []}']
    yield Subject("ragtruth", checked("ragtruth"), data, spans, [spans[1], '{"hallucination list": ["in Paris"]}'])
    things = [("a small shape", "a big black triangle"), ("the red circle", "the blue square"), ("a cube", "a cone")]
    data = [
        {
            "prompt": f"What is above the yellow shape? {one} or {other}?",
            "answer": gold,
            "task": {"options": [one, other]},
        }
        for (one, other), gold in zip(things, ("both of them", "the blue square", "a cube"), strict=True)
    ]
    good = [f"I draw the story.\nFinal answer: {one}" for one in ("both of them", "the blue square", "a cube")]
    bad = [f"I draw the story.\nFinal answer: {one}" for one in ("a small shape", "the red circle", "none of them")]
    yield Subject("spartqa", judged("spartqa", "target"), data, good, bad)
