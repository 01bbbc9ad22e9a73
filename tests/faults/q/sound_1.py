"""Ten sound reward functions: SQL, JSON, countdown, schedules, mazes, DNA, units, versions, diffs, sudoku."""

import ast
import json
import re
import sqlite3
from collections import Counter, deque
from decimal import Decimal
from fractions import Fraction
from itertools import combinations

from tests.faults.case import Case


def _text(completion):
    """The text of a completion, plain or chat."""
    if not isinstance(completion, str):
        completion = (completion[-1].get("content") or "") if completion else ""
    return completion.replace("\r\n", "\n")


def _answer(text):
    """What stands in the only <answer> block, which must end the reply; '' if there is none."""
    m = re.fullmatch(r".*<answer>(.*)</answer>\s*", text, re.S)
    if not m or text.count("<answer>") != 1 or text.count("</answer>") != 1:
        return ""
    return m.group(1).strip()


def _fence(text, lang):
    """The content of the only code block of the reply, or None."""
    blocks = re.findall(rf"^```{lang}[ \t]*\n(.*?)^```[ \t]*$", text, re.S | re.M)
    return blocks[0] if len(blocks) == 1 and text.count("```") == 2 else None


# ---------------------------------------------------------------- text-to-SQL

ALLOWED = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}
FORBIDDEN_FUNCTIONS = {"random", "randomblob", "load_extension"}


def _authorize(action, first, second, *_):
    if action not in ALLOWED or (action == sqlite3.SQLITE_FUNCTION and str(second).lower() in FORBIDDEN_FUNCTIONS):
        return sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK


def _run_select(setup, sql):
    """Rows of a read-only query on a fresh database (floats rounded), or None if it fails."""
    conn = sqlite3.connect(":memory:")
    ticks = iter(range(200))
    try:
        conn.executescript(setup)
        conn.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 100_000)
        conn.set_authorizer(_authorize)
        conn.set_progress_handler(lambda: int(next(ticks, None) is None), 1000)
        rows = conn.execute(sql).fetchmany(1000)
    except (sqlite3.Error, sqlite3.Warning, ValueError):
        return None
    finally:
        conn.close()
    return [tuple(round(v, 6) if isinstance(v, float) else v for v in row) for row in rows]


def sql_databases_reward(completions, databases, gold_sql, ordered, **kwargs):
    """Execution reward: 1.0 if the query gives the gold result on every test database,
    0.1 if it runs on all of them, 0.0 otherwise. Duplicates always count; the order of
    the rows counts where the question asks for one (column `ordered`).
    """
    rewards = []
    for completion, setups, gold, in_order in zip(completions, databases, gold_sql, ordered):
        sql = _fence(_text(completion), "sql")
        got = [_run_select(setup, sql) for setup in setups] if sql and sql.strip() else [None]
        if any(rows is None for rows in got):
            rewards.append(0.0)
            continue
        want = [_run_select(setup, gold) for setup in setups]
        if in_order:
            same = got == want
        else:
            same = all(Counter(g) == Counter(w) for g, w in zip(got, want))
        rewards.append(1.0 if same else 0.1)
    return rewards


