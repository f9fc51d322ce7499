"""Registry Contracts: proves against a live environment whether the document registry keeps its interface.

It is imported before pytest starts, which warns of that without this word: PYTEST_DONT_REWRITE
"""
