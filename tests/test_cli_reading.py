"""How the command line is told to read a table, and what it says of a guess that may be wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from sce_desktop import cli
from sce_desktop.store.project import Project

ESCAPED = 'id,text\n1,"She said \\"never again\\", then left"\n2,ok\n'


def create(
    folder: Path, content: bytes | str, *options: str, text: str = "text", name: str = "a.csv"
) -> list[str]:
    """Import a table and return its texts."""
    table = folder / name
    table.write_bytes(content.encode() if isinstance(content, str) else content)
    made = folder / f"{len(list(folder.iterdir()))}.sce"
    assert cli.main(["project", "create", str(made), str(table), "--text", text, *options]) == 0
    with Project.open(made) as project:
        return [row.text for rows in project.iter_rows() for row in rows]


def test_escapes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wanted = ['She said "never again", then left', "ok"]
    assert create(tmp_path, ESCAPED) == wanted
    told = capsys.readouterr().err
    assert "Line 2 was read as “1 | She said" in told
    assert "Keep backslashes: --escape none." in told
    assert create(tmp_path, ESCAPED, "--escape", "backslash") == wanted
    assert "backslash" not in capsys.readouterr().err
    assert create(tmp_path, ESCAPED, "--escape", "none")[0] == '"She said \\"never again\\", then left"'
    assert create(tmp_path, ESCAPED, "--escape", "auto") == wanted


def test_quotes(tmp_path: Path) -> None:
    content = "id,text\n1,'a, b'\n2,\"c\"\n"
    assert create(tmp_path, content, "--quote", "single") == ["a, b", '"c"']
    assert create(tmp_path, content, "--quote", "'") == ["a, b", '"c"']
    assert create(tmp_path, content, "--quote", "double")[1] == "c"
    assert create(tmp_path, content, "--quote", "none")[1] == '"c"'
    assert create(tmp_path, 'id,text\n1, "x"\n', "--skip-spaces") == ["x"]
    assert create(tmp_path, 'id,text\n1, "x"\n', "--no-skip-spaces") == [' "x"']


def test_no_header_and_no_delimiter(tmp_path: Path) -> None:
    assert create(tmp_path, "a, b\nc\n", "--header-row", "none", text="Column 1", name="a.txt") == [
        "a, b",
        "c",
    ]
    content = "id,text\n1,x\n"
    assert create(tmp_path, content, "--delimiter", "none", "--header-row", "none", text="Column 1") == [
        "id,text",
        "1,x",
    ]


@pytest.mark.parametrize(
    "options",
    [
        ["--quote", "ab"],
        ["--quote", ""],
        ["--quote", "x"],
        ["--delimiter", ""],
        ["--encoding", "idna"],
        ["--encoding", "rot13"],
        ["--encoding", "utf-16"],
        ["--encoding", ""],
        ["--header-row", "9"],
    ],
)
def test_a_wrong_choice_is_said_in_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str]
) -> None:
    (tmp_path / "a.csv").write_text("id,text\n1,für\n", encoding="utf-8")
    arguments = ["project", "create", str(tmp_path / "a.sce"), str(tmp_path / "a.csv"), "--text", "text"]
    assert cli.main([*arguments, *options]) == 2
    told = capsys.readouterr().err.strip()
    assert told.count("\n") == 0
    assert told.endswith(".")
    assert not (tmp_path / "a.sce").exists()


def test_the_line_that_looks_like_the_header_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content = "Report of May\n\nid,text\n1,x\n2,y\n"
    (tmp_path / "a.csv").write_text(content, encoding="utf-8")
    arguments = ["project", "create", str(tmp_path / "a.sce"), str(tmp_path / "a.csv"), "--text", "text"]
    assert cli.main(arguments) == 2
    told = capsys.readouterr().err.splitlines()
    assert "Line 3 (“id,text”) looks like the header" in told[0]
    assert "no column “text”" in told[-1]
    assert "--header-row 3" in told[-1]
    assert create(tmp_path, content, "--header-row", "3") == ["x", "y"]


def test_other_sheets_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.title = "Notes"
    book.active.append(["about"])
    book.create_sheet("Answers").append(["text"])
    book.save(tmp_path / "a.xlsx")
    arguments = ["project", "create", str(tmp_path / "a.sce"), str(tmp_path / "a.xlsx"), "--text", "text"]
    assert cli.main(arguments) == 2
    told = capsys.readouterr().err
    assert "“Answers”" in told
    assert "--sheet" in told


def test_two_readings_of_letters_are_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = "Na lince mi ochotně a rychle poradili, nechal krabici na dešti"
    content = "text\n" + f"{line}\n" * 4
    assert create(tmp_path, content.encode("iso8859_2")) == [line] * 4
    told = capsys.readouterr().err
    assert "Line 2 reads “Na lince" in told
    assert "deąti” as CP1250: ISO8859-2 was used. Read as CP1250: --encoding cp1250." in told
