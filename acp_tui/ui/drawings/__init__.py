"""How each kind of entry looks, as lines; a drawing is no widget and needs no running app."""
