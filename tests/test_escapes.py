"""Names that act on a terminal: written out in every message of command line, log and window."""

from __future__ import annotations

import logging
import os
from pathlib import Path

import pytest

from sce_desktop import cli
from sce_desktop.core.escapes import Verbatim, one_line, shown, shown_lines
from sce_desktop.core.i18n import _, ngettext
from sce_desktop.core.quoting import quoted, quoted_names
from sce_desktop.core.text import isolated
from sce_desktop.log import LineFormatter, start_log
from sce_desktop.terminal import TerminalProgress
from tests.hostile.texts import ACTING, FOR_TERMINALS

FILE_NAMES = [name.replace("\0", "").replace("\ud800", "").replace("/", "") for name in FOR_TERMINALS]


def assert_harmless(text: str) -> None:
    assert not ACTING & set(text), ascii(text)


@pytest.mark.parametrize("name", FOR_TERMINALS, ids=ascii)
def test_every_way_into_a_sentence(name: str) -> None:
    sentences = [
        _("{path} is a folder.", path=Path("folder") / name.replace("\0", "")),
        _("{name} does not exist.", name=quoted(name)),
        quoted_names([name, "b", name]),
        ngettext("{count} row of {name}", "{count} rows of {name}", 2, name=shown(name)),
        _("It failed ({reason}).", reason=ValueError(f"{name}\nsecond line")),
        one_line(f"raw {name}"),
    ]
    for sentence in sentences:
        assert_harmless(sentence.replace("\u2068", "").replace("\u2069", ""))
        assert "\n" not in sentence
        sentence.encode("utf-8")
    assert_harmless(shown(name))


def test_what_is_written_out_can_be_told_apart() -> None:
    assert shown("a\x1b[31m\n\t\u202e\udc80\x9b") == "a\\x1b[31m\\n\\t\\u202e\\udc80\\x9b"
    assert shown("Ärger, 日本語, שלום, naïve 👩‍👩‍👧 \u200f") == "Ärger, 日本語, שלום, naïve 👩‍👩‍👧 \u200f"
    assert shown_lines("one\n\ttwo\x07") == "one\n\ttwo\\x07"


def test_names_that_are_set_off_stay_so_in_a_sentence_within_another() -> None:
    inner = quoted("שלום")
    assert isolated("שלום") in _("{what} again", what=inner)
    assert one_line(inner) == inner
    assert shown_lines(inner) == inner


def test_what_a_file_is_to_be_called_is_no_message() -> None:
    assert _("{name} (saved)", name=Verbatim("a\u202eb")) == "a\u202eb (saved)"


