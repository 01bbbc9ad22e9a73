"""The token of `rewardkit view` and `rewardkit serve`: where it comes from, and when one is made up."""

from __future__ import annotations

import argparse
import os
import pwd
from collections.abc import Callable
from pathlib import Path

import pytest

from rewardkit.cli import access, serve
from rewardkit.cli.access import TOKEN, add_token_options, has_other_users, token_of
from rewardkit.errors import RewardDefinitionError


@pytest.fixture(autouse=True)
def _no_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(TOKEN, raising=False)


def token(*arguments: str, host: str = "127.0.0.1", default: Callable[[], str] = lambda: "none") -> str | None:
    parser = argparse.ArgumentParser()
    add_token_options(parser, "none")
    options = parser.parse_args(arguments)
    options.host = host
    return token_of(options, default)


def test_it_comes_from_a_variable_or_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert token() is None
    monkeypatch.setenv(TOKEN, "from the variable")
    assert token() == "from the variable"
    file = tmp_path / "token"
    file.write_text(" from the file\n")
    file.chmod(0o600)
    assert token("--token-file", str(file)) == "from the file"
    assert capsys.readouterr().err == ""
    file.chmod(0o644)
    assert token("--token-file", str(file)) == "from the file"
    assert "chmod 600" in capsys.readouterr().err


def test_a_token_in_the_command_line_warns(capsys: pytest.CaptureFixture[str]) -> None:
    assert token("--token", "visible") == "visible"
    said = capsys.readouterr().err
    assert "process list" in said
    assert "visible" not in said
    assert token("--token", "none", default=lambda: "auto") is None
    assert capsys.readouterr().err == ""


def test_a_made_up_token_is_long_and_new() -> None:
    made = {token("--token", "auto") or "", token(default=lambda: "auto") or ""}
    assert len(made) == 2
    assert min(map(len, made)) >= 32


@pytest.mark.parametrize(
    ("arguments", "host"),
    [
        (("--token", ""), "localhost"),
        (("--token", "s\u00e9cret"), "localhost"),
        (("--token", "none"), "0.0.0.0"),
        ((), "0.0.0.0"),
        (("--token-file", os.devnull), "localhost"),
        (("--token-file", "nowhere"), "localhost"),
        (("--token-file", os.devnull, "--token", "auto"), "localhost"),
    ],
)
def test_what_would_protect_nothing_is_an_error(arguments: tuple[str, ...], host: str) -> None:
    with pytest.raises(RewardDefinitionError):
        token(*arguments, host=host)


def test_a_server_says_who_can_send_requests(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(serve, "has_other_users", lambda: True)
    options = argparse.Namespace(token=None, token_file=None, host="127.0.0.1")
    assert serve._token(options) is None
    assert f"Set {TOKEN}" in capsys.readouterr().err
    options.token = "none"
    assert serve._token(options) is None
    assert capsys.readouterr().err == ""
    options.token = "auto"
    assert f"export {TOKEN}={serve._token(options)}\n" in capsys.readouterr().out


def account(uid: int, shell: str = "/bin/bash") -> pwd.struct_passwd:
    return pwd.struct_passwd((f"user{uid}", "x", uid, uid, "", f"/home/{uid}", shell))


@pytest.mark.parametrize(
    ("listed", "running", "shared"),
    [
        ([account(0), account(1000)], {0, 1000}, False),
        ([account(0), account(1000), account(33), account(65534), account(1001, "/usr/sbin/nologin")], {1001}, False),
        ([account(1000), account(1001)], {1000}, True),
        ([account(1000)], {1000, 70_000_001}, True),  # of a directory service
        ([account(1000)], {1000, 70_000_002}, False),  # of a container, without an account here
    ],
)
def test_other_people_have_an_account_with_a_login_shell(
    monkeypatch: pytest.MonkeyPatch, listed: list[pwd.struct_passwd], running: set[int], shared: bool
) -> None:
    known = {one.pw_uid: one for one in [*listed, account(70_000_001)]}
    monkeypatch.setattr(access, "_FIRST_HUMAN", 1000)
    monkeypatch.setattr(os, "getuid", lambda: 1000)
    monkeypatch.setattr(pwd, "getpwall", lambda: listed)
    monkeypatch.setattr(pwd, "getpwuid", lambda uid: known[uid])
    monkeypatch.setattr(access, "_running", lambda: running)
    assert has_other_users() is shared


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs /proc")
def test_users_that_run_something_are_found() -> None:
    assert os.getuid() in access._running()
