"""The sweep: the completions that most laws look at."""

from __future__ import annotations

import time
from typing import Any

import rewardkit as rk
from rewardkit.check.reward_under_test.sweep import anatomies, beyond_reach, given, reachable_text, score_sweep, sweep
from rewardkit.check.reward_under_test.trials import Trial, text_of
from rewardkit.check.variants.wild_texts import SHAPES, TEXTS
from tests.check.rewards import BAD, EXAMPLES, GOOD, naive, number, subject, tree


def test_given_completions_come_first() -> None:
    one = subject(tree)
    assert given(one) == [Trial(GOOD[0], 0), Trial(BAD[0], 0), Trial(GOOD[1], 1), Trial(BAD[1], 1)]
    assert sweep(one)[:4] == given(one)


def test_wild_texts_broken_ones_and_wrong_answers_for_each_example() -> None:
    trials = sweep(subject(tree))
    for example, right in enumerate(GOOD):
        texts = {trial.completion for trial in trials if trial.example == example and isinstance(trial.completion, str)}
        assert set(filter(reachable_text, TEXTS.values())) <= texts
        assert all(map(reachable_text, texts))
        assert right.replace("</answer>", "") in texts
        assert right.replace("<think>", "<think><think>") in texts
        assert right[: len(right) // 2] in texts
        assert right + BAD[example] in texts
    assert Trial("<think>6*7</think><answer>97</answer>", 0) in trials


def test_each_completion_once_for_an_example() -> None:
    trials = sweep(subject(tree))
    assert len({(repr(trial.completion), trial.example) for trial in trials}) == len(trials) > 200


def test_message_shapes_that_the_data_has() -> None:
    def shapes(reward: Any, **options: Any) -> tuple[set[str], set[str]]:
        """Return the shapes that are tried, and those that are noted."""
        one = subject(reward, bad=[], **options)
        names = [name for name, shape in SHAPES.items() if Trial(shape, 0) in sweep(one)]
        return set(names), {name for _, _, name in beyond_reach(one) if name in SHAPES}

    several, parts = {"several turns", "a tool's answer at the end", "content None, a tool call"}, {"content in parts"}
    chat = [[{"role": "assistant", "content": text}] for text in GOOD]
    assert shapes(tree) == (set(), set(SHAPES))
    assert shapes(naive) == (set(), set())
    assert shapes(naive, good=chat) == (set(), set(SHAPES))
    called = [[*one, {"role": "tool", "content": "42"}, *one] for one in chat]
    assert shapes(naive, good=called) == (several, set(SHAPES) - several)
    shown = [[{"role": "assistant", "content": [{"type": "text", "text": text}]}] for text in GOOD]
    tried, noted = shapes(naive, good=shown)
    assert parts <= tried
    assert several | {"no messages", "no content"} <= noted
    seen = [{"prompt": [{"role": "user", "content": [{"type": "image"}]}], "answer": "42"}]
    assert shapes(naive, good=chat[:1], examples=seen) == (set(), set(SHAPES))  # completions to images are text
    examples = [{"prompt": [{"role": "user", "content": "6*7?"}], "answer": "42", "tools": ["search"]}]
    assert shapes(naive, good=chat[:1], examples=examples)[0] == several


def test_chat_completions_are_swept_as_chat() -> None:
    one = subject(number, good=[[{"role": "assistant", "content": text}] for text in GOOD], bad=[])
    assert not any(isinstance(trial.completion, str) for trial in sweep(one))
    assert [{"role": "assistant", "content": "\0"}] in [trial.completion for trial in sweep(one)]


def test_without_right_completions_marks_from_the_code_are_tried() -> None:
    reward = rk.regex("<verdict>(yes|no)</verdict>", match="search")
    texts = {text_of(trial.completion) for trial in sweep(subject(reward, examples=[{}], good=[], bad=[]))}
    assert {"<verdict></verdict>", "<verdict>", ""} <= texts


def test_only_some_examples_are_swept_and_all_are_given() -> None:
    examples = [{"prompt": str(count), "answer": str(count)} for count in range(10, 19)]
    good = [f"<answer>{row['answer']}</answer>" for row in examples]
    trials = sweep(subject(number, examples=examples, good=good, bad=[]))
    assert {trial.example for trial in trials if trial.completion == "\0"} == {0, 1, 2, 3}
    assert {trial.example for trial in trials} == set(range(9))


def test_swept_pairs_trials_with_scores_scored_once() -> None:
    one = subject(tree)
    pairs = score_sweep(one)
    assert [trial for trial, _ in pairs] == sweep(one)
    tries = one.tries
    assert score_sweep(one) == pairs
    assert one.tries == tries
    assert (
        dict(zip(GOOD, [1.0, 1.0], strict=True)).items()
        <= {trial.completion: seen.value for trial, seen in pairs if isinstance(trial.completion, str)}.items()
    )


def test_a_slow_reward_scores_fewer_completions() -> None:
    def slow(completions: list[str], **kwargs: Any) -> list[float]:
        time.sleep(0.002)
        return [0.0 for _ in completions]

    one = subject(slow)
    one.see(given(one))
    one.deadline = time.monotonic() + 0.5
    assert len(sweep(one)) < 80
    assert sweep(one)[:4] == given(one)


def test_the_same_completions_for_the_same_reward() -> None:
    assert sweep(subject(tree)) == sweep(subject(tree))


def test_anatomies_of_the_right_completions() -> None:
    one = subject(tree, good=[[GOOD[0], "<think>a</think><answer>42.0</answer>"], [GOOD[1]]])
    assert [anatomy.gold for anatomy in anatomies(one, 0)] == ["42", "42.0"]
    assert anatomies(one, 1)[0].column == "answer"
    assert len(EXAMPLES) == 2
