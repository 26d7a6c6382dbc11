"""The command line: arguments, the turn without a screen, and the way into the user interface.

Begin with `command_table` (all commands, options and their help), then `main` (who does what). `exec` is the turn
without a screen, `plain` the conversation in lines, `screen` the user interface.
"""
