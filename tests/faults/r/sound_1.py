"""Sound reward functions: data, code and text formats."""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
import sqlite3
import xml.etree.ElementTree as ElementTree
from collections import Counter
from datetime import date, timedelta

from tests.faults.case import Case


def _text(completion):
    """The text of a completion, a string or a chat."""
    if isinstance(completion, str):
        return completion
    return completion[-1]["content"]


def _answer_line(text):
    """What follows 'Answer:' on the last line, if that line is the only one of its kind; else the empty string."""
    lines = [line.strip() for line in text.strip().split("\n")]
    if sum(line.startswith("Answer:") for line in lines) != 1 or not lines[-1].startswith("Answer:"):
        return ""
    return lines[-1][len("Answer:"):].strip()


def _query(setup, sql):
    """Rows of one read-only statement on a fresh database; None if it fails or returns very much."""
    conn = sqlite3.connect(":memory:")
    try:
        conn.executescript(setup)
        conn.execute("PRAGMA query_only = ON")
        conn.set_progress_handler(lambda: 1, 500_000)
        rows = conn.execute(sql).fetchmany(1001)
        return rows if len(rows) <= 1000 else None
    except (sqlite3.Error, sqlite3.Warning, ValueError, OverflowError):
        return None
    finally:
        conn.close()


def query_reward(completions, setups, gold_sql, ordered, **kwargs):
    """Execution reward of text-to-SQL on several hidden databases of the same schema.

    The query stands in the only ```sql block. It must return the rows of the reference on every database: as a bag, or
    in order where the question asks for an order. 1.0 if so, 0.1 if it runs everywhere, else 0.
    """
    rewards = []
    for completion, scripts, gold, in_order in zip(completions, setups, gold_sql, ordered):
        blocks = re.findall(r"```sql[ \t]*\n(.*?)```", _text(completion), re.DOTALL)
        if len(blocks) != 1 or not blocks[0].strip():
            rewards.append(0.0)
            continue
        ran = True
        same = True
        for script in scripts:
            rows = _query(script, blocks[0].strip())
            expected = _query(script, gold)
            if rows is None:
                ran = False
                break
            if in_order:
                same = same and rows == expected
            else:
                same = same and Counter(rows) == Counter(expected)
        rewards.append(0.0 if not ran else 1.0 if same else 0.1)
    return rewards


def _unique(pairs):
    """A JSON object without repeated keys."""
    if len({key for key, _ in pairs}) != len(pairs):
        raise ValueError("repeated key")
    return dict(pairs)


def _equal(a, b):
    """Equality of JSON values where true is not 1 but 2.0 is 2."""
    if isinstance(b, dict):
        return isinstance(a, dict) and set(a) == set(b) and all(_equal(a[k], b[k]) for k in b)
    if isinstance(b, list):
        return isinstance(a, list) and len(a) == len(b) and all(_equal(x, y) for x, y in zip(a, b))
    if isinstance(b, bool) or isinstance(a, bool) or b is None:
        return a is b
    if isinstance(b, (int, float)):
        return isinstance(a, (int, float)) and a == b
    return isinstance(a, str) and a == b


def order_json_reward(completions, order, **kwargs):
    """Reward of reading an order into nested JSON.

    The reply is the JSON object alone. 1.0 if it equals the reference; otherwise half of the share of top-level fields
    that are right, when there are no unknown fields; 0.0 for another form.
    """
    rewards = []
    for completion, gold in zip(completions, order):
        try:
            said = json.loads(_text(completion).strip(), object_pairs_hook=_unique)
        except (ValueError, RecursionError):
            rewards.append(0.0)
            continue
        if _equal(said, gold):
            rewards.append(1.0)
        elif isinstance(said, dict) and not set(said) - set(gold):
            right = sum(key in said and _equal(said[key], gold[key]) for key in gold)
            rewards.append(0.5 * right / len(gold))
        else:
            rewards.append(0.0)
    return rewards


