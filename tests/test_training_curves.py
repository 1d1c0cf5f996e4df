"""The chart of how trainings went, from their logs."""

from __future__ import annotations

from pathlib import Path

import pytest

TOOLS = Path(__file__).resolve().parents[1] / "tools"


def _trace(*looks: tuple[int, dict[str, float]]) -> dict[str, list]:
    return {
        "steps": [step for step, _ in looks],
        "accuracies": [{name: {"sce": value} for name, value in sets.items()} for _, sets in looks],
    }


def test_rows_held_out_and_unseen_sets_are_lines_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(TOOLS)
    from training_curves import chart, curves

    both = {"members": {"model": _trace((5, {"a_seen": 40, "b": 10, "c": 20}), (9, {"a_seen": 60, "b": 30}))}}
    assert curves(both) == {"seen": {5: 0.4, 9: 0.6}, "unseen": {5: pytest.approx(0.15), 9: 0.3}}
    unfinished = {"trace": _trace((5, {"b": 12}), (7, {"b": 14}))}
    assert curves(unfinished) == {"unseen": {5: 0.12, 7: 0.14}}
    svg = chart({"few": both, "many": unfinished}, "how it went")
    assert all(name in svg for name in ("how it went", "few, seen", "few, unseen", "many, unseen", ">5<"))
    assert ">7<" not in svg  # only one of them was looked at there
