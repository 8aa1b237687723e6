"""Views whose contents after each batch were worked out by hand, through the front door."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import pytest

import oemviews as ov
from oemviews import Change, Delete, Insert, Name, Unname

Edge: TypeAlias = tuple[int, str, int]
Make: TypeAlias = Callable[..., ov.Database]


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Make]:
    """A database with these edges between &1, &2 and so on; objects without a value are complex."""
    opened: list[ov.Database] = []

    def make(
        edges: list[Edge], values: Mapping[int, Any] | None = None, names: Mapping[str, int] | None = None
    ) -> ov.Database:
        db = ov.create(tmp_path / f"{len(opened)}.store")
        opened.append(db)
        values, names = values or {}, names or {"N": 1}
        last = max([*values, *(oid for src, _, dst in edges for oid in (src, dst))])
        db.apply(
            [
                *(ov.New(f"o{oid}", values.get(oid, ov.COMPLEX)) for oid in range(1, last + 1)),
                *(Insert(f"o{src}", label, f"o{dst}") for src, label, dst in edges),
                *(Name(name, f"o{oid}") for name, oid in names.items()),
            ]
        )
        return db

    yield make
    for db in opened:
        assert all(checked.equal for checked in db.check())
        db.close()


def edges(view: ov.View) -> set[Edge]:
    return {(edge.src, edge.label, edge.dst) for edge in view.edges}


def rows(view: ov.View) -> list[tuple[int, ...]]:
    return sorted(tuple(row.values()) for row in view.to_json()["rows"])


def shown(view: ov.View, oid: int) -> object:
    return next(each for each in view.to_json()["objects"] if each["oid"] == oid)


def test_a_value_that_changes_its_type(made: Make) -> None:
    db = made([(1, "a", 2), (1, "a", 3), (2, "b", 4), (3, "b", 4), (3, "b", 5)], {4: 8, 5: "8"})
    view = db.define("define view V as R = select x, y from N.a x, x.b y where y = 8 with x.b z")
    assert rows(view) == [(2, 4), (3, 4), (3, 5)]
    assert view.primaries == {2, 3, 4, 5}
    for value, kind, count in [
        ("8", "string", 3),
        ("8.0", "string", 3),
        (8.0, "real", 3),
        ("eight", "string", 1),
        (True, "boolean", 1),
        (None, "null", 1),
        (8, "integer", 3),
    ]:
        db.apply(Change(4, value))
        assert len(rows(view)) == count, value
        assert shown(view, 4) == {"oid": 4, "type": kind, "value": value}
    db.apply(Change(4, "eight"))
    assert edges(view) == {(3, "b", 4), (3, "b", 5)}


def test_with_paths_over_cycles(made: Make) -> None:
    db = made([(1, "r", 2), (2, "n", 3), (3, "n", 2), (3, "n", 4), (1, "r", 5), (5, "n", 5)])
    view = db.define("define view V as R = select x from N.r x with x.n* w")
    assert edges(view) == {(2, "n", 3), (3, "n", 2), (3, "n", 4), (5, "n", 5)}
    db.apply(Delete(2, "n", 3))
    assert edges(view) == {(5, "n", 5)}
    db.apply(Insert(5, "n", 3))
    assert edges(view) == {(5, "n", 5), (5, "n", 3), (3, "n", 2), (3, "n", 4)}
    db.apply(Delete(1, "r", 5))
    assert (view.primaries, edges(view)) == ({2}, set())


def test_a_chain_of_views_its_end_and_a_second_definition(made: Make) -> None:
    db = made([(1, "a", 2), (1, "a", 3), (2, "k", 4), (3, "k", 5)], {4: 1, 5: 2})
    db.define("define view A as X = select x from N.a x where x.k < 5 with x.k y")
    db.define("define view B as Y = select x from A.X x where x.k > 0 with x.k y")
    db.define("define view C as Z = select y from B.Y x, x.k y")

    def held() -> list[set[int]]:
        return [db.view(name).primaries for name in "ABC"]

    assert held() == [{2, 3}, {2, 3}, {4, 5}]
    db.apply(Change(5, 7))
    assert held() == [{2}, {2}, {4}]
    db.apply([Change(5, 3), Delete(2, "k", 4)])
    assert held() == [{3}, {3}, {5}]
    for name in "AB":
        with pytest.raises(ov.OemError, match="read by"):
            db.drop(name)
    with pytest.raises(ov.OemError, match="'A'"):
        db.define("define view A as X = select x from N.a x")
    for name in "CBA":
        db.drop(name)
    assert db.define("define view A as X = select x from N.a x where x.k = 3").primaries == {3}
    assert db.at(batch=2).query("select A.X").oids == [2, 3], "the first definition, in its time"


def test_names_that_go_return_and_are_bound_anew(made: Make) -> None:
    db = made([(1, "a", 2), (3, "a", 4)], names={"N": 1, "M": 3})
    one = db.define("define view V as W = select x from N.a x")
    both = db.define("define view U as W = select x from N.a x union select x from M.a x")
    for edits, found in [
        ([Unname("N")], (set(), {4})),
        ([Name("N", 3)], ({4}, {4})),
        ([Unname("M"), Name("M", 1), Name("N", 1)], ({2}, {2})),
    ]:
        db.apply(edits)
        assert (one.primaries, both.primaries) == found


def test_an_object_that_no_name_reaches_is_shown_until_compact(made: Make) -> None:
    db = made([(1, "a", 2), (2, "b", 3)], {3: 5})
    view = db.define("define view V as W = select x from &2.b x")
    db.apply(Delete(1, "a", 2))
    assert view.primaries == {3}
    db.compact()
    assert view.primaries == set()


def test_what_is_absent(made: Make) -> None:
    db = made([(1, "a", 2), (1, "a", 3), (2, "p", 4)], {4: 5})
    bodies = [
        "select x from N.a x where for all y in x.p : y > 5",
        "select x from N.a x where count(x.p) = 0 or sum(x.p) >= 11",
        "select x from N.a x except select x from N.a x where x.p = 5",
    ]
    views = [db.define(f"define view V{n} as W = {body}") for n, body in enumerate(bodies)]
    assert [view.primaries for view in views] == [{3}, {3}, {3}]
    db.apply(Change(4, 6))
    assert [view.primaries for view in views] == [{2, 3}, {3}, {2, 3}]
    with db.edits() as e:
        e.insert(2, "p", e.new(5))
    assert [view.primaries for view in views] == [{3}, {2, 3}, {3}]
    db.apply(Delete(2, "p", 4))
    assert [view.primaries for view in views] == [{3}, {3}, {3}]


def test_integers_that_doubles_confuse_and_labels_that_need_quotes(made: Make) -> None:
    db = made([(1, "é λ", 2), (2, "v", 3)], {3: 2**53})
    view = db.define(
        "define view V as `ü b` = select x from N.`é λ` x where x.v = 9007199254740993 with x.% w"
    )
    for value, found in [
        (2**53, set()),
        (2**53 + 1, {2}),
        (float(2**53), {2}),
        (str(2**53), {2}),
        (2**63, set()),
        (2**53 + 1, {2}),
    ]:
        db.apply(Change(3, value))
        assert view.primaries == found, value
    assert db.export("V") == '{"ü b": {"v": 9007199254740993}}\n'
    assert db.query("select V.`ü b`.v").oids == [3]


def test_strings_empty_and_long(made: Make) -> None:
    db = made([(1, "a", 2)], {2: ""})
    empty = db.define('define view V as W = select x from N.a x where x = ""')
    ends = db.define('define view U as W = select x from N.a x where x like "%x"')
    long = "x" * 1_000_000
    for value, found in [("", ({2}, set())), (long, (set(), {2})), (long + "y", (set(), set()))]:
        db.apply(Change(2, value))
        assert (empty.primaries, ends.primaries) == found


def test_labels_as_data(made: Make) -> None:
    db = made([(1, "k1", 2), (1, "k2", 3), (1, "j", 4)], {2: 1, 3: 2, 4: 3})
    view = db.define('define view V as W = select x from N.%@L x where L like "k%" and x < 9')
    assert view.primaries == {2, 3}
    db.apply([Insert(1, "k3", 4), Delete(1, "k1", 2)])
    assert view.primaries == {3, 4}
