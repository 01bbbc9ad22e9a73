"""Tool calls that a model wrote as text in its message.

``read_text_calls('<tool_call>{"name": "open", "arguments": {"color": "red"}}</tool_call>').calls`` contains one call,
``open(color="red")``, in the form ``hermes``. Two tables define the forms: `_MARKS` contains the marks that open and
close a call, and `_Reader._body` contains the notations between the marks: JSON, a name before JSON, XML, Python, or
Gemma's braces.

A call counts if an inference engine would run it at its position. It does not count in the thinking, in a sentence, in
a code fence next to other text, in a tool result or user turn that the model made up, or after the end of the turn.
Text that begins like a call but cannot be parsed is a call with a fault. Parsing takes linear time and never raises an
exception.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html import unescape
from typing import Any, Literal, NamedTuple, final, get_args

from rewardkit.batch.call_arguments import Arguments, parsed, read_arguments
from rewardkit.errors import RewardDefinitionError, near_miss, shorten, shorten_line
from rewardkit.text.json_text import MAX_CHARACTERS
from rewardkit.text.literals import read_literal
from rewardkit.text.thinking import THINKING, Marks
from rewardkit.text.visibility import plain_letters, spoken_text

TextForm = Literal[
    "hermes", "llama", "mistral", "deepseek", "kimi", "harmony", "gemma", "xml", "pythonic", "json", "react"
]
Form = Literal["auto", "messages"] | TextForm
"""The places where calls are read: only message fields, text in one form, or text in any form."""

FORMS: tuple[str, ...] = ("auto", "messages", *get_args(TextForm))

MAX_CALLS = 1_000
"""The maximum number of calls read from one text. The remaining text counts as one more call, with a fault. The limit,
which is higher than any reward allows, bounds the work for a text with many call beginnings."""

# Names may contain dots and dashes ("weather.get-now"). They begin with a letter, so that "3.5(" is not a call. The
# limit of 128 characters here and below is arbitrary: it keeps matching fast.
_NAME = r"[^\W\d][\w./-]{0,127}"
_ATTRIBUTE = r'[^"\n]{1,128}'


class _Mark(NamedTuple):
    """The pattern that opens a call, with optional groups ``name`` and ``tag``, and the marks that close it.

    The closing mark can be missing only at the end of the text, because engines remove it if it is a stop word. In that
    case, the call must be JSON or Python, whose end is clear without a mark.
    """

    form: str
    opening: str
    closing: tuple[str, ...] = ()


_MARKS = (
    _Mark("gemma", r"<start_function_call>", ("<end_function_call>",)),
    _Mark("gemma", r"<\|tool_call>", ("<tool_call|>",)),
    _Mark("hermes", r"<function_?call>"),  # Granite 20B and Glaive do not close it
    _Mark("hermes", r"<(?P<tag>[\w:｜]{0,24}?(?:tool_?calls?|function_?calls)|TOOLCALL)>", ("</{tag}>",)),
    _Mark("hermes", r"<\|tool_call\|>"),  # Granite 3; Phi-4-mini closes it
    _Mark("hermes", r"<\|tool_call_start\|>", ("<|tool_call_end|>",)),  # LFM2
    _Mark("hermes", r"<\|START_ACTION\|>", ("<|END_ACTION|>",)),  # Command
    _Mark("hermes", r"<\|tools_prefix\|>", ("<|tools_suffix|>",)),  # Apertus: [{"open": {"color": "red"}}]
    _Mark("hermes", r"<\|action_start\|>\s{0,9}<\|plugin\|>", ("<|action_end|>",)),  # InternLM
    _Mark("llama", r"<\|python_tag\|>"),
    _Mark("llama", r"<function=(?P<name>[^<>\s]{1,128})>", ("</function>",)),
    _Mark("xml", rf'<function name="(?P<name>{_ATTRIBUTE})">', ("</function>",)),  # MiniCPM
    _Mark("xml", rf'<(?P<tag>[\w:｜]{{0,24}}?invoke) name="(?P<name>{_ATTRIBUTE})">', ("</{tag}>",)),
    _Mark("mistral", r"\[TOOL_CALLS\]"),
    _Mark("kimi", r"<\|tool_calls_section_begin\|>", ("<|tool_calls_section_end|>",)),
    _Mark("kimi", r"<\|tool_call_begin\|>", ("<|tool_call_end|>",)),
    _Mark("deepseek", r"<[|｜]tool[▁_]calls[▁_]begin[|｜]>", ("<｜tool▁calls▁end｜>", "<｜tool_calls_end｜>")),
    _Mark(
        "deepseek",
        r"<[|｜]tool[▁_]call[▁_]begin[|｜]>(?:function<[|｜]tool[▁_]sep[|｜]>)?",
        ("<｜tool▁call▁end｜>", "<|tool▁call▁end|>", "<｜tool_call_end｜>", "<｜tool▁calls▁end｜>"),
    ),
    _Mark(
        "harmony",
        r"<\|(?:start\|>assistant|channel\|>\w{1,20}) to=(?P<name>[^\s<]{1,128})(?:<\|channel\|>\w{1,20})?[^<\n]{0,40}"
        r"(?:<\|constrain\|>\w{1,20})?[ ]?<\|message\|>",
        ("<|call|>", "<|end|>"),
    ),
    _Mark("llama", rf"\n>>>(?P<name>{_NAME})\n(?=\{{)"),  # Functionary 3.2
    _Mark("json", r"\nfunctools(?=\[)"),
    _Mark(
        "react",
        r"\n(?:\*\*)?Action:(?:\*\*)?[ \t]{0,9}`?(?P<name>[^\n`]{1,128}?)`?[ \t]{0,9}\n[ \t]{0,9}"
        r"(?:\*\*)?Action Input:(?:\*\*)?",
    ),
)
_OPENINGS = tuple((mark, re.compile(mark.opening)) for mark in _MARKS)

_THINKING = (
    *THINKING.blocks,
    # These marks occur only in models that write their calls as text.
    *(Marks(f"<{name}>", f"</{name}>") for name in ("scratch_pad", "seed:think", "|START_THINKING|", "|inner_prefix|")),
    Marks("[THINK]", "[/THINK]"),
    Marks("◁think▷", "◁/think▷"),
)
_THINKING_ENDS = (*(block.closing for block in _THINKING), "<|END_THINKING|>", "<|inner_suffix|>")
_ENDS = (
    r"<\|(?:im_|eot|eom|end_of|endoftext|user|assistant|system|observation|start_header|start_of|return|EO)\w{0,20}\|>|"
    r"</s>|<eos>|<(?:start|end)_of_turn>|<turn\|>|<｜(?:end▁of▁sentence|User|Assistant)｜>|\[/?INST\]|"
    r"<\|end\|>(?!\s{0,9}<\|start\|>assistant)|<\|start\|>(?!assistant)|\n[ ]{0,3}#{0,4}[ ]?(?:User|Human):"
)
"""Marks that end the model's turn in chat templates and transcripts. The text after the mark does not belong to the
turn."""

# "tool_call", "function_calls", "invoke", each with an optional namespace before it.
_CALL_TAG = r"[\w:｜]{0,24}?(?:(?:tool|function)_?calls?|TOOLCALL|invoke)"
_EVENTS: Mapping[str, str] = {
    "think": "|".join(re.escape(block.opening) for block in _THINKING)
    + r"|<\|channel\|>analysis(?:<\|message\|>|(?! to=))",
    "thought": "|".join(map(re.escape, _THINKING_ENDS)),
    "end": _ENDS,
    # Tool results, made up by the model or inserted by the trainer, and calls that are only shown.
    "result": r"<(?:tool|function)_(?:response|result|output)s?>|<[|｜]tool[▁_]outputs?[▁_]begin[|｜]>|\[TOOL_RESULTS\]"
    r"|\nObservation:",
    "shown": r"<(?:examples?|code|pre|blockquote)>|<!--",
    "fence": r"(?:\n[ ]{0,3}|(?<=[>\]▷]))(?:`{3,}|~{3,})[^\n]*",
    "channel": r"<\|start\|>assistant(?=<\|channel\|>)|<\|channel\|>(?:commentary|final)<\|message\|>",
    "call": "|".join(f"(?:{re.sub('[?]P<[a-z]+>', '?:', mark.opening)})" for mark in _MARKS),
}
_EVENT = re.compile("|".join(f"(?P<{kind}>{pattern})" for kind, pattern in _EVENTS.items()))
_CANDIDATE = re.compile(
    r"<|\[|◁|```|~~~|\n(?=[ ]{0,3}(?:[`~]{3}|#|User:|Human:)|Observation:|(?:\*\*)?Action:|functools\[|>>>)"
)
"""The first characters of events. Searching for a set of characters is fast."""

_HEADER = re.compile(
    r"\s{0,9}(?:<\|im_start\|>assistant|<\|start_header_id\|>assistant<\|end_header_id\|>|<\|assistant\|>|<｜Assistant｜>|"
    r"<start_of_turn>model)"
)
"""The header of the model's turn. It belongs to the prompt, but some pipelines leave it before the completion."""
_SPACE = re.compile(r"\s*")
_GAP = re.compile(r"[\s;,]*")
"""The gap between two calls, in which some models write commas or semicolons."""
# In harmony, the analysis ends with "<|end|>" or at the start of another message.
_AFTER_ANALYSIS = re.compile(r"<\|end\|>|(?=<\|start\|>|<\|channel\|>(?!analysis))")
_AFTER_THINKING = re.compile(_EVENTS["thought"])
_END = re.compile(_ENDS)
_FENCE = re.compile(r"\n[ ]{0,3}(`{3,}|~{3,})[ \t]*(?=\n|\Z)")
"""A closing fence. Markdown allows up to three spaces before a fence; with four spaces, the line is a code block."""
_FENCES_OF_CALLS = ("tool_code", "tool_call", "tool_calls", "function_call")
# "</tool_call>" and similar marks may close a list of calls; they never open a call.
_WRAPPERS_END = re.compile(
    rf"(?:\s*(?:</{_CALL_TAG}>|<\|/tool_call\|>|<[|｜]tool[▁_]calls?[▁_](?:section_)?end[|｜]>))+"
)

