"""Shows what acp-tui and an agent send each other, line by line. `workbench.inspect` analyzes the lines."""
