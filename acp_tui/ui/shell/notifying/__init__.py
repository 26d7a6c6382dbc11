"""Tells a user who looks elsewhere that something waits, has ended or has failed; loaded after the first frame."""