_LIKE_A_CALL = re.compile(
    r"\s*(?:</?[|\s]{0,3}(?:\w{1,20}:)?(?:tool|function)s?[\s_-]?calls?|\[\s?tool[\s_]?calls?|<function[=_]|<\|?python_tag|"
    r"<｜tool|functools\s?\[|<invoke\b|<tools?>|<\|open\|>(?:call|tools)|function call<\|role_sep|>>>\w|"
    r'(?:\[\s*)?\{\s*"(?:name|tool_calls?|tool_name|function(?:_call)?)"\s*:|\[\s*[\'"]?[\w.\\]+\()'
)
"""The beginning of a call in any form, in lowercase, including misspelled marks."""
_LINE_OF_PYTHON = re.compile(r"\s*[\w.\\]+\((?!\s?-?\w*\s?\))(?:[^()\n]|\([^()\n]*\))*\)[ \t]*;?\s*(?:\n|\Z)")
"""A line that contains a Python call other than a call such as ``sin(x)``."""
_MENTION = re.compile(r"<[|｜]?\w{0,24}?(?:tool|function|invoke)|\[TOOL_CALLS\]|\{\s{0,9}\"name\"\s{0,9}:")
"""A mention of a call, which may not count because of its position."""

# Calls are on separate lines or after a whole sentence: a call inside a sentence is only mentioned.
_QUOTING = frozenset("`'\"“‘«(「『<=")
"""Characters that quote the text immediately after them."""
_JOINING = frozenset(",;(-–—=/、，；&+")
"""Characters after which a sentence continues. A sentence also continues after a letter or a digit."""
_TOKEN_MARK = re.compile(r"<[|｜]|\[")
"""A mark that is a special token, which may directly follow text. If the sentence continues after the mark, the mark is
only mentioned."""
_SENTENCE = re.compile(r"[ \t]*[^\s<\[]")
"""The rest of a sentence after a mark that is only mentioned, as in "<tool_call> is a token". It is not another mark or
a call."""
_BULLETS = frozenset(("-", "*", "+", "•"))
_INTRODUCED = re.compile(
    r"(?:(?:\A|[.!?\n,:] ?)(?:(?:here(?:'s| is| are)|this is|see) )?(?:(?:for|as an?|an?|some|the) )?"
    r"(?:examples?|e\.g\.|instance|(?:\w+ )?(?:format|syntax|template)(?: is)?)"
    r"|\b(?:calls?|format|syntax|it|one|that|this)\b[^.!?,\n]{0,40}\blooks? (?:something )?like(?: this| that| so)?"
    r"|\bexamples? of (?:an?|the|such|tool|how)\b[^.!?,\n]{0,40}|\bwould (?:write|say|output)"
    r"|\b(?:refuse to|not|n't|never|cannot) (?:make|call|run|use|execute|send|invoke)\b[^.!?,\n]{0,40}):\Z",
    re.IGNORECASE,
)
"""Text ending in a colon before a call that is only shown or refused: "for example:". After any other colon, a call
counts."""
_BETWEEN = re.compile(r"[\s,;/|&]*(?:(?:or|and|then|also)\b[\s,:]*)?", re.IGNORECASE)
"""Text that can join two calls."""

