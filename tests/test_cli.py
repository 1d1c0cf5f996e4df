"""What all commands share: exit codes, one sentence for what is wrong, and a cheap import."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import sce_desktop
from sce_desktop import cli, paths
from sce_desktop.core.errors import Cancelled


def run_python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, **environment},
        check=False,
    )


def test_import_is_cheap() -> None:
    code = """
        import sys, time
        started = time.process_time()
        import sce_desktop.cli
        sce_desktop.cli.build_parser()
        seconds = time.process_time() - started
        heavy = {"torch", "pandas", "numpy", "PySide6", "sqlalchemy", "tqdm", "pyarrow"} & set(sys.modules)
        assert not heavy, heavy
        print(seconds)
    """
    seconds = []
    for _ in range(3):  # whatever else the machine does can only make it take more of the processor
        result = run_python(code)
        assert result.returncode == 0, result.stderr
        seconds.append(float(result.stdout))
    assert min(seconds) < 0.5


def test_python_m(tmp_path: Path) -> None:
    result = subprocess.run(
        [sys.executable, "-m", "sce_desktop", "--version"], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == f"sce-desktop {sce_desktop.__version__}"


def test_streams_may_be_missing() -> None:  # windowed builds
    code = """
        import sys
        sys.stdout = sys.stderr = None
        from sce_desktop.cli import main
        assert main(["flops"]) == 0
        assert main(["classify"]) == 2
    """
    assert run_python(code).returncode == 0


def test_a_label_that_the_terminal_cannot_write(tmp_path: Path) -> None:
    code = """
        import sys
        from sce_desktop.cli import main
        sys.exit(main(["models", "remove", "модель"]))
    """
    result = run_python(code, PYTHONIOENCODING="ascii", SCE_DESKTOP_HOME=str(tmp_path))
    assert result.returncode == 2
    assert "\\u043c" in result.stderr


def test_the_network_is_off_unless_asked_for(tmp_path: Path) -> None:
    code = """
        import os, sys
        from sce_desktop.cli import main
        main(sys.argv[1:] or ["flops"])
        print(os.environ["HF_HUB_OFFLINE"])
    """
    environment = {k: v for k, v in os.environ.items() if k != "HF_HUB_OFFLINE"}
    result = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    assert result.stdout.splitlines()[-1] == "1"


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["classify"], "required: TABLE, --text"),
        (["classify", "t.csv", "--text", "x", "-o", "o.csv", "--threshold", "2"], "between 0 and 1"),
        (["classify", "t.csv", "--text", "x", "-o", "o.csv", "--threshold", "much"], "'much'"),
        (["classify", "t.csv", "--text", "x", "-o", "o.csv", "--frobnicate"], "--frobnicate"),
        (["classify", "t.csv", "--tex", "x", "-o", "o.csv"], "--text"),  # no abbreviations
        (
            ["classify", "t.csv", "--text", "x", "--label", "a", "--labels-file", "f", "-o", "o"],
            "not allowed with",
        ),
        (["evaluate", "t.csv", "--text", "x"], "--gold"),
        (["benchmark", "data", "--part", "everything"], "everything"),
        (["benchmark", "data", "--max-rows", "0"], "at least 1"),
        (["frobnicate"], "frobnicate"),
        (["finetune", "t.csv"], "finetune"),
        (["project"], "ACTION"),
        (["models", "download"], "NAME"),
        (["models", "get"], "NAME"),
        (["--frobnicate"], "COMMAND"),
    ],
)
def test_wrong_use_is_one_sentence_and_exit_code_2(
    arguments: list[str], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("sce-desktop: ")
    assert reason in err
    assert len(err.strip().splitlines()) == 1


def test_help_is_no_failure(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--help"]) == 0
    assert cli.main(["classify", "--help"]) == 0
    assert "--labels-file" in capsys.readouterr().out


@pytest.mark.parametrize(
    "command",
    [
        ["classify", "t.csv", "--text", "a", "-o", "o.csv"],
        ["evaluate", "t.csv", "--text", "a", "--gold", "b"],
        ["benchmark", "data"],
        ["project", "score", "p.sce"],
    ],
    ids=lambda command: command[0],
)
def test_whole_table_is_the_old_name_of_joint(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    parser = cli.build_parser()
    kept = command[0] == "project"
    assert parser.parse_args(command).whole_table is (None if kept else False)
    for option in ("--joint", "--whole-table"):
        assert parser.parse_args([*command, option]).whole_table is True
    if kept:
        for option in ("--no-joint", "--no-whole-table"):
            assert parser.parse_args([*command, option]).whole_table is False
    assert cli.main([*command, "--help"]) == 0
    shown = capsys.readouterr().out
    assert "--joint" in shown
    assert "whole-table" not in shown


def test_get_is_the_old_name_of_download(capsys: pytest.CaptureFixture[str]) -> None:
    parser = cli.build_parser()
    arguments = ["e5", "--from", "https://example.org/e5.whl", "--allow-code"]
    new, old = (vars(parser.parse_args(["models", name, *arguments])) for name in ("download", "get"))
    assert new == old
    assert cli.main(["models", "--help"]) == 0
    shown = capsys.readouterr().out
    assert "download a model" in shown
    assert "get" not in shown


def test_what_follows_a_name_option_is_a_name() -> None:
    prepared = cli._prepared(
        ["classify", "t", "--label", "-5 stars", "--label", "--x", "--text", "a", "--label"]
    )
    assert prepared == ["classify", "t", "--label=-5 stars", "--label=--x", "--text=a", "--label"]
    args = cli.build_parser().parse_args([*prepared[:-1], "-o", "o"])
    assert (args.label, args.text) == (["-5 stars", "--x"], ["a"])


def test_a_file_alone_opens_the_window(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text("text\n", encoding="utf-8")
    assert cli._prepared([str(table)]) == ["gui", str(table)]
    assert cli._prepared([]) == ["gui"]
    assert cli._prepared(["absent.csv"]) == ["gui", "absent.csv"]
    assert cli._prepared(["clasify"]) == ["clasify"]
    args = cli.build_parser().parse_args(cli._prepared([str(table)]))
    assert args.path == table


def test_no_window_without_a_display_or_pyside(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    assert cli.main([]) == 2
    assert "no display" in capsys.readouterr().err
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert cli.main(["gui"]) == 2
    assert "PySide6" in capsys.readouterr().err
    assert cli.main(["gui", str(tmp_path / "absent.sce")]) == 2
    assert "does not exist" in capsys.readouterr().err


def test_no_window_without_the_libraries_of_the_system() -> None:
    code = """
        import sys
        sys.modules["PySide6.QtWidgets"] = None  # what Python does where the import fails
        from sce_desktop.cli import main
        sys.exit(main(["gui"]))
    """
    result = run_python(code, QT_QPA_PLATFORM="offscreen")
    assert result.returncode == 2
    assert "The window cannot start" in result.stderr


def test_stopping_says_what_is_kept(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stop(*_: object) -> int:
        raise Cancelled("All is kept.")

    monkeypatch.setattr("sce_desktop.commands.flops.run", stop)
    assert cli.main(["flops"]) == 130
    assert capsys.readouterr().err == "sce-desktop: Stopped. All is kept.\n"


def test_what_libraries_warn_of_is_logged_and_not_shown() -> None:
    code = """
        import warnings
        from sce_desktop import cli
        from sce_desktop.commands import doctor

        def run(args, progress):
            warnings.warn("The least populated class in y has only 1 members", UserWarning)
            return 0

        doctor.run = run
        raise SystemExit(cli.main(["doctor"]))
    """
    result = run_python(code)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    log = paths.log_file().read_text(encoding="utf-8")
    assert "UserWarning at " in log
    assert "The least populated class" not in log  # such a sentence may quote a text


def test_a_bug_is_not_hidden_and_is_logged(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> int:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr("sce_desktop.commands.flops.run", fail)
    with pytest.raises(ZeroDivisionError):
        cli.main(["flops"])
    log = paths.log_file().read_text(encoding="utf-8")
    assert "tests/test_cli.py" in log
    assert "ZeroDivisionError\n" in log


def test_a_closed_pipe_is_no_failure() -> None:
    command = f'"{sys.executable}" -m sce_desktop flops | true'
    result = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert "Traceback" not in result.stderr


def test_flops(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["flops", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["sce"] == {"m": 254803968, "m2": 55296, "const": 2359296, "epoch": 44990300160000}
    assert found["embedder"]["once"] == pytest.approx(4.12e14, rel=1e-3)
    assert found["llm_lora"]["epoch"] == pytest.approx(9.355e15, rel=1e-4)
    assert cli.main(["flops"]) == 0
    assert "2,554,462,208 m + 196,608 m^2" in capsys.readouterr().out


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
@pytest.mark.parametrize("arguments", [["flops"], ["flops", "--json"], ["--version"], ["classify", "--help"]])
def test_an_output_that_cannot_be_written_is_reported(arguments: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "sce_desktop", *arguments]
        result = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert result.returncode == 2
    (line,) = result.stderr.splitlines()[-1:]
    assert line.startswith("sce-desktop: The output could not be written (No space left on device)")
    assert "Traceback" not in result.stderr
    assert "Exception ignored" not in result.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
def test_notes_that_cannot_be_written_do_not_end_the_work(tmp_path: Path) -> None:
    table, out = tmp_path / "in.csv", tmp_path / "p.sce"
    table.write_text("text\na\n\na\n", encoding="utf-8")
    with Path("/dev/full").open("w") as full:
        command = ["project", "create", str(out), str(table), "--text", "text"]
        command = [sys.executable, "-m", "sce_desktop", *command]
        for code, told in ((0, f"{out}: 2 rows.\n"), (2, "")):
            result = subprocess.run(
                command,
                stdout=subprocess.PIPE,
                stderr=full,
                # What a failed write leaves in a buffer is tried again when Python ends.
                env={key: value for key, value in os.environ.items() if key != "PYTHONUNBUFFERED"},
                text=True,
                check=False,
            )
            assert (result.returncode, result.stdout) == (code, told)
