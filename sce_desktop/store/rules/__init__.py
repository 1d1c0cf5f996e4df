"""What has to be true of the contents of a project: opening, reading, verifying and repairing ask here."""
