"""NeMo Gym's resource servers in this process: their own ``verify`` scores what a policy answered.

A completion goes the way that it takes in a training: Gym's converter makes output items of the assistant's message
(``<think>`` becomes an item of its own, as with a reasoning parser; a tool call becomes a function call), a request
is made of them and of the row, and the server verifies it. Only what serves, profiles and distributes is replaced.
"""

from __future__ import annotations

import asyncio
import importlib
import inspect
import json
import os
import sys
import typing
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

from subject import stand_in
from subjects.nemo_gym_ray import cancel, get, remote

Row = Mapping[str, Any]
Fields = Callable[[Any, Row], Row]
Reward = Callable[..., list[float]]
Run = Callable[[str, dict[str, Any]], Awaitable[str]]
ROOT = Path(os.environ.get("AUDIT_CHECKOUTS", "")) / "Gym"
SESSION = "audit"


def prepare() -> None:
    """Make the checkout importable, without what only serves: Ray, profilers, experiment trackers, page readers."""
    sys.path.insert(0, str(ROOT))
    stand_in("ray", __version__="none", remote=remote, get=get, cancel=cancel)
    stand_in("wandb", Histogram=object)
    stand_in("yappi")
    stand_in("pydot", graph_from_dot_file=None)
    stand_in("trafilatura")


def module(name: str) -> ModuleType:
    """Import app.py of a server; its folder is importable meanwhile, as it is where the server runs."""
    folder = ROOT / "resources_servers" / name
    sys.path.insert(0, str(folder))
    try:
        return importlib.import_module(f"resources_servers.{name}.app")
    finally:
        sys.path.remove(str(folder))
        forget(folder)


def forget(folder: Path) -> None:
    """Forget the modules with bare names, such as ``utils``, that a server imported from its folder."""
    for name, loaded in list(sys.modules.items()):
        file = getattr(loaded, "__file__", None) or ""
        if file.startswith(str(folder)) and not name.startswith("resources_servers."):
            del sys.modules[name]


def server(name: str, **config: Any) -> Any:
    """Make the server of a folder, with a configuration that has only `config`."""
    found = module(name)
    client = importlib.import_module("nemo_gym.server_utils").ServerClient
    base = importlib.import_module("nemo_gym.base_resources_server").SimpleResourcesServer
    kinds = [one for one in vars(found).values() if isinstance(one, type) and issubclass(one, base)]
    kind: Any = next(one for one in kinds if one.__module__ == found.__name__)
    settings = kind.model_fields["config"].annotation
    made = settings(**{"host": "127.0.0.1", "port": 8080, "entrypoint": "app.py", "name": name, **config})
    return kind(config=made, server_client=MagicMock(spec=client))


def judged(name: str, gold: str | Fields = "expected_answer", **config: Any) -> Reward:
    """Return a server's verdicts as a reward.

    Args:
        name: of the server's folder.
        gold: the field of the request that gets the column ``answer``, beside the fields in the column ``task``; or a
            function of both that returns all fields.
        config: what the server's configuration sets.
    """
    return judged_by(server(name, **config), gold)


def judged_by(made: Any, gold: str | Fields = "expected_answer", run: Run | None = None) -> Reward:
    """Return the verdicts of a server that is made already; `run` answers the tool calls."""
    fields = gold if callable(gold) else (lambda answer, task: {gold: answer, **task})

    def reward(
        completions: list[Any], prompts: list[Any], answer: list[Any], task: list[Row] | None = None, **kwargs: Any
    ) -> list[float]:
        tasks = task or [{}] * len(completions)
        rows = [fields(right, rest) for right, rest in zip(answer, tasks, strict=True)]
        return scores(made, completions, prompts, rows, run)

    return reward


def checked(name: str, **config: Any) -> Reward:
    """Return the verdicts of a server that compares with no gold answer: the column ``task`` has all fields."""
    made = server(name, **config)

    def reward(completions: list[Any], prompts: list[Any], task: list[Row], **kwargs: Any) -> list[float]:
        return scores(made, completions, prompts, task)

    return reward


def scores(
    made: Any, completions: Sequence[Any], prompts: Sequence[Any], rows: Sequence[Row], run: Run | None = None
) -> list[float]:
    """Send each completion with the fields of its row to the server's ``verify``."""
    request = typing.get_type_hints(type(made).verify)["body"]
    served = "request" in inspect.signature(made.verify).parameters
    first = (SimpleNamespace(session={"session_id": SESSION}),) if served else ()

    async def verified() -> list[float]:
        found = []
        for completion, prompt, row in zip(completions, prompts, rows, strict=True):
            fields = dict(row)
            parameters = {"input": prompt, **({"tools": fields.pop("tools")} if "tools" in fields else {})}
            output = await answered(completion, run)
            body = request.model_validate({"responses_create_params": parameters, "response": output, **fields})
            found.append(float((await made.verify(*first, body)).reward))
        return found

    return asyncio.run(verified())


async def answered(completion: Any, run: Run | None = None) -> dict[str, Any]:
    """Return the response that a model server makes of a completion, followed by the results of its tool calls."""
    converter = importlib.import_module("nemo_gym.responses_converter").ResponsesConverter
    convert = converter(return_token_id_information=False).chat_completions_messages_to_responses_items
    messages = [{"role": "assistant", "content": completion}] if isinstance(completion, str) else completion
    items = [item.model_dump() for item in convert([_message(message) for message in messages])]
    for item in list(items):
        if run is not None and item.get("type") == "function_call":
            result = await run(item["name"], item)
            items.append({"type": "function_call_output", "call_id": item["call_id"], "output": result})
    made = {"id": "resp_0", "created_at": 0, "model": "policy", "object": "response", "status": "completed"}
    return {**made, "output": items, "parallel_tool_calls": True, "tool_choice": "auto", "tools": []}


def _message(message: Row) -> dict[str, Any]:
    """Return a message with what every model server adds: tool calls have a number and their arguments as text."""
    if message["role"] == "tool":
        return {"tool_call_id": "call_0", **message}
    calls = []
    for place, call in enumerate(message.get("tool_calls") or []):
        function = dict(call["function"])
        if not isinstance(function["arguments"], str):
            function["arguments"] = json.dumps(function["arguments"])
        calls.append({"id": f"call_{place}", **call, "function": function})
    return {**message, **({"tool_calls": calls} if calls else {})}


def asked(text: str, system: str = "") -> list[dict[str, str]]:
    """Return a prompt of chat messages."""
    return [*([{"role": "system", "content": system}] if system else []), {"role": "user", "content": text}]


def calling(*calls: tuple[str, str]) -> list[dict[str, Any]]:
    """Return the completion that calls functions, each given as its name and its arguments as JSON."""
    made = [
        {"id": f"call_{place}", "type": "function", "function": {"name": name, "arguments": arguments}}
        for place, (name, arguments) in enumerate(calls)
    ]
    return [{"role": "assistant", "content": "", "tool_calls": made}]