_JSON = json.JSONDecoder()
_NAMED = re.compile(
    rf"(?P<name>{_NAME}(?::\d{{1,9}})?)(?:\[CALL_ID\][\w-]{{1,64}})?"
    r"(?:\s{0,9}(?:<[|｜]tool[▁_]sep[|｜]>|\[ARGS\]|<\|tool_call_argument_begin\|>)\s*|\n?)(?P<fence>```(?:json)?\s*)?(?=\{)"
)
"""A name before its arguments, as written by Mistral, DeepSeek, Kimi, and GLM-4."""
# A fence around arguments, as written by GLM-4 and DeepSeek.
_JSON_FENCE = re.compile(r"```(?:json)?\s*(?=\{)")
_PRINTED = re.compile(r"^[ \t]*print\((.*)\)[ \t]*$", re.MULTILINE)
"""A call as written by Gemini: ``print(default_api.open(color="red"))``."""
_KEYED = re.compile(rf"(?P<name>{_NAME})\s{{0,9}}(?:<tool_sep>\s*)?(?=<arg_key>|</tool_call>)")
"""The start of a call as written by GLM-4.5 and Hunyuan."""
# GLM-4.5: "<arg_key>city</arg_key><arg_value>".
_KEY = re.compile(r"\s*<arg_key>\s{0,9}(?P<name>[^<>]{1,128}?)\s{0,9}</arg_key>\s*<arg_value>")
# Qwen3-Coder: "<parameter=city>"; others: '<parameter name="city">'.
_PARAMETER = re.compile(
    r"\s*<(?P<tag>[\w:｜]{0,24}?param(?:eter)?)(?:=(?P<name>[^<>\n]{1,128})"
    rf'| name="(?P<quoted>{_ATTRIBUTE})"(?: string="(?P<string>true|false)")?)>'
)
# The head of a Python call: "open(".
_PYTHON_CALL = re.compile(rf"(?P<name>{_NAME})\s*\(")
# Python's strings, numbers, names and punctuation: call arguments are read token by token, so that nothing is run.
_TOKEN = re.compile(
    r"""\s*(?:
        (?P<string>'[^'\\\n]*(?:\\.[^'\\\n]*)*'|"[^"\\\n]*(?:\\.[^"\\\n]*)*")
      | (?P<number>[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)(?![\w.])
      | (?P<name>[^\W\d]\w{0,127})
      | (?P<mark>[\[\](){},:=])
    )""",
    re.VERBOSE,
)
_CONSTANTS = {"true": "True", "false": "False", "null": "None", "True": "True", "False": "False", "None": "None"}
_WORDS = {"True": "true", "False": "false", "None": "null"}
"""Python's constants in JSON, because Qwen3-Coder's template writes arguments in Python syntax."""
# FunctionGemma: "call:open{".
_CALLED = re.compile(rf"call:(?P<name>{_NAME})(?=\{{)")
# FunctionGemma's arguments are not JSON: strings are between "<escape>" marks, and keys have no quotes.
_GEMMA = re.compile(
    r"\s*(?:<escape>(?P<escaped>.*?)<escape>|<\|\"\|>(?P<quoted>.*?)<\|\"\|>|(?P<mark>[{}\[\],:])"
    r'|(?P<word>[^\s{}\[\],:<>"]+))',
    re.DOTALL,
)
_KEYS_OF_NAMES = ("name", "tool_name", "function")
_KEYS_OF_ARGUMENTS = ("arguments", "parameters", "args", "input", "kwargs")
_KEYS_OF_WRAPPERS = ("tool_calls", "tool_call", "function_call", "function")
_KEYS_BESIDE = {"id", "type", "index", "call_id", "tool_call_id"}


