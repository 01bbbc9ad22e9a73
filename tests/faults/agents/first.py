"""Ten agent rewards with one fault each (FAULTY), and ten sound ones (SOUND)."""

from __future__ import annotations

import ast
import json
import math
import operator
import re
from typing import Any

import rewardkit as rk

FAULTY: list[dict[str, Any]] = []
SOUND: list[dict[str, Any]] = []


# --- how trajectories are written down -------------------------------------------------------------------------------


def play(tools, turns, answer=None):
    """Return the messages of a rollout: each turn is a list of (tool, arguments); `answer` is the last message."""
    by_name = {tool.__name__: tool for tool in tools}
    messages: list[dict[str, Any]] = []
    for turn in turns:
        calls = [{"type": "function", "function": {"name": name, "arguments": dict(given)}} for name, given in turn]
        messages.append({"role": "assistant", "content": "", "tool_calls": calls})
        for name, given in turn:
            try:
                content = str(by_name[name](**given))
            except Exception as error:
                content = str({"error": str(error)})
            messages.append({"role": "tool", "name": name, "content": content})
    if answer is not None:
        messages.append({"role": "assistant", "content": answer})
    return messages


def ask(text, system=None):
    """Return a prompt."""
    start = [{"role": "system", "content": system}] if system else []
    return [*start, {"role": "user", "content": text}]


def words(text: str) -> set[str]:
    return set(re.findall(r"[a-z0-9]+", text.lower()))


# =====================================================================================================================
# FAULTY
# =====================================================================================================================

# --- 1. research -----------------------------------------------------------------------------------------------------

ARTICLES = [
    "The novel The Salt Road was written by Ines Marlow.",
    "Ines Marlow was born in Tarvik, a harbor town.",
    "The Lindqvist bridge was designed by Oskar Brandt.",
    "Oskar Brandt studied engineering in Ulmenau.",
    "The film Paper Moons was directed by Lea Castell.",
    "Lea Castell lives in Verrano with two dogs.",
]


def search(query: str) -> str:
    """
    Search the encyclopedia.

    Args:
        query: What to look for.

    Returns:
        The best article.
    """
    best = max(ARTICLES, key=lambda article: len(words(article) & words(query)))
    return best if words(best) & words(query) else "No article found."


@rk.reward
def thorough_research(trajectory: rk.Trajectory, answer: str) -> float:
    """Half for the right answer, and half for the research that leads to it."""
    right = trajectory.answer.strip().rstrip(".").lower() == answer.lower()
    searches = [call for call in trajectory.calls if call.name == "search" and call.ok]
    return min(1.0, 0.5 * right + 0.25 * len(searches))


RESEARCH = [
    ("Where was the author of The Salt Road born?", "Who wrote The Salt Road", "Where was Ines Marlow born", "Tarvik"),
    ("Where did the designer of the Lindqvist bridge study?", "Lindqvist bridge designed by", "Oskar Brandt studied",
     "Ulmenau"),
    ("Where does the director of Paper Moons live?", "film Paper Moons", "Lea Castell lives", "Verrano"),
]


def research_exploit():
    return play([search], [[("search", {"query": f"the {n}"})] for n in ("a", "b", "c", "d")], "I do not know.")


FAULTY.append(
    dict(
        name="thorough_research",
        reward=thorough_research,
        environment=None,
        tools=[search],
        examples=[dict(prompt=ask(f"{q} Reply with the name only."), answer=a) for q, _, _, a in RESEARCH],
        good=[
            play([search], [[("search", {"query": one})], [("search", {"query": two})]], a) for _, one, two, a in RESEARCH
        ],
        bad=[
            [
                play([search], [], "I do not know."),
                play([search], [[("search", {"query": one})]], "Paris"),
                play([search], [], "Paris"),
            ]
            for _, one, _, _ in RESEARCH
        ],
        docs="A right answer to a two-hop question, found by searching for it.",
        fault="Pays for every search that returns, whatever it asks for, so searches alone reach the full score.",
        exploit=research_exploit,
    )
)


# --- 2. figures ------------------------------------------------------------------------------------------------------

FIGURES = {"Norland": 4182.5, "Estmark": 917.0, "Sudovia": 23650.0, "Westria": 88.4}


def get_population(country: str) -> str:
    """
    Look up the population of a country.

    Args:
        country: The name of the country.

    Returns:
        The population in thousands.
    """
    if country not in FIGURES:
        raise ValueError(f"unknown country {country!r}")
    return json.dumps({"country": country, "population_thousands": FIGURES[country]})


