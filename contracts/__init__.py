"""Registry Contracts: proves against a live environment whether the document registry keeps its interface."""
