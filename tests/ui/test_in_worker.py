"""What jobs name by a string is there, is called as it takes its arguments, and is imported in the worker."""

from __future__ import annotations

import ast
import importlib
import inspect
import subprocess
import sys
from collections.abc import Iterator
from operator import attrgetter
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

import sce_desktop
from sce_desktop.controllers.in_worker import in_worker
from sce_desktop.controllers.jobs import WorkerQueues
from sce_desktop.core.progress import SilentProgress

PACKAGE = Path(sce_desktop.__file__).parent


def named() -> Iterator[tuple[str, str, bool]]:
    """Module, name and whether it takes a progress, of every ``in_worker`` call in the package."""
    for file in sorted(PACKAGE.rglob("*.py")):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        constants = {
            target.id: node.value.value
            for node in tree.body
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "in_worker":
                module, name = (
                    str(one.value if isinstance(one, ast.Constant) else constants[ast.unparse(one)])
                    for one in node.args
                )
                yield module, name, not any(keyword.arg == "takes_progress" for keyword in node.keywords)


def test_every_name_is_there_and_takes_what_it_is_given() -> None:
    found = sorted(set(named()))
    assert len(found) > 15
    for module, name, takes_progress in found:
        function = attrgetter(name)(importlib.import_module(module))
        parameters = inspect.signature(function).parameters
        assert ("progress" in parameters) == takes_progress, (module, name)


def test_a_job_runs_it_with_its_progress(qtbot: QtBot) -> None:
    with WorkerQueues() as workers:
        label = in_worker("sce_desktop.tasks.tables.tables", "read_labels", takes_progress=False)
        job = workers.reads.submit(label, Path("nowhere.txt"), title="Reading")
        with qtbot.waitSignal(job.failed) as failed:
            pass
    assert "nowhere.txt" in str(failed.args[0])


def test_errors_of_its_own_come_through() -> None:
    with pytest.raises(ZeroDivisionError):
        in_worker("operator", "truediv", takes_progress=False)(1, 0, progress=SilentProgress())


def test_naming_a_function_imports_nothing() -> None:
    code = """
import sys
from sce_desktop.controllers.in_worker import in_worker
in_worker("sce_desktop.tasks.insight.duplicates", "find_groups")
assert not {"sqlalchemy", "sce_desktop.tasks.insight.duplicates"} & set(sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
