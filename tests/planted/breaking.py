"""A plugin of somebody else's that breaks when cases are collected, and quotes a password."""


def pytest_collection_modifyitems() -> None:
    raise RuntimeError("no place for sandbox-author")
