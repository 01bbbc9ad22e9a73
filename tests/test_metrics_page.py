"""docs/metrics.md has every name that functions for TRL log: rewards of all kinds are scored, and the code is read."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import rewardkit as rk
from rewardkit.rewards.judges.canaries import Drift
from rewardkit.rewards.judges.usage import Tally
from rewardkit_adapters.trl.tally import TRAJECTORY
from tests.adapters.trl.stand_ins import StandInTrainer, unjudged
from tests.record.conversations import OPENED

pytest.importorskip("trl")

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs/metrics.md").read_text(encoding="utf-8")
TABLES = PAGE.partition("## Every batch")[2].partition("## Record")[0]
NAMES = [name for line in re.findall(r"^\| (`.*?) \|", TABLES, re.MULTILINE) for name in re.findall("`(.+?)`", line)]


def pattern(name: str) -> re.Pattern[str]:
    """Return what a name of the page stands for: ``components/<name>`` for all components."""
    return re.compile(re.sub(r"\\?<\w+\\?>", "[^/]+", re.escape(name)))


PATTERNS = {name: pattern(name) for name in NAMES}


@rk.reward
def part(completion: str) -> rk.Score:
    return rk.Score(0.5, parts={"length": 1.0})


@rk.reward
def absent(completion: str) -> float | None:
    return None if "down" in completion else 1.0


@rk.reward
def broken(completion: str) -> float:
    return 1.0 / (len(completion) - 1)


def logged() -> set[str]:
    """Return the names that rewards of all kinds log."""
    tags = rk.tags("answer")
    gate = rk.gate(when=tags, then=rk.number("answer"), threshold=rk.schedules.linear(0.2, 0.8))
    curriculum = rk.curriculum(rk.Stage("form", tags, until=0.5), rk.Stage("answer", gate))
    limits = rk.Limits(max_failure_rate=1.0, max_error_rate=1.0)
    several = part + unjudged + absent + broken + rk.number("answer").named("gold")
    names: set[str] = set()
    for functions in (rk.to_trl(curriculum), rk.to_trl(several, outputs="components", limits=limits)):
        trainer = StandInTrainer(functions, reward_weights=functions.reward_weights)
        for text, gold in (("ok", "42"), ("x", "none")):  # the first batch has no bugs
            texts = ["<answer>42</answer>", "down", "<answer>41</answer>", text]
            trainer.rewards([*texts, "42", "43"], answer=["42"] * 4 + [gold] * 2)
            names |= trainer.metrics().keys()
    trainer = StandInTrainer(rk.to_trl(rk.agents.finished()))
    trainer.rewards([OPENED, OPENED])
    return names | trainer.metrics().keys()


@pytest.mark.filterwarnings("ignore")
def test_every_logged_name_is_on_the_page() -> None:
    names = logged()
    assert [name for name in sorted(names) if not any(one.fullmatch(name) for one in PATTERNS.values())] == []
    elsewhere = {"reward_version", "radar/own", "radar/foreign"} | {name for name in NAMES if name.startswith("judge_")}
    assert [name for name in NAMES if name not in elsewhere and not any(map(PATTERNS[name].fullmatch, names))] == []
    assert {f"trajectory/{name}" for name in TRAJECTORY} <= set(NAMES)


def test_every_number_of_a_judge_is_on_the_page() -> None:
    usage = Tally(cache_hits=1, seconds=[1.0], drifts=[Drift(0.0, 0.0, 0.0)]).numbers()
    assert {f"{name}/<judge>" for name in usage} | {"judge_failures_<kind>/<judge>"} <= set(NAMES)
    code = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "rewardkit/rewards/judges").rglob("*.py"))
    kinds = {kind for line in re.findall(r"\.failures\[(.*?)\] \+=", code) for kind in re.findall(r'"(\w+)"', line)}
    assert len(kinds) > 5
    assert [kind for kind in kinds if f"`{kind}`" not in PAGE] == []
    panels = ast.parse((ROOT / "rewardkit/rewards/judges/panels.py").read_text(encoding="utf-8"))
    keys = [key for node in ast.walk(panels) if isinstance(node, ast.Dict) for key in node.keys]
    disagreements = {str(key.value) for key in keys if isinstance(key, ast.Constant)}
    assert {name for name in NAMES if "disagreement" in name} == {
        f"{name}/<judge>" for name in disagreements if name.startswith("judge_")
    }


def test_the_numbers_that_only_a_record_has_are_on_the_page() -> None:
    code = (ROOT / "adapters/rewardkit_adapters/trl/recording.py").read_text(encoding="utf-8")
    names = set(re.findall(r'f?"((?:faults|seconds|diversity|trainer|limit)/[^"]*)"', code))
    assert len(names) >= 5
    assert [name for name in sorted(names) if f"`{re.sub(r'{name}', '<name>', name)}`" not in PAGE] == []
