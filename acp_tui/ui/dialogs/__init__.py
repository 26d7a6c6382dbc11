"""Modal screens that give a value; they know no controller."""