def _glob(pattern, name):
    """Whether a pattern of *, ? and plain characters matches the whole name."""
    row = [True] + [False] * len(name)
    for char in pattern:
        new = [row[0] and char == "*"]
        for i, c in enumerate(name, 1):
            if char == "*":
                new.append(new[-1] or row[i])
            else:
                new.append(row[i - 1] and char in ("?", c))
        row = new
    return row[-1]


def glob_reward(completions, match, no_match, **kwargs):
    """Reward of writing a file pattern with * (any characters, also none) and ? (one character).

    1.0 if the pattern of the answer line matches all names of `match` and no name of `no_match`, else 0.0.
    """
    rewards = []
    for completion, yes, no in zip(completions, match, no_match):
        pattern = _answer_line(_text(completion))
        if not 0 < len(pattern) <= 40:
            rewards.append(0.0)
            continue
        right = all(_glob(pattern, name) for name in yes) and not any(_glob(pattern, name) for name in no)
        rewards.append(1.0 if right else 0.0)
    return rewards


def _mode(text):
    """The mode of an octal number or of symbolic clauses with = for all classes; None for another text."""
    if re.fullmatch(r"0?[0-7]{3}", text):
        return int(text, 8)
    bits = {}
    for clause in text.split(","):
        found = re.fullmatch(r"([ugoa]+)=([rwx]*)", clause)
        if not found:
            return None
        value = sum({"r": 4, "w": 2, "x": 1}[p] for p in set(found.group(2)))
        for who in found.group(1).replace("a", "ugo"):
            bits[who] = value
    if set(bits) != set("ugo"):
        return None
    return bits["u"] * 64 + bits["g"] * 8 + bits["o"]


def chmod_reward(completions, mode, path, **kwargs):
    """Reward of writing a chmod command: 'chmod MODE PATH' with an octal mode or with = clauses for u, g and o.

    The reply is the command alone. 1.0 when it sets the wanted mode on the wanted path, 0.2 when only the path is right.
    """
    rewards = []
    for completion, wanted, target in zip(completions, mode, path):
        line = _text(completion).strip()
        try:
            words = shlex.split(line) if "\n" not in line and len(line) < 200 else []
        except ValueError:
            words = []
        if len(words) != 3 or words[0] != "chmod" or words[2] != target:
            rewards.append(0.0)
            continue
        rewards.append(1.0 if _mode(words[1]) == int(wanted, 8) else 0.2)
    return rewards


def working_day_reward(completions, start, days, holidays, **kwargs):
    """Reward of counting working days: Monday to Friday without the holidays, the start day not counted.

    The last line is 'Answer: YYYY-MM-DD'. 1.0 for the right day, 0.1 for another date, 0.0 for another form.
    """
    rewards = []
    for completion, first, count, free in zip(completions, start, days, holidays):
        day = date.fromisoformat(first)
        left = count
        while left:
            day += timedelta(days=1)
            if day.weekday() < 5 and day.isoformat() not in free:
                left -= 1
        said = _answer_line(_text(completion))
        if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", said):
            rewards.append(0.0)
            continue
        rewards.append(1.0 if said == day.isoformat() else 0.1)
    return rewards


_JOULES = {"J": 1.0, "kJ": 1e3, "MJ": 1e6, "Wh": 3600.0, "kWh": 3.6e6}


def energy_reward(completions, joules, **kwargs):
    """Reward of energy exercises: 'Answer: <number> <unit>' in J, kJ, MJ, Wh or kWh, the writer's choice.

    The number is a plain decimal or in e-notation. 1.0 within half a percent of the reference after conversion, 0.1
    for another energy, 0.0 for another form.
    """
    rewards = []
    for completion, gold in zip(completions, joules):
        parts = _answer_line(_text(completion)).split()
        if len(parts) != 2 or parts[1] not in _JOULES:
            rewards.append(0.0)
            continue
        if not re.fullmatch(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]{1,3})?", parts[0]):
            rewards.append(0.0)
            continue
        energy = float(parts[0]) * _JOULES[parts[1]]
        rewards.append(1.0 if abs(energy - gold) <= 0.005 * abs(gold) else 0.1)
    return rewards


