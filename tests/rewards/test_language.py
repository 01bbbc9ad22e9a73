"""Language: the share of words in a language."""

from __future__ import annotations

import pickle
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, strategies as st

import rewardkit as rk
from rewardkit.text.languages import NAMES, family

SENTENCES = {
    "en": "First we add the two numbers, then we divide the result by three.",
    "de": "Zuerst addieren wir die beiden Zahlen, danach teilen wir das Ergebnis durch drei.",
    "fr": "D'abord nous additionnons les deux nombres, ensuite nous divisons le résultat par trois.",
    "es": "Primero sumamos los dos números y después dividimos el resultado entre tres.",
    "it": "Prima sommiamo i due numeri, poi dividiamo il risultato per tre.",
    "pt": "Primeiro somamos os dois números e depois dividimos o resultado por três.",
    "nl": "Eerst tellen we de twee getallen op, daarna delen we de uitkomst door drie.",
    "sv": "Först adderar vi de båda talen och sedan delar vi resultatet med tre.",
    "pl": "Najpierw dodajemy obie liczby, a potem dzielimy wynik przez trzy.",
    "cs": "Nejprve sečteme obě čísla a potom výsledek vydělíme třemi.",
    "tr": "Önce iki sayıyı topluyoruz, sonra da sonucu üçe bölüyoruz.",
    "vi": "Trước tiên chúng ta cộng hai số, sau đó chia kết quả cho ba.",
    "id": "Pertama kita menjumlahkan kedua bilangan itu, kemudian membagi hasilnya dengan tiga.",
    "ru": "Сначала мы складываем оба числа, а затем делим результат на три.",
    "uk": "Спочатку ми додаємо обидва числа, а потім ділимо результат на три.",
    "bg": "Първо събираме двете числа, а след това разделяме резултата на три.",
    "ar": "أولاً نجمع العددين ثم نقسم الناتج على ثلاثة.",
    "fa": "ابتدا دو عدد را با هم جمع می‌کنیم و سپس حاصل را بر سه تقسیم می‌کنیم.",
    "hi": "पहले हम दोनों संख्याओं को जोड़ते हैं, फिर परिणाम को तीन से भाग देते हैं।",
    "zh": "首先我们把两个数相加，然后把结果除以三。",
    "ja": "まず二つの数を足して、それから結果を三で割ります。",
    "ko": "먼저 두 수를 더한 다음 결과를 셋으로 나눕니다.",
    "el": "Πρώτα προσθέτουμε τους δύο αριθμούς και μετά διαιρούμε το αποτέλεσμα με το τρία.",
    "he": "קודם נחבר את שני המספרים ואחר כך נחלק את התוצאה בשלוש.",
    "th": "ขั้นแรกเราบวกจำนวนทั้งสองแล้วหารผลลัพธ์ด้วยสาม",
}
codes = st.sampled_from(sorted(SENTENCES))


def value(name: str, completion: str, **options: Any) -> float:
    return float(rk.score(rk.language(name, **options), [completion]).total[0])


def note(name: str, completion: str) -> str:
    return str(rk.score(rk.language(name), [completion]).notes["language"][0])


# --- Languages -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", SENTENCES)
def test_a_sentence_is_in_its_own_language_and_in_no_other(code: str) -> None:
    others = [other for other in NAMES if other != code]
    assert value(code, SENTENCES[code]) == 1.0
    table = rk.score(rk.language(column="wanted"), [SENTENCES[code]] * len(others), wanted=others)
    alike = {"id": "ms"}.get(code)
    assert not any(score for score, other in zip(table.total, others, strict=True) if other != alike)


@given(codes, codes, st.integers(1, 4), st.integers(1, 4))
def test_the_score_is_the_share_of_words(code: str, other: str, own: int, foreign: int) -> None:
    text = "\n".join([SENTENCES[code]] * own + [SENTENCES[other]] * foreign)
    if {code, other} == {"zh", "ja"} or code == other:
        return
    words = {one: int(note("ka", SENTENCES[one]).split()[2]) for one in (code, other)}
    share = own * words[code] / (own * words[code] + foreign * words[other])
    assert value(code, text) == pytest.approx(share)
    assert value(code, text, minimum=0.5) == pytest.approx(min(1.0, 2 * share))


def test_languages_that_share_a_script_are_told_apart_in_one_text() -> None:
    assert value("zh", SENTENCES["ja"]) == 0.0
    assert value("ja", SENTENCES["zh"]) == 0.0
    assert value("ru", SENTENCES["uk"]) == value("uk", SENTENCES["bg"]) == 0.0
    assert note("de", f"{SENTENCES['de']} {SENTENCES['en']}") == "13 of 26 words are English"
    assert note("en", f"{SENTENCES['en']} {SENTENCES['ru']}") == "10 of 23 words are Cyrillic"


@pytest.mark.parametrize("name", ["de", "de-AT", "de_CH", "German", "german", "DE", " de "])
def test_names_of_a_language(name: str) -> None:
    assert value(name, SENTENCES["de"]) == 1.0
    table = rk.score(rk.language(column="language"), [SENTENCES["de"], SENTENCES["en"]], language=[name, name])
    assert table.total.tolist() == [1.0, 0.0]


# --- What counts ---------------------------------------------------------------------------------------

ASIDES = [
    "```python\nfor number in the_list:\n    print(number)\n```",
    "~~~\nthe quick brown fox jumps over the lazy dog\n~~~",
    "`the quick brown fox`",
    "$the + quick = brown$",
    "$$\\text{the quick brown fox}$$",
    "\\(the quick brown fox\\)",
    "\\[the quick brown fox\\]",
    "\\begin{align}the quick brown fox\\end{align}",
    "https://example.com/the/quick/brown/fox?jumps=over",
    "the.quick.brown@fox.example",
    '{"the": "quick brown fox", "jumps": ["over", "the", "lazy dog"]}',
    "12,345.67",
    "x",
    "<answer>",
    "\\boxed{42}",
]


