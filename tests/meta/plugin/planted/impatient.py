"""A pytest plugin that cuts short every wait for a better environment: tests look at what is tried, not at how long."""

import time

from registry_contracts.session import breaker

breaker.sleep = lambda seconds: time.sleep(min(float(seconds), 0.01))  # type: ignore[attr-defined] # its own name
