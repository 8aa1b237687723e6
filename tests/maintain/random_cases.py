"""Random graphs, views over the whole view language, and edit scripts that collide."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from oemviews.edits import Change, Delete, Edit, Insert, Name, New, Unname
from oemviews.model import COMPLEX, ROOT, Value
from tests.oracle import OracleGraph

LABELS = ("a", "b", "ab", "c")
VALUES: tuple[Value, ...] = (1, 2, 2, 2.0, "2", "x", "xy", 3, True, None)
EDGE_LABELS = ("a", "a", "a", "b", "b", "ab", "c")


def random_graph(rng: Random) -> OracleGraph:
    """Few objects, so that paths meet: sharing, cycles, self-loops, atomic objects under any label."""
    count = rng.randint(4, 9)
    values: dict[int, Value] = {oid: COMPLEX for oid in range(1, count + 1)}
    for oid in range(2, count + 1):
        if rng.random() < 0.45:
            values[oid] = rng.choice(VALUES)
    complex_ = [oid for oid, value in values.items() if value is COMPLEX]
    edges = {
        (rng.choice(complex_), rng.choice(LABELS), rng.randint(1, count))
        for _ in range(rng.randint(2 * count, 4 * count))
    }
    edges.add((ROOT, "N", rng.choice(complex_)))
    if rng.random() < 0.5:
        edges.add((ROOT, "M", rng.randint(1, count)))
    return OracleGraph(values, edges)


@dataclass(frozen=True)
class Near:
    """Where edits are likely to meet a view: its objects and its labels."""

    oids: frozenset[int] = frozenset()
    labels: tuple[str, ...] = LABELS


def random_batch(rng: Random, graph: OracleGraph, near: Near, kinds: set[str]) -> list[Edit]:
    """Edits that are possible one after the other; single ones and batches of several are about as common."""
    size = 1 if rng.random() < 0.5 else rng.randint(2, 6)
    values, edges = dict(graph.values), set(graph.edges)
    batch: list[Edit] = []
    for number in range(size):
        oids = [oid for oid in values if oid != ROOT]
        complex_ = _nearer(rng, [oid for oid in oids if values[oid] is COMPLEX], near.oids)
        atoms = _nearer(rng, [oid for oid in oids if values[oid] is not COMPLEX], near.oids)
        below = sorted(edge for edge in edges if edge[0] != ROOT)
        close = [edge for edge in below if edge[0] in near.oids and edge[1] in near.labels]
        label = rng.choice(near.labels if near.labels and rng.random() < 0.8 else LABELS)
        kind = rng.choices(("ins", "del", "chg", "name", "new"), (8, 8, 6, 3, 4))[0]
        if kind == "del" and below:
            edge = rng.choice(close if close and rng.random() < 0.8 else below)
            edges.discard(edge)
            batch.append(Delete(*edge))
        elif kind == "chg" and atoms:
            oid = rng.choice(atoms)
            values[oid] = rng.choice(VALUES)
            batch.append(Change(oid, values[oid]))  # type: ignore[arg-type]
        elif kind == "name":
            name = rng.choice(("N", "N", "M"))
            batch.append(Unname(name) if rng.random() < 0.3 else Name(name, rng.choice(oids)))
        elif kind == "new" and complex_:
            own, oid = f"n{number}", max(values) + 1
            values[oid] = COMPLEX if rng.random() < 0.5 else rng.choice(VALUES)
            batch += [New(own, values[oid]), Insert(rng.choice(complex_), label, own)]
        elif complex_:
            kind = "ins"
            edge = (rng.choice(complex_), label, rng.choice(oids))
            if below and rng.random() < 0.1:
                edge = rng.choice(below)  # is there already
            edges.add(edge)
            batch.append(Insert(*edge))
        else:
            continue
        kinds.add(kind)
    return batch


def _nearer(rng: Random, oids: list[int], near: frozenset[int]) -> list[int]:
    close = [oid for oid in oids if oid in near]
    return close if close and rng.random() < 0.8 else oids


# ---- views ----


@dataclass
class View:
    """A statement, and which constructs of the language it has."""

    text: str
    constructs: set[str] = field(default_factory=set)


@dataclass
class _Writer:
    """Writes one statement. `plain` keeps to what is kept by counting."""

    rng: Random
    plain: bool = False
    heads: tuple[str, ...] = ("N", "N", "N", "M", "&1")
    used: set[str] = field(default_factory=set)
    count: int = 0

    def fresh(self) -> str:
        self.count += 1
        return f"v{self.count}"

    def step(self) -> str:
        roll = self.rng.random()
        if roll < 0.55 or (self.plain and roll < 0.85):
            return "." + self.rng.choice("aab")
        if roll < 0.65 or self.plain:
            self.used.add("wildcard")
            return self.rng.choice((".%", ".a%", ".%b"))
        self.used.add("closure")
        return self.rng.choice(("(.a|.b)", ".a*", "(.a)+", ".#", "(.b.a)*", ".a?", "(.a|.b)+", "(.ab|.c)*"))

    def path(self, head: str, steps: tuple[int, int] = (1, 1)) -> str:
        more = self.rng.random() < 0.12
        return head + "".join(self.step() for _ in range(self.rng.randint(*steps) + more))

    def const(self) -> str:
        return self.rng.choice(("1", "2", "2", '"2"', '"x"', "2.0", "true"))

    def op(self) -> str:
        return self.rng.choice(("=", "=", "!=", "<", "<=", ">", ">="))

    def atom(self, variables: list[str], depth: int) -> str:
        rng, x = self.rng, self.rng.choice(variables)
        kinds = ["const", "const", "exists", "join", "in", "like", "identity", "arith", "bare", "type"]
        if not self.plain:
            kinds += ["not", "for all", "count", "sum", "range", "element"] * 2
        kind = rng.choice(kinds if depth < 2 else ["const", "bare", "join"])
        self.used.add({"const": "comparison", "bare": "comparison", "exists": "comparison"}.get(kind, kind))
        match kind:
            case "const":
                return f"{self.path(x, (0, 1))} {self.op()} {self.const()}"
            case "bare":
                return f"exists ({self.path(x)})"
            case "exists":
                y = self.fresh()
                return f"exists {y} in {self.path(x)} : ({self.condition([*variables, y], depth + 1)})"
            case "join":
                other = self.path(rng.choice(variables), (0, 1))
                return f"{self.path(x, (0, 1))} {rng.choice(('=', '=', '<', '!='))} {other}"
            case "in":
                return f"{self.path(x, (0, 1))} in {{{self.const()}, {self.const()}}}"
            case "like":
                return f"{self.path(x, (0, 1))} {rng.choice(('like', 'grep'))} {rng.choice(_PATTERNS)}"
            case "identity":
                return f"{x} == {self.path(rng.choice(variables), (0, 1))}"
            case "arith":
                return (
                    f"{self.path(x, (0, 1))} + 1 {self.op()} {self.path(rng.choice(variables), (0, 1))} * 2"
                )
            case "type":
                return f'type-of({self.path(x, (0, 1))}) = "{rng.choice(("integer", "string", "complex"))}"'
            case "not":
                return f"not ({self.condition(variables, depth + 1)})"
            case "for all":
                y = self.fresh()
                return f"for all {y} in {self.path(x)} : ({self.condition([*variables, y], depth + 1)})"
            case "count":
                return f"count({self.path(x)}) {self.op()} {rng.randint(0, 3)}"
            case "sum":
                func = rng.choice(("sum", "max", "min", "avg"))
                return f"{func}({self.path(x)}) {self.op()} {rng.randint(0, 4)}"
            case "element":
                return f"element({self.path(x)}) {self.op()} {self.const()}"
            case _:
                y = self.fresh()
                members = self.set_query(variables)
                return f"exists {y} in ({members}) : ({self.condition([*variables, y], depth + 1)})"

    def set_query(self, variables: list[str]) -> str:
        self.used.add("range")
        op = self.rng.choice(("union", "intersect", "except"))
        sides = []
        for _ in range(2):
            head = self.rng.choice([*variables, self.heads[0]])
            y = self.fresh()
            where = f" where {self.atom([y], 1)}" if self.rng.random() < 0.4 else ""
            sides.append(f"(select {y} from {self.path(head)} {y}{where})")
        return f"{sides[0]} {op} {sides[1]}"

    def condition(self, variables: list[str], depth: int = 0) -> str:
        parts = [
            self.atom(variables, depth)
            for _ in range(self.rng.choice((1, 1, 1, 2, 2, 3) if not depth else (1, 1, 1, 2)))
        ]
        if len(parts) > 1 and self.rng.random() < 0.4:
            self.used.add("or")
            return "(" + " or ".join(parts) + ")"
        return " and ".join(parts)

    def block(self, width: int) -> str:
        rng = self.rng
        variables: list[str] = []
        items: list[str] = []
        for number in range(max(width, rng.randint(1, 3))):
            head = rng.choice(variables if variables and rng.random() < 0.7 else self.heads)
            if number and not self.plain and rng.random() < 0.12:
                y = self.fresh()
                items.append(f"{y} in ({self.set_query(variables)})")
            elif rng.random() < 0.06:
                self.used.add("label variable")
                y, label = self.fresh(), self.fresh()
                items.append(f"{head}.%@{label} {y}")
            else:
                y = self.fresh()
                items.append(f"{self.path(head)} {y}")
            variables.append(y)
        chosen = rng.sample(variables, width) if width <= len(variables) else variables
        if width > 1:
            self.used.add("several items")
        where = f" where {self.condition(variables)}" if rng.random() < 0.75 else ""
        return f"select {', '.join(chosen)} from {', '.join(items)}{where}{self.with_(chosen)}"

    def everything(self, width: int) -> str:
        """A block that most objects are in, so that an intersection with it has rows."""
        variables = [self.fresh() for _ in range(width)]
        ranges = ", ".join(f"{self.heads[0]}.# {variable}" for variable in variables)
        where = f" where {self.atom(variables, 2)}" if self.rng.random() < 0.4 else ""
        return f"select {', '.join(variables)} from {ranges}{where}"

    def with_(self, heads: list[str]) -> str:
        if self.rng.random() < 0.4:
            return ""
        self.used.add("with")
        known, paths = list(heads), []
        for _ in range(self.rng.randint(1, 3)):
            y, before = self.fresh(), self.used.copy()
            path = self.path(self.rng.choice(known))
            if "closure" in self.used - before or any(mark in path for mark in "(#*+?"):
                self.used = before | {"with closure"}
            paths.append(f"{path} {y}")
            known.append(y)
        return " with " + ", ".join(paths)


_PATTERNS = ('"x%"', '"x"', '"2"')

CONSTRUCTS = (
    *(
        "comparison",
        "or",
        "join",
        "in",
        "like",
        "identity",
        "arith",
        "type",
        "not",
        "for all",
        "count",
        "sum",
    ),
    *("element", "range", "wildcard", "closure", "label variable", "several items", "with", "with closure"),
    *("union", "intersect", "except"),
)
"""What a view can have; each view says which of these it has."""

LINEAR = (
    "comparison",
    "or",
    "join",
    "in",
    "like",
    "identity",
    "arith",
    "type",
    "wildcard",
    "several items",
    "with",
)
"""What a view that is kept by counting can have, among others."""


def random_view(rng: Random, *, plain: bool = False, wanted: str | None = None, over: str = "") -> View:
    """A view over the language, with a certain construct if one is wanted, or over another view."""
    while True:
        writer = _Writer(rng, plain, (f"{over}.item",)) if over else _Writer(rng, plain)
        width = 2 if rng.random() < 0.2 else 1
        text = writer.block(width)
        if rng.random() < 0.2:
            op = "union" if plain else rng.choice(("union", "intersect", "except"))
            writer.used.add(op)
            other = (
                writer.block(width) if op != "intersect" or rng.random() < 0.2 else writer.everything(width)
            )
            text = f"({text}) {op} ({other})"
        if wanted is None or wanted in writer.used:
            return View(f"define view {'V' + over} as item = {text}", writer.used)
