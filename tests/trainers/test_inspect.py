"""Scorers of inspect_ai and inspect_evals with `rk.from_inspect`: the numbers of inspect_ai's own evaluation."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import inspect_ai
import numpy as np
import pytest
import tiktoken
from inspect_ai import Task
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessageAssistant, ChatMessageTool, ModelOutput, get_model
from inspect_ai.scorer import (
    Score,
    accuracy,
    answer,
    cascade,
    choice,
    exact,
    f1,
    includes,
    match,
    math as math_scorer,
    model_graded_qa,
    multi_scorer,
    pattern,
    scorer,
    value_to_float,
)
from inspect_ai.solver import TaskState, multiple_choice, solver
from inspect_ai.tool import ToolCall
from inspect_ai.util import sandbox
from inspect_evals.assistant_bench.scoring import assistant_bench_scorer
from inspect_evals.bbh.bbh import DatasetType, bbh_scorer
from inspect_evals.chembench.chembench import chembench_scorer
from inspect_evals.docvqa.docvqa import docvqa_scorer
from inspect_evals.drop.drop import extract_answer
from inspect_evals.gaia.scorer import gaia_scorer
from inspect_evals.infinite_bench.math_calc_scorer import math_calc_scorer
from inspect_evals.lab_bench.scorer import precision_choice
from inspect_evals.lingoly.lingoly import exact_match_lingoly
from inspect_evals.math.math import expression_exact_match
from inspect_evals.personality.personality import any_choice
from inspect_evals.sad.scorer import lenient_mcq_choice
from inspect_evals.simpleqa.scorer import simpleqa_scorer
from inspect_evals.stereoset.stereoset import multiple_choice_scorer
from inspect_evals.worldsense.worldsense import pattern_with_metadata
from inspect_evals.zerobench.scorer import zerobench_scorer

import rewardkit as rk
from tests.trainers.reward import DATA

Samples = Sequence[tuple[Sample, str]]
"""Samples with what the model says."""

NAN = math.nan


@pytest.fixture(autouse=True)
def _offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Count tokens without the file that tiktoken downloads."""

    class Letters:
        def encode(self, text: str, **_: Any) -> list[str]:
            return list(text)

    monkeypatch.setattr(tiktoken, "get_encoding", lambda name: Letters())


@solver  # type: ignore[untyped-decorator]
def said(texts: Mapping[Any, str]) -> Any:
    async def generated(state: TaskState, *_: Any, **__: Any) -> TaskState:
        state.output = ModelOutput.from_content("none/none", texts[state.sample_id])
        state.messages.append(state.output.message)
        return state

    async def solve(state: TaskState, generate: Any) -> TaskState:
        return await (multiple_choice()(state, generated) if state.choices else generated(state))

    return solve


def numbered(samples: Samples) -> tuple[list[Sample], dict[Any, str]]:
    own = [sample.model_copy(update={"id": place}) for place, (sample, _) in enumerate(samples)]
    return own, {sample.id: text for sample, (_, text) in zip(own, samples, strict=True)}


def theirs(samples: Samples, scorers: Sequence[Any], folder: Path, solving: Any = None, model: Any = None) -> Any:
    """Return the log of inspect_ai's own evaluation."""
    own, texts = numbered(samples)
    (log,) = inspect_ai.eval(
        Task(dataset=own, solver=solving or said(texts), scorer=list(scorers), metrics=[]),
        model=model or "mockllm/model",
        display="none",
        log_dir=str(folder),
        max_samples=1 if solving else None,  # in order, as the model says them
    )
    assert log.status == "success", log.error
    return log


def values(log: Any, name: str, pick: Callable[[Any], Any] = lambda value: value) -> list[float]:
    """Return the values of a scorer as inspect_ai's metrics read them."""
    samples = sorted(log.samples, key=lambda sample: int(sample.id))
    found = [sample.scores.get(name) for sample in samples]
    to_float = value_to_float()
    return [NAN if one is None or is_nan(pick(one.value)) else to_float(pick(one.value)) for one in found]


def is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def ours(reward: rk.Reward, samples: Samples) -> list[float]:
    columns: dict[str, Any] = {
        "target": [sample.target for sample, _ in samples],
        "metadata": [sample.metadata for sample, _ in samples],
    }
    if any(sample.choices for sample, _ in samples):
        columns["choices"] = [sample.choices for sample, _ in samples]
    texts = [text for _, text in samples]
    found: list[float] = rk.score(
        reward, texts, prompts=[sample.input for sample, _ in samples], **columns
    ).total.tolist()
    return found


