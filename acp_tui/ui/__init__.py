"""The Textual app: draws conversations, turns keys into calls on the client; it holds no process and no wire type.

Begin with `app`, then `screens.session` (a tab) and `widgets.session_panel` (a conversation with what belongs to it).
Keys are in `commands` and `widget_commands`. A `*_desk` does what a tab wants of one matter: it asks the client, and
opens the dialogs. `drawings` and `rendering` make lines, without any widget.
"""
