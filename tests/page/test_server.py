"""The server, started from the command line."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn

from rewardkit.cli.main import main
from rewardkit.errors import RewardKitError
from rewardkit.page.server import _listening, serve
from tests.page.browsing import serving
from tests.page.recorded import hostile, ordinary


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("served")
    ordinary(folder / "first", 3)
    hostile(folder / "hostile")
    with serving(folder) as address:
        yield address.rstrip("/")


@pytest.mark.parametrize("tab", ["", "run/first/graphs", "run/first/completions", "run/hostile/completions"])
def test_texts_are_not_html(base: str, tab: str) -> None:
    for _ in range(2):  # the second time, the run is in memory
        answer = httpx.get(f"{base}/{tab}", timeout=60)
        assert answer.status_code == 200
        assert "<img src=x" not in answer.text
        assert "<script>window" not in answer.text


@pytest.mark.parametrize("path", ["elsewhere", "runs/first", "run/"])
def test_other_paths_are_not_found(base: str, path: str) -> None:
    answer = httpx.get(f"{base}/{path}", timeout=60)
    assert answer.status_code == 404
    assert "Page not found" in answer.text


def test_other_hosts_and_origins_get_an_error_status(base: str) -> None:
    assert httpx.get(base, headers={"host": "evil.example"}).status_code == 421
    assert httpx.get(base, headers={"origin": "http://evil.example"}).status_code == 403
    polling = f"{base}/_nicegui_ws/socket.io/?EIO=4&transport=polling"
    assert httpx.get(polling, headers={"origin": "http://evil.example"}).status_code == 403
    assert httpx.get(polling, headers={"host": "evil.example"}).status_code == 421


def _handshake(base: str, **headers: str) -> str:
    """Return the first line of the response to a websocket handshake."""
    host, port = base.removeprefix("http://").split(":")
    lines = {
        "Host": f"{host}:{port}",
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
        "Sec-WebSocket-Version": "13",
        **headers,
    }
    asked = "GET /_nicegui_ws/socket.io/?EIO=4&transport=websocket HTTP/1.1\r\n"
    asked += "".join(f"{name}: {value}\r\n" for name, value in lines.items()) + "\r\n"
    with socket.create_connection((host, int(port)), timeout=20) as connection:
        connection.sendall(asked.encode())
        return connection.recv(200).decode("latin-1").splitlines()[0]


def test_websockets_of_other_sites_are_rejected(base: str) -> None:
    assert " 101 " in _handshake(base, Origin=base)
    assert " 403 " in _handshake(base, Origin="http://evil.example")
    assert " 403 " in _handshake(base, Host="evil.example")


@pytest.mark.slow
def test_a_token_protects_everything(tmp_path: Path) -> None:
    ordinary(tmp_path / "first", 2)
    with serving(tmp_path, token="the-right-one") as address:
        assert address.endswith("?token=the-right-one")
        base = address.split("/?")[0]
        for path in ("/", "/run/first/graphs", "/_nicegui_ws/socket.io/?EIO=4&transport=polling"):
            assert httpx.get(base + path).status_code == 401
        assert " 403 " in _handshake(base, Origin=base)
        with httpx.Client(follow_redirects=True) as client:
            assert 'content="0;url=/"' in client.get(address).text
            answer = client.get(base)
            assert answer.status_code == 200
            assert "right-one" not in answer.text


@pytest.mark.slow
def test_it_leaves_no_files_and_stops_at_once(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "rewardkit.cli.main", "view", str(tmp_path), "--no-browser", "--port", "0"]
    server = subprocess.Popen(
        [*command, "--token", "none"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path
    )
    assert server.stdout is not None
    lines = [server.stdout.readline() for _ in range(3)]
    assert "no runs yet" in lines[1]
    httpx.get(lines[0].split()[-1])
    server.send_signal(signal.SIGINT)
    _, errors = server.communicate(timeout=30)
    assert server.returncode in (0, 130)
    assert "Traceback" not in errors
    assert list(tmp_path.iterdir()) == []


def test_a_taken_port_is_replaced() -> None:
    with _listening("127.0.0.1", 0) as first:
        port = first.getsockname()[1]
        with _listening("127.0.0.1", port) as second:
            assert second.getsockname()[1] not in (0, port)


def test_addresses_of_other_machines_are_rejected() -> None:
    with pytest.raises(RewardKitError, match=r"203\.0\.113\.7"):
        _listening("203.0.113.7", 0)


def test_a_missing_folder_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["view", str(tmp_path / "nowhere"), "--no-browser"]) == 2
    assert "rewardkit view FOLDER" in capsys.readouterr().err


def test_a_file_and_an_invalid_port_are_errors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "run.json").write_text("{}")
    assert main(["view", str(tmp_path / "run.json"), "--no-browser"]) == 2
    assert f"is a file: pass the folder that contains it, as in rewardkit view {tmp_path}" in capsys.readouterr().err
    assert main(["view", str(tmp_path), "--port", "99999", "--no-browser"]) == 2
    assert "from 0 (any free port) to 65535, got 99999" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["labels.csv", "nowhere/labels.jsonl", "data.jsonl"])
def test_a_file_that_is_not_for_labels_is_an_error(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "data.jsonl").write_text('{"prompt": "6*7?"}\n')
    assert main(["view", str(tmp_path), "--labels", str(tmp_path / name), "--no-browser", "--port", "0"]) == 2
    assert name in capsys.readouterr().err


@pytest.mark.slow
def test_a_foreign_run_json_is_not_a_run(base: str, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "run.json").write_text(json.dumps({"other": "program"}))
    with serving(tmp_path) as address:
        assert httpx.get(address).status_code == 200


def _opened(monkeypatch: pytest.MonkeyPatch, folder: Path, **options: Any) -> tuple[str, str]:
    """Return the printed address, and what the browser would open."""
    opened: list[str] = []

    def run(server: uvicorn.Server, sockets: list[socket.socket]) -> None:
        for timer in threading.enumerate():
            if isinstance(timer, threading.Timer):
                timer.join()
        page = opened[0].removeprefix("file://")
        opened.append(Path(page).read_text() if page != opened[0] else "")
        raise KeyboardInterrupt

    said: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setattr(uvicorn.Server, "run", run)
    serve([folder], port=0, output=said.append, **options)
    return said[0].split()[-1], opened[0] + opened[1]


@pytest.mark.slow
def test_the_browser_gets_the_token_from_a_private_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    address, opened = _opened(monkeypatch, tmp_path, token="secret")
    assert opened == address
    address, opened = _opened(monkeypatch, tmp_path, token="secret", discreet=True)
    assert "?token=secret" in address
    assert opened.startswith("file:///")
    assert f"0;url={address}" in opened
    assert not Path(opened.split("<")[0].removeprefix("file://")).exists()


def test_names_are_escaped_in_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "a\x1b]52;c;aGk=\x07\u202e"
    folder.mkdir()

    def refused(folders: list[Path], *, output: Callable[[str], None], **options: object) -> None:
        output(f"Recorded runs of {folders[0]}")
        raise RewardKitError(f"first line\n{folders[0]}")

    monkeypatch.setattr("rewardkit.page.server.serve", refused)
    assert main(["view", str(folder)]) == 2
    said = capsys.readouterr()
    for text in (said.out, said.err):
        assert "\\x1b]52" in text
        assert not {"\x1b", "\x07", "\u202e"} & set(text)
    assert "first line\n" in said.err
