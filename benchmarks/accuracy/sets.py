r"""The labeled answers that `accuracy` asks about: a gold answer, a completion, and whether the completion is right.

None of the public sets is in this repository. Those with a repository are cloned at a fixed commit into a folder
(``--sets``); HardVerify-Math and GSM8K are read from REWARDKIT_DATA; rewardlint's cases come with its package.

The sets from `bbh` on are published outputs of models. Their label compares the gold answer with the source's own
extraction. Where that extraction is known to be careless, the function says what it does instead; where no extraction
can be trusted, the output is left out.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import re
import subprocess
import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from string import ascii_uppercase
from typing import Any, Literal

from benchmarks.accuracy.disputed import CORRECTED, DISPUTED
from benchmarks.accuracy.math_equal_pairs import PAIRS

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("REWARDKIT_DATA", ROOT.parent / "shared" / "data"))

_NUMBER = re.compile(r"-?(?:[0-9]+|[0-9]{1,3}(?:,[0-9]{3})+)(?:\.[0-9]+)?")
Kind = Literal["formula", "number", "letter", "words"]
"""What the gold answer is, so that a contestant for numbers alone is not asked about formulas."""


class NotAtHand(Exception):
    """A set cannot be read here; the message says why and how to get it."""


@dataclass(frozen=True)
class Case:
    """One labeled completion.

    Attributes:
        name: its name within the set; `disputed` uses it.
        gold: the gold answer as published.
        completion: the text to score.
        right: the label.
        task: the kind of answer that the task asks for; None: the set does not say.
        options: the letters of a multiple-choice question; empty: the set does not say.
    """

    name: str
    gold: str
    completion: str
    right: bool
    task: Kind | None = None
    options: str = ""

    @property
    def kind(self) -> Kind:
        if self.task:
            return self.task
        bare = self.gold.strip().strip("$")
        if _NUMBER.fullmatch(bare):
            return "number"
        if len(bare) == 1 and bare in "ABCDE":
            return "letter"
        return "words" if bare.replace(" ", "").isalpha() and len(bare) > 2 else "formula"


@dataclass(frozen=True)
class Source:
    """A public repository at a commit."""

    repository: str
    commit: str

    def folder(self, sets: Path) -> Path:
        """Return the folder of the clone in `sets`; clone it if it is not there.

        Raises:
            NotAtHand: it is not there and cannot be cloned.
        """
        folder = sets / self.repository.rpartition("/")[2]
        if folder.is_dir():
            return folder
        url = f"https://github.com/{self.repository}"
        commands = (
            ["git", "init", "--quiet", str(folder)],
            ["git", "-C", str(folder), "fetch", "--quiet", "--depth", "1", url, self.commit],
            ["git", "-C", str(folder), "checkout", "--quiet", "FETCH_HEAD"],
        )
        for command in commands:
            try:
                subprocess.run(command, check=True, capture_output=True, timeout=600)
            except subprocess.SubprocessError as error:
                subprocess.run(["rm", "-rf", str(folder)], check=False)
                raise NotAtHand(f"clone {url} into {sets} ({self.commit[:10]} was measured)") from error
        return folder


MATH_VERIFY = Source("huggingface/Math-Verify", "5d148cfaaf99214c2e4ffb4bc497ab042c592a7a")


def boxed(answer: str) -> str:
    r"""Return a completion that states the answer in the form that most contestants need."""
    return f"The answer is \\boxed{{{answer}}}."


def hardverify(sets: Path) -> list[Case]:
    """Return HardVerify-Math (uw-nsl/TinyV): per gold answer a right one that verifiers refuse, and a wrong one."""
    cases = []
    for row in _lines(DATA / "hardverify_math" / "cases.jsonl"):
        cases.append(Case(f"{row['id']} right", row["ground_truth"], boxed(row["fn_output"]), True))
        cases.append(Case(f"{row['id']} wrong", row["ground_truth"], boxed(row["tn_output"]), False))
    return cases


def gsm8k(sets: Path) -> list[Case]:
    """Return two models' solutions of GSM8K test questions with their final answers boxed, and published labels."""
    cases = []
    for number, row in enumerate(_lines(DATA / "gsm8k" / "model_solutions.jsonl")):
        gold = row["reference"].rpartition("A:")[2].strip()
        solution, mark, answer = row["completion"].rpartition("A:")
        completion = f"{solution}\\boxed{{{answer.strip()}}}" if mark else row["completion"]
        cases.append(Case(str(number), gold, completion, row["is_correct"]))
    return cases


