"""The task of the tiny model: deterministic, and held-out orders never occur in training."""

from __future__ import annotations

import json

import jsonschema_rs
import pytest

from rewardkit_adapters.runner.tiny.make import ORDER_SCHEMA, Split, as_columns, demonstrations, examples

SPLITS: tuple[Split, ...] = ("demonstrations", "training", "held-out")


@pytest.mark.parametrize("split", SPLITS)
def test_a_seed_gives_the_same_examples_and_another_one_others(split: Split) -> None:
    assert examples(50, seed=3, split=split) == examples(50, seed=3, split=split)
    assert examples(50, seed=3, split=split) != examples(50, seed=4, split=split)


def test_no_held_out_order_occurs_in_training_or_demonstrations() -> None:
    held_out = {example.order for example in examples(500, seed=0, split="held-out")}
    for split in ("demonstrations", "training"):
        for seed in (0, 1):
            assert held_out.isdisjoint(example.order for example in examples(2_000, seed=seed, split=split))


def test_gold_orders_fulfil_the_schema() -> None:
    for gold in as_columns(examples(100, seed=0, split="training"))["order"]:
        assert jsonschema_rs.is_valid(ORDER_SCHEMA, json.loads(gold))


def test_the_prompt_names_everything_in_the_order() -> None:
    for example in examples(100, seed=1, split="training"):
        order = example.order
        assert all(str(part) in example.prompt for part in (order.name, order.qty, order.item, order.color))


def test_demonstrations_are_sloppy_but_not_hopeless() -> None:
    golds = [example.order.to_json() for example in examples(2_000, seed=0, split="demonstrations")]
    answers = [completion for _, completion in demonstrations(2_000, seed=0)]
    exact = sum(answer == gold for answer, gold in zip(answers, golds, strict=True)) / len(golds)
    assert 0.02 < exact < 0.2