_SHOP = (
    "CREATE TABLE customers(id INTEGER PRIMARY KEY, name TEXT);"
    "CREATE TABLE orders(id INTEGER PRIMARY KEY, customer_id INTEGER, day TEXT);"
)
_SHOP_DBS = [
    _SHOP + "INSERT INTO customers VALUES (1,'Ann'),(2,'Bo'),(3,'Ann'),(4,'Cy'),(5,'Dee');"
    "INSERT INTO orders VALUES (1,1,'2024-01-01'),(2,NULL,'2024-01-02'),(3,4,'2024-01-05'),(4,1,'2024-02-01');",
    _SHOP + "INSERT INTO customers VALUES (7,'Kim'),(8,'Kim'),(9,'Lu'),(10,'Mo');"
    "INSERT INTO orders VALUES (7,10,'2023-05-01'),(8,9,'2023-05-02'),(9,NULL,'2023-06-01');",
]
_SALES = (
    "CREATE TABLE products(id INTEGER PRIMARY KEY, name TEXT, price INTEGER);"
    "CREATE TABLE sales(id INTEGER PRIMARY KEY, product_id INTEGER, qty INTEGER);"
)
_SALES_DBS = [
    _SALES + "INSERT INTO products VALUES (1,'bolt',2),(2,'drill',90),(3,'saw',35),(4,'glue',4),(5,'lathe',4000),(6,'vice',41);"
    "INSERT INTO sales VALUES (1,1,100),(2,2,1),(3,2,1),(4,3,7),(5,4,30),(6,6,2),(7,1,100),(8,3,1);",
    _SALES + "INSERT INTO products VALUES (1,'pen',3),(2,'ink',11),(3,'pad',5),(4,'desk',200);"
    "INSERT INTO sales VALUES (1,4,1),(2,1,9),(3,1,9),(4,1,9),(5,2,20),(6,3,2),(7,3,8);",
]
SQL_ROWS = [
    {
        "prompt": "Schema: customers(id, name), orders(id, customer_id, day). Two customers can have the same name; customer_id is NULL "
        "for guest orders. Question: give the name of every customer who has no order, one row per customer, in any order. "
        "Reply with exactly one ```sql block holding one SQLite SELECT.",
        "databases": _SHOP_DBS,
        "gold_sql": "SELECT name FROM customers c WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.id)",
        "ordered": False,
    },
    {
        "prompt": "Schema: products(id, name, price), sales(id, product_id, qty); names are unique. The revenue of a product is the sum of "
        "qty * price over its sales. Question: name and revenue of the three products with the highest revenue, highest first (no two "
        "are equal). Reply with exactly one ```sql block holding one SQLite SELECT.",
        "databases": _SALES_DBS,
        "gold_sql": "SELECT p.name, SUM(s.qty * p.price) r FROM products p JOIN sales s ON s.product_id = p.id GROUP BY p.id ORDER BY r DESC LIMIT 3",
        "ordered": True,
    },
]
SQL_GOOD = [
    "```sql\nSELECT c.name\nFROM customers c LEFT JOIN orders o ON o.customer_id = c.id\nWHERE o.id IS NULL;\n```",
    "```sql\nWITH r AS (SELECT product_id, SUM(qty) AS n FROM sales GROUP BY product_id)\n"
    "SELECT p.name, r.n * p.price FROM r JOIN products p ON p.id = r.product_id ORDER BY 2 DESC LIMIT 3\n```",
]
SQL_BAD = [
    "```sql\nSELECT DISTINCT name FROM customers WHERE id NOT IN (SELECT customer_id FROM orders)\n```",
    "```sql\nSELECT p.name, p.price FROM products p ORDER BY p.price DESC LIMIT 3\n```",
]

# ---------------------------------------------------------------- JSON extraction


def _unique_keys(pairs):
    keys = [k for k, _ in pairs]
    if len(set(keys)) != len(keys):
        raise ValueError("a key twice")
    return dict(pairs)


def contact_json_reward(completions, contact, **kwargs):
    """Score an extracted contact: 1.0 for exactly the expected object, 0.15 for each right field otherwise.

    Fields: name (string), email (string or null), phones (list of strings, any order),
    newsletter (boolean). Another key, a key given twice or no JSON object at all earns 0.0.
    """
    rewards = []
    for completion, want in zip(completions, contact):
        text = _text(completion).strip()
        fenced = re.fullmatch(r"```(?:json)?[ \t]*\n(.*)\n[ \t]*```", text, re.S)
        try:
            data = json.loads(fenced.group(1) if fenced else text, object_pairs_hook=_unique_keys)
        except (ValueError, RecursionError):
            rewards.append(0.0)
            continue
        if not isinstance(data, dict) or set(data) != {"name", "email", "phones", "newsletter"}:
            rewards.append(0.0)
            continue
        phones = data["phones"]
        right = [
            data["name"] == want["name"],
            data["email"] == want["email"],
            isinstance(phones, list) and all(isinstance(p, str) for p in phones) and sorted(phones) == sorted(want["phones"]),
            data["newsletter"] is want["newsletter"],
        ]
        rewards.append(1.0 if all(right) else 0.15 * sum(right))
    return rewards


