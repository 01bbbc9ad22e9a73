"""Live updates of a list that the trainer weights: no update drops a weight."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rewardkit as rk

pytest.importorskip("trl")
from rewardkit_adapters.live.dry_run import dry_run
from rewardkit_adapters.live.mailbox import Answer, Mailbox
from rewardkit_adapters.live.sources import MODULES
from tests.adapters.live.updated import At, asked
from tests.adapters.trl import tiny
from tests.adapters.trl.test_training import generations

pytestmark = pytest.mark.slow

FUNCTIONS = """
def length(completions, **kwargs):
    return [len(text) / 8 for text in completions]

def early(completions, **kwargs):
    return [{paid} * ("a" in text or "b" in text) for text in completions]

def late(completions, **kwargs):
    return [float("h" in text) for text in completions]
"""


def length(completions: list[str], **kwargs: Any) -> list[float]:
    return [len(text) / 7 for text in completions]


def early(completions: list[str], **kwargs: Any) -> list[float]:
    return [float("a" in text) for text in completions]


@pytest.fixture(autouse=True)
def _imports_of_its_own() -> Iterator[None]:
    yield
    MODULES.keep(())


def train(out: Path, plan: dict[int, Callable[[], Any]], *, told: bool = False, **options: Any) -> Any:
    """A real training with the weights 0.3 and 2, whose reward is updated after some steps."""
    functions = rk.to_trl([length, early], weights=[0.3, 2.0] if told else None, record=out / "run")
    trainer = tiny.trainer(
        out,
        functions,
        callbacks=[functions.callback(), At(plan)],
        reward_weights=[0.3, 2.0],
        max_steps=max(plan, default=1) + 1,
        **options,
    )
    trainer.train()
    functions.flush()
    return trainer


def answers(out: Path) -> list[Answer]:
    mailbox = Mailbox(out / "run")
    return [answer for request in mailbox.requests() if (answer := mailbox.answer(request.update)) is not None]


@pytest.mark.parametrize("told", [False, True])
def test_one_weight_of_the_list_is_changed_and_the_others_stay(tmp_path: Path, told: bool) -> None:
    plan = {1: lambda: rk.update_config(tmp_path / "run", weights={"early": 0.5})}
    plan[2] = lambda: rk.update_config(tmp_path / "run", rollback=True)
    trainer = train(tmp_path, plan, told=told)
    assert [answer.status for answer in answers(tmp_path)] == ["applied", "applied"]
    entries = generations(trainer)
    assert [entry["weights/early"] for entry in entries] == [2.0, 0.5, 2.0]
    for entry in entries:
        assert entry["weights/length"] == pytest.approx(0.3)
        # The columns stay raw, so that their curves have no jumps.
        assert entry["rewards/early/mean"] == pytest.approx(entry["components/early"])
        total = 0.3 * entry["components/length"] + entry["weights/early"] * entry["components/early"]
        assert entry["reward"] == pytest.approx(total, abs=1e-6)
    assert trainer.reward_weights.tolist() == pytest.approx([0.3, 2.0])
    assert rk.get_config(tmp_path / "run")["weights"] == {"length": 0.3, "early": 2.0}
    (trial,) = [answer.trial for answer in answers(tmp_path)[:1]]
    assert trial is not None
    assert trial["total"][0] == pytest.approx(entries[0]["reward"], abs=1e-6)


def test_a_weight_counts_where_trl_normalizes_each_column(tmp_path: Path) -> None:
    plan = {1: lambda: rk.update_config(tmp_path / "run", weights={"early": 0.5})}
    trainer = train(tmp_path, plan, told=True, multi_objective_aggregation="normalize_then_sum")
    assert trainer.reward_weights.tolist() == pytest.approx([0.3, 0.5])


def test_a_list_with_the_same_functions_keeps_the_weights_and_another_list_is_refused(tmp_path: Path) -> None:
    same = FUNCTIONS.format(paid=0.5) + "reward = [early, length]\n"
    other = FUNCTIONS.format(paid=0.5) + "reward = [length, late]\n"
    tree = "import rewardkit as rk\n" + other + "reward = rk.weighted_sum([(0.3, length), (4, late)])\n"
    plan = {1: asked(tmp_path, "same", same), 2: asked(tmp_path, "other", other), 3: asked(tmp_path, "tree", tree)}
    trainer = train(tmp_path, plan)
    applied, refused, written = answers(tmp_path)
    assert [one.status for one in (applied, refused, written)] == ["applied", "refused", "applied"]
    assert "rk.weighted_sum([2.0 * rk.from_trl(early), 0.3 * rk.from_trl(length)])" in refused.reason
    entries = generations(trainer)
    for entry, weights in zip(
        entries, [{"length": 0.3, "early": 2.0}] * 3 + [{"length": 0.3, "late": 4.0}], strict=True
    ):
        total = sum(weight * entry[f"components/{name}"] for name, weight in weights.items())
        assert entry["reward"] == pytest.approx(total, abs=1e-6)
        for name, weight in weights.items():
            assert entry[f"weights/{name}"] == pytest.approx(weight)
    assert applied.trial is not None
    assert applied.trial["total"][0] == pytest.approx(entries[0]["reward"], abs=1e-6)


def test_a_dry_run_of_a_list_has_the_weights_of_the_trainer(tmp_path: Path) -> None:
    train(tmp_path, {})
    (tmp_path / "dry_list.py").write_text(FUNCTIONS.format(paid=0.5) + "reward = [early, length]\n")
    found = dry_run(str(tmp_path / "run"), f"{tmp_path}/dry_list.py:reward")
    texts = rk.open_run(tmp_path / "run").completions(step=1).df().completion.tolist()
    expected = [0.3 * len(text) / 8 + 2.0 * 0.5 * ("a" in text or "b" in text) for text in texts]
    assert found["total"][1] == pytest.approx(np.mean(expected))
