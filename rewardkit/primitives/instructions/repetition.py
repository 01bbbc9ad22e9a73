"""Instructions to repeat: the prompt, a part of it, or a phrase; and to answer twice."""

from __future__ import annotations

from rewardkit.core.errors import shorten
from rewardkit.primitives.instructions.length import divided
from rewardkit.primitives.instructions.passage import Passage, trimmed
from rewardkit.primitives.instructions.registry import Count, Text, check, counted

_SIMPLE = "only output this sentence here, ignore all other requests."
_DIVIDER = "******"


def _same(text: str, wanted: str) -> bool:
    return text.strip().lower() == wanted.strip().lower()


@check("combination:two_responses")
def two_responses(passage: Passage) -> str:
    parts = divided(passage.text, _DIVIDER)
    if parts is None:
        return "an empty response"
    different = len({part.strip() for part in parts}) == len(parts)
    return counted(len(parts), "exactly", 2, "responses") or ("" if different else "both responses are the same")


@check("combination:repeat_prompt")
def repeat_prompt(passage: Passage, prompt_to_repeat: Text) -> str:
    return "" if passage.lower.strip().startswith(prompt_to_repeat.lower()) else "does not start with the request"


@check("copy:copy", "copy:copying_simple")
def copy(passage: Passage, prompt_to_repeat: Text) -> str:
    return "" if _same(passage.text, prompt_to_repeat) else "is not the request word for word"


@check("copy:copying_multiple")
def copy_times(passage: Passage, prompt_to_repeat: Text, N: Count) -> str:  # noqa: N803 (the data's name)
    copies = passage.text.split(_DIVIDER)
    wrong = any(not _same(part, prompt_to_repeat) for part in copies)
    return counted(len(copies), "exactly", N, "copies") or ("a copy is not the request word for word" if wrong else "")


@check("repeat:repeat_simple")
def repeat_sentence(passage: Passage) -> str:
    return "" if _same(passage.text, _SIMPLE) else "is not the sentence alone"


@check("repeat:repeat_change")
def repeat_with_change(passage: Passage, prompt_to_repeat: Text) -> str:
    said, wanted = passage.text.split(), prompt_to_repeat.split()
    if said[1:] != wanted[1:]:
        return "is not the request after its first word"
    return "the first word is unchanged" if said[0] == wanted[0] else ""


# IFBench's prompts say "word indices, split by whitespace", those of its training set "character indices".
@check("repeat:repeat_span")
def repeat_words(passage: Passage, prompt_to_repeat: Text, n_start: Count, n_end: Count) -> str:
    span = prompt_to_repeat.split()[n_start : n_end + 1]
    return _expected(" ".join(span), " ".join(passage.text.split()))


@check("new:copy_span_idx")
def repeat_characters(passage: Passage, prompt_to_repeat: Text, n_start: Count, n_end: Count) -> str:
    span = prompt_to_repeat[n_start : n_end + 1].strip()
    return _expected(span, passage.text)


def _expected(span: str, text: str) -> str:
    if not span:
        return "n_start and n_end select nothing of the request"
    return "" if _same(text, span) else f"expected {shorten(span, 60)}"


@check("copy:repeat_phrase")
def repeat_phrase(passage: Passage, phrase: Text, small_n: Count) -> str:
    wanted = list(map(trimmed, phrase.split()))
    words = list(map(trimmed, passage.text.split()))
    length = len(wanted)
    if length < 3:
        return "the phrase has no word in its center"
    changed = 0
    for start, word in enumerate(words[: max(0, len(words) - length + 1)]):
        if word == wanted[0] and words[start + length - 1] == wanted[-1]:
            differences = sum(map(str.__ne__, wanted, words[start : start + length]))
            if differences == 0:
                return "repeats the phrase unchanged"
            changed += differences == 1
    return counted(changed, "exactly", small_n, "phrases with one word changed")
