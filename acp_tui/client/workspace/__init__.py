"""The agent's access to the user's files: text inside a session's directories, and nothing else."""
