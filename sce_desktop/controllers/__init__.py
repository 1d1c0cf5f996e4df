"""What the window can do, in Qt without widgets: jobs, the open project, navigation, scoring, edits."""
