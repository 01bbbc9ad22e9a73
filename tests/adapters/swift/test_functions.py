"""to_swift: one ORM for each term, one evaluation for each batch, no learning signal for rows without a score."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import rewardkit as rk
from rewardkit.online.exports import Target, export_to
from rewardkit.tree.evaluation.scorer import Scorer
from tests.adapters.swift.conftest import Orm, Trainer

TEXTS = ["1", "?", "0", "0"]


@rk.reward
def judged(completion: str) -> float:
    """Fail on a question mark, else read the number."""
    if completion == "?":
        raise rk.RewardFailure("the judge is down")
    return float(completion)


@rk.reward
def sure(completion: str) -> float | None:
    """Abstain on zeros."""
    return None if completion == "0" else 1.0


@rk.reward
def length(completion: str) -> float:
    return len(completion) / 100


def test_one_orm_for_each_term(orms: dict[str, Any]) -> None:
    assert rk.to_swift(0.5 * judged + length + rk.monitor(sure)) == ["judged", "length"]
    assert [orms[name].__name__ for name in ("judged", "length")] == ["judged", "length"]
    assert Trainer(["judged", "length"]).score(["1", "0", "0", "0"]) == [[0.5, 0.0, 0.0, 0.0], [0.01] * 4]


def test_all_terms_share_one_evaluation() -> None:
    calls = []

    def counted(completion: str) -> float:
        calls.append(completion)
        return 1.0

    trainer = Trainer(rk.to_swift(rk.reward(counted).named("first") + rk.reward(counted).named("second") + length))
    for _ in range(2):
        trainer.score(["a", "b", "c", "d"])
    assert len(calls) in (8, 16)  # once or twice for each text, but not once for each term and reward function


def test_a_failed_row_gets_the_mean_of_its_group() -> None:
    trainer = Trainer(rk.to_swift(judged))
    assert trainer.score(TEXTS) == [[1.0, pytest.approx(1 / 3), 0.0, 0.0]]
    assert trainer._metrics["train"]["unscorable"] == [0.25]


def test_each_term_by_its_own_mean_keeps_the_sum() -> None:
    first, second = Trainer(rk.to_swift(judged + sure)).score(TEXTS)
    assert second == [1.0, pytest.approx(1 / 3), None, None]
    assert first[1] + second[1] == pytest.approx((2.0 + 0.0 + 0.0) / 3)  # type: ignore[operator]


def test_with_gdpo_a_term_is_normalized_over_the_rows_that_have_it() -> None:
    first, second = Trainer(rk.to_swift(judged + sure), scale_rewards="gdpo").score(TEXTS)
    assert first[1] == pytest.approx(1 / 3)
    assert second == [1.0, 1.0, None, None]


def test_a_term_that_no_other_row_has_stays_empty() -> None:
    _, second = Trainer(rk.to_swift(judged + sure)).score(["0", "?", "0", "0"])
    assert second == [None, None, None, None]


def test_a_group_without_scores_gets_equal_numbers() -> None:
    trainer = Trainer(rk.to_swift(judged), num_generations=2)
    assert trainer.score(["?", "?", "1", "0"]) == [[0.5, 0.5, 1.0, 0.0]]
    assert trainer.score(["?", "?"]) == [[0.0, 0.0]]


def test_a_part_of_a_group_stops_the_training_but_not_the_evaluation() -> None:
    trainer = Trainer(rk.to_swift(judged), num_generations=8)
    assert trainer.score(["1", "0"]) == [[1.0, 0.0]]
    with pytest.raises(rk.RewardFailure, match=r"1 of 4 completions have no score \(judged: the judge is down\)"):
        trainer.score(TEXTS)
    trainer.model.training = False
    assert trainer.score(TEXTS) == [[1.0, pytest.approx(1 / 3), 0.0, 0.0]]


def test_rows_of_one_completion_are_no_group() -> None:
    trainer = Trainer(rk.to_swift(judged))
    with pytest.raises(rk.RewardFailure, match="multiple of num_generations"):
        trainer.score(TEXTS, request_id=["1", "1", "2", "2"])
    with pytest.raises(rk.RewardFailure, match="multiple of num_generations"):
        trainer.score(TEXTS, prompt_id=["a", "a", "a", "b"])


def test_an_evaluation_has_its_own_number_of_generations() -> None:
    ranked = rk.rank_in_group(length).named("ranked")
    trainer = Trainer(rk.to_swift(ranked), num_generations_eval=2)
    trainer.model.training = False
    assert trainer.score(["a", "aa", "aaa", "aaaa"]) == [[0.0, 1.0, 0.0, 1.0]]
    trainer.model.training = True
    assert trainer.score(["a", "aa", "aaa", "aaaa"])[0] != [0.0, 1.0, 0.0, 1.0]
    with pytest.raises(rk.RewardFailure, match="only a part of them"):
        trainer.score(["a", "aa"])


def test_schedules_follow_the_step() -> None:
    trainer = Trainer(rk.to_swift(rk.schedules.linear(0.0, 1.0) * judged))
    trainer.state.global_step = 5
    assert trainer.score(["1", "0", "0", "0"]) == [[0.5, 0.0, 0.0, 0.0]]
    trainer.state = None
    with pytest.raises(rk.RewardDefinitionError, match="no trainer_state"):
        trainer.score(["1", "0", "0", "0"])


def test_megatron_tells_training_from_evaluation_in_its_own_way() -> None:
    trainer = Trainer(rk.to_swift(judged), num_generations=8)
    trainer.unwrapped_models = [SimpleNamespace(training=False)]  # type: ignore[attr-defined]
    trainer.score(TEXTS)
    assert trainer._metrics["eval"]["unscorable"] == [0.25]


def test_components_are_in_the_log_of_the_trainer() -> None:
    trainer = Trainer(rk.to_swift(0.5 * judged + rk.monitor(length)))
    trainer.score(["1", "?", "0", "1"])
    trainer.score(["1", "1", "1", "1"])
    kept = trainer._metrics["train"]
    assert kept == {
        "components/judged": [pytest.approx(2 / 3), 1.0],
        "components/length": [0.01, 0.01],
        "unscorable": [0.25, 0.0],
        "unparsable_gold": [0.0, 0.0],
    }


def test_the_reward_sees_columns_prompts_turns_and_tokens() -> None:
    seen: dict[str, Any] = {}

    def saw(completion: str, prompt: str, answer: str, messages: Any, completion_ids: Any, rollout_infos: Any) -> float:
        seen.update(locals())
        return 1.0

    turns = [
        {"role": "user", "content": "6*7?"},
        {"role": "assistant", "content": "let me see"},
        {"role": "tool", "content": "42"},
        {"role": "assistant", "content": "42"},
    ]
    Trainer(rk.to_swift(rk.reward(saw)), num_generations=1).score(
        ["42"], messages=[turns], response_token_ids=[[[1, 2], [3]]], answer=["42"], rollout_infos=[{"turns": 2}]
    )
    assert seen["completion"] == "42"
    assert seen["prompt"] == "6*7?"
    assert seen["answer"] == "42"
    assert seen["messages"] == turns[1:]
    assert seen["completion_ids"] == [1, 2, 3]
    assert seen["rollout_infos"] == {"turns": 2}


def test_special_tokens_of_the_tokenizer_are_removed() -> None:
    tokenizer = SimpleNamespace(all_special_tokens=["<|im_start|>"])
    kept = {"a<|im_start|>": 0.13, "aa": 0.02}
    for tokens, expected in ((None, [0.01, 0.02]), ((), list(kept.values())), (["aa"], [0.13, 0.0])):
        trainer = Trainer(rk.to_swift(length, special_tokens=tokens), num_generations=2, tokenizer=tokenizer)
        assert trainer.score(list(kept)) == [expected]


def test_all_terms_must_be_there_with_their_own_weights() -> None:
    names = rk.to_swift(0.5 * judged + length)
    with pytest.raises(rk.RewardDefinitionError, match="--reward_funcs judged length"):
        Trainer(names[:1]).score(TEXTS)
    with pytest.raises(rk.RewardDefinitionError, match=r"weights \[0.5, 0.5\]"):
        Trainer(names, reward_weights=[0.5, 0.5]).score(TEXTS)
    Trainer(names, reward_weights=[1.0, 1.0]).score(TEXTS)


def test_other_reward_functions_are_warned_of() -> None:
    class Other(Orm):
        def __call__(self, completions: list[str], **_: Any) -> list[float]:
            return [1.0] * len(completions)

    trainer = Trainer([*rk.to_swift(judged), Other()])
    with pytest.warns(rk.errors.RewardKitWarning, match="reward functions that are not from rewardkit"):
        assert trainer.score(TEXTS)[1] == [1.0] * 4


def test_names_of_ms_swift_are_refused_and_ours_are_replaced(orms: dict[str, Any]) -> None:
    with pytest.raises(rk.RewardDefinitionError, match="already has a reward function named 'accuracy'"):
        rk.to_swift(judged.named("accuracy") + length)
    assert "length" not in orms
    rk.to_swift(judged)
    rk.to_swift(2.0 * judged)
    assert Trainer(["judged"]).score(["1", "0", "0", "0"]) == [[2.0, 0.0, 0.0, 0.0]]


def test_without_ms_swift_there_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "swift.rewards", None)
    with pytest.warns(rk.errors.RewardKitWarning, match="pip install ms-swift"):
        assert rk.to_swift(judged) == ["judged"]


def test_a_bug_raises_in_the_first_batch_and_later_scores_the_lowest_bound() -> None:
    @rk.reward
    def picky(completion: str, answer: str) -> float:
        return float(completion == answer) / len(completion)

    with pytest.raises(rk.errors.BindingError, match="answer"):
        Trainer(rk.to_swift(picky)).score(["1", "0", "0", "0"])
    with pytest.raises(rk.errors.RewardBug, match="ZeroDivisionError"):
        Trainer(rk.to_swift(picky)).score(["1", "", "0", "0"], answer=["1"] * 4)
    with pytest.raises(rk.errors.RewardBug, match="ZeroDivisionError"):
        rk.to_swift(picky, examples=[{"answer": "1"}])
    trainer = Trainer(rk.to_swift(picky))
    trainer.score(["1", "1", "0", "0"], answer=["1"] * 4)
    assert trainer.score(["1", "", "0", "0"], answer=["1"] * 4) == [[1.0, 0.0, 0.0, 0.0]]


def test_too_many_failures_stop_the_run() -> None:
    trainer = Trainer(rk.to_swift(judged), num_generations=4)
    for _ in range(19):
        trainer.score(TEXTS * 16)
    with pytest.raises(rk.RewardFailure, match="trains on noise"):
        trainer.score(TEXTS * 16)
    with pytest.raises(rk.RewardFailure, match="trains on noise"):
        trainer.score(["1"] * 4)


def test_a_number_that_float32_cannot_hold_is_refused() -> None:
    @rk.reward(bounds=(0.0, 1e300))
    def huge(completion: str) -> float:
        return 1e300

    with pytest.raises(rk.errors.RewardBug, match="too large"):
        Trainer(rk.to_swift(huge)).score(["a"] * 4)


def test_rewards_that_cannot_run_are_refused() -> None:
    with pytest.raises(rk.RewardDefinitionError, match="no term"):
        rk.to_swift(rk.monitor(judged))
    with pytest.raises(rk.RewardDefinitionError, match="follows earlier scores of the reward"):
        rk.to_swift(judged + rk.schedules.track("judged", 0.0, 1.0) * length)


def test_everything_is_recorded(tmp_path: Path) -> None:
    names = rk.to_swift(judged + length, record=tmp_path / "run")
    trainer = Trainer(names)
    for step in range(3):
        trainer.state.global_step = step
        trainer.score(TEXTS)
    trainer.model.training = False
    trainer.score(TEXTS)
    trainer.reward_funcs[0].evaluator.scorer.flush()
    run = rk.open_run(tmp_path / "run")
    found = run.scores().order("step, row").project('step, total, "group"').fetchall()
    assert [(step, total) for step, total, _ in found[:4]] == [(0, 1.01), (0, None), (0, 0.01), (0, 0.01)]
    assert [step for step, *_ in found] == [0] * 4 + [1] * 4 + [2] * 4
    assert len({group for *_, group in found[:4]}) == 1
    assert len(run.scores(training=False).fetchall()) == 4


def test_export_names_the_terms(tmp_path: Path) -> None:
    (tmp_path / "for_swift.py").write_text(
        "import rewardkit as rk\n\n"
        "reward = 0.8 * rk.number('answer') + 0.2 * rk.tags('answer').named('two words {x}')\n"
    )
    found = export_to("swift", Target("for_swift", "reward", str(tmp_path)), {"swift": "rewardkit_adapters.swift"})
    config = found.config.format(folder="out", file="out/rewards_swift.py")
    assert config == "--external_plugins out/rewards_swift.py \\\n--reward_funcs number 'two words {x}'"
    assert "rk.to_swift(reward)" in found.files["rewards_swift.py"]
    assert Scorer(rk.number("answer")).terms == ["number"]


def test_golds_that_cannot_be_read_have_no_signal_in_whole_groups_and_in_parts_of_them() -> None:
    reward = rk.number("answer") + length
    trainer = Trainer(rk.to_swift(reward), num_generations=2)
    for _ in range(30):  # no number of them is an outage
        first, second = trainer.score(["1", "2", "1", "2"], answer=["N/A", "N/A", "1", "1"])
        assert first == [0.5, 0.5, 1.0, 0.0]
        assert second == [0.01] * 4
    assert trainer._metrics["train"]["unparsable_gold"] == [0.5] * 30
    split = Trainer(rk.to_swift(reward), num_generations=8)
    assert split.score(["1", "22"], answer=["1", "1"]) == [[1.0, 0.0], [0.01, 0.02]]
    assert split.score(["1", "22"], answer=["N/A", "N/A"]) == [[0.0, 0.0], [0.0, 0.0]]


def test_a_column_without_golds_stops_in_the_first_batch() -> None:
    trainer = Trainer(rk.to_swift(rk.number("answer") + length), num_generations=2)
    with pytest.raises(rk.errors.CoercionError, match="cannot read any gold answer in its first batch"):
        trainer.score(["1", "2", "1", "2"], answer=["N/A", "N/A", "none", "none"])
