"""The worked queries and the trace through the command line; statements that are wrong, huge or hostile."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import oemviews as ov
from tests.commands import Cli
from tests.worked import WORKED, WORKED_VALUES

TRACE: list[tuple[str, list[int], set[tuple[int, str, int]]]] = [
    (
        "<Ins,&10,Ingredient,&15>",
        [9, 10],
        {
            (9, "Name", 14),
            (9, "Ingredient", 15),
            (10, "Name", 16),
            (10, "Ingredient", 15),
            (10, "Ingredient", 17),
        },
    ),
    ("<Del,&9,Ingredient,&15>", [10], {(10, "Name", 16), (10, "Ingredient", 15), (10, "Ingredient", 17)}),
    (
        '<Chg,&5,"Thai City","Baghdad Cafe">',
        [10],
        {(10, "Name", 16), (10, "Ingredient", 15), (10, "Ingredient", 17)},
    ),
    ("<Ins,&2,Entree,&13>", [10], {(10, "Name", 16), (10, "Ingredient", 15), (10, "Ingredient", 17)}),
    (
        "<Ins,&13,Ingredient,&15>",
        [10, 13],
        {
            (10, "Name", 16),
            (10, "Ingredient", 15),
            (10, "Ingredient", 17),
            (13, "Name", 18),
            (13, "Ingredient", 15),
            (13, "Ingredient", 17),
            (13, "Ingredient", 19),
        },
    ),
    (
        "<Ins,&4,Name,&7>",
        [10, 13],
        {
            (10, "Name", 16),
            (10, "Ingredient", 15),
            (10, "Ingredient", 17),
            (13, "Name", 18),
            (13, "Ingredient", 15),
            (13, "Ingredient", 17),
            (13, "Ingredient", 19),
        },
    ),
    (
        "<Del,&3,Entree,&10>",
        [10, 13],
        {
            (10, "Name", 16),
            (10, "Ingredient", 15),
            (10, "Ingredient", 17),
            (13, "Name", 18),
            (13, "Ingredient", 15),
            (13, "Ingredient", 17),
            (13, "Ingredient", 19),
        },
    ),
    ('<Chg,&15,"Mushroom","Truffle">', [], set()),
    (
        '<Chg,&19,"Rice","Mushroom">',
        [13],
        {(13, "Name", 18), (13, "Ingredient", 15), (13, "Ingredient", 17), (13, "Ingredient", 19)},
    ),
]


@pytest.fixture(scope="module")
def db(guide_template: Path) -> Iterator[ov.Database]:
    with ov.open(guide_template) as db:
        yield db


@pytest.mark.parametrize(("query", "oids"), [case[1:] for case in WORKED], ids=[case[0] for case in WORKED])
def test_worked_queries(cli: Cli, guide_template: Path, query: str, oids: set[int]) -> None:
    lines = cli("query", guide_template, query, "--format", "json").lines
    found = [cell["oid"] for line in lines for cell in line.values()]
    assert sorted(found) == sorted(oids)


def test_label_variables(db: ov.Database) -> None:
    [(_, query, values)] = WORKED_VALUES
    told = [json.loads(line) for line in db.query(query).to_json().splitlines()]
    assert sorted(cell["value"] for line in told for cell in line.values()) == sorted(values)


def test_the_trace(cli: Cli, viewed: Path) -> None:
    for edit, primaries, edges in TRACE:
        assert cli("apply", viewed, "-", stdin=edit).code == 0
        shown = json.loads(cli("show", viewed, "FavoriteEntrees", "--format", "json").out)
        assert shown["primaries"] == primaries, edit
        assert {(edge["src"], edge["label"], edge["dst"]) for edge in shown["edges"]} == edges, edit
        assert {each["oid"] for each in shown["objects"]} == {*primaries, *(dst for _, _, dst in edges)}
    assert cli("check", viewed).code == 0


@pytest.mark.parametrize(
    ("condition", "oids"),
    [
        ("r.Rating = 4.0", [3, 4]),
        ("r.Rating = true", []),
        ("r.Rating != true", []),
        ('r.Rating < "x"', [4]),
        ("r.Rating in {4}", [3, 4]),
        ("r.Price / 0 = 1", []),
        ("not (r.Price / 0 = 1)", [2, 3, 4]),
        ("r.Price mod 0 = 0", []),
        ("r.Price + 1 = 13", [3]),
        ("r.Name + 1 = 2", []),
        ("r = r", [2, 3, 4]),
        ("r == &3", [3]),
        ("r != &3", [2, 4]),
        ("r < &3", []),
        ("r.Address = r.Address", [2, 3]),
        ('r.Name || "!" = "Thai City!"', [2]),
        ("exists (r.Entree)", [3, 4]),
        ("r.Entree", [3, 4]),
        ("r.Zipcode = 92310.0", [2]),
        ('r.Zipcode = "92310.0"', []),
        ("r.name = 1", []),
        ("r.Zipcode = 9.231e4", [2]),
        ('r.Price grep "^c.*p$"', [2]),
        ('r.Price like "1_"', [3]),
        ('r.Name soundex "Bagdad Kafe"', [3]),
    ],
)
def test_coercion(db: ov.Database, condition: str, oids: list[int]) -> None:
    assert db.query(f"select r from Guide.Restaurant r where {condition}").oids == oids


HOSTILE = {
    "unterminated string": 'select "abc',
    "unterminated label": "select Guide.`abc",
    "unterminated comment": "select Guide /* abc",
    "nul": "select Guide\x00",
    "deep brackets": "select " + "(" * 5000 + "1" + ")" * 5000,
    "unclosed brackets": "select " + "(" * 100_000,
    "deep not": "select r from Guide r where " + "not (" * 3000 + "r.x" + ")" * 3000,
    "deep minus": "select " + "-(" * 3000 + "1" + ")" * 3000,
    "deep exists": "select r from Guide r where " + "exists x in r.a : " * 3000 + "x = 1",
    "deep queries": "(select " * 3000 + "1" + ")" * 3000,
    "deep unions": "select Guide" + " union select Guide" * 3000,
    "long path": "select Guide" + ".a" * 20_000,
    "long regex path": "select Guide" + "(.a|.b)*" * 2000,
    "nested regex path": "select Guide" + "(" * 3000 + ".a" + ")*" * 3000,
    "long sum": "select 1" + " + 1" * 20_000,
    "long or": "select r from Guide r where r.a = 1" + " or r.a = 1" * 1000,
    "long and of ors": "select r from Guide r where (r.a = 1 or r.b = 2)"
    + " and (r.a = 1 or r.b = 2)" * 2000,
    "many variables": "select x0 from Guide x0" + "".join(f", x{n}.a x{n + 1}" for n in range(1000)),
    "many items": "select " + ", ".join(f"Guide.a{n}" for n in range(2000)),
    "long string": 'select "' + "a" * 3_000_000 + '"',
    "long name": "select " + "a" * 3_000_000,
    "long number": "select " + "9" * 100_000,
    "long exponent": "select 1e" + "9" * 1000,
    "long list": "select r from Guide r where r.x in {" + "1, " * 20_000 + "1}",
    "cross product": "select a from "
    + ", ".join(f"Guide.#{'{'}v{n}{'}'} x{n}" for n in range(3))
    + ", Guide a",
}


def outcome(run: Callable[[], str]) -> str:
    """What was answered, or the sentence that refused it; any other exception is a fault."""
    try:
        return run()
    except ov.OemError as error:
        return f"refused: {error}"


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_statements_end_in_an_answer_or_a_sentence(db: ov.Database, kind: str) -> None:
    told = outcome(lambda: repr(db.query(HOSTILE[kind])))
    assert len(told) < (5000 if told.startswith("refused") else 10_000_000)


@pytest.mark.parametrize(
    "pattern", ["(a+)+$", "(a|a)*b", "(.*a){30}", "((a*)*)*c", "(a?){40}a{40}", "[", "(?P<x", "\\\\1"]
)
def test_regular_expressions_end(cli: Cli, store: Path, pattern: str) -> None:
    cli("apply", store, "--statement", f'update &5 := "{"a" * 5000}!"')
    done = cli("query", store, f'select r from Guide.Restaurant r where r.Name grep "{pattern}"')
    assert done.code in (0, 2)
    like = cli("query", store, f'select r from Guide.Restaurant r where r.Name like "{"%a" * 50}b"')
    assert like.code == 0


TOKEN = re.compile(r'"[^"]*"|[A-Za-z_-]+|\d+|\s+|[<>=!]+|.', re.DOTALL)
STRANGE = [
    '"',
    "`",
    "&",
    "&99999999999999999999",
    "1e999",
    "\x00",
    "é",
    "😀",
    "(",
    ")",
    "*",
    "#",
    "%",
    "@",
    "--",
    "/*",
    "\\",
    "{",
    "}",
    ";",
    "null",
    "not",
    "<Ins,&1,a,&2>",
    "unquote(",
    "oem(",
    "1/0",
    "",
    "select",
    "Guide.#@P.%@L",
]


def mutated(seed: int) -> Iterator[str]:
    """Statements that almost make sense."""
    rng = random.Random(seed)
    seeds = [TOKEN.findall(query) for _, query, _ in WORKED]
    words = sorted({word for query in seeds for word in query}) + STRANGE
    while True:
        query = list(rng.choice(seeds))
        for _ in range(rng.choice([1, 1, 2, 3])):
            at = rng.randrange(len(query))
            query[at : at + rng.randint(0, 2)] = [rng.choice(words) for _ in range(rng.randint(0, 2))]
            query = query or ["select"]
        yield "".join(query)


def test_mutated_queries_raise_nothing_but_oem_errors(db: ov.Database) -> None:
    outcomes = {"answered": 0, "refused": 0}
    for statement, _ in zip(mutated(1998), range(600), strict=False):
        told = outcome(lambda statement=statement: repr(db.query(statement)))
        outcomes["refused" if told.startswith("refused") else "answered"] += 1
    assert min(outcomes.values()) > 30, outcomes


def test_mutated_updates_and_definitions_raise_nothing_but_oem_errors(store: Path) -> None:
    rng = random.Random(7)
    starts = [
        "update &5 := ",
        "update Guide.x += ",
        "update r.Name -= ",
        "name N := ",
        "unname ",
        "drop view ",
        "define view V as W = ",
        "define virtual view V = ",
    ]
    with ov.open(store) as db:
        for statement, _ in zip(mutated(2026), range(200), strict=False):
            text = rng.choice(starts) + statement
            outcome(lambda text=text: repr(db.execute(text)))
            if "V" in db.views:
                db.drop("V")
        assert all(each.equal for each in db.check())


def test_views_stay_equal_to_recomputation_under_random_edits(store: Path) -> None:
    """The whole contract in one: a view shows what its query answers, after every batch."""
    rng = random.Random(1998)
    bodies = [
        'select e from Guide.Restaurant r, r.Entree e where r.Name = "Baghdad Cafe" with e.Name n, e.% i',
        "select x from Guide.# x where x.Price < 20 with x.# y",
        'select r from Guide.Restaurant r where not (exists e in r.Entree : e.Ingredient = "Beef")',
        "select r, e from Guide.Restaurant r, r.Entree e where r.Rating = e.Price or count(r.Name) = 1",
        'select n from Guide.Restaurant r, r(.Nearby)+ n where for all a in n.Address : a != "Menlo Park"',
        "(select Guide.Restaurant.Entree) except (select r.Entree from Guide.Restaurant r where r.Price > 9)",
    ]
    labels = ["Restaurant", "Entree", "Name", "Ingredient", "Price", "Nearby", "Rating", "Address"]
    values: list[object] = [
        "Baghdad Cafe",
        "Beef",
        "Mushroom",
        "Menlo Park",
        4,
        "4.0",
        12,
        25.5,
        "cheap",
        True,
        None,
    ]
    complex_ = [1, 2, 3, 4, 9, 10, 13, 24]
    with ov.open(store) as db:
        for n, body in enumerate(bodies):
            db.define(f"define view V{n} as W = {body}")
        for _ in range(60):
            with db.edits() as e:
                for _ in range(rng.choice([1, 1, 5, 20])):
                    src, dst = rng.choice(complex_), rng.randint(1, 29)
                    kind = rng.random()
                    if kind < 0.4:
                        e.insert(src, rng.choice(labels), dst)
                    elif kind < 0.75:
                        e.delete(*rng.choice(sorted(EDGES)))
                    else:
                        atomic = rng.choice([oid for oid in range(1, 30) if oid not in complex_])
                        e.change(atomic, rng.choice(values))
            for n, body in enumerate(bodies):
                asked = db.query(re.sub(" with .*", "", body))
                assert sorted(db.views[f"V{n}"].primaries) == sorted(set(asked.oids)), body
        assert all(each.equal for each in db.check())


EDGES = {
    (1, "Restaurant", 2),
    (1, "Restaurant", 3),
    (2, "Nearby", 3),
    (3, "Nearby", 2),
    (3, "Entree", 9),
    (3, "Entree", 10),
    (4, "Entree", 10),
    (4, "Entree", 13),
    (3, "Name", 7),
    (9, "Ingredient", 15),
    (10, "Ingredient", 17),
    (2, "Address", 21),
    (3, "Price", 28),
    (3, "Rating", 8),
    (10, "Price", 29),
}
