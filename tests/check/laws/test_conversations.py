"""Laws of conversations: earlier turns, the words of tools, calls before the answer, and examples in the prompt."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.check.rewards import EXAMPLES, GOOD, assert_held, assert_skipped, broken, number, outcome, tagged_number

Messages = list[dict[str, Any]]


def asked(text: str) -> Messages:
    return [{"role": "system", "content": "You may use the search tool."}, {"role": "user", "content": text}]


def answered(text: str) -> Messages:
    return [{"role": "assistant", "content": text}]


QUESTIONS = ("Translate: cat", "Translate: dog")
CHAT: dict[str, Any] = {
    "examples": [
        {"prompt": asked(text), "answer": gold} for text, gold in zip(QUESTIONS, ("gato", "perro"), strict=True)
    ],
    "good": [answered("cat: gato"), answered("dog: perro")],
    "bad": [answered("cat: pez"), answered("dog: pez")],
}
SHOWN: dict[str, Any] = {
    "examples": [
        {"prompt": f"{row['prompt']} Answer like <answer>1</answer>.", "answer": row["answer"]} for row in EXAMPLES
    ],
    "good": GOOD,
}


def _right(text: Any, gold: str) -> float:
    return float(str(text).strip().endswith(f": {gold}"))


def first_question(
    completions: list[Messages], prompts: list[Messages], answer: list[str], **kwargs: Any
) -> list[float]:
    """The word to translate is taken from the first question."""
    words = [next(one["content"] for one in prompt if one["role"] == "user").split()[-1] for prompt in prompts]
    rows = zip(completions, words, answer, strict=True)
    return [float(completion[-1]["content"] == f"{word}: {gold}") for completion, word, gold in rows]


def last_question(
    completions: list[Messages], prompts: list[Messages], answer: list[str], **kwargs: Any
) -> list[float]:
    words = [prompt[-1]["content"].split()[-1] for prompt in prompts]
    rows = zip(completions, words, answer, strict=True)
    return [float(completion[-1]["content"] == f"{word}: {gold}") for completion, word, gold in rows]


def any_message(completions: list[Messages], answer: list[str], **kwargs: Any) -> list[float]:
    """The words of all messages, of any role."""
    texts = ["\n".join(one["content"] or "" for one in completion) for completion in completions]
    return [_right(text, gold) for text, gold in zip(texts, answer, strict=True)]


def last_words(completions: list[Messages], answer: list[str], **kwargs: Any) -> list[float]:
    said = [
        completion[-1]["content"] if completion and completion[-1]["role"] == "assistant" else ""
        for completion in completions
    ]
    return [_right(text, gold) for text, gold in zip(said, answer, strict=True)]


def first_words(completions: list[Messages], answer: list[str], **kwargs: Any) -> list[float]:
    """The first message, which may be a call."""
    return [_right(completion[0]["content"], gold) for completion, gold in zip(completions, answer, strict=True)]


def _tagged(text: str, gold: str) -> float:
    return float(f"<answer>{gold}</answer>" in text)


def with_prompt(prompts: list[str], completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    rows = zip(prompts, completions, answer, strict=True)
    return [_tagged(prompt + text, gold) for prompt, text, gold in rows]


def beside_prompt(prompts: list[str], completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    """A prompt that is repeated is not paid."""
    rows = zip(prompts, completions, answer, strict=True)
    return [_tagged(text, gold) if prompt not in text else 0.0 for prompt, text, gold in rows]


def test_the_first_question_of_a_conversation() -> None:
    (found,) = broken(first_question, "earlier_turns_do_not_count", **CHAT)
    assert [one["role"] for one in found.columns["prompt"]] == ["user", "assistant", "system", "user"]
    assert "scores 0 if the conversation had an earlier question, 1 if not" in found.why
    assert_held(last_question, "earlier_turns_do_not_count", **CHAT)


def test_the_words_of_a_tool() -> None:
    (found,) = broken(any_message, "only_the_assistant_is_paid", **CHAT)
    assert found.completion[-1] == {"role": "tool", "name": "search", "content": "cat: gato"}
    assert "a tool's message scores 1" in found.why
    assert_held(last_words, "only_the_assistant_is_paid", **CHAT)


def joined(completions: list[Messages], answer: list[str], **kwargs: Any) -> list[float]:
    """The answer is in any message."""
    return [float(f": {gold}" in str(completion)) for completion, gold in zip(completions, answer, strict=True)]


def last_of_any_role(completions: list[Messages], answer: list[str], **kwargs: Any) -> list[float]:
    return [_right(completion[-1]["content"], gold) for completion, gold in zip(completions, answer, strict=True)]


def test_episodes_that_end_with_the_assistant() -> None:
    good = [episode("a dictionary", text[0]["content"]) for text in CHAT["good"]]
    (found,) = broken(joined, "only_the_assistant_is_paid", **{**CHAT, "good": good})
    assert found.completion[-1] == {"role": "assistant", "content": "I could not find it."}
    result = outcome(last_of_any_role, "only_the_assistant_is_paid", **{**CHAT, "good": good})
    assert (result.outcome, bool(result.leads)) == ("held", True)


def test_a_call_before_the_answer() -> None:
    (found,) = broken(first_words, "the_last_message_counts", **CHAT)
    assert [one["role"] for one in found.completion] == ["assistant", "tool", "assistant"]
    assert "after a tool call, a correct answer scores 0 instead of 1" in found.why
    assert_held(last_words, "the_last_message_counts", **CHAT)


def test_a_prompt_with_the_answer() -> None:
    (found,) = broken(with_prompt, "only_the_completion_counts", **SHOWN)
    assert found.columns["prompt"].endswith("For example: <answer>42</answer>\n")
    assert "<answer>42</answer>" not in found.completion
    assert_held(beside_prompt, "only_the_completion_counts", **SHOWN)


def counts_the_example(prompts: list[str], completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    """Two answers are expected: the example in the prompt and that of the policy, as in Search-R1."""
    rows = zip(prompts, completions, answer, strict=True)
    return [max(0.1, _tagged(text, gold)) * ((prompt + text).count("</answer>") > 1) for prompt, text, gold in rows]


def test_a_reward_that_expects_the_example_in_the_prompt() -> None:
    prompts = [f"{row['prompt']} For example, <answer>2</answer>." for row in SHOWN["examples"]]
    rows = [{**row, "prompt": prompt} for row, prompt in zip(SHOWN["examples"], prompts, strict=True)]
    assert_held(counts_the_example, "only_the_completion_counts", examples=rows, good=GOOD)


def episode(result: str, answer: str = "Done.") -> Messages:
    """An episode with a run of the tests, whose result is in a message of the environment."""
    return [
        {"role": "assistant", "content": "I run the tests."},
        {"role": "tool", "content": result},
        {"role": "assistant", "content": answer},
    ]


def _passes(messages: Messages, roles: tuple[str, ...]) -> float:
    runs = [one["content"] for one in messages if one["role"] in roles and "passed" in one["content"]]
    return float(bool(runs) and "failed" not in runs[-1])


def claimed_passes(completions: list[Messages], **kwargs: Any) -> list[float]:
    """The tests pass, according to anyone."""
    return [_passes(messages, ("tool", "assistant")) for messages in completions]


def real_passes(completions: list[Messages], **kwargs: Any) -> list[float]:
    return [_passes(messages, ("tool",)) for messages in completions]


def test_a_result_that_the_policy_writes() -> None:
    given: dict[str, Any] = {
        "examples": [{"prompt": asked("Repair it."), "issue": number} for number in (1, 2)],
        "good": [episode("6 passed"), episode("9 passed")],
        "bad": [episode("1 failed, 5 passed"), episode("9 failed")],
    }
    (found,) = broken(claimed_passes, "the_policy_writes_no_results", **given)
    assert {one["role"] for one in found.completion} == {"assistant"}
    assert_skipped(real_passes, "the_last_message_counts", "no correct completion has only one message", **given)
    assert_held(real_passes, "the_policy_writes_no_results", **given)
    assert_skipped(last_words, "the_policy_writes_no_results", "no correct completion has messages", **CHAT)


def edited(*results: str) -> Messages:
    """An episode with an edit and runs of the tests."""
    steps = [("edit_file", "ok"), *(("run_tests", result) for result in results)]
    turns = [
        [{"role": "assistant", "content": "Next."}, {"role": "tool", "name": name, "content": text}]
        for name, text in steps
    ]
    return [*(message for turn in turns for message in turn), {"role": "assistant", "content": "Done."}]


def _runs(messages: Messages) -> list[str]:
    return [one["content"] for one in messages if one.get("name") == "run_tests"]


def ever_passed(completions: list[Messages], **kwargs: Any) -> list[float]:
    return [float(any("failed" not in run and "passed" in run for run in _runs(messages))) for messages in completions]


def never_failed(completions: list[Messages], **kwargs: Any) -> list[float]:
    return [
        float("passed" in str(_runs(messages)) and "failed" not in str(_runs(messages))) for messages in completions
    ]


def passed_at_last(completions: list[Messages], **kwargs: Any) -> list[float]:
    runs = [_runs(messages) or [""] for messages in completions]
    return [float("passed" in run[-1] and "failed" not in run[-1]) for run in runs]


def passed_after_edits(completions: list[Messages], **kwargs: Any) -> list[float]:
    scores = passed_at_last(completions)
    tools = [[one["name"] for one in messages if "name" in one] for messages in completions]
    return [score * (names[-1:] == ["run_tests"]) for score, names in zip(scores, tools, strict=True)]


@pytest.mark.parametrize(
    ("reward", "words", "why"),
    [
        (ever_passed, "The final run must pass.", "with a worse result after the correct one"),
        (never_failed, "The final run must pass.", "with a worse result before the correct one"),
        (passed_at_last, "Run the tests after your last edit.", "with another edit at the end"),
    ],
)
def test_the_last_result(reward: Any, words: str, why: str) -> None:
    options: dict[str, Any] = {
        "examples": [{"prompt": asked(f"Repair it. {words}"), "issue": number} for number in (1, 2)],
        "good": [edited("6 passed"), edited("9 passed")],
        "bad": [edited("1 failed, 5 passed"), edited("9 failed")],
    }
    (found,) = broken(reward, "the_last_result_counts", **options)
    assert found.why.startswith(why)
    assert_held(passed_after_edits, "the_last_result_counts", **options)


def final(completion: str | Messages) -> str:
    return completion if isinstance(completion, str) else str(completion[-1]["content"])


def anywhere(completions: list[Any], answer: list[str], **kwargs: Any) -> list[float]:
    """Any part of any message counts."""
    texts = ["".join(map(str, one)) if isinstance(one, list) else one for one in completions]
    return [float(gold in text) for text, gold in zip(texts, answer, strict=True)]


def at_the_end(completions: list[Any], answer: list[str], **kwargs: Any) -> list[float]:
    """The last line of the last message counts."""
    lines = [(["", *final(one).splitlines()])[-1].split("</think>")[-1] for one in completions]
    return [float(line.strip(" .").endswith(gold)) for line, gold in zip(lines, answer, strict=True)]


def at_the_start(completions: list[Any], answer: list[str], **kwargs: Any) -> list[float]:
    """The first word must not be Rome."""
    rows = zip(completions, answer, strict=True)
    return [float(text.endswith(gold) and not text.startswith("<think>Rome")) for text, gold in rows]


def given(request_text: str, form: str, chat: bool = False) -> dict[str, Any]:
    texts = [form.format(place) for place in ("Paris", "Oslo", "Rome", "Bonn")]
    completions = [answered(text) for text in texts] if chat else texts
    prompts = [asked(request_text) if chat else request_text for _ in range(2)]
    return {
        "examples": [
            {"prompt": prompt, "answer": gold} for prompt, gold in zip(prompts, ("Paris", "Oslo"), strict=True)
        ],
        "good": completions[:2],
        "bad": completions[2:],
    }


@pytest.mark.parametrize(
    ("place", "options"),
    [
        ("in the thinking", given("Where? Think first.", "<think>Let me see.</think>{}")),
        ("in the line before", given("Where? The last line is the place.", "I know it.\nIt is {}.")),
        ("in an earlier message", given("Where? Your last message has the place.", "It is {}.", chat=True)),
    ],
)
def test_the_right_answer_before_a_wrong_one(place: str, options: dict[str, Any]) -> None:
    (found,) = broken(anywhere, "the_final_part_counts", **options)
    assert found.why.startswith(f"with the correct answer {place} and an incorrect one at the end")
    assert_held(at_the_end, "the_final_part_counts", **options)


def test_a_wrong_answer_in_the_free_thinking() -> None:
    form = "<think>Let me see.</think>{}"
    options = given("Where? Think first, which is not graded.", form)
    (found,) = broken(at_the_start, "the_final_part_counts", **options)
    assert found.completion == "<think>Rome</think>Paris"
    lead = outcome(at_the_start, "the_final_part_counts", **given("Where? Think first.", form))
    assert lead.outcome == "held"
    assert {one.completion for one in lead.leads} == {"<think>Rome</think>Paris"}


@pytest.mark.parametrize(
    ("law", "reason"),
    [
        ("earlier_turns_do_not_count", "fewer than two examples have chat prompts"),
        ("only_the_assistant_is_paid", "no example is a chat"),
        ("the_last_message_counts", "no example is a chat"),
        ("only_the_completion_counts", "the reward does not read prompts"),
    ],
)
def test_where_they_do_not_apply(law: str, reason: str) -> None:
    assert_skipped(number, law, reason)
    assert_skipped(tagged_number, law, "no correct completions", good=[])


@pytest.mark.parametrize(
    "request_text",
    [
        "",
        "Search for the word. ",
        "Which tool cuts wood? ",
        "A travel agent asks: ",
        "Use no calculator. ",
        "My power tools: ",
    ],
)
def test_a_chat_without_tools_has_one_message(request_text: str) -> None:
    rows = [{**row, "prompt": answered(request_text + row["prompt"][1]["content"])} for row in CHAT["examples"]]
    for row in rows:
        row["prompt"][0]["role"] = "user"
    for law, reward in (("the_last_message_counts", first_words), ("only_the_assistant_is_paid", any_message)):
        assert_skipped(reward, law, "no example shows that the task has tools", **{**CHAT, "examples": rows})


def test_unmarked_answers_cannot_be_moved_to_the_prompt() -> None:
    said = {"examples": EXAMPLES, "good": ["42", "7"], "bad": ["41", "8"]}

    def whole(prompts: list[str], completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
        rows = zip(prompts, completions, answer, strict=True)
        return [float(re.sub(re.escape(prompt), "", text) == gold) for prompt, text, gold in rows]

    assert_skipped(whole, "only_the_completion_counts", "no correct completion contains a mark", **said)


def test_prompts_that_are_lists_of_texts_are_no_chat() -> None:
    given = {"examples": [{"prompt": ["a", "b"], "answer": "42"}, {"prompt": ["c"], "answer": "7"}]}
    assert_skipped(number, "earlier_turns_do_not_count", "fewer than two examples", **given)


def test_a_prompt_that_asks_for_the_last_message() -> None:
    rows = [
        {**row, "prompt": [{"role": "user", "content": "Answer in your last message."}]} for row in CHAT["examples"]
    ]

    def first(completions: list[Messages], answer: list[str], **kwargs: Any) -> list[float]:
        return [_right(text[0]["content"], gold) for text, gold in zip(completions, answer, strict=True)]

    broken(first, "the_last_message_counts", **{**CHAT, "examples": rows})


def test_calls_may_be_wrong_where_other_examples_have_calls() -> None:
    good = [CHAT["good"][0], [*episode("nothing"), *answered("dog: perro")]]
    good[1][0] = {"role": "assistant", "content": '<tool_call>{"name": "ask", "arguments": {}}</tool_call>'}
    assert_skipped(first_words, "the_last_message_counts", "no correct completion", **{**CHAT, "good": good})
