"""The four views of `maintain.py`: in Lorel, the same as SQL, and the edits to try on each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class View:
    """`edits` are pairs of a kind and a label: of the edge, or of the edge to the value that changes."""

    name: str
    body: str
    sql: str
    edits: tuple[tuple[str, str], ...]


_RESTAURANTS: Final = """edges r JOIN edges g
  ON g.src = 0 AND g.label = 'Guide' AND r.src = g.dst AND r.label = 'Restaurant'"""
_THAI: Final = """JOIN edges c ON c.src = r.dst AND c.label = 'Category'
  JOIN objects cv ON cv.oid = c.dst AND cv.text = 'Thai'"""
_PRICE: Final = """JOIN edges p ON p.src = r.dst AND p.label = 'Price'
  JOIN objects pv ON pv.oid = p.dst AND pv.number"""
_NEARBY: Final = "JOIN edges s ON s.src = r.dst AND s.label = 'Nearby'"

VIEWS: Final = (
    View(
        "chain",
        """select e from Guide.Restaurant r, r.Entree e
           where r.Category = "Thai" and e.Ingredient = "Ingredient 3" with e.Name n, e.Ingredient i""",
        f"""SELECT DISTINCT e.dst FROM {_RESTAURANTS} {_THAI}
            JOIN edges e ON e.src = r.dst AND e.label = 'Entree'
            JOIN edges i ON i.src = e.dst AND i.label = 'Ingredient'
            JOIN objects iv ON iv.oid = i.dst AND iv.text = 'Ingredient 3'""",
        (("ins", "Ingredient"), ("del", "Entree"), ("del", "Ingredient"), ("chg", "Category")),
    ),
    View(
        "join",
        "select r from Guide.Restaurant r, r.Nearby s where r.Category = s.Category and r.Price < 8",
        f"""SELECT DISTINCT r.dst FROM {_RESTAURANTS} {_PRICE} < 8 {_NEARBY}
            JOIN edges c ON c.src = r.dst AND c.label = 'Category' JOIN objects cv ON cv.oid = c.dst
            JOIN edges d ON d.src = s.dst AND d.label = 'Category'
            JOIN objects dv ON dv.oid = d.dst AND dv.text = cv.text""",
        (("ins", "Nearby"), ("del", "Nearby"), ("chg", "Category")),
    ),
    View(
        "negation",
        'select r from Guide.Restaurant r where r.Category = "Thai" and not (r.Entree.Price > 12)',
        f"""SELECT DISTINCT r.dst FROM {_RESTAURANTS} {_THAI}
            WHERE NOT EXISTS (SELECT 1 FROM edges e JOIN edges p ON p.src = e.dst AND p.label = 'Price'
              JOIN objects pv ON pv.oid = p.dst AND pv.number > 12
              WHERE e.src = r.dst AND e.label = 'Entree')""",
        (("ins", "Entree"), ("del", "Entree"), ("chg", "Price")),
    ),
    View(
        "closure",
        "select n from Guide.Restaurant r, r(.Nearby)+ n where r.Price < 6",
        f"""WITH RECURSIVE reached(start, oid) AS (
              SELECT r.dst, s.dst FROM {_RESTAURANTS} {_PRICE} < 6 {_NEARBY}
              UNION SELECT start, s.dst FROM reached JOIN edges s ON s.src = oid AND s.label = 'Nearby')
            SELECT DISTINCT oid FROM reached""",
        (("ins", "Nearby"), ("del", "Nearby"), ("chg", "Price")),
    ),
)

NEW_VALUES: Final = {"Category": ("Thai", "Greek", "Vegan"), "Price": (5, 7, 30)}
