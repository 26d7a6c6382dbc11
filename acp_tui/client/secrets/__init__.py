"""What counts as a secret in acp-tui, by its name, its shape, and what precedes it; and how to mask it.

Recordings, the inspector, `redact`, `doctor`, forms, the prompt history, and the trust question all use this package.
`workbench.redact` keeps the width of a redacted text.
"""
