"""Update statements as lists of elementary edits.

    update x := v          Chg of the atomic object x
    update x.L := q        Del of every (x, L, o) not in q, Ins of every (x, L, o) in q
    update x.L += q        Ins (x, L, o) for every o in q
    update x.L -= q        Del (x, L, o) for every o in q
    name N := q            N stands for the one object of q
    unname N               N stands for nothing

A literal in q is a fresh atomic object, `oem(...)` a fresh complex one. Everything is computed on the
state before the statement; the edits then apply as one batch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import count
from typing import TypeAlias

from lorel import ast
from lorel.errors import LorelMeaningError, RefusedError
from lorel.normal import Labels, ObjectItem, Step
from lorel.normalise import NormalUpdate, normalise, normalise_update
from lorel.planner import graph_of
from lorel.scope import Catalog
from oemviews.answers.cells import Cell
from oemviews.answers.evaluate import Evaluation
from oemviews.edits import Change, Delete, Edit, Insert, Name, New, Ref, Unname
from oemviews.errors import EditError
from oemviews.model import COMPLEX, Complex, Oid, same_value

Updating: TypeAlias = ast.Update | ast.NameObject | ast.Unname


def edits_of(statement: Updating, text: str, catalog: Catalog, evaluation: Evaluation) -> list[Edit]:
    """The edits that a statement comes to on the state that the evaluation reads."""
    match statement:
        case ast.Unname(name):
            return [Unname(name)]
        case ast.NameObject():
            return list(_naming(statement, text, catalog, evaluation))
        case ast.Update():
            normal = normalise_update(statement, catalog, text=text)
            _check(statement, normal, text)
            found = _rows(evaluation, normal)
            if not found and isinstance(statement.target, ast.OidRef) and statement.where is None:
                raise EditError(f"found no object &{statement.target.oid}, wanted an object of this database")
            if normal.label is None:
                return list(_changes(evaluation, normal, found))
            return list(_edges(evaluation, normal, normal.label, found))


def _naming(statement: ast.NameObject, text: str, catalog: Catalog, evaluation: Evaluation) -> Iterator[Edit]:
    if statement.name in catalog.views:
        hint = "choose another name, or drop the view first"
        raise LorelMeaningError(f"{statement.name!r} is a view", text=text, span=statement.span, hint=hint)
    columns = evaluation.columns(normalise(statement.value, catalog, text=text))
    if len(columns) != 1 or len(columns[0]) != 1:
        found = f"{len(columns[0])} objects" if len(columns) == 1 else f"rows of {len(columns)} items"
        hint = "a name stands for exactly one object: narrow the query"
        raise LorelMeaningError(
            f"found {found}, wanted one object for the name {statement.name!r}",
            text=text,
            span=statement.value.span,
            hint=hint,
        )
    fresh = _Fresh()
    oid = fresh.ref(columns[0].cell(0))
    yield from fresh.made
    yield Name(statement.name, oid)


def _check(statement: ast.Update, normal: NormalUpdate, text: str) -> None:
    item = normal.targets.select[0]
    if not isinstance(item, ObjectItem):
        raise LorelMeaningError(
            "found a value, wanted an object to update", text=text, span=statement.target.span
        )
    view = graph_of(normal.targets, item.var)
    if view:
        raise RefusedError(
            f"the objects of the view {view!r} follow the base: they are not updated themselves",
            text=text,
            span=statement.target.span,
            hint="update the objects that the view is defined on",
        )
    if normal.label is None and normal.op != ":=":
        hint = f"name the label of the edges, as in `update x.Label {normal.op} ...`"
        raise LorelMeaningError(
            f"found {normal.op} without a label, wanted :=", text=text, span=statement.span, hint=hint
        )


def _rows(evaluation: Evaluation, normal: NormalUpdate) -> dict[Oid, list[Cell]]:
    """The new values of each target; none for a target without a row."""
    (targets,) = evaluation.columns(normal.targets)
    found: dict[Oid, list[Cell]] = {_oid(targets.cell(i)): [] for i in range(len(targets))}
    columns = evaluation.columns(normal.rows)
    for i in range(len(columns[0])):
        found[_oid(columns[0].cell(i))].append(columns[1].cell(i))
    return found


def _changes(evaluation: Evaluation, normal: NormalUpdate, found: dict[Oid, list[Cell]]) -> Iterator[Edit]:
    (targets,) = evaluation.columns(normal.targets)
    current = {_oid(cell): cell.value for cell in (targets.cell(i) for i in range(len(targets)))}
    for oid, cells in found.items():
        if isinstance(current[oid], Complex):
            raise EditError(
                f"&{oid} is a complex object and has no value to change: update one of its labels, as in "
                "`update x.Label := ...`, or delete its edges first"
            )
        values = [cell.value for cell in cells]
        if not values or any(not same_value(value, values[0]) for value in values):
            what = "no value" if not values else f"{len(values)} different values"
            raise EditError(f"found {what} for &{oid}, wanted one: narrow the right side of the update")
        if isinstance(values[0], Complex):
            raise EditError(f"found a complex object as the value of &{oid}, wanted an atomic one")
        yield Change(oid, values[0])


def _edges(
    evaluation: Evaluation, normal: NormalUpdate, label: str, found: dict[Oid, list[Cell]]
) -> Iterator[Edit]:
    fresh = _Fresh()
    if normal.op == "-=":
        for src, cells in found.items():
            yield from (Delete(src, label, _existing(cell, label)) for cell in cells)
        return
    if normal.op == ":=":
        for src, dst in _present(evaluation, normal, label):
            if dst not in {cell.oid for cell in found[src]}:
                yield Delete(src, label, dst)
    inserts = [Insert(src, label, fresh.ref(cell)) for src, cells in found.items() for cell in cells]
    yield from fresh.made
    yield from inserts


def _present(evaluation: Evaluation, normal: NormalUpdate, label: str) -> Iterable[tuple[Oid, Oid]]:
    """The edges that the targets have under the label."""
    block = normal.targets
    target = block.select[0]
    assert isinstance(target, ObjectItem)
    step = Step(target.var, Labels(label), "present")
    from_ = replace(block.from_, steps=(*block.from_.steps, step))
    src, dst = evaluation.columns(
        replace(block, select=(target, ObjectItem("present", "present")), from_=from_)
    )
    return [(_oid(src.cell(i)), _oid(dst.cell(i))) for i in range(len(src))]


def _existing(cell: Cell, label: str) -> Oid:
    if cell.oid is None:
        raise EditError(
            f"found the value {cell!r} after -=, wanted objects: name them by a query, as in "
            f"`update x.{label} -= (select o from x.{label} o where o = {cell!r})`"
        )
    return cell.oid


def _oid(cell: Cell) -> Oid:
    assert cell.oid is not None, "an object has an oid"
    return cell.oid


class _Fresh:
    """Objects that a statement makes; `made` is the list of edits that make them."""

    def __init__(self) -> None:
        self.made: list[Edit] = []
        self._numbers = count(1)

    def ref(self, cell: Cell) -> Ref:
        """The object itself if the cell holds one, else a new one with that value or those fields."""
        if cell.oid is not None:
            return cell.oid
        name = f"new{next(self._numbers)}"
        self.made.append(New(name, cell.value if cell.fields is None else COMPLEX))
        for label, part in cell.fields or ():
            self.made.append(Insert(name, label, self.ref(part)))
        return name
