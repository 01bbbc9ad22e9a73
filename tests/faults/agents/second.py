"""Twenty rewards for agents that call tools: ten with a fault, ten sound."""

import json
import re
import sqlite3

import rewardkit as rk


def asked(text, **columns):
    """Return an example: a prompt and its columns."""
    return {"prompt": [{"role": "user", "content": text}], **columns}


def call_message(name, arguments):
    """Return an assistant message with one tool call."""
    function = {"name": name, "arguments": arguments}
    return {"role": "assistant", "content": "", "tool_calls": [{"type": "function", "function": function}]}


def episode(tools, calls, answer):
    """Return the messages of an episode: calls with the results of the tools, then the answer (None: there is none)."""
    functions = {tool.__name__: tool for tool in tools}
    messages = []
    for name, arguments in calls:
        messages.append(call_message(name, arguments))
        try:
            result = functions[name](**arguments)
        except Exception as error:
            result = {"error": str(error)}
        messages.append({"role": "tool", "name": name, "content": str(result)})
    if answer is not None:
        messages.append({"role": "assistant", "content": answer})
    return messages


# ----------------------------------------------------------------------------------------------------------------------
# shell steps


def execute_bash(command: str = "", security_risk: str = "LOW") -> str:
    """Run a shell command in the repository, or show what the last one printed.

    Args:
        command: The command to run; empty to see more of the last output.
        security_risk: How risky the command is: LOW, MEDIUM or HIGH.
    """
    outputs = {
        "grep": "src/dates.py:14:def parse_date(text):",
        "sed": "def parse_date(text):\n    return datetime.strptime(text, '%Y-%d-%m')",
        "pytest": "1 failed, 11 passed",
        "git": "M src/dates.py",
        "ls": "dates.py  money.py",
        "cat": "requests==2.19.0",
    }
    program = command.split()[0] if command.split() else ""
    return outputs.get(program, f"{program}: command not found" if program else "")


def open_file(path: str = "", line: int = 1) -> str:
    """Open a file in the editor at a line.

    Args:
        path: The path of the file; empty for the file that is open.
        line: The line to go to.
    """
    return f"[{path}, line {line}]\ndef parse_date(text):" if path else "no file is open"


@rk.reward
def expert_steps(trajectory: rk.Trajectory, steps: str) -> float:
    """Score 1.0 if the agent takes the same steps as the expert: the same tools with the same arguments, in order."""
    expert = json.loads(steps)
    if len(trajectory.calls) != len(expert) or not trajectory.finished:
        return 0.0
    for call, step in zip(trajectory.calls, expert):
        if call.name != step["name"] or call.arguments is None or not call.ok:
            return 0.0
        if set(call.arguments) - set(step["arguments"]):
            return 0.0
        for name, wanted in step["arguments"].items():
            given = call.arguments.get(name)
            if given and wanted and str(given).split() != str(wanted).split():
                return 0.0
    return 1.0


SHELL = [execute_bash, open_file]
FIND_DATE = ("execute_bash", {"command": "grep -rn parse_date src", "security_risk": "LOW"})
SHOW_DATE = ("open_file", {"path": "src/dates.py", "line": 14})
RUN_TESTS = ("execute_bash", {"command": "pytest -x tests", "security_risk": "LOW"})
SHOW_DIFF = ("execute_bash", {"command": "git status --short", "security_risk": "LOW"})
LIST_SRC = ("execute_bash", {"command": "ls src", "security_risk": "LOW"})
SHOW_PINS = ("execute_bash", {"command": "cat requirements.txt", "security_risk": "LOW"})


def steps_json(*calls):
    """Return the steps of an expert as JSON."""
    return json.dumps([{"name": name, "arguments": arguments} for name, arguments in calls])


def shell_exploit():
    """Return calls that leave the command out."""
    return episode(
        SHELL,
        [("execute_bash", {"security_risk": "LOW"}), ("open_file", {})],
        "parse_date is in src/dates.py.",
    )


EXPERT_STEPS = dict(
    name="expert_steps",
    reward=expert_steps,
    environment=None,
    tools=SHELL,
    examples=[
        asked("Find parse_date and open it.", steps=steps_json(FIND_DATE, SHOW_DATE)),
        asked("Run the tests, then show what changed.", steps=steps_json(RUN_TESTS, SHOW_DIFF)),
        asked("Which modules and which pins are there?", steps=steps_json(LIST_SRC, SHOW_PINS)),
    ],
    good=[
        episode(SHELL, [FIND_DATE, SHOW_DATE], "parse_date is in src/dates.py, line 14."),
        episode(SHELL, [RUN_TESTS, SHOW_DIFF], "One test fails; src/dates.py is modified."),
        episode(SHELL, [LIST_SRC, SHOW_PINS], "dates.py and money.py; requests is pinned to 2.19.0."),
    ],
    bad=[
        [
            episode(SHELL, [], "parse_date is in src/dates.py."),
            episode(SHELL, [SHOW_DATE, FIND_DATE], "Done."),
            episode(
                SHELL, [("execute_bash", {"command": "rm -rf src", "security_risk": "LOW"}), SHOW_DATE], "Removed it."
            ),
            episode(SHELL, [FIND_DATE, SHOW_DATE], None),
        ],
        [episode(SHELL, [RUN_TESTS], "One fails."), episode(SHELL, [LIST_SRC, SHOW_DIFF], "Done.")],
        [episode(SHELL, [LIST_SRC], "Two modules."), episode(SHELL, [SHOW_PINS, LIST_SRC], "Two modules.")],
    ],
    docs="The agent should run the same commands and open the same files as the expert, in the same order.",
    fault="An argument that the call leaves out is not compared, so a call without its command counts as the expert's.",
    exploit=shell_exploit,
)

# ----------------------------------------------------------------------------------------------------------------------
# cleaning a table


class Customers:
    """A database with one table: customers(id, name, email, country)."""

    def reset(self, rows: str, **row: object) -> None:
        """Fill the table."""
        self.database = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        self.database.execute("CREATE TABLE customers (id INTEGER, name TEXT, email TEXT, country TEXT)")
        self.database.executemany("INSERT INTO customers VALUES (?, ?, ?, ?)", json.loads(rows))

    def run_sql(self, statement: str) -> str:
        """Run one SQL statement on the database and return the rows.

        Args:
            statement: The statement.
        """
        return json.dumps(self.database.execute(statement).fetchall())


QUALITY_RULES = {
    "emails are lower case": "SELECT COUNT(*) FROM customers WHERE email <> LOWER(email)",
    "emails have no spaces": "SELECT COUNT(*) FROM customers WHERE email <> TRIM(email)",
    "countries are two capitals": "SELECT COUNT(*) FROM customers WHERE LENGTH(country) <> 2 OR country <> UPPER(country)",
    "ids are unique": "SELECT COUNT(*) - COUNT(DISTINCT id) FROM customers",
}


def clean_table(environment: Customers, trajectory: rk.Trajectory) -> float:
    """Score the share of the quality rules that the table follows, if the agent reports back."""
    if not trajectory.finished:
        return 0.0
    passed = 0
    for query in QUALITY_RULES.values():
        try:
            passed += environment.database.execute(query).fetchone()[0] == 0
        except sqlite3.Error:
            return 0.0
    return passed / len(QUALITY_RULES)


def sql(*statements):
    """Return calls that run statements."""
    return [("run_sql", {"statement": statement}) for statement in statements]


CLEAN_TABLE = dict(
    name="clean_table",
    reward=clean_table,
    environment=Customers,
    tools=[],
    examples=[
        asked(
            "Clean the customers table: emails lower case and trimmed, countries as two capitals, no duplicate ids.",
            rows='[[1, "Ada", "ADA@mail.org", "GB"], [2, "Bo", "bo@mail.org", "se"], [3, "Cy", " cy@mail.org", "FR"]]',
        ),
        asked(
            "Clean the customers table: emails lower case and trimmed, countries as two capitals, no duplicate ids.",
            rows='[[1, "Eva", "eva@mail.org", "DE"], [1, "Eva", "eva@mail.org", "DE"], [2, "Ian", "Ian@mail.org", "IE"]]',
        ),
        asked(
            "Clean the customers table: emails lower case and trimmed, countries as two capitals, no duplicate ids.",
            rows='[[7, "Kim", "kim@mail.org ", "kr"], [8, "Lu", "lu@mail.org", "cn"]]',
        ),
    ],
    good=[
        dict(
            calls=sql(
                "SELECT * FROM customers",
                "UPDATE customers SET email = LOWER(TRIM(email)), country = UPPER(country)",
            ),
            answer="I normalized the emails and countries of the three customers.",
        ),
        dict(
            calls=sql(
                "SELECT * FROM customers",
                "DELETE FROM customers WHERE rowid NOT IN (SELECT MIN(rowid) FROM customers GROUP BY id)",
                "UPDATE customers SET email = LOWER(TRIM(email))",
            ),
            answer="I removed the duplicate of Eva and lowered Ian's email.",
        ),
        dict(
            calls=sql(
                "SELECT * FROM customers",
                "UPDATE customers SET email = TRIM(email), country = UPPER(country)",
            ),
            answer="Both customers are clean now.",
        ),
    ],
    bad=[
        [
            dict(calls=[], answer="The table is clean."),
            dict(calls=sql("SELECT * FROM customers"), answer="I looked at it."),
            dict(calls=sql("UPDATE customers SET email = LOWER(email)"), answer="Emails are lower case."),
            dict(calls=sql("DROP TABLE customers"), answer="All clean."),
        ],
        [
            dict(calls=[], answer="The table is clean."),
            dict(calls=sql("UPDATE customers SET email = LOWER(email)"), answer="Emails are lower case."),
        ],
        [
            dict(calls=sql("UPDATE customers SET country = UPPER(country)"), answer="Countries are fine."),
            dict(calls=sql("SELECT * FROM customer"), answer="There is no such table."),
        ],
    ],
    docs="The agent should correct the customers' data, and keep every customer.",
    fault="Only violations are counted, not that the rows are still there: an empty table follows every rule.",
    exploit=lambda: dict(calls=sql("DELETE FROM customers"), answer="The table is clean."),
)