def by_hand(sets: Path) -> list[Case]:
    """Return our own pairs (`math_equal_pairs`)."""
    return [
        Case(f"{topic} {number}", gold, boxed(answer), right)
        for topic, pairs in PAIRS.items()
        for number, (gold, answer, right) in enumerate(pairs)
    ]


def math_verify(sets: Path) -> list[Case]:
    """Return the cases of Math-Verify's own tests that compare under its defaults."""
    folder = MATH_VERIFY.folder(sets) / "tests"
    return [case for path in sorted(folder.glob("test_*.py")) for case in _parametrized(path)]


def _parametrized(path: Path) -> Iterator[Case]:
    """Yield the rows of ``parametrize`` with a gold answer, a prediction and an integer label; the code never runs.

    A row whose further arguments (rounding, leniency) differ from the defaults is about an option, and is left out.
    """
    module = path.stem.removeprefix("test_")
    for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(function, ast.FunctionDef):
            continue
        for decorator in function.decorator_list:
            if not (isinstance(decorator, ast.Call) and len(decorator.args) == 2):
                continue
            names = [name.strip() for name in _value(decorator.args[0]).split(",")]
            if names[:2] != ["gold", "pred"] or not isinstance(decorator.args[1], ast.List):
                continue
            for number, row in enumerate(decorator.args[1].elts):
                values = _value(row)
                if values is None:
                    continue
                given = dict(zip(names, values, strict=True))
                gold, prediction = given.pop("gold"), given.pop("pred")
                label = given.pop("expected", given.pop("result", None))
                if all(given.get(name, default) == default for name, default in _DEFAULTS.items()):
                    yield Case(f"{module}.{function.name}[{number}]", gold, prediction, bool(label))


_DEFAULTS = {"precision": 6, "strict": True, "allow_set_relation_comp": False}


