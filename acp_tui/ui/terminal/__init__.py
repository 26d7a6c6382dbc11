"""Terminals as the UI sees them: an emulator behind one interface; it knows no process."""
