"""Commands that ask: query, shell."""

from __future__ import annotations

import sys
from enum import Enum
from typing import TYPE_CHECKING, Annotated

from oemviews.cli.arguments import Argument, Option
from oemviews.cli.options import Engine, EngineOption, Store, text_of
from oemviews.cli.output import data, data_lines, data_table, data_text, note, warning, working

if TYPE_CHECKING:
    from oemviews.answers.answer import Answer


class Formats(str, Enum):
    table = "table"
    json = "json"
    csv = "csv"
    arrow = "arrow"
    oem = "oem"


def query(
    store: Store,
    statement: Annotated[
        str,
        Argument("STATEMENT", "A Lorel query, @file, or - for standard input."),
    ],
    format: Annotated[Formats, Option("--format", "How to print the answer.")] = Formats.table,
    engine: EngineOption = Engine.auto,
    at: Annotated[int | None, Option("--at", "Ask the state after this batch.", "BATCH")] = None,
    depth: Annotated[int, Option("--depth", "Levels of complex objects to show (json, oem).", least=0)] = 0,
    explain: Annotated[bool, Option("--explain", "Print the plan and the rows of each operator.")] = False,
) -> None:
    """Answer a query.

    Example: oemviews query guide.store 'select r.Name from Guide.Restaurant r where r.Price < 20'
             oemviews query guide.store @cheap.lorel --format json --depth 2
    """
    import oemviews as ov

    with ov.open(store, engine=engine.value) as db:
        with working("asking"):
            text = text_of(statement)
            answer = db.query(text) if at is None else db.at(batch=at).query(text)
            for line in answer.notes:
                warning(line)
            found = answer.explain() if explain else len(answer)
        if explain:
            data(str(found))
        else:
            show(answer, format.value, depth)


def show(answer: Answer, format: str = "table", depth: int = 0) -> None:
    """Print an answer."""
    from oemviews.answers import rendering

    match format:
        case "json":
            data_lines(answer.json_lines(depth))
        case "csv":
            data_text(rendering.answer_csv(answer))
        case "arrow":
            import pyarrow as pa

            table = answer.to_arrow()
            with pa.ipc.new_stream(sys.stdout.buffer, table.schema) as stream:
                stream.write_table(table)
        case "oem":
            from oemviews.answers.answer_oem import answer_oem

            data_text(answer_oem(answer, depth))
        case _:
            data_table(rendering.answer_grid(answer, None))
            note(f"{rendering.size_note(answer, None)}; engine: {answer.engine} ({answer.about.why})")


def shell(store: Store, engine: EngineOption = Engine.auto) -> None:
    """Type statements and see their answers. `.help` lists what else there is.

    Example: oemviews shell guide.store
    """
    import oemviews as ov
    from oemviews.cli import BAD_INPUT
    from oemviews.cli.shell import Shell

    with ov.open(store, engine=engine.value) as db:
        talk = Shell(db)
        talk.loop()
        if talk.failed and not sys.stdin.isatty():  # a script with a fault in it is bad input
            raise SystemExit(BAD_INPUT)