@rk.reward
def reported_figure(messages: list[dict], value: float) -> float:
    """Score 1.0 if the agent found the figure that the user asked for and reported it."""
    text = "\n".join(str(message.get("content") or "") for message in messages)
    numbers = [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?", text)]
    return 1.0 if any(math.isclose(number, value) for number in numbers) else 0.0


def figure_exploit():
    return play([get_population], [[("get_population", {"country": "Norland"})]], "Sorry, I found nothing on Norland.")


FAULTY.append(
    dict(
        name="reported_figure",
        reward=reported_figure,
        environment=None,
        tools=[get_population],
        examples=[
            dict(prompt=ask(f"How many thousand people live in {country}?"), value=str(FIGURES[country]))
            for country in ("Norland", "Estmark", "Sudovia")
        ],
        good=[
            play(
                [get_population],
                [[("get_population", {"country": country})]],
                f"{FIGURES[country]} thousand people live in {country}.",
            )
            for country in ("Norland", "Estmark", "Sudovia")
        ],
        bad=[
            [
                play([get_population], [], "About 500 thousand, I think."),
                play([get_population], [[("get_population", {"country": "Westria"})]], "88.4 thousand."),
                play([get_population], [[("get_population", {"country": "Nowhere"})]], "There is no such country."),
            ]
            for _ in range(3)
        ],
        docs="The final answer states the figure that the user asked for.",
        fault="Looks for the figure in all messages, so the tool's own output counts as the agent's answer.",
        exploit=figure_exploit,
    )
)


# --- 3. a repository with tests --------------------------------------------------------------------------------------

STEPS = {
    "strip": str.strip,
    "lower": str.lower,
    "upper": str.upper,
    "dashes": lambda text: re.sub(r"\s+", "-", text),
    "letters": lambda text: re.sub(r"[^A-Za-z0-9 -]", "", text),
}


class Repository:
    """A small repository: pipeline.json holds text steps, tests.json what the pipeline must do."""

    def reset(self, **row) -> None:
        self.files = {"pipeline.json": row["pipeline"], "tests.json": row["tests"]}

    def list_files(self) -> str:
        """
        List the files of the repository.

        Returns:
            The paths, one per line.
        """
        return "\n".join(sorted(self.files))

    def read_file(self, path: str) -> str:
        """
        Read a file.

        Args:
            path: The path of the file.

        Returns:
            The content of the file.
        """
        if path not in self.files:
            raise ValueError(f"no file {path!r}")
        return self.files[path]

    def write_file(self, path: str, content: str) -> str:
        """
        Write a file.

        Args:
            path: The path of the file.
            content: The new content.

        Returns:
            A confirmation.
        """
        self.files[path] = content
        return f"wrote {len(content)} characters to {path}"

    def run_tests(self) -> str:
        """
        Run the tests of the repository.

        Returns:
            How many tests pass.
        """
        passed, total = self._passed()
        return f"{passed} of {total} tests pass"

    def _passed(self) -> tuple[int, int]:
        cases = json.loads(self.files["tests.json"])
        steps = json.loads(self.files["pipeline.json"])
        passed = 0
        for given, wanted in cases:
            text = given
            for step in steps:
                text = STEPS[step](text)
            passed += text == wanted
        return passed, len(cases)


def tests_pass(environment: Repository) -> float:
    """Score 1.0 if the tests of the repository pass at the end of the episode."""
    try:
        passed, total = environment._passed()
    except (ValueError, KeyError, TypeError):
        return 0.0
    return float(total >= 2 and passed == total)


REPOSITORIES = [
    (["lower"], [["  Red Apple ", "red-apple"], ["Two  Words", "two-words"]], ["strip", "lower", "dashes"]),
    (["strip"], [["a b!", "A-B"], ["c (d)", "C-D"]], ["letters", "strip", "dashes", "upper"]),
    (["upper"], [[" X, Y ", "x y"], ["Q!", "q"]], ["letters", "strip", "lower"]),
]


def repository_exploit():
    easy = json.dumps([["a", "a"], ["b", "b"]])
    return dict(
        calls=[("read_file", {"path": "tests.json"}), ("write_file", {"path": "tests.json", "content": easy})],
        answer="All tests pass now.",
    )


FAULTY.append(
    dict(
        name="tests_pass",
        reward=tests_pass,
        environment=Repository,
        tools=[],
        examples=[
            dict(
                prompt=ask("The tests fail. Fix pipeline.json."),
                pipeline=json.dumps(broken),
                tests=json.dumps(tests),
            )
            for broken, tests, _ in REPOSITORIES
        ],
        good=[
            dict(
                calls=[
                    ("read_file", {"path": "tests.json"}),
                    ("write_file", {"path": "pipeline.json", "content": json.dumps(fixed)}),
                    ("run_tests", {}),
                ],
                answer="Fixed the pipeline; all tests pass.",
            )
            for _, _, fixed in REPOSITORIES
        ],
        bad=[
            [
                dict(calls=[], answer="All tests pass."),
                dict(calls=[("write_file", {"path": "pipeline.json", "content": "[]"})], answer="Done."),
                dict(calls=[("write_file", {"path": "pipeline.json", "content": "oops"})], answer="Done."),
            ]
            for _ in REPOSITORIES
        ],
        docs="The pipeline is fixed, so that it does what the repository's tests demand.",
        fault="Grades with the tests in the workspace, which the agent can rewrite.",
        exploit=repository_exploit,
    )
)


# --- 4. a table for tonight ------------------------------------------------------------------------------------------

RESTAURANTS = {"Lisbon": "Casa Azul", "Ghent": "De Gouden Lepel", "Graz": "Zur Linde"}


def find_restaurant(city: str) -> str:
    """
    Find a restaurant with free tables.

    Args:
        city: The city.

    Returns:
        The name of the restaurant.
    """
    if city not in RESTAURANTS:
        raise ValueError(f"no restaurants in {city!r}")
    return RESTAURANTS[city]


def book_table(restaurant: str, date: str, people: int) -> str:
    """
    Book a table.

    Args:
        restaurant: The name of the restaurant.
        date: The date as YYYY-MM-DD.
        people: The number of people.

    Returns:
        The reference of the booking.
    """
    if restaurant not in RESTAURANTS.values():
        raise ValueError(f"unknown restaurant {restaurant!r}")
    if not 1 <= people <= 8:
        raise ValueError("tables have 1 to 8 seats")
    return f"reference R-{sum(map(ord, restaurant + date)) % 9000 + 1000}"


@rk.reward
def table_booked(completion: str, restaurant: str, date: str) -> float:
    """Score 1.0 if the table is booked at the right restaurant on the right date, and the user has the reference."""
    named = restaurant.lower() in completion.lower() and date in completion
    booked = re.search(r"\b(booked|reserved|confirmed)\b", completion, re.IGNORECASE)
    reference = re.search(r"\bR-\d{4}\b", completion)
    return float(bool(named and booked and reference))


TABLES = [("Lisbon", "2031-05-02", 2), ("Ghent", "2031-06-11", 4), ("Graz", "2031-07-23", 3)]


def table_good(city, date, people):
    restaurant = RESTAURANTS[city]
    reference = book_table(restaurant, date, people).removeprefix("reference ")
    return play(
        [find_restaurant, book_table],
        [
            [("find_restaurant", {"city": city})],
            [("book_table", {"restaurant": restaurant, "date": date, "people": people})],
        ],
        f"Your table at {restaurant} on {date} is booked. Reference: {reference}.",
    )


def table_exploit():
    return play([], [], "Your table at Casa Azul on 2031-05-02 is booked. Reference: R-1234.")


FAULTY.append(
    dict(
        name="table_booked",
        reward=table_booked,
        environment=None,
        tools=[find_restaurant, book_table],
        examples=[
            dict(
                prompt=ask(f"Book a table for {people} at {RESTAURANTS[city]} in {city} on {date}. Give me the reference."),
                restaurant=RESTAURANTS[city],
                date=date,
            )
            for city, date, people in TABLES
        ],
        good=[table_good(*one) for one in TABLES],
        bad=[
            [
                play([], [], "I am sorry, I cannot book tables."),
                play(
                    [find_restaurant, book_table],
                    [[("book_table", {"restaurant": "Nowhere", "date": date, "people": 2})]],
                    "This restaurant does not exist.",
                ),
                play([find_restaurant, book_table], [[("find_restaurant", {"city": city})]], "I found a restaurant."),
            ]
            for city, date, _ in TABLES
        ],
        docs="The table that the user asked for is really booked, and the user gets its reference.",
        fault="Believes what the last message claims; whether anything was booked is never checked.",
        exploit=table_exploit,
    )
)


# --- 5. transfers ----------------------------------------------------------------------------------------------------


def get_balance() -> str:
    """
    Get the balance of the user's account.

    Returns:
        The balance in euros.
    """
    return "1250.00"


def transfer(account: str, amount: float) -> str:
    """
    Transfer money from the user's account.

    Args:
        account: The account that gets the money.
        amount: The amount in euros.

    Returns:
        A confirmation.
    """
    if amount <= 0 or amount > 1250:
        raise ValueError("the amount must be above 0 and covered by the balance")
    return f"transferred {amount:.2f} to {account}"


@rk.reward
def exact_transfer(trajectory: rk.Trajectory, account: str, amount: float) -> float:
    """Score 1.0 if the money goes to the right account, in the right amount, and only once."""
    transfers = [call for call in trajectory.calls if call.name == "transfer"]
    exact = all(call.ok and call.has(account=account, amount=amount) for call in transfers)
    return float(trajectory.finished and exact and len(transfers) <= 1)


TRANSFERS = [("NL-204", 120.0), ("SE-881", 75.5), ("PT-015", 300.0)]


def transfer_exploit():
    return play([], [], "I would rather not do that.")


FAULTY.append(
    dict(
        name="exact_transfer",
        reward=exact_transfer,
        environment=None,
        tools=[get_balance, transfer],
        examples=[
            dict(prompt=ask(f"Send {amount:.2f} euros to {account}."), account=account, amount=str(amount))
            for account, amount in TRANSFERS
        ],
        good=[
            play(
                [get_balance, transfer],
                [[("get_balance", {})], [("transfer", {"account": account, "amount": amount})]],
                f"I sent {amount:.2f} euros to {account}.",
            )
            for account, amount in TRANSFERS
        ],
        bad=[
            [
                play([transfer], [[("transfer", {"account": "XX-999", "amount": amount})]], "Sent."),
                play([transfer], [[("transfer", {"account": account, "amount": amount + 100})]], "Sent."),
                play([transfer], [[("transfer", {"account": account, "amount": amount})]] * 2, "Sent."),
            ]
            for account, amount in TRANSFERS
        ],
        docs="The transfer that the user asked for is made, once and exactly.",
        fault="all() over no transfers is true, so an episode that does nothing earns the full score.",
        exploit=transfer_exploit,
    )
)


# --- 6. devices ------------------------------------------------------------------------------------------------------

DEVICES = ("lamp", "heater", "blinds", "fan", "radio", "oven")


def set_device(device: str, state: str) -> str:
    """
    Set a device of the home.

    Args:
        device: The name of the device.
        state: The new state, for example on or off.

    Returns:
        A confirmation.
    """
    if device not in DEVICES:
        raise ValueError(f"unknown device {device!r}")
    return f"{device} is {state}"


def set_alarm(time: str) -> str:
    """
    Set the alarm clock.

    Args:
        time: The time as HH:MM.

    Returns:
        A confirmation.
    """
    if not re.fullmatch(r"[0-2]\d:[0-5]\d", time):
        raise ValueError("the time must be HH:MM")
    return f"alarm at {time}"


@rk.reward
def home_calls(trajectory: rk.Trajectory, expected: list[dict]) -> float:
    """Score the share of calls that are right. Each expected call counts once; failed calls are wrong."""
    if not trajectory.calls or not trajectory.finished:
        return 0.0
    left = list(expected)
    hits = 0
    for call in trajectory.calls:
        match = next((one for one in left if call.ok and call.name == one["name"] and call.arguments == one["args"]), None)
        if match is not None:
            left.remove(match)
            hits += 1
    return hits / len(trajectory.calls)


def device(name, state):
    return ("set_device", {"device": name, "state": state})


def alarm(time):
    return ("set_alarm", {"time": time})


EVENINGS = [
    ("Good night: lamp off, blinds closed, and wake me at 07:00.",
     [device("lamp", "off"), device("blinds", "closed"), alarm("07:00")]),
    ("It is cold and dark: heater on, lamp on.", [device("heater", "on"), device("lamp", "on")]),
    ("Party: radio on, fan on, oven on.", [device("radio", "on"), device("fan", "on"), device("oven", "on")]),
]


def home_exploit():
    return play([set_device, set_alarm], [[device("lamp", "off")]], "Done, good night.")


FAULTY.append(
    dict(
        name="home_calls",
        reward=home_calls,
        environment=None,
        tools=[set_device, set_alarm],
        examples=[
            dict(prompt=ask(text), expected=json.dumps([{"name": name, "args": args} for name, args in calls]))
            for text, calls in EVENINGS
        ],
        good=[play([set_device, set_alarm], [calls], "Everything is set.") for _, calls in EVENINGS],
        bad=[
            [
                play([], [], "Everything is set."),
                play([set_device, set_alarm], [[device("tv", "on")]], "Done."),
                play([set_device, set_alarm], [[*calls, device("oven", "off"), alarm("03:00")]], "Done."),
            ]
            for _, calls in EVENINGS
        ],
        docs="All calls that the user's wish needs are made, and no others.",
        fault="Divides by the calls that were made instead of those that are needed: one right call earns everything.",
        exploit=home_exploit,
    )
)


# --- 7. refunds ------------------------------------------------------------------------------------------------------

PINS = {"c-11": "4821", "c-12": "0937", "c-13": "5550"}


def verify_identity(customer: str, pin: str) -> str:
    """
    Verify the identity of a customer.

    Args:
        customer: The id of the customer.
        pin: The PIN that the customer gave.

    Returns:
        A confirmation.
    """
    if PINS.get(customer) != pin:
        raise ValueError("the PIN is wrong")
    return "identity verified"


def issue_refund(customer: str, order: str, amount: float) -> str:
    """
    Refund an order.

    Args:
        customer: The id of the customer.
        order: The id of the order.
        amount: The amount in euros.

    Returns:
        A confirmation.
    """
    if amount <= 0:
        raise ValueError("the amount must be above 0")
    return f"refunded {amount:.2f} for {order}"


@rk.reward
def refund_by_policy(trajectory: rk.Trajectory, customer: str, pin: str, order: str, amount: float) -> float:
    """Score 1.0 for a refund by the rules: identity verified, then one refund of the right amount."""
    checks = [call for call in trajectory.calls if call.name == "verify_identity"]
    refunds = [call for call in trajectory.calls if call.name == "issue_refund"]
    verified = len(checks) == 1 and checks[0].ok and checks[0].has(customer=customer, pin=pin)
    refunded = len(refunds) == 1 and refunds[0].ok and refunds[0].has(customer=customer, order=order, amount=amount)
    return float(bool(verified and refunded and trajectory.finished))


RULES = "You work for a shop. Always verify the identity of a customer before you refund anything. Refund an order once."
REFUNDS = [("c-11", "A-100", 30.0), ("c-12", "A-205", 14.5), ("c-13", "A-333", 99.0)]


def refund_calls(customer, order, amount):
    return (
        ("verify_identity", {"customer": customer, "pin": PINS[customer]}),
        ("issue_refund", {"customer": customer, "order": order, "amount": amount}),
    )


def refund_exploit():
    check, refund = refund_calls(*REFUNDS[0])
    return play([verify_identity, issue_refund], [[refund], [check]], "Your refund is on its way.")


FAULTY.append(
    dict(
        name="refund_by_policy",
        reward=refund_by_policy,
        environment=None,
        tools=[verify_identity, issue_refund],
        examples=[
            dict(
                prompt=ask(f"I am {c}, PIN {PINS[c]}. Please refund order {o}: {a:.2f} euros.", RULES),
                customer=c,
                pin=PINS[c],
                order=o,
                amount=str(a),
            )
            for c, o, a in REFUNDS
        ],
        good=[
            play([verify_identity, issue_refund], [[one] for one in refund_calls(*row)], "Your refund is on its way.")
            for row in REFUNDS
        ],
        bad=[
            [
                play([], [], "Your refund is on its way."),
                play([issue_refund], [[refund_calls(*row)[1]]], "Your refund is on its way."),
                play([verify_identity], [[refund_calls(*row)[0]]], "You are verified."),
                play(
                    [verify_identity, issue_refund],
                    [[("verify_identity", {"customer": row[0], "pin": "0000"})], [refund_calls(*row)[1]]],
                    "Your refund is on its way.",
                ),
            ]
            for row in REFUNDS
        ],
        docs="The identity is verified first, and then the right amount is refunded once.",
        fault="Checks that both calls were made, but not that the identity was verified before the refund.",
        exploit=refund_exploit,
    )
)


# --- 8. flights ------------------------------------------------------------------------------------------------------


def hold_seat(flight: str) -> str:
    """
    Hold a seat for ten minutes.

    Args:
        flight: The number of the flight.

    Returns:
        The code of the hold, which a booking needs.
    """
    return f"H{sum(map(ord, flight)) * 37 % 9973}"


def book_flight(flight: str, passenger: str, hold: str) -> str:
    """
    Book a seat that is held.

    Args:
        flight: The number of the flight.
        passenger: The name of the passenger.
        hold: The code of the hold.

    Returns:
        The ticket.
    """
    if hold != hold_seat(flight):
        raise ValueError("no seat is held under this code")
    return f"ticket for {passenger} on {flight}"


@rk.reward
def flight_booked(trajectory: rk.Trajectory, flight: str, passenger: str) -> float:
    """Score 1.0 if the passenger is booked on the flight, with no other booking and an answer at the end."""
    bookings = [call for call in trajectory.calls if call.name == "book_flight"]
    right = [call for call in bookings if call.has(flight=flight, passenger=passenger)]
    return float(len(bookings) == len(right) == 1 and trajectory.finished)


FLIGHTS = [("KX 12", "Ana Ruiz"), ("KX 77", "Tom Berg"), ("LF 301", "Mei Lin")]


def flight_exploit():
    return play(
        [hold_seat, book_flight],
        [[("book_flight", {"flight": "KX 12", "passenger": "Ana Ruiz", "hold": "none"})]],
        "Ana Ruiz is booked on KX 12.",
    )


FAULTY.append(
    dict(
        name="flight_booked",
        reward=flight_booked,
        environment=None,
        tools=[hold_seat, book_flight],
        examples=[
            dict(prompt=ask(f"Book {passenger} on flight {flight}."), flight=flight, passenger=passenger)
            for flight, passenger in FLIGHTS
        ],
        good=[
            play(
                [hold_seat, book_flight],
                [
                    [("hold_seat", {"flight": flight})],
                    [("book_flight", {"flight": flight, "passenger": passenger, "hold": hold_seat(flight)})],
                ],
                f"{passenger} is booked on {flight}.",
            )
            for flight, passenger in FLIGHTS
        ],
        bad=[
            [
                play([], [], f"{passenger} is booked on {flight}."),
                play([hold_seat], [[("hold_seat", {"flight": flight})]], "A seat is held."),
                play(
                    [hold_seat, book_flight],
                    [
                        [("hold_seat", {"flight": flight})],
                        [("book_flight", {"flight": flight, "passenger": "Max Wrong", "hold": hold_seat(flight)})],
                    ],
                    "Booked.",
                ),
            ]
            for flight, passenger in FLIGHTS
        ],
        docs="The passenger has a seat on the flight, from one successful booking.",
        fault="Ignores the result: a booking that the tool refused counts like one that went through.",
        exploit=flight_exploit,
    )
)


# --- 9. a warehouse --------------------------------------------------------------------------------------------------


class Warehouse:
    """Bring parcels to their shelves."""

    def reset(self, **row) -> None:
        self.wanted = json.loads(row["wanted"])
        self.where = {parcel: "dock" for parcel in self.wanted}
        self.carried = None
        self.deliveries = 0

    def look(self) -> str:
        """
        See where all parcels are.

        Returns:
            The place of each parcel.
        """
        return json.dumps(self.where)

    def pick_up(self, parcel: str) -> str:
        """
        Pick up a parcel.

        Args:
            parcel: The name of the parcel.

        Returns:
            A confirmation.
        """
        if self.carried is not None:
            raise ValueError(f"you already carry {self.carried}")
        if parcel not in self.where:
            raise ValueError(f"no parcel {parcel!r}")
        self.carried = parcel
        self.where[parcel] = "robot"
        return f"you carry {parcel}"

    def put_down(self, shelf: str) -> str:
        """
        Put down the parcel that you carry.

        Args:
            shelf: The name of the shelf.

        Returns:
            A confirmation.
        """
        if self.carried is None:
            raise ValueError("you carry nothing")
        parcel, self.carried = self.carried, None
        self.where[parcel] = shelf
        if self.wanted[parcel] == shelf:
            self.deliveries += 1
        return f"{parcel} is on {shelf}"


def delivered(environment: Warehouse) -> float:
    """Score the share of parcels that were delivered to their shelf."""
    return min(1.0, environment.deliveries / len(environment.wanted))


PARCELS = [
    {"red": "A1", "blue": "B2", "green": "C3"},
    {"lamp": "north", "chair": "south"},
    {"p1": "s4", "p2": "s1", "p3": "s9", "p4": "s2"},
]


def carry(parcel, shelf):
    return [("pick_up", {"parcel": parcel}), ("put_down", {"shelf": shelf})]


def warehouse_exploit():
    return dict(calls=carry("red", "A1") * 3, answer="Three deliveries are done.")


FAULTY.append(
    dict(
        name="delivered",
        reward=delivered,
        environment=Warehouse,
        tools=[],
        examples=[
            dict(
                prompt=ask("Bring each parcel to its shelf: " + ", ".join(f"{p} to {s}" for p, s in wanted.items()) + "."),
                wanted=json.dumps(wanted),
            )
            for wanted in PARCELS
        ],
        good=[
            dict(
                calls=[("look", {}), *(call for p, s in wanted.items() for call in carry(p, s))],
                answer="All parcels are on their shelves.",
            )
            for wanted in PARCELS
        ],
        bad=[
            [
                dict(calls=[], answer="All parcels are on their shelves."),
                dict(calls=carry(*next(iter(wanted.items()))), answer="One is done."),
                dict(calls=[call for p in wanted for call in carry(p, "dock")], answer="Done."),
            ]
            for wanted in PARCELS
        ],
        docs="All parcels are on their shelves at the end.",
        fault="Counts the events of putting down, so picking one parcel up and putting it down again earns everything.",
        exploit=warehouse_exploit,
    )
)


# --- 10. a calendar --------------------------------------------------------------------------------------------------


class Calendar:
    """A calendar with events."""

    def reset(self, **row) -> None:
        self.events = json.loads(row["events"])

    def list_events(self) -> str:
        """
        List all events.

        Returns:
            The events with their ids.
        """
        return json.dumps(self.events)

    def cancel_event(self, event: str) -> str:
        """
        Cancel an event and tell all its guests.

        Args:
            event: The id of the event.

        Returns:
            A confirmation.
        """
        if event not in self.events:
            raise ValueError(f"no event {event!r}")
        del self.events[event]
        return f"{event} is canceled"

    def move_event(self, event: str, day: str) -> str:
        """
        Move an event to another day.

        Args:
            event: The id of the event.
            day: The new day.

        Returns:
            A confirmation.
        """
        if event not in self.events:
            raise ValueError(f"no event {event!r}")
        self.events[event]["day"] = day
        return f"{event} is on {day}"


def calendar_done(environment, cancel: str, move: str, day: str) -> float:
    """Score 1.0 if the one event is canceled and the other one is on its new day."""
    canceled = cancel not in environment.events
    moved = environment.events.get(move, {}).get("day") == day
    return float(canceled and moved)


WEEK = {
    "e1": {"title": "Dentist", "day": "Monday"},
    "e2": {"title": "Review with Kim", "day": "Tuesday"},
    "e3": {"title": "Lunch with Lee", "day": "Wednesday"},
    "e4": {"title": "Board meeting", "day": "Friday"},
}
CHANGES = [("e2", "e3", "Thursday"), ("e1", "e4", "Monday"), ("e3", "e1", "Friday")]


def calendar_exploit():
    calls = [("cancel_event", {"event": event}) for event in ("e1", "e2", "e4")]
    return dict(calls=[*calls, ("move_event", {"event": "e3", "day": "Thursday"})], answer="Your calendar is updated.")


FAULTY.append(
    dict(
        name="calendar_done",
        reward=calendar_done,
        environment=Calendar,
        tools=[],
        examples=[
            dict(
                prompt=ask(f"Cancel '{WEEK[c]['title']}' and move '{WEEK[m]['title']}' to {day}. Keep everything else."),
                events=json.dumps(WEEK),
                cancel=c,
                move=m,
                day=day,
            )
            for c, m, day in CHANGES
        ],
        good=[
            dict(
                calls=[("list_events", {}), ("cancel_event", {"event": c}), ("move_event", {"event": m, "day": day})],
                answer="Done: one event is canceled, the other one moved.",
            )
            for c, m, day in CHANGES
        ],
        bad=[
            [
                dict(calls=[], answer="Done."),
                dict(calls=[("cancel_event", {"event": c})], answer="Done."),
                dict(
                    calls=[("cancel_event", {"event": m}), ("move_event", {"event": c, "day": day})],
                    answer="Done.",
                ),
            ]
            for c, m, day in CHANGES
        ],
        docs="The two changes are made, and the rest of the calendar is as it was.",
        fault="Looks only at the two events of the task: canceling all others costs nothing.",
        exploit=calendar_exploit,
    )
)


# =====================================================================================================================
# SOUND
# =====================================================================================================================

# --- 1. studio calls -------------------------------------------------------------------------------------------------


def set_light(room: str, brightness: int) -> str:
    """
    Set the light of a room.

    Args:
        room: The name of the room.
        brightness: From 0 to 100.

    Returns:
        A confirmation.
    """
    if not 0 <= brightness <= 100:
        raise ValueError("brightness goes from 0 to 100")
    return f"light in {room}: {brightness}"


def play_music(room: str, genre: str) -> str:
    """
    Play music in a room.

    Args:
        room: The name of the room.
        genre: The genre of the music.

    Returns:
        A confirmation.
    """
    return f"{genre} in {room}"


@rk.reward
def studio_calls(trajectory: rk.Trajectory, wanted: list[dict]) -> float:
    """F1 between the calls that were made and the wanted ones. A wanted call counts once, and only if it worked."""
    if not trajectory.finished:
        return 0.0
    left = list(wanted)
    for call in trajectory.calls:
        for one in left:
            if call.ok and call.name == one["name"] and call.arguments == one["args"]:
                left.remove(one)
                break
    hits = len(wanted) - len(left)
    return 2 * hits / (len(trajectory.calls) + len(wanted))


def light(room, brightness):
    return ("set_light", {"room": room, "brightness": brightness})


def music(room, genre):
    return ("play_music", {"room": room, "genre": genre})


STUDIO = [set_light, play_music]
STUDIOS = [
    ("Dim the lounge to 20 and play jazz there, and full light in the hall.",
     [light("lounge", 20), music("lounge", "jazz"), light("hall", 100)]),
    ("Lights out in the attic.", [light("attic", 0)]),
    ("Rock in the garage and folk in the kitchen.", [music("garage", "rock"), music("kitchen", "folk")]),
]

SOUND.append(
    dict(
        name="studio_calls",
        reward=studio_calls,
        environment=None,
        tools=STUDIO,
        examples=[
            dict(prompt=ask(text), wanted=json.dumps([{"name": name, "args": args} for name, args in calls]))
            for text, calls in STUDIOS
        ],
        good=[play(STUDIO, [calls], "All set.") for _, calls in STUDIOS],
        bad=[
            [
                play(STUDIO, [], "All set."),
                play(STUDIO, [[light("cellar", 50)]], "All set."),
                play(STUDIO, [[*calls, *calls]], "All set."),
            ]
            for _, calls in STUDIOS
        ],
        worse=[
            play(STUDIO, [[light("lounge", 20)]], "All set."),
            play(STUDIO, [[light("lounge", 20)] * 3], "All set."),
            play(STUDIO, [[light("lounge", 20), music("lounge", "jazz"), light("hall", 400)]], "All set."),
            play(STUDIO, [[*STUDIOS[0][1], light("lounge", 90)]], "All set."),
            play(STUDIO, [[light(room, n) for room in ("lounge", "hall") for n in (0, 20, 50, 100)]], "All set."),
        ],
        docs="All calls that the wish needs are made with the right arguments, and no others.",
    )
)


# --- 2. a shop's orders ----------------------------------------------------------------------------------------------


class Orders:
    """The orders of a shop."""

    def reset(self, **row) -> None:
        self.orders = json.loads(row["orders"])

    def get_order(self, order: str) -> str:
        """
        Look up an order.

        Args:
            order: The id of the order.

        Returns:
            The order.
        """
        return json.dumps(self._order(order))

    def cancel_order(self, order: str) -> str:
        """
        Cancel an order that has not been shipped.

        Args:
            order: The id of the order.

        Returns:
            A confirmation.
        """
        held = self._order(order)
        if held["status"] != "pending":
            raise ValueError(f"{order} is {held['status']}")
        held["status"] = "canceled"
        return f"{order} is canceled"

    def change_address(self, order: str, address: str) -> str:
        """
        Change the address of an order that has not been shipped.

        Args:
            order: The id of the order.
            address: The new address.

        Returns:
            A confirmation.
        """
        held = self._order(order)
        if held["status"] != "pending":
            raise ValueError(f"{order} is {held['status']}")
        held["address"] = address
        return f"{order} goes to {address}"

    def _order(self, order: str) -> dict:
        if order not in self.orders:
            raise ValueError(f"no order {order!r}")
        return self.orders[order]


def orders_as_wanted(environment: Orders, wanted: dict[str, dict]) -> float:
    """Score 1.0 if all orders of the shop are as they should be after the conversation."""
    return float(environment.orders == wanted)


def shop(**changes):
    orders = {
        "W1": {"status": "pending", "address": "Elm 4"},
        "W2": {"status": "pending", "address": "Elm 4"},
        "W3": {"status": "shipped", "address": "Oak 9"},
    }
    for order, change in changes.items():
        orders[order] |= change
    return orders


def cancel(order):
    return ("cancel_order", {"order": order})


def address(order, place):
    return ("change_address", {"order": order, "address": place})


SHOPS = [
    ("Cancel W2, and send W1 to Birch 7.", [cancel("W2"), address("W1", "Birch 7")],
     shop(W2={"status": "canceled"}, W1={"address": "Birch 7"})),
    ("Cancel all my orders that you still can: W1, W2, W3.", [cancel("W1"), cancel("W2"), cancel("W3")],
     shop(W1={"status": "canceled"}, W2={"status": "canceled"})),
    ("Please send W2 to Pine 1.", [address("W2", "Pine 1")], shop(W2={"address": "Pine 1"})),
]

SOUND.append(
    dict(
        name="orders_as_wanted",
        reward=orders_as_wanted,
        environment=Orders,
        tools=[],
        examples=[
            dict(prompt=ask(text), orders=json.dumps(shop()), wanted=json.dumps(wanted)) for text, _, wanted in SHOPS
        ],
        good=[
            dict(calls=[("get_order", {"order": calls[0][1]["order"]}), *calls], answer="Your orders are updated.")
            for _, calls, _ in SHOPS
        ],
        bad=[
            [
                dict(calls=[], answer="Your orders are updated."),
                dict(calls=[("get_order", {"order": "W1"})], answer="Your orders are updated."),
                dict(calls=[address("W1", "Nowhere"), address("W2", "Nowhere")], answer="Your orders are updated."),
            ]
            for _ in SHOPS
        ],
        worse=[
            dict(calls=[cancel("W2")], answer="Your orders are updated."),
            dict(calls=[cancel("W2"), cancel("W1")], answer="Your orders are updated."),
            dict(calls=[cancel("W2"), address("W1", "Birch 71")], answer="Your orders are updated."),
            dict(calls=[cancel("W1"), address("W2", "Birch 7")], answer="Your orders are updated."),
            dict(calls=[cancel("W2"), address("W1", "Birch 7"), cancel("W1")], answer="Your orders are updated."),
        ],
        docs="The shop's orders are exactly as the user wanted them, and nothing else has changed.",
    )
)


# --- 3. grounded answers ---------------------------------------------------------------------------------------------

HANDBOOK = {
    "warranty": "The warranty of all devices is 30 months.",
    "returns": "Goods can be returned within 45 days.",
    "courier": "Parcels are brought by Swiftwing.",
    "office": "The office opens at nine.",
}


def read_handbook(topic: str) -> str:
    """
    Read a page of the handbook.

    Args:
        topic: The topic of the page.

    Returns:
        The page.
    """
    if topic not in HANDBOOK:
        raise ValueError(f"no page {topic!r}; pages: {', '.join(HANDBOOK)}")
    return HANDBOOK[topic]


@rk.reward
def grounded_answer(trajectory: rk.Trajectory, answer: str) -> float:
    """Score 1.0 for the right answer in <answer> tags, if a page that the agent read says so."""
    said = re.findall(r"<answer>(.*?)</answer>", trajectory.answer, re.DOTALL)
    if len(said) != 1 or said[0].strip().casefold() != answer.casefold():
        return 0.0
    pattern = rf"(?<!\w){re.escape(answer)}(?!\w)"
    pages = [call.result.text for call in trajectory.calls if call.name == "read_handbook" and call.ok]
    return float(any(re.search(pattern, page, re.IGNORECASE) for page in pages))


QUESTIONS = [
    ("How long is the warranty?", "warranty", "30 months"),
    ("How long can I return goods?", "returns", "45 days"),
    ("Who brings the parcels?", "courier", "Swiftwing"),
]


def page(topic):
    return [("read_handbook", {"topic": topic})]


BOOK = [read_handbook]

SOUND.append(
    dict(
        name="grounded_answer",
        reward=grounded_answer,
        environment=None,
        tools=BOOK,
        examples=[
            dict(prompt=ask(f"{q} Look it up in the handbook, and answer in <answer> tags."), answer=a)
            for q, _, a in QUESTIONS
        ],
        good=[play(BOOK, [page(topic)], f"The handbook says: <answer>{a}</answer>") for _, topic, a in QUESTIONS],
        bad=[
            [
                play(BOOK, [], "<answer>I do not know</answer>"),
                play(BOOK, [page(topic)], "<answer>no idea</answer>"),
                play(BOOK, [page(topic)], None),
            ]
            for _, topic, _ in QUESTIONS
        ],
        worse=[
            play(BOOK, [], "<answer>30 months</answer>"),
            play(BOOK, [page("office")], "<answer>30 months</answer>"),
            play(BOOK, [page("warranty")], "<answer>30 months</answer> or <answer>12 months</answer>"),
            play(BOOK, [page("warranty")], "It is in the handbook. <answer></answer>"),
            play(BOOK, [page("guarantee")], "<answer>30 months</answer>"),
            play(BOOK, [page("warranty")], "<answer>not 30 months</answer>"),
        ],
        docs="The right answer to the question, taken from a page that the agent has read.",
    )
)


# --- 4. calculations -------------------------------------------------------------------------------------------------

OPERATIONS = {"add": operator.add, "subtract": operator.sub, "multiply": operator.mul, "divide": operator.truediv}


def calculate(operation: str, a: float, b: float) -> str:
    """
    Calculate with two numbers.

    Args:
        operation: One of add, subtract, multiply, divide.
        a: The first number.
        b: The second number.

    Returns:
        The result.
    """
    if operation not in OPERATIONS:
        raise ValueError(f"unknown operation {operation!r}")
    return f"{OPERATIONS[operation](a, b):g}"


@rk.reward
def solved_cleanly(trajectory: rk.Trajectory, result: float) -> float:
    """Score the right result, given as ``Answer: 42`` in the last line. Each failed call costs 0.2, up to 0.8."""
    if trajectory.answer.lower().count("answer:") != 1:
        return 0.0
    match = re.fullmatch(r"Answer: (-?\d{1,12}(?:\.\d{1,6})?)", trajectory.answer.strip().splitlines()[-1].strip())
    if match is None or not math.isclose(float(match[1]), result, abs_tol=1e-6):
        return 0.0
    return 1.0 - 0.2 * min(trajectory.errors, 4)


SUMS = [
    ("What is 37 times 48, minus 100?", [("multiply", 37, 48), ("subtract", 1776, 100)], 1676),
    ("What is 910 divided by 28?", [("divide", 910, 28)], 32.5),
    ("What is 19 times 19, plus 7?", [("multiply", 19, 19), ("add", 361, 7)], 368),
]


def step(operation, a, b):
    return [("calculate", {"operation": operation, "a": a, "b": b})]


CALC = [calculate]

SOUND.append(
    dict(
        name="solved_cleanly",
        reward=solved_cleanly,
        environment=None,
        tools=CALC,
        examples=[
            dict(prompt=ask(f"{q} End with a line like 'Answer: 42'."), result=str(result)) for q, _, result in SUMS
        ],
        good=[play(CALC, [step(*one) for one in steps], f"Done.\nAnswer: {result}") for _, steps, result in SUMS],
        bad=[
            [
                play(CALC, [], "Answer: 12"),
                play(CALC, [step(*one) for one in steps], None),
                play(CALC, [step("power", 2, 3)] * 2, f"Answer: {result}"),
            ]
            for _, steps, result in SUMS
        ],
        worse=[
            play(CALC, [step("power", 37, 48)], "Answer: 1676"),
            play(CALC, [step("power", 37, 48), step("divide", 1, 0)], "Answer: 1676"),
            play(CALC, [step("multiply", 37, 48)], "Answer: 1776"),
            play(CALC, [step("multiply", 37, 48)], "Answer: 1776\nAnswer: 1676"),
            play(CALC, [step("multiply", 37, 48), step("subtract", 1776, 100)], "The tool shows it."),
        ],
        docs="A right result, with as few failed calls as possible.",
    )
)


# --- 5. prices -------------------------------------------------------------------------------------------------------

PRICES = {"ALF": 12.5, "BRK": 40.0, "CND": 7.25, "DYN": 99.0}


def get_price(ticker: str) -> str:
    """
    Get the price of a share.

    Args:
        ticker: The ticker of the share.

    Returns:
        The price in euros.
    """
    if ticker not in PRICES:
        raise ValueError(f"unknown ticker {ticker!r}")
    return f"{PRICES[ticker]:.2f}"


@rk.reward
def frugal_lookup(trajectory: rk.Trajectory, tickers: list[str], total: float) -> float:
    """Score the right total of prices that were all looked up. Calls beyond those that are needed lower the score."""
    found = re.fullmatch(r"total = (\d{1,9}(?:\.\d{1,4})?)", trajectory.answer.strip())
    if found is None or not math.isclose(float(found[1]), total, abs_tol=0.005):
        return 0.0
    looked_up = {
        ticker
        for ticker in tickers
        if any(call.name == "get_price" and call.has(ticker=ticker) and call.ok for call in trajectory.calls)
    }
    if looked_up != set(tickers):
        return 0.0
    return len(looked_up) / len(trajectory.calls)


BASKETS = [["ALF", "BRK"], ["CND"], ["ALF", "CND", "DYN"]]


def price(ticker):
    return ("get_price", {"ticker": ticker})


def total_of(basket):
    return f"{sum(PRICES[ticker] for ticker in basket):.2f}"


MARKET = [get_price]

SOUND.append(
    dict(
        name="frugal_lookup",
        reward=frugal_lookup,
        environment=None,
        tools=MARKET,
        examples=[
            dict(
                prompt=ask(f"What do one share each of {', '.join(basket)} cost? Reply with 'total = 1.00'."),
                tickers=json.dumps(basket),
                total=total_of(basket),
            )
            for basket in BASKETS
        ],
        good=[play(MARKET, [[price(t)] for t in basket], f"total = {total_of(basket)}") for basket in BASKETS],
        bad=[
            [
                play(MARKET, [], f"total = {total_of(basket)}"),
                play(MARKET, [[price(t)] for t in basket], "total = 1.00"),
                play(MARKET, [[price(t)] for t in basket] * 3, f"total = {total_of(basket)}"),
            ]
            for basket in BASKETS
        ],
        worse=[
            play(MARKET, [[price("ALF")]], "total = 52.50"),
            play(MARKET, [[price("ALF")], [price("BRK")], [price("DYN")]], "total = 52.50"),
            play(MARKET, [[price("ALF")], [price("ALF")], [price("BRK")]], "total = 52.50"),
            play(MARKET, [[price("ALF"), price("BRK")]], "total = 12.50"),
            play(MARKET, [[price("XYZ")], [price("ALF"), price("BRK")]], "total = 52.50"),
            play(MARKET, [[price("ALF"), price("BRK")]], "total = 52.50 or total = 12.50"),
        ],
        docs="The right total, looked up with as few calls as needed.",
    )
)


# --- 6. folders ------------------------------------------------------------------------------------------------------


class Folders:
    """Files in folders."""

    def reset(self, **row) -> None:
        self.start = json.loads(row["start"])
        self.folders = dict(self.start)

    def list_files(self) -> str:
        """
        List all files with their folders.

        Returns:
            The folder of each file.
        """
        return json.dumps(self.folders)

    def move_file(self, file: str, folder: str) -> str:
        """
        Move a file to a folder.

        Args:
            file: The name of the file.
            folder: The name of the folder.

        Returns:
            A confirmation.
        """
        if file not in self.folders:
            raise ValueError(f"no file {file!r}")
        self.folders[file] = folder
        return f"{file} is in {folder}"

    def delete_file(self, file: str) -> str:
        """
        Delete a file.

        Args:
            file: The name of the file.

        Returns:
            A confirmation.
        """
        if file not in self.folders:
            raise ValueError(f"no file {file!r}")
        del self.folders[file]
        return f"{file} is deleted"


def tidied(environment, goal: dict[str, str]) -> float:
    """Score how much of the way to the goal is done at the end: 0.0 as at the start (or worse), 1.0 at the goal."""

    def wrong(folders):
        return sum(folders.get(file) != goal.get(file) for file in {*folders, *goal})

    return max(0.0, 1.0 - wrong(environment.folders) / wrong(environment.start))


def move(file, folder):
    return ("move_file", {"file": file, "folder": folder})


MESS = {"a.jpg": "desktop", "b.jpg": "desktop", "tax.pdf": "desktop", "old.tmp": "desktop", "cv.pdf": "papers"}
TIDY = [
    ("Photos to 'photos', tax.pdf to 'papers', and delete old.tmp.",
     [move("a.jpg", "photos"), move("b.jpg", "photos"), move("tax.pdf", "papers"), ("delete_file", {"file": "old.tmp"})]),
    ("Delete old.tmp.", [("delete_file", {"file": "old.tmp"})]),
    ("Move all PDF files to 'tax'.", [move("tax.pdf", "tax"), move("cv.pdf", "tax")]),
]


def folders_after(calls):
    folders = Folders()
    folders.reset(start=json.dumps(MESS))
    for name, given in calls:
        getattr(folders, name)(**given)
    return folders.folders


SOUND.append(
    dict(
        name="tidied",
        reward=tidied,
        environment=Folders,
        tools=[],
        examples=[
            dict(prompt=ask(text), start=json.dumps(MESS), goal=json.dumps(folders_after(calls))) for text, calls in TIDY
        ],
        good=[dict(calls=[("list_files", {}), *calls], answer="Your files are tidy.") for _, calls in TIDY],
        bad=[
            [
                dict(calls=[], answer="Your files are tidy."),
                dict(calls=[("list_files", {})], answer="Your files are tidy."),
                dict(calls=[("delete_file", {"file": "cv.pdf"})], answer="Your files are tidy."),
            ]
            for _ in TIDY
        ],
        worse=[
            dict(calls=TIDY[0][1][:3], answer="Done."),
            dict(calls=[move("a.jpg", "photos"), move("a.jpg", "desktop")] * 4, answer="Done."),
            dict(calls=[*TIDY[0][1], ("delete_file", {"file": "cv.pdf"})], answer="Done."),
            dict(calls=[("delete_file", {"file": file}) for file in MESS], answer="Done."),
            dict(calls=[move(file, "photos") for file in MESS], answer="Done."),
        ],
        docs="The files are where the user wants them; partly done earns its share, and damage is subtracted.",
    )
)


# --- 7. claims -------------------------------------------------------------------------------------------------------

POLICIES = {"P-1": "Ada", "P-2": "Ben", "P-3": "Cleo"}


def find_policy(number: str) -> str:
    """
    Look up an insurance policy.

    Args:
        number: The number of the policy.

    Returns:
        The name of its owner.
    """
    if number not in POLICIES:
        raise ValueError(f"no policy {number!r}")
    return POLICIES[number]


def confirm_owner(number: str, name: str) -> str:
    """
    Confirm that the caller owns the policy.

    Args:
        number: The number of the policy.
        name: The name of the caller.

    Returns:
        A confirmation.
    """
    if POLICIES.get(number) != name:
        raise ValueError("the name does not fit the policy")
    return "confirmed"


def open_claim(number: str, kind: str) -> str:
    """
    Open a claim.

    Args:
        number: The number of the policy.
        kind: The kind of damage.

    Returns:
        The number of the claim.
    """
    return f"claim {number}-{kind}"


def send_expert(number: str, day: str) -> str:
    """
    Send an expert to look at the damage.

    Args:
        number: The number of the policy.
        day: The day of the visit.

    Returns:
        A confirmation.
    """
    return f"an expert comes on {day}"


@rk.reward
def claim_in_order(trajectory: rk.Trajectory, steps: list[dict]) -> float:
    """Score the share of the steps that were done, in their order.

    Looking things up is free. Any other step, a step out of order and a failed one make the score 0.0.
    """
    done = [call for call in trajectory.calls if call.name != "find_policy"]
    if not trajectory.finished or len(done) > len(steps):
        return 0.0
    for call, wanted in zip(done, steps):
        if not call.ok or call.name != wanted["name"] or call.arguments != wanted["args"]:
            return 0.0
    return len(done) / len(steps)


def claim(number, kind, day):
    return [
        ("confirm_owner", {"number": number, "name": POLICIES[number]}),
        ("open_claim", {"number": number, "kind": kind}),
        ("send_expert", {"number": number, "day": day}),
    ]


CLAIMS = [("P-1", "water", "Tuesday"), ("P-2", "fire", "Monday"), ("P-3", "glass", "Friday")]
INSURER = [find_policy, confirm_owner, open_claim, send_expert]
ORDER = "First confirm that the caller owns the policy, then open the claim, then send an expert. Do nothing else."


def claimed(*turns, answer="The claim is open, and an expert will come."):
    return play(INSURER, [[turn] for turn in turns], answer)


WATER = claim(*CLAIMS[0])

SOUND.append(
    dict(
        name="claim_in_order",
        reward=claim_in_order,
        environment=None,
        tools=INSURER,
        examples=[
            dict(
                prompt=ask(f"This is {POLICIES[n]}, policy {n}: {kind} damage. I am at home on {day}.", ORDER),
                steps=json.dumps([{"name": name, "args": args} for name, args in claim(n, kind, day)]),
            )
            for n, kind, day in CLAIMS
        ],
        good=[claimed(("find_policy", {"number": row[0]}), *claim(*row)) for row in CLAIMS],
        bad=[
            [claimed(), claimed(*claim(*row)[1:]), claimed(*claim(*row), claim(*row)[1]), claimed(*claim(*row), answer=None)]
            for row in CLAIMS
        ],
        worse=[
            claimed(*WATER[:2]),
            claimed(WATER[1], WATER[0], WATER[2]),
            claimed(WATER[0], WATER[1], WATER[2], WATER[2]),
            claimed(("confirm_owner", {"number": "P-1", "name": "Eve"}), *WATER[1:]),
            claimed(WATER[0], ("open_claim", {"number": "P-1", "kind": "fire"}), WATER[2]),
            claimed(WATER[0], WATER[0], WATER[0]),
        ],
        docs="The steps of a claim are done in the demanded order, and nothing else.",
    )
)


# --- 8. a maze -------------------------------------------------------------------------------------------------------

DIRECTIONS = {"north": (-1, 0), "south": (1, 0), "west": (0, -1), "east": (0, 1)}


class Maze:
    """A maze: from S to G."""

    def reset(self, **row) -> None:
        self.grid = row["grid"].split("/")
        cells = {cell: (y, x) for y, line in enumerate(self.grid) for x, cell in enumerate(line)}
        self.position, self.goal = cells["S"], cells["G"]
        self.moves = 0

    def look(self) -> str:
        """
        Look at the maze.

        Returns:
            The map, and where you are.
        """
        return "\n".join(self.grid) + f"\nyou are at row {self.position[0]}, column {self.position[1]}"

    def move(self, direction: str) -> str:
        """
        Move by one cell. Every move counts, also one into a wall.

        Args:
            direction: north, south, west or east.

        Returns:
            What happened.
        """
        if self.position == self.goal or self.moves >= 40:
            raise ValueError("the game is over")
        if direction not in DIRECTIONS:
            raise ValueError(f"unknown direction {direction!r}")
        self.moves += 1
        y, x = (old + new for old, new in zip(self.position, DIRECTIONS[direction]))
        if not (0 <= y < len(self.grid) and 0 <= x < len(self.grid[0])) or self.grid[y][x] == "#":
            return "a wall"
        self.position = (y, x)
        return "you are at the goal" if self.position == self.goal else "moved"


def out_of_the_maze(environment: Maze, shortest: int) -> float:
    """Score 1.0 for the shortest way to the goal, less for detours, and 0.0 for not getting there."""
    if environment.position != environment.goal:
        return 0.0
    return shortest / environment.moves


MAZES = [("S.#/#../##G", "east south east south"), ("S#G/.#./...", "south south east east north north"),
         ("S..G", "east east east")]


def walk(way):
    return [("move", {"direction": direction}) for direction in way.split()]


SOUND.append(
    dict(
        name="out_of_the_maze",
        reward=out_of_the_maze,
        environment=Maze,
        tools=[],
        examples=[
            dict(prompt=ask("Find the way from S to G."), grid=grid, shortest=str(len(way.split()))) for grid, way in MAZES
        ],
        good=[dict(calls=[("look", {}), *walk(way)], answer="I am at the goal.") for _, way in MAZES],
        bad=[
            [
                dict(calls=[], answer="I am at the goal."),
                dict(calls=walk(way)[:-1], answer="I am at the goal."),
                dict(calls=[*walk("west west"), *walk(way)], answer="I am at the goal."),
            ]
            for _, way in MAZES
        ],
        worse=[
            dict(calls=walk("east west east south east south"), answer="I am at the goal."),
            dict(calls=walk("north " * 30 + MAZES[0][1]), answer="I am at the goal."),
            dict(calls=walk("east south"), answer="I am at the goal."),
            dict(calls=walk("north " * 41 + MAZES[0][1]), answer="I am at the goal."),
            dict(calls=[("look", {})] * 10, answer="I am at the goal."),
        ],
        docs="The agent gets to the goal, on a way as short as possible.",
    )
)


# --- 9. a spreadsheet ------------------------------------------------------------------------------------------------

SIGNS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}


