"""The recipes that train: their rewards by hand, and each in a short form through its own main."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

import pytest

import rewardkit as rk

COOKBOOK = Path(__file__).parents[2] / "cookbook"
SHORT = ["--steps", "2", "--warm-up", "2"]
GOLD = '{"name":"Mia","qty":31,"item":"toy","color":"red"}'
QUOTED = GOLD.replace("31", '"31"')
CHATTER = f"Sure! {GOLD}"
UNCLOSED = GOLD[:-1]

pytestmark = pytest.mark.filterwarnings("ignore:.*is not rewarded itself:rewardkit.errors.RewardKitWarning")


@pytest.fixture(autouse=True)
def _beside_the_recipes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(COOKBOOK))
    monkeypatch.setattr("training.HELD_OUT_PROMPTS", 8)


def recipe(name: str) -> dict[str, Any]:
    return runpy.run_path(str(COOKBOOK / f"{name}.py"))


def totals(reward: rk.Reward, completions: list[str], at: float | None = None, **columns: Any) -> list[float]:
    progress = None if at is None else rk.Progress(step=round(100 * at), max_steps=100)
    gold = columns or {"order": [GOLD] * len(completions)}
    table = rk.score(reward, completions, progress=progress, **gold)
    return [round(float(total), 6) for total in table.total]


def test_the_curriculum_by_time_pays_the_form_first_and_then_the_fields() -> None:
    reward = recipe("curriculum_by_time")["reward"]
    attempts = [GOLD, QUOTED, CHATTER, "{}", ""]
    assert totals(reward, attempts, at=0.0) == [1.0, 1.0, 0.25, 1.0, 0.0]
    assert totals(reward, attempts, at=0.4) == [1.0, 0.9, 0.125, 0.6, 0.0]
    assert totals(reward, attempts, at=0.5) == totals(reward, attempts) == [1.0, 0.8, 0.0, 0.2, 0.0]


def test_the_curriculum_by_performance_starts_with_the_form_and_is_judged_by_its_end() -> None:
    reward = recipe("curriculum_by_performance")["reward"]
    assert totals(reward, [GOLD, QUOTED, CHATTER, "{}"], at=0.9) == [1.0, 1.0, 0.25, 1.0]
    assert totals(reward, [GOLD, QUOTED, CHATTER, "{}"]) == [1.0, 0.8, 0.0, 0.2]


def test_the_gate_pays_the_fields_of_the_right_shape_alone() -> None:
    names = recipe("gated_reward")
    other = GOLD.replace("Mia", "Tom").replace("red", "blue")
    attempts = [GOLD, other, QUOTED, UNCLOSED, CHATTER, ""]
    assert totals(names["unpaid"], attempts) == [0.6, 0.3, 0.0, 0.0, 0.0, 0.0]
    assert totals(names["paid"], attempts) == [1.0, 0.7, 0.35, 0.133333, 0.133333, 0.0]


def test_the_hopeless_demonstrations_hardly_ever_open_the_gate() -> None:
    names = recipe("gated_reward")
    shown = names["hopeless"](1_000, 3)
    shape = rk.score(names["shape"], [completion for _, completion in shown]).total
    assert len(shown) == 1_000
    assert (shape == 1.0).mean() <= 0.002
    assert shown == names["hopeless"](1_000, 3) != names["hopeless"](1_000, 4)


def test_each_row_is_scored_by_its_own_task() -> None:
    reward = recipe("multi_task_routing")["reward"]
    columns: dict[str, Any] = {"task": ["order", "order", *["number"] * 4]}
    columns |= {"order": [GOLD, GOLD, *[None] * 4], "larger": [None, None, *[64] * 4]}
    attempts = [GOLD, "65", "64", "31", "Sure, it is 64", UNCLOSED]
    assert totals(reward, attempts, **columns) == [1.0, 0.0, 1.0, 0.3, 0.0, 0.0]


def test_the_rows_of_both_tasks_take_turns_and_none_is_held_out_and_trained_on() -> None:
    rows = recipe("multi_task_routing")["rows"]
    training, held_out = rows(400, 0, "training"), rows(400, 0, "held-out")
    assert [row["task"] for row in training[:4]] == ["order", "number", "order", "number"]
    assert all((row["order"] is None) is (row["task"] == "number") is (row["larger"] is not None) for row in training)
    assert not {row["prompt"] for row in training} & {row["prompt"] for row in held_out}
    assert "which is larger" in training[1]["prompt"]


def test_chatter_before_the_brace_costs_a_little() -> None:
    names = recipe("gdpo")
    assert totals(names["direct"], [GOLD, CHATTER, "x" * 2000 + "{", "no"]) == [1.0, 0.994, 0.0, 0.0]
    assert totals(names["reward"], [GOLD, QUOTED, CHATTER]) == [3.0, 2.75, 0.994]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("curriculum_by_time", "stage/curriculum"),
        ("curriculum_by_performance", "checkpoint 2: reached False, means ["),
        ("gated_reward", "gates/shape_gate"),
        ("multi_task_routing", "components/right"),
        ("gdpo", "advantage_share/direct"),
    ],
)
def test_it_runs(name: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recipe(name)["main"]([*SHORT, "--out", str(tmp_path)])
    printed = capsys.readouterr().out
    assert said in printed
    assert re.search(r"held out +before +after", printed)


@pytest.mark.slow
def test_rejection_sampling_trains_on_what_it_selects(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main = recipe("rejection_sampling")["main"]
    main.__globals__["PROMPTS"] = 64
    main(["--warm-up", "150", "--steps", "20", "--out", str(tmp_path)])
    printed = capsys.readouterr().out
    assert "pairs (best-worst, gap 0.2) from" in printed
    before, sft, dpo = map(float, re.findall(r"^ +(?:before|SFT|DPO) +(\d\.\d+)$", printed, re.MULTILINE))
    assert before + 0.2 < min(sft, dpo)


@pytest.mark.slow
@pytest.mark.parametrize("chats", [True, False])
def test_other_models_get_an_instruction(chats: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A model in a folder, as one from a hub would be; the prompts become chats where it knows them."""
    from rewardkit_adapters.runner.tiny.model import SIZES, build_model, train_tokenizer

    template = "{% for message in messages %}{{ message['content'] }}{% endfor %}"
    tokenizer = train_tokenizer(["Turn the order into JSON", GOLD])
    tokenizer.chat_template = template if chats else None
    model = build_model(tokenizer, SIZES["small"])
    model.save_pretrained(tmp_path / "model")
    tokenizer.save_pretrained(tmp_path / "model")
    out = ["--out", str(tmp_path / "out"), "--steps", "1"]
    recipe("curriculum_by_time")["main"](["--model", str(tmp_path / "model"), *out])
    assert "components/fields" in capsys.readouterr().out
