"""The tools for authors of agents, one room per tool. They build on the client, which imports none of them."""
