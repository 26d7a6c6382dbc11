"""The app with its tabs, dialogs, notifications, and settings."""
