"""Curricula: one stage counts at a time, or two while one fades into the next."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import rewardkit as rk
from rewardkit.combine.curriculum import Curriculum
from rewardkit.progress.schedule import PerformanceSchedule, State, weight_now
from rewardkit.schedules import cosine, linear, track, when_reached
from rewardkit.tree.algebra import addend_weights
from rewardkit.tree.evaluation.scorer import Scorer

wrong: Any = rk.curriculum
wrong_stage: Any = rk.Stage


@rk.reward
def form(completion: str) -> float | None:
    return None if "-" in completion else 0.5


@rk.reward
def right(completion: str) -> float:
    if "x" in completion:
        raise rk.RewardFailure("down")
    return 1.0


@rk.reward(bounds=(0.5, 1.0))
def short(completion: str) -> float:
    return 0.75


@rk.reward(expensive=True)
def judge(completion: str) -> float:
    return 0.25


REACHED = when_reached("form", 0.5, 1)
TWO = [rk.Stage("form", form, until=0.5), rk.Stage("right", right)]


def curriculum(*stages: rk.Stage) -> Curriculum:
    made = rk.curriculum(stages)
    assert isinstance(made, Curriculum)
    return made


def stage_at(tree: Curriculum, progress: rk.Progress | None) -> str:
    """The stage that counts most."""
    return max(tree.facts.stages, key=lambda stage: weight_now(stage[1], progress))[0]


def totals(tree: rk.Reward, steps: list[int], max_steps: int = 10) -> list[float]:
    return [rk.score(tree, ["a"], progress=rk.Progress(step, max_steps)).total[0] for step in steps]


def test_stages_follow_one_another() -> None:
    assert totals(rk.curriculum(TWO), [0, 4, 5, 10, 20]) == [0.5, 0.5, 1.0, 1.0, 1.0]
    assert rk.score(rk.curriculum(TWO), ["a"]).total.tolist() == [1.0]


@pytest.mark.parametrize("max_steps", [10, 57, 100, 1000])
def test_a_stage_ends_at_its_very_step(max_steps: int) -> None:
    for hundredth in (7, 29, 57, 58, 99):
        tree = curriculum(rk.Stage("form", form, until=hundredth / 100), rk.Stage("right", right))
        end = -(-hundredth * max_steps // 100)  # the first step that is not before it
        weights = [addend_weights(tree, rk.Progress(step, max_steps)) for step in (end - 1, end)]
        assert weights == [[1.0, 0.0], [0.0, 1.0]]


def test_a_stage_fades_into_the_next() -> None:
    tree = rk.curriculum([rk.Stage("form", form, until=0.4, over=0.2), rk.Stage("right", right)])
    assert totals(tree, [0, 4, 5, 6, 10]) == pytest.approx([0.5, 0.5, 0.75, 1.0, 1.0])
    in_steps = rk.curriculum([rk.Stage("form", form, until=4, over=2), rk.Stage("right", right)])
    assert totals(in_steps, [0, 4, 5, 6, 10]) == pytest.approx([0.5, 0.5, 0.75, 1.0, 1.0])


def test_the_table_tells_stage_weights_and_all_components() -> None:
    tree = rk.curriculum([*TWO[:1], rk.Stage("both", right + short, until=0.8), rk.Stage("end", judge + short)])
    table = rk.score(tree, ["a"], progress=rk.Progress(0, 10))
    assert table.gauges == {"stage/curriculum": 1.0}
    assert table.weights == {"form": 1.0, "right": 0.0, "short": 0.0, "judge": 0.0}
    assert {name: str(table.outcomes[name][0]) for name in table.components} == {
        "form": "scored",
        "right": "scored",
        "short": "scored",
        "judge": "skipped",
    }
    assert rk.score(tree, ["a"]).gauges == {"stage/curriculum": 3.0}


def test_only_stages_that_count_can_fail() -> None:
    tree = rk.curriculum(TWO)
    assert rk.score(tree, ["x"], progress=rk.Progress(0, 10)).total.tolist() == [0.5]
    assert np.isnan(rk.score(tree, ["x"]).total).all()


def test_stage_at_names_the_one_that_counts_most() -> None:
    tree = curriculum(rk.Stage("form", form, until=0.4, over=0.4), rk.Stage("right", right))
    assert [stage_at(tree, rk.Progress(step, 10)) for step in (0, 5, 7, 8)] == ["form", "form", "right", "right"]
    assert stage_at(tree, None) == "right"


def test_performance_leads_on_and_back() -> None:
    until = when_reached("form", 0.5, 1, fall_back=0.25)
    tree = curriculum(rk.Stage("form", form, until=until), rk.Stage("right", right))
    assert isinstance(until, PerformanceSchedule)
    state, stages = until.init(), []
    for mean in (0.0, 0.5, 0.3, 0.2, 0.4):
        state = until.update(state, {"form": mean})
        stages.append(stage_at(tree, rk.Progress(0, 10, states={until: state})))
    assert stages == ["form", "right", "right", "form", "form"]


def test_a_later_condition_that_holds_already_is_passed_at_once() -> None:
    early, late = when_reached("form", 0.5, 1), when_reached("right", 0.5, 1)
    tree = curriculum(rk.Stage("a", form, until=early), rk.Stage("b", right, until=late), rk.Stage("c", short))
    assert isinstance(late, PerformanceSchedule)
    assert stage_at(tree, rk.Progress(0, 10, states={late: late.settled()})) == "a"
    assert stage_at(tree, rk.Progress(0, 10, states={late: late.settled(), early: late.settled()})) == "c"


def test_the_same_reward_in_two_stages_is_one_component_and_one_term() -> None:
    tree = rk.curriculum([rk.Stage("form", form, until=0.5), rk.Stage("all", 0.2 * form + right)])
    table = rk.score(tree, ["a"], progress=rk.Progress(0, 10))
    assert list(table.terms) == ["form", "right"]
    assert table.weights["form"] == 1.0
    assert rk.score(tree, ["a"]).weights["form"] == 0.2


def test_stages_prefix_names_that_clash() -> None:
    other = rk.reward(name="form")(lambda completion: 0.25)
    scorer = Scorer(rk.curriculum([rk.Stage("early", form, until=0.5), rk.Stage("late", other)]))
    assert scorer.components == ["early.form", "late.form"]


def test_a_named_curriculum_is_a_component() -> None:
    tree = rk.curriculum(TWO).named("training")
    table = rk.score(tree + short, ["a"], progress=rk.Progress(0, 10))
    assert table["training"].tolist() == [0.5]
    assert table.gauges == {"stage/training": 1.0}
    assert list(table.terms) == ["form", "right", "short"]


def test_curricula_nest_stand_behind_gates_and_in_routes() -> None:
    inner = rk.curriculum(TWO)
    outer = rk.curriculum([rk.Stage("first", short, until=0.2), rk.Stage("then", inner)])
    gated = rk.gate(right, rk.route({"a": outer, "b": short}, by="task"))
    table = rk.score(gated, ["a", "b"], task=["a", "b"], progress=rk.Progress(3, 10))
    assert table.total.tolist() == [0.5, 0.75]
    assert rk.score(gated, ["a"], task=["a"], progress=rk.Progress(1, 10)).total.tolist() == [0.75]
    assert rk.score(gated, ["a"], task=["a"]).total.tolist() == [1.0]


def test_bounds_know_that_half_of_a_fading_pair_may_abstain() -> None:
    hard = rk.curriculum([rk.Stage("a", short, until=0.5), rk.Stage("b", right.clip(0.75, 1))])
    assert hard.bounds == (0.5, 1.0)
    fading = rk.curriculum([rk.Stage("a", short, until=0.5, over=0.2), rk.Stage("b", form.clip(0.5, 1))])
    assert fading.bounds == (0.0, 1.0)
    table = rk.score(fading, ["-"], progress=rk.Progress(6, 10))
    assert table.total.tolist() == pytest.approx([0.375])


def untils(hard: bool) -> st.SearchStrategy[list[Any]]:
    """Ends of stages in a valid order, each with its `over`."""
    overs = st.just(0) if hard else st.sampled_from([0, 0.1, 0.5])
    times = st.lists(st.sampled_from([0.01, 0.07, 0.3, 0.5, 0.57, 0.9, 1.0]), max_size=3, unique=True).map(sorted)
    timed = times.flatmap(lambda ends: st.tuples(*(st.tuples(st.just(end), overs) for end in ends))).map(list)
    following = [REACHED, when_reached("form", 0.5, 1, fall_back=0.2)]
    if not hard:
        following += [track("form"), when_reached("form", 0.5, 1, over=3), linear(0.0, 1.0), cosine(0.2, 1.0, end=0.5)]
    reached = st.lists(st.tuples(st.sampled_from(following), st.just(0)), max_size=2)
    return st.tuples(timed, reached).map(lambda both: [*both[0], *both[1]])


def built(ends: list[Any]) -> Curriculum:
    stages = [
        rk.Stage(f"stage {place}", form.named(f"n{place}"), until=until, over=over)
        for place, (until, over) in enumerate(ends)
    ]
    return curriculum(*stages, rk.Stage("last", form.named("last")))


def states_of(tree: Curriculum, means: list[float]) -> dict[PerformanceSchedule, State]:
    states: dict[PerformanceSchedule, State] = {}
    for stage in tree.stages:
        if isinstance(stage.until, PerformanceSchedule):
            state = stage.until.init()
            for mean in means:
                state = stage.until.update(state, {stage.until.component: mean})
            states[stage.until] = state
    return states


means = st.lists(st.sampled_from([0.0, 0.3, 0.5, 1.0]), max_size=5)
steps = st.integers(0, 120) | st.integers(0, 10**9)


@given(untils(hard=False), means, steps, st.integers(1, 100))
def test_the_weights_sum_to_one_at_any_time_and_in_any_state(
    ends: list[Any], seen: list[float], step: int, max_steps: int
) -> None:
    tree = built(ends)
    progress = rk.Progress(step, max_steps, states=states_of(tree, seen))
    for weights in (addend_weights(tree, progress), addend_weights(tree, None)):
        assert sum(weights) == pytest.approx(1.0)
        assert min(weights) >= 0.0


@given(untils(hard=True), means, steps, st.integers(1, 100))
def test_without_fading_exactly_one_stage_counts(ends: list[Any], seen: list[float], step: int, max_steps: int) -> None:
    tree = built(ends)
    progress = rk.Progress(step, max_steps, states=states_of(tree, seen))
    weights = sorted(addend_weights(tree, progress))
    assert weights == [0.0] * (len(weights) - 1) + [1.0]
    # The first stage whose end has not come.
    expected = next(
        (stage.name for stage in tree.stages if stage.passed is None or stage.passed(progress) == 0.0), "last"
    )
    assert stage_at(tree, progress) == expected
    assert stage_at(tree, None) == "last"


@given(untils(hard=False), means, st.integers(0, 12), st.lists(st.sampled_from(["a", "-", "x"]), max_size=3))
def test_terms_sum_to_the_total(ends: list[Any], seen: list[float], step: int, completions: list[str]) -> None:
    rewards = [form, 0.3 * form + right, short + right, judge, right, short]
    stages = [rk.Stage(f"s{place}", rewards[place], until=u, over=o) for place, (u, o) in enumerate(ends)]
    # What follows form needs it among the components.
    tree = curriculum(*stages, rk.Stage("last", form + right))
    table = rk.score(tree, completions, progress=rk.Progress(step, 10, states=states_of(tree, seen)))
    scorable = ~np.isnan(table.total)
    terms = np.array(list(table.terms.values()))
    np.testing.assert_allclose(np.nansum(terms, axis=0)[scorable], table.total[scorable], atol=1e-9)


@given(untils(hard=False))
def test_they_are_values(ends: list[Any]) -> None:
    tree = built(ends)
    addend_weights(tree, None)  # what is remembered of it does not count
    again = pickle.loads(pickle.dumps(tree))
    assert again == tree == built(ends)
    assert hash(again) == hash(tree)
    assert again.fingerprint == tree.fingerprint
    assert repr(again) == repr(tree)


Build = Callable[[], object]


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: rk.curriculum([]), "needs at least one stage"),
        (lambda: wrong(TWO[0]), "the last stage, 'form', cannot have until="),
        (lambda: wrong([form, right]), r"curriculum expects a list of rk.Stage\(name, reward, until=...\), got form"),
        (lambda: wrong({"form": form}), "curriculum expects a list of rk.Stage"),
        (lambda: rk.curriculum([TWO[1], TWO[0]]), "stage 'right' has no until="),
        (lambda: rk.curriculum([TWO[0]]), "the last stage, 'form', cannot have until="),
        (lambda: rk.curriculum([TWO[0], rk.Stage("form", right)]), "two stages are named 'form'"),
        (
            lambda: rk.curriculum([TWO[0], rk.Stage("b", short, until=0.3), TWO[1]]),
            r"stage 'b' ends at 0.3, .* 'form', ends at 0.5",
        ),
        (lambda: rk.curriculum([TWO[0], rk.Stage("b", short, until=0.5), TWO[1]]), "ascending order"),
        (lambda: rk.Stage("", form), "name must be"),
        (lambda: wrong_stage(form, "form"), "the name of a stage must be a string, got form"),
        (lambda: rk.Stage("a", wrong), r"stage 'a': reward must be a reward.*Call it.*curriculum\(\.\.\.\)"),
        (lambda: rk.Stage("a", form, until=1), r"stage 'a': until=1 .*did you mean 1\.0"),
        (lambda: rk.Stage("a", form, until=0.0), "stage 'a': until=0, so the stage never counts"),
        (lambda: rk.Stage("a", form, until=linear(1.0, 0.0)), "ends at 0, so later stages never count fully"),
        (lambda: rk.Stage("a", form, until=30.0), "write an int: 30"),
        (
            lambda: rk.Stage("a", form, until="half"),
            r"stage 'a': until must be .* got 'half'. Did you mean until=rk.schedules.when_reached",
        ),
        (lambda: rk.Stage("a", form, until=0.3, over=-0.1), "stage 'a': over=-0.1"),
        (lambda: rk.Stage("a", form, over=0.1), "over= has no effect"),
        (lambda: rk.Stage("a", form, until=REACHED, over=0.1), "Drop over= here"),
        (lambda: rk.Stage("a", form, until=linear(0.0, 2.0)), r"ranges from 0 to 2.*Use \.clip\(0, 1\)"),
        (lambda: Scorer(rk.curriculum([rk.Stage("a", right, until=REACHED), TWO[1]])), "follows 'form', which is no"),
    ],
)
def test_invalid_curricula_are_refused(build: Build, message: str) -> None:
    with pytest.raises(rk.RewardDefinitionError, match=message):
        build()


def test_positions_of_numpy_are_positions() -> None:
    stages = [rk.Stage("a", form, until=np.float64(0.25)), rk.Stage("b", right, until=0.5, over=np.float64(0.25))]
    assert rk.curriculum(*stages, rk.Stage("c", short)).stages[0].until == 0.25  # type: ignore[attr-defined]
    assert type(rk.Stage("a", form, until=np.int64(30)).until) is int
