"""The command line: arguments, the turn without a screen, and the way into the user interface."""
