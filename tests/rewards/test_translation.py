"""Translations: the numbers of sacrebleu, from 0 to 1, without its memory use."""

from __future__ import annotations

import pickle
import sys
from typing import Any

import pytest
from hypothesis import given, strategies as st
from sacrebleu import sentence_bleu, sentence_chrf
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a
from sacrebleu.tokenizers.tokenizer_re import TokenizerRegexp
from sacrebleu.tokenizers.tokenizer_zh import TokenizerZh

import rewardkit as rk
from rewardkit.errors import MissingExtraError
from rewardkit.rewards.translation import bleu, chrf
from rewardkit.text.visibility import spoken_text

WHOLE = rk.extract.whole()
FACTORIES = [bleu, chrf]
MAT = "The cat sat on the mat"
SENTENCE = st.lists(st.sampled_from(["the", "cat", "sat", "on", "mat", ".", "3.5"]), min_size=1, max_size=12).map(
    " ".join
)
ANYTHING = st.text(alphabet=st.characters(), max_size=60) | st.text(alphabet="\ud800\0&;<>skiped .-\n", max_size=30)

HOSTILE = [
    "", "\0", "\ud800" * 20_000, "a" * 200_000, "a," * 10_000, "&amp;" * 4_000, "-\n" * 10_000, "東" * 20_000,
    "1." * 10_000, "<skipped>", "a" + "\u0300\u0327" * 90_000, "<think>", "{" * 20_000,
]  # fmt: skip


def value(reward: rk.Reward, completion: str, reference: Any) -> float:
    table = rk.score(reward, [completion], reference=[reference])
    assert table.outcomes[reward.name].tolist() == ["scored"]
    assert 0.0 <= table.total[0] <= 1.0
    assert table.total[0] > 0.0 or table.notes[reward.name][0]
    return float(table.total[0])


@pytest.mark.parametrize("factory", FACTORIES)
@pytest.mark.parametrize("completion", HOSTILE, ids=lambda text: f"{text[:4]!r}x{len(text)}")
def test_hostile_texts_score_zero_without_raising(factory: Any, completion: str) -> None:
    assert value(factory("reference"), completion, MAT) < 0.1


@pytest.mark.parametrize("tokenize", ["13a", "intl", "zh", "char"])
@given(completion=ANYTHING, reference=SENTENCE)
def test_every_text_scores_within_bounds(tokenize: Any, completion: str, reference: str) -> None:
    value(bleu("reference", tokenize=tokenize), completion, reference)
    value(chrf("reference", word_order=2), completion, reference)


def _says_something(text: str) -> bool:
    return bool(text.strip()) and spoken_text(text) == text  # not <pad>


@pytest.mark.parametrize("factory", FACTORIES)
@given(reference=st.text(alphabet="ab <skiped>\u0301東&;", min_size=1, max_size=20).filter(_says_something))
def test_the_reference_gets_one(factory: Any, reference: str) -> None:
    assert value(factory("reference", extract=WHOLE), reference, reference) == 1.0
    assert value(factory("reference", extract=WHOLE), reference, ["other", reference]) == 1.0


def test_a_reference_of_which_a_tokenizer_leaves_nothing_gets_one() -> None:
    assert value(bleu("reference"), "<skipped>", "<skipped>") == 1.0


@pytest.mark.parametrize("factory", FACTORIES)
@given(reference=SENTENCE, spam=SENTENCE)
def test_adding_to_the_reference_lowers_the_score(factory: Any, reference: str, spam: str) -> None:
    assert value(factory("reference"), f"{reference} {spam}", reference) < 1.0


