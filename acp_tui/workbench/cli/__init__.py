"""The commands of the room, one module per command."""