@final
@dataclass(frozen=True, slots=True)
class TextCall:
    """A call in a text.

    Attributes:
        arguments: the arguments, or None if there is a fault.
        fault: the reason why the call cannot be parsed, or an empty string if it can be parsed.
        form: the notation in which the call is written.
    """

    name: str
    arguments: Arguments | None
    fault: str
    form: str


@final
@dataclass(frozen=True, slots=True)
class TextCalls:
    """The calls in a text.

    If there are none, `unread` describes where something similar to a call was found, if anywhere.
    """

    calls: tuple[TextCall, ...] = ()
    unread: str = ""

    @property
    def readable(self) -> bool:
        """Whether there are calls and none of them has a fault."""
        return bool(self.calls) and not any(call.fault for call in self.calls)


NO_CALLS = TextCalls()


class _Fault(ValueError):
    """The reason why a call cannot be parsed."""


class _NoCallError(_Fault):
    """The text is not a call: without a mark, ``{"name": "Bob"}`` does not count, because it has no arguments."""


def check_form(form: object, name: str) -> None:
    """Raise a RewardDefinitionError that names the reward if `form` does not exist."""
    if form not in FORMS:
        words = ", ".join(f'"{word}"' for word in FORMS)
        raise RewardDefinitionError(
            f"{name}: form must be one of {words}, got {shorten(form)}.{near_miss(str(form), FORMS)}"
        )


def read_text_calls(text: str) -> TextCalls:
    """Return the calls in a message that the policy wrote. Never raises an exception."""
    text = spoken_text(text)
    if not may_hold_calls(text):
        return NO_CALLS
    if len(text) > MAX_CHARACTERS:
        if not begins_like_a_call(text):
            return NO_CALLS
        return TextCalls((TextCall("", None, f"the text is longer than {MAX_CHARACTERS:,} characters", "json"),))
    header = _HEADER.match(text)
    return _Reader("\n" + text[header.end() if header else 0 :]).read()


_HEAD = 200
"""The number of characters at the start that determine the form, because a completion may have 100,000 characters. A
name and its first argument fit."""


def begins_like_a_call(text: str, *, code: bool = False) -> bool:
    """Return whether a text begins like a call, possibly with a misspelled mark.

    Args:
        code: whether the text is in a code fence, in which a line of Python is a program.
    """
    head = text.lstrip()[:_HEAD]
    if not code and _LINE_OF_PYTHON.match(head):
        return True
    return _LIKE_A_CALL.match(head.lower() if head.isascii() else plain_letters(head)) is not None


def may_hold_calls(text: str) -> bool:
    """Return False if a text certainly does not contain calls. This fast check rules out most texts."""
    head = text.lstrip()[:_HEAD]
    if head[:1] in _BARE_STARTS or any(word in text for word in _WORDS_OF_MARKS) or _BARE.match(head):
        return True
    if ("/" in text or "|>" in text) and any(closing in text for closing in _THINKING_ENDS):
        return True
    return not head.isascii() and begins_like_a_call(head)  # full-width brackets, for example


_BARE_STARTS = frozenset("<{[`~>")
_BARE = re.compile(r"[\w./\\-]+\s*[({]")
"""The beginning of a call without a mark."""
_WORDS_OF_MARKS = (
    "tool", "unction", "TOOL", "invoke", "python_tag", " to=", "ACTION|", "action_start", "Action:", '"name"', ">>>",
)  # fmt: skip
"""Every call mark contains one of these words."""


