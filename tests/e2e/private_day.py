"""A whole day of work with marked texts, and what can fail: ``python -m tests.e2e.private_day FOLDER``.

By the command line first, then through the window, in one process. Every text of the user (cells, headers,
names of labels and annotators, notes, what is searched for) holds `MARKER`; file names do not. HOME and the
temporary folder are ``FOLDER/home``, the user's own files lie in ``FOLDER/work``; the umask hides nothing.
What happened is written to ``FOLDER/result.json``: exit codes, what went to stderr, sockets that were opened.
"""

from __future__ import annotations

import contextlib
import csv
import gc
import io
import json
import logging
import os
import sqlite3
import sys
import threading
import warnings
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

MARKER = "zqxmarker"
HEADER, LABELS = f"{MARKER}header", (f"{MARKER}late > van", f"{MARKER}damaged")
TEXTS = (
    "the parcel came two days late again",
    "nobody rang and it was late by a week",
    "late once more and no word from you",
    "the box was crushed on every side",
    "glass broken in a torn carton",
    "it arrived damaged and wet",
)
sockets: list[str] = []
result: dict[str, Any] = {"codes": {}, "stderr": {}, "titles": [], "reached": [], "notices": []}


def listen(event: str, arguments: tuple[Any, ...]) -> None:
    """Note every socket but those of the display, which have a place in the file system."""
    if event == "socket.__new__" and arguments[1] != 1:  # AF_UNIX
        sockets.append(f"{event} {arguments[1:]}")
    elif event.startswith("socket.") and event not in ("socket.__new__", "socket.gethostname"):
        sockets.append(f"{event} {arguments[1:]!r}")


class Marked(Exception):  # noqa: N818
    """What a library may raise: it quotes what it was given."""

    def __init__(self, *_arguments: object, **_options: object) -> None:
        super().__init__(f"cannot use {MARKER}")
        self.add_note(f"while reading {MARKER}")


def fail(*_arguments: object, **_options: object) -> None:
    value = json.loads(f'["{MARKER}"]')  # a local value that a debugger would show
    try:
        json.loads(f'{{"{MARKER}": ')
    except ValueError:
        raise Marked(value)  # noqa: B904 - the context is to be there


@contextlib.contextmanager
def replaced(where: str, name: str, new: Callable[..., Any] = fail) -> Iterator[None]:
    import importlib

    module, _, cls = where.partition(":")
    target: Any = importlib.import_module(module)
    if cls:
        target = getattr(target, cls)
    old = target.__dict__[name]
    setattr(target, name, new)
    try:
        yield
    finally:
        setattr(target, name, old)


# --- what lies in the user's folder ------------------------------------------------------------------------


