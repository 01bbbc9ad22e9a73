"""Sentences and tokens."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from rewardkit.rewards.instructions.passage import sentences, tokens


@pytest.mark.parametrize(
    "found",
    [
        ["Fog came.", "Why?", "Go!"],
        ["Dr. Vik and J. Moe left at 5 p.m. today.", "We stayed."],
        ["It cost 3.50 at www.fog.no today.", "Then we left."],
        ['He said "fog."', "She left."],
        ["(Fog came.)", "Ice, too."],
        ["Well... maybe not.", "So..."],
        ["1.", "Fog came."],
        ["Fog, e.g. the sea kind, came.", "It stayed."],
        ["Fog came to the U.S.", "The ice did not."],
        ["Fog\nand ice"],
        ["\u201cFog.\u201d", "Ice."],
    ],
)
def test_sentences(found: list[str]) -> None:
    assert sentences(" ".join(found)) == found
    assert sentences("\n\n".join(found) + "\n") == found


@pytest.mark.parametrize(
    ("sentence", "found"),
    [
        ("I don't know.", ["I", "do", "n't", "know", "."]),
        ('He said "fog," twice.', ["He", "said", '"', "fog", ",", '"', "twice", "."]),
        ("It's 3,000 at 5:30 in the U.S.", ["It", "'s", "3,000", "at", "5:30", "in", "the", "U.S", "."]),
        ("a well-known word--and cannot", ["a", "well-known", "word", "--", "and", "can", "not"]),
        ("They\u2019re 'in' (too)", ["They", "'re", "'", "in", "'", "(", "too", ")"]),
        ("''''", ["''", "''"]),
        ("", []),
    ],
)
def test_tokens(sentence: str, found: list[str]) -> None:
    assert tokens(sentence) == found


@given(st.text(alphabet="aB1.?!\"')( \n-,", max_size=60))
def test_nothing_but_white_space_is_lost(text: str) -> None:
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())
    for sentence in sentences(text):
        assert "".join(tokens(sentence)) == "".join(sentence.split())
        assert all(tokens(sentence))