def hostile_table(folder: Path, name: str) -> Path:
    path = folder / f"{name}.csv"
    path.write_text("id,text\n1,late\n2,crushed\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("name", FILE_NAMES, ids=ascii)
def test_commands_show_file_names_written_out(
    tmp_path: Path, name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    table = hostile_table(tmp_path, name)
    project = tmp_path / f"{name}.sce"
    commands = [
        ["project", "create", str(project), str(table), "--text", "nothing"],
        ["project", "create", str(project), str(table), "--text", "text", "--label", f"x{name}"],
        ["project", "info", str(project)],
        ["project", "verify", str(project)],
        ["project", "add", str(project), str(table)],
        ["project", "backup", str(project), str(tmp_path / f"copy {name}.sce")],
        ["project", "export", str(project), "-o", str(tmp_path / f"out {name}.csv")],
        ["project", "export", str(project), "-o", str(tmp_path / f"out {name}.{name}")],
        ["project", "info", str(table)],
        ["project", "info", str(tmp_path / f"none {name}.sce")],
        [
            "classify",
            str(table),
            "--text",
            name or "x",
            "-o",
            str(tmp_path / "o.csv"),
            "--label",
            name or "x",
        ],
        ["models", "add", str(tmp_path / name)],
        ["models", "remove", name],
        ["models", "verify", name],
        ["pretrain", str(tmp_path / name), "-o", str(tmp_path / "m")],
        [name],
        ["project", name],
        ["classify", f"--{name}"],
    ]
    for command in commands:
        code = cli.main(command)
        out, err = capfd.readouterr()
        assert code in (0, 2), (command, err)
        assert_harmless(out)
        assert_harmless(err)
        if code == 2 and "verify" not in command:
            refusals = [line for line in err.splitlines() if not line.startswith(("Note: ", "usage: "))]
            assert len(refusals) == 1, (command, err)
            assert refusals[0].startswith("sce-desktop: ")


def test_columns_and_labels_from_a_table_are_written_out(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    names = [name.replace("\ud800", "").replace("\udc80", "").replace("\0", "") for name in FOR_TERMINALS]
    table = tmp_path / "in.csv"
    cells = ['"{}"'.format(name.replace('"', '""')) for name in names]
    lines = [
        f"{','.join(cells)},text,gold",
        *(f"{','.join(cells)},t {n},{cells[n]}" for n in range(len(cells))),
    ]
    table.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="")
    project = str(tmp_path / "p.sce")
    create = [
        "project",
        "create",
        project,
        str(table),
        "--text",
        names[0],
        "--text",
        "text",
        "--gold",
        "gold",
    ]
    for command in (create, ["project", "info", project], ["project", "verify", project]):
        assert cli.main(command) == 0
        out, err = capfd.readouterr()
        assert_harmless(out)
        assert_harmless(err)
        assert "\nsce-desktop: Everything is fine." not in out + err


def test_a_bar_and_its_stage_are_written_out(capsys: pytest.CaptureFixture[str]) -> None:
    progress = TerminalProgress()
    progress.warn("\x1b]0;title\x07 \n second")
    progress._show_bar(1, 2, "stage \x1b[31m")
    progress.close()
    told = capsys.readouterr().err.replace("\r", "").replace("\x1b[A", "")  # tqdm's own way up
    assert_harmless(told)
    assert told.splitlines()[0] == "Note: \\x1b]0;title\\x07 \\n second"


def test_a_log_has_one_line_for_a_message_and_keeps_traces(tmp_path: Path) -> None:
    start_log(tmp_path / "log.txt")
    log = logging.getLogger("sce_desktop.test")
    for name in FOR_TERMINALS:
        log.warning("%s is missing", Path(name))  # paths alone are let through
    try:
        raise ValueError("\x1b[31m\udc80")
    except ValueError:
        log.exception("trace")
    for handler in logging.getLogger().handlers:
        handler.flush()
    text = (tmp_path / "log.txt").read_text(encoding="utf-8")
    assert_harmless(text)
    assert sum("is missing" in line for line in text.splitlines()) == len(FOR_TERMINALS)
    assert "in test_a_log_has_one_line_for_a_message_and_keeps_traces" in text
    assert isinstance(LineFormatter(), logging.Formatter)


@pytest.mark.parametrize(
    "kind", ["pipe", "folder", "socket", "dangling link", "link to itself", "link to a pipe"]
)
def test_every_argument_may_be_anything(tmp_path: Path, kind: str, capfd: pytest.CaptureFixture[str]) -> None:
    """One sentence, at once: nobody waits for a pipe."""
    from tests.hostile.state_files import BUILDERS

    table = hostile_table(tmp_path, "table")
    odd = tmp_path / "odd.csv"
    BUILDERS[kind](odd)
    was = odd.lstat().st_ino
    one, out = str(odd), str(tmp_path / "o.csv")
    for command in (
        *(["project", name, one] for name in ("info", "verify", "score")),
        ["project", "add", one, str(table)],
        ["project", "export", one, "-o", out],
        ["project", "backup", one, str(tmp_path / "c.sce")],
        ["project", "repair", one, str(tmp_path / "c.sce")],
        ["project", "create", one, str(table), "--text", "text"],
        ["project", "create", one, str(table), "--text", "text", "--force"],
        ["project", "create", str(tmp_path / "n.sce"), one, "--text", "text"],
        ["classify", one, "--text", "text", "--label", "late mail", "-o", out],
        ["classify", str(table), "--text", "text", "--labels-file", one, "-o", out],
        ["evaluate", one, "--text", "text", "--gold", "id"],
        ["finetune", one, "--text", "text", "--gold", "id", "-o", str(tmp_path / "m")],
        ["labels", one, "--text", "text"],
        ["models", "add", one],
        ["pretrain", one, "-o", str(tmp_path / "m")],
        ["gui", one],
    ):
        code = cli.main(command)
        told = capfd.readouterr().err.splitlines()
        assert code == 2, command
        assert len([line for line in told if line.startswith("sce-desktop: ")]) == 1, (command, told)
        assert len([line for line in told if not line.startswith(("sce-desktop: ", "Note: "))]) == 0
        assert odd.lstat().st_ino == was
    assert not os.path.lexists(tmp_path / "nothing")
