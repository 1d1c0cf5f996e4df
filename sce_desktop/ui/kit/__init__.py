"""Parts that every panel and dialog is made of: theme, icons, painting, dialog frames."""