class Sheet:
    """A spreadsheet: inputs that cannot be changed, and cells with formulas."""

    def reset(self, **row) -> None:
        self.inputs = json.loads(row["inputs"])
        self.formulas = {}

    def read_cell(self, cell: str) -> str:
        """
        Read a cell.

        Args:
            cell: The name of the cell.

        Returns:
            Its value.
        """
        return f"{self._value(cell, self.inputs):g}"

    def set_formula(self, cell: str, formula: str) -> str:
        """
        Write a formula into a cell.

        Args:
            cell: The name of the cell.
            formula: An expression of numbers and names of cells with + - * / and parentheses.

        Returns:
            The value of the cell.
        """
        if cell in self.inputs:
            raise ValueError(f"{cell} is an input and cannot be changed")
        if len(formula) > 200:
            raise ValueError("the formula is too long")
        self.formulas[cell] = formula
        return self.read_cell(cell)

    def _value(self, cell: str, inputs: dict, known: dict | None = None) -> float:
        if cell in inputs:
            return inputs[cell]
        known = {} if known is None else known
        if cell not in known:
            if cell not in self.formulas or len(known) > 50:
                raise ValueError(f"{cell} has no value")
            known[cell] = math.nan
            try:
                parsed = ast.parse(self.formulas[cell].lstrip("= "), mode="eval").body
                known[cell] = self._calculated(parsed, inputs, known)
            except (SyntaxError, ArithmeticError, RecursionError, MemoryError) as error:
                raise ValueError(f"{cell} has no value: {type(error).__name__}") from None
        return known[cell]

    def _calculated(self, node: ast.expr, inputs: dict, known: dict) -> float:
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            return float(node.value)
        if isinstance(node, ast.Name):
            return self._value(node.id, inputs, known)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -self._calculated(node.operand, inputs, known)
        if isinstance(node, ast.BinOp) and type(node.op) in SIGNS:
            left, right = (self._calculated(side, inputs, known) for side in (node.left, node.right))
            return SIGNS[type(node.op)](left, right)
        raise ValueError("only numbers, cells and + - * / are allowed")


