"""Past prompts in the prompt: walking through them, searching them, and the drafts that come back."""
