"""What changes a database: documents, edits, update statements, definitions. Each is one batch.

What a method works with is imported in it: a command that only asks starts sooner without.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import IO, TYPE_CHECKING

from lorel import ast
from lorel.errors import RefusedError
from lorel.parser import parse
from oemviews.answers.rendering import counted
from oemviews.edits import Edit
from oemviews.front.chooser import Wish
from oemviews.front.given import edits_in, legible, paths_in, text_in
from oemviews.front.live import Live
from oemviews.front.querying import of_some_size
from oemviews.front.readable import Readable
from oemviews.front.snapshot import Snapshot
from oemviews.store.batch import BatchInfo
from oemviews.store.files import storing
from oemviews.store.store import Store

if TYPE_CHECKING:
    from graphframes import GraphFrame
    from pyspark.sql import SparkSession

    from oemviews.documents.edit_log import EditLog
    from oemviews.front.applying import BatchReport, LogRun
    from oemviews.front.editing import Edits
    from oemviews.front.keeping import Keeper
    from oemviews.front.loaded import Loaded
    from oemviews.front.view import View, Views

StrPath = str | os.PathLike[str]


class Writable(Readable):
    """The part of a database that writes; every method takes the store's lock for as long as it needs it."""

    def __init__(self, store: Store, engine: Wish = "auto", spark: SparkSession | None = None) -> None:
        self._store, self._wish, self._spark = store, engine, spark
        self._live = Live(store, self._session)
        self._show_to_spark()

    @cached_property
    def _keeper(self) -> Keeper:
        from oemviews.front.keeping import Keeper

        return Keeper(self._live, self._wish, self._show_to_spark)

    def _session(self) -> SparkSession:
        if self._spark is None:
            from oemviews.session import session

            self._spark = session()
            self._show_to_spark()
        return self._spark

    def _show_to_spark(self) -> None:
        """Where there is a session, the views are its temporary views too."""
        if self._spark is not None:
            from oemviews.front.spark_views import register

            register(self._spark, self._views().values())

    def _seen(self) -> Snapshot:
        with self._store.turn:
            self._store.refresh()
            return self._live.snapshot()

    # ---- documents ----

    def load(
        self,
        paths: StrPath | Sequence[StrPath],
        *,
        name: str,
        format: str | None = None,
        keys: Mapping[str, str] | None = None,
        idrefs: Sequence[str] = (),
        progress: Callable[[int, int], None] | None = None,
    ) -> Loaded:
        """Load documents as one batch, all or nothing; `name` then stands for their root.

        Args:
            paths: files (JSON, JSON Lines, XML, OEM text; also `.gz`, `.zst`), or folders of them.
            format: `json`, `jsonl`, `xml` or `oem`, if the names of the files do not tell.
            keys: `{"borders": "cca3"}`: a value under `borders` refers to the object whose `cca3` it is.
            idrefs: XML attributes that refer to the IDs of other elements.
        """
        from oemviews.documents.load import load_documents
        from oemviews.front.loaded import Loaded, stored

        given, name = paths_in(paths), text_in(name, "a name")
        with self._store.writing():
            loading = load_documents(
                given,
                name=name,
                format=format,
                keys=keys,
                idrefs=idrefs,
                first_oid=self._store.next_oid,
                first_pos=self._store.next_pos,
                spark=self._session() if self._wish == "spark" else self._spark,
                progress=progress,
            )
            files = ", ".join(str(path) for path in given[:3]) + (" ..." if len(given) > 3 else "")
            info = stored(self._live, self._keeper, loading, name, legible(f"load {files} as {name}"))
        return Loaded(name, info.batch, loading.report)

    def load_graph(self, graph: GraphFrame, *, name: str) -> BatchInfo:
        """Load a GraphFrame as one batch: every vertex is an object below `name`, under the label `item`."""
        from oemviews.front.loaded import stored
        from oemviews.graph import from_graphframe

        with self._store.writing():
            free = self._store.next_oid, self._store.next_pos
            chunks = from_graphframe(graph, name=name, first_oid=free[0], first_pos=free[1])
            return stored(self._live, self._keeper, chunks, name, f"load a GraphFrame as {name}")

    # ---- edits ----

    def apply(self, edits: Iterable[Edit | str] | Edit | str, id: str | None = None) -> BatchReport:
        """Apply edits as one batch; an edit that cannot be refuses all of them.

        Args:
            edits: `Insert`, `Delete`, `Change`, `New`, `Name`, `Unname`; or one in the paper's notation.
            id: an identity of the batch: a second batch with the same one does nothing.
        """
        from oemviews.front.applying import BatchReport, Origin, apply_edits

        listed = edits_in(edits)
        with self._store.writing():
            if id is not None and self._store.consumed(id):
                return BatchReport(None, len(listed), 0, len(listed), {}, 0.0)
            origin = Origin("edits", counted(len(listed), "edit"), id, len(listed) if id else None)
            return apply_edits(self._live, self._keeper, listed, origin)

    @contextmanager
    def edits(self) -> Iterator[Edits]:
        """Collect edits in a block and apply them as one batch at its end; nothing is stored if it raises."""
        from oemviews.front.editing import Edits

        made = Edits()
        yield made
        made.report = self.apply(made.made)

    def update(self, statement: str, *, dry_run: bool = False) -> BatchReport:
        """Run `update`, `name` or `unname`: the edits it comes to on the state of now, as one batch."""
        from oemviews.answers.evaluate import Evaluation
        from oemviews.front.applying import Origin, Trial, apply_edits
        from oemviews.front.updates import edits_of

        parsed = parse(statement)
        if not isinstance(parsed, ast.Update | ast.NameObject | ast.Unname):
            hint = "queries are taken by `query`, views by `define` and `drop`"
            raise RefusedError("this updates nothing", text=statement, span=parsed.span, hint=hint)
        with self._store.writing(), of_some_size():
            snapshot = self._live.snapshot()
            evaluation = Evaluation(
                snapshot.engine("spark" if self._wish == "spark" else "local", snapshot.definitions)
            )
            made = edits_in(edits_of(parsed, statement, snapshot.catalog, evaluation))
            if dry_run:
                return Trial(self._live).batch(made)
            return apply_edits(self._live, self._keeper, made, Origin("update", _one_line(statement)))

    def apply_log(
        self,
        log: StrPath | IO[bytes],
        *,
        batch: int | None = None,
        id: str | None = None,
        again: bool = False,
        dry_run: bool = False,
    ) -> LogRun:
        """Apply an edit log, batch by batch: iterate what is returned for the reports.

        Args:
            log: a file, or an open binary stream.
            batch: edits a batch, in a log that does not say where its batches end.
            id: what the log is known by in the store; the path of the file if not said. A stream has none.
            again: apply it once more, although it was applied before.
            dry_run: say what it would do, and store nothing.
        """
        from oemviews.documents.edit_log import EditLog
        from oemviews.front.applying import LogRun

        if isinstance(log, str | os.PathLike):
            path = Path(log)
            if not path.is_fifo():
                read, known = EditLog.of(path), legible(id or str(path.resolve()))
                return LogRun(self._live, self._keeper, read, known, batch, again, dry_run)
            with path.open("rb") as stream:
                read = self._piped(stream, str(path))
        else:
            read = self._piped(log, "-")
        return LogRun(self._live, self._keeper, read, id, batch, again, dry_run)

    def _piped(self, stream: IO[bytes], name: str) -> EditLog:
        """A log that can be read only once, kept as long as it is needed."""
        from oemviews.documents.edit_log import EditLog

        with storing("the edit log that is read"):
            self._store.cache.mkdir(exist_ok=True)
            return EditLog.of_stream(stream, self._store.cache, name)

    # ---- views ----

    def define(self, statement: str, *, policy: str = "auto") -> View:
        """Define a view and fill it. Policies: `auto`, `incremental`, `strict`, `full`."""
        with self._store.writing(), of_some_size():
            name = self._keeper.define(statement, policy)
        return self._views()[name]

    def drop(self, name: str) -> None:
        """Drop a view."""
        with self._store.writing():
            self._keeper.drop(text_in(name, "a view"))
        if self._spark is not None:
            from oemviews.front.spark_views import forget

            forget(self._spark, name)

    def _views(self) -> Views:
        from oemviews.front.view import View, Views

        return Views({name: View(self._live, self._keeper, d) for name, d in self._live.definitions.items()})


def _one_line(statement: str) -> str:
    line = " ".join(statement.split())
    return line if len(line) <= 200 else line[:199] + "…"