def formula_holds(environment: Sheet, cell: str, cases: list[dict]) -> float:
    """Score 1.0 if the cell has the right value for the inputs of all cases, which the agent has not seen."""
    try:
        values = [environment._value(cell, case["inputs"]) for case in cases]
    except ValueError:
        return 0.0
    return float(all(math.isclose(value, case["value"], rel_tol=1e-9) for value, case in zip(values, cases)))


def cases(function, *given):
    return json.dumps([{"inputs": inputs, "value": function(**inputs)} for inputs in given])


SHEETS = [
    ("price A1 times amount A2, plus the shipping A3", "A1 * A2 + A3", {"A1": 5, "A2": 3, "A3": 4},
     cases(lambda A1, A2, A3: A1 * A2 + A3, {"A1": 2, "A2": 7, "A3": 1}, {"A1": 1.5, "A2": 10, "A3": 0})),
    ("the mean of A1 and A2", "(A1 + A2) / 2", {"A1": 4, "A2": 8},
     cases(lambda A1, A2: (A1 + A2) / 2, {"A1": -1, "A2": 6}, {"A1": 3, "A2": 3})),
    ("A1 less a discount of A2 percent", "A1 * (1 - A2 / 100)", {"A1": 80, "A2": 25},
     cases(lambda A1, A2: A1 * (1 - A2 / 100), {"A1": 50, "A2": 10}, {"A1": 9, "A2": 100 / 3})),
]


