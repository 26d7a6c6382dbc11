"""The parts of the pytest kit, which users import from `acp_tui.testing`. The fixtures are `plugin`'s."""