@given(SENTENCE, st.lists(SENTENCE, min_size=1, max_size=3))
def test_these_are_the_numbers_of_sacrebleu(completion: str, references: list[str]) -> None:
    expected = sentence_bleu(completion, references, use_effective_order=True).score / 100
    assert value(bleu("reference"), completion, references) == pytest.approx(expected)
    expected = sentence_chrf(completion, references).score / 100
    assert value(chrf("reference"), completion, references) == pytest.approx(expected)
    expected = sentence_chrf(completion, references, word_order=2, beta=1).score / 100
    assert value(chrf("reference", word_order=2, beta=1), completion, references) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("reward", "completion", "expected"),
    [
        (bleu("reference"), "<answer>The cat sat on a mat</answer>", 0.54),
        (chrf("reference"), "<answer>The cat sat on a mat</answer>", 0.66),
        (bleu("reference"), "THE CAT SAT ON THE MAT", 0.0),
        (bleu("reference", ignore_case=True), "THE CAT SAT ON THE MAT", 1.0),
        (chrf("reference", ignore_case=True), "THE CAT SAT ON THE MAT", 1.0),
        (bleu("reference"), "The", 0.0),
        (bleu("reference", tokenize="char"), "Thecat saton themat", 1.0),  # 100.00000000000004 in sacrebleu
        (chrf("reference"), "<think>The cat sat on the mat</think>", 0.0),
    ],
)
def test_examples(reward: rk.Reward, completion: str, expected: float) -> None:
    assert value(reward, completion, MAT) == pytest.approx(expected, abs=0.01)


def test_tokenizers_differ() -> None:
    assert value(bleu("reference"), "他在家里", "他不在家") == 0.0
    assert value(bleu("reference", tokenize="zh"), "他在家里", "他不在家") > 0.2


@pytest.mark.parametrize("tokenize", ["13a", "zh"])
def test_sacrebleu_does_not_keep_completions(tokenize: Any) -> None:
    value(bleu("reference", tokenize=tokenize), "a text that nobody needs again", MAT)
    for tokenizer in (Tokenizer13a, TokenizerRegexp, TokenizerZh):
        assert tokenizer.__call__.cache_info().currsize == 0


@pytest.mark.parametrize("factory", FACTORIES)
def test_20_000_characters_are_read(factory: Any) -> None:
    assert value(factory("reference"), "a " * 9_999 + "a", "a " * 9_999 + "a") == 1.0
    assert value(factory("reference"), "a" * 20_001, "a") == 0.0
    with pytest.raises(rk.errors.CoercionError, match="longer than 20,000 characters"):
        rk.score(factory("reference"), ["a"], reference=["a" * 20_001])


@pytest.mark.parametrize("factory", FACTORIES)
@pytest.mark.parametrize("reference", ["", [], ["a", ""], 1.5, {"a": 1}])
def test_a_reference_that_is_not_text_is_a_coercion_error(factory: Any, reference: Any) -> None:
    with pytest.raises(rk.errors.CoercionError, match="column 'reference', row 0"):
        rk.score(factory("reference"), ["a"], reference=[reference])


@pytest.mark.parametrize(
    "make",
    [
        lambda: bleu("reference", tokenize="moses"),  # type: ignore[arg-type]
        lambda: chrf("reference", word_order=-1),
        lambda: chrf("reference", word_order=True),
        lambda: chrf("reference", beta=0),
        lambda: chrf("reference", beta=1.5),  # type: ignore[arg-type]
    ],
)
def test_impossible_options_are_refused(make: Any) -> None:
    with pytest.raises(rk.RewardDefinitionError, match=r"bleu: tokenize|chrf: (word_order|beta)"):
        make()


@pytest.mark.parametrize("factory", FACTORIES)
def test_sacrebleu_is_required(factory: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sacrebleu.metrics", None)
    with pytest.raises(MissingExtraError, match=rf"rk\.{factory.__name__} .*pip install .*\[bleu\]"):
        factory("reference")


@pytest.mark.parametrize(
    ("reward", "shown"),
    [
        (bleu("a", tokenize="intl", gold=WHOLE), "bleu('a', tokenize='intl', gold=whole())"),
        (chrf("a", word_order=2, beta=1), "chrf('a', word_order=2, beta=1)"),
    ],
)
def test_rewards_are_values(reward: rk.Reward, shown: str) -> None:
    again = pickle.loads(pickle.dumps(reward))
    assert again == reward
    assert hash(again) == hash(reward)
    assert repr(again) == shown
    assert len({r.fingerprint for r in (bleu("a"), chrf("a"), reward)}) == 3