def _run(words, x, y):
    """The result of a stack program, or None if it fails."""
    stack = []
    for word in words:
        if word in ("x", "y"):
            stack.append(x if word == "x" else y)
        elif re.fullmatch(r"-?[0-9]{1,6}", word):
            stack.append(int(word))
        elif word in ("dup", "drop"):
            if not stack:
                return None
            stack.append(stack[-1]) if word == "dup" else stack.pop()
        elif word in ("swap", "+", "-", "*", "max", "min"):
            if len(stack) < 2:
                return None
            b, a = stack.pop(), stack.pop()
            if word == "swap":
                stack += [b, a]
            else:
                stack.append({"+": a + b, "-": a - b, "*": a * b, "max": max(a, b), "min": min(a, b)}[word])
            if abs(stack[-1]) > 10**15:
                return None
        else:
            return None
    return stack[0] if len(stack) == 1 else None


def stack_program_reward(completions, cases, **kwargs):
    """Reward of writing a program of a small stack machine, run on hidden cases [x, y, result].

    The program stands in the only <program> tag, words with blanks between, at most 30. 1.0 if every case is right,
    else 0.3 times the share of right cases.
    """
    rewards = []
    for completion, tests in zip(completions, cases):
        found = re.findall(r"<program>(.*?)</program>", _text(completion), re.DOTALL)
        words = found[0].split() if len(found) == 1 else []
        if not 0 < len(words) <= 30:
            rewards.append(0.0)
            continue
        right = sum(_run(words, x, y) == result for x, y, result in tests)
        rewards.append(1.0 if right == len(tests) else 0.3 * right / len(tests))
    return rewards


def xml_reward(completions, root, item, records, **kwargs):
    """Reward of writing records as XML: <root> with one <item> for each record and one element for each field.

    The reply is the XML alone, without attributes, comments, CDATA or DTD. 1.0 if names, texts and order are those of the
    reference, 0.1 for well-formed XML that is not, else 0.
    """
    rewards = []
    for completion, outer, inner, gold in zip(completions, root, item, records):
        text = _text(completion).strip()
        if "<!" in text:
            rewards.append(0.0)
            continue
        try:
            tree = ElementTree.fromstring(text)
        except (ElementTree.ParseError, ValueError, LookupError, RecursionError):
            rewards.append(0.0)
            continue
        blank = all(not (e.tail or "").strip() and not e.attrib for e in tree.iter())
        blank = blank and all(not (e.text or "").strip() for e in [tree, *tree])
        said = [[(f.tag, (f.text or "").strip(), len(f)) for f in record] for record in tree]
        wanted = [[(name, value, 0) for name, value in record.items()] for record in gold]
        names = tree.tag == outer and all(record.tag == inner for record in tree)
        rewards.append(1.0 if blank and names and said == wanted else 0.1)
    return rewards


def ranking_table_reward(completions, header, rows, **kwargs):
    """Reward of writing a sorted Markdown table.

    The reply is the table alone, every line from | to |. Header, rows and their order must be those of the reference,
    blanks around cells do not matter. 1.0 if so, 0.2 for a table with the right header only, else 0.
    """
    rewards = []
    for completion, names, body in zip(completions, header, rows):
        table = []
        for line in _text(completion).strip().split("\n"):
            line = line.strip()
            if len(line) < 2 or line[0] != "|" or line[-1] != "|":
                table = []
                break
            table.append([cell.strip() for cell in line[1:-1].split("|")])
        if len(table) < 2 or table[0] != names:
            rewards.append(0.0)
            continue
        if len(table[1]) != len(names) or not all(re.fullmatch(r":?-+:?", cell) for cell in table[1]):
            rewards.append(0.0)
            continue
        rewards.append(1.0 if table[2:] == body else 0.2)
    return rewards


