"""From the text of a query to its answer: parse, refuse, normalise, choose an engine, wait to be asked."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from lorel import ast
from lorel.analysis import steps_of
from lorel.errors import RefusedError
from lorel.normal import ANY, ROOT, Automaton, Block, Labels, Normal, blocks, is_mixed
from lorel.normalise import normalise
from lorel.parser import parse
from lorel.plan import Plan, explain, operators
from lorel.pruning import pruned
from lorel.scope import listed, suggestion
from oemviews import java
from oemviews.answers.answer import About, Answer
from oemviews.answers.cells import Column, unique
from oemviews.answers.evaluate import Evaluation, constructs
from oemviews.answers.rendering import counted
from oemviews.engines.local import LocalGraph
from oemviews.errors import BadInput
from oemviews.front.chooser import MOST_ROWS, Choice, Wish, choose
from oemviews.front.snapshot import Snapshot
from oemviews.store.values import Ints

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Query: TypeAlias = ast.Select | ast.SetQuery | ast.ExprQuery

_TAKEN_BY = {
    ast.DefineView: ("defines a view", "`oemviews define STORE ...` or `db.define(...)`"),
    ast.DropView: ("drops a view", "`oemviews drop STORE VIEW` or `db.drop(...)`"),
    ast.NameObject: ("names an object", "`oemviews apply STORE --statement ...` or `db.update(...)`"),
    ast.Unname: ("takes a name away", "`oemviews apply STORE --statement ...` or `db.update(...)`"),
    ast.Update: ("updates objects", "`oemviews apply STORE --statement ...` or `db.update(...)`"),
}


def query_of(text: str) -> Query:
    """The query that a text is; any other statement is refused, with the command that takes it."""
    statement = parse(text)
    if isinstance(statement, ast.Select | ast.SetQuery | ast.ExprQuery):
        return statement
    does, taken_by = _TAKEN_BY[type(statement)]
    raise RefusedError(
        f"this is no query: it {does}", text=text, span=statement.span, hint=f"it is taken by {taken_by}"
    )


def ask(text: str, snapshot: Snapshot, wish: Wish) -> Answer:
    """The answer to a query, not yet run."""
    asked = normalise(query_of(text), snapshot.catalog, text=text)
    known = pruned(asked, snapshot.paths)
    query = known.query
    with of_some_size():
        choice, plan = chosen(query, snapshot, wish)
    evaluation = Evaluation(snapshot.engine(choice.engine, graphs_of(query)))

    def explained() -> str:
        run = evaluation
        if run.plans and not run.actual:  # on Spark, where counting has its price
            run = Evaluation(run.engine, counting=True)
            run.columns(query)
        plans = run.plans or [plan or run.plan(query)]
        return "\n".join([*known.notes, *(explain(each, run.actual or None) for each in plans)])

    def columns() -> tuple[Column, ...]:
        with of_some_size():
            return evaluation.columns(query)

    return Answer(
        unique([item.label for item in next(blocks(query)).select]),
        columns,
        About(
            choice.engine,
            choice.why,
            explained,
            lambda: why_empty(asked, snapshot),
            (*lagging(asked, snapshot), *unknown_labels(asked, snapshot)),
        ),
        graph=lambda: _graph_of_answer(query, snapshot),
        frame=lambda answer: _frame(answer, query, evaluation, snapshot),
    )


@contextmanager
def of_some_size() -> Iterator[None]:
    """Plans are walked by functions that call themselves: a statement of thousands of parts is too deep."""
    try:
        yield
    except RecursionError:
        raise BadInput(
            "found a statement with too many parts to be planned: split it into several, or into views"
        ) from None


def chosen(query: Normal, snapshot: Snapshot, wish: Wish) -> tuple[Choice, Plan | None]:
    """The engine for a query, and its plan if it was needed to choose."""
    if wish == "spark":
        return Choice("spark", "asked for"), None
    if wish == "auto" and snapshot.choice.engine == "spark":
        return snapshot.choice, None
    plan = Evaluation(snapshot.engine("local", graphs_of(query))).plan(query)
    rows = sum(node.estimate for node in operators(plan))
    there = rows <= MOST_ROWS or java.find() is not None
    return choose(wish, edges=snapshot.base().edge_count, indexed=True, rows=rows, spark=there), plan


def _graph_of_answer(query: Normal, snapshot: Snapshot) -> LocalGraph:
    """The graph whose objects are shown with their contents: a view's if the answer comes from one."""
    graphs = {step.graph for step in steps_of(next(blocks(query)))}
    return snapshot.document(graphs.pop() if len(graphs) == 1 else "")


