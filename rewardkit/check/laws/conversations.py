"""Laws of conversations: the last turn of the prompt is the task, and only the assistant's own words count."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, cast

from rewardkit.check.completion.parsed_completion import Span, replaced
from rewardkit.check.laws.base import Skip, Variant, law, needs_good
from rewardkit.check.reward_under_test.judgment import Judged, judged
from rewardkit.check.reward_under_test.reward_under_test import RewardUnderTest
from rewardkit.check.reward_under_test.sweep import has_tools
from rewardkit.check.reward_under_test.trials import EQUAL, Trial, text_of
from rewardkit.check.variants.episodes.messages import has_calls
from rewardkit.errors import shorten

# "You may use the search tool" and "multi-turn" say that a task has tools or several turns. "Search for x" and "Which
# tool cuts wood?" do not.
_TOOLS = re.compile(
    r"(?i)\b(?:last|final) (?:assistant )?(?:message|turn)\b|\btool messages?\b|"
    r"\b(?:(?:may|can|must|should) (?:use|call)|access to|following|available|call(?:s|ed|ing)?)\b"
    r"[^.\n]{0,40}\btools?\b|\btool[ _]?(?:calls?|use)\b|\bfunction[ _]?calls?\b|</?tools?>|\bmulti-?turn\b|"
    r"\bseveral turns\b"
)


def _is_chat(prompt: object) -> bool:
    is_messages = isinstance(prompt, list) and all(isinstance(message, Mapping) for message in prompt)
    return is_messages and any(message.get("role") == "user" for message in cast("list[Mapping[str, Any]]", prompt))


def _is_for_agents(subject: RewardUnderTest) -> None:
    """Raise `Skip` unless the examples are conversations and the task has tools or several turns."""
    needs_good(subject)
    docs = [inspect.getdoc(inspect.unwrap(binding.original)) or "" for _, binding in subject.bindings]
    prompts = [example.prompt for example in subject.examples]
    about_tools = has_tools(subject) or any(_TOOLS.search(text) for text in (*docs, *map(str, prompts)))
    if not about_tools or not (subject.conversational or any(map(_is_chat, prompts))):
        raise Skip("no example is a chat, or no example shows that the task has tools or several turns")


def _searched(search_result: str) -> list[dict[str, Any]]:
    """Return the messages for a call to a search tool and its result."""
    call = {"type": "function", "function": {"name": "search", "arguments": "{}"}}
    return [
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "name": "search", "content": search_result},
    ]


@law(
    advice="Read only the last assistant message",
    skip="fewer than two examples have chat prompts",
    applies=needs_good,
    per=judged,
)
def earlier_turns_do_not_count(subject: RewardUnderTest, right: Judged) -> Iterator[Variant]:
    """A reward that reads the first question in a conversation judges the last answer by the wrong question.

    Another example's question is inserted before the prompt of each correct completion.
    """
    prompts = [example.prompt for example in subject.examples]
    own_prompt = prompts[right.example]
    for other in prompts:
        if other is own_prompt or not (_is_chat(own_prompt) and _is_chat(other)):
            continue
        questions = [message for message in other if message.get("role") == "user"]
        prompt = [*questions, {"role": "assistant", "content": "Certainly. Here it is."}, *own_prompt]
        explanation = "scores {score} if the conversation had an earlier question, {base} if not"
        yield Variant(replace(right.as_given, columns={"prompt": prompt}), explanation, "same")


@law(
    advice="Read only messages with the role assistant",
    skip="no completion is a chat, or no trial showed that the reward judges answers",
    applies=_is_for_agents,
    per=judged,
)
def only_the_assistant_is_paid(subject: RewardUnderTest, right: Judged) -> Iterator[Variant]:
    """If a tool may give the answer, the policy calls the tool until it runs out of turns, and never answers.

    A correct completion's text becomes a tool message at the end of a conversation with calls.
    """
    # A policy that writes its calls as text writes no other messages.
    if right.judges and subject.conversational and "tool_call" not in right.anatomy.text:
        message = "a tool's message scores {score}, the same as the assistant's message"
        yield Variant(Trial(_searched(text_of(right.completion)), right.example), message)


@law(advice="Read the last assistant message: completion[-1], not completion[0]", applies=_is_for_agents, per=judged)
def the_last_message_counts(subject: RewardUnderTest, right: Judged) -> Iterator[Variant]:
    """Agents call tools before they answer, so a reward that reads the first message never sees the answer.

    If the task has tools, a tool call and its result are inserted before the message of each correct completion.
    """
    if not has_calls(right.completion):  # otherwise its answer already follows calls
        answered = [*_searched("nothing found"), {"role": "assistant", "content": right.anatomy.text}]
        message = "after a tool call, a correct answer scores {score} instead of {base}"
        yield Variant(Trial(answered, right.example), message, "no less")


def _reads_prompts(subject: RewardUnderTest) -> None:
    """Raise `Skip` if the reward does not read prompts."""
    needs_good(subject)
    if not subject.reads_prompts:
        raise Skip("the reward does not read prompts")


@law(
    advice="Score the completion without its prompt",
    skip="no correct completion contains a mark",
    applies=_reads_prompts,
    per=judged,
)
def only_the_completion_counts(subject: RewardUnderTest, right: Judged) -> Iterator[Variant]:
    """A reward that also searches the prompt counts the examples in it as the policy's answer.

    The marked part of a correct completion is moved into the prompt. The completion must not score higher than with a
    prompt that lacks the marked part. That prompt also lacks its examples with the same tag, unless the reward expects
    them: then the correct completion itself scores differently without them.
    """
    prompt = subject.examples[right.example].prompt
    for mark in _marked_parts(right) if prompt is not None else ():
        marked = mark.of(right.anatomy.text)
        unmarked = right.trial(replaced(right.anatomy.text, [(mark, "")]))
        bare = {"prompt": _bare(prompt, marked)}
        (score,) = subject.see([replace(right.as_given, columns=bare)])
        without = replace(unmarked, columns=bare) if score.same(right.seen) else unmarked
        with_mark = replace(unmarked, columns={"prompt": _with_more(prompt, f"For example: {marked}")})
        message = f"without {shorten(marked)} it scores {{base}}, but {{score}} if the prompt has it"
        yield Variant(with_mark, message, "no more", without, EQUAL)


def _marked_parts(right: Judged) -> list[Span]:
    blocks = [block.whole for block in right.anatomy.blocks]
    return blocks or ([right.anatomy.region] if right.anatomy.marked else [])


def _bare(prompt: Any, marked: str) -> Any:
    """Return the prompt without the examples in the tag of `marked`."""
    if isinstance(prompt, list):
        return [
            {**message, "content": _bare(message["content"], marked)} if "content" in message else message
            for message in prompt
        ]
    tag = re.match(r"<([A-Za-z_]\w*)>", marked)
    # A tag with a body, such as "<answer>42</answer>", which a reward may read as an answer.
    name = tag[1] if tag is not None else r"[A-Za-z_]\w*"
    return re.sub(rf"<({name})>[^<]*</\1>", "", prompt) if isinstance(prompt, str) else prompt


def _with_more(prompt: Any, text: str) -> Any:
    """Return the prompt with `text` added at its end."""
    if isinstance(prompt, str):
        return f"{prompt}\n{text}\n"
    if isinstance(prompt, list) and prompt and isinstance(prompt[-1].get("content"), str):
        return [*prompt[:-1], {**prompt[-1], "content": f"{prompt[-1]['content']}\n{text}"}]
    return prompt
