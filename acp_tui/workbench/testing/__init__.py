"""The pytest fixtures for agent authors, and the objects they provide. `acp_tui.testing` is the public path."""
