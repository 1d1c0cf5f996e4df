"""Final labels of a table without a project."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from sce_desktop.core.annotations import Label
from sce_desktop.core.errors import UserError
from sce_desktop.core.labels import clean_labels
from sce_desktop.core.progress import Progress, SilentProgress
from sce_desktop.core.runs import Scores, VectorCache
from sce_desktop.tasks.scoring.classify import ClassifyReport, ClassifySettings, classify_table
from sce_desktop.tasks.scoring.final_table import FinalWanted
from tests.tasks.fakes import FakeModel, FakeSession, RecordingProgress

LABELS = clean_labels(["damage", "delay"])
ROWS = 400


class Sure(FakeModel):
    """Predicts damage with the confidence that the text names."""

    def probabilities(
        self,
        texts: Sequence[str],
        labels: Sequence[Label],
        *,
        multi_label: bool = False,
        cache: VectorCache | None = None,
        progress: Progress | None = None,
    ) -> Scores:
        self.scored += texts
        sure = np.asarray([float(text.split()[-1]) if text[-1].isdigit() else 0.5 for text in texts])
        none = (sure == 0.99).astype(np.float32) if self.says_none else None
        return Scores(np.stack([sure, 1 - sure], axis=1).astype(np.float32), none)


def made(folder: Path, *, known: int, seed: int = 0) -> tuple[Path, list[str]]:
    """Write a table of `ROWS` rows of which ``known`` at random have their right label in a column."""
    rng = np.random.default_rng(seed)
    sure = rng.uniform(0.5, 0.98, ROWS).round(2)
    gold = np.where(rng.random(ROWS) < sure**0.3, "damage", "delay").tolist()
    shown = set(rng.choice(ROWS, known, replace=False).tolist())
    lines = [["id", "text", "checked"]]
    lines += [[str(n), f"row {sure[n]}", gold[n] if n in shown else ""] for n in range(ROWS)]
    lines.append(["blank", "", ""])
    path = folder / "in.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(lines)
    return path, gold


def classify(
    table: Path, output: Path, final: FinalWanted | None, **options: object
) -> tuple[ClassifyReport, list[dict[str, str]], Sure]:
    model = options.pop("fake", None) or Sure()
    assert isinstance(model, Sure)
    arguments = {
        "text_columns": ["text"],
        "labels": LABELS,
        "source": FakeSession(model),
        "progress": options.pop("progress", SilentProgress()),
    }
    settings = ClassifySettings("fake", final=final, batch_rows=64, **options)  # type: ignore[arg-type]
    report = classify_table(table, output, settings, **arguments)  # type: ignore[arg-type]
    with output.open(encoding="utf-8", newline="") as file:
        return report, list(csv.DictReader(file)), model


def test_from_the_threshold_up_the_model_labels(tmp_path: Path) -> None:
    table, _gold = made(tmp_path, known=0)
    report, rows, _model = classify(table, tmp_path / "out.csv", FinalWanted(), threshold=0.8)
    assert list(rows[0])[-2:] == ["final_label", "final_source"]
    for row in rows[:-1]:
        sure = float(row["sce_confidence"]) >= 0.8
        assert (row["final_label"], row["final_source"]) == (("damage", "model") if sure else ("", "none"))
        assert row["sce_status"] == ("scored" if sure else "unsure")
    assert (rows[-1]["final_label"], rows[-1]["final_source"]) == ("", "none")  # no text
    assert report.final is not None
    by_model = sum(row["final_source"] == "model" for row in rows)
    assert (report.final.annotator, report.final.model, report.final.review) == (0, by_model, ROWS - by_model)
    assert report.final.error_at_most is None


def test_without_final_nothing_changes(tmp_path: Path) -> None:
    table, _gold = made(tmp_path, known=0)
    report, rows, _model = classify(table, tmp_path / "out.csv", None)
    assert "final_label" not in rows[0]
    assert report.final is None


@pytest.mark.parametrize("audit", [True, False])
def test_an_error_chooses_the_threshold_and_no_text_is_scored_twice(tmp_path: Path, audit: bool) -> None:
    table, gold = made(tmp_path, known=150)
    wanted = FinalWanted(0.2, "checked", audit=audit)
    report, rows, model = classify(table, tmp_path / "out.csv", wanted)
    assert len([text for text in model.scored if text != "?"]) == ROWS
    assert report.final is not None
    assert (report.final.max_error, report.final.audited) == (0.2, 150)
    assert report.final.basis == ("audit" if audit else "gold")
    by_model = [n for n in range(ROWS) if rows[n]["final_source"] == "model"]
    assert len(by_model) == report.final.model > 50
    assert np.mean([gold[n] != "damage" for n in by_model]) <= 0.2
    assert min(float(rows[n]["sce_confidence"]) for n in by_model) >= report.final.threshold - 1e-6
    checked = [n for n in range(ROWS) if rows[n]["checked"]]
    if audit:  # what a person has said is the final label
        assert all(rows[n]["final_source"] == "annotator" for n in checked)
        assert all(rows[n]["final_label"] == gold[n] for n in checked)
        assert report.final.annotator == 150
    else:  # gold labels are no answers
        assert not any(row["final_source"] == "annotator" for row in rows)
        assert report.final.annotator == 0
    unsure = {row["sce_status"] for row in rows if row["final_source"] == "none"} - {"blank"}
    assert unsure <= {"unsure"}
    # The rest of the file is what a run with that threshold writes.
    again, same, _model = classify(
        table,
        tmp_path / "same.csv",
        FinalWanted(None, "checked", audit=audit),
        threshold=report.final.threshold,
    )
    assert same == rows
    assert again.final is not None
    assert again.final.error_at_most is not None


def test_too_little_evidence_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    table, _gold = made(tmp_path, known=20)
    with pytest.raises(UserError, match=r"are the least for an error of 5%.*: label .*\d+ more\.$"):
        classify(table, tmp_path / "out.csv", FinalWanted(0.05, "checked", audit=True))
    assert not (tmp_path / "out.csv").exists()


def test_where_the_model_says_that_none_fits_the_row_is_to_be_reviewed(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_text("text,gold\nrow 0.99,damage\nrow 0.98,damage\n", encoding="utf-8")
    report, rows, _model = classify(
        path, tmp_path / "out.csv", FinalWanted(None, "gold"), fake=Sure(says_none=True)
    )
    assert [row["final_source"] for row in rows] == ["none", "model"]
    assert report.final is not None
    assert (report.final.model, report.final.review, report.final.audited) == (1, 1, 1)


def test_a_column_that_is_missing_and_several_labels_a_row(tmp_path: Path) -> None:
    table, _gold = made(tmp_path, known=100)
    with pytest.raises(UserError, match="no column “right”"):
        classify(table, tmp_path / "out.csv", FinalWanted(0.2, "right"))
    with pytest.raises(UserError, match="only where a row has one label"):
        classify(table, tmp_path / "out.csv", FinalWanted(0.2, "checked"), multi_label=True)
    _report, rows, _model = classify(
        table, tmp_path / "out.csv", FinalWanted(), multi_label=True, threshold=0.9
    )
    for row in rows[:-1]:
        assert row["final_label"] == (row["sce_labels"] if row["final_source"] == "model" else "")
    assert {row["final_label"] for row in rows} == {"", '["damage"]'}


def test_progress_and_cancel_in_the_first_look(tmp_path: Path) -> None:
    table, _gold = made(tmp_path, known=150)
    progress = RecordingProgress()
    classify(table, tmp_path / "out.csv", FinalWanted(0.2, "checked"), progress=progress)
    assert any("threshold" in str(entry) for entry in progress.reports)
