"""Planted exploits are found, healthy runs raise no alarm, and properties that hold for all kinds of alerts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from rewardkit.alerts import Alert, Evidence, suspicious
from rewardkit.alerts.evidence import OBSERVATIONS
from rewardkit.errors import EvidenceError, RewardKitError
from tests.alerts.runs import PHRASES, PLANTS, SHAPES, Shape, simulated

SMALL = Shape(steps=60, prompts=8, generations=4)


def small(shape: Shape) -> Shape:
    return replace(shape, steps=min(shape.steps, 80))


def named(alerts: list[Alert]) -> dict[str, Alert]:
    """Return the strongest alert of each kind."""
    return {alert.kind: alert for alert in reversed(alerts)}


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(PLANTS))
def test_planted_exploits_are_found_with_their_evidence(name: str) -> None:
    evidence = simulated(11, small(PLANTS[name]))
    alert = named(suspicious(evidence))[{"held-out": "proxy"}.get(name, name)]
    if name in OBSERVATIONS:
        assert alert.is_observation
        assert alert.strength == 0.0
    else:
        assert not alert.is_observation
        assert alert.strength >= 0.5
    assert alert.steps[0] <= alert.steps[1]
    assert alert.text
    assert len(set(alert.rows)) == len(alert.rows) > 0
    assert all(np.isfinite(list(alert.numbers.values())))
    training = evidence.training
    assert training is not None
    assert training[list(alert.rows)].all()


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(SHAPES))
def test_healthy_runs_raise_no_alarm(name: str) -> None:
    assert [alert for alert in suspicious(simulated(12, small(SHAPES[name]))) if alert.strength >= 0.8] == []


def of_one_length(rise: float) -> Evidence:
    """A run whose completions nearly all have 55 tokens, and whose mean total rises."""
    draw = np.random.default_rng(0)
    steps = np.repeat(np.arange(30), 32)
    return Evidence(
        steps=steps,
        prompts=np.tile(np.repeat(np.arange(8), 4), 30),
        totals=draw.random(len(steps)) + rise * steps / 30,
        lengths=np.where(draw.random(len(steps)) < 0.96, 55.0, 20.0),
    )


def test_without_a_known_limit_no_completion_counts_as_cut_off() -> None:
    evidence = of_one_length(1.0)
    assert "truncated" not in named(suspicious(evidence))
    assert named(suspicious(replace(evidence, maximum_length=55.0)))["truncated"].strength > 0.9


def test_cut_off_completions_that_earn_nothing_more_are_a_weak_alert() -> None:
    for rise in (0.0, -1.0):
        found = named(suspicious(replace(of_one_length(rise), maximum_length=55.0)))
        assert found["truncated"].strength <= 0.5


@pytest.mark.parametrize("name", ["no_variance", "phrase", "copies"])
def test_alerts_are_sorted_by_strength_and_observations_come_last(name: str) -> None:
    found = suspicious(simulated(13, small(PLANTS[name])))
    strengths = [alert.strength for alert in found]
    assert strengths == sorted(strengths, reverse=True)
    assert all(0.0 < alert.strength <= 1.0 for alert in found if not alert.is_observation)
    assert {alert.kind for alert in found if alert.strength == 0.0} == {alert.kind for alert in found} & OBSERVATIONS


@pytest.mark.slow
@pytest.mark.parametrize("name", ["copies", "phrase", "length", "truncated"])
def test_without_observations_the_alerts_are_the_same(name: str) -> None:
    evidence = simulated(13, small(PLANTS[name]))
    found = suspicious(evidence)
    assert suspicious(evidence, observations=False) == [alert for alert in found if not alert.is_observation]


def test_the_planted_phrase_is_the_first_observation() -> None:
    found = [alert for alert in suspicious(simulated(11, small(PLANTS["phrase"]))) if alert.is_observation]
    assert found[0].kind == "phrase"
    assert any(phrase in found[0].text.casefold() for phrase in PHRASES)


def shuffled(evidence: Evidence, order: np.ndarray[tuple[int], np.dtype[np.int64]]) -> Evidence:
    """Return the same completions in another order."""
    completions, prompts = evidence.completions, evidence.prompt_texts
    assert callable(completions)
    assert callable(prompts)
    assert evidence.training is not None
    assert evidence.lengths is not None
    return replace(
        evidence,
        steps=evidence.steps[order],
        prompts=evidence.prompts[order],
        totals=evidence.totals[order],
        components={name: values[order] for name, values in evidence.components.items()},
        outcomes={name: values[order] for name, values in evidence.outcomes.items()},
        training=evidence.training[order],
        lengths=evidence.lengths[order],
        completions=lambda rows: completions(order[rows]),
        prompt_texts=lambda rows: prompts(order[rows]),
    )


@pytest.mark.slow
@settings(max_examples=5, deadline=None)
@given(st.integers(0, 2**31), st.sampled_from(["phrase", "copies", "length", "outcomes", "proxy"]), st.booleans())
def test_the_order_of_rows_does_not_matter(seed: int, plant: str, within: bool) -> None:
    evidence = simulated(3, replace(PLANTS[plant], steps=40, prompts=8, generations=4))
    order = np.random.default_rng(seed).permutation(len(evidence.steps))
    if within:
        order = order[np.argsort(evidence.steps[order], kind="stable")]
    first, second = suspicious(evidence), suspicious(shuffled(evidence, order))
    assert [(alert.kind, alert.title, alert.steps, alert.component) for alert in first] == [
        (alert.kind, alert.title, alert.steps, alert.component) for alert in second
    ]
    for one, other in zip(first, second, strict=True):
        assert one.strength == pytest.approx(other.strength, abs=1e-6)
        assert dict(one.numbers) == pytest.approx(dict(other.numbers), rel=1e-6, abs=1e-6)
        assert sorted(evidence.prompts[list(one.rows)]) == sorted(evidence.prompts[order[list(other.rows)]])


def test_the_same_evidence_gives_the_same_alerts() -> None:
    evidence = simulated(4, replace(PLANTS["phrase"], steps=40, prompts=8))
    assert suspicious(evidence) == suspicious(evidence)


@given(
    st.integers(1, 80),
    st.integers(1, 6),
    st.integers(1, 6),
    st.floats(-10.0, 10.0),
    st.text(max_size=40),
    st.booleans(),
)
def test_constant_data_gives_only_the_alert_about_variance(
    steps: int, prompts: int, generations: int, total: float, text: str, monitored: bool
) -> None:
    size = steps * prompts * generations
    evidence = Evidence(
        steps=np.repeat(np.arange(steps), prompts * generations),
        prompts=np.tile(np.repeat(np.arange(prompts), generations), steps),
        totals=np.full(size, total),
        components={"right": np.full(size, total), "exact": np.zeros(size)},
        lengths=np.full(size, 7.0),
        maximum_length=7.0,
        outcomes={"right": np.full(size, "scored")},
        completions=[text] * size,
        prompt_texts=["?"] * size,
        bounds={"right": (-10.0, 10.0), "exact": (0.0, 1.0)},
        monitored=frozenset({"exact"} if monitored else ()),
        gates={"right": (np.arange(steps), np.full(steps, 0.5))},
    )
    assert {alert.kind for alert in suspicious(evidence)} <= {"no_variance"}


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**31))
def test_a_run_without_change_gives_no_strong_alert(seed: int) -> None:
    draw = np.random.default_rng(seed)
    steps = np.repeat(np.arange(80), 32)
    evidence = Evidence(
        steps=steps,
        prompts=np.tile(np.repeat(np.arange(8), 4), 80) + 8 * (steps % 5),
        totals=draw.normal(0.0, 1.0, len(steps)),
        components={
            "noise": draw.normal(0.0, 1.0, len(steps)),
            "exact": draw.integers(0, 2, len(steps)).astype(np.float64),
        },
        lengths=draw.integers(50, 500, len(steps)).astype(np.float64),
        monitored=frozenset({"exact"}),
        gates={"noise": (np.arange(80), draw.random(80))},
    )
    assert [alert for alert in suspicious(evidence) if alert.strength >= 0.5] == []


@pytest.mark.parametrize(
    ("plant", "kind", "change"),
    [
        ("proxy", "proxy", lambda run, more: replace_component(run, "manner", more)),
        ("outcomes", "outcomes", lambda run, more: fail_more(run, more)),
    ],
)
def test_a_larger_effect_is_never_a_weaker_alert(plant: str, kind: str, change: object) -> None:
    evidence = simulated(5, replace(PLANTS[plant], steps=80))
    assert callable(change)
    strengths = [
        max((alert.strength for alert in suspicious(change(evidence, more)) if alert.kind == kind), default=0.0)
        for more in (0.0, 0.1, 0.3, 0.6, 1.0)
    ]
    assert strengths == sorted(strengths)
    assert strengths[0] == 0.0 < strengths[-1]


def replace_component(evidence: Evidence, name: str, share: float) -> Evidence:
    """Return a run with `share` of the planted rise and a constant total."""
    still = np.zeros(len(evidence.totals))
    values = {**evidence.components, name: evidence.components[name] * share + evidence.components["effort"]}
    kept = {one: values[one] for one in (name, "exact")}
    return replace(evidence, totals=still, components=kept, completions=None, monitored=frozenset({"exact"}))


def fail_more(evidence: Evidence, share: float) -> Evidence:
    drawn = np.random.default_rng(0).random(len(evidence.steps)) < 0.1 * share
    late = evidence.steps > evidence.steps.max() // 2
    own = np.where(drawn & late, "failed", "scored")
    return replace(evidence, outcomes={"right": own}, completions=None)


def test_mismatched_arrays_are_named_in_the_error() -> None:
    with pytest.raises(EvidenceError, match=r"components\['right'\] has 2 rows, but steps has 3"):
        Evidence(np.arange(3), np.arange(3), np.zeros(3), components={"right": np.zeros(2)})
    with pytest.raises(EvidenceError, match=r"monitored names 'rihgt'.* Did you mean 'right'"):
        Evidence(
            np.arange(3), np.arange(3), np.zeros(3), components={"right": np.zeros(3)}, monitored=frozenset({"rihgt"})
        )
    with pytest.raises(RewardKitError, match=r"gates\['tags'\] has 2 steps and 1 rates"):
        Evidence(np.arange(3), np.arange(3), np.zeros(3), gates={"tags": (np.arange(2), np.zeros(1))})


@pytest.mark.parametrize("size", [0, 1, 2])
def test_tiny_runs_give_no_alerts(size: int) -> None:
    texts = ["a", "b"][:size]
    everything = {name: np.arange(size, dtype=np.float64) for name in ("a", "b")}
    evidence = Evidence(
        np.zeros(size, dtype=np.int64), np.array(texts, dtype="U1"), np.arange(size, dtype=np.float64),
        components=everything, lengths=everything["a"], completions=texts, prompt_texts=texts,
        monitored=frozenset({"b"}), bounds={"a": (0.0, 1.0)}, gates={"a": (np.arange(0), np.zeros(0))},
    )  # fmt: skip
    assert suspicious(evidence) == []


def test_a_run_with_only_evaluations_gives_no_alerts() -> None:
    evidence = simulated(6, replace(SMALL, steps=20))
    assert suspicious(replace(evidence, training=np.zeros(len(evidence.steps), dtype=np.bool_))) == []


def test_missing_values_raise_no_error() -> None:
    evidence = simulated(7, SMALL)
    assert evidence.lengths is not None
    draw = np.random.default_rng(0)

    def holes(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        return np.where(draw.random(len(values)) < 0.3, np.nan, values)

    suspicious(
        replace(
            evidence,
            totals=holes(evidence.totals),
            lengths=holes(evidence.lengths),
            components={
                **{name: holes(values) for name, values in evidence.components.items()},
                "never": np.full(len(evidence.steps), np.nan),
            },
            advantages=holes(evidence.totals),
            outcomes={},
            monitored=frozenset({"never", "exact"}),
            gates={"never": (np.arange(3), np.full(3, np.nan))},
        )
    )


@settings(max_examples=15, deadline=None)
@given(st.lists(st.text(max_size=60), min_size=1, max_size=6), st.integers(0, 2**31))
def test_hostile_texts_raise_no_error(texts: list[str], seed: int) -> None:
    draw = np.random.default_rng(seed)
    size = 640
    own = [texts[at] for at in draw.integers(0, len(texts), size).tolist()]
    own[0], own[1] = "\ud800 \u202e \x00 <script>", "x " * 200_000
    evidence = Evidence(
        np.repeat(np.arange(20), 32), np.tile(np.repeat(np.arange(8), 4), 20), draw.random(size),
        completions=own, prompt_texts=own[::-1],
    )  # fmt: skip
    for alert in suspicious(evidence):
        assert "\x00" not in alert.title + alert.text
