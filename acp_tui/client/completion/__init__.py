"""Finds the paths that letters behind `@` may mean: `workspace_files` lists them, `matching` ranks them."""