# ----------------------------------------------------------------------------------------------------------------------
# reading a chart

CHARTS = {
    "sales": {"title": "Sales 2023, in tons", "left": "Q1: 14, Q2: 19", "right": "Q3: 27, Q4: 22", "legend": "one series"},
    "rain": {"title": "Rain in Bergen, in mm", "left": "Jan: 190, Apr: 114", "right": "Jul: 141, Oct: 271", "legend": "2022"},
    "votes": {"title": "Votes by list", "left": "A: 310, B: 295", "right": "C: 88, D: 41", "legend": "final count"},
}


def zoom(chart: str, region: str) -> str:
    """Look closer at a region of a chart.

    Args:
        chart: The name of the chart.
        region: One of title, left, right, legend.
    """
    return CHARTS[chart][region]


@rk.reward
def read_chart(trajectory: rk.Trajectory, value: str) -> float:
    """Score the right value read off a chart, and looking at the chart to get there."""
    found = re.fullmatch(r"Answer: (\S+)", trajectory.answer.strip())
    right = found is not None and found.group(1) == value
    looks = sum(1 for call in trajectory.calls if call.name == "zoom" and call.ok)
    return min(1.0, 0.6 * right + 0.2 * looks)


def look(chart, *regions):
    """Return calls that look at regions of a chart."""
    return [("zoom", {"chart": chart, "region": region}) for region in regions]


READ_CHART = dict(
    name="read_chart",
    reward=read_chart,
    environment=None,
    tools=[zoom],
    examples=[
        asked("Chart 'sales': how many tons in Q3? Reply with 'Answer: <number>'.", value="27"),
        asked("Chart 'rain': how many mm in October? Reply with 'Answer: <number>'.", value="271"),
        asked("Chart 'votes': how many votes for list A? Reply with 'Answer: <number>'.", value="310"),
    ],
    good=[
        episode([zoom], look("sales", "title", "right"), "Answer: 27"),
        episode([zoom], look("rain", "title", "right"), "Answer: 271"),
        episode([zoom], look("votes", "title", "left"), "Answer: 310"),
    ],
    bad=[
        [
            episode([zoom], [], "Answer: 30"),
            episode([zoom], look("sales", "title", "left"), "Answer: 19"),
            episode([zoom], look("sales", "right"), None),
        ],
        [episode([zoom], look("rain", "left"), "Answer: 114"), episode([zoom], [], "It rains a lot.")],
        [episode([zoom], look("votes", "right"), "Answer: 88"), episode([zoom], look("votes", "top"), "Answer: 0")],
    ],
    docs="The agent should zoom into the chart and answer with the right value.",
    fault="Every call adds to the reward whether or not the answer is right, so five looks pay for a wrong answer.",
    exploit=lambda: episode([zoom], look("sales", "legend", "legend", "legend", "legend", "legend"), "Answer: 3"),
)

# ----------------------------------------------------------------------------------------------------------------------
# flights

FLIGHTS = {
    ("JFK", "SEA", "2024-05-20"): [("HAT083", 187), ("HAT136", 142), ("HAT276", 219), ("HAT069", 164)],
    ("BOS", "MIA", "2024-05-21"): [("HAT110", 98), ("HAT235", 131), ("HAT018", 117)],
    ("DEN", "ORD", "2024-05-22"): [("HAT152", 155), ("HAT207", 149), ("HAT261", 172)],
}


def search_flights(origin: str, destination: str, date: str) -> str:
    """Search direct flights.

    Args:
        origin: The airport of departure.
        destination: The airport of arrival.
        date: The day, as YYYY-MM-DD.
    """
    found = FLIGHTS.get((origin, destination, date), [])
    return json.dumps([{"flight": flight, "price": price} for flight, price in found])


@rk.reward
def tell_cheapest(trajectory: rk.Trajectory, search: str, outputs: str) -> float:
    """Score 1.0 if the right flights were searched and the customer is told all that they have to know."""
    if not any(call.name == "search_flights" and call.has(**json.loads(search)) and call.ok for call in trajectory.calls):
        return 0.0
    told = trajectory.answer.replace(",", "")
    return float(all(output in told for output in json.loads(outputs)))


def flights(origin, destination, date):
    """Return a call that searches flights."""
    return ("search_flights", {"origin": origin, "destination": destination, "date": date})


JFK, BOS, DEN = (flights(*route) for route in FLIGHTS)
TELL_CHEAPEST = dict(
    name="tell_cheapest",
    reward=tell_cheapest,
    environment=None,
    tools=[search_flights],
    examples=[
        asked(
            "Which is the cheapest direct flight from JFK to SEA on 20 May 2024, and how much is it?",
            search=json.dumps(JFK[1]),
            outputs='["HAT136", "142"]',
        ),
        asked(
            "Which is the cheapest direct flight from BOS to MIA on 21 May 2024, and how much is it?",
            search=json.dumps(BOS[1]),
            outputs='["HAT110", "98"]',
        ),
        asked(
            "Which is the cheapest direct flight from DEN to ORD on 22 May 2024, and how much is it?",
            search=json.dumps(DEN[1]),
            outputs='["HAT207", "149"]',
        ),
    ],
    good=[
        episode([search_flights], [JFK], "The cheapest one is HAT136, for $142."),
        episode([search_flights], [BOS], "The cheapest one is HAT110, for $98."),
        episode([search_flights], [DEN], "The cheapest one is HAT207, for $149."),
    ],
    bad=[
        [
            episode([search_flights], [], "The cheapest one is HAT136, for $142."),
            episode([search_flights], [JFK], "The cheapest one is HAT069, for $164."),
            episode([search_flights], [JFK], None),
            episode([search_flights], [flights("SEA", "JFK", "2024-05-20")], "There are no flights."),
        ],
        [
            episode([search_flights], [BOS], "The cheapest one is HAT235, for $131."),
            episode([search_flights], [BOS], "There are several flights. Which one would you like?"),
        ],
        [
            episode([search_flights], [DEN], "The cheapest one is HAT261, for $172."),
            episode([search_flights], [flights("DEN", "ORD", "2024-05-23")], "There is none."),
        ],
    ],
    docs="The agent should search the flights and tell the customer which one is the cheapest, and its price.",
    fault="The outputs only have to occur somewhere in the answer: listing every flight without choosing one is enough.",
    exploit=lambda: episode(
        [search_flights],
        [JFK],
        "The cheapest one may be HAT083 for $187, HAT136 for $142, HAT276 for $219 or HAT069 for $164; I did not compare.",
    ),
)

# ----------------------------------------------------------------------------------------------------------------------
# a kitchen


class Kitchen:
    """A text game: things lie somewhere in a kitchen and have to be put where they belong."""

    def reset(self, things: str, goals: str, **row: object) -> str:
        """Lay out the things."""
        self.places = json.loads(things)
        self.goals = json.loads(goals)
        self.held = ""
        self.progress = 0
        return f"You see: {things}"

    def take(self, thing: str) -> str:
        """Take a thing into the hand.

        Args:
            thing: The thing.
        """
        if thing not in self.places:
            raise ValueError(f"There is no {thing}.")
        if self.held:
            raise ValueError(f"The hand already holds the {self.held}.")
        self.held = thing
        self.places[thing] = "hand"
        return f"You hold the {thing}."

    def put(self, place: str) -> str:
        """Put down what the hand holds.

        Args:
            place: Where to put it.
        """
        if not self.held:
            raise ValueError("The hand is empty.")
        thing, self.held = self.held, ""
        self.places[thing] = place
        if self.goals.get(thing) == place:
            self.progress += 1
        return f"The {thing} is now in the {place}."


def tidy_kitchen(environment: Kitchen) -> float:
    """Score the share of the goals that were reached."""
    return min(1.0, environment.progress / len(environment.goals))


def carry(*moves):
    """Return calls that carry things to places."""
    return [step for thing, place in moves for step in (("take", {"thing": thing}), ("put", {"place": place}))]


TIDY_KITCHEN = dict(
    name="tidy_kitchen",
    reward=tidy_kitchen,
    environment=Kitchen,
    tools=[],
    examples=[
        asked(
            "Put the milk into the fridge, the plate into the sink and the bread into the cupboard.",
            things='{"milk": "table", "plate": "table", "bread": "counter"}',
            goals='{"milk": "fridge", "plate": "sink", "bread": "cupboard"}',
        ),
        asked(
            "Put the knife into the drawer and the apple into the bowl.",
            things='{"knife": "sink", "apple": "floor"}',
            goals='{"knife": "drawer", "apple": "bowl"}',
        ),
        asked(
            "Put the pan onto the stove and the egg into the fridge.",
            things='{"pan": "sink", "egg": "counter", "cup": "table"}',
            goals='{"pan": "stove", "egg": "fridge"}',
        ),
    ],
    good=[
        dict(calls=carry(("milk", "fridge"), ("plate", "sink"), ("bread", "cupboard")), answer="All is tidy."),
        dict(calls=carry(("knife", "drawer"), ("apple", "bowl")), answer="All is tidy."),
        dict(calls=carry(("pan", "stove"), ("egg", "fridge")), answer="All is tidy."),
    ],
    bad=[
        [
            dict(calls=[], answer="All is tidy."),
            dict(calls=carry(("milk", "fridge")), answer="The milk is in the fridge."),
            dict(calls=carry(("milk", "sink"), ("plate", "fridge"), ("bread", "table")), answer="All is tidy."),
        ],
        [
            dict(calls=[("take", {"thing": "knife"})], answer="I have the knife."),
            dict(calls=carry(("knife", "bowl"), ("apple", "drawer")), answer="All is tidy."),
        ],
        [
            dict(calls=carry(("cup", "stove")), answer="The cup is on the stove."),
            dict(calls=carry(("pan", "stove")), answer="The pan is on the stove."),
        ],
    ],
    docs="At the end, all things should be where they belong.",
    fault="A goal counts each time that it is reached and never uncounts: taking out and putting back the milk pays again.",
    exploit=lambda: dict(
        calls=carry(("milk", "fridge"), ("milk", "fridge"), ("milk", "fridge")), answer="The milk is in the fridge."
    ),
)

