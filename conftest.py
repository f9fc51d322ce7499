"""Makes `pytest` in a checkout the same run as `registry-contracts run`."""

pytest_plugins = ("registry_contracts.plugin",)
