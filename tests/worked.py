"""The worked queries: each with its answer on the Guide (tests/guide.py), for every engine to give.

An answer is the set of oids, or for values with no object behind them the set of values.
"""

from __future__ import annotations

from typing import Final

_R: Final = "select r from Guide.Restaurant r where "
_BAGHDAD: Final = 'select e from Guide.Restaurant r, r.Entree e where r.Name = "Baghdad Cafe"'
_HUNAN: Final = 'select e from Guide.Restaurant r, r.Entree e where r.Name = "Hunan Palace"'

WORKED: Final[list[tuple[str, str, set[int]]]] = [
    ("Q1", f'{_BAGHDAD} and e.Ingredient = "Mushroom"', {9}),
    ("Q2", "select Guide.Restaurant.Name", {5, 7, 11}),
    ("Q3", f"{_R}r.Address.Zipcode = 92310", {3}),
    ("Q4", f"{_R}r(.Address)?.Zipcode = 92310", {2, 3}),
    ("Q5-number", f"{_R}r.Rating = 4", {3, 4}),
    ("Q5-text", f'{_R}r.Rating = "4"', {3}),
    ("Q6-less", f"{_R}r.Price < 20", {3}),
    ("Q6-not-less", f"{_R}not (r.Price < 20)", {2, 4}),
    ("Q6-at-least", f"{_R}r.Price >= 20", set()),
    ("Q7-different", f'{_R}r.Address != "Menlo Park"', {2}),
    ("Q7-not-equal", f'{_R}not (r.Address = "Menlo Park")', {3, 4}),
    ("Q8", f'{_R}for all a in r.Address : a = "Menlo Park"', {4}),
    ("Q9", f'{_R}r.% grep "cheap"', {2}),
    ("Q10", "select Guide.#.Name", {5, 7, 11, 14, 16, 18}),
    ("Q11", "select Guide.Restaurant.Entree(.Price|.Ingredient)", {15, 17, 19, 29}),
    ("Q12", 'select n from Guide.Restaurant r, r(.Nearby)+ n where r.Name = "Thai City"', {2, 3}),
    ("Q13-any-path", f'{_R}r.#.City = "Palo Alto"', {2, 3}),
    ("Q13-one-path", f'{_R}r.Address.City = "Palo Alto"', {3}),
    ("Q14-two", f"{_R}count(r.Entree) = 2", {3, 4}),
    ("Q14-none", f"{_R}count(r.Entree) = 0", {2}),
    ("Q15", f'{_R}r.Name like "%Cafe"', {3}),
    ("Q16", f'{_R}r.Entree.Ingredient = "Mushroom" and r.Entree.Ingredient = "Beef"', {3}),
    ("Q16b", f'{_R}exists e in r.Entree : (e.Ingredient = "Mushroom" and e.Ingredient = "Beef")', set()),
    ("Q17-except", f"{_BAGHDAD} except {_HUNAN}", {9}),
    ("Q17-intersect", f"{_BAGHDAD} intersect {_HUNAN}", {10}),
    ("Q17-union", f"{_BAGHDAD} union {_HUNAN}", {9, 10, 13}),
    (
        "Q19",
        "select e from Guide.Restaurant r, r.Entree e, Guide.Restaurant s, s.Entree f "
        'where r.Name = "Baghdad Cafe" and s.Name = "Hunan Palace" and e.Ingredient = f.Ingredient',
        {10},
    ),
    ("Q20", "select Guide.Restaurant.Ra%", {8, 12}),
]

WORKED_VALUES: Final[list[tuple[str, str, set[str]]]] = [
    (
        "Q18",
        "select distinct label-of(L) from Guide.Restaurant.%@L",
        {"Address", "Category", "Entree", "Name", "Nearby", "Price", "Rating", "Zipcode"},
    ),
]