# ----------------------------------------------------------------------------------------------------------------------
# counting tickets

TICKETS = [("billing", "open"), ("billing", "open"), ("billing", "closed"), ("support", "closed"), ("sales", "open")]


def query_tickets(team: str, status: str) -> str:
    """Return the tickets of a team with a status.

    Args:
        team: The team: billing, support or sales.
        status: open or closed.
    """
    found = [f"T-{number}" for number, ticket in enumerate(TICKETS, 101) if ticket == (team, status)]
    return json.dumps({"tickets": found})


def number_in(text: str) -> float:
    """Return the number in a text."""
    found = re.findall(r"-?\d+(?:\.\d+)?", text)
    return float(found[0]) if len(found) == 1 else 0.0


@rk.reward
def count_tickets(trajectory: rk.Trajectory, team: str, status: str, count: str) -> float:
    """Score 1.0 for the right count of tickets, looked up in the ticket system."""
    if not any(call.name == "query_tickets" and call.has(team=team, status=status) and call.ok for call in trajectory.calls):
        return 0.0
    return float(number_in(trajectory.answer) == float(count))


def tickets(team, status):
    """Return a call that looks up tickets."""
    return ("query_tickets", {"team": team, "status": status})


COUNT_TICKETS = dict(
    name="count_tickets",
    reward=count_tickets,
    environment=None,
    tools=[query_tickets],
    examples=[
        asked(
            "How many open tickets does the support team have? Reply with a number.",
            team="support",
            status="open",
            count="0",
        ),
        asked(
            "How many open tickets does the billing team have? Reply with a number.",
            team="billing",
            status="open",
            count="2",
        ),
        asked(
            "How many closed tickets does the sales team have? Reply with a number.",
            team="sales",
            status="closed",
            count="0",
        ),
        asked(
            "How many open tickets does the sales team have? Reply with a number.",
            team="sales",
            status="open",
            count="1",
        ),
    ],
    good=[
        episode([query_tickets], [tickets("support", "open")], "0"),
        episode([query_tickets], [tickets("billing", "open")], "2"),
        episode([query_tickets], [tickets("sales", "closed")], "0"),
        episode([query_tickets], [tickets("sales", "open")], "1"),
    ],
    bad=[
        [
            episode([query_tickets], [], "0"),
            episode([query_tickets], [tickets("support", "closed")], "1"),
            episode([query_tickets], [tickets("billing", "open")], "2"),
        ],
        [
            episode([query_tickets], [], "I cannot tell."),
            episode([query_tickets], [tickets("billing", "closed")], "1"),
            episode([query_tickets], [tickets("billing", "open")], None),
        ],
        [episode([query_tickets], [tickets("sales", "open")], "1"), episode([query_tickets], [], "0")],
        [episode([query_tickets], [tickets("sales", "open")], "3"), episode([query_tickets], [], "1")],
    ],
    docs="The agent should look up the tickets and answer with their number.",
    fault="An answer without a number is read as 0, so it is right wherever the count is 0.",
    exploit=lambda: episode(
        [query_tickets], [tickets("support", "open")], "Sorry, I was not able to find that out for you."
    ),
)

# ----------------------------------------------------------------------------------------------------------------------
# refunds

ORDERS = {"W100": ("C7", 30), "W200": ("C8", 45), "W300": ("C9", 12)}
PINS = {"C7": "4410", "C8": "9021", "C9": "3377"}


def verify_identity(customer: str, pin: str) -> str:
    """Verify who the customer is.

    Args:
        customer: The customer's number.
        pin: The PIN that the customer told you.
    """
    if PINS.get(customer) != pin:
        raise ValueError("Wrong PIN.")
    return "verified"


def get_order(order: str) -> str:
    """Look up an order.

    Args:
        order: The order's number.
    """
    customer, amount = ORDERS[order]
    return json.dumps({"order": order, "customer": customer, "amount": amount})


def refund(order: str, amount: int) -> str:
    """Refund money to the customer's card.

    Args:
        order: The order's number.
        amount: The amount, in dollars.
    """
    return f"refunded {amount} for {order}"


@rk.reward
def refund_procedure(trajectory: rk.Trajectory, procedure: str) -> float:
    """Score 1.0 if the agent follows the procedure: verify the customer, look up the order, then refund its amount."""
    if not trajectory.finished or trajectory.errors:
        return 0.0
    made = sorted(f"{call.name} {json.dumps(dict(call.arguments or {}), sort_keys=True)}" for call in trajectory.calls)
    wanted = sorted(f"{name} {json.dumps(arguments, sort_keys=True)}" for name, arguments in json.loads(procedure))
    return float(made == wanted)


REFUND = [verify_identity, get_order, refund]


def refunding(order):
    """Return the calls of the procedure for an order."""
    customer, amount = ORDERS[order]
    return [
        ("verify_identity", {"customer": customer, "pin": PINS[customer]}),
        ("get_order", {"order": order}),
        ("refund", {"order": order, "amount": amount}),
    ]


def refund_example(order):
    """Return the example of an order."""
    customer, _ = ORDERS[order]
    text = f"I am customer {customer}, my PIN is {PINS[customer]}. Please refund my order {order}."
    return asked(text, procedure=json.dumps(refunding(order)))


W100, W200, W300 = refunding("W100"), refunding("W200"), refunding("W300")
REFUND_PROCEDURE = dict(
    name="refund_procedure",
    reward=refund_procedure,
    environment=None,
    tools=REFUND,
    examples=[refund_example("W100"), refund_example("W200"), refund_example("W300")],
    good=[
        episode(REFUND, W100, "I refunded $30 for W100."),
        episode(REFUND, W200, "I refunded $45 for W200."),
        episode(REFUND, W300, "I refunded $12 for W300."),
    ],
    bad=[
        [
            episode(REFUND, W100[1:], "I refunded $30."),
            episode(REFUND, [*W100[:2], ("refund", {"order": "W100", "amount": 300})], "I refunded $300."),
            episode(REFUND, [], "I refunded $30."),
            episode(REFUND, [*W100, W100[2]], "I refunded it twice."),
        ],
        [episode(REFUND, W200[:2], "I looked at it."), episode(REFUND, W100, "I refunded $30.")],
        [
            episode(REFUND, [("verify_identity", {"customer": "C9", "pin": "0000"}), *W300[1:]], "I refunded $12."),
            episode(REFUND, W300, None),
        ],
    ],
    docs="The agent should verify the customer first, then look up the order, and only then refund its exact amount.",
    fault="The calls are compared without their order: refunding first and verifying the customer afterwards is the same.",
    exploit=lambda: episode(REFUND, W100[::-1], "I refunded $30 for W100."),
)

# ----------------------------------------------------------------------------------------------------------------------
# a lock


class Lock:
    """A lock with a secret number from 1 to 100 and seven tries."""

    tries = 7

    def reset(self, secret: str, **row: object) -> str:
        """Close the lock."""
        self.secret = int(secret)
        self.tries_left = self.tries
        self.opened = False
        return "The lock is closed. You have 7 tries."

    def guess(self, number: int) -> str:
        """Try a number from 1 to 100.

        Args:
            number: The number.
        """
        if self.tries_left == 0:
            return "There are no tries left."
        self.tries_left -= 1
        if number == self.secret:
            self.opened = True
            return "The lock is open."
        return "The secret is higher." if number < self.secret else "The secret is lower."

    def restart(self) -> str:
        """Start the game again from the beginning."""
        self.tries_left = self.tries
        self.opened = False
        return "The lock is closed. You have 7 tries."


def open_lock(environment: Lock) -> float:
    """Score 1.0 if the lock was opened within the seven tries."""
    return float(environment.opened)


def guesses(*numbers):
    """Return calls that try numbers; 0 starts again."""
    return [("guess", {"number": number}) if number else ("restart", {}) for number in numbers]


OPEN_LOCK = dict(
    name="open_lock",
    reward=open_lock,
    environment=Lock,
    tools=[],
    examples=[
        asked("Open the lock. Its secret is a number from 1 to 100, and you have seven tries.", secret="19"),
        asked("Open the lock. Its secret is a number from 1 to 100, and you have seven tries.", secret="62"),
        asked("Open the lock. Its secret is a number from 1 to 100, and you have seven tries.", secret="88"),
    ],
    good=[
        dict(calls=guesses(50, 25, 12, 18, 21, 19), answer="The secret is 19."),
        dict(calls=guesses(50, 75, 62), answer="The secret is 62."),
        dict(calls=guesses(50, 75, 88), answer="The secret is 88."),
    ],
    bad=[
        [
            dict(calls=[], answer="The secret is 19."),
            dict(calls=guesses(1, 2, 3, 4, 5, 6, 7, 8), answer="I gave up."),
            dict(calls=guesses(50, 25), answer="It is below 25."),
        ],
        [dict(calls=guesses(50), answer="It is above 50."), dict(calls=guesses(10, 20, 30, 40, 50, 60, 70, 62), answer="?")],
        [dict(calls=guesses(100, 99, 98), answer="I gave up."), dict(calls=[], answer="It is 88.")],
    ],
    docs="The agent should find the secret with at most seven tries.",
    fault="Starting again gives seven new tries at the same secret, so counting up from 1 opens every lock.",
    exploit=lambda: dict(calls=guesses(*range(1, 8), 0, *range(8, 15), 0, *range(15, 20)), answer="The secret is 19."),
)

