"""open-instruct's verifiers for instructions: IFEvalVerifier (IFEvalG) and IFEvalVerifierOld (if_functions.py).

There is a subject for each instruction that needs no data of NLTK, with two tasks. The constraints have the form of
allenai/IF_multi_constraints_upto5 and of allenai/RLVR-IFeval.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from subject import Subject

Tasks = tuple[tuple[dict[str, Any], str, str], tuple[dict[str, Any], str, str]]
"""Two tasks: arguments, a completion that follows the instruction, and one that does not."""

NOT_HERE = {
    "needs data of NLTK": (
        "length_constraints:number_sentences change_case:capital_word_frequency count:counting_composition "
        "count:count_unique keywords:keyword_specific_position keywords:start_end"
    ),
    "the same class as another instruction": "letters:letter_counting2 keywords:word_count_different_numbers",
}
"""Instructions that are left out, by reason."""

SKY = "The sky is blue because the air scatters blue light more than red light."
RAIN = "Rain falls when drops in the clouds grow too heavy to float."
GERMAN = "Der Himmel ist blau, weil die Luft das blaue Licht stärker streut als das rote."
TWO = f"{SKY}\n***\n{RAIN}"
ASK, TELL = "Why is the sky blue?", "How does rain form?"
CAPS, SHOUT = SKY.upper(), RAIN.upper()

NEW: dict[str, Tasks] = {
    "keywords:existence": (({"keywords": ["light", "air"]}, SKY, RAIN), ({"keywords": ["drops"]}, RAIN, SKY)),
    "keywords:frequency": (
        ({"keyword": "light", "frequency": 2, "relation": "at least"}, SKY, RAIN),
        ({"keyword": "blue", "frequency": 1, "relation": "less than"}, RAIN, SKY),
    ),
    "keywords:forbidden_words": (({"forbidden_words": ["rain"]}, SKY, RAIN), ({"forbidden_words": ["sky"]}, RAIN, SKY)),
    "keywords:letter_frequency": (
        ({"letter": "b", "let_frequency": 3, "let_relation": "at least"}, SKY, RAIN),
        ({"letter": "k", "let_frequency": 1, "let_relation": "less than"}, RAIN, SKY),
    ),
    "language:response_language": (({"language": "de"}, GERMAN, SKY), ({"language": "en"}, RAIN, GERMAN)),
    "length_constraints:number_paragraphs": (({"num_paragraphs": 2}, TWO, SKY), ({"num_paragraphs": 1}, RAIN, TWO)),
    "length_constraints:number_words": (
        ({"num_words": 14, "relation": "at least"}, SKY, RAIN),
        ({"num_words": 14, "relation": "less than"}, RAIN, SKY),
    ),
    "length_constraints:nth_paragraph_first_word": (
        ({"num_paragraphs": 2, "nth_paragraph": 2, "first_word": "rain"}, f"{SKY}\n\n{RAIN}", SKY),
        ({"num_paragraphs": 1, "nth_paragraph": 1, "first_word": "the"}, SKY, RAIN),
    ),
    "detectable_content:number_placeholders": (
        ({"num_placeholders": 2}, f"Dear [name], {SKY} [sender]", SKY),
        ({"num_placeholders": 1}, f"{RAIN} [city]", RAIN),
    ),
    "detectable_content:postscript": (
        ({"postscript_marker": "P.S."}, f"{SKY}\n\nP.S. At dusk it is red.", SKY),
        ({"postscript_marker": "P.P.S"}, f"{RAIN}\n\nP.P.S Snow does, too.", RAIN),
    ),
    "detectable_format:number_bullet_lists": (
        ({"num_bullets": 2}, f"* {SKY}\n* {RAIN}", SKY),
        ({"num_bullets": 1}, f"* {RAIN}", f"* {RAIN}\n* {SKY}"),
    ),
    "detectable_format:constrained_response": (({}, "My answer is yes.", "Yes."), ({}, "My answer is no.", "No.")),
    "detectable_format:number_highlighted_sections": (
        ({"num_highlights": 2}, "The *sky* is *blue*.", SKY),
        ({"num_highlights": 1}, "*Rain* falls.", RAIN),
    ),
    "detectable_format:multiple_sections": (
        ({"section_spliter": "Section", "num_sections": 2}, f"Section 1\n{SKY}\nSection 2\n{RAIN}", SKY),
        ({"section_spliter": "Day", "num_sections": 2}, f"Day 1\n{RAIN}\nDay 2\n{SKY}", RAIN),
    ),
    "detectable_format:json_format": (({}, '{"color": "blue"}', SKY), ({}, '["rain", "snow"]', RAIN)),
    "detectable_format:title": (({}, f"<<The sky>>\n{SKY}", SKY), ({}, f"<<Rain>>\n{RAIN}", RAIN)),
    "combination:two_responses": (({}, f"{SKY}\n******\n{RAIN}", SKY), ({}, f"{RAIN}\n******\n{SKY}", RAIN)),
    "combination:repeat_prompt": (
        ({"prompt_to_repeat": ASK}, f"{ASK} {SKY}", SKY),
        ({"prompt_to_repeat": TELL}, f"{TELL} {RAIN}", RAIN),
    ),
    "startend:end_checker": (
        ({"end_phrase": "Any questions?"}, f"{SKY} Any questions?", SKY),
        ({"end_phrase": "That is all."}, f"{RAIN} That is all.", RAIN),
    ),
    "change_case:english_capital": (({}, CAPS, SKY), ({}, SHOUT, RAIN)),
    "change_case:english_lowercase": (({}, SKY.lower(), SKY), ({}, RAIN.lower(), RAIN)),
    "punctuation:no_comma": (({}, SKY, f"Well, {SKY}"), ({}, RAIN, f"Oh, {RAIN}")),
    "startend:quotation": (({}, f'"{SKY}"', SKY), ({}, f'"{RAIN}"', RAIN)),
    "copy:repeat_phrase": (
        ({"phrase": "the deep blue sky", "small_n": 1}, "I saw the deep green sky today.", "I saw the deep blue sky."),
        ({"phrase": "rain falls down now", "small_n": 1}, "See, rain falls here now.", "See, rain falls down now."),
    ),
    "copy:copy": (({"prompt_to_repeat": ASK}, ASK, SKY), ({"prompt_to_repeat": TELL}, TELL, RAIN)),
    "new:copy_span_idx": (
        ({"prompt_to_repeat": ASK, "n_start": 7, "n_end": 14}, "the sky", SKY),
        ({"prompt_to_repeat": TELL, "n_start": 9, "n_end": 18}, "rain form", RAIN),
    ),
    "detectable_format:sentence_hyphens": (({}, "It is blue.-It is wide.", "It is blue. It is wide."),
                                           ({}, "It rains.-We stay.", "It rains. We stay.")),
    "keywords:no_adjacent_consecutive": (({}, "The sky was clear", "a blue sky"), ({}, "Rain will fall", "rain stays")),
    "detectable_format:square_brackets": (({}, "[The] [sky]", SKY), ({}, "[Rain] [falls]", RAIN)),
    "keywords:word_once": (({"keyword": "because"}, SKY, RAIN), ({"keyword": "clouds"}, RAIN, SKY)),
    "keywords:exclude_word_harder": (({"keyword": "heavy"}, SKY, RAIN), ({"keyword": "blue"}, RAIN, SKY)),
    "paragraphs:paragraphs": (({}, TWO, SKY), ({}, f"{RAIN}\n***\n{SKY}", RAIN)),
    "paragraphs:paragraphs2": (({}, f"{SKY}\n\n{RAIN}", SKY), ({}, f"{RAIN}\n\n{SKY}", RAIN)),
    "first_word:first_word_sent": (
        ({"first_word": "Now"}, "Now it is blue. Now it is red.", SKY),
        ({"first_word": "Rain"}, "Rain falls. Rain stops.", f"{RAIN} It stops."),
    ),
    "first_word:first_word_answer": (({"first_word": "the"}, SKY, RAIN), ({"first_word": "rain"}, RAIN, SKY)),
    "last_word:last_word_sent": (
        ({"last_word": "blue"}, "The sky is blue. The sea is blue.", SKY),
        ({"last_word": "rain"}, "I like rain. You like rain.", RAIN),
    ),
    "last_word:last_word_answer": (({"last_word": "light"}, SKY, RAIN), ({"last_word": "float"}, RAIN, SKY)),
    "detectable_format:bigram_wrapping": (({}, "<<The sky>> <<is blue>>", SKY), ({}, "<<Rain falls>>", RAIN)),
    "copy:copying_simple": (({"prompt_to_repeat": ASK}, ASK, SKY), ({"prompt_to_repeat": TELL}, TELL, RAIN)),
    "copy:copying_multiple": (
        ({"prompt_to_repeat": ASK, "N": 2}, f"{ASK}\n******\n{ASK}", SKY),
        ({"prompt_to_repeat": TELL, "N": 3}, f"{TELL} ****** {TELL} ****** {TELL}", TELL),
    ),
    "punctuation:punctuation_dot": (({}, "The sky is blue", SKY), ({}, "Rain falls", RAIN)),
    "punctuation:punctuation_exclamation": (({}, SKY, f"Look! {SKY}"), ({}, RAIN, f"Oh! {RAIN}")),
    "count:lowercase_counting": (({"N": 3}, CAPS, SKY), ({"N": 2}, SHOUT, RAIN)),
    "letters:letter_counting": (
        ({"N": 55, "relation": "at least"}, SKY, RAIN),
        ({"N": 55, "relation": "less than"}, RAIN, SKY),
    ),
    "count:count_increment_word": (
        ({"keyword1": "because", "keyword2": "blue"}, SKY, RAIN),
        ({"keyword1": "clouds", "keyword2": "rain"}, f"{RAIN} I like rain.", RAIN),
    ),
    "keywords:palindrome": (({}, "It is blue at noon .", SKY), ({}, "The level rises .", RAIN)),
}  # fmt: skip
"""By the id of the instruction."""

_STARRED = f"{SKY}\n* * *\n{RAIN}"
OLD: dict[str, Tasks] = {
    "verify_keywords": (({"keyword_list": ["light", "air"]}, SKY, RAIN), ({"keyword_list": ["drops"]}, RAIN, SKY)),
    "verify_keyword_frequency": (({"word": "light", "N": 2}, SKY, RAIN), ({"word": "rain", "N": 1}, RAIN, SKY)),
    "verify_letter_frequency": (({"letter": "h", "N": 5}, SKY, RAIN), ({"letter": "k", "N": 0}, RAIN, SKY)),
    "verify_paragraph_count": (({"N": 2}, _STARRED, SKY), ({"N": 1}, RAIN, _STARRED)),
    "validate_word_constraint": (
        ({"N": 14, "quantifier": "at least"}, SKY, RAIN),
        ({"N": 12, "quantifier": "at most"}, RAIN, SKY),
    ),
    "verify_sentence_constraint": (
        ({"N": 2, "quantifier": "at least"}, f"{SKY} {RAIN}", SKY),
        ({"N": 1, "quantifier": "at most"}, RAIN, f"{RAIN} {SKY}"),
    ),
    "validate_paragraphs": (
        ({"N": 2, "first_word": "Rain", "i": 2}, f"{SKY}\n\n{RAIN}", SKY),
        ({"N": 1, "first_word": "The", "i": 1}, SKY, RAIN),
    ),
    "validate_choice": (
        ({"options": ["My answer is yes.", "My answer is no."]}, "My answer is yes.", "Yes."),
        ({"options": ["blue", "red"]}, "It is blue.", "It is green."),
    ),
    "validate_frequency_capital_words": (
        ({"N": 2, "quantifier": "at least"}, "The SKY is BLUE.", SKY),
        ({"N": 1, "quantifier": "at most"}, RAIN, SHOUT),
    ),
}
"""By the name of the function, where the arguments are others than those of the same instruction in `NEW`."""
SAME = {
    "validate_forbidden_words": ("keywords:forbidden_words", {}),
    "validate_response_language": ("language:response_language", {}),
    "verify_postscript": ("detectable_content:postscript", {}),
    "validate_placeholders": ("detectable_content:number_placeholders", {"num_placeholders": "N"}),
    "verify_bullet_points": ("detectable_format:number_bullet_lists", {"num_bullets": "N"}),
    "validate_title": ("detectable_format:title", {}),
    "validate_highlighted_sections": ("detectable_format:number_highlighted_sections", {"num_highlights": "N"}),
    "validate_sections": (
        "detectable_format:multiple_sections",
        {"section_spliter": "section_splitter", "num_sections": "N"},
    ),
    "validate_json_format": ("detectable_format:json_format", {}),
    "validate_repeat_prompt": ("combination:repeat_prompt", {"prompt_to_repeat": "original_prompt"}),
    "validate_two_responses": ("combination:two_responses", {}),
    "validate_uppercase": ("change_case:english_capital", {}),
    "validate_lowercase": ("change_case:english_lowercase", {}),
    "validate_end": ("startend:end_checker", {}),
    "validate_quotation": ("startend:quotation", {}),
    "validate_no_commas": ("punctuation:no_comma", {}),
}
"""The other functions: the instruction in `NEW`, and how its arguments are called."""


def subjects(verifiers: Any) -> Iterator[Subject]:
    new = _scorer(verifiers.IFEvalVerifier())
    for name, tasks in NEW.items():
        labels = [repr([{"instruction_id": [name], "kwargs": [arguments or None]}]) for arguments, _, _ in tasks]
        yield _subject(f"IFEvalVerifier ({name})", new, labels, tasks)
    old = _scorer(verifiers.IFEvalVerifierOld())
    for name, (instruction, names) in SAME.items():
        OLD[name] = tuple(  # type: ignore[assignment]
            ({names.get(key, key): value for key, value in arguments.items()}, good, bad)
            for arguments, good, bad in NEW[instruction]
        )
    for name, tasks in OLD.items():
        labels = [json.dumps({"func_name": name, **arguments}) for arguments, _, _ in tasks]
        yield _subject(f"IFEvalVerifierOld ({name})", old, labels, tasks)


def _subject(name: str, reward: Any, labels: list[str], tasks: Tasks) -> Subject:
    rows = [{"prompt": f"Write text {place} as told.", "constraints": label} for place, label in enumerate(labels)]
    return Subject(name, reward, rows, [good for _, good, _ in tasks], [bad for _, _, bad in tasks])


def _scorer(verifier: Any) -> Callable[..., list[float]]:
    score = by_call(verifier)

    def reward(completions: list[str], constraints: list[str], **kwargs: Any) -> list[float]:
        return [score(text, label) for text, label in zip(completions, constraints, strict=True)]

    return reward


def by_call(verifier: Any) -> Callable[..., float]:
    """Return the score of a verifier as its trainer asks for it."""

    def score(text: str, label: Any, ids: Sequence[int] = ()) -> float:
        return float(asyncio.run(verifier.async_call(list(ids), text, label)).score)

    return score
