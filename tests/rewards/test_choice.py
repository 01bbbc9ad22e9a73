"""Multiple choice: exactly one option must be chosen."""

from __future__ import annotations

import pickle
import string
from typing import Any

import pytest
from hypothesis import given, strategies as st

import rewardkit as rk


def value(completion: str, gold: Any = "B", **options: Any) -> float:
    return float(rk.score(rk.choice("answer", **options), [completion], answer=[gold]).total[0])


@pytest.mark.parametrize(
    "completion",
    [
        "B", "(B)", "b", "B.", "**B**", "B) Paris", "B. A dog", "B: Paris", "(B) Paris", "[B]", "Option B",
        "Answer: B", "`B`",
        "<answer>B</answer>", "<answer>(B) Paris</answer>", "\\boxed{B}", "\\boxed{\\text{B}}",
        "$\\boxed{\\textbf{(B)}}$",
        "#### B", "So the answer is (B).", "It cannot be A, so the answer is B.", "A is wrong, C is wrong.\n\nB",
        "The answer is B (not A).", "The correct answer is **B**.", "I choose B because A is wrong",
        "The answer is A.\nThe answer is B.",
        "<think>A or C?</think>B", "The answer is B.\nA) is wrong because of rain.", "Final answer: B<|im_end|>",
        "The answer is $B$", "\\boxed{B}: 12 cm", "\\boxed{(B)} 1, 2 and 5.", "So.\n回答: B",
        "Answer option: B", "<SOLUTION>B</SOLUTION>",
        "So option B is correct.\n\n### Instruction:\nWhich?\n\n### Response:\nSo option D is correct.",
        "$\\boxed{(B) PS}$.The end.",
        "The answer is B, if I am not mistaken.",
        "B is clearly correct; A is also wrong.",
        "答えは、Bです。", "正解は「B」です。", "Jawaban yang benar adalah B.", "La réponse correcte est donc B.",
        "La respuesta correcta es la opción B.", "A alternativa correta é a B.", "A resposta correta é a letra B.",
        "Правильный вариант: B", "คำตอบที่ถูกต้องคือ B", "התשובה הנכונה היא B.",
        "A helyes válasz a B.", "Răspunsul corect este B.",
        "Antwort B ist richtig.", "Die korrekte Option ist B.", "Richtig ist Antwort B.", "C'est la réponse B.",
        "Alternativa B.", "Letra B.", "Правильный вариант ответа: B", "Chọn B.",
        "A) No.\nB) Yes.\nC) No.\nD) No.\n\n✅ **B) Yes**", "A) No.\nB) Yes.\nC) No.\n\n➡️ **B**",
        "Out of A, B, C and D, B is correct.", "Only option B fits.", "B is our answer.", "B it is!",
        "The answer is the second option, B.", "Ans. B", "Comparing A and B, B is better.", "$\\boxed{\\large B}$",
        "**Answer: B) A and C only**", "<answer>B. A and C</answer>",
        "The most suitable answer is B.", "By elimination the answer is B.", "It seems that the answer is B.",
        "Considering all options the best answer is B.", "You may think the answer is A, but the answer is B.",
        "The answer is B. In contrast, A is not.", "The answer is B.\n\n**Option A**\nIt is wrong.",
        "The answer is B. I first considered A.", "The closest answer is B.",
    ],
)  # fmt: skip
def test_b_is_chosen(completion: str) -> None:
    assert value(completion) == 1.0


