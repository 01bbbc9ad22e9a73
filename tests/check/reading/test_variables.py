"""Variables: the column that an expression in the code of a reward reads."""

from __future__ import annotations

import ast

import pytest

from rewardkit.check.mutants.sites import Site, Source, sites_of
from rewardkit.check.reading.aims import column_of

HEAD = "def reward(completions, level, **kwargs):\n"


def column(body: str, expression: str = "", head: str = HEAD) -> str:
    """The column that is compared with "x" in a function; `expression` is put there."""
    lines = "".join(f"    {line}\n" for line in body.replace("HERE", f'{expression} == "x"').splitlines())
    for site in sites_of(Source(head + lines)):
        if isinstance(site.node, ast.Compare):
            return column_of(site.node.left, site)
    raise AssertionError("nothing is compared")


@pytest.mark.parametrize(
    "expression",
    [
        "level",
        "level[0]",
        "level[i]",
        "level[i].strip().lower()",
        'kwargs["level"]',
        'kwargs["level"][i]',
        'kwargs.get("level")',
        'kwargs.get("level", [])[i].casefold()',
    ],
)
def test_cells_of_a_column(expression: str) -> None:
    assert column("return [float(HERE) for i in range(3)]", expression) == "level"


@pytest.mark.parametrize(
    "body",
    [
        "for one in level:\n    return HERE",
        "for text, one in zip(completions, level):\n    return HERE",
        "for i, one in enumerate(level):\n    return HERE",
        "for i, (text, one) in enumerate(zip(completions, level, strict=True)):\n    return HERE",
        "return [HERE for text, one in zip(completions, level)]",
        'return [HERE for text, one in zip(completions, kwargs["level"])]',
        'cells = kwargs["level"]\nfor one in cells:\n    return HERE',
        'cells = kwargs.get("level")\nother = cells\none = other[0].strip()\nreturn HERE',
        "return {HERE: 1 for one in level}",
        "return sum(HERE for one in level)",
    ],
)
def test_variables_that_are_taken_from_a_column(body: str) -> None:
    assert column(body, "one") == "level"


def test_an_asynchronous_function() -> None:
    assert column("for one in level:\n    return HERE", "one", head=f"async {HEAD}") == "level"


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("one = other\nother = one\nreturn HERE", ("one", "other")),
        ("one = one.strip()\nreturn HERE", ("one",)),
        ("for one in f(level):\n    return HERE", ("one",)),
        ("for text, one in zip(*level):\n    return HERE", ("one",)),
        ("one, two = level\nreturn HERE", ("one",)),
    ],
)
def test_a_variable_of_no_known_column_is_taken_for_one(body: str, wanted: tuple[str, ...]) -> None:
    assert column(body, "one") in wanted


@pytest.mark.parametrize("expression", ["f(level)", "3", '"level"', "level + 1", "(lambda: 0)()"])
def test_other_expressions_read_no_column(expression: str) -> None:
    assert column("return HERE", expression) == ""


def test_outside_a_function_the_name_is_the_column() -> None:
    source = Source('ONE = "x"\nTWO = ONE == "x"\n')
    node = next(node for node in ast.walk(source.tree) if isinstance(node, ast.Compare))
    assert column_of(node.left, Site(node, source, ())) == "ONE"
