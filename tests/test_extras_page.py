"""docs/extras.md lists the extra that each reward asks for if only the base packages are installed.

Each example is run in a Python in which nothing else can be imported. ``python tests/test_extras_page.py`` writes the
page again, and with ``--print`` prints it.
"""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import tempfile
import textwrap
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from inspect import isfunction
from pathlib import Path
from typing import Any

import pytest

import rewardkit as rk
from rewardkit.cli.main import main

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "extras.md"

REQUIRED = (
    "numpy",
    "cloudpickle",
    "pydantic",
    "pydantic_core",
    "annotated_types",
    "typing_extensions",
    "typing_inspection",
)
"""The modules of the packages that rewardkit requires, and of those that they require."""

ALLOWED = {*sys.stdlib_module_names, *REQUIRED, "rewardkit", "rewardkit_adapters", "tests"}

FOLDER = tempfile.gettempdir()
FILE = os.path.join(FOLDER, "extras")


@rk.reward
def half(completion: str) -> float:
    return 0.5


def score(reward: Any, cell: Any = "42") -> None:
    rk.score(reward, ["<answer>42</answer>"], answer=[cell])


REWARDS: Mapping[str, Callable[[], object]] = {
    "tags": lambda: score(rk.tags("think", "answer")),
    "fenced": lambda: score(rk.fenced("python")),
    "contains": lambda: score(rk.contains(all="a")),
    "regex": lambda: score(rk.regex("a")),
    'language("en")': lambda: score(rk.language("en")),
    'language(script="zh")': lambda: score(rk.language(script="zh")),
    "instructions": lambda: rk.instructions(),
    "number": lambda: score(rk.number("answer")),
    "exact": lambda: score(rk.exact("answer")),
    "choice": lambda: score(rk.choice("answer"), "A"),
    "math_equal": lambda: score(rk.math_equal("answer")),
    "arithmetic": lambda: rk.arithmetic("6 * 7"),
    "token_f1": lambda: score(rk.token_f1("answer")),
    "similarity": lambda: score(rk.similarity("answer")),
    "rouge_l": lambda: score(rk.rouge_l("answer")),
    "bleu": lambda: score(rk.bleu("answer")),
    "chrf": lambda: score(rk.chrf("answer")),
    "set_match": lambda: score(rk.set_match("answer")),
    "set_match(separator=...)": lambda: score(rk.set_match("answer", separator=",")),
    "sequence_match": lambda: score(rk.sequence_match("answer")),
    "sequence_match(separator=...)": lambda: score(rk.sequence_match("answer", separator=",")),
    'milestones("sort")': lambda: score(rk.milestones("sort")),
    "milestones(column=...)": lambda: score(rk.milestones(column="answer"), ["sort"]),
    "json_valid": lambda: score(rk.json_valid()),
    "json_schema": lambda: score(rk.json_schema({"type": "object"})),
    "json_match": lambda: score(rk.json_match("answer"), "{}"),
    "extract.json": lambda: rk.extract.json("total")("{}"),
    "code_tests": lambda: score(rk.code_tests("answer"), [{"input": "2", "output": "4"}]),
    "code_runs": lambda: score(rk.code_runs()),
    "length.between": lambda: score(rk.length.between(1, 2, unit="words")),
    "length.overlong": lambda: score(rk.length.overlong(10, 2, unit="words")),
    "length.cosine": lambda: score(rk.length.cosine(half, 10, unit="words")),
    "length.shortest_correct": lambda: score(rk.length.shortest_correct(half, unit="words")),
    "length.kimi": lambda: score(rk.length.kimi(half, unit="words")),
    "length.budget": lambda: score(rk.length.budget(half, 10, unit="words")),
    "repetition_penalty": lambda: score(rk.repetition_penalty(unit="words")),
    "diversity": lambda: score(rk.diversity()),
    "reasoning_steps": lambda: score(rk.reasoning_steps(3)),
    "tool_calls": lambda: score(rk.tool_calls("answer"), "[]"),
    "agents.tool_success": lambda: score(rk.agents.tool_success("search")),
    "agents.tool_errors": lambda: score(rk.agents.tool_errors()),
    "agents.calls_between": lambda: score(rk.agents.calls_between(1, 2)),
    "agents.turns_between": lambda: score(rk.agents.turns_between(1, 2)),
    "agents.finished": lambda: score(rk.agents.finished()),
    "agents.no_claim_without_call": lambda: score(rk.agents.no_claim_without_call({"send": "sent"})),
    "agents.final_state": lambda: rk.agents.final_state(lambda environment: 1.0),
    "agents.environment_reward": lambda: rk.agents.environment_reward(),
    "per_turn": lambda: score(rk.per_turn(half, reduce="mean")),
    "judge": lambda: rk.judge("Is it polite?", model="gpt-4.1-mini"),
    "reward_model": lambda: rk.reward_model("org/model"),
    "remote": lambda: rk.remote("http://localhost:1"),
    "cached": lambda: rk.cached(half, FILE),
    "from_reasoning_gym": lambda: rk.from_reasoning_gym("countdown"),
}
"""Each reward, with a call that asks for all that it needs."""

