"""The inspector is a screen, with the fixtures of all screens."""

from support.screen_checks import keys_do_not_wait, no_key_is_held, notices_stay, paints, text_compare, unhurried

__all__ = ["keys_do_not_wait", "no_key_is_held", "notices_stay", "paints", "text_compare", "unhurried"]
