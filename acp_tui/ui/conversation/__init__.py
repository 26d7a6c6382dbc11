"""Shows a conversation of any length. Only the entries in view are widgets.

Start with `view`. `column` has the lines of all entries, `window` knows which lines are in view, `entry_views` defines
the widgets, and `spare_widgets` binds them to the entries in view. `drawing` defines what each kind of entry draws
(`messages`, `tool_calls`, `notes`, ...).
"""