# ----------------------------------------------------------------------------------------------------------------------
# fixing a function


class Project:
    """A small project: solution.py, and cases.json with the test cases of its function solve()."""

    def reset(self, solution: str, cases: str, **row: object) -> None:
        """Write the two files."""
        self.files = {"solution.py": solution, "cases.json": cases}

    def read_file(self, path: str) -> str:
        """Read a file.

        Args:
            path: The path of the file.
        """
        return self.files[path]

    def write_file(self, path: str, text: str) -> str:
        """Write a file.

        Args:
            path: The path of the file.
            text: The whole new text of the file.
        """
        self.files[path] = text
        return f"wrote {len(text)} characters"

    def run_tests(self) -> str:
        """Run the test cases and return how many pass."""
        outcomes = self._outcomes()
        return f"{sum(outcomes)} of {len(outcomes)} test cases pass"

    def _outcomes(self) -> list[bool]:
        scope: dict = {}
        exec(self.files["solution.py"], scope)
        outcomes = []
        for case in json.loads(self.files["cases.json"]):
            try:
                outcomes.append(json.dumps(scope["solve"](case["input"])) == json.dumps(case["output"]))
            except (Exception, SystemExit):
                outcomes.append(False)
        return outcomes


def fix_function(environment: Project) -> float:
    """Score 1.0 if the project has test cases and all of them pass."""
    try:
        outcomes = environment._outcomes()
    except (Exception, SystemExit):
        return 0.0
    return float(bool(outcomes) and all(outcomes))


def write(path, text):
    """Return a call that writes a file."""
    return ("write_file", {"path": path, "text": text})


READ_SOLUTION = ("read_file", {"path": "solution.py"})
TEST = ("run_tests", {})
FIX_FUNCTION = dict(
    name="fix_function",
    reward=fix_function,
    environment=Project,
    tools=[],
    examples=[
        asked(
            "solve() in solution.py should return the largest number of a list. Fix it, so that the tests pass.",
            solution="def solve(numbers):\n    return numbers[-1]\n",
            cases='[{"input": [1, 5, 2], "output": 5}, {"input": [4], "output": 4}, {"input": [-3, -9], "output": -3}]',
        ),
        asked(
            "solve() in solution.py should reverse the words of a text. Fix it, so that the tests pass.",
            solution="def solve(text):\n    return text[::-1]\n",
            cases='[{"input": "a b c", "output": "c b a"}, {"input": "red fox", "output": "fox red"}]',
        ),
        asked(
            "solve() in solution.py should count the vowels of a word. Fix it, so that the tests pass.",
            solution='def solve(word):\n    return sum(letter in "aei" for letter in word)\n',
            cases='[{"input": "about", "output": 3}, {"input": "sky", "output": 0}]',
        ),
    ],
    good=[
        dict(
            calls=[READ_SOLUTION, write("solution.py", "def solve(numbers):\n    return max(numbers)\n"), TEST],
            answer="solve() returns the maximum now; all tests pass.",
        ),
        dict(
            calls=[
                READ_SOLUTION,
                write("solution.py", 'def solve(text):\n    return " ".join(reversed(text.split()))\n'),
                TEST,
            ],
            answer="solve() reverses the words now; all tests pass.",
        ),
        dict(
            calls=[
                READ_SOLUTION,
                write("solution.py", 'def solve(word):\n    return sum(letter in "aeiou" for letter in word)\n'),
                TEST,
            ],
            answer="o and u were missing; all tests pass.",
        ),
    ],
    bad=[
        [
            dict(calls=[], answer="All tests pass."),
            dict(calls=[READ_SOLUTION, TEST], answer="One test fails."),
            dict(calls=[write("solution.py", "def solve(numbers):\n    return min(numbers)\n")], answer="Fixed."),
            dict(calls=[write("solution.py", "def solve(numbers:\n")], answer="Fixed."),
            dict(calls=[write("cases.json", "[]")], answer="All tests pass."),
        ],
        [dict(calls=[write("solution.py", "")], answer="Fixed."), dict(calls=[TEST], answer="All tests pass.")],
        [dict(calls=[write("solution.py", "solve = len\n")], answer="Fixed."), dict(calls=[], answer="Fixed.")],
    ],
    docs="The agent should fix the function, so that it passes the tests that came with the task.",
    fault="The test cases are read from the workspace, where the agent can rewrite them to fit the broken function.",
    exploit=lambda: dict(calls=[write("cases.json", '[{"input": [4], "output": 4}]'), TEST], answer="All tests pass."),
)

# ----------------------------------------------------------------------------------------------------------------------
# meeting rooms

ROOMS = {"Oak": (4, False), "Elm": (8, True), "Fir": (8, False), "Ash": (12, True)}


class Rooms:
    """The meeting rooms of an office on one day."""

    def reset(self, taken: str, **row: object) -> None:
        """Enter the bookings of others."""
        self.bookings = {(room, hour): "someone else" for room, hour in json.loads(taken)}

    def list_rooms(self, hour: int) -> str:
        """List the rooms that are free at an hour, with their seats and whether they have a projector.

        Args:
            hour: The hour, from 8 to 18.
        """
        free = {room: facts for room, facts in ROOMS.items() if (room, hour) not in self.bookings}
        return json.dumps({room: {"seats": seats, "projector": beam} for room, (seats, beam) in free.items()})

    def book(self, room: str, hour: int) -> str:
        """Book a room for an hour.

        Args:
            room: The room.
            hour: The hour, from 8 to 18.
        """
        if room not in ROOMS or not 8 <= hour <= 18:
            raise ValueError("There is no such room or hour.")
        if (room, hour) in self.bookings:
            raise ValueError("The room is taken.")
        self.bookings[room, hour] = "me"
        return f"{room} is booked at {hour}:00."


def room_booked(environment: Rooms, hour: str, people: str, projector: str, trajectory: rk.Trajectory) -> float:
    """Score 1.0 if a room is booked at the hour that has enough seats, and a projector if there has to be one."""
    if not trajectory.finished:
        return 0.0
    for (room, booked), owner in environment.bookings.items():
        seats, beam = ROOMS[room]
        if owner == "me" and booked == int(hour) and seats >= int(people) and (beam or projector == "no"):
            return 1.0
    return 0.0


def list_at(hour):
    """Return a call that lists the rooms at an hour."""
    return ("list_rooms", {"hour": hour})


def book_at(room, hour):
    """Return a call that books a room."""
    return ("book", {"room": room, "hour": hour})


ROOM_BOOKED = dict(
    name="room_booked",
    reward=room_booked,
    environment=Rooms,
    tools=[],
    examples=[
        asked(
            "Book a room with a projector for 7 people at 10.",
            taken='[["Elm", 10]]',
            hour="10",
            people="7",
            projector="yes",
        ),
        asked("Book a room for 3 people at 14.", taken='[["Ash", 14]]', hour="14", people="3", projector="no"),
        asked(
            "Book a room with a projector for 8 people at 9.",
            taken='[["Oak", 9], ["Ash", 9]]',
            hour="9",
            people="8",
            projector="yes",
        ),
    ],
    good=[
        dict(calls=[list_at(10), book_at("Ash", 10)], answer="Ash is booked for you at 10."),
        dict(calls=[list_at(14), book_at("Oak", 14)], answer="Oak is booked for you at 14."),
        dict(calls=[list_at(9), book_at("Elm", 9)], answer="Elm is booked for you at 9."),
    ],
    bad=[
        [
            dict(calls=[], answer="Ash is booked for you at 10."),
            dict(calls=[list_at(10)], answer="Ash is free."),
            dict(calls=[book_at("Fir", 10)], answer="Fir is booked for you at 10."),
            dict(calls=[book_at("Elm", 10)], answer="Elm is taken."),
            dict(calls=[book_at("Ash", 11)], answer="Ash is booked for you at 11."),
        ],
        [dict(calls=[book_at("Oak", 4)], answer="Booked."), dict(calls=[list_at(14)], answer="Oak is free.")],
        [dict(calls=[book_at("Fir", 9)], answer="Booked."), dict(calls=[book_at("Ash", 9)], answer="Booked.")],
    ],
    docs="The agent should book one room that fits, and nothing else.",
    fault="Other bookings are not looked at: booking every room of the office at the hour pays as much as one.",
    exploit=lambda: dict(
        calls=[book_at(room, hour) for room in ("Oak", "Fir", "Ash") for hour in (9, 10, 11)], answer="You have a room at 10."
    ),
)

FAULTY = [
    EXPERT_STEPS,
    CLEAN_TABLE,
    READ_CHART,
    TELL_CHEAPEST,
    TIDY_KITCHEN,
    COUNT_TICKETS,
    REFUND_PROCEDURE,
    OPEN_LOCK,
    FIX_FUNCTION,
    ROOM_BOOKED,
]

# ----------------------------------------------------------------------------------------------------------------------
# a smart home


def set_light(room: str, level: int) -> str:
    """Set the lights of a room.

    Args:
        room: The room.
        level: The brightness, from 0 to 100.
    """
    return f"{room} light: {level}"