COMBINATIONS: Mapping[str, Callable[[], object]] = {
    "weighted_sum": lambda: score(rk.weighted_sum({half: 1.0})),
    "mean": lambda: score(rk.mean([half])),
    "product": lambda: score(rk.product([half])),
    "minimum": lambda: score(rk.minimum([half])),
    "maximum": lambda: score(rk.maximum([half])),
    "gate": lambda: score(rk.gate(when=half, then=half)),
    "route": lambda: score(rk.route({"42": half}, by="answer")),
    "fallback": lambda: score(rk.fallback(half, half.named("other"))),
    "lexicographic": lambda: score(rk.lexicographic(half, half.named("other"))),
    "penalty": lambda: score(rk.penalty(half, 0.1)),
    "normalize": lambda: score(rk.normalize(half)),
    "monitor": lambda: score(rk.monitor(half) + half.named("other")),
    "rank_in_group": lambda: score(rk.rank_in_group(half)),
    "curriculum": lambda: score(rk.curriculum([rk.Stage("first", half)])),
    "judge_panel": lambda: score(rk.judge_panel([half, half.named("other")])),
}
"""Combinations of rewards, which need no extra."""

OTHERS: Mapping[str, Callable[[], object]] = {
    "`rk.open_run`": lambda: rk.open_run(FOLDER),
    "`rk.to_trl(..., record=...)`": lambda: rk.to_trl(half, record=FILE),
    "`rewardkit radar`": lambda: command("radar", FOLDER),
    "`rewardkit view`": lambda: command("view", FOLDER),
    "`rewardkit serve`": lambda: command("serve", f"{__file__}:half"),
    "`rewardkit train`": lambda: command("train", FILE),
    "`rewardkit demo`": lambda: command("demo"),
    "`reward.plot_schedules()`": lambda: half.plot_schedules(),
    "`rk.Cache`": lambda: rk.Cache(FILE),
    "`rk.Budget`": lambda: rk.Budget(calls=1),
}

PURPOSES = {
    "trl": "training with TRL in your own script",
    "json": "JSON and lists in completions",
    "regex": "`rk.regex`",
    "text": "distances between strings",
    "bleu": "BLEU and chrF",
    "instructions": "IFEval instructions",
    "language": "identifying languages",
    "inspect": "inspect_ai logs that are compressed with Zstandard",
    "math": "mathematical equality",
    "plot": "figures",
    "store": "recording, reading runs, Parquet files, URLs",
    "view": "the web page for runs",
    "serve": "the reward server",
    "remote": "scoring on a reward server",
    "ray": "`rewardkit score --engine ray`, Ray datasets",
    "testing": "the search for new exploits in the check, and its progress bar",
    "cache": "`rk.cached`",
    "judge": "judges",
    "reasoning-gym": "tasks of reasoning-gym",
    "reward-model": "reward models",
    "train": "`rewardkit train`",
    "demo": "`rewardkit demo`",
}


class OnlyBase:
    """A finder of modules that has only the standard library, rewardkit and `REQUIRED`."""

    def __init__(self, finder: Any) -> None:
        self.finder = finder

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: Any = None) -> Any:
        return self.finder.find_spec(name, path, target) if name.partition(".")[0] in ALLOWED else None


def command(*words: str) -> None:
    printed = io.StringIO()
    with redirect_stderr(printed), redirect_stdout(printed):
        assert main(words) == 2
    raise rk.errors.MissingExtraError(printed.getvalue())


