"""One session on the screen: its panel, plan, welcome, sidebar, and status line."""
