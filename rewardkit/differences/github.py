"""GitHub: a job's pull request, and our single comment on it, which is rewritten when something changes.

``python -m rewardkit.differences.github review.md`` posts the file as a comment. It is a separate step, so that the
process that runs the pull request's rewards never has the token. Without write permission, as in pull requests from
forks, the text appears only in the job summary.
"""

from __future__ import annotations

import json
import os
import secrets
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rewardkit.differences.revisions import git
from rewardkit.errors import ConfigError, DataError

MARK = "<!-- rewardkit review -->"
"""The first line of the comment, which lets the next run find it."""
_LONGEST = 65_000
"""The maximum number of characters in a comment. GitHub rejects more than 65,536."""
_SAME_AGAIN = "The rewards give the same scores as before, so there is nothing to review.\n"
_PAGE = 100
"""The number of comments per request: the maximum that GitHub's API returns."""
_TRIES = 3
"""The number of attempts per request. Arbitrary: GitHub's API fails now and then, but a job should not wait for
minutes."""
_TRUSTED = ("pull_request_target", "workflow_run", "issue_comment")
"""Events whose jobs can access secrets, but may have checked out untrusted code."""
# No token, missing permissions, or a token without access to the repository: skip the comment.
_REFUSED = (401, 403, 404)


@dataclass(frozen=True)
class Job:
    """The GitHub Actions job that this process runs in.

    Attributes:
        repository: ``owner/name``.
        number: the number of the pull request, or 0 if the job does not run for one.
        base: the commit of the pull request's target branch, the commit before a push, or "" for other events.
        api: the address of GitHub's API.
        summary: the file whose contents GitHub shows on the job's page.
    """

    repository: str
    number: int
    base: str
    api: str
    summary: Path | None

    @classmethod
    def here(cls, environment: Mapping[str, str] = os.environ) -> Job:
        """Return the current job, read from the variables that GitHub Actions sets.

        Raises:
            ConfigError: this is not a GitHub Actions job, or it is a job in which code from forks would get a write
                token.
        """
        if (trigger := environment.get("GITHUB_EVENT_NAME", "")) in _TRUSTED:
            raise ConfigError(
                f"this job is triggered by {trigger}, so a fork's code would get secrets and a token with "
                "write access. Trigger the job with pull_request"
            )
        try:
            event = json.loads(Path(environment["GITHUB_EVENT_PATH"]).read_text(encoding="utf-8"))
            repository = environment["GITHUB_REPOSITORY"]
        except (KeyError, OSError, ValueError):
            raise ConfigError(
                "this is not a GitHub Actions job: GITHUB_EVENT_PATH or GITHUB_REPOSITORY is missing. Remove --github, "
                "and pass --base"
            ) from None
        pull = event.get("pull_request") or {}
        base = pull.get("base", {}).get("sha") or event.get("before") or ""
        summary = environment.get("GITHUB_STEP_SUMMARY")
        return cls(
            repository,
            int(pull.get("number") or 0),
            "" if not base.strip("0") else base,
            environment.get("GITHUB_API_URL", "https://api.github.com"),
            Path(summary) if summary else None,
        )

    def compared_with(self) -> str:
        """Return the commit to compare with. Fetch it if the clone is too shallow to contain it.

        The merge commit that actions/checkout creates for a pull request is compared with its first parent, the newest
        commit of the target branch.

        Raises:
            ConfigError: the event does not specify a commit to compare with.
            DataError: the commit cannot be fetched.
        """
        parents = [
            line.split()[1]
            for line in git("cat-file", "-p", "HEAD").split("\n\n")[0].splitlines()
            if line.startswith("parent ")
        ]
        commit = parents[0] if self.number and len(parents) > 1 else self.base
        if not commit:
            raise ConfigError("this job's event does not name a commit to compare with. Pass --base")
        try:
            git("cat-file", "-e", f"{commit}^{{commit}}")
        except DataError:
            git("fetch", "--no-tags", "--depth=1", "origin", commit)
        return commit