def gsm8k() -> list[tuple[Sample, str]]:
    lines = (DATA / "model_solutions.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    golds = [row["reference"].rpartition("A: ")[2] for row in rows]
    return [
        (Sample(input=row["prompt"], target=gold), row["completion"]) for row, gold in zip(rows, golds, strict=True)
    ]


BUNDLED = {
    "match": match(),
    "match numeric": match(numeric=True),
    "match any": match(location="any", numeric=True, ignore_case=False),
    "includes": includes(),
    "pattern": pattern(r"A: (\S+)"),
    "answer": answer("line"),
    "exact": exact(),
    "f1": f1(),
    "f1 answer": f1(lambda text: text.rpartition("A: ")[2], stop_words=["the"]),
    "mean": multi_scorer([match(numeric=True), includes()], "mean"),
    "cascade": cascade(number=match(numeric=True), text=f1()),
}


@pytest.mark.skipif(not DATA.exists(), reason="the data is not here")
def test_bundled_scorers_on_real_solutions(tmp_path: Path) -> None:
    samples = gsm8k()[:1_000]
    log = theirs(samples, list(BUNDLED.values()), tmp_path)
    names = list(log.samples[0].scores)
    assert len(names) == len(BUNDLED)
    for (label, one), name in zip(BUNDLED.items(), names, strict=True):
        expected, found = values(log, name), ours(rk.from_inspect(one), samples)
        np.testing.assert_array_equal(found, expected, label)
        print(f"{label}: {len(found)} equal, mean {np.mean(found):.4f}")


@pytest.mark.skipif(not DATA.exists(), reason="the data is not here")
def test_the_math_scorer_on_real_solutions(tmp_path: Path) -> None:
    samples = gsm8k()[:300]
    samples += [(sample, rf"It is $\boxed{{{sample.target}}}$.") for sample, _ in samples[:100]]
    expected = values(theirs(samples, [math_scorer()], tmp_path), "math")
    found = ours(rk.from_inspect(math_scorer()), samples)
    np.testing.assert_array_equal(found, expected)
    assert 0.1 < np.mean(found) < 1.0


def multiple(count: int = 60) -> list[tuple[Sample, str]]:
    draw = random.Random(0)
    given = [
        (target, text)
        for target in ("A", "C", ["A", "C"], "B, D")
        for text in (
            "ANSWER: A",
            "ANSWER: C",
            "so\n\nANSWER: A, C",
            "**ANSWER: BD**",
            "ANSWER: E",
            "I think A.",
            "",
            "A",
        )
    ]
    choices = ["London", "Paris", "Rome", "Oslo"]
    return [
        (Sample(input=f"Which is it, {place}?", target=target, choices=choices), text)
        for place, (target, text) in enumerate(draw.choices(given, k=count))
    ]


@pytest.mark.parametrize("one", [choice(), precision_choice("Oslo")], ids=["choice", "lab_bench"])
def test_choices_are_marked_as_the_solver_marks_them(one: Any, tmp_path: Path) -> None:
    samples = multiple()
    for several in (False, True):
        some = [pair for pair in samples if several or len(pair[0].target) == 1]
        outputs = [ModelOutput.from_content("mockllm/model", text) for _, text in some]
        model = get_model("mockllm/model", custom_outputs=outputs)
        log = theirs(some, [one], tmp_path, multiple_choice(multiple_correct=several), model)
        (name,) = log.samples[0].scores
        found = ours(rk.from_inspect(one), some)
        assert found == values(log, name)
        assert again(rk.from_inspect(one), log) == found
        assert 0.0 < np.mean(found) < 1.0


def with_endings(endings: Sequence[str], **fields: Any) -> list[tuple[Sample, str]]:
    """Return samples whose texts are real solutions with endings that a scorer looks for."""
    texts = [text for _, text in gsm8k()[:20]] if DATA.exists() else ["So it is 4.", "Let us see.\n\nA: 12"]
    return [(Sample(input="?", **fields), f"{text}\n{ending}") for text in texts for ending in endings] + [
        (Sample(input="?", **fields), ending) for ending in endings
    ]


def solutions() -> list[tuple[Sample, str]]:
    return gsm8k()[:400]


def boxed() -> list[tuple[Sample, str]]:
    return [
        (Sample(input="?", target=gold), f"Thus\nANSWER: {form}")
        for gold in ("\\frac{1}{2}", "x^2+1", "12", "1,000", "\\sqrt{2}")
        for form in ("\\frac{1}{2}", "0.5", "$1/2$", "1+x^2", "x^2+1", "12", "12.0", "1000", "\\sqrt{2}", "", "two")
    ]


def hard() -> list[tuple[Sample, str]]:
    kinds = {DatasetType.MULTIPLE_CHOICE: "B", DatasetType.BINARY_CHOICE: "Yes", DatasetType.EXACT_MATCH: "12"}
    endings = ("ANSWER: B", "ANSWER: Yes", "ANSWER: no", "the answer is 12", "12.")
    return [
        one
        for kind, target in kinds.items()
        for one in with_endings(
            endings, target=target, choices=["x", "y"] if target == "B" else None, metadata={"dataset_type": kind}
        )
    ]


def chemistry() -> list[tuple[Sample, str]]:
    endings = ("[ANSWER]12.05[/ANSWER]", "[ANSWER]12[/ANSWER]", "[ANSWER]A,B[/ANSWER]", "[ANSWER]B[/ANSWER]", "12")
    exact_one = {"task_type": "mae", "tolerance": 0.01, "relative": True}
    return [
        *with_endings(endings, target="12", metadata=exact_one),
        *with_endings(endings, target="A,B", metadata={"task_type": "exact_str_match"}),
    ]


LETTERS = ("ANSWER: A", "ANSWER: C.", "ANSWER: D", "C", "(C) Rome", "Rome", "c")
CASES: dict[str, tuple[Any, Callable[[], Samples], Any]] = {
    "gsm8k": (match(numeric=True), solutions, None),
    "math": (expression_exact_match(), boxed, None),
    "drop": (
        f1(extract_answer),
        lambda: with_endings(["Answer: 12 yards", "Answer: ", "12"], target=["12", "12 yards"]),
        None,
    ),
    "bbh": (bbh_scorer(), hard, None),
    "docvqa": (
        docvqa_scorer(),
        lambda: with_endings(["ANSWER: Acme Inc", "ANSWER: acme", "x"], target=["ACME Inc."]),
        None,
    ),
    "zerobench": (zerobench_scorer(), lambda: with_endings(["{12}", "{ 12 }", "12", "{x} {12}"], target="12"), None),
    "infinite_bench": (
        math_calc_scorer(),
        lambda: with_endings(["[1, 2, 3]", "[1, 2]", "[2, 3]", "none"], target=["1", "2", "3"]),
        None,
    ),
    "chembench": (chembench_scorer(), chemistry, None),
    "worldsense": (
        pattern_with_metadata(r"^\(?\s*(1|2|3|TRUE|FALSE)\s*\)?"),
        lambda: [(Sample(input="?", target="TRUE"), text) for text in ("TRUE", "(true)", " FALSE", "It is TRUE", "")],
        None,
    ),
    "assistant_bench": (
        assistant_bench_scorer(),
        lambda: with_endings(
            ["The final answer is: 12", "The final answer is: 11", "The final answer is: "], target="12"
        ),
        "score",
    ),
    "gaia": (
        gaia_scorer(),
        lambda: [(Sample(input="?", target="1,000"), text) for text in ("$1,000", "1000", "x")],
        None,
    ),
    "lingoly": (
        exact_match_lingoly(),
        lambda: with_endings(
            ['{"1": "kala", "2": "x"}', "```json\n{}\n```", '{"1": "kala", "2": "vesi"}'],
            target="{'1': 'kala', '2': 'vesi'}",
            metadata={"no_context": False},
        ),
        None,
    ),
    "personality": (any_choice(), lambda: with_endings(LETTERS, target=["A", "C"]), None),
    "sad": (
        lenient_mcq_choice(),
        lambda: [(Sample(input="?", target="C", choices=["London", "Paris", "Rome"]), text) for text in LETTERS],
        None,
    ),
    "stereoset": (
        multiple_choice_scorer(),
        lambda: with_endings(
            LETTERS, target=["A", "C"], metadata={"gold_labels": [0, 2, 1], "target_positions": ["A", "C"]}
        ),
        None,
    ),
}


@pytest.mark.parametrize("label", CASES)
def test_public_scorers_give_the_numbers_of_their_evaluation(label: str, tmp_path: Path) -> None:
    one, made, key = CASES[label]
    samples = made()
    log = theirs(samples, [one], tmp_path)
    (name,) = log.samples[0].scores
    expected = values(log, name, (lambda value: value) if key is None else (lambda value: value[key]))
    found = ours(rk.from_inspect(one, value=key), samples)
    np.testing.assert_array_equal(found, expected)
    assert len(set(found)) > 1
    print(f"{label}: {len(found)} equal, mean {np.nanmean(found):.4f}")


def test_a_log_scored_again_gives_the_scores_in_the_log(tmp_path: Path) -> None:
    @solver  # type: ignore[untyped-decorator]
    def agent() -> Any:
        async def solve(state: TaskState, generate: Any) -> TaskState:
            call = ToolCall(id="c1", function="add", arguments={"x": 1, "y": 2})
            state.messages += [
                ChatMessageAssistant(content="", tool_calls=[call], source="generate"),
                ChatMessageTool(content="3", tool_call_id="c1", function="add"),
            ]
            state.output = ModelOutput.from_content("none/none", f"It is {state.metadata['said']}.")
            state.messages.append(state.output.message)
            return state

        return solve

    samples = [(Sample(input="1 + 2?", target="3", metadata={"said": number}), "") for number in (3, 4, 3)]
    log = theirs(samples, [called(), includes()], tmp_path, agent())
    for one, name in ((called(), "called"), (includes(), "includes")):
        assert again(rk.from_inspect(one), log) == values(log, name)


def again(reward: rk.Reward, log: Any) -> list[float]:
    """Score the rows of a log."""
    rows = rk.from_inspect_log(log.location)
    columns: dict[str, Any] = {name: [row[name] for row in rows] for name in rows[0].keys() - {"prompt", "completion"}}
    prompts, completions = ([row[name] for row in rows] for name in ("prompt", "completion"))
    found: list[float] = rk.score(reward, completions, prompts=prompts, **columns).total.tolist()
    return found


@scorer(metrics=[accuracy()])  # type: ignore[untyped-decorator]
def called() -> Any:
    async def score(state: TaskState, target: Any) -> Score:
        calls = [call for message in state.messages for call in getattr(message, "tool_calls", None) or []]
        results = [message for message in state.messages if message.role == "tool"]
        ok = [call.arguments for call in calls] == [{"x": 1, "y": 2}] and results[0].function == "add"
        return Score(value=len(state.messages) / 8 if ok else 0.0, answer=state.input_text, metadata={"ok": ok})

    return score


def graded(*grades: str) -> Any:
    outputs = [ModelOutput.from_content("mockllm/model", f"Well. GRADE: {grade}") for grade in grades]
    return get_model("mockllm/model", custom_outputs=outputs)


def test_a_grader_is_asked_through_inspect(monkeypatch: pytest.MonkeyPatch) -> None:
    reward = rk.from_inspect(model_graded_qa(model=graded("C", "I", "X"), partial_credit=True))
    table = rk.score(reward, ["4", "5", "6"], prompts=["2+2?"] * 3, target=["4"] * 3)
    np.testing.assert_array_equal(table.total, [1.0, 0.0, NAN])
    assert [str(outcome) for outcome in table.outcomes["model_graded_qa"]] == ["scored", "scored", "failed"]
    with pytest.raises(rk.RunStopped, match=r"No model specified.*INSPECT_EVAL_MODEL"):
        rk.score(rk.from_inspect(model_graded_qa()), ["4"], target=["4"])
    monkeypatch.setenv("INSPECT_EVAL_MODEL", "mockllm/model")
    reward = rk.from_inspect(simpleqa_scorer(), value="not_attempted")
    assert rk.score(reward, ["4"], prompts=["2+2?"], target=["4"]).total.tolist() == [1.0]


def test_a_sandbox_is_refused_even_if_the_scorer_takes_it_for_a_wrong_answer() -> None:
    @scorer(metrics=[accuracy()])  # type: ignore[untyped-decorator]
    def runs() -> Any:
        async def score(state: TaskState, target: Any) -> Score:
            try:
                await sandbox().exec(["true"])
            except Exception:
                return Score(value="I")
            return Score(value="C")

        return score

    with pytest.raises(rk.RunStopped, match=r"needs a sample's sandbox.*rk\.code_tests"):
        rk.score(rk.from_inspect(runs()), ["print(1)"], target=[""])
