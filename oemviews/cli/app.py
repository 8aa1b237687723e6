"""The commands, each in the module of its kind."""

from __future__ import annotations

from typing import Annotated

import typer

from oemviews.cli import applying, environment, queries, stores, views

app = typer.Typer(
    name="oemviews",
    help="Materialized views over JSON and XML, kept up to date edit by edit.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"oemviews {version('oemviews')}")
        raise typer.Exit


@app.callback()
def oemviews(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Add the traceback to an error message.")] = False,
) -> None:
    """Materialized views over JSON and XML, kept up to date edit by edit.

    \b
    A first look:          oemviews demo
    A store of your own:   oemviews init guide.store
                           oemviews load guide.store guide.json --name Guide
                           oemviews query guide.store 'select Guide.Restaurant.Name'

    Exit codes: 0 done, 1 check found a difference, 2 bad input, 3 the store is missing, locked or damaged,
    4 the environment lacks something.
    """


for command in (
    environment.demo,
    environment.doctor,
    stores.init,
    stores.load,
    stores.guide,
    queries.query,
    queries.shell,
    views.define,
    views.drop,
    views.views,
    views.show,
    views.explain,
    applying.apply,
    views.check,
    stores.export,
    stores.log,
    stores.compact,
):
    app.command()(command)
