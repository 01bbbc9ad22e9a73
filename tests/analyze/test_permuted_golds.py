"""With the cells of another prompt, a right answer earns nothing; what pays for anything earns as much as before."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

import rewardkit as rk
from rewardkit.analyze.permuted_golds import PermutedGolds

GOLDS = ["7", "3", "5", "11"]


def batch(texts: list[str], **columns: list[str]) -> rk.Batch:
    """Two completions for each of four prompts."""
    prompts = [f"prompt {number}" for number in range(4) for _ in range(2)]
    answers = [gold for gold in GOLDS for _ in range(2)]
    return rk.Batch(texts, prompts=prompts, columns={"answer": answers, **columns}, num_generations=2)


@rk.reward(pure=True)
def anywhere(completion: str, answer: str) -> float:
    return float(answer in completion.split())


@rk.reward(pure=True)
def of_example(completion: str, example: dict[str, str]) -> float:
    return float(example["answer"] in completion.split())


@rk.reward(pure=True)
def asked(completion: str, prompt: str) -> float:
    return float(completion == prompt)


@rk.reward(pure=True)
def of_task(completion: str, task: str) -> float:
    return float(task in completion)


@given(st.lists(st.sampled_from([*GOLDS, "8", "3 5 7 11", ""]), min_size=8, max_size=8), st.integers(0, 99))
def test_a_foreign_score_is_the_score_with_the_cells_of_another_group(texts: list[str], seed: int) -> None:
    scores = PermutedGolds(anywhere).scores(batch(texts), seed=seed)
    np.testing.assert_array_equal(scores.own, rk.score(anywhere, texts, answer=batch(texts).columns["answer"]).total)
    for row, (text, foreign) in enumerate(zip(texts, scores.foreign, strict=True)):
        others = [gold for gold in GOLDS if gold != GOLDS[row // 2]]
        assert foreign in {float(gold in text.split()) for gold in others}
    for group in range(4):  # the group gets the cells of one other group
        assert scores.foreign[2 * group] == scores.foreign[2 * group + 1] or texts[2 * group] != texts[2 * group + 1]


def test_each_task_of_a_mixed_batch_gets_the_cells_of_its_own_kind() -> None:
    """Tasks with a column each: the cells of the other tasks are None."""
    columns = {
        "answer": ["7", "7", None, None, "5", "5", None, None],
        "word": [None, None, "fox", "fox", None, None, "dog", "dog"],
    }
    reward = rk.route({"number": rk.exact("answer"), "word": rk.exact("word")}, by="task")
    tasks = [task for task in ("number", "word") * 2 for _ in range(2)]
    texts = ["7", "5", "fox", "dog", "5", "7", "dog", "fox"]
    one = rk.Batch(texts, columns={**columns, "task": tasks}, num_generations=2)
    scores = PermutedGolds(reward).scores(one)
    assert scores.own.tolist() == [1.0, 0.0] * 4
    assert scores.foreign.tolist() == [0.0, 1.0] * 4


def test_a_weight_that_changes_is_that_of_the_end() -> None:
    reward = rk.schedules.linear(0.0, 1.0) * anywhere + 0.5 * rk.tags("answer")
    for step in (0, 50, 100):
        one = batch([gold for gold in GOLDS for _ in range(2)])
        moved = rk.Batch(one.completions, columns=one.columns, num_generations=2, progress=rk.Progress(step, 100))
        assert PermutedGolds(reward).scores(moved).own.tolist() == [1.0] * 8


def test_several_draws_are_averaged() -> None:
    once = [PermutedGolds(anywhere).scores(batch(["7 3"] * 8), seed=seed).foreign for seed in range(40)]
    mean = PermutedGolds(anywhere).scores(batch(["7 3"] * 8), draws=200).foreign
    np.testing.assert_allclose(mean, np.mean(once, axis=0), atol=0.25)
    assert ((mean > 0.0) & (mean < 1.0)).all()


def test_the_form_is_what_reads_no_cell() -> None:
    reward = 0.6 * anywhere + 0.3 * rk.tags("answer", anchored=False) + 0.1 * rk.agents.finished()
    scores = PermutedGolds(reward).scores(batch(["<answer>7</answer>", "7 3 5 11"] * 4))
    table = rk.score(reward, ["<answer>7</answer>", "7 3 5 11"] * 4, answer=batch([""] * 8).columns["answer"])
    np.testing.assert_allclose(scores.form, table.terms["tags"] + table.terms["finished"])
    assert np.isnan(PermutedGolds(rk.agents.finished()).scores(batch([""] * 8)).form).all()


@pytest.mark.parametrize("reward", [rk.exact("answer"), anywhere, of_example], ids=["exact", "anywhere", "example"])
def test_only_what_pays_for_anything_earns_with_foreign_golds(reward: rk.Reward) -> None:
    right = PermutedGolds(reward).scores(batch([gold for gold in GOLDS for _ in range(2)]))
    assert right.own.tolist() == [1.0] * 8
    assert right.foreign.tolist() == [0.0] * 8
    hedged = PermutedGolds(reward).scores(batch([" ".join(GOLDS)] * 8))
    assert hedged.own.tolist() == hedged.foreign.tolist()


def test_a_prompt_that_is_read_is_exchanged_with_the_cells() -> None:
    texts = [f"prompt {number}" for number in range(4) for _ in range(2)]
    scores = PermutedGolds(asked).scores(batch(texts))
    assert scores.own.tolist() == [1.0] * 8
    assert scores.foreign.tolist() == [0.0] * 8


def test_a_branch_gets_golds_of_its_own_branch() -> None:
    task = ["math"] * 4 + ["code"] * 4
    routed = rk.route({"math": anywhere, "code": of_example}, by="task")
    texts = [" ".join(GOLDS[:2])] * 4 + [" ".join(GOLDS[2:])] * 4
    scores = PermutedGolds(routed).scores(batch(texts, task=task))
    assert scores.foreign.tolist() == [1.0] * 8  # golds of the other branch are in none of the texts


def test_a_gold_that_is_the_same_everywhere_is_no_other_gold() -> None:
    scores = PermutedGolds(of_task).scores(batch(["math"] * 8, task=["math"] * 8))
    assert np.isnan(scores.foreign).all()


def test_functions_that_read_the_progress_are_left_out() -> None:
    """They may count their calls by it, and read means that the end of a training does not have."""

    @rk.reward
    def by_progress(completion: str, progress: rk.Progress) -> float:
        return progress.means["anywhere"]

    golds = PermutedGolds(anywhere + by_progress)
    assert golds.left_out == ("by_progress",)
    assert golds.scores(batch([gold for gold in GOLDS for _ in range(2)])).own.tolist() == [1.0] * 8


def test_judges_and_foreign_functions_are_left_out() -> None:
    def theirs(completions: list[str], answer: list[str], **kwargs: object) -> list[float]:
        raise AssertionError("called again")

    judge = rk.judge("Is it right?", model=rk.Endpoint("m", "http://127.0.0.1:1/v1"))
    reward = 0.5 * rk.exact("answer") + 0.3 * judge + 0.2 * rk.from_trl(theirs)
    golds = PermutedGolds(reward)
    assert golds.left_out == ("judge", "theirs")
    assert golds.scores(batch([gold for gold in GOLDS for _ in range(2)])).own.tolist() == [0.5] * 8
    assert PermutedGolds(reward, rescore=True).left_out == ("judge",)


calls: list[str] = []


@rk.reward
def undeclared(completion: str, answer: str) -> float:
    calls.append(completion)
    return float(answer in completion.split())


@rk.reward
def undeclared_form(completion: str) -> float:
    calls.append(completion)
    return 1.0


def shouted(text: str) -> str:
    calls.append(text)
    return text.upper()


def plain(completions: list[str], answer: list[str], **kwargs: object) -> list[float]:
    calls.extend(completions)
    return [float(gold in text.split()) for text, gold in zip(completions, answer, strict=True)]


EXACT = rk.exact("answer")
IMPURE = {
    "function": undeclared,
    "sum": undeclared + undeclared_form,
    "product": rk.product(EXACT, undeclared),
    "minimum": rk.minimum(EXACT, undeclared_form),
    "condition": rk.gate(when=undeclared_form, then=EXACT),
    "clipped": (EXACT + undeclared).clip(0.0, 1.0),
    "named": (EXACT + undeclared).named("both"),
    "extractor": rk.exact("answer", extract=shouted),
    "plain": rk.from_trl(plain),
    "renamed": undeclared.named("mine"),
}


@pytest.mark.parametrize("reward", IMPURE.values(), ids=IMPURE)
def test_a_function_that_is_not_declared_pure_is_only_called_if_that_is_asked_for(reward: rk.Reward) -> None:
    one = batch([gold for gold in GOLDS for _ in range(2)])
    calls.clear()
    golds = PermutedGolds(reward)
    assert np.isnan(golds.scores(one).foreign).all()
    assert calls == []
    assert set(golds.left_out) == set(golds.undeclared)
    assert next(iter(golds.undeclared)) in golds.remark
    assert "pure=True" in golds.remark
    assert 'radar="rescore"' in golds.remark
    asked = PermutedGolds(reward, rescore=True)
    assert asked.remark == ""
    assert not np.isnan(asked.scores(one).foreign).all()
    assert calls


@pytest.mark.parametrize("reward", [value for name, value in IMPURE.items() if name != "extractor"])
def test_only_the_terms_without_such_functions_are_scored_again(reward: rk.Reward) -> None:
    one = batch([" ".join(GOLDS), "7"] * 4)
    calls.clear()
    alone, together = PermutedGolds(anywhere), PermutedGolds(anywhere + 0.5 * reward)
    for name in ("own", "foreign", "form"):
        scores = (getattr(golds.scores(one), name) for golds in (alone, together))
        np.testing.assert_array_equal(*scores)
    assert calls == []
    assert together.remark


@pytest.mark.parametrize("part", [undeclared, rk.product(EXACT, undeclared)], ids=["alone", "in a product"])
def test_a_schedule_may_follow_a_function_that_is_left_out(part: rk.Reward) -> None:
    reward = part + rk.schedules.when_reached("undeclared", level=0.5) * anywhere
    scores = PermutedGolds(reward).scores(batch([gold for gold in GOLDS for _ in range(2)]))
    assert scores.own.tolist() == [1.0] * 8
    assert scores.foreign.tolist() == [0.0] * 8


def test_a_route_is_scored_again_in_its_other_branches() -> None:
    routed = rk.route({"math": anywhere, "code": undeclared}, by="task")
    calls.clear()
    scores = PermutedGolds(routed).scores(batch(["7"] * 8, task=["math"] * 4 + ["code"] * 4))
    assert calls == []
    assert np.isnan(scores.foreign).tolist() == [False] * 4 + [True] * 4


def test_a_form_that_is_not_declared_pure_does_not_blind_the_radar() -> None:
    golds = PermutedGolds(EXACT + undeclared_form)
    assert (golds.left_out, golds.remark) == (("undeclared_form",), "")


def test_a_plain_function_that_is_declared_pure_gets_other_golds() -> None:
    golds = PermutedGolds(rk.from_trl(plain, pure=True))
    assert golds.left_out == ()
    scores = golds.scores(batch([gold for gold in GOLDS for _ in range(2)]))
    assert scores.own.tolist() == [1.0] * 8
    assert scores.foreign.tolist() == [0.0] * 8


def test_the_keywords_of_a_plain_format_are_no_answer() -> None:
    """As TRL's own think_format_reward: its ``**kwargs`` are unread."""

    def form(completions: list[str], **kwargs: object) -> list[float]:
        return [1.0] * len(completions)

    def one_form(completion: str, **kwargs: object) -> float:
        return 1.0

    for function in (form, one_form):
        assert not PermutedGolds(rk.from_trl(function, pure=True)).possible


@pytest.mark.parametrize("reward", [rk.tags("answer"), rk.json_valid()], ids=["tags", "json"])
def test_a_reward_that_reads_nothing_else_has_no_foreign_scores(reward: rk.Reward) -> None:
    golds = PermutedGolds(reward)
    assert not golds.possible
    assert np.isnan(golds.scores(batch(["7"] * 8)).foreign).all()


def test_a_declaration_is_in_the_expression() -> None:
    assert repr(rk.from_trl(plain, pure=True)) == "from_trl(plain, pure=True)"
