"""A conversation in view: of any length, with only the entries in view as widgets on the screen.

Begin with `column` (the lines of all entries), then `window` (those in view) and `view` (what a user does there).
`entry_views` are the widgets, `pool` binds them to what is in view, `looks` asks the stylesheet for their colors.
Selecting, searching and folding have modules of their own.
"""