def csv_total_reward(completions, table, **kwargs):
    """Reward of summing records into standard CSV.

    The reply is the CSV alone. Cells may be quoted or not, as the standard allows. 1.0 if the cells are those of the
    reference, else half of the share of rows that are right when the header is, else 0.
    """
    rewards = []
    for completion, gold in zip(completions, table):
        text = _text(completion).strip()
        try:
            rows = [row for row in csv.reader(io.StringIO(text, newline=""), strict=True)]
        except csv.Error:
            rows = []
        if rows == gold:
            rewards.append(1.0)
        elif rows and rows[0] == gold[0] and len(rows) == len(gold):
            right = sum(a == b for a, b in zip(rows[1:], gold[1:]))
            rewards.append(0.5 * right / len(gold))
        else:
            rewards.append(0.0)
    return rewards


_ONLY = " The last line of the reply must be exactly as follows, and no other line may start so: Answer: "
_SQL = " Reply with one SQLite query in one ```sql block, nothing else in backticks."
_SHOP = "CREATE TABLE customer (id INTEGER, name TEXT); CREATE TABLE purchase (id INTEGER, customer_id INTEGER, total INTEGER);"
_SHOP1 = _SHOP + """
INSERT INTO customer VALUES (1, 'Nora'), (2, 'Abel'), (3, 'Zoe'), (4, 'Mia'), (5, 'Cleo');
INSERT INTO purchase VALUES (10, 2, 30), (11, 2, 30), (12, 5, 80), (1, 5, 15), (3, 9, 5);
"""
_SHOP2 = _SHOP + """
INSERT INTO customer VALUES (7, 'Ugo'), (8, 'Tess'), (9, 'Bea'), (10, 'Kim');
INSERT INTO purchase VALUES (7, 8, 100), (2, 8, 90), (9, 8, 10), (4, 10, 100), (5, 10, 100);
"""
_JOBS = "CREATE TABLE staff (id INTEGER, name TEXT, dept TEXT, salary INTEGER);"
_JOBS1 = _JOBS + """
INSERT INTO staff VALUES (1, 'Ines', 'ops', 4500), (2, 'Bo', 'dev', 5200), (3, 'Carl', 'ops', 5000), (4, 'Dana', 'dev', 4499),
 (5, 'Eve', 'ops', 3900), (6, 'Finn', 'hr', 4400), (7, 'Gus', 'dev', 6100), (8, 'Hal', 'dev', 6100);
"""
_JOBS2 = _JOBS + """
INSERT INTO staff VALUES (4, 'Pia', 'law', 4500), (3, 'Quin', 'law', 1200), (9, 'Rolf', 'art', 4499), (11, 'Sina', 'hr', 9000);
"""
_ORDER = ('\nReply with one JSON object and nothing else: {"customer": string, "items": [{"name": string, "count": number, '
          '"price": number}, ...] in the order of the text, "gift": boolean, "note": string or null}. Names of things in the '
          "singular and in small letters, price for one piece in euros.")


def _near(text, keep):
    """Names that differ from the text by one character, apart from insertions at the places of keep."""
    out = {text[:i] + text[i + 1:] for i in range(len(text))}
    out |= {text[:i] + "~" + text[i + 1:] for i in range(len(text))}
    out |= {text[:i] + "~" + text[i:] for i in range(len(text) + 1) if i not in keep}
    return sorted(out - {text})


_GLOB = (" Use only plain characters, * (any characters, also none) and ? (exactly one character)." + _ONLY + "<pattern>")
_CHMOD = (" Write 'chmod MODE PATH' with an octal mode of three digits or with clauses like u=rw for all of u, g and o (joined by "
          "commas, only =). Path as written here, no options. Reply with the command alone.")
_DAYS = (" Working days are Monday to Friday without the holidays named; the start day itself is not counted." + _ONLY
         + "YYYY-MM-DD")
_ENERGY = (" Give at least three significant digits, as a plain decimal number or in e-notation such as 4.21e7, without thousands "
           "separators, in one of the units J, kJ, MJ, Wh, kWh." + _ONLY + "<number> <unit>")
_STACK = (" Words of the machine: x and y push the inputs, a whole number pushes itself, dup, drop, swap, and + - * max min, which take "
          "two values (a below b) and push a+b, a-b, a*b, the larger, the smaller. At the end the result must be the only value on the "
          "stack. Write the program, at most 30 words, once between <program> and </program>.")

