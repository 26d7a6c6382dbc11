"""Modal screens that return a value. They don't know the controllers."""
