"""Finds out whether a machine and an agent are ready to work together; `cli.doctor` tells it."""