@pytest.mark.parametrize(
    "completion",
    [
        "", "A", "A, B, C or D", "B or C", "B/C", "B, C", "ABCD", "A B C D", "<answer>A B C D</answer>",
        "<answer>B or C</answer>",
        "The answer is A, B, C or D.", "The answer is B or maybe C", "Answer: B C", "A) B) C) D)",
        "B) Paris or C) Rome",
        "<answer>not B</answer>", "The answer is not B", "Paris", "Bee", "<think>B</think>", "<think>B",
        "The answer is B and C",
        "A. Paris\nB. Rome\nC. Bern\nD. Oslo", "\\boxed{B}, \\boxed{C}", "the answer is either B or C",
        "The answer is B\nor C",
        "<answer>B</answer><answer>C</answer>", "В", "The answer is B & D", "B? C? D?",
        "\\boxed{B} or C", "\\boxed{B}, C", "\\boxed{B} is wrong", "not \\boxed{B}", "\\boxed{B'}",
        "The answer is B's successor.",
        "The answer is B to C.", "The answer is B if x > 0, else C.", "The answer is B for small x and C for large x.",
        "The answer is B. It could also be C.", "The answer is B, although C is also right.", "B is correct; C too.",
        "The answer is B. If wrong, C.", "The answer is hardly B.", "B is partially correct.",
        "Nobody says B is correct.",
        "B is the answer to a different question.", "The answer is B. Hmm, no.",
        "ChatGPT says the answer is B.", "It is claimed that the answer is B.", "The naive answer is B.",
        "The answer to avoid is B.", "The least correct answer is B.", "It's a lie that the answer is B.",
        "I hope the answer is B.", "B is the answer my friend gave.", "My friend's answer is B.",
        "The answer is B. So C is the answer.", "The answer is B. Therefore, C is right.", "The answer is B. Edit: C.",
        "The answer is B. On reflection C.", "The answer is B. Correction - C.", "The answer is B. C is fine too.",
        "The answer is B.\n\nOption C", "The answer is B → C", "The answer is B > C > A > D",
        "It is A,\nB", "I doubt it is\nB", "B\nis wrong.",
    ],
)  # fmt: skip
def test_b_is_not_chosen(completion: str) -> None:
    assert value(completion) == 0.0


_STROKES = (
    "\u0334",
    "\u0335",
    "\u0336",
    "\u0337",
    "\u0338",
    "\u20d2",
    "\u20e0",
    "\u20e5",
    "\u20eb",
    "\u200b\u0336",
    "\u0301\u0336",
)
_FRAMES = ("\u0332", "\u20dd", "\u20de", "\ufe0f\u20e3")
_INVISIBLE = ("\u200b", "\u2060", "\u200d", "\u00ad", "\ufeff", "\u034f", "\ufe0f")


@pytest.mark.parametrize("mark", _STROKES, ids=ascii)
def test_a_letter_that_is_struck_through_is_not_chosen(mark: str) -> None:
    struck = f"B{mark}"
    for text in (
        f"Answer: {struck}",
        f"Answer: {struck} A",
        f"Answer: A {struck}",
        f"<answer>{struck}</answer>",
        struck,
    ):
        assert value(text) == 0.0
    for text in (f"Answer: {struck} A", f"Answer: A {struck}", f"<answer>{struck} A</answer>", f"{struck} A"):
        assert value(text, "A") == 1.0


@pytest.mark.parametrize("mark", [*_FRAMES, *_INVISIBLE], ids=ascii)
def test_a_letter_that_is_framed_or_next_to_invisible_characters_is_read_as_it_looks(mark: str) -> None:
    assert value(f"Answer: B{mark}") == value(f"<answer>B{mark}</answer>") == 1.0
    assert value(f"Answer: B{mark} A") == value(f"Answer: A B{mark}") == value(f"<answer>B{mark} A</answer>") == 0.0


@pytest.mark.parametrize("mark", ["\u0301", "\u0308", "\u0305", "\u0489", "\u1ab5"], ids=ascii)
def test_a_letter_with_another_mark_is_another_letter(mark: str) -> None:
    assert value(f"Answer: B{mark}") == value(f"<answer>B{mark}</answer>") == 0.0
    assert value(f"Answer: E{mark}", "E", options="ABCDE") == 0.0


@pytest.mark.parametrize("name", ["\u0646\u0645\u06cc\u200c\u062f\u0627\u0646\u0645", "o\u0338rn"])
def test_a_name_keeps_its_marks_and_invisible_characters(name: str) -> None:
    options = ["sí", name]
    assert value(f"<answer>{name}</answer>", name, options=options) == 1.0
    assert value(f"The answer is {name}.", name, options=options) == 1.0


def test_two_letters_after_a_colon_are_two_options() -> None:
    assert value("Answer: A B") == value("Answer: A B", "A") == 0.0
    assert value("The answer is a B.") == 1.0


@pytest.mark.parametrize("joint", [" ", ", ", ",", "; "])
def test_an_option_in_a_loop_is_not_chosen(joint: str) -> None:
    for count in (3, 50):
        loop = joint.join(["B"] * count)
        assert value(f"Answer: {loop}") == value(f"<answer>{loop}</answer>") == value(f"The answer is {loop}.") == 0.0
    assert value("The answer is B. B is right, so B.") == 1.0


