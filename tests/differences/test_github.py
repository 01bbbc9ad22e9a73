"""The comment of a pull request, against a server that keeps comments as GitHub does."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from rewardkit.differences.github import MARK, Job, hand_over, main, post
from rewardkit.errors import ConfigError
from tests.differences.repositories import committed, git


class GitHub:
    """Comments of one pull request, and what was asked.

    Attributes:
        comments: in their order.
        refuses: the status of every attempt to write; 0: none is refused.
        busy: so many requests fail with 502 first.
    """

    def __init__(self) -> None:
        self.comments: list[dict[str, Any]] = []
        self.asked: list[str] = []
        self.refuses = self.busy = 0
        self.address = ""

    def add(self, body: str, *, login: str = "github-actions[bot]", kind: str = "Bot") -> None:
        self.comments.append({"id": len(self.comments) + 1, "body": body, "user": {"login": login, "type": kind}})

    def answer(self, method: str, path: str, token: str, body: Any) -> tuple[int, Any]:
        self.asked.append(f"{method} {path.partition('?')[0]}")
        if self.busy:
            self.busy -= 1
            return 502, {}
        if path == "/user":
            return (200, {"login": "ada"}) if token == "Bearer of-ada" else (403, {})
        if method != "GET" and self.refuses:
            return self.refuses, {"message": "Resource not accessible by integration"}
        if method == "GET":
            page = int(path.rpartition("page=")[2])
            return 200, self.comments[100 * (page - 1) : 100 * page]
        assert len(body["body"]) <= 65_536
        if method == "POST":
            self.add(body["body"], **({"login": "ada", "kind": "User"} if token == "Bearer of-ada" else {}))
            return 201, self.comments[-1]
        self.comments[int(path.rpartition("/")[2]) - 1]["body"] = body["body"]
        return 200, {}


@pytest.fixture
def github() -> Iterator[GitHub]:
    known = GitHub()

    class Handler(BaseHTTPRequestHandler):
        def _do(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length)) if length else None
            status, said = known.answer(self.command, self.path, self.headers.get("Authorization", ""), body)
            data = json.dumps(said).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_PATCH = _do  # noqa: N815

        def log_message(self, *arguments: Any) -> None:
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        known.address = f"http://127.0.0.1:{server.server_port}"
        yield known
        server.shutdown()
        thread.join()


def job_of(github: GitHub, number: int = 7) -> Job:
    return Job("ada/rewards", number, "", github.address, None)


def test_one_comment_is_written_and_then_updated(github: GitHub) -> None:
    github.add("Nice work!", login="bob", kind="User")
    assert post(job_of(github), "a changed", "token") == "comment written"
    assert post(job_of(github), "b changed", "token") == "comment updated"
    assert post(job_of(github), "b changed", "token") == "the comment already shows this result"
    assert [one["body"] for one in github.comments] == ["Nice work!", f"{MARK}\nb changed"]
    assert github.asked.count("PATCH /repos/ada/rewards/issues/comments/2") == 1


def test_nothing_to_say_writes_nothing_and_takes_an_earlier_comment_back(github: GitHub) -> None:
    assert post(job_of(github), "", "token") == "nothing to comment on"
    assert not github.comments
    post(job_of(github), "a changed", "token")
    assert post(job_of(github), "", "token") == "comment updated"
    assert "as before" in github.comments[0]["body"]


def test_a_comment_of_someone_else_with_the_mark_is_left_alone(github: GitHub) -> None:
    github.add(f"{MARK}\nforged", login="mallory", kind="User")
    post(job_of(github), "a changed", "token")
    assert [one["body"] for one in github.comments] == [f"{MARK}\nforged", f"{MARK}\na changed"]


def test_the_owner_of_a_token_finds_the_own_comment(github: GitHub) -> None:
    post(job_of(github), "a changed", "of-ada")
    assert post(job_of(github), "b changed", "of-ada") == "comment updated"
    assert len(github.comments) == 1


def test_the_comment_is_found_on_a_later_page(github: GitHub) -> None:
    for _ in range(205):
        github.add("+1", login="bob", kind="User")
    post(job_of(github), "a changed", "token")
    assert post(job_of(github), "b changed", "token") == "comment updated"
    assert len(github.comments) == 206


@pytest.mark.parametrize("status", [401, 403, 404])
def test_without_permission_there_is_no_comment_and_no_error(github: GitHub, status: int) -> None:
    github.refuses = status
    assert "permissions" in post(job_of(github), "a changed", "token")


def test_a_busy_server_is_asked_again(github: GitHub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    github.busy = 2
    assert post(job_of(github), "a changed", "token") == "comment written"


def test_a_long_comment_is_cut(github: GitHub) -> None:
    post(job_of(github), "x" * 100_000, "token")
    assert len(github.comments) == 1


def test_without_a_pull_request_nothing_is_asked(github: GitHub) -> None:
    assert "summary" in post(job_of(github, number=0), "a changed", "token")
    assert not github.asked


def variables(folder: Path, event: dict[str, Any], **more: str) -> dict[str, str]:
    (folder / "event.json").write_text(json.dumps(event))
    return {"GITHUB_EVENT_PATH": str(folder / "event.json"), "GITHUB_REPOSITORY": "ada/rewards", **more}


def test_the_job_is_read_from_its_variables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    event = {"pull_request": {"number": 7, "base": {"sha": "abc"}}}
    summary = tmp_path / "summary.md"
    job = Job.here(variables(tmp_path, event, GITHUB_API_URL="https://ghe", GITHUB_STEP_SUMMARY=str(summary)))
    assert job == Job("ada/rewards", 7, "abc", "https://ghe", summary)
    monkeypatch.setenv("RUNNER_TEMP", str(tmp_path))
    hand_over(job, "one", 1)
    hand_over(job, "", 2)
    assert summary.read_text() == "one\nNo reward scores differently (2 compared).\n"
    assert (tmp_path / "rewardkit-review.md").read_text() == ""


def test_a_push_is_compared_with_the_commit_before(tmp_path: Path) -> None:
    assert Job.here(variables(tmp_path, {"before": "abc"})).base == "abc"
    assert Job.here(variables(tmp_path, {"before": "0" * 40})).base == ""


def test_code_of_forks_is_not_run_with_a_token_that_can_write(tmp_path: Path) -> None:
    event = {"pull_request": {"number": 7, "base": {"sha": "abc"}}}
    with pytest.raises(ConfigError, match="pull_request_target"):
        Job.here(variables(tmp_path, event, GITHUB_EVENT_NAME="pull_request_target"))
    assert Job.here(variables(tmp_path, event, GITHUB_EVENT_NAME="pull_request")).number == 7


def test_elsewhere_there_is_no_job() -> None:
    with pytest.raises(ConfigError, match="--github"):
        Job.here({})


def test_the_base_of_a_merge_commit_is_fetched_into_a_shallow_clone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    origin = tmp_path / "origin"
    old = committed(origin, {"a.py": "1"})
    git(origin, "checkout", "--quiet", "-b", "work")
    committed(origin, {"b.py": "1"})
    git(origin, "checkout", "--quiet", "main")
    newest = committed(origin, {"c.py": "1"})
    git(origin, "merge", "--quiet", "--no-ff", "--message", "merge", "work")
    git(tmp_path, "clone", "--quiet", "--depth=1", f"file://{origin}", "clone")
    monkeypatch.chdir(tmp_path / "clone")
    # The event knows the base at the time of the push; the merge commit has a newer one.
    assert Job("ada/rewards", 7, old, "", None).compared_with() == newest
    assert git(tmp_path / "clone", "rev-parse", f"{newest}^{{commit}}") == newest
    with pytest.raises(ConfigError):
        Job("ada/rewards", 0, "", "", None).compared_with()


def test_the_command_posts_a_file(
    github: GitHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    event = {"pull_request": {"number": 7, "base": {"sha": "abc"}}}
    for name, value in variables(tmp_path, event, GITHUB_API_URL=github.address, GITHUB_TOKEN="token").items():
        monkeypatch.setenv(name, value)
    (tmp_path / "review.md").write_text("a changed")
    monkeypatch.setattr("sys.argv", ["github", str(tmp_path / "review.md")])
    main()
    assert capsys.readouterr().out == "comment written\n"
    assert github.comments[0]["body"] == f"{MARK}\na changed"