def formula(cell, text):
    return ("set_formula", {"cell": cell, "formula": text})


SOUND.append(
    dict(
        name="formula_holds",
        reward=formula_holds,
        environment=Sheet,
        tools=[],
        examples=[
            dict(prompt=ask(f"Write a formula into B1: {text}."), inputs=json.dumps(inputs), cell="B1", cases=hidden)
            for text, _, inputs, hidden in SHEETS
        ],
        good=[
            dict(calls=[("read_cell", {"cell": "A1"}), formula("B1", text)], answer="B1 has its formula.")
            for _, text, _, _ in SHEETS
        ],
        bad=[
            [
                dict(calls=[], answer="B1 has its formula."),
                dict(calls=[formula("B1", "7")], answer="B1 has its formula."),
                dict(calls=[formula("B1", "A1 +")], answer="B1 has its formula."),
            ]
            for _ in SHEETS
        ],
        worse=[
            dict(calls=[formula("B1", "19")], answer="B1 has its formula."),
            dict(calls=[formula("B1", "15 + A3")], answer="B1 has its formula."),
            dict(calls=[formula("B2", "A1 * A2 + A3")], answer="B1 has its formula."),
            dict(calls=[formula("B1", "A1 * A2 + A3"), formula("B1", "B1")], answer="B1 has its formula."),
            dict(calls=[formula("A1", "1"), formula("B1", "A1 * (A2 + A3)")], answer="B1 has its formula."),
        ],
        docs="The cell has a formula that is right for any inputs.",
    )
)


