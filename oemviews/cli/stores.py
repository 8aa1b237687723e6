"""Commands about a store as a whole: init, load, guide, export, log, compact."""

from __future__ import annotations

import tempfile
from enum import Enum
from pathlib import Path
from typing import Annotated, Final

from oemviews.answers.rendering import counted
from oemviews.cli.arguments import Argument, Option
from oemviews.cli.options import Engine, EngineOption, JsonOption, Store
from oemviews.cli.output import data, data_table, data_text, note, progress, warning, working
from oemviews.errors import BadInput

_SPOOLED: Final = 1 << 26
"""Characters of an export held in memory; a longer one goes through a temporary file."""


class Documents(str, Enum):
    json = "json"
    jsonl = "jsonl"
    xml = "xml"
    oem = "oem"


class Exports(str, Enum):
    json = "json"
    xml = "xml"
    oem = "oem"


def init(store: Store) -> None:
    """Make an empty store.

    Example: oemviews init guide.store
    """
    import oemviews as ov

    ov.create(store).close()
    note(f"made {store}")


def load(
    store: Store,
    files: Annotated[
        list[Path],
        Argument("FILE", "Documents, or folders of them."),
    ],
    name: Annotated[str, Option("--name", "The name that stands for what is loaded.")],
    format: Annotated[
        Documents | None, Option("--format", "The format, if the file's name does not tell.")
    ] = None,
    key: Annotated[
        list[str] | None,
        Option("--key", "Values under LABEL refer to objects by KEYLABEL.", "LABEL=KEYLABEL"),
    ] = None,
    idref: Annotated[
        list[str] | None,
        Option("--idref", "XML attribute that holds references to IDs.", "ATTR"),
    ] = None,
    engine: EngineOption = Engine.auto,
) -> None:
    """Load documents as one batch, all or nothing.

    Example: oemviews load guide.store guide.json --name Guide
             oemviews load world.store countries.json --name World --key borders=cca3
    """
    import oemviews as ov

    with ov.open(store, engine=engine.value) as db, progress("loading") as told:
        loaded = db.load(
            files,
            name=name,
            format=format.value if format else None,
            keys=_keys(key or []),
            idrefs=idref or (),
            progress=told,
        )
    note(str(loaded))
    for line in loaded.warnings:
        warning(line)


def _keys(pairs: list[str]) -> dict[str, str]:
    keys = {}
    for pair in pairs:
        label, sign, key_label = pair.partition("=")
        if not (label and sign and key_label):
            raise BadInput(f"found --key {pair}, wanted --key LABEL=KEYLABEL, as in --key borders=cca3")
        keys[label] = key_label
    return keys


def guide(
    store: Store,
    name: Annotated[str | None, Argument("NAME", "Only what this name reaches.")] = None,
    depth: Annotated[int, Option("--depth", "Levels to show below the name.", least=1)] = 6,
) -> None:
    """Show every label path, with counts, types and samples. Such a summary is called a DataGuide.

    Example: oemviews guide guide.store Guide
    """
    import oemviews as ov

    with ov.open(store) as db, working("looking"):
        found = db.dataguide(name, depth=depth)
    data_table(found.table())
    for line in found.notes:
        note(line)


def export(
    store: Store,
    name: Annotated[str, Argument("NAME", "A name or a view.")],
    format: Annotated[Exports, Option("--format", "The format to write.")] = Exports.json,
    max_size: Annotated[
        int | None, Option("--max-size", "Refuse to write more characters than this.", "SIZE")
    ] = None,
) -> None:
    """Write a document back: what a name or a view stands for.

    Example: oemviews export guide.store Guide --format xml > guide.xml
    """
    import oemviews as ov

    with (
        ov.open(store) as db,
        tempfile.SpooledTemporaryFile(_SPOOLED, "w+", encoding="utf-8", newline="") as whole,
    ):
        with working("exporting"):
            whole.writelines(db.export_pieces(name, format.value, max_size=max_size))
        whole.seek(0)  # a document that is refused half way is not printed at all
        data_text(whole)


def log(store: Store, json: JsonOption = False) -> None:
    """List the batches: number, time, what.

    Example: oemviews log guide.store
    """
    import oemviews as ov
    from oemviews.answers.cells import plain_json

    with ov.open(store) as db:
        batches = db.batches
    if json:
        for info in batches:
            data(
                plain_json(
                    {
                        "batch": info.batch,
                        "time": info.at.isoformat(),
                        "kind": info.kind,
                        "what": info.what,
                        "net": len(info.counts),
                        "log": info.log_id,
                        "lines": info.lines,
                    }
                ).decode()
            )
        return
    data_table(batches.table())


def compact(
    store: Store,
    keep: Annotated[int, Option("--keep", "Batches whose states stay to be had.", least=0)] = 0,
) -> None:
    """Drop what no name reaches and no retained batch needs.

    Example: oemviews compact guide.store
    """
    import oemviews as ov

    with ov.open(store) as db, working("compacting"):
        done = db.compact(keep_batches=keep)
    gone = (
        f"dropped {counted(done.objects, 'object')} and {counted(done.files, 'file')} of {done.bytes:,} bytes"
    )
    note(f"{gone}; states from batch {done.floor} on can be had")
