"""No module imports itself through others, not even within a function or only for types.

Two exceptions, for types only: a part may name the whole that it belongs to, which creates it and hands itself over;
and a table of commands names what runs them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import grimp

WHOLES: Final = ("acp_tui.ui.tab.tab", "acp_tui.ui.app.app", "acp_tui.ui.conversation.view")
"""The tab of controllers and of its screen, the app of tabs, and the view of entries."""
TABLES: Final = ("acp_tui.cli.commands", "acp_tui.workbench.command_table", "acp_tui.ui.commands.command")


def cycles() -> Iterator[frozenset[str]]:
    """Each set of modules that import each other, once."""
    graph = grimp.build_graph("acp_tui", cache_dir=None)
    at_run_time = grimp.build_graph("acp_tui", cache_dir=None, exclude_type_checking_imports=True)
    for table in TABLES:
        runners = graph.find_modules_directly_imported_by(table)
        for runner in runners - at_run_time.find_modules_directly_imported_by(table):
            graph.remove_import(importer=table, imported=runner)
    for whole in WHOLES:
        parts = graph.find_modules_that_directly_import(whole)
        for part in parts - at_run_time.find_modules_that_directly_import(whole):
            graph.remove_import(importer=part, imported=whole)
    above = {module: graph.find_upstream_modules(module) for module in graph.modules}
    found: set[str] = set()
    for module in sorted(graph.modules):
        tied = frozenset(other for other in above[module] if module in above[other])
        if tied and module not in found:
            found |= tied
            yield tied | {module}


def test_no_module_imports_itself_by_way_of_others() -> None:
    assert [sorted(cycle) for cycle in cycles()] == []
