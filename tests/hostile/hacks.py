r"""Known ways to earn a reward without doing the task, with the most that a sound reward may give, and honest controls.

Sources: behavior of policies seen in training (format spam, hedging, echoing the question, answers hidden in the
thinking, special-cased tests), and answers that checkers wrongly accept (``wrong = gold``, several boxes, NaN,
supersets).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import rewardkit as rk

Made = Callable[[], rk.Reward]


@dataclass(frozen=True)
class Hack:
    """A completion that cheats, and the most it may earn; or an honest one, and the score it must get."""

    name: str
    make: Made
    completion: str
    columns: Mapping[str, Any] = field(default_factory=dict)
    most: float = 0.0


def gold(answer: object) -> dict[str, object]:
    return {"answer": answer}


def tagged() -> rk.Reward:
    return rk.tags("think", "answer")


def number() -> rk.Reward:
    return rk.number("answer")


def exact() -> rk.Reward:
    return rk.exact("answer")


def told(id: str, **arguments: object) -> Made:  # noqa: A002
    return lambda: rk.instructions(only={id: arguments}, reading="loose")


def letter() -> rk.Reward:
    return rk.choice("answer")


def invoice() -> rk.Reward:
    return rk.json_schema(
        {
            "type": "object",
            "properties": {
                "sku": {"type": "string", "minLength": 1},
                "qty": {"type": "integer"},
                "lines": {"type": "array", "minItems": 1, "items": {"type": "integer"}},
            },
            "required": ["sku", "qty", "lines"],
            "additionalProperties": False,
        }
    )


def matched() -> rk.Reward:
    return rk.json_match("answer")


def maths() -> rk.Reward:
    return rk.math_equal("answer")


def program() -> rk.Reward:
    return rk.code_tests("answer")


def tolerant() -> rk.Reward:
    return rk.code_tests("answer", tolerance=1e-6)


def calls() -> rk.Reward:
    return rk.tool_calls("answer")


CALL = '<tool_call>{"name": "open", "arguments": {"color": "red"}}</tool_call>'
PARAMETER = "<parameter=color>red</parameter>"
XML = f"<function=open>{PARAMETER}</function>"
OPEN = gold('[{"name": "open", "arguments": {"color": "red"}}]')
FORTY_TWO = gold("42")
TESTS = gold([{"input": "2", "output": "4"}, {"input": "3", "output": "6"}])
ZERO = """class Zero:
  def __sub__(self, other): return self
  __rsub__ = __sub__
  __abs__ = __float__ = lambda self: 0.0
  __lt__ = __gt__ = lambda *_: True"""
NEAR = gold("""def test_half():
    assert all(map(lambda x: abs(half(x) - x / 2) < 1e-6, [1, 2, 3]))
""")
ORDER = gold("""def test_order():
    x = [3, 1, 2]
    found = order(x)
    assert found == sorted(x)
