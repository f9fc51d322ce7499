"""Tells a webhook how a run ended; a door of its own, which never leads to a target."""
