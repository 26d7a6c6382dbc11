"""What we take from inside of Textual, for want of another way: each use in one place."""
