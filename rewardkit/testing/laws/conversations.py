"""Laws of conversations: the last turn of the prompt is the task, and only the assistant's own words are paid."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator

from rewardkit.testing.findings import Finding
from rewardkit.testing.judgment import Judged, judged
from rewardkit.testing.laws.base import Skip, finding, law
from rewardkit.testing.laws.golds import needs_good
from rewardkit.testing.subject import Subject
from rewardkit.testing.trials import Trial, text_of

_AGENTS = re.compile(r"(?i)\b(?:tool|agent|turns?|calculator|search|browser|function call)s?\b")
_LONGER = "and so it goes on with one more word after the other until nobody listens " * 60


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
    return isinstance(prompt, list) and any(one.get("role") == "user" for one in prompt)


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
def length_is_of_the_text(subject: Subject) -> Iterator[Finding]:
    """``len(completion)`` of chat messages is their number, so a limit of length never acts.

    If the code takes the length of what it reads messages from, many words are added to a right completion.
    """
    needs_good(subject)
    is_chat = subject.conversational or any(_is_chat(example.prompt) for example in subject.examples)
    if not subject.smells.counts_messages or not is_chat:
        raise Skip("the code takes no length of messages")
    for right in judged(subject):
        trial = _with_words(right)
        (seen,) = subject.see([trial])
        if seen.same(right.seen):
            why = f"earns {seen.value:.6g} with {len(_LONGER.split())} more words, as without: the code counts messages"
            yield finding("length_is_of_the_text", subject, trial, seen, why)
            return


def _with_words(right: Judged) -> Trial:
    return right.trial(f"{_LONGER}\n{right.anatomy.text}")


ALL = (earlier_turns_do_not_count, only_the_assistant_is_paid, length_is_of_the_text)
