"""Faults made on purpose: kills, power losses, full disks, other programs that touch the files."""
