"""to_openrlhf: the completion is cut off exactly, keys are always the same, and a failed row is never a score."""

from __future__ import annotations

import math
from typing import Any

import pytest

import rewardkit as rk
from rewardkit.online import batches as patience
from rewardkit.online.batches import RunExit

PROMPT = "<|im_start|>user\n2+2<|im_end|>\n<|im_start|>assistant\n"


@rk.reward
def same(completion: str, answer: str) -> float | None:
    """Return whether it is the answer; fail on "down", abstain on "none"."""
    if completion == "down":
        raise rk.RewardFailure("the judge is down")
    return None if completion == "none" else float(completion == answer)


def call(function: Any, query: str, label: Any = "4", prompt: str = PROMPT) -> dict[str, Any]:
    found: dict[str, Any] = function([query], [prompt], [label])
    return found


class Tokenizer:
    """Gives spaces back as one, as tokenizers with an own normalization do."""

    all_special_tokens = ("<|im_start|>", "<|im_end|>")

    def __call__(self, text: str, add_special_tokens: bool) -> dict[str, str]:
        assert not add_special_tokens
        return {"input_ids": " ".join(text.split())}

    def decode(self, ids: str, skip_special_tokens: bool) -> str:
        assert not skip_special_tokens
        return ids


def test_returns_what_openrlhf_reads() -> None:
    function = rk.to_openrlhf(0.5 * same + 0.5 * rk.length.between(1, 3, unit="characters").named("short"))
    found = call(function, PROMPT + "4")
    logs = {"same": 0.5, "short": 0.5, "components/same": 1.0, "components/short": 1.0}
    assert found == {"rewards": 1.0, "scores": 1.0, "extra_logs": logs}
    assert all(type(value) is float for value in [found["rewards"], *found["extra_logs"].values()])


def test_the_usual_end_token_is_removed_without_a_tokenizer() -> None:
    function = rk.to_openrlhf(same)
    with pytest.warns(rk.errors.RewardKitWarning, match=r"such as '<\|im_end\|>', and only the last one is removed"):
        assert call(function, PROMPT + "4<|im_end|>")["rewards"] == 1.0
    assert call(function, PROMPT + "4<|im_end|>")["rewards"] == 1.0
    assert call(function, PROMPT + "<|x|>4<|im_end|>")["rewards"] == 0.0


@pytest.mark.parametrize("tokens", [Tokenizer(), ["<|im_start|>", "<|im_end|>"]], ids=["tokenizer", "list"])
def test_special_tokens_are_removed(tokens: Any) -> None:
    assert call(rk.to_openrlhf(same, special_tokens=tokens), PROMPT + "<|im_start|>4<|im_end|>")["rewards"] == 1.0


def test_the_prompt_is_cut_off_only_once() -> None:
    assert call(rk.to_openrlhf(same), "ababab", label="ab", prompt="abab")["rewards"] == 1.0


def test_a_prompt_that_the_tokenizer_changes_is_cut_off_as_it_comes_back() -> None:
    function = rk.to_openrlhf(same, special_tokens=Tokenizer())
    assert call(function, "2 + 24", prompt="2  +  2")["rewards"] == 1.0


def test_a_tokenizer_of_transformers_gives_prompts_back_normalized() -> None:
    transformers = pytest.importorskip("transformers")
    tokenizers = pytest.importorskip("tokenizers")
    own = tokenizers.Tokenizer(tokenizers.models.BPE())
    own.normalizer = tokenizers.normalizers.NFC()
    own.pre_tokenizer, own.decoder = tokenizers.pre_tokenizers.ByteLevel(), tokenizers.decoders.ByteLevel()
    own.train_from_iterator([], tokenizers.trainers.BpeTrainer(initial_alphabet=own.pre_tokenizer.alphabet()))
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=own, eos_token="<|im_end|>")
    prompt = "cafe\u0301: "
    ids = tokenizer(text=prompt + "4<|im_end|>", add_special_tokens=False)["input_ids"]
    query = tokenizer.decode(ids, skip_special_tokens=False)
    assert not query.startswith(prompt)
    assert call(rk.to_openrlhf(same, special_tokens=tokenizer), query, prompt=prompt)["rewards"] == 1.0


def test_a_query_without_its_prompt_is_no_completion() -> None:
    with pytest.raises(RunExit, match=r"query '2 \+ 24' does not begin with the prompt '2  \+  2'.*=tokenizer"):
        call(rk.to_openrlhf(same), "2 + 24", prompt="2  +  2")
    function = rk.to_openrlhf(same, special_tokens=Tokenizer(), dynamic_filtering=True)
    assert math.isnan(call(function, "3 4", prompt="2 + 3")["rewards"])


@pytest.mark.parametrize(
    ("label", "right"),
    [
        ("4", True),
        (4, False),
        ('{"answer": "4", "level": 1}', True),
        ({"answer": "4"}, True),
        ('{"level": 1}', False),
        ('["4"]', False),
        ("{4", False),
    ],
)
def test_an_object_in_the_label_is_columns(label: Any, right: bool) -> None:
    @rk.reward
    def equal(completion: str, answer: Any, label: Any) -> float:
        return float(completion == answer)

    assert call(rk.to_openrlhf(equal), PROMPT + "4", label)["rewards"] == float(right)


def test_an_object_without_the_gold_answer_is_the_gold_answer_itself() -> None:
    @rk.reward
    def equal(completion: str, answer: str, level: int) -> float:
        return float(completion == answer and level == 1)

    assert call(rk.to_openrlhf(equal), PROMPT + '{"level": 1}', '{"level": 1}')["rewards"] == 1.0


