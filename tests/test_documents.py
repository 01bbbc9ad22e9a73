"""README.md and docs/ are right: code runs and prints what they say, commands and links work, nothing is missing."""

from __future__ import annotations

import argparse
import inspect
import re
import shlex
import sys
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from types import ModuleType

import pytest

import rewardkit
from rewardkit import schedules
from rewardkit.cli.main import parser
from rewardkit.text import extraction
from tests.wording import english

ROOT = Path(__file__).parent.parent
DOCUMENTS = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
    ROOT / "cookbook/README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]
PAGES = sorted(path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md"))
FENCE = re.compile(r"^```(\w+)( notest)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)")
GENERATED = {"commands.md", "extras.md", "laws.md"}
"""Reference pages that a script writes; the limits on words are for the others."""

pytestmark = pytest.mark.filterwarnings("ignore::rewardkit.errors.RewardKitWarning")

CHECKS = ("docs/quickstart.md", "docs/strategies.md", "docs/testing.md")
"""Pages with checks of whole trees, which take up to half a minute each."""

NAMESPACES = {
    "agents": rewardkit.agents.__all__,
    "errors": rewardkit.errors.__all__,
    "extract": (),
    "length": rewardkit.length.__all__,
    "schedules": schedules.__all__,
}
"""The names of the package that have names of their own; those of ``extract`` are `extractors`."""

each_document = pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))


def blocks(document: Path, *, untested: bool = False) -> list[tuple[str, str]]:
    """(language, body) of all blocks that are run or compared; with `untested`, of those that are not."""
    found = FENCE.findall(document.read_text(encoding="utf-8"))
    return [(language, body) for language, notest, body in found if bool(notest) is untested]


