"""NeMo Gym's own agent and client around a resources server, over real sockets, without a model and without Ray."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
import typing
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import typing_extensions
import uvicorn
from fastapi import FastAPI

from tests.trainers.stubs import stub

CHECKOUT = Path(os.environ["REWARDKIT_CHECKOUT"])
typing.TypedDict = typing_extensions.TypedDict  # pydantic wants it before Python 3.12
stub("ray", "hydra", "mcp", "wandb", "pydot", "yappi", "gprof2dot")
sys.path.append(str(CHECKOUT))  # last, since it has a folder "tests"
import wandb  # noqa: E402

wandb.Histogram = lambda data: "histogram"

from nemo_gym import global_config, server_utils  # noqa: E402
from nemo_gym.config_types import BaseServerConfig, ModelServerRef, ResourcesServerRef  # noqa: E402
from omegaconf import DictConfig, OmegaConf  # noqa: E402
from responses_api_agents.simple_agent.app import SimpleAgent, SimpleAgentConfig  # noqa: E402

AGENT, MODEL, REWARDS = "agent", "policy_model", "rewards"


def response(text: str) -> dict[str, Any]:
    """Return a response of the Responses API that says `text`."""
    part = {"type": "output_text", "text": text, "annotations": []}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": [part]}
    return {
        "id": "resp_1", "object": "response", "created_at": 0, "model": "fake", "parallel_tool_calls": True,
        "tool_choice": "auto", "tools": [], "output": [message], "incomplete_details": None,
        "usage": {"input_tokens": 3, "output_tokens": len(text), "total_tokens": 3 + len(text),
                  "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}},
    }  # fmt: skip


def task(text: str, **fields: Any) -> dict[str, Any]:
    """Return a task whose policy answers `text`: the model below repeats what it is told."""
    return {"responses_create_params": {"input": [{"role": "user", "content": text}]}, **fields}


def rollout(text: str, **fields: Any) -> dict[str, Any]:
    """Return a request to ``/verify``."""
    return {**task(text, **fields), "response": response(text)}


def resources_server(server: type[Any]) -> FastAPI:
    """Return the application of a resources server, as its `run_webserver` makes it."""
    config = server.model_fields["config"].annotation(
        host="127.0.0.1", port=1, entrypoint="rewards.py", name=REWARDS, domain="other"
    )
    own = server.model_construct(config=config, server_client=MagicMock())
    app: FastAPI = own.setup_webserver()
    own.setup_exception_middleware(app)
    return app


def _model() -> FastAPI:
    app = FastAPI()

    @app.post("/v1/responses")
    async def responses(body: dict[str, Any]) -> dict[str, Any]:
        return response(body["input"][-1]["content"])

    return app


@dataclass
class Gym:
    """A running NeMo Gym.

    Attributes:
        client: its own client of all servers.
        config: the global configuration.
    """

    client: Any
    config: DictConfig

    async def run(self, row: dict[str, Any]) -> tuple[int, Any]:
        """Return status and reply of the agent for a task."""
        return await self.post(AGENT, "/run", row)

    async def post(self, server: str, path: str, payload: Any) -> tuple[int, Any]:
        """Return status and reply of a server."""
        found = await self.client.post(server_name=server, url_path=path, json=payload)
        return found.status, await server_utils.get_response_json(found)


@asynccontextmanager
async def gym(rewards: FastAPI | str) -> AsyncIterator[Gym]:
    """Run the agent and a model around a resources server: its application, or the address where it is served."""
    sockets = {name: socket.create_server(("127.0.0.1", 0)) for name in (AGENT, MODEL, REWARDS)}
    ports = {name: own.getsockname()[1] for name, own in sockets.items()}
    if isinstance(rewards, str):
        sockets.pop(REWARDS).close()
        ports[REWARDS] = int(rewards.rpartition(":")[2])
    config = _config(ports)
    head = BaseServerConfig(host="127.0.0.1", port=1)
    client = server_utils.ServerClient(head_server_config=head, global_config_dict=config)
    agent = SimpleAgent.model_construct(
        config=SimpleAgentConfig(
            host="127.0.0.1",
            port=ports[AGENT],
            entrypoint="app.py",
            name=AGENT,
            resources_server=ResourcesServerRef(type="resources_servers", name=REWARDS),
            model_server=ModelServerRef(type="responses_api_models", name=MODEL),
        ),
        server_client=client,
    )
    app = agent.setup_webserver()
    agent.setup_exception_middleware(app)
    apps = {AGENT: app, MODEL: _model(), **({} if isinstance(rewards, str) else {REWARDS: rewards})}
    servers = {
        name: uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="off")) for name, app in apps.items()
    }
    tasks = [asyncio.create_task(server.serve([sockets[name]])) for name, server in servers.items()]
    global_config._GLOBAL_CONFIG_DICT = config
    try:
        while not all(server.started for server in servers.values()):
            await asyncio.sleep(0.01)
        yield Gym(client, config)
    finally:
        if server_utils._GLOBAL_AIOHTTP_CLIENT is not None:
            await server_utils._GLOBAL_AIOHTTP_CLIENT.close()
        server_utils._GLOBAL_AIOHTTP_CLIENT = global_config._GLOBAL_CONFIG_DICT = None
        for server in servers.values():
            server.should_exit = True
        await asyncio.gather(*tasks)


def _config(ports: dict[str, int]) -> DictConfig:
    kinds = {AGENT: "responses_api_agents", MODEL: "responses_api_models", REWARDS: "resources_servers"}
    return OmegaConf.create(
        {
            name: {kinds[name]: {name: {"entrypoint": "app.py", "host": "127.0.0.1", "port": port}}}
            for name, port in ports.items()
        }
    )
