"""What may be meant by what is being written: paths for `@`, by a few letters of theirs. It draws nothing."""
