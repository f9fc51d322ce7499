"""The program `registry-contracts`: each command in a module of its own, loaded when it is called."""

from contracts.cli.program import main

__all__ = ["main"]
