"""A conversation in view: of any length, with only the lines in view on the screen.

Begin with `column` (the lines of all entries), then `window` (those in view) and `view` (what a user does there).
Selecting, finding and folding have modules of their own.
"""
