"""Shows a conversation of any length.

Start with `view`. `column` has the lines of all entries, and `window` knows which are in view. `drawing` defines what
each kind of entry draws (`messages`, `tool_calls`, `notes`, ...).
"""
