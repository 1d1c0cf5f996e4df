"""What the program does with a table that it was given: import it, and classify it up to the model."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path

from sce_desktop.core.errors import UserError
from sce_desktop.core.progress import SilentProgress


def load_everything() -> None:
    """Import what readers and commands import when they are needed."""
    import charset_normalizer  # noqa: F401
    import clevercsv  # noqa: F401
    import psutil  # noqa: F401
    import pyarrow.compute
    import pyarrow.parquet  # noqa: F401
    import python_calamine  # noqa: F401

    import sce_desktop.cli
    import sce_desktop.commands.options
    import sce_desktop.store.project
    import sce_desktop.tasks.scoring.choice
    import sce_desktop.tasks.scoring.classify
    import sce_desktop.tasks.scoring.models
    import sce_desktop.tasks.tables.tables  # noqa: F401


def read_labels(path: Path) -> str:
    """Read a file of labels."""
    from sce_desktop.tasks.tables.tables import read_labels

    read_labels(path)
    return "read"


def import_it(path: Path) -> str:
    """Preview a table as the import dialog does, and make a project of it."""
    from sce_desktop.tasks.tables.tables import import_table, preview_table

    preview = preview_table(path)
    place = preview.text_column if preview.text_column is not None else 0
    project = path.with_name("p.sce")
    with import_table(
        project, path, text_columns=[place], options=preview.options, progress=SilentProgress()
    ) as made:
        made.row_count()
    return "read"


def project_create(path: Path) -> str:
    """Make a project by the command line."""
    return _command(["project", "create", str(path.with_name("p.sce")), str(path), "--text", "text"])


def classify(path: Path) -> str:
    """Classify a table by the command line, until it asks for a model."""
    from sce_desktop.tasks.scoring import classify

    def no_model(*_: object, **__: object) -> None:
        raise UserError("The model is reached.")

    classify.load_models = no_model  # type: ignore[assignment]
    out = path.with_name("out.csv")
    arguments = ["classify", str(path), "--text", "text", "--label", "a", "--label", "b"]
    return _command([*arguments, "--model", "sce-mini", "-o", str(out)])


def labels_of_classify(path: Path) -> str:
    """Give a file of labels to the command line."""
    table = path.with_name("table.csv")
    table.write_text("id,text\n1,late\n", encoding="utf-8")
    out = str(table.with_name("out.csv"))
    return _command(
        ["classify", str(table), "--text", "text", "--labels", str(path), "-o", out, "--model", "x"]
    )


def _command(arguments: list[str]) -> str:
    """Run the command line. A refusal is raised again as one: the last line on stderr."""
    from sce_desktop.cli import main

    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
        code = main(arguments)
    lines = [line for line in said.getvalue().splitlines() if line.strip()]
    if code == 0:
        return "read"
    if code != 2:
        return f"exit code {code}\n{said.getvalue()[-3000:]}"
    last = lines[-1].removeprefix("sce-desktop: ") if lines else ""
    raise UserError(last.removeprefix("error: "))
