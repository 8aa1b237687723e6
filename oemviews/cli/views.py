"""Commands about views: define, drop, views, show, explain, check."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from oemviews.answers.cells import plain_json
from oemviews.answers.rendering import counted
from oemviews.cli.arguments import Argument, Option
from oemviews.cli.options import Engine, EngineOption, JsonOption, Store, text_of
from oemviews.cli.output import data, data_table, data_text, note, working

ViewArgument = Annotated[str, Argument("VIEW", "The name of a view.")]


class Policies(str, Enum):
    auto = "auto"
    incremental = "incremental"
    strict = "strict"
    full = "full"


class Shapes(str, Enum):
    table = "table"
    json = "json"
    oem = "oem"


def define(
    store: Store,
    statement: Annotated[str, Argument("STATEMENT", "`define view ...`, @file, or -.")],
    policy: Annotated[Policies, Option("--policy", "How the view may be kept.")] = Policies.auto,
    engine: EngineOption = Engine.auto,
) -> None:
    """Define a view and fill it.

    Example: oemviews define guide.store 'define view Cheap as Place =
                 select r from Guide.Restaurant r where r.Price < 20 with r.Name n'
    """
    import oemviews as ov

    with ov.open(store, engine=engine.value) as db, working("defining"):
        view = db.define(text_of(statement), policy=policy.value)
        note(
            f"defined {view.name}: {counted(len(view.primaries), 'primary object')}, "
            f"{counted(view.edge_count, 'edge')}; engine: {view.filled}\n"
            f"kept by {view.method}, because {view.reason}"
        )


def drop(store: Store, view: ViewArgument) -> None:
    """Drop a view; what it was defined on stays.

    Example: oemviews drop guide.store Cheap
    """
    import oemviews as ov

    with ov.open(store) as db:
        db.drop(view)
    note(f"dropped {view}")


def views(store: Store, json: JsonOption = False) -> None:
    """List the views: how each is kept, how fresh and how big it is.

    Example: oemviews views guide.store
    """
    import oemviews as ov

    with ov.open(store) as db:
        found = db.views
        if json:
            for view in found.values():
                data(plain_json(view.summary()).decode())
        else:
            data_table(found.table())


def show(
    store: Store,
    view: ViewArgument,
    format: Annotated[Shapes, Option("--format", "How to print it.")] = Shapes.table,
) -> None:
    """Show what a view holds.

    Example: oemviews show guide.store Cheap --format json
    """
    import oemviews as ov

    with ov.open(store) as db:
        found = db.view(view)
        match format.value:
            case "json":
                data(plain_json(found.to_json()).decode())
            case "oem":
                data_text(db.export_pieces(view, "oem"))
            case _:
                for number, table in enumerate(found.tables()):
                    if number:
                        data("")
                    data_table(table)
        if found.behind:
            note(f"{view} is {counted(found.behind, 'batch')} behind; the next `apply` brings it up to date")


def explain(
    store: Store,
    view: ViewArgument,
    edit: Annotated[
        list[str] | None,
        Option("--edit", "Show what this edit would run, as in '<Ins,&10,Ingredient,&15>'.", "EDIT"),
    ] = None,
) -> None:
    """Say how a view is kept, and why. Also which edits matter to it, and what a given edit would run.

    Example: oemviews explain guide.store Cheap --edit '<Chg,&28,12,25>'
    """
    import oemviews as ov

    with ov.open(store) as db:
        found = db.view(view)
        run = {text: found.statements(text) for text in edit or ()}  # first: one of them may be no edit
        data(found.explain())
        for text, statements in run.items():
            what = counted(len(statements), "statement") if statements else "nothing: the view stays as it is"
            data(f"\n{text} would run {what}")
            for statement in statements:
                data(f"\n{statement}")


def check(store: Store, json: JsonOption = False, engine: EngineOption = Engine.auto) -> None:
    """Recompute every view and compare it with what is kept.

    Example: oemviews check guide.store
    """
    import oemviews as ov
    from oemviews.cli import DIFFERENT

    with ov.open(store, engine=engine.value) as db, working("checking"):
        results = db.check()
    for result in results:
        data(plain_json(result.to_json()).decode() if json else str(result))
    if not all(result.equal for result in results):
        raise SystemExit(DIFFERENT)
