"""The command that changes a database: apply."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from oemviews.answers.cells import plain_json
from oemviews.cli.arguments import Argument, Option
from oemviews.cli.options import Engine, EngineOption, JsonOption, Store, text_of
from oemviews.cli.output import data, note, working
from oemviews.errors import BadInput

if TYPE_CHECKING:
    from oemviews.front.applying import BatchReport


def apply(
    store: Store,
    logs: Annotated[
        list[str] | None,
        Argument("LOG", "Edit logs; - is standard input."),
    ] = None,
    statement: Annotated[
        str | None,
        Option("--statement", "A Lorel update, as one batch; @file, or -.", "STATEMENT"),
    ] = None,
    batch: Annotated[
        int | None, Option("--batch", "Edits a batch, in a log without commit lines.", least=1)
    ] = None,
    id: Annotated[str | None, Option("--id", "What the log is known by; else its path.")] = None,
    again: Annotated[bool, Option("--again", "Apply a log once more on purpose.")] = False,
    engine: EngineOption = Engine.auto,
    dry_run: Annotated[bool, Option("--dry-run", "Say what would happen; store nothing.")] = False,
    json: JsonOption = False,
) -> None:
    """Apply edit logs, or an update, and bring every view up to date.

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
    if statement is not None and (batch or again or id is not None):
        raise BadInput("found --batch, --id or --again with --statement, wanted them with a LOG only")
    with ov.open(store, engine=engine.value) as db, working("applying"):
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
                    f"{log}: nothing to do after line {run.resumed:,}; what came before was applied earlier"
                    if run.resumed
                    else f"{log}: no edits"
                )


def show(report: BatchReport, *, json: bool) -> None:
    data(plain_json(report.to_json()).decode() if json else repr(report))
    sys.stdout.flush()
