"""Final labels from the command line: `classify --final` and `project export --final`."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from sce_desktop import cli
from sce_desktop.cli import build_parser
from sce_desktop.core.errors import UserError
from tests.ml.tiny import tiny_sce
from tests.tasks.finals import audit, scored_project


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tiny_sce(tmp_path_factory.mktemp("models")))


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def audited(tmp_path: Path) -> tuple[str, np.ndarray]:
    project, gold = scored_project(tmp_path / "p.sce")
    with project:
        audit(project, gold, 200)
    return str(tmp_path / "p.sce"), gold


def test_export_chooses_the_threshold_and_says_so(
    audited: tuple[str, np.ndarray], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, gold = audited
    out = tmp_path / "out.csv"
    assert cli.main(["project", "export", path, "-o", str(out), "--final", "--max-error", "30%"]) == 0
    said = capsys.readouterr().out
    assert "Final labels: 200 by annotators, " in said
    assert "chosen from the audit sample." in said
    rows = rows_of(out)
    by_model = [n for n, row in enumerate(rows) if row["final_source"] == "model"]
    assert np.mean([gold[n] for n in by_model]) <= 0.3
    assert sum(row["final_source"] == "annotator" for row in rows) == 200
    assert all((row["final_label"] == "") == (row["final_source"] == "none") for row in rows)

    assert (
        cli.main(["project", "export", path, "-o", str(out), "--final", "--max-error", "0.3", "--json"]) == 0
    )
    facts = json.loads(capsys.readouterr().out)
    final = facts["final"]
    assert (final["annotator"], final["model"]) == (200, len(by_model))
    assert final["annotator"] + final["model"] + final["review"] == facts["rows"] == 600
    assert (final["basis"], final["audited"], final["max_error"]) == ("audit", 200, 0.3)
    assert 0 < final["expected_error"] < final["error_at_most"] <= 0.3
    assert f"Confidence threshold {final['threshold']:g}, chosen" in said


def test_export_refuses_what_the_audit_does_not_bear(
    audited: tuple[str, np.ndarray], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, _gold = audited
    out = tmp_path / "out.csv"
    assert cli.main(["project", "export", path, "-o", str(out), "--final", "--max-error", "1%"]) == 2
    assert (
        "audited rows are the least for an error of 1%, more where some are wrong: label at least "
        in capsys.readouterr().err
    )
    assert not out.exists()


def test_export_with_the_projects_threshold_or_another(
    audited: tuple[str, np.ndarray], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, _gold = audited
    out = tmp_path / "out.csv"
    assert cli.main(["project", "export", path, "-o", str(out), "--final"]) == 0
    assert {row["final_source"] for row in rows_of(out)} == {"annotator", "model"}
    assert "0 to review; error at most " in capsys.readouterr().out
    assert cli.main(["project", "export", path, "-o", str(out), "--final", "--threshold", "0.9"]) == 0
    assert {row["final_source"] for row in rows_of(out)} == {"annotator", "model", "none"}
    assert "Confidence threshold 0.9, given." in capsys.readouterr().out
    assert cli.main(["project", "export", path, "-o", str(out)]) == 0
    assert "final_label" not in rows_of(out)[0]


def test_classify_with_an_audit_column(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table, out = tmp_path / "in.csv", tmp_path / "out.csv"
    words = ["classify", str(table), "-o", str(out), "--text", "text", "--model", model]
    words += ["--label", "late", "--label", "damaged"]
    table.write_text("\n".join(["text", *(f"late again {n}" for n in range(80))]) + "\n", encoding="utf-8")
    assert cli.main(words) == 0
    given = [row["sce_label"] for row in rows_of(out)]
    capsys.readouterr()
    other = {"late": "damaged", "damaged": "late"}
    for wrong, code in ((0, 0), (20, 2)):  # of the 40 rows that are audited
        right = [other[label] if n < wrong else label for n, label in enumerate(given[:40])]
        lines = ["text,checked", *(f"late again {n},{(right[n] if n < 40 else '')}" for n in range(80))]
        table.write_text("\n".join(lines) + "\n", encoding="utf-8")
        asked = [*words, "--force", "--final", "--audit", "checked", "--json"]
        assert cli.main(asked) == 0
        final = json.loads(capsys.readouterr().out)["final"]
        assert (final["annotator"], final["basis"], final["audited"]) == (40, "audit", 40)
        assert [row["final_label"] for row in rows_of(out)[:40]] == right
        assert [row["final_source"] for row in rows_of(out)] == ["annotator"] * 40 + ["model"] * 40
        assert cli.main([*asked, "--max-error", "20%"]) == code
        said = capsys.readouterr()
        if code:
            assert f"of 40 audited rows {wrong} are wrong" in said.err
        else:
            assert json.loads(said.out)["final"]["error_at_most"] <= 0.2


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--max-error", "5%"], "--max-error is about final labels: add --final."),
        (["--audit", "x"], "--audit is about final labels: add --final."),
        (["--final", "--max-error", "5%"], "--max-error needs --audit or --gold"),
        (["--final", "--gold", "x", "--max-error", "5%", "--threshold", "0.5"], "leave --threshold out"),
        (["--final", "--gold", "x", "--audit", "y"], "not allowed with"),
        (["--final", "--max-error", "0"], "must lie between 0 and 100%, not 0"),
        (["--final", "--max-error", "120%"], "must lie between 0 and 100%, not 120%"),
    ],
)
def test_options_that_do_not_go_together(
    words: list[str], problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "in.csv"
    table.write_text("text,x,y\none,a,b\n", encoding="utf-8")
    command = ["classify", str(table), "-o", str(tmp_path / "out.csv"), "--text", "text", "--label", "a"]
    assert cli.main([*command, *words]) == 2
    assert problem in capsys.readouterr().err


def test_errors_are_read_as_percentages_and_fractions() -> None:
    def read(text: str) -> float:
        words = ["project", "export", "p", "-o", "o", "--final", "--max-error", text]
        return float(build_parser().parse_args(words).max_error)

    assert read("5%") == read("0.05") == 0.05
    with pytest.raises(UserError, match="invalid share value"):
        read("few")
