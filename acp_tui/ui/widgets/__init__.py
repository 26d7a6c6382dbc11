"""The conversation on the screen, and its plan: one widget for each entry in view. Begin with `conversation.view`."""
