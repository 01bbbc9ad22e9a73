"""Faults of open-instruct's verifiers (open_instruct/ground_truth_utils.py).

`_old` and `_new` check one instruction, as IFEvalVerifierOld (if_functions.py) and IFEvalVerifier (IFEvalG) do.
"""

from __future__ import annotations

import json
from importlib import import_module
from typing import Any

from repros_outcome import raised
from subjects import open_instruct

SUBJECTS = {subject.name: subject for subject in open_instruct.subjects()}
verifiers = import_module("open_instruct.ground_truth_utils")


def _old(text: str, function: str, **arguments: Any) -> Any:
    return verifiers.IFEvalVerifierOld()([], text, json.dumps({"func_name": function, **arguments})).score


def _new(text: str, instruction: str, **arguments: Any) -> Any:
    return verifiers.IFEvalVerifier()([], text, str([{"instruction_id": [instruction], "kwargs": [arguments]}])).score


def ifeval_old_mutates_label() -> None:
    """A label given as a dict is emptied: the same right completion earns 1, then 0."""
    label = {"func_name": "validate_no_commas"}
    verifier = verifiers.IFEvalVerifierOld()
    assert [verifier([], "a", label).score for _ in range(2)] == [1.0, 0.0]


def ifeval_old_empty() -> None:
    """An empty completion earns 1 for many instructions; the newer verifier gives it 0."""
    assert _old("", "validate_no_commas") == _old("", "validate_lowercase") == _old("", "validate_uppercase") == 1.0
    assert _old("", "verify_sentence_constraint", N=1, quantifier="at least") == 1.0
    assert _new("", "punctuation:no_comma") == 0.0


def validate_response_language_raises() -> None:
    """A completion without letters raises an exception."""
    assert raised(lambda: _old("42", "validate_response_language", language="de")) == "LangDetectException"


def response_language_random() -> None:
    """A short completion earns 0 or 1 at random, in both verifiers: langdetect has no seed."""
    assert {_old("weight", "validate_response_language", language="de") for _ in range(200)} == {0.0, 1.0}
    assert {_new("weight", "language:response_language", language="de") for _ in range(200)} == {0.0, 1.0}


def validate_sections_introduction() -> None:
    """With an introduction, one section passes for two, and two sections are refused."""
    assert _old("Hi\nSection 1", "validate_sections", section_splitter="Section", N=2) == 1.0
    assert _old("Hi\nSection 1\nSection 2", "validate_sections", section_splitter="Section", N=2) == 0.0


def verify_bullet_points_bold() -> None:
    """A line in bold counts as a bullet point."""
    assert _old("**Fruit**\n* pears", "verify_bullet_points", N=1) == 0.0


def validate_highlighted_sections_empty() -> None:
    """Two empty highlights earn what two highlighted sections earn."""
    assert _old("****", "validate_highlighted_sections", N=2) == 1.0


def validate_title_empty() -> None:
    """An empty title earns what a title earns."""
    assert _old("<<>>", "validate_title") == 1.0


def validate_two_responses_one() -> None:
    """One response earns what two different ones earn."""
    assert _old("******a", "validate_two_responses") == 1.0


def validate_quotation_one_mark() -> None:
    """A single quotation mark earns what a quoted response earns."""
    assert _old('"', "validate_quotation") == 1.0


def validate_paragraphs_prefix() -> None:
    """A first word that only begins with the right one passes."""
    assert _old("Theory", "validate_paragraphs", N=1, first_word="The", i=1) == 1.0


def validate_forbidden_words_inside() -> None:
    """A word that contains a forbidden one is refused."""
    assert _old("train", "validate_forbidden_words", forbidden_words=["rain"]) == 0.0
    assert _new("train", "keywords:forbidden_words", forbidden_words=["rain"]) == 1.0


def exclude_word_harder_edges() -> None:
    """The excluded word passes wherever it has no space on both sides."""
    assert _new("heavy rain", "keywords:exclude_word_harder", keyword="heavy") == 1.0
    assert _new("It is heavy.", "keywords:exclude_word_harder", keyword="heavy") == 1.0


def palindrome_one_letter() -> None:
    """The word "a" is a palindrome, and "Level!" is none."""
    assert _new("a", "keywords:palindrome") == 1.0
    assert _new("Level!", "keywords:palindrome") == 0.0


def first_word_answer_comma() -> None:
    """The right first word is refused if a comma follows it."""
    assert _new("Yes, it is.", "first_word:first_word_answer", first_word="yes") == 0.0
    assert _new("Yes it is.", "first_word:first_word_answer", first_word="yes") == 1.0


def code_verifier_equals_everything() -> None:
    """A function whose result says that it equals everything passes the tests."""
    program = "class A(int):\n    __eq__ = lambda self, other: True\ndef double(number): return A()"
    subject = SUBJECTS["CodeVerifier (code)"]
    assert subject.reward([f"```python\n{program}\n```"], answer=[subject.examples[0]["answer"]]) == [1.0]
