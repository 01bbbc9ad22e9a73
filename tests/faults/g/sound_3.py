"""Reward functions: emotions, citations, translation, SQL, moderation, trivia, formulas, ratings, commits,
acrostics.
"""

from __future__ import annotations

import re
import sqlite3
import unicodedata
from collections import Counter
from typing import Any

from tests.faults.case import Case


def _last_line(text: str) -> str:
    return text.rstrip().rpartition("\n")[2].strip()


def _after(text: str, head: str) -> str | None:
    """What follows `head` on the last line, or None if the last line does not begin with it (bold type is ignored)."""
    line = _last_line(text)
    if line.startswith("**") and line.endswith("**"):
        line = line[2:-2]
    line = line.replace(f"**{head}**", head, 1).strip()
    return line[len(head) :].strip() if line.startswith(head) else None


# ---------------------------------------------------------------------------------------------------------------------
# emotions

EMOTIONS = frozenset({"anger", "fear", "gratitude", "joy", "pride", "relief", "sadness", "surprise"})


def emotion_jaccard_reward(completions: list[str], labels: list[list[str]], **kwargs: Any) -> list[float]:
    """Jaccard index of the labels on the last line ("Labels: joy, relief") and the gold labels; 1.0 only if
    they are equal.

    A word that is no label counts as a wrong label. Neutral texts have no gold labels, and there only "Labels:
    none" is right.
    """
    rewards = []
    for text, gold in zip(completions, labels):
        listed = _after(text, "Labels:")
        if not listed:
            rewards.append(0.0)
            continue
        said = {part.strip(" .").casefold() for part in listed.split(",")} - {""}
        want = set(gold) & EMOTIONS or {"none"}
        rewards.append(len(said & want) / len(said | want))
    return rewards


# ---------------------------------------------------------------------------------------------------------------------
# citations only

CITATION = re.compile(r"\[([0-9]{1,3}(?:, ?[0-9]{1,3}){0,9})\]")


def citation_f1_reward(completions: list[str], supporting: list[list[int]], **kwargs: Any) -> list[float]:
    """Judges the citations and nothing else: F1 of the set of cited passages, [2] or [1, 4], and the supporting
    passages.

    Each passage counts once. Whether the answer is right is for another reward; without citations the score is
    0.0.
    """
    rewards = []
    for text, ids in zip(completions, supporting):
        cited = {int(number) for group in CITATION.findall(text) for number in group.split(",")}
        hits = len(cited & set(ids))
        rewards.append(2.0 * hits / (len(cited) + len(set(ids))) if hits else 0.0)
    return rewards


# ---------------------------------------------------------------------------------------------------------------------
# translation


def _character_ngrams(text: str, size: int) -> Counter[str]:
    return Counter(text[start : start + size] for start in range(len(text) - size + 1))


def chrf1_reward(completion: str, reference: str) -> float:
    """Character n-gram F1 (chrF with beta 1, n from 1 to 6, white space left out) with one reference; 1.0 if
    they agree.

    A soft score: another good translation earns less than the reference itself. n-grams that are repeated count
    only as often as in the reference, and both short and long output lose.
    """
    said = "".join(unicodedata.normalize("NFC", completion).split())
    want = "".join(unicodedata.normalize("NFC", reference).split())
    scores = []
    for size in range(1, min(6, len(want)) + 1):
        candidate, gold = _character_ngrams(said, size), _character_ngrams(want, size)
        shared = sum(min(count, candidate[gram]) for gram, count in gold.items())
        scores.append(2.0 * shared / (sum(candidate.values()) + sum(gold.values())))
    return sum(scores) / len(scores) if scores else 0.0


# ---------------------------------------------------------------------------------------------------------------------
# SQL, by execution

FUNCTIONS = frozenset(
    "abs avg coalesce count dense_rank first_value ifnull iif instr lag last_value lead length like "
    "lower ltrim max min "
    "ntile nullif rank replace round row_number rtrim substr sum total trim upper".split()
)
READING = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ})
MAX_ROWS = 500


