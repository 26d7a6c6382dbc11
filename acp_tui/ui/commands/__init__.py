"""What the user can do by key: the command table, the keymap, the help."""
