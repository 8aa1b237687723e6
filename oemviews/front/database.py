"""The front door: a store of objects, its queries and its views."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lorel import ast
from lorel.parser import parse
from oemviews.answers.rendering import counted, html_table
from oemviews.errors import BadInput
from oemviews.front.chooser import Wish
from oemviews.front.given import engine_in, legible, number_in, text_in
from oemviews.front.writable import StrPath, Writable
from oemviews.model import Oid
from oemviews.store.store import Store

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from oemviews.answers.answer import Answer
    from oemviews.front.applying import BatchReport
    from oemviews.front.batches import Batches
    from oemviews.front.checking import Checked
    from oemviews.front.past import Past
    from oemviews.front.view import View, Views
    from oemviews.store.compact import Compaction


def create(path: StrPath, engine: Wish = "auto", spark: SparkSession | None = None) -> Database:
    """Make an empty store and open it.

    Args:
        engine: `local`, `spark`, or `auto`, which takes Spark only for work too large for one process.
        spark: the session to use; if none is given, the live one or a new one, when it is needed.
    """
    wish = engine_in(engine)
    if legible(str(path)) != str(path):
        raise BadInput(f"found the path {legible(str(path))}, wanted one that is UTF-8")
    if Path(path).exists() and (not Path(path).is_dir() or any(Path(path).iterdir())):
        raise BadInput(f"{path} is already there: choose another place, or open it if it is a store")
    return Database(Store.create(path), wish, spark)


def open(path: StrPath, engine: Wish = "auto", spark: SparkSession | None = None) -> Database:
    """Open a store that is there; the arguments are those of `create`."""
    return Database(Store.open(path), engine_in(engine), spark)


class Database(Writable):
    """An open store. Reading sees the newest batch; writing takes the store's lock for one batch."""

    @property
    def path(self) -> Path:
        return self._store.path

    @property
    def batch(self) -> int:
        """The number of the newest batch."""
        self._store.refresh()
        return self._store.head

    @property
    def batches(self) -> Batches:
        """The log: one entry a batch."""
        from oemviews.front.batches import Batches

        self._store.refresh()
        return Batches(self._store.batches())

    def at(self, batch: int) -> Past:
        """The database as it was after an earlier batch."""
        from oemviews.front.past import Past

        self._store.refresh()
        first, last = self._store.floor, self._store.head
        if not first <= number_in(batch, "a batch") <= last:
            raise BadInput(f"there is no batch {batch} to be had; this store holds {first} to {last}")
        return Past(self._store, batch, self._wish, self._session)

    # ---- views ----

    @property
    def views(self) -> Views:
        """The views by name, in order of definition."""
        self._store.refresh()
        return self._views()

    def view(self, name: str) -> View:
        return self.views[text_in(name, "a view")]

    def check(self) -> list[Checked]:
        """Recompute every view and compare it with what is kept, once those that lag are up to date."""
        self._store.refresh()
        if any(view.behind for view in self._views().values()):
            with self._store.writing():
                self._keeper.catch_up()
        return self._keeper.check()

    def repair(self) -> list[Checked]:
        """Mend the views that differ from a fresh evaluation; what was wrong with each."""
        with self._store.writing():
            return self._keeper.repair()

    # ---- the rest ----

    def execute(self, statement: str) -> Answer | BatchReport | View | None:
        """Run any statement: a query, an update, `define view` or `drop view`."""
        match parse(statement):
            case ast.DefineView():
                return self.define(statement)
            case ast.DropView(name):
                self.drop(name)
                return None
            case ast.Update() | ast.NameObject() | ast.Unname():
                return self.update(statement)
            case _:
                return self.query(statement)

    def garbage(self) -> list[Oid]:
        """The objects that no name reaches; on the Spark engine found with GraphFrames."""
        snapshot = self._seen()
        if self._wish == "spark":
            from oemviews.graph import garbage

            return garbage(snapshot.spark(), snapshot.state()).tolist()  # type: ignore[no-any-return]
        from oemviews.front.garbage import garbage_of

        return garbage_of(snapshot.base()).tolist()  # type: ignore[no-any-return]

    def compact(self, keep_batches: int = 0) -> Compaction:
        """Drop objects that no name reaches, and files that no retained batch needs."""
        from oemviews.front.garbage import compacted

        with self._store.writing():
            self._keeper.catch_up()
            done = compacted(
                self._live, self._keeper, number_in(keep_batches, "a number of batches to keep", 0)
            )
        return done

    def close(self) -> None:
        """Let go of the store; a Spark session stays as it is."""
        self._live.forget()
        self._store.close()

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _summary(self) -> list[tuple[str, str]]:
        graph = self._seen().base()
        views = ", ".join(self._live.definitions) or "none"
        size = f"{counted(graph.object_count, 'object')}, {counted(graph.edge_count, 'edge')}"
        return [
            ("store", str(self.path)),
            ("batch", str(self._store.head)),
            ("size", size),
            ("names", ", ".join(sorted(graph.names())) or "none"),
            ("views", views),
        ]

    def __repr__(self) -> str:
        return "\n".join(f"{what:6} {found}" for what, found in self._summary())

    def _repr_html_(self) -> str:
        return html_table(("", "found"), self._summary())