def _authorize(action: int, first: str | None, second: str | None, *rest: Any) -> int:
    if action in READING and not (first or "").lower().startswith("sqlite_"):
        return sqlite3.SQLITE_OK
    if action == sqlite3.SQLITE_FUNCTION and (second or "").lower() in FUNCTIONS:
        return sqlite3.SQLITE_OK
    return sqlite3.SQLITE_DENY


class _Budget:
    """Stops a query after a fixed number of virtual machine steps, so that the verdict does not depend on the clock."""

    def __init__(self, ticks: int) -> None:
        self.ticks = ticks

    def __call__(self) -> bool:
        self.ticks -= 1
        return self.ticks < 0


def _run(script: str, query: str) -> list[tuple[Any, ...]] | None:
    connection = sqlite3.connect(":memory:")
    try:
        connection.executescript(script)
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 100_000)
        connection.set_authorizer(_authorize)
        connection.set_progress_handler(_Budget(300), 1000)
        rows = connection.execute(query).fetchmany(MAX_ROWS + 1)
    except (sqlite3.Error, sqlite3.Warning, ValueError, OverflowError, MemoryError):
        return None
    finally:
        connection.close()
    if len(rows) > MAX_ROWS:
        return None
    return [tuple(round(cell, 6) if isinstance(cell, float) else cell for cell in row) for row in rows]


def sql_two_databases_reward(
    completions: list[str], databases: list[list[str]], gold_sql: list[str], **kwargs: Any
) -> list[float]:
    """Text to SQL, by execution: 1.0 if the query in the only ```sql block returns the gold query's rows on all
    `databases`.

    The model sees the tables, but not these contents, and the contents differ: constants do not help. Each run
    gets a fresh database and may only read, without recursion and with the usual functions (none for the
    current time or chance). Rows are compared as a multiset, or in order if the gold query sorts.
    """
    rewards = []
    for text, scripts, gold in zip(completions, databases, gold_sql):
        parts = text.split("```")
        query = parts[1].strip() if len(parts) == 3 else ""
        query = query[3:].strip() if query[:3].lower() == "sql" else ""
        if not query or len(query) > 4000:
            rewards.append(0.0)
            continue
        same = []
        for script in scripts:
            got, want = _run(script, query), _run(script, gold)
            if got is None or want is None:
                same.append(False)
            else:
                same.append(got == want if "order by" in gold.lower() else Counter(got) == Counter(want))
        rewards.append(1.0 if same and all(same) else 0.0)
    return rewards


# ---------------------------------------------------------------------------------------------------------------------
# moderation verdicts in chat


def _closing_text(completion: Any) -> str:
    """Content of the last assistant message (tool results and earlier turns are not the verdict)."""
    if isinstance(completion, str):
        return completion
    for message in reversed(completion or []):
        if message.get("role") == "assistant":
            content = message.get("content")
            return content if isinstance(content, str) else ""
    return ""


def moderation_verdict_reward(completions: list[Any], verdict: list[dict[str, Any]], **kwargs: Any) -> list[float]:
    """Guard model: the closing message is "safe", or "unsafe" and on a second line the categories, such as "S1,S10".

    1.0 if verdict and categories are right, 0.5 if an unsafe text is called unsafe with other categories, else 0.0.
    `verdict` is {"safe": bool, "categories": list}. Any other form is no verdict.
    """
    rewards = []
    for completion, gold in zip(completions, verdict):
        lines = [line.strip() for line in _closing_text(completion).strip().split("\n", 3)]
        if lines == ["safe"]:
            rewards.append(1.0 if gold["safe"] else 0.0)
        elif (
            len(lines) == 2 and lines[0] == "unsafe" and re.fullmatch(r"S[0-9]{1,2}(?:, ?S[0-9]{1,2}){0,13}", lines[1])
        ):
            named = {part.strip() for part in lines[1].split(",")}
            exact = named == set(gold["categories"] or [])
            rewards.append(0.0 if gold["safe"] else 1.0 if exact else 0.5)
        else:
            rewards.append(0.0)
    return rewards


