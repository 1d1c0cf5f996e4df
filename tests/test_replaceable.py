"""Nothing that exists is replaced unasked: one table of all commands that write, one of what may be there."""

from __future__ import annotations

import argparse
import gzip
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from sce_desktop import cli, paths
from sce_desktop.core.errors import UserError
from sce_desktop.store.project import Project
from sce_desktop.tasks.tables.replaceable import check_output, check_tuned
from tests.ml.tiny import tiny_sce

TABLE = "id;text\n1;late parcel\n2;\n3;damaged box\n"
LABELS = ["--label", "damaged", "--label", "late"]


@dataclass(frozen=True)
class Scene:
    """A folder with a table, a project of it, a model, and downloads."""

    folder: Path
    model: str

    def __truediv__(self, name: str) -> str:
        return str(self.folder / name)


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tiny_sce(tmp_path_factory.mktemp("models")))


@pytest.fixture
def scene(tmp_path: Path, model: str, capsys: pytest.CaptureFixture[str]) -> Scene:
    scene = Scene(tmp_path, model)
    (tmp_path / "in.csv").write_text(TABLE, encoding="utf-8")
    rows = [json.dumps({"text": f"t{i}", "label_text": ("tech", "sport")[i % 2]}) for i in range(1225)]
    (tmp_path / "bbc.jsonl").write_text("\n".join(rows) + "\n", encoding="utf-8")
    assert cli.main(["project", "create", scene / "p.sce", scene / "in.csv", "--text", "text", *LABELS]) == 0
    capsys.readouterr()
    return scene


Arguments = Callable[[Scene, str], list[str]]
FILES: dict[str, tuple[str, Arguments]] = {
    "classify": (
        "out.csv",
        lambda s, out: [
            *("classify", s / "in.csv", "--text", "text", "--model", s.model, *LABELS),
            *("-o", out),
        ],
    ),
    "labels": (
        "suggested.csv",
        lambda s, out: [
            *("labels", s / "bbc.jsonl", "--text", "text", "--model", s.model, "--suggest", "2"),
            *("-o", out),
        ],
    ),
    "project export": ("out.csv", lambda s, out: ["project", "export", s / "p.sce", "-o", out]),
    "project queue": (
        "next.csv",
        lambda s, out: ["project", "queue", s / "p.sce", "--order", "file", "-o", out],
    ),
    "project findings": ("shares.xlsx", lambda s, out: ["project", "findings", s / "p.sce", "-o", out]),
    "project create": (
        "new.sce",
        lambda s, out: ["project", "create", out, s / "in.csv", "--text", "text"],
    ),
    "project backup": ("new.sce", lambda s, out: ["project", "backup", s / "p.sce", out]),
    "project repair": ("new.sce", lambda s, out: ["project", "repair", s / "p.sce", out]),
    "paper-data": (
        "train/bbc_news.jsonl.gz",
        lambda s, out: [
            *("paper-data", "-o", str(Path(out).parent.parent)),
            *("--bbc-news", s / "bbc.jsonl", s / "bbc.jsonl"),
        ],
    ),
}
FOLDERS: dict[str, Arguments] = {
    "finetune": lambda s, out: [
        *("finetune", s / "in.csv", "--text", "text", "--gold", "id", "--model", s.model),
        *("-o", out),
    ],
    "finetune an LLM": lambda s, out: [
        *("finetune", s / "in.csv", "--text", "text", "--gold", "id", "--model", "llm"),
        *("-o", out),
    ],
    "pretrain": lambda s, out: [
        "pretrain",
        str(paths.resources_dir() / "pretrain" / "sce-mini.toml"),
        "-o",
        out,
    ],
}
RERUN = ("classify", "project export", "paper-data")  # scripts run these again onto their own output
each_file = pytest.mark.parametrize("command", FILES)


