"""slime's built-in scorers (slime/rollout/rm_hub), as its ``async_rm`` calls them, and those of its examples.

From a checkout: ``--checkouts FOLDER`` has slime/. The scorer of IFBench is there if the folder has a clone of
allenai/IFBench (at c6767a19bd82), too. Only instructions that need no data of NLTK or spaCy are in its rows.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from subject import Subject, at, bare_package, checkout, each, stand_in
from texts import (
    CHOICES,
    EXACT,
    FACTS,
    MATHEMATICS,
    MISNAMED,
    MISTAKEN,
    NAMED,
    RIGHT,
    SUMS,
    WRONG,
    boxed,
    said,
    thought,
)

NOT_HERE = {
    "a service scores": "remote_rm, on_policy_distillation",
    "the reward is random": "random",
    "always 0, since the box is taken off before the scorer looks for one": "boxed_math boxed_deepscaler boxed_dapo",
    "a container or a simulated user": "coding_agent_rl tau-bench",
    "agents of a language model": "multi_agent",
    "a tool of the policy, not the reward": "geo3k_vlm_multi_turn",
}
"""What is left out, by reason."""


@dataclass
class Sample:
    """What a scorer reads of slime.utils.types.Sample, whose module needs torch."""

    prompt: str = ""
    response: str = ""
    label: Any = None
    metadata: dict[str, Any] = field(default_factory=dict)
    custom_rm_path: str | None = None
    status: Any = field(default_factory=lambda: SimpleNamespace(name="COMPLETED"))
    tokens: tuple[int, ...] = ()
    response_length: int = 0


def subjects() -> Iterator[Subject]:
    root = checkout("slime")
    hub = _loaded(root)

    def by_type(name: str, rm_type: str, **metadata: Any) -> Callable[..., list[float]]:
        def score(text: str, gold: Any) -> float:
            sample = Sample(response=text, label=gold, metadata={"rm_type": rm_type, **metadata})
            found = asyncio.run(hub.async_rm(SimpleNamespace(custom_rm_path=None, rm_type=None), sample))
            return float(found["score"] if isinstance(found, dict) else found)

        return each(name, score)

    mathematics = MATHEMATICS, thought(boxed(EXACT)), thought(boxed(MISTAKEN))
    yield Subject("deepscaler", by_type("deepscaler", "deepscaler"), *mathematics)
    yield Subject("math", by_type("math", "math"), MATHEMATICS, boxed(EXACT), boxed(MISTAKEN))
    yield Subject("dapo", by_type("dapo", "dapo"), SUMS, said(RIGHT), said(WRONG))
    yield Subject("f1", by_type("f1", "f1"), FACTS, list(NAMED), list(MISNAMED))
    yield Subject("boxed_f1", by_type("boxed_f1", "boxed_f1"), FACTS, boxed(NAMED), boxed(MISNAMED))
    letters, other = ("B", "D", "A"), ("C", "A", "D")
    yield Subject("gpqa (letters)", by_type("gpqa", "gpqa"), CHOICES, said(letters), said(other))
    yield Subject("boxed_gpqa", by_type("boxed_gpqa", "boxed_gpqa"), CHOICES, boxed(letters), boxed(other))
    yield from _gpqa_texts(hub)
    yield from _ifbench(hub)
    yield from _search(root / "examples" / "search-r1")
    for example, file in (("retool", "generate_with_retool"), ("strands_sglang", "generate_with_strands")):
        reward_func = _example(root, example, file)
        scorer = each(example, _of_sample(reward_func))
        yield Subject(f"examples/{example}", scorer, SUMS, boxed(RIGHT), boxed(WRONG))


def _gpqa_texts(hub: Any) -> Iterator[Subject]:
    """The same scorer with the right option as a text, and the options in the metadata."""
    options = (["21", "23", "25", "27"], ["trout", "wren", "viper", "whale"], ["8", "9", "11", "13"])
    names = ("23", "whale", "8")

    def gpqa(completions: list[str], answer: list[str], choices: list[list[str]], **kwargs: Any) -> list[float]:
        rows = zip(completions, answer, choices, strict=True)
        return [float(hub.compute_gpqa_reward(text, gold, {"choices": list(of)})) for text, gold, of in rows]

    rows = [
        {"prompt": row["prompt"], "answer": name, "choices": of}
        for row, name, of in zip(CHOICES, names, options, strict=True)
    ]
    yield Subject("gpqa (texts)", gpqa, rows, said(("B", "D", "A")), said(("C", "A", "D")))


def _ifbench(hub: Any) -> Iterator[Subject]:
    if not checkout("IFBench").is_dir():
        return
    stand_in("spacy")
    stand_in("spacy.cli", download=lambda name: None)
    found = import_module("slime.rollout.rm_hub.ifbench").compute_ifbench_reward
    lists: tuple[tuple[list[str], list[Any], str, str], ...] = (
        (["format:no_whitespace"], [{}], "Nothing_is_between_these_words.", "There are spaces here."),
        (["count:numbers"], [{"N": 3}], "He has 3 cats, 12 fish and 1 dog.", "He has 3 cats."),
        (["format:newline", "count:numbers"], [{}, {"N": 2}], "2\nold\nboats\n7\nnets", "2 old boats and nets"),
    )

    def ifbench(completions: list[str], instructions: list[dict[str, Any]], **kwargs: Any) -> list[float]:
        return [float(found(text, None, dict(row))) for text, row in zip(completions, instructions, strict=True)]

    rows = [
        {
            "prompt": f"Write text {place} as told.",
            "instructions": {
                "instruction_id_list": names,
                "kwargs": arguments,
                "prompt_text": f"Write text {place} as told.",
                "record_id": place,
            },
        }
        for place, (names, arguments, _, _) in enumerate(lists)
    ]
    yield Subject("ifbench", ifbench, rows, [good for *_, good, _ in lists], [bad for *_, bad in lists])


def _search(folder: Path) -> Iterator[Subject]:
    """examples/search-r1: with the scores that its reward_func passes, and with those of the paper's format reward."""
    found = at(folder / "qa_em_format.py").compute_score_em
    question = (
        "<|im_start|>user\nAnswer the given question. Reason inside <think> and </think>, search with <search> query "
        "</search>, and put the answer inside <answer> and </answer>, for example, <answer> Beijing </answer>. "
        "Question: {}<|im_end|>\n<|im_start|>assistant\n"
    )
    rows = [{**row, "prompt": question.format(row["prompt"])} for row in FACTS]

    def episode(name: str, known: str) -> str:
        return (
            f"<think>I should look it up.</think>\n<search>{name}</search>\n"
            f"<information>Doc 1: {known} is well known.</information>\n"
            f"<think>Now I know.</think>\n<answer>{name}</answer>"
        )

    right = [episode(name, name) for name in NAMED]
    wrong = [episode(name, known) for name, known in zip(MISNAMED, NAMED, strict=True)]
    paper = {"structure_format_score": 0.2, "final_format_score": 0.1, "retrieval_score": 0.1}
    for mode, scores in (("", {"format_score": 0.2}), (" (scores of the paper)", paper)):

        def search(
            completions: list[str], prompts: list[str], answer: list[str], scores: Any = scores, **kwargs: Any
        ) -> list[float]:
            rows = zip(completions, prompts, answer, strict=True)
            return [float(found(prompt + text, {"target": [gold]}, **scores)) for text, prompt, gold in rows]

        yield Subject(f"examples/search-r1 compute_score_em{mode}", search, rows, right, wrong)