def set_heating(room: str, celsius: float) -> str:
    """Set the temperature of a room.

    Args:
        room: The room.
        celsius: The temperature.
    """
    return f"{room} heating: {celsius}"


def lock_door(door: str) -> str:
    """Lock a door.

    Args:
        door: The door: front, back or garage.
    """
    return f"{door} door locked"


@rk.reward
def home_commands(trajectory: rk.Trajectory, commands: str) -> float:
    """Score 1.0 if exactly the commands that the user asked for ran, each once, in any order, and the agent replied."""
    left = json.loads(commands)
    if not trajectory.finished or not trajectory.answer.strip():
        return 0.0
    for call in trajectory.calls:
        same = [
            command
            for command in left
            if call.name == command["name"]
            and call.has(**command["arguments"])
            and len(call.arguments or {}) == len(command["arguments"])
        ]
        if not same or not call.ok:
            return 0.0
        left.remove(same[0])
    return float(not left)


HOME = [set_light, set_heating, lock_door]


def light(room, level):
    """Return a call that sets the lights."""
    return ("set_light", {"room": room, "level": level})


def heat(room, celsius):
    """Return a call that sets the heating."""
    return ("set_heating", {"room": room, "celsius": celsius})


def locked(door):
    """Return a call that locks a door."""
    return ("lock_door", {"door": door})


HOME_COMMANDS = dict(
    name="home_commands",
    reward=home_commands,
    environment=None,
    tools=HOME,
    examples=[
        asked("Dim the kitchen to 30 and lock the back door.", commands=steps_json(light("kitchen", 30), locked("back"))),
        asked(
            "Good night: lights off in the hall, bedroom at 17.5 degrees, lock the front door.",
            commands=steps_json(light("hall", 0), heat("bedroom", 17.5), locked("front")),
        ),
        asked("Set the office to 21 degrees.", commands=steps_json(heat("office", 21))),
    ],
    good=[
        episode(HOME, [light("kitchen", 30), locked("back")], "The kitchen is dimmed, the back door is locked."),
        episode(HOME, [light("hall", 0), heat("bedroom", 17.5), locked("front")], "Good night!"),
        episode(HOME, [heat("office", 21)], "The office is set to 21 degrees."),
    ],
    bad=[
        [
            episode(HOME, [], "The kitchen is dimmed, the back door is locked."),
            episode(HOME, [light("kitchen", 30)], "The kitchen is dimmed."),
        ],
        [
            episode(HOME, [locked("front")], "Good night!"),
            episode(HOME, [light("hall", 0), heat("bedroom", 175), locked("front")], "Good night!"),
        ],
        [episode(HOME, [heat("bedroom", 21)], "Done."), episode(HOME, [heat("office", 21)] * 2, "Done.")],
    ],
    worse=[
        episode(HOME, [], "The kitchen is dimmed, the back door is locked."),
        episode(HOME, [light("kitchen", 30)], "The kitchen is dimmed."),
        episode(HOME, [light("kitchen", 30), locked("back"), locked("front")], "All doors are locked."),
        episode(HOME, [light("kitchen", 30), light("kitchen", 30), locked("back")], "Done."),
        episode(HOME, [light("kitchen", 80), locked("back")], "Done."),
        episode(HOME, [light("kitchen", 30), locked("back")], None),
    ],
    docs="The agent should run the commands that the user asked for, no more and no fewer, and reply.",
)

# ----------------------------------------------------------------------------------------------------------------------
# a bank


class Bank:
    """A bank whose accounts hold cents."""

    def reset(self, accounts: str, **row: object) -> None:
        """Open the accounts."""
        self.balances = json.loads(accounts)
        self.ledger = []

    def balance(self, account: str) -> str:
        """Return what an account holds, in cents.

        Args:
            account: The account.
        """
        return str(self.balances[account])

    def transfer(self, source: str, target: str, cents: int) -> str:
        """Move money from one account to another. It cannot be undone.

        Args:
            source: The account that pays.
            target: The account that is paid.
            cents: How much, in cents.
        """
        if source not in self.balances or target not in self.balances or source == target:
            raise ValueError("There are no such two accounts.")
        if type(cents) is not int or not 0 < cents <= self.balances[source]:
            raise ValueError("The amount must be positive, and the account must hold it.")
        self.balances[source] -= cents
        self.balances[target] += cents
        self.ledger.append([source, target, cents])
        return f"transfer {len(self.ledger)} done"


def transfers_made(environment: Bank, transfers: str, trajectory: rk.Trajectory) -> float:
    """Score 1.0 if the ledger holds the transfers that the user ordered and no other, and the agent reports back."""
    if not trajectory.finished or not trajectory.answer.strip():
        return 0.0
    return float(sorted(environment.ledger) == sorted(json.loads(transfers)))


def send(source, target, cents):
    """Return a call that moves money."""
    return ("transfer", {"source": source, "target": target, "cents": cents})


TRANSFERS_MADE = dict(
    name="transfers_made",
    reward=transfers_made,
    environment=Bank,
    tools=[],
    examples=[
        asked(
            "Move $12.50 from checking to rent and $3 from checking to savings.",
            accounts='{"checking": 5000, "savings": 100, "rent": 0}',
            transfers='[["checking", "rent", 1250], ["checking", "savings", 300]]',
        ),
        asked(
            "Move all that is in old to new.", accounts='{"old": 777, "new": 1}', transfers='[["old", "new", 777]]'
        ),
        asked(
            "Pay Ann $5 and Bob $6 from cash.",
            accounts='{"cash": 2000, "ann": 0, "bob": 0}',
            transfers='[["cash", "ann", 500], ["cash", "bob", 600]]',
        ),
    ],
    good=[
        dict(calls=[send("checking", "rent", 1250), send("checking", "savings", 300)], answer="Both are paid."),
        dict(calls=[("balance", {"account": "old"}), send("old", "new", 777)], answer="All $7.77 is in new."),
        dict(calls=[send("cash", "bob", 600), send("cash", "ann", 500)], answer="Both are paid."),
    ],
    bad=[
        [
            dict(calls=[], answer="Both are paid."),
            dict(calls=[send("checking", "rent", 1250)], answer="The rent is paid."),
        ],
        [dict(calls=[send("new", "old", 1)], answer="Done."), dict(calls=[send("old", "new", 700)], answer="Done.")],
        [
            dict(calls=[send("cash", "ann", 600), send("cash", "bob", 500)], answer="Both are paid."),
            dict(calls=[send("cash", "ann", 1100)], answer="Paid."),
        ],
    ],
    worse=[
        dict(calls=[], answer="Both are paid."),
        dict(calls=[send("checking", "rent", 1250)], answer="The rent is paid."),
        dict(calls=[send("checking", "rent", 12), send("checking", "savings", 3)], answer="Both are paid."),
        dict(calls=[send("checking", "rent", 1250)] * 2 + [send("checking", "savings", 300)], answer="Both are paid."),
        dict(
            calls=[
                send("checking", "rent", 1250),
                send("checking", "savings", 300),
                send("savings", "rent", 50),
                send("rent", "savings", 50),
            ],
            answer="Both are paid.",
        ),
        dict(calls=[send("savings", "rent", 1250), send("checking", "savings", 300)], answer="Both are paid."),
    ],
    docs="The agent should make exactly the transfers that the user ordered, and say so.",
)

# ----------------------------------------------------------------------------------------------------------------------
# search

PAGES = {
    "p1": ("Lake Tarn", "Lake Tarn is drained by the river Ebba, which flows north to the sea."),
    "p2": ("Ebba (river)", "The Ebba is 212 km long. Its largest tributary is the Little Moss."),
    "p3": ("Harbour Bridge of Velm", "The Harbour Bridge of Velm was designed by Rosa Linde and opened in 1931."),
    "p4": ("Rosa Linde", "Rosa Linde (1889-1970), engineer, was born in Karsund."),
    "p5": ("Velm", "Velm is a port. Its twin city is Ostrava Bay."),
}


def search_pages(query: str) -> str:
    """Search the encyclopedia and return the ids and titles of pages.

    Args:
        query: Some words.
    """
    words = set(re.findall(r"\w+", query.lower()))
    found = {
        page: title
        for page, (title, text) in PAGES.items()
        if words & set(re.findall(r"\w+", title.lower()))
    }
    return json.dumps(found)


def open_page(page: str) -> str:
    """Return the text of a page.

    Args:
        page: The id of the page.
    """
    return PAGES[page][1]


def plain(text: str) -> str:
    """Return a text in lower case without articles and punctuation."""
    return " ".join(word for word in re.findall(r"\w+", text.lower()) if word not in ("a", "an", "the"))


@rk.reward
def search_answer(trajectory: rk.Trajectory, accepted: str) -> float:
    """Score 1.0 if the final message is one line 'Answer: ...' with an accepted answer that an opened page supports."""
    found = re.fullmatch(r"Answer: ([^\n]+)", trajectory.answer.strip())
    if found is None:
        return 0.0
    answer = plain(found.group(1))
    if answer not in [plain(text) for text in json.loads(accepted)]:
        return 0.0
    pages = [call.result.text for call in trajectory.calls if call.name == "open_page" and call.ok and call.result]
    return float(any(f" {answer} " in f" {plain(page)} " for page in pages))


SEARCH = [search_pages, open_page]


def find(query):
    """Return a call that searches."""
    return ("search_pages", {"query": query})


def opened(page):
    """Return a call that opens a page."""
    return ("open_page", {"page": page})


