"""The project file in Python: what the window does with one, without a window."""

from __future__ import annotations

from sce_desktop.project.project import Project as Project
