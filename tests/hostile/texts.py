r"""Completions by an adversary: name -> text. None of them contains the answer that the rewards look for.

Each one is made when it is used. The long ones have up to 200,001 characters, one more than a primitive reads.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

LONG = 200_000


def times(piece: str, count: int, head: str = "", tail: str = "") -> Callable[[], str]:
    return partial(_times, piece, count, head, tail)


def _times(piece: str, count: int, head: str, tail: str) -> str:
    return head + piece * count + tail


def plain(text: str) -> Callable[[], str]:
    return times(text, 1)


TEXTS: dict[str, Callable[[], str]] = {
    # nothing
    "empty": plain(""),
    "space": plain(" "),
    "new lines": times("\n", 1_000),
    "NUL": times("\0", 1_000),
    "byte order mark": plain("\ufeff"),
    "zero width": times("\u200b\u200c\u200d\u2060\ufeff", 1_000),
    "Hangul filler": times("\u3164", 1_000),
    "braille blank": times("\u2800", 1_000),
    "soft hyphens": times("\u00ad", LONG),
    "unassigned": times("\U000e0fff", 1_000),
    # much of one thing
    "letters": times("a", LONG),
    "one more than is read": times("a", LONG + 1),
    "ten times what is read": times("a", 10 * LONG),
    "spaces": times(" ", LONG - 1, "x"),
    "digits": times("7", LONG),
    "zeros after a point": times("0", LONG - 3, "1.", "1"),
    "commas": times(",", LONG),
    "quotes": times('"', LONG),
    "backslashes": times("\\", LONG),
    "escaped quotes": times('\\"', LONG // 2),
    "brackets": times("[", LONG),
    "braces": times("{", LONG),
    "parentheses": times("(", LONG),
    "pairs of parentheses": times("()", LONG // 2),
    "less than": times("<", LONG),
    "greater than": times(">", LONG),
    "dollars": times("$", LONG),
    "hashes": times("#", LONG),
    "ticks": times("`", LONG),
    "tildes": times("~", LONG),
    "stars": times("*", LONG),
    "minus": times("-", LONG),
    "points": times(".", LONG),
    "percent": times("%", LONG),
    "equals": times("=", LONG),
    "carets": times("^", LONG),
    "tabs and returns": times("\t\r", LONG // 2),
    "words": times("the ", LONG // 4),
    "lines": times("x\n", LONG // 2),
    "emoji": times("\U0001f469\u200d\U0001f4bb", LONG // 3),
    # tags and marks that never end
    "openings": times("<think>", 20_000),
    "closings": times("</think>", 20_000),
    "nested thinking": times("<think>", 10_000, "", "</think>" * 10_000),
    "alternating tags": times("<think></think><answer></answer>", 5_000),
    "answer never closed": times("x", 1_000, "<answer>"),
    "answers": times("<answer>7</answer>", 10_000),
    "boxes that never close": times("\\boxed{", 20_000),
    "nested boxes": times("\\boxed{", 10_000, "", "}" * 10_000),
    "marks": times("#### ", 40_000),
    "fences": times("```python\n", 20_000),
    "fences that grow": plain("\n".join("`" * length for length in range(3, 600))),
    "end of turn": times("<|im_end|>", 20_000),
    "answer is": times("the answer is ((", 10_000),
    "enumeration": times("A or B, ", 20_000),
    # JSON
    "deep array": times("[", 100_000, "", "]" * 100_000),
    "deep object": times('{"a":', 30_000, "", "1" + "}" * 30_000),
    "array of 65": times("[", 65, "", "]" * 65),
    "duplicate keys": plain('{"sku": "b", "sku": "b", "qty": 7, "qty": 8}'),
    "NaN": plain('{"sku": NaN, "qty": NaN}'),
    "infinity": plain('{"sku": "b", "qty": Infinity}'),
    "1e999": plain('{"sku": "b", "qty": 1e999}'),
    "5,000 digits": times("7", 5_000, '{"sku": "b", "qty": ', "}"),
    "many keys": plain("{" + ", ".join(f'"k{number}": {number}' for number in range(12_000)) + "}"),
    "many items": plain("[" + ", ".join(["7"] * 60_000) + "]"),
    "unclosed string": times("a", 100_000, '{"sku": "'),
    "half a character escaped": plain('{"sku": "\\ud800", "qty": 7}'),
    "key of 100,000": times("k", 100_000, '{"', '": 1}'),
    "prototype": plain('{"__proto__": {"qty": 7}, "constructor": {"sku": "b"}}'),
    "comments": plain('{/* sku */ "sku": "b", // qty\n "qty": 7,}'),
    "single quotes": plain("{'sku': 'b', 'qty': 7}"),
    # Unicode
    "lone surrogate": plain("\ud800"),
    "surrogates": times("\udfff\ud800", 10_000),
    "right to left": times("\u202e", 10_000, "24 si ti"),
    "piled marks": times("\u0301\u0316", LONG // 2),
    "marks on a letter": times("\u0344\u0f73", 50_000, "a"),
    "Hangul jamo": times("\u1100\u1161\u11a8", 60_000),
    "ligatures that grow": times("\ufdfa", 60_000),
    "sharp s": times("\u00df\u0130", 60_000),
    "Arabic digits": plain("\u0664\u0663"),
    "full-width digits": plain("\uff14\uff13"),
    "superscripts": plain("\u2074\u00b3"),
    "line separators": times("\u2028\u2029\x85\x0b\x0c", 10_000),
    "private use": times("\ue000", 10_000),
    "noncharacters": times("\uffff\U0010ffff", 10_000),
    # what a terminal, browser, shell or Python would act on
    "clipboard escape": plain("\x1b]52;c;cm0gLXJmIC8=\x07\x1b[2J\x1b[31m"),
    "script": plain("<script>fetch('http://127.0.0.1:9')</script><img src=x onerror=alert(1)>"),
    "format string": plain("{0.__class__.__mro__}%s%n%(x)s${7*7}"),
    "shell": plain("$(touch /tmp/owned); `touch /tmp/owned`"),
    "eval": plain("__import__('os').system('touch /tmp/owned')"),
    "pickle": plain("cos\nsystem\n(S'touch /tmp/owned'\ntR."),
    # numbers and mathematics
    "tower": plain("$9^{9^{9^{9^{9}}}}$"),
    "boxed tower": plain("\\boxed{9^{9^{9^{9}}}}"),
    "Python tower": plain("9**9**9**9"),
    "factorials": plain("\\boxed{((((9!)!)!)!)!}"),
    "huge sum": plain("\\boxed{\\sum_{i=1}^{10^{12}} i^{i}}"),
    "huge product": plain("\\boxed{\\prod_{i=1}^{10^{9}} i}"),
    "integral": plain("\\boxed{\\int_0^{\\infty} e^{-x^{x^{x}}} \\sin(\\tan(x)) dx}"),
    "binomial": plain("\\boxed{\\binom{10^{9}}{5 \\cdot 10^{8}}}"),
    "fractions": times("\\frac{1}{", 5_000, "\\boxed{", "2" + "}" * 5_001),
    "roots": times("\\sqrt{", 5_000, "\\boxed{", "2" + "}" * 5_001),
    "lefts": times("\\left(", 5_000, "\\boxed{", "}"),
    "matrix": times("1 & ", 20_000, "\\boxed{\\begin{pmatrix}", "1\\end{pmatrix}}"),
    "powers": times("(", 300, "\\boxed{", "x" + "+1)^{99}" * 300 + "}"),
    "digits in a box": times("9", 100_000, "\\boxed{", "}"),
    "unicode powers": plain("\\boxed{9\u2079\u2079\u2079\u2079}"),
    "1e9999999": plain("\\boxed{1e9999999}"),
    "not a number": plain("nan"),
    "infinite": plain("-inf"),
    "underscores": plain("4_3"),
    "hexadecimal": plain("0x2b"),
    # programs
    "loops for ever": plain("```python\nwhile True: pass\n```"),
    "prints for ever": plain("```python\nwhile True: print('x' * 10**6)\n```"),
    "takes memory": plain("```python\nx = []\nwhile True: x.append(bytearray(10**7))\n```"),
    "forks": plain("```python\nimport os\nwhile True: os.fork()\n```"),
    "kills": plain("```python\nimport os, signal\nos.kill(-1, signal.SIGKILL)\n```"),
    "deep source": times("(", 50_000, "```python\n", "\n```"),
    "null in source": plain("```python\nprint(1)\0\n```"),
    "exits well": plain("```python\nimport os\nos._exit(0)\n```"),
}
