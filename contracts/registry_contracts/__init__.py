"""Registry Contracts: tests on a live environment whether the document registry follows its interface document.

The commands import this package before pytest does; this word keeps pytest from warning: PYTEST_DONT_REWRITE
"""
