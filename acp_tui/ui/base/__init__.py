"""The app that the real one, replay, inspector and pictures share."""
