"""The command that changes a database: apply."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from oemviews.answers.cells import plain_json
from oemviews.answers.rendering import counted
from oemviews.cli.options import Engine, EngineOption, JsonOption, Store, text_of
from oemviews.cli.output import data, note
from oemviews.errors import BadInput

if TYPE_CHECKING:
    from oemviews.front.applying import BatchReport


def apply(
    store: Store,
    logs: Annotated[
        list[str] | None,
        typer.Argument(metavar="LOG...", help="Edit logs; - is standard input.", show_default=False),
    ] = None,
    statement: Annotated[
        str | None,
        typer.Option("--statement", metavar="STATEMENT", help="A Lorel update, as one batch; @file, or -."),
    ] = None,
    batch: Annotated[
        int | None, typer.Option("--batch", min=1, help="Edits a batch, in a log without commit lines.")
    ] = None,
    id: Annotated[str | None, typer.Option("--id", help="What the log is known by; else its path.")] = None,
    again: Annotated[bool, typer.Option("--again", help="Apply a log once more on purpose.")] = False,
    engine: EngineOption = Engine.auto,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would happen; store nothing.")] = False,
    json: JsonOption = False,
) -> None:
    """Apply edit logs, or one update statement, and bring every view up to date.

    \b
    Example: oemviews apply guide.store tonight.jsonl
             oemviews apply guide.store --statement 'update &5 := "Hunan Wok"'
    """
    import oemviews as ov

    if bool(logs) == (statement is not None):
        raise BadInput("found neither a LOG nor a --statement, or both; wanted one of them")
    if id is not None and len(logs or ()) > 1:
        raise BadInput(
            f"found --id {id} for {len(logs or ())} logs, wanted one log: an id stands for one log"
        )
    with ov.open(store, engine=engine.value) as db:
        if statement is not None:
            report = db.update(text_of(statement), dry_run=dry_run)
            show(report, json=json)
            return
        for log in logs or ():
            source = sys.stdin.buffer if log == "-" else Path(log)
            run = db.apply_log(source, batch=batch, id=id, again=again, dry_run=dry_run)
            done = 0
            for report in run:
                if not done and run.resumed:
                    note(f"{log}: resumed after line {run.resumed}; what came before was applied earlier")
                show(report, json=json)
                done += 1
            if not done:
                note(
                    f"{log}: nothing to do: its {counted(run.resumed, 'line')} were applied earlier"
                    if run.resumed
                    else f"{log}: no edits"
                )


def show(report: BatchReport, *, json: bool) -> None:
    data(plain_json(report.to_json()).decode() if json else repr(report))
    sys.stdout.flush()