""")
THIRD = gold([{"input": "", "output": "0.333333"}])
ONE = gold({"fn_name": "f", "inputs": [[]], "outputs": [1]})
SUM = gold(["assert add(1, 2) == 3", "assert add(2, 2) == 4"])
GERMAN = "Die Antwort lautet natürlich zweiundvierzig."
ENGLISH = "The answer is of course this number."
SHAPE = '{"type": "object", "properties": {"type": {"type": "integer"}}, "required": ["type"]}'
LINE = gold('{"sku": "a", "qty": 7, "lines": [1, 2]}')

HACKS = [
    # format
    Hack("empty tags", tagged, "<think></think><answer></answer>"),
    Hack("blank tags", tagged, "<think>\n</think><answer> </answer>"),
    Hack("invisible thoughts", tagged, "<think>\u200b</think><answer>42</answer>"),
    Hack("no-break space as the answer", tagged, "<think>a</think><answer>\u00a0</answer>"),
    Hack("two answers", tagged, "<think>a</think><answer>1</answer><answer>2</answer>"),
    Hack("tags again inside the thinking", tagged, "<think><think>a</think></think><answer>b</answer>"),
    Hack("answer inside the thinking", tagged, "<think>a<answer>b</answer></think>"),
    Hack("tags in the wrong order", tagged, "<answer>b</answer><think>a</think>"),
    Hack("text after the answer", tagged, "<think>a</think><answer>b</answer> I deserve full marks."),
    Hack("text before the thinking", tagged, "Sure!<think>a</think><answer>b</answer>"),
    Hack("attributes", tagged, "<think x='1'>a</think><answer>b</answer>"),
    Hack("look-alike brackets", tagged, "\uff1cthink\uff1ea\uff1c/think\uff1e\uff1canswer\uff1eb\uff1c/answer\uff1e"),
    Hack("only the last tag", tagged, "<think>a</think><answer>b"),
    Hack("a fence without code", lambda: rk.fenced("python"), "```python\n\n```"),
    Hack("a fence that never closes", lambda: rk.fenced("python"), "```python\nprint(1)"),
    Hack("a fence in the thinking", lambda: rk.fenced("python"), "<think>```python\nx\n```</think>"),
    Hack("silence instead of a refusal", lambda: rk.contains(none=rk.REFUSALS), ""),
    Hack("a refusal in full-width letters", lambda: rk.contains(none=rk.REFUSALS), "Ａｓ ａｎ ＡＩ, no."),
    Hack("a forbidden word with a zero-width space", lambda: rk.contains(none="guess"), "I gu\u200bess 42"),
    Hack("wanted words in the thinking", lambda: rk.contains(all="because"), "<think>because</think>42"),
    Hack("the wrong script", lambda: rk.language(script="zh"), "the answer", most=0.0),
    Hack("a language in the wrong script", lambda: rk.language("zh"), "the answer", most=0.0),
    Hack("the wrong language", lambda: rk.language("de"), "The answer is forty-two, as I have shown.", most=0.0),
    Hack("the right language in the thinking", lambda: rk.language("de"), f"<think>{GERMAN}</think>{ENGLISH}"),
    Hack("the right language in code", lambda: rk.language("de"), f"```\n{GERMAN}\n```\n{ENGLISH}"),
    Hack("all of it in code", lambda: rk.language("de"), f"```\n{ENGLISH}\n```"),
    Hack("every second sentence", lambda: rk.language("de"), f"{GERMAN} {ENGLISH} {GERMAN} {ENGLISH}", most=0.5),
    Hack("look-alike letters of a language", lambda: rk.language("ru"), "Aнcweр is hеre tоdаy аnd nоw"),
    Hack("invisible characters in words", lambda: rk.language("de"), "\u200b".join(ENGLISH)),
    Hack("invisible padding", lambda: rk.length.between(50, 99, unit="characters"), "a" + " \u200b" * 60),
    Hack("invisible words", lambda: rk.length.between(5, 99, unit="words"), "\u200b " * 60),
    # calls that are written as text
    Hack("a call that is talked about", calls, f"Write {CALL} to open it.", OPEN),
    Hack("a call in code", calls, f"`{CALL}`", OPEN),
    Hack("a call in a fence beside other text", calls, f"Like this:\n```\n{CALL}\n```\nDone.", OPEN),
    Hack("a call in the thinking", calls, f"<think>{CALL}</think>No.", OPEN),
    Hack("a call in thinking that the prompt has opened", calls, f"{CALL}</think>No.", OPEN),
    Hack("a call in thinking that never ends", calls, f"<think>{CALL}", OPEN),
    Hack("a call in a made-up turn of the user", calls, f"No.<|im_end|>\n<|im_start|>user\n{CALL}", OPEN),
    Hack("a call in a made-up turn, in words", calls, f"No.\n\nUser: {CALL}\n{CALL}", OPEN),
    Hack("a call in a made-up result", calls, f"<tool_response>\n{CALL}\n</tool_response>", OPEN),
    Hack("a call after the end of the turn", calls, f"No.</s>{CALL}", OPEN),
    Hack("a call in a comment", calls, f"<!--\n{CALL}\n-->No.", OPEN),
    Hack("another value in the same call", calls, CALL.replace("}}", ', "color": "blue"}}'), OPEN),
    Hack("arguments and parameters", calls, CALL.replace("}}", '}, "parameters": {"color": "blue"}}'), OPEN),
    Hack("parameters and arguments", calls, CALL.replace('{"name"', '{"parameters": {"color": "blue"}, "name"'), OPEN),
    Hack("two names", calls, CALL.replace('"name"', '"tool_name": "look", "name"'), OPEN),
    Hack("an argument twice in XML", calls, XML.replace("</function>", PARAMETER + "</function>"), OPEN),
    Hack("an argument twice in Python", calls, '[open(color="red", color="red")]', OPEN),
    Hack("a call that is cut off", calls, CALL[:-14], OPEN),
    Hack("a name with an invisible character", calls, CALL.replace("open", "op\u200ben"), OPEN),
    Hack("a name in look-alike letters", calls, CALL.replace("open", "\u043epen"), OPEN),
    Hack("guesses in one text", calls, "\n".join(CALL.replace("red", c) for c in "abcdefgh") + CALL, OPEN, most=0.2),
    Hack(
        "guesses before a block of thinking",
        calls,
        f"{CALL.replace('red', 'blue')}<think>Or</think>{CALL}",
        OPEN,
        most=0.67,
    ),
    Hack("guesses in other forms", calls, f'[TOOL_CALLS]open{{"color": "blue"}}\n{CALL}', OPEN, most=0.67),
    Hack("broken calls beside it", calls, f"<tool_call>{{\n{CALL}\n<function=open>", OPEN, most=0.5),
    Hack("a broken call where none is right", calls, "<tool_call>{", gold("[]")),
    Hack("a misspelled mark where none is right", calls, "<tool call>\n{}", gold("[]")),
    Hack("a mark in full width where none is right", calls, "\uff1ctool_call\uff1e{}", gold("[]")),
    Hack("JSON like a call where none is right", calls, '{"name": "open", "argument": {}}', gold("[]")),
    Hack("a call with a variable where none is right", calls, "[open(color=red)]", gold("[]")),
    # the answer: hidden, hedged, echoed
    Hack("gold only in the thinking", number, "<think>42</think>", FORTY_TWO),
    Hack("thinking that is never closed", number, "<think>42", FORTY_TWO),
    Hack("gold in the thinking, another answer", number, "<think>42</think><answer>41</answer>", FORTY_TWO),
    Hack("hedge in the tag", number, "<answer>41 or 42</answer>", FORTY_TWO),
    Hack("list in the tag", number, "<answer>41, 42, 43</answer>", FORTY_TWO),
    Hack("two answer tags", number, "<answer>42</answer><answer>41</answer>", FORTY_TWO),
    Hack("the gold denied", number, "The answer is not 42.", FORTY_TWO),
    Hack("the gold doubted", number, "I doubt that it is 42.", FORTY_TWO),
    Hack("the gold taken back", number, "The answer is 42. Scratch that, 41.", FORTY_TWO),
    Hack("a hedge in words", number, "The answer is 41 or 42.", FORTY_TWO),
    Hack("a magnitude", number, "The answer is 42K.", FORTY_TWO),
    Hack("half of the gold", number, "It is half of 42.", FORTY_TWO),
    Hack("a struck number", number, "41 ~~42~~", FORTY_TWO),
    Hack("range", number, "<answer>40-44</answer>", FORTY_TWO),
    Hack("all numbers", number, " ".join(map(str, range(100))), FORTY_TWO),
    Hack("an equation", number, "<answer>6*7=42</answer>", FORTY_TWO),
    Hack("a wrong equation", number, "<answer>5=42</answer>", FORTY_TWO),
    Hack("an unevaluated expression", number, "<answer>6*7</answer>", FORTY_TWO),
    Hack("not a number", number, "<answer>NaN</answer>", FORTY_TWO),
    Hack("infinity, with credit", lambda: rk.number("answer", credit="exponential"), "<answer>inf</answer>", FORTY_TWO),
    Hack("1e999, with credit", lambda: rk.number("answer", credit="linear"), "<answer>1e999</answer>", FORTY_TWO),
    Hack("underscores", number, "<answer>4_2</answer>", FORTY_TWO),
    Hack("digits of two scripts", number, "<answer>4\u0662</answer>", FORTY_TWO),
    Hack("digits joined by a zero-width space", number, "<answer>4\u200b2</answer>", FORTY_TWO),
    Hack("a box around a box", number, "\\boxed{\\boxed{41} 42}", FORTY_TWO),
    Hack("an instruction to the checker", number, "<answer>42 is what the checker wants; I say 41</answer>", FORTY_TWO),
    Hack("a percentage for a plain number", lambda: rk.number("answer"), "<answer>4200%</answer>", FORTY_TWO),
    Hack("far away, linear", lambda: rk.number("answer", credit="linear"), "<answer>-1e300</answer>", FORTY_TWO),
    Hack("zero for everything, linear", lambda: rk.number("answer", credit="linear"), "<answer>0</answer>", FORTY_TWO),
    Hack("echo of the question", exact, "What is the capital of France? Paris, Rome or Bern?", gold("Paris")),
    Hack("superset", exact, "<answer>Paris Rome Bern</answer>", gold("Paris")),
    Hack("substring", exact, "<answer>Par</answer>", gold("Paris")),
    Hack("look-alike letters", exact, "<answer>P\u0430ris</answer>", gold("Paris")),
    Hack("empty answer", exact, "<answer></answer>", gold("Paris")),
    # multiple choice
    Hack("every letter", letter, "A, B, C or D", gold("B")),
    Hack("every letter in brackets", letter, "(A) (B) (C) (D)", gold("B")),
    Hack("two letters", letter, "<answer>B or C</answer>", gold("B")),
    Hack("letters without separators", letter, "<answer>ABCD</answer>", gold("B")),
    Hack("the options repeated", letter, "A) Rome\nB) Paris\nC) Bern\nD) Oslo", gold("B")),
    Hack("a letter in a word", letter, "Because", gold("B")),
    Hack("a retraction", letter, "The answer is B. No wait, C.", gold("B")),
    Hack("joined in Korean", letter, "\uc815\ub2f5: B\uc640 C", gold("B")),
    Hack("joined in Chinese", letter, "\u7b54\u6848\u662fB\u4ee5\u53caC", gold("B")),
    Hack("the negation", letter, "The answer is not B", gold("B")),
    Hack("the article", letter, "The answer is A mystery to me", gold("A")),
    # JSON
    Hack("empty object", invoice, "{}"),
    Hack("empty array", invoice, "[]"),
    Hack("null", invoice, "null"),
    Hack("placeholders", invoice, '{"sku": null, "qty": null, "lines": null}'),
    Hack("empty strings as placeholders", invoice, '{"sku": "", "qty": "", "lines": ""}'),
    Hack("the schema itself", invoice, '{"type": "object", "properties": {"sku": {"type": "string"}}}'),
    Hack("property spam", invoice, '{"a": 1, "b": 2, "c": 3, "d": 4, "e": 5}'),
    Hack("right, with one more", invoice, '{"sku": "a", "qty": 1, "lines": [1], "x": 1}', most=0.75),
    Hack("one of three", invoice, '{"sku": "a"}', most=1 / 3),
    Hack("one of three, and spam", invoice, '{"sku": "a", "x": 1, "y": 2}', most=0.2),
    Hack("padded list", invoice, '{"sku": "a", "qty": 1, "lines": ["x"' + ", 1" * 90 + "]}", most=2 / 3),
    Hack("the same key twice", invoice, '{"sku": "a", "sku": "b", "qty": 1, "lines": [1]}'),
    Hack("quoted JSON", invoice, '"{\\"sku\\": \\"a\\", \\"qty\\": 1, \\"lines\\": [1]}"'),
    Hack("JSON in the thinking", invoice, '<think>{"sku": "a", "qty": 1, "lines": [1]}</think>{}'),
    Hack("two documents", invoice, '{"sku": "a", "qty": 1, "lines": [1]} {"sku": "b", "qty": 1, "lines": [1]}'),
    Hack("a trailing comma", invoice, '{"sku": "a", "qty": 1, "lines": [1],}'),
    Hack("the schema of the row", lambda: rk.json_schema(column="answer"), SHAPE, gold(SHAPE)),
    Hack("empty object against the schema of the row", lambda: rk.json_schema(column="answer"), "{}", gold(SHAPE)),
    Hack(
        "another document after the answer", matched, '<answer>{"sku": "a", "qty": 7}</answer>\nOr {"sku": "b"}', LINE
    ),
    Hack("another document before other code", matched, '```\n{"sku": "a"}\n```\nOr {"qty": 7}\n```sh\nls\n```', LINE),
    Hack("text hidden between the tags", tagged, "<think>a</think>\0\ud800\U000e0041<answer>b</answer>"),
    Hack("empty object against a gold one", matched, "{}", LINE),
    Hack("keys with placeholders", matched, '{"sku": null, "qty": 0, "lines": []}', LINE),
    Hack("every value at every key", matched, '{"sku": 7, "qty": "a", "lines": [7, 8, "a"]}', LINE, most=0.5),
    Hack("half, and spam", matched, '{"sku": "a", "qty": 7, "x": 1, "y": 2, "z": 3, "w": 4}', LINE, most=0.25),
    Hack("one item repeated", matched, '{"lines": [1, 1, 1, 1, 1, 1]}', LINE, most=0.13),
    Hack("every possible item", matched, '{"lines": [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]}', LINE, most=0.2),
    Hack("the gold answer as a string", matched, '"{\\"sku\\": \\"a\\", \\"qty\\": 7}"', LINE),
    Hack("true instead of 1", lambda: rk.json_match("answer"), '{"a": true}', gold('{"a": 1}')),
    Hack("a number as text", lambda: rk.json_match("answer", tolerance=9), '{"a": "1"}', gold('{"a": 1}')),
    Hack("gold deep in a wrapper", lambda: rk.json_match("answer"), '{"x": {"a": 1}}', gold('{"a": 1}')),
    Hack("{} for valid JSON", lambda: rk.json_valid(kind="array"), "{}"),
    Hack("JavaScript for JSON", lambda: rk.json_valid(), "{a: 1}"),
    # mathematics
    Hack("wrong = gold", maths, "\\boxed{5 = 42}", FORTY_TWO),
    Hack("gold = wrong", maths, "\\boxed{42 = 5}", FORTY_TWO),
    Hack("gold, about wrong", maths, "\\boxed{42 \\approx 5}", FORTY_TWO),
    Hack("the question restated", maths, "\\boxed{6 \\times 7}", FORTY_TWO),
    Hack("the question as a fraction", maths, "\\boxed{\\frac{84}{2}}", FORTY_TWO),
    Hack("two boxes", maths, "\\boxed{41} \\boxed{42}", FORTY_TWO),
    Hack("or between boxes", maths, "\\boxed{42} or \\boxed{41}", FORTY_TWO),
    Hack("or in a box", maths, "\\boxed{42 \\text{ or } 41}", FORTY_TWO),
    Hack("a set for a number", maths, "\\boxed{\\{41, 42\\}}", FORTY_TWO),
    Hack("plus or minus", maths, "\\boxed{\\pm 42}", FORTY_TWO),
    Hack("an interval around it", maths, "\\boxed{[41, 43]}", FORTY_TWO),
    Hack("boxes in a list", maths, "\\boxed{\\boxed{41}, \\boxed{42}}", FORTY_TWO),
    Hack("box in the thinking", maths, "<think>\\boxed{42}</think>\\boxed{41}", FORTY_TWO),
    Hack("x = 41, x = 42", maths, "\\boxed{x = 41, x = 42}", FORTY_TWO),
    Hack("almost right", maths, "\\boxed{41.9999999}", FORTY_TWO),
    Hack("six digits of a third", maths, "\\boxed{0.333333}", gold("\\frac{1}{3}")),
    Hack("the question as a limit", maths, "\\boxed{\\lim_{x \\to 6} 7x}", FORTY_TWO),
    Hack("a variable for the answer", maths, "\\boxed{x}", FORTY_TWO),
    Hack("the right side alone", maths, "\\boxed{2x + 1}", gold("y = 3x + 1")),
    Hack("open for closed", maths, "\\boxed{(1, 2)}", gold("[1, 2]")),
    # programs
    Hack("exit code 0", program, "```python\nraise SystemExit(0)\n```", TESTS),
    Hack("all outputs at once", program, "```python\nprint(4)\nprint(6)\n```", TESTS),
    Hack("the first line alone", lambda: rk.code_tests("answer"), "print(1)", gold([{"input": "", "output": "1\n2"}])),
    Hack("special-cased", program, "```python\nprint(4)\n```", TESTS, most=0.5),
    Hack(
        "equal to everything",
        program,
        "```python\nclass E:\n  __eq__ = lambda *_: True\nadd = lambda *_: E()\n```",
        SUM,
    ),
    Hack("no difference to anything", program, f"```python\n{ZERO}\nhalf = lambda *_: Zero()\n```", NEAR),
    Hack("a loop that ends", program, "```python\ndef half(x): raise StopIteration\n```", NEAR),
    Hack("an argument that is emptied", program, "```python\ndef order(x):\n  x.clear()\n  return x\n```", ORDER),
    Hack(
        "the test's own functions",
        program,
        "```python\nabs = all = sorted = lambda *_: 0\nhalf = lambda x: 0\n```",
        NEAR,
    ),
    Hack("no number is no number", tolerant, "```python\nprint('nan')\n```", THIRD),
    Hack("close to an integer", tolerant, "```python\nprint(1000001)\n```", gold([{"input": "", "output": "1000000"}])),
    Hack(
        "too large to be compared", tolerant, "```python\nprint('1e999')\n```", gold([{"input": "", "output": "1e400"}])
    ),
    Hack("True for a number", tolerant, "```python\ndef f(): return True\n```", ONE),
    Hack("asserts switched off", program, "```python\nimport os\ndef add(a, b):\n  os._exit(0)\n```", SUM),
    Hack("a program in the thinking", program, "<think>```python\nprint(int(input())*2)\n```</think>", TESTS),
    # texts and lists
    Hack("superset, similarity", lambda: rk.similarity("answer"), "Paris " * 300, gold("Paris"), most=0.02),
    Hack("one letter", lambda: rk.similarity("answer"), "P", gold("Paris is the capital"), most=0.1),
    Hack("a bag of words", lambda: rk.token_f1("answer"), "Paris Rome Bern Oslo Kiel", gold("Paris"), most=0.34),
    Hack("one word repeated", lambda: rk.token_f1("answer"), "Paris " * 99, gold("Paris is big"), most=0.02),
    Hack("a number without its point", lambda: rk.token_f1("answer"), "35", gold("3.5")),
    Hack("gold answer buried in text", lambda: rk.rouge_l("answer"), "so " * 98 + "Paris", gold("Paris"), most=0.03),
    Hack("every item", lambda: rk.set_match("answer"), ", ".join(map(str, range(100))), gold(["7", "8"]), most=0.04),
    Hack("every option, side by side", lambda: rk.set_match("answer"), "ABCDEFGHIJ", gold(["A", "C"]), most=0.34),
    Hack("both lists", lambda: rk.set_match("answer"), "['7', '8']\n['1', '2']", gold(["7", "8"])),
    Hack("one item, many times", lambda: rk.set_match("answer"), "7, 7, 7, 7", gold(["7", "8"]), most=0.34),
    Hack("items backwards", lambda: rk.sequence_match("answer"), "c, b, a", gold(["a", "b", "c"])),
    Hack("items twice", lambda: rk.sequence_match("answer"), "a, a, b, b, c, c", gold(["a", "b", "c"]), most=0.2),
    Hack("milestones backwards", lambda: rk.milestones("one", "two", "three"), "three two one", most=0.34),
    Hack("milestones repeated", lambda: rk.milestones("one", "two"), "two one two one two", most=0.5),
    Hack("milestones in the thinking", lambda: rk.milestones("one", "two"), "<think>one two</think>"),
    Hack("unrelated text, BLEU", lambda: rk.bleu("answer"), "the the the the the", gold("the cat sat down"), most=0.3),
    # instructions
    Hack("chained sentences without periods", told("words:last_first"), "We saw fog\nIt came\nIce grew"),
    Hack("balance of nothing", told("ratio:sentence_balance"), "We saw fog"),
    Hack("two to one of nothing", told("ratio:sentence_type"), "We saw fog"),
    Hack("longer sentences, only one", told("sentence:increment", small_n=3), "We saw fog."),
    Hack("no bullet points at all", told("format:sub-bullets"), "We saw fog."),
    Hack("rules as bullet points", told("detectable_format:number_bullet_lists", num_bullets=3), "---\n---\n---"),
    Hack("bullet points left empty", told("detectable_format:number_bullet_lists", num_bullets=2), "- \n* \u200b"),
    Hack("a rule as a sub-bullet", told("format:sub-bullets"), "* We saw fog\n---"),
    Hack("separators of nothing", told("format:list", sep="..."), "......"),
    Hack("a template left empty", told("format:output_template"), "My Answer: My Conclusion: Future Outlook:"),
    Hack("stairs of one line", told("format:line_indent"), "We saw fog."),
    Hack("too short for the nth word", told("count:words_japanese", N=5), "We saw fog."),
    Hack("one letter as a palindrome", told("keywords:palindrome"), "I saw a boat."),
    Hack("forbidden word before a period", told("keywords:exclude_word_harder", keyword="fog"), "We saw fog."),
    Hack("empty placeholders", told("detectable_content:number_placeholders", num_placeholders=2), "[] [ ] we"),
    Hack("a comma in full width", told("punctuation:no_comma"), "Fog\uff0c then ice."),
    Hack("an exclamation mark in full width", told("punctuation:punctuation_exclamation"), "Fog\uff01"),
    Hack("one country 60 times", told("custom:reverse_newline"), "Zimbabwe\n" * 60),
    Hack("a number as JSON", told("detectable_format:json_format"), "42"),
    Hack("empty brackets around nothing", told("detectable_format:square_brackets"), "[] []"),
    Hack("the request with a space", told("repeat:repeat_change", prompt_to_repeat="Go on now"), "Go on  now"),
    Hack("an instruction in the thinking", told("startend:end_checker", end_phrase="Bye."), "<think>Bye.</think>No."),
    # repetition and length
    Hack("padding by repetition", lambda: rk.repetition_penalty(unit="words"), "so " * 200, most=-0.9),
    Hack("padding past the limit", lambda: rk.length.overlong(9, 3, unit="words"), "so " * 200, most=-1.0),
    Hack(
        "a short wrong answer, budget", lambda: rk.length.budget(exact(), 9, form="max", unit="words"), "x", gold("y")
    ),
    Hack("a short wrong answer, group", lambda: rk.length.kimi(exact(), unit="words"), "x", gold("y")),
    Hack("steps without content", lambda: rk.reasoning_steps(), "Step 1: ok\nStep 2: ok\nStep 3: ok"),
    Hack("bullets alone", lambda: rk.reasoning_steps(), "x\n- \n- \n- \n"),
    Hack("transition words alone", lambda: rk.reasoning_steps(), "First, Second, Next, Finally,"),
    Hack("one step, many times", lambda: rk.reasoning_steps(), "- Let me think about it.\n" * 99, most=0.34),
    Hack("letters for words", lambda: rk.reasoning_steps(), "- a b c d e f\n- g h i j k l\n- m n o p q r"),
    Hack("a short wrong answer", lambda: rk.length.cosine(exact(), 90, unit="words"), "x", gold("y"), most=-0.99),
]

HONEST = [
    Hack("a call", calls, CALL, OPEN, most=1.0),
    Hack(
        "a call after thinking and a sentence",
        calls,
        f"<think>It is red.</think>\nI will open it.\n{CALL}",
        OPEN,
        most=1.0,
    ),
    Hack(
        "a call after other calls in the thinking",
        calls,
        f"<think>{CALL} or not?</think>{CALL}<|im_end|>",
        OPEN,
        most=1.0,
    ),
    Hack("a call in XML", calls, f"<tool_call>\n{XML}\n</tool_call>", OPEN, most=1.0),
    Hack("a call in Python", calls, "[open(color='red')]", OPEN, most=1.0),
    Hack("no call", calls, "I have no tool for that.", gold("[]"), most=1.0),
    Hack("no call, but talk of one", calls, f"A call, as {CALL}, would not help.", gold("[]"), most=1.0),
    Hack("a denial of another number", number, "The answer is 42, not 41.", FORTY_TWO, most=1.0),
    Hack("a correction", letter, "The answer is C. Actually, B.", gold("B"), most=1.0),
    Hack("tags", tagged, "<think>6*7</think>\n<answer>42</answer>", most=1.0),
    Hack("tags with other tags in them", tagged, "<think><b>6</b></think><answer><i>42</i></answer>", most=1.0),
    Hack("tags and the end of the turn", tagged, "<think>a</think><answer>b</answer><|im_end|>", most=1.0),
    Hack("a comparison in the thinking", tagged, "<think>3 < 4</think><answer>42</answer>", most=1.0),
    Hack("number in a tag", number, "<think>41?</think><answer>42</answer>", FORTY_TWO, most=1.0),
    Hack("number in a box", number, "So $\\boxed{42}$.", FORTY_TWO, most=1.0),
    Hack("number in a sentence", number, "She pays 6 times 7, that is $42.", FORTY_TWO, most=1.0),
    Hack("number in bold", number, "<answer>**42**</answer>", FORTY_TWO, most=1.0),
    Hack("number as LaTeX", number, "<answer>$42$</answer>", FORTY_TWO, most=1.0),
    Hack("a number corrected", number, "It is 41. No: 42", FORTY_TWO, most=1.0),
    Hack("negative", number, "#### -42", gold(-42), most=1.0),
    Hack("exact, other white space", exact, "<answer>New\n York </answer>", gold("New York"), most=1.0),
    Hack("exact, decomposed", exact, "<answer>Zu\u0308rich</answer>", gold("Z\u00fcrich"), most=1.0),
    Hack("chained sentences", told("words:last_first"), "We saw fog. Fog brought *ice*. Ice!", most=1.0),
    Hack("a title and a list", told("format:sub-bullets"), "# Fog\n* **Thick**\n  - very", most=1.0),
    Hack("an abbreviation", told("sentence:keyword", word="ice", N=2), "Dr. Vik saw fog. Then ice.", most=1.0),
    Hack("letter in a sentence", letter, "A is too small, so the answer is (B).", gold("B"), most=1.0),
    Hack("letter with its text", letter, "<answer>B. A mystery</answer>", gold("B"), most=1.0),
    Hack("JSON", invoice, '{"sku": "a", "qty": 1, "lines": [1, 2]}', most=1.0),
    Hack("JSON in a fence", invoice, 'Here:\n```json\n{"sku": "a", "qty": 1, "lines": [1]}\n```\nDone.', most=1.0),
    Hack("similarity", lambda: rk.similarity("answer"), "<answer>Paris</answer>", gold("Paris"), most=1.0),
    Hack("token_f1", lambda: rk.token_f1("answer"), "The Paris!", gold("paris"), most=1.0),
    Hack("list as bullets", lambda: rk.set_match("answer"), "- b\n- a", gold('["a", "b"]'), most=1.0),
    Hack("list in order", lambda: rk.sequence_match("answer"), "1. a\n2. b", gold(["a", "b"]), most=1.0),
    Hack("milestones", lambda: rk.milestones("one", "two"), "Step one, then step two.", most=1.0),
    Hack("a root in another form", maths, "\\boxed{\\frac{\\sqrt2}{2}}", gold("\\frac{1}{\\sqrt2}"), most=1.0),
    Hack("with a unit", maths, "\\boxed{42 \\text{ cm}}", FORTY_TWO, most=1.0),
    Hack("a decimal for a fraction", maths, "\\boxed{0.75}", gold("\\frac{3}{4}"), most=1.0),
    Hack("a set in another order", maths, "\\boxed{\\{2, 1\\}}", gold("\\{1, 2\\}"), most=1.0),
    Hack("x = before the number", maths, "\\boxed{x = 42}", FORTY_TWO, most=1.0),
    Hack("a sentence", maths, "Therefore, the answer is $42$.", FORTY_TWO, most=1.0),
    Hack("a program", program, "Here:\n```python\nprint(int(input()) * 2)\n```", TESTS, most=1.0),
    Hack("a function", program, "```python\ndef add(a, b):\n    return a + b\n```", SUM, most=1.0),
    Hack("JSON match", matched, '{"lines": [2, 1], "qty": 7.0, "sku": "a"}', LINE, most=1.0),
    Hack("valid JSON", lambda: rk.json_valid(), "<think>{</think>{}", most=1.0),
    Hack("no refusal", lambda: rk.contains(none=rk.REFUSALS), "I cannily sorted them; here you are.", most=1.0),
    Hack("code with a fence", lambda: rk.fenced("python"), "<think>hm</think>```python\nprint('```')\n```", most=1.0),
]
