"""Functions of public lists go through rewardkit unchanged, and every number is the same to the last bit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import rewardkit as rk
from rewardkit.batch.column import Floats
from tests.public_rewards.lists import EVERY, LISTS, Listed, batch_of

_PIECES = st.sampled_from(
    [
        "<reasoning>\n", "\n</reasoning>\n", "<answer>\n", "\n</answer>", "</answer>\n", "<answer>", "</answer>",
        "<think>\n", "\n</think>\n", "</think>\n", "<SOLUTION>", "</SOLUTION>", "<start_working_out>", "72",
        "<end_working_out>", "55 + 36 - 7 - 19", "3 * 5 - 2", "First, ", "Step 1:", "\n- ", "a word ", "\r\n",
        "2,400", "42", "é", "",
    ]
)  # fmt: skip
_TEXTS = st.one_of(st.lists(_PIECES, max_size=12).map("".join), st.text(st.characters(exclude_categories=["Cs"])))


def numbers(values: Any) -> Floats:
    """Return float64 with NaN for None."""
    return np.array(values, dtype=np.float64)


def arguments(batch: dict[str, Any]) -> dict[str, Any]:
    """Return what `rk.score` takes beside the completions."""
    return {name: value for name, value in batch.items() if name != "completions"}


def assert_same_bits(found: Floats, expected: Floats) -> None:
    """NaN equals NaN, and 0.0 equals -0.0, whose sign no sum keeps."""
    assert np.array_equal(found, expected, equal_nan=True)


@pytest.mark.parametrize("listed", EVERY, ids=lambda one: one.name)
def test_each_function(listed: Listed) -> None:
    """The function itself, `rk.score` of it, `rk.from_trl` of it, and what `rk.to_trl` makes of it."""
    function = listed.function
    (through,) = rk.to_trl([function])
    for texts in (listed.good, listed.bad, ["<answer>" for _ in listed.examples]):
        batch = batch_of(listed.examples, texts)
        completions, others = batch["completions"], arguments(batch)
        expected = numbers(function(**batch))
        assert_same_bits(numbers(through(**batch)), expected)
        assert_same_bits(numbers(rk.score(function, completions, **others).total), expected)
        assert_same_bits(numbers(rk.score(rk.from_trl(function), completions, **others).total), expected)


@pytest.mark.parametrize("name", ["gsm8k_gist", "countdown", "unsloth"])
def test_any_completions(name: str) -> None:
    one = LISTS[name]
    functions = rk.to_trl(list(one.FUNCTIONS))

    @settings(deadline=None)
    @given(st.data())
    def holds(data: st.DataObject) -> None:
        rows = data.draw(st.lists(st.sampled_from(one.EXAMPLES), min_size=1, max_size=4))
        batch = batch_of(rows, data.draw(st.lists(_TEXTS, min_size=len(rows), max_size=len(rows))))
        for function, through in zip(one.FUNCTIONS, functions, strict=True):
            assert_same_bits(numbers(through(**batch)), numbers(function(**batch)))

    holds()


@pytest.mark.parametrize("name", LISTS)
def test_a_whole_list(name: str) -> None:
    """`rk.to_trl` of a list gives one column per function, with its name; `rk.score` of a list, their sum."""
    one = LISTS[name]
    batch = batch_of(one.EXAMPLES * 2, [*one.GOOD, *one.BAD])
    functions = rk.to_trl(list(one.FUNCTIONS))
    assert [function.__name__ for function in functions] == [function.__name__ for function in one.FUNCTIONS]
    columns = []
    for function, through in zip(one.FUNCTIONS, functions, strict=True):
        columns.append(numbers(through(**batch)))
        assert_same_bits(columns[-1], numbers(function(**batch)))
    total = numbers(rk.score(list(one.FUNCTIONS), batch["completions"], **arguments(batch)).total)
    assert np.allclose(total, np.sum(columns, axis=0))


@pytest.mark.slow
def test_a_training_with_the_list_as_it_is_and_through_rewardkit(tmp_path: Path) -> None:
    """Rewards, loss and gradients of three steps are the same."""
    pytest.importorskip("trl")
    from datasets import Dataset

    from tests.adapters.trl import tiny
    from tests.public_rewards import gsm8k_gist

    rows = [{"prompt": prompt, "answer": answer} for prompt, answer in zip(tiny.PROMPTS, "abcdefgh", strict=True)]

    def logged(folder: str, functions: list[Any]) -> list[dict[str, float]]:
        trainer = tiny.trainer(tmp_path / folder, functions, given={"train_dataset": Dataset.from_list(rows)})
        trainer.train()
        kept = ("loss", "reward", "reward_std", "grad_norm", "rewards/")
        return [
            {key: value for key, value in line.items() if key.startswith(kept)}
            for line in trainer.state.log_history
            if "loss" in line
        ]

    def chat(function: Any) -> Any:
        """Pass messages in the format of the list: the tiny model has no chat template, and writes only letters."""

        def wrapped(prompts: Any, completions: Any, **kwargs: Any) -> Any:
            forms = [gsm8k_gist.FORM.format(reasoning=text, answer=text[-1:]) for text in completions]
            messages = [[{"role": "assistant", "content": form}] for form in forms]
            asked = [[{"role": "user", "content": prompt}] for prompt in prompts]
            return function(prompts=asked, completions=messages, **kwargs)

        wrapped.__name__ = function.__name__
        return wrapped

    functions = [chat(function) for function in gsm8k_gist.FUNCTIONS]
    plain, ours = logged("plain", functions), logged("ours", list(rk.to_trl(functions)))
    assert len(plain) == 3
    assert any(line["grad_norm"] > 0 for line in plain)
    for before, after in zip(plain, ours, strict=True):
        assert before == {key: after[key] for key in before}
