"""Makes pictures, texts and films of sessions without a terminal: the real screens, drawn headless, without a clock."""