def test_a_failed_row_is_nan_with_dynamic_filtering() -> None:
    function = rk.to_openrlhf(same + rk.monitor(rk.contains(none="x").named("no x")), dynamic_filtering=True)
    scored, failed, abstained = (call(function, PROMPT + text) for text in ("4", "down", "none"))
    assert scored["rewards"] == 1.0
    for found in (failed, abstained):
        assert math.isnan(found["rewards"])
        assert math.isnan(found["scores"])
        assert found["extra_logs"].keys() == scored["extra_logs"].keys()
        assert found["extra_logs"] == {"same": 0.0, "components/same": 0.0, "components/no x": 1.0}


def test_without_dynamic_filtering_a_failed_row_waits_for_its_score(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    @rk.reward
    def late(completion: str) -> float:
        calls.append(completion)
        if len(calls) < 3:
            raise rk.RewardFailure("the judge is down")
        return 1.0

    monkeypatch.setattr(patience, "_FIRST_PAUSE", 0.01)
    assert call(rk.to_openrlhf(late), PROMPT + "4")["rewards"] == 1.0
    assert len(calls) == 3


@pytest.mark.parametrize(("text", "why"), [("down", "the judge is down"), ("none", "every component abstained")])
def test_a_row_without_a_score_ends_the_run(text: str, why: str) -> None:
    function = rk.to_openrlhf(same, patience=0.01)
    with pytest.raises(RunExit, match=f"no score: .*{why}.*Raise patience= if a service was down for more than 0.01 s"):
        call(function, PROMPT + text)


def test_too_many_failures_end_the_run_with_dynamic_filtering(tmp_path: Any) -> None:
    function = rk.to_openrlhf(same, dynamic_filtering=True, record=tmp_path / "run")
    for _ in range(1_279):
        call(function, PROMPT + "down")
    for _ in range(2):
        with pytest.raises(RunExit, match="RewardFailure: reward 'same' failed on 1,280 of 1,280"):
            call(function, PROMPT + "down")
    assert len(rk.open_run(tmp_path / "run").scores().df()) == 1_280


def test_an_errored_row_is_the_lowest_bound_until_there_are_too_many() -> None:
    @rk.reward(bounds=(-1.0, 1.0))
    def buggy(completion: str) -> float:
        raise ValueError("bug")

    function = rk.to_openrlhf(buggy)
    for _ in range(127):
        assert call(function, PROMPT + "4")["rewards"] == -1.0
    with pytest.raises(RunExit, match="RewardBug: reward 'buggy' errored on 128 of 128"):
        call(function, PROMPT + "4")


def test_a_judge_that_can_never_answer_ends_the_run() -> None:
    @rk.reward
    def locked(completion: str) -> float:
        raise rk.RunStopped("the key is wrong")

    with pytest.raises(RunExit, match=r"RunStopped: .*the key is wrong"):
        call(rk.to_openrlhf(locked, dynamic_filtering=True), PROMPT + "4")


def test_other_calls_than_those_of_the_tested_version_end_the_run() -> None:
    with pytest.raises(RunExit, match=r"expected one completion per call, .* 0\.11\.2, got 2 queries, 2 prompts"):
        rk.to_openrlhf(same)(["a", "b"], ["", ""], ["4", "4"])


def test_terms_with_names_of_openrlhf_are_logged_under_other_ones() -> None:
    function = rk.to_openrlhf(same.named("reward") + same.named("kl"))
    names = ["terms/reward", "terms/kl", "components/reward", "components/kl"]
    assert list(call(function, PROMPT + "4")["extra_logs"]) == names


@pytest.mark.parametrize(
    ("reward", "why"),
    [
        (same * rk.schedules.linear(0.0, 1.0), "OpenRLHF: the reward follows training progress"),
        (rk.diversity(), "OpenRLHF: 'diversity' compares completions"),
    ],
    ids=["schedule", "group"],
)
def test_what_does_not_arrive_is_refused(reward: rk.Reward, why: str) -> None:
    with pytest.raises(rk.RewardDefinitionError, match=why):
        rk.to_openrlhf(reward)


@pytest.mark.parametrize(
    ("option", "why"),
    [
        ({"patience": -1.0}, "patience= must be a number of seconds, 0 or more, got -1.0"),
        ({"patience": math.inf}, "patience= must be a number of seconds, 0 or more, got inf"),
        ({"dynamic_filtering": "yes"}, "dynamic_filtering= must be True or False, got 'yes'"),
    ],
)
def test_wrong_options_are_refused(option: dict[str, Any], why: str) -> None:
    with pytest.raises(rk.RewardDefinitionError, match=why):
        rk.to_openrlhf(same, **option)


def test_examples_are_tried_at_once() -> None:
    with pytest.raises(rk.errors.BindingError, match="answer"):
        rk.to_openrlhf(same, examples=[{"gold": "4"}])
    rk.to_openrlhf(same, examples=[{"answer": "4"}])


def test_a_gold_that_cannot_be_read_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.sleep", lambda seconds: pytest.fail("another try would fail, too"))
    reward = rk.number("answer") + rk.length.between(1, 3, unit="characters")
    with pytest.raises(RunExit, match=r"(?s)column 'answer': 'N/A' cannot be parsed.*pass all rows as examples="):
        call(rk.to_openrlhf(reward), PROMPT + "4", label="N/A")
    found = call(rk.to_openrlhf(reward, dynamic_filtering=True), PROMPT + "4", label="N/A")
    assert math.isnan(found["rewards"])