@dataclass(slots=True)
class _Reader:
    """A reader that processes a text from left to right, event by event.

    Attributes:
        calls: the calls read so far.
        prose: the text read so far, without calls and thinking.
        fences: the contents of the fences read so far.
        position: the position up to which the text has been read.
        unread: a description of where something similar to a call was found that does not count.
        absent: mark -> the position after which the mark does not occur.
        keyed: whether a call is an object whose only key is the name, as written by Apertus.
        in_fence: whether the text is in a code fence; if so, fences inside it are not calls.
    """

    text: str
    calls: list[TextCall] = field(default_factory=list)
    prose: list[str] = field(default_factory=list)
    fences: list[str] = field(default_factory=list)
    position: int = 0
    unread: str = ""
    absent: dict[str, int] = field(default_factory=dict)
    keyed: bool = False
    in_fence: bool = False

    def read(self) -> TextCalls:
        thought, has_prose, attempts = False, False, 0
        ready = False  # whether a call may begin at once, because of the text before it
        if self._is_all_calls():
            return TextCalls(tuple(self.calls))
        while (event := self._next()) is not None:
            kind, mark = event.lastgroup or "", event[0]
            before = self.text[self.position : event.start()]
            self.prose.append(before)
            has_prose = has_prose or bool(before.strip())
            self.position = event.end()
            may_call = (ready and _BETWEEN.fullmatch(before)) or mark[0] == "\n" or _ends_a_sentence(before)
            ready = True
            if kind == "think":
                thought = True
                if not self._skip_thinking(mark):
                    return self._read()
                if not has_prose and self._is_all_calls():
                    return TextCalls(tuple(self.calls))
            elif kind == "thought":
                if not thought:  # the prompt opened the thinking block
                    self._mention("in the thinking", 0, event.start())
                    for collection in (self.calls, self.prose, self.fences):
                        collection.clear()
                    has_prose = False
                thought = True
                if not has_prose and self._is_all_calls():
                    return TextCalls(tuple(self.calls))
            elif kind == "end":
                self._mention("after the end of the turn", self.position, len(self.text))
                return self._read()
            elif kind == "result":
                if mark == "\nObservation:" and not self.calls:
                    continue  # an ordinary word here
                start = self.position
                closed = self._skip(mark)
                self._mention("in the result of a tool", start, self.position if closed else len(self.text))
                if not closed:
                    return self._read()
            elif kind == "shown":
                self._skip(mark)
            elif kind == "fence":
                self._fence(mark)
            elif kind == "call":
                call_count, attempts = len(self.calls), attempts + 1
                if attempts > MAX_CALLS:
                    self._broken("", f"more than {MAX_CALLS:,} calls", "json")
                    return self._read()
                if may_call or (_TOKEN_MARK.match(mark) and before[-1:] not in _QUOTING):
                    self._call(event.start())
                if not may_call and (self.position == event.end() or _SENTENCE.match(self.text, self.position)):
                    self.unread = self.unread or "in a sentence"
                    del self.calls[call_count:]
                    self.prose.append(mark)
                    ready = False
        self.prose.append(self.text[self.position :])
        return self._read()

    def _read(self) -> TextCalls:
        if not self.calls:
            self._read_unmarked()
        return TextCalls(tuple(self.calls), "" if self.calls else self.unread)

    def _is_all_calls(self) -> bool:
        """If the rest of the text consists of calls without marks, whose arguments may contain any mark, read it."""
        start, call_count = self.position, len(self.calls)
        try:
            self._body("json", "")
            offset = self._blank()
            if offset == len(self.text) or _END.match(self.text, offset):
                return True
        except _Fault:
            pass
        del self.calls[call_count:]
        self.position = start
        return False

    def _next(self) -> re.Match[str] | None:
        offset = self.position
        while candidate := _CANDIDATE.search(self.text, offset):
            event = _EVENT.match(self.text, candidate.start())
            if event is not None:
                return event
            offset = candidate.end()
        return None

    def _find(self, mark: str) -> int:
        """Return the next position of a mark, or -1. A missing mark is not searched for again."""
        if self.position >= self.absent.get(mark, len(self.text)):
            return -1
        offset = self.text.find(mark, self.position)
        if offset < 0:
            self.absent[mark] = self.position
        return offset

    def _blank(self) -> int:
        """Return the position of the next character that is not whitespace."""
        space = _SPACE.match(self.text, self.position)
        return space.end() if space else self.position

    def _mention(self, where: str, start: int, stop: int) -> None:
        if not self.unread and _MENTION.search(self.text, start, stop):
            self.unread = where

    def _skip_thinking(self, mark: str) -> bool:
        """Skip the thinking, and return whether it is closed."""
        start = self.position
        after = _AFTER_ANALYSIS if mark.startswith("<|channel|>") else _AFTER_THINKING
        closing = after.search(self.text, start)
        self.position = closing.end() if closing else len(self.text)
        self._mention("in the thinking", start, self.position)
        return closing is not None

    def _skip(self, mark: str) -> bool:
        """Skip the part that a mark opens, and return whether it is closed."""
        closing = "-->" if mark == "<!--" else f"{mark[0]}/{mark[1:]}"
        if "begin" in mark:
            closing = mark.replace("begin", "end")
        offset = self._find(closing)
        if offset >= 0:
            self.position = offset + len(closing)
        return offset >= 0

    def _fence(self, line: str) -> None:
        """Skip a code fence, whose text is only shown, unless its language marks it as a call."""
        line = line.strip()
        language = line.lstrip(line[0])
        drawn = line[: len(line) - len(language)]
        start = stop = self.position
        while (closing := _FENCE.search(self.text, stop)) and not closing[1].startswith(drawn):
            stop = closing.end()
        body = self.text[start : closing.start() if closing else len(self.text)]
        self.position = closing.end() if closing else len(self.text)
        if language.strip().lower() in _FENCES_OF_CALLS:
            self._bare(_PRINTED.sub(lambda line: line[1].removeprefix("default_api."), body), sure=True)
            return
        self.fences.append(body)
        if not self.unread and begins_like_a_call(body, code=True):
            self.unread = "in a fence next to other text"

    def _read_unmarked(self) -> None:
        """Read calls without a mark if they are the whole text or if the text consists of code fences with calls."""
        prose = "\n".join(part for part in self.prose if part.strip())
        if not self.fences:
            self._bare(prose)
            # Look for a line with '{"name":' or '[{"name":' after other text.
            if not self.calls and not self.unread and re.search(r'\n\s{0,9}\[?\{\s{0,9}"name"\s{0,9}:', prose):
                self.unread = "without a mark, after other text"
        elif not prose.strip() and not self.in_fence:
            for body in self.fences:
                self.calls += _Reader("\n" + body, in_fence=True).read().calls
        elif begins_like_a_call(prose):
            self._broken("", "other text follows the call", "json")

    def _bare(self, text: str, *, sure: bool = False) -> None:
        """Read a text that consists of calls.

        If it begins like a call or `sure` is True, the unparsed rest is a fault.
        """
        text = text.strip()
        inner = _Reader(text.removeprefix("functools") if text.startswith("functools[") else text)
        fault = "other text follows the call"
        try:
            inner._body("json", "")
            if not inner.text[inner.position :].strip(" \t\n;"):
                self.calls += inner.calls
                return
        except _Fault as error:
            if isinstance(error, _NoCallError) and not any(f'"{key}"' in text for key in _KEYS_OF_ARGUMENTS):
                return
            fault = str(error)
        if begins_like_a_call(inner.text, code=self.in_fence) or (sure and inner.text):
            self._broken("", fault, "json")

    def _call(self, start: int) -> None:
        """Read the call whose mark is at `start`, and move to its end; if it cannot be parsed, move past the mark."""
        mark, opening = next((mark, match) for mark, pattern in _OPENINGS if (match := pattern.match(self.text, start)))
        groups, end, call_count = opening.groupdict(), self.position, len(self.calls)
        name = _plain_name(groups.get("name") or "", mark.form)
        self.keyed = opening[0] == "<|tools_prefix|>"
        if not name and self._holds_calls(opening[0]):
            return
        try:
            complete = self._body(mark.form, name)
            self._close(tuple(closing.format(tag=groups.get("tag")) for closing in mark.closing), complete, opening[0])
            wrappers = _WRAPPERS_END.match(self.text, self.position)
            self.position = wrappers.end() if wrappers else self.position
        except _Fault as fault:
            del self.calls[call_count:]
            self.position = end
            self._broken(name, str(fault), mark.form)

    def _holds_calls(self, opening: str) -> bool:
        """Return whether another call mark follows immediately, so that the opening mark is only a wrapper."""
        event = _EVENT.match(self.text, self._blank())
        return event is not None and event.lastgroup == "call" and event[0] != opening

    def _close(self, closings: tuple[str, ...], complete: bool, opening: str) -> None:
        """Move past the closing mark; raise `_Fault` if it is missing."""
        offset = self._blank()
        closing = next((candidate for candidate in closings if self.text.startswith(candidate, offset)), None)
        if closing is not None:
            self.position = offset + len(closing)
        elif closings and not (complete and (offset == len(self.text) or _END.match(self.text, offset))):
            raise _Fault(f"{shorten_line(opening, 40)} is not closed by {closings[0]}")

    def _body(self, form: str, name: str) -> bool:
        """Read the calls at `position`; if `name` is given, read the arguments for the call with that name.

        Returns:
            Whether the text shows its end without a closing mark.

        Raises:
            _Fault: there is no call at `position`, or it cannot be parsed.
        """
        self.position = self._blank()
        first = self.text[self.position : self.position + 1]
        if name:
            if first == "{":
                self._add(name, self._json(), form)
            elif form == "react" and (fence := _JSON_FENCE.match(self.text, self.position)):
                self.position = fence.end()
                self._add(name, self._fenced(), form)
            elif form not in ("llama", "xml"):
                raise _Fault("no JSON object follows the name")
            else:
                self._add(name, Arguments.written(dict(self._parameters())), "xml")
                return False
        elif head := _CALLED.match(self.text, self.position):
            self.position = head.end()
            self._add(head["name"], self._braces(), "gemma")
        elif head := _NAMED.match(self.text, self.position):
            self._named(head, form)
        elif head := _KEYED.match(self.text, self.position):
            self.position = head.end()
            self._add(head["name"], Arguments.written(dict(self._keys())), "xml")
            return False
        elif first == "[" and _PYTHON_CALL.match(self.text, self._behind(self.position + 1)):
            self._python_list()
        elif first in ("{", "["):
            self._json_calls(form)
        elif _PYTHON_CALL.match(self.text, self.position):
            self._python_lines()
        else:
            raise _Fault("no call begins there")
        return True

    def _behind(self, position: int) -> int:
        space = _SPACE.match(self.text, position)
        return space.end() if space else position

    def _add(self, name: str, raw_arguments: Any, form: str) -> None:
        if len(self.calls) >= MAX_CALLS:
            raise _Fault(f"more than {MAX_CALLS:,} calls")
        arguments, fault = (
            (raw_arguments, "") if isinstance(raw_arguments, Arguments) else read_arguments(raw_arguments)
        )
        self.calls.append(TextCall(name, arguments, fault, form))

    def _broken(self, name: str, fault: str, form: str) -> None:
        self.calls.append(TextCall(name, None, fault, form))

    # JSON

    def _json(self) -> Any:
        """Return the JSON value at `position`, and move past the value."""
        try:
            _, end = _JSON.raw_decode(self.text, self.position)
        except (ValueError, RecursionError) as error:
            raise _Fault(f"not valid JSON: {shorten_line(getattr(error, 'msg', str(error)), 80)}") from None
        decoded = parsed(self.text[self.position : end])
        if decoded.error:
            raise _Fault(decoded.error)
        self.position = end
        return decoded.value

    def _json_calls(self, form: str) -> None:
        """Read a call object, several in a row, or a list of calls."""
        more = True
        while more:
            for name, raw_arguments in _calls_of(self._json(), self.keyed, marked=form != "json"):
                self._add(name, raw_arguments, form)
            gap = _GAP.match(self.text, self.position)
            more = gap is not None and self.text.startswith("{", gap.end())
            self.position = gap.end() if more and gap else self.position

    def _named(self, head: re.Match[str], form: str) -> None:
        self.position = head.end()
        self._add(_plain_name(head["name"], form), self._fenced() if head["fence"] else self._json(), form)

    def _fenced(self) -> Any:
        """Return the JSON value in the code fence at `position`, and move past the fence."""
        value = self._json()
        self.position = self._blank()
        if not self.text.startswith("```", self.position):
            raise _Fault("the fence around the arguments is not closed")
        self.position += 3
        return value

    # XML

    def _parameters(self) -> Iterator[tuple[str, tuple[Any, ...]]]:
        """Yield (name, possible values) for each parameter at `position`: ``<parameter=city>Rome</parameter>``."""
        names: set[str] = set()
        while opening := _PARAMETER.match(self.text, self.position):
            name = opening["name"] or opening["quoted"]
            text = self._value(name, opening.end(), f"</{opening['tag']}>", names)
            yield name, (text,) if opening["string"] == "true" else _readings(text)

    def _keys(self) -> Iterator[tuple[str, tuple[Any, ...]]]:
        """Yield (name, possible values) for each argument: ``<arg_key>city</arg_key><arg_value>Rome</arg_value>``."""
        names: set[str] = set()
        while opening := _KEY.match(self.text, self.position):
            yield opening["name"], _readings(self._value(opening["name"], opening.end(), "</arg_value>", names))

    def _value(self, name: str, start: int, closing: str, names: set[str]) -> str:
        self.position = start
        end = self._find(closing)
        if end < 0:
            raise _Fault(f"the argument {shorten(name, 40)} is not closed by {closing}")
        if name in names:
            raise _Fault(f"the argument {shorten(name, 40)} is given twice")
        if _PARAMETER.search(self.text, start, end):
            raise _Fault(f"the argument {shorten(name, 40)} is not closed by {closing}")
        names.add(name)
        self.position = end + len(closing)
        return self.text[start:end]

    # Python

    def _python_list(self) -> None:
        """Read a list of calls such as ``[open(color="red"), look()]``."""
        self.position += 1
        while True:
            self._python_call()
            if self._peek() == ",":
                self._token()
            if self._peek() == "]":
                self._token()
                return
            if not _PYTHON_CALL.match(self.text, self._blank()):
                raise _Fault("the list of calls is not closed by ]")

    def _python_lines(self) -> None:
        """Read consecutive calls, which are usually on separate lines."""
        while True:
            self._python_call()
            gap = _GAP.match(self.text, self.position)
            if gap is None or not _PYTHON_CALL.match(self.text, gap.end()):
                return
            self.position = gap.end()

    def _python_call(self) -> None:
        head = _PYTHON_CALL.match(self.text, self._blank())
        if head is None:
            raise _Fault("no call begins there")
        self.position = head.end()
        pieces: list[str] = []
        while self._peek() != ")":
            name = self._token("name")
            if self._peek() != "=":
                raise _Fault("an argument has no name")
            self._token()
            pieces += [json.dumps(name), ":"]
            depth = 0
            while depth or self._peek() not in (",", ")"):
                token = self._token()
                pieces.append(token)
                depth += (token in ("(", "[", "{")) - (token in (")", "]", "}"))
            pieces.append(",")
            if self._peek() == ",":
                self._token()
        self._token()
        try:
            self._add(head["name"], read_literal(f"{{{' '.join(pieces)}}}"), "pythonic")
        except (ValueError, SyntaxError, RecursionError, MemoryError) as error:
            raise _Fault(f"the arguments are not literals: {shorten_line(str(error), 80)}") from None

    def _peek(self) -> str:
        """Return the next token if it is a bracket or a separator; otherwise, an empty string."""
        token = _TOKEN.match(self.text, self.position)
        return (token["mark"] or "") if token else ""

    def _token(self, kind: str = "") -> str:
        """Return the next token, with constants in Python syntax, and move past the token."""
        token = _TOKEN.match(self.text, self.position)
        if token is None or (kind and token.lastgroup != kind):
            raise _Fault(f"not a Python call at {shorten(self.text[self.position : self.position + 20])}")
        self.position = token.end()
        if token.lastgroup == "name" and not kind:
            if token["name"] not in _CONSTANTS:
                raise _Fault(f"the value {shorten(token['name'], 40)} is not a literal")
            return _CONSTANTS[token["name"]]
        return token[token.lastgroup or 0]

    # Gemma

    def _braces(self) -> Any:
        """Return the value in braces such as ``{city:<escape>Rome<escape>,days:2}``, and move past the braces."""
        pieces: list[str] = []
        depth = 0
        while token := _GEMMA.match(self.text, self.position):
            self.position = token.end()
            if token.lastgroup in ("escaped", "quoted"):
                pieces.append(json.dumps(token[token.lastgroup]))
            elif token["mark"]:
                pieces.append(token["mark"])
                depth += (token["mark"] in "{[") - (token["mark"] in "}]")
                if depth == 0:
                    break
            else:
                pieces.append(json.dumps(token["word"]) if self._peek() == ":" else token["word"])
        decoded = parsed("".join(pieces))
        if depth or decoded.error:
            raise _Fault("the arguments are not closed by }" if depth else f"the arguments are {decoded.error}")
        return decoded.value


