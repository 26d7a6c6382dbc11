"""A conversation in view: of any length, with only the entries in view as widgets on the screen.

Begin with `view`; `column` has the lines of all entries, `scrolling` says which are in view, `entry_views` are the
widgets, `pool` binds them to what is in view, `looks` asks the stylesheet for their colors. `drawing` is what each kind
of entry draws (`messages`, `tool_calls`, `notes`, ...).
"""
