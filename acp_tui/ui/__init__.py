"""The Textual app. Begin with `app.app`, then `tab.tab` and `session.panel`.

The rooms, from top to bottom; each imports from those below it only (a contract in pyproject.toml):

- `app`: the app of agents: its tabs, notices outside of the terminal, the settings while it runs
- `tab`: one tab: the `Tab`, its stage (Starting, Live, Recorded, Failed), its screen and queue, and its controllers
- `replay`: recordings, replayed and made into pictures
- `base`: the small app that all of these share, composed of looks, keys, pace and notices
- `dialogs`: modal screens that return a value; they know no controller
- `session`: one session on the screen: its panel, plan, welcome, sidebar and status line
- `changes`: what has changed in a workspace: followed, listed, reviewed, reverted
- `permission`: what an agent asks: permission cards, forms and pages
- `conversation`: the conversation view, a widget for each entry in view, and how entries are drawn
- `prompt`: the draft, its completion, earlier prompts
- `commands`: the table of commands, the keymap, help and palette
- `kit`: widgets and tools that know neither sessions nor agents; it and `commands` use each other
- `rendering`: text to lines
- `textual_gaps`: what we take from inside of Textual, each use in one place
"""
