"""Uses of Textual's private parts, where there is no other way; each in one place."""
