r"""Published labels that no mathematician would sign, each with the reason. They are left out for all contestants.

`CORRECTED` has the labels of published outputs that are wrong although the completion is clear: there the source's own
extraction, from which the label comes, reads something that the completion does not answer.

Each entry names a case by the names of its set and of the case (`sets`). A reason says what is wrong with the
label, not what a contestant does with it: a label that is right but hard stays in. It is one of

- *rounded*: the gold answer is rounded and the answer exact, or the other way around;
- *other answer*: the two differ although the label says right, or are the same although it says wrong;
- *false*: the answer or the gold answer states an equation that does not hold;
- *form*: the label is about how the answer is typed, or about an option of the library, not about its value;
- *extraction*: it is unclear what the completion answers, or the source's extraction reads something else.
"""

from __future__ import annotations

DISPUTED: dict[str, dict[str, str]] = {
    "HardVerify-Math": {
        "44 right": "other answer: the gold answer lists 1/2 and sqrt(x); the answer is y = sqrt(x)/2",
        "52 wrong": "other answer: the same five numbers as the gold answer, in another order",
        "130 right": "rounded: 1587/52 = 30.519...; the gold answer is 30.52",
        "133 right": "other answer: the gold answer is the text 'Final strategy', the answer is 100",
        "140 right": "rounded: 21 13/14 = 21.928...; the gold answer is 21.93",
        "142 right": "rounded: 20:3 = 6.666...; the gold answer is 6.67",
        "150 right": "rounded: 27/59 = 0.4576...; the gold answer is 0.458",
        "192 right": "other answer: 15840/pi = 5042.02...; the gold answer is 5040, from a rounded pi",
        "201 right": "rounded: 542/3 = 180.666...; the gold answer is 180.67",
        "208 right": "rounded: 118% for 117.95%",
        "211 right": "rounded: 113.33% for 113.4%, which is not even its rounding",
        "230 right": "other answer: open intervals for closed ones",
        "237 right": "rounded: 84/13 = 6.4615...; the gold answer is 6.46",
    },
    "rewardlint": {
        "eq.frac.repeating": "rounded: 0.3333333333 for 1/3",
    },
    "Math-Verify": {
        "all.test_complex_math_expressions[0]": "rounded: 0.0833333333333333 for 1/12",
        "all.test_latex_notation[5]": "form: a line break within dollars makes a right 9 wrong",
        "all.test_latex_notation[6]": "form: a line break within a formula makes a right 9 wrong",
        "all.test_latex_notation[9]": "false: the answer says that 1/2 is 10/9",
        "all.test_relations_math[10]": "false: the answer says that 5 + 5 + 1 is 7 and that 7 is 11",
        "all.test_relations_math[12]": "false: the same answer again",
        "all.test_relations_math[13]": "false: the answer says that 5 + 5 + 1 is 1/3, and 1/3 about 11",
        "all.test_relations_math[16]": "false: the answer says that 1/3 is about 1.3",
        "all.test_relations_math[21]": "false: the gold answer says that 1 is 0",
        "all.test_relations_math[26]": "false: the answer says that 3 + 3 is 2",
        "all.test_relations_math[27]": "false: the same answer again",
        "all.test_set_rel_assymetry[3]": "form: an option decides whether the interval may be written as an inequality",
        "all.test_symbols[0]": "form: the gold answer has a tab for the \\t of \\text{13}; 13 is labeled wrong",
        "boxed.test_boxed[0]": "form: the gold answer joins '35 cm' and 4 by '++++++', which is no notation",
        "open_thoughts.test_open_thoughts[28]": "form: the words between two boxes decide whether they are one list",
        "yujianll.test_string_extraction[9]": "other answer: 1 + 1/e for 1 - 1/e",
    },
    "mathvista": {
        "chatgpt_2shot_solution_use_ocr 245": "form: 'S24' for $24",
        "llama_adapter_v2 597": "form: an option decides whether 10% is 10",
        **dict.fromkeys(
            (
                *("bard 325", "bard 842", "idefics_9b_instruct 131"),
                *("llavar 449", "mplugowl_7b_ft 624", "mplugowl_7b_ft 651"),
            ),
            "extraction: unclear what the completion answers",
        ),
    },
    "mgsm": dict.fromkeys(
        [f"{language} 15" for language in ("bn", "de", "en", "es", "fr", "ja", "ru", "sw", "te", "th", "zh")],
        "other answer: the completions name a choice instead of the profit",
    ),
    "mmlu-pro": {
        "Qwen1.5-72B-Chat 1951": "other answer: (B), then, for all questions together, an option that does not exist",
        "Qwen1.5-72B-Chat 3125": "other answer: the last line answers the question, among answers to the examples",
    },
    "zero-shot-cot": {
        "addsub zero_shot_cot 223": "form: 'two hundred twenty-four point eighty-seven' for 224.87",
        "commonsensqa zero_shot_cot 191": "other answer: 'The answer is B' and then the text of another option",
        "gsm8k zero_shot 210": "form: an option decides whether 20% is 20",
        "last_letters zero_shot_cot 331": "form: 'n y t n' for nytn",
        "svamp zero_shot_cot 724": "false: the answer states an equation that does not hold",
    },
}
"""The reason by the set and the case."""

CORRECTED: dict[str, dict[str, tuple[bool, str]]] = {
    "gaokao": dict.fromkeys(
        ("Chemistry_MCQs 4", "Math_I_MCQs 118", "Math_II_MCQs 214"),
        (False, "extraction: 【答案】 says that no option is right; the source reads a letter elsewhere"),
    ),
    "mathvista": {
        "idefics_9b_instruct 106": (True, "extraction: it answers 0, and 1 to a made-up next question"),
        **dict.fromkeys(
            (
                *("gpt4 611", "gpt4_2shot_solution 327", "gpt4_2shot_solution 652", "gpt4_2shot_solution 710"),
                *("instruct_blip2_vicuna_13b 179", "instruct_blip2_vicuna_13b 947", "llavar 354", "llavar 801"),
            ),
            (False, "extraction: the completion states no answer; the source's model invents one"),
        ),
    },
    "mmlu-pro": {
        "Mixtral-8x7B-Instruct-v0.1 266": (True, "extraction: 'The best example is option D.'"),
        "Qwen1.5-7B-Chat 2842": (True, "extraction: it chooses (E) in the end"),
        **dict.fromkeys(
            ("Qwen1.5-7B-Chat 3376", "Qwen1.5-7B-Chat 9476", "c4ai-command-r-v01 4724"),
            (False, "extraction: '(A) and (F)' is no choice; the source takes the first letter"),
        ),
    },
    "qwen-math": {
        "72/7": (True, "form: 10000 for 10{,}000"),
        **dict.fromkeys(
            [f"3/{number}" for number in range(8)],
            (True, "form: the box is the gold answer, 4:30 p.m.; the source's extraction cuts the unit"),
        ),
    },
    "theoremqa": dict.fromkeys(
        [f"internlm2_20b_5shots_short {number}" for number in (135, 150, 300, 413, 652)],
        (True, "form: the number with its unit"),
    ),
    "zero-shot-cot": {
        "commonsensqa zero_shot_cot 248": (False, "extraction: 'A, B, C, D' is no choice"),
        **dict.fromkeys(
            ("addsub zero_shot_cot 376", "svamp zero_shot_cot 399", "svamp zero_shot_cot 502"),
            (True, "extraction: the source reads no number words; these are spelled out"),
        ),
    },
}
"""The label and the reason by the set and the case."""
