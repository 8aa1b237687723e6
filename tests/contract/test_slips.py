"""Slips of a Python caller: each is an OemError with what was found and wanted, and stores nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest

import oemviews as ov

GUIDE = "oemviews/data/guide.oem"

SLIPS: dict[str, Callable[[Any], object]] = {
    "an oid that is a fraction": lambda db: db.apply([ov.Insert(1.9, "a", 2)]),
    "an oid that is a truth": lambda db: db.apply([ov.Insert(True, "a", 2)]),
    "no oid": lambda db: db.apply([ov.Insert(None, "a", 2)]),
    "no label": lambda db: db.apply([ov.Insert(1, None, 2)]),
    "a number for a label": lambda db: db.apply([ov.Delete(1, 5, 2)]),
    "no edit": lambda db: db.apply([None]),
    "a tuple for an edit": lambda db: db.apply([("ins", 1, "a", 2)]),
    "nothing to iterate": lambda db: db.apply(5),
    "a list for a value": lambda db: db.apply([ov.Change(5, [1])]),
    "a complex value": lambda db: db.apply([ov.Change(5, ov.COMPLEX)]),
    "an infinite value": lambda db: db.apply([ov.Change(5, float("inf"))]),
    "an endless integer": lambda db: db.apply([ov.New("x", 10**5000)]),
    "an old value of no type": lambda db: db.apply([ov.Change(5, 1, old=object())]),
    "a number for a name of the log": lambda db: db.apply([ov.New(3)]),
    "a number for a name": lambda db: db.apply([ov.Name(5, 1)]),
    "no name": lambda db: db.apply([ov.Unname(None)]),
    "a commit": lambda db: db.apply('{"op": "commit"}'),
    "a number for a query": lambda db: db.query(5),
    "bytes for a query": lambda db: db.query(b"select Guide"),
    "nothing to define": lambda db: db.define(None),
    "an engine that is none": lambda db: db.query("select Guide", engine="quantum"),
    "a policy that is none": lambda db: db.define("define view V as W = select Guide", policy="quantum"),
    "a number for a path": lambda db: db.load(5, name="A"),
    "a number for a name to load": lambda db: db.load(GUIDE, name=5),
    "a word for a batch": lambda db: db.at("x"),
    "a truth for a batch": lambda db: db.at(batch=True),
    "a number to export": lambda db: db.export(5),
    "a number for a view": lambda db: db.view(5),
    "nothing to drop": lambda db: db.drop(None),
    "less than nothing to keep": lambda db: db.compact(keep_batches=-1),
}


@pytest.mark.parametrize("slip", SLIPS)
def test_slips(store: Path, slip: str) -> None:
    with ov.open(store) as db:
        with pytest.raises(ov.OemError):
            SLIPS[slip](db)
        assert db.batch == 1


def test_what_is_no_slip(store: Path) -> None:
    with ov.open(store) as db:
        assert db.apply(ov.Insert(1, "x", 2)).net == 1, "one edit is a batch of one"
        assert db.apply([ov.Insert(np.int64(1), "y", np.int32(2))]).net == 1
        assert db.query("select Guide.y").oids == [2]


def test_completion_offers_the_front_door() -> None:
    assert {"create", "open", "Insert", "Database"} <= set(dir(ov))


def test_threads_that_share_a_database_take_turns(store: Path) -> None:
    def write(db: ov.Database, label: str) -> None:
        for number in range(8):
            db.apply([ov.New("n", number), ov.Insert(4, label, "n")])

    def read(db: ov.Database) -> None:
        for _ in range(8):
            seen.append(len(db.query("select &4(.t0|.t1|.t2|.t3)").oids))
            assert db.views["V"].primaries

    seen: list[int] = []
    with ov.open(store) as db:
        view = db.define("define view V as W = select x from Guide.Restaurant.% x")
        threads = [Thread(target=write, args=(db, f"t{n}")) for n in range(4)] + [
            Thread(target=read, args=(db,))
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert (db.batch, len(seen), seen) == (2 + 32, 8, sorted(seen))
        assert len(db.query("select &4(.t0|.t1|.t2|.t3)").oids) == 32
        assert len(view.primaries) == 17 + 32
    with ov.open(store) as again:
        assert [each.equal for each in again.check()] == [True]
