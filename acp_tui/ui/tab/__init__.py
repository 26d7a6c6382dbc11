"""One tab: the screen of a session, and the controllers that carry out the user's commands. Doesn't import the app."""
