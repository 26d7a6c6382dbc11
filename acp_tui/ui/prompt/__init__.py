"""The prompt, and what helps to write it."""
