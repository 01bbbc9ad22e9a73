"""Text similarity: the scores, and that no text scores too high."""

from __future__ import annotations

import pickle
import sys
from typing import Any

import pytest
from hypothesis import given, strategies as st

import rewardkit as rk
from rewardkit.errors import MissingExtraError
from rewardkit.rewards.text import WordsText, rouge_l, similarity, token_f1

WHOLE = rk.extract.whole()
FACTORIES = [similarity, token_f1, rouge_l]


def value(reward: rk.Reward, completion: str, gold: Any) -> float:
    table = rk.score(reward, [completion], answer=[gold])
    assert table.outcomes[reward.name].tolist() == ["scored"]
    assert 0.0 <= table.total[0] <= 1.0
    assert table.total[0] > 0.0 or table.notes[reward.name][0]
    return float(table.total[0])


# Few letters, so that words repeat; and characters that break naive code.
SCRIPTS = st.text(alphabet="ab 1.,-é\u0301東ßा\u2212\n!", max_size=30)
ANYTHING = st.text(alphabet=st.characters(), max_size=60) | st.text(
    alphabet="\ud800\udfff\0\ufeffa \u0300", max_size=20
)
SENTENCE = st.lists(st.sampled_from(["red", "green", "blue", "3.5", "-5", "東"]), min_size=1, max_size=12)

HOSTILE = [
    "", " ", "\0", "\ud800", "\u0300" * 1_000, "a" * 200_000, "a " * 100_000, "1," * 100_000, "-1.5" * 50_000,
    "東" * 200_000, "a" + "\u0300\u0327" * 90_000, "[" * 200_000, "ﷺ" * 150_000, "a" * 200_001, "." * 200_000,
    "<answer>" * 1_000, "\\boxed{" * 1_000, "<think>", "<answer></answer>", "0,000" * 40_000,
]  # fmt: skip


@pytest.mark.parametrize("factory", FACTORIES)
@pytest.mark.parametrize("completion", HOSTILE, ids=lambda text: f"{text[:4]!r}x{len(text)}")
def test_hostile_texts_score_zero_without_raising(factory: Any, completion: str) -> None:
    assert value(factory("answer"), completion, "the gold answer is 3.5") < 0.1


@pytest.mark.parametrize("factory", FACTORIES)
@given(completion=ANYTHING, gold=SENTENCE)
def test_every_text_scores_within_bounds(factory: Any, completion: str, gold: list[str]) -> None:
    value(factory("answer"), completion, " ".join(gold))


@pytest.mark.parametrize("factory", FACTORIES)
@given(gold=SCRIPTS)
def test_the_gold_answer_gets_one(factory: Any, gold: str) -> None:
    reward = factory("answer", extract=WHOLE)
    try:
        assert value(reward, gold, gold) == 1.0
    except rk.errors.CoercionError as error:
        assert "no words" in str(error) or not gold.strip()  # noqa: PT017


@pytest.mark.parametrize("factory", FACTORIES)
@given(first=SENTENCE, second=SENTENCE)
def test_either_may_be_the_gold(factory: Any, first: list[str], second: list[str]) -> None:
    reward = factory("answer")
    forth, back = value(reward, " ".join(first), " ".join(second)), value(reward, " ".join(second), " ".join(first))
    assert forth == pytest.approx(back)


@pytest.mark.parametrize("factory", FACTORIES)
@given(gold=SENTENCE, spam=SENTENCE, before=st.booleans())
def test_adding_to_the_gold_answer_lowers_the_score(
    factory: Any, gold: list[str], spam: list[str], before: bool
) -> None:
    reward = factory("answer")
    assert value(reward, " ".join(spam + gold if before else gold + spam), " ".join(gold)) < 1.0


@pytest.mark.parametrize("factory", FACTORIES)
@given(answer=SENTENCE, golds=st.lists(SENTENCE, min_size=1, max_size=4))
def test_the_nearest_of_several_golds_counts(factory: Any, answer: list[str], golds: list[list[str]]) -> None:
    reward = factory("answer")
    texts = [" ".join(gold) for gold in golds]
    assert value(reward, " ".join(answer), texts) == max(value(reward, " ".join(answer), text) for text in texts)


@pytest.mark.parametrize("factory", FACTORIES)
@pytest.mark.parametrize("gold", ["", " ", [], [""], 1.5, True, {"text": "a"}, [["a"]]])
def test_gold_that_is_not_text_is_a_coercion_error(factory: Any, gold: Any) -> None:
    with pytest.raises(rk.errors.CoercionError, match="column 'answer', row 0"):
        rk.score(factory("answer"), ["a"], answer=[gold])


