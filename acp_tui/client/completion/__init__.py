"""What may be meant by what is being written: paths for `@`, by a few letters of theirs. It draws nothing.

Begin with `workspace_files`, which lists the files; `matching` says what fits best.
"""