TO_EBBA = [find("Lake Tarn"), opened("p1"), find("Ebba"), opened("p2")]
TO_LINDE = [find("Harbour Bridge"), opened("p3"), find("Rosa Linde"), opened("p4")]
SEARCH_ANSWER = dict(
    name="search_answer",
    reward=search_answer,
    environment=None,
    tools=SEARCH,
    examples=[
        asked(
            "How many km long is the river that drains Lake Tarn? End with one line 'Answer: ...'.",
            accepted='["212", "212 km"]',
        ),
        asked(
            "Where was the designer of the Harbour Bridge of Velm born? End with one line 'Answer: ...'.",
            accepted='["Karsund"]',
        ),
        asked("What is the twin city of Velm? End with one line 'Answer: ...'.", accepted='["Ostrava Bay"]'),
    ],
    good=[
        episode(SEARCH, TO_EBBA, "Answer: 212 km"),
        episode(SEARCH, TO_LINDE, "Answer: Karsund"),
        episode(SEARCH, [find("Velm"), opened("p5")], "Answer: Ostrava Bay"),
    ],
    bad=[
        [episode(SEARCH, [], "Answer: 212 km"), episode(SEARCH, TO_EBBA, "Answer: 200 km")],
        [episode(SEARCH, TO_LINDE[:2], "Answer: Velm"), episode(SEARCH, TO_LINDE, "I do not know.")],
        [episode(SEARCH, [find("Velm")], "Answer: Ostrava Bay"), episode(SEARCH, [opened("p5")], "Answer: Ostrava")],
    ],
    worse=[
        episode(SEARCH, [], "Answer: 212 km"),
        episode(SEARCH, TO_EBBA, "Answer: 200 km"),
        episode(SEARCH, TO_EBBA, "Answer: 212 km or 200 km or 150 km"),
        episode(SEARCH, TO_EBBA, "Answer: 200 km\nAnswer: 212 km"),
        episode(SEARCH, TO_EBBA, None),
        episode(SEARCH, TO_EBBA[:2], "Answer: 212 km"),
        episode(SEARCH, TO_EBBA, "I could not find it."),
    ],
    docs="The agent should open the pages that tell the answer, and end with that answer alone.",
)

# ----------------------------------------------------------------------------------------------------------------------
# a payroll


class Payroll:
    """A database with one table: employees(id, name, team, salary)."""

    def reset(self, employees: str, **row: object) -> None:
        """Fill the table."""
        self.database = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        self.database.execute("CREATE TABLE employees (id INTEGER PRIMARY KEY, name TEXT, team TEXT, salary INTEGER)")
        self.database.executemany("INSERT INTO employees VALUES (?, ?, ?, ?)", json.loads(employees))

    def execute(self, statement: str) -> str:
        """Run one SELECT, UPDATE, INSERT or DELETE and return the rows.

        Args:
            statement: The statement.
        """
        if not re.match(r"\s*(select|update|insert|delete)\b", statement, re.IGNORECASE):
            raise ValueError("Only SELECT, UPDATE, INSERT and DELETE are allowed.")
        return json.dumps(self.database.execute(statement).fetchall())


def payroll_updated(environment: Payroll, result: str, trajectory: rk.Trajectory) -> float:
    """Score 1.0 if the table holds exactly the rows that it should hold, and the agent reports back."""
    rows = [list(row) for row in environment.database.execute("SELECT * FROM employees ORDER BY id")]
    return float(trajectory.finished and bool(trajectory.answer.strip()) and rows == json.loads(result))


def statements(*texts):
    """Return calls that execute statements."""
    return [("execute", {"statement": text}) for text in texts]


STAFF = '[[1, "Ann", "dev", 5000], [2, "Bob", "ops", 4000], [3, "Cem", "dev", 4500], [4, "Dia", "ops", 4200]]'
PAYROLL_UPDATED = dict(
    name="payroll_updated",
    reward=payroll_updated,
    environment=Payroll,
    tools=[],
    examples=[
        asked(
            "Raise the salaries of the dev team by 100.",
            employees=STAFF,
            result='[[1, "Ann", "dev", 5100], [2, "Bob", "ops", 4000], [3, "Cem", "dev", 4600], [4, "Dia", "ops", 4200]]',
        ),
        asked(
            "Bob left. Remove him.",
            employees=STAFF,
            result='[[1, "Ann", "dev", 5000], [3, "Cem", "dev", 4500], [4, "Dia", "ops", 4200]]',
        ),
        asked(
            "Cem moves to the ops team and gets what Dia gets.",
            employees=STAFF,
            result='[[1, "Ann", "dev", 5000], [2, "Bob", "ops", 4000], [3, "Cem", "ops", 4200], [4, "Dia", "ops", 4200]]',
        ),
    ],
    good=[
        dict(
            calls=statements(
                "SELECT * FROM employees WHERE team = 'dev'",
                "UPDATE employees SET salary = salary + 100 WHERE team = 'dev'",
            ),
            answer="Ann and Cem get 100 more.",
        ),
        dict(calls=statements("DELETE FROM employees WHERE name = 'Bob'"), answer="Bob is removed."),
        dict(
            calls=statements(
                "SELECT salary FROM employees WHERE name = 'Dia'",
                "UPDATE employees SET team = 'ops', salary = 4200 WHERE name = 'Cem'",
            ),
            answer="Cem is in ops now, at 4200.",
        ),
    ],
    bad=[
        [
            dict(calls=[], answer="Ann and Cem get 100 more."),
            dict(calls=statements("UPDATE employees SET salary = salary + 100"), answer="Raised."),
        ],
        [
            dict(calls=statements("DELETE FROM employees"), answer="Bob is removed."),
            dict(calls=statements("SELECT * FROM employees WHERE name = 'Bob'"), answer="Bob is removed."),
        ],
        [
            dict(calls=statements("UPDATE employees SET team = 'ops' WHERE name = 'Cem'"), answer="Cem moved."),
            dict(calls=statements("UPDATE employees SET team = 'ops', salary = 4200"), answer="Cem moved."),
        ],
    ],
    worse=[
        dict(calls=[], answer="Ann and Cem get 100 more."),
        dict(calls=statements("UPDATE employees SET salary = salary + 100"), answer="Raised."),
        dict(calls=statements("DELETE FROM employees"), answer="Raised."),
        dict(calls=statements("DROP TABLE employees"), answer="Raised."),
        dict(calls=statements(*["UPDATE employees SET salary = salary + 100 WHERE team = 'dev'"] * 2), answer="Raised."),
        dict(calls=statements("UPDATE employees SET salary = salary + 100 WHERE name = 'Ann'"), answer="Raised."),
        dict(
            calls=statements(
                "UPDATE employees SET salary = salary + 100 WHERE team = 'dev'",
                "INSERT INTO employees VALUES (9, 'Me', 'dev', 9999)",
            ),
            answer="Raised.",
        ),
    ],
    docs="The agent should change the rows that the user asked for, leave all others alone, and report back.",
)

# ----------------------------------------------------------------------------------------------------------------------
# the tower of Hanoi


class Hanoi:
    """The tower of Hanoi: pegs A, B, C; the disks start on A."""

    def reset(self, disks: str, **row: object) -> str:
        """Stack the disks."""
        self.pegs = {"A": list(range(int(disks), 0, -1)), "B": [], "C": []}
        self.attempts = 0
        return f"{disks} disks are on A. Move them to C."

    def move(self, source: str, target: str) -> str:
        """Move the top disk of a peg to another peg, never onto a smaller disk.

        Args:
            source: The peg to take from.
            target: The peg to put on.
        """
        self.attempts += 1
        if source not in self.pegs or target not in self.pegs or not self.pegs[source]:
            raise ValueError("There is no disk to move.")
        if self.pegs[target] and self.pegs[target][-1] < self.pegs[source][-1]:
            raise ValueError("A disk must not lie on a smaller one.")
        self.pegs[target].append(self.pegs[source].pop())
        return json.dumps(self.pegs)


def tower_moved(environment: Hanoi, disks: str) -> float:
    """Score 0.0 if the tower is not on C at the end, else 1.0 for the fewest moves, and less the more moves it took."""
    if len(environment.pegs["C"]) != int(disks):
        return 0.0
    return (2 ** int(disks) - 1) / environment.attempts


def moves(text):
    """Return calls for moves such as "AC AB"."""
    return [("move", {"source": pair[0], "target": pair[1]}) for pair in text.split()]


TOWER_MOVED = dict(
    name="tower_moved",
    reward=tower_moved,
    environment=Hanoi,
    tools=[],
    examples=[
        asked("Solve the tower of Hanoi with 3 disks in as few moves as you can.", disks="3"),
        asked("Solve the tower of Hanoi with 2 disks in as few moves as you can.", disks="2"),
        asked("Solve the tower of Hanoi with 4 disks in as few moves as you can.", disks="4"),
    ],
    good=[
        dict(calls=moves("AC AB CB AC BA BC AC"), answer="The tower is on C."),
        dict(calls=moves("AB AC BC"), answer="The tower is on C."),
        dict(calls=moves("AB AC BC AB CA CB AB AC BC BA CA BC AB AC BC"), answer="The tower is on C."),
    ],
    bad=[
        [dict(calls=[], answer="The tower is on C."), dict(calls=moves("AC AC AC"), answer="The tower is on C.")],
        [dict(calls=moves("AB AC"), answer="Almost."), dict(calls=moves("AC AB CB"), answer="The tower is on B.")],
        [dict(calls=moves("AB AC BC"), answer="Two disks are on C."), dict(calls=[], answer="Too hard.")],
    ],
    worse=[
        dict(calls=[], answer="The tower is on C."),
        dict(calls=moves("AC AC AC"), answer="The tower is on C."),
        dict(calls=moves("AB AC BC AB CA CB AB"), answer="The tower is on B."),
        dict(calls=moves("AC AB CB AC BA BC"), answer="Almost."),
        dict(calls=moves("AB BA AC AB CB AC BA BC AC"), answer="The tower is on C."),
        dict(calls=moves("AC AB CB AC BA BC AC CB"), answer="The tower is on C."),
        dict(calls=moves("AC AC AB CB AC BA BC AC"), answer="The tower is on C."),
    ],
    docs="The tower should be on C at the end, with as few attempts to move as possible.",
)

