"""to_axolotl: functions by name for a module, refused where Axolotl would count a missing score as 0."""

from __future__ import annotations

import inspect
import pickle
from pathlib import Path
from typing import Any

import pytest

import rewardkit as rk
from rewardkit.online.exports import Target, export_to
from tests.adapters.trl.stand_ins import StandInTrainer

correct = rk.number("answer")


@rk.reward
def short(completion: str) -> float:
    """Fail on an empty text, else score short ones."""
    if not completion:
        raise rk.RewardFailure("the judge is down")
    return 1.0 / (1.0 + len(completion))


def test_functions_have_the_names_of_the_terms() -> None:
    functions = rk.to_axolotl(0.5 * correct + short, prefix="rk_")
    assert list(functions) == ["rk_number", "rk_short"]
    assert all(len(inspect.signature(function).parameters) >= 2 for function in functions.values())
    trainer = StandInTrainer(list(functions.values()))
    found = trainer.rewards_per_function(["42", ""], answer=["42", "42"]).tolist()
    assert found[0] == [0.5, pytest.approx(1 / 3)]
    assert all(value != value for value in found[1])
    assert trainer.reward_func_names == ["number", "short"]
    assert trainer.metrics()["components/number"] == 0.5  # 1 and 0; the row that failed counts, too


def test_prefetching_counts_a_missing_score_as_zero_and_is_refused() -> None:
    trainer = StandInTrainer(list(rk.to_axolotl(short, prefix="rk_").values()))
    trainer.args.async_prefetch = True
    with pytest.raises(rk.RewardDefinitionError, match="async_prefetch"):
        trainer.rewards(["a", "b"])
    trainer.args.async_prefetch, trainer.args.use_data_producer = False, True
    assert trainer.rewards(["a", "b"]).tolist() == [0.5, 0.5]


def test_calls_without_the_trainer_are_refused() -> None:
    (function,) = rk.to_axolotl(short, prefix="rk_").values()
    with pytest.raises(rk.RewardDefinitionError, match=r"rk.to_trl\(reward\)"):
        function(prompts=["q"], completions=["a"])


def test_names_of_the_module_are_not_replaced() -> None:
    with pytest.raises(rk.RewardDefinitionError, match="already defines the name 'short'"):
        rk.to_axolotl(short)
    assert list(rk.to_axolotl(short.named("brief"))) == ["brief"]


def test_a_second_import_replaces_its_own_functions() -> None:
    module: dict[str, Any] = {"rk": rk, "reward": short}
    for _ in range(2):
        exec("globals().update(rk.to_axolotl(reward))", module)
    assert module["short"].__name__ == "short"


def test_names_must_be_identifiers() -> None:
    for name in ("two words", "class", "a.b"):
        with pytest.raises(rk.RewardDefinitionError, match="cannot be a name in a module"):
            rk.to_axolotl(short.named(name))


def test_functions_are_picklable_and_share_one_evaluation() -> None:
    functions = list(rk.to_axolotl(0.5 * correct + short, prefix="rk_").values())
    again = pickle.loads(pickle.dumps(functions))
    assert {function.evaluator for function in (*functions, *again)} == {functions[0].evaluator}


def test_export(tmp_path: Path) -> None:
    (tmp_path / "for_axolotl.py").write_text(
        "import rewardkit as rk\n\nreward = 0.8 * rk.number('answer') + 0.2 * rk.tags('a')"
    )
    found = export_to(
        "axolotl", Target("for_axolotl", "reward", str(tmp_path)), {"axolotl": "rewardkit_adapters.axolotl"}
    )
    assert "reward_funcs: [rewards_axolotl.rk_number, rewards_axolotl.rk_tags]" in found.config.format(
        file="", folder=""
    )
    (name,) = found.files
    module: dict[str, Any] = {"__name__": "rewards_axolotl"}
    exec(found.files[name], module)
    assert callable(module["rk_number"])
