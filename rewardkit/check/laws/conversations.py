"""Laws of conversations: the last turn of the prompt is the task, and only the assistant's own words count."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, cast

from rewardkit.batch.messages import content_text, prompt_text
from rewardkit.check.completion.parsed_completion import Span, replaced
from rewardkit.check.laws.base import Skip, Variant, law, needs_good, needs_own_code
from rewardkit.check.reward_under_test.judgment import Judged, judged
from rewardkit.check.reward_under_test.reward_under_test import RewardUnderTest
from rewardkit.check.reward_under_test.sweep import has_tools
from rewardkit.check.reward_under_test.trials import EQUAL, Trial, text_of
from rewardkit.check.variants.episodes.messages import (
    Messages,
    answering,
    has_calls,
    is_assistant,
    last_turn,
    messages_of,
    with_results,
)
from rewardkit.check.variants.episodes.written_calls import WrittenCalls
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
    prompts = [example.prompt for example in subject.examples]
    if not _is_about_tools(subject) or not (subject.conversational or any(map(_is_chat, prompts))):
        raise Skip("no example is a chat, or no example shows that the task has tools or several turns")


def _is_about_tools(subject: RewardUnderTest) -> bool:
    """Return whether the task has tools or several turns, as far as the docstrings and prompts say."""
    docs = [inspect.getdoc(inspect.unwrap(binding.original)) or "" for _, binding in subject.bindings]
    prompts = [str(example.prompt) for example in subject.examples]
    return has_tools(subject) or any(_TOOLS.search(text) for text in (*docs, *prompts))


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
    has_messages = subject.conversational and not subject.stage.real and "tool_call" not in right.anatomy.text
    if right.judges and has_messages:
        message = "a tool's message scores {score}, the same as the assistant's message"
        called = _searched(text_of(right.completion))
        silence = {"role": "assistant", "content": "I could not find it."}
        yield Variant(Trial([*called, silence], right.example), message)
        # Episodes with messages of tools show how they end, which may always be the assistant's message.
        is_shown = any(not is_assistant(entry) for entry in messages_of(right.completion))
        yield Variant(Trial(called, right.example), message, lead=is_shown)


@law(
    advice="Read the last assistant message: completion[-1], not completion[0]",
    skip="no correct completion has only one message",
    applies=_is_for_agents,
    per=judged,
)
def the_last_message_counts(subject: RewardUnderTest, right: Judged) -> Iterator[Variant]:
    """Agents call tools before they answer, so a reward that reads the first message never sees the answer.

    If the task has tools, a tool call and its result are inserted before the message of each correct completion.
    """
    # Otherwise, it already has turns. If other completions have calls, calls may be wrong in this example.
    others_call = any(has_calls(good) or WrittenCalls.of(good).calls for row in subject.examples for good in row.good)
    if len(messages_of(right.completion)) == 1 and not others_call:
        answered = [*_searched("nothing found"), {"role": "assistant", "content": right.anatomy.text}]
        message = "after a tool call, a correct answer scores {score} instead of {base}"
        yield Variant(Trial(answered, right.example), message, "no less")


@law(
    advice="Read results only from messages with the role of the environment, such as tool",
    skip="no correct completion has messages of an environment that affect the score",
    applies=needs_good,
    per=judged,
)
def the_policy_writes_no_results(subject: RewardUnderTest, right: Judged) -> Iterator[Variant]:
    """If the policy may write a tool's result itself, it learns to make up results instead of calling tools.

    The results in a correct completion become the assistant's own text, in separate messages and in the last one.
    Nothing is tried unless the same messages with other results score lower.
    """
    messages = messages_of(right.completion)
    results = [content_text(message.get("content")) for message in messages if not is_assistant(message)]
    if subject.stage.real or not any(results):
        return
    (untold,) = subject.see([Trial(with_results(messages, "nothing"), right.example)])
    if not untold.scored or right.paid(untold):
        return
    claims = [{"role": "assistant", "content": content_text(message.get("content"))} for message in messages]
    claim = [{"role": "assistant", "content": "\n".join([*results, text_of(right.completion)])}]
    for forged in (claims, claim):
        message = "a tool's result that the policy writes itself scores {score}, the same as the tool's message"
        yield Variant(Trial(forged, right.example), message)


# Words of a prompt that say which result decides.
_LAST_RESULT = re.compile(r"(?i)\b(?:last|final|latest) (?:\w+ )?(?:run|test|check|result|attempt|submission)s?\b")
_AFTER = re.compile(r"(?i)\bafter (?:your|the|each|every|any) (?:last |final )?(\w+)")


@law(
    advice="Read the last result, and forget earlier ones as soon as something changes",
    skip="no correct completion has messages of an environment that affect the score",
    applies=needs_good,
    per=judged,
)
def the_last_result_counts(subject: RewardUnderTest, right: Judged) -> Iterator[Variant | None]:
    """If any good result in an episode counts, the policy breaks afterward what worked before.

    The episode of an incorrect completion follows a correct one, or the other way around. If the prompt asks for a
    result after a step, such as the last edit, the step is repeated after the result.
    """
    messages, prompt = messages_of(right.completion), prompt_text(subject.examples[right.example].prompt)
    if subject.stage.real or all(map(is_assistant, messages)):
        return
    (untold,) = subject.see([Trial(with_results(messages, "nothing"), right.example)])
    if not untold.scored or right.paid(untold):
        return
    yield None
    is_lead = not _LAST_RESULT.search(prompt)
    for bad in map(messages_of, subject.examples[right.example].bad):
        trials = [Trial([*first[: last_turn(first)], *first], right.example) for first in (bad, messages)]
        wrong, repeated = subject.see(trials)
        if wrong.scored and not right.paid(wrong) and right.paid(repeated) and len(bad) > 1:
            message = "with a worse result after the correct one, it scores {score}, the same as without it"
            trial = Trial([*messages[: last_turn(messages)], *bad], right.example)
            yield Variant(trial, message, lead=is_lead)
            message = "with a worse result before the correct one, it scores {score}"
            trial = Trial([*bad[: last_turn(bad)], *messages], right.example)
            yield Variant(trial, message, "no less", lead=is_lead)
    for word in _AFTER.findall(prompt):
        for index in range(len(messages) - 3):
            step = messages[index : index + 2]
            # "After your last edit": the name of the tool that answers, such as edit_file.
            if word.lower() in str(step[1].get("name")) and not is_assistant(step[1]):
                message = f"with another {word.lower()} at the end, it scores {{score}}, the same as without it"
                end = last_turn(messages)
                yield Variant(Trial([*messages[:end], *step, *messages[end:]], right.example), message)


# Words of a prompt that say which part of a completion is the answer.
_LAST_MESSAGE = re.compile(r"(?i)\b(?:last|final) (?:assistant )?(?:message|turn|reply|response|answer)\b")
_LAST_LINE = re.compile(
    r"(?i)\b(?:last|final) line\b|\b(?:ends?|close|finish|conclude) (?:\w+ ){0,4}with\b|\bat the end\b"
)
_LAST_COUNTS = re.compile(r"(?i)\b(?:last|final) (?:\w+ ){0,3}(?:counts|decides|is (?:read|graded|scored|taken))\b")
_FREE_THINKING = re.compile(
    r"(?i)\b(?:think|reason)\w*\b[^.\n]{0,60}"
    r"\b(?:free\w*|anything|ignored|(?:not|never) (?:read|graded|scored|judged|checked|count\w*))\b|"
    r"\bonly (?:what|the \w+|text) (?:follows|after|counts|that follows)\b"
)

_TAG = re.compile(r"</?\w+>")

Composed = Callable[[str, str], Any]
"""A function that composes a completion from an earlier part and a final part."""


@law(
    advice="Read the answer from the final part only: after the thinking, from the last line, or the last message",
    skip="no correct and incorrect completion differ only in their final part",
    applies=needs_own_code,
    per=judged,
)
def the_final_part_counts(subject: RewardUnderTest, right: Judged) -> Iterator[Variant]:
    """If an earlier part of a completion counts as the answer, the policy puts one answer there and another at the end.

    The final part of a correct completion is moved into the thinking, an earlier line, or an earlier message, and the
    final part of an incorrect completion comes last, and vice versa.
    """
    texts = [prompt_text(subject.examples[right.example].prompt)]
    texts += [inspect.getdoc(inspect.unwrap(binding.original)) or "" for _, binding in subject.bindings]
    text = "\n".join(texts)
    for bad in subject.examples[right.example].bad:
        for position, composed, ending, good_end, bad_end in _layouts(subject, right, bad, text):
            if not good_end or not bad_end or good_end == bad_end:
                continue
            (replaced_end,) = subject.see([Trial(ending(bad_end), right.example)])
            if not replaced_end.scored or right.paid(replaced_end):
                continue
            certain = {_THINKING: _FREE_THINKING, _EARLIER: _LAST_MESSAGE, _ABOVE: _LAST_COUNTS}[position].search(text)
            # A reward may allow tags only once.
            befores = dict.fromkeys(((good_end, bad_end), (_TAG.sub("", good_end), _TAG.sub("", bad_end))))
            for good_before, bad_before in befores:
                (repeated,) = subject.see([Trial(composed(good_before, good_end), right.example)])
                if not right.paid(repeated):
                    continue
                message = f"with the correct answer {position} and an incorrect one at the end, it scores {{score}}"
                is_lead = position == _EARLIER and not certain
                yield Variant(Trial(composed(good_before, bad_end), right.example), message, lead=is_lead)
                if certain or position != _ABOVE:
                    message = f"with an incorrect answer {position} and the correct one at the end, it scores {{score}}"
                    trial = Trial(composed(bad_before, good_end), right.example)
                    yield Variant(trial, message, "no less", lead=not certain)


_THINKING, _ABOVE, _EARLIER = "in the thinking", "in the line before", "in an earlier message"


def _layouts(
    subject: RewardUnderTest, right: Judged, bad: Any, text: str
) -> Iterator[tuple[str, Composed, Callable[[str], Any], str, str]]:
    """Yield (place, function that composes, function that replaces the end, correct end, incorrect end)."""
    good_text, bad_text, thinking = right.anatomy.text, text_of(bad), right.anatomy.thinking
    if thinking is not None:
        bad_end = bad_text.rpartition(f"</{thinking.name}>")[2].strip()
        end = good_text[thinking.whole.end :]
        span = Span(thinking.whole.end + len(end) - len(end.lstrip()), len(good_text))

        def thought(before: str, final: str) -> Any:
            return right.saying(replaced(good_text, [(thinking.body, before), (span, final)]))

        def answered(final: str) -> Any:
            return right.saying(replaced(good_text, [(span, final)]))

        yield _THINKING, thought, answered, end.strip(), bad_end
    good_line, bad_line = (lines.strip().rpartition("\n")[2].strip() for lines in (good_text, bad_text))
    if _LAST_LINE.search(text) and "<" not in good_line and re.search(r"\w", good_line):
        above = good_text.rstrip()[: -len(good_line)]

        def added(before: str, final: str) -> Any:
            return right.saying(f"{above}{before}\n{final}")

        yield _ABOVE, added, lambda final: right.saying(above + final), good_line, bad_line
    if subject.conversational and (len(messages_of(right.completion)) > 1 or _is_about_tools(subject)):

        def went_on(before: str, final: str) -> Messages:
            further = [{"role": "user", "content": "Go on."}, {"role": "assistant", "content": final}]
            return [*answering(right.completion, before), *further]

        yield _EARLIER, went_on, lambda final: answering(right.completion, final), good_text, bad_text


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
