"""The settings while acp-tui runs: followed, shown, changed."""