# --- 10. bookings that may be canceled, or not -----------------------------------------------------------------------

BOOKINGS = {"K7": "flexible", "K8": "not refundable", "K9": "flexible", "K5": "not refundable"}


def get_booking(booking: str) -> str:
    """
    Look up a booking.

    Args:
        booking: The id of the booking.

    Returns:
        Its tariff.
    """
    if booking not in BOOKINGS:
        raise ValueError(f"no booking {booking!r}")
    return f"tariff: {BOOKINGS[booking]}"


def cancel_booking(booking: str) -> str:
    """
    Cancel a booking.

    Args:
        booking: The id of the booking.

    Returns:
        A confirmation.
    """
    if booking not in BOOKINGS:
        raise ValueError(f"no booking {booking!r}")
    return f"{booking} is canceled"


def transfer_to_human(booking: str) -> str:
    """
    Hand the conversation over to a human agent.

    Args:
        booking: The id of the booking that it is about.

    Returns:
        A confirmation.
    """
    return "a colleague takes over"


@rk.reward
def cancel_or_hand_over(trajectory: rk.Trajectory, booking: str, allowed: bool) -> float:
    """Score 1.0 for looking the booking up, and then canceling it if that is allowed, and else handing over."""
    wanted = "cancel_booking" if allowed else "transfer_to_human"
    acted = [place for place, call in enumerate(trajectory.calls) if call.name != "get_booking"]
    if not trajectory.finished or len(acted) != 1:
        return 0.0
    action = trajectory.calls[acted[0]]
    if not action.ok or action.name != wanted or not action.has(booking=booking):
        return 0.0
    looked = any(
        call.name == "get_booking" and call.ok and call.has(booking=booking) and call.turn < action.turn
        for call in trajectory.calls
    )
    return float(looked)