_CONTACT_TASK = (
    "Extract the contact as a JSON object with exactly the keys name, email (in lower case, null if there is none), phones (list of "
    "strings of digits and a leading +, without spaces or duplicates) and newsletter (true if the person wants it, else false). "
    "Reply with the JSON only; a ```json fence is allowed.\n\n"
)
CONTACT_ROWS = [
    {
        "prompt": _CONTACT_TASK + "Jana Novak | Jana.Novak@Mail.example | +420 601 222 333 or +420 222 111 000 | please no newsletter",
        "contact": {"name": "Jana Novak", "email": "jana.novak@mail.example", "phones": ["+420601222333", "+420222111000"], "newsletter": False},
    },
    {
        "prompt": _CONTACT_TASK + "This is Tim Oyelaran, call me on +44 20 7946 0018, I have no mail. And yes, send the newsletter by post!",
        "contact": {"name": "Tim Oyelaran", "email": None, "phones": ["+442079460018"], "newsletter": True},
    },
]
CONTACT_GOOD = [
    '{"name": "Jana Novak", "email": "jana.novak@mail.example", "phones": ["+420222111000", "+420601222333"], "newsletter": false}',
    '```json\n{\n  "name": "Tim Oyelaran",\n  "email": null,\n  "phones": ["+442079460018"],\n  "newsletter": true\n}\n```',
]
CONTACT_BAD = [
    '{"name": "Jana Novak", "email": "Jana.Novak@Mail.example", "phones": ["+420601222333"], "newsletter": false}',
    '{"name": "Tim Oyelaran", "email": "", "phones": ["+442079460018"], "newsletter": "true"}',
]

# ---------------------------------------------------------------- countdown


def _evaluate(node, used):
    """Exact value of an expression of integers and + - * /; the integers are appended to used."""
    if isinstance(node, ast.Constant) and type(node.value) is int:
        used.append(node.value)
        return Fraction(node.value)
    if isinstance(node, ast.BinOp):
        a, b = _evaluate(node.left, used), _evaluate(node.right, used)
        match node.op:
            case ast.Add():
                return a + b
            case ast.Sub():
                return a - b
            case ast.Mult():
                return a * b
            case ast.Div():
                return a / b
    raise ValueError("only + - * / of integers")


def countdown_from_prompt_reward(prompts, completions, **kwargs):
    """1.0 if the expression uses every number of the prompt exactly once and gives its target, else 0.0."""
    rewards = []
    for prompt, completion in zip(prompts, completions):
        task = prompt if isinstance(prompt, str) else prompt[-1]["content"]
        numbers = [int(n) for n in re.search(r"Numbers: ([\d, ]+)", task).group(1).split(",")]
        target = int(re.search(r"Target: (\d+)", task).group(1))
        expression = _answer(_text(completion))
        if not re.fullmatch(r"[0-9+\-*/()\s]{1,200}", expression):
            rewards.append(0.0)
            continue
        used = []
        try:
            value = _evaluate(ast.parse(" ".join(expression.split()), mode="eval").body, used)
        except (SyntaxError, ValueError, ZeroDivisionError, RecursionError, MemoryError):
            rewards.append(0.0)
            continue
        rewards.append(1.0 if value == target and sorted(used) == sorted(numbers) else 0.0)
    return rewards


def _countdown_row(numbers, target):
    content = (
        f"Numbers: {', '.join(map(str, numbers))}\nTarget: {target}\nWrite an expression with + - * / and parentheses that uses every "
        "number exactly once and has the target as its value (fractions on the way are fine). End your reply with the expression "
        "alone, without an equals sign, in a single <answer></answer> block."
    )
    return {"prompt": [{"role": "user", "content": content}]}


COUNTDOWN_ROWS = [_countdown_row([3, 3, 8, 8], 24), _countdown_row([2, 7, 11, 50], 86)]
COUNTDOWN_GOOD = [
    "8 divided by a third is 24. <answer>8 / (3 - 8 / 3)</answer>",
    "<answer>\n50 + 2*(7 + 11)\n</answer>",
]
COUNTDOWN_BAD = ["<answer>3 * 8 * (8 - 8) + 24</answer>", "<answer>50 + 2 * (7 + 11) = 86</answer>"]

# ---------------------------------------------------------------- schedules in XML

