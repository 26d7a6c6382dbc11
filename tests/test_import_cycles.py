"""No module imports itself through others, not even within a function or only for types."""

from __future__ import annotations

from collections.abc import Iterator

import grimp


def cycles() -> Iterator[frozenset[str]]:
    """Each set of modules that import each other, once."""
    graph = grimp.build_graph("acp_tui", cache_dir=None)
    above = {module: graph.find_upstream_modules(module) for module in graph.modules}
    found: set[str] = set()
    for module in sorted(graph.modules):
        tied = frozenset(other for other in above[module] if module in above[other])
        if tied and module not in found:
            found |= tied
            yield tied | {module}


def test_no_module_imports_itself_by_way_of_others() -> None:
    assert [sorted(cycle) for cycle in cycles()] == []