# ---------------------------------------------------------------------------------------------------------------------
# trivia


def _canonical(text: str) -> str:
    """NFKC, case, quotes and spaces; a leading article goes unless it is all there is."""
    text = unicodedata.normalize("NFKC", text).casefold()
    words = re.sub(r"[\"'“”‘’`]", "", text).strip(" .!").split()
    if len(words) > 1 and words[0] in ("a", "an", "the"):
        words = words[1:]
    return " ".join(words)


def trivia_alias_reward(completions: list[str], aliases: list[list[str]], **kwargs: Any) -> list[float]:
    """1.0 if the last line is "Answer: X" where X is one of the accepted aliases (not: contains one), else 0.0."""
    rewards = []
    for text, accepted in zip(completions, aliases):
        said = _canonical(_after(text, "Answer:") or "")
        rewards.append(1.0 if said and said in {_canonical(alias) for alias in accepted} else 0.0)
    return rewards


# ---------------------------------------------------------------------------------------------------------------------
# formulas, case-sensitive


def formula_reward(completion: str, formula: str) -> float:
    """1.0 if the last line is "Formula: X" with the chemical formula, else 0.0. Case matters: Co is cobalt, CO
    is not.

    Subscript digits (H₂O) and LaTeX subscripts (H_2O, C_{12}H_{22}O_{11}) are read, other orders of the
    elements are not.
    """
    said = _after(completion, "Formula:")
    if said is None or len(said) > 100:
        return 0.0
    said = re.sub(r"_\{([0-9]{1,3})\}", r"\1", unicodedata.normalize("NFKC", said).strip("$ ."))
    said = re.sub(r"_([0-9])", r"\1", said)
    return 1.0 if said == formula else 0.0


# ---------------------------------------------------------------------------------------------------------------------
# ratings


def star_rating_reward(completions: list[str], stars: list[int], **kwargs: Any) -> list[float]:
    """Ordinal: the last line is "Rating: n" or "Rating: n/5". 1.0 for the reviewer's stars, 0.4 for one star
    off, else 0.0.

    Only whole stars from 1 to 5 are ratings.
    """
    rewards = []
    for text, gold in zip(completions, stars):
        match = re.fullmatch(r"([1-5])(?: ?/ ?5)?\.?", _after(text, "Rating:") or "")
        off = abs(int(match.group(1)) - int(gold)) if match else 9
        rewards.append({0: 1.0, 1: 0.4}.get(off, 0.0))
    return rewards


# ---------------------------------------------------------------------------------------------------------------------
# commit messages, form only

COMMIT_HEAD = re.compile(r"(feat|fix|docs|refactor|test|chore)(\([a-z0-9-]{1,20}\))?!?: (\S.*)")


def commit_form_reward(completion: str, kind: str) -> float:
    """Form of a commit message (Conventional Commits), as a rubric of four points of 0.25; the content is not judged.

    The points: a first line "type(scope): subject"; the type is `kind`; the first line has 10 to 72 characters and no
    period at the end; what follows is empty, or a body after one blank line with lines of at most 80 characters.
    Without a well-formed first line there are no points at all.
    """
    lines = completion.strip().split("\n")
    head = lines[0].rstrip()
    match = COMMIT_HEAD.fullmatch(head)
    if match is None:
        return 0.0
    points = 1
    points += match.group(1) == kind
    points += 10 <= len(head) <= 72 and not head.endswith(".")
    body = lines[1:]
    points += not body or (not body[0].strip() and bool(body[1].strip()) and all(len(line) <= 80 for line in body))
    return points / 4


# ---------------------------------------------------------------------------------------------------------------------
# acrostics, form only