def hand_over(job: Job, markdown: str, rewards: int) -> None:
    """Write the job summary and the outputs for the next steps.

    Args:
        markdown: the review, or "" if nothing changes.
        rewards: the number of compared rewards.
    """
    report = Path(os.environ.get("RUNNER_TEMP") or tempfile.gettempdir()) / "rewardkit-review.md"
    report.write_text(markdown, encoding="utf-8", errors="backslashreplace")
    if job.summary is not None:
        with job.summary.open("a", encoding="utf-8") as file:
            file.write(f"{markdown or f'No reward scores differently ({rewards:,} compared).'}\n")
    if output := os.environ.get("GITHUB_OUTPUT"):
        with Path(output).open("a", encoding="utf-8") as file:
            file.write(f"changed={'true' if markdown else 'false'}\nreport={report}\n")


@contextmanager
def no_commands() -> Iterator[None]:
    """Make GitHub Actions ignore workflow commands, such as ``::error::``, in the output of the ``with`` block."""
    # A printed completion cannot know the token, so it cannot turn the commands on again.
    token = secrets.token_hex(16)
    print(f"::stop-commands::{token}", flush=True)
    try:
        yield
    finally:
        print(f"::{token}::", flush=True)


def post(job: Job, text: str, token: str) -> str:
    """Write or update the comment on the pull request, and return a description of the action.

    An empty text only updates an earlier comment.
    """
    if not job.number:
        return "no pull request to comment on: the review is in the job summary"
    try:
        earlier_comment = next(_own_comments(job, token), None)
        if earlier_comment is None and not text:
            return "nothing to comment on"
        body = {"body": f"{MARK}\n{text or _SAME_AGAIN}"[:_LONGEST]}
        if earlier_comment is None:
            _send_request(f"{job.api}/repos/{job.repository}/issues/{job.number}/comments", token, "POST", body)
            return "comment written"
        if earlier_comment["body"].strip() == body["body"].strip():
            return "the comment already shows this result"
        _send_request(
            f"{job.api}/repos/{job.repository}/issues/comments/{int(earlier_comment['id'])}", token, "PATCH", body
        )
        return "comment updated"
    except urllib.error.HTTPError as error:
        if error.code not in _REFUSED:
            raise
        return (
            f"no comment: GitHub refused it ({error.code}), so the review is only in the job summary. Give the job "
            "permissions: pull-requests: write. Pull requests from forks cannot get this permission"
        )


def _own_comments(job: Job, token: str) -> Iterator[dict[str, Any]]:
    """Yield the comments on the pull request that have our mark and were written by a bot or by the token's owner."""
    try:
        me = _send_request(f"{job.api}/user", token)["login"]
    except urllib.error.HTTPError:  # a job's token belongs to no user
        me = ""
    page = 1
    while True:
        address = f"{job.api}/repos/{job.repository}/issues/{job.number}/comments?per_page={_PAGE}&page={page}"
        comments = _send_request(address, token)
        for comment in comments:
            user = comment.get("user") or {}
            if str(comment.get("body")).startswith(MARK) and (user.get("type") == "Bot" or user.get("login") == me):
                yield comment
        if len(comments) < _PAGE:
            return
        page += 1


def _send_request(address: str, token: str, method: str = "GET", body: Mapping[str, Any] | None = None) -> Any:
    """Send a request, up to three times if GitHub's server fails, and return the response as JSON values."""
    headers = {
        "Authorization": f"Bearer {token}",
        "Accept": "application/vnd.github+json",
        "X-GitHub-Api-Version": "2022-11-28",
        "User-Agent": "rewardkit",
    }
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(address, data, headers, method=method)
    for attempt in range(_TRIES):
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            # Only server errors are temporary.
            if error.code < 500 or attempt == _TRIES - 1:
                raise
            time.sleep(2**attempt)
    raise AssertionError("unreachable")


def main() -> None:
    """Post the file named on the command line as a comment, using the token in the variable GITHUB_TOKEN."""
    path = Path(sys.argv[1])
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    print(post(Job.here(), text, os.environ.get("GITHUB_TOKEN", "")))


if __name__ == "__main__":
    main()
