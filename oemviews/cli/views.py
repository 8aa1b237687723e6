"""Commands about views: define, drop, views, show, explain, check."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

import typer

from oemviews.answers.cells import plain_json
from oemviews.answers.rendering import counted, grid
from oemviews.cli.options import Engine, EngineOption, JsonOption, Store, text_of
from oemviews.cli.output import data, data_table, data_text, note

ViewArgument = Annotated[str, typer.Argument(metavar="VIEW", help="The name of a view.", show_default=False)]


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
    statement: Annotated[
        str, typer.Argument(metavar="STATEMENT", help="`define view ...`, @file, or -.", show_default=False)
    ],
    policy: Annotated[Policies, typer.Option("--policy", help="How the view may be kept.")] = Policies.auto,
    engine: EngineOption = Engine.auto,
) -> None:
    """Define a view and fill it.

    \b
    Example: oemviews define guide.store 'define view Cheap as Place =
                 select r from Guide.Restaurant r where r.Price < 20 with r.Name n'
    """
    import oemviews as ov

    with ov.open(store, engine=engine.value) as db:
        view = db.define(text_of(statement), policy=policy.value)
        note(
            f"defined {view.name}: {counted(len(view.primaries), 'primary object')}, "
            f"{counted(view.edge_count, 'edge')}; kept by {view.method}, because {view.reason}"
        )


def drop(store: Store, view: ViewArgument) -> None:
    """Drop a view; what it was defined on stays.

    \b
    Example: oemviews drop guide.store Cheap
    """
    import oemviews as ov

    with ov.open(store) as db:
        db.drop(view)
    note(f"dropped {view}")


def views(store: Store, json: JsonOption = False) -> None:
    """List the views: how each is kept, how fresh and how big it is.

    \b
    Example: oemviews views guide.store
    """
    import oemviews as ov

    with ov.open(store) as db:
        summaries = [view.summary() for view in db.views.values()]
        head = db.batch
    if json:
        for summary in summaries:
            data(plain_json(summary).decode())
        return
    rows = [
        [
            str(s["view"]),
            str(s["policy"]),
            str(s["method"]),
            f"{s['primaries']:,}",
            f"{s['edges']:,}",
            f"{s['batch']}" + (f" ({head - s['batch']} behind)" if s["batch"] < head else ""),
            str(s["statement"]),
        ]
        for s in summaries
    ]
    header = ["view", "policy", "method", "primaries", "edges", "batch", "statement"]
    data_table(grid(header, rows, right=["primaries", "edges"]))


def show(
    store: Store,
    view: ViewArgument,
    format: Annotated[Shapes, typer.Option("--format", help="How to print it.")] = Shapes.table,
) -> None:
    """Show what a view holds.

    \b
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
        typer.Option(
            "--edit", metavar="EDIT", help="Show what this edit would run, as in '<Ins,&10,Ingredient,&15>'."
        ),
    ] = None,
) -> None:
    """Say how a view is kept and why, which edits matter to it and what a given edit would run.

    \b
    Example: oemviews explain guide.store Cheap --edit '<Chg,&28,12,25>'
    """
    import oemviews as ov

    with ov.open(store) as db:
        found = db.view(view)
        run = {text: found.statements(text) for text in edit or ()}  # first: one of them may be no edit
        data(found.explain())
        for text, statements in run.items():
            data(f"\n{text} would run {counted(len(statements), 'statement')}")
            for statement in statements:
                data(f"\n{statement}")


def check(store: Store, json: JsonOption = False, engine: EngineOption = Engine.auto) -> None:
    """Recompute every view and compare it with what is kept.

    \b
    Example: oemviews check guide.store
    """
    import oemviews as ov
    from oemviews.cli import DIFFERENT

    with ov.open(store, engine=engine.value) as db:
        results = db.check()
    for result in results:
        data(plain_json(result.to_json()).decode() if json else str(result))
    if not all(result.equal for result in results):
        raise typer.Exit(DIFFERENT)
