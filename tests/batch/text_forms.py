"""Calls written as text, in the forms of the usual chat templates."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

Call = tuple[str, Mapping[str, Any]]


def as_json(name: str, arguments: Mapping[str, Any], key: str = "arguments") -> str:
    return json.dumps({"name": name, key: arguments}, ensure_ascii=False)


def listed(calls: Sequence[Call], key: str = "arguments") -> str:
    return f"[{', '.join(as_json(*call, key) for call in calls)}]"


def each(start: str, end: str, key: str = "arguments") -> Callable[[Sequence[Call]], str]:
    return lambda calls: "\n".join(f"{start}{as_json(*call, key)}{end}" for call in calls)


def python(call: Call) -> str:
    return f"{call[0]}({', '.join(f'{name}={value!r}' for name, value in call[1].items())})"


def pythonic(calls: Sequence[Call]) -> str:
    return f"[{', '.join(map(python, calls))}]"


def plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def xml(start: str, parameter: str, end: str) -> Callable[[Sequence[Call]], str]:
    def written(calls: Sequence[Call]) -> str:
        bodies = (
            start.format(name) + "".join(parameter.format(key, plain(value)) for key, value in arguments.items())
            for name, arguments in calls
        )
        return "\n".join(f"{body}{end}" for body in bodies)

    return written


def braces(value: Any, mark: str) -> str:
    """A value as Gemma writes it."""
    if isinstance(value, str):
        return f"{mark}{value}{mark}"
    if isinstance(value, dict):
        return f"{{{','.join(f'{name}:{braces(item, mark)}' for name, item in value.items())}}}"
    if isinstance(value, list):
        return f"[{','.join(braces(item, mark) for item in value)}]"
    return json.dumps(value)


def gemma(start: str, mark: str, end: str) -> Callable[[Sequence[Call]], str]:
    return lambda calls: "".join(f"{start}call:{name}{braces(dict(own), mark)}{end}" for name, own in calls)


def named(start: str, between: str, end: str) -> Callable[[Sequence[Call]], str]:
    return lambda calls: "".join(
        f"{start.format(place)}{name}{between.format(place)}{json.dumps(arguments)}{end}"
        for place, (name, arguments) in enumerate(calls)
    )


TYPED: Mapping[str, tuple[str, Callable[[Sequence[Call]], str]]] = {
    "Hermes, Qwen": ("hermes", each("<tool_call>\n", "\n</tool_call>")),
    "ToolRL": ("hermes", lambda calls: f"<tool_call>\n{each('', '', 'parameters')(calls)}\n</tool_call>"),
    "Jamba": ("hermes", lambda calls: f"<tool_calls>{listed(calls)}</tool_calls>"),
    "MiniMax-M1": ("hermes", lambda calls: f"<tool_calls>\n{each('', '')(calls)}\n</tool_calls>"),
    "Nemotron": ("hermes", lambda calls: f"<TOOLCALL>{listed(calls)}</TOOLCALL>"),
    "Granite 20B": ("hermes", each("<function_call> ", "")),
    "Granite 3": ("hermes", lambda calls: f"<|tool_call|>{listed(calls)}"),
    "Phi-4-mini": ("hermes", lambda calls: f"<|tool_call|>{listed(calls)}<|/tool_call|>"),
    "Command": ("hermes", lambda calls: f"<|START_ACTION|>{listed(calls, 'parameters')}<|END_ACTION|>"),
    "InternLM": ("hermes", each("<|action_start|><|plugin|>\n", "<|action_end|>", "parameters")),
    "Apertus": (
        "hermes",
        lambda calls: f"<|tools_prefix|>{json.dumps([{name: dict(own)} for name, own in calls])}<|tools_suffix|>",
    ),
    "Llama 3.1": ("llama", lambda calls: "<|python_tag|>" + "; ".join(as_json(*call, "parameters") for call in calls)),
    "Llama, by name": ("llama", named("<function=", ">", "</function>\n")),
    "Functionary 3.2": ("llama", named("\n>>>", "\n", "")),
    "Mistral": ("mistral", lambda calls: f"[TOOL_CALLS] {listed(calls)}"),
    "Mistral 11": ("mistral", named("[TOOL_CALLS]", "[ARGS]", "")),
    "Mistral Small": ("mistral", named("[TOOL_CALLS]", "[CALL_ID]abc{}[ARGS]", "")),
    "DeepSeek V3": (
        "deepseek",
        named("<｜tool▁call▁begin｜>function<｜tool▁sep｜>", "\n```json\n", "\n```<｜tool▁call▁end｜>\n"),
    ),
    "DeepSeek V3.1": ("deepseek", named("<｜tool▁call▁begin｜>", "<｜tool▁sep｜>", "<｜tool▁call▁end｜>")),
    "Kimi K2": (
        "kimi",
        named("<|tool_call_begin|>functions.", ":{}<|tool_call_argument_begin|>", "<|tool_call_end|>"),
    ),
    "Harmony": (
        "harmony",
        named("<|start|>assistant<|channel|>commentary to=functions.", " <|constrain|>json<|message|>", "<|call|>"),
    ),
    "Gemma 4": ("gemma", gemma("<|tool_call>", '<|"|>', "<tool_call|>")),
    "FunctionGemma": ("gemma", gemma("<start_function_call>", "<escape>", "<end_function_call>")),
    "xLAM": ("json", listed),
    "bare": ("json", lambda calls: "; ".join(as_json(*call, "parameters") for call in calls)),
    "a fence": ("json", lambda calls: f"```json\n{listed(calls)}\n```"),
    "functools": ("json", lambda calls: f"functools{listed(calls)}"),
    "OpenAI": (
        "json",
        lambda calls: json.dumps(
            {
                "tool_calls": [
                    {"type": "function", "function": {"name": n, "arguments": json.dumps(a)}} for n, a in calls
                ]
            }
        ),
    ),
    "Llama 4, ToolACE": ("pythonic", pythonic),
    "LFM2": ("pythonic", lambda calls: f"<|tool_call_start|>{pythonic(calls)}<|tool_call_end|>"),
    "Olmo 3": ("pythonic", lambda calls: "<function_calls>\n" + "\n".join(map(python, calls)) + "\n</function_calls>"),
    "Gemma 3": ("pythonic", lambda calls: "Let me see.\n```tool_code\n" + "\n".join(map(python, calls)) + "\n```"),
}
"""Forms that tell the types of arguments: the name that ``form=`` takes, and how calls are written."""

UNTYPED: Mapping[str, tuple[str, Callable[[Sequence[Call]], str]]] = {
    "Qwen3-Coder": (
        "xml",
        xml("<tool_call>\n<function={}>\n", "<parameter={}>\n{}\n</parameter>\n", "</function>\n</tool_call>"),
    ),
    "Seed-OSS": (
        "xml",
        xml("<seed:tool_call>\n<function={}>\n", "<parameter={}>{}</parameter>\n", "</function>\n</seed:tool_call>"),
    ),
    "GLM-4.5": (
        "xml",
        xml("<tool_call>{}\n", "<arg_key>{}</arg_key>\n<arg_value>{}</arg_value>\n", "</tool_call>"),
    ),
    "GLM-4.7": ("xml", xml("<tool_call>{}", "<arg_key>{}</arg_key><arg_value>{}</arg_value>", "</tool_call>")),
    "Hunyuan": (
        "xml",
        xml("<tool_call>{}<tool_sep>\n", "<arg_key>{}</arg_key>\n<arg_value>{}</arg_value>\n", "</tool_call>"),
    ),
    "MiniMax-M2": (
        "xml",
        xml(
            '<minimax:tool_call>\n<invoke name="{}">\n',
            '<parameter name="{}">{}</parameter>\n',
            "</invoke>\n</minimax:tool_call>",
        ),
    ),
    "Step3": (
        "xml",
        xml(
            '<｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="{}">',
            '<steptml:parameter name="{}">{}</steptml:parameter>',
            "</steptml:invoke><｜tool_call_end｜>",
        ),
    ),
    "MiniCPM": ("xml", xml('<function name="{}">', '<param name="{}"><![CDATA[{}]]></param>', "</function>")),
}
"""Forms that do not tell them."""

ALL = {**TYPED, **UNTYPED}
