"""The parts that screens are made of; none of them knows an agent.

Begin with `session_panel`, which holds the `conversation` and the `permission_card`; `prompt` is where the user writes.
"""
