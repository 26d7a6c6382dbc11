"""What a secret is, for all of acp-tui: by its name, its shape, and what stands before it; and how it is masked.

Recordings, the inspector, `redact`, `doctor`, forms, the prompt history and the trust question all ask here. How a
redacted text keeps its width is `workbench.redact`'s.
"""
