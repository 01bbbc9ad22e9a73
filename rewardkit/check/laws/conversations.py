"""Laws of conversations: the last turn of the prompt is the task, and only the assistant's own words are paid."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

from rewardkit.check.completion.anatomy import Span, replaced
from rewardkit.check.findings import Finding
from rewardkit.check.laws.base import Skip, finding, law
from rewardkit.check.laws.golds import needs_good
from rewardkit.check.reward_under_test.judgment import Judged, judged
from rewardkit.check.reward_under_test.subject import Subject
from rewardkit.check.reward_under_test.trials import EQUAL, Trial, text_of
from rewardkit.check.variants.episodes.messages import has_calls
from rewardkit.errors import shorten

_AGENTS = re.compile(
    r"(?i)\b(?:tool|agent|multi-?turn|turns of|several turn|calculator|search|browser|function call)s?\b"
)


@law
def earlier_turns_do_not_count(subject: Subject) -> Iterator[Finding]:
    """A reward that reads the first question of a conversation judges the answer to the last one by it.

    An earlier question, that of another example, is put before the prompt of each right completion.
    """
    needs_good(subject)
    looked = False
    prompts = [example.prompt for example in subject.examples]
    for right in judged(subject):
        own = prompts[right.example]
        for other in prompts:
            if other is own or not (_is_chat(own) and _is_chat(other)):
                continue
            looked = True
            asked = [one for one in other if one.get("role") == "user"]
            earlier = [*asked, {"role": "assistant", "content": "Certainly. Here it is."}]
            trial = Trial(right.completion, right.example, {"prompt": [*earlier, *own]})
            (seen,) = subject.see([trial])
            if not seen.same(right.seen):
                why = f"earns {seen.value:.6g} if the conversation had an earlier question, {right.value:.6g} if not"
                yield finding("earlier_turns_do_not_count", subject, trial, seen, why)
                return
    if not looked:
        raise Skip("fewer than two examples have chat prompts")


def _is_chat(prompt: object) -> bool:
    is_messages = isinstance(prompt, list) and all(isinstance(one, Mapping) for one in prompt)
    return is_messages and any(one.get("role") == "user" for one in cast("list[Mapping[str, Any]]", prompt))


@law
def only_the_assistant_is_paid(subject: Subject) -> Iterator[Finding]:
    """If the answer may come from a tool, the policy calls it until the turns run out, and never answers.

    What a right completion says is put into the message of a tool, at the end of a conversation with calls.
    """
    needs_good(subject)
    if not subject.conversational or not _about_agents(subject):
        raise Skip("no examples are chat, or nothing says that the task has tools or several turns")
    for right in judged(subject):
        if not right.judges:
            continue
        call = {"type": "function", "function": {"name": "search", "arguments": "{}"}}
        trial = Trial(
            [
                {"role": "assistant", "content": "", "tool_calls": [call]},
                {"role": "tool", "name": "search", "content": text_of(right.completion)},
            ],
            right.example,
        )
        (seen,) = subject.see([trial])
        if right.paid(seen):
            why = f"the words of a tool earn {seen.value:.6g}, like those of the assistant"
            yield finding("only_the_assistant_is_paid", subject, trial, seen, why)
            return


def _about_agents(subject: Subject) -> bool:
    docs = [inspect.getdoc(inspect.unwrap(binding.original)) or "" for _, binding in subject.bindings]
    return any(_AGENTS.search(text) for text in (*docs, *(str(example.prompt) for example in subject.examples)))


@law
def the_last_message_counts(subject: Subject) -> Iterator[Finding]:
    """An agent calls its tools first: a reward that reads the first message never sees the answer.

    A call and the result of a tool are put before the message of each right completion, where the task has tools.
    """
    needs_good(subject)
    prompts = [example.prompt for example in subject.examples]
    if not _about_agents(subject) or not (subject.conversational or any(map(_is_chat, prompts))):
        raise Skip("no examples are chat, or nothing says that the task has tools or several turns")
    for right in judged(subject):
        if has_calls(right.completion):
            continue  # its answer is behind calls as it is
        call = {"type": "function", "function": {"name": "search", "arguments": "{}"}}
        trial = Trial(
            [
                {"role": "assistant", "content": "", "tool_calls": [call]},
                {"role": "tool", "name": "search", "content": "nothing found"},
                {"role": "assistant", "content": right.anatomy.text},
            ],
            right.example,
        )
        (seen,) = subject.see([trial])
        if seen.scored and seen.value < right.value - EQUAL:
            why = f"behind a call of a tool, a right answer earns {seen.value:.6g} instead of {right.value:.6g}"
            yield finding("the_last_message_counts", subject, trial, seen, why)
            return


@law
def only_the_completion_counts(subject: Subject) -> Iterator[Finding]:
    """A reward that searches in the prompt, too, pays for the examples in it.

    What a right completion marks is put into the prompt instead of the completion. It must not earn more than without.
    """
    needs_good(subject)
    if not subject.reads_prompts:
        raise Skip("the reward does not read prompts")
    looked = False
    for right in judged(subject):
        prompt = subject.examples[right.example].prompt
        for mark in _marked_parts(right):
            looked = looked or prompt is not None
            completion = right.trial(replaced(right.anatomy.text, [(mark, "")])).completion
            told = _with_more(prompt, f"For example: {mark.of(right.anatomy.text)}")
            without, trial = (Trial(completion, right.example, {"prompt": one}) for one in (_bare(prompt), told))
            plain, seen = subject.see([without, trial])
            if plain.scored and seen.scored and seen.value > plain.value + EQUAL:
                said = shorten(mark.of(right.anatomy.text))
                why = f"without {said} it earns {plain.value:.6g}, but {seen.value:.6g} if the prompt has it"
                yield finding("only_the_completion_counts", subject, trial, seen, why)
                return
    if not looked:
        raise Skip("no right completion has a mark")


def _marked_parts(right: Judged) -> list[Span]:
    blocks = [block.whole for block in right.anatomy.blocks]
    return blocks or ([right.anatomy.region] if right.anatomy.marked else [])


def _bare(prompt: Any) -> Any:
    """Return a prompt without the examples in it that are in tags."""
    if isinstance(prompt, list):
        return [{**one, "content": _bare(one["content"])} if "content" in one else one for one in prompt]
    return re.sub(r"<([A-Za-z_]\w*)>[^<]*</\1>", "", prompt) if isinstance(prompt, str) else prompt


def _with_more(prompt: Any, text: str) -> Any:
    """Return a prompt with a text at its end."""
    if isinstance(prompt, str):
        return f"{prompt}\n{text}\n"
    if isinstance(prompt, list) and prompt and isinstance(prompt[-1].get("content"), str):
        return [*prompt[:-1], {**prompt[-1], "content": f"{prompt[-1]['content']}\n{text}"}]
    return prompt


ALL = (earlier_turns_do_not_count, only_the_assistant_is_paid, the_last_message_counts, only_the_completion_counts)