def extra(call: Callable[[], object]) -> str:
    """Return the extra that `call` asks for; empty if it needs none."""
    try:
        call()
    except rk.errors.MissingExtraError as error:
        return str(re.findall(r"\[([\w-]+)\]'", str(error))[0])
    return ""


def by_extra(calls: Mapping[str, Callable[[], object]]) -> dict[str, list[str]]:
    names: dict[str, list[str]] = {}
    for name, call in calls.items():
        names.setdefault(extra(call), []).append(name if "`" in name else f"`rk.{name}`")
    return names


def page() -> str:
    """Return the page. Only in a process in which `OnlyBase` finds the modules."""
    import tomllib

    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    del extras["docs"], extras["dev"]
    rewards, others = by_extra(REWARDS), by_extra(OTHERS)
    assert set(by_extra(COMBINATIONS)) == {""}
    assert "" not in others
    missing = [f"`{name}`" for name in extras if name not in included("all", extras)]
    return "\n".join(
        [
            "# Extras by reward\n",
            fill(
                "Scoring and checking need only numpy, pydantic and cloudpickle. Some rewards and commands "
                "need an *extra*, a group of optional packages. If one is missing, you get a `MissingExtraError` that "
                "names the extra. [Install it](quickstart.md#install) with `pip install '.[json,math]'` from a "
                "checkout. This page is generated."
            ),
            "## Rewards\n",
            "| extra | needed by |\n|---|---|",
            *(f"| `{name}` | {', '.join(rewards[name])} |" for name in extras if name in rewards),
            "\n" + fill(f"These work without an extra: {', '.join(rewards[''])}."),
            fill("Your own functions, schedules, and combinations such as `rk.gate` and `rk.mean` also need none."),
            "## Functions and commands\n",
            "| extra | needed by |\n|---|---|",
            *(f"| `{name}` | {', '.join(others[name])} |" for name in extras if name in others),
            "\nIf your data is a Parquet file or a URL, you also need `store`.\n",
            "## All extras\n",
            "| extra | for | packages |\n|---|---|---|",
            *(f"| `{name}` | {PURPOSES[name]} | {packages(extras[name])} |" for name in extras if name != "all"),
            f"| `all` | all of these, except {' and '.join(missing)} | |",
            "",
        ]
    )


def fill(paragraph: str) -> str:
    return textwrap.fill(paragraph, 120, break_on_hyphens=False, break_long_words=False) + "\n"


def packages(requirements: Sequence[str]) -> str:
    """Return the names of the packages, without versions; extras of rewardkit come first."""
    names = [re.split("[<>=]", requirement)[0] for requirement in requirements]
    return ", ".join(re.sub(r"rewardkit-sdk\[(.*)\]", lambda own: own[1].replace(",", ", "), name) for name in names)


def included(name: str, extras: Mapping[str, Sequence[str]]) -> set[str]:
    """Return `name` and the extras that it includes."""
    own = re.findall(r"rewardkit-sdk\[(.*?)\]", " ".join(extras[name]))
    return {name}.union(*(included(other, extras) for names in own for other in names.split(",")))


def test_the_page_names_the_extra_that_each_reward_asks_for() -> None:
    pytest.importorskip("tomllib")
    run = subprocess.run([sys.executable, __file__, "--print"], capture_output=True, encoding="utf-8", check=True)
    assert PAGE.read_text(encoding="utf-8") == run.stdout, "run: python tests/test_extras_page.py"


def test_every_reward_of_the_reference_is_tried() -> None:
    tried = {name.partition("(")[0] for name in (*REWARDS, *COMBINATIONS)}
    for reference in ("primitives", "agents", "composition", "judges"):
        text = (ROOT / "docs" / "api" / f"{reference}.md").read_text(encoding="utf-8")
        for name in re.findall(r"^::: rk\.(?!schedules)([\w.]+)", text, re.MULTILINE):
            home = getattr(rk, name.partition(".")[0])
            if isfunction(getattr(home, name.partition(".")[2]) if "." in name else home):
                assert name in tried


if __name__ == "__main__":
    sys.meta_path[:] = map(OnlyBase, sys.meta_path)
    warnings.simplefilter("ignore")
    if "--print" in sys.argv:
        print(page(), end="")
    else:
        PAGE.write_text(page(), encoding="utf-8")
