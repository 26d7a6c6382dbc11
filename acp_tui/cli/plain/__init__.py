"""Working with an agent line by line, for screen readers and terminals that cannot be drawn on: `--plain`."""
