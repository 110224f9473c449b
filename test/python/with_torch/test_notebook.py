"""docs/remote.ipynb runs from top to bottom and prints what it shows. `--bless` writes what it prints into it."""

import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="needs torch: ./x python runs it in an environment that has it")
nbformat = pytest.importorskip("nbformat", reason="needs nbformat and nbclient")
nbclient = pytest.importorskip("nbclient", reason="needs nbformat and nbclient")

NOTEBOOK = Path(__file__).parents[3] / "docs/remote.ipynb"
SECONDS = 240


def printed(notebook):
    """The text that each cell of code prints or shows."""
    found = []
    for cell in notebook.cells:
        if cell.cell_type == "code":
            texts = [output.get("text") or output.get("data", {}).get("text/plain", "") for output in cell.outputs]
            found.append("".join(texts))
    return found


def test_the_notebook(tmp_path, request):
    # A kernel of this very Python, whatever Jupyter of the user's there is.
    kernel = tmp_path / "share/jupyter/kernels/python3"
    kernel.mkdir(parents=True)
    command = f'["{sys.executable}", "-m", "ipykernel_launcher", "-f", "{{connection_file}}"]'
    (kernel / "kernel.json").write_text(f'{{"argv": {command}, "display_name": "Python 3", "language": "python"}}')
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(notebook)
    shown = printed(notebook)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUPYTER_PATH", str(tmp_path / "share/jupyter"))
        patch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
        patch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "runtime"))
        nbclient.NotebookClient(notebook, timeout=SECONDS, kernel_name="python3").execute()
    if request.config.getoption("--bless"):
        for number, cell in enumerate(notebook.cells):
            # Times and the versions of what runs it are this run's only.
            cell.metadata.clear()
            cell["id"] = f"cell-{number}"
        notebook.metadata["language_info"] = {"name": "python"}
        nbformat.write(notebook, NOTEBOOK)
    else:
        assert printed(notebook) == shown