DESK = [get_booking, cancel_booking, transfer_to_human]
DESK_RULES = "Look a booking up before you do anything. Cancel only flexible bookings; hand all others over to a human."


def desk(*turns, answer="It is done."):
    return play(DESK, [turn if isinstance(turn, list) else [turn] for turn in turns], answer)


def look_up(booking):
    return ("get_booking", {"booking": booking})


def act(name, booking):
    return (name, {"booking": booking})


SOUND.append(
    dict(
        name="cancel_or_hand_over",
        reward=cancel_or_hand_over,
        environment=None,
        tools=DESK,
        examples=[
            dict(
                prompt=ask(f"Please cancel my booking {booking}.", DESK_RULES),
                booking=booking,
                allowed=str(BOOKINGS[booking] == "flexible").lower(),
            )
            for booking in ("K8", "K7", "K9", "K5")
        ],
        good=[
            desk(
                look_up(booking),
                act("cancel_booking" if BOOKINGS[booking] == "flexible" else "transfer_to_human", booking),
            )
            for booking in ("K8", "K7", "K9", "K5")
        ],
        bad=[
            [
                desk(),
                desk(look_up(booking)),
                desk(look_up(booking), act("cancel_booking", booking), act("transfer_to_human", booking)),
            ]
            for booking in ("K8", "K7", "K9", "K5")
        ],
        worse=[
            desk(look_up("K8"), act("cancel_booking", "K8")),
            desk(act("transfer_to_human", "K8")),
            desk(act("transfer_to_human", "K8"), look_up("K8")),
            desk([look_up("K8"), act("transfer_to_human", "K8")]),
            desk(look_up("K8"), act("transfer_to_human", "K7")),
            desk(look_up("K8"), act("transfer_to_human", "K8"), answer=None),
        ],
        docs="The agent looks the booking up first, then cancels it if the rules allow that, and hands over if not.",
    )
)
