"""Uses of Textual's private API, where there is no other way; each in one place."""
