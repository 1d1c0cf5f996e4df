"""``project score``: score the rows that have no score."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sce_desktop.commands import (
    console,
    model_options,
    options,
    project_file,
    project_info,
)
from sce_desktop.core.escapes import shown
from sce_desktop.core.progress import Progress
from sce_desktop.core.text import plural

if TYPE_CHECKING:
    from sce_desktop.core.annotations import Label
    from sce_desktop.core.runs import VectorCache
    from sce_desktop.store.project import Project
    from sce_desktop.tasks.scoring.models import NamedModel
    from sce_desktop.tasks.scoring.sample_first import SampleReport


def run(args: argparse.Namespace, progress: Progress) -> int:
    """Score what has no score yet, after taking new labels if there are some.

    Without ``--model`` the project's model version in use does it, else the model that the project keeps,
    else the one that its languages ask for, which it keeps from then on.
    """
    labels = options.given_labels(args, progress)

    from sce_desktop.tasks.scoring.choice import choose_for_project
    from sce_desktop.tasks.scoring.foreign import report_foreign_rows
    from sce_desktop.tasks.scoring.models import DEFAULT_MODEL, load_models
    from sce_desktop.tasks.scoring.scoring import score_project
    from sce_desktop.tasks.training.version_models import project_models

    with project_file.open_project(args.project) as project:
        source, baselines, cache = model_options.open_models(args)
        choice = None
        kept = project.model()
        if not args.model and not kept.name and project.active_version() is None:
            choice = choose_for_project(project, labels)
            model_options.report_choice(choice, progress)
        name = args.model or kept.name or (choice.model if choice else DEFAULT_MODEL)
        if args.model:
            loaded = load_models(source, [name], baselines, progress)
        else:
            loaded = project_models(project, source, name, baselines, progress)
        if args.model or choice:
            project.use_model(name, chosen=bool(args.model))
        report_foreign_rows(loaded.models[0], project, progress, labels)
        loaded.models[0] = _in_table(args, project, loaded.models[0], labels, cache, progress)
        samples: list[SampleReport] = []

        def hear(found: SampleReport) -> None:
            samples.append(found)
            console.say(found.sentence(background=False), progress)

        with console.if_stopped("Rows already scored keep their scores. Run score again to continue."):
            runs = score_project(
                project,
                loaded.models,
                labels=labels,
                cache=cache,
                on_sample=hear,
                progress=progress,
            )
        scored = {run.alias: run.scored for run in runs}
        text = ", ".join(f"{plural(number, 'row')} by {shown(alias)}" for alias, number in scored.items())
        warned = console.warnings(progress)
        found = model_options.choice_facts(choice)
        facts = {
            **project_info.facts_of(project),
            **found,
            **({"sample": _sample_facts(samples[0])} if samples else {}),
            **({"warnings": warned} if warned else {}),  # else what info says
        }
        console.print_result(args, facts, f"{shown(args.project)}: scored {text}.")
    return 0


def _sample_facts(sample: SampleReport) -> dict[str, Any]:
    return {
        "rows": sample.rows,
        "shares": dict(sample.shares),
        "disagree": {sample.beside: sample.disagree} if sample.beside else {},
        "seconds_left": sample.seconds_left,
    }


def _in_table(
    args: argparse.Namespace,
    project: Project,
    named: NamedModel,
    labels: Sequence[Label] | None,
    cache: VectorCache | None,
    progress: Progress,
) -> NamedModel:
    """Return the model as it scores ``project``: knowing its rows if that is asked for now, or was before."""
    from sce_desktop.tasks.scoring.joint import fit_transductive_to_project, joint_wanted
    from sce_desktop.tasks.scoring.models import labels_for

    label_set = project.label_set()
    labels = labels_for(named.model, labels or (label_set.labels if label_set else ()))  # or nothing is kept
    if args.whole_table or (args.whole_table is None and joint_wanted(project, named.model.kind, labels)):
        named = fit_transductive_to_project(named, project, labels, cache=cache, progress=progress)
    if args.whole_table is not None:
        project.use_whole_table(args.whole_table)
    return named
