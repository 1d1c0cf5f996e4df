"""What may be written down of a failure."""

from __future__ import annotations

import ast
import errno
import json
import logging
import pickle
from collections.abc import Callable
from pathlib import Path

import pytest
import sqlalchemy as sa

from sce_desktop.core import i18n
from sce_desktop.core.errors import DamagedProject, UserError
from sce_desktop.core.i18n import Message, Safe, _, ngettext, number, pgettext
from sce_desktop.core.scrubbing import describe, log_line, shown, trace
from sce_desktop.log import ScrubbedFormatter
from sce_desktop.store.project import Project

SECRET = "Mrs Smith"
PACKAGE = Path(__file__).resolve().parents[2] / "sce_desktop"


def raised(do: Callable[[], object]) -> BaseException:
    with pytest.raises(BaseException) as caught:  # noqa: PT011 - of whatever kind
        do()
    return caught.value


def record(template: str, *args: object, name: str = "sce_desktop.x") -> str:
    return log_line(logging.makeLogRecord({"name": name, "msg": template, "args": args}))


def test_a_sentence_keeps_our_words_numbers_and_files() -> None:
    said = _("Row {row} of {path} has “{cell}”.", row=3, path=Path("/x/a.csv"), cell=SECRET)
    assert said == f"Row 3 of /x/a.csv has “{SECRET}”."
    assert shown(said) == "Row 3 of /x/a.csv has “…”."
    assert shown(_("Row {row} of {file}.", row=number(1234), file="a.csv")) == "Row 1,234 of a.csv."
    assert shown(ngettext("{count} row: {name}", "{count} rows: {name}", 2, name=SECRET)) == "2 rows: …"
    assert shown(pgettext("a verb", "Open {name}", name=SECRET)) == "Open …"
    inside = _("It says “{text}”.", text=SECRET)
    assert shown(_("{problem} Try again.", problem=inside)) == "It says “…”. Try again."
    assert shown(_("Nothing in {braces}.")) == "Nothing in {braces}."


def test_what_is_put_together_elsewhere_is_left_out() -> None:
    assert shown(_("{name} is late.", name=SECRET) + " Sorry.") == "…"
    assert shown(" ".join([_("One."), _("Two.")])) == "…"
    assert shown(SECRET) == shown([SECRET]) == shown({"a": 1}) == "…"
    assert (shown(3), shown(2.5), shown(None), shown(Safe("ok"))) == ("3", "2.5", "None", "ok")


def test_a_message_stays_one_in_an_exception_and_a_pickle() -> None:
    said = _("{name} is late.", name=SECRET)
    assert isinstance(str(UserError(said)), Message)
    assert shown(str(UserError(said))) == "… is late."
    again = pickle.loads(pickle.dumps(said))
    assert (again, again.template) == (said, "{name} is late.")
    assert json.dumps(said) == f'"{SECRET} is late."'


def test_a_message_in_another_language() -> None:
    i18n.set_language(i18n.PSEUDO)
    try:
        said = _("The label {name} is late.", name=SECRET)
        assert SECRET in said
        assert SECRET not in shown(said)
        assert shown(said).startswith("⟦")
    finally:
        i18n.set_language("en")


def unique() -> None:
    with sa.create_engine("sqlite://").connect() as connection:
        connection.exec_driver_sql("CREATE TABLE t (a UNIQUE)")
        for _time in range(2):
            connection.exec_driver_sql("INSERT INTO t VALUES (?)", (SECRET,))


@pytest.mark.parametrize(
    ("do", "line"),
    [
        (lambda: f"{SECRET} \udcff".encode(), "UnicodeEncodeError"),
        (lambda: b"Mrs Smith \xff".decode(), "UnicodeDecodeError"),
        (lambda: json.loads(f'{{"{SECRET}": '), "JSONDecodeError < StopIteration"),
        (lambda: {}[SECRET], "KeyError"),
        (lambda: int(SECRET), "ValueError"),
        (lambda: Path(f"/no/{1}.csv").read_text(encoding="utf-8"), "FileNotFoundError: ENOENT /no/1.csv"),
        (unique, "IntegrityError: SQLITE_CONSTRAINT_UNIQUE < IntegrityError: SQLITE_CONSTRAINT_UNIQUE"),
    ],
)
def test_an_exception_is_its_type_and_place(do: Callable[[], object], line: str) -> None:
    error = raised(do)
    error.add_note(SECRET)
    assert describe(error) in (line, line.partition(" < StopIteration")[0])
    assert "Smith" not in trace(error).replace('b"Mrs Smith', "")  # a line of this file
    assert "tests/core/test_scrubbing.py:" in trace(error)
    assert f"{line}\n" in trace(error) or " < " in line
    assert trace(error, files=False).endswith(f"{type(error).__name__}\n")


