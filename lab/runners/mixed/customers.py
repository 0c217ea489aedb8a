"""Invented customers in four groups, as an ordinary export has them: money, per cent, decimal commas, dates, gaps, skew, a few extreme rows, rows entered twice.

The same table, byte by byte, as the test `one_command_finds_the_groups_and_the_outliers_of_a_messy_table_in_every_file_of_it` of the command draws.
"""

import math
from dataclasses import dataclass, replace

CUSTOMERS = 5060
TWICE = 60
OUTLIERS = 12
FIRST = 10_000
MEASURES = ["Umsatz", "Besuche", "Warenkorb", "Rabatt", "Antwortzeit", "Alter"]
NAMES = ["Kundennr", "Land", "Beitritt", *MEASURES, "Notiz", "Mitglied"]
DIGITS = [2, 0, 2, 1, 2, 0]
# The logarithm of the sales, visits, basket, discount, response time, age; and the share of each group.
GROUPS = [
    ((3.0, 2.0, 12.0, 5.0, 1.5, 28.0), 0.4),
    ((5.5, 12.0, 35.0, 12.0, 3.0, 41.0), 0.3),
    ((7.5, 5.0, 180.0, 2.0, 0.8, 55.0), 0.2),
    ((4.5, 40.0, 9.0, 25.0, 6.0, 35.0), 0.1),
]
WORD = (1 << 64) - 1


class Random:
    """Generates random numbers that are the same everywhere (splitmix64)."""

    def __init__(self, state):
        self.state = state

    def share(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & WORD
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & WORD
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & WORD
        return ((z ^ (z >> 31)) >> 11) / (1 << 53)

    def below(self, count):
        return int(self.share() * count)

    def normal(self, mean, deviation):
        a, b = 1.0 - self.share(), self.share()
        return mean + deviation * math.sqrt(-2.0 * math.log(a)) * math.cos(math.tau * b)


@dataclass(frozen=True)
class Customer:
    """The facts about a customer; measures are in hundredths, None if a value is missing."""

    group: int
    country: str
    joined: tuple
    note: str
    is_member: bool
    measures: tuple = ()


def rounded(value):
    """Rounds to the nearest whole number, halves away from zero."""
    return math.floor(abs(value) + 0.5) * (1 if value >= 0 else -1)


def group_of(share):
    for group, (_, own) in enumerate(GROUPS):
        share -= own
        if share < 0.0:
            return group
    return 0


def customers(seed=1, count=CUSTOMERS, outliers=OUTLIERS, twice=TWICE):
    """Returns the customers, and the rows of those that were made extreme."""
    random = Random(seed)
    values, people = [], []
    for _ in range(count):
        group = group_of(random.share())
        sales, visits, basket, discount, response, age = GROUPS[group][0]
        values.append(
            [
                math.exp(random.normal(sales, 0.5)),
                max(0.0, rounded(random.normal(visits, max(0.15 * visits, 1.0)))),
                math.exp(random.normal(math.log(basket), 0.3)),
                max(0.0, rounded(10.0 * random.normal(discount, 1.5))) / 10.0,
                math.exp(random.normal(math.log(response), 0.25)),
                rounded(random.normal(age, 4.0)),
            ]
        )
        country = ["DE", "AT", "CH", "FR"][random.below(4)]
        joined = (2015 + random.below(9), 1 + random.below(12), 1 + random.below(28))
        note = ["", "", "ok", "VIP", "call back", ""][random.below(6)]
        people.append(Customer(group, country, joined, note, random.below(2) == 0))
    planted = []
    while len(planted) < outliers:
        row = random.below(count)
        if row in planted:
            continue
        match len(planted) % 3:
            case 0:
                values[row][0] *= 3000.0
            case 1:
                values[row][1] += 300.0
                values[row][2] *= 400.0
            case _:
                values[row][3] += 70.0
                values[row][4] *= 200.0
        planted.append(row)
    for row, own in enumerate(values):
        measures = []
        for value in own:
            is_gap = random.share() < 0.1 and row not in planted
            measures.append(None if is_gap else int(rounded(100.0 * value)))
        people[row] = replace(people[row], measures=tuple(measures))
    for _ in range(twice):
        row = random.below(count)
        # There is one extreme customer of each kind.
        row = row + 1 if row in planted else row
        people.append(people[row % count])
    return people, planted


def written(hundredths, digits, decimal, thousands):
    """Formats a number of hundredths with these marks before the fraction and between thousands."""
    whole, rest = divmod(hundredths, 100)
    text = f"{whole:,}".replace(",", thousands)
    return text if digits == 0 else f"{text}{decimal}{rest // 10}" if digits == 1 else f"{text}{decimal}{rest:02}"


def cells(people, is_german, first=FIRST):
    """Yields the table as a German or an English program writes it: rows of texts, the names first."""
    decimal, thousands = (",", ".") if is_german else (".", ",")
    random = Random(2)
    yield list(NAMES)
    for row, customer in enumerate(people):
        year, month, day = customer.joined
        own = [f"K{first + row}", customer.country, f"{day:02}.{month:02}.{year}" if is_german else f"{day:02}/{month:02}/{year}"]
        for place, measure in enumerate(customer.measures):
            if measure is None:
                own.append(["", "N/A", "-"][random.below(3)])
                continue
            number = written(measure, DIGITS[place], decimal, thousands)
            if place == 0:
                number = f"{number} €" if is_german else f"€{number}"
            own.append(f"{number}%" if place == 3 else number)
        own.append(customer.note)
        own.append((["nein", "ja"] if is_german else ["no", "yes"])[customer.is_member])
        yield own


def csv(rows, is_german):
    between = ";" if is_german else ","
    return "".join(between.join(f'"{cell}"' if between in cell else cell for cell in row) + "\n" for row in rows)


def next_month(count=1000):
    """Returns next month's file and its groups: without the column Notiz, with a column Kanal, and with customers from Italy."""
    people, _ = customers(seed=7, count=count, outliers=0, twice=0)
    people = [replace(customer, country="IT") if row % 25 == 0 else customer for row, customer in enumerate(people)]
    names, *rows = cells(people, is_german=True, first=90_000)
    at = names.index("Notiz")
    random = Random(3)
    table = [[*row[:at], *row[at + 1 :], ["Web", "Filiale"][random.below(2)]] for row in rows]
    return csv([[*names[:at], *names[at + 1 :], "Kanal"], *table], is_german=True), [customer.group for customer in people]
