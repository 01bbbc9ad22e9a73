"""Build a release, check it, and print the commands that publish it: ``make release``.

It stops if something is not ready: the address of the repository in `pyproject.toml`, the date in `CHANGELOG.md`, or
uncommitted files. Then it builds the sdist and the wheel into `dist/`, checks their pages with twine, and uses both in
clean environments of this Python, with and without TRL. ``make matrix`` does the same for every Python.

``python .ci/release.py --repository https://github.com/you/rewardkit`` writes that address into all files that need it.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence

from matrix import ROOT, TRLS, WORK, Case, build, try_out

SETTING = re.compile(r'^Repository = "https://github\.com/([\w.-]+/[\w.-]+)"$', re.MULTILINE)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repository", metavar="URL", help="write this address into all files, and build nothing")
    options = parser.parse_args(arguments)
    if options.repository:
        return write_address(options.repository)
    problems = list(unready())
    if problems:
        print("Not ready for a release:", *problems, sep="\n- ", file=sys.stderr)
        return 1
    shutil.rmtree(WORK, ignore_errors=True)
    shutil.rmtree(ROOT / "dist", ignore_errors=True)
    wheel, sdist = build(ROOT / "dist")
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    cases = [Case(python, None), Case(python, None, from_sdist=True), Case(python, TRLS[-1])]
    if failed := try_out(wheel, sdist, cases):
        return failed
    tag = f"v{version()}"
    print(f"""
Both are in dist/. To publish them:

    git tag --annotate {tag} --message "rewardkit {tag}"
    git push origin {tag}
    python -m pip install twine
    python -m twine upload dist/*""")
    return 0


def address() -> str:
    """Return the address of the repository on GitHub, as owner and name."""
    setting = SETTING.search((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    if setting is None:
        raise SystemExit('pyproject.toml: [project.urls] has no line Repository = "https://github.com/..."')
    return setting[1]


def version() -> str:
    return re.findall(r'^__version__ = "(.+)"', (ROOT / "rewardkit/__init__.py").read_text("utf-8"), re.MULTILINE)[0]


def unready() -> Iterator[str]:
    """Yield the reasons why this checkout cannot be released."""
    if address().startswith("OWNER/"):
        yield (
            "pyproject.toml has a placeholder for the repository. Run: "
            "python .ci/release.py --repository https://github.com/you/rewardkit"
        )
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    if not re.search(rf"^## {re.escape(version())} \(\d{{4}}-\d\d-\d\d\)$", changelog, re.MULTILINE):
        yield f"CHANGELOG.md has no heading with a date for this version. Write: ## {version()} (YYYY-MM-DD)"
    if changes := git("status", "--porcelain"):
        yield f"these files are not committed:\n{changes}"
    if git("tag", "--list", f"v{version()}"):
        yield f"the tag v{version()} exists. Raise __version__ in rewardkit/__init__.py"


def write_address(url: str) -> int:
    """Replace the address of the repository in all tracked files."""
    new = re.fullmatch(r"https://github\.com/([\w.-]+/[\w.-]+?)(?:\.git|/)?", url)
    if new is None:
        print(f"Expected an address such as https://github.com/you/rewardkit, got {url}", file=sys.stderr)
        return 2
    for name in git("grep", "--files-with-matches", "--fixed-strings", old := address()).splitlines():
        file = ROOT / name
        file.write_text(file.read_text(encoding="utf-8").replace(old, new[1]), encoding="utf-8")
        print(name)
    return 0


def git(*arguments: str) -> str:
    """Return the output of a git command; empty if it found nothing."""
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
    if done.returncode > 1 or done.stderr:
        raise SystemExit(done.stderr)
    return done.stdout.rstrip()


if __name__ == "__main__":
    sys.exit(main())