def _frame(answer: Answer, query: Normal, evaluation: Evaluation, snapshot: Snapshot) -> DataFrame:
    """A DataFrame of the answer. Only a plain query on Spark stays there; all others are handed over."""
    from oemviews.answers.spark_answer import frame_of
    from oemviews.engines.spark.graph import frame_of as frame_of_table

    plain = not is_mixed(query) and not any(constructs(block) or block.order_by for block in blocks(query))
    if evaluation.engine.name == "spark" and plain:
        return frame_of(evaluation, query, answer.labels)
    return frame_of_table(snapshot.spark(), answer.to_arrow())


# ---- what a reader should know ----


def graphs_of(query: Normal) -> frozenset[str]:
    """The graphs that a query reads: "" is the base graph, any other name a view."""
    return frozenset(step.graph for step in steps_of(query))


def lagging(query: Normal, snapshot: Snapshot) -> Iterator[str]:
    """A sentence for each view of the query that does not contain the newest batch yet."""
    for name in sorted(graphs_of(query) & snapshot.stamps.keys()):
        behind = counted(snapshot.batch - snapshot.stamps[name], "batch")
        yield f"the view {name} is {behind} behind; the next `apply` brings it up to date"


def unknown_labels(query: Normal, snapshot: Snapshot) -> Iterator[str]:
    """A sentence for each label of the query that no edge has, with the labels that go on from there."""
    if snapshot.choice.engine == "spark":  # to know its labels the whole graph would have to be read
        return
    told: set[tuple[str, str]] = set()
    for step in steps_of(query):
        exact = [step.path] if isinstance(step.path, Labels) else [labels for _, labels, _ in step.path.moves]
        for labels in exact if step.src != ROOT else ():
            graph = snapshot.graph(step.graph)
            if not labels.exact or (labels.text, step.graph) in told or graph.book.one(labels) != -1:
                continue
            told.add((labels.text, step.graph))
            here = labels_after(step.src, query, snapshot)
            hint = suggestion(labels.text, here) or suggestion(labels.text, graph.book.texts)
            there = f"labels here: {listed(here)}" if here else ""
            yield "; ".join(filter(None, [f"no edge is labelled {labels.text!r}", f"{hint}{there}".strip()]))


def labels_after(variable: str, query: Normal, snapshot: Snapshot) -> list[str]:
    """The labels of the edges out of the objects that a variable of a from clause can be bound to."""
    for block in blocks(query):
        for reached, graph, oids, _ in walked(block, snapshot):
            if reached == variable:
                return sorted(graph.book.names(np.unique(graph.out(oids, ANY).label)).tolist())
    return []


def walked(block: Block, snapshot: Snapshot) -> Iterator[tuple[str, LocalGraph, Ints, str]]:
    """What plain paths of a from clause reach, conditions ignored: variable, graph, objects, path."""
    sets: dict[str, tuple[Ints, str]] = {ROOT: (np.zeros(1, np.int64), "")}
    for step in block.from_.steps:
        if isinstance(step.path, Automaton) or step.src not in sets:
            continue
        oids, words = sets[step.src]
        graph = snapshot.graph(step.graph)
        there = np.unique(graph.out(oids, step.path).other)
        sets[step.dst] = there, f"{words}.{step.path.text}".lstrip(".")
        yield step.dst, graph, there, sets[step.dst][1]


def why_empty(query: Normal, snapshot: Snapshot) -> str:
    """If a path of the from clause ends nowhere: after which step, and which labels go on from there."""
    if snapshot.choice.engine == "spark":
        return ""
    for block in blocks(query):
        sources = {step.dst: step.src for step in block.from_.steps}
        words: dict[str, str] = {}
        for variable, _, oids, text in walked(block, snapshot):
            words[variable] = text
            source = sources[variable]
            if not len(oids) and source in words:
                here = listed(labels_after(source, query, snapshot))
                return f"nothing lies at {text}; labels at {words[source]}: {here}"
    return ""