# ----------------------------------------------------------------------------------------------------------------------
# cancelling orders

STATUS = {"A11": "processing", "A12": "delivered", "A13": "processing", "A14": "shipped"}


def order_status(order: str) -> str:
    """Return the status of an order: processing, shipped or delivered.

    Args:
        order: The order's number.
    """
    return STATUS[order]


def cancel_order(order: str) -> str:
    """Cancel an order. It cannot be undone.

    Args:
        order: The order's number.
    """
    return f"{order} cancelled"


@rk.reward
def cancel_policy(trajectory: rk.Trajectory, order: str, status: str) -> float:
    """Score 1.0 if the agent checked the order, cancelled it only if it is still processing, and told the outcome."""
    calls = trajectory.calls
    cancelled = [call for call in calls if call.name == "cancel_order"]
    checked = [call for call in calls if call.name == "order_status" and call.has(order=order) and call.ok]
    if not checked:
        return 0.0
    if status == "processing":
        if len(cancelled) != 1 or cancelled[0].turn <= checked[0].turn:
            return 0.0
        done = cancelled[0].has(order=order) and cancelled[0].ok is True
        return float(done and trajectory.answer.strip() == "Resolution: cancelled")
    return float(not cancelled and trajectory.answer.strip() == "Resolution: not possible")


CANCEL = [order_status, cancel_order]


def status_of(order):
    """Return a call that looks up an order."""
    return ("order_status", {"order": order})


def cancelling(order):
    """Return a call that cancels an order."""
    return ("cancel_order", {"order": order})


RULES = "Only orders that are still processing can be cancelled. Reply 'Resolution: cancelled' or 'Resolution: not possible'."
CANCEL_POLICY = dict(
    name="cancel_policy",
    reward=cancel_policy,
    environment=None,
    tools=CANCEL,
    examples=[
        asked(f"Please cancel order A11. {RULES}", order="A11", status="processing"),
        asked(f"Please cancel order A12. {RULES}", order="A12", status="delivered"),
        asked(f"Please cancel order A13. {RULES}", order="A13", status="processing"),
        asked(f"Please cancel order A14. {RULES}", order="A14", status="shipped"),
    ],
    good=[
        episode(CANCEL, [status_of("A11"), cancelling("A11")], "Resolution: cancelled"),
        episode(CANCEL, [status_of("A12")], "Resolution: not possible"),
        episode(CANCEL, [status_of("A13"), cancelling("A13")], "Resolution: cancelled"),
        episode(CANCEL, [status_of("A14")], "Resolution: not possible"),
    ],
    bad=[
        [episode(CANCEL, [], "Resolution: cancelled"), episode(CANCEL, [cancelling("A11")], "Resolution: cancelled")],
        [
            episode(CANCEL, [status_of("A12"), cancelling("A12")], "Resolution: cancelled"),
            episode(CANCEL, [], "Resolution: not possible"),
        ],
        [episode(CANCEL, [status_of("A13")], "Resolution: cancelled"), episode(CANCEL, [], "Resolution: not possible")],
        [
            episode(CANCEL, [cancelling("A14")], "Resolution: cancelled"),
            episode(CANCEL, [status_of("A14")], "Resolution: cancelled"),
        ],
    ],
    worse=[
        episode(CANCEL, [], "Resolution: cancelled"),
        episode(CANCEL, [cancelling("A11")], "Resolution: cancelled"),
        episode(CANCEL, [cancelling("A11"), status_of("A11")], "Resolution: cancelled"),
        episode(CANCEL, [status_of("A11")], "Resolution: not possible"),
        episode(CANCEL, [status_of("A11")], "Resolution: cancelled"),
        episode(CANCEL, [status_of("A11"), cancelling("A11"), cancelling("A13")], "Resolution: cancelled"),
        episode(CANCEL, [status_of("A11"), cancelling("A11")], "Resolution: not possible"),
        episode(CANCEL, [status_of("A11"), cancelling("A11")], None),
    ],
    docs="The agent should look first, cancel only what may be cancelled, and tell the user what happened.",
)

# ----------------------------------------------------------------------------------------------------------------------
# asking for what is missing


def book_train(origin: str, destination: str, date: str) -> str:
    """Book a train ticket and return the booking's reference.

    Args:
        origin: The station of departure.
        destination: The station of arrival.
        date: The day, as YYYY-MM-DD.
    """
    return f"{origin[:3]}{destination[:3]}{date[5:]}".upper().replace("-", "")


@rk.reward
def book_or_ask(trajectory: rk.Trajectory, booking: str, missing: str) -> float:
    """Score 1.0 for the right booking with its reference, or for asking for what is missing instead of making it up."""
    answer = trajectory.answer.strip()
    if missing:
        return float(not trajectory.calls and answer == f"Need: {missing}")
    if len(trajectory.calls) != 1:
        return 0.0
    call = trajectory.calls[0]
    if call.name != "book_train" or dict(call.arguments or {}) != json.loads(booking) or not call.ok:
        return 0.0
    return float(call.result is not None and answer == f"Booked: {call.result.text}")


def train(origin, destination, date):
    """Return a call that books a train."""
    return ("book_train", {"origin": origin, "destination": destination, "date": date})


LYON = train("Paris", "Lyon", "2025-03-01")
GRAZ = train("Linz", "Graz", "2025-04-09")
FORM = "Reply 'Booked: <reference>', or 'Need: <argument>' if I forgot one of origin, destination, date."
BOOK_OR_ASK = dict(
    name="book_or_ask",
    reward=book_or_ask,
    environment=None,
    tools=[book_train],
    examples=[
        asked(f"A train from Paris to Lyon, please. {FORM}", booking="{}", missing="date"),
        asked(f"A train from Paris to Lyon on 2025-03-01, please. {FORM}", booking=json.dumps(LYON[1]), missing=""),
        asked(f"A train to Graz on 2025-04-09, please. {FORM}", booking="{}", missing="origin"),
        asked(f"A train from Linz to Graz on 2025-04-09, please. {FORM}", booking=json.dumps(GRAZ[1]), missing=""),
    ],
    good=[
        episode([book_train], [], "Need: date"),
        episode([book_train], [LYON], "Booked: PARLYO0301"),
        episode([book_train], [], "Need: origin"),
        episode([book_train], [GRAZ], "Booked: LINGRA0409"),
    ],
    bad=[
        [episode([book_train], [LYON], "Booked: PARLYO0301"), episode([book_train], [], "Need: origin")],
        [episode([book_train], [], "Need: date"), episode([book_train], [GRAZ], "Booked: LINGRA0409")],
        [episode([book_train], [GRAZ], "Booked: LINGRA0409"), episode([book_train], [], "Booked: LINGRA0409")],
        [episode([book_train], [], "Booked: LINGRA0409"), episode([book_train], [GRAZ], "Booked: X")],
    ],
    worse=[
        episode([book_train], [LYON], "Booked: PARLYO0301"),
        episode([book_train], [LYON], "Need: date"),
        episode([book_train], [], "Need: origin"),
        episode([book_train], [], "Need: origin, destination, date"),
        episode([book_train], [], "Booked: PARLYO0301"),
        episode([book_train], [], ""),
    ],
    docs="The agent should book what was fully ordered, and ask for what is missing instead of making it up.",
)

# ----------------------------------------------------------------------------------------------------------------------
# a repository


class Repository:
    """A small repository of text files."""

    def reset(self, files: str, **row: object) -> None:
        """Check out the files."""
        self.files = json.loads(files)

    def read_file(self, path: str) -> str:
        """Read a file.

        Args:
            path: The path of the file.
        """
        return self.files[path]

    def replace_text(self, path: str, old: str, new: str) -> str:
        """Replace a text that occurs exactly once in a file.

        Args:
            path: The path of the file.
            old: The text to replace.
            new: The new text.
        """
        if not old or self.files[path].count(old) != 1:
            raise ValueError("The text must occur exactly once.")
        self.files[path] = self.files[path].replace(old, new)
        return "replaced"

    def delete_file(self, path: str) -> str:
        """Delete a file.

        Args:
            path: The path of the file.
        """
        del self.files[path]
        return "deleted"


def files_edited(environment: Repository, edited: str, trajectory: rk.Trajectory) -> float:
    """Score 1.0 if all files are as they should be after the edit, and the agent reports back."""
    return float(trajectory.finished and bool(trajectory.answer.strip()) and environment.files == json.loads(edited))


def swap(path, old, new):
    """Return a call that replaces a text."""
    return ("replace_text", {"path": path, "old": old, "new": new})


def read(path):
    """Return a call that reads a file."""
    return ("read_file", {"path": path})


BEFORE = {"setup.cfg": "version = 1.2\nname = kiln\n", "kiln.py": "VERSION = '1.2'\nDEBUG = True\n", "LICENSE": "MIT\n"}


def repository_example(text, **changed):
    """Return an example: the files before and after the edit; None deletes."""
    after = {**BEFORE, **{path.replace("_", "."): new for path, new in changed.items()}}
    kept = {path: new for path, new in after.items() if new is not None}
    return asked(text, files=json.dumps(BEFORE), edited=json.dumps(kept))


