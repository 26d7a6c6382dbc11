"""Shows what passes between acp-tui and an agent, line by line; what is known of the lines is `workbench.inspect`'s."""