def _value(node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except ValueError:  # computed while the tests run
        return None


_PRINT_CASES = """
import json
from rewardlint.corpus import load
print(json.dumps([[case.id, case.reference, case.completion, case.expect] for case in load()]))
"""


def rewardlint(sets: Path, python: Path) -> list[Case]:
    """Return rewardlint's graded cases, without those that it calls contested itself."""
    command = [str(python), "-c", _PRINT_CASES]
    done = subprocess.run(command, capture_output=True, text=True, check=False) if python.exists() else None
    if done is None or done.returncode:
        raise NotAtHand("install rewardlint: run with --peers")
    return [Case(*values) for values in json.loads(done.stdout)]


def _lines(path: Path) -> list[dict[str, Any]]:
    if not path.is_file():
        raise NotAtHand(f"no {path}; set REWARDKIT_DATA")
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


BBH = Source("suzgunmirac/BIG-Bench-Hard", "9ee07bd481feebf959a6b59d61ea57bdcf30964d")
DYNAMIC_CHEATSHEET = Source("suzgunmirac/dynamic-cheatsheet", "1cf258c936edc28ef045202621bf9463f70a1988")
GAOKAO = Source("OpenLMLab/GAOKAO-Bench", "6dbb24f8d8439041e5431c4c184a582182a6ce9c")
MATH_VISTA = Source("lupantech/MathVista", "53d525874bdde205128e6b160b7357a88277d479")
MCOT = Source("laihuiyuan/mCoT", "20e9a862ad00d70f0f2adefe87ab433d465236f5")
MMLU_PRO = Source("TIGER-AI-Lab/MMLU-Pro", "f418b116db00b065c2aea046518d8fcf74d39872")
QWEN = Source("QwenLM/Qwen2.5-Math", "a45202bd16f1ec06f433442dc1152d0074773465")
THEOREM_QA = Source("TIGER-AI-Lab/TheoremQA", "acfc9686aa9b49f3c8f189364a9a9ee9c53da039")
ZERO_SHOT = Source("kojima-takeshi188/zero_shot_cot", "5ef330fcdeec0cd26aee27943504f91f8ec1c33c")

_BBH_WORDS = (
    *("boolean_expressions", "causal_judgement", "dyck_languages", "formal_fallacies", "navigate"),
    *("sports_understanding", "web_of_lies", "word_sorting"),
)
_BBH_NUMBERS = ("multistep_arithmetic_two", "object_counting")


def bbh(sets: Path) -> list[Case]:
    """Return 60 outputs of code-davinci-002 per task of BIG-Bench Hard; the answer follows "the answer is"."""
    cases = []
    for path in _files(BBH, sets, "code-davinci-002-outputs/code-davinci-002-cot/*000.json"):
        task = path.name.partition("_few_shot")[0]
        kind: Kind = "words" if task in _BBH_WORDS else "number" if task in _BBH_NUMBERS else "letter"
        outputs = []
        for number, row in enumerate(_rows(path)["outputs"]):
            extracted = row["prediction"].rpartition("the answer is ")[2].strip().removesuffix(".")
            options = _listed(row["input"].rpartition("Q: ")[2]) if kind == "letter" else ""
            gold = row["target"].strip("()") if options else row["target"]
            if kind != "letter" or len(options) > 1:
                right = extracted == row["target"]
                outputs.append(Case(f"{task} {number}", gold, row["prediction"], right, kind, options))
        cases += _sample(outputs, 60)
    return cases


def dynamic_cheatsheet(sets: Path) -> list[Case]:
    """Return 60 outputs per file by gpt-4o and claude-3-5-sonnet on AIME, GPQA, MMLU-Pro, as the source reads them."""
    cases = []
    for path in _files(DYNAMIC_CHEATSHEET, sets, "results/[AGM][IPM][MQL]*/*.jsonl"):
        outputs = []
        for number, row in enumerate(_rows(path)):
            name, gold = f"{path.parent.name} {path.stem} {number}", row["target"].strip()
            extracted, text = row["final_answer"], row["final_output"]
            if letter := re.fullmatch(r"\(([A-Z])\)", gold):
                options = _listed(row["raw_input"]) or "ABCD"
                chosen = re.search(r"\b[A-Z]\b", extracted)
                right = chosen is not None and chosen[0] == letter[1]
                outputs.append(Case(name, letter[1], text, right, "letter", options))
            elif _fraction(gold) is not None:
                outputs.append(Case(name, gold, text, _same(extracted, gold), "number"))
        cases += _sample(outputs, 60)
    return cases


def gaokao(sets: Path) -> list[Case]:
    """Return gpt-4-0314 on questions of Chinese exams with one right option; several options are no answer."""
    cases = []
    for path in _files(GAOKAO, sets, "Results/gpt_4_0314_obj/*.json"):
        subject = re.sub(r".*_20\d\d-20\d\d_", "", path.stem)
        for row in _rows(path)["example"]:
            gold, text, extracted = row["standard_answer"], row["model_output"], row["model_answer"]
            if gold in (["A"], ["B"], ["C"], ["D"]) and text:
                stated = re.search(r"【答案】(.*)", text)
                several = stated and len(set(re.findall("[A-D]", stated[1]))) > 1
                right = extracted[:1] == gold and not several
                cases.append(Case(f"{subject} {row['index']}", gold[0], text, right, "letter", "ABCD"))
    return cases


def math_vista(sets: Path) -> list[Case]:
    """Return 150 outputs per model, questions about pictures; the source's extraction is a language model's.

    Left out: values for letters, and letters that the extraction inferred. Where the output runs on into a made-up
    question, which the source's model reads, the answer is what the first turn states.
    """
    cases = []
    for path in _files(MATH_VISTA, sets, "results/*/output_*.json"):
        if re.search("frequent|random|template|_code", path.name):  # no text of a model
            continue
        outputs = []
        for number, row in _rows(path).items():
            text, extracted = row.get("response"), str(row.get("extraction") or "").strip()
            if not isinstance(text, str) or not text.strip():
                continue
            choices, gold = row["choices"] if row["question_type"] == "multi_choice" else None, str(row["answer"])
            if (turn := first_turn(text)) != text:
                last = turn.strip().rpartition("\n")[2]
                pattern = r"答案[:：]\s*\(?([A-D])" if choices else r"-?\d[\d,]*(?:\.\d+)?"
                found = re.findall(pattern, turn if choices else last)[-1:]
                extracted = (choices and _stated_letter(turn)) or "".join(found).replace(",", "")
                if not extracted:
                    continue
            name = f"{path.stem.removeprefix('output_')} {number}"
            if choices:
                options = ascii_uppercase[: len(choices)]
                letter = re.fullmatch(r"\(?([A-Za-z])\)?\.?", extracted)
                chosen = letter[1].upper() if letter and letter[1].upper() in options else ""
                nothing = not extracted or re.fullmatch(r"(?i)n/?a|none|null", extracted)
                if gold in choices and len(choices) > 1 and (_is_stated(chosen, text) if chosen else nothing):
                    gold = options[choices.index(gold)]
                    outputs.append(Case(name, gold, text, chosen == gold, "letter", options))
            elif row["answer_type"] == "integer" and (not extracted or _fraction(extracted) is not None):
                outputs.append(Case(name, gold, text, _same(extracted, gold), "number"))
        cases += _sample(outputs, 150)
    return cases


def mgsm(sets: Path) -> list[Case]:
    """Return mCoT-7B on MGSM in 11 languages; the answer is the last number, with the separators of its language."""
    cases = []
    for path in _files(MCOT, sets, "outputs/mcot_ft_mgsm_*.json"):
        language = path.stem.rpartition("_")[2]
        for number, row in enumerate(_rows(path)):
            gold, text = str(row["answer"]).removesuffix(".0"), row["response"]
            cases.append(Case(f"{language} {number}", gold, text, _same(last_number(text, language), gold), "number"))
    return cases


def mmlu_pro(sets: Path) -> list[Case]:
    """Return 120 outputs per model of MMLU-Pro; the answer is the last letter that the first turn states."""
    cases = []
    for path in _files(MMLU_PRO, sets, "eval_results/*.zip"):
        with zipfile.ZipFile(path) as archive:
            rows = json.loads(archive.read(archive.namelist()[0]))
        model, outputs = path.name.removeprefix("model_outputs_").removesuffix("_5shots.zip"), []
        for row in rows:
            text = isinstance(row, dict) and (row.get("generated_text") or row.get("model_outputs"))
            if text and text.strip() and len(row["options"]) > 1:
                gold, options = row["answer"], ascii_uppercase[: len(row["options"])]
                right = _stated_letter(text) == gold
                outputs.append(Case(f"{model} {row['question_id']}", gold, text, right, "letter", options))
        cases += _sample(outputs, 120)
    return cases


def qwen_math(sets: Path) -> list[Case]:
    """Return the different outputs for 100 problems of MATH in Qwen's evaluation, as its grader judges them."""
    cases = []
    for row in _rows(*_files(QWEN, sets, "evaluation/data/eval_rm_maj_example/math_cot_100.jsonl")):
        for number, (text, score) in enumerate(zip(row["code"], row["score"], strict=True)):
            if text not in row["code"][:number]:
                cases.append(Case(f"{row['idx']}/{number}", row["answer"], text, bool(score), "formula"))
    return cases


def theorem_qa(sets: Path) -> list[Case]:
    """Return outputs of three models that state one answer in the first turn; the source cuts it in several ways."""
    kinds = {row["Question"]: row["Answer_type"] for row in _rows(*_files(THEOREM_QA, sets, "theoremqa_test.json"))}
    cases = []
    for path in _files(THEOREM_QA, sets, "outputs/*.jsonl"):
        if "math_20b" in path.name:  # it runs on into code and judges itself
            continue
        for number, row in enumerate(_rows(path)):
            text, kind = row["solution"], kinds.get(row["question"])
            gold = str(row["correct"][0] if isinstance(row["correct"], list) else row["correct"])
            claims = re.findall(r"[Tt]he answer is:?[ \n]+(.+?)\.?\s*$", first_turn(text), re.M)
            if len(stated := {claim.strip().rstrip(".").strip() for claim in claims}) != 1:
                continue
            answer, name = stated.pop(), f"{path.stem} {number}"
            bare, word = re.sub(r"\\[()\[\]]|\$|\s", "", answer), answer.strip("\"'.").lower()
            if kind == "integer":
                cases.append(Case(name, gold, text, _same(bare, gold), "number"))
            elif kind == "list of integer":
                right = bare.replace("\\", "") == re.sub(r"\s", "", gold)
                cases.append(Case(name, gold, text, right, "formula"))
            elif kind == "option" and (letter := re.match(r"\(?([a-dA-D])(?:\)|$)", answer)):
                gold = gold.strip("()").upper()
                cases.append(Case(name, gold, text, letter[1].upper() == gold, "letter", "ABCD"))
            elif kind == "bool" and word in ("yes", "no", "true", "false"):
                gold = {"True": "Yes", "False": "No"}[gold] if word in ("yes", "no") else gold
                cases.append(Case(name, gold, text, word == gold.lower(), "words"))
    return cases


_ZERO_SHOT_TASKS = {
    **dict.fromkeys(("gsm8k", "svamp", "addsub", "multiarith", "singleeq"), "number"),
    **dict.fromkeys(("strategyqa", "coin_flip", "last_letters"), "words"),
    **{"aqua": "ABCDE", "commonsensqa": "ABCDE", "date_understanding": "ABCDEF", "shuffled_objects": "ABC"},
}
"""The kind of answer, or the letters of the options."""
_LOG_ENTRY = re.compile(
    r"(?s)(\d+)\w\w data\n1_th_sampling\n(.*)\npred_before : (.*)\npred_after : (.*?)\npred_list .*\nGT : (.*?)\s*"
)


def zero_shot_cot(sets: Path) -> list[Case]:
    """Return 120 outputs of text-davinci-002 per task and prompt; the logs show what the source extracts.

    The source takes the first of several numbers or letters. Here, several letters are no answer, the number is the one
    behind the last equals sign, and outputs with several other numbers are left out.
    """
    cases = []
    for task, asked in _ZERO_SHOT_TASKS.items():
        for prompt in ("zero_shot", "zero_shot_cot"):
            (path,) = _files(ZERO_SHOT, sets, f"log/{task}_{prompt}.log")
            outputs = []
            for entry in re.split(r"\*{25}\n", path.read_text(encoding="utf-8")):
                if not (parts := _LOG_ENTRY.fullmatch(entry)):
                    continue
                number, dialog, answer, extracted, gold = parts.groups()
                name, text = f"{task} {prompt} {number}", dialog.partition("\nA: ")[2].strip()
                if asked == "number":
                    numbers = re.findall(r"-?(?:\d[\d,]*)?\.?\d+", answer.rpartition("=")[2])
                    if "=" in answer:
                        numbers = numbers[:1]
                    if len({_fraction(each) for each in numbers}) < 2:
                        outputs.append(Case(name, gold, text, _same("".join(numbers[:1]), gold), "number"))
                elif asked == "words":
                    outputs.append(Case(name, gold, text, _plain(extracted) == _plain(gold), "words"))
                else:
                    several = re.search(r"\b[A-E]\)?,? (?:or|and) \(?[A-E]\b", answer)
                    right = extracted == gold and not several
                    outputs.append(Case(name, gold, text, right, "letter", asked))
            cases += _sample(outputs, 120)
    return cases


_NEXT_TURN = re.compile(r"^\W*(?:Question|Q|Problem|Human|User)\b ?\d*:|^(?:Question|Problem)\n|\n\n\n+Question", re.M)


def first_turn(text: str) -> str:
    """Return the text up to where a base model begins to make up the next question."""
    turn = _NEXT_TURN.search(text, 1)
    return text[: turn.start()] if turn else text


def last_number(text: str, language: str) -> str:
    """Return the last number at the end of the text, where MGSM's answers are; with a decimal period; empty: none."""
    numbers = re.findall(r"-?\d[\d., ]*\d|-?\d", text[-60:])
    number = re.sub(r"(?<=\d) (?=\d{3}(?!\d))", "", "".join(numbers[-1:])).rpartition(" ")[2]
    number = re.sub(r",(?=\d{3}(?!\d))", "", number)
    if language in ("de", "es", "fr", "ru"):
        number = re.sub(r"\.(?=\d{3}(?!\d))", "", number).replace(",", ".")
    return number


_LETTER_PATTERNS = (
    r"answer is:? \**\(?([A-J])\b\)?(?! (?:or|and) )",
    r"[aA]nswer:\**\s*\(?([A-J])\b",
    r"\\boxed\{\(?([A-J])\)?\}",
    r"(?:answer|option|statement|choice)\b[^.\n]{0,60}? is:?\s*\**\(?([A-J])\b",
    r"\(([A-J])\) is the correct",
)
"""MMLU-Pro's two patterns, then forms that they miss."""


def _stated_letter(text: str) -> str:
    """Return the last letter in the first turn by the first pattern that occurs there; empty: none does."""
    turn = first_turn(text)
    letters = (re.findall(pattern, turn) for pattern in _LETTER_PATTERNS)
    return next((each[-1] for each in letters if each), "")


def _is_stated(letter: str, text: str) -> bool:
    """Return whether the text has the letter as an option's, not only a value that a reader could find it by."""
    forms = (
        rf"\({letter}\)",
        rf"(?<!\w){letter}\)",
        rf"(?i:answer|option|choice)\b[^.\n]{{0,40}}(?<!\w){letter}(?!\w)",
        rf"(?:选项|答案|选)\W{{0,6}}{letter}(?!\w)",
        rf"^\W*{letter}(?:[.:]|\W*$)",
    )
    return re.search("|".join(forms), text, re.M) is not None


def _listed(question: str) -> str:
    """Return the letters of the options that a question lists, one a line: ``(A) ...``."""
    return "".join(sorted(set(re.findall(r"^\(([A-Z])\)", question, re.M))))


def _fraction(text: str) -> Fraction | None:
    try:
        return Fraction(text.replace(",", "").strip().rstrip("."))
    except (ValueError, ZeroDivisionError):
        return None


def _same(answer: str, gold: str) -> bool:
    return _fraction(answer) is not None and _fraction(answer) == _fraction(gold)


def _plain(text: str) -> str:
    return " ".join(text.strip().strip("\"'.").lower().split())


def _files(source: Source, sets: Path, pattern: str) -> list[Path]:
    """Return a repository's files of less than 4 MiB: longer ones, of a few models, were not at hand when we measured.

    Raises:
        NotAtHand: there are none.
    """
    paths = sorted(path for path in source.folder(sets).glob(pattern) if path.stat().st_size < 2**22)
    if not paths:
        raise NotAtHand(f"no {pattern} in {source.folder(sets)}; clone it at {source.commit[:10]}")
    return paths


def _rows(path: Path) -> Any:
    """Return what is in a file of JSON, or of a line of JSON per row."""
    text = path.read_text(encoding="utf-8")
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return [json.loads(line) for line in text.split("\n") if line.strip()]


def hashed(text: str) -> int:
    """Return a number that depends on the text alone, the same everywhere."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def _sample(cases: Iterable[Case], most: int) -> list[Case]:
    """Return at most so many of the cases, always the same ones; all sets together should take a few minutes."""
    return sorted(cases, key=lambda case: hashed(f"sample:{case.name}"))[:most]


Half = Literal["dev", "held-out"]


def half(set_name: str, case_name: str) -> Half:
    """Return the half that a case belongs to. Names that are equal up to a slash, for one problem, go together."""
    return "dev" if hashed(f"split:{set_name}:{case_name.partition('/')[0]}") % 2 == 0 else "held-out"


@dataclass(frozen=True)
class LabeledSet:
    """A set of labeled completions.

    Attributes:
        name: its name in the table.
        cases: its cases without the disputed ones, with corrected labels.
        disputed: how many were left out.
    """

    name: str
    cases: list[Case]
    disputed: int


def read(name: str, load: Callable[[Path], list[Case]], sets: Path, part: Half | None = None) -> LabeledSet:
    """Read a set, or a half of it, with corrected labels and without what is disputed.

    Raises:
        NotAtHand: it is not here.
        ValueError: a disputed or corrected case is not in the set, so the set is another version.
    """
    cases, disputed, corrected = load(sets), DISPUTED.get(name, {}), CORRECTED.get(name, {})
    if missing := (disputed.keys() | corrected.keys()) - {case.name for case in cases}:
        raise ValueError(f"{name}: no case {sorted(missing)}; the set is not the version that was measured")
    chosen = [case for case in cases if part in (None, half(name, case.name))]
    kept = [
        replace(case, right=corrected[case.name][0]) if case.name in corrected else case
        for case in chosen
        if case.name not in disputed
    ]
    return LabeledSet(name, kept, len(chosen) - len(kept))