EVENT = re.compile(
    r"<event>\s*<name>([^<>]+)</name>\s*<start>\s*(\d\d:\d\d)\s*</start>\s*<end>\s*(\d\d:\d\d)\s*</end>\s*</event>\s*", re.A
)


def _clock(hhmm):
    return int(hhmm[:2]) * 60 + int(hhmm[3:])


def _disjoint(spans):
    spans = sorted(spans)
    return all(a[1] <= b[0] for a, b in zip(spans, spans[1:]))


def event_schedule_reward(completions, events, priorities, **kwargs):
    """Score a schedule of events that must not overlap.

    The value of a schedule is the sum of the minutes of its events, priority events
    counted twice. 1.0 for a schedule of the greatest value, half of the share of it for
    another valid one, 0.0 for an invalid one (unknown event, changed time, event twice,
    overlap, not in the order of time, other form).
    """
    rewards = []
    for completion, known, first in zip(completions, events, priorities):
        text = _text(completion)
        block = re.fullmatch(r".*<schedule>(.*)</schedule>\s*", text, re.S)
        if not block or text.count("<schedule>") != 1 or text.count("</schedule>") != 1:
            rewards.append(0.0)
            continue
        listed = [(name.strip(), start, end) for name, start, end in EVENT.findall(block.group(1))]
        names = [name for name, _, _ in listed]
        spans = [(_clock(start), _clock(end)) for _, start, end in listed]
        valid = (
            bool(listed)
            and not EVENT.sub("", block.group(1)).strip()
            and len(set(names)) == len(names)
            and all(known.get(name) == [start, end] for name, start, end in listed)
            and spans == sorted(spans)
            and _disjoint(spans)
        )
        if not valid:
            rewards.append(0.0)
            continue
        worth = {n: (_clock(e) - _clock(s)) * (2 if n in first else 1) for n, (s, e) in known.items()}
        best = max(
            sum(worth[n] for n in chosen)
            for k in range(1, len(known) + 1)
            for chosen in combinations(known, k)
            if _disjoint([tuple(map(_clock, known[n])) for n in chosen])
        )
        value = sum(worth[n] for n in names)
        rewards.append(1.0 if value == best else 0.5 * value / best)
    return rewards


def _schedule_row(events, priorities):
    listing = "\n".join(f"- {name} ({start} - {end})" for name, (start, end) in events.items())
    return {
        "prompt": f"Events:\n{listing}\nPriorities: {', '.join(priorities)}\n\nChoose events that do not overlap (one may start when another "
        "ends) so that the total of their minutes is as great as possible; the minutes of priorities count twice. End with the "
        "chosen events in the order of time, with their names and times unchanged, in this form without a code fence:\n<schedule>\n<event>\n<name>...</name>\n"
        "<start>HH:MM</start>\n<end>HH:MM</end>\n</event>\n...\n</schedule>",
        "events": events,
        "priorities": priorities,
    }


def _xml(*events):
    body = "".join(f"<event>\n<name>{n}</name>\n<start>{s}</start>\n<end>{e}</end>\n</event>\n" for n, s, e in events)
    return f"<schedule>\n{body}</schedule>"


SCHEDULE_ROWS = [
    _schedule_row({"Keynote": ["09:00", "10:30"], "Yoga": ["10:00", "11:00"], "Workshop": ["10:30", "12:30"], "Lunch": ["12:00", "13:00"]}, ["Lunch"]),
    _schedule_row({"Match": ["14:00", "16:00"], "Choir": ["15:30", "16:30"], "Film": ["16:00", "18:00"], "Dinner": ["17:30", "19:00"]}, ["Choir", "Dinner"]),
]
SCHEDULE_GOOD = [
    "Keynote and Workshop: 90 + 120 = 210; Keynote and Lunch would give 210 too.\n"
    + _xml(("Keynote", "09:00", "10:30"), ("Workshop", "10:30", "12:30")),
    _xml(("Match", "14:00", "16:00"), ("Dinner", "17:30", "19:00")),
]
SCHEDULE_BAD = [
    _xml(("Keynote", "09:00", "10:30"), ("Workshop", "10:30", "12:30"), ("Lunch", "12:30", "13:00")),
    _xml(("Match", "14:00", "16:00"), ("Film", "16:00", "18:00")),
]

