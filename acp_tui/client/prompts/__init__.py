"""What the user has written: sent prompts and unsent drafts, kept over restarts. Draws nothing."""
