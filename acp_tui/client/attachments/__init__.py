"""What a user attaches to a prompt, as content blocks: files named by `@path` in its text, and pasted bytes.

It doesn't know what the agent accepts. `client.sessions` adapts the blocks to that (R-PROMPT-4).
"""