@pytest.mark.parametrize(
    "completion",
    [
        "The sentiment of this review is clearly positive, with no negative words.", "This is a positive review.",
        "Overall, the tone is positive rather than negative.", "The review expresses a positive sentiment.",
        "It's mostly positive.", "Overall sentiment: Positive 😊",
    ],
)  # fmt: skip
def test_a_word_is_chosen_in_a_sentence(completion: str) -> None:
    options = ["positive", "negative", "neutral"]
    golds = [rk.score(rk.choice("answer", options=options), [completion], answer=[gold]).total[0] for gold in options]
    assert golds == [1.0, 0.0, 0.0]


@pytest.mark.parametrize("completion", ["A dog", "The answer is a dog", "The answer is A dog.", "A or B", "a"])
def test_the_article_is_not_an_option(completion: str) -> None:
    assert value(completion, "A") == (1.0 if completion == "a" else 0.0)


@pytest.mark.parametrize("gold", ["B", "(B)", "B. Paris", "b", 1, "\\boxed{B}"[7:8]])
def test_gold_is_a_name_a_label_or_a_position(gold: Any) -> None:
    assert value("B", gold) == 1.0


@pytest.mark.parametrize("gold", ["E", "", "A or B", 4, -1, True, 1.0])
def test_a_gold_that_is_not_an_option_is_a_coercion_error(gold: Any) -> None:
    with pytest.raises(rk.errors.CoercionError, match="reward 'choice'"):
        value("B", gold)


def test_named_options() -> None:
    assert value("The answer is: Yes.", "yes", options=["yes", "no"]) == 1.0
    assert value("yes and no", "yes", options=["yes", "no"]) == 0.0
    assert value("No", "no", options=["yes", "no", "not sure"]) == 1.0
    assert value("not sure", "no", options=["yes", "no", "not sure"]) == 0.0
    assert value("F", "F", options="ABCDEFGHIJ") == 1.0


@pytest.mark.parametrize("options", ["A", "", "AA", ["yes", "Yes"], ["a", 5], [" a", "b"]])
def test_options_are_checked(options: Any) -> None:
    with pytest.raises(rk.RewardDefinitionError, match="choice: "):
        rk.choice("answer", options=options)


@pytest.mark.parametrize(
    "completion",
    [
        "The answer is (C)\n\nI hope this helps!", "**Answer: C**\n\nI chose it because of the sun.",
        "The answer is C, I think.", "I think the answer is C.", "C. I am sure.",
    ],
)  # fmt: skip
def test_the_pronoun_is_not_an_option(completion: str) -> None:
    assert value(completion, "C", options="ABCDEFGHIJ") == 1.0
    assert value(completion, "I", options="ABCDEFGHIJ") == 0.0


@pytest.mark.parametrize(
    ("options", "completion", "gold"),
    [
        (["yes", "no"], "Yes, because it rains.", "yes"),
        (["yes", "no"], "The answer is: Yes, since it rains.", "yes"),
        (["yes", "no"], "The answer is Yes\n\nNo further explanation is needed.", "yes"),
        (["yes", "no"], "The answer is NO.", "no"),
        (["yes", "no"], "The answer is no, because it rains.", "no"),
        (["yes", "no"], "**Yes**, it is.", "yes"),
        (["positive", "negative", "neutral"], "The sentiment is positive.", "positive"),
        (["positive", "negative", "neutral"], "Sentiment: Positive", "positive"),
        (["true", "false"], "The answer is False.", "false"),
        (["evet", "hayır"], "HAYIR", "hayır"),
        (["New York", "York"], "The answer is New York.", "New York"),
        (["对", "错"], "答案是对。", "对"),
        (["+", "-", "*"], "The answer is *.", "*"),
        (["+", "-", "*"], "*", "*"),
        ("1234", "The answer is 2.", "2"),
        ("1234", "**Answer: 2**\n\n1 is too small.", "2"),
        ("1234", "(2) Paris", "2"),
    ],
)
def test_other_options(options: Any, completion: str, gold: str) -> None:
    assert value(completion, gold, options=options) == 1.0


@pytest.mark.parametrize(
    ("options", "completion"),
    [
        ("1234", "The answer is 2.5"), ("1234", "<answer>2.5</answer>"), ("1234", "<answer>2,5</answer>"),
        ("1234", "The answer is 2/3"), ("1234", "The answer is -2"), ("1234", "The answer is 2-3"),
        ("1234", "The answer is 2%"), ("1234", "The answer is 12"), ("1234", "The answer is 1 2"),
        (["1", "2"], "The answer is not 2"), (["1", "2"], "2 or 1"),
    ],
)  # fmt: skip
def test_a_part_of_a_number_is_not_an_option(options: Any, completion: str) -> None:
    assert value(completion, "2", options=options) == 0.0