@pytest.mark.parametrize("factory", FACTORIES)
def test_answer_and_gold_have_their_own_extractors(factory: Any) -> None:
    reward = factory("answer", extract=rk.extract.boxed(), gold=rk.extract.after("####"))
    assert value(reward, "\\boxed{a b}", "so #### a b") == 1.0
    assert value(reward, "a b", "so #### a b") == 0.0
    assert value(reward, "<think>\\boxed{a b}</think>", "so #### a b") == 0.0


@pytest.mark.parametrize(
    ("reward", "shown"),
    [
        (similarity("a", floor=0.25, ignore_case=True), "similarity('a', ignore_case=True, floor=0.25)"),
        (token_f1("a", articles=True, extract=WHOLE), "token_f1('a', articles=True, extract=whole())"),
        (rouge_l("a", beta=2, gold=WHOLE), "rouge_l('a', beta=2.0, gold=whole())"),
    ],
)
def test_rewards_are_values(reward: rk.Reward, shown: str) -> None:
    again = pickle.loads(pickle.dumps(reward))
    assert again == reward
    assert hash(again) == hash(reward)
    assert repr(again) == shown
    assert len({r.fingerprint for r in (similarity("a"), token_f1("a"), rouge_l("a"), reward)}) == 4


@pytest.mark.parametrize("factory", [similarity, rouge_l])
def test_rapidfuzz_is_required(factory: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rapidfuzz.distance", None)
    with pytest.raises(MissingExtraError, match=rf"rk\.{factory.__name__} .*pip install .*\[text\]"):
        factory("answer")


@pytest.mark.parametrize(
    "make",
    [
        lambda: similarity("answer", floor=1.0),
        lambda: similarity("answer", floor=-0.1),
        lambda: rouge_l("answer", beta=0.0),
        lambda: rouge_l("answer", beta=float("inf")),
        lambda: rouge_l("answer", beta=1e9),
        lambda: rouge_l("answer", beta="1"),  # type: ignore[arg-type]
    ],
)
def test_impossible_options_are_refused(make: Any) -> None:
    with pytest.raises(rk.RewardDefinitionError, match=r"similarity|rouge_l"):
        make()


# --- similarity


@pytest.mark.parametrize(
    ("completion", "gold", "options", "expected"),
    [
        ("<answer>Perth</answer>", "Berth", {}, 0.8),
        ("kitten", "sitting", {}, 8 / 13),
        ("ABC", "abc", {}, 0.0),
        ("ABC", "abc", {"ignore_case": True}, 1.0),
        ("New  York\n", "New York", {}, 1.0),
        ("cafe\u0301", "café", {}, 1.0),
        ("Perth", "Berth", {"floor": 0.6}, 0.5),
        ("Perth", "Berth", {"floor": 0.9}, 0.0),
        ("42", 42, {}, 1.0),
        ("Berth" * 9, "Berth", {}, 0.2),
    ],
)
def test_similarity(completion: str, gold: Any, options: dict[str, Any], expected: float) -> None:
    assert value(similarity("answer", **options), completion, gold) == pytest.approx(expected)


def subsequence(first: Any, second: Any) -> int:
    """Return the length of the longest common subsequence, by its recurrence."""
    row = [0] * (len(second) + 1)
    for one in first:
        above = row
        row = [0]
        for place, other in enumerate(second):
            row.append(above[place] + 1 if one == other else max(above[place + 1], row[-1]))
    return row[-1]


@given(st.text(alphabet="abc", min_size=1, max_size=12), st.text(alphabet="abc", min_size=1, max_size=12))
def test_similarity_is_the_share_of_the_common_subsequence(answer: str, gold: str) -> None:
    expected = 2 * subsequence(answer, gold) / (len(answer) + len(gold))
    assert value(similarity("answer"), answer, gold) == pytest.approx(expected)


def test_similarity_reads_20_000_characters() -> None:
    assert value(similarity("answer"), "a" * 20_000, "a" * 20_000) == 1.0
    assert value(similarity("answer"), "a" * 20_001, "a" * 20_000) == 0.0
    with pytest.raises(rk.errors.CoercionError, match="longer than 20,000 characters"):
        rk.score(similarity("answer"), ["a"], answer=["a" * 20_001])


# --- token_f1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The red-hot chili.", ["the", "redhot", "chili"]),
        ("It's $3.50, not -5 or \u22125.", ["its", "3.50", "not", "-5", "or", "-5"]),
        ("1,000,000 is 1000000; 1,5 is 1,5", ["1000000", "is", "1000000", "1,5", "is", "1,5"]),
        ("1/2 10:30 .5 a-5 v1.2", ["1/2", "10:30", ".5", "a5", "v1.2"]),
        ("\u00abStraße\u00bb \u2014 \u2018x\u2019", ["strasse", "x"]),
        ("東京は、大きい。", ["東", "京", "は", "大", "き", "い"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("안녕 하세요", ["안녕", "하세요"]),
    ],
)
def test_words(text: str, words: list[str]) -> None:
    assert list(WordsText()(text)) == words


@pytest.mark.parametrize(
    ("completion", "gold", "expected"),
    [
        ("<answer>the big red house</answer>", "red house", 0.8),
        ("Red House!", "the red house", 1.0),
        ("red red red house", "red house", 2 / 3),
        ("house red", "red house", 1.0),
        ("35", "3.5", 0.0),
        ("5", "-5", 0.0),
        ("12", "1/2", 0.0),
        ("1000", "1,000", 1.0),
        ("a", "A", 1.0),
        ("the", "A", 0.0),
        ("blue", ["red house", "dark blue"], 2 / 3),
        ("東京", "東京都", 0.8),
        ("!!!", "red", 0.0),
    ],
)
def test_token_f1(completion: str, gold: Any, expected: float) -> None:
    assert value(token_f1("answer"), completion, gold) == pytest.approx(expected)


def test_articles_count_on_request() -> None:
    assert value(token_f1("answer", articles=True), "house", "the house") == pytest.approx(2 / 3)


@given(SENTENCE, SENTENCE)
def test_token_f1_is_the_harmonic_mean_of_precision_and_recall(answer: list[str], gold: list[str]) -> None:
    left = list(gold)
    common = 0
    for word in answer:
        if word in left:
            left.remove(word)
            common += 1
    precision, recall = common / len(answer), common / len(gold)
    expected = 2 * precision * recall / (precision + recall) if common else 0.0
    assert value(token_f1("answer"), " ".join(answer), " ".join(gold)) == pytest.approx(expected)


def test_a_miss_says_where_it_is_weak() -> None:
    table = rk.score(token_f1("answer"), ["red house on a hill"], answer=["red house"])
    assert table.notes["token_f1"] == ["precision 0.50, recall 1.00"]


# --- rouge_l


@pytest.mark.parametrize(
    ("completion", "gold", "beta", "expected"),
    [
        ("police kill the gunman", "police killed the gunman", 1.0, 0.75),
        ("the gunman kill police", "police killed the gunman", 1.0, 0.5),
        ("red house on hill", "red house", 1.0, 2 / 3),
        ("red house on hill", "red house", 2.0, 5 / 6),
        ("red", "red house", 2.0, 5 / 9),
    ],
)
def test_rouge_l(completion: str, gold: str, beta: float, expected: float) -> None:
    assert value(rouge_l("answer", beta=beta), completion, gold) == pytest.approx(expected)


@given(SENTENCE, SENTENCE, st.floats(0.01, 100))
def test_rouge_l_follows_from_the_longest_common_subsequence(answer: list[str], gold: list[str], beta: float) -> None:
    common = subsequence(answer, gold)
    precision, recall = common / len(answer), common / len(gold)
    expected = (1 + beta**2) * precision * recall / (recall + beta**2 * precision) if common else 0.0
    assert value(rouge_l("answer", beta=beta), " ".join(answer), " ".join(gold)) == pytest.approx(expected)


def test_rouge_l_reads_20_000_words() -> None:
    assert value(rouge_l("answer"), "a " * 20_000, "a " * 20_000) == 1.0
    assert value(rouge_l("answer"), "a " * 20_001, "a " * 20_000) == 0.0
    with pytest.raises(rk.errors.CoercionError, match="more than 20,000 words"):
        rk.score(rouge_l("answer"), ["a"], answer=["a " * 20_001])


def test_a_plus_or_hash_glued_to_a_word_belongs_to_it() -> None:
    assert WordsText()("C++ and C#, (A+) a+b # 1+") == ("c++", "and", "c#", "a+", "ab", "1")
    for factory in (token_f1, rouge_l):
        assert value(factory("answer"), "C++", "C") == value(factory("answer"), "C#", "C") == 0.0
        assert value(factory("answer"), "c#!", "C#") == 1.0
    assert WordsText()("a" + "+" * 100_000 + "b") == ("ab",)


MANY = [f"gold {number}" for number in range(1_000)]


@pytest.mark.parametrize("factory", [similarity, token_f1, rouge_l, rk.bleu, rk.chrf])
def test_long_texts_are_not_compared(factory: Any) -> None:
    reward = factory("answer")
    long, within = "gold so " * 1_250, "gold so " * 200
    table = rk.score(reward, [long, within, long], answer=[MANY, MANY, [*MANY, long]])
    assert table.total[0] == 0.0
    assert "too long to compare with 1,000" in table.notes[reward.name][0]
    assert 0.0 < table.total[1] < 1.0
    assert table.total[2] == 1.0
    with pytest.raises(rk.errors.CoercionError, match=r"column 'answer', row 0.*(longer|more) than 20"):
        rk.score(reward, ["gold"], answer=["gold so " * 125_000])
