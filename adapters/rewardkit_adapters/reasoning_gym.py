"""rewardkit and reasoning-gym: ``rk.from_reasoning_gym("leg_counting")`` creates a reward for a task.

`reasoning_gym_rows` generates rows for a task. reasoning-gym is imported only when one of these functions is called,
and in the worker processes that score answers.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import math
import os
import re
import subprocess
import sys
import warnings
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache, partial
from typing import Annotated, Any, ClassVar, Literal, final, get_args

from pydantic import PlainValidator

from rewardkit.batch.score import Score
from rewardkit.errors import MissingExtraError, RewardDefinitionError, RewardFailure, WorkerDied, near_miss, shorten
from rewardkit.rewards.arithmetic import arithmetic
from rewardkit.text.extraction import as_extractor, tag
from rewardkit.text.extractors import Extractor
from rewardkit.tree.leaf import expression, primitive
from rewardkit.tree.parameters import Parameter
from rewardkit.tree.reward import Reward
from rewardkit.workers import worker

# Entries of reasoning-gym as JSON text: ``read(written("gcd", {}, entry))`` restores the task, its options and the
# entry.


_TUPLE, _PAIRS = "$tuple", "$pairs"


@final
@dataclass(frozen=True)
class Entry:
    """A question's task, the task options, and the scorer's input: ``answer`` and ``metadata``."""

    task: str
    options: str
    content: dict[str, Any]

    def __hash__(self) -> int:
        return hash((self.task, self.options))


def entry_text(task: str, options: Mapping[str, Any], entry: Mapping[str, Any]) -> str:
    """Return an entry as a JSON string. Raise TypeError if JSON cannot represent a value."""
    content = {name: value for name, value in entry.items() if name != "question"}
    return json.dumps({"task": task, "options": plain(dict(options)), "entry": plain(content)}, ensure_ascii=False)


def read_entry(text: object) -> Entry:
    """Parse the entry in a cell.

    Raises:
        ValueError: the cell does not contain an entry.
    """
    try:
        content = json.loads(text) if isinstance(text, str) else text
        entry = restore_value(content["entry"])  # type: ignore[index]
        task, options = content["task"], json.dumps(content["options"], sort_keys=True)  # type: ignore[index]
        if not isinstance(task, str) or not isinstance(entry, dict) or not {"answer", "metadata"} <= entry.keys():
            raise ValueError
    except (ValueError, TypeError, KeyError, RecursionError):
        raise ValueError("not a reasoning-gym entry. Create the rows with reasoning_gym_rows") from None
    return Entry(task, options, entry)


def options_of(entry: Entry) -> dict[str, Any]:
    """Return the task options for an entry."""
    options: dict[str, Any] = restore_value(json.loads(entry.options))
    return options


def plain(value: Any) -> Any:
    """Convert `value` to JSON that `restore_value` can convert back. Raise TypeError if this is impossible."""
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, str):  # some are numpy strings
        return str(value)
    if isinstance(value, tuple):
        return {_TUPLE: [plain(item) for item in value]}
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, Mapping):
        if all(isinstance(key, str) and not key.startswith("$") for key in value):
            return {str(key): plain(item) for key, item in value.items()}
        return {_PAIRS: [[plain(key), plain(item)] for key, item in value.items()]}
    raise TypeError(f"reasoning-gym: a value of type {type(value).__name__} cannot be written as JSON")


def restore_value(value: Any) -> Any:
    """Convert a value that `plain` returned back to the original."""
    if isinstance(value, list):
        return [restore_value(item) for item in value]
    if isinstance(value, dict):
        if value.keys() == {_TUPLE}:
            return tuple(restore_value(item) for item in value[_TUPLE])
        if value.keys() == {_PAIRS}:
            return {restore_value(key): restore_value(item) for key, item in value[_PAIRS]}
        return {key: restore_value(item) for key, item in value.items()}
    return value


# Reject answers that a task's own scorer accepts by mistake or would run as code: ``refusal("puzzle24", text, entry)``.


LONGEST = 20_000
"""The maximum number of characters in an answer. The limit is arbitrary, but well above the longest correct answers,
which have about 2,000 characters."""

# The task's scorer passes the answer to sympy, which evaluates Python. So quotation marks, commas and square brackets
# are not allowed.
_FORMULA = re.compile(r"[A-Za-z0-9_\s+\-*/^().]*")
_WORD = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")
# An arbitrary limit: powers of such numbers take too much memory.
_LONG_NUMBER = re.compile(r"\d{16}")
# Exponents of at least four digits, and towers of powers: "2**9999", "9**9**9"; "x**12" is allowed.
_POWER = re.compile(r"\*\*\s*\(*\s*-?\s*\d{4}|\d\s*\)*\s*\*\*\s*\(*\s*\d+\s*\)*\s*\*\*")
_FUNCTIONS = frozenset(
    [
        "sin",
        "cos",
        "tan",
        "sec",
        "csc",
        "cot",
        "asin",
        "acos",
        "atan",
        "sinh",
        "cosh",
        "tanh",
        "asinh",
        "acosh",
        "atanh",
        "exp",
        "log",
        "ln",
        "sqrt",
        "abs",
        "Abs",
        "pi",
    ]
)
# A number in a list: "-3", "0.5", ".5".
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?|-?\.\d+")
# "3 days", "12:30", "1 day, 2:03:04.5".
_DURATION = re.compile(r"(?i)\d+ days?|(?:\d+ days?,? *)?\d+:\d+(?::\d+(?:\.\d+)?)?")
# "3 + 4i". "nan" does not match, because of its letters.
_COMPLEX = re.compile(r"[0-9ij\s+\-*.()]*")


def refusal(task: str, answer: str, entry: Mapping[str, Any]) -> str:
    """Return the reason to give `answer` a score of 0, or "" if there is none."""
    if len(answer) > LONGEST:
        return f"the answer is longer than {LONGEST:,} characters"
    guard = _GUARDS.get(task)
    return guard(answer, entry) if guard else ""


def _formula(answer: str, entry: Mapping[str, Any]) -> str:
    """Reject everything except arithmetic with variables and elementary functions."""
    # A dot next to a letter reads an attribute, as in "x.real", and "2.x" is not a number. "__" starts internal names.
    if not _FORMULA.fullmatch(answer) or re.search(r"\.\s*[A-Za-z_]|[A-Za-z_]\s*\.|__", answer):
        return "the answer is not a plain formula"
    unknown_names = [word for word in _WORD.findall(answer) if len(word) > 1 and word not in _FUNCTIONS]
    if unknown_names:
        return f"the answer contains the unknown name {shorten(unknown_names[0], 40)}"
    if _LONG_NUMBER.search(answer) or _POWER.search(answer):
        return "the answer contains numbers that are too large"
    return ""


def _literal(answer: str, entry: Mapping[str, Any]) -> str:
    """Reject code that ``eval`` would run. Literals, single names, and text that is not an expression are allowed."""
    try:
        tree = ast.parse(answer.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    if isinstance(tree.body, ast.Name):
        return ""
    try:
        ast.literal_eval(tree)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return "the answer is code, not a literal"
    return ""


def _puzzle24(answer: str, entry: Mapping[str, Any]) -> str:
    """Reject an answer that does not form 24 from the given numbers, because the scorer accepts any four numbers."""
    return _arithmetic(answer, entry["metadata"]["numbers"], 24)


def _countdown(answer: str, entry: Mapping[str, Any]) -> str:
    return _arithmetic(answer, entry["metadata"]["numbers"], entry["metadata"]["target"])


def _arithmetic(answer: str, numbers: list[int], target: float) -> str:
    try:
        value = arithmetic(answer, numbers=numbers)
    except ValueError as error:
        return str(error)
    return "" if value == target else f"equals {shorten(value, 40)}, not {target}"


def _halting(answer: str, entry: Mapping[str, Any]) -> str:
    """Compare the answers as strings. The scorer compares their truth values, but any non-empty string is true."""
    same = answer.strip().lower().rstrip(".") == str(entry["answer"]).strip().lower()
    return "" if same else f"the answer is not {entry['answer']}"


def _complex(answer: str, entry: Mapping[str, Any]) -> str:
    """Reject answers that are not complex numbers, because the scorer gives full credit for NaN."""
    return "" if _COMPLEX.fullmatch(answer) else "the answer is not a complex number"


def _probability(answer: str, entry: Mapping[str, Any]) -> str:
    """Check the relative error. The scorer allows an absolute error of 0.0001, which exceeds some probabilities."""
    try:
        value, right = (float(Fraction(text.replace(",", "").strip())) for text in (answer, entry["answer"]))
    except (ValueError, ZeroDivisionError, OverflowError):
        return "the answer is not a number"
    # Answers may be rounded to three digits.
    return "" if math.isclose(value, right, rel_tol=1e-3) else f"{value:.6g} is not {right:.6g}"


def _same_words(answer: str, entry: Mapping[str, Any]) -> str:
    """Require exactly the correct words, because the scorer also accepts other words after them."""
    answer_words, right = (re.split(r"[\s,]+", text.strip().lower()) for text in (answer, entry["answer"]))
    return "" if answer_words == right else "different words"


def _same_number(answer: str, entry: Mapping[str, Any]) -> str:
    """Require the exact number. The scorer allows an error, but the question asks for all digits."""
    try:
        answer_number, right = (Decimal(text.replace(",", "").strip()) for text in (answer, entry["answer"]))
    except ArithmeticError:
        return "the answer is not a number"
    return "" if answer_number == right else f"{shorten(answer, 40)} is not {entry['answer']}"


def _same_numbers(answer: str, entry: Mapping[str, Any]) -> str:
    """Require exactly the correct numbers, because the scorer allows an error in one number in a list."""
    answer_numbers, right = (sorted(map(float, _NUMBER.findall(text))) for text in (answer, entry["answer"]))
    return "" if answer_numbers == right else "different numbers"


def _as_many_numbers(answer: str, entry: Mapping[str, Any]) -> str:
    """Require the correct number of numbers, because the scorer reads only the first of several answers."""
    answer_count, right = (len(_NUMBER.findall(text)) for text in (answer, entry["answer"]))
    return "" if answer_count == right else f"{answer_count} numbers in the answer, not {right}"


def _duration(answer: str, entry: Mapping[str, Any]) -> str:
    """Require a single duration. If an answer is in days, the scorer reads its first number and ignores the rest."""
    return "" if _DURATION.fullmatch(answer.strip()) else "the answer is not one duration"


_GUARDS: dict[str, Callable[[str, Mapping[str, Any]], str]] = {
    **dict.fromkeys(("simple_integration", "intermediate_integration", "polynomial_multiplication"), _formula),
    **dict.fromkeys(("string_insertion", "spiral_matrix", "binary_matrix", "n_queens"), _literal),
    **dict.fromkeys(("spell_backward", "letter_jumble", "word_sorting"), _same_words),
    **dict.fromkeys(("number_format", "decimal_arithmetic"), _same_number),
    **dict.fromkeys(("gsm_symbolic", "fraction_simplification", "advanced_geometry"), _as_many_numbers),
    "number_sorting": _same_numbers,
    "time_intervals": _duration,
    "puzzle24": _puzzle24,
    "countdown": _countdown,
    "game_of_life_halting": _halting,
    "complex_arithmetic": _complex,
    "coin_flip": _probability,
}


# Rows of a task: ``reasoning_gym_rows("leg_counting", size=2)[0]["answer"]`` is ``"286"``.


INSTRUCTION = "Write your final answer, and nothing else, between <answer> and </answer>."

_APART = 1_000_000
"""The factor that converts `seed` to reasoning-gym's seed. reasoning-gym generates row n for its seed s from the number
s + n, so adjacent seeds would share rows."""

_MOST_SEEDS = 4_000
"""The maximum seed. Multiplied by `_APART`, it must fit in 32 bits."""
_TRIES = 5
"""The maximum number of questions to generate for each requested distinct question. The limit is arbitrary, but
necessary because small tasks repeat questions, and tiny tasks have fewer distinct questions than requested."""

_RIGHT_ANSWERS = ("answer", "example_answer", "example_correct_answer")
_LEFT_OUT = ("composite",)


def reasoning_gym_rows(
    name: str, *, size: int = 500, seed: int = 0, instruction: str = INSTRUCTION, **options: Any
) -> list[dict[str, str]]:
    """Generate rows for a reasoning-gym task, to be passed to ``Dataset.from_list`` or ``rk.score``.

    ``reasoning_gym_rows("leg_counting", size=500, max_animals=5)`` returns 500 different questions. The columns are
    ``prompt`` (the question and the instruction), ``question``, ``answer`` (a correct answer, or "" if the task
    provides none), and ``metadata`` (a JSON string with everything that the task's scorer reads).

    Args:
        name: the name of the task. See https://github.com/open-thought/reasoning-gym for the list of about a hundred
            tasks.
        size: the number of rows, all with different questions.
        seed: the random seed. Different seeds give different rows if the task has enough questions. Seed n corresponds
            to reasoning-gym's seed n * 1,000,000.
        instruction: the text to add to each question, or "" for none.
        options: task options, such as ``max_animals=5``.

    Raises:
        MissingExtraError: the extra ``reasoning-gym`` is not installed.
        RewardDefinitionError: the task or an option does not exist, or the task has fewer than `size` different
            questions.
    """
    for argument, value, least, most in (("size", size, 1, _APART), ("seed", seed, 0, _MOST_SEEDS)):
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise RewardDefinitionError(
                f"reasoning_gym_rows: {argument} must be an int from {least} to {most:,}, got {shorten(value)}"
            )
    check_task(name)
    request = {"name": name, "options": plain(options), "size": size, "seed": seed, "instruction": instruction}
    return _in_a_process(request)


def _in_a_process(request: dict[str, Any]) -> list[dict[str, str]]:
    """Generate rows in a process with a fixed hash seed.

    Some tasks depend on the order of sets, and all ranks need the same rows."""
    completed = subprocess.run(
        [sys.executable, "-c", _CHILD, json.dumps(sys.path)],
        input=json.dumps(request),
        capture_output=True,
        env={**os.environ, "PYTHONHASHSEED": "0", "PYTHONIOENCODING": "utf-8"},
        encoding="utf-8",
        check=False,
    )
    if completed.returncode != 0:
        reason = shorten(completed.stderr.strip().rpartition("\n")[2])
        raise RewardFailure(f"reasoning-gym: the rows for {request['name']} could not be generated: {reason}")
    answer = json.loads(completed.stdout)
    if "error" in answer:
        raise RewardDefinitionError(answer["error"])
    rows: list[dict[str, str]] = answer["rows"]
    return rows


_CHILD = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from rewardkit_adapters.reasoning_gym import main
main()
"""


def main() -> None:
    """Read a request from standard input, and write the rows or the error to standard output."""
    request = json.load(sys.stdin)
    with open(os.dup(1), "w", encoding="utf-8") as parent:
        os.dup2(2, 1)  # some tasks print
        try:
            answer: dict[str, Any] = {"rows": _make_rows(**request)}
        except RewardDefinitionError as error:
            answer = {"error": str(error)}
        json.dump(answer, parent)


def _make_rows(name: str, options: Any, size: int, seed: int, instruction: str) -> list[dict[str, str]]:
    task_options = restore_value(options)
    # 20 more, because in a small sample most questions may be the same.
    tries = min(_TRIES * size + 20, _APART)
    dataset = dataset_of(name, {**task_options, "size": tries, "seed": seed * _APART})
    rows: dict[str, dict[str, str]] = {}
    for number in range(tries):
        entry = dataset[number]
        question = str(entry["question"])
        if question not in rows:
            rows[question] = {
                "prompt": f"{question}\n\n{instruction}" if instruction else question,
                "question": question,
                "answer": _right_answer(dataset, entry),
                "metadata": entry_text(name, task_options, entry),
            }
        if len(rows) == size:
            return list(rows.values())
    raise RewardDefinitionError(
        f"reasoning_gym_rows: {name} generated only {len(rows):,} different questions in {tries:,}. Lower size, or "
        "pass task options that allow more questions"
    )


def dataset_of(name: object, options: dict[str, Any]) -> Any:
    """Return the dataset for a task, which generates and scores entries.

    Raises:
        MissingExtraError: reasoning-gym is not installed.
        RewardDefinitionError: the task or an option does not exist.
    """
    gym = required()
    check_task(name)
    try:
        return gym.create_dataset(name, **options)
    except (TypeError, ValueError, AssertionError, KeyError) as error:
        raise RewardDefinitionError(f"reasoning-gym: {name} does not accept {shorten(options)}: {error}") from None


def required() -> Any:
    """Return the package reasoning_gym. Raise MissingExtraError if it is not installed."""
    try:
        import reasoning_gym
    except ImportError:
        raise MissingExtraError.of("a reasoning-gym task", "reasoning-gym") from None
    return reasoning_gym


def check_task(name: object) -> str:
    """Return the name of a task. Raise RewardDefinitionError if there is no such task."""
    required()
    from reasoning_gym.factory import DATASETS

    if not isinstance(name, str) or name not in DATASETS or name in _LEFT_OUT:
        tasks = sorted(set(DATASETS) - set(_LEFT_OUT))
        raise RewardDefinitionError(
            f"reasoning-gym has no task {shorten(name)}.{near_miss(str(name), tasks)} It has {len(tasks)} "
            f"tasks: {', '.join(tasks[:5])}, ..."
        )
    return name


def _right_answer(dataset: Any, entry: dict[str, Any]) -> str:
    """Return a correct answer: the entry's answer, an example in its metadata, or "" if there is neither."""
    for source in (entry, entry["metadata"]):
        for name in _RIGHT_ANSWERS:
            answer = source.get(name)
            if isinstance(answer, str) and answer and _is_right(dataset, answer, entry):
                return answer
    return ""


def _is_right(dataset: Any, answer: str, entry: dict[str, Any]) -> bool:
    return bool(dataset.score_answer(answer, entry) >= 1.0)


# Code that runs in a worker process: ``scored("gcd", "{}", entry, "6", False)`` calls the task's own scorer.


_FULL = 1.0 - 1e-9
"""The lowest score that counts as full credit. Some scorers add up fractions, which causes rounding errors."""
_NOTHING = ("", "?", "banana")
"""Meaningless answers. The highest score among them is the baseline for partial credit."""


def score_answer(entry: Entry, answer: str, partial: bool) -> tuple[float, str]:
    """Return the score for an answer, and a note."""
    content = entry.content
    reason = refusal(entry.task, answer, content)
    if reason:
        return 0.0, reason
    dataset = _dataset(entry.task, entry.options)
    value = _own_score(dataset, answer, content)
    if isinstance(value, str):
        return 0.0, value
    if value >= _FULL:
        return 1.0, ""
    if not partial:
        return 0.0, f"the task's scorer gives it {value:.3g}" if value > 0.0 else "wrong"
    return _partial(dataset, answer, content, value)


def _partial(dataset: Any, answer: str, content: Mapping[str, Any], value: float) -> tuple[float, str]:
    """Return the credit above the score for meaningless answers, and a note."""
    right = content["answer"]
    if isinstance(right, str) and right in answer and math.isclose(value, len(right) / len(answer)):
        return 0.0, "the correct answer is surrounded by other text"  # otherwise a list of candidates would get credit
    floors = [_own_score(dataset, text, content) for text in _NOTHING]
    floor = max((score for score in floors if not isinstance(score, str)), default=0.0)
    # The same tolerance for rounding errors as in `_FULL`.
    if value <= floor + 1e-9:
        return 0.0, "wrong"
    return (value - floor) / (1.0 - floor), f"partly correct: the task's scorer gives it {value:.3g}"


def _own_score(dataset: Any, answer: str, content: Mapping[str, Any]) -> float | str:
    """Return the score from the task's own scorer, or the reason why there is none."""
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            value = float(dataset.score_answer(answer, {**content, "question": ""}))
        except (MemoryError, RecursionError):
            raise
        except Exception as error:
            return f"the task's scorer raised {type(error).__name__}: {shorten(str(error), 80)}"
    return value if 0.0 <= value <= 1.0 else "the task's scorer did not return a number from 0 to 1"


# An arbitrary size: enough for the tasks of a run.
@lru_cache(64)
def _dataset(task: str, options: str) -> Any:
    """Return the dataset for a task with these options, which its scorer may read."""
    task_options = options_of(Entry(task, options, {}))
    with contextlib.redirect_stdout(io.StringIO()):
        return dataset_of(task, {**task_options, "size": 1, "seed": 0})


# from_reasoning_gym: use the scorer of a task as a Reward, with its loopholes closed.


Credit = Literal["binary", "partial"]

# Arbitrary limits: an answer may make a scorer hang, or use up the memory.
_SECONDS = 10.0
_MEMORY_BYTES = 1_000_000_000
_TOO_MUCH = (TimeoutError, MemoryError, RecursionError, WorkerDied)


@dataclass(frozen=True)
class EntryOf:
    """A parser that reads a cell as an entry of `task`."""

    task: str

    def __call__(self, cell: object) -> Entry:
        entry = read_entry(cell)
        if entry.task != self.task:
            raise ValueError(f"an entry for the task {shorten(entry.task)}, not for {self.task}")
        return entry


@dataclass(frozen=True)
class Scorer:
    """A callable that scores an answer with `task`'s scorer, in a worker process."""

    task: str
    credit: Credit
    waits: ClassVar[bool] = True

    def __call__(self, answer: str | None, entry: Entry) -> Score | Future[float | Score]:
        if answer is None or not answer.strip():
            return Score(0.0, "no answer found")
        if len(answer) > LONGEST:
            return Score(0.0, f"the answer is longer than {LONGEST:,} characters")
        arguments = (entry, answer.strip(), self.credit == "partial")
        call = worker.submit(score_answer, arguments, _SECONDS, _MEMORY_BYTES)
        return worker.chain(call, partial(_score, answer.strip()))


def _score(answer: str, future: Future[tuple[float, str]]) -> float | Score:
    try:
        value, note = future.result()
    except _TOO_MUCH as error:
        value, note = 0.0, f"its check takes too much {'time' if isinstance(error, TimeoutError) else 'memory'}"
    return Score(value, f"{shorten(answer, 60)}: {note}") if note else value


def from_reasoning_gym(name: str, *, credit: Credit = "binary", extract: Extractor | Any = None) -> Reward:
    """Turn a reasoning-gym task's scorer into a Reward for rows from ``reasoning_gym_rows``.

    ``rk.from_reasoning_gym("leg_counting")`` gives ``<answer>286</answer>`` a score of 1.0 if the animals have 286
    legs.

    The task's own scorer decides which answers are correct. Many scorers give partial credit for any text, or for the
    correct answer among other answers, so by default only their full credit counts. A few scorers give full credit for
    incorrect answers or run answers as code. rewardkit closes these loopholes. See ``docs/reasoning_gym.md``.

    Args:
        name: the task, such as ``"leg_counting"``.
        credit: ``"binary"`` gives 1.0 for the scorer's full credit, or 0.0 otherwise. ``"partial"`` subtracts the
            credit for a meaningless answer, rescales the rest to a maximum of 1.0, and gives 0.0 for the correct answer
            among other text.
        extract: the extractor for the answer. By default, as in reasoning-gym, the answer is the only ``<answer>`` tag
            after the thinking.

    Returns:
        A reward in [0, 1], named after the task. It reads the column "metadata".

    Raises:
        MissingExtraError: the extra ``reasoning-gym`` is not installed.
        RewardDefinitionError: the task does not exist, or `credit` is unknown.
        CoercionError: while scoring: a cell in "metadata" is not an entry for this task.
    """
    task = check_task(name)
    if credit not in get_args(Credit):
        raise RewardDefinitionError(
            f"from_reasoning_gym: credit must be one of {', '.join(get_args(Credit))}, got {shorten(credit)}"
        )
    where = as_extractor(extract, tag("answer"))
    return primitive(
        Scorer(task, credit),
        task,
        expression("from_reasoning_gym", task, credit=(credit, "binary"), extract=(extract and where, None)),
        Parameter("answer", "completion", view=where),
        Parameter("entry", "metadata", annotation=Annotated[Entry, PlainValidator(EntryOf(task))]),
        expensive=True,
    )
