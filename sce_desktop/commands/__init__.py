"""One module a command: its arguments, its call of a task, and what it prints."""
