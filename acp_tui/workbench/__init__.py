"""The tools for agent authors, one package per tool. They use the client, which imports none of them."""
