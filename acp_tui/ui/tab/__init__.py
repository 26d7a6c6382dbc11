"""One tab: a session's screen, and the controllers that do what the user wants there. It knows no app of ours."""
