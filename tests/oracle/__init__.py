"""What Lorel means, slowly: the evaluator that the engines are tested against (README.md)."""

from tests.oracle.edits import apply
from tests.oracle.evaluate import answer, ordered_answer
from tests.oracle.graph import OracleGraph
from tests.oracle.view import OracleView, relevant, view

__all__ = ["OracleGraph", "OracleView", "answer", "apply", "ordered_answer", "relevant", "view"]