# ---------------------------------------------------------------- mazes

STEP = {"U": (-1, 0), "D": (1, 0), "L": (0, -1), "R": (0, 1)}


def _free(maze, r, c):
    return 0 <= r < len(maze) and 0 <= c < len(maze[r]) and maze[r][c] != "#"


def _shortest(maze, start, goal):
    dist = {start: 0}
    queue = deque([start])
    while queue:
        r, c = queue.popleft()
        for dr, dc in STEP.values():
            cell = (r + dr, c + dc)
            if _free(maze, *cell) and cell not in dist:
                dist[cell] = dist[r, c] + 1
                queue.append(cell)
    return dist[goal]


def maze_shortest_reward(completions, maze, **kwargs):
    """1.0 for a shortest way from S to G, 0.4 for a longer way, 0.0 for anything else.

    A way never enters a wall (#), never leaves the maze and ends on G.
    """
    rewards = []
    for completion, grid in zip(completions, maze):
        moves = re.sub(r"[\s,]", "", _answer(_text(completion))).upper()
        if not re.fullmatch(r"[UDLR]{1,300}", moves):
            rewards.append(0.0)
            continue
        where = {ch: (r, c) for r, row in enumerate(grid) for c, ch in enumerate(row) if ch in "SG"}
        r, c = where["S"]
        legal = True
        for move in moves:
            r, c = r + STEP[move][0], c + STEP[move][1]
            if not _free(grid, r, c):
                legal = False
                break
        if not legal or (r, c) != where["G"]:
            rewards.append(0.0)
        else:
            rewards.append(1.0 if len(moves) == _shortest(grid, where["S"], where["G"]) else 0.4)
    return rewards


def _maze_row(grid):
    task = (
        "Find a shortest way from S to G; # is a wall and you must stay inside. Write the moves with the letters U, D, L, R, "
        "for example <answer>RRDL</answer>, in a single such block at the end of your reply.\n"
    )
    return {"prompt": task + "\n".join(grid), "maze": grid}


MAZE_ROWS = [_maze_row(["S..#.", ".#...", ".##.#", "....G"]), _maze_row(["G.#S", ".##.", "....", "...."])]
MAZE_GOOD = ["Left side, then the bottom row. <answer>DDDRRRR</answer>", "<answer>D D L L L U U</answer>"]
MAZE_BAD = ["<answer>RRRRDDD</answer>", "<answer>DDDLLLUUU</answer>"]

# ---------------------------------------------------------------- DNA

_AMINO = "FFLLSSSSYY**CC*WLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG"
CODON = {a + b + c: _AMINO[16 * i + 4 * j + k] for i, a in enumerate("TCAG") for j, b in enumerate("TCAG") for k, c in enumerate("TCAG")}


def translation_reward(completions, dna, **kwargs):
    """1.0 for the protein of the first open reading frame of the strand, else at most 0.3 by the share of right residues.

    The frame begins at the first ATG and ends before the first stop codon in its frame.
    """
    rewards = []
    for completion, strand in zip(completions, dna):
        protein = ""
        for i in range(strand.index("ATG"), len(strand) - 2, 3):
            residue = CODON[strand[i : i + 3]]
            if residue == "*":
                break
            protein += residue
        got = "".join(_answer(_text(completion)).split()).upper()
        if got == protein:
            rewards.append(1.0)
        else:
            rewards.append(0.3 * sum(a == b for a, b in zip(got, protein)) / max(len(got), len(protein)))
    return rewards


def _dna_row(strand):
    return {
        "prompt": f"Translate this DNA (coding strand, 5' to 3') with the standard code, from the first ATG to the first stop codon in its "
        f"frame: {strand}\nEnd with the protein in one-letter code, starting with M and without the stop, in a single <answer></answer> block.",
        "dna": strand,
    }


DNA_ROWS = [_dna_row("CCATGGCTAAATGGTTTTGACCATG"), _dna_row("TTAATGCGTGATTAGTGCTAA"), _dna_row("ATGTGGCATGAAACATAAGGA")]
DNA_GOOD = ["ATG GCT AAA TGG TTT TGA <answer>MAKWF</answer>", "<answer>MRD</answer>", "<answer>M W H E T</answer>"]
DNA_BAD = ["<answer>MAKW</answer>", "<answer>MRD*CX</answer>", "<answer>MWHET*</answer>"]