def _of_sample(reward_func: Any) -> Callable[[str, Any], float]:
    def score(text: str, gold: Any) -> float:
        found = asyncio.run(reward_func(None, Sample(response=text, label=gold)))
        return float(found["score"] if isinstance(found, dict) else found)

    return score


def _loaded(root: Path) -> Any:
    """Load the hub; what calls services has stand-ins."""
    bare_package("slime", root / "slime")
    stand_in("aiohttp", ClientSession=object)
    stand_in("slime.utils.misc", load_function=None)
    stand_in("slime.utils.types", Sample=Sample)
    return import_module("slime.rollout.rm_hub")


def _example(root: Path, example: str, file: str) -> Any:
    """Load an example's file for its reward_func; what generates with an engine has stand-ins."""
    stand_in("jinja2", Template=str)
    stand_in("slime.rollout.sglang_rollout", GenerateState=None)
    stand_in("slime.utils.http_utils", post=None)
    stand_in("tool_sandbox", SEMAPHORE=None, TOOL_CONFIGS={}, tool_registry=None)
    stand_in("strands", Agent=None, tool=lambda function: function)
    stand_in("strands_sglang", SGLangModel=None, ToolLimiter=None, get_client_from_slime_args=None)
    stand_in("strands_sglang.tool_parsers", HermesToolParser=None)
    bare_package(f"slime_{example}", root / "examples" / example)
    return import_module(f"slime_{example}.{file}").reward_func