@pytest.mark.parametrize(
    "document",
    [
        pytest.param(path, id=name, marks=pytest.mark.slow if name in CHECKS else ())
        for path, name in ((path, str(path.relative_to(ROOT))) for path in DOCUMENTS)
    ],
)
def test_python_blocks_print_the_text_blocks_that_follow_them(document: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("document")  # where pickle finds the functions of a page
    monkeypatch.setitem(sys.modules, "document", module)
    printed = StringIO()
    for language, body in blocks(document):
        if language == "python":
            printed = StringIO()
            with redirect_stdout(printed):
                exec(compile(body, str(document), "exec", dont_inherit=True), vars(module))
        elif language == "text":
            assert printed.getvalue() == body


@each_document
def test_python_that_is_not_run_can_be_read(document: Path) -> None:
    for language, body in blocks(document, untested=True):
        if language == "python":
            compile(body.replace("...)", ")"), str(document), "exec", dont_inherit=True)


@each_document
def test_commands_have_the_options_that_they_are_shown_with(document: Path) -> None:
    for language, body in blocks(document):
        if language in ("bash", "console"):
            for line in re.findall(r"^(?:\$ )?rewardkit (.*)$", body, re.MULTILINE):
                words = shlex.split(re.split(" (?:&&|>) ", line)[0], comments=True)
                if "--help" not in words:
                    accepted(words)


def accepted(words: list[str]) -> argparse.Namespace:
    """Parse the words of a command; argparse exits where it does not take them."""
    return parser().parse_args(words)


def test_there_is_something_to_compare() -> None:
    assert [language for language, _ in blocks(ROOT / "README.md")].count("text") >= 1
    with pytest.raises(SystemExit):
        accepted(["score", "data.jsonl", "--no-such-option"])


@each_document
def test_local_links_lead_somewhere(document: Path) -> None:
    broken = []
    for target, anchor in LINK.findall(FENCE.sub("", document.read_text(encoding="utf-8"))):
        file = document.parent / target if target else document
        if not file.exists() or (anchor and anchor not in anchors(file)):
            broken.append(f"{target}#{anchor}")
    assert broken == []


def anchors(document: Path) -> set[str]:
    """The anchors of the headings, as GitHub and MkDocs make them."""
    headings = re.findall(r"^#+ (.*)$", FENCE.sub("", document.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", heading).strip().lower()) for heading in headings}


def test_guides_are_short() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    counts = {
        page: words((ROOT / "docs" / page).read_text(encoding="utf-8"))
        for page in PAGES
        if page not in GENERATED and not page.startswith("api/")
    }
    assert {page: count for page, count in counts.items() if count > 1_000} == {}
    assert sum(counts.values()) + words(readme) <= 40_000
    assert len(readme.splitlines()) <= 130


def words(text: str) -> int:
    """The number of words, also in code; the bars and dashes of tables are none."""
    return len(re.findall(r"\S*\w\S*", text))


@each_document
def test_prose_has_no_habits_that_make_it_hard_to_read(document: Path) -> None:
    assert [*english.habits(english.prose(document.read_text(encoding="utf-8")))] == []


@each_document
def test_lines_of_prose_are_short(document: Path) -> None:
    text = FENCE.sub("", document.read_text(encoding="utf-8"))
    assert [line for line in text.splitlines() if len(line) > 120 and line[:1] != "|" and line[:3] != ":::"] == []


def test_pages_are_one_click_away() -> None:
    index = (ROOT / "docs/index.md").read_text(encoding="utf-8")
    site = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for page in PAGES:
        assert f" {page}\n" in site
        assert page == "index.md" or f"]({page})" in index, f"{page} is not in the index"


def test_the_reference_has_every_public_name_once() -> None:
    pages = "".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs/api").glob("*.md")))
    shown = re.findall(r"^::: rk\.([\w.]+)", pages, re.MULTILINE)
    top = [name for name in shown if "." not in name]
    assert sorted([*top, *NAMESPACES]) == sorted(rewardkit.__all__)
    members = {f"{home}.{name}" for home, names in NAMESPACES.items() for name in names or extractors()}
    also_at_the_top = {"agents.tool_calls", *(f"errors.{name}" for name in rewardkit.__all__)}
    assert sorted(name for name in shown if "." in name) == sorted(members - also_at_the_top)


def test_the_reference_lists_every_module_that_documents_import() -> None:
    listed = {
        "rewardkit",
        *re.findall(r"^\| `([\w.]+)` \|", (ROOT / "docs/api/modules.md").read_text("utf-8"), re.MULTILINE),
    }
    importing = re.compile(r"^\s*(?:from|import) (rewardkit[\w.]*)", re.MULTILINE)
    texts = [
        path.read_text("utf-8")
        for path in (ROOT / "README.md", *ROOT.glob("docs/**/*.md"), *ROOT.glob("cookbook/**/*.py"))
    ]
    used = {module for text in texts for module in importing.findall(text)}
    assert used - listed == set()


def extractors() -> list[str]:
    """The functions of ``rk.extract`` that make an extractor."""
    names = vars(extraction)
    made = [name for name, value in names.items() if name[0] != "_" and inspect.isfunction(value)]
    public = [name for name in made if inspect.signature(names[name]).return_annotation == "Extractor"]
    return [name for name in public if name != "as_extractor"]


def test_the_page_of_the_package_index_links_to_the_repository() -> None:
    tomllib = pytest.importorskip("tomllib")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    local = [target for target, _ in LINK.findall(text)]
    for change in project["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]["substitutions"]:
        text = re.sub(change["pattern"], change["replacement"], text)
    repository = project["project"]["urls"]["Repository"]
    assert LINK.search(text) is None
    assert f"]({repository}/raw/v$HFPR_VERSION/docs/images/" in text
    for target in local:
        assert re.search(rf"\]\({repository}/(blob|raw)/v\$HFPR_VERSION/{re.escape(target)}[)#]", text), target


def test_every_page_has_the_same_address_of_the_repository_and_the_same_version() -> None:
    address = re.findall(r'^Repository = "https://github.com/(.+)"', (ROOT / "pyproject.toml").read_text("utf-8"), re.M)
    for document in (*DOCUMENTS, ROOT / "action.yml"):
        text = document.read_text(encoding="utf-8")
        assert {
            *re.findall(r"([\w.-]+/rewardkit)@v", text),
            *re.findall(r"github\.com/([\w.-]+/rewardkit)\b", text),
        } <= {*address}, document
        assert set(re.findall(r"/rewardkit@v([\w.]+)|\brev: v([\w.]+)", text)) <= {
            (rewardkit.__version__, ""),
            ("", rewardkit.__version__),
        }, document


def test_the_commands_it_names_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"^make (\w+)", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE):
        assert f"\n{target}:" in makefile


def test_contributing_names_files_that_exist() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([\w.]+(?:/[\w.]*)+)`", text))
    missing = [
        name
        for name in sorted(named)
        if not any(
            (base / name).exists()
            for base in (
                ROOT,
                ROOT / "adapters",
                *(ROOT / "rewardkit").glob("*/"),
                ROOT / "adapters/rewardkit_adapters",
            )
        )
    ]
    assert len(named) > 40
    assert missing == []