# ---------------------------------------------------------------- unit conversion


def rounded_conversion_reward(completions, result, unit, **kwargs):
    """1.0 for the rounded number with the asked unit, 0.2 for the number with another or no unit, else 0.0."""
    rewards = []
    for completion, want, symbol in zip(completions, result, unit):
        answer = _answer(_text(completion)).replace("\u2212", "-")
        m = re.fullmatch(r"([+-]?[0-9]{1,15}(?:\.[0-9]{1,15})?)\s*(\S*)", answer)
        if not m or Decimal(m.group(1)) != Decimal(want):
            rewards.append(0.0)
        else:
            rewards.append(1.0 if m.group(2) == symbol else 0.2)
    return rewards


_CONVERT_TASK = (
    "Convert {} to {}, rounded to {}. End with the number (plain digits, no thousands separators), a space and the unit exactly as "
    "written here, in a single <answer></answer> block, for example <answer>12.5 {}</answer>."
)
CONVERT_ROWS = [
    {"prompt": _CONVERT_TASK.format("98.6 °F", "°C", "one decimal", "°C"), "result": "37.0", "unit": "°C"},
    {"prompt": _CONVERT_TASK.format("26.2 miles (1 mile = 1.609344 km)", "km", "two decimals", "km"), "result": "42.16", "unit": "km"},
    {"prompt": _CONVERT_TASK.format("15 psi (1 psi = 6.894757 kPa)", "kPa", "one decimal", "kPa"), "result": "103.4", "unit": "kPa"},
    {"prompt": _CONVERT_TASK.format("-4 °F", "°C", "one decimal", "°C"), "result": "-20.0", "unit": "°C"},
]
CONVERT_GOOD = [
    "(98.6 - 32) / 1.8 = 37. <answer>37.0 °C</answer>",
    "<answer>42.16 km</answer>",
    "<answer>103.4 kPa</answer>",
    "<answer>\u221220.0 °C</answer>",
]
CONVERT_BAD = ["<answer>66.6 °C</answer>", "<answer>42.2 km</answer>", "<answer>103.4 Pa</answer>", "<answer>20.0 °C</answer>"]

# ---------------------------------------------------------------- next version from commits


def next_version_reward(completions, version, commits, **kwargs):
    """1.0 for the version that semantic versioning asks for after the commits, else 0.0.

    A breaking commit (`!` before the colon, or a BREAKING CHANGE footer) raises the
    major number, else feat the minor, else fix or perf the patch, else nothing changes.
    """
    rewards = []
    for completion, current, messages in zip(completions, version, commits):
        major, minor, patch = map(int, current.split("."))
        heads = [re.match(r"([a-z]+)(?:\([^)]*\))?(!?):", message) for message in messages]
        kinds = {m.group(1) for m in heads if m}
        if any(m and m.group(2) for m in heads) or any("\nBREAKING CHANGE:" in message for message in messages):
            expected = (major + 1, 0, 0)
        elif "feat" in kinds:
            expected = (major, minor + 1, 0)
        elif kinds & {"fix", "perf"}:
            expected = (major, minor, patch + 1)
        else:
            expected = (major, minor, patch)
        rewards.append(1.0 if _answer(_text(completion)) == ".".join(map(str, expected)) else 0.0)
    return rewards


def _version_row(version, commits):
    listing = "\n".join("* " + c.replace("\n", "\n  ") for c in commits)
    return {
        "prompt": f"The last release is {version}. Since then:\n{listing}\nBy semantic versioning (a breaking change, marked with ! or a BREAKING "
        "CHANGE footer, raises the major number; else feat raises the minor; else fix or perf the patch; else the version stays; lower "
        "numbers go to 0), which is the next version? End with it in a single <answer></answer> block, for example <answer>1.2.3</answer>.",
        "version": version,
        "commits": commits,
    }