def names(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def refused(scene: Scene, arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """Run what must be refused in one sentence, leaving every name as it is; return what it says."""
    before = names(scene.folder)
    capsys.readouterr()
    assert cli.main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert names(scene.folder) == before
    told = [line for line in err.splitlines() if not line.startswith("Note: ")]
    assert len(told) == 1
    return told[0]


def test_every_command_that_writes_can_be_told_to_replace() -> None:
    def leaves(parser: argparse.ArgumentParser, name: str) -> Iterator[tuple[str, argparse.ArgumentParser]]:
        inner = [a for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
        if not inner:
            yield name, parser
        for action in inner:
            for word, one in action.choices.items():
                yield from leaves(one, f"{name} {word}".strip())

    found = {name: {action.dest for action in one._actions} for name, one in leaves(cli.build_parser(), "")}
    writing = {name for name, options in found.items() if options & {"output", "copy"}}
    assert writing | {"project create", "models add"} == {
        *FILES,
        *(name for name in FOLDERS if name != "finetune an LLM"),
        "models add",
    }
    assert {name for name, options in found.items() if "force" in options} == {
        *writing,
        "project create",
        "models add",
    }


@each_file
def test_a_file_of_ones_own_stays(scene: Scene, command: str, capsys: pytest.CaptureFixture[str]) -> None:
    name, arguments = FILES[command]
    out = scene.folder / "there" / name
    out.parent.mkdir(parents=True)
    for content in (
        b"My thesis.",
        TABLE.encode(),
        gzip.compress(b'{"mine": 1}\n'),
        (scene.folder / "p.sce").read_bytes(),
    ):
        out.write_bytes(content)
        said = refused(scene, arguments(scene, str(out)), capsys)
        assert said.startswith(f"sce-desktop: {out} already exists")
        assert said.endswith("choose another name, or add --force to replace it.")
        assert out.read_bytes() == content


@each_file
def test_it_is_replaced_where_that_is_asked_for(
    scene: Scene, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    name, arguments = FILES[command]
    out, fresh = (scene.folder / folder / name for folder in ("there", "fresh"))
    for place in (out, fresh):
        place.parent.mkdir(parents=True)
    out.write_text("My thesis.", encoding="utf-8")
    out.chmod(0o640)
    assert cli.main([*arguments(scene, str(out)), "--force"]) == 0
    assert cli.main(arguments(scene, str(fresh))) == 0
    assert out.read_bytes()[:3] == fresh.read_bytes()[:3]
    assert out.stat().st_mode & 0o777 == 0o640
    assert names(out.parent) == names(fresh.parent)
    if name.endswith(".sce"):
        with Project.open(out) as project:
            assert project.verify() == []
            assert project.row_count() == 3
    capsys.readouterr()
    again = cli.main(arguments(scene, str(fresh)))
    assert again == (0 if command in RERUN else 2)


@each_file
def test_what_is_no_file_or_write_protected_stays(
    scene: Scene, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    name, arguments = FILES[command]
    out = scene.folder / "there" / name
    out.parent.mkdir(parents=True)
    run = arguments(scene, str(out))
    assert cli.main(run) == 0
    out.chmod(0o444)  # an older output, and the user wants to keep it
    before = out.read_bytes()
    said = refused(scene, run, capsys)
    assert "write-protected" in said if command in RERUN else "already exists" in said
    assert out.read_bytes() == before
    out.unlink()
    os.mkfifo(out)
    for force in ([], ["--force"]):
        assert "is not a file that can be replaced" in refused(scene, [*run, *force], capsys)
    out.unlink()
    out.mkdir()
    for force in ([], ["--force"]):
        assert "is a folder" in refused(scene, [*run, *force], capsys)


@each_file
def test_a_project_that_is_open_stays(scene: Scene, command: str, capsys: pytest.CaptureFixture[str]) -> None:
    name, arguments = FILES[command]
    out = scene.folder / "there" / name
    out.parent.mkdir(parents=True)
    shutil.copy(scene.folder / "p.sce", out)
    with Project.open(out) as project:
        for force in ([], ["--force"]):
            said = refused(scene, [*arguments(scene, str(out)), *force], capsys)
            assert said.endswith(f"{out} is open: close it there, or choose another name.")
        assert project.lost() == ""
        project.set_marks(1, note="still mine")


def test_the_source_of_a_command_is_never_its_output(
    scene: Scene, capsys: pytest.CaptureFixture[str]
) -> None:
    table, project = scene / "in.csv", scene / "p.sce"
    for arguments in (
        ["classify", table, "--text", "text", "--model", scene.model, *LABELS, "-o", table],
        ["project", "backup", project, project],
        ["project", "repair", project, project],
    ):
        before = Path(arguments[-1]).read_bytes()
        refused(scene, [*arguments, "--force"], capsys)
        assert Path(arguments[-1]).read_bytes() == before


# --- tables in which somebody worked -----------------------------------------------------------------------


def grown(text: str) -> str:
    """With a column of the user's own behind ours."""
    header, *rows = text.splitlines()
    return "\n".join([f"{header};my remark", *(f"{row};yes" for row in rows)]) + "\n"


def without_a_column(text: str) -> str:
    return "\n".join(line.rsplit(";", 1)[0] for line in text.splitlines()) + "\n"


def of_another_table(text: str) -> str:
    return text.replace("id;text", "number;message")


def renamed(text: str) -> str:
    return text.replace("decided_at", "Decided on").replace("sce_status", "Status")


def with_commas(text: str) -> str:
    """As a spreadsheet of another country saves it."""
    return text.replace(";", ",")


def first_two_swapped(text: str) -> str:
    return "\n".join(";".join([*line.split(";")[1::-1], *line.split(";")[2:]]) for line in text.splitlines())


WORKED = (grown, without_a_column, of_another_table, renamed, with_commas, first_two_swapped)


@pytest.mark.parametrize("change", WORKED, ids=lambda change: change.__name__)
@pytest.mark.parametrize("command", ["classify", "project export"])
def test_an_older_output_in_which_somebody_worked_stays(
    scene: Scene, command: str, change: Callable[[str], str], capsys: pytest.CaptureFixture[str]
) -> None:
    out = scene.folder / "out.csv"
    arguments = FILES[command][1](scene, str(out))
    assert cli.main(arguments) == 0
    text = out.read_text(encoding="utf-8")
    assert cli.main(arguments) == 0  # a script that runs again
    assert out.read_text(encoding="utf-8") == text
    out.write_text(change(text), encoding="utf-8")
    assert out.read_text(encoding="utf-8") != text
    assert "and is not an earlier" in refused(scene, arguments, capsys)
    assert out.read_text(encoding="utf-8") == change(text)
    assert cli.main([*arguments, "--force"]) == 0
    assert out.read_text(encoding="utf-8") == text


@pytest.mark.parametrize("ending", ["csv", "tsv", "xlsx", "parquet", "jsonl"])
@pytest.mark.parametrize("header", ["id;text;id", "=1+1;text; spaces ", 'sce_label;text;a "b"'])
@pytest.mark.parametrize("command", ["classify", "project export"])
def test_its_own_output_is_known_again_in_every_kind_of_table(
    scene: Scene, command: str, ending: str, header: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (scene.folder / "in.csv").write_text(f"{header}\n1;late;2\n3;damaged;4\n", encoding="utf-8")
    create = ["project", "create", scene / "p.sce", scene / "in.csv", "--text", "text", "--force"]
    assert cli.main(create) == 0
    arguments = FILES[command][1](scene, scene / f"out.{ending}")
    for safe in ([], ["--excel-safe"]):
        assert cli.main([*arguments, *safe]) == 0, capsys.readouterr().err


def test_objects_may_leave_out_keys_and_a_person_may_add_one(
    scene: Scene, capsys: pytest.CaptureFixture[str]
) -> None:
    """The order in which keys come first is not that of the columns then."""
    out = scene.folder / "out.jsonl"
    arguments = ["project", "export", scene / "p.sce", "-o", str(out)]
    assert cli.main(arguments) == 0
    first, *rows = (json.loads(line) for line in out.read_text().splitlines())
    for key in ("note", "decided"):
        del first[key]
    out.write_text("".join(json.dumps(row) + "\n" for row in (first, *rows)))
    assert cli.main(arguments) == 0
    out.write_text("".join(json.dumps(row | {"mine": 1}) + "\n" for row in (first, *rows)))
    assert "is not an earlier export" in refused(scene, arguments, capsys)


def test_an_export_of_before_the_scores_or_with_fewer_rows_may_go(scene: Scene) -> None:
    out = scene / "out.csv"
    assert cli.main(["project", "export", scene / "p.sce", "-o", out, "--only", "labelled"]) == 0
    assert cli.main(["project", "score", scene / "p.sce", "--model", scene.model]) == 0
    assert cli.main(["project", "export", scene / "p.sce", "-o", out]) == 0
    with Project.open(scene / "p.sce") as project:
        project.set_labels([])
    assert cli.main(["project", "export", scene / "p.sce", "-o", out]) == 0


def test_an_export_with_labels_that_would_not_come_again_stays(
    scene: Scene, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["project", "export", scene / "p.sce", "-o", scene / "out.csv"]
    assert cli.main(["project", "score", scene / "p.sce", "--model", scene.model, *LABELS]) == 0
    assert cli.main(arguments) == 0
    more = ["--label", "damaged", "--label", "lost"]
    assert cli.main(["project", "score", scene / "p.sce", "--model", scene.model, *more]) == 0
    assert "and is not an earlier export" in refused(scene, arguments, capsys)


def test_a_file_that_comes_meanwhile_stays(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hours may lie between the first look and the end."""
    from sce_desktop.tasks.scoring.table_work import TableWork

    out = scene.folder / "out.csv"
    plain = TableWork.classified

    def slow(*arguments: object) -> Iterator[object]:
        yield from plain(*arguments)  # type: ignore[arg-type]
        out.write_text("mine")

    monkeypatch.setattr(TableWork, "classified", slow)
    assert cli.main(FILES["classify"][1](scene, str(out))) == 2
    assert out.read_text() == "mine"


# --- models ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", FOLDERS)
@pytest.mark.parametrize("force", [[], ["--force"]], ids=["", "forced"])
def test_a_folder_of_ones_own_never_becomes_a_model(
    scene: Scene, command: str, force: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    mine = scene.folder / "thesis"
    mine.mkdir()
    (mine / "chapter 1.txt").write_text("It was late.")
    said = refused(scene, [*FOLDERS[command](scene, str(mine)), *force], capsys)
    assert "holds other files" in said
    said = refused(scene, [*FOLDERS[command](scene, scene / "in.csv"), *force], capsys)
    assert "is a file" in said


@pytest.mark.parametrize("command", ["finetune", "pretrain"])
def test_another_model_stays(scene: Scene, command: str, capsys: pytest.CaptureFixture[str]) -> None:
    mine = scene.folder / "mine"
    shutil.copytree(scene.model, mine)
    said = refused(scene, FOLDERS[command](scene, str(mine)), capsys)
    assert said.endswith("choose another name, or add --force to replace it.")
    (mine / "sce-manifest.json").write_text("{}", encoding="utf-8")
    for force in ([], ["--force"]):
        assert "installed model" in refused(scene, [*FOLDERS[command](scene, str(mine)), *force], capsys)


def test_a_tuned_model_that_is_write_protected_stays(scene: Scene) -> None:
    mine = scene.folder / "mine"
    shutil.copytree(scene.model, mine)
    config = json.loads((mine / "config.json").read_text())
    (mine / "config.json").write_text(json.dumps(config | {"corrected": ["late"]}))
    check_tuned(mine, scene.model)
    (mine / "config.json").chmod(0o444)
    with pytest.raises(UserError, match=r"write-protected.*--force"):
        check_tuned(mine, scene.model)
    check_tuned(mine, scene.model, force=True)


def test_an_added_model_stays_unless_that_is_asked_for(
    scene: Scene, capsys: pytest.CaptureFixture[str]
) -> None:
    add = ["models", "add", scene.model, "--name", "mine"]
    assert cli.main(add) == 0
    weights = paths.models_dir() / "mine" / "model.safetensors"
    weights.write_bytes(b"spoilt")
    assert "already exists: choose another name, or add --force" in refused(scene, add, capsys)
    assert cli.main([*add, "--force"]) == 0
    assert cli.main(["models", "verify", "mine"]) == 0
    itself = ["models", "add", str(weights.parent), "--name", "mine", "--force"]
    assert "is the model “mine” itself" in refused(scene, itself, capsys)
    for name in ("sce-mini", "all-MiniLM-L6-v2"):
        refused(scene, ["models", "add", scene.model, "--name", name, "--force"], capsys)
    mine = paths.models_dir() / "thesis"
    mine.mkdir()
    (mine / "chapter 1.txt").write_text("It was late.")
    refused(scene, ["models", "add", scene.model, "--name", "thesis", "--force"], capsys)
    assert (mine / "chapter 1.txt").exists()


# --- the rule itself ---------------------------------------------------------------------------------------


def test_a_link_is_what_it_leads_to(tmp_path: Path) -> None:
    target, link = tmp_path / "target.csv", tmp_path / "link.csv"
    link.symlink_to(target)
    with pytest.raises(UserError, match="is a link to a file that does not exist"):
        check_output(link)
    target.write_text("mine")
    with pytest.raises(UserError, match="already exists"):
        check_output(link, ours=lambda: False, what="ours")
    assert check_output(link, ours=lambda: True)
    assert check_output(link, force=True)
    assert not check_output(tmp_path / "free.csv")


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_a_folder_that_is_write_protected_is_reported(scene: Scene) -> None:
    """Not that something should be checked whether it exists."""
    folder = scene.folder / "protected"
    folder.mkdir()
    folder.chmod(0o555)
    commands = [
        FILES[name][1](scene, str(folder / FILES[name][0]))
        for name in ("project create", "project backup", "project repair", "project export")
    ]
    code = "import sys; from sce_desktop import cli; [cli.main(eval(one)) for one in sys.argv[1:]]"
    command = [sys.executable, "-c", code, *map(repr, commands)]
    if os.geteuid() == 0:
        if shutil.which("setpriv") is None:
            pytest.skip("as root, permissions can only be tested with setpriv")
        dropped = "-dac_override,-dac_read_search"
        command = ["setpriv", f"--inh-caps={dropped}", f"--bounding-set={dropped}", *command]
    try:
        result = subprocess.run(command, capture_output=True, text=True, check=True)
    finally:
        folder.chmod(0o755)
    told = result.stderr.splitlines()
    assert [line.split(str(folder))[1].split(" ", 1)[1] for line in told] == [
        *["cannot be written: its folder is write-protected. Choose another folder."] * 3,
        "cannot be written (permission denied): close it elsewhere or choose another folder.",
    ]
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("ending", ["csv", "tsv", "xlsx", "jsonl", "parquet"])
@pytest.mark.parametrize("command", ["export", "classify"])
def test_an_output_of_another_table_with_the_same_columns_stays(
    scene: Scene, capsys: pytest.CaptureFixture[str], command: str, ending: str
) -> None:
    out = scene.folder / f"out.{ending}"
    table, project = scene.folder / "other.csv", scene / "other.sce"
    table.write_text(TABLE.replace("damaged box", "damaged bag"), encoding="utf-8")
    if command == "export":
        assert cli.main(["project", "create", project, str(table), "--text", "text"]) == 0
        ours, other = (["project", "export", one, "-o", str(out)] for one in (scene / "p.sce", project))
    else:
        more = ["--text", "text", "--model", scene.model, *LABELS, "-o", str(out)]
        ours, other = (["classify", one, *more] for one in (scene / "in.csv", str(table)))
    assert cli.main(ours) == 0
    before = out.read_bytes()
    assert cli.main(ours) == 0
    before = out.read_bytes()
    assert "is not an earlier" in refused(scene, other, capsys)
    assert out.read_bytes() == before
    assert cli.main([*other, "--force"]) == 0


@pytest.mark.parametrize("change", ["text", "row"])
def test_an_export_whose_rows_somebody_changed_stays(
    scene: Scene, capsys: pytest.CaptureFixture[str], change: str
) -> None:
    out = scene.folder / "out.csv"
    arguments = ["project", "export", scene / "p.sce", "-o", str(out)]
    assert cli.main(arguments) == 0
    lines = out.read_text(encoding="utf-8").splitlines(keepends=True)
    last = lines[-1].replace("damaged box", "damaged bag")
    out.write_text("".join([*lines[:-1], last] if change == "text" else [*lines, last]), encoding="utf-8")
    assert "is not an earlier export" in refused(scene, arguments, capsys)


def test_a_project_never_replaces_the_table_that_it_is_made_of(
    scene: Scene, capsys: pytest.CaptureFixture[str]
) -> None:
    table = scene.folder / "in.csv"
    arguments = ["project", "create", str(table), str(table), "--text", "text", "--force"]
    assert "would replace the table" in refused(scene, arguments, capsys)
    assert table.read_text(encoding="utf-8") == TABLE


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes in folders here")
@pytest.mark.parametrize("action", ["info", "verify"])
def test_a_pipe_is_no_project(scene: Scene, capsys: pytest.CaptureFixture[str], action: str) -> None:
    os.mkfifo(scene / "pipe.sce")
    assert "is not a file" in refused(scene, ["project", action, scene / "pipe.sce"], capsys)