def test_our_own_errors_keep_their_sentences() -> None:
    error = UserError(_("There is no label “{name}”.", name=SECRET))
    assert describe(error) == "UserError: There is no label “…”."
    assert describe(UserError(f"There is no {SECRET}.")) == "UserError"  # not a message: nobody knows
    damaged = DamagedProject(Path("/home/x/p.sce"), _("is damaged ({error})", error=ValueError(SECRET)))
    assert describe(damaged).startswith("DamagedProject: p.sce is damaged (ValueError): rescue")
    full = OSError(errno.ENOSPC, "No space left", "/x/y.csv")
    assert describe(full) == "OSError: ENOSPC /x/y.csv"
    assert describe(OSError(SECRET)) == "OSError"


def test_log_lines() -> None:
    assert record("%s: %s after %d s", Path("a.sce"), SECRET, 3) == "a.sce: … after 3 s"
    assert record("careless: %s", f"{SECRET}") == "careless: …"
    assert record("failed: %s", KeyError(SECRET)) == "failed: KeyError"
    assert record(f"a text of {SECRET}", name="transformers.x") == "…"
    warned = f"/a/b.py:12: UserWarning: {SECRET}\n  code"
    assert record(warned, name="py.warnings") == "UserWarning at b.py:12"
    assert record(f"default: no such pattern '{SECRET}'", name="qt") == "default: no such pattern …"
    assert record("100% done") == "100% done"
    assert record("odd: %d", SECRET) == "odd: %d"


def test_the_formatter_knows_no_other_way() -> None:
    """Another handler may have kept the whole traceback in the record."""
    error = raised(lambda: {}[SECRET])
    known = (type(error), error, None)
    made = logging.LogRecord("sce_desktop.x", logging.ERROR, "f.py", 1, "It broke", (), known)
    made.exc_text, made.stack_info = f"KeyError: {SECRET}", SECRET
    text = ScrubbedFormatter("%(levelname)s %(message)s").format(made)
    assert text.startswith("ERROR It broke\n")
    assert text.endswith("KeyError")
    assert SECRET not in text
    assert ScrubbedFormatter("%(message)s", traces=False).format(made) == "It broke"
    assert made.exc_text == f"KeyError: {SECRET}"  # others get theirs


def test_a_very_deep_traceback_is_short() -> None:
    def deeper(left: int) -> None:
        if left:
            deeper(left - 1)
        raise ValueError

    assert len(trace(raised(lambda: deeper(500))).splitlines()) < 200


def test_sqlalchemy_says_no_parameters(tmp_path: Path) -> None:
    with Project.create(tmp_path / "p.sce") as project, project._database.read() as connection:
        wrong = "SELECT no_such FROM rows WHERE text = ?"
        error = raised(lambda: connection.exec_driver_sql(wrong, (SECRET,)))
    assert "no_such" in str(error)
    assert SECRET not in str(error)


def test_our_log_lines_are_literals() -> None:
    """A template that is put together may hold anything, and it is let through."""
    levels = ("debug", "info", "warning", "error", "critical", "exception", "log")
    checked = 0
    for file in PACKAGE.rglob("*.py"):
        source = file.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(source)) if "getLogger" in source else ():
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
                continue
            logger = node.func.value
            if not (isinstance(logger, ast.Name) and logger.id.lower() in ("log", "_log", "_qt_log")):
                continue
            if node.func.attr in levels:
                template = node.args[1 if node.func.attr == "log" else 0]
                assert isinstance(template, ast.Constant), f"{file}:{node.lineno}"
                checked += 1
    assert checked > 20
