"""The pytest plugin: `pytest --target … --profile … --realm …` gives the same run as `registry-contracts run`.

Active only for items marked `contract`; everything else in a pytest run stays as pytest has it.

PYTEST_DONT_REWRITE: the commands import this package before pytest does; it holds no assertion.
"""

pytest_plugins = (
    "contracts.plugin.plan",
    "contracts.plugin.controller",
    "contracts.plugin.collection",
    "contracts.plugin.protocol",
    "contracts.plugin.fixtures",
    "contracts.plugin.terminal",
    "contracts.plugin.session_finish",
    "contracts.plugin.refused_run",
)