def write_tables(work: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = [
        (f"{number}", f"{MARKER} {TEXTS[number % 6]} {number}", LABELS[number % 6 // 3], f"{MARKER}-{number}")
        for number in range(24)
    ]
    head = ("id", HEADER, "label", f"{MARKER}column")
    with (work / "table.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([head, *rows])
    with (work / "other.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("id", "theirs"), *((row[0], LABELS[1]) for row in rows)])
    (work / "labels.txt").write_text("\n".join(LABELS) + "\n", encoding="utf-8")
    bad = (work / "table.csv").read_bytes().replace(b"parcel", b"par\xffcel")
    (work / "bad.csv").write_bytes(bad)
    (work / "bad.jsonl").write_bytes(
        b'{"%s": "%s \xff"}\n{"%s": ' % ((HEADER.encode(), MARKER.encode()) * 2)[:3]
    )
    (work / "bad.json").write_bytes(b'[{"%s": "%s"}, {' % (HEADER.encode(), MARKER.encode()))
    with zipfile.ZipFile(work / "bad.xlsx", "w") as book:
        book.writestr("xl/workbook.xml", f"<workbook><sheets>{MARKER}&broken;</workbook>")
    texts = pa.StringArray.from_buffers(
        2,
        pa.py_buffer(bytes([0, 0, 0, 0, 10, 0, 0, 0, 20, 0, 0, 0])),
        pa.py_buffer(b"zqxmarker\xffzqxmarker\xff"),
    )
    pq.write_table(pa.table({HEADER: texts}), work / "bad.parquet")
    (work / "bad labels.json").write_text(f'["{MARKER}", ', encoding="utf-8")


def spoil(project: Path) -> None:
    """Put a byte that is no UTF-8 into a text of the project."""
    with contextlib.closing(sqlite3.connect(project)) as plain, plain:
        plain.execute(
            "UPDATE rows SET text = CAST(? AS TEXT) WHERE id = 3",
            (f"{MARKER} \udcff".encode("utf-8", "surrogateescape"),),
        )


# --- the command line --------------------------------------------------------------------------------------


def command(title: str, *arguments: str) -> None:
    from sce_desktop import cli

    stderr, stdout = io.StringIO(), io.StringIO()
    with contextlib.redirect_stderr(stderr), contextlib.redirect_stdout(stdout):
        try:
            sys.argv = ["sce-desktop", *arguments]
            code: int | str = cli.main()
        except BaseException as error:
            code = type(error).__name__
            sys.excepthook(type(error), error, error.__traceback__)  # as Python does at its end
    result["codes"][title] = code
    result["stderr"][title] = stderr.getvalue()


def by_command_line(work: Path, sce: str, llm: str) -> None:
    table, text = str(work / "table.csv"), ("--text", HEADER)
    model = ("--model", sce)
    names = [part for name in LABELS for part in ("--label", name)]
    project = str(work / "p.sce")
    for ending in ("csv", "xlsx", "parquet", "jsonl"):
        command(
            f"classify {ending}", "classify", table, *text, *names, *model, "-o", str(work / f"out.{ending}")
        )
    command("evaluate", "evaluate", table, *text, "--gold", "label", *model)
    command("finetune", "finetune", table, *text, "--gold", "label", *model, "-o", str(work / "mine"))
    command("labels", "labels", table, *text, *model)
    command("create", "project", "create", project, table, *text, "--gold", "label")
    command("add", "project", "add", project, table)
    command("score", "project", "score", project, *model)
    command("project finetune", "project", "finetune", project, "--use", *model)
    command("export", "project", "export", project, "-o", str(work / "export.xlsx"), "--note")
    command("backup", "project", "backup", project, str(work / "backup.sce"))
    command("verify", "project", "verify", project)
    command("info", "project", "info", project)
    command("models add", "models", "add", str(work / "mine"), "--name", "mine")
    command("doctor", "doctor")

    for name in ("bad.csv", "bad.jsonl", "bad.json", "bad.xlsx", "bad.parquet"):
        command(name, "classify", str(work / name), *text, *names, *model, "-o", str(work / f"{name}.csv"))
    command(
        "bad labels",
        "classify",
        table,
        *text,
        "--labels-file",
        str(work / "bad labels.json"),
        *model,
        "-o",
        str(work / "x.csv"),
    )
    command("no such label", "evaluate", table, *text, "--gold", f"{MARKER}none", *model)

    command("backup to spoil", "project", "backup", project, str(work / "spoilt.sce"))
    spoil(work / "spoilt.sce")
    for action in (
        ("info",),
        ("verify",),
        ("export", "-o", str(work / "spoilt.csv")),
        ("score", *model),
        ("add", table),
    ):
        given = (action[0], str(work / "spoilt.sce"), *action[1:])
        if action[0] == "add":
            given = ("add", str(work / "spoilt.sce"), table)
        command(f"spoilt {action[0]}", "project", *given)
    command("repair", "project", "repair", str(work / "spoilt.sce"), str(work / "repaired.sce"))

    out = ("-o", str(work / "y.csv"))
    with replaced("sce_desktop.ml.sce.model:SCEModel", "probabilities"):
        command("model fails", "classify", table, *text, *names, *model, *out)
    with replaced("sce_desktop.ml.llm.prompted:PromptedLLM", "probabilities"):
        command("llm fails", "classify", table, *text, *names, *model, "--baseline", f"llm:{llm}", *out)
    with replaced("sce_desktop.data.writers", "_write_csv"):
        command("export fails", "classify", table, *text, *names, *model, *out)
    with replaced("sce_desktop.ml.finetune.fitting:Fitter", "fit"):
        command("finetune fails", "finetune", table, *text, "--gold", "label", *model, "-o", str(work / "z"))
    with replaced("sce_desktop.store.content.importing", "add_rows", database_error):
        command("database fails", "project", "create", str(work / "z.sce"), table, *text)


def database_error(*_arguments: object, **_options: object) -> None:
    import sqlalchemy as sa

    engine = sa.create_engine("sqlite://")
    with engine.connect() as connection:
        connection.exec_driver_sql("CREATE TABLE t (a UNIQUE)")
        for _ in range(2):
            connection.exec_driver_sql("INSERT INTO t VALUES (?)", (MARKER,))


def by_libraries() -> None:
    """What reaches the log and stderr by other ways than our own calls."""
    from sce_desktop.log import scrub_crashes

    stderr = io.StringIO()
    with contextlib.redirect_stderr(stderr):
        scrub_crashes()
        thread = threading.Thread(target=fail)
        thread.start()
        thread.join()

        class Bad:
            def __del__(self) -> None:
                fail()

        Bad()
        gc.collect()
        sys.excepthook(Marked, Marked(), None)
        warnings.warn(f"y contains {MARKER}", UserWarning, stacklevel=1)
        logging.getLogger("sqlalchemy.engine").error(f"[parameters: {MARKER}]")
        logging.getLogger("sce_desktop.x").warning("careless: %s", MARKER)
        logging.getLogger("sce_desktop.x").warning("careless: %s", Marked())
    result["stderr"]["libraries"] = stderr.getvalue()
    logging.getLogger("transformers").error("odd text: %s", MARKER)  # its own handler writes to the terminal


# --- the window --------------------------------------------------------------------------------------------


def through_the_window(work: Path, model: str) -> None:
    from PySide6.QtCore import QTimer, qWarning

    from sce_desktop import app
    from sce_desktop.controllers import job_notices
    from sce_desktop.settings import Settings
    from sce_desktop.ui.window.system_notices import SystemNotices
    from tests.ui.at_work import until

    def note_notice(_system: object, notice: job_notices.Notice) -> None:
        result["notices"].append([notice.title, notice.body])

    setattr(job_notices, "LONG_S", 0.0)  # noqa: B010 - every job is news, as if one were elsewhere
    setattr(app, "_in_front", lambda: False)  # noqa: B010
    setattr(SystemNotices, "show_notice", note_notice)  # noqa: B010
    application = app.make_application()
    settings = Settings.load()
    settings["model"] = model
    settings.save()

    def note_titles() -> None:
        result["titles"] += [w.windowTitle() for w in application.topLevelWidgets() if w.windowTitle()]

    def drive() -> None:
        from sce_desktop.controllers.diagnostics import diagnostics
        from sce_desktop.ui.window.main_window import MainWindow

        window = next(w for w in application.topLevelWidgets() if isinstance(w, MainWindow))
        controllers = window._controllers
        try:
            work_in(window, controllers, work, until, note_titles)
        except BaseException as error:
            import traceback

            result["failed"] = f"{error!r}\n{traceback.format_exc()}"
        qWarning(f"no such pattern '{MARKER}'")
        result["diagnostics"] = diagnostics(
            controllers.workspace, controllers.scorer, controllers.preferences
        )
        note_titles()
        window.close()

    QTimer.singleShot(0, drive)
    result["codes"]["window"] = app.main(None, settings)


def work_in(
    window: Any, controllers: Any, work: Path, until: Callable[..., None], note_titles: Callable[[], None]
) -> None:
    from PySide6.QtCore import QTimer

    from sce_desktop.controllers.review_work import CoderChoices, add_coder
    from sce_desktop.core.annotations import Decision, Label
    from sce_desktop.core.choices import ExportChoices, ImportChoices
    from sce_desktop.core.query import CellFilter, RowQuery
    from sce_desktop.core.tables import TableOptions
    from sce_desktop.core.training import FinetuneSettings

    workspace, navigation = controllers.workspace, controllers.navigation

    def settled() -> bool:
        return not any(worker.busy for worker in workspace.workers)

    def reached(what: str) -> None:
        until(settled, 240)
        note_titles()
        result["reached"].append(what)

    options = TableOptions()
    controllers.projects.import_table(ImportChoices(work / "table.csv", options, (1,)))
    until(lambda: workspace.project is not None, 240)
    controllers.edits.set_labels([Label(name, description=f"{MARKER} of course") for name in LABELS])
    reached("import")
    controllers.scorer.score()
    reached("score")
    ids = [label.id for label in workspace.labels]
    for row in range(1, 25):
        navigation.set_current_row(row)
        controllers.edits.decide([row], Decision.LABEL, [ids[(row - 1) % 6 // 3]])
    controllers.edits.set_marks([3], note=f"{MARKER} note", flag=True)
    controllers.edits.undo()
    controllers.edits.redo()
    for part in ("Evaluate", "Findings", "Fine-tune", "Jobs and log"):
        window.panels.choose(part)
        reached(f"panel {part}")
    controllers.tuner.start(FinetuneSettings(epochs=5))
    reached("fine-tune")
    result["window"] = {"scored": workspace.runs[0].scored, "versions": len(controllers.tuner.versions)}
    choices = CoderChoices(f"{MARKER} annotator", work / "other.csv", 0, 0, 1)
    workspace.submit(add_coder, workspace.project, choices, title="annotator")
    reached("annotator")
    for name in ("window.csv", "window.xlsx"):
        controllers.projects.export_table(ExportChoices(work / name, note=True))
        reached(f"export {name}")
    controllers.projects.save_copy(work / "copy.sce")
    reached("copy")
    navigation.fold(f"{MARKER}late", True)
    navigation.set_query(RowQuery(search=MARKER, cells=(CellFilter(3, (f"{MARKER}-3",), contains=MARKER),)))
    reached("search")

    controllers.messages.notify(f"a sentence with {MARKER}")
    workspace.submit(worker_fails, title="worker")
    reached("worker crash")
    with replaced("sce_desktop.data.writers", "_write_csv"):
        controllers.projects.export_table(ExportChoices(work / "no.csv"))
        reached("export crash")
    with replaced("sce_desktop.ml.finetune.fitting:Fitter", "fit"):
        controllers.tuner.start(FinetuneSettings(epochs=5))
        reached("fine-tune crash")
    fired: list[int] = []
    QTimer.singleShot(0, lambda: (fired.append(1), fail()))
    until(lambda: bool(fired))
    reached("slot")
    for name in ("bad.xlsx", "bad.parquet", "bad.json"):
        controllers.projects.import_table(ImportChoices(work / name, options, (0,)))
        reached(f"import {name}")
    controllers.projects.open_project(work / "spoilt.sce")
    reached("spoilt project")


def worker_fails(*, progress: Any) -> None:
    fail()


def main(folder: Path) -> None:
    home, work = folder / "home", folder / "work"
    for path in (home, work, home / "tmp"):
        path.mkdir()
    for name in list(os.environ):
        if name.startswith("XDG_") or name == "SCE_DESKTOP_HOME":
            del os.environ[name]
    os.environ |= {"HOME": str(home), "TMPDIR": str(home / "tmp"), "QT_QPA_PLATFORM": "offscreen"}
    os.umask(0)
    os.chdir(work)
    models = folder / "models"
    models.mkdir()
    write_tables(work)
    from tests.ml.tiny import tiny_sce
    from tests.ml.tiny_llm import tiny_llm

    sce = str(tiny_sce(models / "sce"))
    by_command_line(work, sce, str(tiny_llm(models / "llm")))
    by_libraries()
    through_the_window(work, sce)


if __name__ == "__main__":
    sys.addaudithook(listen)
    place = Path(sys.argv[1])
    try:
        main(place)
    finally:
        result["sockets"] = sockets
        (place / "result.json").write_text(json.dumps(result, indent=1), encoding="utf-8")