BUMP = [swap("setup.cfg", "version = 1.2", "version = 1.3"), swap("kiln.py", "'1.2'", "'1.3'")]
FILES_EDITED = dict(
    name="files_edited",
    reward=files_edited,
    environment=Repository,
    tools=[],
    examples=[
        repository_example(
            "Bump the version from 1.2 to 1.3 wherever it occurs.",
            setup_cfg="version = 1.3\nname = kiln\n",
            kiln_py="VERSION = '1.3'\nDEBUG = True\n",
        ),
        repository_example("Set DEBUG to False in kiln.py.", kiln_py="VERSION = '1.2'\nDEBUG = False\n"),
        repository_example("Delete the file LICENSE.", LICENSE=None),
    ],
    good=[
        dict(calls=[read("setup.cfg"), read("kiln.py"), *BUMP], answer="The version is 1.3 in both files."),
        dict(calls=[swap("kiln.py", "DEBUG = True", "DEBUG = False")], answer="DEBUG is False."),
        dict(calls=[("delete_file", {"path": "LICENSE"})], answer="LICENSE is deleted."),
    ],
    bad=[
        [dict(calls=[], answer="The version is 1.3 in both files."), dict(calls=BUMP[:1], answer="It is 1.3 now.")],
        [
            dict(calls=[read("kiln.py")], answer="DEBUG is False."),
            dict(calls=[("delete_file", {"path": "kiln.py"})], answer="DEBUG is gone."),
        ],
        [
            dict(calls=[swap("LICENSE", "MIT\n", "")], answer="LICENSE is empty."),
            dict(calls=[("delete_file", {"path": path}) for path in BEFORE], answer="Deleted."),
        ],
    ],
    worse=[
        dict(calls=[], answer="The version is 1.3 in both files."),
        dict(calls=BUMP[:1], answer="It is 1.3 now."),
        dict(calls=BUMP[1:], answer="It is 1.3 now."),
        dict(calls=[*BUMP, ("delete_file", {"path": "LICENSE"})], answer="It is 1.3 now."),
        dict(calls=[*BUMP, swap("kiln.py", "DEBUG = True", "DEBUG = False")], answer="It is 1.3 now."),
        dict(calls=[swap("setup.cfg", "1.2", "1.4"), swap("kiln.py", "1.2", "1.4")], answer="It is 1.4 now."),
        dict(calls=[("delete_file", {"path": path}) for path in BEFORE], answer="No 1.2 is left."),
    ],
    docs="The agent should make the edit that was asked for, change nothing else, and report back.",
)

# ----------------------------------------------------------------------------------------------------------------------
# a shopping basket

PRICES = {"tea": "3.20", "rice": "1.95", "soap": "2.50", "pear": "0.45", "oil": "7.99"}


def price(item: str) -> str:
    """Return the price of one piece of an item, in euros.

    Args:
        item: The item.
    """
    return PRICES[item]


@rk.reward
def basket_total(trajectory: rk.Trajectory, basket: str, total: str) -> float:
    """Score 1.0 if all prices were looked up and the reply is 'Total: ' with the exact total."""
    found = re.fullmatch(r"Total: (\d+\.\d\d)", trajectory.answer.strip())
    if found is None:
        return 0.0
    for item in json.loads(basket):
        if not any(call.name == "price" and call.has(item=item) and call.ok for call in trajectory.calls):
            return 0.0
    return float(found.group(1) == total)


def prices(*items):
    """Return calls that look up prices."""
    return [("price", {"item": item}) for item in items]


BASKET_TOTAL = dict(
    name="basket_total",
    reward=basket_total,
    environment=None,
    tools=[price],
    examples=[
        asked("What do 2 tea and 1 rice cost? Reply 'Total: <euros>'.", basket='{"tea": 2, "rice": 1}', total="8.35"),
        asked("What do 4 pear and 1 oil cost? Reply 'Total: <euros>'.", basket='{"pear": 4, "oil": 1}', total="9.79"),
        asked("What do 3 soap cost? Reply 'Total: <euros>'.", basket='{"soap": 3}', total="7.50"),
    ],
    good=[
        episode([price], prices("tea", "rice"), "Total: 8.35"),
        episode([price], prices("pear", "oil"), "Total: 9.79"),
        episode([price], prices("soap"), "Total: 7.50"),
    ],
    bad=[
        [episode([price], [], "Total: 8.35"), episode([price], prices("tea", "rice"), "Total: 5.15")],
        [episode([price], prices("pear", "oil"), "Total: 8.44"), episode([price], prices("pear"), "Total: 9.79")],
        [episode([price], prices("soap"), "Total: 2.50"), episode([price], prices("soap"), "I cannot tell.")],
    ],
    worse=[
        episode([price], [], "Total: 8.35"),
        episode([price], prices("tea", "rice"), "Total: 5.15"),
        episode([price], prices("tea"), "Total: 8.35"),
        episode([price], prices("tea", "rice"), "Total: 8.35 or 5.15"),
        episode([price], prices("tea", "rice"), "Total: 5.15\nTotal: 8.35"),
        episode([price], prices("tea", "rice"), "I cannot tell."),
        episode([price], prices("tea", "rice"), None),
    ],
    docs="The agent should look up the prices and reply with the exact total alone.",
)

# ----------------------------------------------------------------------------------------------------------------------
# triage


class Inbox:
    """An inbox of mails that belong to the queues billing, technical and sales."""

    def reset(self, mails: str, **row: object) -> str:
        """Fill the inbox."""
        self.mails = json.loads(mails)
        self.unread = set(self.mails)
        self.queues = {}
        return f"Mails: {sorted(self.mails)}"

    def read_mail(self, mail: str) -> str:
        """Read a mail.

        Args:
            mail: The id of the mail.
        """
        text = self.mails[mail]
        self.unread.discard(mail)
        return text

    def assign(self, mail: str, queue: str) -> str:
        """Assign a mail that was read to a queue, once.

        Args:
            mail: The id of the mail.
            queue: One of billing, technical, sales.
        """
        if mail not in self.mails or mail in self.unread:
            raise ValueError("Read the mail first.")
        if mail in self.queues or queue not in ("billing", "technical", "sales"):
            raise ValueError("The mail is already assigned, or there is no such queue.")
        self.queues[mail] = queue
        return f"{mail} is in {queue}."


def mails_sorted(environment: Inbox, labels: str) -> float:
    """Score the share of mails in the right queue, less the share in a wrong one."""
    wanted = json.loads(labels)
    right = sum(wanted[mail] == queue for mail, queue in environment.queues.items())
    wrong = len(environment.queues) - right
    return max(0.0, (right - wrong) / len(wanted))


def sort_mails(**queues):
    """Return calls that read mails and assign them."""
    return [
        step
        for mail, queue in queues.items()
        for step in (("read_mail", {"mail": mail}), ("assign", {"mail": mail, "queue": queue}))
    ]


MAILS_SORTED = dict(
    name="mails_sorted",
    reward=mails_sorted,
    environment=Inbox,
    tools=[],
    examples=[
        asked(
            "Read the mails m1 to m3 and assign each to billing, technical or sales.",
            mails='{"m1": "My invoice is wrong.", "m2": "The app crashes.", "m3": "Do you offer volume prices?"}',
            labels='{"m1": "billing", "m2": "technical", "m3": "sales"}',
        ),
        asked(
            "Read the mails m1 and m2 and assign each to billing, technical or sales.",
            mails='{"m1": "I cannot log in.", "m2": "Error 502 all day."}',
            labels='{"m1": "technical", "m2": "technical"}',
        ),
        asked(
            "Read the mails m1 and m2 and assign each to billing, technical or sales.",
            mails='{"m1": "Please send a quote.", "m2": "You charged me twice."}',
            labels='{"m1": "sales", "m2": "billing"}',
        ),
    ],
    good=[
        dict(calls=sort_mails(m1="billing", m2="technical", m3="sales"), answer="All three are assigned."),
        dict(calls=sort_mails(m1="technical", m2="technical"), answer="Both are assigned."),
        dict(calls=sort_mails(m1="sales", m2="billing"), answer="Both are assigned."),
    ],
    bad=[
        [
            dict(calls=[], answer="All three are assigned."),
            dict(calls=sort_mails(m1="sales", m2="sales", m3="sales"), answer="All three are assigned."),
        ],
        [
            dict(calls=sort_mails(m1="technical"), answer="One is assigned."),
            dict(calls=sort_mails(m1="sales", m2="sales"), answer="Both are assigned."),
        ],
        [
            dict(calls=sort_mails(m1="billing", m2="sales"), answer="Both are assigned."),
            dict(calls=[("read_mail", {"mail": "m1"})], answer="I read one."),
        ],
    ],
    worse=[
        dict(calls=[], answer="All three are assigned."),
        dict(calls=sort_mails(m1="sales", m2="sales", m3="sales"), answer="All three are assigned."),
        dict(calls=sort_mails(m1="billing", m2="technical"), answer="Two are assigned."),
        dict(calls=sort_mails(m1="billing", m2="technical", m3="billing"), answer="All three are assigned."),
        dict(
            calls=[("assign", {"mail": mail, "queue": "billing"}) for mail in ("m1", "m2", "m3")],
            answer="All three are assigned.",
        ),
        dict(calls=[("read_mail", {"mail": mail}) for mail in ("m1", "m2", "m3")], answer="I read all three."),
    ],
    docs="Each mail should be read and end in the right queue; a wrong queue is worse than none.",
)

SOUND = [
    HOME_COMMANDS,
    TRANSFERS_MADE,
    SEARCH_ANSWER,
    PAYROLL_UPDATED,
    TOWER_MOVED,
    CANCEL_POLICY,
    BOOK_OR_ASK,
    FILES_EDITED,
    BASKET_TOTAL,
    MAILS_SORTED,
]
