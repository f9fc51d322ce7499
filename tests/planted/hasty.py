"""A pytest plugin that takes deployments to be over within a second, as the ones that tests play are."""

from registry_contracts.plugin import worker

worker.ROLLING_SECONDS = 1.0