CASES = [
    Case(
        name="r_query_hidden_dbs", reward=query_reward,
        examples=[
            {"prompt": "Tables customer(id, name), purchase(id, customer_id, total). List the names of the customers that have no "
             "purchase, in alphabetical order (one column)." + _SQL, "setups": [_SHOP1, _SHOP2], "ordered": True,
             "gold_sql": "SELECT name FROM customer WHERE id NOT IN (SELECT customer_id FROM purchase) ORDER BY name"},
            {"prompt": "Table staff(id, name, dept, salary). For every dept in which somebody earns at least 4500: the dept and the "
             "number of people in it that earn at least 4500 (two columns, rows in any order)." + _SQL,
             "setups": [_JOBS1, _JOBS2], "ordered": False,
             "gold_sql": "SELECT dept, COUNT(*) FROM staff WHERE salary >= 4500 GROUP BY dept"},
        ],
        good=["```sql\nSELECT c.name FROM customer c LEFT JOIN purchase p ON p.customer_id = c.id\nWHERE p.id IS NULL ORDER BY c.name;\n```",
              "```sql\nSELECT dept, SUM(salary >= 4500) AS n FROM staff GROUP BY dept HAVING n > 0 ORDER BY dept DESC\n```"],
        bad=["```sql\nSELECT name FROM customer ORDER BY name\n```",
             "```sql\nSELECT dept, COUNT(*) FROM staff GROUP BY dept\n```"],
    ),
    Case(
        name="r_order_json", reward=order_json_reward,
        examples=[
            {"prompt": "Ms Adler orders two lamps at 19.50 euros each and a rug for 80 euros. It is a gift; no note." + _ORDER
             + ' Customer: the family name.',
             "order": {"customer": "Adler", "items": [{"name": "lamp", "count": 2, "price": 19.5}, {"name": "rug", "count": 1, "price": 80}],
                       "gift": True, "note": None}},
            {"prompt": "Mr Bell orders four mugs, 36 euros together, not a gift, with the note: ring twice" + _ORDER
             + ' Customer: the family name.',
             "order": {"customer": "Bell", "items": [{"name": "mug", "count": 4, "price": 9}], "gift": False, "note": "ring twice"}},
        ],
        good=['{"customer": "Adler", "items": [{"name": "lamp", "count": 2, "price": 19.50}, {"name": "rug", "count": 1, "price": 80.0}], '
              '"gift": true, "note": null}',
              '{\n  "customer": "Bell",\n  "gift": false,\n  "note": "ring twice",\n  "items": [{"name": "mug", "count": 4, "price": 9}]\n}'],
        bad=['{"customer": "Adler", "items": [{"name": "lamp", "count": 2, "price": 19.50}], "gift": true, "note": null}',
             '{"customer": "Bell", "items": [{"name": "mug", "count": 4, "price": 36}], "gift": false, "note": "ring twice"}'],
    ),
    Case(
        name="r_glob_pattern", reward=glob_reward,
        examples=[
            {"prompt": "Write a file pattern for all names that start with app- and end with .log (also app-.log itself)." + _GLOB,
             "match": ["app-.log", "app-1.log", "app-web.old.log", "app-app-.log", "app-~.log"],
             "no_match": _near("app-.log", {4}) + ["xapp-1.log", "app-1.log.gz", "app-1.txt", "app1.log", "App-1.log", "", "log"]},
            {"prompt": "Write a file pattern for all names of exactly three characters and then .c" + _GLOB,
             "match": ["abc.c", "x.y.c", "~~~.c", "1-2.c", "c.c.c"],
             "no_match": ["ab.c", "abcd.c", ".c", "a.c", "abcde.c", "abc.h", "abcc", "abc,c", "abcxc", "abc.", "abc.cc", "abc.c~", "abc..c",
                          "abc.~", "abc~c", ""]},
        ],
        good=["Star for the middle.\nAnswer: app-*.log", "Answer: ???.c"],
        bad=["Answer: app*.log", "Answer: *.c"],
    ),
    Case(
        name="r_chmod_mode", reward=chmod_reward,
        examples=[
            {"prompt": "The owner may read, write and execute run.sh, the group may read and execute it, others may do nothing." + _CHMOD,
             "mode": "750", "path": "run.sh"},
            {"prompt": "The owner may read and write notes.txt, the group and others may only read it." + _CHMOD,
             "mode": "644", "path": "notes.txt"},
            {"prompt": "The owner may read key.pem; nobody may do anything else with it." + _CHMOD, "mode": "400", "path": "key.pem"},
        ],
        good=["chmod u=rwx,g=rx,o= run.sh", "chmod 644 notes.txt", "chmod u=r,go= key.pem"],
        bad=["chmod 755 run.sh", "chmod 664 notes.txt", "chmod 600 key.pem"],
    ),
    Case(
        name="r_working_days", reward=working_day_reward,
        examples=[
            {"prompt": "Start: Thursday 2024-03-28. Which day is the 5th working day after it? Holidays: 2024-03-29, 2024-04-01." + _DAYS,
             "start": "2024-03-28", "days": 5, "holidays": ["2024-03-29", "2024-04-01"]},
            {"prompt": "Start: Saturday 2024-12-21. Which day is the 6th working day after it? Holidays: 2024-12-25, 2024-12-26, "
             "2025-01-01." + _DAYS, "start": "2024-12-21", "days": 6, "holidays": ["2024-12-25", "2024-12-26", "2025-01-01"]},
        ],
        good=["2, 3, 4, 5 and 8 April.\nAnswer: 2024-04-08", "23, 24, 27, 30, 31 December, then 2 January.\nAnswer: 2025-01-02"],
        bad=["Answer: 2024-04-04", "Answer: 2024-12-30"],
    ),
    Case(
        name="r_energy_units", reward=energy_reward,
        examples=[
            {"prompt": "A heater of 2 kW runs for 45 minutes. How much energy does it use?" + _ENERGY, "joules": 5.4e6},
            {"prompt": "What is the kinetic energy of a car of 1200 kg at 25 m/s?" + _ENERGY, "joules": 375000.0},
        ],
        good=["2 kW for 0.75 h.\nAnswer: 1.50 kWh", "Answer: 3.75e5 J"],
        bad=["Answer: 90 kJ", "Answer: 750 kJ"],
    ),
    Case(
        name="r_stack_program", reward=stack_program_reward,
        examples=[
            {"prompt": "Write a program for the distance |x - y| of two whole numbers." + _STACK,
             "cases": [[3, 8, 5], [8, 3, 5], [0, 0, 0], [-4, 9, 13], [7, -7, 14], [-20, -3, 17], [100, 1, 99], [1, 2, 1]]},
            {"prompt": "Write a program for x squared plus 3 times y." + _STACK,
             "cases": [[2, 5, 19], [0, 0, 0], [-3, 1, 12], [4, -6, -2], [1, 1, 4], [10, 7, 121], [-1, -1, -2], [6, 0, 36]]},
        ],
        good=["<program>x y max x y min -</program>", "First the square.\n<program>\nx dup * y 3 * +\n</program>"],
        bad=["<program>x y -</program>", "<program>x 2 * y 3 * +</program>"],
    ),
    Case(
        name="r_records_xml", reward=xml_reward,
        examples=[
            {"prompt": "Text: Ann Lee (34) works at Pike & Sons, Joe Day (51) at Milltown Bakery.\nWrite it as XML: a root element people, "
             "in it for each person, in the order of the text, an element person with the elements name, age, employer in this order. No "
             "attributes, comments, CDATA or DTD. Reply with the XML alone.", "root": "people", "item": "person",
             "records": [{"name": "Ann Lee", "age": "34", "employer": "Pike & Sons"},
                         {"name": "Joe Day", "age": "51", "employer": "Milltown Bakery"}]},
            {"prompt": "Text: route 7 takes 25 minutes, route 12 takes 40 minutes.\nWrite it as XML: a root element routes, in it for each "
             "route, in the order of the text, an element route with the elements number and minutes (digits only) in this order. No "
             "attributes, comments, CDATA or DTD. Reply with the XML alone.", "root": "routes", "item": "route",
             "records": [{"number": "7", "minutes": "25"}, {"number": "12", "minutes": "40"}]},
        ],
        good=["<people>\n  <person><name>Ann Lee</name><age>34</age><employer>Pike &amp; Sons</employer></person>\n"
              "  <person><name>Joe Day</name><age>51</age><employer>Milltown Bakery</employer></person>\n</people>",
              "<routes><route><number>7</number><minutes>25</minutes></route><route><number>12</number><minutes>40</minutes></route></routes>"],
        bad=["<people><person><name>Ann Lee</name><age>34</age><employer>Pike &amp; Sons</employer></person></people>",
             "<routes><route><number>7</number><minutes>40</minutes></route><route><number>12</number><minutes>25</minutes></route></routes>"],
    ),
    Case(
        name="r_ranking_table", reward=ranking_table_reward,
        examples=[
            {"prompt": "Text: Ravens won 4 and lost 6, Otters won 9 and lost 1, Hawks won 7 and lost 3.\nWrite a Markdown table with the header "
             "Team, Won, Lost and one row for each team, most wins first, numbers as digits. Every line starts and ends with |. Reply with "
             "the table alone.", "header": ["Team", "Won", "Lost"],
             "rows": [["Otters", "9", "1"], ["Hawks", "7", "3"], ["Ravens", "4", "6"]]},
            {"prompt": "Text: Bern has 134000 inhabitants, Basel 173000, Chur 38000.\nWrite a Markdown table with the header City, Inhabitants "
             "and one row for each city, smallest city first, numbers as in the text. Every line starts and ends with |. Reply with the "
             "table alone.", "header": ["City", "Inhabitants"], "rows": [["Chur", "38000"], ["Bern", "134000"], ["Basel", "173000"]]},
        ],
        good=["| Team | Won | Lost |\n|------|----:|:---:|\n| Otters | 9 | 1 |\n| Hawks | 7 | 3 |\n| Ravens | 4 | 6 |",
              "|City|Inhabitants|\n|---|---|\n|Chur|38000|\n|Bern|134000|\n|Basel|173000|"],
        bad=["| Team | Won | Lost |\n|---|---|---|\n| Ravens | 4 | 6 |\n| Otters | 9 | 1 |\n| Hawks | 7 | 3 |",
             "|City|Inhabitants|\n|---|---|\n|Chur|38000|\n|Bern|134000|"],
    ),
    Case(
        name="r_csv_totals", reward=csv_total_reward,
        examples=[
            {"prompt": "Sales: Bolt, small 2.50; Nut 1.25; Bolt, small 4.00; Nut 0.75; Bolt, small 1.00. (The two articles are \"Bolt, small\" "
             "and \"Nut\".)\nWrite the total for each article as standard CSV (RFC 4180) with the header article,total, articles in order of "
             "first appearance, totals with two decimals, no blanks around commas between cells. Reply with the CSV alone.",
             "table": [["article", "total"], ["Bolt, small", "7.50"], ["Nut", "2.00"]]},
            {"prompt": "Hours: Uma 3, Per 5, Uma 4, Per 1, Lia 6.\nWrite the total for each person as standard CSV (RFC 4180) with the header "
             "person,hours, persons in order of first appearance, whole numbers, no blanks around commas. Reply with the CSV alone.",
             "table": [["person", "hours"], ["Uma", "7"], ["Per", "6"], ["Lia", "6"]]},
        ],
        good=['article,total\n"Bolt, small",7.50\nNut,2.00', '"person","hours"\n"Uma","7"\n"Per","6"\n"Lia","6"'],
        bad=["article,total\nBolt, small,7.50\nNut,2.00", "person,hours\nUma,7\nPer,5\nLia,6"],
    ),
]
