"""What fills the terminal or lies above it: the tab of a session, and the dialogs. What becomes of an answer, desks do.

Begin with `session`: its parts are `session_start` (how it comes to an agent), `session_writing` (what the user
writes) and `session_actions` (what keys want). All others are dialogs, each in a module that is called after it.
"""