VERSION_ROWS = [
    _version_row("1.4.2", ["fix(api): close the socket", "feat(cli): add --json", "docs: typo"]),
    _version_row("2.9.9", ["perf: cache the index", "chore: bump deps"]),
    _version_row("3.1.0", ["feat: new config format\n\nBREAKING CHANGE: the old keys are gone.", "fix: null dates"]),
    _version_row("1.0.7", ["docs: rewrite the guide", "test: cover the parser", "refactor!: drop python 3.8"]),
]
VERSION_GOOD = ["<answer>1.5.0</answer>", "perf counts as patch. <answer>2.9.10</answer>", "<answer>4.0.0</answer>", "<answer>2.0.0</answer>"]
VERSION_BAD = ["<answer>1.5.2</answer>", "<answer>3.0.0</answer>", "<answer>3.2.0</answer>", "<answer>1.0.8</answer>"]

# ---------------------------------------------------------------- unified diffs


def _apply_diff(diff, source):
    """The file after the diff, or None if it is malformed or a hunk does not match exactly one place."""
    lines = diff.rstrip("\n").split("\n")
    starts = [i for i, line in enumerate(lines) if line.startswith("@@")]
    if not starts or any(not line.startswith(("---", "+++", "diff ", "index ")) for line in lines[: starts[0]]):
        return None
    file = source.split("\n")
    changes = []
    for begin, end in zip(starts, starts[1:] + [len(lines)]):
        old, new = [], []
        for line in lines[begin + 1 : end]:
            if line.startswith("\\"):
                continue
            mark, content = (line[0], line[1:]) if line else (" ", "")
            if mark not in " -+":
                return None
            if mark in " -":
                old.append(content)
            if mark in " +":
                new.append(content)
        places = [i for i in range(len(file) - len(old) + 1) if file[i : i + len(old)] == old]
        if not old or len(places) != 1:
            return None
        changes.append((places[0], len(old), new))
    changes.sort()
    if any(a[0] + a[1] > b[0] for a, b in zip(changes, changes[1:])):
        return None
    for place, length, new in reversed(changes):
        file[place : place + length] = new
    return "\n".join(file)


def unified_diff_reward(completions, source, target, **kwargs):
    """1.0 if the ```diff block turns the file into exactly the wanted file, 0.1 if it only applies, else 0.0.

    Line numbers in the hunk headers are not used: the kept and removed lines of a hunk
    must occur at exactly one place of the file.
    """
    rewards = []
    for completion, before, after in zip(completions, source, target):
        diff = _fence(_text(completion), "diff")
        result = _apply_diff(diff, before) if diff and len(diff) < 5000 else None
        if result is None:
            rewards.append(0.0)
        else:
            rewards.append(1.0 if result == after else 0.1)
    return rewards


_DIFF_TASK = (
    "Write a unified diff for the file {}: {} Change nothing else. Reply with exactly one ```diff block (hunks with @@ headers; the "
    "line numbers are ignored, but the kept and removed lines of each hunk must occur at exactly one place).\n\n{}"
)
_MEAN = "def mean(values):\n    total = 0\n    for v in values:\n        total += v\n    return total / len(values)\n"
_SLUG = "import re\n\n\ndef slug(title):\n    title = title.lower()\n    title = re.sub(r'[^a-z0-9]+', '-', title)\n    return title\n"
DIFF_ROWS = [
    {
        "prompt": _DIFF_TASK.format("stats.py", "rename the variable total to acc everywhere.", _MEAN),
        "source": _MEAN,
        "target": _MEAN.replace("total", "acc"),
    },
    {
        "prompt": _DIFF_TASK.format("slug.py", "return title.strip('-') instead of title.", _SLUG),
        "source": _SLUG,
        "target": _SLUG.replace("return title\n", "return title.strip('-')\n"),
    },
]
DIFF_GOOD = [
    "```diff\n--- a/stats.py\n+++ b/stats.py\n@@ -1,5 +1,5 @@\n def mean(values):\n-    total = 0\n+    acc = 0\n     for v in values:\n"
    "-        total += v\n-    return total / len(values)\n+        acc += v\n+    return acc / len(values)\n```",
    "Only the last line changes.\n```diff\n@@ -6,2 +6,2 @@\n     title = re.sub(r'[^a-z0-9]+', '-', title)\n-    return title\n+    return title.strip('-')\n```",
]
DIFF_BAD = [
    "```diff\n--- a/stats.py\n+++ b/stats.py\n@@ -2 +2 @@\n-    total = 0\n+    acc = 0\n```",
    "```diff\n@@ -7 +7 @@\n-    return titles\n+    return title.strip('-')\n```",
]

