"""The main window: menus, docks, start page, settings, and what holds the features together."""