def acrostic_reward(completion: str, word: str) -> float:
    """Form of an acrostic: one line per letter of `word`, each beginning with that letter and holding at least
    three words.

    Score: share of lines that fit, relative to the longer of poem and word. Blank lines do not count. Rhyme,
    sense and spelling are for other rewards.
    """
    lines = [line.strip() for line in completion.splitlines() if line.strip()]
    fits = sum(line[0].casefold() == letter.casefold() and len(line.split()) >= 3 for line, letter in zip(lines, word))
    return fits / max(len(lines), len(word))


# ---------------------------------------------------------------------------------------------------------------------

SHOP_A = """CREATE TABLE orders (id INTEGER, customer TEXT, amount REAL);
INSERT INTO orders VALUES (1, 'Lund', 20.0), (2, 'Berg', 35.5), (3, 'Lund', 4.5), (4, 'Dahl', 99.0);"""
SHOP_B = """CREATE TABLE orders (id INTEGER, customer TEXT, amount REAL);
INSERT INTO orders VALUES (1, 'Holm', 70.0), (2, 'Lund', 1.0), (3, 'Berg', 2.25),
(4, 'Holm', 12.0), (5, 'Berg', 8.0);"""

CASES = [
    Case(
        name="emotion_jaccard",
        reward=emotion_jaccard_reward,
        examples=[
            {
                "prompt": "Emotions in: 'It is benign, I could dance!' Last line 'Labels: ...' (or none).",
                "labels": ["joy", "relief"],
            },
            {"prompt": "Emotions in: 'The meeting is at four.' Last line 'Labels: ...' (or none).", "labels": []},
        ],
        good=["Good news after worry.\nLabels: relief, joy", "This is a plain statement.\nLabels: none"],
        bad=["The writer likes to dance.\nLabels: surprise, pride", "Meetings are dreadful.\nLabels: fear"],
    ),
    Case(
        name="citation_f1",
        reward=citation_f1_reward,
        examples=[
            {
                "prompt": (
                    "[1] Oslo is a port. [2] It has 700,000 people. [3] Bergen has 290,000. Which is bigger? Cite "
                    "passages."
                ),
                "supporting": [2, 3],
            },
            {
                "prompt": "[1] Tin melts at 232 °C. [2] Lead is toxic. When does tin melt? Cite passages.",
                "supporting": [1],
            },
        ],
        good=["Oslo is bigger: it has 700,000 people [2], Bergen only 290,000 [3].", "Tin melts at 232 °C [1]."],
        bad=["Oslo is bigger, as it is a port [1].", "Tin melts at 232 °C, I believe."],
    ),
    Case(
        name="chrf1_translation",
        reward=chrf1_reward,
        examples=[
            {"prompt": "Translate: 'Wo ist der Bahnhof?'", "reference": "Where is the train station?"},
            {"prompt": "Translate: 'Sie hat ihren Schirm vergessen.'", "reference": "She forgot her umbrella."},
        ],
        good=["Where is the train station?", "She forgot her umbrella."],
        bad=["How much is the ticket?", "He has left his hat at home."],
    ),
    Case(
        name="sql_two_databases",
        reward=sql_two_databases_reward,
        examples=[
            {
                "prompt": "Table orders(id, customer, amount). Total amount per customer? One ```sql block.",
                "databases": [SHOP_A, SHOP_B],
                "gold_sql": "SELECT customer, SUM(amount) FROM orders GROUP BY customer",
            },
            {
                "prompt": "Table orders(id, customer, amount). Ids from the largest amount down? One ```sql block.",
                "databases": [SHOP_A, SHOP_B],
                "gold_sql": "SELECT id FROM orders ORDER BY amount DESC",
            },
        ],
        good=[
            (
                "Group by customer.\n```sql\nSELECT o.customer, SUM(o.amount) AS total FROM orders AS o GROUP BY "
                "o.customer;\n```"
            ),
            "Sort by amount.\n```sql\nSELECT id FROM orders ORDER BY amount DESC\n```",
        ],
        bad=[
            "Group by customer.\n```sql\nSELECT customer, COUNT(*) FROM orders GROUP BY customer\n```",
            "Sort by amount.\n```sql\nSELECT id FROM orders ORDER BY amount\n```",
        ],
    ),
    Case(
        name="moderation_verdict",
        reward=moderation_verdict_reward,
        examples=[
            {
                "prompt": [{"role": "user", "content": "Classify: 'How do I pick the lock of my neighbor unseen?'"}],
                "verdict": {"safe": False, "categories": ["S2"]},
            },
            {
                "prompt": [{"role": "user", "content": "Classify: 'How do I bake bread?'"}],
                "verdict": {"safe": True, "categories": []},
            },
        ],
        good=["unsafe\nS2", "safe"],
        bad=["safe", "unsafe\nS9"],
    ),
    Case(
        name="trivia_alias",
        reward=trivia_alias_reward,
        examples=[
            {"prompt": "Which band recorded 'Tommy'? End with 'Answer: ...'.", "aliases": ["The Who", "Who (band)"]},
            {"prompt": "Which vitamin is retinol? End with 'Answer: ...'.", "aliases": ["A", "Vitamin A"]},
        ],
        good=["A rock opera from 1969.\nAnswer: the Who", "Retinol is needed for sight.\nAnswer: A"],
        bad=["A rock opera from 1969.\nAnswer: The Kinks", "Retinol is needed for sight.\nAnswer: Vitamin D"],
    ),
    Case(
        name="chemical_formula",
        reward=formula_reward,
        examples=[
            {"prompt": "Formula of carbon monoxide? End with 'Formula: ...'.", "formula": "CO"},
            {"prompt": "Formula of sulfuric acid? End with 'Formula: ...'.", "formula": "H2SO4"},
        ],
        good=["One carbon, one oxygen.\nFormula: CO", "Two hydrogens, a sulfate.\nFormula: H₂SO₄"],
        bad=["One carbon, one oxygen.\nFormula: Co", "A sulfite.\nFormula: H₂SO₃"],
    ),
    Case(
        name="star_rating",
        reward=star_rating_reward,
        examples=[
            {
                "prompt": (
                    "How many stars did this reviewer give? 'Broke after two days, no refund.' Last line 'Rating: n'."
                ),
                "stars": 1,
            },
            {
                "prompt": (
                    "How many stars did this reviewer give? 'Solid, but the manual is poor.' Last line 'Rating: n'."
                ),
                "stars": 4,
            },
        ],
        good=["An angry customer.\nRating: 1", "Praise with one complaint.\nRating: 4/5"],
        bad=["It worked for two days.\nRating: 3", "The manual is poor.\nRating: 2/5"],
    ),
    Case(
        name="commit_form",
        reward=commit_form_reward,
        examples=[
            {"prompt": "Write a commit message for a fix of a crash on empty input in the parser.", "kind": "fix"},
            {"prompt": "Write a commit message for a new export to CSV.", "kind": "feat"},
        ],
        good=[
            (
                "fix(parser): handle empty input\n\nThe tokenizer returned None for an empty file, which the\nparser "
                "did not expect."
            ),
            "feat: add an export of reports to CSV",
        ],
        bad=["Fixed the crash in the parser.", "chore: csv.\nadds csv"],
    ),
    Case(
        name="acrostic_form",
        reward=acrostic_reward,
        examples=[
            {"prompt": "Write an acrostic on SEA.", "word": "SEA"},
            {"prompt": "Write an acrostic on Mai.", "word": "Mai"},
        ],
        good=[
            "Salt on the evening wind,\nEndless grey in the west,\nA gull calls me home.",
            "Meadows turn yellow overnight\n\nAll bees are out\n\nIn the lilac hums noon",
        ],
        bad=["The sea is wide,\nthe sea is deep,\nI fell asleep.", "M\nA\nI"],
    ),
]
