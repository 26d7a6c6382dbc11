"""The app: what it is composed of, and the small app that it shares with replay, inspector and pictures."""