# ---------------------------------------------------------------- sudoku


def sudoku6_reward(completions, puzzle, **kwargs):
    """1.0 for a solved 6x6 sudoku (boxes of 2 rows and 3 columns), 0.2 for a full grid that keeps the givens, else 0.0."""
    rewards = []
    for completion, given in zip(completions, puzzle):
        lines = [re.sub(r"[ |]", "", line) for line in _answer(_text(completion)).split("\n")]
        grid = [line.strip() for line in lines if line.strip(" \r\t-+")]
        if len(grid) != 6 or any(not re.fullmatch(r"[1-6]{6}", row) for row in grid):
            rewards.append(0.0)
            continue
        if any(g not in (".", d) for line, row in zip(given, grid) for g, d in zip(line, row)):
            rewards.append(0.0)
            continue
        units = grid + ["".join(column) for column in zip(*grid)]
        units += ["".join(grid[r + i][c : c + 3] for i in (0, 1)) for r in (0, 2, 4) for c in (0, 3)]
        rewards.append(1.0 if all(set(unit) == set("123456") for unit in units) else 0.2)
    return rewards


def _sudoku_row(puzzle):
    task = (
        "Solve this 6x6 sudoku: the digits 1 to 6 once in every row, every column and every box of 2 rows and 3 columns. "
        "End with the six rows, one a line, in a single <answer></answer> block.\n"
    )
    return {"prompt": task + "\n".join(puzzle), "puzzle": puzzle}


SUDOKU_ROWS = [
    _sudoku_row(["1...5.", "......", "..1465", "....1.", "4.3...", "5....6"]),
    _sudoku_row(["6....2", ".34...", "1..6..", "..3...", "...5..", "..2..1"]),
]
SUDOKU_GOOD = ["<answer>\n134652\n256134\n321465\n645213\n463521\n512346\n</answer>",
    "Row 2 starts with 2.\n<answer>\n6 5 1 4 3 2\n2 3 4 1 5 6\n1 2 5 6 4 3\n4 6 3 2 1 5\n3 1 6 5 2 4\n5 4 2 3 6 1\n</answer>",
]
SUDOKU_BAD = ["<answer>\n134652\n256134\n321465\n645213\n463512\n512346\n</answer>", "<answer>456123\n123456</answer>"]

CASES = [
    Case(name="q_ok_sql_databases", reward=sql_databases_reward, examples=SQL_ROWS, good=SQL_GOOD, bad=SQL_BAD),
    Case(name="q_ok_contact_json", reward=contact_json_reward, examples=CONTACT_ROWS, good=CONTACT_GOOD, bad=CONTACT_BAD),
    Case(name="q_ok_countdown_prompt", reward=countdown_from_prompt_reward, examples=COUNTDOWN_ROWS, good=COUNTDOWN_GOOD, bad=COUNTDOWN_BAD),
    Case(name="q_ok_event_schedule", reward=event_schedule_reward, examples=SCHEDULE_ROWS, good=SCHEDULE_GOOD, bad=SCHEDULE_BAD),
    Case(name="q_ok_maze_shortest", reward=maze_shortest_reward, examples=MAZE_ROWS, good=MAZE_GOOD, bad=MAZE_BAD),
    Case(name="q_ok_translation", reward=translation_reward, examples=DNA_ROWS, good=DNA_GOOD, bad=DNA_BAD),
    Case(name="q_ok_conversion", reward=rounded_conversion_reward, examples=CONVERT_ROWS, good=CONVERT_GOOD, bad=CONVERT_BAD),
    Case(name="q_ok_next_version", reward=next_version_reward, examples=VERSION_ROWS, good=VERSION_GOOD, bad=VERSION_BAD),
    Case(name="q_ok_unified_diff", reward=unified_diff_reward, examples=DIFF_ROWS, good=DIFF_GOOD, bad=DIFF_BAD),
    Case(name="q_ok_sudoku6", reward=sudoku6_reward, examples=SUDOKU_ROWS, good=SUDOKU_GOOD, bad=SUDOKU_BAD),
]
