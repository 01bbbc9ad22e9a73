"""A trial: what it says of a reward on a batch, and why it says nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")
from rewardkit.analyze.advantages import Way
from rewardkit_adapters.live.sources import MODULES, Code, write_sources
from rewardkit_adapters.live.trial import Sample, TrialScores, answer_to, compare_trials, undisturbed
from tests.adapters.live.rewards import BROKEN, OTHERS

NAN = float("nan")
SAMPLE = Sample(["a b", "g h", "", "a"], ["p", "p", "q", "q"], None, {"answer": ["1", "2", "3", "4"]})


@pytest.fixture(autouse=True)
def _imports_of_its_own() -> Iterator[None]:
    yield
    MODULES.keep(())


def tried(folder: Path, name: str, text: str) -> TrialScores | str:
    code = Code(name, "reward", {f"{name}.py": text})
    write_sources(code.files, folder)
    with undisturbed():
        return answer_to(code, folder, "terms", None, SAMPLE)


@pytest.mark.parametrize("name", [name for name in BROKEN if name not in ("dies", "hangs")])
def test_what_is_broken_gives_a_reason(tmp_path: Path, name: str) -> None:
    text, word = BROKEN[name]
    answer = tried(tmp_path, f"u_{name.replace(' ', '_')}", text)
    assert isinstance(answer, str)
    assert word in answer


def test_what_scores_is_said_by_its_means(tmp_path: Path) -> None:
    answer = tried(tmp_path, "u_others", OTHERS)
    assert isinstance(answer, TrialScores)
    assert answer.means == {"late": 0.125, "early": 0.1875, "watched": 0.125}
    np.testing.assert_allclose(answer.totals, [0.25, 0.125, 0.0, 0.125])


GOLDS = "import rewardkit as rk\nreward = rk.number('answer'{}) + rk.length.between(1, 3, unit='characters')\n"


@pytest.mark.parametrize(
    ("golds", "option", "totals"),
    [
        (["1", "1", "N/A", "N/A"], "", [1.0, 1.0, NAN, NAN]),
        (["N/A", "N/A", "N/A", "4"], "", [NAN, NAN, NAN, 1.0]),
        (["N/A", "N/A", "none", "none"], "", None),
        (["N/A", "N/A", "none", "none"], ", on_unparsable_gold='fail'", [NAN, NAN, NAN, NAN]),
    ],
)
def test_stray_golds_that_cannot_be_read_are_no_reason_to_refuse_and_a_wrong_column_is(
    tmp_path: Path, golds: list[str], option: str, totals: list[float] | None
) -> None:
    sample = replace(SAMPLE, completions=["a b", "g h", "c d", "a"], columns={"answer": golds})
    code = Code("u_golds", "reward", {"u_golds.py": GOLDS.format(option)})
    write_sources(code.files, tmp_path)
    with undisturbed():
        answer = answer_to(code, tmp_path, "terms", None, sample)
    if totals is None:
        assert isinstance(answer, str)
        assert "reward 'number' cannot read any gold answer in the last batch: column 'answer': 'N/A' cannot" in answer
    else:
        assert isinstance(answer, TrialScores)
        np.testing.assert_array_equal(answer.totals, totals)


def test_data_beside_the_code_is_said_to_stay_there(tmp_path: Path) -> None:
    for text in ("{}", "@rk.reward\ndef late(completion: str) -> float:\n    {}; return 0.5\n"):
        text = text.format("from pathlib import Path; Path(__file__).with_name('words.txt').read_text()")
        answer = tried(tmp_path, "u_data", OTHERS.replace("reward =", f"{text}\nreward ="))
        assert isinstance(answer, str)
        assert "Only code is copied" in answer


def test_code_finds_the_working_directory_that_it_will_have_in_the_training(tmp_path: Path) -> None:
    """Or it would score in the trial, and fail in every batch from then on."""
    text = "import os\nos.chdir('/')\n" + OTHERS.replace(
        "@rk.reward\ndef late(completion: str) -> float:",
        "@rk.reward\ndef late(completion: str) -> float:\n    assert os.getcwd() != '/'",
    )
    place = os.getcwd()
    answer = tried(tmp_path, "u_moving", text)
    assert isinstance(answer, TrialScores), answer
    assert os.getcwd() == place


def comparison(before: list[float], after: list[float], way: Way | None = "group", **means: Any) -> dict[str, Any]:
    sample = Sample([], [], None, {}, groups=np.array([0, 0, 2, 2]), way=way, processes=2)
    return compare_trials(TrialScores((), means, np.array(before)), TrialScores((), means, np.array(after)), sample)


def test_a_row_that_neither_can_score_has_not_changed_its_sign() -> None:
    found = comparison([NAN, NAN, 0.0, 1.0], [NAN, NAN, 1.0, 0.0])
    assert found["advantages"]["changed_sign"] == 2
    assert found["advantages"]["largest_change"] == pytest.approx(2**0.5, abs=1e-3)
    assert found["total"] == [0.5, 0.5]
    assert (found["rows"], found["processes"]) == (4, 2)


def test_a_row_that_only_one_can_score_has_changed_it() -> None:
    assert comparison([NAN, NAN, 0.0, 1.0], [0.0, 1.0, 0.0, 1.0])["advantages"]["changed_sign"] == 2


def test_beside_other_reward_functions_nothing_is_claimed_of_advantages() -> None:
    assert comparison([0.0, 1.0, 0.0, 1.0], [1.0, 0.0, 1.0, 0.0], way=None)["advantages"] is None


def test_what_json_cannot_hold_is_left_out() -> None:
    assert comparison([0.0] * 4, [0.0] * 4, huge=float("inf"))["components"] == {"huge": [None, None]}