@pytest.mark.parametrize("completion", ["The sentiment is not positive.", "positive or negative", "Positive? No."])
def test_a_word_is_denied_like_a_letter(completion: str) -> None:
    assert value(completion, "positive", options=["positive", "negative"]) == 0.0


@pytest.mark.parametrize(
    "options", [{"A", "B"}, frozenset("AB"), {"A": 1, "B": 2}, None, 4, ["a\nb", "c"], ["a  b", "c"]]
)
def test_options_have_an_order_and_no_line_breaks(options: Any) -> None:
    with pytest.raises(rk.RewardDefinitionError, match="choice: options"):
        rk.choice("answer", options=options)


def test_options_are_few() -> None:
    with pytest.raises(rk.RewardDefinitionError, match="choice: got 101 options"):
        rk.choice("answer", options=map(str, range(101)))


def test_a_generator_of_options_is_listed_once() -> None:
    reward = rk.choice("answer", options=(name for name in ("yes", "no")))
    assert repr(reward) == "choice('answer', options=['yes', 'no'])"
    assert float(rk.score(pickle.loads(pickle.dumps(reward)), ["Yes"], answer=["yes"]).total[0]) == 1.0


@pytest.mark.parametrize("column", [None, 3, ["answer"]])
def test_the_column_is_a_name(column: Any) -> None:
    with pytest.raises(rk.RewardDefinitionError, match="choice: column must be the name"):
        rk.choice(column)


def test_a_digit_as_text_is_not_a_position() -> None:
    with pytest.raises(rk.errors.CoercionError, match="store integers"):
        value("B", "1")


def test_a_near_gold_is_suggested() -> None:
    with pytest.raises(rk.errors.CoercionError, match=r"\(Did you mean 'yes'\?\)\."):
        value("yes", "yess", options=["yes", "no"])


_PIECES = [
    "A",
    "B",
    "(C)",
    "D)",
    "the answer is ",
    "B is correct",
    "I choose ",
    "not ",
    "or ",
    ", ",
    "\n",
    ". ",
    "**",
    "####",
]
_NAMES = st.lists(st.text(min_size=1, max_size=4), min_size=2, max_size=5)


@given(st.lists(st.sampled_from(_PIECES), max_size=12).map(" ".join))
def test_at_most_one_gold_is_right_in_claims(completion: str) -> None:
    assert sum(value(completion, gold) for gold in "ABCD") <= 1.0


@given(_NAMES, st.data())
def test_any_options_and_any_text(names: list[str], data: st.DataObject) -> None:
    try:
        rk.choice("answer", options=names)
    except rk.RewardDefinitionError:
        return
    near = st.sampled_from([change(name) for name in names for change in (str, str.upper, str.lower, str.swapcase)])
    text = "".join(data.draw(st.lists(near | st.text(max_size=8) | st.sampled_from(_PIECES), max_size=8)))
    assert sum(value(text, gold, options=names) for gold in names) <= 1.0


@given(_NAMES)
def test_a_name_chooses_itself(names: list[str]) -> None:
    try:
        rk.choice("answer", options=names)
    except rk.RewardDefinitionError:
        return
    assert all(value(f"<answer>{name}</answer>", name, options=names) == 1.0 for name in names if name.isalnum())


@pytest.mark.parametrize(
    "unit",
    ["A", "A ", "(", "( not", "A or ", "the answer is A. ", "not ", "\n", "A\n", " ", "answer to ", "I choose A, "],
)
def test_a_flood_is_read_to_the_end(unit: str) -> None:
    assert value(unit * (190_000 // len(unit)) + "\n\nThe answer is", "B") == 0.0


def test_half_a_surrogate_is_read_over() -> None:
    assert value("\ud800 The answer is B \udfff") == 1.0


def test_letters_up_to_z() -> None:
    for gold in string.ascii_uppercase:
        assert value(f"The answer is ({gold}).", gold, options=string.ascii_uppercase) == 1.0


@given(st.text(alphabet="ABCD ().,:/*\n orandtheswi\\{}$", max_size=60))
def test_at_most_one_gold_is_right(completion: str) -> None:
    assert sum(value(completion, gold) for gold in "ABCD") <= 1.0


@given(st.text(max_size=200))
def test_no_text_raises(completion: str) -> None:
    assert value(completion) in (0.0, 1.0)
