"""The embedded service: a faithful implementation of the whole interface document, made to be tried against.

Where the document is silent the sandbox takes the plainest HTTP habit (see ``registry_contracts.sandbox.habits``).
Start it with ``python -m registry_contracts.sandbox --port 0``.
"""