def _ends_a_sentence(before: str) -> bool:
    """Return whether a call can begin after this text: at the start of a line or after a complete sentence."""
    _, newline, line = before.rpartition("\n")
    trimmed = line.rstrip(" \t")
    if newline and (not trimmed or trimmed.strip() in _BULLETS):
        # An example is introduced right before it ("such as:").
        return not _INTRODUCED.search(before[-200:].rstrip())
    last = trimmed[-1:]
    if not last or last.isalnum() or last in _JOINING or before[-1] in _QUOTING or trimmed.strip(" >") == "":
        return False
    # Arbitrary limit: an introduction is right before the call.
    return not _INTRODUCED.search(trimmed[-200:])


def _plain_name(name: str, form: str) -> str:
    """Return a name without the prefix and suffix that Kimi and Harmony add: ``functions.open:0`` is ``open``."""
    if form in ("kimi", "harmony"):
        name = name.removeprefix("functions.")
    return re.sub(r":\d+\Z", "", name) if form == "kimi" else name


def _calls_of(value: Any, keyed: bool = False, *, marked: bool = True) -> Iterator[tuple[str, Any]]:
    """Yield the name and arguments of each call in a JSON value, which is a call or a list of calls.

    Raises:
        _Fault: the value is neither a call nor a list of calls, or is ambiguous.
    """
    if isinstance(value, list):
        for item in value:
            yield from _calls_of(item, keyed, marked=marked)
        return
    if not isinstance(value, dict):
        raise _Fault(f"a call is an object with a name and arguments, got {shorten(value, 60)}")
    if keyed and len(value) == 1:
        yield next(iter(value.items()))
        return
    names = [key for key in _KEYS_OF_NAMES if isinstance(value.get(key), str)]
    argument_keys = [key for key in _KEYS_OF_ARGUMENTS if key in value]
    inner = [value[key] for key in _KEYS_OF_WRAPPERS if isinstance(value.get(key), (dict, list))]
    if len(inner) == 1 and not names and not argument_keys:
        yield from _calls_of(inner[0])
        return
    if len(names) > 1 or len(argument_keys) > 1:
        first, second = (names if len(names) > 1 else argument_keys)[:2]
        raise _Fault(f"the call has both {first!r} and {second!r}")
    if not names or not value[names[0]] or inner:
        raise _Fault("the call has no name" if not inner else "the call has two names")
    if not (argument_keys or marked or any(isinstance(item, (dict, list)) for item in value.values())):
        raise _NoCallError("the call has no arguments")
    if not argument_keys and (other_keys := [key for key in value if key not in names and key not in _KEYS_BESIDE]):
        raise _Fault(f"the call has no arguments, but {shorten(other_keys[0], 40)}")
    yield value[names[0]], value[argument_keys[0]] if argument_keys else None


def _readings(text: str) -> tuple[Any, ...]:
    """Return an XML argument's possible values, most likely first: its JSON value (unless a string) and its text."""
    trimmed = text.removeprefix("\n").removesuffix("\n")
    bare = text.strip()
    if bare.startswith("<![CDATA[") and bare.endswith("]]>"):
        return _readings(bare[9:-3])
    decoded = parsed(_WORDS.get(bare, bare))
    values = [] if decoded.error or isinstance(decoded.value, str) else [decoded.value]
    if decoded.error and bare[:1] in ("{", "["):  # Python syntax
        with contextlib.suppress(ValueError, SyntaxError, RecursionError, MemoryError):
            values = [read_literal(bare)]
    texts = (trimmed, bare, text, unescape(trimmed)) if "&" in text else (trimmed, bare, text)
    return (*values, *dict.fromkeys(texts))
