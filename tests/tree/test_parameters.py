"""Parameters: what a signature asks for, and errors that suggest a fix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import pytest
from pydantic import BaseModel

import rewardkit as rk
from rewardkit.tree.evaluation.scorer import Scorer
from rewardkit.tree.parameters import Parameter


@pytest.mark.parametrize(
    ("column", "hint"),
    [
        ("anser", "Did you mean 'answer'?"),
        ("completions", "name the argument `completion`"),
        ("prompts", "name the argument `prompt`"),
        ("response", "name the argument `completion`"),
        ("output", "name the argument `completion`"),
        ("answer_text", "Did you mean 'answer'?"),
    ],
)
def test_a_missing_column_suggests_similar_names_and_replacements_for_trl_arguments(column: str, hint: str) -> None:
    namespace: dict[str, Any] = {}
    exec(f"def close({column}): return 1.0", namespace)
    with pytest.raises(rk.errors.BindingError, match="reward 'close' needs the column") as caught:
        rk.score(rk.reward(namespace["close"]), ["a"], answer=["b"])
    assert column in str(caught.value)
    assert "Columns: answer." in str(caught.value)
    assert hint.lower() in str(caught.value).lower()
    # A column may be mapped; a misnamed argument must be renamed.
    assert ("with_columns" in str(caught.value)) == ("Did you mean" in hint)


def test_an_argument_next_to_the_completion_is_not_taken_for_it() -> None:
    @rk.reward
    def close(completion: str, response: str) -> float:
        return float(completion == response)

    with pytest.raises(rk.errors.BindingError) as caught:
        rk.score(close, ["a"], answer=["b"])
    assert "`completion`" not in str(caught.value)
    assert "with_columns(response=" in str(caught.value)


def test_keyword_catch_alls_are_refused_when_the_reward_is_made() -> None:
    def trl_style(completions: list[str], **kwargs: Any) -> list[float]:
        return [1.0]

    def starred(*completion: str) -> float:
        return 1.0

    with pytest.raises(rk.RewardDefinitionError, match=r"'trl_style' has the argument \*\*kwargs.*rk.from_trl"):
        rk.reward(trl_style)
    with pytest.raises(rk.RewardDefinitionError, match=r"'starred' has the argument \*completion"):
        rk.reward(starred)


@pytest.mark.parametrize(("argument", "what"), [("prompt", "prompts"), ("completion_ids", "completion_ids")])
def test_missing_prompts_and_token_ids_are_an_error(argument: str, what: str) -> None:
    namespace: dict[str, Any] = {}
    exec(f"def close({argument}): return 1.0", namespace)
    with pytest.raises(rk.errors.BindingError, match=f"'close' .*{what}"):
        rk.score(rk.reward(namespace["close"]), ["a"])


def test_annotations_that_cannot_be_resolved_say_where_to_define_them() -> None:
    def close(completion: str, answer: Missing) -> float:  # type: ignore[name-defined]  # noqa: F821
        return 1.0

    with pytest.raises(rk.RewardDefinitionError, match=r"annotations cannot be resolved.*Missing"):
        rk.reward(close)


def test_annotations_with_types_of_the_enclosing_function_resolve() -> None:
    class Invoice(BaseModel):
        total: float

    @rk.reward
    def close(completion: str, invoice: Invoice) -> float:
        return invoice.total

    assert rk.score(close, ["a"], invoice=['{"total": 0.5}']).total.tolist() == [0.5]


def test_a_group_argument_without_a_list_annotation_says_what_to_write() -> None:
    with pytest.raises(rk.RewardDefinitionError, match=r"'answer'.*Annotate it as list\[float\]"):

        @rk.reward(scope="group")
        def spread(completion: list[str], answer: float) -> list[float]:
            return [answer]


def test_parameters_with_different_parsers_differ() -> None:
    first = Parameter("gold", "answer", annotation=Annotated[str, 1])
    assert first != Parameter("gold", "answer", annotation=Annotated[str, 2])
    assert first == Parameter("gold", "answer", annotation=Annotated[str, 1])
    unhashable = Parameter("gold", "answer", annotation=Annotated[int, {"unit": "m"}])
    assert isinstance(hash(unhashable), int)


def test_a_reward_with_an_unhashable_annotation_scores() -> None:
    @rk.reward
    def close(completion: str, answer: Annotated[int, {"unit": "m"}]) -> float:
        return answer / 10

    assert Scorer(close).score(rk.Batch(["a"], columns={"answer": ["5"]})).total.tolist() == [0.5]


@pytest.mark.parametrize("scope", ["group", "batch"])
@pytest.mark.parametrize("name", ["completions", "prompts"])
def test_a_function_of_lists_is_told_the_singular_name_and_what_it_holds(scope: Any, name: str) -> None:
    namespace: dict[str, Any] = {}
    exec(f"def longest({name}):\n    return [1.0 for _ in {name}]", namespace)
    with pytest.raises(rk.errors.BindingError) as caught:
        rk.score(rk.reward(scope=scope)(namespace["longest"]), ["a"], prompts=["p"])
    assert f"scope={scope!r}" in str(caught.value)
    assert f"`{name[:-1]}`" in str(caught.value)
    assert "once per completion" not in str(caught.value)


def annotated(name: str, annotation: Any, scope: Any = "sample") -> rk.Reward:
    namespace: dict[str, Any] = {}
    exec(f"def asks({name}): return 1.0", namespace)
    namespace["asks"].__annotations__[name] = annotation
    return rk.reward(scope=scope)(namespace["asks"])


@pytest.mark.parametrize("annotation", [list, list[dict[str, str]], Sequence[Any], dict[str, str], list[str] | None])
def test_a_completion_is_text_and_messages_have_another_name(annotation: Any) -> None:
    with pytest.raises(rk.RewardDefinitionError, match="`messages`"):
        annotated("completion", annotation)
    with pytest.raises(rk.RewardDefinitionError, match="Annotate `str`"):
        annotated("prompt", annotation)
    with pytest.raises(rk.RewardDefinitionError, match="`messages`"):
        annotated("completion", list[annotation], "group")


@pytest.mark.parametrize("annotation", [str, Any, object, str | list[str], Annotated[str, "text"]])
def test_annotations_that_take_text_are_fine(annotation: Any) -> None:
    assert rk.score(annotated("completion", annotation), ["a"]).total.tolist() == [1.0]
    annotated("completion", list[annotation], "group")


def test_messages_are_no_text() -> None:
    with pytest.raises(rk.RewardDefinitionError, match="`completion`"):
        annotated("messages", str)
    assert rk.score(annotated("messages", list), ["a"]).total.tolist() == [1.0]


def test_a_function_of_the_environment_is_told_where_it_belongs() -> None:
    @rk.reward
    def mine(environment, answer: str) -> float:  # type: ignore[no-untyped-def]
        return float(environment == answer)

    with pytest.raises(rk.errors.BindingError, match=r"rk\.agents\.final_state\(function\), without @rk\.reward"):
        rk.score(mine, ["42"], answer=["42"])
