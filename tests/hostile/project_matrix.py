"""What the program does with a hostile project: every command, and all that the window reads and writes.

Each ends in success or in one sentence. Beside that: a file beside the project is still what it was; a
project that a command calls damaged does not pass `verify`; what `repair` makes passes it.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import gc
import io
import json
import resource
import shutil
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from sce_desktop import cli
from sce_desktop.core.annotations import Decision, Label
from sce_desktop.core.errors import UserError
from sce_desktop.core.query import CellFilter, RowOrder, RowQuery, RowState
from sce_desktop.core.runs import Scores
from sce_desktop.store.project import Project
from tests.hostile.child import MEMORY, SECONDS, in_child
from tests.hostile.projects import COLUMNS, PARTS, PROJECTS, make_sound

GOOD: Final = ("done", "refused")
_LONGEST_SENTENCE: Final = 600
_MORE: Final = "{},{},{}\n9001,one more text,2\n".format(*COLUMNS)
Action = Callable[[Path], str]


class Case(NamedTuple):
    """How one action on one project ended: "done", "refused" in a sentence, or what went wrong."""

    project: str
    action: str
    word: str
    text: str
    seconds: float
    megabytes: int


def load_everything() -> None:
    """Import what commands import when they are needed, so that a child need not."""
    import sce_desktop.tasks.evaluation.final_labels
    import sce_desktop.tasks.insight.labels
    import sce_desktop.tasks.insight.sessions
    import sce_desktop.tasks.scoring.joint
    import sce_desktop.tasks.tables.export
    import sce_desktop.tasks.tables.replaceable
    import sce_desktop.tasks.tables.tables  # noqa: F401

    with tempfile.TemporaryDirectory() as folder:  # what is imported later still, and cached statements
        path = Path(folder) / "p.sce"
        make_sound(path)
        for action in ACTIONS.values():
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                action(path)
    gc.collect()
    gc.freeze()  # a child that collects would copy all of it


# --- actions ------------------------------------------------------------------------------------------------


def _read(project: Project) -> None:
    """Read all that the window, and the tasks that score, show and export, read."""
    ids = project.row_ids()
    project.imports()
    project.undo_text(), project.redo_text(), project.undo_rows(), project.redo_rows()
    project.interrupted()
    project.label_set(), project.label_sets()
    project.model(), project.threshold(), project.whole_table()
    for rows in project.iter_rows():
        for row in rows:
            assert len(row.cells) == len(project.columns) or len(rows) > 100
    project.rows(ids), project.texts(ids), project.cell_types(ids)
    project.annotations(ids), project.marks(ids), project.answers(), project.former_labels(ids)
    project.annotation_counts(), project.state_counts(), project.first_open(ids), project.has_bare_decisions()
    project.label_moments(), project.repeats(), project.repeatable_ids(1)
    found = project.runs()
    both = (found[0].id, found[-1].id) if found else None
    for run in found:
        project.scores(run.id, ids), project.run_arrays(run.id), project.run_matrix(run.id)
        project.predicted_counts(run.id), project.unscored_ids(run.id), project.unfitting_ids(run.id)
        project.final_sources(run.id), project.active_run(run.alias), project.run_before(run)
        for order in RowOrder:
            if order is not RowOrder.GIVEN:
                project.row_ids(RowQuery(order=order, run_id=run.id, compare=both, order_column=0, seed=1))
    for state in RowState:
        project.row_ids(RowQuery(state=state))
    for text in ("text number", "7", "ä"):
        project.row_ids(RowQuery(search=text))
    last = len(project.columns) - 1
    project.row_ids(RowQuery(cells=(CellFilter(last, low="1", high="2"),)))
    for version in project.versions():
        project.version_weights(version.id)
    project.active_version(), project.active_title()
    for audit in project.audits():
        project.rows(project.audit_rows(audit.id)), project.audit_frame(audit.id)
    for coder in project.coders():
        project.rows(list(project.coder_answers(coder.id)))
    project.answers_of_others(1), project.coder_answers(0)
    project.same_text_ids(3), project.reading(0), project.cell_counts(last, ids, most=5)


def _open(path: Path) -> str:
    with Project.open(path, read_only=True, older=True) as project:
        _read(project)
    return "done"


def _work(path: Path) -> str:
    """Do what people do in the window."""
    with Project.open(path) as project:
        project.decide([7, 8], Decision.NONE)
        project.set_marks(9, note="new")
        label_set = project.label_set()
        labels = label_set.labels if label_set else ()
        project.set_labels([*labels, Label("brand new")])
        project.mark_rows([3, 4], flag=True)
        for _ in range(15):
            project.undo()
        for _ in range(5):
            project.redo()
        project.add_coder("third", "", {2: "a"})
        run = project.open_run("sce", "sce", "m", "g", project.label_set().labels)  # type: ignore[union-attr]
        project.add_scores(run.id, [1, 2], Scores(np.full((2, len(run.labels)), 0.25, np.float32)))
        project.activate(run.id)
        project.create_audit([41, 42], 5)
        project.use_label_set(project.label_sets()[0].id)
        project.activate_version(None)
        project.build_search_index()
        _read(project)
    return "done"


def _command(*arguments: str) -> Action:
    """Return what runs a command on the project, with names beside it for what begins with @."""

    def run(path: Path) -> str:
        (path.parent / "more.csv").write_text(_MORE)
        given = [str(path.parent / one[1:]) if one.startswith("@") else one for one in arguments]
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = cli.main(["project", given[0], str(path), *given[1:]])
        said = (err.getvalue() if code else "") or out.getvalue()
        if code == 0:
            return "done"
        assert code == 2, f"exit code {code}"
        lines = [line for line in said.splitlines() if line.strip()]
        if arguments[0] == "verify":
            assert lines
            for line in lines:
                _check_sentence(line)
            return f"refused\n{said}"
        assert lines[-1].startswith("sce-desktop: "), said
        _check_sentence(lines[-1])
        return f"refused\n{lines[-1]}"

    return run


def _repair(path: Path) -> str:
    """Repair, and look whether the copy is what it should be."""
    copy = path.with_name("copy.sce")
    copy.unlink(missing_ok=True)
    said = _command("repair", "@copy.sce")(path)
    if said == "done":
        with Project.open(copy) as project:
            problems = project.verify()
            assert problems == [], f"a repaired project has problems: {problems}"
            _read(project)
    return said


ACTIONS: Final[dict[str, Action]] = {
    "open": _open,
    "info": _command("info"),
    "verify": _command("verify"),
    "export": _command("export", "-o", "@out.csv", "--force"),
    "backup": _command("backup", "@backup.sce", "--force"),
    "repair": _repair,
    "add": _command("add", "@more.csv"),
    "work": _work,
}


def _check_sentence(message: str) -> None:
    assert message.isprintable(), f"a message that does not print: {message!r}"
    assert message.endswith((".", "?")), f"no sentence: {message!r}"
    assert len(message) < _LONGEST_SENTENCE, f"a message of {len(message)} characters"


def _try(action: Action, path: Path) -> str:
    try:
        return action(path)
    except UserError as error:
        _check_sentence(str(error))
        return f"refused\n{error}"


# --- cases --------------------------------------------------------------------------------------------------


def cases(
    sound: Path, folder: Path, projects: list[str], actions: list[str], *, turns: int = 0
) -> Iterator[Case]:
    """Try each action on a copy of its own of each project; both are named. With ``turns`` so many of them.

    One child process does all of a project within the limits of one action. Where something goes wrong there,
    each action gets a process of its own, so that it is known which it was.
    """
    for place, name in enumerate(projects):
        some = [actions[(place + turn * 3) % len(actions)] for turn in range(turns)] or actions
        ended = in_child(functools.partial(_as_json, name, sound, folder, some))
        found = [Case(*one) for one in json.loads(ended.text)] if ended.how == "returned" else []
        if not found or any(case.word not in GOOD for case in found):
            found = []
            for action in some:
                ended = in_child(functools.partial(_as_json, name, sound, folder, [action]))
                if ended.how == "returned":
                    found += [Case(*one) for one in json.loads(ended.text)]
                else:
                    found.append(Case(name, action, ended.how, ended.text, ended.seconds, ended.megabytes))
        yield from found
        damaged = [case for case in found if case.action != "verify" and "is damaged" in case.text]
        if damaged and any(case.action == "verify" and case.word == "done" for case in found):
            text = f"verify finds nothing, but {damaged[0].action} says: {damaged[0].text}"
            yield Case(name, "verify", "passes", text, 0, 0)


def _as_json(name: str, sound: Path, folder: Path, actions: list[str]) -> str:
    return json.dumps(_all(name, sound, folder, actions))


def _all(name: str, sound: Path, folder: Path, actions: list[str]) -> list[Case]:
    """Try each action on a copy of its own of one project, in this process."""
    found = []
    for action in actions:
        place = Path(tempfile.mkdtemp(dir=folder))
        path = place / "p.sce"
        shutil.copyfile(sound, path)
        PROJECTS[name](path)
        began = time.process_time()
        try:
            word, _, text = _try(ACTIONS[action], path).partition("\n")
        except MemoryError:
            word, text = "memory", traceback.format_exc()
        except Exception:
            word, text = "raised", traceback.format_exc()
        seconds = time.process_time() - began
        victim = place / "thesis.txt"
        if name in _WITH_VICTIM and (not victim.exists() or victim.read_text() != "years of work"):
            word, text = "destroys", "a file beside the project was written or deleted"
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
        found.append(Case(name, action, word, text[-2_000:], seconds, peak))
        shutil.rmtree(place)
    return found


_WITH_VICTIM: Final = ("log that is a link", "journal that deletes a file")


def main(arguments: list[str]) -> int:
    """Try all actions on all projects, or on those named."""
    parser = argparse.ArgumentParser(prog="python -m tests.hostile projects", description=__doc__)
    parser.add_argument("--only", metavar="WORDS", default="", help="projects whose name contains it")
    parser.add_argument("--part", choices=list(PARTS), help="projects of one part alone")
    parser.add_argument("--actions", nargs="+", choices=list(ACTIONS), default=list(ACTIONS))
    parser.add_argument("--turns", type=int, default=0, help="so many actions a project, which take turns")
    parser.add_argument("--verbose", action="store_true", help="print every case")
    args = parser.parse_args(arguments)
    load_everything()
    projects = [name for name in PARTS.get(args.part, PROJECTS) if args.only in name]
    found: list[Case] = []
    began = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        sound = Path(folder) / "sound.sce"
        make_sound(sound)
        for case in cases(sound, Path(folder), projects, args.actions, turns=args.turns):
            found.append(case)
            if args.verbose or case.word not in GOOD:
                last = [line for line in case.text.strip().splitlines() if line.strip()]
                print(
                    f"{case.word:9} {case.action:7} {case.project}: {case.seconds:.1f} s,"
                    f" {case.megabytes} MB: {(last or [''])[-1][:300]}",
                    flush=True,
                )
    bad = [case for case in found if case.word not in GOOD]
    done = sum(case.word == "done" for case in found)
    slowest = max(found, key=lambda case: case.seconds)
    largest = max(found, key=lambda case: case.megabytes)
    print(
        f"{len(projects)} projects, {len(found)} cases: {done} done, {len(found) - done - len(bad)} refused"
        f" in a sentence, {len(bad)} ended badly. Limits: {SECONDS} s of the processor,"
        f" {MEMORY >> 20} MiB beyond the program."
        f" Slowest: {slowest.seconds:.1f} s ({slowest.project}, {slowest.action});"
        f" largest: {largest.megabytes} MiB with the program ({largest.project}, {largest.action})."
        f" Processor: {time.process_time() - began + sum(case.seconds for case in found):.0f} s."
    )
    return 1 if bad else 0
