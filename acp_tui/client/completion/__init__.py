"""Finds the paths that the text after `@` may mean. `workspace_files` lists them, and `matching` ranks them."""
