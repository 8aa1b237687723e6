"""Every notebook runs from its first cell to its last, and is stored without what it printed."""

from __future__ import annotations

import asyncio
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))
ON_SPARK = {"03-graphframes"}


def _cases() -> list[object]:
    assert NOTEBOOKS, "no notebooks"
    return [
        pytest.param(path, id=path.stem, marks=[pytest.mark.jar] if path.stem in ON_SPARK else [])
        for path in NOTEBOOKS
    ]


@pytest.mark.slow
@pytest.mark.parametrize("path", _cases())
# The kernel's own libraries warn about sockets and loops that they close themselves.
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning", "ignore::RuntimeWarning")
def test_a_notebook_runs(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(path.parent)}}
    )
    asyncio.run(client.async_execute())  # raises if a cell does
    assert all(cell.execution_count for cell in notebook.cells if cell.cell_type == "code" and cell.source)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning", "ignore::RuntimeWarning")
def test_what_is_shown_is_one_thing() -> None:
    """An object is shown once, as HTML and as text: nothing of it is printed beside."""
    source = (
        "import tempfile, oemviews as ov\n"
        "db = ov.create(tempfile.mkdtemp() + '/s'); db.load('../datasets/guide.json', name='Guide')\n"
        "db.query('select Guide.Restaurant.Name')"
    )
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)])
    resources = {"metadata": {"path": str(NOTEBOOKS[0].parent)}}
    asyncio.run(NotebookClient(notebook, kernel_name="python3", resources=resources).async_execute())
    (output,) = notebook.cells[0].outputs
    assert "Thai City" in output.data["text/plain"]
    assert "<table>" in output.data["text/html"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_stored_without_outputs(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert cells
    assert not [cell.source for cell in cells if cell.outputs or cell.execution_count]
    assert set(notebook.metadata) == {"kernelspec", "language_info"}, "strip what the editor added"