@given(codes.filter(lambda code: code not in ("zh", "ja")), st.lists(st.sampled_from(ASIDES), max_size=4))
def test_asides_do_not_count(code: str, asides: list[str]) -> None:
    text = "\n".join([*asides, SENTENCES[code], *asides])
    assert value(code, text) == 1.0
    for other in {"en", "ru"} - {code}:
        assert value(other, text) == 0.0


def test_thinking_counts_only_if_asked_for() -> None:
    text = f"<think>{SENTENCES['en']}</think>{SENTENCES['de']}"
    assert value("de", text) == 1.0
    assert value("de", text, extract=rk.extract.raw()) == pytest.approx(13 / 26)
    assert value("de", f"<think>{SENTENCES['de']}") == 0.0


def test_a_fence_that_never_closes_is_text() -> None:
    assert value("de", f"{SENTENCES['de']}\n```\n{SENTENCES['en']}") == pytest.approx(13 / 26)
    assert value("de", f"{SENTENCES['de']} $ {SENTENCES['en']} $5, $6") == pytest.approx(13 / 26)


def test_a_policy_that_mixes_letters_or_hides_characters_gains_nothing() -> None:
    assert value("de", "\u200b".join(SENTENCES["en"])) == 0.0
    assert value("de", SENTENCES["en"].upper()) == 0.0
    assert value("ru", "Aнcweр is hеre tоdаy аnd nоw") == 0.0
    bold = "".join(chr(0x1D41A + ord(one) - 97) if "a" <= one <= "z" else one for one in SENTENCES["en"])
    assert value("de", bold) == 0.0
    assert value("en", bold) == 1.0


# --- Too little to tell --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text", "score"),
    [
        ("en", "Paris", 1.0),
        ("en", "Ja, natürlich", 1.0),
        ("en", "Париж", 0.0),
        ("zh", "答案", 1.0),
        ("ru", "Париж", 1.0),
    ],
)
def test_a_few_words_are_judged_by_their_script(name: str, text: str, score: float) -> None:
    assert value(name, text) == score
    assert note(name, text).startswith("too short to tell")


def test_a_script_of_one_language_needs_no_length() -> None:
    assert (value("el", "Αθήνα"), note("el", "Αθήνα")) == (1.0, "")


@pytest.mark.parametrize("text", ["", "42", "\\boxed{42}", "x = 3", "🎉", "```\nfour words of code\n```", "\u200b"])
def test_a_text_without_words_scores_nothing(text: str) -> None:
    assert (value("en", text), note("en", text)) == (0.0, "no words")


def test_a_text_that_is_too_long_scores_nothing() -> None:
    assert note("en", "a" * 200_001) == "longer than 200,000 characters"


@given(st.sampled_from(sorted(NAMES)), st.text() | st.text('aeößяقक答かกα. \u0301\u200b$`{<"', max_size=200))
def test_any_text_has_a_score(code: str, text: str) -> None:
    assert 0.0 <= value(code, text) <= 1.0


# --- Options -------------------------------------------------------------------------------------------


@given(st.lists(st.tuples(codes, codes), min_size=1, max_size=5))
def test_a_column_scores_as_each_language_does_alone(rows: list[tuple[str, str]]) -> None:
    texts = [SENTENCES[code] for code, _ in rows]
    table = rk.score(rk.language(column="wanted"), texts, wanted=[wanted for _, wanted in rows])
    assert table.total.tolist() == [value(wanted, text) for (_, wanted), text in zip(rows, texts, strict=True)]


def test_cells_of_a_column() -> None:
    reward = rk.language(column="language")
    assert rk.score(reward, ["x"], language=[None]).outcomes["language"][0] is rk.Outcome.ABSTAINED
    for cell in ("klingon", "", 5, ["en"], "deu"):
        with pytest.raises(rk.errors.CoercionError, match="column 'language', row 0"):
            rk.score(reward, ["x"], language=[cell])


def test_what_cannot_be_asked() -> None:
    for name, column in ((None, None), ("en", "a"), (None, " "), ("klingon", None), ("Latin", None)):
        with pytest.raises(rk.RewardDefinitionError):
            rk.language(name, column=column)
    with pytest.raises(rk.RewardDefinitionError, match="'german'"):
        rk.language("germen")
    for minimum in (0.0, 1.5, "0.5", None, float("nan")):
        with pytest.raises(rk.RewardDefinitionError, match="minimum"):
            rk.language("en", minimum=minimum)  # type: ignore[arg-type]


def test_rewards_are_pickled_and_written_as_they_are_made() -> None:
    for reward in (rk.language("en", minimum=0.8), rk.language(column="a", extract=rk.extract.raw())):
        assert pickle.loads(pickle.dumps(reward)) == reward
    assert str(rk.language("en", minimum=0.8)) == "language('en', minimum=0.8)"


def test_a_missing_library_is_named_with_its_extra() -> None:
    code = """if True:
        import importlib.util, sys
        found = importlib.util.find_spec
        importlib.util.find_spec = lambda name, *rest: None if name == "py3langid" else found(name, *rest)
        import rewardkit as rk
        rk.language("el")
        try:
            rk.language("en")
        except rk.errors.MissingExtraError as error:
            sys.exit("[language]" not in str(error) or "py3langid" in sys.modules)
        sys.exit("no error")
    """
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_only_languages_that_share_a_script_are_confused() -> None:
    assert family("el") == ("el",)
    assert set(family("zh")) == {"zh", "ja"}
    assert all(code in family(code) for code in NAMES)
