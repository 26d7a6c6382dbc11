"""What a user can do by key: the tables, the keymap, the help."""
